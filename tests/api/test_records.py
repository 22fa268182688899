"""Matches as text: what is written is read back and replayed, and what is wrong is refused."""

from __future__ import annotations

import copy
import doctest
import hashlib
import io
import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import poke_env
from helpers import HOUSE_RULES, RULES, TABLES, is_over, play, random_action, retire, turns
from poke_env import poke_v0, records
from poke_env.aec import IllegalActionError
from poke_env.agent import Agent
from poke_env.games.base import GAMES
from poke_env.games.poke import POKE
from poke_env.records import (
    DealRecord,
    Ending,
    Log,
    Record,
    Recorder,
    RecordError,
    Replayer,
    batch_options,
    dump,
    dumps,
    load,
    loads,
    replay,
)
from strategies import any_rules, any_score

NAMES = ("player_0", "player_1")


def recorded(
    seed: int = 0, most: int = 10**9, options: Any = None, wrapped: bool = True, **arguments: Any
) -> Recorder:
    """A match played at random under a recorder, at most so many steps."""
    make = poke_v0.env if wrapped else poke_v0.raw_env
    recorder = Recorder(make(**arguments))
    recorder.reset(seed=seed, options=options)
    play(recorder, np.random.default_rng(seed), most)
    return recorder


def sample() -> Record:
    """A short match of several deals from a score that is not zero."""
    recorder = recorded(
        3,
        match="rubber",
        rules=poke_v0.Rules(ranks=6, suits=2, hand_size=3, max_discard=2, target=40),
        max_deals=3,
        options={"score": {"below": (2, 0), "games": (1, 0)}, "dealer": 1},
    )
    return recorder.match_record(("Ann", "Bob | Ö"), {"event": "club\nevening", "pair": 7})


SAMPLE = sample()
TEXT = dumps(SAMPLE)
LINES = TEXT.splitlines()


def chained(lines: list[str]) -> str:
    """The lines with checksums that fit: a forger's work."""
    digest, text = hashlib.blake2b(digest_size=4), ""
    for line in lines:
        digest.update(f"{line}\n".encode())
        text += f"{line} | {digest.hexdigest()}\n"
    return text


BODIES = [line.rpartition(" | ")[0] for line in LINES]


# --- what is written is read back and replayed ----------------------------------------------------


@st.composite
def any_play(draw: st.DrawFn) -> dict[str, Any]:
    rules = draw(any_rules() | st.sampled_from(list(RULES.values())))
    return {
        "rules": rules,
        "match": draw(st.sampled_from(["deal", "game", "rubber"])),
        "max_deals": draw(st.integers(1, 4)),
        "score": draw(st.just({}) | any_score(rules.target)),
        "dealer": draw(st.none() | st.integers(0, 1)),
        "wrapped": draw(st.booleans()),
        "most": draw(st.just(10**9) | st.integers(0, 40)),
        "forfeit": draw(st.booleans()),
        "seed": draw(st.integers(0, 2**32)),
        "players": draw(st.just(()) | st.tuples(st.text(), st.text())),
        "info": draw(
            st.dictionaries(
                st.text(),
                st.none()
                | st.booleans()
                | st.integers(-(2**63), 2**64 - 1)
                | st.floats(allow_nan=False, allow_infinity=False)
                | st.text(),
                max_size=3,
            )
        ),
    }


@pytest.mark.parametrize("most", [10**9, 5])
def test_match_of_a_table_comes_back_from_its_text(table: str, most: int) -> None:
    """With what was forced at it, whoever plays; also for each learner against the record."""
    game, settings = TABLES[table]
    door = poke_env.door(game)
    for seed in range(3):
        recorder = Recorder(door.env(**settings))
        recorder.reset(seed=seed)
        play(recorder, np.random.default_rng(seed), most)
        record = recorder.match_record()
        assert loads(dumps(record)) == record
        again = replay(record, Recorder(door.raw_env(**settings)))
        assert again.unwrapped.record.tobytes() == recorder.unwrapped.record.tobytes()
        assert again.unwrapped.score_sheet == recorder.unwrapped.score_sheet
        assert again.unwrapped.rewards == recorder.unwrapped.rewards
        assert dumps(again.match_record()) == dumps(record)


