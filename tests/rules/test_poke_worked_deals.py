"""The worked deals and examples of docs/rules.md, section 1, move by move through the environment.

Every deal is played with either player as the dealer, so that no side is favoured by its number.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import permutations
from typing import Any

import pytest

from helpers import is_over
from poke_env import poke_v0
from poke_env.cards import format_cards
from reference.worked_deals import (
    DEALER,
    NON_DEALER,
    WORKED_DEALS,
    Decision,
    Replay,
    WorkedDeal,
    arrange,
    card_numbers,
    relabelled,
)

TRICK_EXAMPLES = [WORKED_DEALS[name] for name in ("E2", "E3", "E5a", "E6", "E7")]
both_dealers = pytest.mark.parametrize("dealer", [0, 1])


def agent_of(role: int, dealer: int) -> str:
    return f"player_{dealer if role == DEALER else 1 - dealer}"


def by_player(pair: Sequence[Any], dealer: int) -> tuple[Any, Any]:
    """A (non-dealer's, dealer's) pair as a pair by player."""
    return (pair[0], pair[1]) if dealer == 1 else (pair[1], pair[0])


def decide(env: Any, decision: Decision, dealer: int) -> None:
    """Carry out a decision after checking that it is asked for."""
    agent = agent_of(decision.role, dealer)
    assert env.agent_selection == agent
    assert poke_v0.decode(env.observe(agent))["phase"] == decision.phase
    env.step(env.text_to_action(format_cards(decision.cards) or "stand pat"))


def play_deal(env: Any, replay: Replay, dealer: int) -> None:
    for decision in replay.decisions:
        decide(env, decision, dealer)


def start(
    replays: Sequence[Replay], dealer: int, match: str = "rubber", **settings: Any
) -> poke_v0.raw_env:
    """An environment in which the packs of `replays` are dealt one after another."""
    score = settings.pop("score", None)
    env = poke_v0.raw_env(match=match, **settings)
    env.reset(
        seed=0,
        options={"decks": [replay.deck for replay in replays], "dealer": dealer, "score": score},
    )
    return env


def winners(worked: WorkedDeal) -> Iterator[int]:
    """Who wins each trick: he leads to the next one; the last one's from the cards taken."""
    leaders = [DEALER if led[0] in worked.hands[DEALER] else NON_DEALER for led, _ in worked.tricks]
    yield from leaders[1:]
    taken = sum(
        len(led)
        for (led, _), winner in zip(worked.tricks, leaders[1:], strict=False)
        if winner == DEALER
    )
    yield DEALER if worked.cards_taken[DEALER] > taken else NON_DEALER


@both_dealers
@pytest.mark.parametrize("trick_unit", ["card", "lead"])
@pytest.mark.parametrize("worked", WORKED_DEALS.values(), ids=repr)
def test_worked_deal_is_scored_otherwise(worked: WorkedDeal, trick_unit: str, dealer: int) -> None:
    replay = worked.replay()
    before = by_player(worked.below_before, dealer)
    env = start(
        [replay],
        dealer,
        rules=poke_v0.Rules(trick_unit=trick_unit),
        score={"below": before},
    )
    play_deal(env, replay, dealer)

    below = by_player(worked.below(trick_unit), dealer)
    [deal] = env.score_sheet.deals
    assert deal.dealer == dealer
    assert deal.final_hands == by_player([tuple(sorted(hand)) for hand in worked.hands], dealer)
    assert deal.draws == by_player(worked.draws, dealer)
    assert deal.cards_taken == by_player(worked.cards_taken, dealer)
    assert deal.below == below
    assert deal.poker == by_player(worked.poker, dealer)
    assert deal.sweep == by_player(worked.sweep, dealer)

    totals = (before[0] + below[0], before[1] + below[1])
    won = max(totals) >= 20 and totals[0] != totals[1]
    winner = totals.index(max(totals))
    assert env.score_sheet.games == ((int(winner == 0), int(winner == 1)) if won else (0, 0))
    assert env.score_sheet.below == ((0, 0) if won else totals)
    if trick_unit == "card" and worked.game_winner is not None:
        assert won
        assert f"player_{winner}" == agent_of(DEALER, dealer)
    if trick_unit == "card" and worked.game_over is not None:
        assert won == worked.game_over


@both_dealers
@pytest.mark.parametrize("worked", WORKED_DEALS.values(), ids=repr)
def test_trick_goes_to_the_wrong_player(worked: WorkedDeal, dealer: int) -> None:
    follow_the_tricks(worked, worked.replay(), dealer)


