"""What is read off the equity table and the stored draw phase, against small computations.

The solution is an invented one with games to eight points, consistent in itself: a few outcomes at
each score, and the equity table that follows from them.
"""

from __future__ import annotations

import io
import json
import struct
from dataclasses import replace
from math import comb

import numpy as np
import pytest

pytest.importorskip("tyro")

from matplotlib.figure import Figure
from rich.console import Console

from poke_env.equity import LEVELS, EquityTable, places, rules_key, scores
from poke_env.games.poke import Rules
from training.lab import __main__ as lab
from training.lab import atlas, bonuses, doubles, prices, results, score_maps, stored, thresholds
from training.lab.equity_report import equity_rows
from training.lab.induction import Scoring, solve_futures, solve_values, solve_visits
from training.lab.played import Played
from training.lab.solve_rubber import DECISIONS, KINDS, OUTCOMES, Solution, Work
from training.lab.stored import Worth

TARGET = 8
RULES = Rules(target=TARGET)
SCORING = Scoring.of(RULES)
COUNT = len(scores(TARGET))


def place(*score):
    return int(places(TARGET)[score])


def blank():
    """A table of nothing, from which `Worth` takes the outcomes."""
    return EquityTable(
        rules=rules_key(RULES),
        values=np.zeros((1, COUNT)),
        errors=np.zeros((1, COUNT), np.float32),
        win_errors=np.zeros((1, COUNT), np.float32),
        visits=np.zeros((1, COUNT), np.float32),
        futures=np.zeros((1, COUNT, 2 * SCORING.reach + 1), np.uint16),
        unit=SCORING.unit,
        version="invented",
        policies=({"name": "equilibrium", "identity": "perfect tricks, invented"},),
        deals=0,
        seed=0,
    )


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The invented solution as the files of solve-rubber."""
    rng = np.random.default_rng(5)
    probabilities = np.zeros((COUNT, *OUTCOMES), np.float16)
    for chances in probabilities.reshape(COUNT, -1):
        chances[rng.choice(chances.size, 12, replace=False)] = rng.dirichlet(np.ones(12))
    worth = Worth(blank())

    def outcomes(row, where):
        chances = probabilities[where].astype(float)
        return worth.outcomes(chances / chances.sum())

    futures = np.cumsum(solve_futures(SCORING, outcomes), axis=2)
    table = replace(
        blank(),
        values=solve_values(SCORING, outcomes),
        visits=solve_visits(SCORING, outcomes).astype(np.float32),
        futures=np.rint(LEVELS * futures.clip(0, 1)).astype(np.uint16),
    )
    folder = tmp_path_factory.mktemp("solution")
    table.save(folder / "rubber.npz")
    np.savez(
        folder / "rubber.draws.npz",
        probabilities=probabilities,
        shares=rng.integers(0, 256, (COUNT, len(DECISIONS), KINDS), np.uint8),
        gaps=rng.random(COUNT),
        decisions=np.array(DECISIONS),
        identity=np.array("perfect tricks, invented"),
    )
    return folder


@pytest.fixture(scope="module")
def solution(files):
    return stored.load(files / "rubber.npz", files / "rubber.draws.npz")


@pytest.fixture(scope="module")
def worth(solution):
    return Worth(solution.table)


def changed(files, folder, **arrays):
    """A copy of the draw phase's file with other contents."""
    with np.load(files / "rubber.draws.npz") as before:
        np.savez(folder / "other.npz", **{**before, **arrays})
    return folder / "other.npz"


# --- the stored solution --------------------------------------------------------------------------


def test_what_a_score_is_worth_is_the_mean_over_its_outcomes(solution, worth):
    for where in range(COUNT):
        chances = solution.chances(where).ravel()
        assert chances.sum() == pytest.approx(1)
        mean = chances @ worth.expected(where, worth.every)
        assert mean == pytest.approx(-solution.table.values[0, where], abs=1e-6)
        score = worth.listed[where]
        for margin in (-300, 0, 250):
            mean = chances @ worth.win(where, worth.every, margin)
            dealers = solution.table.win_probability(score[:2], score[2:], 0, -margin)
            assert mean == pytest.approx(1 - dealers, abs=3 / LEVELS)


