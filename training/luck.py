"""Luck in Poke: what chance gave in a deal, to be taken off the margin.

Chance acts where the first dealer is drawn, at the deal, and at every draw. For each of these
events the luck is the value of what came less the mean value of all that could have come, whatever
the decisions before it:

    dealer   the value of not dealing, or of dealing; the two are equally likely
    deal     the value of both hands, less its exact mean over all pairs of hands
    draw     the value of the new hand against the other one, less its exact mean over all cards
             that may come: those in neither hand and not discarded

Each term has the mean 0 given all that happened before it, for any players and any value function,
so that *margin less luck* has the mean of the margin and, with a good value function
(`training.luck_value`), a much smaller spread. This is AIVAT without the players' own chances
(Burch, Schmid, Moravčík, Morrill and Bowling, 2018); the terms are exact, none is sampled.

Luck is counted for seat 0, in points; seat 1 has the opposite. The price of a point below the line
is an argument: where the deal is not the match it has no fixed one, and any price leaves the mean
as it is, but must not depend on the cards of the deal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np
import numpy.typing as npt

from agents.tricks import RANKS, cards_taken, hand_number
from poke_env import records
from poke_env._jit import compiled, inlined
from poke_env.cards import NUM_CARDS, format_cards
from poke_env.games.poke import DRAW, MAX_HAND, POKE
from poke_env.settings import Settings
from poke_env.vector import BatchEnv
from training.luck_value import (
    PARTS,
    Floats,
    Hand,
    Tables,
    ValueFunction,
    for_settings,
    is_flush,
    number_of,
    poker_margin,
    stage,
    value_part,
)

States = npt.NDArray[np.void]
Integers = npt.NDArray[np.int64]

PRICES = {"game": 5.0, "rubber": 15.0}
"""What a point below the line is taken to be worth where the deal is not the match. These leave
least of the variance among heuristic players; by the score the true worth is anything up to 170."""

_MOST_CHANGED = 3


def price_of(settings: Settings) -> float:
    """What a point below the line is taken to be worth, in points above it."""
    return float(PRICES.get(settings.match, settings.below_value))


def _choices(choose: Any) -> npt.NDArray[np.int8]:
    """The ranks of one, two or three cards: int8 (3, n, 3); -1 fills up, also whole lines."""
    every = [list(choose(range(RANKS), changed)) for changed in range(1, _MOST_CHANGED + 1)]
    ranks = np.full((_MOST_CHANGED, len(every[-1]), _MOST_CHANGED), -1, np.int8)
    for changed, lines in enumerate(every, 1):
        ranks[changed - 1, : len(lines), :changed] = lines
    return ranks


_MULTISETS = _choices(combinations_with_replacement)
_SETS = _choices(combinations)

_CHOOSE = np.array([[1, 0, 0, 0], [1, 1, 0, 0], [1, 2, 1, 0], [1, 3, 3, 1], [1, 4, 6, 4]], np.int64)


# --- the terms ------------------------------------------------------------------------------------


@compiled
def _hands_value(
    tables: Tables, moment: int, non_dealer: Hand, dealer: Hand, weights: Floats
) -> float:
    """The non-dealer's margin that a position is worth."""
    value = 0.0
    for part in range(PARTS):
        value += weights[part] * value_part(
            tables, moment, part, number_of(non_dealer), is_flush(non_dealer), number_of(dealer),
            is_flush(dealer),
        )  # fmt: skip
    return value


@inlined
def _weigh(state: np.void, prices: Floats, weights: Floats) -> int:
    """Write what a point of each part is worth to the non-dealer; returns his seat."""
    non_dealer = 1 - state["dealer"]
    weights[0] = prices[non_dealer]
    weights[1] = -prices[1 - non_dealer]
    weights[2] = 1.0
    return int(non_dealer)


@compiled
def _deals_luck(tables: Tables, mean: Floats, states: States, prices: Floats, luck: Floats) -> None:
    weights = np.zeros(PARTS)
    for i in range(states.shape[0]):
        state = states[i]
        non_dealer = _weigh(state, prices[i], weights)
        value = _hands_value(
            tables, 0, state["hand"][non_dealer], state["hand"][1 - non_dealer], weights
        )
        for part in range(PARTS):
            value -= weights[part] * mean[part]
        luck[i] = value if non_dealer == 0 else -value


