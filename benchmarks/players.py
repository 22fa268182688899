"""How fast players play: duplicate deals against themselves, in one process."""

from __future__ import annotations

from functools import partial

import agents
from benchmarks import peers
from benchmarks.rounds import Scale, Turn, alternate, compared, per_round, timed
from benchmarks.tables import Table
from poke_env.agent import Agent

PLAYERS = ("heuristic", "greedy", "pimc-16", "pimc-64", "alphamu-64")


def measure(scale: Scale) -> list[Table]:
    """Deals a second of every player, and as a share of the heuristic player's."""
    if not peers.installed("scipy"):
        return []
    pairs = 64 if scale.quick else 2048
    turns: dict[str, Turn] = {
        name: partial(timed, step=partial(_play, agents.load(name), pairs)) for name in PLAYERS
    }
    speeds = alternate(turns, scale)
    rows: list[tuple[str, ...]] = [
        (
            f"`{name}`",
            f"{speed.rate:,.0f}",
            f"{speed.cores:.1f}",
            *compared(speed, speeds["heuristic"]),
        )
        for name, speed in speeds.items()
    ]
    return [
        Table(
            "Players: deals a second against themselves",
            ("player", "deals/s", "cores busy", "times `heuristic`", "over rounds"),
            rows,
            f"{scale.note} {pairs:,} deck orders at once in one process, each played twice; "
            f"tournaments play in as many processes as they are told to.",
            per_round(speeds),
        )
    ]


def _play(player: Agent, pairs: int) -> int:
    from training import duplicate

    duplicate.play(player, player, pairs, match="deal")
    return 2 * pairs
