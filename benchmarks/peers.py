"""Which peers are installed, and how to get the others."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable

# Import name to the name on the index.
DISTRIBUTIONS = {
    "jax": "jax",
    "pgx": "pgx",
    "pyspiel": "open_spiel",
    "rlcard": "rlcard",
    "pettingzoo.classic.leduc_holdem_v4": "pettingzoo[classic]",
    "sb3_contrib": "sb3-contrib",
    "rich": "rich",
    "scipy": "scipy",
    "torch": "torch",
    "tyro": "tyro",
}

_missing: dict[str, None] = {}


def installed(*modules: str) -> bool:
    """Whether all of these can be imported; those that cannot are remembered for `missing`."""
    absent = [module for module in modules if importlib.util.find_spec(module) is None]
    _missing.update(dict.fromkeys(absent))
    return not absent


def has_classic() -> bool:
    """Whether PettingZoo's Leduc hold'em can be imported: it needs RLCard and pygame."""
    if all(importlib.util.find_spec(needed) is not None for needed in ("rlcard", "pygame")):
        return True
    _missing["pettingzoo.classic.leduc_holdem_v4"] = None
    return False


def take_missing() -> list[str]:
    """Distributions that were asked for in vain since the last call."""
    found = [DISTRIBUTIONS[module] for module in _missing]
    _missing.clear()
    return found


def advice(distributions: Iterable[str]) -> str:
    """What to say of missing peers, and how they are installed."""
    names = list(distributions)
    return (
        f"Not installed, and left out: {', '.join(names)}. "
        f"`pip install -c constraints.txt -e '.[dev,bench]'` installs all that is compared."
    )
