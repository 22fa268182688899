"""What the right to draw is worth: `python -m training.lab rights`.

    python -m training.lab rights --price 25
    python -m training.lab rights                     at 0–0, by the equity table

The deal is solved again and again, each time with other draws allowed: none, one or all for each
seat, and with doubling forbidden, forced or free. (The dealer's first draw is free: only his second
doubles. The non-dealer's first doubles.) Draws are forbidden and forced through payoffs: whoever
makes too many or too few loses more than any deal can bring, so that neither side ever does. Both
sides know what the other may do.

A value is exact inside the model up to the exploitability stated beside it: the true one lies
within that of it. The cards are those of the normal game: what the model simplifies
(`python -m training.lab evidence`) is corrected with weights that were balanced for free draws.

    OUT.csv, OUT.json, OUT.png    values of the deal to the non-dealer, and differences
    OUT.work.json                 the cases done; the same command goes on from there
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
import tyro
from rich.console import Console

from poke_env._checks import check_number
from training.lab import results
from training.lab.cases import Case, solve_cases
from training.lab.draws import DEALER_DRAWS, NON_DEALER_DRAWS, DrawModel, Payoffs, Response
from training.lab.solve_draws import PROXY, QUICK_TOLERANCE, draw_shares, model_for, solve_draws
from training.lab.stakes import Stakes

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Right(NamedTuple):
    """The draws that a player may make.

    Attributes:
        least, most: their number.
    """

    least: int
    most: int


NON_DEALER = {"none": Right(0, 0), "one": Right(0, 1), "all": Right(0, NON_DEALER_DRAWS)}
DEALER = {"none": Right(0, 0), "one": Right(0, 1), "all": Right(0, DEALER_DRAWS)}
RIGHTS: dict[str, tuple[Right, Right]] = {
    **{
        f"non-dealer {own}, dealer {other}": (NON_DEALER[own], DEALER[other])
        for own in NON_DEALER
        for other in DEALER
    },
    "non-dealer must double": (Right(1, 2), DEALER["all"]),
    "dealer must double": (NON_DEALER["all"], Right(2, 3)),
    "both must double": (Right(1, 2), Right(2, 3)),
    "both must redouble": (Right(2, 2), Right(3, 3)),
    "no redoubles": (NON_DEALER["one"], Right(0, 2)),
}
"""What is solved: the rights of the non-dealer and of the dealer."""

FREE = "non-dealer all, dealer all"
FORBIDDEN = "non-dealer none, dealer one"
FORCED = "both must double"

DIFFERENCES = {
    "the non-dealer's draws, to him": (FREE, "non-dealer none, dealer all"),
    "his second draw, to him": (FREE, "non-dealer one, dealer all"),
    "the dealer's draws, to the non-dealer": (FREE, "non-dealer all, dealer none"),
    "the dealer's doubles, to the non-dealer": (FREE, "non-dealer all, dealer one"),
    "all draws, to the non-dealer": (FREE, "non-dealer none, dealer none"),
    "doubling free, not forbidden, to the non-dealer": (FREE, FORBIDDEN),
    "doubling forced, not free, to the non-dealer": (FORCED, FREE),
}
"""Pairs of rights, the value of the first less that of the second."""

_QUICK = (FREE, FORBIDDEN, FORCED)


def limited(payoffs: Payoffs, non_dealer: Right, dealer: Right) -> Payoffs:
    """Payoffs that forbid all other numbers of draws.

    Args:
        payoffs: of the free game.
        non_dealer, dealer: what they may do.
    """
    forbidden = 100.0 * (1.0 + np.abs(payoffs).max())
    allowed = payoffs.copy()
    own = np.arange(NON_DEALER_DRAWS + 1)
    allowed[(own < non_dealer.least) | (own > non_dealer.most)] -= forbidden
    other = np.arange(DEALER_DRAWS + 1)
    allowed[:, (other < dealer.least) | (other > dealer.most)] += forbidden
    return allowed


def value_with(
    model: DrawModel, payoffs: Payoffs, rights: tuple[Right, Right], tolerance: float,
    console: Console | None = None,
) -> Case:  # fmt: skip
    """The deal solved with limited draws.

    Returns:
        `value` to the non-dealer, `exploitability`, both in the unit of the payoffs, and how often
        each number of draws is made.
    """
    allowed = limited(payoffs, *rights)
    strategies = _legal(model, allowed)
    outcomes = model.outcomes(*(strategy.reach for strategy in strategies))
    outcomes /= outcomes.sum()
    # Weights of pairs of hands do not quite add up to 1, which matters least near 0: each time
    # payoffs begin where the last solution has its value.
    for exploitability in (10 * tolerance, tolerance, tolerance):
        level = float((outcomes * allowed).sum())
        solved = solve_draws(
            model, allowed - level, exploitability, console=console, start=strategies
        )
        strategies, outcomes = solved.equilibrium.strategies, solved.outcomes
    return {
        "value": level + float(solved.equilibrium.value),
        "exploitability": float(solved.equilibrium.exploitability),
        **{name: float(share) for name, share in draw_shares(outcomes).items()},
    }


def _legal(model: DrawModel, allowed: Payoffs) -> tuple[Response, Response]:
    """Strategies that keep to limited draws, to begin with.

    Weights of pairs of hands do not quite add up to 1. Where one side breaks the rules and all pays
    alike, the other would do anything to make them more or less.
    """
    dealer = model.dealer_response(model.standing_pat(), allowed)
    non_dealer = model.non_dealer_response(dealer.reach, allowed)
    return non_dealer, model.dealer_response(non_dealer.reach, allowed)


def differences(solved: dict[str, Case]) -> list[results.Row]:
    """What rights are worth, as far as the cases they need are there."""
    return [
        {
            "right": name,
            "points": solved[with_]["value"] - solved[without]["value"],
            "error at most": solved[with_]["exploitability"] + solved[without]["exploitability"],
        }
        for name, (with_, without) in DIFFERENCES.items()
        if with_ in solved and without in solved
    ]


def plot(solved: dict[str, Case], title: str) -> Figure:
    """The value of the deal under each rule."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 0.4 * len(solved) + 1.5), layout="constrained")
    axis = figure.subplots()
    names = list(solved)[::-1]
    colours = ["tab:orange" if name == FREE else "tab:blue" for name in names]
    values = [solved[name]["value"] for name in names]
    errors = [solved[name]["exploitability"] for name in names]
    axis.barh(names, values, xerr=errors, color=colours)
    axis.axvline(0, color="0.3", linewidth=1)
    axis.set(xlabel="value of the deal to the non-dealer, points", title=title)
    axis.grid(alpha=0.3, axis="x")
    return figure


