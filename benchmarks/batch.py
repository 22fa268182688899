"""`envs.step` from Python against Pgx's Leduc hold'em: random legal actions, everything observed.

On both sides the same number of matches goes on at once, every step writes observation, mask and
rewards of every row, and a match that ended is followed by the next one in the same step. Pgx
chooses actions inside its compiled function, as its documentation does; ours are chosen by a
compiled loop over the masks.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import poke_env
from benchmarks import machine, peers
from benchmarks.rounds import Scale, Turn, alternate, compared, per_round, timed
from benchmarks.tables import Table
from poke_env import streams
from poke_env._jit import compiled

ROWS = 4096


@compiled
def choose(
    masks: npt.NDArray[np.int8],
    generator: npt.NDArray[np.int64],
    actions: npt.NDArray[np.int64],
) -> None:
    """Write a legal action of every row into `actions` (B,), each equally likely."""
    for i in range(masks.shape[0]):
        actions[i] = streams.random_legal(masks[i], generator)


class RandomPlay:
    """A batch of ours and the actions to be played in it.

    Args:
        rows: matches at once.
        game: its name.
        **settings: of the batch.
    """

    def __init__(self, rows: int = ROWS, game: str = "poke", **settings: Any) -> None:
        self.envs = poke_env.make_batch(game, rows, seed=0, **settings)
        self.rows = rows
        self.masks = self.envs.reset()[1]
        self.generator = streams.generator(np.arange(2))
        self.actions = np.zeros(rows, np.int64)

    def choose(self) -> None:
        """Draw the next actions."""
        choose(self.masks, self.generator, self.actions)

    def step(self) -> int:
        """Carry them out."""
        self.masks = self.envs.step(self.actions)[1]
        return self.rows

    def choose_and_step(self) -> int:
        """Both."""
        self.choose()
        return self.step()


def measure(scale: Scale) -> list[Table]:
    """Decisions per second of a step alone, and of the whole loop."""
    ours = {f"`envs.step`, `copy={copy}`": RandomPlay(copy=copy) for copy in (True, False)}
    ours["`envs.step`, `copy=False`, 1 thread"] = RandomPlay(copy=False, threads=1)
    alone: dict[str, Turn] = {}
    whole: dict[str, Turn] = {}
    for name, play in ours.items():
        alone[name] = partial(timed, step=play.step, prepare=play.choose)
        whole[name] = partial(timed, step=play.choose_and_step)
    pgx_names, smaller = [], ""
    if peers.installed("jax", "pgx"):
        from benchmarks.pgx_peer import players

        for name, peer in players(ROWS, machine.cores()).items():
            pgx_names.append(name)
            alone[name] = partial(timed, step=peer.step, prepare=peer.choose)
            whole[name] = partial(timed, step=peer.play)
            smaller = f", Pgx {peer.written:,}"
    envs = next(iter(ours.values())).envs
    written = envs._observations[0].nbytes + envs._masks[0].nbytes
    tables = []
    for title, turns in (("a step alone", alone), ("choosing actions included", whole)):
        speeds = alternate(turns, scale)
        rows = []
        for name, speed in speeds.items():
            times: list[str] = []
            for pgx in pgx_names:
                times += compared(speed, speeds[pgx]) if name in ours else ("–", "–")
            rows.append((name, f"{speed.rate / 1e6:,.3f}", f"{speed.cores:.1f}", *times))
        columns = [column for pgx in pgx_names for column in (f"times {pgx}", "over rounds")]
        tables.append(
            Table(
                f"Batch of {ROWS:,} matches, observed: {title}",
                ("", "million decisions/s", "cores busy", *columns),
                rows,
                f"{scale.note} A step of ours writes {written:,} bytes a row as observation and "
                f"mask{smaller}.",
                per_round(speeds),
            )
        )
    return tables
