"""Saved, restored and copied matches go on exactly as the original, into the matches after it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from helpers import (
    CONFIGURATIONS,
    HOUSE_RULES,
    PLAYERS,
    Make,
    equal_trees,
    everything,
    is_over,
    legal_actions,
    name_of,
    other_table,
    play,
    play_to,
    random_action,
)
from poke_env import poke_v0


def restored(env: Any) -> Any:
    twin = type(env.unwrapped)(**settings_of(env.unwrapped))
    twin.reset(seed=12345)
    play(twin, np.random.default_rng(5), most=4)
    twin.set_state(env.unwrapped.get_state())
    return twin


def restored_into_a_new_one(env: Any) -> Any:
    """Into an environment that was never reset."""
    twin = type(env.unwrapped)(**settings_of(env.unwrapped))
    twin.set_state(env.unwrapped.get_state())
    return twin


def settings_of(env: poke_v0.raw_env) -> dict[str, Any]:
    return {
        "match": env.match,
        "reward": env.settings.reward,
        "rules": env.rules,
        "max_deals": env.settings.max_deals,
        "below_value": env.settings.below_value,
        "reward_scale": env.settings.reward_scale,
        "illegal_penalty": env.settings.illegal_penalty,
        "equity_table": env.settings.equity_table,
        "start_scores": env.settings.start_scores,
    }


COPIES = {
    "clone": lambda env: env.unwrapped.clone(),
    "get_state": restored,
    "get_state, unused": restored_into_a_new_one,
    "deepcopy": copy.deepcopy,
    "pickle": lambda env: pickle.loads(pickle.dumps(env)),
    "pickle of the bare one": lambda env: pickle.loads(pickle.dumps(env.unwrapped)),
    "clone of a clone": lambda env: env.unwrapped.clone().clone(),
    "pickle of a clone": lambda env: pickle.loads(pickle.dumps(env.unwrapped.clone())),
}
every_copy = pytest.mark.parametrize("copied", COPIES)


def both_go_on(env: Any, twin: Any, seed: int = 0, matches: int = 3, steps: int = 10**9) -> None:
    """Play both to the end and through unseeded matches, comparing all that can be read."""
    rng = np.random.default_rng(seed)
    for _ in range(matches):
        assert equal_trees(everything(env), everything(twin))
        for _ in range(steps):
            if is_over(env):
                break
            action = random_action(env, rng)
            env.step(action)
            twin.step(action)
            assert equal_trees(everything(env), everything(twin))
        while is_over(env) and env.agents:
            assert equal_trees(env.last(), twin.last())
            env.step(None)
            twin.step(None)
            assert equal_trees(everything(env), everything(twin))
        env.reset()
        twin.reset()


def in_the_middle(make: Make, rng: np.random.Generator, steps: int, **settings: Any) -> Any:
    env = make(**settings)
    env.reset(seed=7)
    return play(env, rng, most=steps)


# --- moments --------------------------------------------------------------------------------------


@every_copy
@pytest.mark.parametrize("phase", ["draw", "lead", "follow"])
def test_copy_in_mid_hand_plays_another_match(make: Make, copied: str, phase: str) -> None:
    rng = np.random.default_rng(1)
    env = make(match="game")
    env.reset(seed=1)
    play(env, rng, most=1)
    play_to(env, rng, phase)
    both_go_on(env, COPIES[copied](env), matches=2)


@every_copy
def test_copy_of_a_table_plays_another_match(sit: Make, copied: str) -> None:
    """At every game's table: at the start, in the middle, and at the end."""
    rng = np.random.default_rng(9)
    for steps in (0, 3, 17, 10**9):
        env = sit()
        env.reset(seed=steps % 100)
        play(env, rng, most=steps)
        both_go_on(env, COPIES[copied](env), matches=2, steps=12)


@every_copy
def test_copy_in_mid_rubber_loses_the_pad_or_rewards_due(make: Make, copied: str) -> None:
    rng = np.random.default_rng(2)
    env = make(match="rubber")
    env.reset(seed=2)
    while not (len(env.unwrapped.score_sheet.deals) >= 2 and any(env._cumulative_rewards.values())):
        env.step(random_action(env, rng))
    twin = COPIES[copied](env)
    assert len(twin.unwrapped.score_sheet.deals) >= 2
    assert any(twin._cumulative_rewards.values())
    both_go_on(env, twin, matches=2)


