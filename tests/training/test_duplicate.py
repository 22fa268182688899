"""Duplicate matches: what both legs share, what is counted, faults, and batches of any size."""

from __future__ import annotations

import io
import os
import re
import signal
import sys
from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import agents
from agents.network import Network, NetworkAgent
from players import (
    FAULTS,
    LOG,
    SLOTHS,
    SPOILS,
    Adaptive,
    Bare,
    Faulty,
    FaultyBatch,
    Highest,
    Lowest,
    OneByOne,
    Recorder,
    Rude,
    RudeOneByOne,
    Slow,
    SlowBatch,
    Wide,
    interrupting,
    of_two,
    raising,
    same,
    sleeping,
    unlucky,
)
from poke_env import poke_v0, records, streams
from poke_env.agent import RandomAgent
from training import duplicate, statistics
from training.duplicate import FORFEIT_POINTS, play
from training.limits import OutOfTime
from training.meeting import Duel, Meeting, join

# --- a player against its own copy ----------------------------------------------------------------


@pytest.mark.parametrize("match, pairs", [("deal", 40), ("game", 12), ("rubber", 5)])
@pytest.mark.parametrize("name", agents.names())
def test_a_player_and_its_copy_differ_by_0_in_every_pair(name, match, pairs):
    duel = play(agents.make(name), agents.make(name, seed=1), pairs, seed=3, match=match)
    assert duel.points.any()
    assert (duel.margins == 0.0).all()
    assert duel.interval() == (0.0, 0.0)
    assert duel.estimate().verdict == statistics.NOT_SEPARATED
    assert duel.wins == duel.losses
    assert duel.as_dealer().mean == -duel.as_non_dealer().mean


@pytest.mark.parametrize("rules", ["small", "tiny"])
def test_a_copy_differs_by_0_under_other_rules(rules):
    duel = play(RandomAgent(1), RandomAgent(2), 40, rules=rules)
    assert duel.points.any()
    assert (duel.margins == 0.0).all()


def test_a_copy_differs_by_0_even_if_it_never_forgets():
    player = Adaptive()
    duel = play(player, player, 40, seed=1)
    assert duel.points.any()
    assert (duel.margins == 0.0).all()
    assert player.seen == 0.0, "the players handed over are left as they are"


@pytest.mark.parametrize("player", [Faulty(raising), FaultyBatch(SPOILS["raises"][0])])
def test_a_copy_that_fails_differs_by_0(player):
    duel = play(player, player, 20)
    assert duel.forfeits
    assert (duel.margins == 0.0).all()


# --- what the legs share --------------------------------------------------------------------------


@pytest.fixture
def log():
    LOG.clear()
    yield LOG
    LOG.clear()


def by_copy(log: list[Any]) -> dict[int, list[Any]]:
    """The entries of every copy."""
    copies = defaultdict(list)
    for kind, (copy, *rest) in log:
        copies[copy].append((kind, *rest))
    return copies


def test_legs_share_cards_dealer_and_keys_and_exchange_the_players(log):
    first, second = Recorder("first"), Recorder("second")
    log.clear()
    duel = play(first, second, 6, seed=5)
    copies = by_copy(log)
    assert len(copies) == 24, "two legs of six pairs, two seats each"
    env = poke_v0.raw_env("deal")
    owners: dict[tuple[int, ...], tuple[int, int]] = {}
    for pair in range(6):
        env.reset(5 if pair == 0 else None)
        assert duel.dealers[pair] == env.score_sheet.dealer
        for seat, name in enumerate(env.possible_agents):
            owners[poke_v0.decode(env.observe(name))["hand"]] = pair, seat
    keys: dict[Any, tuple[int, int, int]] = {}
    seeds: dict[tuple[int, int], set[int]] = defaultdict(set)
    decisions = np.zeros((6, 2), np.int64)
    seen = set()
    for (_, _, seed), *turns in copies.values():
        pair, seat = owners[turns[0][2]]
        name = turns[0][1]
        leg = seat if name == "first" else 1 - seat
        seen.add((pair, leg, seat))
        seeds[pair, seat].add(seed)
        decisions[pair, leg] += len(turns)
        for turn, (kind, _, _, deals, key) in enumerate(turns, start=1):
            assert kind == "act", "a copy plays one match"
            assert deals == (seat == duel.dealers[pair])
            assert isinstance(key, np.uint64)
            assert keys.setdefault(key, (pair, seat, turn)) == (pair, seat, turn)
    assert len(seen) == 24
    assert np.array_equal(decisions, duel.decisions)
    assert set(keys.values()) >= {(pair, seat, 1) for pair in range(6) for seat in range(2)}
    assert all(len(values) == 1 for values in seeds.values()), "the same seed in both legs"
    [*values] = set.union(*seeds.values())
    assert len(values) == 12
    assert max(values) < 2**32


