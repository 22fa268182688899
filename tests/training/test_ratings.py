"""Ratings against closed forms and direct maximisation, their intervals by simulation; cycles."""

from __future__ import annotations

import json
import math
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import optimize, stats

from training import ratings, statistics
from training.ratings import ELO, PRIOR_PAIRS, cycles, rate
from training.statistics import LEVEL, NOT_SEPARATED, SEPARATED, estimate


def every_meeting(players):
    return list(combinations(range(players), 2))


def play(rng, strengths, pairs, alike=0.0, shared=0.0):
    """Scores (meetings, pairs) by the model itself.

    `alike` is the probability that the second match of a pair ends as the first, `shared` that a
    meeting's first match hangs on what the cards of this pair bring in all meetings.
    """
    cards = rng.random(pairs)
    scores = []
    for one, other in every_meeting(len(strengths)):
        wins = 1 / (1 + math.exp(strengths[other] - strengths[one]))
        first = np.where(rng.random(pairs) < shared, cards, rng.random(pairs))
        second = np.where(rng.random(pairs) < alike, first, rng.random(pairs))
        scores.append((first < wins) * 1.0 + (second < wins))
    return np.array(scores)


def points(found):
    return [rating.rating for rating in found.ratings]


# --- ratings --------------------------------------------------------------------------------------


@pytest.mark.parametrize("wins, draws, losses", [(7, 2, 3), (0, 0, 5), (1, 0, 0), (0, 4, 0)])
def test_two_players_are_the_logarithm_of_their_odds_apart(wins, draws, losses):
    scores = [[2.0] * wins + [1.0] * draws + [0.0] * losses]
    found = rate(2, [(0, 1)], scores)
    odds = (2 * wins + draws + PRIOR_PAIRS) / (2 * losses + draws + PRIOR_PAIRS)
    apart = 400 * math.log10(odds)
    assert points(found) == pytest.approx([apart / 2, -apart / 2], abs=1e-6)
    assert found.difference(0, 1).difference == pytest.approx(apart, abs=1e-6)
    assert found.difference(1, 0).difference == pytest.approx(-apart, abs=1e-6)


def test_400_points_are_odds_of_ten():
    scores = np.full((1, 11_000), 0.0)
    scores[0, :10_000] = 2.0
    assert rate(2, [(0, 1)], scores).difference(0, 1).difference == pytest.approx(400, abs=0.2)


@pytest.mark.parametrize("seed", range(5))
def test_direct_maximisation_finds_the_same(seed):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(3, 8))
    meetings = [
        pair for pair in every_meeting(size) if pair[1] == pair[0] + 1 or rng.random() < 0.5
    ]
    scores = rng.integers(0, 5, (len(meetings), 30)) / 2
    scores[rng.random(scores.shape) < 0.2] = np.nan
    first, second = np.array(meetings).T
    won = np.nansum(scores, axis=1) + PRIOR_PAIRS
    lost = np.nansum(2 - scores, axis=1) + PRIOR_PAIRS

    def unlikely(strengths):
        gap = strengths[first] - strengths[second]
        return (won * np.logaddexp(0, -gap) + lost * np.logaddexp(0, gap)).sum()

    best = optimize.minimize(unlikely, np.zeros(size), method="BFGS", options={"gtol": 1e-7}).x
    assert points(rate(size, meetings, scores)) == pytest.approx(
        ELO * (best - best.mean()), abs=1e-3
    )


def test_the_second_method_finds_the_same_as_the_first():
    rng = np.random.default_rng(0)
    for size in (2, 3, 6, 9):
        wins = rng.uniform(0.1, 1000.0, (size, size)) * (1 - np.eye(size))
        (other,) = ratings._newton(wins[None], rng.normal(size=size))
        assert ratings._fit(wins) == pytest.approx(other, abs=1e-7)


