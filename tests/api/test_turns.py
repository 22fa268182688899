"""The order of turns, the end of a match and the rewards, through the bare environment and `env()`.

Each test is named after the fault it guards against.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import gymnasium.error
import numpy as np
import pettingzoo
import pytest
from pettingzoo.utils.conversions import aec_to_parallel

import poke_env
from helpers import (
    CONFIGURATIONS,
    PLAYERS,
    TABLES,
    Make,
    equal_trees,
    everything,
    is_over,
    legal_actions,
    name_of,
    payoff,
    play,
    play_to,
    random_action,
    retire,
    turns,
)
from poke_env import poke_v0
from poke_env.games.base import MATCH_OVER


def finished(make: Make, seed: int = 1, **settings: Any) -> Any:
    """A match played to its end, the last legal action at every turn."""
    env = make(**settings)
    env.reset(seed=seed)
    while not is_over(env):
        env.step(legal_actions(env)[-1])
    return env


def reset(env: Any, seed: int = 0) -> Any:
    env.reset(seed=seed)
    return env


# --- the end of a match ---------------------------------------------------------------------------


def test_dead_agent_protocol_after_the_last_action(sit: Make) -> None:
    env = finished(sit)
    agents = list(env.possible_agents)
    assert env.agents == agents
    assert env.terminations == dict.fromkeys(agents, True)
    assert env.truncations == dict.fromkeys(agents, False)
    due = dict(env._cumulative_rewards)

    seen = []
    for agent in env.agent_iter():
        observation, reward, terminated, truncated, info = env.last()
        seen.append((agent, reward, terminated, truncated))
        assert not observation["action_mask"].any()
        assert not info["action_mask"].any()
        env.step(None)
        assert agent not in env.agents
        for values in (env.rewards, env.terminations, env.truncations, env.infos):
            assert agent not in values
    assert seen == [(agent, due[agent], True, False) for agent in agents]
    assert env.agents == []
    env.step(None)
    assert env.agents == []
    assert list(env.agent_iter()) == []


def test_dead_seat_plays_on(sit: Make) -> None:
    env = finished(sit)
    for dead in range(len(env.possible_agents), 0, -1):
        assert len(env.agents) == dead
        before = everything(env)
        for action in (0, 1, -1, "pat", 1.5):
            with pytest.raises(ValueError, match="the only action is None"):
                env.step(action)
        assert equal_trees(everything(env), before)
        env.step(None)
    with pytest.raises(ValueError, match="the only action is None"):
        env.step(0)


def test_seat_is_missing_after_a_half_finished_end(sit: Make) -> None:
    """One dead step only, then reset: all are back, and the next match is what it would be."""
    env, undisturbed = sit(), sit()
    agents = list(env.possible_agents)
    rng = np.random.default_rng(0)
    for one in (env, undisturbed):
        one.reset(seed=0)
    for number in range(40):
        if number % 2:
            play(env, rng)
        else:  # end it early, by an illegal action or in the middle
            play(env, rng, most=number % 7)
            if env is not env.unwrapped and not is_over(env):
                env.step(-1)
        if is_over(env):
            env.step(None)
            assert len(env.agents) == len(agents) - 1
        env.reset()
        undisturbed.reset()
        assert env.agents == env.possible_agents == agents
        assert env.agents is not env.possible_agents
        assert equal_trees(everything(env), everything(undisturbed))
        assert not is_over(env)
        assert sorted(env.rewards) == sorted(env.infos) == agents
    play(env, rng)
    assert retire(env).keys() == set(agents)


def test_dealer_begins(make: Make) -> None:
    """The non-dealer does, whoever that is."""
    env = make(match="deal")
    for seed in range(20):
        env.reset(seed=seed)
        assert env.agent_selection == PLAYERS[1 - env.unwrapped.score_sheet.dealer]


def test_deal_does_not_pass_on(table: str) -> None:
    """The next seat deals after every deal of a match, also one in which nothing was scored."""
    game, settings = TABLES[table]
    door = poke_env.door(game)
    env = door.raw_env(**{**settings, "match": door.raw_env.game.matches[0]})
    rng = np.random.default_rng(4)
    for seed in range(6):
        env.reset(seed=seed)
        play(env, rng, most=80)
        dealers = [deal.dealer for deal in env.score_sheet.deals]
        seats = len(env.possible_agents)
        assert dealers == [(dealers[0] + number) % seats for number in range(len(dealers))]
    assert len(dealers) > 1


def test_cut_match_counts_as_finished(make: Make) -> None:
    """A cap on the number of deals truncates and does not terminate."""
    env = make(match="rubber", max_deals=2)
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    for _ in range(20):
        play(env, rng)
        sheet = env.unwrapped.score_sheet
        won = max(sheet.games) == 2
        assert len(sheet.deals) == 2
        assert env.terminations == dict.fromkeys(PLAYERS, won)
        assert env.truncations == dict.fromkeys(PLAYERS, not won)
        for agent in PLAYERS:
            assert not env.observe(agent)["action_mask"].any()
            assert env.observation_space(agent).contains(env.observe(agent))
            assert poke_v0.decode(env.observe(agent))["phase"] == "over"
        assert retire(env).keys() == set(PLAYERS)
        env.reset()


def test_cut_match_of_a_table_counts_as_finished(sit: Make, table: str) -> None:
    """Truncated alone, unless the rules end it with the same deal; "win" then pays nobody."""
    whole = poke_env.door(TABLES[table][0]).raw_env.game.matches[0]
    rng = np.random.default_rng(0)
    cut = 0
    for reward in ("points", "win"):
        env = sit(match=whole, max_deals=2, reward=reward)
        agents = env.possible_agents
        for seed in range(5):
            env.reset(seed=seed)
            play(env, rng)
            over = env.game.to_move(env.record) == MATCH_OVER
            assert env.terminations == dict.fromkeys(agents, over)
            assert env.truncations == dict.fromkeys(agents, not over)
            assert not any(env.observe(agent)["action_mask"].any() for agent in agents)
            if not over:
                cut += 1
                assert len(env.score_sheet.deals) == 2
                assert reward == "points" or not any(env.rewards.values())
    assert cut > 0


def test_match_that_ends_at_the_cap_is_truncated(make: Make) -> None:
    """The rules go first: a deal that is the match terminates it whatever the cap."""
    env = play(reset(make(match="deal", max_deals=1)), np.random.default_rng(0))
    assert all(env.terminations.values())
    assert not any(env.truncations.values())


def test_cut_match_has_a_winner(make: Make) -> None:
    env = play(reset(make(match="rubber", max_deals=1, reward="win")), np.random.default_rng(0))
    assert all(env.truncations.values())
    assert env.rewards == dict.fromkeys(PLAYERS, 0.0)


# --- rewards --------------------------------------------------------------------------------------


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=name_of)
def test_rewards_of_last_and_of_steps_differ(make: Make, configuration: dict[str, Any]) -> None:
    """By seat: what `last()` gave == what the steps paid == what the pad says; always zero-sum."""
    balance(make, configuration, {"rubber": 4, "game": 10, "deal": 40}[configuration["match"]])


@pytest.mark.slow
@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=name_of)
def test_rewards_of_last_and_of_steps_differ_in_some_match(
    make: Make, configuration: dict[str, Any]
) -> None:
    balance(make, configuration, matches=200)


def balance(make: Make, configuration: dict[str, Any], matches: int) -> None:
    env = make(**configuration)
    rng = np.random.default_rng(0)
    for seed in range(matches):
        env.reset(seed=seed)
        fetched = dict.fromkeys(PLAYERS, 0.0)
        paid = dict.fromkeys(PLAYERS, 0.0)
        deals = 0
        for agent in env.agent_iter():
            observation, reward, terminated, truncated, _ = env.last()
            fetched[agent] += reward
            if terminated or truncated:
                env.step(None)
                continue
            env.step(int(rng.choice(np.flatnonzero(observation["action_mask"]))))
            for seat, reward in env.rewards.items():
                paid[seat] += reward
            assert env.rewards["player_0"] == -env.rewards["player_1"]
            if len(env.unwrapped.score_sheet.deals) == deals or (
                configuration["reward"] == "win" and not is_over(env)
            ):
                assert env.rewards == dict.fromkeys(PLAYERS, 0.0)
            deals = len(env.unwrapped.score_sheet.deals)
        assert fetched == pytest.approx(paid, abs=1e-9)
        assert paid["player_0"] == pytest.approx(payoff(env.unwrapped), abs=1e-9)


def test_reward_of_another_seat_is_lost_between_its_turns(sit: Make) -> None:
    """What a seat is due while others move waits for its next turn."""
    env = sit()
    rng = np.random.default_rng(5)
    env.reset(seed=5)
    owed = dict.fromkeys(env.possible_agents, 0.0)
    waited = 0
    for _ in range(1_500):
        if is_over(env):
            waited += any(owed.values())
            assert retire(env) == owed
            env.reset()
            owed = dict.fromkeys(env.possible_agents, 0.0)
        agent = env.agent_selection
        assert env.last()[1] == owed[agent]
        assert env._cumulative_rewards == owed
        waited += owed[agent] != 0
        env.step(random_action(env, rng))
        owed[agent] = 0.0
        for seat, reward in env.rewards.items():
            owed[seat] += reward
    assert waited > 0


def test_rewards_are_made_or_lost_on_the_way(table: str) -> None:
    """Partners are paid alike, and all add up to zero with the chips that went into pools."""
    game, settings = TABLES[table]
    env = poke_env.door(game).raw_env(**settings)
    rng = np.random.default_rng(6)
    for seed in range(12):
        env.reset(seed=seed)
        total = np.zeros(len(env.possible_agents))
        for _ in turns(env, rng):
            total += list(env.rewards.values())
            for side in env.game.sides(env.record):
                assert len({env.rewards[f"player_{seat}"] for seat in side}) == 1
        in_pools = sum(getattr(env.score_sheet, "pools", ()))
        kept = in_pools if env.settings.reward == "points" else 0
        assert total.sum() + kept == pytest.approx(0, abs=1e-9)


def test_scale_and_sign_of_rewards(sit: Make) -> None:
    """The scale is the argument's and the same everywhere."""
    rng = np.random.default_rng(2)
    plain, scaled = sit(), sit(reward_scale=0.001)
    for one in (plain, scaled):
        one.reset(seed=2)
    for _ in range(6):
        while not is_over(plain):
            action = random_action(plain, rng)
            for one in (plain, scaled):
                one.step(action)
            for agent, reward in plain.rewards.items():
                assert scaled.rewards[agent] == pytest.approx(reward / 1000)
        for one in (plain, scaled):
            one.reset()


