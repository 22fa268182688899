"""What a position of the draw phase is worth: the value function behind luck-adjusted margins.

It gives the non-dealer's expected margin right after cards were dealt or drawn, both hands known.
Margins are *expected* of how the project's players go on; no other player need go on like them,
for the luck that is taken out of a margin has the mean 0 whatever the function says
(`training.luck`). A good function makes its spread small, nothing else.

The numbers come from `luck_value.safetensors`, made by `training.fit_luck` from deals that no
tournament plays. They are fixed before any result, and `ValueFunction.digest` says which they were.

A value has three parts, the non-dealer's points below the line, the dealer's, and the non-dealer's
margin above it, so that any price of a point below the line can be put on them afterwards.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.tricks import (
    FIRST_HAND,
    FIRST_PAIR,
    HAND_RANKS,
    HANDS,
    LARGEST_SET,
    RANKS,
    cards_taken,
    hand_number,
    trick_table,
)
from poke_env._jit import compiled, inlined
from poke_env.cards import CATEGORY_SHIFT, hand_value
from poke_env.games.poke import MAX_HAND, PRESETS, Rules
from poke_env.settings import Settings

FILE = Path(__file__).with_suffix(".safetensors")

PARTS = 3
"""The non-dealer's points below the line, the dealer's, the non-dealer's margin above the line."""

_NON_DEALER_DRAWS = Rules().non_dealer_draws
_DEALER_DRAWS = Rules().dealer_draws
STAGES = 1 + _NON_DEALER_DRAWS + (1 + _NON_DEALER_DRAWS) * _DEALER_DRAWS
"""Moments at which cards have just come: see `stage`."""

UNITS = np.array([1000.0, 1000.0, 16.0])
"""How many of the file's steps make a point of each part."""
POKER_UNIT = 10_000.0
"""How many of the file's steps make a weight of 1 of the poker points as the hands stand."""

_SHAPES: dict[str, tuple[type, tuple[int | None, ...]]] = {
    "kinds": (np.int8, (2, int(HANDS[MAX_HAND]))),
    "table": (np.int16, (STAGES, None, None, PARTS)),
    "taken": (np.int16, (STAGES, MAX_HAND + 1, PARTS)),
    "poker": (np.int16, (STAGES,)),
    "mean": (np.float64, (PARTS,)),
}

Floats = npt.NDArray[np.float64]
Hand = npt.NDArray[np.int8]


class Tables(NamedTuple):
    """A value function as compiled code reads it. A hand is the number of its ranks (see
    `agents.tricks.hand_number`) and whether it is a flush, 0 or 1.

    Attributes:
        kinds: int8 (2, 6188), the kind of each hand that is no flush, that is one.
        table: float64 (STAGES, K, K, 3), by kinds of the non-dealer's and the dealer's hand.
        taken: float64 (STAGES, 6, 3), added for the cards that the non-dealer would take of these
            hands if both knew all.
        poker: float64 (STAGES,), weight of the poker points as the hands stand.
        strength: int64 (2, 6188), what the hands are as poker hands (see `hand_value`).
        points: int64 (2, 6188), their points.
        solved: int8, the cards taken with both hands known (see `agents.tricks.TrickTable`).
        solved_by_follower: int8 (6188, 6188), the same for whole hands, the dealer's first: what is
            read together lies together, else each reading waits for the memory.
    """

    kinds: npt.NDArray[np.int8]
    table: Floats
    taken: Floats
    poker: Floats
    strength: npt.NDArray[np.int64]
    points: npt.NDArray[np.int64]
    solved: npt.NDArray[np.int8]
    solved_by_follower: npt.NDArray[np.int8]


@inlined
def stage(dealer: int, non_dealer_draws: int, dealer_draws: int) -> int:
    """The moment after a deal or a draw: 0 … STAGES - 1.

    Args:
        dealer: 1 if the dealer drew, 0 if the non-dealer did, or nobody yet.
        non_dealer_draws, dealer_draws: made so far, this one included.
    """
    if not dealer:
        return non_dealer_draws
    return _NON_DEALER_DRAWS + _DEALER_DRAWS * non_dealer_draws + dealer_draws


