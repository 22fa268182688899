"""Row i of a batch is the bare environment, and row i of the vector environment the single one.

Both play the same actions, and all that can be read is compared after each of them, through the
matches that follow one another in a row. Each test is named after the fault it guards against.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agents
import poke_env
from helpers import CONFIGURATIONS, PLAYERS, RULES, TABLES, is_over, name_of, other_table
from poke_env import poke_v0, vector
from poke_env._threads import cores
from poke_env.agent import RandomAgent
from strategies import any_rules, any_score

SCORES = [
    {},
    {"below": (3, 17), "games": (1, 0)},
    {"below": (20, 20), "games": (0, 1), "dealer": 1},
    {"above": (0, 650), "games": (1, 1), "dealer": 0},
]
"""Scores at which matches may begin."""
STEPS = {"deal": 60, "game": 120, "rubber": 150}


class Pair:
    """A batch and, for each of its rows, a bare environment that follows it."""

    def __init__(
        self, rows: int, *, game: str = "poke", of_batch: Any = None, **configuration: Any
    ) -> None:
        self.envs = poke_env.make_batch(game, rows, **(of_batch or {}), **configuration)
        door = poke_env.door(game)
        self.singles = [door.raw_env(**{"match": "deal", **configuration}) for _ in range(rows)]
        self.agents = self.singles[0].possible_agents
        self.ended = 0

    def reset(
        self, seeds: Sequence[int] | None, seed: Any, options: Any = None, each: Any = None
    ) -> None:
        """Reset the batch with `seed`, row i's environment with `seeds[i]` and `each[i]`."""
        self.shown = self.envs.reset(seed=seed, options=options)
        for row, single in enumerate(self.singles):
            single.reset(
                seed=None if seeds is None else seeds[row],
                options=None if each is None else each[row],
            )
        self.compare()

    def compare(self) -> None:
        """What the batch shows is what the seats to act see."""
        seen, masks, players = self.shown
        records, decks = self.envs.record, self.envs.deck
        for row, single in enumerate(self.singles):
            assert records[row].tobytes() == single.record.tobytes(), row
            assert decks[row].tolist() == single.deck, row
            if is_over(single):
                assert players[row] == -1
                assert not masks[row].any()
                continue
            observed = single.observe(single.agent_selection)
            assert self.agents[players[row]] == single.agent_selection
            assert seen[row].tobytes() == observed["observation"].tobytes(), row
            assert masks[row].tobytes() == observed["action_mask"].tobytes(), row

    def step(self, rng: np.random.Generator, active: Any = None) -> None:
        """One random legal action in every row that acts; the others must stand still."""
        masks = self.shown[1]
        actions = [int(rng.choice(mask.nonzero()[0])) if mask.any() else 0 for mask in masks]
        if active is not None:  # rows that wait may say anything
            actions = [action if acts else -7 for action, acts in zip(actions, active, strict=True)]
        *shown, rewards, dones = self.envs.step(np.array(actions), active)
        self.shown = tuple(shown)
        truncated, finals = self.envs.truncated, self.envs.final_observation
        records = self.envs.final_record
        for row, single in enumerate(self.singles):
            if (active is not None and not active[row]) or is_over(single):
                expected, over = [0.0] * len(self.agents), False
            else:
                single.step(actions[row])
                expected, over = list(single.rewards.values()), is_over(single)
            assert rewards[row].tolist() == np.float32(expected).tolist(), row
            assert dones[row] == over, row
            assert truncated[row] == (over and single.truncations["player_0"]), row
            self.ended += over
            for seat, agent in enumerate(self.agents):
                last = single.observe(agent)["observation"]
                assert np.array_equal(finals[row, seat], last if over else np.zeros_like(last)), row
            blank = bytes(len(single.record.tobytes()))
            assert records[row].tobytes() == (single.record.tobytes() if over else blank)
            if over and self.envs.autoreset:
                single.reset()
        self.compare()

    def play(self, steps: int, rng: np.random.Generator) -> Pair:
        for _ in range(steps):
            self.step(rng)
        return self


def started(rows: int, seed: int, **configuration: Any) -> Pair:
    pair = Pair(rows, **configuration)
    pair.reset([seed + row for row in range(rows)], seed)
    return pair


# --- the batch and the bare environment -----------------------------------------------------------


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=name_of)
def test_row_differs_from_the_bare_environment(configuration: dict[str, Any]) -> None:
    pair = started(4, 11, **configuration)
    pair.play(STEPS[configuration["match"]], np.random.default_rng(0))
    assert pair.ended > 0


