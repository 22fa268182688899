"""The reference implementation of Poke against the rule book's own examples.

The real environment is compared with the reference elsewhere; these tests are what makes the
reference worth comparing with. They replay the worked deals, the legality and the rubber examples
of docs/rules.md section 1, and check what must hold in any deal over random play.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, permutations
from math import comb
from random import Random
from typing import Any

import pytest

from reference.poke_reference import (
    FinishedDeal,
    ReferencePoke,
    ReferenceRules,
    Trick,
    poker_hand,
)
from reference.worked_deals import (
    DEALER,
    NON_DEALER,
    WORKED_DEALS,
    Replay,
    WorkedDeal,
    arrange,
    card_numbers,
    relabelled,
)

STANDARD = ReferenceRules()
TINY = ReferenceRules(ranks=3, suits=2, hand_size=2, target=6)
SMALL = ReferenceRules(ranks=6, suits=2, hand_size=3, target=9)
VARIANTS = {
    "standard": STANDARD,
    "all options": ReferenceRules(
        must_beat=False,
        trick_unit="lead",
        poker_tie="both",
        ace_low_straight=False,
        final_tie="rubber_winner",
        follow_set_if_held=True,
        reveal_discards=True,
    ),
    "tiny": TINY,
    "small": SMALL,
    "no draws": ReferenceRules(
        non_dealer_draws=0, dealer_draws=0, non_dealer_values=(2,), dealer_values=(3,)
    ),
    "four cards": ReferenceRules(ranks=5, hand_size=4, max_discard=4),
    "short stock": ReferenceRules(ranks=5, suits=3, hand_size=5),
}


def player_of(role: int, dealer: int) -> int:
    """The player who is non-dealer or dealer."""
    return dealer if role == DEALER else 1 - dealer


def by_player(pair: tuple[int, int], dealer: int) -> tuple[int, int]:
    """A (non-dealer's, dealer's) pair as a pair by player."""
    return pair if dealer == 1 else (pair[1], pair[0])


def play(game: ReferencePoke, replay: Replay) -> None:
    """Deal and apply the decisions, checking that just those are asked for."""
    game.deal(replay.deck)
    for decision in replay.decisions:
        assert game.phase == decision.phase
        assert game.to_move == player_of(decision.role, game.dealer)
        game.apply(game.action_of(decision.cards))


def play_worked(game: ReferencePoke, *names: str) -> FinishedDeal:
    """Play worked deals one after another; the last one's entry on the pad."""
    for name in names:
        play(game, WORKED_DEALS[name].replay())
    return game.finished[-1]


def at_the_first_lead(
    lead_hand: str, follow_hand: str, rules: ReferenceRules = STANDARD
) -> ReferencePoke:
    """A deal in which both stood pat; player 0 is the non-dealer and to lead."""
    game = ReferencePoke(rules, match="deal", dealer=1)
    hands = (card_numbers(lead_hand), card_numbers(follow_hand))
    draws_allowed = (rules.non_dealer_draws, rules.dealer_draws)
    play(game, arrange(hands, pack=rules.pack(), draws_allowed=draws_allowed))
    return game


def legal_cards(game: ReferencePoke) -> set[frozenset[int]]:
    """The legal actions as sets of cards."""
    return {frozenset(game.cards_of(action)) for action in game.legal()}


def shuffled(rules: ReferenceRules, rng: Random) -> list[int]:
    """A random order of the pack."""
    deck = rules.pack()
    rng.shuffle(deck)
    return deck


def random_play(rules: ReferenceRules, rng: Random, deals: int) -> Iterator[ReferencePoke]:
    """Rubbers of random legal play, yielded after every pack dealt and every action."""
    game = ReferencePoke(rules, dealer=rng.randrange(2))
    for _ in range(deals):
        if game.phase == "over":
            game = ReferencePoke(rules, dealer=rng.randrange(2))
        game.deal(shuffled(rules, rng))
        yield game
        while game.to_move is not None:
            game.apply(rng.choice(sorted(game.legal())))
            yield game


