"""The program that measures what cards are worth in the play-out of Poque."""

from __future__ import annotations

import numpy as np
import pytest

from agents.poque_run import RID_OF, WINS
from poke_env.cards import parse_cards
from training import fit_poque
from training.fit_poque import PLAYERS, describe, fit, play


def bits(cards: str) -> int:
    return sum(1 << card for card in parse_cards(cards.split()))


def test_cards_that_runs_may_come_to_are_taken_for_others() -> None:
    hands = ["7c Kh", "9c Tc Kd Ah", "8d As"]
    held = np.array([[bits(hand) for hand in hands]], np.int64)
    described = describe(held, np.array([bits("Ks Qd")]), np.array([0]), min(parse_cards(["7c"])))
    # Runs come to 9c and Tc by 8c, not to Kd above the queen that is gone; to Ah by the king.
    assert described[:, 1:].tolist() == [[1, 3, 1, 2, 4], [2, 1, 1, 2, 6]]


def test_lowest_cards_of_the_pack_are_waited_for() -> None:
    held = np.array([[bits("Ah"), bits("7c 8c 7d")]], np.int64)
    [lowest] = parse_cards(["7c"])
    for least, comes in ((lowest, 0), (lowest - 4, 3)):
        [row] = describe(held, np.array([0]), np.array([0]), least).tolist()
        assert row[2:] == [comes, 3 - comes, 1, 1]


def test_worth_is_found_again_whatever_the_number_of_positions() -> None:
    rng = np.random.default_rng(1)
    tables = []
    for count in (20_000, 3_000):
        seats = rng.integers(0, 6, (count, 6))
        seats[:, 0] = np.arange(count) // 3
        expected = seats[:, 2] * (0.1 * seats[:, 4] + 0.03 * seats[:, 5])
        noise = rng.normal(0, 2, count)
        tables.append((seats, expected + noise - seats[:, 2] - seats[:, 3]))
    found = fit(tables)
    assert np.abs(found.worth - [0.1, 0.03]).max() < 4 * found.errors.max() < 0.05
    assert found.by_player < found.explained < found.attainable < 1
    assert found.positions == 23_000


def test_constants_of_the_player_come_from_nowhere() -> None:
    found = fit([play(players, 250, 3) for players in PLAYERS])
    assert np.abs(found.worth - [RID_OF, WINS]) == pytest.approx([0, 0], abs=0.04)
    assert found.explained - found.by_player < 0.01
    assert found.by_player > 0.05


def test_a_quick_measurement_does_not_say_so(capsys: pytest.CaptureFixture[str]) -> None:
    fit_poque.main(["--quick", "--deals", "40"])
    said = capsys.readouterr().out
    assert "quick: 40 deals at each table" in said
    assert f"the player has {RID_OF}" in said
    with pytest.raises(SystemExit):
        fit_poque.main(["--deals", "0"])
