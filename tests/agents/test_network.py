"""The player `network`: files in, choices out, whatever the batch."""

from __future__ import annotations

import copy
import hashlib
import json
import os
import pickle
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors.numpy

import agents
from agents.network import Network, NetworkAgent, describe
from poke_env import poke_v0

GAME = poke_v0.raw_env.game
SIZE = 265
ACTIONS = 32
ROWS = 150


def random_network(
    hidden: tuple[int, ...] = (48, 40), activation: str = "relu", actions: int = ACTIONS
) -> Network:
    chance = np.random.default_rng(5)
    layers = (SIZE, *hidden, actions)
    tensors = {}
    for layer, (wide, narrow) in enumerate(pairwise(layers)):
        scale = 2.0 / np.sqrt(wide)
        tensors[f"layers.{layer}.weight"] = chance.normal(0, scale, (narrow, wide))
        tensors[f"layers.{layer}.bias"] = chance.normal(0, 0.2, narrow)
    return Network.from_tensors(
        {name: values.astype(np.float32) for name, values in tensors.items()}, activation
    )


def constant_network(logits: dict[int, float], others: float = -3.0) -> Network:
    """Gives the same logits for every observation."""
    biases = np.full(ACTIONS, others, np.float32)
    for action, logit in logits.items():
        biases[action] = logit
    weights = np.zeros((ACTIONS, SIZE), np.float32)
    return Network.from_tensors({"layers.0.weight": weights, "layers.0.bias": biases}, "relu")


def save(path: Path, network: Network, **changes: Any) -> Path:
    content = safetensors.numpy.save(network.tensors())
    rules = GAME.presets["standard"]
    description = describe(GAME, rules, network, content, deterministic=False)
    path.write_bytes(content)
    path.with_suffix(".json").write_text(json.dumps({**description, **changes}))
    return path


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return save(tmp_path / "model.safetensors", random_network())


