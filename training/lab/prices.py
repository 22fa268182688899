"""What a point below the line is worth: `python -m training.lab prices`.

A point has no constant price. At every score, before a deal, the price is what E gains for a player
when one more point below the line is written for him, the game and the rubber ending if it ends
them; what he gains, his opponent loses. So there are two prices at a score: of a point for the
dealer of the coming deal, and of a point for the other. The same is said in W, at a margin of 0.
With `--points N` it is the mean price of each of N points that come together.

These are differences of cells of the equity table, exact for it. Errors of the table enter: those
of both cells, which the files state.

    OUT.csv, .json   every score: both prices, in points above the line and in W
    OUT.png          maps
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console

from poke_env._checks import check_integer
from poke_env.equity import EquityTable, Floats
from training.lab import results, score_maps, stored
from training.lab.induction import Outcomes
from training.lab.score_maps import Score
from training.lab.stored import Worth

PRICES = ("dealer_point", "other_point", "dealer_point_win", "other_point_win")


def point_prices(table: EquityTable, points: int = 1) -> dict[str, Floats]:
    """The price of a point at every score, to its owner.

    Args:
        table: the equity table.
        points: written together; prices are a point's.

    Returns:
        float64 (places,) each: `dealer_point` and `other_point` in points above the line,
        `dealer_point_win` and `other_point_win` in probability of winning the whole at a margin
        of 0. "dealer" and "other" are those of the coming deal.

    Raises:
        ValueError: if points is no number from 1.
    """
    points = check_integer("points", points, 1)
    worth = Worth(table)
    # The coming dealer was the non-dealer of a deal after which the score stands as it does. It
    # brings nothing, or these points to him, or to the other.
    deal = Outcomes.of([(0, 0, 0, 1.0), (0, points, 0, 1.0), (points, 0, 0, 1.0)], worth.scoring)
    found = {name: np.zeros(len(worth.listed)) for name in PRICES}
    for place in range(len(worth.listed)):
        before = score_maps.exchanged(place, table.target)
        for suffix, values in (
            ("", worth.expected(before, deal)),
            ("_win", worth.win(before, deal)),
        ):
            now, own, other = values
            found[f"dealer_point{suffix}"][place] = (own - now) / points
            found[f"other_point{suffix}"][place] = (now - other) / points
    return found


def price_rows(table: EquityTable, points: int = 1) -> list[dict[str, Any]]:
    """`point_prices` as a row a score."""
    prices = point_prices(table, points)
    return [
        score_maps.columns(place, table.target)
        | {name: float(column[place]) for name, column in prices.items()}
        for place in range(table.values.shape[1])
    ]


@dataclass(frozen=True)
class Prices:
    """What a point below the line is worth at every score.

    Attributes:
        scores: The scores to print: four numbers each, points below the line of dealer and other,
            games of dealer and other.
        points: Points that come together; prices are a point's.
        table: The equity table (*.npz); by default that of the environment.
        out: Files to write, without a suffix.
    """

    scores: Annotated[tuple[Score, ...], tyro.conf.arg(metavar="BELOW BELOW GAMES GAMES ...")] = (
        score_maps.SHOWN
    )
    points: int = 1
    table: Path | None = None
    out: Path = Path("runs/prices")

    def run(self, console: Console) -> None:
        """Compute, write the files and print."""
        results.folder_of(self.out)
        table = stored.load_table(self.table)
        shown = score_maps.places_of(self.scores, table.target)
        rows = price_rows(table, self.points)
        prices = {name: np.array([row[name] for row in rows]) for name in PRICES}
        points = score_maps.most(prices["dealer_point"], prices["other_point"])
        wins = score_maps.most(prices["dealer_point_win"], prices["other_point_win"])
        figure = score_maps.draw(
            "What a point below the line is worth to its owner, before a deal",
            [
                score_maps.Map("dealer's point, points", prices["dealer_point"], 0, points),
                score_maps.Map("other's point, points", prices["other_point"], 0, points),
                score_maps.Map("dealer's point, W", prices["dealer_point_win"], 0, wins),
                score_maps.Map("other's point, W", prices["other_point_win"], 0, wins),
            ],
            table.target,
        )
        about = {"result": "prices", "points": self.points, **stored.about(table)}
        results.write(self.out, about, rows, figure)
        title = "What a point below the line is worth to its owner, before a deal"
        results.show(console, title, score_maps.printed([rows[place] for place in shown]), 3)
