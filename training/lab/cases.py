"""Results made of several long cases: those that are done are kept, and not made again."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console

from poke_env import _files
from poke_env._jit import sources_digest

Case = dict[str, Any]
"""What a case brought, plain values of JSON."""


def solve_cases(
    makers: Mapping[str, Callable[[], Case]], path: Path, settings: Mapping[str, Any],
    console: Console,
) -> dict[str, Case]:  # fmt: skip
    """Make what is not there yet, one case after another, each kept when it is done.

    Args:
        makers: makes each case, by its name.
        path: the file that keeps them (*.json); the same settings and sources go on from there.
        settings: what the cases depend on beside the sources of the laboratory, plain values.
        console: where it is said what is being made.

    Raises:
        ValueError: if the file is damaged, or of other settings or sources.
    """
    identity = {**settings, "sources": sources_digest(Path(__file__).parent)}
    identity = json.loads(json.dumps(identity))
    done = _load(path, identity) if path.exists() else {}
    for number, (name, make) in enumerate(makers.items(), 1):
        if name not in done:
            console.print(f"case {number} of {len(makers)}: {name}")
            done[name] = json.loads(json.dumps(make()))
            _files.write(path, json.dumps({"identity": identity, "cases": done}))
    return {name: done[name] for name in makers}


def _load(path: Path, identity: Mapping[str, Any]) -> dict[str, Case]:
    try:
        kept = json.loads(path.read_text("utf-8"))
        cases: dict[str, Case] = kept["cases"]
        found = kept["identity"]
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"work file {path} is damaged, delete it: {error}") from error
    if found != identity:
        raise ValueError(
            f"work file {path} is from other settings or sources; delete it or choose another --out"
        )
    return cases
