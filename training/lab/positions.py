"""Positions in which somebody has to decide, to be judged by `training.lab.decision`.

A position is taken from a recorded match, from a deck and the actions made so far, or from an
environment or its saved state. Whatever the match was, it is judged as a deal of a rubber at the
score that stands. Only what the player to move may know is used of it: the opponent's hidden cards
and the stock are there, and nobody looks at them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from poke_env import poke_v0, records, render
from poke_env._checks import check_integer, shown
from poke_env.cards import format_cards
from poke_env.equity import places
from poke_env.games.poke import DRAW, FOLLOW, LEAD, MATCH_DEAL, MAX_HAND, POKE, STATE, Rules

States = npt.NDArray[np.void]
"""Records of dtype `poke_env.games.poke.STATE`."""
Pair = tuple[int, int]

_PHASES = {DRAW: "draw", LEAD: "lead", FOLLOW: "follow"}


@dataclass(frozen=True, eq=False)
class Position:
    """A position in which a player has to decide.

    Attributes:
        states: (1,) records, read-only; the match is a single deal, so that it ends there.
        made: the action that was made, None if it is not known.
        where: how it is called in a report, such as "deal 3, decision 7".

    Raises:
        ValueError: if nobody is to move, or the rules are not the standard ones (`must_beat` may
            be either).
    """

    states: States
    made: int | None = None
    where: str = "the position"

    def __post_init__(self) -> None:
        states = np.array(self.states, STATE).reshape(1)
        if int(states[0]["phase"]) not in _PHASES:
            raise ValueError(f"{self.where}: nobody has to decide anything there")
        standard = np.zeros(1, STATE)
        Rules(must_beat=bool(states[0]["rules"]["must_beat"])).write(standard[0]["rules"])
        if states["rules"].tobytes() != standard["rules"].tobytes():
            raise ValueError(
                f"{self.where}: rules must be the standard ones, with must_beat True or False"
            )
        states["match"] = MATCH_DEAL
        states.flags.writeable = False
        object.__setattr__(self, "states", states)
        if self.made is not None and self.made not in self.legal:
            raise ValueError(f"{self.where}: action {self.made} is illegal; legal are {self.legal}")

    @property
    def state(self) -> np.void:
        """The record."""
        found: np.void = self.states[0]
        return found

    @property
    def must_beat(self) -> bool:
        """The rule of following."""
        return bool(self.state["rules"]["must_beat"])

    @property
    def seat(self) -> int:
        """Who is to move."""
        return int(self.state["player"])

    @property
    def dealer(self) -> int:
        """Who deals."""
        return int(self.state["dealer"])

    @property
    def kind(self) -> str:
        """What has to be decided: "draw", "lead" or "follow"."""
        return _PHASES[int(self.state["phase"])]

    @property
    def legal(self) -> list[int]:
        """The legal actions, ascending."""
        return np.flatnonzero(self.mask).tolist()

    @property
    def mask(self) -> npt.NDArray[np.int8]:
        """The legal actions, int8 (32,)."""
        mask = np.zeros(2**MAX_HAND, np.int8)
        POKE.legal_actions(self.state, mask)
        return mask

    @property
    def place(self) -> int:
        """The score in the equity table (`poke_env.equity.scores`)."""
        order = [self.dealer, 1 - self.dealer]
        below, games = (self.state[name][order].tolist() for name in ("below", "games"))
        target = int(self.state["rules"]["target"])
        return int(places(target)[min(below[0], target), min(below[1], target), *games])

    def draws(self, seat: int) -> tuple[int, ...]:
        """The cards that a seat changed in each of its draws."""
        return tuple(int(size) for size in self.state["draw_size"][seat] if size)

    def text(self, action: int) -> str:
        """A legal action in words."""
        return POKE.action_text(self.state, action)

    def picture(self) -> str:
        """The table as the player to move sees it, as text."""
        return str(render.show(POKE.table(self.state, frozenset({self.seat})), "ansi"))

    def in_words(self) -> str:
        """The position in a sentence, the player's own numbers first."""
        state, own, other = self.state, self.seat, 1 - self.seat
        hand = state["hand"][own]
        held = int(state["held"][own])
        cards = format_cards(hand[slot] for slot in range(MAX_HAND) if held >> slot & 1)
        role = "dealer" if own == self.dealer else "non-dealer"
        drawn = " and ".join(
            f"{who} {'+'.join(map(str, self.draws(seat))) or 'none'}"
            for who, seat in (("own", own), ("other", other))
        )
        score = ", ".join(
            f"{name} {state[name][own]}–{state[name][other]}"
            for name in ("below", "games", "above")
        )
        table = ""
        if self.kind == "follow":
            led = int(state["trick_lead"][int(state["trick_count"])])
            faced = state["hand"][other]
            lead = format_cards(faced[slot] for slot in range(MAX_HAND) if led >> slot & 1)
            table = f", to follow {lead}"
        return f"player_{own} ({role}), own–other {score}; draws: {drawn}; holds {cards}{table}"


