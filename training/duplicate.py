"""Duplicate matches: every order of the decks played twice, with the players' seats exchanged.

A *pair* is two matches, its *legs*. Both have the same decks and the same dealing seat; in leg 0
the first player sits in seat 0, in leg 1 in seat 1. What the cards give to one player in one leg
they give to the other in the other, so much of their luck cancels in the mean of the two margins.

Pair k plays the k-th match of the seed (`raw_env.reset(seed)` and k further resets), and the key of
a decision depends on seed, pair, seat and turn alone. Hence a result depends neither on what is
played before it nor on the order in which players are named; more pairs begin with the same pairs;
and a player meets its own copy with a margin of exactly 0 in every pair.
"""

from __future__ import annotations

import copy
import textwrap
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from poke_env import poke_v0, streams
from poke_env._checks import as_integer, check_integer, shown
from poke_env.aec import CardGameEnv, IllegalActionError
from poke_env.agent import Agent
from training import statistics
from training.statistics import LEVEL, Estimate, Share

FORFEIT_POINTS = 1000.0
"""What a forfeited match costs a player, and brings the other."""

MOST_PAIRS = 10_000_000
"""Their margins fit into memory."""

_KEY_STREAM = 2
"""Sets the keys of decisions apart from all else that is derived from the same seed."""


@dataclass(frozen=True)
class Forfeit:
    """A match lost by a fault.

    Attributes:
        player: 0 if the first player was at fault, 1 if the second.
        pair: number of the pair, from 0.
        leg: 0 or 1.
        turn: which of the player's decisions in this match failed, from 1; 0 is its reset.
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
        decisions: int64 (pairs, 2), decisions of both players.
        forfeits: matches lost by a fault, in the order of pairs and legs.
    """

    points: npt.NDArray[np.float64]
    winners: npt.NDArray[np.int8]
    dealers: npt.NDArray[np.int8]
    decisions: npt.NDArray[np.int64]
    forfeits: tuple[Forfeit, ...] = ()

    def __len__(self) -> int:
        """Number of pairs."""
        return len(self.points)

    @cached_property
    def margins(self) -> npt.NDArray[np.float64]:
        """Margin of each pair, float64 (pairs,): the mean of its legs, in points a match."""
        # Leg by leg, so that exchanging the players changes the sign and nothing else.
        return (self.points[:, 0] + self.points[:, 1]) / 2.0

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
            forfeits=tuple(sorted(forfeits, key=lambda forfeit: (forfeit.pair, forfeit.leg))),
        )


