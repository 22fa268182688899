"""One observation of Poque as plain integers, for the compiled players.

A player sees a row of floats and a mask. `read` turns them into a record of `READING`, the one
place where the layout of the observation is known. Seats are counted from the player, who is 0.
What the rules are is not part of an observation; two things about them are read from what is seen:

- The mask has `FIRST_SLOT + hand_size` entries.
- The pack is the one of the preset with that hand size and number of players, else the usual one
  of so many players, unless what was seen speaks against it; then it is the full one.

Combinations of both auctions are counted in levels: 0 is none, and then 13 levels for each size, by
rank (of a sequence, of its top card). A higher level beats a lower one, equal ones share.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from agents.reading import RANKS, SUITS, Mask, Observation, count_bits, integer, which
from poke_env import observation
from poke_env._jit import compiled, inlined
from poke_env.agent import KeyedAgent
from poke_env.cards import NUM_CARDS
from poke_env.games.poque import (
    AT,
    CHIP_SCALE,
    FIRST_SLOT,
    LEAST_SEQUENCE,
    LEAST_SET,
    MAX_BETS,
    MAX_HAND,
    MAX_PLAYERS,
    POOLS,
    POQUE,
    PRESETS,
    Rules,
)

LEVELS = 1 + 3 * RANKS
"""None, and the combinations of two to four cards of a rank, or of three to five in sequence."""
ROUNDING = 1e-9
"""What is worth more by less than this is worth the same."""

POQUE_BET, SEQUENCE_BET, LEAD = range(3)
"""`phase` of a reading."""

_HAND_RANK = AT["hand_rank"]
_HAND_SUIT = AT["hand_suit"]
_HAND_HELD = AT["hand_held"]
_TURNED_SUIT = AT["turned_suit"]
_SHOWN_BY = AT["shown_by"]
_GONE = AT["gone"]
_PHASE = AT["phase"]
_SEATS = AT["seats"]
_CARDS_LEFT = AT["cards_left"]
_STACKS = AT["stacks"]
_POOLS = AT["pools"]
_TO_EQUAL = AT["to_equal"]
_BET_SEAT = AT["bet_seat"]
_PASSED = AT["passed"]
_STAKED = AT["staked"]


def _bits(rules: Rules) -> int:
    return sum(1 << card for card in rules.pack())


_FULL_PACK = (1 << NUM_CARDS) - 1
_PACKS = np.full((MAX_PLAYERS + 1, MAX_HAND + 1, 3), _FULL_PACK, np.int64)
for _players in range(2, MAX_PLAYERS + 1):
    _PACKS[_players, :, :2] = _bits(Rules(players=_players))
for _preset in PRESETS.values():
    _PACKS[_preset.players, _preset.hand_size, 0] = _bits(_preset)
"""By number of players and hand size the packs that may be in play, as bits, the likeliest first;
nothing that was seen can speak against the last."""


READING = np.dtype(
    [
        ("size", np.int64),  # cards in a full hand
        ("players", np.int64),
        ("phase", np.int64),  # POQUE_BET, SEQUENCE_BET or LEAD
        ("trumps", np.int64),  # suit
        ("cards", np.int64, (MAX_HAND,)),  # card of every slot, played or not; -1 beyond the hand
        # Sets of cards, as bits: the hand as dealt, what is left of it, cards known to be in no
        # hand, those of which the player knows nothing, and by seat those that others have shown
        # and still hold.
        ("dealt", np.int64),
        ("held", np.int64),
        ("gone", np.int64),
        ("unseen", np.int64),
        ("shown", np.int64, (MAX_PLAYERS,)),
        # By seat.
        ("cards_left", np.int64, (MAX_PLAYERS,)),
        ("stack", np.int64, (MAX_PLAYERS,)),
        # Chips in the pools: ace, king, queen, jack, sequence, poque.
        ("pools", np.int64, (len(POOLS),)),
        # The auction going on: the level of the own combination, the pool with all stakes, and
        # what the player owes to stay. By seat: chips staked, whether he is in it still, and how
        # often he raised.
        ("level", np.int64),
        ("pot", np.int64),
        ("owed", np.int64),
        ("staked", np.int64, (MAX_PLAYERS,)),
        ("stays", np.int64, (MAX_PLAYERS,)),
        ("raises", np.int64, (MAX_PLAYERS,)),
    ]
)
"""What a player knows, as one record."""

Reading = np.void
"""A record of dtype `READING`."""


class PoqueAgent(KeyedAgent):
    """A player that reads observations of Poque; arrays of another game are refused."""

    observation_size = observation.length(POQUE)
    action_sizes = tuple(FIRST_SLOT + size for size in range(2, MAX_HAND + 1))


@inlined
def has(bits: Any, card: Any) -> bool:
    """Whether a set of cards holds a card."""
    return bool((bits >> card) & 1)


@compiled
def read(o: Observation, mask: Mask, reading: Reading) -> None:
    """Write what an observation says into `reading`.

    Args:
        o: float32 (F,), of the player to act.
        mask: int8 (A,), likewise.
        reading: record of dtype `READING`, overwritten.
    """
    reading["size"] = mask.shape[0] - FIRST_SLOT
    reading["players"] = 0
    for place in range(MAX_PLAYERS):
        reading["players"] += o[_SEATS + place] > 0
        reading["cards_left"][place] = integer(o[_CARDS_LEFT + place] * MAX_HAND)
        reading["stack"][place] = integer(o[_STACKS + place] * CHIP_SCALE)
    for pool in range(reading["pools"].shape[0]):
        reading["pools"][pool] = integer(o[_POOLS + pool] * CHIP_SCALE)
    reading["phase"] = min(which(o, _PHASE, 4), LEAD)
    reading["trumps"] = which(o, _TURNED_SUIT, SUITS)
    _read_cards(o, reading)
    _read_pack(reading)
    if reading["phase"] < LEAD:
        _read_auction(o, reading)


@compiled
def _read_cards(o: Observation, reading: Reading) -> None:
    reading["dealt"] = 0
    reading["held"] = 0
    for slot in range(MAX_HAND):
        rank = which(o, _HAND_RANK + RANKS * slot, RANKS)
        card = np.int64(SUITS * rank + which(o, _HAND_SUIT + SUITS * slot, SUITS))
        reading["cards"][slot] = card if rank >= 0 else -1
        if rank >= 0:
            reading["dealt"] |= np.int64(1) << card
            if o[_HAND_HELD + slot] > 0:
                reading["held"] |= np.int64(1) << card
    reading["gone"] = 0
    reading["shown"][:] = 0
    for number in range(NUM_CARDS):
        bit = np.int64(1) << number
        shown_by = integer(o[_SHOWN_BY + number] * MAX_PLAYERS)
        if o[_GONE + number] > 0:
            reading["gone"] |= bit
        elif shown_by > 1:
            reading["shown"][shown_by - 1] |= bit


@compiled
def _read_pack(reading: Reading) -> None:
    """Cards of which nothing is known, in the first pack that holds what was seen."""
    seen = reading["dealt"] | reading["gone"]
    hidden = 0
    for seat in range(1, reading["players"]):
        seen |= reading["shown"][seat]
        hidden += reading["cards_left"][seat] - count_bits(reading["shown"][seat])
    for pack in _PACKS[reading["players"], reading["size"]]:
        reading["unseen"] = pack & ~seen
        if seen & ~pack == 0 and count_bits(reading["unseen"]) >= hidden:
            return


@compiled
def _read_auction(o: Observation, reading: Reading) -> None:
    auction = reading["phase"]
    reading["pot"] = reading["pools"][len(POOLS) - 1 - auction]
    reading["owed"] = integer(o[_TO_EQUAL] * CHIP_SCALE)
    for place in range(MAX_PLAYERS):
        at = MAX_PLAYERS * auction + place
        reading["staked"][place] = integer(o[_STAKED + at] * CHIP_SCALE)
        reading["stays"][place] = place < reading["players"] and o[_PASSED + at] == 0
    reading["raises"][:] = 0
    for bet in range(1, MAX_BETS):
        bettor = integer(o[_BET_SEAT + MAX_BETS * auction + bet] * MAX_PLAYERS)
        if bettor > 0:
            reading["raises"][bettor - 1] += 1
    dealt = reading["dealt"]
    reading["level"] = set_level(dealt) if auction == POQUE_BET else sequence_level(dealt)


@inlined
def level_of(size: int, least: int, rank: int) -> int:
    """The level of a combination of so many cards, at least `least`, by its (highest) rank."""
    return 1 + RANKS * (size - least) + rank


@compiled
def set_level(hand: int) -> int:
    """The level of the best cards of one rank in a hand, 0 without a pair (docs/rules.md 3.4)."""
    best = 0
    for rank in range(RANKS):
        size = count_bits((hand >> (SUITS * rank)) & 0b1111)
        if size >= LEAST_SET:
            best = max(best, level_of(size, LEAST_SET, rank))
    return best


@compiled
def sequence_level(hand: int) -> int:
    """The level of the longest sequence in a hand of up to five cards, 0 without one of three."""
    best = 0
    for suit in range(SUITS):
        size = 0
        for rank in range(RANKS):
            size = size + 1 if has(hand, SUITS * rank + suit) else 0
            if size >= LEAST_SEQUENCE:
                best = max(best, level_of(size, LEAST_SEQUENCE, rank))
    return best
