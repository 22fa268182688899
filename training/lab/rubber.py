"""The rubber equity table of a policy: `python -m training.lab rubber AGENT`.

What a score is worth follows backwards from what single deals bring at every score after it
(`training.lab.induction`). For a player that does not look at the score, deals at one score serve
them all; for any other, deals are played at each of the 1,604 scores, more of them where the worth
of a deal varies more. Two players, one in each seat, give a table of two rows.

Deals are counted in groups, and the whole table is solved for each of them: standard errors come
from how far the groups differ. Without `--deals`, deals go on until the errors are as small as
asked for. Counts are kept in a folder beside the table, so that the same command goes on where it
was stopped, and `--deals` with a larger number adds to what is there.

    OUT.npz          the table (`poke_env.equity.EquityTable`)
    OUT.csv          a line a score: E, W and draws at a margin of 0, standard errors, visits
    OUT.json         what it was made of, its errors, the command
    OUT.png          E and W at all scores
    OUT.counts/      the outcomes counted so far; may be deleted

`--install` makes it the table of the environment, as the next version, and shows the drift from the
one before.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

import agents
from poke_env import _files, equity
from poke_env._checks import check_integer, check_number
from poke_env._threads import cores
from poke_env.equity import EquityTable, Floats, places, rules_key, scores
from poke_env.games.poke import POKE
from training.lab import rubber_files
from training.lab.deals import Table, Tally, at_once, blind_to_score, play_deals
from training.lab.induction import (
    Outcomes,
    Scoring,
    solve_futures,
    solve_values,
    solve_visits,
    variance_of,
    win_chances,
)
from training.tournament import Entrant

MOST_DEALS = 10**9
"""Of one score."""

_MARGIN = 1.1
"""More deals than an estimate from few of them asks for, so that rounds are few."""
_MOST_GROWTH = 16
"""How many times as many deals a round plays at most: the first estimates are rough."""
_QUICK_STEP = 5
"""A rough table of players that look at the score is made from deals at every fifth score."""
_SAVE_EVERY = 64
"""Chunks between two savings of a tally that is still growing."""


class Job(NamedTuple):
    """Deals of one kind: the seat that deals, and the place of the score."""

    row: int
    place: int


@dataclass(frozen=True)
class Sampling:
    """How deals are grouped.

    Attributes:
        groups: number of samples whose differences give the standard errors.
        chunk: deals that are played at once.
        step: width of a square of scores that share the deals of the one in their middle.
    """

    groups: int
    chunk: int
    step: int = 1

    def serving(self, target: int, blind: bool) -> npt.NDArray[np.int64]:
        """The place at which the deals are played that serve each place, int64 (places,)."""
        listed = scores(target)
        if blind:
            return np.full(len(listed), places(target)[0, 0, 0, 0])
        middle = listed[:, :2] // self.step * self.step + self.step // 2
        below = np.where(listed[:, :2] < target, np.minimum(middle, target - 1), target)
        return places(target)[below[:, 0], below[:, 1], listed[:, 2], listed[:, 3]]


class Solved(NamedTuple):
    """A table's arrays as they came out, and their errors.

    Attributes:
        values: float64 (rows, places), E in points.
        errors: float64 (rows, places), its standard error.
        win_errors: float64 (rows, places), that of W at the margin where it is largest.
    """

    values: Floats
    errors: Floats
    win_errors: Floats


class Counts:
    """All tallies of a table in the making, kept in a folder.

    Args:
        table: who plays what.
        sampling: how deals are grouped.
        folder: where tallies are kept; made if it is missing.
        identity: what must not change between two runs over the same folder.

    Raises:
        ValueError: if the folder holds counts of something else.
        OSError: if it cannot be written to.
    """

    def __init__(
        self, table: Table, sampling: Sampling, folder: Path, identity: Mapping[str, Any]
    ) -> None:
        self.table = table
        self.sampling = sampling
        self.folder = _files.writable_folder(folder, "out")
        self.scoring = Scoring.of(table.rules)
        self.rows = len(table.players)
        self.blind = blind_to_score(table.players)
        self._agree(identity)
        self._serving = sampling.serving(table.rules.target, self.blind)
        every = np.unique(self._serving).tolist()
        self.jobs = [Job(row, place) for row in range(self.rows) for place in every]
        self.tallies = {
            job: Tally.load(self._path(job), self.scoring, sampling.groups) for job in self.jobs
        }
        self._known: dict[tuple[Job, int | None], Outcomes] = {}

    def _agree(self, identity: Mapping[str, Any]) -> None:
        asked = json.dumps({**identity, **vars(self.sampling), "blind": self.blind}, indent=2)
        path = self.folder / "about.json"
        if path.exists() and path.read_text(encoding="utf-8") != asked:
            raise ValueError(
                f"out: {str(self.folder)!r} holds counts of other players, rules, seed, groups or "
                f"code; name another file or delete the folder"
            )
        _files.write(path, asked)

    def _path(self, job: Job) -> Path:
        return self.folder / f"deals_{job.row}_{job.place:05d}.npz"

    @property
    def deals(self) -> int:
        """Deals counted so far."""
        return sum(tally.deals for tally in self.tallies.values())

    def outcomes(self, row: int, place: int, group: int | None = None) -> Outcomes:
        """The distribution of outcomes at a score, in one group or in all."""
        job = Job(row, int(self._serving[place]))
        if (job, group) not in self._known:
            self._known[job, group] = self.tallies[job].outcomes(group)
        return self._known[job, group]

    def play(
        self, wanted: Mapping[Job, int], workers: int, progress: Callable[[int], None]
    ) -> None:
        """Play until every tally has as many chunks as wanted.

        Args:
            wanted: chunks of each job.
            workers: threads; compiled players hold no lock of Python's.
            progress: called with the number of deals played, now and then.
        """
        unsaved: dict[Job, int] = {}
        try:
            for job, outcomes in self._played(wanted, workers):
                tally = self.tallies[job]
                tally.add(outcomes)
                unsaved[job] = unsaved.get(job, 0) + 1
                if tally.chunks == wanted[job] or unsaved[job] == _SAVE_EVERY:
                    tally.save(self._path(job))
                    del unsaved[job]
                progress(len(outcomes))
        finally:
            for job in unsaved:
                self.tallies[job].save(self._path(job))

    def _played(
        self, wanted: Mapping[Job, int], workers: int
    ) -> Iterator[tuple[Job, npt.NDArray[np.int64]]]:
        """Chunks as they are missing, in their order."""
        missing = (
            (job, chunk)
            for job, chunks in wanted.items()
            for chunk in range(self.tallies[job].chunks, chunks)
        )
        with ThreadPoolExecutor(workers) as pool:
            waiting: list[tuple[Job, Future[Any]]] = []
            try:
                for job, chunk in missing:
                    waiting.append((job, pool.submit(self._chunk, job, chunk)))
                    if len(waiting) > 2 * workers:
                        first, future = waiting.pop(0)
                        yield first, future.result()
                for job, future in waiting:
                    yield job, future.result()
            finally:
                pool.shutdown(wait=True, cancel_futures=True)

    def _chunk(self, job: Job, chunk: int) -> npt.NDArray[np.int64]:
        size = self.sampling.chunk
        return play_deals(self.table, *job, range(chunk * size, (chunk + 1) * size))

    def solve(self, progress: Callable[[int], None]) -> Solved:
        """E at every score from all deals, and standard errors from the groups.

        Args:
            progress: called with 1 after every group.
        """
        self._known = {}
        values = solve_values(self.scoring, self.outcomes, self.rows)
        by_group = []
        wins: Any = 0.0
        squares: Any = 0.0
        for group in range(self.sampling.groups):
            self._known = {}

            def seen(row: int, place: int, group: int = group) -> Outcomes:
                return self.outcomes(row, place, group)

            by_group.append(solve_values(self.scoring, seen, self.rows))
            won = win_chances(solve_futures(self.scoring, seen, self.rows))
            wins = wins + won
            squares = squares + won**2
            progress(1)
        self._known = {}
        count = self.sampling.groups
        variance = np.maximum(squares - wins**2 / count, 0.0) / (count - 1)
        return Solved(
            values,
            np.std(by_group, axis=0, ddof=1) / math.sqrt(count),
            np.sqrt(variance / count).max(axis=2),
        )

    def plan(self, solved: Solved, error: float, win_error: float) -> dict[Job, int]:
        """Chunks with which the errors come within their limits; none more where they are.

        Every score gets deals in proportion to the variance of what a deal there is worth, so that
        each of them adds the same error to the scores before it.
        """
        worst = max(solved.errors.max() / error, solved.win_errors.max() / win_error)
        now = {job: tally.chunks for job, tally in self.tallies.items()}
        if worst <= 1.0:
            return now
        growth = min(_MARGIN * worst**2, _MOST_GROWTH)
        if self.blind:
            weights = dict.fromkeys(self.jobs, 1.0)
        else:
            padded = np.pad(solved.values, ((0, 0), (0, 1)))
            variances = {
                job: variance_of(
                    self.scoring,
                    job.place,
                    self.outcomes(*job),
                    padded[1 - job.row if self.rows == 2 else 0],
                )
                for job in self.jobs
            }
            mean = sum(variances.values()) / len(variances)
            weights = {job: variance / mean for job, variance in variances.items()}
        average = sum(now.values()) / len(now)
        return {
            job: max(now[job], self._rounded(growth * average * weights[job])) for job in self.jobs
        }

    def evenly(self, deals: int) -> dict[Job, int]:
        """Chunks for so many deals of every job, or as many as there are."""
        chunks = self._rounded(deals / self.sampling.chunk)
        return {job: max(chunks, tally.chunks) for job, tally in self.tallies.items()}

    def _rounded(self, chunks: float) -> int:
        """A number of chunks that all groups share alike, one or more each."""
        groups = self.sampling.groups
        return max(1, math.ceil(chunks / groups)) * groups


@dataclass(frozen=True)
class Rubber:
    """Make the rubber equity table of a player, or of two, one in each seat.

    Attributes:
        agents: One player or two: names, model files (*.safetensors) or package.module:factory.
        deals: Deals that are played at each score, or in all by players blind to the score; by
            default as many as the errors ask for.
        error: Largest standard error of E, in points.
        win_error: Largest standard error of W, a probability.
        seed: Number from which decks and all chance of the players come.
        rules: Preset of the rules: standard, small or tiny.
        may_throw: By rules in which a follower who can beat need not (must_beat=False).
        out: The table; csv, json, png and counts of the same name lie beside it.
        workers: Threads to play in. The table does not depend on it.
        quick: A rough table within a minute: few deals, and of players that look at the score at
            some scores alone, which serve their neighbours.
        install: Make it the table of the environment, as the next version.
    """

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT ...")] = (
        "blind_heuristic",
    )
    deals: int | None = None
    error: float = 1.0
    win_error: float = 0.001
    seed: int = 0
    rules: str = "standard"
    may_throw: bool = False
    out: Path = Path("runs/rubber.npz")
    workers: int = field(default_factory=cores)
    quick: bool = False
    install: bool = False

    def run(self, console: Console) -> EquityTable:
        """Make the table, write its files, and say where they are.

        Raises:
            ValueError, OSError: in one sentence, what is wrong.
        """
        self._check()
        counts, entrants = self._counts()
        kind = "serve every score" if counts.blind else f"at each of {len(counts.jobs):,} scores"
        console.print(f"{' against '.join(self.agents)}: deals {kind}", highlight=False)
        if self.quick:
            console.print("quick: a rough table of few deals, for a look alone", highlight=False)
        with _bar(console) as bar:
            solved = self._sample(counts, bar)
            table = self._table(counts, solved, entrants)
        rubber_files.write(table, self.out, limits=(self.error, self.win_error))
        rubber_files.summary(table, console)
        within = solved.errors.max() <= self.error and solved.win_errors.max() <= self.win_error
        if not within:
            console.print("The errors are above the limits: play more --deals.", style="bold")
        console.print(f"Table:  {self.out}", highlight=False, markup=False)
        if self.install:
            if not within:
                raise ValueError(
                    "install must wait until the errors are within their limits: play more deals"
                )
            rubber_files.install(table, console)
        return table

    def _check(self) -> None:
        if len(self.agents) not in (1, 2):
            raise ValueError(f"agents must be one or two players, got {len(self.agents)}")
        check_integer("deals", self.deals, 1, MOST_DEALS, or_none=True)
        check_integer("seed", self.seed, 0)
        check_integer("workers", self.workers, 1)
        check_number("error", self.error, above=0.0)
        check_number("win_error", self.win_error, above=0.0)
        if self.out.suffix != ".npz":
            raise ValueError(f"out must end in .npz, got {str(self.out)!r}")
        if self.install and (self.rules != "standard" or self.may_throw or self.quick):
            raise ValueError(
                f"rules must be 'standard' for install, may_throw and quick no, got "
                f"{self.rules!r}, {self.may_throw} and {self.quick}"
            )

    def _counts(self) -> tuple[Counts, list[Entrant]]:
        rules = replace(POKE.rules_named(self.rules), must_beat=not self.may_throw)
        entrants = [Entrant(spec, spec, agents.load(spec, self.seed)) for spec in self.agents]
        players = tuple(entrant.player for entrant in entrants)
        blind = blind_to_score(players)
        if self.quick:
            sampling = Sampling(8, at_once(players, 8192 if blind else 256), _QUICK_STEP)
        elif blind:
            sampling = Sampling(32, at_once(players, 8192))
        else:
            sampling = Sampling(16, at_once(players, 2048))
        identity = {
            "policies": [[entrant.label, entrant.identity] for entrant in entrants],
            "rules": rules_key(rules),
            "seed": self.seed,
        }
        folder = self.out.with_suffix(".counts")
        return Counts(Table(rules, players, self.seed), sampling, folder, identity), entrants

    def _sample(self, counts: Counts, bar: Progress) -> Solved:
        """Play and solve, in rounds where the errors decide how long."""
        deals = self.deals
        if self.quick and deals is None:
            deals = 200_000 if counts.blind else 1
        wanted = counts.evenly(1 if deals is None else deals)
        while True:
            missing = sum(chunks - counts.tallies[job].chunks for job, chunks in wanted.items())
            with _task(bar, "playing deals", missing * counts.sampling.chunk) as advance:
                counts.play(wanted, self.workers, advance)
            with _task(bar, "solving the rubber", counts.sampling.groups) as advance:
                solved = counts.solve(advance)
            wanted = counts.plan(solved, self.error, self.win_error)
            done = all(counts.tallies[job].chunks == chunks for job, chunks in wanted.items())
            if deals is not None or done:
                return solved

    def _table(self, counts: Counts, solved: Solved, entrants: list[Entrant]) -> EquityTable:
        futures = solve_futures(counts.scoring, counts.outcomes, counts.rows)
        visits = solve_visits(counts.scoring, counts.outcomes, counts.rows)
        levels = np.rint(np.cumsum(futures, axis=2) * equity.LEVELS)
        return EquityTable(
            rules=rules_key(counts.table.rules),
            values=solved.values,
            errors=solved.errors.astype(np.float32),
            win_errors=solved.win_errors.astype(np.float32),
            visits=visits.astype(np.float32),
            futures=np.minimum(levels, equity.LEVELS).astype(np.uint16),
            unit=counts.scoring.unit,
            version=self.out.stem,
            policies=tuple(
                {"name": entrant.label, "identity": entrant.identity} for entrant in entrants
            ),
            deals=counts.deals,
            seed=self.seed,
        )


@contextmanager
def _task(bar: Progress, name: str, total: int) -> Iterator[Callable[[int], None]]:
    task = bar.add_task(name, total=total)
    yield lambda done: bar.advance(task, done)
    bar.remove_task(task)


def _bar(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f}"),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )
