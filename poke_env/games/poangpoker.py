"""Poängpoker: one exchange, five tricks, and the best poker hand (docs/rules.md, section 4).

A position is one record of `STATE`; the functions over it are the rules. Arrays by seat have room
for six; a table of fewer leaves the last ones zero. The seat after p is p + 1, after the last one
0. Cards lie in five slots, ascending; an action is a set of slots written as bits: those to change
in the exchange, the one to play in a trick. Chance enters as deck orders only: a position in phase
`DEAL` waits for one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import IntEnum
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from poke_env import cards
from poke_env._checks import check_flag, check_integer, shown
from poke_env._jit import compiled, inlined
from poke_env._records import record_dtype
from poke_env.cards import CATEGORY_SHIFT, Category, HandRank, format_cards, hand_value
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

MAX_PLAYERS = 6
MAX_HAND = 5
MAX_POINTS = 1_000

RULES = record_dtype(
    ("poker_points", np.int32, (10,)),
    ("last_trick_points", np.int32),
    ("target", np.int32),
    ("players", np.int8),
    ("ranks", np.int8),
    ("suits", np.int8),
    ("hand_size", np.int8),
    ("max_discard", np.int8),
    ("must_head", np.int8),
    ("all_score_tie", np.int8),
    ("check_after_trick", np.int8),
)
"""The options inside a position."""


@dataclass(frozen=True)
class Rules:
    """The options of Poängpoker (docs/rules.md, section 4); the defaults are the full game.

    Attributes:
        players: number of players (2 to 6).
        ranks: number of ranks in the pack, the highest ones (2 to 13).
        suits: number of suits in the pack, from clubs upwards (1 to 4).
        hand_size: cards in a hand (2 to 5); smaller hands know only sets as poker hands.
        max_discard: most cards changed in the exchange (0 to hand_size).
        last_trick_points: points for winning the last trick (0 to 1,000).
        poker_points: points of the ten categories, high card to royal flush (0 to 1,000 each; if
            nothing brings points a game need not end, so set `max_deals`).
        target: points that win the game (1 to 1,000).
        must_head: who follows suit must beat the best card of the suit if he can.
        tie: who scores for exactly equal best hands, `"none"` or `"all"` that hold one.
        win_check: when totals are looked at, `"after_trick"`, the last one, and again after the
            hands, or `"end_of_deal"` alone.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """

    players: int = 4
    ranks: int = 13
    suits: int = 4
    hand_size: int = 5
    max_discard: int = 5
    last_trick_points: int = 2
    poker_points: tuple[int, ...] = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    target: int = 13
    must_head: bool = True
    tie: str = "none"
    win_check: str = "after_trick"

    def __post_init__(self) -> None:
        self._check_number("players", 2, MAX_PLAYERS)
        self._check_number("ranks", 2, len(cards.RANKS))
        self._check_number("suits", 1, len(cards.SUITS))
        self._check_number("hand_size", 2, MAX_HAND)
        self._check_number("max_discard", 0, self.hand_size)
        self._check_number("last_trick_points", 0, MAX_POINTS)
        self._check_number("target", 1, MAX_POINTS)
        self._check_poker_points()
        object.__setattr__(self, "must_head", check_flag("must_head", self.must_head))
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                raise ValueError(
                    f"{name} must be {allowed[0]!r} or {allowed[1]!r}, got {shown(value)}"
                )
        if self.ranks * self.suits < self.players * self.hand_size:
            raise ValueError(
                f"players must leave each a hand, but {self.players} hands of "
                f"hand_size={self.hand_size} take {self.players * self.hand_size} cards, and "
                f"ranks={self.ranks} and suits={self.suits} make {self.ranks * self.suits}"
            )

    def _check_number(self, name: str, low: int, high: int) -> None:
        object.__setattr__(self, name, check_integer(name, getattr(self, name), low, high))

    def _check_poker_points(self) -> None:
        values = cast(Any, self.poker_points)
        if not isinstance(values, (tuple, list)) or len(values) != len(Category):
            raise ValueError(
                f"poker_points must be {len(Category)} integers from 0 to {MAX_POINTS}, "
                f"got {shown(values)}"
            )
        checked = tuple(
            check_integer(f"poker_points[{category}]", value, 0, MAX_POINTS)
            for category, value in enumerate(values)
        )
        object.__setattr__(self, "poker_points", checked)

    def write(self, record: np.void) -> None:
        """Copy the options into `record`, a record of dtype `RULES`."""
        for name in ("players", "ranks", "suits", "hand_size", "max_discard", "last_trick_points",
                     "poker_points", "target", "must_head"):  # fmt: skip
            record[name] = getattr(self, name)
        record["all_score_tie"] = self.tie == "all"
        record["check_after_trick"] = self.win_check == "after_trick"

    def pack(self) -> tuple[int, ...]:
        """The card numbers of the pack, ascending."""
        return cards.pack(self.ranks, self.suits)

    def as_dict(self) -> dict[str, Any]:
        """The options as plain values, for records and result files."""
        return asdict(self)


_CHOICES = {"tie": ("none", "all"), "win_check": ("after_trick", "end_of_deal")}


PRESETS = {
    "standard": Rules(),
    # Six cards, two each: the stock of two serves one card for each player.
    "tiny": Rules(players=2, ranks=3, suits=2, hand_size=2, max_discard=1, target=4),
    # Twelve cards, three each: the first to exchange may take all three cards of the stock.
    "small": Rules(players=3, ranks=6, suits=2, hand_size=3, max_discard=3, target=6),
}

# --- positions ------------------------------------------------------------------------------------


class Phase(IntEnum):
    """What a position waits for."""

    DEAL = 0
    EXCHANGE = 1
    TRICK = 2
    OVER = 3


DEAL, EXCHANGE, TRICK, OVER = (int(phase) for phase in Phase)
MATCH_DEAL, MATCH_GAME = (MATCHES.index(match) for match in ("deal", "game"))

STATE = record_dtype(
    ("rules", RULES),
    # The score, by seat, and who has won the game (-1: nobody yet).
    ("points", np.int32, (MAX_PLAYERS,)),
    ("winner", np.int8),
    ("match", np.int8),
    # The deal going on. `hand` keeps the cards in their slots when they are played; `held` has a
    # bit for every slot still in the hand. Discards are sets of cards, written as bits. `dealt`
    # cards of the deck are gone, `exchanged` is -1 until the seat has had its exchange.
    ("discards", np.int64, (MAX_PLAYERS,)),
    ("phase", np.int8),
    ("player", np.int8),
    ("dealer", np.int8),
    ("dealt", np.int8),
    ("hand", np.int8, (MAX_PLAYERS, MAX_HAND)),
    ("held", np.int8, (MAX_PLAYERS,)),
    ("exchanged", np.int8, (MAX_PLAYERS,)),
    # Tricks in order; the card of each seat as its slot, -1 until it has played. On the table the
    # best card of the suit led, -1 before the lead, and who played it.
    ("trick_count", np.int8),
    ("trick_leader", np.int8, (MAX_HAND,)),
    ("trick_winner", np.int8, (MAX_HAND,)),
    ("trick_slot", np.int8, (MAX_HAND, MAX_PLAYERS)),
    ("best_card", np.int8),
    ("best_seat", np.int8),
    # What the deal brought, once it is finished.
    ("deal_value", np.int64, (MAX_PLAYERS,)),
    ("deal_last_trick", np.int32, (MAX_PLAYERS,)),
    ("deal_poker", np.int32, (MAX_PLAYERS,)),
    ("deal_hands_counted", np.int8),
)
"""A position of Poängpoker."""


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
    """Number of players, two to six."""
    return int(state["rules"]["players"])


@inlined
def _after(state: np.void, seat: Int) -> int:
    """The seat whose turn is next."""
    following = int(seat) + 1
    return 0 if following == players(state) else following


@inlined
def stock_left(state: np.void) -> int:
    """Cards of the stock that nobody has taken yet."""
    rules = state["rules"]
    return int(np.int64(rules["ranks"]) * rules["suits"] - state["dealt"])


# Sets of slots are bits, and so are sets of actions: bit a stands for action a.
_SETS = range(1 << MAX_HAND)
_UP_TO_SIZE = np.array(
    [sum(1 << bits for bits in _SETS if bits.bit_count() <= most) for most in range(MAX_HAND + 1)]
)
"""The actions of at most so many slots."""
_ONE_OF = np.array(
    [sum(1 << (1 << slot) for slot in range(MAX_HAND) if held >> slot & 1) for held in _SETS]
)
"""The actions that take one slot out of a set."""
_SLOT = np.array([max(bits.bit_length() - 1, 0) for bits in _SETS], np.int64)
"""The slot of an action that takes one."""


def begin(state: np.void) -> None:
    """The beginning of a match."""
    state["winner"] = -1


# --- phase: deal ----------------------------------------------------------------------------------


@compiled
def deal(state: np.void, deck: npt.NDArray[np.int8], dealer: int) -> None:
    """Start a deal (docs/rules.md 4.1): the first cards to the seat after the dealer, and so on.

    Args:
        state: position in phase `DEAL`.
        deck: int8, the pack in a full order.
        dealer: seat of the dealer, or -1: the deal passes to the next seat.
    """
    size = int(state["rules"]["hand_size"])
    state["dealer"] = _after(state, state["dealer"]) if dealer < 0 else dealer
    starter = _after(state, state["dealer"])
    seat = starter
    for turn in range(players(state)):
        for slot in range(MAX_HAND):
            state["hand"][seat, slot] = deck[turn * size + slot] if slot < size else -1
        cards.sort_hand(state["hand"][seat], size)
        state["held"][seat] = (1 << size) - 1
        state["discards"][seat] = 0
        state["exchanged"][seat] = -1
        state["deal_value"][seat] = 0
        state["deal_last_trick"][seat] = 0
        state["deal_poker"][seat] = 0
        for trick in range(MAX_HAND):
            state["trick_slot"][trick, seat] = -1
        seat = _after(state, seat)
    for trick in range(MAX_HAND):
        state["trick_leader"][trick] = -1
        state["trick_winner"][trick] = -1
    state["trick_count"] = 0
    state["best_card"] = -1
    state["best_seat"] = -1
    state["deal_hands_counted"] = 0
    state["dealt"] = players(state) * size
    state["player"] = starter
    state["phase"] = EXCHANGE


# --- phase: exchange ------------------------------------------------------------------------------


@inlined
def _legal_exchanges(state: np.void) -> int:
    """Legal exchanges as a set of actions, bit a for action a (docs/rules.md 4.1).

    In small hands some of them are beyond the action space; a mask of its size leaves them out.
    """
    return int(_UP_TO_SIZE[min(int(state["rules"]["max_discard"]), stock_left(state))])


@inlined
def _apply_exchange(state: np.void, deck: npt.NDArray[np.int8], action: int) -> None:
    """Change the cards in the slots of `action`, the lowest first (docs/rules.md 4.1)."""
    seat = state["player"]
    dealt = int(state["dealt"])
    for slot in range(MAX_HAND):
        if (action >> slot) & 1:
            state["discards"][seat] |= np.int64(1) << np.int64(state["hand"][seat, slot])
            state["hand"][seat, slot] = deck[dealt]
            dealt += 1
    cards.sort_hand(state["hand"][seat], int(state["rules"]["hand_size"]))
    state["exchanged"][seat] = dealt - state["dealt"]
    state["dealt"] = dealt
    # The dealer is the last to exchange, and the seat after him leads.
    if seat == state["dealer"]:
        state["phase"] = TRICK
    state["player"] = _after(state, seat)


# --- phase: trick ---------------------------------------------------------------------------------


@inlined
def _legal_plays(state: np.void) -> int:
    """Legal cards to lead or to follow with as a set of actions (docs/rules.md 4.2)."""
    seat = state["player"]
    held = np.int64(state["held"][seat])
    best = np.int64(state["best_card"])
    if best < 0:
        return int(_ONE_OF[held])
    following = np.int64(0)
    heading = np.int64(0)
    for slot in range(MAX_HAND):
        card = np.int64(state["hand"][seat, slot])
        follows = np.int64(((card ^ best) & 3) == 0) << slot
        following |= follows
        heading |= follows * np.int64(card > best)
    following &= held
    heading &= held
    if state["rules"]["must_head"] and heading:
        return int(_ONE_OF[heading])
    return int(_ONE_OF[following if following else held])


@inlined
def _apply_play(state: np.void, action: int) -> None:
    """Play the card in the slot of `action` (docs/rules.md 4.2)."""
    seat = state["player"]
    trick = state["trick_count"]
    slot = _SLOT[action]
    card = np.int64(state["hand"][seat, slot])
    best = np.int64(state["best_card"])
    if best < 0:
        state["trick_leader"][trick] = seat
    # Of one suit, the greater number is the higher card.
    if best < 0 or (((card ^ best) & 3) == 0 and card > best):
        state["best_card"] = card
        state["best_seat"] = seat
    state["trick_slot"][trick, seat] = slot
    state["held"][seat] &= ~action
    state["player"] = _after(state, seat)
    if state["player"] == state["trick_leader"][trick]:
        _finish_trick(state)


@inlined
def _finish_trick(state: np.void) -> None:
    winner = state["best_seat"]
    state["trick_winner"][state["trick_count"]] = winner
    state["trick_count"] += 1
    state["best_card"] = -1
    state["best_seat"] = -1
    state["player"] = winner
    if state["trick_count"] == state["rules"]["hand_size"]:
        _finish_deal(state)


# --- scoring --------------------------------------------------------------------------------------


@compiled
def _finish_deal(state: np.void) -> None:
    """Write the finished deal on the pad: the last trick, then the hands (docs/rules.md 4.3, 4.4).

    Who has won by the last trick has won at once: the hands are not counted any more.
    """
    rules = state["rules"]
    taker = state["trick_winner"][state["trick_count"] - 1]
    state["deal_last_trick"][taker] = rules["last_trick_points"]
    state["points"][taker] += rules["last_trick_points"]
    if rules["check_after_trick"]:
        state["winner"] = _winner(state)
    if state["winner"] < 0:
        _count_hands(state)
        state["winner"] = _winner(state)
    over = state["match"] == MATCH_DEAL or state["winner"] >= 0
    state["phase"] = OVER if over else DEAL


@inlined
def _count_hands(state: np.void) -> None:
    """Write the points of the best poker hand (docs/rules.md 4.3)."""
    rules = state["rules"]
    best = np.int64(-1)
    holders = 0
    for seat in range(players(state)):
        # A-2-3-4-5 always counts.
        value = hand_value(state["hand"][seat], int(rules["hand_size"]), True)
        state["deal_value"][seat] = value
        if value > best:
            best = value
            holders = 0
        holders += value == best
    state["deal_hands_counted"] = 1
    if holders > 1 and not rules["all_score_tie"]:
        return
    for seat in range(players(state)):
        if state["deal_value"][seat] == best:
            state["deal_poker"][seat] = rules["poker_points"][best >> CATEGORY_SHIFT]
            state["points"][seat] += state["deal_poker"][seat]


@inlined
def _winner(state: np.void) -> int:
    """Who is alone in front with the target or more, -1 if nobody is (docs/rules.md 4.4)."""
    total = state["points"]
    front = 0
    tied = False
    for seat in range(1, players(state)):
        if total[seat] > total[front]:
            front = seat
            tied = False
        elif total[seat] == total[front]:
            tied = True
    if tied or total[front] < state["rules"]["target"]:
        return -1
    return front


@inlined
def points(state: np.void, below_value: float, reward: npt.NDArray[np.float64]) -> int:
    """Points of the deal that just ended: own minus the mean of the others', which is zero-sum.

    Returns:
        `DEAL_ENDED` if the last action ended a deal; otherwise `reward` is all zero.
    """
    for seat in range(reward.shape[0]):
        reward[seat] = 0.0
    if state["phase"] != DEAL and state["phase"] != OVER:
        return NOT_PAID
    written = np.int64(0)
    for seat in range(players(state)):
        written += state["deal_last_trick"][seat] + state["deal_poker"][seat]
    for seat in range(players(state)):
        own = np.int64(state["deal_last_trick"][seat] + state["deal_poker"][seat])
        reward[seat] = own - (written - own) / (players(state) - 1)
    return DEAL_ENDED


@compiled
def result(state: np.void, total: npt.NDArray[np.float64], reward: npt.NDArray[np.float64]) -> None:
    """What the match is worth: a game has one winner, a deal is shared by the most points.

    The winner of a game gets 1, each of the others -1 / (n - 1); for a deal see `share_win`.
    """
    if state["match"] == MATCH_GAME:
        for seat in range(players(state)):
            won = seat == state["winner"]
            reward[seat] = 1.0 if won else -1.0 / (players(state) - 1)
    else:
        share_win(total, players(state), reward)


STANDINGS = tuple(
    f"{place}, {distance}"
    for distance in ("nobody near the target", "a last trick can win")
    for place in ("behind", "level in front", "alone in front")
)


@compiled
def standing(state: np.void, seat: int) -> int:
    """Whether the seat leads, and whether anybody is a last trick short: a place in `STANDINGS`."""
    total = state["points"]
    others = np.int64(-1)
    for other in range(players(state)):
        if other != seat:
            others = max(others, np.int64(total[other]))
    own = np.int64(total[seat])
    needed = state["rules"]["target"] - state["rules"]["last_trick_points"]
    near = 1 if max(own, others) >= needed else 0
    return int(3 * near + 1 + np.sign(own - others))


# --- one legal and one apply for every phase ------------------------------------------------------


@inlined
def _legal_set(state: np.void) -> int:
    if state["phase"] == EXCHANGE:
        return _legal_exchanges(state)
    if state["phase"] == TRICK:
        return _legal_plays(state)
    return 0


@inlined
def legal_actions(state: np.void, mask: npt.NDArray[np.int8]) -> int:
    """Write 1 for every legal action of the seat to act, 0 elsewhere; returns their number."""
    legal = np.int64(_legal_set(state))
    count = 0
    for action in range(mask.shape[0]):
        bit = int((legal >> action) & 1)
        mask[action] = bit
        count += bit
    return count


@inlined
def apply(state: np.void, deck: npt.NDArray[np.int8], action: int) -> None:
    """Carry out a legal action of the seat to act."""
    if state["phase"] == EXCHANGE:
        _apply_exchange(state, deck, action)
    else:
        _apply_play(state, action)


# --- VIEW: what a player may know -----------------------------------------------------------------

POINTS_SCALE, POINTS_MAX = 13.0, 1_300
OTHERS = MAX_PLAYERS - 1

VIEW = (
    Piece("hand_rank", 65, 0, 1, "13 numbers a slot: rank of the card, 2 to ace, played or not"),
    Piece("hand_suit", 20, 0, 1, "4 numbers a slot: suit of the card, c d h s"),
    Piece("hand_held", 5, 0, 1, "slot still holds its card"),
    Piece("hand_trick", 5, 0, 1, "trick in which the slot was played, 1 to 5, / 5; 0 while held"),
    Piece("discards", 52, 0, 1, "own discards, by card number"),
    Piece("seen", 52, 0, 1, "cards seen: own hand, own discards, cards played"),
    Piece("other_rank", 25, 0, 1, "cards of each other seat in 5 tricks: (rank + 1) / 13"),
    Piece("other_suit", 25, 0, 1, "cards of each other seat in 5 tricks: (suit + 1) / 4"),
    Piece("lead_suit", 4, 0, 1, "suit led to the trick on the table, c d h s"),
    Piece("best_rank", 13, 0, 1, "rank of the best card of that suit on the table"),
    Piece("best_seat", 6, 0, 1, "who played it, by seat"),
    Piece("leader", 6, 0, 1, "who leads the next trick, or led the one on the table, by seat"),
    Piece("trick_winner", 30, 0, 1, "6 numbers a trick: who won it, by seat"),
    Piece("phase", 3, 0, 1, "exchange, trick, deal finished"),
    Piece("to_move", 6, 0, 1, "whose turn it is, by seat"),
    Piece("dealer", 6, 0, 1, "who deals, by seat"),
    Piece("exchange_done", 6, 0, 1, "exchange completed, by seat"),
    Piece("exchanged", 6, 0, 1, "cards changed in it, / 5, by seat"),
    Piece("stock", 1, 0, 1, "cards left in the stock, / 52"),
    Piece("players", 5, 0, 1, "number of players, 2 to 6"),
    Piece("points", 6, 0, 100, "points, / 13, up to 1,300, by seat"),
)  # fmt: skip
"""By seat: the observer's own number first, then those of the others in turn after him; zeros where
nobody sits."""

AT = {piece.name: sum(earlier.size for earlier in VIEW[:index]) for index, piece in enumerate(VIEW)}
"""Where each piece begins in the flat observation."""

(
    _HAND_RANK, _HAND_SUIT, _HAND_HELD, _HAND_TRICK, _DISCARDS, _SEEN, _OTHER_RANK, _OTHER_SUIT,
    _LEAD_SUIT, _BEST_RANK, _BEST_SEAT, _LEADER, _TRICK_WINNER, _PHASE, _TO_MOVE, _DEALER,
    _EXCHANGE_DONE, _EXCHANGED, _STOCK, _PLAYERS, _POINTS,
) = AT.values()  # fmt: skip


@compiled
def observe(state: np.void, seat: int, observation: npt.NDArray[np.float32]) -> None:
    """Write all that `seat` may know, own things first, in the layout of `VIEW`.

    Args:
        state: any position after the first deal.
        seat: the observer.
        observation: float32 (347,), overwritten.
    """
    o = observation
    o[:] = 0.0
    own_discards = int(state["discards"][seat])
    seen = own_discards | _see_hand(state, seat, o) | _see_tricks(state, seat, o)
    cards.write_flags(own_discards, o[_DISCARDS : _DISCARDS + cards.NUM_CARDS])
    cards.write_flags(seen, o[_SEEN : _SEEN + cards.NUM_CARDS])
    _see_table(state, seat, o)
    other = seat
    for place in range(players(state)):
        if state["exchanged"][other] >= 0:
            o[_EXCHANGE_DONE + place] = 1.0
            o[_EXCHANGED + place] = state["exchanged"][other] / MAX_HAND
        o[_POINTS + place] = min(state["points"][other], POINTS_MAX) / POINTS_SCALE
        other = _after(state, other)
    o[_DEALER + _place(state, seat, state["dealer"])] = 1.0
    o[_STOCK] = stock_left(state) / cards.NUM_CARDS
    o[_PLAYERS + players(state) - 2] = 1.0


@inlined
def _place(state: np.void, observer: Int, seat: Int) -> int:
    """How many seats after the observer another one sits."""
    place = int(seat) - int(observer)
    return place + players(state) if place < 0 else place


@inlined
def _see_hand(state: np.void, seat: int, o: npt.NDArray[np.float32]) -> int:
    """The own hand, played or not; returns its cards."""
    held = np.int64(state["held"][seat])
    seen = np.int64(0)
    for slot in range(state["rules"]["hand_size"]):
        card = np.int64(state["hand"][seat, slot])
        seen |= np.int64(1) << card
        o[_HAND_RANK + 13 * slot + (card >> 2)] = 1.0
        o[_HAND_SUIT + 4 * slot + (card & 3)] = 1.0
        o[_HAND_HELD + slot] = (held >> slot) & 1
    return int(seen)


@inlined
def _see_tricks(state: np.void, seat: int, o: npt.NDArray[np.float32]) -> int:
    """The tricks in order, the cards on the table included; returns the cards seen in them."""
    seen = np.int64(0)
    for trick in range(state["rules"]["hand_size"]):
        if state["trick_leader"][trick] < 0:
            break
        if state["trick_winner"][trick] >= 0:
            winner = _place(state, seat, state["trick_winner"][trick])
            o[_TRICK_WINNER + MAX_PLAYERS * trick + winner] = 1.0
        other = seat
        for place in range(players(state)):
            slot = np.int64(state["trick_slot"][trick, other])
            if slot >= 0 and place == 0:
                o[_HAND_TRICK + slot] = (trick + 1) / MAX_HAND
            elif slot >= 0:
                card = np.int64(state["hand"][other, slot])
                seen |= np.int64(1) << card
                at = MAX_HAND * (place - 1) + trick
                o[_OTHER_RANK + at] = ((card >> 2) + 1) / 13.0
                o[_OTHER_SUIT + at] = ((card & 3) + 1) / 4.0
            other = _after(state, other)
    return int(seen)


@inlined
def _see_table(state: np.void, seat: int, o: npt.NDArray[np.float32]) -> None:
    """Phase, turn, and the trick on the table."""
    phase = int(state["phase"])
    if phase in (DEAL, OVER):
        o[_PHASE + 2] = 1.0
        return
    o[_PHASE + phase - 1] = 1.0
    o[_TO_MOVE + _place(state, seat, state["player"])] = 1.0
    if state["best_card"] >= 0:
        card = np.int64(state["best_card"])
        o[_LEAD_SUIT + (card & 3)] = 1.0
        o[_BEST_RANK + (card >> 2)] = 1.0
        o[_BEST_SEAT + _place(state, seat, state["best_seat"])] = 1.0
        o[_LEADER + _place(state, seat, state["trick_leader"][state["trick_count"]])] = 1.0
    elif phase == TRICK:
        o[_LEADER + _place(state, seat, state["player"])] = 1.0
    else:
        o[_LEADER + _place(state, seat, _after(state, state["dealer"]))] = 1.0


def decode(pieces: Mapping[str, npt.NDArray[np.float32]]) -> dict[str, Any]:
    """What an observation says, in plain values; the inverse of `observe`.

    Args:
        pieces: the named pieces of one observation, as `observation.split` gives them.

    Returns:
        `hand`, `discards`, `seen`: card numbers, ascending; `slots`: the hand as it stood when the
        exchange ended (in it: as it stands), which actions refer to; `phase`: "exchange", "trick"
        or "over"; `players`, `stock`: numbers; `to_move`: bool; `turn`, `dealer`, `leader`: a seat
        (`turn` and `leader` None when the deal is finished), `exchanged`: cards changed by seat,
        None before the exchange, `points`: by seat; `tricks`: for each trick `leader`, `cards` in
        the order played and `winner` (None while it goes on); `table`: the cards of the trick going
        on; `lead_suit`, `best_card` and `best_seat`: its suit, 0 to 3, and the best card of that
        suit and who played it, or None. A seat is 0 for the observer, 1 for the next after him, and
        so on.
    """
    number = int(pieces["players"].argmax()) + 2
    ranks = pieces["hand_rank"].reshape(MAX_HAND, 13)
    suits = pieces["hand_suit"].reshape(MAX_HAND, 4)
    slots = [
        4 * int(ranks[slot].argmax()) + int(suits[slot].argmax())
        for slot in range(MAX_HAND)
        if ranks[slot].any()
    ]
    dealer = int(pieces["dealer"].argmax())
    tricks = _decode_tricks(pieces, slots, number, (dealer + 1) % number)
    going_on = pieces["lead_suit"].any()
    best = 4 * int(pieces["best_rank"].argmax()) + int(pieces["lead_suit"].argmax())
    turn = _which(pieces["to_move"])
    return {
        "hand": tuple(card for card, held in zip(slots, pieces["hand_held"]) if held),
        "slots": tuple(slots),
        "discards": tuple(np.flatnonzero(pieces["discards"]).tolist()),
        "seen": tuple(np.flatnonzero(pieces["seen"]).tolist()),
        "phase": ("exchange", "trick", "over")[int(pieces["phase"].argmax())],
        "players": number,
        "stock": round(float(pieces["stock"][0]) * cards.NUM_CARDS),
        "to_move": turn == 0,
        "turn": turn,
        "dealer": dealer,
        "leader": _which(pieces["leader"]),
        "exchanged": tuple(
            round(float(changed) * MAX_HAND) if done else None
            for done, changed in zip(
                pieces["exchange_done"][:number], pieces["exchanged"][:number], strict=True
            )
        ),
        "points": tuple(
            round(float(points) * POINTS_SCALE) for points in pieces["points"][:number]
        ),
        "tricks": tricks,
        "table": tricks[-1]["cards"] if going_on else (),
        "lead_suit": _which(pieces["lead_suit"]),
        "best_card": best if going_on else None,
        "best_seat": _which(pieces["best_seat"]),
    }


def _which(flags: npt.NDArray[np.float32]) -> int | None:
    """Place of the one number that is set, None if none is."""
    return int(flags.argmax()) if flags.any() else None


def _decode_tricks(
    pieces: Mapping[str, npt.NDArray[np.float32]], slots: Sequence[int], number: int, leader: int
) -> list[dict[str, Any]]:
    """The tricks in order; `leader` leads the first."""
    played_in = np.rint(pieces["hand_trick"] * MAX_HAND)
    ranks = np.rint(pieces["other_rank"].reshape(OTHERS, MAX_HAND) * 13).astype(int)
    suits = np.rint(pieces["other_suit"].reshape(OTHERS, MAX_HAND) * 4).astype(int)
    winners = pieces["trick_winner"].reshape(MAX_HAND, MAX_PLAYERS)
    tricks: list[dict[str, Any]] = []
    for index in range(MAX_HAND):
        own = [card for card, trick in zip(slots, played_in) if trick == index + 1]
        others = [
            [4 * int(rank - 1) + int(suit - 1)] if rank else []
            for rank, suit in zip(ranks[:, index], suits[:, index], strict=True)
        ]
        by_seat = [own, *others][:number]
        in_order = list(chain(*by_seat[leader:], *by_seat[:leader]))
        if not in_order:
            break
        winner = _which(winners[index])
        tricks.append({"leader": leader, "cards": tuple(in_order), "winner": winner})
        leader = -1 if winner is None else winner
    return tricks


# --- ACTIONS: their number and text ---------------------------------------------------------------


def num_actions(rules: Rules) -> int:
    """Size of the action space: one action for every set of hand slots."""
    return int(2**rules.hand_size)


def action_text(state: np.void, action: int) -> str:
    """An action of the seat to move as text: "keep all", "discard Kc 2d" or "play 9h"."""
    if action == 0:
        return "keep all"
    hand = state["hand"][state["player"]]
    chosen = format_cards(hand[slot] for slot in range(MAX_HAND) if action >> slot & 1)
    return f"{_verb(state)} {chosen}"


def _verb(state: np.void) -> str:
    return {EXCHANGE: "discard", TRICK: "play"}[int(state["phase"])]


def parse_action(state: np.void, text: str) -> int:
    """The action that a text stands for: cards of the hand, with or without the verb, or "keep".

    Raises:
        ValueError: if the text names no cards, or cards the seat to move does not hold.
    """
    if not isinstance(cast(Any, text), str):
        raise ValueError(f"action text must be a str, got {shown(text)}")
    verb = _verb(state)
    words = text.split()
    if [word.lower() for word in words] in (["keep"], ["keep", "all"]) and verb == "discard":
        return 0
    if words and words[0].lower() == verb:
        words = words[1:]
    hand = state["hand"][state["player"]]
    held = int(state["held"][state["player"]])
    slots = {int(hand[slot]): slot for slot in range(MAX_HAND) if held >> slot & 1}
    chosen = cards.parse_cards(" ".join(words))
    if not chosen or any(card not in slots for card in chosen):
        allowed = "'keep all' or " if verb == "discard" else ""
        raise ValueError(
            f"action {text!r} is not understood; say {allowed}{verb!r} and cards of "
            f"{format_cards(sorted(slots))}"
        )
    return sum(1 << slots[card] for card in chosen)


# --- the score pad --------------------------------------------------------------------------------


class DealResult(NamedTuple):
    """A finished deal, by seat (docs/rules.md 4.1 to 4.4).

    `final_hands` holds the card numbers, ascending; `exchanged` the numbers of cards changed;
    `tricks_taken` the numbers of tricks won. `last_trick` and `poker` are the points written for
    the last trick and for the best hand. Where the last trick has won the game, the hands were not
    counted.
    """

    dealer: int
    final_hands: tuple[tuple[int, ...], ...]
    exchanged: tuple[int, ...]
    tricks_taken: tuple[int, ...]
    last_trick: tuple[int, ...]
    hands_counted: bool
    poker: tuple[int, ...]

    def points(self, below_value: float = 0.0) -> tuple[float, ...]:
        """Points of the deal by seat: own minus the mean of the others'."""
        own = [trick + poker for trick, poker in zip(self.last_trick, self.poker, strict=True)]
        return tuple(number - (sum(own) - number) / (len(own) - 1) for number in own)


