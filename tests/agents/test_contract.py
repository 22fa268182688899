"""What every player promises: one call, legal choices, and nothing but what it was given."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numba
import numpy as np
import pytest

import agents
import poke_env
from agents.human import HumanAgent
from helpers import HOUSE_RULES, TABLES, run_python, turns
from poke_env import poke_v0
from poke_env.agent import Agent
from poke_env.games.poke import PRESETS

STATES = 12 if numba.config.DISABLE_JIT else 200

RULES = {
    **PRESETS,
    "house": HOUSE_RULES,
    "four cards": poke_v0.Rules(
        hand_size=4, max_discard=4, suits=3, non_dealer_draws=3, non_dealer_values=(1, 2, 4, 8)
    ),
    "three of the full pack": poke_v0.Rules(hand_size=3, must_beat=False),
    "two suits": poke_v0.Rules(suits=2, max_discard=5, target=100, dealer_values=(3, 0, 64, 5)),
    "one suit": poke_v0.Rules(
        suits=1, non_dealer_draws=0, non_dealer_values=(1,), dealer_draws=1, dealer_values=(1, 1)
    ),
    "two of the smallest pack": poke_v0.Rules(ranks=4, suits=1, hand_size=2, max_discard=2),
}


@cache
def states(rules: str) -> tuple[Any, Any]:
    """Observations (STATES, F) and masks (STATES, A) from random play."""
    return some_states(poke_v0.raw_env(match="rubber", rules=RULES[rules]), STATES)


def some_states(env: Any, number: int) -> tuple[Any, Any]:
    """Observations (number, F) and masks (number, A) of those to move in matches at random."""
    rng = np.random.default_rng(11)
    seen: list[dict[str, Any]] = []
    env.reset(seed=5)
    while len(seen) < number:
        for turn in turns(env, rng):
            observed = turn.observe(turn.agent_selection)
            if observed["action_mask"].any() and rng.random() < 0.5:
                seen.append(observed)
        env.reset()
    del seen[number:]
    return (
        np.stack([observed["observation"] for observed in seen]),
        np.stack([observed["action_mask"] for observed in seen]),
    )


def some_keys(count: int, seed: int = 3) -> Any:
    return np.random.default_rng(seed).integers(0, 2**64, count, np.uint64)


@pytest.fixture(params=[*agents.names(), "human"])
def agent(request: pytest.FixtureRequest) -> Agent:
    if request.param == "human":
        return AnyLegalPerson()
    return agents.make(request.param, seed=7)


class AnyLegalPerson(HumanAgent):
    """Names slots until it is right."""

    def __init__(self) -> None:
        self.tries = 0
        super().__init__(ask=self.answer)

    def answer(self, prompt: str) -> str:
        self.tries = (self.tries + 1) % 32
        return " ".join(str(slot + 1) for slot in range(5) if self.tries >> slot & 1) or "pat"


@pytest.mark.parametrize("rules", RULES)
def test_one_signature_and_legal_choices(agent: Agent, rules: str) -> None:
    observations, masks = states(rules)
    before = observations.copy(), masks.copy()
    for observation, mask, key in zip(observations, masks, some_keys(STATES), strict=True):
        action = agent.act({"observation": observation, "action_mask": mask}, key)
        assert type(action) is int
        assert mask[action] == 1
    assert isinstance(agent, Agent)
    assert np.array_equal(observations, before[0])
    assert np.array_equal(masks, before[1])


def test_players_of_a_table_break_the_signature(table: str) -> None:
    """Every registered player of the game: legal integers, by keys alone, nothing written into."""
    game, settings = TABLES[table]
    env = poke_env.door(game).raw_env(**settings)
    observations, masks = some_states(env, 40)
    before, keys = (observations.copy(), masks.copy()), some_keys(40)
    for name in agents.names(game):
        player, other = agents.make(name, 1, game=game), agents.make(name, 2, game=game)
        assert isinstance(player, Agent)
        together = player.act_batch(observations, masks, keys)
        assert together.dtype == np.int64
        for row, key in enumerate(keys):
            given = {"observation": observations[row], "action_mask": masks[row]}
            action = other.act(given, key)
            assert type(action) is int
            assert masks[row, action] == 1
            assert action == together[row]
        with pytest.raises(ValueError, match="action_mask allows no action"):
            player.act({"observation": observations[0], "action_mask": 0 * masks[0]})
    assert np.array_equal(observations, before[0])
    assert np.array_equal(masks, before[1])


@pytest.mark.parametrize("rules", ["standard", "tiny"])
@pytest.mark.parametrize("name", agents.names())
def test_a_key_decides_whatever_the_batch(name: str, rules: str) -> None:
    observations, masks = states(rules)
    keys = some_keys(STATES)
    together = agents.make(name, seed=1).act_batch(observations, masks, keys)
    assert together.shape == (STATES,)
    assert together.dtype == np.int64
    other = agents.make(name, seed=2)
    order = np.random.default_rng(0).permutation(STATES)
    shuffled = other.act_batch(observations[order], masks[order], keys[order])
    assert np.array_equal(together[order], shuffled)
    alone = [
        other.act({"observation": observation, "action_mask": mask}, key)
        for observation, mask, key in zip(observations, masks, keys, strict=True)
    ]
    assert together.tolist() == alone


@pytest.mark.parametrize("name", agents.names())
def test_a_seed_decides_where_no_keys_are_given(name: str) -> None:
    observations, masks = states("standard")
    first, second = agents.make(name, seed=4), agents.make(name, seed=4)
    choices = first.act_batch(observations, masks)
    assert np.array_equal(choices, second.act_batch(observations, masks))
    second.reset(seed=4)
    assert np.array_equal(choices, second.act_batch(observations, masks))


def test_seeds_differ() -> None:
    observations, masks = states("standard")
    choices = [agents.make("random", seed=seed).act_batch(observations, masks) for seed in (1, 2)]
    assert not np.array_equal(*choices)


def test_an_empty_mask_is_refused(agent: Agent) -> None:
    observations, masks = states("standard")
    masks = masks[:4].copy()
    masks[2] = 0
    with pytest.raises(ValueError, match="action_mask allows no action"):
        agent.act({"observation": observations[2], "action_mask": masks[2]})
    with pytest.raises(ValueError, match="action_mask allows no action"):
        agent.act_batch(observations[:4], masks)


def test_random_is_uniform_over_the_legal_actions() -> None:
    _, masks = states("standard")
    mask = np.zeros_like(masks[0])
    legal = [1, 4, 9, 20, 31]
    mask[legal] = 1
    rows = np.broadcast_to(mask, (10_000, len(mask)))
    observations = np.zeros((10_000, 265), np.float32)
    chosen = agents.make("random").act_batch(observations, rows, some_keys(10_000))
    counts = np.bincount(chosen, minlength=len(mask))
    assert counts[legal].sum() == 10_000
    chi_square = ((counts[legal] - 2000) ** 2 / 2000).sum()
    assert chi_square < 18.47  # p > 0.001 with four degrees of freedom


PLAIN = """
import sys
import numpy as np
import agents
data = np.load(sys.argv[1])
for name in sys.argv[2:]:
    for rules in ("standard", "small"):
        rows = data[rules], data[rules + "_masks"], data["keys"]
        print(name, *agents.make(name).act_batch(*rows))
"""


SOLVED = ("equilibrium_search", "equilibrium", "equilibrium_fixed")
"""Players whose tables of hands take plain Python a minute."""


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compares compiled with plain")
@pytest.mark.parametrize(
    "names",
    [
        [name for name in agents.names() if name not in SOLVED],
        pytest.param(SOLVED, marks=pytest.mark.slow),
    ],
    ids=["rules of thumb and search", "solved draws"],
)
def test_compiled_and_plain_choose_alike(names: Sequence[str], tmp_path: Any) -> None:
    data = {"keys": some_keys(12)}
    for rules in ("standard", "small"):
        data[rules], data[rules + "_masks"] = (rows[:12] for rows in states(rules))
    np.savez(tmp_path / "states.npz", **data)
    call = ("-c", PLAIN, str(tmp_path / "states.npz"), *names)
    plain = run_python(*call, variables={"NUMBA_DISABLE_JIT": "1"})
    assert plain.count("\n") == 2 * len(names)
    assert run_python(*call) == plain
