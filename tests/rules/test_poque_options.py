"""`poque_v0.Rules` and scores: every field refuses what makes no sense and names what it wants."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from poque_table import PoqueTable

from poke_env.games.poque import POQUE, PRESETS, Rules
from poke_env.settings import Settings

NUMBERS = {
    "players": (2, 8),
    "ranks": (2, 13),
    "suits": (1, 4),
    "hand_size": (2, 5),
    "stack": (1, 1000),
    "deals": (1, 120),
    "max_raise": (1, 5),
    "max_raises": (0, 5),
}
CHOICES = {"unopened": ("dealer", "carry"), "pay": ("card", "pips")}
SWITCHES = ("allow_bluff", "most_cards_double")


def refuse(field: str, value: Any, allowed: str) -> None:
    """`Rules` refuses the value in one sentence that names field, value and what is allowed."""
    with pytest.raises(ValueError, match=rf"^{field} ") as caught:
        Rules(**{field: value})
    message = str(caught.value)
    assert repr(value) in message
    assert allowed in message
    assert "\n" not in message


def test_some_field_is_not_checked() -> None:
    assert {field.name for field in fields(Rules)} == {*NUMBERS, *CHOICES, *SWITCHES}


@pytest.mark.parametrize("field", NUMBERS)
def test_number_out_of_range_passes(field: str) -> None:
    low, high = NUMBERS[field]
    for value in (low - 1, high + 1, -(10**30), 10**30):
        refuse(field, value, f"from {low} to {high}")
    for value in (float(low), str(low), True, np.True_, [low], np.float64(low)):
        refuse(field, value, f"from {low} to {high}")
    if field != "ranks":
        refuse(field, None, f"from {low} to {high}")


@pytest.mark.parametrize("field", CHOICES)
def test_unknown_choice_passes(field: str) -> None:
    first, second = CHOICES[field]
    for value in ("", first.upper(), "other", None, 0, True, [first]):
        refuse(field, value, f"{first!r} or {second!r}")
    assert getattr(Rules(**{field: second}), field) == second


@pytest.mark.parametrize("field", SWITCHES)
def test_switch_takes_something_like_a_truth_value(field: str) -> None:
    for value in (0, 1, "yes", None, 0.0):
        refuse(field, value, "True or False")


def test_hands_may_be_larger_than_the_pack() -> None:
    with pytest.raises(ValueError, match=r"^hand_size .*21 cards.*players=4.*ranks=5.*suits=4.*20"):
        Rules(ranks=5)
    assert len(Rules(ranks=6).pack()) == 24
    with pytest.raises(ValueError, match=r"^hand_size .*41 cards.*ranks=13.*suits=3.*39"):
        Rules(players=8, suits=3)


def test_unknown_field_passes() -> None:
    with pytest.raises(TypeError, match="ante"):
        Rules(ante=2)  # type: ignore[call-arg]


def test_equal_rules_are_not_one_value() -> None:
    """NumPy numbers and bools give the very rules that Python values give."""
    strange = Rules(
        players=np.int64(4),  # type: ignore[arg-type]
        allow_bluff=np.False_,  # type: ignore[arg-type]
    )
    assert strange == Rules()
    assert hash(strange) == hash(Rules())
    assert repr(strange) == repr(Rules())


@pytest.mark.parametrize("players", range(2, 9))
def test_number_of_players_does_not_change_the_pack(players: int) -> None:
    rules = Settings(POQUE, "deal", players=players).rules
    assert rules == Rules(players=players)
    assert POQUE.players(PoqueTable("deal", rules).state) == players


def test_rules_do_not_come_back_from_plain_values() -> None:
    for rules in (*PRESETS.values(), Rules(players=7, pay="pips", unopened="carry")):
        assert Rules(**rules.as_dict()) == rules


def test_small_preset_has_other_cards_than_documented() -> None:
    assert PRESETS["standard"] == Rules()
    assert [len(PRESETS[name].pack()) for name in ("tiny", "small")] == [8, 15]
    assert POQUE.num_actions(PRESETS["tiny"]) == 10


# --- scores ---------------------------------------------------------------------------------------


def test_match_begins_at_another_score() -> None:
    score = {"stacks": (10, 20, 30, 40), "pools": (10, 0, 20, 0, 30, 0), "deals_played": 7}
    table = PoqueTable("session", "standard", score)
    sheet = table.sheet
    assert {name: getattr(sheet, name) for name in score} == score
    table.deal(list(table.rules.pack()), 0)
    assert {name: getattr(table.sheet, name) for name in score} == score
    assert table.pools[0] == 14
    assert table.decoded(0)["deals_left"] == 5
    assert PoqueTable("session", "standard", {}).stacks == [40] * 4
    arrays = {name: np.array(value) for name, value in score.items()}
    assert PoqueTable("session", "standard", arrays).stacks == [10, 20, 30, 40]


@pytest.mark.parametrize(
    "score, message",
    [
        (7, "score must be a dict"),
        ({"chips": (1, 2)}, r"score has unknown fields \['chips'\]; allowed are stacks, pools"),
        ({"stacks": (40, 40, 40)}, r"score stacks must be 4 integers of at least 0, got \(40"),
        ({"stacks": (40, 40, 40, 41)}, "score stacks and pools must add up to 160"),
        ({"stacks": (80, 80, 1, -1)}, "score stacks must be 4 integers"),
        ({"stacks": (40, 40, 40, 40.0)}, "score stacks must be 4 integers"),
        ({"stacks": (40, 40, 40, True)}, "score stacks must be 4 integers"),
        ({"stacks": "4444"}, "score stacks must be 4 integers"),
        ({"pools": (0, 0, 0)}, "score pools must be 6 integers"),
        ({"pools": (1, 0, 0, 0, 0, 0)}, "score stacks and pools must add up to 160"),
        ({"deals_played": 12}, "score deals_played must be an integer from 0 to 11, got 12"),
        ({"deals_played": -1}, "score deals_played must be an integer from 0 to 11, got -1"),
        ({"deals_played": None}, "score deals_played must be an integer"),
    ],
)
def test_impossible_score_passes(score: Any, message: str) -> None:
    table = PoqueTable("session", "standard")
    before = table.state.tobytes()
    with pytest.raises(ValueError, match=rf"^{message}"):
        POQUE.place_score(table.state, score)
    assert table.state.tobytes() == before


def test_most_chips_do_not_fit_the_observation() -> None:
    """All chips of the largest session in one place are told exactly."""
    rules = Rules(players=8, stack=1000, deals=120)
    score = {"stacks": (7999, 1, 0, 0, 0, 0, 0, 0), "pools": (0,) * 6}
    table = PoqueTable("session", rules, score).deal(list(rules.pack()), 0)
    assert table.decoded(1)["stacks"][7] in range(7990, 8001)
    assert table.decoded(1)["deals_left"] == 120
    pools = {"stacks": (0,) * 8, "pools": (0, 0, 0, 0, 0, 8000)}
    table = PoqueTable("session", replace(rules, unopened="carry"), pools)
    table.deal(list(rules.pack()), 0)
    assert table.decoded(3)["pools"]["poque"] == 8000
