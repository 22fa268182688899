"""Players of many matches at once, one a row: an agent for all rows, copies of it, or several."""

from __future__ import annotations

import copy
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from poke_env._checks import as_integer, shown
from poke_env.agent import Agent, Completed, Keys, Masks, Observations, as_agent


@runtime_checkable
class RowPlayer(Protocol):
    """Whoever plays many matches at once, one a row, and may be somebody else in each of them."""

    def begin(self, rows: npt.NDArray[np.int64], seeds: npt.NDArray[np.uint64]) -> None:
        """A match begins in some rows: their numbers (n,), and a seed for each."""

    def act_rows(
        self, rows: npt.NDArray[np.int64], observations: Observations, masks: Masks, keys: Keys
    ) -> Any:
        """Actions in some rows, (n,), as the players return them (see `as_actions`).

        Args:
            rows: int64 (n,), their numbers.
            observations, masks, keys: float32 (n, F), int8 (n, A), uint64 (n,).
        """


def as_row_player(player: Any, rows: int) -> RowPlayer:
    """`player` for so many rows.

    A `RowPlayer` stays what it is. An `Agent` decides for all rows in one call, since its choices
    depend on observation, mask and key alone, and is reset when matches begin in all of them. One
    that has only `act`, or whose class overrides `act` and not `act_batch`, may remember its match:
    every row gets a copy, which is reset before every match.

    Raises:
        ValueError: if it has no `act`, or cannot be copied.
    """
    if isinstance(player, RowPlayer) and not isinstance(player, type):
        return player
    agent = as_agent(player)
    return AllRows(agent, rows) if decides_in_batches(agent) else RowByRow(agent, rows)


def copies_for(player: Any, seats: int) -> int:
    """How many copies of a player so many seats of one table take: one, or one each.

    One that has only `act` may remember what it saw, and what one seat sees is not for another. All
    others have one for all seats, which is asked once for all rows.

    Raises:
        ValueError: if it has no `act`.
    """
    if isinstance(player, RowPlayer) and not isinstance(player, type):
        return 1
    return 1 if decides_in_batches(as_agent(player)) else seats


def decides_in_batches(agent: Agent) -> bool:
    """Whether `act_batch` speaks for an agent: no class further down has another `act`."""
    if isinstance(agent, Completed) or "act" in getattr(agent, "__dict__", {}):
        return False
    for kind in type(agent).__mro__:
        if "act_batch" in vars(kind):
            return True
        if "act" in vars(kind):
            return False
    return True


class AllRows:
    """An agent that decides for all rows in one call."""

    def __init__(self, agent: Agent, rows: int) -> None:
        self.agent = agent
        self._count = rows

    def begin(self, rows: npt.NDArray[np.int64], seeds: npt.NDArray[np.uint64]) -> None:
        """See `RowPlayer.begin`."""
        if len(rows) == self._count:
            self.agent.reset(int(seeds[0]))

    def act_rows(
        self, rows: npt.NDArray[np.int64], observations: Observations, masks: Masks, keys: Keys
    ) -> Any:
        """See `RowPlayer.act_rows`."""
        return self.agent.act_batch(observations, masks, keys)


class RowByRow:
    """An agent that has only `act`: a copy for every row."""

    def __init__(self, agent: Agent, rows: int) -> None:
        try:
            self.agents = [copy.deepcopy(agent) for _ in range(rows)]
        except Exception as error:
            raise ValueError(
                f"a player that has only act must allow copy.deepcopy, one copy for each row, but "
                f"{type(error).__name__}: {error}"
            ) from error

    def begin(self, rows: npt.NDArray[np.int64], seeds: npt.NDArray[np.uint64]) -> None:
        """See `RowPlayer.begin`."""
        for row, seed in zip(rows.tolist(), seeds.tolist()):
            self.agents[row].reset(seed)

    def act_rows(
        self, rows: npt.NDArray[np.int64], observations: Observations, masks: Masks, keys: Keys
    ) -> Any:
        """See `RowPlayer.act_rows`."""
        return [
            self.agents[row].act({"observation": seen, "action_mask": mask}, key)
            for row, seen, mask, key in zip(rows.tolist(), observations, masks, keys)
        ]


NO_ACTION = -(2**31)
"""Stands for what is no integer among the actions of a player."""


def as_actions(chosen: Any, count: int) -> npt.NDArray[np.int64]:
    """What a player returned as int64 (count,); whatever is no integer becomes `NO_ACTION`.

    Raises:
        ValueError: if it is not one thing for each row.
    """
    if isinstance(chosen, np.ndarray) and chosen.dtype.kind in "iu" and chosen.shape == (count,):
        return chosen.astype(np.int64)
    try:
        given = list(chosen)
    except TypeError:
        given = []
    if len(given) != count:
        raise ValueError(f"a player must return {count} actions, one a row, got {shown(chosen)}")
    numbers = (as_integer(action) for action in given)
    return np.array(
        [NO_ACTION if number is None else max(-(2**62), min(number, 2**62)) for number in numbers],
        np.int64,
    )
