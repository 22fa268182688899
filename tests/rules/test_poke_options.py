"""`poke_v0.Rules`: every field refuses what makes no sense and names itself, value and range."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest

from poke_env import poke_v0
from poke_env.games.poke import PRESETS, Rules

NUMBERS = {
    "ranks": (2, 13),
    "suits": (1, 4),
    "hand_size": (2, 5),
    "max_discard": (0, 5),
    "non_dealer_draws": (0, 3),
    "dealer_draws": (0, 3),
    "target": (1, 200),
    "sweep_points": (0, 10_000),
    "game_points": (0, 10_000),
}
LISTS = {
    "non_dealer_values": (3, 64),
    "dealer_values": (4, 64),
    "poker_points": (10, 10_000),
    "rubber_points": (2, 10_000),
}
CHOICES = {
    "trick_unit": ("card", "lead"),
    "poker_tie": ("none", "both"),
    "final_tie": ("draw", "rubber_winner"),
}
SWITCHES = ("must_beat", "ace_low_straight", "follow_set_if_held", "reveal_discards")


def refuse(field: str, value: Any, allowed: str) -> None:
    """`Rules` refuses the value in one sentence that names field, value and what is allowed."""
    with pytest.raises(ValueError, match=rf"^{field} ") as caught:
        Rules(**{field: value})
    message = str(caught.value)
    assert repr(value) in message
    assert allowed in message
    assert "\n" not in message


def test_some_field_is_not_checked() -> None:
    assert {field.name for field in fields(Rules)} == {*NUMBERS, *LISTS, *CHOICES, *SWITCHES}


@pytest.mark.parametrize("field", NUMBERS)
def test_number_out_of_range_passes(field: str) -> None:
    low, high = NUMBERS[field]
    for value in (low - 1, high + 1, -(10**30), 10**30):
        refuse(field, value, f"from {low} to {high}")
    for value in (float(low), str(low), None, True, np.True_, [low], np.float64(low)):
        refuse(field, value, f"from {low} to {high}")


@pytest.mark.parametrize("field", LISTS)
def test_wrong_list_of_points_passes(field: str) -> None:
    length, high = LISTS[field]
    allowed = f"{length} integers from 0 to {high}"
    good = list(getattr(Rules(), field))
    for value in (
        good[:-1],
        [*good, 0],
        [-1, *good[1:]],
        [*good[:-1], high + 1],
        [*good[:-1], 1.0],
        [*good[:-1], True],
        [*good[:-1], None],
        "".join(map(str, good)),
        7,
        None,
        set(good),
    ):
        refuse(field, value, allowed)


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
    with pytest.raises(ValueError, match=r"hand_size .*10 cards.*ranks=9.*suits=1.* 9"):
        Rules(ranks=9, suits=1)
    Rules(ranks=10, suits=1)
    with pytest.raises(ValueError, match="max_discard must be an integer from 0 to 2, got 3"):
        Rules(hand_size=2)


def test_unknown_field_passes() -> None:
    with pytest.raises(TypeError, match="trumps"):
        Rules(trumps=True)  # type: ignore[call-arg]


def test_equal_rules_are_not_one_value() -> None:
    """NumPy numbers, lists and NumPy bools give the very rules that Python values give."""
    strange = Rules(
        ranks=np.int64(13),
        non_dealer_values=[np.int8(1), 2, 4],  # type: ignore[arg-type]
        must_beat=np.True_,  # type: ignore[arg-type]
    )
    assert strange == Rules()
    assert hash(strange) == hash(Rules())
    assert repr(strange) == repr(Rules())
    one, other = poke_v0.raw_env(rules=strange), poke_v0.raw_env()
    one.reset(seed=0)
    other.reset(seed=1)
    other.set_state(one.get_state())
    assert other.record.tobytes() == one.record.tobytes()


def test_rules_can_be_altered() -> None:
    rules = Rules()
    with pytest.raises(FrozenInstanceError):
        rules.target = 1  # type: ignore[misc]
    assert replace(rules, target=30) == Rules(target=30)


@pytest.mark.parametrize("rules", ["Standard", "", None, 3, {"target": 20}, Rules])
def test_unknown_preset_passes(rules: Any) -> None:
    with pytest.raises(ValueError, match=r"^rules must be one of 'standard', 'tiny', 'small'") as e:
        poke_v0.raw_env(rules=rules)
    assert repr(rules) in str(e.value)


def test_preset_and_its_rules_are_two_games() -> None:
    for name, rules in PRESETS.items():
        by_name, by_value = poke_v0.raw_env(rules=name), poke_v0.raw_env(rules=rules)
        by_name.reset(seed=3)
        by_value.reset(seed=3)
        assert by_name.get_state() == by_value.get_state()


BAD_SETTINGS = [
    ("match", "hand"),
    ("match", 1),
    ("reward", "money"),
    ("reward", 0),
    ("render_mode", "text"),
    ("render_mode", 1),
    ("render_view", "player_2"),
    ("render_view", 0),
    ("max_deals", 0),
    ("max_deals", -3),
    ("max_deals", 1.0),
    ("max_deals", True),
    ("max_deals", "ten"),
    ("max_deals", 10**30),
    ("below_value", "50"),
    ("below_value", float("nan")),
    ("below_value", True),
    ("below_value", 10**400),
    ("reward_scale", 0),
    ("reward_scale", -1.0),
    ("reward_scale", float("inf")),
    ("illegal_penalty", -1),
    ("illegal_penalty", float("inf")),
    ("illegal_penalty", "a lot"),
]


@pytest.mark.parametrize("name, value", BAD_SETTINGS)
@pytest.mark.parametrize("door", ["env", "raw_env", "single_env"])
def test_bad_setting_passes(door: str, name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^{name} must be ") as caught:
        getattr(poke_v0, door)(**{name: value})
    assert re.search(re.escape(repr(value)), str(caught.value))


def test_none_is_not_the_default() -> None:
    settings = poke_v0.raw_env(match=None, below_value=None).settings
    assert (settings.match, settings.below_value) == ("rubber", 50.0)
