"""A round robin of duplicate matches.

    python -m training.tournament heuristic greedy random --deals 20000 --seed 1 --out runs/first

A player is a name, a model file or `package.module:factory`. Every two players meet in the same
pairs of matches (see `training.duplicate`). The folder then holds `results.json` (all numbers, and
what is needed to repeat them), `report.html` and `heatmap.png`.

**Ranking.** A player's margin is the mean over its opponents, each weighing the same. Its interval
comes from the deck orders: for each of them the margins against all opponents are averaged first,
and the interval is Student's over these averages. Meetings over the same cards are not
independent, and in this way they are never counted as if they were. The interval speaks of other
cards, not of other opponents.
"""

from __future__ import annotations

import json
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import combinations
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
import tyro
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

import agents as players
import poke_env
from poke_env import poke_v0
from poke_env._checks import check_integer
from poke_env.agent import Agent, as_agent
from training import cli, duplicate, files, report, statistics
from training.duplicate import FORFEIT_POINTS, Duel
from training.statistics import LEVEL, Estimate

SCHEMA = "poke_env.tournament"
SCHEMA_VERSION = 1
"""Of `results.json`; it rises when something there is renamed, removed or changes its meaning."""

RESULTS, REPORT, HEAT_MAP = "results.json", "report.html", "heatmap.png"

_LOAD_STREAM = 3
"""Sets what players are built with apart from all else that is derived from the same seed."""

# --- playing --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Entrant:
    """A player of the tournament.

    Attributes:
        label: its name in all tables, different from every other.
        spec: what it was loaded from; None for an object that was handed over.
        player: the player itself.
    """

    label: str
    spec: str | None
    player: Agent

    @property
    def class_name(self) -> str:
        """Where its class stands."""
        kind = type(self.player)
        return f"{kind.__module__}.{kind.__qualname__}"

    @property
    def deterministic(self) -> bool | None:
        """Whether it plays its best action rather than drawing one; None if it does not say."""
        try:
            stated = getattr(self.player, "deterministic", None)
        except Exception:  # its fault costs nobody the results
            return None
        return stated if isinstance(stated, bool) else None


@dataclass(frozen=True, eq=False)
class Plan:
    """A tournament whose every setting has been checked and whose players are loaded.

    Attributes:
        entrants: the players in the order of their labels, so that no result depends on the order
            in which they were named.
        named: their specifications, or labels, as they were named.
        deals: pairs that every two players play: two matches each.
        seed: of decks, dealers and keys; the same in all meetings.
        match, rules, below_value, max_deals: as for `duplicate.play`.
        preset: the name of the rules, None for rules of one's own.
    """

    entrants: tuple[Entrant, ...]
    named: tuple[str, ...]
    deals: int
    seed: int
    match: str
    rules: poke_v0.Rules
    preset: str | None
    below_value: float
    max_deals: int | None

    @property
    def meetings(self) -> list[tuple[Entrant, Entrant]]:
        """Every two players."""
        return list(combinations(self.entrants, 2))

    def play(self, progress: Callable[[int, str], None] | None = None) -> Tournament:
        """Play all meetings.

        Args:
            progress: called after every pair with the number of pairs played in the whole
                tournament and the two players.

        Raises:
            TournamentInterrupted: on Ctrl-C, with the meetings that were finished.
        """
        tournament = Tournament(self, {}, {}, datetime.now(UTC))
        try:
            for one, other in self.meetings:
                start = time.perf_counter()
                duel = duplicate.play(
                    one.player,
                    other.player,
                    self.deals,
                    self.seed,
                    match=self.match,
                    rules=self.rules,
                    below_value=self.below_value,
                    max_deals=self.max_deals,
                    progress=progress and tournament._count(progress, one, other),
                )
                tournament.duels[one.label, other.label] = duel
                tournament.seconds[one.label, other.label] = time.perf_counter() - start
        except KeyboardInterrupt as interrupt:
            raise TournamentInterrupted(tournament) from interrupt
        return tournament


@dataclass(frozen=True, eq=False)
class Tournament:
    """What came of a plan.

    Attributes:
        plan: what was to be played.
        duels: finished meetings by the labels of both, in the order of `plan.meetings`.
        seconds: time that each of them took.
        started: when, in UTC.
    """

    plan: Plan
    duels: dict[tuple[str, str], Duel]
    seconds: dict[tuple[str, str], float]
    started: datetime

    def _count(
        self, progress: Callable[[int, str], None], one: Entrant, other: Entrant
    ) -> Callable[[int], None]:
        before = self.plan.deals * len(self.duels)
        names = f"{one.label} – {other.label}"
        return lambda pairs: progress(before + pairs, names)

    @property
    def complete(self) -> bool:
        """Whether every two players have met."""
        return len(self.duels) == len(self.plan.meetings)

    def duel(self, first: str, second: str) -> Duel:
        """The meeting of two labels as `first` sees it."""
        if (first, second) in self.duels:
            return self.duels[first, second]
        return self.duels[second, first].exchanged()

    def opponents(self, label: str) -> list[str]:
        """The labels of all others."""
        return [entrant.label for entrant in self.plan.entrants if entrant.label != label]

    def margins(self, label: str) -> npt.NDArray[np.float64]:
        """A player's margin for each deck order, averaged over its opponents: float64 (deals,)."""
        every = [self.duel(label, other).margins for other in self.opponents(label)]
        return np.asarray(np.mean(every, axis=0))

    def ranking(self) -> list[tuple[str, Estimate]]:
        """Labels with their mean margin over all opponents, the best first.

        Empty if not every two players have met: means over other opponents cannot be compared.
        """
        if not self.complete:
            return []
        labels = [entrant.label for entrant in self.plan.entrants]
        means = [(label, statistics.estimate(self.margins(label))) for label in labels]
        return sorted(means, key=lambda entry: (-entry[1].mean, entry[0]))

    def as_dict(self) -> dict[str, Any]:
        """All of it as plain values: the contents of `results.json`.

        Only what stands under `timing` differs between two runs of the same configuration.
        """
        ranking = self.ranking()
        labels = [entrant.label for entrant in self.plan.entrants]
        order = [label for label, _ in ranking] or labels
        duels = {
            (first, second): self.duel(first, second)
            for first, second in combinations(order, 2)
            if (first, second) in self.duels or (second, first) in self.duels
        }
        means = [margin.mean for _, margin in ranking]
        return {
            "schema": SCHEMA,
            "schema_version": SCHEMA_VERSION,
            "complete": self.complete,
            "configuration": self._configuration(),
            "versions": _versions(),
            "agents": [
                {
                    "label": entrant.label,
                    "spec": entrant.spec,
                    "class": entrant.class_name,
                    "deterministic": entrant.deterministic,
                }
                for entrant in self.plan.entrants
            ],
            "ranking": [
                {"rank": 1 + sum(other > margin.mean for other in means)}
                | self._standing(label, margin)
                for label, margin in ranking
            ],
            "duels": [_meeting(first, second, duel) for (first, second), duel in duels.items()],
            "forfeits": [
                {
                    "player": (first, second)[forfeit.player],
                    "opponent": (second, first)[forfeit.player],
                    "deal": forfeit.pair,
                    "leg": forfeit.leg,
                    "turn": forfeit.turn,
                    "reason": forfeit.reason,
                }
                for (first, second), duel in duels.items()
                for forfeit in duel.forfeits
            ],
            "timing": self._timing(),
        }

    def _configuration(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "game": poke_v0.raw_env.game.name,
            "game_version": poke_v0.raw_env.game.version,
            "agents": list(plan.named),
            "deals": plan.deals,
            "seed": plan.seed,
            "match": plan.match,
            "preset": plan.preset,
            "rules": plan.rules.as_dict(),
            "below_value": plan.below_value,
            "max_deals": plan.max_deals,
            "forfeit_points": FORFEIT_POINTS,
            "level": LEVEL,
        }

    def _standing(self, label: str, margin: Estimate) -> dict[str, Any]:
        duels = [self.duel(label, other) for other in self.opponents(label)]
        return {
            "label": label,
            "margin": _numbers(margin),
            "as_dealer": float(np.mean([duel.as_dealer().mean for duel in duels])),
            "as_non_dealer": float(np.mean([duel.as_non_dealer().mean for duel in duels])),
            **_matches(
                sum(duel.wins for duel in duels),
                sum(duel.draws for duel in duels),
                sum(duel.losses for duel in duels),
            ),
            "forfeits": sum(_faults(duel, 0) for duel in duels),
        }

    def _timing(self) -> dict[str, Any]:
        seconds = sum(self.seconds.values())
        decisions = sum(int(duel.decisions.sum()) for duel in self.duels.values())
        return {
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round(seconds, 3),
            "decisions_per_second": round(decisions / seconds) if seconds else None,
            "duels": [
                {"first": first, "second": second, "seconds": round(spent, 3)}
                for (first, second), spent in self.seconds.items()
            ],
        }


class TournamentInterrupted(KeyboardInterrupt):
    """Ctrl-C in a tournament; `partial` holds the meetings that were finished."""

    def __init__(self, partial: Tournament) -> None:
        super().__init__("interrupted")
        self.partial = partial