def test_keys_are_not_the_random_numbers_that_shuffled_the_cards(log):
    play(Recorder("first"), Recorder("second"), 3, seed=5)
    words = [int(word) for word in streams.seed_words(5)]
    used = {entry[1][-1] for entry in log if entry[0] == "act"}
    near = range(8)
    shuffles = {streams.decision_key(*words, a, b, c) for a in near for b in near for c in near}
    assert used
    assert not used & shuffles


def test_extending_begins_with_the_same_pairs():
    short = play(RandomAgent(), Lowest(), 6, seed=2, match="game")
    long = play(RandomAgent(), Lowest(), 9, seed=2, match="game")
    for name in ("points", "winners", "decisions", "standing_deals", "standing_points"):
        assert np.array_equal(getattr(short, name), getattr(long, name)[:6])
    assert not np.array_equal(long.points[:3], long.points[6:])


def test_pairs_of_the_middle_are_those_of_the_whole():
    conditions = duplicate.Conditions.checked(seed=2, match="rubber", keep_records=True)
    faulty = FaultyBatch(SPOILS["raises"][0])
    whole = play(faulty, OneByOne(), 9, seed=2, match="rubber", keep_records=True)
    parts = [
        duplicate.play_orders([faulty, OneByOne()], orders, conditions)
        for orders in (range(4), range(4, 5), range(5, 9))
    ]
    assert whole.forfeits
    assert same(of_two(join(parts)), whole)


def test_the_seed_decides():
    assert same(play(RandomAgent(4), Lowest(), 8, 7), play(RandomAgent(5), Lowest(), 8, 7))
    assert not same(play(RandomAgent(), Lowest(), 8, 7), play(RandomAgent(), Lowest(), 8, 8))


def test_a_seed_too_large_for_a_machine_word_is_cut():
    seeds = (2**64, 2**64 + 1, 2**200 + 1, 1, 0)
    found = [play(RandomAgent(), Lowest(), 8, seed).points.tolist() for seed in seeds]
    assert all(one != other for one, other in pairwise(sorted(found)))
    [text, *_] = play(RandomAgent(), Lowest(), 1, 2**200, keep_records=True).records
    assert records.loads(text).info["seed"] == str(2**200)


@pytest.mark.parametrize("match", ["deal", "rubber"])
def test_exchanged_is_not_what_the_second_would_have_measured(match):
    duel = play(RandomAgent(), Faulty(raising), 6, seed=1, match=match)
    assert duel.forfeits
    assert same(duel.exchanged(), play(Faulty(raising), RandomAgent(), 6, seed=1, match=match))
    assert same(duel.exchanged().exchanged(), duel)
    assert duel.exchanged().mean == -duel.mean
    assert (duel.exchanged().wins, duel.exchanged().draws) == (duel.losses, duel.draws)


# --- any number at once ---------------------------------------------------------------------------


def network() -> NetworkAgent:
    chance = np.random.default_rng(5)
    tensors = {}
    for layer, (wide, narrow) in enumerate(pairwise((265, 32, 32))):
        weights = chance.normal(0, 2.0 / np.sqrt(wide), (narrow, wide))
        tensors[f"layers.{layer}.weight"] = weights.astype(np.float32)
        tensors[f"layers.{layer}.bias"] = np.zeros(narrow, np.float32)
    return NetworkAgent(Network.from_tensors(tensors, "relu"))


def faulty_in_batches(name: str) -> FaultyBatch:
    return FaultyBatch(SPOILS[name][0])


