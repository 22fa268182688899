"""Tables of more than two, on a made-up game: rotation, margins, forfeits, ratings, going on."""

from __future__ import annotations

import io
import json
import sqlite3
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from lots import LOTS
from rich.console import Console

from players import Adaptive, Faulty, FaultyBatch, Highest, Lowest, OneByOne, _raise, raising, same
from poke_env import games, records
from poke_env.agent import RandomAgent
from poke_env.settings import Settings
from training import report, sequential, skill, tournament
from training.duplicate import FORFEIT_POINTS, Conditions, meet, play, play_orders
from training.meeting import Duel, Meeting, Shared, join
from training.store import Store
from training.tournament import Tournament, prepare, run_tournament

FIELD = {
    "faulty": FaultyBatch(_raise),
    "highest": Highest(),
    "lowest": Lowest(),
    "own": OneByOne(),
    "random": RandomAgent(),
}


def conditions(**options: Any) -> Conditions:
    return Conditions.checked(**{"game": LOTS, "seed": 3, **options})


def numbers(result: Tournament) -> dict[str, Any]:
    """The results but for time, and for the order in which players were named."""
    document = result.as_dict()
    del document["timing"], document["configuration"]["agents"]
    return document


@pytest.fixture(scope="module")
def field() -> Tournament:
    return run_tournament(FIELD, 12, seed=4, game=LOTS, players=3, match="game")


# --- sides ----------------------------------------------------------------------------------------


def test_every_seat_is_a_side_unless_the_game_says_otherwise():
    assert Settings(games.named("poke")).sides == ((0,), (1,))
    assert Settings(LOTS, players=5).sides == ((0,), (1,), (2,), (3,), (4,))
    assert Settings(LOTS, rules="partners").sides == ((0, 2), (1, 3))
    assert conditions(players=5).size == 5
    assert conditions(rules="partners").size == 2


def test_a_game_without_a_word_about_sides_has_one_for_every_seat():
    poke = games.named("poke")
    assert poke.sides(Settings(poke).template["state"][0]) == ((0,), (1,))


# --- rotation -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [3, 4, 6])
def test_every_player_is_on_every_side_over_the_same_decks(size):
    field = [Highest(), *[Lowest()] * (size - 1)]
    meeting = meet(field, 5, conditions(players=size, keep_records=True))
    assert len(meeting.records) == 5 * size
    played = np.array([*map(records.loads, meeting.records)], object).reshape(5, size)
    for order, legs in enumerate(played):
        assert len({record.deals[0].deck for record in legs}) == 1
        assert {record.dealer for record in legs} == {meeting.dealers[order]}
        for leg, record in enumerate(legs):
            assert record.info == {"seed": 3, "order": order, "leg": leg}
            high = (record.dealer + 1 + record.deals[0].actions.index(1)) % size
            assert high == leg, "in leg r player 0 sits on side r"
            seats = (np.arange(size) + leg) % size
            assert meeting.points[order, leg].tolist() == np.array(record.points)[seats].tolist()
    assert len({legs[0].deals[0].deck for legs in played}) == 5


def test_a_pair_of_partners_is_a_player():
    meeting = meet([Highest(), Lowest()], 6, conditions(rules="partners", keep_records=True))
    assert meeting.size == 2
    for number, text in enumerate(meeting.records):
        record = records.loads(text)
        order, leg = divmod(number, 2)
        seats = (record.dealer + 1 + np.arange(4)) % 4
        for seat, action in zip(seats, record.deals[0].actions, strict=True):
            assert action == (seat % 2 == leg)
        assert meeting.points[order, leg].tolist() == [record.points[leg], record.points[1 - leg]]
        assert meeting.dealers[order] == record.dealer % 2
    assert meeting.decisions.tolist() == [[[2, 2], [2, 2]]] * 6


