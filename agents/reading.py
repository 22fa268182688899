"""One observation of Poke as plain integers, for the compiled players.

A player sees a row of floats and a mask. `read` turns them into a `Reading`, the one place where
the layout of the observation is known. What the rules are is not part of an observation; two
things about them are read from what is seen:

- The mask has `2 ** hand_size` entries.
- The pack is the one of the preset with that hand size, unless what was seen speaks against it;
  then it is the full one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from poke_env._jit import compiled
from poke_env.games.poke import (
    BELOW_SCALE,
    MAX_DRAWS,
    MAX_HAND,
    POKE,
    PRESETS,
    VALUE_SCALE,
)
from poke_env.observation import slices

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Observation = npt.NDArray[np.float32]
Mask = npt.NDArray[np.int8]

RANKS = 13
SUITS = 4
DRAW, LEAD, FOLLOW = range(3)

_AT = {name: place.start for name, place in slices(POKE).items()}
_HAND_RANK = _AT["hand_rank"]
_HAND_SUIT = _AT["hand_suit"]
_HAND_HELD = _AT["hand_held"]
_HAND_TRICK = _AT["hand_trick"]
_SEEN = _AT["seen"]
_OPPONENT_RANK = _AT["opponent_rank"]
_LEAD_RANK = _AT["lead_rank"]
_LEAD_SIZE = _AT["lead_size"]
_TRICK_SIZE = _AT["trick_size"]
_TRICK_LEADER = _AT["trick_leader"]
_TRICK_WINNER = _AT["trick_winner"]
_PHASE = _AT["phase"]
_DEALER = _AT["dealer"]
_OWN_DRAWS = _AT["own_draws"]
_OPPONENT_DRAWS = _AT["opponent_draws"]
_PAT = _AT["pat"]
_TRICK_VALUES = _AT["trick_values"]
_TAKEN = _AT["taken"]
_BELOW = _AT["below"]
_GAMES = _AT["games"]

PACK_RANKS = np.full(MAX_HAND + 1, RANKS, np.int64)
PACK_SUITS = np.full(MAX_HAND + 1, SUITS, np.int64)
for _rules in PRESETS.values():
    PACK_RANKS[_rules.hand_size] = _rules.ranks
    PACK_SUITS[_rules.hand_size] = _rules.suits
"""Ranks and suits of the pack by hand size: those of the preset, or of the full pack."""


class Reading(NamedTuple):
    """What a player knows; pairs hold the own number first.

    Attributes:
        size: cards in a full hand.
        phase: `DRAW`, `LEAD` or `FOLLOW`.
        held: slots still in the hand, as bits.
        ranks: int64 (5,), rank 0 … 12 of every slot, played or not; -1 beyond the hand.
        suits: int64 (5,), likewise.
        unseen: int64 (13,), cards of each rank that the player has not seen.
        lead_rank: rank of the lead that waits to be followed, -1 if there is none.
        lead_size: number of its cards.
        no_higher: int64 (5,): the opponent threw off to a lead of `k` cards of rank
            `no_higher[k]`, the lowest such rank; `RANKS` where he never did.
        shown: int64 (13,), cards of each rank that the opponent has played.
        dealer: 1 if the player deals.
        draws: int64 (2,), draws made.
        last_draw: int64 (2,), cards changed in the last of them; 0 without one.
        pat: int64 (2,), 1 if the draws are completed.
        values: int64 (2,), value of each card taken.
        taken: int64 (2,), cards taken.
        below: int64 (2,), points below the line.
        games: int64 (2,), games won.
    """

    size: int
    phase: int
    held: int
    ranks: Integers
    suits: Integers
    unseen: Integers
    lead_rank: int
    lead_size: int
    no_higher: Integers
    shown: Integers
    dealer: int
    draws: Integers
    last_draw: Integers
    pat: Integers
    values: Integers
    taken: Integers
    below: Integers
    games: Integers


@compiled
def read(o: Observation, mask: Mask) -> Reading:
    """The observation float32 (F,) and mask int8 (A,) of the player to act as integers."""
    size = count_bits(mask.shape[0] - 1)
    held = 0
    ranks = np.full(MAX_HAND, -1, np.int64)
    suits = np.full(MAX_HAND, -1, np.int64)
    for slot in range(size):
        ranks[slot] = _which(o, _HAND_RANK + RANKS * slot, RANKS)
        suits[slot] = _which(o, _HAND_SUIT + SUITS * slot, SUITS)
        if o[_HAND_HELD + slot] > 0:
            held |= 1 << slot
    draws = np.zeros(2, np.int64)
    last_draw = np.zeros(2, np.int64)
    for draw in range(MAX_DRAWS):
        for who in range(2):
            start = _OWN_DRAWS if who == 0 else _OPPONENT_DRAWS
            changed = _integer(o[start + draw] * MAX_HAND)
            if changed > 0:
                draws[who] += 1
                last_draw[who] = changed
    no_higher, shown = _read_tricks(o, ranks)
    return Reading(
        size,
        _which(o, _PHASE, 3),
        held,
        ranks,
        suits,
        _read_unseen(o, size, size - shown.sum()),
        _which(o, _LEAD_RANK, RANKS),
        _which(o, _LEAD_SIZE, SUITS) + 1,
        no_higher,
        shown,
        _integer(o[_DEALER]),
        draws,
        last_draw,
        _pair(o, _PAT, 1.0),
        _pair(o, _TRICK_VALUES, VALUE_SCALE),
        _pair(o, _TAKEN, float(MAX_HAND)),
        _pair(o, _BELOW, BELOW_SCALE),
        _pair(o, _GAMES, 1.0),
    )


@compiled
def count_bits(bits: int) -> int:
    """Number of ones in the binary form of `bits`."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count


