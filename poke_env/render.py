"""Pictures of a table, for every game: text for `"ansi"` and `"human"`, pixels for `"rgb_array"`.

Both are drawn from one model. A game describes its table as blocks of lines (`games.base.Table`);
a line is cut into cells, which are words or runs of neighbouring cards, and the cells of a block
stand in columns. Text is plain, with cards as agents and people type them (`Ks`, a back `??`, a
lost card `(Ks)`); only `"human"` adds colour, and only on a terminal. Pixels are drawn with
Pillow, which is imported when the first picture is asked for.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import groupby, zip_longest
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

import gymnasium.error
import numpy as np
import numpy.typing as npt

from poke_env.cards import card_text
from poke_env.games.base import Card, Line, Table

if TYPE_CHECKING:
    from PIL import ImageDraw, ImageFont

__all__ = ["HEIGHT", "WIDTH", "ansi", "rgb_array", "show"]

WIDTH: Final = 1280
HEIGHT: Final = 720
"""Every picture has this size in pixels, so that a match can be written as a video."""


def show(table: Table, mode: str) -> str | npt.NDArray[np.uint8] | None:
    """The table in a render mode.

    Args:
        table: what the viewer may see.
        mode: `"ansi"`, `"rgb_array"` or `"human"`.

    Returns:
        Text without escape codes (`"ansi"`), uint8 (HEIGHT, WIDTH, 3) (`"rgb_array"`), or None
        after printing the text (`"human"`; red cards are red if it goes to a terminal and the
        variable NO_COLOR is not set).

    Raises:
        gymnasium.error.DependencyNotInstalled: `"rgb_array"` without Pillow.
    """
    if mode == "rgb_array":
        return rgb_array(table)
    text = ansi(table)
    if mode == "ansi":
        return text
    if sys.stdout is not None and sys.stdout.isatty() and not os.environ.get("NO_COLOR"):
        text = _RED_CARD.sub("\x1b[31m\\g<0>\x1b[0m", text)
    print(text, end="\n\n", flush=True)  # noqa: T201  this is what "human" asks for
    return None


# --- cells and columns ----------------------------------------------------------------------------

_Cell: TypeAlias = str | tuple[Card, ...]


def _cells(line: Line) -> list[_Cell]:
    """The label, then the line's words and its runs of neighbouring cards."""
    cells: list[_Cell] = [line.label]
    for kind, items in groupby(line.items, type):
        if kind is Card:
            cells.append(tuple(item for item in items if isinstance(item, Card)))
        else:
            cells += [item for item in items if isinstance(item, str)]
    return cells


class _Column(NamedTuple):
    width: float
    numbers: bool
    """Holds numbers, which stand at the right."""


def _columns(
    rows: Sequence[Sequence[_Cell]], measure: Callable[[_Cell, int], float]
) -> list[_Column]:
    """The columns of a block; `measure` gives the width of a cell in a row."""
    return [
        _Column(
            max(measure(cell, row) for row, cell in enumerate(column)),
            any(isinstance(cell, str) and cell.removeprefix("-").isdigit() for cell in column),
        )
        for column in zip_longest(*rows, fillvalue="")
    ]


# --- text -----------------------------------------------------------------------------------------

_RED_CARD = re.compile(r"\b[2-9TJQKA][dh]\b")


def ansi(table: Table) -> str:
    """The table as lines of plain ASCII: the title, then the blocks, all labels one column."""
    margin = max((len(line.label) for block in table.blocks for line in block), default=0)
    parts = [f"{table.title}\n{'-' * len(table.title)}"]
    for rows in ([_cells(line) for line in block] for block in table.blocks if block):
        columns = _columns(rows, lambda cell, row: len(_cell_text(cell)))
        columns[0] = _Column(margin, numbers=False)
        lines = []
        for row in rows:
            texts = [
                f"{_cell_text(cell):{'>' if column.numbers else '<'}{int(column.width)}}"
                for cell, column in zip(row, columns)
            ]
            lines.append("  ".join(texts).rstrip())
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def _cell_text(cell: _Cell) -> str:
    if isinstance(cell, str):
        return cell
    texts = ["??" if card.number is None else card_text(card.number) for card in cell]
    return "".join(f"({text})" if card.lowered else f" {text} " for card, text in zip(cell, texts))


# --- pixels ---------------------------------------------------------------------------------------

_Colour: TypeAlias = tuple[int, int, int]

_FELT: Final = (28, 96, 64)
_BAR: Final = (16, 66, 43)
_CHALK: Final = (238, 240, 226)
_PAPER: Final = (250, 245, 226)
_RULE: Final = (216, 204, 168)
_INK: Final = (40, 40, 48)
_RED: Final = (200, 30, 44)
_FACE: Final = (255, 255, 252)
_BACK: Final = (48, 80, 150)
_PATTERN: Final = (120, 150, 210)