def test_partners_know_nothing_of_each_other():
    player = Adaptive()
    four = meet([player, Lowest()], 8, conditions(rules="partners", match="game"))
    again = meet([player, Lowest()], 8, conditions(rules="partners", match="game"))
    assert same(four, again)
    assert player.seen == 0.0


@pytest.mark.parametrize("players", [3, 4, 6])
@pytest.mark.parametrize(
    "player", [Lowest(), RandomAgent(), OneByOne(), Adaptive(), Faulty(raising)]
)
def test_copies_at_one_table_do_the_same_on_every_side(player, players):
    table = conditions(players=players, match="game", keep_records=True)
    meeting = meet([player] * players, 7, table)
    by_side = [meeting.points[:, meeting.legs(place), place] for place in range(players)]
    assert meeting.points.any()
    assert all(np.array_equal(one, by_side[0]) for one in by_side)
    played = [records.loads(text) for text in meeting.records]
    for record, first in zip(played, np.repeat(played[::players], players), strict=True):
        assert (record.deals, record.ending) == (first.deals, first.ending)
    for first, second in permutations(range(players), 2):
        duel = Duel((Shared(meeting, first, second),))
        assert (duel.margins == 0.0).all(), "exactly"
        assert duel.wins == duel.losses
    assert len({meeting.matches(place) for place in range(players)}) == 1


@pytest.mark.parametrize("at_once", [1, 3, 4096])
def test_the_number_of_matches_at_once_changes_nothing(at_once):
    table = conditions(players=4, match="game", keep_records=True)
    players = [FIELD[name] for name in ("faulty", "own", "random", "lowest")]
    assert same(meet(players, 9, table, at_once=at_once), meet(players, 9, table))


def test_deck_orders_of_the_middle_are_those_of_the_whole():
    table = conditions(players=3, match="game", keep_records=True)
    players = [FIELD[name] for name in ("faulty", "own", "random")]
    parts = [play_orders(players, orders, table) for orders in (range(4), range(4, 9))]
    whole = meet(players, 9, table)
    assert whole.forfeits
    assert same(join(parts), whole)


def test_as_many_players_as_sides_are_needed():
    with pytest.raises(ValueError, match="players must be 3, one for each side, got 2"):
        meet([Lowest(), Lowest()], 2, conditions(players=3))


# --- what is counted ------------------------------------------------------------------------------


def test_places_are_those_of_the_score_and_then_of_the_points():
    meeting = meet([RandomAgent()] * 4, 30, conditions(players=4, keep_records=True))
    several = 0
    for number, text in enumerate(meeting.records):
        record = records.loads(text)
        order, leg = divmod(number, 4)
        won = record.deals[-1].score["won"]
        worth = [(own == max(won), 0.0 if own == max(won) else points)
                 for own, points in zip(won, record.points, strict=True)]  # fmt: skip
        places = [sum(other > own for other in worth) for own in worth]
        seats = (np.arange(4) + leg) % 4
        assert meeting.places[order, leg].tolist() == np.array(places)[seats].tolist()
        several += len(set(places)) > 2
    assert several
    matches = [meeting.matches(player) for player in range(4)]
    assert sum(match.wins for match in matches) == 120
    assert {sum(match) for match in matches} == {120}


def test_a_match_that_is_cut_has_no_winner():
    meeting = meet([Lowest()] * 3, 5, conditions(players=3, match="game", max_deals=1))
    assert not meeting.places.any()
    assert meeting.matches(0) == (0, 15, 0)


def test_standings_lose_no_deals_and_hold_margins():
    table = conditions(players=3, match="game", keep_records=True)
    meeting = meet([Highest(), RandomAgent(), Lowest()], 6, table)
    deals = [len(records.loads(text).deals) for text in meeting.records]
    total = np.array(deals).reshape(6, 3).sum(axis=1)
    assert (meeting.standing_deals.sum(axis=2) == total[:, np.newaxis]).all()
    margins = meeting.points - meeting.points.mean(axis=2, keepdims=True)
    assert np.allclose(meeting.standing_points.sum(axis=2), margins.sum(axis=1))
    assert meeting.standing_deals[:, :, 1].min() >= 3, "all begin level"


