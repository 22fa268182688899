"""What points below the line are worth: the chance to win the game, in points above the line.

A point below the line has no constant price. Near the target it may decide the game, far from it
or once the game is decided it is worth little. The worth of a deal's outcome is therefore read
from a table of the chance to win the game at every score, solved backwards under the assumption
that both players are equally strong and that most deals are played without a double.

With the equity table of the full game, what the score after the deal is worth until the rubber ends
can be read off instead (`worth_in_rubber`).

The target is not part of an observation; it is taken to be four times the hand size, as in all
presets. Game and rubber points are those of the full game.
"""

from __future__ import annotations

from math import comb

import numpy as np

from agents.poke_reading import Reading
from agents.reading import Floats
from poke_env._jit import compiled
from poke_env.games.poke import MAX_HAND, Rules, equity_place

_RULES = Rules()
_SWEEP = float(_RULES.sweep_points)

_TRICK_VALUES = ((1, 1, 0.6), (1, 2, 0.2), (2, 1, 0.2))
"""Values of the two players' cards in a deal, and how often they occur."""


def _win_chances(size: int) -> Floats:
    """Chance to win the game at each score under the target, float64 (target, target)."""
    target = 4 * size
    chances = np.zeros((target, target))
    splits = [comb(size, cards) / 2**size for cards in range(size + 1)]
    for played in range(2 * target - 2, -1, -1):
        for own in range(max(0, played - target + 1), min(played, target - 1) + 1):
            other = played - own
            for own_value, other_value, often in _TRICK_VALUES:
                for cards, chance in enumerate(splits):
                    after = own + cards * own_value, other + (size - cards) * other_value
                    chances[own, other] += often * chance * _chance_at(chances, *after)
    return chances


def _chance_at(chances: Floats, own: int, other: int) -> float:
    if max(own, other) < len(chances):
        return float(chances[own, other])
    return 0.5 if own == other else float(own > other)


_CHANCES = np.zeros((MAX_HAND + 1, 4 * MAX_HAND, 4 * MAX_HAND))
for _size in range(2, MAX_HAND + 1):
    _CHANCES[_size, : 4 * _size, : 4 * _size] = _win_chances(_size)


def _swings() -> Floats:
    """Points between winning and losing the game by games won, float64 (2, 2)."""
    clear, narrow = _RULES.rubber_points
    # The expected rubber points after a game, the games to come being even.
    after = {(2, 0): clear, (2, 1): narrow, (1, 1): 0.0, (1, 0): clear / 2}
    after |= {(other, own): -points for (own, other), points in after.items()}
    swings = np.zeros((2, 2))
    for own in range(2):
        for other in range(2):
            swings[own, other] = (
                2 * _RULES.game_points + after[own + 1, other] - after[own, other + 1]
            )
    return swings


_SWINGS = _swings()


@compiled
def _win_chance(size: int, own: int, other: int) -> float:
    """The chance to win the game at a score, at or above the target too."""
    target = 4 * size
    if own < target and other < target:
        return float(_CHANCES[size, own, other])
    if own == other:
        return 0.5
    return 1.0 if own > other else 0.0


@compiled
def worth_of_cards(reading: Reading, own_value: int, other_value: int) -> Floats:
    """What it is worth to end the deal with 0 … 5 cards taken, float64 (6,), sweeps included.

    Args:
        reading: score and hand size.
        own_value: value of each card that the player takes.
        other_value: value of each card that the opponent takes.

    Returns:
        Points above the line, up to a constant that does not depend on the cards.
    """
    size = reading["size"]
    own = reading["below"][0]
    other = reading["below"][1]
    # A score that cannot stand under the target assumed is read as one point short of it.
    excess = max(own, other) - (4 * size - 1)
    if own != other and excess > 0:
        own = max(own - excess, 0)
        other = max(other - excess, 0)
    swing = _SWINGS[min(reading["games"][0], 1), min(reading["games"][1], 1)]
    worth = np.zeros(MAX_HAND + 1)
    for cards in range(size + 1):
        chance = _win_chance(size, own + cards * own_value, other + (size - cards) * other_value)
        worth[cards] = swing * chance
    worth[0] -= _SWEEP
    worth[size] += _SWEEP
    return worth


_TARGET = _RULES.target
_GAME = float(_RULES.game_points)
_RUBBER = np.array(_RULES.rubber_points, np.float64)


@compiled
def worth_in_rubber(reading: Reading, equity: Floats) -> Floats:
    """As `worth_of_cards` at the present trick values, by what the score after the deal is worth.

    Args:
        reading: of a hand of the full game; for any other `worth_of_cards` serves.
        equity: float64 (places,), the expected future margin of the dealer at every score
            (`poke_env.equity`); without places `worth_of_cards` serves.

    Returns:
        float64 (6,), points above the line, up to a constant.
    """
    size = reading["size"]
    below, games, values = reading["below"], reading["games"], reading["values"]
    stands = max(below[0], below[1]) < _TARGET or below[0] == below[1]
    if equity.shape[0] == 0 or size != MAX_HAND or not stands or max(games[0], games[1]) > 1:
        return worth_of_cards(reading, values[0], values[1])
    worth = np.zeros(MAX_HAND + 1)
    for cards in range(MAX_HAND + 1):
        own = below[0] + cards * values[0]
        other = below[1] + (size - cards) * values[1]
        own_games, other_games = games[0], games[1]
        points = 0.0
        if max(own, other) >= _TARGET and own != other:
            won = own > other
            points = _GAME if won else -_GAME
            if won and own_games == 1:
                points += _RUBBER[other_games]
            elif not won and other_games == 1:
                points -= _RUBBER[own_games]
            own_games += won
            other_games += not won
            own, other = 0, 0
        if max(own_games, other_games) < 2:
            # The next dealer is who does not deal now.
            if reading["dealer"]:
                points -= equity[equity_place(_TARGET, other, own, other_games, own_games)]
            else:
                points += equity[equity_place(_TARGET, own, other, own_games, other_games)]
        worth[cards] = points
    worth[0] -= _SWEEP
    worth[size] += _SWEEP
    return worth
