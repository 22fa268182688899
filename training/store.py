"""The results of a tournament in a SQLite file, pair by pair, as they come.

A file belongs to one configuration. Whatever it holds needs not be played again: a tournament that
was interrupted goes on, more deals or another player cost only what is missing. Each group of pairs
is written in one transaction, so that a process that is killed leaves whole pairs. Any tool that
reads SQLite can read it:

    configuration (name, value)        what all matches have in common, values as JSON
    agents (label, identity)           players, and what tells one from a changed one
    meetings (meeting, first, second)  every two players that have met, by label
    pairs (meeting, pair, dealer, points_0, points_1, winner_0, winner_1, decisions_0, decisions_1,
           luck_0, luck_1)             the first player's margin, win (1, 0, -1) and luck in both
                                       legs; luck is NULL where it was not measured
    standings (meeting, pair, player, standing, deals, points)
                                       deals and margin by how the player stood in the match
    forfeits (meeting, pair, leg, player, turn, reason)
    records (meeting, pair, leg, text) matches as text, if they were kept
    work (meeting, pairs, seconds)     what was played in one go, and how long it took
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from training.duplicate import Duel, Forfeit

_SCHEMA = """
CREATE TABLE configuration (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE agents (label TEXT PRIMARY KEY, identity TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE meetings (
    meeting INTEGER PRIMARY KEY, first TEXT NOT NULL, second TEXT NOT NULL, UNIQUE (first, second)
);
CREATE TABLE pairs (
    meeting INTEGER NOT NULL REFERENCES meetings, pair INTEGER NOT NULL, dealer INTEGER NOT NULL,
    points_0 REAL NOT NULL, points_1 REAL NOT NULL, winner_0 INTEGER NOT NULL,
    winner_1 INTEGER NOT NULL, decisions_0 INTEGER NOT NULL, decisions_1 INTEGER NOT NULL,
    luck_0 REAL, luck_1 REAL,
    PRIMARY KEY (meeting, pair)
) WITHOUT ROWID;
CREATE TABLE standings (
    meeting INTEGER NOT NULL REFERENCES meetings, pair INTEGER NOT NULL, player INTEGER NOT NULL,
    standing INTEGER NOT NULL, deals INTEGER NOT NULL, points REAL NOT NULL,
    PRIMARY KEY (meeting, pair, player, standing)
) WITHOUT ROWID;
CREATE TABLE forfeits (
    meeting INTEGER NOT NULL REFERENCES meetings, pair INTEGER NOT NULL, leg INTEGER NOT NULL,
    player INTEGER NOT NULL, turn INTEGER NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (meeting, pair, leg)
) WITHOUT ROWID;
CREATE TABLE records (
    meeting INTEGER NOT NULL REFERENCES meetings, pair INTEGER NOT NULL, leg INTEGER NOT NULL,
    text TEXT NOT NULL, PRIMARY KEY (meeting, pair, leg)
);
CREATE TABLE work (
    meeting INTEGER NOT NULL REFERENCES meetings, pairs INTEGER NOT NULL, seconds REAL NOT NULL
);
PRAGMA user_version = 2;
"""
_VERSION = 2
_TABLES = {
    "configuration", "agents", "meetings", "pairs", "standings", "forfeits", "records", "work",
}  # fmt: skip


def in_use(path: Path) -> bool:
    """Whether another process writes results into this file."""
    if not path.is_file():
        return False
    base = sqlite3.connect(path, timeout=0.0, isolation_level=None)
    try:
        base.execute("BEGIN EXCLUSIVE")
    except sqlite3.DatabaseError as error:
        return "locked" in str(error)
    finally:
        base.close()
    return False


class Store:
    """The results of one tournament.

    Args:
        path: the file, made if it is missing; None keeps everything in memory.

    Raises:
        ValueError: if it is no file of results, or of another version.
        OSError: if it cannot be used, for instance because another process does.

    All methods raise these where the file turns out to be damaged or cannot be written to.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path
        with self._naming():
            self._base = sqlite3.connect(path or ":memory:", timeout=1.0, isolation_level=None)
        try:
            with self._naming():
                self._open()
        except (ValueError, OSError):
            self._base.close()
            raise

    def _open(self) -> None:
        # A second process that writes is refused at once, whatever it does.
        self._base.execute("PRAGMA locking_mode = EXCLUSIVE")
        self._base.execute("BEGIN EXCLUSIVE")
        [version] = self._base.execute("PRAGMA user_version").fetchone()
        tables = {name for [name] in self._base.execute("SELECT name FROM sqlite_master")}
        self._base.execute("COMMIT")
        if not tables:
            self._base.executescript(f"BEGIN; {_SCHEMA} COMMIT;")
        elif version != _VERSION or not tables >= _TABLES:
            raise ValueError(f"results in {self.path} are of another version or no results")

    @contextlib.contextmanager
    def _naming(self) -> Iterator[None]:
        """Say of which file an error of SQLite speaks, and what it means."""
        try:
            yield
        except sqlite3.OperationalError as error:
            in_use = "locked" in str(error)
            reason = "they are in use by another process" if in_use else str(error)
            raise OSError(f"results in {self.path} cannot be used: {reason}") from error
        except sqlite3.DatabaseError as error:
            raise ValueError(f"results in {self.path} cannot be used: {error}") from error

    def close(self) -> None:
        """Let go of the file."""
        self._base.close()

    # --- what it belongs to -----------------------------------------------------------------------

    def agree(self, configuration: Mapping[str, Any], agents: Mapping[str, str]) -> None:
        """Make sure that what is about to be played belongs to what is there.

        Args:
            configuration: what all matches have in common.
            agents: identities by label; players that are new are added.

        Raises:
            ValueError: naming what is different; nothing is written.
        """
        stored = {
            name: json.loads(value)
            for name, value in self._rows("SELECT name, value FROM configuration")
        }
        asked = json.loads(json.dumps(configuration))
        if stored:
            for name, value in asked.items():
                if stored.get(name) != value:
                    raise ValueError(
                        f"{name} is {value!r}, but the results in {self.path} are of "
                        f"{stored.get(name)!r}; choose another folder or say --overwrite"
                    )
        known = dict(self._rows("SELECT label, identity FROM agents"))
        for label, identity in agents.items():
            if known.get(label, identity) != identity:
                raise ValueError(
                    f"agent {label!r} is not the one whose results are in {self.path} (its file, "
                    f"its code or its version changed); choose another folder or say --overwrite"
                )
        with self._transaction():
            self._base.executemany(
                "INSERT OR IGNORE INTO configuration VALUES (?, ?)",
                [(name, json.dumps(value)) for name, value in asked.items()],
            )
            self._base.executemany("INSERT OR IGNORE INTO agents VALUES (?, ?)", agents.items())

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of a block or nothing of it."""
        with self._naming():
            try:
                self._base.execute("BEGIN IMMEDIATE")
                yield
                self._base.execute("COMMIT")
            except BaseException:
                # After some errors, that of a full disk among them, SQLite has done so itself.
                if self._base.in_transaction:
                    self._base.execute("ROLLBACK")
                raise

    def _rows(self, query: str, values: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        with self._naming():
            yield from self._base.execute(query, values)

    # --- writing ----------------------------------------------------------------------------------

    def add(self, first: str, second: str, pairs: range, duel: Duel, seconds: float) -> None:
        """Write pairs of a meeting, all or none of them.

        Args:
            first, second: labels.
            pairs: the numbers of the duel's pairs.
            duel: what came of them.
            seconds: how long they took.
        """
        with self._transaction():
            self._base.execute(
                "INSERT OR IGNORE INTO meetings (first, second) VALUES (?, ?)", (first, second)
            )
            meeting = self._meeting(first, second)
            luck = [(None, None)] * len(pairs) if duel.luck is None else duel.luck.tolist()
            self._base.executemany(
                "INSERT INTO pairs VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (meeting, pair, dealer, *points, *winners, *decisions, *lucks)
                    for pair, dealer, points, winners, decisions, lucks in zip(
                        pairs, duel.dealers.tolist(), duel.points.tolist(),
                        duel.winners.tolist(), duel.decisions.tolist(), luck, strict=True,
                    )
                ],
            )  # fmt: skip
            places = np.argwhere(duel.standing_deals)
            deals = duel.standing_deals[tuple(places.T)].tolist()
            points = duel.standing_points[tuple(places.T)].tolist()
            self._base.executemany(
                "INSERT INTO standings VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (meeting, pairs[pair], player, standing, count, margin)
                    for (pair, player, standing), count, margin in zip(
                        places.tolist(), deals, points, strict=True
                    )
                ],
            )
            self._base.executemany(
                "INSERT INTO forfeits VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (meeting, fault.pair, fault.leg, fault.player, fault.turn, fault.reason)
                    for fault in duel.forfeits
                ],
            )
            self._base.executemany(
                "INSERT INTO records VALUES (?, ?, ?, ?)",
                [
                    (meeting, pairs[place // 2], place % 2, text)
                    for place, text in enumerate(duel.records)
                ],
            )
            self._base.execute("INSERT INTO work VALUES (?, ?, ?)", (meeting, len(pairs), seconds))

    # --- reading ----------------------------------------------------------------------------------

    def _meeting(self, first: str, second: str) -> int | None:
        for [meeting] in self._rows(
            "SELECT meeting FROM meetings WHERE first = ? AND second = ?", (first, second)
        ):
            return int(meeting)
        return None

    def missing(self, first: str, second: str, deals: int) -> list[range]:
        """Which of the pairs 0 … deals - 1 of a meeting are not there yet."""
        there = np.zeros(deals + 2, np.bool_)
        there[[0, -1]] = True
        for [pair] in self._rows(
            "SELECT pair FROM pairs WHERE meeting = ? AND pair < ?",
            (self._meeting(first, second), deals),
        ):
            there[pair + 1] = True
        changes = np.flatnonzero(np.diff(there)).tolist()
        return [range(start, stop) for start, stop in zip(changes[::2], changes[1::2], strict=True)]

    def duel(self, first: str, second: str, deals: int, standings: int) -> Duel | None:
        """The pairs 0 … deals - 1 of a meeting, as many of them as are there; None without any.

        Args:
            first, second: labels.
            deals: how many pairs are wanted.
            standings: number of standings that are told apart.
        """
        key = (self._meeting(first, second), deals)
        rows = np.array(
            list(
                self._rows(
                    "SELECT pair, dealer, points_0, points_1, winner_0, winner_1, decisions_0, "
                    "decisions_1, luck_0, luck_1 FROM pairs WHERE meeting = ? AND pair < ? "
                    "ORDER BY pair",
                    key,
                )
            ),
            np.float64,  # in which what is NULL becomes NaN
        ).reshape(-1, 10)
        if not len(rows):
            return None
        numbers = rows[:, 0].astype(np.int64)
        places = np.zeros(int(numbers[-1]) + 1, np.int64)
        places[numbers] = np.arange(len(numbers))
        standing_deals = np.zeros((len(rows), 2, standings), np.int64)
        standing_points = np.zeros((len(rows), 2, standings))
        found = np.array(
            list(
                self._rows(
                    "SELECT pair, player, standing, deals, points FROM standings "
                    "WHERE meeting = ? AND pair < ?",
                    key,
                )
            )
        ).reshape(-1, 5)
        pair, player, standing, count = found[:, :4].astype(np.int64).T
        standing_deals[places[pair], player, standing] = count
        standing_points[places[pair], player, standing] = found[:, 4]
        forfeits = self._rows(
            "SELECT player, pair, leg, turn, reason FROM forfeits "
            "WHERE meeting = ? AND pair < ? ORDER BY pair, leg",
            key,
        )
        return Duel(
            points=rows[:, 2:4].copy(),
            winners=rows[:, 4:6].astype(np.int8),
            dealers=rows[:, 1].astype(np.int8),
            decisions=rows[:, 6:8].astype(np.int64),
            standing_deals=standing_deals,
            standing_points=standing_points,
            forfeits=tuple(Forfeit(*row) for row in forfeits),
            luck=None if np.isnan(rows[:, 8:]).any() else rows[:, 8:].copy(),
        )

    def seconds(self, first: str, second: str) -> float:
        """How long the pairs of a meeting took, all that are there."""
        [[total]] = self._rows(
            "SELECT total(seconds) FROM work WHERE meeting = ?", (self._meeting(first, second),)
        )
        return float(total)

    def records(self, first: str, second: str, deals: int) -> Iterator[str]:
        """The matches of pairs 0 … deals - 1 of a meeting as text, in order."""
        for [text] in self._rows(
            "SELECT text FROM records WHERE meeting = ? AND pair < ? ORDER BY pair, leg",
            (self._meeting(first, second), deals),
        ):
            yield text
