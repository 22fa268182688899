"""What must hold in any deal of Pokex, by hand and over random play (docs/rules.md, section 2)."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from pokex_position import Position

from poke_env import render
from poke_env.cards import card_text, format_cards, parse_cards
from poke_env.games import base
from poke_env.games.pokex import POKEX, PRESETS, Rules

SIDES = (0, 1)
SMALL = PRESETS["small"]


def in_order(**rules: Any) -> Position:
    """A deal in which player 0 deals from the pack in order: aces and jokers in the centre."""
    return Position(Rules(**rules)).deal(range(54))


def one_trick(leading: str, others: str, centre: str, **rules: Any) -> int:
    """The side that takes the only trick; player 1 bids for it and leads.

    Args:
        leading: two cards of player 1, two of player 3.
        others: two cards of player 2, two of player 0.
        centre: the centre card.
    """
    first, second = leading.split(), others.split()
    deck = [*first[:2], *second[:2], *first[2:], *second[2:], centre]
    position = Position(Rules(tricks=1, **rules), match="deal").deal(deck).step("bid 1")
    while position.seat >= 0:
        position.step(*position.legal())
    return int(position.state["trick_winner"][0])


# --- 2.1 the deal ---------------------------------------------------------------------------------


def test_cards_go_to_the_wrong_hands() -> None:
    """Twelve to each, beginning at the dealer's left; the last six are the centre."""
    for dealer in range(4):
        deck = np.random.default_rng(dealer).permutation(54).tolist()
        position = Position(dealer=dealer).deal(deck)
        for turn in range(4):
            seat = (dealer + 1 + turn) % 4
            known = position.knows(seat)
            assert (
                known["hand"] == known["slots"] == tuple(sorted(deck[12 * turn : 12 * turn + 12]))
            )
            assert known["centre"] == tuple(deck[48:])
            assert known["dealer"] == ("own", "right", "partner", "left")[(seat - dealer) % 4]


def test_deal_does_not_pass_clockwise() -> None:
    position = Position(dealer=2)
    rng = np.random.default_rng(0)
    for dealer in (2, 3, 0, 1, 2):
        position.deal(seed=dealer)
        assert position.state["dealer"] == dealer
        assert position.seat == (dealer + 1) % 4
        position.play(rng)
        assert position.seat == base.WANTS_DECK
    assert [deal.dealer for deal in position.sheet().deals] == [2, 3, 0, 1, 2]


# --- 2.2 the auction ------------------------------------------------------------------------------


def test_low_bid_passes() -> None:
    position = in_order()
    assert position.legal() == [0, 1, 2, 3, 4, 5, 6]
    for bid in (2, 3, 5):
        position.step(f"bid {bid}")
        assert position.legal() == [0, *range(bid + 1, 7)]


def test_pass_is_not_final() -> None:
    position = in_order().step("bid 1", "pass", "bid 2")
    assert position.seat == 0
    position.step("bid 3")
    assert position.seat == 1
    position.step("bid 4")
    assert position.seat == 3  # player 2 has passed
    position.step("pass")
    assert position.seat == 0
    position.step("pass")
    assert position.knows(0)["phase"] == "play"
    assert position.seat == 1


def test_fourth_player_may_not_bid_after_three_passes() -> None:
    position = in_order().step("pass", "pass", "pass")
    assert position.seat == 0
    assert position.legal() == [0, 1, 2, 3, 4, 5, 6]
    position.step("bid 2")
    assert position.knows(0)["phase"] == "play"
    assert position.seat == 0


@pytest.mark.parametrize("calls", [(6,), (0, 6), (1, 2, 3, 4, 5, 6), (0, 0, 0, 6)])
def test_highest_bid_does_not_end_the_auction(calls: tuple[int, ...]) -> None:
    position = in_order().step(*calls)
    assert position.knows(0)["phase"] == "play"
    assert position.seat == len(calls) % 4  # who made the bid


def test_deal_that_all_pass_is_scored_or_ends_a_game() -> None:
    position = in_order().step("pass", "pass", "pass", "pass")
    assert position.paid == base.DEAL_ENDED
    assert position.reward.tolist() == [0.0] * 4
    assert position.seat == base.WANTS_DECK
    [deal] = position.sheet().deals
    assert (deal.declarer, deal.bid, deal.tricks) == (None, 0, ())
    assert deal.calls == ((1, 0), (2, 0), (3, 0), (0, 0))
    assert deal.score == deal.tricks_taken == (0, 0)
    assert deal.points() == (0.0, 0.0, 0.0, 0.0)
    position.deal(seed=1)
    assert position.state["dealer"] == 1
    assert position.knows(3)["passed_at"] == (None,) * 4


