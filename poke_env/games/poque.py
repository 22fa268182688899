"""Poque: six pools, two auctions and a play-out, for two to eight (docs/rules.md, section 3).

A position is one record of `STATE`; the functions over it are the rules. Seat p + 1 is next after
seat p, the first after the last. Cards lie in slots, ascending; they keep their slots when they are
played. Chips that are staked lie in the pool at once, so stacks and pools always add up to the same
total. Chance enters as deck orders only: a position in phase `DEAL` waits for one.

Passes of those who cannot bet, and all cards of a run after its first, are nobody's choice: they
happen inside `deal` and `apply`, until somebody is to speak or to begin a run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import IntEnum
from itertools import groupby
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from poke_env import cards
from poke_env._checks import as_integer, check_flag, check_integer, shown
from poke_env._jit import compiled, inlined
from poke_env._records import record_dtype
from poke_env.cards import card_text, format_cards
from poke_env.games.base import (
    DEAL_ENDED,
    MATCH_OVER,
    MATCHES,
    NOT_PAID,
    PAID,
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

MAX_PLAYERS = 8
MAX_HAND = 5
MAX_RAISE = 5
MAX_RAISES = 5
MAX_BETS = 1 + MAX_RAISES
"""An opening and the raises after it."""
MAX_PLAYS = MAX_PLAYERS * (MAX_HAND - 1) + 1
"""Cards that can be played before somebody is out."""
MAX_STACK = 1000
MAX_DEALS = 120

POOLS = ("ace", "king", "queen", "jack", "sequence", "poque")
"""The pools, in the order in which those short of chips put in."""
CARD_POOLS = 4
"""The first pools belong to the cards of trumps from the ace downwards."""
AUCTIONS = ("poque", "sequence")
LEAST_SET, LEAST_SEQUENCE = 2, 3
"""Cards that make a combination for the auctions."""

_PACK_RANKS = (8, 8, 8, 9, 10, 11, 13)
"""Ranks in the pack of two to eight players."""

RULES = record_dtype(
    ("stack", np.int32),
    ("deals", np.int32),
    ("players", np.int8),
    ("suits", np.int8),
    ("ranks", np.int8),
    ("hand_size", np.int8),
    ("max_raise", np.int8),
    ("max_raises", np.int8),
    ("allow_bluff", np.int8),
    ("carry_unopened", np.int8),
    ("pay_pips", np.int8),
    ("most_cards_double", np.int8),
)
"""The options inside a position."""


@dataclass(frozen=True)
class Rules:
    """The options of Poque (docs/rules.md, section 3); the defaults are the full game for four.

    Attributes:
        players: number of players (2 to 8).
        ranks: number of ranks in the pack, the highest ones (2 to 13); None is the pack that goes
            with the number of players: 8 ranks for two to four, then 9, 10, 11 and 13.
        suits: number of suits in the pack, from clubs upwards (1 to 4).
        hand_size: cards in a hand (2 to 5).
        stack: chips with which everybody begins a session (1 to 1000).
        deals: deals in a session (1 to 120).
        max_raise: most chips of an opening or a raise (1 to 5).
        max_raises: most raises in an auction (0 to 5).
        unopened: an auction that nobody opens leaves its pool to the `"dealer"`, or the pool stays,
            `"carry"`.
        allow_bluff: those without a combination may bet, too.
        pay: what each card left at the end of a deal costs, one chip (`"card"`) or `"pips"`.
        most_cards_double: whoever holds most cards at the end also pays all others.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """

    players: int = 4
    ranks: int | None = None
    suits: int = 4
    hand_size: int = 5
    stack: int = 40
    deals: int = 12
    max_raise: int = 5
    max_raises: int = 3
    unopened: str = "dealer"
    allow_bluff: bool = False
    pay: str = "card"
    most_cards_double: bool = False

    def __post_init__(self) -> None:
        for name, (low, high) in _RANGES.items():
            number = check_integer(name, getattr(self, name), low, high, or_none=name == "ranks")
            object.__setattr__(self, name, number)
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                raise ValueError(f"{name} must be {allowed[0]!r} or {allowed[1]!r}, got {value!r}")
        for field in fields(self):
            if field.type == "bool":
                value = check_flag(field.name, getattr(self, field.name))
                object.__setattr__(self, field.name, value)
        needed = self.players * self.hand_size + 1
        if self.pack_ranks * self.suits < needed:
            raise ValueError(
                f"hand_size must leave {needed} cards for players={self.players} and the card "
                f"turned up, but {self.hand_size} is too many: ranks={self.pack_ranks} and "
                f"suits={self.suits} make {self.pack_ranks * self.suits}"
            )

    @property
    def pack_ranks(self) -> int:
        """Number of ranks in the pack (docs/rules.md 3.1)."""
        return _PACK_RANKS[self.players - 2] if self.ranks is None else self.ranks

    def write(self, record: np.void) -> None:
        """Copy the options into `record`, a record of dtype `RULES`."""
        for name in ("players", "suits", "hand_size", "stack", "deals", "max_raise", "max_raises",
                     "allow_bluff", "most_cards_double"):  # fmt: skip
            record[name] = getattr(self, name)
        record["ranks"] = self.pack_ranks
        record["carry_unopened"] = self.unopened == "carry"
        record["pay_pips"] = self.pay == "pips"

    def pack(self) -> tuple[int, ...]:
        """The card numbers of the pack, ascending."""
        return cards.pack(self.pack_ranks, self.suits)

    def as_dict(self) -> dict[str, Any]:
        """The options as plain values, for records and result files."""
        return asdict(self)


_RANGES = {
    "players": (2, MAX_PLAYERS),
    "ranks": (2, 13),
    "suits": (1, 4),
    "hand_size": (2, MAX_HAND),
    "stack": (1, MAX_STACK),
    "deals": (1, MAX_DEALS),
    "max_raise": (1, MAX_RAISE),
    "max_raises": (0, MAX_RAISES),
}
_CHOICES = {"unopened": ("dealer", "carry"), "pay": ("card", "pips")}


PRESETS = {
    "standard": Rules(),
    # Eight cards for two, three each and one turned up: one card is left over.
    "tiny": Rules(
        players=2, ranks=4, suits=2, hand_size=3, stack=10, deals=2, max_raise=1, max_raises=1
    ),
    # Fifteen cards for three, with chips that run short.
    "small": Rules(
        players=3, ranks=5, suits=3, hand_size=4, stack=16, deals=4, max_raise=2, max_raises=2
    ),
}

# --- positions ------------------------------------------------------------------------------------


class Phase(IntEnum):
    """What a position waits for."""

    DEAL = 0
    POQUE = 1
    SEQUENCE = 2
    PLAY = 3
    OVER = 4


DEAL, POQUE_AUCTION, SEQUENCE_AUCTION, PLAY, OVER = (int(phase) for phase in Phase)
MATCH_DEAL = MATCHES.index("deal")

STATE = record_dtype(
    ("rules", RULES),
    # Chips of the seats and in the pools: now, and before the ante of the deal. `settled` are the
    # stacks when the last decision had been carried out, `gain` is what it brought.
    ("stack", np.int32, (MAX_PLAYERS,)),
    ("pool", np.int32, (len(POOLS),)),
    ("stack_before", np.int32, (MAX_PLAYERS,)),
    ("pool_before", np.int32, (len(POOLS),)),
    ("settled", np.int32, (MAX_PLAYERS,)),
    ("gain", np.int32, (MAX_PLAYERS,)),
    ("deals_played", np.int32),
    ("match", np.int8),
    # The deal going on. Sets of cards are bits: `held` those in hand, `gone` those that everybody
    # knows to be in no hand, `combination` what a seat holds for each auction, worth `worth`.
    ("held", np.int64, (MAX_PLAYERS,)),
    ("gone", np.int64),
    ("combination", np.int64, (2, MAX_PLAYERS)),
    ("worth", np.int16, (2, MAX_PLAYERS)),
    ("phase", np.int8),
    ("player", np.int8),
    ("dealer", np.int8),
    ("turned", np.int8),
    ("hand", np.int8, (MAX_PLAYERS, MAX_HAND)),
    # The auctions. `awaited` seats are still to be gone round; `passed` is how many bets had been
    # made when a seat passed, `STAYS` or `OUT`; `took` the chips that the auction brought.
    ("took", np.int32, (2, MAX_PLAYERS)),
    ("awaited", np.int8),
    ("bets", np.int8, (2,)),
    ("bet_seat", np.int8, (2, MAX_BETS)),
    ("bet_size", np.int8, (2, MAX_BETS)),
    ("staked", np.int8, (2, MAX_PLAYERS)),
    ("passed", np.int8, (2, MAX_PLAYERS)),
    ("shows", np.int8, (2,)),
    # The cards played, in order.
    ("plays", np.int8),
    ("play_seat", np.int8, (MAX_PLAYS,)),
    ("play_card", np.int8, (MAX_PLAYS,)),
    # Who took the pools of the cards and how much; chips paid and got for cards left.
    ("pool_taken", np.int32, (CARD_POOLS,)),
    ("paid", np.int32, (MAX_PLAYERS,)),
    ("pool_taker", np.int8, (CARD_POOLS,)),
)
"""A position of Poque. In arrays by auction, poque comes first. `shows` is 1 after a showing."""

STAYS = -1
OUT = 7
"""`passed` of a seat that has not passed, and of one that had no chips when the auction began."""


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
    """Number of players."""
    return int(state["rules"]["players"])


@inlined
def _after(state: np.void, seat: Int, steps: Int) -> int:
    """The seat so many turns after another one, less than a whole round."""
    later = np.int64(seat) + steps
    return int(later - players(state) if later >= players(state) else later)


@inlined
def _holds(state: np.void, seat: Int, card: Int) -> bool:
    return bool((np.int64(state["held"][seat]) >> card) & 1)


@inlined
def cards_left(state: np.void, seat: Int) -> int:
    """Number of cards in a hand."""
    held = np.int64(state["held"][seat])
    count = 0
    while held:
        held &= held - 1
        count += 1
    return count


def begin(state: np.void) -> None:
    """The beginning of a match: everybody has the stack of the rules."""
    state["stack"][: players(state)] = state["rules"]["stack"]
    state["settled"] = state["stack"]
    state["stack_before"] = state["stack"]


# --- phase: deal ----------------------------------------------------------------------------------


@compiled
def deal(state: np.void, deck: npt.NDArray[np.int8], dealer: int) -> None:
    """Ante, deal the hands from the dealer's right on, turn a card up (docs/rules.md 3.2).

    Args:
        state: position in phase `DEAL`.
        deck: int8, the pack in a full order.
        dealer: seat of the dealer, or -1: the deal passes to the right.
    """
    state["dealer"] = _after(state, state["dealer"], 1) if dealer < 0 else dealer
    _clear(state)
    _ante(state)
    size = np.int64(state["rules"]["hand_size"])
    for turn in range(players(state)):
        seat = _after(state, state["dealer"], turn + 1)
        _take_hand(state, seat, deck[turn * size : (turn + 1) * size])
        _find_set(state, seat)
        _find_sequence(state, seat)
    state["turned"] = deck[players(state) * size]
    card = np.int64(state["turned"])
    state["gone"] = np.int64(1) << card
    _take_pool(state, card, state["dealer"])
    state["phase"] = POQUE_AUCTION
    _begin_auction(state)
    _go_round(state)


@inlined
def _clear(state: np.void) -> None:
    """Forget the last deal."""
    state["stack_before"][:] = state["stack"]
    state["pool_before"][:] = state["pool"]
    state["held"][:] = 0
    state["hand"][:] = -1
    state["combination"][:] = 0
    state["worth"][:] = 0
    state["took"][:] = 0
    state["bets"][:] = 0
    state["bet_seat"][:] = -1
    state["bet_size"][:] = 0
    state["staked"][:] = 0
    state["passed"][:] = STAYS
    state["shows"][:] = 0
    state["plays"] = 0
    state["play_seat"][:] = -1
    state["play_card"][:] = -1
    state["pool_taker"][:] = -1
    state["pool_taken"][:] = 0
    state["paid"][:] = 0


@inlined
def _ante(state: np.void) -> None:
    """One chip into each pool, in order, as far as a stack reaches (docs/rules.md 3.2, 3.7)."""
    for seat in range(players(state)):
        for pool in range(min(int(state["stack"][seat]), len(POOLS))):
            state["pool"][pool] += 1
            state["stack"][seat] -= 1


@inlined
def _take_hand(state: np.void, seat: Int, dealt: npt.NDArray[np.int8]) -> None:
    """Put each card in its place among those that came before."""
    hand = state["hand"][seat]
    for number in range(dealt.shape[0]):
        card = np.int64(dealt[number])
        state["held"][seat] |= np.int64(1) << card
        slot = number
        while slot > 0 and hand[slot - 1] > card:
            hand[slot] = hand[slot - 1]
            slot -= 1
        hand[slot] = card


@inlined
def _worth(size: Int, rank: Int) -> int:
    """The value of a combination: more cards beat fewer, then the (highest) rank decides."""
    return int(16 * size + rank)


@inlined
def _find_set(state: np.void, seat: Int) -> None:
    """The best cards of one rank in a hand (docs/rules.md 3.4)."""
    before = np.int64(-1)
    size = 0
    for slot in range(state["rules"]["hand_size"]):
        rank = np.int64(state["hand"][seat, slot]) >> 2
        size = size + 1 if rank == before else 1
        before = rank
        if size >= LEAST_SET and _worth(size, rank) > state["worth"][0, seat]:
            state["worth"][0, seat] = _worth(size, rank)
            state["combination"][0, seat] = state["held"][seat] & (np.int64(0b1111) << 4 * rank)


@inlined
def _find_sequence(state: np.void, seat: Int) -> None:
    """The longest sequence in a hand, which has room for one only (docs/rules.md 3.4)."""
    for slot in range(state["rules"]["hand_size"]):
        card = np.int64(state["hand"][seat, slot])
        run = np.int64(0)
        size = 0
        # Above the aces there are no cards to hold.
        while _holds(state, seat, card + 4 * size):
            run |= np.int64(1) << (card + 4 * size)
            size += 1
        worth = _worth(size, (card >> 2) + size - 1)
        if size >= LEAST_SEQUENCE and worth > state["worth"][1, seat]:
            state["worth"][1, seat] = worth
            state["combination"][1, seat] = run


@inlined
def _take_pool(state: np.void, card: Int, seat: Int) -> None:
    """Give `seat` the pool of a card of trumps, ace to jack (docs/rules.md 3.2, 3.3)."""
    pool = 12 - (card >> 2)
    if pool < CARD_POOLS and (card & 3) == (np.int64(state["turned"]) & 3):
        chips = state["pool"][pool]
        state["pool"][pool] = 0
        state["stack"][seat] += chips
        state["pool_taker"][pool] = seat
        state["pool_taken"][pool] = chips


# --- phases: the two auctions ---------------------------------------------------------------------

PASS, EQUAL, RAISE = 0, 1, 2
"""Actions of an auction; `RAISE` + n opens or raises with n + 1 chips."""


@inlined
def _auction(state: np.void) -> int:
    """The auction going on: 0 poque, 1 sequence."""
    return int(state["phase"] - POQUE_AUCTION)


@inlined
def _auction_pool(auction: Int) -> int:
    return int(len(POOLS) - 1 - auction)


@inlined
def level(state: np.void, auction: Int) -> int:
    """Chips that whoever stays has to have staked: 0 before the opening."""
    bets = state["bets"][auction]
    if bets == 0:
        return 0
    return int(state["staked"][auction, state["bet_seat"][auction, bets - 1]])


@inlined
def _largest_bet(state: np.void, auction: Int) -> int:
    """Most chips of an opening or a raise now; 0 if none is allowed (docs/rules.md 3.4)."""
    rules = state["rules"]
    if state["bets"][auction] > rules["max_raises"]:
        return 0
    room = np.int64(rules["max_raise"])
    reached = level(state, auction)
    for seat in range(players(state)):
        if state["passed"][auction, seat] == STAYS:
            can_match = np.int64(state["stack"][seat]) + state["staked"][auction, seat]
            room = min(room, can_match - reached)
    return int(room)


@inlined
def _begin_auction(state: np.void) -> None:
    """Whoever has no chips is out; the first speaker is at the dealer's right."""
    for seat in range(players(state)):
        if state["stack"][seat] == 0:
            state["passed"][_auction(state), seat] = OUT
    state["awaited"] = players(state)
    state["player"] = _after(state, state["dealer"], 1)


