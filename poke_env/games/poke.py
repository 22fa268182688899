"""Poke: draw poker that doubles, tricks, and a rubber (docs/rules.md, section 1).

A position is one record of `STATE`; the functions over it are the rules. Seats are 0 and 1; the
non-dealer is the seat that does not deal. Cards lie in five slots, ascending; an action is a set
of slots written as bits, in every phase. Chance enters as deck orders only: a position in phase
`DEAL` waits for one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from enum import IntEnum
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from poke_env import cards
from poke_env._checks import as_integer, check_flag, check_integer, shown
from poke_env._jit import compiled, inlined
from poke_env._records import record_dtype
from poke_env.cards import (
    CATEGORY_SHIFT,
    Category,
    format_cards,
    hand_value,
    sort_hand,
    write_flags,
)
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
)

# --- rules as data --------------------------------------------------------------------------------

MAX_HAND = 5
MAX_DRAWS = 3
MAX_VALUE = 64
MAX_POINTS = 10_000

RULES = record_dtype(
    ("poker_points", np.int32, (10,)),
    ("rubber_points", np.int32, (2,)),
    ("sweep_points", np.int32),
    ("game_points", np.int32),
    ("target", np.int32),
    ("values", np.int16, (2, MAX_DRAWS + 1)),
    ("draws", np.int8, (2,)),
    ("ranks", np.int8),
    ("suits", np.int8),
    ("hand_size", np.int8),
    ("max_discard", np.int8),
    ("must_beat", np.int8),
    ("count_leads", np.int8),
    ("both_score_tie", np.int8),
    ("ace_low_straight", np.int8),
    ("rubber_breaks_tie", np.int8),
    ("follow_set_if_held", np.int8),
    ("reveal_discards", np.int8),
)
"""The options inside a position. `draws` and `values` hold the non-dealer's row first."""


@dataclass(frozen=True)
class Rules:
    """The options of Poke (docs/rules.md, section 1); the defaults are the full game.

    Attributes:
        ranks: number of ranks in the pack, the highest ones (2 to 13).
        suits: number of suits in the pack, from clubs upwards (1 to 4).
        hand_size: cards in a hand (2 to 5); smaller hands know only sets as poker hands.
        max_discard: most cards changed in one draw (0 to hand_size).
        non_dealer_draws: most draws of the non-dealer (0 to 3).
        dealer_draws: most draws of the dealer (0 to 3).
        non_dealer_values: value of each card the *dealer* takes after 0, 1, … draws by the
            non-dealer (each 0 to 64; with 0 on both sides a game need not end, so set `max_deals`).
        dealer_values: value of each card the *non-dealer* takes after 0, 1, … draws by the dealer.
        target: points below the line that end a game (1 to 200).
        poker_points: points of the ten categories, high card to royal flush (0 to 10,000).
        sweep_points: points for taking all cards.
        game_points: points for winning a game.
        rubber_points: points for winning the rubber when the opponent won no game, one game.
        must_beat: a follower who can beat the lead must.
        trick_unit: what counts below the line, `"card"` or `"lead"`.
        poker_tie: who scores for exactly equal hands, `"none"` or `"both"`.
        ace_low_straight: A-2-3-4-5 is a straight.
        final_tie: equal totals after the rubber are a `"draw"` or won by the `"rubber_winner"`.
        follow_set_if_held: a follower who does not beat a lead of two or more must play a set of
            that size if he holds one.
        reveal_discards: discards are seen by both.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """

    ranks: int = 13
    suits: int = 4
    hand_size: int = 5
    max_discard: int = 3
    non_dealer_draws: int = 2
    dealer_draws: int = 3
    non_dealer_values: tuple[int, ...] = (1, 2, 4)
    dealer_values: tuple[int, ...] = (1, 1, 2, 4)
    target: int = 20
    poker_points: tuple[int, ...] = (0, 50, 100, 200, 300, 400, 500, 600, 750, 1000)
    sweep_points: int = 250
    game_points: int = 100
    rubber_points: tuple[int, int] = (750, 500)
    must_beat: bool = True
    trick_unit: str = "card"
    poker_tie: str = "none"
    ace_low_straight: bool = True
    final_tie: str = "draw"
    follow_set_if_held: bool = False
    reveal_discards: bool = False

    def __post_init__(self) -> None:
        self._check_number("ranks", 2, 13)
        self._check_number("suits", 1, 4)
        self._check_number("hand_size", 2, MAX_HAND)
        self._check_number("max_discard", 0, self.hand_size)
        self._check_number("non_dealer_draws", 0, MAX_DRAWS)
        self._check_number("dealer_draws", 0, MAX_DRAWS)
        self._check_number("target", 1, 200)
        for name in ("sweep_points", "game_points"):
            self._check_number(name, 0, MAX_POINTS)
        self._check_numbers("non_dealer_values", self.non_dealer_draws + 1, MAX_VALUE)
        self._check_numbers("dealer_values", self.dealer_draws + 1, MAX_VALUE)
        self._check_numbers("poker_points", len(Category), MAX_POINTS)
        self._check_numbers("rubber_points", 2, MAX_POINTS)
        for name, allowed in _CHOICES.items():
            value = getattr(self, name)
            if not isinstance(value, str) or value not in allowed:
                raise ValueError(f"{name} must be {allowed[0]!r} or {allowed[1]!r}, got {value!r}")
        for field in fields(self):
            if field.type == "bool":
                value = check_flag(field.name, getattr(self, field.name))
                object.__setattr__(self, field.name, value)
        if self.ranks * self.suits < 2 * self.hand_size:
            raise ValueError(
                f"hand_size must leave {2 * self.hand_size} cards for two hands, "
                f"but ranks={self.ranks} and suits={self.suits} make {self.ranks * self.suits}"
            )

    def _check_number(self, name: str, low: int, high: int) -> None:
        object.__setattr__(self, name, check_integer(name, getattr(self, name), low, high))

    def _check_numbers(self, name: str, length: int, high: int) -> None:
        values = getattr(self, name)
        if (
            not isinstance(values, (tuple, list))
            or len(values) != length
            or not all(_in_range(value, high) for value in values)
        ):
            raise ValueError(f"{name} must be {length} integers from 0 to {high}, got {values!r}")
        object.__setattr__(self, name, tuple(map(int, values)))

    def write(self, record: np.void) -> None:
        """Copy the options into `record`, a record of dtype `RULES`."""
        for name in ("ranks", "suits", "hand_size", "max_discard", "target", "sweep_points",
                     "game_points", "must_beat", "ace_low_straight", "follow_set_if_held",
                     "reveal_discards", "poker_points", "rubber_points"):  # fmt: skip
            record[name] = getattr(self, name)
        record["draws"] = self.non_dealer_draws, self.dealer_draws
        record["values"][0, : len(self.non_dealer_values)] = self.non_dealer_values
        record["values"][1, : len(self.dealer_values)] = self.dealer_values
        record["count_leads"] = self.trick_unit == "lead"
        record["both_score_tie"] = self.poker_tie == "both"
        record["rubber_breaks_tie"] = self.final_tie == "rubber_winner"

    def pack(self) -> tuple[int, ...]:
        """The card numbers of the pack, ascending."""
        return cards.pack(self.ranks, self.suits)

    def as_dict(self) -> dict[str, Any]:
        """The options as plain values, for records and result files."""
        return asdict(self)