# --- worked deals ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dealer", [0, 1])
@pytest.mark.parametrize("trick_unit", ["card", "lead"])
@pytest.mark.parametrize("worked", WORKED_DEALS.values(), ids=WORKED_DEALS)
def test_worked_deal(worked: WorkedDeal, trick_unit: str, dealer: int) -> None:
    game = ReferencePoke(
        ReferenceRules(trick_unit=trick_unit),
        dealer=dealer,
        below=by_player(worked.below_before, dealer),
    )
    play(game, worked.replay(filler_seed=dealer))

    deal = game.finished[-1]
    assert deal.dealer == dealer
    for role in (NON_DEALER, DEALER):
        player = player_of(role, dealer)
        assert deal.final_hands[player] == tuple(sorted(worked.hands[role]))
        assert deal.draws[player] == worked.draws[role]
    assert deal.cards_taken == by_player(worked.cards_taken, dealer)
    assert deal.below == by_player(worked.below(trick_unit), dealer)
    assert deal.poker == by_player(worked.poker, dealer)
    assert deal.sweep == by_player(worked.sweep, dealer)
    if trick_unit == "card" and worked.game_winner == "dealer":
        assert deal.game_bonus[dealer] == 100
    if trick_unit == "card" and worked.game_over is False:
        assert deal.game_bonus == (0, 0)


@pytest.mark.parametrize("worked", WORKED_DEALS.values(), ids=WORKED_DEALS)
def test_worked_deal_with_its_suits_relabelled(worked: WorkedDeal) -> None:
    def sheet(replay: Replay) -> tuple[FinishedDeal, list[int]]:
        game = ReferencePoke(STANDARD, match="deal")
        play(game, replay)
        winners = [trick.winner for trick in game.tricks]
        return replace(game.finished[-1], final_hands=((), ())), winners

    original = worked.replay()
    expected = sheet(original)
    for suits in permutations(range(4)):
        assert sheet(relabelled(original, suits)) == expected


def test_any_filler_cards_lead_to_the_same_deal() -> None:
    worked = WORKED_DEALS["E10"]
    decks, sheets = set(), set()
    for seed in range(20):
        game = ReferencePoke(STANDARD, match="deal")
        replay = worked.replay(filler_seed=seed)
        play(game, replay)
        decks.add(replay.deck)
        sheets.add(game.finished[-1])
    assert len(decks) == 20
    assert len(sheets) == 1


def test_the_tricks_of_a_worked_deal_one_by_one() -> None:
    game = ReferencePoke(STANDARD, match="deal", dealer=1)
    deal = play_worked(game, "E3")
    expected = [
        (0, "9h 9s", "3s 6h", 0),
        (0, "5d", "9d", 1),  # must beat: Ks, 9d or 9c
        (1, "9c", "2c", 1),
        (1, "Ks", "4c", 1),
    ]
    assert game.tricks == [
        Trick(leader, card_numbers(led), card_numbers(followed), winner)
        for leader, led, followed, winner in expected
    ]
    assert deal.trick_values == (2, 2)
    assert deal.leads_taken == (1, 3)


# --- deal and draw (docs/rules.md 1.1 and 1.2) ----------------------------------------------------


def test_where_a_pack_goes() -> None:
    game = ReferencePoke(STANDARD, dealer=0)
    deck = shuffled(STANDARD, Random(1))
    game.deal(deck)
    assert game.slots == [sorted(deck[5:10]), sorted(deck[:5])]
    assert game.to_move == 1

    first = game.cards_of(0b00111)
    game.apply(0b00111)
    assert game.slots[1] == sorted([*sorted(deck[:5])[3:], *deck[10:13]])
    assert game.discards == [[], first]
    game.apply(0b10000)
    assert deck[13] in game.slots[1]

    assert game.to_move == 0
    game.apply(0b00011)
    assert game.slots[0] == sorted([*sorted(deck[5:10])[2:], deck[-1], deck[-2]])
    game.apply(0b00001)
    assert deck[-3] in game.slots[0]
    assert game.draws == [[2, 1], [3, 1]]
    assert game.stock == deck[14:-3]


