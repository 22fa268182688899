"""`poangpoker_v0.Rules`: every field refuses what makes no sense and names itself, value, range."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, fields, replace
from typing import Any

import numpy as np
import pytest

from poke_env import poangpoker_v0
from poke_env.games.poangpoker import POANGPOKER, PRESETS, Rules

NUMBERS = {
    "players": (2, 6),
    "ranks": (2, 13),
    "suits": (1, 4),
    "hand_size": (2, 5),
    "max_discard": (0, 5),
    "last_trick_points": (0, 1_000),
    "target": (1, 1_000),
}
CHOICES = {"tie": ("none", "all"), "win_check": ("after_trick", "end_of_deal")}


def refuse(field: str, value: Any, allowed: str, named: str | None = None) -> None:
    """`Rules` refuses the value in one sentence that names field, value and what is allowed."""
    with pytest.raises(ValueError, match=rf"^{re.escape(named or field)} ") as caught:
        Rules(**{field: value})
    assert allowed in str(caught.value)
    assert "\n" not in str(caught.value)


def test_every_field_is_checked() -> None:
    known = {*NUMBERS, *CHOICES, "poker_points", "must_head"}
    assert {field.name for field in fields(Rules)} == known


@pytest.mark.parametrize("field", NUMBERS)
def test_number_out_of_range_is_refused(field: str) -> None:
    low, high = NUMBERS[field]
    for value in (low - 1, high + 1, float(low), str(low), None, True, [low]):
        refuse(field, value, f"from {low} to {high}")


@pytest.mark.parametrize("field", NUMBERS)
def test_numpy_integers_are_integers(field: str) -> None:
    rules = Rules(**{field: np.int16(getattr(Rules(), field))})
    assert type(getattr(rules, field)) is int
    assert rules == Rules()


@pytest.mark.parametrize("field", CHOICES)
def test_unknown_choice_is_refused(field: str) -> None:
    for value in ("other", CHOICES[field][0].upper(), True, None, ["none"]):
        refuse(field, value, " or ".join(map(repr, CHOICES[field])))


def test_flag_is_true_or_false() -> None:
    for value in (1, 0, "yes", None):
        refuse("must_head", value, "True or False")
    assert Rules(must_head=np.False_).must_head is False


def test_wrong_points_of_hands_are_refused() -> None:
    good = Rules().poker_points
    for value in (good[:-1], (*good, 1), "0123456789", 7, None, set(good)):
        refuse("poker_points", value, "10 integers from 0 to 1000")
    for value in (-1, 1_001, 1.0, True, None):
        refuse("poker_points", (*good[:9], value), "from 0 to 1000", "poker_points[9]")
    assert Rules(poker_points=list(good)) == Rules()


def test_pack_must_hold_a_hand_for_everybody() -> None:
    Rules(players=6, ranks=10, suits=3)
    with pytest.raises(ValueError, match=r"players must leave each a hand.* take 30 .* make 27"):
        Rules(players=6, ranks=9, suits=3)


def test_discards_are_limited_by_the_hand() -> None:
    with pytest.raises(ValueError, match="max_discard must be an integer from 0 to 3, got 4"):
        Rules(hand_size=3, max_discard=4)


def test_rules_are_frozen_and_can_be_told_as_plain_values() -> None:
    with pytest.raises(FrozenInstanceError):
        Rules().target = 7  # type: ignore[misc]
    rules = replace(Rules(), players=6, tie="all")
    assert Rules(**rules.as_dict()) == rules
    assert len(rules.pack()) == 52


def test_defaults_are_the_rule_book() -> None:
    """docs/rules.md 4.1 to 4.4."""
    rules = PRESETS["standard"]
    assert rules == Rules()
    assert (rules.hand_size, rules.max_discard, len(rules.pack())) == (5, 5, 52)
    assert (rules.last_trick_points, rules.target) == (2, 13)
    assert rules.poker_points == (0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
    assert (rules.must_head, rules.tie, rules.win_check) == (True, "none", "after_trick")


@pytest.mark.parametrize("players", range(2, 7))
def test_number_of_players_is_a_setting(players: int) -> None:
    env = poangpoker_v0.raw_env(match="game", players=players)
    assert env.possible_agents == [f"player_{seat}" for seat in range(players)]
    assert env.rules == Rules(players=players)


@pytest.mark.parametrize("preset", PRESETS)
def test_action_space_is_a_set_for_every_set_of_slots(preset: str) -> None:
    rules = PRESETS[preset]
    assert POANGPOKER.num_actions(rules) == 2**rules.hand_size
