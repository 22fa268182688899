"""What a deal is played for: constant prices of a point below the line, or a score of the rubber.

At a score, a deal pays its points above the line and what the score after it is worth by an equity
table; nothing there is sampled, but the worth of scores is that of the table's policies. Constant
prices are a model: no point below the line has one.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy.typing as npt
import tyro

from poke_env._checks import check_integer, check_number
from poke_env.equity import EquityTable, places
from poke_env.games.poke import Rules
from training.lab.draws import Payoffs, linear_payoffs
from training.lab.played import Played
from training.lab.rubber_check import rules_of
from training.lab.stored import Worth


def digest(numbers: npt.NDArray[Any]) -> str:
    """What tells an array from others, hexadecimal."""
    return hashlib.blake2b(numbers.tobytes(), digest_size=8).hexdigest()


@dataclass(frozen=True)
class Stakes:
    """What a deal is played for.

    Attributes:
        price: What a point below the line is worth to either player, in points above the line;
            without it, what it is worth at the score.
        below: Points below the line, the dealer's first.
        games: Games won, the dealer's first.
        table: An equity table (*.npz); by default that of the environment.
        played: A file of `count-played`: the tricks that a player really plays; without it tricks
            are played perfectly, as if all cards lay open.
    """

    price: Annotated[float | None, tyro.conf.arg(metavar="POINTS")] = None
    below: tuple[int, int] = (0, 0)
    games: tuple[int, int] = (0, 0)
    table: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    played: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None

    def payoffs(self) -> Payoffs:
        """What each outcome of the deal brings the non-dealer.

        Raises:
            ValueError: for a score at which no deal can begin, and what is wrong with a file.
            OSError: if a file cannot be read.
        """
        payoffs = self._of_score() if self.price is None else self._of_price(self.price)
        return payoffs if self.played is None else Played.load(self.played).as_played(payoffs)

    def __str__(self) -> str:
        tricks = "" if self.played is None else f", tricks of {Played.load(self.played).player}"
        if self.price is not None:
            return f"{self.price:g} points for a point below the line{tricks}"
        own, other = self.below
        won, lost = self.games
        table = EquityTable.load(self.table).version
        return f"dealer {own}, non-dealer {other}, games {won} to {lost} by {table}{tricks}"

    def identity(self) -> str:
        """What tells these stakes from others: the text and a digest of the payoffs."""
        return f"{self}, {digest(self.payoffs())}"

    def _of_price(self, price: float) -> Payoffs:
        price = check_number("price", price, least=0.0)
        return linear_payoffs(price, price)

    def _of_score(self) -> Payoffs:
        table = EquityTable.load(self.table)
        rules = rules_of(table)
        if rules != Rules():
            raise ValueError(f"table must be a table for standard rules, {table.version!r} is not")
        if len(table.values) != 1:
            raise ValueError(
                f"table must be a table of one policy in both seats, {table.version!r} has two"
            )
        own, other = (check_integer("below", points, 0, table.target) for points in self.below)
        won, lost = (check_integer("games", games, 0, 1) for games in self.games)
        place = int(places(table.target)[own, other, won, lost])
        if place < 0:
            raise ValueError(
                f"below must be two numbers under {table.target}, or both {table.target} for a "
                f"tie, got {self.below}"
            )
        return Worth(table).payoffs(place)
