"""Duplicate matches, the round robin over them, its files, and the program."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import agents
from poke_env import poke_v0, streams
from poke_env.agent import RandomAgent
from training import cli, duplicate, files, report, statistics, tournament
from training.duplicate import FORFEIT_POINTS, Duel, play
from training.tournament import Tournament, TournamentInterrupted, prepare, run_tournament

ROOT = Path(__file__).resolve().parents[2]

# --- players --------------------------------------------------------------------------------------


class Lowest(RandomAgent):
    """Always the first legal action."""

    deterministic = True

    def act(self, observation: Any, key: Any = None) -> int:
        return int(np.flatnonzero(observation["action_mask"])[0])


class Highest(RandomAgent):
    """Always the last legal action."""

    deterministic = True

    def act(self, observation: Any, key: Any = None) -> int:
        return int(np.flatnonzero(observation["action_mask"])[-1])


class Faulty(RandomAgent):
    """Goes wrong at the third of its decisions in a match, but only in every second match."""

    def __init__(self, fault: Any) -> None:
        super().__init__()
        self.fault = fault
        self.matches = 0

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self.turn = 0
        self.matches = getattr(self, "matches", 0) + 1

    def act(self, observation: Any, key: Any = None) -> Any:
        self.turn += 1
        if self.turn == 3 and self.matches % 2 == 0:
            return self.fault(observation)
        return super().act(observation, key)


class Adaptive(RandomAgent):
    """Changes its play with all it has ever seen; a reset does not make it forget."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0.0

    def act(self, observation: Any, key: Any = None) -> int:
        self.seen += float(observation["observation"].sum())
        legal = np.flatnonzero(observation["action_mask"])
        return int(legal[int(1000 * self.seen) % len(legal)])


LOG: list[tuple[str, tuple[Any, ...]]] = []


