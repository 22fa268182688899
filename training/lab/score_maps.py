"""Scores as columns of a table, as arguments of a command, and as maps.

A score is always written as the dealer of the coming deal sees it: his points below the line and
the other's, his games and the other's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from poke_env.equity import Floats, places, scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Score = tuple[int, int, int, int]
"""Points below the line of dealer and other, games of dealer and other."""

GAMES = ((0, 0), (0, 1), (1, 0), (1, 1))
"""Games of the dealer and the other, in the order of the maps."""

SHOWN: tuple[Score, ...] = (
    (0, 0, 0, 0),
    (10, 10, 0, 0),
    (15, 5, 0, 0),
    (5, 15, 0, 0),
    (0, 0, 1, 0),
    (0, 0, 0, 1),
    (0, 0, 1, 1),
    (15, 15, 1, 1),
)
"""Scores that commands print when none are named."""


def place_of(score: Score, target: int) -> int:
    """The place of a score in the equity table.

    Raises:
        ValueError: if no deal can begin at it.
    """
    own, other, *games = score
    tied = own == other == target
    if not (tied or (0 <= own < target and 0 <= other < target)) or not {*games} <= {0, 1}:
        raise ValueError(
            f"scores must be points below the line of dealer and other from 0 to {target - 1} (or "
            f"{target} {target}, a tie) and games of dealer and other, 0 or 1; got {list(score)}"
        )
    return int(places(target)[score])


def places_of(named: Sequence[Score], target: int) -> list[int]:
    """The places of scores in the equity table.

    Raises:
        ValueError: if there are none, or no deal can begin at one of them.
    """
    if not named:
        raise ValueError("scores must be one or more, got none")
    return [place_of(score, target) for score in named]


def columns(place: int, target: int) -> dict[str, Any]:
    """The columns that say which score a row is about."""
    return dict(zip(_COLUMNS, scores(target)[place].tolist(), strict=True))


_COLUMNS = ("below_dealer", "below_other", "games_dealer", "games_other")


def printed(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Rows with the columns of the score in one text, for a narrow table: "15–5 1–0"."""
    found = []
    for row in rows:
        own, other, own_games, other_games = (row[name] for name in _COLUMNS)
        rest = {name: value for name, value in row.items() if name not in _COLUMNS}
        found.append({"score": f"{own}–{other}\u00a0{own_games}–{other_games}"} | rest)
    return found


def exchanged(place: int, target: int) -> int:
    """The place of the same score when the other seat deals."""
    own, other, own_games, other_games = scores(target)[place]
    return int(places(target)[other, own, other_games, own_games])


def text(place: int, target: int) -> str:
    """A score in words, the dealer's numbers first."""
    own, other, own_games, other_games = scores(target)[place].tolist()
    return f"{own}–{other}, games {own_games}–{other_games}"


class Map(NamedTuple):
    """One line of maps, one for each score in games.

    Attributes:
        name: what is shown.
        numbers: float64 (places,); NaN stays blank.
        low, high: ends of the scale of colours; numbers above it have the colour of its end.
        colours: its name in matplotlib.
        limit: scores with numbers below it are marked with a dot.
    """

    name: str
    numbers: Floats
    low: float
    high: float
    colours: str = "viridis"
    limit: float | None = None


def draw(title: str, maps: Sequence[Map], target: int, width: float = 16.0) -> Figure:
    """Maps over the points below the line, a column for each score in games.

    Args:
        title: of the whole.
        maps: the lines.
        target: points below the line that end a game.
        width: of the picture, in inches; its letters do not shrink with it.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, 0.6 + 0.23 * width * len(maps)), layout="constrained")
    listed = scores(target)
    for line, shown in zip(
        figure.subplots(len(maps), len(GAMES), squeeze=False), maps, strict=True
    ):
        for axis, games in zip(line, GAMES, strict=True):
            here = (listed[:, 2:] == games).all(axis=1) & (listed[:, 0] < target)
            grid = np.zeros((target, target))
            grid[listed[here, 0], listed[here, 1]] = shown.numbers[here]
            image = axis.imshow(
                grid, origin="lower", cmap=shown.colours, vmin=shown.low, vmax=shown.high
            )
            if shown.limit is not None:
                marked = np.argwhere(grid < shown.limit)
                axis.plot(marked[:, 1], marked[:, 0], ".", color="white", markersize=3)
            axis.set(
                title=f"{shown.name}: games {games[0]}–{games[1]}",
                xlabel="below the line: other",
                ylabel="below the line: dealer",
                xticks=range(0, target, 4),
                yticks=range(0, target, 4),
            )
            axis.title.set_fontsize("small")
        beyond = "max" if np.nanmax(shown.numbers) > shown.high else "neither"
        figure.colorbar(image, ax=line.tolist(), shrink=0.9, extend=beyond)
    figure.suptitle(title)
    return figure


def most(*numbers: Floats) -> float:
    """A high number with few above it, for a scale of colours that a handful must not stretch."""
    return float(np.nanquantile(np.concatenate(numbers), 0.98))


def reach(*numbers: Floats) -> float:
    """The largest absolute value, for a scale of colours that has 0 in its middle."""
    return max(float(np.nanmax(np.abs(array))) for array in numbers)