def test_row_of_a_table_differs_from_the_bare_environment(table: str) -> None:
    game, settings = TABLES[table]
    pair = started(3, 13, game=game, **settings).play(80, np.random.default_rng(4))
    assert pair.ended > 0


@pytest.mark.parametrize(
    "configuration",
    [
        {"match": "rubber", "max_deals": 1},
        {"match": "rubber", "max_deals": 3, "reward_scale": 0.1},
        {"match": "game", "max_deals": 2, "reward": "win", "rules": "tiny"},
        {"match": "deal", "below_value": 7.25, "reward_scale": 1 / 500},
        {"match": "deal", "below_value": -3.0, "max_deals": 1},
        {"match": "game", "rules": RULES["house"]},
        {"match": "deal", "reward": "equity", "start_scores": SCORES},
        {"match": "game", "reward": "equity", "reward_scale": 0.1, "start_scores": SCORES[:3]},
        {"match": "rubber", "reward": "equity", "equity_table": other_table(), "max_deals": 2},
        {"match": "deal", "start_scores": SCORES[1:]},
    ],
    ids=name_of,
)
def test_setting_means_another_thing_in_a_batch(configuration: dict[str, Any]) -> None:
    pair = started(4, 12, **configuration).play(120, np.random.default_rng(1))
    assert pair.ended > 0


@given(st.data())
@settings(max_examples=40)
def test_rules_or_scores_mean_another_thing_in_a_batch(data: st.DataObject) -> None:
    rules = data.draw(any_rules())
    pair = Pair(
        3,
        rules=rules,
        match=data.draw(st.sampled_from(["deal", "game", "rubber"])),
        reward=data.draw(st.sampled_from(["points", "win"])),
        max_deals=data.draw(st.none() | st.integers(1, 3)),
    )
    scores = [data.draw(any_score(rules.target)) for _ in range(3)]
    by_row = {name: [score[name] for score in scores] for name in scores[0]}
    seed = data.draw(st.integers(0, 2**128))
    pair.reset(
        [seed, seed + 1, seed + 2], seed, {"score": by_row}, [{"score": score} for score in scores]
    )
    pair.play(25, np.random.default_rng(data.draw(st.integers(0, 99))))


@pytest.mark.parametrize("seed", [0, 2**63 - 1, 2**64 - 1, 2**200])
def test_large_seed_counts_wrongly_from_row_to_row(seed: int) -> None:
    started(3, seed, match="deal").play(20, np.random.default_rng(2))


@pytest.mark.parametrize("seeds", [[5, 5, 0, 2**70], (1, 2, 3, 4), np.array([9, 8, 7, 6])])
def test_list_of_seeds_reaches_other_rows(seeds: Any) -> None:
    pair = Pair(4)
    pair.reset(list(seeds), seeds)
    pair.play(30, np.random.default_rng(3))


def test_seed_of_the_batch_is_not_that_of_its_first_reset() -> None:
    pair = Pair(3, of_batch={"seed": 21})
    pair.reset([21, 22, 23], None)
    pair.play(15, np.random.default_rng(4))
    pair.reset(None, None)  # the next match of the stream, not the first again
    pair.play(15, np.random.default_rng(5))
    pair.reset([3, 4, 5], 3)
    pair.play(15, np.random.default_rng(6))


@pytest.mark.parametrize("rows", [1, 2, 7, 33])
def test_number_of_rows_matters_to_a_row(rows: int) -> None:
    started(rows, 30, match="deal").play(25, np.random.default_rng(7))


def test_row_that_is_over_moves_or_is_paid() -> None:
    """Without autoreset it waits, whatever its action says, even a command of the engine."""
    pair = Pair(5, of_batch={"autoreset": False}, match="game", rules="tiny")
    pair.reset(list(range(5)), 0)
    rng = np.random.default_rng(8)
    while not pair.envs.over.all():
        pair.step(rng)
    assert pair.ended == 5
    for action in (0, -1, -2, -3, 31, 2**40, -(2**63)):
        before = pair.envs.get_state()
        *shown, rewards, dones = pair.envs.step(np.full(5, action))
        pair.shown = tuple(shown)
        assert pair.envs.get_state() == before
        assert not rewards.any()
        assert not dones.any()
        assert not pair.envs.final_observation.any()
        pair.compare()
    pair.reset(None, None)
    assert not pair.envs.over.any()
    pair.play(10, rng)


