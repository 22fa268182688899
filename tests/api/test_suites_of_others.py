"""The checks that PettingZoo, Gymnasium and Stable-Baselines3 offer, with warnings as errors."""

from __future__ import annotations

import random
import warnings
from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pettingzoo
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env, data_equivalence
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils.random_demo import random_demo

import poke_env
from helpers import CONFIGURATIONS, HOUSE_RULES, ROOT, TABLES, Make, name_of, run_python
from poke_env import poke_v0

DOORS = {"raw_env": poke_v0.raw_env, "env": poke_v0.env}
ALL = [
    *CONFIGURATIONS,
    {"match": "rubber", "reward": "points", "rules": HOUSE_RULES, "max_deals": 3},
]
every_configuration = pytest.mark.parametrize(
    "settings", ALL, ids=[*map(name_of, CONFIGURATIONS), "house"]
)
every_door = pytest.mark.parametrize("door", DOORS)


def unknown_dict_observations() -> None:
    """Excuse what `api_test` says of every dict observation whose environment it does not know."""
    warnings.filterwarnings("ignore", "Observation is not a NumPy array", UserWarning)
    warnings.filterwarnings(
        "ignore", "Observation space for each agent probably should be", UserWarning
    )


@every_door
@every_configuration
def test_pettingzoos_api_test_fails(door: str, settings: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unknown_dict_observations()
        api_test(DOORS[door](**settings), num_cycles=300)


def test_pettingzoos_api_test_fails_for_the_registered_name() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unknown_dict_observations()
        api_test(pettingzoo.make("aec", "sackson/poke-v0"), num_cycles=300)


def test_excused_warnings_are_no_longer_raised() -> None:
    """The two excuses above are needed; if this fails, take them away."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        api_test(poke_v0.env(), num_cycles=50)
    said = {str(warning.message) for warning in caught}
    assert len(said) == 2
    assert all("Observation" in text for text in said)


def test_pettingzoos_tests_fail_at_a_table(sit: Make, table: str) -> None:
    game = TABLES[table][0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unknown_dict_observations()
        api_test(sit(), num_cycles=100)
        api_test(pettingzoo.make("aec", f"sackson/{game}-v0"), num_cycles=50)
        seed_test(sit, num_cycles=20)
        random.seed(0)
        random_demo(sit(), render=False, episodes=1)


@every_door
@every_configuration
def test_pettingzoos_seed_test_fails(door: str, settings: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        seed_test(partial(DOORS[door], **settings), num_cycles=30)


@every_door
@every_configuration
def test_helper_that_plays_at_random_finds_no_mask(
    door: str, settings: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """`random_demo` looks for `action_mask` inside the observation; no illegal move is made."""
    random.seed(0)
    env = DOORS[door](**settings)
    illegal = []
    step = env.step

    def watched(action: Any) -> None:
        step(action)
        illegal.extend(info for info in env.infos.values() if "illegal_action" in info)

    env.step = watched
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        total = random_demo(env, render=False, episodes=3)
    assert not illegal
    assert total == pytest.approx(0)  # zero-sum
    assert "Average total reward" in capsys.readouterr().out


# --- the environment of one learner ---------------------------------------------------------------


def learner(**settings: Any) -> Any:
    return gymnasium.make("sackson/Poke-v0", **settings)


@every_configuration
def test_gymnasiums_check_fails(settings: dict[str, Any]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(learner(**settings).unwrapped, skip_render_check=True)
        check_env(poke_v0.single_env(**settings), skip_render_check=True)


def test_checks_of_learners_fail_at_a_table(table: str) -> None:
    game, settings = TABLES[table]
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env = gymnasium.make(f"sackson/{game.capitalize()}-v0", **settings)
        check_env(env.unwrapped, skip_render_check=True)
        checker.check_env(env, warn=True, skip_render_check=True)


def test_masks_of_a_table_are_hidden_by_wrappers(table: str) -> None:
    game, settings = TABLES[table]
    made = gymnasium.make(f"sackson/{game.capitalize()}-v0", **settings)
    env = gymnasium.wrappers.TimeLimit(made, max_episode_steps=10_000)
    env.reset(seed=0)
    mask = env.get_wrapper_attr("action_masks")()
    assert mask.dtype == bool
    assert mask.shape == (env.action_space.n,)
    assert mask.any()


@every_configuration
def test_stable_baselines_check_fails(settings: dict[str, Any]) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checker.check_env(learner(**settings), warn=True, skip_render_check=True)


def test_registered_learner_is_something_else() -> None:
    env = learner()
    assert isinstance(env.unwrapped, poke_v0.single_env)
    assert env.unwrapped.seat == "random"
    assert env.unwrapped.aec.match == "deal"
    assert isinstance(env.observation_space, spaces.Box)
    assert env.observation_space.dtype == np.float32
    assert env.action_space == spaces.Discrete(32)
    assert learner(match="rubber", seat=1, rules="tiny").action_space == spaces.Discrete(4)
    observation, info = env.reset(seed=0)
    assert observation.dtype == np.float32
    assert isinstance(info, dict)
    env.close()
    env.close()


def test_masks_are_hidden_by_wrappers() -> None:
    monitor = pytest.importorskip("stable_baselines3.common.monitor")
    masking = pytest.importorskip("sb3_contrib.common.maskable.utils")
    env = monitor.Monitor(gymnasium.wrappers.TimeLimit(learner(), max_episode_steps=100))
    env.reset(seed=0)
    mask = env.get_wrapper_attr("action_masks")()
    assert mask.dtype == bool
    assert mask.shape == (32,)
    assert mask.any()
    assert masking.is_masking_supported(env)
    assert np.array_equal(masking.get_action_masks(env), mask)


def test_masked_learner_of_stable_baselines_cannot_train() -> None:
    monitor = pytest.importorskip("stable_baselines3.common.monitor")
    contrib = pytest.importorskip("sb3_contrib")
    env = monitor.Monitor(gymnasium.wrappers.TimeLimit(learner(), max_episode_steps=100))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = contrib.MaskablePPO("MlpPolicy", env, n_steps=128, batch_size=64, seed=0)
        model.learn(256)
    assert model.num_timesteps == 256
    assert min(env.get_episode_rewards()) > -10_000
    assert len(env.get_episode_rewards()) > 20


@pytest.mark.parametrize("match, key", [("deal", False), ("rubber", True)])
def test_cut_match_is_learned_from_as_if_it_had_ended(match: str, key: bool) -> None:
    """A cap truncates; SB3 then sees `TimeLimit.truncated` and the last observation."""
    vec = pytest.importorskip("stable_baselines3.common.vec_env")
    envs = vec.DummyVecEnv([lambda: learner(match=match, max_deals=1, seat=0)])
    envs.seed(0)
    envs.reset()
    rng = np.random.default_rng(0)
    ends = 0
    while ends < 10:
        mask = envs.env_method("action_masks")[0]
        observations, _, dones, infos = envs.step(np.array([rng.choice(mask.nonzero()[0])]))
        if dones[0]:
            ends += 1
            assert infos[0]["TimeLimit.truncated"] is key
            last = infos[0]["terminal_observation"]
            assert poke_v0.decode(last)["phase"] == "over"
            assert poke_v0.decode(observations[0])["phase"] != "over"
            assert not data_equivalence(last, observations[0])


# --- what the package brings with it --------------------------------------------------------------


def test_import_brings_heavy_or_dead_libraries() -> None:
    """Also the old `gym`, which does not mix with `gymnasium`."""
    unwanted = ["gym", "torch", "stable_baselines3", "pygame", "pyspiel", "matplotlib", "PIL"]
    found = run_python(
        "-c",
        "import sys, poke_env\n"
        "from poke_env import poke_v0\n"
        "env = poke_v0.env()\n"
        f"print(sorted(set({unwanted!r}) & set(sys.modules)))",
    )
    assert found.strip() == "[]"


def test_learner_has_spaces_of_the_old_gym() -> None:
    sb3 = pytest.importorskip("stable_baselines3.common.base_class")
    assert type(learner().action_space).__module__.startswith("gymnasium.")
    assert sb3.spaces is spaces


def test_import_registers_nothing() -> None:
    said = run_python(
        "-c",
        "import gymnasium, pettingzoo, poke_env\n"
        "print(pettingzoo.make('aec', 'sackson/poke-v0').unwrapped.metadata['name'])\n"
        "print(gymnasium.make('sackson/Poke-v0').spec.id)",
    )
    assert said.split() == ["poke_v0", "sackson/Poke-v0"]
    assert poke_env.__version__


def test_numpys_removed_names_are_used() -> None:
    """`np.bool8`, `np.float_` and their like went away with NumPy 2."""
    removed = ("np.bool8", "np.float_", "np.int0", "np.product", "np.in1d", "np.cast[")
    for path in sorted((ROOT / "poke_env").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for name in removed:
            assert name not in text, f"{path.name} uses {name}"
