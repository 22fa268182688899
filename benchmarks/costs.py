"""What starting, copying and long play cost."""

from __future__ import annotations

import subprocess
import sys
import time
import timeit
from collections.abc import Callable

import numpy as np
import psutil

from benchmarks.tables import Table
from poke_env import poke_v0

STEPS = 1_000_000
MEBIBYTE = 2**20

_IMPORT = "import time; t = time.perf_counter(); import poke_env; print(time.perf_counter() - t)"
_FIRST_STEP = """
import time; t = time.perf_counter()
from poke_env import engine, poke_v0
env = poke_v0.env(); env.reset(seed=0); env.step(0)
seconds = time.perf_counter() - t
compiled = sum(sum(f.stats.cache_misses.values()) for f in (engine.deal, engine.step))
print(seconds, compiled)
"""


def measure() -> Table:
    """Seconds to start, microseconds to copy, growth of memory over a million steps."""
    run_python(_FIRST_STEP)  # fills the cache of compiled functions
    imported = min(float(run_python(_IMPORT)[0]) for _ in range(5))
    started = [run_python(_FIRST_STEP) for _ in range(5)]
    env = poke_v0.raw_env()
    env.reset(seed=0)
    env.step(0)
    record = env.record
    rows = [
        ("`import poke_env`", f"{imported:.2f} s"),
        ("second start to the first step", f"{min(float(one[0]) for one in started):.2f} s"),
        ("functions compiled anew at the second start", started[0][1]),
        ("record, bytes", f"{record.nbytes}"),
        ("row with deck, stream and settings, bytes", f"{env._rows.nbytes}"),
        ("copying the bytes of a record", microseconds(record.tobytes)),
        ("`clone()`", microseconds(env.clone)),
        ("`get_state()`", microseconds(env.get_state)),
        (f"resident memory after {STEPS:,} steps", memory_growth()),
    ]
    return Table("Costs", ("what", "cost"), rows, "Best of five runs each.")


def run_python(source: str) -> list[str]:
    """What a fresh interpreter prints, split into words."""
    output = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True)
    return output.stdout.decode().split()


def microseconds(function: Callable[[], object]) -> str:
    """Time of one call."""
    timer = timeit.Timer(function)
    count, _ = timer.autorange()
    return f"{min(timer.repeat(5, count)) / count * 1e6:.2f} µs"


def memory_growth() -> str:
    """Growth of resident memory over random play, after a warm-up."""
    env = poke_v0.raw_env()
    rng = np.random.default_rng(0)
    process = psutil.Process()
    _play(env, rng, STEPS // 10)
    before = process.memory_info().rss
    start = time.perf_counter()
    _play(env, rng, STEPS)
    rate = STEPS / (time.perf_counter() - start)
    grown = (process.memory_info().rss - before) / MEBIBYTE
    return f"{grown:+.1f} MiB (at {rate:,.0f} steps/s)"


def _play(env: poke_v0.raw_env, rng: np.random.Generator, steps: int) -> None:
    numbers = rng.random(4096).tolist()
    env.reset()
    for step in range(steps):
        legal = env.observe(env.agent_selection)["action_mask"].nonzero()[0]
        env.step(int(legal[int(numbers[step & 4095] * len(legal))]))
        if not any(env.terminations.values()):
            continue
        env.reset()
