"""How long a player may think."""

from __future__ import annotations

import contextlib
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from numba.core import event

_RINGS_EVERY = 0.01
"""Seconds between two alarms from the first one on, until the block has ended."""
_LONGEST = 1e8
"""What every system takes for a delay; three years."""

_OURS = (sys._getframe().f_code.co_filename, contextlib.contextmanager.__code__.co_filename)


class OutOfTime(BaseException):
    """A decision took longer than allowed.

    Not an `Exception`, so that a player which survives all errors does not survive this one.
    """


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Stop the block after so many seconds; None is no limit.

    Python code is interrupted, wherever it is and whatever it catches. Compiled code that does not
    return to Python is not, and neither is anything outside the main thread or on Windows; there
    the block is refused when it ends, if it took too long. What numba takes to compile, or to read
    what it compiled before, does not count: it is taken once, and not by thinking.

    Raises:
        OutOfTime: in the block or at its end.
    """
    if seconds is None:
        yield
        return
    message = f"took longer than {seconds:g} s"
    with _Thinking() as thinking:
        if (
            not hasattr(signal, "setitimer")
            or threading.current_thread() is not threading.main_thread()
        ):
            yield
        else:
            with _alarm(thinking, min(seconds, _LONGEST), message):
                yield
        if thinking.seconds() > seconds:
            raise OutOfTime(message)


class _Thinking(event.Listener):
    """A clock that stands while numba compiles in this thread."""

    _KIND = "numba:compiler_lock"

    def __enter__(self) -> _Thinking:
        self.compiling = 0  # how deep
        self._thread = threading.get_ident()
        self._since = time.monotonic()
        self._stood = 0.0
        event.register(self._KIND, self)
        return self

    def __exit__(self, *error: object) -> None:
        event.unregister(self._KIND, self)

    def seconds(self) -> float:
        """How long it has run."""
        return time.monotonic() - self._since - self._stood

    def on_start(self, event: Any) -> None:
        """Stand still."""
        if threading.get_ident() == self._thread:
            if not self.compiling:
                self._stopped = time.monotonic()
            self.compiling += 1

    def on_end(self, event: Any) -> None:
        """Go on."""
        if threading.get_ident() == self._thread and self.compiling:
            self.compiling -= 1
            if not self.compiling:
                self._stood += time.monotonic() - self._stopped


@contextmanager
def _alarm(thinking: _Thinking, seconds: float, message: str) -> Iterator[None]:
    rings = 0
    outside: FrameType | None = sys._getframe()
    while outside is not None and outside.f_code.co_filename in _OURS:
        outside = outside.f_back

    def ring(number: int, frame: FrameType | None) -> None:
        nonlocal rings
        # Here the block has not begun or is over: nothing must keep the alarm from being put back.
        if frame is None or frame.f_code.co_filename in _OURS:
            return
        if thinking.compiling or thinking.seconds() < seconds:
            return
        if rings:
            _ambush(frame, outside, rings, message)
        rings += 1
        raise OutOfTime(message)

    handler = signal.getsignal(signal.SIGALRM)
    trace = sys.gettrace()
    started = time.monotonic()
    delay, interval = 0.0, 0.0
    try:
        signal.signal(signal.SIGALRM, ring)
        delay, interval = signal.setitimer(signal.ITIMER_REAL, seconds, _RINGS_EVERY)
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        if rings > 1:
            sys.settrace(trace)
        signal.signal(signal.SIGALRM, signal.SIG_DFL if handler is None else handler)
        if delay:
            # Somebody else's alarm goes on; one that is overdue rings now.
            left = max(delay - (time.monotonic() - started), 1e-6)
            signal.setitimer(signal.ITIMER_REAL, left, interval)


def _ambush(frame: FrameType, outside: FrameType | None, rings: int, message: str) -> None:
    """Raise the error once more at a line to come, for a player that catches it in a loop.

    Some line of the loop stands outside of whatever catches there. Which one, and in which of the
    functions that are running, cannot be seen; so it is another one every time.
    """
    running = []
    at: FrameType | None = frame
    while at is not None and at is not outside:
        running.append(at)
        at = at.f_back
    if not running:
        return
    lines = 1 + rings // len(running) % 100

    def step(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal lines
        if event == "line":
            lines -= 1
            if lines <= 0:
                raise OutOfTime(message)
        return step

    running[rings % len(running)].f_trace = step
    sys.settrace(lambda frame, event, argument: None)
