"""One observation of Poängpoker as plain integers, for the compiled players.

A player sees a row of floats and a mask. `read` turns them into a record of `READING`, the one
place where the layout of the observation is known. Seats are counted from the player, who is 0.
What the rules are is not part of an observation; three things about them are taken for granted or
read from what is seen:

- Players head a trick if they can.
- The mask has `2 ** hand_size` entries.
- The pack is that of the preset with this hand size if the number of cards fits, else the full one.
"""

from __future__ import annotations

import numpy as np

from agents.reading import RANKS, SUITS, Mask, Observation, count_bits, integer, which
from poke_env._jit import compiled
from poke_env.agent import KeyedAgent
from poke_env.cards import NUM_CARDS
from poke_env.games.poangpoker import AT, MAX_HAND, MAX_PLAYERS, POANGPOKER, PRESETS
from poke_env.observation import length

EXCHANGE, TRICK = range(2)

_HAND_RANK = AT["hand_rank"]
_HAND_SUIT = AT["hand_suit"]
_HAND_HELD = AT["hand_held"]
_HAND_TRICK = AT["hand_trick"]
_SEEN = AT["seen"]
_OTHER_RANK = AT["other_rank"]
_OTHER_SUIT = AT["other_suit"]
_LEAD_SUIT = AT["lead_suit"]
_BEST_RANK = AT["best_rank"]
_LEADER = AT["leader"]
_TRICK_WINNER = AT["trick_winner"]
_PHASE = AT["phase"]
_DEALER = AT["dealer"]
_EXCHANGE_DONE = AT["exchange_done"]
_EXCHANGED = AT["exchanged"]
_STOCK = AT["stock"]
_PLAYERS = AT["players"]

_PACKS = np.zeros((MAX_HAND + 1, NUM_CARDS), np.bool_)
for _rules in PRESETS.values():
    _PACKS[_rules.hand_size, list(_rules.pack())] = True
"""By hand size: the cards in the pack of the preset."""
_PACK_SIZES = _PACKS.sum(axis=1)

READING = np.dtype(
    [
        ("size", np.int64),  # cards in a full hand
        ("phase", np.int64),  # EXCHANGE or TRICK
        ("players", np.int64),
        ("hand", np.int8, (MAX_HAND,)),  # card of every slot, played or not; -1 beyond the hand
        ("held", np.int64),  # slots still in the hand, as bits
        ("unseen", np.int8, (NUM_CARDS,)),  # cards that the player has not seen, ascending
        ("unseen_count", np.int64),
        ("unseen_ranks", np.int64, (SUITS,)),  # the same by suit, ranks as bits
        ("best", np.int64),  # best card of the suit led to the trick on the table, -1 before it
        ("later", np.int64),  # seats that play after the player in this trick
        # By seat, the own first: cards changed, -1 before the exchange; and the greatest rank of
        # each suit that it can still hold, -1 if none.
        ("exchanged", np.int64, (MAX_PLAYERS,)),
        ("limit", np.int64, (MAX_PLAYERS, SUITS)),
    ]
)
"""What a player knows, as one record."""

Reading = np.void
"""A record of dtype `READING`."""


class PoangpokerAgent(KeyedAgent):
    """A player that reads observations of Poängpoker; arrays of another game are refused."""

    observation_size = length(POANGPOKER)
    action_sizes = tuple(2**size for size in range(2, MAX_HAND + 1))
    sees_score = False


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
    reading["phase"] = which(o, _PHASE, 2)
    reading["players"] = which(o, _PLAYERS, MAX_PLAYERS - 1) + 2
    reading["held"] = 0
    for slot in range(MAX_HAND):
        reading["hand"][slot] = -1
        if slot < size:
            rank = which(o, _HAND_RANK + RANKS * slot, RANKS)
            reading["hand"][slot] = SUITS * rank + which(o, _HAND_SUIT + SUITS * slot, SUITS)
        if o[_HAND_HELD + slot] > 0:
            reading["held"] |= 1 << slot
    reading["best"] = -1
    reading["later"] = reading["players"] - 1
    suit = which(o, _LEAD_SUIT, SUITS)
    if suit >= 0:
        reading["best"] = SUITS * which(o, _BEST_RANK, RANKS) + suit
        reading["later"] = which(o, _LEADER, MAX_PLAYERS) - 1
    for seat in range(MAX_PLAYERS):
        done = o[_EXCHANGE_DONE + seat] > 0
        reading["exchanged"][seat] = integer(o[_EXCHANGED + seat] * MAX_HAND) if done else -1
        for suit in range(SUITS):
            reading["limit"][seat, suit] = RANKS - 1
    _read_unseen(o, reading)
    _read_tricks(o, reading)


@compiled
def _read_unseen(o: Observation, reading: Reading) -> None:
    size = reading["size"]
    pack_size = integer(o[_STOCK] * NUM_CARDS) + size * reading["players"]
    for seat in range(reading["players"]):
        pack_size += max(reading["exchanged"][seat], 0)
    known = _PACK_SIZES[size] == pack_size
    for card in range(NUM_CARDS):
        if o[_SEEN + card] > 0 and not _PACKS[size, card]:
            known = False
    count = 0
    for suit in range(SUITS):
        reading["unseen_ranks"][suit] = 0
    for card in range(NUM_CARDS):
        if o[_SEEN + card] == 0 and (_PACKS[size, card] or not known):
            reading["unseen"][count] = card
            reading["unseen_ranks"][card & 3] |= 1 << (card >> 2)
            count += 1
    reading["unseen_count"] = count


@compiled
def _read_tricks(o: Observation, reading: Reading) -> None:
    """What the tricks so far tell of the cards that the others can still hold."""
    players = reading["players"]
    leader = (which(o, _DEALER, MAX_PLAYERS) + 1) % players
    for trick in range(reading["size"]):
        best = -1
        for turn in range(players):
            seat = (leader + turn) % players
            card = _card_played(o, reading, seat, trick)
            if card < 0:
                return
            if best < 0:
                best = card
            elif (card ^ best) & 3:
                reading["limit"][seat, best & 3] = -1
            elif card > best:
                best = card
            else:
                limit = min(reading["limit"][seat, best & 3], best >> 2)
                reading["limit"][seat, best & 3] = limit
        leader = which(o, _TRICK_WINNER + MAX_PLAYERS * trick, MAX_PLAYERS)


@compiled
def _card_played(o: Observation, reading: Reading, seat: int, trick: int) -> int:
    """The card that a seat played to a trick, -1 if it has not."""
    if seat > 0:
        place = MAX_HAND * (seat - 1) + trick
        rank = integer(o[_OTHER_RANK + place] * RANKS) - 1
        return SUITS * rank + integer(o[_OTHER_SUIT + place] * SUITS) - 1 if rank >= 0 else -1
    for slot in range(reading["size"]):
        if integer(o[_HAND_TRICK + slot] * MAX_HAND) == trick + 1:
            return int(reading["hand"][slot])
    return -1