def _in_range(value: Any, high: int) -> bool:
    number = as_integer(value)
    return number is not None and 0 <= number <= high


_CHOICES = {
    "trick_unit": ("card", "lead"),
    "poker_tie": ("none", "both"),
    "final_tie": ("draw", "rubber_winner"),
}


PRESETS = {
    "standard": Rules(),
    # Six cards, two each: the stock of two lets the dealer double only if the non-dealer did not.
    "tiny": Rules(
        ranks=3,
        suits=2,
        hand_size=2,
        max_discard=1,
        non_dealer_draws=1,
        dealer_draws=2,
        non_dealer_values=(1, 2),
        dealer_values=(1, 1, 2),
        target=8,
    ),
    # Twelve cards, three each: a stock of six serves every double, one after greedy drawing.
    "small": Rules(ranks=6, suits=2, hand_size=3, max_discard=2, target=12),
}

# --- positions ------------------------------------------------------------------------------------


class Phase(IntEnum):
    """What a position waits for."""

    DEAL = 0
    DRAW = 1
    LEAD = 2
    FOLLOW = 3
    OVER = 4


DEAL, DRAW, LEAD, FOLLOW, OVER = (int(phase) for phase in Phase)
MATCH_DEAL, MATCH_GAME, MATCH_RUBBER = range(3)

STATE = record_dtype(
    ("rules", RULES),
    # The score; pairs by seat.
    ("below", np.int32, (2,)),
    ("above", np.int32, (2,)),
    ("games", np.int8, (2,)),
    ("match", np.int8),
    ("winner", np.int8),
    # The deal going on. `hand` keeps the cards in their slots when they are played; `held`
    # has a bit for every slot still in the hand. Discards are sets of cards, written as bits.
    ("discards", np.int64, (2,)),
    ("phase", np.int8),
    ("player", np.int8),
    ("dealer", np.int8),
    ("hand", np.int8, (2, MAX_HAND)),
    ("held", np.int8, (2,)),
    ("pat", np.int8, (2,)),
    ("draw_count", np.int8, (2,)),
    ("draw_size", np.int8, (2, MAX_DRAWS)),
    # Tricks in order; cards as slots of the one who led and the one who followed.
    ("trick_count", np.int8),
    ("trick_leader", np.int8, (MAX_HAND,)),
    ("trick_winner", np.int8, (MAX_HAND,)),
    ("trick_lead", np.int8, (MAX_HAND,)),
    ("trick_follow", np.int8, (MAX_HAND,)),
    # What the deal brought, once it is finished.
    ("deal_taken", np.int8, (2,)),
    ("deal_below", np.int32, (2,)),
    ("deal_poker", np.int32, (2,)),
    ("deal_sweep", np.int32, (2,)),
    ("deal_game_bonus", np.int32, (2,)),
    ("deal_rubber_bonus", np.int32, (2,)),
)
"""A position of Poke. `trick_winner` is -1 while a lead waits for its follower."""


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
    """Poke is for two."""
    return 2


@inlined
def stock_left(state: np.void) -> int:
    """Cards of the stock that nobody has drawn yet."""
    rules = state["rules"]
    left = np.int64(rules["ranks"]) * rules["suits"] - 2 * np.int64(rules["hand_size"])
    for seat in range(2):
        for draw in range(MAX_DRAWS):
            left -= state["draw_size"][seat, draw]
    return int(left)


# Sets of slots are bits, and so are sets of actions: bit a stands for action a. Rules look them up,
# since branches that depend on the cards cost more than anything else in a batch.
_SETS = range(1 << MAX_HAND)
_SIZE = np.array([bits.bit_count() for bits in _SETS], np.int64)
_FIRST = np.array([0, *((bits & -bits).bit_length() - 1 for bits in _SETS[1:])], np.int64)
_LAST = np.array([0, *(bits.bit_length() - 1 for bits in _SETS[1:])], np.int64)
"""The lowest and the highest slot of a set."""
_WITHIN = np.array([sum(1 << bits for bits in _SETS if bits & ~held == 0) for held in _SETS])
"""The actions that take no slot outside a set."""
_OF_SIZE = np.array(
    [sum(1 << bits for bits in _SETS if bits.bit_count() == size) for size in range(MAX_HAND + 1)]
)
"""The actions of so many slots."""
_UP_TO_SIZE = np.cumsum(_OF_SIZE)
"""The actions of at most so many slots."""


def _is_set(slots: int, alike: int) -> bool:
    """Whether all cards in `slots` are of one rank; bit s of `alike`: slot s has that of s - 1."""
    return all(alike >> slot & 1 for slot in range(_FIRST[slots] + 1, _LAST[slots] + 1))


_SETS_WITHIN = np.array(
    [
        [sum(1 << bits for bits in _SETS[1:] if bits & ~held == 0 and _is_set(bits, alike))
         for held in _SETS]
        for alike in _SETS
    ]
)  # fmt: skip
"""[alike, held]: the actions that take cards of one rank out of `held` (see `_is_set`)."""


