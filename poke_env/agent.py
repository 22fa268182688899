"""What a player is: the `Agent` protocol, a base class that keeps its promises, `RandomAgent`.

An agent sees observations and never an environment. All chance of a decision comes from its key,
so that a choice depends on observation, mask and key alone, however decisions are batched.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, Protocol, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from poke_env import streams
from poke_env._checks import as_integer, check_integer, shown
from poke_env._jit import compiled

Observations = npt.NDArray[np.float32]
Masks = npt.NDArray[np.int8]
Keys = npt.NDArray[np.uint64]


@runtime_checkable
class Agent(Protocol):
    """A player."""

    def act(self, observation: Mapping[str, Any], key: Any = None) -> int:
        """Choose a legal action.

        Args:
            observation: `{"observation": float32 (F,), "action_mask": int8 (A,)}`, left unchanged.
            key: one uint64 from which all chance of this decision comes; without it the agent's
                own stream gives one.

        Raises:
            ValueError: if the mask allows no action.
        """

    def act_batch(self, observations: Observations, masks: Masks, keys: Keys | None = None) -> Any:
        """Choose for every row: float32 (B, F), int8 (B, A), uint64 (B,) or None -> int64 (B,)."""

    def reset(self, seed: int | None = None) -> None:
        """Restart the agent's own stream; called before a match."""


def as_agent(player: Any) -> Agent:
    """`player` itself if it is an `Agent`; one that has only `act` is completed.

    Raises:
        ValueError: if it has no `act`.
    """
    if isinstance(player, type) or not callable(getattr(player, "act", None)):
        raise ValueError(
            "a player must have act(observation, key), as poke_env.agent.KeyedAgent has, "
            f"got {shown(player)}"
        )
    return player if isinstance(player, Agent) else Completed(player)


class Completed:
    """A player that has only `act`: decides row by row, and is reset if it can be."""

    def __init__(self, player: Any) -> None:
        self.player = player

    def act(self, observation: Mapping[str, Any], key: Any = None) -> int:
        """See `Agent.act`."""
        return cast(int, self.player.act(observation, key))

    def act_batch(self, observations: Observations, masks: Masks, keys: Keys | None = None) -> Any:
        """See `Agent.act_batch`."""
        given = [None] * len(masks) if keys is None else keys
        chosen = np.empty(len(masks), object)
        for row, (seen, mask, key) in enumerate(zip(observations, masks, given)):
            chosen[row] = self.act({"observation": seen, "action_mask": mask}, key)
        numbers = [as_integer(action) for action in chosen]
        # What is no integer, or none of 64 bits, stays what it is: the caller has to see it.
        if all(number is not None and -(2**63) <= number < 2**63 for number in numbers):
            return np.array(numbers, np.int64)
        return chosen

    def reset(self, seed: int | None = None) -> None:
        """See `Agent.reset`."""
        if hasattr(self.player, "reset"):
            self.player.reset(seed)


class KeyedAgent(ABC):
    """An agent that is one function of observations, masks and keys.

    Subclasses write `choose`; checking, keys and the single decision are the same for all.
    """

    def __init__(self, seed: int | None = 0) -> None:
        self.reset(seed)

    observation_size: int | None = None
    """F of the observations it can read; None is any."""
    action_sizes: tuple[int, ...] | None = None
    """Action counts A it can play with; None is any."""
    sees_score: bool = True
    """Whether its choices may depend on the score; of one where they do not, a deal at any score
    tells what it does at every other."""

    def reset(self, seed: int | None = None) -> None:
        """Restart the agent's own stream, which gives keys where the caller passes none."""
        self._stream = np.random.default_rng(streams.check_seed(seed))

    def act(self, observation: Mapping[str, Any], key: Any = None) -> int:
        """See `Agent.act`."""
        keys = None if key is None else [key]
        observed = np.asarray(observation["observation"])[np.newaxis]
        mask = np.asarray(observation["action_mask"])[np.newaxis]
        return int(self.act_batch(observed, mask, keys)[0])

    def act_batch(
        self, observations: Observations, masks: Masks, keys: Any = None
    ) -> npt.NDArray[np.int64]:
        """See `Agent.act_batch`."""
        # One layout, so that compiled players are compiled once.
        observations = np.require(observations, np.float32, ["C", "W"])
        masks = np.require(masks, np.int8, ["C", "W"])
        self._check_shapes(observations, masks)
        if not masks.any(axis=1).all():
            rows = np.flatnonzero(~masks.any(axis=1)).tolist()
            raise ValueError(f"action_mask allows no action in rows {rows}: is the match over?")
        if keys is None:
            keys = self._stream.integers(0, 2**64, len(masks), np.uint64, endpoint=False)
        return self.choose(observations, masks, streams.key_halves(_as_keys(keys, len(masks))))

    def _check_shapes(self, observations: Observations, masks: Masks) -> None:
        """Compiled code does not look where it reads."""
        if observations.ndim != 2 or masks.ndim != 2 or len(observations) != len(masks):
            raise ValueError(
                "observations and masks must have shapes (B, F) and (B, A), "
                f"got {observations.shape} and {masks.shape}"
            )
        if self.observation_size not in (None, observations.shape[1]):
            raise ValueError(
                f"observations must have {self.observation_size} numbers for "
                f"{type(self).__name__}, got {observations.shape[1]}"
            )
        if self.action_sizes is not None and masks.shape[1] not in self.action_sizes:
            raise ValueError(
                f"masks must have one of {self.action_sizes} actions for "
                f"{type(self).__name__}, got {masks.shape[1]}"
            )

    @abstractmethod
    def choose(
        self, observations: Observations, masks: Masks, keys: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """Legal actions int64 (B,); `keys` are 32-bit halves, int64 (B, 2).

        `observations` and `masks` belong to the caller and must not be written to.
        """


def _as_keys(keys: Any, rows: int) -> Keys:
    """Keys as uint64 (B,); anything else is refused rather than rounded or wrapped."""
    given = keys if isinstance(keys, np.ndarray) and keys.dtype == np.uint64 else list(keys)
    if isinstance(given, list):
        given = np.array([check_integer("key", key, 0, 2**64 - 1) for key in given], np.uint64)
    if given.shape != (rows,):
        raise ValueError(f"keys must have shape ({rows},), one a row, got {given.shape}")
    return given


@compiled
def _choose_random(masks: Masks, keys: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    chosen = np.empty(masks.shape[0], np.int64)
    for i in range(masks.shape[0]):
        generator = streams.key_generator(keys[i, 0], keys[i, 1])
        chosen[i] = streams.random_legal(masks[i], generator)
    return chosen


class RandomAgent(KeyedAgent):
    """Plays every legal action with equal probability; the default opponent."""

    sees_score = False

    def choose(
        self, observations: Observations, masks: Masks, keys: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """See `KeyedAgent.choose`."""
        return _choose_random(masks, keys)
