"""Poque against the slow reference implementation, through all options and numbers of players.

Both get the same decks and actions; after every step they must agree on the player to move, his
legal actions, the points, the chips, what each seat knows, and the finished deals.
"""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from poque_table import PoqueTable

from poke_env.cards import card_number, card_text
from poke_env.games.base import DEAL_ENDED, NOT_PAID, PAID
from poke_env.games.poque import FIRST_SLOT, PRESETS, Rules
from reference.poque_reference import ReferencePoque, ReferenceRules

MOST_DEALS = 5


@st.composite
def any_rules(draw: st.DrawFn) -> Rules:
    """Rules over every field; packs that just suffice and short stacks rather often."""
    players, suits = draw(st.integers(2, 8)), draw(st.sampled_from([4, 4, 3, 2]))
    hand_size = draw(st.integers(2, min(5, (13 * suits - 1) // players)))
    least = -(-(players * hand_size + 1) // suits)
    of_players = (8, 8, 8, 9, 10, 11, 13)[players - 2]
    ranks = draw(st.integers(max(2, least), 13) | st.just(None if of_players >= least else least))
    return Rules(
        players=players,
        ranks=ranks,
        suits=suits,
        hand_size=hand_size,
        stack=draw(st.integers(1, 15) | st.integers(1, 80) | st.just(1000)),
        deals=draw(st.integers(1, 6) | st.just(120)),
        max_raise=draw(st.integers(1, 5)),
        max_raises=draw(st.integers(0, 5)),
        unopened=draw(st.sampled_from(["dealer", "carry"])),
        allow_bluff=draw(st.booleans()),
        pay=draw(st.sampled_from(["card", "pips"])),
        most_cards_double=draw(st.booleans()),
    )


@st.composite
def any_score(draw: st.DrawFn, rules: Rules) -> dict[str, Any]:
    """Chips strewn over stacks and pools, with many seats that are short."""
    rng = Random(draw(st.integers(0, 2**32)))
    places = [rng.choice([0, 0, 1, 5, 100]) for _ in range(rules.players + 6)]
    weights = [*places[:-1], places[-1] + 1]
    counts = [0] * len(weights)
    for place in rng.choices(range(len(weights)), weights, k=rules.players * rules.stack):
        counts[place] += 1
    return {
        "stacks": tuple(counts[: rules.players]),
        "pools": tuple(counts[rules.players :]),
        "deals_played": draw(st.integers(0, rules.deals - 1)),
    }


@st.composite
def any_match(draw: st.DrawFn) -> dict[str, Any]:
    rules = draw(any_rules() | st.sampled_from(list(PRESETS.values())))
    return {
        "rules": rules,
        "match": draw(st.sampled_from(["deal", "session"])),
        "dealer": draw(st.integers(0, rules.players - 1)),
        "score": draw(st.just({}) | any_score(rules)),
        "seed": draw(st.integers(0, 2**32)),
    }


def a_match(**changes: Any) -> dict[str, Any]:
    standard = {"rules": Rules(), "match": "session", "dealer": 0, "score": {}, "seed": 0}
    return {**standard, **changes}


def choose(legal: list[int], rng: Random) -> int:
    """An action; staying and betting more often than passing, so that auctions grow."""
    if 0 in legal and rng.random() < 0.6:
        legal = [action for action in legal if action > 0]
    return rng.choice(legal)


class Pair:
    """A match of the game and of the reference."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        rules, match, score = scenario["rules"], scenario["match"], scenario["score"]
        self.rng = Random(scenario["seed"])
        self.dealer = scenario["dealer"]
        self.table = PoqueTable(match, rules, score or None)
        reference_rules = ReferenceRules(**rules.as_dict())
        self.reference = ReferencePoque(reference_rules, match, dealer=self.dealer, **score)
        self.first_stacks = list(self.reference.stacks)
        self.deals = 0
        self.deal()

    def deal(self) -> None:
        pack = self.table.rules.pack()
        deck = self.rng.sample(pack, len(pack))
        self.table.deal(deck, self.dealer if self.deals == 0 else -1)
        self.reference.deal(deck)
        self.deals += 1

    def step(self) -> None:
        table, reference = self.table, self.reference
        action = choose(table.legal(), self.rng)
        reference.apply(action)
        table.step(action)
        assert table.rewards == reference.last_rewards
        deal_over = reference.phase in ("deal", "over")
        moved = any(reference.last_rewards)
        assert table.told == (DEAL_ENDED if deal_over else PAID if moved else NOT_PAID)
        if deal_over:
            # Between deals everything that was won or lost has been paid.
            gone = zip(reference.stacks, self.first_stacks, strict=True)
            assert table.totals == [now - then for now, then in gone]

    def compare(self) -> None:
        table, reference = self.table, self.reference
        if reference.to_move is not None:
            assert table.to_move == reference.to_move
        assert table.over == (reference.phase == "over")
        assert table.forced == reference.forced
        assert set(table.legal()) == reference.legal()
        for player in reference.players:
            assert table.decoded(player) == reference.knows(player)
        self.compare_sheet()

    def compare_sheet(self) -> None:
        sheet, reference = self.table.sheet, self.reference
        assert len(sheet.deals) == len(reference.finished)
        assert sheet.deals_played == reference.deals_played
        assert sheet.dealer == reference.dealer
        if reference.phase not in ("deal", "over"):
            assert list(sheet.stacks) == reference.before
            return
        assert list(sheet.stacks) == reference.stacks
        assert list(sheet.pools) == list(reference.pools.values())
        entry, expected = sheet.deals[-1], reference.finished[-1]
        assert {name: getattr(entry, name) for name in expected} == expected
        assert entry.points() == tuple(map(float, expected["chips"]))
        for name, auction in reference.auctions.items():
            told = getattr(entry, name)
            said = range(len(auction.speeches))
            assert list(told.speeches) == [in_words(auction.speeches, number) for number in said]
            assert list(told.staked) == auction.staked
            assert list(told.took) == auction.took
            assert list(told.shown) == [tuple(cards) for cards in auction.shown]
            assert list(told.stayed) == [auction.stays(p) for p in reference.players]


def in_words(speeches: list[Any], number: int) -> tuple[int, str]:
    speech = speeches[number]
    if speech.word == "bet":
        opened = any(earlier.word == "bet" for earlier in speeches[:number])
        return speech.player, f"{'raises' if opened else 'opens'} {speech.chips}"
    return speech.player, {"pass": "passes", "equal": "equals"}[speech.word]


def compare_whole_match(scenario: dict[str, Any]) -> None:
    pair = Pair(scenario)
    pair.compare()
    while pair.reference.phase != "over" and pair.deals <= MOST_DEALS:
        pair.step()
        pair.compare()
        if pair.reference.phase == "deal":
            pair.deal()
            pair.compare()
    if pair.reference.phase == "over":
        assert pair.table.win() == pytest.approx(pair.reference.win())


@given(any_match())
@example(a_match())
@example(a_match(rules=PRESETS["tiny"]))
@example(a_match(rules=Rules(players=8, allow_bluff=True, deals=2)))
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_game_departs_from_the_rules(scenario: dict[str, Any]) -> None:
    compare_whole_match(scenario)


@pytest.mark.slow
@given(any_match())
@settings(max_examples=3_000, suppress_health_check=[HealthCheck.too_slow])
def test_game_departs_from_the_rules_in_many_matches(scenario: dict[str, Any]) -> None:
    compare_whole_match(scenario)


# --- what must not show ---------------------------------------------------------------------------


def played_history(scenario: dict[str, Any], decisions: int) -> tuple[list[int], list[Any]]:
    """A deck, and mover and action (as text) of the first decisions of a deal from it."""
    rng = Random(scenario["seed"])
    pack = scenario["rules"].pack()
    deck = rng.sample(pack, len(pack))
    table = PoqueTable("deal", scenario["rules"], scenario["score"] or None)
    table.deal(deck, scenario["dealer"])
    history: list[Any] = []
    while not table.over and len(history) < decisions:
        action = choose(table.legal(), rng)
        history.append((table.to_move, table.legal_texts()[table.legal().index(action)]))
        table.step(action)
    return deck, history


def views(
    scenario: dict[str, Any], deck: list[int], history: list[Any], observer: int
) -> list[bytes] | None:
    """What an observer saw at every decision; None if it cannot have come so in this world."""
    table = PoqueTable("deal", scenario["rules"], scenario["score"] or None)
    table.deal(deck, scenario["dealer"])
    seen = [table.observe(observer).tobytes()]
    for mover, text in history:
        if table.to_move != mover or text not in table.legal_texts():
            return None
        table.step(text)
        seen.append(table.observe(observer).tobytes())
    return seen


def renamed(text: str, names: dict[int, int]) -> str:
    """An action as text with its card renamed."""
    verb, _, last = text.partition(" ")
    if verb != "lead":
        return text
    card = card_number(last)
    return f"lead {card_text(names.get(card, card))}"


def worlds_told_apart(scenario: dict[str, Any]) -> int:
    """Play a deal again with cards renamed that an observer has not seen; how often that went."""
    rng = Random(scenario["seed"])
    deck, history = played_history(scenario, rng.randrange(0, 25))
    observer = rng.randrange(scenario["rules"].players)
    table = PoqueTable("deal", scenario["rules"], scenario["score"] or None)
    table.deal(deck, scenario["dealer"])
    for _, text in history:
        table.step(text)
    decoded = table.decoded(observer)
    hidden = [card for card in deck if card not in decoded["seen"]]
    here = views(scenario, deck, history, observer)
    assert here is not None
    compared = 0
    for _ in range(6):
        swap = rng.sample(hidden, min(2, len(hidden)))
        names = dict(zip(swap, reversed(swap), strict=True))
        other = [names.get(card, card) for card in deck]
        retold = [(mover, renamed(text, names)) for mover, text in history]
        there = views(scenario, other, retold, observer)
        if there is None:
            continue
        # A world in which other passes were forced, or other cards, is told apart by rights.
        if replayed(scenario, deck, history) != replayed(scenario, other, retold):
            continue
        compared += 1
        assert here == there
    return compared


def replayed(scenario: dict[str, Any], deck: list[int], history: list[Any]) -> list[Any]:
    """Everything that was said, played, shown or won so far for all to see, by the reference."""
    rules = ReferenceRules(**scenario["rules"].as_dict())
    match = ReferencePoque(rules, "deal", dealer=scenario["dealer"], **scenario["score"])
    match.deal(deck)
    for _, text in history:
        match.apply(action_of(match, text))
    spoken = [(a.speeches, a.shown, a.took) for a in match.auctions.values()]
    left = match.hands if match.phase == "over" else [len(hand) for hand in match.hands]
    return [spoken, match.plays, match.stops, match.to_move, match.stacks, left]


def action_of(match: ReferencePoque, text: str) -> int:
    verb, _, last = text.partition(" ")
    if verb == "lead":
        assert match.to_move is not None
        return FIRST_SLOT + match.slots[match.to_move].index(card_number(last))
    return 1 + int(last) if last else {"pass": 0, "equal": 1}[verb]


def test_seats_tell_worlds_apart_that_differ_in_hidden_cards() -> None:
    compared = 0
    for seed in range(60):
        rules = Rules(players=2 + seed % 7, allow_bluff=seed % 3 == 0)
        compared += worlds_told_apart(
            {"rules": rules, "dealer": seed % rules.players, "score": {}, "seed": seed}
        )
    assert compared > 60


def test_observation_reads_what_is_hidden() -> None:
    """Whatever stands in the fields that hold hidden cards, an observation stays the same."""
    rng = np.random.default_rng(11)
    for seed in range(40):
        rules = Rules(players=2 + seed % 7, allow_bluff=seed % 2 == 0, deals=2)
        scenario = {"rules": rules, "dealer": 0, "score": {}, "seed": seed}
        deck, history = played_history(scenario, int(rng.integers(0, 20)))
        table = PoqueTable("session", rules).deal(deck, 0)
        for _, text in history:
            table.step(text)
        if table.to_move < 0:
            continue
        for observer in range(rules.players):
            before = table.observe(observer)
            kept = table.state.copy()
            shown = {card for cards in table.decoded(observer)["shown"] for card in cards}
            for seat in range(rules.players):
                if seat != observer:
                    hide(table.state, seat, shown, rng)
            assert np.array_equal(table.observe(observer), before)
            table.place(kept)


def hide(state: Any, seat: int, shown: set[int], rng: np.random.Generator) -> None:
    """Put other cards in the places of those in a hand that were not shown."""
    left = int(state["held"][seat])
    for slot, card in enumerate(state["hand"][seat].tolist()):
        if left >> card & 1 and card not in shown:
            free = [c for c in range(52) if not int(state["held"][seat]) >> c & 1]
            other = int(rng.choice([c for c in free if c not in shown]))
            state["held"][seat] += (1 << other) - (1 << card)
            state["hand"][seat, slot] = other
    for auction in range(2):
        if not state["shows"][auction] or state["passed"][auction, seat] >= 0:
            state["combination"][auction, seat] = int(rng.integers(2**50))
        state["worth"][auction, seat] = int(rng.integers(100))
