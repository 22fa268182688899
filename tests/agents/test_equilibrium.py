"""Draws by solved strategies: the right strategy, the right decision, the right cards."""

from __future__ import annotations

import json

import numpy as np
import pytest

import agents
from agents import equilibrium
from agents.equilibrium import DrawStrategies, EquilibriumAgent, EquilibriumDraws, draw_strategies
from agents.hand_classes import CLASSES
from agents.poke_reading import READING, read
from agents.score import worth_in_rubber, worth_of_cards
from poke_env import make_batch, poke_v0
from poke_env.equity import EquityTable, places, scores
from poke_env.games.poke import AT


def strategies(non_dealer=0, dealer=0, serves=None):
    """One strategy for each entry of `serves`; actions broadcast over classes."""
    serves = np.zeros((2, len(scores(20))), np.int64) if serves is None else serves
    count = int(serves.max()) + 1
    own = np.zeros((count, 4, CLASSES[5]), np.int8)
    other = np.zeros((count, 3, 13, CLASSES[5]), np.int8)
    own[:] = np.reshape(non_dealer, (-1, np.size(non_dealer) // count or 1, 1))
    other[:] = dealer
    return DrawStrategies(serves, own, other, {})


def use(monkeypatch, made):
    monkeypatch.setattr(equilibrium, "draw_strategies", lambda: made)


def draw_of(env):
    """What is drawn at the decision of the seat to move, and the observation's mask."""
    observation = env.observe(env.agent_selection)
    seen = observation["observation"][None]
    mask = observation["action_mask"][None]
    return int(EquilibriumDraws().choose(seen, mask, np.zeros((1, 2), np.int64))[0])


def test_strategy_is_that_of_the_score_seen_by_the_dealer(monkeypatch):
    serves = np.zeros((2, len(scores(20))), np.int64)
    serves[0, places(20)[12, 3, 1, 0]] = 1  # the dealer has 12 and a game
    use(monkeypatch, strategies(non_dealer=[[0] * 4, [7] * 4], serves=serves))
    env = poke_v0.raw_env()
    for dealer, below, games, expected in (
        (1, (3, 12), (0, 1), 7),
        (0, (12, 3), (1, 0), 7),
        (0, (3, 12), (0, 1), 0),
        (1, (12, 3), (1, 0), 0),
    ):
        env.reset(seed=0, options={"dealer": dealer, "score": {"below": below, "games": games}})
        chosen = draw_of(env)
        assert (chosen.bit_count() == 3) == (expected == 7)


def test_every_history_has_its_own_decision(monkeypatch):
    """The dealer answers what he saw, by his own number of draws; the non-dealer his own draw."""
    sets = [action for action in range(1, 32) if action.bit_count() <= 3]
    histories = [(), (1,), (2,), (3,), *((a, b) for a in (1, 2, 3) for b in (1, 2, 3))]
    made = strategies()
    made.non_dealer[0] = np.array(sets[:4])[:, None]
    dealer_actions = np.array([sets[number % len(sets)] for number in range(39)]).reshape(3, 13)
    made.dealer[0] = dealer_actions[..., None]
    use(monkeypatch, made)
    env = poke_v0.raw_env()
    for history_number, history in enumerate(histories):
        for made_by_dealer in range(3):
            env.reset(seed=1, options={"dealer": 1})
            for cards in history:
                env.step((1 << cards) - 1)
            if len(history) < 2:
                env.step(0)
            for _ in range(made_by_dealer):
                env.step(1)
            expected = int(dealer_actions[made_by_dealer, history_number]).bit_count()
            assert draw_of(env).bit_count() == expected
    for first in range(4):
        env.reset(seed=1, options={"dealer": 1})
        if first:
            env.step((1 << first) - 1)
        assert draw_of(env).bit_count() == sets[first].bit_count()


def test_slots_of_the_class_are_found_in_the_hand(monkeypatch):
    """A strategy that throws the slots of a class's lowest cards throws the hand's lowest cards."""
    use(monkeypatch, strategies(non_dealer=0b00011))
    env = poke_v0.raw_env()
    for seed in range(60):
        env.reset(seed=seed)
        hand = poke_v0.decode(env.observe(env.agent_selection)["observation"])["slots"]
        chosen = draw_of(env)
        ranks = sorted(card // 4 for slot, card in enumerate(hand) if chosen >> slot & 1)
        assert ranks == sorted(card // 4 for card in hand)[:2]


def test_what_the_rules_forbid_is_not_drawn(monkeypatch):
    use(monkeypatch, strategies(non_dealer=0b00111, dealer=0b00111))
    env = poke_v0.raw_env(rules=poke_v0.Rules(max_discard=2))
    env.reset(seed=0)
    assert draw_of(env) == 0
    agent = agents.make("equilibrium")
    for seed in range(5):
        env.reset(seed=seed)
        while env.agents and not any(env.terminations.values()):
            observation = env.observe(env.agent_selection)
            action = agent.act(observation)
            assert observation["action_mask"][action] == 1
            env.step(action)


def test_hands_of_other_sizes_are_drawn_as_the_heuristic_draws():
    env = poke_v0.raw_env(rules="tiny")
    for seed in range(20):
        env.reset(seed=seed)
        observation = env.observe(env.agent_selection)
        assert draw_of(env) == agents.make("heuristic").act(observation)


def test_files_that_are_none_are_refused(tmp_path):
    path = tmp_path / "strategies.npz"
    np.savez(path, serves=np.zeros(3))
    with pytest.raises(ValueError, match="cannot be used"):
        draw_strategies(path)
    about = np.frombuffer(json.dumps({"format": 99}).encode(), np.uint8)
    np.savez(path, about=about)
    with pytest.raises(ValueError, match="its format is 99, known is 2"):
        draw_strategies(path)
    with pytest.raises(OSError, match="missing"):
        draw_strategies(tmp_path / "missing.npz")


@pytest.mark.parametrize(
    "change, message",
    [
        ({"serves": np.zeros(3, np.int64)}, r"serves must be int64 \(2, 1604\)"),
        ({"serves": np.ones((2, 1604), np.int64)}, "serves must be from 0 to 0"),
        ({"dealer": np.zeros((1, 3, 12, CLASSES[5]), np.int8)}, "dealer must be int8"),
        ({"non_dealer": np.full((1, 4, CLASSES[5]), 32, np.int8)}, "non_dealer must be from 0"),
    ],
)
def test_strategies_that_would_be_read_beyond_their_ends_are_refused(tmp_path, change, message):
    made = strategies()
    about = np.frombuffer(json.dumps({"format": equilibrium.FORMAT}).encode(), np.uint8)
    arrays = {"serves": made.serves, "non_dealer": made.non_dealer, "dealer": made.dealer} | change
    path = tmp_path / "strategies.npz"
    np.savez_compressed(path, about=about, **arrays)
    with pytest.raises(ValueError, match=message):
        draw_strategies(path)


def test_strategies_that_are_shipped_fit_the_hands():
    shipped = draw_strategies()
    assert shipped.serves.shape == (2, len(scores(20)))
    count = int(shipped.serves.max()) + 1
    assert shipped.non_dealer.shape == (count, 4, CLASSES[5])
    assert shipped.dealer.shape == (count, 3, 13, CLASSES[5])
    for actions in (shipped.non_dealer, shipped.dealer):
        used = np.unique(actions)
        assert all(0 <= action < 32 and int(action).bit_count() <= 3 for action in used)
    # The free draw is for most hands, not for all.
    assert 0.5 < (shipped.dealer[:, 0, 0] != 0).mean() < 1.0


def test_strategies_that_are_shipped_were_solved_for_the_table_that_is_shipped():
    """A new table wants new strategies: `python -m training.lab make-strategies`."""
    assert draw_strategies().about["equity_digest"] == EquityTable.load().digest


def test_worth_in_the_rubber_is_what_equity_rewards_pay():
    """A deal's cards are worth its reward, up to what does not depend on them."""
    table = EquityTable.load()
    count = 400
    starts = table.start_scores(256, seed=0)
    envs = make_batch(
        "poke", count, match="deal", reward="equity", start_scores=starts, autoreset=False
    )
    envs.reset(seed=5)
    begin = envs.record.copy()
    seen, masks, seats = envs.observe()
    paid = np.zeros((count, 2))
    readings = np.zeros(1, READING)
    last = [None] * count
    generator = np.random.default_rng(1)
    while (seats >= 0).any():
        actions = np.zeros(count, np.int64)
        for row in np.flatnonzero(seats >= 0):
            actions[row] = generator.choice(np.flatnonzero(masks[row]))
            read(seen[row], masks[row], readings[0])
            if readings[0]["phase"] != 0:
                worth = worth_in_rubber(readings[0], table.values[0])
                last[row] = (int(seats[row]), worth)
        seen, masks, seats, _, _ = envs.step(actions)
        paid += envs.rewards
    ends = envs.record
    for row in range(count):
        seat, worth = last[row]
        end = ends[row]
        poker = int(end["deal_poker"][seat]) - int(end["deal_poker"][1 - seat])
        before = begin[row]
        expected = table.expected(before["below"].astype(int), before["games"].astype(int),
                                  int(before["dealer"]))  # fmt: skip
        own_expected = expected if seat == 0 else -expected
        assert worth[end["deal_taken"][seat]] + poker - own_expected == pytest.approx(
            paid[row, seat], abs=1e-6
        )


def test_worth_without_a_table_is_that_of_the_game():
    readings = np.zeros(1, READING)
    reading = readings[0]
    reading["size"] = 5
    reading["values"] = (2, 1)
    reading["below"] = (7, 3)
    assert worth_in_rubber(reading, np.zeros(0)).tolist() == worth_of_cards(reading, 2, 1).tolist()


def test_fixed_player_does_not_see_the_score():
    assert agents.make("equilibrium_fixed").sees_score is False


def test_draws_are_solved_and_tricks_are_the_other_players():
    player, solved = EquilibriumAgent(tricks="greedy"), agents.make("equilibrium_search")
    greedy = agents.make("greedy")
    env = poke_v0.raw_env()
    env.reset(seed=4)
    phases = set()
    for _ in range(60):
        if env.terminations[env.agent_selection]:
            env.reset()
        observed = env.observe(env.agent_selection)
        drawing = bool(observed["observation"][AT["phase"]])
        phases.add(drawing)
        action = player.act(observed, 1)
        assert action == (solved if drawing else greedy).act(observed, 1)
        env.step(action)
    assert phases == {True, False}


def test_who_plays_tricks_must_choose_by_keys():
    with pytest.raises(ValueError, match="tricks must be a player that chooses by keys, 'human'"):
        EquilibriumAgent(tricks="human")
