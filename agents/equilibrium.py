"""The player `equilibrium`: draws by the solved draw phase, tricks like the best trick player.

What to draw is stored: strategies for all hands, at scores that stand for all others. The file is
made by `python -m training.lab make-strategies` and holds, for each representative
score, what to discard with every class of hands at every decision of the draw phase
(`agents.hand_classes`; `training.lab.draws` says how it is solved). It knows the full game alone.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import agents
from agents.hand_classes import CLASSES, classify, hand_classes, in_hand
from agents.heuristic import HeuristicAgent
from agents.poke_reading import DRAW, READING, PokeAgent, Reading, read
from agents.reading import Integers, Mask
from poke_env._files import load_arrays
from poke_env._jit import compiled
from poke_env.agent import KeyedAgent, Masks, Observations
from poke_env.equity import scores
from poke_env.games.poke import AT, MAX_HAND, Rules, equity_place

FILE = Path(__file__).with_name("equilibrium.npz")
FORMAT = 2
ACTIONS = 2**MAX_HAND
"""Size of the mask in the full game, which alone was solved."""

_TARGET = Rules().target


class DrawStrategies(NamedTuple):
    """Strategies for the draw phase; an action is a set of the class's slots, as bits.

    Attributes:
        serves: int64 (2, places), which strategy the non-dealer and the dealer play at each score
            (`poke_env.equity.scores`).
        non_dealer: int8 (M, 4, 134459): first decision, and second after one, two, three cards.
        dealer: int8 (M, 3, 13, 134459), by draws made and the non-dealer's history: no draw, one of
            1, 2, 3 cards, two of 1 and 1, 1 and 2, … 3 and 3.
        about: what they were made from.
    """

    serves: Integers
    non_dealer: npt.NDArray[np.int8]
    dealer: npt.NDArray[np.int8]
    about: dict[str, Any]


@cache
def draw_strategies(path: Path = FILE) -> DrawStrategies:
    """The strategies of a file, read-only.

    Raises:
        ValueError: if it is no file of `make-strategies`, or of another version.
        OSError: if it cannot be read.
    """
    try:
        stored = load_arrays(path.read_bytes(), "about")
        about = json.loads(stored["about"].tobytes())
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']}, known is {FORMAT}")
        arrays = (stored["serves"].astype(np.int64), stored["non_dealer"], stored["dealer"])
        _check(*arrays)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"strategies {str(path)!r} cannot be used: {error}") from error
    for array in arrays:
        array.flags.writeable = False
    return DrawStrategies(*arrays, about)


def _check(
    serves: Integers, non_dealer: npt.NDArray[np.int8], dealer: npt.NDArray[np.int8]
) -> None:
    """Raise ValueError for arrays that compiled code must not be given."""
    count, classes = len(non_dealer), CLASSES[MAX_HAND]
    for name, array, kind, shape in (
        ("serves", serves, np.int64, (2, len(scores(_TARGET)))),
        ("non_dealer", non_dealer, np.int8, (count, 4, classes)),
        ("dealer", dealer, np.int8, (count, 3, 13, classes)),
    ):
        if array.dtype != kind or array.shape != shape:
            raise ValueError(
                f"{name} must be {np.dtype(kind)} {shape}, got {array.dtype} {array.shape}"
            )
    for name, array, end in (
        ("serves", serves, count), ("non_dealer", non_dealer, ACTIONS), ("dealer", dealer, ACTIONS),
    ):  # fmt: skip
        if array.min() < 0 or array.max() >= end:
            raise ValueError(f"{name} must be from 0 to {end - 1}")


class EquilibriumDraws:
    """Decides what to draw by solved strategies at the score; see `PimcAgent`'s argument `draws`.

    Solved for the full game: what other rules forbid is not drawn, and with hands of other sizes
    the heuristic player decides.
    """

    def choose(self, observations: Observations, masks: Masks, keys: Integers) -> Integers:
        """See `KeyedAgent.choose`; every row is a decision of the draw phase."""
        if masks.shape[1] != ACTIONS:
            return HeuristicAgent().choose(observations, masks, keys)
        strategies = draw_strategies()
        return _choose(
            observations, masks, hand_classes().keys[MAX_HAND], strategies.serves,
            strategies.non_dealer, strategies.dealer,
        )  # fmt: skip


class EquilibriumAgent(PokeAgent):
    """Draws by the solved draw phase; tricks are left to another player.

    Args:
        seed: of the player's own stream, used where the caller passes no keys.
        tricks: who plays them, as `agents.load` understands it; one that chooses by keys. With
            hands of other sizes than the full game's `equilibrium_search` plays everything.

    Raises:
        ValueError: if there is no such player.
    """

    def __init__(self, seed: int | None = 0, tricks: str = "apprentice") -> None:
        self._draws = EquilibriumDraws()
        self._tricks, self._small = (_keyed(name) for name in (tricks, "equilibrium_search"))
        super().__init__(seed)

    def choose(self, observations: Observations, masks: Masks, keys: Integers) -> Integers:
        """See `KeyedAgent.choose`."""
        if masks.shape[1] != ACTIONS:
            return self._small.choose(observations, masks, keys)
        drawing = observations[:, AT["phase"] + DRAW] > 0
        chosen = np.empty(len(masks), np.int64)
        for rows, choose in ((drawing, self._draws.choose), (~drawing, self._tricks.choose)):
            if rows.any():
                chosen[rows] = choose(observations[rows], masks[rows], keys[rows])
        return chosen


def _keyed(name: str) -> KeyedAgent:
    player = agents.load(name)
    if not isinstance(player, KeyedAgent):
        raise ValueError(f"tricks must be a player that chooses by keys, {name!r} does not")
    return player


@compiled
def _choose(
    observations: Observations,
    masks: Masks,
    keys: Integers,
    serves: Integers,
    non_dealer: npt.NDArray[np.int8],
    dealer: npt.NDArray[np.int8],
) -> Integers:
    chosen = np.empty(masks.shape[0], np.int64)
    readings = np.zeros(1, READING)
    hand = np.empty(MAX_HAND, np.int8)
    order = np.empty(MAX_HAND, np.int64)
    for i in range(masks.shape[0]):
        reading = readings[0]
        read(observations[i], masks[i], reading)
        for slot in range(MAX_HAND):
            hand[slot] = 4 * reading["ranks"][slot] + reading["suits"][slot]
        kind = classify(hand, keys, order)
        strategy = serves[reading["dealer"], _place(reading)]
        made = reading["draws"][0]
        if reading["dealer"]:
            action = dealer[strategy, made, _history(reading["changed"][1]), kind]
        else:
            action = non_dealer[strategy, _history(reading["changed"][0]), kind]
        chosen[i] = _allowed(in_hand(action, order), masks[i])
    return chosen


@compiled
def _place(reading: Reading) -> int:
    """The score in the equity table, seen by the dealer of the deal going on."""
    own, other = (0, 1) if reading["dealer"] else (1, 0)
    below, games = reading["below"], reading["games"]
    return equity_place(_TARGET, below[own], below[other], games[own], games[other])


@compiled
def _history(changed: Integers) -> int:
    """The number of a non-dealer's draws, int64 (3,): none, 1, 2, 3, 1 and 1, 1 and 2, …"""
    first, second = min(changed[0], 3), min(changed[1], 3)
    return int(3 * first + second if second > 0 else first)


@compiled
def _allowed(action: int, mask: Mask) -> int:
    """The action; standing pat, or what is left, if it is forbidden."""
    if mask[action]:
        return action
    legal = 0
    while not mask[legal]:
        legal += 1
    return legal