def test_single_deal_that_all_pass_goes_on() -> None:
    position = Position(match="deal").deal().step("pass", "pass", "pass", "pass")
    assert position.seat == base.MATCH_OVER
    assert position.worth() == [0.0] * 4


# --- 2.3 the tricks -------------------------------------------------------------------------------


def test_players_play_in_another_order() -> None:
    """Leader, his partner, the opponent at the leader's left, the other one."""
    position = in_order().step("pass", "bid 4", "pass", "pass")
    rng = np.random.default_rng(1)
    for leader in (2, 3, 0, 1, 2, 3):
        for turn in (0, 2, 1, 3):
            assert position.seat == (leader + turn) % 4
            position.step(int(rng.choice(position.legal())))
    assert position.paid == base.DEAL_ENDED
    assert [trick.leader for trick in position.sheet().deals[0].tricks] == [2, 3, 0, 1, 2, 3]


def test_pairs_of_slots_are_numbered_otherwise() -> None:
    """Lexicographic over the hand as it was dealt; a card that was played leaves its slot empty."""
    position = in_order().step(6)
    assert position.legal() == list(range(7, 73))
    slots = position.knows(1)["slots"]
    pairs = list(combinations(slots, 2))
    for action in position.legal():
        assert (
            POKEX.action_text(position.state, action) == f"play {format_cards(pairs[action - 7])}"
        )
    position.step(7 + pairs.index((slots[2], slots[5])))
    while position.seat != 1:
        position.step(position.legal()[0])
    left = [pair for pair in pairs if not {slots[2], slots[5]} & {*pair}]
    assert [pairs[action - 7] for action in position.legal()] == left
    assert position.knows(1)["slots"] == slots


def test_five_cards_are_put_together_wrongly() -> None:
    """Each side's hand: two cards of each partner and the leftmost remaining centre card."""
    position = Position().deal(seed=3).step(6).play(np.random.default_rng(3))
    [deal] = position.sheet().deals
    assert [trick.centre for trick in deal.tricks] == list(deal.centre)
    for number, trick in enumerate(deal.tricks):
        for side in SIDES:
            five = position.state["five"][number, side]
            assert sorted(five) == sorted(
                [*trick.cards[side], *trick.cards[side + 2], trick.centre]
            )
    for seat in range(4):
        played = [card for trick in deal.tricks for card in trick.cards[seat]]
        assert sorted(played) == list(deal.hands[seat])


def test_worse_hand_takes_the_trick() -> None:
    assert one_trick("Kc Kd 2c 3d", "Qc Qd Ah 4s", "9h") == 1
    assert one_trick("Kc Kd 2c 3d", "Qc 9c 9d 4s", "9h") == 0
    assert one_trick("5c 6c 7c 8c", "As Ah Ad Ac", "9c") == 1  # a straight flush
    assert one_trick("5c 6c 7c 8d", "As Ah Kd Kc", "9c") == 1  # the centre completes a straight
    assert one_trick("2c 3c 4d 5d", "Ks Kh Kd Qc", "As") == 1  # A-2-3-4-5 counts
    assert one_trick("2c 3c 4d 5d", "6s 3h 4c 5c", "As") == 1  # … but is no six high straight


def test_last_play_is_not_asked_for() -> None:
    position = Position(SMALL).deal().step("bid 2")
    for _ in range(4):
        assert len(position.legal()) == 6
        position.step(position.legal()[0])
    for _ in range(4):
        assert len(position.legal()) == 1
        position.step(position.legal()[0])
    assert position.paid == base.DEAL_ENDED


# --- 2.4 the lead ---------------------------------------------------------------------------------


def first_trick(winner: str, **rules: Any) -> Position:
    """Two tricks; player 1 led the first and he, or the other side, has won it."""
    high, low = parse_cards("Ac Ad Kc Kd As Ah Ks Kh"), parse_cards("2c 3d 5c 6d 7c 8d Tc Jd")
    pairs = {"leader": (high, low), "others": (low, high)}[winner]
    deck = [*pairs[0][:4], *pairs[1][:4], *pairs[0][4:], *pairs[1][4:], *parse_cards("9h 9s")]
    position = Position(Rules(tricks=2, **rules)).deal(deck).step("bid 2")
    for _ in range(4):
        position.step(position.legal()[0])
    assert position.state["trick_winner"][0] == (1 if winner == "leader" else 0)
    return position