HOUSE_RUBBER = {
    "rules": HOUSE_RULES,
    "match": "rubber",
    "max_deals": None,
    "score": {"games": (1, 1)},
    "dealer": 1,
    "wrapped": True,
    "most": 10**9,
    "forfeit": False,
    "seed": 8,
    "players": ("a", "b"),
    "info": {},
}


@given(any_play())
@example(HOUSE_RUBBER)
@settings(max_examples=60)
def test_match_comes_back_from_its_text_and_in_every_adapter(case):
    arguments = {name: case[name] for name in ("match", "rules", "max_deals")}
    options = {"score": case["score"], "dealer": case["dealer"]}
    recorder = recorded(case["seed"], case["most"], options, case["wrapped"], **arguments)
    if case["forfeit"] and not is_over(recorder):
        recorder.forfeit()
    record = recorder.match_record(case["players"], case["info"])
    text = dumps(record)
    assert loads(text) == record
    assert dumps(loads(text)) == text
    assert text.isascii() and hash(loads(text)) == hash(record)

    played = recorder.unwrapped
    for make in (poke_v0.raw_env, poke_v0.env):
        again = replay(record, Recorder(make(**arguments)))
        assert again.unwrapped.record.tobytes() == played.record.tobytes()
        assert again.unwrapped.score_sheet == played.score_sheet
        assert again.unwrapped.rewards == played.rewards
        assert dumps(again.match_record(case["players"], case["info"])) == text
    if record.ending.kind != "unfinished":
        for seat in range(2):
            single_replay(record, seat, arguments, played)


@given(st.lists(any_play(), min_size=1, max_size=3), st.sampled_from(["standard", "small"]))
@settings(max_examples=20)
def test_matches_of_a_batch_come_out_otherwise(cases, rules):
    shared = {"match": "rubber", "rules": rules, "max_deals": 3}
    replay_in_a_batch([recorded(case["seed"], 10**9, {}, False, **shared) for case in cases])


def replay_in_a_batch(played: list[Recorder]) -> None:
    """Replay matches of the same settings side by side; they must end as they did."""
    settings = played[0].unwrapped.settings
    kept = [recorder.match_record() for recorder in played]
    envs = poke_env.make_batch(
        settings.game, len(kept), match=settings.match, rules=settings.rules,
        max_deals=settings.max_deals, autoreset=False,
    )  # fmt: skip
    envs.reset(options=batch_options(kept))
    for turn in range(max(len(record.actions) for record in kept)):
        active = np.array([turn < len(record.actions) for record in kept])
        actions = [
            record.actions[turn] if going else 0 for record, going in zip(kept, active, strict=True)
        ]
        envs.step(np.array(actions), active)
    assert envs.over.all()
    for row, recorder in enumerate(played):
        assert envs.record[row].tobytes() == recorder.unwrapped.record.tobytes()


def test_match_of_a_table_is_not_replayed_beside_one_from_another_score(table: str) -> None:
    """What a record leaves out is the beginning of its game, which need not be zeros."""
    game, settings = TABLES[table]

    def played(seed: int, score: Any) -> Recorder:
        recorder = Recorder(
            poke_env.door(game).raw_env(**{**settings, "match": None, "max_deals": 2})
        )
        recorder.reset(seed=seed, options={"score": score})
        return play(recorder, np.random.default_rng(seed))

    plain = played(0, {})
    beginning = plain.unwrapped.settings.beginning
    score = next(
        deal.score
        for seed in range(1, 200)
        for deal in played(seed, {}).match_record().deals[:-1]  # after it another one began
        if deal.score != beginning
    )
    replay_in_a_batch([plain, played(200, score), played(201, {})])


