"""Sequential tests: how often they err, that they look where they must, stopping and going on."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy import stats

import agents
from players import Highest, Lowest, Peeking
from poke_env.agent import RandomAgent
from training import sequential, tournament
from training.duplicate import play
from training.sequential import BETTER, INCONCLUSIVE, NOT_BETTER, Test, run
from training.store import Store
from training.tournament import prepare

FIELD = {"peeking": Peeking(), "random": RandomAgent()}
TEST = Test(m0=0.0, m1=40.0, first=50, every=25, most=3000)


def plan(field=FIELD, **options):
    return prepare(field, TEST.most, 3, luck_adjusted=True, **options)


# --- errors ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def measured():
    """Margins of real pairs, raw and less luck, as populations of a mean that is known."""
    duel = play(agents.make("heuristic"), agents.make("never_double"), 4000, 5, luck_adjusted=True)
    return {"raw": duel.margins, "less luck": duel.adjusted_margins}


def simulate(population, mean, test, runs, seed):
    """How often each verdict comes about, and how often the interval misses the mean."""
    rng = np.random.default_rng(seed)
    verdicts = dict.fromkeys((BETTER, NOT_BETTER, INCONCLUSIVE), 0)
    missed = 0
    for _ in range(runs):
        margins = mean + rng.choice(population - population.mean(), test.most)
        outcome = test.outcome(margins)
        verdicts[outcome.verdict] += 1
        missed += not outcome.low <= mean <= outcome.high
    return verdicts, missed


def most_errors(runs, probability):
    """What so many runs do not exceed but once in ten thousand times."""
    return int(stats.binom.ppf(0.9999, runs, probability))


@pytest.mark.parametrize("kind", ["raw", "less luck"])
@pytest.mark.parametrize("alpha, beta", [(0.05, 0.05), (0.1, 0.02)])
def test_errors_are_as_rare_as_stated(measured, kind, alpha, beta):
    runs = 600
    population = measured[kind]
    step = 0.25 * float(population.std())
    test = Test(0.0, step, alpha, beta, first=100, every=20, most=2000)
    level, missed_at_m0 = simulate(population, 0.0, test, runs, 1)
    assert level[BETTER] <= most_errors(runs, alpha)
    assert level[NOT_BETTER] > runs / 2
    ahead, missed_at_m1 = simulate(population, step, test, runs, 2)
    assert ahead[NOT_BETTER] <= most_errors(runs, beta)
    assert ahead[BETTER] > runs / 2
    for missed in (missed_at_m0, missed_at_m1):
        assert missed <= most_errors(runs, 1 - test.level)


def test_looking_often_at_an_ordinary_interval_would_err_more():
    """What the test is there for: the same looks, deciding when Student's interval excludes 0."""
    rng = np.random.default_rng(4)
    wrong = 0
    for _ in range(300):
        margins = rng.normal(size=2000)
        looks = np.arange(100, 2001, 20)
        means = np.cumsum(margins)[looks - 1] / looks
        wrong += bool((means > 1.645 / np.sqrt(looks)).any())
    assert wrong > most_errors(300, 0.05)
    level, _ = simulate(
        rng.normal(size=4000), 0.0, Test(0.0, 0.2, first=100, every=20, most=2000), 300, 5
    )
    assert level[BETTER] <= most_errors(300, 0.05)


def test_fewer_pairs_decide_less_luck(measured):
    test = Test(0.0, 8.0, most=10_000, first=100, every=20)
    needed = {}
    for kind, population in measured.items():
        rng = np.random.default_rng(6)
        centred = population - population.mean() + 8.0
        needed[kind] = np.mean(
            [test.outcome(rng.choice(centred, test.most)).pairs for _ in range(100)]
        )
    assert needed["less luck"] < 0.6 * needed["raw"]


# --- the arithmetic -------------------------------------------------------------------------------


def test_the_log_ratio_is_that_of_two_normal_distributions():
    margins = np.random.default_rng(2).normal(3.0, 10.0, 400)
    outcome = Test(0.0, 4.0, first=400, every=1, most=401).outcome(margins)
    deviation = margins.std(ddof=1)
    ratio = (
        stats.norm.logpdf(margins, 4.0, deviation) - stats.norm.logpdf(margins, 0.0, deviation)
    ).sum()
    assert outcome.pairs == 400
    assert outcome.log_ratio == pytest.approx(ratio)
    assert outcome.mean == pytest.approx(margins.mean())


def test_it_looks_at_its_appointed_numbers_of_pairs_only():
    test = Test(0.0, 1.0, first=10, every=5, most=23)
    margins = np.random.default_rng(1).normal(0.5, 3.0, 23)
    assert test.outcome(margins[:9]).verdict is None
    assert test.outcome(margins[:9]).pairs == 0
    assert test.outcome(margins[:14]) == test.outcome(margins[:10])
    assert test.outcome(margins[:22]).pairs == 20
    last = test.outcome(margins)
    assert (last.pairs, last.verdict) == (23, INCONCLUSIVE)


def test_what_comes_after_the_decision_changes_nothing():
    test = Test(0.0, 1.0, first=10, every=5, most=5000)
    margins = np.random.default_rng(1).normal(1.0, 3.0, 5000)
    outcome = test.outcome(margins)
    assert outcome.verdict == BETTER
    assert outcome.pairs < 1000
    assert test.outcome(margins[: outcome.pairs + 3]) == outcome


