"""Named pieces over one flat observation: slices, ranges, and the table of the documentation.

A game declares its `view` (a sequence of `Piece`) once; the layout, the space's bounds and the
documentation are derived from it here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from poke_env.games.base import Game


def length(game: Game) -> int:
    """F, the number of floats in an observation."""
    return sum(piece.size for piece in game.view)


def slices(game: Game) -> dict[str, slice]:
    """Where each named piece lies in the flat observation, in order."""
    places = {}
    start = 0
    for piece in game.view:
        places[piece.name] = slice(start, start + piece.size)
        start += piece.size
    return places


def bounds(game: Game) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    """Least and greatest value of every number, float32 (F,) each."""
    sizes = [piece.size for piece in game.view]
    low = np.repeat([piece.low for piece in game.view], sizes).astype(np.float32)
    high = np.repeat([piece.high for piece in game.view], sizes).astype(np.float32)
    return low, high


def split(game: Game, observation: Any) -> dict[str, npt.NDArray[np.float32]]:
    """The named pieces of one observation, as views.

    Args:
        game: the game it comes from.
        observation: float32 (F,), or the environment's dict that holds it as `"observation"`.

    Raises:
        ValueError: if the length is another.
    """
    flat = observation["observation"] if isinstance(observation, Mapping) else observation
    flat = np.asarray(flat)
    if flat.shape != (length(game),):
        raise ValueError(
            f"observation must have shape ({length(game)},) in {game.name}, got {flat.shape}"
        )
    return {name: flat[place] for name, place in slices(game).items()}


def documentation_table(game: Game) -> str:
    """The layout as a Markdown table: index, name, range, meaning."""
    lines = ["| Index | Name | Range | Meaning |", "|---|---|---|---|"]
    for piece, place in zip(game.view, slices(game).values(), strict=True):
        last = place.stop - 1
        index = f"{place.start}" if piece.size == 1 else f"{place.start}–{last}"
        lines.append(
            f"| {index} | `{piece.name}` | {piece.low:g} to {piece.high:g} | {piece.meaning} |"
        )
    return "\n".join(lines) + "\n"
