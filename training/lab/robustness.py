"""How far the solved draw phase depends on what was assumed: `python -m training.lab robustness`.

    python -m training.lab robustness --price 25 --other-tricks runs/played.npz

The same deal is solved again

- with the tricks that a player really plays instead of perfect ones (`count-played`),
- where a follower who can beat the lead need not (`must_beat=False`),
- from other starts of fictitious play, the strategies of games with other prices, and
- with ties broken for drawing, and for standing (a draw pays a millionth of a point more or less),

and compared with the reference: value to the non-dealer, how many hands draw at each decision, how
many of them decide otherwise, and what a best answer in the other game gains against the reference
strategies (the mean over both seats: their exploitability there).

Everything is exact inside the model for strategies of the exploitability stated, but for the tricks
of a player, which were counted in deals and carry the error of that count. Shares are those of the
last best answers (`training.lab.solve_rubber.drawing_shares`), in hands as they are dealt; where
the equilibrium is indifferent, they may differ without any loss.

    OUT.csv, OUT.json, OUT.png    a line a case
    OUT.work.json                 the cases done; the same command goes on from there
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import tyro
from rich.console import Console

from poke_env._checks import check_number
from training.lab import results
from training.lab._draw_loops import Floats
from training.lab.cases import Case, solve_cases
from training.lab.draws import (
    DEALER_DRAWS,
    NON_DEALER_DRAWS,
    DrawModel,
    Equilibrium,
    Payoffs,
    Response,
    linear_payoffs,
    solve,
)
from training.lab.played import Played
from training.lab.solve_draws import PROXY, QUICK_TOLERANCE, model_for, solve_draws
from training.lab.solve_rubber import DECISIONS, KINDS, drawing_shares, kinds
from training.lab.stakes import Stakes, digest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

START_PRICES = (0.0, 200.0)
"""Games from whose strategies fictitious play starts anew: nobody minds doubles, everybody does."""
_START_TOLERANCE = 5.0
_TIE = 1e-6


def compare(
    model: DrawModel,
    payoffs: Payoffs,
    reference: Equilibrium,
    tolerance: float,
    start: tuple[Response, Response] | None = None,
    console: Console | None = None,
) -> Case:
    """A game solved, and how the reference strategies do in it.

    Args:
        model, payoffs: the game.
        reference: strategies of another one.
        tolerance, start: of `training.lab.draws.solve`.
        console: where progress is shown, if anywhere.

    Returns:
        `value`, `exploitability`, `reference_loses` (the reference's exploitability in this game),
        and `shares`, how many hands of each kind draw at each decision.
    """
    solved = solve_draws(model, payoffs, tolerance, console=console, start=start).equilibrium
    there = model.best_values(reference.non_dealer, reference.dealer, payoffs - solved.value)
    return {
        "value": float(solved.value),
        "exploitability": float(solved.exploitability),
        "reference_loses": sum(there) / 2,
        "shares": drawing_shares(model, solved).tolist(),
    }


def tie_broken(payoffs: Payoffs, worth: float = _TIE) -> Payoffs:
    """Payoffs under which a draw is worth a little more to whoever makes it."""
    own = worth * np.arange(NON_DEALER_DRAWS + 1)[:, None]
    other = worth * np.arange(DEALER_DRAWS + 1)[None]
    return payoffs + (own - other)[..., None, None]


def started(model: DrawModel, price: float) -> tuple[Response, Response]:
    """The strategies of a game with a constant price, to start from."""
    return solve(model, linear_payoffs(price, price), _START_TOLERANCE).strategies


def drawing(shares: Floats, sizes: Floats) -> Floats:
    """How many of all dealt hands draw at each decision, float64 (11,).

    Args:
        shares: by decision and kind, (11, 130).
        sizes: hands of each kind, (130,).
    """
    return np.asarray(shares @ sizes / sizes.sum())


def rows_of(cases: dict[str, Case], sizes: Floats) -> list[results.Row]:
    """A line a case, beside the first.

    Args:
        cases: as `compare` makes them; the first is the reference.
        sizes: hands of each kind, (130,).
    """
    reference = next(iter(cases.values()))
    rows: list[results.Row] = []
    for name, case in cases.items():
        shares = np.array(case["shares"])
        otherwise = drawing(np.abs(shares - np.array(reference["shares"])), sizes)
        rows.append(
            {
                "case": name,
                "value": case["value"],
                "change": case["value"] - reference["value"],
                "exploitability": case["exploitability"],
                "reference loses": case["reference_loses"],
                "most otherwise": otherwise.max(),
                "where": DECISIONS[int(otherwise.argmax())] if otherwise.max() else "",
                **dict(zip(DECISIONS, drawing(shares, sizes), strict=True)),
            }
        )
    return rows


def plot(rows: list[results.Row], title: str) -> Figure:
    """How many hands draw at each decision, in every case."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 6), layout="constrained")
    axis = figure.subplots()
    places = np.arange(len(DECISIONS))
    width = 0.8 / len(rows)
    for number, row in enumerate(rows):
        heights = [row[decision] for decision in DECISIONS]
        label = f"{row['case']} (value {row['value']:+.1f})"
        axis.bar(places + width * (number - len(rows) / 2 + 0.5), heights, width, label=label)
    axis.set_xticks(places, DECISIONS, rotation=30, ha="right")
    axis.set(ylabel="share of dealt hands that draw", title=title)
    figure.legend(loc="outside lower center", ncols=2, fontsize=8)
    axis.grid(alpha=0.3, axis="y")
    return figure


@dataclass(frozen=True)
class Robustness:
    """The draw phase under other tricks, another rule of following, and other equilibria.

    Attributes:
        other_tricks: A file of `count-played`: tricks of a player; without it this case is left
            out.
        out: The files to write, without a suffix.
        tolerance: Exploitability to which each game is solved, in points.
        quick: Only the rule of following and one other start, roughly, within two minutes.
    """

    stakes: tyro.conf.OmitArgPrefixes[Stakes] = field(default_factory=Stakes)
    other_tricks: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    out: Path = Path("runs/robustness")
    tolerance: Annotated[float, tyro.conf.arg(metavar="POINTS")] = 0.1
    quick: bool = False

    def run(self, console: Console) -> None:
        """Solve what is not solved yet, write and show."""
        folder = results.folder_of(self.out)
        tolerance = check_number("tolerance", self.tolerance, above=0.0)
        payoffs = self.stakes.payoffs()
        played = None if self.other_tricks is None else Played.load(self.other_tricks)
        model = model_for(self.quick, console)
        if self.quick:
            tolerance = max(tolerance, QUICK_TOLERANCE)
        solved = solve_draws(model, payoffs, tolerance, console=console).equilibrium
        reference: Case = {
            "value": float(solved.value),
            "exploitability": float(solved.exploitability),
            "reference_loses": float(solved.exploitability),
            "shares": drawing_shares(model, solved).tolist(),
        }

        def other(changed: Payoffs) -> Case:
            return compare(model, changed, solved, tolerance, console=console)

        def from_price(price: float) -> Case:
            return compare(model, payoffs, solved, tolerance, started(model, price), console)

        def may_throw_off() -> Case:
            loose = model_for(self.quick, console, must_beat=False)
            return compare(loose, payoffs, solved, tolerance, console=console)

        makers: dict[str, Callable[[], Case]] = {"must_beat off": may_throw_off}
        for price in START_PRICES:
            makers[f"started from price {price:g}"] = partial(from_price, price)
        makers["ties broken for drawing"] = partial(other, tie_broken(payoffs))
        makers["ties broken for standing"] = partial(other, tie_broken(payoffs, -_TIE))
        if self.quick:
            makers = dict(list(makers.items())[:2])
        if played is not None:
            makers[f"tricks of {played.player}"] = partial(other, played.as_played(payoffs))
        settings = {
            "stakes": self.stakes.identity(),
            "tolerance": tolerance,
            "model_balanced": not self.quick,
            "tricks": None if played is None else [played.player, digest(played.counts)],
        }
        made = solve_cases(makers, folder / f"{self.out.name}.work.json", settings, console)
        kind = kinds(model.hands)[model.hands.type]
        sizes = np.bincount(kind, model.hands.size, KINDS)
        rows = rows_of({"reference": reference, **made}, sizes.astype(np.float64))
        about = {
            "result": "the solved draw phase under other assumptions, values to the non-dealer",
            "quick": self.quick,
            "exploitability_is": PROXY,
            **settings,
        }
        results.write(self.out, about, rows, plot(rows, str(self.stakes)))
        shown = [{name: row[name] for name in list(row)[:7]} for row in rows]
        results.show(console, f"Robustness: {self.stakes}", shown, digits=3)
