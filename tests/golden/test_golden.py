"""Recorded playthroughs have not changed; `python tests/golden/make.py` writes them anew."""

from __future__ import annotations

import pytest
from golden.make import HERE, PLAYTHROUGHS, text_of


@pytest.mark.parametrize("name", PLAYTHROUGHS)
def test_rules_streams_or_observations_have_changed(name: str) -> None:
    recorded = (HERE / name).read_text(encoding="utf-8")
    assert text_of(name).splitlines() == recorded.splitlines()


def test_recorded_playthroughs_show_too_little() -> None:
    """Draws, doubles, a tied game, a sweep, poker points and both bonuses occur in them."""
    text = "".join((HERE / name).read_text(encoding="utf-8") for name in PLAYTHROUGHS)
    for words in (
        "stand pat",
        "trick_values (4, 4)",
        "below (20, 20)",
        "sweep (250, 0)",
        "poker (50, 0)",
        "game_bonus (100, 0)",
        "rubber_bonus (750, 0)",
        "games (2, 0)",
    ):
        assert words in text, words


def test_recorded_playthroughs_of_the_cousins_show_too_little() -> None:
    """Everything that is said and done at their tables, forced moves and showings included."""
    text = "".join((HERE / name).read_text(encoding="utf-8") for name in PLAYTHROUGHS)
    for words in (
        "player_3 pass (",
        "player_0 bid 2",
        "*1",
        "score (-3, 0)",
        "'opens 3'",
        "'raises ",
        "'equals'",
        "'passes'",
        "stayed=(True, True, ",
        "pools_taken ((",
        "keep all",
        "poker (0, 0, 0, 0, 1, 0)",
        "hands_counted True",
    ):
        assert words in text, words


def test_file_without_a_playthrough_is_left_over() -> None:
    assert {path.name for path in HERE.glob("*.txt")} == set(PLAYTHROUGHS)