def test_strengths_may_be_as_far_apart_as_results_can_put_them():
    """A chain in which each wins everything of the next: every link is the closed form of two."""
    size, pairs = 12, 100_000
    meetings = [(player, player + 1) for player in range(size - 1)]
    found = rate(size, meetings, np.full((size - 1, pairs), 2.0), replicates=40)
    link = 400 * math.log10((2 * pairs + PRIOR_PAIRS) / PRIOR_PAIRS)
    assert -np.diff(points(found)) == pytest.approx(link, rel=1e-6)


@pytest.mark.parametrize("alike, shared, pairs", [(0.0, 0.0, 40), (1.0, 0.5, 40), (0.5, 1.0, 100)])
def test_the_interval_covers_the_truth_about_as_often_as_it_says(alike, shared, pairs):
    rng = np.random.default_rng(11)
    strengths = np.array([0.5, 0.0, -0.5])
    covered, sizes = [], 120
    for seed in range(sizes):
        scores = play(rng, strengths, pairs, alike, shared)
        found = rate(3, every_meeting(3), scores, replicates=80, seed=seed)
        covered += [one.low <= ELO * strengths[one.player] <= one.high for one in found.ratings] + [
            two.low <= ELO * (strengths[two.first] - strengths[two.second]) <= two.high
            for two in found.differences
        ]
    assert 0.90 <= np.mean(covered) <= 0.985


def test_pairs_that_end_alike_count_once():
    """Equal matches carry half the information, so the interval is √2 times as wide."""
    rng = np.random.default_rng(3)
    wide = (rng.random(2000) < 0.5) * 2.0
    narrow = (rng.random(2000) < 0.5) * 1.0 + (rng.random(2000) < 0.5)
    widths = []
    for scores in (wide, narrow):
        apart = rate(2, [(0, 1)], [scores], replicates=2000).difference(0, 1)
        widths.append(apart.high - apart.low)
    naive = 2 * 1.96 * ELO * math.sqrt(1 / (4000 * 0.25))
    assert widths[1] == pytest.approx(naive, rel=0.1)
    assert widths[0] == pytest.approx(math.sqrt(2) * naive, rel=0.1)


def test_meetings_share_what_the_cards_bring():
    """Two who always score alike against a third are not told apart from each other by luck."""
    rng = np.random.default_rng(4)
    one = rng.integers(0, 3, 500) * 1.0
    other = rng.permutation(one)
    meetings = [(0, 2), (1, 2)]
    same = rate(3, meetings, [one, one]).difference(0, 1)
    apart = rate(3, meetings, [one, other]).difference(0, 1)
    assert same.difference == pytest.approx(0.0, abs=1e-6) == apart.difference
    assert same.high - same.low < 0.2 * (apart.high - apart.low)


def test_pairs_all_won_give_the_interval_of_jeffreys():
    pairs, lost = 50, 6
    found = rate(
        2, [(0, 1)], [[0.0] * lost + [2.0] * (pairs - lost)], replicates=20_000
    ).difference(0, 1)
    share = stats.beta(pairs - lost + 0.5, lost + 0.5).ppf([0.025, 0.975])
    assert [found.low, found.high] == pytest.approx(ELO * np.log(share / (1 - share)), rel=0.03)


def test_the_seed_decides():
    scores = play(np.random.default_rng(5), [0.3, 0.0, -0.3], 50)
    one, same, other = (rate(3, every_meeting(3), scores, seed=seed) for seed in (1, 1, 2))
    assert one == same
    assert points(one) == points(other)
    assert one.ratings[0].low != other.ratings[0].low


def test_blocks_of_pairs_change_nothing(monkeypatch):
    scores = play(np.random.default_rng(5), [0.3, 0.0, -0.3], 100)
    whole = rate(3, every_meeting(3), scores, replicates=40)
    monkeypatch.setattr(ratings, "_BLOCK", 40 * 7)
    parts = rate(3, every_meeting(3), scores, replicates=40)
    for one, other in zip(whole.ratings, parts.ratings, strict=True):
        assert (one.low, one.high) == pytest.approx((other.low, other.high), abs=1e-6)


