"""What a deal is played for."""

from __future__ import annotations

import numpy as np
import pytest

from poke_env.equity import EquityTable
from poke_env.games.poke import Rules
from training.lab.draws import linear_payoffs
from training.lab.played import Played
from training.lab.stakes import Stakes

NOBODY = 9


@pytest.fixture(scope="module")
def table():
    return EquityTable.load()


def test_constant_prices_are_linear():
    assert (Stakes(price=25).payoffs() == linear_payoffs(25, 25)).all()
    assert str(Stakes(price=25)) == "25 points for a point below the line"


def test_a_score_pays_what_the_score_after_the_deal_is_worth(table):
    """Dealer 3, non-dealer 7: the non-dealer is player_1 and deals next."""
    payoffs = Stakes(below=(3, 7), games=(1, 0)).payoffs()
    # No draws, three cards to two, nobody has the better hand.
    after = table.expected(below=(5, 10), games=(1, 0), dealer=1)
    assert payoffs[0, 0, 3, NOBODY] == pytest.approx(-after)
    # A sweep at four a card: 7 + 20 wins the game.
    won = table.expected(below=(0, 0), games=(1, 1), dealer=1)
    sweep = Rules().sweep_points + Rules().game_points
    assert payoffs[0, 3, 5, NOBODY] == pytest.approx(sweep - won)
    # The dealer wins his second game with five cards at four, and the rubber with it.
    lost = Rules().sweep_points + Rules().game_points + Rules().rubber_points[0]
    assert payoffs[2, 0, 0, NOBODY - 2] == pytest.approx(-lost - Rules().poker_points[2])


def test_tricks_as_they_are_played_mix_payoffs(tmp_path):
    counts = np.zeros((3, 4, 6, 6), np.int64)
    counts[:, :, :, 2] = 10**12  # whatever the table says, two cards are taken
    path = tmp_path / "played.npz"
    Played("somebody", counts).save(path)
    stakes = Stakes(price=10, played=path)
    payoffs, perfect = stakes.payoffs(), linear_payoffs(10, 10)
    assert payoffs[1, 1, 4, NOBODY] == pytest.approx(perfect[1, 1, 2, NOBODY])
    assert "tricks of somebody" in str(stakes)
    assert stakes.identity() != Stakes(price=10).identity()


@pytest.mark.parametrize(
    ("stakes", "message"),
    [
        (Stakes(price=-1.0), "price must be a finite number of at least 0, got -1.0"),
        (Stakes(below=(21, 0)), "below must be an integer from 0 to 20, got 21"),
        (Stakes(below=(20, 3)), "below must be two numbers under 20, or both 20"),
        (Stakes(games=(2, 0)), "games must be an integer from 0 to 1, got 2"),
    ],
)
def test_stakes_that_cannot_be_are_refused(stakes, message):
    with pytest.raises(ValueError, match=message):
        stakes.payoffs()


def test_two_policies_have_no_one_worth(table, tmp_path):
    from dataclasses import replace

    arrays = {
        name: np.repeat(getattr(table, name), 2, axis=0)
        for name in ("values", "errors", "win_errors", "visits", "futures")
    }
    path = tmp_path / "two.npz"
    replace(table, policies=table.policies * 2, **arrays).save(path)
    with pytest.raises(ValueError, match="table must be a table of one policy in both seats"):
        Stakes(table=path).payoffs()
