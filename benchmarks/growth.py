"""How time and memory grow: over the size of the batch, and over deals and players of tournaments.

Batches are played in this process, memory is measured and tournaments are run in ones of their own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks import machine, peers
from benchmarks.batch import RandomPlay
from benchmarks.costs import MEBIBYTE, run_python
from benchmarks.rounds import Scale, Turn, alternate, per_round, show_progress, timed
from benchmarks.tables import Table

PLAYERS = ("random", "greedy", "heuristic", "never_double", "always_double")

_MEMORY = """
import sys, numpy as np, psutil
from benchmarks.batch import RandomPlay
rows, steps = map(int, sys.argv[1:])
resident = psutil.Process().memory_info
play = RandomPlay(256, copy=False)
for _ in range(200):
    play.choose_and_step()
before = resident().rss
play = RandomPlay(rows, copy=False)
for _ in range(20):
    play.choose_and_step()
made = resident().rss
for _ in range(steps):
    play.choose_and_step()
print(before, made, resident().rss)
"""


def measure(scale: Scale) -> list[Table]:
    """Batches, their memory, and tournaments."""
    return [*batches(scale), *tournaments(scale)]


def batches(scale: Scale) -> list[Table]:
    """Throughput over powers of four, and bytes a row."""
    sizes = [4**power for power in range(0, 9, 4 if scale.quick else 1)]
    turns: dict[str, Turn] = {}
    for size in sizes:
        play = RandomPlay(size, copy=False)
        turns[f"step {size}"] = partial(timed, step=play.step, prepare=play.choose)
        # Enough that neither the call nor seeding every row count for much.
        decisions = max(10, 1000 // size) if scale.quick else max(100, 100_000 // size)
        turns[f"random {size}"] = partial(timed, step=partial(_roll, play, decisions))
    speeds = alternate(turns, scale, scale.seconds / 3)
    rows = []
    for size in sizes:
        step, free = speeds[f"step {size}"], speeds[f"random {size}"]
        rows.append(
            (
                f"{size:,}",
                f"{step.rate / 1e6:,.3f}",
                f"{step.cores:.1f}",
                f"{1e6 * size / step.rate:,.1f} µs",
                f"{free.rate / 1e6:,.3f}",
                f"{free.cores:.1f}",
            )
        )
    throughput = Table(
        "Growth: size of the batch",
        (
            "rows", "`step`, million decisions/s", "cores busy", "a step takes",
            "`play_at_random`, million decisions/s", "cores busy",
        ),
        rows,
        f"Medians of {scale.rounds} alternating rounds; `copy=False`, choosing actions not "
        f"counted.",
        per_round(speeds),
    )  # fmt: skip
    return [throughput, memory(scale, sizes[-1])]


def _roll(play: RandomPlay, decisions: int) -> int:
    play.envs.play_at_random(decisions, 0)
    play.masks = play.envs.masks
    return decisions * play.rows


def memory(scale: Scale, size: int) -> Table:
    """Bytes of a row, counted and measured."""
    steps = 20 if scale.quick else 1000
    envs = RandomPlay(64, copy=False).envs
    arrays = {name: one for name, one in vars(envs).items() if isinstance(one, np.ndarray)}
    row = envs._rows.dtype
    show_progress(f"memory of {size:,} rows")
    before, made, after = map(int, run_python(_MEMORY, str(size), str(steps)))
    show_progress("")
    parts = {
        "record (position)": row["state"].itemsize,
        "deck": row["deck"].itemsize,
        "stream": row["stream"].itemsize,
        "row: record, deck, stream, settings, score": row.itemsize,
        "observation": envs._observations[0].nbytes,
        "mask": envs._masks[0].nbytes,
        "all arrays of a batch": sum(one.nbytes for one in arrays.values()) // envs.num_envs,
        f"resident memory, {size:,} rows, reset included": (made - before) // size,
    }
    rows = [(name, f"{count:,}") for name, count in parts.items()]
    grown = (after - made) / MEBIBYTE
    rows.append((f"growth over {steps * size:,} more decisions", f"{grown:+.1f} MiB in all"))
    return Table(
        "Growth: memory of a batch",
        ("", "bytes a row"),
        rows,
        "Counted from the arrays of a batch with `copy=False`; resident memory as the system shows "
        "it, in a process of its own.",
        {**parts, "growth_bytes": after - made},
    )


def tournaments(scale: Scale) -> list[Table]:
    """Time of tournaments over deals and players, and of 100,000 deals between two players."""
    if not peers.installed("scipy", "tyro", "rich"):
        return []
    few = 20 if scale.quick else 1000
    duel = ("greedy", "heuristic")
    plans = [(duel, few), (duel, 2 * few), (duel, 4 * few)]
    if not scale.quick:
        plans.append((duel, 8 * few))
    plans += [(PLAYERS[:count], few) for count in (3, 4, 5)]
    plans.append((duel, 200 if scale.quick else 100_000))
    workers = worker_arguments()
    rows, data = [], {}
    show_progress("tournament of all players, so that everything is compiled")
    run_tournament(PLAYERS, 2, workers)
    for players, deals in plans:
        show_progress(f"tournament of {len(players)} players over {deals:,} deals")
        timing = run_tournament(players, deals, workers)
        meetings = len(players) * (len(players) - 1) // 2
        seconds = timing["seconds"]
        data[f"{len(players)} players, {deals} deals"] = timing
        rows.append(
            (
                ", ".join(players),
                f"{deals:,}",
                str(meetings),
                f"{seconds:.2f} s",
                f"{seconds / (deals * meetings) * 1e6:,.0f} µs",
                f"{timing['wall']:.2f} s",
            )
        )
    show_progress("")
    return [
        Table(
            "Growth: tournaments",
            ("players", "deals", "meetings", "playing", "a duplicate deal", "whole program"),
            rows,
            f"`python -m training.tournament PLAYER … --deals N --seed 1"
            f"{' '.join(['', *workers])}`, once each. A duplicate deal is played twice, with seats "
            f"exchanged; the whole program includes start and report.",
            data,
        )
    ]


def worker_arguments() -> list[str]:
    """How to ask the tournament for all cores; nothing if it has no such argument."""
    command = [sys.executable, "-m", "training.tournament", "--help"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return ["--workers", str(machine.cores())] if "--workers" in text else []


def run_tournament(players: tuple[str, ...], deals: int, workers: list[str]) -> dict[str, float]:
    """Seconds of playing as the tournament states them, and of the whole program."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch) / "out"
        command = [
            sys.executable, "-m", "training.tournament", *players, "--deals", str(deals),
            "--seed", "1", "--out", str(out), *workers,
        ]  # fmt: skip
        start = time.perf_counter()
        subprocess.run(command, check=True, capture_output=True)
        wall = time.perf_counter() - start
        results = json.loads((out / "results.json").read_text(encoding="utf-8"))
    return {"seconds": float(results.get("timing", {}).get("seconds", wall)), "wall": wall}
