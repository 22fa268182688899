"""The contract of the native batch; what its rows play is compared elsewhere, row by row.

Each test is named after the fault it guards against.
"""

from __future__ import annotations

import copy
import multiprocessing
import pickle
import warnings
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

import poke_env
from helpers import CONFIGURATIONS, RULES, equal_trees, name_of, run_python
from poke_env import engine, poke_v0, streams
from poke_env.aec import IllegalActionError, NotResetError
from poke_env.agent import RandomAgent
from poke_env.games.poke import POKE

SIZE = 265


def begun(rows: int = 5, seed: int = 1, **settings: Any) -> Any:
    envs = poke_env.make_batch("poke", rows, seed, **settings)
    envs.reset()
    return envs


def choose(masks: Any, rng: np.random.Generator) -> Any:
    """One random legal action a row."""
    return np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)


def play(envs: Any, rng: np.random.Generator, steps: int) -> list[Any]:
    return [copy.deepcopy(envs.step(choose(envs.masks, rng))) for _ in range(steps)]


def in_the_middle(rows: int = 5, steps: int = 12, **settings: Any) -> Any:
    envs = begun(rows, **{"match": "game", "rules": "small", **settings})
    play(envs, np.random.default_rng(7), steps)
    return envs


def all_of(envs: Any) -> dict[str, Any]:
    """All that can be read, as independent values."""
    observed = envs.observe()
    read = {
        "observed": observed, "state": envs.get_state(), "truncated": envs.truncated,
        "final": envs.final_observation, "record": envs.record.tobytes(), "over": envs.over,
        "final_record": envs.final_record.tobytes(), "masks": envs.masks, "deck": envs.deck,
        "rewards": envs.rewards, "matches": envs.matches,
    }  # fmt: skip
    return copy.deepcopy(read)


# --- what is handed out ---------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 7])
@pytest.mark.parametrize("lent", [True, False])
def test_array_has_another_shape_or_type(rows: int, lent: bool) -> None:
    envs = poke_env.make_batch("poke", rows, 0, copy=not lent)
    shown = envs.reset()
    for _ in range(20):
        actions = choose(envs.masks, np.random.default_rng(0))
        found = [(array.shape, array.dtype) for array in shown]
        assert found[:3] == [
            ((rows, SIZE), np.float32),
            ((rows, 32), np.int8),
            ((rows,), np.int8),
        ]
        assert found[3:] in ([], [((rows, 2), np.float32), ((rows,), np.bool_)])
        for row in range(rows):
            assert envs.single_observation_space.contains(shown[0][row])
            assert envs.single_action_space.contains(actions[row])
        shown = envs.step(actions)
        assert envs.final_observation.shape == (rows, 2, SIZE)
        assert envs.final_observation.dtype == np.float32
        assert (envs.truncated.shape, envs.truncated.dtype) == ((rows,), np.bool_)
        assert envs.record.dtype == envs.final_record.dtype == POKE.state
        assert (envs.deck.shape, envs.deck.dtype) == ((rows, 52), np.int8)


def test_spaces_are_others_than_those_of_the_bare_environment() -> None:
    for name, rules in RULES.items():
        envs = poke_env.make_batch("poke", 2, rules=rules)
        bare = poke_v0.raw_env(rules=rules)
        layout = bare.observation_space("player_0")
        assert envs.single_observation_space == layout["observation"], name
        assert envs.single_action_space == bare.action_space("player_0")
        assert isinstance(envs.single_action_space, spaces.Discrete)


def test_mode_of_autoreset_is_not_told() -> None:
    assert begun().metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    assert begun(autoreset=False).metadata["autoreset_mode"] is AutoresetMode.DISABLED
    assert begun().metadata["name"] == "poke_v0"


HANDED: dict[str, Callable[[Any, Any], Any]] = {
    "reset": lambda envs, rng: envs.reset(),
    "step": lambda envs, rng: envs.step(choose(envs.masks, rng)),
    "observe": lambda envs, rng: envs.observe(),
    "record": lambda envs, rng: (envs.record,),
    "deck": lambda envs, rng: (envs.deck,),
    "over": lambda envs, rng: (envs.over,),
    "truncated": lambda envs, rng: (envs.truncated,),
    "final_observation": lambda envs, rng: (envs.final_observation,),
    "final_record": lambda envs, rng: (envs.final_record,),
    "matches": lambda envs, rng: (envs.matches,),
    "play_at_random": lambda envs, rng: envs.play_at_random(3, 1)[1:],
}


@pytest.mark.parametrize("rows", [1, 6])
@pytest.mark.parametrize("what", HANDED)
def test_array_that_was_handed_out_is_still_in_use(what: str, rows: int) -> None:
    """Whoever writes into it changes no match; later steps do not write into it."""
    envs, twin = (in_the_middle(rows, max_deals=2) for _ in range(2))
    rng, other = np.random.default_rng(3), np.random.default_rng(3)
    kept = []
    for _ in range(30):
        arrays = HANDED[what](envs, rng)
        HANDED[what](twin, other)
        kept += [(array, array.copy()) for array in arrays]
        scribbled = HANDED["observe" if what in ("reset", "step") else what](envs, rng)
        if what == "play_at_random":
            twin.play_at_random(3, 1)
        for array in scribbled:
            array.view(np.uint8).fill(111)
        assert equal_trees(all_of(envs), all_of(twin))
        assert equal_trees(play(envs, rng, 1), play(twin, other, 1))
    for array, before in kept:
        assert array.tobytes() == before.tobytes()
    for (array, _), (another, _) in pairwise(kept):
        assert not np.shares_memory(array, another)


