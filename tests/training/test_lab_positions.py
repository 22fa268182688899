"""Positions to be judged, and what the player to move does not know."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from agents.prior import draw_prior, no_prior
from poke_env import engine, poke_v0, records
from poke_env.cards import evaluate, parse_cards
from poke_env.games.poke import POKE
from poke_env.observation import length
from training.lab import positions
from training.lab.worlds import complete, sample_hands

DECK = "As Kd 7c 7d 3h Qs Js 9d 9c 4h"
ACTIONS = "discard 3h; stand pat; discard 4h; stand pat; lead 7c 7d"


def played(actions=ACTIONS, match="rubber"):
    """An environment after some actions, and the record of it."""
    env = poke_v0.raw_env(match)
    env.reset(seed=4, options={"deck": DECK.split(), "dealer": 0})
    log = records.Log("poke", match=match, dealer=0)
    log.deal(env.deck)
    for text in actions.split("; "):
        action = env.text_to_action(text)
        log.act(action)
        env.step(action)
    return env, log.finish()


def test_a_position_is_the_same_wherever_it_comes_from():
    env, _ = played()
    action = int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0])
    _, record = played(ACTIONS + "; " + env.action_to_text(action))
    deck = " ".join(poke_cards(env.deck))
    found = [
        positions.from_env(env),
        positions.from_state(env.get_state()),
        positions.from_record(record, 1, 6),
        positions.from_cards(deck, ACTIONS),
        positions.from_cards(env.deck, " ".join(map(str, record.deals[0].actions[:5]))),
    ]
    assert len({position.state.tobytes() for position in found}) == 1
    assert [position.made for position in found] == [None, None, action, None, None]
    assert found[2].where == "deal 1, decision 6"
    assert found[0].kind == "follow"
    assert found[0].seat == 0
    assert found[0].text(action) == env.action_to_text(action)
    assert len(list(positions.all_decisions(record))) == 6


def poke_cards(numbers):
    return ["23456789TJQKA"[card // 4] + "cdhs"[card % 4] for card in numbers]


def test_words_and_picture_hide_what_the_player_cannot_see():
    env, _ = played()
    position = positions.from_env(env)
    words = position.in_words()
    assert "player_0 (dealer)" in words
    assert "own 1 and other 1" in words
    assert "to follow 7c 7d" in words
    hidden = poke_cards(
        card for card in env.record["hand"][1].tolist() if card not in parse_cards("7c 7d")
    )
    for card in hidden:
        assert card not in words
        assert card not in position.picture()


def test_the_score_is_found_as_the_dealer_sees_it():
    position = positions.from_cards(DECK, "", dealer=1, below=(3, 12), games=(1, 0))
    assert position.place == (2 * 0 + 1) * 401 + 20 * 12 + 3
    tied = positions.from_cards(DECK, "", below=(24, 24))
    assert tied.place == 400


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: positions.from_record(played()[1], 2, 1), "deal must be an integer from 1 to 1"),
        (lambda: positions.from_record(played()[1], 1, 6), "decision must be .* from 1 to 5"),
        (lambda: positions.from_cards("As As", ""), "As"),
        (lambda: positions.from_cards(DECK, "lead Ks"), "lead"),
        (lambda: positions.from_cards(DECK, "31"), "action 31 is illegal"),
        (lambda: positions.from_cards(DECK, "", dealer=2), "dealer"),
        (lambda: positions.from_cards(DECK, "", below=(25, 0)), "below"),
        (lambda: positions.from_state(b"nothing"), "state must be bytes that get_state returned"),
        (lambda: positions.from_env(None), "env must be an AEC environment of Poke, got None"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_other_rules_and_finished_deals_are_refused():
    env = poke_v0.raw_env("deal", rules="small")
    env.reset(seed=0)
    with pytest.raises(ValueError, match="rules must be the standard ones"):
        positions.from_env(env)
    env = poke_v0.raw_env("deal")
    env.reset(seed=0)
    while not env.terminations["player_0"]:
        env.step(int(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])[0]))
    with pytest.raises(ValueError, match="nobody has to decide"):
        positions.from_env(env)
    with pytest.raises(ValueError, match="action 31 is illegal"):
        positions.Position(positions.from_cards(DECK, "").states, made=31)


# The non-dealer leads sevens and then a king, to which the dealer throws off. So the dealer never
# held two cards of one rank above the seven, and holds no ace.
THROWN = "stand pat; stand pat; lead 7c 7d; follow 4h 9d; lead Kd; follow Ts"


THROWN_DECK = "As Kd 7c 7d 3h Ts 9d 8c 4h 2d"


def test_hands_are_all_that_break_no_proof():
    position = positions.from_cards(THROWN_DECK, THROWN)
    hands = sample_hands(position, no_prior(), 10_000, np.random.default_rng(0))
    seen = set(parse_cards("As Kd 7c 7d 3h 9d 4h Ts"))
    # The follower's answer to the sevens is judged by what he held then: fewer than two of each
    # rank above seven.
    expected = set()
    for pair in itertools.combinations(sorted(set(range(52)) - seen), 2):
        ranks = [card // 4 for card in pair]
        higher = Counter(rank for rank in [*ranks, 7, 8] if rank > 5)
        if max(ranks) <= 11 and max(higher.values()) < 2:
            expected.add(pair)
    assert {tuple(hand) for hand in hands.hidden.tolist()} == expected
    assert hands.listed
    assert hands.weights == pytest.approx(np.full(len(expected), 1 / len(expected)))


def test_draws_tell_what_the_opponent_holds():
    """Who drew one card has two pair or better more often than the cards alone say."""
    position = positions.from_cards(DECK, "discard 3h; stand pat")
    chances = []
    for prior in (draw_prior(), no_prior()):
        hands = sample_hands(position, prior, 4_000, np.random.default_rng(1))
        better = [evaluate(hand).category >= 2 for hand in hands.whole.tolist()]
        chances.append(np.average(better, weights=hands.weights))
    assert chances[1] == pytest.approx(0.08, abs=0.02)
    assert chances[0] > 2 * chances[1]
    # The dealer, who has not drawn yet, has told nothing: the prior is not asked.
    fresh = positions.from_cards(DECK, "")
    same = [
        sample_hands(fresh, prior, 100, np.random.default_rng(2)).whole.tolist()
        for prior in (draw_prior(), no_prior())
    ]
    assert same[0] == same[1]


@pytest.mark.parametrize(
    "actions",
    ["", "discard 3h", "discard 3h; stand pat; discard 4h 9c", ACTIONS, THROWN],
)
def test_the_player_cannot_tell_completed_positions_apart(actions):
    deck = THROWN_DECK if actions == THROWN else DECK
    position = positions.from_cards(deck, actions)
    chance = np.random.default_rng(3)
    states, decks = complete(position, sample_hands(position, draw_prior(), 200, chance), chance)
    seat = position.seat
    every = np.concatenate((position.states, states))
    seen = np.zeros((len(every), length(POKE)), np.float32)
    engine.observe(every, np.full(len(every), seat, np.int8), seen)
    assert (seen == seen[0]).all()
    masks = np.zeros((len(every), 32), np.int8)
    for state, mask in zip(every, masks, strict=True):
        POKE.legal_actions(state, mask)
    assert (masks == masks[0]).all()
    drawn = [sum(position.draws(player)) for player in range(2)]
    dealer = position.dealer
    stock = slice(10 + drawn[1 - dealer], 52 - drawn[dealer])
    for state, deck in zip(states, decks, strict=True):
        discards = [
            card for card in range(52) for gone in state["discards"].tolist() if gone >> card & 1
        ]
        cards = [*state["hand"].ravel().tolist(), *discards, *deck[stock].tolist()]
        assert sorted(cards) == list(range(52))
        assert int(state["discards"][1 - seat]).bit_count() == drawn[1 - seat]
    assert len({hand.tobytes() for hand in states["hand"]}) > 100
