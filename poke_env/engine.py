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
from poke_env._jit import compiled, inlined
from poke_env._records import record_dtype
from poke_env.games import base
from poke_env.games.base import MATCH_OVER, WANTS_DECK, Game

# What happened in a row's last step, as bits of its `events`.
ILLEGAL = 1
PAID = 2
"""Rewards were written; every other event implies it."""
DEAL_ENDED = 4
TERMINATED = 8
TRUNCATED = 16

# What `advance` takes beside legal actions.
WAIT = -1
"""The row is left as it is."""
FORFEIT = -2
"""The seat to act gives the match up and pays the penalty."""
NEXT = -3
"""A row that is over begins the next match of its stream."""

POINTS, WIN, EQUITY = range(3)

SETTINGS = record_dtype(
    ("below_value", np.float64),
    ("reward_scale", np.float64),
    ("illegal_penalty", np.float64),
    ("max_deals", np.int64),
    ("reward", np.int8),
)
"""`max_deals` 0 is no limit; `reward` counts in the order of `Game.rewards`."""

Rows = npt.NDArray[np.void]
Decks = npt.NDArray[np.int8]
Observations = npt.NDArray[np.float32]
Masks = npt.NDArray[np.int8]
Equity = npt.NDArray[np.float64]
"""The values of an equity table, (1 or 2, places); (1, 0) where rewards do not need one."""


@cache
def start_dtype(game: Game) -> np.dtype[np.void]:
    """The dtype of a beginning of a match: position, and who deals, -1 if the stream decides."""
    return record_dtype(("state", game.state), ("dealer", np.int8))


@cache
def row_dtype(game: Game) -> np.dtype[np.void]:
    """The dtype of a row of `game`.

    `decks` is the number of deals whose deck orders were given beforehand, `dealer` the seat that
    was asked to deal first, -1 if the stream decides; both speak of the match going on. `expected`
    is what each seat expected of the rest of the rubber when the deal began, where equity is paid.
    `action` is what `step` carries out, `player` the seat to act, or the one that moved last.
    """
    return record_dtype(
        ("state", game.state),
        ("settings", SETTINGS),
        ("stream", streams.STREAM),
        ("reward", np.float64, (game.seats,)),
        ("total", np.float64, (game.seats,)),
        ("expected", np.float64, (game.seats,)),
        ("deals", np.int64),
        ("decks", np.int32),
        ("action", np.int32),
        ("dealer", np.int8),
        ("player", np.int8),
        ("events", np.int8),
        ("over", np.int8),
        ("deck", np.int8, (game.max_cards,)),
    )


# --- one row --------------------------------------------------------------------------------------


@inlined
def _deal(
    row: np.void, decks: npt.NDArray[np.int8], pack: npt.NDArray[np.int8], equity: Equity
) -> None:
    """Start the next deal of a row whose position waits for a deck; `decks` is int8 (K, C)."""
    size = pack.shape[0]
    if row["deals"] < row["decks"]:
        row["deck"][:size] = decks[row["deals"]]
    else:
        row["deck"][:size] = pack
        streams.shuffle_deck(row["stream"], row["deals"] + 1, row["deck"], size)
    dealer = -1
    if row["deals"] == 0:
        dealer = int(row["dealer"])
        if dealer < 0:
            dealer = streams.first_dealer(row["stream"], base.players(row["state"]))
    base.deal(row["state"], row["deck"], dealer)
    if row["deals"] == 0 and row["settings"]["reward"] == EQUITY:
        base.equity(row["state"], equity, row["expected"])


@inlined
def _act(row: np.void, action: int, equity: Equity) -> int:
    """Carry out a legal action; returns the events, which are written too."""
    state = row["state"]
    settings = row["settings"]
    base.apply(state, row["deck"], action)
    events = 0
    paid = base.points(state, settings["below_value"], row["reward"])
    if paid != base.NOT_PAID:
        events = PAID
        for seat in range(base.players(state)):
            row["total"][seat] += row["reward"][seat]
        if paid == base.DEAL_ENDED:
            row["deals"] += 1
            events |= DEAL_ENDED
            if base.to_move(state) == MATCH_OVER:
                events |= TERMINATED
            elif settings["max_deals"] > 0 and row["deals"] >= settings["max_deals"]:
                events |= TRUNCATED
        _settle(row, events, equity)
    row["events"] = events
    row["over"] = events >= TERMINATED
    return events


@inlined
def _settle(row: np.void, events: int, equity: Equity) -> None:
    """Turn the points that were written into the reward asked for."""
    settings = row["settings"]
    reward = row["reward"]
    players = base.players(row["state"])
    if settings["reward"] == WIN:
        for seat in range(players):
            reward[seat] = 0.0
        if events & TERMINATED:
            base.result(row["state"], row["total"], reward)
    elif settings["reward"] == EQUITY:
        for seat in range(players):
            reward[seat] -= row["expected"][seat]
        base.equity(row["state"], equity, row["expected"])
        for seat in range(players):
            reward[seat] += row["expected"][seat]
    for seat in range(players):
        reward[seat] *= settings["reward_scale"]