def test_draws_are_one_to_three_cards_and_their_number_is_limited() -> None:
    game = ReferencePoke(STANDARD, dealer=1)
    game.deal(STANDARD.pack())
    moves = []
    while game.phase == "draw":
        assert {bin(action).count("1") for action in game.legal()} == {0, 1, 2, 3}
        assert len(game.legal()) == 1 + 5 + 10 + 10
        moves.append(game.to_move)
        game.apply(0b00111)
    assert moves == [0, 0, 1, 1, 1]
    assert (game.phase, game.to_move) == ("lead", 0)
    assert game.trick_values == (4, 4)
    assert len(game.stock) == 27


def test_pat_is_final_and_the_free_draw_is_lost_with_it() -> None:
    game = ReferencePoke(STANDARD, dealer=1)
    game.deal(STANDARD.pack())
    game.apply(0b00001)
    game.apply(0)
    assert game.to_move == 1
    game.apply(0)
    assert (game.phase, game.to_move) == ("lead", 0)
    assert game.trick_values == (1, 2)


def test_draws_double_what_the_opponent_takes() -> None:
    for non_dealer_draws, dealers_cards in enumerate((1, 2, 4)):
        for dealer_draws, non_dealers_cards in enumerate((1, 1, 2, 4)):
            game = ReferencePoke(STANDARD, dealer=1)
            game.deal(STANDARD.pack())
            for draws, allowed in ((non_dealer_draws, 2), (dealer_draws, 3)):
                for _ in range(draws):
                    game.apply(0b00001)
                if draws < allowed:
                    game.apply(0)
            assert game.trick_values == (non_dealers_cards, dealers_cards)


def test_a_player_changes_at_most_what_the_stock_holds() -> None:
    game = ReferencePoke(TINY, dealer=1)
    game.deal(TINY.pack())
    assert game.legal() == {0b00, 0b01, 0b10, 0b11}
    game.apply(0b01)
    assert game.legal() == {0b00, 0b01, 0b10}
    game.apply(0b01)
    assert game.to_move == 1
    assert game.legal() == {0}  # asked, though only pat is left


# --- legality in the trick phase (docs/rules.md 1.4) ----------------------------------------------


@pytest.mark.parametrize(
    ("must_beat", "follow_set_if_held", "lead", "hand", "plays"),
    [
        (True, False, "9c", "As 8d 7d 4d 2d", ["As"]),
        (False, False, "9c", "As 8d 7d 4d 2d", ["As", "8d", "7d", "4d", "2d"]),
        (True, False, "Ks Kh", "Qs Qh 7d 5d 2d", 10),
        (True, True, "Ks Kh", "Qs Qh 7d 5d 2d", ["Qs Qh"]),
        (True, False, "5s 5h", "8s 8h 8d Jd Jc", ["8s 8h", "8s 8d", "8h 8d", "Jd Jc"]),
        # Equal rank does not beat.
        (True, False, "9s", "9h 8d 7d 4d 2d", 5),
        # A set must be followed with, also out of a larger one, by who does not beat.
        (True, True, "Ks Kh", "Qs Qh Qd 5d 2d", ["Qs Qh", "Qs Qd", "Qh Qd"]),
        (True, True, "5s 5h", "8s 8h 3d 3c 2d", ["8s 8h"]),
        (False, True, "5s 5h", "8s 8h 3d 3c 2d", ["8s 8h", "3d 3c"]),
        (False, True, "5s 5h", "8s 8h 4d 3c 2d", ["8s 8h"]),
        # It concerns neither leads of one card nor hands without such a set.
        (False, True, "9c", "As Ad 7d 4d 2d", 5),
        (True, True, "5s 5h 5d", "8s 8h 4d 3c 2d", 10),
    ],
)
def test_what_may_follow(
    must_beat: bool, follow_set_if_held: bool, lead: str, hand: str, plays: int | list[str]
) -> None:
    rules = ReferenceRules(must_beat=must_beat, follow_set_if_held=follow_set_if_held)
    spare = [card for card in card_numbers("Tc 6c 4c 3h 2h") if card not in card_numbers(hand)]
    led = card_numbers(lead)
    game = ReferencePoke(rules, match="deal", dealer=1)
    lead_hand = (led + tuple(spare))[:5]
    play(game, arrange((lead_hand, card_numbers(hand))))
    game.apply(game.action_of(led))
    if isinstance(plays, int):
        assert len(legal_cards(game)) == plays
    else:
        assert legal_cards(game) == {frozenset(card_numbers(cards)) for cards in plays}


