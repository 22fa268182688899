"""The Gymnasium environment of one learner: rewards, seats, streams and its opponent."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from itertools import product
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from helpers import CONFIGURATIONS, RULES, is_over, legal_actions, name_of, payoff
from poke_env import poke_v0
from poke_env.agent import RandomAgent


class Scripted:
    """An opponent that does what a function of observation and key says, and takes notes."""

    def __init__(self, choose: Callable[[Mapping[str, Any], Any], Any]) -> None:
        self.choose = choose
        self.seeds: list[Any] = []
        self.keys: list[Any] = []
        self.observations: list[Any] = []

    def act(self, observation: Mapping[str, Any], key: Any = None) -> Any:
        self.keys.append(key)
        self.observations.append(observation)
        return self.choose(observation, key)

    def act_batch(self, observations: Any, masks: Any, keys: Any = None) -> Any:
        raise NotImplementedError

    def reset(self, seed: int | None = None) -> None:
        self.seeds.append(seed)


def first_legal(observation: Mapping[str, Any], key: Any = None) -> int:
    return int(np.flatnonzero(observation["action_mask"])[0])


def play_match(
    env: Any, rng: np.random.Generator, seed: int | None = None, options: Any = None
) -> tuple[float, dict[str, Any], list[Any]]:
    """Play one match at random: total reward, last info, and all that was seen."""
    observation, info = env.reset(seed=seed, options=options)
    total, over, seen = 0.0, False, [observation]
    while not over:
        action = int(rng.choice(np.flatnonzero(info["action_mask"])))
        observation, reward, terminated, truncated, info = env.step(action)
        total += reward
        over = terminated or truncated
        seen += [reward, observation]
    return total, info, seen


# --- rewards --------------------------------------------------------------------------------------


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=name_of)
def test_learner_misses_reward_between_its_decisions(configuration: dict[str, Any]) -> None:
    """All reward of the match reaches the learner, whoever moved last."""
    env = poke_v0.single_env(**configuration)
    rng = np.random.default_rng(0)
    for number in range({"deal": 40, "game": 15, "rubber": 6}[configuration["match"]]):
        total, info, _ = play_match(env, rng, seed=0 if number == 0 else None)
        sign = 1 if info["seat"] == 0 else -1
        assert total == pytest.approx(sign * payoff(env.aec), abs=1e-9)


def test_score_at_the_start_is_paid_as_reward() -> None:
    env = poke_v0.single_env(match="rubber", seat=0)
    rng = np.random.default_rng(1)
    score = {"above": (5000, 100), "games": (1, 1), "below": (19, 0)}
    total, _, _ = play_match(env, rng, seed=1, options={"score": score})
    above = env.score_sheet.above
    assert total == (above[0] - above[1]) - 4900


def test_step_after_the_end_begins_something() -> None:
    env = poke_v0.single_env()
    with pytest.raises(ResetNeeded, match=r"reset\(\)"):
        env.step(0)
    play_match(env, np.random.default_rng(0), seed=0)
    for action in (0, 1, None):
        with pytest.raises(ResetNeeded, match=r"reset\(\)"):
            env.step(action)
    env.reset()
    env.step(-1)
    with pytest.raises(ResetNeeded, match=r"reset\(\)"):
        env.step(0)
    env.reset()
    env.step(0)


def test_call_before_reset_is_not_explained() -> None:
    for call in ("action_masks", "render"):
        env = poke_v0.single_env(render_mode="ansi")
        with pytest.raises((AttributeError, ResetNeeded), match=r"reset\(\)"):
            getattr(env, call)()
    with pytest.raises((AttributeError, ResetNeeded), match=r"reset\(\)"):
        poke_v0.single_env().score_sheet  # noqa: B018


# --- seats ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seat", [0, 1])
def test_fixed_seat_changes(seat: int) -> None:
    env = poke_v0.single_env(seat=seat)
    rng = np.random.default_rng(0)
    for number in range(20):
        _, info = env.reset(seed=number if number % 3 == 0 else None)
        assert info["seat"] == seat
        assert play_match(env, rng)[1]["seat"] == seat
    dealers = set()
    for _ in range(40):
        env.reset()
        dealers.add(env.score_sheet.dealer)
    assert dealers == {0, 1}  # the seat is fixed, not the deal


def test_learner_always_has_the_same_seat() -> None:
    env = poke_v0.single_env(seat="random")
    seats, starts = [], []
    env.reset(seed=0)
    for _ in range(200):
        observation, info = env.reset()
        seats.append(info["seat"])
        starts.append(not poke_v0.decode(observation)["dealer"])
        assert env.action_masks().any()
        assert poke_v0.decode(observation)["to_move"]
    assert 75 <= sum(seats) <= 125
    assert 75 <= sum(starts) <= 125
    both = np.mean(np.array(seats) == np.array(starts))
    assert 0.35 < both < 0.65  # one does not follow from the other


@pytest.mark.parametrize("seat", [2, -1, "0", "player_0", None, True, 1.5])
def test_unknown_seat_passes(seat: Any) -> None:
    with pytest.raises(ValueError, match="seat must be 'random' or one of") as caught:
        poke_v0.single_env(seat=seat)
    assert repr(seat) in str(caught.value)


# --- streams --------------------------------------------------------------------------------------


def test_seat_opponent_or_policy_changes_the_decks_of_a_seed() -> None:
    """Decks and dealers are those of the AEC environment with this seed, match by match."""
    bare = poke_v0.raw_env(match="deal")
    learners = [
        poke_v0.single_env(seat=0),
        poke_v0.single_env(seat=1),
        poke_v0.single_env(seat="random", opponent=Scripted(first_legal)),
        poke_v0.single_env(reward="win"),
    ]
    for number in range(6):
        seed = 9 if number == 0 else None
        bare.reset(seed=seed)
        for index, env in enumerate(learners):
            rng = np.random.default_rng(100 * index + number)
            env.reset(seed=seed)
            assert env.aec.deck == bare.deck
            assert env.score_sheet.dealer == bare.score_sheet.dealer
            for _ in range(index):  # play on for a while, or to the end
                if not is_over(env.aec):
                    env.step(int(rng.choice(env.action_masks().nonzero()[0])))


def test_seed_does_not_fix_the_match() -> None:
    one = poke_v0.single_env(match="game")
    other = poke_v0.single_env(match="game")
    for seed in (0, 5, 2**100):
        for number in range(3):
            first = play_match(one, np.random.default_rng(1), seed if number == 0 else None)
            second = play_match(other, np.random.default_rng(1), seed if number == 0 else None)
            assert str(first) == str(second)
    assert str(play_match(one, np.random.default_rng(1), 1)) != str(
        play_match(other, np.random.default_rng(1), 2)
    )


def test_unseeded_environments_are_alike() -> None:
    decks = set()
    for _ in range(5):
        env = poke_v0.single_env()
        env.reset()
        decks.add(tuple(env.aec.deck))
    assert len(decks) == 5


@pytest.mark.parametrize(
    "name, bad",
    [
        ("seed", {"seed": -1}),
        ("seed", {"seed": 1.5}),
        ("dealer", {"options": {"dealer": 2}}),
        ("score", {"options": {"score": 1}}),
    ],
)
def test_bad_reset_disturbs_the_match(name: str, bad: dict[str, Any]) -> None:
    one, other = poke_v0.single_env(), poke_v0.single_env()
    for env in (one, other):
        env.reset(seed=3)
        env.step(0)
    with pytest.raises(ValueError, match=name):
        one.reset(**bad)
    rng = np.random.default_rng(0)
    while not is_over(one.aec):
        action = int(rng.choice(one.action_masks().nonzero()[0]))
        assert str(one.step(action)) == str(other.step(action))
    assert str(one.reset()) == str(other.reset())


def test_options_do_not_reach_the_match() -> None:
    env = poke_v0.single_env(seat=0)
    deck = list(range(51, -1, -1))
    observation, _ = env.reset(options={"deck": deck, "dealer": 1, "score": {"above": (3, 4)}})
    seen = poke_v0.decode(observation)
    assert seen["hand"] == (47, 48, 49, 50, 51)
    assert seen["above"] == (3, 4)
    assert not seen["dealer"]


# --- the opponent ---------------------------------------------------------------------------------


def test_opponent_is_shared_with_its_owner() -> None:
    """The environment plays with a copy of its own."""
    opponent = Scripted(first_legal)
    first, second = poke_v0.single_env(opponent=opponent), poke_v0.single_env(opponent=opponent)
    for env in (first, second):
        play_match(env, np.random.default_rng(0), seed=0)
        assert env.opponent is not opponent
        assert env.opponent.keys
        assert len(env.opponent.seeds) == 1
    assert opponent.keys == opponent.seeds == []
    assert first.opponent.keys == second.opponent.keys


def test_opponent_gets_neither_seed_nor_keys() -> None:
    """It is reset from the environment's stream at every reset and gets a key at every turn."""
    env = poke_v0.single_env(opponent=Scripted(first_legal), match="game")
    rng = np.random.default_rng(0)
    for number in range(10):
        play_match(env, rng, seed=4 if number == 0 else None)
    seeds, keys = env.opponent.seeds, env.opponent.keys
    assert len(seeds) == len(set(seeds)) == 10
    assert all(isinstance(seed, int) and seed >= 0 for seed in seeds)
    assert all(isinstance(key, np.uint64) for key in keys)
    assert len(set(keys)) == len(keys) > 50


