"""What a set of cards is worth keeping for as a poker hand, for the players' draws."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.reading import RANKS, Integers, count_bits
from poke_env._jit import compiled
from poke_env.cards import CATEGORY_SHIFT, Category, hand_value

NOTHING = int(Category.HIGH_CARD)
PAIR = int(Category.PAIR)
TWO_PAIR = int(Category.TWO_PAIR)
THREE = int(Category.THREE_OF_A_KIND)
STRAIGHT = int(Category.STRAIGHT)
# Four cards that one more can complete; behind the ten categories.
INSIDE_STRAIGHT, OPEN_STRAIGHT, FOUR_FLUSH = range(len(Category), len(Category) + 3)
KINDS = len(Category) + 3
"""A holding is a `Category`, or one of the three draws above."""


@compiled
def holding(ranks: Integers, suits: Integers, slots: int, size: int) -> int:
    """What the cards in `slots` are: their category, or a draw to a straight or flush.

    Args:
        ranks: int64 (5,), rank of each slot.
        suits: int64 (5,), suit of each slot.
        slots: the cards that are kept, as bits.
        size: cards in a full hand; fewer than five know only sets.
    """
    cards = np.empty(size, np.int8)
    count = 0
    for slot in range(size):
        if (slots >> slot) & 1:
            cards[count] = 4 * ranks[slot] + suits[slot]
            count += 1
    category = hand_value(cards, count, True) >> CATEGORY_SHIFT
    if category == NOTHING and size == 5 and count == 4:
        return _four_to_a_hand(cards)
    return int(category)


@compiled
def _four_to_a_hand(cards: npt.NDArray[np.int8]) -> int:
    """The best draw that four cards of different ranks hold."""
    ranks = np.int64(0)
    suits = np.int64(0)
    for i in range(4):
        card = np.int64(cards[i])
        ranks |= np.int64(1) << (card >> 2)
        suits |= np.int64(1) << (card & 3)
    if suits & (suits - 1) == 0:
        return FOUR_FLUSH
    # The ace counts at both ends; windows of five ranks that hold all four are ways to fill up.
    ends = (ranks << 1) | (ranks >> (RANKS - 1))
    ways = 0
    for low in range(RANKS - 3):
        if count_bits(int(ends) & (0b11111 << low)) == 4:
            ways += 1
    if ways == 2:
        return OPEN_STRAIGHT
    return INSIDE_STRAIGHT if ways == 1 else NOTHING
