"""The rubber equity table: solved backwards, sampled, kept, checked against rubbers played out."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("tyro")

from rich.console import Console

import agents
from players import Remembering
from poke_env import equity, poke_v0
from poke_env.equity import EquityTable, places, scores
from poke_env.games.poke import PRESETS, Rules
from training.lab import __main__ as lab
from training.lab import rubber, rubber_files
from training.lab.deals import Table, Tally, blind_to_score, play_deals
from training.lab.induction import (
    OVER,
    Outcomes,
    Scoring,
    future_of,
    levels,
    solve_futures,
    solve_values,
    solve_visits,
    successors,
    value_of,
    win_chances,
)
from training.lab.rubber_check import RubberCheck, play_rubbers

SCORING = Scoring.of(Rules())
ONE = Outcomes.of(
    [(5, 0, 250, 0.2), (0, 20, -300, 0.2), (4, 4, 0, 0.1), (3, 2, 50, 0.3), (1, 8, -100, 0.2)],
    SCORING,
)
OTHER = Outcomes.of([(2, 3, 0, 0.5), (10, 0, 350, 0.25), (4, 4, 50, 0.25)], SCORING)


def one(row: int, place: int) -> Outcomes:
    return ONE


def both(row: int, place: int) -> Outcomes:
    return (ONE, OTHER)[row]


def quiet() -> Console:
    return Console(file=io.StringIO(), width=120)


# --- solving --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "score, outcome, after, points",
    [
        ((3, 4, 0, 0), (5, 2, 100), (6, 8, 0, 0), 100),
        ((16, 4, 0, 1), (4, 1, 50), (0, 0, 1, 1), 150),
        ((16, 4, 1, 0), (4, 1, 50), None, 50 + 100 + 750),
        ((16, 4, 1, 1), (4, 1, 50), None, 50 + 100 + 500),
        ((4, 16, 1, 1), (1, 4, 50), None, 50 - 100 - 500),
        ((4, 16, 0, 1), (1, 4, 0), None, -100 - 750),
        ((4, 16, 1, 0), (1, 4, 0), (0, 0, 1, 1), -100),
        ((16, 16, 1, 0), (4, 4, 0), (20, 20, 0, 1), 0),
        ((20, 20, 1, 0), (4, 4, -50), (20, 20, 0, 1), -50),
        ((20, 20, 0, 0), (3, 2, 0), (0, 0, 0, 1), 100),
        ((19, 19, 0, 0), (20, 0, 250), (0, 0, 0, 1), 350),
    ],
)
def test_deal_leads_to_another_score(score: Any, outcome: Any, after: Any, points: int) -> None:
    """Seen by the next dealer, who was the other."""
    place = places(20)[score]
    found, margin = successors(SCORING, place, Outcomes.of([(*outcome, 1.0)], SCORING))
    assert margin.tolist() == [points // 50]
    assert found.tolist() == [OVER if after is None else places(20)[after]]


def test_solver_and_environment_differ() -> None:
    """Every deal of real rubbers leads where the solver says, with the same bonuses."""
    env = poke_v0.raw_env("rubber")
    rng = np.random.default_rng(0)
    deals = 0
    for seed in range(40):
        env.reset(seed=seed)
        before = env.score_sheet
        while not any(env.terminations.values()):
            mask = env.observe(env.agent_selection)["action_mask"]
            env.step(int(rng.choice(np.flatnonzero(mask))))
            after = env.score_sheet
            if len(after.deals) == len(before.deals):
                continue
            d = after.deals[-1].dealer
            deal, o = after.deals[-1], 1 - d
            place = places(20)[
                min(before.below[d], 20), min(before.below[o], 20), before.games[d], before.games[o]
            ]
            points = sum(pair[d] - pair[o] for pair in (deal.poker, deal.sweep))
            outcome = Outcomes.of([(deal.below[d], deal.below[o], points, 1.0)], SCORING)
            [found], [margin] = successors(SCORING, place, outcome)
            assert 50 * margin == deal.points()[d]
            if max(after.games) == 2:
                assert found == OVER
            else:
                seen = (*after.below, *after.games) if o == 0 else (
                    *after.below[::-1], *after.games[::-1])  # fmt: skip
                assert found == places(20)[tuple(min(n, 20) for n in seen[:2]) + seen[2:]]
            before = after
            deals += 1
    assert deals > 200


@pytest.mark.parametrize("distributions, rows", [(one, 1), (both, 2)])
def test_value_is_not_that_of_its_successors(distributions: Any, rows: int) -> None:
    """Expectations, distributions and visits all keep their own equations, ties included."""
    values = solve_values(SCORING, distributions, rows)
    futures = solve_futures(SCORING, distributions, rows)
    visits = solve_visits(SCORING, distributions, rows)
    assert values.shape == visits.shape == (rows, 1604)
    margins = 50 * np.arange(-SCORING.reach, SCORING.reach + 1)
    assert futures.sum(axis=2) == pytest.approx(np.ones((rows, 1604)))
    assert futures @ margins == pytest.approx(values, abs=0.01)
    arriving = np.zeros_like(visits)
    arriving[:, places(20)[0, 0, 0, 0]] = 1 / rows
    for row in range(rows):
        following = np.append(values[1 - row if rows == 2 else 0], 0.0)
        for place in range(0, 1604, 1 if row == 0 else 7):
            outcomes = distributions(row, place)
            assert value_of(SCORING, place, outcomes, following) == pytest.approx(
                values[row, place], abs=1e-8
            )
    for row in range(rows):
        for place in range(1604):
            outcomes = distributions(row, place)
            after, _ = successors(SCORING, place, outcomes)
            going = after != OVER
            np.add.at(
                arriving[1 - row if rows == 2 else 0],
                after[going],
                visits[row, place] * outcomes.probability[going],
            )
    assert arriving == pytest.approx(visits)
    if rows == 1:
        # Whoever deals first gains as much as the other would.
        alike = solve_values(SCORING, lambda row, place: ONE, 2)
        assert alike[0] == pytest.approx(values[0])
        assert alike[1] == pytest.approx(values[0])


def test_games_are_solved_in_another_order() -> None:
    done: set[int] = set()
    for level in levels(20):
        for place in level:
            after, _ = successors(SCORING, place, ONE)
            tied = scores(20)[place, 0] == 20
            assert set(after.tolist()) <= done | {OVER} | (set(level) if tied else set())
        done |= set(level)
    assert done == set(range(1604))


def test_win_chances_count_draws_wrongly() -> None:
    future = np.zeros(2 * SCORING.reach + 1)
    future[SCORING.reach + 1] = 0.3  # 50 points more
    future[SCORING.reach] = 0.5
    future[SCORING.reach - 2] = 0.2
    chances = win_chances(future)
    for present, expected in ((0, 0.3 + 0.25), (1, 0.8), (-1, 0.15), (2, 0.9), (3, 1.0)):
        assert chances[SCORING.reach - present] == pytest.approx(expected)


def test_distribution_beyond_its_ends_is_lost() -> None:
    following = np.zeros((1605, 2 * SCORING.reach + 1))
    following[:, 3] = following[:, -4] = 0.5
    place = places(20)[0, 0, 0, 0]
    for points in (-1250, 1250):
        found = future_of(SCORING, place, Outcomes.of([(3, 2, points, 1.0)], SCORING), following)
        assert found.sum() == 1.0
        assert found[0 if points < 0 else -1] == 0.5


def test_tie_without_end_is_solved() -> None:
    always = Outcomes.of([(4, 4, 0, 1.0)], SCORING)
    with pytest.raises(ValueError, match="come to an end"):
        solve_visits(SCORING, lambda row, place: always)


def test_rules_under_which_a_deal_may_bring_nothing_are_solved() -> None:
    with pytest.raises(ValueError, match="dealer_values must be 1 or more"):
        Scoring.of(Rules(dealer_values=(0, 1, 2, 4)))


# --- deals ----------------------------------------------------------------------------------------


def test_deals_are_not_those_of_the_environment() -> None:
    player = agents.make("heuristic")
    table = Table(Rules(), (player,), 7)
    place = places(20)[11, 6, 1, 0]
    found = play_deals(table, 1, place, range(3, 9))
    again = np.concatenate(
        [play_deals(table, 1, place, range(3, 5)), play_deals(table, 1, place, range(5, 9))]
    )
    assert (found == again).all()
    env = poke_v0.raw_env("deal")
    for row, number in enumerate(range(3, 9)):
        score = {"below": (6, 11), "games": (0, 1)}
        env.reset(seed=7, options={"skip": number, "dealer": 1, "score": score})
        while not any(env.terminations.values()):
            env.step(player.act(env.observe(env.agent_selection)))
        [deal] = env.score_sheet.deals
        points = deal.poker[1] + deal.sweep[1] - deal.poker[0] - deal.sweep[0]
        assert found[row].tolist() == [deal.below[1], deal.below[0], points]


def test_player_that_remembers_sits_in_both_seats() -> None:
    table = Table(Rules(), (Remembering("poke"),), 0)
    assert play_deals(table, 0, places(20)[0, 0, 0, 0], range(5)).shape == (5, 3)


def test_seat_plays_as_the_other() -> None:
    """Of two players the first sits in seat 0, whoever deals."""
    table = Table(Rules(), (agents.make("greedy"), agents.make("random")), 0)
    place = places(20)[0, 0, 0, 0]
    deals, against = (play_deals(table, row, place, range(400)) for row in (0, 1))
    assert deals[:, 2].mean() > 100
    assert against[:, 2].mean() < -50


def test_tally_counts_otherwise(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    tally = Tally(SCORING, 4)
    chunks = [
        rng.integers((0, 0, -25), (21, 21, 26), (50, 3)) * np.array([1, 1, 50]) for _ in range(8)
    ]
    for chunk in chunks:
        tally.add(chunk)
    tally.save(tmp_path / "tally.npz")
    again = Tally.load(tmp_path / "tally.npz", SCORING, 4)
    assert (again.chunks, again.deals) == (8, 400)
    for group, counted in [(None, chunks), (2, [chunks[2], chunks[6]])]:
        outcomes = again.outcomes(group)
        every = np.concatenate(counted)
        distinct, counts = np.unique(every, axis=0, return_counts=True)
        found = np.stack([outcomes.below_dealer, outcomes.below_other, 50 * outcomes.units], 1)
        order = np.lexsort(found.T[::-1])
        assert (found[order] == distinct).all()
        assert outcomes.probability[order] == pytest.approx(counts / len(every))
    (tmp_path / "tally.npz").write_bytes(b"half")
    with pytest.raises(ValueError, match=r"tally .* is damaged"):
        Tally.load(tmp_path / "tally.npz", SCORING, 4)


def test_who_looks_at_the_score_is_taken_for_blind() -> None:
    blind, other = agents.make("greedy"), agents.make("heuristic")
    assert blind_to_score((blind, blind))
    assert not blind_to_score((blind, other))
    assert not blind_to_score((object(),))


# --- the program ----------------------------------------------------------------------------------


def made(out: Path, *players: str, console: Console | None = None, **settings: Any) -> EquityTable:
    values = {"rules": "tiny", "deals": 4000, "workers": 2, "quick": True, **settings}
    return rubber.Rubber(players, out=out, **values).run(console or quiet())


def test_program_leaves_another_table(tmp_path: Path) -> None:
    table = made(tmp_path / "greedy.npz", "greedy")
    assert EquityTable.load(tmp_path / "greedy.npz") == table
    assert table.rules == equity.rules_key(PRESETS["tiny"])
    assert table.deals >= 4000
    assert table.policies[0]["name"] == "greedy"
    with (tmp_path / "greedy.csv").open() as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 4 * (8 * 8 + 1)
    line = lines[int(places(8)[3, 5, 0, 1])]
    assert (line["below_dealer"], line["below_other"], line["games_other"]) == ("3", "5", "1")
    assert float(line["expected"]) == pytest.approx(table.expected((3, 5), (0, 1), 0), abs=0.001)
    assert float(line["win"]) == pytest.approx(table.win_probability((3, 5), (0, 1), 0), abs=1e-4)
    about = json.loads((tmp_path / "greedy.json").read_text())
    assert about["digest"] == table.digest
    assert (tmp_path / "greedy.png").read_bytes().startswith(b"\x89PNG")
    env = poke_v0.env("deal", "equity", rules="tiny", equity_table=table)
    env.reset(seed=0)


def test_stopped_run_begins_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was counted stays, and the table is that of a run that nobody stopped."""
    whole = made(tmp_path / "whole.npz", "random", deals=100_000)
    played = []

    def tired(*given: Any) -> Any:
        played.append(given)
        if len(played) == 9:
            raise KeyboardInterrupt
        return play_deals(*given)

    monkeypatch.setattr(rubber, "play_deals", tired)
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path / "table.npz", "random", deals=100_000)
    assert not (tmp_path / "table.npz").exists()
    again: list[Any] = []

    def counted(*given: Any) -> Any:
        again.append(given)
        return play_deals(*given)

    monkeypatch.setattr(rubber, "play_deals", counted)
    table = made(tmp_path / "table.npz", "random", deals=100_000, workers=1)
    chunks = whole.deals // 8192
    assert 0 < len(again) < chunks
    assert (table.values == whole.values).all()
    with pytest.raises(ValueError, match="holds counts of other players"):
        made(tmp_path / "table.npz", "greedy")


