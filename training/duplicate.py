"""Duplicate matches: the same deck orders for everybody, on every side of the table.

A table has as many players as the game has sides (`Settings.sides`): k. Every deck order is played
in k *legs*, with the same decks and the same dealing seat; in leg r player i sits on side
(i + r) mod k. At a table of two that is a pair of matches with the seats exchanged. What the cards
give to one player in one leg they give to another in the next, so much of their luck cancels in
the mean. Who sits behind whom stays: it is one rotation of the table, not every seating.

Deck order n is the n-th match of the seed (`raw_env.reset(seed)` and n further resets), and the key
of a decision depends on seed, deck order, seat and turn alone. Hence a result depends neither on
what is played before or beside it nor on the order in which players are named; more deck orders
begin with the same ones; and a player meets its own copies with a margin of exactly 0 over each.

Matches are played thousands at a time (`poke_env.vector`), and players decide for all of them in
one call. A player that has only `act` gets a copy for each match.
"""

from __future__ import annotations

import copy
import textwrap
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents import DEFAULT_GAME
from poke_env import engine, games, records, streams
from poke_env._checks import as_integer, check_integer, check_number, shown
from poke_env.agent import Agent
from poke_env.row_player import AllRows, RowByRow, RowPlayer, as_row_player
from poke_env.settings import Settings
from poke_env.vector import BatchEnv
from training.limits import OutOfTime, time_limit
from training.luck import Tally, price_of
from training.luck_value import ValueFunction, for_settings
from training.meeting import Duel, Forfeit, Meeting, Shared, join

FORFEIT_POINTS = 1000.0
"""What a forfeited match costs a player; the others at the table gain equal shares of it."""

MOST_ORDERS = 10_000_000
"""Their margins fit into memory."""

MOST_AT_ONCE = 8192
"""Matches that are played at once: more would not be faster."""
MOST_COPIES_AT_ONCE = 256
"""Seats in matches at once, where players need a copy for every match."""


@dataclass(frozen=True)
class Conditions:
    """What is the same in all matches of a tournament.

    Attributes:
        settings: of the environment.
        seed: of decks, dealers and keys.
        move_timeout: seconds that a decision may take, None without a limit. A player that takes
            longer forfeits; such results do not repeat.
        keep_records: write every match down.
        luck_adjusted: measure the luck of every match, for which there must be a value function.
    """

    settings: Settings
    seed: int = 0
    move_timeout: float | None = None
    keep_records: bool = False
    luck_adjusted: bool = False

    @property
    def value_function(self) -> ValueFunction | None:
        """What luck is measured by; None if it is not asked for."""
        return for_settings(self.settings) if self.luck_adjusted else None

    @property
    def size(self) -> int:
        """Number of players at a table, k: that of the sides of the game."""
        return len(self.settings.sides)

    @property
    def standings(self) -> int:
        """How many of the game's standings are told apart: in a single deal nobody is ahead."""
        return 0 if self.settings.match == "deal" else len(self.settings.game.standings)

    @classmethod
    def checked(
        cls,
        game: Any = DEFAULT_GAME,
        seed: Any = 0,
        *,
        players: int | None = None,
        match: str = "deal",
        rules: Any = "standard",
        below_value: float | None = None,
        max_deals: int | None = None,
        move_timeout: float | None = None,
        keep_records: bool = False,
        luck_adjusted: bool = False,
    ) -> Conditions:
        """Conditions from arguments.

        Raises:
            ValueError: naming the argument, the value and what is allowed.
        """
        if move_timeout is not None:
            move_timeout = check_number("move_timeout", move_timeout, above=0.0)
        settings = Settings(
            games.named(game), match, rules=rules, players=players, below_value=below_value,
            max_deals=max_deals,
        )  # fmt: skip
        seed = check_integer("seed", seed, 0)
        if luck_adjusted and for_settings(settings) is None:
            raise ValueError(
                f"luck_adjusted must be False but in poke by its standard rules: there is a value "
                f"function to measure luck by for these alone, not for {settings.game.name} by "
                f"{'rules of its own' if not isinstance(rules, str) else f'{rules} rules'}"
            )
        return cls(settings, seed, move_timeout, bool(keep_records), bool(luck_adjusted))


