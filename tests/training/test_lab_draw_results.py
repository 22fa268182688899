"""What is computed with the draw phase's solver, against small computations of its own."""

from __future__ import annotations

import csv
import io
import itertools
import json

import numpy as np
import pytest
from rich.console import Console

from agents.hand_classes import CLASSES, NUM_HANDS, TYPES, classify
from training.lab import __main__ as lab
from training.lab import evidence, gains, rights, robustness
from training.lab.cases import solve_cases
from training.lab.draws import (
    DRAW_CHOICES,
    HISTORIES,
    DrawModel,
    balanced_model,
    check_decision,
    linear_payoffs,
)
from training.lab.evidence import (
    Mixture,
    against_real_cards,
    measures,
    mixing,
    outcomes_of,
    valued_by_models,
)
from training.lab.gains import Decision, as_csv, by_kind, draw_gains
from training.lab.real_cards import play_out
from training.lab.rights import FREE, RIGHTS, differences, limited, value_with
from training.lab.robustness import compare, drawing, rows_of, tie_broken
from training.lab.solve_draws import Draws, curve, draw_shares, solve_draws
from training.lab.solve_rubber import DECISIONS, KINDS

PRICE = 25.0


@pytest.fixture(scope="module")
def model():
    return DrawModel()


@pytest.fixture(scope="module")
def payoffs():
    return linear_payoffs(PRICE, PRICE)


@pytest.fixture(scope="module")
def mixture():
    return Mixture(CLASSES[5])


@pytest.fixture(scope="module")
def solved(model, payoffs, mixture):
    return solve_draws(model, payoffs, 3.0, averages=True, answered=mixture.add)


@pytest.fixture(scope="module")
def first_gains(model, payoffs, solved):
    return draw_gains(model, solved.equilibrium, payoffs, Decision(False, (), 0))


# --- every draw of every hand ---------------------------------------------------------------------


def test_best_choices_are_worth_what_the_best_answer_brings(model, payoffs, solved, first_gains):
    best = first_gains.values.max(axis=1)
    game = payoffs - solved.equilibrium.value
    response = model.non_dealer_response(solved.equilibrium.dealer, game)
    assert model.deal @ best == pytest.approx(response.value + solved.equilibrium.value)
    chosen = DRAW_CHOICES[first_gains.best]
    assert (chosen == response.actions[:, 0]).mean() > 0.999  # but for ties


def test_a_dealers_choices_are_worth_what_his_best_answer_brings(model, payoffs, solved):
    """After one history, as if the non-dealer chose no other."""
    lane = HISTORIES.index((3,))
    reach = np.zeros_like(solved.equilibrium.non_dealer)
    reach[:, lane] = solved.equilibrium.non_dealer[:, lane]
    value = solved.equilibrium.value
    gains = draw_gains(model, solved.equilibrium, payoffs, Decision(True, (3,), 0))
    response = model.dealer_response(reach, payoffs - value)
    brings = model.deal @ gains.values.max(axis=1) + value
    assert reach.sum() * brings == pytest.approx(response.value)
    chosen = DRAW_CHOICES[gains.best]
    assert (chosen == response.actions[0, :, lane]).mean() > 0.999  # but for ties


def test_values_of_last_draws_are_means_over_what_can_come(payoffs, solved):
    """A dealer's third draw in the plain model, by enumeration of the cards."""
    plain = DrawModel(gone=False)
    history = (3,)
    lane = HISTORIES.index(history)
    reach = solved.equilibrium.non_dealer
    values = plain.draw_values(True, reach, payoffs, history, 2)
    final = plain.dealer_values(reach, payoffs)[:, :, lane] / reach[:, lane].sum()
    order = np.zeros(5, np.int64)
    for number in np.random.default_rng(1).choice(CLASSES[5], 3, replace=False):
        hand = plain.hands.cards[number]
        rest = [card for card in range(52) if card not in hand]
        assert values[number, 0] == pytest.approx(final[plain.hands.type[number], 2])
        for column in (1, 9, 20):
            slots = int(DRAW_CHOICES[column])
            kept = [int(hand[slot]) for slot in range(5) if not slots >> slot & 1]
            drawn = []
            for cards in itertools.combinations(rest, 5 - len(kept)):
                made = classify(np.array([*kept, *cards], np.int8), plain.hands.keys[5], order)
                drawn.append(final[plain.hands.type[made], 3])
            assert values[number, column] == pytest.approx(np.mean(drawn))


