"""Random play through the AEC interface against PettingZoo's Leduc hold'em, in the same run.

Both are played through `agent_iter`, `last` and `step`, with observation and mask read at every
step, unseeded resets, and the same cheap sampler.
"""

from __future__ import annotations

import random
from functools import partial
from typing import Any

from benchmarks import peers
from benchmarks.rounds import Sample, Scale, Turn, alternate, compared, per_round, timed
from benchmarks.tables import Table
from poke_env import poke_v0


def measure(scale: Scale) -> list[Table]:
    """Steps per second, bare and wrapped."""
    environments: dict[str, Any] = {"poke raw_env": poke_v0.raw_env(), "poke env": poke_v0.env()}
    if peers.has_classic():
        from pettingzoo.classic import leduc_holdem_v4

        environments["leduc raw_env"] = leduc_holdem_v4.raw_env()
        environments["leduc env"] = leduc_holdem_v4.env()
    turns: dict[str, Turn] = {name: partial(play, env) for name, env in environments.items()}
    speeds = alternate(turns, scale)
    rows = []
    for kind in ("raw_env", "env"):
        ours, peer = speeds[f"poke {kind}"], speeds.get(f"leduc {kind}")
        theirs = ("–", "–", "–") if peer is None else (f"{peer.rate:,.0f}", *compared(ours, peer))
        rows.append((f"`{kind}`", f"{ours.rate:,.0f}", *theirs))
    return [
        Table(
            "Random play through the AEC interface",
            ("", "`poke_v0` steps/s", "`leduc_holdem_v4` steps/s", "ratio", "over rounds"),
            rows,
            scale.note,
            per_round(speeds),
        )
    ]


def play(env: Any, seconds: float) -> Sample:
    """Random play for about `seconds`."""
    draw = random.Random(0).random

    def play_match() -> int:
        steps = 0
        env.reset()
        for _ in env.agent_iter():
            observed, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = observed["action_mask"].nonzero()[0]
            env.step(legal[int(draw() * len(legal))])
            steps += 1
        return steps

    return timed(seconds, play_match)
