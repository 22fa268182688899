"""Hands with jokers, as high cards and as wild cards, against all cards a joker may stand for."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, combinations_with_replacement, pairwise, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poke_env.cards import (
    CATEGORY_SHIFT,
    JOKERS,
    Category,
    HandRank,
    WildCategory,
    evaluate,
    hand_value,
    parse_cards,
    wild_hand_value,
)
from reference import pokex_reference
from reference.pokex_reference import plain_rank, wild_rank

property_test = settings(deadline=None, max_examples=150)
hands_of_five = st.lists(st.integers(0, 53), min_size=5, max_size=5, unique=True)
KINDS = {
    pokex_reference.STRAIGHT_FLUSH: (Category.STRAIGHT_FLUSH, Category.ROYAL_FLUSH),
    pokex_reference.FIVE_OF_A_KIND: (WildCategory.FIVE_OF_A_KIND,),
}
"""Our categories by the reference's; all others have the same number."""


def value(hand: Any, wild: bool) -> int:
    cards = np.array(parse_cards(hand), np.int8)
    return int(wild_hand_value(cards) if wild else hand_value(cards, 5, True))


def compare(hands: Iterator[Any] | list[Any], wild: bool) -> None:
    """Both judges put the hands in the same order, see the same ties and the same categories."""
    judge = wild_rank if wild else plain_rank
    ranked = sorted({(value(hand, wild), judge(hand)) for hand in hands})
    for (low, low_rank), (high, high_rank) in pairwise(ranked):
        assert low < high
        assert low_rank < high_rank
    for number, (category, _) in ranked:
        assert HandRank(number).category in KINDS.get(category, (category,))


def patterns(size: int) -> Iterator[tuple[int, ...]]:
    """So many different cards, every choice of ranks with every way in which suits can agree."""
    for ranks in combinations_with_replacement(range(13), size):
        for suits in product(range(4), repeat=size):
            cards = [4 * rank + suit for rank, suit in zip(ranks, suits, strict=True)]
            # Suits are named in the order in which they appear; cards of a rank are ascending.
            named = all(suit <= max(suits[:i], default=-1) + 1 for i, suit in enumerate(suits))
            if named and all(low < high for low, high in pairwise(cards)):
                yield tuple(cards)


def random_hands(count: int, jokers: int, seed: int) -> list[tuple[int, ...]]:
    rng = np.random.default_rng(seed)
    return [
        (*JOKERS[:jokers], *rng.choice(52, 5 - jokers, replace=False).tolist())
        for _ in range(count)
    ]


def test_two_wild_cards_miss_the_best_hand() -> None:
    """Over every pattern of three natural cards, 1,378 substitutions each."""
    hands = [(*cards, *JOKERS) for cards in patterns(3)]
    assert len(hands) == 286 * 5 + 78 * 3 + 78 * 2 + 13
    compare(hands, wild=True)


def test_one_wild_card_misses_the_best_hand() -> None:
    hands = random_hands(3000, 1, seed=1)
    # Few ranks and suits: matches, straights and flushes.
    hands += [(52, *cards) for cards in combinations(parse_cards("2c 2d 3c 4c 5c 5d 6c Ac Ad"), 4)]
    hands += [(53, *cards) for cards in combinations(parse_cards("9h Th Jh Qh Kh Kc Ah Ac"), 4)]
    compare(hands, wild=True)


def test_hands_with_wild_cards_are_out_of_line_with_others() -> None:
    hands = [hand for jokers in range(3) for hand in random_hands(150, jokers, seed=2)]
    top = parse_cards("Tc Jc Qc Kc Ac Ad *1 *2")
    compare([*hands, *combinations(top, 5)], wild=True)