def test_gains_by_class_and_by_kind_speak_of_all_hands(model, first_gains):
    rows = by_kind(model.hands, first_gains)
    assert sum(row["hands"] for row in rows) == NUM_HANDS
    drawing_hands = sum(row["hands"] * row["draw"] for row in rows)
    share = model.deal @ (first_gains.best > 0)
    assert drawing_hands / NUM_HANDS == pytest.approx(share)
    lines = list(csv.DictReader(io.StringIO(as_csv(model.hands, first_gains))))
    assert len(lines) == CLASSES[5]
    for line in lines[::20_000]:
        cards = line["hand"].split()
        assert len(cards) == 5
        draws = line["best"].startswith("discard ")
        assert draws or line["best"] == "stand pat"
        assert draws == (float(line["gain_of_drawing"]) > 0)
        assert set(line["best"].split()[1:] if draws else []) <= set(cards)
        assert float(line["second_loses"]) >= 0
    flush = next(line for line in lines if line["hand"] == "Tc Jc Qc Kc Ac")
    assert flush["best"] == "stand pat"
    assert flush["hands"] == "4"


@pytest.mark.parametrize(
    ("decision", "message"),
    [
        ((False, (4,), 1), "history must be the cards changed in up to two draws"),
        ((False, (3,), 0), r"draws must be 1 for the non-dealer after \(3,\), got 0"),
        ((False, (3, 1), 2), "draws must be an integer from 0 to 1, got 2"),
        ((True, (), 3), "draws must be an integer from 0 to 2, got 3"),
    ],
)
def test_decisions_that_do_not_exist_are_refused(decision, message):
    with pytest.raises(ValueError, match=message):
        check_decision(*decision)


# --- the solution, its mixtures and real cards ----------------------------------------------------


def test_curve_and_shares_are_those_of_the_solution(solved):
    rows = curve(solved)
    assert [row["of the averages"] for row in rows] == [
        gaps.average / 2 for gaps in solved.equilibrium.curve
    ]
    assert rows[-1]["exploitability"] == solved.equilibrium.exploitability <= 3.0
    assert np.all(np.diff([row["seconds"] for row in rows]) > 0)
    shares = draw_shares(solved.outcomes)
    for seat in ("non-dealer", "dealer"):
        assert sum(shares[name] for name in shares if name.startswith(seat)) == pytest.approx(1)
    stands = solved.equilibrium.non_dealer[:, 0].sum()
    assert shares["non-dealer draws 0"] == pytest.approx(stands, abs=1e-3)


def test_final_hands_of_given_actions(model):
    """Who always stands ends as he was dealt, whatever the corrections."""
    dealt = np.bincount(model.hands.type, model.deal, TYPES)
    stand = np.zeros((CLASSES[5], 4), np.int8)
    assert model.non_dealer_reach(stand)[:, 0] == pytest.approx(dealt)
    all_draw = model.non_dealer_reach(stand + np.int8(0b00111))
    assert all_draw[:, HISTORIES.index((3, 3))].sum() == pytest.approx(1)


def test_hands_that_mix_are_nearly_indifferent(model, payoffs, solved, mixture, monkeypatch):
    monkeypatch.setattr(evidence, "SEEN", 0.5)  # one history of the dealer's is enough
    share = mixture.non_dealer / mixture.weight
    # The average strategy's final hands tell the same of it.
    assert model.deal @ share == pytest.approx(1 - solved.equilibrium.averages[0][:, 0].sum())
    rows = mixing(model, payoffs, solved.equilibrium, mixture)
    assert rows[0]["decision"] == "non-dealer, draw 1 after no draw"
    assert 0 < rows[0]["hands that mix"] < 0.2
    assert rows[0]["reached"] == 1
    assert [0.5 < row["reached"] <= 1 for row in rows[1:]] == [True]
    assert rows[0]["their gap, mean"] < rows[0]["gap of all hands, mean"] / 3


def test_models_are_set_beside_real_cards(model, payoffs, solved):
    pair = solved.equilibrium.strategies
    models = valued_by_models(model, pair, balanced=False)
    assert list(models) == ["model", "without gone"]
    for outcomes in models.values():
        assert outcomes.sum() == pytest.approx(1)
    played = play_out(model, solved.equilibrium, 40_000, seed=3)
    rows = {row["measure"]: row for row in against_real_cards(models, played, payoffs)}
    # The first draw is made with the hand as dealt: there the model simplifies nothing.
    doubles = rows["non-dealer doubles"]
    assert abs(doubles["real cards"] - doubles["model"]) < 4 * doubles["standard error"]
    exact = model.deal @ (pair[0].actions[:, 0] != 0)
    assert doubles["model"] == pytest.approx(exact, abs=1e-3)
    value = rows["value to the non-dealer"]
    assert abs(value["real cards"] - value["model"]) < 15
    assert value["model"] != pytest.approx(value["without gone"], abs=0.1)
    assert rows["non-dealer redoubles"]["real cards"] < doubles["real cards"]


