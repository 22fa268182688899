"""The players that look at hands the opponent may hold: what they know, and what it is worth."""

from __future__ import annotations

import pickle
from typing import Any

import numba
import numpy as np
import pytest

import agents
from agents.pimc import PimcAgent, best_play
from agents.plays import PLAYS, find_plays
from agents.poke_reading import READING, read
from agents.tricks import hand_number, trick_table
from helpers import is_over
from poke_env import poke_v0
from training import duplicate

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs many choices")

SEARCHERS = ("pimc", "alphamu")
BY_NAME = pytest.mark.parametrize("name", SEARCHERS)


def position(own: str, opponent: str, *moves: str, dealer: bool = False, **rules: Any) -> Any:
    """A deal in which it is the turn of the player who holds `own`, in seat 0."""
    env = poke_v0.raw_env(match="deal", rules=poke_v0.Rules(**rules))
    first, second = (opponent, own) if dealer else (own, opponent)
    env.reset(seed=1, options={"deck": f"{first} {second}".split(), "dealer": 0 if dealer else 1})
    for move in ("pat", "pat", *moves):
        env.step(env.text_to_action(move))
    assert env.agent_selection == "player_0"
    return env


def choices(player: Any, env: Any, keys: int = 20) -> list[str]:
    """What the player says with several keys."""
    observed = env.observe("player_0")
    return [str(env.action_to_text(player.act(observed, key))) for key in range(keys)]


@BY_NAME
def test_hidden_cards_change_the_choice(name: str) -> None:
    """The same history with other hidden cards of the opponent, stock and discards."""
    player = agents.make(name, samples=4)
    first = position("2d 7d 7s Qh Ks", "4c 5d 6c Jh Jd", "Ks", "4c")
    second = position("2d 7d 7s Qh Ks", "4c 9d Tc Qc Qd", "Ks", "4c")
    assert choices(player, first, 100) == choices(player, second, 100)


@BY_NAME
def test_keys_make_no_difference_where_hands_are_drawn(name: str) -> None:
    said = set(
        choices(agents.make(name, samples=1), position("2d 7d 7s Qh Ks", "4c 5d 6c Jh Jd"), 200)
    )
    assert len(said) > 1


@pytest.mark.parametrize("depth", [1, 2])
@pytest.mark.parametrize("must_beat", [True, False])
def test_play_against_a_known_hand_is_not_perfect(depth: int, must_beat: bool) -> None:
    table = trick_table(must_beat)
    readings, plays = np.zeros(1, READING), np.zeros(1, PLAYS)
    env = poke_v0.raw_env(match="deal", rules=poke_v0.Rules(must_beat=must_beat))
    rng = np.random.default_rng(4)
    for _ in range(60):
        dealt = rng.permutation(52)[:10]
        env.reset(seed=1, options={"deck": dealt, "dealer": 1})
        first, second = (sorted((cards >> 2).tolist()) for cards in (dealt[:5], dealt[5:]))
        while not is_over(env):
            observed, mover = env.observe(env.agent_selection), int(env.agent_selection[-1])
            read(observed["observation"], observed["action_mask"], readings[0])
            if readings[0]["phase"] == 0:
                env.step(0)
                continue
            other = poke_v0.decode(env.observe(f"player_{1 - mover}")["observation"])["hand"]
            hand = hand_number(np.array([card >> 2 for card in other], np.int8), len(other))
            action = best_play(
                readings[0], observed["action_mask"], np.arange(6.0), np.array([hand]), np.ones(1),
                depth, must_beat, table.values, table.mirrored, table.moves, plays[0],
            )  # fmt: skip
            env.step(action)
        assert env.score_sheet.deals[0].cards_taken[0] == table.cards_taken(first, second)


@BY_NAME
@pytest.mark.parametrize("samples", [1, 5, 64])
@pytest.mark.parametrize(
    "rules",
    [
        {"must_beat": False},
        {"must_beat": False, "follow_set_if_held": True},
        {"suits": 2},
        {"hand_size": 4, "max_discard": 2, "reveal_discards": True},
        {"hand_size": 3, "ranks": 7, "suits": 1},
        {"hand_size": 2, "ranks": 4, "suits": 1, "max_discard": 0},
    ],
)
def test_rules_that_it_was_not_told_stop_the_player(
    name: str, samples: int, rules: dict[str, Any]
) -> None:
    """He takes throw-offs for proofs that they are not, and another pack for the preset's."""
    player, anything = agents.make(name, samples=samples), agents.make("random", seed=2)
    env = poke_v0.raw_env(match="deal", rules=poke_v0.Rules(**rules))
    for seed in range(30):
        env.reset(seed=seed)
        while not is_over(env):
            observed = env.observe(env.agent_selection)
            mover = player if env.agent_selection == "player_0" else anything
            env.step(mover.act(observed, seed))


@BY_NAME
def test_a_beating_card_is_not_kept_cheap(name: str) -> None:
    player = agents.make(name)
    for own, opponent, lead, follow in (
        ("2d 7h 7s Qh Ks", "Ac Ad 9h 4s 4d", "Ac", "2d"),
        ("6c 6d Jh Js As", "5c 5d 9h 4s 4d", "5c 5d", "6c 6d"),
    ):
        said = choices(player, position(own, opponent, lead, dealer=True))
        assert said.count(f"follow {follow}") > 15
    said = choices(player, position("Ac Ad Ah As 2d", "5c 5d 9h 4s 4d"))
    assert set(said) == {"lead Ac Ad Ah As"}


