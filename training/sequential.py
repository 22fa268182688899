"""Is one player better than another? Play only until that can be told.

    python -m training.sequential heuristic greedy --m0 0 --m1 10 --out runs/better

Two players meet in duplicate pairs (see `training.duplicate`) until a sequential probability ratio
test decides between two means of the first one's margin in a pair: at most `m0`, or at least `m1`.
It is the generalised test that testers of chess programs use: normal, with the variance estimated
from the pairs so far.

**What it promises.** If the true mean is `m0` or less, "better" is said with a probability of at
most `alpha`; if it is `m1` or more, "not better" with at most `beta`. Wald's bounds keep to that as
far as means of a hundred pairs and more are normal; between looks the sum overshoots them, which
only makes errors rarer. For a mean between the two either answer is right. After `most` pairs
without a decision the answer is "inconclusive", which is no error. Margins that are all the same
decide nothing.

**When it looks.** After `first` pairs and then after every `every` more, in the order of the pairs.
What workers finish earlier waits, so that neither they nor an interruption change the decision.
The settings of a test stand in the folder's results and cannot be changed once it has begun.

**The interval** that is given holds at every look at once (the asymptotic confidence sequence of
Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas, 2024), hence also at the one at which the test
stopped. Student's interval would not. The mean itself is not corrected: who stops when he is ahead
sees a mean that is on average a little too large.

With `--luck-adjusted` all of this is done on margins less luck (see `training.luck`), which takes
fewer pairs.
"""

from __future__ import annotations

import contextlib
import json
import math
import shlex
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console

from agents import DEFAULT_GAME
from poke_env import _files
from poke_env._checks import check_integer, check_number
from training import cli, duplicate, rounding
from training.duplicate import Conditions
from training.meeting import Duel, Meeting, Shared
from training.statistics import LEVEL
from training.store import Store
from training.tournament import (
    SEQUENTIAL,
    STORE,
    Plan,
    Ticker,
    claim_folder,
    prepare,
    progress_bar,
    versions,
)
from training.workers import play_all

SCHEMA = "poke_env.sequential"
SCHEMA_VERSION = 1

BETTER = "better"
NOT_BETTER = "not better"
INCONCLUSIVE = "inconclusive"

_QUICK = 2_000

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Outcome:
    """What a test has come to.

    Attributes:
        verdict: `BETTER`, `NOT_BETTER`, `INCONCLUSIVE`, or None if it goes on.
        pairs: that were looked at, up to the decision.
        log_ratio: of the likelihoods of `m1` and `m0`.
        mean: of the margins; NaN before the first look.
        low, high: ends of the interval that holds at all looks at once.
    """

    verdict: str | None
    pairs: int
    log_ratio: float
    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class Test:
    """A sequential test of a mean.

    Attributes:
        m0: the mean that speaks for "not better", in points.
        m1: the mean that speaks for "better", more than `m0`.
        alpha: most probability of "better" at `m0`.
        beta: most probability of "not better" at `m1`.
        first: pairs before the first look, at least 2.
        every: pairs between looks.
        most: pairs after which the test ends.
        level: coverage of the interval.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """

    m0: float = 0.0
    m1: float = 10.0
    alpha: float = 0.05
    beta: float = 0.05
    first: int = 200
    every: int = 100
    most: int = 200_000
    level: float = LEVEL

    __test__ = False  # pytest would take it for tests

    def __post_init__(self) -> None:
        m0 = check_number("m0", self.m0)
        check_number("m1", self.m1, above=m0)
        for name in ("alpha", "beta"):
            value = check_number(name, getattr(self, name), above=0.0)
            if value >= 0.5:
                raise ValueError(f"{name} must be below 0.5, got {value!r}")
        if not 0.0 < check_number("level", self.level) < 1.0:
            raise ValueError(f"level must be between 0 and 1, got {self.level!r}")
        first = check_integer("first", self.first, 2, duplicate.MOST_ORDERS)
        check_integer("most", self.most, first, duplicate.MOST_ORDERS)
        check_integer("every", self.every, 1)

    @property
    def bounds(self) -> tuple[float, float]:
        """Wald's bounds of the log ratio: "not better" below, "better" above."""
        return math.log(self.beta / (1 - self.alpha)), math.log((1 - self.beta) / self.alpha)

    def outcome(self, margins: npt.ArrayLike) -> Outcome:
        """What the test says when these margins are there, looking where it must.

        Args:
            margins: (n,), of the pairs in their order.

        Raises:
            ValueError: if one of them is no number.
        """
        values = np.asarray(margins, np.float64)[: self.most]
        if values.ndim != 1 or not np.isfinite(values).all():
            raise ValueError("margins must be a list of finite numbers")
        looks = np.arange(self.first, len(values) + 1, self.every)
        if len(values) == self.most and (not len(looks) or looks[-1] < self.most):
            looks = np.append(looks, self.most)
        if not len(looks):
            return Outcome(None, 0, 0.0, math.nan, -math.inf, math.inf)
        means, variances = _moments(values, looks)
        ratios = self._log_ratios(looks, means, variances)
        lower, upper = self.bounds
        decided = np.flatnonzero((ratios <= lower) | (ratios >= upper))
        at = int(decided[0]) if len(decided) else len(looks) - 1
        verdict = None
        if len(decided):
            verdict = BETTER if ratios[at] >= upper else NOT_BETTER
        elif len(values) == self.most:
            verdict = INCONCLUSIVE
        pairs, mean = int(looks[at]), float(means[at])
        reach = self._reach(pairs, float(variances[at]))
        return Outcome(verdict, pairs, float(ratios[at]), mean, mean - reach, mean + reach)

    def _log_ratios(self, looks: npt.NDArray[np.int64], means: Floats, variances: Floats) -> Floats:
        beyond = looks * (self.m1 - self.m0) * (means - (self.m0 + self.m1) / 2)
        # Margins that are all the same, mostly 0 of players that are almost the same, say nothing
        # of how much the next one may differ.
        return np.divide(beyond, variances, out=np.zeros_like(means), where=variances > 0)

    def _reach(self, pairs: int, variance: float) -> float:
        """Half the interval; it is tightest halfway, in powers of ten, from `first` to `most`."""
        if variance == 0.0:
            return math.inf
        miss = 1 - self.level
        twice = -2 * math.log(miss)
        squared = (twice + math.log(twice + 1)) / math.sqrt(self.first * self.most)
        inside = pairs * squared + 1
        return math.sqrt(
            variance * 2 * inside / (pairs**2 * squared) * math.log(math.sqrt(inside) / miss)
        )

    def statement(self, first: str, second: str) -> str:
        """What the verdicts mean, in a sentence."""
        return (
            f"“{BETTER}”: {first} wins more than {self.m0:g} points a match from {second}, wrongly "
            f"said with a probability of at most {self.alpha:g}; “{NOT_BETTER}”: less than "
            f"{self.m1:g}, wrongly said with at most {self.beta:g}."
        )