def test_payoffs_stand_in_the_places_of_the_outcomes(worth):
    """Four cards of value two for the dealer, one of value four for the other, and his pair."""
    payoffs = worth.payoffs(place(0, 0, 0, 0))
    lost = worth.table.values[0, place(0, 0, 0, 1)]  # 4–8: the game is the dealer's
    assert payoffs[1, 3, 1, 10] == pytest.approx(50 - 100 + lost)


def test_missing_solution_names_the_command_that_makes_it(files, tmp_path):
    with pytest.raises(OSError, match="lab solve-rubber"):
        stored.load(files / "rubber.npz", tmp_path / "none.npz")


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({"identity": np.array("perfect tricks, other")}, "of one solution"),
        ({"gaps": np.zeros(3)}, "gaps must be"),
        ({"decisions": np.array(["to be"])}, "to be"),
    ],
)
def test_files_that_do_not_fit_are_refused(files, tmp_path, arrays, message):
    with pytest.raises(ValueError, match=message):
        stored.load(files / "rubber.npz", changed(files, tmp_path, **arrays))


def test_single_array_is_no_solution(files, tmp_path):
    path = tmp_path / "array.npz"
    with path.open("wb") as file:
        np.save(file, np.zeros(3))
    with pytest.raises(ValueError, match="draws must be a file of solve-rubber"):
        stored.load(files / "rubber.npz", path)


def test_rough_solution_serves_scores_as_it_was_solved(files, tmp_path, solution):
    in_squares = Solution(RULES, Work.begin(COUNT), step=3)
    serving = np.array([in_squares.serving(where) for where in range(COUNT)])
    gaps = np.where(serving == np.arange(COUNT), solution.gaps, np.nan)
    rough = stored.load(files / "rubber.npz", changed(files, tmp_path, gaps=gaps))
    assert len(np.unique(serving)) < COUNT / 2
    assert (rough.gaps == gaps[serving]).all()
    assert (rough.shares == solution.shares[serving]).all()


def test_solution_remembers_the_tricks_that_it_is_for(files, tmp_path, solution):
    assert solution.played is None
    played = Played("some", np.arange(3 * 4 * 6 * 6).reshape(3, 4, 6, 6))
    found = stored.load(files / "rubber.npz", changed(files, tmp_path, **played.arrays())).played
    assert found is not None
    assert found.player == "some"
    assert solution.tricks == "perfect tricks"
    assert solution._replace(played=found).tricks == "tricks of some"
    assert (found.counts == played.counts).all()


@pytest.mark.parametrize(
    "counts", [np.zeros(3, np.int64), np.zeros((3, 4, 6, 6)), np.full((3, 4, 6, 6), -1)]
)
def test_counts_that_are_none_are_refused(files, tmp_path, counts):
    wrong = Played("some", counts)
    with pytest.raises(ValueError, match="counts must be whole numbers of at least 0"):
        stored.load(files / "rubber.npz", changed(files, tmp_path, **wrong.arrays()))
    wrong.save(tmp_path / "played.npz")
    with pytest.raises(ValueError, match="played must be a file of count-played"):
        Played.load(tmp_path / "played.npz")


def test_a_file_of_one_array_has_no_counts(tmp_path):
    np.save(tmp_path / "played.npy", np.zeros(3))
    with pytest.raises(ValueError, match="played must be a file of count-played"):
        Played.load(tmp_path / "played.npy")


@pytest.mark.parametrize("score", [(8, 3, 0, 0), (0, 0, 2, 0), (-1, 0, 0, 0)])
def test_scores_at_which_no_deal_begins_are_refused(score):
    with pytest.raises(ValueError, match="scores must be"):
        score_maps.place_of(score, TARGET)
    assert score_maps.places_of([(8, 8, 1, 0)], TARGET) == [place(8, 8, 1, 0)]
    with pytest.raises(ValueError, match="one or more"):
        score_maps.places_of([], TARGET)


# --- equity and prices ----------------------------------------------------------------------------


def test_equity_rows_are_the_table(solution):
    where = [place(3, 5, 1, 0), place(8, 8, 0, 0)]
    rows = equity_rows(solution.table, where, (-250, 0))
    assert [row["games_dealer"] for row in rows] == [1, 0]
    assert rows[0]["expected"] == solution.table.expected((3, 5), (1, 0), 0)
    assert rows[0]["win_at_-250"] == solution.table.win_probability((3, 5), (1, 0), 0, -250)


