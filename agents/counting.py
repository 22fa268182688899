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

from agents.poke_reading import FOLLOW, LEAD, Reading, set_rank
from agents.reading import RANKS, Floats, Integers, Mask, count_bits
from poke_env._jit import compiled
from poke_env.games.poke import MAX_HAND

_WAYS = np.zeros((52 + 1, MAX_HAND + 1))
"""`_WAYS[n, k]`: ways to choose k cards of n."""
_WAYS[:, 0] = 1.0
for _n in range(1, 53):
    _WAYS[_n, 1:] = _WAYS[_n - 1, 1:] + _WAYS[_n - 1, :-1]

OUTLOOK = np.dtype(
    [
        # By slot: the slots after it whose cards are of its rank, as bits.
        ("alike", np.int64, (MAX_HAND,)),
        # Chances. [k, slot]: that a lead of k cards of the slot's rank stands; that k cards of the
        # opponent are all below it. [slot]: that his highest pair, if he has one, is below it.
        ("stands", np.float64, (MAX_HAND, MAX_HAND)),
        ("cards_below", np.float64, (MAX_HAND, MAX_HAND)),
        ("pair_below", np.float64, (MAX_HAND,)),
        # Expected worth [left, taken] with the slots `left` after this trick or a later one: on
        # lead; waiting for the opponent's lead; waiting, after one card more is thrown off.
        ("leading", np.float64, (1 << MAX_HAND, MAX_HAND + 1)),
        ("waiting", np.float64, (1 << MAX_HAND, MAX_HAND + 1)),
        ("thrown", np.float64, (1 << MAX_HAND, MAX_HAND + 1)),
    ]
)
"""What is worked out about one position; one record, since compiled calls pass it at no cost."""

Outlook = np.void
"""A record of dtype `OUTLOOK`."""

_SLOTS = np.zeros((1 << MAX_HAND, MAX_HAND), np.int64)
"""`_SLOTS[left]`: the slots of a set, ascending."""
for _left in range(1 << MAX_HAND):
    _found = [_slot for _slot in range(MAX_HAND) if _left >> _slot & 1]
    _SLOTS[_left, : len(_found)] = _found

_EQUAL = 1e-6
"""A difference in worth that is none, being due to rounding."""


@compiled
def best_play(reading: Reading, mask: Mask, worth: Floats, outlook: Outlook) -> int:
    """The lead, or the cards to follow with, of greatest expected worth.

    Of equal leads the larger one is taken: it tells the opponent less before he has to answer.

    Args:
        reading: a position in which the player leads or follows.
        mask: int8 (A,), the legal actions.
        worth: float64 (6,), what it is worth to end the deal with so many cards taken.
        outlook: record of dtype `OUTLOOK`, overwritten.
    """
    unknown = count_bits(reading["held"])
    if reading["phase"] == FOLLOW:
        unknown -= reading["lead_size"]
    pool = opponent_pool(reading, unknown)
    lacks = chances_of_lack(reading, pool, unknown, _find_sets(reading, outlook))
    _place_chances(reading, pool, unknown, lacks, outlook)
    _evaluate(reading, unknown, lacks[2, 0], worth, outlook)
    leading, waiting = outlook["leading"], outlook["waiting"]
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
def _find_sets(reading: Reading, outlook: Outlook) -> int:
    """Write `alike`; returns the most cards of one rank in the hand."""
    alike, ranks, held = outlook["alike"], reading["ranks"], reading["held"]
    most = 1
    for slot in range(reading["size"]):
        alike[slot] = 0
        for other in range(slot + 1, reading["size"]):
            if ranks[slot] == ranks[other]:
                alike[slot] |= 1 << other
        if (held >> slot) & 1:
            most = max(most, 1 + count_bits(alike[slot] & held))
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
def _place_chances(
    reading: Reading, pool: Integers, unknown: int, lacks: Floats, outlook: Outlook
) -> None:
    """Write the chances that belong to the slots' ranks."""
    no_pair = lacks[2, 0]
    total = pool.sum()
    below = 0
    passed = 0
    for slot in range(reading["size"]):
        rank = reading["ranks"][slot]
        while passed < rank:
            below += pool[passed]
            passed += 1
        for count in range(1, min(unknown + 1, MAX_HAND)):
            outlook["stands"][count, slot] = lacks[count, rank + 1]
            outlook["cards_below"][count, slot] = _WAYS[below, count] / _WAYS[total, count]
        outlook["pair_below"][slot] = 0.0
        if no_pair < 1:
            outlook["pair_below"][slot] = (lacks[2, rank] - no_pair) / (1 - no_pair)


