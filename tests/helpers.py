"""What the tests of the environments share: playing matches, comparing them, fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from poke_env import poke_v0
from poke_env.equity import EquityTable
from poke_env.games.poke import POKE
from reference.poke_reference import ReferenceRules

ROOT = Path(__file__).resolve().parent.parent

Make = Callable[..., Any]
"""What makes an environment."""
PLAYERS = ("player_0", "player_1")

HOUSE_RULES = poke_v0.Rules(
    must_beat=False,
    trick_unit="lead",
    poker_tie="both",
    ace_low_straight=False,
    final_tie="rubber_winner",
    follow_set_if_held=True,
    reveal_discards=True,
)
"""Every option away from its default."""

RULES = {**POKE.presets, "house": HOUSE_RULES}
CONFIGURATIONS = [
    {"match": match, "reward": reward, "rules": preset}
    for preset in POKE.presets
    for match in POKE.matches
    for reward in POKE.rewards
    if reward != "equity" or preset == "standard"  # the others have no table
]


@cache
def other_table() -> EquityTable:
    """An equity table for the standard rules with other values, good for nothing else."""
    table = EquityTable.load()
    return replace(table, values=table.values + np.arange(table.values.shape[1]) % 7.0)


def payoff(env: poke_v0.raw_env) -> float:
    """Player 0's reward for the finished match, from the pad."""
    sheet = env.score_sheet
    margin = 0.0
    for deal in sheet.deals:
        for pair in (deal.poker, deal.sweep, deal.game_bonus, deal.rubber_bonus):
            margin += pair[0] - pair[1]
        if env.match == "deal" and env.settings.reward != "equity":
            margin += 50 * (deal.below[0] - deal.below[1])
    if env.match == "rubber":
        assert margin == sheet.above[0] - sheet.above[1]
    if env.settings.reward == "equity":
        table = env.settings.equity_table
        return margin + _left(table, sheet) - table.expected((0, 0), (0, 0), sheet.deals[0].dealer)
    return margin if env.settings.reward == "points" else float(np.sign(margin))


def _left(table: EquityTable, sheet: Any) -> float:
    """What player 0 expects of the rest of the rubber after the deals on a pad."""
    if max(sheet.games) == 2:
        return 0.0
    return table.expected(sheet.below, sheet.games, 1 - sheet.dealer)


TABLES: dict[str, tuple[str, dict[str, Any]]] = {
    "poke": ("poke", {"match": "deal"}),
    "poke small": ("poke", {"rules": "small", "match": "game"}),
    "pokex": ("pokex", {"match": "deal"}),
    "pokex small": ("pokex", {"rules": "small", "match": "game"}),
    "poque": ("poque", {"match": "deal", "players": 6}),
    "poque small": ("poque", {"rules": "small", "match": "session", "reward": "win"}),
    "poque chips": ("poque", {"rules": "small", "match": "session"}),
    "poangpoker": ("poangpoker", {"match": "deal", "players": 3}),
    "poangpoker small": ("poangpoker", {"rules": "small", "match": "game", "players": 2}),
}
"""Tables of every game, large and small, in long matches and short ones: the game and the settings
of its environment."""


def name_of(configuration: dict[str, Any]) -> str:
    """A test id for a configuration."""
    return "-".join(map(str, configuration.values()))


def reference_rules(rules: poke_v0.Rules) -> ReferenceRules:
    """The same rules for the reference implementation."""
    return ReferenceRules(**rules.as_dict())


def is_over(env: Any) -> bool:
    """Whether the match has ended, dead steps taken or not."""
    return not env.agents or any(env.terminations.values()) or any(env.truncations.values())


def legal_actions(env: Any) -> list[int]:
    """The legal actions of the player to move."""
    return np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()


def random_action(env: Any, rng: np.random.Generator) -> int:
    """One legal action of the player to move, each equally likely."""
    return int(rng.choice(legal_actions(env)))


def turns(env: Any, rng: np.random.Generator, most: int = 10**9) -> Iterator[Any]:
    """Play on at random, pausing before every step and once after the last."""
    for _ in range(most):
        yield env
        if is_over(env):
            return
        env.step(random_action(env, rng))


def play(env: Any, rng: np.random.Generator, most: int = 10**9) -> Any:
    """Play on at random to the end of the match, or at most so many steps."""
    for _ in turns(env, rng, most):
        pass
    return env


def play_to(env: Any, rng: np.random.Generator, phase: str) -> Any:
    """Play on at random until the player to move is asked to "draw", "lead" or "follow"."""
    for _ in turns(env, rng):
        if poke_v0.decode(env.observe(env.agent_selection))["phase"] == phase:
            return env
    raise AssertionError(f"no phase {phase!r} in this match")


def retire(env: Any) -> dict[str, float]:
    """Take the dead steps of a match that is over; each seat's reward in its last `last()`."""
    fetched = {}
    while env.agents:
        agent = env.agent_selection
        fetched[agent] = env.last()[1]
        env.step(None)
    return fetched


def equal_trees(left: Any, right: Any) -> bool:
    """Whether nested dicts, sequences and arrays hold the same, dtypes included."""
    if isinstance(left, np.ndarray):
        return (
            isinstance(right, np.ndarray)
            and left.dtype == right.dtype
            and np.array_equal(left, right)
        )
    if isinstance(left, dict):
        return left.keys() == right.keys() and all(equal_trees(left[k], right[k]) for k in left)
    if isinstance(left, (list, tuple)):
        return len(left) == len(right) and all(map(equal_trees, left, right))
    return bool(left == right)


def everything(env: Any) -> dict[str, Any]:
    """All that can be read from an environment that was reset, as independent values."""
    base = env.unwrapped
    return {
        "agents": list(env.agents),
        "agent_selection": env.agent_selection,
        "rewards": dict(env.rewards),
        "cumulative": dict(env._cumulative_rewards),
        "terminations": dict(env.terminations),
        "truncations": dict(env.truncations),
        "infos": {
            agent: {
                key: value.copy() if isinstance(value, np.ndarray) else value
                for key, value in info.items()
            }
            for agent, info in env.infos.items()
        },
        "observations": {agent: env.observe(agent) for agent in env.possible_agents},
        "score_sheet": base.score_sheet,
        "record": base.record.tobytes(),
        "state": base.get_state(),
    }


def run_python(
    *arguments: str,
    variables: dict[str, str] | None = None,
    path: Sequence[Path] = (ROOT,),
    code: int = 0,
) -> str:
    """Run Python in a fresh process that imports from `path` first; what it printed.

    Warnings are errors there too.
    """
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(map(str, path)),
        **(variables or {}),
    }
    done = subprocess.run(
        [sys.executable, "-W", "error", *arguments],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
        timeout=600,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout
