"""The batch as stable-baselines3 sees it, and the opponents of self-play in its rows.

Each test is named after the fault it guards against.
"""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.logger import Logger
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import VecMonitor

from agents.network import Network
from players import OneByOne
from poke_env import observation, poangpoker_v0, poke_v0
from poke_env.agent import RandomAgent
from poke_env.row_player import NO_ACTION, RowPlayer
from training.central_critic import CentralCriticPolicy
from training.export import network_of
from training.pool import CURRENT, MOST_IN_PLAY, SNAPSHOT, OpponentPool, PoolPlayers, Tally
from training.vec_env import BatchVecEnv

GAME = poke_v0.raw_env.game
SIZE = observation.length(GAME)


def vec(rows: int = 4, opponent: Any = None, seed: int | None = 0, **settings: Any) -> BatchVecEnv:
    envs = BatchVecEnv(poke_v0.vector_env(rows, opponent, **settings))
    if seed is not None:
        envs.seed(seed)
    return envs


def choose(envs: BatchVecEnv, rng: np.random.Generator) -> Any:
    """One random legal action a row."""
    masks = get_action_masks(envs)
    return np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)


def play(envs: BatchVecEnv, rng: np.random.Generator, steps: int) -> list[Any]:
    return [envs.step(choose(envs, rng)) for _ in range(steps)]


def uniform(actions: int = 32) -> Network:
    return Network((SIZE, actions), "relu", np.zeros((SIZE + 1) * actions, np.float32))


def prefers(action: int, actions: int = 32) -> Network:
    """A network that plays one action wherever it is legal."""
    parameters = np.zeros((SIZE + 1) * actions, np.float32)
    parameters[-actions + action] = 50.0
    return Network((SIZE, actions), "relu", parameters)


# --- what stable-baselines3 asks for --------------------------------------------------------------


def test_learner_cannot_learn_with_it() -> None:
    envs = vec(8, rules="small")
    model = MaskablePPO("MlpPolicy", envs, n_steps=32, batch_size=64, n_epochs=1, seed=0,
                        device="cpu")  # fmt: skip
    assert model.env is envs
    model.learn(512)
    assert model.num_timesteps == 512
    assert all(values.isfinite().all() for values in model.policy.parameters())
    assert len(model.ep_info_buffer) > 10
    assert all(info["forfeited_by"] is None for info in played_infos(model, envs))


def played_infos(model: MaskablePPO, envs: BatchVecEnv) -> list[dict[str, Any]]:
    """Infos of the matches that end while the model plays on."""
    seen, infos = envs.reset(), []
    for _ in range(40):
        actions, _ = model.predict(seen, action_masks=get_action_masks(envs))
        seen, _, dones, found = envs.step(actions)
        infos += [found[row] for row in np.flatnonzero(dones)]
    assert infos
    return infos


def test_same_seed_trains_another_player() -> None:
    weights = []
    for seed in (0, 0, 1):
        model = MaskablePPO("MlpPolicy", vec(4, None, None), n_steps=16, batch_size=32, seed=seed,
                            n_epochs=1, device="cpu")  # fmt: skip
        model.learn(64)
        weights.append(np.concatenate([p.detach().numpy().ravel() for p in
                                       model.policy.parameters()]))  # fmt: skip
    assert (weights[0] == weights[1]).all()
    assert (weights[0] != weights[2]).any()


@pytest.mark.parametrize("rules", ["standard", "tiny"])
def test_masks_are_not_the_legal_actions(rules: str) -> None:
    envs = vec(5, rules=rules, match="game")
    assert is_masking_supported(envs)
    envs.reset()
    rng = np.random.default_rng(0)
    for _ in range(50):
        masks = get_action_masks(envs)
        assert masks.dtype == np.bool_
        assert masks.shape == (5, envs.action_space.n)
        assert (masks == envs.action_masks()).all()
        assert (masks == envs.envs.envs.masks).all()
        assert [row.tolist() for row in envs.env_method("action_masks", indices=[3, 0])] == [
            masks[3].tolist(), masks[0].tolist(),
        ]  # fmt: skip
        assert (envs.env_method("action_masks", indices=2)[0] == masks[2]).all()
        *_, infos = envs.step(choose(envs, rng))
        assert all(info.get("forfeited_by") is None for info in infos)