def _moments(values: Floats, looks: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Mean and variance (divisor n - 1) of the first n values for every n of `looks`."""
    # Around the first value, so that equal ones have no variance at all.
    shifted = values - values[0]
    sums = np.cumsum(shifted)[looks - 1]
    squares = np.cumsum(shifted**2)[looks - 1]
    return values[0] + sums / looks, np.maximum(squares - sums**2 / looks, 0.0) / (looks - 1)


def run(
    plan: Plan,
    test: Test,
    *,
    store: Store | None = None,
    workers: int = 1,
    progress: Callable[[int, str], None] | None = None,
) -> Outcome:
    """Play pairs of a plan's two players until the test decides.

    Args:
        plan: of two players at a table of two, the first named being the one in question.
        test: the test; `test.most` takes the place of the plan's number of deals.
        store: where results are and go; by default nothing is kept.
        workers: number of processes.
        progress: called now and then with the number of pairs there are and the log ratio.

    Raises:
        ValueError: for more players or a larger table, or if the results in the store are of
            another test.
    """
    _check_table(plan.conditions)
    if len(plan.entrants) != 2:
        raise ValueError(f"agents must be two players, got {len(plan.entrants)}")
    adjusted = plan.conditions.luck_adjusted
    store = store or Store()
    store.agree(
        plan.configuration() | {"sequential": asdict(test) | {"first_player": plan.named[0]}},
        {one.label: one.identity for one in plan.entrants},
    )
    [labels] = plan.meetings
    in_question = labels.index(plan.named[0])
    missing = store.missing(labels, test.most)
    margins = np.full(test.most, np.nan)
    there = np.ones(test.most, np.bool_)
    for orders in missing:
        there[orders.start : orders.stop] = False
    played = store.meeting(labels, test.most, plan.conditions.standings)
    if played is not None:
        margins[there] = _margins(played, in_question, adjusted)
    outcome = test.outcome(margins[: _complete(margins)])
    games = play_all({labels: missing}, plan.sources, plan.conditions, workers)
    with contextlib.closing(games):
        while outcome.verdict is None:
            group = next(games)
            store.add(*group)
            margins[group.orders.start : group.orders.stop] = _margins(
                group.meeting, in_question, adjusted
            )
            outcome = test.outcome(margins[: _complete(margins)])
            if progress is not None:
                progress(_complete(margins), f"log ratio {outcome.log_ratio:+.2f}")
    return outcome


def _check_table(conditions: Conditions) -> None:
    if conditions.size != 2:
        raise ValueError(
            f"a sequential test needs a table of two, but at one of "
            f"{conditions.settings.game.name} with these settings {conditions.size} play against "
            f"each other"
        )


def _margins(meeting: Meeting, player: int, adjusted: bool) -> Floats:
    duel = Duel((Shared(meeting, player, 1 - player),))
    return duel.adjusted_margins if adjusted else duel.margins


def _complete(margins: Floats) -> int:
    """How many of the pairs there are without a gap."""
    gaps = np.flatnonzero(np.isnan(margins))
    return int(gaps[0]) if len(gaps) else len(margins)


def as_document(plan: Plan, test: Test, outcome: Outcome) -> dict[str, Any]:
    """All of it as plain values: the contents of `sequential.json`."""
    first, second = plan.named
    interval = [end if math.isfinite(end) else None for end in (outcome.low, outcome.high)]
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "sequential": True,
        "configuration": plan.configuration() | {"agents": [first, second]} | asdict(test),
        "versions": versions(),
        "verdict": outcome.verdict,
        "meaning": test.statement(first, second),
        "pairs": outcome.pairs,
        "log_ratio": outcome.log_ratio,
        "bounds": list(test.bounds),
        "mean": outcome.mean,
        "interval": interval,
        "interval_holds": "at all looks at once, so also where the test stopped",
    }


# --- the program ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """A sequential test of whether the first player is better than the second.

    Attributes:
        agents: Two players: names, model files (*.safetensors) or package.module:factory.
        m0: Margin in points a match at which the first is not better.
        m1: Margin at which he is.
        alpha: Most probability of saying "better" at m0.
        beta: Most probability of saying "not better" at m1.
        most: Pairs of matches after which the test ends in any case.
        luck_adjusted: Test margins less luck; in Poke by its standard rules alone.
        game: Which of the games to play; two must play against each other there.
        players: How many sit at a table, where the game leaves a choice.
        seed: Number from which decks and all chance of the players come.
        out: Folder for results.sqlite and sequential.json; by default a new one,
            runs/sequential-DATE-TIME. In the folder of a test that was interrupted it goes on.
        match: Unit of play: deal or a longer one of the game's, such as game or rubber.
        rules: Preset of the game's rules: standard, and small or tiny where there are such.
        workers: Processes to play in. The decision does not depend on it.
        overwrite: Remove the results of another run in that folder.
        quick: At most 2,000 pairs, within a minute for the project's players.
    """

    agents: Annotated[tyro.conf.Positional[tuple[str, str]], tyro.conf.arg(metavar="AGENT")]
    m0: float = Test.m0
    m1: float = Test.m1
    alpha: float = Test.alpha
    beta: float = Test.beta
    most: int = Test.most
    luck_adjusted: bool = False
    game: str = DEFAULT_GAME
    players: int | None = None
    seed: int = 0
    out: Path | None = None
    match: str = "deal"
    rules: str = "standard"
    workers: int = 1
    overwrite: bool = False
    quick: bool = False


@cli.main
def main(settings: Settings) -> None:
    """Run the test, print its outcome and write it down."""
    console = Console(width=None if sys.stdout.isatty() else 132)
    most = settings.most
    if settings.quick:
        most = min(most, _QUICK)
        console.print(f"quick: at most {most:,} pairs", highlight=False)
    test = Test(settings.m0, settings.m1, settings.alpha, settings.beta, most=most)
    out = settings.out or Path(f"runs/sequential-{datetime.now():%Y%m%d-%H%M%S}")
    folder = out.absolute()
    conditions: dict[str, Any] = {
        name: getattr(settings, name)
        for name in ("seed", "game", "players", "match", "rules", "luck_adjusted")
    }
    _check_table(Conditions.checked(**conditions))
    plan = prepare(settings.agents, most, **conditions)
    check_integer("workers", settings.workers, 1)
    claim_folder(folder, settings.overwrite)
    with contextlib.closing(Store(folder / STORE)) as store:
        try:
            with progress_bar(console) as bar:
                ticker = None if bar.disable else Ticker(bar, most)
                outcome = run(plan, test, store=store, workers=settings.workers, progress=ticker)
        except KeyboardInterrupt as interrupt:
            raise KeyboardInterrupt(
                f"interrupted; the same command with --out {shlex.quote(str(out))} goes on"
            ) from interrupt
    document = as_document(plan, test, outcome)
    numbers = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    _files.write(folder / SEQUENTIAL, numbers)
    first, second = plan.named
    less = " less luck" if settings.luck_adjusted else ""
    places = rounding.precision({"low": outcome.low, "high": outcome.high})
    mean, low, high = (
        rounding.signed(points, places) for points in (outcome.mean, outcome.low, outcome.high)
    )
    console.print(
        f"{first} against {second}: {outcome.verdict} after {outcome.pairs:,} pairs (log ratio "
        f"{outcome.log_ratio:+.2f}, bounds {test.bounds[0]:+.2f} and {test.bounds[1]:+.2f})\n"
        f"{document['meaning']}\n"
        f"margin{less} {mean} points a match, {100 * test.level:g} % interval "
        f"{low} … {high}, which holds {document['interval_holds']}; the "
        f"mean is not corrected for stopping\nwritten: {out / SEQUENTIAL}, {out / STORE}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


if __name__ == "__main__":
    main()
