"""Cards, packs and hand ranking: each test is named after the fault it guards against.

The ranking is held against three independent judges: the published counts of all five-card hands,
the evaluators `phevaluator` and `treys`, and the slow reference below, written from docs/rules.md.
"""

from __future__ import annotations

import doctest
import itertools
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numba
import numpy as np
import phevaluator
import pytest
import treys
from hypothesis import given, settings
from hypothesis import strategies as st

from poke_env import cards
from poke_env.cards import (
    CATEGORY_SHIFT,
    Category,
    HandRank,
    card_number,
    card_text,
    evaluate,
    format_cards,
    hand_value,
    pack,
    parse_cards,
    sort_hand,
    write_flags,
)

# The first example of a property may compile a function: no time limit.
property_test = settings(deadline=None)
hands_of_five = st.lists(st.integers(0, 51), min_size=5, max_size=5, unique=True)

# All 2,598,960 five-card hands by category: the combinatorics are in any book on poker.
HANDS_BY_CATEGORY = {
    Category.HIGH_CARD: 1_302_540,
    Category.PAIR: 1_098_240,
    Category.TWO_PAIR: 123_552,
    Category.THREE_OF_A_KIND: 54_912,
    Category.STRAIGHT: 10_200,
    Category.FLUSH: 5_108,
    Category.FULL_HOUSE: 3_744,
    Category.FOUR_OF_A_KIND: 624,
    Category.STRAIGHT_FLUSH: 36,
    Category.ROYAL_FLUSH: 4,
}
DIFFERENT_HANDS = 7_462

ONE_OF_EACH = (
    ("7s 5h 4d 3c 2s", Category.HIGH_CARD, "high card, seven"),
    ("6s 6h 4d 3c 2s", Category.PAIR, "pair, sixes"),
    ("Js Jh 2d 2c 5s", Category.TWO_PAIR, "two pair, jacks and twos"),
    ("9s 9h 9d Kc 2s", Category.THREE_OF_A_KIND, "three of a kind, nines"),
    ("5s 4h 3d 2c As", Category.STRAIGHT, "straight, five high"),
    ("Ks 9s 8s 3s 2s", Category.FLUSH, "flush, king high"),
    ("As Ah Ad Ks Kh", Category.FULL_HOUSE, "full house, aces over kings"),
    ("Ts Th Td Tc Ah", Category.FOUR_OF_A_KIND, "four of a kind, tens"),
    ("9d 8d 7d 6d 5d", Category.STRAIGHT_FLUSH, "straight flush, nine high"),
    ("Ah Kh Qh Jh Th", Category.ROYAL_FLUSH, "royal flush"),
)


def value(hand: str | Sequence[int], ace_low_straight: bool = True) -> int:
    numbers = np.array(parse_cards(hand), dtype=np.int8)
    return int(hand_value(numbers, len(numbers), ace_low_straight))


def random_hands(count: int, seed: int) -> np.ndarray:
    """`count` five-card hands, (count, 5) int8, cards of a hand in random order."""
    keys = np.random.default_rng(seed).random((count, 52))
    return np.argpartition(keys, 5, axis=1)[:, :5].astype(np.int8)