def test_policy_is_judged_by_other_masks_than_it_acted_with() -> None:
    """Learning rate 0: the first minibatches after a rollout find the policy where it was."""
    pool = OpponentPool(uniform(), (0.5, 0.0, 0.5), {"random": RandomAgent()})
    envs = vec(8, PoolPlayers(pool, 8), match="game", reward_scale=1 / 500)
    model = MaskablePPO("MlpPolicy", envs, learning_rate=0.0, n_steps=32, batch_size=64,
                        n_epochs=1, seed=0, device="cpu")  # fmt: skip
    model.set_logger(Logger(None, []))
    model.learn(256, log_interval=None)
    values = model.logger.name_to_value
    assert abs(values["train/approx_kl"]) < 1e-6
    assert values["train/clip_fraction"] == 0


def test_rows_of_it_differ_from_single_environments() -> None:
    """Observations, rewards and ends, terminal observations from before the reset, returns."""
    settings = {"match": "rubber", "max_deals": 2, "rules": "small"}
    envs = vec(4, seed=7, **settings)
    singles = [poke_v0.single_env(**settings) for _ in range(4)]
    seen = envs.reset()
    expected = [single.reset(seed=7 + row) for row, single in enumerate(singles)]
    rng = np.random.default_rng(1)
    returns, lengths, ended = np.zeros(4), np.zeros(4, int), Counter[bool]()
    for _ in range(200):
        assert seen.dtype == np.float32
        assert seen.tobytes() == np.stack([observed for observed, _ in expected]).tobytes()
        actions = choose(envs, rng)
        seen, rewards, dones, infos = envs.step(actions)
        assert (rewards.dtype, dones.dtype) == (np.float32, np.bool_)
        for row, single in enumerate(singles):
            last, reward, terminated, truncated, info = single.step(actions[row])
            returns[row] += reward
            lengths[row] += 1
            assert rewards[row] == np.float32(reward)
            assert dones[row] == (terminated or truncated)
            if not dones[row]:
                assert infos[row] == {}
                expected[row] = last, info
                continue
            assert infos[row]["terminal_observation"].tobytes() == last.tobytes()
            assert infos[row]["TimeLimit.truncated"] is truncated
            episode = infos[row]["episode"]
            assert (episode["r"], episode["l"]) == (returns[row], lengths[row])
            assert episode["t"] >= 0
            assert infos[row]["seat"] == info["seat"]
            assert infos[row]["forfeited_by"] is None
            assert "opponent" not in infos[row]
            ended[truncated] += 1
            returns[row], lengths[row] = 0, 0
            expected[row] = single.reset()
    assert ended[True] > 10
    assert ended[False] > 0


def test_forfeit_of_the_learner_is_not_told() -> None:
    envs = vec(3, match="game")
    envs.reset()
    actions = choose(envs, np.random.default_rng(0))
    for bad in (-1, -3, 32):
        actions[1] = bad
        _, rewards, dones, infos = envs.step(actions)
        assert dones[1]
        assert rewards[1] == -1000
        assert infos[1]["forfeited_by"] == infos[1]["seat"]
        assert infos[1]["TimeLimit.truncated"] is False
        envs.reset()
        actions = choose(envs, np.random.default_rng(0))


class Forfeits(RandomAgent):
    def choose(self, observations: Any, masks: Any, keys: Any) -> Any:
        return np.full(len(masks), NO_ACTION)


def test_forfeit_before_the_first_decision_is_lost() -> None:
    """The next step pays it, whatever the action there."""
    for action in (0, -1, -3, 31):
        envs = vec(6, Forfeits(), seat="random")
        envs.reset()
        waiting = ~get_action_masks(envs).any(axis=1)
        assert waiting.any() and not waiting.all()
        actions = np.where(waiting, action, get_action_masks(envs).argmax(axis=1))
        _, rewards, dones, infos = envs.step(actions)
        assert dones[waiting].all()
        assert (rewards[waiting] == 1000).all()
        for row in np.flatnonzero(waiting):
            assert infos[row]["forfeited_by"] == 1 - infos[row]["seat"]
            assert infos[row]["episode"] == {"r": 1000.0, "l": 1, "t": infos[row]["episode"]["t"]}


def test_seed_does_not_fix_the_matches() -> None:
    runs = []
    for seed in (3, 3, 4):
        envs = vec(4, seed=seed)
        first = envs.reset()
        rng = np.random.default_rng(0)
        runs.append([first, *(step[0] for step in play(envs, rng, 10)), envs.reset()])
    for one, other, third in zip(*runs, strict=True):
        assert (one == other).all()
        assert (one != third).any()
    assert (runs[0][0] != runs[0][-1]).any()  # seeds are used once
    shifted = vec(4, seed=4)
    assert (shifted.reset()[:3] == vec(4, seed=3).reset()[1:]).all()
    unseeded = [bytes(vec(2, seed=None).reset()) for _ in range(4)]
    assert len(set(unseeded)) == 4