def test_lead_does_not_pass_to_the_left() -> None:
    assert first_trick("leader").seat == 2
    assert first_trick("others").seat == 2


def test_lead_does_not_pass_to_the_winners() -> None:
    """The player of the winning side who played first in the trick."""
    assert first_trick("leader", lead_next="winner").seat == 1
    assert first_trick("others", lead_next="winner").seat == 2


# --- 2.5 jokers -----------------------------------------------------------------------------------


@pytest.mark.parametrize("joker, winner", [("high_card", 0), ("wild", 1)])
@pytest.mark.parametrize(
    "leading, others, centre",
    [
        ("*1 Kc Kd 3d", "Ac Ad Ks Kh", "4c"),  # three kings, or two with a joker beside them
        ("*1 5h 6h 7h", "Ac Ad As Ks", "8h"),  # a straight flush, or nothing
    ],
)
def test_joker_has_the_other_meaning(
    leading: str, others: str, centre: str, joker: str, winner: int
) -> None:
    assert one_trick(leading, others, centre, joker=joker) == winner


def test_jokers_do_not_match_each_other() -> None:
    assert one_trick("*1 *2 2c 3d", "Ac Ad Ks Qh", "9h") == 1
    assert one_trick("*1 7s 2c 3d", "Kc Ad 4s Qh", "9h") == 1
    assert one_trick("*1 *2 2c 2d", "Ac Ad Ks Kh", "9h") == 1


def test_five_of_a_kind_loses_to_a_straight_flush() -> None:
    assert one_trick("*1 *2 Kc Kd", "9h Th Jh Qh", "Kh", joker="wild") == 1
    assert one_trick("*1 *2 Kc Kd", "9h Th Jh Qh", "Kh", joker="high_card") == 0


@pytest.mark.parametrize("trick_tie", ["leader", "defenders"])
def test_wild_card_ties_with_the_natural_hand(trick_tie: str) -> None:
    """5-6-7-8-9 beats the same straight with a joker, whoever leads."""
    rules = {"joker": "wild", "trick_tie": trick_tie}
    assert one_trick("5c 6d 7h 8s", "5d 6h *1 8c", "9c", **rules) == 1
    assert one_trick("5d 6h *1 8c", "5c 6d 7h 8s", "9c", **rules) == 0
    # One joker against two.
    assert one_trick("Ac Ad 7h 8s", "As *1 7c 8c", "*2", **rules) == 1
    # The joker in the centre belongs to both: this is an equal hand.
    tie = one_trick("5c 6d 7h 8s", "5d 6h 7s 8c", "*1", **rules)
    assert tie == (1 if trick_tie == "leader" else 0)


# --- 2.6 equal hands ------------------------------------------------------------------------------


@pytest.mark.parametrize("joker", ["high_card", "wild"])
def test_equal_hands_go_to_the_wrong_side(joker: str) -> None:
    cards = ("As Ah 5c 6c", "Ac Ad 5d 6d", "9h")
    assert one_trick(*cards, joker=joker) == 1
    assert one_trick(*cards, joker=joker, trick_tie="defenders") == 0


@pytest.mark.parametrize("trick_tie", ["leader", "defenders"])
def test_defenders_lose_a_tie_that_they_lead(trick_tie: str) -> None:
    """Player 1 wins the auction, player 2 leads the second trick: his side takes it either way."""
    deck = "2c 3c As Ah 4c 5c Ac Ad 2d 3d 5s 6s 4d 8d 5h 6h 9h 9s"
    position = Position(Rules(tricks=2, trick_tie=trick_tie)).deal(deck).step("bid 2")
    position.step("2c 3c", "2d 3d", "4c 5c", "4d 8d", "Ac Ad", "5h 6h", "5s 6s", "As Ah")
    assert position.state["trick_leader"].tolist() == [1, 2, -1, -1, -1, -1]
    assert position.state["trick_winner"][1] == 0


# --- 2.7 the score --------------------------------------------------------------------------------


def expected_score(bid: int, taken: int, failed: str) -> int:
    if taken < bid:
        return {"zero": 0, "minus": -(1, 3, 6, 10, 15, 21)[bid - 1]}[failed]
    return (1, 3, 6, 10, 15, 21)[bid - 1] + bid * (taken - bid)