def test_opponent_sees_the_learners_observation() -> None:
    """It gets the observation and mask of the seat it plays, and only on its own turns."""
    env = poke_v0.single_env(opponent=Scripted(first_legal), match="game", seat="random")
    rng = np.random.default_rng(0)
    for number in range(10):
        observation, info = env.reset(seed=6 if number == 0 else None)
        over = False
        env.opponent.observations.clear()
        while not over:
            deals = len(env.score_sheet.deals)
            action = int(rng.choice(np.flatnonzero(info["action_mask"])))
            observation, _, over, _, info = env.step(action)
            own = poke_v0.decode(observation)
            for observed in env.opponent.observations:
                seen = poke_v0.decode(observed)
                assert seen["to_move"]
                assert observed["action_mask"].any()
                if len(env.score_sheet.deals) == deals and not over:
                    assert seen["dealer"] != own["dealer"]
                    assert not set(seen["hand"]) & set(own["hand"])
            env.opponent.observations.clear()


def test_opponent_that_writes_into_its_observation_disturbs_the_match() -> None:
    def scribble(observation: Mapping[str, Any], key: Any) -> int:
        action = first_legal(observation)
        observation["observation"].fill(9)
        observation["action_mask"].fill(1)
        return action

    one = poke_v0.single_env(opponent=Scripted(scribble))
    other = poke_v0.single_env(opponent=Scripted(first_legal))
    for seed in range(10):
        first = play_match(one, np.random.default_rng(seed), seed)
        second = play_match(other, np.random.default_rng(seed), seed)
        assert str(first) == str(second)


