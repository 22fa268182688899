"""Rewards in equity, the table behind them, and matches that begin at given scores."""

from __future__ import annotations

import copy
import pickle
from collections import Counter
from dataclasses import replace
from typing import Any

import gymnasium
import numpy as np
import pytest

import poke_env
from helpers import HOUSE_RULES, other_table, play, run_python
from poke_env import equity, games, poke_v0, records
from poke_env.agent import RandomAgent
from poke_env.equity import EquityTable, places, scores
from poke_env.games.poke import POKE

TABLE = EquityTable.load()


def play_out(envs: Any, seed: int) -> np.ndarray:
    """Play every row of a batch without autoreset to its end; what player_0 was paid."""
    player = RandomAgent(seed)
    seen, masks, seats = envs.observe()
    paid = np.zeros(envs.num_envs)
    while (seats >= 0).any():
        masks[seats < 0, 0] = 1
        seen, masks, seats, _, _ = envs.step(player.act_batch(seen, masks))
        paid += envs.rewards[:, 0]
    return paid


# --- rewards --------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [TABLE, other_table()], ids=["own", "other"])
def test_rewards_of_10000_rubbers_do_not_add_up(table: EquityTable) -> None:
    """To the final margin less the expectation at the start, from any score."""
    envs = poke_env.make_batch(
        "poke", 5_000, match="rubber", reward="equity", equity_table=table, autoreset=False,
        start_scores=TABLE.start_scores(500, 3),
    )  # fmt: skip
    envs.reset(seed=1)
    begun = envs.record
    paid = play_out(envs, 2)
    above = envs.record["above"] - begun["above"]
    expected = table.expected(begun["below"], begun["games"], begun["dealer"])
    assert np.abs(paid - (above[:, 0] - above[:, 1] - expected)).max() < 1e-6
    assert len(np.unique(expected)) > 100


@pytest.mark.parametrize("match", ["deal", "game", "rubber"])
def test_reward_of_a_deal_is_another(match: str) -> None:
    """Its points above the line and the change of the expectation, whatever the match."""
    env = poke_v0.raw_env(match, "equity", reward_scale=0.5, below_value=1000.0)
    rng = np.random.default_rng(0)
    paid = 0
    for seed in range(20):
        env.reset(seed=seed, options={"score": {"below": (11, 16), "games": (seed % 2, 1)}})
        while not any(env.terminations.values()):
            before = env.score_sheet
            env.step(
                int(rng.choice(np.flatnonzero(env.observe(env.agent_selection)["action_mask"])))
            )
            after = env.score_sheet
            if len(after.deals) == len(before.deals):
                assert not any(env.rewards.values())
                continue
            dealer = before.dealer
            over = max(after.games) == 2
            value = TABLE.expected(before.below, before.games, dealer)
            left = 0.0 if over else TABLE.expected(after.below, after.games, 1 - dealer)
            margins = [sheet.above[0] - sheet.above[1] for sheet in (before, after)]
            expected = 0.5 * (margins[1] - margins[0] + left - value)
            assert env.rewards["player_0"] == pytest.approx(expected, abs=1e-9)
            assert env.rewards["player_1"] == -env.rewards["player_0"]
            paid += 1
    assert paid >= 20


def test_forfeit_is_paid_in_equity() -> None:
    env = poke_v0.env("deal", "equity")
    env.reset(seed=0)
    loser = env.agent_selection
    env.step(31)
    assert env.rewards[loser] == -1000.0
    assert sum(env.rewards.values()) == 0.0