def begin(state: np.void) -> None:
    """The beginning of a match."""
    state["winner"] = -1


# --- phase: deal ----------------------------------------------------------------------------------


@compiled
def deal(state: np.void, deck: npt.NDArray[np.int8], dealer: int) -> None:
    """Start a deal (docs/rules.md 1.1): the first cards to the non-dealer, the next to the dealer.

    Args:
        state: position in phase `DEAL`.
        deck: int8, the pack in a full order.
        dealer: seat of the dealer, or -1: the deal alternates.
    """
    size = state["rules"]["hand_size"]
    state["dealer"] = 1 - state["dealer"] if dealer < 0 else dealer
    starter = 1 - state["dealer"]
    for seat in range(2):
        start = 0 if seat == starter else size
        for slot in range(MAX_HAND):
            state["hand"][seat, slot] = deck[start + slot] if slot < size else -1
        sort_hand(state["hand"][seat], size)
        state["held"][seat] = (1 << size) - 1
        state["discards"][seat] = 0
        state["pat"][seat] = 0
        state["draw_count"][seat] = 0
        for draw in range(MAX_DRAWS):
            state["draw_size"][seat, draw] = 0
        state["deal_taken"][seat] = 0
        state["deal_below"][seat] = 0
        state["deal_poker"][seat] = 0
        state["deal_sweep"][seat] = 0
        state["deal_game_bonus"][seat] = 0
        state["deal_rubber_bonus"][seat] = 0
    state["trick_count"] = 0
    for trick in range(MAX_HAND):
        state["trick_leader"][trick] = -1
        state["trick_winner"][trick] = -1
        state["trick_lead"][trick] = 0
        state["trick_follow"][trick] = 0
    state["player"] = starter
    state["phase"] = DRAW
    _pass_draws_on(state)


# --- phase: draw ----------------------------------------------------------------------------------


@inlined
def _legal_draws(state: np.void) -> int:
    """Legal draws as a set of actions, bit a for action a (docs/rules.md 1.2)."""
    rules = state["rules"]
    most = min(int(rules["max_discard"]), stock_left(state))
    return int(_UP_TO_SIZE[most] & _WITHIN[(1 << np.int64(rules["hand_size"])) - 1])


@inlined
def _apply_draw(state: np.void, deck: npt.NDArray[np.int8], action: int) -> None:
    """Stand pat (0), or change the cards in the slots of `action` (docs/rules.md 1.2)."""
    seat = state["player"]
    if action == 0:
        state["pat"][seat] = 1
    else:
        rules = state["rules"]
        size = np.int64(rules["hand_size"])
        drawn = np.int64(0)
        for draw in range(MAX_DRAWS):
            drawn += state["draw_size"][seat, draw]
        from_back = seat == state["dealer"]
        last = np.int64(rules["ranks"]) * rules["suits"] - 1
        changed = np.int64(action)
        while changed:
            slot = _FIRST[changed]
            changed &= changed - 1
            state["discards"][seat] |= np.int64(1) << np.int64(state["hand"][seat, slot])
            place = last - drawn if from_back else 2 * size + drawn
            state["hand"][seat, slot] = deck[place]
            drawn += 1
        sort_hand(state["hand"][seat], size)
        state["draw_size"][seat, state["draw_count"][seat]] = _SIZE[action]
        state["draw_count"][seat] += 1
    _pass_draws_on(state)


@inlined
def _pass_draws_on(state: np.void) -> None:
    """Go on to the first seat that may still draw, or to the first lead if there is none."""
    for row in range(2):
        seat = state["dealer"] if row == 1 else 1 - state["dealer"]
        if state["draw_count"][seat] >= state["rules"]["draws"][row]:
            state["pat"][seat] = 1
        if not state["pat"][seat]:
            state["player"] = seat
            return
    state["phase"] = LEAD
    state["player"] = 1 - state["dealer"]


@inlined
def trick_value(state: np.void, seat: int) -> int:
    """What each card that `seat` takes is worth below the line now (docs/rules.md 1.3)."""
    opponent = 1 - seat
    row = 1 if opponent == state["dealer"] else 0
    return int(state["rules"]["values"][row, state["draw_count"][opponent]])


# --- phases: lead and follow ----------------------------------------------------------------------


@inlined
def _rank(state: np.void, seat: int, slot: int) -> int:
    return int(np.int64(state["hand"][seat, slot]) >> 2)


@inlined
def _lead_rank(state: np.void) -> int:
    """The rank of the lead on the table."""
    trick = state["trick_count"]
    return _rank(state, state["trick_leader"][trick], _FIRST[state["trick_lead"][trick]])


@inlined
def _sets_held(state: np.void, seat: int, above: int) -> tuple[int, int]:
    """Sets of cards of one rank in the hand, as two sets of actions: ranks over `above`, others."""
    held = np.int64(state["held"][seat])
    # Slots are in ascending order of cards: those of one rank are neighbours, high ones come last.
    alike = np.int64(0)
    lower = np.int64(0)
    before = np.int64(-1)
    for slot in range(MAX_HAND):
        rank = np.int64(_rank(state, seat, slot))
        alike |= np.int64(rank == before) << slot
        lower |= np.int64(rank <= above) << slot
        before = rank
    return int(_SETS_WITHIN[alike, held & ~lower]), int(_SETS_WITHIN[alike, held & lower])


@inlined
def _legal_leads(state: np.void) -> int:
    """Legal leads as a set of actions: cards of one rank (docs/rules.md 1.4)."""
    return _sets_held(state, state["player"], -1)[0]


@inlined
def _legal_follows(state: np.void) -> int:
    """Legal answers to the lead on the table as a set of actions (docs/rules.md 1.4)."""
    rules = state["rules"]
    seat = state["player"]
    lead = np.int64(state["trick_lead"][state["trick_count"]])
    beating, sets = _sets_held(state, seat, _lead_rank(state))
    fitting = _OF_SIZE[_SIZE[lead]]
    beating &= fitting
    sets &= fitting
    if rules["must_beat"] and beating:
        return int(beating)
    if rules["follow_set_if_held"] and _SIZE[lead] >= 2 and (beating | sets):
        return int(beating | sets)
    return int(_WITHIN[np.int64(state["held"][seat])] & fitting)