def test_scribbling_into_the_last_step_disturbs_the_next() -> None:
    envs, twin = in_the_middle(), in_the_middle()
    rng, other = np.random.default_rng(4), np.random.default_rng(4)
    for _ in range(60):
        shown = envs.step(choose(envs.masks, rng))
        expected = twin.step(choose(twin.masks, other))
        assert equal_trees(shown, expected)
        for array in shown:
            array.view(np.uint8).fill(255)
        assert equal_trees(all_of(envs), all_of(twin))


def test_arrays_lent_out_can_be_written_to() -> None:
    envs = poke_env.make_batch("poke", 4, 0, copy=False)
    rng = np.random.default_rng(5)
    for shown in (envs.reset(), envs.step(choose(envs.masks, rng)), envs.observe()):
        for array in shown:
            assert not array.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                array[:] = 0
    for array in (envs.masks, envs.rewards, envs.find_illegal(np.zeros(4, np.int64))):
        assert not array.flags.writeable


def test_arrays_of_the_caller_are_kept_or_changed() -> None:
    """Neither actions nor `active`, decks or seeds are written to or looked at later."""
    envs, twin = (poke_env.make_batch("poke", 4, match="game") for _ in range(2))
    decks = np.random.default_rng(6).permuted(np.tile(np.arange(52), (4, 3, 1)), axis=2)
    dealer, seeds = np.array([0, 1, 1, 0]), np.arange(4)
    for each in (envs, twin):
        given = decks.copy(), dealer.copy(), seeds.copy()
        each.reset(seed=given[2], options={"decks": given[0], "dealer": given[1]})
        assert (given[0] == decks).all() and (given[1] == dealer).all()
        if each is envs:
            for array in given:
                array.fill(1)
    rng = np.random.default_rng(6)
    for _ in range(80):
        actions, active = choose(envs.masks, rng), rng.random(4) < 0.8
        given = actions.copy(), active.copy()
        for array in given:
            array.flags.writeable = False
        assert equal_trees(envs.step(*given), twin.step(actions, active))
        actions[:], active[:] = -1, False
        assert equal_trees(all_of(envs), all_of(twin))


# --- illegal actions ------------------------------------------------------------------------------

SHAPES_AND_TYPES = {
    "floats": lambda legal: legal.astype(float),
    "bools": lambda legal: legal.astype(bool),
    "NaN": lambda legal: np.full(len(legal), np.nan),
    "complex": lambda legal: legal.astype(complex),
    "texts": lambda legal: legal.astype(str),
    "objects": lambda legal: legal.astype(object),
    "None": lambda legal: None,
    "list with None": lambda legal: [None, *legal.tolist()[1:]],
    "list with a float": lambda legal: [float(legal[0]), *legal.tolist()[1:]],
    "ragged": lambda legal: [[1, 2], *legal.tolist()[1:]],
    "one number": lambda legal: int(legal[0]),
    "0-d": lambda legal: np.array(legal[0]),
    "too few": lambda legal: legal[1:],
    "too many": lambda legal: np.append(legal, 0),
    "column": lambda legal: legal[:, np.newaxis],
    "row": lambda legal: legal[np.newaxis],
    "empty": lambda legal: [],
    "too large for 64 bits": lambda legal: [2**70, *legal.tolist()[1:]],
    "dict": lambda legal: dict(enumerate(legal)),
    "set": lambda legal: set(legal.tolist()),
    "text": lambda legal: "00000",
    "times": lambda legal: legal.astype("timedelta64[s]"),
}


@pytest.mark.parametrize("name", SHAPES_AND_TYPES)
def test_actions_of_another_shape_or_type_are_played(name: str) -> None:
    for rows in (1, 5):
        envs = in_the_middle(rows)
        before = all_of(envs)
        legal = choose(envs.masks, np.random.default_rng(0))
        with pytest.raises(ValueError, match=rf"actions must be integers of shape \({rows},\)"):
            envs.step(SHAPES_AND_TYPES[name](legal))
        assert equal_trees(all_of(envs), before)


@pytest.mark.parametrize(
    "bad", [-1, -2, -3, 32, 127, 128, 255, 2**31, 2**32, 2**40, -(2**31), 2**63 - 1, -(2**63)]
)
@pytest.mark.parametrize("lent", [True, False])
def test_action_outside_the_space_is_played(bad: int, lent: bool) -> None:
    envs = in_the_middle(rules="standard", copy=not lent)
    before = all_of(envs)
    actions = choose(envs.masks, np.random.default_rng(0))
    actions[3] = bad
    with pytest.raises(IllegalActionError, match=f"action {bad} is illegal in row 3, where"):
        envs.step(actions)
    assert equal_trees(all_of(envs), before)


