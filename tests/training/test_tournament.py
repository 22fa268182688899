"""The round robin of duplicate matches, its tables and files, and the program."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import agents
from helpers import ROOT
from players import Faulty, FaultyBatch, Highest, Lowest, OneByOne, _raise, raising, same
from poke_env import _files
from poke_env.agent import RandomAgent
from training import cli, duplicate, report, tournament
from training.duplicate import FORFEIT_POINTS, play
from training.rounding import NONE
from training.store import Store
from training.tournament import Tournament, TournamentInterrupted, prepare, run_tournament

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
        "duels", "ratings", "skill", "cycles", "forfeits", "timing",
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
    result = run_tournament({"sound": RandomAgent(), "faulty": Faulty(raising)}, 8)
    document = result.as_dict()
    count = len(result.duel("sound", "faulty").forfeits)
    assert count > 1
    assert [line["label"] for line in document["ranking"]] == ["sound", "faulty"]
    assert {line["label"]: line["forfeits"] for line in document["ranking"]} == {
        "sound": 0, "faulty": count,
    }  # fmt: skip
    assert len(document["forfeits"]) == count
    for line in document["forfeits"]:
        assert line["player"] == "faulty"
        assert line["opponent"] == "sound"
        assert line["opponents"] == ["sound"]
        assert line["turn"] == 3
        assert line["reason"] == "RuntimeError: out of ideas"
    assert [fault[:3] for fault in report.faults(document)] == [
        ("faulty", count, "RuntimeError: out of ideas")
    ]
    shown = report.text(document, 150)
    assert "RuntimeError: out of ideas" in shown
    assert "RuntimeError: out of ideas" in report.html(document)


def test_one_deal_gives_no_interval_and_no_infinity():
    document = run_tournament({"lowest": Lowest(), "highest": Highest()}, 1).as_dict()
    [line] = document["duels"]
    assert (line["margin"]["low"], line["margin"]["deviation"]) == (None, None)
    json.dumps(document, allow_nan=False)
    assert NONE in report.text(document, 150)
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
    assert [done for done, _ in calls] == [4, 8, 12]
    assert [names for _, names in calls] == [
        "random – random#2", "random – random#3", "random#2 – random#3",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            {"agents": ["random"]},
            "agents must be 2 players or more, as many as sit at a table, got random",
        ),
        ({"agents": []}, "agents must be 2 players or more, as many as sit at a table, got none"),
        (
            {"agents": "random"},
            "agents must be 2 players or more, as many as sit at a table, got 'random'",
        ),
        ({"agents": ["random", "nobody"]}, "nobody"),
        ({"agents": {"a": RandomAgent(), "b": 3}}, "agent 'b': a player must have act"),
        ({"agents": {"a": RandomAgent(), "\udcff": RandomAgent()}}, "agents must have names"),
        ({"agents": {"a": RandomAgent(), 3: RandomAgent()}}, "agents must have names .* got 3"),
        ({"agents": {"a": RandomAgent(), "": RandomAgent()}}, "agents must have names"),
        ({"deals": 0}, "deals must be an integer from 1 to 10000000, got 0"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"match": "set"}, "match must be one of"),
        ({"rules": "huge"}, "rules must be one of"),
    ],
)
def test_a_wrong_plan_is_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        prepare(**{"agents": ["random", "random"], "deals": 3, **arguments})


# --- going on -------------------------------------------------------------------------------------


def played(store: Store, *arguments: Any, **options: Any) -> tuple[Tournament, int]:
    """A tournament over what a store holds, and how many pairs had to be played for it."""
    [[before]] = store._base.execute("SELECT count(*) FROM orders").fetchall()
    result = prepare(*arguments, **options).play(store=store)
    [[after]] = store._base.execute("SELECT count(*) FROM orders").fetchall()
    [[worked]] = store._base.execute("SELECT sum(orders) FROM work").fetchall()
    assert worked == after, "no pair is played twice"
    return result, after - before


MIXED = {"faulty": FaultyBatch(_raise), "lowest": Lowest(), "own": OneByOne()}


def test_more_deals_play_again_what_is_there():
    store = Store()
    short, count = played(store, MIXED, 20, seed=2, match="game")
    assert count == 60
    assert numbers(short) == numbers(run_tournament(MIXED, 20, seed=2, match="game"))
    long, count = played(store, MIXED, 33, seed=2, match="game")
    assert count == 39
    assert numbers(long) == numbers(run_tournament(MIXED, 33, seed=2, match="game"))
    again, count = played(store, MIXED, 20, seed=2, match="game")
    assert count == 0
    assert numbers(again) == numbers(short)


def test_another_player_plays_again_what_is_there():
    store = Store()
    two = {name: MIXED[name] for name in ("lowest", "own")}
    played(store, two, 20, seed=2)
    three, count = played(store, dict(reversed(MIXED.items())), 20, seed=2)
    assert count == 40
    assert numbers(three) == numbers(run_tournament(MIXED, 20, seed=2))
    fewer, count = played(store, two, 20, seed=2)
    assert count == 0
    assert numbers(fewer) == numbers(run_tournament(two, 20, seed=2))
    more, count = played(store, {**MIXED, "a late one": Highest()}, 25, seed=2)
    assert count == 3 * 5 + 3 * 25
    assert numbers(more) == numbers(run_tournament({**MIXED, "a late one": Highest()}, 25, seed=2))


@pytest.mark.parametrize(
    "changes, name",
    [
        ({"seed": 3}, "seed"),
        ({"match": "game"}, "match"),
        ({"rules": "small"}, "rules"),
        ({"below_value": 10.0}, "below_value"),
        ({"max_deals": 3}, "max_deals"),
        ({"move_timeout": 1.0}, "move_timeout"),
        ({"keep_records": True}, "records"),
    ],
)
def test_results_of_other_conditions_are_gone_on_with(changes, name):
    store = Store()
    before, _ = played(store, MIXED, 3, seed=2)
    with pytest.raises(ValueError, match=f"^{name} is "):
        prepare(MIXED, 3, **{"seed": 2, **changes}).play(store=store)
    after, count = played(store, MIXED, 3, seed=2)
    assert count == 0
    assert numbers(after) == numbers(before)


def test_a_player_of_the_same_name_goes_on_for_another():
    store = Store()
    played(store, MIXED, 3)
    with pytest.raises(ValueError, match="agent 'lowest' is not the one"):
        prepare({**MIXED, "lowest": Highest()}, 3).play(store=store)
    assert played(store, MIXED, 3)[1] == 0


def test_an_interruption_loses_what_was_finished():
    field = {"a": Lowest(), "b": Highest(), "c": Interrupted()}
    store = Store()
    with pytest.raises(TournamentInterrupted) as stop:
        prepare(field, 3).play(store=store)
    assert stop.value.orders == 3
    Interrupted.calm = True
    try:
        result, count = played(store, field, 3)
    finally:
        Interrupted.calm = False
    assert count == 6
    assert result.complete


def test_ratings_leave_out_a_player_without_a_win():
    class Never(RandomAgent):
        def act_batch(self, observations: Any, masks: Any, keys: Any = None) -> Any:
            raise RuntimeError("resigns")

    document = run_tournament({"a": RandomAgent(), "b": Highest(), "never": Never()}, 10).as_dict()
    json.dumps(document, allow_nan=False)
    [line] = [line for line in document["ranking"] if line["label"] == "never"]
    assert (line["wins"], line["forfeits"]) == (0, 40)
    assert "never" in json.dumps(document["ratings"])
    assert "never" in report.text(document, 150)
    assert "never" in report.html(document)


def test_standings_of_a_rubber_do_not_add_up_in_the_document():
    document = run_tournament(["random", "heuristic"], 6, match="rubber").as_dict()
    [line] = document["duels"]
    for player, sign in ((0, 1), (1, -1)):
        total = sum(
            place["deals"] * place["margin"]["mean"] for place in line["by_standing"][player]
        )
        assert total == pytest.approx(sign * line["margin"]["mean"] * 12)


# --- uncertainty is always said -------------------------------------------------------------------


def test_55_of_100_is_not_separated():
    result = run_tournament({"ann": Lowest(), "bob": Highest()}, 50)
    winners = np.array([1] * 55 + [-1] * 45, np.int8).reshape(50, 2)
    result.meetings["ann", "bob"] = replace(
        result.meetings["ann", "bob"],
        points=np.multiply.outer(winners * 10.0, [1.0, -1.0]),
        places=(np.multiply.outer(winners, [-1, 1]) > 0).astype(np.int8),
    )
    document = result.as_dict()
    [line] = document["duels"]
    assert (line["first"], line["wins"], line["losses"]) == ("ann", 55, 45)
    assert line["win_rate"]["low"] < 0.5 < line["win_rate"]["high"]
    assert line["margin"]["low"] < 0.0 < line["margin"]["high"]
    assert line["verdict"] == "not separated"
    assert line["more_deals_needed"] > 50
    for text in (report.text(document, 150), report.html(document)):
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
    assert "[bold]" not in report.text(document, 150)


def test_the_page_says_how_to_repeat_it():
    page = report.html(run_tournament(["random", "random"], 3, seed=11).as_dict())
    assert (
        "python -m training.tournament random random --deals 3 --seed 11 --match deal "
        "--rules standard --out DIR" in page
    )


@pytest.mark.parametrize(
    "number, text", [(0, "0"), (20_000, "20,000"), (3_210_000, "3.2 million"), (None, "—")]
)
def test_counts_can_be_read(number, text):
    assert report.count(number) == text


# --- files ----------------------------------------------------------------------------------------


def test_a_file_is_whole_or_as_it_was(tmp_path):
    path = tmp_path / "results.json"
    _files.write(path, "old")

    def fail() -> None:
        with _files.replacing(path) as temporary:
            temporary.write_text("half of the n")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    _files.write(path, b"new")
    assert path.read_text() == "new"
    assert [entry.name for entry in tmp_path.iterdir()] == ["results.json"]


def test_a_folder_is_made_and_tried(tmp_path):
    folder = _files.writable_folder(tmp_path / "a" / "b")
    assert folder.is_dir()
    assert not list(folder.iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match=r"out must be a folder that can be written to, but .*file"):
        _files.writable_folder(tmp_path / "file")


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
        "heatmap.png", "report.html", "results.json", "results.sqlite",
    ]  # fmt: skip
    for path in out.iterdir():
        assert str(path) in shown
    assert "random#2" in shown
    assert "not separated" in shown
    document = json.loads((out / "results.json").read_text())
    assert document["configuration"]["seed"] == 3
    assert document["configuration"]["agents"] == ["random", "random"]
    assert (out / "heatmap.png").read_bytes().startswith(PNG)


@pytest.mark.parametrize("game", ["poke", "pokex", "poque", "poangpoker"])
def test_players_of_a_game_are_too_few_for_a_table(game):
    names = agents.names(game)
    for size in range(2, 9):
        field = tournament.fill_table(names, size)
        assert len(field) == max(size, len(names))
        assert field[: len(names)] == list(names)
    assert tournament.fill_table(("weak", "strong"), 5)[2:] == ["strong", "weak", "strong"]


def test_nobody_named_is_an_error_at_a_larger_table(tmp_path, capsys):
    table = ["--game", "poangpoker", "--players", "4", "--rules", "small", "--deals", "1"]
    assert run(*table, "--out", str(tmp_path / "run")) == 0
    document = json.loads((tmp_path / "run" / "results.json").read_text())
    labels = sorted(agent["label"] for agent in document["agents"])
    assert labels == ["greedy", "heuristic", "heuristic#2", "random"]
    assert document["complete"]
    capsys.readouterr()
    assert run("greedy", *table, "--out", str(tmp_path / "other")) == 2
    assert "agents must be 4 players or more" in capsys.readouterr().err


def test_results_of_another_run_are_not_overwritten(tmp_path, capsys):
    arguments = ("random", "random", "--deals", "2", "--out", str(tmp_path))
    (tmp_path / "results.json").write_text("mine")
    assert run(*arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "holds results.json and no results.sqlite to go on from; choose another" in error
    assert (tmp_path / "results.json").read_text() == "mine"
    assert run(*arguments, "--overwrite") == 0
    assert json.loads((tmp_path / "results.json").read_text())["complete"] is True


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["random"], "agents must be 2 players or more"),
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

    calm = False

    def act(self, observation: Any, key: Any = None) -> int:
        if self.calm:
            return super().act(observation, key)
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
import agents
from poke_env.agent import RandomAgent

class Interrupted(RandomAgent):
    def act(self, observation, key=None):
        raise KeyboardInterrupt

class Sound(RandomAgent):
    pass

class Bare:
    def act(self, observation, key=None):
        return int(observation["action_mask"].argmax())

def heuristic():
    return agents.make("heuristic", doubling="never")
"""


