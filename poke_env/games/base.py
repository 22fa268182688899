"""What a game is to the rest of the house: one declaration, and rules found by the record's type.

Every game keeps its position in one record of a structured dtype. The functions below named after
what a driver needs (`to_move`, `players`, `deal`, `legal_actions`, `apply`, `observe`, `points`,
`result`, `equity`) are generic: compiled code resolves them by the record's type, plain Python by
its dtype, both in the same registry. A driver is therefore written once, as a plain loop over
records, and numba caches its machine code for each game.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt
from numba.extending import overload
from numba.np.numpy_support import as_dtype

from poke_env._checks import check_integer
from poke_env._jit import inlined

Int: TypeAlias = int | np.signedinteger[Any]
"""An integer in rules code: Python's in plain mode, int64 when compiled."""

WANTS_DECK = -1
"""`to_move` of a position that waits for a deck order: the chance node before every deal."""
MATCH_OVER = -2
"""`to_move` of a position after which nothing comes."""

MATCHES = ("deal", "game", "rubber", "session")
"""Match units, by the number that stands for them in a record."""

NOT_PAID, PAID, DEAL_ENDED = range(3)
"""What `points` returns: nothing changed hands, something did, or the deal ended (and paid)."""


class Piece(NamedTuple):
    """A named part of a player's observation: `size` numbers between `low` and `high`."""

    name: str
    size: int
    low: float
    high: float
    meaning: str


class Card(NamedTuple):
    """A card as it lies on the table; `number` None is a back, `lowered` one that was lost."""

    number: int | None
    lowered: bool = False


class Line(NamedTuple):
    """A line of the table: a label and what stands behind it, words and cards."""

    label: str
    items: tuple[str | Card, ...]


class Table(NamedTuple):
    """The picture of a position as text: a title and blocks of lines."""

    title: str
    blocks: tuple[tuple[Line, ...], ...]


@inlined
def share_win(
    total: npt.NDArray[np.float64], players: int, reward: npt.NDArray[np.float64]
) -> None:
    """Write what a match is worth that those with the highest total win.

    Each of k winners gets 1 / k, each of the others -1 / (n - k); if all are level, all get 0.

    Args:
        total: float64, one number a seat.
        players: n, the seats that count.
        reward: float64, written.
    """
    best = total[0]
    for seat in range(players):
        best = max(best, total[seat])
    winners = 0
    for seat in range(players):
        winners += total[seat] == best
    for seat in range(players):
        if winners == players:
            reward[seat] = 0.0
        elif total[seat] == best:
            reward[seat] = 1.0 / winners
        else:
            reward[seat] = -1.0 / (players - winners)


@inlined
def no_equity(
    state: np.void, table: npt.NDArray[np.float64], expected: npt.NDArray[np.float64]
) -> None:
    """`Game.equity` of a game that has no equity tables."""


def nothing_forced(before: np.void, after: np.void) -> Sequence[str]:
    """`Game.forced` of a game in which every move is asked for."""
    return ()


def every_seat_alone(state: np.void) -> tuple[tuple[int, ...], ...]:
    """`Game.sides` of a game without partners."""
    return tuple((seat,) for seat in range(players(state)))


