"""The price of a double: `python -m training.lab doubles`.

Poke's double is no cube. It cannot be refused, it is bought by drawing, and it raises only what the
opponent's cards are worth: from 1 to 2, then from 2 to 4. Its price is therefore what the
opponent's points are worth at the score, and depends on how many cards he will take: nothing for
none. A double is **dead** where its price is nearly nothing: the game is decided, or more points
cannot help the opponent.

The price in a deal is what the player who doubles expects from the deal and all after it with the
opponent's cards at the lower value, less the same with the higher one, cards and poker unchanged.
With the opponent's cards given it is exact for the equity table. The mean over deals goes by the
stored outcomes of the deal at the score, whose probabilities have three digits:

- `price_made`: over the deals in which the double was made, what was paid for it;
- `price`: over all deals of the score, whoever drew: the price in the average deal.

What the draw improves is no part of the price: these are costs alone.

    OUT.csv, .json   every score, seat and double: both means, the price by cards taken
    OUT.png          maps of `price`; a dot marks the dead doubles
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console

from poke_env._checks import check_number
from poke_env.equity import Floats
from poke_env.games.poke import MAX_HAND
from training.lab import results, score_maps, stored
from training.lab.score_maps import Score
from training.lab.stored import Solution, Worth

DOUBLES = (
    ("non-dealer", "first"),
    ("non-dealer", "second"),
    ("dealer", "first"),
    ("dealer", "second"),
)
"""Who doubles, and which double: the first raises a card from 1 to 2, the second from 2 to 4."""

DEAD = 5.0
"""Price in points below which a double counts as dead."""


def price_grid(values: Floats, seat: str, double: str) -> Floats:
    """The price of a double in every outcome of a deal, to the player who doubles.

    Args:
        values: float64 (3, 4, 6, ...), what outcomes are worth to the non-dealer, by draws of
            non-dealer and dealer, cards of the non-dealer, and whatever else.
        seat, double: see `DOUBLES`.

    Returns:
        float64 (4, 6, ...) by the dealer's draws if the non-dealer doubles, else (3, 6, ...) by the
        non-dealer's: the other draws, cards of the non-dealer.
    """
    draws = draws_before(seat, double)
    if seat == "non-dealer":
        return np.asarray(values[draws] - values[draws + 1])
    return np.asarray(values[:, draws + 1] - values[:, draws])


def made(chances: Floats, seat: str, double: str) -> Floats:
    """How likely the double is made together with what `price_grid` tells apart.

    Args:
        chances: float64 (3, 4, 6, ...), of the outcomes.
        seat, double: see `DOUBLES`.
    """
    least = draws_before(seat, double) + 1
    parts = chances[least:].sum(axis=0) if seat == "non-dealer" else chances[:, least:].sum(axis=1)
    return np.asarray(parts)


def draws_before(seat: str, double: str) -> int:
    """Draws that the player of one of `DOUBLES` has made before it: the dealer's first is free."""
    return (double == "second") + (seat == "dealer")


@dataclass(frozen=True)
class DoublePrice:
    """The price of one double at one score.

    Attributes:
        often: how often it is made.
        price_made: mean price where it is made, points; None if it never is.
        price: mean price over all deals, points.
        price_win: the same in W, at a margin of 0.
        by_cards: float64 (V, 6), the exact price in points by the value of the player's own cards
            (1, 2 and 4) and the cards that the opponent takes.
    """

    often: float
    price_made: float | None
    price: float
    price_win: float
    by_cards: Floats


def double_price(worth: Worth, chances: Floats, place: int, seat: str, double: str) -> DoublePrice:
    """The price of a double at a score.

    Args:
        worth: of the equity table.
        chances: float64 (3, 4, 6, 19), of the outcomes of the deal (`Solution.chances`).
        place: the score before the deal.
        seat, double: see `DOUBLES`.
    """
    points = price_grid(worth.payoffs(place), seat, double)
    wins = price_grid(worth.win(place, worth.every).reshape(chances.shape), seat, double)
    came = made(chances, seat, double)
    often = float(came.sum())
    every = chances.sum(axis=0 if seat == "non-dealer" else 1)
    # Poker points add to both sides of a difference: any of their results gives the same price.
    exact = points[..., 0]
    if seat == "non-dealer":  # by the dealer's cards, and by values instead of draws
        exact = exact[1:, ::-1]
    return DoublePrice(
        often=often,
        price_made=float((came * points).sum()) / often if often > 0 else None,
        price=float((every * points).sum()),
        price_win=float((every * wins).sum()),
        by_cards=exact,
    )