def test_batch_options_lose_a_score():
    kept = [
        recorded(seed, 10**9, {"score": score} if score else {}, False, match="deal").match_record()
        for seed, score in enumerate(({"games": (1, 0)}, None, {"below": (3, 4)}))
    ]
    score = batch_options(kept)["score"]
    assert score["below"] == [(0, 0), (0, 0), (3, 4)]
    assert score["games"] == [(1, 0), (0, 0), (0, 0)]


def single_replay(record: Record, seat: int, arguments: dict[str, Any], played: Any) -> None:
    env = poke_v0.single_env(opponent=Replayer(record, 1 - seat), seat=seat, **arguments)
    learner = Replayer(record, seat)
    for _ in range(2):  # the second reset begins with the first move again
        learner.reset()
        env.reset(options=record.options())
        over = is_over(env.aec)
        while not over:
            move = learner.act({"action_mask": env.action_masks()})
            _, _, terminated, truncated, _ = env.step(move)
            over = terminated or truncated
        assert env.score_sheet == played.score_sheet
        assert env.aec.record.tobytes() == played.record.tobytes()


def test_text_of_a_match():
    log = Log("poke", "tiny", match="deal", dealer=1)
    log.deal("Qc Qd Kc Kd Ac Ad")
    for action in (1, 0, 2, 2, 1, 1):
        log.act(action)
    lines = [line.rpartition(" | ")[0] for line in dumps(log.finish()).splitlines()]
    deal = [  # kings against an ace and a queen; the second player was doubled
        "deal 1",
        "dealer 1",
        "QcQdKcKdAcAd",
        "1 0 2 2 1 1",
        "-50 +50",
        "below 1 2, above 0 50, games 0 0",
        "0 discard Qc; 1 stand pat; 0 lead Ac; 1 follow Kd; 0 lead Qd; 1 follow Kc",
    ]
    assert lines == [
        "poke_env record 1",
        'game "poke_v0"',
        'rules "tiny"',
        'match "deal"',
        "dealer 1",
        " | ".join(deal),
        "end over | -50 +50 | below 1 2, above 0 50, games 0 0",
    ]


def test_example_of_the_module():
    assert doctest.testmod(records).attempted > 3
    assert not doctest.testmod(records).failed


def test_sample_tells_of_everything():
    words = [line.split()[0] for line in LINES]
    assert words == [
        "poke_env", "game", "rules", "match", "dealer", "score", "players", "info",
        "deal", "deal", "deal", "end",
    ]  # fmt: skip
    assert SAMPLE.points == tuple(
        sum(deal.points[seat] for deal in SAMPLE.deals) for seat in range(2)
    )
    assert SAMPLE.actions == sum((deal.actions for deal in SAMPLE.deals), ())
    assert SAMPLE.score["below"] == (2, 0)


def test_log_needs_no_environment():
    log = Log("poke", SAMPLE.rules, SAMPLE.match, SAMPLE.dealer, {"games": [1, 0], "below": [2, 0]})
    for deal in SAMPLE.deals:
        log.deal(np.array(deal.deck, np.int8))
        for action in deal.actions:
            log.act(np.int32(action))
    ending, about = SAMPLE.ending, {"players": SAMPLE.players, "info": SAMPLE.info}
    assert log.finish(ending, **about) == SAMPLE
    assert pickle.loads(pickle.dumps(log)).finish(ending, **about) == SAMPLE


def test_many_records_in_one_file(tmp_path: Path):
    written = [recorded(seed, match="game", rules="tiny").match_record() for seed in range(4)]
    path = tmp_path / "matches.txt"
    for some in (written[:3], written[3:]):
        with path.open("a", encoding="utf-8") as file:
            dump(some, file)
    with path.open(encoding="utf-8") as file:
        assert list(load(file)) == written
    assert list(load(io.StringIO(""))) == []


def test_damage_is_met_when_its_turn_comes():
    lines = (dumps(SAMPLE) * 2).splitlines(keepends=True)
    place = len(LINES) + 9
    lines[place] = lines[place].replace(" 0", " 1")
    read = load(io.StringIO("".join(lines)))
    assert next(read) == SAMPLE
    with pytest.raises(
        RecordError, match=rf"^line {place + 1}: the checksum does not fit"
    ) as error:
        next(read)
    assert error.value.line == place + 1
    assert str(pickle.loads(pickle.dumps(error.value))) == str(error.value)


