"""The program that measures the heuristic Pokex player's tables."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from pokex_position import Position

from agents import pokex_table
from agents.pokex_plan import FEATURES, KINDS, NOTHING, PAIR, THREE
from poke_env.games.pokex import Rules
from training import fit_pokex
from training.fit_pokex import as_module, describe_tricks, fit_bids, fit_tricks, play


def test_tricks_are_described_for_each_player_of_each_side() -> None:
    hands = "9d 9h *1 *2 2c 3d 4h 5s Tc Jd Qh Ks 6c 7d 8h As"
    position = Position(Rules(tricks=2), match="deal", dealer=3).deal(f"{hands} 9c 2d")
    position.step("bid 2", "9d 9h", "Tc Jd", "2c 3d", "6c 7d", "4h 5s", "8h As", "Qh Ks", "*1 *2")
    state = position.row["state"]
    fields = [state[name][:, :2] for name in ("trick_leader", "trick_winner")]
    described = describe_tricks(state["five"], *fields, 0)
    assert len(described) == 8
    leader, partner = described[0].tolist(), described[1].tolist()
    assert leader[:4] == [THREE, 0, 7, 1]
    assert (leader[5], partner[5]) == (1, 1)
    assert described[2, 3] == described[2, 5] == 0
    assert described[:, 4].tolist() == [2] * 4 + [1] * 4
    assert described[4].tolist()[:4] == [PAIR, 0, 13, 0]


def test_odds_are_found_again() -> None:
    rng = np.random.default_rng(0)
    rows = []
    for kind, wilds, leads in product((NOTHING, PAIR), range(2), range(2)):
        count = 20_000
        rank, left = rng.integers(0, 13, count), rng.integers(1, 7, count)
        odds = kind / 4 - 0.5 + wilds - leads + 0.1 * (rank - 6) - 0.2 * (left - 3.5)
        won = rng.random(count) < 1 / (1 + np.exp(-odds))
        same = np.full(count, 1)
        rows.append(np.column_stack([kind * same, wilds * same, rank, leads * same, left, won]))
    base, slope = fit_tricks(np.concatenate(rows))
    for kind, wilds, leads in product((NOTHING, PAIR), range(2), range(2)):
        assert base[leads, wilds, kind] == pytest.approx(kind / 4 - 0.5 + wilds - leads, abs=0.1)
        assert slope[leads, kind] == pytest.approx([0.1, -0.2], abs=0.05)
    assert np.isnan(base[:, 2]).all()
    assert np.isnan(base[:, :, THREE]).all()


def test_shares_are_found_again() -> None:
    rng = np.random.default_rng(0)
    winner = rng.integers(0, 2, (500, 6))
    places = np.column_stack([np.arange(500), rng.integers(0, 4, 500)])
    share = (winner == places[:, 1:] % 2).mean(axis=1)
    features = np.concatenate([np.ones((500, 1)), rng.random((500, FEATURES - 1))], axis=1)
    features[:, 1] = 2 * share - 0.5
    assert fit_bids(places, features, winner) == pytest.approx([0.25, 0.5, 0, 0, 0, 0])


def test_module_holds_what_was_fitted() -> None:
    rng = np.random.default_rng(0)
    fits = [
        (rng.random((2, 3, KINDS)), rng.random((2, KINDS, 2)), rng.random(FEATURES))
        for _ in range(2)
    ]
    fits[0][0][0, 1, THREE] = np.nan
    made: dict[str, Any] = {}
    exec(as_module(fits, fit_pokex.Settings(deals=7, seed=3)), made)
    assert "--deals 7 --seed 3" in made["__doc__"]
    base = np.array(made["BY_KIND"]).reshape(2, 2, 3, KINDS)
    assert base[0, 0, 1, THREE] == 0
    assert base[1] == pytest.approx(fits[1][0], abs=0.006)
    assert np.array(made["BY_RANK"])[3] == pytest.approx(fits[1][1][1, :, 0], abs=0.0006)
    assert np.array(made["BY_LEFT"])[0] == pytest.approx(fits[0][1][0, :, 1], abs=0.0006)
    assert np.array(made["BY_CALLS"])[0] == pytest.approx(fits[0][2], abs=0.0006)
    for name in ("BY_KIND", "BY_RANK", "BY_LEFT", "BY_CALLS"):
        assert np.shape(made[name]) == np.shape(getattr(pokex_table, name))


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs deals")
def test_deals_are_played_to_their_end() -> None:
    state, places, features = play("wild", 20, 1)
    assert (state["trick_winner"] >= 0).all()
    assert set(places[:, 0]) == set(range(20))
    assert features.shape == (len(places), FEATURES)
    assert (features[:, 0] == 1).all()


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs deals")
def test_program_writes_a_module(tmp_path: Path) -> None:
    fit_pokex.main(["--deals", "20", "--out", str(tmp_path / "table.py")])
    assert "BY_CALLS" in (tmp_path / "table.py").read_text()
