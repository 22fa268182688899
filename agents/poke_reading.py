"""One observation of Poke as plain integers, for the compiled players.

A player sees a row of floats and a mask. `read` turns them into a record of `READING`, the one
place where the layout of the observation is known. What the rules are is not part of an
observation; two things about them are read from what is seen:

- The mask has `2 ** hand_size` entries.
- The pack is the one of the preset with that hand size, unless what was seen speaks against it;
  then it is the full one.
"""

from __future__ import annotations

import numpy as np

from agents.reading import RANKS, SUITS, Mask, Observation, count_bits, integer, which
from poke_env._jit import compiled
from poke_env.agent import KeyedAgent
from poke_env.games.poke import (
    AT,
    BELOW_SCALE,
    MAX_DRAWS,
    MAX_HAND,
    POKE,
    PRESETS,
    VALUE_SCALE,
)
from poke_env.observation import length

DRAW, LEAD, FOLLOW = range(3)

_HAND_RANK = AT["hand_rank"]
_HAND_SUIT = AT["hand_suit"]
_HAND_HELD = AT["hand_held"]
_HAND_TRICK = AT["hand_trick"]
_SEEN = AT["seen"]
_OPPONENT_RANK = AT["opponent_rank"]
_OPPONENT_SUIT = AT["opponent_suit"]
_LEAD_RANK = AT["lead_rank"]
_LEAD_SIZE = AT["lead_size"]
_TRICK_SIZE = AT["trick_size"]
_TRICK_LEADER = AT["trick_leader"]
_TRICK_WINNER = AT["trick_winner"]
_PHASE = AT["phase"]
_DEALER = AT["dealer"]
_OWN_DRAWS = AT["own_draws"]
_OPPONENT_DRAWS = AT["opponent_draws"]
_TRICK_VALUES = AT["trick_values"]
_TAKEN = AT["taken"]
_BELOW = AT["below"]
_GAMES = AT["games"]

PACK_RANKS = np.full(MAX_HAND + 1, RANKS, np.int64)
PACK_SUITS = np.full(MAX_HAND + 1, SUITS, np.int64)
for _rules in PRESETS.values():
    PACK_RANKS[_rules.hand_size] = _rules.ranks
    PACK_SUITS[_rules.hand_size] = _rules.suits
"""Ranks and suits of the pack by hand size: those of the preset, or of the full pack."""


READING = np.dtype(
    [
        ("size", np.int64),  # cards in a full hand
        ("phase", np.int64),  # DRAW, LEAD or FOLLOW
        ("held", np.int64),  # slots still in the hand, as bits
        ("ranks", np.int64, (MAX_HAND,)),  # 0 … 12 of every slot, played or not; -1 beyond the hand
        ("suits", np.int64, (MAX_HAND,)),
        ("unseen", np.int64, (RANKS,)),  # cards of each rank that the player has not seen
        ("unseen_cards", np.int64),  # the same, card by card, as bits
        ("shown", np.int64, (RANKS,)),  # cards of each rank that the opponent has played
        ("shown_suits", np.int64, (SUITS,)),  # likewise of each suit
        # The lead that waits to be followed: its rank, -1 if there is none, and number of cards.
        ("lead_rank", np.int64),
        ("lead_size", np.int64),
        # [k]: the lowest rank of which k cards were led and the opponent threw off; or RANKS.
        ("no_higher", np.int64, (MAX_HAND,)),
        # Cards of each rank that he can still hold at most if he must beat what he can: who threw
        # off to k cards held fewer than k of every higher rank. Below 0: he need not beat.
        ("most", np.int64, (RANKS,)),
        ("dealer", np.int64),  # 1 if the player deals
        # Pairs, the own number first.
        ("draws", np.int64, (2,)),  # draws made
        ("last_draw", np.int64, (2,)),  # cards changed in the last of them, 0 without one
        ("changed", np.int64, (2, MAX_DRAWS)),  # cards changed in each
        ("values", np.int64, (2,)),  # value of each card taken
        ("taken", np.int64, (2,)),  # cards taken
        ("below", np.int64, (2,)),  # points below the line
        ("games", np.int64, (2,)),  # games won
    ]
)
"""What a player knows, as one record."""

Reading = np.void
"""A record of dtype `READING`."""


class PokeAgent(KeyedAgent):
    """A player that reads observations of Poke; arrays of another game are refused."""

    observation_size = length(POKE)
    action_sizes = tuple(2**size for size in range(2, MAX_HAND + 1))