@every_copy
@pytest.mark.parametrize("dead_steps", [0, 1, 2])
def test_copy_after_the_end_is_alive_again(make: Make, copied: str, dead_steps: int) -> None:
    env = in_the_middle(make, np.random.default_rng(3), 10**9, match="deal")
    for _ in range(dead_steps):
        env.step(None)
    both_go_on(env, COPIES[copied](env))


@every_copy
@pytest.mark.parametrize("dead_steps", [0, 1, 2])
@pytest.mark.parametrize("steps", [0, 5, 40])
def test_copy_after_a_forfeit_forgets_it(copied: str, steps: int, dead_steps: int) -> None:
    env = in_the_middle(poke_v0.env, np.random.default_rng(4), steps, match="rubber")
    env.step(-1)
    for _ in range(dead_steps):
        env.step(None)
    twin = COPIES[copied](env)
    for agent in env.agents:
        assert twin.infos[agent]["illegal_action"] is True
        assert twin.infos[agent]["forfeited_by"] == env.infos[agent]["forfeited_by"]
    both_go_on(env, twin, matches=2)


@every_copy
@pytest.mark.parametrize("dead_steps", [0, 1, 2])
def test_copy_of_a_cut_match_is_terminated(make: Make, copied: str, dead_steps: int) -> None:
    rng = np.random.default_rng(5)
    env = in_the_middle(make, rng, 10**9, match="rubber", max_deals=2)
    assert all(env.truncations.values())
    for _ in range(dead_steps):
        env.step(None)
    both_go_on(env, COPIES[copied](env))


@every_copy
def test_copy_forgets_the_decks_to_come(make: Make, copied: str) -> None:
    """Decks given for later deals belong to the match."""
    rng = np.random.default_rng(6)
    decks = [rng.permutation(52).tolist() for _ in range(6)]
    env = make(match="rubber", rules=poke_v0.Rules(target=200))
    env.reset(seed=6, options={"decks": decks})
    play(env, rng, most=5)
    twin = COPIES[copied](env)
    dealt = []
    while len(dealt) < 6:
        if not dealt or env.unwrapped.deck != dealt[-1]:
            dealt.append(env.unwrapped.deck)
        assert twin.unwrapped.deck == env.unwrapped.deck
        action = random_action(env, rng)
        env.step(action)
        twin.step(action)
    assert dealt == decks


@every_copy
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=name_of)
def test_copy_of_some_configuration_differs(copied: str, configuration: dict[str, Any]) -> None:
    env = in_the_middle(poke_v0.env, np.random.default_rng(8), 6, **configuration)
    both_go_on(env, COPIES[copied](env), matches=1, steps=25)


@every_copy
def test_copy_with_unusual_settings_differs(copied: str) -> None:
    env = in_the_middle(
        poke_v0.env,
        np.random.default_rng(9),
        20,
        match="rubber",
        rules=HOUSE_RULES,
        max_deals=7,
        reward_scale=0.01,
        illegal_penalty=3.0,
    )
    twin = COPIES[copied](env)
    both_go_on(env, twin, matches=1)
    assert twin.unwrapped.settings.illegal_penalty == 3.0
    if hasattr(twin, "forfeit"):
        env.step(-1)
        twin.unwrapped.forfeit()
        assert twin.rewards == env.rewards


def test_copy_before_the_first_reset_cannot_be_used(make: Make) -> None:
    env = make(match="deal")
    with pytest.raises(AttributeError, match=r"reset\(\)"):
        env.unwrapped.get_state()
    for copied in ("clone", "deepcopy", "pickle", "pickle of the bare one"):
        twin = COPIES[copied](env)
        with pytest.raises(AttributeError, match=r"reset\(\)"):
            twin.step(0)
        original = make(match="deal")
        original.reset(seed=3)
        twin.reset(seed=3)
        both_go_on(original, twin, matches=2)


# --- independence ---------------------------------------------------------------------------------


