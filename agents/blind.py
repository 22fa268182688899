"""A player that does not see the score: it plays every deal as the first of a rubber."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import agents
from poke_env.agent import Keys, Masks, Observations
from poke_env.games.poke import POKE
from poke_env.observation import slices

_SCORE = [slices(POKE)[name] for name in ("below", "above", "games")]


def without_score(observations: Any) -> Any:
    """A copy of observations float32 (..., F) in which every number of the score is 0."""
    hidden = np.array(observations, np.float32)
    for place in _SCORE:
        hidden[..., place] = 0.0
    return hidden


class BlindAgent:
    """Shows another player the score of a rubber's beginning, whatever it is.

    Args:
        seed: of the player's own stream.
        player: whom, as `agents.load` understands it.

    Raises:
        ValueError: if there is no such player.
    """

    sees_score = False

    def __init__(self, seed: int | None = 0, player: str = "heuristic") -> None:
        self.player = agents.load(player, seed)

    def act(self, observation: Mapping[str, Any], key: Any = None) -> int:
        """See `Agent.act`."""
        seen = without_score(observation["observation"])
        return self.player.act(
            {"observation": seen, "action_mask": observation["action_mask"]}, key
        )

    def act_batch(self, observations: Observations, masks: Masks, keys: Keys | None = None) -> Any:
        """See `Agent.act_batch`."""
        return self.player.act_batch(without_score(observations), masks, keys)

    def reset(self, seed: int | None = None) -> None:
        """See `Agent.reset`."""
        self.player.reset(seed)
