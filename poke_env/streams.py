"""Random streams: decks, first dealers and decision keys, each a pure function of its address.

Nothing here has a position that could drift. The deck of deal `d` in match `k` after a seeded
reset is a function of (seed, k, d) alone, so that neither seats, players nor reset options can
shift the deals that follow. The seed enters through `numpy.random.SeedSequence`; an address is
hashed into the state of xoshiro128++ (Blackman and Vigna, 2021), whose 32-bit words keep every
operation inside int64, compiled or not. Bounded numbers are drawn without bias (Lemire, 2019).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from poke_env._checks import check_integer
from poke_env._jit import compiled, inlined
from poke_env._records import record_dtype

Words = npt.NDArray[np.int64]

STREAM = record_dtype(("key", np.uint32, (4,)), ("match", np.int64))
"""A match's place among the streams: the words of the seed and the number of the match."""

_WORD = 0xFFFFFFFF


@inlined
def _mix(word: int) -> int:
    """A bijection of 32-bit words in which every input bit reaches every output bit."""
    # Products may leave int64 where they are compiled: the low bits, all that is kept, are right.
    word ^= word >> 16
    word = (word * 0x21F0AAAD) & _WORD
    word ^= word >> 15
    word = (word * 0xD35A2D97) & _WORD
    return word ^ (word >> 15)


@compiled
def generator(address: Words) -> Words:
    """State of xoshiro128++ for an address.

    Args:
        address: int64 (n,), every number taken as a 32-bit word.

    Returns:
        int64 (4,), to be handed to `next_word` and `random_below`.
    """
    state = np.empty(4, np.int64)
    for i in range(4):
        word = 0x9E3779B9 ^ (i * 0x1000193)
        for j in range(address.shape[0]):
            word = _mix((word + int(address[j] & _WORD) + j) & _WORD)
        state[i] = word
    return state


@inlined
def next_word(state: Words) -> int:
    """The next 32-bit word of xoshiro128++; advances `state`."""
    a, b, c, d = state[0], state[1], state[2], state[3]
    total = (a + d) & _WORD
    word = ((((total << 7) & _WORD) | (total >> 25)) + a) & _WORD
    c ^= a
    d ^= b
    state[0] = a ^ d
    state[1] = b ^ c
    state[2] = c ^ ((b << 9) & _WORD)
    state[3] = ((d << 11) & _WORD) | (d >> 21)
    return int(word)


@inlined
def random_below(state: Words, bound: int) -> int:
    """An unbiased number in 0 … bound - 1 (bound at most 2**31); advances `state`."""
    product = next_word(state) * bound
    if (product & _WORD) < bound:
        rejected = (_WORD + 1) % bound
        while (product & _WORD) < rejected:
            product = next_word(state) * bound
    return product >> 32


@inlined
def random_one(mask: npt.NDArray[np.int8], count: int, state: Words) -> int:
    """Place of one of the `count` numbers in `mask` (int8) that are not 0, each equally likely."""
    skip = random_below(state, count)
    for place in range(mask.shape[0]):
        if mask[place]:
            if skip == 0:
                return place
            skip -= 1
    return -1


@inlined
def random_legal(mask: npt.NDArray[np.int8], state: Words) -> int:
    """One of the actions that `mask` (int8, 0 or 1) allows, each equally likely."""
    count = 0
    for action in range(mask.shape[0]):
        count += mask[action] != 0
    return random_one(mask, count, state)


@compiled
def _match_generator(stream: np.void, deal: int) -> Words:
    address = np.empty(7, np.int64)
    for i in range(4):
        address[i] = stream["key"][i]
    address[4] = stream["match"]
    address[5] = np.int64(stream["match"]) >> 32
    address[6] = deal
    return generator(address)


@compiled
def first_dealer(stream: np.void, seats: int) -> int:
    """The seat that deals first in the stream's match: 0 … seats - 1."""
    return random_below(_match_generator(stream, 0), seats)


_START = -1
"""The deal by which a match's beginning is drawn: no deck and no dealer has this number."""


@compiled
def start_of_match(stream: np.void, count: int) -> int:
    """Which of so many beginnings the stream's match has: 0 … count - 1."""
    return random_below(_match_generator(stream, _START), count)


