"""What a set of cards is worth keeping for as a poker hand, for the players' draws."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import numpy.typing as npt

from agents.reading import RANKS, Integers
from poke_env._jit import compiled
from poke_env.cards import CATEGORY_SHIFT, Category, hand_value
from poke_env.games.poke import MAX_HAND

NOTHING = int(Category.HIGH_CARD)
PAIR = int(Category.PAIR)
TWO_PAIR = int(Category.TWO_PAIR)
THREE = int(Category.THREE_OF_A_KIND)
STRAIGHT = int(Category.STRAIGHT)
FULL_HOUSE = int(Category.FULL_HOUSE)
FOUR = int(Category.FOUR_OF_A_KIND)
# Four cards that one more can complete; behind the ten categories.
INSIDE_STRAIGHT, OPEN_STRAIGHT, FOUR_FLUSH = range(len(Category), len(Category) + 3)
KINDS = len(Category) + 3
"""A holding is a `Category`, or one of the three draws above."""

# What depends on equal ranks alone is looked up by the pattern that `alike` gives and the slots
# kept, as bits: the sets that they hold, and the cards kept of each slot's rank (0 if it is not).
_SETS_OF = {(2,): PAIR, (2, 2): TWO_PAIR, (3,): THREE, (3, 2): FULL_HOUSE, (4,): FOUR}
_SETS = np.full((1 << (MAX_HAND - 1), 1 << MAX_HAND), NOTHING, np.int8)
COUNTS = np.zeros((1 << (MAX_HAND - 1), 1 << MAX_HAND, MAX_HAND), np.int8)
for _pattern in range(1 << (MAX_HAND - 1)):
    _steps = [1 - (_pattern >> _slot & 1) for _slot in range(MAX_HAND - 1)]
    _ranks = np.cumsum([0, *_steps]).tolist()
    for _slots in range(1 << MAX_HAND):
        _kept = [_slot for _slot in range(MAX_HAND) if _slots >> _slot & 1]
        _often = Counter(_ranks[_slot] for _slot in _kept)
        _sets = tuple(sorted((_n for _n in _often.values() if _n > 1), reverse=True))
        _SETS[_pattern, _slots] = _SETS_OF.get(_sets, NOTHING)
        for _slot in _kept:
            COUNTS[_pattern, _slots, _slot] = _often[_ranks[_slot]]


def _straight_draws() -> npt.NDArray[np.int8]:
    """The straight that a set of four ranks (bit r is rank r) can become, int8 (2**13,)."""
    draws = np.full(1 << RANKS, NOTHING, np.int8)
    # The ace counts at both ends; windows of five ranks that hold all four are ways to fill up.
    windows = [
        {(low + step) % RANKS for step in range(5)} for low in (RANKS - 1, *range(RANKS - 4))
    ]
    for ranks in combinations(range(RANKS), 4):
        ways = sum(window.issuperset(ranks) for window in windows)
        kind = (NOTHING, INSIDE_STRAIGHT, OPEN_STRAIGHT)[ways]
        draws[sum(1 << rank for rank in ranks)] = kind
    return draws


_STRAIGHT_DRAWS = _straight_draws()


@compiled
def alike(ranks: Integers, size: int) -> int:
    """The slots whose card is of the same rank as the next one, as bits."""
    pattern = 0
    for slot in range(size - 1):
        if ranks[slot] == ranks[slot + 1]:
            pattern |= 1 << slot
    return pattern


@compiled
def holding(ranks: Integers, suits: Integers, slots: int, size: int) -> int:
    """What the cards in `slots` are: their category, or a draw to a straight or flush.

    Args:
        ranks: int64 (5,), rank of each slot; equal ones stand together, as in every hand.
        suits: int64 (5,), suit of each slot.
        slots: the cards that are kept, as bits.
        size: cards in a full hand; fewer than five know only sets.
    """
    return int(holdings(ranks, suits, size)[slots])


@compiled
def holdings(ranks: Integers, suits: Integers, size: int) -> npt.NDArray[np.int8]:
    """The `holding` of every set of slots, int8 (32,)."""
    kinds: npt.NDArray[np.int8] = _SETS[alike(ranks, size)].copy()
    if size == 5:
        whole = 0b11111
        if kinds[whole] == NOTHING:
            kinds[whole] = _whole_hand(ranks, suits)
        for slot in range(5):
            four = whole ^ (1 << slot)
            if kinds[four] == NOTHING:
                kinds[four] = _four_to_a_hand(ranks, suits, four)
    return kinds


@compiled
def _whole_hand(ranks: Integers, suits: Integers) -> int:
    cards = np.empty(5, np.int8)
    for slot in range(5):
        cards[slot] = 4 * ranks[slot] + suits[slot]
    return int(hand_value(cards, 5, True) >> CATEGORY_SHIFT)


@compiled
def _four_to_a_hand(ranks: Integers, suits: Integers, slots: int) -> int:
    """The best draw that four cards of different ranks hold."""
    held_ranks = 0
    held_suits = 0
    for slot in range(5):
        if (slots >> slot) & 1:
            held_ranks |= 1 << ranks[slot]
            held_suits |= 1 << suits[slot]
    if held_suits & (held_suits - 1) == 0:
        return FOUR_FLUSH
    return int(_STRAIGHT_DRAWS[held_ranks])
