"""What stands beside a rubber equity table: lines, numbers, a picture, and the drift of two."""

from __future__ import annotations

import csv
import io
import json
import shlex
import sys
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
from rich import box
from rich.console import Console
from rich.table import Table

from poke_env import _files, equity
from poke_env.equity import LEVELS, EquityTable, scores
from poke_env.games.poke import POKE
from training.lab import score_maps


def write(table: EquityTable, path: Path, limits: tuple[float, float]) -> None:
    """Write a table and all that stands beside it.

    Args:
        table: the table.
        path: its file; the others have the same name.
        limits: of the standard errors of E and W that were asked for.
    """
    _files.write(path.with_suffix(".csv"), as_csv(table))
    about = json.dumps(as_dict(table, limits), indent=2) + "\n"
    _files.write(path.with_suffix(".json"), about)
    with _files.replacing(path.with_suffix(".png")) as picture:
        plot(table, picture)
    _files.write(path, table.to_bytes())


def _by_player(table: EquityTable, row: int) -> tuple[Any, Any, int]:
    """Scores of all places as player_0 sees them: below and games, int64 (places, 2), dealer."""
    listed = scores(table.target).reshape(-1, 2, 2)
    listed = listed if row == 0 else listed[:, :, ::-1]
    return listed[:, 0], listed[:, 1], row


def as_csv(table: EquityTable) -> str:
    """A line a score and row: what the dealer may expect there."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(
        ("dealer", "below_dealer", "below_other", "games_dealer", "games_other", "expected",
         "expected_error", "win", "draw", "win_error", "visits")
    )  # fmt: skip
    for row in range(len(table.values)):
        where = _by_player(table, row)
        win = np.asarray(table.win_probability(*where))
        win = win if row == 0 else 1.0 - win
        draw = np.asarray(table.draw_probability(*where))
        who = "any" if len(table.values) == 1 else f"player_{row}"
        for place, score in enumerate(scores(table.target).tolist()):
            lines.writerow(
                (
                    who,
                    *score,
                    f"{table.values[row, place]:.3f}",
                    f"{table.errors[row, place]:.3f}",
                    f"{win[place]:.5f}",
                    f"{draw[place]:.5f}",
                    f"{table.win_errors[row, place]:.5f}",
                    f"{table.visits[row, place]:.6f}",
                )
            )
    return text.getvalue()


def as_dict(table: EquityTable, limits: tuple[float, float]) -> dict[str, Any]:
    """What a table was made of, and its errors, as plain values."""
    beginning = ((0, 0), (0, 0), 0)
    return {
        "version": table.version,
        "digest": table.digest,
        "policies": [dict(policy) for policy in table.policies],
        "rules": dict(table.rules),
        "deals": table.deals,
        "seed": table.seed,
        "beginning": {
            "expected": table.expected(*beginning),
            "expected_error": table.expected_error(*beginning),
            "win": table.win_probability(*beginning),
            "draw": table.draw_probability(*beginning),
            "win_error": table.win_error(*beginning),
            "deals_of_a_rubber": float(table.visits.sum()),
        },
        "largest_errors": {
            "expected": float(table.errors.max()),
            "win": float(table.win_errors.max()),
            "limits": {"expected": limits[0], "win": limits[1]},
        },
        "bytes": len(table.to_bytes()),
        "command": shlex.join(["python", "-m", "training.lab", *sys.argv[1:]]),
        "versions": {name: version(name) for name in ("sackson-poke", "numpy", "numba")},
    }


def install(table: EquityTable, console: Console) -> Path:
    """Make a table that of the environment, as the next version, and show the drift.

    Returns:
        Its file; the one before it is removed.
    """
    try:
        before = equity.shipped_path()
    except FileNotFoundError:
        before = None
    number = 1 if before is None else 1 + (equity.version_number(before) or 0)
    path = equity.DATA / f"{POKE.name}_equity_v{number}.npz"
    path.parent.mkdir(exist_ok=True)
    new = replace(table, version=path.stem)
    if before is not None:
        drift(EquityTable.load(before), new, console)
    _files.write(path, new.to_bytes())
    if before is not None:
        before.unlink()
    console.print(f"Installed as {path}", highlight=False, markup=False, soft_wrap=True)
    return path


def summary(table: EquityTable, console: Console) -> None:
    """Print what the dealer of a rubber's first deal may expect, and the errors."""
    shown = Table(box=box.SIMPLE_HEAD, title=f"{table.version}: {table.deals:,} deals")
    for name in ("", "first dealer expects", "s.e.", "largest s.e."):
        shown.add_column(name, justify="left" if not name else "right")
    start = ((0, 0), (0, 0), 0)
    shown.add_row(
        "E, points",
        f"{table.expected(*start):+.2f}",
        f"{table.expected_error(*start):.2f}",
        f"{table.errors.max():.2f}",
    )
    shown.add_row(
        "W, %",
        f"{100 * table.win_probability(*start):.2f}",
        f"{100 * table.win_error(*start):.3f}",
        f"{100 * table.win_errors.max():.3f}",
    )
    console.print(shown)


