"""Rows shared out between the cores. Compiled loops hold no lock of Python's, so threads do."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import pairwise
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def split(rows: int, threads: int, least: int) -> list[slice]:
    """Slices that share out the rows evenly.

    Args:
        rows: their number.
        threads: most slices.
        least: rows for which waking another thread pays.
    """
    parts = max(1, min(threads, rows // least))
    bounds = np.linspace(0, rows, parts + 1).astype(int).tolist()
    return [slice(start, stop) for start, stop in pairwise(bounds)]


def in_parallel(function: Callable[[slice], Result], parts: Sequence[slice]) -> list[Result]:
    """What `function` returns for every part; the first is done in this thread."""
    others = [_pool(os.getpid()).submit(function, part) for part in parts[1:]]
    return [function(parts[0]), *(other.result() for other in others)]


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of a process; a forked one must not wait for those of its parent."""
    return ThreadPoolExecutor(cores(), thread_name_prefix="poke_env")