@both_dealers
@pytest.mark.parametrize("worked", TRICK_EXAMPLES, ids=repr)
def test_suits_decide_a_trick(worked: WorkedDeal, dealer: int) -> None:
    for suits in permutations(range(4)):
        follow_the_tricks(worked, relabelled(worked.replay(), suits), dealer)


def follow_the_tricks(worked: WorkedDeal, replay: Replay, dealer: int) -> None:
    """Play a deal; after each trick its winner, the next leader, the cards, both players' view."""
    env = start([replay], dealer, match="deal")
    decisions = iter(replay.decisions)
    draws = [decision for decision in replay.decisions if decision.phase == "draw"]
    for _ in draws:
        decide(env, next(decisions), dealer)
    assert env.agent_selection == agent_of(NON_DEALER, dealer)  # he leads first

    taken = [0, 0]
    for number, winner in enumerate(winners(worked)):
        lead, follow = next(decisions), next(decisions)
        decide(env, lead, dealer)
        decide(env, follow, dealer)
        taken[winner] += len(lead.cards)
        assert is_over(env) == (number == len(worked.tricks) - 1)
        if not is_over(env):
            assert env.agent_selection == agent_of(winner, dealer)
        for role in (NON_DEALER, DEALER):
            seen = poke_v0.decode(env.observe(agent_of(role, dealer)))
            own = {True: "own", False: "opponent"}
            assert seen["tricks"][-1] == {
                "leader": own[lead.role == role],
                "lead": tuple(sorted(lead.cards)),
                "follow": tuple(sorted(follow.cards)),
                "winner": own[winner == role],
            }
            assert seen["taken"] == (taken[role], taken[1 - role])
    [deal] = env.score_sheet.deals
    assert deal.cards_taken == by_player(worked.cards_taken, dealer)
    assert deal.below == by_player(worked.below(), dealer)


@both_dealers
def test_tie_at_the_target_ends_the_game(dealer: int) -> None:
    """At 20-20 the game goes on; 23-22 after the next deal ends it, and both totals go to 0."""
    first, second = WORKED_DEALS["E5b"].replay(), WORKED_DEALS["E7"].replay()
    env = start([first, second], dealer, score={"below": (16, 16)})
    play_deal(env, first, dealer)
    assert env.score_sheet.below == (20, 20)
    assert env.score_sheet.games == (0, 0)
    assert env.score_sheet.deals[-1].game_bonus == (0, 0)

    play_deal(env, second, 1 - dealer)
    winner = dealer  # the non-dealer of the second deal, who takes 3 against 2
    assert env.score_sheet.deals[-1].below[winner] == 3
    assert env.score_sheet.games[winner] == 1
    assert env.score_sheet.games[1 - winner] == 0
    assert env.score_sheet.deals[-1].game_bonus[winner] == 100
    assert env.score_sheet.deals[-1].game_bonus[1 - winner] == 0
    assert env.score_sheet.below == (0, 0)


@both_dealers
def test_first_to_cross_the_target_wins_over_the_higher_total(dealer: int) -> None:
    """17-18 and a deal of 6-8: at 23-26 both have crossed, and the higher total wins."""
    replay = WORKED_DEALS["E10"].replay()
    env = start([replay], dealer, score={"below": by_player((17, 18), dealer)})
    play_deal(env, replay, dealer)
    assert env.score_sheet.games[dealer] == 1
    assert env.score_sheet.games[1 - dealer] == 0
    assert env.score_sheet.below == (0, 0)


def last_deal_of_a_rubber(
    winner: int, above: tuple[int, int], games: tuple[int, int], **rules: Any
) -> poke_v0.raw_env:
    """A rubber's last deal, a sweep worth 5 below and 250 above; pairs are (winner's, other's)."""
    replay = WORKED_DEALS["E18"].replay()
    dealer = 1 - winner  # the non-dealer sweeps
    env = start(
        [replay],
        dealer,
        reward="win",
        rules=poke_v0.Rules(**rules),
        score={
            name: by_player(pair, dealer)
            for name, pair in {"below": (15, 9), "above": above, "games": games}.items()
        },
    )
    play_deal(env, replay, dealer)
    assert is_over(env)
    assert all(env.terminations.values())
    return env


