"""A recorded match analysed: a made mistake is found, luck and totals add up."""

from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from rich.console import Console

from agents.prior import no_prior
from poke_env import poke_v0, records
from poke_env.equity import EquityTable
from training.lab.__main__ import main
from training.lab.analyse import Analyse, analyse, gained_by_deal
from training.lab.judge import Judge, Means
from training.lab.judgement import tricks_by_table
from training.luck import match_luck

# Four aces are dealt to the non-dealer, player_1, who stands; in the second deal player_0 holds
# them, and throws three away.
FIRST = "As Ah Ad Ac Kd Qs Js 9d 9c 4h"
SECOND = "As Ah Ad Ac 2d 8s Js 9d 9c 4h"


def recorded(path=None):
    """Two deals of a rubber in which every other decision is the first legal one."""
    env = poke_v0.raw_env("rubber")
    rest = ["23456789TJQKA"[card // 4] + "cdhs"[card % 4] for card in range(52)]
    decks = [
        [*deck.split(), *(card for card in rest if card not in deck.split())]
        for deck in (FIRST, SECOND)
    ]
    env.reset(seed=1, options={"decks": decks, "dealer": 0})
    log = records.Log("poke", match="rubber", dealer=0)
    log.deal(env.deck)
    deals = 0
    thrown = False
    while deals < 2:
        agent = env.agent_selection
        legal = np.flatnonzero(env.observe(agent)["action_mask"])
        action = int(legal[0])
        if deals == 1 and not thrown:
            assert agent == "player_0"
            action, thrown = env.text_to_action("discard Ac Ad Ah"), True
        log.act(action)
        env.step(action)
        if len(env.score_sheet.deals) > deals:
            deals += 1
            if deals < 2:
                log.deal(env.deck)
    record = log.finish(players=("Ann", "Bob"))
    if path is not None:
        with path.open("w") as file:
            records.dump([record], file)
    return record


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """The analysis, and the folder in which it was written."""
    folder = tmp_path_factory.mktemp("analysis")
    record = recorded(folder / "records.txt")
    command = Analyse(
        folder / "records.txt", means=Means(hands=400), mistakes=3, out=folder / "out", quick=True
    )
    return command.run(Console(file=io.StringIO())), record, folder


def test_a_mistake_that_was_made_is_the_biggest(found):
    analysis, _, _ = found
    biggest = analysis.biggest_mistakes(1)[0]
    assert (biggest.deal, biggest.decision) == (2, 1)
    assert biggest.position.seat == 0
    assert biggest.verdict == "mistake"
    assert biggest.loss > 300
    row = biggest.row()
    assert row["made"] == "discard Ac Ad Ah"
    assert "A" not in row["best"].removeprefix("discard ")
    assert "holds 2d Ac Ad Ah As" in biggest.position.in_words()


def test_decisions_without_a_choice_are_left_out(found):
    analysis, record, _ = found
    assert 0 < len(analysis.decisions) < len(record.actions)
    assert all(len(one.judgement.actions) > 1 for one in analysis.decisions)
    assert all(one.loss >= 0 and one.error >= 0 for one in analysis.decisions)


def test_losses_by_kind_add_up(found):
    analysis, _, _ = found
    rows = analysis.summary()
    for player in range(2):
        parts = [row for row in rows if row["player"] == player and row["kind"] != "all"]
        [whole] = [row for row in rows if row["player"] == player and row["kind"] == "all"]
        for name in ("decisions", "lost", "mistakes"):
            assert sum(row[name] for row in parts) == pytest.approx(whole[name])
        assert sum(row["error"] ** 2 for row in parts) == pytest.approx(whole["error"] ** 2)
        own = [one.loss for one in analysis.decisions if one.position.seat == player]
        assert whole["lost"] == pytest.approx(sum(own))


def test_totals_add_up(found):
    analysis, record, _ = found
    whole = analysis.totals()
    lost = {row["player"]: row["lost"] for row in analysis.summary() if row["kind"] == "all"}
    assert whole.skill == pytest.approx(lost[1] - lost[0])
    assert whole.skill < -300  # the aces thrown away by player_0
    assert whole.luck == pytest.approx(sum(chance.luck for chance in match_luck(record)))
    assert whole.skill + whole.luck + whole.rest == pytest.approx(whole.gained)
    assert whole.adjusted == pytest.approx(whole.gained - whole.luck)
    first = analysis.totals(1)
    assert first.luck == pytest.approx(
        sum(chance.luck for chance in match_luck(record) if chance.deal == 0)
    )
    assert analysis.totals(0) == (0, 0, 0, 0, 0)


def test_gains_are_what_equity_pays(found):
    """The rewards of the same match, and the first dealer's draw."""
    _, record, _ = found
    table = EquityTable.load()
    env = poke_v0.raw_env("rubber", reward="equity")
    env.reset(options=record.options())
    paid = []
    for action in record.actions:
        env.step(action)
        if env.rewards["player_0"]:
            paid.append(env.rewards["player_0"])
    start = [table.expected((0, 0), (0, 0), dealer) for dealer in range(2)]
    paid[0] += start[record.dealer] - np.mean(start)
    assert gained_by_deal(record, table) == pytest.approx(paid)


def test_files_hold_what_was_found(found):
    analysis, _, folder = found
    with (folder / "out.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(analysis.decisions)
    losses = [float(row["loss"]) for row in rows]
    assert losses == pytest.approx([one.loss for one in analysis.decisions])
    document = json.loads((folder / "out.json").read_text())
    assert document["players"] == ["Ann", "Bob"]
    assert document["ending"] == "unfinished"
    totals = document["totals_of_player_0"]
    assert totals["gained"] == pytest.approx(totals["skill"] + totals["luck"] + totals["rest"])
    assert len(document["chances"]) == len(analysis.chances)
    assert document["biggest_mistakes"][0]["made"] == "discard Ac Ad Ah"
    assert "player_0" in document["biggest_mistakes"][0]["picture"]
    assert (folder / "out.png").read_bytes().startswith(b"\x89PNG")


def test_more_hands_make_smaller_errors(found):
    analysis, _, _ = found
    leads = [one for one in analysis.decisions if one.position.kind == "lead"]
    lead = max(leads, key=lambda one: one.judgement.expected_error.max())
    worth = Judge(Means()).worth
    errors = [
        tricks_by_table(lead.position, worth, no_prior(), hands, np.random.default_rng(hands))
        .expected_error.max()
        for hands in (50, 800)
    ]  # fmt: skip
    assert 0 < errors[1] < errors[0] / 2


def test_the_command_is_known(tmp_path, capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["analyse", str(tmp_path / "none.txt"), "--out", str(tmp_path / "out")])
    assert stopped.value.code == 2
    assert "No such file" in capsys.readouterr().err


def test_a_record_without_deals_is_refused():
    empty = records.Log("poke").finish()
    with pytest.raises(ValueError, match="record must have a deal, it has none"):
        analyse(empty, Judge(Means()))


def test_other_rules_are_refused():
    log = records.Log("poke", "tiny", match="deal", dealer=1)
    log.deal("Qc Qd Kc Kd Ac Ad")
    with pytest.raises(ValueError, match="standard rules"):
        analyse(log.finish(), Judge(Means()))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mistakes": -1}, "mistakes must be an integer of at least 0, got -1"),
        ({"price": -1.0}, "price must be a finite number of at least 0, got -1.0"),
        ({"match": 2}, "fewer than 2"),
    ],
)
def test_bad_arguments_are_refused(tmp_path, arguments, message):
    path = tmp_path / "records.txt"
    recorded(path)
    command = Analyse(path, out=tmp_path / "out", **arguments)
    with pytest.raises(ValueError, match=message):
        command.run(Console())
