"""Poängpoker against its slow reference, through all options and numbers of players.

Both get the same decks and actions; after every step they must agree on the player to move, his
legal actions, both rewards, phase and score, what each seat knows, and the pad of finished deals.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from helpers import is_over, legal_actions
from poke_env import poangpoker_v0
from poke_env.games.poangpoker import POANGPOKER, POINTS_MAX, PRESETS, Rules
from poke_env.observation import bounds
from reference.poangpoker_reference import ReferencePoangpoker, ReferenceRules

MOST_DEALS = 5
TIES = Rules(ranks=2, hand_size=2, max_discard=0, poker_points=(1,) * 10)
"""A pack of aces and kings: most deals have several best hands."""
LOW, HIGH = bounds(POANGPOKER)


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    """Rules over every field, small packs and low targets rather often."""
    players = draw(st.integers(2, 6))
    hand_size = draw(st.integers(2, 5))
    suits = draw(st.integers(-(-players * hand_size // 13), 4))
    few = st.integers(0, 9)
    return Rules(
        players=players,
        ranks=draw(st.integers(max(2, -(-players * hand_size // suits)), 13)),
        suits=suits,
        hand_size=hand_size,
        max_discard=draw(st.integers(0, hand_size)),
        last_trick_points=draw(few | st.integers(0, 1_000)),
        poker_points=tuple(draw(st.lists(few, min_size=10, max_size=10))),
        target=draw(st.integers(1, 15) | st.integers(1, 1_000)),
        must_head=draw(st.booleans()),
        tie=draw(st.sampled_from(["none", "all"])),
        win_check=draw(st.sampled_from(["after_trick", "end_of_deal"])),
    )


@st.composite
def any_score(draw: st.DrawFn, rules: Rules) -> list[int]:
    """A score at which a match can stand, close to the target rather often."""
    near = st.integers(max(0, rules.target - 4), rules.target - 1)
    points = draw(
        st.lists(
            st.integers(0, rules.target - 1) | near,
            min_size=rules.players,
            max_size=rules.players,
        )
    )
    if draw(st.booleans()):
        tied = draw(st.integers(rules.target, rules.target + 2_000))
        points[0] = points[draw(st.integers(1, rules.players - 1))] = tied
    return points


@st.composite
def any_match(draw: st.DrawFn) -> dict[str, Any]:
    rules = draw(any_rules() | st.sampled_from(list(PRESETS.values())))
    return {
        "rules": rules,
        "match": draw(st.sampled_from(["deal", "game"])),
        "dealer": draw(st.integers(0, rules.players - 1)),
        "points": draw(st.none() | any_score(rules)),
        "deck_seed": draw(st.integers(0, 2**32)),
        "choices": draw(st.randoms(use_true_random=False)),
    }


def a_match(**changes: Any) -> dict[str, Any]:
    standard = {
        "rules": PRESETS["standard"],
        "match": "game",
        "dealer": 0,
        "points": None,
        "deck_seed": 0,
        "choices": Random(0),
    }
    return {**standard, **changes}


class Pair:
    """A match in the environment, once for each reward, and in the reference."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        rules, points = scenario["rules"], scenario["points"]
        self.rules = rules
        self.agents = [f"player_{player}" for player in range(rules.players)]
        self.reference = ReferencePoangpoker(
            ReferenceRules(**rules.as_dict()), scenario["match"], scenario["dealer"], points
        )
        options: dict[str, Any] = {"dealer": scenario["dealer"]}
        if points is not None:
            options["score"] = {"points": points}
        self.envs = {
            reward: poangpoker_v0.raw_env(match=scenario["match"], reward=reward, rules=rules)
            for reward in ("points", "win")
        }
        for env in self.envs.values():
            env.reset(seed=scenario["deck_seed"], options=options)
        self.env = self.envs["points"]
        self.reference.deal(self.env.deck)

    def step(self, action: int) -> None:
        self.reference.apply(action)
        for reward, env in self.envs.items():
            env.step(action)
            expected = [float(number) for number in self.reference.rewards(reward)]
            assert [env.rewards[agent] for agent in self.agents] == pytest.approx(expected)
            assert sum(env.rewards.values()) == pytest.approx(0)
        self.compare_pad()
        if self.reference.phase == "deal":
            self.reference.deal(self.env.deck)

    def compare(self) -> None:
        reference = self.reference
        for env in self.envs.values():
            assert is_over(env) == (reference.phase == "over")
            if reference.to_move is not None:
                assert env.agent_selection == self.agents[reference.to_move]
        assert set(self.legal()) == reference.legal()
        for player, agent in enumerate(self.agents):
            observed = self.env.observe(agent)
            if player != reference.to_move:
                assert not observed["action_mask"].any()
            assert (observed["observation"] >= LOW).all()
            assert (observed["observation"] <= HIGH).all()
            self.compare_knowledge(poangpoker_v0.decode(observed), player)

    def legal(self) -> list[int]:
        return [] if is_over(self.env) else legal_actions(self.env)

    def compare_knowledge(self, decoded: dict[str, Any], player: int) -> None:
        """`decode` of a seat's observation against all that the seat may know."""
        known = self.reference.knows(player)
        known["points"] = [min(points, POINTS_MAX) for points in known["points"]]
        assert known == {
            "players": decoded["players"],
            "hand": list(decoded["hand"]),
            "discards": list(decoded["discards"]),
            "exchanged": list(decoded["exchanged"]),
            "stock": decoded["stock"],
            "seen": list(decoded["seen"]),
            "tricks": [
                (trick["leader"], list(trick["cards"]), trick["winner"])
                for trick in decoded["tricks"]
            ],
            "points": list(decoded["points"]),
            "phase": decoded["phase"],
            "dealer": decoded["dealer"],
            "turn": decoded["turn"],
        }
        assert decoded["slots"] == tuple(self.reference.slots[player])
        assert decoded["to_move"] == (self.reference.to_move == player)
        table = self.reference.table
        if table is None:
            assert decoded["table"] == ()
            assert decoded["lead_suit"] is decoded["best_card"] is decoded["best_seat"] is None
        else:
            best_player, best_card = table.best()
            assert decoded["table"] == tuple(card for _, card in table.plays)
            assert decoded["lead_suit"] == table.plays[0][1] % 4
            assert decoded["best_card"] == best_card
            assert decoded["best_seat"] == (best_player - player) % self.rules.players
            assert decoded["leader"] == (table.leader - player) % self.rules.players

    def compare_pad(self) -> None:
        pad, reference = self.env.score_sheet, self.reference
        assert pad.points == tuple(reference.points)
        assert len(pad.deals) == len(reference.finished)
        if pad.deals:
            entry, expected = pad.deals[-1], reference.finished[-1]
            for field in entry._fields:
                assert getattr(entry, field) == getattr(expected, field), field