def plot(table: EquityTable, path: Path) -> None:
    """Draw E and W at a margin of 0 for the dealer, by games and points below the line."""
    names = " against ".join(policy["name"] for policy in table.policies)
    figure = score_maps.draw(
        f"What a score is worth to the dealer of the next deal: {names}",
        maps(table),
        table.target,
    )
    figure.savefig(path, dpi=100)


def maps(table: EquityTable) -> tuple[score_maps.Map, score_maps.Map]:
    """E, and W at a margin of 0, for the dealer."""
    values = table.values[0]
    wide = score_maps.reach(values)
    win = np.asarray(table.win_probability(*_by_player(table, 0)))
    return (
        score_maps.Map("E, points", values, -wide, wide, "RdBu"),
        score_maps.Map("W", win, 0.0, 1.0, "RdBu"),
    )


def differences(old: EquityTable, new: EquityTable) -> dict[str, float]:
    """How far a table differs from an older one for the same rules.

    Returns:
        `mean` and `largest` difference of E in points, the mean weighted by the new table's
        visits; `mean_win` and `largest_win` that of W over all margins.

    Raises:
        ValueError: if their rules or their numbers of policies differ.
    """
    for name, one, other in (
        ("rules", old.rules, new.rules),
        ("numbers of policies", len(old.policies), len(new.policies)),
        ("shapes", old.futures.shape, new.futures.shape),
    ):
        if one != other:
            raise ValueError(f"tables must be for the same {name}, got {one} and {other}")
    weights = new.visits / new.visits.sum()
    values = new.values - old.values
    chances = np.abs(new.futures.astype(np.float64) - old.futures).max(axis=2) / LEVELS
    return {
        "mean": float((np.abs(values) * weights).sum()),
        "largest": float(np.abs(values).max()),
        "mean_win": float((chances * weights).sum()),
        "largest_win": float(chances.max()),
    }


def drift(old: EquityTable, new: EquityTable, console: Console) -> dict[str, float]:
    """Print the `differences` of two tables, and return them."""
    found = differences(old, new)
    shown = Table(box=box.SIMPLE_HEAD, title=f"Drift from {old.version} to {new.version}")
    for name in ("", "as scores occur", "largest", "largest s.e. of both"):
        shown.add_column(name, justify="left" if not name else "right")
    both = np.hypot(old.errors, new.errors).max(), np.hypot(old.win_errors, new.win_errors).max()
    shown.add_row("E, points", f"{found['mean']:.2f}", f"{found['largest']:.2f}", f"{both[0]:.2f}")
    shown.add_row(
        "W, %",
        f"{100 * found['mean_win']:.3f}",
        f"{100 * found['largest_win']:.3f}",
        f"{100 * both[1]:.3f}",
    )
    console.print(shown)
    at = np.unravel_index(np.abs(new.values - old.values).argmax(), new.values.shape)
    score = scores(new.target)[at[1]].tolist()
    console.print(
        f"Most at {score[0]}–{score[1]} below the line, games {score[2]}–{score[3]} (dealer's "
        f"first): E was {old.values[at]:+.1f}, is {new.values[at]:+.1f}.",
        highlight=False,
    )
    return found
