"""The rule book of Poängpoker as tests (docs/rules.md, section 4), by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers import is_over, legal_actions, play
from poke_env import poangpoker_v0
from poke_env.cards import card_number, format_cards, parse_cards
from poke_env.games.poangpoker import POANGPOKER, PRESETS, STANDINGS, Rules, standing

KEEP = 0
ALL = 0b11111


def deal_of(
    *hands: str, match: str = "game", reward: str = "points", points: Any = None, **rules: Any
) -> poangpoker_v0.raw_env:
    """A deal with these hands, that of player 0 first: the last player deals."""
    rules = {"players": len(hands), **rules}
    env = poangpoker_v0.raw_env(match=match, reward=reward, rules=Rules(**rules))
    options: dict[str, Any] = {"deck": parse_cards(" ".join(hands)), "dealer": len(hands) - 1}
    if points is not None:
        options["score"] = {"points": points}
    env.reset(seed=0, options=options)
    return env


def kept(*hands: str, **arguments: Any) -> poangpoker_v0.raw_env:
    """The same, after everybody has kept all cards."""
    env = deal_of(*hands, **arguments)
    for _ in hands:
        env.step(KEEP)
    return env


def play_cards(env: Any, cards: str) -> None:
    """Play these cards in turn; `-` is the lowest legal one."""
    for card in cards.split():
        env.step(legal_actions(env)[0] if card == "-" else env.text_to_action(card))


def choices(env: Any) -> str:
    """The cards that the player to move may play."""
    texts = [env.action_to_text(action).removeprefix("play ") for action in legal_actions(env)]
    return " ".join(texts)


def decoded(env: Any, player: int) -> dict[str, Any]:
    return poangpoker_v0.decode(env.observe(f"player_{player}"))


def mover(env: Any) -> int:
    return int(env.agent_selection.removeprefix("player_"))


# --- 4.1 deal and exchange ------------------------------------------------------------------------


def test_first_dealer_is_random() -> None:
    env = poangpoker_v0.raw_env(match="deal")
    dealers = set()
    for seed in range(30):
        env.reset(seed=seed)
        dealers.add(env.score_sheet.dealer)
    assert dealers == {0, 1, 2, 3}


def test_hands_are_dealt_one_after_another_from_the_dealers_left() -> None:
    env = poangpoker_v0.raw_env(match="deal", rules=Rules(players=3))
    env.reset(options={"deck": list(range(52)), "dealer": 1})
    assert env.agent_selection == "player_2"
    assert [decoded(env, player)["hand"] for player in (2, 0, 1)] == [
        (0, 1, 2, 3, 4),
        (5, 6, 7, 8, 9),
        (10, 11, 12, 13, 14),
    ]


@pytest.mark.parametrize("players", range(2, 7))
def test_everybody_exchanges_once_in_turn_and_the_dealers_left_leads(players: int) -> None:
    env = poangpoker_v0.raw_env(match="deal", rules=Rules(players=players))
    env.reset(options={"dealer": 0})
    for place in range(players):
        assert mover(env) == (1 + place) % players
        assert decoded(env, mover(env))["phase"] == "exchange"
        env.step(0b00001)
    assert mover(env) == 1 % players
    assert decoded(env, mover(env))["phase"] == "trick"


def test_any_cards_can_be_changed() -> None:
    env = deal_of("2c 3c 4c 5c 6c", "2d 3d 4d 5d 6d")
    assert legal_actions(env) == list(range(32))


def test_limit_of_discards_counts() -> None:
    env = deal_of("2c 3c 4c 5c 6c", "2d 3d 4d 5d 6d", max_discard=2)
    assert legal_actions(env) == [action for action in range(32) if action.bit_count() <= 2]


def test_short_stock_limits_the_exchange_to_what_is_left() -> None:
    """Six hands leave 22 cards: four players may change all, the fifth two, the dealer none."""
    env = poangpoker_v0.raw_env(match="deal", rules=Rules(players=6))
    env.reset(seed=0, options={"dealer": 5})
    for _ in range(4):
        assert len(legal_actions(env)) == 32
        env.step(ALL)
    assert decoded(env, 4)["stock"] == 2
    assert legal_actions(env) == [action for action in range(32) if action.bit_count() <= 2]
    env.step(0b00011)
    assert mover(env) == 5
    assert legal_actions(env) == [KEEP]
    env.step(KEEP)
    assert decoded(env, 0)["exchanged"] == (5, 5, 5, 5, 2, 0)


def test_replacements_come_in_the_order_of_the_exchange() -> None:
    env = poangpoker_v0.raw_env(match="deal", rules=Rules(players=2))
    env.reset(options={"deck": list(range(52)), "dealer": 1})
    env.step(0b00101)
    assert decoded(env, 0)["hand"] == (1, 3, 4, 10, 11)
    env.step(0b11000)
    assert decoded(env, 1)["hand"] == (5, 6, 7, 12, 13)


def test_discards_are_hidden_and_counts_are_public() -> None:
    env = deal_of("2c 3c 4c 5c 6c", "2d 3d 4d 5d 6d", "2h 3h 4h 5h 6h")
    env.step(env.text_to_action("discard 2c 3c"))
    seen = decoded(env, 1)
    assert seen["exchanged"] == (None, None, 2)
    assert seen["stock"] == 52 - 15 - 2
    assert seen["discards"] == ()
    assert set(seen["seen"]) == set(parse_cards("2d 3d 4d 5d 6d"))
    assert format_cards(decoded(env, 0)["discards"]) == "2c 3c"


# --- 4.2 tricks -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "hand, must, may",
    [
        ("4h Qh 2c 3c 5c", "Qh", "4h Qh"),
        ("4h Th 2c 3c 5c", "4h Th", "4h Th"),
        ("4c Ts 2c 3c 5c", "2c 3c 4c 5c Ts", "2c 3c 4c 5c Ts"),
        ("Qh Ah 4h As Ac", "Qh Ah", "4h Qh Ah"),
    ],
)
def test_examples_of_what_may_be_played(hand: str, must: str, may: str) -> None:
    """Led 9h, Jh already played."""
    for must_head, expected in ((True, must), (False, may)):
        env = kept("9h 2d 3d 4d 5d", "Jh 6d 7d 8d 9d", hand, must_head=must_head)
        play_cards(env, "9h Jh")
        assert choices(env) == expected


def test_any_card_may_be_led() -> None:
    env = kept("2c 3d 4h 5s 9c", "2d 3s 4c 5h 9d")
    assert choices(env) == "2c 3d 4h 5s 9c"


def test_only_the_best_card_of_the_suit_led_has_to_be_beaten() -> None:
    """A high card of another suit on the table does not count."""
    env = kept("9h 2d 3d 4d 5d", "As 6d 7d 8d 9d", "Th Kh 2c 3c 4c")
    play_cards(env, "9h As")
    assert choices(env) == "Th Kh"
    play_cards(env, "Th")
    assert mover(env) == 2


def test_highest_card_of_the_suit_led_wins_and_its_player_leads() -> None:
    env = kept("9h 2d 3d 4d 5d", "As 6d 7d 8d 9d", "2h 3h 2c 3c 4c", "Jh 2s 3s 4s 5s")
    play_cards(env, "9h As 2h Jh")
    assert mover(env) == 3
    [trick] = decoded(env, 1)["tricks"]
    assert trick == {"leader": 3, "cards": parse_cards("9h As 2h Jh"), "winner": 2}
    play_cards(env, "2s - - -")
    assert decoded(env, 0)["tricks"][1]["leader"] == 3


def test_lead_wins_when_nobody_can_follow() -> None:
    env = kept("2h 2d 3d 4d 5d", "As 6d 7d 8d 9d", "Ac Kc 2c 3c 4c")
    play_cards(env, "2h As Ac")
    assert mover(env) == 0


def test_cards_played_are_seen_by_all() -> None:
    env = kept("9h 2d 3d 4d 5d", "Jh 6d 7d 8d 9d", "Qh 4h 2c 3c 5c")
    play_cards(env, "9h Jh")
    for player in range(3):
        assert set(parse_cards("9h Jh")) <= set(decoded(env, player)["seen"])
        assert decoded(env, player)["table"] == parse_cards("9h Jh")
        assert decoded(env, player)["best_card"] == card_number("Jh")
        assert decoded(env, player)["best_seat"] == (1 - player) % 3


# --- 4.3 points -----------------------------------------------------------------------------------

NOTHING = "2c 3d 4h 6s 7c"
HANDS = (
    "Td Jc Qh Ks 8d",
    "9c 9d Ah Ks Qc",
    "9c 9d Ah As Qc",
    "9c 9d 9h As Qc",
    "Ac 2d 3s 4s 5h",
    "2d 8d Td Jd Kd",
    "9c 9d 9h As Ac",
    "9c 9d 9h 9s Ac",
    "8d 9d Td Jd Qd",
    "Td Jd Qd Kd Ad",
)


@pytest.mark.parametrize("category, hand", list(enumerate(HANDS)))
def test_best_hand_scores_its_value_and_the_last_trick_two(category: int, hand: str) -> None:
    env = kept(NOTHING, hand, match="deal")
    play(env, np.random.default_rng(0))
    [deal] = env.score_sheet.deals
    assert deal.poker == (0, category)
    assert sorted(deal.last_trick) == [0, 2]
    assert env.score_sheet.points == (deal.last_trick[0], deal.last_trick[1] + category)


def test_only_the_best_hand_scores() -> None:
    env = kept("9c 9d 9h As Qc", "8c 8d 8h Ad Qd", "7c 7d Th Td Qh", match="deal")
    play(env, np.random.default_rng(0))
    assert env.score_sheet.deals[0].poker == (3, 0, 0)


def test_kickers_decide_and_suits_do_not() -> None:
    for hands, expected in (
        (("9c 9d Ah Ks Qc", "9h 9s Ac Kd Jc"), (1, 0)),
        (("9c 9d Ah Ks Qc", "9h 9s Ac Kd Qd"), (0, 0)),
    ):
        env = kept(*hands, match="deal")
        play(env, np.random.default_rng(0))
        assert env.score_sheet.deals[0].poker == expected


def test_exactly_equal_best_hands_score_as_the_option_says() -> None:
    hands = ("9c 9d Ah Ks Qc", NOTHING, "9h 9s Ac Kd Qd")
    for tie, expected in (("none", (0, 0, 0)), ("all", (1, 0, 1))):
        env = kept(*hands, match="deal", tie=tie)
        play(env, np.random.default_rng(0))
        assert env.score_sheet.deals[0].poker == expected


def test_equal_hands_below_the_best_do_not_matter() -> None:
    env = kept("9c 9d Ah Ks Qc", "Tc Td Th Ts 2c", "9h 9s Ac Kd Qd", match="deal")
    play(env, np.random.default_rng(0))
    assert env.score_sheet.deals[0].poker == (0, 7, 0)


def test_fifth_trick_counts_and_no_other() -> None:
    env = kept("As Ks Qs Js 2d", "3d 4c 5c 6c 8h", match="deal")
    play_cards(env, "As 8h Ks 6c Qs 5c Js 4c 2d 3d")
    [deal] = env.score_sheet.deals
    assert deal.tricks_taken == (4, 1)
    assert deal.last_trick == (0, 2)


# --- 4.4 the game ---------------------------------------------------------------------------------

ACES = "9d Jd Qd Kd As"
FLUSH = "2s 4s 6s 8s Ts"
LAST_TRICK_TO_ACES = "Kd - Qd - Jd - 9d - As -"


def test_last_trick_wins_before_the_flush_is_counted() -> None:
    """A has 11, B has 12: the example of the rule book."""
    env = kept(ACES, FLUSH, points=(11, 12))
    play_cards(env, LAST_TRICK_TO_ACES)
    assert is_over(env)
    assert int(env.record["winner"]) == 0
    assert env.score_sheet.points == (13, 12)
    [deal] = env.score_sheet.deals
    assert not deal.hands_counted
    assert deal.poker == (0, 0)
    assert env.rewards == {"player_0": 2.0, "player_1": -2.0}


def test_flush_wins_where_totals_are_looked_at_after_the_deal() -> None:
    """Both reach 13 in the same count: the higher total wins."""
    env = kept(ACES, FLUSH, points=(11, 12), win_check="end_of_deal", reward="win")
    play_cards(env, LAST_TRICK_TO_ACES)
    assert is_over(env)
    assert int(env.record["winner"]) == 1
    assert env.score_sheet.points == (13, 17)
    assert env.score_sheet.deals[0].hands_counted
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}


def test_hands_can_win_after_the_last_trick_did_not() -> None:
    env = kept(ACES, FLUSH, points=(10, 8))
    play_cards(env, LAST_TRICK_TO_ACES)
    assert is_over(env)
    assert env.score_sheet.points == (12, 13)
    assert int(env.record["winner"]) == 1


def test_tie_at_the_target_plays_another_deal() -> None:
    env = kept(ACES, FLUSH, points=(11, 8), win_check="end_of_deal")
    play_cards(env, LAST_TRICK_TO_ACES)
    assert not is_over(env)
    assert env.score_sheet.points == (13, 13)
    assert len(env.score_sheet.deals) == 1
    assert env.score_sheet.dealer == 0  # it passes to the left of player 1


def test_tie_is_broken_by_the_next_last_trick() -> None:
    env = kept(ACES, FLUSH, points=(14, 14))
    play_cards(env, LAST_TRICK_TO_ACES)
    assert is_over(env)
    assert env.score_sheet.points == (16, 14)


def test_hands_are_counted_where_the_last_trick_leaves_a_tie_in_front() -> None:
    third = "2c 3c 4h 5h 7h"
    env = kept(ACES, FLUSH, third, points=(3, 14, 14))
    play_cards(env, "Kd - - Qd - - Jd - - 9d - - As - -")
    assert is_over(env)
    assert env.score_sheet.points == (5, 19, 14)
    assert int(env.record["winner"]) == 1


def test_deal_passes_to_the_left() -> None:
    env = poangpoker_v0.raw_env(match="game", rules=Rules(players=3, target=40))
    env.reset(seed=3, options={"dealer": 1})
    play(env, np.random.default_rng(3))
    dealers = [deal.dealer for deal in env.score_sheet.deals]
    assert len(dealers) > 3
    assert dealers == [(1 + number) % 3 for number in range(len(dealers))]


@pytest.mark.parametrize("preset", PRESETS)
def test_random_games_end_with_one_winner_at_the_target(preset: str) -> None:
    env = poangpoker_v0.raw_env(match="game", reward="win", rules=preset)
    rng = np.random.default_rng(5)
    for seed in range(3):
        env.reset(seed=seed)
        play(env, rng)
        winner, total = int(env.record["winner"]), env.score_sheet.points
        assert total[winner] >= env.rules.target
        assert sorted(total)[-2] < total[winner]
        rest = -1 / (env.rules.players - 1)
        assert [*env.rewards.values()] == [
            1.0 if seat == winner else rest for seat in range(env.rules.players)
        ]


# --- rewards --------------------------------------------------------------------------------------


def test_points_are_own_less_the_mean_of_the_others() -> None:
    env = kept(ACES, FLUSH, "2c 3c 4h 5h 7h", match="deal")
    play_cards(env, "Kd - - Qd - - Jd - - 9d - - As - -")
    assert env.rewards == {"player_0": 2 - 5 / 2, "player_1": 5 - 2 / 2, "player_2": -7 / 2}
    assert env.score_sheet.deals[0].points() == (2 - 5 / 2, 5 - 2 / 2, -7 / 2)


def test_most_points_win_a_deal_and_equal_ones_share_it() -> None:
    hands = (ACES, "2c 2s 3s 4s 6h", "7c 7d 3h 5h 9h")
    cards = "Kd - - Qd - - Jd - - 9d - - As - -"
    for rules, expected in (
        ({}, [1.0, -0.5, -0.5]),
        ({"last_trick_points": 1}, [0.5, -1.0, 0.5]),
        ({"last_trick_points": 0}, [-0.5, -0.5, 1.0]),
        ({"last_trick_points": 0, "poker_points": (0,) * 10}, [0.0, 0.0, 0.0]),
    ):
        env = kept(*hands, match="deal", reward="win", **rules)
        play_cards(env, cards)
        assert [*env.rewards.values()] == expected


def test_nothing_is_paid_before_the_deal_ends() -> None:
    env = kept(ACES, FLUSH)
    for _ in range(9):
        assert not any(env.rewards.values())
        env.step(legal_actions(env)[0])
    env.step(legal_actions(env)[0])
    assert any(env.rewards.values())


# --- scores at which a match can begin ------------------------------------------------------------


@pytest.mark.parametrize(
    "points",
    [(13, 0), (13, 14), (0, 0, 0), (0,), (-1, 0), (10_001, 10_001), (1.0, 0), (True, 0), "00", 7],
)
def test_score_at_which_no_match_stands_is_refused(points: Any) -> None:
    env = poangpoker_v0.raw_env(match="game", rules=Rules(players=2))
    with pytest.raises(ValueError, match=r"^score points "):
        env.reset(options={"score": {"points": points}})


def test_unknown_field_of_a_score_is_refused() -> None:
    env = poangpoker_v0.raw_env(match="game", rules=Rules(players=2))
    with pytest.raises(ValueError, match=r"unknown fields \['below'\]; allowed is points"):
        env.reset(options={"score": {"below": (0, 0)}})
    with pytest.raises(ValueError, match="score must be a dict of points, got 7"):
        env.reset(options={"score": 7})


def test_match_begins_at_a_score() -> None:
    env = poangpoker_v0.raw_env(match="game", rules=Rules(players=3))
    for points in ((1, 2, 12), (20, 20, 0), np.array([3, 4, 5])):
        env.reset(seed=0, options={"score": {"points": points}})
        assert env.score_sheet.points == tuple(points)
        assert decoded(env, 1)["points"] == (*points[1:], points[0])


def test_standing_tells_who_leads_and_whether_a_last_trick_can_win() -> None:
    for points, expected in (
        ((0, 0), "level in front, nobody near the target"),
        ((3, 10), "behind, nobody near the target"),
        ((10, 3), "alone in front, nobody near the target"),
        ((3, 11), "behind, a last trick can win"),
        ((11, 3), "alone in front, a last trick can win"),
        ((15, 15), "level in front, a last trick can win"),
    ):
        env = deal_of(ACES, FLUSH, points=points)
        assert STANDINGS[standing(env.record, 0)] == expected


# --- texts and pictures ---------------------------------------------------------------------------


def test_actions_have_texts_that_can_be_typed() -> None:
    env = deal_of("2c 3c 4c 5c 6c", "2d 3d 4d 5d 6d")
    assert env.action_to_text(KEEP) == "keep all"
    assert env.action_to_text(0b01001) == "discard 2c 5c"
    assert env.text_to_action("Keep") == env.text_to_action("keep all") == KEEP
    for text in ("discard 5c 2c", "2c 5c"):
        assert env.text_to_action(text) == 0b01001
    env.step(KEEP)
    env.step(KEEP)
    assert env.action_to_text(0b00100) == "play 4c"
    assert env.text_to_action("play 4c") == env.text_to_action("4c") == 0b00100


@pytest.mark.parametrize("text", ["", "play", "play 2d", "play 9s 9s", "keep all", "discard 2c"])
def test_text_that_is_no_play_is_refused(text: str) -> None:
    env = kept("2c 3c 4c 5c 6c", "2d 3d 4d 5d 6d")
    with pytest.raises(ValueError, match=r"is not understood; say 'play' and cards of 2c|card"):
        env.text_to_action(text)
    with pytest.raises(ValueError, match="action text must be a str, got 7"):
        POANGPOKER.parse_action(env.record, 7)  # type: ignore[arg-type]


def test_picture_shows_the_own_hand_and_backs_of_the_others() -> None:
    env = deal_of("2c 3c 4c 5c 6c", "2d 3d 4d 5d 6d", "2h 3h 4h 5h 6h")
    env.step(env.text_to_action("2c 3c"))
    text = env.picture("ansi", "player_1")
    assert text.isascii()
    assert "2d  3d  4d  5d  6d" in text
    assert "??  ??  ??  ??  ??   changed 2" in text
    assert not any(card in text for card in ("4c", "5c", "6c", "2c", "2h"))
    own = env.picture("ansi", "player_0")
    assert "discarded" in own
    assert "(2c)(3c)" in own


def test_picture_of_a_finished_deal_shows_what_it_brought() -> None:
    env = kept(ACES, FLUSH, points=(0, 8))
    play_cards(env, LAST_TRICK_TO_ACES)
    text = env.picture("ansi", "player_0")
    assert "match over, player_1 has won" in text
    assert "flush, ten high" in text
    assert "trick 5" in text
    won_early = kept(ACES, FLUSH, points=(11, 12))
    play_cards(won_early, LAST_TRICK_TO_ACES)
    assert "flush" not in won_early.picture("ansi", "player_0")