# --- what is wrong is refused ---------------------------------------------------------------------


def refused(text: str) -> RecordError:
    with pytest.raises(RecordError, match=r"^line \d+: \S") as error:
        loads(text)
    assert 1 <= error.value.line <= text.count("\n") + 2
    assert error.value.reason in str(error.value)
    return error.value


@pytest.mark.parametrize("new", ["0", "a", "|", "\n", ""])
def test_any_changed_character_is_refused(new):
    for place, old in enumerate(TEXT[:-1]):
        if old != new:
            error = refused(TEXT[:place] + new + TEXT[place + 1 :])
            assert error.line == TEXT.count("\n", 0, place) + 1


def test_dropped_repeated_swapped_and_added_lines_are_refused():
    lines = TEXT.splitlines(keepends=True)
    for place in range(len(lines)):
        rest = lines[:place] + lines[place + 1 :]
        refused("".join(rest))
        refused("".join(lines[:place]))
        for other in range(len(lines)):
            refused("".join([*lines[:other], lines[place], *lines[other:]]))
            if other < place:
                swapped = lines[:]
                swapped[place], swapped[other] = lines[other], lines[place]
                refused("".join(swapped))


FIRST = next(place for place, line in enumerate(BODIES) if line.startswith("deal "))
LAST = len(BODIES) - 1
FORGERIES = [
    (0, "record 1", "record 2", "unknown version 2"),
    (0, "record 1", "record 1.5", "a record begins with"),
    (0, "poke_env", "Poke_env", "a record begins with"),
    (1, "poke_v0", "poke_v1", "game must be one of .* got 'poke_v1'"),
    (1, '"poke_v0"', "0", "game must be one of"),
    (1, "game", "Game", "a line here begins with"),
    (2, '"ranks": 6', '"ranks": 60', "ranks must be"),
    (2, '"ranks": 6', '"ranks": 6.0', "ranks must be"),
    (2, '"ranks": 6', '"ranks": NaN', "NaN is no number"),
    (2, '"ranks": 6, ', "", "rules is written"),
    (2, '"ranks"', '"runks"', "runks"),
    (2, r"\{.*", '"huge"', "rules must be one of"),
    (2, r"\{.*", "[" * 50_000, "nested too deeply"),
    (2, r"\{", "{{", "is no JSON"),
    (3, "rubber", "set", "match must be one of"),
    (3, '"rubber"', '["rubber"]', "match must be one of"),
    (4, "1", "2", "dealer must be an integer from 0 to 1, got 2"),
    (4, "1", "true", "dealer must be"),
    (4, "1", " 1", "dealer is written"),
    (5, r"\[2, 0\]", "[90, 0]", "score below must be"),
    (5, r"\[2, 0\]", "[2, 0, 0]", "score below must be"),
    (5, r"\{.*", "[]", "score must be a dict"),
    (5, r"\{.*", '{"below": [2, 0], "games": [1, 0]}', "score is written"),
    (6, r'"Ann", ', "", "players must be 2 names"),
    (6, r'"Ann"', "7", "players must be 2 names"),
    (7, r"\{.*", "{}", "info is written not at all"),
    (7, "7", "[7]", "info pair must be"),
    (7, "7", "7e999", "info pair must be"),
    (FIRST, "deal 1", "deal 2", "number must be 'deal 1'"),
    (FIRST, "dealer 1", "dealer 0", "dealer must be 'dealer 1'"),
    (FIRST, r"dealer 1 \| (..)", "dealer 1 | 2c", "deck is no order of the pack.*strange are 2c"),
    (FIRST, r"dealer 1 \| (..)", "dealer 1 | ", "deck is no order of the pack.*missing are"),
    (FIRST, r"dealer 1 \| (..)", "dealer 1 | ??", "unknown card"),
    (FIRST, r"dealer 1 \| (..)(..)", r"dealer 1 | \1\1", "more than once"),
    (FIRST, r"dealer 1 \| ((..){6})(.*?) ", r"dealer 1 | \3\1 ", "must be|illegal"),
    (FIRST, r"([AKQJT9][cd]) \| \d+ ", r"\1 | 7 ", "action 1 is 7, illegal for player_0; legal"),
    (FIRST, r"([AKQJT9][cd]) \| \d+ ", r"\1 | 99999 ", "action 1 is 99999, illegal"),
    (FIRST, r"([AKQJT9][cd]) \| \d+ ", r"\1 | -1 ", "actions must be numbers"),
    (FIRST, r"([AKQJT9][cd]) \| \d+ ", r"\1 |  1 ", "actions must be numbers"),
    (FIRST, r"([AKQJT9][cd]) \| (\d+) ", r"\1 | 0\2 ", "actions must be"),
    (FIRST, r"( \| [+-]\d+ [+-]\d+ \|)", r" 0\1", "actions go on after the deal has ended"),
    (FIRST, r" \d+( \| [+-]\d+ [+-]\d+ \|)", r"\1", "points must be '-'"),
    (FIRST, r"[+-]\d+ [+-]\d+", "+999 -999", "points must be .* got '.999 -999'"),
    (FIRST, "above", "above 7", "score must be"),
    (FIRST, "0 (stand pat|discard)", r"1 \1", "moves must be"),
    (FIRST, r"\|", ":", "a deal has the columns"),
    (FIRST, "deal 1", "deal_1", "a line here begins with"),
    (FIRST + 1, r"^.*$", "end over | +0 +0 | below 0 0", "not over by the rules"),
    (LAST, "truncated", "over", "ending is 'over', but the match is not over"),
    (LAST, "truncated", "cancelled", "ending kind must be one of"),
    (LAST, "truncated", "truncated 1", "neither seat nor reason"),
    (LAST, "truncated", "unfinished", None),
    (LAST, "truncated(.*)", r'forfeit 1\1 | "late"', "nobody is to move"),
    (LAST, "truncated", "forfeit 1", "the last line has the columns"),
    (LAST, r"[+-]\d+ [+-]\d+", "+999 -999", "points must be"),
    (LAST, "above", "above 7", "score must be"),
    (LAST, "end", "ends", "a line here begins|the last line has"),
]  # fmt: skip