def test_unsigned_number_wraps_to_a_legal_one() -> None:
    envs = in_the_middle()
    legal = choose(envs.masks, np.random.default_rng(0))
    before = all_of(envs)
    for bad in (2**64 - 1, 2**63, 2**64 - 3):
        actions = legal.astype(np.uint64)
        actions[1] = bad
        with pytest.raises(ValueError, match=f"action {bad} is illegal in row 1"):
            envs.step(actions)
    assert equal_trees(all_of(envs), before)


@pytest.mark.parametrize(
    "dtype", ["list", *(f"{kind}{bits}" for kind in ("int", "uint") for bits in (8, 16, 32, 64))]
)
def test_integers_of_another_width_are_refused(dtype: str) -> None:
    envs, twin = in_the_middle(), in_the_middle()
    rng = np.random.default_rng(8)
    for _ in range(20):
        legal = choose(envs.masks, rng)
        given = legal.tolist() if dtype == "list" else legal.astype(dtype)
        assert equal_trees(envs.step(given), twin.step(legal))
        wide = np.zeros(10, np.int64)[::2]
        wide[:] = choose(envs.masks, rng)
        assert equal_trees(envs.step(wide), twin.step(wide.copy()))


def test_every_action_the_mask_forbids_is_refused_and_no_other() -> None:
    envs = in_the_middle(rows=40)
    masks = envs.masks.copy()
    state = envs.get_state()
    for row, mask in enumerate(masks):
        for action in range(-2, len(mask) + 2):
            actions = masks.argmax(axis=1)
            actions[row] = action
            if 0 <= action < len(mask) and mask[action]:
                envs.step(actions)
                envs.set_state(state)
                continue
            with pytest.raises(ValueError, match=rf"action {action} is illegal in row {row},"):
                envs.step(actions)
    assert envs.get_state() == state


def test_rows_with_illegal_actions_are_not_named() -> None:
    envs = in_the_middle(rows=20)
    legal = np.flatnonzero(envs.masks[4]).tolist()
    actions = envs.masks.argmax(axis=1)
    actions[[4, 9, 17]] = [99, -1, 99]
    with pytest.raises(ValueError, match="is illegal in row 4") as caught:
        envs.step(actions)
    assert f"legal are {legal} (and in 2 more rows: [9, 17])" in str(caught.value)
    active = np.ones(20, bool)
    active[4] = False
    with pytest.raises(ValueError, match=r"action -1 is illegal in row 9.*1 more rows: \[17\]"):
        envs.step(actions, active)
    active[[9, 17]] = False
    envs.step(actions, active)  # whoever waits may say anything


@pytest.mark.parametrize(
    "active",
    [True, 1, [1] * 5, np.ones(5), np.ones(4, bool), np.ones((5, 1), bool), [None] * 5, "yes", []],
)
def test_something_else_is_taken_for_rows_that_act(active: Any) -> None:
    envs = in_the_middle()
    before = all_of(envs)
    with pytest.raises(ValueError, match=r"active must be bool \(5,\)"):
        envs.step(choose(envs.masks, np.random.default_rng(0)), active)
    assert equal_trees(all_of(envs), before)


def test_memory_beyond_the_seats_is_read() -> None:
    envs = begun()
    for seats in (2, -1, 127, [0, 7], np.array([0, -1])):
        with pytest.raises(ValueError, match="seats must be 0 to 1"):
            envs.observe_rows(np.array([0, 1]), seats)
    both = [envs.observe_rows(np.arange(5), seat) for seat in (0, 1)]
    seen, _, players = envs.observe()
    assert (np.stack(both)[players, np.arange(5)] == seen).all()


def test_rewards_of_an_earlier_match_are_still_there() -> None:
    envs = begun(30, rules="tiny")
    state = envs.get_state()
    rng = np.random.default_rng(0)
    for forget in (
        envs.reset, lambda: envs.set_state(state), lambda: envs.play_at_random(1, 0),
    ):  # fmt: skip
        while not envs.rewards.any():
            play(envs, rng, 1)
        assert envs.final_observation.any()
        forget()
        assert not envs.rewards.any()
        assert not envs.final_observation.any()


# --- wrong arguments ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name, bad",
    [
        ("num_envs", 0), ("num_envs", -1), ("num_envs", 2.0), ("num_envs", True),
        ("num_envs", None), ("num_envs", 2**24 + 1), ("seed", -1), ("seed", 0.5), ("seed", True),
        ("seed", [1, 2, 3]), ("match", "hand"), ("reward", "money"), ("rules", "huge"),
        ("threads", 0), ("threads", 1.0), ("max_deals", 0), ("reward_scale", 0),
        ("below_value", float("nan")), ("illegal_penalty", -1),
    ],
)  # fmt: skip
def test_wrong_argument_is_taken(name: str, bad: Any) -> None:
    with pytest.raises(ValueError, match=name):
        poke_env.make_batch("poke", **{"num_envs": 3, name: bad})


@pytest.mark.parametrize("game", ["Poke", "chess", "", None, 3, "base", []])
def test_unknown_game_is_made(game: Any) -> None:
    with pytest.raises(ValueError, match="game must be one of 'poke'"):
        poke_env.make_batch(game, 2)


