"""What a step of the batch is made of, on one thread: what bounds it."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from benchmarks.batch import ROWS, RandomPlay
from benchmarks.rounds import Scale
from benchmarks.tables import Table
from poke_env import engine, games
from poke_env._jit import compiled
from poke_env.games import base


@compiled
def act(rows: npt.NDArray[np.void], actions: npt.NDArray[np.int64], equity: engine.Equity) -> None:
    """Carry out an action in every row and score it; nothing is dealt or shown."""
    for i in range(rows.shape[0]):
        engine._act(rows[i], actions[i], equity)


@compiled
def mark_legal(rows: npt.NDArray[np.void], masks: npt.NDArray[np.int8]) -> None:
    """Write the legal actions of every row."""
    for i in range(rows.shape[0]):
        base.legal_actions(rows[i]["state"], masks[i])


@compiled
def deal_anew(
    rows: npt.NDArray[np.void],
    starts: npt.NDArray[np.void],
    decks: npt.NDArray[np.int8],
    pack: npt.NDArray[np.int8],
    equity: engine.Equity,
) -> None:
    """Put the next match into every row, and shuffle and deal its first deck."""
    for i in range(rows.shape[0]):
        engine._renew(rows[i], starts)
        engine._deal(rows[i], decks[i], pack, equity)


def measure(scale: Scale) -> list[Table]:
    """Nanoseconds a decision in every game."""
    steps = 20 if scale.quick else 1000
    return [parts_of(name, steps) for name in games.every()]


def parts_of(game: str, steps: int) -> Table:
    """Nanoseconds a decision of a game, medians over so many steps of random play."""
    play = RandomPlay(game=game, copy=False, threads=1)
    copying = RandomPlay(game=game, copy=True, threads=1)
    envs = play.envs
    seen, masks = np.array(envs.observe()[0]), np.array(envs.masks)
    settings = envs.settings
    spent: dict[str, list[float]] = {}
    ended = []

    def clock(name: str, function: Callable[..., object], *arguments: object) -> None:
        start = time.perf_counter()
        function(*arguments)
        spent.setdefault(name, []).append((time.perf_counter() - start) / ROWS * 1e9)

    for _ in range(steps + 2):
        play.choose()
        copying.choose()
        rows, states = envs._rows.copy(), envs.record
        clock("act", act, rows, play.actions, settings.equity)
        clock("check", envs.find_illegal, play.actions)
        clock("observe", engine.observe, states, envs._players, seen)
        clock("legal", mark_legal, envs._rows, masks)
        clock("write", seen.fill, 1.0)
        clock("deal", deal_anew, rows, settings.starts, envs._decks, settings.pack, settings.equity)
        clock("choose", play.choose)
        clock("step", play.step)
        clock("copy", copying.step)
        ended.append(envs._dones.mean())
    found = {name: statistics.median(times[2:]) for name, times in spent.items()}
    share = float(np.mean(ended))
    dealing = found["deal"] * share
    known = found["act"] + found["check"] + found["observe"] + found["legal"] + dealing
    parts = (
        ("a step, `copy=False`", found["step"]),
        ("– writing observations", found["observe"]),
        ("– the action and its score", found["act"]),
        ("– legal actions", found["legal"]),
        ("– checking that actions are legal", found["check"]),
        (f"– shuffling and dealing, which follows {share:.1%} of decisions", dealing),
        ("– all else: rewards and ends, Python", found["step"] - known),
        ("beside it: a step, `copy=True`", found["copy"]),
        ("beside it: writing as many bytes as the observations have", found["write"]),
        ("beside it: choosing random actions", found["choose"]),
    )
    return Table(
        f"Parts of a step of `{game}`, batch of {ROWS:,}, one thread",
        ("", "ns a decision", "share of the step"),
        [(name, f"{part:,.0f}", f"{part / found['step']:.0%}") for name, part in parts],
        f"Medians of {steps} steps of random play; an observation has {seen.shape[1]} numbers, "
        f"{seen[0].nbytes:,} bytes. Parts are measured one after the other over all rows, so "
        f"they need not add up to the step, which goes through them row by row; all else is "
        f"the difference, which may be negative.",
        found,
    )