def prepare(
    agents: Sequence[str] | Mapping[str, Agent],
    deals: int,
    seed: int = 0,
    *,
    match: str = "deal",
    rules: Any = "standard",
    below_value: float = 50.0,
    max_deals: int | None = None,
) -> Plan:
    """Check all settings and load the players.

    Args:
        agents: two or more specifications as `agents.load` takes them, or players by label.
        deals: pairs that every two players play: two matches each.
        seed: of decks, dealers and keys.
        match, rules, below_value, max_deals: as for `duplicate.play`.

    Raises:
        ValueError: naming what is wrong and what is allowed.
    """
    deals = check_integer("deals", deals, 1, duplicate.MOST_PAIRS)
    seed = check_integer("seed", seed, 0)
    env = poke_v0.raw_env(match, rules=rules, below_value=below_value, max_deals=max_deals)
    if isinstance(agents, str) or len(agents) < 2:
        raise ValueError(f"agents must be two players or more, got {_listed(agents)}")
    entrants = _enter(agents, seed)
    for entrant in entrants:
        _check_fits(entrant, env.action_space(env.possible_agents[0]).n)
    return Plan(
        entrants=tuple(sorted(entrants, key=lambda entrant: entrant.label)),
        named=tuple(agents),
        deals=deals,
        seed=seed,
        match=match,
        rules=env.rules,
        preset=rules if isinstance(rules, str) else None,
        below_value=env.settings.below_value,
        max_deals=env.settings.max_deals,
    )


def run_tournament(
    agents: Sequence[str] | Mapping[str, Agent],
    deals: int,
    seed: int = 0,
    *,
    progress: Callable[[int, str], None] | None = None,
    **settings: Any,
) -> Tournament:
    """Let every two players meet: `prepare` and `Plan.play` in one."""
    return prepare(agents, deals, seed, **settings).play(progress)


def _enter(agents: Sequence[str] | Mapping[str, Agent], seed: int) -> list[Entrant]:
    if isinstance(agents, Mapping):
        return [_seated(label, player) for label, player in agents.items()]
    # All get the same seed, and not that of the decks.
    sequence = np.random.SeedSequence(seed, spawn_key=(_LOAD_STREAM,))
    own_seed = int(sequence.generate_state(1)[0])
    return [
        Entrant(label, spec, players.load(spec, own_seed))
        for label, spec in zip(_labels(agents), agents, strict=True)
    ]


def _check_fits(entrant: Entrant, num_actions: int) -> None:
    """Refuse at the start what could only forfeit: a model of a game with other hands."""
    sizes = getattr(entrant.player, "action_sizes", None)
    if sizes is not None and num_actions not in sizes:
        raise ValueError(
            f"agent {entrant.label!r} plays games of {' or '.join(map(str, sizes))} actions, but "
            f"these rules have {num_actions}"
        )


def _seated(label: str, player: Any) -> Entrant:
    try:
        return Entrant(label, None, as_agent(player))
    except ValueError as error:
        raise ValueError(f"agent {label!r}: {error}") from None


def _labels(specs: Sequence[str]) -> list[str]:
    """The specifications, numbered from the second time one appears: heuristic, heuristic#2."""
    labels: list[str] = []
    for position, spec in enumerate(specs):
        earlier = list(specs[:position]).count(spec)
        labels.append(f"{spec}#{earlier + 1}" if earlier else spec)
    return labels


def _listed(agents: Sequence[str] | Mapping[str, Agent]) -> str:
    return repr(agents) if isinstance(agents, str) else (", ".join(agents) or "none")


# --- numbers for the file -------------------------------------------------------------------------


def _meeting(first: str, second: str, duel: Duel) -> dict[str, Any]:
    margin = duel.estimate()
    return {
        "first": first,
        "second": second,
        "deals": len(duel),
        "margin": _numbers(margin),
        "verdict": margin.verdict,
        "more_deals_needed": margin.more_needed,
        **_matches(duel.wins, duel.draws, duel.losses),
        "in_seat": [_numbers(duel.in_seat(seat)) for seat in range(2)],
        "as_dealer": _numbers(duel.as_dealer()),
        "as_non_dealer": _numbers(duel.as_non_dealer()),
        "forfeits": [_faults(duel, player) for player in range(2)],
        "decisions": int(duel.decisions.sum()),
    }


def _numbers(estimate: Estimate) -> dict[str, float | None]:
    """An estimate for JSON, which has no infinity: what a single deal cannot tell is null."""
    numbers = {
        "mean": estimate.mean,
        "low": estimate.low,
        "high": estimate.high,
        "deviation": estimate.deviation,
    }
    return {name: value if np.isfinite(value) else None for name, value in numbers.items()}


def _matches(wins: int, draws: int, losses: int) -> dict[str, Any]:
    share = statistics.win_rate(wins, losses)
    return {
        "wins": wins,
        "draws": draws,
        "losses": losses,
        "win_rate": {"rate": share.rate, "low": share.low, "high": share.high},
    }


def _faults(duel: Duel, player: int) -> int:
    return sum(forfeit.player == player for forfeit in duel.forfeits)


