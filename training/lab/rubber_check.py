"""Is an equity table right? Complete rubbers played out, and the drift between two tables.

python -m training.lab rubber-check --rubbers 100000
python -m training.lab rubber-drift OLD.npz NEW.npz
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich import box
from rich.console import Console
from rich.progress import track
from rich.table import Table as RichTable

import agents
from poke_env._checks import check_integer
from poke_env.agent import Agent
from poke_env.equity import EquityTable, Floats
from poke_env.games.poke import POKE, Rules
from poke_env.vector import BatchEnv
from training.lab import rubber_files
from training.lab.deals import Table, at_once, play_out

_AT_ONCE = 4096
"""Rubbers that are played at once."""
_STARTS = 4096
"""Scores at which the rubbers of the second half begin, as they occur."""


@dataclass(frozen=True, eq=False)
class Rubbers:
    """Rubbers that were played out, all (n,) and as player_0 sees them.

    Attributes:
        expected: float64, E at the score where they began, with the first dealer.
        chance: float64, W there.
        margin: float64, the margin above the line that was gained.
        won: float64, 1 for a win, 0 for a loss, a half for a draw.
        paid: float64, the sum of the rewards in equity.
    """

    expected: Floats
    chance: Floats
    margin: Floats
    won: Floats
    paid: Floats

    def deviation(self, what: str) -> tuple[float, float]:
        """Mean of what came less what was expected, and its standard error; "E" or "W"."""
        if what == "E":
            difference = self.margin - self.expected
        else:
            difference = self.won - self.chance
        return float(difference.mean()), float(difference.std(ddof=1) / np.sqrt(len(difference)))


def play_rubbers(
    table: EquityTable,
    players: tuple[Agent, ...],
    rubbers: range,
    seed: int = 0,
    start_scores: Any = None,
) -> Rubbers:
    """Play complete rubbers, paid in equity.

    Args:
        table: the table to pay by.
        players: one for both seats, or two.
        rubbers: numbers of the matches of the seed.
        seed: of decks, first dealers and keys.
        start_scores: where they begin; None is the beginning of a rubber.
    """
    rules = rules_of(table)
    envs = BatchEnv(
        POKE, len(rubbers), match="rubber", reward="equity", rules=rules, autoreset=False,
        copy=False, threads=1, equity_table=table, start_scores=start_scores,
    )  # fmt: skip
    envs.reset([seed] * len(rubbers), {"skip": np.array(rubbers)})
    begun = envs.record
    score = begun["below"], begun["games"], begun["dealer"]
    paid = play_out(envs, Table(rules, players, seed), np.array(rubbers))
    above = envs.record["above"].astype(np.float64) - begun["above"]
    return Rubbers(
        expected=np.asarray(table.expected(*score)),
        chance=np.asarray(table.win_probability(*score)),
        margin=above[:, 0] - above[:, 1],
        won=(1.0 + envs.results()[:, 0]) / 2.0,
        paid=paid[:, 0],
    )


def join(parts: list[Rubbers]) -> Rubbers:
    """Rubbers one after another."""
    return Rubbers(*(np.concatenate([getattr(part, name) for part in parts]) for name in _FIELDS))


_FIELDS = ("expected", "chance", "margin", "won", "paid")


def rules_of(table: EquityTable) -> Rules:
    """The rules that a table is for."""
    options: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in table.rules.items()
    }
    return Rules(**options)


def players_of(table: EquityTable) -> tuple[Agent, ...]:
    """The players that a table stands for, by their names.

    Raises:
        ValueError: if one of them is not known here.
    """
    return tuple(agents.load(policy["name"], table.seed) for policy in table.policies)


@dataclass(frozen=True)
class RubberCheck:
    """Play complete rubbers and compare them with a table.

    Attributes:
        table: File of the table; by default the one of the environment.
        rubbers: How many, half of them from the beginning and half from scores as they occur.
        seed: Number from which decks and all chance of the players come; another than the table's.
    """

    table: Annotated[tyro.conf.Positional[Path | None], tyro.conf.arg(metavar="TABLE")] = None
    rubbers: int = 100_000
    seed: int = 1

    def run(self, console: Console) -> dict[str, Rubbers]:
        """Play, compare, and print.

        Returns:
            The rubbers of both halves, `beginning` and `occurring`.
        """
        half = -(-check_integer("rubbers", self.rubbers, 4) // 2)
        check_integer("seed", self.seed, 0)
        table = EquityTable.load(self.table)
        players = players_of(table)
        size = at_once(players, _AT_ONCE)
        found = {}
        for name, starts in (
            ("beginning", None),
            ("occurring", table.start_scores(_STARTS, self.seed)),
        ):
            parts = [
                play_rubbers(table, players, range(at, min(at + size, half)), self.seed, starts)
                for at in track(
                    range(0, half, size),
                    f"rubbers, {name} scores",
                    console=console,
                    transient=True,
                    disable=not console.is_terminal,
                )
            ]
            found[name] = join(parts)
        _print(table, found, console)
        return found


def _print(table: EquityTable, found: dict[str, Rubbers], console: Console) -> None:
    shown = RichTable(box=box.SIMPLE_HEAD, title=f"{table.version}: came less expected")
    for column in ("scores", "rubbers", "E, points", "s.e.", "W, %", "s.e.", "agree"):
        shown.add_column(column, justify="left" if column == "scores" else "right")
    for name, rubbers in found.items():
        points, points_error = rubbers.deviation("E")
        wins, wins_error = rubbers.deviation("W")
        agree = abs(points) <= 2 * points_error and abs(wins) <= 2 * wins_error
        shown.add_row(
            name,
            f"{len(rubbers.margin):,}",
            f"{points:+.2f}",
            f"{points_error:.2f}",
            f"{100 * wins:+.3f}",
            f"{100 * wins_error:.3f}",
            "within 2 s.e." if agree else "NOT within 2 s.e.",
        )
    console.print(shown)
    worst = max(
        float(np.abs(rubbers.paid - (rubbers.margin - rubbers.expected)).max())
        for rubbers in found.values()
    )
    console.print(f"Rewards add up to margin − E(start) within {worst:.1g} points.")


@dataclass(frozen=True)
class RubberDrift:
    """Show how far one table differs from another.

    Attributes:
        old: File of the older table.
        new: File of the newer one; by default the one of the environment.
    """

    old: Annotated[tyro.conf.Positional[Path], tyro.conf.arg(metavar="OLD")]
    new: Annotated[tyro.conf.Positional[Path | None], tyro.conf.arg(metavar="NEW")] = None

    def run(self, console: Console) -> dict[str, float]:
        """Print the differences, and return them (`rubber_files.drift`)."""
        return rubber_files.drift(EquityTable.load(self.old), EquityTable.load(self.new), console)
