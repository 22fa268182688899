"""A rubber solved backwards from what single deals bring: expectation, distribution and visits.

A score is a place in the equity table (`poke_env.equity.scores`), seen by the dealer of the coming
deal. An outcome is what a deal brings. After it the other seat deals, so that values change their
sign from each score to its successors. Games are solved from the last to the first, and within a
game from the target down, since points below the line only grow. Ties at the target refer to each
other, with the small chance of another tie, and are repeated until nothing changes any more.

With two policies there are two rows of everything, one for deals of each seat; one that plays
itself needs one.

    >>> from poke_env.games.poke import Rules
    >>> scoring = Scoring.of(Rules())
    >>> won = Outcomes.of([(15, 0, 250, 1.0)], scoring)  # the dealer's sweep at value 3, always
    >>> values = solve_values(scoring, lambda row, place: won)
    >>> values.shape
    (1, 1604)
    >>> last = places(20)[10, 10, 1, 0]  # one more sweep wins the rubber: 250 + 100 + 750
    >>> float(values[0, last])
    1100.0
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from poke_env._jit import compiled
from poke_env.equity import Floats, Integers, places, scores
from poke_env.games.poke import Rules

OVER = -1
"""The successor of a score after which the rubber is over."""

_BEST_DEALS = 8
"""A future margin is kept up to that of so many best deals; beyond it, it counts as that."""
_SWEEPS = 10_000
"""Most repetitions over scores that refer to each other."""


@dataclass(frozen=True)
class Scoring:
    """What a rubber needs to know of the rules, in units of points.

    Attributes:
        target: points below the line that end a game.
        unit: points of which all amounts above the line are multiples.
        game: units for a game.
        rubber: units for the rubber when the opponent won no game, one game.
        most: units that a deal can bring at most, bonuses excluded.
        most_below: points below the line that it can bring at most.
    """

    target: int
    unit: int
    game: int
    rubber: tuple[int, int]
    most: int
    most_below: int

    @classmethod
    def of(cls, rules: Rules) -> Scoring:
        """The scoring of some rules.

        Raises:
            ValueError: if a deal may leave both totals below the line as they are.
        """
        values = (*rules.non_dealer_values, *rules.dealer_values)
        if min(values) < 1:
            raise ValueError(
                f"non_dealer_values and dealer_values must be 1 or more for a rubber to be solved "
                f"backwards, got {rules.non_dealer_values} and {rules.dealer_values}"
            )
        amounts = (*rules.poker_points, rules.sweep_points, rules.game_points, *rules.rubber_points)
        unit = math.gcd(*amounts) or 1
        clear, narrow = rules.rubber_points
        return cls(
            target=rules.target,
            unit=unit,
            game=rules.game_points // unit,
            rubber=(clear // unit, narrow // unit),
            most=(max(rules.poker_points) + rules.sweep_points) // unit,
            most_below=rules.hand_size * max(values),
        )

    @property
    def reach(self) -> int:
        """Distributions of margins go from -reach to reach units."""
        return _BEST_DEALS * self.most


class Outcomes(NamedTuple):
    """What a deal may bring, seen by its dealer; all (K,).

    Attributes:
        below_dealer, below_other: int64, points below the line.
        units: int64, the dealer's margin above the line without bonuses, in units.
        probability: float64, adding up to 1.
    """

    below_dealer: Integers
    below_other: Integers
    units: Integers
    probability: Floats

    @classmethod
    def of(cls, listed: Iterable[tuple[int, int, int, float]], scoring: Scoring) -> Outcomes:
        """Outcomes one by one: points below of dealer and other, the dealer's margin, chance."""
        below_dealer, below_other, points, chances = zip(*listed, strict=True)
        return cls(
            np.array(below_dealer, np.int64),
            np.array(below_other, np.int64),
            np.array(points, np.int64) // scoring.unit,
            np.array(chances, np.float64),
        )


Distributions = Callable[[int, int], Outcomes]
"""The outcomes of a deal by row (the seat that deals) and place (the score)."""


