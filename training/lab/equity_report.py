"""What scores are worth: `python -m training.lab equity`.

E is the margin above the line that the dealer of the coming deal is expected to gain until the
rubber ends, W his probability of winning the whole, draws counted as half, at a margin that there
is already. Both are read off the equity table as they stand there, with its errors: standard errors
where deals were sampled; where the rubber was solved, E's error is what a best answer gains in the
deal at that score, and W has none. For the non-dealer, E changes its sign and W is taken from 1.

    OUT.csv, .json   every score: E, its error, W at each margin
    OUT.png          maps of E and W, or with --scores W over the margin and how the margin ends
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import tyro
from rich.console import Console

from poke_env.equity import EquityTable, scores
from training.lab import results, rubber_files, score_maps, stored
from training.lab.score_maps import Score

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MARGINS = (-1000, -500, -250, 0, 250, 500, 1000)
"""Margins above the line at which W is written."""


def equity_rows(
    table: EquityTable, places: Sequence[int], margins: Sequence[int] = MARGINS
) -> list[dict[str, Any]]:
    """E and W of scores, as the dealer of the coming deal sees them.

    Args:
        table: the equity table.
        places: the scores.
        margins: points above the line that the dealer is ahead.

    Returns:
        A row a score: the score, `expected` and `error` in points, `win_error`, and `win_at_M` for
        each margin M.
    """
    score = scores(table.target)[list(places)]
    where = score[:, :2], score[:, 2:], 0
    numbers: dict[str, Any] = {
        "expected": table.expected(*where),
        "error": table.expected_error(*where),
        "win_error": table.win_error(*where),
        **{f"win_at_{margin}": table.win_probability(*where, margin) for margin in margins},
    }
    return [
        score_maps.columns(place, table.target)
        | {name: float(column[row]) for name, column in numbers.items()}
        for row, place in enumerate(places)
    ]


@dataclass(frozen=True)
class Equity:
    """What scores are worth: E and W.

    Attributes:
        scores: The scores to print and to draw: four numbers each, points below the line of dealer
            and other, games of dealer and other.
        margins: Margins above the line, of the dealer, at which W is written.
        table: The equity table (*.npz); by default that of the environment.
        out: Files to write, without a suffix.
    """

    scores: Annotated[tuple[Score, ...], tyro.conf.arg(metavar="BELOW BELOW GAMES GAMES ...")] = ()
    margins: tuple[int, ...] = MARGINS
    table: Path | None = None
    out: Path = Path("runs/equity")

    def run(self, console: Console) -> None:
        """Read the table, write the files and print."""
        results.folder_of(self.out)
        table = stored.load_table(self.table)
        shown = score_maps.places_of(self.scores or score_maps.SHOWN, table.target)
        every = equity_rows(table, range(table.values.shape[1]), self.margins)
        if self.scores:
            figure = plot_margins(table, shown)
        else:
            figure = score_maps.draw(
                "What a score is worth to the dealer of the coming deal",
                rubber_files.maps(table),
                table.target,
            )
        results.write(self.out, {"result": "equity", **stored.about(table)}, every, figure)
        title = "E and W of the dealer of the coming deal, W by his margin"
        columns = [name for name in every[0] if name != "win_error"]
        rows = [{name: every[place][name] for name in columns} for place in shown]
        results.show(console, title, score_maps.printed(rows), 3)


def plot_margins(table: EquityTable, places: Sequence[int]) -> Figure:
    """W over the margin, and how likely the margin still to be gained is at most so much."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(14, 6), layout="constrained")
    win, future = figure.subplots(1, 2)
    margins = table.unit * np.arange(-40, 41)
    for place in places:
        score = scores(table.target)[place]
        where = score[:2], score[2:], 0
        name = score_maps.text(place, table.target)
        win.plot(margins, table.win_probability(*where, margins), label=name)
        gains, chances = table.distribution(*where)
        future.plot(gains, np.cumsum(chances), drawstyle="steps-post", label=name)
    win.set(title="W", xlabel="the dealer's margin above the line", ylabel="probability")
    future.set(
        title="The margin that the dealer still gains",
        xlabel="points",
        ylabel="probability of at most so many",
        xlim=(margins[0], margins[-1]),
    )
    for axis in (win, future):
        axis.grid(alpha=0.3)
    win.legend(title="dealer–other", fontsize="small")
    return figure
