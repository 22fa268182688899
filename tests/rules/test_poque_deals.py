"""The rule book's Poque, paragraph by paragraph, in dealt hands (docs/rules.md, section 3)."""

from __future__ import annotations

from random import Random
from typing import Any

import numpy as np
import pytest
from poque_table import PoqueTable, stacked

from poke_env import poque_v0, render
from poke_env.cards import card_number, format_cards, parse_cards
from poke_env.games.base import DEAL_ENDED, NOT_PAID, PAID, Card
from poke_env.games.poque import POQUE, PRESETS, STANDINGS, VIEW, Rules

# Player 3 deals, so player 0 speaks first. Player 0 holds two kings, player 1 two aces, player 2 a
# sequence of three, player 3 nothing for an auction.
HANDS = ("Ks Kc 7d 9d Jd", "As Ac 8d Th 7c", "7h 8h 9h Qs Tc", "Js Qd Kh 9c 8c")


def four(
    hands: tuple[str, ...] = HANDS, turned: str = "8s", score: Any = None, **options: Any
) -> PoqueTable:
    """A deal of four in which player 3 deals these hands."""
    rules = Rules(**options)
    return PoqueTable("deal", rules, score).deal(stacked(rules, 3, hands, turned), 3)


def two(hands: tuple[str, str], turned: str, score: Any = None, **options: Any) -> PoqueTable:
    """A deal of two in which player 1 deals these hands."""
    rules = Rules(players=2, **options)
    return PoqueTable("deal", rules, score).deal(stacked(rules, 1, hands, turned), 1)


def at_play(table: PoqueTable) -> PoqueTable:
    """Everybody who is asked passes, up to the play-out."""
    while 0 in table.legal():
        table.step("pass")
    return table


def played(table: PoqueTable, seat: int = 0) -> list[tuple[int, str]]:
    """Who played what, as player 0 sees it."""
    return [(player, format_cards([card])) for player, card in table.decoded(seat)["plays"]]


# --- 3.1: the pack --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "players, size, lowest",
    [(2, 32, "7"), (3, 32, "7"), (4, 32, "7"), (5, 36, "6"), (6, 40, "5"), (7, 44, "4"),
     (8, 52, "2")],
)  # fmt: skip
def test_pack_is_not_stripped_for_the_players(players: int, size: int, lowest: str) -> None:
    pack = Rules(players=players).pack()
    assert len(pack) == size
    assert pack[0] == card_number(f"{lowest}c")
    assert pack[-1] == card_number("As")


# --- 3.2: ante, deal, the card turned up ----------------------------------------------------------


def test_ante_is_not_one_chip_in_each_pool() -> None:
    table = four()
    assert table.stacks == [34] * 4
    assert table.pools == [4] * 6


def test_cards_are_not_dealt_from_the_dealers_right() -> None:
    rules = Rules(players=3)
    table = PoqueTable("deal", rules).deal(list(rules.pack()), 1)
    pack = rules.pack()
    assert table.decoded(2)["slots"] == pack[:5]
    assert table.decoded(0)["slots"] == pack[5:10]
    assert table.decoded(1)["slots"] == pack[10:15]
    assert table.decoded(1)["turned"] == pack[15]


@pytest.mark.parametrize(
    "turned, pool", [("Ad", 0), ("Kd", 1), ("Qh", 2), ("Jc", 3), ("9s", None), ("Ts", None)]
)
def test_dealer_does_not_take_the_pool_of_the_card_turned_up(turned: str, pool: int | None) -> None:
    table = four(HANDS, turned)
    expected = [4] * 6
    if pool is not None:
        expected[pool] = 0
    assert table.pools == expected
    assert table.stacks == [34, 34, 34, 34 if pool is None else 38]


def test_player_short_of_chips_does_not_fill_the_pools_in_order() -> None:
    score = {"stacks": (2, 0, 5, 153), "pools": (0,) * 6}
    table = four(score=score, unopened="carry")
    assert table.pools == [3, 3, 2, 2, 2, 1]
    assert table.stacks == [0, 0, 0, 147]