@compiled
def _draws_luck(
    tables: Tables, before: States, after: States, prices: Floats, luck: Floats
) -> None:
    weights = np.zeros(PARTS)
    by_kind = np.zeros(tables.table.shape[1])
    by_cards = np.zeros(MAX_HAND + 1)
    kept = np.zeros(MAX_HAND, np.int8)
    for i in range(before.shape[0]):
        luck[i] = 0.0
        old, new = before[i], after[i]
        seat = np.int64(old["player"])
        if old["phase"] != DRAW or new["draw_count"][seat] == old["draw_count"][seat]:
            continue
        non_dealer = _weigh(old, prices[i], weights)
        other = old["hand"][1 - seat]
        moment = stage(
            seat != non_dealer, new["draw_count"][non_dealer], new["draw_count"][1 - non_dealer]
        )
        thrown = np.int64(new["discards"][seat]) & ~np.int64(old["discards"][seat])
        size = 0
        gone = np.int64(old["discards"][0]) | np.int64(old["discards"][1])
        for slot in range(MAX_HAND):
            card = np.int64(old["hand"][seat, slot])
            gone |= (np.int64(1) << card) | (np.int64(1) << np.int64(other[slot]))
            if not (thrown >> card) & 1:
                kept[size] = card
                size += 1
        if seat == non_dealer:
            value = _hands_value(tables, moment, new["hand"][seat], other, weights)
        else:
            value = _hands_value(tables, moment, other, new["hand"][seat], weights)
        value -= _mean_of_draw(
            tables,
            moment,
            seat == non_dealer,
            kept,
            size,
            other,
            int(gone),
            weights,
            by_kind,
            by_cards,
        )
        luck[i] = value if non_dealer == 0 else -value


@compiled
def _mean_of_draw(
    tables: Tables,
    moment: int,
    leads: bool,
    kept: Hand,
    size: int,
    other: Hand,
    gone: int,
    weights: Floats,
    by_kind: Floats,
    by_cards: Floats,
) -> float:
    """The mean value over all cards that may come, all of them equally likely.

    Cards are counted by ranks; those that complete a flush are corrected for afterwards.

    Args:
        tables, moment: of the value function.
        leads: the non-dealer draws.
        kept: int8, the `size` cards he keeps, ascending.
        other: the other hand.
        gone: the cards that cannot come, as bits.
        weights: what a point of each part is worth.
        by_kind, by_cards: overwritten.
    """
    there = np.zeros(RANKS, np.int64)
    for card in range(NUM_CARDS):
        if not (gone >> card) & 1:
            there[card >> 2] += 1
    against, against_flush = number_of(other), is_flush(other)
    _value_against(tables, moment, leads, against, against_flush, weights, by_kind, by_cards)
    changed = MAX_HAND - size
    ranks = np.zeros(MAX_HAND, np.int8)
    total = 0.0
    ways_of_all = 0
    for line in range(_MULTISETS.shape[1]):
        drawn = _MULTISETS[changed - 1, line]
        if drawn[0] < 0:
            break
        ways = _ways(there, drawn, changed)
        if ways:
            number = _number_with(kept, size, drawn, changed, ranks)
            total += ways * _value_of(
                tables, moment, leads, number, 0, against, against_flush, weights, by_kind, by_cards
            )
            ways_of_all += ways
    if is_flush(kept[:size]):
        suit = np.int64(kept[0]) & 3
        for line in range(_SETS.shape[1]):
            drawn = _SETS[changed - 1, line]
            if drawn[0] < 0:
                break
            held = False
            for place in range(changed):
                held |= ((gone >> (4 * np.int64(drawn[place]) + suit)) & 1) != 0
            if not held:
                number = _number_with(kept, size, drawn, changed, ranks)
                for flush in range(2):
                    total += (2 * flush - 1) * _value_of(
                        tables, moment, leads, number, flush, against, against_flush, weights,
                        by_kind, by_cards,
                    )  # fmt: skip
    return total / ways_of_all