@inlined
def _stake(state: np.void, auction: Int, seat: Int, reached: Int) -> None:
    """Put in what `seat` still owes to have staked `reached` chips."""
    chips = reached - state["staked"][auction, seat]
    state["stack"][seat] -= chips
    state["pool"][_auction_pool(auction)] += chips
    state["staked"][auction, seat] = reached


@inlined
def _apply_speech(state: np.void, action: int) -> None:
    """Pass, equal, open or raise (docs/rules.md 3.4)."""
    auction = _auction(state)
    seat = state["player"]
    if action == PASS:
        state["passed"][auction, seat] = state["bets"][auction]
    elif action == EQUAL:
        _stake(state, auction, seat, level(state, auction))
    else:
        size = action - RAISE + 1
        _stake(state, auction, seat, level(state, auction) + size)
        state["bet_seat"][auction, state["bets"][auction]] = seat
        state["bet_size"][auction, state["bets"][auction]] = size
        state["bets"][auction] += 1
        state["awaited"] = players(state)
    state["awaited"] -= 1
    state["player"] = _after(state, seat, 1)
    _go_round(state)


@inlined
def _go_round(state: np.void) -> None:
    """Go on to the next seat that has a choice, through the end of an auction if need be.

    Seats that have not passed and hold nothing to bet on pass here.
    """
    while state["phase"] == POQUE_AUCTION or state["phase"] == SEQUENCE_AUCTION:
        auction = _auction(state)
        if state["awaited"] == 0:
            _settle_auction(state, auction)
            continue
        seat = state["player"]
        if state["passed"][auction, seat] == STAYS:
            if state["worth"][auction, seat] > 0 or state["rules"]["allow_bluff"]:
                return
            state["passed"][auction, seat] = state["bets"][auction]
        state["awaited"] -= 1
        state["player"] = _after(state, seat, 1)