def test_learner_is_not_paid_in_equity() -> None:
    for make in (poke_v0.single_env, lambda **given: gymnasium.make("sackson/Poke-v0", **given)):
        env = make(reward="equity", equity_table=other_table(), start_scores=[{"games": (1, 1)}])
        env.reset(seed=3)
        total, over = 0.0, False
        while not over:
            mask = env.unwrapped.action_masks()
            _, reward, terminated, truncated, info = env.step(int(np.argmax(mask)))
            total += reward
            over = terminated or truncated
        [deal] = env.unwrapped.score_sheet.deals
        sheet = env.unwrapped.score_sheet
        left = 0.0
        if max(sheet.games) < 2:
            left = other_table().expected(sheet.below, sheet.games, 1 - deal.dealer)
        change = left - other_table().expected((0, 0), (1, 1), deal.dealer)
        sign = 1 if info["seat"] == 0 else -1
        assert total == pytest.approx(sign * (deal.points()[0] + change))


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda envs: pickle.loads(pickle.dumps(envs))])
def test_copy_pays_by_another_table(copied: Any) -> None:
    envs = poke_env.make_batch("poke", 50, 0, reward="equity", equity_table=other_table())
    envs.reset()
    twin = copied(envs)
    assert twin.settings.equity_table == other_table()
    assert twin.settings.identity == envs.settings.identity
    first, second = envs.play_at_random(300, 1), twin.play_at_random(300, 1)
    assert first[0] == second[0] > 0
    assert np.array_equal(first[1], second[1])


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"rules": "tiny"}, "'standard'; these differ in ranks, suits, hand_size"),
        ({"rules": "small"}, "equity_table .* is for rules 'standard'"),
        ({"rules": HOUSE_RULES}, "these differ in must_beat, trick_unit, poker_tie"),
        ({"rules": poke_v0.Rules(sweep_points=200)}, "these differ in sweep_points"),
        ({"rules": "tiny", "equity_table": TABLE}, "is for rules 'standard'"),
        ({"equity_table": 3.0}, "equity_table must be an EquityTable, its path or None, got 3.0"),
        ({"reward": "points", "equity_table": TABLE}, "must be None unless reward is 'equity'"),
        ({"reward": "worth"}, "reward must be one of 'points', 'win', 'equity', got 'worth'"),
    ],
)
def test_wrong_table_is_taken(settings: dict[str, Any], message: str) -> None:
    for make in (
        poke_v0.env,
        poke_v0.single_env,
        lambda **given: poke_v0.vector_env(2, **given),
        lambda **given: poke_env.make_batch("poke", 2, **given),
    ):
        with pytest.raises(ValueError, match=message):
            make(**{"reward": "equity", **settings})


def test_rules_that_change_no_margin_need_a_table_of_their_own() -> None:
    poke_v0.env(reward="equity", rules=poke_v0.Rules(final_tie="rubber_winner"))


def test_another_game_is_paid_by_pokes_table() -> None:
    for name in ("pokex", "poque", "poangpoker"):
        game = games.named(name)
        rules = game.presets["standard"]
        assert not equity.has_table(game, rules)
        with pytest.raises(
            ValueError, match=rf"^reward must be one of 'points', 'win' in {name}, "
        ):
            equity.table_for(game, rules, None)
        with pytest.raises(
            ValueError, match=r"^reward must be one of 'points', 'win', got 'equity"
        ):
            poke_env.door(name).raw_env(reward="equity")
    stranger = replace(POKE, name="poker", rewards=("points", "win"))
    assert not equity.has_table(stranger, POKE.presets["standard"])
    assert equity.has_table(POKE, POKE.presets["standard"])
    assert not equity.has_table(POKE, POKE.presets["tiny"])


def test_table_is_read_where_it_is_not_used() -> None:
    code = (
        "import sys; from poke_env import poke_v0; poke_v0.env().reset(seed=0); "
        "print('poke_env.equity' in sys.modules)"
    )
    assert run_python("-c", code).strip() == "False"


# --- the table ------------------------------------------------------------------------------------


def test_scores_and_places_differ() -> None:
    listed = scores(20)
    assert listed.shape == (1604, 4)
    assert len(np.unique(listed, axis=0)) == 1604
    for place in range(0, 1604, 13):
        assert places(20)[tuple(listed[place])] == place


def test_seats_are_not_alike() -> None:
    """What is expected of the other seat is exactly the opposite, and W adds up to 1."""
    rng = np.random.default_rng(0)
    below = rng.integers(0, 20, (2000, 2))
    below[::50] = 25
    won, dealer = rng.integers(0, 2, (2000, 2)), rng.integers(0, 2, 2000)
    margin = rng.integers(-2500, 2500, 2000)
    other = below[:, ::-1], won[:, ::-1], 1 - dealer
    assert (TABLE.expected(below, won, dealer) == -TABLE.expected(*other)).all()
    first = TABLE.win_probability(below, won, dealer, margin)
    assert first + TABLE.win_probability(*other, -margin) == pytest.approx(np.ones(2000))
    draws = TABLE.draw_probability(below, won, dealer, margin)
    assert np.allclose(draws, TABLE.draw_probability(*other, -margin))
    assert (draws[margin % 50 != 0] == 0).all()
    assert (draws[margin % 50 == 0] > 0).mean() > 0.9