class ScoreSheet(NamedTuple):
    """The pad: running score by seat, the dealer, and all finished deals of the match."""

    points: tuple[int, ...]
    dealer: int
    deals: tuple[DealResult, ...]


def _by_seat(state: np.void, name: str) -> tuple[int, ...]:
    return tuple(map(int, state[name][: players(state)]))


def _hand(state: np.void, seat: int) -> tuple[int, ...]:
    """The cards that a seat held when the exchange ended, or holds in it."""
    return tuple(map(int, state["hand"][seat, : state["rules"]["hand_size"]]))


def _tricks_taken(state: np.void) -> tuple[int, ...]:
    winners = state["trick_winner"].tolist()
    return tuple(winners.count(seat) for seat in range(players(state)))


def _deal_result(state: np.void) -> DealResult:
    return DealResult(
        dealer=int(state["dealer"]),
        final_hands=tuple(_hand(state, seat) for seat in range(players(state))),
        exchanged=_by_seat(state, "exchanged"),
        tricks_taken=_tricks_taken(state),
        last_trick=_by_seat(state, "deal_last_trick"),
        hands_counted=bool(state["deal_hands_counted"]),
        poker=_by_seat(state, "deal_poker"),
    )


def score_sheet(state: np.void, finished: Sequence[np.void]) -> ScoreSheet:
    """The pad at `state`; `finished` holds the position at the end of each finished deal."""
    return ScoreSheet(
        points=_by_seat(state, "points"),
        dealer=int(state["dealer"]),
        deals=tuple(_deal_result(end) for end in finished),
    )