def test_turn_does_not_pass_to_the_right() -> None:
    rules = Rules(players=3, deals=4)
    table = PoqueTable("session", rules)
    rng = Random(3)
    dealers = []
    while not table.over:
        table.deal(rng.sample(rules.pack(), 32), 1 if not dealers else -1)
        dealers.append(table.sheet.dealer)
        while table.to_move >= 0:
            table.step(rng.choice(table.legal()))
    assert dealers == [1, 2, 0, 1]


# --- 3.3: the pools of the cards ------------------------------------------------------------------


def test_pool_is_taken_before_its_card_is_played() -> None:
    table = at_play(four())
    before = table.stacks
    assert table.pools[:4] == [4, 4, 4, 4]
    table.step("lead Js")  # Js, then Qs, Ks, As: each holder takes his pool
    assert played(table) == [(3, "Js"), (2, "Qs"), (0, "Ks"), (1, "As")]
    assert table.pools[:4] == [0, 0, 0, 0]
    assert table.stacks == [before[0] + 4, before[1] + 4, before[2] + 4, before[3] + 4]
    assert table.to_move == 1


def test_pool_still_held_is_not_taken_at_the_end() -> None:
    table = at_play(two(("7c 8c 9c Tc Jc", "As 7d Kd 9h Ac"), "8s"))
    chips = table.stacks
    table.step("lead Ac")
    table.step("lead 7d", "lead 9h", "lead Kd")
    assert table.to_move == 1
    table.step("lead As")  # player 1 is out and took the ace pool with his last card
    [deal] = table.sheet.deals
    assert deal.pools_taken[0] == (1, 2)
    assert table.stacks == [chips[0] - 5, chips[1] + 2 + 5]
    # And the holder who did not play it takes it before he pays.
    score = {"stacks": (7, 55), "pools": (9, 0, 0, 0, 0, 9)}
    table = at_play(two(("7s 7d 7h 9d As", "8c 9c Tc Jc Qc"), "8s", score, unopened="carry"))
    assert table.stacks[0] == 1
    table.step("lead 8c")
    [deal] = table.sheet.deals
    assert deal.pools_taken[0] == (0, 11)
    assert deal.paid == (-5, 5)


def test_pool_nobody_takes_is_emptied() -> None:
    table = at_play(two(("7c 8c 9c Tc Jc", "7d 8d 9d Td Jd"), "7s"))
    table.step("lead 7d")
    assert table.over
    [deal] = table.sheet.deals
    assert deal.pools_taken == (None, None, None, None)
    assert table.pools[:4] == [2, 2, 2, 2]


# --- 3.4: the auctions ----------------------------------------------------------------------------


def test_first_speaker_is_not_at_the_dealers_right() -> None:
    table = four()
    assert table.to_move == 0
    assert table.decoded(0)["phase"] == "poque"
    assert table.legal_texts() == ["pass", "open 1", "open 2", "open 3", "open 4", "open 5"]


def test_player_without_a_combination_is_asked() -> None:
    """The environment passes for the others, for all to see."""
    table = four()
    asked = []
    while 0 in table.legal():
        asked.append((table.decoded(0)["phase"], table.to_move))
        table.step("open 1" if len(asked) == 1 else "pass")
    assert asked == [("poque", 0), ("poque", 1), ("sequence", 2)]
    seen = table.decoded(3)["auctions"]  # by seats 3, 0, 1, 2
    assert seen["poque"]["passed"] == (1, None, 1, 1)
    assert seen["sequence"]["passed"] == (0, 0, 0, 0)


def test_forced_pass_looks_unlike_a_pass() -> None:
    """Nobody can tell from a pass whether its player held something."""
    held = four((*HANDS[:2], "Ad Ah 9h Qs Tc", HANDS[3])).step("open 1", "pass", "pass")
    lacking = four((*HANDS[:2], "Ad 7h 9h Qs Tc", HANDS[3])).step("open 1", "pass")
    for seat in (0, 1, 3):
        assert np.array_equal(held.observe(seat), lacking.observe(seat))