@compiled
def _evaluate(
    reading: Reading, unknown: int, no_pair: float, worth: Floats, outlook: Outlook
) -> None:
    """Write the expected worth of what can be left after this trick.

    Who leads has taken cards since, and who waits has left some to the opponent: no other numbers
    of cards taken are looked at.
    """
    leading, waiting, thrown = outlook["leading"], outlook["waiting"], outlook["thrown"]
    leading[0] = worth
    waiting[0] = worth
    held, low = reading["held"], reading["taken"][0]
    left = held & -held
    while left != held:
        cards = count_bits(left)
        if cards <= unknown:
            for taken in range(low, low + count_bits(held) - cards):
                leading[left, taken + 1] = _lead_value(outlook, left, cards, taken + 1)
                thrown[left, taken] = _throw_value(waiting, left, cards, taken)
                value = _follow_card_value(outlook, left, cards, taken)
                if cards >= 2:
                    pair = _follow_pair_value(outlook, left, cards, taken)
                    value = no_pair * value + (1 - no_pair) * pair
                waiting[left, taken] = value
        left = (left - held) & held  # the next set of slots still held


@compiled
def _lead_value(outlook: Outlook, left: int, cards: int, taken: int) -> float:
    """The worth of the best lead from the `cards` slots `left`."""
    leading, waiting, stands = outlook["leading"], outlook["waiting"], outlook["stands"]
    best = -np.inf
    for i in range(cards):
        slot = _SLOTS[left, i]
        rest = left & ~(1 << slot)
        chance = stands[1, slot]
        value = chance * leading[rest, taken + 1] + (1 - chance) * waiting[rest, taken]
        best = max(best, value)
        others = outlook["alike"][slot] & left
        count = 1
        while others:
            rest &= ~(others & -others)
            others &= others - 1
            count += 1
            chance = stands[count, slot]
            value = chance * leading[rest, taken + count] + (1 - chance) * waiting[rest, taken]
            best = max(best, value)
    return best


@compiled
def _throw_value(after: Floats, left: int, cards: int, taken: int) -> float:
    """The worth of throwing off the best card for it, by the worth `after` it."""
    best = -np.inf
    for i in range(cards):
        best = max(best, after[left & ~(1 << _SLOTS[left, i]), taken])
    return best


@compiled
def _follow_card_value(outlook: Outlook, left: int, cards: int, taken: int) -> float:
    """The worth of following a lead of one card.

    Leads are grouped by the own cards that beat them: going down the own ranks, those below the
    last card are beaten by it, or by the best one before.
    """
    below = outlook["cards_below"]
    value = 0.0
    above = 1.0
    best = outlook["thrown"][left, taken]
    for i in range(cards - 1, -1, -1):
        slot = _SLOTS[left, i]
        value += (above - below[cards, slot]) * best
        above = below[cards, slot]
        win = outlook["leading"][left & ~(1 << slot), taken + 1]
        best = win if i == cards - 1 else max(best, win)
    return float(value + above * best)


@compiled
def _follow_pair_value(outlook: Outlook, left: int, cards: int, taken: int) -> float:
    """The worth of following a lead of two cards, as `_follow_card_value` for one."""
    below = outlook["pair_below"]
    value = 0.0
    above = 1.0
    best = _throw_value(outlook["thrown"], left, cards, taken)
    beaten = False
    for i in range(cards - 1, 0, -1):
        slot, other = _SLOTS[left, i], _SLOTS[left, i - 1]
        if other == slot - 1 and (outlook["alike"][other] >> slot) & 1:
            value += (above - below[slot]) * best
            above = below[slot]
            win = outlook["leading"][left & ~(1 << slot) & ~(1 << other), taken + 2]
            best = max(best, win) if beaten else win
            beaten = True
    return float(value + above * best)