START_MAX = 10_000
"""Most points at which a match can begin."""


def place_score(state: np.void, score: Mapping[str, Any]) -> None:
    """Start a match from a score at which one can stand; without `points` all have none.

    Args:
        state: position whose score is written, only if all of it is valid.
        score: `points`, one number a seat.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """
    if not isinstance(score, Mapping):
        raise ValueError(f"score must be a dict of points, got {shown(score)}")
    unknown = [key for key in score if key != "points"]
    if unknown:
        raise ValueError(f"score has unknown fields {unknown}; allowed is points")
    number, target = players(state), int(state["rules"]["target"])
    given = score.get("points", (0,) * number)
    total = given.tolist() if isinstance(given, np.ndarray) else given
    if not isinstance(total, (tuple, list)) or len(total) != number:
        raise ValueError(
            f"score points must be {number} integers, one a player, from 0 to {START_MAX}, "
            f"got {shown(given)}"
        )
    checked = [check_integer("score points", entry, 0, START_MAX) for entry in total]
    if max(checked) >= target and checked.count(max(checked)) == 1:
        raise ValueError(
            f"score points must be numbers under the target {target}, or shared by all in front "
            f"(a tied game goes on), got {tuple(checked)}"
        )
    state["points"][:number] = checked


# --- TABLE: the picture ---------------------------------------------------------------------------


