"""Luck: terms of mean 0 whatever the players do, margins of less spread, and what is said of it."""

from __future__ import annotations

import itertools
import json
import shutil
from math import comb

import numpy as np
import pytest

import agents
from agents.tricks import trick_table
from players import Faulty, Highest, Lowest, Peeking, raising, same
from poke_env import cards, engine, games, poke_v0, records
from poke_env.agent import RandomAgent
from poke_env.games.poke import DRAW, POKE
from poke_env.settings import Settings
from poke_env.vector import BatchEnv
from training import fit_luck, luck_value, report, rounding, tournament
from training.duplicate import Conditions, meet, play
from training.luck import Luck, Tally, match_luck
from training.luck_value import ValueFunction, count_flushes, exact_mean, for_settings, of_project
from training.store import Store
from training.tournament import run_tournament

PRICE = 50.0


def spread(values):
    """How many standard errors the mean is off 0."""
    values = np.asarray(values, float)
    return abs(values.mean()) / (values.std(ddof=1) / np.sqrt(len(values)))


# --- the deal -------------------------------------------------------------------------------------


def suited(ranks):
    """All hands of these ranks, as bits of cards, and whether each is a flush."""
    hands = {}
    for suits in itertools.product(range(4), repeat=5):
        held = sum(1 << card for card in {4 * r + s for r, s in zip(ranks, suits, strict=True)})
        if held.bit_count() == 5:
            hands[held] = len(set(suits)) == 1
    return np.array(list(hands)), np.array(list(hands.values()))


@pytest.mark.parametrize(
    "first, second",
    [
        ((0, 1, 2, 3, 5), (7, 8, 9, 10, 12)),
        ((0, 1, 2, 3, 5), (0, 1, 9, 10, 12)),
        ((0, 0, 2, 3, 5), (0, 1, 9, 10, 12)),
        ((0, 1, 2, 3, 5), (0, 0, 0, 3, 5)),
        ((4, 4, 4, 4, 5), (5, 5, 5, 6, 6)),
    ],
)
def test_pairs_of_hands_are_counted_as_if_dealt(first, second):
    (one, one_flush), (other, other_flush) = suited(first), suited(second)
    apart = (one[:, None] & other[None, :]) == 0
    dealt = [
        int((apart & (one_flush[:, None] == a) & (other_flush[None, :] == b)).sum())
        for a in (False, True)
        for b in (False, True)
    ]
    counts = [np.bincount(ranks, minlength=13) for ranks in (first, second)]
    assert count_flushes(*counts) == tuple(dealt)


def test_the_mean_in_the_file_is_exact():
    value = of_project()
    np.testing.assert_allclose(exact_mean(value.tables), value.mean, rtol=1e-9)


def test_a_mean_of_a_constant_is_the_constant():
    """Only if the numbers of pairs add up to all of them."""
    tables = of_project().tables
    flat = tables._replace(
        table=np.ones_like(tables.table), taken=tables.taken * 0, poker=tables.poker * 0
    )
    np.testing.assert_allclose(exact_mean(flat), 1.0, rtol=1e-12)


def test_the_luck_of_random_deals_has_the_mean_0():
    envs = BatchEnv(POKE, 200_000, copy=False)
    envs.reset([3] * 200_000, {"skip": np.arange(200_000), "dealer": 1})
    luck = Luck(of_project()).of_deals(envs.record, PRICE)
    assert luck.std() > 100
    assert spread(luck) < 4


def test_luck_of_dealers_is_fair():
    luck = Luck(of_project()).of_dealers([0, 1], PRICE)
    assert luck[0] == -luck[1] != 0
    luck = Luck(of_project()).of_dealers([0, 1], (40.0, 70.0))
    assert luck[0] == -luck[1]


# --- draws ----------------------------------------------------------------------------------------