@compiled
def _settle_auction(state: np.void, auction: int) -> None:
    """Give stakes and pool to the best combination, and go on (docs/rules.md 3.4)."""
    best = np.int64(-1)
    winners = 0
    stay = 0
    for seat in range(players(state)):
        if state["passed"][auction, seat] == STAYS:
            stay += 1
            worth = np.int64(state["worth"][auction, seat])
            if worth > best:
                best = worth
                winners = 0
            winners += worth == best
    pool = _auction_pool(auction)
    if state["bets"][auction] > 0:
        state["shows"][auction] = stay > 1
        share = np.int64(state["pool"][pool]) // winners
        for seat in range(players(state)):
            if state["passed"][auction, seat] == STAYS and state["worth"][auction, seat] == best:
                state["took"][auction, seat] = share
    elif not state["rules"]["carry_unopened"]:
        state["took"][auction, state["dealer"]] = state["pool"][pool]
    for seat in range(players(state)):
        state["stack"][seat] += state["took"][auction, seat]
        state["pool"][pool] -= state["took"][auction, seat]
    state["phase"] += 1
    if state["phase"] == PLAY:
        state["player"] = state["dealer"]
    else:
        _begin_auction(state)


# --- phase: play-out ------------------------------------------------------------------------------

FIRST_SLOT = RAISE + MAX_RAISE
"""The action that plays the card in slot 0."""


@compiled
def _apply_run(state: np.void, slot: int) -> None:
    """Play the first card of a run and all that must follow (docs/rules.md 3.5)."""
    seat = np.int64(state["player"])
    card = np.int64(state["hand"][seat, slot])
    while seat >= 0:
        state["held"][seat] &= ~(np.int64(1) << card)
        state["gone"] |= np.int64(1) << card
        state["play_seat"][state["plays"]] = seat
        state["play_card"][state["plays"]] = card
        state["plays"] += 1
        state["player"] = seat
        _take_pool(state, card, seat)
        if state["held"][seat] == 0:
            _finish_deal(state, int(seat))
            return
        card += 4
        seat = np.int64(_holder(state, card))
    if card < cards.NUM_CARDS:
        state["gone"] |= np.int64(1) << card


