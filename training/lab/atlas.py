"""How deals go at every score: `python -m training.lab atlas`.

For each score, how often either side draws, doubles and redoubles, what cards come to be worth,
who takes them and what they and the poker hands bring, at equilibrium. The last lines are means
over scores: over a rubber, as often as deals begin there.

All of it is read off the stored outcomes of the deal at the score, whose probabilities have three
digits; they are those of the solved draw phase, in its model (`training.lab.draws`), with the
tricks that it was solved for. How far the strategies are from equilibrium stands in each row as
their exploitability.

What it is worth to know the score is another matter: see `training.lab.awareness`.

    OUT.csv, .json   every score; the JSON has the means over a rubber too
    OUT.png          maps of who doubles and redoubles how often
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console

from poke_env.equity import Floats
from poke_env.games.poke import MAX_HAND, Rules
from training.lab import results, score_maps, stored
from training.lab.draws import RESULTS
from training.lab.score_maps import Score
from training.lab.stored import Solution, Worth

_NOBODY = RESULTS // 2


def describe(chances: Floats, rules: Rules) -> dict[str, float]:
    """What happens in a deal, from how likely its outcomes are.

    Args:
        chances: float64 (3, 4, 6, 19), see `Solution.chances`.
        rules: with trick values and points.

    Returns:
        For `other`, the non-dealer, and `dealer` (suffixes): `draws` (mean number), `doubles`,
        `redoubles` (how often; the dealer also `draws_free`), `value` (mean worth of one of his own
        cards), `cards`, `below` (points), `sweeps` (how often), `poker` (points).
    """
    own_draws, dealer_draws, cards, result = (
        chances.sum(axis=tuple(a for a in range(4) if a != axis)) for axis in range(4)
    )
    taken = np.arange(MAX_HAND + 1)
    values_other = np.array(rules.dealer_values, np.float64)  # of the non-dealer's cards
    values_dealer = np.array(rules.non_dealer_values, np.float64)
    poker = np.array(rules.poker_points, np.float64)
    return {
        "draws_other": float(own_draws @ np.arange(len(own_draws))),
        "doubles_other": float(own_draws[1:].sum()),
        "redoubles_other": float(own_draws[2:].sum()),
        "draws_dealer": float(dealer_draws @ np.arange(len(dealer_draws))),
        "draws_free_dealer": float(dealer_draws[1:].sum()),
        "doubles_dealer": float(dealer_draws[2:].sum()),
        "redoubles_dealer": float(dealer_draws[3:].sum()),
        "value_other": float(dealer_draws @ values_other),
        "value_dealer": float(own_draws @ values_dealer),
        "cards_other": float(cards @ taken),
        "cards_dealer": float(cards @ taken[::-1]),
        "below_other": float(np.einsum("ndcp,d,c->", chances, values_other, taken)),
        "below_dealer": float(np.einsum("ndcp,n,c->", chances, values_dealer, taken[::-1])),
        "sweeps_other": float(cards[-1]),
        "sweeps_dealer": float(cards[0]),
        "poker_other": float(result[_NOBODY:] @ poker),
        "poker_dealer": float(result[_NOBODY::-1] @ poker),
    }


def atlas_rows(solution: Solution) -> list[dict[str, Any]]:
    """`describe` at every score, with `expected` (the dealer's E), `visits` (deals of a rubber that
    begin there) and `exploitability` in points."""
    table = solution.table
    rules = Worth(table).rules
    return [
        score_maps.columns(place, table.target)
        | {
            f"deal_{name}": value
            for name, value in describe(solution.chances(place), rules).items()
        }
        | {
            "expected": float(table.values[0, place]),
            "visits": float(table.visits[0, place]),
            "exploitability": float(solution.gaps[place] / 2),
        }
        for place in range(table.values.shape[1])
    ]


def over_a_rubber(rows: list[dict[str, Any]]) -> dict[str, float]:
    """The means of the deals' columns over the deals of a rubber."""
    visits = np.array([row["visits"] for row in rows])
    names = [name for name in rows[0] if name.startswith("deal_")]
    return {
        name: float(visits @ np.array([row[name] for row in rows]) / visits.sum()) for name in names
    }


@dataclass(frozen=True)
class Atlas:
    """How deals go at every score: draws, doubles, cards and points.

    Attributes:
        scores: The scores to print: four numbers each, points below the line of dealer and other,
            games of dealer and other.
        table: The equity table (*.npz); by default that of the environment.
        draws: The draw phase of the same solution (*.draws.npz); by default the shipped one.
        out: Files to write, without a suffix.
    """

    scores: Annotated[tuple[Score, ...], tyro.conf.arg(metavar="BELOW BELOW GAMES GAMES ...")] = (
        score_maps.SHOWN
    )
    table: Path | None = None
    draws: Path | None = None
    out: Path = Path("runs/atlas")

    def run(self, console: Console) -> None:
        """Compute, write the files and print."""
        results.folder_of(self.out)
        solution = stored.load(self.table, self.draws)
        target = solution.table.target
        shown = score_maps.places_of(self.scores, target)
        rows = atlas_rows(solution)
        mean = over_a_rubber(rows)
        names = ("doubles_other", "redoubles_other", "doubles_dealer", "redoubles_dealer")
        figure = score_maps.draw(
            "How often who draws, by score",
            [
                score_maps.Map(
                    name.replace("_", ": "), np.array([row[f"deal_{name}"] for row in rows]), 0, 1
                )
                for name in (*names, "draws_free_dealer")
            ],
            target,
        )
        about = {"result": "atlas", "over_a_rubber": mean, **stored.about(solution.table)}
        results.write(self.out, about, rows, figure)
        columns = {score_maps.text(place, target): rows[place] for place in shown}
        across = [
            {
                "per deal (dealer's first)": name.removeprefix("deal_").replace("_", ", "),
                "rubber": value,
            }
            | {where: row[name] for where, row in columns.items()}
            for name, value in mean.items()
        ]
        results.show(console, "Deals at equilibrium, by score", across)