def test_neither_order_of_meetings_nor_within_one_matters():
    meetings = every_meeting(4)
    scores = play(np.random.default_rng(6), [0.6, 0.1, 0.0, -0.7], 60)
    found = rate(4, meetings, scores)
    order = [3, 0, 5, 2, 1, 4]
    assert rate(4, [meetings[row] for row in order], scores[order]) == found
    assert rate(4, [(other, one) for one, other in meetings], 2.0 - scores) == found


@pytest.mark.parametrize("order", list(permutations(range(3)))[1:])
def test_players_may_be_numbered_otherwise(order):
    meetings = every_meeting(3)
    scores = play(np.random.default_rng(7), [0.4, 0.1, -0.5], 400)
    found = rate(3, meetings, scores)
    other = rate(3, [(order[a], order[b]) for a, b in meetings], scores)
    for player in range(3):
        one, same = found.ratings[player], other.ratings[order[player]]
        assert one.rating == pytest.approx(same.rating, abs=1e-5)
        # The weights of the prior are drawn in another order.
        assert (one.low, one.high) == pytest.approx((same.low, same.high), abs=2.0)


def test_exchanged_results_change_the_sign():
    scores = play(np.random.default_rng(8), [0.4, 0.1, -0.5], 100)
    found, turned = rate(3, every_meeting(3), scores), rate(3, every_meeting(3), 2.0 - scores)
    assert points(turned) == pytest.approx([-rating for rating in points(found)], abs=1e-6)


def test_whoever_won_nothing_has_a_rating_without_a_lower_bound():
    """The others are above the mean by any amount then, but not above each other."""
    rng = np.random.default_rng(9)
    scores = [rng.integers(0, 3, 40), np.full(40, 2.0), np.full(40, 2.0)]
    found = rate(3, every_meeting(3), scores)
    worst = found.ratings[2]
    assert all(map(math.isfinite, points(found)))
    assert worst.low == -math.inf
    assert worst.rating < worst.high < 0
    assert worst.statement == "the results set no lower bound"
    for best in found.ratings[:2]:
        assert math.isfinite(best.low)
        assert best.high == math.inf
        assert best.statement == "the results set no upper bound"
    assert math.isfinite(found.difference(0, 1).low)
    assert math.isfinite(found.difference(0, 1).high)
    assert found.difference(0, 2).high == math.inf
    assert 0 < found.difference(0, 2).low < found.difference(0, 2).difference
    assert found.difference(2, 0).low == -math.inf
    assert found.difference(0, 2).verdict == SEPARATED
    assert found.ratings[2].as_dict()["low"] is None


def test_a_cycle_of_one_sided_meetings_bounds_everybody():
    found = rate(3, [(0, 1), (1, 2), (2, 0)], np.full((3, 20), 2.0))
    assert points(found) == pytest.approx([0, 0, 0], abs=1e-6)
    assert all(math.isfinite(rating.low + rating.high) for rating in found.ratings)


def test_a_single_pair_says_nothing():
    found = rate(2, [(0, 1)], [[2.0]])
    assert points(found) == pytest.approx([ELO * math.log(3) / 2, -ELO * math.log(3) / 2])
    assert all((one.low, one.high) == (-math.inf, math.inf) for one in found.ratings)
    assert found.difference(0, 1).verdict == NOT_SEPARATED
    assert found.ratings[0].statement == "the results set no lower or upper bound"


def test_draws_alone_leave_a_doubt():
    found = rate(2, [(0, 1)], [np.ones(30)]).difference(0, 1)
    assert found.difference == pytest.approx(0.0, abs=1e-6)
    assert -200 < found.low < -1
    assert 1 < found.high < 200


