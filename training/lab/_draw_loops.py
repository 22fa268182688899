"""The compiled loops of the draw phase's solver; `training.lab.draws` says what they are for.

Lanes are public histories of the non-dealer: every loop does all of them at once. Their number is
a multiple of four, see `training.lab._lanes`.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt

from agents.hand_classes import SUITS, find, key_of, suits_of
from agents.tricks import FIRST_PAIR, HANDS, RANKS
from poke_env._jit import compiled, inlined
from poke_env.games.poke import MAX_HAND
from training.lab._lanes import WIDTH, add_four, choose_four

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint8]
Actions = npt.NDArray[np.int8]

SPLITS = MAX_HAND + 1
"""Numbers of cards that the leader can take."""
CATEGORIES = 10

# --- pairs of types -------------------------------------------------------------------------------

# The chance that two hands have no card in common is, over the ranks, a product of these factors,
# by how many cards of the rank each hand holds.
_FACTORS = {(1, 1): 3 / 4, (1, 2): 1 / 2, (1, 3): 1 / 4, (2, 2): 1 / 6}


def _apart_codes() -> tuple[Integers, Floats]:
    """A number for each product that can occur, by how often each factor does; and the products.

    Number 0 is the chance 0.
    """
    numbers = np.zeros((6, 3, 3, 3), np.int64)
    chances = [0.0]
    for counts in product(range(6), range(3), range(3), range(3)):
        fewer = sum(count * few for count, (few, _) in zip(counts, _FACTORS, strict=True))
        cards = sum(
            count * (few + many) for count, (few, many) in zip(counts, _FACTORS, strict=True)
        )
        if fewer <= MAX_HAND and cards <= 2 * MAX_HAND:
            numbers[counts] = len(chances)
            chances.append(float(np.prod(np.array(list(_FACTORS.values())) ** np.array(counts))))
    return numbers, np.array(chances)


_APART, _APART_CHANCE = _apart_codes()
NUM_CODES = SPLITS * len(_APART_CHANCE)
CODE_CARDS = (np.arange(NUM_CODES) % SPLITS).astype(np.uint8)
CODE_APART = np.repeat(_APART_CHANCE, SPLITS)
"""What the code of a pair of types says: the cards that the non-dealer, who leads, takes; and the
chance that hands of these types have no card in common."""


@compiled
def write_codes(
    tricks: npt.NDArray[np.int8],
    ranks: npt.NDArray[np.int8],
    multiset: npt.NDArray[np.int16],
    flush: npt.NDArray[np.bool_],
    codes: Codes,
    start: int,
    stop: int,
) -> None:
    """Write the codes of pairs of types, for the dealer's types `start` … `stop - 1`.

    Args:
        tricks: the trick table's values.
        ranks: int8 (T, 5), of each type.
        multiset: int16 (T,), their number.
        flush: bool (T,), whether a type is of one suit.
        codes: uint8 (T, T), by the dealer's type, then the non-dealer's.
    """
    own = np.zeros(RANKS, np.int64)
    counts = np.zeros(4, np.int64)
    for j in range(start, stop):
        own[:] = 0
        for k in range(MAX_HAND):
            own[ranks[j, k]] += 1
        for i in range(codes.shape[0]):
            counts[:] = 0
            possible = True
            k = 0
            while k < MAX_HAND:
                rank = ranks[i, k]
                held = 0
                while k < MAX_HAND and ranks[i, k] == rank:
                    held += 1
                    k += 1
                few, many = min(held, own[rank]), max(held, own[rank])
                if few == 1 and many <= 3:
                    counts[many - 1] += 1
                elif few == 2 and many == 2:
                    counts[3] += 1
                elif few > 0:
                    possible = False
            if flush[i] and flush[j]:  # of two suits, or of one and then without a common rank
                counts[0] = min(counts[0], 1)
            apart = _APART[counts[0], counts[1], counts[2], counts[3]] if possible else 0
            taken = tricks[FIRST_PAIR[MAX_HAND] + multiset[i] * HANDS[MAX_HAND] + multiset[j]]
            codes[j, i] = SPLITS * apart + taken


# In the two loops below the dealer's types are taken four at a time, as long as all four lie on the
# same side of the non-dealer's type: what waits for one sum goes on with another.
_BLOCK = 4
# Who scores for poker: the non-dealer with one of the categories, the dealer, or nobody.
_DEALER = CATEGORIES
_NOBODY = CATEGORIES + 1
_WINNERS = CATEGORIES + 2


@compiled
def dealer_values(
    codes: Codes,
    weight: Floats,
    category_start: Integers,
    reach: Floats,
    win: Floats,
    lose: Floats,
    values: Floats,
    start: int,
    stop: int,
) -> None:
    """What the dealer's types `start` … `stop - 1` bring the non-dealer, by history and draws.

    Args:
        codes: see `write_codes`.
        weight: (NUM_CODES,), by which a pair counts.
        category_start: int64 (11,), the first type of each poker category.
        reach: (T, lanes), how often the non-dealer ends with each type after each history.
        win, lose: (10, D, SPLITS, lanes), what the deal brings the non-dealer if he or the dealer
            has the better hand, of that category, by the dealer's number of draws; category 0
            serves for equal hands.
        values: (T, D, lanes), written.
    """
    met = np.zeros((_BLOCK, _WINNERS, SPLITS, reach.shape[1]))
    values[start:stop] = 0.0
    for first in range(start, stop, _BLOCK):
        last = min(first + _BLOCK, stop)
        _meet_all(codes, weight, category_start, reach, met, first, last)
        for j in range(first, last):
            own = _category(category_start, j)
            for k in range(own, CATEGORIES):
                _weigh(met[j - first, k], win[k], values[j])
            _weigh(met[j - first, _DEALER], lose[own], values[j])
            _weigh(met[j - first, _NOBODY], win[0], values[j])


@compiled
def add_outcomes(
    codes: Codes,
    weight: Floats,
    category_start: Integers,
    non_dealer: Floats,
    dealer: Floats,
    draws_made: Integers,
    counts: Floats,
    start: int,
    stop: int,
) -> None:
    """Count the outcomes of deals in which the dealer ends with the types `start` … `stop - 1`.

    Args:
        codes, weight, category_start: as for `dealer_values`.
        non_dealer, dealer: their reach, as there and for `non_dealer_values`.
        draws_made: int64 (H,), of the non-dealer in each history.
        counts: (3, D, SPLITS, 19), added to: draws of both, cards, who scores for poker.
    """
    met = np.zeros((_BLOCK, _WINNERS, SPLITS, non_dealer.shape[1]))
    middle = CATEGORIES - 1
    for first in range(start, stop, _BLOCK):
        last = min(first + _BLOCK, stop)
        _meet_all(codes, weight, category_start, non_dealer, met, first, last)
        for j in range(first, last):
            own = _category(category_start, j)
            for history in range(draws_made.shape[0]):
                for draws in range(dealer.shape[1]):
                    share = dealer[j, draws, history]
                    to = counts[draws_made[history], draws]
                    for c in range(SPLITS):
                        for k in range(own, CATEGORIES):
                            to[c, middle + k] += share * met[j - first, k, c, history]
                        to[c, middle - own] += share * met[j - first, _DEALER, c, history]
                        to[c, middle] += share * met[j - first, _NOBODY, c, history]


@compiled
def non_dealer_values(
    codes: Codes,
    weight: Floats,
    category_start: Integers,
    reach: Floats,
    win: Floats,
    lose: Floats,
    values: Floats,
    start: int,
    stop: int,
) -> None:
    """Add to `values` what each of the non-dealer's types brings him against the dealer's types
    `start` … `stop - 1`.

    Args:
        codes, weight, category_start, win, lose: as for `dealer_values`.
        reach: (T, D, lanes), how often the dealer ends with each type and number of draws after
            each history.
        values: (T, lanes), added to.
    """
    lanes = reach.shape[2]
    brings = np.zeros((_BLOCK, _WINNERS, NUM_CODES, lanes))
    for first in range(start, stop, _BLOCK):
        last = min(first + _BLOCK, stop)
        whole = last - first == _BLOCK
        for j in range(first, last):
            own = _category(category_start, j)
            for k in range(own, CATEGORIES):
                _bring(reach[j], win[k], weight, brings[j - first, k])
            _bring(reach[j], lose[own], weight, brings[j - first, _DEALER])
            _bring(reach[j], win[0], weight, brings[j - first, _NOBODY])
        if whole:
            _spread_block(codes, brings, values, first, _DEALER, 0, first)
            for k in range(CATEGORIES):
                low, high = max(category_start[k], last), category_start[k + 1]
                _spread_block(codes, brings, values, first, k, low, high)
        for j in range(first, last):
            low, high = (first, last) if whole else (0, codes.shape[0])
            _spread(codes, brings, values, first, j, _DEALER, low, j)
            _spread(codes, brings, values, first, j, _NOBODY, j, j + 1)
            for k in range(_category(category_start, j), CATEGORIES):
                lowest = max(category_start[k], j + 1)
                _spread(
                    codes, brings, values, first, j, k, lowest, min(category_start[k + 1], high)
                )


@inlined
def _category(category_start: Integers, type_: int) -> int:
    category = 0
    while category_start[category + 1] <= type_:
        category += 1
    return category


@inlined
def _meet_all(
    codes: Codes, weight: Floats, category_start: Integers, reach: Floats, met: Floats,
    first: int, last: int,
) -> None:  # fmt: skip
    """Write how often the dealer's types `first` … `last - 1` meet which winner and cards taken."""
    whole = last - first == _BLOCK
    met[:] = 0.0
    if whole:
        _meet_block(codes, weight, reach, met, first, _DEALER, 0, first)
        for k in range(CATEGORIES):
            low, high = max(category_start[k], last), category_start[k + 1]
            _meet_block(codes, weight, reach, met, first, k, low, high)
    low, high = (first, last) if whole else (0, codes.shape[0])
    for j in range(first, last):
        _meet(codes, weight, reach, met, first, j, _DEALER, low, j)
        _meet(codes, weight, reach, met, first, j, _NOBODY, j, j + 1)
        for k in range(_category(category_start, j), CATEGORIES):
            lowest = max(category_start[k], j + 1)
            _meet(codes, weight, reach, met, first, j, k, lowest, min(category_start[k + 1], high))


@inlined
def _meet(
    codes: Codes, weight: Floats, reach: Floats, met: Floats, first: int, j: int, winner: int,
    start: int, stop: int,
) -> None:  # fmt: skip
    """Add the weighted reach of the types `start` … `stop - 1` to `met`, by cards taken."""
    lanes = reach.shape[1]
    place = ((j - first) * _WINNERS + winner) * SPLITS
    for i in range(start, stop):
        code = codes[j, i]
        to = (place + CODE_CARDS[code]) * lanes
        for lane in range(0, lanes, WIDTH):
            add_four(met, to + lane, weight[code], reach, i * lanes + lane)


@inlined
def _meet_block(
    codes: Codes, weight: Floats, reach: Floats, met: Floats, first: int, winner: int,
    start: int, stop: int,
) -> None:  # fmt: skip
    """`_meet` for the types `first` … `first + 3` of the dealer."""
    lanes = reach.shape[1]
    for i in range(start, stop):
        for j in range(_BLOCK):
            code = codes[first + j, i]
            to = ((j * _WINNERS + winner) * SPLITS + CODE_CARDS[code]) * lanes
            for lane in range(0, lanes, WIDTH):
                add_four(met, to + lane, weight[code], reach, i * lanes + lane)


@inlined
def _weigh(met: Floats, worth: Floats, values: Floats) -> None:
    for d in range(values.shape[0]):
        for c in range(SPLITS):
            for lane in range(values.shape[1]):
                values[d, lane] += met[c, lane] * worth[d, c, lane]


@inlined
def _bring(reach: Floats, worth: Floats, weight: Floats, brings: Floats) -> None:
    """What meeting a type of the dealer brings, by the code of the pair."""
    lanes = reach.shape[1]
    brings[:SPLITS] = 0.0
    for c in range(SPLITS):
        for d in range(reach.shape[0]):
            for lane in range(lanes):
                brings[c, lane] += reach[d, lane] * worth[d, c, lane]
    for code in range(SPLITS, NUM_CODES):
        for lane in range(lanes):
            brings[code, lane] = weight[code] * brings[CODE_CARDS[code], lane]
    for code in range(SPLITS):
        for lane in range(lanes):
            brings[code, lane] *= weight[code]


@inlined
def _spread(
    codes: Codes, brings: Floats, values: Floats, first: int, j: int, winner: int,
    start: int, stop: int,
) -> None:  # fmt: skip
    lanes = values.shape[1]
    place = ((j - first) * _WINNERS + winner) * NUM_CODES
    for i in range(start, stop):
        source = (place + codes[j, i]) * lanes
        for lane in range(0, lanes, WIDTH):
            add_four(values, i * lanes + lane, 1.0, brings, source + lane)


@inlined
def _spread_block(
    codes: Codes, brings: Floats, values: Floats, first: int, winner: int, start: int, stop: int
) -> None:
    """`_spread` for the types `first` … `first + 3` of the dealer."""
    lanes = values.shape[1]
    for i in range(start, stop):
        for j in range(_BLOCK):
            source = ((j * _WINNERS + winner) * NUM_CODES + codes[first + j, i]) * lanes
            for lane in range(0, lanes, WIDTH):
                add_four(values, i * lanes + lane, 1.0, brings, source + lane)


# --- draws ----------------------------------------------------------------------------------------

_PAT = (1 << MAX_HAND) - 1


def _draw_terms() -> tuple[Integers, Integers, Integers, Integers]:
    """Every draw of one to three cards, by the number of cards: first row of each number, action,
    and the sets of slots over which its value is a sum: the cards kept and each part of the
    discards, (25, 8); and the numbers of discards in these parts, (8,).
    """
    first, actions, terms = [0, 0], [], []
    for drawn in (1, 2, 3):
        for action in range(1 << MAX_HAND):
            if action.bit_count() == drawn:
                discarded = [1 << slot for slot in range(MAX_HAND) if action >> slot & 1]
                sets = []
                for chosen in range(1 << drawn):
                    back = sum(bit for n, bit in enumerate(discarded) if chosen >> n & 1)
                    sets.append((_PAT & ~action) | back)
                actions.append(action)
                terms.append(sets + [0] * (8 - len(sets)))
        first.append(len(actions))
    parts = [chosen.bit_count() for chosen in range(8)]
    return np.array(first), np.array(actions), np.array(terms), np.array(parts)


FIRST_DRAW, DRAW_ACTION, _TERMS, _PUT_BACK = _draw_terms()
DRAWS = len(DRAW_ACTION)
_KEPT = _PAT & ~DRAW_ACTION
_ROW = np.full(1 << MAX_HAND, -1, np.int64)
_ROW[DRAW_ACTION] = np.arange(DRAWS)
_DRAWN = np.array([slots.bit_count() for slots in range(1 << MAX_HAND)])
_FEWEST_KEPT = int(_DRAWN[_KEPT].min())


@compiled
def write_completions(
    keys: Integers,
    hands: Integers,
    drawn: int,
    classes: npt.NDArray[np.int32],
    fresh: npt.NDArray[np.uint8],
) -> None:
    """Write what drawing makes of every class of sets.

    Args:
        keys: int64 (K,), of the sets (see `HandClasses.keys`).
        hands: int64 (134459,), of the hands.
        drawn: cards to a full hand, 1 to 3.
        classes: int32 (K, N), written: the class of each hand that contains the set.
        fresh: uint8 (K, N), written: the cards drawn that are of no rank in the set.
    """
    masks = np.zeros(SUITS, np.int64)
    cards = np.zeros(SUITS * RANKS, np.int64)
    for i in range(keys.shape[0]):
        suits_of(keys[i], masks)
        held = masks[0] | masks[1] | masks[2] | masks[3]
        left = 0
        for card in range(SUITS * RANKS):
            if not (masks[card & 3] >> (card >> 2)) & 1:
                cards[left] = card
                left += 1
        place = 0
        for a in range(left):
            for b in range(a + 1, left) if drawn > 1 else range(a, a + 1):
                for c in range(b + 1, left) if drawn > 2 else range(b, b + 1):
                    new = 0
                    for number in range(drawn):
                        card = cards[(a, b, c)[number]]
                        masks[card & 3] |= 1 << (card >> 2)
                        new += 1 - ((held >> (card >> 2)) & 1)
                    classes[i, place] = find(hands, key_of(masks))
                    fresh[i, place] = new
                    for number in range(drawn):
                        card = cards[(a, b, c)[number]]
                        masks[card & 3] &= ~(1 << (card >> 2))
                    place += 1


