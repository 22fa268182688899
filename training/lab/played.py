"""The cards that players really take, beside those that the solved trick phase says.

The table of tricks (`agents.tricks`) knows both hands; players do not. Deals between copies of a
player, at scores as they occur in rubbers, tell how many cards the leader takes where the table
says so many, for each pair of numbers of draws:

    python -m training.lab count-played pimc-64 --out runs/played.npz

With that file the draw phase is solved for the tricks that are played, not for perfect ones: every
payoff becomes its mean over what is taken (`as_played`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console
from rich.progress import track
from rich.table import Table as RichTable

import agents
from agents.hand_classes import SUITS
from agents.tricks import trick_table
from poke_env import _files
from poke_env._checks import check_integer
from poke_env.equity import EquityTable, Floats
from poke_env.games.poke import MAX_HAND, POKE, Rules
from poke_env.vector import BatchEnv
from training.lab.deals import Table, play_out
from training.lab.draws import DEALER_DRAWS, NON_DEALER_DRAWS, Payoffs

_SPLITS = MAX_HAND + 1
_CHUNK = 4096
_SCORES = 4096
_PRIOR = 20.0
"""So many deals that fit the table are added to each count, for numbers of draws seldom seen."""


class Played(NamedTuple):
    """How often cards were taken.

    Attributes:
        player: its name.
        counts: int64 (3, 4, 6, 6): by draws of the non-dealer and the dealer, the cards that the
            non-dealer takes by the table, and those that he took.
    """

    player: str
    counts: npt.NDArray[np.int64]

    @property
    def chances(self) -> Floats:
        """How likely what is taken is, float64 (3, 4, 6, 6), adding up to 1 along the last axis."""
        counts = self.counts + _PRIOR * np.eye(_SPLITS)
        return np.asarray(counts / counts.sum(axis=-1, keepdims=True))

    def as_played(self, payoffs: Payoffs) -> Payoffs:
        """Payoffs by the cards that the table gives, from payoffs by the cards that are taken."""
        return np.asarray(np.einsum("ndtc,ndcp->ndtp", self.chances, payoffs))

    def of_tricks(self, outcomes: Payoffs) -> Payoffs:
        """Outcomes by the cards that are taken, from outcomes by those that the table gives."""
        return np.asarray(np.einsum("ndtc,ndtp->ndcp", self.chances, outcomes))

    def save(self, path: Path) -> None:
        """Write it to a file, whole or not at all."""
        with _files.replacing(path) as temporary:
            np.savez_compressed(temporary, **self.arrays())

    def arrays(self) -> dict[str, Any]:
        """What stands in a file of its own, or in one that depends on it; see `of`."""
        return {"player": np.array(self.player), "counts": self.counts}

    @classmethod
    def load(cls, path: Path) -> Played:
        """What `save` wrote.

        Raises:
            ValueError: if it is something else.
        """
        try:
            played = cls._of_arrays(_files.load_arrays(path.read_bytes(), "player", "counts"))
        except ValueError as error:
            raise ValueError(
                f"played must be a file of count-played, {path} is none: {error}"
            ) from error
        return played

    @classmethod
    def of(cls, stored: Mapping[str, Any]) -> Played | None:
        """The counts among the arrays of a file; None if there are none.

        Raises:
            ValueError: if they are no counts.
        """
        if "player" not in stored or "counts" not in stored:
            return None
        return cls._of_arrays(stored)

    @classmethod
    def _of_arrays(cls, stored: Mapping[str, Any]) -> Played:
        counts = stored["counts"]
        shape = (NON_DEALER_DRAWS + 1, DEALER_DRAWS + 1, _SPLITS, _SPLITS)
        if counts.shape != shape or counts.dtype.kind not in "iu" or (counts < 0).any():
            raise ValueError(
                f"counts must be whole numbers of at least 0, {shape}, got {counts.dtype} of shape "
                f"{counts.shape}"
            )
        return cls(str(stored["player"]), counts.astype(np.int64))


def tricks_of(played: Played | None) -> str:
    """What tricks are meant, in words."""
    return "perfect tricks" if played is None else f"tricks of {played.player}"


def count_played(player: str, deals: int, seed: int, console: Console | None = None) -> Played:
    """Let copies of a player play single deals at scores as they occur, and count cards.

    Args:
        player: a name, a model file or package.module:factory.
        deals: number of deals.
        seed: of decks, scores and keys.
        console: where progress is shown, if anywhere.
    """
    deals = check_integer("deals", deals, 1)
    table = Table(Rules(), (agents.load(player),), seed)
    start_scores = EquityTable.load().start_scores(_SCORES, seed)
    tricks = trick_table()
    counts = np.zeros((NON_DEALER_DRAWS + 1, DEALER_DRAWS + 1, _SPLITS, _SPLITS), np.int64)
    starts = range(0, deals, _CHUNK)
    for start in track(starts, "deals", console=console, disable=console is None):
        numbers = np.arange(start, min(start + _CHUNK, deals))
        envs = BatchEnv(
            POKE, len(numbers), match="deal", start_scores=start_scores, autoreset=False, copy=False
        )
        envs.reset([seed] * len(numbers), {"skip": numbers})
        play_out(envs, table, numbers)
        ends = envs.record
        rows = np.arange(len(numbers))
        dealer = ends["dealer"].astype(np.int64)
        ranks = np.sort(ends["hand"] // SUITS, axis=2)
        by_table = [
            tricks.cards_taken(leader.tolist(), follower.tolist())
            for leader, follower in zip(ranks[rows, 1 - dealer], ranks[rows, dealer], strict=True)
        ]
        draws = ends["draw_count"]
        taken = ends["deal_taken"][rows, 1 - dealer]
        made = draws[rows, 1 - dealer], draws[rows, dealer]
        np.add.at(counts, (*made, np.array(by_table), taken), 1)
    return Played(player, counts)


@dataclass(frozen=True)
class CountPlayed:
    """The cards that a player takes, beside those that the table of tricks says.

    Attributes:
        player: A name, a model file or package.module:factory.
        out: The file to write (*.npz).
        deals: Number of deals.
        seed: Of decks, scores and keys.
        quick: A rough count within a minute.
    """

    player: tyro.conf.Positional[str] = "pimc-64"
    out: Path = Path("runs/played.npz")
    deals: int = 1_000_000
    seed: int = 0
    quick: bool = False

    def run(self, console: Console) -> None:
        """Count, write and show."""
        _files.writable_folder(self.out.parent)
        deals = self.deals
        if self.quick:
            deals = min(deals, 50_000)
            console.print(f"--quick: {deals:,} deals")
        played = count_played(self.player, deals, self.seed, console)
        played.save(self.out)
        total = played.counts.sum(axis=(0, 1))
        shown = RichTable(title=f"Cards that {self.player} takes as non-dealer, {deals:,} deals")
        shown.add_column("by the table")
        for taken in range(_SPLITS):
            shown.add_column(f"takes {taken}", justify="right")
        for by_table, row in enumerate(total):
            share = row / max(row.sum(), 1)
            shown.add_row(str(by_table), *(f"{100 * part:.1f} %" for part in share))
        console.print(shown)
