"""Pokex: an auction, then tricks that are poker hands of two partners (docs/rules.md, section 2).

A position is one record of `STATE`; the functions over it are the rules. Seats are 0 to 3 in turn
order, and a side is a seat's number modulo 2: seats 0 and 2 play against 1 and 3. Cards lie in the
slots of the hand as it was dealt, ascending. Action 0 passes, 1 to 6 bid so many tricks, and 7 to
72 play the cards of two slots, pairs of slots in lexicographic order. Chance enters as deck orders
only: a position in phase `DEAL` waits for one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from itertools import combinations
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from poke_env import cards
from poke_env._checks import as_integer, check_integer, shown
from poke_env._jit import compiled, inlined
from poke_env._records import record_dtype
from poke_env.cards import HandRank, format_cards, hand_value, wild_hand_value
from poke_env.games.base import (
    DEAL_ENDED,
    MATCH_OVER,
    MATCHES,
    NOT_PAID,
    WANTS_DECK,
    Card,
    Game,
    Int,
    Line,
    Piece,
    Table,
    register,
    share_win,
)

# --- rules as data --------------------------------------------------------------------------------

SEATS = 4
MAX_TRICKS = 6
MAX_HAND = 2 * MAX_TRICKS
MAX_CARDS = cards.NUM_CARDS + len(cards.JOKERS)

RULES = record_dtype(
    ("target", np.int32),
    ("ranks", np.int8),
    ("suits", np.int8),
    ("jokers", np.int8),
    ("tricks", np.int8),
    ("wild", np.int8),
    ("winner_leads", np.int8),
    ("defenders_win_tie", np.int8),
    ("failed_costs", np.int8),
)
"""The options inside a position."""


@dataclass(frozen=True)
class Rules:
    """The options of Pokex (docs/rules.md, section 2); the defaults are the full game.

    Attributes:
        ranks: number of ranks in the pack, the highest ones (2 to 13).
        suits: number of suits in the pack, from clubs upwards (1 to 4).
        jokers: number of jokers in the pack (0 to 2).
        tricks: tricks in a deal (1 to 6): the highest bid, the cards in the centre, and half the
            cards of a hand. The pack must have nine cards for each; what it has more is not dealt.
        target: points with which a side wins (1 to 300).
        joker: a joker is a `"high_card"`, of a rank above the ace that makes no straight and no
            flush, or `"wild"`: any card of the 52 that makes the hand best.
        lead_next: who leads the next trick, the player at the `"left"` of the last leader, or the
            one of the `"winner"`'s side who played first.
        trick_tie: who takes a trick of equal hands, the `"leader"`'s side or the `"defenders"`, who
            did not win the auction.
        failed_bid: what a bid that was not fulfilled brings: `"zero"`, or `"minus"` what it would
            have brought with as many tricks as were bid.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """

    ranks: int = 13
    suits: int = 4
    jokers: int = 2
    tricks: int = MAX_TRICKS
    target: int = 33
    joker: str = "high_card"
    lead_next: str = "left"
    trick_tie: str = "leader"
    failed_bid: str = "zero"

    def __post_init__(self) -> None:
        for name, (low, high) in _NUMBERS.items():
            object.__setattr__(self, name, check_integer(name, getattr(self, name), low, high))
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                raise ValueError(f"{name} must be {allowed[0]!r} or {allowed[1]!r}, got {value!r}")
        if len(self.pack()) < 9 * self.tricks:
            raise ValueError(
                f"tricks must leave nine cards for each, {9 * self.tricks} for {self.tricks}, but "
                f"ranks={self.ranks}, suits={self.suits} and jokers={self.jokers} make "
                f"{len(self.pack())}"
            )

    def write(self, record: np.void) -> None:
        """Copy the options into `record`, a record of dtype `RULES`."""
        for name in _NUMBERS:
            record[name] = getattr(self, name)
        record["wild"] = self.joker == "wild"
        record["winner_leads"] = self.lead_next == "winner"
        record["defenders_win_tie"] = self.trick_tie == "defenders"
        record["failed_costs"] = self.failed_bid == "minus"

    def pack(self) -> tuple[int, ...]:
        """The card numbers of the pack, ascending."""
        return cards.pack(self.ranks, self.suits) + cards.JOKERS[: self.jokers]

    def as_dict(self) -> dict[str, Any]:
        """The options as plain values, for records and result files."""
        return asdict(self)


_NUMBERS = {
    "ranks": (2, 13),
    "suits": (1, 4),
    "jokers": (0, len(cards.JOKERS)),
    "tricks": (1, MAX_TRICKS),
    "target": (1, 300),
}
_CHOICES = {
    "joker": ("high_card", "wild"),
    "lead_next": ("left", "winner"),
    "trick_tie": ("leader", "defenders"),
    "failed_bid": ("zero", "minus"),
}


PRESETS = {
    "standard": Rules(),
    # Nine cards: whether to bid for the one trick, whose cards play themselves.
    "tiny": Rules(ranks=2, jokers=1, tricks=1, target=2),
    # Eighteen cards: four a hand, two in the centre.
    "small": Rules(ranks=4, tricks=2, target=6),
    # The author's own version.
    "wild": Rules(joker="wild"),
}

# --- positions ------------------------------------------------------------------------------------


class Phase(IntEnum):
    """What a position waits for."""

    DEAL = 0
    AUCTION = 1
    PLAY = 2
    OVER = 3


DEAL, AUCTION, PLAY, OVER = (int(phase) for phase in Phase)
MATCH_DEAL = MATCHES.index("deal")
MATCH_GAME = MATCHES.index("game")

STATE = record_dtype(
    ("rules", RULES),
    # The score, by side.
    ("score", np.int32, (2,)),
    ("match", np.int8),
    # The deal going on. `hand` keeps the cards in their slots when they are played; `held`
    # has a bit for every slot still in the hand. Sets of cards are written as bits.
    ("dealt", np.int64, (SEATS,)),
    ("open", np.int64),
    ("phase", np.int8),
    ("player", np.int8),
    ("dealer", np.int8),
    ("hand", np.int8, (SEATS, MAX_HAND)),
    ("held", np.int16, (SEATS,)),
    # The auction: the highest bid, who made each bid, and what was bid when a seat passed.
    ("bid", np.int8),
    ("bidder", np.int8, (MAX_TRICKS,)),
    ("passed_at", np.int8, (SEATS,)),
    # Tricks in order. `five` has the two hands of each: two cards of the side's first seat, two of
    # its second, the centre card. `plays` counts in the trick going on.
    ("trick_count", np.int8),
    ("plays", np.int8),
    ("trick_leader", np.int8, (MAX_TRICKS,)),
    ("trick_winner", np.int8, (MAX_TRICKS,)),
    ("five", np.int8, (MAX_TRICKS, 2, 5)),
    # What the deal brought, once it is finished.
    ("deal_score", np.int32, (2,)),
)
"""A position of Pokex. -1 is no seat, no side, no card, and a seat that has not passed; `open` are
the cards that all have seen."""


@inlined
def to_move(state: np.void) -> int:
    """The seat to act, or `WANTS_DECK`, or `MATCH_OVER`."""
    if state["phase"] == DEAL:
        return WANTS_DECK
    if state["phase"] == OVER:
        return MATCH_OVER
    return int(state["player"])


@inlined
def players(state: np.void) -> int:
    """Pokex is for four."""
    return SEATS


def sides(state: np.void) -> tuple[tuple[int, ...], ...]:
    """Partners sit opposite each other."""
    return (0, 2), (1, 3)


@inlined
def declarer(state: np.void) -> int:
    """The seat of the highest bid, -1 before the first."""
    bid = state["bid"]
    return int(state["bidder"][bid - 1]) if bid > 0 else -1


@inlined
def tricks_taken(state: np.void, side: int) -> int:
    """Tricks that `side` has won so far in this deal."""
    taken = 0
    for trick in range(state["trick_count"]):
        taken += state["trick_winner"][trick] == side
    return int(taken)


def begin(state: np.void) -> None:
    """The beginning of a match: nobody has scored, as a position of zeros says."""


# --- phase: deal ----------------------------------------------------------------------------------


@compiled
def deal(state: np.void, deck: npt.NDArray[np.int8], dealer: int) -> None:
    """Start a deal (docs/rules.md 2.1): a hand to each from the dealer's left, then the centre.

    Args:
        state: position in phase `DEAL`.
        deck: int8, the pack in a full order.
        dealer: seat of the dealer, or -1: the next one.
    """
    tricks = np.int64(state["rules"]["tricks"])
    size = 2 * tricks
    state["dealer"] = (state["dealer"] + 1) % SEATS if dealer < 0 else dealer
    for turn in range(SEATS):
        seat = (state["dealer"] + 1 + turn) % SEATS
        _deal_hand(state, seat, deck[turn * size : (turn + 1) * size])
        state["passed_at"][seat] = -1
    state["open"] = 0
    for trick in range(MAX_TRICKS):
        state["bidder"][trick] = -1
        state["trick_leader"][trick] = -1
        state["trick_winner"][trick] = -1
        centre = np.int64(deck[SEATS * size + trick]) if trick < tricks else np.int64(-1)
        if centre >= 0:
            state["open"] |= np.int64(1) << centre
        for side in range(2):
            for place in range(4):
                state["five"][trick, side, place] = -1
            state["five"][trick, side, 4] = centre
    state["bid"] = 0
    state["trick_count"] = 0
    state["plays"] = 0
    state["deal_score"][0] = 0
    state["deal_score"][1] = 0
    state["player"] = (state["dealer"] + 1) % SEATS
    state["phase"] = AUCTION


@inlined
def _deal_hand(state: np.void, seat: int, hand: npt.NDArray[np.int8]) -> None:
    """Give `seat` the cards of `hand`, in ascending slots."""
    dealt = np.int64(0)
    for card in hand:
        dealt |= np.int64(1) << np.int64(card)
    slot = 0
    for card in range(MAX_CARDS):
        if dealt >> card & 1:
            state["hand"][seat, slot] = card
            slot += 1
    state["held"][seat] = (1 << slot) - 1
    while slot < MAX_HAND:
        state["hand"][seat, slot] = -1
        slot += 1
    state["dealt"][seat] = dealt


# --- phase: auction -------------------------------------------------------------------------------

PASS = 0


@inlined
def _apply_call(state: np.void, action: int) -> None:
    """Pass (0) or bid so many tricks; then the next seat, or the end (docs/rules.md 2.2)."""
    seat = state["player"]
    if action == PASS:
        state["passed_at"][seat] = state["bid"]
    else:
        state["bid"] = action
        state["bidder"][action - 1] = seat
    bidding = 0
    following = seat
    for turn in range(SEATS, 0, -1):
        other = (seat + turn) % SEATS
        if state["passed_at"][other] < 0:
            bidding += 1
            following = other
    if bidding == 0:
        state["phase"] = OVER if state["match"] == MATCH_DEAL else DEAL
    elif state["bid"] == state["rules"]["tricks"] or (bidding == 1 and state["bid"] > 0):
        state["phase"] = PLAY
        state["player"] = declarer(state)
        state["trick_leader"][0] = state["player"]
    else:
        state["player"] = following


# --- phase: play ----------------------------------------------------------------------------------

PLAY_FIRST = 1 + MAX_TRICKS
"""The action that plays the first pair of slots."""
_PAIRS = list(combinations(range(MAX_HAND), 2))
_PAIR = np.array(_PAIRS, np.int64)
"""The two slots of each pair."""
_PAIR_BITS = np.array([1 << low | 1 << high for low, high in _PAIRS], np.int16)
_TURNS = (0, 2, 1, 3)
"""Who plays to a trick, counted from its leader: he, his partner, then the other side."""


@inlined
def _apply_play(state: np.void, action: int) -> None:
    """Play the cards of two slots to the trick (docs/rules.md 2.3)."""
    seat = state["player"]
    pair = action - PLAY_FIRST
    trick = state["trick_count"]
    for i in range(2):
        card = np.int64(state["hand"][seat, _PAIR[pair, i]])
        state["five"][trick, seat % 2, 2 * (seat // 2) + i] = card
        state["open"] |= np.int64(1) << card
    state["held"][seat] &= ~_PAIR_BITS[pair]
    state["plays"] += 1
    if state["plays"] < SEATS:
        state["player"] = (state["trick_leader"][trick] + _TURNS[state["plays"]]) % SEATS
    else:
        _finish_trick(state)


@inlined
def strength(five: npt.NDArray[np.int8], wild: Int) -> int:
    """The worth of the five cards of a side in a trick; of equal hands with wild cards the one
    with fewer is worth more.

    Args:
        five: int8 (5,), card numbers in any order.
        wild: whether jokers are wild.
    """
    if not wild:
        return int(hand_value(five, 5, True))
    jokers = 0
    for place in range(5):
        jokers += five[place] >= cards.NUM_CARDS
    return int(4 * wild_hand_value(five) - jokers)


@compiled
def _finish_trick(state: np.void) -> None:
    """The better hand takes the trick; then the next one, or the end (docs/rules.md 2.3 to 2.6)."""
    trick = state["trick_count"]
    leader = state["trick_leader"][trick]
    side = leader % 2
    wild = state["rules"]["wild"]
    lead = strength(state["five"][trick, side], wild)
    reply = strength(state["five"][trick, 1 - side], wild)
    if lead == reply and state["rules"]["defenders_win_tie"]:
        winner = 1 - declarer(state) % 2
    else:
        winner = side if lead >= reply else 1 - side
    state["trick_winner"][trick] = winner
    state["trick_count"] += 1
    state["plays"] = 0
    if state["trick_count"] == state["rules"]["tricks"]:
        _finish_deal(state)
        return
    if not (state["rules"]["winner_leads"] and winner == side):
        leader = (leader + 1) % SEATS
    state["trick_leader"][trick + 1] = leader
    state["player"] = leader


# --- scoring --------------------------------------------------------------------------------------


@compiled
def _finish_deal(state: np.void) -> None:
    """Score the side that won the auction (docs/rules.md 2.7, 2.8)."""
    side = declarer(state) % 2
    bid = np.int64(state["bid"])
    worth = bid * (bid + 1) // 2
    over_bid = tricks_taken(state, side) - bid
    if over_bid >= 0:
        state["deal_score"][side] = worth + bid * over_bid
    elif state["rules"]["failed_costs"]:
        state["deal_score"][side] = -worth
    state["score"][side] += state["deal_score"][side]
    won = state["score"][side] >= state["rules"]["target"]
    state["phase"] = OVER if won or state["match"] == MATCH_DEAL else DEAL


@inlined
def points(state: np.void, below_value: float, reward: npt.NDArray[np.float64]) -> int:
    """Points of the deal that just ended, the own side's minus the other's, to both partners.

    Returns:
        `DEAL_ENDED` if the last action ended a deal, also one that all passed; otherwise `reward`
        is all zero.
    """
    ended = state["phase"] == DEAL or state["phase"] == OVER
    for seat in range(SEATS):
        own, other = seat % 2, 1 - seat % 2
        reward[seat] = state["deal_score"][own] - state["deal_score"][other] if ended else 0.0
    return DEAL_ENDED if ended else NOT_PAID


@compiled
def result(state: np.void, total: npt.NDArray[np.float64], reward: npt.NDArray[np.float64]) -> None:
    """What the match is worth to each seat: see `share_win`.

    A game is won by the side with the higher score (docs/rules.md 2.8), a deal by the sum of the
    points.
    """
    if state["match"] == MATCH_GAME:
        score = np.empty(SEATS)
        for seat in range(SEATS):
            score[seat] = state["score"][seat % 2]
        share_win(score, SEATS, reward)
    else:
        share_win(total, SEATS, reward)


STANDINGS = ("behind", "level", "ahead")


@compiled
def standing(state: np.void, seat: int) -> int:
    """Which side has the higher score, a place in `STANDINGS`."""
    return int(1 + np.sign(state["score"][seat % 2] - state["score"][1 - seat % 2]))


# --- one legal and one apply for every phase ------------------------------------------------------


@inlined
def legal_actions(state: np.void, mask: npt.NDArray[np.int8]) -> int:
    """Write 1 for every legal action of the seat to act, 0 elsewhere; returns their number."""
    mask[:] = 0
    count = 0
    if state["phase"] == AUCTION:
        mask[PASS] = 1
        count = 1
        for bid in range(state["bid"] + 1, state["rules"]["tricks"] + 1):
            mask[bid] = 1
            count += 1
    elif state["phase"] == PLAY:
        gone = ~state["held"][state["player"]]
        for pair in range(_PAIR_BITS.shape[0]):
            legal = gone & _PAIR_BITS[pair] == 0
            mask[PLAY_FIRST + pair] = legal
            count += legal
    return count


@inlined
def apply(state: np.void, deck: npt.NDArray[np.int8], action: int) -> None:
    """Carry out a legal action of the seat to act."""
    if state["phase"] == AUCTION:
        _apply_call(state, action)
    else:
        _apply_play(state, action)


# --- VIEW: what a player may know -----------------------------------------------------------------

NUM_RANKS = 14
"""Ranks of cards, that of the jokers included."""
SCORE_SCALE, SCORE_MAX = 33.0, 330

VIEW = (
    Piece("hand_rank", 168, 0, 1, "14 numbers a slot: rank of the card, 2 to joker, played or not"),
    Piece("hand_suit", 48, 0, 1, "4 numbers a slot: suit of the card, c d h s; joker 1 and 2 c d"),
    Piece("hand_held", 12, 0, 1, "slot still holds its card"),
    Piece("centre_rank", 84, 0, 1, "14 numbers a centre card, that of the next trick first: rank"),
    Piece("centre_suit", 24, 0, 1, "4 numbers a centre card, that of the next trick first: suit"),
    Piece("table_rank", 84, 0, 1, "rank of the two cards in this trick of left, partner, right"),
    Piece("table_suit", 24, 0, 1, "suit of the two cards in this trick of left, partner, right"),
    Piece(
        "played_rank", 48, 0, 1, "cards played, own, left's, partner's, right's: (rank + 1) / 14"
    ),
    Piece("played_suit", 48, 0, 1, "cards played, own, left's, partner's, right's: (suit + 1) / 4"),
    Piece("seen", 54, 0, 1, "cards seen: own hand, the centre, cards played"),
    Piece("bidder", 24, 0, 1, "who made each bid, 1 to 6: own, left, partner, right"),
    Piece("passed", 4, 0, 1, "has passed: own, left, partner, right"),
    Piece("passed_at", 4, 0, 1, "highest bid when they passed, / 6: own, left, partner, right"),
    Piece("bid", 1, 0, 1, "highest bid, / 6"),
    Piece("declarer", 4, 0, 1, "who made it: own, left, partner, right"),
    Piece("phase", 3, 0, 1, "auction, play, deal finished"),
    Piece("turn", 4, 0, 1, "whose turn it is: own, left, partner, right"),
    Piece("dealer", 4, 0, 1, "who deals: own, left, partner, right"),
    Piece("trick", 6, 0, 1, "the trick being played, or the first in the auction"),
    Piece("trick_leader", 24, 0, 1, "leader of each trick: own, left, partner, right"),
    Piece("trick_winner", 6, -1, 1, "winner of each trick: 1 own side, -1 the other, 0 none yet"),
    Piece("taken", 2, 0, 1, "tricks taken, / 6: own side, the other"),
    Piece("score", 2, -10, 10, "points, / 33, from -330 to 330: own side, the other"),
    Piece("wild", 1, 0, 1, "jokers are wild cards"),
)

AT = {piece.name: sum(earlier.size for earlier in VIEW[:index]) for index, piece in enumerate(VIEW)}
"""Where each piece begins in the flat observation."""

(
    _HAND_RANK, _HAND_SUIT, _HAND_HELD, _CENTRE_RANK, _CENTRE_SUIT, _TABLE_RANK, _TABLE_SUIT,
    _PLAYED_RANK, _PLAYED_SUIT, _SEEN, _BIDDER, _PASSED, _PASSED_AT, _BID, _DECLARER, _PHASE, _TURN,
    _DEALER, _TRICK, _TRICK_LEADER, _TRICK_WINNER, _TAKEN, _SCORE, _WILD,
) = AT.values()  # fmt: skip

_RANK_NUMBER = np.array([(card // 4 + 1) / NUM_RANKS for card in range(MAX_CARDS)], np.float32)
_SUIT_NUMBER = np.array([(card % 4 + 1) / 4 for card in range(MAX_CARDS)], np.float32)


@compiled
def observe(state: np.void, seat: int, observation: npt.NDArray[np.float32]) -> None:
    """Write all that `seat` may know, own things first, in the layout of `VIEW`.

    Args:
        state: any position after the first deal.
        seat: the observer.
        observation: float32 (683,), overwritten.
    """
    o = observation
    o[:] = 0.0
    _see_hand(state, seat, o)
    _see_centre(state, o)
    _see_tricks(state, seat, o)
    _see_auction(state, seat, o)
    seen = np.int64(state["dealt"][seat] | state["open"])
    cards.write_flags(seen, o[_SEEN : _SEEN + MAX_CARDS])
    phase = np.int64(state["phase"])
    o[_PHASE + (2 if phase in (DEAL, OVER) else phase - 1)] = 1.0
    if phase in (AUCTION, PLAY):
        o[_TURN + _place_of(state["player"], seat)] = 1.0
    o[_DEALER + _place_of(state["dealer"], seat)] = 1.0
    for i in range(2):
        side = (seat + i) % 2
        o[_TAKEN + i] = tricks_taken(state, side) / MAX_TRICKS
        o[_SCORE + i] = max(-SCORE_MAX, min(state["score"][side], SCORE_MAX)) / SCORE_SCALE
    o[_WILD] = state["rules"]["wild"]


@inlined
def _place_of(other: Int, seat: int) -> int:
    """Where a seat comes in turn order after the observer, who is at place 0."""
    return int((np.int64(other) - seat) % SEATS)


@inlined
def _see_card(card: Int, rank: int, suit: int, o: npt.NDArray[np.float32]) -> None:
    """Write a card: one of 14 ranks at `rank`, one of 4 suits at `suit`."""
    o[rank + (card >> 2)] = 1.0
    o[suit + (card & 3)] = 1.0


@inlined
def _see_hand(state: np.void, seat: int, o: npt.NDArray[np.float32]) -> None:
    held = np.int64(state["held"][seat])
    for slot in range(2 * state["rules"]["tricks"]):
        card = np.int64(state["hand"][seat, slot])
        _see_card(card, _HAND_RANK + NUM_RANKS * slot, _HAND_SUIT + 4 * slot, o)
        o[_HAND_HELD + slot] = (held >> slot) & 1


@inlined
def _see_centre(state: np.void, o: npt.NDArray[np.float32]) -> None:
    """The centre in its order, but the cards that are out of play come last."""
    tricks = np.int64(state["rules"]["tricks"])
    for place in range(tricks):
        card = np.int64(state["five"][(state["trick_count"] + place) % tricks, 0, 4])
        _see_card(card, _CENTRE_RANK + NUM_RANKS * place, _CENTRE_SUIT + 4 * place, o)


@inlined
def _see_tricks(state: np.void, seat: int, o: npt.NDArray[np.float32]) -> None:
    """The tricks in order; the cards of the one going on once more by themselves."""
    count = np.int64(state["trick_count"])
    if count < state["rules"]["tricks"]:
        o[_TRICK + count] = 1.0
    for trick in range(count + (state["phase"] == PLAY)):
        o[_TRICK_LEADER + SEATS * trick + _place_of(state["trick_leader"][trick], seat)] = 1.0
        if trick < count:
            o[_TRICK_WINNER + trick] = 1.0 if state["trick_winner"][trick] == seat % 2 else -1.0
        for turn in range(SEATS):
            who = (seat + turn) % SEATS
            for i in range(2):
                card = np.int64(state["five"][trick, who % 2, 2 * (who // 2) + i])
                if card >= 0:
                    place = MAX_HAND * turn + 2 * trick + i
                    o[_PLAYED_RANK + place] = _RANK_NUMBER[card]
                    o[_PLAYED_SUIT + place] = _SUIT_NUMBER[card]
                    if trick == count and turn > 0:
                        place = 2 * (turn - 1) + i
                        _see_card(card, _TABLE_RANK + NUM_RANKS * place, _TABLE_SUIT + 4 * place, o)


@inlined
def _see_auction(state: np.void, seat: int, o: npt.NDArray[np.float32]) -> None:
    for bid in range(state["bid"]):
        if state["bidder"][bid] >= 0:
            o[_BIDDER + SEATS * bid + _place_of(state["bidder"][bid], seat)] = 1.0
    for turn in range(SEATS):
        passed_at = state["passed_at"][(seat + turn) % SEATS]
        if passed_at >= 0:
            o[_PASSED + turn] = 1.0
            o[_PASSED_AT + turn] = passed_at / MAX_TRICKS
    if state["bid"] > 0:
        o[_BID] = state["bid"] / MAX_TRICKS
        o[_DECLARER + _place_of(declarer(state), seat)] = 1.0


Views: TypeAlias = Mapping[str, npt.NDArray[np.float32]]

SEEN_FROM = ("own", "left", "partner", "right")
"""The seats as an observer names them, in turn order."""


def decode(pieces: Views) -> dict[str, Any]:
    """What an observation says, in plain values; the inverse of `observe`.

    Args:
        pieces: the named pieces of one observation, as `observation.split` gives them.

    Returns:
        Seats are "own", "left", "partner" and "right", sides "own" and "other", both None where
        there is none; tuples by seat or side are in this order. `hand`, `seen`: card numbers,
        ascending; `slots`: the hand as it was dealt, which actions refer to; `centre`: the centre
        row as it was dealt; `table`: by seat the cards played to the trick going on; `tricks`: for
        each trick `leader`, `cards` by seat, `centre` and `winner`; `bids`: (bid, seat) in order;
        `passed_at`: by seat the highest bid when it passed, None if it has not; `bid`: the highest
        bid, 0 for none; `declarer`, `turn`, `dealer`: seats; `phase`: "auction", "play" or "over";
        `taken`, `score`: by side; `wild`: whether jokers are wild cards.
    """
    slots = _cards_at(pieces, "hand")
    held = pieces["hand_held"] > 0.5
    rotated = tuple(card for card in _cards_at(pieces, "centre") if card >= 0)
    leaders = [_seat(row) for row in pieces["trick_leader"].reshape(MAX_TRICKS, SEATS)]
    winners = [{1: "own", -1: "other"}.get(number) for number in _round(pieces["trick_winner"])]
    finished = sum(winner is not None for winner in winners)
    centre = tuple(rotated[place - finished] for place in range(len(rotated)))
    played = np.array(
        [
            4 * (rank - 1) + suit - 1 if rank else -1
            for rank, suit in zip(
                _round(pieces["played_rank"] * NUM_RANKS),
                _round(pieces["played_suit"] * 4),
                strict=True,
            )
        ]
    ).reshape(SEATS, MAX_TRICKS, 2)
    tricks = [
        {
            "leader": leader,
            "cards": tuple(_held_cards(played[seat, trick]) for seat in range(SEATS)),
            "centre": centre[trick],
            "winner": winners[trick],
        }
        for trick, leader in enumerate(leaders)
        if leader is not None
    ]
    on_table = np.array(_cards_at(pieces, "table")).reshape(3, 2)
    own_play = _held_cards(played[0, finished]) if finished < len(centre) else ()
    passed_at = _round(pieces["passed_at"] * MAX_TRICKS)
    bidders = [_seat(row) for row in pieces["bidder"].reshape(MAX_TRICKS, SEATS)]
    return {
        "hand": tuple(card for slot, card in enumerate(slots) if held[slot]),
        "slots": tuple(card for card in slots if card >= 0),
        "centre": centre,
        "seen": tuple(np.flatnonzero(pieces["seen"]).tolist()),
        "table": (own_play, *(_held_cards(pair) for pair in on_table)),
        "tricks": tricks,
        "bids": tuple((bid + 1, who) for bid, who in enumerate(bidders) if who is not None),
        "passed_at": tuple(
            bid if passed else None
            for bid, passed in zip(passed_at, _round(pieces["passed"]), strict=True)
        ),
        "bid": _round(pieces["bid"] * MAX_TRICKS)[0],
        "declarer": _seat(pieces["declarer"]),
        "turn": _seat(pieces["turn"]),
        "dealer": _seat(pieces["dealer"]),
        "phase": ("auction", "play", "over")[int(pieces["phase"].argmax())],
        "taken": tuple(_round(pieces["taken"] * MAX_TRICKS)),
        "score": tuple(_round(pieces["score"] * SCORE_SCALE)),
        "wild": bool(pieces["wild"][0] > 0.5),
    }


def _round(numbers: npt.NDArray[np.float32]) -> list[int]:
    return [int(number) for number in np.rint(np.asarray(numbers, np.float64))]


def _seat(numbers: npt.NDArray[np.float32]) -> str | None:
    return SEEN_FROM[int(numbers.argmax())] if numbers.any() else None


def _cards_at(pieces: Views, name: str) -> list[int]:
    """The cards of a `…_rank` and a `…_suit` piece, -1 in empty places."""
    ranks = pieces[f"{name}_rank"].reshape(-1, NUM_RANKS)
    suits = pieces[f"{name}_suit"].reshape(-1, 4)
    return [
        4 * int(rank.argmax()) + int(suit.argmax()) if rank.any() else -1
        for rank, suit in zip(ranks, suits, strict=True)
    ]


def _held_cards(numbers: Any) -> tuple[int, ...]:
    return tuple(int(card) for card in numbers if card >= 0)


# --- ACTIONS: their number and text ---------------------------------------------------------------


def num_actions(rules: Rules) -> int:
    """Size of the action space, the same under all rules: pass, 6 bids, 66 pairs of slots."""
    return PLAY_FIRST + len(_PAIRS)


def action_text(state: np.void, action: int) -> str:
    """An action of the seat to move as text: "pass", "bid 3", "play 9c Kd"."""
    if action == PASS:
        return "pass"
    if action < PLAY_FIRST:
        return f"bid {action}"
    hand = state["hand"][state["player"]]
    return f"play {format_cards(hand[slot] for slot in _PAIRS[action - PLAY_FIRST])}"


def parse_action(state: np.void, text: str) -> int:
    """The action that a text stands for: "pass", a number of tricks or two cards of the hand.

    The verbs "bid" and "play" may be left out.

    Raises:
        ValueError: if the text is none of these, or not what the seat to move is asked for.
    """
    if not isinstance(cast(Any, text), str):
        raise ValueError(f"action text must be a str, got {shown(text)}")
    words = text.lower().split()
    if state["phase"] == AUCTION:
        if words[:1] == ["bid"]:
            words = words[1:]
        elif words == ["pass"]:
            return PASS
        most = int(state["rules"]["tricks"])
        bids = {str(bid): bid for bid in range(1, most + 1)}
        if len(words) != 1 or words[0] not in bids:
            raise ValueError(
                f"action {text!r} is not understood; say 'pass' or 'bid' and a number of tricks "
                f"from 1 to {most}"
            )
        return bids[words[0]]
    if words[:1] == ["play"]:
        words = words[1:]
    slots = _slots(state, int(state["player"]))
    chosen = cards.parse_cards(" ".join(words))
    if len(chosen) != 2 or any(card not in slots for card in chosen):
        raise ValueError(
            f"action {text!r} is not understood; say 'play' and two cards of {format_cards(slots)}"
        )
    first, second = sorted(slots[card] for card in chosen)
    return PLAY_FIRST + _PAIRS.index((first, second))


def _slots(state: np.void, seat: int) -> dict[int, int]:
    """The slot of each card that a seat still holds, in ascending order."""
    held = int(state["held"][seat])
    return {int(state["hand"][seat, slot]): slot for slot in range(MAX_HAND) if held >> slot & 1}


# --- the score pad --------------------------------------------------------------------------------

Cards: TypeAlias = tuple[int, ...]


class Trick(NamedTuple):
    """A finished trick: `cards` by seat, and the side that won."""

    leader: int
    cards: tuple[Cards, Cards, Cards, Cards]
    centre: int
    winner: int


class DealResult(NamedTuple):
    """A finished deal (docs/rules.md 2.2 to 2.7).

    `hands` by seat as they were dealt, `centre` from the left; `calls` in order, each a seat and
    its bid, 0 for a pass. In a deal that all passed `declarer` is None, `bid` 0, and there are no
    tricks. `tricks_taken` and `score` are pairs by side.
    """

    dealer: int
    hands: tuple[Cards, Cards, Cards, Cards]
    centre: Cards
    calls: tuple[tuple[int, int], ...]
    declarer: int | None
    bid: int
    tricks: tuple[Trick, ...]
    tricks_taken: tuple[int, int]
    score: tuple[int, int]

    def points(self, below_value: float = 0.0) -> tuple[float, ...]:
        """Zero-sum points of the deal by seat; there are none below the line."""
        margin = float(self.score[0] - self.score[1])
        return margin, -margin, margin, -margin


class ScoreSheet(NamedTuple):
    """The pad: points by side, the dealer, and all finished deals of the match."""

    points: tuple[int, int]
    dealer: int
    deals: tuple[DealResult, ...]


def _pair(values: Any) -> tuple[int, int]:
    return int(values[0]), int(values[1])


def _by_seat(cards_of: Any) -> tuple[Cards, Cards, Cards, Cards]:
    return cards_of(0), cards_of(1), cards_of(2), cards_of(3)


def _calls(state: np.void) -> list[tuple[int, int]]:
    """The auction so far in order: seats and their bids, 0 for a pass."""
    calls = []
    bids = [bid for bid in range(1, MAX_TRICKS + 1) if state["bidder"][bid - 1] >= 0]
    for standing, following in zip([0, *bids], [*bids, 0]):
        # Every seat has at most one turn between two bids, and they are in order.
        last = int(state["bidder"][standing - 1] if standing else state["dealer"])
        turns = [(last + turn) % SEATS for turn in range(1, SEATS + 1)]
        calls += [(seat, PASS) for seat in turns if state["passed_at"][seat] == standing]
        if following:
            calls.append((int(state["bidder"][following - 1]), following))
    return calls


def _cards_played(state: np.void, trick: int, seat: int) -> Cards:
    place = 2 * (seat // 2)
    return _held_cards(state["five"][trick, seat % 2, place : place + 2])


def _centre(state: np.void) -> Cards:
    return _held_cards(state["five"][:, 0, 4])


def _deal_result(state: np.void) -> DealResult:
    bid = int(state["bid"])
    return DealResult(
        dealer=int(state["dealer"]),
        hands=_by_seat(lambda seat: _held_cards(state["hand"][seat])),
        centre=_centre(state),
        calls=tuple(_calls(state)),
        declarer=declarer(state) if bid else None,
        bid=bid,
        tricks=tuple(
            Trick(
                leader=int(state["trick_leader"][trick]),
                cards=_by_seat(lambda seat, trick=trick: _cards_played(state, trick, seat)),
                centre=int(state["five"][trick, 0, 4]),
                winner=int(state["trick_winner"][trick]),
            )
            for trick in range(state["trick_count"])
        ),
        tricks_taken=(tricks_taken(state, 0), tricks_taken(state, 1)),
        score=_pair(state["deal_score"]),
    )


def score_sheet(state: np.void, finished: Sequence[np.void]) -> ScoreSheet:
    """The pad at `state`; `finished` holds the position at the end of each finished deal."""
    return ScoreSheet(
        points=_pair(state["score"]),
        dealer=int(state["dealer"]),
        deals=tuple(_deal_result(end) for end in finished),
    )


def place_score(state: np.void, score: Mapping[str, Any]) -> None:
    """Start a match from a score at which one can stand; what `score` leaves out is 0.

    Args:
        state: position whose score is written, only if all of it is valid.
        score: `points`, a pair by side, each below the target, and not below 0 unless bids that
            fail cost points.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """
    if not isinstance(score, Mapping):
        raise ValueError(f"score must be a dict of points, got {score!r}")
    unknown = [key for key in score if key != "points"]
    if unknown:
        raise ValueError(f"score has unknown fields {unknown}; allowed is points")
    pair = score.get("points", (0, 0))
    if isinstance(pair, np.ndarray):
        pair = pair.tolist()
    least = -1_000_000 if state["rules"]["failed_costs"] else 0
    most = int(state["rules"]["target"]) - 1
    given = pair if isinstance(pair, (tuple, list)) else ()
    numbers = [number for one in given if (number := as_integer(one)) is not None]
    if len(given) != 2 or len(numbers) != 2 or not least <= min(numbers) <= max(numbers) <= most:
        raise ValueError(f"score points must be two integers from {least} to {most}, got {pair!r}")
    state["score"] = numbers


# --- TABLE: the picture ---------------------------------------------------------------------------

_NAMES = tuple(f"player_{seat}" for seat in range(SEATS))
_SIDES = ("players 0 and 2", "players 1 and 3")


def table(state: np.void, viewers: frozenset[int]) -> Table:
    """The table as those in `viewers` see it together.

    Blocks: the score by side, the auction, the centre and the hands (a lone viewer's own comes
    last), the tricks in order. A hand that was not played stays hidden.
    """
    phase = Phase(int(state["phase"]))
    last = min(viewers) if len(viewers) == 1 else SEATS - 1
    hands = [Line("centre", _centre_cards(state))]
    for turn in range(1, SEATS + 1):
        seat = (last + turn) % SEATS
        hands.append(_seat_line(state, seat, seat in viewers))
    shown_tricks = int(state["trick_count"]) + (phase == Phase.PLAY)
    mover = _NAMES[int(state["player"])]
    first, second = _pair(state["score"])
    won = first != second and state["match"] == MATCH_GAME
    turn_text = {
        Phase.DEAL: "deal finished",
        Phase.AUCTION: f"{mover} to bid or pass",
        Phase.PLAY: f"{mover} to play",
        Phase.OVER: f"match over, {_SIDES[first < second]} have won" if won else "match over",
    }[phase]
    match = MATCHES[int(state["match"])]
    return Table(
        title=f"Pokex ({match}): {_NAMES[int(state['dealer'])]} deals, {turn_text}",
        blocks=(
            _score_lines(state, phase in (Phase.DEAL, Phase.OVER)),
            _auction_lines(state),
            tuple(hands),
            tuple(line for trick in range(shown_tricks) for line in _trick_lines(state, trick)),
        ),
    )


def _score_lines(state: np.void, finished: bool) -> tuple[Line, ...]:
    lines = [
        Line("score", _SIDES),
        _pair_line("points", state["score"]),
        _pair_line("tricks taken", (tricks_taken(state, 0), tricks_taken(state, 1))),
    ]
    if finished:
        lines.append(_pair_line("this deal", state["deal_score"]))
    return tuple(lines)


def _pair_line(label: str, numbers: Sequence[Any]) -> Line:
    return Line(label, tuple(str(int(number)) for number in numbers))


def _auction_lines(state: np.void) -> tuple[Line, ...]:
    """A line for each round of the auction, a column for each seat from the dealer's left."""
    first = int(state["dealer"]) + 1
    rounds: list[list[str]] = []
    column = SEATS
    for seat, bid in _calls(state):
        place = (seat - first) % SEATS
        if place <= column:
            rounds.append([""] * SEATS)
        column = place
        rounds[-1][column] = f"bid {bid}" if bid else "pass"
    names = tuple(_NAMES[(first + turn) % SEATS] for turn in range(SEATS))
    return Line("auction", names), *(Line("", tuple(calls)) for calls in rounds)


