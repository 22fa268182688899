"""Players of Poängpoker: a greedy one, and one who weighs chances.

Both see observations alone (`agents.poangpoker_reading`). What the rules are is not part of them:
points are those of the standard game.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from agents.poangpoker_reading import EXCHANGE, READING, PoangpokerAgent, Reading, read
from agents.reading import RANKS, SUITS, Integers, Mask, count_bits, only_action
from poke_env import streams
from poke_env._jit import compiled
from poke_env.agent import Masks, Observations
from poke_env.cards import CATEGORY_SHIFT, Category, hand_value
from poke_env.games.poangpoker import MAX_HAND, MAX_PLAYERS, Rules

Cards = npt.NDArray[np.int8]

# --- greedy ---------------------------------------------------------------------------------------


class GreedyAgent(PoangpokerAgent):
    """Looks no further than the sets in its hand and the trick before it.

    Keeps a straight or better, else its sets, and changes all other cards it may, the lowest first.
    Leads its highest card. Follows with the lowest card that wins as things stand, otherwise with
    its lowest. No choice is left to chance.
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
        read(observations[i], masks[i], reading)
        if reading["phase"] == EXCHANGE:
            chosen[i] = _greedy_exchange(reading, masks[i])
        else:
            chosen[i] = _greedy_play(reading, masks[i])
    return chosen


@compiled
def _greedy_exchange(reading: Reading, mask: Mask) -> int:
    kept = np.zeros(MAX_HAND, np.int8)
    best = 0
    best_worth = -1
    for action in range(mask.shape[0]):
        if mask[action]:
            count = 0
            ranks = 0
            for slot in range(reading["size"]):
                if not (action >> slot) & 1:
                    kept[count] = reading["hand"][slot]
                    ranks += int(kept[count]) >> 2
                    count += 1
            category = int(hand_value(kept, count, True) >> CATEGORY_SHIFT) if count else 0
            worth = 1000 * category + 100 * count_bits(action) + ranks
            if worth > best_worth:
                best = action
                best_worth = worth
    return best


@compiled
def _greedy_play(reading: Reading, mask: Mask) -> int:
    best = 0
    best_worth = -1_000
    for slot in range(reading["size"]):
        if mask[1 << slot]:
            card = int(reading["hand"][slot])
            worth = -(card >> 2)
            if reading["best"] < 0:
                worth = card >> 2
            elif _beats(card, reading["best"]):
                worth += 100
            if worth > best_worth:
                best = 1 << slot
                best_worth = worth
    return best


@compiled
def _beats(card: int, best: int) -> bool:
    return (card ^ best) & 3 == 0 and card > best


# --- heuristic ------------------------------------------------------------------------------------

SAMPLES = 64
"""Deals that an exchange is judged by."""

_PLAY = np.dtype(
    [
        ("chance", np.float64, (MAX_HAND + 1, MAX_HAND)),
        ("share", np.float64, (SUITS,)),
        ("leading", np.float64, (1 << MAX_HAND,)),
        ("waiting", np.float64, (1 << MAX_HAND,)),
    ]
)
"""What the tricks to come are judged by. `chance`: cards each player holds, slot: that the slot's
card is the highest of its suit that is about. `share`: that another leads the suit. `leading` and
`waiting`: by the set of slots held, the chance to win the last trick when one leads, and when
another does."""

_POINTS = np.array(Rules().poker_points, np.float64)
_LAST_TRICK = Rules().last_trick_points
_HIGHEST = ((np.arange(RANKS) + 0.5)[np.newaxis] / RANKS) ** np.arange(-1, MAX_PLAYERS)[
    :, np.newaxis
].clip(0)
"""By number of players, rank: the chance that a card is the highest of as many, one from each."""
_STRAIGHT_AT_LEAST = (int(Category.STRAIGHT) + 1 << CATEGORY_SHIFT) - 1


class HeuristicAgent(PoangpokerAgent):
    """Weighs the hand against the last trick in the exchange, and plays tricks for the last one.

    Every legal exchange is judged over the same sample of deals: the hand that it leads to scores
    if it beats those that the others are likely to end with, judged by the numbers of cards they
    changed; its high cards may win the last trick. In the tricks it remembers what went by and who
    could not follow or head, and plays the card after which the last trick is most likely its own,
    which ducks as long as a winner is better kept. Keys decide the sample of deals.
    """

    def choose(self, observations: Observations, masks: Masks, keys: Integers) -> Integers:
        """See `KeyedAgent.choose`."""
        return _choose(observations, masks, keys)


