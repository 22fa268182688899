"""Environments for Sid Sackson's card game Poke: PettingZoo AEC, Gymnasium, and a native batch.

Importing the package registers `sackson/poke-v0` with PettingZoo and `sackson/Poke-v0` with
Gymnasium.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import gymnasium
import pettingzoo

if TYPE_CHECKING:
    from poke_env.vector import BatchEnv

__version__ = "0.1.0"

pettingzoo.register("aec", "sackson/poke-v0", "poke_env.poke_v0:env")
gymnasium.register(
    "sackson/Poke-v0",
    "poke_env.poke_v0:single_env",
    vector_entry_point="poke_env.poke_v0:vector_env",
)


def make_batch(game: str, num_envs: int, seed: int | None = None, **settings: Any) -> BatchEnv:
    """Many matches of a game, played by one call.

    Args:
        game: its name, such as `"poke"`.
        num_envs, seed, **settings: as for `poke_env.vector.BatchEnv`.

    Raises:
        ValueError: naming the argument, the value and what is allowed.
    """
    from poke_env import games, vector  # compiled code is only loaded where it is used

    return vector.BatchEnv(games.named(game), num_envs, seed, **settings)