def table(state: np.void, viewers: frozenset[int]) -> Table:
    """The table as those in `viewers` see it together, in ASCII, the game's name included.

    Blocks: the score and the deal on the pad, the hands (a lone viewer's own comes last), the
    tricks in order.
    """
    number = players(state)
    names = tuple(f"player_{seat}" for seat in range(number))
    phase = Phase(int(state["phase"]))
    finished = phase in (Phase.DEAL, Phase.OVER) and int(state["trick_count"]) > 0
    pad = [
        Line("score", names),
        _numbers("points", _by_seat(state, "points")),
        _numbers("tricks taken", _tricks_taken(state)),
    ]
    if finished:
        pad.append(_numbers("last trick", _by_seat(state, "deal_last_trick")))
    if finished and state["deal_hands_counted"]:
        pad.append(_numbers("poker", _by_seat(state, "deal_poker")))
    last = min(viewers) if len(viewers) == 1 else 0
    order = [(last + 1 + place) % number for place in range(number)]
    hands = [line for seat in order for line in _seat_lines(state, seat, seat in viewers, finished)]
    begun = int(state["trick_count"]) + (state["best_card"] >= 0)
    tricks = [_trick_line(state, trick) for trick in range(begun)]
    mover, winner = names[int(state["player"])], int(state["winner"])
    turn = {
        Phase.DEAL: "deal finished",
        Phase.OVER: "match over" if winner < 0 else f"match over, player_{winner} has won",
        Phase.EXCHANGE: f"{mover} to exchange",
        Phase.TRICK: f"{mover} to {'follow' if state['best_card'] >= 0 else 'lead'}",
    }[phase]
    match = MATCHES[int(state["match"])]
    return Table(
        title=f"Poangpoker ({match}): {names[int(state['dealer'])]} deals, {turn}",
        blocks=(tuple(pad), tuple(hands), tuple(tricks)),
    )


