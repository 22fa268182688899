"""What the scripted players are meant to know, in positions where it shows."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numba
import numpy as np
import pytest

import agents
from agents.counting import chances_of_lack, opponent_pool
from agents.holdings import FOUR_FLUSH, INSIDE_STRAIGHT, NOTHING, OPEN_STRAIGHT, PAIR, holding
from agents.poke_reading import LEAD, READING, Reading, read
from agents.reading import RANKS
from agents.score import worth_of_cards
from helpers import is_over
from poke_env import poke_v0
from poke_env.cards import format_cards, parse_cards

PLAIN = bool(numba.config.DISABLE_JIT)
THINKERS = ("greedy", "heuristic")


def position(
    own: str, opponent: str, *moves: str, dealer: bool = False, score: Any = None
) -> poke_v0.raw_env:
    """A deal in which it is the turn of the player who holds `own`, in seat 0."""
    env = poke_v0.raw_env(match="game")
    first, second = (opponent, own) if dealer else (own, opponent)
    options: dict[str, Any] = {"deck": f"{first} {second}".split(), "dealer": 0 if dealer else 1}
    if score is not None:
        options["score"] = score
    env.reset(seed=1, options=options)
    for move in moves:
        env.step(env.text_to_action(move))
    assert env.agent_selection == "player_0"
    return env


def choice(name: str, env: poke_v0.raw_env) -> str:
    """What the player says in the position."""
    action = agents.make(name).act(env.observe(env.agent_selection), np.uint64(1))
    return str(env.action_to_text(action))


def reading(env: poke_v0.raw_env) -> Reading:
    observed = env.observe(env.agent_selection)
    found = np.zeros(1, READING)[0]
    read(observed["observation"], observed["action_mask"], found)
    return found


def score(own: int, other: int, games: tuple[int, int] = (0, 0)) -> dict[str, Any]:
    return {"below": (own, other), "games": games}


# --- reading --------------------------------------------------------------------------------------


def test_a_reading_agrees_with_decode() -> None:
    env = poke_v0.raw_env(match="rubber")
    rng = np.random.default_rng(3)
    env.reset(seed=8)
    for _ in range(30 if PLAIN else 400):
        if is_over(env):
            env.reset()
        observed = env.observe(env.agent_selection)
        known, found = poke_v0.decode(observed), reading(env)
        held = [slot for slot in range(5) if found["held"] >> slot & 1]
        cards = tuple(int(4 * found["ranks"][slot] + found["suits"][slot]) for slot in held)
        assert cards == known["hand"]
        assert found["size"] == 5
        assert ("draw", "lead", "follow")[found["phase"]] == known["phase"]
        assert (found["lead_rank"] >= 0) == bool(known["table"])
        if known["table"]:
            assert found["lead_rank"] == known["table"][0] >> 2
            assert found["lead_size"] == len(known["table"])
        assert found["unseen"].sum() == 52 - len(known["seen"])
        assert found["dealer"] == known["dealer"]
        assert tuple(found["draws"]) == tuple(map(len, known["draws"]))
        assert tuple(found["last_draw"]) == tuple((*draws, 0)[-2 if draws else 0] if draws else 0
                                               for draws in known["draws"])  # fmt: skip
        for name, field in (("trick_values", "values"), ("taken", "taken"), ("below", "below"),
                            ("games", "games")):  # fmt: skip
            assert tuple(found[field]) == known[name]
        played = sum(len(trick["lead"] if trick["leader"] == "opponent" else trick["follow"])
                     for trick in known["tricks"])  # fmt: skip
        assert found["shown"].sum() == played
        env.step(int(rng.choice(np.flatnonzero(observed["action_mask"]))))


def test_the_pack_is_that_of_the_preset_unless_a_card_says_otherwise() -> None:
    env = poke_v0.raw_env(match="deal", rules="small")
    env.reset(seed=0, options={"deck": parse_cards("9c 9d Tc Td Jc Jd")})
    assert reading(env)["unseen"].tolist() == [0] * 7 + [0, 1, 2, 2, 2, 2]
    env = poke_v0.raw_env(match="deal", rules=poke_v0.Rules(hand_size=3))
    env.reset(seed=0, options={"deck": parse_cards("2c 9d Tc Td Jc Jd")})
    assert reading(env)["unseen"].sum() == 49


@pytest.mark.parametrize(
    "cards, kind",
    [
        ("2c 5d", NOTHING),
        ("2c 2d 9h", PAIR),
        ("2c 5c 9c Jc", FOUR_FLUSH),
        ("5c 6d 7h 8s", OPEN_STRAIGHT),
        ("5c 6d 8h 9s", INSIDE_STRAIGHT),
        ("Ac 2d 3h 4s", INSIDE_STRAIGHT),
        ("Jc Qd Kh As", INSIDE_STRAIGHT),
        ("2c 3d 4h 5s", OPEN_STRAIGHT),
        ("Ac 3d 4h 5s", INSIDE_STRAIGHT),
        ("2c 3d 4h 9s", NOTHING),
    ],
)
def test_holdings(cards: str, kind: int) -> None:
    numbers = np.array([*parse_cards(cards), *[0] * 5][:5])
    slots = (1 << len(cards.split())) - 1
    assert holding(numbers >> 2, numbers & 3, slots, 5) == kind


# --- drawing --------------------------------------------------------------------------------------

BLANK = "3c 5d 8h Ts Jc"


@pytest.mark.parametrize("name", THINKERS)
@pytest.mark.parametrize("dealer", [False, True])
@pytest.mark.parametrize(
    "hand", ["6c 6d 6h Ks Kd", "2c 6c 9c Kc Qc", "5c 6d 7h 8s 9d", "Tc Jc Qc Kc Ac"]
)
def test_a_made_hand_stands_pat(name: str, dealer: bool, hand: str) -> None:
    moves = ("pat",) if dealer else ()
    opponent = "2d 4d 7d Ts Js" if "Jc" in hand else BLANK
    assert choice(name, position(hand, opponent, *moves, dealer=dealer)) == "stand pat"


@pytest.mark.parametrize("name", THINKERS)
@pytest.mark.parametrize(
    "hand, discard",
    [
        ("2c 6h 9d Qs Kd", "2c 6h 9d"),
        ("2c 4d 6s 9h 9d", "2c 4d 6s"),
        ("3h 9h 9d Qs Qd", "3h"),
        ("2c 4d 9h 9d 9s", "2c 4d"),
    ],
)
def test_the_free_draw_keeps_the_best_holding(name: str, hand: str, discard: str) -> None:
    env = position(hand, "3c 5d 8h Ts Jc", "pat", dealer=True)
    assert choice(name, env) == f"discard {discard}"


@pytest.mark.parametrize("hand", ["2c 6c 9c Kc Qs", "4c 5d 6h 7s Ks", "5c 6d 8h 9s Qs"])
def test_greedy_draws_to_straights_and_flushes(hand: str) -> None:
    env = position(hand, "3c 5h 8c Ts Jc", "pat", dealer=True)
    assert choice("greedy", env) == f"discard {hand[-2:]}"


def test_greedy_keeps_sets_whole_in_small_games() -> None:
    env = poke_v0.raw_env(match="deal", rules="tiny")
    env.reset(seed=0, options={"deck": parse_cards("Qc Qd Kc Ac"), "dealer": 1})
    assert choice("greedy", env) == "stand pat"


def test_the_heuristic_pays_for_a_double_where_points_below_cost_little() -> None:
    pair = "4c 4d 7h 9d Qs"
    ahead = choice("heuristic", position(pair, BLANK, score=score(19, 0)))
    assert choice("heuristic", position(pair, BLANK)) == "stand pat"
    assert ahead.startswith("discard")


@pytest.mark.parametrize("rules", ["standard", "tiny", "small"])
def test_the_ablations_fix_the_one_decision(rules: str) -> None:
    env = poke_v0.raw_env(match="rubber", rules=rules)
    never, always = agents.make("never_double"), agents.make("always_double")
    drew_free = doubled = 0
    for seed in range(2 if PLAIN else 10):
        env.reset(seed=seed)
        while not is_over(env):
            player = never if env.agent_selection == "player_0" else always
            observed = env.observe(env.agent_selection)
            action = player.act(observed, np.uint64(1))
            if player is always and poke_v0.decode(observed)["phase"] == "draw":
                assert (action > 0) == (observed["action_mask"].sum() > 1)
            env.step(action)
        for deal in env.score_sheet.deals:
            assert deal.trick_values[1] == 1
            assert len(deal.draws[0]) <= (deal.dealer == 0)
            drew_free += len(deal.draws[0])
            doubled += deal.trick_values[0] > 1
            if rules == "standard":
                assert len(deal.draws[1]) == (3 if deal.dealer == 1 else 2)
    assert drew_free
    assert doubled


# --- tricks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", THINKERS)
@pytest.mark.parametrize(
    "own, opponent, lead, follow",
    [
        ("2d 7h 7s Qh Ks", "Ac Ad 9h 4s 4d", "Ac", "2d"),
        ("2c 5d Jh Qd As", "9c 9d 9h 4s 4d", "9c", "Jh"),
        ("2c 5d Jh Ks As", "Qc Qd 9h 4s 4d", "Qc", "Ks"),
        ("2c 5d 7h 8s Ts", "Qc Qd 9h 4s 4d", "Qc", "2c"),
        ("6c 6d Jh Js As", "5c 5d 9h 4s 4d", "5c 5d", "6c 6d"),
    ],
)
def test_following_is_as_cheap_as_can_be(
    name: str, own: str, opponent: str, lead: str, follow: str
) -> None:
    said = choice(name, position(own, opponent, "pat", "pat", lead, dealer=True))
    assert said == f"follow {follow}"


@pytest.mark.parametrize("name", THINKERS)
@pytest.mark.parametrize(
    "own, lead", [("Ac Ad Ah 3s 2d", "Ac Ad Ah"), ("2c 7d Kh Ks Kd", "Kd Kh Ks")]
)
def test_sets_that_cannot_be_beaten_are_led(name: str, own: str, lead: str) -> None:
    assert choice(name, position(own, "5c 5d 9h 4s 4d", "pat", "pat")) == f"lead {lead}"


def test_who_threw_off_holds_nothing_higher() -> None:
    env = position("2c 7d Jh Qs Ks", "3c 4d 8h Ts Td", "pat", "pat", "Qs", "3c")
    found = reading(env)
    assert found["phase"] == LEAD
    assert found["no_higher"].tolist() == [RANKS, 10, RANKS, RANKS, RANKS]
    pool = opponent_pool(found, 4)
    assert pool[11:].sum() == 0
    assert pool[:11].sum() == found["unseen"][:11].sum()
    lacks = chances_of_lack(found, pool, 4, 4)
    assert lacks[1, 11] == 1.0  # a king or ace would have had to beat the queen
    assert lacks[1, 10] < 1.0
    assert choice("heuristic", env) in ("lead Ks", "lead Jh")


def test_where_nobody_must_beat_a_wrong_inference_does_no_harm() -> None:
    env = poke_v0.raw_env(match="deal", rules=poke_v0.Rules(must_beat=False))
    env.reset(seed=1, options={"deck": parse_cards("2c 2d 2h 2s 3c 9d 9h 9s Ks Kd"), "dealer": 1})
    for move in ("pat", "pat", "2c", "9d"):
        env.step(env.text_to_action(move))
    found = reading(env)
    assert opponent_pool(found, 4).tolist() == found["unseen"].tolist()
    assert choice("heuristic", env).startswith("lead ")


def test_chances_are_those_of_counting_hands_one_by_one() -> None:
    ranks = [0, 0, 3, 3, 3, 7, 9, 9, 12, 12]
    pool = np.bincount(ranks, minlength=RANKS)
    found = reading(position("2c 7d Jh Qs Ks", "3c 4d 8h Ts Td", "pat", "pat"))
    for unknown in (1, 3, 4):
        hands = [np.bincount(hand, minlength=RANKS) for hand in combinations(ranks, unknown)]
        lacks = chances_of_lack(found, pool, unknown, 4)
        for count in (1, 2, 3, 4):
            for rank in range(RANKS + 1):
                share = np.mean([(hand[rank:] < count).all() for hand in hands])
                assert lacks[count, rank] == pytest.approx(share)


# --- what points are worth ------------------------------------------------------------------------


def price(own: int, other: int, games: tuple[int, int] = (0, 0)) -> float:
    """Points above the line for one more card taken, undoubled, in the middle of the scale."""
    hand = position("2c 7d Jh Qs Ks", "3c 4d 8h Ts Td", score=score(own, other, games))
    worth = worth_of_cards(reading(hand), 1, 1)
    return float(worth[3] - worth[2]) / 2  # one card more is one point more, and one less for him


def test_the_price_of_a_point_depends_on_the_score() -> None:
    assert 20 < price(0, 0) < 65
    assert 50 < price(15, 15) < 170
    assert price(15, 15, (1, 1)) > price(15, 15)
    assert price(19, 0) < 5
    assert price(0, 19) < 5


def test_worth_rises_with_every_card_and_exchanging_seats_mirrors_it() -> None:
    for own, other in ((0, 0), (12, 3), (17, 18)):
        one = reading(position("2c 7d Jh Qs Ks", "3c 4d 8h Ts Td", score=score(own, other)))
        two = reading(position("2c 7d Jh Qs Ks", "3c 4d 8h Ts Td", score=score(other, own)))
        worth, mirrored = worth_of_cards(one, 1, 2), worth_of_cards(two, 2, 1)
        assert (np.diff(worth) >= 0).all()
        total = worth + mirrored[::-1]
        assert total == pytest.approx(np.full(6, total[0]))


# --- strength -------------------------------------------------------------------------------------


@pytest.mark.skipif(PLAIN, reason="needs many deals")
@pytest.mark.parametrize("better, worse", [("greedy", "random"), ("heuristic", "greedy")])
def test_ladder(better: str, worse: str) -> None:
    """Duplicate deals: each deck is played in both seatings."""
    env = poke_v0.raw_env(match="deal")
    players = agents.make(better), agents.make(worse)
    rng = np.random.default_rng(17)
    margins = []
    for pair in range(60):
        deck, margin = rng.permutation(52), 0.0
        for seat in range(2):
            env.reset(seed=0, options={"deck": deck, "dealer": pair % 2})
            while not is_over(env):
                mover = players[int(env.agent_selection[-1]) ^ seat]
                observed = env.observe(env.agent_selection)
                env.step(mover.act(observed, rng.integers(2**64, dtype=np.uint64)))
            margin += env.rewards[f"player_{seat}"] / 2
        margins.append(margin)
    assert np.mean(margins) > 2 * np.std(margins) / np.sqrt(len(margins)), format_cards(deck)