def all_decisions(record: records.Record) -> Iterator[tuple[int, int, Position]]:
    """Every decision of a recorded match: number of the deal and of the decision, from 1.

    Raises:
        ValueError: if it is no match of Poke under standard rules.
    """
    if record.game != POKE.name:
        raise ValueError(f"record must be of {POKE.name!r}, got {record.game!r}")
    if not record.deals:
        return
    env = poke_v0.raw_env(record.match, rules=record.rules)
    env.reset(seed=0, options=record.options())
    for number, deal in enumerate(record.deals, 1):
        for decision, action in enumerate(deal.actions, 1):
            where = f"deal {number}, decision {decision}"
            yield number, decision, Position(np.array([env.record]), action, where)
            env.step(action)


def from_record(record: records.Record, deal: int, decision: int) -> Position:
    """The position before a decision of a recorded match.

    Args:
        record: the match.
        deal: number of the deal, from 1.
        decision: number of the decision within it, from 1, both players counted.

    Raises:
        ValueError: naming the number, the value and what is allowed.
    """
    check_integer("deal", deal, 1, len(record.deals))
    check_integer("decision", decision, 1, len(record.deals[deal - 1].actions))
    return next(
        position
        for number, place, position in all_decisions(record)
        if (number, place) == (deal, decision)
    )


def from_cards(
    deck: str | Sequence[int],
    actions: str,
    dealer: int = 0,
    below: Pair = (0, 0),
    games: Pair = (0, 0),
    above: Pair = (0, 0),
    must_beat: bool = True,
) -> Position:
    """The position that actions lead to in a deal.

    Args:
        deck: the pack in the order of dealing, or the beginning of it: five cards of the
            non-dealer, five of the dealer, the non-dealer's replacements; the dealer's come from
            the back, so that a whole pack is needed once he has drawn. What the player to move
            cannot see does not matter.
        actions: those made so far, as numbers with spaces between, or in words with semicolons.
        dealer: the seat that deals.
        below, games, above: the score, by seat.
        must_beat: the rule of following.

    Raises:
        ValueError: naming what is wrong with deck, dealer, score or an action.
    """
    env = poke_v0.raw_env("deal", rules=Rules(must_beat=must_beat))
    cards = deck.split() if isinstance(deck, str) else list(deck)
    score = {"below": tuple(below), "games": tuple(games), "above": tuple(above)}
    env.reset(seed=0, options={"deck": cards, "dealer": dealer, "score": score})
    if re.fullmatch(r"[\d\s]*", actions):
        for number in actions.split():
            env.step(int(number))
    else:
        for text in actions.split(";"):
            env.step(env.text_to_action(text.strip()))
    return from_env(env)


def from_env(env: Any) -> Position:
    """The position in an environment, bare or wrapped."""
    bare = getattr(env, "unwrapped", None)
    if not isinstance(bare, poke_v0.raw_env):
        raise ValueError(f"env must be an AEC environment of Poke, got {shown(env)}")
    return Position(np.array([bare.record]))


def from_state(state: bytes, match: str = "rubber", must_beat: bool = True) -> Position:
    """The position in what `get_state` of `raw_env(match)` gave.

    Raises:
        ValueError: if it is damaged, or of other settings.
    """
    env = poke_v0.raw_env(match, rules=Rules(must_beat=must_beat))
    env.set_state(state)
    return from_env(env)
