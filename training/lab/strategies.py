"""Strategies for the draw phase to play by: `python -m training.lab make-strategies`.

The rubber solved (`training.lab.solve_rubber`) has a strategy for every score, six megabytes each.
To play by them, as many representative scores are chosen as asked for, so that every score is near
one of them in what its deals pay, most of all the scores that occur often; at these scores the draw
phase is solved once more. What comes of any two of these strategies is worked out once, and at
every score each player plays the one that is best there against the worst that the other's can do.

    OUT             the strategies, a file for `agents.equilibrium`
    OUT.work.npz    what is done so far, until all is; the same command goes on from there
"""

from __future__ import annotations

import io
import json
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track

from agents.equilibrium import FORMAT
from poke_env import _files
from poke_env._checks import check_integer, check_number
from poke_env.equity import Floats, places
from training.lab import results, stored
from training.lab._draw_loops import Actions
from training.lab.draws import HISTORIES, DrawModel, Response, balanced_model, solve
from training.lab.played import Played
from training.lab.stored import Worth


def choose_representatives(
    payoffs: npt.NDArray[np.float32], outcomes: Floats, often: Floats, count: int
) -> npt.NDArray[np.int64]:
    """Scores that stand for all others, one after the other where most is left to gain.

    Args:
        payoffs: float32 (places, K), of every score by outcome.
        outcomes: float64 (K,), how likely each outcome is, on the whole.
        often: float64 (places,), how often each score occurs.
        count: how many representatives.

    Returns:
        The representatives, int64 (count,).
    """
    # What pays all outcomes alike decides nothing.
    centred = payoffs - (payoffs @ outcomes)[:, None]
    weighted = (centred * np.sqrt(outcomes)).astype(np.float32)
    squares = (weighted**2).sum(axis=1)
    chosen: list[int] = []
    nearest = np.full(len(payoffs), np.inf)
    for _ in range(count):
        distances = squares[:, None] + squares - 2 * weighted @ weighted.T
        gains = (often[:, None] * np.maximum(_finite(nearest)[:, None] - distances, 0)).sum(axis=0)
        chosen.append(int(gains.argmax()))
        nearest = np.minimum(nearest, distances[:, chosen[-1]])
    return np.array(chosen)


def choose_serving(payoffs: npt.NDArray[np.float32], outcomes: Floats) -> npt.NDArray[np.int64]:
    """By which strategy each player plays at each score: the safest of those there are.

    Args:
        payoffs: float32 (places, K), of every score by outcome, to the non-dealer.
        outcomes: float64 (M, M, K), how likely each outcome is between the non-dealer's strategy
            and the dealer's.

    Returns:
        int64 (2, places): the non-dealer's, which is best against the worst of the dealer's; and
        the dealer's, likewise.
    """
    values = np.tensordot(payoffs, outcomes.astype(np.float32), axes=(1, 2))
    return np.array([values.min(axis=2).argmax(axis=1), values.max(axis=1).argmin(axis=1)])


def _finite(distances: Floats) -> Floats:
    return np.where(np.isinf(distances), 1e12, distances)


@dataclass(frozen=True)
class Strategies:
    """Strategies to play by, in the classes and slots of `agents.hand_classes`.

    Attributes:
        places: int64 (M,), the scores that they were solved at (`poke_env.equity.scores`).
        serves: int64 (2, places), by which of them the non-dealer and the dealer play each score.
        non_dealer: int8 (M, 134459, 4), the slots discarded as bits: first decision, and second
            after one, two and three cards.
        dealer: int8 (M, 3, 134459, 13), likewise by draws made and the non-dealer's history.
        gaps: float64 (M,), what best answers to the strategies gain, in points.
        about: what they were made from.
    """

    places: npt.NDArray[np.int64]
    serves: npt.NDArray[np.int64]
    non_dealer: npt.NDArray[np.int8]
    dealer: npt.NDArray[np.int8]
    gaps: Floats
    about: dict[str, Any]

    def to_bytes(self) -> bytes:
        """A file of arrays that `numpy.load` reads, packed more tightly than NumPy does.

        Lanes come before classes: neighbouring classes are treated alike.
        """
        arrays = {
            "places": self.places,
            "serves": self.serves.astype(np.int16),
            "non_dealer": self.non_dealer.swapaxes(-1, -2),
            "dealer": self.dealer.swapaxes(-1, -2),
            "gaps": self.gaps,
            "about": np.frombuffer(json.dumps({"format": FORMAT, **self.about}).encode(), np.uint8),
        }
        content = io.BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_LZMA) as file:
            for name, array in arrays.items():
                part = io.BytesIO()
                np.save(part, np.ascontiguousarray(array))
                entry = zipfile.ZipInfo(f"{name}.npy")  # of a fixed date: the same bytes every time
                entry.compress_type = zipfile.ZIP_LZMA
                file.writestr(entry, part.getvalue())
        return content.getvalue()