@pytest.mark.parametrize("place, old, new, reason", FORGERIES)
def test_forged_line_with_checksums_that_fit_is_refused_by_the_rules(place, old, new, reason):
    lines = BODIES[:]
    lines[place] = re.sub(old, new, lines[place], count=1)
    assert lines != BODIES
    if reason is None:  # nothing in the rules speaks against it
        assert loads(chained(lines)).ending == Ending("unfinished")
        return
    error = refused(chained(lines))
    assert error.line == place + 1
    assert re.search(reason, error.reason), error.reason


@pytest.mark.parametrize("place", range(1, len(BODIES)))
def test_forged_text_without_one_of_its_lines_is_refused(place):
    without = BODIES[:place] + BODIES[place + 1 :]
    if place in (6, 7):  # names and info may be missing
        loads(chained(without))
    else:
        refused(chained(without))


def test_forged_order_of_lines_is_refused():
    for place in range(len(BODIES) - 1):
        swapped = BODIES[:]
        swapped[place : place + 2] = reversed(BODIES[place : place + 2])
        refused(chained(swapped))


def test_match_that_goes_on_after_its_end_is_refused():
    whole = dumps(recorded(1, match="deal", rules="tiny").match_record())
    lines = [line.rpartition(" | ")[0] for line in whole.splitlines()]
    again = lines[-2].replace("deal 1", "deal 2")
    error = refused(chained([*lines[:-1], again, lines[-1]]))
    assert (error.line, error.reason) == (len(lines), "the match goes on after its end")
    error = refused(chained([*lines[:-1], lines[-1].replace("over", "unfinished")]))
    assert "the match is over" in error.reason