@pytest.mark.parametrize("margin", [0.0, 9.1])
def test_margins_without_any_spread_decide_nothing(margin):
    test = Test(0.0, 5.0, most=1000)
    outcome = test.outcome(np.full(300, margin))
    assert (outcome.verdict, outcome.log_ratio) == (None, 0.0)
    assert (outcome.mean, outcome.low, outcome.high) == (margin, -math.inf, math.inf)
    assert test.outcome(np.full(1000, margin)).verdict == INCONCLUSIVE


def test_the_interval_narrows_and_holds_the_level():
    margins = np.random.default_rng(3).normal(0.0, 10.0, 20_000)
    widths = []
    test = Test(-0.1, 0.1, first=100, every=100, most=10**6)
    for pairs, wider in ((100, 5.0), (1000, 2.2), (10_000, 1.7)):
        outcome = test.outcome(margins[:pairs])
        widths.append(outcome.high - outcome.low)
        ordinary = 2 * 1.96 * margins[:pairs].std(ddof=1) / np.sqrt(pairs)
        assert ordinary < widths[-1] < wider * ordinary
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"m0": math.nan}, "m0 must be"),
        ({"m0": 5.0, "m1": 5.0}, "m1 must be a finite number above 5"),
        ({"alpha": 0.0}, "alpha must be"),
        ({"beta": 0.5}, "beta must be below 0.5, got 0.5"),
        ({"level": 1.0}, "level must be between 0 and 1"),
        ({"first": 1}, "first must be"),
        ({"every": 0}, "every must be"),
        ({"most": 100}, "most must be an integer from 200 to 10000000, got 100"),
    ],
)
def test_wrong_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Test(**settings)


@pytest.mark.parametrize("margins", [np.zeros((300, 2)), np.full(300, np.nan), [math.inf] * 300])
def test_margins_that_are_none_decide_nothing(margins):
    with pytest.raises(ValueError, match="margins must be a list of finite numbers"):
        Test().outcome(margins)


# --- playing --------------------------------------------------------------------------------------


def test_it_stops_when_it_knows():
    outcome = run(plan(), TEST)
    duel = play(FIELD["peeking"], FIELD["random"], outcome.pairs, 3, luck_adjusted=True)
    assert outcome == TEST.outcome(duel.adjusted_margins)
    assert outcome.verdict in (BETTER, NOT_BETTER)
    turned = run(plan(dict(reversed(FIELD.items()))), TEST)
    assert turned == TEST.outcome(
        -play(
            FIELD["peeking"], FIELD["random"], turned.pairs, 3, luck_adjusted=True
        ).adjusted_margins
    )
    assert {outcome.verdict, turned.verdict} == {BETTER, NOT_BETTER}


def test_an_interrupted_test_comes_to_the_same_decision(tmp_path):
    whole = run(plan(), TEST)
    store = Store(tmp_path / "results.sqlite")
    seen = []

    def interrupt(done, text):
        seen.append(done)
        if len(seen) < 3:
            raise KeyboardInterrupt

    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run(plan(), TEST, store=store, progress=interrupt)
    assert run(plan(), TEST, store=store, progress=interrupt) == whole
    assert run(plan(), TEST, store=store, progress=None) == whole
    store.close()


@pytest.mark.slow
def test_workers_come_to_the_same_decision():
    assert run(plan(), TEST, workers=2) == run(plan(), TEST)


def test_a_test_that_has_begun_cannot_be_changed():
    store = Store()
    run(plan(), TEST, store=store)
    for changed in (
        Test(m0=-5.0, m1=40.0, first=50, every=25, most=3000),
        Test(m0=0.0, m1=40.0, first=50, every=25, most=4000),
    ):
        with pytest.raises(ValueError, match="sequential is"):
            run(plan(), changed, store=store)
    with pytest.raises(ValueError, match="sequential is"):
        run(plan(dict(reversed(FIELD.items()))), TEST, store=store)
    with pytest.raises(ValueError, match="sequential is None"):
        plan().play(store=store)


def test_what_cannot_be_tested_is_refused():
    three = plan(FIELD | {"lowest": Lowest()})
    with pytest.raises(ValueError, match="agents must be two players, got 3"):
        run(three, TEST)
    with pytest.raises(ValueError, match="luck_adjusted must be False"):
        plan({"lowest": Lowest(), "highest": Highest()}, rules="small")


def test_the_program_says_what_it_promises(tmp_path, capsys):
    out = tmp_path / "test"
    arguments = ["greedy", "random", "--m1", "50", "--luck-adjusted", "--out", str(out)]
    sequential.main([*arguments, "--quick"])
    said = capsys.readouterr().out
    assert "quick: at most 2,000 pairs" in said
    assert "greedy against random: better after" in said
    assert "holds at all looks at once" in said
    document = json.loads((out / "sequential.json").read_text())
    assert document["sequential"] is True
    assert document["verdict"] == BETTER
    assert document["configuration"]["alpha"] == 0.05
    assert document["configuration"]["value_function"]
    assert "probability of at most 0.05" in document["meaning"]
    low, high = document["interval"]
    assert low < document["mean"] < high
    sequential.main([*arguments, "--quick"])
    assert json.loads((out / "sequential.json").read_text()) == document
    with pytest.raises(SystemExit) as refused:
        tournament.main(["greedy", "random", "--luck-adjusted", "--out", str(out)])
    assert refused.value.code == 2
    assert "sequential" in capsys.readouterr().err
