"""Results in SQLite: whole groups or nothing, of one configuration, by one process at a time."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import ROOT, run_python
from players import SPOILS, Faulty, FaultyBatch, Highest, Lowest, raising, same
from poke_env import records
from poke_env.agent import RandomAgent
from training.duplicate import Conditions, meet, play_orders
from training.meeting import Meeting
from training.store import Store, in_use

CONFIGURATION = {"game": "poke", "seed": 1, "rules": {"target": 20}, "move_timeout": None}
AGENTS = {"a": "class 1", "b": "class 2"}
AB = ("a", "b")
RUBBERS = Conditions.checked(seed=1, match="rubber", keep_records=True)


@pytest.fixture(scope="module")
def meeting() -> Meeting:
    return part(range(9))


def part(orders: range) -> Meeting:
    return play_orders([RandomAgent(), Faulty(raising)], orders, RUBBERS)


def without_records(meeting: Meeting) -> Meeting:
    return replace(meeting, records=())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "results.sqlite"


# --- what goes in comes out -----------------------------------------------------------------------


def test_a_duel_comes_back_changed(meeting, path):
    assert meeting.forfeits
    store = Store(path)
    store.add(AB, range(9), meeting, 1.5)
    store.close()
    store = Store(path)
    assert same(store.meeting(AB, 9, 12), without_records(meeting))
    assert tuple(store.records(AB, 9)) == meeting.records
    assert store.seconds(AB) == 1.5
    assert store.missing(AB, 9) == []
    store.close()


def test_groups_that_come_in_any_order_change_the_duel(meeting):
    store = Store()
    for pairs in (range(4, 5), range(5, 9), range(4)):
        store.add(AB, pairs, part(pairs), 1.0)
    assert same(store.meeting(AB, 9, 12), without_records(meeting))
    assert tuple(store.records(AB, 9)) == meeting.records


def test_fewer_pairs_than_are_there_bring_more():
    store = Store()
    store.add(AB, range(9), part(range(9)), 1.0)
    assert same(store.meeting(AB, 4, 12), without_records(part(range(4))))
    assert len(list(store.records(AB, 4))) == 8


def test_pairs_that_are_there_are_missing():
    store = Store()
    assert store.missing(AB, 9) == [range(9)]
    assert store.meeting(AB, 9, 12) is None
    store.add(AB, range(2, 4), part(range(2, 4)), 1.0)
    store.add(AB, range(8, 9), part(range(8, 9)), 1.0)
    assert store.missing(AB, 9) == [range(2), range(4, 8)]
    assert store.missing(AB, 3) == [range(2)]
    assert store.missing(AB, 12) == [range(2), range(4, 8), range(9, 12)]
    assert store.missing(("a", "c"), 2) == [range(2)]
    # Gaps do not shift what is read.
    found = store.meeting(AB, 9, 12)
    assert np.array_equal(found.points[:2], part(range(2, 4)).points)
    assert np.array_equal(found.standing_points[2], part(range(8, 9)).standing_points[0])


def test_a_pair_is_written_twice():
    store = Store()
    store.add(AB, range(3), part(range(3)), 1.0)
    with pytest.raises(ValueError, match="cannot be used"):
        store.add(AB, range(2, 6), part(range(2, 6)), 1.0)
    assert store.missing(AB, 6) == [range(3, 6)], "nothing of a group that fails"
    store.add(AB, range(3, 6), part(range(3, 6)), 1.0)


@pytest.mark.parametrize("label", ["a b'; DROP TABLE pairs; --", "é – 牌", "[bold]", "x" * 5000])
def test_a_strange_label_is_mangled(label, path):
    store = Store(path)
    store.agree(CONFIGURATION, {label: "1", "b": "2"})
    store.add((label, "b"), range(2), part(range(2)), 1.0)
    store.close()
    store = Store(path)
    assert same(store.meeting((label, "b"), 2, 12), without_records(part(range(2))))
    store.close()


# --- whose it is ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, value",
    [("game", "poque"), ("seed", 2), ("rules", {"target": 21}), ("move_timeout", 1.0)],
)
def test_results_of_another_configuration_are_gone_on_with(name, value, path):
    store = Store(path)
    store.agree(CONFIGURATION, AGENTS)
    with pytest.raises(ValueError, match=f"^{name} is .*, but the results in .* --overwrite"):
        store.agree({**CONFIGURATION, name: value}, {"new": "class 3"})
    store.agree(CONFIGURATION, {"new": "class 4"})
    store.close()


def test_a_changed_player_is_taken_for_the_one_that_played():
    store = Store()
    store.agree(CONFIGURATION, AGENTS)
    with pytest.raises(ValueError, match="agent 'b' is not the one whose results"):
        store.agree(CONFIGURATION, {"c": "class 3", "b": "class 3"})
    store.agree(CONFIGURATION, {"c": "class 4", "a": "class 1"})


# --- the file -------------------------------------------------------------------------------------


def test_a_second_process_writes_too(path):
    store = Store(path)
    store.agree(CONFIGURATION, AGENTS)
    program = (
        "import sys; from pathlib import Path\n"
        "from training.store import Store, in_use\n"
        "assert in_use(Path(sys.argv[1]))\n"
        "try: Store(Path(sys.argv[1]))\n"
        "except OSError as error: print(error)\n"
    )
    assert "are in use by another process" in run_python("-c", program, str(path))
    store.add(AB, range(2), part(range(2)), 1.0)
    store.close()
    assert not in_use(path)
    Store(path).close()


def foreign(path: Path, version: int = 0) -> None:
    base = sqlite3.connect(path)
    base.executescript(f"CREATE TABLE songs (name TEXT); PRAGMA user_version = {version};")
    base.close()


def of_a_later_version(path: Path) -> None:
    Store(path).close()
    base = sqlite3.connect(path)
    base.execute("PRAGMA user_version = 4")
    base.close()


FILES = {
    "text": lambda path: path.write_text("points: 3\n" * 500),
    "foreign": foreign,
    "foreign with our version": lambda path: foreign(path, 1),
    "later": of_a_later_version,
    "folder": lambda path: path.mkdir(),
}


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_a_file_that_holds_something_else_is_written_to(make, path):
    make(path)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises((ValueError, OSError), match=r"^results in .*results\.sqlite"):
        Store(path)
    assert (path.read_bytes() if path.is_file() else None) == before


def test_an_empty_file_is_refused(path):
    path.touch()
    store = Store(path)
    store.agree(CONFIGURATION, AGENTS)
    store.close()


def test_damage_is_read_as_results(path):
    store = Store(path)
    store.agree(CONFIGURATION, AGENTS)
    store.add(AB, range(9), part(range(9)), 1.0)
    store.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)

    def read() -> None:
        store = Store(path)
        try:
            store.agree(CONFIGURATION, AGENTS)
            store.missing(AB, 9)
            store.meeting(AB, 9, 12)
        finally:
            store.close()

    with pytest.raises(ValueError, match=r"^results in .* cannot be used: .*malformed"):
        read()


def test_a_full_disk_loses_what_was_written(meeting, path):
    store = Store(path)
    store.agree(CONFIGURATION, AGENTS)
    store.add(AB, range(2), part(range(2)), 1.0)
    [pages] = store._base.execute("PRAGMA page_count").fetchone()
    store._base.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(OSError, match=r"results in .* cannot be used: database or disk is full"):
        store.add(AB, range(2, 9), part(range(2, 9)), 1.0)
    assert store.missing(AB, 9) == [range(2, 9)]
    store.close()
    store = Store(path)
    assert same(store.meeting(AB, 9, 12), without_records(part(range(2))))
    store.add(AB, range(2, 9), part(range(2, 9)), 1.0)
    assert same(store.meeting(AB, 9, 12), without_records(meeting))
    store.close()


def test_an_error_between_two_tables_leaves_half_a_group(monkeypatch, path):
    store = Store(path)
    broken = replace(part(range(3)), records=("text", None))
    with pytest.raises(ValueError, match="NOT NULL"):
        store.add(AB, range(3), broken, 1.0)
    assert store.missing(AB, 3) == [range(3)]
    assert store.seconds(AB) == 0.0
    store.add(AB, range(3), part(range(3)), 1.0)
    store.close()


def test_ctrl_c_between_two_tables_leaves_half_a_group(path):
    def pressing() -> Any:
        raise KeyboardInterrupt
        yield

    store = Store(path)
    broken = replace(part(range(3)))
    object.__setattr__(broken, "forfeits", pressing())
    with pytest.raises(KeyboardInterrupt):
        store.add(AB, range(3), broken, 1.0)
    assert store.missing(AB, 3) == [range(3)]
    store.add(AB, range(3), part(range(3)), 1.0)
    store.close()
    assert not in_use(path)


KILLED = """
import sys
from pathlib import Path
from poke_env.agent import RandomAgent
from training.duplicate import Conditions, play_orders
from training.store import Store
store = Store(Path(sys.argv[1]))
conditions = Conditions.checked(seed=1, match="rubber", keep_records=True)
meeting = play_orders([RandomAgent()] * 2, range(2), conditions)
print("ready", flush=True)
number = 0
while True:
    store.add(("a", "b"), range(number, number + 2), meeting, 1.0)
    number += 2
