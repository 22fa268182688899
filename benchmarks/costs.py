"""What starting, copying and long play cost."""

from __future__ import annotations

import subprocess
import sys
import time
import timeit
from collections.abc import Callable

import numpy as np
import psutil

import poke_env
from benchmarks.rounds import Scale
from benchmarks.tables import Table
from poke_env import poke_v0
from poke_env.vector import BatchEnv

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
_FIRST_BATCH = """
import time; t = time.perf_counter()
import poke_env
envs = poke_env.make_batch("poke", 4096, seed=0); _, mask, _ = envs.reset()
envs.step(mask.argmax(axis=1))
seconds = time.perf_counter() - t
from poke_env import engine
functions = (engine.advance, engine.find_illegal, engine.deal)
print(seconds, sum(sum(f.stats.cache_misses.values()) for f in functions))
"""


def measure(scale: Scale) -> list[Table]:
    """Seconds to start, microseconds to copy, growth of memory over a million steps."""
    tries = 2 if scale.quick else 5
    steps = STEPS // 50 if scale.quick else STEPS
    starts = {"`poke_v0.env`": _FIRST_STEP, "`make_batch` of 4,096 rows": _FIRST_BATCH}
    imported = min(float(run_python(_IMPORT)[0]) for _ in range(tries))
    rows = [("`import poke_env`", f"{imported:.2f} s")]
    for name, source in starts.items():
        run_python(source)  # fills the cache of compiled functions
        started = [run_python(source) for _ in range(tries)]
        seconds = min(float(one[0]) for one in started)
        compiled = max(int(one[1]) for one in started)
        rows.append((f"{name}: second start to the first step", f"{seconds:.2f} s"))
        rows.append((f"{name}: functions compiled anew at the second start", f"{compiled}"))
    env = poke_v0.raw_env()
    env.reset(seed=0)
    env.step(0)
    record = env.record
    batch = poke_env.make_batch("poke", 1)
    rows += [
        ("record, bytes", f"{record.nbytes}"),
        ("row with deck, stream and settings, bytes", f"{env._rows.nbytes}"),
        ("row of a batch, bytes", f"{batch._rows.nbytes}"),
        ("observation and mask of a row, bytes", f"{observed_bytes(batch)}"),
        ("copying the bytes of a record", microseconds(record.tobytes)),
        ("`clone()`", microseconds(env.clone)),
        ("`get_state()`", microseconds(env.get_state)),
        (f"resident memory after {steps:,} steps", memory_growth(steps)),
    ]
    return [Table("Costs", ("what", "cost"), rows, f"Best of {tries} runs each.")]


def observed_bytes(batch: BatchEnv) -> int:
    """Bytes that a step hands out of every row as observation and mask."""
    observation, mask, _ = batch.reset()
    return int(observation[0].nbytes + mask[0].nbytes)


def run_python(source: str, *arguments: str) -> list[str]:
    """What a fresh interpreter prints, split into words."""
    command = [sys.executable, "-c", source, *arguments]
    output = subprocess.run(command, check=True, capture_output=True)
    return output.stdout.decode().split()


def microseconds(function: Callable[[], object]) -> str:
    """Time of one call."""
    timer = timeit.Timer(function)
    count, _ = timer.autorange()
    return f"{min(timer.repeat(5, count)) / count * 1e6:.2f} µs"


def memory_growth(steps: int) -> str:
    """Growth of resident memory over so many steps of random play, after a warm-up."""
    env = poke_v0.raw_env()
    rng = np.random.default_rng(0)
    process = psutil.Process()
    _play(env, rng, steps // 10)
    before = process.memory_info().rss
    start = time.perf_counter()
    _play(env, rng, steps)
    rate = steps / (time.perf_counter() - start)
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