@pytest.mark.parametrize("handed", [{"copy": False}, {"copy": True}], ids=name_of)
def test_row_that_waits_moves(handed: dict[str, Any]) -> None:
    for autoreset in (True, False):
        pair = Pair(6, of_batch={**handed, "autoreset": autoreset}, match="game", rules="small")
        pair.reset(list(range(6)), 0)
        rng = np.random.default_rng(9)
        for _ in range(150):
            pair.step(rng, rng.random(6) < 0.5)
        pair.step(rng, np.zeros(6, bool))
        pair.step(rng, [True] * 6)
        assert pair.ended > 0


def test_arrays_lent_out_show_something_else() -> None:
    for autoreset in (True, False):
        pair = Pair(6, of_batch={"copy": False, "autoreset": autoreset}, match="game", rules="tiny")
        pair.reset(list(range(6)), 0)
        pair.play(150, np.random.default_rng(10))


def test_observe_shows_something_else_than_the_last_call() -> None:
    for lent in (True, False):
        pair = Pair(4, of_batch={"copy": lent, "autoreset": False}, rules="small")
        pair.reset(list(range(4)), 0)
        rng = np.random.default_rng(11)
        for _ in range(40):
            pair.step(rng)
            pair.shown = pair.envs.observe()
            pair.compare()


# --- reset options --------------------------------------------------------------------------------

PACK = range(52)