@pytest.mark.parametrize("failed", ["zero", "minus"])
def test_bid_is_scored_wrongly(failed: str) -> None:
    rules = Rules(failed_bid=failed)
    rng = np.random.default_rng(4)
    scores = {}
    for bid in range(1, 7):
        for number in range(40):
            position = Position(rules, match="deal", dealer=number % 4).deal(seed=number)
            before = number % 4
            position.step(*[0] * before, bid, *[0] * (3 - before) * (bid < 6))
            position.play(rng)
            [deal] = position.sheet().deals
            side = deal.declarer % 2
            taken = deal.tricks_taken[side]
            assert sum(deal.tricks_taken) == 6
            assert deal.bid == bid
            assert deal.score[1 - side] == 0
            assert deal.score[side] == expected_score(bid, taken, failed)
            assert position.reward[side] == position.reward[side + 2] == deal.score[side]
            assert position.reward[1 - side] == position.reward[3 - side] == -deal.score[side]
            assert deal.points() == tuple(position.reward)
            scores[bid, taken] = deal.score[side]
    assert (scores[5, 5], scores[2, 5], scores[3, 4]) == (15, 9, 9)
    assert scores[4, 3] == {"zero": 0, "minus": -10}[failed]


# --- 2.8 the end ----------------------------------------------------------------------------------


def played(points: tuple[int, int], seed: int, **rules: Any) -> Position:
    """One deal from a score: player 1 bids 1, which his side may fulfil."""
    position = Position(Rules(**rules), score={"points": points}).deal(seed=seed)
    return position.step(1, 0, 0, 0).play(np.random.default_rng(seed))


def test_game_ends_too_early_or_too_late() -> None:
    over = going_on = 0
    for seed in range(12):
        position = played((32, 27), seed)
        gained = position.sheet().points[1] - 27
        assert position.sheet().points[0] == 32
        if gained >= 6:
            over += 1
            assert position.seat == base.MATCH_OVER
            assert position.worth() == [-0.5, 0.5, -0.5, 0.5]
        else:
            going_on += 1
            assert position.seat == base.WANTS_DECK
    position = played((0, 32), 0)
    assert position.sheet().points[1] >= 33
    assert position.seat == base.MATCH_OVER
    assert going_on
    assert [played((0, 26), seed).seat for seed in range(12)].count(base.MATCH_OVER) == 0


def test_single_deal_is_won_by_another_than_its_points() -> None:
    for failed, seed in (("zero", 1), ("minus", 2), ("minus", 3), ("zero", 4)):
        position = Position(Rules(failed_bid=failed), match="deal").deal(seed=seed)
        position.step("bid 4", "pass", "pass", "pass").play(np.random.default_rng(seed))
        assert position.seat == base.MATCH_OVER
        assert position.worth() == (np.sign(position.reward) / 2).tolist()


def test_score_at_which_no_match_stands_is_placed() -> None:
    for points in ((0, 33), (33, 0), (-1, 0), (0, 10**30), (1,), (1, 2, 3), "12", 3, (1.0, 0)):
        with pytest.raises(
            ValueError, match=r"^score points must be two integers from 0 to 32, got "
        ):
            Position(score={"points": points})
    with pytest.raises(ValueError, match=r"^score has unknown fields \['below'\]"):
        Position(score={"below": (1, 2)})
    with pytest.raises(ValueError, match=r"^score must be a dict"):
        Position(score=[1, 2])  # type: ignore[arg-type]
    minus = Rules(failed_bid="minus", target=20)
    assert Position(minus, score={"points": (-7, 19)}).sheet().points == (-7, 19)
    assert Position(minus, score={"points": np.array([3, 4])}).sheet().points == (3, 4)
    assert Position(minus, score={}).sheet().points == (0, 0)
    with pytest.raises(ValueError, match="from -1000000 to 19"):
        Position(minus, score={"points": (0, 20)})


def test_score_is_shown_beyond_its_bounds() -> None:
    rules = Rules(failed_bid="minus", target=300)
    position = Position(rules, score={"points": (299, -500)}).deal()
    assert position.knows(0)["score"] == (299, -330)
    assert position.knows(1)["score"] == (-330, 299)
    assert [base.standing(position.state, seat) for seat in range(4)] == [2, 0, 2, 0]


# --- texts and pictures ---------------------------------------------------------------------------


def test_text_of_an_action_does_not_read_back() -> None:
    rng = np.random.default_rng(5)
    position = Position(Rules(joker="wild")).deal(seed=5)
    while position.seat >= 0:
        legal = position.legal()
        for action in legal:
            text = POKEX.action_text(position.state, action)
            assert POKEX.parse_action(position.state, text) == action
            assert POKEX.parse_action(position.state, text.split(" ", 1)[-1].upper()) == action
        position.step(int(rng.choice(legal)))


