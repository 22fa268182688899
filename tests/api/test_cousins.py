"""The environments of Pokex, Poque and Poängpoker keep the contract that Poke's keep."""

from __future__ import annotations

import warnings
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test

import poke_env
from helpers import run_python
from poke_env import testing

TABLES: dict[str, dict[str, Any]] = {
    "pokex": {"match": "deal"},
    "pokex small": {"rules": "small", "match": "game"},
    "poque": {"match": "deal", "players": 6},
    "poque small": {"rules": "small", "match": "session", "reward": "win"},
    "poangpoker": {"match": "deal", "players": 3},
    "poangpoker small": {"rules": "small", "match": "game", "players": 2},
}
every_table = pytest.mark.parametrize("table", TABLES)


def names(table: str) -> tuple[str, str]:
    """What PettingZoo and Gymnasium call the game."""
    game = table.split()[0]
    return f"sackson/{game}-v0", f"sackson/{game.capitalize()}-v0"


@every_table
def test_a_promise_is_broken(table: str) -> None:
    door = poke_env.door(table.split()[0])
    for make in (door.env, door.raw_env, door.single_env):
        testing.check(make(**TABLES[table]), matches=2, seed=5)


@every_table
def test_checks_of_others_fail_for_the_registered_names(table: str) -> None:
    aec, gym = names(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(gymnasium.make(gym, **TABLES[table]).unwrapped, skip_render_check=True)
        # What `api_test` says of every dict observation whose environment it does not know.
        warnings.filterwarnings("ignore", "Observation is not a NumPy array", UserWarning)
        warnings.filterwarnings("ignore", "Observation space for each agent probably", UserWarning)
        api_test(pettingzoo.make("aec", aec, **TABLES[table]), num_cycles=100)


@every_table
def test_rows_differ_from_single_environments(table: str) -> None:
    rows, game, settings = 3, table.split()[0], TABLES[table]
    envs = poke_env.make_batch(game, rows, seed=7, **settings)
    singles = [poke_env.door(game).raw_env(**settings) for _ in range(rows)]
    rng = np.random.default_rng(2)
    observations, masks, seats = envs.reset()
    for row, single in enumerate(singles):
        single.reset(seed=7 + row)
    for _ in range(40):
        actions = np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)
        for row, single in enumerate(singles):
            assert single.agent_selection == f"player_{seats[row]}"
            seen = single.observe(single.agent_selection)
            np.testing.assert_array_equal(seen["observation"], observations[row])
            np.testing.assert_array_equal(seen["action_mask"], masks[row])
            single.step(int(actions[row]))
        observations, masks, seats, rewards, done = envs.step(actions)
        for row, single in enumerate(singles):
            assert list(single.rewards.values()) == pytest.approx(rewards[row].tolist())
            assert all(single.terminations.values()) == done[row]
            if done[row]:
                single.reset()


@every_table
def test_rows_of_a_learner_differ_from_single_learners(table: str) -> None:
    """Rewards that fell before a learner's first decision are his, too."""
    rows, door, settings = 3, poke_env.door(table.split()[0]), TABLES[table]
    envs = door.vector_env(rows, **settings)
    singles = [door.single_env(**settings) for _ in range(rows)]
    rng = np.random.default_rng(3)
    observations, infos = envs.reset(seed=7)
    masks = infos["action_mask"]
    for row, single in enumerate(singles):
        seen, info = single.reset(seed=7 + row)
        assert seen.tobytes() == observations[row].tobytes()
        assert info["seat"] == infos["seat"][row]
    for _ in range(30):
        actions = np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        masks = infos["action_mask"]
        for row, single in enumerate(singles):
            seen, reward, *over, _ = single.step(actions[row])
            assert reward == pytest.approx(rewards[row])
            assert over == [terminated[row], truncated[row]]
            if any(over):
                seen, _ = single.reset()
            assert seen.tobytes() == observations[row].tobytes()


@pytest.mark.parametrize("table", ["poque", "poangpoker", "pokex"])
def test_a_learner_sits_elsewhere_than_it_is_told(table: str) -> None:
    env = gymnasium.make(names(table)[1], seat=1)
    envs = gymnasium.make_vec(names(table)[1], num_envs=2, seat=1)
    _, info = env.reset(seed=1)
    seen, infos = envs.reset(seed=1)
    assert info["seat"] == 1
    assert infos["seat"].tolist() == [1, 1]
    assert seen.shape == (2, *env.observation_space.shape)
    assert env.unwrapped.aec.match == "deal"


def test_importing_the_package_registers_nothing() -> None:
    said = run_python(
        "-c",
        "import gymnasium, pettingzoo, poke_env\n"
        "for game in ('pokex', 'poque', 'poangpoker'):\n"
        "    print(pettingzoo.make('aec', f'sackson/{game}-v0').unwrapped.metadata['name'])\n"
        "    print(gymnasium.make(f'sackson/{game.capitalize()}-v0').spec.id)",
    )
    assert said.split() == [
        "pokex_v0", "sackson/Pokex-v0", "poque_v0", "sackson/Poque-v0",
        "poangpoker_v0", "sackson/Poangpoker-v0",
    ]  # fmt: skip


def test_a_door_leads_to_another_game() -> None:
    assert poke_env.door("poque").raw_env.game.name == "poque"
    assert poke_env.door(poke_env.door("pokex").raw_env.game).__name__ == "poke_env.pokex_v0"
    with pytest.raises(ValueError, match="game must be one of 'poke', 'pokex'"):
        poke_env.door("bridge")
