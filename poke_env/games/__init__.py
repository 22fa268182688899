"""The rules. One file a game; nothing here knows of environments or players."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any

from poke_env._checks import shown
from poke_env.games.base import GAMES, Game

_NAMES = ("poke", "pokex", "poque", "poangpoker")
"""Each is the name of a game and of its module."""


def every() -> Mapping[str, Game]:
    """All games by name: those of this package, and behind them those registered elsewhere."""
    for name in _NAMES:
        import_module(f"{__name__}.{name}")
    return MappingProxyType({name: GAMES[name] for name in _NAMES} | GAMES)


def named(name: Any) -> Game:
    """The game called `name`, or `name` itself if it is a game.

    Raises:
        ValueError: naming the games there are.
    """
    if isinstance(name, Game):
        return name
    known = every()
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"game must be one of {', '.join(map(repr, known))}, got {shown(name)}")
    return known[name]
