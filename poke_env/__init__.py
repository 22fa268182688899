"""Environments for Sid Sackson's card game Poke and its cousins Pokex, Poque and Poängpoker.

There are PettingZoo's AEC, Gymnasium for one learner, and a native batch. Importing the package
registers `sackson/poke-v0`, `sackson/pokex-v0`, `sackson/poque-v0` and `sackson/poangpoker-v0` with
PettingZoo, and the same names with a capital letter, such as `sackson/Poke-v0`, with Gymnasium.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import gymnasium
import pettingzoo

if TYPE_CHECKING:
    from types import ModuleType

    from poke_env.games.base import Game
    from poke_env.vector import BatchEnv

__version__ = "0.1.0"

for _door in ("poke_v0", "pokex_v0", "poque_v0", "poangpoker_v0"):
    _name = _door.replace("_", "-")
    pettingzoo.register("aec", f"sackson/{_name}", f"poke_env.{_door}:env")
    gymnasium.register(
        f"sackson/{_name.capitalize()}",
        f"poke_env.{_door}:single_env",
        vector_entry_point=f"poke_env.{_door}:vector_env",
    )


def door(game: str | Game) -> ModuleType:
    """The module of a game's environments, such as `poke_env.poke_v0`.

    Raises:
        ValueError: naming the games there are.
    """
    from poke_env import games  # compiled code is only loaded where it is used

    found = games.named(game)
    return import_module(f"poke_env.{found.name}_v{found.version}")


def make_batch(game: str, num_envs: int, seed: int | None = None, **settings: Any) -> BatchEnv:
    """Many matches of a game, played by one call.

    Args:
        game: its name, such as `"poke"`.
        num_envs, seed, **settings: as for `poke_env.vector.BatchEnv`.

    Raises:
        ValueError: naming the argument, the value and what is allowed.
    """
    from poke_env import games, vector

    return vector.BatchEnv(games.named(game), num_envs, seed, **settings)
