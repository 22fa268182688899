"""One deal of a small pack solved exactly: `python -m training.lab exact`.

The preset `tiny` (six cards, hands of two) is walked through as a whole: every deal, every draw,
every trick, with perfect recall (`training.lab.game_tree`). Nothing is sampled, merged or assumed,
so unlike in the full game all numbers are exact up to rounding:

- the value of the deal to the non-dealer in equilibrium, a point below the line counting
  `--below-value` points;
- NashConv of the equilibrium, of the uniform random policy and of the players that leave nothing
  to chance, each against itself: what best answers of both seats gain together;
- the best doubling rule of the non-dealer: of all rules "double with hands weaker than this one",
  the one that brings most against each of these opponents, and the one that guarantees most against
  a dealer who knows it; and what a rule of any form would bring. Discards and tricks are the best
  that go with the rule.

The preset `small` is out of reach: it has 685 million ways of dealing and drawing even where the
non-dealer stands pat.

For the full game no such numbers exist: exploitability inside the model of `training.lab.draws` is
a proxy for them, and is called one.

    OUT.csv, OUT.json, OUT.png    policies: values, best answers, NashConv; the JSON has all rules
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import Console

import agents
from poke_env._checks import check_integer, check_number
from poke_env.cards import format_cards, hand_value
from poke_env.games.poke import POKE, PRESETS
from poke_env.observation import split
from training.lab import results
from training.lab.game_tree import (
    POSITIONS,
    Floats,
    Tree,
    best_answer,
    build_tree,
    equilibrium,
    nash_conv,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PLAYERS = ("greedy", "heuristic", "never_double", "always_double")
"""Players that leave nothing to chance, so that one answer tells their policy."""

KNOWING = "knows the rule"
"""The dealer against whom a rule brings what it guarantees."""

Plans = tuple[Floats, Floats]

_ROUNDING = 1e-9


def policies(tree: Tree) -> dict[str, Plans]:
    """The realisation plans of the equilibrium, of random play and of `PLAYERS`, for both seats."""
    found = {
        "equilibrium": equilibrium(tree),
        "uniform random": (tree.uniform(0), tree.uniform(1)),
    }
    for name in PLAYERS:
        player = agents.make(name)
        found[name] = tree.played(0, player), tree.played(1, player)
    return found


def exploitability(tree: Tree, plans: Plans) -> results.Row:
    """What a policy brings against itself, and what best answers gain against it, in points."""
    value = tree.value(plans)
    best = best_answer(tree, 0, plans[1])[0], best_answer(tree, 1, plans[0])[0]
    return {
        "value to the non-dealer": value,
        "best non-dealer gains": best[0] - value,
        "best dealer gains": best[1] + value,
        "NashConv": nash_conv(tree, plans),
    }


class Rule(NamedTuple):
    """A rule of doubling: the non-dealer draws with all hands weaker than one.

    Attributes:
        below: the weakest hand, as text, with which he stands pat; empty if he always draws.
        doubles: share of dealt hands with which he draws.
        value: what it brings him, in points.
    """

    below: str
    doubles: float
    value: float


def first_decisions(tree: Tree) -> tuple[npt.NDArray[np.int64], list[list[int]]]:
    """The non-dealer's first decisions, weakest hand first, and what he holds there.

    Returns:
        Information sets, int64 (K,), and the cards of each.
    """
    side = tree.sides[0]
    found = []
    for number in np.flatnonzero(side.parent == 0):
        cards = list(POKE.decode(split(POKE, side.observations[number]))["hand"])
        strength = hand_value(np.array(cards, np.int8), len(cards), True)
        found.append((int(strength), cards, int(number)))
    found.sort()
    return np.array([number for _, _, number in found]), [cards for _, cards, _ in found]


def threshold_rules(tree: Tree, other: Floats) -> list[Rule]:
    """All threshold rules of the non-dealer against a plan of the dealer, weakest hands first.

    What a hand brings when it stands, and when it draws, does not depend on what he does with
    others, so each rule's value is a sum over hands. Hands that are worth the same stay together.

    Args:
        tree: the deal.
        other: the dealer's plan.
    """
    side = tree.sides[0]
    _, values = best_answer(tree, 0, other)
    numbers, hands = first_decisions(tree)
    stand = np.array([values[side.first[number]] for number in numbers])
    draw = np.array([values[side.first[n] + 1 : side.first[n + 1]].max() for n in numbers])
    sums = np.concatenate(([0.0], np.cumsum(draw))) + np.append(np.cumsum(stand[::-1])[::-1], 0.0)
    strength = [int(hand_value(np.array(hand, np.int8), len(hand), True)) for hand in hands]
    return [
        Rule(format_cards(hands[count]) if count < len(hands) else "", count / len(hands), value)
        for count, value in enumerate(sums.tolist())
        if count in (0, len(hands)) or strength[count] != strength[count - 1]
    ]


def guaranteed(tree: Tree) -> list[Rule]:
    """All threshold rules, and what each guarantees against a dealer who knows it."""
    side = tree.sides[0]
    numbers, _ = first_decisions(tree)
    rules = threshold_rules(tree, tree.uniform(1))
    found = []
    for rule in rules:
        allowed = np.ones(len(side.actions), bool)
        doubled = round(rule.doubles * len(numbers))
        for place, number in enumerate(numbers):
            stand = int(side.first[number])
            if place < doubled:
                allowed[stand] = False
            else:
                allowed[stand + 1 : side.first[number + 1]] = False
        own, _ = equilibrium(tree, allowed)
        found.append(rule._replace(value=-best_answer(tree, 1, own)[0]))
    return found


def doubling(tree: Tree, found: dict[str, Plans]) -> list[results.Row]:
    """A line for each opponent and threshold rule: its value, and which is best."""
    rows: list[results.Row] = []
    against = {
        name: (threshold_rules(tree, plans[1]), best_answer(tree, 0, plans[1])[0])
        for name, plans in found.items()
    }
    against[KNOWING] = guaranteed(tree), tree.value(found["equilibrium"])
    for name, (rules, free) in against.items():
        best = max(rule.value for rule in rules)
        rows += [
            {
                "dealer": name,
                "stands from": rule.below or "never",
                "doubles": rule.doubles,
                "value": rule.value,
                "best": rule.value >= best - _ROUNDING,
                "any rule": free,
            }
            for rule in rules
        ]
    return rows


def plot(rows: list[results.Row], rules: list[results.Row], title: str) -> Figure:
    """NashConv of every policy, and the value of every doubling rule."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 4.5), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.barh([row["policy"] for row in rows][::-1], [row["NashConv"] for row in rows][::-1])
    left.set(xlabel="NashConv, points a deal (exact)", title=title)
    for name in dict.fromkeys(row["dealer"] for row in rules):
        of = [row for row in rules if row["dealer"] == name]
        right.plot([row["doubles"] for row in of], [row["value"] for row in of], "o-", label=name)
    right.set(
        xlabel="share of hands, weakest first, with which the non-dealer doubles",
        ylabel="value to him, points (exact)",
    )
    figure.legend(title="dealer", fontsize=8, loc="outside right upper")
    for axis in (left, right):
        axis.grid(alpha=0.3)
    return figure