def reference(hand: Sequence[int], ace_low_straight: bool = True) -> tuple[int, ...]:
    """Category and then the ranks that decide: slow, obvious, sorts as the hands do."""
    ranks = sorted((card // 4 for card in hand), reverse=True)
    counts = Counter(ranks)
    groups = sorted(counts, key=lambda rank: (counts[rank], rank), reverse=True)
    shape = sorted(counts.values(), reverse=True)
    if shape[0] == 4:
        return (7, *groups)
    if shape[:2] == [3, 2]:
        return (6, *groups)
    if shape[0] == 3:
        return (3, *groups)
    if shape[:2] == [2, 2]:
        return (2, *groups)
    if shape[0] == 2:
        return (1, *groups)
    if len(hand) < 5:
        return (0, *groups)
    flush = len({card % 4 for card in hand}) == 1
    straight = ranks[0] - ranks[4] == 4
    if ranks == [12, 3, 2, 1, 0] and ace_low_straight:
        straight, groups = True, [3, 2, 1, 0, -1]
    if straight and flush:
        return (9 if groups[0] == 12 else 8, *groups)
    if flush:
        return (5, *groups)
    return (4 if straight else 0, *groups)


def assert_same_order(values: Iterable[Any], judgements: Iterable[Any]) -> None:
    """Both judges put the same hands in the same order, and call the same hands ties."""
    pairs = sorted(set(zip(values, judgements, strict=True)))
    for (low, low_judged), (high, high_judged) in itertools.pairwise(pairs):
        assert low < high, f"value {low} for hands judged {low_judged} and {high_judged}"
        assert low_judged < high_judged, f"values {low}, {high}: {low_judged}, {high_judged}"


# --- Ranking: direction and categories ----------------------------------------------------------


def test_direction_is_not_reversed() -> None:
    assert value("Ah Kh Qh Jh Th") > value("7s 5h 4d 3c 2s")
    assert evaluate("Ah Kh Qh Jh Th") > evaluate("7s 5h 4d 3c 2s")
    assert max(HandRank(value(hand)) for hand, _, _ in ONE_OF_EACH).category == Category.ROYAL_FLUSH


def test_every_category_is_recognised_and_in_order() -> None:
    ranked = [evaluate(hand) for hand, _, _ in ONE_OF_EACH]
    assert [hand.category for hand in ranked] == list(Category)
    assert [category for _, category, _ in ONE_OF_EACH] == list(Category)
    assert ranked == sorted(ranked)
    assert len(set(ranked)) == len(Category)


@pytest.mark.parametrize(("hand", "category", "description"), ONE_OF_EACH)
def test_description_does_not_fit_the_hand(hand: str, category: Category, description: str) -> None:
    assert evaluate(hand).category is category
    assert evaluate(hand).description == description
    assert str(evaluate(hand)) == description


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("2s 2h 2d 2c 3s", "As Ah Ad Ks Kh"),  # category before ranks
        ("3s 3h 3d 2s 2h", "2s 2h 2d As Ah"),  # full house: three before pair
        ("3s 3h 3d 5s 5h", "3s 3h 3d 4s 4h"),
        ("As Ah 3d 3c 2s", "Ks Kh Qd Qc As"),  # two pair: higher pair, lower pair, kicker
        ("As Ah 4d 4c 2s", "As Ah 3d 3c Ks"),
        ("As Ah 3d 3c 4s", "As Ah 3d 3c 2s"),
        ("As Ah 5d 3c 2s", "Ks Kh Ad Qc Js"),  # pair before kickers, the last kicker counts
        ("As Ah 6d 5c 3s", "Ad Ac 6s 5h 2s"),
        ("9s 9h 9d 3c 2s", "8s 8h 8d Ac Ks"),
        ("Ks 9s 8s 3s 2s", "Qh Jh Th 8h 7h"),  # flush: all five cards
        ("Kh 9h 8h 4h 2h", "Ks 9s 8s 3s 2s"),
        ("As Kh Qd Jc 9s", "As Kh Qd Jc 8s"),
        ("As Kh Qd Jc Ts", "Ks Qh Jd Tc 9s"),
    ],
)
def test_wrong_card_decides_within_a_category(better: str, worse: str) -> None:
    assert evaluate(better) > evaluate(worse)


def test_value_bits_differ_from_their_documentation() -> None:
    def ranks(hand: str) -> list[int]:
        return [value(hand) >> shift & 0xF for shift in (16, 12, 8, 4, 0)]

    assert value("As Ah Ad Ks Kh") >> CATEGORY_SHIFT == Category.FULL_HOUSE
    assert ranks("As Ah Ad Ks Kh") == [12, 11, 0, 0, 0]
    assert ranks("2s 9h 9d Kc Ks") == [11, 7, 0, 0, 0]
    assert ranks("5h 9h 9d Kc As") == [7, 12, 11, 3, 0]
    assert ranks("5h 9h 3d Kc As") == [12, 11, 7, 3, 1]
    assert ranks("5h 4h 3d 2c As") == [3, 2, 1, 0, 12]
    assert ranks("Qs Qh") == [10, 0, 0, 0, 0]
    assert 0 <= value("7s 5h 4d 3c 2s") < value("Ah Kh Qh Jh Th") < 10 << CATEGORY_SHIFT


# --- Ranking: straights -------------------------------------------------------------------------