def test_deal_after_an_unfinished_one_is_refused():
    text = dumps(recorded(1, most=2, match="game").match_record())
    lines = [line.rpartition(" | ")[0] for line in text.splitlines()]
    again = lines[-2].replace("deal 1", "deal 2")
    error = refused(chained([*lines[:-1], again, lines[-1]]))
    assert error.reason == "the deal before it is unfinished"


def test_other_texts_are_refused():
    assert refused("").reason == "the text is empty, so it holds no record"
    assert "a record begins with" in refused("\n" + TEXT).reason
    assert "goes on after the last line" in refused(TEXT + TEXT).reason
    assert "more than 100000 characters" in refused("x" * 200_000).reason
    assert "breaks off" in refused("".join(TEXT.splitlines(keepends=True)[:-1])).reason
    assert loads(TEXT.removesuffix("\n")) == SAMPLE
    with pytest.raises(ValueError, match="a record must be a str, got b"):
        loads(TEXT.encode())


def test_bytes_that_are_no_text_are_refused(tmp_path: Path):
    path = tmp_path / "matches.txt"
    path.write_bytes(b"\xff\xfe" + TEXT.encode())
    with (
        path.open(encoding="utf-8") as file,
        pytest.raises(RecordError, match=r"line 1: .* no text"),
    ):
        list(load(file))
    with path.open("rb") as file, pytest.raises(ValueError, match="file must be open for text"):
        list(load(file))


@pytest.mark.parametrize(
    "field, value, reason",
    [
        ("game", "bridge", "game must be one of 'poke'.*, got 'bridge'"),
        ("version", 7, "record is of poke_v7, this is poke_v0"),
        ("rules", "tiny", "rules must be a Rules"),
        ("match", "deals", "match must be one of"),
        ("dealer", 2, "dealer must be"),
        ("score", {"games": (1, 0)}, "score must be .* complete"),
        ("deals", SAMPLE.deals[:0], "ending is 'truncated'"),
        ("deals", (replace(SAMPLE.deals[0], points=(1, -1)), *SAMPLE.deals[1:]), "deal 1: points"),
        ("deals", (*SAMPLE.deals[:2], replace(SAMPLE.deals[2], dealer=0)), "deal 3: dealer must"),
        ("deals", (DealRecord(1, (1, 2), ()),), "deal 1: deck is no order of the pack of 12"),
        ("ending", None, "ending must be an Ending, got None"),
        ("ending", ("over", None, ""), "ending must be an Ending"),
        ("ending", Ending("truncated", reason="late"), "neither seat nor reason"),
        ("players", ("Ann",), "players must be 2 names or none"),
        ("players", ("Ann", 3), "players must be 2 names or none"),
        ("info", {"x": [1]}, "info x must be a text, an integer"),
        ("info", {"x": float("nan")}, "info x must be"),
        ("info", {"x": 2**70}, "info x must be an integer from"),
        ("info", {3: "x"}, "info must be a dict with texts as names"),
        ("info", {"x": "long" * 30_000}, "a line of a record must have at most 100000 characters"),
    ],
)
def test_record_made_wrong_by_hand_is_not_written(field, value, reason):
    with pytest.raises(ValueError, match=reason):
        dumps(replace(SAMPLE, **{field: value}))


def test_game_is_found_by_name_and_version(monkeypatch):
    monkeypatch.setitem(GAMES, "toy", replace(POKE, name="toy", version=3))
    record = Log("toy", "small", match="game").finish()
    text = dumps(record)
    assert 'game "toy_v3" | ' in text
    assert loads(text) == record
    with pytest.raises(
        ValueError, match="env must have game 'toy_v3' as the record, got 'poke_v0'"
    ):
        replay(record, poke_v0.raw_env("game", rules="small"))
    monkeypatch.delitem(GAMES, "toy")
    assert "game must be one of 'poke_v0'" in refused(text).reason
    with pytest.raises(ValueError, match="game must be one of"):
        dumps(record)


def test_other_things_are_not_written():
    with pytest.raises(ValueError, match="record must be a Record, got 'x'"):
        dumps("x")


