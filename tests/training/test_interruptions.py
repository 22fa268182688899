"""The tournament program, killed and stopped at any moment: it ends at once and goes on later."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from helpers import ROOT

HANG = 120
"""Seconds after which a process counts as hanging."""

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

OWN = """
import multiprocessing
import os

import numpy as np

from poke_env.agent import RandomAgent

class Thinker(RandomAgent):
    def act(self, observation, key=None):
        return super().act(observation, key)

class Faulty(RandomAgent):
    def act_batch(self, observations, masks, keys=None):
        if (keys % np.uint64(9) == 0).any():
            raise RuntimeError("unlucky")
        return super().act_batch(observations, masks, keys)

def only_here(seed):
    if multiprocessing.parent_process() is not None:
        raise RuntimeError("no licence")
    return RandomAgent(seed)

class Quitter(RandomAgent):
    def act_batch(self, observations, masks, keys=None):
        if multiprocessing.parent_process() is not None and (keys % np.uint64(999) == 0).any():
            os._exit(3)
        return super().act_batch(observations, masks, keys)

class Wanderer(RandomAgent):
    def act_batch(self, observations, masks, keys=None):
        os.chdir("/")
        print("I was here")
        np.random.seed(1)
        return super().act_batch(observations, masks, keys)
"""

FIELD = ("random", "own:Faulty", "own:Thinker")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(OWN)
    return tmp_path


def start(folder: Path, *arguments: Any, **options: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "training.tournament", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{folder}"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        start_new_session=True,
        **options,
    )


def run(folder: Path, *arguments: Any, code: int = 0, **options: Any) -> tuple[str, str]:
    """Output and errors of the program."""
    with start(folder, *arguments, **options) as process:
        out, error = finish(process)
    assert process.returncode == code, out + error
    return out, error


def finish(process: subprocess.Popen[str]) -> tuple[str, str]:
    try:
        return process.communicate(timeout=HANG)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        raise AssertionError("the program hangs") from None


def numbers(path: Path) -> dict[str, Any]:
    document = json.loads((path / "results.json").read_text("utf-8"))
    del document["timing"]
    return document


def query(path: Path, question: str) -> list[tuple[Any, ...]]:
    with contextlib.closing(sqlite3.connect(path / "results.sqlite")) as base:
        return base.execute(question).fetchall()


def is_begun(process: subprocess.Popen[str]) -> str:
    """Wait for the first line."""
    line = process.stdout.readline()
    assert "players" in line, process.stderr.read()
    return line


def some_pairs(folder: Path, process: subprocess.Popen[str]) -> None:
    """Wait until results have been written."""
    journal = folder / "run" / "results.sqlite"
    while process.poll() is None and (not journal.exists() or journal.stat().st_size < 60_000):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.01)


def wait_a_moment(process: subprocess.Popen[str], moment: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(moment)


# --- killed ---------------------------------------------------------------------------------------


MOMENTS = [
    pytest.param(workers, moment, marks=[pytest.mark.slow] if moment or workers == 1 else [])
    for workers in (1, 2)
    for moment in (0.0, 0.3, 0.9, 1.7, 2.9)
]
"""Only one of them is tried in a hurry."""


@pytest.mark.parametrize("workers, moment", MOMENTS)
def test_a_killed_tournament_repeats_or_loses_something(workers, moment, folder):
    deals = 200
    arguments = (*FIELD, "--deals", deals, "--seed", 3, "--records", "--out")
    with start(folder, *arguments, "run", "--workers", workers) as process:
        is_begun(process)
        if not moment:
            some_pairs(folder, process)
        wait_a_moment(process, moment)
        family = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        _, alive = psutil.wait_procs(family, timeout=HANG)
        assert not alive, "orphans"
        process.stdout.close()
        process.stderr.close()
    before = query(folder / "run", "SELECT meeting, number, points FROM orders")
    run(folder, *arguments, "run", "--workers", 3 - workers)
    assert set(before) <= set(query(folder / "run", "SELECT meeting, number, points FROM orders"))
    [[played]] = query(folder / "run", "SELECT sum(orders) FROM work")
    assert played == 3 * deals, "nothing twice"
    run(folder, *arguments, "whole")
    assert numbers(folder / "run") == numbers(folder / "whole")
    texts = [(folder / name / "records.txt").read_text() for name in ("run", "whole")]
    assert texts[0] == texts[1]


# --- Ctrl-C ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("workers, moment", MOMENTS)
def test_ctrl_c_hangs_or_is_more_than_a_line(workers, moment, folder):
    arguments = (*FIELD, "--deals", 100_000, "--out", "a run", "--workers", workers)
    with start(folder, *arguments) as process:
        is_begun(process)
        wait_a_moment(process, moment)
        family = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)
        _, error = finish(process)
        _, alive = psutil.wait_procs(family, timeout=HANG)
    assert process.returncode == 130, error
    assert not alive, "orphans"
    assert error.count("\n") == 1, error
    assert error == "interrupted\n" or (
        error.startswith("interrupted after ")
        and "of 300,000 deck orders; the same command with --out 'a run' goes on" in error
    )
    assert {entry.name for entry in (folder / "a run").iterdir()} <= {"results.sqlite"}


# --- other ends -----------------------------------------------------------------------------------


def test_a_factory_that_fails_in_a_worker_hangs_the_program(folder):
    arguments = ("random", "own:only_here", "--deals", 50, "--out", "run", "--workers", 2)
    _, error = run(folder, *arguments, code=2)
    assert error.count("\n") == 1, error
    assert "agent 'own:only_here': its factory failed (RuntimeError: no licence)" in error
    # One process needs no worker, and the results belong to the same tournament.
    run(folder, *arguments[:-2])
    assert numbers(folder / "run")["complete"] is True


@pytest.mark.slow
def test_a_player_that_ends_its_process_hangs_the_program_or_loses_results(folder):
    arguments = ("random", "own:Quitter", "--deals", 2000, "--out", "run")
    _, error = run(folder, *arguments, "--workers", 2, code=2)
    assert error.count("\n") == 1, error
    assert error.startswith("error: a worker process died")
    run(folder, *arguments)
    [[played]] = query(folder / "run", "SELECT sum(orders) FROM work")
    assert played == 2000


@pytest.mark.slow
def test_a_second_program_in_the_same_folder_spoils_the_first(folder):
    arguments = (*FIELD, "--deals", 100_000, "--out", "run")
    with start(folder, *arguments) as process:
        is_begun(process)
        some_pairs(folder, process)
        for more in ((), ("--overwrite",), ("--deals", 5)):
            _, error = run(folder, *arguments, *more, code=2)
            assert error.count("\n") == 1
            assert "in use by another process" in error
        os.killpg(process.pid, signal.SIGINT)
        _, error = finish(process)
        assert process.returncode == 130
    [[pairs]] = query(folder / "run", "SELECT count(*) FROM orders")
    assert f"interrupted after {pairs:,} of" in error


def test_a_player_that_goes_elsewhere_takes_the_files_along(folder):
    out, error = run(folder, "random", "own:Wanderer", "--deals", 20, "--out", "a run", "--records")
    assert error == ""
    assert "a run/results.json" in out
    assert sorted(entry.name for entry in (folder / "a run").iterdir()) == [
        "heatmap.png", "records.txt", "report.html", "results.json", "results.sqlite",
    ]  # fmt: skip
    assert numbers(folder / "a run")["duels"][0]["margin"]["mean"] == 0.0


def limit_files() -> None:
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))


@pytest.mark.slow
def test_a_full_disk_is_a_traceback(folder):
    arguments = ("random", "random", "--deals", 20_000, "--out", "run")
    variables = {"preexec_fn": limit_files}
    _, error = run(folder, *arguments, code=2, **variables)
    assert error.count("\n") == 1, error
    assert error.startswith("error: results in ")
    [[pairs]] = query(folder / "run", "SELECT count(*) FROM orders")
    assert 0 < pairs < 20_000
    run(folder, *arguments)
    [[played]] = query(folder / "run", "SELECT sum(orders) FROM work")
    assert played == 20_000