def test_wheel_counts_as_ace_high() -> None:
    wheel = evaluate("As 2h 3d 4c 5s")
    assert wheel.category is Category.STRAIGHT
    assert evaluate("Ks Kh Kd Qc Js") < wheel < evaluate("2h 3d 4c 5s 6s")


def test_steel_wheel_counts_as_royal_flush() -> None:
    steel_wheel = evaluate("As 2s 3s 4s 5s")
    assert steel_wheel.category is Category.STRAIGHT_FLUSH
    assert evaluate("As Ah Ad Ac Ks") < steel_wheel < evaluate("2d 3d 4d 5d 6d")


def test_wheel_counts_although_switched_off() -> None:
    assert evaluate("As 2h 3d 4c 5s", ace_low_straight=False).category is Category.HIGH_CARD
    assert evaluate("As 2s 3s 4s 5s", ace_low_straight=False).category is Category.FLUSH
    for hand in ("As 2h 3d 4c 5s", "As 2s 3s 4s 5s"):
        assert evaluate(hand, ace_low_straight=False).description.endswith(("ace", "ace high"))
    assert evaluate("As 2h 3d 4c 5s", ace_low_straight=False) > evaluate("Ks Qh Jd Tc 8s")
    for hand in ("2h 3d 4c 5s 6s", "Ts Jh Qd Kc As", "Ts Js Qs Ks As"):
        assert evaluate(hand, ace_low_straight=False) == evaluate(hand)


@pytest.mark.parametrize("flag", [0, 1, np.int8(0), np.int8(1), np.bool_(0), np.bool_(1)])
def test_rule_stored_as_a_number_is_misread(flag: int) -> None:
    wheel = np.array(parse_cards("As 2h 3d 4c 5s"), dtype=np.int8)
    assert hand_value(wheel, 5, flag) == hand_value(wheel, 5, bool(flag))


@pytest.mark.parametrize("ranks", ["JQKA2", "QKA23", "KA234"])
@pytest.mark.parametrize("ace_low_straight", [True, False])
def test_straight_wraps_round(ranks: str, ace_low_straight: bool) -> None:
    mixed = " ".join(rank + suit for rank, suit in zip(ranks, "cdhsc", strict=True))
    suited = " ".join(rank + "h" for rank in ranks)
    assert evaluate(mixed, ace_low_straight).category is Category.HIGH_CARD
    assert evaluate(suited, ace_low_straight).category is Category.FLUSH


# --- Ranking: order and ties against independent judges -----------------------------------------


def test_order_or_ties_differ_from_another_evaluator() -> None:
    hands = random_hands(100_000, seed=1)
    ours = [hand_value(hand, 5, True) for hand in hands]
    # phevaluator numbers cards as we do; its ranks run from 1, the best, to 7,462.
    theirs = [-phevaluator.evaluate_cards(*hand) for hand in hands.tolist()]
    assert_same_order(ours, theirs)


def test_order_or_ties_differ_from_a_second_evaluator() -> None:
    hands = random_hands(5_000, seed=2)
    ours = [hand_value(hand, 5, True) for hand in hands]
    treys_cards = [treys.Card.new(card_text(card)) for card in range(52)]
    judge = treys.Evaluator()
    theirs = [-judge.evaluate([treys_cards[card] for card in hand], []) for hand in hands.tolist()]
    assert_same_order(ours, theirs)


@pytest.mark.parametrize("ace_low_straight", [True, False])
def test_order_or_ties_differ_from_the_rules(ace_low_straight: bool) -> None:
    # Few ranks and mostly two suits: straights, wheels and flushes are common.
    near_the_wheel = parse_cards("Ac Ad Ah 2c 2d 2h 3c 3d 4c 4d 5c 5d 6c 6d")
    hands = [*itertools.combinations(near_the_wheel, 5), *random_hands(5_000, seed=3).tolist()]
    ours = [hand_value(np.array(hand, dtype=np.int8), 5, ace_low_straight) for hand in hands]
    judged = [reference(hand, ace_low_straight) for hand in hands]
    assert_same_order(ours, judged)
    assert [v >> CATEGORY_SHIFT for v in ours] == [key[0] for key in judged]


