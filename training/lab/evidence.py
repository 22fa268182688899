"""What speaks for the solved draw phase, and what its assumptions cost.

    python -m training.lab evidence --price 25

Three things are shown, at the stakes asked for:

**Exploitability**: what best answers gain against the average strategies, after every iteration.
Exact inside the model.

**Indifference**: in equilibrium, whoever mixes two choices finds them worth the same. For every
decision that is reached with each class as dealt (the non-dealer's first, and the dealer's first
after each history), a class is called mixed if both standing and drawing are chosen with at least
`MIXED` of the weight in the average strategy; the gap is how much the better of the two is worth
more, against the other's average strategy. Exact inside the model. After histories that are seldom
chosen gaps are larger: errors there hardly count, and fictitious play finds them late.

**Real cards**: the pair of pure strategies found last plays deals from shuffled packs
(`training.lab.real_cards`), and the same pair is valued by the model: as it stands, without the
correction for own discards (`gone`), without that for hands that share cards (`balance`), and
without both. The difference is what the model's assumptions about draws cost. Real means have a
standard error, which is stated; the model's values are exact for the model. Tricks are played
perfectly, as in the model, so what players who do not see both hands lose is not in it. Nor does
it say how much a best answer with real cards would gain: exploitability is known inside the model
only.

    OUT.csv, OUT.json, OUT.png    the models beside real cards; JSON and picture hold the rest
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import tyro
from rich.console import Console

from poke_env._checks import check_integer, check_number
from training.lab import results
from training.lab._draw_loops import CATEGORIES, SPLITS, Floats
from training.lab.draws import (
    GONE_DEALER,
    GONE_NON_DEALER,
    HISTORIES,
    DrawModel,
    Equilibrium,
    Payoffs,
    Response,
)
from training.lab.gains import Decision, draw_gains
from training.lab.real_cards import PlayedOut, play_out
from training.lab.solve_draws import PROXY, QUICK_TOLERANCE, Solved, curve, model_for, solve_draws
from training.lab.stakes import Stakes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MIXED = 0.05
"""Share of the average strategy that standing and drawing both have where a class mixes."""
SEEN = 1e-3
"""How often the non-dealer chooses a history, at least, after which the dealer is looked at."""

_QUICK_DEALS = 200_000


class Mixture:
    """How often the average strategy draws, at the decisions that every class reaches as dealt.

    Give `add` to `training.lab.draws.solve` as `answered`.

    Attributes:
        weight: of all answers so far.
        non_dealer: float64 (134459,), the weight of those that draw at the first decision.
        dealer: float64 (134459, 13), the same for the dealer, by history.
    """

    def __init__(self, classes: int) -> None:
        self.weight = 0.0
        self.non_dealer = np.zeros(classes)
        self.dealer = np.zeros((classes, len(HISTORIES)))

    def add(self, weight: float, answer: Response, reply: Response) -> None:
        """Count a pair of answers, the non-dealer's first."""
        self.weight += weight
        self.non_dealer += weight * (answer.actions[:, 0] != 0)
        self.dealer += weight * (reply.actions[0, :, : len(HISTORIES)] != 0)


def mixing(
    model: DrawModel, payoffs: Payoffs, solved: Equilibrium, mixture: Mixture
) -> list[results.Row]:
    """A line a decision: how many dealt hands mix, and how much what they mix differs in worth.

    Args:
        model, payoffs, solved: what was solved, and its solution.
        mixture: collected while it was solved.
    """
    lanes = [n for n in range(len(HISTORIES)) if solved.averages[0][:, n].sum() >= SEEN]
    decisions = [(Decision(False, (), 0), 1.0, mixture.non_dealer)]
    decisions += [
        (Decision(True, HISTORIES[n], 0), solved.averages[0][:, n].sum(), mixture.dealer[:, n])
        for n in lanes
    ]
    found: list[results.Row] = []
    for decision, reached, drawing in decisions:
        gaps = np.abs(draw_gains(model, solved, payoffs, decision, averages=True).gain)
        share = drawing / mixture.weight
        mixed = (share >= MIXED) & (share <= 1 - MIXED)
        weight = model.deal * mixed
        total = weight.sum()
        found.append(
            {
                "decision": str(decision),
                "reached": reached,
                "hands that mix": total,
                "their gap, mean": weight @ gaps / total if total else None,
                "their gap, most": gaps[mixed].max() if total else None,
                "gap of all hands, mean": model.deal @ gaps,
            }
        )
    return found


