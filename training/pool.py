"""Opponents for self-play: the current policy, snapshots of earlier ones, scripted players.

One `OpponentPool` is shared by all environments of a run. Each environment plays against a
`PoolOpponent` of its own, which draws an opponent from the pool when a match begins and keeps it
until the match ends.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from agents.network import Network, NetworkAgent
from poke_env.agent import Agent

CURRENT = "current"
SNAPSHOT = "snapshot"


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
    """

    current: Network
    shares: tuple[float, float, float] = (1.0, 0.0, 0.0)
    scripted: Mapping[str, Agent] = field(default_factory=dict)
    size: int = 1
    snapshots: dict[int, Network] = field(default_factory=dict)
    results: dict[str, Tally] = field(default_factory=dict)

    def add_snapshot(self, step: int, network: Network) -> None:
        """Keep the policy of a training step as an opponent."""
        self.snapshots[step] = network
        while len(self.snapshots) > self.size:
            del self.snapshots[next(iter(self.snapshots))]

    def draw(self, chance: np.random.Generator) -> tuple[str, Network | None]:
        """The kind of the next opponent (the name of a scripted one), and a network's weights."""
        _, snapshots, scripted = self.shares
        point = chance.random()
        if point < scripted and self.scripted:
            names = list(self.scripted)
            return names[int(chance.integers(len(names)))], None
        if point >= 1.0 - snapshots and self.snapshots:
            networks = list(self.snapshots.values())
            return SNAPSHOT, networks[int(chance.integers(len(networks)))]
        return CURRENT, self.current


class PoolOpponent:
    """An `Agent` that is, in every match, another member of the pool.

    `reset(seed)` chooses the opponent of the coming match; the same seed and pool choose the same
    one. An environment copies its opponent: copies share the pool and nothing else.

    Args:
        pool: shared, changed by the training loop between updates.
        deterministic: whether networks play their likeliest action instead of sampling.

    Attributes:
        name: kind of the opponent of this match: `"current"`, `"snapshot"` or a scripted name.
    """

    def __init__(self, pool: OpponentPool, deterministic: bool = False) -> None:
        self._pool = pool
        self._deterministic = deterministic
        self._scripted = {name: copy.deepcopy(agent) for name, agent in pool.scripted.items()}
        self.reset(0)

    def reset(self, seed: int | None = None) -> None:
        """Choose the opponent of the coming match; None takes entropy from the system."""
        chance = np.random.default_rng(seed)
        self.name, network = self._pool.draw(chance)
        own_seed = int(chance.integers(2**63))
        self._player: Agent
        if network is None:
            self._player = self._scripted[self.name]
            self._player.reset(own_seed)
        else:
            self._player = NetworkAgent(network, own_seed, self._deterministic)

    def act(self, observation: Mapping[str, Any], key: Any = None) -> int:
        """See `Agent.act`."""
        return self._player.act(observation, key)

    def act_batch(self, observations: Any, masks: Any, keys: Any = None) -> Any:
        """See `Agent.act_batch`."""
        return self._player.act_batch(observations, masks, keys)

    def __deepcopy__(self, memo: dict[int, Any]) -> PoolOpponent:
        return PoolOpponent(self._pool, self._deterministic)
