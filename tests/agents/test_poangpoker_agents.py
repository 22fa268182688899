"""The players of Poängpoker: what they read, what they keep, how they play, and whom they beat."""

from __future__ import annotations

from functools import cache
from math import comb
from typing import Any

import numba
import numpy as np
import pytest

import poke_env
from agents.poangpoker import _PLAY, GreedyAgent, HeuristicAgent, _judge
from agents.poangpoker_reading import READING, PoangpokerAgent, read
from helpers import is_over, random_action
from poke_env import poangpoker_v0
from poke_env.agent import Agent, RandomAgent
from poke_env.cards import card_number, format_cards, parse_cards
from poke_env.games.poangpoker import PRESETS, Rules

STATES = 12 if numba.config.DISABLE_JIT else 150
PLAYERS = (GreedyAgent, HeuristicAgent)
RULES = {
    **PRESETS,
    "two": Rules(players=2),
    "six": Rules(players=6),
    "six of three suits": Rules(players=6, suits=3, must_head=False),
    "pack without a stock": Rules(players=2, ranks=5, suits=2),
    "as many cards as another preset": Rules(players=3, ranks=3, hand_size=3, max_discard=3),
    "pairs of the full pack": Rules(players=5, hand_size=2, max_discard=2),
    "four cards": Rules(players=4, hand_size=4, max_discard=4),
}
RANKS_AND_SUITS = 13, 4


@cache
def states(rules: str) -> tuple[Any, Any]:
    """Observations (STATES, F) and masks (STATES, A) from random play."""
    env = poangpoker_v0.raw_env(match="game", rules=RULES[rules])
    rng = np.random.default_rng(11)
    env.reset(seed=5)
    seen: list[dict[str, Any]] = []
    while len(seen) < STATES:
        if is_over(env):
            env.reset()
        if rng.random() < 0.5:
            seen.append(env.observe(env.agent_selection))
        env.step(random_action(env, rng))
    return (
        np.stack([observed["observation"] for observed in seen]),
        np.stack([observed["action_mask"] for observed in seen]),
    )


def some_keys(count: int, seed: int = 3) -> Any:
    return np.random.default_rng(seed).integers(0, 2**64, count, np.uint64)


def at(*hands: str, exchanges: str = "", cards: str = "", **rules: Any) -> poangpoker_v0.raw_env:
    """A deal with these hands, that of player 0 first, after some exchanges and cards played.

    `exchanges` are the cards changed by each player in turn, `-` for none; without it all keep
    theirs.
    """
    env = poangpoker_v0.raw_env(match="deal", rules=Rules(players=len(hands), **rules))
    options = {"deck": parse_cards(" ".join(hands)), "dealer": len(hands) - 1}
    env.reset(seed=0, options=options)
    for changed in exchanges.split(",") if exchanges else ["-"] * len(hands) * bool(cards):
        env.step(env.text_to_action("keep" if changed.strip() == "-" else changed))
    for card in cards.split():
        env.step(env.text_to_action(card))
    return env


def choice(player: Agent, env: Any) -> str:
    """What a player does in the position, as text."""
    text: str = env.action_to_text(player.act(env.observe(env.agent_selection), 7))
    return text


def reading_of(env: Any) -> Any:
    readings = np.zeros(1, READING)
    observed = env.observe(env.agent_selection)
    read(observed["observation"], observed["action_mask"], readings[0])
    return readings


# --- what every player promises -------------------------------------------------------------------


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("make", PLAYERS)
def test_choices_are_legal_and_do_not_depend_on_the_batch(
    make: type[PoangpokerAgent], rules: str
) -> None:
    observations, masks = states(rules)
    keys = some_keys(STATES)
    before = observations.copy(), masks.copy()
    chosen = make().act_batch(observations, masks, keys)
    assert masks[np.arange(STATES), chosen].all()
    assert np.array_equal(before[0], observations)
    assert np.array_equal(before[1], masks)
    for row in range(0, STATES, 7):
        observed = {"observation": observations[row], "action_mask": masks[row]}
        assert make(seed=9).act(observed, keys[row]) == chosen[row]


@pytest.mark.parametrize("make", PLAYERS)
def test_arrays_of_another_game_are_refused(make: type[PoangpokerAgent]) -> None:
    with pytest.raises(ValueError, match="observations must have 347 numbers"):
        make().act_batch(np.zeros((1, 265), np.float32), np.ones((1, 32), np.int8))
    with pytest.raises(ValueError, match=r"masks must have one of \(4, 8, 16, 32\) actions"):
        make().act_batch(np.zeros((1, 347), np.float32), np.ones((1, 12), np.int8))


