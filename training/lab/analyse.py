"""A recorded match, decision by decision: `python -m training.lab analyse RECORD`.

    python -m training.lab analyse runs/tournament/records.txt --match 3

Every decision with a choice is judged as `training.lab.decision` does, by what its player could
know: what it lost against the best action, in points of the final margin. Luck is what chance gave
(`training.luck`): the first dealer, every deal, every draw. For player_0,

    gained = skill + luck + rest

gained  the margin above the line made in the match, and what the last score is still worth, less
        what the first one was (before the first dealer was drawn)
skill   what player_1 lost by his decisions less what player_0 lost
luck    the sum over all chance events
rest    what neither explains: decisions met cards that their players could not see, and were paid
        by those, not by the mean that they are judged by; and luck and decisions are measured by
        two different yardsticks (a value function with a constant price of a point below the line;
        the equity table)

gained − luck is the luck-adjusted margin: it has the mean of what was gained, and less spread.

The equity table is exact for the policies that it stands for, luck is exact for its value function.
Losses of leads and answers are estimates over hands that the opponent may hold, with standard
errors; those of draws are exact in the draw phase's model, whose simplifications are not in the
errors. As the best of several estimates looks better than it is, losses that are within their error
are none that one should believe; they are counted all the same, so that the sum adds up.

    OUT.csv   a line a decision
    OUT.json  the same, totals by player and kind, chance events, the biggest mistakes
    OUT.png   gained, skill and luck deal by deal; losses by kind
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track

from poke_env import records
from poke_env._checks import check_integer, check_number
from poke_env.equity import EquityTable
from training.lab import results
from training.lab.judge import Judge, Means, Method, read_record
from training.lab.judgement import Judgement
from training.lab.positions import Position, all_decisions
from training.luck import Chance, match_luck

if TYPE_CHECKING:
    from matplotlib.figure import Figure

KINDS = ("draw", "lead", "follow")
_QUICK_DEALS = 2


@dataclass(frozen=True)
class Judged:
    """A decision that was made.

    Attributes:
        deal, decision: its numbers, from 1.
        position: where it was made.
        judgement: what the actions were worth.
    """

    deal: int
    decision: int
    position: Position
    judgement: Judgement

    @property
    def place(self) -> int:
        """The place of the action made among those judged."""
        return int(np.flatnonzero(self.judgement.actions == self.position.made)[0])

    @property
    def loss(self) -> float:
        """What it lost against the best action, in points."""
        return float(self.judgement.loss[self.place])

    @property
    def error(self) -> float:
        """The standard error of `loss`."""
        return float(self.judgement.loss_error[self.place])

    @property
    def verdict(self) -> str:
        """ "best", "within error" or "mistake"."""
        return self.judgement.verdict(self.place)

    def row(self) -> results.Row:
        """The decision as a line of a table."""
        position, judged = self.position, self.judgement
        best = judged.best
        return {
            "deal": self.deal,
            "decision": self.decision,
            "player": position.seat,
            "seat": "dealer" if position.seat == position.dealer else "non-dealer",
            "kind": position.kind,
            "choices": len(judged.actions),
            "made": position.text(int(judged.actions[self.place])),
            "best": position.text(int(judged.actions[best])),
            "E_made": judged.expected[self.place],
            "E_best": judged.expected[best],
            "W_made": judged.winning[self.place],
            "W_best": judged.winning[best],
            "loss": self.loss,
            "loss_error": self.error if judged.samples else None,
            "verdict": self.verdict,
        }


class Totals(NamedTuple):
    """What player_0 gained in the match or a part of it, in points: `gained` = `skill` + `luck` +
    `rest`. `skill_error` is the standard error of `skill`."""

    gained: float
    skill: float
    skill_error: float
    luck: float
    rest: float

    @property
    def adjusted(self) -> float:
        """The luck-adjusted margin."""
        return self.gained - self.luck


class Analysis(NamedTuple):
    """A match analysed.

    Attributes:
        decisions: those with a choice, in their order.
        chances: all chance events, in their order.
        gained: what player_0 gained with each deal, in points: its margin above the line and the
            change in what the rest of the rubber is worth.
    """

    decisions: tuple[Judged, ...]
    chances: tuple[Chance, ...]
    gained: tuple[float, ...]

    def totals(self, deals: int | None = None) -> Totals:
        """What was gained in the first so many deals, by default in all."""
        count = len(self.gained) if deals is None else deals
        signs = [
            (1 if one.position.seat else -1, one) for one in self.decisions if one.deal <= count
        ]
        skill = sum(sign * one.loss for sign, one in signs)
        variance = sum(one.error**2 for _, one in signs)
        luck = sum(chance.luck for chance in self.chances if chance.deal < count)
        gained = sum(self.gained[:count])
        return Totals(gained, skill, variance**0.5, luck, gained - skill - luck)

    def summary(self) -> list[results.Row]:
        """Losses by player and kind of decision."""
        rows: list[results.Row] = []
        for player in range(2):
            for kind in (*KINDS, "all"):
                found = [
                    one
                    for one in self.decisions
                    if one.position.seat == player and kind in (one.position.kind, "all")
                ]
                loss = sum(one.loss for one in found)
                error = sum(one.error**2 for one in found) ** 0.5
                rows.append(
                    {
                        "player": player,
                        "kind": kind,
                        "decisions": len(found),
                        "lost": loss,
                        "error": error,
                        "per decision": loss / len(found) if found else None,
                        "mistakes": sum(one.verdict == "mistake" for one in found),
                    }
                )
        return rows

    def biggest_mistakes(self, count: int) -> list[Judged]:
        """The decisions that lost most, of those that are mistakes beyond their error."""
        mistakes = [one for one in self.decisions if one.verdict == "mistake"]
        return sorted(mistakes, key=lambda one: -one.loss)[:count]


def analyse(
    record: records.Record,
    judge: Judge,
    method: Method = "table",
    price: float | None = None,
    deals: int | None = None,
    console: Console | None = None,
) -> Analysis:
    """Analyse a match.

    Args:
        record: a match of Poke under standard rules.
        judge: by what decisions are judged.
        method: by table or by roll-out.
        price: what a point below the line is worth in the measure of luck; None is what
            `training.luck.price_of` says.
        deals: only the first so many; None is all.
        console: where progress is shown, if anywhere.

    Raises:
        ValueError: if the record is of another game, other rules or has no deal.
    """
    if not record.deals:
        raise ValueError("record must have a deal, it has none")
    count = len(record.deals) if deals is None else min(check_integer("deals", deals, 1),
                                                        len(record.deals))  # fmt: skip
    chances = match_luck(record, price)
    todo = [
        found for found in all_decisions(record) if found[0] <= count and len(found[2].legal) > 1
    ]
    decisions = [
        Judged(deal, decision, position, judge.judge(position, method, number))
        for number, (deal, decision, position) in enumerate(
            track(todo, "decisions", console=console, transient=True, disable=console is None)
        )
    ]
    gained = gained_by_deal(record, judge.worth.table)[:count]
    return Analysis(
        tuple(decisions), tuple(one for one in chances if one.deal < count), tuple(gained)
    )


def gained_by_deal(record: records.Record, table: EquityTable) -> list[float]:
    """What player_0 gained with each finished deal, in points.

    Its margin above the line, and by how much it changed what the rest of the rubber is worth; the
    first deal is counted from before the first dealer was drawn.

    Args:
        record: a match of Poke.
        table: says what scores are worth.
    """
    score = {"below": (0, 0), "games": (0, 0), **record.score}
    worth = float(np.mean([table.expected(score["below"], score["games"], d) for d in range(2)]))
    gained = []
    for deal in record.deals:
        if deal.points is None or deal.score is None:
            break
        after = 0.0
        if max(deal.score["games"]) < 2:
            after = table.expected(deal.score["below"], deal.score["games"], 1 - deal.dealer)
        gained.append(deal.points[0] + after - worth)
        worth = after
    return gained


def plot(found: Analysis) -> Figure:
    """What player_0 gained deal by deal, and what both lost by kind of decision."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    deals = range(len(found.gained) + 1)
    totals = [found.totals(deal) for deal in deals]
    for name, style in (("gained", "o-"), ("luck", "s--"), ("skill", "^-"), ("rest", "x:")):
        left.plot(deals, [getattr(one, name) for one in totals], style, label=name)
    left.axhline(0, color="0.3", linewidth=1)
    left.set(
        xlabel="deals", ylabel="points of player_0, in all", title="gained = skill + luck + rest"
    )
    left.grid(alpha=0.3)
    left.legend()
    rows = [row for row in found.summary() if row["kind"] != "all"]
    for player in range(2):
        own = [row for row in rows if row["player"] == player]
        places = np.arange(len(own)) + (player - 0.5) * 0.38
        right.bar(
            places, [row["lost"] for row in own], 0.36, yerr=[2 * row["error"] for row in own],
            capsize=3, label=f"player_{player}",
        )  # fmt: skip
    right.set_xticks(range(len(KINDS)), KINDS)
    right.set(ylabel="points lost", title="what decisions lost, two standard errors")
    right.grid(alpha=0.3, axis="y")
    right.legend()
    return figure


