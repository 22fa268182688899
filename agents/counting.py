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

_EQUAL = 1e-6
"""A difference in worth that is none, being due to rounding."""


@compiled
def best_play(reading: Reading, mask: Mask, worth: Floats) -> int:
    """The lead, or the cards to follow with, of greatest expected worth.

    Of equal leads the larger one is taken: it tells the opponent less before he has to answer.

    Args:
        reading: a position in which the player leads or follows.
        mask: int8 (A,), the legal actions.
        worth: float64 (6,), what it is worth to end the deal with so many cards taken.
    """
    unknown = count_bits(reading["held"])
    if reading["phase"] == FOLLOW:
        unknown -= reading["lead_size"]
    pool = opponent_pool(reading, unknown)
    lacks = chances_of_lack(reading, pool, unknown)
    leading, waiting = _values(reading, pool, unknown, lacks, worth)
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
def chances_of_lack(reading: Reading, pool: Integers, unknown: int) -> Floats:
    """`[k, r]`: the chance that the opponent has no k cards of one rank, at rank r or above.

    A lead of k cards of rank r stands with the chance `[k, r + 1]`.

    Returns:
        float64 (5, 14); row 0 is not used.
    """
    lacks = np.ones((MAX_HAND, RANKS + 1))
    for count in range(1, MAX_HAND):
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
    for rank in range(RANKS - 1, -1, -1):
        below -= pool[rank]
        for held in range(unknown, -1, -1):
            ways = 0.0
            for some in range(min(count - 1, pool[rank], held) + 1):
                ways += above[held - some] * _WAYS[pool[rank], some]
            above[held] = ways
        ways = 0.0
        for held in range(unknown + 1):
            ways += above[held] * _WAYS[below, unknown - held]
        lack[rank] = ways / total


@compiled
def _values(
    reading: Reading, pool: Integers, unknown: int, lacks: Floats, worth: Floats
) -> tuple[Floats, Floats]:
    """Expected worth, on lead and waiting for the opponent's, float64 (32, 6) each.

    The first index is the set of slots left, the second the number of cards taken.
    """
    slots = 1 << MAX_HAND
    leading = np.zeros((slots, MAX_HAND + 1))
    waiting = np.zeros((slots, MAX_HAND + 1))
    thrown = np.zeros((slots, MAX_HAND + 1))  # waiting, after one card more is thrown off
    leading[0] = worth
    waiting[0] = worth
    highest = np.zeros((2, RANKS + 1))  # chance that he leads a card, a pair, below a rank
    no_pair = lacks[2, 0]
    for rank in range(RANKS + 1):
        if no_pair < 1:
            highest[1, rank] = (lacks[2, rank] - no_pair) / (1 - no_pair)
    total = pool.sum()
    for left in range(1, 1 << reading["size"]):
        cards = count_bits(left)
        if left & ~reading["held"] or left == reading["held"] or cards > unknown:
            continue  # not what can be left after this trick
        below = 0
        for rank in range(RANKS):
            highest[0, rank] = _WAYS[below, cards] / _WAYS[total, cards]
            below += pool[rank]
        for taken in range(reading["taken"][0], reading["size"] - cards + 1):
            leading[left, taken] = _lead_value(reading, left, taken, lacks, leading, waiting)
            throw = _throw_value(left, taken, waiting)
            thrown[left, taken] = throw
            value = _follow_value(reading, left, taken, 1, throw, highest[0], leading)
            if cards >= 2:
                throw = _throw_value(left, taken, thrown)
                pair = _follow_value(reading, left, taken, 2, throw, highest[1], leading)
                value = no_pair * value + (1 - no_pair) * pair
            waiting[left, taken] = value
    return leading, waiting


@compiled
def _lead_value(
    reading: Reading, left: int, taken: int, lacks: Floats, leading: Floats, waiting: Floats
) -> float:
    """The worth of the best lead from the slots `left`."""
    best = -np.inf
    for slot in range(reading["size"]):
        lead = 0
        count = 0
        for other in range(slot, reading["size"]):
            same = reading["ranks"][other] == reading["ranks"][slot]
            if (left >> slot) & 1 and (left >> other) & 1 and same:
                lead |= 1 << other
                count += 1
                rest = left & ~lead
                stands = lacks[count, reading["ranks"][slot] + 1]
                value = stands * leading[rest, taken + count] + (1 - stands) * waiting[rest, taken]
                best = max(best, value)
    return best


@compiled
def _throw_value(left: int, taken: int, after: Floats) -> float:
    """The worth of throwing off the best card for it, by the worth `after` it."""
    best = -np.inf
    for slot in range(MAX_HAND):
        if (left >> slot) & 1:
            best = max(best, after[left & ~(1 << slot), taken])
    return best


@compiled
def _follow_value(
    reading: Reading,
    left: int,
    taken: int,
    count: int,
    throw: float,
    highest: Floats,
    leading: Floats,
) -> float:
    """The worth of following a lead of one or two cards.

    Leads are grouped by the own sets that beat them: going down the own ranks, those below the
    last set are beaten by it, or by the best one before.

    Args:
        reading: for the ranks of the slots.
        left: slots left.
        taken: cards taken.
        count: cards led.
        throw: the worth of throwing off.
        highest: float64 (14,), the chance that the lead is below each rank.
        leading: the worth of having won with a set.
    """
    value = 0.0
    above = 1.0
    best = throw
    beaten = False
    for slot in range(reading["size"] - 1, count - 2, -1):
        chosen = (1 << slot) | (1 << (slot - count + 1))
        rank = reading["ranks"][slot]
        if left & chosen != chosen or reading["ranks"][slot - count + 1] != rank:
            continue
        value += (above - highest[rank]) * best
        above = highest[rank]
        win = leading[left & ~chosen, taken + count]
        best = max(best, win) if beaten else win
        beaten = True
    return value + above * best