@pytest.mark.parametrize("winner", [0, 1])
def test_winner_of_the_rubber_wins_with_the_lower_total(winner: int) -> None:
    """Games 1 and 3 to one, game 2 to the other, who has 1,550 against 950 and wins."""
    env = last_deal_of_a_rubber(winner, above=(100, 1450 + 100), games=(1, 1))
    assert env.score_sheet.above == by_player((950, 1550), 1 - winner)
    assert env.score_sheet.games == by_player((2, 1), 1 - winner)
    assert env.score_sheet.deals[-1].rubber_bonus == by_player((500, 0), 1 - winner)
    assert env.rewards[f"player_{winner}"] == -1.0
    assert env.rewards[f"player_{1 - winner}"] == 1.0


@pytest.mark.parametrize("winner", [0, 1])
def test_rubber_in_two_games_gets_the_bonus_of_three(winner: int) -> None:
    env = last_deal_of_a_rubber(winner, above=(100, 0), games=(1, 0))
    assert env.score_sheet.above == by_player((1200, 0), 1 - winner)
    assert env.score_sheet.deals[-1].rubber_bonus == by_player((750, 0), 1 - winner)
    assert env.rewards[f"player_{winner}"] == 1.0


@pytest.mark.parametrize("winner", [0, 1])
@pytest.mark.parametrize("final_tie, reward", [("draw", 0.0), ("rubber_winner", 1.0)])
def test_equal_totals_after_the_rubber_have_a_winner_by_name(
    winner: int, final_tie: str, reward: float
) -> None:
    env = last_deal_of_a_rubber(winner, above=(100, 950), games=(1, 1), final_tie=final_tie)
    assert env.score_sheet.above == (950, 950)
    assert env.rewards[f"player_{winner}"] == reward
    assert env.rewards[f"player_{1 - winner}"] == -reward


@both_dealers
def test_dealer_does_not_rotate(dealer: int) -> None:
    """Four deals of a rubber: dealers alternate, the pad follows the player and not the chair."""
    names = ("E1", "E2", "E7", "E6")
    replays = [WORKED_DEALS[name].replay() for name in names]
    env = start(replays, dealer)
    below, above = [0, 0], [0, 0]
    for number, (name, replay) in enumerate(zip(names, replays, strict=True)):
        deals = (dealer + number) % 2
        assert env.score_sheet.dealer == deals
        for player in (0, 1):
            seen = poke_v0.decode(env.observe(f"player_{player}"))
            assert seen["dealer"] == (player == deals)
            assert seen["below"] == (below[player], below[1 - player])
            assert seen["above"] == (above[player], above[1 - player])
            assert seen["games"] == (0, 0)
        play_deal(env, replay, deals)
        worked = WORKED_DEALS[name]
        for player in (0, 1):
            below[player] += by_player(worked.below(), deals)[player]
            above[player] += by_player(worked.poker, deals)[player]
            above[player] += by_player(worked.sweep, deals)[player]
        assert env.score_sheet.below == tuple(below)
        assert env.score_sheet.above == tuple(above)
    assert [deal.dealer for deal in env.score_sheet.deals] == [
        dealer,
        1 - dealer,
        dealer,
        1 - dealer,
    ]


@both_dealers
def test_new_game_starts_with_another_dealer(dealer: int) -> None:
    """The deal alternates after a deal that ends a game, too."""
    replay = WORKED_DEALS["E9"].replay()
    env = start([replay], dealer)
    play_deal(env, replay, dealer)
    assert sum(env.score_sheet.games) == 1
    assert env.score_sheet.dealer == 1 - dealer


@both_dealers
def test_bonuses_are_missing_in_a_shorter_match(dealer: int) -> None:
    """Game and rubber bonuses are written whatever the match, as the score stands."""
    replay = WORKED_DEALS["E9"].replay()
    for match in ("deal", "game", "rubber"):
        env = start([replay], dealer, match=match, score={"games": by_player((1, 0), dealer)})
        play_deal(env, replay, dealer)
        [deal] = env.score_sheet.deals
        assert deal.game_bonus == by_player((100, 0), dealer)
        assert deal.rubber_bonus == by_player((750, 0), dealer)
        assert is_over(env)
        points = 1000 + 250 + 100 + 750 + (50 * 20 if match == "deal" else 0)
        assert env.rewards[agent_of(NON_DEALER, dealer)] == points
        assert env.rewards[agent_of(DEALER, dealer)] == -points


def at_the_first_lead(lead: str, follow: str, **rules: Any) -> poke_v0.raw_env:
    """Both stood pat; player 0 is the non-dealer and to lead."""
    replay = arrange((card_numbers(lead), card_numbers(follow)))
    env = start([replay], dealer=1, match="deal", rules=poke_v0.Rules(**rules))
    play_deal(env, replay, dealer=1)
    return env


