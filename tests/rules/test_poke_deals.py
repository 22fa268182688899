"""What must hold in any deal of Poke, by hand and over random play (docs/rules.md, section 1)."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest

from helpers import RULES, is_over, legal_actions, play, turns
from poke_env import poke_v0
from poke_env.cards import parse_cards
from poke_env.games.poke import PRESETS, Rules, stock_left
from reference.worked_deals import WORKED_DEALS

NON_DEALER, DEALER = "player_0", "player_1"


def standard_deal(**rules: Any) -> poke_v0.raw_env:
    """A deal in which player 1 deals from the pack in order."""
    env = poke_v0.raw_env(match="deal", rules=poke_v0.Rules(**rules))
    env.reset(seed=0, options={"deck": list(range(52)), "dealer": 1})
    return env


def sizes(actions: list[int]) -> set[int]:
    return {action.bit_count() for action in actions}


def decoded(env: Any, agent: str) -> dict[str, Any]:
    return poke_v0.decode(env.observe(agent))


# --- drawing --------------------------------------------------------------------------------------


def test_four_cards_can_be_discarded() -> None:
    env = standard_deal()
    for agent, draws in ((NON_DEALER, 2), (DEALER, 3)):
        for _ in range(draws):
            assert env.agent_selection == agent
            assert legal_actions(env) == [a for a in range(32) if a.bit_count() <= 3]
            env.step(0b00111)


def test_player_gets_a_draw_too_many() -> None:
    """The non-dealer has no third draw, the dealer no fourth; nobody draws after standing pat."""
    env = standard_deal()
    for agent in (NON_DEALER, NON_DEALER, DEALER, DEALER, DEALER):
        assert decoded(env, agent)["phase"] == "draw"
        assert env.agent_selection == agent
        env.step(0b00001)
    assert decoded(env, NON_DEALER)["phase"] == "lead"
    assert env.agent_selection == NON_DEALER
    assert decoded(env, NON_DEALER)["pat"] == (True, True)


@pytest.mark.parametrize("non_dealer, dealer", list(product(range(3), range(4))))
def test_doubles_are_counted_wrongly(non_dealer: int, dealer: int) -> None:
    """The table of docs/rules.md 1.3: a player's draws raise what the *opponent's* cards count."""
    env = standard_deal()
    for agent, draws, most in ((NON_DEALER, non_dealer, 2), (DEALER, dealer, 3)):
        for number in range(draws):
            assert env.agent_selection == agent
            env.step(0b00001 if number % 2 else 0b00111)  # one card costs the same as three
        if draws < most:
            env.step(0)
    expected = ((1, 1, 2, 4)[dealer], (1, 2, 4)[non_dealer])
    assert decoded(env, NON_DEALER)["trick_values"] == expected
    assert decoded(env, DEALER)["trick_values"] == expected[::-1]
    play(env, np.random.default_rng(0))
    [deal] = env.score_sheet.deals
    assert deal.trick_values == expected
    assert deal.below == tuple(
        cards * value for cards, value in zip(deal.cards_taken, expected, strict=True)
    )


def test_pat_is_not_final() -> None:
    env = standard_deal()
    env.step(0)
    assert env.agent_selection == DEALER
    env.step(0)
    assert env.agent_selection == NON_DEALER
    assert decoded(env, NON_DEALER)["phase"] == "lead"


def test_number_of_cards_drawn_is_hidden_or_the_discards_are_not() -> None:
    env = standard_deal()
    env.step(0b00111)
    env.step(0b00001)
    seen = decoded(env, DEALER)
    assert seen["draws"] == ((), (3, 1))
    assert seen["opponent_discards"] == ()
    env = standard_deal(reveal_discards=True)
    env.step(0b00111)
    assert decoded(env, DEALER)["opponent_discards"] == (0, 1, 2)
    assert {0, 1, 2} <= set(decoded(env, DEALER)["seen"])


def test_replacements_come_from_the_wrong_end() -> None:
    """The non-dealer's from position 10 upwards, the dealer's from the back downwards."""
    env = standard_deal()
    env.step(0b00101)
    assert decoded(env, NON_DEALER)["hand"] == (1, 3, 4, 10, 11)
    assert decoded(env, NON_DEALER)["discards"] == (0, 2)
    env.step(0b11000)
    assert decoded(env, NON_DEALER)["hand"] == (1, 3, 4, 12, 13)
    env.step(0b00011)
    assert decoded(env, DEALER)["hand"] == (7, 8, 9, 50, 51)
    env.step(0b00111)
    assert decoded(env, DEALER)["hand"] == (47, 48, 49, 50, 51)


def test_lowest_slot_does_not_get_the_first_card() -> None:
    """Which card goes where within a draw shows in the next one only through the order."""
    env = poke_v0.raw_env(match="deal")
    deck = [*range(10), 50, 20, *range(10, 20), *range(21, 50), 51]
    env.reset(options={"deck": deck, "dealer": 1})
    env.step(0b00001)
    assert decoded(env, NON_DEALER)["hand"] == (1, 2, 3, 4, 50)
    env.step(0b00010)
    assert decoded(env, NON_DEALER)["hand"] == (1, 3, 4, 20, 50)


def test_player_changes_more_than_is_left() -> None:
    """Ten cards in the hands and two in the stock."""
    env = poke_v0.raw_env(match="deal", rules=Rules(ranks=3, suits=4))
    env.reset(seed=0, options={"dealer": 1})
    assert sizes(legal_actions(env)) == {0, 1, 2}
    env.step(0b00001)
    assert sizes(legal_actions(env)) == {0, 1}
    env.step(0b00001)
    assert env.agent_selection == DEALER
    assert legal_actions(env) == [0]  # asked all the same
    env.step(0)
    assert decoded(env, NON_DEALER)["phase"] == "lead"


def test_longest_draw_empties_the_stock() -> None:
    env = standard_deal()
    for _ in range(5):
        env.step(0b00111)
    assert stock_left(env.record) == 27
    assert len(set(decoded(env, NON_DEALER)["discards"])) == 6
    assert len(set(decoded(env, DEALER)["discards"])) == 9


# --- tricks ---------------------------------------------------------------------------------------


def test_last_card_can_be_refused_or_exchanged() -> None:
    """With one card left there is exactly one action, for the leader and for the follower."""
    rng = np.random.default_rng(3)
    env = poke_v0.raw_env(match="deal")
    env.reset(seed=3)
    asked = 0
    for _ in range(200):
        if is_over(env):
            env.reset()
        for _ in turns(env, rng):
            if is_over(env):
                break
            seen = decoded(env, env.agent_selection)
            if len(seen["hand"]) == 1 and seen["phase"] != "draw":
                assert len(legal_actions(env)) == 1
                asked += 1
    assert asked > 100


def test_slots_move_when_a_card_is_played() -> None:
    """Slots are the hand as it stood when the draw phase ended; a played card leaves its empty."""
    env = standard_deal()
    env.step(0)
    env.step(0)
    assert decoded(env, NON_DEALER)["slots"] == (0, 1, 2, 3, 4)  # 2c 2d 2h 2s 3c
    env.step(0b00110)
    assert env.action_to_text(legal_actions(env)[0]).startswith("follow")
    env.step(legal_actions(env)[0])
    seen = decoded(env, NON_DEALER)
    assert seen["slots"] == (0, 1, 2, 3, 4)
    assert seen["hand"] == (0, 3, 4)
    assert not [a for a in legal_actions(env) if a & 0b00110 and env.agent_selection == NON_DEALER]


# --- cards are conserved --------------------------------------------------------------------------


def bits(cards: int) -> set[int]:
    return {card for card in range(52) if cards >> card & 1}


def whole_pack(env: Any) -> list[int]:
    """Hands, cards played, discards and stock, wherever they lie."""
    record = env.record
    draws = record["draw_size"].sum(axis=1)
    dealer = int(record["dealer"])
    size = int(record["rules"]["hand_size"])
    deck = env.deck
    stock = deck[2 * size + int(draws[1 - dealer]) : len(deck) - int(draws[dealer])]
    hands = record["hand"][:, :size].ravel().tolist()
    return [*hands, *bits(int(record["discards"][0])), *bits(int(record["discards"][1])), *stock]


def conserve_cards(preset: str, hands: int) -> None:
    env = poke_v0.raw_env(match="deal", rules=RULES[preset])
    rng = np.random.default_rng(28)
    pack = sorted(env.rules.pack())
    env.reset(seed=28)
    longest = 0
    for _ in range(hands):
        gone: list[set[int]] = [set(), set()]
        mask = env.infos[env.agent_selection]["action_mask"]
        while not env.terminations["player_0"]:
            assert sorted(whole_pack(env)) == pack
            for player in (0, 1):
                discards = bits(int(env.record["discards"][player]))
                assert gone[player] <= discards  # and, with the line above, in nobody's hand
                gone[player] = discards
            env.step(int(rng.choice(mask.nonzero()[0])))
            mask = env.infos[env.agent_selection]["action_mask"]
        assert sorted(whole_pack(env)) == pack
        longest = max(longest, sum(map(len, gone)))
        env.reset()
    assert longest > 0


@pytest.mark.parametrize("preset, hands", [("standard", 1000), ("small", 500), ("tiny", 500)])
def test_cards_are_lost_or_doubled(preset: str, hands: int) -> None:
    conserve_cards(preset, hands)


@pytest.mark.slow
def test_cards_are_lost_or_doubled_in_thousands_of_hands() -> None:
    conserve_cards("standard", 5_000)
    conserve_cards("house", 5_000)


def test_players_see_cards_that_cannot_be() -> None:
    """What both players are shown is of one pack: no card in two places, none from elsewhere."""
    rng = np.random.default_rng(5)
    for preset, rules in RULES.items():
        env = poke_v0.raw_env(match="deal", rules=rules)
        pack = set(env.rules.pack())
        env.reset(seed=5)
        for _ in range(40):
            for _ in turns(env, rng):
                views = [decoded(env, agent) for agent in env.possible_agents]
                played = [card for t in views[0]["tricks"] for card in (*t["lead"], *t["follow"])]
                lying = [*played]
                for view in views:
                    lying += [*view["hand"], *view["discards"]]
                assert len(set(lying)) == len(lying), preset
                assert set(lying) <= pack
                for view, other in zip(views, reversed(views), strict=True):
                    assert set(view["seen"]).isdisjoint(other["hand"])
            env.reset()


# --- facts that follow from the rules -------------------------------------------------------------


def test_facts_about_points_below_the_line_do_not_hold() -> None:
    """Equal scores in a deal only as 4-4; every deal adds 5 or more; at most 8 deals to a game."""
    env = poke_v0.raw_env(match="rubber")
    rng = np.random.default_rng(1)
    env.reset(seed=1)
    deals = 0
    equal = 0
    while deals < 1_500:
        play(env, rng)
        since_game, totals = 0, [0, 0]
        for deal in env.score_sheet.deals:
            deals += 1
            since_game += 1
            assert sum(deal.cards_taken) == 5
            assert sum(deal.below) >= 5
            if deal.below[0] == deal.below[1]:
                equal += 1
                assert deal.below == (4, 4)
            totals = [total + below for total, below in zip(totals, deal.below, strict=True)]
            if any(deal.game_bonus):
                assert max(totals) >= 20
                since_game, totals = 0, [0, 0]
            else:
                assert max(totals) < 20 or totals[0] == totals[1]
                assert since_game < 8 or totals[0] == totals[1]
        assert since_game == 0  # a rubber ends with a game
        env.reset()
    assert equal > 0


def test_equal_points_below_the_line_are_possible_otherwise() -> None:
    values = product((1, 2, 4), (1, 1, 2, 4))
    equal = {
        (cards * value, (5 - cards) * other)
        for value, other in values
        for cards in range(6)
        if cards * value == (5 - cards) * other
    }
    assert equal == {(4, 4)}


def test_worse_hand_scores_or_both_do() -> None:
    rng = np.random.default_rng(2)
    for tie in ("none", "both"):
        env = poke_v0.raw_env(match="deal", rules=Rules(ranks=3, suits=4, poker_tie=tie))
        env.reset(seed=2)
        both = 0
        for _ in range(400):
            play(env, rng)
            [deal] = env.score_sheet.deals
            both += all(deal.poker)
            env.reset()
        assert (both > 0) == (tie == "both")


# --- presets --------------------------------------------------------------------------------------


def test_standard_preset_is_not_the_printed_game() -> None:
    assert PRESETS["standard"] == Rules()
    assert Rules().pack() == tuple(range(52))


@pytest.mark.parametrize(
    "preset, pack, hand", [("tiny", "Qc Qd Kc Kd Ac Ad", 2), ("small", None, 3)]
)
def test_small_preset_has_other_cards_than_documented(
    preset: str, pack: str | None, hand: int
) -> None:
    """The highest ranks and the first suits, card numbers unchanged."""
    rules = PRESETS[preset]
    expected = parse_cards(pack) if pack else tuple(4 * r + s for r in range(7, 13) for s in (0, 1))
    assert rules.pack() == expected
    assert rules.hand_size == hand
    env = poke_v0.raw_env(rules=preset)
    assert env.action_space("player_0").n == 2**hand


@pytest.mark.parametrize("preset", ["tiny", "small"])
def test_doubling_is_no_question_in_a_small_preset(preset: str) -> None:
    """Both players can double and can do without, and what a double costs can decide a game."""
    env = poke_v0.raw_env(match="rubber", rules=preset)
    rng = np.random.default_rng(4)
    env.reset(seed=4)
    values: set[tuple[int, int]] = set()
    deals_in_a_game = []
    for _ in range(60):
        play(env, rng)
        count = 0
        for deal in env.score_sheet.deals:
            dealer = deal.dealer
            values.add((deal.trick_values[1 - dealer], deal.trick_values[dealer]))
            count += 1
            if any(deal.game_bonus):
                deals_in_a_game.append(count)
                count = 0
        env.reset()
    assert {(1, 1), (2, 1), (1, 2)} <= values
    assert len(set(deals_in_a_game)) > 1  # doubling hastens the end


def test_small_hands_score_as_more_than_sets() -> None:
    rng = np.random.default_rng(6)
    allowed = {"tiny": {0, 50}, "small": {0, 50, 200}}
    for preset, points in allowed.items():
        env = poke_v0.raw_env(match="deal", rules=preset)
        env.reset(seed=6)
        written: set[int] = set()
        for _ in range(300):
            play(env, rng)
            written |= set(env.score_sheet.deals[0].poker)
            env.reset()
        assert written <= points
        assert 50 in written


# --- words for actions ----------------------------------------------------------------------------


@pytest.mark.parametrize("preset", RULES)
def test_text_of_an_action_does_not_read_back(preset: str) -> None:
    env = poke_v0.raw_env(match="deal", rules=RULES[preset])
    rng = np.random.default_rng(8)
    env.reset(seed=8)
    for _ in range(30):
        for _ in turns(env, rng):
            if is_over(env):
                break
            texts = {env.action_to_text(action): action for action in legal_actions(env)}
            assert len(texts) == len(legal_actions(env))
            for text, action in texts.items():
                assert env.text_to_action(text) == action
                bare = text.removeprefix("stand ").split(" ", 1)[-1]
                assert env.text_to_action(bare) == action
        env.reset()


def test_words_of_a_worked_deal_are_not_understood() -> None:
    replay = WORKED_DEALS["E6"].replay()
    env = poke_v0.raw_env(match="deal")
    env.reset(options={"deck": replay.deck, "dealer": 1})
    assert env.action_to_text(0) == "stand pat"
    assert env.text_to_action("pat") == env.text_to_action("Stand Pat") == 0
    for cards in combinations(range(5), 2):
        action = sum(1 << slot for slot in cards)
        text = env.action_to_text(action)
        assert text.startswith("discard ")
        assert len(text.split()) == 3


@pytest.mark.parametrize("text", ["", "fold", "discard", "discard 1x", "lead", "discard As As"])
def test_nonsense_is_taken_for_an_action(text: str) -> None:
    env = standard_deal()  # player 0 holds 2c 2d 2h 2s 3c
    before = env.get_state()
    with pytest.raises(ValueError, match=r"action|card|rank"):
        env.text_to_action(text)
    assert env.get_state() == before


def test_cards_of_the_opponent_are_taken_for_an_action() -> None:
    env = standard_deal()
    with pytest.raises(ValueError, match="2c 2d 2h 2s 3c"):
        env.text_to_action("discard As")
    with pytest.raises(ValueError, match="illegal"):
        env.text_to_action("discard 2c 2d 2h 2s")
    with pytest.raises(ValueError, match="illegal"):
        env.action_to_text(31)
    with pytest.raises(ValueError, match="illegal"):
        env.action_to_text(-1)