@numba.njit
def all_hands_into(hands: np.ndarray, values: np.ndarray) -> int:
    """Every five-card hand of the pack and its value; returns how many there are."""
    n = 0
    for a in range(52):
        for b in range(a):
            for c in range(b):
                for d in range(c):
                    for e in range(d):
                        hands[n, 0], hands[n, 1], hands[n, 2] = a, b, c
                        hands[n, 3], hands[n, 4] = d, e
                        values[n] = hand_value(hands[n], 5, True)
                        n += 1
    return n


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="2.6 million hands need the compiler")
def test_some_class_of_hands_is_miscounted() -> None:
    total = sum(HANDS_BY_CATEGORY.values())
    hands = np.empty((total, 5), dtype=np.int8)
    values = np.empty(total, dtype=np.int64)
    assert all_hands_into(hands, values) == total == 2_598_960
    assert dict(Counter((values >> CATEGORY_SHIFT).tolist())) == HANDS_BY_CATEGORY
    # One hand of each of the 7,462 classes, worst first, is numbered 7,462 to 1 by phevaluator.
    different, first = np.unique(values, return_index=True)
    assert len(different) == DIFFERENT_HANDS
    theirs = [phevaluator.evaluate_cards(*hand) for hand in hands[first].tolist()]
    assert theirs == list(range(DIFFERENT_HANDS, 0, -1))


# --- Ranking: what must not matter --------------------------------------------------------------


def test_order_of_the_cards_matters() -> None:
    hands = [parse_cards(hand) for hand, _, _ in ONE_OF_EACH]
    hands += [tuple(hand) for hand in random_hands(10, seed=4).tolist()]
    assert len(hands) == 20
    for hand in hands:
        assert len({value(order) for order in itertools.permutations(hand)}) == 1


def test_earlier_calls_matter() -> None:
    hands = random_hands(2_000, seed=5)
    values = [hand_value(hand, 5, True) for hand in hands]
    assert [hand_value(hand, 5, True) for hand in hands[::-1]] == values[::-1]
    shuffled = np.random.default_rng(6).permutation(len(hands))
    assert [hand_value(hands[i], 5, True) for i in shuffled] == [values[i] for i in shuffled]


