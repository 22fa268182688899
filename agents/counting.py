"""Trick play by counting: what a lead is likely to meet, and what the rest of the hand is worth.

The opponent's hand is taken for a random part of the cards that he can still hold: those not seen,
less what he proved not to have when he threw off. Chances are exact counts over these cards. What
comes after the trick at hand is valued by a small dynamic programme over the own cards left, in
which the opponent

- beats a lead when he can, keeping his best cards otherwise (so his chance to beat is that of all
  the cards he holds now, however few will be left), and
- leads his highest pair if he has one, else his highest card.

He is so taken for a good player. The programme knows nothing of suits and poker hands, which do
not matter any more.
"""

from __future__ import annotations

import numpy as np

from agents.reading import (
    FOLLOW,
    LEAD,
    RANKS,
    Floats,
    Integers,
    Mask,
    Reading,
    count_bits,
    set_rank,
)
from poke_env._jit import compiled
from poke_env.games.poke import MAX_HAND

_WAYS = np.zeros((52 + 1, MAX_HAND + 1))
"""`_WAYS[n, k]`: ways to choose k cards of n."""
_WAYS[:, 0] = 1.0
for _n in range(1, 53):
    _WAYS[_n, 1:] = _WAYS[_n - 1, 1:] + _WAYS[_n - 1, :-1]

VALUES = (3, 1 << MAX_HAND, MAX_HAND + 1)
"""Shape of the workspace, float64, that `best_play` asks for."""

_SLOTS = np.zeros((1 << MAX_HAND, MAX_HAND), np.int64)
"""`_SLOTS[left]`: the slots of a set, ascending."""
for _left in range(1 << MAX_HAND):
    _found = [_slot for _slot in range(MAX_HAND) if _left >> _slot & 1]
    _SLOTS[_left, : len(_found)] = _found

_EQUAL = 1e-6
"""A difference in worth that is none, being due to rounding."""


@compiled
def best_play(reading: Reading, mask: Mask, worth: Floats, values: Floats) -> int:
    """The lead, or the cards to follow with, of greatest expected worth.

    Of equal leads the larger one is taken: it tells the opponent less before he has to answer.

    Args:
        reading: a position in which the player leads or follows.
        mask: int8 (A,), the legal actions.
        worth: float64 (6,), what it is worth to end the deal with so many cards taken.
        values: float64 of shape `VALUES`, overwritten.
    """
    unknown = count_bits(reading["held"])
    if reading["phase"] == FOLLOW:
        unknown -= reading["lead_size"]
    pool = opponent_pool(reading, unknown)
    alike = _alike(reading)
    lacks = chances_of_lack(reading, pool, unknown, _largest_set(reading, alike))
    _evaluate(reading, alike, pool, unknown, lacks, worth, values)
    leading, waiting = values[0], values[1]
    taken = reading["taken"][0]
    best = 0
    best_value = -np.inf
    for action in range(1, mask.shape[0]):
        if mask[action]:
            rest = reading["held"] & ~action
            count = count_bits(action)
            rank = set_rank(reading, action)
            if reading["phase"] == LEAD:
                stands = lacks[count, rank + 1]
                value = stands * leading[rest, taken + count] + (1 - stands) * waiting[rest, taken]
            elif rank > reading["lead_rank"]:
                value = leading[rest, taken + count]
            else:
                value = waiting[rest, taken]
            margin = _EQUAL if count <= count_bits(best) else -_EQUAL
            if value > best_value + margin:
                best = action
                best_value = value
    return best


@compiled
def opponent_pool(reading: Reading, unknown: int) -> Integers:
    """The cards that the opponent can hold, int64 (13,) by rank; he holds `unknown` of them.

    Who threw off to a single card holds nothing higher, since the rules make him beat what he can.
    An observation does not tell the rules. Where they leave him free (`must_beat=False`) the
    inference is a guess, and given up if it leaves too few cards.
    """
    pool = np.zeros(RANKS, np.int64)
    for rank in range(min(reading["no_higher"][1] + 1, RANKS)):
        pool[rank] = reading["unseen"][rank]
    if pool.sum() < unknown:
        pool[:] = reading["unseen"]
    return pool