def test_what_may_be_led() -> None:
    game = at_the_first_lead("Ks Kh Kd 5c 5d", "As 2h 3d 4c 6s")
    leads = ["Ks", "Kh", "Kd", "Ks Kh", "Ks Kd", "Kh Kd", "Ks Kh Kd", "5c", "5d", "5c 5d"]
    assert legal_cards(game) == {frozenset(card_numbers(cards)) for cards in leads}


def test_a_card_played_leaves_its_slot_empty() -> None:
    game = at_the_first_lead("Ks Qh 9d 5c 2s", "As Jh 8d 6c 3s")
    game.apply(0b10000)
    game.apply(0b10000)
    assert game.to_move == 1
    assert game.legal() == {0b0001, 0b0010, 0b0100, 0b1000}
    game.apply(0b0001)
    assert game.legal() == {0b0010, 0b0100, 0b1000}
    assert game.hands[0] == sorted(card_numbers("Qh 9d 5c 2s"))


def test_the_last_card_leaves_one_action() -> None:
    for game in random_play(STANDARD, Random(2), deals=100):
        if game.to_move is not None and len(game.hands[game.to_move]) == 1:
            assert len(game.legal()) == 1


def test_an_illegal_action_raises_and_changes_nothing() -> None:
    game = ReferencePoke(STANDARD, dealer=1)
    with pytest.raises(ValueError, match="illegal"):
        game.apply(0)
    game.deal(STANDARD.pack())
    with pytest.raises(ValueError, match="no pack is awaited"):
        game.deal(STANDARD.pack())
    before = game.knows(0)
    for action in (-1, 0b01111, 0b11111, 32):
        with pytest.raises(ValueError, match="illegal"):
            game.apply(action)
    assert game.knows(0) == before
    game.apply(0)
    game.apply(0)
    with pytest.raises(ValueError, match="illegal"):
        game.apply(0)


@pytest.mark.parametrize("deck", [[], list(range(51)), [0, *range(51)], list(range(1, 53))])
def test_a_deck_that_is_not_the_pack_is_refused(deck: list[int]) -> None:
    with pytest.raises(ValueError, match="every card"):
        ReferencePoke(STANDARD).deal(deck)


# --- poker hands (docs/rules.md 1.6) --------------------------------------------------------------


def test_poker_hands_from_best_to_worst() -> None:
    ladder = """
        Ah Kh Qh Jh Th, Ks Qs Js Ts 9s, 6d 5d 4d 3d 2d, 5d 4d 3d 2d Ad,
        As Ah Ad Ac 2d, 7s 7h 7d 7c Ad, 7s 7h 7d 7c 3d, 3s 3h 3d 2c 2s, 2s 2h 2d Ac As,
        Ad Td 5d 3d 2d, Ad 9d 8d 7d 6d, Kd Qd Jd Td 8d, As Kd Qd Jd Td, 6s 5d 4d 3d 2d,
        5s 4d 3d 2d Ad, As Ad Ac 3d 2d, Ks Kd Kc Ad Qd, Ks Kd Kc Ad Jd, As Ad 2s 2d Kc,
        Ks Kd Qs Qd 2c, Ks Kd Js Jd Ac, Ks Kd Js Jd Qc, As Ad 4c 3c 2c, Ks Kd Ac Qc 2c,
        Ks Kd Ac Jc Tc, As Kd Qc Jc 9c, As Kd Qc Jc 8c, 7s 5d 4d 3d 2d
    """
    hands = [card_numbers(text) for text in ladder.split(",")]
    values = [poker_hand(hand, STANDARD) for hand in hands]
    assert values == sorted(values, reverse=True)
    assert len(set(values)) == len(values)
    assert [value[0] for value in values] == (
        [9, 8, 8, 8, 7, 7, 7, 6, 6, 5, 5, 5, 4, 4, 4, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 0, 0, 0]
    )