@pytest.mark.parametrize("opponent", ["random", 3, object(), RandomAgent.act])
def test_something_else_is_taken_for_an_opponent(opponent: Any) -> None:
    with pytest.raises(ValueError, match="opponent: a player must have act"):
        poke_v0.single_env(opponent=opponent)


@pytest.mark.parametrize("bad", [31, -1, None, "pat", 1.0, 10**30])
def test_opponents_illegal_action_is_the_learners_trouble(bad: Any) -> None:
    """It forfeits: the learner gets the penalty, and the infos say who it was."""
    turns_left = [0]

    def sometimes(observation: Mapping[str, Any], key: Any) -> Any:
        turns_left[0] -= 1
        return first_legal(observation) if turns_left[0] >= 0 else bad

    endings = set()
    for seat, dealer, good in product((0, 1), (0, 1), range(4)):
        env = poke_v0.single_env(opponent=Scripted(first_legal), match="game", seat=seat)
        env.opponent.choose = sometimes
        turns_left[0] = good
        _, info = env.reset(seed=good, options={"dealer": dealer})
        total, over = 0.0, False
        while not over:
            endings.add("in step" if info["action_mask"].any() else "in reset")
            action = first_legal(info) if info["action_mask"].any() else 0
            _, reward, over, truncated, info = env.step(action)
            total += reward
        assert not truncated
        assert total == pytest.approx(1000 + points(env, seat))
        assert info["illegal_action"] is True
        assert info["forfeited_by"] == f"player_{1 - seat}"
        assert not env.action_masks().any()
        with pytest.raises(ResetNeeded):
            env.step(0)
        turns_left[0] = 1000
        assert env.reset()[1]["action_mask"].any()
    assert endings == {"in step", "in reset"}