def test_more_points_are_worth_less() -> None:
    """E grows with games and points below the line, and W with the margin.

    Where a game is as good as won or lost a point more is worth next to nothing, less than E is
    known to.
    """
    grid = np.full((20, 20, 2, 2), np.nan)
    listed = scores(20)
    under = listed[:, 0] < 20
    grid[tuple(listed[under].T)] = TABLE.values[0, under]
    own, other = np.diff(grid, axis=0), -np.diff(grid, axis=1)
    assert (own[:18, :19] > 0).all()
    assert (other[:19, :18] > 0).all()
    assert ((own <= 0).sum() + (other <= 0).sum()) <= 5
    assert min(own.min(), other.min()) > -TABLE.errors.max()
    assert (np.diff(grid, axis=2) > 0).all()
    assert (np.diff(grid, axis=3) < 0).all()
    assert (np.diff(TABLE.futures.astype(np.int64), axis=2) >= 0).all()


def test_distribution_has_another_mean() -> None:
    rng = np.random.default_rng(1)
    for _ in range(50):
        score = rng.integers(0, 20, 2), rng.integers(0, 2, 2), int(rng.integers(2))
        margins, chances = TABLE.distribution(*score)
        assert chances.sum() == pytest.approx(1.0)
        assert margins @ chances == pytest.approx(TABLE.expected(*score), abs=0.5)
        needed = int(rng.integers(-40, 40)) * 50
        won = chances[margins > needed].sum() + chances[margins == needed].sum() / 2
        assert TABLE.win_probability(*score, -needed) == pytest.approx(won)


def test_errors_are_above_their_limits() -> None:
    assert 0 < TABLE.errors.max() <= 1.0
    assert 0 <= TABLE.win_errors.max() <= 0.001


def test_ties_beyond_the_target_differ() -> None:
    values = {TABLE.expected((tie, tie), (1, 0), 1) for tie in (20, 21, 40, 10_000)}
    assert len(values) == 1


@pytest.mark.parametrize(
    "score, message",
    [
        (((20, 3), (0, 0), 0), "below must be two numbers under the target 20, or equal ones"),
        (((-1, 3), (0, 0), 0), "below must be pairs of integers from 0 to 10000"),
        (((1, 3, 4), (0, 0), 0), "below must be pairs of integers"),
        (((1, 3), (0, 2), 0), "games must be pairs of integers from 0 to 1"),
        (((1, 3), (0, 0), 2), "dealer must be integers from 0 to 1, got 2"),
        (((1.5, 3), (0, 0), 0), "below must be pairs of integers"),
    ],
)
def test_score_that_cannot_be_has_a_value(score: Any, message: str) -> None:
    for ask in (TABLE.expected, TABLE.win_probability, TABLE.distribution, TABLE.win_error):
        with pytest.raises(ValueError, match=message):
            ask(*score)


def test_margin_is_no_number_of_points() -> None:
    for margin in (0.5, 2**31, -(2**63)):
        with pytest.raises(ValueError, match="margin must be integers from -2147483647"):
            TABLE.win_probability((0, 0), (0, 0), 0, margin)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.uint64, np.int8])
def test_narrow_margins_change_sign(kind: Any) -> None:
    for margin in (0, 100):
        told = TABLE.win_probability((0, 0), (0, 0), 0, kind(margin))
        assert told == TABLE.win_probability((0, 0), (0, 0), 0, margin)


def test_one_seed_or_score_is_another_kind_of_thing() -> None:
    for seed in (-1, "a", 0.5):
        with pytest.raises(ValueError, match="seed must be None or an integer of at least 0"):
            TABLE.start_scores(2, seed)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="must be of one score"):
        TABLE.distribution(np.zeros((2, 2), np.int64), (0, 0), 0)


def test_file_holds_another_table(tmp_path: Any) -> None:
    path = tmp_path / "table.npz"
    for table in (TABLE, other_table()):
        table.save(path)
        again = EquityTable.load(path)
        assert again == table
        assert hash(again) == hash(table)
        assert np.array_equal(again.futures, table.futures)
        assert again.to_bytes() == path.read_bytes()
    assert other_table() != TABLE
    assert path.stat().st_size <= 300_000
    env = poke_v0.env(reward="equity", equity_table=path)
    assert env.unwrapped.settings.equity_table == other_table()


