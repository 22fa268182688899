"""What the opponent can hold: hands that fit all that was seen of him, one sample after another.

His hidden cards are some of those that the player has not seen, each set of them equally likely
but for two things that he told:

- Where the rules make a follower beat what he can, a throw-off is a proof: after he threw off to a
  lead of k cards he held fewer than k of every higher rank. Hands that break a proof are not drawn.
- His numbers of cards drawn. A prior says how much likelier a final hand is after these draws than
  among all hands; it is the weight of the sample.
"""

from __future__ import annotations

import numpy as np

from agents.poke_reading import LEAD, Reading
from agents.prior import Likelihood, Prior, hand_type, history_number
from agents.reading import RANKS, SUITS, Floats, Integers, count_bits
from agents.tricks import ADDED, FIRST_HAND, HAND_RANKS, HANDS
from poke_env._jit import compiled, inlined
from poke_env.games.poke import MAX_HAND
from poke_env.streams import Words, next_word

OVERSAMPLING = 4
"""Hands drawn for each that is looked at, in proportion to their weights."""

_TRIES = 20
"""Hands drawn for one that breaks no proof. Cards that he cannot hold at all are left out before,
so what is left to chance are sets of two or more cards, and few tries fail."""

HIDDEN = np.dtype(
    [
        ("size", np.int64),  # cards in a full hand
        ("unknown", np.int64),  # cards that he holds now
        ("pool_size", np.int64),
        ("pool", np.int8, (RANKS * SUITS,)),  # cards that he can hold
        ("spare", np.int64),  # random words that are left over, see `draw_hand`
        ("unseen", np.int64, (RANKS,)),  # the same cards by rank
        ("most", np.int64, (RANKS,)),  # of each rank, at most
        ("limited", np.int64),  # 1 if that is fewer than there are of some rank
        ("shown", np.int64),  # cards that he has played, as a row of `HAND_RANKS`
        ("suit", np.int64),  # that of all cards he has played; -1 if they differ, SUITS for none
        ("ranks", np.int64, (MAX_HAND,)),  # of the hand looked at, in any order
        ("history", np.int64),  # of his draws
    ]
)
"""What is known of the opponent's hand."""

Hidden = np.void
"""A record of dtype `HIDDEN`."""


@compiled
def guess(
    reading: Reading,
    must_beat: bool,
    prior: Prior,
    samples: int,
    chance: Words,
    hidden: Hidden,
    hands: Integers,
    weights: Floats,
) -> int:
    """Find hands that the opponent may hold, with weights by which means are taken over them.

    Where there are no more hands than would be drawn, all of them are taken with their chances;
    else `samples` are kept of `OVERSAMPLING` times as many, in proportion to the prior.

    Args:
        reading: a position of the trick phase.
        must_beat: whether a throw-off is a proof. Proofs that contradict each other or leave too
            few cards are given up: then he need not beat what he can, whatever one was told.
        prior: see `Prior`.
        samples: 1 or more.
        chance: generator, advanced.
        hidden: record of dtype `HIDDEN`, overwritten.
        hands: int64 (OVERSAMPLING * samples,), written: numbers of hands (`hand_number`).
        weights: float64 (OVERSAMPLING * samples,), written: above 0.

    Returns:
        How many hands were written.
    """
    _describe(reading, must_beat, hidden)
    likelihood = prior[hidden["history"]]
    count = 0
    if HANDS[hidden["unknown"]] <= len(hands):
        count = _list_hands(hidden, reading["unseen_cards"], likelihood, hands, weights)
    if count == 0:
        count = _sample_hands(hidden, likelihood, samples, chance, hands, weights)
    return count


@compiled
def _describe(reading: Reading, must_beat: bool, hidden: Hidden) -> None:
    """Write all of `hidden` but the hand looked at."""
    size, held = reading["size"], count_bits(reading["held"])
    unknown = held if reading["phase"] == LEAD else held - reading["lead_size"]
    hidden["size"] = size
    hidden["unknown"] = unknown
    hidden["history"] = history_number(1 - reading["dealer"], reading["changed"][1])
    hidden["shown"] = 0
    for rank in range(RANKS):
        for _ in range(reading["shown"][rank]):
            hidden["shown"] = ADDED[hidden["shown"], rank]
    hidden["suit"] = SUITS if size == unknown else -1
    for suit in range(SUITS):
        if size > unknown and reading["shown_suits"][suit] == size - unknown:
            hidden["suit"] = suit
    most, unseen = reading["most"], reading["unseen"]
    room = 0
    for rank in range(RANKS):
        room += max(min(most[rank], unseen[rank]), 0)
    proved = must_beat and room >= unknown and min(most) >= 0
    count = 0
    hidden["limited"] = 0
    for rank in range(RANKS):
        hidden["most"][rank] = most[rank] if proved else SUITS
        hidden["unseen"][rank] = 0 if proved and most[rank] == 0 else unseen[rank]
        if hidden["unseen"][rank] > hidden["most"][rank]:
            hidden["limited"] = 1
        if hidden["unseen"][rank]:
            for card in range(SUITS * rank, SUITS * (rank + 1)):
                if (reading["unseen_cards"] >> card) & 1:
                    hidden["pool"][count] = card
                    count += 1
    hidden["pool_size"] = count
    orders = 1
    for i in range(unknown):
        orders *= count - i
    hidden["spare"] = 2**32 % orders


