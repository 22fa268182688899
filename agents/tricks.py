"""Tricks with both hands known, solved: how many cards the leader takes when both play perfectly.

With all cards in sight the trick phase is a game of perfect information. What a deal pays rises
with the cards a player takes, whatever they are worth, so best play takes as many cards as it can
and one number says it all. Suits do not matter: a hand is a multiset of ranks, and there are 6,188
of five cards. The table below holds the number for every pair of hands of equal size, one byte
each, made by a dynamic programme from hands of one card upwards.

    table = trick_table()
    table.cards_taken(leader, follower)                # 0 … 5
    table.best_lead(leader, follower)                  # the ranks led
    table.best_reply(leader_rest, follower, lead)      # the ranks played to a lead

The first call makes the table in a few seconds and keeps it in the user's cache folder; later ones
map the file into memory.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache, partial
from itertools import combinations_with_replacement
from math import comb
from pathlib import Path
from typing import Any, cast

import numba
import numpy as np
import numpy.typing as npt
import platformdirs

from poke_env._checks import as_integer, shown
from poke_env._files import replacing
from poke_env._jit import compiled, inlined, sources_digest
from poke_env._threads import cores, in_parallel, split
from poke_env.games.poke import MAX_HAND

RANKS = 13
LARGEST_SET = 4

HANDS = np.array([comb(RANKS + size - 1, size) for size in range(MAX_HAND + 1)], np.int64)
"""By number of cards, the multisets of ranks: 1, 13, 91, 455, 1820, 6188. Some of five cards
(five of a rank) do not occur; they do no harm."""

FIRST_HAND = np.concatenate(([0], np.cumsum(HANDS)))
"""Where the moves of hands of that many cards begin (see `MOVES`)."""

FIRST_PAIR = np.concatenate(([0], np.cumsum(HANDS**2)))
"""Where the values of pairs of hands of that many cards begin (see `TrickTable.values`)."""

MIRRORED = int(FIRST_PAIR[MAX_HAND])
"""Pairs of hands that can be left after a lead (see `TrickTable.mirrored`)."""

CHOOSE = np.array(
    [[comb(n, k) for k in range(MAX_HAND + 1)] for n in range(RANKS + MAX_HAND)], np.int64
)
"""[n, k]: ways to choose k of n things."""

_MOST_THROWS = comb(MAX_HAND, MAX_HAND // 2)

Values = npt.NDArray[np.int8]
Ranks = npt.NDArray[np.int8]

HAND_RANKS: Ranks = np.zeros((FIRST_HAND[-1], MAX_HAND), np.int8)
"""int8 (8568, 5): the ranks of every hand, ascending; those of `size` cards begin at
`FIRST_HAND[size]` in the order of their numbers."""
for _size in range(1, MAX_HAND + 1):
    _hands = sorted(combinations_with_replacement(range(RANKS), _size), key=lambda hand: hand[::-1])
    HAND_RANKS[FIRST_HAND[_size] : FIRST_HAND[_size + 1], :_size] = _hands


def _with_one_more() -> npt.NDArray[np.int16]:
    added = np.zeros((FIRST_HAND[MAX_HAND], RANKS), np.int16)
    for size in range(MAX_HAND):
        hands = HAND_RANKS[FIRST_HAND[size] : FIRST_HAND[size + 1], :size]
        for rank in range(RANKS):
            more = np.sort(np.insert(hands, size, rank, axis=1), axis=1) + np.arange(size + 1)
            numbers = CHOOSE[more, np.arange(1, size + 2)].sum(axis=1)
            added[FIRST_HAND[size] : FIRST_HAND[size + 1], rank] = FIRST_HAND[size + 1] + numbers
    return added


ADDED = _with_one_more()
"""int16 (2380, 13): the row of `HAND_RANKS` that a hand becomes by one card of each rank. Numbers
are so found card by card in any order, without sorting; row 0 is the hand without cards."""

MOVES = np.dtype(
    [
        # [k]: sets of k cards of one rank, by ascending rank, and the hands that they leave.
        ("sets", np.int8, (LARGEST_SET + 1,)),
        ("set_rank", np.int8, (LARGEST_SET + 1, MAX_HAND)),
        ("set_rest", np.int16, (LARGEST_SET + 1, MAX_HAND)),
        # [k]: different ways to throw k cards off, and the hands that they leave.
        ("throws", np.int8, (LARGEST_SET + 1,)),
        ("throw_rest", np.int16, (LARGEST_SET + 1, _MOST_THROWS)),
    ],
    align=True,
)
"""What can be done with a hand. Hands are numbers within their size, see `hand_number`."""

Moves = npt.NDArray[np.void]


@inlined
def hand_number(ranks: Ranks, size: int) -> int:
    """Number of a hand among those of its size, 0 … HANDS[size] - 1.

    Args:
        ranks: int8 (size or more,), ascending.
        size: cards in the hand.
    """
    number = 0
    for i in range(size):
        number += CHOOSE[ranks[i] + i, i + 1]
    return number


@inlined
def cards_taken(values: Values, size: int, leader: int, follower: int) -> int:
    """Cards that the leader takes of `size` when both know all and play perfectly.

    Args:
        values: see `TrickTable.values`.
        size: cards in each hand, 0 to 5.
        leader, follower: numbers of their hands; the other way round in `TrickTable.mirrored`.
    """
    return int(values[FIRST_PAIR[size] + leader * HANDS[size] + follower])


@inlined
def lead_value(
    values: Values,
    mirrored: Values,
    moves: Moves,
    must_beat: bool,
    size: int,
    rest: int,
    lead_rank: int,
    lead_size: int,
    follower: int,
) -> int:
    """Cards that the leader takes in the end, this trick included, if he leads this set.

    Args:
        values, mirrored, moves, must_beat: of a `TrickTable`.
        size: cards in each hand before the lead.
        rest: number of the leader's hand after it, of `size - lead_size` cards.
        lead_rank, lead_size: the set led.
        follower: number of the follower's hand, of `size` cards.
    """
    left = size - lead_size
    hand = moves[FIRST_HAND[size] + follower]
    least = size + 1
    for i in range(hand["sets"][lead_size] - 1, -1, -1):
        if hand["set_rank"][lead_size, i] <= lead_rank:
            break
        beaten = hand["set_rest"][lead_size, i]
        least = min(least, left - cards_taken(mirrored, left, rest, beaten))
    if must_beat and least <= size:
        return least
    # Sets that beat are counted as thrown off too, which is never better for the follower: leading
    # costs at most one card, and the trick won is worth one at least.
    for i in range(hand["throws"][lead_size]):
        thrown = hand["throw_rest"][lead_size, i]
        least = min(least, lead_size + cards_taken(values, left, rest, thrown))
    return least


class TrickTable:
    """The solved trick phase under one rule of following.

    Args:
        must_beat: a follower who can beat must (docs/rules.md 1.4).
        follow_set_if_held: a follower who does not beat a set must play a set of that size if he
            holds one.
        values: int8 (41819220,), the cards that the leader takes, for every pair of hands: those of
            `size` cards begin at `FIRST_PAIR[size]`, leader first (see `cards_taken`).
        mirrored: int8 (3527876,), the same for hands of up to four cards with the follower first.
            A search meets few own hands with many of the opponent's, whose values lie side by side
            in either order.
        moves: `MOVES` (8568,): those of hands of `size` cards begin at `FIRST_HAND[size]`.
    """

    def __init__(
        self,
        must_beat: bool,
        follow_set_if_held: bool,
        values: Values,
        mirrored: Values,
        moves: Moves,
    ) -> None:
        self.must_beat = must_beat
        self.follow_set_if_held = follow_set_if_held
        self.values = values
        self.mirrored = mirrored
        self.moves = moves

    def cards_taken(self, leader: Sequence[int], follower: Sequence[int]) -> int:
        """Cards that the leader takes under perfect play.

        Args:
            leader, follower: ranks held, 0 … 12 for 2 … A, in any order; one to five each, as
                many on both sides.

        Raises:
            ValueError: naming the hand, what was given and what is allowed.
        """
        size = len(_checked_hand("leader", leader))
        return cards_taken(
            self.values, size, _number("leader", leader, size), _number("follower", follower, size)
        )

    def best_lead(self, leader: Sequence[int], follower: Sequence[int]) -> tuple[int, ...]:
        """The ranks of a lead that takes most; of several the lowest rank, then the fewest cards.

        Args and errors: as for `cards_taken`.
        """
        size = len(_checked_hand("leader", leader))
        hand = self.moves[FIRST_HAND[size] + _number("leader", leader, size)]
        other = _number("follower", follower, size)
        best, lead = -1, (0, 0)
        for rank, count, rest in sorted(_leads(hand)):
            taken = lead_value(
                self.values, self.mirrored, self.moves, self.must_beat, size, rest, rank, count,
                other,
            )  # fmt: skip
            if taken > best:
                best, lead = taken, (rank, count)
        return (lead[0],) * lead[1]

    def best_reply(
        self, leader: Sequence[int], follower: Sequence[int], lead: Sequence[int]
    ) -> tuple[int, ...]:
        """The ranks, ascending, of a reply that leaves the leader least.

        Of several, one that beats the lead comes first.

        Args:
            leader: ranks that the leader still holds after his lead; may be empty.
            follower: ranks that the follower holds.
            lead: the ranks led, all equal; with `leader` as many cards as `follower`.

        Raises:
            ValueError: naming the hand, what was given and what is allowed.
        """
        size = len(_checked_hand("follower", follower))
        led = _checked_hand("lead", lead)
        if len(set(led)) != 1 or len(led) > min(LARGEST_SET, size):
            raise ValueError(
                f"lead must be one to {min(LARGEST_SET, size)} cards of one rank, got {shown(lead)}"
            )
        left = size - len(led)
        rest = _number("leader", leader, left)
        number = _number("follower", follower, size)
        hand = self.moves[FIRST_HAND[size] + number]
        beating = [
            (left - cards_taken(self.values, left, kept, rest), kept)
            for rank, count, kept in _leads(hand)
            if count == len(led) and rank > led[0]
        ]
        throwing = [
            (len(led) + cards_taken(self.values, left, rest, thrown), thrown)
            for thrown in hand["throw_rest"][len(led), : hand["throws"][len(led)]]
        ]
        replies = beating if self.must_beat and beating else beating + throwing
        kept = HAND_RANKS[FIRST_HAND[left] + min(replies, key=lambda reply: reply[0])[1]]
        played = sorted(follower)
        for rank in kept[:left]:
            played.remove(int(rank))
        return tuple(map(int, played))


def _leads(hand: np.void) -> Iterator[tuple[int, int, int]]:
    """Rank and number of cards of every set that can be led, and the hand that it leaves."""
    for count in range(1, LARGEST_SET + 1):
        for i in range(hand["sets"][count]):
            yield int(hand["set_rank"][count, i]), count, int(hand["set_rest"][count, i])


def _checked_hand(name: str, ranks: Any) -> list[int]:
    hand = [as_integer(rank) for rank in ranks] if isinstance(ranks, Sequence | np.ndarray) else []
    if not 1 <= len(hand) <= MAX_HAND or not all(
        rank is not None and 0 <= rank < RANKS for rank in hand
    ):
        raise ValueError(
            f"{name} must be one to {MAX_HAND} ranks from 0 (a two) to {RANKS - 1} (an ace), "
            f"got {shown(ranks)}"
        )
    return [rank for rank in hand if rank is not None]


def _number(name: str, ranks: Sequence[int], size: int) -> int:
    hand = _checked_hand(name, ranks) if len(ranks) or size else []
    if len(hand) != size:
        raise ValueError(f"{name} must hold {size} cards, got {shown(ranks)}")
    return hand_number(np.array(sorted(hand), np.int8), size)


@cache
def trick_table(must_beat: bool = True, follow_set_if_held: bool = False) -> TrickTable:
    """The table for one rule of following, from the user's cache folder or made anew.

    Args:
        must_beat, follow_set_if_held: see `TrickTable`.
    """
    moves = _find_moves(follow_set_if_held)
    values = _kept_or_solved(must_beat, follow_set_if_held, moves)
    mirrored = np.zeros(MIRRORED, np.int8)
    for size in range(1, MAX_HAND):
        _mirror(values, mirrored, size)
    for array in (values, mirrored):
        array.flags.writeable = False  # as a file mapped into memory is: one type to compile for
    return TrickTable(must_beat, follow_set_if_held, values, mirrored, moves)


def _cache_path(must_beat: bool, follow_set_if_held: bool) -> Path:
    folder = platformdirs.user_cache_path("poke_env", appauthor=False)
    rule = f"{'must' if must_beat else 'may'}_beat{'_follow_set' if follow_set_if_held else ''}"
    return folder / f"tricks-{rule}-{sources_digest(Path(__file__))[:16]}.npy"


def _kept_or_solved(must_beat: bool, follow_set_if_held: bool, moves: Moves) -> Values:
    """The values from a file, mapped into memory; made anew if it is missing or damaged."""
    path = _cache_path(must_beat, follow_set_if_held)
    with contextlib.suppress(OSError, ValueError, EOFError):
        values = np.load(path, mmap_mode="r")
        if values.dtype == np.int8 and values.shape == (FIRST_PAIR[MAX_HAND + 1],):
            return np.asarray(values)
    if cast(Any, numba.config).DISABLE_JIT:
        values = _solve_compiled(must_beat, follow_set_if_held)
    else:
        values = _solve(moves, must_beat)
    with contextlib.suppress(OSError):  # where nothing can be written it is made at every start
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            np.save(temporary, values)
    return values


@compiled
def _find_moves(follow_set_if_held: bool) -> Moves:
    """`MOVES` of every hand."""
    moves = np.zeros(len(HAND_RANKS), MOVES)
    kept = np.zeros(MAX_HAND, np.int8)
    for size in range(1, MAX_HAND + 1):
        for number in range(FIRST_HAND[size], FIRST_HAND[size + 1]):
            hand, ranks = moves[number], HAND_RANKS[number]
            for chosen in range(1, 1 << size):
                count = 0
                left = 0
                for i in range(size):
                    if (chosen >> i) & 1:
                        count += 1
                    else:
                        kept[left] = ranks[i]
                        left += 1
                if count <= LARGEST_SET:
                    _add_move(hand, ranks, chosen, size, count, hand_number(kept, left))
            if follow_set_if_held:
                _throw_sets_only(hand)
    return moves


@inlined
def _add_move(hand: np.void, ranks: Ranks, chosen: int, size: int, count: int, rest: int) -> None:
    """Note the move that plays the `count` cards in the bits of `chosen`, unless it is known."""
    throws = hand["throws"][count]
    for i in range(throws):
        if hand["throw_rest"][count, i] == rest:
            return
    hand["throw_rest"][count, throws] = rest
    hand["throws"][count] += 1
    rank = np.int8(-1)
    for i in range(size):
        if (chosen >> i) & 1:
            if rank >= 0 and ranks[i] != rank:
                return
            rank = ranks[i]
    # Lower ranks lie in lower slots, so their sets come first.
    place = hand["sets"][count]
    hand["set_rank"][count, place] = rank
    hand["set_rest"][count, place] = rest
    hand["sets"][count] += 1


@inlined
def _throw_sets_only(hand: np.void) -> None:
    """Where the hand holds sets of a size, leave only those to be thrown off."""
    for count in range(2, LARGEST_SET + 1):
        if hand["sets"][count]:
            hand["throws"][count] = hand["sets"][count]
            for i in range(hand["sets"][count]):
                hand["throw_rest"][count, i] = hand["set_rest"][count, i]


def _solve_compiled(must_beat: bool, follow_set_if_held: bool) -> Values:
    """The values, where nothing is compiled: plain Python would need days, so another process that
    may compile makes them."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "values.npy"
        source = (
            f"import numpy, agents.tricks as t; moves = t._find_moves({follow_set_if_held}); "
            f"numpy.save({str(file)!r}, t._solve(moves, {must_beat}))"
        )
        root = Path(__file__).parents[1]
        variables = {**os.environ, "NUMBA_DISABLE_JIT": "0"}
        subprocess.run([sys.executable, "-c", source], cwd=root, env=variables, check=True)
        return cast(Values, np.load(file))


