"""What it is worth to know the score, and the price of a double by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("tyro")

from agents.hand_classes import TYPES
from poke_env.equity import EquityTable, places
from training.lab import __main__ as lab
from training.lab import awareness, double_hands, doubles, stored
from training.lab.awareness import blind_deal
from training.lab.draws import HISTORIES, DrawModel, Response, linear_payoffs, solve
from training.lab.played import Played
from training.lab.solve_rubber import OUTCOMES

LANES = 16
TOLERANCE = 20.0


@pytest.fixture(scope="module")
def model():
    return DrawModel()


@pytest.fixture(scope="module")
def table():
    return EquityTable.load()


@pytest.fixture(scope="module")
def solved(model):
    return solve(model, linear_payoffs(25, 25), TOLERANCE).strategies


def test_who_plays_as_the_aware_loses_nothing(model, solved):
    losses, aware = blind_deal(model, linear_payoffs(25, 25), solved, solved, TOLERANCE)
    assert aware is solved
    of = dict(zip(awareness.LOSSES, losses, strict=True))
    gap = 2 * of["exploitability"]
    assert 0 < gap <= 2 * TOLERANCE
    # Value lies in the middle of the gap, and what answers best takes no more than all of it.
    assert of["loss_other"] == pytest.approx(-of["loss_dealer"], abs=1e-6)
    assert of["most_other"] + of["most_dealer"] == pytest.approx(gap, abs=1e-6)


def test_standing_pat_loses_and_most_to_the_best_answer(model, solved):
    dealt = np.bincount(model.hands.type, model.deal, TYPES)
    nothing = np.zeros(0, np.int8)
    own = Response(0.0, np.zeros((TYPES, LANES)), nothing)
    other = Response(0.0, np.zeros((TYPES, 4, LANES)), nothing)
    own.reach[:, 0] = dealt
    other.reach[:, 0] = dealt[:, None]
    pat = own, other
    losses, _ = blind_deal(model, linear_payoffs(25, 25), pat, solved, TOLERANCE)
    of = dict(zip(awareness.LOSSES, losses, strict=True))
    for who in ("other", "dealer"):
        assert of[f"loss_{who}"] > 10
        assert of[f"most_{who}"] >= of[f"loss_{who}"] - of["exploitability"]


def test_scores_are_drawn_as_often_as_deals_begin_there(table):
    count = 20_000
    drawn = awareness.draw_scores(table, count, seed=3)
    first = places(table.target)[0, 0, 0, 0]
    visits = table.visits[0].astype(np.float64)
    visits[first] = 0
    came = np.bincount(drawn, minlength=len(visits))
    assert came[first] == 0
    assert np.abs(came - count * visits / visits.sum()).max() <= 2.0
    assert (drawn == awareness.draw_scores(table, count, seed=3)).all()
    assert (drawn != awareness.draw_scores(table, count, seed=4)).any()


def test_losses_of_deals_add_up_over_a_rubber(table):
    """Every deal but the first, and half of them as the dealer."""
    losses = np.array([[4.0, 2.0, 10.0, 6.0, 0.5], [8.0, 2.0, 10.0, 6.0, 0.5]])
    found = awareness.rubber_loss(table, losses)
    deals = table.visits[0].sum() - 1
    assert found == pytest.approx(
        {
            "loss": deals * 4,
            "standard_error": deals * 1,  # 3 and 5, two of them
            "most": deals * 8,
            "solving_error": deals * 0.5,
        },
        rel=1e-5,
    )


def test_two_blind_players_are_worth_what_aware_ones_are_if_all_scores_are_alike(table):
    """Outcomes that are the same at every score: then nobody needs to know it."""
    worth = stored.Worth(table)
    rng = np.random.default_rng(2)
    chances = np.zeros(OUTCOMES)
    chances.ravel()[rng.choice(chances.size, 6, replace=False)] = 1 / 6
    solution = stored.Solution(
        table, np.broadcast_to(chances, (len(worth.listed), *OUTCOMES)), None, None, "", None
    )
    values = awareness.both_blind(solution)
    last = places(table.target)[15, 18, 1, 1]
    again = stored.Worth(replace(table, values=values[None]))
    assert chances.ravel() @ again.expected(last, worth.every) == pytest.approx(-values[last])


@pytest.mark.parametrize("counted", [False, True])
def test_prices_by_hand_add_up_to_what_doubles_cost(model, counted):
    """For strategies of any kind: over the hands, and over the outcomes."""
    rng = np.random.default_rng(8)
    values = rng.normal(0, 100, OUTCOMES)
    own, other = np.zeros((TYPES, LANES)), np.zeros((TYPES, 4, LANES))
    own[rng.choice(TYPES, 40, replace=False)] = rng.random((40, LANES))
    other[rng.choice(TYPES, 40, replace=False)] = rng.random((40, 4, LANES))
    own[..., len(HISTORIES) :] = other[..., len(HISTORIES) :] = 0
    played = Played("some", rng.integers(0, 1000, (3, 4, 6, 6))) if counted else None
    outcomes = model.outcomes(own, other)
    if played is not None:
        outcomes = played.of_tricks(outcomes)
    rows = double_hands.prices_by_kind(model, values, own, other, played)
    for seat, double in doubles.DOUBLES:
        came = doubles.made(outcomes, seat, double)
        here = [row for row in rows if (row["seat"], row["double"]) == (seat, double)]
        assert sum(row["often"] for row in here) == pytest.approx(came.sum())
        paid = (came * doubles.price_grid(values, seat, double)).sum()
        assert sum(row["often"] * row["price"] for row in here) == pytest.approx(paid)


# --- commands -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory, table):
    """The table of the environment, with invented outcomes of deals."""
    folder = tmp_path_factory.mktemp("solution")
    rng = np.random.default_rng(1)
    probabilities = np.zeros((len(table.values[0]), *OUTCOMES), np.float16)
    probabilities[:] = rng.dirichlet(np.ones(probabilities[0].size)).reshape(OUTCOMES)
    np.savez(
        folder / "rubber.draws.npz",
        probabilities=probabilities,
        shares=np.zeros((len(probabilities), 11, 130), np.uint8),
        gaps=np.zeros(len(probabilities)),
        decisions=np.array(stored.DECISIONS),
        identity=np.array(table.policies[0]["identity"]),
    )
    return folder


def arguments(files: Path, out: Path) -> list[str]:
    return ["--draws", str(files / "rubber.draws.npz"), "--out", str(out), "--quick"]


@pytest.mark.slow
def test_awareness_goes_on_where_it_was_stopped(files, tmp_path, monkeypatch, capsys):
    done = []
    solve_one = awareness.blind_deal

    def stop_after_one(*given):
        if len(done) == 1:
            raise KeyboardInterrupt
        done.append(given)
        return solve_one(*given)

    out = tmp_path / "aware"
    command = ["awareness", *arguments(files, out), "--count", "2"]
    monkeypatch.setattr(awareness, "blind_deal", stop_after_one)
    with pytest.raises(SystemExit):
        lab.main(command)
    assert not (tmp_path / "aware.csv").exists()
    monkeypatch.setattr(
        awareness, "blind_deal", lambda *given: done.append(given) or solve_one(*given)
    )
    lab.main(command)
    assert len(done) == 2
    about = json.loads((tmp_path / "aware.json").read_text())
    assert len(about["rows"]) == 2
    assert about["rubber"]["most"] >= about["rubber"]["loss"] - about["rubber"]["solving_error"]
    assert "--quick" in capsys.readouterr().out
    with pytest.raises(SystemExit):  # another tolerance: another result
        lab.main([*command, "--tolerance", "9"])
    assert "other settings" in capsys.readouterr().err


@pytest.mark.slow
def test_doubles_by_hand_cost_less_with_hands_that_take_more(files, tmp_path, capsys):
    out = tmp_path / "hands"
    lab.main(["doubles-by-hand", *arguments(files, out)])
    assert "--quick" in capsys.readouterr().out
    rows = json.loads((tmp_path / "hands.json").read_text())["rows"]
    first = [row for row in rows if (row["seat"], row["double"]) == ("dealer", "first")]
    price = {row["hand"]: row["price"] for row in first}
    assert price["three aces"] < price["a pair of aces"] < price["nine high"]