PAIRS = [(0, 0), (0, 0), (0, 0)]
BAD_OPTIONS: dict[str, tuple[str, Any]] = {
    "no dict": ("options", [1]),
    "unknown key": ("options.*dek", {"dek": 1}),
    "deck and decks": ("deck or decks", {"deck": [[1]] * 3, "decks": [[[1]]] * 3}),
    "deck of one row": ("deck", {"deck": list(range(52))}),
    "deck is text": ("deck", {"deck": "2c 3c"}),
    "deck is None": ("deck", {"deck": None}),
    "deck of floats": ("deck", {"deck": np.tile(np.arange(52.0), (3, 1))}),
    "deck of bools": ("deck", {"deck": np.ones((3, 2), bool)}),
    "deck twice a card": ("deck", {"deck": np.zeros((3, 52), int)}),
    "deck beyond the pack": ("deck", {"deck": np.tile(np.arange(1, 53), (3, 1))}),
    "deck far beyond": ("deck", {"deck": np.tile(np.arange(256, 308), (3, 1))}),
    "deck of negatives": ("deck", {"deck": np.tile(np.arange(-1, 51), (3, 1))}),
    "deck for two rows": ("deck", {"deck": np.tile(np.arange(52), (2, 1))}),
    "deck too deep": ("deck", {"deck": np.tile(np.arange(52), (3, 1, 1))}),
    "deck too long": ("deck", {"deck": [list(range(53))] * 3}),
    "deck 0-d": ("deck", {"deck": np.array(3)}),
    "decks flat": ("deck", {"decks": np.tile(np.arange(52), (3, 1))}),
    "decks for two rows": ("decks", {"decks": np.tile(np.arange(52), (2, 1, 1))}),
    "decks one wrong": ("deck", {"decks": [[], [[1, 1]], []]}),
    "dealer too large": ("dealer", {"dealer": 2}),
    "dealer negative": ("dealer", {"dealer": [0, -1, 1]}),
    "dealer too few": ("dealer", {"dealer": [0, 1]}),
    "dealer is float": ("dealer", {"dealer": np.zeros(3)}),
    "dealer is bool": ("dealer", {"dealer": [True, False, True]}),
    "dealer is text": ("dealer", {"dealer": "0"}),
    "dealer has None": ("dealer", {"dealer": [None, 0, 0]}),
    "dealer is deep": ("dealer", {"dealer": np.zeros((3, 1), int)}),
    "score is a number": ("score", {"score": 3}),
    "score is a list": ("score", {"score": [{}] * 3}),
    "score has a number": ("below", {"score": {"below": 3}}),
    "score has 0-d": ("below", {"score": {"below": np.array(3)}}),
    "score has a text": ("below", {"score": {"below": "ab"}}),
    "score has None": ("above", {"score": {"above": None}}),
    "score unknown": ("wins", {"score": {"wins": (0, 0)}}),
    "score unknown by row": ("wins", {"score": {"wins": PAIRS}}),
    "score too few": ("below", {"score": {"below": PAIRS[:2]}}),
    "score not a pair": ("below", {"score": {"below": [(0, 0), (0,), (0, 0)]}}),
    "score negative": ("above", {"score": {"above": [(0, 0), (0, -1), (0, 0)]}}),
    "score impossible": ("games", {"score": {"games": [(0, 0), (2, 0), (0, 0)]}}),
    "score of floats": ("above", {"score": {"above": np.zeros((3, 2))}}),
    "skip negative": ("skip", {"skip": -1}),
    "skip too large": ("skip", {"skip": 2**63}),
    "skip is float": ("skip", {"skip": 1.0}),
    "skip is bool": ("skip", {"skip": True}),
    "skip too many": ("skip", {"skip": [0] * 4}),
}


@pytest.mark.parametrize(
    "played", [[3, 9], (3, 9), np.array([3, 9])], ids=["list", "tuple", "array"]
)
def test_number_of_a_score_cannot_differ_from_row_to_row(played: Any) -> None:
    envs = poke_env.make_batch("poque", 2, players=3)
    envs.reset(seed=0, options={"score": {"deals_played": played, "stacks": (20, 40, 60)}})
    assert envs.record["deals_played"].tolist() == [3, 9]
    assert envs.record["stack_before"][:, :3].tolist() == [[20, 40, 60]] * 2
    with pytest.raises(
        ValueError, match="score deals_played must hold one entry for each of 2 row"
    ):
        envs.reset(options={"score": {"deals_played": [1, 2, 3]}})
    with pytest.raises(
        ValueError, match="score deals_played must be an integer from 0 to 11, got 1"
    ):
        envs.reset(options={"score": {"deals_played": [1, 12]}})
    with pytest.raises(ValueError, match="score deals_played must be an integer"):
        envs.reset(options={"score": {"deals_played": [[1], [2]]}})


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_wrong_option_disturbs_the_matches(name: str) -> None:
    field, options = BAD_OPTIONS[name]
    envs, twin = in_the_middle(3, rules="standard"), in_the_middle(3, rules="standard")
    before = all_of(envs)
    for seed in (None, 5):
        with pytest.raises(ValueError, match=field):
            envs.reset(seed=seed, options=options)
    assert equal_trees(all_of(envs), before)
    assert equal_trees(envs.reset(), twin.reset())
    fresh = poke_env.make_batch("poke", 3, 4)
    with pytest.raises(ValueError, match=field):
        fresh.reset(options=options)
    with pytest.raises(NotResetError, match=r"reset\(\)"):
        fresh.observe()
    assert equal_trees(fresh.reset(), poke_env.make_batch("poke", 3).reset(seed=4))