def test_bets_move_other_chips() -> None:
    """Open 2, raise 3, equal: both have staked five; the better pair takes stakes and pool."""
    table = four().step("open 2")
    assert table.rewards == [-8, -6, -6, -6]  # the ante is paid with the first decision
    assert (table.told, table.pools[5]) == (PAID, 6)
    assert table.decoded(1)["to_equal"] == 2
    table.step("raise 3")
    assert table.rewards == [0, -5, 0, 0]
    assert (table.to_move, table.decoded(0)["to_equal"]) == (0, 3)
    table.step("equal")
    assert table.rewards == [-3, 14, 0, 0]
    assert table.stacks == [29, 43, 34, 34]
    assert table.decoded(0)["auctions"]["poque"]["staked"] == (5, 5, 0, 0)
    table.step("pass")
    assert table.rewards == [0, 0, 0, 4]  # nobody opened: the dealer's


def test_more_cards_do_not_beat_fewer() -> None:
    table = two(("7c 7d 7h 9s Ts", "Ac Ad 8h 9c Jc"), "8s").step("open 1", "equal")
    assert table.decoded(0)["auctions"]["poque"]["took"] == (4, 0)


def test_higher_rank_does_not_win() -> None:
    table = two(("7c 7d Kh 9s Ts", "8c 8d Th 9c Jc"), "8s").step("open 1", "equal")
    assert table.decoded(0)["auctions"]["poque"]["took"] == (0, 4)


def test_second_set_counts() -> None:
    """Two pairs are the higher pair alone."""
    table = two(("Ac Ad 7h 8h Ts", "Kc Kd Qc Qd Jh"), "8s").step("open 1", "equal")
    assert table.decoded(1)["auctions"]["poque"]["took"] == (0, 4)
    assert table.decoded(0)["shown"] == (parse_cards("Ac Ad"), parse_cards("Kc Kd"))


@pytest.mark.parametrize(
    "hands, took",
    [
        (("7c 8c 9c Kd Js", "Qh Kh Ah 7d 9s"), (0, 4)),  # the higher top card
        (("7c 8c 9c Tc Js", "Qh Kh Ah 7d 9s"), (4, 0)),  # longer beats higher
        (("7c 8c 9c Jd Ks", "7h 8h 9h Qd As"), (2, 2)),  # exact equals share
    ],
)
def test_sequences_are_compared_wrongly(hands: tuple[str, str], took: tuple[int, int]) -> None:
    table = two(hands, "8s")
    assert table.decoded(0)["phase"] == "sequence"
    table.step("open 1", "equal")
    assert table.decoded(0)["auctions"]["sequence"]["took"] == took


def test_sequence_of_two_or_round_the_corner_counts() -> None:
    table = two(("7c 8c Td Jd Ah", "Kh Ac Qd 9d 8s"), "9s")
    assert table.decoded(0)["phase"] == "play"
    table = two(("Ac 2c 3c 7d 9h", "Qh Kh 8s Th 2h"), "5s", ranks=13)
    assert table.decoded(0)["phase"] == "play"


def test_odd_chips_do_not_stay_in_the_pool() -> None:
    hands = ("7c 7d Kh 9s Ts", "7h 7s Ah 9c Jc", "8c Jd Qh Kd Th")
    rules = Rules(players=3)
    table = PoqueTable("deal", rules).deal(stacked(rules, 2, hands, "8s"), 2)
    table.step("open 2", "equal")
    assert table.decoded(0)["auctions"]["poque"]["took"] == (3, 3, 0)
    assert table.pools[5] == 1
    assert table.decoded(2)["shown"] == ((), parse_cards("7c 7d"), parse_cards("7h 7s"))


def test_lone_survivor_shows() -> None:
    hands = ("7c 7d Kh 9s Ts", "8c 8d Th 9c Jc")
    table = two(hands, "8s", unopened="carry").step("open 5", "pass")
    assert table.decoded(1)["shown"] == ((), ())
    assert table.decoded(1)["auctions"]["poque"]["took"] == (0, 7)
    assert table.stacks == [34 + 2, 34]