def test_deals_at_every_score_give_another_table(tmp_path: Path) -> None:
    """For a blind player they come to the same, within the errors."""
    blind = made(tmp_path / "blind.npz", "blind_heuristic", deals=100_000)
    counts = made(tmp_path / "seeing.npz", "heuristic", deals=8000)
    assert counts.deals >= (4 * 2 * 2 + 4) * 8000
    difference = (counts.values - blind.values)[0]
    # In the smallest game the score changes little of what the heuristic does.
    assert np.abs(difference).mean() < 25
    assert counts.errors.max() < 60


def test_two_players_have_one_row(tmp_path: Path) -> None:
    table = made(tmp_path / "two.npz", "greedy", "random", deals=20_000)
    assert table.values.shape == (2, 260)
    fresh = places(8)[0, 0, 0, 0]
    first, second = table.values[:, fresh]
    assert first > 0 > second
    assert table.expected((0, 0), (0, 0), 1) == -second
    alike = made(tmp_path / "alike.npz", "greedy", "greedy", deals=20_000)
    assert alike.values[0] == pytest.approx(alike.values[1], abs=60)


@pytest.mark.parametrize("players", [("greedy",), ("greedy", "random")])
def test_rubbers_played_out_come_to_another_end(tmp_path: Path, players: Any) -> None:
    table = made(tmp_path / "table.npz", *players, deals=60_000)
    found = RubberCheck(tmp_path / "table.npz", rubbers=6000).run(quiet())
    for rubbers in found.values():
        assert len(rubbers.margin) == 3000
        assert np.abs(rubbers.paid - (rubbers.margin - rubbers.expected)).max() < 1e-6
        for what, error in (("E", table.errors.max()), ("W", table.win_errors.max())):
            mean, own = rubbers.deviation(what)
            assert abs(mean) <= 3 * np.hypot(own, error)