def test_price_of_a_point_is_what_the_score_with_it_is_worth_more(solution):
    table = solution.table
    found = prices.point_prices(table)

    def value(*score):
        return table.values[0, place(*score)]

    at = place(3, 5, 1, 0)
    assert found["dealer_point"][at] == pytest.approx(value(4, 5, 1, 0) - value(3, 5, 1, 0))
    assert found["other_point"][at] == pytest.approx(value(3, 5, 1, 0) - value(3, 6, 1, 0))
    win = [table.win_probability(below, (1, 0), 0) for below in ((4, 5), (3, 5), (3, 6))]
    assert found["dealer_point_win"][at] == pytest.approx(win[0] - win[1])
    assert found["other_point_win"][at] == pytest.approx(win[1] - win[2])
    # The last point of a game, of the rubber, and of a tie.
    for score, after, bonus in (
        ((7, 5, 0, 1), (0, 0, 1, 1), 100),
        ((7, 5, 1, 0), None, 100 + 750),
        ((8, 8, 1, 1), None, 100 + 500),
    ):
        then = value(*after) if after else 0.0
        price = bonus + then - value(*score)
        assert found["dealer_point"][place(*score)] == pytest.approx(price)


def test_price_of_several_points_is_the_mean_of_theirs(solution):
    single = prices.point_prices(solution.table)["other_point"]
    four = prices.point_prices(solution.table, 4)["other_point"]
    path = [single[place(2, other, 0, 1)] for other in (1, 2, 3, 4)]
    assert four[place(2, 1, 0, 1)] == pytest.approx(np.mean(path))
    with pytest.raises(ValueError, match="points"):
        prices.point_prices(solution.table, 0)


# --- doubles --------------------------------------------------------------------------------------


def test_price_of_a_double_with_the_cards_known(solution, worth):
    """One card of the opponent, from 1 to 2 points and from 2 to 4, in cells of the table."""
    begin = place(0, 0, 0, 0)
    exact = {
        key: doubles.double_price(worth, solution.chances(begin), begin, *key).by_cards
        for key in doubles.DOUBLES
    }
    for by_cards in exact.values():
        assert by_cards.shape == (3, 6)
        assert (by_cards[:, 0] == 0).all()

    def next_dealer(own, other):
        return worth.table.expected((own, other), (0, 0), 0)

    # The non-dealer takes four cards at 1, deals next, and the dealer's card is his price.
    price = next_dealer(4, 1) - next_dealer(4, 2)
    assert exact["non-dealer", "first"][0, 1] == pytest.approx(price)
    price = next_dealer(4, 2) - next_dealer(4, 4)
    assert exact["non-dealer", "second"][0, 1] == pytest.approx(price)
    price = next_dealer(2, 4) - next_dealer(1, 4)
    assert exact["dealer", "first"][0, 1] == pytest.approx(price)
    price = next_dealer(4, 4) - next_dealer(2, 4)
    assert exact["dealer", "second"][0, 1] == pytest.approx(price)


@pytest.mark.parametrize("key", doubles.DOUBLES)
def test_mean_prices_go_by_the_outcomes(solution, worth, key):
    """Added up outcome by outcome."""
    where = place(3, 5, 0, 1)
    chances = solution.chances(where)
    payoffs = worth.payoffs(where)
    seat, double = key
    axis = 0 if seat == "non-dealer" else 1
    sign = 1 if seat == "non-dealer" else -1
    before = {"first": 0, "second": 1}[double] + axis
    every = paid = often = 0.0
    for index in np.argwhere(chances > 0).tolist():
        low, high = list(index), list(index)
        low[axis], high[axis] = before, before + 1
        price = sign * (payoffs[tuple(low)] - payoffs[tuple(high)])
        chance = chances[tuple(index)]
        every += chance * price
        if index[axis] > before:
            paid += chance * price
            often += chance
    found = doubles.double_price(worth, chances, where, seat, double)
    assert found.price == pytest.approx(every)
    assert found.often == pytest.approx(often)
    if often:
        assert found.price_made == pytest.approx(paid / often)


def test_double_that_is_never_made_has_no_price_paid(worth):
    chances = np.zeros(OUTCOMES)
    chances[0, 1, 2, 9] = 1.0
    for seat, double in doubles.DOUBLES:
        found = doubles.double_price(worth, chances, place(0, 0, 0, 0), seat, double)
        assert (found.often, found.price_made) == (0.0, None)