@pytest.mark.parametrize(
    "seed",
    [-1, True, 1.0, "1", b"123", [1, 2], [1, 2, -3], [1, 2, 3.0], [1, 2, None], [1, 2, True],
     np.zeros(3), np.zeros((3, 1), int), np.array(-1), np.array(1.0), {}, object(), [[1], [2], [3]],
     (n for n in range(3))],
    ids=lambda seed: f"{type(seed).__name__} {seed}".partition(" at 0x")[0],
)  # fmt: skip
def test_wrong_seed_disturbs_the_matches(seed: Any) -> None:
    envs, twin = in_the_middle(3), in_the_middle(3)
    with pytest.raises(ValueError, match="seed"):
        envs.reset(seed=seed)
    assert equal_trees(all_of(envs), all_of(twin))
    assert equal_trees(envs.reset(), twin.reset())


@pytest.mark.parametrize("seed", [0, 2**63 - 1, 2**63, 2**64 - 1, 2**200, np.uint64(2**64 - 1)])
def test_seed_does_not_fix_the_rows(seed: Any) -> None:
    one, other = poke_env.make_batch("poke", 3), poke_env.make_batch("poke", 3, seed)
    rng = np.random.default_rng(0)
    assert equal_trees(one.reset(seed=seed), other.reset())
    assert equal_trees(play(one, rng, 20), play(other, np.random.default_rng(0), 20))
    shifted = poke_env.make_batch("poke", 3)
    shifted.reset(seed=int(seed) + 1)
    one.reset(seed=np.array(seed) if isinstance(seed, np.integer) else seed)
    assert (shifted.deck[:-1] == one.deck[1:]).all()
    assert not (shifted.deck[-1] == one.deck).all(axis=1).any()


def test_unseeded_batches_or_rows_are_alike() -> None:
    decks = set()
    for _ in range(3):
        decks |= {bytes(deck) for deck in begun(50, None).deck}
    assert len(decks) == 150


# --- the order of calls ---------------------------------------------------------------------------


def test_call_before_reset_is_not_explained() -> None:
    calls: list[Callable[[Any], Any]] = [
        lambda envs: envs.step(np.zeros(3, int)),
        lambda envs: envs.observe(),
        lambda envs: envs.record,
        lambda envs: envs.deck,
        lambda envs: envs.get_state(),
        lambda envs: envs.play_at_random(1, 0),
        lambda envs: envs.observe_rows(np.arange(2), 0),
    ]
    envs = poke_env.make_batch("poke", 3, 0)
    for _ in range(2):
        for call in calls:
            with pytest.raises(NotResetError, match=r"reset\(\)"):
                call(envs)
        envs = pickle.loads(pickle.dumps(envs))
    envs.reset()
    for call in calls:
        call(envs)
    envs.close()
    envs.close()


# --- save, restore, copy --------------------------------------------------------------------------


def restored_into(envs: Any, twin: Any) -> Any:
    twin.set_state(envs.get_state())
    return twin


COPIES: dict[str, Callable[[Any, Any], Any]] = {
    "deepcopy": lambda envs, fresh: copy.deepcopy(envs),
    "pickle": lambda envs, fresh: pickle.loads(pickle.dumps(envs)),
    "get_state, unused": restored_into,
    "get_state": lambda envs, fresh: (fresh.reset(seed=9), restored_into(envs, fresh))[1],
}


@pytest.mark.parametrize("lent", [True, False])
@pytest.mark.parametrize("copied", COPIES)
def test_copy_in_mid_match_plays_another_match(copied: str, lent: bool) -> None:
    settings = {"rules": "small", "match": "rubber", "max_deals": 6, "copy": not lent}
    envs = begun(6, **settings)
    envs.reset(options={"decks": [[[48, 45]] * row for row in range(6)], "dealer": [0, 1] * 3})
    play(envs, np.random.default_rng(1), 15)
    before = all_of(envs)
    twin = COPIES[copied](envs, poke_env.make_batch("poke", 6, **settings))
    assert equal_trees(twin.observe(), before["observed"])
    assert twin.get_state() == before["state"]
    first = play(twin, np.random.default_rng(2), 60)
    assert equal_trees(all_of(envs)["state"], before["state"])
    assert equal_trees(play(envs, np.random.default_rng(2), 60), first)
    assert equal_trees(envs.reset(), twin.reset())
    assert equal_trees(envs.play_at_random(20, 3), twin.play_at_random(20, 3))
    assert envs.get_state() == twin.get_state()