def compare_whole_match(scenario: dict[str, Any]) -> None:
    pair = Pair(scenario)
    pair.compare()
    while pair.reference.to_move is not None and len(pair.reference.finished) < MOST_DEALS:
        pair.step(scenario["choices"].choice(pair.legal()))
        pair.compare()
    winner = pair.reference.winner
    assert int(pair.env.record["winner"]) == (-1 if winner is None else winner)


@given(any_match())
@example(a_match())
@example(a_match(rules=Rules(players=6, must_head=False, win_check="end_of_deal", tie="all")))
@example(a_match(rules=PRESETS["tiny"], choices=Random(1)))
@example(a_match(points=[13, 13, 13, 13]))
@example(a_match(rules=TIES))
@example(a_match(rules=replace(TIES, tie="all")))
@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow])
def test_environment_keeps_to_the_rules(scenario: dict[str, Any]) -> None:
    compare_whole_match(scenario)


@pytest.mark.slow
@given(any_match())
@settings(max_examples=3_000, suppress_health_check=[HealthCheck.too_slow])
def test_environment_keeps_to_the_rules_in_many_matches(scenario: dict[str, Any]) -> None:
    compare_whole_match(scenario)


@pytest.mark.parametrize("players", range(2, 7))
def test_standard_game_keeps_to_the_rules_with_any_number_of_players(players: int) -> None:
    compare_whole_match(
        a_match(rules=Rules(players=players), deck_seed=players, choices=Random(players))
    )


# --- worlds that differ in hidden cards ---------------------------------------------------------


def replay(rules: Rules, deck: list[int], choices: list[list[int]]) -> poangpoker_v0.raw_env | None:
    """A deal from a deck in which seats choose these cards in turn; None if one may not."""
    env = poangpoker_v0.raw_env(match="deal", rules=rules)
    env.reset(options={"deck": deck, "dealer": 0})
    for chosen in choices:
        record = env.record
        hand = record["hand"][record["player"]].tolist()
        action = sum(1 << hand.index(card) for card in chosen)
        if action not in legal_actions(env):
            return None
        env.step(action)
    return env


@given(st.data())
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_a_seat_cannot_tell_worlds_apart_that_differ_in_hidden_cards(data: st.DataObject) -> None:
    rules = data.draw(st.sampled_from([Rules(players=3), Rules(players=6), PRESETS["small"]]))
    rng = Random(data.draw(st.integers(0, 2**32)))
    deck = rng.sample(rules.pack(), len(rules.pack()))
    env = replay(rules, deck, [])
    assert env is not None
    choices: list[list[int]] = []
    for _ in range(rng.randrange(rules.players * (1 + rules.hand_size))):
        action = rng.choice(legal_actions(env))
        hand = env.record["hand"][env.record["player"]].tolist()
        choices.append([card for slot, card in enumerate(hand) if action >> slot & 1])
        env.step(action)
    observer = rng.choice(env.possible_agents)
    hidden = sorted(set(rules.pack()) - set(poangpoker_v0.decode(env.observe(observer))["seen"]))
    assume(len(hidden) >= 2)
    first, second = rng.sample(hidden, 2)
    swapped = {first: second, second: first}
    other = replay(
        rules,
        [swapped.get(card, card) for card in deck],
        [[swapped.get(card, card) for card in chosen] for chosen in choices],
    )
    assume(other is not None and other.agent_selection == env.agent_selection)
    assert other is not None
    np.testing.assert_array_equal(
        env.observe(observer)["observation"], other.observe(observer)["observation"]
    )
    if observer == env.agent_selection:
        assert legal_actions(env) == legal_actions(other)