@compiled
def _choose(observations: Observations, masks: Masks, keys: Integers) -> Integers:
    chosen = np.empty(masks.shape[0], np.int64)
    readings = np.zeros(1, READING)  # used below: a compiled record does not keep its array
    plays = np.zeros(1, _PLAY)
    for i in range(masks.shape[0]):
        chosen[i] = only_action(masks[i])
        if chosen[i] >= 0:
            continue
        reading = readings[0]
        read(observations[i], masks[i], reading)
        if reading["phase"] == EXCHANGE:
            generator = streams.key_generator(keys[i, 0], keys[i, 1])
            chosen[i] = _best_exchange(reading, masks[i], generator)
        else:
            chosen[i] = _best_play(reading, masks[i], plays[0])
    return chosen


@compiled
def _best_exchange(reading: Reading, mask: Mask, generator: Integers) -> int:
    """The exchange that brings most points, own less the mean of the others', over a sample."""
    players, size, count = reading["players"], reading["size"], reading["unseen_count"]
    deck = reading["unseen"][:count]
    hand = np.zeros(MAX_HAND, np.int8)
    worth = np.zeros(mask.shape[0])
    for _ in range(SAMPLES):
        for card in range(count - 1, 0, -1):
            other = streams.random_below(generator, card + 1)
            deck[card], deck[other] = deck[other], deck[card]
        against = -1
        for seat in range(1, players):
            against = max(against, _likely_hand(reading, seat, hand))
        lost = _POINTS[against >> CATEGORY_SHIFT] / (players - 1)
        for action in range(mask.shape[0]):
            if mask[action]:
                drawn = 0
                high = 0.0
                for slot in range(size):
                    hand[slot] = reading["hand"][slot]
                    if (action >> slot) & 1:
                        hand[slot] = deck[drawn]
                        drawn += 1
                    high += _HIGHEST[players, hand[slot] >> 2]
                worth[action] += _LAST_TRICK * high / size * players / (players - 1)
                value = hand_value(hand, size, True)
                if value > against:
                    worth[action] += _POINTS[value >> CATEGORY_SHIFT] + lost
    best = -1
    for action in range(mask.shape[0]):
        if mask[action] and (best < 0 or worth[action] > worth[best]):
            best = action
    return best


@compiled
def _likely_hand(reading: Reading, seat: int, hand: Cards) -> int:
    """What a hand is worth that another seat may end with in this sample.

    Who changes no card has a straight or better; who changes one has two pair, two three of a kind,
    three a pair. Who changes more, or has still to exchange, begins with any cards and keeps his
    sets. Cards of two seats may be the same: only their values matter.

    Args:
        reading: `unseen` in the order of the sample.
        seat: the other seat, 1 is the next.
        hand: int8 (5,), overwritten.
    """
    size, changed = reading["size"], reading["exchanged"][seat]
    start = MAX_HAND + 2 * MAX_HAND * (seat - 1)
    if changed == 0 and size == MAX_HAND:
        return _STRAIGHT_AT_LEAST
    held = 0
    if changed < 0:
        held = _keep_sets(reading, start, hand)
    elif size - changed == 4:
        held = _take_set(reading, start, 2, hand, 0)
        held = _take_set(reading, start, 2, hand, held)
    elif size - changed >= 2:
        held = _take_set(reading, start, size - changed, hand, 0)
    _fill(reading, start + size, hand, held)
    return int(hand_value(hand, size, True))


@compiled
def _nth(reading: Reading, place: int) -> int:
    """The card at a place of the sample, which begins anew when it ends."""
    return int(reading["unseen"][place % reading["unseen_count"]])


@compiled
def _keep_sets(reading: Reading, start: int, hand: Cards) -> int:
    """Deal a hand and keep its sets, or all of a straight or better; the number of cards kept."""
    size = reading["size"]
    for slot in range(size):
        hand[slot] = _nth(reading, start + slot)
    if hand_value(hand, size, True) >> CATEGORY_SHIFT >= Category.STRAIGHT:
        return int(size)
    once = np.int64(0)
    more = np.int64(0)
    for slot in range(size):
        rank = np.int64(1) << np.int64(hand[slot] >> 2)
        more |= once & rank
        once |= rank
    held = 0
    for slot in range(size):
        if (more >> np.int64(hand[slot] >> 2)) & 1:
            hand[held] = hand[slot]
            held += 1
    return held


