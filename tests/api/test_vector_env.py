"""The vector environment of one learner, as Gymnasium and its wrappers see it.

What its rows play is compared elsewhere with the environment of one learner, row by row. Each test
is named after the fault it guards against.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv, VectorEnv
from gymnasium.wrappers.vector import (
    NormalizeReward,
    RecordEpisodeStatistics,
    TransformReward,
)

import agents
from helpers import equal_trees
from poke_env import poke_v0
from poke_env.agent import RandomAgent, as_agent
from poke_env.row_player import NO_ACTION, as_actions, as_row_player


class OnlyAct:
    """A player with `act` alone that plays the first legal action, or does something worse."""

    def __init__(self, worse: Any = None, key: int = 0) -> None:
        self.worse, self.key = worse, key
        self.seeds: list[Any] = []

    def reset(self, seed: int | None = None) -> None:
        self.seeds.append(seed)

    def act(self, observation: Mapping[str, Any], key: Any = None) -> Any:
        if self.key and int(key) % self.key == 0:
            if isinstance(self.worse, Exception):
                raise self.worse
            return self.worse
        return int(np.flatnonzero(observation["action_mask"])[0])


def choose(masks: Any, rng: np.random.Generator) -> Any:
    """One random legal action a row, 0 where there is none."""
    return np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)


def begun(rows: int = 5, seed: int | None = 0, **settings: Any) -> tuple[Any, Any]:
    envs = poke_v0.vector_env(rows, **settings)
    return envs, envs.reset(seed=seed)[1]


def play(envs: Any, infos: Any, rng: np.random.Generator, steps: int) -> list[Any]:
    seen = []
    for _ in range(steps):
        seen.append(envs.step(choose(infos["action_mask"], rng)))
        infos = seen[-1][-1]
    return seen


# --- what Gymnasium asks for ----------------------------------------------------------------------


def test_registered_name_makes_something_else() -> None:
    envs = gymnasium.make_vec(
        "sackson/Poke-v0", num_envs=3, opponent=agents.make("greedy"), seat=1, match="game",
        rules="small", reward="win",
    )  # fmt: skip
    assert isinstance(envs, VectorEnv)
    assert isinstance(envs.unwrapped, poke_v0.vector_env)
    assert envs.num_envs == 3
    assert envs.unwrapped.envs.settings.match == "game"
    assert envs.unwrapped.envs.settings.reward == "win"
    assert envs.reset(seed=0)[1]["seat"].tolist() == [1, 1, 1]
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert gymnasium.make_vec("sackson/Poke-v0", num_envs=2).unwrapped.envs.settings.match == "deal"
    slow = gymnasium.make_vec("sackson/Poke-v0", num_envs=2, vectorization_mode="sync")
    assert isinstance(slow.unwrapped, SyncVectorEnv)
    for each in (envs, slow):
        each.close()
        each.close()


def test_spaces_differ_from_those_of_the_single_environment() -> None:
    for rules in ("standard", "small", "tiny"):
        envs = poke_v0.vector_env(4, rules=rules)
        single = poke_v0.single_env(rules=rules)
        sync = SyncVectorEnv([lambda rules=rules: poke_v0.single_env(rules=rules)] * 4)
        assert envs.single_observation_space == single.observation_space
        assert envs.single_action_space == single.action_space
        assert envs.observation_space == sync.observation_space
        assert envs.action_space == sync.action_space
        assert isinstance(envs.action_space, spaces.MultiDiscrete)
        seen, infos = envs.reset(seed=0)
        rng = np.random.default_rng(0)
        for _ in range(30):
            assert envs.observation_space.contains(seen)
            seen, *_, infos = envs.step(choose(infos["action_mask"], rng))


def shape_of(value: Any) -> Any:
    """Keys, shapes and types of nested infos; what object arrays hold by type."""
    if isinstance(value, dict):
        return {key: shape_of(inner) for key, inner in value.items()}
    if value.dtype == object:
        return value.shape, [
            (type(item), getattr(item, "shape", None), getattr(item, "dtype", None))
            for item in value
        ]
    return value.shape, value.dtype


@pytest.mark.parametrize("opponent", [None, OnlyAct(31, 13)], ids=["random", "forfeits"])
def test_infos_or_returns_differ_from_gymnasiums_own(opponent: Any) -> None:
    """Values, keys and types are those of SyncVectorEnv in SAME_STEP."""
    # The learner moves first in every match, so no match is over before its first decision.
    settings = {"opponent": opponent, "match": "rubber", "max_deals": 1, "rules": "tiny"}
    envs = poke_v0.vector_env(4, seat=0, **settings)
    sync = SyncVectorEnv(
        [lambda: poke_v0.single_env(seat=0, **settings)] * 4,
        autoreset_mode=AutoresetMode.SAME_STEP,
    )
    rng = np.random.default_rng(1)
    ends = dict.fromkeys(("some", "none", "illegal"), 0)
    for seed in range(12):
        shown, expected = envs.reset(seed=seed), sync.reset(seed=seed)
        for _ in range(10):
            infos = shown[-1]
            if not infos["action_mask"].any(axis=1).all() or "illegal_action" in expected[-1]:
                break  # an opponent's forfeit inside reset is told in the next step alone
            assert equal_trees(shape_of(infos), shape_of(expected[-1]))
            assert infos.keys() == expected[-1].keys()
            for key in infos.keys() - {"final_obs"}:
                assert equal_trees(infos[key], expected[-1][key]), key
            for array, other in zip(shown[:-1], expected[:-1], strict=True):
                assert array.dtype == other.dtype
                assert np.array_equal(array, other)
            for final, other in zip(
                infos.get("final_obs", ()), expected[-1].get("final_obs", ()), strict=True
            ):
                assert (final is None and other is None) or np.array_equal(final, other)
            ends["some" if "final_obs" in infos else "none"] += 1
            ends["illegal"] += "illegal_action" in infos.get("final_info", {})
            actions = choose(infos["action_mask"], rng)
            shown, expected = envs.step(actions), sync.step(actions)
    assert ends["some"] and ends["none"]
    assert bool(ends["illegal"]) == (opponent is not None)


def test_infos_of_a_row_are_not_its_own() -> None:
    envs, infos = begun(match="game", rules="tiny", seat="random")
    rng = np.random.default_rng(2)
    seats = infos["seat"].copy()
    ended = 0
    for _ in range(100):
        assert infos["_action_mask"].all() and infos["_seat"].all()
        _, _, terminated, truncated, infos = envs.step(choose(infos["action_mask"], rng))
        over = terminated | truncated
        assert over.any() == ("final_obs" in infos) == ("final_info" in infos)
        if over.any():
            final = infos["final_info"]
            for key in ("_final_obs", "_final_info"):
                assert (infos[key] == over).all()
            for key in ("_action_mask", "_seat"):
                assert (final[key] == over).all()
            assert (final["seat"][over] == seats[over]).all()
            assert "illegal_action" not in final
            for row, last in enumerate(infos["final_obs"]):
                assert (last is not None) == over[row]
                if over[row]:
                    assert poke_v0.decode(last)["phase"] == "over"
        seats = np.where(over, infos["seat"], seats)
        assert (seats == infos["seat"]).all()
        ended += over.sum()
    assert ended > 20
    assert set(seats.tolist()) == {0, 1}


def test_final_reward_is_counted_twice_or_never() -> None:
    """Fifty episodes of every row: each reward once, as the pads of single matches say."""
    envs, infos = begun(4, seed=3, match="game")
    singles = [poke_v0.single_env(match="game") for _ in range(4)]
    rng = np.random.default_rng(3)
    for row, single in enumerate(singles):
        single.reset(seed=3 + row)
    totals, episodes, step_ended = np.zeros(4), np.zeros(4, int), np.full(4, -1)
    for step in range(10_000):
        actions = choose(infos["action_mask"], rng)
        _, rewards, terminated, truncated, infos = envs.step(actions)
        assert not truncated.any()
        totals += rewards
        for row, single in enumerate(singles):
            assert single.step(actions[row])[2] == terminated[row]
            if terminated[row]:
                margin = 0.0
                seat = int(infos["final_info"]["seat"][row])
                for deal in single.score_sheet.deals:
                    for pair in (deal.poker, deal.sweep, deal.game_bonus, deal.rubber_bonus):
                        margin += pair[seat] - pair[1 - seat]
                assert totals[row] == margin
                totals[row] = 0.0
                episodes[row] += 1
                step_ended[row] = step
                single.reset()
        if episodes.min() >= 50:
            break
    assert episodes.min() >= 50


def test_cut_match_counts_as_finished() -> None:
    for settings, cut in (
        ({"match": "deal"}, False),
        ({"match": "deal", "max_deals": 1}, False),
        ({"match": "rubber", "max_deals": 1}, True),
    ):
        envs, infos = begun(6, **settings)
        ended = 0
        for _, _, terminated, truncated, _ in play(envs, infos, np.random.default_rng(4), 40):
            assert not (terminated & truncated).any()
            assert not (terminated if cut else truncated).any()
            ended += (terminated | truncated).sum()
        assert ended > 6


def test_forfeit_counts_as_truncated_or_costs_nothing() -> None:
    envs, infos = begun(6, match="rubber", reward_scale=0.5)
    actions = choose(infos["action_mask"], np.random.default_rng(5))
    actions[[1, 4]] = [-1, 31]
    actions[4] = 32
    _, rewards, terminated, truncated, infos = envs.step(actions)
    assert terminated.tolist() == [False, True, False, False, True, False]
    assert not truncated.any()
    assert rewards[[1, 4]].tolist() == [-500.0, -500.0]
    final = infos["final_info"]
    assert final["illegal_action"].tolist() == terminated.tolist()
    seats = final["seat"][[1, 4]]
    assert final["forfeited_by"][[1, 4]].tolist() == [f"player_{seat}" for seat in seats]
    assert final["forfeited_by"][0] is None
    assert infos["action_mask"].any(axis=1).all()


# --- wrappers -------------------------------------------------------------------------------------


def test_wrappers_of_gymnasium_break_it() -> None:
    """They find what they find in SyncVectorEnv, whatever their release makes of it."""
    plain, infos = begun(4, seed=6)
    sync = SyncVectorEnv([poke_v0.single_env] * 4, autoreset_mode=AutoresetMode.SAME_STEP)
    wrapped, expected = (
        TransformReward(RecordEpisodeStatistics(envs), lambda reward: reward / 500)
        for envs in (gymnasium.make_vec("sackson/Poke-v0", num_envs=4), sync)
    )
    assert (wrapped.reset(seed=6)[0] == expected.reset(seed=6)[0]).all()
    rng = np.random.default_rng(6)
    ended = 0
    for _ in range(60):
        actions = choose(infos["action_mask"], rng)
        seen, rewards, terminated, _, infos = plain.step(actions)
        shown, others = wrapped.step(actions), expected.step(actions)
        assert (shown[0] == seen).all()
        assert np.allclose(shown[1], rewards / 500)
        assert (shown[2] == terminated).all()
        assert shown[4].keys() == others[4].keys()
        if terminated.any():
            for key in ("r", "l"):
                assert np.array_equal(shown[4]["episode"][key], others[4]["episode"][key])
            ended += terminated.sum()
    assert ended > 8
    scaled = NormalizeReward(gymnasium.make_vec("sackson/Poke-v0", num_envs=4))
    infos = scaled.reset(seed=0)[1]
    for _ in range(30):
        _, rewards, _, _, infos = scaled.step(choose(infos["action_mask"], rng))
        assert np.isfinite(rewards).all()


def test_array_that_was_handed_out_is_still_in_use() -> None:
    envs, infos = begun(4, seed=7)
    twin, _ = begun(4, seed=7)
    rng = np.random.default_rng(7)
    kept = []
    for _ in range(40):
        actions = choose(infos["action_mask"], rng)
        shown, expected = envs.step(actions), twin.step(actions)
        assert equal_trees(shown[:4], expected[:4])
        infos = copy.deepcopy(shown[4])
        assert (infos["action_mask"] == expected[4]["action_mask"]).all()
        kept.append((copy.deepcopy(expected[:4]), expected[:4]))
        for array in (*shown[:4], shown[4]["action_mask"], shown[4]["seat"]):
            array.view(np.uint8).fill(77)
    for before, array in kept:
        assert equal_trees(before, array)


# --- the order of calls, wrong arguments ----------------------------------------------------------


def test_call_before_reset_is_not_explained() -> None:
    envs = poke_v0.vector_env(3)
    with pytest.raises(ResetNeeded, match=r"reset\(\)"):
        envs.step(np.zeros(3, int))
    with pytest.raises(ValueError, match="dealer"):
        envs.reset(options={"dealer": 7})
    with pytest.raises(ResetNeeded, match=r"reset\(\)"):
        envs.step(np.zeros(3, int))
    envs.reset()
    envs.step(np.zeros(3, int))


@pytest.mark.parametrize(
    "actions",
    [np.zeros(4, int), np.zeros(3), np.zeros(3, bool), [0, 0, None], None, 0, [[0], [0], [0]],
     [[1, 2], 3, 4], [0.0, 1, 1], np.full(3, np.nan), [2**70, 0, 0]],
    ids=str,
)  # fmt: skip
def test_actions_of_another_shape_or_type_are_played(actions: Any) -> None:
    envs, infos = begun(3)
    twin, _ = begun(3)
    with pytest.raises(ValueError, match=r"actions must be integers of shape \(3,\)"):
        envs.step(actions)
    rng, other = np.random.default_rng(0), np.random.default_rng(0)
    for mine, its in zip(play(envs, infos, rng, 10), play(twin, infos, other, 10), strict=True):
        assert equal_trees(mine[:4], its[:4])


@pytest.mark.parametrize(
    "bad",
    [{"seed": -1}, {"seed": 1.5}, {"seed": [1, 2]}, {"options": {"dealer": 2}},
     {"options": {"deck": [[1]]}}, {"options": {"score": 1}}, {"options": {"dek": 1}}],
    ids=str,
)  # fmt: skip
def test_bad_reset_disturbs_the_matches(bad: dict[str, Any]) -> None:
    envs, infos = begun(3)
    twin, _ = begun(3)
    with pytest.raises(ValueError, match=r"seed|dealer|deck|score|dek"):
        envs.reset(**bad)
    actions = choose(infos["action_mask"], np.random.default_rng(0))
    assert equal_trees(envs.step(actions)[:4], twin.step(actions)[:4])
    assert equal_trees(envs.reset(), twin.reset())


@pytest.mark.parametrize(
    "name, bad",
    [("num_envs", 0), ("seat", 2), ("seat", "0"), ("seat", True), ("opponent", "random"),
     ("opponent", RandomAgent), ("opponent", object()), ("match", "hand"), ("threads", 0)],
)  # fmt: skip
def test_wrong_argument_is_taken(name: str, bad: Any) -> None:
    with pytest.raises(ValueError, match=name):
        poke_v0.vector_env(**{"num_envs": 3, name: bad})


def test_seed_does_not_fix_the_matches() -> None:
    for seed in (0, 2**64 - 1, 2**200, [7, 7, 3]):
        runs = []
        for _ in range(2):
            envs = poke_v0.vector_env(3)
            infos = envs.reset(seed=seed)[1]
            runs.append(play(envs, infos, np.random.default_rng(0), 30))
        assert equal_trees([run[:4] for run in runs[0]], [run[:4] for run in runs[1]])
    decks = {bytes(deck) for _ in range(3) for deck in begun(5, None)[0].envs.deck}
    assert len(decks) == 15


# --- the opponent ---------------------------------------------------------------------------------


def test_learner_moves_for_an_opponent_that_failed() -> None:
    """After an opponent's exception only a reset goes on, and then everything is as it should."""
    envs, infos = begun(8, opponent=OnlyAct(RuntimeError("out of ideas"), 40), match="game")
    rng = np.random.default_rng(8)
    with pytest.raises(RuntimeError, match="out of ideas"):
        play(envs, infos, rng, 200)
    for _ in range(2):
        with pytest.raises(ResetNeeded, match=r"reset\(\)"):
            envs.step(np.zeros(8, int))
    for player in envs.opponent.agents:
        player.player.key = 0
    twin, other = begun(8, seed=4, opponent=OnlyAct(), match="game")
    infos = envs.reset(seed=4)[1]
    rng, same = np.random.default_rng(1), np.random.default_rng(1)
    runs = play(envs, infos, rng, 30), play(twin, other, same, 30)
    assert equal_trees([run[:4] for run in runs[0]], [run[:4] for run in runs[1]])

    failing = poke_v0.vector_env(2, OnlyAct(RuntimeError("no"), 1), seat=0)
    with pytest.raises(RuntimeError, match="no"):
        failing.reset(seed=0, options={"dealer": 0})
    with pytest.raises(ResetNeeded, match=r"reset\(\)"):
        failing.step(np.zeros(2, int))
    assert failing.reset(seed=0, options={"dealer": 1})[1]["action_mask"].any(axis=1).all()


