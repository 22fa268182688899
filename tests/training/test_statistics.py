"""Intervals, verdicts and forecasts against closed forms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from training import statistics
from training.statistics import NOT_SEPARATED, SEPARATED, estimate, pairs_needed, win_rate

# Student's 97.5 % quantiles for 3 and 9 degrees of freedom, from a printed table.
T_3, T_9 = 3.182446, 2.262157


def test_students_interval():
    found = estimate([1, 2, 3, 4])
    assert found.mean == 2.5
    assert found.deviation == pytest.approx(math.sqrt(5 / 3))
    assert found.half_width == pytest.approx(T_3 * math.sqrt(5 / 3) / 2, rel=1e-6)
    assert (found.low + found.high) / 2 == pytest.approx(2.5)
    assert found.verdict == SEPARATED


def test_a_lower_level_is_a_narrower_interval():
    values = np.arange(10.0)
    assert estimate(values).half_width == pytest.approx(
        T_9 * values.std(ddof=1) / math.sqrt(10), rel=1e-6
    )
    assert estimate(values, 0.5).half_width < estimate(values).half_width


def test_the_interval_covers_the_truth_as_often_as_it_says():
    rng = np.random.default_rng(7)
    samples = rng.normal(3.0, 2.0, (4000, 8))
    covered = sum(found.low <= 3.0 <= found.high for found in map(estimate, samples))
    assert covered / len(samples) == pytest.approx(0.95, abs=0.01)


@pytest.mark.parametrize("value", [0.0, 0.1, -250.0])
def test_equal_values_have_an_interval_of_no_width(value):
    found = estimate([value] * 3)
    assert (found.mean, found.low, found.high, found.deviation) == (value, value, value, 0.0)
    assert found.verdict == (SEPARATED if value else NOT_SEPARATED)
    assert found.more_needed == (0 if value else None)


def test_a_single_value_says_nothing():
    found = estimate([5.0])
    assert (found.low, found.high) == (-math.inf, math.inf)
    assert math.isnan(found.deviation)
    assert found.verdict == NOT_SEPARATED
    assert found.more_needed is None


@pytest.mark.parametrize("values", [[], [[1.0, 2.0]], 3.0])
def test_what_is_no_list_of_numbers_is_refused(values):
    with pytest.raises(ValueError, match="values must be a list of at least one number"):
        estimate(values)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_level_is_between_0_and_1(level):
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        estimate([1.0, 2.0], level)
    with pytest.raises(ValueError, match="level must be between 0 and 1"):
        win_rate(1, 2, level)


def test_an_interval_that_touches_0_separates_nothing():
    assert statistics.verdict(0.0, 2.0) == NOT_SEPARATED
    assert statistics.verdict(-2.0, 0.0) == NOT_SEPARATED
    assert statistics.verdict(0.1, 2.0) == SEPARATED
    assert statistics.verdict(0.52, 0.6, null=0.5) == SEPARATED


def test_55_of_100_proves_nothing():
    """Wilson's interval from his formula; the pairs needed from Student's."""
    z, wins, matches = 1.959964, 55, 100
    share = wins / matches
    centre = (share + z**2 / (2 * matches)) / (1 + z**2 / matches)
    reach = (
        z
        / (1 + z**2 / matches)
        * math.sqrt(share * (1 - share) / matches + z**2 / (4 * matches**2))
    )
    found = win_rate(55, 45)
    assert (found.low, found.high) == pytest.approx((centre - reach, centre + reach), abs=1e-6)
    assert found.low < 0.5 < found.high
    assert found.verdict == NOT_SEPARATED
    assert win_rate(550, 450).verdict == SEPARATED

    margin = estimate([1.0] * 55 + [-1.0] * 45)
    assert margin.verdict == NOT_SEPARATED
    # The deviation is 1, so (1.96 / 0.1)² = 384 are needed; a few more for Student's t.
    assert margin.more_needed == pytest.approx(384 - 100, abs=5)


def test_shares_at_the_edges():
    assert win_rate(0, 0) == statistics.Share(None, 0.0, 1.0)
    assert win_rate(0, 20).low == 0.0
    assert 0.0 < win_rate(0, 20).high < 0.2
    with pytest.raises(ValueError, match="wins and losses must be 0 or more"):
        win_rate(-1, 3)


@given(mean=st.floats(0.01, 1000.0), deviation=st.floats(0.0, 1000.0), level=st.floats(0.5, 0.999))
def test_pairs_needed_is_the_first_number_that_is_enough(mean, deviation, level):
    needed = pairs_needed(-mean, deviation, level)
    assert needed is not None
    assert statistics.half_width(deviation, needed, level) < mean
    assert needed == 2 or statistics.half_width(deviation, needed - 1, level) >= mean


def test_pairs_needed_of_many_is_that_of_the_normal_distribution():
    assert pairs_needed(0.5, 500.0) == pytest.approx((1.959964 * 1000) ** 2, rel=1e-4)


@pytest.mark.parametrize(
    "mean, deviation", [(0.0, 5.0), (math.nan, 5.0), (1.0, math.nan), (1.0, math.inf), (1e-9, 1e9)]
)
def test_no_number_is_enough(mean, deviation):
    assert pairs_needed(mean, deviation) is None


def test_who_is_separated_needs_no_more():
    assert estimate([10.0, 11.0, 12.0]).more_needed == 0


def test_the_forecast_comes_true_when_mean_and_deviation_stay():
    values = np.array([9.0, -7.0, 5.0, -4.0, 3.0])
    found = estimate(values)
    assert found.more_needed
    needed = len(values) + found.more_needed
    rng = np.random.default_rng(0)
    for count, verdict in ((needed - 1, NOT_SEPARATED), (needed, SEPARATED)):
        shape = rng.normal(size=count)
        shape = (shape - shape.mean()) / shape.std(ddof=1)
        assert estimate(found.mean + found.deviation * shape).verdict == verdict


@pytest.mark.parametrize("seed", range(3))
def test_the_interval_of_a_ratio_is_not_that_of_a_bootstrap(seed):
    chance = np.random.default_rng(seed)
    counts = chance.integers(0, 6, 400)
    shared = chance.normal(20, 60, 400)  # what the things of a group have in common
    sums = np.array(
        [chance.normal(level, 30, count).sum() for level, count in zip(shared, counts, strict=True)]
    )
    found = statistics.ratio(sums, counts)
    assert found.mean == sums.sum() / counts.sum()
    drawn = chance.integers(0, 400, (4000, 400))
    means = sums[drawn].sum(axis=1) / counts[drawn].sum(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    width = high - low
    assert found.low == pytest.approx(low, abs=0.08 * width)
    assert found.high == pytest.approx(high, abs=0.08 * width)


def test_groups_without_anything_move_a_ratio():
    found = statistics.ratio([3.0, 0.0, 5.0], [1, 0, 2])
    assert found.mean == pytest.approx(8 / 3)
    assert statistics.ratio([7.0], [2]).mean == 3.5
    assert not np.isfinite(statistics.ratio([7.0], [2]).low)
    equal = statistics.ratio([2.0, 4.0, 6.0], [1, 2, 3])
    assert (equal.low, equal.mean, equal.high) == pytest.approx((2.0, 2.0, 2.0))
