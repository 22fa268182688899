"""Measures the worth of cards in the play-out of Poque: `python -m training.fit_poque`.

Heuristic players play deals at tables of several sizes. Whenever one of them leads, the cards of
each other seat are compared with what it is paid for cards left in the end. Least squares then give
what a card that runs of others may come to is worth beyond the chip that it costs: so much for each
card of the opponent with the fewest, and for each card of all opponents (`agents.poque_run`).

The numbers are printed, not written into the player, who leads by those that are there: where they
change by more than chance the command is to be repeated with the new ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.poque import HeuristicAgent
from agents.poque_reading import has
from agents.poque_run import RID_OF, WINS
from agents.reading import SUITS, Integers, count_bits
from poke_env import engine, observation, streams
from poke_env._checks import check_integer
from poke_env._jit import compiled
from poke_env.cards import NUM_CARDS
from poke_env.games.poque import MAX_HAND, OVER, PLAY, POQUE, Rules
from poke_env.settings import Settings as MatchSettings
from training import cli

Array = npt.NDArray[Any]

PLAYERS = (2, 3, 4, 6)
"""At the tables that are measured; each counts the same, however many positions it has."""
ROW, SEAT, OPEN, CLOSED, FEWEST, ALL = range(6)
"""What is noted of a seat: where it was, its cards that runs of others may come to and those that
they cannot, cards of the opponent with the fewest, cards of all opponents."""

_QUICK = 2_000


@dataclass(frozen=True)
class Settings:
    """How the worth of cards is measured."""

    deals: int = 20_000
    """deals at each table"""
    seed: int = 20_260
    """of cards and choices"""
    quick: bool = False
    """2,000 deals at each table, within a minute, for figures that are right to a tenth or so"""


@dataclass(frozen=True)
class Fit:
    """What was found.

    Attributes:
        worth: of an open card for each card of the opponent with the fewest, and of all: (2,).
        errors: their standard errors, deals being independent: (2,).
        explained: share of the variance of what was paid that they explain.
        by_player: share that the worth explains by which the player leads.
        attainable: share that a mean for every combination of the numbers explains.
        positions: that were compared.
    """

    worth: Array
    errors: Array
    explained: float
    by_player: float
    attainable: float
    positions: int


def play(players: int, deals: int, seed: int) -> tuple[Integers, Integers]:
    """Play deals between heuristic players.

    Returns:
        Seats without the lead, int64 (N, 6), see `ROW`, and what each was paid in the end, (N,).
    """
    rng = np.random.default_rng([seed, players])
    rules = Rules(players=players)
    settings = MatchSettings(POQUE, "deal", rules=rules)
    rows = np.repeat(settings.template, deals)
    rows["stream"]["key"] = streams.seed_words(seed)
    rows["stream"]["match"] = np.arange(deals)
    seen = np.zeros((deals, observation.length(POQUE)), np.float32)
    masks = np.zeros((deals, settings.num_actions), np.int8)
    no_decks = np.zeros((deals, 0, len(settings.pack)), np.int8)
    engine.deal(rows, no_decks, settings.pack, settings.equity, seen, masks)
    state = rows["state"]
    player = HeuristicAgent()
    lowest = min(rules.pack())
    found = []
    while (live := np.flatnonzero(state["phase"] != OVER)).size:
        leading = live[state["phase"][live] == PLAY]
        held, gone, leader = (state[name][leading] for name in ("held", "gone", "player"))
        described = describe(held[:, :players], gone, leader.astype(np.int64), lowest)
        described[:, ROW] = leading[described[:, ROW]]
        found.append(described)
        keys = rng.integers(0, 2**64, live.size, np.uint64)
        rows["action"][live] = player.act_batch(seen[live], masks[live], keys)
        engine.step(rows, settings.equity, seen, masks)
    seats = np.concatenate(found)
    return seats, state["paid"][seats[:, ROW], seats[:, SEAT]].astype(np.int64)


@compiled
def describe(held: Integers, gone: Integers, leader: Integers, lowest: int) -> Integers:
    """What the seats that do not lead hold.

    Args:
        held: cards in hand by position and seat, as bits, int64 (N, players).
        gone: cards in no hand, as bits, int64 (N,).
        leader: int64 (N,).
        lowest: the lowest card of the pack.

    Returns:
        int64 (N (players - 1), 6), see `ROW`.
    """
    number, players = held.shape
    described = np.zeros((number * (players - 1), 6), np.int64)
    at = 0
    for row in range(number):
        for seat in range(players):
            if seat == leader[row]:
                continue
            described[at, ROW] = row
            described[at, SEAT] = seat
            described[at, FEWEST] = MAX_HAND
            for other in range(players):
                if other != seat:
                    left = count_bits(held[row, other])
                    described[at, FEWEST] = min(described[at, FEWEST], left)
                    described[at, ALL] += left
            for card in range(lowest, NUM_CARDS):
                if has(held[row, seat], card):
                    below = card - SUITS
                    while below >= lowest and has(held[row, seat], below):
                        below -= SUITS
                    comes = below >= lowest and not has(gone[row], below)
                    described[at, OPEN if comes else CLOSED] += 1
            at += 1
    return described


def fit(tables: list[tuple[Integers, Integers]]) -> Fit:
    """Least squares over what was found at some tables, each of which weighs the same."""
    seats, paid = (np.concatenate(part) for part in zip(*tables, strict=True))
    sizes = [len(table) for table, _ in tables]
    weights = np.repeat(1 / np.array(sizes), sizes)
    table = np.repeat(np.arange(len(tables)), sizes)
    design = (seats[:, [OPEN]] * seats[:, [FEWEST, ALL]]).astype(float)
    beyond = paid + seats[:, OPEN] + seats[:, CLOSED]
    inverse = np.linalg.inv(design.T @ (design * weights[:, np.newaxis]))
    worth = inverse @ (design.T @ (beyond * weights))
    rest, rest_by_player = (beyond - design @ found for found in (worth, (RID_OF, WINS)))
    # Positions of one deal are not independent, deals are.
    deal = _numbered(np.column_stack([table, seats[:, ROW]]))
    scores = np.stack([np.bincount(deal, column * rest * weights) for column in design.T])
    errors = np.sqrt(np.diag(inverse @ (scores @ scores.T) @ inverse))
    cell = _numbered(np.column_stack([table, seats[:, [OPEN, CLOSED, FEWEST, ALL]]]))
    means = np.bincount(cell, paid * weights) / np.bincount(cell, weights)
    spread = weights @ (paid - np.average(paid, weights=weights)) ** 2
    explained, by_player, attainable = (
        float(1 - weights @ left**2 / spread) for left in (rest, rest_by_player, paid - means[cell])
    )
    return Fit(worth, errors, explained, by_player, attainable, len(paid))


def _numbered(rows: Integers) -> Integers:
    """Equal rows have equal numbers."""
    numbers: Integers = np.unique(rows, axis=0, return_inverse=True)[1]
    return numbers.reshape(-1)  # NumPy 2.0 alone gives it another shape


@cli.main
def main(settings: Settings) -> None:
    """Measure what cards are worth while another leads and print it."""
    deals = check_integer("deals", settings.deals, 1)
    if settings.quick:
        deals = min(deals, _QUICK)
        print(f"quick: {deals:,} deals at each table")
    tables = []
    for players in PLAYERS:
        print(f"{players} players: {deals:,} deals")
        tables.append(play(players, deals, settings.seed))
    found = fit(tables)
    for name, now, worth, error in (
        ("RID_OF", RID_OF, found.worth[0], found.errors[0]),
        ("WINS", WINS, found.worth[1], found.errors[1]),
    ):
        print(f"{name} {worth:.3f}, standard error {error:.4f}; the player has {now}")
    print(
        f"{found.positions:,} positions; share of the variance explained {found.explained:.4f}, by "
        f"the player {found.by_player:.4f}, by a mean for each combination of the numbers "
        f"{found.attainable:.4f}"
    )


if __name__ == "__main__":
    main()
