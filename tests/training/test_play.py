"""A person at the table, in the terminal, in every game."""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from typing import Any

import pytest

from agents.human import Quit
from poke_env import games, poke_v0
from poke_env.agent import RandomAgent
from training.play import Settings, main, play

PLAYERS = {"poke": None, "pokex": None, "poque": 3, "poangpoker": 3}
"""Every game, and how many sit at the table where it leaves a choice."""

Capture = pytest.CaptureFixture[str]


class Broken(RandomAgent):
    """Plays what nobody may."""

    def choose(self, observations: Any, masks: Any, keys: Any) -> Any:
        return super().choose(observations, masks, keys) + 1000


class Anybody:
    """A person who asks what is legal and does one of it, and keeps what was printed."""

    def __init__(self, capsys: Capture, seed: int = 1) -> None:
        self.capsys, self.chance = capsys, random.Random(seed)
        self.asked = False
        self.text = ""

    def __call__(self, prompt: str) -> str:
        said = self.read()
        self.asked = not self.asked
        if self.asked:
            return "?"
        [legal] = re.findall("^Legal: (.*)$", said, re.MULTILINE)
        return self.chance.choice(legal.split(", "))

    def read(self) -> str:
        said = self.capsys.readouterr().out
        self.text += said
        return said


@pytest.mark.parametrize("match", [None, "deal"])
@pytest.mark.parametrize("game", PLAYERS)
def test_a_match_of_every_game_is_played_to_its_end(
    game: str, match: str | None, capsys: Capture
) -> None:
    person = Anybody(capsys)
    settings = Settings(
        game=game, players=PLAYERS[game], opponent=("greedy",), match=match, rules="small", seat=1,
        seed=3,
    )  # fmt: skip
    points = play(settings, person)
    person.read()
    assert person.text.startswith("You are player_1. Seed 3.")
    assert f" ({match or games.named(game).matches[0]}): " in person.text
    assert person.text.endswith(f"The match is over: {points:+g} points for you.\n")
    finished = person.text.count("A deal is finished.")
    assert finished == 1 if match == "deal" else finished > 1
    hidden = {line.split()[0] for line in person.text.splitlines() if "??" in line}
    assert "player_0" in hidden
    assert "player_1" not in hidden


def test_the_same_seed_deals_the_same_match(capsys: Capture) -> None:
    settings = Settings(game="poangpoker", players=3, rules="tiny", match="deal", seed=8)
    texts = []
    for _ in range(2):
        person = Anybody(capsys)
        play(settings, person)
        person.read()
        texts.append(person.text)
    assert texts[0] == texts[1]


def answers(*lines: str) -> Callable[[str], str]:
    waiting = iter(lines)
    return lambda prompt: next(waiting)


def test_what_is_not_understood_or_not_legal_is_asked_again(capsys: Capture) -> None:
    settings = Settings(game="pokex", seed=3, seat=2, opponent=("greedy", "greedy", "heuristic"))
    with pytest.raises(Quit, match="left the table"):
        play(settings, answers("dance", "bid 1", "quit"))
    said = capsys.readouterr().out
    assert "action 'dance' is not understood; say 'pass' or 'bid' and a number" in said
    assert 'bid 1 is not legal now. "?" says what is.' in said


def test_a_player_who_does_what_nobody_may_forfeits(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.greedy.GreedyAgent", Broken)
    settings = Settings(opponent=("greedy",), match="deal", seed=3, seat=0)
    assert play(settings, answers("pat")) == poke_v0.raw_env().settings.illegal_penalty
    assert "player_1 forfeits: action 10" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--game", "bridge"], "game must be one of 'poke', 'pokex', 'poque', 'poangpoker'"),
        (["--game", "poque", "--players", "9"], "players must be an integer from 2 to 8, got 9"),
        (["--game", "pokex", "--opponent", "pimc"], "agent must be a name (random, greedy, heur"),
        (["--opponent", "greedy", "greedy"], "opponent must be 1 player or 1, one for each other"),
        (["--seat", "2"], "seat must be 'random' or one of [0, 1], got 2"),
        (["--match", "session"], "match must be one of 'rubber', 'game', 'deal', got 'session'"),
    ],
)
def test_what_cannot_be_played_is_refused_in_a_sentence(
    arguments: list[str], message: str, capsys: Capture
) -> None:
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert f"error: {message}" in capsys.readouterr().err
