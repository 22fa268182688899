"""Learners at tables of every game, and the doors of the games."""

from __future__ import annotations

from functools import partial
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode

import agents
import poke_env
from helpers import TABLES, run_python
from players import Remembering
from poke_env.row_player import AllRows


@pytest.mark.parametrize("max_deals", [None, 1])
def test_rows_of_a_learner_differ_from_single_learners(table: str, max_deals: int | None) -> None:
    """Rewards that fell before a learner's first decision are his, too, and so is a cut."""
    game, settings = TABLES[table]
    settings = {**settings, "max_deals": max_deals} if max_deals else settings
    play_rows_and_singles(game, settings)


def play_rows_and_singles(
    game: str, settings: dict[str, Any], opponent: Any = None
) -> tuple[Any, list[Any]]:
    """Play a vector environment beside single ones, which must be the same; returns both."""
    rows, door = 9, poke_env.door(game)
    envs = door.vector_env(rows, opponent, **settings)
    singles = [door.single_env(opponent, **settings) for _ in range(rows)]
    rng = np.random.default_rng(3)
    observations, infos = envs.reset(seed=7)
    masks = infos["action_mask"]
    for row, single in enumerate(singles):
        seen, info = single.reset(seed=7 + row)
        assert seen.tobytes() == observations[row].tobytes()
        assert info["seat"] == infos["seat"][row]
    for _ in range(30):
        actions = np.where(masks, rng.random(masks.shape), -1).argmax(axis=1)
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        masks = infos["action_mask"]
        for row, single in enumerate(singles):
            seen, reward, *over, _ = single.step(actions[row])
            assert reward == pytest.approx(rewards[row])
            assert over == [terminated[row], truncated[row]]
            if any(over):
                seen, _ = single.reset()
            assert seen.tobytes() == observations[row].tobytes()
    return envs, singles


@pytest.mark.parametrize("name", ["poke", "pokex", "poque", "poangpoker"])
def test_player_that_remembers_sits_in_several_seats(name: str) -> None:
    game, settings = TABLES[name]
    envs, singles = play_rows_and_singles(game, settings, Remembering(game))
    others = envs.envs.settings.players - 1
    assert len(envs.opponent.agents) == others * envs.num_envs
    for row, single in enumerate(singles):
        assert len(single.opponents) == others
        for place, player in enumerate(single.opponents):
            twin = envs.opponent.agents[others * row + place].player
            assert player.player.seeds[0] == twin.seeds[0]
        first = [player.player.seeds[0] for player in single.opponents]
        assert len(set(first)) == others


def test_player_that_decides_in_batches_is_asked_seat_by_seat() -> None:
    """It is one object, asked once for all rows, whatever seats they wait for."""
    envs, singles = play_rows_and_singles(*TABLES["poque"], agents.make("greedy", game="poque"))
    assert isinstance(envs.opponent, AllRows)
    assert all(len(single.opponents) == 1 for single in singles)


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
def test_final_reward_is_counted_twice_or_never(mode: AutoresetMode, table: str) -> None:
    """Of Gymnasium's own vector of learners: whatever the mode, no reward is lost or paid twice."""
    game, settings = TABLES[table]
    name = f"sackson/{game.capitalize()}-v0"
    make = partial(gymnasium.make, name, seat=0, disable_env_checker=True, **settings)
    envs = gymnasium.vector.SyncVectorEnv([make, make], autoreset_mode=mode)
    plain = [make().unwrapped for _ in range(2)]
    rng = np.random.default_rng(1)
    envs.reset(seed=3)
    for row, env in enumerate(plain):
        env.reset(seed=3 + row)
    waiting = np.zeros(2, bool)
    for _ in range(60):
        # A match may be over before the learner is asked: any action then fetches what it paid.
        legal = [np.flatnonzero(env.action_masks()).tolist() or [0] for env in plain]
        chosen = [int(rng.choice(actions)) for actions in legal]
        seen, rewards, terminated, truncated, infos = envs.step(np.array(chosen))
        over = terminated | truncated
        for row, env in enumerate(plain):
            if waiting[row]:  # the ignored action: a match is dealt and nothing is played
                assert (rewards[row], over[row]) == (0.0, False)
                continue
            last, reward, *ended, _ = env.step(chosen[row])
            assert (reward, ended) == (rewards[row], [terminated[row], truncated[row]])
            if over[row]:
                if mode is AutoresetMode.SAME_STEP:
                    assert infos["final_obs"][row].tobytes() == last.tobytes()
                last = env.reset()[0] if mode is AutoresetMode.SAME_STEP else last
            assert seen[row].tobytes() == last.tobytes()
        if mode is AutoresetMode.NEXT_STEP:
            for row in np.flatnonzero(over):
                plain[row].reset()
            waiting = over


@pytest.mark.parametrize("game", ["poque", "poangpoker", "pokex"])
def test_a_learner_sits_elsewhere_than_it_is_told(game: str) -> None:
    name = f"sackson/{game.capitalize()}-v0"
    env = gymnasium.make(name, seat=1)
    envs = gymnasium.make_vec(name, num_envs=2, seat=1)
    _, info = env.reset(seed=1)
    seen, infos = envs.reset(seed=1)
    assert info["seat"] == 1
    assert infos["seat"].tolist() == [1, 1]
    assert seen.shape == (2, *env.observation_space.shape)
    assert env.unwrapped.aec.match == "deal"


@pytest.mark.parametrize("game", ["pokex", "poque", "poangpoker"])
def test_points_below_the_line_count_in_a_game_without_them(game: str) -> None:
    door = poke_env.door(game)
    assert door.raw_env(match="deal").settings.below_value is None
    with pytest.raises(ValueError, match=f"below_value must be None in {game}"):
        door.raw_env(match="deal", below_value=0.0)


def test_importing_the_package_registers_nothing() -> None:
    said = run_python(
        "-c",
        "import gymnasium, pettingzoo, poke_env\n"
        "for game in ('pokex', 'poque', 'poangpoker'):\n"
        "    print(pettingzoo.make('aec', f'sackson/{game}-v0').unwrapped.metadata['name'])\n"
        "    print(gymnasium.make(f'sackson/{game.capitalize()}-v0').spec.id)",
    )
    assert said.split() == [
        "pokex_v0", "sackson/Pokex-v0", "poque_v0", "sackson/Poque-v0",
        "poangpoker_v0", "sackson/Poangpoker-v0",
    ]  # fmt: skip


def test_a_door_leads_to_another_game() -> None:
    assert poke_env.door("poque").raw_env.game.name == "poque"
    assert poke_env.door(poke_env.door("pokex").raw_env.game).__name__ == "poke_env.pokex_v0"
    with pytest.raises(ValueError, match="game must be one of 'poke', 'pokex'"):
        poke_env.door("bridge")
