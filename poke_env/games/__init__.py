"""The rules. One file a game; nothing here knows of environments or players."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from poke_env._checks import shown
from poke_env.games.base import GAMES, Game

NAMES = tuple(sorted(module.name for module in iter_modules(__path__) if module.name != "base"))
"""The games there are."""


def named(name: Any) -> Game:
    """The game called `name`, or `name` itself if it is a game.

    Raises:
        ValueError: naming the games there are.
    """
    if isinstance(name, Game):
        return name
    if not isinstance(name, str) or name not in NAMES:
        raise ValueError(f"game must be one of {', '.join(map(repr, NAMES))}, got {shown(name)}")
    import_module(f"poke_env.games.{name}")
    return GAMES[name]