@compiled
def _alike(reading: Reading) -> Integers:
    """For each slot the slots after it whose cards are of its rank, as bits, int64 (5,)."""
    alike = np.zeros(MAX_HAND, np.int64)
    for slot in range(reading["size"]):
        for other in range(slot + 1, reading["size"]):
            if reading["ranks"][slot] == reading["ranks"][other]:
                alike[slot] |= 1 << other
    return alike


@compiled
def _largest_set(reading: Reading, alike: Integers) -> int:
    """Most cards of one rank in the hand."""
    most = 0
    for slot in range(reading["size"]):
        if (reading["held"] >> slot) & 1:
            most = max(most, 1 + count_bits(alike[slot] & reading["held"]))
    return most


@compiled
def chances_of_lack(reading: Reading, pool: Integers, unknown: int, most: int) -> Floats:
    """`[k, r]`: the chance that the opponent has no k cards of one rank, at rank r or above.

    A lead of k cards of rank r stands with the chance `[k, r + 1]`.

    Args:
        reading: for what he proved not to have.
        pool: int64 (13,), the cards that he can hold.
        unknown: cards that he holds.
        most: the largest k that is asked for; 2 is counted in any case.

    Returns:
        float64 (5, 14); rows that are not asked for mean nothing.
    """
    lacks = np.ones((MAX_HAND, RANKS + 1))
    for count in range(1, min(max(most, 2), unknown) + 1):
        _count_lack(pool, unknown, count, lacks[count])
        # He threw off to so many cards of rank `limit`: what is known has no chance but one.
        limit = reading["no_higher"][count]
        if limit < RANKS:
            known = lacks[count, limit + 1]
            for rank in range(RANKS + 1):
                lacks[count, rank] = min(1.0, lacks[count, rank] / known) if known > 0 else 1.0
    return lacks


@compiled
def _count_lack(pool: Integers, unknown: int, count: int, lack: Floats) -> None:
    """Write row `count` of `chances_of_lack`, float64 (14,), for a random part of the pool.

    Going down the ranks, `above[j]` counts the ways to hold j cards of the ranks passed, fewer
    than `count` of each; all other cards come from the ranks below.
    """
    below = pool.sum()
    total = _WAYS[below, unknown]
    above = np.zeros(MAX_HAND + 1)
    above[0] = 1.0
    most = 0  # the largest j
    for rank in range(RANKS - 1, -1, -1):
        few = min(count - 1, pool[rank])
        below -= pool[rank]
        most = min(most + few, unknown)
        for held in range(most, 0, -1):
            for some in range(1, min(few, held) + 1):
                above[held] += above[held - some] * _WAYS[pool[rank], some]
        ways = 0.0
        for held in range(most + 1):
            ways += above[held] * _WAYS[below, unknown - held]
        lack[rank] = ways / total