@compiled
def sum_completions(
    classes: npt.NDArray[np.int32],
    fresh: npt.NDArray[np.uint8],
    powers: Floats,
    first: int,
    values: Floats,
    start: int,
    stop: int,
) -> None:
    """Sum, for the classes of sets `start` … `stop - 1`, the values of the hands that contain each.

    Args:
        classes, fresh: see `write_completions`.
        powers: (4,), the weight of a hand by its number of fresh cards.
        first: where the sums begin in `values`.
        values: (SETS, lanes), those of hands are read.
    """
    lanes = values.shape[1]
    for i in range(start, stop):
        to = (first + i) * lanes
        values[first + i] = 0.0
        for n in range(classes.shape[1]):
            source = classes[i, n] * lanes
            for lane in range(0, lanes, WIDTH):
                add_four(values, to + lane, powers[fresh[i, n]], values, source + lane)


@compiled
def spread_completions(
    classes: npt.NDArray[np.int32],
    fresh: npt.NDArray[np.uint8],
    powers: Floats,
    first: int,
    values: Floats,
    start: int,
    stop: int,
) -> None:
    """The adjoint of `sum_completions`, for the lanes `start` … `stop - 1` (multiples of four):
    add what the sets hold to the hands that contain them."""
    lanes = values.shape[1]
    for i in range(classes.shape[0]):
        source = (first + i) * lanes
        for n in range(classes.shape[1]):
            to = classes[i, n] * lanes
            for lane in range(start, stop, WIDTH):
                add_four(values, to + lane, powers[fresh[i, n]], values, source + lane)


@compiled
def write_shares(
    subsets: npt.NDArray[np.int32], ones: Floats, powers: Floats, shares: Floats
) -> None:
    """Write the reciprocal weight of all hands that each draw can lead to.

    Args:
        subsets: of `HandClasses`.
        ones: (SETS, lanes), 1 for every hand, and what `sum_completions` makes of it.
        powers: as there.
        shares: (134459, DRAWS), written.
    """
    sums = np.zeros((1 << MAX_HAND, ones.shape[1]))
    for i in range(subsets.shape[0]):
        _exclude(subsets, powers[1], ones, i, _FEWEST_KEPT, sums)
        for row in range(DRAWS):
            shares[i, row] = 1 / sums[_KEPT[row], 0]


@inlined
def _exclude(
    subsets: npt.NDArray[np.int32], fresh: float, after: Floats, i: int, fewest: int, sums: Floats
) -> None:
    """Write, for all sets of at least `fewest` slots of a class, the sum of the values of the hands
    that contain their cards and none of the others: (32, lanes).

    Inclusion and exclusion slot by slot: half as many terms as over all parts of the discards.
    """
    lanes = sums.shape[1]
    for slots in range(1 << MAX_HAND):
        if _DRAWN[slots] >= fewest:
            sums[slots] = after[subsets[i, slots]]
    for slot in range(MAX_HAND):
        bit = 1 << slot
        for slots in range(1 << MAX_HAND):
            if _DRAWN[slots] >= fewest and not slots & bit:
                for lane in range(0, lanes, WIDTH):
                    add_four(sums, slots * lanes + lane, -fresh, sums, (slots | bit) * lanes + lane)


@inlined
def _drawn_by(number: int, tables: int) -> tuple[int, int]:
    """The fewest and the most cards drawn that a table of values after draws is for."""
    return (1, 3) if tables == 1 else (number + 1, number + 1)