def _solve(moves: Moves, must_beat: bool) -> Values:
    """The values of all pairs of hands, on all cores."""
    values = np.zeros(FIRST_PAIR[MAX_HAND + 1], np.int8)
    mirrored = np.zeros(MIRRORED, np.int8)
    for size in range(1, MAX_HAND + 1):
        parts = split(int(HANDS[size]), cores(), 64)
        in_parallel(partial(_solve_part, values, mirrored, moves, must_beat, size), parts, cores())
        if size < MAX_HAND:
            _mirror(values, mirrored, size)
    return values


def _mirror(values: Values, mirrored: Values, size: int) -> None:
    """Write the values of hands of `size` cards into `mirrored`."""
    pairs = slice(FIRST_PAIR[size], FIRST_PAIR[size + 1])
    mirrored[pairs] = values[pairs].reshape(HANDS[size], HANDS[size]).T.reshape(-1)


def _solve_part(
    values: Values, mirrored: Values, moves: Moves, must_beat: bool, size: int, leaders: slice
) -> None:
    _solve_leaders(values, mirrored, moves, must_beat, size, leaders.start, leaders.stop)


@compiled
def _solve_leaders(
    values: Values,
    mirrored: Values,
    moves: Moves,
    must_beat: bool,
    size: int,
    start: int,
    stop: int,
) -> None:
    """Fill in the values of the leader's hands `start` … `stop - 1` from those of fewer cards."""
    for leader in range(start, stop):
        hand = moves[FIRST_HAND[size] + leader]
        row = FIRST_PAIR[size] + leader * HANDS[size]
        for count in range(1, min(size, LARGEST_SET) + 1):
            for i in range(hand["sets"][count]):
                rest, rank = hand["set_rest"][count, i], hand["set_rank"][count, i]
                for follower in range(HANDS[size]):
                    if values[row + follower] < size:
                        taken = lead_value(
                            values, mirrored, moves, must_beat, size, rest, rank, count, follower
                        )
                        values[row + follower] = max(values[row + follower], taken)