@inlined
def _forfeit(row: np.void) -> int:
    """End the match against the seat to act, which pays the penalty to the others."""
    reward = row["reward"]
    penalty = row["settings"]["illegal_penalty"]
    players = base.players(row["state"])
    for seat in range(players):
        reward[seat] = penalty / (players - 1)
    reward[row["player"]] = -penalty
    row["events"] = ILLEGAL | PAID | TERMINATED
    row["over"] = 1
    return ILLEGAL | PAID | TERMINATED


@inlined
def _place(row: np.void, starts: npt.NDArray[np.void]) -> None:
    """Put the beginning of the match that its stream stands at into a row."""
    chosen = 0
    if starts.shape[0] > 1:
        chosen = streams.start_of_match(row["stream"], starts.shape[0])
    row["state"] = starts[chosen]["state"]
    row["dealer"] = starts[chosen]["dealer"]


@inlined
def _renew(row: np.void, starts: npt.NDArray[np.void]) -> None:
    """Put the next match of its stream into a row."""
    row["stream"]["match"] += 1
    _place(row, starts)
    for seat in range(row["total"].shape[0]):
        row["total"][seat] = 0.0
    row["deals"] = 0
    row["decks"] = 0
    row["events"] = 0
    row["over"] = 0


@inlined
def _show(row: np.void, observation: npt.NDArray[np.float32], mask: npt.NDArray[np.int8]) -> None:
    seat = base.to_move(row["state"])
    if seat < 0 or row["over"]:
        mask[:] = 0
        seat = row["player"]
    else:
        base.legal_actions(row["state"], mask)
        row["player"] = seat
    base.observe(row["state"], seat, observation)


# --- loops ----------------------------------------------------------------------------------------


@compiled
def begin(rows: Rows, starts: Rows) -> None:
    """Put the beginning of its match into every row.

    Args:
        rows: (B,) rows whose streams stand at the match.
        starts: (K,) beginnings (`start_dtype`), of which the stream takes one, each equally likely.
    """
    for i in range(rows.shape[0]):
        _place(rows[i], starts)


@compiled
def deal(
    rows: Rows,
    decks: Decks,
    pack: Decks,
    equity: Equity,
    observations: Observations,
    masks: Masks,
) -> None:
    """Deal to every row whose position waits for a deck.

    Args:
        rows: (B,) rows.
        decks: int8 (B, K, C): deck orders for the first deals of each match, as many as the row's
            `decks` says; all others come from the stream.
        pack: int8 (C,), the cards of the pack.
        equity: the equity table.
        observations: float32 (B, F), written for the seat to act.
        masks: int8 (B, A), likewise.
    """
    for i in range(rows.shape[0]):
        row = rows[i]
        if base.to_move(row["state"]) == WANTS_DECK:
            _deal(row, decks[i], pack, equity)
            _show(row, observations[i], masks[i])


@compiled
def step(rows: Rows, equity: Equity, observations: Observations, masks: Masks) -> int:
    """Carry out each row's `action`, a legal one, and show the seat to act what it may know.

    A row whose match is over stays as it is. A row whose deal ended waits for `deal`, which shows
    it anew.

    Args:
        rows: (B,) rows; `reward`, `total`, `deals`, `player`, `events` and `over` are written.
        equity: as for `deal`.
        observations: float32 (B, F), written for the seat to act; the observation of a finished
            match is that of the seat that moved last.
        masks: int8 (B, A), the legal actions of the seat to act next.

    Returns:
        Number of rows with events.
    """
    eventful = 0
    for i in range(rows.shape[0]):
        row = rows[i]
        if row["over"]:
            row["events"] = 0
            continue
        if _act(row, row["action"], equity):
            eventful += 1
        if base.to_move(row["state"]) != WANTS_DECK:
            _show(row, observations[i], masks[i])
    return eventful