def play(
    first: Agent,
    second: Agent,
    pairs: int,
    seed: int = 0,
    *,
    match: str = "deal",
    rules: Any = "standard",
    below_value: float = 50.0,
    max_deals: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> Duel:
    """Let two players meet in duplicate matches.

    For each seat a player is copied once, so that nothing it remembers of a deck in one leg can
    help it in the other; before every match the copy is reset with a seed of its own.

    Args:
        first, second: the players; they are left as they are.
        pairs: number of pairs, 1 or more; twice as many matches are played.
        seed: of decks, dealers and keys, 0 or more.
        match: `"deal"`, `"game"` or `"rubber"`.
        rules: a preset's name or `poke_v0.Rules`.
        below_value: what a point below the line counts where the deal is the match.
        max_deals: a longer match is cut; None is no limit.
        progress: called after every pair with the number of pairs played.

    Raises:
        ValueError: naming the argument and what is allowed, or a player that cannot be copied.
    """
    pairs = check_integer("pairs", pairs, 1, MOST_PAIRS)
    seed = check_integer("seed", seed, 0)
    environments = [
        poke_v0.raw_env(match, rules=rules, below_value=below_value, max_deals=max_deals)
        for _ in range(2)
    ]
    tables = [_seat_copies(first, second), _seat_copies(second, first)]
    words = _key_words(seed)
    points = np.zeros((pairs, 2))
    winners = np.zeros((pairs, 2), np.int8)
    dealers = np.zeros(pairs, np.int8)
    decisions = np.zeros((pairs, 2), np.int64)
    forfeits: list[Forfeit] = []
    for pair in range(pairs):
        keys = _Keys(words, pair)
        for leg, (env, players) in enumerate(zip(environments, tables, strict=True)):
            env.reset(seed if pair == 0 else None)
            dealers[pair] = env.record["dealer"]
            result = _play_match(env, players, keys)
            # The first player sits in the seat that has the leg's number.
            points[pair, leg] = result.points if leg == 0 else -result.points
            winners[pair, leg] = result.winner if leg == 0 else -result.winner
            decisions[pair, leg] = result.decisions
            if result.fault is not None:
                seat, turn, reason = result.fault
                forfeits.append(Forfeit(seat ^ leg, pair, leg, turn, reason))
        if progress is not None:
            progress(pair + 1)
    return Duel(points, winners, dealers, decisions, tuple(forfeits))


def _key_words(seed: int) -> list[int]:
    """The seed's words for keys.

    They differ from those of its decks: two addresses that happen to look alike must not give a
    player the random numbers by which its cards were shuffled.
    """
    sequence = np.random.SeedSequence(seed, spawn_key=(_KEY_STREAM,))
    return [int(word) for word in sequence.generate_state(4)]


class _Keys:
    """The keys of one pair by seat and turn, the same in both legs. Turn 0 is the reset."""

    def __init__(self, words: Sequence[int], pair: int) -> None:
        self._address = (*words, pair & 0xFFFFFFFF, pair >> 32)
        self._known: tuple[list[np.uint64], list[np.uint64]] = ([], [])

    def __call__(self, seat: int, turn: int) -> np.uint64:
        known = self._known[seat]
        while turn >= len(known):
            known.append(streams.decision_key(*self._address, seat, len(known)))
        return known[turn]


def _seat_copies(seat_0: Agent, seat_1: Agent) -> tuple[Agent, Agent]:
    return _copy(seat_0), _copy(seat_1)


def _copy(player: Agent) -> Agent:
    try:
        return copy.deepcopy(player)
    except (Exception, SystemExit) as error:
        raise ValueError(
            f"player {type(player).__name__} must allow copy.deepcopy, one copy for each seat, but "
            f"{_one_line(error)}"
        ) from error


class _Result(NamedTuple):
    """A match as seat 0 sees it; `fault` is the seat, turn and reason of a forfeit."""

    points: float
    winner: int
    decisions: int
    fault: tuple[int, int, str] | None = None


def _play_match(env: CardGameEnv, players: Sequence[Agent], keys: _Keys) -> _Result:
    """Play the match that `env` has just begun."""
    seats = {name: seat for seat, name in enumerate(env.possible_agents)}
    name = env.possible_agents[0]
    points = 0.0
    turns = [0] * len(seats)
    for seat, player in enumerate(players):
        try:
            # 32 bits: what every generator takes for a seed.
            player.reset(int(keys(seat, 0)) >> 32)
        except (Exception, SystemExit) as error:
            return _forfeit(points, turns, seat, _one_line(error))
    while not (env.terminations[name] or env.truncations[name]):
        seat = seats[env.agent_selection]
        turns[seat] += 1
        observation = env.observe(env.agent_selection)
        # A player may do whatever it likes, also call sys.exit(). Ctrl-C is not its doing.
        try:
            action = players[seat].act(observation, keys(seat, turns[seat]))
            if type(action) is not int:
                action = _integer(action)
        except (Exception, SystemExit) as error:
            return _forfeit(points, turns, seat, _one_line(error))
        try:
            env.step(action)
        except IllegalActionError:
            legal = ", ".join(
                map(str, np.flatnonzero(env.observe(env.agent_selection)["action_mask"]))
            )
            return _forfeit(points, turns, seat, f"illegal action {shown(action)}; legal: {legal}")
        if env.rewards[name]:
            points += env.rewards[name]
    won = np.zeros(len(seats))
    if env.terminations[name]:
        env.game.result(env.record, np.array([points, -points]), won)
    return _Result(points, int(won[0]), sum(turns))


def _forfeit(points: float, turns: list[int], seat: int, reason: str) -> _Result:
    """The match is lost; whoever was further behind than that costs gains nothing by it."""
    behind = -points if seat == 0 else points
    loss = max(FORFEIT_POINTS, behind)
    sign = -1 if seat == 0 else 1
    # Whatever a player's error says must fit into files and terminals.
    reason = reason.encode("utf-8", "backslashreplace").decode("utf-8")
    reason = textwrap.shorten(reason, 200, placeholder=" …")
    return _Result(sign * loss, sign, sum(turns), (seat, turns[seat], reason))


def _integer(action: Any) -> int:
    """The action as a Python integer; NumPy's integers are integers, truth values are not."""
    number = as_integer(action)
    if number is not None:
        return number
    raise TypeError(f"act must return an integer, got {shown(action)}")


def _one_line(error: BaseException) -> str:
    """Type and message of an error, also of one whose message cannot be had."""
    return " ".join(traceback.format_exception_only(error)[-1].split())
