"""The rubber with solved draws: payoffs, shares of hands, what is kept, and a rough run."""

from __future__ import annotations

import json

import numpy as np
import pytest

from agents.hand_classes import CLASSES, TYPES, hand_classes
from poke_env.equity import EquityTable, places, scores
from poke_env.games.poke import Rules
from training.lab import __main__ as lab
from training.lab.draws import DrawModel, Equilibrium, Response
from training.lab.induction import Scoring, solve_values
from training.lab.played import Played, count_played
from training.lab.solve_rubber import (
    DECISIONS,
    KINDS,
    OUTCOMES,
    Solution,
    Work,
    drawing_shares,
    every_outcome,
    kinds,
    payoffs_at,
)
from training.lab.strategies import (
    Strategies,
    StrategiesWork,
    choose_representatives,
    choose_serving,
)

RULES = Rules()
SCORING = Scoring.of(RULES)


def test_payoff_of_an_outcome_is_its_points_and_what_follows():
    """From 18-17 (the dealer's first) in a second game: some outcomes by hand."""
    values = np.arange(len(scores(20)) + 1, dtype=float)
    values[-1] = 0.0
    place = int(places(20)[18, 17, 1, 0])
    payoffs = payoffs_at(SCORING, place, every_outcome(SCORING, RULES), values)
    # No double by the non-dealer, one of the dealer's draws free, two paid: 3 cards at 4 are 12.
    # 20-29: the non-dealer wins the game, 1-1 in games, and deals next at 0-0.
    won = payoffs[0, 3, 3, 9 + 2]  # two pair
    assert won == 100 + 100 + values[places(20)[0, 0, 1, 1]]
    # He takes nothing: the dealer has 23 and the rubber, no game lost: 750, a sweep and a flush.
    assert payoffs[0, 0, 0, 9 - 5] == -(250 + 400 + 100 + 750)
    # 20-20: 2 cards at 1 for the dealer, 3 at 1 for the other: a tie, and the other deals.
    assert payoffs[0, 1, 3, 9] == values[places(20)[20, 20, 0, 1]]
    # Nothing is decided: points are added, and the seats exchanged.
    early = payoffs_at(SCORING, int(places(20)[2, 5, 0, 1]), every_outcome(SCORING, RULES), values)
    assert early[1, 0, 2, 9] == values[places(20)[5 + 2, 2 + 3 * 2, 1, 0]]


def test_payoffs_and_outcomes_belong_to_each_other():
    """The mean of the payoffs is what the induction makes of the same outcomes."""
    rng = np.random.default_rng(0)
    work = Work.begin(len(scores(20)))
    work.probabilities[:] = rng.random(OUTCOMES).astype(np.float32)
    work.probabilities /= work.probabilities[0].sum()
    values = solve_values(SCORING, Solution(RULES, work).outcomes)[0]
    every = every_outcome(SCORING, RULES)
    padded = np.append(values, 0.0)
    for place in rng.choice(len(values), 20, replace=False):
        payoffs = payoffs_at(SCORING, int(place), every, padded)
        mean = (work.probabilities[place].astype(np.float64) * payoffs).sum()
        assert values[place] == pytest.approx(-mean, abs=1e-3)


def test_scores_share_the_strategies_of_their_square():
    solution = Solution(RULES, Work.begin(len(scores(20))), step=2)
    at = places(20)
    for score, served_by in (
        ((0, 0, 0, 0), (0, 0, 0, 0)),
        ((1, 0, 1, 0), (1, 0, 1, 0)),
        ((2, 4, 0, 1), (3, 5, 0, 1)),
        ((19, 18, 1, 1), (19, 19, 1, 1)),
        ((20, 20, 1, 1), (20, 20, 1, 1)),
    ):
        assert solution.serving(int(at[score])) == at[served_by]
    # What serves a score is solved before it: its points are as many or more.
    for place, (own, other, *games) in enumerate(scores(20).tolist()):
        serving = scores(20)[solution.serving(place)].tolist()
        assert serving[0] >= own and serving[1] >= other and serving[2:] == games


def test_kinds_of_hands():
    tables = hand_classes()
    found = kinds(tables)
    names = {tuple(ranks): kind for ranks, kind in zip(tables.ranks.tolist(), found, strict=True)}
    assert names[0, 0, 5, 7, 12] == 13 * 1 + 0  # a pair of twos
    assert names[3, 3, 9, 9, 12] == 13 * 2 + 9  # jacks and fives
    assert names[2, 2, 2, 12, 12] == 13 * 6 + 2
    straight = [
        kind
        for ranks, kind, category in zip(tables.ranks.tolist(), found, tables.category, strict=True)
        if ranks == [0, 1, 2, 3, 12] and category == 4
    ]
    assert straight == [13 * 4 + 3]  # the lowest straight ends with the five
    assert found.max() < KINDS