def test_measures_count_outcomes(payoffs):
    shares = {name: numbers[1, 2, 5, 9 - 3] for name, numbers in measures(payoffs).items()}
    assert shares == {
        "value to the non-dealer": payoffs[1, 2, 5, 6],
        "cards of the non-dealer": 5,
        "sweeps of the non-dealer": 1,
        "sweeps of the dealer": 0,
        "better hand with the non-dealer": 0,
        "better hand with the dealer": 1,
        "non-dealer doubles": 1,
        "non-dealer redoubles": 0,
        "dealer doubles": 1,
        "dealer redoubles": 0,
    }


def test_outcomes_of_strategies_that_stand(model, payoffs):
    pat = model.non_dealer_response(np.zeros((TYPES, 4, 16)), payoffs)
    reply = model.dealer_response(np.zeros((TYPES, 16)), payoffs)
    pat.actions[:], reply.actions[:] = 0, 0
    outcomes = outcomes_of(model, (pat, reply))
    assert outcomes[0, 0].sum() == pytest.approx(1)


# --- rights ---------------------------------------------------------------------------------------


def test_rights_change_nothing_but_what_they_forbid(payoffs):
    assert (limited(payoffs, *RIGHTS[FREE]) == payoffs).all()
    none = limited(payoffs, *RIGHTS["non-dealer none, dealer none"])
    assert (none[0, 0] == payoffs[0, 0]).all()
    assert none[1:, 0].max() < payoffs.min() - np.abs(payoffs).max()
    assert none[0, 1:].min() > payoffs.max() + np.abs(payoffs).max()


def test_a_deal_without_draws_is_worth_what_dealt_hands_are(model, payoffs):
    rights = RIGHTS["non-dealer none, dealer none"]
    case = value_with(model, payoffs, rights, tolerance=1.0)
    dealt = np.bincount(model.hands.type, model.deal, TYPES)
    own, other = np.zeros((TYPES, 16)), np.zeros((TYPES, 4, 16))
    own[:, 0], other[:, 0, 0] = dealt, dealt
    assert case["value"] == pytest.approx((model.outcomes(own, other) * payoffs).sum(), abs=1e-3)
    assert case["non-dealer draws 0"] == pytest.approx(1)
    assert case["dealer draws 0"] == pytest.approx(1)


def test_more_rights_do_no_harm(model, payoffs, solved):
    """To have more strategies cannot hurt in a game in which one's loss is the other's gain."""
    name = "non-dealer all, dealer one"
    case = value_with(model, payoffs, RIGHTS[name], tolerance=3.0)
    assert case["dealer draws 2"] + case["dealer draws 3"] == pytest.approx(0)
    error = case["exploitability"] + solved.equilibrium.exploitability
    assert case["value"] >= solved.equilibrium.value - error
    free = {"value": solved.equilibrium.value, "exploitability": 0.0}
    [row] = differences({FREE: free, name: case})
    assert row["points"] == free["value"] - case["value"]
    assert row["right"] == "the dealer's doubles, to the non-dealer"


@pytest.mark.slow
@pytest.mark.parametrize("name", ["non-dealer must double", "both must redouble"])
def test_who_must_draw_does_where_pairs_of_hands_are_weighed(payoffs, name):
    """With weights, what forbids a draw once drowned what the deal itself brings."""
    least = RIGHTS[name]
    model = balanced_model()
    case = value_with(model, payoffs, least, tolerance=3.0)
    assert case["exploitability"] <= 3.0
    assert abs(case["value"]) < np.abs(payoffs).max()
    for seat, (required, _) in zip(("non-dealer", "dealer"), least, strict=True):
        assert all(case[f"{seat} draws {number}"] == 0 for number in range(required))
    dearer = value_with(model, payoffs + 1000.0, least, tolerance=3.0)
    error = case["exploitability"] + dearer["exploitability"] + 0.1
    assert dearer["value"] - case["value"] == pytest.approx(1000.0, abs=error)


# --- robustness -----------------------------------------------------------------------------------