def test_compiled_loops_are_compiled_anew_for_copies() -> None:
    """Their arrays must be of the same types, read-only ones included."""
    envs = in_the_middle()
    envs.play_at_random(1, 0)
    loops = [engine.deal, engine.advance, engine.find_illegal, engine.show, engine.play_at_random]
    before = [getattr(loop, "signatures", [])[:] for loop in loops]
    for twin in (copy.deepcopy(envs), pickle.loads(pickle.dumps(envs))):
        twin.step(choose(twin.masks, np.random.default_rng(0)), np.ones(10, bool)[::2])
        twin.play_at_random(1, 0)
        twin.reset(seed=0)
        twin.set_state(envs.get_state())
        pack = np.arange(len(twin.settings.pack))
        cards = np.asfortranarray(np.tile(twin.settings.pack[pack], (5, 1)))
        twin.reset(options={"deck": cards})
        twin.step(choose(twin.masks, np.random.default_rng(0)))
    assert [getattr(loop, "signatures", []) for loop in loops] == before


OTHERS: dict[str, dict[str, Any]] = {
    "rules": {"rules": "tiny"},
    "match": {"match": "deal"},
    "reward settings": {"reward": "win"},
    "reward settings, scale": {"reward_scale": 0.5},
    "reward settings, cap": {"max_deals": 3},
    "start_scores": {"start_scores": [{"below": (1, 0)}]},
}


@pytest.mark.parametrize("other", OTHERS)
def test_state_of_another_environment_is_taken(other: str) -> None:
    envs, stranger = in_the_middle(), in_the_middle(**OTHERS[other])
    before = all_of(envs)
    with pytest.raises(ValueError, match=f"other {other.split(',')[0]}"):
        envs.set_state(stranger.get_state())
    assert equal_trees(all_of(envs), before)


@pytest.mark.parametrize("rows", [1, 3, 4, 6, 50])
def test_state_of_another_number_of_rows_is_taken(rows: int) -> None:
    envs = in_the_middle()
    before = all_of(envs)
    with pytest.raises(ValueError, match=f"state has {rows} rows, this batch has 5"):
        envs.set_state(in_the_middle(rows).get_state())
    assert equal_trees(all_of(envs), before)


def test_state_of_the_bare_environment_is_taken() -> None:
    """And the other way round: one row is no match of the AEC environment."""
    envs, bare = in_the_middle(1), poke_v0.raw_env(match="game", rules="small")
    bare.reset(seed=0)
    with pytest.raises(ValueError, match="state "):
        envs.set_state(bare.get_state())
    rng = np.random.default_rng(0)
    for _ in range(50):
        with pytest.raises(ValueError, match="state "):
            bare.set_state(envs.get_state())
        play(envs, rng, 1)


def test_matches_that_are_over_stay_so_for_ever() -> None:
    """A batch with autoreset has none, so it refuses a state with some."""
    settings = {"match": "game", "rules": "tiny"}
    ended = begun(3, autoreset=False, **settings)
    while not ended.over.any():
        play(ended, np.random.default_rng(1), 1)
    envs = begun(3, **settings)
    before = all_of(envs)
    with pytest.raises(ValueError, match="state has matches that are over"):
        envs.set_state(ended.get_state())
    assert equal_trees(all_of(envs), before)
    twin = restored_into(ended, poke_env.make_batch("poke", 3, autoreset=False, **settings))
    assert equal_trees(twin.observe(), ended.observe())
    assert (twin.over == ended.over).all()
    assert (twin.observe()[2][twin.over] == -1).all()


DAMAGES: dict[str, Callable[[bytes], Any]] = {
    "nothing": lambda state: b"",
    "one byte short": lambda state: state[:-1],
    "one byte long": lambda state: state + b"\0",
    "half": lambda state: state[: len(state) // 2],
    "beginning": lambda state: state[:50],
    "twice": lambda state: state + state,
    "zeros": lambda state: bytes(len(state)),
    "text": lambda state: "state",
    "None": lambda state: None,
    "number": lambda state: 7,
    "array": lambda state: np.frombuffer(state, np.uint8),
    "bytearray": lambda state: bytearray(state[::-1]),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_state_is_taken(damage: str) -> None:
    envs = in_the_middle()
    before = all_of(envs)
    with pytest.raises(ValueError, match="state "):
        envs.set_state(DAMAGES[damage](envs.get_state()))
    assert equal_trees(all_of(envs), before)
    fresh = poke_env.make_batch("poke", 5, match="game", rules="small")
    with pytest.raises(ValueError, match="state "):
        fresh.set_state(DAMAGES[damage](envs.get_state()))
    with pytest.raises(NotResetError, match=r"reset\(\)"):
        fresh.observe()


def test_single_wrong_byte_is_taken() -> None:
    envs = in_the_middle(2)
    state = envs.get_state()
    before = all_of(envs)
    for place in range(len(state)):
        wrong = bytearray(state)
        wrong[place] ^= 1 << (place % 8)
        with pytest.raises(ValueError, match="state "):
            envs.set_state(bytes(wrong))
    assert equal_trees(all_of(envs), before)


def test_step_and_undo_leave_a_trace() -> None:
    envs = in_the_middle(4)
    rng = np.random.default_rng(2)
    for _ in range(60):
        state, shown = envs.get_state(), envs.observe()
        play(envs, rng, 1)
        envs.set_state(state)
        assert envs.get_state() == state
        assert equal_trees(envs.observe(), shown)
        assert not envs.final_observation.any()
        play(envs, rng, 1)


# --- processes ------------------------------------------------------------------------------------


def digest_in_child(sender: Any, envs: Any) -> None:
    if envs is None:
        envs = many_rows()
    sender.send(numbers_of(envs))


def many_rows() -> Any:
    return begun(2100, threads=2)


def numbers_of(envs: Any) -> tuple[int, float]:
    play(envs, np.random.default_rng(0), 5)
    ended, rewards = envs.play_at_random(30, 0)
    return ended, float(rewards.sum() + np.abs(rewards).sum())


def in_process(method: str, envs: Any) -> Any:
    context = multiprocessing.get_context(method)
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=digest_in_child, args=(sender, envs), daemon=True)
    with warnings.catch_warnings():
        # Newer Pythons warn of any fork beside threads; here it is what is tried.
        warnings.simplefilter("ignore", DeprecationWarning)
        process.start()
    try:
        assert receiver.poll(120), "the process hangs"
        return receiver.recv()
    finally:
        process.kill()
        process.join()


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(), reason="the system has no fork"
)
def test_process_forked_after_threads_ran_hangs() -> None:
    envs = many_rows()
    assert len(envs._parts) == 2
    play(envs, np.random.default_rng(1), 3)  # the threads are there
    expected = numbers_of(copy.deepcopy(envs))
    assert in_process("fork", envs) == expected
    assert numbers_of(envs) == expected