@inlined
def _holder(state: np.void, card: Int) -> int:
    """The seat with a card in hand, -1 if there is none."""
    for seat in range(players(state)):
        if _holds(state, seat, card):
            return seat
    return -1


# --- the end of a deal ----------------------------------------------------------------------------


@inlined
def _pips(card: Int) -> int:
    """2 to 10 as printed, court cards 10, ace 1."""
    rank = card >> 2
    return 1 if rank == 12 else int(min(rank + 2, 10))


@inlined
def _owed(state: np.void, seat: Int) -> int:
    """Chips for the cards left in a hand (docs/rules.md 3.6)."""
    if not state["rules"]["pay_pips"]:
        return cards_left(state, seat)
    chips = 0
    for slot in range(state["rules"]["hand_size"]):
        card = np.int64(state["hand"][seat, slot])
        if _holds(state, seat, card):
            chips += _pips(card)
    return chips


@inlined
def _pay(state: np.void, payer: Int, payee: Int, owed: Int) -> None:
    """Hand chips over, as many as the payer has."""
    chips = min(np.int64(owed), np.int64(state["stack"][payer]))
    state["stack"][payer] -= chips
    state["stack"][payee] += chips
    state["paid"][payer] -= chips
    state["paid"][payee] += chips


@compiled
def _finish_deal(state: np.void, winner: int) -> None:
    """Pools still held, then the payments in turn (docs/rules.md 3.3, 3.6, 3.7)."""
    rules = state["rules"]
    trumps = np.int64(state["turned"]) & 3
    for pool in range(CARD_POOLS):
        card = 4 * (12 - pool) + trumps
        holder = _holder(state, card)
        if holder >= 0:
            _take_pool(state, card, holder)
    most = 0
    for turn in range(1, players(state)):
        payer = _after(state, winner, turn)
        _pay(state, payer, winner, _owed(state, payer))
        most = max(most, cards_left(state, payer))
    if rules["most_cards_double"]:
        for turn in range(1, players(state)):
            payer = _after(state, winner, turn)
            if cards_left(state, payer) == most:
                for further in range(1, players(state)):
                    _pay(state, payer, _after(state, payer, further), most)
    state["deals_played"] += 1
    over = state["match"] == MATCH_DEAL or state["deals_played"] >= rules["deals"]
    state["phase"] = OVER if over else DEAL


@inlined
def points(state: np.void, below_value: float, reward: npt.NDArray[np.float64]) -> int:
    """Chips that each seat won or lost with the last decision, and since the one before it.

    Those that moved while the deal began are paid with its first decision.

    Returns:
        `DEAL_ENDED` if the last action ended a deal, `PAID` if chips moved, else `NOT_PAID`.
    """
    told = NOT_PAID
    for seat in range(players(state)):
        reward[seat] = state["gain"][seat]
        if state["gain"][seat] != 0:
            told = PAID
    return DEAL_ENDED if state["phase"] == DEAL or state["phase"] == OVER else told


@compiled
def result(state: np.void, total: npt.NDArray[np.float64], reward: npt.NDArray[np.float64]) -> None:
    """Most chips at the end win a session, most chips won in it a deal (see `share_win`)."""
    chips = state["stack"].astype(np.float64)
    if state["match"] == MATCH_DEAL:
        chips -= state["stack_before"]
    share_win(chips, players(state), reward)


STANDINGS = ("behind", "level with the most", "most chips")


@compiled
def standing(state: np.void, seat: int) -> int:
    """The chips of a seat before the deal beside the most of the others, a place in `STANDINGS`."""
    most = 0
    for other in range(players(state)):
        if other != seat:
            most = max(most, int(state["stack_before"][other]))
    return int(1 + np.sign(state["stack_before"][seat] - most))


# --- one legal and one apply for every phase ------------------------------------------------------


@inlined
def legal_actions(state: np.void, mask: npt.NDArray[np.int8]) -> int:
    """Write 1 for every legal action of the seat to act, 0 elsewhere; returns their number."""
    for action in range(mask.shape[0]):
        mask[action] = 0
    count = 0
    if state["phase"] == PLAY:
        for slot in range(state["rules"]["hand_size"]):
            held = _holds(state, state["player"], np.int64(state["hand"][state["player"], slot]))
            mask[FIRST_SLOT + slot] = held
            count += held
    elif state["phase"] == POQUE_AUCTION or state["phase"] == SEQUENCE_AUCTION:
        auction = _auction(state)
        mask[PASS] = 1
        mask[EQUAL] = state["bets"][auction] > 0
        largest = _largest_bet(state, auction)
        for size in range(largest):
            mask[RAISE + size] = 1
        count = 1 + int(mask[EQUAL]) + largest
    return count


@inlined
def apply(state: np.void, deck: npt.NDArray[np.int8], action: int) -> None:
    """Carry out a legal action of the seat to act."""
    if state["phase"] == PLAY:
        _apply_run(state, action - FIRST_SLOT)
    else:
        _apply_speech(state, action)
    for seat in range(players(state)):
        state["gain"][seat] = state["stack"][seat] - state["settled"][seat]
        state["settled"][seat] = state["stack"][seat]


# --- VIEW: what a player may know -----------------------------------------------------------------

CHIP_SCALE = 40.0
DEAL_SCALE = 12.0
_MOST_CHIPS = MAX_PLAYERS * MAX_STACK / CHIP_SCALE
_MOST_STAKED = MAX_BETS * MAX_RAISE / CHIP_SCALE

VIEW = (
    Piece("hand_rank", 65, 0, 1, "13 numbers a slot: rank of the card, 2 to ace, played or not"),
    Piece("hand_suit", 20, 0, 1, "4 numbers a slot: suit of the card, c d h s"),
    Piece("hand_held", 5, 0, 1, "slot still holds its card"),
    Piece("turned_rank", 13, 0, 1, "rank of the card turned up, 2 to ace"),
    Piece("turned_suit", 4, 0, 1, "suit of the card turned up, c d h s: trumps"),
    Piece("played_by", 52, 0, 1, "by card number: seat that played it, / 8"),
    Piece("played_at", 52, 0, 1, "by card number: its place among cards played, 1 to 33, / 33"),
    Piece("shown_by", 52, 0, 1, "by card number: seat that showed it in an auction, or had it left "
          "at the end of the deal, / 8"),
    Piece("gone", 52, 0, 1, "by card number: known to be in no hand (played, turned up, or a run "
          "stopped before it)"),
    Piece("phase", 4, 0, 1, "poque, sequence, play-out, deal finished"),
    Piece("to_move", 8, 0, 1, "by seat: it is his turn"),
    Piece("dealer", 8, 0, 1, "by seat: he deals"),
    Piece("seats", 8, 0, 1, "by seat: there is such a player"),
    Piece("cards_left", 8, 0, 1, "by seat: cards in hand, / 5"),
    Piece("stacks", 8, 0, _MOST_CHIPS, "by seat: chips, / 40"),
    Piece("won", 8, -_MOST_CHIPS, _MOST_CHIPS, "by seat: chips won or lost in this deal, / 40"),
    Piece("pools", 6, 0, _MOST_CHIPS, "chips, / 40: ace, king, queen, jack, sequence, poque"),
    Piece("pool_taker", 4, 0, 1, "seat that took the pool of each card in this deal, / 8"),
    Piece("pool_taken", 4, 0, _MOST_CHIPS, "chips that he took from it, / 40; likewise"),
    Piece("to_equal", 1, 0, _MOST_STAKED, "chips that the observer has to put in to stay, / 40"),
    Piece("bet_seat", 12, 0, 1, "seat that made each bet, / 8; 6 for poque, 6 for sequence"),
    Piece("bet_size", 12, 0, 1, "chips of each bet (the opening, then the raises), / 5; likewise"),
    Piece("passed", 16, 0, 1, "by seat: (bets made before he passed + 1) / 8, 1 if he had no chips "
          "at the start, 0 if he has not passed; 8 for poque, 8 for sequence"),
    Piece("staked", 16, 0, _MOST_STAKED, "by seat: chips staked, / 40; likewise"),
    Piece("took", 16, 0, _MOST_CHIPS, "by seat: chips taken from the auction, / 40; likewise"),
    Piece("deals_left", 1, 0, MAX_DEALS / DEAL_SCALE, "deals of the match not finished, / 12"),
)  # fmt: skip
"""Seats are counted from the observer: 1 himself, 2 the next after him, and so on; 0 is nobody.
Pieces by seat begin with the observer."""