def test_pass_is_not_final() -> None:
    """Who passed before the opening is not asked again; what a raised player put in is lost."""
    table = four().step("pass", "open 1")
    assert (table.decoded(0)["phase"], table.to_move) == ("sequence", 2)
    hands = ("7c 7d Kh 9s Ts", "8c 8d Th 9c Jc")
    table = two(hands, "8s", unopened="carry").step("open 2", "raise 1", "pass")
    assert table.stacks == [34 - 2, 34 + 2 + 2]


def test_raises_have_no_end() -> None:
    table = two(("7c 7d Kh 9s Ts", "8c 8d Th 9c Jc"), "8s", max_raises=2, max_raise=3)
    assert table.legal_texts() == ["pass", "open 1", "open 2", "open 3"]
    table.step("open 1", "raise 1")
    assert table.legal_texts() == ["pass", "equal", "raise 1", "raise 2", "raise 3"]
    table.step("raise 3")
    assert table.legal_texts() == ["pass", "equal"]
    table.step("equal")
    assert table.decoded(0)["auctions"]["poque"]["staked"] == (5, 5)
    table = two(("7c 7d Kh 9s Ts", "8c 8d Th 9c Jc"), "8s", max_raises=0).step("open 5")
    assert table.legal_texts() == ["pass", "equal"]


def test_bet_is_larger_than_some_stack_can_match() -> None:
    """The smallest stack of all who have not passed counts, also that of one who holds nothing."""
    score = {"stacks": (60, 60, 9, 31), "pools": (0,) * 6}
    table = four(score=score)
    assert table.legal_texts() == ["pass", "open 1", "open 2", "open 3"]
    table.step("open 2")
    assert table.legal_texts() == ["pass", "equal", "raise 1"]
    table.step("raise 1")  # players 2 and 3 pass, and the limit goes
    assert table.to_move == 0
    assert table.legal_texts()[-1] == "raise 5"


def test_player_without_chips_is_in_the_auction() -> None:
    score = {"stacks": (60, 6, 64, 30), "pools": (0,) * 6}
    table = four(score=score)  # player 1 holds aces and no chip
    assert table.legal_texts()[-1] == "open 5"
    table.step("open 5")
    seen = table.decoded(0)["auctions"]["poque"]
    assert seen["passed"] == (None, "out", 1, 1)
    assert (table.decoded(0)["phase"], table.to_move) == ("sequence", 2)


@pytest.mark.parametrize("unopened, kept", [("dealer", 0), ("carry", 4)])
def test_unopened_pool_goes_elsewhere(unopened: str, kept: int) -> None:
    table = at_play(four(unopened=unopened))
    assert table.pools[4:] == [kept, kept]
    assert table.stacks == [34, 34, 34, 34 + 2 * (4 - kept)]


def test_only_holders_may_bluff() -> None:
    """With `allow_bluff` everybody is asked; nothing loses to anything and ties."""
    hands = ("Ks Qc 7d 9h Jd", "As Kc 8d Th 7c")
    table = two(hands, "8s", allow_bluff=True)
    assert table.legal_texts()[-1] == "open 5"
    table.step("open 2", "equal")
    assert table.decoded(0)["auctions"]["poque"]["took"] == (3, 3)
    assert table.decoded(0)["shown"] == ((), ())
    table = two(("Ks Qc 7d 9h Jd", "8c 8d Th 9c Jc"), "8s", allow_bluff=True)
    table.step("open 2", "equal")
    assert table.decoded(0)["auctions"]["poque"]["took"] == (0, 6)
    table = two(hands, "8s")
    assert table.decoded(0)["phase"] == "play"