@compiled
def number_of(cards: Hand) -> int:
    """Number of the ranks of five cards in ascending order."""
    ranks = np.empty(MAX_HAND, np.int8)
    for slot in range(MAX_HAND):
        ranks[slot] = cards[slot] >> 2
    return hand_number(ranks, MAX_HAND)


@inlined
def is_flush(cards: Hand) -> int:
    """1 if all cards are of one suit, else 0."""
    for slot in range(1, cards.shape[0]):
        if (cards[slot] ^ cards[0]) & 3:
            return 0
    return 1


@inlined
def poker_margin(
    strength: npt.NDArray[np.int64],
    points: npt.NDArray[np.int64],
    first: int,
    first_flush: int,
    second: int,
    second_flush: int,
) -> int:
    """Poker points of the first hand less those of the second."""
    one = strength[first_flush, first]
    other = strength[second_flush, second]
    if one > other:
        return int(points[first_flush, first])
    return -int(points[second_flush, second]) if other > one else 0


@inlined
def value_part(
    tables: Tables,
    stage: int,
    part: int,
    first: int,
    first_flush: int,
    second: int,
    second_flush: int,
) -> float:
    """One part of a position's value.

    Args:
        tables, stage: of the value function; the moment.
        part: 0, 1 or 2, see `PARTS`.
        first, first_flush: the non-dealer's hand.
        second, second_flush: the dealer's.
    """
    a = tables.kinds[first_flush, first]
    b = tables.kinds[second_flush, second]
    solved = cards_taken(tables.solved, MAX_HAND, first, second)
    value = tables.table[stage, a, b, part] + tables.taken[stage, solved, part]
    if part == PARTS - 1:
        value += tables.poker[stage] * poker_margin(
            tables.strength, tables.points, first, first_flush, second, second_flush
        )
    return float(value)


class ValueFunction:
    """A value function from a file.

    Args:
        path: a safetensors file as `training.fit_luck` writes it.

    Attributes:
        digest: SHA-256 of the file, hexadecimal.
        tables: its numbers.
        mean: float64 (3,), the exact mean over all deals of each part at the deal.
        about: what the file says of how it was made.

    Raises:
        ValueError: if it is no such file.
        OSError: if it cannot be read.
    """

    def __init__(self, path: Path = FILE) -> None:
        data = path.read_bytes()
        self.digest = hashlib.sha256(data).hexdigest()
        arrays, self.about = _parse(path, data)
        self.mean = arrays["mean"]
        self.tables = as_tables(arrays["kinds"], arrays["table"], arrays["taken"], arrays["poker"])


def as_tables(kinds: Any, table: Any, taken: Any, poker: Any) -> Tables:
    """`Tables` from the arrays of a file, integers in its units."""
    strength, points = poker_hands()
    return Tables(
        kinds, table / UNITS, taken / UNITS, poker / POKER_UNIT, strength, points,
        trick_table().values, _solved_by_follower(),
    )  # fmt: skip


