"""What the players of every game share who read an observation with compiled functions.

A game's own layout is read in one place: `agents.poke_reading`, `agents.pokex_reading`,
`agents.poque_reading` and `agents.poangpoker_reading`.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from poke_env._jit import compiled

Integers = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Observation = npt.NDArray[np.float32]
Mask = npt.NDArray[np.int8]

RANKS = 13
SUITS = 4


@compiled
def only_action(mask: Mask) -> int:
    """The legal action if there is but one, else -1."""
    only = -1
    for action in range(mask.shape[0]):
        if mask[action]:
            if only >= 0:
                return -1
            only = action
    return only


@compiled
def integer(number: float) -> int:
    """The whole number that a scaled one of at least 0 stands for."""
    return int(number + 0.5)


@compiled
def which(o: Observation, start: int, length: int) -> int:
    """Place of the one number that is set among so many, -1 if none is."""
    place = -1
    for i in range(length):  # to the end: a branch that cannot be foreseen costs more
        if o[start + i] > 0:
            place = i
    return place


@compiled
def count_bits(bits: int) -> int:
    """Number of ones in the binary form of `bits`."""
    count = 0
    while bits:
        bits &= bits - 1
        count += 1
    return count