@inlined
def _apply_lead(state: np.void, action: int) -> None:
    seat = state["player"]
    trick = state["trick_count"]
    state["trick_leader"][trick] = seat
    state["trick_lead"][trick] = action
    state["held"][seat] &= ~action
    state["player"] = 1 - seat
    state["phase"] = FOLLOW


@inlined
def _apply_follow(state: np.void, action: int) -> None:
    seat = state["player"]
    trick = state["trick_count"]
    # Slots are in ascending order: if the outer cards are of one rank, all between them are.
    low, high = _rank(state, seat, _FIRST[action]), _rank(state, seat, _LAST[action])
    winner = seat if low == high and low > _lead_rank(state) else 1 - seat
    state["trick_follow"][trick] = action
    state["trick_winner"][trick] = winner
    state["trick_count"] += 1
    state["held"][seat] &= ~action
    state["player"] = winner
    state["phase"] = LEAD
    if state["held"][seat] == 0:
        _finish_deal(state)


# --- scoring --------------------------------------------------------------------------------------


@inlined
def cards_taken(state: np.void, seat: int) -> int:
    """Cards that `seat` has won tricks with so far in this deal."""
    taken = 0
    for trick in range(state["trick_count"]):
        if state["trick_winner"][trick] == seat:
            taken += _SIZE[state["trick_lead"][trick]]
    return taken


@inlined
def _leads_taken(state: np.void, seat: int) -> int:
    taken = 0
    for trick in range(state["trick_count"]):
        if state["trick_winner"][trick] == seat:
            taken += 1
    return taken


@compiled
def _finish_deal(state: np.void) -> None:
    """Write the finished deal on the pad (docs/rules.md 1.5 to 1.9)."""
    rules = state["rules"]
    size = rules["hand_size"]
    value_0 = hand_value(state["hand"][0], size, rules["ace_low_straight"])
    value_1 = hand_value(state["hand"][1], size, rules["ace_low_straight"])
    for seat in range(2):
        taken = cards_taken(state, seat)
        units = _leads_taken(state, seat) if rules["count_leads"] else taken
        state["deal_taken"][seat] = taken
        state["deal_below"][seat] = units * trick_value(state, seat)
        state["deal_sweep"][seat] = rules["sweep_points"] if taken == size else 0
        own = value_0 if seat == 0 else value_1
        other = value_1 if seat == 0 else value_0
        if own > other or (own == other and rules["both_score_tie"]):
            state["deal_poker"][seat] = rules["poker_points"][own >> CATEGORY_SHIFT]
        state["below"][seat] += state["deal_below"][seat]
        state["above"][seat] += state["deal_sweep"][seat] + state["deal_poker"][seat]
    game_won = _finish_game(state)
    match = state["match"]
    rubber_won = state["games"][0] >= 2 or state["games"][1] >= 2
    over = match == MATCH_DEAL or (match == MATCH_GAME and game_won) or rubber_won
    state["phase"] = OVER if over else DEAL
    if over and match == MATCH_RUBBER:
        state["winner"] = _rubber_result(state)


@compiled
def _finish_game(state: np.void) -> bool:
    """Close game and rubber if a seat is ahead at the target (docs/rules.md 1.7, 1.8)."""
    rules = state["rules"]
    below = state["below"]
    if below[0] == below[1] or max(below[0], below[1]) < rules["target"]:
        return False
    winner = 0 if below[0] > below[1] else 1
    state["games"][winner] += 1
    state["deal_game_bonus"][winner] = rules["game_points"]
    if state["games"][winner] >= 2:
        lost = 0 if state["games"][1 - winner] == 0 else 1
        state["deal_rubber_bonus"][winner] = rules["rubber_points"][lost]
    state["above"][winner] += state["deal_game_bonus"][winner] + state["deal_rubber_bonus"][winner]
    below[0] = 0
    below[1] = 0
    return True


@compiled
def _rubber_result(state: np.void) -> int:
    """Seat with the higher total above the line; -1 for a draw (docs/rules.md 1.9)."""
    above = state["above"]
    if above[0] != above[1]:
        return 0 if above[0] > above[1] else 1
    if state["rules"]["rubber_breaks_tie"]:
        return 0 if state["games"][0] > state["games"][1] else 1
    return -1


@inlined
def points(state: np.void, below_value: float, reward: npt.NDArray[np.float64]) -> int:
    """Points of the deal that just ended, zero-sum: above the line, own minus the opponent's.

    Where the deal is the match, points below the line count `below_value` each.

    Returns:
        `DEAL_ENDED` if the last action ended a deal; otherwise `reward` is all zero.
    """
    reward[0] = 0.0
    reward[1] = 0.0
    if state["phase"] != DEAL and state["phase"] != OVER:
        return NOT_PAID
    for seat in range(2):
        written = (
            state["deal_sweep"][seat]
            + state["deal_poker"][seat]
            + state["deal_game_bonus"][seat]
            + state["deal_rubber_bonus"][seat]
        )
        gain = float(written)
        if state["match"] == MATCH_DEAL:
            gain += below_value * state["deal_below"][seat]
        reward[seat] += gain
        reward[1 - seat] -= gain
    return DEAL_ENDED


@compiled
def result(state: np.void, total: npt.NDArray[np.float64], reward: npt.NDArray[np.float64]) -> None:
    """1 to the winner of the match and -1 to the loser, 0 for a draw.

    A rubber is won by docs/rules.md 1.9, a game or deal by the sign of the summed points.
    """
    if state["match"] == MATCH_RUBBER:
        reward[0] = 0.0 if state["winner"] < 0 else 1.0 - 2.0 * state["winner"]
    else:
        reward[0] = np.sign(total[0])
    reward[1] = -reward[0]


