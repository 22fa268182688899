"""Perfect information Monte Carlo: tricks by looking at hands that the opponent may hold.

Hands are found that fit all that was seen (`agents.hidden`). For each of them every play is looked
up in the solved table of tricks (`agents.tricks`), as if all cards lay open, and the play of
greatest mean worth is taken. So the search assumes an opponent who sees everything, and that the
player himself will see everything from the next trick on; with a depth of two that fault is
repaired for his next decision (`agents.planning`).

What to draw is left to another player.
"""

from __future__ import annotations

from functools import cache
from typing import cast

import numpy as np

import agents
from agents.equilibrium import EquilibriumDraws
from agents.hidden import HIDDEN, OVERSAMPLING, guess
from agents.planning import weigh_plan
from agents.plays import PLAYS, Plays, find_plays, weigh_play
from agents.poke_reading import DRAW, LEAD, READING, PokeAgent, Reading, read
from agents.prior import Prior, draw_prior, no_prior
from agents.reading import Floats, Integers, Mask, only_action
from agents.score import worth_in_rubber
from agents.tricks import Moves, Values, trick_table
from poke_env._checks import check_flag, check_integer
from poke_env._jit import compiled
from poke_env.agent import KeyedAgent, Masks, Observations
from poke_env.equity import EquityTable
from poke_env.streams import key_generator

DRAWS = ("heuristic", "never_double", "always_double", "greedy", "random", "equilibrium")
"""Who can be asked what to draw: players, and the solved draw phase (`agents.equilibrium`)."""

WORTH = ("game", "equity")
"""By what cards are valued: the chance to win the game (`agents.score`), or what the score after
the deal is worth in the rubber by the equity table of the full game (`poke_env.equity`)."""

MOST_SAMPLES = 100_000

_EQUAL = 1e-6
"""A difference in worth that is none, being due to rounding."""


class PimcAgent(PokeAgent):
    """Plays tricks by looking at hands that the opponent may hold, and draws as another player.

    Args:
        seed: of the player's own stream, used where the caller passes no keys.
        samples: hands looked at for a decision.
        draws: the player that is asked what to draw, one of `DRAWS`.
        infer: whether hands are weighed by what the opponent's numbers of cards drawn tell.
        must_beat: the rule of following, which no observation tells. With it a throw-off proves
            what the opponent does not hold.
        follow_set_if_held: likewise.
        depth: own decisions that are the same for all hands of the opponent: 1, or 2 to plan the
            next one too.
        worth: by what cards are valued, one of `WORTH`. Hands of other sizes than the full game's
            are valued by the game.

    Raises:
        ValueError: naming the argument, what was given and what is allowed.
    """

    def __init__(
        self,
        seed: int | None = 0,
        samples: int = 64,
        draws: str = "heuristic",
        infer: bool = True,
        must_beat: bool = True,
        follow_set_if_held: bool = False,
        depth: int = 1,
        worth: str = "game",
    ) -> None:
        if draws not in DRAWS:
            raise ValueError(f"draws must be one of {', '.join(DRAWS)}, got {draws!r}")
        if worth not in WORTH:
            raise ValueError(f"worth must be one of {', '.join(WORTH)}, got {worth!r}")
        self.worth = worth
        self.samples = check_integer("samples", samples, 1, MOST_SAMPLES)
        self.draws = draws
        self.infer = check_flag("infer", infer)
        self.must_beat = check_flag("must_beat", must_beat)
        self.follow_set_if_held = check_flag("follow_set_if_held", follow_set_if_held)
        self.depth = check_integer("depth", depth, 1, 2)
        self._drawer = (
            EquilibriumDraws() if draws == "equilibrium" else cast(KeyedAgent, agents.make(draws))
        )
        super().__init__(seed)

    def choose(self, observations: Observations, masks: Masks, keys: Integers) -> Integers:
        """See `KeyedAgent.choose`."""
        table = trick_table(self.must_beat, self.follow_set_if_held)
        chosen = _play_tricks(
            observations, masks, keys, self.samples, draw_prior() if self.infer else no_prior(),
            self.depth, _equity(self.worth), self.must_beat, table.values, table.mirrored,
            table.moves,
        )  # fmt: skip
        draws = np.flatnonzero(chosen < 0)
        if len(draws):
            chosen[draws] = self._drawer.choose(observations[draws], masks[draws], keys[draws])
        return chosen


@cache
def _equity(worth: str) -> Floats:
    """For `worth_in_rubber`; read-only."""
    values = EquityTable.load().values[0] if worth == "equity" else np.zeros(0)
    values.flags.writeable = False
    return values


@compiled
def _play_tricks(
    observations: Observations,
    masks: Masks,
    keys: Integers,
    samples: int,
    prior: Prior,
    depth: int,
    equity: Floats,
    must_beat: bool,
    values: Values,
    mirrored: Values,
    moves: Moves,
) -> Integers:
    """Choices of the trick phase, int64 (B,); -1 where there is a choice of what to draw."""
    chosen = np.empty(masks.shape[0], np.int64)
    readings = np.zeros(1, READING)  # used below: a compiled record does not keep its array
    hiddens = np.zeros(1, HIDDEN)
    plays = np.zeros(1, PLAYS)
    hands = np.empty(OVERSAMPLING * samples, np.int64)
    weights = np.empty(OVERSAMPLING * samples)
    for i in range(masks.shape[0]):
        chosen[i] = only_action(masks[i])
        if chosen[i] >= 0:
            continue
        reading = readings[0]
        read(observations[i], masks[i], reading)
        if reading["phase"] != DRAW:
            chance = key_generator(keys[i, 0], keys[i, 1])
            worth = worth_in_rubber(reading, equity)
            count = guess(reading, must_beat, prior, samples, chance, hiddens[0], hands, weights)
            chosen[i] = best_play(
                reading, masks[i], worth, hands[:count], weights, depth, must_beat, values,
                mirrored, moves, plays[0],
            )  # fmt: skip
    return chosen


@compiled
def best_play(
    reading: Reading,
    mask: Mask,
    worth: Floats,
    hands: Integers,
    weights: Floats,
    depth: int,
    must_beat: bool,
    values: Values,
    mirrored: Values,
    moves: Moves,
    plays: Plays,
) -> int:
    """The play of greatest mean worth over hands of the opponent.

    Of equal leads the last is taken, which is large and high: the opponent may not see all, and
    learns less before he has to answer. Of equal answers it is the first, of low cards.

    Args:
        reading: a position in which the player leads or follows.
        mask: int8 (A,), the legal actions.
        worth: float64 (6,), what it is worth to end the deal with so many cards taken.
        hands: int64 (N,), numbers of hands that the opponent may hold now.
        weights: float64 (N or more,), theirs.
        depth: own decisions that are the same for all hands, 1 or 2.
        must_beat, values, mirrored, moves: of a `TrickTable`.
        plays: record of dtype `PLAYS`, overwritten: what all plays are worth.
    """
    find_plays(reading, mask, plays)
    weigh = (worth, hands, weights, must_beat, values, mirrored, moves, plays)
    best = 0
    for i in range(plays["count"]):
        if depth == 1:
            plays["worth"][i] = weigh_play(reading, *weigh, i)
        else:
            plays["worth"][i] = weigh_plan(reading, *weigh, i)
        margin = -_EQUAL if reading["phase"] == LEAD else _EQUAL
        if plays["worth"][i] > plays["worth"][best] + margin:
            best = i
    return int(plays["action"][best])