def test_a_margin_is_what_one_has_beyond_the_mean_of_its_table(field):
    ranking = dict(field.ranking())
    for label, margin in ranking.items():
        own = []
        for labels, meeting in field.meetings.items():
            if label in labels:
                points = meeting.points[:, :, labels.index(label)]
                own.append((points - meeting.points.mean(axis=2)).mean(axis=1))
        assert len(own) == 6
        assert np.allclose(field.margins(label), np.mean(own, axis=0))
        assert margin.count == 12
    assert sum(margin.mean for margin in ranking.values()) == pytest.approx(0.0, abs=1e-9)
    assert ranking["highest"].mean > ranking["lowest"].mean


def test_duels_are_antisymmetric_and_average_all_shared_tables(field):
    assert len(field.meetings) == 10
    for one, other in permutations(FIELD, 2):
        duel, turned = field.duel(one, other), field.duel(other, one)
        assert len(duel.tables) == 3
        assert np.array_equal(duel.margins, -turned.margins)
        assert (duel.wins, duel.draws) == (turned.losses, turned.draws)
        assert duel.wins + duel.draws + duel.losses == 3 * 3 * 12
        won = [
            sum(table.meeting.matches(table.both[which]).wins for table in duel.tables)
            for which in range(2)
        ]
        assert duel.wins - duel.losses == won[0] - won[1]
        expected = np.mean(
            [
                (meeting.points[:, :, first] - meeting.points[:, :, second]).mean(axis=1)
                for meeting, first, second in duel.tables
            ],
            axis=0,
        )
        assert np.allclose(duel.margins, 2 / 3 * expected)
        assert np.allclose(duel.margins, duel.points.mean(axis=1))
        dealt = duel.points[np.arange(12), duel.dealers]
        assert duel.as_dealer().mean == pytest.approx(dealt.mean())
        both = (duel.as_dealer().mean + 2 * duel.as_non_dealer().mean) / 3
        assert both == pytest.approx(duel.mean)


def test_two_players_at_a_larger_table_are_one_and_copies_of_the_other():
    duel = play(Highest(), Lowest(), 8, 3, game=LOTS, players=4)
    meeting = meet([Highest(), Lowest(), Lowest(), Lowest()], 8, conditions(players=4))
    margins = (meeting.points[:, :, 0] - meeting.points.mean(axis=2)).mean(axis=1)
    assert np.allclose(duel.margins, margins)
    assert np.array_equal(duel.decisions.sum(axis=1), meeting.decisions.sum(axis=(1, 2)))
    faulty = play(FaultyBatch(_raise), Lowest(), 8, 3, game=LOTS, players=4)
    assert faulty.forfeits, "and each of them is counted once"
    assert len({(fault.order, fault.leg) for fault in faulty.forfeits}) == len(faulty.forfeits)
    copies = play(Lowest(), Lowest(), 8, 3, game=LOTS, players=4)
    assert (copies.margins == 0.0).all()


# --- faults ---------------------------------------------------------------------------------------


def test_a_forfeit_is_shared_by_the_others():
    meeting = meet([Faulty(raising), Lowest(), Highest()], 20, conditions(match="game"))
    clean = meet([OneByOne(), Lowest(), Highest()], 20, conditions(match="game"))
    assert 0 < len(meeting.forfeits) < 60
    lost = np.zeros((20, 3), np.bool_)
    apart = 0
    for forfeit in meeting.forfeits:
        assert (forfeit.player, forfeit.turn) == (0, 3)
        lost[forfeit.order, forfeit.leg] = True
        points = meeting.points[forfeit.order, forfeit.leg]
        assert points[0] == -FORFEIT_POINTS
        assert points[1:].mean() == pytest.approx(FORFEIT_POINTS / 2)
        apart += points[1] != points[2]
        assert meeting.places[forfeit.order, forfeit.leg].tolist() == [2, 0, 0]
    assert apart, "who was ahead of the other stays so"
    for name in ("points", "places", "decisions"):
        assert np.array_equal(getattr(meeting, name)[~lost], getattr(clean, name)[~lost])
    assert meeting.forfeited(0) == len(meeting.forfeits)
    assert meeting.forfeited(1) == 0