# --- the log and the recorder ---------------------------------------------------------------------


@pytest.mark.parametrize("game", ["poke", "pokex", "poque", "poangpoker"])
def test_log_is_of_another_match_than_the_whole_game(game):
    record = Log(game).finish()
    assert record.match == poke_env.door(game).raw_env(match=None).match
    assert loads(dumps(record)) == record


def test_log_refuses_what_is_wrong():
    for arguments, reason in (
        ({"game": "bridge"}, "game must be one of"),
        ({"rules": "large"}, "rules must be one of"),
        ({"match": "set"}, "match must be one of"),
        ({"dealer": 2}, "dealer must be an integer from 0 to 1, got 2"),
        ({"score": {"below": (99, 0)}}, "score below"),
    ):
        with pytest.raises(ValueError, match=reason):
            Log(**{"game": "poke", **arguments})
    log = Log("poke", "tiny", match="game")
    with pytest.raises(ValueError, match="note a deal before its actions"):
        log.act(0)
    assert log.finish().deals == ()
    assert loads(dumps(log.finish())) == log.finish()
    log.deal(["Qc", "Qd", "Kc", "Kd", "Ac", "Ad"])
    with pytest.raises(ValueError, match="it is the turn of seat 1"):
        log.finish(Ending("forfeit", 0))
    with pytest.raises(ValueError, match="ending reason must be a text"):
        log.finish(Ending("forfeit", 1, 3))
    assert (
        loads(dumps(log.finish(Ending("forfeit", 1, "late | again")))).ending.reason[-5:] == "again"
    )
    for wrong in (3.0, True, "1", -1, 3, None):
        twin = copy.deepcopy(log)
        twin.act(0)
        twin.act(wrong)
        with pytest.raises(ValueError, match=r"deal 1: action 2 is .* illegal for player_0"):
            twin.finish()


@pytest.mark.parametrize("wrapped", [True, False])
def test_forfeit_is_recorded_without_the_illegal_action(wrapped):
    recorder = recorded(5, 4, wrapped=wrapped)
    made, seat = recorder.match_record().actions, NAMES.index(recorder.agent_selection)
    if wrapped:
        recorder.step(31)
    else:
        with pytest.raises(IllegalActionError):
            recorder.step(31)
        assert recorder.match_record().ending == Ending("unfinished")
        recorder.forfeit()
    for _ in range(2):
        record = recorder.match_record()
        assert record.actions == made
        assert record.ending == Ending("forfeit", seat, "illegal action")
        assert loads(dumps(record)) == record
        retire(recorder)  # then nobody is left who could tell
    for make in (poke_v0.raw_env, poke_v0.env):
        again = replay(record, make())
        assert again.infos["player_0"]["forfeited_by"] == NAMES[seat]


@pytest.mark.parametrize("ended", ["truncated", "over"])
def test_ending_is_known_after_the_dead_steps(ended):
    recorder = recorded(5, match="rubber", max_deals=2 if ended == "truncated" else None)
    retire(recorder)
    assert recorder.match_record().ending == Ending(ended)


def test_record_at_every_turn():
    recorder = recorded(most=0, match="game", rules="tiny")
    for steps, _ in enumerate(turns(recorder, np.random.default_rng(0))):
        record = recorder.match_record()
        assert len(record.actions) == steps
        assert loads(dumps(record)) == record
    assert record.ending == Ending("over")


def test_recorder_survives_copies_and_resets():
    recorder = Recorder(poke_v0.env(rules="tiny"))
    for seed in (4, None, None):
        recorder.reset(seed=seed)
        play(recorder, np.random.default_rng(0), most=9)
        twins = [copy.deepcopy(recorder), pickle.loads(pickle.dumps(recorder))]
        for one in (recorder, *twins):
            play(one, np.random.default_rng(1))
        texts = {dumps(one.match_record()) for one in (recorder, *twins)}
        assert len(texts) == 1
        with pytest.raises(ValueError, match="options has unknown keys"):
            recorder.reset(options={"decj": 1})
        assert dumps(recorder.match_record()) in texts