def measures(payoffs: Payoffs) -> dict[str, Payoffs]:
    """What is compared with real cards: numbers by outcome, in the places of `Payoffs`."""
    non_dealer, dealer, cards, scored = np.indices(payoffs.shape)
    middle = CATEGORIES - 1
    named = {
        "value to the non-dealer": payoffs,
        "cards of the non-dealer": cards,
        "sweeps of the non-dealer": cards == SPLITS - 1,
        "sweeps of the dealer": cards == 0,
        "better hand with the non-dealer": scored > middle,
        "better hand with the dealer": scored < middle,
        "non-dealer doubles": non_dealer >= 1,
        "non-dealer redoubles": non_dealer == 2,
        "dealer doubles": dealer >= 2,
        "dealer redoubles": dealer == 3,
    }
    return {name: np.asarray(numbers, np.float64) for name, numbers in named.items()}


def against_real_cards(
    models: Mapping[str, Payoffs], played: PlayedOut, payoffs: Payoffs
) -> list[results.Row]:
    """A line a measure: real cards with the standard error, and what each model says instead.

    Args:
        models: the outcomes of the same pair of strategies, by the name of the model.
        played: the deals.
        payoffs: of a deal.
    """
    rows: list[results.Row] = []
    for name, numbers in measures(payoffs).items():
        mean, error = played.mean(numbers)
        said = {model: (outcomes * numbers).sum() for model, outcomes in models.items()}
        rows.append({"measure": name, "real cards": mean, "standard error": error, **said})
    return rows


def outcomes_of(model: DrawModel, pair: tuple[Response, Response]) -> Payoffs:
    """How likely each outcome is in a model when these actions are taken, adding up to 1."""
    answer, reply = (one.actions for one in pair)
    outcomes = model.outcomes(model.non_dealer_reach(answer), model.dealer_reach(reply))
    return np.asarray(outcomes / outcomes.sum())


def valued_by_models(
    model: DrawModel, pair: tuple[Response, Response], balanced: bool
) -> dict[str, Payoffs]:
    """The outcomes of a pair of strategies in the model and in those without its corrections.

    Args:
        model: the one that was solved.
        pair: the strategies, the non-dealer's first.
        balanced: whether that one is balanced; if not, only unbalanced ones are compared.
    """
    found = {"model": outcomes_of(model, pair)}
    plain = DrawModel(gone=False, threads=model.threads)
    if balanced:
        reach = plain.non_dealer_reach(pair[0].actions), plain.dealer_reach(pair[1].actions)
        plain.balance(*reach)
        found["without gone"] = outcomes_of(plain, pair)
        apart = DrawModel(threads=model.threads)
        found["without balance"] = outcomes_of(apart, pair)
        del apart
        plain = DrawModel(gone=False, threads=model.threads)
    found["without both" if balanced else "without gone"] = outcomes_of(plain, pair)
    return found