@dataclass(frozen=True)
class Rights:
    """What the right to draw is worth: none, one, all; doubling forbidden, forced, free.

    Attributes:
        out: The files to write, without a suffix.
        tolerance: Exploitability to which each game is solved, in points.
        quick: Only doubling forbidden, forced and free, roughly, within a minute or two.
    """

    stakes: tyro.conf.OmitArgPrefixes[Stakes] = field(default_factory=Stakes)
    out: Path = Path("runs/rights")
    tolerance: Annotated[float, tyro.conf.arg(metavar="POINTS")] = 0.2
    quick: bool = False

    def run(self, console: Console) -> None:
        """Solve what is not solved yet, write and show."""
        folder = results.folder_of(self.out)
        tolerance = check_number("tolerance", self.tolerance, above=0.0)
        payoffs = self.stakes.payoffs()
        model = model_for(self.quick, console)
        if self.quick:
            tolerance = max(tolerance, QUICK_TOLERANCE)
        settings = {
            "stakes": self.stakes.identity(),
            "tolerance": tolerance,
            "model_balanced": not self.quick,
        }
        solved = solve_cases(
            {
                name: partial(value_with, model, payoffs, rights, tolerance, console)
                for name, rights in RIGHTS.items()
                if not self.quick or name in _QUICK
            },
            folder / f"{self.out.name}.work.json",
            settings,
            console,
        )
        rows: list[results.Row] = [{"draws allowed": name, **case} for name, case in solved.items()]
        worth = differences(solved)
        about = {
            "result": "what the right to draw is worth, values to the non-dealer in points",
            "quick": self.quick,
            "exploitability_is": PROXY,
            **settings,
            "rights": {name: [right._asdict() for right in RIGHTS[name]] for name in solved},
            "differences": worth,
        }
        results.write(self.out, about, rows, plot(solved, str(self.stakes)))
        shown = [{name: row[name] for name in list(row)[:3]} for row in rows]
        results.show(console, f"Value of the deal to the non-dealer: {self.stakes}", shown)
        results.show(console, "What a right is worth, in points", worth)
