"""Random play through the AEC interface against PettingZoo's Leduc hold'em, in the same run.

Both are played through `agent_iter`, `last` and `step`, with observation and mask read at every
step, unseeded resets, and the same cheap sampler.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from benchmarks.tables import Table
from poke_env import poke_v0

ROUNDS = 7
SECONDS = 1.5


def measure() -> Table:
    """Steps per second, bare and wrapped, in alternating rounds; medians over the rounds."""
    from pettingzoo.classic import leduc_holdem_v4

    contestants: dict[str, Callable[[], Any]] = {
        "poke raw_env": poke_v0.raw_env,
        "leduc raw_env": leduc_holdem_v4.raw_env,
        "poke env": poke_v0.env,
        "leduc env": leduc_holdem_v4.env,
    }
    environments = {name: make() for name, make in contestants.items()}
    rates: dict[str, list[float]] = {name: [] for name in contestants}
    for env in environments.values():
        play(env, 0.2)
    for _ in range(ROUNDS):
        for name, env in environments.items():
            rates[name].append(play(env, SECONDS))
    rows = []
    for kind in ("raw_env", "env"):
        ours, peers = rates[f"poke {kind}"], rates[f"leduc {kind}"]
        ratios = [our / peer for our, peer in zip(ours, peers, strict=True)]
        rows.append(
            (
                f"`{kind}`",
                f"{statistics.median(ours):,.0f}",
                f"{statistics.median(peers):,.0f}",
                f"**{statistics.median(ratios):.1f} ×**",
                f"{min(ratios):.1f} to {max(ratios):.1f}",
            )
        )
    return Table(
        "Random play through the AEC interface",
        ("", "`poke_v0` steps/s", "`leduc_holdem_v4` steps/s", "ratio", "over rounds"),
        rows,
        f"Medians of {ROUNDS} alternating rounds of {SECONDS} s.",
    )


def play(env: Any, seconds: float) -> float:
    """Steps per second of random play for about `seconds`."""
    draw = random.Random(0).random
    steps = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        env.reset()
        for _ in env.agent_iter():
            observed, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = observed["action_mask"].nonzero()[0]
            env.step(legal[int(draw() * len(legal))])
            steps += 1
    return steps / (time.perf_counter() - start)