@compiled
def read(o: Observation, mask: Mask, reading: Reading) -> None:
    """Write what an observation says into `reading`.

    Args:
        o: float32 (F,), of the player to act.
        mask: int8 (A,), likewise.
        reading: record of dtype `READING`, overwritten.
    """
    size = count_bits(mask.shape[0] - 1)
    reading["size"] = size
    reading["phase"] = which(o, _PHASE, 3)
    reading["lead_rank"] = which(o, _LEAD_RANK, RANKS)
    reading["lead_size"] = which(o, _LEAD_SIZE, SUITS) + 1
    reading["dealer"] = integer(o[_DEALER])
    reading["held"] = 0
    for slot in range(MAX_HAND):
        reading["ranks"][slot] = which(o, _HAND_RANK + RANKS * slot, RANKS)
        reading["suits"][slot] = which(o, _HAND_SUIT + SUITS * slot, SUITS)
        if o[_HAND_HELD + slot] > 0:
            reading["held"] |= 1 << slot
    for who in range(2):
        reading["values"][who] = integer(o[_TRICK_VALUES + who] * VALUE_SCALE)
        reading["taken"][who] = integer(o[_TAKEN + who] * MAX_HAND)
        reading["below"][who] = integer(o[_BELOW + who] * BELOW_SCALE)
        reading["games"][who] = integer(o[_GAMES + who])
        reading["draws"][who] = 0
        reading["last_draw"][who] = 0
        for draw in range(MAX_DRAWS):
            changed = integer(o[(_OPPONENT_DRAWS if who else _OWN_DRAWS) + draw] * MAX_HAND)
            reading["changed"][who, draw] = changed
            if changed > 0:
                reading["draws"][who] += 1
                reading["last_draw"][who] = changed
    _read_tricks(o, reading)
    _read_unseen(o, reading)


@compiled
def set_rank(reading: Reading, slots: int) -> int:
    """The rank of the cards in `slots` if they are all of one rank, else -1."""
    rank = np.int64(-1)
    for slot in range(reading["size"]):
        if (slots >> slot) & 1:
            if rank >= 0 and rank != reading["ranks"][slot]:
                return -1
            rank = reading["ranks"][slot]
    return int(rank)


@compiled
def _read_tricks(o: Observation, reading: Reading) -> None:
    """What the opponent's cards in the tricks so far tell."""
    for rank in range(RANKS):
        reading["shown"][rank] = 0
        reading["most"][rank] = SUITS
    for suit in range(SUITS):
        reading["shown_suits"][suit] = 0
    for count in range(MAX_HAND):
        reading["no_higher"][count] = RANKS
    shown = 0
    for trick in range(MAX_HAND):
        count = integer(o[_TRICK_SIZE + trick] * SUITS)
        if o[_TRICK_LEADER + trick] > 0 and o[_TRICK_WINNER + trick] > 0:
            _read_throw(o, reading, trick, count)
        for i in range(shown, shown + count):
            rank = integer(o[_OPPONENT_RANK + i] * RANKS) - 1
            reading["shown"][rank] += 1
            reading["most"][rank] -= 1
            reading["shown_suits"][integer(o[_OPPONENT_SUIT + i] * SUITS) - 1] += 1
        shown += count


@compiled
def _read_throw(o: Observation, reading: Reading, trick: int, count: int) -> None:
    """What it tells that he did not beat the own lead of `count` cards."""
    for slot in range(MAX_HAND):
        if integer(o[_HAND_TRICK + slot] * MAX_HAND) == trick + 1:
            led = reading["ranks"][slot]
            reading["no_higher"][count] = min(reading["no_higher"][count], led)
            for rank in range(led + 1, RANKS):
                reading["most"][rank] = min(reading["most"][rank], count - 1)


@compiled
def _read_unseen(o: Observation, reading: Reading) -> None:
    """Unseen cards of the preset's pack, or of the full one if that one cannot be."""
    size = reading["size"]
    low_rank = RANKS - PACK_RANKS[size]
    suits = PACK_SUITS[size]
    fits = _count_unseen(o, low_rank, suits, reading) >= size - reading["shown"].sum()
    for rank in range(RANKS):
        for suit in range(suits if rank >= low_rank else 0, SUITS):
            if o[_SEEN + SUITS * rank + suit] > 0:
                fits = False
    if not fits:
        _count_unseen(o, 0, SUITS, reading)


@compiled
def _count_unseen(o: Observation, low_rank: int, suits: int, reading: Reading) -> int:
    total = 0
    cards = np.int64(0)
    for rank in range(RANKS):
        unseen = 0
        for suit in range(suits):
            if rank >= low_rank and o[_SEEN + SUITS * rank + suit] == 0:
                unseen += 1
                cards |= np.int64(1) << (SUITS * rank + suit)
        reading["unseen"][rank] = unseen
        total += unseen
    reading["unseen_cards"] = cards
    return total