def test_dead_doubles_are_those_below_the_limit(solution):
    rows = doubles.double_rows(solution, dead=20.0)
    assert len(rows) == COUNT * len(doubles.DOUBLES)
    assert {row["dead"] for row in rows} == {True, False}
    assert all(row["dead"] == (row["price"] < 20) for row in rows)


# --- thresholds -----------------------------------------------------------------------------------


def test_kinds_are_all_hands_in_their_order():
    known = thresholds.every_kind()
    assert known.share.sum() == pytest.approx(1)
    share = dict(zip(known.names, known.share * comb(52, 5), strict=True))
    assert share["a pair of twos"] == pytest.approx(1_098_240 / 13)
    assert share["a straight to the five"] == pytest.approx(4**5 - 4)
    assert share["a royal flush"] == pytest.approx(4)
    assert known.names[0] == "seven high"
    assert known.names[-1] == "a royal flush"


def test_rule_says_what_hands_do():
    known = thresholds.every_kind()
    names = known.names
    drawing = np.zeros(len(names))
    drawing[: names.index("a pair of nines") + 1] = 1.0
    rule = thresholds.rule_of(drawing)
    assert rule.text == "draws with any high card, pair (two to nine)"
    assert rule.agreement == pytest.approx(1)
    drawing[:] = 0.0
    assert thresholds.rule_of(drawing).text == "never draws"
    drawing[names.index("two pair, kings up") : names.index("two pair, aces up") + 1] = 0.9
    rule = thresholds.rule_of(drawing)
    assert rule.text == "draws with two pair (king to ace)"
    assert rule.agreement == pytest.approx(1 - 0.1 * known.share[drawing > 0].sum())


