"""The price of a double by hand: `python -m training.lab doubles-by-hand`.

What a double costs depends on the cards that the opponent takes, and these on the hand that one
plays with. At the scores named the draw phase is solved again (the strategies are not stored), and
for each kind of hand that a player ends with, the price of his doubles (`training.lab.doubles`) is
the mean over the opponent's hands, as they are drawn at equilibrium. Exact in the model of the draw
phase (`training.lab.draws`) for strategies whose exploitability the JSON states.

    OUT.csv, .json   a row a score, double and kind of hand
    OUT.png          prices by kind of hand, a panel a score
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track

from poke_env._checks import check_integer, check_number
from poke_env.equity import Floats
from training.lab import results, score_maps, stored
from training.lab.doubles import DOUBLES, draws_before, price_grid
from training.lab.draws import (
    DEALER_DRAWS,
    DRAWS_MADE,
    HISTORIES,
    DrawModel,
    balanced_model,
    solve,
)
from training.lab.played import Played
from training.lab.score_maps import Score
from training.lab.solve_rubber import KINDS, OUTCOMES, kinds
from training.lab.stored import Worth
from training.lab.thresholds import every_kind, mark_categories

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_QUICK_TOLERANCE = 5.0
_MARKS = (("#0072b2", "o"), ("#56b4e9", "s"), ("#d55e00", "^"), ("#e69f00", "v"))
"""Colours and markers of the doubles, which the colour-blind can tell apart too."""
_NEVER = 1e-12
"""What rounding leaves of kinds that never occur."""


def prices_by_kind(
    model: DrawModel,
    values: Floats,
    non_dealer: Floats,
    dealer: Floats,
    played: Played | None = None,
) -> list[dict[str, Any]]:
    """What doubles cost with each kind of hand.

    Args:
        model: the draw phase.
        values: float64 (3, 4, 6, 19), what outcomes are worth to the non-dealer, by the cards that
            are taken.
        non_dealer, dealer: reach of their strategies, see `training.lab.draws.Response`.
        played: the cards that are taken, if not those that the table of tricks says.

    Returns:
        A row for each double and kind of hand that its player ends with after it: `seat`, `double`,
        `hand`, `often` (how often a deal goes so), `price` in points.
    """
    kind = kinds(model.hands)
    known = every_kind()
    histories = slice(len(HISTORIES))
    ones = np.ones(OUTCOMES)
    rows = []
    for seat, double in DOUBLES:
        price = price_grid(values, seat, double)
        axis = 0 if seat == "non-dealer" else 1  # the price holds whatever he draws himself
        everywhere = np.broadcast_to(np.expand_dims(price, axis), OUTCOMES)
        if played is not None:
            everywhere = played.as_played(everywhere)
        least = draws_before(seat, double) + 1
        if seat == "non-dealer":
            cost, meets = (model.non_dealer_values(dealer, one) for one in (everywhere, ones))
            reach = non_dealer * np.pad(
                least <= DRAWS_MADE, (0, non_dealer.shape[1] - len(HISTORIES))
            )
        else:
            cost, meets = (-model.dealer_values(non_dealer, one) for one in (everywhere, ones))
            reach = dealer * (np.arange(DEALER_DRAWS + 1) >= least)[:, None]
        often, paid = (
            np.bincount(
                kind, (reach * each)[..., histories].reshape(len(kind), -1).sum(axis=1), KINDS
            )
            for each in (meets, cost)
        )
        rows += [
            {
                "seat": seat,
                "double": double,
                "hand": name,
                "often": float(often[number]),
                "price": float(paid[number] / often[number]),
            }
            for number, name in zip(known.number.tolist(), known.names, strict=True)
            if often[number] > _NEVER
        ]
    return rows


@dataclass(frozen=True)
class DoublesByHand:
    """The price of a double by the hand that one plays with.

    Attributes:
        scores: The scores: four numbers each, points below the line of dealer and other, games of
            dealer and other.
        tolerance: Exploitability at which a score counts as solved, in points.
        table: The equity table (*.npz); by default that of the environment.
        draws: The draw phase of the same solution (*.draws.npz); by default the shipped one.
        threads: Threads; 0 is one for each core.
        out: Files to write, without a suffix.
        quick: Within a minute: a large tolerance, a plainer model, and the first score alone.
    """

    scores: Annotated[tuple[Score, ...], tyro.conf.arg(metavar="BELOW BELOW GAMES GAMES ...")] = (
        (0, 0, 0, 0),
    )
    tolerance: Annotated[float, tyro.conf.arg(metavar="POINTS")] = 0.5
    table: Path | None = None
    draws: Path | None = None
    threads: int = 0
    out: Path = Path("runs/doubles_by_hand")
    quick: bool = False

    def run(self, console: Console) -> None:
        """Solve, write the files and print."""
        results.folder_of(self.out)
        tolerance = check_number("tolerance", self.tolerance, above=0.0)
        threads = check_integer("threads", self.threads, 0, 1024) or None
        solution = stored.load(self.table, self.draws)
        target = solution.table.target
        shown = score_maps.places_of(self.scores, target)
        if self.quick:
            console.print(
                "--quick: one score, solved roughly, pairs of hands that share cards not left "
                "out; good for a look, not for use."
            )
            shown, tolerance = shown[:1], max(tolerance, _QUICK_TOLERANCE)
        console.print("preparing the draw phase")
        model = DrawModel(threads=threads) if self.quick else balanced_model(threads=threads)
        worth = Worth(solution.table)
        start = None
        exploitability = {}
        by_score = []
        for place in track(shown, "scores", console=console):
            solved = solve(model, worth.payoffs(place, solution.played), tolerance, start=start)
            start = solved.strategies
            exploitability[score_maps.text(place, target)] = solved.exploitability
            by_score.append(
                prices_by_kind(
                    model, worth.payoffs(place), solved.non_dealer, solved.dealer, solution.played
                )
            )
        rows = [
            score_maps.columns(place, target) | row
            for place, lines in zip(shown, by_score, strict=True)
            for row in lines
        ]
        about = {
            "result": "price of a double by hand",
            "quick": self.quick,
            "exploitability": exploitability,
            **stored.about(solution.table),
        }
        names = [f"{score_maps.text(place, target)} (dealer's first)" for place in shown]
        results.write(self.out, about, rows, plot_prices(names, by_score))
        for name, lines in zip(names, by_score, strict=True):
            results.show(console, f"Price of a double by hand at {name}", _side_by_side(lines), 1)


def _side_by_side(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A row a kind of hand and a column a double, with the prices."""
    found = {(row["seat"], row["double"], row["hand"]): row["price"] for row in rows}
    return [
        {"hand": name}
        | {f"{seat} {double}": found.get((seat, double, name)) for seat, double in DOUBLES}
        for name in every_kind().names
    ]


def plot_prices(names: Sequence[str], by_score: Sequence[Sequence[dict[str, Any]]]) -> Figure:
    """Prices by kind of hand, a panel a score; within a category by rank."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 0.8 + 4.2 * len(names)), layout="constrained")
    panels = figure.subplots(len(names), squeeze=False)[:, 0]
    for axis, name, rows in zip(panels, names, by_score, strict=True):
        lines = _side_by_side(rows)
        for (seat, double), (colour, marker) in zip(DOUBLES, _MARKS, strict=True):
            prices = [line[f"{seat} {double}"] for line in lines]
            axis.plot(
                [np.nan if price is None else price for price in prices],
                marker,
                color=colour,
                markersize=4,
                label=f"{seat}, {double} double",
            )
        axis.set(title=name, ylabel="price, points")
        axis.grid(axis="y", alpha=0.3)
        mark_categories(axis, "lightgrey")
    panels[0].legend(fontsize="small")
    return figure
