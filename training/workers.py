"""Many meetings, played here or by worker processes; where and in which order changes nothing."""

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
from training.duplicate import Conditions, most_at_once, play_orders
from training.meeting import Meeting
from training.processes import worker_pools

_SECONDS_AT_ONCE = 1.0
"""About how long deck orders are played in one go: that often results are safe, progress shows."""
_FIRST_AT_ONCE = 16

Labels = tuple[str, ...]
"""Who sits at a table: the names of its players, in the order in which they rotate."""


class Played(NamedTuple):
    """Deck orders of a meeting that have been played, and how long they took."""

    labels: Labels
    orders: range
    meeting: Meeting
    seconds: float


@dataclass(frozen=True)
class Source:
    """How another process gets a player: by its specification, seed and game, or as a copy."""

    spec: str | None
    seed: int
    game: str
    player: Agent

    def __reduce__(self) -> tuple[Any, ...]:
        if self.spec is None:
            return Source, (None, self.seed, self.game, self.player)
        return _load, (self.spec, self.seed, self.game)


def _load(spec: str, seed: int, game: str) -> Source:
    return Source(spec, seed, game, agents.load(spec, seed, game=game))


class _Backlog:
    """What is left to be played, handed out in groups that take about a second each."""

    def __init__(self, missing: Mapping[Labels, Sequence[range]], most: Mapping[Labels, int]):
        self._left = deque(
            (labels, orders) for labels, ranges in missing.items() for orders in ranges
        )
        self._most = most
        self._sizes = {labels: min(_FIRST_AT_ONCE, most[labels]) for labels in missing}

    def __bool__(self) -> bool:
        return bool(self._left)

    def take(self) -> tuple[Labels, range]:
        """The next group."""
        labels, orders = self._left.popleft()
        size = self._sizes[labels]
        if len(orders) > size:
            self._left.appendleft((labels, orders[size:]))
        return labels, orders[:size]

    def learn(self, played: Played) -> None:
        """Choose the size of the meeting's next groups by how long this one took."""
        size = int(len(played.orders) * _SECONDS_AT_ONCE / max(played.seconds, 1e-3))
        # The first of all groups may have compiled something.
        size = max(size, min(2 * len(played.orders), _FIRST_AT_ONCE))
        self._sizes[played.labels] = max(1, min(size, self._most[played.labels]))


def play_all(
    missing: Mapping[Labels, Sequence[range]],
    sources: Mapping[str, Source],
    conditions: Conditions,
    workers: int = 1,
) -> Generator[Played, None, None]:
    """Play what is missing, and yield it as it comes.

    Args:
        missing: deck orders to be played at each table.
        sources: players by label.
        conditions: of all matches.
        workers: number of processes, started anew ("spawn"); with 1 all is played in this one.

    Raises:
        ValueError: if a player cannot be sent to another process, cannot be loaded there, or
            cannot be copied.
        ChildProcessError: if a worker died.
    """
    players = {label: source.player for label, source in sources.items()}
    most = {
        labels: most_at_once([players[label] for label in labels], conditions) for labels in missing
    }
    backlog = _Backlog(missing, most)
    if workers == 1:
        while backlog:
            played = _play_group(players, *backlog.take(), conditions)
            backlog.learn(played)
            yield played
    else:
        yield from _in_processes(backlog, _packed(sources), conditions, workers)


def _play_group(
    players: Mapping[str, Agent], labels: Labels, orders: range, conditions: Conditions
) -> Played:
    start = time.perf_counter()
    meeting = play_orders([players[label] for label in labels], orders, conditions)
    return Played(labels, orders, meeting, time.perf_counter() - start)


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


def _work(labels: Labels, orders: range) -> Played:
    try:
        return _play_here(labels, orders)
    except ValueError as error:
        if cli.is_check(error):
            raise _Refused(str(error)) from error
        raise


def _play_here(labels: Labels, orders: range) -> Played:
    if "players" not in _worker:
        # Packed by the process that started this one: no stranger's file.
        sources = pickle.loads(_worker["packed"])  # noqa: TID251
        _worker["players"] = {label: source.player for label, source in sources.items()}
    return _play_group(_worker["players"], labels, orders, _worker["conditions"])