@pytest.mark.parametrize(
    "first, second",
    [
        (RandomAgent(), Highest()),
        (network(), RandomAgent()),
        (Bare(), network()),
        (OneByOne(), Lowest()),
        (Adaptive(), Adaptive()),
        (Adaptive(), faulty_in_batches("raises")),
        (Faulty(raising), faulty_in_batches("object array")),
        (faulty_in_batches("unsigned"), faulty_in_batches("nan")),
        (Rude(), RudeOneByOne()),
    ],
    ids=lambda player: type(player).__name__,
)
@pytest.mark.parametrize("match", ["deal", "rubber"])
def test_the_number_of_matches_at_once_changes_results(first, second, match, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # and back, for players that go elsewhere
    pairs = 70 if match == "deal" else 9
    one, *others = (
        play(first, second, pairs, 3, match=match, at_once=at_once, keep_records=True)
        for at_once in (1, 3, 64, 4096)
    )
    assert one.wins + one.draws + one.losses == 2 * pairs
    assert len(one.records) == 2 * pairs
    for other in others:
        assert same(one, other)


def test_a_batch_player_plays_otherwise_than_match_by_match():
    assert same(play(OneByOne(), Highest(), 30), play(RandomAgent(), Highest(), 30))
    assert same(
        play(agents.make("heuristic"), RudeOneByOne(), 30),
        play(agents.make("heuristic"), RandomAgent(), 30),
    )


@pytest.mark.parametrize("player", [Rude(), RudeOneByOne()], ids=["batch", "one by one"])
def test_writing_into_the_own_arguments_harms_others(player, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert same(play(player, Highest(), 40), play(RandomAgent(), Highest(), 40))
    assert same(play(player, player, 40), play(RandomAgent(), RandomAgent(), 40))


# --- what is counted ------------------------------------------------------------------------------


@pytest.mark.parametrize("match, pairs", [("deal", 30), ("game", 8), ("rubber", 4)])
def test_margins_and_winners_are_not_those_of_the_environment(match, pairs):
    duel = play(Lowest(), Highest(), pairs, seed=9, match=match)
    for leg in range(2):
        for reward, measured in (("points", duel.points), ("win", duel.winners)):
            env = poke_v0.env(match=match, reward=reward)
            for pair in range(pairs):
                env.reset(seed=9 if pair == 0 else None)
                total = 0.0
                for name in env.agent_iter():
                    observation, reward_now, terminated, _, _ = env.last()
                    total += reward_now if name == f"player_{leg}" else 0.0
                    legal = np.flatnonzero(observation["action_mask"])
                    lowest = name == f"player_{leg}"
                    env.step(None if terminated else int(legal[0 if lowest else -1]))
                assert measured[pair, leg] == total


@pytest.mark.parametrize("match, pairs", [("game", 8), ("rubber", 4)])
def test_standings_lose_deals_or_points(match, pairs):
    duel = play(agents.make("heuristic"), RandomAgent(), pairs, seed=9, match=match)
    assert duel.standing_points[:, 0].sum() == duel.points.sum()
    assert np.array_equal(duel.standing_points[:, 0].sum(axis=1), duel.points.sum(axis=1))
    assert np.array_equal(duel.standing_points[:, 1].sum(axis=1), -duel.points.sum(axis=1))
    deals = duel.standing_deals.sum(axis=2)
    assert np.array_equal(deals[:, 0], deals[:, 1])
    texts = play(
        agents.make("heuristic"), RandomAgent(), pairs, seed=9, match=match, keep_records=True
    ).records
    written = [len(records.loads(text).deals) for text in texts]
    assert np.array_equal(deals[:, 0], np.array(written).reshape(pairs, 2).sum(axis=1))


def test_a_deal_is_counted_under_a_standing_that_was_not_its_beginning():
    duel = play(RandomAgent(), Highest(), 4, seed=1, match="rubber", keep_records=True)
    expected = np.zeros_like(duel.standing_deals)
    for number, text in enumerate(duel.records):
        record = records.loads(text)
        pair, leg = divmod(number, 2)
        games = below = (0, 0)
        for deal in record.deals:
            for seat in range(2):
                own, other = (min(count, 1) for count in (games[seat], games[1 - seat]))
                lead = int(np.sign(below[seat] - below[1 - seat]))
                expected[pair, seat ^ leg, 6 * own + 3 * other + 1 + lead] += 1
            games, below = deal.score["games"], deal.score["below"]
    assert np.array_equal(expected, duel.standing_deals)


def make_duel(points: Any, winners: Any, dealers: Any) -> Duel:
    count = len(points)
    meeting = Meeting(
        points=np.multiply.outer(np.array(points, np.float64), [1.0, -1.0]),
        places=(np.multiply.outer(np.array(winners, np.int8), [-1, 1]) > 0).astype(np.int8),
        dealers=np.array(dealers, np.int8),
        decisions=np.full((count, 2, 2), 6),
        standing_deals=np.zeros((count, 2, 0), np.int64),
        standing_points=np.zeros((count, 2, 0)),
    )
    return of_two(meeting)


def test_splits_and_counts():
    duel = make_duel(
        [[100.0, -50.0], [0.0, 30.0], [-20.0, -10.0]], [[1, -1], [0, 1], [-1, -1]], [0, 1, 1]
    )
    assert len(duel) == 3
    assert duel.margins.tolist() == [25.0, 15.0, -15.0]
    assert duel.mean == pytest.approx(25 / 3)
    assert (duel.wins, duel.draws, duel.losses) == (2, 1, 3)
    assert duel.scores().tolist() == [1.0, 1.5, 0.0]
    assert duel.win_rate().rate == 0.4
    assert duel.in_seat(0).mean == pytest.approx(80 / 3)
    assert duel.in_seat(1).mean == pytest.approx(-10)
    # In leg l the first player sits in seat l.
    assert duel.as_dealer().mean == pytest.approx((100 + 30 - 10) / 3)
    assert duel.as_non_dealer().mean == pytest.approx((-50 + 0 - 20) / 3)


def test_a_match_that_is_cut_has_no_winner():
    duel = play(Lowest(), Highest(), 5, match="rubber", max_deals=1, keep_records=True)
    assert duel.points.any()
    assert duel.draws == 10
    assert {records.loads(text).ending.kind for text in duel.records} == {"truncated"}


def test_below_value_is_not_the_environments():
    plain = play(Lowest(), Highest(), 5)
    assert not np.array_equal(plain.points, play(Lowest(), Highest(), 5, below_value=10.0).points)


# --- faults ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("match", ["deal", "rubber"])
@pytest.mark.parametrize("fault, reason", FAULTS.values(), ids=FAULTS)
def test_a_fault_forfeits_the_match_and_the_rest_is_played(fault, reason, match):
    pairs = 12 if match == "deal" else 6
    duel = play(Faulty(fault), OneByOne(), pairs, match=match)
    assert 0 < len(duel.forfeits) < 2 * pairs
    for forfeit in duel.forfeits:
        assert forfeit.player == 0
        assert forfeit.turn == 3
        assert re.fullmatch(reason, forfeit.reason)
        assert duel.points[forfeit.order, forfeit.leg] == -FORFEIT_POINTS
        assert duel.winners[forfeit.order, forfeit.leg] == -1
    assert_others_are_clean(duel, play(OneByOne(), OneByOne(), pairs, match=match))


def assert_others_are_clean(duel: Duel, clean: Duel) -> None:
    lost = np.zeros(duel.points.shape, np.bool_)
    for forfeit in duel.forfeits:
        lost[forfeit.order, forfeit.leg] = True
    assert not lost.all()
    for name in ("points", "winners", "decisions"):
        assert np.array_equal(getattr(duel, name)[~lost], getattr(clean, name)[~lost])


@pytest.mark.parametrize("spoil, reason", SPOILS.values(), ids=SPOILS)
def test_a_fault_in_a_batch_costs_other_rows(spoil, reason):
    duel = play(FaultyBatch(spoil), RandomAgent(), 60, seed=3)
    assert duel.forfeits
    for forfeit in duel.forfeits:
        assert forfeit.player == 0
        seat = forfeit.leg
        words = duplicate._key_words(3)
        [key] = streams.decision_keys(words, np.array([forfeit.order]), seat, forfeit.turn)
        assert unlucky(key)
        assert re.fullmatch(reason, forfeit.reason)
        assert duel.points[forfeit.order, forfeit.leg] == -FORFEIT_POINTS
    assert_others_are_clean(duel, play(RandomAgent(), RandomAgent(), 60, seed=3))


def test_the_second_players_fault_is_not_the_firsts_gain():
    duel = play(RandomAgent(), Faulty(raising), 6)
    assert {forfeit.player for forfeit in duel.forfeits} == {1}
    for forfeit in duel.forfeits:
        assert duel.points[forfeit.order, forfeit.leg] == FORFEIT_POINTS
        assert duel.winners[forfeit.order, forfeit.leg] == 1


class Unready(RandomAgent):
    def reset(self, seed: int | None = None) -> None:
        if seed != 0:
            raise OSError("engine not found")
        super().reset(seed)


class UnreadyOneByOne(Unready):
    def act(self, observation: Any, key: Any = None) -> int:
        return super().act(observation, key)


@pytest.mark.parametrize("kind", [Unready, UnreadyOneByOne])
def test_a_player_that_cannot_be_reset_forfeits(kind):
    duel = play(kind(), RandomAgent(), 3, keep_records=True)
    assert [forfeit.turn for forfeit in duel.forfeits] == [0] * 6
    assert duel.forfeits[0].reason == "OSError: engine not found"
    assert duel.mean == -FORFEIT_POINTS
    assert {records.loads(text).ending.kind for text in duel.records} == {"forfeit"}


class Superstitious(RandomAgent):
    """Cannot be reset with every second seed, and plays by its own stream."""

    def reset(self, seed: int | None = None) -> None:
        if seed % 2:
            raise OverflowError("odd")
        super().reset(seed)


class SuperstitiousOneByOne(Superstitious):
    def act(self, observation: Any, key: Any = None) -> int:
        return super().act(observation, None)


@pytest.mark.parametrize("kind", [Superstitious, SuperstitiousOneByOne])
def test_which_matches_are_reset_together_changes_results(kind):
    for seed in range(4):
        one, *others = (
            play(kind(), RandomAgent(), 10, seed, at_once=at_once) for at_once in (1, 3, 64)
        )
        assert all(same(one, other) for other in others)
    assert kind is Superstitious or 0 < len(one.forfeits) < 20


def test_two_players_that_cannot_be_reset_gain_by_it():
    duel = play(UnreadyOneByOne(), Unready(), 3)
    assert len(duel.forfeits) == 6
    assert (duel.margins == 0.0).all()
    assert (np.abs(duel.points) == FORFEIT_POINTS).all()
    assert same(duel.exchanged(), play(Unready(), UnreadyOneByOne(), 3))


def test_an_error_whose_message_fails_is_not_survived():
    class Nasty(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no message")

    def fault(observation: Any) -> int:
        raise Nasty

    assert "Nasty" in play(Faulty(fault), RandomAgent(), 6).forfeits[0].reason


def test_reasons_grow_long():
    def fault(observation: Any) -> int:
        raise RuntimeError("word " * 1000)

    assert len(play(Faulty(fault), RandomAgent(), 6).forfeits[0].reason) <= 200


def test_somebody_behind_gains_by_a_fault(monkeypatch):
    monkeypatch.setattr(duplicate, "FORFEIT_POINTS", 100.0)

    class Resigning(Highest):
        """Gives up as soon as it is more than 100 points behind."""

        def act(self, observation: Any, key: Any = None) -> int:
            above = poke_v0.decode(observation["observation"])["above"]
            self.behind = above[1] - above[0]
            if self.behind > 100:
                raise RuntimeError(self.behind)
            return super().act(observation, key)

    duel = play(Resigning(), Lowest(), 10, match="rubber")
    assert duel.forfeits
    for forfeit in duel.forfeits:
        assert forfeit.reason == f"RuntimeError: {-duel.points[forfeit.order, forfeit.leg]:.0f}"


def interrupt(chosen: Any, rows: Any) -> Any:
    raise KeyboardInterrupt


@pytest.mark.parametrize("player", [Faulty(interrupting), FaultyBatch(interrupt)])
def test_ctrl_c_in_a_player_is_taken_for_a_fault(player):
    with pytest.raises(KeyboardInterrupt):
        play(player, RandomAgent(), 12)


def test_numpy_integers_are_no_integers():
    assert same(play(Wide(), Highest(), 4), play(OneByOne(), Highest(), 4))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"deals": 0}, "deals must be an integer from 1 to 10000000, got 0"),
        ({"deals": 2.0}, "deals must be an integer from 1 to 10000000, got 2.0"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"seed": None}, "seed must be an integer of at least 0, got None"),
        ({"at_once": 0}, "at_once must be an integer of at least 1, got 0"),
        ({"move_timeout": 0}, "move_timeout must be a finite number above 0, got 0"),
        ({"move_timeout": float("nan")}, "move_timeout must be a finite number above 0, got nan"),
        ({"match": "set"}, "match must be one of"),
        ({"rules": "huge"}, "rules must be one of"),
        ({"max_deals": 0}, "max_deals must be"),
        ({"below_value": "much"}, "below_value must be"),
    ],
)
def test_wrong_arguments_are_not_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        play(RandomAgent(), RandomAgent(), **{"deals": 2, **arguments})


