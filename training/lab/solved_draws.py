"""What every draw of a hand is worth against the solved strategies of the draw phase.

The strategies are those that players play by (`agents.equilibrium`): each score is served by one
that was solved at a score like it. Against them the values of standing pat and of all discards are
exact in the model of `training.lab.draws`, with the payoffs of the very score. So they rest on an
opponent who draws by the strategy, on the player's own best draws from then on, on tricks as with
open cards, and on what the model simplifies: of own earlier discards it knows their mean number,
and the other hand may hold what this one has discarded. So high cards thrown away are judged as too
great a loss; of draws that come into question the values are hardly touched.

The dealer may meet draws that the strategy hardly ever makes. Then the other hand is taken to be
what a prior over draws says (`agents.prior`), among all hands.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from agents.equilibrium import DrawStrategies
from agents.hand_classes import TYPES, classify, in_hand
from agents.prior import Prior, hand_type, history_number
from agents.tricks import FIRST_HAND
from poke_env.games.poke import MAX_DRAWS, MAX_HAND
from training.lab._draw_loops import Floats
from training.lab.draws import (
    DRAW_CHOICES,
    HISTORIES,
    DrawModel,
    Payoffs,
    check_decision,
)
from training.lab.judgement import Judgement, worth_of_deal
from training.lab.positions import Position
from training.lab.stored import Worth

_SELDOM = 1e-3
"""Draws that the strategy makes in fewer of all deals: the few hands that make them say nothing
about a player who draws so more often."""


class Reach(NamedTuple):
    """How often both players end with each type (see `training.lab.draws.Response`), and how often
    each outcome happens between them, in the places of `Payoffs`."""

    non_dealer: Floats
    dealer: Floats
    outcomes: Payoffs


class SolvedDraws:
    """The draw phase as solved, to judge draws by.

    Args:
        worth: of the equity table.
        strategies: how both players draw.
        prior: what draws tell that the strategies hardly ever make.
        must_beat: the rule of following.
        balanced: whether pairs of hands are weighed as they can occur together; without it hands
            are independent, which may cost tens of points.
        threads: number of threads, by default one for each core.
    """

    def __init__(
        self,
        worth: Worth,
        strategies: DrawStrategies,
        prior: Prior,
        must_beat: bool = True,
        balanced: bool = True,
        threads: int | None = None,
    ) -> None:
        self._worth = worth
        self._strategies = strategies
        self._prior = prior
        self._balanced = balanced
        self.model = DrawModel(must_beat, threads=threads)
        self._reach: dict[tuple[int, ...], Reach] = {}
        if balanced:
            self.model.balance(*self.reach(0)[:2])  # one balance serves all scores
            self._reach.clear()

    def reach(self, place: int) -> Reach:
        """What both players end with by the strategies at a score."""
        numbers = tuple(self._strategies.serves[:, place].tolist())
        if numbers not in self._reach:
            actions = self._strategies.non_dealer[numbers[0]]
            answers = self._strategies.dealer[numbers[1]].transpose(0, 2, 1)
            padded = np.zeros((*answers.shape[:2], 16), np.int8)
            padded[..., : len(HISTORIES)] = answers
            own = self.model.non_dealer_reach(np.ascontiguousarray(actions.T))
            other = self.model.dealer_reach(padded)
            self._reach[numbers] = Reach(own, other, self.model.outcomes(own, other))
        return self._reach[numbers]

    def judge(self, position: Position) -> Judgement:
        """Judge every draw of a position of the draw phase.

        Raises:
            ValueError: if it is none, or the equity table is for other rules.
        """
        if position.kind != "draw":
            raise ValueError(f"{position.where} must be of the draw phase, is to {position.kind}")
        here = worth_of_deal(self._worth, position)
        expected = self._values(position, here.expected)
        winning = self._values(position, here.winning)
        nothing = np.zeros(len(expected))
        # What the other's strategy leaves open, being solved to a tolerance.
        error = np.full(len(expected), self._strategies.about.get("tolerance", 0.0))
        balance = "" if self._balanced else ", hands independent"
        return Judgement(
            np.array(position.legal, np.int64), expected, error, winning, nothing,
            expected.max() - expected, error, 0,
            f"draws by the {self._met(position)[1]}; tricks as with open cards{balance}",
        )  # fmt: skip

    def _values(self, position: Position, brings: Payoffs) -> Floats:
        """The value of each legal action, (K,).

        Args:
            position: of the draw phase.
            brings: what the outcomes of the deal bring to the player to move.
        """
        dealer = position.seat == position.dealer
        met, _ = self._met(position)
        often = self.reach(position.place).outcomes
        middle = float((often * brings).sum() / often.sum())
        # What all deals pay alike would count as often as the model thinks that hands meet.
        payoffs = middle - brings if dealer else brings - middle
        history = position.draws(1 - position.dealer)
        made = len(position.draws(position.seat))
        values = self.model.draw_values(dealer, met, payoffs, history, made)
        hand = np.array(position.state["hand"][position.seat], np.int8)
        order = np.zeros(MAX_HAND, np.int64)
        kind = classify(hand, self.model.hands.keys[MAX_HAND], order)
        columns = {in_hand(int(slots), order): n for n, slots in enumerate(DRAW_CHOICES)}
        return middle + values[kind, [columns[action] for action in position.legal]]

    def _met(self, position: Position) -> tuple[Floats, str]:
        """The other player's reach, and by what he draws."""
        solved = self.reach(position.place)
        if position.seat != position.dealer:
            return solved.dealer, "solved strategy"
        history = position.draws(1 - position.dealer)
        lane = check_decision(True, history, len(position.draws(position.seat)))
        if solved.non_dealer[:, lane].sum() > _SELDOM:
            return solved.non_dealer, "solved strategy"
        reach = np.zeros_like(solved.non_dealer)
        reach[:, lane] = self._by_prior(history)
        return reach, "prior of draws (the solved strategy hardly ever draws so)"

    def _by_prior(self, history: tuple[int, ...]) -> Floats:
        """How often each type is held after these draws of the non-dealer, adding up to 1."""
        hands = self.model.hands
        columns = [
            hand_type(int(FIRST_HAND[MAX_HAND] + multiset), int(one))
            for multiset, one in zip(hands.multiset, hands.flush, strict=True)
        ]
        changed = np.zeros(MAX_DRAWS, np.int64)
        changed[: len(history)] = history
        likelihood = self._prior[history_number(0, changed)][columns].astype(np.float64)
        found = np.bincount(hands.type, self.model.deal, TYPES) * likelihood
        return np.asarray(found / found.sum())
