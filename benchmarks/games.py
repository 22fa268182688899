"""Every game's batch against Pgx's Leduc hold'em: a step alone, random legal actions.

As in `benchmarks.batch`, whose contestants these are, with all cores on both sides. The table in
the README is made from this one (`python docs/make.py --measure`).
"""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any, NamedTuple

from benchmarks import machine, peers
from benchmarks.batch import ROWS, RandomPlay
from benchmarks.rounds import Scale, Speed, Turn, alternate, compared, per_round, ratios, timed
from benchmarks.tables import Table
from poke_env import pokex_v0


class Contestant(NamedTuple):
    """A game, the settings of its batch, and what they are called if they are not its defaults."""

    game: str
    variant: str = ""
    settings: dict[str, Any] = {}

    @property
    def name(self) -> str:
        """What a row of the table is called."""
        return f"`{self.game}`" + f", {self.variant}" * bool(self.variant)


CONTESTANTS = (
    Contestant("poke"),
    Contestant("pokex"),
    Contestant("pokex", "wild jokers", {"rules": pokex_v0.Rules(joker="wild")}),
    Contestant("poque"),
    Contestant("poque", "8 players", {"players": 8}),
    Contestant("poangpoker"),
    Contestant("poangpoker", "6 players", {"players": 6}),
)
PEER = "Pgx `leduc_holdem`"


def compete(scale: Scale) -> dict[str, Speed]:
    """Decisions per second of every contestant, and of the peer where it is installed."""
    turns: dict[str, Turn] = {}
    for contestant in CONTESTANTS:
        play = RandomPlay(game=contestant.game, copy=False, **contestant.settings)
        turns[contestant.name] = partial(timed, step=play.step, prepare=play.choose)
    if peers.installed("jax", "pgx"):
        from benchmarks.pgx_peer import players

        peer = players(ROWS, machine.cores())[PEER]
        turns[PEER] = partial(timed, step=peer.step, prepare=peer.choose)
    return alternate(turns, scale)


def measure(scale: Scale) -> list[Table]:
    """Decisions per second of a step in every game."""
    speeds = compete(scale)
    peer = speeds.get(PEER)
    rows = [
        (
            name,
            f"{speed.rate / 1e6:,.3f}",
            f"{speed.cores:.1f}",
            *(("–", "–") if peer is None or name == PEER else compared(speed, peer)),
        )
        for name, speed in speeds.items()
    ]
    return [
        Table(
            f"Batch of {ROWS:,} matches in every game: a step alone",
            ("", "million decisions/s", "cores busy", f"times {PEER}", "over rounds"),
            rows,
            f"{scale.note} `copy=False`, deals, {machine.cores()} threads.",
            per_round(speeds),
        )
    ]


def throughput(scale: Scale) -> dict[str, Any]:
    """What the README tells: by contestant how many times as fast as the peer, and on what.

    Raises:
        RuntimeError: if the peer is not installed.
    """
    speeds = compete(scale)
    if PEER not in speeds:
        raise RuntimeError(peers.advice(peers.take_missing()))
    found = [(one, ratios(speeds[one.name], speeds[PEER])) for one in CONTESTANTS]
    on = machine.describe()
    caution = " This was a quick run, whose figures say little." if scale.quick else ""
    return {
        "note": f"Throughput: decisions a second of a batch of {ROWS:,} matches as a multiple of "
        f"{PEER}, jitted, in the same run, on {on['processor']}, {on['cores']} cores. {scale.note}"
        f"{caution}",
        "date": on["date"],
        "load_average": on["load_average"],
        "versions": on["versions"],
        "rows": [
            {
                "game": one.game,
                "variant": one.variant,
                "ratio": statistics.median(rounds),
                "rounds": rounds,
            }
            for one, rounds in found
        ],
    }
