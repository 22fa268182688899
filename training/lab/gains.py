"""What every draw of every hand gains: `python -m training.lab gains`.

    python -m training.lab gains --price 25                        the non-dealer's first decision
    python -m training.lab gains --below 15 10 --history 3         his second, after a draw of three
    python -m training.lab gains --seat dealer --history 1 --made 1    the dealer's first double

For one decision of the draw phase: the value of standing pat and of each of the 25 discards, for
all 134,459 classes of hands, in points of the deal to the player who decides. The other player
plays the average strategy of the solved draw phase, the player himself his best from there on.

Exact inside the model, for strategies whose exploitability is stated; nothing is sampled. What the
model simplifies is measured by `python -m training.lab evidence`. A dealer's decision after a
history that the non-dealer never chooses has no meaning; how often he does is stated.

    OUT.classes.csv       a line a class: a hand of it, how many, value of standing, best choice,
                          the best draw's gain over standing, the second-best choice and its loss
    OUT.values.npz        values float32 (134459, 26), and what each column discards: slots of the
                          hand as bits
    OUT.csv, .json, .png  the same by kind of hand: how many draw, and what they gain
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console

from agents.hand_classes import HandClasses
from poke_env import _files
from poke_env._checks import check_number
from poke_env.cards import RANKS, Category, format_cards
from poke_env.games.poke import MAX_HAND
from training.lab import results
from training.lab.draws import (
    DRAW_CHOICES,
    DrawModel,
    Equilibrium,
    Payoffs,
    check_decision,
)
from training.lab.solve_draws import PROXY, QUICK_TOLERANCE, model_for, solve_draws
from training.lab.solve_rubber import KINDS, kinds
from training.lab.stakes import Stakes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


class Decision(NamedTuple):
    """A decision of the draw phase.

    Attributes:
        dealer: whose it is.
        history: cards changed in each draw of the non-dealer so far.
        draws: draws that the player has made.
    """

    dealer: bool
    history: tuple[int, ...]
    draws: int

    def __str__(self) -> str:
        seat = "dealer" if self.dealer else "non-dealer"
        seen = "-".join(map(str, self.history)) or "no draw"
        return f"{seat}, draw {self.draws + 1} after {seen}"


class Choices(NamedTuple):
    """What the choices of each class are worth.

    Attributes:
        values: float64 (134459, 26), points of the deal to the player, by class and choice, in the
            order of `training.lab.draws.DRAW_CHOICES`.
        best, second: int64 (134459,), the column of the best choice and of the second best.
        gain: float64 (134459,), the best draw's value less that of standing; negative for hands
            that stand.
    """

    values: Floats
    best: Integers
    second: Integers
    gain: Floats


def draw_gains(
    model: DrawModel,
    solved: Equilibrium,
    payoffs: Payoffs,
    decision: Decision,
    averages: bool = False,
) -> Choices:
    """The value of every choice at a decision, against the solved strategy of the other player.

    Args:
        model, payoffs: what was solved.
        solved: its solution.
        decision: one of the draw phase.
        averages: against the other's average strategy instead.

    Raises:
        ValueError: if there is no such decision.
    """
    pair = solved.averages if averages else (solved.non_dealer, solved.dealer)
    other = pair[0 if decision.dealer else 1]
    values = model.draw_values(decision.dealer, other, payoffs - solved.value, *decision[1:])
    values += -solved.value if decision.dealer else solved.value
    best, second = np.argsort(-values, axis=1, kind="stable")[:, :2].T
    return Choices(values, best, second, values[:, 1:].max(axis=1) - values[:, 0])


def kind_name(kind: int) -> str:
    """The name of one of `training.lab.solve_rubber.kinds`, such as "pair, 9"."""
    category, rank = divmod(kind, len(RANKS))
    return f"{Category(category).name.lower().replace('_', ' ')}, {RANKS[rank]}"


def by_kind(hands: HandClasses, gains: Choices) -> list[results.Row]:
    """A line a kind of hand, from the weakest: how many hands draw, and what the draw gains."""
    kind = kinds(hands)[hands.type]
    size = hands.size.astype(np.float64)
    draws = DRAW_CHOICES[gains.best]
    changed = np.array([int(choice).bit_count() for choice in draws])
    found: list[results.Row] = []
    for number in range(KINDS):
        here = kind == number
        if not here.any():
            continue
        weight = size[here] / size[here].sum()
        found.append(
            {
                "kind": kind_name(number),
                "hands": int(hands.size[here].sum()),
                "draw": weight @ (changed[here] > 0),
                **{f"change {n}": weight @ (changed[here] == n) for n in (1, 2, 3)},
                "value": weight @ gains.values[here].max(axis=1),
                "gain": weight @ gains.gain[here],
                "least gain": gains.gain[here].min(),
                "most gain": gains.gain[here].max(),
            }
        )
    return found


def as_csv(hands: HandClasses, gains: Choices) -> str:
    """A line a class."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(
        ("hand", "hands", "stand", "best", "value", "gain_of_drawing", "second", "second_loses")
    )
    every = np.arange(len(gains.values))
    top, next_ = gains.values[every, gains.best], gains.values[every, gains.second]
    for number, cards in enumerate(hands.cards.tolist()):
        best, second = (_choice(cards, of[number]) for of in (gains.best, gains.second))
        lines.writerow(
            (
                format_cards(cards),
                hands.size[number],
                f"{gains.values[number, 0]:.2f}",
                best,
                f"{top[number]:.2f}",
                f"{gains.gain[number]:.2f}",
                second,
                f"{top[number] - next_[number]:.2f}",
            )
        )
    return text.getvalue()


