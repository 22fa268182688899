"""The 2,598,960 hands of five cards as what they are alike in: classes and types.

Two hands are of one **class** if renaming the suits turns one into the other: nothing in the rules
tells them apart. There are 134,459 classes, and 16,432, 1,755 and 169 of sets of four, three and
two cards. A hand's **type** is its place among all poker hands, 0 for 7-5-4-3-2 to 7,461 for the
royal flush; it fixes the ranks, and with them all that a finished hand is worth.

The value of every draw of every hand follows from sums over the hands that contain a set of two to
four cards; `HandClasses` holds the tables for these sums.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.tricks import RANKS, hand_number
from poke_env._jit import compiled, inlined
from poke_env.cards import CATEGORY_SHIFT, Category, hand_value
from poke_env.games.poke import MAX_HAND

Integers = npt.NDArray[np.int64]

SUITS = 4
CLASSES = (1, 13, 169, 1_755, 16_432, 134_459)
"""Classes of sets of 0 to 5 cards."""
TYPES = 7_462
NUM_HANDS = 2_598_960
SLOT_SETS = 1 << MAX_HAND
FIRST_SET = np.array([-1, -1, *np.cumsum([0, *CLASSES[:2:-1]])[::-1]])
"""Where the classes of sets of 0 to 5 cards begin when they are numbered in one row: hands first,
then sets of four, three and two cards."""
SETS = sum(CLASSES[2:])


_FLUSHES = (Category.FLUSH, Category.STRAIGHT_FLUSH, Category.ROYAL_FLUSH)


class HandClasses(NamedTuple):
    """Tables over the classes of hands. A class is a number, in the order of its key."""

    keys: tuple[Integers, ...]
    """[n]: the keys of all classes of n cards, ascending."""
    cards: npt.NDArray[np.int8]
    """(134459, 5): a hand of each class, ascending: its slots."""
    subsets: npt.NDArray[np.int32]
    """(134459, 32): the class of the cards in each set of two or more slots, as its place among the
    `SETS` (see `FIRST_SET`); 0 for fewer."""
    size: Integers
    """(134459,): hands in each class; 2,598,960 together."""
    type: npt.NDArray[np.int16]
    """(134459,): the type of each class."""
    category: npt.NDArray[np.int8]
    """(7462,): the poker category of each type."""
    flush: npt.NDArray[np.bool_]
    """(7462,): whether a hand of the type is of one suit."""
    ranks: npt.NDArray[np.int8]
    """(7462, 5): the ranks of each type, ascending."""
    multiset: npt.NDArray[np.int16]
    """(7462,): the number of these ranks among the multisets of `agents.tricks`."""


@cache
def hand_classes(ace_low_straight: bool = True) -> HandClasses:
    """The tables; made once a process, in about a second.

    Args:
        ace_low_straight: whether A-2-3-4-5 is a straight.
    """
    keys = [np.zeros(1, np.int64)]
    for size in range(MAX_HAND):
        keys.append(np.unique(_add_cards(keys[size], size)))
    cards, subsets, sizes = _describe(*keys[2:])
    strength = _strengths(cards, ace_low_straight)
    strengths, first, types = np.unique(strength, return_index=True, return_inverse=True)
    ranks = cards[first] // SUITS
    categories = (strengths >> CATEGORY_SHIFT).astype(np.int8)
    return HandClasses(
        tuple(keys),
        cards,
        subsets,
        sizes,
        types.astype(np.int16),
        categories,
        np.isin(categories, _FLUSHES),
        ranks,
        np.array([hand_number(hand, MAX_HAND) for hand in ranks], np.int16),
    )


@inlined
def key_of(masks: Integers) -> int:
    """The key of the cards in `masks`, int64 (4,): the ranks held of each suit as bits.

    It is the same for all sets of cards that renaming the suits turns into each other.
    """
    a, b, c, d = masks[0], masks[1], masks[2], masks[3]
    a, b = max(a, b), min(a, b)
    c, d = max(c, d), min(c, d)
    a, c = max(a, c), min(a, c)
    b, d = max(b, d), min(b, d)
    b, c = max(b, c), min(b, c)
    return int(a << 3 * RANKS | b << 2 * RANKS | c << RANKS | d)


@inlined
def find(keys: Integers, key: int) -> int:
    """The place of `key` in ascending `keys`, which hold it."""
    low = 0
    high = keys.shape[0]
    while high - low > 1:
        middle = (low + high) >> 1
        if keys[middle] <= key:
            low = middle
        else:
            high = middle
    return low


@inlined
def suits_of(key: int, masks: Integers) -> None:
    """Write the ranks held of each suit, as bits, into int64 (4,): the inverse of `key_of`."""
    for suit in range(SUITS):
        masks[suit] = (key >> (SUITS - 1 - suit) * RANKS) & ((1 << RANKS) - 1)


@compiled
def _add_cards(keys: Integers, size: int) -> Integers:
    """The keys of each set of cards with each further card, int64 (K, 52 - size)."""
    found = np.zeros((keys.shape[0], SUITS * RANKS - size), np.int64)
    masks = np.zeros(SUITS, np.int64)
    for i in range(keys.shape[0]):
        suits_of(keys[i], masks)
        place = 0
        for suit in range(SUITS):
            for rank in range(RANKS):
                if not (masks[suit] >> rank) & 1:
                    masks[suit] |= 1 << rank
                    found[i, place] = key_of(masks)
                    masks[suit] &= ~(1 << rank)
                    place += 1
    return found


@compiled
def _describe(
    pairs: Integers, threes: Integers, fours: Integers, hands: Integers
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.int32], Integers]:
    """`cards`, `subsets` and `size` of `HandClasses` from the keys of two to five cards."""
    cards = np.zeros((hands.shape[0], MAX_HAND), np.int8)
    subsets = np.zeros((hands.shape[0], SLOT_SETS), np.int32)
    sizes = np.zeros(hands.shape[0], np.int64)
    masks = np.zeros(SUITS, np.int64)
    for i in range(hands.shape[0]):
        suits_of(hands[i], masks)
        alike = 1
        run = 1
        for suit in range(1, SUITS):
            run = run + 1 if masks[suit] == masks[suit - 1] else 1
            alike *= run
        sizes[i] = 24 // alike
        slot = 0
        for rank in range(RANKS):
            for suit in range(SUITS):
                if (masks[suit] >> rank) & 1:
                    cards[i, slot] = SUITS * rank + suit
                    slot += 1
        for chosen in range(SLOT_SETS):
            masks[:] = 0
            count = 0
            for slot in range(MAX_HAND):
                if (chosen >> slot) & 1:
                    masks[cards[i, slot] & 3] |= 1 << (cards[i, slot] >> 2)
                    count += 1
            if count == 2:
                subsets[i, chosen] = FIRST_SET[2] + find(pairs, key_of(masks))
            elif count == 3:
                subsets[i, chosen] = FIRST_SET[3] + find(threes, key_of(masks))
            elif count == 4:
                subsets[i, chosen] = FIRST_SET[4] + find(fours, key_of(masks))
        subsets[i, SLOT_SETS - 1] = i
    return cards, subsets, sizes


@compiled
def _strengths(cards: npt.NDArray[np.int8], ace_low_straight: bool) -> Integers:
    strength = np.zeros(cards.shape[0], np.int64)
    for i in range(cards.shape[0]):
        strength[i] = hand_value(cards[i], MAX_HAND, ace_low_straight)
    return strength


@inlined
def classify(hand: npt.NDArray[np.int8], keys: Integers, order: Integers) -> int:
    """The class of a hand, and how its cards lie in the slots of `HandClasses.cards`.

    Args:
        hand: int8 (5,), card numbers in any order.
        keys: int64 (134459,), those of five cards.
        order: int64 (5,), written: the place in `hand` of the card in each slot.
    """
    masks = np.zeros(SUITS, np.int64)
    for number in hand:
        card = np.int64(number)
        masks[card & 3] |= 1 << (card >> 2)
    # Suits take the places that their masks have in falling order.
    places = np.zeros(SUITS, np.int64)
    for suit in range(SUITS):
        for other in range(SUITS):
            if masks[other] > masks[suit] or (masks[other] == masks[suit] and other < suit):
                places[suit] += 1
    for i in range(MAX_HAND):
        slot = 0
        for j in range(MAX_HAND):
            slot += (hand[j] >> 2, places[hand[j] & 3]) < (hand[i] >> 2, places[hand[i] & 3])
        order[slot] = i
    return find(keys, key_of(masks))


@compiled
def in_hand(slots: int, order: Integers) -> int:
    """Slots of a class, as bits, as places in a hand.

    Args:
        slots: a set of slots.
        order: int64 (5,), of the hand, see `classify`.
    """
    places = 0
    for slot in range(MAX_HAND):
        if (slots >> slot) & 1:
            places |= 1 << order[slot]
    return int(places)