def test_opponent_is_shared_between_rows_or_with_its_owner() -> None:
    mine = OnlyAct()
    envs, infos = begun(3, opponent=mine)
    play(envs, infos, np.random.default_rng(9), 30)
    assert mine.seeds == []
    seeds = [player.player.seeds for player in envs.opponent.agents]
    assert len({id(one) for one in seeds}) == 3
    assert all(len(one) > 2 for one in seeds)  # one for every match
    flat = [seed for one in seeds for seed in one]
    assert len(set(flat)) == len(flat)
    assert all(isinstance(seed, int) and 0 <= seed < 2**63 for seed in flat)


class Counting(RandomAgent):
    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.resets: list[Any] = []
        super().__init__()

    def reset(self, seed: int | None = None) -> None:
        self.resets.append(seed)
        super().reset(seed)

    def choose(self, observations: Any, masks: Any, keys: Any) -> Any:
        self.sizes.append(len(masks))
        assert masks.any(axis=1).all()
        return super().choose(observations, masks, keys)


def test_agent_is_asked_row_by_row() -> None:
    mine = Counting()
    envs, infos = begun(50, opponent=mine, match="game")
    assert mine.sizes == []
    player = envs.opponent.agent
    assert player is not mine
    assert len(player.resets) == 2  # its own, and that of the environment
    player.sizes.clear()
    play(envs, infos, np.random.default_rng(10), 20)
    assert max(player.sizes) > 10
    assert len(player.sizes) < 20 * 12
    assert len(player.resets) == 2