@every_copy
def test_copy_and_original_share_something(make: Make, copied: str) -> None:
    rng = np.random.default_rng(10)
    env = in_the_middle(make, rng, 30, match="rubber")
    twin = COPIES[copied](env)
    before = everything(env)
    play(twin, rng)
    twin.reset()
    assert equal_trees(everything(env), before)
    twin = COPIES[copied](env)
    before = everything(twin)
    play(env, rng)
    env.reset()
    assert equal_trees(everything(twin), before)


@pytest.mark.parametrize("copied", ["clone", "deepcopy", "pickle", "get_state"])
def test_writing_into_a_copys_info_reaches_the_original(copied: str) -> None:
    env = in_the_middle(poke_v0.raw_env, np.random.default_rng(11), 5, match="deal")
    before = everything(env)
    twin = COPIES[copied](env)
    twin.infos[twin.agent_selection]["action_mask"].fill(1)
    twin.infos["player_0"]["note"] = "mine"
    assert equal_trees(everything(env), before)


def test_wrapper_of_a_copy_is_lost() -> None:
    """A copy of `env()` is an `env()`: illegal actions still forfeit."""
    env = in_the_middle(poke_v0.env, np.random.default_rng(12), 5, match="deal")
    for copied in ("deepcopy", "pickle"):
        twin = COPIES[copied](env)
        assert type(twin) is type(env)
        assert twin.unwrapped is not env.unwrapped
        twin.step(-1)
        assert is_over(twin)
        assert not is_over(env)


def test_spaces_of_a_copy_are_not_seeded_as_the_original_was() -> None:
    env = poke_v0.env()
    env.action_space("player_0").seed(4)
    for copied in ("deepcopy", "pickle"):
        twin = COPIES[copied](env)
        assert twin.action_space("player_0") is not env.action_space("player_0")
        samples = [twin.action_space("player_0").sample() for _ in range(20)]
        original = copy.deepcopy(env).action_space("player_0")
        assert samples == [original.sample() for _ in range(20)]


# --- going back -----------------------------------------------------------------------------------


def test_step_and_undo_leave_a_trace() -> None:
    """For many states and every legal action, `set_state` undoes a step to the last byte."""
    env = poke_v0.raw_env(match="rubber")
    rng = np.random.default_rng(13)
    env.reset(seed=13)
    for _ in range(120):
        if is_over(env):
            env.reset()
        before = env.get_state()
        picture = everything(env)
        for action in legal_actions(env):
            env.step(action)
            env.set_state(before)
            assert env.get_state() == before
        assert equal_trees(everything(env), picture)
        env.step(random_action(env, rng))


def test_key_of_a_position_differs_for_the_same_position() -> None:
    """`record.tobytes()` is the key: equal for copies, other after a step, free of padding."""
    rng = np.random.default_rng(14)
    one, other = poke_v0.raw_env(match="game"), poke_v0.raw_env(match="game")
    one.reset(seed=14)
    other.reset(seed=15)
    play(other, rng, most=25)
    other.reset(seed=14)
    keys = set()
    steps = 0
    while not is_over(one):
        assert one.record.tobytes() == other.record.tobytes() == one.clone().record.tobytes()
        keys.add(one.record.tobytes())
        action = random_action(one, rng)
        one.step(action)
        other.step(action)
        steps += 1
    assert len(keys) == steps


def test_key_remembers_how_a_position_came_about() -> None:
    """What was in earlier deals, and the order of the stock, are no part of a position."""
    keys = []
    deck = list(range(10))
    for seed in (0, 1):
        env = poke_v0.raw_env(match="deal")
        env.reset(seed=seed + 5)
        play(env, np.random.default_rng(seed), most=7 + seed)
        env.reset(seed=seed, options={"deck": deck, "dealer": 0})
        env.step(0)
        keys.append(env.record.tobytes())
    assert keys[0] == keys[1]


