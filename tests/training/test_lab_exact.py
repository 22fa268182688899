"""Small deals solved exactly, against plain recursion over the environment."""

from __future__ import annotations

import io
import itertools

import numpy as np
import pytest
from rich.console import Console

import agents
from helpers import payoff
from poke_env import poke_v0
from poke_env.cards import hand_value
from poke_env.games.poke import PRESETS
from training.lab.exact import (
    PLAYERS,
    Exact,
    exploitability,
    first_decisions,
    guaranteed,
    policies,
    threshold_rules,
)
from training.lab.game_tree import best_answer, build_tree, nash_conv

TINY = PRESETS["tiny"]


@pytest.fixture(scope="module")
def tree():
    return build_tree(TINY)


@pytest.fixture(scope="module")
def found(tree):
    return policies(tree)


def beginnings():
    """The deal of every order of the pack that differs: hands as sets, the stock as it lies."""
    pack = TINY.pack()
    size = TINY.hand_size
    for own in itertools.combinations(pack, size):
        rest = [card for card in pack if card not in own]
        for other in itertools.combinations(rest, size):
            for stock in itertools.permutations(card for card in rest if card not in other):
                env = poke_v0.raw_env(match="deal", rules="tiny")
                env.reset(seed=0, options={"deck": [*own, *other, *stock], "dealer": 1})
                yield env


def uniform(seen):
    return seen["action_mask"] / seen["action_mask"].sum()


def policy_of(name):
    player = agents.make(name)

    def policy(seen):
        return np.eye(len(seen["action_mask"]))[player.act(seen, key=0)]

    return policy


def after(env, action):
    following = env.clone()
    following.step(int(action))
    return following


def best(positions, seat, policy):
    """What a best answer brings `seat` from positions that look alike to it, by recursion."""
    total = 0.0
    alike = {}
    waiting = list(positions)
    while waiting:
        env, weight = waiting.pop()
        if all(env.terminations.values()):
            total += weight * payoff(env) * (1 - 2 * seat)
            continue
        name = env.agent_selection
        seen = env.observe(name)
        if name == f"player_{seat}":
            alike.setdefault(seen["observation"].tobytes(), []).append((env, weight))
            continue
        chances = policy(seen)
        waiting += [(after(env, a), weight * chances[a]) for a in np.flatnonzero(chances)]
    for group in alike.values():
        name = f"player_{seat}"
        legal = np.flatnonzero(group[0][0].observe(name)["action_mask"])
        total += max(best([(after(env, a), w) for env, w in group], seat, policy) for a in legal)
    return total


@pytest.mark.parametrize("name", ["uniform random", "heuristic"])
def test_exploitability_of_two_independent_computations(tree, found, name):
    """Vectorised over sequences, and by recursion over the environment with every deck."""
    starts = list(beginnings())
    starts = [(env, 1 / len(starts)) for env in starts]
    policy = uniform if name == "uniform random" else policy_of(name)
    answers = [best(starts, seat, policy) for seat in (0, 1)]
    by_tree = exploitability(tree, found[name])
    assert by_tree["NashConv"] == pytest.approx(sum(answers), abs=1e-9)
    value = by_tree["value to the non-dealer"]
    assert by_tree["best non-dealer gains"] == pytest.approx(answers[0] - value, abs=1e-9)


def test_chances_of_all_ends_add_up_to_one(tree, found):
    for own, other in found.values():
        ends = tree.chances * own[tree.ends[:, 0]] * other[tree.ends[:, 1]]
        assert ends.sum() == pytest.approx(1)


def test_nobody_gains_against_the_equilibrium(tree, found):
    plans = found["equilibrium"]
    value = tree.value(plans)
    assert nash_conv(tree, plans) == pytest.approx(0, abs=1e-7)
    for name in ("uniform random", *PLAYERS):
        own, other = found[name]
        assert tree.value((own, plans[1])) <= value + 1e-7
        assert tree.value((plans[0], other)) >= value - 1e-7
        assert nash_conv(tree, found[name]) > 1


@pytest.mark.parametrize("name", ["equilibrium", "heuristic", "uniform random"])
def test_best_doubling_rule_is_the_best_by_brute_force(tree, found, name):
    """All rules that go by the strength of the hand are tried; some are thresholds."""
    other = found[name][1]
    side = tree.sides[0]
    numbers, hands = first_decisions(tree)
    strength = [int(hand_value(np.array(hand, np.int8), 2, True)) for hand in hands]
    kinds = sorted(set(strength))

    def value_of(doubling):
        allowed = np.ones(len(side.actions), bool)
        for number, strong in zip(numbers, strength, strict=True):
            stand, rest = side.first[number], slice(side.first[number] + 1, side.first[number + 1])
            allowed[rest if strong not in doubling else stand] = False
        return best_answer(tree, 0, other, allowed)[0]

    rules = threshold_rules(tree, other)
    by_force = [value_of(kinds[:count]) for count in range(len(kinds) + 1)]
    assert [rule.value for rule in rules] == pytest.approx(by_force, abs=1e-9)
    every = [
        value_of(chosen)
        for count in range(len(kinds) + 1)
        for chosen in itertools.combinations(kinds, count)
    ]
    assert max(every) == pytest.approx(best_answer(tree, 0, other)[0], abs=1e-9)
    assert max(every) >= max(by_force) - 1e-9


def test_what_a_doubling_rule_guarantees_is_known(tree, found):
    """No more than the equilibrium, and no more than against any dealer; the best is a maximum."""
    value = tree.value(found["equilibrium"])
    rules = guaranteed(tree)
    assert max(rule.value for rule in rules) <= value + 1e-6
    for _, other in found.values():
        for rule, against in zip(rules, threshold_rules(tree, other), strict=True):
            assert rule.below == against.below
            assert rule.value <= against.value + 1e-6
    # To double always, or never, gives away what the right is worth.
    assert rules[0].value < value - 1
    assert rules[-1].value < value - 1


def test_trees_that_are_too_large_are_refused():
    with pytest.raises(ValueError, match="rules must have at most 1,000 positions in a deal"):
        build_tree(PRESETS["small"], positions=1000)


def test_command_writes_what_it_shows(tmp_path):
    console = Console(record=True, width=120, file=io.StringIO())
    Exact(out=tmp_path / "exact").run(console)
    assert {path.suffix for path in tmp_path.iterdir()} == {".csv", ".json", ".png"}
    assert "always_double" in console.export_text()