def test_a_player_that_cannot_be_copied_is_not_refused():
    player = RandomAgent()
    player.handle = iter(open(os.devnull))  # noqa: SIM115
    with pytest.raises(ValueError, match=r"RandomAgent must allow copy\.deepcopy"):
        play(player, RandomAgent(), 2)
    player.handle.close()


# --- time -----------------------------------------------------------------------------------------

SLOW_SEED = 6
"""One decision of the first player in two pairs is unlucky."""
TRACE = sys.gettrace()


@pytest.mark.parametrize("kind", [Slow, SlowBatch])
@pytest.mark.parametrize("how", SLOTHS.values(), ids=SLOTHS)
def test_a_player_that_never_answers_stops_the_tournament(kind, how):
    clean = play(RandomAgent(), RandomAgent(), 2, seed=SLOW_SEED)
    duel = play(kind(how), RandomAgent(), 2, seed=SLOW_SEED, move_timeout=0.5)
    [forfeit] = duel.forfeits
    assert (forfeit.player, forfeit.reason) == (0, "took longer than 0.5 s")
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert sys.gettrace() is TRACE
    assert_others_are_clean(duel, clean)


class Steady(RandomAgent):
    """Takes longer for many rows than for one, the first time."""

    asked = 0

    def act_batch(self, observations: Any, masks: Any, keys: Any = None) -> Any:
        self.asked += 1
        if self.asked == 1:
            assert len(masks) > 1
            sleeping()
        return super().act_batch(observations, masks, keys)


