"""How results are written: a table as CSV and JSON, and a picture, side by side.

OUT.csv    a line a row
OUT.json   what the result is, how it was made, and the rows
OUT.png    the picture

A notebook shows the same: `png` and `markdown` are what `IPython.display` takes.
"""

from __future__ import annotations

import csv
import io
import json
import math
import shlex
import sys
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

from poke_env import _files
from poke_env._jit import sources_digest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Row = Mapping[str, Any]
"""Names of columns and what stands there: numbers of any kind, texts, None."""

_PACKAGES = ("sackson-poke", "numpy", "numba", "scipy")


def folder_of(out: Path) -> Path:
    """The folder of a result's files, made if it is missing: to be asked for before long work.

    Args:
        out: path of the files, without a suffix.

    Raises:
        ValueError: if it names no file.
        OSError: if the folder cannot be written to.
    """
    if not out.name or out.name == "..":
        raise ValueError(f"out must be the name of files without a suffix, got {str(out)!r}")
    return _files.writable_folder(out.parent)


def load_work(path: Path, identity: str, *names: str) -> dict[str, npt.NDArray[Any]]:
    """The arrays of unfinished work, to go on with.

    Args:
        path: an npz file whose array `identity` says what it belongs to.
        identity: what it has to belong to.
        names: of the arrays.

    Raises:
        ValueError: if it is damaged, or belongs to something else.
    """
    try:
        stored = _files.load_arrays(path.read_bytes(), "identity", *names)
    except ValueError as error:
        raise ValueError(f"{path} is damaged, delete it: {error}") from error
    if str(stored["identity"]) != identity:
        raise ValueError(
            f"{path} is from other settings or sources ({stored['identity']}, now {identity}); "
            f"delete it or choose another --out"
        )
    return {name: stored[name] for name in names}


def save_work(path: Path, identity: str, **arrays: npt.NDArray[Any]) -> None:
    """Write unfinished work for `load_work`, whole or not at all.

    Args:
        path: the npz file.
        identity: what it belongs to.
        arrays: by name.
    """
    named: dict[str, Any] = {"identity": np.array(identity), **arrays}
    with _files.replacing(path) as temporary:
        np.savez(temporary, **named)


def sources(*modules: str) -> str:
    """A digest of modules of the laboratory, for the identity of work that depends on them."""
    here = Path(__file__).parent
    return sources_digest(*(here / f"{module}.py" for module in modules))


def write(out: Path, about: Mapping[str, Any], rows: Sequence[Row], figure: Figure | None) -> None:
    """Write a result; each file is whole or not there.

    Args:
        out: path of the files, without a suffix.
        about: what the result is and what it was made from, plain values.
        rows: the table; all with the same columns.
        figure: the picture, if there is one.

    Raises:
        ValueError, OSError: as `folder_of`.
    """
    folder = folder_of(out)
    rows = _plain(rows)
    text = io.StringIO()
    lines = csv.DictWriter(text, list(rows[0]) if rows else [], lineterminator="\n")
    lines.writeheader()
    lines.writerows(rows)
    _files.write(folder / f"{out.name}.csv", text.getvalue())
    document = {
        **_plain(about),
        "command": shlex.join(["python", "-m", "training.lab", *sys.argv[1:]]),
        "versions": {name: version(name) for name in _PACKAGES},
        "rows": rows,
    }
    numbers = json.dumps(document, indent=1, allow_nan=False)
    _files.write(folder / f"{out.name}.json", numbers + "\n")
    if figure is not None:
        with _files.replacing(folder / f"{out.name}.png") as picture:
            figure.savefig(picture, dpi=110)


def show(console: Console, title: str, rows: Sequence[Row], digits: int = 2) -> None:
    """Print a table; numbers that are no integers with so many digits after the point.

    Names of columns are shown with spaces, so that long ones are broken over lines.
    """
    table = Table(title=title, title_justify="left")
    for name in rows[0] if rows else ():
        number = any(isinstance(_plain(row[name]), (int, float)) for row in rows)
        table.add_column(name.replace("_", " "), justify="right" if number else "left")
    for row in rows:
        table.add_row(*(_text(value, digits) for value in row.values()))
    console.print(table)


def markdown(rows: Sequence[Row], digits: int = 2) -> str:
    """A table in Markdown; names of columns and numbers as in `show`.

    Args:
        rows: all with the same columns.
        digits: after the point, of numbers that are no integers.
    """
    if not rows:
        return ""
    names = list(rows[0])
    numbers = [any(isinstance(_plain(row[name]), (int, float)) for row in rows) for name in names]
    lines = [
        [name.replace("_", " ") for name in names],
        ["--:" if number else ":--" for number in numbers],
        *([_text(row[name], digits) for name in names] for row in rows),
    ]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def png(figure: Figure, dpi: int = 72) -> bytes:
    """A picture as a small PNG, of 256 colours.

    Args:
        figure: the picture.
        dpi: pixels for an inch of it.
    """
    from PIL import Image  # matplotlib's own dependency

    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=dpi)
    with Image.open(content) as picture:
        small = picture.convert("RGB").quantize(dither=Image.Dither.NONE)
    content = io.BytesIO()
    small.save(content, format="png", optimize=True)
    return content.getvalue()


def _text(value: Any, digits: int) -> str:
    value = _plain(value)
    if value is None:
        return ""
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def _plain(value: Any) -> Any:
    """A value of JSON for one of NumPy, or one that holds some; None for what is not finite."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {name: _plain(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