def test_record_does_not_tell_what_was_forced() -> None:
    table = four()
    assert table.forced == []
    table.step("pass")
    assert table.forced == []
    table.step("open 1")
    assert table.forced == ["2 passes", "3 passes", "0 passes", "1 passes"]
    table.step("pass")
    assert table.forced == ["3 passes"]
    table.step("lead Js")
    assert table.forced == ["2 plays Qs", "0 plays Ks", "1 plays As"]
    table = two(("7c 7d Kh 9s Ts", "Ac Qd Th 9c Jc"), "8s", allow_bluff=True)
    table.step("open 1", "equal")
    assert table.forced == ["0 shows 7c 7d", "1 shows nothing"]
    table = two(("7c 8d Kh 9s Ts", "Ac Ad Th 9c Jc"), "8s")
    assert table.forced == ["0 passes"]


# --- 3.5: the play-out ----------------------------------------------------------------------------


def test_forced_card_is_asked_for() -> None:
    table = at_play(two(("7c 9c Jc Ad Qh", "8c Tc 7d 8d Kh"), "8s"))
    assert table.to_move == 1
    table.step("lead 8c")
    assert played(table, 1) == [(0, "8c"), (1, "9c"), (0, "Tc"), (1, "Jc")]
    assert table.to_move == 0
    assert card_number("Qc") in table.decoded(1)["gone"]  # nobody had it
    assert table.legal_texts() == ["lead 7c", "lead Qh", "lead Ad"]
    table.step("lead Qh")
    assert played(table)[-2:] == [(0, "Qh"), (1, "Kh")]


def test_run_goes_on_past_an_ace_or_the_card_turned_up() -> None:
    table = at_play(two(("7c 9s Jc Ad Qh", "Kd Tc 7d 8d 7s"), "8s"))
    table.step("lead Kd")
    assert played(table) == [(1, "Kd"), (0, "Ad")]
    assert table.to_move == 0
    table.step("lead Qh")
    assert table.to_move == 0
    assert card_number("Kh") in table.decoded(1)["gone"]
    table = at_play(two(("7c 9s Jc Ad Qh", "Kd Tc 7d 8d 7s"), "8s"))
    table.step("lead 7s")  # the eight is turned up
    assert played(table) == [(1, "7s")]
    assert table.to_move == 1


def test_slots_move_when_a_card_is_played() -> None:
    table = at_play(two(("7c 9s Jc Ad Qh", "Kd Tc 7d 8d 7s"), "8s")).step("lead 7s", "lead Tc")
    assert table.decoded(0)["slots"] == parse_cards("7c 9s Jc Qh Ad")
    assert played(table)[-1] == (0, "Jc")
    assert table.legal() == [7, 8, 10, 11]


# --- 3.6: the end of a deal -----------------------------------------------------------------------


def ended(score: Any = None, **options: Any) -> PoqueTable:
    """Player 3 deals himself 7s to Js and plays them at once; nobody holds the queen of spades."""
    hands = ("7d 9d Jd Kd Kh", "7h 7c 9c Jc Ad", "8c Qd Th Qc Ah", "7s 8s 9s Ts Js")
    return at_play(four(hands, "Ks", score, **options)).step("lead 7s")


def test_cards_left_cost_something_else() -> None:
    assert ended().sheet.deals[0].paid == (-5, -5, -5, 15)
    # 7 9 J K K, 7 7 9 J A, 8 T Q Q A
    assert ended(pay="pips", stack=100).sheet.deals[0].paid == (-46, -34, -39, 119)


def test_most_cards_are_not_paid_for() -> None:
    """Whoever holds most cards pays one chip a card to all others, and so do all who tie."""
    hands = ("7c 9c Jc Kc 8d", "8s Ts 7h 9h Jh", "7s 9s Js Qs Ks")
    for pay, first, third in (("card", 5, 3), ("pips", 44, 26)):
        rules = Rules(players=3, stack=100, most_cards_double=True, pay=pay)
        table = at_play(PoqueTable("deal", rules).deal(stacked(rules, 2, hands, "8h"), 2))
        table.step("lead 7s")  # up to the king, with two cards of player 1 between
        assert table.sheet.deals[0].paid == (-first - 10, -third + 5, first + third + 5)
    assert ended(most_cards_double=True).sheet.deals[0].paid == (-10, -10, -10, 30)