@property_test
@given(hands_of_five, st.permutations(range(4)), st.randoms(use_true_random=False))
def test_wild_cards_fall_short_of_a_substitution(
    hand: list[int], relabelled: list[int], rng: Any
) -> None:
    """Every substitution is at most as good, one is as good; suits and order make no difference."""
    natural = [card for card in hand if card not in JOKERS]
    best = value(hand, wild=True)
    meant = combinations_with_replacement(range(52), 5 - len(natural))
    ranks = {plain_rank([*natural, *cards]) for cards in meant}
    assert max(ranks) == wild_rank(hand)
    assert HandRank(best).category in KINDS.get(max(ranks)[0], (max(ranks)[0],))
    if len(natural) == 5:
        assert best == value(hand, wild=False)
    other = [c if c in JOKERS else c // 4 * 4 + relabelled[c % 4] for c in hand]
    rng.shuffle(other)
    assert value(other, wild=True) == best


def test_joker_is_misplaced_as_a_high_card() -> None:
    top = parse_cards("9c Tc Jc Jd Qc Qd Kc Kd Kh Ac Ad Ah *1 *2")
    low = parse_cards("2c 3c 4c 5c 5d Ac Kc *1 *2")
    hands = [*combinations(top, 5), *combinations(low, 5)]
    hands += [hand for jokers in range(3) for hand in random_hands(1000, jokers, seed=3)]
    compare(hands, wild=False)


@property_test
@given(hands_of_five)
def test_compiled_and_plain_source_differ(hand: list[int]) -> None:
    cards = np.array(hand, np.int8)
    kept = cards.copy()
    with np.errstate(all="raise"):
        plain = getattr(wild_hand_value, "py_func", wild_hand_value)
        assert plain(cards) == wild_hand_value(cards)
        plain = getattr(hand_value, "py_func", hand_value)
        assert plain(cards, 5, True) == hand_value(cards, 5, True)
    assert (cards == kept).all()


@pytest.mark.parametrize(
    "hand, description",
    [
        ("*1 *2 Kc Kd Kh", "five of a kind, kings"),
        ("*1 Kc Kd Kh Ks", "five of a kind, kings"),
        ("*1 5h 6h 7h 8h", "straight flush, nine high"),
        ("*1 Ac Ad 9c 9d", "full house, aces over nines"),
        ("*1 *2 As Kh 2d", "three of a kind, aces"),
        ("*1 *2 Tc Jc Ac", "royal flush"),
        ("*1 *2 Ac 3c 4c", "straight flush, five high"),
        ("*1 Ac 2d 3c 4c", "straight, five high"),
        ("*2 Kh 9h 4h 2h", "flush, ace high"),
        ("*1 *2 9c 9d Ac", "four of a kind, nines"),
        ("*2 As Kh 9d 7c", "pair, aces"),
        ("*1 Jc Jd Ah 3h", "three of a kind, jacks"),
    ],
)
def test_wild_hand_is_called_something_else(hand: str, description: str) -> None:
    assert str(evaluate(hand, jokers="wild")) == description


@pytest.mark.parametrize(
    "better, worse",
    [
        ("*1 2c 2d 2h 2s", "Ac Kc Qc Jc Tc"),  # five of a kind beats a straight flush
        ("*1 *2 Ac Ad Ah", "*1 Kc Kd Kh Ks"),
        ("*1 Ah 5h 4h 2h", "As Ks Qs Js 9s"),  # two aces in a flush
        ("*1 *2 Ah 3h 7h", "*1 Ac Kc Qc 9c"),
        ("*1 5h 6h 7h 8h", "*1 4c 5c 6c 7c"),  # the joker extends a run upwards
        ("*1 6h 7h 8h 9d", "5c 6d 7h 8h 9s"),
    ],
)
def test_wild_hands_are_in_another_order(better: str, worse: str) -> None:
    assert evaluate(better, jokers="wild") > evaluate(worse, jokers="wild")


@pytest.mark.parametrize(
    "hand, description",
    [
        ("*1 *2 Kc Kd Kh", "full house, kings over jokers"),
        ("*1 *2 Kc Kd 3h", "two pair, jokers and kings"),
        ("*2 *1 As Kh 2d", "pair, jokers"),
        ("*1 Jc Qc Kc Ac", "high card, joker"),
        ("*2 2c 3c 4c 5c", "high card, joker"),
        ("*1 Ac Ad 9c 9d", "two pair, aces and nines"),
    ],
)
def test_joker_is_no_high_card(hand: str, description: str) -> None:
    assert str(evaluate(hand, jokers="high_card")) == description


def test_jokers_rank_where_they_are_not_allowed() -> None:
    for jokers in (None, "high_card", "wild"):
        assert evaluate("As Ah Ad Ks Kh", jokers=jokers) == evaluate("As Ah Ad Ks Kh")
    with pytest.raises(ValueError, match=r"jokers cannot be ranked: \*2"):
        evaluate("As Ah Ad Ks *2")
    for wrong in ("low", "", 1, True):
        with pytest.raises(
            ValueError, match=r"^jokers must be None or one of .*'high_card', 'wild"
        ):
            evaluate("As Ah Ad Ks *2", jokers=wrong)  # type: ignore[arg-type]


def test_values_leave_their_range() -> None:
    best = value("*1 *2 Ac Ad Ah", wild=True)
    assert best >> CATEGORY_SHIFT == WildCategory.FIVE_OF_A_KIND == len(Category)
    assert best < 11 << CATEGORY_SHIFT