class Scribbler(RandomAgent):
    def choose(self, observations: Any, masks: Any, keys: Any) -> Any:
        chosen = super().choose(observations, masks, keys)
        observations.fill(9)
        masks.fill(1)
        return chosen


def test_opponent_that_writes_into_its_observations_disturbs_the_matches() -> None:
    envs, infos = begun(6, opponent=Scribbler(), match="game")
    twin, _ = begun(6, opponent=RandomAgent(), match="game")
    rng, other = np.random.default_rng(11), np.random.default_rng(11)
    runs = play(envs, infos, rng, 40), play(twin, infos, other, 40)
    assert equal_trees([run[:4] for run in runs[0]], [run[:4] for run in runs[1]])
    assert (runs[0][-1][4]["action_mask"] == runs[1][-1][4]["action_mask"]).all()


class Unlike:
    """An agent whose `act_batch` returns what a function makes of right answers."""

    def __init__(self, change: Any) -> None:
        self.change = change

    def act(self, observation: Any, key: Any = None) -> int:
        raise NotImplementedError

    def act_batch(self, observations: Any, masks: Any, keys: Any = None) -> Any:
        return self.change(masks.argmax(axis=1))

    def reset(self, seed: int | None = None) -> None:
        pass


@pytest.mark.parametrize(
    "change",
    [lambda right: right[:-1], lambda right: np.append(right, 0), lambda right: None,
     lambda right: 0, lambda right: np.array(3)],
)  # fmt: skip
def test_too_few_answers_of_an_opponent_are_played(change: Any) -> None:
    with pytest.raises(ValueError, match="a player must return"):
        play(*begun(3, opponent=Unlike(change)), np.random.default_rng(0), 5)