@compiled
def advance(
    rows: Rows,
    actions: npt.NDArray[np.int64],
    decks: Decks,
    pack: Decks,
    starts: Rows,
    equity: Equity,
    autoreset: bool,
    show_waiting: bool,
    finals: npt.NDArray[np.void],
    observations: Observations,
    masks: Masks,
    players: npt.NDArray[np.int8],
    rewards: npt.NDArray[np.float64],
    dones: npt.NDArray[np.bool_],
    truncated: npt.NDArray[np.bool_],
) -> None:
    """One step of a batch: act, settle, deal anew where a deal or a match ended, and show.

    Args:
        rows: (B,) rows.
        actions: int64 (B,): legal ones, `WAIT` or `FORFEIT`; a row that is over waits, unless it
            is told `NEXT`.
        decks, pack, equity: as for `deal`.
        starts: as for `begin`.
        autoreset: put the next match into a row whose match ended; else it stays over.
        show_waiting: write observations and masks of rows that wait, too.
        finals: (B,) positions, written where a match ended: its last one.
        observations: float32 (B, F), written for the seat to act.
        masks: int8 (B, A), likewise.
        players: int8 (B,), the seat to act, -1 in a row that is over.
        rewards: float64 (B, n), what the step brought to each seat.
        dones: bool (B,), whether a match ended in this step.
        truncated: bool (B,), whether it was cut by `max_deals`.
    """
    seats = rewards.shape[1]
    for i in range(rows.shape[0]):
        row = rows[i]
        action = actions[i]
        for seat in range(seats):
            rewards[i, seat] = 0.0
        dones[i] = False
        truncated[i] = False
        if row["over"] if action != NEXT else not row["over"]:
            action = WAIT
        if action != WAIT:
            if action == NEXT:
                _renew(row, starts)
            else:
                events = _forfeit(row) if action == FORFEIT else _act(row, action, equity)
                if events:
                    for seat in range(seats):
                        rewards[i, seat] = row["reward"][seat]
                if row["over"]:
                    dones[i] = True
                    truncated[i] = (events & TRUNCATED) != 0
                    finals[i] = row["state"]
                    if autoreset:
                        _renew(row, starts)
            if base.to_move(row["state"]) == WANTS_DECK and not row["over"]:
                _deal(row, decks[i], pack, equity)
        if action != WAIT or show_waiting:
            _show(row, observations[i], masks[i])
        players[i] = -1 if row["over"] else row["player"]


@compiled
def find_illegal(
    rows: Rows,
    actions: npt.NDArray[np.int64],
    acting: npt.NDArray[np.bool_],
    masks: Masks,
    illegal: npt.NDArray[np.bool_],
) -> None:
    """Mark the rows that act, are not over, and whose action the mask forbids.

    Args:
        rows: (B,) rows.
        actions: int64 (B,), any numbers.
        acting: bool (B,).
        masks: int8 (B, A).
        illegal: bool (B,), written.
    """
    for i in range(rows.shape[0]):
        action = actions[i]
        fits = 0 <= action < masks.shape[1] and masks[i, action] != 0
        illegal[i] = acting[i] and not fits and not rows[i]["over"]


@compiled
def play_at_random(
    rows: Rows,
    decisions: int,
    words: npt.NDArray[np.int64],
    first: int,
    decks: Decks,
    pack: Decks,
    starts: Rows,
    equity: Equity,
    masks: Masks,
    rewards: npt.NDArray[np.float64],
) -> int:
    """Play so many decisions in every row, each legal action equally likely, observing nothing.

    Args:
        rows: (B,) rows, none of them over; a match that ends is followed by the next one.
        decisions: number of decisions a row.
        words: int64 (4,), words of a seed; row i draws from the stream of (words, first + i).
        first: number of the first row.
        decks, pack, starts, equity: as for `advance`.
        masks: int8 (B, A), the legal actions of every row at the end.
        rewards: float64 (B, n), to which the rewards are added.

    Returns:
        Number of matches that ended.
    """
    ended = 0
    address = np.empty(5, np.int64)
    address[:4] = words
    for i in range(rows.shape[0]):
        row = rows[i]
        mask = masks[i]
        address[4] = first + i
        generator = streams.generator(address)
        count = base.legal_actions(row["state"], mask)
        for _ in range(decisions):
            events = _act(row, streams.random_one(mask, count, generator), equity)
            if events:
                for seat in range(rewards.shape[1]):
                    rewards[i, seat] += row["reward"][seat]
                if row["over"]:
                    ended += 1
                    _renew(row, starts)
                if base.to_move(row["state"]) == WANTS_DECK:
                    _deal(row, decks[i], pack, equity)
            count = base.legal_actions(row["state"], mask)
        row["player"] = base.to_move(row["state"])
    return ended


@compiled
def forfeit(rows: Rows) -> None:
    """End the match of every row against the seat to act."""
    for i in range(rows.shape[0]):
        _forfeit(rows[i])


@compiled
def show(rows: Rows, observations: Observations, masks: Masks) -> None:
    """Write observation (B, F) and mask (B, A) of the seat to act in every row."""
    for i in range(rows.shape[0]):
        _show(rows[i], observations[i], masks[i])


@compiled
def observe(states: npt.NDArray[np.void], seats: npt.NDArray[np.int8], seen: Observations) -> None:
    """Write what the seat `seats[i]` may know at the position `states[i]` into float32 (B, F)."""
    for i in range(states.shape[0]):
        base.observe(states[i], seats[i], seen[i])


@compiled
def results(rows: Rows, worth: npt.NDArray[np.float64]) -> None:
    """Write what each match that was played out is worth to each seat, float64 (B, n)."""
    for i in range(rows.shape[0]):
        worth[i] = 0.0
        if base.to_move(rows[i]["state"]) == MATCH_OVER:
            base.result(rows[i]["state"], rows[i]["total"], worth[i])


@compiled
def standings(rows: Rows, standing: npt.NDArray[np.int64]) -> None:
    """Write how each seat stands in the match in this deal, int64 (B, n)."""
    for i in range(rows.shape[0]):
        for seat in range(standing.shape[1]):
            standing[i, seat] = base.standing(rows[i]["state"], seat)
