"""Players of Poque: one that takes what it can get now, and one that counts and weighs.

`GreedyAgent` bets on whatever it holds and leads the run in which it gets most. It neither
remembers nor expects anything of the others.

`HeuristicAgent` counts how likely its combination is the best, by the cards it sees and by who
bet and who passed (`agents.poque_auction`), and goes through the runs it could begin card by card,
with all that went by and where runs stopped (`agents.poque_run`). What it does not do:

- The rules are not part of an observation: it counts each card left for one chip.
- It expects nothing of the hands that others bet on beyond what they showed.
- It does not plan an auction beyond the answers to its own bet, nor bet less to hide what it holds.
- Chips are worth the same to it at every score.
- It does not hurry to play the ace, king, queen or jack of trumps: whoever still holds one at the
  end takes the same pool (docs/rules.md 3.3).
"""

from __future__ import annotations

import numpy as np

from agents.poque_auction import best_speech, cannot_be_beaten
from agents.poque_reading import LEAD, LEVELS, READING, PoqueAgent, Reading, has, read
from agents.poque_run import OUTLOOK, RUN, best_lead
from agents.reading import RANKS, SUITS, Floats, Integers, Mask, only_action
from poke_env._jit import compiled
from poke_env.agent import Masks, Observations
from poke_env.games.poque import (
    CARD_POOLS,
    EQUAL,
    FIRST_SLOT,
    MAX_HAND,
    MAX_PLAYERS,
    MAX_RAISE,
    PASS,
    RAISE,
)


class GreedyAgent(PoqueAgent):
    """Takes what brings chips now, with its own cards alone in view.

    Auctions: passes without a combination; with one it opens with the most it may and equals every
    bet, and raises by the most where no better combination can be held. Play-out: begins the run in
    which it plays most cards, a pool of trumps that it takes counting as so many cards as there are
    chips in it; of equal ones the highest. No choice is left to chance.
    """

    def choose(self, observations: Observations, masks: Masks, keys: Integers) -> Integers:
        """See `KeyedAgent.choose`."""
        return _choose_greedily(observations, masks)


class HeuristicAgent(PoqueAgent):
    """Bets by the odds and leads by counting.

    Auctions: of passing, equalling and every bet it makes the one that is expected to bring most,
    by how likely it is that nobody who stays holds better. Without a combination it bets, where
    that is allowed, as often as those who might see through it can just not punish. Play-out:
    begins the run after which it expects to pay least, or to win most. Only bets without a
    combination are left to chance.
    """

    def choose(self, observations: Observations, masks: Masks, keys: Integers) -> Integers:
        """See `KeyedAgent.choose`."""
        return _choose(observations, masks, keys)


@compiled
def _choose_greedily(observations: Observations, masks: Masks) -> Integers:
    chosen = np.empty(masks.shape[0], np.int64)
    readings = np.zeros(1, READING)  # used below: a compiled record does not keep its array
    at_most = np.empty(LEVELS)
    for i in range(masks.shape[0]):
        chosen[i] = only_action(masks[i])
        if chosen[i] >= 0:
            continue
        reading = readings[0]
        read(observations[i], masks[i], reading)
        if reading["phase"] == LEAD:
            chosen[i] = _longest_run(reading)
        else:
            chosen[i] = _bet_all(reading, masks[i], at_most)
    return chosen


@compiled
def _bet_all(reading: Reading, mask: Mask, at_most: Floats) -> int:
    if reading["level"] == 0:
        return PASS
    if not mask[EQUAL] or cannot_be_beaten(reading, at_most):
        for action in range(RAISE + MAX_RAISE - 1, RAISE - 1, -1):
            if mask[action]:
                return action
    return EQUAL if mask[EQUAL] else PASS


@compiled
def _longest_run(reading: Reading) -> int:
    best = -1
    most = -1
    for slot in range(reading["size"]):
        card = reading["cards"][slot]
        brings = 0
        while has(reading["held"], card):
            brings += 1
            pool = RANKS - 1 - card // SUITS
            if pool < CARD_POOLS and card % SUITS == reading["trumps"]:
                brings += reading["pools"][pool]
            card += SUITS
        if brings > 0 and brings >= most:
            best = slot
            most = brings
    return FIRST_SLOT + best


@compiled
def _choose(observations: Observations, masks: Masks, keys: Integers) -> Integers:
    chosen = np.empty(masks.shape[0], np.int64)
    readings = np.zeros(1, READING)
    outlooks = np.zeros(1, OUTLOOK)
    runs = np.zeros(MAX_HAND, RUN)
    seats = np.empty((MAX_PLAYERS, LEVELS))
    for i in range(masks.shape[0]):
        chosen[i] = only_action(masks[i])
        if chosen[i] >= 0:
            continue
        reading = readings[0]
        read(observations[i], masks[i], reading)
        if reading["phase"] == LEAD:
            chosen[i] = best_lead(reading, outlooks[0], runs)
        else:
            chosen[i] = best_speech(reading, masks[i], keys[i, 0], keys[i, 1], seats)
    return chosen