AT = {piece.name: sum(earlier.size for earlier in VIEW[:index]) for index, piece in enumerate(VIEW)}
"""Where each piece begins in the flat observation."""

(
    _HAND_RANK, _HAND_SUIT, _HAND_HELD, _TURNED_RANK, _TURNED_SUIT, _PLAYED_BY, _PLAYED_AT,
    _SHOWN_BY, _GONE, _PHASE, _TO_MOVE, _DEALER, _SEATS, _CARDS_LEFT, _STACKS, _WON, _POOLS,
    _POOL_TAKER, _POOL_TAKEN, _TO_EQUAL, _BET_SEAT, _BET_SIZE, _PASSED, _STAKED, _TOOK, _DEALS_LEFT,
) = AT.values()  # fmt: skip


@inlined
def deals_left(state: np.void) -> int:
    """Deals of the match that are not finished."""
    if state["match"] == MATCH_DEAL:
        return 0 if state["phase"] == OVER else 1
    return int(state["rules"]["deals"] - state["deals_played"])


@inlined
def _place(state: np.void, observer: Int, seat: Int) -> int:
    """How many turns after the observer a seat is."""
    turns = np.int64(seat) - observer
    return int(turns + players(state) if turns < 0 else turns)


@inlined
def known_cards(state: np.void, seat: Int) -> int:
    """The cards that a seat has shown to all, as bits; at the end of a deal also those left."""
    known = np.int64(0)
    for auction in range(2):
        if state["shows"][auction] and state["passed"][auction, seat] == STAYS:
            known |= np.int64(state["combination"][auction, seat])
    if state["phase"] == DEAL or state["phase"] == OVER:
        known |= np.int64(state["held"][seat])
    return int(known)


@compiled
def observe(state: np.void, seat: int, observation: npt.NDArray[np.float32]) -> None:
    """Write all that `seat` may know, own things first, in the layout of `VIEW`.

    Args:
        state: any position after the first deal.
        seat: the observer.
        observation: float32 (455,), overwritten.
    """
    o = observation
    o[:] = 0.0
    _see_cards(state, seat, o)
    phase = np.int64(state["phase"])
    o[_PHASE + (3 if phase in (DEAL, OVER) else phase - 1)] = 1.0
    if to_move(state) >= 0:
        o[_TO_MOVE + _place(state, seat, state["player"])] = 1.0
    o[_DEALER + _place(state, seat, state["dealer"])] = 1.0
    for place in range(players(state)):
        who = _after(state, seat, place)
        o[_SEATS + place] = 1.0
        o[_CARDS_LEFT + place] = cards_left(state, who) / MAX_HAND
        o[_STACKS + place] = state["stack"][who] / CHIP_SCALE
        o[_WON + place] = (state["stack"][who] - state["stack_before"][who]) / CHIP_SCALE
    for pool in range(len(POOLS)):
        o[_POOLS + pool] = state["pool"][pool] / CHIP_SCALE
    for pool in range(CARD_POOLS):
        taker = np.int64(state["pool_taker"][pool])
        if taker >= 0:
            o[_POOL_TAKER + pool] = (_place(state, seat, taker) + 1) / MAX_PLAYERS
            o[_POOL_TAKEN + pool] = state["pool_taken"][pool] / CHIP_SCALE
    if phase in (POQUE_AUCTION, SEQUENCE_AUCTION):
        auction = _auction(state)
        if state["passed"][auction, seat] == STAYS:
            owed = level(state, auction) - state["staked"][auction, seat]
            o[_TO_EQUAL] = owed / CHIP_SCALE
    _see_auctions(state, seat, o)
    o[_DEALS_LEFT] = deals_left(state) / DEAL_SCALE


@inlined
def _see_cards(state: np.void, seat: int, o: npt.NDArray[np.float32]) -> None:
    """The own hand, the card turned up, and what others played or showed."""
    size = state["rules"]["hand_size"]
    for slot in range(size):
        card = np.int64(state["hand"][seat, slot])
        o[_HAND_RANK + 13 * slot + (card >> 2)] = 1.0
        o[_HAND_SUIT + 4 * slot + (card & 3)] = 1.0
        o[_HAND_HELD + slot] = _holds(state, seat, card)
    turned = np.int64(state["turned"])
    o[_TURNED_RANK + (turned >> 2)] = 1.0
    o[_TURNED_SUIT + (turned & 3)] = 1.0
    for play in range(state["plays"]):
        card = np.int64(state["play_card"][play])
        o[_PLAYED_BY + card] = (_place(state, seat, state["play_seat"][play]) + 1) / MAX_PLAYERS
        o[_PLAYED_AT + card] = (play + 1) / MAX_PLAYS
    for who in range(players(state)):
        known = np.int64(known_cards(state, who))
        if known:
            for slot in range(size):
                card = np.int64(state["hand"][who, slot])
                if (known >> card) & 1:
                    o[_SHOWN_BY + card] = (_place(state, seat, who) + 1) / MAX_PLAYERS
    cards.write_flags(np.int64(state["gone"]), o[_GONE : _GONE + cards.NUM_CARDS])