def test_straights_do_not_wrap_round_and_the_low_ace_is_an_option() -> None:
    assert poker_hand(card_numbers("2c Ad Ks Qs Js"), STANDARD)[0] == 0
    high_ace_only = ReferenceRules(ace_low_straight=False)
    assert poker_hand(card_numbers("As 2h 3d 4c 5s"), STANDARD)[0] == 4
    assert poker_hand(card_numbers("As 2h 3d 4c 5s"), high_ace_only)[0] == 0
    assert poker_hand(card_numbers("As 2s 3s 4s 5s"), STANDARD)[0] == 8
    assert poker_hand(card_numbers("As 2s 3s 4s 5s"), high_ace_only)[0] == 5


def test_the_number_of_hands_of_each_category_in_a_pack_of_six_ranks() -> None:
    rules = ReferenceRules(ranks=6)
    counts = Counter(poker_hand(hand, rules)[0] for hand in combinations(rules.pack(), 5))
    straights, flushes = 2, comb(6, 5)  # ranks 9 to K and T to A; any five ranks
    assert counts == {
        9: 4,
        8: 4,
        7: 6 * 20,
        6: 6 * comb(4, 3) * 5 * comb(4, 2),
        5: 4 * flushes - 8,
        4: straights * 4**5 - 8,
        3: 6 * comb(4, 3) * comb(5, 2) * 4**2,
        2: comb(6, 2) * comb(4, 2) ** 2 * 16,
        1: 6 * comb(4, 2) * comb(5, 3) * 4**3,
        0: (comb(6, 5) - straights) * (4**5 - 4),
    }


def test_the_order_of_hands_is_that_of_another_evaluator() -> None:
    phevaluator = pytest.importorskip("phevaluator")
    rng = Random(3)
    hands = [rng.sample(range(52), 5) for _ in range(10_000)]
    theirs: dict[tuple[int, tuple[int, ...]], set[int]] = {}
    for hand in hands:
        # Both number the cards rank * 4 + suit; in theirs the best hand is 1.
        theirs.setdefault(poker_hand(hand, STANDARD), set()).add(-phevaluator.evaluate_cards(*hand))
    assert all(len(values) == 1 for values in theirs.values())
    in_our_order = [theirs[ours].pop() for ours in sorted(theirs)]
    assert in_our_order == sorted(set(in_our_order))


@pytest.mark.parametrize(
    ("cards", "category"),
    [
        ("As Kc", 0),
        ("As Ac", 1),
        ("As Ks Qs", 0),
        ("As Ac Qs", 1),
        ("As Ac Ad", 3),
        ("As Ac Qs Qd", 2),
        ("As Ac Ad Qd", 3),
        ("As Ac Ad Ah", 7),
        ("As Ks Qs Js", 0),
    ],
)
def test_short_hands_make_sets_only(cards: str, category: int) -> None:
    assert poker_hand(card_numbers(cards), STANDARD)[0] == category


def test_equal_hands_score_nothing_or_both_by_option() -> None:
    assert play_worked(ReferencePoke(STANDARD), "E7").poker == (0, 0)
    assert play_worked(ReferencePoke(ReferenceRules(poker_tie="both")), "E7").poker == (50, 50)
    assert play_worked(ReferencePoke(ReferenceRules(poker_tie="both")), "E6").poker == (200, 0)


# --- game, rubber, winner (docs/rules.md 1.7 to 1.9) ----------------------------------------------


@pytest.mark.parametrize("dealer", [0, 1])
def test_both_reach_the_target_with_equal_totals(dealer: int) -> None:
    game = ReferencePoke(STANDARD, dealer=dealer, below=(16, 16))
    deal = play_worked(game, "E5b")
    assert deal.below == (4, 4)
    assert (game.below, game.games, deal.game_bonus) == ((20, 20), (0, 0), (0, 0))

    deal = play_worked(game, "E7")  # 3 to the non-dealer, who dealt before, and 2 to the dealer
    assert game.dealer == 1 - dealer
    assert deal.below == by_player((3, 2), game.dealer)
    assert game.below == (0, 0)
    assert game.games == by_player((1, 0), game.dealer)
    assert deal.game_bonus == by_player((100, 0), game.dealer)


