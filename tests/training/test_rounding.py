"""Points are written as finely as they are known, whatever a deal of the game is about."""

from __future__ import annotations

import io
import math
import re

import pytest
from lots import LOTS
from rich.console import Console

from players import Highest, Lowest
from training import maskable_ppo, report, rounding, sequential
from training.tournament import run_tournament

SMALL = {"mean": 0.0412, "low": 0.0192, "high": 0.0632}
LARGE = {"mean": 3.84, "low": 2.54, "high": 5.14}


@pytest.mark.parametrize(
    "number, text",
    [(0.0, "0.0"), (-0.04, "0.0"), (12.34, "+12.3"), (-1234.5, "−1,234.5"), (None, "—")],
)
def test_points_have_their_sign(number, text):
    assert rounding.signed(number) == text


@pytest.mark.parametrize(
    "low, high, text",
    [
        (-1.0, 1.6, "+0.3 ± 1.3"),
        (-12.1, 12.7, "+0.3 ± 12.4"),
        (-0.66, 1.26, "+0.30 ± 0.96"),
        (-0.696, 1.296, "+0.3 ± 1.0"),
        (0.278, 0.322, "+0.300 ± 0.022"),
        (0.3, 0.3, "+0.3 ± 0.0"),
        (0.3 - 1e-14, 0.3 + 1e-14, "+0.30000 ± 0.00000"),
        (-math.inf, math.inf, "+0.3 ± inf"),
        (None, None, "+0.3 —"),
    ],
)
def test_two_digits_of_the_interval_are_lost(low, high, text):
    margin = {"mean": 0.3, "low": low, "high": high}
    assert f"{rounding.mean(margin)} {rounding.reach(margin)}" == text


def test_small_margins_vanish_in_reports():
    field = {"a": Highest(), "b": Lowest(), "c": Lowest()}
    document = run_tournament(field, 3, game=LOTS, players=3).as_dict()
    for line in (*document["ranking"], *document["duels"]):
        line["margin"] |= SMALL
    document["ranking"][0] |= {"as_dealer": -0.0517, "as_non_dealer": 0.0871}
    document["cycles"]["separated"] = [
        {"players": ["a", "b", "c"], "margins": [0.0441, 0.0331, 12.0], "certain": True}
    ]
    printed, page = report.text(document, 140), report.html(document)
    for text in (printed, re.sub("<[^>]*>", "", page)):
        assert len(re.findall(r"\+0\.041 +± 0\.022", text)) == 6
        assert "−0.052" in text
        assert "+0.087" in text
        assert "a beats b by 0.044, b beats c by 0.033, c beats a by 12.0" in text
    for line in (*document["ranking"], *document["duels"]):
        line["margin"] |= LARGE
    assert report.text(document, 140).count("+3.8   ± 1.3") == 6


def test_small_margins_vanish_while_training():
    shown = io.StringIO()
    display = maskable_ppo._Display(Console(file=shown, width=200))
    records = [
        {
            "opponent": name,
            "margin": margin["mean"],
            "margin_low": margin["low"],
            "margin_high": margin["high"],
        }
        for name, margin in (("greedy", SMALL), ("heuristic", LARGE))
    ]
    display.show_evaluation(2000, records)
    assert "2,000 steps: greedy +0.041 ± 0.022, heuristic +3.8 ± 1.3 points" in shown.getvalue()


def test_small_margins_vanish_in_sequential_tests(tmp_path, capsys):
    table = ["greedy", "random", "--game", "poangpoker", "--players", "2", "--rules", "small"]
    sequential.main([*table, "--m1", "0.5", "--most", "300", "--out", str(tmp_path / "run")])
    said = capsys.readouterr().out
    points = r"[+−]\d\.\d\d"
    assert re.search(rf"margin {points} points .* interval {points} … {points}, which", said)
