"""Players of Poque: what a sensible person finds obvious, and what every player promises."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numba
import numpy as np
import pytest
from poque_table import PoqueTable, stacked

from agents.poque import GreedyAgent, HeuristicAgent
from agents.poque_auction import chances
from agents.poque_reading import LEVELS, READING, read, sequence_level, set_level
from helpers import run_python
from poke_env.agent import Agent, RandomAgent
from poke_env.cards import parse_cards
from poke_env.games.poque import POQUE, PRESETS, Phase, Rules

PLAIN = bool(numba.config.DISABLE_JIT)
STATES = 12 if PLAIN else 150

PLAYERS = {"greedy": GreedyAgent, "heuristic": HeuristicAgent}

RULES = {
    **PRESETS,
    **{f"{players} players": Rules(players=players) for players in (2, 3, 5, 6, 7, 8)},
    "other options": Rules(
        allow_bluff=True, pay="pips", unopened="carry", most_cards_double=True, max_raises=5
    ),
    "poor": Rules(stack=9, allow_bluff=True, deals=20),
    "small bets": Rules(players=5, hand_size=4, max_raise=1, max_raises=0),
    "three cards of the full pack": Rules(players=2, hand_size=3, ranks=13, allow_bluff=True),
    "one suit": Rules(players=3, suits=1, ranks=13, hand_size=3),
    "no card left": Rules(players=3, suits=4, ranks=4, hand_size=5),
}


def given(table: PoqueTable) -> dict[str, Any]:
    """What the player to move is given."""
    mask = np.zeros(table.settings.num_actions, np.int8)
    mask[table.legal()] = 1
    return {"observation": table.observe(table.to_move), "action_mask": mask}


# --- what every player promises -------------------------------------------------------------------


@cache
def states(rules: str) -> tuple[Any, Any]:
    """Observations (STATES, F) and masks (STATES, A) of sessions at random."""
    table = PoqueTable("session", RULES[rules])
    chance = np.random.default_rng(11)
    seen: list[dict[str, Any]] = []
    while len(seen) < STATES:
        if table.over:
            table = PoqueTable("session", RULES[rules])
        if table.to_move < 0:
            table.deal(chance.permutation(table.rules.pack()).tolist(), len(seen) % 2 or -1)
            continue
        if chance.random() < 0.5:
            seen.append(given(table))
        table.step(int(chance.choice(table.legal())))
    return (
        np.stack([one["observation"] for one in seen]),
        np.stack([one["action_mask"] for one in seen]),
    )


def some_keys(count: int) -> Any:
    return np.random.default_rng(3).integers(0, 2**64, count, np.uint64)


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("name", PLAYERS)
def test_legal_choices_that_do_not_depend_on_the_batch(name: str, rules: str) -> None:
    observations, masks = states(rules)
    before = observations.copy(), masks.copy()
    keys = some_keys(STATES)
    player = PLAYERS[name](seed=1)
    together = player.act_batch(observations, masks, keys)
    assert isinstance(player, Agent)
    assert together.dtype == np.int64
    assert masks[np.arange(STATES), together].all()
    other = PLAYERS[name](seed=2)
    order = np.random.default_rng(0).permutation(STATES)
    shuffled = other.act_batch(observations[order], masks[order], keys[order])
    assert np.array_equal(together[order], shuffled)
    for row in range(0, STATES, 7):
        observed = {"observation": observations[row], "action_mask": masks[row]}
        action = other.act(observed, keys[row])
        assert type(action) is int
        assert action == together[row]
    assert np.array_equal(observations, before[0])
    assert np.array_equal(masks, before[1])


@pytest.mark.parametrize("name", PLAYERS)
def test_seeds_empty_masks_and_arrays_of_another_game(name: str) -> None:
    observations, masks = states("other options")
    first, second = PLAYERS[name](seed=4), PLAYERS[name](seed=4)
    choices = first.act_batch(observations, masks)
    assert np.array_equal(choices, second.act_batch(observations, masks))
    second.reset(seed=4)
    assert np.array_equal(choices, second.act_batch(observations, masks))
    with pytest.raises(ValueError, match="action_mask allows no action"):
        first.act_batch(observations, masks * 0)
    with pytest.raises(ValueError, match="observations must have 455 numbers"):
        first.act_batch(observations[:, :265], masks)
    with pytest.raises(ValueError, match="actions for"):
        first.act_batch(observations, np.ones((STATES, 32), np.int8))


DIGESTS = {
    ("greedy", "other options"): "e917f355f24d8dd8",
    ("heuristic", "other options"): "628a2a049f2cbe0d",
}


@pytest.mark.skipif(PLAIN, reason="needs many choices")
@pytest.mark.parametrize(("name", "rules"), DIGESTS)
def test_no_choice_changes_unnoticed(name: str, rules: str) -> None:
    """As in tests/agents/test_choices.py, with bluffs."""
    chosen = PLAYERS[name]().act_batch(*states(rules), some_keys(STATES))
    assert hashlib.sha256(bytes(chosen.tolist())).hexdigest()[:16] == DIGESTS[name, rules]


SAME = """
import sys
import numpy as np
from agents.poque import GreedyAgent, HeuristicAgent
data = np.load(sys.argv[1])
for player in (GreedyAgent(), HeuristicAgent()):
    for rules in sys.argv[2:]:
        print(*player.act_batch(data[rules], data[rules + "_masks"], data["keys"]))