@pytest.mark.parametrize(
    "change",
    [lambda right: right.tolist(), tuple, lambda right: right.astype(np.int8),
     lambda right: right.astype(np.uint64), lambda right: right.astype(object),
     lambda right: [np.int16(one) for one in right],
     lambda right: [np.array(one) for one in right]],
)  # fmt: skip
def test_right_answers_of_another_type_are_forfeits(change: Any) -> None:
    settings = {"match": "rubber", "rules": "small"}
    runs = []
    for opponent in (Unlike(change), Unlike(lambda right: right)):
        envs, infos = begun(3, opponent=opponent, **settings)
        runs.append(play(envs, infos, np.random.default_rng(0), 40))
    assert equal_trees([run[:4] for run in runs[0]], [run[:4] for run in runs[1]])
    assert not any("illegal_action" in run[4].get("final_info", {}) for run in runs[0])


def test_what_is_no_integer_is_taken_for_one() -> None:
    answers = [1, np.int8(2), None, 1.0, True, np.bool_(True), "3", 2**80, -(2**80), [4], object()]
    numbers = as_actions(answers, len(answers))
    assert numbers.dtype == np.int64
    assert numbers.tolist() == [1, 2, *[NO_ACTION] * 5, 2**62, -(2**62), *[NO_ACTION] * 2]
    for wrong in (answers[1:], 3, None, np.zeros((2, 11), int)):
        with pytest.raises(ValueError, match="a player must return 11 actions"):
            as_actions(wrong, 11)
    columns = as_actions(np.ones((11, 1), int), 11)
    assert (columns == NO_ACTION).all()