def test_groups_cannot_be_compared():
    rng = np.random.default_rng(10)
    scores = rng.integers(0, 3, (3, 50)) * 1.0
    scores[2] = np.nan  # agreed on, but not played
    found = rate(6, [(0, 3), (4, 1), (0, 1)], scores)
    assert found.groups == 2
    assert [one.group for one in found.ratings] == [0, 1, None, 0, 1, None]
    assert found.ratings[0].rating == pytest.approx(-found.ratings[3].rating)
    assert found.ratings[0].statement == "to be compared within group 0 only"
    assert found.ratings[4].statement == "to be compared within group 1 only"
    for alone in (found.ratings[2], found.ratings[5]):
        assert (alone.rating, alone.low, alone.high, alone.pairs) == (None, None, None, 0)
        assert alone.statement == "has not met anybody: no rating"
    assert found.difference(0, 1) is None
    assert found.difference(2, 5) is None
    assert found.difference(1, 4) is not None


@pytest.mark.parametrize("meetings, scores", [([], []), ([(0, 1)], [[]]), ([(0, 1)], [[math.nan]])])
def test_nobody_has_met(meetings, scores):
    found = rate(2, meetings, scores)
    assert points(found) == [None, None]
    assert (found.groups, found.differences, found.fit.residuals) == (0, (), ())
    assert found.fit.largest is None
    json.dumps(found.as_dict(), allow_nan=False)


def test_meetings_may_have_played_other_numbers_of_pairs():
    scores = np.full((2, 60), np.nan)
    scores[0], scores[1, :20] = np.tile([2.0, 1.0, 0.0], 20), np.tile([2.0, 0.0], 10)
    found = rate(3, [(0, 1), (1, 2)], scores)
    assert [(one.meetings, one.pairs) for one in found.ratings] == [(1, 60), (2, 80), (1, 20)]
    one, other = found.difference(0, 1), found.difference(1, 2)
    assert other.high - other.low > one.high - one.low


