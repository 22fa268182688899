"""Sit down yourself: `python -m training.play --opponent heuristic --match rubber`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

import agents
from agents.human import HumanAgent
from poke_env import poke_v0
from poke_env._checks import check_integer
from poke_env.aec import IllegalActionError
from poke_env.agent import Agent
from poke_env.games.poke import DealResult
from training import cli


@dataclass(frozen=True)
class Settings:
    """A match in the terminal against one of the players."""

    opponent: str = "heuristic"
    """a player's name, a model file, or package.module:factory"""
    match: str = "rubber"
    """deal, game or rubber"""
    rules: str = "standard"
    """standard, small or tiny"""
    seat: Literal["random", "0", "1"] = "random"
    """your seat"""
    seed: int | None = None
    """of cards, seats and the opponent; without it every match is another"""


def play(settings: Settings, human: Agent | None = None) -> float:
    """Play one match and print what can be seen of it.

    Args:
        settings: what is played.
        human: who sits in your seat, by default a person at the terminal.

    Returns:
        Your points minus the opponent's, as the rewards of the match add up.

    Raises:
        ValueError: for an unknown opponent, match, preset or seed.
    """
    seed = np.random.SeedSequence().entropy if settings.seed is None else settings.seed
    seed = check_integer("seed", seed, 0)
    env = poke_v0.raw_env(settings.match, rules=settings.rules)
    opponent = agents.load(settings.opponent, seed)
    person = human if human is not None else HumanAgent()
    chance = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1,)))
    seat = int(chance.integers(2)) if settings.seat == "random" else int(settings.seat)
    you = env.possible_agents[seat]
    env.reset(seed=seed)
    print(f"You are {you}. Seed {seed}. Name cards or slots; ? helps, quit leaves.")
    points = 0.0
    finished = 0
    while not (env.terminations[you] or env.truncations[you]):
        agent = env.agent_selection
        player = person if agent == you else opponent
        action = player.act(env.observe(agent), chance.integers(2**64, dtype=np.uint64))
        if agent != you:
            try:
                print(f"{settings.opponent}: {_public(env.action_to_text(action))}")
            except IllegalActionError as error:
                print(f"{settings.opponent} forfeits: {error}")
                env.forfeit()
                points += env.rewards[you]
                break
        env.step(action)
        points += env.rewards[you]
        deals = env.score_sheet.deals
        if len(deals) > finished:
            finished = len(deals)
            print(_summary(deals[-1], seat))
            if not env.terminations[you]:
                print(_score(env, seat))
    print(f"{_score(env, seat)}\nThe match is over: {points:+.0f} points for you.")
    return points


def _public(text: str) -> str:
    """An action as the other player sees it: the cards of a discard are hidden."""
    words = text.split()
    if words[0] != "discard":
        return text
    count = len(words) - 1
    return f"draws {count} card{'s' if count > 1 else ''}"


def _summary(deal: DealResult, seat: int) -> str:
    own, other = seat, 1 - seat
    return (
        f"\nDeal finished. You took {deal.cards_taken[own]} cards worth {deal.trick_values[own]}, "
        f"the opponent {deal.cards_taken[other]} worth {deal.trick_values[other]}; "
        f"poker {deal.poker[own]} : {deal.poker[other]}, sweep {deal.sweep[own]} : "
        f"{deal.sweep[other]}, bonuses {deal.game_bonus[own] + deal.rubber_bonus[own]} : "
        f"{deal.game_bonus[other] + deal.rubber_bonus[other]}."
    )


def _score(env: poke_v0.raw_env, seat: int) -> str:
    sheet = env.score_sheet
    parts = (
        f"{name} {getattr(sheet, name)[seat]} : {getattr(sheet, name)[1 - seat]}"
        for name in ("above", "below", "games")
    )
    return f"You : opponent, {', '.join(parts)}.\n"


@cli.main
def main(settings: Settings) -> None:
    """Play a match against one of the players in the terminal."""
    play(settings)


if __name__ == "__main__":
    main()
