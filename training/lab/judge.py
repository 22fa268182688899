"""By what means positions are judged, as arguments of a command, and the judge they make."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import numpy as np
from rich.console import Console

import agents
from agents.equilibrium import FILE, draw_strategies
from agents.prior import draw_prior, no_prior
from poke_env import records
from poke_env._checks import check_integer
from training.lab import stored
from training.lab.judgement import Judgement, by_roll_out, check_rules, tricks_by_table
from training.lab.positions import Position
from training.lab.solved_draws import SolvedDraws

Method = Literal["table", "rollout"]

_QUICK_SAMPLES = 100
_QUICK_HANDS = 1_000
_MOST = 10_000_000


@dataclass(frozen=True)
class Means:
    """By what positions are judged.

    Attributes:
        table: The equity table, by default the one of the environment.
        strategies: How both players draw, for the table method in the draw phase: a file of
            `make-strategies`, by default the one that players use.
        infer: Let the opponent's numbers of cards drawn tell what he may hold.
        hands: Hands of the opponent that tricks are looked up for, at most.
        samples: Deals that a roll-out plays for each action.
        players: Who goes on in a roll-out: one for both seats, or player_0 and player_1.
        seed: Of hands, stock and the players' chances.
        threads: Threads; 0 is one for each core.
    """

    table: Path | None = None
    strategies: Path | None = None
    infer: bool = True
    hands: int = 20_000
    samples: int = 1_000
    players: tuple[str, ...] = ("equilibrium",)
    seed: int = 0
    threads: int = 0


class Judge:
    """Judges positions; the draw phase is prepared when it is first needed.

    Args:
        means: by which.
        quick: fewer samples.
        console: where progress of roll-outs is shown, if anywhere.

    Raises:
        ValueError: naming the argument, what was given and what is allowed.
    """

    def __init__(self, means: Means, quick: bool = False, console: Console | None = None) -> None:
        self.hands = check_integer("hands", means.hands, 1, _MOST)
        self.samples = check_integer("samples", means.samples, 2, _MOST)
        self._seed = check_integer("seed", means.seed, 0)
        self._threads = check_integer("threads", means.threads, 0, 1024) or None
        if len(means.players) not in (1, 2):
            raise ValueError(f"players must be one or two, got {means.players!r}")
        if quick:
            self.hands = min(self.hands, _QUICK_HANDS)
            self.samples = min(self.samples, _QUICK_SAMPLES)
        self.quick = quick
        self.worth = stored.Worth(stored.load_table(means.table))
        self.prior = draw_prior() if means.infer else no_prior()
        self.players = tuple(agents.load(player, self._seed) for player in means.players)
        self._strategies = draw_strategies(means.strategies or FILE)
        self._console = console
        self._about = means
        self._draws: dict[bool, SolvedDraws] = {}

    def judge(self, position: Position, method: Method, number: int = 0) -> Judgement:
        """What the actions of a position are worth.

        Args:
            position: any.
            method: by table or by roll-out.
            number: of the position, so that each has chances of its own.

        Raises:
            ValueError: if the equity table is for other rules.
        """
        check_rules(self.worth, position)  # before the draw phase is prepared, which takes long
        sequence = np.random.SeedSequence(self._seed, spawn_key=(number,))
        if method == "rollout":
            seed = int(sequence.generate_state(1, np.uint64)[0])
            found = by_roll_out(
                position, self.worth, self.prior, self.players, self.samples, seed, self._console
            )
            who = " and ".join(self._about.players)
            return found._replace(assumes=f"{found.assumes} by {who}")
        if position.kind == "draw":
            return self._solved_draws(position.must_beat).judge(position)
        chance = np.random.default_rng(sequence)
        return tricks_by_table(position, self.worth, self.prior, self.hands, chance)

    def _solved_draws(self, must_beat: bool) -> SolvedDraws:
        if must_beat not in self._draws:
            self._draws[must_beat] = SolvedDraws(
                self.worth, self._strategies, self.prior, must_beat, threads=self._threads
            )
        return self._draws[must_beat]

    def about(self) -> dict[str, Any]:
        """What a result says of the means."""
        means = self._about
        return {
            **stored.about(self.worth.table),
            "strategies": self._strategies.about,
            "infer": means.infer,
            "hands": self.hands,
            "samples": self.samples,
            "roll_out_players": list(means.players),
            "seed": self._seed,
            "quick": self.quick,
        }


def read_record(path: Path, number: int) -> records.Record:
    """A recorded match of a file.

    Args:
        path: of a file of records, such as `records.txt` of a tournament.
        number: of the match within it, from 1.

    Raises:
        ValueError: if there is no such match, or the file is damaged before it.
        OSError: if it cannot be read.
    """
    check_integer("match", number, 1)
    with path.open(encoding="utf-8") as file:
        found: Iterator[records.Record] = islice(records.load(file), number - 1, None)
        for record in found:
            return record
    raise ValueError(f"match must be the number of one in {path}, which has fewer than {number}")