def successors(scoring: Scoring, place: int, outcomes: Outcomes) -> tuple[Integers, Integers]:
    """Where outcomes lead from a score.

    Returns:
        Their successors, int64 (K,), places seen by the next dealer, `OVER` where the rubber ends;
        and the dealer's margin, bonuses included, in units, int64 (K,).
    """
    target = scoring.target
    own, other, own_games, other_games = scores(target)[place].tolist()
    own_after = own + outcomes.below_dealer
    other_after = other + outcomes.below_other
    decided = (np.maximum(own_after, other_after) >= target) & (own_after != other_after)
    won = (decided & (own_after > other_after)).astype(np.int64)
    lost = decided.astype(np.int64) - won
    margin = outcomes.units + scoring.game * (won - lost)
    if own_games == 1:
        margin = margin + scoring.rubber[other_games] * won
    if other_games == 1:
        margin = margin - scoring.rubber[own_games] * lost
    over = (own_games + won == 2) | (other_games + lost == 2)
    after = places(target)[
        np.where(decided, 0, np.minimum(other_after, target)),
        np.where(decided, 0, np.minimum(own_after, target)),
        np.where(over, 0, other_games + lost),
        np.where(over, 0, own_games + won),
    ]
    return np.where(over, OVER, after), margin


@cache
def levels(target: int) -> tuple[tuple[int, ...], ...]:
    """All places, in groups that lead only to groups before them or, if tied, into themselves."""
    listed = scores(target)
    played = listed[:, 2:].sum(axis=1)
    below = listed[:, :2].sum(axis=1)
    return tuple(
        tuple(np.flatnonzero((played == games) & (below == total)).tolist())
        for games in (2, 1, 0)
        for total in range(2 * target, -1, -1)
        if ((played == games) & (below == total)).any()
    )


def _is_tie(scoring: Scoring, place: int) -> bool:
    return int(scores(scoring.target)[place, 0]) == scoring.target


# --- the expected margin --------------------------------------------------------------------------


def worth_of(scoring: Scoring, place: int, outcomes: Outcomes, following: Floats) -> Floats:
    """What each outcome of the deal at a score is worth to its dealer, points after it included.

    Args:
        scoring, place, outcomes, following: as for `value_of`; probabilities do not matter.

    Returns:
        Points, float64 (K,).
    """
    after, margin = successors(scoring, place, outcomes)
    return np.asarray(scoring.unit * margin - following[after])


def value_of(scoring: Scoring, place: int, outcomes: Outcomes, following: Floats) -> float:
    """The dealer's expected future margin at one score.

    Args:
        scoring: of the rules.
        place: the score.
        outcomes: what the deal may bring there.
        following: float64 (places + 1,), in points: the same for the next dealer at every
            successor, and a last number that is 0, for the end.

    Returns:
        Points.
    """
    return float(outcomes.probability @ worth_of(scoring, place, outcomes, following))


def variance_of(scoring: Scoring, place: int, outcomes: Outcomes, following: Floats) -> float:
    """The variance of what `value_of` is the mean of: one deal and the value after it."""
    worth = worth_of(scoring, place, outcomes, following)
    mean = outcomes.probability @ worth
    return float(outcomes.probability @ (worth - mean) ** 2)


def solve_values(scoring: Scoring, distributions: Distributions, rows: int = 1) -> Floats:
    """The dealer's expected future margin at every score, in points: float64 (rows, places).

    Raises:
        ValueError: if a tie never ends.
    """
    padded = np.zeros((rows, len(scores(scoring.target)) + 1))
    _solve_backwards(scoring, distributions, padded, value_of, 1e-10)
    return padded[:, :-1].copy()


def _solve_backwards(
    scoring: Scoring,
    distributions: Distributions,
    padded: Floats,
    solve_one: Callable[[Scoring, int, Outcomes, Floats], Any],
    enough: float,
) -> None:
    """Fill in what holds at every score from what holds at those after it.

    Args:
        scoring, distributions: what a deal may bring.
        padded: (rows, places + 1, ...), written, but for what stands last of all: the end.
        solve_one: what holds at one score, from `padded` of the seat that deals after it.
        enough: ties are repeated until nothing changes by more.

    Raises:
        ValueError: if a tie never ends.
    """
    rows = len(padded)
    for level in levels(scoring.target):
        for _ in range(_SWEEPS):
            change = 0.0
            for row in range(rows):
                following = padded[1 - row if rows == 2 else 0]
                for place in level:
                    found = solve_one(scoring, place, distributions(row, place), following)
                    change = max(change, float(np.abs(found - padded[row, place]).max()))
                    padded[row, place] = found
            if not _is_tie(scoring, level[0]) or change < enough:
                break
        else:
            raise ValueError(_ENDLESS)


