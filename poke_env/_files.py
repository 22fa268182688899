"""Files that are either whole or not there, and folders that can be written to."""

from __future__ import annotations

import io
import lzma
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

_DAMAGE = (
    ValueError, TypeError, EOFError, KeyError, IndexError, NotImplementedError, zipfile.BadZipFile,
    zlib.error, lzma.LZMAError, struct.error,
)  # fmt: skip
"""What NumPy and the libraries below it say to a file that is damaged."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Write a file under another name, which becomes `path` when the block ends without an error.

    Until then `path` is as it was, whatever happens to the process. The name handed out lies in
    the same folder and has the same suffix, for libraries that look at it.
    """
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield temporary
        with temporary.open("rb+") as written:
            os.fsync(written.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def write(path: Path, content: str | bytes) -> None:
    """Write a whole file at once; text in UTF-8. An existing file is replaced."""
    data = content.encode() if isinstance(content, str) else content
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def load_arrays(content: bytes, *needed: str) -> dict[str, npt.NDArray[Any]]:
    """All arrays of an npz file.

    Args:
        content: of the file.
        needed: names of arrays that it must hold.

    Raises:
        ValueError: if it is no such file, or damaged; it is never taken for a pickle.
    """
    file = io.BytesIO(content)
    if not zipfile.is_zipfile(file):
        raise ValueError("it is no npz file, or not a whole one")
    try:
        with np.load(file, allow_pickle=False) as stored:
            arrays = dict(stored)
    except _DAMAGE as error:
        raise ValueError(f"it is damaged: {error}") from error
    for name in needed:
        if name not in arrays:
            raise ValueError(f"it holds no {name}")
    return arrays


def writable_folder(path: str | Path, name: str = "out") -> Path:
    """Make the folder if it is missing, and try whether files can be written into it.

    Args:
        path: the folder.
        name: what the error calls it.

    Raises:
        OSError: naming the folder and the reason.
    """
    folder = Path(path)
    trial = folder / f".{os.getpid()}-trial"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        trial.write_bytes(b"")
        trial.unlink()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OSError(
            f"{name} must be a folder that can be written to, but {folder}: {reason}"
        ) from (error)
    return folder


def _sync_folder(folder: Path) -> None:
    """Make a renaming last; where folders cannot be opened (Windows) the system sees to it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
