"""Values whose text or number cannot be had, copies in odd places, and looks inside too early."""

import copy

import gymnasium
import numpy as np
import pytest

import poke_env  # noqa: F401  registers the environments
from poke_env import poke_v0
from poke_env.aec import IllegalActionError


class Mute:
    def __repr__(self):
        raise RuntimeError("no text")


class NoNumber:
    def __index__(self):
        raise RuntimeError("no number")


STRANGE = [10**5000, Mute(), NoNumber()]


@pytest.mark.parametrize("action", STRANGE, ids=["huge", "mute", "no number"])
def test_action_that_cannot_be_shown_escapes_the_forfeit(action):
    raw = poke_v0.raw_env(match="deal")
    raw.reset(seed=1)
    with pytest.raises(IllegalActionError, match="action"):
        raw.step(action)
    env = poke_v0.env(match="deal")
    env.reset(seed=1)
    offender = env.agent_selection
    env.step(action)
    assert env.rewards[offender] == -1000
    assert sum(env.rewards.values()) == 0
    single = gymnasium.make("sackson/Poke-v0", disable_env_checker=True)
    single.reset(seed=1)
    assert single.step(action)[1] == -1000


@pytest.mark.parametrize("action", [1.0, None, "x", [1], True, *STRANGE], ids=lambda a: type(a))
def test_text_of_no_action_is_another_error(action):
    env = poke_v0.raw_env()
    env.reset(seed=1)
    with pytest.raises(ValueError, match="action"):
        env.action_to_text(action)


@pytest.mark.parametrize("text", [None, 5, ["pat"], b"pat"])
def test_action_of_no_text_is_another_error(text):
    env = poke_v0.raw_env()
    env.reset(seed=1)
    with pytest.raises(ValueError, match="action text must be a str"):
        env.text_to_action(text)


def test_copy_inside_a_loop_cannot_be_played():
    env = poke_v0.env(match="deal")
    env.reset(seed=3)
    for _ in env.agent_iter():
        twin = copy.deepcopy(env)
        for _ in twin.agent_iter():
            observed, _, terminated, _, _ = twin.last()
            twin.step(None if terminated else int(np.argmax(observed["action_mask"])))
        assert not twin.agents
        observed, _, terminated, _, _ = env.last()
        env.step(None if terminated else int(np.argmax(observed["action_mask"])))


@pytest.mark.parametrize("deck", [{"As", "Kd"}, iter(["As", "Kd"]), {"As": 1}])
def test_deck_without_an_order_is_dealt(deck):
    env = poke_v0.raw_env()
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(ValueError, match="options deck"):
        env.reset(options={"deck": deck})
    assert env.get_state() == before


@pytest.mark.parametrize("seat", [1.0, np.bool_(True), "0", np.array([0, 1]), 2, None])
def test_seat_that_is_none_is_taken(seat):
    with pytest.raises(ValueError, match="seat must be"):
        poke_v0.single_env(seat=seat)


def test_writing_into_the_record_changes_the_match():
    env = poke_v0.raw_env()
    env.reset(seed=1)
    before = env.get_state()
    with pytest.raises(ValueError, match="read-only"):
        env.record["below"][0] = 7
    assert env.get_state() == before


@pytest.mark.parametrize("name", ["record", "deck", "score_sheet", "num_agents", "agents"])
def test_looking_inside_before_reset_gives_something(name):
    with pytest.raises(AttributeError, match="reset"):
        getattr(poke_v0.raw_env(), name)


def test_no_agent_has_the_empty_name():
    env = poke_v0.raw_env(match="deal", rules="tiny")
    env.reset(seed=0)
    while not any(env.terminations.values()):
        env.step(int(np.argmax(env.observe(env.agent_selection)["action_mask"])))
    with pytest.raises(ValueError, match="agent must be one of"):
        env.observe("")
