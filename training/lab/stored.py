"""The solved rubber as it is stored: the equity table, and the draw phase at every score.

Both come from one run of `python -m training.lab solve-rubber` and are shipped: the table as that
of the environment, the draw phase as `training/lab/data/equilibrium.npz`. Another pair of files can
be read instead. A rough solution (`--quick`) knows some scores alone; each of the others is served
by the next one with at least as many points on both sides, as when it was solved.
"""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from poke_env._files import load_arrays
from poke_env.equity import EquityTable, Floats, Integers, scores
from poke_env.games.poke import Rules
from training.lab.draws import Payoffs
from training.lab.induction import OVER, Outcomes, Scoring, successors, worth_of
from training.lab.played import Played, tricks_of
from training.lab.rubber_check import rules_of
from training.lab.solve_rubber import (
    DECISIONS,
    DRAWS,
    KINDS,
    OUTCOMES,
    every_outcome,
    payoffs_at,
    those_that_happen,
)


class Solution(NamedTuple):
    """What is stored of the solved rubber, a line a score (`poke_env.equity.scores`).

    Attributes:
        table: the equity table.
        probabilities: float16 (places, 3, 4, 6, 19), how likely each outcome of a deal is, in the
            places of `training.lab.draws.Payoffs`; three digits each.
        shares: uint8 (places, 11, 130), how many hands of each kind draw at each decision, in steps
            of 1 / 255 (`training.lab.solve_rubber.drawing_shares`).
        gaps: float64 (places,), what best answers gain against both strategies together, in points.
        identity: what the solution was made with.
        played: the tricks that it is for; None for perfect ones.
    """

    table: EquityTable
    probabilities: npt.NDArray[np.float16]
    shares: npt.NDArray[np.uint8]
    gaps: Floats
    identity: str
    played: Played | None

    def chances(self, place: int) -> Floats:
        """How likely the outcomes of the deal at a score are, float64 (3, 4, 6, 19): by draws of
        the non-dealer and the dealer, cards of the non-dealer, and who scores for poker."""
        found = self.probabilities[place].astype(np.float64)
        return np.asarray(found / found.sum())

    @property
    def tricks(self) -> str:
        """The tricks that it was solved for, in words."""
        return tricks_of(self.played)


class Worth:
    """What the outcomes of a deal are worth, points after it included.

    Everything is seen by the deal's non-dealer, who is the next dealer. Exact for the table given.

    Args:
        table: the equity table, of one policy in both seats.
    """

    def __init__(self, table: EquityTable) -> None:
        self.table = table
        self.rules: Rules = rules_of(table)
        self.scoring = Scoring.of(self.rules)
        self.listed = scores(table.target)
        self._values = np.append(table.values[0], 0.0)

    @cached_property
    def every(self) -> Outcomes:
        """All outcomes of a deal, flat, in the places of `training.lab.draws.Payoffs`."""
        return every_outcome(self.scoring, self.rules)

    def outcomes(self, chances: Floats) -> Outcomes:
        """Outcomes for `training.lab.induction`, those of probability 0 left out.

        Args:
            chances: float64 (3, 4, 6, 19), adding up to 1.
        """
        return those_that_happen(self.every, chances)

    def expected(self, place: int, outcomes: Outcomes) -> Floats:
        """The margin that the non-dealer gains in a deal and after it, float64 (K,), in points.

        Args:
            place: the score at which the deal begins.
            outcomes: what it brings; their probabilities do not matter.
        """
        return -worth_of(self.scoring, place, outcomes, self._values)

    def payoffs(self, place: int, played: Played | None = None) -> Payoffs:
        """What the deal at a score brings the non-dealer, points after it included.

        Args:
            place: the score.
            played: makes them payoffs by the cards that the table of tricks gives, from payoffs by
                the cards that are taken.
        """
        payoffs = payoffs_at(self.scoring, place, self.every, self._values)
        return payoffs if played is None else played.as_played(payoffs)

    def win(self, place: int, outcomes: Outcomes, margin: int = 0) -> Floats:
        """The non-dealer's probability of winning the whole, draws as half, float64 (K,).

        Args:
            place, outcomes: as for `expected`.
            margin: his points above the line less the dealer's before the deal.
        """
        after, dealers = successors(self.scoring, place, outcomes)
        margins = margin - self.scoring.unit * dealers
        score = self.listed[np.maximum(after, 0)]
        going = self.table.win_probability(score[:, :2], score[:, 2:], 0, margins)
        return np.where(after == OVER, (np.sign(margins) + 1) / 2, going)