def test_payment_is_not_limited_to_the_stack() -> None:
    score = {"stacks": (8, 6, 106, 40), "pools": (0,) * 6}
    table = ended(score)
    assert table.sheet.deals[0].paid == (-2, 0, -5, 7)
    assert table.stacks[:2] == [0, 0]


def test_payments_do_not_go_in_turn() -> None:
    """What a player gets before his turn he can pay with: 0 pays first, then 1, then 2."""
    score = {"stacks": (50, 6, 64, 40), "pools": (0,) * 6}
    table = ended(score, most_cards_double=True)
    # To player 3: 5, 0, 5. Then 0 pays 1, 2, 3 five each; 1 pays 2 the five he has just got, and
    # nothing to 3 and 0; 2 pays 3, 0, 1 five each.
    assert table.sheet.deals[0].paid == (-15, 5, -10, 20)


# --- 3.7: the session -----------------------------------------------------------------------------


def test_session_has_another_length() -> None:
    rng = Random(9)
    for deals in (1, 3):
        rules = Rules(players=3, deals=deals)
        table = PoqueTable("session", rules)
        for number in range(deals):
            assert not table.over
            table.deal(rng.sample(rules.pack(), 32), number % 3)
            assert table.decoded(0)["deals_left"] == deals - number
            while table.to_move >= 0:
                table.step(rng.choice(table.legal()))
        assert table.over
        assert table.totals == [chips - 40 for chips in table.stacks]


@pytest.mark.parametrize(
    "stacks, worth",
    [
        ((10, 70, 60, 20), (-1 / 3, 1, -1 / 3, -1 / 3)),
        ((70, 70, 10, 10), (0.5, 0.5, -0.5, -0.5)),
        ((40, 40, 40, 40), (0, 0, 0, 0)),
    ],
)
def test_most_chips_do_not_win(stacks: tuple[int, ...], worth: tuple[float, ...]) -> None:
    table = PoqueTable("session", Rules())
    table.state["stack"][:4] = stacks
    assert table.win() == pytest.approx(worth)


def test_deal_is_won_by_the_larger_stack() -> None:
    """In a match of one deal those win who won most chips, however few they have."""
    score = {"stacks": (100, 20, 20, 20), "pools": (0,) * 6}
    table = ended(score)
    won = table.sheet.deals[0].chips
    assert won.index(max(won)) == 3
    assert table.win() == pytest.approx([-1 / 3, -1 / 3, -1 / 3, 1])


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("match", ["session", "deal"])
def test_rewards_do_not_add_up_to_the_chips(preset: str, match: str) -> None:
    """Every chip is paid once: antes and pools with the first decision after them."""
    rng = Random(5)
    for _ in range(10):
        table = PoqueTable(match, preset)
        before = table.stacks
        while not table.over:
            settled = table.stacks
            table.deal(rng.sample(table.rules.pack(), len(table.rules.pack())), 0)
            while table.to_move >= 0:
                table.step(rng.choice(table.legal()))
                gone = [now - then for now, then in zip(table.stacks, settled, strict=True)]
                assert table.rewards == gone
                moved = PAID if any(gone) else NOT_PAID
                assert table.told == (DEAL_ENDED if table.to_move < 0 else moved)
                settled = table.stacks
        total = [now - then for now, then in zip(table.stacks, before, strict=True)]
        assert table.totals == total


def test_standing_does_not_follow_the_chips() -> None:
    table = PoqueTable("session", Rules(), {"stacks": (50, 50, 40, 20), "pools": (0,) * 6})
    told = [STANDINGS[POQUE.standing(table.state, seat)] for seat in range(4)]
    assert told == ["level with the most", "level with the most", "behind", "behind"]
    table = PoqueTable("session", Rules(), {"stacks": (45, 40, 40, 35), "pools": (0,) * 6})
    assert STANDINGS[POQUE.standing(table.state, 0)] == "most chips"
    table.deal(stacked(table.rules, 3, HANDS, "8s"), 3).step("open 5")
    assert table.stacks[:2] == [34, 34]  # what moves in a deal does not count until the next
    assert STANDINGS[POQUE.standing(table.state, 0)] == "most chips"