@inlined
def equity_place(
    target: Int, below_dealer: Int, below_other: Int, games_dealer: Int, games_other: Int
) -> int:
    """Where a score at which a deal begins stands in the equity table.

    For each of the four pairs of games won there are the scores below the target, and last of all
    one place for every tie at the target or beyond: those are worth the same, since a game that is
    won cancels what stands below the line.
    """
    place = target * target
    if below_dealer < target and below_other < target:
        place = target * below_dealer + below_other
    return int((2 * games_dealer + games_other) * (target * target + 1) + place)


@inlined
def equity(
    state: np.void, table: npt.NDArray[np.float64], expected: npt.NDArray[np.float64]
) -> None:
    """Expected margin above the line that each seat still gains until the end of the rubber.

    Counted from the beginning of the deal going on, or of the next one when it has ended; whatever
    the match, as if the rubber went on.

    Args:
        state: any position after the first deal.
        table: float64 (1 or 2, places) by `equity_place`, the dealer's margin; of two rows each is
            for deals of the seat with its number.
        expected: float64 (2,), written.
    """
    games = state["games"]
    expected[0] = 0.0
    expected[1] = 0.0
    if games[0] >= 2 or games[1] >= 2:
        return
    ended = state["phase"] == DEAL or state["phase"] == OVER
    dealer = 1 - state["dealer"] if ended else np.int64(state["dealer"])
    other = 1 - dealer
    below = state["below"]
    place = equity_place(
        np.int64(state["rules"]["target"]),
        np.int64(below[dealer]),
        np.int64(below[other]),
        np.int64(games[dealer]),
        np.int64(games[other]),
    )
    margin = table[dealer % table.shape[0], place]
    expected[dealer] = margin
    expected[other] = -margin


STANDINGS = tuple(
    f"games {own}–{other}, {below} below the line"
    for own in range(2)
    for other in range(2)
    for below in ("behind", "level", "ahead")
)


@compiled
def standing(state: np.void, seat: int) -> int:
    """Games won by both and who leads below the line, a place in `STANDINGS`."""
    own_games = 1 if state["games"][seat] > 0 else 0
    other_games = 1 if state["games"][1 - seat] > 0 else 0
    lead = np.sign(state["below"][seat] - state["below"][1 - seat])
    return int(6 * own_games + 3 * other_games + 1 + lead)


# --- one legal and one apply for every phase ------------------------------------------------------


@inlined
def _legal_set(state: np.void) -> int:
    if state["phase"] == DRAW:
        return _legal_draws(state)
    if state["phase"] == LEAD:
        return _legal_leads(state)
    if state["phase"] == FOLLOW:
        return _legal_follows(state)
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
    if state["phase"] == DRAW:
        _apply_draw(state, deck, action)
    elif state["phase"] == LEAD:
        _apply_lead(state, action)
    else:
        _apply_follow(state, action)


# --- VIEW: what a player may know -----------------------------------------------------------------

BELOW_SCALE, BELOW_MAX = 20.0, 255
ABOVE_SCALE, ABOVE_MAX = 1000.0, 32767
VALUE_SCALE = 4.0

VIEW = (
    Piece("hand_rank", 65, 0, 1, "13 numbers a slot: rank of the card, 2 to ace, played or not"),
    Piece("hand_suit", 20, 0, 1, "4 numbers a slot: suit of the card, c d h s"),
    Piece("hand_held", 5, 0, 1, "slot still holds its card"),
    Piece("hand_trick", 5, 0, 1, "trick in which the slot was played, 1 to 5, / 5; 0 while held"),
    Piece("discards", 52, 0, 1, "own discards, by card number"),
    Piece("seen", 52, 0, 1, "cards seen: own hand, own discards, cards played, discards revealed"),
    Piece("opponent_rank", 5, 0, 1, "opponent's cards in the order played: (rank + 1) / 13"),
    Piece("opponent_suit", 5, 0, 1, "opponent's cards in the order played: (suit + 1) / 4"),
    Piece("lead_rank", 13, 0, 1, "rank of the lead that waits for its follower"),
    Piece("lead_size", 4, 0, 1, "number of cards in the lead that waits for its follower, 1 to 4"),
    Piece("trick_size", 5, 0, 1, "cards led to each trick, / 4"),
    Piece("trick_leader", 5, -1, 1, "leader of each trick: 1 own, -1 opponent, 0 none yet"),
    Piece("trick_winner", 5, -1, 1, "winner of each trick: 1 own, -1 opponent, 0 none yet"),
    Piece("phase", 4, 0, 1, "draw, lead, follow, deal finished"),
    Piece("to_move", 1, 0, 1, "it is the observer's turn"),
    Piece("dealer", 1, 0, 1, "the observer deals"),
    Piece("own_draws", 3, 0, 1, "cards changed in each own draw, / 5"),
    Piece("opponent_draws", 3, 0, 1, "cards changed in each of the opponent's draws, / 5"),
    Piece("pat", 2, 0, 1, "draws completed: own, opponent's"),
    Piece("trick_values", 2, 0, 16, "value of each card taken, / 4: own, opponent's"),
    Piece("taken", 2, 0, 1, "cards taken, / 5: own, opponent's"),
    Piece("below", 2, 0, 12.75, "points below the line, / 20, up to 255: own, opponent's"),
    Piece("above", 2, 0, 32.767, "points above the line, / 1000, up to 32,767: own, opponent's"),
    Piece("games", 2, 0, 2, "games won: own, opponent's"),
)

AT = {piece.name: sum(earlier.size for earlier in VIEW[:index]) for index, piece in enumerate(VIEW)}
"""Where each piece begins in the flat observation."""

(
    _HAND_RANK, _HAND_SUIT, _HAND_HELD, _HAND_TRICK, _DISCARDS, _SEEN, _OPPONENT_RANK,
    _OPPONENT_SUIT, _LEAD_RANK, _LEAD_SIZE, _TRICK_SIZE, _TRICK_LEADER, _TRICK_WINNER, _PHASE,
    _TO_MOVE, _DEALER, _OWN_DRAWS, _OPPONENT_DRAWS, _PAT, _TRICK_VALUES, _TAKEN, _BELOW, _ABOVE,
    _GAMES,
) = AT.values()  # fmt: skip


