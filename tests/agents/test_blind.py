"""Players that say they do not look at the score do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import agents
import poke_env
from agents.blind import BlindAgent, without_score
from poke_env.agent import KeyedAgent
from poke_env.equity import EquityTable
from poke_env.games.poke import POKE
from poke_env.observation import slices

BLIND = ("random", "greedy", "blind_heuristic")
SCORE = ("below", "above", "games")


def seen_in_play(rules: str = "standard") -> tuple[Any, Any]:
    """Observations (2048, F) and masks (2048, A) at many scores and moments."""
    starts = EquityTable.load().start_scores(100) if rules == "standard" else None
    envs = poke_env.make_batch("poke", 2048, 0, rules=rules, start_scores=starts)
    envs.reset()
    envs.play_at_random(5, 1)
    seen, masks, _ = envs.observe()
    return seen, masks


def other_scores(seen: Any) -> Any:
    changed = seen.copy()
    rng = np.random.default_rng(0)
    for name in SCORE:
        place = slices(POKE)[name]
        changed[:, place] = rng.permutation(changed[:, place])
    return changed


@pytest.mark.parametrize("rules", ["standard", "tiny"])
@pytest.mark.parametrize("name", BLIND)
def test_choices_depend_on_the_score(name: str, rules: str) -> None:
    player = agents.make(name)
    assert player.sees_score is False
    seen, masks = seen_in_play(rules)
    keys = np.arange(len(seen), dtype=np.uint64)
    changed = other_scores(seen)
    assert rules == "tiny" or (changed != seen).any(axis=1).mean() > 0.5
    assert (player.act_batch(seen, masks, keys) == player.act_batch(changed, masks, keys)).all()


@pytest.mark.parametrize("name", ["heuristic", "never_double", "always_double"])
def test_player_that_looks_at_the_score_is_taken_for_blind(name: str) -> None:
    player = agents.make(name)
    assert player.sees_score is True
    seen, masks = seen_in_play()
    assert (player.act_batch(seen, masks) != player.act_batch(other_scores(seen), masks)).any()
    assert KeyedAgent.sees_score is True  # what says nothing is taken to look


def test_blind_player_plays_as_at_the_beginning_of_a_rubber() -> None:
    seen, masks = seen_in_play()
    before = seen.copy()
    blind, player = BlindAgent(player="heuristic"), agents.make("heuristic")
    chosen = blind.act_batch(seen, masks)
    assert (seen == before).all()
    hidden = without_score(seen)
    assert (chosen == player.act_batch(hidden, masks)).all()
    for row in range(20):
        assert blind.act({"observation": seen[row], "action_mask": masks[row]}) == chosen[row]
    for name, place in slices(POKE).items():
        assert name in SCORE or (hidden[:, place] == seen[:, place]).all()
    with pytest.raises(ValueError, match="agent must be a name"):
        BlindAgent(player="nobody")