@pytest.mark.parametrize(
    "text",
    ["", "bid", "bid 7", "0", "bid 0", "bid 1 2", "1.0", "play 2c 2d", "pass pass", "bid pass"],
)
def test_nonsense_is_a_bid(text: str) -> None:
    with pytest.raises(ValueError, match=r"say 'pass' or 'bid' and a number of tricks from 1 to 6"):
        POKEX.parse_action(in_order().state, text)


@pytest.mark.parametrize("text", ["", "play", "2c", "2c 2d 2h", "2c As", "pass", "bid 2", "2c 2c"])
def test_nonsense_is_a_play(text: str) -> None:
    position = in_order().step(6)
    assert 0 in position.knows(1)["hand"]
    with pytest.raises(ValueError, match=r"not understood|unknown card|more than once"):
        POKEX.parse_action(position.state, text)
    with pytest.raises(ValueError, match="action text must be a str, got 7"):
        POKEX.parse_action(position.state, 7)  # type: ignore[arg-type]


def hand_lines(position: Position, viewers: set[int]) -> dict[int, str]:
    text = render.ansi(POKEX.table(position.state, frozenset(viewers)))
    centre = text.split("\n\n")[3].splitlines()
    return {int(line[len("player_")]): line for line in centre[1:]}


def test_table_shows_a_hand_to_the_wrong_player() -> None:
    rng = np.random.default_rng(6)
    position = Position().deal(seed=6)
    position.step(3, 0, 0, 0)
    for _ in range(7):
        position.step(int(rng.choice(position.legal())))
    for viewers in ({0}, {1}, {2}, {3}, {0, 2}, {0, 1, 2, 3}):
        lines = hand_lines(position, viewers)
        if len(viewers) == 1:
            assert [*lines][-1] in viewers
        for seat, line in lines.items():
            hand = position.knows(seat)["hand"]
            assert line.count("??") == (0 if seat in viewers else len(hand))
            assert all((card_text(card) in line) == (seat in viewers) for card in hand)
            assert ("dealer" in line) == (seat == 0)
            assert ("declarer" in line) == (seat == 1)


def test_deal_that_all_pass_shows_the_hands() -> None:
    position = Position().deal(seed=7).step(0, 0, 0, 0)
    for seat, line in hand_lines(position, {2}).items():
        assert line.count("??") == (0 if seat == 2 else 12)
    assert len(position.knows(2)["seen"]) == 18
    assert position.knows(2)["phase"] == "over"


def test_table_tells_another_story() -> None:
    deck = "Ac Ad Kc Kd 2c 3d 5c 6d As *1 Ks Kh 7c 8d Tc Jd 9h 9s"
    position = Position(Rules(tricks=2, joker="wild", target=3)).deal(deck)
    position.step("bid 1", "pass", "pass", "pass")
    for cards in ("Ac Ad", "As *1", "2c 3d", "7c 8d", "5c 6d"):
        position.step(cards)
    assert (
        render.ansi(POKEX.table(position.state, frozenset({3})))
        == """\
Pokex (game): player_0 deals, player_0 to play
----------------------------------------------

score                players 0 and 2  players 1 and 3
points                             0                0
tricks taken                       0                1

auction              player_1  player_2  player_3  player_0
                     bid 1     pass      pass      pass

centre               (9h) 9s
player_0 (dealer)     ??  ??
player_1 (declarer)   ??  ??
player_2
player_3              Kh  Ks

trick 1              player_1   Ac  Ad   player_3   As  *1   four of a kind, aces
                     player_2  (2c)(3d)  player_0  (7c)(8d)  high card, nine
trick 2              player_2   5c  6d   player_0
                     player_3  player_1"""
    )
    position.step("Tc Jd", "Ks Kh", "Kc Kd")
    lines = render.ansi(POKEX.table(position.state, frozenset({3}))).splitlines()
    assert lines[0] == "Pokex (game): player_0 deals, deal finished"
    assert lines[6].split() == ["this", "deal", "0", "2"]
    position = Position(Rules(tricks=1, target=1)).deal(deck).step("bid 1")
    while position.seat >= 0:
        position.step(*position.legal())
    title = POKEX.table(position.state, frozenset()).title
    assert title == "Pokex (game): player_0 deals, match over, players 1 and 3 have won"
