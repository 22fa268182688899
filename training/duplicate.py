"""Duplicate matches: every order of the decks played twice, with the players' seats exchanged.

A *pair* is two matches, its *legs*. Both have the same decks and the same dealing seat; in leg 0
the first player sits in seat 0, in leg 1 in seat 1. What the cards give to one player in one leg
they give to the other in the other, so much of their luck cancels in the mean of the two margins.

Pair k plays the k-th match of the seed (`raw_env.reset(seed)` and k further resets), and the key of
a decision depends on seed, pair, seat and turn alone. Hence a result depends neither on what is
played before or beside it nor on the order in which players are named; more pairs begin with the
same pairs; and a player meets its own copy with a margin of exactly 0 in every pair.

Matches are played thousands at a time (`poke_env.vector`), and players decide for all of them in
one call. A player that has only `act` gets a copy for each match.
"""

from __future__ import annotations

import copy
import textwrap
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from poke_env import engine, games, records, streams
from poke_env._checks import as_integer, check_integer, check_number, shown
from poke_env.agent import Agent
from poke_env.row_player import AllRows, RowByRow, RowPlayer, as_row_player
from poke_env.settings import Settings
from poke_env.vector import BatchEnv
from training import statistics
from training.limits import OutOfTime, time_limit
from training.luck import Tally, price_of
from training.luck_value import ValueFunction, for_settings
from training.statistics import LEVEL, Estimate, Share

FORFEIT_POINTS = 1000.0
"""What a forfeited match costs a player, and brings the other."""

MOST_PAIRS = 10_000_000
"""Their margins fit into memory."""

MOST_AT_ONCE = 4096
"""Pairs that are played at once, two matches each: more would not be faster."""
MOST_COPIES_AT_ONCE = 64
"""Pairs at once of players that need a copy for every match."""


@dataclass(frozen=True)
class Forfeit:
    """A match lost by a fault.

    Attributes:
        player: 0 if the first player was at fault, 1 if the second.
        pair: number of the pair, from 0.
        leg: 0 or 1.
        turn: which of the player's decisions in this match failed, from 1; 0 is its reset, which
            counts when the player is first to act.
        reason: what happened, in a line.
    """

    player: int
    pair: int
    leg: int
    turn: int
    reason: str


