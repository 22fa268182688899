"""The compiled rules and the same source run as plain Python are one game."""

from __future__ import annotations

from pathlib import Path

import numba
from parity.digest_of_play import lines

from helpers import ROOT, run_python


def test_compiled_and_plain_play_differ() -> None:
    compiled_here = not numba.config.DISABLE_JIT
    other = run_python(
        str(Path(__file__).with_name("digest_of_play.py")),
        variables={"NUMBA_DISABLE_JIT": "1" if compiled_here else "0"},
        path=[ROOT, ROOT / "tests"],
    )
    assert other.splitlines() == list(lines())