@compiled
def shuffle_deck(stream: np.void, deal: int, deck: npt.NDArray[np.int8], size: int) -> None:
    """Shuffle the first `size` entries of `deck` (int8) in place, for deal 1, 2, … of the match."""
    state = _match_generator(stream, deal)
    for i in range(size - 1, 0, -1):
        j = random_below(state, i + 1)
        card = deck[i]
        deck[i] = deck[j]
        deck[j] = card


class Purpose(IntEnum):
    """What is derived from a seed beside the decks, each from words of its own."""

    PLAYERS = 1
    """seats, and keys of the players in single-agent environments"""
    DUPLICATE_KEYS = 2
    """keys of decisions in duplicate matches"""
    LOAD = 3
    """seeds of players when they are loaded for a tournament"""
    CHANCE = 4
    """random play of the batch"""
    LABORATORY_KEYS = 5
    """keys of decisions in the laboratory's deals"""
    REAL_CARDS = 6
    """packs with which the laboratory plays solved draws out"""


def seed_words(seed: int | None, purpose: int | None = None) -> npt.NDArray[np.uint32]:
    """The four key words of a seed, uint32 (4,); `None` takes fresh entropy from the system.

    Args:
        seed: 0 or more, or None.
        purpose: a `Purpose` sets apart what else is derived from the seed; None is the decks.
    """
    key = () if purpose is None else (purpose,)
    return np.random.SeedSequence(seed, spawn_key=key).generate_state(4).astype(np.uint32)


def check_seed(seed: Any, name: str = "seed") -> int | None:
    """`seed` as a Python integer of at least 0, or None.

    Raises:
        ValueError: if it is anything else (a bool or a float included).
    """
    return cast(int | None, check_integer(name, seed, 0, or_none=True))


@compiled
def _hash_address(address: Words) -> tuple[int, int]:
    state = generator(address)
    return next_word(state), next_word(state)


def decision_key(*address: int) -> np.uint64:
    """The key of one decision: a 64-bit hash of an address of 32-bit words.

    Only the low 32 bits of each number count. An address begins with words of a seed *of its own*
    (`SeedSequence(seed, spawn_key=...)`), so that no player is handed the numbers by which the
    cards were shuffled.
    """
    high, low = _hash_address(np.array(address, np.int64))
    return np.uint64((high << 32) | low)


def decision_keys(
    words: npt.NDArray[np.integer[Any]], matches: npt.NDArray[np.int64], *numbers: Any
) -> npt.NDArray[np.uint64]:
    """Many keys: of each row `decision_key(*words, match, match >> 32, *numbers)`.

    Args:
        words: (n, 4), or (4,) for all: words of seeds of their own.
        matches: int64 (n,), numbers of the matches.
        numbers: integers (n,), or one for all, such as seats and turns.

    Returns:
        uint64 (n,).
    """
    addresses = np.empty((len(matches), 6 + len(numbers)), np.int64)
    addresses[:, :4] = words
    addresses[:, 4] = matches
    addresses[:, 5] = matches >> 32
    for place, number in enumerate(numbers, 6):
        addresses[:, place] = number
    halves = np.empty((len(matches), 2), np.int64)
    _hash_addresses(addresses, halves)
    high, low = halves.astype(np.uint64).T
    return (high << np.uint64(32)) | low


@compiled
def _hash_addresses(addresses: Words, halves: Words) -> None:
    for i in range(addresses.shape[0]):
        halves[i, 0], halves[i, 1] = _hash_address(addresses[i])


@compiled
def key_generator(high: int, low: int) -> Words:
    """Generator from the two 32-bit halves of a decision key."""
    address = np.empty(2, np.int64)
    address[0] = high
    address[1] = low
    return generator(address)


def key_halves(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """Keys (B,) uint64 as their 32-bit halves, int64 (B, 2), high half first."""
    halves = np.empty((keys.shape[0], 2), np.int64)
    halves[:, 0] = keys >> np.uint64(32)
    halves[:, 1] = keys & np.uint64(_WORD)
    return halves
