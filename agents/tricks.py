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

from collections.abc import Sequence
from functools import cache, partial
from math import comb
from pathlib import Path
from typing import Any

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

_CHOOSE = np.array(
    [[comb(n, k) for k in range(MAX_HAND + 1)] for n in range(RANKS + MAX_HAND)], np.int64
)

_MOST_THROWS = comb(MAX_HAND, MAX_HAND // 2)

MOVES = np.dtype(
    [
        ("ranks", np.int8, (MAX_HAND,)),  # ascending
        # Sets of one rank, by ascending rank, then number of cards: what can be led.
        ("sets", np.int8),
        ("set_rank", np.int8, (MAX_HAND,)),
        ("set_size", np.int8, (MAX_HAND,)),
        ("set_rest", np.int16, (MAX_HAND,)),  # the hand that is left
        # [k]: different ways to throw k cards off, and the hands that they leave.
        ("throws", np.int8, (LARGEST_SET + 1,)),
        ("throw_rest", np.int16, (LARGEST_SET + 1, _MOST_THROWS)),
    ],
    align=True,
)
"""What can be done with a hand. Hands are numbers within their size, see `hand_number`."""

Values = npt.NDArray[np.int8]
Moves = npt.NDArray[np.void]
Ranks = npt.NDArray[np.int8]


@inlined
def hand_number(ranks: Ranks, size: int) -> int:
    """Number of a hand among those of its size, 0 … HANDS[size] - 1.

    Args:
        ranks: int8 (size or more,), ascending.
        size: cards in the hand.
    """
    number = 0
    for i in range(size):
        number += _CHOOSE[ranks[i] + i, i + 1]
    return number


@inlined
def cards_taken(values: Values, size: int, leader: int, follower: int) -> int:
    """Cards that the leader takes of `size` when both know all and play perfectly.

    Args:
        values: see `TrickTable.values`.
        size: cards in each hand, 0 to 5.
        leader, follower: numbers of their hands.
    """
    return int(values[FIRST_PAIR[size] + leader * HANDS[size] + follower])


@compiled
def lead_value(
    values: Values,
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
        values, moves, must_beat: of a `TrickTable`.
        size: cards in each hand before the lead.
        rest: number of the leader's hand after it, of `size - lead_size` cards.
        lead_rank, lead_size: the set led.
        follower: number of the follower's hand, of `size` cards.
    """
    left = size - lead_size
    hand = moves[FIRST_HAND[size] + follower]
    least = size + 1
    for i in range(hand["sets"]):
        if hand["set_size"][i] == lead_size and hand["set_rank"][i] > lead_rank:
            least = min(least, left - cards_taken(values, left, hand["set_rest"][i], rest))
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
        moves: `MOVES` (8568,): those of hands of `size` cards begin at `FIRST_HAND[size]`.
    """

    def __init__(
        self, must_beat: bool, follow_set_if_held: bool, values: Values, moves: Moves
    ) -> None:
        self.must_beat = must_beat
        self.follow_set_if_held = follow_set_if_held
        self.values = values
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
        taken = [
            lead_value(
                self.values,
                self.moves,
                self.must_beat,
                size,
                hand["set_rest"][i],
                hand["set_rank"][i],
                hand["set_size"][i],
                other,
            )
            for i in range(hand["sets"])
        ]
        best = int(np.argmax(taken))
        return (int(hand["set_rank"][best]),) * int(hand["set_size"][best])

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
        if len(set(led)) != 1 or len(led) > LARGEST_SET:
            raise ValueError(f"lead must be one to four cards of one rank, got {shown(lead)}")
        left = size - len(led)
        rest = _number("leader", leader, left)
        number = _number("follower", follower, size)
        hand = self.moves[FIRST_HAND[size] + number]
        beating = [
            (left - cards_taken(self.values, left, hand["set_rest"][i], rest), hand["set_rest"][i])
            for i in range(hand["sets"])
            if hand["set_size"][i] == len(led) and hand["set_rank"][i] > led[0]
        ]
        throwing = [
            (len(led) + cards_taken(self.values, left, rest, thrown), thrown)
            for thrown in hand["throw_rest"][len(led), : hand["throws"][len(led)]]
        ]
        replies = beating if self.must_beat and beating else beating + throwing
        kept = self.moves[FIRST_HAND[left] + min(replies, key=lambda reply: reply[0])[1]]
        played = sorted(follower)
        for rank in kept["ranks"][:left]:
            played.remove(int(rank))
        return tuple(map(int, played))


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
    path = _cache_path(must_beat, follow_set_if_held)
    try:
        values = np.load(path, mmap_mode="r")
    except (OSError, ValueError):
        values = _solve(moves, must_beat)
        _keep(path, values)
    return TrickTable(must_beat, follow_set_if_held, np.asarray(values), moves)


def _cache_path(must_beat: bool, follow_set_if_held: bool) -> Path:
    folder = platformdirs.user_cache_path("poke_env", appauthor=False)
    rule = f"{'must' if must_beat else 'may'}_beat{'_follow_set' if follow_set_if_held else ''}"
    return folder / f"tricks-{rule}-{sources_digest(Path(__file__))[:16]}.npy"


def _keep(path: Path, values: Values) -> None:
    """Store the table for the next start; where nothing can be written it is made each time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary:
            np.save(temporary, values)
    except OSError:
        return


@compiled
def _find_moves(follow_set_if_held: bool) -> Moves:
    """`MOVES` of every hand."""
    moves = np.zeros(FIRST_HAND[MAX_HAND + 1], MOVES)
    ranks = np.zeros(MAX_HAND, np.int8)
    kept = np.zeros(MAX_HAND, np.int8)
    for size in range(1, MAX_HAND + 1):
        ranks[:] = 0
        while True:
            hand = moves[FIRST_HAND[size] + hand_number(ranks, size)]
            hand["ranks"][:] = ranks
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
                    _add_move(hand, chosen, size, count, hand_number(kept, left))
            if follow_set_if_held:
                _throw_sets_only(hand)
            # The next multiset, in any order that meets them all.
            place = 0
            while place < size - 1 and ranks[place] == ranks[place + 1]:
                place += 1
            if ranks[place] == RANKS - 1:
                break
            ranks[place] += 1
            ranks[:place] = 0
    return moves


@inlined
def _add_move(hand: np.void, chosen: int, size: int, count: int, rest: int) -> None:
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
            if rank >= 0 and hand["ranks"][i] != rank:
                return
            rank = hand["ranks"][i]
    place = hand["sets"]
    while place > 0 and hand["set_rank"][place - 1] > rank:
        hand["set_rank"][place] = hand["set_rank"][place - 1]
        hand["set_size"][place] = hand["set_size"][place - 1]
        hand["set_rest"][place] = hand["set_rest"][place - 1]
        place -= 1
    hand["set_rank"][place] = rank
    hand["set_size"][place] = count
    hand["set_rest"][place] = rest
    hand["sets"] += 1


@inlined
def _throw_sets_only(hand: np.void) -> None:
    """Where the hand holds sets of a size, leave only those to be thrown off."""
    for count in range(2, LARGEST_SET + 1):
        found = 0
        for i in range(hand["sets"]):
            if hand["set_size"][i] == count:
                hand["throw_rest"][count, found] = hand["set_rest"][i]
                found += 1
        if found:
            hand["throws"][count] = found


def _solve(moves: Moves, must_beat: bool) -> Values:
    """The values of all pairs of hands, on all cores."""
    values = np.zeros(FIRST_PAIR[MAX_HAND + 1], np.int8)
    for size in range(1, MAX_HAND + 1):
        parts = split(int(HANDS[size]), cores(), 64)
        in_parallel(partial(_solve_part, values, moves, must_beat, size), parts, cores())
    return values


def _solve_part(values: Values, moves: Moves, must_beat: bool, size: int, leaders: slice) -> None:
    _solve_leaders(values, moves, must_beat, size, leaders.start, leaders.stop)


@compiled
def _solve_leaders(
    values: Values, moves: Moves, must_beat: bool, size: int, start: int, stop: int
) -> None:
    """Fill in the values of the leader's hands `start` … `stop - 1` from those of fewer cards."""
    for leader in range(start, stop):
        hand = moves[FIRST_HAND[size] + leader]
        row = FIRST_PAIR[size] + leader * HANDS[size]
        for i in range(hand["sets"]):
            rest, rank, count = hand["set_rest"][i], hand["set_rank"][i], hand["set_size"][i]
            for follower in range(HANDS[size]):
                if values[row + follower] < size:
                    taken = lead_value(values, moves, must_beat, size, rest, rank, count, follower)
                    values[row + follower] = max(values[row + follower], taken)
