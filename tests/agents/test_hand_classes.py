"""Classes and types of hands: their numbers, and that they are what the rules cannot tell apart."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from agents.hand_classes import (
    CLASSES,
    FIRST_SET,
    NUM_HANDS,
    SETS,
    TYPES,
    classify,
    hand_classes,
)
from agents.tricks import HANDS, hand_number
from poke_env.cards import CATEGORY_SHIFT, hand_value


@pytest.fixture(scope="module")
def tables():
    return hand_classes()


def random_hands(count, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.permutation(52)[:5].astype(np.int8) for _ in range(count)]


def test_number_of_classes_and_hands(tables):
    assert tuple(len(keys) for keys in tables.keys) == CLASSES
    assert int(tables.size.sum()) == NUM_HANDS
    assert len(tables.category) == TYPES
    assert sum(CLASSES[2:]) == SETS


def test_hands_of_each_poker_category(tables):
    """The known table of all 2,598,960 hands."""
    counted = np.bincount(tables.category[tables.type], tables.size).astype(int).tolist()
    assert counted == [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 36, 4]


def test_type_orders_hands_as_the_rules_do(tables):
    keys, order = tables.keys[5], np.zeros(5, np.int64)
    hands = random_hands(400)
    types = [tables.type[classify(hand, keys, order)] for hand in hands]
    values = [hand_value(hand, 5, True) for hand in hands]
    for (one, a), (other, b) in itertools.combinations(zip(types, values, strict=True), 2):
        assert (one < other) == (a < b)
        assert (one == other) == (a == b)
    for type_, value in zip(types, values, strict=True):
        assert tables.category[type_] == value >> CATEGORY_SHIFT


def test_types_know_their_ranks(tables):
    for hand in random_hands(200, seed=1):
        type_ = tables.type[classify(hand, tables.keys[5], np.zeros(5, np.int64))]
        ranks = np.sort(hand // 4)
        assert tables.ranks[type_].tolist() == ranks.tolist()
        assert tables.multiset[type_] == hand_number(ranks, 5) < HANDS[5]


def test_renaming_suits_keeps_the_class_and_the_slots(tables):
    keys = tables.keys[5]
    for hand in random_hands(100, seed=2):
        order = np.zeros(5, np.int64)
        expected = classify(hand, keys, order)
        in_slots = hand[order]
        assert (in_slots // 4).tolist() == (tables.cards[expected] // 4).tolist()
        for suits in itertools.permutations(range(4)):
            renamed = (hand // 4 * 4 + np.array(suits)[hand % 4]).astype(np.int8)
            assert classify(renamed[::-1].copy(), keys, order) == expected
        # What the slots hold is the class's own hand but for the names of the suits.
        names = {}
        for own, other in zip(in_slots % 4, tables.cards[expected] % 4, strict=True):
            assert names.setdefault(int(own), int(other)) == other


def test_different_hands_have_different_classes(tables):
    """No two of the hands listed are one hand with renamed suits."""
    rng = np.random.default_rng(3)
    for number in rng.choice(CLASSES[5], 300, replace=False):
        hand = tables.cards[number].copy()
        assert classify(hand, tables.keys[5], np.zeros(5, np.int64)) == number


def test_subsets_are_numbered_by_their_cards(tables):
    """Equal sets of cards in different hands have one number, whatever else the hands hold."""
    found = {}
    order = np.zeros(5, np.int64)
    for hand in random_hands(3000, seed=4):
        number = classify(hand, tables.keys[5], order)
        in_slots = hand[order]
        for slots in range(32):
            cards = [int(in_slots[slot]) for slot in range(5) if slots >> slot & 1]
            if len(cards) not in (2, 3):
                continue
            pattern = min(
                tuple(sorted(card // 4 * 4 + suits[card % 4] for card in cards))
                for suits in itertools.permutations(range(4))
            )
            assert (
                found.setdefault(pattern, tables.subsets[number, slots])
                == (tables.subsets[number, slots])
            )
            place = tables.subsets[number, slots] - FIRST_SET[len(cards)]
            assert 0 <= place < CLASSES[len(cards)]
    assert len(set(found.values())) == len(found)


def test_wheel_is_a_straight_only_if_the_rules_say_so(tables):
    wheel = np.array([0, 5, 10, 15, 48], np.int8)  # 2c 3d 4h 5s Ac
    number = classify(wheel, tables.keys[5], np.zeros(5, np.int64))
    other = hand_classes(ace_low_straight=False)
    assert tables.category[tables.type[number]] == 4
    assert other.category[other.type[number]] == 0
