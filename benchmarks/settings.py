"""Which settings train fastest: numbers of environments and threads of PyTorch."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from benchmarks import machine, peers
from benchmarks.rounds import Scale, Turn, alternate, per_round, ratios, timed
from benchmarks.tables import Table
from benchmarks.training import improve, run_in_scratch


def measure(scale: Scale) -> list[Table]:
    """The learner's steps per second with rollouts of the default size."""
    if not peers.installed("torch", "sb3_contrib"):
        return []
    import torch

    default_threads = torch.get_num_threads()
    turns: dict[str, Turn] = {}
    settings: dict[str, tuple[int, int]] = {}
    with ExitStack() as stack:
        for num_envs in (64, 1024) if scale.quick else (64, 128, 256, 512, 1024):
            run = stack.enter_context(run_in_scratch(num_envs=num_envs, n_steps=4096 // num_envs))
            for threads in range(1, machine.cores() + 1):
                name = f"{num_envs} environments, {threads} threads"
                settings[name] = num_envs, threads
                turns[name] = partial(
                    timed,
                    step=partial(improve, run),
                    prepare=partial(torch.set_num_threads, threads),
                )
        speeds = alternate(turns, scale)
    torch.set_num_threads(default_threads)
    first = next(iter(speeds.values()))
    rows = []
    for name, speed in speeds.items():
        found = ratios(speed, first)
        rows.append(
            (
                *map(str, settings[name]),
                f"{speed.rate:,.0f}",
                f"{speed.cores:.1f}",
                f"{min(found):.2f} to {max(found):.2f}",
            )
        )
    return [
        Table(
            "Training: settings",
            ("environments", "torch threads", "steps/s", "cores busy", "times the first row"),
            rows,
            f"{scale.note} Rollouts of 4,096 decisions in all rows, all else by default. This is "
            f"speed alone: shorter rollouts in more environments are another estimate of returns.",
            per_round(speeds),
        )
    ]
