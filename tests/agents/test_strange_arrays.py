"""Compiled players do not look where they read: arrays of a wrong shape must not reach them."""

import numpy as np
import pytest

import agents
from poke_env import poke_v0
from poke_env.agent import as_agent


@pytest.fixture(scope="module")
def rows():
    env = poke_v0.raw_env()
    env.reset(seed=1)
    observed = env.observe(env.agent_selection)
    observations = np.stack([observed["observation"]] * 3)
    return observations, np.stack([observed["action_mask"]] * 3), np.arange(3, dtype=np.uint64)


@pytest.mark.parametrize("name", agents.names())
@pytest.mark.parametrize(
    "cut, message",
    [
        (lambda o, m, k: (o, m, k[:1]), r"keys must have shape \(3,\)"),
        (lambda o, m, k: (o[:1], m, k), "must have shapes"),
        (lambda o, m, k: (o[0], m[0], k), "must have shapes"),
        (lambda o, m, k: (o, m, [0.5, 1, 2]), "key must be an integer"),
        (lambda o, m, k: (o, m, [-1, 1, 2]), "key must be an integer"),
        (lambda o, m, k: (o, m, [2**64, 1, 2]), "key must be an integer"),
    ],
)
def test_memory_beyond_the_arrays_is_read(name, cut, message, rows):
    with pytest.raises(ValueError, match=message):
        agents.make(name).act_batch(*cut(*rows))


@pytest.mark.parametrize("name", ["greedy", "heuristic", "never_double", "always_double"])
def test_arrays_of_another_game_are_read(name, rows):
    observations, masks, keys = rows
    with pytest.raises(ValueError, match="observations must have 265 numbers"):
        agents.make(name).act_batch(observations[:, :10], masks, keys)
    with pytest.raises(ValueError, match="actions for"):
        agents.make(name).act_batch(observations, np.ones((3, 64), np.int8), keys)


@pytest.mark.parametrize("name", agents.names())
def test_layout_of_arrays_changes_the_choice(name, rows):
    observations, masks, keys = rows
    player = agents.make(name)
    chosen = player.act_batch(observations, masks, keys)
    wide = np.asfortranarray(np.repeat(observations, 2, axis=1))[:, ::2]
    frozen = masks.copy()
    frozen.flags.writeable = False
    assert np.array_equal(player.act_batch(wide, frozen, keys.tolist()), chosen)


def test_player_with_only_act_cannot_play(rows):
    class First:
        def act(self, observation, key=None):
            return int(np.argmax(observation["action_mask"]))

    player = as_agent(First())
    player.reset(3)
    assert player.act_batch(*rows).tolist() == [0, 0, 0]


@pytest.mark.parametrize("player", [None, 3, object(), dict])
def test_something_without_act_is_taken_for_a_player(player):
    with pytest.raises(ValueError, match="a player must have act"):
        as_agent(player)
