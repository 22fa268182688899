"""The play-out of Poque: which card to begin a run with.

A run is gone through card by card. What the player holds, what others have shown and what is in no
hand is known; any other card is in a hand as likely as the number of cards in hands among those not
seen says. Where a run ends with the player's own card he goes on with his best one, and so to the
end; where another has the lead, the cards left are judged by what they cost on the average.
"""

from __future__ import annotations

from math import comb

import numpy as np
import numpy.typing as npt

from agents.poque_reading import ROUNDING, Reading, has
from agents.reading import SUITS, count_bits
from poke_env._jit import compiled, inlined
from poke_env.cards import NUM_CARDS
from poke_env.games.poque import FIRST_SLOT, MAX_HAND, MAX_PLAYERS, MAX_PLAYS

RID_OF, WINS = 0.113, 0.022
"""What a card that runs of others may come to is worth while another leads: so much for each card
of the opponent with the fewest, by then it may have gone, and for each card of all opponents, which
may be won by it. Least squares over 260,000 positions that an earlier state of this player got
into. `python -m training.fit_poque` repeats that: where this one gets, 0.120 and 0.019 fit best.
They explain 0.0908 of the variance of what is paid, these 0.0905 (a mean for each combination of
the numbers of cards 0.101), so that these stay."""

OUTLOOK = np.dtype(
    [
        # [seat, n]: chance that a seat's next card is its last, n cards having been played by the
        # opponents from here on; and the same for the next card of any of them.
        ("last_of", np.float64, (MAX_PLAYERS, MAX_PLAYS + 1)),
        ("last", np.float64, (MAX_PLAYS + 1,)),
        ("fewest", np.int64),  # cards of the opponent with fewest
        ("prize", np.int64),  # chips of all opponents for the cards they have
    ]
)
"""What is to be expected of the opponents' cards."""

Outlook = np.void
"""A record of dtype `OUTLOOK`."""

RUN = np.dtype(
    [
        ("card", np.int64),  # the next
        # When it is to be played: the own hand and cards in no hand, as bits; cards in other hands
        # of which nothing is known, and all cards of which nothing is known; cards that opponents
        # have played on the way; whether the last was an own one.
        ("held", np.int64),
        ("gone", np.int64),
        ("hidden", np.int64),
        ("unseen", np.int64),
        ("played", np.int64),
        ("leads", np.int64),
        ("chance", np.float64),  # that the run comes so far
        ("stops", np.float64),  # chance that it stops there
        ("value", np.float64),  # expected of where it may have ended before
        # The next slot to lead from if it stops there, and the worth of the best so far.
        ("slot", np.int64),
        ("after", np.float64),
    ]
)
"""How far a run is gone through."""

Run = np.void
"""A record of dtype `RUN`."""
Runs = npt.NDArray[np.void]

_WAYS = np.array([[comb(n, k) for k in range(MAX_HAND)] for n in range(MAX_PLAYS + 1)], np.float64)


@compiled
def best_lead(reading: Reading, outlook: Outlook, runs: Runs) -> int:
    """The action that begins the best run.

    Args:
        reading: a position in which the player leads.
        outlook: record of dtype `OUTLOOK`, overwritten.
        runs: array of dtype `RUN`, (MAX_HAND,), overwritten.
    """
    hidden = _look_out(reading, outlook)
    unseen = count_bits(reading["unseen"])
    best = -1
    best_value = -np.inf
    for slot in range(reading["size"] - 1, -1, -1):  # of equal ones the highest
        card = reading["cards"][slot]
        if _may_lead(reading["held"], card):
            _begin(runs[0], card, reading["held"], reading["gone"], hidden, unseen, 0)
            value = _run_value(reading, outlook, runs)
            if value > best_value + ROUNDING:
                best = slot
                best_value = value
    return FIRST_SLOT + best


@compiled
def _may_lead(held: int, card: int) -> bool:
    """Whether a card is held and not better played by a run from the one below."""
    return has(held, card) and not (card >= SUITS and has(held, card - SUITS))


@compiled
def _look_out(reading: Reading, outlook: Outlook) -> int:
    """Write `outlook`; returns the number of cards in other hands of which nothing is known."""
    hidden = 0
    spare = 0  # cards that opponents can play before one of them is out for certain
    outlook["fewest"] = reading["size"]
    outlook["prize"] = 0
    for seat in range(1, reading["players"]):
        outlook["fewest"] = min(outlook["fewest"], reading["cards_left"][seat])
        outlook["prize"] += min(reading["cards_left"][seat], reading["stack"][seat])
        hidden += reading["cards_left"][seat] - count_bits(reading["shown"][seat])
        spare += reading["cards_left"][seat] - 1
    outlook["last"][:] = 0.0
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
            certain = played >= spare or still_in == 0.0
            outlook["last_of"][seat, played] = 1.0 if certain else last / still_in
            outlook["last"][played] += share * outlook["last_of"][seat, played]
    return hidden


