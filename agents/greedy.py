"""A simple player: the best poker holding now, and every trick as cheaply as it can be had."""

from __future__ import annotations

import numpy as np

from agents.holdings import (
    FOUR_FLUSH,
    INSIDE_STRAIGHT,
    KINDS,
    NOTHING,
    OPEN_STRAIGHT,
    PAIR,
    STRAIGHT,
    THREE,
    TWO_PAIR,
    holdings,
)
from agents.poke_reading import DRAW, LEAD, READING, PokeAgent, Reading, read, set_rank
from agents.reading import Integers, Mask, count_bits, only_action
from poke_env._jit import compiled
from poke_env.agent import Masks, Observations

# How much a holding that is not yet a straight is wanted.
_PREFERENCE = np.zeros(KINDS, np.int64)
for _place, _kind in enumerate(
    (NOTHING, INSIDE_STRAIGHT, OPEN_STRAIGHT, FOUR_FLUSH, PAIR, TWO_PAIR, THREE)
):
    _PREFERENCE[_kind] = _place


class GreedyAgent(PokeAgent):
    """Looks no further than the hand and the trick before it; whatever a double costs.

    Draws: stands pat on a straight or better; otherwise keeps its best holding (sets before
    four-card draws, else its highest cards), changes all other cards it may, and uses every draw.
    Leads: its largest set, the highest among equals. Follows: with the lowest set that wins,
    otherwise with its lowest cards. No choice is left to chance.
    """

    sees_score = False

    def choose(self, observations: Observations, masks: Masks, keys: Integers) -> Integers:
        """See `KeyedAgent.choose`."""
        return _choose(observations, masks)


@compiled
def _choose(observations: Observations, masks: Masks) -> Integers:
    chosen = np.empty(masks.shape[0], np.int64)
    readings = np.zeros(1, READING)  # used below: a compiled record does not keep its array
    for i in range(masks.shape[0]):
        chosen[i] = only_action(masks[i])
        if chosen[i] >= 0:
            continue
        reading = readings[0]
        read(observations[i], masks[i], reading)
        if reading["phase"] == DRAW:
            chosen[i] = _draw(reading, masks[i])
        else:
            chosen[i] = _play(reading, masks[i])
    return chosen


@compiled
def _draw(reading: Reading, mask: Mask) -> int:
    ranks, suits, size = reading["ranks"], reading["suits"], reading["size"]
    kinds = holdings(ranks, suits, size)
    whole = kinds[reading["held"]]
    if STRAIGHT <= whole < INSIDE_STRAIGHT:
        return 0
    best = 0
    best_worth = 1000 * _PREFERENCE[whole]
    for action in range(1, mask.shape[0]):
        if mask[action]:
            kept = reading["held"] & ~action
            worth = 1000 * _PREFERENCE[kinds[kept]]
            worth += 100 * count_bits(action) + _sum_of_ranks(ranks, kept)
            if worth > best_worth:
                best = action
                best_worth = worth
    return best


@compiled
def _play(reading: Reading, mask: Mask) -> int:
    """Lead or follow: the legal action with the least (or, to lead, the greatest) ranks."""
    best = 0
    best_worth = -1_000_000
    for action in range(1, mask.shape[0]):
        if mask[action]:
            total = _sum_of_ranks(reading["ranks"], action)
            if reading["phase"] == LEAD:
                worth = 100 * count_bits(action) + total
            elif set_rank(reading, action) > reading["lead_rank"]:
                worth = 1000 - total
            else:
                worth = -total
            if worth > best_worth:
                best = action
                best_worth = worth
    return best


@compiled
def _sum_of_ranks(ranks: Integers, slots: int) -> int:
    total = np.int64(0)
    for slot in range(ranks.shape[0]):
        if (slots >> slot) & 1:
            total += ranks[slot]
    return int(total)
