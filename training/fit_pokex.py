"""Makes the heuristic Pokex player's tables: `python -m training.fit_pokex`.

Four heuristic players play deals for both readings of the jokers. Each trick is compared with the
kind of the three cards that a player's two made with the centre card, and each call with the tricks
that the caller's side then took.

The players plan and bid by the tables that are there, so the command is repeated until the tables
change by no more than chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.pokex import HeuristicAgent
from agents.pokex_plan import (
    FEATURES,
    KINDS,
    MIDDLE_LEFT,
    MIDDLE_RANK,
    describe_auction,
    fill_plan,
    kind_of_three,
)
from agents.pokex_reading import JOKER_READINGS, READING, read
from poke_env import _files, engine, observation, streams
from poke_env._jit import compiled
from poke_env.games.pokex import AUCTION, MAX_HAND, OVER, POKEX, Rules
from poke_env.settings import Settings as MatchSettings
from training import cli

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Settings:
    """How the tables are measured."""

    out: Path = Path("agents/pokex_table.py")
    """the module that is written"""
    deals: int = 2_000
    """deals for each reading of the jokers"""
    seed: int = 20_260
    """of cards and choices"""


def play(joker: str, deals: int, seed: int) -> tuple[Array, Array, Array]:
    """Play deals between four heuristic players.

    Returns:
        The positions at their ends; of every call the deal and the seat, int64 (N, 2), and what the
        caller went by, float64 (N, FEATURES).
    """
    rng = np.random.default_rng(seed)
    settings = MatchSettings(POKEX, "deal", rules=Rules(joker=joker))
    rows = np.repeat(settings.template, deals)
    rows["stream"]["key"] = streams.seed_words(seed)
    rows["stream"]["match"] = np.arange(deals)
    seen = np.zeros((deals, observation.length(POKEX)), np.float32)
    masks = np.zeros((deals, settings.num_actions), np.int8)
    no_decks = np.zeros((deals, 0, len(settings.pack)), np.int8)
    engine.deal(rows, no_decks, settings.pack, settings.equity, seen, masks)
    state = rows["state"]
    player = HeuristicAgent()
    places, features = [], []
    while (live := np.flatnonzero(state["phase"] != OVER)).size:
        calling = live[state["phase"][live] == AUCTION]
        places.append(np.column_stack([calling, state["player"][calling]]))
        features.append(_describe_calls(seen[calling]))
        keys = rng.integers(0, 2**64, live.size, np.uint64)
        rows["action"][live] = player.act_batch(seen[live], masks[live], keys)
        engine.step(rows, settings.equity, seen, masks)
    return state, np.concatenate(places), np.concatenate(features)


@compiled
def _describe_calls(seen: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    features = np.zeros((seen.shape[0], FEATURES))
    readings = np.zeros(1, READING)
    plan = np.zeros(1 << MAX_HAND)
    for i in range(seen.shape[0]):
        reading = readings[0]
        read(seen[i], reading)
        describe_auction(reading, fill_plan(reading, plan), features[i])
    return features


@compiled
def describe_tricks(
    five: npt.NDArray[np.int8],
    leader: npt.NDArray[np.int8],
    winner: npt.NDArray[np.int8],
    wild: int,
) -> npt.NDArray[np.int64]:
    """What each player's cards of each trick were, and whether they won.

    Args:
        five, leader, winner: of finished deals, as in `poke_env.games.pokex.STATE`; the latter two
            with no more tricks than are played.
        wild: whether jokers are wild.

    Returns:
        int64 (N, 6): kind, wild cards, rank, whether the side led, tricks left, whether it won.
    """
    described = np.zeros((4 * leader.size, 6), np.int64)
    row = 0
    for deal in range(five.shape[0]):
        for trick in range(leader.shape[1]):
            for side in range(2):
                cards = five[deal, trick, side]
                for place in (0, 2):
                    three = kind_of_three(cards[place], cards[place + 1], cards[4], wild)
                    described[row, 0], described[row, 1], described[row, 2] = three
                    described[row, 3] = leader[deal, trick] % 2 == side
                    described[row, 4] = leader.shape[1] - trick
                    described[row, 5] = winner[deal, trick] == side
                    row += 1
    return described


def fit_tricks(described: Array) -> tuple[Array, Array]:
    """Log odds of a trick by whether the side leads, kind and wild cards: a logistic regression.

    Returns:
        For the middle rank and the middle trick float64 (2, 3, KINDS), NaN where there is nothing
        to go by; and what a rank more, and a trick more that is left, add: float64 (2, KINDS, 2).
    """
    kind, wilds, rank, leads, left, won = described.T
    base = np.full((2, 3, KINDS), np.nan)
    slope = np.zeros((2, KINDS, 2))
    for lead in range(2):
        for of_kind in range(KINDS):
            rows = (leads == lead) & (kind == of_kind)
            numbers = np.flatnonzero(np.bincount(wilds[rows], minlength=3))
            columns = [wilds[rows] == number for number in numbers]
            columns += [rank[rows] - MIDDLE_RANK, left[rows] - MIDDLE_LEFT]
            found = _logistic(np.column_stack(columns).astype(float), won[rows].astype(float))
            base[lead, numbers, of_kind] = found[:-2]
            slope[lead, of_kind] = found[-2:]
    return base, slope


def _logistic(design: Array, won: Array) -> Array:
    """Coefficients of greatest likelihood, as if every column had been seen once more each way."""
    found = np.zeros(design.shape[1])
    for _ in range(30):
        chance = 1 / (1 + np.exp(-design @ found))
        weight = (chance * (1 - chance))[:, np.newaxis]
        slope = design.T @ (won - chance) - found
        found = found + np.linalg.solve(design.T @ (design * weight) + np.eye(len(found)), slope)
    return found


def fit_bids(places: Array, features: Array, winner: Array) -> Array:
    """Least squares: the share of the tricks that the caller's side takes, float64 (FEATURES,)."""
    deal, seat = places.T
    taken = (winner[deal] == seat[:, np.newaxis] % 2).mean(axis=1)
    found: Array = np.linalg.lstsq(features, taken, rcond=None)[0]
    return found