def legal_cards(env: Any) -> set[frozenset[str]]:
    """The legal actions as sets of card texts."""
    mask = env.observe(env.agent_selection)["action_mask"]
    texts = [env.action_to_text(int(action)) for action in mask.nonzero()[0]]
    return {frozenset(text.split()[1:]) for text in texts}


def sets(*texts: str) -> set[frozenset[str]]:
    return {frozenset(text.split()) for text in texts}


def test_follower_who_can_beat_may_throw() -> None:
    """Lead 9 against A 8 7 4 2: only the ace; any of the five without the duty to beat."""
    hands = ("9s Kh Qd 5c 3s", "As 8h 7d 4c 2s")
    env = at_the_first_lead(*hands)
    env.step(env.text_to_action("9s"))
    assert legal_cards(env) == sets("As")
    env = at_the_first_lead(*hands, must_beat=False)
    env.step(env.text_to_action("9s"))
    assert legal_cards(env) == sets("As", "8h", "7d", "4c", "2s")


def test_follower_who_cannot_beat_a_pair_is_held_to_his_set() -> None:
    """Lead K K against Q Q 7 5 2: ten plays; one with `follow_set_if_held`."""
    hands = ("Ks Kh 9d 8c 3s", "Qs Qh 7d 5c 2s")
    env = at_the_first_lead(*hands)
    env.step(env.text_to_action("Ks Kh"))
    assert len(legal_cards(env)) == 10
    env = at_the_first_lead(*hands, follow_set_if_held=True)
    env.step(env.text_to_action("Ks Kh"))
    assert legal_cards(env) == sets("Qs Qh")


def test_beating_set_inside_a_larger_one_is_refused() -> None:
    """Lead 5 5 against 8 8 8 J J: three ways to take 8 8, one J J."""
    env = at_the_first_lead("5s 5h Kd Qc 3s", "8s 8h 8d Js Jc")
    env.step(env.text_to_action("5s 5h"))
    assert legal_cards(env) == sets("8s 8h", "8s 8d", "8h 8d", "Js Jc")


def test_follower_free_to_beat_is_held_to_a_set_below() -> None:
    """Who need not beat, with a set that beats and one that does not: either, but nothing else."""
    env = at_the_first_lead(
        "9s 9h Kd Qc 3s", "Js Jh 5d 5c 2s", must_beat=False, follow_set_if_held=True
    )
    env.step(env.text_to_action("9s 9h"))
    assert legal_cards(env) == sets("Js Jh", "5d 5c")


def test_only_set_is_kept_back_because_it_would_beat() -> None:
    """Who need not beat but holds one set alone plays it, although it beats the lead."""
    hands = ("9s 9h Kd Qc 3s", "Js Jh 7d 5c 2s")
    env = at_the_first_lead(*hands, must_beat=False, follow_set_if_held=True)
    env.step(env.text_to_action("9s 9h"))
    assert legal_cards(env) == sets("Js Jh")
    env = at_the_first_lead(*hands, must_beat=False)
    env.step(env.text_to_action("9s 9h"))
    assert len(legal_cards(env)) == 10


def test_single_card_lead_asks_for_a_set() -> None:
    env = at_the_first_lead("As Kh 9d 8c 3s", "Qs Qh 7d 5c 2s", follow_set_if_held=True)
    env.step(env.text_to_action("As"))
    assert len(legal_cards(env)) == 5


def test_part_of_a_set_cannot_be_led() -> None:
    env = at_the_first_lead("7s 7h 7d 4c 2s", "Ks Qh Jd 5c 3s")
    assert legal_cards(env) == sets(
        "7s", "7h", "7d", "7s 7h", "7s 7d", "7h 7d", "7s 7h 7d", "4c", "2s"
    )


def test_equal_rank_beats_the_lead() -> None:
    env = at_the_first_lead("9s Kh Qd 5c 3s", "9h 8h 7d 4c 2s")
    env.step(env.text_to_action("9s"))
    assert len(legal_cards(env)) == 5  # nothing beats it, so anything goes
    env.step(env.text_to_action("9h"))
    assert env.agent_selection == "player_0"


def test_higher_cards_of_two_ranks_beat_a_pair() -> None:
    env = at_the_first_lead("5s 5h Qd 4c 3s", "As Kh 7d 6c 2s")
    env.step(env.text_to_action("5s 5h"))
    assert len(legal_cards(env)) == 10
    env.step(env.text_to_action("As Kh"))
    assert env.agent_selection == "player_0"