"""


@pytest.mark.skipif(PLAIN, reason="compares compiled with plain")
def test_compiled_and_plain_choose_alike(tmp_path: Any) -> None:
    names = ("standard", "small", "other options")
    data = {"keys": some_keys(30)}
    for name in names:
        data[name], data[name + "_masks"] = (rows[:30] for rows in states(name))
    np.savez(tmp_path / "states.npz", **data)
    call = ("-c", SAME, str(tmp_path / "states.npz"), *names)
    plain = run_python(*call, variables={"NUMBA_DISABLE_JIT": "1"})
    assert plain.count("\n") == 2 * len(names)
    assert run_python(*call) == plain
    # Compiled code is the same when it comes from numba's cache.
    assert run_python(*call) == plain


# --- what is read and counted ---------------------------------------------------------------------


def reading(table: PoqueTable) -> Any:
    """What the player to move reads."""
    found = np.zeros(1, READING)
    read(*given(table).values(), found[0])
    return found[0]


def bits(cards: Any) -> int:
    return sum(1 << int(card) for card in cards)


@pytest.mark.parametrize("rules", ["standard", "small", "tiny", "8 players", "other options"])
def test_a_reading_agrees_with_decode(rules: str) -> None:
    chance = np.random.default_rng(5)
    table = PoqueTable("session", RULES[rules])
    for _ in range(20 if PLAIN else 300):
        if table.over:
            table = PoqueTable("session", RULES[rules])
        if table.to_move < 0:
            table.deal(chance.permutation(table.rules.pack()).tolist(), 0)
            continue
        known, found = table.decoded(table.to_move), reading(table)
        count = table.rules.players
        assert found["players"] == count
        assert found["size"] == table.rules.hand_size
        assert tuple(found["cards"][: found["size"]]) == known["slots"]
        assert found["held"] == bits(known["hand"])
        assert found["dealt"] == bits(known["slots"])
        assert found["gone"] == bits(known["gone"])
        assert found["unseen"] == bits(set(table.rules.pack()) - set(known["seen"]))
        assert found["trumps"] == known["turned"] & 3
        assert tuple(found["cards_left"][:count]) == known["cards_left"]
        assert tuple(found["stack"][:count]) == known["stacks"]
        assert tuple(found["pools"]) == tuple(known["pools"].values())
        for seat in range(1, count):
            assert found["shown"][seat] == bits(set(known["shown"][seat]) - set(known["gone"]))
        assert ("poque", "sequence", "play")[found["phase"]] == known["phase"]
        if known["phase"] != "play":
            auction = known["auctions"][known["phase"]]
            assert found["pot"] == known["pools"][known["phase"]]
            assert found["owed"] == known["to_equal"]
            assert tuple(found["staked"][:count]) == auction["staked"]
            assert [bool(stays) for stays in found["stays"]] == [
                *(passed is None for passed in auction["passed"]), *[False] * (8 - count)
            ]  # fmt: skip
            for seat in range(count):
                raises = sum(bettor == seat for bettor, _ in auction["bets"][1:])
                assert found["raises"][seat] == raises
        table.step(int(chance.choice(table.legal())))


@pytest.mark.parametrize(
    "better, worse, level",
    [
        ("7c 7d 7h 8c 9c", "Ac Ad 9h Ts Js", set_level),
        ("8c 8d 9h Ts Js", "7c 7d 9h Ts Js", set_level),
        ("7c 7d 8c 8d Ts", "7c 7d 9h Ts Js", set_level),
        ("7c 7d 9h Ts Js", "7c 8d 9h Ts Js", set_level),
        ("7c 8c 9c Tc As", "Qc Kc Ac 7s 8s", sequence_level),
        ("8c 9c Tc 7s As", "7c 8c 9c Js As", sequence_level),
        ("7c 8c 9c Js As", "7c 8c Tc Js As", sequence_level),
    ],
)
def test_levels_rank_combinations(better: str, worse: str, level: Any) -> None:
    assert level(bits(parse_cards(better))) > level(bits(parse_cards(worse)))
    assert level(bits(parse_cards("7c 9c Jc Ks As"))) == 0


@pytest.mark.skipif(PLAIN, reason="counts many hands")
@pytest.mark.parametrize("phase", ["poque", "sequence"])
def test_chances_are_those_of_counting_hands_one_by_one(phase: str) -> None:
    rules = Rules(players=3, ranks=6, allow_bluff=True)
    hands = ["9c Tc Jd Qh Kh", "Td Th Jc Qc Kc", "9d Ts Kd As Ah"]
    table = PoqueTable("deal", rules).deal(stacked(rules, 2, hands, "9h"), 2)
    known: Sequence[int] = ()
    if phase == "sequence":
        table.step("open 1", "equal", "pass")  # player_1 shows his tens
        known = parse_cards("Td Th")
    found, level = reading(table), set_level if phase == "poque" else sequence_level
    pool = [card for card in range(52) if found["unseen"] >> card & 1]
    levels = [level(bits([*known, *cards])) for cards in combinations(pool, 5 - len(known))]
    at_most = np.zeros(LEVELS)
    chances(found, 1, at_most)
    assert at_most == pytest.approx(
        np.cumsum(np.bincount(levels, minlength=LEVELS)) / len(levels), abs=1e-12
    )


# --- the auctions ---------------------------------------------------------------------------------


def choice(name: str, table: PoqueTable, key: int = 5) -> str:
    """What a player does where it is to move, in words."""
    return POQUE.action_text(table.state, PLAYERS[name]().act(given(table), key))


def auction(hand: str, *others: str, moves: Sequence[str] = (), **rules: Any) -> PoqueTable:
    """A table of four at which player_1, next after the dealer, was dealt a hand."""
    options = Rules(**rules)
    hands = [others[2], hand, *others[:2]]
    return PoqueTable("deal", options).deal(stacked(options, 0, hands, "9s"), 0).step(*moves)


PAIRS = ("8c 8d 9h Th Kd", "Qc Qd 7d Jh Ks", "Tc Td 7h 8h Js")
ACES = "Ac Ad Ah As 7c"


@pytest.mark.parametrize("name", PLAYERS)
def test_the_best_poque_there_is_bets_and_never_passes(name: str) -> None:
    assert choice(name, auction(ACES, *PAIRS)).startswith("open")
    table = auction(ACES, *PAIRS, moves=("open 1", "equal", "raise 2", "equal"))
    assert choice(name, table).startswith("raise")
    table.step("raise 5", "pass", "raise 5", "pass")
    assert table.legal_texts() == ["pass", "equal"]
    assert choice(name, table) == "equal"


def test_a_pair_of_sevens_is_folded_against_three_raises() -> None:
    moves = ("open 1", "raise 5", "raise 5", "raise 5")
    others = ("8c 8d 8h Td Kc", "Ac Ad Ah 9d Jc", "Qc Qd 7h Jh Kh")
    table = auction("7c 7d 9h Ts Kd", *others, moves=moves)
    assert table.to_move == 1
    assert table.legal_texts() == ["pass", "equal"]
    assert choice("heuristic", table) == "pass"
    assert choice("greedy", table) == "equal"


SEVENS = "7c 7s 9d Ts Kc"


def test_a_chip_is_paid_for_a_fair_chance_at_a_full_pool() -> None:
    others = ("8c 8d 9h Th As", "Qc Qd 7d Jh Ac", "Kh Kd 7h 8h Js")
    table = auction(SEVENS, *others, moves=("pass", "open 1", "equal"))
    assert table.to_move == 0
    assert choice("heuristic", table) != "pass"


def test_whoever_is_left_alone_takes_the_pool_with_the_least_bet() -> None:
    table = auction(SEVENS, *PAIRS, moves=("pass", "pass", "pass"))
    assert table.to_move == 0
    assert choice("heuristic", table) == "open 1"
    nothing = auction(SEVENS, *PAIRS[:2], "Tc 8h Qh 7h Js",
                      moves=("pass", "pass", "pass"), allow_bluff=True)  # fmt: skip
    assert choice("heuristic", nothing) == "open 1"


@pytest.mark.parametrize("name", PLAYERS)
def test_a_sequence_that_cannot_be_beaten_is_bet_on(name: str) -> None:
    hands = ("Qh Kh Ah 7d 8c", "7c 8s Td Js Ac", "Jc Qd 7h Ts As", "7s 8d Tc Jd Ks")
    table = auction(*hands)
    assert Phase(int(table.state["phase"])) == Phase.SEQUENCE
    assert choice(name, table).startswith("open")


def test_bluffs_are_made_now_and_then_but_never_to_equal() -> None:
    nothing = "7d 8s 9c Qh Ac"
    others = (PAIRS[0], "Qc Qd 7c Jh Ks", PAIRS[2])
    first = auction(nothing, *others, moves=["pass"] * 4, allow_bluff=True)
    assert Phase(int(first.state["phase"])) == Phase.SEQUENCE
    spoken = {choice("heuristic", first, key) for key in range(100)}
    assert spoken == {"pass", "open 5"}
    assert choice("greedy", first) == "pass"
    others = (PAIRS[0], nothing, PAIRS[2])
    asked = auction(SEVENS, *others, moves=("open 2", "equal"), allow_bluff=True)
    assert "equal" in asked.legal_texts()
    assert "equal" not in {choice("heuristic", asked, key) for key in range(20)}


# --- the play-out ---------------------------------------------------------------------------------


def lead(hand: str, *others: str, turned: str = "7s", runs: Sequence[str] = ()) -> PoqueTable:
    """A table of four at which player_0 deals, nobody opened, and these runs were played."""
    options = Rules(allow_bluff=True)
    table = PoqueTable("deal", options).deal(stacked(options, 0, [hand, *others], turned), 0)
    return table.step(*["pass"] * 8, *runs)


@pytest.mark.parametrize("name", PLAYERS)
def test_the_run_that_empties_the_hand_is_started(name: str) -> None:
    table = lead("9c Tc Jc Qc Kc", "7c 8d 9h Ts Ad", "7d 8h Td Js Kh", "7h 8s 9d Jd Qh")
    assert choice(name, table) == "lead 9c"


def test_cards_that_keep_the_lead_go_first() -> None:
    """The queen of clubs was turned up, and nothing is above the ace: all cards go out."""
    others = ("7c 8d 9h Ts Kd", "8h Td Js Kh Qd", "7h 8s 9d Jd Qh")
    table = lead("9c Tc Jc As 7d", *others, turned="Qc")
    for _ in range(2):
        said = choice("heuristic", table)
        assert said in ("lead 9c", "lead As")
        table.step(said)
    assert choice("heuristic", table) == "lead 7d"


def test_what_was_turned_up_stops_a_run() -> None:
    """The lead is kept for sure by the card below the one turned up, and only there."""
    others = ("7c 8d Th Js Ad", "8c Td Jh Qc Kd", "7h 8s Ts Jd Qh")
    assert choice("heuristic", lead("9c 9d 8h Qs Ks", *others, turned="Tc")) == "lead 9c"
    assert choice("heuristic", lead("9c 9d 8h Qs Ks", *others[:2], "7h 8s Ts Jd Tc",
                                    turned="Qh")) != "lead 9c"  # fmt: skip


def test_what_went_by_is_remembered() -> None:
    hands = ("Th 7c 8d Js Ad", "9h Jh 9d 8c Kc", "Td Jd Qc Kd 7h", "8s Ts Jc Tc As")
    table = lead(*hands, turned="7d", runs=("lead Th",))
    assert table.to_move == 1  # nobody holds the queen of hearts
    assert choice("heuristic", table) == "lead 9h"


def test_trump_honours_bring_the_greedy_their_pool_at_once() -> None:
    table = lead("8c 9c Tc Qs 7d", "7c 8d 9h Ts Ad", "8h Td Js Kh Kd", "7h 8s 9d Jd Qh")
    assert choice("greedy", table) == "lead Qs"


def test_the_heuristic_wins_against_random_players() -> None:
    """A few deals are enough to tell."""
    rules = Rules()
    chance = np.random.default_rng(1)
    won = 0.0
    deals = 3 if PLAIN else 40
    for deal in range(deals):
        deck = chance.permutation(rules.pack()).tolist()
        for seat in range(4):
            table = PoqueTable("deal", rules).deal(deck, deal % 4)
            while not table.over:
                player = PLAYERS["heuristic"]() if table.to_move == seat else RandomAgent()
                table.step(player.act(given(table), int(chance.integers(2**62))))
            won += table.totals[seat]
    assert PLAIN or won > 0
