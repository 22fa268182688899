"""Measure speed and size, with every peer in the same run: `python -m benchmarks [NAME ...]`.

Without names all benchmarks run. Figures depend on the machine and on what else it does; ratios
come from alternating rounds on the same cores. A peer that is not installed is named, and its rows
are left out.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import (
    aec,
    batch,
    costs,
    games,
    growth,
    machine,
    parts,
    peers,
    players,
    rollouts,
    settings,
    training,
)
from benchmarks.rounds import Scale
from benchmarks.tables import print_table

# In this order, whatever the order of the names: the threads of JAX come last, and with them
# nothing is measured but what JAX is compared with.
BENCHMARKS = {
    "aec": aec.measure,
    "costs": costs.measure,
    "growth": growth.measure,
    "players": players.measure,
    "training": training.measure,
    "settings": settings.measure,
    "parts": parts.measure,
    "batch": batch.measure,
    "games": games.measure,
    "rollouts": rollouts.measure,
}
SCHEMA_VERSION = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the named benchmarks, or all; returns the exit code."""
    names = ", ".join(BENCHMARKS)
    parser = argparse.ArgumentParser("python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"one of: {names}")
    parser.add_argument("--quick", action="store_true", help="a short run; its figures say little")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the results as JSON, too")
    asked = parser.parse_args(arguments)
    for name in asked.names:
        if name not in BENCHMARKS:
            parser.error(f"unknown benchmark {name!r}; there are: {names}")
    scale = Scale(asked.quick)
    document = {"schema_version": SCHEMA_VERSION, "quick": asked.quick, **machine.describe()}
    print(
        f"{document['processor']}, {document['cores']} cores, "
        f"Python {document['versions']['python']}, "
        f"load average at the start {document['load_average'][0]:.1f}"
    )
    if asked.quick:
        print("This is a quick run: it shows that everything works, and its figures say little.")
    results = document["benchmarks"] = {}
    for name, measure in BENCHMARKS.items():
        if asked.names and name not in asked.names:
            continue
        start = time.perf_counter()
        tables = measure(scale)
        missing = peers.take_missing()
        for table in tables:
            print_table(table)
        if missing:
            print(f"\n{peers.advice(missing)}", flush=True)
        results[name] = {
            "seconds": round(time.perf_counter() - start, 3),
            "missing": missing,
            "tables": [table._asdict() for table in tables],
        }
        if asked.out:  # after each one, so that an interrupted run keeps what it has
            asked.out.parent.mkdir(parents=True, exist_ok=True)
            asked.out.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
