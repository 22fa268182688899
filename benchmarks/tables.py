"""Tables of measurements, printed as Markdown so that they can be copied into the documentation."""

from __future__ import annotations

from typing import NamedTuple


class Table(NamedTuple):
    """A table of measurements; `note` says on what they were made."""

    title: str
    columns: tuple[str, ...]
    rows: list[tuple[str, ...]]
    note: str


def print_table(table: Table) -> None:
    """Print a table as Markdown."""
    print(f"\n### {table.title}\n")
    print("| " + " | ".join(table.columns) + " |")
    print("|---" * len(table.columns) + "|")
    for row in table.rows:
        print("| " + " | ".join(row) + " |")
    print(f"\n{table.note}", flush=True)
