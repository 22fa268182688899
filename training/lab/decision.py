"""What every action of a position is worth: `python -m training.lab decision`.

    python -m training.lab decision records.txt --deal 3 --decision 7
    python -m training.lab decision --deck "As Kd 7c 7d 3h Qs Js 9d 9c 4h" --actions "stand pat"
    python -m training.lab decision --state match.bin --method both --samples 5000

For each legal action: E, the expected final margin of the player to move (points of this deal above
the line, and what the score after it is worth), W, his probability of winning the whole at the
margin there is, their standard errors, what the action loses against the best one, and a verdict:
best, within error (two standard errors) of it, or a mistake. `training.lab.judgement` says how they
are found, by table or by roll-out, and what each way assumes; the report repeats it. The equity
table is exact for the policies that it stands for. Standard errors are those of sampling, and
missing where nothing was sampled; what the draw phase's model simplifies is not in them
(`training.lab.draws`).

    OUT.csv, .json, .png  a line an action and method; the position; E with two standard errors
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
import tyro
from rich.console import Console

from training.lab import positions, results
from training.lab.judge import Judge, Means, Method, read_record
from training.lab.judgement import Judgement
from training.lab.positions import Pair, Position

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def report(position: Position, judgements: dict[Method, Judgement]) -> list[results.Row]:
    """A line for every action and method, the best action first; no errors where none was sampled.

    Args:
        position: where somebody has to decide.
        judgements: what its actions are worth, by method.
    """
    rows: list[results.Row] = []
    for method, judged in judgements.items():
        sampled = judged.samples > 0
        for place in np.argsort(judged.loss, kind="stable").tolist():
            action = int(judged.actions[place])
            rows.append(
                {
                    "method": method,
                    "action": action,
                    "what": position.text(action),
                    "made": "made" if action == position.made else "",
                    "E": judged.expected[place],
                    "E_error": judged.expected_error[place] if sampled else None,
                    "W": judged.winning[place],
                    "W_error": judged.winning_error[place] if sampled else None,
                    "loss": judged.loss[place],
                    "loss_error": judged.loss_error[place] if sampled else None,
                    "verdict": judged.verdict(place),
                }
            )
    return rows


def _shown(row: results.Row) -> results.Row:
    """A line as it is printed: probabilities in percent, errors behind their numbers."""
    return {
        "action": row["what"],
        "": row["made"],
        "E": row["E"],
        "± E": row["E_error"],
        "W %": 100 * row["W"],
        "± W": None if row["W_error"] is None else 100 * row["W_error"],
        "loses": row["loss"],
        "± loss": row["loss_error"],
        "verdict": row["verdict"],
    }


def plot(position: Position, judgements: dict[Method, Judgement]) -> Figure:
    """E of every action with two standard errors, the best at the top."""
    from matplotlib.figure import Figure

    first = next(iter(judgements.values()))
    order = np.argsort(-first.loss, kind="stable")
    figure = Figure(figsize=(9, 2.5 + 0.25 * len(order)), layout="constrained")
    axis = figure.subplots()
    lines = np.arange(len(order))
    for shift, (method, judged) in zip((-0.12, 0.12), judgements.items(), strict=False):
        axis.errorbar(
            judged.expected[order], lines + shift, xerr=2 * judged.expected_error[order], fmt="o",
            markersize=4, capsize=2, label=f"by {method}: {judged.assumes}",
        )  # fmt: skip
    actions = first.actions[order].tolist()
    axis.set_yticks(
        lines,
        [position.text(action) + " (made)" * (action == position.made) for action in actions],
    )
    axis.set(xlabel="E of the player to move, points", title=position.in_words())
    axis.title.set_fontsize(8)
    axis.grid(alpha=0.3)
    figure.legend(loc="outside lower center")
    return figure


@dataclass(frozen=True)
class Decision:
    """What every action of a position is worth: E, W, errors, what it loses, a verdict.

    Attributes:
        record: A file of recorded matches.
        match: Number of the match in the file, from 1.
        deal: Number of the deal in the match, from 1.
        decision: Number of the decision in the deal, from 1, both players counted.
        deck: Instead of a record: the pack in the order of dealing, or its beginning (the
            non-dealer's five cards, the dealer's five, replacements). The dealer draws from the
            back of a whole pack.
        actions: With a deck: those made so far, numbers with spaces or words with semicolons.
        dealer: With a deck: the seat that deals.
        below: With a deck: points below the line, of player_0 and player_1.
        games: With a deck: games won, likewise.
        above: With a deck: points above the line, likewise.
        state: Instead of a record: a file of what get_state() of a bare environment gave.
        unit: With a state: the match of that environment.
        may_throw: With a deck or a state: a follower who can beat need not (must_beat=False).
        method: By table, by roll-out, or both.
        means: By what.
        out: The files to write, without a suffix.
        quick: Roughly, within a minute.
    """

    record: Annotated[tyro.conf.Positional[Path | None], tyro.conf.arg(metavar="RECORD")] = None
    match: int = 1
    deal: int = 1
    decision: int = 1
    deck: str | None = None
    actions: str = ""
    dealer: int = 0
    below: Pair = (0, 0)
    games: Pair = (0, 0)
    above: Pair = (0, 0)
    state: Path | None = None
    unit: Literal["rubber", "game", "deal"] = "rubber"
    may_throw: bool = False
    method: Literal["table", "rollout", "both"] = "table"
    means: tyro.conf.OmitArgPrefixes[Means] = field(default_factory=Means)
    out: Path = Path("runs/decision")
    quick: bool = False

    def position(self) -> Position:
        """The position that is asked about.

        Raises:
            ValueError: if it is not given in exactly one way, or cannot be.
            OSError: if a file cannot be read.
        """
        given = [name for name in ("record", "deck", "state") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"one of record, deck and state must be given, got {', '.join(given) or 'none'}"
            )
        if self.record is not None:
            match = read_record(self.record, self.match)
            return positions.from_record(match, self.deal, self.decision)
        if self.deck is not None:
            return positions.from_cards(
                self.deck, self.actions, self.dealer, self.below, self.games, self.above,
                not self.may_throw,
            )  # fmt: skip
        assert self.state is not None
        return positions.from_state(self.state.read_bytes(), self.unit, not self.may_throw)

    def run(self, console: Console) -> dict[Method, Judgement]:
        """Judge, print and write; returns the judgements by method."""
        results.folder_of(self.out)
        position = self.position()
        judge = Judge(self.means, self.quick, console)
        if self.quick:
            console.print(
                f"--quick: {judge.samples} deals for each action, {judge.hands:,} hands: for a look"
            )
        methods: list[Method] = ["table", "rollout"] if self.method == "both" else [self.method]
        judgements = {method: judge.judge(position, method) for method in methods}
        console.print(position.picture(), highlight=False)
        rows = report(position, judgements)
        for method, judged in judgements.items():
            shown = [_shown(row) for row in rows if row["method"] == method]
            results.show(console, f"by {method}: {judged.assumes}", shown)
        results.write(
            self.out,
            {
                "result": "decision",
                "position": position.in_words(),
                "picture": position.picture(),
                "record_of_position": position.state.tobytes().hex(),
                "assumes": {method: judged.assumes for method, judged in judgements.items()},
                "judged_by": judge.about(),
            },
            rows,
            plot(position, judgements),
        )
        return judgements
