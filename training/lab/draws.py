"""The draw phase at equilibrium: when to draw, what to discard, and what a double is worth.

The game solved is Poke's draw phase with all 2,598,960 hands on both sides. Its public histories
are the non-dealer's draws; the dealer answers each of them, and nobody sees more of him than how
often he drew. The cards that the non-dealer takes follow from the final hands by the solved trick
phase (`agents.tricks`), so a deal's payoff depends on the two final types, of which there are
7,462, and on the numbers of draws. The payoff may be any function of these: see `Payoffs`.

A player's best answer is exact. The value of every draw of every hand is a sum over the hands that
contain a set of two to four cards, by inclusion and exclusion over the discards; the distribution
of final hands is the adjoint of that sum. Fictitious play, in which the players take turns and
iteration t counts t³ times, then finds the equilibrium; how far a pair of strategies is from one is
measured exactly after every iteration, by what best answers to them gain.

The model simplifies what real cards do, and corrects most of what it simplifies:

- The two hands are drawn independently. Pairs of final hands are weighted by the chance that they
  have no card in common, scaled so that both players' distributions stay what they are
  (`DrawModel.balance`).
- Cards drawn come from all cards not in the hand or just discarded. At a second and third draw,
  the player's earlier discards are gone too (`gone`): cards of ranks that he does not hold are
  that much rarer.

`training.lab.real_cards` measures with real cards what is left of the error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product
from math import comb
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from agents.hand_classes import CLASSES, FIRST_SET, NUM_HANDS, SETS, TYPES, hand_classes
from agents.tricks import trick_table
from poke_env._checks import check_integer
from poke_env._threads import cores, in_parallel, split
from poke_env.games.poke import MAX_HAND, Rules
from training.lab import _draw_loops as loops
from training.lab._draw_loops import CATEGORIES, SPLITS, Actions, Floats
from training.lab._lanes import WIDTH

HISTORIES: tuple[tuple[int, ...], ...] = (
    (),
    *((first,) for first in (1, 2, 3)),
    *product((1, 2, 3), repeat=2),
)
"""What the dealer can have seen: the cards that the non-dealer changed in each draw."""

NON_DEALER_DRAWS = 2
DEALER_DRAWS = 3
DRAWS_MADE = np.array([len(history) for history in HISTORIES])
RESULTS = 2 * CATEGORIES - 1
"""Who scores for poker: 9 is nobody, 9 + k the non-dealer, 9 - k the dealer, with category k."""

Payoffs = npt.NDArray[np.float64]
"""What a deal brings the non-dealer, float64 (3, 4, 6, 19): by his draws, the dealer's draws, the
cards that he takes, and who scores for poker (see `RESULTS`). The dealer gets the opposite."""

DRAW_CHOICES = np.concatenate(([0], loops.DRAW_ACTION))
"""Standing pat and all draws, the slots discarded as bits."""

_LANES = 16
"""Histories, and what is missing to a multiple of four."""
_HANDS = CLASSES[MAX_HAND]

GONE_NON_DEALER = (0.0, 2.5)
GONE_DEALER = (0.0, 2.5, 4.5)
"""Cards that a player has discarded, on the average, before each of his draws."""
_UNMATCHED = 45.0
"""Of the 47 cards that a player does not hold, those of ranks that he did not keep."""


def linear_payoffs(
    non_dealer_price: float, dealer_price: float, rules: Rules | None = None
) -> Payoffs:
    """Payoffs with a constant price of a point below the line, for each player.

    Args:
        non_dealer_price, dealer_price: what a point below the line is worth to the non-dealer, and
            to the dealer, in points above it.
        rules: with the trick values, poker and sweep points; the standard ones by default.
    """
    rules = rules or Rules()
    cards = np.arange(SPLITS)
    own = np.multiply.outer(rules.dealer_values, cards)[None]
    other = np.multiply.outer(rules.non_dealer_values, MAX_HAND - cards)[:, None]
    worth = non_dealer_price * own - dealer_price * other
    return worth[..., None] + above_the_line(rules)


def above_the_line(rules: Rules) -> Floats:
    """The poker and sweep points of a deal, the non-dealer's less the dealer's, float64 (6, 19)."""
    sweeps = np.zeros(SPLITS)
    sweeps[0], sweeps[-1] = -rules.sweep_points, rules.sweep_points
    poker = np.array(rules.poker_points, np.float64)
    return sweeps[:, None] + np.concatenate((-poker[:0:-1], poker))


class Response(NamedTuple):
    """A best answer.

    Attributes:
        value: what it brings its player against the strategy it answers.
        reach: how often each type is reached: (7462, 16) by history for the non-dealer,
            (7462, 4, 16) by number of draws and history for the dealer.
        actions: int8, the slots of each class discarded as bits, 0 to stand pat: for the non-dealer
            (134459, 4), his first decision and the second after one, two and three cards; for the
            dealer (3, 134459, 16), his decisions after each history.
    """

    value: float
    reach: Floats
    actions: Actions


class DrawModel:
    """The tables and operators of the draw phase; a few seconds to build, 0.4 GB.

    Args:
        must_beat: the trick phase's rule.
        gone: let a player's earlier discards be gone.
        threads: number of threads, by default one for each core.
    """

    def __init__(
        self,
        must_beat: bool = True,
        gone: bool = True,
        threads: int | None = None,
    ) -> None:
        self.threads = threads or cores()
        self.hands = hand_classes()
        self.deal = self.hands.size / NUM_HANDS
        self._codes = np.zeros((TYPES, TYPES), np.uint8)
        self._share_out(
            partial(
                loops.write_codes,
                trick_table(must_beat).values,
                self.hands.ranks,
                self.hands.multiset,
                self.hands.flush,
                self._codes,
            ),
            TYPES,
        )
        self._weight = np.ones(loops.NUM_CODES)
        self._scales = np.ones((2, TYPES))
        self._category_start = np.searchsorted(self.hands.category, np.arange(CATEGORIES + 1))
        self._completions = {drawn: self._find_completions(drawn) for drawn in (1, 2, 3)}
        draws = {cards: self._prepare(cards if gone else 0.0) for cards in
                 {*GONE_NON_DEALER, *GONE_DEALER}}  # fmt: skip
        self._non_dealer_draws = [draws[cards] for cards in GONE_NON_DEALER]
        self._dealer_draws = [draws[cards] for cards in GONE_DEALER]

    # What the deal is worth -----------------------------------------------------------------------

    def dealer_values(self, reach: Floats, payoffs: Payoffs) -> Floats:
        """What it is worth to the dealer to end with each type: (7462, 4, 16), by draws, history.

        Args:
            reach: of the non-dealer, see `Response`.
            payoffs: see `Payoffs`.
        """
        values = np.empty((TYPES, DEALER_DRAWS + 1, _LANES))
        self._share_out(
            partial(
                loops.dealer_values,
                self._codes,
                self._weight,
                self._category_start,
                reach * self._scales[0, :, None],
                *_by_winner(payoffs),
                values,
            ),
            TYPES,
        )
        values *= -self._scales[1, :, None, None]
        return values

    def non_dealer_values(self, reach: Floats, payoffs: Payoffs) -> Floats:
        """What it is worth to the non-dealer to end with each type: (7462, 16), by history.

        Args:
            reach: of the dealer, see `Response`.
            payoffs: see `Payoffs`.
        """
        win, lose = _by_winner(payoffs)
        scaled = reach * self._scales[1, :, None, None]

        def against(part: slice) -> Floats:
            values = np.zeros((TYPES, _LANES))
            loops.non_dealer_values(
                self._codes, self._weight, self._category_start, scaled, win, lose, values,
                part.start, part.stop,
            )  # fmt: skip
            return values

        parts = in_parallel(against, split(TYPES, self.threads, 64), self.threads)
        return np.asarray(sum(parts)) * self._scales[0, :, None]

    def outcomes(self, non_dealer: Floats, dealer: Floats) -> Payoffs:
        """How often each outcome happens, in the places of `Payoffs`.

        Args:
            non_dealer, dealer: reach of their strategies, see `Response`.
        """

        def against(part: slice) -> Payoffs:
            counts = np.zeros((NON_DEALER_DRAWS + 1, DEALER_DRAWS + 1, SPLITS, RESULTS))
            loops.add_outcomes(
                self._codes, self._weight, self._category_start,
                non_dealer * self._scales[0, :, None], dealer * self._scales[1, :, None, None],
                DRAWS_MADE, counts, part.start, part.stop,
            )  # fmt: skip
            return counts

        parts = in_parallel(against, split(TYPES, self.threads, 64), self.threads)
        return np.asarray(sum(parts))

    def balance(self, non_dealer: Floats, dealer: Floats, rounds: int = 30) -> None:
        """Weigh pairs of hands by the chance that they have no card in common, scaled so that these
        strategies' final hands stay as likely as they are (Sinkhorn's iteration).

        Args:
            non_dealer, dealer: reach of their strategies, see `Response`.
            rounds: of the iteration, at most.
        """
        own = np.zeros((TYPES, _LANES))
        other = np.zeros((TYPES, DEALER_DRAWS + 1, _LANES))
        own[:, 0] = non_dealer.sum(1)
        other[:, 0, 0] = np.einsum("tdh,h->t", dealer, non_dealer.sum(0))
        ones = np.ones((NON_DEALER_DRAWS + 1, DEALER_DRAWS + 1, SPLITS, RESULTS))
        self._weight = loops.CODE_APART.copy()
        self._scales[:] = 1.0
        for _ in range(rounds):
            before = self._scales[0].copy()
            self._scales[1] /= -self.dealer_values(own, ones)[:, 0, 0]
            self._scales[0] /= self.non_dealer_values(other, ones)[:, 0]
            if np.abs(self._scales[0] / before - 1).max() < 1e-9:
                return

    # Best answers ---------------------------------------------------------------------------------

    def dealer_response(self, reach: Floats, payoffs: Payoffs) -> Response:
        """The dealer's best answer to the non-dealer's `reach`."""
        value, actions = self.dealer_best(reach, payoffs)
        return Response(value, self.dealer_reach(actions), actions)

    def non_dealer_response(self, reach: Floats, payoffs: Payoffs) -> Response:
        """The non-dealer's best answer to the dealer's `reach`."""
        value, actions = self.non_dealer_best(reach, payoffs)
        return Response(value, self.non_dealer_reach(actions), actions)

    def best_values(
        self, non_dealer: Floats, dealer: Floats, payoffs: Payoffs
    ) -> tuple[float, float]:
        """What best answers to the other's `reach` bring the non-dealer, and the dealer."""
        return self.non_dealer_best(dealer, payoffs)[0], self.dealer_best(non_dealer, payoffs)[0]

    def dealer_best(self, reach: Floats, payoffs: Payoffs) -> tuple[float, Actions]:
        """Value and actions of `dealer_response`, which take less time without its reach."""
        actions = np.empty((DEALER_DRAWS, _HANDS, _LANES), np.int8)
        values, _ = self._dealer_decisions(self.dealer_values(reach, payoffs), actions)
        return float((self.deal @ values)[: len(HISTORIES)].sum()), actions

    def non_dealer_best(self, reach: Floats, payoffs: Payoffs) -> tuple[float, Actions]:
        """Value and actions of `non_dealer_response`, likewise."""
        actions = np.empty((2, _HANDS, WIDTH), np.int8)
        values, _ = self._non_dealer_decisions(self.non_dealer_values(reach, payoffs), actions)
        decisions = np.concatenate((actions[0, :, :1], actions[1, :, :3]), axis=1)
        return float(self.deal @ values), decisions

    def standing_pat(self) -> Floats:
        """How often a non-dealer who never draws ends with each type."""
        ends = np.zeros((TYPES, _LANES))
        ends[:, 0] = np.bincount(self.hands.type, self.deal, TYPES)
        return ends

    def dealer_reach(self, actions: Actions) -> Floats:
        """How often the dealer ends with each type when he plays by these actions.

        Args and result: see `Response`.
        """
        ends = np.empty((TYPES, DEALER_DRAWS + 1, _LANES))
        mass = np.repeat(self.deal[:, None], _LANES, 1)
        for draw in range(DEALER_DRAWS):
            method = self._dealer_draws[draw]
            stood, after = self._spread_draws(mass, actions[draw], method, shared=True)
            ends[:, draw] = stood
            mass = self._spread_sums(after[0], method)
        ends[:, DEALER_DRAWS] = self._by_type(mass)
        return ends

    def non_dealer_reach(self, actions: Actions) -> Floats:
        """How often the non-dealer ends with each type when he plays by these actions.

        Args and result: see `Response`.
        """
        first, second = self._non_dealer_draws
        # Lanes: of the second decision, the number of cards changed in the first draw, less one.
        both = np.zeros((2, _HANDS, WIDTH), np.int8)
        both[0, :, 0], both[1, :, :3] = actions[:, 0], actions[:, 1:]
        ends = np.zeros((TYPES, _LANES))
        mass = np.zeros((SETS, WIDTH))
        mass[:_HANDS, 0] = self.deal
        stood, after = self._spread_draws(mass, both[0], first)
        ends[:, 0] = stood[:, 0]
        for drawn in range(3):
            mass[:, drawn] = self._spread_sums(after[drawn], first, drawn + 1)[:, 0]
        stood, after = self._spread_draws(mass, both[1], second)
        ends[:, 1:4] = stood[:, :3]
        for drawn in range(3):
            changed = self._spread_sums(after[drawn], second, drawn + 1)
            ends[:, 4 + drawn : 13 : 3] = self._by_type(changed)[:, :3]
        return ends

    def draw_values(
        self, dealer: bool, reach: Floats, payoffs: Payoffs, history: tuple[int, ...], draws: int
    ) -> Floats:
        """What standing and each draw of every class are worth, float64 (134459, 26).

        Later decisions of the player are his best ones. The columns are `DRAW_CHOICES`.

        Args:
            dealer: whose decision it is.
            reach: of the other player, see `Response`.
            payoffs: see `Payoffs`.
            history: what the non-dealer has drawn, one of `HISTORIES`.
            draws: draws that the player has made.

        Raises:
            ValueError: if there is no such decision.
        """
        lane = check_decision(dealer, history, draws)
        if dealer:
            actions = np.empty((DEALER_DRAWS, _HANDS, _LANES), np.int8)
            _, decisions = self._dealer_decisions(self.dealer_values(reach, payoffs), actions)
            share = reach[:, lane].sum()
        else:
            actions = np.empty((2, _HANDS, WIDTH), np.int8)
            final = self.non_dealer_values(reach, payoffs)
            _, decisions = self._non_dealer_decisions(final, actions)
            lane = history[0] - 1 if history else 0
            share = 1.0
        values = np.empty((_HANDS, len(DRAW_CHOICES)))
        stand, after, method = decisions[draws]
        self._share_out(
            partial(
                loops.every_draw, self.hands.subsets, self.hands.type, *method, stand,
                tuple(after), lane, values,
            ),
            _HANDS,
        )  # fmt: skip
        return np.asarray(values / max(share, np.finfo(float).tiny))

    def _dealer_decisions(self, final: Floats, actions: Actions) -> tuple[Floats, list[_Decision]]:
        """Decide backwards; what each class is worth, and the dealer's decisions.

        Args:
            final: what it is worth to end with each type, see `dealer_values`.
            actions: int8 (3, 134459, 16), written.
        """
        decisions = []
        values = np.empty((SETS, _LANES))
        values[:_HANDS] = final[self.hands.type, DEALER_DRAWS]
        for draw in range(DEALER_DRAWS - 1, -1, -1):
            method = self._dealer_draws[draw]
            after = self._add_sums(values, method)
            stand = np.ascontiguousarray(final[:, draw])
            decisions.append(_Decision(stand, [after], method))
            values = self._best_draws(*decisions[-1], actions[draw])
        return values[:_HANDS], decisions[::-1]

    def _non_dealer_decisions(
        self, final: Floats, actions: Actions
    ) -> tuple[Floats, list[_Decision]]:
        """As `_dealer_decisions`; `actions` is int8 (2, 134459, 4), the last column of no use."""
        first, second = self._non_dealer_draws
        # Lanes: the number of cards changed in the first draw, less one.
        after = []
        for drawn in range(3):
            values = np.zeros((SETS, WIDTH))
            values[:_HANDS, :3] = final[self.hands.type, 4 + drawn : 13 : 3]
            after.append(self._add_sums(values, second, drawn + 1))
        stand = np.zeros((TYPES, WIDTH))
        stand[:, :3] = final[:, 1:4]
        last = _Decision(stand, after, second)
        again = self._best_draws(*last, actions[1])
        after = []
        for drawn in range(3):
            values = np.zeros((SETS, WIDTH))
            values[:_HANDS, 0] = again[:_HANDS, drawn]
            after.append(self._add_sums(values, first, drawn + 1))
        stand = np.zeros((TYPES, WIDTH))
        stand[:, 0] = final[:, 0]
        decision = _Decision(stand, after, first)
        values = self._best_draws(*decision, actions[0])
        return values[:_HANDS, 0], [decision, last]

    # Draws ----------------------------------------------------------------------------------------

    def _find_completions(self, drawn: int) -> tuple[Any, Any]:
        sets = CLASSES[MAX_HAND - drawn]
        ways = comb(52 - MAX_HAND + drawn, drawn)
        classes, fresh = np.empty((sets, ways), np.int32), np.empty((sets, ways), np.uint8)
        keys = self.hands.keys
        loops.write_completions(keys[MAX_HAND - drawn], keys[MAX_HAND], drawn, classes, fresh)
        return classes, fresh

    def _prepare(self, gone: float) -> _Draw:
        powers = (1 - gone / _UNMATCHED) ** np.arange(4.0)
        draw = _Draw(powers, np.empty((_HANDS, loops.DRAWS)))
        ones = self._add_sums(np.ones((SETS, WIDTH)), draw)
        loops.write_shares(self.hands.subsets, ones, powers, draw.shares)
        return draw

    def _add_sums(self, values: Floats, draw: _Draw, most: int = 3) -> Floats:
        for drawn in range(1, most + 1):
            self._share_out(
                partial(
                    loops.sum_completions,
                    *self._completions[drawn],
                    draw.powers,
                    FIRST_SET[MAX_HAND - drawn],
                    values,
                ),
                CLASSES[MAX_HAND - drawn],
            )
        return values

    def _spread_sums(self, values: Floats, draw: _Draw, most: int = 3) -> Floats:
        def spread(part: slice) -> None:
            for drawn in range(1, most + 1):
                loops.spread_completions(
                    *self._completions[drawn], draw.powers, FIRST_SET[MAX_HAND - drawn], values,
                    WIDTH * part.start, WIDTH * part.stop,
                )  # fmt: skip

        in_parallel(spread, split(values.shape[1] // WIDTH, self.threads, 2), self.threads)
        return values

    def _best_draws(
        self, stand: Floats, after: list[Floats], draw: _Draw, actions: Actions
    ) -> Floats:
        values = np.empty((SETS, stand.shape[1]))
        self._share_out(
            partial(
                loops.best_draws,
                self.hands.subsets,
                self.hands.type,
                *draw,
                stand,
                tuple(after),
                values,
                actions,
            ),
            _HANDS,
        )
        return values

    def _spread_draws(
        self, mass: Floats, actions: Actions, draw: _Draw, shared: bool = False
    ) -> tuple[Floats, list[Floats]]:
        lanes = actions.shape[1]
        stood = np.zeros((TYPES, lanes))
        if shared:
            after = [np.zeros((SETS, lanes))] * 3
        else:
            after = [np.zeros((SETS, lanes)) for _ in range(3)]
        in_parallel(
            lambda part: loops.spread_draws(
                self.hands.subsets, self.hands.type, *draw, mass, actions, stood, tuple(after),
                part.start, part.stop,
            ),
            split(lanes, self.threads, 8),
            self.threads,
        )  # fmt: skip
        return stood, after

    def _by_type(self, mass: Floats) -> Floats:
        lanes = [np.bincount(self.hands.type, lane[:_HANDS], TYPES) for lane in mass.T]
        return np.stack(lanes, 1)

    def _share_out(self, function: Callable[[int, int], Any], rows: int) -> None:
        parts = split(rows, self.threads, 16)
        in_parallel(lambda part: function(part.start, part.stop), parts, self.threads)


class _Draw(NamedTuple):
    """One of a player's draws: weights by number of fresh cards, and reciprocal total weights."""

    powers: Floats
    shares: Floats


class _Decision(NamedTuple):
    """What a player chooses between: standing on each type, (7462, lanes), or a draw, after one of
    one, two and three cards (SETS, lanes) each, or after any."""

    stand: Floats
    after: list[Floats]
    draw: _Draw


def check_decision(dealer: bool, history: tuple[int, ...], draws: int) -> int:
    """The place of a history among `HISTORIES`.

    Args:
        dealer, history, draws: see `DrawModel.draw_values`.

    Raises:
        ValueError: if there is no such decision.
    """
    if history not in HISTORIES:
        raise ValueError(
            f"history must be the cards changed in up to two draws, 1 to 3 each, got {history!r}"
        )
    if dealer:
        check_integer("draws", draws, 0, DEALER_DRAWS - 1)
    elif check_integer("draws", draws, 0, NON_DEALER_DRAWS - 1) != len(history):
        raise ValueError(
            f"draws must be {len(history)} for the non-dealer after {history!r}, got {draws!r}"
        )
    return HISTORIES.index(history)


def _by_winner(payoffs: Payoffs) -> tuple[Floats, Floats]:
    """`win` and `lose` of `loops.dealer_values`."""
    by_history = np.zeros((RESULTS, DEALER_DRAWS + 1, SPLITS, _LANES))
    by_history[..., : len(HISTORIES)] = payoffs[DRAWS_MADE].transpose(3, 1, 2, 0)
    middle = CATEGORIES - 1
    return by_history[middle:].copy(), by_history[middle::-1].copy()


# --- the equilibrium ------------------------------------------------------------------------------


class Gaps(NamedTuple):
    """What best answers gain against a pair of strategies, both players' gains added."""

    average: float
    """Against the average strategies of all iterations so far."""
    pure: float
    """Against the best answers to those averages; NaN where it was not measured."""


@dataclass(frozen=True)
class Equilibrium:
    """A pair of strategies, and how good it is.

    The best answers to the averages of fictitious play are better than the averages: they are pure,
    and as the equilibrium nearly is so, hardly anything is gained against them.

    Attributes:
        value: what the deal is worth to the non-dealer, the middle of what both can be sure of.
        gap: what best answers gain against the two strategies together; 0 at equilibrium.
        curve: after each iteration; empty if the strategies to start from were good enough.
        strategies: the non-dealer's and the dealer's.
        averages: reach of the average strategies, see `Response`.
    """

    value: float
    gap: float
    curve: tuple[Gaps, ...]
    strategies: tuple[Response, Response]
    averages: tuple[Floats, Floats]

    @property
    def non_dealer(self) -> Floats:
        """Reach of the non-dealer's strategy."""
        return self.strategies[0].reach

    @property
    def dealer(self) -> Floats:
        """Reach of the dealer's strategy."""
        return self.strategies[1].reach

    @property
    def exploitability(self) -> float:
        """Half the gap: what a best answer gains against one of the strategies, on the average; a
        gap below 0 is rounding."""
        return max(self.gap, 0.0) / 2


def solve(
    model: DrawModel,
    payoffs: Payoffs,
    tolerance: float = 0.05,
    iterations: int = 100,
    start: tuple[Response, Response] | None = None,
    averages: bool = False,
    report: Callable[[int, Gaps], None] | None = None,
    answered: Callable[[int, Response, Response], None] | None = None,
) -> Equilibrium:
    """Solve the draw phase by fictitious play.

    Args:
        model: the draw phase.
        payoffs: see `Payoffs`.
        tolerance: exploitability at which to stop, in the unit of the payoffs.
        iterations: at most so many.
        start: strategies to begin with, from a game like this.
        averages: go on until the average strategies are as good as asked for, too.
        report: called after each iteration with its number and the gaps.
        answered: called with the weight of each pair of best answers that enters the averages, and
            the two, the non-dealer's first.

    Raises:
        ValueError: if payoffs are not finite numbers of the right shape, or tolerance or iterations
            are not positive.
    """
    payoffs = _checked(payoffs)
    if not tolerance > 0:
        raise ValueError(f"tolerance must be above 0, got {tolerance!r}")
    if iterations < 1:
        raise ValueError(f"iterations must be at least 1, got {iterations!r}")
    if start is None:
        own = model.standing_pat()
        other = model.dealer_response(own, payoffs).reach
        number = 0
    else:
        own, other = (strategy.reach for strategy in start)
        number = _HEAD_START
    # What all deals pay alike decides nothing, but would where weights do not quite add up to 1.
    middle = float((model.outcomes(own, other) * payoffs).sum())
    payoffs = payoffs - middle
    reply = model.dealer_response(own, payoffs)
    if start is not None and not averages:
        best = model.non_dealer_best(other, payoffs)[0], reply.value
        if sum(best) <= 2 * tolerance:
            value = middle + (best[0] - best[1]) / 2
            return Equilibrium(value, sum(best), (), start, (own, other))
    weights = float(sum(t**3 for t in range(number + 1)))
    curve: list[Gaps] = []
    while True:
        number += 1
        weights += number**3
        share = number**3 / weights
        other = other + share * (reply.reach - other)
        answer = model.non_dealer_response(other, payoffs)
        own = own + share * (answer.reach - own)
        if answered:
            answered(number**3, answer, reply)
        reply = model.dealer_response(own, payoffs)
        average = answer.value + reply.value
        last = len(curve) + 1 == iterations
        pure = np.nan
        if average <= _NEAR * tolerance or last:
            best = model.best_values(answer.reach, reply.reach, payoffs)
            pure = sum(best)
        curve.append(Gaps(average, pure))
        if report:
            report(len(curve), curve[-1])
        if last or max(pure, average if averages else 0.0) <= 2 * tolerance:
            value = middle + (best[0] - best[1]) / 2
            return Equilibrium(value, pure, tuple(curve), (answer, reply), (own, other))


def balanced_model(must_beat: bool = True, threads: int | None = None) -> DrawModel:
    """A model with all corrections, balanced at the equilibrium of a plain game; half a minute.

    What the players end with hardly depends on the payoffs, so one balance serves all.

    Args:
        must_beat, threads: see `DrawModel`.
    """
    model = DrawModel(must_beat, threads=threads)
    plain = solve(model, linear_payoffs(_PLAIN_PRICE, _PLAIN_PRICE), tolerance=1.0)
    model.balance(*plain.averages)
    return model


_PLAIN_PRICE = 50.0
_HEAD_START = 2
"""Iterations that strategies from a game like this one are taken to be worth."""
_NEAR = 30.0
"""Averages whose gap is more than so many tolerances are not worth a look at their answers."""


def _checked(payoffs: Any) -> Payoffs:
    array = np.asarray(payoffs, np.float64)
    shape = (NON_DEALER_DRAWS + 1, DEALER_DRAWS + 1, SPLITS, RESULTS)
    if array.shape != shape or not np.isfinite(array).all():
        raise ValueError(f"payoffs must be finite numbers, {shape}, got shape {array.shape}")
    return array