_SMOOTH = 2
"""Pictures are drawn so many times larger and then shrunk."""
_MARGIN, _GAP, _TITLE = 20, 20, 52
_LETTERS, _HEADING = 19, 24
_LINE, _LARGE, _SMALL = 30, 88, 50
"""Height of a line of words, of the cards in a hand, and of other cards."""
_ASPECT, _STEP = 0.72, 0.80
"""Width of a card, and from one card to the next, as parts of its height."""


class _Panel(NamedTuple):
    """A block, laid out in the units of an unshrunk picture."""

    rows: list[list[_Cell]]
    sizes: list[int]
    """Height of the cards in each row, 0 in a row of words."""
    columns: list[_Column]

    @property
    def width(self) -> float:
        return sum(column.width + _GAP for column in self.columns) - _GAP

    @property
    def height(self) -> int:
        return sum(map(_row_height, self.sizes))


def _row_height(size: int) -> int:
    return max(_LINE, size + 8)


def rgb_array(table: Table) -> npt.NDArray[np.uint8]:
    """The table as a picture: cards at the left, the pad (blocks without cards) at the right.

    The first block with cards is the players' hands and its cards are large, but for lines with
    an indented label. A table that is too large for the picture is shrunk.

    Returns:
        uint8 (HEIGHT, WIDTH, 3), an array of one's own.

    Raises:
        gymnasium.error.DependencyNotInstalled: without Pillow.
    """
    try:
        from PIL import Image, ImageDraw
    except ImportError as error:
        raise gymnasium.error.DependencyNotInstalled(
            "render_mode 'rgb_array' needs Pillow: pip install 'sackson-poke[render]'"
        ) from error
    felt, pad = _panels(table)
    felt_width = max((panel.width for panel in felt), default=0)
    felt_height = sum(panel.height + _GAP for panel in felt) - _GAP
    pad_width, pad_height = pad.width + 2 * _GAP, pad.height + _GAP
    title_width = _font(_HEADING).getlength(table.title)
    width = max(title_width, felt_width + _GAP + pad_width) + 2 * _MARGIN
    height = _TITLE + max(felt_height, pad_height) + 2 * _MARGIN
    scale = min(1.0, WIDTH / width, HEIGHT / height)

    image = Image.new("RGB", (WIDTH * _SMOOTH, HEIGHT * _SMOOTH), _FELT)
    brush = _Brush(ImageDraw.Draw(image), _SMOOTH * scale)
    brush.box(0, 0, WIDTH / scale, _TITLE, _BAR)
    brush.words(table.title, _MARGIN, _TITLE / 2, _CHALK, _HEADING)
    top = _TITLE + _MARGIN
    if pad.rows:
        left = WIDTH / scale - _MARGIN - pad_width
        brush.box(left, top, left + pad_width, top + pad_height, _PAPER, radius=6)
        brush.panel(pad, left + _GAP, top + _GAP / 2, _INK, rule=_RULE)
    for panel in felt:
        brush.panel(panel, _MARGIN, top, _CHALK)
        top += panel.height + _GAP
    return np.array(image.reduce(_SMOOTH), np.uint8)


def _panels(table: Table) -> tuple[list[_Panel], _Panel]:
    """The blocks with cards, and all those of words alone as one, with empty rows between."""
    felt: list[_Panel] = []
    pad: list[Line] = []
    for block in table.blocks:
        sizes = [
            0 if all(isinstance(item, str) for item in line.items)
            else _SMALL if felt or line.label.startswith(" ")
            else _LARGE
            for line in block
        ]  # fmt: skip
        if any(sizes):
            felt.append(_panel(block, sizes))
        elif block:
            pad += [Line("", ()), *block] if pad else block
    return felt, _panel(pad, [0] * len(pad))


def _panel(lines: Sequence[Line], sizes: list[int]) -> _Panel:
    def measure(cell: _Cell, row: int) -> float:
        if isinstance(cell, str):
            return _font(_LETTERS).getlength(cell)
        return sizes[row] * (_STEP * len(cell) - _STEP + _ASPECT)

    rows = [_cells(line) for line in lines]
    return _Panel(rows, sizes, _columns(rows, measure))


@lru_cache(maxsize=64)
def _font(size: int) -> ImageFont.FreeTypeFont:
    """Pillow's built-in font, `size` pixels high."""
    from PIL import ImageFont

    font = ImageFont.load_default(size)
    assert isinstance(font, ImageFont.FreeTypeFont)
    return font


