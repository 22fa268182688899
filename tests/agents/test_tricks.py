"""The solved table of tricks against plain minimax, and where it is kept."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from itertools import combinations, combinations_with_replacement
from pathlib import Path
from typing import Any

import numba
import numpy as np
import platformdirs
import pytest

from agents import tricks
from agents.tricks import HAND_RANKS, HANDS, TrickTable, hand_number, trick_table
from helpers import ROOT

pytestmark = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT), reason="needs thousands of hands and a compiler"
)

Hand = tuple[int, ...]
RULES = [(True, False), (False, False), (True, True), (False, True)]
BY_RULE = pytest.mark.parametrize("must_beat, follow_set", RULES)

# --- plain minimax, written from docs/rules.md 1.4 ------------------------------------------------


def without(hand: Hand, cards: Hand) -> Hand:
    left = list(hand)
    for card in cards:
        left.remove(card)
    return tuple(left)


def leads(hand: Hand) -> Iterator[Hand]:
    """One to four cards of one rank; part of a set may be led."""
    for rank in set(hand):
        for count in range(1, min(hand.count(rank), 4) + 1):
            yield (rank,) * count


def replies(hand: Hand, lead: Hand, must_beat: bool, follow_set: bool) -> set[Hand]:
    every = set(combinations(hand, len(lead)))
    sets = {cards for cards in every if len(set(cards)) == 1}
    beating = {cards for cards in sets if cards[0] > lead[0]}
    if must_beat and beating:
        return beating
    if follow_set and len(lead) >= 2 and sets:
        return sets
    return every


@cache
def minimax(leader: Hand, follower: Hand, must_beat: bool, follow_set: bool) -> int:
    """Cards that the leader takes."""
    return max(
        (minimax_lead(leader, follower, lead, must_beat, follow_set) for lead in leads(leader)),
        default=0,
    )


def minimax_lead(
    leader: Hand, follower: Hand, lead: Hand, must_beat: bool, follow_set: bool
) -> int:
    rest = without(leader, lead)
    return min(
        minimax_reply(rest, follower, lead, reply, must_beat, follow_set)
        for reply in replies(follower, lead, must_beat, follow_set)
    )


def minimax_reply(
    rest: Hand, follower: Hand, lead: Hand, reply: Hand, must_beat: bool, follow_set: bool
) -> int:
    left = without(follower, reply)
    if len(set(reply)) == 1 and reply[0] > lead[0]:
        return len(left) - minimax(left, rest, must_beat, follow_set)
    return len(lead) + minimax(rest, left, must_beat, follow_set)


def random_pairs(count: int, seed: int) -> Iterator[tuple[Hand, Hand]]:
    """Two hands of equal size out of a pack; half of them of few ranks, so that sets are met."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        size = int(rng.integers(1, 6))
        pack = np.repeat(np.arange(13), 4) if rng.random() < 0.5 else np.repeat(np.arange(5), 4)
        dealt = rng.permutation(pack)[: 2 * size].tolist()
        yield tuple(sorted(dealt[:size])), tuple(sorted(dealt[size:]))


# --- values and plays -----------------------------------------------------------------------------


def agree(table: TrickTable, leader: Hand, follower: Hand) -> None:
    """The table knows what the pair is worth, a lead that takes it and every best reply."""
    rule = table.must_beat, table.follow_set_if_held
    value = minimax(leader, follower, *rule)
    assert table.cards_taken(leader, follower) == value
    assert minimax_lead(leader, follower, table.best_lead(leader, follower), *rule) == value
    for lead in leads(leader):
        rest = without(leader, lead)
        reply = table.best_reply(rest, follower, lead)
        assert reply in replies(follower, lead, *rule)
        least = minimax_lead(leader, follower, lead, *rule)
        assert minimax_reply(rest, follower, lead, reply, *rule) == least


@BY_RULE
def test_table_differs_from_minimax(must_beat: bool, follow_set: bool) -> None:
    table = trick_table(must_beat, follow_set)
    for leader, follower in random_pairs(200, 1):
        agree(table, leader, follower)


@pytest.mark.slow
@BY_RULE
def test_table_differs_from_minimax_on_ten_thousand_pairs(
    must_beat: bool, follow_set: bool
) -> None:
    table = trick_table(must_beat, follow_set)
    for leader, follower in random_pairs(2500, 2):
        agree(table, leader, follower)
    minimax.cache_clear()


@BY_RULE
def test_table_differs_from_minimax_on_some_pair_of_three_ranks(
    must_beat: bool, follow_set: bool
) -> None:
    table = trick_table(must_beat, follow_set)
    for size in range(1, 6):
        hands = list(combinations_with_replacement((2, 7, 12), size))
        for leader in hands:
            for follower in hands:
                if max(map((leader + follower).count, (2, 7, 12))) <= 4:
                    agree(table, leader, follower)


@BY_RULE
def test_leading_costs_more_than_a_card(must_beat: bool, follow_set: bool) -> None:
    """A leader takes at least what he would as the follower, less one card."""
    table = trick_table(must_beat, follow_set)
    for size in range(1, 6):
        pairs = slice(tricks.FIRST_PAIR[size], tricks.FIRST_PAIR[size + 1])
        taken = table.values[pairs].reshape(HANDS[size], HANDS[size])
        assert taken.min() == 0
        assert taken.max() == size
        following = size - taken.T
        assert (taken >= following - 1).all()