def test_points_below_the_line_are_paid_in_a_longer_match(make: Make) -> None:
    """`below_value` counts where the deal is the match, and there alone."""
    rng = np.random.default_rng(3)
    for match in ("deal", "game", "rubber"):
        none, many = make(match=match, below_value=0), make(match=match, below_value=1000)
        none.reset(seed=3)
        many.reset(seed=3)
        while not is_over(none):
            action = random_action(none, rng)
            none.step(action)
            many.step(action)
            if match != "deal":
                assert none.rewards == many.rewards
        if match == "deal":
            below = none.unwrapped.score_sheet.deals[0].below
            gained = many.rewards["player_0"] - none.rewards["player_0"]
            assert gained == 1000 * (below[0] - below[1])


# --- whose turn it is -----------------------------------------------------------------------------


def test_turn_passes_after_every_action(make: Make) -> None:
    """A player draws on until he is pat; the winner of a trick leads, also when he just moved."""
    env = make(match="deal")
    rng = np.random.default_rng(9)
    env.reset(seed=9)
    moved_again = {"draw": 0, "lead": 0}
    for _ in range(300):
        starter = env.agent_selection
        dealer = PLAYERS[1 - PLAYERS.index(starter)]
        draws = {starter: 0, dealer: 0}
        most = {starter: 2, dealer: 3}
        asked = starter
        while poke_v0.decode(env.observe(asked))["phase"] == "draw":
            assert env.agent_selection == asked
            action = random_action(env, rng)
            draws[asked] += action != 0
            pat = action == 0 or draws[asked] == most[asked]
            moved_again["draw"] += not pat
            env.step(action)
            if pat and asked == starter:
                asked = dealer
            elif pat:
                break
        leader = starter
        while not is_over(env):
            assert env.agent_selection == leader
            env.step(random_action(env, rng))
            follower = PLAYERS[1 - PLAYERS.index(leader)]
            assert env.agent_selection == follower
            env.step(random_action(env, rng))
            trick = poke_v0.decode(env.observe(follower))["tricks"][-1]
            if trick["winner"] == "own":
                leader = follower
                moved_again["lead"] += not is_over(env)
        env.reset()
    assert min(moved_again.values()) > 50