class _Brush:
    """Draws on an image that is `zoom` times as large as the units given here."""

    def __init__(self, draw: ImageDraw.ImageDraw, zoom: float) -> None:
        self._draw = draw
        self._zoom = zoom

    def box(
        self,
        left: float,
        top: float,
        right: float,
        bottom: float,
        fill: _Colour,
        radius: float = 0,
        edge: _Colour | None = None,
    ) -> None:
        zoom = self._zoom
        self._draw.rounded_rectangle(
            (left * zoom, top * zoom, right * zoom, bottom * zoom),
            radius * zoom,
            fill,
            edge,
            round(zoom),
        )

    def words(
        self,
        text: str,
        x: float,
        y: float,
        fill: _Colour,
        size: float = _LETTERS,
        anchor: str = "lm",
    ) -> None:
        zoom = self._zoom
        self._draw.text((x * zoom, y * zoom), text, fill, _font(round(size * zoom)), anchor)

    def shape(
        self, polygons: Sequence[npt.NDArray[np.float64]], x: float, y: float, size: float,
        fill: _Colour,
    ) -> None:  # fmt: skip
        """Polygons given around (0, 0), one unit high, drawn around (x, y) and `size` high."""
        for polygon in polygons:
            points = (polygon * size + (x, y)) * self._zoom
            self._draw.polygon(points.ravel().tolist(), fill)

    def panel(
        self, panel: _Panel, left: float, top: float, ink: _Colour, rule: _Colour | None = None
    ) -> None:
        """A block; `rule` is the colour of the lines between its rows, None for none."""
        y: float = top
        for cells, size in zip(panel.rows, panel.sizes):
            height = _row_height(size)
            if rule is not None and y > top:
                self.box(left, y, left + panel.width, y, rule)
            x = left
            y += height
            for cell, column in zip(cells, panel.columns):
                middle = y - height / 2
                if not isinstance(cell, str):
                    for place, card in enumerate(cell):
                        self.card(card, x + place * _STEP * size, middle - size / 2, size)
                elif column.numbers:
                    self.words(cell, x + column.width, middle, ink, anchor="rm")
                else:
                    self.words(cell, x, middle, ink)
                x += column.width + _GAP

    def card(self, card: Card, left: float, top: float, height: float) -> None:
        """A card, face or back; a lowered one lies in the shade."""
        width = _ASPECT * height
        shade = _shaded if card.lowered else lambda colour: colour
        right, bottom, radius = left + width, top + height, 0.09 * height
        self.box(left, top, right, bottom, shade(_FACE), radius, edge=shade(_INK))
        if card.number is None:
            rim = 0.06 * height
            self.box(left + rim, top + rim, right - rim, bottom - rim, shade(_BACK), radius / 2)
            for row in range(5):
                for column in range(3):
                    self.shape(
                        _SHAPES["d"],
                        left + width * (0.26 + 0.24 * column),
                        top + height * (0.18 + 0.16 * row),
                        0.13 * height,
                        shade(_PATTERN),
                    )
            return
        text = card_text(card.number)
        rank, suit = text[0], text[1]
        ink = shade(_RED if suit in "dh1" else _INK)
        rank = {"T": "10", "*": ""}.get(rank, rank)
        self.words(rank, left + 0.08 * height, top + 0.24 * height, ink, 0.38 * height)
        self.shape(_SHAPES[suit], right - 0.27 * height, bottom - 0.29 * height, 0.42 * height, ink)


def _shaded(colour: _Colour) -> _Colour:
    red, green, blue = ((2 * own + 3 * felt) // 5 for own, felt in zip(colour, _FELT))
    return red, green, blue


def _shapes() -> dict[str, tuple[npt.NDArray[np.float64], ...]]:
    """Polygons float64 (N, 2) of the four suits, and of the jokers 1 and 2; y grows downwards."""
    turn = np.linspace(0, 2 * np.pi, 48, endpoint=False)
    sine, cosine = np.sin(turn), np.cos(turn)
    circle = np.stack([sine, cosine], axis=1)
    heart_y = 13 * cosine - 5 * np.cos(2 * turn) - 2 * np.cos(3 * turn) - np.cos(4 * turn)
    heart = np.stack([16 * sine**3, -2.5 - heart_y], axis=1) / 30
    stem = np.array([(0.05, 0.0), (0.2, 0.5), (-0.2, 0.5), (-0.05, 0.0)])
    corners = np.pi * np.arange(10) / 5
    radius = np.where(np.arange(10) % 2, 0.22, 0.55)
    star = np.stack([np.sin(corners), -np.cos(corners)], axis=1) * radius[:, None]
    return {
        "c": (*(0.23 * circle + centre for centre in ((0, -0.27), (-0.26, 0.08), (0.26, 0.08))),
              stem, 0.12 * circle),
        "d": (np.array([(0.0, -0.5), (0.38, 0.0), (0.0, 0.5), (-0.38, 0.0)]),),
        "h": (heart,),
        "s": (heart * (0.9, -0.85) - (0, 0.07), stem),
        "1": (star,),
        "2": (star,),
    }  # fmt: skip


_SHAPES: Final = _shapes()
