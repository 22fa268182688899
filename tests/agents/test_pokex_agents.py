"""The players of Pokex: what they read, what they plan, how they call and play."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
from pokex_position import Position

from agents.pokex import GreedyAgent, HeuristicAgent
from agents.pokex_plan import (
    FLUSH_DRAW,
    NOTHING,
    PAIR,
    STRAIGHT_DRAW,
    STRAIGHT_FLUSH_DRAW,
    THREE,
    expected_share,
    fill_chances,
    fill_plan,
    kind_of_three,
    promise,
)
from agents.pokex_reading import AUCTION, PARTNER, PLAY, READING, RIGHT, PokexAgent, read
from helpers import is_over, random_action, run_python
from poke_env import pokex_v0
from poke_env.agent import Agent
from poke_env.cards import evaluate, format_cards, parse_cards
from poke_env.games.pokex import MAX_HAND, POKEX, PRESETS, Rules

STATES = 6 if numba.config.DISABLE_JIT else 150
PLAYERS = (GreedyAgent, HeuristicAgent)
RULES = {
    **PRESETS,
    "house": Rules(
        joker="wild", lead_next="winner", trick_tie="defenders", failed_bid="minus", target=9
    ),
    "four tricks without jokers": Rules(tricks=4, jokers=0),
    "as many tricks as another preset": Rules(tricks=2, ranks=5),
    "two suits": Rules(tricks=3, suits=2),
}


@cache
def states(rules: str) -> tuple[Any, Any]:
    """Observations (STATES, F) and masks (STATES, A) from random play."""
    env = pokex_v0.raw_env(match="game", rules=RULES[rules])
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


def at(*hands: str, centre: str, moves: str = "", **rules: Any) -> Position:
    """A deal with these hands, that of player 0 first, who also speaks first, after some moves."""
    tricks = len(centre.split())
    position = Position(Rules(tricks=tricks, **rules), match="deal", dealer=3)
    position.deal(" ".join([*hands, centre]))
    return position.step(*(move.strip() for move in moves.split(",") if move))


def choice(player: Agent, position: Position) -> str:
    """What a player does in the position, as text."""
    mask = np.zeros(position.settings.num_actions, np.int8)
    mask[position.legal()] = 1
    observed = {"observation": position.observe(position.seat), "action_mask": mask}
    return POKEX.action_text(position.state, player.act(observed, 7))


def reading_of(position: Position) -> Any:
    readings = np.zeros(1, READING)
    read(position.observe(position.seat), readings[0])
    return readings


# --- what every player promises -------------------------------------------------------------------


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("make", PLAYERS)
def test_choices_are_legal_and_do_not_depend_on_the_batch(
    make: type[PokexAgent], rules: str
) -> None:
    observations, masks = states(rules)
    keys = some_keys(STATES)
    before = observations.copy(), masks.copy()
    chosen = make().act_batch(observations, masks, keys)
    assert masks[np.arange(STATES), chosen].all()
    assert np.array_equal(before[0], observations)
    assert np.array_equal(before[1], masks)
    order = np.random.default_rng(0).permutation(STATES)
    shuffled = make().act_batch(observations[order], masks[order], keys[order])
    assert np.array_equal(chosen[order], shuffled)
    for row in range(0, STATES, 7):
        observed = {"observation": observations[row], "action_mask": masks[row]}
        assert make(seed=9).act(observed, keys[row]) == chosen[row]


@pytest.mark.parametrize("make", PLAYERS)
def test_arrays_of_another_game_are_refused(make: type[PokexAgent]) -> None:
    with pytest.raises(ValueError, match="observations must have 683 numbers"):
        make().act_batch(np.zeros((1, 265), np.float32), np.ones((1, 73), np.int8))
    with pytest.raises(ValueError, match=r"masks must have one of \(73,\) actions"):
        make().act_batch(np.zeros((1, 683), np.float32), np.ones((1, 32), np.int8))


def test_unknown_arguments_of_the_heuristic_are_refused() -> None:
    with pytest.raises(ValueError, match="sacrifice must be True or False, got 1"):
        HeuristicAgent(sacrifice=1)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="samples must be an integer from 1 to 100000, got 0"):
        HeuristicAgent(samples=0)


PLAIN = """
import sys
import numpy as np
from agents.pokex import GreedyAgent, HeuristicAgent
data = np.load(sys.argv[1])
for make in (GreedyAgent, HeuristicAgent):
    print(*make().act_batch(data["seen"], data["masks"], data["keys"]))
