"""Who draws with what: `python -m training.lab thresholds`.

The solved rubber holds, for every score and each of eleven decisions to draw, how many of the hands
of each kind draw there. A kind is a poker category and the rank that decides first: a pair of
nines, two pair with queens up. The eleven are the non-dealer's two decisions, and the dealer's
three after each number of draws that he has seen. From them come

- the kinds that always, sometimes and never draw. Kinds in which not more than 2 % of the hands
  differ from the others count as always or never. With the others side cards decide: high ones
  take tricks, and straights and flushes may be within reach;
- a rule: in each category the run of ranks, from its lowest or to its highest, that most hands
  agree with. `agreement` is the share of all hands that do as the rule says, `told_by_kind` the
  most that any rule by kinds alone could reach.

A single threshold in the order of poker hands would not do: cards that are high take tricks, sets
that are low do not, and three of a kind can lead three cards at once.

Shares are those of the last best answers, which are pure, in steps of 1 / 255. Hands of a kind
count as they are dealt, not as they reach the decision. The strategies are within the
exploitability that each row states of an equilibrium; where drawing and standing are worth nearly
the same, another solution may say otherwise.

    OUT.csv, .json, .png         every score and decision; maps of how many of the hands that are
                                 dealt would draw
    OUT_kinds.csv, .json, .png   at the scores named, by kind of hand: a chart for the table
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console

from agents.hand_classes import NUM_HANDS, hand_classes
from poke_env.cards import RANKS, Category
from poke_env.equity import Floats, Integers
from training.lab import results, score_maps, stored
from training.lab.draws import DEALER_DRAWS
from training.lab.score_maps import Score
from training.lab.solve_rubber import DECISIONS, KINDS, kinds
from training.lab.stored import Solution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.cm import ScalarMappable
    from matplotlib.figure import Figure

CERTAIN = 0.02
"""A kind always draws if not more than this share of its hands stands, never if not more draws."""

_RANKS = ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "jack", "queen",
          "king", "ace")  # fmt: skip
_MANY = tuple(f"{rank}es" if rank == "six" else f"{rank}s" for rank in _RANKS)
_NAMES = {
    Category.HIGH_CARD: "{one} high",
    Category.PAIR: "a pair of {many}",
    Category.TWO_PAIR: "two pair, {many} up",
    Category.THREE_OF_A_KIND: "three {many}",
    Category.STRAIGHT: "a straight to the {one}",
    Category.FLUSH: "a flush to the {one}",
    Category.FULL_HOUSE: "a full house of {many}",
    Category.FOUR_OF_A_KIND: "four {many}",
    Category.STRAIGHT_FLUSH: "a straight flush to the {one}",
    Category.ROYAL_FLUSH: "a royal flush",
}


class Kinds(NamedTuple):
    """The kinds of hands that occur, from the lowest to the highest.

    Attributes:
        number: int64 (N,), as stored (`training.lab.solve_rubber.KINDS`).
        share: float64 (N,), of all hands that are dealt.
        names: N texts.
    """

    number: Integers
    share: Floats
    names: tuple[str, ...]


@cache
def every_kind() -> Kinds:
    """The kinds that occur."""
    hands = hand_classes()
    counts = np.bincount(kinds(hands)[hands.type], hands.size, KINDS)
    number = np.flatnonzero(counts)
    return Kinds(number, counts[number] / NUM_HANDS, tuple(_name(kind) for kind in number.tolist()))


def _name(kind: int) -> str:
    category, rank = divmod(kind, len(_RANKS))
    return _NAMES[Category(category)].format(one=_RANKS[rank], many=_MANY[rank])


class Rule(NamedTuple):
    """A decision to draw as one run of ranks in each category.

    Attributes:
        draws: bool (N,), which of `every_kind` draw.
        agreement: share of the hands dealt that do as the rule says.
        text: the rule in words.
    """

    draws: npt.NDArray[np.bool_]
    agreement: float
    text: str


def rule_of(shares: Floats) -> Rule:
    """The rule that most hands agree with.

    Args:
        shares: float64 (N,), how many hands of each of `every_kind` draw.
    """
    known = every_kind()
    gain = known.share * (2 * shares - 1)  # by which agreement grows if the kind draws
    draws = np.zeros(len(shares), bool)
    words = []
    for category in Category:
        kinds_of_it = np.flatnonzero(known.number // len(_RANKS) == category)
        count = len(kinds_of_it)
        every = [(0, 0), (0, count), *((0, n) for n in range(1, count)),
                 *((n, count) for n in range(1, count))]  # fmt: skip
        low, high = max(every, key=lambda run: gain[kinds_of_it[run[0] : run[1]]].sum())
        draws[kinds_of_it[low:high]] = True
        name = category.name.lower().replace("_", " ")
        if high - low == count:
            words.append(f"any {name}")
        elif high > low:
            ends = [_RANKS[known.number[kinds_of_it[end]] % len(_RANKS)] for end in (low, high - 1)]
            words.append(f"{name} ({' to '.join(dict.fromkeys(ends))})")
    text = f"draws with {', '.join(words)}" if words else "never draws"
    agreement = known.share @ np.where(draws, shares, 1 - shares)
    return Rule(draws, float(agreement), text)


def decision_shares(solution: Solution, place: int) -> Floats:
    """How many hands of each of `every_kind` draw at each decision, float64 (11, N)."""
    return np.asarray(solution.shares[place][:, every_kind().number] / 255.0)


def threshold_rows(solution: Solution, places: Sequence[int]) -> list[dict[str, Any]]:
    """The decisions to draw at some scores.

    Args:
        solution: the stored solution.
        places: the scores.

    Returns:
        A row a score and decision: the score, `decision`, `rule`, `agreement`, `told_by_kind`,
        `drawing` (share of all hands dealt that would draw), `drawing_CATEGORY` (of its hands),
        `exploitability` of the score's strategies in points.
    """
    known = every_kind()
    rows = []
    for place in places:
        for decision, shares in zip(DECISIONS, decision_shares(solution, place), strict=True):
            rule = rule_of(shares)
            rows.append(
                score_maps.columns(place, solution.table.target)
                | {
                    "decision": decision,
                    "rule": rule.text,
                    "agreement": rule.agreement,
                    "told_by_kind": float(known.share @ np.maximum(shares, 1 - shares)),
                    "drawing": float(known.share @ shares),
                }
                | by_category(shares)
                | {"exploitability": float(solution.gaps[place] / 2)}
            )
    return rows


def kind_rows(solution: Solution, places: Sequence[int]) -> list[dict[str, Any]]:
    """What each kind of hand does at some scores.

    Returns:
        A row a score, decision and kind: the score, `decision`, `kind`, `dealt` (share of all
        hands), `drawing` (share of the kind's hands), `draws`: always, sometimes or never.
    """
    known = every_kind()
    return [
        score_maps.columns(place, solution.table.target)
        | {
            "decision": decision,
            "kind": name,
            "dealt": float(dealt),
            "drawing": float(share),
            "draws": "always"
            if share >= 1 - CERTAIN
            else "never"
            if share <= CERTAIN
            else "sometimes",
        }
        for place in places
        for decision, shares in zip(DECISIONS, decision_shares(solution, place), strict=True)
        for name, dealt, share in zip(known.names, known.share, shares, strict=True)
    ]


def by_category(shares: Floats) -> dict[str, float]:
    """The share of the hands of each category that draw, as columns `drawing_CATEGORY`."""
    known = every_kind()
    category = known.number // len(_RANKS)
    drawing = np.bincount(category, known.share * shares) / np.bincount(category, known.share)
    return {f"drawing_{one.name.lower()}": float(drawing[one]) for one in Category}


@dataclass(frozen=True)
class Thresholds:
    """Which hands draw: by seat, draws made, opponent's draws and score.

    Attributes:
        scores: The scores to print: four numbers each, points below the line of dealer and other,
            games of dealer and other.
        table: The equity table (*.npz); by default that of the environment.
        draws: The draw phase of the same solution (*.draws.npz); by default the shipped one.
        out: Files to write, without a suffix.
    """

    scores: Annotated[tuple[Score, ...], tyro.conf.arg(metavar="BELOW BELOW GAMES GAMES ...")] = (
        (0, 0, 0, 0),
    )
    table: Path | None = None
    draws: Path | None = None
    out: Path = Path("runs/thresholds")

    def run(self, console: Console) -> None:
        """Read the solution, write the files and print."""
        results.folder_of(self.out)
        solution = stored.load(self.table, self.draws)
        target = solution.table.target
        shown = score_maps.places_of(self.scores, target)
        rows = threshold_rows(solution, range(len(solution.gaps)))
        drawing = np.array([row["drawing"] for row in rows]).reshape(-1, len(DECISIONS))
        figure = score_maps.draw(
            "How many of the hands that are dealt would draw",
            [
                score_maps.Map(decision, drawing[:, index], 0, 1)
                for index, decision in enumerate(DECISIONS)
            ],
            target,
        )
        about = stored.about(solution.table)
        results.write(self.out, {"result": "thresholds", **about}, rows, figure)
        results.write(
            self.out.with_name(f"{self.out.name}_kinds"),
            {"result": "thresholds by kind of hand", **about},
            kind_rows(solution, shown),
            plot_kinds(solution, shown),
        )
        for place in shown:
            here = rows[len(DECISIONS) * place : len(DECISIONS) * (place + 1)]
            names = ("decision", "rule", "agreement", "told_by_kind", "drawing")
            title = f"Who draws at {score_maps.text(place, target)} (dealer's first)"
            results.show(console, title, [{name: row[name] for name in names} for row in here])


class Line(NamedTuple):
    """A line of a chart.

    Attributes:
        group: the heading that it stands under; a line that has that of the one before it as well
            stands close to it.
        name: what stands before it.
        shares: float64 (N,), how many hands of each of `every_kind` draw.
        reached: how often a deal comes to the decision.
    """

    group: str
    name: str
    shares: Floats
    reached: float


def reached(chances: Floats) -> Floats:
    """How often a deal comes to each decision, float64 (11,).

    Args:
        chances: float64 (3, 4, 6, 19), see `Solution.chances`.
    """
    draws = chances.sum(axis=(2, 3))
    least = draws[:, ::-1].cumsum(axis=1)[:, ::-1]  # by the number that the dealer draws at least
    return np.array([1.0, draws[1:].sum(), *least[:, :DEALER_DRAWS].ravel()])


def plot_kinds(solution: Solution, places: Sequence[int]) -> Figure:
    """A chart for the table: which hands draw at each decision, a panel a score.

    A column is a rank of the categories that are frequent, or a category. Dark cells draw and pale
    ones stand; where only some hands of a kind draw, a number says how many of a hundred. Decisions
    that fewer than one deal in a thousand comes to are faded.
    """
    return _chart(
        {
            f"{score_maps.text(place, solution.table.target)} (dealer's first)": [
                Line(*_headed(decision), shares, often)
                for decision, shares, often in zip(
                    DECISIONS,
                    decision_shares(solution, place),
                    reached(solution.chances(place)),
                    strict=True,
                )
            ]
            for place in places
        }
    )


def plot_scores(solution: Solution, places: Sequence[int], decisions: Sequence[str]) -> Figure:
    """The same with a panel a decision and a line a score.

    Raises:
        ValueError: if a decision is none of `training.lab.solve_rubber.DECISIONS`.
    """
    for decision in decisions:
        if decision not in DECISIONS:
            raise ValueError(f"decisions must be of {', '.join(DECISIONS)}, got {decision!r}")
    panels: dict[str, list[Line]] = {decision: [] for decision in decisions}
    for place in places:
        shares = decision_shares(solution, place)
        often = reached(solution.chances(place))
        name = score_maps.text(place, solution.table.target)
        for decision, lines in panels.items():
            number = DECISIONS.index(decision)
            lines.append(Line("dealer–other", name, shares[number], float(often[number])))
    return _chart(panels)


_SINGLE = Category.STRAIGHT
"""The first category that has one column for all its ranks."""
_SHORT = ("high card", "pair", "two pair, the higher", "three of a kind", "straight", "flush",
          "full house", "four", "straight flush")  # fmt: skip
_GAP = 0.5
_SELDOM = 1e-3
"""Decisions that fewer deals come to are faded."""


class _Column(NamedTuple):
    """A column of a chart: where it stands, the places of its kinds, and its name."""

    at: float
    kinds: Integers
    name: str


def _columns() -> list[_Column]:
    number = every_kind().number
    category = np.minimum(number // len(_RANKS), Category.STRAIGHT_FLUSH)  # royal ones among them
    found: list[_Column] = []
    at = 0.0
    for one in range(len(_SHORT)):
        here = np.flatnonzero(category == one)
        if one < _SINGLE:
            parts = [
                (here[n : n + 1], RANKS[number[here[n]] % len(RANKS)]) for n in range(len(here))
            ]
        else:
            parts = [(here, _SHORT[one])]
        for kinds_of_it, name in parts:
            found.append(_Column(at, kinds_of_it, name))
            at += 1
        at += _GAP if one < _SINGLE else 0
    return found


def _headed(decision: str) -> tuple[str, str]:
    """A decision as heading and name."""
    seat, _, rest = decision.partition(" ")
    what, after, seen = rest.partition(" after ")
    return f"{seat}{after}{seen}", what


def _chart(panels: Mapping[str, Sequence[Line]]) -> Figure:
    """Panels one above the other, with lines of cells."""
    from matplotlib.figure import Figure

    heights = [3.3 + sum(_step(lines, n) for n in range(len(lines))) for lines in panels.values()]
    figure = Figure(figsize=(13.5, 0.27 * sum(heights) + 0.5), layout="constrained")
    axes = figure.subplots(len(panels), height_ratios=heights, squeeze=False)[:, 0]
    for axis, (title, lines) in zip(axes, panels.items(), strict=True):
        image = _draw_panel(axis, title, lines)
    bar = figure.colorbar(image, ax=axes.tolist(), fraction=0.012, pad=0.01, shrink=0.8)
    bar.set_label("share of the kind's hands that draw")
    return figure


def _step(lines: Sequence[Line], number: int) -> float:
    """How far a line stands below the one before it."""
    return 1.0 if number and lines[number].group == lines[number - 1].group else 2.0


def _draw_panel(axis: Axes, title: str, lines: Sequence[Line]) -> ScalarMappable:
    """Draw the lines of a panel; what it returns has the scale of colours."""
    from matplotlib.collections import PolyCollection

    columns = _columns()
    weight = every_kind().share
    right = columns[-1].at + 1.5
    cells, colours, fading = [], [], []
    low = 0.0
    for number, line in enumerate(lines):
        low += _step(lines, number)
        fade = 1.0 if line.reached >= _SELDOM else 0.25
        if _step(lines, number) > 1:
            axis.text(-0.7, low - 1, line.group, ha="right", va="center", weight="bold", size=8)
        axis.text(-0.7, low, line.name, ha="right", va="center", size=8, alpha=max(fade, 0.5))
        for column in columns:
            own = weight[column.kinds]
            share = float(line.shares[column.kinds] @ own / own.sum())
            left, top = column.at - 0.47, low - 0.45
            cells.append(
                [(left, top), (left + 0.94, top), (left + 0.94, top + 0.9), (left, top + 0.9)]
            )
            colours.append(share)
            fading.append(fade)
            if CERTAIN < share < 1 - CERTAIN:
                axis.text(
                    column.at, low, f"{100 * share:.0f}", ha="center", va="center", size=6,
                    color="white" if share > 0.55 else "black", alpha=fade,
                )  # fmt: skip
        axis.text(right, low, f"{line.reached:.1%}", va="center", size=7)
    axis.text(right, 1, "reached", va="center", size=7, style="italic")
    image = PolyCollection(cells, array=np.array(colours), cmap="YlGnBu", edgecolors="none")
    image.set_clim(0, 1)
    image.set_alpha(fading)
    axis.add_collection(image)
    _name_columns(axis, columns)
    axis.set_title(title, loc="left", weight="bold", size=10, pad=0)
    axis.set_xlim(-8, columns[-1].at + 4)
    axis.set_ylim(low + 0.8, -2.2)
    axis.axis("off")
    return image


def _name_columns(axis: Axes, columns: Sequence[_Column]) -> None:
    for column in columns:
        single = len(column.name) > 1
        axis.text(
            column.at, 0.3, column.name, ha="center", va="bottom", size=7 if single else 8,
            rotation=90 if single else 0,
        )  # fmt: skip
    category = [every_kind().number[column.kinds[0]] // len(_RANKS) for column in columns]
    for one in range(_SINGLE):
        here = [column.at for column, its in zip(columns, category, strict=True) if its == one]
        middle = sum(here) / len(here)
        axis.text(middle, -0.8, _SHORT[one], ha="center", va="bottom", size=8, weight="bold")


def mark_categories(axis: Axes, colour: str) -> None:
    """Name the categories along an axis of `every_kind`, with lines between them."""
    starts = np.searchsorted(every_kind().number // len(_RANKS), np.arange(len(Category)))
    names = [category.name.lower().replace("_", " ") for category in Category]
    axis.set_xticks(starts)
    axis.set_xticklabels(names, rotation=30, ha="right", fontsize="small")
    for start in starts:
        axis.axvline(start - 0.5, color=colour, linewidth=1)