def load_table(path: Path | None = None) -> EquityTable:
    """Read an equity table, by default the one of the environment.

    Raises:
        ValueError: if it is damaged, or of two policies that differ by seat.
        OSError: if it cannot be read.
    """
    table = EquityTable.load(path)
    if len(table.policies) != 1:
        raise ValueError(
            f"table must be of one policy that plays both seats, {table.version!r} is of "
            f"{len(table.policies)}"
        )
    return table


def load(table: Path | None = None, draws: Path | None = None) -> Solution:
    """Read a solution, by default the shipped one.

    Args:
        table: the equity table, `OUT.npz` of solve-rubber.
        draws: the draw phase, `OUT.draws.npz` of the same run.

    Raises:
        ValueError: if a file is damaged, or they are of different solutions.
        OSError: if a file is missing.
    """
    equity = load_table(table)
    path = draws or DRAWS
    if not path.exists():
        raise FileNotFoundError(
            f"draws: there is no solution {path}; make one with python -m training.lab "
            f"solve-rubber and give its files as --table and --draws"
        )
    try:
        names = ("probabilities", "shares", "gaps")
        stored = load_arrays(path.read_bytes(), *names, "identity", "decisions")
        arrays = {name: stored[name] for name in names}
        identity, decisions = str(stored["identity"]), tuple(stored["decisions"].tolist())
        played = Played.of(stored)
        count = equity.values.shape[1]
        wanted = {
            "probabilities": (count, *OUTCOMES),
            "shares": (count, len(DECISIONS), KINDS),
            "gaps": (count,),
        }
        for name, shape in wanted.items():
            if arrays[name].shape != shape:
                raise ValueError(f"{name} must be {shape}, got {arrays[name].shape}")
        if decisions != DECISIONS:
            raise ValueError(f"it tells other decisions apart: {', '.join(decisions)}")
    except ValueError as error:
        raise ValueError(
            f"draws must be a file of solve-rubber, {path} is none: {error}"
        ) from error
    if equity.policies[0].get("identity") != identity:
        raise ValueError(
            f"draws and table must be of one solution, {path} is of {identity!r}, the table "
            f"{equity.version!r} of {equity.policies[0].get('identity')!r}"
        )
    at = _serving(~np.isnan(arrays["gaps"]), equity.target)
    return Solution(equity, **{name: array[at] for name, array in arrays.items()},
                    identity=identity, played=played)  # fmt: skip


def about(table: EquityTable) -> dict[str, Any]:
    """What a result says of the table that it was read from."""
    return {
        "table": table.version,
        "digest": table.digest,
        "policies": [dict(policy) for policy in table.policies],
        "largest_error_of_E": float(table.errors.max()),
        "largest_error_of_W": float(table.win_errors.max()),
    }


def _serving(solved: npt.NDArray[np.bool_], target: int) -> Integers:
    """The solved score that serves each score, int64 (places,): the next one with at least as many
    points on both sides and the same games.

    Raises:
        ValueError: if there is none.
    """
    listed = scores(target)
    known = np.flatnonzero(solved)
    found = np.arange(len(listed))
    for place in np.flatnonzero(~solved):
        further = listed[known, :2] - listed[place, :2]
        fits = (
            (listed[known, 2:] == listed[place, 2:]).all(axis=1)
            & (further >= 0).all(axis=1)
            & (listed[known, 0] < target)
        )
        if not fits.any():
            raise ValueError(f"draws must know a score that serves {listed[place].tolist()}")
        found[place] = known[fits][further[fits].sum(axis=1).argmin()]
    return found