def as_module(fits: list[tuple[Array, Array, Array]], settings: Settings) -> str:
    """The source of `agents/pokex_table.py`; a fit is what `fit_tricks` and `fit_bids` found."""
    base, rank, left, bids = [], [], [], []
    for joker, (found, slopes, shares) in zip(JOKER_READINGS, fits, strict=True):
        for side, of_side, by in zip(("follows", "leads"), found, slopes, strict=True):
            base += [
                _line(row, 2, f"{joker}, {side}, {wilds} wild") for wilds, row in enumerate(of_side)
            ]
            rank.append(_line(by[:, 0], 3, f"{joker}, {side}"))
            left.append(_line(by[:, 1], 3, f"{joker}, {side}"))
        bids.append(_line(shares, 3, joker))
    return _MODULE.format(
        settings=f"--deals {settings.deals} --seed {settings.seed}",
        base="\n".join(base),
        rank="\n".join(rank),
        left="\n".join(left),
        bids="\n".join(bids),
    )


def _line(numbers: Array, digits: int, comment: str) -> str:
    rounded = np.nan_to_num(numbers).round(digits) + 0.0  # no -0.0
    return f"    ({', '.join(map(str, rounded.tolist()))}),  # {comment}"


_MODULE = '''"""What cards and calls bring in Pokex; measured in play, not written by hand.

Made by `python -m training.fit_pokex {settings}`.
"""

BY_KIND = (
{base}
)
"""By reading of the jokers, whether the side leads, wild cards among the three, kind
(`agents.pokex_plan`): the log odds of the trick, for the middle rank in the middle of the deal. 0
where three cards cannot be so."""

BY_RANK = (
{rank}
)
"""What a rank more adds: by reading of the jokers, whether the side leads, kind."""

BY_LEFT = (
{left}
)
"""What it adds that a trick more is left, likewise."""

BY_CALLS = (
{bids}
)
"""By reading of the jokers: the share of the tricks that a side takes, by
`agents.pokex_plan.describe_auction`."""
'''


@cli.main
def main(settings: Settings) -> None:
    """Measure what cards and calls bring and write the heuristic player's tables."""
    fits = []
    for wild, joker in enumerate(JOKER_READINGS):
        print(f"joker {joker}: {settings.deals} deals")
        state, places, features = play(joker, settings.deals, settings.seed)
        winner = state["trick_winner"]
        tricks = describe_tricks(state["five"], state["trick_leader"], winner, wild)
        fits.append((*fit_tricks(tricks), fit_bids(places, features, winner)))
    _files.write(settings.out, as_module(fits, settings))
    print(f"tables: {settings.out}")


if __name__ == "__main__":
    main()