@compiled
def observe(state: np.void, seat: int, observation: npt.NDArray[np.float32]) -> None:
    """Write all that `seat` may know, own things first, in the layout of `VIEW`.

    Args:
        state: any position after the first deal.
        seat: the observer.
        observation: float32 (265,), overwritten.
    """
    o = observation
    o[:] = 0.0
    other = 1 - seat
    own_discards = np.int64(state["discards"][seat])
    seen = own_discards | _see_hand(state, seat, o) | _see_tricks(state, seat, o)
    if state["rules"]["reveal_discards"]:
        seen |= np.int64(state["discards"][other])
    write_flags(own_discards, o[_DISCARDS : _DISCARDS + cards.NUM_CARDS])
    write_flags(seen, o[_SEEN : _SEEN + cards.NUM_CARDS])
    phase = np.int64(state["phase"])
    o[_PHASE + (3 if phase in (DEAL, OVER) else phase - 1)] = 1.0
    o[_TO_MOVE] = to_move(state) == seat
    o[_DEALER] = state["dealer"] == seat
    for draw in range(MAX_DRAWS):
        o[_OWN_DRAWS + draw] = state["draw_size"][seat, draw] / MAX_HAND
        o[_OPPONENT_DRAWS + draw] = state["draw_size"][other, draw] / MAX_HAND
    for i in range(2):
        who = seat if i == 0 else other
        o[_PAT + i] = state["pat"][who]
        o[_TRICK_VALUES + i] = trick_value(state, who) / VALUE_SCALE
        o[_BELOW + i] = min(state["below"][who], BELOW_MAX) / BELOW_SCALE
        o[_ABOVE + i] = min(state["above"][who], ABOVE_MAX) / ABOVE_SCALE
        o[_GAMES + i] = state["games"][who]


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
    """The tricks in order, the lead on the table included; returns the opponent's cards seen."""
    other = 1 - seat
    waiting = 1 if state["phase"] == FOLLOW else 0
    seen = np.int64(0)
    shown = 0
    own_taken = 0
    other_taken = 0
    for trick in range(state["trick_count"] + waiting):
        lead = np.int64(state["trick_lead"][trick])
        follow = np.int64(state["trick_follow"][trick])
        leads = state["trick_leader"][trick] == seat
        own_slots = lead if leads else follow
        opponent_slots = follow if leads else lead
        size = _SIZE[lead]
        o[_TRICK_SIZE + trick] = size / 4.0
        o[_TRICK_LEADER + trick] = 1.0 if leads else -1.0
        if trick == state["trick_count"]:
            o[_LEAD_RANK + _lead_rank(state)] = 1.0
            o[_LEAD_SIZE + size - 1] = 1.0
        elif state["trick_winner"][trick] == seat:
            o[_TRICK_WINNER + trick] = 1.0
            own_taken += size
        else:
            o[_TRICK_WINNER + trick] = -1.0
            other_taken += size
        while own_slots:
            o[_HAND_TRICK + _FIRST[own_slots]] = (trick + 1) / MAX_HAND
            own_slots &= own_slots - 1
        while opponent_slots:
            card = np.int64(state["hand"][other, _FIRST[opponent_slots]])
            opponent_slots &= opponent_slots - 1
            seen |= np.int64(1) << card
            o[_OPPONENT_RANK + shown] = ((card >> 2) + 1) / 13.0
            o[_OPPONENT_SUIT + shown] = ((card & 3) + 1) / 4.0
            shown += 1
    o[_TAKEN] = own_taken / MAX_HAND
    o[_TAKEN + 1] = other_taken / MAX_HAND
    return int(seen)


def decode(pieces: Mapping[str, npt.NDArray[np.float32]]) -> dict[str, Any]:
    """What an observation says, in plain values; the inverse of `observe`.

    Args:
        pieces: the named pieces of one observation, as `observation.split` gives them.

    Returns:
        `hand`, `discards`, `opponent_discards`, `seen`: card numbers, ascending (the opponent's
        discards only if they are revealed); `slots`: the hand as it stood when the draw phase
        ended (in it: as it stands), which actions refer to; `phase`: "draw", "lead", "follow" or
        "over"; `to_move`, `dealer`: bool; `draws`, `pat`, `trick_values`, `taken`, `below`,
        `above`, `games`: pairs, own first; `table`: cards led and waiting to be followed;
        `tricks`: for each trick `leader`, `lead`, `follow`, `winner`, where players are "own" and
        "opponent" (`winner` None and `follow` empty while it waits).
    """
    ranks = pieces["hand_rank"].reshape(MAX_HAND, 13)
    suits = pieces["hand_suit"].reshape(MAX_HAND, 4)
    slots = [
        4 * int(ranks[slot].argmax()) + int(suits[slot].argmax())
        for slot in range(MAX_HAND)
        if ranks[slot].any()
    ]
    held = pieces["hand_held"] > 0.5
    played_in = _round(pieces["hand_trick"] * MAX_HAND)
    opponent = [
        4 * (rank - 1) + suit - 1
        for rank, suit in zip(
            _round(pieces["opponent_rank"] * 13), _round(pieces["opponent_suit"] * 4), strict=True
        )
        if rank > 0
    ]
    tricks: list[dict[str, Any]] = []
    shown = 0
    waiting = bool(pieces["lead_size"].any())
    sizes = [size for size in _round(pieces["trick_size"] * 4) if size]
    for index, size in enumerate(sizes):
        own_cards = tuple(card for slot, card in enumerate(slots) if played_in[slot] == index + 1)
        own_leads = pieces["trick_leader"][index] > 0
        open_trick = waiting and index == len(sizes) - 1
        opponent_plays = not (open_trick and own_leads)
        opponent_cards = tuple(opponent[shown : shown + size]) if opponent_plays else ()
        shown += len(opponent_cards)
        won = pieces["trick_winner"][index]
        tricks.append(
            {
                "leader": "own" if own_leads else "opponent",
                "lead": own_cards if own_leads else opponent_cards,
                "follow": opponent_cards if own_leads else own_cards,
                "winner": None if won == 0 else "own" if won > 0 else "opponent",
            }
        )
    discards = set(np.flatnonzero(pieces["discards"]).tolist())
    seen = set(np.flatnonzero(pieces["seen"]).tolist())
    return {
        "hand": tuple(card for slot, card in enumerate(slots) if held[slot]),
        "slots": tuple(slots),
        "discards": tuple(sorted(discards)),
        "opponent_discards": tuple(sorted(seen - discards - set(slots) - set(opponent))),
        "seen": tuple(sorted(seen)),
        "phase": ("draw", "lead", "follow", "over")[int(pieces["phase"].argmax())],
        "to_move": bool(pieces["to_move"][0]),
        "dealer": bool(pieces["dealer"][0]),
        "draws": tuple(
            tuple(size for size in _round(pieces[name] * MAX_HAND) if size)
            for name in ("own_draws", "opponent_draws")
        ),
        "pat": tuple(bool(pat) for pat in pieces["pat"]),
        "trick_values": tuple(_round(pieces["trick_values"] * VALUE_SCALE)),
        "taken": tuple(_round(pieces["taken"] * MAX_HAND)),
        "table": (tricks[-1]["lead"] if waiting else ()),
        "tricks": tricks,
        "below": tuple(_round(pieces["below"] * BELOW_SCALE)),
        "above": tuple(_round(pieces["above"] * ABOVE_SCALE)),
        "games": tuple(_round(pieces["games"])),
    }