def test_other_ways_to_the_same_game_are_no_other_game(model, payoffs, solved):
    reference = solved.equilibrium
    case = compare(model, tie_broken(payoffs), reference, 3.0, reference.strategies)
    assert case["value"] == pytest.approx(reference.value, abs=0.01)
    assert case["reference_loses"] == pytest.approx(reference.exploitability, abs=0.01)
    other = compare(model, linear_payoffs(100, 100), reference, 20.0)
    assert other["reference_loses"] > 5
    sizes = np.ones(KINDS)
    rows = rows_of({"same": case, "dearer": other}, sizes)
    assert rows[0]["most otherwise"] == 0
    assert rows[1]["most otherwise"] > 0.05
    assert rows[1]["where"] in DECISIONS
    assert rows[1]["change"] == other["value"] - case["value"]
    # Dear doubles are bought more seldom.
    assert rows[1]["non-dealer doubles"] < rows[0]["non-dealer doubles"]


def test_ties_are_broken_by_next_to_nothing(payoffs):
    change = tie_broken(payoffs, 0.5) - payoffs
    assert change[2, 3] == pytest.approx(0.5 * (2 - 3))
    assert change[1, 0] == pytest.approx(0.5)
    assert drawing(np.full((2, KINDS), 0.25), np.ones(KINDS)) == pytest.approx([0.25, 0.25])


# --- cases that are kept --------------------------------------------------------------------------


def test_cases_that_are_done_are_not_made_again(tmp_path):
    console = Console(file=io.StringIO())
    path = tmp_path / "work.json"
    made = []

    def maker(name, fails=False):
        def make():
            if fails:
                raise KeyboardInterrupt
            made.append(name)
            return {"value": len(made)}

        return make

    with pytest.raises(KeyboardInterrupt):
        solve_cases({"a": maker("a"), "b": maker("b", fails=True)}, path, {"x": 1}, console)
    found = solve_cases({"a": maker("a"), "b": maker("b")}, path, {"x": 1}, console)
    assert made == ["a", "b"]
    assert found == {"a": {"value": 1}, "b": {"value": 2}}
    with pytest.raises(ValueError, match="is from other settings or sources"):
        solve_cases({"a": maker("a")}, path, {"x": 2}, console)
    path.write_text("{")
    with pytest.raises(ValueError, match="is damaged, delete it"):
        solve_cases({"a": maker("a")}, path, {"x": 1}, console)


# --- commands -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_command_draws_writes_its_curve(tmp_path):
    from training.lab.stakes import Stakes

    console = Console(file=io.StringIO(), width=120)
    Draws(stakes=Stakes(price=PRICE), out=tmp_path / "draws", quick=True).run(console)
    assert "--quick" in console.file.getvalue()
    document = json.loads((tmp_path / "draws.json").read_text())
    assert document["exploitability"] <= 2
    assert document["rows"][-1]["exploitability"] == document["exploitability"]
    assert (tmp_path / "draws.png").stat().st_size > 1000


COMMANDS = {"gains": gains, "evidence": evidence, "rights": rights, "robustness": robustness}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_quick_commands_say_so_and_write_table_numbers_and_picture(
    command, model, tmp_path, monkeypatch
):
    monkeypatch.setattr(COMMANDS[command], "model_for", lambda *_, **__: model)
    out = tmp_path / "made"
    lab.main([command, "--quick", "--price", "25", "--out", str(out)])
    document = json.loads(out.with_suffix(".json").read_text())
    assert document["quick"]
    assert document["rows"]
    with out.with_suffix(".csv").open(encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(document["rows"])
    assert out.with_suffix(".png").stat().st_size > 1000


@pytest.mark.parametrize(
    "command, message",
    [
        (["gains", "--made", "1"], "made must be 0 as history says, got 1"),
        (["gains", "--history", "4"], "history must be the cards changed"),
        (["evidence", "--seed", "-1"], "seed must be an integer of at least 0, got -1"),
        (["evidence", "--deals", "0"], "deals must be an integer of at least 1, got 0"),
        (["rights", "--tolerance", "0"], "tolerance must be a finite number above 0"),
        (["rights", "--below", "20", "3"], "below must be two numbers under 20"),
        (["robustness", "--other-tricks", "nowhere.npz"], "nowhere.npz"),
    ],
)
def test_wrong_arguments_are_refused_before_any_work(
    command, message, tmp_path, monkeypatch, capsys
):
    for module in COMMANDS.values():
        monkeypatch.setattr(module, "model_for", lambda *_: pytest.fail("it began to work"))
    with pytest.raises(SystemExit) as ended:
        lab.main([*command, "--out", str(tmp_path / "made")])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err
