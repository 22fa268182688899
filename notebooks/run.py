"""Run notebooks in clean kernels and keep the outputs: `python notebooks/run.py [NAME ...]`."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from poke_env import _files

FOLDER = Path(__file__).parent
SECONDS = 180
"""That a notebook may take on two idle cores. Tests allow it more: a busy machine is no fault."""
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
"""Of every notebook; what else Jupyter writes there changes from machine to machine."""


def execute(path: Path, seconds: float = SECONDS) -> str:
    """The text of a notebook with the outputs of a clean kernel, which works in a new folder.

    Args:
        path: the notebook.
        seconds: that it may take.

    Raises:
        nbclient.exceptions.CellExecutionError: if a cell raises.
        nbclient.exceptions.CellTimeoutError: if all cells together take longer.
    """
    notebook = nbformat.read(path, as_version=4)
    end = time.monotonic() + seconds
    # Plots appear as a reader sees them, whatever this process draws with.
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
    with tempfile.TemporaryDirectory() as folder:
        NotebookClient(
            notebook,
            kernel_name="python3",
            timeout_func=lambda cell: max(1.0, end - time.monotonic()),
            coalesce_streams=True,
            record_timing=False,
            resources={"metadata": {"path": folder}},
        ).execute(env=environment)
    return tidied(notebook)


def tidied(notebook: nbformat.NotebookNode) -> str:
    """The text of a notebook as it is stored, without what differs between two equal runs."""
    notebook.metadata = METADATA
    for cell in notebook.cells:
        cell.metadata = {}
    return nbformat.writes(notebook) + "\n"


def main(names: list[str]) -> None:
    """Run the named notebooks, or all of them, and write them back."""
    paths = [FOLDER / f"{name}.ipynb" for name in names] or sorted(FOLDER.glob("*.ipynb"))
    for path in paths:
        started = time.monotonic()
        _files.write(path, execute(path))
        print(f"{path.stem}: {time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main(sys.argv[1:])