@compiled
def best_draws(
    subsets: npt.NDArray[np.int32],
    types: npt.NDArray[np.int16],
    powers: Floats,
    shares: Floats,
    pat: Floats,
    after: tuple[Floats, ...],
    values: Floats,
    actions: Actions,
    start: int,
    stop: int,
) -> None:
    """The best draw of the classes `start` … `stop - 1` and its value.

    Args:
        subsets, types: of `HandClasses`.
        powers, shares: see `sum_completions` and `write_shares`.
        pat: (T, lanes), the value of standing on each type.
        after: (SETS, lanes) each: the values after a draw of one, two and three cards, or one for
            all of them; those of hands and the sums.
        values: (SETS, lanes), written for hands.
        actions: int8 (134459, lanes), written: the slots discarded as bits, 0 to stand pat.
    """
    lanes = pat.shape[1]
    sums = np.zeros((1 << MAX_HAND, lanes))
    best = np.zeros(lanes)
    chosen = np.zeros(lanes)
    for i in range(start, stop):
        best[:] = pat[types[i]]
        chosen[:] = 0.0
        for number in range(len(after)):
            first, last = _drawn_by(number, len(after))
            _exclude(subsets, powers[1], after[number], i, MAX_HAND - last, sums)
            for row in range(FIRST_DRAW[first], FIRST_DRAW[last + 1]):
                kept = _KEPT[row] * lanes
                for lane in range(0, lanes, WIDTH):
                    choose_four(
                        best, lane, shares[i, row], sums, kept + lane, chosen, DRAW_ACTION[row]
                    )
        values[i] = best
        for lane in range(lanes):
            actions[i, lane] = int(chosen[lane])


@compiled
def every_draw(
    subsets: npt.NDArray[np.int32],
    types: npt.NDArray[np.int16],
    powers: Floats,
    shares: Floats,
    pat: Floats,
    after: tuple[Floats, ...],
    lane: int,
    values: Floats,
    start: int,
    stop: int,
) -> None:
    """What standing and every draw of the classes `start` … `stop - 1` are worth in one lane.

    Args:
        subsets, types, powers, shares, pat, after: as for `best_draws`.
        lane: whose values are written.
        values: (134459, 1 + DRAWS), written.
    """
    sums = np.zeros((1 << MAX_HAND, pat.shape[1]))
    for i in range(start, stop):
        values[i, 0] = pat[types[i], lane]
        for number in range(len(after)):
            first, last = _drawn_by(number, len(after))
            _exclude(subsets, powers[1], after[number], i, MAX_HAND - last, sums)
            for row in range(FIRST_DRAW[first], FIRST_DRAW[last + 1]):
                values[i, 1 + row] = shares[i, row] * sums[_KEPT[row], lane]


@inlined
def _coefficient(powers: Floats, term: int) -> float:
    """Of a set in which some discards are put back: inclusion and exclusion."""
    back = _PUT_BACK[term]
    return float(-powers[back] if back & 1 else powers[back])


@compiled
def spread_draws(
    subsets: npt.NDArray[np.int32],
    types: npt.NDArray[np.int16],
    powers: Floats,
    shares: Floats,
    mass: Floats,
    actions: Actions,
    pat: Floats,
    after: tuple[Floats, ...],
    start: int,
    stop: int,
) -> None:
    """The adjoint of `best_draws` for actions taken, in the lanes `start` … `stop - 1`.

    Args:
        subsets, types, powers, shares: as there.
        mass: (SETS, lanes), how often each class of hands is held.
        actions: int8 (134459, lanes), what is done with it.
        pat: (T, lanes), to which the hands that stand are added.
        after: (SETS, lanes) each, to which the others are added; what sets hold has still to be
            spread over the hands that contain them (`spread_completions`).
    """
    for i in range(actions.shape[0]):
        for lane in range(start, stop):
            action = actions[i, lane]
            if action == 0:
                pat[types[i], lane] += mass[i, lane]
            elif mass[i, lane] > 0:
                drawn = _DRAWN[action]
                row = _ROW[action]
                share = mass[i, lane] * shares[i, row]
                target = after[drawn - 1]
                for term in range(1 << drawn):
                    target[subsets[i, _TERMS[row, term]], lane] += share * _coefficient(
                        powers, term
                    )