def play(
    first: Agent,
    second: Agent,
    deals: int,
    seed: int = 0,
    *,
    progress: Callable[[int], None] | None = None,
    at_once: int = MOST_AT_ONCE,
    **conditions: Any,
) -> Duel:
    """Let two players meet in duplicate matches.

    Where more than two sit at a table, copies of the second have all other sides.

    Args:
        first, second: the players; they are left as they are.
        deals, progress, at_once: as for `meet`.
        seed: of decks, dealers and keys, 0 or more.
        **conditions: as for `Conditions.checked`.

    Raises:
        ValueError: naming the argument and what is allowed, or a player that cannot be copied.
    """
    agreed = Conditions.checked(seed=seed, **conditions)
    players = [first] + [second] * (agreed.size - 1)
    meeting = meet(players, deals, agreed, progress=progress, at_once=at_once)
    return Duel(tuple(Shared(meeting, 0, other) for other in range(1, agreed.size)))


def meet(
    players: Sequence[Agent],
    deals: int,
    conditions: Conditions,
    *,
    progress: Callable[[int], None] | None = None,
    at_once: int = MOST_AT_ONCE,
) -> Meeting:
    """Let the players of a table meet in duplicate matches.

    No copy of a player sits in two legs, so nothing it remembers of a deck in one leg can help it
    in another; and partners are copies that know nothing of each other.

    Args:
        players: one for each side; they are left as they are.
        deals: number of deck orders, 1 or more; as many matches of each as there are sides.
        conditions: of all matches.
        progress: called now and then with the number of deck orders played.
        at_once: deck orders that are played at once; it changes nothing but the time.

    Raises:
        ValueError: naming the argument and what is allowed, or a player that cannot be copied.
    """
    deals = check_integer("deals", deals, 1, MOST_ORDERS)
    at_once = min(check_integer("at_once", at_once, 1), most_at_once(players, conditions))
    parts = []
    for start in range(0, deals, at_once):
        stop = min(start + at_once, deals)
        parts.append(play_orders(players, range(start, stop), conditions))
        if progress is not None:
            progress(stop)
    return join(parts)