@dataclass(frozen=True)
class Analyse:
    """A recorded match: what each decision lost, what chance gave, the luck-adjusted margin.

    Attributes:
        record: A file of recorded matches, such as those of a tournament.
        match: Number of the match in the file, from 1.
        method: By table or by roll-out.
        means: By what decisions are judged.
        price: What a point below the line is worth in the measure of luck, in points; by default
            the constant of the match.
        mistakes: How many of the biggest mistakes are shown.
        out: The files to write, without a suffix.
        quick: Only the first deals, roughly, within a minute.
    """

    record: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="RECORD")]
    match: int = 1
    method: Method = "table"
    means: tyro.conf.OmitArgPrefixes[Means] = field(default_factory=Means)
    price: float | None = None
    mistakes: int = 5
    out: Path = Path("runs/analysis")
    quick: bool = False

    def run(self, console: Console) -> Analysis:
        """Analyse, print and write."""
        results.folder_of(self.out)
        shown = check_integer("mistakes", self.mistakes, 0)
        price = None if self.price is None else check_number("price", self.price, least=0.0)
        record = read_record(self.record, self.match)
        judge = Judge(self.means, self.quick)
        if self.quick:
            console.print(
                f"--quick: the first {_QUICK_DEALS} deals, {judge.hands:,} hands; good for a look."
            )
        found = analyse(
            record, judge, self.method, price, _QUICK_DEALS if self.quick else None, console
        )
        biggest = found.biggest_mistakes(shown)
        self._print(console, found, biggest)
        results.write(
            self.out,
            {
                "result": "analysis",
                "match": self.match,
                "ending": record.ending.kind,
                "players": list(record.players),
                "method": self.method,
                "judged_by": judge.about(),
                "totals_of_player_0": found.totals()._asdict(),
                "by_kind": found.summary(),
                "chances": [vars(chance) for chance in found.chances],
                "biggest_mistakes": [
                    {**one.row(), "position": one.position.in_words(),
                     "picture": one.position.picture()}
                    for one in biggest
                ],
            },
            [one.row() for one in found.decisions],
            plot(found),
        )  # fmt: skip
        return found

    def _print(self, console: Console, found: Analysis, biggest: Sequence[Judged]) -> None:
        results.show(console, "points lost by decisions", found.summary())
        totals = found.totals()
        results.show(
            console,
            "points of player_0: gained = skill + luck + rest",
            [{**totals._asdict(), "gained less luck": totals.adjusted}],
            1,
        )
        for one in biggest:
            row = one.row()
            console.print(
                f"{one.position.where}: {one.position.in_words()}. {row['made']} lost "
                f"{one.loss:.1f} ± {one.error:.1f} against {row['best']}.",
                highlight=False,
            )