def test_one_partners_fault_is_that_of_the_pair():
    meeting = meet([RandomAgent(), Faulty(raising)], 12, conditions(rules="partners", match="game"))
    assert {forfeit.player for forfeit in meeting.forfeits} == {1}
    for forfeit in meeting.forfeits:
        assert meeting.points[forfeit.order, forfeit.leg].tolist() == [1000.0, -1000.0]


def test_forfeits_are_listed_with_everybody_at_the_table(field):
    lines = field.as_dict()["forfeits"]
    assert lines
    for line in lines:
        assert line["player"] == "faulty"
        assert line["opponent"] is None
        assert len(line["opponents"]) == 2
    for page in (report.html(field.as_dict()), printed(field.as_dict())):
        assert "RuntimeError: unlucky" in page


# --- the round robin ------------------------------------------------------------------------------


def test_results_do_not_depend_on_the_order_of_names(field):
    backwards = dict(reversed(FIELD.items()))
    again = run_tournament(backwards, 12, seed=4, game=LOTS, players=3, match="game")
    assert numbers(again) == numbers(field)


def test_more_deals_and_another_player_play_only_what_is_missing(field):
    store = Store()
    options = {"seed": 4, "game": LOTS, "players": 3, "match": "game"}
    few = {name: FIELD[name] for name in ("faulty", "lowest", "own")}
    prepare(few, 5, **options).play(store=store)
    more = {name: FIELD[name] for name in ("faulty", "lowest", "own", "random")}
    prepare(more, 9, **options).play(store=store)
    result = prepare(FIELD, 12, **options).play(store=store)
    assert numbers(result) == numbers(field)
    [[played]] = store._base.execute("SELECT sum(orders) FROM work").fetchall()
    assert played == 10 * 12
    for labels, meeting in field.meetings.items():
        assert same(store.meeting(labels, 12, 3), meeting)
        assert same(result.meetings[labels], meeting)


def test_workers_play_the_same(field):
    two = run_tournament(FIELD, 12, seed=4, game=LOTS, players=3, match="game", workers=2)
    assert two.workers == 2
    assert numbers(two) == numbers(field)
    for labels, meeting in field.meetings.items():
        assert same(two.meetings[labels], meeting)


def test_what_was_played_before_an_interruption_is_kept():
    class Interrupted(RandomAgent):
        calm = False

        def act(self, observation: Any, key: Any = None) -> int:
            if self.calm:
                return super().act(observation, key)
            raise KeyboardInterrupt

    four = {"a": Lowest(), "b": Highest(), "c": RandomAgent(), "d": Interrupted()}
    store = Store()
    plan = prepare(four, 3, game=LOTS, players=3)
    with pytest.raises(tournament.TournamentInterrupted) as stop:
        plan.play(store=store)
    assert stop.value.orders == 3
    partial = stop.value.partial
    assert list(partial.meetings) == [("a", "b", "c")]
    assert partial.as_dict()["ranking"] == []
    Interrupted.calm = True
    assert plan.play(store=store).complete


def test_records_of_a_table_are_kept_in_order(tmp_path):
    plan = prepare(FIELD, 2, game=LOTS, players=3, keep_records=True)
    store = Store()
    result = plan.play(store=store)
    path = tournament.save_records(plan, store, tmp_path)
    texts = [text for meeting in result.meetings.values() for text in meeting.records]
    assert not texts, "they stay in the store"
    with path.open() as file:
        assert len(list(records.load(file))) == 10 * 2 * 3