def test_agent_iter_skips_or_repeats_a_turn(sit: Make) -> None:
    env = sit()
    rng = np.random.default_rng(1)
    env.reset(seed=1)
    count = 0
    for agent in env.agent_iter():
        assert agent == env.agent_selection
        over = is_over(env)
        env.step(None if over else random_action(env, rng))
        count += not over
    assert count > 2
    env.reset()
    assert len([env.step(legal_actions(env)[0]) for _ in env.agent_iter(max_iter=2)]) == 2


def test_turn_without_a_step_is_repeated_for_ever() -> None:
    env = poke_v0.env(match="deal")
    env.reset(seed=0)
    with pytest.raises(gymnasium.error.Error, match="step"):
        for _ in env.agent_iter():
            pass
    env.reset(seed=0)
    for number, _ in enumerate(env.agent_iter(max_iter=3)):
        if number == 1:
            env.reset(seed=1)  # also goes on
        else:
            env.step(legal_actions(env)[0])


# --- calls in the wrong order ---------------------------------------------------------------------


def calls_before_reset(env: Any) -> dict[str, Callable[[], Any]]:
    return {
        "step": lambda: env.step(0),
        "step(None)": lambda: env.step(None),
        "last": env.last,
        "agent_iter": lambda: next(iter(env.agent_iter())),
        "render": env.render,
        "observe": lambda: env.observe("player_0"),
        "agents": lambda: env.agents,
        "agent_selection": lambda: env.agent_selection,
        "rewards": lambda: env.rewards,
        "_cumulative_rewards": lambda: env._cumulative_rewards,
        "terminations": lambda: env.terminations,
        "truncations": lambda: env.truncations,
        "infos": lambda: env.infos,
        "get_state": env.unwrapped.get_state,
        "score_sheet": lambda: env.unwrapped.score_sheet,
        "action_to_text": lambda: env.unwrapped.action_to_text(0),
        "text_to_action": lambda: env.unwrapped.text_to_action("pat"),
        "forfeit": env.unwrapped.forfeit,
    }


