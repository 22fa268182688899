"""What came of matches over the same cards: by table, and for every two players.

A *meeting* is a table of k players over some deck orders. Every order is played in k *legs*, with
the same decks and the same dealing seat: in leg r player i sits on side (i + r) mod k, so that
everybody has been on every side. A side is the seats that play together (`Game.sides`).

A *margin* is what a player has scored less the mean of its table. A `Duel` shows two players at
all tables that they share. Its margin is (k - 1) / k of the difference of their points: the first
player's margin if everybody else at the table had scored as the second did. So margins of duels are
antisymmetric, their mean over all opponents is the player's own margin, and at a table of two,
where one wins what the other loses, they are simply the first player's points.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from training import statistics
from training.statistics import LEVEL, Estimate, Share

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Forfeit:
    """A match lost by a fault.

    Attributes:
        player: who was at fault, by its place among those who met.
        order: number of the deck order, from 0.
        leg: from 0; in a `Duel` the side on which its first player sat.
        turn: which of the decisions on the player's seat failed in this match, from 1; 0 is its
            reset, which counts when the seat is first to act.
        reason: what happened, in a line.
    """

    player: int
    order: int
    leg: int
    turn: int
    reason: str


class Matches(NamedTuple):
    """Matches of a player by how they ended; a shared win is a win, all level is a draw."""

    wins: int
    draws: int
    losses: int

    def win_rate(self, level: float = LEVEL) -> Share:
        """Share of wins among all matches that were won or lost."""
        return statistics.win_rate(self.wins, self.losses, level)


@dataclass(frozen=True, eq=False)
class Meeting:
    """What k players did at one table; partners are one player on one side.

    Attributes:
        points: float64 (orders, legs, players), the sum of each player's points rewards in the
            match, after forfeits (see `training.duplicate`).
        places: int8 (orders, legs, players), how many were ahead of the player when the match
            ended: winners have 0, losers stand by their points. All have 0 if nobody won, as in a
            match that was cut by `max_deals`.
        dealers: int8 (orders,), the side that dealt first, in all legs.
        decisions: int64 (orders, legs, players).
        standing_deals: int64 (orders, players, S), the number of deals that each player began in
            each of the game's standings, all legs together.
        standing_points: float64 (orders, players, S), its margin in these deals.
        forfeits: matches lost by a fault, in the order of deck orders and legs.
        records: the matches as text, in the same order, if they were to be kept.
        luck: float64 (orders, legs, players), each player's luck (see `training.luck`); None if it
            was not measured.
    """

    points: Floats
    places: npt.NDArray[np.int8]
    dealers: npt.NDArray[np.int8]
    decisions: Integers
    standing_deals: Integers
    standing_points: Floats
    forfeits: tuple[Forfeit, ...] = ()
    records: tuple[str, ...] = ()
    luck: Floats | None = None

    def __len__(self) -> int:
        """Number of deck orders."""
        return len(self.points)

    @property
    def size(self) -> int:
        """Number of players, k."""
        return int(self.points.shape[2])

    def legs(self, player: int) -> Integers:
        """The leg in which a player sits on side 0, 1, …: int64 (k,)."""
        return (np.arange(self.size) - player) % self.size

    @property
    def winners(self) -> npt.NDArray[np.bool_]:
        """Who won each match, alone or with others: bool (orders, legs, players)."""
        return np.asarray((self.places == 0) & self.places.any(axis=2, keepdims=True))

    def matches(self, player: int) -> Matches:
        """How a player's matches ended."""
        won = int(self.winners[:, :, player].sum())
        drawn = int((~self.places.any(axis=2)).sum())
        return Matches(won, drawn, len(self) * self.size - won - drawn)

    def forfeited(self, player: int) -> int:
        """Number of matches that a player lost by a fault."""
        return sum(forfeit.player == player for forfeit in self.forfeits)


_COLUMNS = (
    "points", "places", "dealers", "decisions", "standing_deals", "standing_points",
)  # fmt: skip


def join(meetings: Sequence[Meeting]) -> Meeting:
    """One meeting of several of the same players, whose deck orders follow each other."""
    luck = [meeting.luck for meeting in meetings if meeting.luck is not None]
    return Meeting(
        **{name: np.concatenate([getattr(part, name) for part in meetings]) for name in _COLUMNS},
        forfeits=tuple(forfeit for meeting in meetings for forfeit in meeting.forfeits),
        records=tuple(text for meeting in meetings for text in meeting.records),
        luck=np.concatenate(luck) if len(luck) == len(meetings) else None,
    )