@pytest.mark.parametrize(
    "options, message",
    [
        ({"players": 4}, r"agents must be 4 players or more, as many as sit at a table, got a, b"),
        ({"players": 3}, r"agents must be 3 players or more"),
        ({"game": "poke", "players": 3}, "players must be"),
    ],
)
def test_too_few_players_are_refused(options, message):
    with pytest.raises(ValueError, match=message):
        prepare({"a": Lowest(), "b": Lowest()}, 2, **{"game": LOTS, **options})


def test_a_sequential_test_needs_a_table_of_two(capsys):
    plan = prepare({"a": Lowest(), "b": Lowest(), "c": Lowest()}, 5, game=LOTS, players=3)
    with pytest.raises(ValueError, match=r"needs a table of two, but at one of lots .* 3 play"):
        sequential.run(plan, sequential.Test(most=200))
    with pytest.raises(SystemExit):
        sequential.main(["random", "random", "--game", "lots"])
    assert "error: a sequential test needs a table of two" in capsys.readouterr().err
    two = prepare({"a": Highest(), "b": Lowest()}, 2000, game=LOTS, rules="partners")
    test = sequential.Test(0.0, 0.5, first=50, every=50, most=2000)
    assert sequential.run(two, test).verdict == sequential.BETTER


@pytest.mark.parametrize("game", ["pokex", "poque", "poangpoker", "lots"])
def test_luck_that_cannot_be_measured_is_promised(game, tmp_path, capsys):
    arguments = ["--game", game, "--luck-adjusted", "--out", str(tmp_path / "run")]
    for program, named in ((tournament.main, []), (sequential.main, ["random", "random"])):
        with pytest.raises(SystemExit) as stop:
            program([*named, *arguments])
        assert stop.value.code == 2
        said = capsys.readouterr().err
        assert "luck_adjusted must be False but in poke by its standard rules" in said
        assert f"not for {game} by standard rules" in said
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("match", ["the whole game", "deal"])
@pytest.mark.parametrize("game", games.every())
def test_every_game_is_played_by_tables_of_its_size(game, match):
    whole = games.named(game).matches[0]
    table = Conditions.checked(
        game, 5, match=match if match == "deal" else whole, max_deals=6, keep_records=True
    )
    kinds = [Highest(), RandomAgent(), Lowest(), OneByOne()]
    players = [kinds[place % 4] for place in range(table.size)]
    meeting = meet(players, 3, table)
    assert not meeting.forfeits
    assert meeting.points.any()
    played = [records.loads(text) for text in meeting.records]
    assert len(played) == 3 * table.size
    for number, record in enumerate(played):
        order, leg = divmod(number, table.size)
        assert table.settings.sides[meeting.dealers[order]].count(record.dealer) == 1
        assert len(record.actions) == meeting.decisions[order, leg].sum()
    copies = meet([RandomAgent()] * table.size, 3, table)
    for other in range(1, table.size):
        assert (Duel((Shared(copies, 0, other),)).margins == 0.0).all()


# --- ratings --------------------------------------------------------------------------------------


def test_ratings_by_places_follow_the_margins(field):
    document = field.as_dict()
    assert document["ratings"] is None
    rated = document["skill"]
    assert (rated["matches"], rated["of"]) == (360, 360)
    assert [line["player"] for line in rated["players"]] == sorted(FIELD)
    by_name = {line["player"]: line for line in rated["players"]}
    assert {line["matches"] for line in by_name.values()} == {6 * 3 * 12}
    assert by_name["highest"]["mu"] > by_name["random"]["mu"] > by_name["lowest"]["mu"]
    assert all(0.0 < line["sigma"] < skill.SIGMA / 2 for line in by_name.values())
    assert by_name["highest"]["ordinal"] == pytest.approx(
        by_name["highest"]["mu"] - 3 * by_name["highest"]["sigma"]
    )
    json.dumps(document, allow_nan=False)


