"""What a player's draws tell of the hand that he ended with.

A prior says how much likelier a final hand is after certain draws than among all hands. It is an
array, one row for each history of draws and one column for each type of hand, so that whoever
knows better, a solver for instance, can hand over a table of his own.

The one kept here was counted in deals between scripted players by `python -m training.fit_prior`.
It tells hands apart by `CLASSES` and keeps their likelihoods as bytes, eight steps to a factor of
two.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import cast

import numpy as np
import numpy.typing as npt

from agents.reading import RANKS, Floats, Integers
from agents.tricks import FIRST_HAND, HAND_RANKS
from poke_env._jit import compiled, inlined
from poke_env.cards import CATEGORY_SHIFT, Category, hand_value
from poke_env.games.poke import MAX_DRAWS, MAX_HAND

MOST_CHANGED = 3
"""Larger draws, which only variants know, are taken for draws of so many cards."""

HISTORIES = 2 * (MOST_CHANGED + 1) ** MAX_DRAWS
TYPES = 2 * len(HAND_RANKS)

Likelihood = npt.NDArray[np.float32]
"""float32 (TYPES,), above 0: a row of a prior, up to a factor. See `hand_type`."""
Prior = npt.NDArray[np.float32]
"""float32 (HISTORIES, TYPES), above 0. See `history_number` and `hand_type`."""

KICKERS = 4
_CATEGORIES = len(Category)
CLASSES = (MAX_HAND + 1) * _CATEGORIES * RANKS * KICKERS
"""By number of cards, category, the rank that decides within it, and a quarter of the ranks in
which the mean of the other cards lies."""

FILE = Path(__file__).with_name("prior.npz")
_STEPS = 8
_MIDDLE = 128


@inlined
def history_number(dealer: int, changed: Integers) -> int:
    """Row of a prior.

    Args:
        dealer: 1 if the player whose draws they are dealt.
        changed: int64 (3,), cards that he changed in each draw, 0 where there was none.
    """
    number = dealer
    for draw in range(MAX_DRAWS):
        number = number * (MOST_CHANGED + 1) + min(changed[draw], MOST_CHANGED)
    return number


@inlined
def hand_type(hand: int, flush: int) -> int:
    """Column of a prior.

    Args:
        hand: row of `agents.tricks.HAND_RANKS`.
        flush: 1 if all cards are of one suit.
    """
    return 2 * hand + flush


@compiled
def classes() -> Integers:
    """The class of every type, int64 (TYPES,)."""
    found = np.zeros(TYPES, np.int64)
    cards = np.zeros(MAX_HAND, np.int8)
    for size in range(1, MAX_HAND + 1):
        for hand in range(FIRST_HAND[size], FIRST_HAND[size + 1]):
            ranks = HAND_RANKS[hand]
            top, most = _deciding_rank(ranks, size)
            kickers = 0
            for i in range(size):
                kickers += int(ranks[i]) if ranks[i] != top else 0
            quarter = KICKERS * kickers // (RANKS * max(size - most, 1))
            for flush in range(2):
                for i in range(size):
                    # Neighbours get different suits, so that equal ranks are different cards.
                    cards[i] = 4 * ranks[i] + (0 if flush and most == 1 else i % 4)
                category = hand_value(cards, size, True) >> CATEGORY_SHIFT if most < 5 else 0
                place = size * _CATEGORIES + category
                found[hand_type(hand, flush)] = (place * RANKS + top) * KICKERS + quarter
    return found


@inlined
def _deciding_rank(ranks: npt.NDArray[np.int8], size: int) -> tuple[int, int]:
    """The highest rank of which a hand holds most cards, and how many these are."""
    top, most = 0, 0
    count = 0
    for i in range(size):
        count = count + 1 if i > 0 and ranks[i] == ranks[i - 1] else 1
        if count >= most:
            top, most = int(ranks[i]), count
    return top, most


def pack(likelihoods: Floats) -> npt.NDArray[np.uint8]:
    """Likelihoods above 0 as bytes; what is beyond a factor of 2**15 is taken for that."""
    steps = np.rint(_STEPS * np.log2(likelihoods))
    packed = _MIDDLE + np.clip(steps, -_STEPS * 15, _STEPS * 15)
    return cast(npt.NDArray[np.uint8], packed.astype(np.uint8))


@cache
def draw_prior() -> Prior:
    """The prior counted in deals between scripted players; read-only."""
    with np.load(FILE) as data:
        packed = data["likelihoods"]
    # The same to the last bit on every machine.
    of_byte = np.array([2.0 ** ((step - _MIDDLE) / _STEPS) for step in range(256)], np.float32)
    return _frozen(of_byte[packed][:, classes()])


@cache
def no_prior() -> Prior:
    """A prior by which draws tell nothing; read-only."""
    return _frozen(np.ones((HISTORIES, TYPES), np.float32))


def _frozen(prior: Prior) -> Prior:
    prior = np.ascontiguousarray(prior)
    prior.flags.writeable = False
    return prior
