"""What actions are worth: known values, agreement of both ways, errors, seeds, refusals."""

from __future__ import annotations

import csv
import itertools
import json

import numpy as np
import pytest

import agents
from agents.equilibrium import DrawStrategies
from agents.hand_classes import CLASSES
from agents.prior import draw_prior, no_prior
from agents.tricks import trick_table
from poke_env.cards import evaluate, parse_cards
from poke_env.equity import EquityTable
from poke_env.games.poke import POKE, Rules
from poke_env.vector import BatchEnv
from training.lab import judge
from training.lab.__main__ import main
from training.lab.deals import Table, play_out
from training.lab.decision import Decision, report
from training.lab.judge import Judge, Means, read_record
from training.lab.judgement import (
    by_roll_out,
    outcomes,
    tricks_by_table,
    worth_of_deal,
)
from training.lab.positions import Position, from_cards
from training.lab.solved_draws import SolvedDraws
from training.lab.stored import Worth
from training.lab.worlds import sample_hands

DECK = "As Kd 7c 7d 3h Qs Js 9d 9c 4h"
SCORE = {"below": (15, 5), "games": (1, 0), "above": (300, 150)}
# Two cards each are left: the non-dealer is to lead, or the dealer has to answer the king.
LEADS = "stand pat; stand pat; lead 7c 7d; follow 9c 9d; lead 4h; follow As"
ANSWERS = LEADS + "; lead Kd"
POINTS = (0, 50, 100, 200, 300, 400, 500, 600, 750, 1000)


@pytest.fixture(scope="module")
def worth():
    return Worth(EquityTable.load())


def rng(seed=0):
    return np.random.default_rng(seed)


def known_value(position, seat, taken, final_hands):
    """E and W of a seat when the deal ends so, from the rules and the equity table."""
    state, table = position.state, EquityTable.load()
    dealer, other = position.dealer, 1 - seat
    draws = [len(position.draws(player)) for player in range(2)]
    value = [0, 0]
    value[1 - dealer] = (1, 1, 2, 4)[draws[dealer]]
    value[dealer] = (1, 2, 4)[draws[1 - dealer]]
    cards = {seat: taken, other: 5 - taken}
    below = [int(state["below"][player]) + cards[player] * value[player] for player in range(2)]
    games = state["games"].tolist()
    above = [250 * (cards[player] == 5) for player in range(2)]
    ranks = [evaluate(hand) for hand in final_hands]
    for player in range(2):
        if ranks[player] > ranks[1 - player]:
            above[player] += POINTS[ranks[player].category]
    if max(below) >= 20 and below[0] != below[1]:
        winner = int(below[1] > below[0])
        games[winner] += 1
        above[winner] += 100
        if games[winner] == 2:
            above[winner] += (750, 500)[games[1 - winner]]
        below = [0, 0]
    gain = above[0] - above[1]
    margin = gain + int(state["above"][0]) - int(state["above"][1])
    if max(games) == 2:
        expected, chance = float(gain), (float(np.sign(margin)) + 1) / 2
    else:
        expected = gain + table.expected(below, games, 1 - dealer)
        chance = table.win_probability(below, games, 1 - dealer, margin)
    return (expected, chance) if seat == 0 else (-expected, 1 - chance)