def test_rules_of_following_make_no_difference() -> None:
    """An ace that may be kept back takes a trick later."""
    leader, follower = (3, 11, 11), (2, 4, 12)
    must, may = trick_table(True), trick_table(False)
    assert must.cards_taken(leader, follower) == minimax(leader, follower, True, False)
    assert (must.values != may.values).any()
    assert (may.values != trick_table(False, True).values).any()


def test_hands_are_not_numbered_one_by_one() -> None:
    for size in range(1, 6):
        rows = HAND_RANKS[tricks.FIRST_HAND[size] : tricks.FIRST_HAND[size + 1]]
        assert [hand_number(ranks, size) for ranks in rows] == list(range(HANDS[size]))
        for ranks in rows[:: 1 + len(rows) // 50]:
            hand = 0
            for rank in np.random.default_rng(1).permutation(ranks[:size]):
                hand = tricks.ADDED[hand, rank]
            assert HAND_RANKS[hand].tolist() == ranks.tolist()


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda t: t.cards_taken([], []), r"leader must be one to 5 ranks .*, got \[\]"),
        (lambda t: t.cards_taken([1] * 6, [1] * 6), "leader must be one to 5 ranks"),
        (lambda t: t.cards_taken([13], [1]), r"leader must be .*from 0 \(a two\) to 12.*\[13\]"),
        (lambda t: t.cards_taken([1], [-1]), "follower must be one to 5 ranks"),
        (lambda t: t.cards_taken([1], [1.5]), "follower must be one to 5 ranks"),
        (lambda t: t.cards_taken("A", [1]), "leader must be one to 5 ranks"),
        (lambda t: t.cards_taken([1, 2], [1]), r"follower must hold 2 cards, got \[1\]"),
        (lambda t: t.best_lead(3, [1]), "leader must be one to 5 ranks.*got 3"),
        (lambda t: t.best_lead([1], [1, 2]), "follower must hold 1 cards"),
        (lambda t: t.best_reply([], [1, 2], [3, 4]), "lead must be one to 2 cards of one rank"),
        (lambda t: t.best_reply([2], [1, 2], [3, 3]), r"leader must hold 0 cards, got \[2\]"),
        (lambda t: t.best_reply([], [1], []), "lead must be one to 5 ranks"),
        (lambda t: t.best_reply([], [1], [3, 3]), "lead must be one to 1 cards of one rank"),
    ],
)  # fmt: skip
def test_what_is_no_hand_is_taken(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(trick_table())


# --- where it is kept -----------------------------------------------------------------------------


@pytest.fixture
def solved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Keeps tables in a folder of the test's own; notes every solving, which takes no time."""
    calls: list[bool] = []
    values = trick_table().values.copy()

    def solve(moves: Any, must_beat: bool) -> Any:
        calls.append(must_beat)
        return values.copy()

    monkeypatch.setattr(
        platformdirs, "user_cache_path", lambda *args, **kwargs: tmp_path / "cache" / "poke_env"
    )
    monkeypatch.setattr(tricks, "_solve", solve)
    return calls


def load_table() -> TrickTable:
    """As in a new process."""
    return trick_table.__wrapped__(True, False)


def kept_file(folder: Path) -> Path:
    [path] = (folder / "cache" / "poke_env").iterdir()
    return path


def test_table_is_made_twice(solved: list[bool], tmp_path: Path) -> None:
    made = load_table()
    read = load_table()
    assert solved == [True]
    assert np.array_equal(made.values, read.values)
    assert np.array_equal(made.mirrored, read.mirrored)
    assert kept_file(tmp_path).stat().st_size == made.values.nbytes + 128
    for values in (made.values, read.values):
        assert not values.flags.writeable


def _cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _other(path: Path) -> None:
    path.write_text("no table of numbers")


def _short(path: Path) -> None:
    np.save(path, np.zeros(100, np.int8))


def _wide(path: Path) -> None:
    np.save(path, np.zeros(tricks.FIRST_PAIR[-1], np.int16))


def _pickled(path: Path) -> None:
    np.save(path, np.array([{}]), allow_pickle=True)


@pytest.mark.parametrize("damage", [_cut, _empty, _other, _short, _wide, _pickled])
def test_damaged_table_is_used(solved: list[bool], tmp_path: Path, damage: Any) -> None:
    load_table()
    damage(kept_file(tmp_path))
    assert load_table().cards_taken([12], [3]) == 1
    assert solved == [True, True]
    load_table()
    assert len(solved) == 2


def test_folder_that_cannot_be_written_to_stops_the_player(
    solved: list[bool], tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    for _ in range(2):
        assert load_table().cards_taken([12], [3]) == 1
    assert len(solved) == 2


@pytest.mark.slow
def test_two_processes_spoil_each_others_table(tmp_path: Path) -> None:
    source = "from agents.tricks import trick_table; print(trick_table().cards_taken([12], [3]))"
    variables = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    running = [
        subprocess.Popen([sys.executable, "-c", source], env=variables, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    assert [process.communicate(timeout=300)[0].split() for process in running] == [[b"1"]] * 2
    if sys.platform == "linux":
        [kept] = (tmp_path / "poke_env").iterdir()
        assert np.array_equal(np.load(kept), trick_table().values)