class Shared(NamedTuple):
    """A table that two players share, and their places at it."""

    meeting: Meeting
    first: int
    second: int

    @property
    def both(self) -> tuple[int, int]:
        """The places."""
        return self.first, self.second


@dataclass(frozen=True, eq=False)
class Duel:
    """Two players against each other at all tables that they share, as the first sees it.

    Attributes:
        tables: at least one; all of the same size and over the same deck orders.
    """

    tables: tuple[Shared, ...]

    def __len__(self) -> int:
        """Number of deck orders."""
        return len(self.tables[0].meeting)

    @property
    def size(self) -> int:
        """Number of players at a table, k."""
        return self.tables[0].meeting.size

    @property
    def dealers(self) -> npt.NDArray[np.int8]:
        """The side that dealt first, int8 (orders,)."""
        return self.tables[0].meeting.dealers

    @cached_property
    def points(self) -> Floats:
        """The first player's margin in the matches in which it sat on each side.

        float64 (orders, k), the mean over all tables.
        """
        return self._by_side(lambda meeting: meeting.points)

    @cached_property
    def margins(self) -> Floats:
        """The first player's margin over each deck order, float64 (orders,), in points a match."""
        return self._over_sides(lambda meeting: meeting.points)

    @cached_property
    def luck(self) -> Floats | None:
        """The first player's luck, like `points`; None if it was not measured."""
        if any(table.meeting.luck is None for table in self.tables):
            return None
        return self._by_side(_luck)

    @property
    def adjusted_points(self) -> Floats:
        """`points` less luck.

        Raises:
            ValueError: if luck was not measured.
        """
        return self._by_side(_less_luck)

    @cached_property
    def adjusted_margins(self) -> Floats:
        """`margins` less the luck of each deck order: float64 (orders,), of the same mean.

        Raises:
            ValueError: if luck was not measured.
        """
        return self._over_sides(_less_luck)

    def _by_side(self, values: Callable[[Meeting], Floats]) -> Floats:
        """What the first has beyond the second, by the side of the first."""
        total = np.zeros((len(self), self.size))
        for meeting, first, second in self.tables:
            own = values(meeting)[:, meeting.legs(first)]
            total += own[:, :, first] - own[:, :, second]
        return total * (self._weight / len(self.tables))

    def _over_sides(self, values: Callable[[Meeting], Floats]) -> Floats:
        """What the first has beyond the second, in the mean of a match.

        Each is summed in the order of its own sides: players that do the same on every side then
        differ by exactly 0, and exchanging the two changes the sign and nothing else.
        """
        total = np.zeros(len(self))
        for meeting, first, second in self.tables:
            scored = values(meeting)
            own, other = (
                scored[:, meeting.legs(player), player].sum(axis=1) for player in (first, second)
            )
            total += own - other
        return total * (self._weight / self.size / len(self.tables))

    @property
    def _weight(self) -> float:
        """What a point more than the other adds to the margin, if all others are like it."""
        return (self.size - 1) / self.size

    @property
    def mean(self) -> float:
        """Mean margin in points a match."""
        return self.estimate().mean

    def estimate(self, level: float = LEVEL) -> Estimate:
        """Mean margin with its interval from deck orders, in points a match."""
        return statistics.estimate(self.margins, level)

    def interval(self, level: float = LEVEL) -> tuple[float, float]:
        """Ends of the interval of the mean margin, in points a match."""
        found = self.estimate(level)
        return found.low, found.high

    @cached_property
    def winners(self) -> npt.NDArray[np.int8]:
        """1 where the first player won and the second did not, -1 the other way round, else 0.

        int8 (orders, k tables), for each table by the side of the first. Who was ahead of whom
        among those who lost does not count: as the same two always sit in the same order, that
        would not be even between copies of one player.
        """
        won = []
        for meeting, first, second in self.tables:
            winners = meeting.winners[:, meeting.legs(first)].astype(np.int8)
            won.append(winners[:, :, first] - winners[:, :, second])
        return np.concatenate(won, axis=1)

    @property
    def wins(self) -> int:
        """Matches won by the first player and not by the second."""
        return int((self.winners > 0).sum())

    @property
    def draws(self) -> int:
        """Matches that neither of the two won, or both."""
        return int((self.winners == 0).sum())

    @property
    def losses(self) -> int:
        """Matches won by the second player and not by the first."""
        return int((self.winners < 0).sum())

    @property
    def matches(self) -> Matches:
        """Wins, draws and losses."""
        return Matches(self.wins, self.draws, self.losses)

    def win_rate(self, level: float = LEVEL) -> Share:
        """Share of the first player's wins among all matches that one of the two won."""
        return self.matches.win_rate(level)

    def in_seat(self, side: int, level: float = LEVEL) -> Estimate:
        """Margin of the matches in which the first player sat on `side`."""
        return statistics.estimate(self.points[:, side], level)

    def as_dealer(self, level: float = LEVEL) -> Estimate:
        """Margin of the matches in which the first player's side dealt first: one leg of every
        deck order."""
        return statistics.estimate(self.points[self._dealt], level)

    def as_non_dealer(self, level: float = LEVEL) -> Estimate:
        """Margin of the matches in which another side dealt first."""
        others = self.points[~self._dealt].reshape(len(self), self.size - 1)
        return statistics.estimate(others.mean(axis=1), level)

    @property
    def _dealt(self) -> npt.NDArray[np.bool_]:
        return np.asarray(np.arange(self.size) == self.dealers[:, np.newaxis])

    def scores(self) -> Floats:
        """Matches won over each deck order, draws counted as half: float64 (orders,)."""
        return np.asarray((1 + self.winners).sum(axis=1) / 2)

    @property
    def decisions(self) -> Integers:
        """Decisions of everybody by the side of the first player, int64 (orders, k), all tables
        together."""
        return np.asarray(
            sum(
                meeting.decisions[:, meeting.legs(first)].sum(axis=2)
                for meeting, first in self._places(0)
            )
        )

    @property
    def standing_deals(self) -> Integers:
        """Number of deals that both began in each standing, int64 (orders, 2, S)."""
        return self._standings(lambda meeting: meeting.standing_deals)

    @property
    def standing_points(self) -> Floats:
        """The margins of both at their tables in these deals, float64 (orders, 2, S)."""
        return self._standings(lambda meeting: meeting.standing_points)

    def _standings(self, values: Callable[[Meeting], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        both = [
            sum(values(meeting)[:, player] for meeting, player in self._places(which))
            for which in range(2)
        ]
        return np.stack(both, axis=1)

    @cached_property
    def forfeits(self) -> tuple[Forfeit, ...]:
        """Faults of the two, in the order of deck orders and legs; players are 0 and 1."""
        found = [
            Forfeit(
                which, fault.order, (table.first + fault.leg) % self.size, fault.turn, fault.reason
            )
            for which in range(2)
            for table in self._tables(which)
            for fault in table.meeting.forfeits
            if fault.player == table.both[which]
        ]
        return tuple(sorted(found, key=lambda fault: (fault.order, fault.leg)))

    @property
    def records(self) -> tuple[str, ...]:
        """The matches as text, table by table, if they were kept."""
        return tuple(text for meeting, _ in self._places(0) for text in meeting.records)

    def _places(self, which: int) -> Iterator[tuple[Meeting, int]]:
        """Every place of the first (0) or second (1) player once."""
        for table in self._tables(which):
            yield table.meeting, table.both[which]

    def _tables(self, which: int) -> list[Shared]:
        """A table for every place of the first (0) or second (1) player."""
        places: dict[tuple[int, int], Shared] = {}
        for table in self.tables:
            places.setdefault((id(table.meeting), table.both[which]), table)
        return list(places.values())

    def exchanged(self) -> Duel:
        """The same duel as the second player sees it."""
        return Duel(
            tuple(Shared(table.meeting, table.second, table.first) for table in self.tables)
        )


def _luck(meeting: Meeting) -> Floats:
    if meeting.luck is None:
        raise ValueError("luck was not measured in this duel: it needs luck_adjusted=True")
    return meeting.luck


def _less_luck(meeting: Meeting) -> Floats:
    return meeting.points - _luck(meeting)