def test_array_that_was_handed_out_is_still_in_use() -> None:
    envs, twin = vec(4), vec(4)
    kept = [(seen, seen.copy()) for seen in (envs.reset(),)]
    twin.reset()
    rng = np.random.default_rng(2)
    for _ in range(40):
        actions = choose(twin, rng)
        shown, expected = envs.step(actions), twin.step(actions)
        for array, other in zip(shown[:3], expected[:3], strict=True):
            assert (array == other).all()
            kept.append((other, other.copy()))
            array.view(np.uint8).fill(99)
        for info, other in zip(shown[3], expected[3], strict=True):
            assert info.keys() == other.keys()
            if info:
                assert info["episode"]["r"] == other["episode"]["r"]
                info["terminal_observation"].fill(3)
    for array, before in kept[1:]:
        assert (array == before).all()


def test_rows_are_taken_for_objects() -> None:
    envs = vec(3)
    envs.reset()
    with pytest.raises(AttributeError, match="render_all"):
        envs.env_method("render_all")
    with pytest.raises(AttributeError, match="seat"):
        envs.set_attr("seat", 1)
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        envs.get_attr("nothing_of_this_name")
    for options in ({"dealer": 1}, [{"dealer": 1}] * 3):
        with pytest.raises(ValueError, match="no reset options"):
            envs.set_options(options)
    envs.set_options()
    assert envs.get_attr("seat") == ["random"] * 3
    assert envs.get_attr("seat", [0, 2]) == ["random"] * 2
    assert envs.env_is_wrapped(Monitor) == [False] * 3
    assert envs.env_is_wrapped(Monitor, 1) == [False]
    assert envs.render_mode is None
    envs.close()
    envs.close()


def test_wrapper_of_stable_baselines3_loses_masks_or_returns() -> None:
    wrapped = VecMonitor(vec(4))
    wrapped.reset()
    assert is_masking_supported(wrapped)
    rng = np.random.default_rng(0)
    ended = 0
    for _ in range(30):
        masks = get_action_masks(wrapped)
        actions = np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)
        _, _, dones, infos = wrapped.step(actions)
        for row in np.flatnonzero(dones):
            assert infos[row]["episode"]["l"] > 0
        ended += dones.sum()
    assert ended > 0


def test_wrong_actions_disturb_the_matches() -> None:
    envs, twin = vec(3), vec(3)
    envs.reset()
    twin.reset()
    for bad in (np.zeros(3), np.zeros(2, int), np.zeros((3, 1), int), None):
        with pytest.raises(ValueError, match="actions must be integers"):
            envs.step(bad)
    actions = choose(twin, np.random.default_rng(0))
    for array, other in zip(envs.step(actions)[:3], twin.step(actions)[:3], strict=True):
        assert (array == other).all()


# --- the opponents of self-play -------------------------------------------------------------------


def test_opponents_come_in_other_shares_than_asked_for() -> None:
    pool = OpponentPool(uniform(), (0.5, 0.3, 0.2), {"random": RandomAgent()}, size=2)
    chance = np.random.default_rng(0)
    assert {name for name, _ in pool.draw(chance, 200)} == {CURRENT, "random"}
    for step in (1, 2, 3):
        pool.add_snapshot(step, uniform())
    assert list(pool.snapshots) == [2, 3]
    drawn = pool.draw(chance, 4000)
    for name, share in ((CURRENT, 0.5), (SNAPSHOT, 0.3), ("random", 0.2)):
        assert abs(np.mean([kind == name for kind, _ in drawn]) - share) < 0.04
    networks = Counter(id(network) for kind, network in drawn if kind == SNAPSHOT)
    assert set(networks) == {id(network) for network in pool.snapshots.values()}
    assert min(networks.values()) > 0.4 * sum(networks.values())
    assert all(player is None for kind, player in drawn if kind == CURRENT)


def test_snapshots_of_a_large_pool_are_never_met() -> None:
    pool = OpponentPool(uniform(), (0.0, 1.0, 0.0), size=20)
    for step in range(20):
        pool.add_snapshot(step, uniform())
    met = set()
    for rollout in range(60):
        pool.choose_in_play(rollout)
        assert len(pool.in_play) == MOST_IN_PLAY
        drawn = {id(network) for _, network in pool.draw(np.random.default_rng(rollout), 200)}
        assert drawn == {id(network) for network in pool.in_play}
        met |= drawn
    assert met == {id(network) for network in pool.snapshots.values()}


