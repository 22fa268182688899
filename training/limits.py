"""How long a player may think."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class OutOfTime(BaseException):
    """A decision took longer than allowed.

    Not an `Exception`, so that a player which survives all errors does not survive this one.
    """


@contextmanager
def time_limit(seconds: float | None) -> Iterator[None]:
    """Stop the block after so many seconds; None is no limit.

    Python code is interrupted, wherever it is. Compiled code that does not return to Python is not,
    and neither is anything outside the main thread or on Windows; there the block is refused
    when it ends, if it took too long.

    Raises:
        OutOfTime: in the block or at its end.
    """
    if seconds is None:
        yield
        return
    message = f"took longer than {seconds:g} s"
    started = time.monotonic()
    if (
        not hasattr(signal, "setitimer")
        or threading.current_thread() is not threading.main_thread()
    ):
        yield
    else:
        with _alarm(seconds, message):
            yield
    if time.monotonic() - started > seconds:
        raise OutOfTime(message)


@contextmanager
def _alarm(seconds: float, message: str) -> Iterator[None]:
    def ring(number: int, frame: FrameType | None) -> None:
        raise OutOfTime(message)

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
