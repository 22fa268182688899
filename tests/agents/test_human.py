"""A person at the terminal: what is shown, what is understood, how one leaves."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from agents.human import HumanAgent, Quit
from poke_env import poke_v0

NON_DEALER = "2c 9c 9d Ks Kh"
DEALER = "3c 3d 8h Qs Ah"


def table(*actions: int, dealer: int = 1) -> poke_v0.raw_env:
    env = poke_v0.raw_env(match="deal")
    env.reset(seed=1, options={"deck": f"{NON_DEALER} {DEALER}".split(), "dealer": dealer})
    for action in actions:
        env.step(action)
    return env


def ask(env: poke_v0.raw_env, *answers: str) -> tuple[int, list[str]]:
    """The action of a person who gives these answers, and the prompts he was shown."""
    prompts: list[str] = []
    waiting: Iterator[str] = iter(answers)

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return next(waiting)

    action = HumanAgent(ask=answer).act(env.observe(env.agent_selection), np.uint64(1))
    assert next(waiting, None) is None
    return action, prompts


@pytest.mark.parametrize(
    "answer, action",
    [("pat", 0), ("Pat", 0), ("2c", 1), ("ks kh", 24), ("KH,9D", 12), ("1 2 3", 7), (" 5 ", 16)],
)
def test_cards_slots_and_pat(answer: str, action: int, capsys: pytest.CaptureFixture[str]) -> None:
    chosen, prompts = ask(table(), answer)
    assert chosen == action
    assert prompts == ["change> "]
    assert "\n  slot 1  2  3  4  5\n  hand 2c 9c 9d Kh Ks\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    "answer, message",
    [
        ("", 'name at least one card, or say "pat". "?" helps.'),
        ("Kx", "unknown card 'Kx'"),
        ("As", "you do not hold As; your hand is 2c 9c 9d Kh Ks"),
        ("2c 2c", "2c"),
        ("1 1", "the same card is named twice"),
        ("6", "the slots of your hand are 1 2 3 4 5"),
        ("1 2 3 4", 'you may change at most 3, or say "pat"'),
    ],
)
def test_what_is_not_understood_is_asked_again(
    answer: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    chosen, prompts = ask(table(), answer, "pat")
    assert chosen == 0
    assert len(prompts) == 2
    assert message in capsys.readouterr().out


def test_illegal_leads_and_follows_say_why(capsys: pytest.CaptureFixture[str]) -> None:
    action, prompts = ask(table(0, 0), "pat", "2c 9c", "9c 9d")
    assert (action, prompts[0]) == (6, "lead> ")
    assert "a lead is one or more cards of one rank" in capsys.readouterr().out
    action, prompts = ask(table(0, 0, 1), "8h Qs", "Ah")
    assert (action, prompts[0]) == (16, "follow with> ")
    out = capsys.readouterr().out
    assert "2c was led, to which 5 answers are legal: 3c, 3d, 8h, Qs, Ah" in out


def test_help_lists_what_is_legal(capsys: pytest.CaptureFixture[str]) -> None:
    action, _ = ask(table(0, 0), "?", "1")
    assert action == 1
    out = capsys.readouterr().out
    assert '"quit" leaves the table' in out
    assert "Legal: 2c, 9c, 9d, Kh, Ks, 9c 9d, Kh Ks\n" in out


def test_what_was_played_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    env = table(1, 0, 0)  # draws one card, which doubles what the dealer takes
    hand = poke_v0.decode(env.observe(env.agent_selection))["slots"]
    kings = sum(1 << slot for slot, card in enumerate(hand) if card >> 2 == 11)
    env.step(kings)
    env.step(3)
    assert ask(env, "9c")[0] in (1, 2, 4, 8, 16)
    out = capsys.readouterr().out
    assert "You do not deal; drawn 1, pat : nothing, pat; each card taken is worth 1 : 2" in out
    assert "Your discards: 2c\n" in out
    assert "  you led Kh Ks, opponent followed 3c 3d: you took it\n" in out
    assert "Cards taken 2 : 0\n" in out
    assert "--" in out.splitlines()[-1]
    assert "Kh" not in out.splitlines()[-1]


def test_hidden_cards_are_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    ask(table(1, 0), "pat")
    out = capsys.readouterr().out
    assert "hand 3c 3d 8h Qs Ah" in out
    assert not any(card in out for card in NON_DEALER.split())


def test_a_game_that_reveals_discards_shows_them(capsys: pytest.CaptureFixture[str]) -> None:
    env = poke_v0.raw_env(match="deal", rules=poke_v0.Rules(reveal_discards=True))
    env.reset(seed=1, options={"deck": f"{NON_DEALER} {DEALER}".split(), "dealer": 1})
    env.step(1)
    env.step(0)
    ask(env, "pat")
    assert "The opponent's discards: 2c\n" in capsys.readouterr().out


@pytest.mark.parametrize("answer", ["quit", "QUIT", "exit"])
def test_quit(answer: str) -> None:
    with pytest.raises(Quit, match="left the table"):
        ask(table(), answer)
    assert issubclass(Quit, KeyboardInterrupt)


def test_answers_come_from_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("nonsense\npat\n"))
    env = table()
    observed: Any = env.observe(env.agent_selection)
    person = HumanAgent()
    assert person.act(observed) == 0
    with pytest.raises(Quit, match="the input ended"):
        person.act(observed)