@pytest.mark.parametrize("call", calls_before_reset(poke_v0.raw_env()))
@pytest.mark.parametrize("render_mode", [None, "ansi"])
def test_call_before_reset_is_not_explained(make: Make, call: str, render_mode: str | None) -> None:
    env = make(render_mode=render_mode)
    with pytest.raises((AttributeError, gymnasium.error.ResetNeeded), match=r"reset\(\)"):
        calls_before_reset(env)[call]()
    env.reset(seed=0)
    env.step(0)  # and nothing is spoilt


def test_first_player_is_asked_by_the_truth_of_his_name(make: Make) -> None:
    """`last()` works for the first agent, whichever it is."""
    for dealer in (0, 1):
        env = make()
        env.reset(options={"dealer": dealer})
        observation, reward, terminated, truncated, info = env.last()
        assert env.agent_selection == PLAYERS[1 - dealer]
        assert observation["action_mask"].any()
        assert (reward, terminated, truncated) == (0.0, False, False)
        assert np.array_equal(info["action_mask"], observation["action_mask"])
        assert env.last(observe=False)[0] is None


def test_typing_error_on_the_environment_asks_for_reset(make: Make) -> None:
    env = make()
    with pytest.raises(AttributeError, match="observatoin") as caught:
        env.observatoin("player_0")
    assert "reset" not in str(caught.value)
    with pytest.raises(ValueError, match="player_0, player_1, got 'player_2'"):
        env.observation_space("player_2")
    with pytest.raises(ValueError, match="player_0, player_1, got 0"):
        env.action_space(0)
    env.reset(seed=0)
    with pytest.raises(ValueError, match="player_0, player_1, got None"):
        env.observe(None)


