"""The draw phase with real cards: what the solver's assumptions cost.

Two strategies of `training.lab.draws` play deals from shuffled packs: hands never share a card, and
what was discarded or drawn is gone. Tricks are played perfectly, with both hands known, as in the
model; so the difference between what is counted here and what the model says is the price of its
assumptions about the draws alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.hand_classes import classify
from agents.tricks import FIRST_PAIR, HANDS, trick_table
from poke_env import streams
from poke_env._checks import check_integer
from poke_env._jit import compiled
from poke_env._threads import in_parallel
from poke_env.games.poke import MAX_HAND
from training.lab._draw_loops import CATEGORIES, SPLITS, Actions, Floats, Integers
from training.lab.draws import DEALER_DRAWS, NON_DEALER_DRAWS, RESULTS, DrawModel, Equilibrium

_PACK = 52
_MOST_CARDS = 2 * MAX_HAND + 3 * (NON_DEALER_DRAWS + DEALER_DRAWS)
_CHUNK = 50_000


class PlayedOut(NamedTuple):
    """What was counted.

    Attributes:
        deals: number of deals.
        outcomes: float64 (3, 4, 6, 19), how often each outcome happened, in the places of
            `training.lab.draws.Payoffs`.
        gone: float64 (2, 4), the mean number of cards that the non-dealer and the dealer had
            discarded when they came to each of their draws.
    """

    deals: int
    outcomes: Floats
    gone: Floats

    def mean(self, payoffs: Floats) -> tuple[float, float]:
        """Mean and standard error of what a deal brought the non-dealer."""
        mean = float((self.outcomes * payoffs).sum())
        square = float((self.outcomes * payoffs**2).sum())
        return mean, float(np.sqrt(max(square - mean**2, 0.0) / self.deals))


def play_out(
    model: DrawModel, equilibrium: Equilibrium, deals: int, seed: int, must_beat: bool = True
) -> PlayedOut:
    """Play deals between the strategies of an equilibrium.

    Args:
        model: for its tables and threads.
        equilibrium: whose strategies play.
        deals: number of deals.
        seed: of the packs.
        must_beat: the trick phase's rule.

    Raises:
        ValueError: if deals or seed are no numbers of that kind.
    """
    deals = check_integer("deals", deals, 1)
    words = streams.seed_words(streams.check_seed(seed), streams.Purpose.REAL_CARDS).astype(
        np.int64
    )
    non_dealer, dealer = (strategy.actions for strategy in equilibrium.strategies)
    hands = model.hands
    tricks = trick_table(must_beat).values

    def play(part: slice) -> tuple[Floats, Floats]:
        outcomes = np.zeros((NON_DEALER_DRAWS + 1, DEALER_DRAWS + 1, SPLITS, RESULTS))
        gone = np.zeros((2, DEALER_DRAWS + 1, 2))
        _play(
            words, part.start, part.stop, hands.keys[MAX_HAND], hands.type, hands.multiset,
            hands.category, tricks, non_dealer, dealer, outcomes, gone,
        )  # fmt: skip
        return outcomes, gone

    parts = [slice(at, min(at + _CHUNK, deals)) for at in range(0, deals, _CHUNK)]
    counted = in_parallel(play, parts, model.threads)
    outcomes = sum(part[0] for part in counted) / deals
    cards, times = np.moveaxis(sum(part[1] for part in counted), -1, 0)
    return PlayedOut(deals, outcomes, cards / np.maximum(times, 1))


@compiled
def _play(
    words: Integers,
    start: int,
    stop: int,
    keys: Integers,
    types: npt.NDArray[np.int16],
    multiset: npt.NDArray[np.int16],
    category: npt.NDArray[np.int8],
    tricks: npt.NDArray[np.int8],
    non_dealer: Actions,
    dealer: Actions,
    outcomes: Floats,
    gone: Floats,
) -> None:
    """Play the deals `start` … `stop - 1` and count."""
    deck = np.arange(_PACK).astype(np.int8)
    hands = np.zeros((2, MAX_HAND), np.int8)
    order = np.zeros(MAX_HAND, np.int64)
    final = np.zeros(2, np.int64)
    draws = np.zeros(2, np.int64)
    address = np.zeros(6, np.int64)
    address[:4] = words
    for deal in range(start, stop):
        address[4] = deal
        address[5] = deal >> 32
        chance = streams.generator(address)
        for i in range(_MOST_CARDS):
            j = i + streams.random_below(chance, _PACK - i)
            deck[i], deck[j] = deck[j], deck[i]
        hands[0] = deck[:MAX_HAND]
        hands[1] = deck[MAX_HAND : 2 * MAX_HAND]
        taken = 2 * MAX_HAND
        history = 0
        for seat in range(2):
            draws[seat] = 0
            discarded = 0
            while True:
                kind = classify(hands[seat], keys, order)
                gone[seat, draws[seat], 0] += discarded
                gone[seat, draws[seat], 1] += 1
                if draws[seat] == (DEALER_DRAWS if seat else NON_DEALER_DRAWS):
                    break
                if seat:
                    action = dealer[draws[1], kind, history]
                else:
                    action = non_dealer[kind, history]
                if action == 0:
                    break
                changed = 0
                for slot in range(MAX_HAND):
                    if (action >> slot) & 1:
                        hands[seat, order[slot]] = deck[taken]
                        taken += 1
                        changed += 1
                if seat == 0:  # the order of `HISTORIES`
                    history = changed if draws[0] == 0 else 3 * history + changed
                draws[seat] += 1
                discarded += changed
            final[seat] = types[kind]
        cards = tricks[
            FIRST_PAIR[MAX_HAND] + multiset[final[0]] * HANDS[MAX_HAND] + multiset[final[1]]
        ]
        scored = CATEGORIES - 1
        if final[0] > final[1]:
            scored += category[final[0]]
        elif final[1] > final[0]:
            scored -= category[final[1]]
        outcomes[draws[0], draws[1], cards, scored] += 1
