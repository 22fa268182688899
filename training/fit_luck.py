"""Makes the value function of luck-adjusted margins: `python -m training.fit_luck`.

The project's players meet in every order of seats, in deals of a seed of its own. A position after
a deal or a draw is then judged by what the deal brought from there on, the mean over

    the kinds of both hands, shrunk towards a sum of the two where few such positions were seen,
    the cards that the non-dealer would take of these hands if both knew all, and
    the poker points as the hands stand,

by backfitting. See `training.luck_value` for what is written.

Deals are played in groups. After an interruption the same command goes on with the next one.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.progress import track

import agents
from agents.tricks import HANDS, cards_taken
from poke_env import _files
from poke_env._checks import check_integer
from poke_env._jit import compiled
from poke_env.cards import CATEGORY_SHIFT, Category
from poke_env.games.poke import DRAW, MAX_HAND, POKE
from poke_env.vector import BatchEnv
from training import cli
from training.luck_value import (
    FILE,
    PARTS,
    POKER_UNIT,
    STAGES,
    UNITS,
    Floats,
    Tables,
    as_tables,
    exact_mean,
    is_flush,
    number_of,
    poker_hands,
    poker_margin,
    rank_hands,
    stage,
)

Integers = npt.NDArray[np.int64]

_AT_ONCE = 20_000
"""Deals of a group."""
_QUICK = 40_000
_ROUNDS = 20
_SHRINK = 20.0
"""So many positions weigh as much as the sum over both kinds does."""

COUNT, PAYOFFS, POKER, POKER_SQUARED, POKER_ABOVE, SUMS = 0, 1, 4, 5, 6, 7
"""What is summed up in each cell: positions, the three parts that the deal brought, poker points as
the hands stand, their squares, and their products with the third part."""


@dataclass(frozen=True)
class Settings:
    """How the value function is fitted.

    Attributes:
        out: The file that is written, by default the project's own, with --quick one below runs/;
            sums of an unfinished run lie beside it.
        deals: Deals in all.
        players: Who plays them, everybody against everybody in both seats.
        seed: Of cards and choices.
        quick: A few deals only, within a minute; the result is of no use.
    """

    out: Path | None = None
    deals: int = 3_060_000
    players: tuple[str, ...] = ("heuristic", "never_double", "greedy")
    seed: int = 77_001
    quick: bool = False


# --- kinds of hands -------------------------------------------------------------------------------


def hand_kinds() -> npt.NDArray[np.int8]:
    """The kind of every multiset of five ranks, as no flush and as one: int8 (2, 6188).

    Hands of a kind are alike in category, in their highest ranks, and in whether they may soon be a
    straight.
    """
    strength, _ = poker_hands()
    numbers: dict[tuple[int, ...], int] = {}
    kinds = np.zeros((2, int(HANDS[MAX_HAND])), np.int8)
    for flush in range(2):
        for number, ranks in enumerate(rank_hands().tolist()):
            kind = _kind(Category(strength[flush, number] >> CATEGORY_SHIFT), ranks)
            kinds[flush, number] = numbers.setdefault(kind, len(numbers))
    return kinds


def _kind(category: Category, ranks: list[int]) -> tuple[int, ...]:
    """What hands of a kind have in common; ranks are 0 to 12, ascending."""
    sets = sorted((rank for rank in set(ranks) if ranks.count(rank) > 1), key=ranks.count)
    single = max((rank for rank in ranks if ranks.count(rank) == 1), default=0)
    queen, king, ace = 10, 11, 12
    match category:
        case Category.HIGH_CARD if any(
            len(set(range(low, low + 4)) & set(ranks)) == 4 for low in range(ace - 2)
        ):
            return category, 0, single >= king
        case Category.HIGH_CARD:
            second = ranks[-2]
            return category, max(single, 7), min(max(second, 9), single - 1) * (single >= king)
        case Category.PAIR:
            return category, sets[0], single >= king
        case Category.TWO_PAIR:
            return category, max(sets) if max(sets) > 5 else 5
        case Category.THREE_OF_A_KIND:
            return category, sets[0] // 2
        case Category.STRAIGHT:
            return category, single >= queen
        case Category.FLUSH:
            return category, single == ace
        case Category.FULL_HOUSE:
            return category, sets[-1] // 4
        case _:
            return (min(category, Category.STRAIGHT_FLUSH),)


# --- positions ------------------------------------------------------------------------------------


def play(first: str, second: str, deals: int, seed: int, kinds: npt.NDArray[np.int8]) -> Floats:
    """Let two players play deals, the first in seat 0, and sum up their positions by cells.

    Args:
        first, second: names of players.
        deals: how many.
        seed: of cards and choices.
        kinds: see `hand_kinds`.

    Returns:
        float64 (STAGES, K, K, 6, SUMS), by the moment, the kinds of the non-dealer's and the
        dealer's hand, and the cards taken if both knew all.
    """
    size = int(kinds.max()) + 1
    tables = as_tables(
        kinds, np.zeros((STAGES, size, size, PARTS), np.int16),
        np.zeros((STAGES, MAX_HAND + 1, PARTS), np.int16), np.zeros(STAGES, np.int16),
    )  # fmt: skip
    seats = [agents.make(name, seed) for name in (first, second)]
    rng = np.random.default_rng(seed)
    envs = BatchEnv(POKE, deals, autoreset=False, copy=False)
    seen, masks, players = envs.reset([seed] * deals, {"skip": np.arange(deals)})
    state = envs.record
    found = [_describe(tables, state, np.arange(deals))]
    while not envs.over.all():
        actions = np.zeros(deals, np.int64)
        for seat, player in enumerate(seats):
            own = np.flatnonzero(players == seat)
            keys = rng.integers(0, 2**64, own.size, np.uint64)
            actions[own] = player.act_batch(seen[own], masks[own], keys)
        drawing = np.flatnonzero((state["phase"] == DRAW) & (actions > 0))
        seen, masks, players, _, _ = envs.step(actions)
        state = envs.record
        found.append(_describe(tables, state, drawing))
    rows, cells, poker = (np.concatenate(parts) for parts in zip(*found, strict=True))
    every = np.arange(deals)
    non_dealer = 1 - state["dealer"]
    below = state["deal_below"]
    above = state["deal_poker"] + state["deal_sweep"]
    brought = np.stack(
        [
            below[every, non_dealer],
            below[every, 1 - non_dealer],
            above[every, non_dealer] - above[every, 1 - non_dealer],
        ]
    )[:, rows]
    columns = [np.ones(len(rows)), *brought, poker, poker**2, poker * brought[-1]]
    shape = (STAGES, size, size, MAX_HAND + 1)
    length = int(np.prod(shape))
    sums = [np.bincount(cells, column, length) for column in columns]
    return np.asarray(np.stack(sums, axis=1).reshape(*shape, SUMS), np.float64)


def _describe(tables: Tables, states: Any, rows: Integers) -> tuple[Integers, Integers, Integers]:
    """Rows in which cards have just come, their cells, and the poker points as hands stand."""
    cells = np.empty((2, len(rows)), np.int64)
    _find_cells(tables, states, rows, cells)
    return rows, cells[0], cells[1]


@compiled
def _find_cells(tables: Tables, states: Any, rows: Integers, cells: Integers) -> None:
    size = tables.table.shape[1]
    for place in range(rows.shape[0]):
        state = states[rows[place]]
        dealer = np.int64(state["dealer"])
        draws = state["draw_count"]
        hands = state["hand"]
        first, second = number_of(hands[1 - dealer]), number_of(hands[dealer])
        first_flush, second_flush = is_flush(hands[1 - dealer]), is_flush(hands[dealer])
        moment = stage(draws[dealer] > 0, draws[1 - dealer], draws[dealer])
        cell = moment * size + tables.kinds[first_flush, first]
        cell = cell * size + tables.kinds[second_flush, second]
        cells[0, place] = cell * (MAX_HAND + 1) + cards_taken(
            tables.solved, MAX_HAND, first, second
        )
        cells[1, place] = poker_margin(
            tables.strength, tables.points, first, first_flush, second, second_flush
        )


# --- fitting --------------------------------------------------------------------------------------


def fit(sums: Floats) -> dict[str, npt.NDArray[np.int16]]:
    """The value function's numbers from the sums of `play`, in the units of its file.

    Returns:
        `table` int16 (STAGES, K, K, 3), `taken` int16 (STAGES, 6, 3), `poker` int16 (STAGES,).
    """
    count, poker = sums[..., COUNT], sums[..., POKER]
    size = count.shape[1]
    table = np.zeros((STAGES, size, size, PARTS))
    taken = np.zeros((STAGES, MAX_HAND + 1, PARTS))
    weight = np.zeros(STAGES)
    by_pair = count.sum(axis=3)
    for part in range(PARTS):
        brought = sums[..., PAYOFFS + part]
        row, column = np.zeros((2, STAGES, size))
        apart = np.zeros((STAGES, size, size))
        for _ in range(_ROUNDS):
            rest = brought
            if part == PARTS - 1:
                rest = brought - weight[:, None, None, None] * poker
            both = table[..., part]
            taken[..., part] = _mean(
                (rest - count * both[..., None]).sum(axis=(1, 2)), count.sum(axis=(1, 2))
            )
            left = (rest - count * taken[:, None, None, :, part]).sum(axis=3)
            others = by_pair * (column[:, None, :] + apart)
            row = _mean((left - others).sum(axis=2), by_pair.sum(axis=2), 1.0)
            others = by_pair * (row[:, :, None] + apart)
            column = _mean((left - others).sum(axis=1), by_pair.sum(axis=1), 1.0)
            alone = row[:, :, None] + column[:, None, :]
            apart = _mean(left - by_pair * alone, by_pair, _SHRINK)
            table[..., part] = alone + apart
            if part == PARTS - 1:
                value = table[..., part][..., None] + taken[:, None, None, :, part]
                explained = (value * poker).sum(axis=(1, 2, 3))
                weight = _mean(
                    sums[..., POKER_ABOVE].sum(axis=(1, 2, 3)) - explained,
                    sums[..., POKER_SQUARED].sum(axis=(1, 2, 3)),
                )
    return {
        "table": _in_steps(table * UNITS),
        "taken": _in_steps(taken * UNITS),
        "poker": _in_steps(weight * POKER_UNIT),
    }


def _mean(sums: Floats, counts: Floats, prior: float = 0.0) -> Floats:
    """Means that are 0 where nothing was counted; `prior` counts of 0 are added."""
    return np.asarray(sums / np.maximum(counts + prior, 1.0))


def _in_steps(values: Floats) -> npt.NDArray[np.int16]:
    limit = np.iinfo(np.int16).max
    return np.clip(np.rint(values), -limit, limit).astype(np.int16)


def as_file(arrays: dict[str, Any], about: dict[str, str]) -> bytes:
    """What `luck_value.ValueFunction` reads: the same bytes, and hash, for the same numbers.

    Args:
        arrays: `kinds`, what `fit` gives, and `mean`.
        about: how they were made.
    """
    from safetensors.numpy import save

    # One entry: the order of several is left to chance.
    return save(arrays, {"about": json.dumps(about, sort_keys=True)})


# --- the program ----------------------------------------------------------------------------------


def _gather(settings: Settings, kinds: npt.NDArray[np.int8], partial: Path) -> Floats:
    """The sums over all deals; groups that an interrupted run played are not played again."""
    meetings = list(product(settings.players, repeat=2))
    groups = max(1, settings.deals // (_AT_ONCE * len(meetings)))
    asked = json.dumps([settings.players, settings.seed, kinds.tolist()])
    size = int(kinds.max()) + 1
    sums = np.zeros((STAGES, size, size, MAX_HAND + 1, SUMS))
    done = 0
    if partial.exists():
        try:
            stored = _files.load_arrays(partial.read_bytes(), "asked", "done", "sums")
        except ValueError as error:
            raise ValueError(f"sums {partial} cannot be used, delete them: {error}") from error
        if str(stored["asked"]) == asked and stored["done"] <= groups:
            sums, done = stored["sums"], int(stored["done"])
    for group in track(range(done, groups), "deals", transient=True):
        for number, (first, second) in enumerate(meetings):
            seed = settings.seed + group * len(meetings) + number
            sums += play(first, second, _AT_ONCE, seed, kinds)
        with _files.replacing(partial) as temporary:
            np.savez(temporary, sums=sums, done=group + 1, asked=asked)
    return sums


@cli.main
def main(settings: Settings) -> None:
    """Play, fit and write the file."""
    check_integer("deals", settings.deals, 1)
    if settings.quick:
        print("quick: too few deals for a value function of any use")
        settings = replace(settings, deals=_QUICK)
    out = settings.out or (Path("runs/quick_luck_value.safetensors") if settings.quick else FILE)
    _files.writable_folder(out.absolute().parent)
    kinds = hand_kinds()
    partial = out.with_suffix(".partial.npz")
    sums = _gather(settings, kinds, partial)
    arrays: dict[str, Any] = {"kinds": kinds, **fit(sums)}
    arrays["mean"] = exact_mean(as_tables(**arrays))
    about = {
        "made by": "python -m training.fit_luck",
        "players": " ".join(settings.players),
        "deals": str(int(sums[0, ..., COUNT].sum())),
        "seed": str(settings.seed),
    }
    _files.write(out, as_file(arrays, about))
    partial.unlink(missing_ok=True)
    print(f"value function: {out}, {kinds.max() + 1} kinds of hands")


if __name__ == "__main__":
    main()
