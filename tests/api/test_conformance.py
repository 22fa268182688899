"""The conformance checks pass on every configuration of ours and fail on broken environments."""

import gymnasium
import numpy as np
import pytest

import poke_env
from helpers import TABLES
from poke_env import poke_v0, testing
from poke_env.testing import ConformanceError

CONFIGURATIONS = [
    {"match": "deal"},
    {"match": "deal", "rules": "tiny", "reward": "win"},
    {"match": "deal", "rules": "small", "below_value": 7.0, "reward_scale": 0.01},
    {"match": "game", "rules": "small"},
    {"match": "game", "reward": "win", "reward_scale": 0.5},
    {"match": "rubber"},
    {"match": "rubber", "rules": "tiny", "reward": "win"},
    {"match": "rubber", "rules": "small", "max_deals": 3},
    {
        "match": "deal",
        "reward": "equity",
        "start_scores": [{"below": (15, 3), "dealer": 1}, {"games": (1, 1)}],
    },
    {"match": "rubber", "reward": "equity", "max_deals": 5, "reward_scale": 0.01},
    {
        "match": "deal",
        "rules": poke_v0.Rules(
            must_beat=False,
            reveal_discards=True,
            follow_set_if_held=True,
            trick_unit="lead",
            poker_tie="both",
        ),
    },
]


@pytest.mark.parametrize("settings", CONFIGURATIONS, ids=str)
@pytest.mark.parametrize("make", [poke_v0.env, poke_v0.raw_env], ids=["env", "raw_env"])
def test_own_environment_breaks_a_promise(make, settings):
    testing.check(make(**settings), matches=3, seed=5)


def test_table_breaks_a_promise(table):
    game, settings = TABLES[table]
    door = poke_env.door(game)
    for make in (door.env, door.raw_env, door.single_env):
        testing.check(make(**settings), matches=2, seed=5)


def test_learner_who_is_never_asked_breaks_a_promise():
    """In Poque passes are forced and cards play themselves, so that a deal may end before that."""
    env = poke_env.door("poque").single_env(match="deal", players=8)
    env.reset(seed=1)
    asked = [env.reset()[1]["action_mask"].any() for _ in range(40)]
    assert 0 < sum(asked) < len(asked)
    testing.check(env, matches=40, seed=1)


@pytest.mark.parametrize("settings", CONFIGURATIONS[::3], ids=str)
def test_learner_environment_breaks_a_promise(settings):
    env = gymnasium.make("sackson/Poke-v0", disable_env_checker=True, **settings)
    testing.check(env, matches=3, seed=5)


class ShowsOpponent(poke_v0.raw_env):
    """Lets the first number of every observation tell a card of the other hand."""

    def observe(self, agent):
        observed = super().observe(agent)
        other = 1 - self.possible_agents.index(agent)
        observed["observation"][0] = float(self.record["hand"][other, 0] % 2)
        return observed


class MasksTooMuch(poke_v0.raw_env):
    """Hides one legal action from the mask that players get."""

    def observe(self, agent):
        observed = super().observe(agent)
        legal = np.flatnonzero(observed["action_mask"])
        if len(legal) > 1:
            observed["action_mask"][legal[-1]] = 0
        return observed


class PaysTwice(poke_v0.raw_env):
    """Pays the first player double."""

    def _pay(self, rewards):
        super()._pay([2 * rewards[0], rewards[1]])


class PaysEarly(poke_v0.raw_env):
    """Pays the first player a point within a deal, and takes it back when the deal ends."""

    owed = 0

    def step(self, action):
        super().step(action)
        if not self._paid and not self.owed:
            self._pay([1.0, -1.0])
            self.owed = 1

    def _pay(self, rewards):
        super()._pay([rewards[0] - self.owed, rewards[1] + self.owed])
        self.owed = 0


class Forgets(poke_v0.raw_env):
    """Clones begin a match of their own."""

    def clone(self):
        twin = super().clone()
        if "agents" in twin.__dict__ and self.record["trick_count"] > 0:
            twin.reset()
        return twin


class LeavesSpace(poke_v0.raw_env):
    """Writes a number beyond the bounds of the space."""

    def observe(self, agent):
        observed = super().observe(agent)
        observed["observation"][-1] = 9.0
        return observed


@pytest.mark.parametrize(
    "broken, check, message",
    [
        (ShowsOpponent, testing.check_hidden_cards_do_not_show, "hidden cards show"),
        (MasksTooMuch, testing.check_mask_is_legality, "is masked but accepted"),
        (PaysTwice, testing.check_rewards_match_score_sheet, "adds up to"),
        (PaysEarly, testing.check_rewards_match_score_sheet, "paid too early"),
        (Forgets, testing.check_clone_fidelity, "copy"),
        (LeavesSpace, testing.check_observation_in_space, "outside its space"),
    ],
)
def test_broken_environment_passes_its_check(broken, check, message):
    with pytest.raises(ConformanceError, match=message):
        check(broken(match="deal"), matches=10, seed=1)


def test_foreign_environment_is_refused():
    with pytest.raises(ValueError, match="env must be an environment of poke_env"):
        testing.check(gymnasium.make("CartPole-v1"))