@compiled
def _take_set(reading: Reading, start: int, number: int, hand: Cards, held: int) -> int:
    """Add the first `number` cards of one rank in the sample to a hand; the number of its cards."""
    for end in range(reading["unseen_count"]):
        rank = _nth(reading, start + end) >> 2
        alike = 0
        for place in range(end + 1):
            alike += _nth(reading, start + place) >> 2 == rank
        if alike == number and (held == 0 or hand[0] >> 2 != rank):
            for place in range(end + 1):
                card = _nth(reading, start + place)
                if card >> 2 == rank:
                    hand[held] = card
                    held += 1
            return held
    return held


@compiled
def _fill(reading: Reading, start: int, hand: Cards, held: int) -> None:
    """Complete a hand with the cards of the sample that it does not hold."""
    place = start
    while held < reading["size"]:
        card = _nth(reading, place)
        place += 1
        new = True
        for slot in range(held):
            new = new and hand[slot] != card
        if new or place > start + reading["unseen_count"]:
            hand[held] = card
            held += 1


@compiled
def _best_play(reading: Reading, mask: Mask, play: np.void) -> int:
    """The card after which the player wins the last trick most often."""
    _judge(reading, play)
    held, best_card = reading["held"], reading["best"]
    number = count_bits(held)
    best = 0
    best_worth = -1.0
    for slot in range(reading["size"]):
        action = 1 << slot
        if not mask[action]:
            continue
        card = int(reading["hand"][slot])
        chance = play["chance"][number, slot]
        if best_card >= 0:
            chance = 0.0
            if _beats(card, best_card):
                chance = _nobody_holds_more(reading, card, reading["later"], number)
        worth = _mixed(play, held & ~action, chance)
        # Where it makes no difference, the lowest card goes.
        if worth > best_worth + 1e-9:
            best = action
            best_worth = worth
    return best


@compiled
def _mixed(play: np.void, rest: int, chance: float) -> float:
    """The chance to win the last trick when a trick is won with `chance` and `rest` is left."""
    return float(chance * play["leading"][rest] + (1 - chance) * play["waiting"][rest])


@compiled
def _nobody_holds_more(reading: Reading, card: int, seats: int, number: int) -> float:
    """The chance that none of the next `seats` seats, with `number` cards each, can beat a card.

    It is exact as long as nothing is known of the seats.
    """
    rank, suit = card >> 2, card & 3
    unseen = int(reading["unseen_count"])
    chance = 1.0
    for higher in range(rank + 1, RANKS):
        if (reading["unseen_ranks"][suit] >> higher) & 1:
            cards = 0
            for seat in range(1, seats + 1):
                cards += number * (reading["limit"][seat, suit] >= higher)
            chance *= max(0.0, 1 - cards / unseen)
            unseen = max(unseen - 1, 1)
    return float(chance)


@compiled
def _judge(reading: Reading, play: np.void) -> None:
    """Write into `play` what every set of cards that may be left is good for.

    Cards of the others count as spread evenly over what is unseen and possible, each trick by
    itself. The best card to lead or to follow with is always found.
    """
    size, held = reading["size"], reading["held"]
    for slot in range(size):
        if (held >> slot) & 1:
            card = int(reading["hand"][slot])
            for number in range(1, count_bits(held) + 1):
                play["chance"][number, slot] = _nobody_holds_more(
                    reading, card, reading["players"] - 1, number
                )
    for suit in range(SUITS):
        unseen = count_bits(reading["unseen_ranks"][suit])
        play["share"][suit] = unseen / reading["unseen_count"]
    play["leading"][0] = 1.0
    play["waiting"][0] = 0.0
    for rest in range(1, held + 1):
        if rest & ~held:
            continue
        number = count_bits(rest)
        leading = 0.0
        throwing = 0.0
        for slot in range(size):
            if (rest >> slot) & 1:
                left = rest & ~(1 << slot)
                leading = max(leading, _mixed(play, left, play["chance"][number, slot]))
                throwing = max(throwing, play["waiting"][left])
        waiting = 0.0
        for suit in range(SUITS):
            following = -1.0
            for slot in range(size):
                if (rest >> slot) & 1 and reading["hand"][slot] & 3 == suit:
                    left = rest & ~(1 << slot)
                    following = max(following, _mixed(play, left, play["chance"][number, slot]))
            waiting += play["share"][suit] * (throwing if following < 0 else following)
        play["leading"][rest] = leading
        play["waiting"][rest] = waiting
