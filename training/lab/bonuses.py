"""What points above the line are worth: `python -m training.lab bonuses`.

In the expected margin a point above the line is a point. In W, the probability of winning the
whole, it depends on the score and on the margin there is: what `amount` more points above the line,
written before the deal, add to W, to the dealer of the coming deal and to the other. These are
differences of the stored distributions of the equity table, exact for it to 0.005 percentage
points.

For the sweep and for poker hands the deal itself is looked at, as its outcomes are stored for the
score (probabilities of three digits, at equilibrium in the model of `training.lab.draws`):

- a sweep is worth its 250 points and the cards: `sweep` is what five cards instead of the usual
  ones bring in all, at the values that cards have in the deals of the score; `fifth_card` is what
  the step from four cards to five brings;
- `poker` is what poker hands win in a deal on the average, `scores` how often.

All these are in points of E, each to the player himself.

    OUT.csv, .json            every score: sweeps and poker hands
    OUT_win.csv, .json        every score and margin: what amounts are worth in W
    OUT.png, OUT_win.png      maps
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console

from poke_env._checks import check_integer
from poke_env.cards import Category
from poke_env.equity import EquityTable, Floats, scores
from poke_env.games.poke import MAX_HAND
from training.lab import results, score_maps, stored
from training.lab.draws import RESULTS
from training.lab.score_maps import Score
from training.lab.stored import Solution, Worth

AMOUNTS = (50, 100, 200, 250, 300, 400, 500, 600, 750, 1000)
"""The points of sweep and poker hands."""
MARGINS = (-500, -250, 0, 250, 500)
_NOBODY = RESULTS // 2


def win_gains(table: EquityTable, amount: int, margin: int) -> dict[str, Floats]:
    """What points above the line add to W at every score.

    Args:
        table: the equity table.
        amount: points that are written.
        margin: points that the player is ahead before.

    Returns:
        float64 (places,) each: to the `dealer` of the coming deal, and to the `other`, if the
        margin is his.
    """
    listed = scores(table.target)
    where = listed[:, :2], listed[:, 2:], 0

    def win(dealers_margin: int) -> Floats:
        return np.asarray(table.win_probability(*where, dealers_margin))

    return {
        "dealer": win(margin + amount) - win(margin),
        "other": win(-margin) - win(-margin - amount),
    }


def win_rows(
    table: EquityTable, amounts: Sequence[int] = AMOUNTS, margins: Sequence[int] = MARGINS
) -> list[dict[str, Any]]:
    """`win_gains` as a row a score and margin, with `dealer_A` and `other_A` for each amount A."""
    found = {
        (margin, amount): win_gains(table, amount, margin)
        for margin in margins
        for amount in amounts
    }
    return [
        score_maps.columns(place, table.target)
        | {"margin": margin}
        | {
            f"{who}_{amount}": float(found[margin, amount][who][place])
            for who in ("dealer", "other")
            for amount in amounts
        }
        for place in range(table.values.shape[1])
        for margin in margins
    ]


def sweep_prices(worth: Worth, chances: Floats, place: int) -> dict[str, float]:
    """What a sweep is worth at a score, in points, to the player who makes it.

    Args:
        worth: of the equity table.
        chances: float64 (3, 4, 6, 19), of the outcomes of the deal.
        place: the score before the deal.

    Returns:
        `sweep_other` and `sweep_dealer`: five cards instead of those usually taken;
        `fifth_card_other` and `fifth_card_dealer`: five cards instead of four.
    """
    values = worth.payoffs(place)
    usual = float((chances * values).sum())
    by_cards = np.einsum("ndp,ndcp->c", chances.sum(axis=2), values)
    return {
        "sweep_other": float(by_cards[-1]) - usual,
        "sweep_dealer": usual - float(by_cards[0]),
        "fifth_card_other": float(by_cards[-1] - by_cards[-2]),
        "fifth_card_dealer": float(by_cards[1] - by_cards[0]),
    }


def poker_wins(chances: Floats, points: Sequence[int]) -> dict[str, dict[str, Floats]]:
    """Who scores for poker with what.

    Args:
        chances: as for `sweep_prices`.
        points: of the ten categories.

    Returns:
        For `other`, the non-dealer, and `dealer`: `often` and `points`, float64 (10,) each by
        category: how often he scores with it, and what that brings in a deal on the average.
    """
    result = chances.sum(axis=(0, 1, 2))
    found = {}
    for who, often in (("other", result[_NOBODY:].copy()), ("dealer", result[_NOBODY::-1].copy())):
        often[0] = 0.0  # nobody scores
        found[who] = {"often": often, "points": often * np.array(points, np.float64)}
    return found


def bonus_rows(solution: Solution) -> list[dict[str, Any]]:
    """`sweep_prices` and `poker_wins` at every score.

    Returns:
        A row a score: the score, the sweep's prices, and with the suffixes `_other` and `_dealer`
        `sweeps` (how often), `poker` (points a deal), `scores` (how often for poker), and
        `often_CATEGORY` for each category that pays.
    """
    worth = Worth(solution.table)
    rows = []
    for place in range(len(worth.listed)):
        chances = solution.chances(place)
        cards = chances.sum(axis=(0, 1, 3))
        row = score_maps.columns(place, solution.table.target)
        row |= sweep_prices(worth, chances, place)
        row |= {"sweeps_other": float(cards[MAX_HAND]), "sweeps_dealer": float(cards[0])}
        for who, won in poker_wins(chances, worth.rules.poker_points).items():
            row[f"poker_{who}"] = float(won["points"].sum())
            row[f"scores_{who}"] = float(won["often"].sum())
            for category in Category:
                if worth.rules.poker_points[category]:
                    often = float(won["often"][category])
                    row[f"often_{category.name.lower()}_{who}"] = often
        rows.append(row)
    return rows


@dataclass(frozen=True)
class Bonuses:
    """What sweeps, poker hands and points above the line are worth at every score.

    Attributes:
        scores: The scores to print: four numbers each, points below the line of dealer and other,
            games of dealer and other.
        amounts: Points above the line whose worth in W is written.
        margins: Margins above the line at which it is, of the player who gets the points.
        table: The equity table (*.npz); by default that of the environment.
        draws: The draw phase of the same solution (*.draws.npz); by default the shipped one.
        out: Files to write, without a suffix.
    """

    scores: Annotated[tuple[Score, ...], tyro.conf.arg(metavar="BELOW BELOW GAMES GAMES ...")] = (
        score_maps.SHOWN
    )
    amounts: tuple[int, ...] = AMOUNTS
    margins: tuple[int, ...] = MARGINS
    table: Path | None = None
    draws: Path | None = None
    out: Path = Path("runs/bonuses")

    def run(self, console: Console) -> None:
        """Compute, write the files and print."""
        results.folder_of(self.out)
        for amount in self.amounts:
            check_integer("amounts", amount, 1)
        for name in ("amounts", "margins"):
            if not getattr(self, name):
                raise ValueError(f"{name} must be one or more, got none")
        solution = stored.load(self.table, self.draws)
        table = solution.table
        shown = score_maps.places_of(self.scores, table.target)
        rows = bonus_rows(solution)
        wins = win_rows(table, self.amounts, self.margins)
        about = stored.about(table)
        names = ("sweep_other", "sweep_dealer", "poker_other", "poker_dealer")
        columns = {name: np.array([row[name] for row in rows]) for name in names}
        high = {kind: score_maps.most(*(columns[f"{kind}_{who}"] for who in ("other", "dealer")))
                for kind in ("sweep", "poker")}  # fmt: skip
        figure = score_maps.draw(
            "What a sweep is worth in all, and what poker hands win in a deal, points",
            [
                score_maps.Map(name.replace("_", ": "), numbers, 0, high[name.split("_")[0]])
                for name, numbers in columns.items()
            ],
            table.target,
        )
        results.write(self.out, {"result": "bonuses", **about}, rows, figure)
        gains = {margin: win_gains(table, 250, margin)["dealer"] for margin in self.margins}
        top = score_maps.most(*gains.values())
        figure = score_maps.draw(
            "What 250 points above the line add to the dealer's W",
            [score_maps.Map(f"{margin:+} ahead", gain, 0, top) for margin, gain in gains.items()],
            table.target,
        )
        by_margin = self.out.with_name(f"{self.out.name}_win")
        results.write(by_margin, {"result": "bonuses in W", **about}, wins, figure)
        few = ("sweep", "fifth_card", "sweeps", "poker", "scores")
        kept = [*score_maps.columns(0, table.target)]
        kept += [f"{name}_{who}" for name in few for who in ("other", "dealer")]
        here = [{name: rows[place][name] for name in kept} for place in shown]
        results.show(console, "Sweeps and poker hands, points", score_maps.printed(here))
        count = len(self.margins)
        for place in shown[:2]:
            lines = wins[count * place : count * (place + 1)]
            for who, whose in (("dealer", "the dealer's"), ("other", "the other's")):
                mine = [
                    {"margin": line["margin"]}
                    | {str(amount): line[f"{who}_{amount}"] for amount in self.amounts}
                    for line in lines
                ]
                name = score_maps.text(place, table.target)
                results.show(
                    console, f"What points above the line add to {whose} W at {name}", mine, 3
                )
