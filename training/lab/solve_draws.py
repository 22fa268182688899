"""The draw phase of one deal solved: `python -m training.lab draws`.

    python -m training.lab draws --price 25
    python -m training.lab draws --below 15 10 --games 1 0

Fictitious play with exact best answers (`training.lab.draws`). After every iteration it is known
exactly, within the model, what best answers gain against the two average strategies: half of it is
the exploitability. Written for each iteration: the gap, the exploitability and the seconds since
the model was there. The memory stated is the most that the process has used.

    OUT.csv, OUT.json, OUT.png    the curve, and how often which draws are made
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import tyro
from rich.console import Console

from poke_env._checks import check_integer, check_number
from training.lab import results
from training.lab.draws import (
    DEALER_DRAWS,
    NON_DEALER_DRAWS,
    DrawModel,
    Equilibrium,
    Gaps,
    Payoffs,
    balanced_model,
    solve,
)
from training.lab.stakes import Stakes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

QUICK_TOLERANCE = 2.0
PROXY = "exact inside the model; of real cards and players it is a proxy"
"""What results say of exploitability."""


class Solved(NamedTuple):
    """A solved deal.

    Attributes:
        equilibrium: the strategies and their gaps.
        seconds: when each iteration was done, counted from the start of the first.
        outcomes: how likely each outcome is between the strategies, float64 (3, 4, 6, 19).
    """

    equilibrium: Equilibrium
    seconds: tuple[float, ...]
    outcomes: Payoffs


def solve_draws(
    model: DrawModel, payoffs: Payoffs, tolerance: float = 0.05, iterations: int = 100,
    console: Console | None = None, **more: Any,
) -> Solved:  # fmt: skip
    """`solve` with a clock, showing where it stands.

    Args:
        model, payoffs, tolerance, iterations: see `training.lab.draws.solve`.
        console: where the gap is shown while it works, if anywhere.
        more: further arguments of `solve`.
    """
    seconds = []
    with _shown(console) as show:
        begin = time.perf_counter()

        def report(number: int, gaps: Gaps) -> None:
            seconds.append(time.perf_counter() - begin)
            show(f"iteration {number}: exploitability {np.nanmin(gaps) / 2:.3f} points")

        solved = solve(model, payoffs, tolerance, iterations, report=report, **more)
    outcomes = model.outcomes(solved.non_dealer, solved.dealer)
    return Solved(solved, tuple(seconds), outcomes / outcomes.sum())


@contextmanager
def _shown(console: Console | None) -> Iterator[Any]:
    if console is None:
        yield lambda text: None
    else:
        with console.status("solving the draw phase") as status:
            yield status.update


def model_for(quick: bool, console: Console, must_beat: bool = True) -> DrawModel:
    """The model of a command: balanced, or with `quick` without the balance, which says so."""
    if quick:
        console.print(
            f"--quick: hands taken as independent, solved to {QUICK_TOLERANCE:g} points; "
            "good for a look, not for use."
        )
        return DrawModel(must_beat)
    with console.status("building the model of the draw phase"):
        return balanced_model(must_beat)


def draw_shares(outcomes: Payoffs) -> results.Row:
    """How often each number of draws is made, by name."""
    by_draws = outcomes.sum(axis=(2, 3))
    return {
        **{f"non-dealer draws {n}": by_draws[n].sum() for n in range(NON_DEALER_DRAWS + 1)},
        **{f"dealer draws {n}": by_draws[:, n].sum() for n in range(DEALER_DRAWS + 1)},
    }


def megabytes() -> float | None:
    """The most memory that the process has used, in MB; None where the system does not tell."""
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e6 if sys.platform == "darwin" else 1e3)


def curve(solved: Solved) -> list[results.Row]:
    """A line an iteration; NaN where the pure strategies were not looked at."""
    return [
        {
            "iteration": number,
            "exploitability": gaps.pure / 2,
            "of the averages": gaps.average / 2,
            "seconds": seconds,
        }
        for number, (gaps, seconds) in enumerate(
            zip(solved.equilibrium.curve, solved.seconds, strict=True), 1
        )
    ]


def plot_curve(solved: Solved, title: str) -> Figure:
    """The exploitability over the seconds."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axis = figure.subplots()
    gaps = np.maximum(solved.equilibrium.curve, 1e-9).reshape(-1, 2)
    axis.semilogy(solved.seconds, gaps / 2, marker="o", markersize=3)
    axis.legend(("average strategies", "best answers to them"))
    axis.axhline(0.05, color="0.6", linewidth=1, linestyle="--")
    axis.set(xlabel="seconds", ylabel="exploitability inside the model, points a deal", title=title)
    axis.grid(alpha=0.3)
    return figure


@dataclass(frozen=True)
class Draws:
    """The draw phase of one deal at equilibrium, and how fast it is found.

    Attributes:
        out: The files to write, without a suffix.
        tolerance: Exploitability at which to stop, in points.
        iterations: At most so many.
        quick: Roughly, within a minute.
    """

    stakes: tyro.conf.OmitArgPrefixes[Stakes] = field(default_factory=Stakes)
    out: Path = Path("runs/draws")
    tolerance: Annotated[float, tyro.conf.arg(metavar="POINTS")] = 0.05
    iterations: int = 100
    quick: bool = False

    def run(self, console: Console) -> None:
        """Solve, write and show."""
        results.folder_of(self.out)
        tolerance = check_number("tolerance", self.tolerance, above=0.0)
        iterations = check_integer("iterations", self.iterations, 1)
        payoffs = self.stakes.payoffs()
        begin = time.perf_counter()
        model = model_for(self.quick, console)
        building = time.perf_counter() - begin
        if self.quick:
            tolerance = max(tolerance, QUICK_TOLERANCE)
        solved = solve_draws(model, payoffs, tolerance, iterations, console)
        equilibrium, shares = solved.equilibrium, draw_shares(solved.outcomes)
        about = {
            "result": "the draw phase of one deal at equilibrium",
            "quick": self.quick,
            "stakes": str(self.stakes),
            "value_to_non_dealer": equilibrium.value,
            "exploitability": equilibrium.exploitability,
            "exploitability_is": PROXY,
            "tolerance": tolerance,
            "model_balanced": not self.quick,
            "seconds_to_build_the_model": building,
            "seconds_to_solve": solved.seconds[-1],
            "threads": model.threads,
            "megabytes": megabytes(),
            "shares": dict(shares),
        }
        title = f"{self.stakes}"
        rows = curve(solved)
        results.write(self.out, about, rows, plot_curve(solved, title))
        results.show(console, f"Draw phase solved: {title}", rows, digits=3)
        often: list[results.Row] = [
            {"draws": name, "share": share} for name, share in shares.items()
        ]
        results.show(console, "How often", often, digits=4)
        used = about["megabytes"]
        console.print(
            f"Value to the non-dealer {equilibrium.value:+.2f} points, exploitability "
            f"{equilibrium.exploitability:.3f} ({PROXY}) after {len(rows)} iterations and "
            f"{solved.seconds[-1]:.0f} s ({building:.0f} s more for the model), "
            f"{model.threads} threads" + (f", {used:,.0f} MB" if used else "")
        )
