"""From nothing to a ranking: train a player by self-play, then let it play the scripted ones.

    python -m training.quickstart --minutes 2

Everything lands in one new folder: the training run (see `training.maskable_ppo`) and, under
`tournament/`, results, report and plots.
"""

from __future__ import annotations

import contextlib
import math
import os
import shlex
import sys
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from rich.console import Console

import agents
from poke_env._checks import check_integer
from training import cli, maskable_ppo, report, tournament
from training.duplicate import Conditions
from training.store import Store

TRAINED = "trained"
"""The new player's name in the tables."""
RIVALS = ("random", "greedy", "never_double", "always_double", "heuristic", "pimc")
"""Those that it meets, as far as the game has them; copies of them fill a larger table."""


@dataclass(frozen=True)
class Settings:
    """Train a player by self-play and rank it among scripted ones."""

    minutes: float = 2.0
    """of training"""
    deals: int = 10_000
    """deck orders that all play at every table of the tournament, from every side"""
    seed: int = 0
    """of the training; the tournament plays other decks"""
    game: str = agents.DEFAULT_GAME
    """which of the games to learn"""
    players: int | None = None
    """how many sit at the table, where the game leaves a choice"""
    rules: str = "standard"
    """preset of rules: standard, small or tiny"""
    out: str | None = None
    """a new folder; by default runs/quickstart-DATE-TIME"""

    @property
    def table(self) -> dict[str, Any]:
        """What training, tournament and play have in common."""
        return {"game": self.game, "players": self.players, "rules": self.rules}


def prepare(player: str, settings: Settings) -> tournament.Plan:
    """The tournament of a player, who is called `TRAINED` there, and its rivals.

    Raises:
        ValueError: naming what is wrong and what is allowed.
    """
    known = agents.names(settings.game)
    others = Conditions.checked(**settings.table).size - 1
    rivals = tournament.fill_table([name for name in RIVALS if name in known], others)
    plan = tournament.prepare(
        [player, *rivals], settings.deals, settings.seed + 1, **settings.table
    )
    entrants = [
        replace(entrant, label=TRAINED) if entrant.label == player else entrant
        for entrant in plan.entrants
    ]
    return replace(plan, entrants=tuple(sorted(entrants, key=lambda entrant: entrant.label)))


def rank(model: Path, settings: Settings, console: Console) -> Path:
    """Play the tournament of a model and its rivals, and print it.

    Args:
        model: a model file.
        settings: what is played.
        console: where tables and a bar are shown.

    Returns:
        The folder with results and report, beside the model.
    """
    plan = prepare(str(model), settings)
    folder = tournament.claim_folder(model.parent / "tournament")
    with (
        contextlib.closing(Store(folder / tournament.STORE)) as store,
        maskable_ppo.progress_bar(console, "tournament") as bar,
    ):
        task = bar.add_task("", total=len(plan.meetings) * plan.deals)
        played = plan.play(
            lambda pairs, names: bar.update(task, completed=pairs, description=names), store=store
        )
    document = played.as_dict()
    tournament.save(document, folder)
    report.show(document, console)
    return folder


def run(settings: Settings, console: Console | None = None) -> Path:
    """Train, rank, and say where everything lies.

    Returns:
        The folder.

    Raises:
        ValueError, OSError: in one sentence, what is wrong.
    """
    console = console or Console()
    if not settings.minutes > 0 or not math.isfinite(settings.minutes):
        raise ValueError(f"minutes must be a number above 0, got {settings.minutes!r}")
    check_integer("seed", settings.seed, 0)
    # All is checked before minutes are spent; any player stands for the one that is to be trained.
    plan = prepare("poke_env.agent:RandomAgent", settings)
    folder = settings.out or f"runs/quickstart-{datetime.now():%Y%m%d-%H%M%S}"
    console.print(
        f"Training by self-play for {settings.minutes:g} minutes, into {folder}",
        highlight=False,
        markup=False,
    )
    model = maskable_ppo.train(
        maskable_ppo.Arguments(
            minutes=settings.minutes,
            total_steps=None,
            seed=settings.seed,
            out=folder,
            **settings.table,
        ),
        console,
    )
    console.print(
        f"Tournament of {len(plan.entrants)} players over {settings.deals:,} deck orders",
        highlight=False,
    )
    python = shlex.quote(os.path.relpath(sys.executable))
    table = "".join(
        f" --{name} {value}"
        for name, value in settings.table.items()
        if value != getattr(Settings, name)
    )
    curves = shlex.quote(str(model.parent / "tensorboard"))
    ranking = rank(model, settings, console)
    for what, where in (
        ("Report", str(ranking / tournament.REPORT)),
        ("Numbers", str(ranking / tournament.RESULTS)),
        ("Model", str(model)),
        ("Logs", f"{python} -m tensorboard.main --logdir {curves}"),
        ("Go on", f"{python} -m training.maskable_ppo --resume {shlex.quote(folder)} --minutes 30"),
        ("Play it", f"{python} -m training.play{table} --opponent {shlex.quote(str(model))}"),
    ):
        console.print(f"{what + ':':9} {where}", highlight=False, markup=False, soft_wrap=True)
    return Path(folder)


@cli.main
def main(settings: Settings) -> None:
    """The command line."""
    run(settings)


if __name__ == "__main__":
    main()