@inlined
def _ways(there: Integers, drawn: Hand, changed: int) -> int:
    """Ways to draw cards of these ranks, ascending, from the stock."""
    ways = 1
    run = 0
    for place in range(changed):
        run += 1
        if place + 1 == changed or drawn[place + 1] != drawn[place]:
            ways *= _CHOOSE[there[drawn[place]], run]
            run = 0
    return ways


@inlined
def _number_with(kept: Hand, size: int, drawn: Hand, changed: int, ranks: Hand) -> int:
    """Number of the hand of `kept` cards and `drawn` ranks, both ascending."""
    place, other = 0, 0
    for slot in range(MAX_HAND):
        if other == changed or (place < size and (kept[place] >> 2) <= drawn[other]):
            ranks[slot] = kept[place] >> 2
            place += 1
        else:
            ranks[slot] = drawn[other]
            other += 1
    return hand_number(ranks, MAX_HAND)


@inlined
def _value_against(
    tables: Tables,
    moment: int,
    leads: bool,
    against: int,
    against_flush: int,
    weights: Floats,
    by_kind: Floats,
    by_cards: Floats,
) -> None:
    """Write what each kind of hand is worth against one hand, and what the cards taken add."""
    kind = tables.kinds[against_flush, against]
    for own in range(by_kind.shape[0]):
        by_kind[own] = 0.0
        for part in range(PARTS):
            first, second = (own, kind) if leads else (kind, own)
            by_kind[own] += weights[part] * tables.table[moment, first, second, part]
    for taken in range(MAX_HAND + 1):
        by_cards[taken] = 0.0
        for part in range(PARTS):
            by_cards[taken] += weights[part] * tables.taken[moment, taken, part]


@inlined
def _value_of(
    tables: Tables,
    moment: int,
    leads: bool,
    number: int,
    flush: int,
    against: int,
    against_flush: int,
    weights: Floats,
    by_kind: Floats,
    by_cards: Floats,
) -> float:
    """`_hands_value` of a hand against one for which `_value_against` was called."""
    first, second = (number, against) if leads else (against, number)
    first_flush, second_flush = (flush, against_flush) if leads else (against_flush, flush)
    poker = poker_margin(tables.strength, tables.points, first, first_flush, second, second_flush)
    value = by_kind[tables.kinds[flush, number]]
    if leads:
        value += by_cards[tables.solved_by_follower[second, first]]
    else:
        value += by_cards[cards_taken(tables.solved, MAX_HAND, first, second)]
    return float(value + weights[2] * tables.poker[moment] * poker)


class Luck:
    """The luck of chance events, seat 0's in points.

    Args:
        value: the value function that judges hands.

    Everywhere `prices` are what a point below the line is worth to each seat: float64 (n, 2), or
    anything that broadcasts to it.
    """

    def __init__(self, value: ValueFunction) -> None:
        self.value = value

    def of_dealers(self, dealers: npt.ArrayLike, prices: npt.ArrayLike) -> Floats:
        """Luck of having been drawn as the first dealer, or not.

        Args:
            dealers: the seats that deal first, (n,), each as likely as the other.
            prices: see above; mean over both seats is taken, which the dealer must not decide.

        Returns:
            float64 (n,).
        """
        dealt = np.asarray(dealers)
        worth = _prices(prices, len(dealt))
        below, dealers_below, above = self.value.mean
        margin = worth.mean(axis=1) * (below - dealers_below) + above
        return np.asarray(np.where(dealt == 1, margin, -margin))

    def of_deals(self, states: States, prices: npt.ArrayLike) -> Floats:
        """Luck of the two hands dealt.

        Args:
            states: positions of Poke (n,) right after the deal.
            prices: see above.

        Returns:
            float64 (n,).
        """
        luck = np.empty(len(states))
        worth = _prices(prices, len(states))
        _deals_luck(self.value.tables, self.value.mean, states, worth, luck)
        return luck

    def of_draws(self, before: States, after: States, prices: npt.ArrayLike) -> Floats:
        """Luck of the cards drawn between two positions; 0 where none was.

        Args:
            before: positions of Poke (n,).
            after: the same deals one action later.
            prices: see above.

        Returns:
            float64 (n,).
        """
        luck = np.empty(len(before))
        worth = _prices(prices, len(before))
        _draws_luck(self.value.tables, before, after, worth, luck)
        return luck