def points(env: Any, seat: int) -> float:
    return sum(
        pair[seat] - pair[1 - seat]
        for deal in env.score_sheet.deals
        for pair in (deal.poker, deal.sweep, deal.game_bonus, deal.rubber_bonus)
    )


def test_learner_moves_for_an_opponent_that_failed() -> None:
    """After an opponent's exception only a reset goes on; the learner never plays its hand."""

    def fail(observation: Mapping[str, Any], key: Any) -> int:
        raise RuntimeError("out of ideas")

    env = poke_v0.single_env(opponent=Scripted(fail), seat=0)
    env.reset(seed=0, options={"dealer": 1})
    with pytest.raises(RuntimeError, match="out of ideas"):
        env.step(0)  # pat, and the dealer is to draw
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset(seed=0, options={"dealer": 1})
    with pytest.raises(RuntimeError, match="out of ideas"):
        env.reset(seed=0, options={"dealer": 0})
    with pytest.raises(ResetNeeded):
        env.step(0)
    env.reset(seed=0, options={"dealer": 1})
    assert env.action_masks().any()


def test_default_opponent_is_not_random_or_not_uniform() -> None:
    env = poke_v0.single_env(seat=0)
    assert isinstance(env.opponent, RandomAgent)
    env.reset(seed=0)
    counts = np.zeros(4, int)
    for _ in range(400):  # the opponent's first draw, by the number of cards it shows
        env.reset(options={"dealer": 0})
        counts[(*poke_v0.decode(env.aec.observe("player_0"))["draws"][1], 0)[0]] += 1
    expected = np.array([1, 5, 10, 10]) / 26 * 400
    assert ((counts - expected) ** 2 / expected).sum() < 16.3  # chi-square, 3 degrees, p = 0.001


def test_infos_of_the_learner_are_shared_or_read_only() -> None:
    env = poke_v0.single_env()
    rng = np.random.default_rng(0)
    _, info = env.reset(seed=0)
    over = False
    while not over:
        mask = info["action_mask"].copy()
        info["action_mask"].fill(1)
        assert np.array_equal(env.action_masks(), mask)
        assert np.array_equal(env.aec.infos[f"player_{info['seat']}"]["action_mask"], mask)
        _, _, over, _, info = env.step(int(rng.choice(mask.nonzero()[0])))
    info["action_mask"].fill(1)
    assert not env.action_masks().any()


# --- inside Gymnasium's vector environments -------------------------------------------------------