@compiled
def _sample_hands(
    hidden: Hidden,
    likelihood: Likelihood,
    samples: int,
    chance: Words,
    hands: Integers,
    weights: Floats,
) -> int:
    """Draw hands and keep some of them by systematic resampling; see `guess`."""
    drawn = OVERSAMPLING * samples
    total = 0.0
    for i in range(drawn):
        hands[i], kind = draw_hand(hidden, chance)
        weights[i] = likelihood[kind]
        total += weights[i]
    # Marks stand evenly along the weights laid end to end; a hand counts for every mark on it.
    step = total / samples
    mark = step * (next_word(chance) + 0.5) / 2**32
    end = 0.0
    count = 0
    for i in range(drawn):
        end += weights[i]
        times = 0.0
        while mark < end:
            mark += step
            times += 1.0
        if times > 0.0:
            hands[count] = hands[i]
            weights[count] = times
            count += 1
    return count


@inlined
def draw_hand(hidden: Hidden, chance: Words) -> tuple[int, int]:
    """Draw a hand that he can hold, each set of cards equally likely.

    One random word serves for the whole hand: what one card leaves of it is the word of the next
    (Brackett-Rozinsky and Lemire, Batched ranged random integer generation, 2024).

    Returns:
        Its number, and the type of the final hand that it makes with the cards he has played.
    """
    pool, unknown = hidden["pool"], hidden["unknown"]
    hand = whole = flush = np.int64(0)
    for _ in range(_TRIES):
        hand, whole, suit = np.int64(0), hidden["shown"], hidden["suit"]
        word = np.int64(next_word(chance))
        for i in range(unknown):
            word *= hidden["pool_size"] - i
            j = i + (word >> 32)
            word &= 0xFFFFFFFF
            # Whatever order the pool is in, its first cards after this are any of them.
            card = np.int64(pool[j])
            pool[j] = pool[i]
            pool[i] = card
            suit = card & 3 if suit in (SUITS, card & 3) else np.int64(-1)
            hidden["ranks"][i] = card >> 2
            hand = np.int64(ADDED[hand, card >> 2])
            whole = np.int64(ADDED[whole, card >> 2])
        flush = np.int64(suit >= 0)
        if word >= hidden["spare"] and _is_possible(hidden):
            break
    return int(hand - FIRST_HAND[unknown]), hand_type(int(whole), int(flush))


@inlined
def _is_possible(hidden: Hidden) -> bool:
    """Whether the hand looked at breaks no proof."""
    ranks, possible = hidden["ranks"], True
    for i in range(hidden["unknown"] if hidden["limited"] else 0):
        alike = 0
        for j in range(hidden["unknown"]):
            alike += ranks[j] == ranks[i]
        possible &= alike <= hidden["most"][ranks[i]]
    return possible


@compiled
def _list_hands(
    hidden: Hidden, unseen_cards: int, likelihood: Likelihood, hands: Integers, weights: Floats
) -> int:
    """Write every hand that he can hold with its chance, up to a factor; see `guess`."""
    ranks, unseen, unknown = hidden["ranks"], hidden["unseen"], hidden["unknown"]
    count = 0
    for number in range(HANDS[unknown]):
        whole = np.int64(hidden["shown"])
        ways = 1.0
        alike = 0
        for i in range(unknown):
            ranks[i] = HAND_RANKS[FIRST_HAND[unknown] + number, i]
            alike = alike + 1 if i > 0 and ranks[i] == ranks[i - 1] else 0
            ways *= (unseen[ranks[i]] - alike) / (alike + 1)
            whole = np.int64(ADDED[whole, ranks[i]])
        if ways > 0.0 and _is_possible(hidden):
            kind = hand_type(int(whole), 0)
            suited = _suited_ways(hidden, unseen_cards)
            hands[count] = number
            weights[count] = (ways - suited) * likelihood[kind] + suited * likelihood[kind + 1]
            count += 1
    return count


@inlined
def _suited_ways(hidden: Hidden, unseen_cards: int) -> int:
    """How many of the ways to hold the hand looked at make a final hand of one suit."""
    ways = 0
    for suit in range(SUITS):
        held = hidden["suit"] in (suit, SUITS)
        for i in range(hidden["unknown"]):
            rank = hidden["ranks"][i]
            held &= (unseen_cards >> (SUITS * rank + suit)) & 1 == 1
            held &= i == 0 or rank != hidden["ranks"][i - 1]
        ways += held
    return ways