@inlined
def _see_auctions(state: np.void, seat: int, o: npt.NDArray[np.float32]) -> None:
    """What was said in the auctions and what they brought."""
    for auction in range(2):
        for bet in range(state["bets"][auction]):
            at = MAX_BETS * auction + bet
            bettor = _place(state, seat, state["bet_seat"][auction, bet])
            o[_BET_SEAT + at] = (bettor + 1) / MAX_PLAYERS
            o[_BET_SIZE + at] = state["bet_size"][auction, bet] / MAX_RAISE
        for place in range(players(state)):
            who = _after(state, seat, place)
            at = MAX_PLAYERS * auction + place
            o[_PASSED + at] = (np.int64(state["passed"][auction, who]) + 1) / (OUT + 1)
            o[_STAKED + at] = state["staked"][auction, who] / CHIP_SCALE
            o[_TOOK + at] = state["took"][auction, who] / CHIP_SCALE


def decode(pieces: Mapping[str, npt.NDArray[np.float32]]) -> dict[str, Any]:
    """What an observation says, in plain values; the inverse of `observe`.

    Args:
        pieces: the named pieces of one observation, as `observation.split` gives them.

    Returns:
        Seats are counted from the observer, who is 0; tuples by seat begin with him. `hand`: card
        numbers, ascending; `slots`: the hand as it was dealt, which actions refer to; `turned`: the
        card turned up; `plays`: the cards played in order, pairs (seat, card); `shown`: by seat,
        the cards shown; `gone`: cards known to be in no hand; `seen`: all cards whose place the
        observer knows; `phase`: "poque", "sequence", "play" or "over"; `to_move`: bool; `mover`:
        the seat to act, or None; `dealer`: seat; `cards_left`, `stacks`, `won`: by seat; `pools`:
        chips by name; `pools_taken`: by card, ace to jack, who took its pool and how many chips, or
        None; `to_equal`: chips; `auctions`: for "poque" and "sequence" a dict of `bets`,
        pairs (seat, chips), and by seat `passed` (how many bets had been made when he passed, "out"
        or None), `staked`, `took`; `deals_left`.
    """
    count = int(pieces["seats"].sum())
    ranks = pieces["hand_rank"].reshape(MAX_HAND, 13)
    suits = pieces["hand_suit"].reshape(MAX_HAND, 4)
    slots = tuple(
        4 * int(ranks[slot].argmax()) + int(suits[slot].argmax())
        for slot in range(MAX_HAND)
        if ranks[slot].any()
    )
    turned = 4 * int(pieces["turned_rank"].argmax()) + int(pieces["turned_suit"].argmax())
    played_by = _round(pieces["played_by"] * MAX_PLAYERS)
    order = _round(pieces["played_at"] * MAX_PLAYS)
    shown_by = _round(pieces["shown_by"] * MAX_PLAYERS)
    every_shown = tuple(
        tuple(card for card, seat in enumerate(shown_by) if seat == place + 1)
        for place in range(count)
    )
    gone = tuple(np.flatnonzero(pieces["gone"]).tolist())
    mover = np.flatnonzero(pieces["to_move"]).tolist()

    def by_seat(name: str, scale: float) -> tuple[int, ...]:
        return tuple(_round(pieces[name] * scale)[:count])

    return {
        "hand": tuple(card for slot, card in enumerate(slots) if pieces["hand_held"][slot]),
        "slots": slots,
        "turned": turned,
        "plays": tuple(
            (played_by[card] - 1, card)
            for card in sorted(range(cards.NUM_CARDS), key=order.__getitem__)
            if order[card]
        ),
        "shown": every_shown,
        "gone": gone,
        "seen": tuple(sorted({*slots, *gone, *(card for one in every_shown for card in one)})),
        "phase": ("poque", "sequence", "play", "over")[int(pieces["phase"].argmax())],
        "to_move": mover == [0],
        "mover": mover[0] if mover else None,
        "dealer": int(pieces["dealer"].argmax()),
        "cards_left": by_seat("cards_left", MAX_HAND),
        "stacks": by_seat("stacks", CHIP_SCALE),
        "won": by_seat("won", CHIP_SCALE),
        "pools": dict(zip(POOLS, _round(pieces["pools"] * CHIP_SCALE))),
        "pools_taken": tuple(
            (taker - 1, chips) if taker else None
            for taker, chips in zip(
                _round(pieces["pool_taker"] * MAX_PLAYERS),
                _round(pieces["pool_taken"] * CHIP_SCALE),
            )
        ),
        "to_equal": _round(pieces["to_equal"] * CHIP_SCALE)[0],
        "auctions": {
            name: _decode_auction(pieces, auction, count) for auction, name in enumerate(AUCTIONS)
        },
        "deals_left": _round(pieces["deals_left"] * DEAL_SCALE)[0],
    }


def _decode_auction(
    pieces: Mapping[str, npt.NDArray[np.float32]], auction: int, count: int
) -> dict[str, Any]:
    bets = slice(MAX_BETS * auction, MAX_BETS * (auction + 1))
    seats = slice(MAX_PLAYERS * auction, MAX_PLAYERS * auction + count)
    bettors = _round(pieces["bet_seat"][bets] * MAX_PLAYERS)
    sizes = _round(pieces["bet_size"][bets] * MAX_RAISE)
    passed = [number - 1 for number in _round(pieces["passed"][seats] * (OUT + 1))]
    return {
        "bets": tuple((seat - 1, size) for seat, size in zip(bettors, sizes) if seat),
        "passed": tuple({STAYS: None, OUT: "out"}.get(number, number) for number in passed),
        "staked": tuple(_round(pieces["staked"][seats] * CHIP_SCALE)),
        "took": tuple(_round(pieces["took"][seats] * CHIP_SCALE)),
    }


def _round(numbers: npt.NDArray[np.float32]) -> list[int]:
    return [int(number) for number in np.rint(np.asarray(numbers, np.float64))]


# --- ACTIONS: their number and text ---------------------------------------------------------------


def num_actions(rules: Rules) -> int:
    """Size of the action space: pass, equal, five bets, and a card for every slot."""
    return FIRST_SLOT + rules.hand_size


def action_text(state: np.void, action: int) -> str:
    """An action of the seat to move as text: "pass", "equal", "open 3", "raise 2", "lead 9h"."""
    if action >= FIRST_SLOT:
        return f"lead {card_text(int(state['hand'][state['player'], action - FIRST_SLOT]))}"
    if action >= RAISE:
        verb = "raise" if state["bets"][_auction(state)] else "open"
        return f"{verb} {action - RAISE + 1}"
    return "equal" if action == EQUAL else "pass"


def parse_action(state: np.void, text: str) -> int:
    """The action that a text stands for; a card may stand without its verb.

    Raises:
        ValueError: if the text says nothing that belongs to the phase, or names a card that the
            seat to move does not hold.
    """
    if not isinstance(cast(Any, text), str):
        raise ValueError(f"action text must be a str, got {shown(text)}")
    words = text.split()
    verb = words[0].lower() if words else ""
    if state["phase"] == PLAY:
        hand = state["hand"][state["player"]]
        slots = {int(card): slot for slot, card in enumerate(hand) if _held_card(state, int(card))}
        chosen = cards.parse_cards(words[1:] if verb == "lead" else words)
        if len(chosen) == 1 and chosen[0] in slots:
            return FIRST_SLOT + slots[chosen[0]]
        allowed = f"'lead' and a card of {format_cards(sorted(slots))}"
    else:
        bet = "raise" if state["bets"][_auction(state)] else "open"
        said = {"pass": PASS, "equal": EQUAL}
        said |= {f"{bet} {size + 1}": RAISE + size for size in range(MAX_RAISE)}
        spoken = " ".join([verb, *words[1:]])
        if spoken in said:
            return said[spoken]
        allowed = f"'pass', 'equal' or '{bet}' and a number from 1 to {MAX_RAISE}"
    raise ValueError(f"action {text!r} is not understood; say {allowed}")