@inlined
def _begin(
    run: Run, card: int, held: int, gone: int, hidden: int, unseen: int, played: int
) -> None:
    run["card"] = card
    run["held"] = held
    run["gone"] = gone
    run["hidden"] = hidden
    run["unseen"] = unseen
    run["played"] = played
    run["leads"] = 1
    run["chance"] = 1.0
    run["value"] = 0.0


@compiled
def _run_value(reading: Reading, outlook: Outlook, runs: Runs) -> float:
    """Chips that are expected for cards left, on either side, after the run in `runs[0]`.

    Where a run may stop with the lead being the player's, runs with each of his cards are gone
    through before it goes on. (Compiled functions that call themselves crash when numba takes them
    from its cache, so the runs that wait lie in an array.)
    """
    depth = 0
    while True:
        if not _go_on(reading, outlook, runs[depth]):
            if depth == 0:
                return float(runs[0]["value"])
            depth -= 1
            runs[depth]["after"] = max(runs[depth]["after"], runs[depth + 1]["value"])
        run = runs[depth]
        while run["slot"] < reading["size"]:
            if _may_lead(run["held"], reading["cards"][run["slot"]]):
                break
            run["slot"] += 1
        if run["slot"] == reading["size"]:
            _pass_on(reading, outlook, run, run["after"])
            continue
        card = reading["cards"][run["slot"]]
        run["slot"] += 1
        depth += 1
        over = _is_over(run)
        gone = run["gone"] if over else run["gone"] | np.int64(1) << run["card"]
        unseen = run["unseen"] if over else run["unseen"] - 1
        _begin(runs[depth], card, run["held"], gone, run["hidden"], unseen, run["played"])


@compiled
def _go_on(reading: Reading, outlook: Outlook, run: Run) -> bool:
    """Go on to where the run may stop with the player's lead; False if it has ended."""
    while run["chance"] > 0.0:
        card = run["card"]
        if has(run["held"], card):
            run["held"] &= ~(np.int64(1) << card)
            run["gone"] |= np.int64(1) << card
            run["card"] += SUITS
            run["leads"] = 1
            if run["held"] == 0:
                run["value"] += run["chance"] * max(outlook["prize"] - run["played"], 0)
                return False
            continue
        run["stops"] = 0.0
        if _is_over(run):
            run["stops"] = 1.0
        elif _shown_by(reading, card) < 0:
            run["stops"] = 1.0 - run["hidden"] / max(run["unseen"], 1)
        if run["leads"] and run["stops"] > 0.0:
            run["slot"] = 0
            run["after"] = -np.inf
            return True
        _pass_on(reading, outlook, run, _without_lead(reading, outlook, run))
    return False


@inlined
def _is_over(run: Run) -> bool:
    """Whether nobody can hold the next card."""
    return run["card"] >= NUM_CARDS or has(run["gone"], run["card"])


@compiled
def _pass_on(reading: Reading, outlook: Outlook, run: Run, after: float) -> None:
    """Count what it is worth that the run stops here; otherwise an opponent plays on."""
    run["value"] += run["chance"] * run["stops"] * after
    run["chance"] *= 1.0 - run["stops"]
    if run["chance"] <= 0.0:
        return
    holder = _shown_by(reading, run["card"])
    if holder < 0:
        out = outlook["last"][run["played"]]
        run["hidden"] -= 1
        run["unseen"] -= 1
    else:
        out = outlook["last_of"][holder, run["played"]]
    run["value"] -= run["chance"] * out * min(count_bits(run["held"]), reading["stack"][0])
    run["chance"] *= 1.0 - out
    run["played"] += 1
    run["gone"] |= np.int64(1) << run["card"]
    run["card"] += SUITS
    run["leads"] = 0


@compiled
def _shown_by(reading: Reading, card: int) -> int:
    for seat in range(1, reading["players"]):
        if has(reading["shown"][seat], card):
            return seat
    return -1


@compiled
def _without_lead(reading: Reading, outlook: Outlook, run: Run) -> float:
    """Chips that are expected when another leads."""
    opponents = reading["players"] - 1
    fewest = max(outlook["fewest"] - run["played"] / opponents, 1.0)
    prize = max(outlook["prize"] - run["played"], 0)
    value = 0.0
    for slot in range(reading["size"]):
        card = reading["cards"][slot]
        if has(run["held"], card):
            value -= 1.0
            if _is_open(reading, run, card):
                value += RID_OF * fewest + WINS * prize
    return max(value, -float(reading["stack"][0]))


@compiled
def _is_open(reading: Reading, run: Run, card: int) -> bool:
    """Whether a run of others may come to a card."""
    while card >= SUITS:
        card -= SUITS
        if has(run["gone"], card):
            return False
        if not has(run["held"], card):
            return has(reading["unseen"], card) or _shown_by(reading, card) >= 0
    return False