@dataclass(frozen=True, eq=False)
class Duel:
    """What two players did against each other; margins and winners are the first player's.

    Attributes:
        points: float64 (pairs, 2), the first player's margin in each leg: the sum of its points
            rewards in the match. A forfeit costs `FORFEIT_POINTS`, or what its player was behind
            if that is more.
        winners: int8 (pairs, 2), 1 where the first player won, -1 where the second did, 0 for a
            draw and for a match that was cut by `max_deals`.
        dealers: int8 (pairs,), the seat that dealt first, in both legs.
        decisions: int64 (pairs, 2), decisions of both players in each leg.
        standing_deals: int64 (pairs, 2, S), for each player the number of deals that it began in
            each of the game's standings, both legs together.
        standing_points: float64 (pairs, 2, S), its margin in these deals.
        forfeits: matches lost by a fault, in the order of pairs and legs.
        records: the matches as text, pair by pair and leg by leg, if they were to be kept.
        luck: float64 (pairs, 2), the first player's luck in each leg (see `training.luck`); None
            if it was not measured.
    """

    points: npt.NDArray[np.float64]
    winners: npt.NDArray[np.int8]
    dealers: npt.NDArray[np.int8]
    decisions: npt.NDArray[np.int64]
    standing_deals: npt.NDArray[np.int64]
    standing_points: npt.NDArray[np.float64]
    forfeits: tuple[Forfeit, ...] = ()
    records: tuple[str, ...] = ()
    luck: npt.NDArray[np.float64] | None = None

    def __len__(self) -> int:
        """Number of pairs."""
        return len(self.points)

    @cached_property
    def margins(self) -> npt.NDArray[np.float64]:
        """Margin of each pair, float64 (pairs,): the mean of its legs, in points a match."""
        # Leg by leg, so that exchanging the players changes the sign and nothing else.
        return (self.points[:, 0] + self.points[:, 1]) / 2.0

    @property
    def adjusted_points(self) -> npt.NDArray[np.float64]:
        """The margin in each leg less its luck, float64 (pairs, 2).

        Raises:
            ValueError: if luck was not measured.
        """
        if self.luck is None:
            raise ValueError("luck was not measured in this duel: it needs luck_adjusted=True")
        return self.points - self.luck

    @cached_property
    def adjusted_margins(self) -> npt.NDArray[np.float64]:
        """`margins` less the luck of each pair: float64 (pairs,), of the same mean.

        Raises:
            ValueError: if luck was not measured.
        """
        adjusted = self.adjusted_points
        return (adjusted[:, 0] + adjusted[:, 1]) / 2.0

    @property
    def mean(self) -> float:
        """Mean margin in points a match."""
        return self.estimate().mean

    def estimate(self, level: float = LEVEL) -> Estimate:
        """Mean margin with its interval from pairs, in points a match."""
        return statistics.estimate(self.margins, level)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Ends of the interval of the mean margin, in points a match."""
        found = self.estimate(level)
        return found.low, found.high

    @property
    def wins(self) -> int:
        """Matches won by the first player."""
        return int((self.winners > 0).sum())

    @property
    def draws(self) -> int:
        """Matches nobody won."""
        return int((self.winners == 0).sum())

    @property
    def losses(self) -> int:
        """Matches won by the second player."""
        return int((self.winners < 0).sum())

    def win_rate(self, level: float = LEVEL) -> Share:
        """Share of the first player's wins among all matches that were won."""
        return statistics.win_rate(self.wins, self.losses, level)

    def in_seat(self, seat: int, level: float = LEVEL) -> Estimate:
        """Margin of the matches in which the first player sat in `seat`."""
        return statistics.estimate(self.points[:, seat], level)

    def as_dealer(self, level: float = LEVEL) -> Estimate:
        """Margin of the matches in which the first player dealt first: one leg of every pair."""
        return statistics.estimate(self.points[np.arange(len(self)), self.dealers], level)

    def as_non_dealer(self, level: float = LEVEL) -> Estimate:
        """Margin of the matches in which the second player dealt first."""
        return statistics.estimate(self.points[np.arange(len(self)), 1 - self.dealers], level)

    def scores(self) -> npt.NDArray[np.float64]:
        """Matches won in each pair, draws counted as half: float64 (pairs,), 0 to 2."""
        return np.asarray((1 + self.winners).sum(axis=1) / 2)

    def exchanged(self) -> Duel:
        """The same duel as the second player sees it."""
        forfeits = [
            replace(forfeit, player=1 - forfeit.player, leg=1 - forfeit.leg)
            for forfeit in self.forfeits
        ]
        return Duel(
            points=-self.points[:, ::-1],
            winners=-self.winners[:, ::-1],
            dealers=self.dealers,
            decisions=self.decisions[:, ::-1],
            standing_deals=self.standing_deals[:, ::-1],
            standing_points=self.standing_points[:, ::-1],
            forfeits=tuple(sorted(forfeits, key=lambda forfeit: (forfeit.pair, forfeit.leg))),
            records=self.records,
            luck=None if self.luck is None else -self.luck[:, ::-1],
        )


def join(duels: Sequence[Duel]) -> Duel:
    """One duel of several, whose pairs follow each other."""
    columns = ("points", "winners", "dealers", "decisions", "standing_deals", "standing_points")
    luck = [duel.luck for duel in duels if duel.luck is not None]
    return Duel(
        **{name: np.concatenate([getattr(duel, name) for duel in duels]) for name in columns},
        forfeits=tuple(forfeit for duel in duels for forfeit in duel.forfeits),
        records=tuple(text for duel in duels for text in duel.records),
        luck=np.concatenate(luck) if len(luck) == len(duels) else None,
    )