def _held_card(state: np.void, card: int) -> bool:
    return card >= 0 and bool(_holds(state, state["player"], card))


# --- the score pad --------------------------------------------------------------------------------


class Auction(NamedTuple):
    """A finished auction; tuples by player unless they say otherwise (docs/rules.md 3.4).

    `speeches` are pairs of seat and words in the order spoken, such as (2, "raises 3"); those
    without chips do not speak. `shown` holds the cards that were shown, none unless two or more
    stayed.
    """

    speeches: tuple[tuple[int, str], ...]
    staked: tuple[int, ...]
    stayed: tuple[bool, ...]
    shown: tuple[tuple[int, ...], ...]
    took: tuple[int, ...]


class DealResult(NamedTuple):
    """A finished deal; tuples by player unless they say otherwise (docs/rules.md 3.2 to 3.6).

    `hands` as dealt and `cards_left` hold card numbers, ascending; `plays` pairs of seat and card,
    in order; `pools_taken` pairs of seat and chips for the pools of ace, king, queen and jack, None
    for one that stayed; `paid` chips paid or got for cards left; `chips` all that was won or lost.
    """

    dealer: int
    turned: int
    hands: tuple[tuple[int, ...], ...]
    poque: Auction
    sequence: Auction
    plays: tuple[tuple[int, int], ...]
    cards_left: tuple[tuple[int, ...], ...]
    pools_taken: tuple[tuple[int, int] | None, ...]
    paid: tuple[int, ...]
    chips: tuple[int, ...]

    def points(self, below_value: float = 0.0) -> tuple[float, ...]:
        """Chips won or lost in the deal by player; there are no points below the line."""
        return tuple(map(float, self.chips))


class ScoreSheet(NamedTuple):
    """The chips by player and by pool before the deal going on (now, if none is), how many deals
    of the session have been played, the dealer, and all finished deals of the match."""

    stacks: tuple[int, ...]
    pools: tuple[int, ...]
    deals_played: int
    dealer: int
    deals: tuple[DealResult, ...]


def _card_set(bits: Any) -> tuple[int, ...]:
    return tuple(card for card in range(cards.NUM_CARDS) if int(bits) >> card & 1)


def _chips(state: np.void, field: str) -> tuple[int, ...]:
    """A field by seat, for the seats that are taken."""
    return tuple(map(int, state[field][: players(state)]))


def _chips_won(state: np.void) -> tuple[int, ...]:
    """What the deal has brought so far, by player."""
    return tuple(
        now - before for now, before in zip(_chips(state, "stack"), _chips(state, "stack_before"))
    )


def _speeches(state: np.void, auction: int) -> Iterator[tuple[int, str]]:
    """What was said so far in an auction, in order: a seat speaks once to each bet."""
    count = players(state)
    going_on = int(state["phase"]) == POQUE_AUCTION + auction
    unspoken = int(state["awaited"]) if going_on else 0
    bets, made, awaited = int(state["bets"][auction]), 0, count
    seat = _after(state, state["dealer"], 1)
    while made < bets or awaited > unspoken:
        passed = int(state["passed"][auction, seat])
        awaited -= 1
        if made < bets and state["bet_seat"][auction, made] == seat:
            yield seat, f"{'raises' if made else 'opens'} {int(state['bet_size'][auction, made])}"
            made += 1
            awaited = count - 1
        elif passed == made:
            yield seat, "passes"
        elif passed != OUT and (passed == STAYS or passed > made):
            yield seat, "equals"
        seat = _after(state, seat, 1)


def _shown(state: np.void, auction: int) -> tuple[tuple[int, ...] | None, ...]:
    """The cards that each player showed in an auction, None for those who did not show."""
    return tuple(
        _card_set(state["combination"][auction, seat])
        if state["shows"][auction] and state["passed"][auction, seat] == STAYS
        else None
        for seat in range(players(state))
    )


def _auction_result(state: np.void, auction: int) -> Auction:
    seats = range(players(state))
    return Auction(
        speeches=tuple(_speeches(state, auction)),
        staked=tuple(int(state["staked"][auction, seat]) for seat in seats),
        stayed=tuple(bool(state["passed"][auction, seat] == STAYS) for seat in seats),
        shown=tuple(found or () for found in _shown(state, auction)),
        took=tuple(int(state["took"][auction, seat]) for seat in seats),
    )


def _plays(state: np.void) -> tuple[tuple[int, int], ...]:
    count = int(state["plays"])
    return tuple(zip(state["play_seat"][:count].tolist(), state["play_card"][:count].tolist()))


def _deal_result(state: np.void) -> DealResult:
    seats = range(players(state))
    size = int(state["rules"]["hand_size"])
    return DealResult(
        dealer=int(state["dealer"]),
        turned=int(state["turned"]),
        hands=tuple(tuple(map(int, state["hand"][seat, :size])) for seat in seats),
        poque=_auction_result(state, 0),
        sequence=_auction_result(state, 1),
        plays=_plays(state),
        cards_left=tuple(_card_set(state["held"][seat]) for seat in seats),
        pools_taken=tuple(
            None if taker < 0 else (int(taker), int(chips))
            for taker, chips in zip(state["pool_taker"], state["pool_taken"])
        ),
        paid=_chips(state, "paid"),
        chips=_chips_won(state),
    )


def forced(before: np.void, after: np.void) -> Sequence[str]:
    """What nobody chose between two positions, after a deal or an action, in words.

    Passes of those who could not bet, what was shown at the end of an auction, and the cards of a
    run after its first: "2 passes", "0 shows Ks Kc", "1 shows nothing", "3 plays Th".
    """
    # What an action says or plays comes before all that follows from it.
    told = 0 if int(before["phase"]) in (DEAL, OVER) else sum(1 for _ in _events(before)) + 1
    return [f"{seat} {words}" for seat, words in _events(after)][told:]


def _events(state: np.void) -> Iterator[tuple[int, str]]:
    """All that was said, shown and played so far in a deal, in order: seat and words."""
    for auction in range(2):
        if state["plays"] or int(state["phase"]) >= POQUE_AUCTION + auction:
            yield from _speeches(state, auction)
            for seat, found in enumerate(_shown(state, auction)):
                if found is not None:
                    yield seat, f"shows {format_cards(found) or 'nothing'}"
    for seat, card in _plays(state):
        yield seat, f"plays {card_text(card)}"


