"""Hands that the opponent may hold: those that fit what was seen, as often as they should."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from typing import Any

import numba
import numpy as np
import pytest
import scipy.stats

from agents.hidden import HIDDEN, OVERSAMPLING, guess
from agents.poke_reading import READING, read
from agents.prior import (
    CLASSES,
    HISTORIES,
    TYPES,
    Prior,
    classes,
    draw_prior,
    hand_type,
    history_number,
    no_prior,
    pack,
)
from agents.tricks import FIRST_HAND, HAND_RANKS, hand_number
from poke_env import poke_v0
from poke_env.cards import parse_cards
from poke_env.streams import generator

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs thousands of hands")

# The player's hand (seat 0, non-dealer), the opponent's, and what is played: the text of a move.
OWN, OTHER = "2d 7d 7s Qh Ks", "4c 5d 6c Jh Jd"
POSITIONS = {
    "first lead": (),
    "he threw off to a single card": ("Ks", "4c"),
    "he threw off to a pair": ("7d 7s", "4c 5d"),
    "and showed a card of a rank that he may not hold twice": ("7d 7s", "4c Jh"),
    "he threw off twice": ("7d 7s", "4c Jh", "Ks", "5d"),
    "he beat and leads": ("7d 7s", "Jh Jd", "4c"),
}


def at(moves: tuple[str, ...], other: str = OTHER) -> Any:
    env = poke_v0.raw_env(match="deal", rules=poke_v0.Rules(must_beat=False))
    env.reset(seed=1, options={"deck": f"{OWN} {other}".split(), "dealer": 1})
    for move in ("pat", "pat", *moves):
        env.step(env.text_to_action(move))
    assert env.agent_selection == "player_0"
    return env


def guesses(
    env: Any, samples: int, prior: Prior, must_beat: bool = True, seed: int = 1
) -> tuple[Any, Any]:
    """Hands and weights in a position."""
    observed = env.observe("player_0")
    readings, hidden = np.zeros(1, READING), np.zeros(1, HIDDEN)
    read(observed["observation"], observed["action_mask"], readings[0])
    hands = np.zeros(OVERSAMPLING * samples, np.int64)
    weights = np.zeros(OVERSAMPLING * samples)
    chance = generator(np.array([seed]))
    count = guess(readings[0], must_beat, prior, samples, chance, hidden[0], hands, weights)
    return hands[:count], weights[:count]


def every_hand(env: Any, prior: Prior, must_beat: bool = True) -> dict[int, float]:
    """Chance of every hand that he may hold, by going through all sets of unseen cards."""
    known = poke_v0.decode(env.observe("player_0")["observation"])
    unseen = [card for card in range(52) if card not in known["seen"]]
    tricks = known["tricks"]
    shown = [trick["follow"] if trick["leader"] == "own" else trick["lead"] for trick in tricks]
    history = history_number(int(not known["dealer"]), np.array([*known["draws"][1], 0, 0, 0][:3]))
    size = len(known["hand"]) - len(known["table"])
    chances: Counter[int] = Counter()
    for cards in combinations(unseen, size):
        held = list(cards)
        possible = True
        for trick, played in reversed(list(zip(tricks, shown, strict=True))):
            held += played
            if trick["leader"] == "own" and trick["winner"] == "own" and must_beat:
                ranks = Counter(card >> 2 for card in held)
                lead = trick["lead"]
                possible &= not any(
                    count >= len(lead) and rank > lead[0] >> 2 for rank, count in ranks.items()
                )
        if possible:
            ranks = np.array(sorted(card >> 2 for card in held), np.int8)
            flush = int(len({card & 3 for card in held}) == 1)
            kind = hand_type(FIRST_HAND[5] + hand_number(ranks, 5), flush)
            own = np.array([card >> 2 for card in cards], np.int8)
            chances[int(hand_number(own, size))] += float(prior[history, kind])
    total = sum(chances.values())
    return {hand: chance / total for hand, chance in chances.items()}


@pytest.mark.parametrize(
    "position, infer",
    [*((name, False) for name in list(POSITIONS)[1:]), ("he threw off to a single card", True)],
)
def test_hands_are_not_drawn_as_often_as_they_should_be(position: str, infer: bool) -> None:
    env = at(POSITIONS[position])
    prior = draw_prior() if infer else no_prior()
    expected = every_hand(env, prior)
    drawn = np.zeros(2000)
    for seed in range(1000 if infer else 5000):
        # Few, so that hands are not listed; or many, since resampling from a few is biased.
        hands, weights = guesses(env, 400 if infer else 2, prior, seed=seed)
        np.add.at(drawn, hands, weights)
    assert set(np.flatnonzero(drawn)) <= set(expected)
    chances = np.array([expected.get(hand, 0.0) for hand in range(len(drawn))])
    often = chances * drawn.sum() > 8
    counts = np.append(drawn[often], drawn[~often].sum())
    chances = np.append(chances[often], chances[~often].sum())
    assert len(counts) > 3
    if infer:
        assert np.abs(counts / counts.sum() - chances).sum() < 0.15
    elif chances[-1] * counts.sum() > 8:
        assert scipy.stats.chisquare(counts, chances * counts.sum()).pvalue > 1e-4
    else:
        expected_counts = chances[:-1] / chances[:-1].sum() * counts[:-1].sum()
        assert scipy.stats.chisquare(counts[:-1], expected_counts).pvalue > 1e-4


@pytest.mark.parametrize("position", ["he threw off twice", "he beat and leads"])
def test_list_of_hands_differs_from_enumeration(position: str) -> None:
    """Where few cards are hidden all hands are listed, with exact chances."""
    env = at(POSITIONS[position])
    expected = every_hand(env, draw_prior())
    hands, weights = guesses(env, 200, draw_prior())
    assert len(set(hands)) == len(hands) == len(expected)
    weights /= weights.sum()
    assert dict(zip(hands, weights, strict=True)) == pytest.approx(expected, rel=1e-4)


def test_first_five_cards_are_not_listed_exactly() -> None:
    env = at(())
    hands, weights = guesses(env, 2000, draw_prior())
    assert len(hands) == len(set(hands))
    ranks = HAND_RANKS[FIRST_HAND[5] + hands]
    counts = np.stack([(ranks == rank).sum(axis=1) for rank in range(13)], axis=1)
    unseen = np.array([3, 4, 4, 4, 4, 2, 4, 4, 4, 4, 3, 3, 4])
    assert (counts <= unseen).all()
    assert len(hands) == sum(
        1 for row in HAND_RANKS[FIRST_HAND[5] : FIRST_HAND[6]]
        if (np.bincount(row, minlength=13) <= unseen).all()
    )  # fmt: skip
    assert weights.min() > 0


def test_without_must_beat_a_throw_off_proves_something() -> None:
    env = at(POSITIONS["he threw off to a single card"])
    free = guesses(env, 2000, no_prior(), must_beat=False)[0]
    proved = guesses(env, 2000, no_prior())[0]
    king = parse_cards("Ks")[0] >> 2

    def highest(hands: Any) -> int:
        return int(HAND_RANKS[FIRST_HAND[4] + hands].max())

    assert highest(proved) == king
    assert highest(free) == king + 1


@pytest.mark.parametrize(
    "moves, other",
    [
        (("7d", "4c", "7s", "Jh", "5d"), OTHER),  # he kept a jack back
        (("2d", "2c"), "2c 5d 6c Jh Jd"),  # he would hold nothing but twos, of which two are left
    ],
)
def test_proof_that_cannot_be_is_believed(moves: tuple[str, ...], other: str) -> None:
    env = at(moves, other)
    for samples in (1, 50):
        hands, weights = guesses(env, samples, draw_prior())
        assert len(hands)
        assert weights.min() > 0
    size = 2 if len(moves) == 5 else 4
    assert HAND_RANKS[FIRST_HAND[size] + hands].max() == 12


def test_draws_tell_nothing() -> None:
    """A pat hand is a good one; who drew three seldom has a straight."""
    prior = draw_prior()
    assert prior.shape == (HISTORIES, TYPES)
    assert prior.min() > 0
    assert not prior.flags.writeable
    pat = prior[history_number(1, np.zeros(3, np.int64))]
    three = prior[history_number(1, np.array([3, 0, 0]))]
    full_house, nothing, straight = (
        hand_type(FIRST_HAND[5] + hand_number(np.array(ranks, np.int8), 5), 0)
        for ranks in ((3, 3, 3, 8, 8), (0, 2, 3, 5, 6), (3, 4, 5, 6, 7))
    )
    assert pat[full_house] > 4 * pat[nothing]
    assert pat[straight] > 4 * three[straight]


def test_classes_hold_hands_of_different_categories() -> None:
    found = classes()
    assert found.min() >= 0
    assert found.max() < CLASSES
    pair = hand_type(FIRST_HAND[5] + hand_number(np.array([0, 3, 3, 5, 9], np.int8), 5), 0)
    same = hand_type(FIRST_HAND[5] + hand_number(np.array([1, 3, 3, 5, 9], np.int8), 5), 0)
    higher = hand_type(FIRST_HAND[5] + hand_number(np.array([0, 4, 4, 5, 9], np.int8), 5), 0)
    nothing = hand_type(FIRST_HAND[5] + hand_number(np.array([0, 2, 3, 5, 9], np.int8), 5), 0)
    assert found[pair] == found[same]
    assert len({found[pair], found[higher], found[nothing], found[nothing + 1]}) == 4


def test_bytes_lose_more_than_half_a_step() -> None:
    likelihoods = np.geomspace(2.0**-15, 2.0**15, 101)
    back = np.exp2((pack(likelihoods).astype(float) - 128) / 8)
    assert np.abs(np.log2(back / likelihoods)).max() <= 1 / 16 + 1e-9
    assert pack(np.array([1e-30, 1e30])).tolist() == [8, 248]