@pytest.mark.parametrize("dealer", [0, 1])
def test_of_two_over_the_target_the_higher_wins(dealer: int) -> None:
    game = ReferencePoke(STANDARD, dealer=dealer, below=by_player((17, 18), dealer))
    deal = play_worked(game, "E10")
    assert deal.below == by_player((6, 8), dealer)
    assert deal.game_bonus == by_player((0, 100), dealer)
    assert game.games == by_player((0, 1), dealer)
    assert game.below == (0, 0)


def test_the_deal_alternates_and_the_score_stays_with_the_player() -> None:
    game = ReferencePoke(STANDARD, dealer=0)
    dealers = []
    for _ in range(4):
        play_worked(game, "E1")
        dealers.append(game.finished[-1].dealer)
    assert dealers == [0, 1, 0, 1]
    assert [deal.below for deal in game.finished] == [(3, 2), (2, 3), (3, 2), (2, 3)]
    assert game.below == (10, 10)
    assert game.knows(0)["below"] == game.knows(1)["below"] == (10, 10)

    play_worked(game, "E9")  # player 1 sweeps and wins the game: the deal goes on alternating
    assert (game.games, game.below, game.dealer) == ((0, 1), (0, 0), 0)
    play_worked(game, "E1")
    assert game.dealer == 1


EVEN_DEALS = ["E7", "E1"] * 4  # player 0, first non-dealer, takes 3 of 5 each time; no points above


def test_rubber_won_by_who_lost_more_games() -> None:
    game = ReferencePoke(STANDARD, dealer=1)
    play_worked(game, "E18", "E1", "E6", "E1", "E7", "E1", "E7")
    assert game.games == (1, 0)
    play_worked(game, "E9")
    assert game.games == (1, 1)
    play_worked(game, *EVEN_DEALS[:7])
    assert (game.phase, game.games) == ("over", (2, 1))

    deal_points = [sum(d.poker[p] + d.sweep[p] for d in game.finished) for p in (0, 1)]
    assert deal_points == [250, 1450]
    assert game.finished[-1].game_bonus == (100, 0)
    assert game.finished[-1].rubber_bonus == (500, 0)
    assert game.above == (250 + 2 * 100 + 500, 1450 + 100)
    assert game.winner() == 1
    assert game.rewards("points") == (600.0, -600.0)
    assert game.rewards("win") == (-1.0, 1.0)


def test_rubber_won_without_losing_a_game() -> None:
    game = ReferencePoke(STANDARD, dealer=1, above=(250, 1450))
    play_worked(game, *EVEN_DEALS[:7])
    assert (game.games, game.above) == ((1, 0), (350, 1450))
    # The deal alternates, so in the second game player 0 starts as dealer.
    play_worked(game, *EVEN_DEALS[1:8])
    assert (game.phase, game.games) == ("over", (2, 0))
    assert game.finished[-1].rubber_bonus == (750, 0)
    assert game.above == (1200, 1450)


def test_equal_totals_are_a_draw_or_go_to_the_winner_of_the_rubber() -> None:
    for final_tie, winner, reward in (("draw", None, 0.0), ("rubber_winner", 0, 1.0)):
        game = ReferencePoke(
            ReferenceRules(final_tie=final_tie),
            dealer=1,
            below=(17, 0),
            above=(100, 950),
            games=(1, 0),
        )
        play_worked(game, "E7")
        assert game.above == (950, 950)
        assert game.winner() == winner
        assert game.rewards("win") == (reward, -reward)


@pytest.mark.parametrize(("match", "over"), [("deal", True), ("game", True), ("rubber", False)])
def test_a_game_ends_the_shorter_matches(match: str, over: bool) -> None:
    game = ReferencePoke(STANDARD, match=match, dealer=1)
    play_worked(game, "E9")
    assert (game.phase == "over") == over
    assert game.above == (1350, 0)
    assert game.winner() == (0 if over else None)
    assert game.rewards("win") == ((1.0, -1.0) if over else (0.0, 0.0))