def test_a_batch_that_takes_longer_than_a_decision_may_is_a_fault():
    duel = play(Steady(), RandomAgent(), 20, rules="tiny", move_timeout=0.5)
    assert not duel.forfeits
    assert same(duel, play(RandomAgent(), RandomAgent(), 20, rules="tiny"))


class SlowToBegin(RandomAgent):
    def reset(self, seed: int | None = None) -> None:
        if seed != 0:
            SLOTHS["deaf"]()
        super().reset(seed)


def test_a_reset_that_never_returns_stops_the_tournament():
    duel = play(SlowToBegin(), RandomAgent(), 2, move_timeout=0.5)
    assert [forfeit.turn for forfeit in duel.forfeits] == [0] * 4
    assert duel.forfeits[0].reason == "took longer than 0.5 s"


def test_a_limit_longer_than_any_clock_is_a_fault():
    assert not play(RandomAgent(), OneByOne(), 3, move_timeout=1e300).forfeits


# --- records --------------------------------------------------------------------------------------


@pytest.mark.parametrize("match", ["deal", "game", "rubber"])
@pytest.mark.parametrize(
    "first, second",
    [
        (RandomAgent(), Highest()),
        (Faulty(raising), faulty_in_batches("outside")),
        (RandomAgent(), UnreadyOneByOne()),
    ],
    ids=["sound", "faulty", "unready"],
)
def test_a_record_says_something_else_than_the_duel(first, second, match):
    duel = play(first, second, 8, seed=6, match=match, keep_records=True)
    lost = {(forfeit.order, forfeit.leg): forfeit for forfeit in duel.forfeits}
    assert len(duel.records) == 16
    assert [*records.load(io.StringIO("".join(duel.records)))] == list(
        map(records.loads, duel.records)
    )
    for number, text in enumerate(duel.records):
        pair, leg = divmod(number, 2)
        record = records.loads(text)
        assert record.info == {"seed": 6, "order": pair, "leg": leg}
        assert record.dealer == duel.dealers[pair]
        failed = (pair, leg) in lost and lost[pair, leg].turn > 0
        assert len(record.actions) == duel.decisions[pair, leg] - failed
        if (pair, leg) in lost:
            forfeit = lost[pair, leg]
            assert record.ending == ("forfeit", forfeit.player ^ leg, forfeit.reason)
            continue
        assert record.ending.kind == "over"
        env = poke_v0.raw_env(match=match)
        env.reset(options=record.options())
        total = 0.0
        for action in record.actions:
            env.step(action)
            total += env.rewards[f"player_{leg}"]
        assert total == duel.points[pair, leg]


def test_records_change_the_duel():
    plain = play(RandomAgent(), Faulty(raising), 6, match="rubber")
    kept = play(RandomAgent(), Faulty(raising), 6, match="rubber", keep_records=True)
    assert not plain.records
    assert np.array_equal(plain.points, kept.points)
    assert plain.forfeits == kept.forfeits


def test_out_of_time_is_an_error_that_players_survive():
    assert not issubclass(OutOfTime, Exception)