@dataclass(frozen=True)
class Conditions:
    """What is the same in all matches of a tournament.

    Attributes:
        settings: of the environment.
        seed: of decks, dealers and keys.
        move_timeout: seconds that a decision may take, None without a limit. A player that takes
            longer forfeits; such results do not repeat.
        keep_records: write every match down.
        luck_adjusted: measure the luck of every match, if there is a value function for the rules.
    """

    settings: Settings
    seed: int = 0
    move_timeout: float | None = None
    keep_records: bool = False
    luck_adjusted: bool = False

    @property
    def value_function(self) -> ValueFunction | None:
        """What luck is measured by; None if it is not asked for or the rules have none."""
        return for_settings(self.settings) if self.luck_adjusted else None

    @property
    def standings(self) -> int:
        """How many of the game's standings are told apart: in a single deal nobody is ahead."""
        return 0 if self.settings.match == "deal" else len(self.settings.game.standings)

    @classmethod
    def checked(
        cls,
        game: str = "poke",
        seed: Any = 0,
        *,
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
        return cls(
            Settings(
                games.named(game), match, rules=rules, below_value=below_value, max_deals=max_deals
            ),
            check_integer("seed", seed, 0),
            move_timeout,
            bool(keep_records),
            bool(luck_adjusted),
        )


def play(
    first: Agent,
    second: Agent,
    pairs: int,
    seed: int = 0,
    *,
    progress: Callable[[int], None] | None = None,
    at_once: int = MOST_AT_ONCE,
    **conditions: Any,
) -> Duel:
    """Let two players meet in duplicate matches.

    No copy of a player sits in both legs, so nothing it remembers of a deck in one leg can help it
    in the other.

    Args:
        first, second: the players; they are left as they are.
        pairs: number of pairs, 1 or more; twice as many matches are played.
        seed: of decks, dealers and keys, 0 or more.
        progress: called now and then with the number of pairs played.
        at_once: pairs that are played at once; it changes nothing but the time.
        **conditions: as for `Conditions.checked`.

    Raises:
        ValueError: naming the argument and what is allowed, or a player that cannot be copied.
    """
    pairs = check_integer("pairs", pairs, 1, MOST_PAIRS)
    at_once = min(check_integer("at_once", at_once, 1), most_at_once(first, second))
    agreed = Conditions.checked(seed=seed, **conditions)
    duels = []
    for start in range(0, pairs, at_once):
        stop = min(start + at_once, pairs)
        duels.append(play_pairs(first, second, range(start, stop), agreed))
        if progress is not None:
            progress(stop)
    return join(duels)


def most_at_once(*players: Agent) -> int:
    """How many pairs of these players are best played at once."""
    copies = any(isinstance(as_row_player(player, 0), RowByRow) for player in players)
    return MOST_COPIES_AT_ONCE if copies else MOST_AT_ONCE


def play_pairs(first: Agent, second: Agent, pairs: range, conditions: Conditions) -> Duel:
    """Play some pairs of a meeting; the duel counts them from the first of `pairs`, its forfeits
    name them by their numbers."""
    table = _Table(pairs, conditions)
    # Each sits in the seat that has the leg's number, or the other.
    players = [(first, second), (second, first)]
    seats = [
        [_Seat(player, leg, seat, table) for seat, player in enumerate(legs)]
        for leg, legs in enumerate(players)
    ]
    every = [seat for leg in seats for seat in leg]
    for seat in every:
        seat.begin()
    while table.live.any():
        actions = np.full(2 * len(pairs), engine.WAIT)
        acting = np.zeros(2 * len(pairs), np.bool_)
        for seat in every:
            seat.act(actions, acting)
        table.step(actions, acting)
    return table.duel()


def _key_words(seed: int) -> npt.NDArray[np.uint32]:
    """The seed's words for keys.

    They differ from those of its decks: two addresses that happen to look alike must not give a
    player the random numbers by which its cards were shuffled.
    """
    return streams.seed_words(seed, streams.Purpose.DUPLICATE_KEYS)


class _Table:
    """The matches of some pairs: row k is leg 0 of the k-th of them, row n + k its leg 1."""

    def __init__(self, pairs: range, conditions: Conditions) -> None:
        settings = conditions.settings
        count = len(pairs)
        self.conditions = conditions
        self.numbers = np.tile(np.array(pairs, np.int64), 2)
        self.legs = np.repeat([0, 1], count)
        self.key_words = _key_words(conditions.seed)
        self.envs = BatchEnv(
            settings.game, 2 * count, match=settings.match, rules=settings.rules,
            below_value=settings.below_value, max_deals=settings.max_deals,
            autoreset=False, copy=False, threads=1,
        )  # fmt: skip
        # One seed in all rows, each of which begins with another of its matches.
        self.envs.reset([conditions.seed] * (2 * count), {"skip": self.numbers})
        self.dealers = self.envs.record["dealer"].copy()
        self.turns = np.zeros((2 * count, 2), np.int64)
        self.points = np.zeros(2 * count)
        self.faults: dict[int, tuple[int, int, str]] = {}
        self.live = np.ones(2 * count, np.bool_)
        standings = conditions.standings
        self._standing = self.envs.standings() if standings else None
        self._deals = self.envs.deals
        self.standing_deals = np.zeros((2 * count, 2, standings), np.int64)
        self.standing_points = np.zeros((2 * count, 2, standings))
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
        """The match is lost; whoever was further behind than that costs gains nothing by it."""
        behind = -self.points[row] if seat == 0 else self.points[row]
        loss = max(FORFEIT_POINTS, behind)
        self.points[row] = -loss if seat == 0 else loss
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
        rewards = envs.rewards[:, 0] * self.live
        self.points += rewards
        deals = envs.deals
        ended = np.flatnonzero(deals != self._deals)
        self._deals = deals
        self.live &= ~envs.over
        if len(ended):
            self._note_deals(ended, rewards)

    def _note_deals(self, ended: npt.NDArray[np.int64], rewards: npt.NDArray[np.float64]) -> None:
        """Count finished deals where their players stood; write the next decks down."""
        if self._standing is not None:
            for who in range(2):
                seats = np.where(self.legs[ended] == 0, who, 1 - who)
                stood = self._standing[ended, seats]
                self.standing_deals[ended, who, stood] += 1
                self.standing_points[ended, who, stood] += (
                    np.where(seats == 0, 1, -1) * rewards[ended]
                )
            self._standing = self.envs.standings()
        if self._logs is not None:
            decks = self.envs.deck
            for row in ended[self.live[ended]].tolist():
                self._logs[row].deal(decks[row].tolist())

    def duel(self) -> Duel:
        """What came of it, as the first player sees it."""
        count = len(self.numbers) // 2
        won = self.envs.results()[:, 0].astype(np.int8)
        for row, (seat, _, _) in self.faults.items():
            won[row] = -1 if seat == 0 else 1
        # In leg 1 the first player sits in seat 1.
        sign = np.where(self.legs == 0, 1, -1)
        legs = (slice(count), slice(count, None))
        seat_turns = np.where(self.legs[:, np.newaxis] == 0, self.turns, self.turns[:, ::-1])
        forfeits = [
            Forfeit(
                seat ^ int(self.legs[row]),
                int(self.numbers[row]),
                int(self.legs[row]),
                turn,
                reason,
            )
            for row, (seat, turn, reason) in self.faults.items()
        ]
        return Duel(
            points=np.stack([(sign * self.points)[leg] for leg in legs], axis=1),
            winners=np.stack([(sign * won)[leg] for leg in legs], axis=1).astype(np.int8),
            dealers=self.dealers[:count].astype(np.int8),
            decisions=np.stack([seat_turns[leg].sum(axis=1) for leg in legs], axis=1),
            standing_deals=self.standing_deals[:count] + self.standing_deals[count:],
            standing_points=self.standing_points[:count] + self.standing_points[count:],
            forfeits=tuple(sorted(forfeits, key=lambda forfeit: (forfeit.pair, forfeit.leg))),
            records=tuple(self._texts(count)),
            luck=None
            if self._tally is None
            else np.stack([(sign * self._tally.luck)[leg] for leg in legs], axis=1),
        )

    def _texts(self, count: int) -> Iterator[str]:
        if self._logs is None:
            return
        cut = self.envs.cut
        seed: int | str = self.conditions.seed
        if self.conditions.seed >= 2**64:  # records hold no larger numbers
            seed = str(seed)
        for pair in range(count):
            for leg, row in enumerate((pair, count + pair)):
                ending = None
                if row in self.faults:
                    seat, _, reason = self.faults[row]
                    ending = records.Ending("forfeit", seat, reason)
                elif cut[row]:
                    ending = records.Ending("truncated")
                log = self._logs[row]
                about = {"seed": seed, "pair": int(self.numbers[row]), "leg": leg}
                yield records.dumps(log.finish(ending, info=about))


class _Seat:
    """A copy of a player in one seat of one leg: it decides for that seat of all pairs."""

    def __init__(self, player: Agent, leg: int, seat: int, table: _Table) -> None:
        self.seat = seat
        self._table = table
        self._count = len(table.numbers) // 2
        self._first = leg * self._count
        self._player = _copy(player, self._count)
        self._unready: dict[int, str] = {}

    def _keys(self, pairs: npt.NDArray[np.int64], turns: Any) -> npt.NDArray[np.uint64]:
        return streams.decision_keys(self._table.key_words, pairs, self.seat, turns)

    def begin(self) -> None:
        """Reset the player for its matches; where that fails, it forfeits when it is to act."""
        rows = np.arange(self._first, self._first + self._count)
        # 32 bits: what every generator takes for a seed.
        numbers = self._table.numbers[rows]
        if isinstance(self._player, AllRows):
            # Reset once for all: with which pairs it is grouped must not matter.
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
