"""The auctions of Poque: how good a combination is, and what a bet with it brings.

How likely an opponent holds each combination is counted exactly, over all hands that he may have
from the cards not seen. What he said narrows that down: who has staked chips is supposed to hold
what makes their share of the pool worth while, and to pay on only by the same rule. Nobody is taken
at his word altogether: a part of all bets is supposed to be made with any combination.

Opponents are judged one by one, as if their hands had nothing to do with one another, and an
auction is not thought through beyond the answers to the own bet.
"""

from __future__ import annotations

from math import comb

import numpy as np

from agents.poque_reading import LEVELS, POQUE_BET, ROUNDING, Reading, level_of
from agents.reading import RANKS, SUITS, Floats, Mask, count_bits
from poke_env import streams
from poke_env._jit import compiled
from poke_env.cards import NUM_CARDS
from poke_env.games.poque import (
    EQUAL,
    LEAST_SEQUENCE,
    LEAST_SET,
    MAX_HAND,
    MAX_RAISE,
    PASS,
    RAISE,
)

_LOOSE = 0.2
"""Part of those who would have to pass by the odds, and stay. Chosen by hand between a few values
that were tried in deals of four: less wins somewhat more from players of this kind and more wins
somewhat more from such as call with anything."""

_RAISER = 0.65
"""Chance to beat those in the auction with which one is supposed to raise, chosen likewise."""

_WAYS = np.array(
    [[comb(n, k) for k in range(MAX_HAND + 1)] for n in range(NUM_CARDS + 1)], np.float64
)
"""[n, k]: ways to choose k of n cards."""


@compiled
def chances(reading: Reading, seat: int, at_most: Floats) -> None:
    """How likely an opponent's combination for the auction going on is no higher than each level.

    Args:
        reading: a position in an auction.
        seat: of the opponent.
        at_most: float64 (LEVELS,), overwritten.
    """
    known = reading["shown"][seat]
    size = reading["cards_left"][seat] - count_bits(known)
    unseen = reading["unseen"]
    if reading["phase"] == POQUE_BET:
        _count_sets(unseen, size, at_most)
    else:
        _count_sequences(unseen, known, size, at_most)
    every = max(_WAYS[count_bits(unseen), size], 1.0)
    for level in range(LEVELS):
        at_most[level] /= every


@compiled
def _count_sets(unseen: int, size: int, at_most: Floats) -> None:
    """Hands of so many unseen cards without a higher set: cards of a rank are limited by level."""
    counts = np.zeros(RANKS, np.int64)
    for rank in range(RANKS):
        counts[rank] = count_bits((unseen >> (SUITS * rank)) & 0b1111)
    for level in range(LEVELS):
        number = LEAST_SET + (level - 1) // RANKS
        highest = (level - 1) % RANKS
        # [n]: hands of n cards of the ranks gone through.
        hands = np.zeros(MAX_HAND + 1)
        hands[0] = 1.0
        for rank in range(RANKS):
            most = min(number if rank <= highest else number - 1, counts[rank])
            for n in range(size, 0, -1):
                for taken in range(1, min(most, n) + 1):
                    hands[n] += hands[n - taken] * _WAYS[counts[rank], taken]
        at_most[level] = hands[size]


@compiled
def _count_sequences(unseen: int, known: int, size: int, at_most: Floats) -> None:
    """Hands of known and so many unseen cards without a higher sequence; no hand holds two."""
    at_most[:] = 0.0
    possible = unseen | known
    total = count_bits(unseen)
    for suit in range(SUITS):
        for bottom in range(RANKS - LEAST_SEQUENCE + 1):
            low = SUITS * bottom + suit
            run = np.int64(0)
            for number in range(1, min(MAX_HAND, RANKS - bottom) + 1):
                card = low + SUITS * (number - 1)
                run |= np.int64(1) << card
                # The cards next to the sequence are not in the hand.
                beside = np.int64(0)
                if bottom + number < RANKS:
                    beside |= np.int64(1) << (card + SUITS)
                if bottom > 0:
                    beside |= np.int64(1) << (low - SUITS)
                needed = count_bits(int(run & unseen))
                whole = run & ~possible == 0 and beside & known == 0
                if number >= LEAST_SEQUENCE and whole and needed <= size:
                    others = total - needed - count_bits(int(beside & unseen))
                    level = level_of(number, LEAST_SEQUENCE, bottom + number - 1)
                    at_most[level] += _WAYS[others, size - needed]
    at_most[0] = _WAYS[total, size] - at_most[1:].sum()
    for level in range(1, LEVELS):
        at_most[level] += at_most[level - 1]