@pytest.mark.parametrize("shares", [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])
def test_share_of_nothing_is_met(shares: tuple[float, float, float]) -> None:
    pool = OpponentPool(uniform(), shares, {"a": RandomAgent(), "b": RandomAgent()})
    pool.add_snapshot(1, uniform())
    names = Counter(name for name, _ in pool.draw(np.random.default_rng(0), 1000))
    expected = [{CURRENT}, {SNAPSHOT}, {"a", "b"}][shares.index(1.0)]
    assert set(names) == expected
    assert min(names.values()) > 400
    pool = OpponentPool(uniform(), shares)  # a kind that is not there
    assert {name for name, _ in pool.draw(np.random.default_rng(0), 100)} == {CURRENT}


def test_shares_are_lost_between_pool_and_rows() -> None:
    pool = OpponentPool(uniform(), (0.5, 0.3, 0.2), {"random": RandomAgent()})
    pool.add_snapshot(1, uniform())
    envs = vec(64, PoolPlayers(pool, 64))
    envs.reset()
    met = Counter[str]()
    rng = np.random.default_rng(3)
    for _, _, dones, infos in play(envs, rng, 150):
        met.update(infos[row]["opponent"] for row in np.flatnonzero(dones))
    total = sum(met.values())
    assert total > 1000
    for name, share in ((CURRENT, 0.5), (SNAPSHOT, 0.3), ("random", 0.2)):
        assert abs(met[name] / total - share) < 0.06


def test_opponent_changes_within_a_match() -> None:
    pool = OpponentPool(uniform(4), (0.3, 0.3, 0.4), {"random": RandomAgent()}, size=5)
    pool.add_snapshot(0, uniform(4))
    envs = vec(16, PoolPlayers(pool, 16), rules="tiny", match="game")
    envs.reset()
    players = envs.envs.opponent
    rng = np.random.default_rng(4)
    met, changes = set(), 0
    for step in range(1, 120):
        names, who = players.names.copy(), players._players.copy()
        _, _, dones, infos = envs.step(choose(envs, rng))
        for row, done in enumerate(dones):
            if done:
                assert infos[row]["opponent"] == names[row]  # of the match that ended
                met.add(names[row])
                changes += players._players[row] is not who[row]
            else:
                assert players.names[row] == names[row]
                assert players._players[row] is who[row]
        pool.current = uniform(4)
        pool.add_snapshot(step, uniform(4))
    assert met == {CURRENT, SNAPSHOT, "random"}
    assert changes > 20


def test_current_policy_is_an_old_one() -> None:
    """Whoever meets it meets it as of each decision; a snapshot stays what it was."""
    pool = OpponentPool(prefers(0), (1.0, 0.0, 0.0))
    players = PoolPlayers(pool, 3)
    rows = np.arange(3)
    seen, masks = np.zeros((3, SIZE), np.float32), np.ones((3, 32), np.int8)
    keys = np.arange(3, dtype=np.uint64)
    players.begin(rows, keys)
    assert players.act_rows(rows, seen, masks, keys).tolist() == [0, 0, 0]
    pool.current = prefers(9)
    assert players.act_rows(rows, seen, masks, keys).tolist() == [9, 9, 9]
    pool.shares = (0.0, 1.0, 0.0)
    pool.add_snapshot(1, prefers(4))
    players.begin(rows[:1], keys[:1])
    pool.add_snapshot(2, prefers(5))
    assert players.act_rows(rows, seen, masks, keys).tolist() == [4, 9, 9]
    assert players.act_rows(rows[::-1].copy(), seen, masks, keys).tolist() == [9, 9, 4]