def _numbers(label: str, numbers: Sequence[int]) -> Line:
    return Line(label, tuple(map(str, numbers)))


def _seat_lines(state: np.void, seat: int, visible: bool, finished: bool) -> list[Line]:
    """The cards in a hand, or all of them and what they are worth once the hands are counted."""
    held = int(state["held"][seat])
    known = visible or finished
    hand = [card for slot, card in enumerate(_hand(state, seat)) if finished or held >> slot & 1]
    notes = []
    if state["exchanged"][seat] >= 0:
        notes.append(f"changed {int(state['exchanged'][seat])}")
    if finished and state["deal_hands_counted"]:
        notes.append(str(HandRank(int(state["deal_value"][seat]))))
    role = " (dealer)" if seat == state["dealer"] else ""
    lines = [
        Line(
            f"player_{seat}{role}",
            (*(Card(card if known else None) for card in hand), ", ".join(notes)),
        )
    ]
    discards = int(state["discards"][seat])
    if discards and visible:
        gone = tuple(Card(card, lowered=True) for card in range(52) if discards >> card & 1)
        lines.append(Line("  discarded", gone))
    return lines


def _trick_line(state: np.void, trick: int) -> Line:
    """The cards of a trick in the order played, the lost ones lowered."""
    leader, winner = int(state["trick_leader"][trick]), int(state["trick_winner"][trick])
    items: list[str | Card] = [f"player_{leader} leads"]
    seat = leader
    for _ in range(players(state)):
        slot = int(state["trick_slot"][trick, seat])
        if slot >= 0:
            items.append(Card(int(state["hand"][seat, slot]), winner not in (seat, -1)))
        seat = _after(state, seat)
    if winner >= 0:
        items.append(f"player_{winner} wins")
    return Line(f"trick {trick + 1}", tuple(items))


POANGPOKER = register(
    Game(
        name="poangpoker",
        version=0,
        seats=MAX_PLAYERS,
        max_cards=cards.NUM_CARDS,
        matches=("game", "deal"),
        rewards=("points", "win"),
        spread=1.5,
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
