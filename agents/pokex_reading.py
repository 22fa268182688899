"""One observation of Pokex as plain integers, for the compiled players.

A player sees a row of floats and a mask. `read` turns them into a record of `READING`, the one
place where the layout of the observation is known. Seats are counted from the player's own, as in
the observation: `OWN`, `LEFT`, `PARTNER`, `RIGHT`. Of the rules an observation tells what jokers
are; the pack is taken to be that of the preset with as many tricks, unless what was seen speaks
against it; then it is the full one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.reading import integer, which
from poke_env._jit import compiled
from poke_env.agent import KeyedAgent
from poke_env.games.pokex import (
    AT,
    MAX_CARDS,
    MAX_HAND,
    MAX_TRICKS,
    NUM_RANKS,
    POKEX,
    PRESETS,
    SEATS,
    num_actions,
)
from poke_env.observation import length

Observation = npt.NDArray[np.float32]

SUITS = 4
AUCTION, PLAY = range(2)
OWN, LEFT, PARTNER, RIGHT = range(SEATS)
JOKER_READINGS = ("high_card", "wild")
"""What a joker may be (see `poke_env.games.pokex.Rules`), by `wild` of a reading."""

_HAND_RANK = AT["hand_rank"]
_HAND_SUIT = AT["hand_suit"]
_HAND_HELD = AT["hand_held"]
_CENTRE_RANK = AT["centre_rank"]
_CENTRE_SUIT = AT["centre_suit"]
_TABLE_RANK = AT["table_rank"]
_TABLE_SUIT = AT["table_suit"]
_SEEN = AT["seen"]
_BIDDER = AT["bidder"]
_PASSED = AT["passed"]
_BID = AT["bid"]
_DECLARER = AT["declarer"]
_PHASE = AT["phase"]
_TRICK = AT["trick"]
_TRICK_LEADER = AT["trick_leader"]
_WILD = AT["wild"]

_PLACE = np.array([0, 2, 1, 3], np.int64)
"""How many play to a trick before the seat that sits so far behind its leader."""

_PACKS = np.zeros((MAX_TRICKS + 1, MAX_CARDS), np.bool_)
for _rules in PRESETS.values():
    _PACKS[_rules.tricks, list(_rules.pack())] = True
"""By number of tricks: the cards in the pack of the preset."""

READING = np.dtype(
    [
        ("phase", np.int64),  # AUCTION or PLAY
        ("wild", np.int64),  # 1 if jokers are wild cards
        ("tricks", np.int64),  # tricks in the deal
        ("left", np.int64),  # tricks that are not finished
        ("hand", np.int8, (MAX_HAND,)),  # cards that the player holds, ascending
        ("slots", np.int64, (MAX_HAND,)),  # where they lie
        ("count", np.int64),  # their number
        ("centre", np.int8, (MAX_TRICKS,)),  # centre cards of the tricks that are left
        ("unseen", np.int8, (MAX_CARDS,)),  # cards that the player has not seen, ascending
        ("unseen_count", np.int64),
        # The trick being played: its leader, how many have played to it, and their cards.
        ("leader", np.int64),
        ("place", np.int64),
        ("table", np.int8, (SEATS, 2)),  # by seat, -1 if it has not played
        # The auction: the highest bid, 0 without one, and its bidder; by seat the highest bid and
        # whether it has passed.
        ("bid", np.int64),
        ("bidder", np.int64),
        ("bids", np.int64, (SEATS,)),
        ("passed", np.int64, (SEATS,)),
    ]
)
"""What a player knows, as one record."""

Reading = np.void
"""A record of dtype `READING`."""


class PokexAgent(KeyedAgent):
    """A player that reads observations of Pokex; arrays of another game are refused.

    Args:
        seed: of the player's own stream, used where the caller passes no keys.
    """

    observation_size = length(POKEX)
    action_sizes = (num_actions(PRESETS["standard"]),)
    sees_score = False


@compiled
def read(o: Observation, reading: Reading) -> None:
    """Write what an observation says into `reading`.

    Args:
        o: float32 (F,), of the player to act.
        reading: record of dtype `READING`, overwritten.
    """
    reading["phase"] = which(o, _PHASE, 2)
    reading["wild"] = integer(o[_WILD])
    reading["bid"] = integer(o[_BID] * MAX_TRICKS)
    reading["bidder"] = which(o, _DECLARER, SEATS)
    for seat in range(SEATS):
        reading["passed"][seat] = integer(o[_PASSED + seat])
        reading["bids"][seat] = 0
        for i in range(2):
            place = 2 * (seat - 1) + i
            card = -1 if seat == OWN else _card(o, _TABLE_RANK, _TABLE_SUIT, place)
            reading["table"][seat, i] = card
    for bid in range(MAX_TRICKS):
        bidder = which(o, _BIDDER + SEATS * bid, SEATS)
        if bidder >= 0:
            reading["bids"][bidder] = bid + 1
    _read_cards(o, reading)
    trick = reading["tricks"] - reading["left"]
    reading["leader"] = which(o, _TRICK_LEADER + SEATS * trick, SEATS)
    reading["place"] = _PLACE[-reading["leader"] % SEATS] if reading["leader"] >= 0 else 0


@compiled
def _card(o: Observation, rank_at: int, suit_at: int, place: int) -> int:
    """The card at a place of a piece that has one number set for its rank, -1 if there is none."""
    rank = which(o, rank_at + NUM_RANKS * place, NUM_RANKS)
    return SUITS * rank + which(o, suit_at + SUITS * place, SUITS) if rank >= 0 else -1


@compiled
def _read_cards(o: Observation, reading: Reading) -> None:
    count = 0
    for slot in range(MAX_HAND):
        if o[_HAND_HELD + slot] > 0:
            reading["hand"][count] = _card(o, _HAND_RANK, _HAND_SUIT, slot)
            reading["slots"][count] = slot
            count += 1
    reading["count"] = count
    tricks = 0
    for place in range(MAX_TRICKS):
        card = _card(o, _CENTRE_RANK, _CENTRE_SUIT, place)
        reading["centre"][place] = card
        tricks += card >= 0
    reading["tricks"] = tricks
    reading["left"] = tricks - max(0, which(o, _TRICK, MAX_TRICKS))
    known = True
    for card in range(MAX_CARDS):
        if o[_SEEN + card] > 0 and not _PACKS[tricks, card]:
            known = False
    unseen = 0
    for card in range(MAX_CARDS):
        if o[_SEEN + card] == 0 and (_PACKS[tricks, card] or not known):
            reading["unseen"][unseen] = card
            unseen += 1
    reading["unseen_count"] = unseen