def _centre_cards(state: np.void) -> tuple[Card, ...]:
    """The centre row; what is out of play is lowered."""
    out = int(state["trick_count"])
    return tuple(Card(card, lowered=place < out) for place, card in enumerate(_centre(state)))


def _seat_line(state: np.void, seat: int, visible: bool) -> Line:
    roles = [
        role
        for role, holder in (("dealer", int(state["dealer"])), ("declarer", declarer(state)))
        if seat == holder
    ]
    label = f"{_NAMES[seat]} ({', '.join(roles)})" if roles else _NAMES[seat]
    return Line(label, tuple(Card(card if visible else None) for card in _slots(state, seat)))


def _trick_lines(state: np.void, trick: int) -> tuple[Line, Line]:
    """The cards of both sides, the one that leads first; those that lost are lowered."""
    leader = int(state["trick_leader"][trick])
    winner = int(state["trick_winner"][trick])
    lines = []
    for label, first in ((f"trick {trick + 1}", leader), ("", (leader + 1) % SEATS)):
        side = first % 2
        lost = winner == 1 - side
        items: list[str | Card] = []
        for seat in (first, (first + 2) % SEATS):
            items.append(_NAMES[seat])
            items += [Card(card, lost) for card in _cards_played(state, trick, seat)]
        if winner >= 0:
            items.append(_hand_text(state, trick, side))
        lines.append(Line(label, tuple(items)))
    return lines[0], lines[1]


def _hand_text(state: np.void, trick: int, side: int) -> str:
    """What a side's five cards of a trick make, in words."""
    five = state["five"][trick, side]
    wild = state["rules"]["wild"]
    return str(HandRank(int(wild_hand_value(five) if wild else hand_value(five, 5, True))))


POKEX = register(
    Game(
        name="pokex",
        version=0,
        seats=SEATS,
        max_cards=MAX_CARDS,
        matches=("game", "deal"),
        rewards=("points", "win"),
        spread=3.0,
        max_deals=100,
        sides=sides,
        rules=Rules,
        presets=PRESETS,
        state=STATE,
        view=VIEW,
        standings=STANDINGS,
        to_move=to_move,
        players=players,
        deal=deal,
        legal_actions=legal_actions,
        apply=apply,
        observe=observe,
        points=points,
        result=result,
        standing=standing,
        begin=begin,
        pack=Rules.pack,
        num_actions=num_actions,
        place_score=place_score,
        action_text=action_text,
        parse_action=parse_action,
        table=table,
        decode=decode,
        score_sheet=score_sheet,
    )
)
