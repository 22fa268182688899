"""What the player to move does not know: the opponent's hand, his discards, the stock.

The opponent's hidden cards are any of those that the player has not seen, each set of them as
likely as what is known of him says:

- After he threw off to a lead of k cards he held fewer than k of every higher rank, where the rules
  make a follower beat what he can.
- Once he is pat, his numbers of cards drawn tell what he is likely to hold. How much they tell is a
  prior (`agents.prior`), counted among scripted players, or flat.

All sets are listed with their chances, up to one and a half million. If there are no more than the
samples asked for they are all taken, and nothing is left to chance. What he discarded and the order
of the stock are the other unseen cards, every order equally likely.
"""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from agents.poke_reading import READING, read
from agents.prior import Likelihood, Prior, hand_type, history_number
from agents.reading import RANKS, SUITS
from agents.tricks import ADDED
from poke_env import engine
from poke_env._jit import compiled
from poke_env.cards import NUM_CARDS
from poke_env.games.poke import DRAW, MAX_DRAWS, MAX_HAND, POKE
from poke_env.observation import length
from training.lab.positions import Position, States

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Cards = npt.NDArray[np.int8]


class Hands(NamedTuple):
    """Hands that the opponent may hold.

    Attributes:
        hidden: int8 (N, u), the cards that he holds unseen, ascending.
        whole: int8 (N, 5), these and the cards that he has played, ascending.
        weights: float64 (N,), adding up to 1.
        listed: whether these are all there are, so that means over them have no sampling error.
    """

    hidden: Cards
    whole: Cards
    weights: Floats
    listed: bool

    def mean(self, values: Floats) -> tuple[Floats, Floats]:
        """Means over the hands and their standard errors, of float64 (..., N)."""
        means = values @ self.weights
        if self.listed:
            return means, np.zeros_like(means)
        spread = ((values - means[..., None]) ** 2) @ self.weights
        return means, np.sqrt(spread / max(len(self.weights) - 1, 1))


def reading_of(position: Position) -> npt.NDArray[np.void]:
    """What the player to move knows, (1,) records of `agents.poke_reading.READING`."""
    seen = np.zeros((1, length(POKE)), np.float32)
    engine.observe(np.array(position.states), np.array([position.seat], np.int8), seen)
    readings = np.zeros(1, READING)
    read(seen[0], position.mask, readings[0])
    return readings


def sample_hands(
    position: Position, prior: Prior, samples: int, chance: np.random.Generator
) -> Hands:
    """Hands of the opponent: all that are possible, or so many of them.

    Args:
        position: what is known.
        prior: what his draws tell, `agents.prior.draw_prior()` or `no_prior()`.
        samples: hands that are taken at most.
        chance: of the choice; each hand is drawn by itself, with its chance.
    """
    [reading] = reading_of(position)
    shown = _shown_cards(position)
    hidden, chances = _list_hands(position, reading, shown, prior)
    possible = np.flatnonzero(chances > 0)
    if len(possible) <= samples:
        chosen, weights = possible, chances[possible] / chances[possible].sum()
    else:
        ends = np.cumsum(chances)
        marks = chance.random(samples) * ends[-1]
        chosen = np.minimum(np.searchsorted(ends, marks, side="right"), possible[-1])
        weights = np.full(samples, 1.0 / samples)
    held = hidden[chosen]
    whole = np.concatenate((np.broadcast_to(shown, (len(held), len(shown))), held), axis=1)
    return Hands(held, np.sort(whole, axis=1), weights, len(possible) <= samples)


def _shown_cards(position: Position) -> Cards:
    """The cards that the opponent has played, int8 (n,), ascending."""
    other = 1 - position.seat
    held = int(position.state["held"][other])
    played = [slot for slot in range(MAX_HAND) if not held >> slot & 1]
    cards: Cards = position.state["hand"][other][played]
    return cards


def _list_hands(
    position: Position, reading: np.void, shown: Cards, prior: Prior
) -> tuple[Cards, Floats]:
    """Every set of unseen cards that he can hold, int8 (N, u), and its chance up to a factor."""
    state, other = position.state, 1 - position.seat
    unseen = int(reading["unseen_cards"])
    pool = np.array([card for card in range(NUM_CARDS) if unseen >> card & 1], np.int8)
    drawing = bool(state["phase"] == DRAW) and other == position.dealer
    likelihood = np.ones_like(prior[0])
    if not drawing:  # who has not drawn yet has told nothing
        changed = np.array(state["draw_size"][other], np.int64).reshape(MAX_DRAWS)
        likelihood = prior[history_number(int(other == position.dealer), changed)]
    most = np.where(position.must_beat, reading["most"], SUITS)
    unknown = MAX_HAND - len(shown)
    hidden = np.zeros((comb(len(pool), unknown), unknown), np.int8)
    chances = np.zeros(len(hidden))
    _weigh_hands(pool, shown, most.astype(np.int64), likelihood, hidden, chances)
    return hidden, chances