def test_spawned_process_plays_other_matches(tmp_path: Path) -> None:
    program = """
import multiprocessing, sys
import numpy as np
import poke_env

def work(number):
    envs = poke_env.make_batch("poke", 2100, number, threads=2)
    _, masks, _ = envs.reset()
    for _ in range(5):
        _, masks, *_ = envs.step(masks.argmax(axis=1))
    ended, rewards = envs.play_at_random(30, 0)
    return ended, rewards.tolist()

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(work, [3, 4]) == [work(3), work(4)]
    print("equal")
"""
    path = tmp_path / "program.py"
    path.write_text(program)
    assert run_python(str(path)).strip() == "equal"


def test_import_brings_more_than_it_needs() -> None:
    """Neither heavy libraries nor the batch, which is loaded where it is made."""
    program = """
import sys
import poke_env
heavy = ["torch", "stable_baselines3", "pygame", "numba", "poke_env.vector",
         "poke_env.engine", "poke_env.single_vector", "poke_env.games.poke"]
print([name for name in heavy if name in sys.modules])
envs = poke_env.make_batch("poke", 2, 0)
print([name for name in heavy[:3] if name in sys.modules])
"""
    assert run_python("-c", program).split("\n")[:2] == ["[]", "[]"]


# --- play at random -------------------------------------------------------------------------------


def test_play_at_random_differs_from_a_loop() -> None:
    """It plays the streams' choices with the rules of `step`; the seed decides, no more."""
    for match, cap in (("deal", None), ("game", None), ("rubber", 2)):
        settings = {"match": match, "rules": "small", "max_deals": cap}
        envs, loop = begun(5, **settings), begun(5, **settings)
        words = streams.seed_words(6, streams.Purpose.CHANCE).astype(np.int64)
        chances = [streams.generator(np.append(words, row)) for row in range(5)]
        masks, total, ended = loop.masks, np.zeros((5, 2)), 0
        for _ in range(90):
            actions = [
                streams.random_one(mask, int(mask.sum()), chance)
                for mask, chance in zip(masks, chances, strict=True)
            ]
            _, masks, _, rewards, dones = loop.step(actions)
            total += rewards
            ended += dones.sum()
        found, rewards = envs.play_at_random(90, 6)
        assert found == ended > 0
        assert rewards.tolist() == total.tolist()
        assert envs.record.tobytes() == loop.record.tobytes()
        assert equal_trees(envs.observe(), loop.observe())
        assert not envs.truncated.any()
        assert not envs.final_observation.any()
        rng, other = np.random.default_rng(0), np.random.default_rng(0)
        assert equal_trees(play(envs, rng, 30), play(loop, other, 30))


def test_seed_does_not_fix_play_at_random() -> None:
    ends = []
    for seed in (0, 0, 1, 2**200, None, None):
        envs = begun(20)
        envs.play_at_random(40, seed)
        ends.append(envs.record.tobytes())
    assert ends[0] == ends[1]
    assert len(set(ends)) == 5
    envs = begun(20)
    before = all_of(envs)
    assert envs.play_at_random(0, 0)[0] == 0
    assert envs.play_at_random(np.int8(0), np.int64(0))[1].tolist() == [[0.0, 0.0]] * 20
    assert equal_trees(all_of(envs), before)


def test_lent_arrays_are_stale_after_play_at_random() -> None:
    envs, lent = begun(4), begun(4, copy=False)
    for each in (envs, lent):
        each.play_at_random(25, 1)
    assert equal_trees(list(envs.observe()), [array.copy() for array in lent.observe()])