class GameRules(Protocol):
    """The validated, frozen options of a game."""

    def write(self, record: np.void) -> None:
        """Copy the options into the `rules` field of a position."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Game:
    """The declaration with which a game file ends; adapters read nothing else.

    The compiled functions take a position (a record of `state`) first. `apply` trusts its caller
    that the action is legal.
    """

    name: str
    version: int
    seats: int
    """Seats at the largest table; arrays by seat have this length. `players` are those taken."""
    max_cards: int
    matches: tuple[str, ...]
    """Units of play that can end an episode, the whole game first."""
    rewards: tuple[str, ...]
    spread: float = 1.0
    """Standard deviation of a seat's points in a deal among random players, about, where nothing is
    set; learners are paid in units of it."""
    pays_within_deals: bool = False
    """Whether points change hands while a deal is played; in other games when it ends, and then
    alone."""
    below_value: float | None = None
    """What a point below the line counts by default where a deal is the match; None in games that
    have no such points."""
    max_deals: int | None = None
    """After how many deals a match is cut by default."""
    rules: type[Any]
    presets: Mapping[str, Any]
    state: np.dtype[np.void]
    view: tuple[Piece, ...]
    standings: tuple[str, ...]
    """How a seat may stand in the match when a deal begins, in words; `standing` counts them."""

    to_move: Callable[..., int]
    players: Callable[..., int]
    deal: Callable[..., None]
    legal_actions: Callable[..., int]
    apply: Callable[..., None]
    observe: Callable[..., None]
    points: Callable[..., int]
    result: Callable[..., None]
    standing: Callable[..., int]
    equity: Callable[..., None] = no_equity

    sides: Callable[[np.void], tuple[tuple[int, ...], ...]] = every_seat_alone
    """Which seats play together at the beginning of a match: each seat once, sides by their first
    seats. Partners are paid alike."""
    begin: Callable[[np.void], None]
    """Writes the beginning of a match into a position of zeros whose `rules` and `match` stand."""
    pack: Callable[[Any], tuple[int, ...]]
    num_actions: Callable[[Any], int]
    place_score: Callable[[np.void, Mapping[str, Any]], None]
    action_text: Callable[[np.void, int], str]
    parse_action: Callable[[np.void, str], int]
    table: Callable[[np.void, frozenset[int]], Table]
    forced: Callable[[np.void, np.void], Sequence[str]] = nothing_forced
    """What the rules did by themselves between two positions, after a deal or an action, in words:
    a seat and what it had to do, such as "2 plays Th"."""
    decode: Callable[[Mapping[str, npt.NDArray[np.float32]]], dict[str, Any]]
    score_sheet: Callable[[np.void, Sequence[np.void]], Any]

    def rules_named(self, rules: Any) -> Any:
        """The rules of a preset's name, or `rules` itself if it is a `Rules` of this game.

        Raises:
            ValueError: for an unknown name or anything else.
        """
        if isinstance(rules, self.rules):
            return rules
        if isinstance(rules, str) and rules in self.presets:
            return self.presets[rules]
        raise ValueError(
            f"rules must be one of {', '.join(map(repr, self.presets))} or a "
            f"{self.name}_v{self.version}.Rules, got {rules!r}"
        )

    def rules_for(self, rules: Any, players: int | None) -> Any:
        """The rules for so many players; None leaves them as they are.

        Args:
            rules, players: a preset's name or `Rules`; the number of players.

        Raises:
            ValueError: for unknown rules, or a number that the game does not allow.
        """
        chosen = self.rules_named(rules)
        if players is None:
            return chosen
        if "players" in {field.name for field in fields(chosen)}:
            return replace(chosen, players=players)
        check_integer("players", players, self.seats, self.seats)
        return chosen

    def one_of(self, name: str, value: Any, allowed: Sequence[str]) -> int:
        """Position of `value` in `allowed`.

        Raises:
            ValueError: naming the field, the value and what is allowed.
        """
        if not isinstance(value, str) or value not in allowed:
            choices = ", ".join(map(repr, allowed))
            raise ValueError(f"{name} must be one of {choices}, got {value!r}")
        return allowed.index(value)


def score_of(sheet: Any) -> dict[str, Any]:
    """The score on a pad by field, without dealer and deals; `Game.place_score` takes it back."""
    return {
        name: value for name, value in sheet._asdict().items() if name not in ("dealer", "deals")
    }


GAMES: dict[str, Game] = {}


def register(game: Game) -> Game:
    """Make a game known to the generic functions."""
    GAMES[game.name] = game
    return game


def game_of(dtype: np.dtype[np.void]) -> Game:
    """The game whose positions have this dtype."""
    for game in GAMES.values():
        if game.state == dtype:
            return game
    raise TypeError(f"no game has positions of dtype {dtype}")


def _resolved_by_record(generic: Callable[..., Any]) -> Callable[..., Any]:
    """Let compiled code find a game's function of this name by the type of the first argument."""
    name = generic.__name__

    def typed(state: Any, *rest: Any) -> Callable[..., Any]:
        chosen = getattr(game_of(as_dtype(state)), name)

        def implementation(state: Any, *rest: Any) -> Any:
            return chosen(state, *rest)

        return implementation

    overload(generic, strict=False, jit_options={"forceinline": True})(typed)
    return generic


@_resolved_by_record
def to_move(state: np.void) -> int:
    """The seat to act, or `WANTS_DECK`, or `MATCH_OVER`."""
    return game_of(state.dtype).to_move(state)


@_resolved_by_record
def players(state: np.void) -> int:
    """Number of players; they have the seats 0, 1, … and act in this order, the first after the
    last."""
    return game_of(state.dtype).players(state)


@_resolved_by_record
def deal(state: np.void, deck: npt.NDArray[np.int8], dealer: int) -> None:
    """Start a deal from a deck order; `dealer` -1 goes on in turn, another number is the seat."""
    game_of(state.dtype).deal(state, deck, dealer)


@_resolved_by_record
def legal_actions(state: np.void, mask: npt.NDArray[np.int8]) -> int:
    """Write 1 for every legal action of the seat to act, 0 elsewhere; returns their number."""
    return game_of(state.dtype).legal_actions(state, mask)


@_resolved_by_record
def apply(state: np.void, deck: npt.NDArray[np.int8], action: int) -> None:
    """Carry out a legal action of the seat to act."""
    game_of(state.dtype).apply(state, deck, action)


@_resolved_by_record
def observe(state: np.void, seat: int, observation: npt.NDArray[np.float32]) -> None:
    """Write what `seat` may know into float32 (F,), every number of it."""
    game_of(state.dtype).observe(state, seat, observation)


@_resolved_by_record
def points(state: np.void, below_value: float, reward: npt.NDArray[np.float64]) -> int:
    """Write the points that the last action brought to each seat, zeros if none.

    Returns:
        `NOT_PAID`, `PAID`, or `DEAL_ENDED` if the action ended a deal.
    """
    return game_of(state.dtype).points(state, below_value, reward)


@_resolved_by_record
def result(state: np.void, total: npt.NDArray[np.float64], reward: npt.NDArray[np.float64]) -> None:
    """Write what a finished match is worth as won (above 0), lost (below 0) or drawn (0) to each
    seat: see `share_win`.

    `total` holds the sum of each seat's points in the match.
    """
    game_of(state.dtype).result(state, total, reward)


@_resolved_by_record
def equity(
    state: np.void, table: npt.NDArray[np.float64], expected: npt.NDArray[np.float64]
) -> None:
    """Write what each seat expects of the rest of the match, this deal included until it ended.

    `table` is the `values` of the equity table (`poke_env.equity`).
    """
    game_of(state.dtype).equity(state, table, expected)


@_resolved_by_record
def standing(state: np.void, seat: int) -> int:
    """How `seat` stands in the match in this deal: a place in `Game.standings`."""
    return game_of(state.dtype).standing(state, seat)