def test_bonuses_are_written_whatever_the_match() -> None:
    for match in ("deal", "game", "rubber"):
        game = ReferencePoke(STANDARD, match=match, dealer=1, below=(17, 18), games=(1, 1))
        deal = play_worked(game, "E7")
        assert (deal.game_bonus, deal.rubber_bonus) == ((0, 0), (0, 0))  # 20 to 20
        assert game.below == (20, 20)
        game = ReferencePoke(STANDARD, match=match, dealer=1, below=(17, 0), games=(1, 1))
        deal = play_worked(game, "E7")
        assert (deal.game_bonus, deal.rubber_bonus) == ((100, 0), (500, 0))
        assert game.phase == "over"


def test_points_below_the_line_count_in_a_single_deal_only() -> None:
    for match, margin in (("deal", 200 + 4 * 50), ("game", 200), ("rubber", 200)):
        game = ReferencePoke(STANDARD, match=match, dealer=0)
        play_worked(game, "E6")
        assert game.rewards() == (margin, -margin)
    game = ReferencePoke(STANDARD, match="deal", dealer=0)
    play_worked(game, "E6")
    assert game.rewards(below_value=10.0) == (240.0, -240.0)
    assert game.winner() == 0
    assert game.winner(below_value=-100.0) == 1


@pytest.mark.parametrize("rules", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("match", ["deal", "game", "rubber"])
def test_rewards_add_up_to_the_score(match: str, rules: ReferenceRules) -> None:
    rng = Random(4)
    for _ in range(5):
        game = ReferencePoke(rules, match, rng.randrange(2), above=(300, 100))
        points = wins = 0.0
        while game.phase != "over":
            game.deal(shuffled(rules, rng))
            while game.to_move is not None:
                deals = len(game.finished)
                game.apply(rng.choice(sorted(game.legal())))
                reward, opposite = game.rewards("points")
                assert reward == -opposite
                assert reward == 0 or len(game.finished) == deals + 1
                points += reward
                wins += game.rewards("win")[0]
                assert wins == 0 or game.phase == "over"
        growth = game.above[0] - 300 - (game.above[1] - 100)
        if match == "deal":
            growth += 50 * (game.finished[0].below[0] - game.finished[0].below[1])
        assert points == growth
        assert wins == {0: 1, 1: -1, None: 0}[game.winner()]


# --- what holds in any deal -----------------------------------------------------------------------


@pytest.mark.parametrize("rules", VARIANTS.values(), ids=VARIANTS)
def test_cards_are_conserved(rules: ReferenceRules) -> None:
    thrown_before: list[list[int]] = [[], []]
    for game in random_play(rules, Random(5), deals=100):
        hands, played = game.hands, game.played
        places = [*hands, *played, *game.discards, game.stock]
        assert sorted(card for place in places for card in place) == rules.pack()
        assert [len(hands[p]) + len(played[p]) for p in (0, 1)] == [rules.hand_size] * 2
        if game.phase == "lead":
            assert len(hands[0]) == len(hands[1]) > 0
        if game.draws == [[], []]:
            thrown_before = [[], []]
        for player in (0, 1):
            # Once thrown away, always there: a discard never comes back in the same deal.
            assert game.discards[player][: len(thrown_before[player])] == thrown_before[player]
            assert len(game.discards[player]) == sum(game.draws[player])
        thrown_before = [list(cards) for cards in game.discards]


@pytest.mark.parametrize("rules", VARIANTS.values(), ids=VARIANTS)
def test_somebody_to_move_has_a_legal_action(rules: ReferenceRules) -> None:
    for game in random_play(rules, Random(6), deals=30):
        assert bool(game.legal()) == (game.to_move is not None)
        assert (game.to_move is None) == (game.phase in ("deal", "over"))


@pytest.mark.parametrize("rules", VARIANTS.values(), ids=VARIANTS)
def test_every_deal_divides_the_cards(rules: ReferenceRules) -> None:
    game = None
    for game in random_play(rules, Random(7), deals=60):
        if game.to_move is None:
            deal = game.finished[-1]
            assert sum(deal.cards_taken) == rules.hand_size
            assert sum(deal.leads_taken) == len(game.tricks)
            assert deal.draws == (tuple(game.draws[0]), tuple(game.draws[1]))
            swept = [player for player in (0, 1) if deal.cards_taken[player] == rules.hand_size]
            assert [player for player in (0, 1) if deal.sweep[player]] == swept
            if rules.poker_tie == "none":
                assert min(deal.poker) == 0
    assert game is not None


def test_a_deal_scores_equal_points_below_only_at_four_all() -> None:
    equal = {
        game.finished[-1].below
        for game in random_play(STANDARD, Random(8), deals=300)
        if game.to_move is None and len(set(game.finished[-1].below)) == 1
    }
    assert equal == {(4, 4)}


# --- what a player knows --------------------------------------------------------------------------


@pytest.mark.parametrize("reveal", [False, True])
def test_seen_cards_are_own_cards_and_played_cards(reveal: bool) -> None:
    rules = ReferenceRules(reveal_discards=reveal)
    for game in random_play(rules, Random(9), deals=50):
        for player in (0, 1):
            known = game.knows(player)
            hidden = set(game.stock) | set(game.hands[1 - player])
            assert ("opponent_discards" in known) == reveal
            if reveal:
                assert known["opponent_discards"] == sorted(game.discards[1 - player])
            else:
                hidden |= set(game.discards[1 - player])
            assert known["seen"] == sorted(set(rules.pack()) - hidden)
            assert known["draws"] == (game.draws[player], game.draws[1 - player])


def test_what_both_know_in_the_middle_of_a_deal() -> None:
    game = ReferencePoke(STANDARD, dealer=1, below=(3, 7), above=(50, 0), games=(0, 1))
    replay = WORKED_DEALS["E3"].replay()
    game.deal(replay.deck)
    for decision in replay.decisions[:-5]:  # up to the lead of the second trick
        game.apply(game.action_of(decision.cards))
    assert game.phase == "follow"

    thrown = [sorted(game.discards[0]), sorted(game.discards[1])]
    assert (len(thrown[0]), len(thrown[1])) == (3, 4)
    nines, low = list(card_numbers("9h 9s")), list(card_numbers("3s 6h"))
    led = list(card_numbers("5d"))
    assert game.knows(0) == {
        "hand": list(card_numbers("2c 4c")),
        "discards": thrown[0],
        "draws": ([3], [3, 1]),
        "seen": sorted([*card_numbers("2c 4c"), *thrown[0], *nines, *low, *led]),
        "tricks": [(True, nines, low, True)],
        "table": led,
        "below": (3, 7),
        "above": (50, 0),
        "games": (0, 1),
        "trick_values": (2, 2),
        "phase": "follow",
        "dealer_is_me": False,
    }
    assert game.knows(1) == {
        "hand": list(card_numbers("9c 9d Ks")),
        "discards": thrown[1],
        "draws": ([3, 1], [3]),
        "seen": sorted([*card_numbers("9c 9d Ks"), *thrown[1], *nines, *low, *led]),
        "tricks": [(False, nines, low, False)],
        "table": led,
        "below": (7, 3),
        "above": (0, 50),
        "games": (1, 0),
        "trick_values": (2, 2),
        "phase": "follow",
        "dealer_is_me": True,
    }


def test_trick_values_are_own_first() -> None:
    game = ReferencePoke(STANDARD, dealer=1)
    game.deal(STANDARD.pack())
    game.apply(0b00001)  # the non-dealer doubles what the dealer takes
    assert game.knows(0)["trick_values"] == (1, 2)
    assert game.knows(1)["trick_values"] == (2, 1)


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"trick_unit": "trick"},
        {"poker_tie": "all"},
        {"final_tie": "none"},
        {"hand_size": 6},
        {"ranks": 2, "suits": 4},
        {"non_dealer_draws": 1},
        {"dealer_draws": 2},
    ],
)
def test_rules_that_mean_nothing_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"is|needs"):
        replace(STANDARD, **change)


@pytest.mark.parametrize(
    "score",
    [
        {"match": "set"},
        {"dealer": 2},
        {"below": (20, 19)},
        {"below": (-1, 0)},
        {"games": (2, 0)},
    ],
)
def test_a_score_at_which_no_match_stands_is_refused(score: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"is|are"):
        ReferencePoke(STANDARD, **score)