def _choice(cards: list[int], column: int) -> str:
    """A choice as text: what is discarded of a hand."""
    slots = int(DRAW_CHOICES[column])
    if slots == 0:
        return "stand pat"
    discarded = [cards[slot] for slot in range(MAX_HAND) if slots >> slot & 1]
    return f"discard {format_cards(discarded)}"


def plot(hands: HandClasses, gains: Choices, title: str) -> Figure:
    """The best draw's gain over standing, over the hands from the weakest type to the strongest."""
    from matplotlib.figure import Figure

    order = np.argsort(hands.type, kind="stable")
    place = np.cumsum(hands.size[order]) / hands.size.sum()
    figure = Figure(figsize=(10, 5), layout="constrained")
    axis = figure.subplots()
    gain = gains.gain[order]
    points = axis.scatter(
        place, gain, s=1, c=DRAW_CHOICES[gains.best[order]] > 0, cmap="coolwarm_r", rasterized=True
    )
    points.set_label("a class of hands; the colour says whether drawing is best")
    axis.axhline(0, color="0.3", linewidth=1)
    ends = np.searchsorted(hands.category[hands.type[order]], list(Category), side="right")
    axis.set_xticks([place[min(end, len(place)) - 1] for end in ends[:3]])
    axis.set_xticklabels(["high card", "pair", "two pair"], rotation=60, ha="right")
    axis.set(
        xlabel="all hands, the weakest first; ticks where a category ends",
        ylabel="gain of the best draw over standing, points",
        title=title,
    )
    axis.legend(loc="lower left")
    axis.grid(alpha=0.3)
    return figure


@dataclass(frozen=True)
class Gains:
    """What every draw of every hand gains over standing pat, at one decision.

    Attributes:
        seat: Whose decision it is.
        history: Cards changed in each draw of the non-dealer so far, up to two numbers.
        made: Draws that the dealer has made (the non-dealer's are his history).
        out: The files to write, without a suffix.
        tolerance: Exploitability to which the draw phase is solved, in points.
        quick: Roughly, within a minute.
    """

    seat: Literal["non-dealer", "dealer"] = "non-dealer"
    history: tuple[int, ...] = ()
    made: int = 0
    stakes: tyro.conf.OmitArgPrefixes[Stakes] = field(default_factory=Stakes)
    out: Path = Path("runs/gains")
    tolerance: Annotated[float, tyro.conf.arg(metavar="POINTS")] = 0.05
    quick: bool = False

    def run(self, console: Console) -> None:
        """Solve, write and show."""
        results.folder_of(self.out)
        tolerance = check_number("tolerance", self.tolerance, above=0.0)
        dealer = self.seat == "dealer"
        decision = Decision(dealer, self.history, self.made if dealer else len(self.history))
        lane = check_decision(*decision)
        if not dealer and self.made not in (0, len(self.history)):
            raise ValueError(f"made must be {len(self.history)} as history says, got {self.made}")
        payoffs = self.stakes.payoffs()
        model = model_for(self.quick, console)
        if self.quick:
            tolerance = max(tolerance, QUICK_TOLERANCE)
        solved = solve_draws(model, payoffs, tolerance, console=console).equilibrium
        gains = draw_gains(model, solved, payoffs, decision)
        hands = model.hands
        _files.write(self.out.with_name(f"{self.out.name}.classes.csv"), as_csv(hands, gains))
        with _files.replacing(self.out.with_name(f"{self.out.name}.values.npz")) as temporary:
            np.savez_compressed(
                temporary, values=gains.values.astype(np.float32), discarded=DRAW_CHOICES
            )
        rows = by_kind(hands, gains)
        drawing = model.deal @ (gains.best > 0)
        about = {
            "result": "draw gains for every class of hands and every discard",
            "quick": self.quick,
            "decision": str(decision),
            "stakes": str(self.stakes),
            "unit": "points of the deal to the player who decides",
            "exploitability": solved.exploitability,
            "exploitability_is": PROXY,
            "model_balanced": not self.quick,
            "non_dealer_plays_history": solved.non_dealer[:, lane].sum(),
            "dealt_hands_that_draw": drawing,
        }
        title = f"{decision}\n{self.stakes}"
        results.write(self.out, about, rows, plot(hands, gains, title))
        short = [{name: row[name] for name in row if "change" not in name} for row in rows]
        results.show(console, title, short)
        console.print(
            f"The non-dealer changes {self.history or 'nothing'} in "
            f"{about['non_dealer_plays_history']:.2%} of deals; of dealt hands {drawing:.1%} would "
            f"draw here. Exploitability {solved.exploitability:.3f} points ({PROXY})."
        )
