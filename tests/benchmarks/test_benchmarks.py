"""That every benchmark runs and prints its tables; figures decide nothing."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import __main__ as program
from benchmarks import peers

ROOT = Path(__file__).parents[2]


def test_unknown_benchmark_is_run(capsys):
    with pytest.raises(SystemExit) as stopped:
        program.main(["--quick", "batsh"])
    assert stopped.value.code == 2
    assert "unknown benchmark 'batsh'; there are: aec, " in capsys.readouterr().err


def test_peer_that_nothing_tells_how_to_install():
    advice = peers.advice(["pgx", "rlcard"])
    assert "pgx, rlcard" in advice
    assert "pip install" in advice


@pytest.mark.slow
def test_quick_benchmark_that_does_not_run(tmp_path):
    out = tmp_path / "folder" / "results.json"
    names = ["aec", "costs", "growth", "parts"]
    command = [sys.executable, "-m", "benchmarks", "--quick", *names, "--out", str(out)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "This is a quick run" in done.stdout
    document = json.loads(out.read_text(encoding="utf-8"))
    assert document["quick"] is True
    assert document["cores"] >= 1
    assert document["versions"]["numba"]
    assert list(document["benchmarks"]) == names
    for result in document["benchmarks"].values():
        for table in result["tables"]:
            assert f"### {table['title']}\n" in done.stdout
            assert table["rows"]
            assert all(len(row) == len(table["columns"]) for row in table["rows"])


@pytest.mark.slow
@pytest.mark.parametrize("name", ["batch", "rollouts"])
def test_missing_peer_that_goes_unnamed(name, monkeypatch, capsys):
    found = importlib.util.find_spec
    absent = {"jax", "pgx", "pyspiel", "rlcard"}
    monkeypatch.setattr(
        importlib.util, "find_spec", lambda module: None if module in absent else found(module)
    )
    assert program.main(["--quick", name]) == 0
    printed = capsys.readouterr().out
    assert "| `" in printed
    assert "Pgx `" not in printed
    assert "Not installed, and left out: jax, pgx" in printed