def vector(mode: AutoresetMode, seat: int) -> SyncVectorEnv:
    return SyncVectorEnv(
        [lambda: gymnasium.make("sackson/Poke-v0", seat=seat, disable_env_checker=True)] * 2,
        autoreset_mode=mode,
    )


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize("seat", [0, 1])
def test_final_reward_is_counted_twice_or_never(mode: AutoresetMode, seat: int) -> None:
    """Fifty episodes: every final reward once, and no match moves on an action that is ignored."""
    envs = vector(mode, seat)
    envs.reset(seed=3)
    rng = np.random.default_rng(0)
    totals = np.zeros(2)
    waiting = np.zeros(2, bool)
    episodes = 0
    while episodes < 50:
        actions = []
        for index, env in enumerate(envs.envs):
            mask = env.get_wrapper_attr("action_masks")()
            assert mask.any() != waiting[index]
            actions.append(rng.choice(mask.nonzero()[0]) if mask.any() else 31)
        _, rewards, terminated, truncated, infos = envs.step(np.array(actions))
        assert not truncated.any()
        for index, env in enumerate(envs.envs):
            if waiting[index]:  # the ignored action: a match is dealt and nothing is played
                assert rewards[index] == 0
                assert not terminated[index]
                assert not env.unwrapped.score_sheet.deals
                assert poke_v0.decode(env.unwrapped.aec.observe(f"player_{seat}"))["draws"][0] == ()
            totals[index] += rewards[index]
            if terminated[index]:
                episodes += 1
                if mode is AutoresetMode.SAME_STEP:
                    last = infos["final_obs"][index]
                    assert poke_v0.decode(last)["phase"] == "over"
                    assert not env.unwrapped.score_sheet.deals  # the next match already
                    assert infos["final_info"]["seat"][index] == seat
                else:
                    [deal] = env.unwrapped.score_sheet.deals
                    assert totals[index] == deal.points(50.0)[seat]
                totals[index] = 0
        waiting = terminated & (mode is AutoresetMode.NEXT_STEP)


def test_autoreset_modes_play_other_matches() -> None:
    """The two modes give the same total rewards in the same episodes."""
    sums = []
    for mode in (AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP):
        envs = vector(mode, seat=1)
        envs.reset(seed=8)
        finished: list[list[float]] = [[], []]
        totals = np.zeros(2)
        while min(map(len, finished)) < 25:
            actions = [
                (*env.get_wrapper_attr("action_masks")().nonzero()[0], 0)[0] for env in envs.envs
            ]
            _, rewards, over, _, _ = envs.step(np.array(actions))
            totals += rewards
            for index in np.flatnonzero(over):
                finished[index].append(totals[index])
                totals[index] = 0
        sums.append([row[:25] for row in finished])
    assert sums[0] == sums[1]


# --- copies and other things ----------------------------------------------------------------------


def test_pickled_learner_plays_another_match() -> None:
    env = poke_v0.single_env(match="game")
    env.reset(seed=0)
    for _ in range(3):
        env.step(int(env.action_masks().nonzero()[0][0]))
    twin = pickle.loads(pickle.dumps(env))
    rng = np.random.default_rng(0)
    over = False
    while not over:
        action = int(rng.choice(env.action_masks().nonzero()[0]))
        mine, other = env.step(action), twin.step(action)
        assert str(mine) == str(other)
        over = mine[2]
    for _ in range(3):
        assert str(env.reset()) == str(twin.reset())


@pytest.mark.parametrize("preset", RULES)
def test_masks_of_the_learner_are_not_its_legal_actions(preset: str) -> None:
    env = poke_v0.single_env(rules=RULES[preset], match="game")
    rng = np.random.default_rng(0)
    env.reset(seed=0)
    for _ in range(200):
        mask = env.action_masks()
        assert mask.dtype == bool
        assert mask.shape == (env.action_space.n,)
        assert mask.nonzero()[0].tolist() == legal_actions(env.aec)
        mask[:] = True  # the caller's to keep
        _, _, over, _, info = env.step(int(rng.choice(legal_actions(env.aec))))
        assert np.array_equal(info["action_mask"], env.action_masks().astype(np.int8))
        assert info["action_mask"].dtype == np.int8
        if over:
            env.reset()