def plot(
    solved: Solved, gains: Floats, shares: Floats, real: list[results.Row], title: str
) -> Figure:
    """The curve, what the non-dealer's hands mix, and the models beside real cards.

    Args:
        solved: the solution.
        gains, shares: of each class at the non-dealer's first decision, what drawing gains, and
            the share of the average strategy that draws.
        real: as `against_real_cards` gives it.
        title: of the whole.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(15, 4.5), layout="constrained")
    figure.suptitle(title)
    left, middle, right = figure.subplots(1, 3)
    gaps = np.maximum(solved.equilibrium.curve, 1e-9).reshape(-1, 2)
    left.semilogy(range(1, len(gaps) + 1), gaps / 2, marker="o", markersize=3)
    left.legend(("average strategies", "best answers to them"))
    left.set(xlabel="iteration", ylabel="exploitability inside the model, points")
    near = np.abs(gains) < _NEAR
    middle.scatter(gains[near], shares[near], s=3, alpha=0.4, rasterized=True)
    middle.set(
        xlabel="gain of the best draw over standing, points",
        ylabel="share of the average strategy that draws",
        title="classes of hands, non-dealer's first decision",
    )
    value = real[0]
    models = [name for name in value if name not in ("measure", "real cards", "standard error")]
    off = [value[name] - value["real cards"] for name in models]
    right.errorbar(models, off, yerr=1.96 * value["standard error"], fmt="o", capsize=4)
    right.axhline(0, color="0.3", linewidth=1)
    right.set(ylabel="model less real cards, points a deal (95 %)")
    for axis in (left, middle, right):
        axis.grid(alpha=0.3)
    return figure


_NEAR = 20.0


@dataclass(frozen=True)
class Evidence:
    """What speaks for the solved draw phase: exploitability, indifference, real cards.

    Attributes:
        out: The files to write, without a suffix.
        tolerance: Exploitability to which the draw phase is solved, in points.
        deals: Deals played with real cards.
        seed: Of their packs.
        quick: Roughly, within a minute or two.
    """

    stakes: tyro.conf.OmitArgPrefixes[Stakes] = field(default_factory=Stakes)
    out: Path = Path("runs/evidence")
    tolerance: Annotated[float, tyro.conf.arg(metavar="POINTS")] = 0.02
    deals: int = 10_000_000
    seed: int = 0
    quick: bool = False

    def run(self, console: Console) -> None:
        """Solve, play, write and show."""
        results.folder_of(self.out)
        tolerance = check_number("tolerance", self.tolerance, above=0.0)
        deals = check_integer("deals", self.deals, 1)
        seed = check_integer("seed", self.seed, 0)
        if self.stakes.played is not None:
            raise ValueError("played must be left out: here tricks are played perfectly")
        payoffs = self.stakes.payoffs()
        model = model_for(self.quick, console)
        if self.quick:
            tolerance, deals = max(tolerance, QUICK_TOLERANCE), min(deals, _QUICK_DEALS)
        mixture = Mixture(len(model.deal))
        solved = solve_draws(
            model, payoffs, tolerance, console=console, averages=True, answered=mixture.add
        )
        equilibrium = solved.equilibrium
        with console.status("what is mixed"):
            mixed = mixing(model, payoffs, equilibrium, mixture)
            first = draw_gains(model, equilibrium, payoffs, Decision(False, (), 0), averages=True)
        with console.status(f"{deals:,} deals with real cards"):
            played = play_out(model, equilibrium, deals, seed)
        with console.status("the model without its corrections"):
            models = valued_by_models(model, equilibrium.strategies, balanced=not self.quick)
        real = against_real_cards(models, played, payoffs)
        about = {
            "result": "evidence for the solved draw phase",
            "quick": self.quick,
            "stakes": str(self.stakes),
            "exploitability": equilibrium.exploitability,
            "exploitability_is": PROXY,
            "model_balanced": not self.quick,
            "curve": curve(solved),
            "mixing": mixed,
            "deals": deals,
            "seed": seed,
            "cards_gone_before_draws": played.gone,
            "cards_gone_in_the_model": (GONE_NON_DEALER, GONE_DEALER),
        }
        shares = mixture.non_dealer / mixture.weight
        results.write(
            self.out, about, real, plot(solved, first.gain, shares, real, str(self.stakes))
        )
        results.show(console, f"Exploitability, {PROXY}: {self.stakes}", curve(solved), digits=3)
        results.show(console, "What is mixed: gaps in points", mixed, digits=3)
        results.show(console, f"{deals:,} deals with real cards, and the models", real, digits=4)
