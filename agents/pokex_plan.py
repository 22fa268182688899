"""Plans for a hand of Pokex: which two cards go to which centre card.

What two cards are good for beside a centre card is told by the *kind* of the three together and by
a rank (`promise`); a plan pairs the cards of a hand with the centre cards that are to come so that
most tricks are to be hoped for (`fill_plan`). The trick on the table is judged by itself, over a
sample of the hands that the others may hold (`fill_chances`).
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.pokex_reading import AUCTION, LEFT, PARTNER, RIGHT, Reading
from agents.pokex_table import BY_CALLS, BY_KIND, BY_LEFT, BY_RANK
from agents.reading import Floats, Integers, count_bits
from poke_env import streams
from poke_env._jit import compiled
from poke_env.cards import NUM_CARDS
from poke_env.games.pokex import MAX_HAND, MAX_TRICKS, NUM_RANKS, strength

Cards = npt.NDArray[np.int8]

# --- what three cards are good for ----------------------------------------------------------------

NOTHING, STRAIGHT_DRAW, FLUSH_DRAW, STRAIGHT_FLUSH_DRAW, PAIR, THREE = range(6)
KINDS = 6

_RANKS = NUM_RANKS - 1
"""Ranks that make straights: all but the jokers'."""
_BY_KIND = np.array(BY_KIND).reshape(2, 2, 3, KINDS)
_BY_RANK = np.array(BY_RANK).reshape(2, 2, KINDS)
_BY_CALLS = np.array(BY_CALLS)
_BY_LEFT = np.array(BY_LEFT).reshape(2, 2, KINDS)
MIDDLE_RANK = (_RANKS - 1) / 2
MIDDLE_LEFT = (1 + MAX_TRICKS) / 2
"""The rank and the tricks left for which the table holds as it stands."""

_CONNECTED = np.zeros(1 << NUM_RANKS, np.bool_)
"""By a set of ranks: whether all of them fit into one straight."""
for _straight in (0b1_0000_0000_1111, *(0b1_1111 << _lowest for _lowest in range(_RANKS - 4))):
    _CONNECTED[np.arange(1 << NUM_RANKS) & ~_straight == 0] = True


@compiled
def kind_of_three(first: int, second: int, centre: int, wild: int) -> tuple[int, int, int]:
    """What three cards may grow to.

    Returns:
        A kind, that of the cards without wild ones; the number of wild cards; and the rank of the
        set, or else the highest.
    """
    wilds = 0
    ranks, paired, equal = 0, -1, 0
    top = -1
    suits = 0
    for number in (first, second, centre):
        card = int(number)  # not of eight bits, which sets of ranks do not fit
        if wild and card >= NUM_CARDS:
            wilds += 1
            continue
        rank = card >> 2
        if ranks >> rank & 1:
            paired = rank
            equal += 1
        ranks |= 1 << rank
        suits |= 1 << (card & 3 if card < NUM_CARDS else 4)
        top = max(top, rank)
    if equal == 2:
        return THREE, wilds, paired
    if equal == 1:
        return PAIR, wilds, paired
    kind = NOTHING
    if wilds < 2:
        kind += STRAIGHT_DRAW * _CONNECTED[ranks]
        kind += FLUSH_DRAW * (suits & (suits - 1) == 0)
    return kind, wilds, top


@compiled
def promise(first: int, second: int, centre: int, leads: int, left: int, wild: int) -> float:
    """The log odds that a side takes a trick to which one partner plays two cards.

    Args:
        first, second, centre: the three cards.
        leads: whether the side leads.
        left: tricks that are not finished then.
        wild: whether jokers are wild.
    """
    kind, wilds, rank = kind_of_three(first, second, centre, wild)
    odds = _BY_KIND[wild, leads, wilds, kind] + _BY_RANK[wild, leads, kind] * (rank - MIDDLE_RANK)
    return float(odds + _BY_LEFT[wild, leads, kind] * (left - MIDDLE_LEFT))


# --- the tricks to come ---------------------------------------------------------------------------


@compiled
def fill_plan(reading: Reading, plan: Floats) -> float:
    """Write the tricks that a side may hope to take with every set of a player's cards.

    A set of cards is meant for the last of the tricks that are left, two for each, and used in the
    best way. It counts what the side takes, not only the player.

    Args:
        reading: any; its `hand` holds two cards for each trick that is left.
        plan: float64 (2 ** MAX_HAND,), overwritten by the set of places in `hand`, as bits.

    Returns:
        The tricks that the whole hand may hope for.
    """
    count, left = reading["count"], reading["left"]
    worth = np.zeros((MAX_TRICKS, MAX_HAND, MAX_HAND))
    for trick in range(left):
        for high in range(count):
            for low in range(high):
                worth[trick, low, high] = _chance(reading, trick, low, high)
    plan[0] = 0.0
    for held in range(1, 1 << count):
        number = count_bits(held)
        plan[held] = 0.0
        if number & 1 or number > 2 * left:
            continue
        trick = left - number // 2
        for high in range(count):
            if not held >> high & 1:
                continue
            for low in range(high):
                if held >> low & 1:
                    rest = plan[held & ~(1 << low | 1 << high)]
                    plan[held] = max(plan[held], worth[trick, low, high] + rest)
    return float(plan[(1 << count) - 1])


@compiled
def _chance(reading: Reading, trick: int, low: int, high: int) -> float:
    """The chance that the own side takes a coming trick with two of the player's cards.

    Who will lead is not known in the auction, where it is taken to be either side alike, and later
    by the rule that the lead goes round.
    """
    chance = 0.0
    for leads in range(2):
        if reading["phase"] == AUCTION or (reading["leader"] + trick) % 2 != leads:
            cards = reading["hand"][low], reading["hand"][high], reading["centre"][trick]
            left = reading["left"] - trick
            odds = promise(cards[0], cards[1], cards[2], leads, left, reading["wild"])
            chance += 1 / (1 + np.exp(-odds))
    return chance / 2 if reading["phase"] == AUCTION else chance


