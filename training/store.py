"""The results of a tournament in a SQLite file, deck order by deck order, as they come.

A file belongs to one configuration. Whatever it holds needs not be played again: a tournament that
was interrupted goes on, more deals or another player cost only what is missing. What is played in
one go is written in one transaction, so that a process that is killed leaves whole deck orders. Any
tool that reads SQLite can read it:

    configuration (name, value)        what all matches have in common, values as JSON
    agents (label, identity)           players, and what tells one from a changed one
    meetings (meeting, players)        every table that has met: the labels of its players as a JSON
                                       list; below, `player` is the place in it
    orders (meeting, number, dealer, points, places, decisions, luck)
                                       deck orders that were played: the side that dealt first, and
                                       for each leg a list of each player's points, of how many
                                       were ahead of it, of its decisions and its luck, as JSON;
                                       luck is NULL where it was not measured
    standings (meeting, number, player, standing, deals, points)
                                       deals and margin by how the player stood in the match
    forfeits (meeting, number, leg, player, turn, reason)
    records (meeting, number, leg, text)
                                       matches as text, if they were kept
    work (meeting, orders, seconds)    what was played in one go, and how long it took
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from training.meeting import Forfeit, Meeting

_VERSION = 3
_SCHEMA = f"""
CREATE TABLE configuration (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE agents (label TEXT PRIMARY KEY, identity TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE meetings (meeting INTEGER PRIMARY KEY, players TEXT NOT NULL UNIQUE);
CREATE TABLE orders (
    meeting INTEGER NOT NULL REFERENCES meetings, number INTEGER NOT NULL, dealer INTEGER NOT NULL,
    points TEXT NOT NULL, places TEXT NOT NULL, decisions TEXT NOT NULL, luck TEXT,
    PRIMARY KEY (meeting, number)
) WITHOUT ROWID;
CREATE TABLE standings (
    meeting INTEGER NOT NULL REFERENCES meetings, number INTEGER NOT NULL, player INTEGER NOT NULL,
    standing INTEGER NOT NULL, deals INTEGER NOT NULL, points REAL NOT NULL,
    PRIMARY KEY (meeting, number, player, standing)
) WITHOUT ROWID;
CREATE TABLE forfeits (
    meeting INTEGER NOT NULL REFERENCES meetings, number INTEGER NOT NULL, leg INTEGER NOT NULL,
    player INTEGER NOT NULL, turn INTEGER NOT NULL, reason TEXT NOT NULL,
    PRIMARY KEY (meeting, number, leg)
) WITHOUT ROWID;
CREATE TABLE records (
    meeting INTEGER NOT NULL REFERENCES meetings, number INTEGER NOT NULL, leg INTEGER NOT NULL,
    text TEXT NOT NULL, PRIMARY KEY (meeting, number, leg)
);
CREATE TABLE work (
    meeting INTEGER NOT NULL REFERENCES meetings, orders INTEGER NOT NULL, seconds REAL NOT NULL
);
PRAGMA user_version = {_VERSION};
"""
_TABLES = {
    "configuration", "agents", "meetings", "orders", "standings", "forfeits", "records", "work",
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
        elif version not in (0, _VERSION) and "configuration" in tables:
            raise ValueError(
                f"results in {self.path} are of schema {version}, written by another version of "
                f"this program, which now uses schema {_VERSION}; choose another folder or say "
                f"--overwrite"
            )
        elif version != _VERSION or not tables >= _TABLES:
            raise ValueError(f"results in {self.path} are no results of a tournament")

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

    def add(self, labels: Sequence[str], orders: range, meeting: Meeting, seconds: float) -> None:
        """Write deck orders of a meeting, all or none of them.

        Args:
            labels: of the players, in the order in which they rotate.
            orders: the numbers of the meeting's deck orders.
            meeting: what came of them.
            seconds: how long they took.
        """
        with self._transaction():
            self._base.execute(
                "INSERT OR IGNORE INTO meetings (players) VALUES (?)", (_table(labels),)
            )
            key = self._meeting(labels)
            luck = [None] * len(orders) if meeting.luck is None else _as_json(meeting.luck)
            self._base.executemany(
                "INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?)",
                [
                    (key, *numbers)
                    for numbers in zip(
                        orders, meeting.dealers.tolist(), _as_json(meeting.points),
                        _as_json(meeting.places), _as_json(meeting.decisions), luck, strict=True,
                    )
                ],
            )  # fmt: skip
            legs = meeting.size
            stood = np.argwhere(meeting.standing_deals)
            deals = meeting.standing_deals[tuple(stood.T)].tolist()
            points = meeting.standing_points[tuple(stood.T)].tolist()
            self._base.executemany(
                "INSERT INTO standings VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (key, orders[order], player, standing, count, margin)
                    for (order, player, standing), count, margin in zip(
                        stood.tolist(), deals, points, strict=True
                    )
                ],
            )
            self._base.executemany(
                "INSERT INTO forfeits VALUES (?, ?, ?, ?, ?, ?)",
                [
                    (key, fault.order, fault.leg, fault.player, fault.turn, fault.reason)
                    for fault in meeting.forfeits
                ],
            )
            self._base.executemany(
                "INSERT INTO records VALUES (?, ?, ?, ?)",
                [
                    (key, orders[place // legs], place % legs, text)
                    for place, text in enumerate(meeting.records)
                ],
            )
            self._base.execute("INSERT INTO work VALUES (?, ?, ?)", (key, len(orders), seconds))

    # --- reading ----------------------------------------------------------------------------------

    def _meeting(self, labels: Sequence[str]) -> int | None:
        query = "SELECT meeting FROM meetings WHERE players = ?"
        return next((int(key) for [key] in self._rows(query, (_table(labels),))), None)

    def missing(self, labels: Sequence[str], deals: int) -> list[range]:
        """Which of the deck orders 0 … deals - 1 of a meeting are not there yet."""
        there = np.zeros(deals + 2, np.bool_)
        there[[0, -1]] = True
        for [number] in self._rows(
            "SELECT number FROM orders WHERE meeting = ? AND number < ?",
            (self._meeting(labels), deals),
        ):
            there[number + 1] = True
        changes = np.flatnonzero(np.diff(there)).tolist()
        return [range(start, stop) for start, stop in zip(changes[::2], changes[1::2], strict=True)]

    def meeting(self, labels: Sequence[str], deals: int, standings: int) -> Meeting | None:
        """The deck orders 0 … deals - 1 of a meeting, as many of them as are there.

        Args:
            labels: of the players, in the order in which they rotate.
            deals: how many deck orders are wanted.
            standings: number of standings that are told apart.

        Returns:
            None without any of them; matches as text are left to `records`.
        """
        key = (self._meeting(labels), deals)
        rows = list(
            self._rows(
                "SELECT number, dealer, points, places, decisions, luck FROM orders "
                "WHERE meeting = ? AND number < ? ORDER BY number",
                key,
            )
        )
        if not rows:
            return None
        numbers, dealers, points, placed, decisions, luck = zip(*rows, strict=True)
        size = len(labels)
        places = np.zeros(numbers[-1] + 1, np.int64)
        places[list(numbers)] = np.arange(len(rows))
        standing_deals = np.zeros((len(rows), size, standings), np.int64)
        standing_points = np.zeros((len(rows), size, standings))
        stood = np.array(
            list(
                self._rows(
                    "SELECT number, player, standing, deals, points FROM standings "
                    "WHERE meeting = ? AND number < ?",
                    key,
                )
            ),
            np.float64,
        ).reshape(-1, 5)
        number, player, standing, count = stood[:, :4].astype(np.int64).T
        standing_deals[places[number], player, standing] = count
        standing_points[places[number], player, standing] = stood[:, 4]
        forfeits = self._rows(
            "SELECT player, number, leg, turn, reason FROM forfeits "
            "WHERE meeting = ? AND number < ? ORDER BY number, leg",
            key,
        )
        return Meeting(
            points=_from_json(points, np.float64),
            places=_from_json(placed, np.int8),
            dealers=np.array(dealers, np.int8),
            decisions=_from_json(decisions, np.int64),
            standing_deals=standing_deals,
            standing_points=standing_points,
            forfeits=tuple(Forfeit(*row) for row in forfeits),
            luck=None if None in luck else _from_json(luck, np.float64),
        )

    def seconds(self, labels: Sequence[str]) -> float:
        """How long the deck orders of a meeting took, all that are there."""
        [[total]] = self._rows(
            "SELECT total(seconds) FROM work WHERE meeting = ?", (self._meeting(labels),)
        )
        return float(total)

    def records(self, labels: Sequence[str], deals: int) -> Iterator[str]:
        """The matches of deck orders 0 … deals - 1 of a meeting as text, in order."""
        for [text] in self._rows(
            "SELECT text FROM records WHERE meeting = ? AND number < ? ORDER BY number, leg",
            (self._meeting(labels), deals),
        ):
            yield text


def _table(labels: Sequence[str]) -> str:
    """How a table is written down."""
    return json.dumps(list(labels), ensure_ascii=False)


def _as_json(values: npt.NDArray[Any]) -> list[str]:
    """Each line of an array as text."""
    return [json.dumps(line) for line in values.tolist()]


def _from_json(texts: Sequence[str], kind: type[np.generic]) -> npt.NDArray[Any]:
    """The array of such lines."""
    return np.array(json.loads(f"[{','.join(texts)}]"), kind)