def _round(numbers: npt.NDArray[np.float32]) -> list[int]:
    return [int(number) for number in np.rint(np.asarray(numbers, np.float64))]


# --- ACTIONS: their number and text ---------------------------------------------------------------


def num_actions(rules: Rules) -> int:
    """Size of the action space: one action for every set of hand slots."""
    return int(2**rules.hand_size)


def action_text(state: np.void, action: int) -> str:
    """An action of the seat to move as text, such as "stand pat", "discard Kc 2d", "lead 9h"."""
    verb = {DRAW: "discard", LEAD: "lead", FOLLOW: "follow"}[int(state["phase"])]
    if action == 0:
        return "stand pat"
    hand = state["hand"][state["player"]]
    return f"{verb} {format_cards(hand[slot] for slot in range(MAX_HAND) if action >> slot & 1)}"


def parse_action(state: np.void, text: str) -> int:
    """The action that a text stands for: cards of the hand, with or without the verb, or "pat".

    Raises:
        ValueError: if the text names no cards, or cards the seat to move does not hold.
    """
    if not isinstance(cast(Any, text), str):
        raise ValueError(f"action text must be a str, got {shown(text)}")
    verb = {DRAW: "discard", LEAD: "lead", FOLLOW: "follow"}[int(state["phase"])]
    words = text.split()
    if [word.lower() for word in words] in (["pat"], ["stand", "pat"]) and verb == "discard":
        return 0
    if words and words[0].lower() == verb:
        words = words[1:]
    hand = state["hand"][state["player"]]
    held = int(state["held"][state["player"]])
    slots = {int(hand[slot]): slot for slot in range(MAX_HAND) if held >> slot & 1}
    chosen = cards.parse_cards(" ".join(words))
    if not chosen or any(card not in slots for card in chosen):
        allowed = "'pat' or " if verb == "discard" else ""
        raise ValueError(
            f"action {text!r} is not understood; say {allowed}{verb!r} and cards of "
            f"{format_cards(sorted(slots))}"
        )
    return sum(1 << slots[card] for card in chosen)


# --- the score pad --------------------------------------------------------------------------------


class DealResult(NamedTuple):
    """A finished deal; pairs by player (docs/rules.md 1.5 to 1.8).

    `draws` holds the numbers of cards changed; `final_hands` the card numbers, ascending.
    """

    dealer: int
    final_hands: tuple[tuple[int, ...], tuple[int, ...]]
    draws: tuple[tuple[int, ...], tuple[int, ...]]
    cards_taken: tuple[int, int]
    trick_values: tuple[int, int]
    below: tuple[int, int]
    poker: tuple[int, int]
    sweep: tuple[int, int]
    game_bonus: tuple[int, int]
    rubber_bonus: tuple[int, int]

    def points(self, below_value: float = 0.0) -> tuple[float, float]:
        """Zero-sum points of the deal by player, with points below the line at `below_value`."""
        first, second = (
            sum(pair[seat] for pair in (self.poker, self.sweep, self.game_bonus, self.rubber_bonus))
            + below_value * self.below[seat]
            for seat in range(2)
        )
        return first - second, second - first


class ScoreSheet(NamedTuple):
    """The pad: running score by player, the dealer, and all finished deals of the match."""

    below: tuple[int, int]
    above: tuple[int, int]
    games: tuple[int, int]
    dealer: int
    deals: tuple[DealResult, ...]


def _pair(values: Any) -> tuple[int, int]:
    return int(values[0]), int(values[1])


def _draws_made(state: np.void) -> tuple[tuple[int, ...], tuple[int, ...]]:
    first, second = (
        tuple(int(size) for size in state["draw_size"][seat] if size) for seat in range(2)
    )
    return first, second


def _deal_result(state: np.void) -> DealResult:
    size = int(state["rules"]["hand_size"])
    return DealResult(
        dealer=int(state["dealer"]),
        final_hands=(
            tuple(map(int, state["hand"][0, :size])),
            tuple(map(int, state["hand"][1, :size])),
        ),
        draws=_draws_made(state),
        cards_taken=_pair(state["deal_taken"]),
        trick_values=(trick_value(state, 0), trick_value(state, 1)),
        below=_pair(state["deal_below"]),
        poker=_pair(state["deal_poker"]),
        sweep=_pair(state["deal_sweep"]),
        game_bonus=_pair(state["deal_game_bonus"]),
        rubber_bonus=_pair(state["deal_rubber_bonus"]),
    )


def score_sheet(state: np.void, finished: Sequence[np.void]) -> ScoreSheet:
    """The pad at `state`; `finished` holds the position at the end of each finished deal."""
    return ScoreSheet(
        below=_pair(state["below"]),
        above=_pair(state["above"]),
        games=_pair(state["games"]),
        dealer=int(state["dealer"]),
        deals=tuple(_deal_result(end) for end in finished),
    )