@pytest.fixture(scope="module")
def seen() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Observations, masks and keys of positions from real play."""
    env = poke_v0.raw_env(match="game")
    chance = np.random.default_rng(1)
    observations, masks = [], []
    env.reset(seed=3)
    while len(masks) < ROWS:
        if not env.agents or env.terminations[env.agent_selection]:
            env.reset()
        observed = env.observe(env.agent_selection)
        observations.append(observed["observation"])
        masks.append(observed["action_mask"])
        env.step(int(chance.choice(np.flatnonzero(observed["action_mask"]))))
    keys = chance.integers(0, 2**64, ROWS, np.uint64)
    return np.stack(observations), np.stack(masks), keys


def expected(network: Network, observations: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """The policy by matrix products in float64."""
    tensors = network.tensors()
    values = observations.astype(np.float64)
    last = len(tensors) // 2 - 1
    for layer in range(last + 1):
        weight, bias = tensors[f"layers.{layer}.weight"], tensors[f"layers.{layer}.bias"]
        values = values @ weight.T.astype(np.float64) + bias
        if layer < last:
            values = np.maximum(values, 0) if network.activation == "relu" else np.tanh(values)
    values = np.where(masks > 0, values, -np.inf)
    chances = np.exp(values - values.max(axis=1, keepdims=True))
    return chances / chances.sum(axis=1, keepdims=True)


# --- choices --------------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("hidden", [(), (7,), (48, 40)])
def test_probabilities_are_those_of_the_layers(seen, hidden, activation):
    network = random_network(hidden, activation)
    observations, masks, _ = seen
    found = NetworkAgent(network).probabilities(observations, masks)
    np.testing.assert_allclose(found, expected(network, observations, masks), atol=1e-5)
    assert (found[masks == 0] == 0).all()


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_no_result_depends_on_the_batch(seen, activation, deterministic):
    observations, masks, keys = seen
    agent = NetworkAgent(random_network(activation=activation), deterministic=deterministic)
    actions = agent.act_batch(observations, masks, keys)
    chances = agent.probabilities(observations, masks)
    for size in (1, 2, 7, 64):
        for at in range(0, ROWS, size):
            part = slice(at, at + size)
            found = agent.act_batch(observations[part], masks[part], keys[part])
            assert (found == actions[part]).all()
            same = agent.probabilities(observations[part], masks[part]) == chances[part]
            assert same.all(), "not the same to the last bit"
    for row in range(ROWS):
        observed = {"observation": observations[row], "action_mask": masks[row]}
        assert agent.act(observed, keys[row]) == actions[row]
    order = np.random.default_rng(0).permutation(ROWS)
    assert (agent.act_batch(observations[order], masks[order], keys[order]) == actions[order]).all()


def test_all_choices_are_legal_and_the_mode_is_the_likeliest(seen):
    observations, masks, keys = seen
    agent = NetworkAgent(random_network())
    sampled = agent.act_batch(observations, masks, keys)
    assert masks[np.arange(ROWS), sampled].all()
    chances = agent.probabilities(observations, masks)
    likeliest = NetworkAgent(agent.network, deterministic=True).act_batch(observations, masks)
    assert (likeliest == chances.argmax(axis=1)).all()
    assert (sampled != likeliest).any()


def test_sampled_and_deterministic_play_of_a_60_40_policy():
    network = constant_network({4: np.log(0.6), 9: np.log(0.4), 2: 50.0})
    mask = np.zeros((1000, ACTIONS), np.int8)
    mask[:, [4, 9]] = 1
    observations = np.zeros((1000, SIZE), np.float32)
    sampled = NetworkAgent(network, seed=0).act_batch(observations, mask)
    assert set(sampled) == {4, 9}
    assert abs((sampled == 4).mean() - 0.6) <= 0.05
    assert (NetworkAgent(network, deterministic=True).act_batch(observations, mask) == 4).all()


def test_of_equal_logits_the_lowest_legal_action_is_taken():
    agent = NetworkAgent(constant_network({3: 1.0, 8: 1.0, 21: 1.0}), deterministic=True)
    mask = np.zeros(ACTIONS, np.int8)
    mask[[8, 21, 30]] = 1
    observed = {"observation": np.zeros(SIZE, np.float32), "action_mask": mask}
    assert agent.act(observed) == 8


def test_huge_logits_are_no_problem():
    agent = NetworkAgent(constant_network({0: 3e38, 1: -3e38, 2: 2.9e38}))
    mask = np.ones((1, ACTIONS), np.int8)
    chances = agent.probabilities(np.zeros((1, SIZE), np.float32), mask)
    assert chances[0, 0] == 1.0
    mask[0, [0, 2]] = 0
    assert np.isfinite(agent.probabilities(np.zeros((1, SIZE), np.float32), mask)).all()


def test_chance_comes_from_the_key_or_from_the_own_seed(seen):
    observations, masks, keys = seen
    network = random_network()
    one, other = NetworkAgent(network, seed=1), NetworkAgent(network, seed=2)
    assert (
        one.act_batch(observations, masks, keys) == other.act_batch(observations, masks, keys)
    ).all()
    first = one.act_batch(observations, masks)
    assert (first != other.act_batch(observations, masks)).any()
    one.reset(1)
    assert (one.act_batch(observations, masks) == first).all()


def test_what_is_given_stays_as_it_is(seen):
    observations, masks, keys = (array.copy() for array in seen)
    agent = NetworkAgent(random_network())
    expected_actions = agent.act_batch(observations, masks, keys)
    for array, original in zip((observations, masks, keys), seen, strict=True):
        assert (array == original).all()
        array.flags.writeable = False
    assert (agent.act_batch(observations, masks, keys) == expected_actions).all()
    as_bool = agent.act_batch(observations.astype(np.float64), masks.astype(bool), keys)
    assert (as_bool == expected_actions).all()


def test_copies_share_the_weights_and_a_network_never_changes():
    agent = NetworkAgent(random_network())
    assert copy.deepcopy(agent).network is agent.network
    again = pickle.loads(pickle.dumps(agent.network))
    for network in (agent.network, again):
        with pytest.raises(ValueError, match="read-only"):
            network.parameters[0] = 1.0
    assert (again.parameters == agent.network.parameters).all()


def test_an_action_without_a_legal_choice_or_a_mask_raises(seen):
    observations, masks, _ = seen
    agent = NetworkAgent(random_network())
    with pytest.raises(ValueError, match="allows no action"):
        agent.act({"observation": observations[0], "action_mask": np.zeros(ACTIONS, np.int8)})
    blocked = masks.copy()
    blocked[[1, 4]] = 0
    with pytest.raises(ValueError, match=r"\[1, 4\]"):
        agent.act_batch(observations, blocked)
    with pytest.raises((KeyError, ValueError), match="action_mask"):
        agent.act({"observation": observations[0]})


def test_an_observation_that_is_no_number_raises(seen):
    observations, masks, _ = seen
    broken = observations.copy()
    broken[2] = np.nan
    with pytest.raises(ValueError, match=r"rows \[2\]"):
        NetworkAgent(random_network()).act_batch(broken, masks)


def test_another_game_at_the_table_raises():
    agent = NetworkAgent(random_network())
    env = poke_v0.raw_env(rules="small")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"32,\) actions for NetworkAgent, got 8"):
        agent.act(env.observe(env.agent_selection))


def test_a_thousand_decisions_in_matches_are_legal(model):
    agent = agents.load(str(model))
    env = poke_v0.raw_env(match="deal")
    env.reset(seed=0)
    for _ in range(1000):
        env.step(agent.act(env.observe(env.agent_selection)))  # an illegal one would raise
        if env.terminations[env.agent_selection]:
            env.reset()


# --- files ----------------------------------------------------------------------------------------


def test_a_file_gives_the_network_that_was_saved(model, seen):
    observations, masks, keys = seen
    agent = agents.load(str(model))
    assert isinstance(agent, NetworkAgent)
    assert agent.rules == GAME.presets["standard"]
    assert not agent.deterministic
    same = NetworkAgent(random_network()).act_batch(observations, masks, keys)
    assert (agent.act_batch(observations, masks, keys) == same).all()


def test_how_to_play_is_said_by_the_file_or_the_caller(tmp_path):
    path = save(tmp_path / "mode.safetensors", random_network(), deterministic=True)
    assert NetworkAgent(path).deterministic
    assert not NetworkAgent(path, deterministic=False).deterministic
    with pytest.raises(ValueError, match="deterministic must be"):
        NetworkAgent(path, deterministic="yes")  # type: ignore[arg-type]


def test_missing_files_are_named(model):
    with pytest.raises(ValueError, match=r"nothing\.safetensors' does not exist"):
        NetworkAgent(model.with_name("nothing.safetensors"))
    model.with_suffix(".json").unlink()
    with pytest.raises(ValueError, match=r"model\.json' does not exist"):
        NetworkAgent(model)


@pytest.mark.parametrize("name", ["model.zip", "model.pkl", "model.pt", "model"])
def test_files_that_may_run_code_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(pickle.dumps("harmless"))
    with pytest.raises(ValueError, match=r"NAME\.safetensors"):
        NetworkAgent(tmp_path / name)


def test_a_pickle_by_another_name_is_refused(model):
    model.write_bytes(pickle.dumps(print))
    with pytest.raises(ValueError, match="damaged or no safetensors"):
        NetworkAgent(model)


def test_damaged_weights_are_refused(model):
    whole = model.read_bytes()
    for content in (b"", whole[:100], whole[:-4]):
        model.write_bytes(content)
        with pytest.raises(ValueError, match="damaged or no safetensors"):
            NetworkAgent(model)
    model.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    with pytest.raises(ValueError, match="checksums differ"):
        NetworkAgent(model)


@pytest.mark.parametrize("text", ["", "{", "[1]", '"model"', "\udcff"])
def test_damaged_json_is_refused(model, text):
    model.with_suffix(".json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match="JSON"):
        NetworkAgent(model)


def test_every_field_is_needed(model):
    path = model.with_suffix(".json")
    description = json.loads(path.read_text())
    for field in description:
        path.write_text(json.dumps({k: v for k, v in description.items() if k != field}))
        with pytest.raises(ValueError, match=f"lacks the fields {field}"):
            NetworkAgent(model)
        path.write_text(json.dumps({**description, field: None}))
        with pytest.raises(ValueError, match=f"{field} has the wrong type, got None"):
            NetworkAgent(model)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "has format 2, this version reads format 1"),
        ({"game": "bridge"}, "plays 'bridge', it must play poke or"),
        ({"environment_version": 1}, "trained on poke_v1, the environment is poke_v0"),
        ({"rules": {"colour": 3}}, "unknown rules"),
        ({"rules": {"ranks": 99}}, "ranks must be an integer from 2 to 13"),
        ({"observation_length": 300}, "observation_length 300, the environment has 265"),
        ({"num_actions": 64}, "num_actions 64, the environment has 32"),
        ({"layers": [SIZE, 12, ACTIONS]}, "its JSON file says"),
        ({"activation": "swish"}, "activation must be 'relu' or 'tanh', got 'swish'"),
    ],
)
def test_models_of_something_else_are_refused_by_name(tmp_path, changes, message):
    path = save(tmp_path / "other.safetensors", random_network(), **changes)
    with pytest.raises(ValueError, match=message):
        NetworkAgent(path)


def test_weights_must_fit_the_environment(tmp_path):
    path = save(tmp_path / "narrow.safetensors", random_network(actions=8))
    with pytest.raises(ValueError, match="265 numbers and 32 actions"):
        NetworkAgent(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("layers.0.bias"), "tensors must be"),
        (lambda t: t.update(more=np.zeros(1, np.float32)), "tensors must be"),
        (lambda t: t.update({"layers.1.bias": np.zeros(3, np.float32)}), "do not fit"),
        (lambda t: t.update({"layers.1.bias": t["layers.1.bias"].astype(float)}), "do not fit"),
        (lambda t: t["layers.1.bias"].fill(np.nan), "finite"),
    ],
)
def test_wrong_tensors_are_refused(model, change, message):
    tensors = random_network().tensors()
    change(tensors)
    content = safetensors.numpy.save(tensors)
    model.write_bytes(content)
    path = model.with_suffix(".json")
    description = json.loads(path.read_text())
    description["weights_sha256"] = hashlib.sha256(content).hexdigest()
    path.write_text(json.dumps(description))
    with pytest.raises(ValueError, match=message):
        NetworkAgent(model)


# --- other processes ------------------------------------------------------------------------------

PLAY = """
import sys
import numpy as np
import agents
from poke_env import poke_v0

agent = agents.load(sys.argv[1])
env = poke_v0.raw_env(match="deal")
env.reset(seed=4)
played = []
while env.agents and not env.terminations[env.agent_selection]:
    played.append(agent.act(env.observe(env.agent_selection), np.uint64(len(played))))
    env.step(played[-1])
heavy = {"torch", "stable_baselines3", "sb3_contrib", "tensorboard"} & set(sys.modules)
assert not heavy, heavy
print(played)
"""


def test_a_model_plays_alike_in_fresh_processes_without_torch(tmp_path):
    path = save(tmp_path / "small.safetensors", random_network((6,)))
    printed = []
    for plain in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", PLAY, str(path)],
            capture_output=True,
            text=True,
            env={**os.environ, "NUMBA_DISABLE_JIT": plain, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert printed[0] == printed[1]
    assert len(json.loads(printed[0])) >= 4