def _parse(path: Path, data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays = load(data)
        header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    except (SafetensorError, ValueError) as error:
        raise ValueError(f"value function {path} must be a safetensors file: {error}") from None
    for name, (kind, shape) in _SHAPES.items():
        array = arrays.get(name)
        if (
            array is None
            or array.dtype != kind
            or len(array.shape) != len(shape)
            or any(size not in (None, is_) for size, is_ in zip(shape, array.shape, strict=True))
        ):
            found = "nothing" if array is None else f"{array.dtype} {array.shape}"
            raise ValueError(
                f"value function {path} must hold {name}, {np.dtype(kind)} {shape}, got {found}"
            )
    kinds, known = arrays["kinds"], arrays["table"].shape[1]
    if kinds.min() < 0 or kinds.max() >= min(arrays["table"].shape[1:3]):
        raise ValueError(f"value function {path} must have kinds from 0 to {known - 1}")
    return arrays, json.loads(header.get("__metadata__", {}).get("about", "{}"))


@cache
def _solved_by_follower() -> npt.NDArray[np.int8]:
    hands = int(HANDS[MAX_HAND])
    solved = trick_table().values[FIRST_PAIR[MAX_HAND] :].reshape(hands, hands)
    return np.ascontiguousarray(solved.T)


@cache
def of_project() -> ValueFunction:
    """The value function that the project ships."""
    return ValueFunction()


def for_settings(settings: Settings) -> ValueFunction | None:
    """The value function for an environment's settings; None if there is none for its rules."""
    return of_project() if settings.rules == PRESETS["standard"] else None


def rank_hands() -> npt.NDArray[np.int8]:
    """The ranks, ascending, of every multiset of five: int8 (6188, 5), by number."""
    return HAND_RANKS[FIRST_HAND[MAX_HAND] :]


@cache
def poker_hands() -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """`strength` and `points` of `Tables`; 0 for what cannot be held."""
    hands = rank_hands()
    strength = np.zeros((2, len(hands)), np.int64)
    for number, ranks in enumerate(hands):
        _, place, often = np.unique(ranks, return_index=True, return_counts=True)
        if often.max() > LARGEST_SET:
            continue
        # Suits in turn within a rank; without equal ranks the first card gets another suit.
        suits = np.arange(MAX_HAND) - np.repeat(place, often)
        pairless = len(often) == MAX_HAND
        mixed = suits + (np.arange(MAX_HAND) == 0) if pairless else suits
        for flush, dealt in enumerate((mixed, suits)):
            cards = (ranks * 4 + dealt).astype(np.int8)
            strength[flush, number] = hand_value(cards, MAX_HAND, True)
    return strength, np.array(Rules().poker_points)[strength >> CATEGORY_SHIFT]


def exact_mean(tables: Tables) -> Floats:
    """The mean of each part at the deal over all pairs of hands: float64 (3,), exact.

    Counted by ranks: so many pairs of hands have these ranks, so many of them one flush, the
    other, both.
    """
    counts = np.zeros((len(tables.kinds[0]), RANKS), np.int64)
    for number, ranks in enumerate(rank_hands()):
        counts[number] = np.bincount(ranks, minlength=RANKS)
    return _exact_mean(tables, counts)


_WAYS = np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0], [1, 2, 1, 0, 0], [1, 3, 3, 1, 0],
                  [1, 4, 6, 4, 1]], np.int64)  # fmt: skip
"""[n, k]: ways to choose k of n suits."""


@compiled
def _exact_mean(tables: Tables, counts: npt.NDArray[np.int64]) -> Floats:
    total = np.zeros(PARTS)
    pairs = 0
    for first in range(counts.shape[0]):
        one = counts[first]
        if one.max() > LARGEST_SET:
            continue
        for second in range(counts.shape[0]):
            other = counts[second]
            if other.max() > LARGEST_SET:
                continue
            flushes = count_flushes(one, other)
            for first_flush in range(2):
                for second_flush in range(2):
                    ways = flushes[2 * first_flush + second_flush]
                    if ways == 0:
                        continue
                    pairs += ways
                    for part in range(PARTS):
                        total[part] += ways * value_part(
                            tables, 0, part, first, first_flush, second, second_flush
                        )
    return total / pairs


@inlined
def count_flushes(
    one: npt.NDArray[np.int64], other: npt.NDArray[np.int64]
) -> tuple[int, int, int, int]:
    """Ways to deal two hands of these ranks: no flush, the second is one, the first, both.

    Args:
        one, other: int64 (13,), cards of each rank.
    """
    every, first, second = 1, 4, 4
    disjoint, first_pairless, second_pairless = True, True, True
    for rank in range(RANKS):
        m, n = one[rank], other[rank]
        every *= _WAYS[4, m] * _WAYS[4 - m, n]
        # A flush in a given suit holds one card of each of its ranks.
        first *= _WAYS[4 - m, n]
        second *= _WAYS[4 - n, m]
        first_pairless &= m <= 1
        second_pairless &= n <= 1
        disjoint &= m == 0 or n == 0
    first = first if first_pairless else 0
    second = second if second_pairless else 0
    # Both in different suits, or in the same one if they share no rank.
    both = 12 + 4 * disjoint if first_pairless and second_pairless else 0
    return every - first - second + both, second - both, first - both, both