@compiled
def set_rank(reading: Reading, slots: int) -> int:
    """The rank of the cards in `slots` if they are all of one rank, else -1."""
    rank = np.int64(-1)
    for slot in range(reading.size):
        if (slots >> slot) & 1:
            if rank >= 0 and rank != reading.ranks[slot]:
                return -1
            rank = reading.ranks[slot]
    return int(rank)


@compiled
def _integer(number: float) -> int:
    return int(number + 0.5)


@compiled
def _pair(o: Observation, start: int, scale: float) -> Integers:
    pair = np.empty(2, np.int64)
    pair[0] = _integer(o[start] * scale)
    pair[1] = _integer(o[start + 1] * scale)
    return pair


@compiled
def _which(o: Observation, start: int, length: int) -> int:
    """Place of the one number that is set, -1 if none is."""
    for i in range(length):
        if o[start + i] > 0:
            return i
    return -1


@compiled
def _read_unseen(o: Observation, size: int, hidden: int) -> Integers:
    """Unseen cards by rank; the opponent holds `hidden` of them."""
    low_rank = RANKS - PACK_RANKS[size]
    suits = PACK_SUITS[size]
    unseen = _count_unseen(o, low_rank, suits)
    fits = unseen.sum() >= hidden
    for card in range(RANKS * SUITS):
        if o[_SEEN + card] > 0 and (card >> 2 < low_rank or card & 3 >= suits):
            fits = False
    return unseen if fits else _count_unseen(o, 0, SUITS)


@compiled
def _count_unseen(o: Observation, low_rank: int, suits: int) -> Integers:
    unseen = np.zeros(RANKS, np.int64)
    for rank in range(low_rank, RANKS):
        for suit in range(suits):
            if o[_SEEN + SUITS * rank + suit] == 0:
                unseen[rank] += 1
    return unseen


@compiled
def _read_tricks(o: Observation, ranks: Integers) -> tuple[Integers, Integers]:
    """What the opponent's cards in the finished tricks tell: `no_higher` and `shown`."""
    no_higher = np.full(MAX_HAND, RANKS, np.int64)
    shown = np.zeros(RANKS, np.int64)
    for i in range(MAX_HAND):
        rank = _integer(o[_OPPONENT_RANK + i] * RANKS) - 1
        if rank >= 0:
            shown[rank] += 1
    for trick in range(MAX_HAND):
        if o[_TRICK_LEADER + trick] > 0 and o[_TRICK_WINNER + trick] > 0:
            count = _integer(o[_TRICK_SIZE + trick] * 4)
            for slot in range(MAX_HAND):
                if _integer(o[_HAND_TRICK + slot] * MAX_HAND) == trick + 1:
                    no_higher[count] = min(no_higher[count], ranks[slot])
    return no_higher, shown