def score_sheet(state: np.void, finished: Sequence[np.void]) -> ScoreSheet:
    """The pad at `state`; `finished` holds the position at the end of each finished deal."""
    when = "" if int(state["phase"]) in (DEAL, OVER) else "_before"
    return ScoreSheet(
        stacks=_chips(state, f"stack{when}"),
        pools=tuple(map(int, state[f"pool{when}"])),
        deals_played=int(state["deals_played"]),
        dealer=int(state["dealer"]),
        deals=tuple(_deal_result(end) for end in finished),
    )


def place_score(state: np.void, score: Mapping[str, Any]) -> None:
    """Start a match from chips with which a deal can begin.

    Args:
        state: position whose score is written, only if all of it is valid.
        score: `stacks` by player, as at the beginning of a session if left out; `pools` in the
            order of `POOLS`, empty if left out; `deals_played` of the session, 0 if left out.
            Stacks and pools must add up to the chips with which a session begins.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """
    allowed = ("stacks", "pools", "deals_played")
    if not isinstance(score, Mapping):
        raise ValueError(f"score must be a dict of {', '.join(allowed)}, got {score!r}")
    unknown = [key for key in score if key not in allowed]
    if unknown:
        raise ValueError(f"score has unknown fields {unknown}; allowed are {', '.join(allowed)}")
    rules = state["rules"]
    count, total = players(state), int(rules["stack"]) * players(state)
    stacks = _checked_chips("stacks", score.get("stacks", count * [int(rules["stack"])]), count)
    pools = _checked_chips("pools", score.get("pools", len(POOLS) * [0]), len(POOLS))
    if sum(stacks) + sum(pools) != total:
        raise ValueError(
            f"score stacks and pools must add up to {total}, the chips of a session, got "
            f"{stacks} and {pools}"
        )
    played = check_integer(
        "score deals_played", score.get("deals_played", 0), 0, int(rules["deals"]) - 1
    )
    for name in ("stack", "stack_before", "settled"):
        state[name][:count] = stacks
    for name in ("pool", "pool_before"):
        state[name] = pools
    state["deals_played"] = played


def _checked_chips(name: str, given: Any, length: int) -> tuple[int, ...]:
    chips = given.tolist() if isinstance(given, np.ndarray) else given
    numbers = [as_integer(one) for one in chips] if isinstance(chips, (tuple, list)) else []
    known = tuple(number for number in numbers if number is not None and number >= 0)
    if len(numbers) != length or len(known) != length:
        raise ValueError(f"score {name} must be {length} integers of at least 0, got {chips!r}")
    return known


# --- TABLE: the picture ---------------------------------------------------------------------------


def table(state: np.void, viewers: frozenset[int]) -> Table:
    """The table as those in `viewers` see it together.

    Blocks: the chips, the pools, what was said in the auctions, the hands (a lone viewer's own
    comes last) with the card turned up, the cards played run by run.
    """
    count = players(state)
    names = tuple(f"player_{seat}" for seat in range(count))
    phase = Phase(int(state["phase"]))
    finished = phase in (Phase.DEAL, Phase.OVER) and int(state["plays"]) > 0
    chips = [
        Line("chips", names),
        _numbers("stack", _chips(state, "stack")),
        _numbers("this deal", _chips_won(state)),
    ]
    if finished:
        chips.append(_numbers("for cards left", _chips(state, "paid")))
    pools = [Line("pools", POOLS), _numbers("chips", state["pool"])]
    auctions = [
        line
        for auction in range(2)
        if phase >= POQUE_AUCTION + auction or finished
        for line in _auction_lines(state, auction)
    ]
    first = min(viewers) + 1 if len(viewers) == 1 else 0
    hands = [Line("turned up", (Card(int(state["turned"])),))] if state["gone"] else []
    hands += [
        _hand_line(state, (first + place) % count, viewers, finished) for place in range(count)
    ]
    turn = {
        Phase.DEAL: "deal finished",
        Phase.OVER: "match over",
        Phase.POQUE: "to speak for poque",
        Phase.SEQUENCE: "to speak for sequence",
        Phase.PLAY: "to lead",
    }[phase]
    if phase not in (Phase.DEAL, Phase.OVER):
        turn = f"{names[int(state['player'])]} {turn}"
    match = MATCHES[int(state["match"])]
    return Table(
        title=f"Poque ({match}): {names[int(state['dealer'])]} deals, {turn}",
        blocks=(
            tuple(chips),
            tuple(pools),
            tuple(auctions),
            tuple(hands),
            tuple(_run_lines(state)),
        ),
    )


def _numbers(label: str, numbers: Any) -> Line:
    return Line(label, tuple(str(int(number)) for number in numbers))


def _auction_lines(state: np.void, auction: int) -> Iterator[Line]:
    """What each player said, a line for each time round, and what they took in the end."""
    count = players(state)
    rounds: list[list[str]] = [[""] * count]
    for seat in range(count):
        if state["passed"][auction, seat] == OUT:
            rounds[0][seat] = "out"
    before = 0
    for seat, words in _speeches(state, auction):
        turn = (seat - int(state["dealer"]) - 1) % count
        if turn < before:
            rounds.append([""] * count)
        rounds[-1][seat] = words
        before = turn
    for number, said in enumerate(rounds):
        yield Line("" if number else AUCTIONS[auction], tuple(said))
    if state["took"][auction].any():
        yield _numbers("taken", state["took"][auction, :count])


def _hand_line(state: np.void, seat: int, viewers: frozenset[int], finished: bool) -> Line:
    """The cards in a hand; of one that is hidden those that were shown, before the others."""
    held = _card_set(state["held"][seat])
    known = known_cards(state, seat)
    faces = [card for card in held if seat in viewers or finished or known >> card & 1]
    backs = len(held) - len(faces)
    label = f"player_{seat}" + (" (dealer)" if seat == state["dealer"] else "")
    return Line(label, (*(Card(card) for card in faces), *(Card(None) for _ in range(backs))))


def _run_lines(state: np.void) -> Iterator[Line]:
    """The runs in order: who played, and what."""
    runs: list[list[tuple[int, int]]] = []
    for seat, card in _plays(state):
        if not runs or runs[-1][-1][1] + 4 != card:
            runs.append([])
        runs[-1].append((seat, card))
    for number, run in enumerate(runs):
        items: list[str | Card] = []
        for seat, played in groupby(run, lambda play: play[0]):
            items += [f"player_{seat}", *(Card(card) for _, card in played)]
        yield Line(f"run {number + 1}", tuple(items))


POQUE = register(
    Game(
        name="poque",
        version=0,
        seats=MAX_PLAYERS,
        max_cards=cards.NUM_CARDS,
        matches=("session", "deal"),
        rewards=("points", "win"),
        spread=15.0,
        pays_within_deals=True,
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
        forced=forced,
        decode=decode,
        score_sheet=score_sheet,
    )
)
