"""The draw phase's solver against plain enumeration, and its two directions against each other."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from agents.hand_classes import CLASSES, TYPES, classify
from agents.tricks import trick_table
from poke_env.games.poke import Rules
from training.lab import draws
from training.lab.draws import (
    DRAWS_MADE,
    HISTORIES,
    DrawModel,
    above_the_line,
    linear_payoffs,
    solve,
)

LANES = 16


@pytest.fixture(scope="module")
def model():
    return DrawModel()


@pytest.fixture(scope="module")
def plain():
    return DrawModel(gone=False)


@pytest.fixture(scope="module")
def payoffs():
    """Any numbers: nothing may depend on payoffs having a certain form."""
    return np.random.default_rng(0).normal(0, 100, (3, 4, 6, 19))


def some_reach(seed, dealer):
    """Strategies that end with one of forty types."""
    rng = np.random.default_rng(seed)
    reach = np.zeros((TYPES, 4, LANES) if dealer else (TYPES, LANES))
    kinds = rng.choice(TYPES, 40, replace=False)
    reach[kinds] = rng.random((40, *reach.shape[1:]))
    reach[..., len(HISTORIES) :] = 0
    return reach, sorted(kinds.tolist())


def payoff_of(model, payoffs, own, other, non_dealer_draws, dealer_draws):
    """What a pair of final types pays, from the trick table and a comparison."""
    ranks, category = model.hands.ranks, model.hands.category
    cards = trick_table().cards_taken(ranks[own].tolist(), ranks[other].tolist())
    place = 9
    if own > other:
        place += category[own]
    elif other > own:
        place -= category[other]
    return payoffs[non_dealer_draws, dealer_draws, cards, place]


def test_values_of_final_hands_are_sums_over_the_other_players_hands(model, payoffs):
    own, own_types = some_reach(1, dealer=False)
    other, other_types = some_reach(2, dealer=True)
    dealer_values = model.dealer_values(own, payoffs)
    non_dealer_values = model.non_dealer_values(other, payoffs)
    rng = np.random.default_rng(3)
    for history in rng.choice(len(HISTORIES), 4, replace=False):
        made = DRAWS_MADE[history]
        for type_ in rng.choice(other_types, 3):
            for made_by_dealer in range(4):
                expected = -sum(
                    own[i, history] * payoff_of(model, payoffs, i, type_, made, made_by_dealer)
                    for i in own_types
                )
                assert dealer_values[type_, made_by_dealer, history] == pytest.approx(expected)
        for type_ in rng.choice(own_types, 3):
            expected = sum(
                other[j, d, history] * payoff_of(model, payoffs, type_, j, made, d)
                for j in other_types
                for d in range(4)
            )
            assert non_dealer_values[type_, history] == pytest.approx(expected)


def test_both_players_see_the_same_payoff(model, payoffs):
    own, _ = some_reach(4, dealer=False)
    other, _ = some_reach(5, dealer=True)
    for_non_dealer = (own * model.non_dealer_values(other, payoffs)).sum()
    for_dealer = (other * model.dealer_values(own, payoffs)).sum()
    counted = (model.outcomes(own, other) * payoffs).sum()
    assert for_non_dealer == pytest.approx(-for_dealer)
    assert for_non_dealer == pytest.approx(counted)


def test_best_draw_is_the_best_of_all_completions(plain):
    """Every discard of some hands, over all cards that can come, by plain enumeration."""
    hands = plain.hands
    rng = np.random.default_rng(6)
    worth = rng.normal(0, 100, (3, CLASSES[5]))  # after a draw of one, two, three cards
    stand = np.zeros((TYPES, 4))
    stand[:, 0] = rng.normal(-150, 20, TYPES)  # low, so that drawing is mostly better
    method = plain._dealer_draws[0]
    after = []
    for values in worth:
        summed = np.zeros((draws.SETS, 4))
        summed[: CLASSES[5], 0] = values
        after.append(plain._add_sums(summed, method))
    actions = np.empty((CLASSES[5], 4), np.int8)
    values = plain._best_draws(stand, after, method, actions)
    order = np.zeros(5, np.int64)
    for number in rng.choice(CLASSES[5], 3, replace=False):
        hand = hands.cards[number]
        rest = [card for card in range(52) if card not in hand]
        found = {0: stand[hands.type[number], 0]}
        for action in range(1, 32):
            changed = action.bit_count()
            if changed > 3:
                continue
            kept = [int(hand[slot]) for slot in range(5) if not action >> slot & 1]
            total = 0.0
            ways = 0
            for cards in itertools.combinations(rest, changed):
                new = np.array([*kept, *cards], np.int8)
                total += worth[changed - 1, classify(new, hands.keys[5], order)]
                ways += 1
            found[action] = total / ways
        best = max(found, key=found.__getitem__)
        assert values[number, 0] == pytest.approx(found[best])
        assert found[int(actions[number, 0])] == pytest.approx(found[best])


@pytest.mark.parametrize("name", ["model", "plain"])
def test_what_an_answer_brings_is_what_its_final_hands_bring(name, payoffs, request):
    """Backwards over the draws and forwards over the distribution: the same number."""
    model = request.getfixturevalue(name)
    own, _ = some_reach(7, dealer=False)
    own /= own.sum()
    answer = model.dealer_response(own, payoffs)
    values = model.dealer_values(own, payoffs)
    histories = slice(len(HISTORIES))
    assert answer.value == pytest.approx((answer.reach * values)[..., histories].sum())
    assert answer.reach.sum(axis=(0, 1)) == pytest.approx(np.ones(LANES))
    assert answer.reach.min() > -1e-6
    back = model.non_dealer_response(answer.reach, payoffs)
    values = model.non_dealer_values(answer.reach, payoffs)
    assert back.value == pytest.approx((back.reach * values).sum())
    assert back.reach.sum() == pytest.approx(1)
    assert back.reach.min() > -1e-6


def test_a_best_answer_beats_standing_pat(model):
    payoffs = linear_payoffs(25, 25)
    pat = model.standing_pat()
    standing = model.dealer_values(pat, payoffs)[:, 0, 0] @ pat[:, 0]
    assert model.dealer_response(pat, payoffs).value > standing + 50


def test_discards_that_are_gone_make_matching_cards_likelier(model, plain):
    """A pair kept is improved more often by a second draw when the first discards are gone."""
    hands = model.hands
    improved = np.zeros((draws.SETS, 4))
    improved[: CLASSES[5], 0] = hands.category[hands.type] >= 3
    pairs = hands.category[hands.type] == 1
    stand = np.full((TYPES, 4), -1.0)
    chances = []
    for one in (plain, model):
        method = one._dealer_draws[1]
        after = one._add_sums(improved.copy(), method)
        actions = np.empty((CLASSES[5], 4), np.int8)
        values = one._best_draws(stand, [after] * 3, method, actions)
        chances.append(np.average(values[: CLASSES[5], 0][pairs], weights=hands.size[pairs]))
    assert 1.02 < chances[1] / chances[0] < 1.1


def test_weights_of_pairs_keep_both_distributions():
    model = DrawModel()
    own = model.standing_pat()
    other = np.zeros((TYPES, 4, LANES))
    other[:, 0, 0] = own[:, 0]
    other[TYPES // 2 :, 0, 0] *= 2  # stronger hands than those dealt
    other /= other.sum()
    ones = np.ones((3, 4, 6, 19))
    model.balance(own, other)
    kept = model.non_dealer_values(other, ones)[:, 0]
    assert kept[own[:, 0] > 0] == pytest.approx(1.0, abs=1e-6)
    kept = -model.dealer_values(own, ones)[:, 0, 0]
    assert kept[other[:, 0, 0] > 0] == pytest.approx(1.0, abs=1e-6)
    # Hands of four aces never meet.
    four_aces = np.flatnonzero((model.hands.ranks == 12).sum(axis=1) == 4)
    aces = np.zeros_like(own)
    aces[four_aces, 0] = 1.0
    assert model.dealer_values(aces, ones)[four_aces, 0, 0] == pytest.approx(0.0)


def test_equilibrium_is_one():
    """The gap is what best answers gain; the value lies between what both can be sure of."""
    model = DrawModel()
    payoffs = linear_payoffs(25, 25)
    seen = []
    solved = solve(model, payoffs, tolerance=1.0, report=lambda number, gaps: seen.append(gaps))
    assert tuple(seen) == solved.curve
    assert solved.gap == seen[-1].pure <= 2.0
    assert solved.exploitability == solved.gap / 2
    own, other = solved.strategies
    gains = model.best_values(own.reach, other.reach, payoffs)
    assert sum(gains) == pytest.approx(solved.gap)
    assert -gains[1] <= solved.value <= gains[0]
    assert solved.value == pytest.approx(
        (model.outcomes(own.reach, other.reach) * payoffs).sum(), abs=solved.gap
    )
    gains = model.best_values(*solved.averages, payoffs)
    assert sum(gains) == pytest.approx(seen[-1].average)
    # Once solved, it is recognised as solved.
    again = solve(model, payoffs, tolerance=1.0, start=solved.strategies)
    assert again.curve == ()
    assert again.gap == pytest.approx(solved.gap)


def test_who_may_not_double_does_not():
    """Payoffs can forbid: what costs 10,000 points is left alone."""
    model = DrawModel()
    payoffs = linear_payoffs(25, 25)
    payoffs[1:] -= 10_000
    payoffs[:, 2:] += 10_000
    solved = solve(model, payoffs, tolerance=5.0, iterations=4)
    own, other = solved.strategies
    assert own.reach[:, 1:].sum() == pytest.approx(0)
    assert other.reach[:, 2:, 0].sum() == pytest.approx(0)


def test_payoffs_of_the_rules():
    payoffs = linear_payoffs(10, 20)
    assert payoffs[2, 3, 5, 9] == 10 * 4 * 5 + 250
    assert payoffs[2, 0, 0, 9 - 3] == -20 * 4 * 5 - 250 - 200
    points = [50, 100, 200, 300, 400, 500, 600, 750, 1000]
    assert above_the_line(Rules())[3, 9:].tolist() == [0, *points]
    assert above_the_line(Rules())[3, 8::-1].tolist() == [-number for number in points]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"payoffs": np.zeros((3, 4, 6))}, r"payoffs must be finite numbers, \(3, 4, 6, 19\)"),
        ({"payoffs": np.full((3, 4, 6, 19), np.nan)}, "payoffs must be finite"),
        ({"tolerance": 0}, "tolerance must be above 0, got 0"),
        ({"iterations": 0}, "iterations must be at least 1, got 0"),
    ],
)
def test_bad_arguments_are_refused(model, arguments, message):
    with pytest.raises(ValueError, match=message):
        solve(model, **{"payoffs": linear_payoffs(25, 25), **arguments})