def test_words_are_read_after_the_match(make: Make) -> None:
    env = finished(make, match="deal")
    with pytest.raises(ValueError, match="illegal"):
        env.unwrapped.text_to_action("pat")
    with pytest.raises(ValueError, match="illegal"):
        env.unwrapped.action_to_text(0)


# --- what it says of itself -----------------------------------------------------------------------


def test_environment_passes_for_parallel(sit: Make, table: str) -> None:
    env = sit()
    assert env.metadata["is_parallelizable"] is False
    assert env.metadata["name"] == f"{TABLES[table][0]}_v0" == str(env)
    with pytest.raises((AssertionError, ValueError), match="parallel"):
        aec_to_parallel(env)


def test_registered_name_makes_something_else() -> None:
    env = pettingzoo.make("aec", "sackson/poke-v0")
    assert isinstance(env.unwrapped, poke_v0.raw_env)
    assert type(env.unwrapped) is type(poke_v0.env().unwrapped)
    assert env.unwrapped.match == "rubber"
    made = pettingzoo.make(
        "aec", "sackson/poke-v0", match="deal", reward="win", rules="tiny", render_mode="ansi"
    )
    assert made.unwrapped.match == "deal"
    assert made.unwrapped.settings.reward == "win"
    assert made.unwrapped.rules == poke_v0.raw_env(rules="tiny").rules
    assert made.render_mode == "ansi"
    made.reset(seed=0)
    play(made, np.random.default_rng(0))
    with pytest.raises(ValueError, match="match"):
        pettingzoo.make("aec", "sackson/poke-v0", match="hand")


def test_one_wrapper_hides_what_the_bare_environment_has() -> None:
    env = poke_v0.env(match="deal")
    env.reset(seed=0)
    assert env.unwrapped.match == env.match == "deal"
    assert env._cumulative_rewards == {"player_0": 0.0, "player_1": 0.0}
    assert env.score_sheet == env.unwrapped.score_sheet
    assert env.get_state() == env.unwrapped.get_state()
    env.close()
    env.close()


def test_environment_talks_while_it_plays(capfd: pytest.CaptureFixture[str], make: Make) -> None:
    play(reset(make(match="game")), np.random.default_rng(0))
    out, err = capfd.readouterr()
    assert not re.sub(r"\s", "", out + err), os.linesep.join([out, err])


def test_phases_of_a_deal_come_in_another_order(make: Make) -> None:
    env = reset(make(match="deal"), seed=4)
    rng = np.random.default_rng(4)
    for phase in ("draw", "lead", "follow"):
        play_to(env, rng, phase)
        assert poke_v0.decode(env.observe(env.agent_selection))["to_move"]
    order = [
        poke_v0.decode(e.observe(e.agent_selection))["phase"] for e in turns(reset(env, 5), rng)
    ]
    assert order[-1] == "over"
    tricks = [phase for phase in order if phase != "draw"][:-1]
    assert tricks == ["lead", "follow"] * (len(tricks) // 2)
