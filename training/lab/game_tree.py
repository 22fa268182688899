"""One deal of a small pack as a whole game tree, in sequence form: nothing sampled, nothing merged.

Chance deals every pair of hands, and every set of cards that can replace the discards, each as
likely as by the rules. A player's information set is all he has seen and done: his last sequence
(the information set and choice before) and what he observes now, so he forgets nothing. In
sequence form (von Stengel 1996) a strategy is a vector over its player's sequences, the deal's
value is linear in each, best answers are one pass backwards, and the equilibrium is a linear
programme. All of it is exact, up to rounding.

    tree = build_tree(PRESETS["tiny"])
    plans = tree.uniform(0), tree.uniform(1)
    nash_conv(tree, plans)                 what both best answers gain together

Seat 0 is the non-dealer, seat 1 the dealer.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse

from poke_env.games.base import MATCH_OVER
from poke_env.games.poke import DRAW, POKE, Rules
from poke_env.observation import length
from poke_env.settings import Settings

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

POSITIONS = 200_000
"""Decisions and ends of a tree, at most, if nothing else is asked for."""
_DEALER = 1


class Side(NamedTuple):
    """What a player can do. Sequence 0 is to have done nothing yet.

    Attributes:
        parent: int64 (I,), the sequence that led to each information set.
        first: int64 (I + 1,), where the sequences of each information set begin; those of the last
            one end at the last number.
        depth: int64 (I,), information sets of the player before it.
        actions: int64 (S,), the action that ends each sequence; -1 for sequence 0.
        observations: float32 (I, F), what he observes there.
        masks: int8 (I, A), what he may do.
    """

    parent: Integers
    first: Integers
    depth: Integers
    actions: Integers
    observations: npt.NDArray[np.float32]
    masks: npt.NDArray[np.int8]

    @property
    def sizes(self) -> Integers:
        """Number of actions in each information set."""
        return np.diff(self.first)


class Tree(NamedTuple):
    """A deal.

    Attributes:
        sides: the non-dealer's and the dealer's.
        ends: int64 (N, 2), the last sequence of each player at every end of the deal.
        chances: float64 (N,), the probability of all cards that lead there.
        payoffs: float64 (N,), points that it brings the non-dealer.
    """

    sides: tuple[Side, Side]
    ends: Integers
    chances: Floats
    payoffs: Floats

    def uniform(self, seat: int) -> Floats:
        """The realisation plan of the uniform random policy (see `plan_of`)."""
        sizes = self.sides[seat].sizes
        return plan_of(self.sides[seat], np.repeat(1 / sizes, sizes))

    def played(self, seat: int, player: Any) -> Floats:
        """The realisation plan of a player without chance, an `Agent` (see `plan_of`)."""
        side = self.sides[seat]
        count = len(side.parent)
        chosen = player.act_batch(side.observations, side.masks, np.zeros(count, np.uint64))
        return plan_of(side, (side.actions[1:] == np.repeat(chosen, side.sizes)).astype(float))

    def value(self, plans: Sequence[Floats]) -> float:
        """What a deal between two realisation plans brings the non-dealer, in points."""
        own, other = (plan[last] for plan, last in zip(plans, self.ends.T, strict=True))
        return float((self.chances * self.payoffs * own * other).sum())

    def worth(self, seat: int, other: Floats) -> Floats:
        """What each sequence of a seat brings where the deal ends right after it, float64 (S,).

        Args:
            seat: whose sequences.
            other: realisation plan of the other seat.
        """
        sign = -1.0 if seat == _DEALER else 1.0
        weights = sign * self.chances * self.payoffs * other[self.ends[:, 1 - seat]]
        count = len(self.sides[seat].actions)
        return np.bincount(self.ends[:, seat], weights, count).astype(np.float64)


def plan_of(side: Side, policy: Floats) -> Floats:
    """The realisation plan of a policy: how likely its player lets each sequence happen.

    Args:
        side: the player's.
        policy: float64 (S - 1,), the probability of each action in its information set.

    Returns:
        float64 (S,), 1 for sequence 0.
    """
    plan = np.ones(len(side.actions))
    owner = np.repeat(np.arange(len(side.parent)), side.sizes)
    for depth in range(int(side.depth.max(initial=-1)) + 1):
        here = 1 + np.flatnonzero(side.depth[owner] == depth)
        plan[here] = policy[here - 1] * plan[side.parent[owner[here - 1]]]
    return plan


def best_answer(
    tree: Tree, seat: int, other: Floats, allowed: npt.NDArray[np.bool_] | None = None
) -> tuple[float, Floats]:
    """The best answer to a realisation plan.

    Args:
        tree: the deal.
        seat: who answers.
        other: the other seat's plan.
        allowed: bool (S,), the sequences that he may choose; at least one in each information set.

    Returns:
        What it brings its seat, in points, and what each sequence is worth, float64 (S,): the ends
        that it leads to, weighted by the chance and the other seat's plan.
    """
    side = tree.sides[seat]
    values = tree.worth(seat, other)
    if allowed is None:
        allowed = np.ones(len(values), bool)
    for depth in range(int(side.depth.max(initial=-1)), -1, -1):
        here = np.flatnonzero(side.depth == depth)
        chosen = np.where(allowed, values, -np.inf)
        best = np.maximum.reduceat(chosen[1:], side.first[:-1] - 1)[here]
        np.add.at(values, side.parent[here], best)
    return float(values[0]), values


def nash_conv(tree: Tree, plans: Sequence[Floats]) -> float:
    """What best answers gain against two plans together, in points; 0 at equilibrium."""
    return best_answer(tree, 0, plans[1])[0] + best_answer(tree, 1, plans[0])[0]


def equilibrium(tree: Tree, allowed: npt.NDArray[np.bool_] | None = None) -> tuple[Floats, Floats]:
    """Plans of both seats in equilibrium, by a linear programme (scipy's HiGHS).

    Args:
        tree: the deal.
        allowed: bool (S,), the sequences that the non-dealer may choose; at least one in each
            information set. The dealer knows it.

    Raises:
        RuntimeError: if the programme cannot be solved.
    """
    own, other = tree.sides
    shape = len(own.actions), len(other.actions)
    paid = sparse.csr_matrix((tree.chances * tree.payoffs, tuple(tree.ends.T)), shape)
    flows = _flow(own), _flow(other)
    allowed = np.ones(shape[0], bool) if allowed is None else allowed
    starts = [np.eye(flow.shape[0], 1)[:, 0] for flow in flows]
    # The non-dealer's plan x, and the dealer's values q: what he holds the non-dealer to.
    found = optimize.linprog(
        np.concatenate((np.zeros(shape[0]), -starts[1])),
        A_ub=sparse.hstack((-paid.T, flows[1].T)).tocsr(),
        b_ub=np.zeros(shape[1]),
        A_eq=sparse.hstack((flows[0], sparse.csr_matrix((flows[0].shape[0], flows[1].shape[0])))),
        b_eq=starts[0],
        bounds=[(0, None if may else 0) for may in allowed] + [(None, None)] * flows[1].shape[0],
        method="highs",
    )
    if found.status != 0:
        raise RuntimeError(f"the equilibrium was not found: {found.message}")
    own_plan = np.where(allowed, found.x[: shape[0]], 0.0)
    return _cleaned(own, own_plan), _cleaned(other, -found.ineqlin.marginals)


def _flow(side: Side) -> sparse.csr_matrix:
    """The constraints of a plan: what enters an information set leaves it, (1 + I, S)."""
    count = len(side.parent)
    rows = np.concatenate(([0], np.arange(count) + 1, np.repeat(np.arange(count) + 1, side.sizes)))
    columns = np.concatenate(([0], side.parent, np.arange(1, len(side.actions))))
    numbers = np.concatenate(([1.0], -np.ones(count), np.ones(len(side.actions) - 1)))
    return sparse.csr_matrix((numbers, (rows, columns)), (count + 1, len(side.actions)))


def _cleaned(side: Side, plan: Floats) -> Floats:
    """A plan without the solver's rounding; information sets that it does not reach, or hardly,
    are played at random."""
    weights = np.maximum(plan[1:], 0.0)
    totals = np.repeat(np.add.reduceat(weights, side.first[:-1] - 1), side.sizes)
    uniform = np.repeat(1 / side.sizes, side.sizes)
    return plan_of(side, np.where(totals > _ROUNDING, weights / np.maximum(totals, _ROUNDING),
                                  uniform))  # fmt: skip


_ROUNDING = 1e-12


# --- the tree -------------------------------------------------------------------------------------


def build_tree(rules: Rules, below_value: float = 50.0, positions: int = POSITIONS) -> Tree:
    """Walk through every deal of a pack.

    Args:
        rules: of a small pack.
        below_value: what a point below the line counts, in points above it.
        positions: decisions and ends at most.

    Raises:
        ValueError: if there are more, or a setting is wrong.
    """
    builder = _Builder(rules, below_value, positions)
    builder.walk_deals()
    sides = builder.sides[0].finished(), builder.sides[1].finished()
    ends, chances, payoffs = zip(*builder.ends, strict=True)
    return Tree(sides, np.array(ends), np.array(chances), np.array(payoffs))


class _OpenSide:
    """A `Side` that grows."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, bytes], int] = {}
        self.parent: list[int] = []
        self.first = [1]
        self.depth: list[int] = []
        self.depth_after = [0]
        self.actions = [-1]
        self.observations: list[npt.NDArray[np.float32]] = []
        self.masks: list[npt.NDArray[np.int8]] = []

    def enter(
        self, last: int, observed: npt.NDArray[np.float32], mask: npt.NDArray[np.int8]
    ) -> int:
        """The information set that a player is in; `last` is his last sequence."""
        key = last, observed.tobytes()
        number = self.known.setdefault(key, len(self.parent))
        if number == len(self.parent):
            depth = self.depth_after[last]
            legal = np.flatnonzero(mask).tolist()
            self.parent.append(last)
            self.depth.append(depth)
            self.actions += legal
            self.depth_after += [depth + 1] * len(legal)
            self.first.append(len(self.actions))
            self.observations.append(observed.copy())
            self.masks.append(mask.copy())
        return number

    def finished(self) -> Side:
        return Side(
            np.array(self.parent),
            np.array(self.first),
            np.array(self.depth),
            np.array(self.actions),
            np.array(self.observations),
            np.array(self.masks),
        )


class _Builder:
    def __init__(self, rules: Rules, below_value: float, positions: int) -> None:
        settings = Settings(POKE, "deal", "points", rules, below_value=below_value)
        self.rules = rules
        self.below_value = settings.below_value
        self.start = settings.template["state"]
        self.pack = rules.pack()
        self.deck = np.zeros(len(self.pack), np.int8)
        self.left = self.most = positions
        self.sides = _OpenSide(), _OpenSide()
        self.ends: list[tuple[tuple[int, int], float, float]] = []
        self.observed = np.zeros(length(POKE), np.float32)
        self.mask = np.zeros(POKE.num_actions(rules), np.int8)
        self.reward = np.zeros(2)

    def walk_deals(self) -> None:
        size = self.rules.hand_size
        chance = 1 / (comb(len(self.pack), size) * comb(len(self.pack) - size, size))
        for own in combinations(self.pack, size):
            rest = [card for card in self.pack if card not in own]
            for other in combinations(rest, size):
                self.deck[: 2 * size] = own + other
                state = self.start.copy()
                POKE.deal(state[0], self.deck, _DEALER)
                self.walk(state, (0, 0), chance)

    def walk(self, state: npt.NDArray[np.void], last: tuple[int, int], chance: float) -> None:
        """Walk through all that can follow a position, (1,); `last` is each seat's sequence."""
        self.left -= 1
        if self.left < 0:
            raise ValueError(
                f"rules must have at most {self.most:,} positions in a deal; these have more"
            )
        seat = POKE.to_move(state[0])
        if seat == MATCH_OVER:
            POKE.points(state[0], self.below_value, self.reward)
            self.ends.append((last, chance, float(self.reward[0])))
            return
        POKE.observe(state[0], seat, self.observed)
        POKE.legal_actions(state[0], self.mask)
        side = self.sides[seat]
        sequence = side.first[side.enter(last[seat], self.observed, self.mask)]
        for action in np.flatnonzero(self.mask).tolist():
            after = (sequence, last[1]) if seat == 0 else (last[0], sequence)
            sequence += 1
            drawn = action.bit_count() if state[0]["phase"] == DRAW else 0
            draws = self.draws(state[0], seat, drawn)
            for cards in draws:
                self.put(state[0], seat, cards)
                following = state.view(np.uint8).copy().view(state.dtype)  # ten times as fast
                POKE.apply(following[0], self.deck, action)
                self.walk(following, after, chance / len(draws))

    def draws(self, state: np.void, seat: int, drawn: int) -> list[tuple[int, ...]]:
        """All sets of cards that can come in a draw."""
        size = self.rules.hand_size
        gone = set(state["hand"][:, :size].ravel().tolist())
        discarded = int(state["discards"][0] | state["discards"][1])
        stock = [card for card in self.pack if card not in gone and not discarded >> card & 1]
        return list(combinations(stock, drawn))

    def put(self, state: np.void, seat: int, cards: tuple[int, ...]) -> None:
        """Lay cards where a seat draws its next ones: the dealer's come from the deck's end."""
        before = int(state["draw_size"][seat].sum())
        for number, card in enumerate(cards, before):
            place = -1 - number if seat == _DEALER else 2 * self.rules.hand_size + number
            self.deck[place] = card
