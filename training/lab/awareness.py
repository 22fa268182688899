"""What it is worth to know the score: `python -m training.lab awareness`.

A blind player draws at every score as the equilibrium of 0–0, games 0–0, says; an aware one as that
of the score. The strategies are not stored, so the draw phase is solved again, at some scores drawn
at random as often as deals begin there in a rubber, with the equity table's values for what comes
after the deal:

- `loss_other`, `loss_dealer`: what one deal played blind loses against an aware opponent, as
  non-dealer or dealer, if both are aware again afterwards. Exact in the model of the draw phase
  (`training.lab.draws`), but for the exploitability of the strategies, which each row states;
- `most_other`, `most_dealer`: the same against the opponent who knows that, and answers best. No
  opponent can take more;
- `rubber`: what a blind player loses in a rubber against an aware one: the losses of its deals
  added up, with the standard error of a sample of scores. It is taken for granted that deals begin
  at scores as often as between two aware players, which is nearly so;
- `both_blind`: what the first dealer expects between two blind players, from the stored outcomes.
  It says how far the table moves, and nothing about what blindness loses, as both are blind.

Both players take tricks alike here. A duplicate tournament of the players `equilibrium` and
`equilibrium_fixed` measures the same loss with real cards.

    OUT.csv, .json   a row a score; the JSON has the rubber too
    OUT.png          maps of what a deal played blind loses, at these scores
    OUT.work.npz     what was solved so far; the same command goes on from there
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import tyro
from rich.console import Console
from rich.progress import track

from poke_env._checks import check_integer, check_number
from poke_env.equity import EquityTable, Floats, Integers, places
from training.lab import results, score_maps, stored
from training.lab.draws import DrawModel, Payoffs, Response, balanced_model, solve
from training.lab.induction import solve_values
from training.lab.played import Played
from training.lab.stored import Solution, Worth

LOSSES = ("loss_other", "loss_dealer", "most_other", "most_dealer", "exploitability")

_QUICK_SCORES = 4
_QUICK_TOLERANCE = 5.0
_SAVE_SECONDS = 30.0


def blind_deal(
    model: DrawModel,
    payoffs: Payoffs,
    blind: tuple[Response, Response],
    start: tuple[Response, Response],
    tolerance: float,
) -> tuple[Floats, tuple[Response, Response]]:
    """Solve the draw phase at a score, and let each player be blind in turn.

    Args:
        model: the draw phase.
        payoffs: of the deal at the score.
        blind: the strategies of the blind, the non-dealer's and the dealer's.
        start: where to begin to solve.
        tolerance: exploitability at which to stop, in points.

    Returns:
        float64 (5,), `LOSSES` in points; and the strategies of the aware.
    """
    solved = solve(model, payoffs, tolerance, start=start)
    own, other = (strategy.reach for strategy in solved.strategies)
    blind_own, blind_other = (strategy.reach for strategy in blind)
    # Weights of pairs of hands do not quite add up to 1, which matters least near 0.
    level = payoffs - solved.value
    losses = [
        -float((model.outcomes(blind_own, other) * level).sum()),
        float((model.outcomes(own, blind_other) * level).sum()),
        model.dealer_response(blind_own, level).value,
        model.non_dealer_response(blind_other, level).value,
        solved.exploitability,
    ]
    return np.array(losses), solved.strategies


def draw_scores(table: EquityTable, count: int, seed: int) -> Integers:
    """Draw scores as often as deals begin there, the first of a rubber left out: int64 (count,).

    At 0–0, games 0–0, the blind and the aware play alike.

    Args:
        table: the equity table.
        count: how many; a score may come more than once.
        seed: of the choice.
    """
    visits = table.visits[0].astype(np.float64)
    visits[places(table.target)[0, 0, 0, 0]] = 0.0
    ends = np.cumsum(visits) / visits.sum()
    chance = np.random.default_rng(seed)
    where = (np.arange(count) + chance.random(count)) / count
    drawn = np.searchsorted(ends, where, side="right").astype(np.int64)
    return np.asarray(np.minimum(drawn, np.flatnonzero(visits)[-1]))


def rubber_loss(table: EquityTable, losses: Floats) -> dict[str, float]:
    """What a blind player loses in a rubber.

    Args:
        table: the equity table, with the number of deals.
        losses: float64 (n, 5), `LOSSES` at the scores of `draw_scores`.

    Returns:
        In points: `loss` and its `standard_error`, from the sample of scores; `most`, against the
        opponent who answers best; `solving_error`, the most that exploitability can matter.
    """
    first = places(table.target)[0, 0, 0, 0]
    deals = float(table.visits[0].sum() - table.visits[0, first])
    # He deals every other time, at any score as likely as not.
    loss = losses[:, :2].mean(axis=1)
    error = loss.std(ddof=1) / np.sqrt(len(loss)) if len(loss) > 1 else np.nan
    return {
        "loss": deals * float(loss.mean()),
        "standard_error": deals * float(error),
        "most": deals * float(losses[:, 2:4].mean()),
        "solving_error": deals * float(losses[:, 4].mean()),
    }


def both_blind(solution: Solution) -> Floats:
    """E at every score between two players who both play as at 0–0, float64 (places,)."""
    worth = Worth(solution.table)
    first = worth.outcomes(solution.chances(int(places(solution.table.target)[0, 0, 0, 0])))
    return np.asarray(solve_values(worth.scoring, lambda row, place: first)[0])


@dataclass(frozen=True)
class Awareness:
    """What it is worth to know the score when drawing.

    Attributes:
        count: Number of scores that are drawn.
        tolerance: Exploitability at which a score counts as solved, in points.
        seed: Of the choice of scores.
        table: The equity table (*.npz); by default that of the environment.
        draws: The draw phase of the same solution (*.draws.npz); by default the shipped one.
        threads: Threads; 0 is one for each core.
        out: Files to write, without a suffix.
        quick: A rough answer within a minute: few scores, a large tolerance, a plainer model.
    """

    count: int = 200
    tolerance: Annotated[float, tyro.conf.arg(metavar="POINTS")] = 0.5
    seed: int = 0
    table: Path | None = None
    draws: Path | None = None
    threads: int = 0
    out: Path = Path("runs/awareness")
    quick: bool = False

    def run(self, console: Console) -> None:
        """Solve, or go on solving, write the files and print."""
        count = check_integer("count", self.count, 2)
        tolerance = check_number("tolerance", self.tolerance, above=0.0)
        threads = check_integer("threads", self.threads, 0, 1024) or None
        solution = stored.load(self.table, self.draws)
        if self.quick:
            console.print(
                "--quick: few scores, solved roughly, pairs of hands that share cards not left "
                "out; good for a look, not for use."
            )
            count, tolerance = min(count, _QUICK_SCORES), max(tolerance, _QUICK_TOLERANCE)
        results.folder_of(self.out)
        table = solution.table
        drawn = draw_scores(table, count, check_integer("seed", self.seed, 0))
        known = np.unique(drawn)
        work = _Work(
            self.out.with_name(f"{self.out.name}.work.npz"),
            known,
            f"{table.digest}, tolerance {tolerance:g}, quick {self.quick}",
        )
        if work.missing:
            console.print("preparing the draw phase")
            model = DrawModel(threads=threads) if self.quick else balanced_model(threads=threads)
            _solve(model, Worth(table), solution.played, work, tolerance, console)
        losses = np.array([work.losses[place] for place in known.tolist()])
        rows = [
            score_maps.columns(place, table.target)
            | {"drawn": int((drawn == place).sum())}
            | dict(zip(LOSSES, line, strict=True))
            for place, line in zip(known.tolist(), losses.tolist(), strict=True)
        ]
        rubber = rubber_loss(table, losses[np.searchsorted(known, drawn)])
        begin = places(table.target)[0, 0, 0, 0]
        about = {
            "result": "awareness",
            "quick": self.quick,
            "seed": self.seed,
            "tolerance": tolerance,
            "rubber": rubber,
            "first_dealer_expects": {
                "both_aware": float(table.values[0, begin]),
                "both_blind": float(both_blind(solution)[begin]),
            },
            **stored.about(table),
        }
        on_map = np.full((len(table.values[0]), len(LOSSES)), np.nan)
        on_map[known] = losses
        high = score_maps.most(*losses[:, 2:4].T)
        figure = score_maps.draw(
            "What one deal played blind loses, points",
            [
                score_maps.Map(name.replace("_", ": "), on_map[:, index], 0, high)
                for index, name in enumerate(LOSSES[:4])
            ],
            table.target,
        )
        results.write(self.out, about, rows, figure)
        title = "What one deal played blind loses, points"
        results.show(console, title, score_maps.printed(rows))
        console.print(
            f"A rubber: a blind player loses {rubber['loss']:.1f} points to an aware one, standard "
            f"error {rubber['standard_error']:.1f}.",
            highlight=False,
        )


class _Work:
    """What has been solved, in a file.

    Args:
        path: the file.
        wanted: the scores.
        identity: what the file belongs to.

    Raises:
        ValueError: if it is damaged, or belongs to something else.
    """

    def __init__(self, path: Path, wanted: Integers, identity: str) -> None:
        self.path = path
        self.identity = identity
        self.wanted = wanted
        self.losses: dict[int, Any] = {}
        if path.exists():
            self._load()

    def _load(self) -> None:
        before = results.load_work(self.path, self.identity, "places", "losses")
        try:
            self.losses = dict(zip(before["places"].tolist(), before["losses"], strict=True))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{self.path} is damaged, delete it: {error}") from error

    @property
    def missing(self) -> list[int]:
        """The scores that are still to be solved."""
        return [place for place in self.wanted.tolist() if place not in self.losses]

    def save(self) -> None:
        """Write it, whole or not at all."""
        known = np.array(list(self.losses), np.int64)
        losses = np.array(list(self.losses.values())).reshape(-1, len(LOSSES))
        results.save_work(self.path, self.identity, places=known, losses=losses)


def _solve(
    model: DrawModel,
    worth: Worth,
    played: Played | None,
    work: _Work,
    tolerance: float,
    console: Console,
) -> None:
    first = int(places(worth.table.target)[0, 0, 0, 0])
    solved = solve(model, worth.payoffs(first, played), tolerance)
    aware = blind = solved.strategies
    saved = time.monotonic()
    try:
        for place in track(work.missing, "scores", console=console):
            payoffs = worth.payoffs(place, played)
            work.losses[place], aware = blind_deal(model, payoffs, blind, aware, tolerance)
            if time.monotonic() - saved > _SAVE_SECONDS:
                work.save()
                saved = time.monotonic()
    finally:
        work.save()