def test_equal_places_move_equal_players_alike():
    places = np.array([[[0, 1, 1], [1, 1, 0], [1, 0, 1]]], np.int8)
    level = skill.rate(3, [(0, 1, 2)], [np.zeros((4, 3, 3), np.int8)])
    assert len({round(line.mu, 9) for line in level.players}) == 1
    won = skill.rate(3, [(0, 1, 2)], [places[:, :1]])
    assert won.players[0].mu > skill.MU > won.players[1].mu
    assert won.players[1].mu == pytest.approx(won.players[2].mu)


def test_ratings_take_deck_order_by_deck_order_and_stop_at_so_many(monkeypatch):
    first, second = np.zeros((2, 3, 3), np.int8), np.zeros((2, 3, 3), np.int8)
    first[1, :, 1:] = 1
    tables = [(0, 1, 2), (0, 1, 3)]
    monkeypatch.setattr(skill, "MOST_MATCHES", 6)
    found = skill.rate(4, tables, [first, second])
    assert (found.matches, found.of) == (6, 12)
    assert found.players == skill.rate(4, tables, [first[:1], second[:1]]).players


def printed(document: Any) -> str:
    console = Console(file=io.StringIO(), width=150)
    report.show(document, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_the_report_speaks_of_larger_tables(field):
    document = field.as_dict()
    page, text = report.html(document), printed(document)
    assert "Lots tournament" in page
    assert "10 meetings. Every 3 played the same" in " ".join(page.split())
    assert "12 deck orders 3 times with seats rotated: 36" in " ".join(page.split())
    assert "2/3 of the difference of their points" in " ".join(page.split())
    assert "below the line" not in page
    assert "Elo points" not in page
    for shown in (page, text):
        assert "mu: strength" in shown
        assert "360 of 360 matches" in shown
    assert report.heat_map(document).startswith(b"\x89PNG")
    named = run_tournament(["random"] * 3, 2, game=LOTS).as_dict()
    assert report.command(named) == (
        "python -m training.tournament random random random --game lots --players 3 --deals 2 "
        "--seed 0 --match deal --rules standard --out DIR"
    )
    assert [line["rank"] for line in named["ranking"]] == [1, 1, 1]


def test_the_program_plays_them(tmp_path, capsys):
    arguments = ["random"] * 4 + ["--game", "lots", "--players", "3", "--deals", "4"]
    tournament.main([*arguments, "--out", str(tmp_path / "run")])
    said = capsys.readouterr().out
    assert "4 players, 4 meetings over 4 deck orders" in said
    assert "each played 3 times with seats rotated: 48 matches" in said
    document = json.loads((tmp_path / "run" / "results.json").read_text())
    assert document["configuration"]["sides"] == [[0], [1], [2]]
    assert document["configuration"]["below_value"] is None
    with pytest.raises(SystemExit) as stop:
        tournament.main([*arguments[:2], *arguments[4:], "--out", str(tmp_path / "few")])
    assert stop.value.code == 2
    assert "agents must be 3 players or more" in capsys.readouterr().err


# --- files ----------------------------------------------------------------------------------------


def test_results_of_an_older_schema_are_refused_in_a_sentence(tmp_path):
    path = tmp_path / "results.sqlite"
    base = sqlite3.connect(path)
    base.executescript(
        "CREATE TABLE configuration (name TEXT, value TEXT); CREATE TABLE pairs (pair INTEGER);"
        "PRAGMA user_version = 2;"
    )
    base.close()
    with pytest.raises(ValueError, match=r"are of schema 2, written by another version .* --over"):
        Store(path)


def test_meetings_of_other_orders_of_players_are_told_apart():
    store = Store()
    meeting: Meeting = meet([Lowest(), Highest(), Lowest()], 2, conditions())
    store.add(("a", "b", "c"), range(2), meeting, 1.0)
    assert store.missing(("a", "b", "c"), 2) == []
    assert store.missing(("b", "a", "c"), 2) == [range(2)]
    assert store.missing(("a", "b"), 2) == [range(2)]
