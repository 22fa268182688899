"""The play-out of Poque: which card to begin a run with.

A run is gone through card by card. What the player holds, what others have shown and what is in no
hand is known; any other card is in a hand as likely as the number of cards in hands among those not
seen says. Where a run ends with the player's own card he goes on with his best one, and so to the
end; where another has the lead, the cards left are judged by what they cost on the average.
"""

from __future__ import annotations

from math import comb

import numpy as np

from agents.poque_reading import Reading, has
from agents.reading import SUITS, count_bits
from poke_env._jit import compiled
from poke_env.cards import NUM_CARDS
from poke_env.games.poque import FIRST_SLOT, MAX_HAND, MAX_PLAYERS, MAX_PLAYS

_OPEN = 0.5
_CLOSED = 0.85

ENDS = np.dtype(
    [
        # [seat, n]: chance that a seat's next card is its last, n cards having been played by the
        # opponents from here on; and the same for the next card of any of them.
        ("seat", np.float64, (MAX_PLAYERS, MAX_PLAYS + 1)),
        ("any", np.float64, (MAX_PLAYS + 1,)),
    ]
)
"""How likely an opponent goes out."""

Ends = np.void
"""A record of dtype `ENDS`."""

_WAYS = np.array([[comb(n, k) for k in range(MAX_HAND)] for n in range(MAX_PLAYS + 1)], np.float64)


@compiled
def best_lead(reading: Reading, ends: Ends) -> int:
    """The action that begins the best run.

    Args:
        reading: a position in which the player leads.
        ends: record of dtype `ENDS`, overwritten.
    """
    hidden = _find_ends(reading, ends)
    unseen = count_bits(reading["unseen"])
    best = -1
    best_value = -np.inf
    for slot in range(reading["size"]):
        card = reading["cards"][slot]
        if _may_lead(reading["held"], card):
            value = _run_value(
                reading, ends, card, reading["held"], reading["gone"], hidden, unseen, 0
            )
            if value >= best_value:  # of equals the highest
                best = slot
                best_value = value
    return FIRST_SLOT + best


@compiled
def _may_lead(held: int, card: int) -> bool:
    """Whether a card is held and not better played by a run from the one below."""
    return has(held, card) and not (card >= SUITS and has(held, card - SUITS))


@compiled
def _find_ends(reading: Reading, ends: Ends) -> int:
    """Write `ends`; returns the number of cards in other hands of which nothing is known."""
    hidden = 0
    for seat in range(1, reading["players"]):
        hidden += reading["cards_left"][seat] - count_bits(reading["shown"][seat])
    ends["any"][:] = 0.0
    for seat in range(1, reading["players"]):
        left = reading["cards_left"][seat]
        unknown = left - count_bits(reading["shown"][seat])
        share = unknown / hidden if hidden > 0 else 0.0
        for played in range(MAX_PLAYS + 1):
            # He has played so many of them with the chance of as many throws of a coin.
            still_in = 0.0
            last = 0.0
            for own in range(min(left, played + 1)):
                last = _WAYS[played, own] * share**own * (1.0 - share) ** (played - own)
                still_in += last
            if played < left - 1:
                last = 0.0
            ends["seat"][seat, played] = last / still_in if still_in > 0 else 1.0
            ends["any"][played] += share * ends["seat"][seat, played]
    return hidden


@compiled
def _run_value(
    reading: Reading,
    ends: Ends,
    card: int,
    held: int,
    gone: int,
    hidden: int,
    unseen: int,
    played: int,
) -> float:
    """Chips that are expected for cards left, on either side, after a run.

    Args:
        reading: the position in which the player leads.
        ends: of it.
        card: the first of the run, a card of `held`.
        held, gone: the own hand and cards in no hand, as bits, when the run begins.
        hidden, unseen: cards in other hands of which nothing is known, and all cards of which
            nothing is known.
        played: cards that others have played since `reading`.
    """
    value = 0.0
    chance = 1.0  # that the run has come so far
    leads = True
    while True:
        if has(held, card):
            held &= ~(np.int64(1) << card)
            leads = True
            if held == 0:
                return value + chance * _gain(reading, played)
        else:
            holder = _shown_by(reading, card)
            if holder < 0:
                stops = 1.0 - hidden / max(unseen, 1)
                unseen -= 1
                if stops > 0.0:
                    after = _after_run(
                        reading, ends, leads, held, gone | np.int64(1) << card, hidden, unseen,
                        played,
                    )  # fmt: skip
                    value += chance * stops * after
                    chance *= 1.0 - stops
                hidden -= 1
                out = ends["any"][played]
            else:
                out = ends["seat"][holder, played]
            value -= chance * out * _cost(reading, count_bits(held))
            chance *= 1.0 - out
            played += 1
            leads = False
        gone |= np.int64(1) << card
        card += SUITS
        if chance <= 0.0:
            return value
        if card >= NUM_CARDS or has(gone, card):
            after = _after_run(reading, ends, leads, held, gone, hidden, unseen, played)
            return value + chance * after


@compiled
def _after_run(
    reading: Reading,
    ends: Ends,
    leads: bool,
    held: int,
    gone: int,
    hidden: int,
    unseen: int,
    played: int,
) -> float:
    """What it is worth to lead, or not to, after a run."""
    if not leads:
        return _cost_without_lead(reading, held, gone)
    best = -np.inf
    for slot in range(reading["size"]):
        card = reading["cards"][slot]
        if _may_lead(held, card):
            value = _run_value(reading, ends, card, held, gone, hidden, unseen, played)
            best = max(best, value)
    return best


@compiled
def _shown_by(reading: Reading, card: int) -> int:
    for seat in range(1, reading["players"]):
        if has(reading["shown"][seat], card):
            return seat
    return -1


@compiled
def _gain(reading: Reading, played: int) -> float:
    """Chips of the others for the cards they have left."""
    chips = 0
    for seat in range(1, reading["players"]):
        chips += min(reading["cards_left"][seat], reading["stack"][seat])
    return max(chips - played, 0)


@compiled
def _cost(reading: Reading, left: int) -> float:
    return min(left, reading["stack"][0])


@compiled
def _cost_without_lead(reading: Reading, held: int, gone: int) -> float:
    """What the cards left are expected to cost when another leads, as chips lost."""
    cost = 0.0
    for slot in range(reading["size"]):
        card = reading["cards"][slot]
        if has(held, card):
            cost += _OPEN if _is_open(reading, held, gone, card) else _CLOSED
    return -min(cost, float(reading["stack"][0]))


@compiled
def _is_open(reading: Reading, held: int, gone: int, card: int) -> bool:
    """Whether a run of others may come to a card."""
    while card >= SUITS:
        card -= SUITS
        if has(gone, card):
            return False
        if not has(held, card):
            return has(reading["unseen"], card) or _shown_by(reading, card) >= 0
    return False
