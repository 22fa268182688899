"""Pairs of many meetings, played here or by worker processes; in which order changes no result."""

from __future__ import annotations

import pickle
import time
from collections import deque
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from typing import Any, NamedTuple

import agents
from poke_env.agent import Agent
from training import cli
from training.duplicate import Conditions, Duel, most_at_once, play_pairs
from training.processes import worker_pools

_SECONDS_AT_ONCE = 1.0
"""About how long a group of pairs is played: results are safe, and progress shows, that often."""
_FIRST_AT_ONCE = 16

Meeting = tuple[str, str]


class Played(NamedTuple):
    """A group of pairs of a meeting that has been played, and how long it took."""

    meeting: Meeting
    pairs: range
    duel: Duel
    seconds: float


@dataclass(frozen=True)
class Source:
    """How another process gets a player: by its specification and seed, or as a copy of itself."""

    spec: str | None
    seed: int
    player: Agent

    def __reduce__(self) -> tuple[Any, ...]:
        if self.spec is None:
            return Source, (None, self.seed, self.player)
        return _load, (self.spec, self.seed)


def _load(spec: str, seed: int) -> Source:
    return Source(spec, seed, agents.load(spec, seed))


class _Backlog:
    """What is left to be played, handed out in groups that take about a second each."""

    def __init__(self, missing: Mapping[Meeting, Sequence[range]], most: Mapping[Meeting, int]):
        self._left = deque(
            (meeting, pairs) for meeting, ranges in missing.items() for pairs in ranges
        )
        self._most = most
        self._sizes = {meeting: min(_FIRST_AT_ONCE, most[meeting]) for meeting in missing}

    def __bool__(self) -> bool:
        return bool(self._left)

    def take(self) -> tuple[Meeting, range]:
        """The next group."""
        meeting, pairs = self._left.popleft()
        size = self._sizes[meeting]
        if len(pairs) > size:
            self._left.appendleft((meeting, pairs[size:]))
        return meeting, pairs[:size]

    def learn(self, played: Played) -> None:
        """Choose the size of the meeting's next groups by how long this one took."""
        size = int(len(played.pairs) * _SECONDS_AT_ONCE / max(played.seconds, 1e-3))
        # The first of all groups may have compiled something.
        size = max(size, min(2 * len(played.pairs), _FIRST_AT_ONCE))
        self._sizes[played.meeting] = max(1, min(size, self._most[played.meeting]))


def play_all(
    missing: Mapping[Meeting, Sequence[range]],
    sources: Mapping[str, Source],
    conditions: Conditions,
    workers: int = 1,
) -> Generator[Played, None, None]:
    """Play what is missing, and yield it as it comes.

    Args:
        missing: pairs to be played of each meeting of two labels.
        sources: players by label.
        conditions: of all matches.
        workers: number of processes, started anew ("spawn"); with 1 all is played in this one.

    Raises:
        ValueError: if a player cannot be sent to another process, cannot be loaded there, or
            cannot be copied.
        ChildProcessError: if a worker died.
    """
    players = {label: source.player for label, source in sources.items()}
    backlog = _Backlog(
        missing,
        {(one, other): most_at_once(players[one], players[other]) for one, other in missing},
    )
    if workers == 1:
        while backlog:
            meeting, pairs = backlog.take()
            played = _play_group(players, meeting, pairs, conditions)
            backlog.learn(played)
            yield played
    else:
        yield from _in_processes(backlog, _packed(sources), conditions, workers)


def _play_group(
    players: Mapping[str, Agent], meeting: Meeting, pairs: range, conditions: Conditions
) -> Played:
    start = time.perf_counter()
    first, second = meeting
    duel = play_pairs(players[first], players[second], pairs, conditions)
    return Played(meeting, pairs, duel, time.perf_counter() - start)


# --- processes ------------------------------------------------------------------------------------


def _packed(sources: Mapping[str, Source]) -> bytes:
    for label, source in sources.items():
        try:
            pickle.dumps(source)
        except Exception as error:
            raise ValueError(
                f"agent {label!r} must be picklable to play in another process, but "
                f"{type(error).__name__}: {error}"
            ) from error
    return pickle.dumps(dict(sources))


def _in_processes(
    backlog: _Backlog, packed: bytes, conditions: Conditions, workers: int
) -> Iterator[Played]:
    running: set[Future[Played]] = set()
    try:
        with worker_pools(1, workers, _start, packed, conditions) as [pool]:
            while backlog or running:
                # One more than there are workers, so that none of them waits.
                while backlog and len(running) <= workers:
                    running.add(pool.submit(_work, *backlog.take()))
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    played = future.result()
                    backlog.learn(played)
                    yield played
    except _Refused as error:
        raise ValueError(str(error)) from error


_worker: dict[str, Any] = {}
"""What a worker process knows; empty in every other process."""


def _start(packed: bytes, conditions: Conditions) -> None:
    """Note what there is to do; players are loaded with the first group, where errors are told."""
    _worker.update(packed=packed, conditions=conditions)


class _Refused(Exception):
    """What a check in a worker process said."""


def _work(meeting: Meeting, pairs: range) -> Played:
    try:
        return _play_here(meeting, pairs)
    except ValueError as error:
        if cli.is_check(error):
            raise _Refused(str(error)) from error
        raise


def _play_here(meeting: Meeting, pairs: range) -> Played:
    if "players" not in _worker:
        # Packed by the process that started this one: no stranger's file.
        sources = pickle.loads(_worker["packed"])  # noqa: TID251
        _worker["players"] = {label: source.player for label, source in sources.items()}
    return _play_group(_worker["players"], meeting, pairs, _worker["conditions"])
