"""Run every benchmark and print its table: `python -m benchmarks [NAME ...]`."""

from __future__ import annotations

import sys

from benchmarks import aec, costs
from benchmarks.tables import print_table

BENCHMARKS = {"aec": aec.measure, "costs": costs.measure}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all; returns the exit code."""
    if {"-h", "--help"} & set(names):
        print(f"{__doc__}\n\nNAME is one of: {', '.join(BENCHMARKS)}")
        return 0
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(
            f"unknown benchmark {unknown[0]!r}; there are: {', '.join(BENCHMARKS)}", file=sys.stderr
        )
        return 2
    for name in names or BENCHMARKS:
        print_table(BENCHMARKS[name]())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