@compiled
def _weigh_hands(
    pool: Cards,
    shown: Cards,
    most: Integers,
    likelihood: Likelihood,
    hidden: Cards,
    chances: Floats,
) -> None:
    """Write all sets of cards of the pool, and how likely they are; 0 where `most` forbids one."""
    unknown = hidden.shape[1]
    chosen = np.arange(unknown)
    counts = np.zeros(RANKS, np.int64)
    start, start_suit = np.int64(0), np.int64(SUITS)
    for card in shown:
        start = np.int64(ADDED[start, card >> 2])
        start_suit = card & 3 if start_suit in (SUITS, card & 3) else np.int64(-1)
    for i in range(hidden.shape[0]):
        whole, suit = start, start_suit
        possible = True
        counts[:] = 0
        for j in range(unknown):
            card = np.int64(pool[chosen[j]])
            hidden[i, j] = card
            counts[card >> 2] += 1
            possible &= counts[card >> 2] <= most[card >> 2]
            whole = np.int64(ADDED[whole, card >> 2])
            suit = card & 3 if suit in (SUITS, card & 3) else np.int64(-1)
        if possible:
            chances[i] = likelihood[hand_type(int(whole), int(suit >= 0))]
        place = unknown - 1
        while place >= 0 and chosen[place] == pool.shape[0] - unknown + place:
            place -= 1
        if place >= 0:
            chosen[place] += 1
            for j in range(place + 1, unknown):
                chosen[j] = chosen[j - 1] + 1


def complete(position: Position, hands: Hands, chance: np.random.Generator) -> tuple[States, Cards]:
    """Positions in which the opponent holds these hands, and decks to go on with.

    Args:
        position: what is known.
        hands: the opponent's, N of them.
        chance: of his discards and of the order of the stock.

    Returns:
        Records (N,), and int8 (N, 52), of which only cards that nobody has drawn yet are of use.
    """
    state, seat = position.state, position.seat
    other = 1 - seat
    count, unknown = hands.hidden.shape
    [reading] = reading_of(position)
    unseen = int(reading["unseen_cards"])
    pool = np.array([card for card in range(NUM_CARDS) if unseen >> card & 1], np.int8)
    marks = chance.random((count, len(pool)))
    held = (pool[None, :, None] == hands.hidden[:, None, :]).any(axis=2)
    marks[held] = 2.0  # what he holds goes to the end
    order = pool[np.argsort(marks, axis=1)[:, : len(pool) - unknown]]
    discarded = sum(position.draws(other))
    states = np.repeat(position.states, count)
    gone = np.left_shift(np.int64(1), order[:, :discarded].astype(np.int64)).sum(axis=1)
    states["discards"][:, other] = gone
    _place_hands(position.states, states, other, hands.whole)
    decks = np.zeros((count, NUM_CARDS), np.int8)
    dealer = int(state["dealer"])
    first = 2 * MAX_HAND + sum(position.draws(1 - dealer))
    decks[:, first : first + order.shape[1] - discarded] = order[:, discarded:]
    return states, decks


@compiled
def _place_hands(known: States, states: States, seat: int, hands: Cards) -> None:
    """Give `seat` these hands; cards that he has played lie in other slots now."""
    old = known[0]
    for i in range(states.shape[0]):
        new = states[i]
        held = (1 << MAX_HAND) - 1
        for slot in range(MAX_HAND):
            new["hand"][seat, slot] = hands[i, slot]
        for trick in range(MAX_HAND):
            led = old["trick_leader"][trick] == seat
            played = np.int64(old["trick_lead"][trick] if led else old["trick_follow"][trick])
            slots = 0
            for slot in range(MAX_HAND):
                if (played >> slot) & 1:
                    for place in range(MAX_HAND):
                        if hands[i, place] == old["hand"][seat, slot]:
                            slots |= 1 << place
            held &= ~slots
            if led:
                new["trick_lead"][trick] = slots
            else:
                new["trick_follow"][trick] = slots
        new["held"][seat] = held