def test_drawing_shares_count_hands():
    model = DrawModel.__new__(DrawModel)
    model.hands = tables = hand_classes()
    own = np.zeros((CLASSES[5], 4), np.int8)
    other = np.zeros((3, CLASSES[5], 16), np.int8)
    pairs = tables.category[tables.type] == 1
    own[pairs, 0] = 7  # every pair doubles
    other[0] = 1  # everybody takes the free draw
    other[1, ~pairs, 2] = 3  # doubles after two cards drawn, without a pair
    reach = np.zeros((TYPES, 16))
    reach[0, 0], reach[0, 1], reach[0, 2] = 0.5, 0.375, 0.125
    strategies = (Response(0.0, reach, own), Response(0.0, np.zeros((TYPES, 4, 16)), other))
    shares = drawing_shares(model, Equilibrium(0.0, 0.0, (), strategies, (reach, reach)))
    assert shares.shape == (len(DECISIONS), KINDS)
    by_name = dict(zip(DECISIONS, shares.reshape(len(DECISIONS), 10, 13), strict=True))
    assert (by_name["non-dealer doubles"][1] == 1).all()
    assert by_name["non-dealer doubles"][[0, 2, 3]].sum() == 0
    assert (by_name["dealer draws free after no draw"][1] == 1).all()
    assert by_name["dealer doubles after one draw"][2, 1:] == pytest.approx(0.25)
    assert by_name["dealer doubles after one draw"][1].sum() == 0


def test_what_was_solved_is_kept_for_the_same_settings_alone(tmp_path):
    path = tmp_path / "a.work.npz"
    work = Work.begin(5)
    work.gaps[2], work.probabilities[2, 1, 1, 1, 1] = 0.5, 1.0
    work.save(path, "tolerance 1")
    again = Work.load(path, "tolerance 1")
    assert np.isnan(again.gaps[0])
    assert again.gaps[2] == 0.5
    assert (again.probabilities == work.probabilities).all()
    with pytest.raises(ValueError, match="from other settings or sources"):
        Work.load(path, "tolerance 2")


def test_played_cards_mix_payoffs_and_outcomes_alike():
    """The mean payoff is one number, whichever side the cards taken are put on."""
    rng = np.random.default_rng(1)
    played = Played("somebody", rng.integers(0, 1000, (3, 4, 6, 6)))
    assert played.chances.sum(axis=-1) == pytest.approx(np.ones((3, 4, 6)))
    payoffs, outcomes = rng.normal(size=OUTCOMES), rng.random(OUTCOMES)
    assert (played.as_played(payoffs) * outcomes).sum() == pytest.approx(
        (payoffs * played.of_tricks(outcomes)).sum()
    )


def test_cards_are_counted_and_kept(tmp_path):
    played = count_played("greedy", 300, seed=3)
    assert played.counts.sum() == 300
    assert (played.counts == count_played("greedy", 300, seed=3).counts).all()
    path = tmp_path / "played.npz"
    played.save(path)
    again = Played.load(path)
    assert again.player == "greedy"
    assert (again.counts == played.counts).all()
    (tmp_path / "other.npz").write_bytes(b"nothing")
    with pytest.raises(ValueError, match="played must be a file of count-played"):
        Played.load(tmp_path / "other.npz")


def test_representatives_are_near_and_often():
    rng = np.random.default_rng(2)
    payoffs = np.repeat(rng.normal(0, 100, (3, 50)), [40, 30, 30], axis=0).astype(np.float32)
    payoffs += rng.normal(0, 1, payoffs.shape).astype(np.float32)
    outcomes = rng.random(50)
    outcomes /= outcomes.sum()
    often = np.ones(100)
    chosen = choose_representatives(payoffs, outcomes, often, 3)
    groups = np.repeat([0, 1, 2], [40, 30, 30])
    assert sorted(groups[chosen].tolist()) == [0, 1, 2]
    # What pays all outcomes alike makes no difference.
    shifted = payoffs + np.arange(100, dtype=np.float32)[:, None]
    assert (groups[choose_representatives(shifted, outcomes, often, 3)] == groups[chosen]).all()