def most_at_once(players: Sequence[Agent], conditions: Conditions) -> int:
    """How many deck orders of these players are best played at once."""
    if any(isinstance(as_row_player(player, 0), RowByRow) for player in players):
        seats: int = conditions.size * conditions.settings.players
        return max(1, MOST_COPIES_AT_ONCE // seats)
    return MOST_AT_ONCE // conditions.size


def play_orders(players: Sequence[Agent], orders: range, conditions: Conditions) -> Meeting:
    """Play some deck orders of a meeting, which counts them from the first of `orders`; its
    forfeits name them by their numbers.

    Raises:
        ValueError: for another number of players than of sides, or one that cannot be copied.
    """
    sides = conditions.settings.sides
    if len(players) != len(sides):
        raise ValueError(f"players must be {len(sides)}, one for each side, got {len(players)}")
    table = _Table(orders, conditions)
    seats = [
        _Seat(players[(side - leg) % len(sides)], leg, seat, table)
        for leg in range(len(sides))
        for side, members in enumerate(sides)
        for seat in members
    ]
    for seat in seats:
        seat.begin()
    while table.live.any():
        actions = np.full(len(table.live), engine.WAIT)
        acting = np.zeros(len(table.live), np.bool_)
        for seat in seats:
            seat.act(actions, acting)
        table.step(actions, acting)
    return table.meeting()


def _key_words(seed: int) -> npt.NDArray[np.uint32]:
    """The seed's words for keys.

    They differ from those of its decks: two addresses that happen to look alike must not give a
    player the random numbers by which its cards were shuffled.
    """
    return streams.seed_words(seed, streams.Purpose.DUPLICATE_KEYS)


class _Table:
    """The matches of some deck orders: of n, row r n + i is leg r of the i-th.

    Points and faults are those of sides and seats; only `meeting` says whose they were.
    """

    def __init__(self, orders: range, conditions: Conditions) -> None:
        settings = conditions.settings
        self.conditions = conditions
        self.count = len(orders)
        self.size = conditions.size
        rows = self.size * self.count
        self.numbers = np.tile(np.array(orders, np.int64), self.size)
        self.legs = np.repeat(np.arange(self.size), self.count)
        # Partners are paid alike: the first seat of each side speaks for it.
        self._speakers = [members[0] for members in settings.sides]
        self._side_of = np.zeros(settings.players, np.int64)
        for side, members in enumerate(settings.sides):
            self._side_of[list(members)] = side
        self.key_words = _key_words(conditions.seed)
        self.envs = BatchEnv(
            settings.game, rows, match=settings.match, rules=settings.rules,
            below_value=settings.below_value, max_deals=settings.max_deals,
            autoreset=False, copy=False, threads=1,
        )  # fmt: skip
        # One seed in all rows, each of which begins with another of its matches.
        self.envs.reset([conditions.seed] * rows, {"skip": self.numbers})
        self.dealers = self.envs.record["dealer"].copy()
        self.turns = np.zeros((rows, settings.players), np.int64)
        self.points = np.zeros((rows, self.size))
        self.faults: dict[int, tuple[int, int, str]] = {}
        self.live = np.ones(rows, np.bool_)
        standings = conditions.standings
        self._standing = self.envs.standings() if standings else None
        self._deals = self.envs.deals
        self._before = self.points.copy()
        self.standing_deals = np.zeros((rows, self.size, standings), np.int64)
        self.standing_points = np.zeros((rows, self.size, standings))
        value = conditions.value_function
        self._tally = None if value is None else Tally(value, self.envs, price_of(settings))
        self._logs: list[records.Log] | None = None
        if conditions.keep_records:
            self._logs = [
                records.Log(settings.game, settings.rules, settings.match, int(dealer))
                for dealer in self.dealers
            ]
            for log, deck in zip(self._logs, self.envs.deck.tolist(), strict=True):
                log.deal(deck)

    def forfeit(self, row: int, seat: int, reason: str) -> None:
        """The match is lost; whoever was further behind than that costs gains nothing by it.

        The others stay as far apart as they are.
        """
        side = int(self._side_of[seat])
        points = self.points[row]
        loss = max(FORFEIT_POINTS, float(points.mean() - points[side]))
        others = np.arange(self.size) != side
        points[others] = points[others] - points[others].mean() + loss / (self.size - 1)
        points[side] = -loss
        # Whatever a player's error says must fit into files and terminals.
        reason = reason.encode("utf-8", "backslashreplace").decode("utf-8")
        reason = textwrap.shorten(reason, 200, placeholder=" …")
        self.faults[row] = (seat, int(self.turns[row, seat]), reason)
        self.live[row] = False

    def illegal(self, row: int, action: int) -> str:
        """What is said of an illegal action."""
        legal = ", ".join(map(str, np.flatnonzero(self.envs.masks[row])))
        return f"illegal action {shown(action)}; legal: {legal}"

    def step(self, actions: npt.NDArray[np.int64], acting: npt.NDArray[np.bool_]) -> None:
        """Carry out the actions of the rows that act; illegal ones are forfeits."""
        envs = self.envs
        _, _, players = envs.observe()
        for row in np.flatnonzero(envs.find_illegal(actions, acting)).tolist():
            self.forfeit(row, int(players[row]), self.illegal(row, int(actions[row])))
        going = np.where(acting & self.live, actions, engine.WAIT)
        if self._logs is not None:
            for row in np.flatnonzero(going != engine.WAIT).tolist():
                self._logs[row].act(int(going[row]))
        if self._tally is None:
            envs.advance(going)
        else:
            self._tally.advance(going)
        self.points += envs.rewards[:, self._speakers] * self.live[:, np.newaxis]
        deals = envs.deals
        ended = np.flatnonzero(deals != self._deals)
        self._deals = deals
        self.live &= ~envs.over
        if len(ended):
            self._note_deals(ended)

    def _note_deals(self, ended: npt.NDArray[np.int64]) -> None:
        """Count finished deals where their players stood; write the next decks down."""
        if self._standing is not None:
            points = self.points[ended] - self._before[ended]
            margins = points - points.mean(axis=1, keepdims=True)
            for side, seat in enumerate(self._speakers):
                player = (side - self.legs[ended]) % self.size
                stood = self._standing[ended, seat]
                self.standing_deals[ended, player, stood] += 1
                self.standing_points[ended, player, stood] += margins[:, side]
            self._before[ended] = self.points[ended]
            self._standing = self.envs.standings()
        if self._logs is not None:
            decks = self.envs.deck
            for row in ended[self.live[ended]].tolist():
                self._logs[row].deal(decks[row].tolist())

    def meeting(self) -> Meeting:
        """What came of it, by player."""
        forfeits = [
            Forfeit(
                int(self._side_of[seat] - self.legs[row]) % self.size,
                int(self.numbers[row]),
                int(self.legs[row]),
                turn,
                reason,
            )
            for row, (seat, turn, reason) in self.faults.items()
        ]
        sides = self.conditions.settings.sides
        decisions = [self.turns[:, list(members)].sum(axis=1) for members in sides]
        by_leg = (self.size, self.count, self.size, -1)
        return Meeting(
            points=self._by_player(self.points),
            places=self._by_player(self._places()),
            dealers=self._side_of[self.dealers[: self.count]].astype(np.int8),
            decisions=self._by_player(np.stack(decisions, axis=1)),
            standing_deals=self.standing_deals.reshape(by_leg).sum(axis=0),
            standing_points=self.standing_points.reshape(by_leg).sum(axis=0),
            forfeits=tuple(sorted(forfeits, key=lambda forfeit: (forfeit.order, forfeit.leg))),
            records=tuple(self._texts()),
            luck=self._luck(),
        )

    def _by_player(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """(rows, sides) as (orders, legs, players)."""
        legs = values.reshape(self.size, self.count, self.size)
        return np.stack([np.roll(part, -leg, axis=1) for leg, part in enumerate(legs)], axis=1)

    def _places(self) -> npt.NDArray[np.int8]:
        """How many sides were ahead of each at the end, int8 (rows, sides)."""
        worth = self.envs.results()[:, self._speakers]
        for row, (seat, _, _) in self.faults.items():
            worth[row] = 1.0
            worth[row, self._side_of[seat]] = -1.0
        # Points that should be equal may differ by rounding.
        points = np.where(worth < 0.0, self.points.round(6), 0.0)
        better = worth[:, :, np.newaxis] > worth[:, np.newaxis]
        level = worth[:, :, np.newaxis] == worth[:, np.newaxis]
        ahead = better | level & (points[:, :, np.newaxis] > points[:, np.newaxis])
        return np.asarray(ahead.sum(axis=1), np.int8)

    def _luck(self) -> npt.NDArray[np.float64] | None:
        if self._tally is None:
            return None
        return self._by_player(np.stack([self._tally.luck, -self._tally.luck], axis=1))

    def _texts(self) -> Iterator[str]:
        if self._logs is None:
            return
        cut = self.envs.cut
        seed: int | str = self.conditions.seed
        if self.conditions.seed >= 2**64:  # records hold no larger numbers
            seed = str(seed)
        for row in np.arange(len(self.legs)).reshape(self.size, -1).T.ravel().tolist():
            ending = None
            if row in self.faults:
                seat, _, reason = self.faults[row]
                ending = records.Ending("forfeit", seat, reason)
            elif cut[row]:
                ending = records.Ending("truncated")
            order, leg = int(self.numbers[row]), int(self.legs[row])
            about = {"seed": seed, "order": order, "leg": leg}
            yield records.dumps(self._logs[row].finish(ending, info=about))


class _Seat:
    """A copy of a player in one seat of one leg: it decides for that seat over all deck orders."""

    def __init__(self, player: Agent, leg: int, seat: int, table: _Table) -> None:
        self.seat = seat
        self._table = table
        self._count = table.count
        self._first = leg * self._count
        self._player = _copy(player, self._count)
        self._unready: dict[int, str] = {}

    def _keys(self, orders: npt.NDArray[np.int64], turns: Any) -> npt.NDArray[np.uint64]:
        return streams.decision_keys(self._table.key_words, orders, self.seat, turns)

    def begin(self) -> None:
        """Reset the player for its matches; where that fails, it forfeits when it is to act."""
        rows = np.arange(self._first, self._first + self._count)
        # 32 bits: what every generator takes for a seed.
        numbers = self._table.numbers[rows]
        if isinstance(self._player, AllRows):
            # Reset once for all: with which deck orders it is grouped must not matter.
            numbers = np.zeros_like(numbers)
        seeds = self._keys(numbers, 0) >> np.uint64(32)
        slots = np.arange(self._count)
        parts = [slice(slot, slot + 1) for slot in slots] if self._one_by_one else [slice(None)]
        for part in parts:
            try:
                with time_limit(self._table.conditions.move_timeout):
                    self._player.begin(slots[part], seeds[part])
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                self._unready.update(dict.fromkeys(rows[part].tolist(), _one_line(error)))

    @property
    def _one_by_one(self) -> bool:
        return isinstance(self._player, RowByRow)

    def act(self, actions: npt.NDArray[np.int64], acting: npt.NDArray[np.bool_]) -> None:
        """Write an action for every live row of its leg in which its seat is to act."""
        table = self._table
        own = slice(self._first, self._first + self._count)
        seen, masks, players = table.envs.observe()
        rows = self._first + np.flatnonzero(table.live[own] & (players[own] == self.seat))
        if self._unready:
            for row in rows.tolist():
                if row in self._unready:
                    table.forfeit(row, self.seat, self._unready[row])
            rows = rows[table.live[rows]]
        if not len(rows):
            return
        table.turns[rows, self.seat] += 1
        keys = self._keys(table.numbers[rows], table.turns[rows, self.seat])
        # What is handed out are copies: whatever a player does to them is its own affair.
        chosen = self._decide(rows, seen, masks, keys)
        if isinstance(chosen, np.ndarray):
            actions[rows] = chosen
            acting[rows] = True
            return
        for row, action in zip(rows.tolist(), chosen, strict=True):
            if isinstance(action, _Fault):
                table.forfeit(row, self.seat, action.reason)
            else:
                actions[row] = action
                acting[row] = True

    def _decide(
        self, rows: Any, seen: Any, masks: Any, keys: Any
    ) -> npt.NDArray[np.int64] | list[int | _Fault]:
        """What some rows do, faults included; `seen` and `masks` are of all rows."""
        if not self._one_by_one:
            # Whose fault an error is can only be seen row by row. That a batch takes longer than
            # a decision may is no fault.
            try:
                with time_limit(self._table.conditions.move_timeout):
                    chosen = self._player.act_rows(
                        rows - self._first, seen[rows], masks[rows], keys.copy()
                    )
            except KeyboardInterrupt:
                raise
            except BaseException:
                chosen = None
            if (
                isinstance(chosen, np.ndarray)
                and chosen.dtype.kind in "iu"
                and np.can_cast(chosen.dtype, np.int64)
                and chosen.shape == rows.shape
            ):
                return chosen.astype(np.int64)
        parts = (slice(i, i + 1) for i in range(len(rows)))
        return [
            self._decide_one(rows[part], seen[rows[part]], masks[rows[part]], keys[part])
            for part in parts
        ]

    def _decide_one(self, row: Any, seen: Any, mask: Any, key: Any) -> int | _Fault:
        # A player may do whatever it likes, also call sys.exit(). Ctrl-C is not its doing.
        try:
            with time_limit(self._table.conditions.move_timeout):
                [action] = self._player.act_rows(row - self._first, seen, mask, key)
            number = as_integer(action)
            if number is None:
                raise TypeError(f"act must return an integer, got {shown(action)}")
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            return _Fault(_one_line(error))
        if not -(2**31) <= number < 2**31:
            return _Fault(self._table.illegal(int(row[0]), number))
        return number


class _Fault(NamedTuple):
    """Why there is no action."""

    reason: str


def _copy(player: Agent, rows: int) -> RowPlayer:
    try:
        return as_row_player(copy.deepcopy(player), rows)
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"player {type(player).__name__} must allow copy.deepcopy, one copy for each seat, but "
            f"{_one_line(error)}"
        ) from error


def _one_line(error: BaseException) -> str:
    """Type and message of an error, also of one whose message cannot be had."""
    if isinstance(error, OutOfTime):
        return str(error)
    return " ".join(traceback.format_exception_only(error)[-1].split())