@pytest.mark.slow
def test_rubbers_played_out_differ_from_the_table_of_the_environment() -> None:
    table = EquityTable.load()
    players = tuple(agents.load(policy["name"]) for policy in table.policies)
    for starts in (None, table.start_scores(4096, 5)):
        parts = [
            play_rubbers(table, players, range(at, at + 4096), 77, starts)
            for at in range(0, 24_576, 4096)
        ]
        for what in ("E", "W"):
            means, errors = zip(*(part.deviation(what) for part in parts), strict=True)
            error = np.sqrt(np.square(errors).sum()) / len(parts)
            assert abs(np.mean(means)) <= 2.5 * error
        for part in parts:
            assert np.abs(part.paid - (part.margin - part.expected)).max() < 1e-6


def test_drift_is_not_shown(tmp_path: Path) -> None:
    table = made(tmp_path / "old.npz", "greedy")
    moved = replace(table, values=table.values + 3.0, version="new")
    moved.save(tmp_path / "new.npz")
    console = Console(file=io.StringIO(), width=120)
    found = rubber_files.drift(table, moved, console)
    assert [found["mean"], found["largest"]] == pytest.approx([3.0, 3.0])
    assert found["mean_win"] == 0.0
    assert "Drift from old to new" in console.file.getvalue()
    assert rubber_files.differences(table, moved) == found
    with pytest.raises(ValueError, match="for the same rules"):
        rubber_files.drift(table, EquityTable.load(), console)