def test_rule_agrees_with_more_hands_than_any_other_run(solution):
    known = thresholds.every_kind()
    shares = thresholds.decision_shares(solution, place(1, 2, 0, 0))[0]
    rule = thresholds.rule_of(shares)
    assert rule.agreement <= known.share @ np.maximum(shares, 1 - shares) + 1e-12
    pairs = np.flatnonzero(known.number // 13 == 1)
    for low, high in [(0, n) for n in range(14)] + [(n, 13) for n in range(13)]:
        other = rule.draws.copy()
        other[pairs] = False
        other[pairs[low:high]] = True
        agrees = known.share @ np.where(other, shares, 1 - shares)
        assert agrees <= rule.agreement + 1e-12


def test_threshold_rows_hold_the_stored_shares(solution):
    where = place(1, 2, 0, 0)
    rows = thresholds.threshold_rows(solution, [where])
    assert [row["decision"] for row in rows] == list(DECISIONS)
    kind = 13 + 7
    name = thresholds.every_kind().names.index("a pair of nines")
    share = thresholds.decision_shares(solution, where)[4][name]
    assert share == pytest.approx(solution.shares[where][4][kind] / 255)
    by_kind = thresholds.kind_rows(solution, [where])
    drawing = [row["dealt"] * row["drawing"] for row in by_kind if row["decision"] == DECISIONS[4]]
    assert rows[4]["drawing"] == pytest.approx(sum(drawing))
    pairs = [
        (row["dealt"], row["drawing"])
        for row in by_kind
        if row["decision"] == DECISIONS[4] and row["kind"].startswith("a pair")
    ]
    dealt, drawn = np.array(pairs).T
    assert rows[4]["drawing_pair"] == pytest.approx(np.average(drawn, weights=dealt))


def test_decisions_are_reached_as_often_as_draws_before_them_are_made(solution):
    chances = solution.chances(place(3, 1, 1, 0))
    own, other, _, _ = np.indices(chances.shape)
    often = dict(zip(DECISIONS, thresholds.reached(chances), strict=True))
    assert often["non-dealer doubles"] == 1
    assert often["non-dealer redoubles"] == pytest.approx(chances[own >= 1].sum())
    for seen, name in enumerate(("no draw", "one draw", "two draws")):
        for made, what in enumerate(("draws free", "doubles", "redoubles")):
            there = chances[(own == seen) & (other >= made)].sum()
            assert often[f"dealer {what} after {name}"] == pytest.approx(there)


def test_chart_says_what_each_kind_does(solution):
    """Pairs of nines draw always, of tens never, of jacks in half of the hands."""
    shares = np.zeros_like(solution.shares)
    shares[..., 13 + 7], shares[..., 13 + 9] = 255, 128
    known = solution._replace(shares=shares)
    places_shown = [place(0, 0, 0, 0), place(4, 4, 0, 1)]
    by_score = thresholds.plot_kinds(known, places_shown)
    by_decision = thresholds.plot_scores(known, places_shown, DECISIONS[:3])
    for figure, panels, lines in ((by_score, 2, len(DECISIONS)), (by_decision, 3, 2)):
        *axes, _ = figure.axes
        assert len(axes) == panels
        for axis in axes:
            assert sum(text.get_text() == "50" for text in axis.texts) == lines
            colours = axis.collections[0].get_array().reshape(lines, -1)
            always = np.flatnonzero(colours[0] == 1)
            assert (colours[:, always] == 1).all()
            assert len(always) == 1
            assert (colours[:, always + 1] == 0).all()
    with pytest.raises(ValueError, match="decisions must be"):
        thresholds.plot_scores(known, places_shown, ["dealer passes"])


# --- atlas and bonuses ----------------------------------------------------------------------------


def test_atlas_counts_what_outcomes_say(solution):
    chances = solution.chances(place(4, 4, 0, 0))
    found = atlas.describe(chances, RULES)
    sums = dict.fromkeys(found, 0.0)
    for index in np.argwhere(chances > 0).tolist():
        own, dealers, cards, result = index
        chance = chances[tuple(index)]
        value_other, value_dealer = (1, 1, 2, 4)[dealers], (1, 2, 4)[own]
        seen = {
            "draws_other": own,
            "doubles_other": own >= 1,
            "redoubles_other": own == 2,
            "draws_dealer": dealers,
            "draws_free_dealer": dealers >= 1,
            "doubles_dealer": dealers >= 2,
            "redoubles_dealer": dealers == 3,
            "value_other": value_other,
            "value_dealer": value_dealer,
            "cards_other": cards,
            "cards_dealer": 5 - cards,
            "below_other": cards * value_other,
            "below_dealer": (5 - cards) * value_dealer,
            "sweeps_other": cards == 5,
            "sweeps_dealer": cards == 0,
            "poker_other": RULES.poker_points[result - 9] if result > 9 else 0,
            "poker_dealer": RULES.poker_points[9 - result] if result < 9 else 0,
        }
        for name, value in seen.items():
            sums[name] += chance * value
    assert found == pytest.approx(sums)
    won = bonuses.poker_wins(chances, RULES.poker_points)
    assert won["dealer"]["points"].sum() == pytest.approx(sums["poker_dealer"])
    assert won["other"]["often"].sum() == pytest.approx(chances[..., 10:].sum())


def test_means_over_a_rubber_go_by_its_deals(solution):
    rows = atlas.atlas_rows(solution)
    mean = atlas.over_a_rubber(rows)
    visits = solution.table.visits[0]
    cards = [row["deal_cards_other"] for row in rows]
    assert mean["deal_cards_other"] == pytest.approx(np.average(cards, weights=visits))
    assert rows[7]["expected"] == solution.table.values[0, 7]


def test_points_above_the_line_add_up_in_w(solution):
    first = bonuses.win_gains(solution.table, 50, 100)
    second = bonuses.win_gains(solution.table, 100, 150)
    both = bonuses.win_gains(solution.table, 150, 100)
    for who in ("dealer", "other"):
        assert first[who] + second[who] == pytest.approx(both[who])
        assert both[who].min() >= -1e-12
        assert both[who].max() > 0.01
    at = place(3, 5, 1, 0)
    ahead = [1 - solution.table.win_probability((3, 5), (1, 0), 0, -own) for own in (100, 250)]
    assert both["other"][at] == pytest.approx(ahead[1] - ahead[0])


def test_sweep_is_worth_its_points_and_the_cards(worth):
    """The other takes three cards at 1, the dealer two at 2; he or the dealer sweeps instead."""
    chances = np.zeros(OUTCOMES)
    chances[1, 0, 3, 9] = 1.0
    found = bonuses.sweep_prices(worth, chances, place(0, 0, 0, 0))

    def next_dealer(own, other, games=(0, 0)):
        return worth.table.expected((own, other), games, 0)

    usual = next_dealer(3, 4)
    assert found["sweep_other"] == pytest.approx(250 + next_dealer(5, 0) - usual)
    assert found["fifth_card_other"] == pytest.approx(250 + next_dealer(5, 0) - next_dealer(4, 2))
    lost = -250 - 100 + next_dealer(0, 0, (0, 1))  # ten points: the game is the dealer's
    assert found["sweep_dealer"] == pytest.approx(usual - lost)


# --- commands -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command, more",
    [
        ("equity", ()),
        ("prices", ("--points", "2")),
        ("doubles", ("--dead", "3")),
        ("thresholds", ()),
        ("atlas", ()),
        ("bonuses", ("--margins", "0", "250")),
    ],
)
def test_command_writes_table_numbers_and_picture(files, tmp_path, capsys, command, more):
    given = ["--table", str(files / "rubber.npz"), "--out", str(tmp_path / "result")]
    if command not in ("equity", "prices"):
        given += ["--draws", str(files / "rubber.draws.npz")]
    lab.main([command, *given, "--scores", "4", "4", "0", "1", *more])
    assert "4–4" in capsys.readouterr().out
    about = json.loads((tmp_path / "result.json").read_text())
    assert about["table"] == "invented"
    lines = (tmp_path / "result.csv").read_text().splitlines()
    assert len(lines) == len(about["rows"]) + 1 > COUNT
    assert (tmp_path / "result.png").read_bytes().startswith(b"\x89PNG")


