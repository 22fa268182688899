"""Lots: a made-up card game of three to six players, for tests of what is written for any number.

Twelve cards, two for each player. In turn from the dealer's left everybody lays one of his cards
and pays a chip if it is the lower one; chips paid are nobody's. The highest card wins ten chips,
paid by the other sides in equal shares. A game ends when a side has won twenty. Four players may be
partners across the table; partners are paid alike, by what both lay.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from poke_env._jit import compiled, inlined
from poke_env._records import record_dtype
from poke_env.games.base import (
    DEAL_ENDED,
    MATCH_OVER,
    MATCHES,
    PAID,
    WANTS_DECK,
    Game,
    Piece,
    Table,
    register,
    share_win,
)

SEATS = 6
TARGET = 20.0
DEAL, PLAY, OVER = range(3)
ACTIONS = ("lower", "higher")

RULES = record_dtype(("players", np.int8), ("partners", np.int8))
STATE = record_dtype(
    ("rules", RULES),
    ("match", np.int8),
    ("phase", np.int8),
    ("dealer", np.int8),
    ("player", np.int8),
    ("laid", np.int8, (SEATS,)),
    ("hand", np.int8, (SEATS, 2)),
    ("won", np.float64, (SEATS,)),
    ("paid", np.float64, (SEATS,)),
)


@dataclass(frozen=True)
class Rules:
    players: int = 3
    partners: bool = False

    def write(self, record: Any) -> None:
        record["players"], record["partners"] = self.players, self.partners

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


class Sheet(NamedTuple):
    won: tuple[float, ...]
    dealer: int
    deals: tuple[Any, ...]


@inlined
def players(state: np.void) -> int:
    return int(state["rules"]["players"])


@inlined
def side_of(state: np.void, seat: int) -> int:
    return seat % 2 if state["rules"]["partners"] else seat


@inlined
def to_move(state: np.void) -> int:
    if state["phase"] == PLAY:
        return int(state["player"])
    return WANTS_DECK if state["phase"] == DEAL else MATCH_OVER


@compiled
def deal(state: np.void, deck: Any, dealer: int) -> None:
    count = players(state)
    state["dealer"] = (state["dealer"] + 1) % count if dealer < 0 else dealer
    state["player"] = (state["dealer"] + 1) % count
    state["phase"] = PLAY
    for place in range(count):
        seat = (state["player"] + place) % count
        state["laid"][seat] = -1
        state["hand"][seat, 0] = min(deck[2 * place], deck[2 * place + 1])
        state["hand"][seat, 1] = max(deck[2 * place], deck[2 * place + 1])


@compiled
def legal_actions(state: np.void, mask: Any) -> int:
    mask[:] = 1
    return mask.shape[0]


@compiled
def apply(state: np.void, deck: Any, action: int) -> None:
    count = players(state)
    seat = int(state["player"])
    sides = 2 if state["rules"]["partners"] else count
    state["laid"][seat] = state["hand"][seat, action]
    for other in range(count):
        alike = side_of(state, other) == side_of(state, seat)
        state["paid"][other] = -1.0 if alike and action == 0 else 0.0
    state["player"] = (seat + 1) % count
    if seat != state["dealer"]:
        return
    best = 0
    for other in range(count):
        if state["laid"][other] > state["laid"][best]:
            best = other
    state["phase"] = DEAL
    for other in range(count):
        if side_of(state, other) == side_of(state, best):
            state["won"][other] += 10.0
            state["paid"][other] += 10.0
            if state["won"][other] >= TARGET:
                state["phase"] = OVER
        else:
            state["paid"][other] -= 10.0 / (sides - 1)
    if state["match"] == 0:
        state["phase"] = OVER


@inlined
def points(state: np.void, below_value: float, reward: Any) -> int:
    for seat in range(players(state)):
        reward[seat] = state["paid"][seat]
    return PAID if state["phase"] == PLAY else DEAL_ENDED


@inlined
def result(state: np.void, total: Any, reward: Any) -> None:
    share_win(state["won"], players(state), reward)


@compiled
def standing(state: np.void, seat: int) -> int:
    best = 0.0
    for other in range(players(state)):
        if side_of(state, other) != side_of(state, seat):
            best = max(best, state["won"][other])
    return int(1 + np.sign(state["won"][seat] - best))


@compiled
def observe(state: np.void, seat: int, observation: Any) -> None:
    observation[0] = state["hand"][seat, 0]
    observation[1] = state["hand"][seat, 1]
    observation[2] = seat == state["dealer"]


def sides(state: np.void) -> tuple[tuple[int, ...], ...]:
    if state["rules"]["partners"]:
        return ((0, 2), (1, 3))
    return tuple((seat,) for seat in range(int(state["rules"]["players"])))


def pack(rules: Rules) -> tuple[int, ...]:
    return tuple(range(12))


def num_actions(rules: Rules) -> int:
    return len(ACTIONS)


def action_text(state: np.void, action: int) -> str:
    return ACTIONS[action]


def parse_action(state: np.void, text: str) -> int:
    return ACTIONS.index(text)


def table(state: np.void, viewers: frozenset[int]) -> Table:
    return Table("lots", ())


def begin(state: np.void) -> None:
    state["laid"] = -1


def place_score(state: np.void, score: Mapping[str, Any]) -> None:
    for seat, number in enumerate(score.get("won", ())):
        state["won"][seat] = number


def score_sheet(state: np.void, finished: Any) -> Sheet:
    count = int(state["rules"]["players"])
    return Sheet(tuple(state["won"][:count].tolist()), int(state["dealer"]), tuple(finished))


assert MATCHES[0] == "deal"

LOTS = register(
    Game(
        name="lots",
        version=0,
        seats=SEATS,
        max_cards=12,
        matches=("game", "deal"),
        rewards=("points", "win"),
        pays_within_deals=True,
        max_deals=50,
        rules=Rules,
        presets={"standard": Rules(), "partners": Rules(4, True)},
        state=STATE,
        view=(Piece("hand", 2, 0, 11, "cards"), Piece("dealer", 1, 0, 1, "whether it deals")),
        standings=("behind", "level", "ahead"),
        to_move=to_move,
        players=players,
        deal=deal,
        legal_actions=legal_actions,
        apply=apply,
        observe=observe,
        points=points,
        result=result,
        standing=standing,
        sides=sides,
        begin=begin,
        pack=pack,
        num_actions=num_actions,
        place_score=place_score,
        action_text=action_text,
        parse_action=parse_action,
        table=table,
        decode=dict,
        score_sheet=score_sheet,
    )
)
