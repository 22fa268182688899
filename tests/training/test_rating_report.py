"""How ratings and cycles are shown, and that documents without them are shown as before."""

from __future__ import annotations

import numpy as np
import pytest

from training import report
from training.ratings import cycles, rate
from training.rounding import NONE
from training.statistics import estimate
from training.tournament import run_tournament

LABELS = ["<b>ann</b>", "[bold]bob", "cat", "dan"]
RING = [(0, 1), (1, 2), (2, 0)]
AHEAD, DOUBTFUL = estimate([9.0, 10.0, 11.0]), estimate([-9.0, 11.0])


@pytest.fixture(scope="module")
def plain():
    document = run_tournament(["random", "random"], 3, seed=1).as_dict()
    return {name: part for name, part in document.items() if name not in ("ratings", "cycles")}


def cycle_part(margins, meetings=RING):
    return {"cycles": cycles(4, meetings, margins).as_dict(LABELS)}


def test_text_with_colours_where_they_are_forced(plain, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    text = report.text(plain, 70)
    assert "Ranking" in text
    assert "\x1b" not in text
    assert all(len(line) <= 70 and line == line.rstrip() for line in text.splitlines())


def test_a_document_without_them_says_nothing_of_them(plain):
    for text in (report.text(plain), report.html(plain)):
        assert "Elo points" not in text
        assert "triple" not in text
    assert report.html(plain | {"ratings": None, "cycles": None}) == report.html(plain)


def test_ratings_are_shown_best_first_and_open_ends_as_infinite(plain):
    scores = [[2.0] * 20, [2.0, 2.0, 2.0, 0.0] * 5]
    document = plain | {"ratings": rate(4, [(2, 1), (2, 0)], scores).as_dict(LABELS)}
    assert [line["player"] for line in report.rated(document)] == [
        "cat", "<b>ann</b>", "[bold]bob", "dan",
    ]  # fmt: skip
    text, page = report.text(document, 80), report.html(document)
    assert "Elo points above the mean" in text
    assert "of the group" not in text
    assert "dan: has not met anybody: no rating." in text
    assert "95 % interval" in text
    for part in (text, page):
        assert "−∞ … " in part
        assert " … ∞" in part
        assert "no lower bound" in part
        assert "No ring of meetings tests" in part
    assert "[bold]bob" in text
    assert "<b>ann</b>" not in page
    assert "&lt;b&gt;ann&lt;/b&gt;" in page
    assert all(len(line) <= 80 for line in text.splitlines())


def test_groups_are_told_apart(plain):
    found = rate(4, [(0, 1), (2, 3)], [[2.0, 0.0, 1.0]] * 2)
    document = plain | {"ratings": found.as_dict(LABELS)}
    assert "above the mean of the group" in report.text(document)
    assert "to be compared within group 1 only" in report.html(document)


def test_a_bad_fit_is_named(plain):
    scores = np.where(np.arange(200) < 150, 2.0, 0.0) * np.ones((3, 1))
    document = plain | {"ratings": rate(3, RING, scores).as_dict(LABELS[:3])}
    sentence = report.fit_sentence(document)
    assert "scored 75.0 %, by the ratings 50.0 %" in sentence
    assert "one scale is too little" in sentence
    assert sentence.split(";")[0].split(":")[1].strip() in report.text(document, 200)
    fair = plain | {"ratings": rate(3, RING, np.ones((3, 200))).as_dict(LABELS[:3])}
    assert "within what chance explains" in report.fit_sentence(fair)


def test_cycles_are_named(plain):
    (sentence,) = report.cycle_sentences(cycle_part([AHEAD] * 3))
    assert sentence == (
        "Cycle: <b>ann</b> beats [bold]bob by 10.0, [bold]bob beats cat by 10.0, cat beats "
        "<b>ann</b> by 10.0; all three are separated, also after correction for all triples."
    )
    document = plain | cycle_part([AHEAD] * 3)
    assert sentence in report.text(document, 300)
    assert "<h2>Cycles</h2>" in report.html(document)
    assert "<b>ann" not in report.html(document)


@pytest.mark.parametrize(
    "margins, meetings, sentences",
    [
        ([AHEAD, AHEAD, DOUBTFUL], RING, ["Cycles in means only, not separated: 1 of 1 triple."]),
        ([AHEAD] * 3, [(0, 1), (1, 2), (0, 2)], ["No cycle in 1 triple of players."]),
        ([AHEAD], [(0, 1)], []),
        (
            [AHEAD] * 4,
            [(0, 1), (1, 2), (2, 3), (3, 0)],
            [f"Cycle of more than three by separated margins among {', '.join(LABELS)}."],
        ),
    ],
)
def test_other_cycles_are_told_apart(margins, meetings, sentences):
    assert report.cycle_sentences(cycle_part(margins, meetings)) == sentences


def test_ranges():
    assert report.rating_range({"rating": 1.0, "low": -12.34, "high": 4.0}) == "−12.3 … +4.0"
    assert report.rating_range({"rating": None, "low": None, "high": None}) == NONE