class Recorder(RandomAgent):
    """Writes down what it is given, and spoils it afterwards."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        LOG.append(("reset", (getattr(self, "name", None), seed)))

    def act(self, observation: Any, key: Any = None) -> int:
        decoded = poke_v0.decode(observation["observation"])
        LOG.append(("act", (self.name, id(self), decoded["hand"], decoded["dealer"], key)))
        action = super().act(observation, key)
        observation["observation"][:] = 9.0
        observation["action_mask"][:] = 1
        return action


def raising(observation: Any) -> int:
    raise RuntimeError("out of\n   ideas")


def leaving(observation: Any) -> int:
    sys.exit("goodbye")


def interrupting(observation: Any) -> int:
    raise KeyboardInterrupt


def illegal(observation: Any) -> int:
    return int(np.flatnonzero(observation["action_mask"] == 0)[-1])


FAULTS = {
    "raising": (raising, "RuntimeError: out of ideas"),
    "leaving": (leaving, "SystemExit: goodbye"),
    "illegal": (illegal, r"illegal action \d+; legal: [\d, ]+"),
    "outside": (lambda observation: 32, r"illegal action 32; legal: [\d, ]+"),
    "nothing": (lambda observation: None, "TypeError: act must return an integer, got None"),
    "truth": (lambda observation: True, "TypeError: act must return an integer, got True"),
    "float": (lambda observation: 1.0, "TypeError: act must return an integer, got 1.0"),
}


def same(one: Duel, other: Duel) -> bool:
    return one.forfeits == other.forfeits and all(
        np.array_equal(getattr(one, name), getattr(other, name))
        for name in ("points", "winners", "dealers", "decisions")
    )


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


def test_a_copy_that_fails_differs_by_0():
    duel = play(Faulty(raising), Faulty(raising), 10)
    assert len(duel.forfeits) == 10
    assert (duel.margins == 0.0).all()


# --- what the legs share --------------------------------------------------------------------------


@pytest.fixture
def log():
    LOG.clear()
    yield LOG
    LOG.clear()


def by_leg(log: list[Any]) -> list[list[Any]]:
    """The entries of each match; the players of seats 0 and 1 are reset first."""
    starts = [
        index
        for index, (kind, _) in enumerate(log[:-1])
        if kind == "reset" and log[index + 1][0] == "reset"
    ]
    return [log[start:end] for start, end in zip(starts, [*starts[1:], len(log)], strict=True)]


def test_legs_share_cards_dealer_and_keys_and_exchange_the_players(log):
    first, second = Recorder("first"), Recorder("second")
    log.clear()
    duel = play(first, second, 6, seed=5)
    matches = by_leg(log)
    assert len(matches) == 12
    env = poke_v0.raw_env("deal")
    keys: dict[np.uint64, tuple[int, ...]] = {}
    for pair in range(6):
        env.reset(5 if pair == 0 else None)
        assert duel.dealers[pair] == env.score_sheet.dealer
        hands = [poke_v0.decode(env.observe(name))["hand"] for name in env.possible_agents]
        for leg, names in enumerate((["first", "second"], ["second", "first"])):
            (_, (name_0, seed_0)), (_, (name_1, seed_1)), *turns = matches[2 * pair + leg]
            assert [name_0, name_1] == names
            turn_of = [0, 0]
            for _, (name, _, hand, deals, key) in turns:
                seat = names.index(name)
                assert deals == (seat == duel.dealers[pair])
                if turn_of[seat] == 0:
                    assert hand == hands[seat]
                turn_of[seat] += 1
                assert isinstance(key, np.uint64)
                assert keys.setdefault(key, (pair, seat, turn_of[seat])) == (
                    pair, seat, turn_of[seat],
                )  # fmt: skip
            assert sum(turn_of) == duel.decisions[pair, leg]
            assert seed_0 != seed_1
            assert max(seed_0, seed_1) < 2**32
        assert [entry[1][1] for entry in matches[2 * pair][:2]] == [
            entry[1][1] for entry in matches[2 * pair + 1][:2]
        ]
    assert set(keys.values()) >= {(pair, seat, 1) for pair in range(6) for seat in range(2)}


def test_no_copy_of_a_player_sees_the_same_cards_twice(log):
    play(Recorder("first"), Recorder("second"), 5)
    seen: dict[tuple[int, ...], set[int]] = {}
    for match in by_leg(log):
        firsts: dict[str, tuple[int, tuple[int, ...]]] = {}
        for _, (name, identity, hand, _, _) in match[2:]:
            firsts.setdefault(name, (identity, hand))
        for identity, hand in firsts.values():
            assert identity not in seen.setdefault(hand, set())
            seen[hand].add(identity)
    assert all(len(copies) == 2 for copies in seen.values())


def test_keys_are_not_the_random_numbers_that_shuffled_the_cards(log):
    play(Recorder("first"), Recorder("second"), 3, seed=5)
    words = [int(word) for word in streams.seed_words(5)]
    used = {entry[1][-1] for entry in log if entry[0] == "act"}
    near = range(8)
    shuffles = {streams.decision_key(*words, a, b, c) for a in near for b in near for c in near}
    assert not used & shuffles


def test_extending_begins_with_the_same_pairs():
    short = play(RandomAgent(), Lowest(), 6, seed=2, match="game")
    long = play(RandomAgent(), Lowest(), 9, seed=2, match="game")
    assert np.array_equal(short.points, long.points[:6])
    assert np.array_equal(short.winners, long.winners[:6])
    assert not np.array_equal(long.points[:3], long.points[6:])


def test_the_seed_decides():
    assert same(play(RandomAgent(4), Lowest(), 8, 7), play(RandomAgent(5), Lowest(), 8, 7))
    assert not same(play(RandomAgent(), Lowest(), 8, 7), play(RandomAgent(), Lowest(), 8, 8))


@pytest.mark.parametrize("match", ["deal", "rubber"])
def test_exchanged_is_what_the_second_would_have_measured(match):
    duel = play(RandomAgent(), Faulty(raising), 6, seed=1, match=match)
    assert duel.forfeits
    assert same(duel.exchanged(), play(Faulty(raising), RandomAgent(), 6, seed=1, match=match))
    assert same(duel.exchanged().exchanged(), duel)
    assert duel.exchanged().mean == -duel.mean
    assert (duel.exchanged().wins, duel.exchanged().draws) == (duel.losses, duel.draws)


# --- what is counted ------------------------------------------------------------------------------


@pytest.mark.parametrize("match, pairs", [("deal", 30), ("game", 8), ("rubber", 4)])
def test_margins_and_winners_are_those_of_the_environment(match, pairs):
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


def test_splits_and_counts():
    duel = Duel(
        points=np.array([[100.0, -50.0], [0.0, 30.0], [-20.0, -10.0]]),
        winners=np.array([[1, -1], [0, 1], [-1, -1]], np.int8),
        dealers=np.array([0, 1, 1], np.int8),
        decisions=np.full((3, 2), 12),
    )
    assert len(duel) == 3
    assert duel.margins.tolist() == [25.0, 15.0, -15.0]
    assert duel.mean == pytest.approx(25 / 3)
    assert (duel.wins, duel.draws, duel.losses) == (2, 1, 3)
    assert duel.win_rate().rate == 0.4
    assert duel.in_seat(0).mean == pytest.approx(80 / 3)
    assert duel.in_seat(1).mean == pytest.approx(-10)
    # In leg l the first player sits in seat l.
    assert duel.as_dealer().mean == pytest.approx((100 + 30 - 10) / 3)
    assert duel.as_non_dealer().mean == pytest.approx((-50 + 0 - 20) / 3)


def test_a_match_that_is_cut_has_no_winner():
    duel = play(Lowest(), Highest(), 5, match="rubber", max_deals=1)
    assert duel.points.any()
    assert duel.draws == 10


def test_below_value_is_the_environments():
    plain = play(Lowest(), Highest(), 5)
    assert not np.array_equal(plain.points, play(Lowest(), Highest(), 5, below_value=10.0).points)


# --- faults (C45) ---------------------------------------------------------------------------------


@pytest.mark.parametrize("match", ["deal", "rubber"])
@pytest.mark.parametrize("fault, reason", FAULTS.values(), ids=FAULTS)
def test_a_fault_forfeits_the_match_and_the_rest_is_played(fault, reason, match):
    duel = play(Faulty(fault), RandomAgent(), 6, match=match)
    # Each of its two copies fails in every second of its matches.
    assert len(duel.forfeits) == 6
    for forfeit in duel.forfeits:
        assert forfeit.player == 0
        assert forfeit.turn == 3
        assert re.fullmatch(reason, forfeit.reason)
        assert duel.points[forfeit.pair, forfeit.leg] == -FORFEIT_POINTS
        assert duel.winners[forfeit.pair, forfeit.leg] == -1
    clean = play(RandomAgent(), RandomAgent(), 6, match=match)
    lost = {(forfeit.pair, forfeit.leg) for forfeit in duel.forfeits}
    for pair in range(6):
        for leg in range(2):
            if (pair, leg) not in lost:
                assert duel.points[pair, leg] == clean.points[pair, leg]


def test_the_second_players_fault_is_the_firsts_gain():
    duel = play(RandomAgent(), Faulty(raising), 4)
    assert {forfeit.player for forfeit in duel.forfeits} == {1}
    for forfeit in duel.forfeits:
        assert duel.points[forfeit.pair, forfeit.leg] == FORFEIT_POINTS
        assert duel.winners[forfeit.pair, forfeit.leg] == 1


def test_a_player_that_cannot_be_reset_forfeits():
    class Unready(RandomAgent):
        def reset(self, seed: int | None = None) -> None:
            if seed != 0:
                raise OSError("engine not found")
            super().reset(seed)

    duel = play(Unready(), RandomAgent(), 3)
    assert [forfeit.turn for forfeit in duel.forfeits] == [0] * 6
    assert duel.forfeits[0].reason == "OSError: engine not found"
    assert duel.mean == -FORFEIT_POINTS


def test_an_error_whose_message_fails_is_survived():
    class Nasty(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no message")

    def fault(observation: Any) -> int:
        raise Nasty

    assert "Nasty" in play(Faulty(fault), RandomAgent(), 2).forfeits[0].reason


def test_reasons_stay_short():
    def fault(observation: Any) -> int:
        raise RuntimeError("word " * 1000)

    assert len(play(Faulty(fault), RandomAgent(), 2).forfeits[0].reason) <= 200


def test_nobody_behind_gains_by_a_fault(monkeypatch):
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
        assert forfeit.reason == f"RuntimeError: {-duel.points[forfeit.pair, forfeit.leg]:.0f}"


def test_ctrl_c_in_a_player_is_no_fault():
    with pytest.raises(KeyboardInterrupt):
        play(Faulty(interrupting), RandomAgent(), 4)


def test_numpy_integers_are_integers():
    class Wide(Lowest):
        def act(self, observation: Any, key: Any = None) -> Any:
            return np.array(super().act(observation, key))

    assert same(play(Wide(), Highest(), 4), play(Lowest(), Highest(), 4))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"pairs": 0}, "pairs must be an integer from 1 to 10000000, got 0"),
        ({"pairs": 2.0}, "pairs must be an integer from 1 to 10000000, got 2.0"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"seed": None}, "seed must be an integer of at least 0, got None"),
        ({"match": "set"}, "match must be one of"),
        ({"rules": "huge"}, "rules must be one of"),
        ({"max_deals": 0}, "max_deals must be"),
        ({"below_value": "much"}, "below_value must be"),
    ],
)
def test_wrong_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        play(RandomAgent(), RandomAgent(), **{"pairs": 2, **arguments})


def test_a_player_that_cannot_be_copied_is_refused():
    player = RandomAgent()
    player.handle = iter(open(os.devnull))  # noqa: SIM115
    with pytest.raises(ValueError, match=r"RandomAgent must allow copy\.deepcopy"):
        play(player, RandomAgent(), 2)
    player.handle.close()


# --- the round robin ------------------------------------------------------------------------------

FIELD = {
    "random": RandomAgent(),
    "lowest": Lowest(),
    "highest": Highest(),
    "lowest#2": Lowest(),
}


def numbers(result: Tournament) -> dict[str, Any]:
    """The results but for time, and for the order in which players were named."""
    document = result.as_dict()
    del document["timing"], document["configuration"]["agents"]
    return document


@pytest.fixture(scope="module")
def field() -> Tournament:
    return run_tournament(FIELD, 30, seed=4)


def test_results_depend_on_the_seed_and_not_on_the_order_of_names(field):
    backwards = dict(reversed(FIELD.items()))
    assert numbers(run_tournament(backwards, 30, seed=4)) == numbers(field)
    assert numbers(run_tournament(FIELD, 30, seed=5)) != numbers(field)


def test_a_meeting_is_the_same_whoever_else_takes_part(field):
    two = {name: FIELD[name] for name in ("random", "highest")}
    alone = run_tournament(two, 30, seed=4)
    assert same(alone.duel("random", "highest"), field.duel("random", "highest"))


def test_the_ranking_averages_opponents_before_it_makes_an_interval(field):
    ranking = dict(field.ranking())
    assert list(ranking) == sorted(ranking, key=lambda label: (-ranking[label].mean, label))
    for label, margin in ranking.items():
        others = [other for other in FIELD if other != label]
        table = np.array([field.duel(label, other).margins for other in others])
        assert margin.count == 30
        assert margin.mean == pytest.approx(table.mean())
        assert margin.deviation == pytest.approx(table.mean(axis=0).std(ddof=1))
    total = sum(margin.mean for margin in ranking.values())
    assert total == pytest.approx(0.0, abs=1e-9)
    assert ranking["lowest"] == ranking["lowest#2"]


def test_the_document_says_all(field):
    document = json.loads(json.dumps(field.as_dict(), allow_nan=False))
    assert set(document) == {
        "schema", "schema_version", "complete", "configuration", "versions", "agents", "ranking",
        "duels", "forfeits", "timing",
    }  # fmt: skip
    assert document["schema"] == "poke_env.tournament"
    assert document["schema_version"] == 1
    assert document["complete"] is True
    configuration = document["configuration"]
    assert configuration["seed"] == 4
    assert configuration["deals"] == 30
    assert configuration["agents"] == list(FIELD)
    assert configuration["match"] == "deal"
    assert configuration["preset"] == "standard"
    assert configuration["rules"]["target"] == 20
    assert configuration["forfeit_points"] == FORFEIT_POINTS
    assert configuration["level"] == 0.95
    assert set(document["versions"]) >= {"poke_env", "python", "numpy", "numba"}
    assert [line["label"] for line in document["agents"]] == sorted(FIELD)
    assert {line["label"]: line["deterministic"] for line in document["agents"]} == {
        "random": None, "lowest": True, "lowest#2": True, "highest": True,
    }  # fmt: skip
    order = [line["label"] for line in document["ranking"]]
    ranks = {line["label"]: line["rank"] for line in document["ranking"]}
    assert ranks["lowest"] == ranks["lowest#2"]
    assert sorted(ranks.values())[-1] == 4
    assert len(document["duels"]) == 6
    for line in document["duels"]:
        duel = field.duel(line["first"], line["second"])
        assert order.index(line["first"]) < order.index(line["second"])
        assert line["margin"]["mean"] == duel.mean
        assert (line["margin"]["low"], line["margin"]["high"]) == duel.interval()
        assert line["wins"] + line["draws"] + line["losses"] == 60
        assert line["win_rate"]["rate"] == duel.win_rate().rate
        assert line["verdict"] == duel.estimate().verdict
        assert line["more_deals_needed"] == duel.estimate().more_needed
        assert line["as_dealer"]["mean"] == duel.as_dealer().mean
        assert line["as_non_dealer"]["mean"] == duel.as_non_dealer().mean
        assert line["forfeits"] == [0, 0]
        assert line["decisions"] == duel.decisions.sum()
    copies = next(line for line in document["duels"] if line["second"] == "lowest#2")
    assert copies["margin"] == {"mean": 0.0, "low": 0.0, "high": 0.0, "deviation": 0.0}
    assert copies["verdict"] == "not separated"
    assert copies["more_deals_needed"] is None


def test_forfeits_are_listed_with_their_reasons():
    result = run_tournament({"sound": RandomAgent(), "faulty": Faulty(raising)}, 4)
    document = result.as_dict()
    assert [line["rank"] for line in document["ranking"]] == [1, 2]
    assert {line["label"]: line["forfeits"] for line in document["ranking"]} == {
        "sound": 0, "faulty": 4,
    }  # fmt: skip
    assert len(document["forfeits"]) == 4
    for line in document["forfeits"]:
        assert line["player"] == "faulty"
        assert line["opponent"] == "sound"
        assert line["turn"] == 3
        assert line["reason"] == "RuntimeError: out of ideas"
    assert [fault[:3] for fault in report.faults(document)] == [
        ("faulty", 4, "RuntimeError: out of ideas")
    ]
    shown = printed(document)
    assert "RuntimeError: out of ideas" in shown
    assert "RuntimeError: out of ideas" in report.html(document)


def test_one_deal_gives_no_interval_and_no_infinity():
    document = run_tournament({"lowest": Lowest(), "highest": Highest()}, 1).as_dict()
    [line] = document["duels"]
    assert (line["margin"]["low"], line["margin"]["deviation"]) == (None, None)
    json.dumps(document, allow_nan=False)
    assert report.NONE in printed(document)
    assert "<html" in report.html(document)


def test_the_same_specification_twice_gets_two_labels():
    plan = prepare(["random", "random", "random"], 5)
    assert [entrant.label for entrant in plan.entrants] == ["random", "random#2", "random#3"]
    result = plan.play()
    assert all((duel.margins == 0.0).all() for duel in result.duels.values())
    assert [line["rank"] for line in result.as_dict()["ranking"]] == [1, 1, 1]


def test_progress_counts_the_pairs_of_the_whole_tournament():
    calls: list[tuple[int, str]] = []
    run_tournament(["random"] * 3, 4, progress=lambda *call: calls.append(call))
    assert [done for done, _ in calls] == list(range(1, 13))
    assert calls[0][1] == "random – random#2"


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"agents": ["random"]}, "agents must be two players or more, got random"),
        ({"agents": []}, "agents must be two players or more, got none"),
        ({"agents": "random"}, "agents must be two players or more, got 'random'"),
        ({"agents": ["random", "nobody"]}, "nobody"),
        ({"agents": {"a": RandomAgent(), "b": 3}}, "agent 'b': a player must have act"),
        ({"deals": 0}, "deals must be an integer from 1 to 10000000, got 0"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"match": "set"}, "match must be one of"),
        ({"rules": "huge"}, "rules must be one of"),
    ],
)
def test_a_wrong_plan_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        prepare(**{"agents": ["random", "random"], "deals": 3, **arguments})


# --- uncertainty is always said (C46) -------------------------------------------------------------


def printed(document: Any) -> str:
    console = Console(file=io.StringIO(), width=150)
    report.show(document, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_55_of_100_is_not_separated():
    result = run_tournament({"ann": Lowest(), "bob": Highest()}, 50)
    winners = np.array([1] * 55 + [-1] * 45, np.int8).reshape(50, 2)
    duel = result.duels["ann", "bob"]
    result.duels["ann", "bob"] = Duel(winners * 10.0, winners, duel.dealers, duel.decisions)
    document = result.as_dict()
    [line] = document["duels"]
    assert (line["first"], line["wins"], line["losses"]) == ("ann", 55, 45)
    assert line["win_rate"]["low"] < 0.5 < line["win_rate"]["high"]
    assert line["margin"]["low"] < 0.0 < line["margin"]["high"]
    assert line["verdict"] == "not separated"
    assert line["more_deals_needed"] > 50
    for text in (printed(document), report.html(document)):
        assert "not separated" in text
        assert "55.0 %" in text
        assert "45.2–64.4" in text
        assert str(line["more_deals_needed"]) in text


# --- the report -----------------------------------------------------------------------------------

PNG = b"\x89PNG\r\n\x1a\n"


def test_pictures_are_pictures(field):
    document = field.as_dict()
    for picture in (report.heat_map, report.ranking_plot, report.role_plot):
        assert picture(document).startswith(PNG)


def test_the_page_needs_nothing_else_and_trusts_no_name():
    evil = "<script>alert('$x^$')</script>"
    document = run_tournament({evil: Lowest(), "b" * 90: Faulty(raising)}, 3).as_dict()
    page = report.html(document)
    assert evil not in page
    assert "&lt;script&gt;" in page
    assert not re.findall(r'(?:src|href)="(?!data:image/png;base64,)', page)
    assert page.count("data:image/png;base64,") == 3
    assert "[bold]" not in printed(document)


def test_the_page_says_how_to_repeat_it():
    page = report.html(run_tournament(["random", "random"], 3, seed=11).as_dict())
    assert (
        "python -m training.tournament random random --deals 3 --seed 11 --match deal "
        "--rules standard --out DIR" in page
    )


@pytest.mark.parametrize(
    "number, text",
    [(0.0, "0.0"), (-0.04, "0.0"), (12.34, "+12.3"), (-1234.5, "−1,234.5"), (None, "—")],
)
def test_points_have_their_sign(number, text):
    assert report.signed(number) == text


@pytest.mark.parametrize(
    "number, text", [(0, "0"), (20_000, "20,000"), (3_210_000, "3.2 million"), (None, "—")]
)
def test_counts_can_be_read(number, text):
    assert report.count(number) == text


# --- files ----------------------------------------------------------------------------------------


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "results.json"
    files.write(path, "old")

    def fail() -> None:
        with files.replacing(path) as temporary:
            temporary.write_text("half of the n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    files.write(path, b"new")
    assert path.read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["results.json"]


def test_a_folder_is_made_and_tried(tmp_path):
    folder = files.writable_folder(tmp_path / "a" / "b")
    assert folder.is_dir()
    assert not list(folder.iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"out must be a folder that can be written to, but .*file"):
        files.writable_folder(tmp_path / "file")


# --- the program ----------------------------------------------------------------------------------


def run(*arguments: str) -> int:
    """Exit code of the program."""
    try:
        tournament.main(list(arguments))
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def test_the_program_writes_its_files_and_says_where(tmp_path, capsys):
    out = tmp_path / "run"
    assert run("random", "random", "--deals", "5", "--seed", "3", "--out", str(out)) == 0
    shown = capsys.readouterr().out
    assert sorted(path.name for path in out.iterdir()) == [
        "heatmap.png", "report.html", "results.json",
    ]  # fmt: skip
    for path in out.iterdir():
        assert str(path) in shown
    assert "random#2" in shown
    assert "not separated" in shown
    document = json.loads((out / "results.json").read_text())
    assert document["configuration"]["seed"] == 3
    assert document["configuration"]["agents"] == ["random", "random"]
    assert (out / "heatmap.png").read_bytes().startswith(PNG)


def test_results_of_another_run_are_not_overwritten(tmp_path, capsys):
    arguments = ("random", "random", "--deals", "2", "--out", str(tmp_path))
    (tmp_path / "results.json").write_text("mine")
    assert run(*arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "holds results.json; choose another folder or say --overwrite" in error
    assert (tmp_path / "results.json").read_text() == "mine"
    assert run(*arguments, "--overwrite") == 0
    assert json.loads((tmp_path / "results.json").read_text())["complete"] is True


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["random"], "agents must be two players or more"),
        (["random", "nobody"], "nobody"),
        (["random", "nowhere:player"], "nowhere"),
        (["random", "missing.safetensors"], "missing.safetensors"),
        (["random", "random", "--deals", "0"], "deals must be"),
        (["random", "random", "--seed", "-1"], "seed must be"),
        (["random", "random", "--match", "set"], "match must be one of"),
        (["random", "random", "--rules", "huge"], "rules must be one of"),
        (["random", "random", "--out", "{file}/run"], "out must be a folder"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_code_2(arguments, message, tmp_path, capsys):
    (tmp_path / "file").write_text("")
    out = ["--out", str(tmp_path / "run")] if "--out" not in arguments else []
    assert run(*(word.format(file=tmp_path / "file") for word in arguments), *out) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: ")
    assert captured.err.count("\n") == 1
    assert message in captured.err
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("arguments", [["--deals", "many"], ["--colour"]])
def test_what_cannot_be_parsed_is_exit_code_2(arguments, capsys):
    assert run("random", "random", *arguments) == 2
    assert arguments[-1] in "".join(capsys.readouterr())


def test_a_fault_of_ours_is_no_refusal(capsys):
    def broken() -> None:
        with cli.stopping():
            json.loads("{")

    with pytest.raises(ValueError, match="Expecting property name"):
        broken()

    def refused() -> None:
        with cli.stopping():
            duplicate.play(RandomAgent(), RandomAgent(), 1, seed=-1)

    with pytest.raises(SystemExit) as stop:
        refused()
    assert stop.value.code == 2
    assert capsys.readouterr().err == "error: seed must be an integer of at least 0, got -1\n"


class Interrupted(RandomAgent):
    """Presses Ctrl-C in a meeting that comes late in the order of labels."""

    def act(self, observation: Any, key: Any = None) -> int:
        raise KeyboardInterrupt


def test_an_interrupted_tournament_keeps_what_was_finished():
    field = {"a": Lowest(), "b": Highest(), "c": Interrupted()}
    with pytest.raises(TournamentInterrupted) as stop:
        run_tournament(field, 3)
    partial = stop.value.partial
    assert list(partial.duels) == [("a", "b")]
    assert not partial.complete
    document = partial.as_dict()
    assert document["complete"] is False
    assert document["ranking"] == []
    assert len(document["duels"]) == 1
    assert same(partial.duel("a", "b"), play(Lowest(), Highest(), 3))


MODULE = """
from poke_env.agent import RandomAgent