@pytest.mark.parametrize("bad", [None, 1.5, True, "3", 2**70, [1], (1, 2), np.array([1, 2])])
def test_completed_player_hides_what_is_no_integer(bad: Any) -> None:
    """A player with `act` alone: int64 (B,) where it can be, else everything as it came."""

    class Sometimes:
        def act(self, observation: Any, key: Any = None) -> Any:
            return bad if key == 1 else int(observation["action_mask"].argmax())

    player = as_agent(Sometimes())
    seen, masks = np.zeros((3, 265), np.float32), np.eye(3, 32, dtype=np.int8)
    good = player.act_batch(seen, masks, [0, 2, 3])
    assert good.dtype == np.int64
    assert good.tolist() == [0, 1, 2]
    assert player.act_batch(seen, masks).tolist() == [0, 1, 2]
    assert player.act_batch(seen[:0], masks[:0], []).shape == (0,)
    chosen = player.act_batch(seen, masks, [0, 1, 2])
    assert chosen.shape == (3,)
    assert chosen[1] is bad
    assert [chosen[0], chosen[2]] == [0, 2]
    assert as_actions(chosen, 3)[1] not in range(32)


class Rows:
    """A `RowPlayer` that answers what a function makes of right answers."""

    def __init__(self, change: Any) -> None:
        self.change = change

    def begin(self, rows: Any, seeds: Any) -> None:
        assert seeds.dtype == np.uint64
        assert len(rows) == len(seeds)
        assert (seeds < 2**63).all()

    def act_rows(self, rows: Any, observations: Any, masks: Any, keys: Any) -> Any:
        assert len(rows) == len(observations) == len(masks) == len(keys)
        return self.change(masks.argmax(axis=1))