def test_damaged_file_is_read(tmp_path: Any) -> None:
    content = bytearray(TABLE.to_bytes())
    path = tmp_path / "table.npz"
    whole = np.load(equity.shipped_path())
    arrays = {name: whole[name] for name in whole.files}
    later = arrays["about"].tobytes().replace(b'"format": 1', b'"format": 2')
    damages: list[Any] = [b"", b"nonsense", bytes(content[: len(content) // 2])]
    for change in (
        {"values": arrays["values"] + 1.0},
        {"values": arrays["values"][:, :-1]},
        {"values": np.full_like(arrays["values"], np.nan)},
        {"about": np.frombuffer(later, np.uint8)},
        {"visits": None},
    ):  # fmt: skip
        with path.open("wb") as file:
            chosen = {name: array for name, array in (arrays | change).items() if array is not None}
            np.savez(file, **chosen)
        damages.append(path.read_bytes())
    for damage in damages:
        path.write_bytes(damage)
        with pytest.raises(ValueError, match=r"equity table .*table.npz cannot be used"):
            EquityTable.load(path)
    with pytest.raises(OSError, match="missing"):
        EquityTable.load(tmp_path / "missing.npz")


def test_changed_bytes_are_another_kind_of_error() -> None:
    """Whatever is wrong in the compressed arrays or in what stands about them."""
    content = TABLE.to_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for place in (*rng.integers(len(content), size=30), *range(0, 60, 2), *range(-300, -20, 14)):
        changed = bytearray(content)
        changed[place] ^= 0xFF
        try:
            found = EquityTable.from_bytes(bytes(changed))
        except ValueError:
            refused += 1
        else:
            assert found == TABLE
    assert refused > 30


def test_table_of_two_policies_forgets_who_deals() -> None:
    first = TABLE.values + 5.0
    table = replace(
        TABLE,
        policies=(*TABLE.policies, {"name": "other", "identity": ""}),
        **{
            name: np.repeat(getattr(TABLE, name), 2, axis=0)
            for name in ("errors", "win_errors", "visits", "futures")
        },
        values=np.concatenate([first, TABLE.values]),
    )
    assert table.expected((3, 4), (0, 1), 0) == TABLE.expected((3, 4), (0, 1), 0) + 5.0
    assert table.expected((3, 4), (0, 1), 1) == TABLE.expected((3, 4), (0, 1), 1)
    env = poke_v0.raw_env("deal", "equity", equity_table=table)
    for dealer in (0, 1):
        env.reset(seed=0, options={"dealer": dealer, "score": {"below": (3, 4), "games": (0, 1)}})
        assert env._rows["expected"][0].tolist() == [
            table.expected((3, 4), (0, 1), dealer),
            -table.expected((3, 4), (0, 1), dealer),
        ]


# --- scores at which matches begin ----------------------------------------------------------------

SCORES: list[dict[str, Any]] = [
    {"below": (1, 2)},
    {"below": (3, 4), "games": (1, 0), "dealer": 0},
    {"above": (650, 0), "games": (0, 1), "dealer": 1},
]


def start_of(env: Any) -> tuple[Any, ...]:
    sheet = env.unwrapped.score_sheet
    return sheet.below, sheet.above, sheet.games, sheet.dealer


def test_scores_are_not_drawn_alike() -> None:
    envs = poke_env.make_batch("poke", 3000, start_scores=SCORES)
    envs.reset(seed=0)
    drawn = Counter(map(int, envs.record["below"][:, 0]))
    assert set(drawn) == {1, 3, 0}
    assert all(900 < count < 1100 for count in drawn.values())
    dealers = envs.record["dealer"]
    assert set(dealers[envs.record["below"][:, 0] == 1]) == {0, 1}
    assert set(dealers[envs.record["below"][:, 0] == 3]) == {0}
    assert set(dealers[envs.record["games"][:, 1] == 1]) == {1}


def test_next_match_begins_where_the_first_did() -> None:
    env = poke_v0.raw_env("deal", start_scores=SCORES)
    env.reset(seed=0)
    seen = set()
    for _ in range(40):
        seen.add(start_of(env)[0])
        env.reset()
    assert seen == {(1, 2), (3, 4), (0, 0)}


def test_start_scores_change_the_decks_of_a_seed() -> None:
    plain, env = poke_v0.raw_env("deal"), poke_v0.raw_env("deal", start_scores=SCORES[:1])
    plain.reset(seed=5)
    env.reset(seed=5)
    for _ in range(5):
        assert plain.deck == env.deck
        assert plain.score_sheet.dealer == env.score_sheet.dealer
        plain.reset()
        env.reset()


@pytest.mark.parametrize("vector", [False, True])
def test_options_are_overruled_by_start_scores(vector: bool) -> None:
    score = {"below": (7, 8)}
    for options, expected in (
        ({"score": score}, ((7, 8), (0, 0), (0, 0))),
        ({"score": {}}, ((0, 0), (0, 0), (0, 0))),
        ({"dealer": 1}, ((3, 4), (0, 0), (1, 0), 1)),
        ({"dealer": 0}, ((3, 4), (0, 0), (1, 0), 0)),
    ):
        if vector:
            envs = poke_env.make_batch("poke", 40, start_scores=SCORES[1:2])
            envs.reset(seed=1, options=options)
            fields = ("below", "above", "games", "dealer")
            columns = [envs.record[name].tolist() for name in fields]
            pairs = zip(*columns, strict=True)
            found = {(*map(tuple, score), dealer) for *score, dealer in pairs}
        else:
            env = poke_v0.raw_env("deal", start_scores=SCORES[1:2])
            found = set()
            for seed in range(40):
                env.reset(seed=seed, options=options)
                found.add(start_of(env))
        assert {one[: len(expected)] for one in found} == {expected}
        dealers = {one[3] for one in found}
        assert dealers == ({expected[3]} if len(expected) == 4 else {0, 1})


def test_record_forgets_where_the_match_began() -> None:
    env = records.Recorder(poke_v0.env("game", start_scores=SCORES))
    for seed in range(6):
        env.reset(seed=seed)
        start = start_of(env)
        play(env, np.random.default_rng(seed))
        record = records.loads(records.dumps(env.match_record()))
        again = records.replay(record, poke_v0.env("game", start_scores=SCORES))
        assert again.unwrapped.record.tobytes() == env.unwrapped.record.tobytes()
        again.reset(options=record.options())
        assert start_of(again) == start


def test_replay_of_an_ordinary_match_begins_elsewhere() -> None:
    env = records.Recorder(poke_v0.env("deal"))
    env.reset(seed=1)
    play(env, np.random.default_rng(1))
    record = env.match_record()
    again = records.replay(record, poke_v0.env("deal", start_scores=SCORES[1:]))
    assert again.unwrapped.record.tobytes() == env.unwrapped.record.tobytes()
    batch = poke_env.make_batch("poke", 1, start_scores=SCORES[1:])
    batch.reset(options=records.batch_options([record]))
    assert not batch.record["below"].any()


@pytest.mark.parametrize(
    "given, message",
    [
        ([], "start_scores must be a list of one or more scores"),
        ("scores", "start_scores must be a list of one or more scores"),
        ([3], "start_scores must hold dicts, got 3"),
        ([{"below": (20, 3)}], "score below must be two numbers under the target 20"),
        ([{"lead": (1, 2)}], "score has unknown fields"),
        ([{"dealer": 2}], "start_scores dealer must be an integer from 0 to 1, got 2"),
        ({"below": np.zeros((2, 2), int), "dealer": np.zeros(3, int)}, "lengths \\[2, 3\\]"),
        ({"below": 3}, "lengths \\[0\\]"),
        ({}, "lengths \\[\\]"),
    ],
)
def test_wrong_scores_to_start_from_are_taken(given: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        poke_v0.env(start_scores=given)
    with pytest.raises(ValueError, match=message):
        poke_env.make_batch("poke", 2, start_scores=given)


def test_scores_of_the_table_are_not_those_of_rubbers() -> None:
    """Each comes as often as deals begin there in rubbers."""
    drawn = TABLE.start_scores(5000, seed=0)
    share = TABLE.visits[0, places(20)[0, 0, 0, 0]] / TABLE.visits.sum()
    beginning = ~drawn["below"].any(axis=1) & ~drawn["games"].any(axis=1)
    assert beginning.mean() == pytest.approx(share, abs=0.001)
    assert drawn["dealer"].mean() == pytest.approx(0.5, abs=0.001)
    again = TABLE.start_scores(5000, seed=0)
    assert all(np.array_equal(drawn[name], again[name]) for name in drawn)
    assert not np.array_equal(drawn["below"], TABLE.start_scores(5000, seed=1)["below"])
    envs = poke_env.make_batch("poke", 2000, reward="equity", start_scores=drawn)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match="count must be an integer of at least 1"):
        TABLE.start_scores(0)