@pytest.fixture
def own_players(tmp_path, monkeypatch):
    (tmp_path / "own_players.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    sys.modules.pop("own_players", None)


@pytest.mark.parametrize(
    "names, pairs",
    [
        (["random", "own_players:Interrupted"], "0 of 2"),
        (["random", "random", "own_players:Interrupted"], "0 of 6"),
        (["greedy", "heuristic", "own_players:Interrupted"], "2 of 6"),
    ],
)
def test_ctrl_c_is_one_line_and_leaves_nothing_half(names, pairs, tmp_path, capsys, own_players):
    out = tmp_path / "a run"
    out.mkdir()
    (out / "report.html").write_text("of an earlier run")
    arguments = (*names, "--deals", "2", "--out", str(out))
    assert run(*arguments, "--overwrite") == 130
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"interrupted after {pairs} deck orders; the same command with --out '{out}'" in error
    assert [path.name for path in out.iterdir()] == ["results.sqlite"]
    # And again, with what is there.
    assert run(*arguments) == 130
    assert f"interrupted after {pairs} deck orders" in capsys.readouterr().err


def test_the_same_command_again_plays_again(tmp_path, capsys, own_players, monkeypatch):
    arguments = ["greedy", "own_players:Sound", "--seed", "2", "--out", str(tmp_path), "--records"]
    assert run(*arguments, "--deals", "5") == 0
    document, records = (
        (tmp_path / "results.json").read_text(),
        (tmp_path / "records.txt").read_text(),
    )
    before = json.loads(document)
    monkeypatch.setattr(duplicate, "play_orders", None)
    monkeypatch.setattr("training.workers.play_orders", None)
    assert run(*arguments, "--deals", "5") == 0
    after = json.loads((tmp_path / "results.json").read_text())
    del before["timing"], after["timing"]
    assert before == after
    assert (tmp_path / "records.txt").read_text() == records
    assert run(*arguments, "--deals", "3") == 0
    assert records.startswith((tmp_path / "records.txt").read_text())


@pytest.mark.parametrize("name", ["Sound", "Bare", "heuristic"])
def test_changed_code_of_a_player_goes_unnoticed(name, tmp_path, capsys, own_players):
    out = tmp_path / "run"
    arguments = ("random", f"own_players:{name}", "--deals", "3", "--out", str(out))
    assert run(*arguments) == 0
    content = (out / "results.sqlite").read_bytes()
    (tmp_path / "own_players.py").write_text(MODULE + "\n# better\n")
    sys.modules.pop("own_players")
    capsys.readouterr()
    assert run(*arguments) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"agent 'own_players:{name}' is not the one whose results are in" in error
    assert (out / "results.sqlite").read_bytes() == content
    assert run(*arguments, "--overwrite") == 0


@pytest.mark.parametrize(
    "change", [("--seed", "9"), ("--match", "game"), ("--rules", "tiny"), ("--records",)]
)
def test_another_tournament_in_the_folder_is_gone_on_with(change, tmp_path, capsys):
    arguments = ("random", "random", "--deals", "3", "--out", str(tmp_path))
    assert run(*arguments) == 0
    files_before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    assert run(*arguments, *change) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"error: {change[0].removeprefix('--')} is " in error
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files_before
    assert run(*arguments, *change, "--overwrite") == 0


def test_a_file_that_is_no_store_is_removed_without_being_asked(tmp_path, capsys):
    (tmp_path / "results.sqlite").write_text("mine " * 1000)
    arguments = ("random", "random", "--deals", "3", "--out", str(tmp_path))
    assert run(*arguments) == 2
    assert "file is not a database" in capsys.readouterr().err
    assert (tmp_path / "results.sqlite").read_text() == "mine " * 1000
    assert run(*arguments, "--overwrite") == 0


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