def _versions() -> dict[str, str]:
    return {
        "poke_env": poke_env.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba", "scipy")},
        "platform": platform.platform(),
    }


# --- files ----------------------------------------------------------------------------------------


def claim_folder(folder: Path, overwrite: bool = False) -> Path:
    """Make sure that results can be written into `folder`, and replace none unless told to.

    Raises:
        ValueError: if it holds the results of another run.
        OSError: if it cannot be written to.
    """
    files.writable_folder(folder)
    taken = [name for name in (RESULTS, REPORT, HEAT_MAP) if (folder / name).exists()]
    if taken and not overwrite:
        raise ValueError(
            f"out must be a folder without results of another run, but {folder} holds "
            f"{', '.join(taken)}; choose another folder or say --overwrite"
        )
    return folder


def save(document: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write the files of a tournament, each at once, and return their paths.

    Numbers come first: nothing that happens to a picture can cost them. Of a tournament that was
    interrupted only they are written, marked `"complete": false`.
    """
    numbers = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    files.write(folder / RESULTS, numbers)
    for name in (REPORT, HEAT_MAP):
        (folder / name).unlink(missing_ok=True)  # of the run that is being replaced
    if not document["complete"]:
        return [folder / RESULTS]
    files.write(folder / REPORT, report.html(document))
    files.write(folder / HEAT_MAP, report.heat_map(document))
    return [folder / name for name in (RESULTS, REPORT, HEAT_MAP)]


# --- the program ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """A round robin of duplicate matches, with intervals and a report.

    Attributes:
        agents: Players: names, model files (*.safetensors) or package.module:factory of your own.
        deals: Deck orders that every two players play, each twice with seats exchanged.
        seed: Number from which decks and all chance of the players come.
        out: Folder for results.json, report.html and heatmap.png; by default a new one,
            runs/tournament-DATE-TIME.
        match: Unit of play: deal, game or rubber.
        rules: Preset of the rules: standard, small or tiny.
        overwrite: Replace the results of another run in that folder.
    """

    agents: Annotated[tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT ...")] = (
        field(default_factory=players.names)
    )
    deals: int = 1000
    seed: int = 0
    out: Path | None = None
    match: str = "deal"
    rules: str = "standard"
    overwrite: bool = False


@cli.main
def main(settings: Settings) -> None:
    """Play the tournament, print its tables and write its files."""
    plan = prepare(
        settings.agents, settings.deals, settings.seed, match=settings.match, rules=settings.rules
    )
    out = settings.out or Path(f"runs/tournament-{datetime.now():%Y%m%d-%H%M%S}")
    claim_folder(out, settings.overwrite)
    console = Console(width=None if sys.stdout.isatty() else 132)
    pairs = len(plan.meetings) * plan.deals
    console.print(
        f"{len(plan.entrants)} players, {len(plan.meetings)} meetings over {plan.deals:,} deck "
        f"orders, each played twice with seats exchanged: {2 * pairs:,} matches",
        highlight=False,
    )
    try:
        with _progress(console) as bar:
            tournament = plan.play(None if bar.disable else _Ticker(bar, pairs))
    except TournamentInterrupted as interrupt:
        raise KeyboardInterrupt(_save_partial(interrupt.partial, out)) from interrupt
    document = tournament.as_dict()
    written = save(document, out)
    report.show(document, console)
    timing = document["timing"]
    console.print(
        f"{timing['seconds']:.1f} s, {timing['decisions_per_second']:,} decisions a second\n"
        f"written: {', '.join(map(str, written))}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


def _save_partial(tournament: Tournament, folder: Path) -> str:
    """Keep what was finished of an interrupted tournament; returns the line that says so."""
    finished = (
        f"interrupted after {len(tournament.duels)} of {len(tournament.plan.meetings)} meetings"
    )
    if not tournament.duels:
        return f"{finished}; nothing was written"
    [path] = save(tournament.as_dict(), folder)
    return f"{finished}; their numbers are in {path}"


class _RateColumn(ProgressColumn):
    """Deck orders a second."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:,.0f} deals/s")


def _progress(console: Console) -> Progress:
    """A bar that is shown on a terminal only."""
    return Progress(
        BarColumn(),
        MofNCompleteColumn(),
        _RateColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )


class _Ticker:
    """Moves the bar ten times a second, however fast pairs are played."""

    def __init__(self, bar: Progress, pairs: int) -> None:
        self._bar = bar
        self._pairs = pairs
        self._task = bar.add_task("", total=pairs)
        self._next = 0.0

    def __call__(self, done: int, names: str) -> None:
        now = time.monotonic()
        if now >= self._next or done == self._pairs:
            self._next = now + 0.1
            self._bar.update(self._task, completed=done, description=names)


if __name__ == "__main__":
    main()