def test_answers_of_a_row_player_are_repaired() -> None:
    """What is no integer forfeits instead of being rounded; one answer is not meant for all."""
    for change in (
        lambda right: right + 0.5,
        lambda right: right.astype(float),
        lambda right: right.astype(bool),
        lambda right: [None] * len(right),
    ):
        envs, infos = begun(4, opponent=Rows(change), seat=0)
        terminated = np.zeros(4, bool)
        while not terminated.any():
            actions = infos["action_mask"].argmax(axis=1)
            _, rewards, terminated, _, infos = envs.step(actions)
        assert (rewards[terminated] == 1000).all()
        assert set(infos["final_info"]["forfeited_by"][terminated]) == {"player_1"}
    for change in (lambda right: 0, lambda right: right[:1], lambda right: np.zeros((4, 2), int)):
        with pytest.raises(ValueError, match="a player must return"):
            begun(5, opponent=Rows(change))
    one, infos = begun(4, opponent=Rows(lambda right: right), match="game")
    other, _ = begun(4, opponent=Unlike(lambda right: right), match="game")
    rng, same = np.random.default_rng(0), np.random.default_rng(0)
    runs = play(one, infos, rng, 40), play(other, infos, same, 40)
    assert equal_trees([run[:4] for run in runs[0]], [run[:4] for run in runs[1]])


def test_class_is_taken_for_a_player() -> None:
    with pytest.raises(ValueError, match="opponent: a player must have act"):
        poke_v0.vector_env(3, Rows)


def test_seed_of_the_constructor_fixes_decks_alone() -> None:
    """It is refused, as the single environment refuses it; `reset` takes seeds."""
    with pytest.raises(TypeError, match="seed"):
        poke_v0.vector_env(3, seed=0)


def test_player_that_cannot_be_copied_breaks_without_a_reason() -> None:
    class Alone(OnlyAct):
        def __deepcopy__(self, memo: Any) -> Any:
            raise TypeError("there is only one of me")

    with pytest.raises(ValueError, match=r"copy.deepcopy.*only one of me"):
        as_row_player(Alone(), 3)


@pytest.mark.parametrize("opponent", [None, OnlyAct(31, 11)], ids=["random", "only act"])
def test_copy_in_mid_match_plays_another_match(opponent: Any) -> None:
    envs, infos = begun(4, opponent=opponent, match="rubber", max_deals=3)
    infos = play(envs, infos, np.random.default_rng(12), 25)[-1][4]
    for twin in (copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))):
        runs = []
        for each in (copy.deepcopy(envs), twin):
            rng = np.random.default_rng(13)
            runs.append([run[:4] for run in play(each, infos, rng, 60)])
            runs[-1].append(each.reset()[0])
        assert equal_trees(*runs)