def orders(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(12).permuted(np.broadcast_to(PACK, (*shape, 52)), axis=-1)


def text(cards: Sequence[int]) -> list[str]:
    return ["23456789TJQKA"[card // 4] + "cdhs"[card % 4] for card in cards]


B = 3
ROWS_OF_OPTIONS: dict[str, tuple[Any, list[Any]]] = {
    "deck, array": ({"deck": orders(B)}, [{"deck": deck.tolist()} for deck in orders(B)]),
    "deck, int8": ({"deck": orders(B).astype(np.int8)}, [{"deck": deck} for deck in orders(B)]),
    "deck, other layout": (
        {"deck": np.asfortranarray(orders(B))},
        [{"deck": deck.tolist()} for deck in orders(B)],
    ),
    "deck, lists": (
        {"deck": orders(B).tolist()},
        [{"deck": deck.tolist()} for deck in orders(B)],
    ),
    "deck, beginnings": (
        {"deck": [[51, 0, 17], [], [1]]},
        [{"deck": [51, 0, 17]}, {"deck": []}, {"deck": [1]}],
    ),
    "deck, array of beginnings": (
        {"deck": orders(B)[:, :9]},
        [{"deck": deck[:9].tolist()} for deck in orders(B)],
    ),
    "deck, texts": (
        {"deck": [text(deck[:12]) for deck in orders(B)]},
        [{"deck": deck[:12].tolist()} for deck in orders(B)],
    ),
    "decks, array": ({"decks": orders(B, 2)}, [{"decks": row.tolist()} for row in orders(B, 2)]),
    "decks, none": ({"decks": orders(B, 0)}, [{"decks": []}] * B),
    "decks, ragged": (
        {"decks": [[], [orders(1)[0], [3, 2, 1]], [text([8, 9])]]},
        [{"decks": []}, {"decks": [orders(1)[0], [3, 2, 1]]}, {"decks": [[8, 9]]}],
    ),
    "dealer": ({"dealer": 1}, [{"dealer": 1}] * B),
    "dealer, 0-d": ({"dealer": np.array(1)}, [{"dealer": 1}] * B),
    "dealer by row": ({"dealer": [1, 0, 1]}, [{"dealer": 1}, {"dealer": 0}, {"dealer": 1}]),
    "dealer, int8": (
        {"dealer": np.array([0, 1, 1], np.int8)},
        [{"dealer": 0}, {"dealer": 1}, {"dealer": 1}],
    ),
    "score": (
        {"score": {"below": (19, 3), "above": (700, 4), "games": (1, 0)}},
        [{"score": {"below": (19, 3), "above": (700, 4), "games": (1, 0)}}] * B,
    ),
    "score by row": (
        {"score": {"below": [(19, 3), (0, 0), (5, 19)], "above": np.arange(6).reshape(3, 2)}},
        [
            {"score": {"below": (19, 3), "above": (0, 1)}},
            {"score": {"above": (2, 3)}},
            {"score": {"below": (5, 19), "above": (4, 5)}},
        ],
    ),
    "score, one field by row": (
        {"score": {"games": [(1, 0), (0, 1), (1, 1)], "above": (30, 40)}},
        [
            {"score": {"games": games, "above": (30, 40)}}
            for games in ((1, 0), (0, 1), (1, 1))
        ],
    ),
    "skip": ({"skip": 5}, [{"skip": 5}] * B),
    "skip by row": ({"skip": [0, 2**40, 1]}, [{"skip": 0}, {"skip": 2**40}, {"skip": 1}]),
    "all": (
        {"decks": orders(B, 1), "dealer": 0, "score": {"below": (19, 19)}, "skip": [3, 2, 1]},
        [
            {"decks": row, "dealer": 0, "score": {"below": (19, 19)}, "skip": skip}
            for row, skip in zip(orders(B, 1), (3, 2, 1), strict=True)
        ],
    ),
    "nothing": ({}, [None] * B),
}  # fmt: skip


@pytest.mark.parametrize("match", ["deal", "rubber"])
@pytest.mark.parametrize("name", ROWS_OF_OPTIONS)
def test_option_means_another_thing_in_a_batch(name: str, match: str) -> None:
    options, each = ROWS_OF_OPTIONS[name]
    pair = Pair(B, match=match)
    kept = copy.deepcopy(options)
    pair.reset([40, 41, 42], 40, options, each)
    assert repr(options) == repr(kept)
    rng = np.random.default_rng(13)
    pair.play(30, rng)
    pair.reset(None, None, options, each)
    pair.play(30, rng)


def test_skipped_matches_are_others_than_those_played() -> None:
    """The match after `skip` k is the one that k + 1 resets lead to."""
    played = poke_env.make_batch("poke", 3, seed=5)
    played.reset()
    for _ in range(4):
        played.reset()
    skipped = poke_env.make_batch("poke", 3, seed=5)
    skipped.reset(options={"skip": 4})
    assert (skipped.deck == played.deck).all()
    played.reset()
    skipped.reset()
    assert (skipped.deck == played.deck).all()


# --- threads --------------------------------------------------------------------------------------


def everything_of(envs: Any, steps: int) -> list[bytes]:
    rng = np.random.default_rng(14)
    seen = [array.tobytes() for array in envs.reset(seed=1)]
    for _ in range(steps):
        masks = envs.masks
        scores = np.where(masks, rng.random(masks.shape), -1.0)
        seen += [array.tobytes() for array in envs.step(scores.argmax(axis=1))]
        seen += [envs.final_observation.tobytes(), envs.truncated.tobytes()]
    ended, rewards = envs.play_at_random(7, seed=3)
    return [*seen, bytes(ended), rewards.tobytes(), envs.get_state()]


@pytest.mark.parametrize("rows", [1, 2, 3, 64, 101])
def test_number_of_threads_changes_a_match(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vector, "_LEAST_ROWS", 1)
    seen = []
    for threads in (1, 2, 3, 50, None):
        envs = poke_env.make_batch("poke", rows, match="game", rules="small", threads=threads)
        assert 1 <= len(envs._parts) <= rows
        assert (len(envs._parts) == 1) == ((threads or cores()) == 1 or rows == 1)
        seen.append(everything_of(envs, 30))
    assert all(other == seen[0] for other in seen[1:])


def test_rows_are_never_shared_out() -> None:
    """So large a batch uses both threads without being told to."""
    one, two = (poke_env.make_batch("poke", 2100, threads=threads) for threads in (1, 2))
    assert (len(one._parts), len(two._parts)) == (1, 2)
    assert everything_of(one, 12) == everything_of(two, 12)


# --- the vector environment and the environment of one learner ------------------------------------


class OnlyAct:
    """A player with `act` alone that remembers its match, and forfeits now and then."""

    def __init__(self, bad: Any = None, often: int = 0) -> None:
        self.bad, self.often = bad, often
        self.turn = 0

    def reset(self, seed: int | None = None) -> None:
        self.turn = (seed or 0) % 5

    def act(self, observation: Mapping[str, Any], key: Any = None) -> Any:
        self.turn += 1
        if self.often and (int(key) + self.turn) % self.often == 0:
            return self.bad
        legal = np.flatnonzero(observation["action_mask"])
        return int(legal[(int(key) + self.turn) % len(legal)])


class Careless(RandomAgent):
    """A player with `act_batch` that forfeits now and then."""

    def choose(self, observations: Any, masks: Any, keys: Any) -> Any:
        return np.where(keys[:, 1] % 9 == 0, 31, super().choose(observations, masks, keys))


OPPONENTS: dict[str, Any] = {
    "none": lambda: None,
    "heuristic": lambda: agents.make("heuristic"),
    "only act": OnlyAct,
    "only act, too large": lambda: OnlyAct(31, 6),
    "only act, negative": lambda: OnlyAct(-3, 6),
    "only act, None": lambda: OnlyAct(None, 6),
    "only act, float": lambda: OnlyAct(0.0, 6),
    "only act, huge": lambda: OnlyAct(2**80, 6),
    "careless": Careless,
}


def follow(rows: int, steps: int, opponent: Any, careless: float, **settings: Any) -> set[str]:
    """Play the vector environment beside single ones; what kinds of ends there were."""
    envs = gymnasium.make_vec("sackson/Poke-v0", num_envs=rows, opponent=opponent, **settings)
    singles = [poke_v0.single_env(opponent=opponent, **settings) for _ in range(rows)]
    observations, infos = envs.reset(seed=5)
    shown = [single.reset(seed=5 + row) for row, single in enumerate(singles)]
    rng = np.random.default_rng(15)
    ends = set()
    for _ in range(steps):
        masks = infos["action_mask"]
        for row, (observation, info) in enumerate(shown):
            assert observations[row].tobytes() == observation.tobytes(), row
            assert masks[row].tobytes() == info["action_mask"].tobytes(), row
            assert infos["seat"][row] == info["seat"]
        actions = np.array(
            [
                rng.choice(mask.nonzero()[0])
                if mask.any() and rng.random() >= careless
                else rng.choice([-3, -2, -1, 0, 31, 2**40])
                for mask in masks
            ]
        )
        waiting = ~masks.any(axis=1)
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        for row, single in enumerate(singles):
            observation, reward, over, cut, info = single.step(actions[row])
            assert (reward, over, cut) == (rewards[row], terminated[row], truncated[row]), row
            assert bool(infos.get("_final_info", np.zeros(rows))[row]) == (over or cut)
            if over or cut:
                final = infos["final_info"]
                assert infos["final_obs"][row].tobytes() == observation.tobytes()
                assert final["seat"][row] == info["seat"]
                assert not final["action_mask"][row].any()
                forfeited = "_illegal_action" in final and bool(final["_illegal_action"][row])
                assert forfeited == info.get("illegal_action", False)
                if forfeited:
                    assert final["illegal_action"][row]
                    assert final["forfeited_by"][row] == info["forfeited_by"]
                    mine = info["forfeited_by"] == PLAYERS[info["seat"]]
                    when = " before the first decision" if waiting[row] else ""
                    ends.add(f"forfeit of the {'learner' if mine else 'opponent'}{when}")
                else:
                    ends.add("cut" if cut else "end")
                observation, info = single.reset()
            shown[row] = (observation, info)
    return ends


@pytest.mark.parametrize("seat", ["random", 0, 1])
@pytest.mark.parametrize("opponent", OPPONENTS)
def test_row_differs_from_the_single_environment(opponent: str, seat: Any) -> None:
    ends = follow(5, 60, OPPONENTS[opponent](), 0.05, seat=seat)
    assert {"end", "forfeit of the learner"} <= ends
    if "," in opponent or opponent == "careless":
        assert "forfeit of the opponent" in ends
        assert "forfeit of the opponent before the first decision" in ends
    else:
        assert not any("opponent" in end for end in ends)


@pytest.mark.parametrize(
    "configuration",
    [
        {"match": "rubber", "max_deals": 2, "rules": "small"},
        {"match": "game", "reward": "win", "rules": "tiny"},
        {"match": "rubber", "reward": "win", "illegal_penalty": 0.25, "rules": "tiny"},
        {"match": "game", "reward_scale": 0.01, "max_deals": 1},
        {"match": "deal", "reward": "equity", "start_scores": SCORES},
    ],
    ids=name_of,
)
def test_setting_means_another_thing_in_the_vector_environment(
    configuration: dict[str, Any],
) -> None:
    for opponent in (None, OnlyAct(31, 15)):
        ends = follow(4, 150, opponent, 0.01, **configuration)
        assert ends & {"end", "cut"}
        assert ("cut" in ends) == ("max_deals" in configuration)


def test_option_means_another_thing_in_the_vector_environment() -> None:
    for name, (options, each) in ROWS_OF_OPTIONS.items():
        envs = poke_v0.vector_env(B, match="game")
        seen, infos = envs.reset(seed=3, options=options)
        for row in range(B):
            single = poke_v0.single_env(match="game")
            observation, info = single.reset(seed=3 + row, options=each[row])
            assert seen[row].tobytes() == observation.tobytes(), name
            assert infos["seat"][row] == info["seat"], name
