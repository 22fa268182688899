"""The rubber with every draw phase at equilibrium: `python -m training.lab solve-rubber`.

Points below the line only grow within a game, so the rubber is solved backwards: at every score a
deal pays its points above the line and what the score after it is worth, and the draw phase of that
deal is solved (`training.lab.draws`). Neighbouring scores have much the same strategies: those of
the neighbour whose payoffs are nearest are tried first, and improved only if best answers to them
gain more than the tolerance. So the exploitability stated for a score was measured at that score.

    OUT.npz               the equity table (`poke_env.equity.EquityTable`); nothing is sampled, its
                          errors are the exploitability of the score's strategies
    OUT.csv, .json, .png  what stands beside every equity table
    OUT.draws.npz         for every score: outcomes of its deal, how often which hands draw, gaps;
                          and the tricks that were counted, if there were any
    OUT.work.npz          what was solved so far; the same command goes on from there

`--install` ships the solution: the table becomes that of the environment, as its next version.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from agents.hand_classes import HandClasses
from poke_env import _files
from poke_env._checks import check_integer, check_number
from poke_env.equity import LEVELS, EquityTable, Floats, places, rules_key, scores
from poke_env.games.poke import MAX_HAND, Rules
from training.lab import results, rubber_files
from training.lab._draw_loops import CATEGORIES, SPLITS
from training.lab.draws import (
    DEALER_DRAWS,
    DRAWS_MADE,
    HISTORIES,
    NON_DEALER_DRAWS,
    RESULTS,
    DrawModel,
    Equilibrium,
    Payoffs,
    Response,
    above_the_line,
    balanced_model,
    solve,
)
from training.lab.induction import (
    Outcomes,
    Scoring,
    levels,
    solve_futures,
    solve_values,
    solve_visits,
    value_of,
    worth_of,
)
from training.lab.played import Played, tricks_of
from training.processes import worker_pools

OUTCOMES = (NON_DEALER_DRAWS + 1, DEALER_DRAWS + 1, SPLITS, RESULTS)

DECISIONS = (
    "non-dealer doubles",
    "non-dealer redoubles",
    *(
        f"dealer {what} after {seen}"
        for seen in ("no draw", "one draw", "two draws")
        for what in ("draws free", "doubles", "redoubles")
    ),
)
"""The decisions to draw that are told apart, for `drawing_shares`."""
DRAWS = Path(__file__).resolve().parent / "data" / "equilibrium.npz"
"""Where the draw phase of the shipped solution lies."""

KINDS = CATEGORIES * 13
"""Kinds of hands that are told apart: by poker category and the rank that decides first."""

_MOST_KEPT = 40
"""Strategies kept to start from: the latest ones."""
_QUICK_STEP = 10
_QUICK_TOLERANCE = 2.0


def every_outcome(scoring: Scoring, rules: Rules) -> Outcomes:
    """The outcomes of a deal in the places of `Payoffs`, flat, all of probability 0."""
    non_dealer, dealer, cards, _ = np.indices(OUTCOMES)
    above = np.broadcast_to(above_the_line(rules), OUTCOMES)
    return Outcomes(
        below_dealer=((MAX_HAND - cards) * np.array(rules.non_dealer_values)[non_dealer]).ravel(),
        below_other=(cards * np.array(rules.dealer_values)[dealer]).ravel(),
        units=(-above.ravel() / scoring.unit).round().astype(np.int64),
        probability=np.zeros(above.size),
    )


def those_that_happen(every: Outcomes, chances: Floats) -> Outcomes:
    """The outcomes of probability above 0.

    Args:
        every: `every_outcome`.
        chances: float64 (3, 4, 6, 19), adding up to 1.
    """
    flat = chances.ravel()
    some = flat > 0
    below_dealer, below_other, units, _ = every
    return Outcomes(below_dealer[some], below_other[some], units[some], flat[some])


def payoffs_at(scoring: Scoring, place: int, outcomes: Outcomes, values: Floats) -> Payoffs:
    """What a deal brings the non-dealer at a score, points after it included.

    Args:
        scoring: of the rules.
        place: the score, see `poke_env.equity.scores`.
        outcomes: `every_outcome`.
        values: float64 (places + 1,), what each score is worth to its dealer; the last number is 0.
    """
    return -worth_of(scoring, place, outcomes, values).reshape(OUTCOMES)


def kinds(hands: HandClasses) -> npt.NDArray[np.int64]:
    """The kind of every type, int64 (7462,): 13 times its category and the deciding rank."""
    found = np.empty(len(hands.category), np.int64)
    for type_, (category, ranks) in enumerate(zip(hands.category, hands.ranks, strict=True)):
        counts = np.bincount(ranks, minlength=13)
        wheel = ranks.tolist() == [0, 1, 2, 3, 12] and category in (4, 8)
        decides = 3 if wheel else int(np.flatnonzero(counts == counts.max())[-1])
        found[type_] = 13 * int(category) + decides
    return found


def drawing_shares(model: DrawModel, solved: Equilibrium) -> Floats:
    """How many of the hands of each kind draw at each decision, float64 (11, 130).

    Decisions after different numbers of cards drawn by the non-dealer are averaged as often as he
    draws them. Kinds that do not occur have 0.
    """
    hands = model.hands
    kind = kinds(hands)[hands.type]
    total = np.bincount(kind, hands.size, KINDS)
    non_dealer, dealer = (strategy.actions for strategy in solved.strategies)
    seen = solved.non_dealer.sum(axis=0)[: len(HISTORIES)]

    def share(actions: npt.NDArray[np.int8], weights: Floats) -> Floats:
        weights = weights / max(weights.sum(), 1e-300)
        drawing = ((actions != 0) * weights).sum(axis=1) * hands.size
        return np.bincount(kind, drawing, KINDS) / np.maximum(total, 1)

    first = np.array([seen[1 + k] + seen[4 + 3 * k : 7 + 3 * k].sum() for k in range(3)])
    shares = [share(non_dealer[:, :1], np.ones(1)), share(non_dealer[:, 1:4], first)]
    for made in range(NON_DEALER_DRAWS + 1):
        here = np.flatnonzero(made == DRAWS_MADE)
        shares += [share(dealer[draw][:, here], seen[here]) for draw in range(DEALER_DRAWS)]
    return np.array(shares)


class Kept(NamedTuple):
    """Strategies to start from."""

    payoffs: Payoffs
    outcomes: Payoffs
    strategies: tuple[Response, Response]


class Solved(NamedTuple):
    """The draw phase of a score, in the words of `Work`."""

    place: int
    probabilities: npt.NDArray[np.float32]
    gap: float
    iterations: int
    shares: npt.NDArray[np.uint8]


class Solver:
    """Solves scores one by one; what it solved last is where it starts from.

    Args:
        model: the draw phase.
        rules: standard ones but for points.
        tolerance: exploitability at each score, in points.
        played: the cards that are taken instead of those that the table of tricks says.
    """

    def __init__(
        self, model: DrawModel, rules: Rules, tolerance: float, played: Played | None = None
    ) -> None:
        self.model = model
        self.scoring = Scoring.of(rules)
        self.tolerance = tolerance
        self.played = played
        self._every = every_outcome(self.scoring, rules)
        self._kept: dict[int, Kept] = {}

    def solve(self, place: int, values: Floats) -> Solved:
        """The draw phase at a score.

        Args:
            place: the score, see `poke_env.equity.scores`.
            values: as for `payoffs_at`; those of scores after it count.
        """
        payoffs = payoffs_at(self.scoring, place, self._every, values)
        if self.played:
            payoffs = self.played.as_played(payoffs)
        solved = solve(self.model, payoffs, self.tolerance, start=self._nearest(payoffs))
        outcomes = self.model.outcomes(solved.non_dealer, solved.dealer)
        if solved.curve:
            self._kept.pop(place, None)
            self._kept[place] = Kept(payoffs, outcomes, solved.strategies)
            while len(self._kept) > _MOST_KEPT:
                del self._kept[next(iter(self._kept))]
        outcomes = outcomes / outcomes.sum()
        if self.played:
            outcomes = self.played.of_tricks(outcomes)
        shares = (255 * drawing_shares(self.model, solved)).round().astype(np.uint8)
        return Solved(place, outcomes.astype(np.float32), solved.gap, len(solved.curve), shares)

    def _nearest(self, payoffs: Payoffs) -> tuple[Response, Response] | None:
        """The strategies whose payoffs differ least from these, as outcomes occur under them."""

        def distance(kept: Kept) -> float:
            change = payoffs - kept.payoffs
            change -= (kept.outcomes * change).sum()
            return float((kept.outcomes * np.abs(change)).sum())

        if not self._kept:
            return None
        return min(self._kept.values(), key=distance).strategies


SolveScores = Callable[[Sequence[int], Floats], Iterable[Solved]]
"""Solves scores of one level, each when it is asked for or all at once; see `Solver.solve`."""


@contextlib.contextmanager
def solvers(
    workers: int, threads: int | None, rules: Rules, tolerance: float, played: Played | None
) -> Iterator[SolveScores]:
    """Solvers among which the scores of a level are shared, neighbours to the same one.

    Args:
        workers: processes; with 1 all is solved in this one.
        threads: of each.
        rules, tolerance, played: as for `Solver`.

    Raises:
        ChildProcessError: if a process died.
    """
    if workers == 1:
        solver = Solver(balanced_model(threads=threads), rules, tolerance, played)
        yield lambda places, values: (solver.solve(place, values) for place in places)
        return
    with worker_pools(workers, 1, _start, threads, rules, tolerance, played) as pools:

        def share_out(places: Sequence[int], values: Floats) -> Iterator[Solved]:
            running = []
            for pool, part in zip(pools, np.array_split(places, workers), strict=True):
                running += [pool.submit(_solve, place, values) for place in part.tolist()]
            for future in as_completed(running):
                yield future.result()

        yield share_out


_worker: dict[str, Solver] = {}
"""The solver of a worker process; empty in every other process."""


def _start(threads: int | None, rules: Rules, tolerance: float, played: Played | None) -> None:
    _worker["solver"] = Solver(balanced_model(threads=threads), rules, tolerance, played)


def _solve(place: int, values: Floats) -> Solved:
    return _worker["solver"].solve(place, values)


@dataclass
class Work:
    """What has been solved, by place.

    Attributes:
        probabilities: float32 (places, *OUTCOMES), how likely each outcome of the deal is.
        gaps: float64 (places,), see `Equilibrium.gap`; NaN where nothing is solved.
        iterations: int64 (places,), of fictitious play.
        shares: uint8 (places, 11, 130), `drawing_shares` in steps of 1 / 255.
    """

    probabilities: npt.NDArray[np.float32]
    gaps: Floats
    iterations: npt.NDArray[np.int64]
    shares: npt.NDArray[np.uint8]

    @classmethod
    def begin(cls, count: int) -> Work:
        """Nothing solved yet."""
        return cls(
            np.zeros((count, *OUTCOMES), np.float32),
            np.full(count, np.nan),
            np.zeros(count, np.int64),
            np.zeros((count, len(DECISIONS), KINDS), np.uint8),
        )

    def note(self, solved: Solved) -> None:
        """Write a score down."""
        place = solved.place
        self.probabilities[place] = solved.probabilities
        self.gaps[place] = solved.gap
        self.iterations[place] = solved.iterations
        self.shares[place] = solved.shares

    def save(self, path: Path, identity: str) -> None:
        """Write all of it; `identity` says what it belongs to."""
        results.save_work(path, identity, **vars(self))

    @classmethod
    def load(cls, path: Path, identity: str) -> Work:
        """What `save` wrote.

        Raises:
            ValueError: if it belongs to something else, or is damaged.
        """
        return cls(**results.load_work(path, identity, *cls.__dataclass_fields__))


_TIES = 50
"""Repetitions after which ties are worth what they are worth."""


class Solution:
    """The scores that are solved, and what all scores are worth under it.

    Args:
        rules: standard ones but for points.
        work: what is solved already.
        step: width of the squares of scores that share a solution, the one of their highest score;
            scores of 0 points are solved for themselves.
    """

    def __init__(self, rules: Rules, work: Work, step: int = 1) -> None:
        self.scoring = Scoring.of(rules)
        self.work = work
        self.step = step
        self.listed = scores(rules.target)
        self._every = every_outcome(self.scoring, rules)

    def outcomes(self, row: int, place: int) -> Outcomes:
        """The outcomes of the deal at a score; a `Distributions` of `training.lab.induction`."""
        chances = self.work.probabilities[self.serving(place)].astype(np.float64)
        return those_that_happen(self._every, chances / chances.sum())

    def serving(self, place: int) -> int:
        """The score whose solution serves this one."""
        target = self.scoring.target
        own, other, own_games, other_games = self.listed[place].tolist()
        if own == target or self.step == 1:
            return place
        last = target - 1
        below = [
            last - (last - points) // self.step * self.step if points else 0
            for points in (own, other)
        ]
        return int(places(target)[below[0], below[1], own_games, other_games])

    def missing(self) -> list[tuple[tuple[int, ...], list[int]]]:
        """The levels of scores in the order in which they are solved, and what is left of each."""
        return [
            (level, [place for place in level if self._is_missing(place)])
            for level in levels(self.scoring.target)
        ]

    def _is_missing(self, place: int) -> bool:
        return self.serving(place) == place and bool(np.isnan(self.work.gaps[place]))

    def complete(self, solve_scores: SolveScores) -> Iterator[Solved]:
        """Solve what is missing, and yield each score when it is solved."""
        values = np.zeros(len(self.listed) + 1)
        for level, missing in self.missing():
            tied = bool(self.listed[level[0], 0] == self.scoring.target)
            for _ in range(2 if tied else 1):  # ties refer to each other, with a small chance
                for solved in solve_scores(missing, values):
                    self.work.note(solved)
                    yield solved
                for _ in range(_TIES if tied else 1):
                    for place in level:
                        outcomes = self.outcomes(0, place)
                        values[place] = value_of(self.scoring, place, outcomes, values)


def as_table(solution: Solution, rules: Rules, name: str, identity: str) -> EquityTable:
    """The equity table of what was solved."""
    values = solve_values(solution.scoring, solution.outcomes)
    futures = solve_futures(solution.scoring, solution.outcomes)
    serving = [solution.serving(place) for place in range(len(solution.listed))]
    gaps = solution.work.gaps[serving]
    return EquityTable(
        rules=rules_key(rules),
        values=values,
        errors=(gaps[None] / 2).astype(np.float32),
        win_errors=np.zeros(values.shape, np.float32),
        visits=solve_visits(solution.scoring, solution.outcomes).astype(np.float32),
        futures=np.rint(LEVELS * np.cumsum(futures, axis=2).clip(0, 1)).astype(np.uint16),
        unit=solution.scoring.unit,
        version=name,
        policies=({"name": "equilibrium", "identity": identity},),
        deals=0,
        seed=0,
    )


@dataclass(frozen=True)
class SolveRubber:
    """The rubber with the draw phase solved at every score.

    Attributes:
        out: The equity table to write (*.npz); other files lie beside it.
        tolerance: Exploitability at each score that is solved, in points.
        step: Scores in squares of so many points share the strategies of one of them, whose
            exploitability at the others is not known; what a score is worth is computed for itself.
        played: A file of `count-played`: the tricks that a player really plays; without it tricks
            are played perfectly, as if all cards lay open.
        workers: Processes among which scores are shared, of 0.8 GB each.
        threads: Threads of each of them; 0 is one for each core.
        quick: A rough table within a minute or two: few scores, a large tolerance.
        install: Ship the solution: the table as that of the environment, as the next version, and
            the draw phase as that of the laboratory.
    """

    out: Path = Path("runs/equilibrium/rubber.npz")
    tolerance: Annotated[float, tyro.conf.arg(metavar="POINTS")] = 1.0
    step: int = 1
    played: Path | None = None
    workers: int = 1
    threads: int = 0
    quick: bool = False
    install: bool = False

    def run(self, console: Console) -> None:
        """Solve, or go on solving, and write the files."""
        if self.install and self.quick:
            raise ValueError("quick must be no for install")
        if self.out.suffix != ".npz":
            raise ValueError(f"out must be a file *.npz, got {str(self.out)!r}")
        tolerance = check_number("tolerance", self.tolerance, above=0.0)
        threads = check_integer("threads", self.threads, 0, 1024) or None
        workers = check_integer("workers", self.workers, 1, 1024)
        _files.writable_folder(self.out.parent)
        step = check_integer("step", self.step, 1, 20)
        if self.quick:
            console.print("--quick: few scores, solved roughly; good for a look, not for use.")
            step, tolerance = _QUICK_STEP, max(tolerance, _QUICK_TOLERANCE)
        rules = Rules()
        played = None if self.played is None else Played.load(self.played)
        sources = _sources(self.played)
        identity = f"{tricks_of(played)}, tolerance {tolerance:g}, step {step}, {sources}"
        working = self.out.with_suffix(".work.npz")
        work = (
            Work.load(working, identity)
            if working.exists()
            else Work.begin(len(scores(rules.target)))
        )
        solution = Solution(rules, work, step)
        with solvers(workers, threads, rules, tolerance, played) as solve_scores:
            _solve_all(solution, solve_scores, working, identity, console)
        table = as_table(solution, rules, self.out.stem, identity)
        rubber_files.write(table, self.out, (tolerance, 0.0))
        draws = self.out.with_suffix(".draws.npz")
        with _files.replacing(draws) as temporary:
            np.savez_compressed(
                temporary,
                probabilities=work.probabilities.astype(np.float16),
                shares=work.shares,
                gaps=work.gaps,
                iterations=work.iterations,
                decisions=np.array(DECISIONS),
                identity=np.array(identity),
                **({} if played is None else played.arrays()),
            )
        rubber_files.summary(table, console)
        if self.install:
            DRAWS.parent.mkdir(exist_ok=True)
            _files.write(DRAWS, draws.read_bytes())
            rubber_files.install(table, console)


def _solve_all(
    solution: Solution, solve_scores: SolveScores, path: Path, identity: str, console: Console
) -> None:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(),
               TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=console) as progress:
        total = sum(len(missing) for _, missing in solution.missing())
        task = progress.add_task("scores", total=total)
        saved = time.monotonic()
        try:
            for solved in solution.complete(solve_scores):
                own, other, *games = solution.listed[solved.place].tolist()
                description = f"{own}-{other}, games {games[0]}-{games[1]}: gap {solved.gap:.2f}"
                progress.update(task, advance=1, description=description)
                if time.monotonic() - saved > _SAVE_SECONDS:
                    solution.work.save(path, identity)
                    saved = time.monotonic()
        finally:
            solution.work.save(path, identity)


_SAVE_SECONDS = 60.0


def _sources(played: Path | None) -> str:
    """What a solution depends on beside its settings, as a digest."""
    digest = results.sources("_draw_loops", "draws", "induction", "played", "solve_rubber")
    if played is not None:
        digest = hashlib.blake2b(digest.encode() + played.read_bytes()).hexdigest()
    return digest[:16]