"""


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="compares compiled with plain")
def test_compiled_and_plain_choose_alike(tmp_path: Path) -> None:
    numbers = {"small": 12, "standard": 2, "wild": 2}
    rows = [(name, slice(0, number)) for name, number in numbers.items()]
    seen, masks = (
        np.concatenate([states(name)[part][some] for name, some in rows]) for part in range(2)
    )
    np.savez(tmp_path / "states.npz", seen=seen, masks=masks, keys=some_keys(len(seen)))
    call = ("-c", PLAIN, str(tmp_path / "states.npz"))
    plain = run_python(*call, variables={"NUMBA_DISABLE_JIT": "1"})
    assert plain.count("\n") == 2
    assert run_python(*call) == plain


# --- what is read ---------------------------------------------------------------------------------

HANDS = ("2c 2d 9h 9s", "3c 3d Th Ts", "4c 4d Jh Js", "5c 5d Qh Qs")


def test_reading_knows_the_hand_the_centre_and_the_cards_that_are_unseen() -> None:
    moves = "pass, pass, bid 1, pass, 4c Js, 2c 2d"
    [reading] = reading_of(at(*HANDS, centre="Kc Kd", moves=moves))
    assert reading["phase"] == PLAY
    assert reading["tricks"] == reading["left"] == 2
    assert reading["count"] == 4
    assert format_cards(reading["hand"][:4]) == HANDS[3]
    assert format_cards(reading["centre"][:2]) == "Kc Kd"
    unseen = set(reading["unseen"][: reading["unseen_count"]].tolist())
    assert unseen == set(range(54)) - set(parse_cards(f"{HANDS[3]} Kc Kd 4c Js 2c 2d"))


def test_reading_knows_who_led_and_what_lies_on_the_table() -> None:
    moves = "pass, pass, bid 1, pass, 4c Js, 2c 2d"
    [reading] = reading_of(at(*HANDS, centre="Kc Kd", moves=moves))
    assert reading["leader"] == RIGHT
    assert reading["place"] == 2
    assert reading["table"].tolist() == [[-1, -1], [0, 1], [-1, -1], list(parse_cards("4c Js"))]


def test_reading_turns_to_the_next_trick() -> None:
    moves = "bid 2, 2c 9s, 4c Js, 3c 3d, 5c Qs"
    [reading] = reading_of(at(*HANDS, centre="Kc Kd", moves=moves))
    assert (reading["left"], reading["count"], reading["place"]) == (1, 2, 0)
    assert reading["slots"][:2].tolist() == [2, 3]
    assert format_cards(reading["hand"][:2]) == "Th Ts"
    assert format_cards(reading["centre"][:1]) == "Kd"


def test_reading_knows_the_calls() -> None:
    [reading] = reading_of(at(*HANDS, centre="Kc Kd", moves="pass, bid 1, pass"))
    assert reading["phase"] == AUCTION
    assert (reading["bid"], reading["bidder"]) == (1, PARTNER)
    assert reading["bids"].tolist() == [0, 0, 1, 0]
    assert reading["passed"].tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize("preset", PRESETS)
def test_reading_knows_the_pack_of_a_preset(preset: str) -> None:
    rules = PRESETS[preset]
    [reading] = reading_of(Position(rules).deal())
    assert reading["unseen_count"] == 6 * rules.tricks
    assert set(reading["unseen"][: reading["unseen_count"]].tolist()) < set(rules.pack())


# --- plans ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "three, kind, rank",
    [
        ("9c 9d 9h", THREE, "9"),
        ("9c 9d Kh", PAIR, "9"),
        ("*1 *2 Kh", PAIR, "*"),
        ("9c Jc Kc", STRAIGHT_FLUSH_DRAW, "K"),
        ("8c Jc Kc", FLUSH_DRAW, "K"),
        ("9c Td Kc", STRAIGHT_DRAW, "K"),
        ("Ac 2d 5c", STRAIGHT_DRAW, "A"),
        ("Ac 2d 6c", NOTHING, "A"),
        ("*1 Qc Kc", NOTHING, "*"),
    ],
)
def test_kind_of_three_cards(three: str, kind: int, rank: str) -> None:
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        cards = [parse_cards(three)[place] for place in order]
        assert kind_of_three(*cards, 0) == (kind, 0, "23456789TJQKA*".index(rank))


@pytest.mark.parametrize(
    "three, kind, wilds, rank",
    [
        ("*1 9c 9d", PAIR, 1, "9"),
        ("*2 Qc Kc", STRAIGHT_FLUSH_DRAW, 1, "K"),
        ("*1 2c 9c", FLUSH_DRAW, 1, "9"),
        ("*1 *2 9c", NOTHING, 2, "9"),
    ],
)
def test_wild_cards_are_counted_beside_the_kind_of_the_others(
    three: str, kind: int, wilds: int, rank: str
) -> None:
    assert kind_of_three(*parse_cards(three), 1) == (kind, wilds, "23456789TJQKA*".index(rank))


def test_plan_is_the_best_of_all_ways_to_give_pairs_to_tricks() -> None:
    hands = ("2c 2d 9h 9s Kc Qc", "3c 3d Th Ts 6s 7s", "4c 4d Jh Js 6d 7d", "5c 5d Qh Qs 6h 7h")
    centre = "Jc 9d 2h"
    readings = reading_of(at(*hands, centre=centre, moves="bid 3"))
    plan = np.full(1 << MAX_HAND, np.nan)
    hand, row = parse_cards(hands[0]), parse_cards(centre)

    def chance(pair: tuple[int, ...], trick: int) -> float:
        odds = promise(hand[pair[0]], hand[pair[1]], row[trick], int(trick % 2 == 0), 3 - trick, 0)
        return float(1 / (1 + np.exp(-odds)))

    def best(places: tuple[int, ...]) -> float:
        trick = 3 - len(places) // 2
        return max(
            (
                chance(pair, trick) + best(tuple(set(places) - set(pair)))
                for pair in combinations(sorted(places), 2)
            ),
            default=0.0,
        )

    hand = tuple(sorted(hand))
    hope = fill_plan(readings[0], plan)
    assert hope == pytest.approx(best(tuple(range(6))))
    for places in combinations(range(6), 4):
        assert plan[sum(1 << place for place in places)] == pytest.approx(best(places))


@pytest.mark.parametrize("joker", ["high_card", "wild"])
def test_who_is_last_knows_what_wins(joker: str) -> None:
    hands = ("8c 8d 2h 9s", "*1 Kd Kh Th", "3c 7s Jh Js", "7c Ad 7h Qs")
    moves = "bid 2, 8c 8d, 3c 7s, Kd Th"
    readings = reading_of(at(*hands, centre="7d Kc", moves=moves, joker=joker))
    chances = np.zeros((MAX_HAND, MAX_HAND))
    fill_chances(readings[0], 9, np.zeros(4, np.int64), chances)
    target = evaluate("8c 8d 3c 7s 7d", jokers=joker)
    hand = sorted(parse_cards(hands[3]))
    for low, high in combinations(range(4), 2):
        five = [hand[low], hand[high], *parse_cards("Kd Th 7d")]
        assert chances[low, high] == (evaluate(five, jokers=joker) > target)


@pytest.mark.parametrize("partner, wins", [("Kc Qc", False), ("Kc Jc", True)])
def test_equal_hands_are_the_leaders(partner: str, wins: bool) -> None:
    hands = ("8c 8d 2h 9s", "Kd Qd 4h Th", f"{partner} Jh Js", "8h 8s 7h Td")
    moves = f"bid 2, 8c 8d, {partner}, Kd Qd"
    position = at(*hands, centre="Ad 3c", moves=moves)
    chances = np.zeros((MAX_HAND, MAX_HAND))
    fill_chances(reading_of(position)[0], 9, np.zeros(4, np.int64), chances)
    assert chances.sum() == wins  # with two eights, or not at all


def test_chance_of_the_leader_grows_with_what_he_leads() -> None:
    hands = ("8c 8d 2h Qs", "Kd Qd 4h Th", "Ac Qh Jh Js", "9h 9s 7h Td")
    readings = reading_of(at(*hands, centre="8s 3c", moves="bid 2"))
    chances = np.zeros((MAX_HAND, MAX_HAND))
    fill_chances(readings[0], 32, np.array([1, 2, 3, 4]), chances)
    hand = sorted(parse_cards(hands[0]))
    places = [hand.index(card) for card in parse_cards("8c 8d")]
    assert 0.5 < chances[min(places), max(places)] <= 1
    assert chances.max() == chances[min(places), max(places)]


# --- greedy ---------------------------------------------------------------------------------------


def test_greedy_bids_its_sets_of_two() -> None:
    assert choice(GreedyAgent(), at(*HANDS, centre="Kc Kd")) == "bid 2"
    others = HANDS[1:]
    assert choice(GreedyAgent(), at("2c 2d 2h 9s", *others, centre="Kc Kd")) == "bid 1"
    assert choice(GreedyAgent(), at("2c 6d 7h 9s", *others, centre="Kc Kd")) == "pass"
    position = at(*HANDS[1:], "2c 2d 2h 9s", centre="Kc Kd", moves="pass, bid 1, pass")
    assert choice(GreedyAgent(), position) == "pass"


def test_greedy_counts_a_wild_joker_as_a_set() -> None:
    hands = ("*1 2d 9h 9s", *HANDS[1:])
    assert choice(GreedyAgent(), at(*hands, centre="Kc Kd", joker="wild")) == "bid 2"
    assert choice(GreedyAgent(), at(*hands, centre="Kc Kd")) == "bid 1"


def test_greedy_leads_the_best_set_with_the_centre() -> None:
    hands = ("9d *1 Kc Ks", *HANDS[1:])
    assert choice(GreedyAgent(), at(*hands, centre="9c 2s", moves="bid 2")) == "play Kc Ks"
    wild = at(*hands, centre="9c 2s", moves="bid 2", joker="wild")
    assert choice(GreedyAgent(), wild) == "play 9d *1"


def test_greedy_completes_the_hand_of_its_side() -> None:
    hands = ("Ah Jh 2c 3c", "2d 3d 4d 5d", "4h 2h Ac Jc", "6c 7c 8c 9c")
    position = at(*hands, centre="9h Ts", moves="bid 2, Ah Jh")
    assert choice(GreedyAgent(), position) == "play 2h 4h"


# --- heuristic: the tricks ------------------------------------------------------------------------


def test_heuristic_wins_with_the_cheapest_cards_that_do() -> None:
    """Two fives are enough, and the aces make three with the next centre card."""
    hands = ("4c 7d 2h 6s", "2c 3d 6h Th", "8h Jc 3s 6c", "As Ad 5c 5d")
    position = at(*hands, centre="9c Ah", moves="bid 2, 4c 7d, 8h Jc, 2c 3d")
    assert choice(HeuristicAgent(), position) == "play 5c 5d"
    assert choice(GreedyAgent(), position) == "play Ad As"


def test_heuristic_saves_the_cards_that_a_coming_centre_card_fits() -> None:
    """Fives or aces are enough, but the fives make three with the next centre card."""
    hands = ("4c 7d 2h 6s", "2c 3d 6h Th", "8h Jc 3s 6c", "As Ad 5c 5d")
    position = at(*hands, centre="9c 5h", moves="bid 2, 4c 7d, 8h Jc, 2c 3d")
    assert choice(HeuristicAgent(), position) == "play Ad As"


def test_heuristic_gives_its_worst_cards_to_a_trick_that_is_lost() -> None:
    hands = ("9d 9h 2h 6s", "2c 3d 6h Th", "9s Jc 3s 6c", "As Ad 5c 7d")
    moves = "bid 2, 9d 9h, 9s Jc"
    third = at(*hands[:1], hands[3], hands[2], hands[1], centre="9c Ah", moves=moves)
    assert choice(HeuristicAgent(), third) == "play 5c 7d"
    last = at(*hands, centre="9c Ah", moves=f"{moves}, 2c 3d")
    assert choice(HeuristicAgent(), last) == "play 5c 7d"


@pytest.mark.parametrize(
    "centre, lead", [("9c Kd", "play 9d 9h"), ("Kd 9c", "play Kc Ks"), ("4s 9c", "play Kc Ks")]
)
def test_heuristic_leads_each_pair_to_the_centre_card_it_fits(centre: str, lead: str) -> None:
    hands = ("9d 9h Kc Ks", "2c 3d 6h Th", "8h Jc 3s 6c", "As Ad 5c 7d")
    assert choice(HeuristicAgent(), at(*hands, centre=centre, moves="bid 2")) == lead


def test_heuristic_completes_the_flush_that_its_partner_began() -> None:
    hands = ("Ac Jc 2h 6s", "2d 3d 6h Th", "4c 2c Kd Kh", "As Ad 5c 7d")
    position = at(*hands, centre="9c Ks", moves="bid 2, Ac Jc")
    assert choice(HeuristicAgent(), position) == "play 2c 4c"


def test_heuristic_takes_a_joker_for_what_it_is() -> None:
    """Wild, it makes three tens, which win; otherwise the trick is lost, and the worst cards go."""
    hands = ("Qd Qh 2h 6s", "2c 3d 6h Th", "4s 8c 3s 6c", "Td *1 5c 7d")
    moves = "bid 2, Qd Qh, 4s 8c, 2c 3d"
    wild = at(*hands, centre="Ts Jh", moves=moves, joker="wild")
    assert choice(HeuristicAgent(), wild) == "play Td *1"
    high = at(*hands, centre="Ts Jh", moves=moves)
    assert choice(HeuristicAgent(), high) == "play 5c 7d"


# --- heuristic: the auction -----------------------------------------------------------------------

STRONG = "Ac Ad Kc Kd"
WEAK = "Jc Jd Qh Ks"


def small(first: str, second: str, moves: str = "", **rules: Any) -> Position:
    """A deal of the small preset in which these are the hands of player 0 and 1."""
    position = Position(Rules(ranks=4, tricks=2, target=6, **rules), match="deal", dealer=3)
    held = parse_cards(f"{first} {second} Ah Kh")
    rest = [card for card in Rules(ranks=4, tricks=2).pack() if card not in held]
    position.deal([*parse_cards(f"{first} {second}"), *rest, *parse_cards("Ah Kh")])
    return position.step(*(move.strip() for move in moves.split(",") if move))


def test_heuristic_bids_more_on_a_better_hand() -> None:
    other = "Js Qc Qd Jh"
    assert choice(HeuristicAgent(), small(STRONG, other)) == "bid 2"
    assert choice(HeuristicAgent(), small("Qc Qd Jh Ks", "Js Qh Jc Jd")) == "bid 1"


def test_heuristic_overcalls_only_with_what_it_may_well_take_unless_it_sacrifices() -> None:
    """A failed bid costs nothing, so that any bid is better than points for the others."""
    position = small("Js Qc Qd Jh", "Jd Qh Ks Jc", moves="bid 1")
    assert choice(HeuristicAgent(), position) == "pass"
    assert choice(HeuristicAgent(sacrifice=True), position) == "bid 2"
    assert choice(HeuristicAgent(), small("Js Qc Qd Jh", STRONG, moves="bid 1")) == "bid 2"


def test_heuristic_leaves_its_partner_the_bid_unless_its_hand_is_worth_more() -> None:
    for hand, answer in ((WEAK, "pass"), (STRONG, "bid 2")):
        position = Position(Rules(ranks=4, tricks=2), match="deal", dealer=3)
        rest = [c for c in position.settings.pack.tolist() if c not in parse_cards(f"{hand} Ah Kh")]
        position.deal([*rest[:8], *parse_cards(hand), *rest[8:], *parse_cards("Ah Kh")])
        position.step("bid 1", "pass")
        for sacrifice in (False, True):
            assert choice(HeuristicAgent(sacrifice=sacrifice), position) == answer


@pytest.mark.parametrize("joker", ["high_card", "wild"])
def test_expected_share_is_a_share_and_grows_with_the_hand(joker: str) -> None:
    plan = np.zeros(1 << MAX_HAND)
    shares = []
    for hand in (WEAK, STRONG):
        readings = reading_of(small(hand, "Js Qc Qd As", joker=joker))
        hope = fill_plan(readings[0], plan)
        assert 0 < hope < 2
        shares.append(expected_share(readings[0], hope))
    assert 0 <= shares[0] < shares[1] <= 1
    [reading] = reading_of(small(WEAK, "Js Qc Qd As", joker=joker))
    assert expected_share(reading, 100.0) == 1
    assert expected_share(reading, -100.0) == 0
