"""On what a benchmark ran, for the file of its results."""

from __future__ import annotations

import os
import platform
import shlex
import sys
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

PACKAGES = (
    "sackson-poke", "numpy", "numba", "gymnasium", "pettingzoo", "torch", "stable-baselines3",
    "sb3-contrib", "jax", "jaxlib", "pgx", "open_spiel", "rlcard",
)  # fmt: skip


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def describe() -> dict[str, Any]:
    """Date, command, processor, cores, memory, load, versions of packages."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": shlex.join(["python", "-m", "benchmarks", *sys.argv[1:]]),
        "processor": processor(),
        "cores": cores(),
        "memory_bytes": psutil.virtual_memory().total,
        "load_average": psutil.getloadavg(),
        "system": platform.platform(),
        "versions": versions(),
    }


def processor() -> str:
    """Name of the processor, as the system knows it."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def versions() -> dict[str, str | None]:
    """Versions of Python and of packages; None for one that is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = None
    return found