@pytest.mark.parametrize("bad", [-1, 1.0, True, None, "3", 2**31])
def test_wrong_number_of_decisions_is_taken(bad: Any) -> None:
    envs = begun()
    with pytest.raises(ValueError, match="decisions"):
        envs.play_at_random(bad, 0)
    with pytest.raises(ValueError, match="seed"):
        envs.play_at_random(1, -1)


def test_play_at_random_goes_on_with_matches_that_are_over() -> None:
    envs = begun(2, autoreset=False, rules="tiny")
    play(envs, np.random.default_rng(0), 30)
    assert envs.over.all()
    before = all_of(envs)
    with pytest.raises(ValueError, match=r"a match is over: call reset\(\)"):
        envs.play_at_random(1, 0)
    assert equal_trees(all_of(envs), before)


def test_play_at_random_is_not_uniform() -> None:
    """First decisions of one hand: each of its legal actions equally often."""
    envs = poke_env.make_batch("poke", 5200)
    deck = np.tile(np.arange(52), (5200, 1))
    envs.reset(seed=0, options={"deck": deck, "dealer": 0})
    legal = int(envs.masks[0].sum())
    before = envs.observe()[0][0]
    counts: dict[bytes, int] = {}
    envs.play_at_random(1, 3)
    for record in envs.record:
        counts[record.tobytes()] = counts.get(record.tobytes(), 0) + 1
    assert len(counts) == legal == 26
    spread = sum((count - 200) ** 2 / 200 for count in counts.values())
    assert spread < 52.6  # chi-square, 25 degrees, p = 0.001
    assert (envs.observe()[0][0] != before).any()


# --- rewards and what may be known ----------------------------------------------------------------


@pytest.mark.parametrize("configuration", CONFIGURATIONS, ids=name_of)
def test_rewards_are_not_zero_sum(configuration: dict[str, Any]) -> None:
    envs = begun(50, **configuration)
    rng = np.random.default_rng(0)
    for _ in range(60):
        rewards = envs.step(choose(envs.masks, rng))[3]
        assert (rewards[:, 0] == -rewards[:, 1]).all()
    assert not envs.play_at_random(100, 0)[1].sum(axis=1).any()


def test_scratch_of_one_row_reaches_another() -> None:
    """Rows are played alone: permuting them permutes everything."""
    order = np.random.default_rng(0).permutation(30)
    seeds = np.arange(30)
    envs, other = (poke_env.make_batch("poke", 30, match="game") for _ in range(2))
    shown, permuted = envs.reset(seed=seeds), other.reset(seed=seeds[order])
    rng = np.random.default_rng(1)
    for _ in range(60):
        for one, another in zip(shown, permuted, strict=True):
            assert (one[order] == another).all()
        actions = choose(shown[1], rng)
        shown, permuted = envs.step(actions), other.step(actions[order])


def test_observation_tells_of_hidden_cards() -> None:
    """In another world with other hidden cards, the player to move sees the same."""
    rows = 200
    rng = np.random.default_rng(2)
    decks = rng.permuted(np.tile(np.arange(52), (rows, 1)), axis=1)
    # Its own are at 0 to 4, its replacements from 10 on.
    hidden = [*range(5, 10), *range(16, 52)]
    for dealer in (0, 1):
        worlds = decks.copy()
        for deck in worlds:
            deck[hidden] = rng.permutation(deck[hidden])
        shown = []
        for cards in (decks, worlds):
            envs = poke_env.make_batch("poke", rows)
            found = [envs.reset(seed=0, options={"deck": cards, "dealer": dealer})]
            non_dealer = found[0][2].copy()
            assert (non_dealer == 1 - dealer).all()
            chance = np.random.default_rng(3)
            for _ in range(2):  # its draws, until the other seat has to move
                _, masks, players = envs.observe()
                active = players == non_dealer
                envs.step(choose(masks, chance), active)
                mine = envs.observe_rows(np.arange(rows), non_dealer)
                found.append((mine[active], masks[active], active))
            shown.append(found)
        assert equal_trees(*shown)


def test_dealer_sees_hidden_cards() -> None:
    """The dealer's turn, the same: its own hand fixed, the other's exchanged with unseen cards."""
    rows = 100
    rng = np.random.default_rng(4)
    decks = rng.permuted(np.tile(np.arange(52), (rows, 1)), axis=1)
    worlds = decks.copy()
    hidden = [*range(5), *range(10, 52)]
    for deck in worlds:
        deck[hidden] = rng.permutation(deck[hidden])
    shown = []
    for cards in (decks, worlds):
        envs = poke_env.make_batch("poke", rows)
        envs.reset(seed=0, options={"deck": cards, "dealer": 0})
        shown.append(envs.step(np.zeros(rows, int))[:3])  # the non-dealer stands pat
    assert equal_trees(*shown)


def test_random_agent_plays_an_illegal_action_in_a_batch() -> None:
    envs = begun(64, match="rubber", rules=RULES["house"])
    seen, masks, _ = envs.observe()
    player = RandomAgent(0)
    ended = 0
    for _ in range(400):
        seen, masks, _, _, dones = envs.step(player.act_batch(seen, masks))
        ended += dones.sum()
    assert ended > 0
