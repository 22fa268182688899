"""The environment against the slow reference implementation, through all options of the rules.

Both get the same decks and actions; after every step they must agree on the player to move, his
legal actions, both rewards, phase and score, what each seat knows, and the pad of finished deals.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from helpers import HOUSE_RULES, RULES, is_over, legal_actions, reference_rules
from poke_env import poke_v0
from poke_env.games.poke import ABOVE_MAX, BELOW_MAX
from reference.poke_reference import ReferencePoke
from strategies import any_rules, any_score

AGENTS = ("player_0", "player_1")
MOST_DEALS = 8


@st.composite
def any_match(draw: st.DrawFn) -> dict[str, Any]:
    rules = draw(any_rules() | st.sampled_from(list(RULES.values())))
    return {
        "rules": rules,
        "match": draw(st.sampled_from(["deal", "game", "rubber"])),
        "dealer": draw(st.integers(0, 1)),
        "score": draw(st.just({}) | any_score(rules.target)),
        "below_value": draw(st.sampled_from([50.0, 0.0, 12.5])),
        "decks_from_options": draw(st.booleans()),
        "deck_seed": draw(st.integers(0, 2**32)),
        "choices": draw(st.randoms(use_true_random=False)),
    }


class Pair:
    """A match in the environment, once for each reward, and in the reference."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        rules, match, score = scenario["rules"], scenario["match"], scenario["score"]
        self.rules = rules
        self.below_value = scenario["below_value"]
        self.reference = ReferencePoke(
            reference_rules(rules), match, dealer=scenario["dealer"], **score
        )
        options: dict[str, Any] = {"dealer": scenario["dealer"]}
        if score:
            options["score"] = score
        if scenario["decks_from_options"]:
            rng = Random(scenario["deck_seed"])
            decks = [rng.sample(rules.pack(), len(rules.pack())) for _ in range(MOST_DEALS)]
            if rng.random() < 0.5:
                options["decks"] = decks
            else:
                options["deck"] = decks[0]
        self.given = options.get("decks", [options["deck"]] if "deck" in options else [])
        self.envs = {
            reward: poke_v0.raw_env(
                match=match, reward=reward, rules=rules, below_value=self.below_value
            )
            for reward in ("points", "win")
        }
        for env in self.envs.values():
            env.reset(seed=scenario["deck_seed"], options=options)
        self.env = self.envs["points"]
        self.deals = 0
        self.deal()

    def deal(self) -> None:
        deck = self.env.deck
        if self.deals < len(self.given):
            assert deck == list(self.given[self.deals])
        self.reference.deal(deck)
        self.deals += 1

    def step(self, action: int) -> None:
        self.reference.apply(action)
        for reward, env in self.envs.items():
            env.step(action)
            expected = self.reference.rewards(reward, self.below_value)
            assert tuple(env.rewards[agent] for agent in AGENTS) == expected
        self.compare_pad()
        if self.reference.phase == "deal":
            self.deal()

    def compare(self) -> None:
        reference = self.reference
        for env in self.envs.values():
            assert is_over(env) == (reference.phase == "over")
            assert not any(env.truncations.values())
            if reference.to_move is not None:
                assert env.agent_selection == AGENTS[reference.to_move]
        assert set(self.legal()) == reference.legal()
        for player, agent in enumerate(AGENTS):
            observation = self.env.observe(agent)
            if player != reference.to_move:
                assert not observation["action_mask"].any()
            self.compare_knowledge(poke_v0.decode(observation), player)

    def legal(self) -> list[int]:
        return [] if is_over(self.env) else legal_actions(self.env)

    def compare_knowledge(self, decoded: dict[str, Any], player: int) -> None:
        """`decode` of a seat's observation against all that the seat may know."""
        known = self.reference.knows(player)
        finished = [trick for trick in decoded["tricks"] if trick["winner"] is not None]
        waiting = [trick for trick in decoded["tricks"] if trick["winner"] is None]
        told = {
            "hand": list(decoded["hand"]),
            "discards": list(decoded["discards"]),
            "draws": tuple(list(sizes) for sizes in decoded["draws"]),
            "tricks": [
                (
                    trick["leader"] == "own",
                    list(trick["lead"]),
                    list(trick["follow"]),
                    trick["winner"] == "own",
                )
                for trick in finished
            ],
            "table": list(decoded["table"]),
            "below": decoded["below"],
            "above": decoded["above"],
            "games": decoded["games"],
            "trick_values": decoded["trick_values"],
            "phase": decoded["phase"],
            "dealer_is_me": decoded["dealer"],
            "seen": list(decoded["seen"]),
        }
        if self.rules.reveal_discards:
            told["opponent_discards"] = list(decoded["opponent_discards"])
        else:
            assert decoded["opponent_discards"] == ()
        known["below"] = tuple(min(points, BELOW_MAX) for points in known["below"])
        known["above"] = tuple(min(points, ABOVE_MAX) for points in known["above"])
        assert told == known
        assert decoded["to_move"] == (self.reference.to_move == player)
        assert decoded["slots"] == tuple(self.reference.slots[player])
        assert [list(trick["lead"]) for trick in waiting] == ([known["table"]] if waiting else [])
        taken = [0, 0]
        for _, led, _, mine in known["tricks"]:
            taken[0 if mine else 1] += len(led)
        assert decoded["taken"] == tuple(taken)

    def compare_pad(self) -> None:
        pad, reference = self.env.score_sheet, self.reference
        assert (pad.below, pad.above, pad.games) == (
            reference.below,
            reference.above,
            reference.games,
        )
        assert len(pad.deals) == len(reference.finished)
        if pad.deals:
            entry, expected = pad.deals[-1], reference.finished[-1]
            for field in entry._fields:
                assert getattr(entry, field) == getattr(expected, field), field