@dataclass(frozen=True)
class Exact:
    """A deal of a small pack solved exactly: equilibrium, NashConv of players, doubling rules.

    Attributes:
        rules: The preset. Larger ones are refused: their trees are too large to walk through.
        below_value: What a point below the line counts, in points above it.
        positions: Decisions and ends of a deal's tree, at most.
        out: The files to write, without a suffix.
    """

    rules: Literal["tiny", "small"] = "tiny"
    below_value: float = 50.0
    positions: int = POSITIONS
    out: Path = Path("runs/exact")

    def run(self, console: Console) -> None:
        """Solve, write and show."""
        results.folder_of(self.out)
        below_value = check_number("below_value", self.below_value)
        positions = check_integer("positions", self.positions, 1)
        with console.status("walking through every deal"):
            tree = build_tree(PRESETS[self.rules], below_value, positions)
        with console.status("solving"):
            found = policies(tree)
        rows: list[results.Row] = [
            {"policy": name, **exploitability(tree, plans)} for name, plans in found.items()
        ]
        rules = doubling(tree, found)
        about: dict[str, Any] = {
            "result": "one deal of a small pack, exact",
            "rules": PRESETS[self.rules].as_dict(),
            "below_value": below_value,
            "unit": "points a deal",
            "ends": len(tree.ends),
            "information_sets": [len(side.parent) for side in tree.sides],
            "doubling": rules,
        }
        results.write(self.out, about, rows, plot(rows, rules, f"preset {self.rules}, one deal"))
        results.show(console, f"One deal of {self.rules}, exact, in points", rows, digits=4)
        best = [{name: row[name] for name in row if name != "best"} for row in rules if row["best"]]
        results.show(console, "The non-dealer's best doubling rule", best, digits=4)