def test_new_version_does_not_become_the_environments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = EquityTable.load()
    before.save(tmp_path / "poke_equity_v3.npz")
    monkeypatch.setattr(equity, "DATA", tmp_path)
    better = replace(before, values=before.values + 1.0, version="mine")
    console = Console(file=io.StringIO(), width=120)
    path = rubber_files.install(better, console)
    assert path == tmp_path / "poke_equity_v4.npz"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]
    assert EquityTable.load(path).version == "poke_equity_v4"
    assert "Drift" in console.file.getvalue()
    equity._shipped.cache_clear()
    try:
        assert EquityTable.load().version == "poke_equity_v4"
    finally:
        equity._shipped.cache_clear()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["nobody"], "agent must be a name"),
        (["greedy", "random", "greedy"], "agents must be one or two players"),
        (["greedy", "--deals", "0"], "deals must be None or an integer from 1"),
        (["greedy", "--out", "table.json"], "out must end in .npz"),
        (["greedy", "--error", "0"], "error must be a finite number above 0"),
        (["greedy", "--rules", "large"], "rules must be one of"),
        (["greedy", "--rules", "tiny", "--install"], "rules must be 'standard' for install"),
        (["greedy", "--may-throw", "--install"], "may_throw and quick no"),
    ],
)
def test_wrong_arguments_are_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any, arguments: Any, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        lab.main(["rubber", *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_command_line_makes_another_table(tmp_path: Path, capsys: Any) -> None:
    out = tmp_path / "table.npz"
    arguments = ["--rules", "tiny", "--deals", "4000", "--quick", "--out", str(out)]
    lab.main(["rubber", "greedy", *arguments])
    assert "quick: a rough table" in capsys.readouterr().out
    lab.main(["rubber-check", str(out), "--rubbers", "40"])
    lab.main(["rubber-drift", str(out), str(out)])
    assert "Drift from table to table" in capsys.readouterr().out
