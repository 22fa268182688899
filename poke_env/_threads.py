"""Rows shared out between the cores. Compiled loops hold no lock of Python's, so threads do."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache
from itertools import pairwise
from queue import SimpleQueue
from threading import Thread
from typing import Any

import numpy as np

_PARTS_A_THREAD = 4
"""A thread that is slowed down by its neighbours leaves parts to the others."""


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def split(rows: int, threads: int, least: int) -> list[slice]:
    """Slices that share out the rows evenly.

    Args:
        rows: their number.
        threads: that will work on them.
        least: rows for which another thread pays.
    """
    parts = 1 if threads == 1 else max(1, min(_PARTS_A_THREAD * threads, rows // least))
    bounds = np.linspace(0, rows, parts + 1).astype(int).tolist()
    return [slice(start, stop) for start, stop in pairwise(bounds)]


def in_parallel(
    function: Callable[[slice], Any], parts: Sequence[slice], threads: int
) -> list[Any]:
    """What `function` returns for every part, in their order; this thread works too.

    Raises:
        Exception: what the function raised for one of the parts.
    """
    left = deque(enumerate(parts))
    results: list[Any] = [None] * len(parts)

    def work() -> None:
        while left:
            try:
                place, part = left.popleft()
            except IndexError:  # another thread was faster
                return
            results[place] = function(part)

    others = min(threads, len(parts)) - 1
    ended: SimpleQueue[BaseException | None] = SimpleQueue()
    for _ in range(others):
        _helpers(os.getpid()).put((work, ended))
    try:
        work()
    finally:
        errors = [ended.get() for _ in range(others)]
    for error in errors:
        if error is not None:
            raise error
    return results


@cache
def _helpers(process: int) -> SimpleQueue[Any]:
    """Where the threads of a process wait for work; a forked one has none of its parent's.

    Handing work to them takes half the time that `concurrent.futures` needs for it.
    """
    queue: SimpleQueue[Any] = SimpleQueue()

    def serve() -> None:
        while True:
            work, ended = queue.get()
            error = None
            try:
                work()
            except BaseException as caught:
                error = caught
            ended.put(error)
            del work, ended  # nothing is held while waiting

    for _ in range(cores()):
        Thread(target=serve, name="poke_env", daemon=True).start()
    return queue