def test_the_safest_strategy_serves():
    """Outcomes: one for each pair of strategies, so that payoffs are the matrix of a game."""
    outcomes = np.eye(4).reshape(2, 2, 4)
    payoffs = np.array([[3, 2, 4, 1], [0, 5, 1, 2], [1, 1, 1, 1]], np.float32)
    assert choose_serving(payoffs, outcomes)[:, :2].tolist() == [[0, 1], [1, 0]]


def test_strategies_are_written_as_arrays_that_anybody_reads(tmp_path):
    rng = np.random.default_rng(3)
    made = Strategies(
        np.array([4]), np.zeros((2, 1604), np.int64),
        rng.integers(0, 8, (1, CLASSES[5], 4)).astype(np.int8),
        np.zeros((1, 3, CLASSES[5], 13), np.int8), np.array([0.5]), {"tricks": "perfect"},
    )  # fmt: skip
    assert made.to_bytes() == made.to_bytes()
    path = tmp_path / "strategies.npz"
    path.write_bytes(made.to_bytes())
    with np.load(path, allow_pickle=False) as stored:
        assert (stored["non_dealer"] == made.non_dealer.swapaxes(-1, -2)).all()
        assert json.loads(stored["about"].tobytes())["tricks"] == "perfect"


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--count", "0"], "count must be an integer from 1 to 200, got 0"),
        (["--threads", "-1"], "threads must be an integer from 0 to 1024, got -1"),
        (["--tolerance", "nan"], "tolerance must be a finite number above 0"),
        (["--table", "nowhere.npz"], "nowhere.npz"),
    ],
)
def test_strategies_are_not_made_of_wrong_arguments(tmp_path, capsys, arguments, message):
    with pytest.raises(SystemExit) as ended:
        lab.main(["make-strategies", "--out", str(tmp_path / "made.npz"), *arguments])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_strategies_that_were_interrupted_are_those_made_in_one_go(tmp_path, capsys, monkeypatch):
    """Stopped while scores are solved, and again while strategies are brought together."""
    command = ["make-strategies", "--quick", "--threads", "2"]
    whole, parts = tmp_path / "whole.npz", tmp_path / "parts.npz"
    lab.main([*command, "--out", str(whole)])
    for steps, solved, met in ((1, 1, 0), (2, 2, 1)):
        left = iter(range(steps - 1, -1, -1))

        def stop_soon(work, left=left):
            if next(left) == 0:
                raise KeyboardInterrupt

        monkeypatch.setattr(StrategiesWork, "_save_now_and_then", stop_soon)
        with pytest.raises(SystemExit) as stopped:
            lab.main([*command, "--out", str(parts)])
        assert stopped.value.code == 130
        with np.load(tmp_path / "parts.work.npz") as kept:
            assert (len(kept["gap"]), len(kept["outcomes"])) == (solved, met)
    monkeypatch.undo()
    capsys.readouterr()
    with pytest.raises(SystemExit):
        lab.main([*command, "--count", "1", "--out", str(parts)])
    assert "from other settings or sources" in capsys.readouterr().err
    lab.main([*command, "--out", str(parts)])
    assert parts.read_bytes() == whole.read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["parts.npz", "whole.npz"]


@pytest.mark.slow
def test_rough_rubber_is_solved_and_goes_on_where_it_stopped(tmp_path, capsys, monkeypatch):
    out = tmp_path / "rubber.npz"
    calls = []
    save = Work.save

    def stop_soon(self, path, identity):
        save(self, path, identity)
        calls.append(path)
        if len(calls) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("training.lab.solve_rubber._SAVE_SECONDS", 0.0)
    monkeypatch.setattr(Work, "save", stop_soon)
    with pytest.raises(SystemExit) as stopped:
        lab.main(["solve-rubber", "--quick", "--out", str(out)])
    assert stopped.value.code == 130
    monkeypatch.setattr(Work, "save", save)
    solved = np.load(tmp_path / "rubber.work.npz")["gaps"]
    assert 0 < (~np.isnan(solved)).sum() < 30
    lab.main(["solve-rubber", "--quick", "--workers", "2", "--threads", "1", "--out", str(out)])
    assert "--quick" in capsys.readouterr().out
    table = EquityTable.load(out)
    assert table.expected((19, 0), (1, 0), 0) > 500
    assert 0 < table.expected((0, 0), (0, 0), 0) < 100
    assert table.errors.max() <= 2.0
    with np.load(tmp_path / "rubber.draws.npz") as stored:
        assert stored["shares"].shape == (1604, len(DECISIONS), KINDS)