"""


@pytest.mark.skipif(sys.platform == "win32", reason="kills")
def test_a_process_that_is_killed_while_it_writes_leaves_half_a_group(path):
    for moment in (0.0, 0.05):
        path.unlink(missing_ok=True)
        with subprocess.Popen(
            [sys.executable, "-c", KILLED, str(path)],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout.readline() == "ready\n"
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(moment)
            process.kill()
        store = Store(path)
        rows: dict[str, Any] = {
            table: store._base.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            for table in ("orders", "records", "work")
        }
        store.close()
        assert rows["orders"] % 2 == 0
        assert rows["records"] == 2 * rows["orders"]
        assert rows["work"] == rows["orders"] / 2


def test_records_of_the_store_do_not_verify(path):
    conditions = Conditions.checked(seed=8, match="game", keep_records=True)
    players = FaultyBatch(SPOILS["nan"][0]), Highest()
    store = Store(path)
    store.add(AB, range(8), play_orders(players, range(8), conditions), 1.0)
    found = store.meeting(AB, 8, 12)
    store.close()
    lost = {(forfeit.order, forfeit.leg) for forfeit in found.forfeits}
    base = sqlite3.connect(path)
    texts = base.execute("SELECT number, leg, text FROM records").fetchall()
    base.close()
    assert len(texts) == 16
    assert lost
    for pair, leg, text in texts:
        record = records.loads(text)
        assert (record.ending.kind == "forfeit") == ((pair, leg) in lost)
        if record.ending.kind == "over":
            assert record.points[leg] == found.points[pair, leg, 0]


def test_nothing_in_memory_is_shared():
    one, other = Store(), Store()
    one.add(AB, range(2), meet([Lowest(), Highest()], 2, Conditions.checked()), 1.0)
    assert other.missing(AB, 2) == [range(2)]
