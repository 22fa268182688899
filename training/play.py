"""Sit down yourself: `python -m training.play --game poque --players 4 --opponent heuristic`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

import agents
import poke_env
from agents.human import listen
from poke_env import render
from poke_env._checks import check_integer
from poke_env.aec import CardGameEnv, IllegalActionError
from poke_env.agent import Agent
from poke_env.single import check_seat
from training import cli


@dataclass(frozen=True)
class Settings:
    """A match in the terminal at a table with players of the house."""

    game: str = agents.DEFAULT_GAME
    """which of the games to play"""
    players: int | None = None
    """how many sit at the table, where the game leaves a choice"""
    opponent: tuple[str, ...] = ("heuristic",)
    """who has the other seats: names, model files or package.module:factory, one for all of them or
    one for each in turn after you"""
    match: str | None = None
    """unit of play, such as deal; by default the whole game"""
    rules: str = "standard"
    """preset of the game's rules: standard, small or tiny"""
    seat: int | Literal["random"] = "random"
    """your seat"""
    seed: int | None = None
    """of cards, seats and the other players; without it every match is another"""


def play(settings: Settings, ask: Callable[[str], str] | None = None) -> float:
    """Play one match and print what can be seen of it from your seat.

    Args:
        settings: what is played.
        ask: gives your answers (see `agents.human.listen`), by default a person at the terminal.

    Returns:
        Your points, as the rewards of the match add up.

    Raises:
        ValueError: for an unknown game, opponent, match, preset, seat or seed.
        Quit: when you leave.
    """
    seed = np.random.SeedSequence().entropy if settings.seed is None else settings.seed
    seed = check_integer("seed", seed, 0)
    env: CardGameEnv = poke_env.door(settings.game).raw_env(
        settings.match, rules=settings.rules, players=settings.players
    )
    chance = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    size = env.settings.players
    drawn = check_seat(settings.seat, size)
    seat = int(chance.integers(size)) if drawn == "random" else int(drawn)
    others = _others(env, seat, settings.opponent, seed)
    you = env.possible_agents[seat]
    env.reset(seed=seed)
    print(f"You are {you}. Seed {seed}. Say what you do; ? helps, quit leaves.")
    points = 0.0
    shown = 0
    while not (env.terminations[you] or env.truncations[you]):
        agent = env.agent_selection
        if agent == you:
            print(f"\n{env.picture('ansi', you)}")
            env.step(_choose(env, ask))
        else:
            key = chance.integers(2**64, dtype=np.uint64)
            try:
                env.step(others[agent].act(env.observe(agent), key))
            except IllegalActionError as error:
                print(f"{agent} forfeits: {error}")
                env.forfeit()
        points += env.rewards[you]
        for end in env.finished[shown:]:
            table = env.game.table(end, frozenset([seat]))
            print(f"\nA deal is finished.\n\n{render.show(table, 'ansi')}")
        shown = len(env.finished)
    print(f"\nThe match is over: {points:+g} points for you.")
    return points


def _others(env: CardGameEnv, seat: int, specs: tuple[str, ...], seed: int) -> dict[str, Agent]:
    """The players of the other seats by agent."""
    seats = len(env.possible_agents)
    if len(specs) not in (1, seats - 1):
        raise ValueError(
            f"opponent must be 1 player or {seats - 1}, one for each other seat, got {len(specs)}"
        )
    others = {}
    for after in range(1, seats):
        player = agents.load(specs[(after - 1) % len(specs)], seed, game=env.game)
        player.reset(seed)
        others[env.possible_agents[(seat + after) % seats]] = player
    return others


def _choose(env: CardGameEnv, ask: Callable[[str], str] | None) -> int:
    """What the person whose turn it is wants to do, asked for until it is legal."""
    while True:
        answer = listen("> ", ask)
        if answer.lower() in ("?", "h", "help"):
            legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()
            print(f"Legal: {', '.join(map(env.action_to_text, legal))}")
            continue
        try:
            return env.text_to_action(answer)
        except IllegalActionError:
            print(f'{answer} is not legal now. "?" says what is.')
        except ValueError as error:
            print(f'{error}. "?" says what is legal.')


@cli.main
def main(settings: Settings) -> None:
    """Play a match against players of the house in the terminal."""
    play(settings)


if __name__ == "__main__":
    main()