def double_rows(solution: Solution, dead: float = DEAD) -> list[dict[str, Any]]:
    """The prices of all doubles at all scores.

    Args:
        solution: the stored solution.
        dead: price in points below which a double is dead.

    Returns:
        A row a score, seat and double: the score, `seat`, `double`, `often`, `price_made`, `price`,
        `price_win`, `dead` (whether `price` is below the limit), and `cards_1` to `cards_5`: the
        exact price when the opponent takes so many cards and the player's own count 1 each.
    """
    worth = Worth(solution.table)
    rows = []
    for place in range(len(worth.listed)):
        chances = solution.chances(place)
        for seat, double in DOUBLES:
            price = double_price(worth, chances, place, seat, double)
            by_cards = price.by_cards[0]
            rows.append(
                score_maps.columns(place, solution.table.target)
                | {
                    "seat": seat,
                    "double": double,
                    "often": price.often,
                    "price_made": price.price_made,
                    "price": price.price,
                    "price_win": price.price_win,
                    "dead": price.price < dead,
                }
                | {f"cards_{n}": float(by_cards[n]) for n in range(1, MAX_HAND + 1)}
            )
    return rows


def value_rows(solution: Solution, place: int) -> list[dict[str, Any]]:
    """The exact prices of all doubles at one score, by what the player's own cards are worth.

    Returns:
        A row for each double and value of a card of the player who doubles, with `cards_0` to
        `cards_5`, in points.
    """
    worth = Worth(solution.table)
    chances = solution.chances(place)
    values = worth.rules.non_dealer_values
    return [
        {"seat": seat, "double": double, "own_cards_worth": value}
        | {f"cards_{n}": float(price) for n, price in enumerate(line)}
        for seat, double in DOUBLES
        for value, line in zip(
            values, double_price(worth, chances, place, seat, double).by_cards, strict=True
        )
    ]


@dataclass(frozen=True)
class Doubles:
    """The price of a double at every score, and where doubles are dead.

    Attributes:
        scores: The scores to print in full: four numbers each, points below the line of dealer and
            other, games of dealer and other.
        dead: Price in points below which a double counts as dead.
        table: The equity table (*.npz); by default that of the environment.
        draws: The draw phase of the same solution (*.draws.npz); by default the shipped one.
        out: Files to write, without a suffix.
    """

    scores: Annotated[tuple[Score, ...], tyro.conf.arg(metavar="BELOW BELOW GAMES GAMES ...")] = (
        (0, 0, 0, 0),
    )
    dead: float = DEAD
    table: Path | None = None
    draws: Path | None = None
    out: Path = Path("runs/doubles")

    def run(self, console: Console) -> None:
        """Compute, write the files and print."""
        results.folder_of(self.out)
        dead = check_number("dead", self.dead, above=0.0)
        solution = stored.load(self.table, self.draws)
        target = solution.table.target
        shown = score_maps.places_of(self.scores, target)
        rows = double_rows(solution, dead)
        by_double = {
            f"{seat}, {double} double": _column(rows, index)
            for index, (seat, double) in enumerate(DOUBLES)
        }
        high = score_maps.most(*by_double.values())
        figure = score_maps.draw(
            f"The price of a double in the average deal, points; dead below {dead:g}",
            [
                score_maps.Map(name, prices, 0, high, "viridis", limit=dead)
                for name, prices in by_double.items()
            ],
            target,
        )
        about = {"result": "doubles", "dead_below": dead, **stored.about(solution.table)}
        results.write(self.out, about, rows, figure)
        for place in shown:
            here = rows[len(DOUBLES) * place : len(DOUBLES) * (place + 1)]
            name = score_maps.text(place, target)
            title = f"Price of a double at {name} (dealer's first)"
            results.show(console, title, score_maps.printed(here))
            title = f"The same by cards of the opponent and value of one's own: {name}"
            results.show(console, title, value_rows(solution, place), 1)
        for name, prices in by_double.items():
            console.print(f"{name}: dead at {int((prices < dead).sum())} of {len(prices)} scores.")


def _column(rows: list[dict[str, Any]], index: int) -> npt.NDArray[np.float64]:
    """The mean price of one of `DOUBLES`, by score."""
    return np.array([row["price"] for row in rows[index :: len(DOUBLES)]])
