"""The plays of a trick, and what they are worth over hands that the opponent may hold."""

from __future__ import annotations

import numpy as np

from agents.poke_reading import LEAD, Reading, set_rank
from agents.reading import Floats, Integers, Mask, count_bits
from agents.tricks import ADDED, FIRST_HAND, Moves, Values, cards_taken, lead_value
from poke_env._jit import compiled

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


@compiled
def find_plays(reading: Reading, mask: Mask, plays: Plays) -> None:
    """Write the legal plays, but not what they are worth; of several of the same ranks the first.

    Args:
        reading: a position in which the player leads or follows.
        mask: int8 (A,), the legal actions.
        plays: record of dtype `PLAYS`.
    """
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


@compiled
def weigh_play(
    reading: Reading,
    worth: Floats,
    hands: Integers,
    weights: Floats,
    must_beat: bool,
    values: Values,
    mirrored: Values,
    moves: Moves,
    plays: Plays,
    i: int,
) -> float:
    """What play i is worth if all cards lay open from now on, summed over the opponent's hands.

    Args:
        reading: a position in which the player leads or follows.
        worth: float64 (6,), what it is worth to end the deal with so many cards taken.
        hands: int64 (N,), numbers of hands that the opponent may hold now.
        weights: float64 (N or more,), theirs.
        must_beat, values, mirrored, moves: of a `TrickTable`.
        plays: see `find_plays`.
        i: number of a play.
    """
    rest, rank, count = plays["rest"][i], plays["rank"][i], plays["size"][i]
    size, taken, lead = count_bits(reading["held"]), reading["taken"][0], reading["lead_rank"]
    total = 0.0
    for j in range(hands.shape[0]):
        if reading["phase"] == LEAD:
            cards = lead_value(
                values, mirrored, moves, must_beat, size, rest, rank, count, hands[j]
            )
        elif rank > lead:
            cards = count + cards_taken(values, size - count, rest, hands[j])
        else:
            cards = size - count - cards_taken(mirrored, size - count, rest, hands[j])
        total += weights[j] * worth[taken + cards]
    return total
