"""The limit of a decision: whom it holds, and what it leaves behind."""

from __future__ import annotations

import signal
import sys
import threading
import time
from contextlib import contextmanager
from typing import Any

import pytest

from helpers import run_python
from players import SLOTHS
from training.limits import OutOfTime, time_limit

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no alarms here")


@pytest.fixture(autouse=True)
def nothing_is_left():
    before = state()
    yield
    assert state() == before


def state() -> tuple[Any, ...]:
    return signal.getitimer(signal.ITIMER_REAL), signal.getsignal(signal.SIGALRM), sys.gettrace()


def swallowing_in_depth() -> None:
    def inner() -> None:
        try:
            SLOTHS["sleeping"]()
        except BaseException:
            time.sleep(0.001)

    while True:
        try:
            inner()
        except BaseException:
            inner()


def returning_in_finally() -> None:
    def inner() -> Any:
        try:
            time.sleep(1000)
        finally:
            return None  # noqa: B012

    while True:
        inner()


STUBBORN = {
    **SLOTHS,
    "in depth": swallowing_in_depth,
    "in finally": returning_in_finally,
}


@pytest.mark.parametrize("block", STUBBORN.values(), ids=STUBBORN)
def test_a_block_that_catches_everything_goes_on_for_ever(block):
    with pytest.raises(OutOfTime, match=r"took longer than 0\.05 s"), time_limit(0.05):
        block()


def test_a_block_in_time_is_interrupted():
    with time_limit(60.0):
        value = 3
    assert value == 3
    with time_limit(None):
        pass


def test_an_error_in_time_is_lost():
    with pytest.raises(KeyError), time_limit(60.0):
        raise KeyError


def test_the_end_of_a_block_leaves_an_alarm():
    """Blocks that end just when the alarm rings."""
    ended = [0, 0]
    for number in range(400):
        seconds = 0.0005 + 0.000005 * (number % 40)
        until = time.perf_counter() + 0.0006
        try:
            with time_limit(seconds):
                while time.perf_counter() < until:
                    pass
            ended[0] += 1
        except OutOfTime:
            ended[1] += 1
        assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert sum(ended) == 400


@contextmanager
def somebody_elses_alarm(delay: float):
    rung = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
    signal.setitimer(signal.ITIMER_REAL, delay)
    try:
        yield rung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_somebody_elses_alarm_is_lost():
    with somebody_elses_alarm(1000.0):
        with time_limit(100.0):
            assert signal.getitimer(signal.ITIMER_REAL)[0] <= 100.0
        assert 900.0 < signal.getitimer(signal.ITIMER_REAL)[0] <= 1000.0


def test_somebody_elses_alarm_that_is_overdue_is_lost():
    with somebody_elses_alarm(0.01) as rung:
        with pytest.raises(OutOfTime), time_limit(0.05):
            SLOTHS["sleeping"]()
        hanging = time.monotonic() + 60
        while not rung and time.monotonic() < hanging:
            time.sleep(0.001)
        assert rung


@pytest.mark.parametrize("inner, outer", [(0.05, 60.0), (0.2, 0.05)])
def test_a_limit_in_a_limit_hangs(inner, outer):
    with pytest.raises(OutOfTime), time_limit(outer), time_limit(inner):
        SLOTHS["sleeping"]()


def test_a_block_in_another_thread_is_let_off():
    caught: list[BaseException] = []

    def decide() -> None:
        try:
            with time_limit(0.05):
                time.sleep(0.1)
        except OutOfTime as error:
            caught.append(error)

    thread = threading.Thread(target=decide)
    thread.start()
    thread.join()
    assert [str(error) for error in caught] == ["took longer than 0.05 s"]


COMPILING = """
import time
from numba import njit
from numba.core import event
from poke_env.agent import RandomAgent
from training.duplicate import play

compiled = []

class SlowCompiler(event.Listener):
    def on_start(self, event):
        compiled.append(event)
        time.sleep(2.0)
    def on_end(self, event):
        pass

@njit
def first(mask):
    for action in range(len(mask)):
        if mask[action]:
            return action

class Late(RandomAgent):
    def act(self, observation, key=None):
        return first(observation["action_mask"])

play(RandomAgent(), RandomAgent(), 1)
event.register("numba:compile", SlowCompiler())
duel = play(Late(), RandomAgent(), 3, move_timeout=1.0)
assert compiled, "the test shows nothing"
assert not duel.forfeits, duel.forfeits
"""


def test_compiling_is_a_fault():
    assert run_python("-c", COMPILING) == ""


def test_a_debugger_is_lost():
    def trace(frame: Any, event: str, argument: Any) -> Any:
        return None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with pytest.raises(OutOfTime), time_limit(0.05):
            SLOTHS["deaf"]()
        assert sys.gettrace() is trace
    finally:
        sys.settrace(before)