class Interrupted(RandomAgent):
    def act(self, observation, key=None):
        raise KeyboardInterrupt

class Sound(RandomAgent):
    pass
"""


@pytest.fixture
def own_players(tmp_path, monkeypatch):
    (tmp_path / "own_players.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("own_players", None)


@pytest.mark.parametrize(
    "names, left, line",
    [
        (["random", "own_players:Interrupted"], [], "after 0 of 1 meetings; nothing was written"),
        (
            ["random", "random", "own_players:Interrupted"],
            [],
            "after 0 of 3 meetings; nothing was written",
        ),
        (
            ["a.safetensors", "b.safetensors", "own_players:Interrupted"],
            ["results.json"],
            "after 1 of 3 meetings; their numbers are in",
        ),
    ],
)
def test_ctrl_c_is_one_line_and_leaves_nothing_half(
    names, left, line, tmp_path, capsys, monkeypatch, own_players
):
    load = agents.load
    monkeypatch.setattr(
        agents, "load", lambda spec, seed: load(spec if ":" in spec else "random", seed)
    )
    out = tmp_path / "run"
    out.mkdir()
    (out / "report.html").write_text("of an earlier run")
    assert run(*names, "--deals", "2", "--out", str(out), "--overwrite") == 130
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"interrupted {line}" in error
    assert sorted(path.name for path in out.iterdir()) == (left or ["report.html"])
    if left:
        assert json.loads((out / "results.json").read_text())["complete"] is False


def test_from_a_shell_in_any_folder_and_without_torch(tmp_path):
    (tmp_path / "own_players.py").write_text(MODULE)
    program = (
        "import runpy, sys\n"
        "sys.argv = ['tournament', 'random', 'own_players:Sound', '--deals', '3', '--out', 'run']\n"
        "runpy.run_module('training.tournament', run_name='__main__', alter_sys=True)\n"
        "assert 'torch' not in sys.modules\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    ended = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == ""
    assert "own_players:Sound" in ended.stdout
    assert "run/results.json" in ended.stdout
    # Not a terminal: no bar, no colours.
    assert "\x1b" not in ended.stdout
    assert "\r" not in ended.stdout
    document = json.loads((tmp_path / "run" / "results.json").read_text())
    assert document["duels"][0]["margin"]["mean"] == 0.0


class Unprintable(RandomAgent):
    """Fails with a text that no file can hold."""

    def act(self, observation: Any, key: Any = None) -> int:
        raise ValueError("\udcff")


class Enormous(RandomAgent):
    """Returns a number whose digits Python refuses to print."""

    def act(self, observation: Any, key: Any = None) -> int:
        return 10**5000


@pytest.mark.parametrize("player", [Unprintable(), Enormous()], ids=["text", "number"])
def test_reason_that_cannot_be_written_loses_the_results(player, tmp_path):
    played = tournament.run_tournament({"bad": player, "random": RandomAgent()}, 2)
    tournament.save(played.as_dict(), tmp_path)
    assert json.loads((tmp_path / "results.json").read_text("utf-8"))["forfeits"]


def test_model_of_other_hands_forfeits_instead_of_being_refused():
    class Small(RandomAgent):
        action_sizes = (8,)

    with pytest.raises(ValueError, match="plays games of 8 actions, but these rules have 32"):
        tournament.prepare({"small": Small(), "random": RandomAgent()}, 2)


def test_factory_that_exits_ends_the_program(tmp_path, monkeypatch, capsys):
    (tmp_path / "quitter.py").write_text("import sys\ndef make():\n    sys.exit(0)\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert run("quitter:make", "random", "--deals", "1", "--out", str(tmp_path / "out")) == 2
    assert "its factory failed" in capsys.readouterr().err