def takes(own, other, lead=None):
    """Cards that who is to lead takes of single cards; with a lead he has led it already."""
    if not own and lead is None:
        return 0
    if lead is None:
        return max(takes([c for c in own if c is not card], other, card) for card in own)
    beating = [card for card in other if card // 4 > lead // 4]
    return min(
        len(own) - takes([c for c in other if c is not card], own)
        if beating
        else 1 + takes(own, [c for c in other if c is not card])
        for card in beating or other
    )


def test_an_endgame_has_the_values_of_all_hands_that_are_possible(worth):
    """Two cards each: every hand of the opponent, played out by plain minimax."""
    position = from_cards(DECK, LEADS, **SCORE)
    judged = tricks_by_table(position, worth, no_prior(), 10_000, rng())
    own = list(parse_cards("As Kd 7c 7d 3h"))
    left = list(parse_cards("3h Kd"))
    shown = list(parse_cards("9c 9d 4h"))
    found = {card: [] for card in left}
    for hidden in itertools.combinations(sorted(set(range(52)) - set(own) - set(shown)), 2):
        hands = [0, 0]
        hands[1], hands[0] = own, [*shown, *hidden]
        for card in left:
            taken = 1 + takes([c for c in left if c != card], list(hidden), card)
            found[card].append(known_value(position, 1, taken, hands))
    assert [position.text(int(action)) for action in judged.actions] == ["lead 3h", "lead Kd"]
    for place, card in enumerate(left):
        expected, winning = np.mean(found[card], axis=0)
        assert judged.expected[place] == pytest.approx(expected)
        assert judged.winning[place] == pytest.approx(winning)
    assert (judged.expected_error == 0).all()
    assert judged.samples == len(found[left[0]])
    assert judged.verdict(judged.best) == "best"
    assert judged.verdict(1 - judged.best) == "mistake"


def test_the_only_action_is_the_best(worth):
    """A follower with one card that beats has to play it."""
    position = from_cards(DECK, "stand pat; stand pat; lead 7c 7d")
    judged = tricks_by_table(position, worth, draw_prior(), 100, rng())
    assert [position.text(int(action)) for action in judged.actions] == ["follow 9c 9d"]
    assert judged.loss.tolist() == [0.0]
    assert judged.loss_error.tolist() == [0.0]
    assert judged.verdict(0) == "best"


def test_ends_are_worth_what_the_environment_pays(worth):
    """Deals at scores as they occur: E of the outcome is what equity was paid."""
    count = 300
    starts = worth.table.start_scores(count, seed=1)
    envs = BatchEnv(
        POKE, count, match="deal", reward="equity", autoreset=False, start_scores=starts
    )
    envs.reset(seed=2)
    begun = envs.record
    dealers = begun["dealer"].astype(int)
    before = worth.table.expected(begun["below"], begun["games"], dealers)
    table = Table(Rules(), (agents.load("random"),), 3)
    paid = play_out(envs, table, np.arange(count))[:, 0]
    places = np.array(outcomes(envs.record)).T
    for row in range(count):
        position = Position(begun[row : row + 1])
        here = worth_of_deal(worth, position)
        expected = here.expected[tuple(places[row])]
        sign = 1 if position.seat == 0 else -1
        assert sign * expected == pytest.approx(paid[row] + before[row], abs=1e-6)
        winning = here.winning[tuple(places[row])]
        assert 0.0 <= winning <= 1.0
        ended = envs.record[row]
        if max(ended["games"]) == 2:
            margin = int(ended["above"][0]) - int(ended["above"][1])
            assert winning == (1 + sign * np.sign(margin)) / 2


@pytest.mark.parametrize("player", ["pimc-4", "random"])
def test_both_ways_agree_where_nothing_is_left_to_decide(worth, player):
    """After the answer one card each is left: whoever goes on, the table knows how it ends."""
    position = from_cards(DECK, ANSWERS, **SCORE)
    assert len(position.legal) == 2
    exact = tricks_by_table(position, worth, draw_prior(), 100_000, rng())
    assert (exact.expected_error == 0).all()
    rolled = by_roll_out(position, worth, draw_prior(), (agents.load(player),), 4_000, 5)
    assert (rolled.expected_error > 0).all()
    for name in ("expected", "winning"):
        difference = getattr(rolled, name) - getattr(exact, name)
        assert (np.abs(difference) < 4 * getattr(rolled, f"{name}_error")).all()
    assert rolled.loss == pytest.approx(exact.loss, abs=4 * rolled.loss_error.max() + 1e-9)


def test_errors_shrink_with_samples_and_hold(worth):
    position = from_cards(DECK, "stand pat; stand pat", **SCORE)
    few, many = (
        tricks_by_table(position, worth, draw_prior(), samples, rng(samples))
        for samples in (500, 50_000)
    )
    ratio = few.expected_error / many.expected_error
    assert ratio == pytest.approx(np.full(len(ratio), 10.0), rel=0.25)
    assert (np.abs(few.expected - many.expected) < 4 * few.expected_error).all()
    assert (np.abs(few.loss - many.loss) < 4 * few.loss_error + 1e-9).all()
    # Actions meet the same hands, so their differences are surer than their values.
    assert few.loss_error.max() < few.expected_error.max()


def test_seeds_reproduce(worth):
    position = from_cards(DECK, "stand pat; stand pat", **SCORE)
    players = (agents.load("pimc-2"), agents.load("random"))

    def rolled(seed):
        return by_roll_out(position, worth, draw_prior(), players, 60, seed).expected.tolist()

    assert rolled(1) == rolled(1) != rolled(2)
    judge = Judge(Means(hands=50))
    numbers = [judge.judge(position, "table", number).expected.tolist() for number in (0, 0, 1)]
    assert numbers[0] == numbers[1] != numbers[2]


# --- draws ----------------------------------------------------------------------------------------


def never_drawing():
    """Strategies of players who never draw."""
    return DrawStrategies(
        np.zeros((2, 1604), np.int64),
        np.zeros((1, 4, CLASSES[5]), np.int8),
        np.zeros((1, 3, 13, CLASSES[5]), np.int8),
        {},
    )


@pytest.fixture(scope="module")
def draws(worth):
    """Against players who never draw, hands independent."""
    return SolvedDraws(worth, never_drawing(), draw_prior(), balanced=False)


def test_the_best_draw_of_a_royal_flush_is_none(draws):
    position = from_cards("9s Kd 7c 7d 3h Th Jh Qh Kh Ah", "stand pat")
    judged = draws.judge(position)
    assert position.text(int(judged.actions[judged.best])) == "stand pat"
    assert judged.samples == 0
    assert (judged.loss[1:] > 300).all()
    assert "solved strategy" in judged.assumes
    # Breaking it up costs most of the thousand points, whatever is discarded.
    assert judged.expected[judged.best] - judged.expected.min() > 800


def test_standing_is_worth_the_mean_over_the_other_hands(draws):
    """Against all dealt hands: a flat sum over types by the trick table and the equity table."""
    hand = parse_cards("Qs Js 9d 9c 4h")
    position = from_cards(DECK, "stand pat", **SCORE)
    judged = draws.judge(position)
    listed = draws.model.hands
    often = np.bincount(listed.type, listed.size, len(listed.category))
    tricks = trick_table()
    values = np.array(
        [
            known_value(
                position, 0, 5 - tricks.cards_taken(listed.ranks[type_].tolist(),
                                                    [card // 4 for card in sorted(hand)]),
                [hand, listed.cards[place].tolist()],
            )
            for type_, place in zip(*np.unique(listed.type, return_index=True), strict=True)
        ]
    )  # fmt: skip
    expected, winning = often @ values / often.sum()
    assert judged.expected[0] == pytest.approx(expected)
    assert judged.winning[0] == pytest.approx(winning)


def test_draws_that_a_strategy_hardly_ever_makes_are_judged_by_the_prior(worth, draws):
    position = from_cards(DECK, "discard 3h; stand pat", **SCORE)
    judged = draws.judge(position)
    assert "prior" in judged.assumes
    strategies = never_drawing()
    strategies.non_dealer[0, 0, 0] = 1  # a few of two million hands change a card
    seldom = SolvedDraws(worth, strategies, draw_prior(), balanced=False)
    assert 0 < seldom.reach(0).non_dealer[:, 1].sum() < 1e-4
    assert seldom.judge(position).expected == pytest.approx(judged.expected, abs=0.1)
    pat = draws.judge(from_cards(DECK, "stand pat", **SCORE))
    # Who drew one card holds more, and his draw doubled what the dealer's cards are worth.
    assert judged.expected[0] != pytest.approx(pat.expected[0], abs=5.0)
    assert np.isfinite(judged.expected).all()


def test_the_non_dealers_second_draw_is_judged(draws):
    position = from_cards(DECK + " 7h", "discard 3h", **SCORE)
    judged = draws.judge(position)
    assert len(judged.actions) == 26
    # Three sevens: the best choice keeps them.
    best = int(judged.actions[judged.best])
    assert not {"7c", "7d", "7h"} & set(position.text(best).split())


def test_only_draws_are_judged_by_the_draw_phase(draws):
    with pytest.raises(ValueError, match="must be of the draw phase, is to lead"):
        draws.judge(from_cards(DECK, "stand pat; stand pat"))


@pytest.mark.slow
def test_the_model_agrees_with_real_cards_and_with_roll_outs(worth):
    """A dealer who drew twice against a hand that stood pat at once.

    Standing: the model's pairs of hands against hands from the unseen cards, tricks open in both.
    All draws: roll-outs by players who do not see the other hand, so that they agree roughly.
    """
    balanced = SolvedDraws(worth, never_drawing(), draw_prior())
    pack = ["23456789TJQKA"[card // 4] + "cdhs"[card % 4] for card in range(52)]
    deck = [*DECK.split(), *(card for card in pack if card not in DECK.split())]
    position = from_cards(" ".join(deck), "stand pat; discard 4h; discard Js", **SCORE)
    by_table = balanced.judge(position)
    hands = sample_hands(position, no_prior(), 4_000, rng())
    own = [card // 4 for card in position.state["hand"][0].tolist()]
    values = [
        known_value(
            position, 0, 5 - trick_table().cards_taken([card // 4 for card in hand], own),
            [position.state["hand"][0].tolist(), hand],
        )[0]
        for hand in hands.whole.tolist()
    ]  # fmt: skip
    error = np.std(values) / np.sqrt(len(values))
    assert by_table.expected[0] == pytest.approx(np.mean(values), abs=4 * error)
    rolled = by_roll_out(position, worth, no_prior(), (agents.load("pimc-64"),), 2_000, 3)
    # The model lets the other hand hold what was discarded: throwing aces looks worse than it is.
    sensible = by_table.loss < 300
    difference = np.abs(by_table.expected - rolled.expected)
    assert (difference < 30 + 3 * rolled.expected_error)[sensible].all()
    assert rolled.best == by_table.best == 0


# --- the command ----------------------------------------------------------------------------------


def test_the_command_writes_every_action_of_both_ways(tmp_path):
    out = tmp_path / "decision"
    main(
        [
            "decision", "--deck", DECK, "--actions", LEADS, "--below", "15", "5",
            "--method", "both", "--players", "pimc-2", "--samples", "40", "--out", str(out),
        ]
    )  # fmt: skip
    with (tmp_path / "decision.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["method"] for row in rows] == ["table"] * 2 + ["rollout"] * 2
    assert {row["what"] for row in rows} == {"lead 3h", "lead Kd"}
    for method in ("table", "rollout"):
        first, second = (row for row in rows if row["method"] == method)
        assert first["verdict"] == "best"
        assert float(first["loss"]) == 0.0 <= float(second["loss"])
        gap = float(first["E"]) - float(second["E"])
        assert gap == pytest.approx(float(second["loss"]))
    document = json.loads((tmp_path / "decision.json").read_text())
    assert document["position"].startswith("player_1 (non-dealer)")
    assert set(document["assumes"]) == {"table", "rollout"}
    assert document["judged_by"]["samples"] == 40
    assert (tmp_path / "decision.png").read_bytes().startswith(b"\x89PNG")


def test_what_was_made_is_marked(worth):
    position = from_cards(DECK, LEADS)
    made = Position(position.states, made=position.legal[0])
    judged = tricks_by_table(made, worth, draw_prior(), 200, rng())
    marks = {row["action"]: row["made"] for row in report(made, {"table": judged})}
    assert marks == {position.legal[0]: "made", position.legal[1]: ""}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "one of record, deck and state must be given, got none"),
        ({"deck": DECK, "state": "x"}, "must be given, got deck, state"),
    ],
)
def test_a_position_is_given_in_one_way(arguments, message):
    with pytest.raises(ValueError, match=message):
        Decision(**arguments).position()


@pytest.mark.parametrize(
    ("means", "message"),
    [
        ({"hands": 0}, "hands must be an integer from 1"),
        ({"samples": 1}, "samples must be an integer from 2"),
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"players": ()}, r"players must be one or two, got \(\)"),
        ({"players": ("nobody",)}, "nobody"),
    ],
)
def test_bad_means_are_refused(means, message):
    with pytest.raises(ValueError, match=message):
        Judge(Means(**means))


def test_a_table_for_other_rules_is_refused(worth):
    position = from_cards(DECK, "stand pat; stand pat", must_beat=False)
    with pytest.raises(ValueError, match="table must be for the rules of the position"):
        tricks_by_table(position, worth, draw_prior(), 100, rng())


def test_a_table_for_other_rules_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(judge, "SolvedDraws", lambda *_, **__: pytest.fail("it began to work"))
    position = from_cards(DECK, "", must_beat=False)
    for method in ("table", "rollout"):
        with pytest.raises(ValueError, match="table must be for the rules of the position"):
            Judge(Means()).judge(position, method)


def test_a_match_that_is_not_in_the_file_is_refused(tmp_path):
    path = tmp_path / "records.txt"
    path.write_text("")
    with pytest.raises(ValueError, match="fewer than 3"):
        read_record(path, 3)
    with pytest.raises(ValueError, match="match must be an integer of at least 1, got 0"):
        read_record(path, 0)
