"""Thousands of episodes, copies and saved states leave memory as it was."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers import play, retire
from poke_env import poke_v0


def episodes(env: Any) -> Callable[[int], None]:
    rng = np.random.default_rng(0)
    env.reset(seed=0)

    def run(count: int) -> None:
        for _ in range(count):
            play(env, rng)
            retire(env)
            env.reset()

    return run


def forfeits(env: Any) -> Callable[[int], None]:
    def run(count: int) -> None:
        for _ in range(count):
            env.reset()
            env.step(-1)

    return run


def copies(env: Any) -> Callable[[int], None]:
    env.reset(seed=0)
    base = env.unwrapped

    def run(count: int) -> None:
        for _ in range(count):
            base.set_state(base.clone().get_state())

    return run


def lessons(env: Any) -> Callable[[int], None]:
    env.reset(seed=0)

    def run(count: int) -> None:
        for _ in range(count):
            env.reset()
            over = False
            while not over:
                over = env.step(int(env.action_masks().nonzero()[0][-1]))[2]

    return run


RUNS = {
    "bare": lambda: episodes(poke_v0.raw_env(match="deal")),
    "wrapped games": lambda: episodes(poke_v0.env(match="game", rules="tiny")),
    "forfeits": lambda: forfeits(poke_v0.env()),
    "copies": lambda: copies(poke_v0.env()),
    "one learner": lambda: lessons(poke_v0.single_env()),
}


@pytest.mark.parametrize("run", RUNS)
def test_episodes_leave_something_behind(run: str) -> None:
    go = RUNS[run]()
    go(30)
    tracemalloc.start()
    try:
        go(30)
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        go(150)
        gc.collect()
        growth = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert growth < 20_000


@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_process_grows_with_episodes(run: str) -> None:
    psutil = pytest.importorskip("psutil")
    process = psutil.Process()
    go = RUNS[run]()
    go(1_000)
    gc.collect()
    before = process.memory_info().rss
    go(10_000)
    gc.collect()
    assert process.memory_info().rss - before < 4_000_000
