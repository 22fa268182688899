"""Poängpoker, version 0."""

from __future__ import annotations

from typing import Any

from poke_env import observation
from poke_env.aec import CardGameEnv, Referee
from poke_env.games.poangpoker import POANGPOKER, Rules
from poke_env.single import SingleAgentEnv
from poke_env.single_vector import SingleAgentVectorEnv

__all__ = ["Rules", "decode", "env", "raw_env", "single_env", "vector_env"]


class raw_env(CardGameEnv):
    """The bare AEC environment: an illegal action raises and changes nothing."""

    game = POANGPOKER


class single_env(SingleAgentEnv):
    """The Gymnasium environment for one learner."""

    env_class = raw_env


class vector_env(SingleAgentVectorEnv):
    """The Gymnasium environment for one learner in many rows at once."""

    game = POANGPOKER


def env(
    match: str = "game",
    reward: str = "points",
    rules: Any = "standard",
    render_mode: str | None = None,
    **settings: Any,
) -> Referee:
    """The AEC environment for play: order is enforced, illegal actions forfeit the match.

    Arguments are those of `poke_env.aec.CardGameEnv`.
    """
    return Referee(raw_env(match, reward, rules, render_mode, **settings))


def decode(observed: Any) -> dict[str, Any]:
    """What an observation says, in plain values (see `poke_env.games.poangpoker.decode`).

    Args:
        observed: float32 (F,) or the environment's dict that holds it.
    """
    return POANGPOKER.decode(observation.split(POANGPOKER, observed))