def test_position_remembers_earlier_deals() -> None:
    """In the middle of a rubber it is that of a match begun with this deck, dealer and score."""
    rng = np.random.default_rng(20)
    env = poke_v0.raw_env(match="rubber")
    fresh = poke_v0.raw_env(match="rubber")
    env.reset(seed=20)
    for _ in range(8):
        while not is_over(env):
            sheet = env.score_sheet
            score = {"below": sheet.below, "above": sheet.above, "games": sheet.games}
            fresh.reset(options={"deck": env.deck, "dealer": sheet.dealer, "score": score})
            while len(env.score_sheet.deals) == len(sheet.deals) and not is_over(env):
                assert env.record.tobytes() == fresh.record.tobytes()
                for agent in PLAYERS:
                    assert equal_trees(env.observe(agent), fresh.observe(agent))
                action = random_action(env, rng)
                env.step(action)
                fresh.step(action)
        env.reset()


# --- what is refused ------------------------------------------------------------------------------

OTHERS = {
    "rules": {"rules": "small"},
    "one option": {"rules": poke_v0.Rules(reveal_discards=True)},
    "match": {"match": "deal"},
    "reward": {"reward": "win"},
    "scale": {"reward_scale": 0.5},
    "below value": {"below_value": 1.0},
    "cap": {"max_deals": 3},
    "equity": {"reward": "equity"},
    "another equity": {"reward": "equity", "equity_table": other_table()},
    "start scores": {"start_scores": [{"games": (1, 0)}]},
}


@pytest.mark.parametrize("other", OTHERS)
def test_state_of_another_environment_is_taken(other: str) -> None:
    env = in_the_middle(poke_v0.raw_env, np.random.default_rng(15), 20, match="rubber")
    stranger = in_the_middle(
        poke_v0.raw_env, np.random.default_rng(16), 3, **{"match": "rubber", **OTHERS[other]}
    )
    before = everything(env)
    with pytest.raises(ValueError, match=r"other (rules|match|reward settings|start_scores)"):
        env.set_state(stranger.get_state())
    assert equal_trees(everything(env), before)
    both_go_on(env, env.clone(), matches=1)


def test_state_of_another_version_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    env = in_the_middle(poke_v0.raw_env, np.random.default_rng(17), 20, match="rubber")
    monkeypatch.setattr(poke_v0.raw_env, "game", replace(poke_v0.raw_env.game, version=1))
    later = poke_v0.raw_env(match="rubber")
    with pytest.raises(ValueError, match="other version"):
        later.set_state(env.get_state())
    with pytest.raises(AttributeError, match=r"reset\(\)"):
        later.last()


@pytest.mark.parametrize(
    "damage",
    {
        "nothing": lambda state: b"",
        "one byte short": lambda state: state[:-1],
        "one byte long": lambda state: state + b"\0",
        "half": lambda state: state[: len(state) // 2],
        "twice": lambda state: state + state,
        "zeros": lambda state: bytes(len(state)),
        "text": lambda state: "state",
        "none": lambda state: None,
        "number": lambda state: 7,
        "array": lambda state: np.frombuffer(state, np.uint8),
        "bytearray of nonsense": lambda state: bytearray(state[::-1]),
    }.items(),
    ids=lambda item: item[0],
)
def test_damaged_state_is_taken(damage: tuple[str, Callable[[bytes], Any]]) -> None:
    env = in_the_middle(poke_v0.raw_env, np.random.default_rng(18), 33, match="rubber")
    before = everything(env)
    with pytest.raises(ValueError, match="state "):
        env.set_state(damage[1](env.get_state()))
    assert equal_trees(everything(env), before)


def test_single_wrong_byte_is_taken() -> None:
    env = in_the_middle(poke_v0.raw_env, np.random.default_rng(19), 33, match="rubber")
    state = env.get_state()
    before = everything(env)
    for place in range(len(state)):
        wrong = bytearray(state)
        wrong[place] ^= 1 << (place % 8)
        with pytest.raises(ValueError, match="state "):
            env.set_state(bytes(wrong))
    assert equal_trees(everything(env), before)
    env.set_state(state)


def test_bad_state_spoils_an_environment_that_was_never_reset() -> None:
    env = poke_v0.raw_env()
    with pytest.raises(ValueError, match="state "):
        env.set_state(b"no state")
    with pytest.raises(AttributeError, match=r"reset\(\)"):
        env.step(0)
    env.reset(seed=0)
