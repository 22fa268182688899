"""A round robin of duplicate matches.

    python -m training.tournament heuristic greedy random --deals 20000 --seed 1 --out runs/first
    python -m training.tournament heuristic greedy random random --game poque --players 4

A player is a name (`agents.names` of the game), a model file or `package.module:factory`. Where
nobody is named all players of the game play that need no argument, and if they are too few for a
table, copies of them fill it (`fill_table`). Every two players meet over the same deck orders (see
`training.duplicate`); in a game of k sides every k of them do. The folder then holds `results.json`
(all numbers, and what is needed to repeat them), `report.html` and `heatmap.png`, and
`results.sqlite` with what happened over every deck order (see `training.store`).

**Going on.** Matches are stored as they are played. The same command in the same folder plays only
what is missing: after an interruption, with more `--deals`, or with another player. The tables do
not depend on that, nor on `--workers`.

**Ranking.** A player's margin is its points less the mean of its table, in the mean over all
tables; which is the mean over its opponents, each weighing the same (see `training.meeting`). Its
interval comes from the deck orders: for each of them all tables are averaged first, and the
interval is Student's over these averages. Meetings over the same cards are not independent, and in
this way they are never counted as if they were. The interval speaks of other cards, not of other
opponents.
"""

from __future__ import annotations

import contextlib
import json
import platform
import shlex
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import version
from itertools import combinations, cycle, islice
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

import agents as roster
import poke_env
from poke_env import _files, streams
from poke_env._checks import check_integer
from poke_env._jit import sources_digest
from poke_env.agent import Agent, Completed, as_agent
from poke_env.games.base import Game
from training import cli, duplicate, statistics
from training.duplicate import FORFEIT_POINTS, Conditions
from training.luck import price_of
from training.meeting import Duel, Matches, Meeting, Shared
from training.statistics import LEVEL, Estimate
from training.store import Store, in_use
from training.workers import Labels, Source, play_all

SCHEMA = "poke_env.tournament"
SCHEMA_VERSION = 1
"""Of `results.json`; it rises when something there is renamed, removed or changes its meaning."""

