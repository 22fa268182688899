"""Perfect information Monte Carlo: tricks by looking at hands that the opponent may hold.

Hands are found that fit all that was seen (`agents.hidden`). For each of them every play is looked
up in the solved table of tricks (`agents.tricks`), as if all cards lay open, and the play of
greatest mean worth is taken. So the search assumes an opponent who sees everything, and that the
player himself will see everything from the next trick on.

What to draw is left to another player.
"""

from __future__ import annotations

from typing import cast

import numpy as np

import agents
from agents.hidden import HIDDEN, OVERSAMPLING, guess
from agents.prior import Prior, draw_prior, no_prior
from agents.reading import (
    DRAW,
    LEAD,
    READING,
    Floats,
    Integers,
    Mask,
    PokeAgent,
    Reading,
    count_bits,
    only_action,
    read,
    set_rank,
)
from agents.score import worth_of_cards
from agents.tricks import ADDED, FIRST_HAND, Moves, Values, cards_taken, lead_value, trick_table
from poke_env._checks import check_flag, check_integer
from poke_env._jit import compiled
from poke_env.agent import KeyedAgent, Masks, Observations
from poke_env.streams import key_generator

DRAWS = ("heuristic", "never_double", "always_double", "greedy", "random")
"""Players that can be asked what to draw."""

MOST_SAMPLES = 100_000

_MOST_PLAYS = 10

PLAYS = np.dtype(
    [
        ("count", np.int64),
        ("action", np.int64, (_MOST_PLAYS,)),
        ("size", np.int64, (_MOST_PLAYS,)),  # cards played
        ("rank", np.int64, (_MOST_PLAYS,)),  # theirs; -1 if they differ
        ("rest", np.int64, (_MOST_PLAYS,)),  # number of the hand that is left
        ("worth", np.float64, (_MOST_PLAYS,)),  # summed over the opponent's hands
    ]
)
"""The plays between which the player chooses: those of the same ranks are one."""

Plays = np.void
"""A record of dtype `PLAYS`."""


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
    ) -> None:
        if draws not in DRAWS:
            raise ValueError(f"draws must be one of {', '.join(DRAWS)}, got {draws!r}")
        self.samples = check_integer("samples", samples, 1, MOST_SAMPLES)
        self.draws = draws
        self.infer = check_flag("infer", infer)
        self.must_beat = check_flag("must_beat", must_beat)
        self.follow_set_if_held = check_flag("follow_set_if_held", follow_set_if_held)
        self._drawer = cast(KeyedAgent, agents.make(draws))
        super().__init__(seed)

    def choose(self, observations: Observations, masks: Masks, keys: Integers) -> Integers:
        """See `KeyedAgent.choose`."""
        table = trick_table(self.must_beat, self.follow_set_if_held)
        chosen = _play_tricks(
            observations, masks, keys, self.samples, draw_prior() if self.infer else no_prior(),
            self.must_beat, table.values, table.mirrored, table.moves,
        )  # fmt: skip
        draws = np.flatnonzero(chosen < 0)
        if len(draws):
            chosen[draws] = self._drawer.choose(observations[draws], masks[draws], keys[draws])
        return chosen


@compiled
def _play_tricks(
    observations: Observations,
    masks: Masks,
    keys: Integers,
    samples: int,
    prior: Prior,
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
            worth = worth_of_cards(reading, reading["values"][0], reading["values"][1])
            count = guess(reading, must_beat, prior, samples, chance, hiddens[0], hands, weights)
            chosen[i] = best_play(
                reading, masks[i], worth, hands[:count], weights, must_beat, values, mirrored,
                moves, plays[0],
            )  # fmt: skip
    return chosen


@compiled
def best_play(
    reading: Reading,
    mask: Mask,
    worth: Floats,
    hands: Integers,
    weights: Floats,
    must_beat: bool,
    values: Values,
    mirrored: Values,
    moves: Moves,
    plays: Plays,
) -> int:
    """The play of greatest mean worth over hands of the opponent; of several the first.

    Args:
        reading: a position in which the player leads or follows.
        mask: int8 (A,), the legal actions.
        worth: float64 (6,), what it is worth to end the deal with so many cards taken.
        hands: int64 (N,), numbers of hands that the opponent may hold now.
        weights: float64 (N or more,), theirs.
        must_beat, values, mirrored, moves: of a `TrickTable`.
        plays: record of dtype `PLAYS`, overwritten: what all plays are worth.
    """
    find_plays(reading, mask, plays)
    leads, taken = reading["phase"] == LEAD, reading["taken"][0]
    size = count_bits(reading["held"])
    for i in range(plays["count"]):
        rest, rank, count = plays["rest"][i], plays["rank"][i], plays["size"][i]
        left = size - count
        total = 0.0
        for j in range(hands.shape[0]):
            if leads:
                cards = lead_value(
                    values, mirrored, moves, must_beat, size, rest, rank, count, hands[j]
                )
            elif rank > reading["lead_rank"]:
                cards = count + cards_taken(values, left, rest, hands[j])
            else:
                cards = left - cards_taken(mirrored, left, rest, hands[j])
            total += weights[j] * worth[taken + cards]
        plays["worth"][i] = total
    best = 0
    for i in range(1, plays["count"]):
        if plays["worth"][i] > plays["worth"][best]:
            best = i
    return int(plays["action"][best])


@compiled
def find_plays(reading: Reading, mask: Mask, plays: Plays) -> None:
    """Write the legal plays; of several with the same ranks, the first."""
    count = 0
    for action in range(1, mask.shape[0]):
        if mask[action]:
            rest, size = np.int64(0), count_bits(action)
            kept = reading["held"] & ~action
            for slot in range(reading["size"]):
                if (kept >> slot) & 1:
                    rest = np.int64(ADDED[rest, reading["ranks"][slot]])
            rest -= FIRST_HAND[count_bits(kept)]
            known = False
            for i in range(count):
                known |= plays["rest"][i] == rest and plays["size"][i] == size
            if not known:
                plays["action"][count] = action
                plays["size"][count] = size
                plays["rank"][count] = set_rank(reading, action)
                plays["rest"][count] = rest
                count += 1
    plays["count"] = count
