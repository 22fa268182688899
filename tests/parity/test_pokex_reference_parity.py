"""Pokex against its slow reference implementation, through all options of the rules.

Both get the same decks and actions; after every step they must agree on the player to move, his
legal actions, the rewards, the score, what each seat knows, and the pad of finished deals. And what
a seat is told must not depend on cards that it has not seen.
"""

from __future__ import annotations

from dataclasses import asdict
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pokex_position import Position

from poke_env import observation
from poke_env.games import base
from poke_env.games.pokex import POKEX, PRESETS, SEEN_FROM, Rules
from reference.pokex_reference import FinishedDeal, ReferencePokex, ReferenceRules

MOST_DEALS = 3
SIDES = ("own", "other")
HOUSE_RULES = Rules(joker="wild", lead_next="winner", trick_tie="defenders", failed_bid="minus")
"""Every option away from its default."""
LOW, HIGH = observation.bounds(POKEX)


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    """Rules over every field, the whole pack rather often."""
    tricks = draw(st.integers(1, 6))
    suits = draw(st.integers(1, 4))
    jokers = draw(st.integers(0, 2))
    least = max(2, -(-(9 * tricks - jokers) // suits))
    if least > 13:
        least, suits, jokers = 13, 4, 2
    return Rules(
        ranks=draw(st.integers(least, 13)),
        suits=suits,
        jokers=jokers,
        tricks=tricks,
        target=draw(st.integers(1, 12) | st.integers(1, 300)),
        joker=draw(st.sampled_from(["high_card", "wild"])),
        lead_next=draw(st.sampled_from(["left", "winner"])),
        trick_tie=draw(st.sampled_from(["leader", "defenders"])),
        failed_bid=draw(st.sampled_from(["zero", "minus"])),
    )


@st.composite
def any_match(draw: st.DrawFn) -> dict[str, Any]:
    rules = draw(any_rules() | st.sampled_from([*PRESETS.values(), HOUSE_RULES]))
    least = -400 if rules.failed_bid == "minus" else 0
    points = st.integers(least, rules.target - 1)
    return {
        "rules": rules,
        "match": draw(st.sampled_from(["deal", "game"])),
        "dealer": draw(st.integers(0, 3)),
        "points": draw(st.just((0, 0)) | st.tuples(points, points)),
        "deck_seed": draw(st.integers(0, 2**32)),
        "choices": draw(st.randoms(use_true_random=False)),
    }


def a_match(**changes: Any) -> dict[str, Any]:
    standard = {
        "rules": PRESETS["standard"],
        "match": "game",
        "dealer": 0,
        "points": (0, 0),
        "deck_seed": 0,
        "choices": Random(0),
    }
    return {**standard, **changes}


class Pair:
    """A match by the rules of the package and by the reference."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        rules, match, dealer = scenario["rules"], scenario["match"], scenario["dealer"]
        points = scenario["points"]
        self.position = Position(rules, match, dealer, {"points": points})
        self.reference = ReferencePokex(ReferenceRules(**rules.as_dict()), match, dealer, points)
        self.decks = Random(scenario["deck_seed"])
        self.deal()

    def deal(self) -> None:
        pack = self.reference.rules.pack()
        deck = self.decks.sample(pack, len(pack))
        self.position.deal(deck)
        self.reference.deal(deck)

    def step(self, action: int) -> None:
        self.position.step(action)
        self.reference.apply(action)
        ended = self.reference.to_move is None
        assert self.position.paid == (base.DEAL_ENDED if ended else base.NOT_PAID)
        assert tuple(self.position.reward) == self.reference.rewards("points")
        if ended:
            self.compare_deal()
        if self.reference.phase == "over":
            assert tuple(self.position.worth()) == self.reference.rewards("win")

    def compare(self) -> None:
        position, reference = self.position, self.reference
        waiting = base.MATCH_OVER if reference.phase == "over" else base.WANTS_DECK
        assert position.seat == (waiting if reference.to_move is None else reference.to_move)
        assert set(position.legal()) == reference.legal()
        first, second = reference.score
        for seat in range(4):
            ahead = np.sign((first - second) * (1 if seat % 2 == 0 else -1))
            assert base.standing(position.state, seat) == 1 + ahead
            assert (position.observe(seat) >= LOW).all()
            assert (position.observe(seat) <= HIGH).all()
            assert self.told(seat) == self.known(seat)

    def told(self, seat: int) -> dict[str, Any]:
        """What a seat's observation says, in the terms of the reference."""

        def number(name: str | None) -> int | None:
            return None if name is None else SEEN_FROM.index(name)

        told = self.position.knows(seat)
        for name in ("declarer", "turn", "dealer"):
            told[name] = number(told[name])
        told["bids"] = [(bid, number(who)) for bid, who in told["bids"]]
        for trick in told["tricks"]:
            trick["leader"] = number(trick["leader"])
            trick["cards"] = list(trick["cards"])
            trick["winner"] = None if trick["winner"] is None else SIDES.index(trick["winner"])
        return {
            name: list(told[name]) if type(told[name]) is tuple else told[name] for name in told
        }

    def known(self, seat: int) -> dict[str, Any]:
        """What the reference says that a seat knows; scores as far as they are told."""
        known = self.reference.knows(seat)
        known["score"] = [max(-330, points) for points in known["score"]]
        return known

    def compare_deal(self) -> None:
        sheet, reference = self.position.sheet(), self.reference
        assert (sheet.points, sheet.dealer) == (reference.score, reference.dealer)
        assert len(sheet.deals) == len(reference.finished)
        assert plain(sheet.deals[-1]) == plain(reference.finished[-1])
        assert sheet.deals[-1].points() == reference.rewards("points")


def plain(deal: Any) -> dict[str, Any]:
    """A finished deal of either side, tricks as tuples."""
    fields = asdict(deal) if isinstance(deal, FinishedDeal) else deal._asdict()
    fields["tricks"] = [
        (trick.leader, tuple(trick.cards[seat] for seat in range(4)), trick.centre, trick.winner)
        for trick in deal.tricks
    ]
    return fields


def choose(legal: list[int], choices: Random) -> int:
    """One legal action; every other call a pass, so that auctions end at all heights."""
    return 0 if legal[0] == 0 and choices.random() < 0.5 else choices.choice(legal)


def compare_whole_match(scenario: dict[str, Any]) -> None:
    pair = Pair(scenario)
    pair.compare()
    while pair.reference.phase != "over":
        if pair.reference.to_move is None:
            if len(pair.reference.finished) == MOST_DEALS:
                break
            pair.deal()
        else:
            pair.step(choose(pair.position.legal(), scenario["choices"]))
        pair.compare()


@given(any_match())
@example(a_match())
@example(a_match(rules=HOUSE_RULES, dealer=3))
@example(a_match(rules=PRESETS["tiny"], match="deal", dealer=2))
@example(a_match(rules=PRESETS["small"], points=(5, 1)))
@settings(max_examples=50, deadline=None)
def test_game_departs_from_the_rules(scenario: dict[str, Any]) -> None:
    compare_whole_match(scenario)


@pytest.mark.slow
@given(any_match())
@settings(max_examples=3_000, deadline=None)
def test_game_departs_from_the_rules_in_many_matches(scenario: dict[str, Any]) -> None:
    compare_whole_match(scenario)


# --- hidden cards ---------------------------------------------------------------------------------


def say(position: Position, action: int) -> str:
    return POKEX.action_text(position.state, action)


@given(any_match(), st.integers(0, 32))
@example(a_match(), 0)
@example(a_match(), 20)
@example(a_match(rules=HOUSE_RULES), 9)
@settings(max_examples=40, deadline=None)
def test_observation_depends_on_hidden_cards(scenario: dict[str, Any], moment: int) -> None:
    """Swap the cards a seat has not seen, its partner's among them: it is told the same."""
    rules, match, dealer = scenario["rules"], scenario["match"], scenario["dealer"]
    rng = Random(scenario["deck_seed"])
    deck = rng.sample(rules.pack(), len(rules.pack()))
    here = Position(rules, match, dealer).deal(deck)
    said = []
    while here.seat >= 0 and len(said) < moment:
        said.append(say(here, choose(here.legal(), scenario["choices"])))
        here.step(said[-1])
    for seat in range(4):
        seen = here.knows(seat)["seen"]
        places = [place for place, card in enumerate(deck) if card not in seen]
        hidden = [deck[place] for place in places]
        other = list(deck)
        for place, card in zip(places, hidden[1:] + hidden[:1], strict=True):
            other[place] = card
        there = Position(rules, match, dealer).deal(other).step(*said)
        if not said:
            changed = there.state["dealt"] != here.state["dealt"]
            assert changed.tolist() == [other != seat for other in range(4)]
        assert there.observe(seat).tobytes() == here.observe(seat).tobytes()
        if there.seat == here.seat == seat:
            assert there.legal() == here.legal()