@pytest.mark.parametrize(
    "arguments, message",
    [
        ((0, [], []), "players must be an integer"),
        ((2, [(0, 2)], [[1.0]]), "meetings must be an integer"),
        ((2, [(0, 1, 1)], [[1.0]]), "meetings must be of two players each"),
        ((2, [(1, 1)], [[1.0]]), r"two different players, got \(1, 1\)"),
        ((2, [(0, 1), (1, 0)], [[1.0], [1.0]]), "more than once"),
        ((2, [(0, 1)], []), "one row for each of the 1 meetings, got 0"),
        ((3, [(0, 1), (1, 2)], [[1.0], [1.0, 2.0]]), "rows of equal length"),
        ((2, [(0, 1)], [[[1.0]]]), "rows of equal length"),
        ((2, [(0, 1)], [[2.5]]), "from 0 to 2, or NaN, got 2.5"),
        ((2, [(0, 1)], [[-math.inf]]), "from 0 to 2, or NaN, got -inf"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        rate(*arguments)


@pytest.mark.parametrize(
    "setting, message",
    [
        ({"level": 95}, "level must be between 0 and 1, got 95"),
        ({"replicates": 39}, "replicates must be an integer"),
        ({"seed": -1}, "seed must be an integer"),
    ],
)
def test_wrong_settings_are_refused(setting, message):
    with pytest.raises(ValueError, match=message):
        rate(2, [(0, 1)], [[1.0]], **setting)


def test_differences_are_of_two_players():
    found = rate(2, [(0, 1)], [[1.0]])
    with pytest.raises(ValueError, match="second must be an integer"):
        found.difference(0, 2)
    with pytest.raises(ValueError, match="two players, got 1 twice"):
        found.difference(1, 1)
    with pytest.raises(ValueError, match="labels must be 2, one for each player, got 1"):
        found.as_dict(["one"])


def test_the_arguments_stay_as_they_were():
    scores = np.array([[2.0, 0.0, 1.0]])
    before = scores.copy()
    rate(2, [(1, 0)], scores)
    assert (scores == before).all()


def test_ratings_fit_into_json():
    scores = [[2.0, 2.0, 2.0], [1.0, 0.0, math.nan]]
    found = rate(4, [(0, 1), (1, 2)], scores).as_dict(["a", "b", "c", "d"])
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert [line["player"] for line in found["players"]] == ["a", "b", "c", "d"]
    assert found["players"][0]["high"] is None
    assert found["players"][3]["rating"] is None
    assert (found["differences"][0]["first"], found["differences"][0]["second"]) == ("a", "b")
    assert found["level"] == LEVEL


# --- fit ------------------------------------------------------------------------------------------


def test_rock_paper_scissors_fits_no_scale():
    scores = np.where(np.arange(200) < 150, 2.0, 0.0) * np.ones((3, 1))
    found = rate(3, [(0, 1), (1, 2), (2, 0)], scores)
    assert points(found) == pytest.approx([0, 0, 0], abs=1e-6)
    worst = found.fit.largest
    assert (found.fit.freedom, found.fit.verdict) == (1, SEPARATED)
    assert abs(worst.difference) == pytest.approx(0.25)
    assert worst.expected == pytest.approx(0.5)
    assert (worst.first, worst.second) == (0, 1)


def test_the_meeting_that_does_not_fit_is_named():
    scores = np.ones((6, 300))
    scores[:, ::3], scores[:, 1::3] = 2.0, 0.0
    scores[4, :] = np.where(np.arange(300) < 270, 2.0, 0.0)
    found = rate(4, every_meeting(4), scores).fit
    assert (found.largest.first, found.largest.second) == every_meeting(4)[4]
    assert found.largest.difference > 0
    assert found.largest.low > 0


def test_what_follows_the_model_is_seldom_called_wrong():
    rng = np.random.default_rng(12)
    wrong = [
        rate(4, every_meeting(4), play(rng, [0.5, 0.2, 0, -0.7], 100, 0.5, 0.5), replicates=60)
        .fit.verdict == SEPARATED
        for _ in range(60)
    ]  # fmt: skip
    assert np.mean(wrong) < 0.17


def test_a_chain_of_meetings_tests_nothing():
    found = rate(3, [(0, 1), (1, 2)], [[2.0, 0.0, 2.0], [2.0, 0.0, 1.0]]).fit
    assert (found.freedom, found.largest, found.verdict) == (0, None, NOT_SEPARATED)
    assert len(found.residuals) == 2


# --- cycles ---------------------------------------------------------------------------------------

AHEAD, DRAWN, DOUBTFUL = estimate([9.0, 10.0, 11.0]), estimate([0.0, 0.0]), estimate([-9.0, 11.0])
BEHIND = estimate([-9.0, -10.0, -11.0])


def test_rock_paper_scissors_is_a_cycle():
    found = cycles(3, [(0, 1), (1, 2), (0, 2)], [AHEAD, estimate([4.0, 5.0, 6.0]), BEHIND])
    (cycle,) = found.separated
    assert cycle.players == (0, 1, 2)
    assert cycle.margins == (10.0, 5.0, 10.0)
    assert cycle.least_margin == 5.0
    assert cycle.verdict == SEPARATED
    # Student's t of 5 / (1 / √3) with 2 degrees of freedom.
    assert cycle.p_value == pytest.approx(2 * stats.t(2).sf(5 * math.sqrt(3)))
    assert cycle.corrected == cycle.p_value  # one triple, so nothing to correct
    assert cycle.certain
    assert (found.in_means, found.components) == ((), ((0, 1, 2),))
    assert (found.triples, found.missing, found.level) == (1, 0, LEVEL)


def test_the_other_way_round_is_a_cycle_too():
    found = cycles(3, [(0, 1), (1, 2), (0, 2)], [BEHIND, BEHIND, AHEAD])
    assert [cycle.players for cycle in found.separated] == [(0, 2, 1)]
    assert found.separated[0].margins == (10.0, 10.0, 10.0)


def test_transitive_players_have_no_cycle():
    found = cycles(5, every_meeting(5), [AHEAD] * 10)
    assert (found.separated, found.in_means, found.components) == ((), (), ())
    assert found.triples == 10


def test_a_cycle_in_means_is_not_separated():
    found = cycles(3, [(0, 1), (1, 2), (2, 0)], [AHEAD, AHEAD, DOUBTFUL])
    (cycle,) = found.in_means
    assert (cycle.verdict, cycle.least_margin) == (NOT_SEPARATED, 1.0)
    assert (found.separated, found.components) == ((), ())
    assert not cycle.certain
    single = cycles(3, [(0, 1), (1, 2), (2, 0)], [AHEAD, AHEAD, estimate([3.0])])
    assert [cycle.p_value for cycle in single.in_means] == [1.0]


def test_a_margin_of_0_closes_no_cycle():
    found = cycles(3, [(0, 1), (1, 2), (2, 0)], [AHEAD, AHEAD, DRAWN])
    assert (found.separated, found.in_means) == ((), ())


def test_margins_without_deviation_are_sure():
    sure = estimate([3.0, 3.0])
    (cycle,) = cycles(3, [(0, 1), (1, 2), (2, 0)], [sure] * 3).separated
    assert (cycle.p_value, cycle.corrected) == (0.0, 0.0)


def test_without_all_meetings_a_cycle_may_be_longer():
    found = cycles(5, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 4)], [AHEAD] * 5)
    assert (found.separated, found.triples, found.missing) == ((), 0, 5)
    assert found.components == ((0, 1, 2, 3),)


def test_many_triples_are_corrected_for():
    """Of five players: ten triples and ten meetings; one cycle on a margin that just separates."""
    values = np.arange(40.0) - 19.5
    values += 1.01 * statistics.half_width(values.std(ddof=1), 40)
    meetings = every_meeting(5)
    margins = [AHEAD] * len(meetings)
    margins[meetings.index((0, 2))] = estimate(-values)
    found = cycles(5, meetings, margins)
    (cycle,) = found.separated
    assert cycle.players == (0, 1, 2)
    assert 0.04 < cycle.p_value < 0.05
    assert cycle.corrected == pytest.approx(10 * cycle.p_value)
    assert not cycle.certain


def test_chance_alone_seldom_makes_a_separated_cycle():
    """Equal players: a quarter of all triples are cycles in means, few or none are separated."""
    rng = np.random.default_rng(13)
    means = separated = 0
    for _ in range(200):
        margins = [estimate(values) for values in rng.normal(0, 100, (3, 30))]
        found = cycles(3, every_meeting(3), margins)
        means += len(found.in_means) + len(found.separated)
        separated += len(found.separated)
    assert 0.15 < means / 200 < 0.35
    assert separated <= 1


def test_wrong_margins_are_refused():
    with pytest.raises(ValueError, match="margins must be one for each of the 1 meetings, got 0"):
        cycles(2, [(0, 1)], [])
    with pytest.raises(ValueError, match=r"the same level, got \[0.9, 0.95\]"):
        cycles(3, [(0, 1), (1, 2)], [AHEAD, estimate([1.0, 2.0], 0.9)])


def test_cycles_fit_into_json():
    found = cycles(3, [(0, 1), (1, 2), (0, 2)], [AHEAD, AHEAD, BEHIND]).as_dict(["a", "b", "c"])
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    assert found["separated"][0]["players"] == ["a", "b", "c"]
    assert found["components"] == [["a", "b", "c"]]
    assert cycles(1, [], []).as_dict() == {
        "level": None, "triples": 0, "missing": 0, "separated": [], "in_means": [],
        "components": [],
    }  # fmt: skip
