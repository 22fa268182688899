"""Opponents for self-play: the current policy, snapshots of earlier ones, scripted players.

One `OpponentPool` belongs to a run. `PoolPlayers` draws one of it for every row of a vector
environment when a match begins there, and keeps it until the match ends.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.network import Network
from poke_env import streams
from poke_env._threads import cores
from poke_env.agent import Agent
from poke_env.row_player import as_actions, decides_in_batches

CURRENT = "current"
SNAPSHOT = "snapshot"
MOST_IN_PLAY = 4


@dataclass
class Tally:
    """Matches of the learner against one kind of opponent."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    points: float = 0.0

    @property
    def matches(self) -> int:
        """How many there were."""
        return self.wins + self.draws + self.losses

    def add(self, points: float) -> None:
        """Count a match that brought the learner so many points."""
        self.wins += points > 0
        self.draws += points == 0
        self.losses += points < 0
        self.points += points

    def merge(self, other: Tally) -> None:
        """Count all matches of another tally."""
        self.wins += other.wins
        self.draws += other.draws
        self.losses += other.losses
        self.points += other.points


@dataclass
class OpponentPool:
    """Whom the learner may meet.

    Attributes:
        current: the policy that is being trained, as of the latest update.
        shares: chances of meeting the current policy, a snapshot, a scripted player. A kind of
            which there is none leaves its share to the current policy.
        scripted: scripted players by name, each equally likely.
        size: most snapshots; the oldest makes room.
        snapshots: earlier policies by the training step at which they were taken, oldest first,
            each equally likely.
        results: all matches of the run so far, by kind of opponent.
        in_play: the snapshots that coming matches are drawn from (see `choose_in_play`).

    Raises:
        ValueError: if a scripted player has only `act`: it may remember its match, and would play
            many at once.
    """

    current: Network
    shares: tuple[float, float, float] = (1.0, 0.0, 0.0)
    scripted: Mapping[str, Agent] = field(default_factory=dict)
    size: int = 1
    snapshots: dict[int, Network] = field(default_factory=dict)
    results: dict[str, Tally] = field(default_factory=dict)
    in_play: tuple[Network, ...] = ()

    def __post_init__(self) -> None:
        for name, player in self.scripted.items():
            if not decides_in_batches(player):
                raise ValueError(
                    f"scripted player {name!r} must have act_batch to play many matches at once"
                )

    def choose_in_play(self, seed: int) -> None:
        """Choose a few snapshots for the coming matches, each as likely as any other.

        Few at a time decide for many matches in one call each, and over a run all have their turn.
        """
        networks = list(self.snapshots.values())
        chance = np.random.default_rng(seed)
        chosen = chance.permutation(len(networks))[:MOST_IN_PLAY]
        self.in_play = tuple(networks[place] for place in chosen)

    def add_snapshot(self, step: int, network: Network) -> None:
        """Keep the policy of a training step as an opponent."""
        self.snapshots[step] = network
        while len(self.snapshots) > self.size:
            gone = self.snapshots.pop(next(iter(self.snapshots)))
            self.in_play = tuple(player for player in self.in_play if player is not gone)
        if len(self.in_play) < MOST_IN_PLAY:
            self.in_play = (*self.in_play, network)

    def draw(self, chance: np.random.Generator, count: int) -> list[tuple[str, Any]]:
        """Opponents of the next matches: kind (the name of a scripted one), and who it is.

        That is an `Agent`, a `Network`, or None for the policy that is current at each decision.
        """
        _, snapshots, scripted = self.shares
        names, networks = list(self.scripted), self.in_play
        drawn: list[tuple[str, Any]] = []
        for point, place in zip(chance.random(count), chance.random(count), strict=True):
            if point < scripted and names:
                name = names[int(place * len(names))]
                drawn.append((name, self.scripted[name]))
            elif point >= 1.0 - snapshots and networks:
                drawn.append((SNAPSHOT, networks[int(place * len(networks))]))
            else:
                drawn.append((CURRENT, None))
        return drawn


class PoolPlayers:
    """A `RowPlayer` that is, in every match, another member of the pool.

    The same seeds and pool choose the same opponents. An environment copies its opponent: copies
    share the pool and nothing else.

    Args:
        pool: shared, changed by the training loop between updates.
        rows: of the vector environment.

    Attributes:
        names: object (rows,), the kind of each row's opponent: `"current"`, `"snapshot"` or a
            scripted name.
    """

    def __init__(self, pool: OpponentPool, rows: int) -> None:
        self.pool = pool
        self.names = np.full(rows, CURRENT, object)
        self._players = np.full(rows, None, object)

    def begin(self, rows: npt.NDArray[np.int64], seeds: npt.NDArray[np.uint64]) -> None:
        """See `RowPlayer.begin`."""
        chance = np.random.default_rng(seeds)
        for row, (name, player) in zip(rows, self.pool.draw(chance, len(rows)), strict=True):
            self.names[row] = name
            self._players[row] = player

    def act_rows(
        self, rows: npt.NDArray[np.int64], observations: Any, masks: Any, keys: Any
    ) -> npt.NDArray[np.int64]:
        """See `RowPlayer.act_rows`; every member decides for all its rows at once."""
        players = self._players[rows].tolist()
        # By identity: a player may compare with others as it likes, and need not be hashable.
        members = np.array([id(player) for player in players])
        actions = np.empty(len(rows), np.int64)
        for member, player in dict(zip(members.tolist(), players, strict=True)).items():
            own = members == member
            actions[own] = self._decide(player, observations[own], masks[own], keys[own])
        return actions

    def _decide(self, player: Any, observations: Any, masks: Any, keys: Any) -> Any:
        player = self.pool.current if player is None else player
        if isinstance(player, Network):  # it samples, whatever the exported player will do
            return player.decide(observations, masks, streams.key_halves(keys), cores())[0]
        return as_actions(player.act_batch(observations, masks, keys), len(masks))

    def __deepcopy__(self, memo: dict[int, Any]) -> PoolPlayers:
        return PoolPlayers(self.pool, len(self.names))
