"""The compiled loops over rows: what every adapter drives, written once for all games.

A row is a match: its position, the deck of the deal going on, its place among the streams, the
settings of the environment, and what the last action brought. The single environment is an array
of one row. Loops are resolved by the type of the position (see `poke_env.games.base`), so numba
caches them for each game and a second start compiles nothing.
"""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from poke_env import streams
from poke_env._jit import compiled
from poke_env._records import record_dtype
from poke_env.games import base
from poke_env.games.base import MATCH_OVER, WANTS_DECK, Game

# What happened in a row's last step, as bits of its `events`.
ILLEGAL = 1
DEAL_ENDED = 2
TERMINATED = 4
TRUNCATED = 8

POINTS, WIN = range(2)

SETTINGS = record_dtype(
    ("below_value", np.float64),
    ("reward_scale", np.float64),
    ("max_deals", np.int64),
    ("reward", np.int8),
)
"""`max_deals` 0 is no limit; `reward` counts in the order of `Game.rewards`."""

Rows = npt.NDArray[np.void]


@cache
def row_dtype(game: Game) -> np.dtype[np.void]:
    """The dtype of a row of `game`."""
    return record_dtype(
        ("state", game.state),
        ("settings", SETTINGS),
        ("stream", streams.STREAM),
        ("reward", np.float64, (game.seats,)),
        ("total", np.float64, (game.seats,)),
        ("deals", np.int64),
        ("action", np.int32),
        ("player", np.int8),
        ("events", np.int8),
        ("deck", np.int8, (game.max_cards,)),
    )


@compiled
def deal(
    rows: Rows,
    decks: npt.NDArray[np.int8],
    pack: npt.NDArray[np.int8],
    dealer: int,
    observations: npt.NDArray[np.float32],
    masks: npt.NDArray[np.int8],
) -> None:
    """Deal to every row whose position waits for a deck.

    Args:
        rows: (B,) rows.
        decks: int8 (B, K, C): deck orders for the first K deals of each match; rows beyond take
            theirs from the stream.
        pack: int8 (C,), the cards of the pack.
        dealer: seat that deals the first deal of a match, or -1: the stream decides.
        observations: float32 (B, F), written for the seat to act.
        masks: int8 (B, A), likewise.
    """
    size = pack.shape[0]
    for i in range(rows.shape[0]):
        row = rows[i]
        state = row["state"]
        if base.to_move(state) != WANTS_DECK:
            continue
        first = row["deals"] == 0
        if row["deals"] < decks.shape[1]:
            row["deck"][:size] = decks[i, row["deals"]]
        else:
            row["deck"][:size] = pack
            streams.shuffle_deck(row["stream"], row["deals"] + 1, row["deck"], size)
        seat = -1
        if first:
            seat = dealer
            if seat < 0:
                seat = streams.first_dealer(row["stream"], row["reward"].shape[0])
        base.deal(state, row["deck"], seat)
        _show(row, observations[i], masks[i])


@compiled
def step(rows: Rows, observations: npt.NDArray[np.float32], masks: npt.NDArray[np.int8]) -> int:
    """Carry out each row's `action` and show the seat to act what it may know.

    A row whose match is over, or whose action is illegal, stays as it is; the latter is marked
    `ILLEGAL` in its events. A row whose deal ended waits for `deal`, which shows it anew.

    Args:
        rows: (B,) rows; `reward`, `total`, `deals`, `player` and `events` are written.
        observations: float32 (B, F), written for the seat to act; the observation of a finished
            match is that of the seat that moved last.
        masks: int8 (B, A), in: the legal actions of each row; out: those of the seat to act next.

    Returns:
        Number of rows with events.
    """
    eventful = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        state = row["state"]
        row["events"] = 0
        if base.to_move(state) < 0:
            continue
        action = row["action"]
        if action < 0 or action >= masks.shape[1] or masks[i, action] == 0:
            row["events"] = ILLEGAL
            eventful += 1
            continue
        base.apply(state, row["deck"], action)
        settings = row["settings"]
        if base.points(state, settings["below_value"], row["reward"]):
            row["deals"] += 1
            row["events"] = DEAL_ENDED
            _settle(row)
            eventful += 1
        if base.to_move(state) != WANTS_DECK:
            _show(row, observations[i], masks[i])
    return eventful


@compiled
def _settle(row: np.void) -> None:
    """Turn the points of a finished deal into the reward asked for, and see whether it is over."""
    settings = row["settings"]
    reward = row["reward"]
    total = row["total"]
    for seat in range(reward.shape[0]):
        total[seat] += reward[seat]
    over = base.to_move(row["state"]) == MATCH_OVER
    if over:
        row["events"] |= TERMINATED
    elif settings["max_deals"] > 0 and row["deals"] >= settings["max_deals"]:
        row["events"] |= TRUNCATED
    if settings["reward"] == WIN:
        for seat in range(reward.shape[0]):
            reward[seat] = 0.0
        if over:
            base.result(row["state"], total, reward)
    for seat in range(reward.shape[0]):
        reward[seat] *= settings["reward_scale"]


@compiled
def _show(row: np.void, observation: npt.NDArray[np.float32], mask: npt.NDArray[np.int8]) -> None:
    seat = base.to_move(row["state"])
    if seat < 0:
        mask[:] = 0
        seat = row["player"]
    else:
        base.legal_actions(row["state"], mask)
        row["player"] = seat
    base.observe(row["state"], seat, observation)


@compiled
def show(rows: Rows, observations: npt.NDArray[np.float32], masks: npt.NDArray[np.int8]) -> None:
    """Write observation (B, F) and mask (B, A) of the seat to act in every row."""
    for i in range(rows.shape[0]):
        _show(rows[i], observations[i], masks[i])


@compiled
def observe(rows: Rows, seat: int, observations: npt.NDArray[np.float32]) -> None:
    """Write what `seat` may know in every row into float32 (B, F)."""
    for i in range(rows.shape[0]):
        base.observe(rows[i]["state"], seat, observations[i])