RESULTS, REPORT, HEAT_MAP = "results.json", "report.html", "heatmap.png"
STORE, RECORDS, SEQUENTIAL = "results.sqlite", "records.txt", "sequential.json"

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
    def _kind(self) -> type:
        return type(self.player.player if isinstance(self.player, Completed) else self.player)

    @property
    def class_name(self) -> str:
        """Where its class stands."""
        kind = self._kind
        return f"{kind.__module__}.{kind.__qualname__}"

    @cached_property
    def identity(self) -> str:
        """What tells the player from one of the same name whose file or code has changed."""
        packages = [Path(poke_env.__file__).parent, Path(roster.__file__).parent]
        own: list[Path] = []
        if self.spec is not None and self.spec.endswith(".safetensors"):
            own = [Path(self.spec), Path(self.spec).with_suffix(".json")]
        elif self.spec is None or ":" in self.spec:
            modules = {self._kind.__module__, (self.spec or "").partition(":")[0]}
            found = (getattr(sys.modules.get(name), "__file__", None) for name in sorted(modules))
            own = [Path(file) for file in found if file is not None]
        # Files of its own are read anew: they may have changed since this process last looked.
        read = sources_digest.__wrapped__
        places = [place.resolve() for place in (*packages, *own)]
        return f"{self.class_name} {(read if own else sources_digest)(*places)}"

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
        deals: deck orders at every table, each of as many matches as it has players.
        conditions: of all matches, the seed included.
        preset: the name of the rules, None for rules of one's own.
    """

    entrants: tuple[Entrant, ...]
    named: tuple[str, ...]
    deals: int
    conditions: Conditions
    preset: str | None

    @property
    def meetings(self) -> list[Labels]:
        """Every table: as many players as the game has sides, in the order of their labels."""
        labels = [entrant.label for entrant in self.entrants]
        return list(combinations(labels, self.conditions.size))

    def play(
        self,
        progress: Callable[[int, str], None] | None = None,
        *,
        store: Store | None = None,
        workers: int = 1,
    ) -> Tournament:
        """Play what is missing.

        Args:
            progress: called now and then with the number of deck orders that are there, those of
                all tables counted, and the players who met last.
            store: where results are and go; by default nothing is kept.
            workers: number of processes; with 1 everything is played in this one.

        Raises:
            TournamentInterrupted: on Ctrl-C, with what was finished.
            ValueError: if the results in the store are of another tournament, or a player cannot
                be sent to another process.
            ChildProcessError: if a worker process died.
        """
        store = store or Store()
        started = datetime.now(UTC)
        workers = check_integer("workers", workers, 1)
        store.agree(self.configuration(), {one.label: one.identity for one in self.entrants})
        missing = {labels: store.missing(labels, self.deals) for labels in self.meetings}
        left = sum(len(orders) for ranges in missing.values() for orders in ranges)
        done = self.deals * len(self.meetings) - left
        watch = time.perf_counter()
        try:
            for played in play_all(missing, self.sources, self.conditions, workers):
                store.add(*played)
                done += len(played.orders)
                if progress is not None:
                    progress(done, " – ".join(played.labels))
        except KeyboardInterrupt as interrupt:
            partial = self.read(store, started, time.perf_counter() - watch, workers)
            raise TournamentInterrupted(partial, done) from interrupt
        return self.read(store, started, time.perf_counter() - watch, workers)

    def read(
        self, store: Store, started: datetime, seconds: float = 0.0, workers: int = 1
    ) -> Tournament:
        """The tournament from what a store holds: meetings of which all deck orders are there."""
        meetings = {}
        spent = {}
        for labels in self.meetings:
            meeting = store.meeting(labels, self.deals, self.conditions.standings)
            if meeting is not None and len(meeting) == self.deals:
                meetings[labels] = meeting
                spent[labels] = store.seconds(labels)
        return Tournament(self, meetings, spent, started, seconds, workers)

    @property
    def sources(self) -> dict[str, Source]:
        """How other processes get the players, by label."""
        game = self.conditions.settings.game.name
        return {
            one.label: Source(one.spec, self.own_seed, game, one.player) for one in self.entrants
        }

    @property
    def own_seed(self) -> int:
        """What players are built with: the same for all, and not that of the decks."""
        return int(streams.seed_words(self.conditions.seed, streams.Purpose.LOAD)[0])

    def configuration(self) -> dict[str, Any]:
        """What all matches have in common, whoever plays and however many of them."""
        settings = self.conditions.settings
        value = self.conditions.value_function
        return {
            "game": settings.game.name,
            "game_version": settings.game.version,
            "seed": self.conditions.seed,
            "match": settings.match,
            "rules": settings.rules.as_dict(),
            "sides": [list(side) for side in settings.sides],
            "below_value": settings.below_value,
            "max_deals": settings.max_deals,
            "move_timeout": self.conditions.move_timeout,
            "records": self.conditions.keep_records,
            "luck_adjusted": self.conditions.luck_adjusted,
            "value_function": None if value is None else value.digest,
            "luck_price": None if value is None else price_of(settings),
            "forfeit_points": FORFEIT_POINTS,
            # Results of a test that may stop early are no tournament (`training.sequential`).
            "sequential": None,
        }


@dataclass(frozen=True, eq=False)
class Tournament:
    """What came of a plan.

    Attributes:
        plan: what was to be played.
        meetings: finished ones by the labels of their players, in the order of `plan.meetings`.
        spent: seconds of processor time, about, that each of them took, whenever it was played.
        started: when this run did, in UTC.
        seconds: how long it took.
        workers: number of processes.
    """

    plan: Plan
    meetings: dict[Labels, Meeting]
    spent: dict[Labels, float]
    started: datetime
    seconds: float
    workers: int

    @property
    def complete(self) -> bool:
        """Whether all tables have met."""
        return len(self.meetings) == len(self.plan.meetings)

    @cached_property
    def duels(self) -> dict[tuple[str, str], Duel]:
        """Every two players at the finished tables that they share, in the order of labels."""
        tables: dict[tuple[str, str], list[Shared]] = {}
        for labels, meeting in self.meetings.items():
            for (first, one), (second, other) in combinations(enumerate(labels), 2):
                tables.setdefault((one, other), []).append(Shared(meeting, first, second))
        return {pair: Duel(tuple(shared)) for pair, shared in sorted(tables.items())}

    def duel(self, first: str, second: str) -> Duel:
        """Two labels against each other as `first` sees it."""
        known = self.duels if (first, second) in self.duels else self._exchanged
        return known[first, second]

    @cached_property
    def _exchanged(self) -> dict[tuple[str, str], Duel]:
        return {(second, first): duel.exchanged() for (first, second), duel in self.duels.items()}

    def tables(self, label: str) -> list[tuple[Meeting, int]]:
        """The finished meetings of a player, and its place in each."""
        return [
            (meeting, labels.index(label))
            for labels, meeting in self.meetings.items()
            if label in labels
        ]

    def opponents(self, label: str) -> list[str]:
        """The labels of all others."""
        return [entrant.label for entrant in self.plan.entrants if entrant.label != label]

    def margins(self, label: str) -> npt.NDArray[np.float64]:
        """A player's margin over each deck order, the mean of all its tables: float64 (deals,)."""
        every = [self.duel(label, other).margins for other in self.opponents(label)]
        return np.asarray(np.mean(every, axis=0))

    def adjusted(self, label: str) -> npt.NDArray[np.float64] | None:
        """`margins` less luck; None if luck was not measured."""
        every = [self.duel(label, other) for other in self.opponents(label)]
        if any(duel.luck is None for duel in every):
            return None
        return np.asarray(np.mean([duel.adjusted_margins for duel in every], axis=0))

    def ranking(self) -> list[tuple[str, Estimate]]:
        """Labels with their mean margin over all tables, the best first.

        Empty if not all tables have met: means over other opponents cannot be compared.
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
            "configuration": {
                "agents": list(self.plan.named),
                "deals": self.plan.deals,
                "preset": self.plan.preset,
                "level": LEVEL,
                **self.plan.configuration(),
            },
            "versions": versions(),
            "agents": [
                {
                    "label": entrant.label,
                    "spec": entrant.spec,
                    "class": entrant.class_name,
                    "deterministic": entrant.deterministic,
                    "identity": entrant.identity,
                }
                for entrant in self.plan.entrants
            ],
            "ranking": [
                {"rank": 1 + sum(other > margin.mean for other in means)}
                | self._standing(label, margin)
                for label, margin in ranking
            ],
            "duels": [
                _meeting(first, second, duel)
                | {
                    "by_standing": [
                        self._by_standing(
                            duel.standing_deals[:, player], duel.standing_points[:, player]
                        )
                        for player in range(2)
                    ]
                }
                for (first, second), duel in duels.items()
            ],
            "ratings": self._ratings(labels),
            "skill": self._skill(labels),
            "cycles": self._cycles(labels),
            "forfeits": self._forfeits(),
            "timing": self._timing(),
        }

    def _standing(self, label: str, margin: Estimate) -> dict[str, Any]:
        duels = [self.duel(label, other) for other in self.opponents(label)]
        tables = self.tables(label)
        adjusted = self.adjusted(label)
        return {
            "label": label,
            "margin": _numbers(margin),
            "luck_adjusted": None if adjusted is None else _adjusted(margin, adjusted),
            "as_dealer": float(np.mean([duel.as_dealer().mean for duel in duels])),
            "as_non_dealer": float(np.mean([duel.as_non_dealer().mean for duel in duels])),
            **_matches(
                *np.sum([meeting.matches(player) for meeting, player in tables], axis=0).tolist()
            ),
            "forfeits": sum(meeting.forfeited(player) for meeting, player in tables),
            "in_seat": [
                float(np.mean([duel.in_seat(side).mean for duel in duels]))
                for side in range(self.plan.conditions.size)
            ],
            "by_standing": self._by_standing(
                sum(meeting.standing_deals[:, player] for meeting, player in tables),
                sum(meeting.standing_points[:, player] for meeting, player in tables),
            ),
        }

    def _by_standing(self, deals: Any, points: Any) -> list[dict[str, Any]]:
        """Deals and margin a deal in each of the game's standings; the groups are deck orders.

        Args:
            deals, points: (orders, S), of one player.
        """
        return [
            {
                "standing": name,
                "deals": int(deals[:, place].sum()),
                "margin": _numbers(statistics.ratio(points[:, place], deals[:, place])),
            }
            for place, name in enumerate(self.plan.conditions.settings.game.standings)
            if place < deals.shape[1] and deals[:, place].any()
        ]

    def _ratings(self, labels: list[str]) -> dict[str, Any] | None:
        """Bradley-Terry ratings, with whom nobody has met yet in groups of their own.

        None at tables of more than two: who is ahead of whom there is not decided between the two.
        """
        if not self.duels or self.plan.conditions.size > 2:
            return None
        from training import ratings

        meetings = [(labels.index(one), labels.index(other)) for one, other in self.duels]
        scores = [duel.scores() for duel in self.duels.values()]
        seed = self.plan.conditions.seed
        return ratings.rate(len(labels), meetings, scores, seed=seed).as_dict(labels)

    def _skill(self, labels: list[str]) -> dict[str, Any] | None:
        """Ratings by the places at tables of more than two; None at tables of two."""
        if not self.duels or self.plan.conditions.size == 2:
            return None
        from training import skill

        tables = [tuple(map(labels.index, meeting)) for meeting in self.meetings]
        places = [meeting.places for meeting in self.meetings.values()]
        return skill.rate(len(labels), tables, places).as_dict(labels)

    def _cycles(self, labels: list[str]) -> dict[str, Any]:
        """Who beats whom in a circle, if anybody does."""
        from training import ratings

        meetings = [(labels.index(one), labels.index(other)) for one, other in self.duels]
        margins = [duel.estimate() for duel in self.duels.values()]
        return ratings.cycles(len(labels), meetings, margins).as_dict(labels)

    def _forfeits(self) -> list[dict[str, Any]]:
        """Every forfeit; at a table of two with its one opponent."""
        lines = []
        for labels, meeting in self.meetings.items():
            for forfeit in meeting.forfeits:
                others = [label for place, label in enumerate(labels) if place != forfeit.player]
                lines.append(
                    {
                        "player": labels[forfeit.player],
                        "opponent": others[0] if len(others) == 1 else None,
                        "opponents": others,
                        "deal": forfeit.order,
                        "leg": forfeit.leg,
                        "turn": forfeit.turn,
                        "reason": forfeit.reason,
                    }
                )
        return lines

    def _timing(self) -> dict[str, Any]:
        spent = sum(self.spent.values())
        decisions = sum(int(meeting.decisions.sum()) for meeting in self.meetings.values())
        return {
            "started": self.started.isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 3),
            "workers": self.workers,
            "spent": round(spent, 3),
            "decisions_per_second": round(decisions / spent) if spent else None,
            "duels": [
                {"first": first, "second": second, "seconds": round(self._spent(first, second), 3)}
                for first, second in self.duels
            ],
        }

    def _spent(self, *players: str) -> float:
        """How long the tables took at which all of these players sat."""
        return sum(
            seconds for labels, seconds in self.spent.items() if set(labels).issuperset(players)
        )


class TournamentInterrupted(KeyboardInterrupt):
    """Ctrl-C in a tournament.

    Attributes:
        partial: the meetings that were finished.
        orders: how many deck orders are there, those of all tables counted.
    """

    def __init__(self, partial: Tournament, orders: int) -> None:
        super().__init__("interrupted")
        self.partial = partial
        self.orders = orders


def prepare(
    agents: Sequence[str] | Mapping[str, Agent], deals: int, seed: int = 0, **conditions: Any
) -> Plan:
    """Check all settings and load the players.

    Args:
        agents: specifications as `agents.load` takes them for the game, or players by label: at
            least as many as sit at a table.
        deals: deck orders at every table, each of as many matches as it has players.
        seed: of decks, dealers and keys.
        **conditions: as for `duplicate.Conditions.checked`.

    Raises:
        ValueError: naming what is wrong and what is allowed.
    """
    deals = check_integer("deals", deals, 1, duplicate.MOST_ORDERS)
    agreed = Conditions.checked(seed=seed, **conditions)
    rules = conditions.get("rules", "standard")
    if isinstance(agents, str) or len(agents) < agreed.size:
        raise ValueError(
            f"agents must be {agreed.size} players or more, as many as sit at a table, got "
            f"{_listed(agents)}"
        )
    plan = Plan((), tuple(agents), deals, agreed, rules if isinstance(rules, str) else None)
    entrants = _enter(agents, plan.own_seed, agreed.settings.game)
    for entrant in entrants:
        _check_fits(entrant, agreed.settings.num_actions)
    return replace(plan, entrants=tuple(sorted(entrants, key=lambda entrant: entrant.label)))


def run_tournament(
    agents: Sequence[str] | Mapping[str, Agent],
    deals: int,
    seed: int = 0,
    *,
    progress: Callable[[int, str], None] | None = None,
    workers: int = 1,
    **conditions: Any,
) -> Tournament:
    """Let all tables meet: `prepare` and `Plan.play` in one, without a folder."""
    return prepare(agents, deals, seed, **conditions).play(progress, workers=workers)


def fill_table(players: Sequence[str], size: int) -> list[str]:
    """The players, and copies of them if they are too few for a table of so many.

    Copies are made in turn from the last player to the first: of those of a game
    (`agents.names`) the best comes first.
    """
    copies = islice(cycle(reversed(players)), max(0, size - len(players)))
    return [*players, *copies]


def _enter(agents: Sequence[str] | Mapping[str, Agent], seed: int, game: Game) -> list[Entrant]:
    labels = list(agents) if isinstance(agents, Mapping) else _labels(agents)
    for label in labels:
        _check_label(label)
    if isinstance(agents, Mapping):
        return [_seated(label, player) for label, player in agents.items()]
    return [
        Entrant(label, spec, roster.load(spec, seed, game=game))
        for label, spec in zip(labels, agents, strict=True)
    ]


def _check_label(label: Any) -> None:
    """Refuse at the start what no file can hold in the end."""
    try:
        fits = "\0" not in label and bool(label.encode("utf-8"))
    except (AttributeError, TypeError, UnicodeEncodeError):
        fits = False
    if not fits:
        raise ValueError(f"agents must have names that can be written to files, got {label!r}")


def _check_fits(entrant: Entrant, num_actions: int) -> None:
    """Refuse at the start what could only forfeit: a model of a game with other hands."""
    sizes = getattr(entrant.player, "action_sizes", None)
    if isinstance(sizes, (tuple, list)) and num_actions not in sizes:
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
        "tables": len(duel.tables),
        "margin": _numbers(margin),
        "verdict": margin.verdict,
        "more_deals_needed": margin.more_needed,
        "luck_adjusted": None
        if duel.luck is None
        else _adjusted(margin, duel.adjusted_margins)
        | {
            "match_deviations": [
                float(points.std(ddof=1)) for points in (duel.points, duel.adjusted_points)
            ]
        },
        **_matches(*duel.matches),
        "in_seat": [_numbers(duel.in_seat(side)) for side in range(duel.size)],
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


def _adjusted(raw: Estimate, margins: npt.NDArray[np.float64]) -> dict[str, Any]:
    """What margins less luck say, beside the raw ones; the ratio is that of the variances."""
    found = statistics.estimate(margins)
    ratio = (found.deviation / raw.deviation) ** 2 if raw.deviation > 0 else float("nan")
    return {
        "margin": _numbers(found),
        "verdict": found.verdict,
        "more_deals_needed": found.more_needed,
        "variance_ratio": ratio if np.isfinite(ratio) else None,
    }


def _matches(*numbers: int) -> dict[str, Any]:
    matches = Matches(*numbers)
    share = matches.win_rate()
    return {
        **matches._asdict(),
        "win_rate": {"rate": share.rate, "low": share.low, "high": share.high},
    }


def _faults(duel: Duel, player: int) -> int:
    return sum(forfeit.player == player for forfeit in duel.forfeits)


def versions() -> dict[str, str]:
    """What the numbers were made with."""
    return {
        "poke_env": poke_env.__version__,
        "python": platform.python_version(),
        **{name: version(name) for name in ("numpy", "numba", "scipy")},
        "platform": platform.platform(),
    }


# --- files ----------------------------------------------------------------------------------------


def claim_folder(folder: Path, overwrite: bool = False) -> Path:
    """Make sure that results can be written into `folder`.

    Args:
        folder: made if it is missing.
        overwrite: remove what another tournament left there.

    Raises:
        ValueError: if it holds results that no tournament can go on from, or to be removed while
            another process writes them.
        OSError: if it cannot be written to.
    """
    _files.writable_folder(folder)
    if overwrite:
        if in_use(folder / STORE):
            raise ValueError(f"results in {folder / STORE} are in use by another process")
        for name in (STORE, f"{STORE}-journal", RESULTS, REPORT, HEAT_MAP, RECORDS, SEQUENTIAL):
            (folder / name).unlink(missing_ok=True)
    elif not (folder / STORE).exists():
        taken = [name for name in (RESULTS, REPORT, HEAT_MAP) if (folder / name).exists()]
        if taken:
            raise ValueError(
                f"out must be a folder without results of another run, but {folder} holds "
                f"{', '.join(taken)} and no {STORE} to go on from; choose another folder or say "
                f"--overwrite"
            )
    return folder


def save(document: Mapping[str, Any], folder: Path) -> list[Path]:
    """Write the files of a finished tournament, each at once, and return their paths.

    Numbers come first: nothing that happens to a picture can cost them.
    """
    numbers = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n"
    # Here, not above: every worker process imports this module.
    from training import report

    _files.write(folder / RESULTS, numbers)
    _files.write(folder / REPORT, report.html(document))
    _files.write(folder / HEAT_MAP, report.heat_map(document))
    return [folder / name for name in (RESULTS, REPORT, HEAT_MAP)]


def save_records(plan: Plan, store: Store, folder: Path) -> Path:
    """Write all matches as text into one file (see `poke_env.records`)."""
    path = folder / RECORDS
    with _files.replacing(path) as temporary, temporary.open("w", encoding="ascii") as file:
        for labels in plan.meetings:
            for text in store.records(labels, plan.deals):
                file.write(text)
    return path


# --- the program ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    """A round robin of duplicate matches, with intervals and a report.

    Attributes:
        agents: Players: names, model files (*.safetensors) or package.module:factory of your own.
            By default all of the game that need no argument, and where more sit at a table as many
            copies of them as are missing: heuristic#2, then greedy#2, and so on.
        game: Which of the games to play.
        players: How many sit at a table, where the game leaves a choice.
        deals: Deck orders at every table, each played with all players on every side in turn.
        seed: Number from which decks and all chance of the players come.
        out: Folder for results.sqlite, results.json, report.html and heatmap.png; by default a new
            one, runs/tournament-DATE-TIME. In the folder of an earlier run with the same settings
            only what is missing is played: more deals, other players, the rest after Ctrl-C.
        match: Unit of play: deal or a longer one of the game's, such as game or rubber.
        rules: Preset of the game's rules: standard, and small or tiny where there are such.
        workers: Processes to play in. The tables do not depend on it.
        move_timeout: Seconds that a decision may take before its player forfeits the match.
        records: Write every match down as text, records.txt.
        luck_adjusted: Measure what chance gave and show margins less luck beside the raw ones; in
            Poke by its standard rules alone.
        overwrite: Remove the results of another run in that folder.
    """

    agents: Annotated[
        tyro.conf.Positional[tuple[str, ...]], tyro.conf.arg(metavar="AGENT ...")
    ] = ()
    game: str = roster.DEFAULT_GAME
    players: int | None = None
    deals: int = 1000
    seed: int = 0
    out: Path | None = None
    match: str = "deal"
    rules: str = "standard"
    workers: int = 1
    move_timeout: float | None = None
    records: bool = False
    luck_adjusted: bool = False
    overwrite: bool = False


@cli.main
def main(settings: Settings) -> None:
    """Play the tournament, print its tables and write its files."""
    out = settings.out or Path(f"runs/tournament-{datetime.now():%Y%m%d-%H%M%S}")
    folder = out.absolute()  # wherever a player may go from here
    conditions: dict[str, Any] = {
        "seed": settings.seed, "game": settings.game, "players": settings.players,
        "match": settings.match, "rules": settings.rules, "move_timeout": settings.move_timeout,
        "keep_records": settings.records, "luck_adjusted": settings.luck_adjusted,
    }  # fmt: skip
    size = Conditions.checked(**conditions).size
    players = settings.agents or fill_table(roster.names(settings.game), size)
    plan = prepare(players, settings.deals, **conditions)
    check_integer("workers", settings.workers, 1)
    claim_folder(folder, settings.overwrite)
    console = Console(width=None if sys.stdout.isatty() else 132)
    orders = len(plan.meetings) * plan.deals
    turns = "twice with seats exchanged" if size == 2 else f"{size} times with seats rotated"
    console.print(
        f"{len(plan.entrants)} players, {len(plan.meetings)} meetings over {plan.deals:,} deck "
        f"orders, each played {turns}: {size * orders:,} matches",
        highlight=False,
    )
    with contextlib.closing(Store(folder / STORE)) as store:
        try:
            with progress_bar(console) as bar:
                ticker = None if bar.disable else Ticker(bar, orders)
                tournament = plan.play(ticker, store=store, workers=settings.workers)
        except TournamentInterrupted as interrupt:
            raise KeyboardInterrupt(
                f"interrupted after {interrupt.orders:,} of {orders:,} deck orders; the same "
                f"command with --out {shlex.quote(str(out))} goes on from there"
            ) from interrupt
        written = [save_records(plan, store, folder)] if settings.records else []
    document = tournament.as_dict()
    written = [*save(document, folder), *written, folder / STORE]
    from training import report

    report.show(document, console)
    timing = document["timing"]
    console.print(
        f"{timing['seconds']:.1f} s, {timing['decisions_per_second'] or 0:,} decisions a second "
        f"and process\nwritten: {', '.join(str(out / path.name) for path in written)}",
        highlight=False,
        markup=False,
        soft_wrap=True,
    )


class _RateColumn(ProgressColumn):
    """Deck orders a second."""

    def render(self, task: Task) -> Text:
        return Text("" if task.speed is None else f"{task.speed:,.0f} deals/s")


def progress_bar(console: Console) -> Progress:
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


class Ticker:
    """Moves the bar ten times a second, however fast deck orders are played."""

    def __init__(self, bar: Progress, orders: int) -> None:
        self._bar = bar
        self._orders = orders
        self._task = bar.add_task("", total=orders)
        self._next = 0.0

    def __call__(self, done: int, names: str) -> None:
        """Show how many deck orders are done, and a text behind the bar."""
        now = time.monotonic()
        if now >= self._next or done == self._orders:
            self._next = now + 0.1
            self._bar.update(self._task, completed=done, description=names)


if __name__ == "__main__":
    main()
