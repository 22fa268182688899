"""Players of Pokex: a greedy one, and one who plans.

Both see observations alone (`agents.pokex_reading`), which tell what a joker is and nothing else of
the rules. These are taken to be those of the standard game: equal hands are the leader's, the lead
goes round to the left, and a bid that fails costs nothing, also where it is not so.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from agents.pokex_plan import Cards, expected_share, fill_chances, fill_plan
from agents.pokex_reading import AUCTION, PARTNER, READING, PokexAgent, Reading, read
from agents.reading import Floats, Integers, only_action
from poke_env import streams
from poke_env._checks import check_flag, check_integer
from poke_env._jit import compiled
from poke_env.agent import Masks, Observations
from poke_env.cards import NUM_CARDS, hand_value
from poke_env.games.pokex import MAX_HAND, NUM_RANKS, PASS, PLAY_FIRST, strength

_PLAY = np.zeros((MAX_HAND, MAX_HAND), np.int64)
"""By two slots: the action that plays their cards."""
for _number, (_low, _high) in enumerate(combinations(range(MAX_HAND), 2)):
    _PLAY[_low, _high] = _PLAY[_high, _low] = PLAY_FIRST + _number


@compiled
def _action(reading: Reading, low: int, high: int) -> int:
    """The action that plays the cards at two places of `hand`."""
    return int(_PLAY[reading["slots"][low], reading["slots"][high]])


# --- greedy ---------------------------------------------------------------------------------------


class GreedyAgent(PokexAgent):
    """Looks no further than the sets in its hand and the trick before it.

    Bids as many tricks as it has two cards of a rank, if nobody has bid as many. Plays the two
    cards that make the best hand with those that its side has in the trick already, the lowest
    ones among equals. No choice is left to chance.

    Args:
        seed: see `PokexAgent`.
    """

    def choose(self, observations: Observations, masks: Masks, keys: Integers) -> Integers:
        """See `KeyedAgent.choose`."""
        return _choose_greedily(observations, masks)


@compiled
def _choose_greedily(observations: Observations, masks: Masks) -> Integers:
    chosen = np.empty(masks.shape[0], np.int64)
    readings = np.zeros(1, READING)  # used below: a compiled record does not keep its array
    for i in range(masks.shape[0]):
        chosen[i] = only_action(masks[i])
        if chosen[i] >= 0:
            continue
        reading = readings[0]
        read(observations[i], reading)
        if reading["phase"] == AUCTION:
            sets = _sets(reading)
            chosen[i] = sets if sets > reading["bid"] else PASS
        else:
            chosen[i] = _greedy_play(reading)
    return chosen


@compiled
def _sets(reading: Reading) -> int:
    """How many sets of two cards of a rank the hand holds; a wild joker makes one of any card."""
    counts = np.zeros(NUM_RANKS, np.int64)
    for place in range(reading["count"]):
        counts[reading["hand"][place] >> 2] += 1
    sets = 0
    for rank in range(NUM_RANKS):
        alone = reading["wild"] and rank == NUM_RANKS - 1
        sets += counts[rank] if alone else counts[rank] // 2
    return int(min(sets, reading["tricks"]))


@compiled
def _greedy_play(reading: Reading) -> int:
    wild = reading["wild"]
    five = np.zeros(5, np.int8)
    five[2] = reading["centre"][0]
    size = 3
    if reading["table"][PARTNER, 0] >= 0:
        five[3], five[4] = reading["table"][PARTNER, 0], reading["table"][PARTNER, 1]
        size = 5
    chosen = 0
    best = -1
    for low in range(reading["count"]):
        for high in range(low + 1, reading["count"]):
            five[0], five[1] = reading["hand"][low], reading["hand"][high]
            value = strength(five, wild) if size == 5 else _three_value(five, wild)
            if value > best:
                best = value
                chosen = _action(reading, low, high)
    return chosen


@compiled
def _three_value(cards: Cards, wild: int) -> int:
    """The value of the first three cards; wild jokers are cards of the highest rank beside them."""
    three = cards[:3].copy()
    if wild:
        top = 0
        for place in range(3):
            if three[place] < NUM_CARDS:
                top = max(top, three[place])
        for place in range(3):
            if three[place] >= NUM_CARDS:
                three[place] = top
    return int(hand_value(three, 3, True))


# --- heuristic ------------------------------------------------------------------------------------

MOST_SAMPLES = 100_000


class HeuristicAgent(PokexAgent):
    """Plans which two cards serve which centre card, and bids the tricks that this promises.

    A plan gives every two of its cards to one of the centre cards to come, so that most tricks are
    to be hoped for; a measured table tells what three cards promise to a side. In the auction the
    tricks hoped for, the bids and the passes give the share of the tricks to expect. It bids what
    brings most points by that, but no more tricks than it is as likely as not to take, and
    overbids its partner only for more points.

    In the tricks it plays the two cards after which most tricks are to be expected, this one and
    those of the plan for the rest. The chance in this one is exact for who is last, and otherwise
    found over deals of the cards that it has not seen. So it wins cheaply, throws what the plan
    needs least when a trick is lost, and adds to its partner's cards. Keys decide the deals.

    It does not ask what calls and plays tell of a hand beyond the number of tricks, does not look
    at how many tricks the bid still needs (which brought nothing: the same play of points instead
    of tricks lost 0.09 a deal, with a standard error of 0.06), nor at the score.

    Args:
        seed: see `PokexAgent`.
        sacrifice: whether to outbid opponents always, however unlikely the bid is to be fulfilled:
            one that fails costs nothing. Where all do so the auctions end with the highest bid, and
            hardly anybody scores.
        samples: deals that are looked at to judge a play, up to `MOST_SAMPLES`. With 32 the chances
            are right to a tenth. Four times as many took four times as long and gained 0.20 points
            a deal in one reading of the jokers, 0.09 in the other (standard errors 0.07).

    Raises:
        ValueError: if an argument is something else.
    """

    def __init__(self, seed: int | None = 0, sacrifice: bool = False, samples: int = 32) -> None:
        self.sacrifice = check_flag("sacrifice", sacrifice)
        self.samples = check_integer("samples", samples, 1, MOST_SAMPLES)
        super().__init__(seed)

    def choose(self, observations: Observations, masks: Masks, keys: Integers) -> Integers:
        """See `KeyedAgent.choose`."""
        return _choose(observations, masks, keys, self.sacrifice, self.samples)


@compiled
def _choose(
    observations: Observations,
    masks: Masks,
    keys: Integers,
    sacrifice: bool,
    samples: int,
) -> Integers:
    chosen = np.empty(masks.shape[0], np.int64)
    readings = np.zeros(1, READING)  # used below: a compiled record does not keep its array
    plan = np.zeros(1 << MAX_HAND)
    chances = np.zeros((MAX_HAND, MAX_HAND))
    for i in range(masks.shape[0]):
        chosen[i] = only_action(masks[i])
        if chosen[i] >= 0:
            continue
        reading = readings[0]
        read(observations[i], reading)
        hope = fill_plan(reading, plan)
        if reading["phase"] == AUCTION:
            chosen[i] = _best_call(reading, expected_share(reading, hope), sacrifice)
        else:
            generator = streams.key_generator(keys[i, 0], keys[i, 1])
            fill_chances(reading, samples, generator, chances)
            chosen[i] = _best_play(reading, plan, chances)
    return chosen


@compiled
def _best_call(reading: Reading, share: float, sacrifice: bool) -> int:
    """The call that brings most points if the auction ends with it.

    Without `sacrifice` a bid is made only if it is fulfilled as likely as not. With it any bid is
    better than to leave the opponents theirs, since one that fails costs nothing.
    """
    tricks, standing = reading["tricks"], reading["bid"]
    best = PASS
    most = 0.0
    if reading["bidder"] == PARTNER:
        most = _points(standing, share, tricks)
    for bid in range(standing + 1, tricks + 1):
        points = _points(bid, share, tricks)
        if points > most and (sacrifice or _fulfilled(bid, share, tricks) >= 0.5):
            best = bid
            most = points
    return best


@compiled
def _likely(taken: int, share: float, tricks: int) -> float:
    """The chance to take so many tricks, as in so many throws of a coin that falls by `share`."""
    ways = 1.0
    for i in range(taken):
        ways *= (tricks - i) / (i + 1)
    return float(ways * share**taken * (1 - share) ** (tricks - taken))


@compiled
def _fulfilled(bid: int, share: float, tricks: int) -> float:
    """The chance to take as many tricks as were bid."""
    chance = 0.0
    for taken in range(bid, tricks + 1):
        chance += _likely(taken, share, tricks)
    return chance


@compiled
def _points(bid: int, share: float, tricks: int) -> float:
    """What a bid brings on average."""
    points = 0.0
    for taken in range(bid, tricks + 1):
        points += _likely(taken, share, tricks) * (bid * (bid + 1) / 2 + bid * (taken - bid))
    return points


@compiled
def _best_play(reading: Reading, plan: Floats, chances: Floats) -> int:
    """The cards after which most tricks are to be hoped for, this one and those to come."""
    count = reading["count"]
    whole = (1 << count) - 1
    chosen = 0
    best = -1.0
    for low in range(count):
        for high in range(low + 1, count):
            worth = chances[low, high] + plan[whole & ~(1 << low | 1 << high)]
            # Where it makes no difference, the lowest cards go.
            if worth > best + 1e-9:
                best = worth
                chosen = _action(reading, low, high)
    return chosen