# --- words, pictures, the door --------------------------------------------------------------------


def test_text_of_an_action_does_not_read_back() -> None:
    rng = Random(8)
    for preset in PRESETS:
        table = PoqueTable("session", preset)
        while not table.over:
            table.deal(rng.sample(table.rules.pack(), len(table.rules.pack())))
            while table.to_move >= 0:
                texts = table.legal_texts()
                for action, text in zip(table.legal(), texts, strict=True):
                    assert POQUE.parse_action(table.state, text) == action
                    assert POQUE.parse_action(table.state, text.upper()) == action
                    if text.startswith("lead"):
                        assert POQUE.parse_action(table.state, text[5:]) == action
                table.step(rng.choice(texts))


@pytest.mark.parametrize("text", ["", "stay", "raise 2", "open 6", "open", "Ks", "lead Ks", 3])
def test_words_out_of_place_pass(text: Any) -> None:
    with pytest.raises(ValueError, match="action"):
        POQUE.parse_action(four().state, text)


@pytest.mark.parametrize("text", ["", "pass", "open 1", "lead", "As", "lead Js Qd", "lead Zz"])
def test_cards_that_are_not_held_pass(text: str) -> None:
    with pytest.raises(ValueError, match=r"action|card"):
        POQUE.parse_action(at_play(four()).state, text)


def shown_cards(table: PoqueTable, viewers: set[int]) -> list[int]:
    picture = POQUE.table(table.state, frozenset(viewers))
    items = [item for block in picture.blocks for line in block for item in line.items]
    return [item.number for item in items if isinstance(item, Card) and item.number is not None]


def test_table_shows_hidden_cards_or_hides_others() -> None:
    rng = Random(2)
    for seed in range(7):
        rules = Rules(players=2 + seed % 7)
        table = PoqueTable("deal", rules).deal(rng.sample(rules.pack(), len(rules.pack())), 0)
        while True:
            for viewer in range(rules.players):
                seen = set(table.decoded(viewer)["seen"])
                told = set(shown_cards(table, {viewer}))
                stops = set(table.decoded(viewer)["gone"]) - told
                assert told <= seen
                assert seen - told <= stops
            everyone = shown_cards(table, set(range(rules.players)))
            assert len(everyone) == 5 * rules.players + 1
            assert len(set(everyone)) == len(everyone)
            if table.over:
                break
            table.step(rng.choice(table.legal()))


def test_table_does_not_tell_the_deal() -> None:
    table = four().step("open 2", "raise 3", "equal")
    text = render.ansi(POQUE.table(at_play(table).state, frozenset({3})))
    assert "Poque (deal): player_3 deals, player_3 to lead" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["poque", "opens", "2", "raises", "3", "passes", "passes"] in rows
    assert ["equals"] in rows
    assert ["taken", "0", "14", "0", "0"] in rows
    table.step("lead Js")
    text = render.ansi(POQUE.table(table.state, frozenset({3})))
    assert "player_3   Js   player_2   Qs   player_0   Ks   player_1   As" in text


def test_own_hand_does_not_come_last() -> None:
    block = POQUE.table(four().state, frozenset({1})).blocks[3]
    assert [line.label.split()[0] for line in block] == [
        "turned", "player_2", "player_3", "player_0", "player_1",
    ]  # fmt: skip


def test_observation_begins_with_another_seat() -> None:
    table = four().step("open 2")
    for seat in range(4):
        seen = table.decoded(seat)
        assert seen["dealer"] == (3 - seat) % 4
        assert seen["mover"] == (1 - seat) % 4
        assert seen["stacks"][-seat % 4] == 32
        assert seen["won"][-seat % 4] == -8
        assert seen["auctions"]["poque"]["bets"] == (((0 - seat) % 4, 2),)


def test_documented_size_is_another() -> None:
    assert sum(piece.size for piece in VIEW) == 455
    assert str(455) in (POQUE.observe.__doc__ or "")
    assert POQUE.num_actions(Rules()) == 12
    assert poque_v0.raw_env.game is POQUE