class Counting(RandomAgent):
    """Remembers how many rows it was asked for at once."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        super().__init__()

    def choose(self, observations: Any, masks: Any, keys: Any) -> Any:
        self.sizes.append(len(masks))
        return super().choose(observations, masks, keys)


def test_member_of_the_pool_is_asked_row_by_row() -> None:
    one, other = Counting(), Counting()
    pool = OpponentPool(uniform(), (0.0, 0.0, 1.0), {"one": one, "other": other})
    players = PoolPlayers(pool, 40)
    assert isinstance(players, RowPlayer)
    rows = np.arange(40)
    players.begin(rows, rows.astype(np.uint64))
    counts = Counter(players.names.tolist())
    assert min(counts.values()) > 5
    chosen = players.act_rows(
        rows, np.zeros((40, SIZE), np.float32), np.ones((40, 32), np.int8), rows.astype(np.uint64)
    )
    assert (one.sizes, other.sizes) == ([counts["one"]], [counts["other"]])
    # Everybody answers for its own rows.
    alone = RandomAgent().act_batch(
        np.zeros((40, SIZE), np.float32), np.ones((40, 32), np.int8), rows.astype(np.uint64)
    )
    assert (chosen == alone).all()


@dataclass
class Equal:
    """A player of one's own that compares equal to its like and cannot be hashed."""

    action: int

    def __eq__(self, other: object) -> Any:
        return True

    def act(self, observation: Any, key: Any = None) -> int:
        return self.action

    def act_batch(self, observations: Any, masks: Any, keys: Any = None) -> Any:
        return [self.action] * len(masks)

    def reset(self, seed: int | None = None) -> None:
        pass


def test_players_that_are_equal_or_have_no_hash_are_mixed_up() -> None:
    pool = OpponentPool(uniform(), (0.0, 0.0, 1.0), {"one": Equal(3), "other": Equal(8)})
    players = PoolPlayers(pool, 20)
    rows = np.arange(20)
    players.begin(rows, rows.astype(np.uint64))
    chosen = players.act_rows(
        rows, np.zeros((20, SIZE), np.float32), np.ones((20, 32), np.int8), rows.astype(np.uint64)
    )
    assert chosen.tolist() == [3 if name == "one" else 8 for name in players.names]
    assert len(set(chosen.tolist())) == 2


def test_player_that_remembers_one_match_plays_many() -> None:
    with pytest.raises(ValueError, match="scripted player 'one' must have act_batch"):
        OpponentPool(uniform(), scripted={"one": OneByOne()})


def test_copies_of_the_opponents_share_more_than_the_pool() -> None:
    pool = OpponentPool(uniform(), (0.5, 0.0, 0.5), {"random": RandomAgent()})
    mine = PoolPlayers(pool, 30)
    first, second = (poke_v0.vector_env(30, mine).opponent for _ in range(2))
    assert first.pool is second.pool is pool
    assert first is not mine
    rows = np.arange(30)
    first.begin(rows, rows.astype(np.uint64))
    assert set(mine.names) == set(second.names) == {CURRENT}
    assert set(first.names) == {CURRENT, "random"}
    second.begin(rows, rows.astype(np.uint64))  # the same seeds choose the same opponents
    assert first.names.tolist() == second.names.tolist()
    second.begin(rows, rows.astype(np.uint64) + np.uint64(1))
    assert first.names.tolist() != second.names.tolist()
    assert copy.deepcopy(first).names.tolist() == [CURRENT] * 30


class Witness(RandomAgent):
    """Remembers what it was shown."""

    def __init__(self) -> None:
        self.seen: list[Any] = []
        super().__init__()

    def choose(self, observations: Any, masks: Any, keys: Any) -> Any:
        self.seen += list(observations)
        return super().choose(observations, masks, keys)


def test_opponent_sees_the_learners_cards_or_one_seat_only() -> None:
    witness = Witness()
    pool = OpponentPool(uniform(), (0.0, 0.0, 1.0), {"witness": witness})
    envs = vec(1, PoolPlayers(pool, 1))
    seen = envs.reset()
    rng = np.random.default_rng(5)
    dealt = 0
    for _ in range(200):
        deals = poke_v0.decode(seen[0])["dealer"]
        dealt += deals
        done = False
        while not done:
            before = len(witness.seen)
            seen, _, [done], [info] = envs.step(choose(envs, rng))
        own = set(poke_v0.decode(info["terminal_observation"])["slots"])
        for one in witness.seen[:before]:  # up to the learner's last decision
            decoded = poke_v0.decode(one)
            assert decoded["to_move"]
            assert decoded["dealer"] is not deals
            assert not own & set(decoded["slots"])
        witness.seen.clear()
    assert 75 <= dealt <= 125


def test_network_in_the_pool_plays_its_likeliest_action_only() -> None:
    parameters = np.zeros((SIZE + 1) * 32, np.float32)
    parameters[-32:] = -20.0
    parameters[-32 + 4], parameters[-32 + 9] = np.log(0.6), np.log(0.4)
    players = PoolPlayers(OpponentPool(Network((SIZE, 32), "relu", parameters)), 1000)
    rows = np.arange(1000)
    keys = np.random.default_rng(0).integers(0, 2**64, 1000, np.uint64)
    players.begin(rows, keys >> np.uint64(1))
    chosen = players.act_rows(
        rows, np.zeros((1000, SIZE), np.float32), np.ones((1000, 32), np.int8), keys
    )
    assert set(chosen.tolist()) == {4, 9}
    assert abs(np.mean(chosen == 4) - 0.6) <= 0.05