def representatives(
    worth: Worth, played: Played | None, outcomes: Floats, count: int
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
    """What every score pays by outcome, float32 (places, K); and the scores to solve, int64.

    Args:
        worth: what a deal is worth at each score.
        played: the tricks that are played; None for perfect ones.
        outcomes: float64 (3, 4, 6, 19), how likely each outcome is, on the whole.
        count: how many scores.
    """
    table = worth.table
    listed = range(table.values.shape[1])
    payoffs = np.array([worth.payoffs(place, played).ravel() for place in listed], np.float32)
    often = np.asarray(table.visits[0], np.float64)
    chosen = choose_representatives(payoffs, outcomes.ravel(), often, count)
    beginning = places(table.target)[0, 0, 0, 0]
    if beginning not in chosen:  # it is played by players who are blind to the score
        chosen[-1] = beginning
    return payoffs, chosen


class StrategiesWork:
    """Strategies that are solved, and how often which outcome comes of which two, in a file.

    Args:
        path: the file.
        identity: what it belongs to.

    Raises:
        ValueError: if there is a file that is damaged, or belongs to something else.
    """

    def __init__(self, path: Path, identity: str) -> None:
        self.path = path
        self.identity = identity
        self.solved: list[_Solved] = []
        self.outcomes: list[Floats] = []
        self._saved = time.monotonic()
        if path.exists():
            before = results.load_work(path, identity, *_Solved._fields, "outcomes")
            solved = (before[name] for name in _Solved._fields)
            self.solved = [_Solved(*one) for one in zip(*solved, strict=True)]
            self.outcomes = list(before["outcomes"])

    def solve(
        self, model: DrawModel, worth: Worth, played: Played | None, chosen: list[int],
        tolerance: float, console: Console,
    ) -> None:  # fmt: skip
        """Solve the draw phase at the chosen scores, and bring any two of the strategies together.

        Args:
            model: the draw phase.
            worth: what a deal is worth at each score.
            played: the tricks that are played; None for perfect ones.
            chosen: the scores.
            tolerance: exploitability at each of them, in points.
            console: where progress is shown.
        """
        try:
            strategies = [one.strategies(model) for one in self.solved]
            for place in track(chosen[len(strategies) :], "scores", console=console):
                start = strategies[-1] if strategies else None
                found = solve(model, worth.payoffs(place, played), tolerance, start=start)
                strategies.append(found.strategies)
                non_dealer, dealer = found.strategies
                self.solved.append(_Solved(non_dealer.actions, dealer.actions, found.gap))
                self._save_now_and_then()
            rest = strategies[len(self.outcomes) :]
            for own, _ in track(rest, "what comes of them", console=console):
                met = [model.outcomes(own.reach, other.reach).ravel() for _, other in strategies]
                self.outcomes.append(np.array(met))
                self._save_now_and_then()
        except BaseException:
            self.save()
            raise

    def _save_now_and_then(self) -> None:
        if time.monotonic() - self._saved > _SAVE_SECONDS:
            self.save()

    def save(self) -> None:
        """Write it, whole or not at all."""
        solved = {
            name: np.array([getattr(one, name) for one in self.solved]) for name in _Solved._fields
        }
        outcomes = np.array(self.outcomes)
        results.save_work(self.path, self.identity, outcomes=outcomes, **solved)
        self._saved = time.monotonic()


class _Solved(NamedTuple):
    """The actions of a pair of strategies, and what best answers gain against them."""

    non_dealer: Actions
    dealer: Actions
    gap: float

    def strategies(self, model: DrawModel) -> tuple[Response, Response]:
        """The strategies; what they brought when they were solved is not known any more."""
        return (
            Response(np.nan, model.non_dealer_reach(self.non_dealer), self.non_dealer),
            Response(np.nan, model.dealer_reach(self.dealer), self.dealer),
        )


_SAVE_SECONDS = 60.0


@dataclass(frozen=True)
class MakeStrategies:
    """Strategies for the draw phase to play by, for `agents.equilibrium`.

    Attributes:
        out: The file to write (*.npz).
        table: The equity table that says what scores are worth; by default the one shipped.
        draws: The draw phase of the same solution (*.draws.npz); by default the shipped one.
        count: Number of scores that are solved.
        tolerance: Exploitability at each of them, in points.
        threads: Threads; 0 is one for each core.
        quick: Few scores, roughly, within a minute or two.
    """

    out: Path
    table: Path | None = None
    draws: Path | None = None
    count: int = 48
    tolerance: float = 0.1
    threads: int = 0
    quick: bool = False

    def run(self, console: Console) -> None:
        """Solve and write the file."""
        results.folder_of(self.out)
        count = check_integer("count", self.count, 1, 200)
        tolerance = check_number("tolerance", self.tolerance, above=0.0)
        threads = check_integer("threads", self.threads, 0, 1024) or None
        if self.quick:
            console.print("--quick: few scores, solved roughly; good for a look, not for use.")
            count, tolerance = min(count, 2), max(tolerance, 1.0)
        solution = stored.load(self.table, self.draws)
        table, played = solution.table, solution.played
        often = table.visits[0] / table.visits[0].sum()
        outcomes = np.asarray(
            sum(often[place] * solution.chances(place) for place in range(len(often)))
        )
        worth = Worth(table)
        payoffs, chosen = representatives(worth, played, outcomes, count)
        tricks = "perfect" if played is None else played.player
        sources = results.sources("_draw_loops", "draws", "strategies")
        work = StrategiesWork(
            self.out.with_suffix(".work.npz"),
            f"{table.digest}, {tricks}, count {count}, tolerance {tolerance:g}, {sources}",
        )
        model = balanced_model(threads=threads)
        work.solve(model, worth, played, chosen.tolist(), tolerance, console)
        between = np.array(work.outcomes)
        between /= between.sum(axis=2, keepdims=True)
        made = Strategies(
            chosen,
            choose_serving(payoffs, between),
            np.array([one.non_dealer for one in work.solved]),
            np.array([one.dealer[..., : len(HISTORIES)] for one in work.solved]),
            np.array([one.gap for one in work.solved]),
            {
                "equity_table": table.version,
                "equity_digest": table.digest,
                "tricks": tricks,
                "tolerance": tolerance,
            },
        )
        content = made.to_bytes()
        _files.write(self.out, content)
        work.path.unlink(missing_ok=True)
        console.print(
            f"{count} strategies, {len(content):,} bytes; best answers gain at most "
            f"{made.gaps.max():.3f} points a deal against them"
        )