def _prices(prices: npt.ArrayLike, rows: int) -> Floats:
    return np.ascontiguousarray(np.broadcast_to(np.asarray(prices, np.float64), (rows, 2)))


class Tally:
    """The luck in every row of a batch of matches as they are played.

    Args:
        value: the value function that judges hands.
        envs: matches of Poke without `autoreset` that have just begun, their dealers drawn.
        price: what a point below the line is worth to both seats, or a function that says it for
            positions (n,) as float64 (n, 2). It may look at the score, not at the cards.

    Attributes:
        luck: float64 (B,), seat 0's so far, in points.
    """

    def __init__(
        self, value: ValueFunction, envs: BatchEnv, price: float | Callable[[States], npt.ArrayLike]
    ) -> None:
        self._luck = Luck(value)
        self._envs = envs
        self._price = price if callable(price) else lambda states: price
        states = envs.record
        prices = self._price(states)
        self.luck = self._luck.of_dealers(states["dealer"], prices)
        self.luck += self._luck.of_deals(states, prices)

    def advance(self, actions: Integers) -> None:
        """`envs.advance(actions)`, and count what chance did."""
        envs = self._envs
        acting = np.flatnonzero(actions > 0)
        before = envs.record_rows(acting)
        deals = envs.deals
        envs.advance(actions)
        after = envs.record_rows(acting)
        self.luck[acting] += self._luck.of_draws(before, after, self._price(before))
        dealt = np.flatnonzero((envs.deals != deals) & ~envs.over)
        if len(dealt):
            states = envs.record_rows(dealt)
            self.luck[dealt] += self._luck.of_deals(states, self._price(states))


# --- one match ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Chance:
    """A chance event of a match.

    Attributes:
        deal: number of the deal, from 0.
        kind: "dealer", "deal" or "draw".
        seat: who deals, or draws; None for the deal itself.
        cards: what came, as text: the cards drawn, both hands (the non-dealer's first), or nothing.
        luck: of seat 0, in points.
    """

    deal: int
    kind: str
    seat: int | None
    cards: str
    luck: float


def match_luck(record: records.Record, price: float | None = None) -> list[Chance]:
    """The luck of every chance event of a recorded match, in their order.

    Args:
        record: a match of Poke.
        price: what a point below the line is worth to both seats; None is what `price_of` says.

    Raises:
        ValueError: if its rules have no value function, or it does not follow them.
    """
    if record.game != POKE.name:
        raise ValueError(f"record must be of {POKE.name!r}, got {record.game!r}")
    settings = Settings(POKE, record.match, rules=record.rules)
    value = for_settings(settings)
    if value is None:
        raise ValueError("record must be of the standard rules: no others have a value function")
    luck = Luck(value)
    envs = BatchEnv(
        POKE, 1, match=record.match, rules=record.rules, autoreset=False, copy=False, threads=1
    )
    envs.reset(seed=0, options=records.batch_options([record]))
    prices = price_of(settings) if price is None else price
    [first] = luck.of_dealers([record.dealer], prices)
    events = [Chance(0, "dealer", record.dealer, "", float(first))]
    for number, deal in enumerate(record.deals):
        state = envs.record
        dealer = int(state["dealer"][0])
        hands = [format_cards(state["hand"][0, seat]) for seat in (1 - dealer, dealer)]
        events.append(
            Chance(number, "deal", None, " | ".join(hands), float(luck.of_deals(state, prices)[0]))
        )
        for action in deal.actions:
            before = state
            envs.step(np.array([action]))
            state = envs.record
            seat = int(before["player"][0])
            if before["phase"][0] == DRAW and action:
                came = sorted(set(state["hand"][0, seat]) - set(before["hand"][0, seat]))
                [drawn] = luck.of_draws(before, state, prices)
                events.append(Chance(number, "draw", seat, format_cards(came), float(drawn)))
    return events