def test_recorder_is_driven_as_the_environment_it_wraps():
    recorder = Recorder(poke_v0.env(rules="tiny"))
    assert isinstance(recorder.unwrapped, poke_v0.raw_env)
    assert str(recorder) == str(poke_v0.env())
    with pytest.raises(AttributeError, match="reset"):
        recorder.match_record()
    recorder.reset(seed=0)
    rng, steps = np.random.default_rng(0), 0
    for agent in recorder.agent_iter():
        observation, _, terminated, truncated, _ = recorder.last()
        over = terminated or truncated
        assert over or observation["action_mask"].any()
        assert agent == recorder.agent_selection
        recorder.step(None if over else random_action(recorder, rng))
        steps += not over
    assert len(recorder.match_record().actions) == steps


def test_recorder_refuses_a_match_it_has_not_seen():
    env = poke_v0.env(rules="tiny")
    env.reset(seed=0)
    recorder = Recorder(env)
    recorder.step(0)
    with pytest.raises(ValueError, match="call reset"):
        recorder.match_record()
    recorder.reset(seed=0)
    recorder.unwrapped.step(0)
    with pytest.raises(ValueError, match="changed past the recorder"):
        recorder.match_record()
    for wrong in (None, 3, poke_v0.single_env()):
        with pytest.raises(ValueError, match="env must be an AEC environment of poke_env"):
            Recorder(wrong)


# --- replaying ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, reason",
    [
        ({"match": "game"}, "env must have match 'rubber' as the record, got 'game'"),
        ({"rules": "small"}, "env must have rules Rules"),
        ({"max_deals": None}, "env must have max_deals 3 as the record, got None"),
        ({"max_deals": 2}, "env must have max_deals 3 as the record, got 2"),
    ],
)
def test_replay_refuses_another_environment(change, reason):
    env = poke_v0.raw_env(**{"match": "rubber", "rules": SAMPLE.rules, "max_deals": 3, **change})
    env.reset(seed=0)
    state = env.get_state()
    with pytest.raises(ValueError, match=reason):
        replay(SAMPLE, env)
    assert env.get_state() == state


def test_replay_refuses_a_limit_that_ends_the_match_before_the_record():
    record = recorded(5, match="rubber", rules="tiny").match_record()
    deals = len(record.deals)
    replay(record, poke_v0.env(rules="tiny", max_deals=deals))
    with pytest.raises(ValueError, match=f"max_deals above {deals} or None for this record"):
        replay(record, poke_v0.env(rules="tiny", max_deals=deals - 1))
    with pytest.raises(ValueError, match="env must be an AEC environment"):
        replay(record, poke_v0.single_env())
    with pytest.raises(ValueError, match="deal 1: points must be"):
        replay(
            replace(record, deals=(replace(record.deals[0], points=()), *record.deals[1:])),
            poke_v0.env(rules="tiny"),
        )


def test_replayer_makes_the_recorded_moves_and_refuses_another_match():
    record = recorded(5, match="game", rules="small").match_record()
    player = Replayer(record)
    assert isinstance(player, Agent)
    env = poke_v0.env("game", rules="small")
    env.reset(options=record.options())
    masks = []
    while not is_over(env):
        masks.append(env.observe(env.agent_selection)["action_mask"])
        env.step(player.act(env.observe(env.agent_selection), key=3))
    with pytest.raises(ValueError, match="recorded moves are made, but one more is due"):
        player.act({"action_mask": masks[0]})
    player.reset(7)
    masks = np.array(masks)
    assert player.act_batch(np.zeros((len(masks), 265)), masks).tolist() == list(record.actions)
    player.reset()
    masks[2] = 0
    for _ in range(2):  # a batch that is refused leaves the place as it was
        with pytest.raises(ValueError, match=r"recorded move 3 of \d+ is \d+, but legal are \[\]"):
            player.act_batch(None, masks)
    for wrong in (2, -1, "0", [0, 5]):
        with pytest.raises(ValueError, match="seats must be an integer from 0 to 1"):
            Replayer(record, wrong)