def test_score_does_not_matter() -> None:
    assert not GreedyAgent.sees_score
    assert not HeuristicAgent.sees_score


# --- what is read ---------------------------------------------------------------------------------


def test_reading_knows_the_hand_the_table_and_the_cards_that_are_unseen() -> None:
    env = at("2c 3d 4h 5s Ac", "Kd Qd Jd Td 9d", "2h 6h 7h 8h Th", cards="3d Kd")
    [reading] = reading_of(env)
    assert reading["size"] == 5
    assert reading["players"] == 3
    assert format_cards(reading["hand"]) == "2h 6h 7h 8h Th"
    assert reading["held"] == 0b11111
    assert reading["best"] == card_number("Kd")
    assert reading["later"] == 0
    assert reading["exchanged"][:3].tolist() == [0, 0, 0]
    unseen = set(reading["unseen"][: reading["unseen_count"]].tolist())
    assert unseen == set(range(52)) - set(parse_cards("2h 6h 7h 8h Th 3d Kd"))
    assert reading["unseen_ranks"].tolist() == [
        sum(1 << card // 4 for card in unseen if card % 4 == suit) for suit in range(4)
    ]


def test_reading_remembers_who_could_not_follow_or_head() -> None:
    hands = ("9h Kc 2c 3c 4c", "4h 5h 6s 7s 8s", "2d 3d 4d 5d 6d", "Th Jh 7d 8d 9d")
    env = at(*hands, cards="9h 4h 2d Th")
    assert env.agent_selection == "player_3"
    [reading] = reading_of(env)
    clubs, diamonds, hearts, spades = range(4)
    # By seat from player 3: player 0 led, 1 followed without heading the nine, 2 did not follow.
    assert reading["limit"][1].tolist() == [12, 12, 12, 12]
    assert reading["limit"][2].tolist() == [12, 12, parse_cards("9h")[0] // 4, 12]
    assert reading["limit"][3, hearts] == -1
    assert reading["limit"][3, [clubs, diamonds, spades]].tolist() == [12, 12, 12]


@pytest.mark.parametrize("preset", ["tiny", "small"])
def test_reading_knows_the_pack_of_a_small_preset(preset: str) -> None:
    env = poangpoker_v0.raw_env(match="deal", rules=preset)
    env.reset(seed=1)
    [reading] = reading_of(env)
    rules = PRESETS[preset]
    assert reading["unseen_count"] == len(rules.pack()) - rules.hand_size


# --- the exchange ---------------------------------------------------------------------------------

OTHERS = ("2d 4s 6c 8h Jd", "2s 4d 6h 8c Js")


@pytest.mark.parametrize(
    "hand, choices",
    [
        ("9c 9d 9h 3s 5c", "discard 3s 5c"),
        ("9c 9d Kh Ks 5c", "discard 5c"),
        ("9c 9d 9h Ks Kc", "keep all"),
        ("3c 5c 9c Jc Kc", "keep all"),
        ("3c 4d 5h 6s 7c", "keep all"),
    ],
)
def test_both_keep_what_they_have_made(hand: str, choices: str) -> None:
    for make in PLAYERS:
        assert choice(make(), at(hand, "2d 4s 6c 8h Jd", "Td Th Qd Qh Kd")) == choices


def test_heuristic_draws_to_four_of_a_suit_and_greedy_does_not() -> None:
    env = at("3c 5c 9c Kc 2h", *OTHERS)
    assert choice(HeuristicAgent(), env) == "discard 2h"
    assert choice(GreedyAgent(), env) == "discard 2h 3c 5c 9c Kc"


def test_heuristic_keeps_an_ace_beside_a_pair_against_one_other() -> None:
    """Its kicker and the last trick are worth more than a third new card."""
    env = at("7c 7d 3h 5s As", OTHERS[0])
    assert choice(HeuristicAgent(), env) == "discard 3h 5s"


def test_heuristic_takes_a_hand_for_better_when_its_holder_changed_nothing() -> None:
    """A pair hardly ever comes to beat who stands pat: then four cards of a suit are worth more."""
    others = ("2d 3d 4d 5d 6d", "8h 8s Td Jd Qd")
    standing_pat = at(*others[:1], "Kc Kd 3c 7c 9c", *others[1:], exchanges="-")
    assert choice(HeuristicAgent(), standing_pat) == "discard Kd"
    changing = at(*others[:1], "Kc Kd 3c 7c 9c", *others[1:], exchanges="2d 3d 4d 5d 6d")
    assert choice(HeuristicAgent(), changing) == "discard 3c 7c"


# --- the tricks -----------------------------------------------------------------------------------


def test_greedy_wins_as_cheaply_as_it_can_and_throws_its_lowest() -> None:
    hands = ("9h 2d 3d 4d 5d", "Jh Qh Ah 2s 3c")
    assert choice(GreedyAgent(), at(*hands, cards="9h")) == "play Jh"
    assert choice(GreedyAgent(), at(*hands, cards="2d")) == "play 2s"
    assert choice(GreedyAgent(), at(hands[1], hands[0], cards=" ", exchanges="-,-")) == "play Ah"


def test_heuristic_keeps_its_winners_when_it_cannot_follow() -> None:
    env = at("2d 3d 4d 5d 6d", "3c 4h 9s As Ac", "2h 5h 7h 8h Th", cards="2d")
    assert choice(HeuristicAgent(), env) in ("play 3c", "play 4h")


def test_heuristic_heads_with_the_lower_of_two_winners() -> None:
    env = at("2d 3d 4d 5d 6d", "Kd Ad 2h 3h 4h", cards="2d")
    assert choice(HeuristicAgent(), env) == "play Kd"


def test_heuristic_ducks_early_and_wins_late() -> None:
    """The same ace is kept in the first trick, and wins the third where little is left to lead."""
    first = at("3c 8d 8h 8s 9s", "2c Ac 3d 4h 5s", cards="3c", must_head=False)
    assert choice(HeuristicAgent(), first) == "play 2c"
    hands = ("9c 8c 7c Kd Qh", "6c 5c 4c Ac 2d")
    third = at(*hands, cards="9c 4c 8c 5c 7c", must_head=False)
    assert choice(HeuristicAgent(), third) == "play Ac"


def test_heuristic_cashes_its_winner_before_it_leads_its_last_card() -> None:
    hands = ("Ac 2d Kc Qc Jc", "9s 8s 7s 6s Ad")
    env = at(*hands, cards="Kc 6s Qc 7s Jc 8s")
    assert choice(HeuristicAgent(), env) == "play Ac"


def test_chance_of_a_card_is_exact_while_nothing_is_known_of_the_others() -> None:
    """Two others hold five cards each of 47 unseen ones; four of them beat the ten of clubs."""
    env = at("2c Tc 5h 5s 9d", *OTHERS, cards=" ", exchanges="-,-,-")
    readings, plays = reading_of(env), np.zeros(1, _PLAY)
    _judge(readings[0], plays[0])
    slot = readings[0]["hand"].tolist().index(card_number("Tc"))
    for number in range(1, 6):
        expected = comb(43, 2 * number) / comb(47, 2 * number)
        assert plays[0]["chance"][number, slot] == pytest.approx(expected)


def test_chances_to_win_the_last_trick_are_chances() -> None:
    plays, readings = np.zeros(1, _PLAY), np.zeros(1, READING)
    observations, masks = states("standard")
    for observed, mask in zip(observations, masks, strict=True):
        read(observed, mask, readings[0])
        _judge(readings[0], plays[0])
        held = int(readings[0]["held"])
        chances = plays[0]["leading"][held], plays[0]["waiting"][held]
        assert 0 <= min(chances) <= max(chances) <= 1


# --- strength -------------------------------------------------------------------------------------


def mean_points(one: Agent, other: Agent, players: int, deals: int = 2_000) -> float:
    """What `one` gains a deal among others, its seat changing from row to row."""
    rows = 256
    envs = poke_env.make_batch("poangpoker", rows, match="deal", rules=Rules(players=players))
    seat = np.arange(rows) % players
    observations, masks, player = envs.reset(seed=0)
    gained: list[float] = []
    while len(gained) < deals:
        own = player == seat
        actions = np.zeros(rows, np.int64)
        for who, turn in ((one, own), (other, ~own)):
            if turn.any():
                actions[turn] = who.act_batch(observations[turn], masks[turn])
        observations, masks, player, reward, done = envs.step(actions)
        gained += reward[done, seat[done]].tolist()
    return float(np.mean(gained))


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="needs many deals")
@pytest.mark.parametrize("players", [2, 4, 6])
def test_heuristic_beats_greedy_and_greedy_beats_random(players: int) -> None:
    assert mean_points(HeuristicAgent(), GreedyAgent(), players) > 0.1
    assert mean_points(GreedyAgent(), RandomAgent(), players) > 0.1
