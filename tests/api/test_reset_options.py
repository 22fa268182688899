"""`reset`: what it accepts besides a seed, and that anything wrong leaves the match as it was."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers import RULES, Make, equal_trees, everything, is_over, play
from poke_env import poke_v0
from poke_env.cards import format_cards

PACK = list(range(52))
BAD_SEEDS = [-1, -(2**70), 1.5, 1.0, float("nan"), "a", "1", True, False, np.True_, [1], (1, 2), {}]
BAD_SEEDS += [np.float64(3), np.array([3]), b"1"]
BAD_OPTIONS = [
    # field named by the message, options
    ("options", 1),
    ("options", "deck"),
    ("options", [("dealer", 1)]),
    ("decks?|unknown", {"Deck": PACK}),
    ("unknown", {"dealer": 1, "seed": 3}),
    ("unknown", {"options": {}, "option": {}}),
    ("unknown", {None: 1}),
    ("deck", {"deck": PACK, "decks": [PACK]}),
    ("deck", {"deck": None, "decks": None}),
    ("deck", {"deck": [0, 0]}),
    ("deck", {"deck": [*PACK, 0]}),
    ("deck", {"deck": [*PACK, 52]}),
    ("deck", {"deck": [52]}),
    ("deck", {"deck": [-1]}),
    ("deck", {"deck": [2**40]}),
    ("deck", {"deck": [1.0, 2.0]}),
    ("deck", {"deck": [True, False]}),
    ("deck", {"deck": [None]}),
    ("deck", {"deck": None}),
    ("deck", {"deck": 7}),
    ("deck", {"deck": "As 1s"}),
    ("deck", {"deck": ["As", "As"]}),
    ("deck", {"deck": ["As", 51]}),
    ("deck", {"deck": ["*1"]}),
    ("deck", {"deck": {"As": 1, "xx": 2}}),
    ("deck", {"deck": np.array([1.5, 2.0])}),
    ("deck", {"deck": np.array(3)}),
    ("deck", {"deck": np.array([PACK])}),
    ("deck", {"deck": [[1, 2], [3]]}),
    ("deck", {"decks": PACK}),
    ("deck", {"decks": "As Kd"}),
    ("deck", {"decks": None}),
    ("deck", {"decks": 5}),
    ("deck", {"decks": np.array(5)}),
    ("deck", {"decks": {"0": PACK}}),
    ("deck", {"decks": [PACK, [1, 1]]}),
    ("deck", {"decks": [PACK, None]}),
    ("dealer", {"dealer": 2}),
    ("dealer", {"dealer": -1}),
    ("dealer", {"dealer": True}),
    ("dealer", {"dealer": False}),
    ("dealer", {"dealer": 1.0}),
    ("dealer", {"dealer": "player_0"}),
    ("dealer", {"dealer": [0]}),
    ("dealer", {"dealer": 10**30}),
    ("dealer", {"dealer": np.True_}),
    ("score", {"score": 3}),
    ("score", {"score": [(0, 0), (0, 0)]}),
    ("score", {"score": {"under": (0, 0)}}),
    ("score", {"score": {"Below": (0, 0)}}),
    ("below", {"score": {"below": (20, 3)}}),
    ("below", {"score": {"below": (25, 24)}}),
    ("below", {"score": {"below": (3, 20)}}),
    ("below", {"score": {"below": (-1, 0)}}),
    ("below", {"score": {"below": (0,)}}),
    ("below", {"score": {"below": (0, 0, 0)}}),
    ("below", {"score": {"below": 0}}),
    ("below", {"score": {"below": None}}),
    ("below", {"score": {"below": "00"}}),
    ("below", {"score": {"below": (1.0, 2.0)}}),
    ("below", {"score": {"below": (True, False)}}),
    ("below", {"score": {"below": (10**6, 10**6)}}),
    ("below", {"score": {"below": np.array(3)}}),
    ("below", {"score": {"below": np.array([1.5, 2])}}),
    ("above", {"score": {"above": (-50, 0)}}),
    ("above", {"score": {"above": (10**30, 0)}}),
    ("above", {"score": {"above": (0, float("inf"))}}),
    ("above", {"score": {"above": {0: 1, 1: 2}}}),
    ("games", {"score": {"games": (2, 0)}}),
    ("games", {"score": {"games": (0, 2)}}),
    ("games", {"score": {"games": (-1, 0)}}),
    ("games", {"score": {"games": ("1", "0")}}),
    ("games", {"score": {"below": (3, 4), "above": (5, 6), "games": (3, 3)}}),
]


@pytest.mark.parametrize("seed", BAD_SEEDS, ids=str)
def test_bad_seed_is_taken_or_disturbs_the_match(make: Make, seed: Any) -> None:
    disturb(make, "seed", {"seed": seed})


@pytest.mark.parametrize("field, options", BAD_OPTIONS)
def test_bad_option_is_taken_or_disturbs_the_match(make: Make, field: str, options: Any) -> None:
    disturb(make, field, {"options": options})
    disturb(make, field, {"options": options, "seed": 4})


def disturb(make: Make, field: str, arguments: dict[str, Any]) -> None:
    """Try a bad reset at several moments: one sentence, and every byte as it was."""
    fresh = make(match="game")
    with pytest.raises(ValueError, match=field):
        fresh.reset(**arguments)
    with pytest.raises(AttributeError, match=r"reset\(\)"):
        fresh.step(0)

    env, twin = make(match="game"), make(match="game")
    for steps in (0, 4, 10**9):
        for one in (env, twin):
            one.reset(seed=2)
            play(one, np.random.default_rng(2), most=steps)
        before = everything(env)
        with pytest.raises(ValueError, match=field) as caught:
            env.reset(**arguments)
        assert "\n" not in str(caught.value)
        assert equal_trees(everything(env), before)
        for one in (env, twin):
            play(one, np.random.default_rng(3))
            one.reset()
        assert equal_trees(everything(env), everything(twin))


@pytest.mark.parametrize("seed", [0, 1, 2**31, 2**32, 2**63, 2**64, 2**100, np.int64(5)])
def test_big_seed_is_refused_or_cut(seed: int) -> None:
    """Any number of at least 0; seeds that agree in their low bits are different seeds."""
    env, other = poke_v0.raw_env(), poke_v0.raw_env()
    decks = []
    for number in (seed, int(seed) + 2**32, int(seed) + 2**64, int(seed) + 2**128):
        env.reset(seed=number)
        other.reset(seed=int(number))
        assert env.get_state() == other.get_state()
        decks.append(tuple(env.deck))
    assert len(set(decks)) == 4


def test_seed_zero_counts_as_none() -> None:
    env = poke_v0.raw_env()
    env.reset(seed=0)
    first = env.get_state()
    env.reset(seed=1)
    env.reset(seed=0)
    assert env.get_state() == first


def test_key_that_api_test_sends_is_refused() -> None:
    env = poke_v0.raw_env()
    env.reset(seed=0, options={"options": 1})
    first = env.get_state()
    env.reset(seed=0, options={})
    assert env.get_state() == first
    env.reset(seed=0, options=None)
    assert env.get_state() == first
    env.reset(seed=0, options={"dealer": None, "score": None, "decks": []})
    assert env.get_state() == first


# --- decks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "write",
    {
        "numbers": lambda deck: deck,
        "tuple": tuple,
        "array": np.array,
        "small integers": lambda deck: np.array(deck, np.int8),
        "texts": lambda deck: format_cards(deck).split(),
        "one text": format_cards,
        "mixed": lambda deck: [*deck[:20], *format_cards(deck[20:]).split()],
    }.items(),
    ids=lambda item: item[0],
)
def test_deck_is_written_otherwise(write: tuple[str, Callable[[list[int]], Any]]) -> None:
    rng = np.random.default_rng(0)
    deck = rng.permutation(52).tolist()
    env = poke_v0.raw_env()
    for options in ({"deck": write[1](deck)}, {"decks": [write[1](deck)]}):
        env.reset(options={**options, "dealer": 1})
        assert env.deck == deck
        hands = [poke_v0.decode(env.observe(agent))["hand"] for agent in env.possible_agents]
        assert hands == [tuple(sorted(deck[:5])), tuple(sorted(deck[5:10]))]


def test_decks_as_one_array_are_dealt_otherwise() -> None:
    rng = np.random.default_rng(1)
    decks = np.array([rng.permutation(52) for _ in range(3)])
    env = poke_v0.raw_env(rules=poke_v0.Rules(target=200))
    env.reset(options={"decks": decks})
    for deck in decks:
        assert env.deck == deck.tolist()
        deals = len(env.score_sheet.deals)
        while len(env.score_sheet.deals) == deals:
            play(env, rng, most=1)


@pytest.mark.parametrize("preset", RULES)
def test_beginning_of_a_deck_is_lost_or_completed_with_strangers(preset: str) -> None:
    rules = RULES[preset]
    pack = list(rules.pack())
    env = poke_v0.raw_env(rules=rules)
    for length in {0, 1, 2 * rules.hand_size, len(pack) - 1, len(pack)}:
        beginning = pack[::-1][:length]
        rests = set()
        for seed in range(8):
            env.reset(seed=seed, options={"deck": beginning})
            assert env.deck[:length] == beginning
            assert sorted(env.deck) == pack
            rests.add(tuple(env.deck))
            state = env.get_state()
            env.reset(seed=seed, options={"deck": beginning})
            assert env.get_state() == state
        assert len(rests) > 1 or len(pack) - length <= 1


def test_deck_for_the_first_deal_is_dealt_again() -> None:
    deck = PACK[::-1]
    env = poke_v0.raw_env()
    env.reset(seed=3, options={"deck": deck})
    rng = np.random.default_rng(3)
    play(env, rng)
    env.reset()
    assert env.deck != deck
    env.reset(seed=3)
    assert env.deck != deck


def test_callers_deck_is_kept_and_changes_later() -> None:
    deck = np.array(PACK)
    score = {"above": [100, 200]}
    env = poke_v0.raw_env()
    options = {"decks": [deck, deck], "score": score, "dealer": 0}
    env.reset(options=options)
    state = env.get_state()
    deck[:] = 0
    score["above"][0] = 7
    assert env.get_state() == state
    assert options.keys() == {"decks", "score", "dealer"}


# --- score and dealer -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "score",
    [
        {"below": (19, 0), "above": (1350, 20), "games": (1, 1)},
        {"below": (20, 20)},
        {"below": (57, 57), "games": (0, 1)},
        {"above": [32_768, 0]},
        {"games": np.array([1, 0])},
        {"below": (np.int64(3), 4)},
        {},
    ],
    ids=str,
)
def test_score_is_not_set(make: Make, score: dict[str, Any]) -> None:
    env = make()
    env.reset(seed=0, options={"score": score})
    sheet = env.unwrapped.score_sheet
    for name in ("below", "above", "games"):
        expected = tuple(map(int, score.get(name, (0, 0))))
        assert getattr(sheet, name) == expected
        assert all(isinstance(number, int) for number in getattr(sheet, name))
        assert (
            poke_v0.decode(env.observe("player_1"))[name]
            == tuple(min(number, 32_767) for number in expected)[::-1]
        )
    assert sheet.deals == ()
    env.reset(seed=0)
    assert env.unwrapped.score_sheet.above == (0, 0)


def test_target_of_the_rules_is_not_asked() -> None:
    env = poke_v0.raw_env(rules=poke_v0.Rules(target=30))
    env.reset(options={"score": {"below": (29, 25)}})
    with pytest.raises(ValueError, match="target 30"):
        env.reset(options={"score": {"below": (30, 25)}})


def test_dealer_of_the_options_deals_every_match(make: Make) -> None:
    env = make(match="deal")
    for dealer in (0, 1, np.int64(1)):
        env.reset(seed=0, options={"dealer": dealer})
        assert env.unwrapped.score_sheet.dealer == dealer
    dealers = set()
    for _ in range(60):
        env.reset()
        dealers.add(env.unwrapped.score_sheet.dealer)
    assert dealers == {0, 1}


def test_first_dealer_is_always_the_same() -> None:
    env = poke_v0.raw_env(match="deal")
    env.reset(seed=0)
    deals = []
    for _ in range(400):
        deals.append(env.score_sheet.dealer)
        env.reset()
    assert 160 < sum(deals) < 240


# --- streams --------------------------------------------------------------------------------------


def matches_of(env: Any, seed: int, count: int) -> list[tuple[Any, ...]]:
    """Deck and dealer of the first deal of each match after a seeded reset."""
    seen = []
    for number in range(count):
        env.reset(seed=seed if number == 0 else None)
        seen.append((env.unwrapped.score_sheet.dealer, tuple(env.unwrapped.deck)))
    return seen


def test_play_changes_the_matches_to_come(make: Make) -> None:
    """Match k after a seeded reset depends on the seed and k alone: not on how the earlier ones
    were played, whether to the end, nor on their dealer, deck or score.
    """
    expected = matches_of(make(), 21, 6)
    assert len(set(expected)) == 6
    rng = np.random.default_rng(0)
    disturbances: list[Callable[[Any], Any]] = [
        lambda env: None,
        lambda env: play(env, rng, most=1),
        lambda env: play(env, rng, most=30),
        lambda env: play(env, rng),
        lambda env: env.unwrapped.get_state(),
        lambda env: env.unwrapped.clone().reset(),
        lambda env: [env.observe(agent) for agent in env.agents],
    ]
    if make is poke_v0.env:
        disturbances.append(lambda env: env.step(-1))
    option_sets = [
        {"dealer": 0},
        {"dealer": 1},
        {"deck": PACK},
        {"deck": PACK[:3]},
        {"decks": [PACK, PACK[::-1]]},
        {"score": {"above": (10, 20), "games": (1, 0)}},
    ]
    for number, disturb_match in enumerate(disturbances):
        env = make()
        for k, (dealer, deck) in enumerate(expected):
            options = option_sets[(k + number) % len(option_sets)] if k % 2 else {}
            env.reset(seed=21 if k == 0 else None, options=options)
            if not options:
                assert (env.unwrapped.score_sheet.dealer, tuple(env.unwrapped.deck)) == (
                    dealer,
                    deck,
                )
            disturb_match(env)


def test_options_shift_the_deals_of_their_own_match() -> None:
    """Later deals, and what the options leave open, are those of the seed all the same."""
    plain = poke_v0.raw_env(rules=poke_v0.Rules(target=200))
    rng = np.random.default_rng(1)

    def decks(env: Any, count: int, **options: Any) -> list[list[int]]:
        env.reset(seed=5, options=options)
        seen = [env.deck]
        while len(seen) < count:
            deals = len(env.score_sheet.deals)
            play(env, rng, most=1)
            if len(env.score_sheet.deals) > deals:
                seen.append(env.deck)
        return seen

    expected = decks(plain, 5)
    assert decks(plain, 5, dealer=0) == decks(plain, 5, dealer=1) == expected
    assert decks(plain, 5, score={"above": (9, 9)}) == expected
    assert decks(plain, 5, deck=PACK)[1:] == expected[1:]
    assert decks(plain, 5, decks=[PACK, PACK])[2:] == expected[2:]
    # A beginning is completed by the order the seed gives.
    begun = decks(plain, 2, decks=[[5, 6], [7]])
    assert begun[0] == [5, 6, *[card for card in expected[0] if card not in (5, 6)]]
    assert begun[1] == [7, *[card for card in expected[1] if card != 7]]
    # The dealer of the seed, too, whatever the decks.
    plain.reset(seed=5)
    dealer = plain.score_sheet.dealer
    plain.reset(seed=5, options={"deck": PACK})
    assert plain.score_sheet.dealer == dealer


def test_match_reward_or_wrapper_changes_the_decks_of_a_seed() -> None:
    expected = matches_of(poke_v0.raw_env(), 3, 4)
    for settings in (
        {"match": "deal"},
        {"match": "game", "reward": "win"},
        {"rules": RULES["house"]},
        {"max_deals": 1, "below_value": 3.0},
    ):
        for make in (poke_v0.raw_env, poke_v0.env):
            assert matches_of(make(**settings), 3, 4) == expected


def test_unseeded_environments_are_alike_or_seeded_ones_are_not() -> None:
    decks = set()
    for _ in range(5):
        env = poke_v0.raw_env()
        env.reset()
        decks.add(tuple(env.deck))
        env.reset()
        decks.add(tuple(env.deck))
    assert len(decks) == 10
    assert matches_of(poke_v0.raw_env(), 0, 3) == matches_of(poke_v0.env(), 0, 3)


def test_seeds_or_matches_share_decks() -> None:
    env = poke_v0.raw_env()
    seen = {deck for seed in range(200) for _, deck in matches_of(env, seed, 5)}
    assert len(seen) == 1_000


def test_deals_of_a_match_share_decks() -> None:
    env = poke_v0.raw_env(rules=poke_v0.Rules(target=200))
    rng = np.random.default_rng(2)
    env.reset(seed=2)
    decks = set()
    while not is_over(env):
        decks.add(tuple(env.deck))
        play(env, rng, most=1)
    assert len(decks) == len(env.score_sheet.deals) > 30


def test_some_card_or_place_is_favoured() -> None:
    """Every card is equally often in every place of the deck (chi-square over 52 x 52)."""
    env = poke_v0.raw_env(match="deal")
    env.reset(seed=0)
    counts = np.zeros((52, 52), int)
    decks = 10_400
    places = np.arange(52)
    for _ in range(decks):
        counts[places, env.deck] += 1
        env.reset()
    expected = decks / 52
    statistic = ((counts - expected) ** 2 / expected).sum()
    freedom = 51 * 51
    assert abs(statistic - freedom) < 5 * (2 * freedom) ** 0.5


def test_global_generators_are_used() -> None:
    """Neither NumPy's nor Python's global state is read or moved."""
    random.seed(1)
    state = random.getstate(), str(np.random.get_state())  # noqa: NPY002
    env = poke_v0.env(match="deal")
    env.reset(seed=1)
    play(env, np.random.default_rng(0))
    learner = poke_v0.single_env()
    learner.reset(seed=1)
    learner.step(0)
    assert (random.getstate(), str(np.random.get_state())) == state  # noqa: NPY002
