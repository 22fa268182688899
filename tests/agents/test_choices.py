"""No choice of a scripted player changes unnoticed.

Each player meets positions of seeded matches, against himself and against a random player by
turns. His choices stand here as a digest. A faster player must leave it as it is; where a choice is
meant to change, results published before no longer hold: the new digest, which the failing test
shows, comes with a line in the changelog.
"""

from __future__ import annotations

import hashlib
import itertools
from typing import Any

import numba
import numpy as np
import pytest

import agents
import poke_env
from helpers import RULES, is_over
from poke_env import poke_v0
from poke_env.agent import Agent

DIGESTS = {
    ("random", "standard"): "3b92b6e2d022f74d",
    ("random", "tiny"): "70ea6b86e3c592a6",
    ("random", "small"): "175036eeef3ea7ff",
    ("random", "house"): "b0855af488eb2677",
    ("greedy", "standard"): "884d60089247323e",
    ("greedy", "tiny"): "94f351eb4cb51a80",
    ("greedy", "small"): "fb64d7f9e468ba91",
    ("greedy", "house"): "113592323d2e8675",
    ("heuristic", "standard"): "a2a1cca22e0bfa4f",
    ("heuristic", "tiny"): "11f1e4201daa51bc",
    ("heuristic", "small"): "1aeff2cf9ceacd39",
    ("heuristic", "house"): "10c285709fd2e9c8",
    ("never_double", "standard"): "fa87fde359875cf1",
    ("never_double", "tiny"): "004ae14e8f0684a3",
    ("never_double", "small"): "5d2b8a6187017718",
    ("never_double", "house"): "b30291e7e5c23465",
    ("always_double", "standard"): "7535cddf7824b668",
    ("always_double", "tiny"): "9ccb8bbd05ffa0c8",
    ("always_double", "small"): "d4d571f38f045a50",
    ("always_double", "house"): "857fb46b5be9236d",
    ("pimc", "standard"): "845f13ab972c4151",
    ("pimc", "tiny"): "35a1838ccc9539d2",
    ("pimc", "small"): "1ac898227964d632",
    ("pimc", "house"): "291fdad70c052030",
    ("alphamu", "standard"): "c7cc9d0c310c0b5c",
    ("alphamu", "tiny"): "35a1838ccc9539d2",
    ("alphamu", "small"): "1ac898227964d632",
    ("alphamu", "house"): "20cf9fb49c2061cb",
    ("equilibrium_search", "standard"): "85852caa2e79a347",
    ("equilibrium", "standard"): "4f56d314d590da56",
    ("equilibrium_search", "tiny"): "35a1838ccc9539d2",
    ("equilibrium", "tiny"): "35a1838ccc9539d2",
    ("equilibrium_search", "small"): "1ac898227964d632",
    ("equilibrium", "small"): "1ac898227964d632",
    ("equilibrium_search", "house"): "ed09bd50d95ddcd4",
    ("equilibrium", "house"): "db8d6336e9f6fa4e",
    ("equilibrium_fixed", "standard"): "e3577f277a69cc36",
    ("equilibrium_fixed", "tiny"): "78767379e4d0bf40",
    ("equilibrium_fixed", "small"): "2ab7c1602598ac45",
    ("equilibrium_fixed", "house"): "038bf8ac0726543b",
    ("apprentice", "standard"): "3c364c0909bc45ee",
}


needs_many_choices = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs many choices")

DIGESTS_OF_COUSINS = {
    ("pokex", "random", "standard"): "c7cc7a5f0f5380b9",
    ("pokex", "random", "small"): "9ce280c53c588a8d",
    ("pokex", "greedy", "standard"): "d9424fc28992a668",
    ("pokex", "greedy", "small"): "f1732ba93b8e6a4c",
    ("pokex", "greedy", "wild"): "512e40cd1a3886df",
    ("pokex", "heuristic", "standard"): "324ae2ce83838b6a",
    ("pokex", "heuristic", "small"): "034917e8270dc484",
    ("pokex", "heuristic", "wild"): "3ba7396d7c2f8c30",
    ("pokex", "apprentice", "standard"): "41ccc14211ed8033",
    ("poque", "random", "standard"): "4724fdbab036bbfc",
    ("poque", "random", "small"): "9c6551a1ef94a59d",
    ("poque", "greedy", "standard"): "2aab1f8b11cf1e79",
    ("poque", "greedy", "small"): "992ef23fa4e7cbd5",
    ("poque", "heuristic", "standard"): "fa57c7c651037697",
    ("poque", "heuristic", "small"): "24a4e25114b343bb",
    ("poque", "apprentice", "standard"): "2d92da36f8edc0db",
    ("poangpoker", "random", "standard"): "6b9a502e974ee331",
    ("poangpoker", "random", "small"): "8f1f0718502daea3",
    ("poangpoker", "greedy", "standard"): "be2d8929b98e014a",
    ("poangpoker", "greedy", "small"): "743dcac05e56753e",
    ("poangpoker", "heuristic", "standard"): "5f0c71f142e359c4",
    ("poangpoker", "heuristic", "small"): "dd77a2d8dc1825c0",
    ("poangpoker", "apprentice", "standard"): "5941f819c1cee9c0",
}


def digest_of_choices(env: Any, player: Agent, anything: Agent, number: int) -> str:
    """Play matches one after another until the player has chosen so many times."""
    chance = np.random.default_rng(23)
    env.reset(seed=41)
    match = 0
    chosen: list[int] = []
    while len(chosen) < number:
        observed = env.observe(env.agent_selection)
        key = chance.integers(0, 2**64, dtype=np.uint64)
        if match % 2 == 0 or env.agent_selection == "player_0":
            chosen.append(player.act(observed, key))
            env.step(chosen[-1])
        else:
            env.step(anything.act(observed, key))
        if is_over(env):
            env.reset()
            match += 1
    return hashlib.sha256(bytes(chosen)).hexdigest()[:16]


@needs_many_choices
@pytest.mark.parametrize(
    "name, rules",
    [*itertools.product(agents.names(), RULES), ("apprentice", "standard")],
)
def test_choices_are_those_of_the_digest(name: str, rules: str) -> None:
    env = poke_v0.raw_env(match="rubber", rules=RULES[rules])
    player, anything = agents.make(name), agents.make("random")
    assert digest_of_choices(env, player, anything, 1500) == DIGESTS[name, rules]


@needs_many_choices
@pytest.mark.parametrize("game, name, rules", DIGESTS_OF_COUSINS)
def test_choices_of_cousins_are_those_of_the_digest(game: str, name: str, rules: str) -> None:
    env = poke_env.door(game).raw_env(rules=rules)
    player, anything = agents.make(name, game=game), agents.make("random", game=game)
    found = digest_of_choices(env, player, anything, 400)
    assert found == DIGESTS_OF_COUSINS[game, name, rules]


def test_player_of_a_cousin_has_no_digest() -> None:
    for game in ("pokex", "poque", "poangpoker"):
        for name in agents.names(game):
            assert (game, name, "standard") in DIGESTS_OF_COUSINS
