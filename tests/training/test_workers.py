"""Worker processes: the same tables, no hang whatever happens in one of them."""

from __future__ import annotations

import multiprocessing
import sys
import time
from typing import Any

import pytest

from helpers import run_python
from players import (
    Adaptive,
    Bare,
    Elsewhere,
    Faulty,
    FaultyBatch,
    Fragile,
    Highest,
    Slow,
    SlowBatch,
    _none,
    deaf,
    exiting,
    illegal,
    killing,
    pressing,
    raising,
    same,
    sleeping,
)
from poke_env.agent import RandomAgent
from training import workers
from training.duplicate import Conditions
from training.tournament import Tournament, TournamentInterrupted, run_tournament
from training.workers import Source, play_all

HANG = 120
"""Seconds after which a test counts as hanging."""


def numbers(result: Tournament) -> dict[str, Any]:
    document = result.as_dict()
    del document["timing"]
    return document


def all_end(workers: set[Any]) -> bool:
    """Whether these processes end."""
    hanging = time.monotonic() + HANG
    while workers & set(multiprocessing.active_children()):
        if time.monotonic() > hanging:
            return False
        time.sleep(0.02)
    return True


@pytest.fixture(autouse=True)
def none_left():
    """No worker outlives its tournament."""
    others = set(multiprocessing.active_children())
    yield
    assert all_end(set(multiprocessing.active_children()) - others)


# --- tables ---------------------------------------------------------------------------------------


def test_tables_depend_on_the_number_of_workers():
    field = {
        "adaptive": Adaptive(),
        "bare": Bare(),
        "faulty": Faulty(raising),
        "faulty batch": FaultyBatch(_none),
        "illegal": Faulty(illegal),
        "random": RandomAgent(),
    }
    one = run_tournament(field, 20, seed=5, keep_records=True)
    two = run_tournament(field, 20, seed=5, workers=2, keep_records=True)
    assert two.workers == 2
    assert numbers(one) == numbers(two)
    for meeting, duel in two.duels.items():
        assert same(duel, one.duels[meeting])
        assert duel.wins + duel.draws + duel.losses == 40
    assert {line["player"] for line in numbers(two)["forfeits"]} == {
        "faulty", "faulty batch", "illegal",
    }  # fmt: skip


@pytest.mark.slow
def test_tables_depend_on_workers_with_all_players_of_the_project():
    names = ["random", "greedy", "heuristic", "never_double", "heuristic"]
    one = run_tournament(names, 300, seed=5, match="game")
    for count in (2, 3):
        assert numbers(run_tournament(names, 300, seed=5, match="game", workers=count)) == numbers(
            one
        )


def test_importing_has_side_effects():
    quiet = (
        "import os, signal, sys, threading\n"
        "def state(): return signal.getsignal(signal.SIGINT), threading.active_count()\n"
        "before = state()\n"
        "import training.workers, training.tournament, training.limits, training.store\n"
        "assert before == state()\n"
        "assert 'torch' not in sys.modules\n"
    )
    assert run_python("-c", quiet) == ""


def test_a_player_that_never_answers_stops_a_worker():
    field = {"batch": SlowBatch(sleeping), "deaf": Slow(deaf), "random": RandomAgent()}
    found = run_tournament(field, 2, seed=6, workers=2, move_timeout=1.0)
    assert found.complete
    document = found.as_dict()
    assert document["forfeits"]
    assert {line["reason"] for line in document["forfeits"]} == {"took longer than 1 s"}
    assert {line["player"] for line in document["forfeits"]} <= {"batch", "deaf"}


# --- what goes wrong ------------------------------------------------------------------------------


class Unpackable(RandomAgent):
    def __reduce__(self) -> Any:
        raise OSError("has a socket")


def test_a_player_that_cannot_be_sent_is_found_out_late():
    with pytest.raises(ValueError, match=r"agent 'b' must be picklable .* OSError: has a socket"):
        run_tournament({"a": RandomAgent(), "b": Unpackable()}, 2, workers=2)


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("end", [exiting, pytest.param(killing, marks=pytest.mark.slow)])
def test_a_worker_that_dies_hangs_the_tournament(end):
    with pytest.raises(ChildProcessError, match="a worker process died"):
        run_tournament({"a": Elsewhere(end), "b": Highest(), "c": RandomAgent()}, 50, workers=2)


@pytest.mark.slow
def test_ctrl_c_of_a_player_in_a_worker_is_a_forfeit():
    with pytest.raises(TournamentInterrupted):
        run_tournament({"a": Elsewhere(pressing), "b": Highest()}, 50, workers=2)


def test_an_error_in_a_worker_hangs_or_is_lost():
    started = time.monotonic()
    with pytest.raises(LookupError, match="no licence here"):
        run_tournament({"a": Fragile(), "b": Highest()}, 50, workers=2)
    assert time.monotonic() - started < HANG


@pytest.mark.slow
def test_a_consumer_that_stops_leaves_workers():
    sources = {name: Source("random", 0, "poke", RandomAgent()) for name in ("a", "b")}
    played = play_all({("a", "b"): [range(5000)]}, sources, Conditions.checked(), workers=2)
    next(played)
    assert multiprocessing.active_children()
    played.close()
    assert all_end(set(multiprocessing.active_children()))


def test_a_source_travels_with_its_player():
    source = Source("random", 3, "poque", RandomAgent())
    assert source.__reduce__() == (workers._load, ("random", 3, "poque"))