def test_tally_counts_a_match_twice() -> None:
    tally, more = Tally(), Tally()
    for points in (3.0, 0.0, -1.5):
        tally.add(points)
    more.add(1.0)
    tally.merge(more)
    assert (tally.wins, tally.draws, tally.losses) == (2, 1, 1)
    assert tally.matches == 4
    assert tally.points == 2.5


# --- what everybody sees, for critics -------------------------------------------------------------


def test_critic_sees_somebody_elses_cards_than_the_opponents() -> None:
    """What everybody sees is the learner's observation and the opponent's, also after autoresets,
    and nothing behind the end."""
    plain, whole = vec(6), BatchVecEnv(poke_v0.vector_env(6), everybody=True)
    whole.seed(0)
    assert whole.observation_space.shape == (2 * SIZE,)
    seen, both = plain.reset(), whole.reset()
    rng = np.random.default_rng(3)
    ended = 0
    for _ in range(60):
        np.testing.assert_array_equal(both[:, :SIZE], seen)
        other = whole.envs.envs.observe_rows(np.arange(6), 1 - whole.envs.learners)
        np.testing.assert_array_equal(both[:, SIZE:], other)
        assert whole.observation_space.contains(both[0])
        actions = choose(plain, rng)
        seen, _, _, infos = plain.step(actions)
        both, _, _, more = whole.step(actions)
        for one, another in zip(infos, more, strict=True):
            if "terminal_observation" in one:
                ended += 1
                final = another["terminal_observation"]
                np.testing.assert_array_equal(final[:SIZE], one["terminal_observation"])
                assert not final[SIZE:].any()
    assert ended > 10


def test_critic_sees_seats_that_nobody_takes() -> None:
    """At a table of three: the learner's, and the two others in turn after it."""
    envs = BatchVecEnv(poangpoker_v0.vector_env(5, players=3), everybody=True)
    size = observation.length(poangpoker_v0.raw_env.game)
    assert envs.observation_space.shape == (3 * size,)
    envs.seed(0)
    seen = envs.reset()
    rng = np.random.default_rng(3)
    for _ in range(20):
        for place in range(3):
            seats = (envs.envs.learners + place) % 3
            expected = envs.envs.envs.observe_rows(np.arange(5), seats)
            np.testing.assert_array_equal(seen[:, place * size : (place + 1) * size], expected)
        seen, *_ = envs.step(choose(envs, rng))


def test_critic_has_to_value_a_match_that_was_cut() -> None:
    envs = poke_v0.vector_env(2, match="rubber", max_deals=3)
    with pytest.raises(ValueError, match=r"everybody, which .*, must be False where .* 3$"):
        BatchVecEnv(envs, everybody=True)


def test_actor_sees_what_only_the_critic_may() -> None:
    """Other hidden cards change what the critic says, and not what the actor does; the exported
    network is the actor."""
    envs = BatchVecEnv(poke_v0.vector_env(8), everybody=True)
    model = MaskablePPO(
        CentralCriticPolicy, envs, n_steps=16, batch_size=64, n_epochs=1, seed=0, device="cpu",
        policy_kwargs={"own": SIZE, "activation_fn": torch.nn.ReLU},
    )  # fmt: skip
    model.learn(256)
    envs.seed(1)
    seen = envs.reset()
    hidden = np.concatenate([seen[:, :SIZE], np.roll(seen[:, SIZE:], 1, axis=0)], axis=1)
    policy = model.policy
    with torch.no_grad():
        logits, others = (
            policy.get_distribution(torch.as_tensor(one)).distribution.logits.numpy()
            for one in (seen, hidden)
        )
        values, changed = (policy.predict_values(torch.as_tensor(one)) for one in (seen, hidden))
    np.testing.assert_array_equal(logits, others)
    assert (values != changed).all()
    network = network_of(policy)
    assert network.layers[0] == SIZE
    chosen, _ = network.decide(seen[:, :SIZE], envs.action_masks().astype(np.int8))
    masked = np.where(envs.action_masks(), logits, -np.inf)
    np.testing.assert_array_equal(chosen, masked.argmax(axis=1))