@compiled
def cannot_be_beaten(reading: Reading, at_most: Floats) -> bool:
    """Whether no opponent still in the auction can hold a better combination.

    Args:
        reading: a position in an auction.
        at_most: float64 (LEVELS,), overwritten.
    """
    for seat in range(1, reading["players"]):
        if reading["stays"][seat]:
            chances(reading, seat, at_most)
            if at_most[reading["level"]] < 1.0:
                return False
    return True


@compiled
def best_speech(reading: Reading, mask: Mask, high: int, low: int, seats: Floats) -> int:
    """Pass, equal, open or raise: what is expected to bring most, for the fewest chips.

    Args:
        reading: a position in an auction.
        mask: int8 (A,), the legal actions.
        high, low: halves of the decision's key.
        seats: float64 (MAX_PLAYERS, LEVELS), overwritten.
    """
    for seat in range(1, reading["players"]):
        if reading["stays"][seat]:
            chances(reading, seat, seats[seat])
    if reading["level"] == 0:
        return _bluff(reading, mask, high, low, seats)
    best = PASS
    best_value = 0.0
    for more in range(MAX_RAISE + 1):
        action = RAISE + more - 1 if more > 0 else EQUAL
        if mask[action]:
            value = _value(reading, more, seats)
            if value > best_value + ROUNDING:
                best = action
                best_value = value
    return best


@compiled
def _bluff(reading: Reading, mask: Mask, high: int, low: int, seats: Floats) -> int:
    """The highest bet without a combination, or to pass; the least one if nobody else is left.

    A bluff must pay by what the others are expected to do, and is made only so often that nobody
    gains by equalling with nothing himself: he wins half the pool if it was one, and loses the bet
    if it was not. How often it would not be is told by how many hands hold a combination.
    """
    holds = -1.0
    for seat in range(1, reading["players"]):
        if reading["stays"][seat]:
            holds = 1.0 - seats[seat, 0]
    if holds < 0.0:
        return RAISE if mask[RAISE] else PASS
    for more in range(MAX_RAISE, 0, -1):
        if mask[RAISE + more - 1]:
            chips = reading["owed"] + more
            drawn = streams.next_word(streams.key_generator(high, low)) / 2.0**32
            often = drawn * (1.0 - holds) * reading["pot"] / 2.0 < holds * chips
            pays = _value(reading, more, seats) > 0.0
            return RAISE + more - 1 if often and pays else PASS
    return PASS


@compiled
def _value(reading: Reading, more: int, seats: Floats) -> float:
    """Chips that a bet of `more` over the last one is expected to bring, or equalling for 0."""
    chips = reading["owed"] + more
    reached = reading["staked"][0] + chips
    pot = reading["pot"] + chips
    wins = 1.0
    follows = 0.0  # what is put in by others, if the player wins
    for seat in range(1, reading["players"]):
        if reading["stays"][seat]:
            price = reached - reading["staked"][seat]
            stays, beats = _answer(reading, seat, price, pot, seats[seat])
            wins *= 1.0 - beats
            if beats < 1.0:
                follows += price * (stays - beats) / (1.0 - beats)
    return float(wins * (pot + follows) - chips)


@compiled
def _answer(
    reading: Reading, seat: int, price: int, pot: int, at_most: Floats
) -> tuple[float, float]:
    """How likely an opponent stays at a price, and how likely he stays and wins.

    Level ones count half.
    """
    level = reading["level"]
    staked = reading["staked"][seat]
    rivals = 1
    for other in range(1, reading["players"]):
        rivals += other != seat and reading["stays"][other] and reading["staked"][other] > 0
    before = _least_level(at_most, staked / pot, rivals)
    if reading["raises"][seat] > 0:
        before = max(before, _least_level(at_most, _RAISER, rivals))
    now = _least_level(at_most, price / (pot + price), rivals)
    every = 0.0 if staked > 0 else at_most[0]
    stays = 0.0
    beats = 0.0
    for held in range(1, LEVELS):
        weight = at_most[held] - at_most[held - 1]
        if staked > 0 and held < before:
            weight *= _LOOSE
        every += weight
        if price > 0 and held < now:
            weight *= _LOOSE
        stays += weight
        if held > level:
            beats += weight
        elif held == level:
            beats += weight / 2
    if level == 0:
        beats = stays
    return (stays / every, beats / every) if every > 0 else (0.0, 0.0)


@compiled
def _least_level(at_most: Floats, share: float, rivals: int) -> int:
    """The lowest combination that beats so many other holders of one with at least this chance."""
    holders = 1.0 - at_most[0]
    for level in range(1, LEVELS):
        below = (at_most[level] + at_most[level - 1]) / 2 - at_most[0]
        if holders > 0 and below > 0 and (below / holders) ** rivals >= share - ROUNDING:
            return level
    return LEVELS
