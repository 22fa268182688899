"""What every action of a position is worth to the player to move.

E is his expected final margin: the points of this deal above the line and what the score after it
is worth by the equity table. W is his probability of winning the whole at the margin there is, a
draw counted as half. There are two ways to find them, and what each assumes is part of the result:

by table, in the trick phase
    Over hands that the opponent may hold (`training.lab.worlds`), each play is looked up in the
    solved tricks, as if all cards lay open from then on. The poker points are those of the hands.
by table, in the draw phase
    Over the model of `training.lab.draws` (see `training.lab.solved_draws`): the opponent draws by
    a solved strategy, the player himself goes on with his best draws, tricks are played as with
    open cards. Nothing is sampled. What is told apart by W has later draws that are best for W.
by roll-out
    Hands, discards and stock are sampled, the action is made, and named players finish the deal.
    No card is seen that a player could not see. The same samples and chances serve every action.

Standard errors are those of sampling alone; the error of a difference is that of paired samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track

from agents.plays import PLAYS, find_plays, weigh_play
from agents.prior import Prior
from agents.tricks import Moves, TrickTable, Values, hand_number, trick_table
from poke_env._jit import compiled
from poke_env.agent import Agent
from poke_env.cards import CATEGORY_SHIFT, hand_value
from poke_env.games import base
from poke_env.games.poke import MAX_HAND, POKE, Rules
from poke_env.observation import length
from poke_env.vector import BatchEnv
from training.lab._draw_loops import CATEGORIES, SPLITS
from training.lab.deals import Table, play_out
from training.lab.draws import Payoffs
from training.lab.positions import Position, States
from training.lab.solve_rubber import OUTCOMES
from training.lab.stored import Worth
from training.lab.worlds import Cards, Floats, Hands, Integers, complete, reading_of, sample_hands

_AT_ONCE = 4096
"""Deals that are played at once."""
_NOBODY = CATEGORIES - 1
"""Nobody scores for poker, in the last place of `Payoffs`."""
_CARDS = np.arange(SPLITS, dtype=np.float64)


class Judgement(NamedTuple):
    """What the legal actions of a position are worth, each in points or as a probability.

    Attributes:
        actions: int64 (K,), ascending.
        expected, winning: float64 (K,), E and W of the player to move.
        expected_error, winning_error: float64 (K,), standard errors from sampling.
        loss: float64 (K,), E of the best action less that of each.
        loss_error: float64 (K,), its standard error; 0 for the best one.
        samples: hands of the opponent that were looked at; 0 where none was.
        assumes: what the numbers rest on.
    """

    actions: Integers
    expected: Floats
    expected_error: Floats
    winning: Floats
    winning_error: Floats
    loss: Floats
    loss_error: Floats
    samples: int
    assumes: str

    @property
    def best(self) -> int:
        """The place of the best action; the first of equals."""
        return int(np.argmin(self.loss))

    def verdict(self, place: int) -> str:
        """ "best", "within error" of it, or "mistake"."""
        if self.loss[place] <= _EQUAL:
            return "best"
        return "within error" if self.loss[place] <= 2 * self.loss_error[place] else "mistake"


_EQUAL = 1e-6
"""A difference that is none, being due to rounding."""


class DealWorth(NamedTuple):
    """What the outcomes of the deal are worth to the player to move, in the places of `Payoffs`
    (by draws, by cards that the non-dealer takes, by who scores for poker)."""

    expected: Payoffs
    winning: Payoffs


def check_rules(worth: Worth, position: Position) -> None:
    """Raise ValueError if the equity table is for other rules than those of the position."""
    if worth.rules != Rules(must_beat=position.must_beat):
        raise ValueError(
            f"table must be for the rules of the position, must_beat {position.must_beat}, "
            f"{worth.table.version!r} is for others"
        )


def worth_of_deal(worth: Worth, position: Position) -> DealWorth:
    """What the outcomes of the deal going on are worth to the player to move.

    Raises:
        ValueError: if the equity table is for other rules.
    """
    check_rules(worth, position)
    dealer = position.dealer
    above = position.state["above"]
    expected = worth.payoffs(position.place)
    winning = worth.win(position.place, worth.every, int(above[1 - dealer]) - int(above[dealer]))
    winning = winning.reshape(OUTCOMES)
    if position.seat == dealer:
        return DealWorth(-expected, 1.0 - winning)
    return DealWorth(expected, winning)


def judge(
    actions: Sequence[int], expected: Floats, winning: Floats, hands: Hands, assumes: str
) -> Judgement:
    """A judgement from what each action brought with each hand, (K, N)."""
    means, errors = hands.mean(expected)
    chances, chance_errors = hands.mean(winning)
    _, loss_errors = hands.mean(expected[means.argmax()] - expected)
    return Judgement(
        np.array(actions, np.int64), means, errors, chances, chance_errors, means.max() - means,
        loss_errors, len(hands.weights), assumes,
    )  # fmt: skip


# --- tricks by table ------------------------------------------------------------------------------


def tricks_by_table(
    position: Position, worth: Worth, prior: Prior, samples: int, chance: np.random.Generator
) -> Judgement:
    """Judge a lead or an answer by the solved tricks.

    Args:
        position: of the trick phase.
        worth: of the equity table.
        prior: what the opponent's draws tell (`training.lab.worlds`).
        samples: hands that are looked at, at most.
        chance: of their choice.
    """
    hands = sample_hands(position, prior, samples, chance)
    taken = cards_by_play(position, hands)
    if position.seat == position.dealer:
        taken = MAX_HAND - taken
    scores = _scores_for_poker(position, hands.whole)
    dealer = position.dealer
    made = len(position.draws(1 - dealer)), len(position.draws(dealer))
    here = worth_of_deal(worth, position)
    how = "all hands that he can hold" if hands.listed else f"{samples:,} hands that he may hold"
    return judge(
        position.legal, here.expected[made][taken, scores], here.winning[made][taken, scores],
        hands, f"{how}; tricks as with open cards",
    )  # fmt: skip


def cards_by_play(position: Position, hands: Hands) -> Integers:
    """The cards that the player takes of the deal if all lay open from now on, int64 (K, N).

    Args:
        position: of the trick phase.
        hands: the opponent's, N of them.
    """
    numbers = _hand_numbers(hands.hidden)
    readings = reading_of(position)
    table = trick_table(position.must_beat)
    taken = np.zeros((len(position.legal), len(numbers)), np.int64)
    _look_up(readings, np.array(position.legal), numbers, *_solved(table), taken)
    return taken


def _solved(table: TrickTable) -> tuple[bool, Values, Values, Moves]:
    return table.must_beat, table.values, table.mirrored, table.moves


@compiled
def _hand_numbers(hidden: Cards) -> Integers:
    numbers = np.zeros(hidden.shape[0], np.int64)
    ranks = np.zeros(MAX_HAND, np.int8)
    for i in range(hidden.shape[0]):
        for j in range(hidden.shape[1]):
            ranks[j] = hidden[i, j] >> 2
        numbers[i] = hand_number(ranks, hidden.shape[1])
    return numbers


@compiled
def _look_up(
    readings: npt.NDArray[np.void],
    actions: Integers,
    numbers: Integers,
    must_beat: bool,
    values: Values,
    mirrored: Values,
    moves: Moves,
    taken: Integers,
) -> None:
    plays = np.zeros(1, PLAYS)
    mask = np.zeros(1 << MAX_HAND, np.int8)
    one = np.ones(1)
    for k in range(actions.shape[0]):
        mask[:] = 0
        mask[actions[k]] = 1
        find_plays(readings[0], mask, plays[0])
        for j in range(numbers.shape[0]):
            cards = weigh_play(
                readings[0], _CARDS, numbers[j : j + 1], one, must_beat, values, mirrored, moves,
                plays[0], 0,
            )  # fmt: skip
            taken[k, j] = int(cards)


def _scores_for_poker(position: Position, whole: Cards) -> Integers:
    """Who scores for poker against each hand, int64 (N,), in the last place of `Payoffs`."""
    own = np.array(position.state["hand"][position.seat], np.int8)
    sign = -1 if position.seat == position.dealer else 1
    return _NOBODY + sign * _compare(own, whole)


@compiled
def _compare(own: Cards, others: Cards) -> Integers:
    """The category of the better hand, negative if that is the other one; 0 if they are equal."""
    found = np.zeros(others.shape[0], np.int64)
    value = hand_value(own, MAX_HAND, True)
    for i in range(others.shape[0]):
        other = hand_value(others[i], MAX_HAND, True)
        if value > other:
            found[i] = value >> CATEGORY_SHIFT
        elif other > value:
            found[i] = -(other >> CATEGORY_SHIFT)
    return found


# --- roll-outs ------------------------------------------------------------------------------------


def by_roll_out(
    position: Position,
    worth: Worth,
    prior: Prior,
    players: tuple[Agent, ...],
    samples: int,
    seed: int,
    console: Console | None = None,
) -> Judgement:
    """Judge every action by playing the deal to its end.

    Args:
        position: any.
        worth: of the equity table.
        prior: what the opponent's draws tell (`training.lab.worlds`).
        players: who goes on: one for both seats, or two in the order of the seats.
        samples: deals played for each action; hands that are few are spread over all of them.
        seed: of hands, stock and the players' chances.
        console: where progress is shown, if anywhere.

    Raises:
        ValueError: if a player makes an illegal move.
    """
    chance = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_WORLDS,)))
    hands = sample_hands(position, prior, samples, chance)
    if hands.listed:
        hands = _spread(hands, samples, chance)
    states, decks = complete(position, hands, chance)
    table = Table(Rules(must_beat=position.must_beat), players, seed)
    here = worth_of_deal(worth, position)
    actions = position.legal
    expected, winning = np.zeros((2, len(actions), samples))
    parts = [
        (k, slice(at, min(at + _AT_ONCE, samples)))
        for k in range(len(actions))
        for at in range(0, samples, _AT_ONCE)
    ]
    for k, part in track(
        parts, "roll-outs", console=console, transient=True, disable=console is None
    ):
        begun = Deals(states[part], decks[part])
        begun.step(np.full(len(begun.states), actions[k]))
        play_out(cast(BatchEnv, begun), table, np.arange(part.start, part.stop))
        outcome = outcomes(begun.states)
        expected[k, part], winning[k, part] = here.expected[outcome], here.winning[outcome]
    return judge(actions, expected, winning, hands, f"{samples:,} deals, each played to its end")


_WORLDS = 6
"""Sets hands and stock apart from all else that is derived from the same seed."""


def _spread(hands: Hands, samples: int, chance: np.random.Generator) -> Hands:
    """So many samples of listed hands, which differ in discards and stock."""
    chosen = chance.choice(len(hands.weights), samples, p=hands.weights)
    weights = np.full(samples, 1.0 / samples)
    return Hands(hands.hidden[chosen], hands.whole[chosen], weights, listed=False)


class Deals:
    """Deals that go on from any position, as `training.lab.deals.play_out` plays them.

    Args:
        states: records (N,), copied; the match is a single deal.
        decks: int8 (N, 52).
    """

    def __init__(self, states: States, decks: Cards) -> None:
        self.states = states.copy()
        self.decks = np.ascontiguousarray(decks)
        self.rewards = np.zeros((len(states), 2))
        self._seen = np.zeros((len(states), length(POKE)), np.float32)
        self._masks = np.zeros((len(states), 2**MAX_HAND), np.int8)
        self._seats = np.zeros(len(states), np.int8)

    def observe(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8], npt.NDArray[np.int8]]:
        """Observations, masks and seats to act; -1 and an empty mask where the deal is over."""
        _show(self.states, self._seen, self._masks, self._seats)
        return self._seen, self._masks, self._seats

    def step(self, actions: Integers) -> tuple[Any, ...]:
        """Carry out actions (N,); deals that are over stay as they are.

        Raises:
            ValueError: if one is illegal.
        """
        _, masks, seats = self.observe()
        rows = np.flatnonzero(seats >= 0)
        asked = np.clip(actions[rows], 0, masks.shape[1] - 1)
        illegal = (asked != actions[rows]) | (masks[rows, asked] == 0)
        if illegal.any():
            raise ValueError(f"action {actions[rows][illegal][0]} of a player is illegal")
        _act(self.states, self.decks, actions)
        return (*self.observe(), self.rewards, self._seats < 0)


@compiled
def _act(states: States, decks: Cards, actions: Integers) -> None:
    for i in range(states.shape[0]):
        if base.to_move(states[i]) >= 0:
            base.apply(states[i], decks[i], actions[i])


@compiled
def _show(
    states: States,
    seen: npt.NDArray[np.float32],
    masks: npt.NDArray[np.int8],
    seats: npt.NDArray[np.int8],
) -> None:
    for i in range(states.shape[0]):
        seats[i] = -1
        masks[i] = 0
        if base.to_move(states[i]) >= 0:
            seats[i] = base.to_move(states[i])
            base.legal_actions(states[i], masks[i])
            base.observe(states[i], seats[i], seen[i])


def outcomes(ends: States) -> tuple[Integers, Integers, Integers, Integers]:
    """The places of finished deals among `Payoffs`, int64 (N,) each."""
    rows = np.arange(len(ends))
    dealer = ends["dealer"].astype(np.int64)
    draws = ends["draw_count"].astype(np.int64)
    poker = ends["deal_poker"].astype(np.int64)
    own, other = poker[rows, 1 - dealer], poker[rows, dealer]
    points = np.array(Rules().poker_points)
    scored = np.searchsorted(points, own) - np.searchsorted(points, other)
    taken = ends["deal_taken"][rows, 1 - dealer].astype(np.int64)
    return draws[rows, 1 - dealer], draws[rows, dealer], taken, _NOBODY + scored