_ENDLESS = "outcomes must let a tie at the target come to an end"


# --- the distribution of the margin ---------------------------------------------------------------


def future_of(scoring: Scoring, place: int, outcomes: Outcomes, following: Floats) -> Floats:
    """The distribution of the dealer's future margin at one score.

    Args:
        scoring, place, outcomes: as for `value_of`.
        following: float64 (places + 1, 2 * reach + 1): the same for the next dealer at every
            successor, and last of all that of the end, `nothing`.

    Returns:
        Probabilities of -reach to reach units, float64 (2 * reach + 1,).
    """
    after, margin = successors(scoring, place, outcomes)
    found = np.zeros(following.shape[1])
    _mix(after, margin, outcomes.probability, following, found)
    return found


def nothing(scoring: Scoring) -> Floats:
    """The distribution of a future margin that is 0."""
    found = np.zeros(2 * scoring.reach + 1)
    found[scoring.reach] = 1.0
    return found


@compiled
def _mix(
    after: Integers, margin: Integers, probability: Floats, following: Floats, found: Floats
) -> None:
    """Add up what follows, seen from the other side and shifted by the margins."""
    last = found.shape[0] - 1
    for k in range(after.shape[0]):
        chances = following[after[k]]
        chance = probability[k]
        top = last + margin[k]  # where the lowest margin of the next dealer leads
        low = min(max(top - last, 0), last + 1)
        high = min(max(top + 1, 0), last + 1)
        for i in range(low):
            found[last] += chance * chances[i]
        for i in range(low, high):  # without a branch, which is several times as fast
            found[top - i] += chance * chances[i]
        for i in range(high, last + 1):
            found[0] += chance * chances[i]


def solve_futures(
    scoring: Scoring, distributions: Distributions, rows: int = 1
) -> npt.NDArray[np.float64]:
    """The distribution of the dealer's future margin at every score.

    Returns:
        Probabilities of -reach to reach units, float64 (rows, places, 2 * reach + 1).

    Raises:
        ValueError: if a tie never ends.
    """
    width = 2 * scoring.reach + 1
    padded = np.zeros((rows, len(scores(scoring.target)) + 1, width))
    padded[:, OVER] = nothing(scoring)
    _solve_backwards(scoring, distributions, padded, future_of, 1e-15)
    return padded[:, :-1].copy()


def win_chances(futures: Floats) -> Floats:
    """The dealer's chance to end ahead, draws counted as half, by the margin it still needs.

    Args:
        futures: float64 (..., 2 * reach + 1).

    Returns:
        float64 (..., 2 * reach + 1): entry i for a present margin of reach - i units.
    """
    at_most = np.cumsum(futures, axis=-1)
    return 1.0 - at_most + futures / 2.0


# --- how often a score occurs ---------------------------------------------------------------------


def solve_visits(scoring: Scoring, distributions: Distributions, rows: int = 1) -> Floats:
    """How many deals of a rubber begin at every score on average: float64 (rows, places).

    The first dealer is random.
    """
    visits = np.zeros((rows, len(scores(scoring.target))))
    visits[:, places(scoring.target)[0, 0, 0, 0]] = 1.0 / rows
    for level in reversed(levels(scoring.target)):
        arriving = visits[:, level].copy()
        for _ in range(_SWEEPS):
            again = np.zeros_like(visits)
            for row in range(rows):
                for place, often in zip(level, arriving[row], strict=True):
                    outcomes = distributions(row, place)
                    after, _ = successors(scoring, place, outcomes)
                    going = after != OVER
                    np.add.at(
                        again[1 - row if rows == 2 else 0],
                        after[going],
                        often * outcomes.probability[going],
                    )
            visits += again
            arriving = again[:, level]
            if arriving.max() < 1e-15:
                break
        else:
            raise ValueError(_ENDLESS)
    return visits