def compare_whole_match(scenario: dict[str, Any]) -> None:
    pair = Pair(scenario)
    pair.compare()
    while pair.reference.to_move is not None and pair.deals <= MOST_DEALS:
        pair.step(scenario["choices"].choice(pair.legal()))
        pair.compare()
    if pair.reference.phase == "over" and scenario["match"] == "rubber":
        winner = pair.reference.winner()
        assert int(pair.env.record["winner"]) == (-1 if winner is None else winner)
    assert len(pair.env.score_sheet.deals) == len(pair.reference.finished)
    # The pad of a whole match, not only its last line.
    for entry, expected in zip(pair.env.score_sheet.deals, pair.reference.finished, strict=True):
        assert entry.final_hands == expected.final_hands
        assert entry.dealer == expected.dealer


def a_match(**changes: Any) -> dict[str, Any]:
    standard = {
        "rules": RULES["standard"],
        "match": "rubber",
        "dealer": 0,
        "score": {},
        "below_value": 50.0,
        "decks_from_options": False,
        "deck_seed": 0,
        "choices": Random(0),
    }
    return {**standard, **changes}


@given(any_match())
@example(a_match())
@example(a_match(rules=HOUSE_RULES, dealer=1))
@example(a_match(rules=RULES["tiny"], match="game"))
@example(a_match(rules=RULES["small"], match="rubber", decks_from_options=True))
@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
def test_environment_departs_from_the_rules(scenario: dict[str, Any]) -> None:
    compare_whole_match(scenario)


@pytest.mark.slow
@given(any_match())
@settings(max_examples=5_000, suppress_health_check=[HealthCheck.too_slow])
def test_environment_departs_from_the_rules_in_many_matches(scenario: dict[str, Any]) -> None:
    compare_whole_match(scenario)


@pytest.mark.parametrize("rules", RULES, ids=str)
def test_a_preset_departs_from_the_rules(rules: str) -> None:
    rng = np.random.default_rng(7)
    for number in range(6):
        compare_whole_match(
            a_match(
                rules=RULES[rules],
                match=("rubber", "game", "deal")[number % 3],
                dealer=number % 2,
                deck_seed=int(rng.integers(2**32)),
                choices=Random(number),
            )
        )
