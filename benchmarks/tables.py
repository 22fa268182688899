"""Tables of measurements, printed as Markdown so that they can be copied into the documentation."""

from __future__ import annotations

from typing import Any, NamedTuple


class Table(NamedTuple):
    """A table of measurements.

    Attributes:
        title, columns, rows: as they are printed.
        note: on what it was measured, and how.
        data: the measurements that the rows were made from, for the JSON file.
    """

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str
    data: dict[str, Any] = {}


def print_table(table: Table) -> None:
    """Print a table as Markdown."""
    print(f"\n### {table.title}\n")
    print("| " + " | ".join(table.columns) + " |")
    print("|---" * len(table.columns) + "|")
    for row in table.rows:
        print("| " + " | ".join(row) + " |")
    print(f"\n{table.note}", flush=True)