@property_test
@given(hands_of_five, st.permutations(range(4)))
def test_suits_decide(hand: list[int], relabelled: list[int]) -> None:
    assert value([card // 4 * 4 + relabelled[card % 4] for card in hand]) == value(hand)


def test_equal_hands_do_not_tie() -> None:
    assert evaluate("As Kh Qd Jc 9s") == evaluate("Ac Ks Qh Jd 9c")
    assert not evaluate("As Kh Qd Jc 9s") < evaluate("Ac Ks Qh Jd 9c")
    assert hash(evaluate("As Kh Qd Jc 9s")) == hash(evaluate("Ac Ks Qh Jd 9c"))


def test_cards_beyond_the_hand_or_memory_layout_matter() -> None:
    row = np.array([*parse_cards("As Ah Ad Ks Kh"), 3, 99, -1], dtype=np.int8)
    table = np.zeros((len(row), 2), dtype=np.int8)
    table[:, 1] = row
    frozen = row.copy()
    frozen.setflags(write=False)
    expected = value("As Ah Ad Ks Kh")
    for array in (row, table[:, 1], frozen, row[4::-1]):
        assert hand_value(array, 5, True) == expected
    assert (row == frozen).all(), "the hand was modified"
    assert hand_value(row, 3, True) == value("As Ah Ad")


@property_test
@given(hands_of_five, st.integers(1, 5), st.booleans())
def test_compiled_and_plain_source_differ(hand: list[int], size: int, ace_low: bool) -> None:
    plain = getattr(hand_value, "py_func", hand_value)
    array = np.array(hand, dtype=np.int8)
    with np.errstate(all="raise"):
        assert plain(array, size, ace_low) == hand_value(array, size, ace_low)


# --- Ranking: small hands -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("cards_of", "size"), [(pack(), 1), (pack(), 2), (pack(6, 4), 3), (pack(5, 4), 4)]
)
def test_small_hands_are_ranked_unlike_the_rules(cards_of: tuple[int, ...], size: int) -> None:
    hands = list(itertools.combinations(cards_of, size))
    ours = [value(hand) for hand in hands]
    judged = [reference(hand) for hand in hands]
    assert_same_order(ours, judged)
    assert [v >> CATEGORY_SHIFT for v in ours] == [key[0] for key in judged]


def test_small_hands_make_straights_or_flushes() -> None:
    for hand in ("As Ks", "As Ks Qs", "As 2s 3s", "As Ks Qs Js", "As"):
        assert value(hand) >> CATEGORY_SHIFT == Category.HIGH_CARD
    assert value("2c 2d") > value("As Ks")
    assert value("2c 2d 2h") > value("As Ah Ks") > value("As Kh Qs")
    assert HandRank(value("Ks Kh")).description == "pair, kings"


# --- Text ---------------------------------------------------------------------------------------


def test_card_numbers_differ_from_the_contract() -> None:
    assert [card_text(card) for card in (0, 1, 2, 3, 4, 33, 51, 52, 53)] == (
        ["2c", "2d", "2h", "2s", "3c", "Td", "As", "*1", "*2"]
    )
    assert len({card_text(card) for card in range(54)}) == 54


@pytest.mark.parametrize("card", range(54))
def test_text_does_not_read_back(card: int) -> None:
    assert card_number(card_text(card)) == card
    assert card_number(card_text(card).lower()) == card
    assert card_number(card_text(card).upper()) == card
    assert card_text(np.int8(card)) == card_text(card)


@given(st.lists(st.integers(0, 53), unique=True), st.sampled_from([" ", "  ", "\n", "\t"]))
def test_lists_of_cards_do_not_read_back(numbers: list[int], separator: str) -> None:
    assert parse_cards(format_cards(numbers, separator)) == tuple(numbers)
    assert parse_cards([card_text(card) for card in numbers]) == tuple(numbers)
    assert parse_cards(np.array(numbers, dtype=np.int8)) == tuple(numbers)


def test_ten_written_10_is_refused() -> None:
    assert card_number("10c") == card_number("Tc") == card_number("tC") == card_number("10C") == 32
    assert parse_cards("10c Td") == (32, 33)


def test_mixed_sequences_are_refused() -> None:
    mixed = ("As", 0, np.int8(1), np.array(2), "10d", np.str_("*1"))
    assert parse_cards(mixed) == (51, 0, 1, 2, 33, 52)
    assert all(type(card) is int for card in parse_cards(mixed))
    assert parse_cards(card for card in mixed) == parse_cards(mixed)
    assert parse_cards("") == parse_cards([]) == ()
    assert format_cards([51, 33], separator=",") == "As,Td"


@pytest.mark.parametrize(
    "text",
    [
        *("", "A", "s", "sA", "Ax", "1s", "0s", "11s", "10", "T10d", "AsKs", "As ", " As"),
        *("*", "*0", "*3", "1*", "A\u2660", "A\u017f", "\u0661s", 5, None, b"As", True),
    ],
)
def test_unknown_text_passes_as_a_card(text: str) -> None:
    with pytest.raises(ValueError, match=r"unknown card .*a rank .* and a suit .* joker") as error:
        card_number(text)
    assert repr(text) in str(error.value)


@pytest.mark.parametrize("card", [-1, 54, 255, -128, 10**30, np.int64(54)])
def test_number_out_of_range_passes_as_a_card(card: int) -> None:
    for call in (
        lambda: card_text(card),
        lambda: parse_cards([card]),
        lambda: format_cards([card]),
    ):
        with pytest.raises(ValueError, match=f"unknown card number {card}: .* 0 to 53"):
            call()


@pytest.mark.parametrize(
    "card",
    [True, False, np.bool_(True), np.array(True), 7.0, np.float32(7), None, (7,), np.array([7])],
)
def test_something_else_passes_as_a_card(card: int) -> None:
    for call in (lambda: card_text(card), lambda: parse_cards([0, card])):
        with pytest.raises(ValueError, match=r"unknown card .*: a card is an integer 0 to 53"):
            call()


@pytest.mark.parametrize("given_cards", [7, None, 2.5, np.int8(3)])
def test_single_object_passes_as_a_list_of_cards(given_cards: list[int]) -> None:
    with pytest.raises(ValueError, match="expected cards as text"):
        parse_cards(given_cards)


@pytest.mark.parametrize("given_cards", ["As Kh as", [51, 46, "As"], ["As", 46, np.int8(51)]])
def test_card_given_twice_is_not_noticed(given_cards: str) -> None:
    with pytest.raises(ValueError, match=r"cards given more than once: As$"):
        parse_cards(given_cards)


def test_unknown_card_among_good_ones_is_not_named() -> None:
    with pytest.raises(ValueError, match="unknown card 'Xd'"):
        parse_cards("As Xd Kh")


# --- evaluate -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("hand", "message"),
    [
        ("As Kh Qd Jc", "a poker hand has 5 cards, got 4: As Kh Qd Jc"),
        ("As Kh Qd Jc 9s 8s", "a poker hand has 5 cards, got 6: As Kh Qd Jc 9s 8s"),
        ("", "a poker hand has 5 cards, got 0: none"),
        ("As Kh Qd Jc As", "cards given more than once: As"),
        ("As Kh Qd Jc 1s", "unknown card '1s'"),
        ([51, 50, 49, 48, 99], "unknown card number 99"),
        ([51, 50, 49, 48, True], "unknown card True"),
        ("As Kh Qd *1 *2", r"jokers cannot be ranked: \*1 \*2"),
    ],
)
def test_bad_hand_gets_a_number(hand: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(hand)


@property_test
@given(hands_of_five, st.booleans())
def test_public_and_compiled_ranking_differ(hand: list[int], ace_low: bool) -> None:
    ranked = evaluate(hand, ace_low)
    assert ranked == evaluate(format_cards(hand), ace_low)
    assert ranked == evaluate(np.array(hand, dtype=np.int8), ace_low)
    assert ranked.value == value(hand, ace_low)
    assert type(ranked.value) is int
    assert ranked.category == ranked.value >> CATEGORY_SHIFT


def test_hand_rank_can_be_altered() -> None:
    with pytest.raises(AttributeError):
        evaluate("As Ah Ad Ks Kh").value = 0  # type: ignore[misc]


# --- Packs --------------------------------------------------------------------------------------


def test_pack_has_other_cards_than_documented() -> None:
    assert pack() == tuple(range(52))
    assert format_cards(pack(3, 2)) == "Qc Qd Kc Kd Ac Ad"
    assert pack(1, 1) == parse_cards("Ac")
    for ranks, suits in itertools.product(range(1, 14), range(1, 5)):
        cards_of = pack(ranks, suits)
        assert list(cards_of) == sorted(set(cards_of))
        assert {card // 4 for card in cards_of} == set(range(13 - ranks, 13))
        assert {card % 4 for card in cards_of} == set(range(suits))
        assert len(cards_of) == ranks * suits
    assert pack(np.int8(3), np.int64(2)) == pack(3, 2)
    assert all(type(card) is int for card in pack(np.int8(3), np.int64(2)))


@pytest.mark.parametrize("ranks", [0, 14, -1, True, 3.0, "3", None])
def test_impossible_ranks_make_a_pack(ranks: int) -> None:
    with pytest.raises(ValueError, match=f"ranks is {ranks!r}: allowed are the integers 1 to 13"):
        pack(ranks, 2)


@pytest.mark.parametrize("suits", [0, 5, -1, True, 2.0, "2", None])
def test_impossible_suits_make_a_pack(suits: int) -> None:
    with pytest.raises(ValueError, match=f"suits is {suits!r}: allowed are the integers 1 to 4"):
        pack(3, suits)


# --- Hands and sets in compiled loops -----------------------------------------------------------


@pytest.mark.parametrize("size", range(6))
def test_hand_is_left_unsorted_or_cards_beyond_it_are_moved(size: int) -> None:
    for order in itertools.permutations((3, 51, 8, 0, 17)):
        hand = np.array(order, np.int8)
        sort_hand(hand, size)
        assert hand.tolist() == [*sorted(order[:size]), *order[size:]]


def test_flags_are_of_other_cards() -> None:
    flags = np.full(52, 7, np.float32)
    write_flags(1 << 51 | 1 << 3 | 1, flags)
    assert np.flatnonzero(flags).tolist() == [0, 3, 51]
    assert flags.sum() == 3


def test_examples_in_the_documentation_are_wrong() -> None:
    result = doctest.testmod(cards)
    assert result.attempted >= 5
    assert result.failed == 0