def place_score(state: np.void, score: Mapping[str, Any]) -> None:
    """Start a match from a score at which one can stand; what `score` leaves out is 0.

    Args:
        state: position whose score is written, only if all of it is valid.
        score: `below`, `above`, `games`, each a pair by player.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """
    limits = {"below": 10_000, "above": 1_000_000, "games": 1}
    if not isinstance(score, Mapping):
        raise ValueError(f"score must be a dict of {', '.join(limits)}, got {score!r}")
    unknown = [key for key in score if key not in limits]
    if unknown:
        raise ValueError(f"score has unknown fields {unknown}; allowed are {', '.join(limits)}")
    pairs = {"below": (0, 0), "above": (0, 0), "games": (0, 0)}
    for name, given in score.items():
        pair = given.tolist() if isinstance(given, np.ndarray) else given
        if (
            not isinstance(pair, (tuple, list))
            or len(pair) != 2
            or not all(_in_range(number, limits[name]) for number in pair)
        ):
            raise ValueError(
                f"score {name} must be two integers from 0 to {limits[name]}, got {pair!r}"
            )
        pairs[name] = _pair(pair)
    low, high = sorted(pairs["below"])
    target = int(state["rules"]["target"])
    if high >= target and low != high:
        raise ValueError(
            f"score below must be two numbers under the target {target}, or equal ones (a tied "
            f"game goes on), got {pairs['below']}"
        )
    for name, numbers in pairs.items():
        state[name] = numbers


# --- TABLE: the picture ---------------------------------------------------------------------------


def table(state: np.void, viewers: frozenset[int]) -> Table:
    """The table as those in `viewers` see it together.

    Blocks: the score, the deal on the pad, the hands (a lone viewer's own comes last), the tricks
    in order.
    """
    names = ("player_0", "player_1")
    phase = Phase(int(state["phase"]))
    shown = int(state["trick_count"]) + (phase == Phase.FOLLOW)
    finished = phase in (Phase.DEAL, Phase.OVER) and shown > 0
    score = [Line("score", names)]
    score += [_pair_line(name, state[name]) for name in ("above", "below", "games")]
    unit = "lead" if state["rules"]["count_leads"] else "card"
    pad = [
        Line("this deal", names),
        _pair_line(f"a {unit} counts", [trick_value(state, seat) for seat in range(2)]),
        _pair_line("cards taken", [cards_taken(state, seat) for seat in range(2)]),
    ]
    if finished:
        pad += [
            _pair_line(name.replace("_", " "), state[f"deal_{name}"])
            for name in ("below", "poker", "sweep", "game_bonus", "rubber_bonus")
        ]
    order = (0, 1) if viewers == {1} else (1, 0)
    hands = [line for seat in order for line in _seat_lines(state, seat, seat in viewers, finished)]
    tricks = [_trick_line(state, trick) for trick in range(shown)]
    mover, winner = names[int(state["player"])], int(state["winner"])
    turn = {
        Phase.DEAL: "deal finished",
        Phase.OVER: "match over" if winner < 0 else f"match over, {names[winner]} has won",
        Phase.DRAW: f"{mover} to draw or stand pat",
        Phase.LEAD: f"{mover} to lead",
        Phase.FOLLOW: f"{mover} to follow",
    }[phase]
    match = MATCHES[int(state["match"])]
    return Table(
        title=f"Poke ({match}): {names[int(state['dealer'])]} deals, {turn}",
        blocks=(tuple(score), tuple(pad), tuple(hands), tuple(tricks)),
    )


def _pair_line(label: str, numbers: Sequence[Any]) -> Line:
    return Line(label, tuple(str(int(number)) for number in numbers))


def _seat_lines(state: np.void, seat: int, visible: bool, finished: bool) -> list[Line]:
    """The cards in a hand, or all five and what they are worth once the deal is finished."""
    rules = state["rules"]
    size = int(rules["hand_size"])
    held = (1 << size) - 1 if finished else int(state["held"][seat])
    known = visible or finished
    hand = _slot_cards(state, seat, held)
    draws = _draws_made(state)[seat]
    notes = [f"drew {' + '.join(map(str, draws))}"] if draws else []
    if state["pat"][seat]:
        notes.append("pat")
    if finished:
        value = hand_value(state["hand"][seat], size, rules["ace_low_straight"])
        notes = [str(cards.HandRank(int(value)))]
    role = "dealer" if seat == state["dealer"] else "non-dealer"
    shown: list[str | Card] = [Card(card if known else None) for card in hand]
    lines = [Line(f"player_{seat} ({role})", (*shown, ", ".join(notes)))]
    discards = int(state["discards"][seat])
    if discards and (visible or rules["reveal_discards"]):
        gone = tuple(Card(card, lowered=True) for card in range(52) if discards >> card & 1)
        lines.append(Line("  discarded", gone))
    return lines


def _trick_line(state: np.void, trick: int) -> Line:
    leader = int(state["trick_leader"][trick])
    winner = int(state["trick_winner"][trick])
    lead, follow = int(state["trick_lead"][trick]), int(state["trick_follow"][trick])
    shown: list[str | Card] = [f"player_{leader} leads"]
    shown += [Card(card, winner == 1 - leader) for card in _slot_cards(state, leader, lead)]
    shown.append(f"player_{1 - leader} {'to follow' if winner < 0 else 'follows'}")
    shown += [Card(card, winner == leader) for card in _slot_cards(state, 1 - leader, follow)]
    if winner >= 0:
        shown.append(f"player_{winner} wins")
    return Line(f"trick {trick + 1}", tuple(shown))


def _slot_cards(state: np.void, seat: int, slots: int) -> list[int]:
    return [int(state["hand"][seat, slot]) for slot in range(MAX_HAND) if slots >> slot & 1]


POKE = register(
    Game(
        name="poke",
        version=0,
        seats=2,
        max_cards=cards.NUM_CARDS,
        matches=("rubber", "game", "deal"),
        rewards=("points", "win", "equity"),
        spread=500.0,
        below_value=50.0,
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
        equity=equity,
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