@compiled
def _evaluate(
    reading: Reading,
    alike: Integers,
    pool: Integers,
    unknown: int,
    lacks: Floats,
    worth: Floats,
    values: Floats,
) -> None:
    """Write the expected worth, on lead and waiting for the opponent's, into `values`.

    The first index says which: 0 leads, 1 waits, 2 waits after one card more is thrown off. The
    second is the set of slots left after this trick or a later one, the third the number of cards
    taken; who leads has taken some since, who waits has left some to the opponent.
    """
    leading, waiting, thrown = values[0], values[1], values[2]
    held, size = reading["held"], reading["size"]
    leading[0] = worth
    waiting[0] = worth
    no_pair = lacks[2, 0]
    stands = np.empty(
        (MAX_HAND, MAX_HAND)
    )  # chance that a lead of so many cards from a slot stands
    fewer = np.empty((MAX_HAND, MAX_HAND))  # chance that so many cards are all below a slot's rank
    lower_pair = np.zeros(MAX_HAND)  # chance that his highest pair, if any, is below a slot's rank
    total = pool.sum()
    below = 0
    passed = 0
    for slot in range(size):
        rank = reading["ranks"][slot]
        while passed < rank:
            below += pool[passed]
            passed += 1
        for count in range(1, MAX_HAND):
            stands[count, slot] = lacks[count, rank + 1]
            if count <= unknown:
                fewer[count, slot] = _WAYS[below, count] / _WAYS[total, count]
        if no_pair < 1:
            lower_pair[slot] = (lacks[2, rank] - no_pair) / (1 - no_pair)
    low = reading["taken"][0]
    left = held & -held
    while left != held:
        cards = count_bits(left)
        if cards <= unknown:
            for taken in range(low, low + count_bits(held) - cards):
                leading[left, taken + 1] = _lead_value(
                    left, cards, taken + 1, alike, stands, leading, waiting
                )
                throw = _throw_value(left, cards, taken, waiting)
                thrown[left, taken] = throw
                value = _follow_value(left, cards, taken, throw, fewer[cards], leading)
                if cards >= 2:
                    throw = _throw_value(left, cards, taken, thrown)
                    pair = _follow_pair_value(left, cards, taken, throw, alike, lower_pair, leading)
                    value = no_pair * value + (1 - no_pair) * pair
                waiting[left, taken] = value
        left = (left - held) & held  # the next set of slots still held


@compiled
def _lead_value(
    left: int,
    cards: int,
    taken: int,
    alike: Integers,
    stands: Floats,
    leading: Floats,
    waiting: Floats,
) -> float:
    """The worth of the best lead from the slots `left`."""
    best = -np.inf
    for i in range(cards):
        slot = _SLOTS[left, i]
        rest = left & ~(1 << slot)
        stand = stands[1, slot]
        value = stand * leading[rest, taken + 1] + (1 - stand) * waiting[rest, taken]
        best = max(best, value)
        others = alike[slot] & left
        count = 1
        while others:
            rest &= ~(others & -others)
            others &= others - 1
            count += 1
            stand = stands[count, slot]
            value = stand * leading[rest, taken + count] + (1 - stand) * waiting[rest, taken]
            best = max(best, value)
    return best


@compiled
def _throw_value(left: int, cards: int, taken: int, after: Floats) -> float:
    """The worth of throwing off the best card for it, by the worth `after` it."""
    best = -np.inf
    for i in range(cards):
        best = max(best, after[left & ~(1 << _SLOTS[left, i]), taken])
    return best


@compiled
def _follow_value(
    left: int, cards: int, taken: int, throw: float, highest: Floats, leading: Floats
) -> float:
    """The worth of following a lead of one card.

    Leads are grouped by the own cards that beat them: going down the own ranks, those below the
    last card are beaten by it, or by the best one before.

    Args:
        left: slots left.
        cards: their number.
        taken: cards taken.
        throw: the worth of throwing off.
        highest: float64 (5,), the chance that the lead is below the rank of each slot.
        leading: the worth of having won.
    """
    value = 0.0
    above = 1.0
    best = throw
    for i in range(cards - 1, -1, -1):
        slot = _SLOTS[left, i]
        value += (above - highest[slot]) * best
        above = highest[slot]
        win = leading[left & ~(1 << slot), taken + 1]
        best = win if i == cards - 1 else max(best, win)
    return value + above * best


@compiled
def _follow_pair_value(
    left: int,
    cards: int,
    taken: int,
    throw: float,
    alike: Integers,
    highest: Floats,
    leading: Floats,
) -> float:
    """The worth of following a lead of two cards, as `_follow_value` for one."""
    value = 0.0
    above = 1.0
    best = throw
    beaten = False
    for i in range(cards - 1, 0, -1):
        slot, other = _SLOTS[left, i], _SLOTS[left, i - 1]
        if other == slot - 1 and (alike[other] >> slot) & 1:
            value += (above - highest[slot]) * best
            above = highest[slot]
            win = leading[left & ~(1 << slot) & ~(1 << other), taken + 2]
            best = max(best, win) if beaten else win
            beaten = True
    return value + above * best
