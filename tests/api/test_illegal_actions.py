"""Illegal actions: the bare environment refuses them, `env()` and the single environment end the
match as a forfeit. Never is another move played instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import poke_env
from helpers import (
    PLAYERS,
    RULES,
    TABLES,
    equal_trees,
    everything,
    is_over,
    legal_actions,
    play,
    play_to,
    random_action,
    retire,
)
from poke_env import poke_v0
from poke_env.aec import IllegalActionError

PHASES = ("draw", "lead", "follow")

NO_ACTIONS = [
    -1,
    32,
    33,
    10**30,
    -(10**30),
    2**31,
    2**32,
    2**63,
    2**64,
    0.0,
    1.0,
    float("nan"),
    np.float32(1),
    Decimal(1),
    None,
    "",
    "1",
    "stand pat",
    b"1",
    True,
    False,
    np.True_,
    np.False_,
    [],
    [1],
    (1,),
    {},
    {1},
    1j,
    object(),
    np.array([1]),
    np.array([], int),
    np.array(1.0),
    np.array(True),
    np.array([1, 2]),
]


def ready(make: Any, phase: str, seed: int = 0, **settings: Any) -> Any:
    """A match at the first decision of a phase."""
    env = make(**{"match": "game", **settings})
    env.reset(seed=seed)
    return play_to(env, np.random.default_rng(seed), phase)


def illegal(env: Any) -> Iterator[Any]:
    """Whatever is illegal now: legal ones of other phases, cards not held, things that are none."""
    yield from (action for action in range(32) if action not in legal_actions(env))
    yield from NO_ACTIONS


@pytest.mark.parametrize("phase", PHASES)
def test_illegal_action_changes_the_bare_environment(phase: str) -> None:
    env = ready(poke_v0.raw_env, phase)
    before = everything(env)
    for action in illegal(env):
        with pytest.raises(ValueError, match="illegal for") as caught:
            env.step(action)
        assert isinstance(caught.value, IllegalActionError)
        assert repr(action) in str(caught.value)
        assert env.agent_selection in str(caught.value)
        assert str(legal_actions(env)) in str(caught.value)
        assert equal_trees(everything(env), before), action
    env.step(legal_actions(env)[-1])


def test_illegal_action_changes_the_bare_environment_somewhere_in_a_match() -> None:
    for rules in RULES.values():
        refuse_everything(poke_v0.raw_env(match="game", rules=rules))


def test_illegal_action_changes_a_table(table: str) -> None:
    game, settings = TABLES[table]
    refuse_everything(poke_env.door(game).raw_env(**settings))


def refuse_everything(env: Any) -> None:
    """Try all illegal actions at every turn of some matches."""
    rng = np.random.default_rng(1)
    env.reset(seed=1)
    for _ in range(60):
        if is_over(env):
            env.reset()
        state = env.get_state()
        legal = legal_actions(env)
        for action in range(-1, env.action_space(env.agent_selection).n + 1):
            if action not in legal:
                with pytest.raises(ValueError, match="illegal"):
                    env.step(action)
                assert env.get_state() == state
        env.step(random_action(env, rng))


def test_forfeit_is_shared_unequally(table: str) -> None:
    """The offender pays, all others gain the same, and a learner is told so."""
    game, settings = TABLES[table]
    door = poke_env.door(game)
    rng = np.random.default_rng(3)
    env = door.env(**settings)
    for steps in (0, 1, 5):
        env.reset(seed=steps)
        play(env, rng, most=steps)
        position, due = env.unwrapped.record.tobytes(), dict(env._cumulative_rewards)
        offender, *others = [env.agent_selection, *set(env.agents) - {env.agent_selection}]
        penalty = 1.0 if settings.get("reward") == "win" else 1000.0
        env.step(-1)
        assert env.unwrapped.record.tobytes() == position
        assert env.rewards[offender] == -penalty
        for other in others:
            assert env.rewards[other] == pytest.approx(penalty / len(others))
        assert all(env.terminations.values())
        assert not any(env.truncations.values())
        assert {info["forfeited_by"] for info in env.infos.values()} == {offender}
        due[offender] = 0.0
        expected = {agent: due[agent] + env.rewards[agent] for agent in env.agents}
        assert retire(env) == pytest.approx(expected)
    learner = door.single_env(**settings)
    learner.reset(seed=0)
    _, _, terminated, truncated, info = learner.step(-1)
    assert learner.aec.rewards[f"player_{info['seat']}"] == -penalty
    assert (terminated, truncated, info["illegal_action"]) == (True, False, True)


@pytest.mark.parametrize(
    "number",
    [int, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.intp, np.array],
)
def test_integer_of_another_kind_is_refused(number: Any) -> None:
    one, other = ready(poke_v0.env, "lead"), ready(poke_v0.env, "lead")
    action = legal_actions(one)[0]
    one.step(action)
    other.step(number(action))
    assert equal_trees(everything(one), everything(other))


@pytest.mark.parametrize("phase", PHASES)
def test_forfeit_is_not_as_documented(phase: str) -> None:
    for action in illegal(ready(poke_v0.env, phase)):
        env = ready(poke_v0.env, phase)
        offender = env.agent_selection
        [other] = set(PLAYERS) - {offender}
        position = env.unwrapped.record.tobytes()
        env.step(action)
        assert env.agents == list(PLAYERS)
        assert env.terminations == dict.fromkeys(PLAYERS, True)
        assert env.truncations == dict.fromkeys(PLAYERS, False)
        assert env.rewards == {offender: -1000.0, other: 1000.0}
        for agent in PLAYERS:
            assert env.infos[agent]["illegal_action"] is True
            assert env.infos[agent]["forfeited_by"] == offender
            assert not env.infos[agent]["action_mask"].any()
            assert not env.observe(agent)["action_mask"].any()
            assert env.observation_space(agent).contains(env.observe(agent))
        assert env.unwrapped.record.tobytes() == position  # no other move was played instead
        seen = {}
        for agent in env.agent_iter():
            _, reward, terminated, truncated, info = env.last()
            seen[agent] = (reward, terminated, truncated, info["illegal_action"])
            env.step(None)
        assert seen[offender] == (-1000.0, True, False, True)
        assert seen[other] == (1000.0, True, False, True)
        assert env.agents == []


@pytest.mark.parametrize(
    "settings, penalty",
    [
        ({}, 1000.0),
        ({"reward": "win"}, 1.0),
        ({"reward_scale": 0.01}, 10.0),
        ({"reward_scale": 2.0}, 2000.0),
        ({"reward": "win", "reward_scale": 3.0}, 1.0),
        ({"illegal_penalty": 7.5}, 7.5),
        ({"illegal_penalty": 7.5, "reward_scale": 0.5}, 7.5),
        ({"illegal_penalty": 0.25, "reward": "win"}, 0.25),
        ({"illegal_penalty": 0}, 0.0),
    ],
    ids=str,
)
def test_forfeit_has_another_price(settings: dict[str, Any], penalty: float) -> None:
    for match in ("deal", "game", "rubber"):
        for phase in PHASES:
            env = ready(poke_v0.env, phase, match=match, **settings)
            offender = env.agent_selection
            [other] = set(PLAYERS) - {offender}
            env.step(-1)
            assert env.rewards == {offender: -penalty, other: penalty}
            assert retire(env) == {offender: -penalty, other: penalty}
    learner = poke_v0.single_env(**settings)
    learner.reset(seed=0)
    _, reward, terminated, truncated, info = learner.step(-1)
    assert (reward, terminated, truncated) == (-penalty, True, False)
    assert info["illegal_action"] is True
    assert info["forfeited_by"] == f"player_{info['seat']}"


def test_reward_not_fetched_is_lost_by_a_forfeit() -> None:
    """What the other seat is still due from earlier deals comes on top of the penalty."""
    rng = np.random.default_rng(2)
    env = poke_v0.env(match="rubber")
    env.reset(seed=2)
    cases = 0
    while cases < 10:
        if is_over(env):
            env.reset()
        offender = env.agent_selection
        [other] = set(PLAYERS) - {offender}
        due = env._cumulative_rewards[other]
        if due:
            env.step(-1)
            assert env.rewards[other] == 1000.0
            assert retire(env) == {offender: -1000.0, other: due + 1000.0}
            cases += 1
            env.reset()
        else:
            env.step(random_action(env, rng))


def test_forfeit_spoils_the_next_match() -> None:
    env = ready(poke_v0.env, "follow")
    env.step("nonsense")
    for dead in (0, 1, 2):
        for _ in range(dead):
            env.step(None)
        env.reset()
        dealer = env.unwrapped.score_sheet.dealer
        assert env.agent_selection == env.unwrapped.agent_selection == PLAYERS[1 - dealer]
        assert "illegal_action" not in env.infos[env.agent_selection]
        assert env.agents == env.unwrapped.agents == list(PLAYERS)
        play(env, np.random.default_rng(0))
        assert len(env.unwrapped.score_sheet.deals) >= 1
        assert "illegal_action" not in env.infos["player_0"]
        env.reset()
        env.step(-1)


def test_forfeited_deal_is_written_on_the_pad() -> None:
    env = ready(poke_v0.env, "lead")
    sheet = env.unwrapped.score_sheet
    env.step(0)
    assert env.unwrapped.score_sheet == sheet


def test_match_is_forfeited_twice_or_after_its_end() -> None:
    env = ready(poke_v0.raw_env, "lead")
    env.forfeit()
    before = everything(env)
    with pytest.raises(ValueError, match="over"):
        env.forfeit()
    assert equal_trees(everything(env), before)


@pytest.mark.parametrize("action", [*NO_ACTIONS, 0b01111, 0b11111])
def test_learner_plays_on_after_an_illegal_action(action: Any) -> None:
    env = poke_v0.single_env()
    _, info = env.reset(seed=0)
    assert info["action_mask"].any()
    assert "illegal_action" not in info
    observation, reward, terminated, truncated, info = env.step(action)
    assert (reward, terminated, truncated) == (-1000.0, True, False)
    assert info["illegal_action"] is True
    assert info["forfeited_by"] == f"player_{info['seat']}"
    assert not info["action_mask"].any()
    assert not env.action_masks().any()
    assert env.observation_space.contains(observation)


@pytest.mark.parametrize("phase", ["lead", "follow"])
def test_learner_leads_or_follows_illegally_and_plays_on(phase: str) -> None:
    env = poke_v0.single_env()
    rng = np.random.default_rng(0)
    cases = 0
    while cases < 20:
        observation, info = env.reset(seed=int(rng.integers(1000)))
        over = False
        while not over:
            if poke_v0.decode(observation)["phase"] == phase:
                hidden = int(rng.choice(np.flatnonzero(info["action_mask"] == 0)))
                _, reward, over, _, info = env.step(hidden)
                assert (reward, over, info["illegal_action"]) == (-1000.0, True, True)
                cases += 1
            else:
                action = int(rng.choice(np.flatnonzero(info["action_mask"])))
                observation, _, over, _, info = env.step(action)
