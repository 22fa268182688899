"""Numbers with their uncertainty: intervals, verdicts, and how much more play a verdict needs.

The independent observation of duplicate matches is the *deck order*, which is played with everybody
in every seat: at a table of two, a pair of matches with seats exchanged. Their margins share the
cards and are averaged before anything is estimated.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LEVEL = 0.95
"""Probability with which an interval covers the true value, unless another is asked for."""

SEPARATED = "separated"
NOT_SEPARATED = "not separated"

_MOST_PAIRS = 2**53


@dataclass(frozen=True)
class Estimate:
    """A mean with its interval, in the unit of the values.

    Attributes:
        mean: of the values.
        low, high: ends of the interval; infinite for a single value.
        deviation: standard deviation of one value (divisor count - 1); NaN for a single value.
        count: number of values.
        level: coverage of the interval.
    """

    mean: float
    low: float
    high: float
    deviation: float
    count: int
    level: float = LEVEL

    @property
    def half_width(self) -> float:
        """What stands behind the ±."""
        return (self.high - self.low) / 2

    @property
    def verdict(self) -> str:
        """`"separated"` if 0 lies outside the interval, else `"not separated"`."""
        return verdict(self.low, self.high)

    @property
    def more_needed(self) -> int | None:
        """How many more values like these would separate the mean from 0; None if none would.

        0 if it is separated already. A forecast: at the measured mean and deviation the interval
        then just touches 0, so about every second continuation is separated by that time.
        """
        if self.verdict == SEPARATED:
            return 0
        needed = pairs_needed(self.mean, self.deviation, self.level)
        return None if needed is None else max(1, needed - self.count)


def estimate(values: npt.ArrayLike, level: float = LEVEL) -> Estimate:
    """Mean of independent values with Student's interval.

    Args:
        values: (n,), at least one.
        level: coverage, between 0 and 1.

    Raises:
        ValueError: if there is no value or the level is not between 0 and 1.
    """
    numbers = np.asarray(values, np.float64)
    _check_level(level)
    if numbers.ndim != 1 or not numbers.size:
        raise ValueError(f"values must be a list of at least one number, got shape {numbers.shape}")
    count = int(numbers.size)
    mean = float(numbers.mean())
    if count == 1:
        return Estimate(mean, -math.inf, math.inf, math.nan, 1, level)
    # Equal values have no deviation; the rounding of their mean must not give them one.
    deviation = 0.0 if (numbers == numbers[0]).all() else float(numbers.std(ddof=1))
    if deviation == 0.0:
        mean = float(numbers[0])
    reach = half_width(deviation, count, level)
    return Estimate(mean, mean - reach, mean + reach, deviation, count, level)


def ratio(sums: npt.ArrayLike, counts: npt.ArrayLike, level: float = LEVEL) -> Estimate:
    """Mean of what was summed up in groups of unequal size, with an interval from the groups.

    The groups are independent, what is inside them need not be.

    Args:
        sums: (n,), of each group.
        counts: (n,), how many things were summed, 0 or more, and not all 0.
        level: coverage, between 0 and 1.
    """
    totals, sizes = np.asarray(sums, np.float64), np.asarray(counts, np.float64)
    mean = float(totals.sum() / sizes.sum())
    # The usual linearisation: each group's deviation, over the mean size of a group.
    found = estimate((totals - mean * sizes) / sizes.mean(), level)
    return Estimate(
        mean, mean - found.half_width, mean + found.half_width, found.deviation, found.count, level
    )


def half_width(deviation: float, count: int, level: float = LEVEL) -> float:
    """Half of Student's interval for the mean of `count` (2 or more) values."""
    from scipy import special  # not where players play

    quantile = float(special.stdtrit(count - 1, 0.5 + level / 2))
    return quantile * deviation / math.sqrt(count)


def verdict(low: float, high: float, null: float = 0.0) -> str:
    """`"separated"` if `null` (0 for a margin, 0.5 for a win rate) lies outside the interval."""
    return NOT_SEPARATED if low <= null <= high else SEPARATED


def pairs_needed(mean: float, deviation: float, level: float = LEVEL) -> int | None:
    """The least number of values of this mean and deviation whose interval excludes 0.

    Returns:
        At least 2; None if the mean is 0 or no number is enough that could ever be played.
    """
    if mean == 0.0 or not math.isfinite(mean) or not math.isfinite(deviation):
        return None
    counts = range(2, _MOST_PAIRS)
    position = bisect_left(
        counts, True, key=lambda count: half_width(deviation, count, level) < abs(mean)
    )
    return counts[position] if position < len(counts) else None


@dataclass(frozen=True)
class Share:
    """Matches won out of those that were won or lost, with its interval; all from 0 to 1.

    `rate` is None, and the interval the whole range, if there was no such match.
    """

    rate: float | None
    low: float
    high: float
    level: float = LEVEL

    @property
    def verdict(self) -> str:
        """`"separated"` if one half lies outside the interval, else `"not separated"`."""
        return verdict(self.low, self.high, 0.5)


def win_rate(wins: int, losses: int, level: float = LEVEL) -> Share:
    """Share of wins with Wilson's interval; draws are left out.

    Wilson's interval takes matches for independent. Those over the same cards are not: whoever has
    the better cards in one usually faces them in another, which makes the interval wider than it
    need be. Margins, whose interval rests on deck orders, are the sharper measure.

    Raises:
        ValueError: for numbers that are negative or no integers, or a wrong level.
    """
    _check_level(level)
    if wins < 0 or losses < 0:
        raise ValueError(f"wins and losses must be 0 or more, got {wins} and {losses}")
    if wins + losses == 0:
        return Share(None, 0.0, 1.0, level)
    from scipy import stats

    interval = stats.binomtest(wins, wins + losses).proportion_ci(level, method="wilson")
    return Share(wins / (wins + losses), float(interval.low), float(interval.high), level)


def _check_level(level: float) -> None:
    if not 0.0 < level < 1.0:
        raise ValueError(f"level must be between 0 and 1, got {level!r}")