# --- the auction ----------------------------------------------------------------------------------

FEATURES = 6


@compiled
def describe_auction(reading: Reading, hope: float, features: Floats) -> None:
    """Write what the tricks of the own side are estimated by.

    Args:
        reading: a position of the auction.
        hope: tricks that the own hand may hope for.
        features: float64 (FEATURES,), overwritten: 1; as shares of all tricks the hope, the
            partner's bid, the opponents' bid; whether the partner passed without a bid, and how
            many opponents did.
    """
    tricks, bids = reading["tricks"], reading["bids"]
    features[0] = 1.0
    features[1] = hope / tricks
    features[2] = bids[PARTNER] / tricks
    features[3] = max(bids[LEFT], bids[RIGHT]) / tricks
    features[4] = reading["passed"][PARTNER] and bids[PARTNER] == 0
    features[5] = 0.0
    for seat in (LEFT, RIGHT):
        features[5] += reading["passed"][seat] and bids[seat] == 0


@compiled
def expected_share(reading: Reading, hope: float) -> float:
    """The share of the tricks that the own side is expected to take, 0 to 1.

    Args:
        reading, hope: as for `describe_auction`.
    """
    features = np.zeros(FEATURES)
    describe_auction(reading, hope, features)
    return float(min(max((_BY_CALLS[reading["wild"]] * features).sum(), 0.0), 1.0))


# --- the trick on the table -----------------------------------------------------------------------

_NEVER = 1 << 62
"""A strength that no hand has."""


@compiled
def fill_chances(reading: Reading, samples: int, generator: Integers, chances: Floats) -> None:
    """Write the chance to take the trick on the table with every two of the player's cards.

    Who is last knows. Others deal the cards that they have not seen: a partner who is still to play
    then finds the best hand, or one that beats what lies there; two opponents find the best that
    goes with one of the pairs which promise most to the first of them. Equal hands are the
    leader's.

    Args:
        reading: a position of the tricks.
        samples: deals that are looked at, 1 or more; the same for every two cards.
        generator: advanced.
        chances: float64 (MAX_HAND, MAX_HAND), [low, high] written for places in `hand`.
    """
    place, count, wild = reading["place"], reading["count"], reading["wild"]
    five = np.zeros(5, np.int8)
    five[4] = reading["centre"][0]
    follows = place >= 2
    target = -1
    if follows:
        for i in range(2):
            five[i], five[2 + i] = reading["table"][LEFT, i], reading["table"][RIGHT, i]
        target = strength(five, wild) + 1
    ready = place % 2 == 1
    own = np.zeros((MAX_HAND, MAX_HAND), np.int64)
    if ready:
        for i in range(2):
            five[2 + i] = reading["table"][PARTNER, i]
        for high in range(count):
            for low in range(high):
                five[0], five[1] = reading["hand"][low], reading["hand"][high]
                own[low, high] = strength(five, wild)
    # Of the unseen cards the partner's come first if he is still to play, then two opponents'.
    partners = 0 if ready else count
    drawn = partners if follows else partners + 2 * count
    deals = samples if drawn > 0 else 1
    chances[:] = 0.0
    for _ in range(deals):
        deck = _shuffle(reading, drawn, generator)
        if not follows:
            third = deck[partners : partners + count]
            target = _reply(third, deck[partners + count : drawn], five, wild)
        for high in range(count):
            for low in range(high):
                value = own[low, high]
                if not ready:
                    five[0], five[1] = reading["hand"][low], reading["hand"][high]
                    value = _complete(deck[:partners], five, wild, target)
                if value >= target:
                    chances[low, high] += 1 / deals


@compiled
def _shuffle(reading: Reading, number: int, generator: Integers) -> Cards:
    """The unseen cards, of which the first `number` are drawn at random."""
    count = int(reading["unseen_count"])
    deck: Cards = reading["unseen"][:count]
    for place in range(min(number, count)):
        other = place + streams.random_below(generator, count - place)
        deck[place], deck[other] = deck[other], deck[place]
    return deck


@compiled
def _complete(hand: Cards, five: Cards, wild: int, enough: int) -> int:
    """The best strength that two cards of a hand bring; looks no further once it is `enough`.

    Args:
        five: int8 (5,), its places 2 and 3 are overwritten.
    """
    best = 0
    for high in range(hand.shape[0]):
        for low in range(high):
            five[2], five[3] = hand[low], hand[high]
            best = max(best, strength(five, wild))
            if best >= enough:
                return best
    return best


TRIED = 3
"""Pairs of a follower with which an answer is sought. With three the chances of the leader's side
fit the tricks that it takes from players like this one; with one they are too high, with six too
low."""


@compiled
def _reply(third: Cards, fourth: Cards, table: Cards, wild: int) -> int:
    """The best strength that two followers reach with one of the first one's best pairs."""
    five = table.copy()
    size = third.shape[0]
    promises = np.full((size, size), -np.inf)
    for high in range(size):
        for low in range(high):
            promises[low, high] = promise(third[low], third[high], five[4], 0, size // 2, wild)
    best = 0
    for _ in range(min(TRIED, size * (size - 1) // 2)):
        place = promises.argmax()
        low, high = place // size, place % size
        promises[low, high] = -np.inf
        five[0], five[1] = third[low], third[high]
        best = max(best, _complete(fourth, five, wild, _NEVER))
    return best