def test_printed_tables_name_the_score_once(solution):
    out = io.StringIO()
    rows = score_maps.printed(equity_rows(solution.table, [place(3, 5, 1, 0)]))
    results.show(Console(file=out, width=200), "E", rows)
    assert "3–5\u00a01–0" in out.getvalue()
    assert "win at 250" in out.getvalue()


def test_notebooks_show_the_same_tables_and_pictures():
    rows = [{"a_name": 1, "x": 0.125, "text": "pair"}, {"a_name": 2, "x": None, "text": None}]
    assert results.markdown(rows, 1).splitlines() == [
        "| a name | x | text |",
        "| --: | --: | :-- |",
        "| 1 | 0.1 | pair |",
        "| 2 |  |  |",
    ]
    assert results.markdown([]) == ""
    small, large = (results.png(Figure(figsize=(2, 1)), dpi) for dpi in (50, 100))
    assert small.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", large[16:24])
    assert (width, height) == (200, 100)
    assert len(small) < len(large)


def test_maps_keep_their_shape_when_they_are_narrow(solution):
    numbers = np.arange(COUNT, dtype=np.float64)
    map_ = score_maps.Map("place", numbers, 0, COUNT)
    wide, narrow = (score_maps.draw("places", [map_] * 2, TARGET, width=w) for w in (16.0, 10.0))
    assert narrow.get_size_inches()[0] == 10
    ratio = wide.get_size_inches()[1] / narrow.get_size_inches()[1]
    assert ratio == pytest.approx(1.6, rel=0.05)


def test_help_names_the_program_as_it_is_called(capsys):
    with pytest.raises(SystemExit):
        lab.main(["prices", "--help"])
    assert "python -m training.lab prices" in capsys.readouterr().out


@pytest.mark.parametrize("out", [".", "..", "/dev/null/here"])
@pytest.mark.parametrize("command", ["thresholds", "doubles-by-hand", "bonuses"])
def test_files_that_cannot_be_written_are_refused_before_any_work(
    command, out, monkeypatch, capsys
):
    monkeypatch.setattr(stored, "load", lambda *_: pytest.fail("it began to work"))
    with pytest.raises(SystemExit) as ended:
        lab.main([command, "--out", out])
    assert ended.value.code == 2
    assert "out must be" in capsys.readouterr().err


def test_files_hold_json_that_anybody_reads(tmp_path):
    about = {"error": np.float64("nan"), "parts": [{"deals": np.int64(3), "mean": np.zeros(2)}]}
    results.write(tmp_path / "some", about, [{"a": np.float32("inf"), "b": np.int8(1)}], None)
    text = (tmp_path / "some.json").read_text()
    found = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert found["error"] is None
    assert found["parts"] == [{"deals": 3, "mean": [0.0, 0.0]}]
    assert found["rows"] == [{"a": None, "b": 1}]
    assert (tmp_path / "some.csv").read_text() == "a,b\n,1\n"
