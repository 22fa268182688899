"""`pokex_v0.Rules`: every field refuses what makes no sense and names itself, value and range."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, fields, replace
from typing import Any

import numpy as np
import pytest

from poke_env.games.pokex import POKEX, PRESETS, RULES, Rules

NUMBERS = {
    "ranks": (2, 13),
    "suits": (1, 4),
    "jokers": (0, 2),
    "tricks": (1, 6),
    "target": (1, 300),
}
CHOICES = {
    "joker": ("high_card", "wild"),
    "lead_next": ("left", "winner"),
    "trick_tie": ("leader", "defenders"),
    "failed_bid": ("zero", "minus"),
}


def refuse(field: str, value: Any, allowed: str) -> None:
    """`Rules` refuses the value in one sentence that names field, value and what is allowed."""
    with pytest.raises(ValueError, match=rf"^{field} ") as caught:
        Rules(**{field: value})
    message = str(caught.value)
    assert repr(value) in message
    assert allowed in message
    assert "\n" not in message


def test_some_field_is_not_checked() -> None:
    assert {field.name for field in fields(Rules)} == {*NUMBERS, *CHOICES}


def test_defaults_depart_from_the_rule_book() -> None:
    assert asdict(Rules()) == {
        "ranks": 13,
        "suits": 4,
        "jokers": 2,
        "tricks": 6,
        "target": 33,
        "joker": "high_card",
        "lead_next": "left",
        "trick_tie": "leader",
        "failed_bid": "zero",
    }
    assert PRESETS["standard"] == Rules()
    assert PRESETS["wild"] == Rules(joker="wild")
    assert Rules().pack() == tuple(range(54))
    assert POKEX.max_deals == 100


@pytest.mark.parametrize("field", NUMBERS)
def test_number_out_of_range_passes(field: str) -> None:
    low, high = NUMBERS[field]
    for value in (low - 1, high + 1, -(10**30), 10**30):
        refuse(field, value, f"from {low} to {high}")
    for value in (float(low), str(low), None, True, np.True_, [low], np.float64(low)):
        refuse(field, value, f"from {low} to {high}")


@pytest.mark.parametrize("field", CHOICES)
def test_unknown_choice_passes(field: str) -> None:
    first, second = CHOICES[field]
    for value in ("", first.upper(), "other", None, 0, True, [first]):
        refuse(field, value, f"{first!r} or {second!r}")
    assert getattr(Rules(**{field: second}), field) == second


def test_pack_is_too_small_for_the_tricks() -> None:
    with pytest.raises(ValueError, match=r"tricks .*54 for 6.*ranks=13.*suits=4.*jokers=1.* 53$"):
        Rules(jokers=1)
    with pytest.raises(
        ValueError, match=r"tricks .*nine.*9 for 1.*ranks=4.*suits=2.*jokers=0.* 8$"
    ):
        Rules(ranks=4, suits=2, jokers=0, tricks=1)
    assert len(Rules(ranks=9, suits=1, jokers=0, tricks=1).pack()) == 9
    assert len(Rules(ranks=4, suits=2, jokers=1, tricks=1).pack()) == 9


def test_small_pack_has_other_cards() -> None:
    assert PRESETS["tiny"].pack() == (*range(44, 52), 52)
    assert PRESETS["small"].pack() == (*range(36, 52), 52, 53)
    assert Rules(ranks=5, suits=2, jokers=0, tricks=1).pack() == (
        *(32, 33, 36, 37, 40, 41, 44, 45, 48, 49),
    )


def test_option_is_lost_in_the_record() -> None:
    """Rules that differ make records that differ."""
    records = set()
    varied = [Rules(tricks=5)]
    varied += [replace(varied[0], **{field: choice[1]}) for field, choice in CHOICES.items()]
    varied += [replace(varied[0], **{name: NUMBERS[name][0]}) for name in ("jokers", "target")]
    varied += [replace(varied[0], ranks=12), Rules(tricks=2, suits=3)]
    for rules in varied:
        record = np.zeros(1, RULES)
        rules.write(record[0])
        records.add(record.tobytes())
        for name in NUMBERS:
            assert record[0][name] == getattr(rules, name)
    assert len(records) == len(varied)


def test_unknown_field_passes() -> None:
    with pytest.raises(TypeError, match="trumps"):
        Rules(trumps=True)  # type: ignore[call-arg]


def test_equal_rules_are_not_one_value() -> None:
    strange = Rules(ranks=np.int64(13), target=np.int8(33))
    assert strange == Rules()
    assert hash(strange) == hash(Rules())
    assert repr(strange) == repr(Rules())
    assert strange.as_dict() == Rules().as_dict()
    assert type(strange.ranks) is int
    with pytest.raises(FrozenInstanceError):
        strange.target = 1  # type: ignore[misc]


@pytest.mark.parametrize("rules", ["Standard", "", None, 3, {"target": 20}, Rules])
def test_unknown_preset_passes(rules: Any) -> None:
    with pytest.raises(ValueError, match=r"^rules must be one of 'standard', 'tiny', 'small'"):
        POKEX.rules_for(rules, None)


def test_number_of_players_can_be_changed() -> None:
    assert POKEX.rules_for("standard", 4) == Rules()
    for players in (2, 3, 5, "4"):
        with pytest.raises(ValueError, match=r"^players must be "):
            POKEX.rules_for("standard", players)  # type: ignore[arg-type]