def test_planning_looks_into_hidden_hands() -> None:
    """Whoever looks into each hand believes he will keep the right card against every one."""
    env = position("3d 8d 9s Jh Ks", "4c 5d 6c Td Qd", "3d", "4c", "5d", must_beat=False)
    observed = env.observe("player_0")
    readings, plays = np.zeros(1, READING), np.zeros(1, PLAYS)
    read(observed["observation"], observed["action_mask"], readings[0])
    table = trick_table(False)
    hands = np.array(
        [hand_number(np.array(ranks, np.int8), 3) for ranks in ((4, 8, 10), (2, 6, 12), (9, 9, 9))]
    )
    worths = []
    for depth in (1, 2):
        best_play(
            readings[0], observed["action_mask"], np.arange(6.0), hands, np.ones(3), depth, False,
            table.values, table.mirrored, table.moves, plays[0],
        )  # fmt: skip
        worths.append(plays[0]["worth"][: plays[0]["count"]].copy())
    assert (worths[1] <= worths[0]).all()
    assert (worths[1] < worths[0]).any()


def test_planning_for_one_hand_differs_from_looking_at_it() -> None:
    """With one hand there is nothing to hide: both depths are perfect play."""
    table = trick_table()
    env = poke_v0.raw_env(match="deal")
    rng = np.random.default_rng(3)
    readings, plays = np.zeros(1, READING), np.zeros(1, PLAYS)
    env.reset(seed=1)
    met = 0
    while met < 300:
        if is_over(env):
            env.reset()
        observed = env.observe(env.agent_selection)
        mask = observed["action_mask"]
        read(observed["observation"], mask, readings[0])
        if readings[0]["phase"] > 0:
            left = int(readings[0]["held"]).bit_count()
            left -= int(readings[0]["lead_size"]) if readings[0]["phase"] == 2 else 0
            hand = np.sort(rng.integers(0, 13, left)).astype(np.int8)
            worths = []
            for depth in (1, 2):
                best_play(
                    readings[0], mask, np.arange(6.0), np.array([hand_number(hand, left)]),
                    np.ones(1), depth, True, table.values, table.mirrored, table.moves, plays[0],
                )  # fmt: skip
                worths.append(plays[0]["worth"][: plays[0]["count"]].tolist())
            assert worths[0] == worths[1]
            met += 1
        env.step(int(rng.choice(np.flatnonzero(mask))))


def test_plays_of_the_same_ranks_are_weighed_twice() -> None:
    env = position("7c 7d 7s Qh Ks", "4c 5d 6c Jh Jd")
    observed = env.observe("player_0")
    readings, plays = np.zeros(1, READING), np.zeros(1, PLAYS)
    read(observed["observation"], observed["action_mask"], readings[0])
    find_plays(readings[0], observed["action_mask"], plays[0])
    found = plays[0]
    assert found["count"] == 5
    assert found["size"][:5].tolist() == [1, 2, 3, 1, 1]
    assert found["rank"][:5].tolist() == [5, 5, 5, 10, 11]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"samples": 0}, "samples must be an integer from 1 to 100000, got 0"),
        ({"samples": 2.0}, "samples must be an integer from 1 to 100000, got 2.0"),
        ({"draws": "pimc"}, "draws must be one of heuristic, .*, got 'pimc'"),
        ({"infer": 1}, "infer must be True or False, got 1"),
        ({"must_beat": None}, "must_beat must be True or False, got None"),
        ({"follow_set_if_held": "no"}, "follow_set_if_held must be True or False"),
        ({"depth": 3}, "depth must be an integer from 1 to 2, got 3"),
    ],
)
def test_wrong_arguments_are_taken(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PimcAgent(**arguments)


@pytest.mark.parametrize("draws", ["heuristic", "never_double", "greedy"])
def test_draws_are_not_those_of_the_player_named(draws: str) -> None:
    player, named = agents.make("pimc", samples=1, draws=draws), agents.make(draws)
    env = poke_v0.raw_env(match="deal")
    met = 0
    for seed in range(40):
        env.reset(seed=seed)
        while not is_over(env):
            observed = env.observe(env.agent_selection)
            action = player.act(observed, seed)
            if poke_v0.decode(observed["observation"])["phase"] == "draw":
                assert action == named.act(observed, seed)
                met += 1
            env.step(action)
    assert met > 80


def test_player_carries_its_tables_along() -> None:
    """Tournaments copy players and send them to other processes."""
    player = agents.make("pimc")
    env = position("2d 7d 7s Qh Ks", "4c 5d 6c Jh Jd")
    said = choices(player, env)
    data = pickle.dumps(player)
    assert len(data) < 5000
    assert choices(pickle.loads(data), env) == said


# --- strength -------------------------------------------------------------------------------------


def margin(better: str, worse: str, pairs: int) -> Any:
    """Of duplicate deals."""
    players = agents.load(better), agents.load(worse)
    return duplicate.play(*players, pairs, 5, match="deal").estimate()


@pytest.mark.slow
@pytest.mark.parametrize(
    "better, worse, pairs",
    [
        ("greedy", "random", 2000),
        ("pimc-1", "greedy", 2000),
        ("pimc-4", "pimc-1", 8000),
        ("pimc-16", "pimc-4", 8000),
        ("pimc-64", "pimc-16", 16000),
        ("pimc-64", "pimc-64-heuristic-false", 20000),
        ("pimc-64", "heuristic", 16000),
        ("alphamu-64", "pimc-64", 40000),
    ],
)
def test_ladder_has_a_rung_missing(better: str, worse: str, pairs: int) -> None:
    assert margin(better, worse, pairs).low > 0