def slow_value(value, hands, dealer, draws):
    """What two hands are worth to the non-dealer, from the file's numbers and no compiled code."""
    first, second = hands[1 - dealer], hands[dealer]
    table = value.tables
    numbers = []
    for hand in (first, second):
        ranks = sorted(card // 4 for card in hand)
        number = sum(comb(rank + place, place + 1) for place, rank in enumerate(ranks))
        numbers.append((int(len({card % 4 for card in hand}) == 1), number))
    moment = draws[1 - dealer]
    if draws[dealer]:
        moment = 2 + 3 * draws[1 - dealer] + draws[dealer]
    a, b = (int(table.kinds[number]) for number in numbers)
    taken = trick_table().cards_taken(*([card // 4 for card in hand] for hand in (first, second)))
    one, other = (cards.evaluate(hand) for hand in (first, second))
    points = poke_v0.Rules().poker_points
    poker = points[one.category] if one > other else -points[other.category] if other > one else 0
    parts = table.table[moment, a, b] + table.taken[moment, taken]
    parts[2] += table.poker[moment] * poker
    return float(parts @ (PRICE, -PRICE, 1.0))


def draws_of(player, seed, matches):
    """Positions before and after every draw of a few deals."""
    envs = BatchEnv(POKE, matches, autoreset=False)
    seen, masks, _ = envs.reset(seed)
    while (envs.record["phase"] == DRAW).any():
        before = envs.record
        actions = player.act_batch(seen, masks, np.arange(matches, dtype=np.uint64))
        drawn = np.flatnonzero((before["phase"] == DRAW) & (actions > 0))
        seen, masks, _, _, _ = envs.step(actions)
        yield from zip(before[drawn], envs.record[drawn], strict=True)


def bits(cards_):
    return {card for card in range(52) if int(cards_) >> card & 1}


@pytest.mark.parametrize("player, changed", [("random", 1), ("random", 2), ("greedy", 3)])
def test_the_mean_of_a_draw_is_that_of_all_cards_that_may_come(player, changed):
    value = of_project()
    checked = 0
    for before, after in draws_of(agents.make(player), 5, 30):
        seat, dealer = int(before["player"]), int(before["dealer"])
        thrown = bits(after["discards"][seat]) - bits(before["discards"][seat])
        if len(thrown) != changed:
            continue
        hands = [set(map(int, hand)) for hand in before["hand"]]
        stock = set(range(52)) - hands[0] - hands[1]
        stock -= bits(before["discards"][0]) | bits(before["discards"][1])
        draws = tuple(map(int, after["draw_count"]))
        kept = hands[seat] - thrown
        values = []
        for came in itertools.combinations(sorted(stock), changed):
            hands[seat] = kept | set(came)
            values.append(slow_value(value, hands, dealer, draws))
        hands[seat] = set(map(int, after["hand"][seat]))
        expected = slow_value(value, hands, dealer, draws) - np.mean(values)
        [luck] = Luck(value).of_draws(
            np.array([before]), np.array([after]), np.array([[PRICE, PRICE]])
        )
        assert luck == pytest.approx(expected if dealer == 1 else -expected, abs=1e-6)
        checked += 1
        if checked == (1 if changed == 3 else 6):
            break
    assert checked


@pytest.mark.parametrize("kept", ["2h 3h 4h 5h", "Th Jh", "9h 9c"])
def test_a_draw_to_a_flush_counts_the_flushes(kept):
    """All that may come is dealt once from a deck that brings it: the luck must add up to 0."""
    held = list(cards.parse_cards(kept))
    changed = 5 - len(held)
    junk = [card for card in cards.parse_cards("Kc 8d 7s") if card not in held][:changed]
    other = list(cards.parse_cards("As Ad 6c 6d Qs"))
    stock = sorted(set(range(52)) - set(held + junk + other))
    every = list(itertools.combinations(stock, changed))
    every = every[:: max(1, len(every) // 12_000)] if changed < 3 else every
    envs = BatchEnv(POKE, len(every), copy=False, autoreset=False)
    decks = [[*held, *junk, *other, *came] for came in every]
    envs.reset(0, {"deck": decks, "dealer": 1})
    before = envs.record
    hand = before["hand"][0, 0].tolist()
    action = sum(1 << hand.index(card) for card in junk)
    envs.step(np.full(len(every), action))
    luck = Luck(of_project()).of_draws(before, envs.record, PRICE)
    assert luck.std() > 1
    assert luck.sum() == pytest.approx(0.0, abs=1e-5 * len(every))


# --- whatever the players do ----------------------------------------------------------------------

PLAYERS = {
    "random": RandomAgent(),
    "lowest": Lowest(),
    "highest": Highest(),
    "peeking": Peeking(),
    "greedy": agents.make("greedy"),
    "heuristic": agents.make("heuristic"),
}
MEETINGS = [("heuristic", "greedy"), ("peeking", "random"), ("lowest", "highest")]


@pytest.mark.parametrize("first, second", MEETINGS)
def test_luck_has_the_mean_0_for_any_players(first, second):
    duel = play(PLAYERS[first], PLAYERS[second], 4000, 11, luck_adjusted=True)
    assert spread(duel.luck.mean(axis=1)) < 4
    assert spread(duel.luck[:, 0]) < 4


@pytest.mark.slow
@pytest.mark.parametrize("first, second", [*MEETINGS[1:], ("peeking", "heuristic")])
def test_margins_less_luck_have_the_mean_of_margins(first, second):
    duel = play(PLAYERS[first], PLAYERS[second], 100_000, 12, luck_adjusted=True)
    assert spread(duel.margins - duel.adjusted_margins) < 4


@pytest.mark.slow
def test_a_million_deals_less_luck_have_the_mean_of_a_million_deals():
    duel = play(PLAYERS["heuristic"], PLAYERS["greedy"], 500_000, 12, luck_adjusted=True)
    assert spread(duel.margins - duel.adjusted_margins) < 2


def test_luck_has_the_mean_0_even_if_both_hands_are_known():
    """Both change cards as long as their own hand is the better one as poker hands."""
    rows = 20_000
    envs = BatchEnv(POKE, rows, autoreset=False, copy=False)
    envs.reset([2] * rows, {"skip": np.arange(rows)})
    tally = Tally(of_project(), envs, PRICE)
    strongest = np.arange(rows)
    while not envs.over.all():
        state = envs.record
        seat = state["player"]
        own, other = (state["hand"][strongest, who].max(axis=1) for who in (seat, 1 - seat))
        last = 31 - (envs.masks[:, ::-1] != 0).argmax(axis=1)
        drawing = state["phase"] == DRAW
        tally.advance(np.where(drawing, np.where(own > other, 0b111, 0), last))
    assert tally.luck.std() > 100
    assert spread(tally.luck) < 4


# --- less spread ----------------------------------------------------------------------------------


@pytest.mark.parametrize("second", ["greedy", "heuristic"])
def test_a_single_deal_less_luck_has_half_the_deviation(second):
    duel = play(PLAYERS["heuristic"], PLAYERS[second], 3000, 13, luck_adjusted=True)
    assert duel.adjusted_points.std() <= 0.5 * duel.points.std()


def test_rubbers_have_less_spread_too():
    duel = play(
        PLAYERS["heuristic"], PLAYERS["greedy"], 150, 14, match="rubber", luck_adjusted=True
    )
    assert duel.adjusted_points.std() < 0.5 * duel.points.std()


# --- in duels -------------------------------------------------------------------------------------


def test_a_player_and_its_copy_differ_by_0_less_luck():
    duel = play(PLAYERS["heuristic"], agents.make("heuristic"), 50, 3, luck_adjusted=True)
    assert duel.luck.any()
    assert (duel.adjusted_margins == 0.0).all()


def test_luck_depends_on_nothing_but_the_pair():
    settings = {"match": "game", "luck_adjusted": True}
    duel = play(PLAYERS["peeking"], PLAYERS["random"], 30, 6, **settings)
    assert same(play(PLAYERS["peeking"], PLAYERS["random"], 30, 6, at_once=7, **settings), duel)
    assert same(play(PLAYERS["random"], PLAYERS["peeking"], 30, 6, **settings).exchanged(), duel)


def test_luck_is_measured_only_when_asked_for():
    duel = play(Lowest(), Highest(), 5)
    assert duel.luck is None
    with pytest.raises(ValueError, match="luck was not measured"):
        _ = duel.adjusted_margins


@pytest.mark.parametrize("rules", ["small", "tiny", poke_v0.Rules(must_beat=False)])
def test_other_rules_have_no_value_function(rules):
    assert for_settings(Settings(POKE, rules=rules)) is None
    assert for_settings(Settings(games.named("pokex"))) is None
    with pytest.raises(ValueError, match=r"luck_adjusted must be False .* not for poke by"):
        play(Lowest(), Highest(), 5, rules=rules, luck_adjusted=True)


def test_a_forfeited_match_keeps_the_luck_it_had():
    duel = play(RandomAgent(), Faulty(raising), 9, 1, luck_adjusted=True)
    assert duel.forfeits
    assert duel.luck.all()
    assert np.isfinite(duel.luck).all()


def luck_of_games(price, rows=60):
    envs = BatchEnv(POKE, rows, match="game", autoreset=False, copy=False)
    seen, masks, _ = envs.reset([4] * rows, {"skip": np.arange(rows)})
    tally = Tally(of_project(), envs, price)
    while not envs.over.all():
        keys = np.arange(rows, dtype=np.uint64)
        going = ~envs.over
        actions = np.full(rows, engine.WAIT)
        actions[going] = RandomAgent().act_batch(seen[going], masks[going], keys[going])
        tally.advance(actions)
        seen, masks, _ = envs.observe()
    return tally.luck


def test_a_price_may_follow_the_score():
    flat = luck_of_games(20.0)
    assert np.array_equal(luck_of_games(lambda states: np.full((len(states), 2), 20.0)), flat)
    by_score = luck_of_games(lambda states: 20.0 + states["below"])
    assert not np.allclose(by_score, flat)


# --- one match ------------------------------------------------------------------------------------


@pytest.mark.parametrize("match, pairs", [("deal", 6), ("rubber", 3)])
def test_the_luck_of_a_match_is_the_sum_of_its_events(match, pairs):
    duel = play(
        PLAYERS["heuristic"], RandomAgent(), pairs, 8, match=match, luck_adjusted=True,
        keep_records=True,
    )  # fmt: skip
    for place, text in enumerate(duel.records):
        record = records.loads(text)
        events = match_luck(record)
        pair, leg = divmod(place, 2)
        total = sum(event.luck for event in events)
        assert duel.luck[pair, leg] != 0
        assert total == pytest.approx(duel.luck[pair, leg] * (1 if leg == 0 else -1), abs=1e-6)
        kinds = [event.kind for event in events]
        assert kinds[:2] == ["dealer", "deal"]
        assert kinds.count("deal") == len(record.deals)
        drawn = [event for event in events if event.kind == "draw"]
        assert all(event.cards and event.seat in (0, 1) for event in drawn)


def test_a_match_of_other_rules_has_no_luck():
    duel = play(Lowest(), Highest(), 1, rules="small", keep_records=True)
    with pytest.raises(ValueError, match="standard rules"):
        match_luck(records.loads(duel.records[0]))


# --- the file -------------------------------------------------------------------------------------


def test_the_digest_changes_with_the_file(tmp_path):
    from safetensors.numpy import load_file, save_file

    path = tmp_path / "value.safetensors"
    shutil.copy(luck_value.FILE, path)
    assert ValueFunction(path).digest == of_project().digest
    assert luck_value.FILE.stat().st_size <= 300_000
    arrays = load_file(path)
    arrays["table"][0, 0, 0, 0] += 1
    save_file(arrays, path)
    assert ValueFunction(path).digest != of_project().digest


@pytest.mark.parametrize("change", ["shorter", "kinds", "missing", "type"])
def test_another_file_is_refused(change, tmp_path):
    from safetensors.numpy import load_file, save

    arrays = load_file(luck_value.FILE)
    if change == "kinds":
        arrays["kinds"][0, 0] = 100
    elif change == "missing":
        del arrays["poker"]
    elif change == "type":
        arrays["taken"] = arrays["taken"].astype(np.int32)
    data = save(arrays)
    path = tmp_path / "value.safetensors"
    path.write_bytes(data[:1000] if change == "shorter" else data)
    with pytest.raises(ValueError, match=r"value function .*value\.safetensors must"):
        ValueFunction(path)


def test_the_same_numbers_make_the_same_file():
    from safetensors.numpy import load_file

    value = of_project()
    assert value.about["players"] == " ".join(fit_luck.Settings.players)
    assert value.about["deals"] == str(fit_luck.Settings.deals)
    for _ in range(5):
        written = fit_luck.as_file(load_file(luck_value.FILE), dict(reversed(value.about.items())))
        assert written == luck_value.FILE.read_bytes()


def test_kinds_are_those_of_the_file():
    assert np.array_equal(fit_luck.hand_kinds(), of_project().tables.kinds)


def test_an_interrupted_fit_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(fit_luck, "_AT_ONCE", 50)
    settings = fit_luck.Settings(deals=300, players=("greedy",), seed=1)
    kinds = fit_luck.hand_kinds()
    whole = fit_luck._gather(settings, kinds, tmp_path / "whole.npz")
    played = []

    def failing(*arguments, real=fit_luck.play):
        played.append(arguments)
        if len(played) == 4:
            raise KeyboardInterrupt
        return real(*arguments)

    monkeypatch.setattr(fit_luck, "play", failing)
    with pytest.raises(KeyboardInterrupt):
        fit_luck._gather(settings, kinds, tmp_path / "part.npz")
    assert np.array_equal(fit_luck._gather(settings, kinds, tmp_path / "part.npz"), whole)
    assert len(played) == 7
    assert whole[0, ..., fit_luck.COUNT].sum() == 300


def test_a_fit_finds_what_deals_bring():
    """Where every position of a moment brings the same, that is what it is worth."""
    kinds = fit_luck.hand_kinds()
    sums = fit_luck.play("greedy", "greedy", 2000, 1, kinds)
    sums[..., fit_luck.PAYOFFS] = 3.0 * sums[..., fit_luck.COUNT]
    fitted = fit_luck.fit(sums)
    there = sums[..., fit_luck.COUNT] > 0
    worth = (fitted["table"][..., None, 0] + fitted["taken"][:, None, None, :, 0]) / 1000
    assert np.abs(worth[there] - 3.0).max() < 0.05


# --- tournaments ----------------------------------------------------------------------------------


def test_the_document_has_margins_less_luck_beside_the_raw_ones():
    result = run_tournament({"a": PLAYERS["heuristic"], "b": Peeking()}, 200, luck_adjusted=True)
    document = json.loads(json.dumps(result.as_dict(), allow_nan=False))
    assert document["configuration"]["value_function"] == of_project().digest
    [line] = document["duels"]
    duel = result.duel(line["first"], line["second"])
    adjusted = line["luck_adjusted"]
    assert adjusted["margin"]["mean"] == pytest.approx(duel.adjusted_margins.mean())
    assert adjusted["variance_ratio"] == pytest.approx(
        duel.adjusted_margins.var() / duel.margins.var()
    )
    assert adjusted["match_deviations"][1] == pytest.approx(duel.adjusted_points.std(ddof=1))
    top = document["ranking"][0]["luck_adjusted"]
    assert top["margin"]["mean"] == adjusted["margin"]["mean"]
    page = report.html(document)
    assert of_project().digest in page
    assert rounding.mean(adjusted["margin"]) in page
    plain = run_tournament({"a": Lowest(), "b": Highest()}, 5).as_dict()
    assert plain["duels"][0]["luck_adjusted"] is None
    assert "Less luck" not in report.html(plain)


def test_luck_is_stored_and_read_back(tmp_path):
    conditions = Conditions.checked(seed=2, luck_adjusted=True)
    meeting = meet([Peeking(), RandomAgent()], 9, conditions)
    store = Store(tmp_path / "results.sqlite")
    store.add(("a", "b"), range(9), meeting, 1.0)
    assert same(store.meeting(("a", "b"), 9, 0), meeting)
    store.close()


def test_results_of_another_value_function_are_not_gone_on_with(monkeypatch):
    plan = tournament.prepare({"a": Lowest(), "b": Highest()}, 5, luck_adjusted=True)
    store = Store()
    plan.play(store=store)
    monkeypatch.setattr(of_project(), "digest", "0" * 64)
    with pytest.raises(ValueError, match="value_function is"):
        plan.play(store=store)


@pytest.mark.slow
def test_workers_measure_the_same_luck():
    field = {"a": Lowest(), "b": Peeking()}
    one = run_tournament(field, 300, luck_adjusted=True)
    two = run_tournament(field, 300, luck_adjusted=True, workers=2)
    assert same(one.duel("a", "b"), two.duel("a", "b"))


def test_the_program_shows_the_column(tmp_path, capsys):
    out = tmp_path / "runs"
    tournament.main(["random", "greedy", "--deals", "30", "--luck-adjusted", "--out", str(out)])
    said = capsys.readouterr().out
    assert "less luck" in said
    assert of_project().digest in said
    document = json.loads((out / "results.json").read_text())
    assert document["configuration"]["luck_adjusted"] is True
    assert "--luck-adjusted" in report.command(document)
