"""Cards, packs and the ranking of poker hands.

A card is one number, ``rank * 4 + suit``: ranks 0 to 12 stand for 2 to A, suits 0 to 3 for
c, d, h, s. The two jokers are 52 and 53. In text a card is its rank and its suit (``As``,
``Td``), a joker ``*1`` or ``*2``. Ascending numbers are therefore ascending ranks, and small packs
keep the numbers of the full one.

>>> parse_cards("2c Td As")
(0, 33, 51)
>>> format_cards(pack(ranks=3, suits=2))
'Qc Qd Kc Kd Ac Ad'

Hands are ranked by one number too, and **bigger is better**. `hand_value` is the compiled function
that rules and agents call in their loops, `evaluate` the checked one for everybody else:

>>> evaluate("As Ah Ad Ks Kh") > evaluate("7s 5h 4d 3c 2s")
True
>>> print(evaluate("As Ah Ad Ks Kh"))
full house, aces over kings

Jokers count only where a game says how: as high cards or as wild cards (`wild_hand_value`).

>>> print(evaluate("*1 5h 6h 7h 8h", jokers="wild"))
straight flush, nine high
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, Final, SupportsIndex, TypeAlias

import numpy as np
from numpy.typing import NDArray

from poke_env._checks import as_integer
from poke_env._jit import compiled, inlined

__all__ = [
    "CATEGORY_SHIFT",
    "JOKERS",
    "NUM_CARDS",
    "RANKS",
    "SUITS",
    "Card",
    "Category",
    "HandRank",
    "WildCategory",
    "card_number",
    "card_text",
    "evaluate",
    "format_cards",
    "hand_value",
    "pack",
    "parse_cards",
    "sort_hand",
    "wild_hand_value",
    "write_flags",
]

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
NUM_CARDS: Final = 52
JOKERS: Final = (52, 53)

Card: TypeAlias = str | SupportsIndex
"""A card as users may write it: its text, or its number as any integer (NumPy's included)."""


# --- Text ---------------------------------------------------------------------------------------

_TEXTS: Final = (*(rank + suit for rank in RANKS for suit in SUITS), "*1", "*2")

# Spellings are listed, not folded: str.upper would turn some foreign letters into suits.
_NUMBERS: Final = {
    spelling: card
    for card, text in enumerate(_TEXTS)
    for rank in ({text[0], text[0].lower(), "10"} if text[0] == "T" else {text[0], text[0].lower()})
    for spelling in (rank + text[1], rank + text[1].upper())
}

_ALLOWED: Final = (
    f"a card is a rank ({' '.join(RANKS)}, also 10) and a suit ({' '.join(SUITS)}), such as Td, "
    "or a joker, *1 or *2"
)


def card_text(card: SupportsIndex) -> str:
    """The text of a card: ``card_text(33) == "Td"``, ``card_text(52) == "*1"``.

    Args:
        card: a card number, 0 to 53.

    Raises:
        ValueError: `card` is not an integer (a bool is not) or not in 0 to 53.
    """
    return _TEXTS[_checked_number(card)]


def card_number(text: str) -> int:
    """The number (0 to 53) of a card written as text: ``card_number("Td") == 33``.

    Upper and lower case are the same, and ``10d`` is ``Td``.

    Raises:
        ValueError: `text` is not a card.
    """
    known = isinstance(text, str)  # a list, say, could not be looked up
    number = _NUMBERS.get(text) if known else None
    if number is None:
        raise ValueError(f"unknown card {text!r}: {_ALLOWED}")
    return number


def parse_cards(cards: str | Iterable[Card]) -> tuple[int, ...]:
    """The numbers of the given cards, in the given order.

    Args:
        cards: one string of cards with spaces between them (``"Ks Qh 9d"``), or a sequence or
            integer array of card numbers (0 to 53) and texts, mixed as you like. May be empty.

    Returns:
        Card numbers as Python ints, all different.

    Raises:
        ValueError: an unknown card, or a card given twice; the message names it.
    """
    if isinstance(cards, str):
        cards = cards.split()
    try:
        items = iter(cards)
    except TypeError:
        raise ValueError(
            f"expected cards as text ('Ks Qh 9d') or as a sequence, got {cards!r}"
        ) from None
    numbers = tuple(
        card_number(card) if isinstance(card, str) else _checked_number(card) for card in items
    )
    if len(set(numbers)) < len(numbers):
        twice = sorted({number for number in numbers if numbers.count(number) > 1})
        raise ValueError(f"cards given more than once: {format_cards(twice)}")
    return numbers


def format_cards(cards: Iterable[SupportsIndex], separator: str = " ") -> str:
    """The text of several cards, in the given order; `parse_cards` reads it back.

    Raises:
        ValueError: one of them is not a card number (0 to 53).
    """
    return separator.join(card_text(card) for card in cards)


def _checked_number(card: SupportsIndex) -> int:
    number = as_integer(card)
    if number is None:
        raise ValueError(f"unknown card {card!r}: a card is an integer 0 to 53 or a text (Td)")
    if not 0 <= number < len(_TEXTS):
        raise ValueError(f"unknown card number {number}: allowed are 0 to {len(_TEXTS) - 1}")
    return number


# --- Packs --------------------------------------------------------------------------------------


def pack(ranks: int = len(RANKS), suits: int = len(SUITS)) -> tuple[int, ...]:
    """The cards of a pack without jokers, ascending: the highest `ranks` of the first `suits`.

    ``pack()`` is the full pack, ``pack(3, 2)`` is Qc Qd Kc Kd Ac Ad. Cards keep their numbers.
    Source: docs/rules.md, sections 1.6 (small presets) and 3.1 (stripped packs).

    Args:
        ranks: number of ranks, 1 to 13.
        suits: number of suits, 1 to 4.

    Returns:
        ``ranks * suits`` card numbers.

    Raises:
        ValueError: a number out of its range, or no integer.
    """
    for name, value, most in (("ranks", ranks, len(RANKS)), ("suits", suits, len(SUITS))):
        number = as_integer(value)
        if number is None or not 1 <= number <= most:
            raise ValueError(f"{name} is {value!r}: allowed are the integers 1 to {most}")
    lowest = len(RANKS) - ranks
    return tuple(rank * 4 + suit for rank in range(lowest, len(RANKS)) for suit in range(suits))


# --- Hands and sets in compiled loops ------------------------------------------------------------

_NETWORK: Final = ((0, 1), (3, 4), (2, 4), (2, 3), (1, 4), (0, 3), (0, 2), (1, 3), (1, 2))
"""Sorts five things, and without the pairs that reach beyond them also fewer."""


@inlined
def sort_hand(hand: NDArray[np.int8], size: int | np.signedinteger[Any]) -> None:
    """Sort the first `size` cards (at most five) by a network of comparisons, free of branches.

    Args:
        hand: int8, card numbers, sorted in place.
        size: number of cards, 0 to 5.
    """
    for i, j in _NETWORK:
        if j < size:
            low = min(hand[i], hand[j])
            hand[j] = max(hand[i], hand[j])
            hand[i] = low


@inlined
def write_flags(cards: int | np.signedinteger[Any], flags: NDArray[np.float32]) -> None:
    """Write 1 for every card of a set, 0 for the others; without a branch, five times as fast.

    Args:
        cards: the set, bit c for card c.
        flags: float32 (n,), overwritten, one number a card.
    """
    for card in range(flags.shape[0]):
        flags[card] = np.int32((cards >> card) & 1)


# --- Ranking ------------------------------------------------------------------------------------


class Category(IntEnum):
    """The kinds of poker hands, worst to best (docs/rules.md, section 1.6)."""

    HIGH_CARD = 0
    PAIR = 1
    TWO_PAIR = 2
    THREE_OF_A_KIND = 3
    STRAIGHT = 4
    FLUSH = 5
    FULL_HOUSE = 6
    FOUR_OF_A_KIND = 7
    STRAIGHT_FLUSH = 8
    ROYAL_FLUSH = 9


class WildCategory(IntEnum):
    """What only wild cards make; better than every `Category` (docs/rules.md, section 2.5)."""

    FIVE_OF_A_KIND = 10


CATEGORY_SHIFT: Final = 20
"""``hand_value(...) >> CATEGORY_SHIFT`` is the `Category`; the bits below hold five ranks."""

_JOKER: Final = len(RANKS)
"""The rank of the jokers."""
_NATURAL: Final = (1 << _JOKER) - 1
"""The ranks of all other cards."""
_FOUR_SUITS: Final = 0b1111
_ROYAL: Final = 0b1_1111_0000_0000
_WHEEL: Final = 0b1_0000_0000_1111
_WHEEL_RANKS: Final = 0x3210C  # 5 4 3 2 and then the ace, here the lowest card


def _rank_table() -> NDArray[np.int32]:
    """For every set of ranks (bit r is rank r): its five highest, from bit 19 down, 4 bits each."""
    sets = np.arange(2 << _JOKER, dtype=np.int32)
    table = np.zeros_like(sets)
    shift = np.full_like(sets, CATEGORY_SHIFT - 4)
    for rank in reversed(range(_JOKER + 1)):
        held = ((sets >> rank) & 1 == 1) & (shift >= 0)
        table[held] |= rank << shift[held]
        shift[held] -= 4
    table.setflags(write=False)
    return table


_RANKS_OF: Final = _rank_table()


def _straight_table() -> NDArray[np.int32]:
    """For every set of ranks: those of the best straight that holds them all, or 0."""
    sets = np.arange(1 << len(RANKS), dtype=np.int32)
    table = np.zeros_like(sets)
    table[sets & ~_WHEEL == 0] = _WHEEL_RANKS
    for lowest in range(len(RANKS) - 4):
        straight = 0b1_1111 << lowest
        table[sets & ~straight == 0] = _RANKS_OF[straight]
    table.setflags(write=False)
    return table


_STRAIGHT_WITH: Final = _straight_table()
_ACES: Final = np.array([0, 0xC0000, 0xCC000])
"""The ranks of so many jokers in a flush, which are aces."""


@inlined
def _counted(
    cards: NDArray[np.int8], size: int
) -> tuple[np.int64, np.int64, np.int64, np.int64, np.int64]:
    """Sets of ranks held at least once, twice, three and four times, and the set of suits.

    Each joker has a suit of its own, so that no flush holds one.
    """
    once = twice = thrice = four = suits = np.int64(0)
    for i in range(size):
        card = np.int64(cards[i])
        rank = np.int64(1) << (card >> 2)
        four |= thrice & rank
        thrice |= twice & rank
        twice |= once & rank
        once |= rank
        suits |= np.int64(1) << (card & 3 if card < NUM_CARDS else card & 7)
    return once, twice, thrice, four, suits


@compiled
def _sets_value(category: int, sets: np.int64, once: np.int64, places: int) -> np.int64:
    """The value of a hand in which the `places` ranks of `sets` come before the other ranks."""
    first = np.int64(_RANKS_OF[sets])
    others = np.int64(_RANKS_OF[once & ~sets])
    return np.int64(category << CATEGORY_SHIFT) | first | others >> 4 * places


@compiled
def _matched_value(once: np.int64, twice: np.int64, thrice: np.int64, four: np.int64) -> np.int64:
    """The value of a hand with two or more cards of a rank; arguments as `_counted` gives them."""
    if four:
        return _sets_value(Category.FOUR_OF_A_KIND, four, once, 1)
    if thrice:
        if twice != thrice:
            return _sets_value(Category.FULL_HOUSE, thrice, once, 1)
        return _sets_value(Category.THREE_OF_A_KIND, thrice, once, 1)
    if twice & (twice - 1):
        return _sets_value(Category.TWO_PAIR, twice, once, 2)
    return _sets_value(Category.PAIR, twice, once, 1)


@compiled
def hand_value(cards: NDArray[np.int8], size: int, ace_low_straight: bool) -> np.int64:
    """The strength of a poker hand: bigger is better, equal exactly when the hands tie.

    Compiled and unchecked, for loops; `evaluate` is the checked door. Suits never decide. Five
    cards make all ten categories; fewer make sets only (pair, two pair, three and four of a kind).
    A joker is a card of a rank above the ace, which makes no straight and no flush.
    Values are comparable between hands of the same size under the same `ace_low_straight`.
    Source: docs/rules.md, sections 1.6 and 2.5.

    Args:
        cards: int8, one-dimensional, at least `size` long; the first `size` entries are the hand,
            in any order: different card numbers 0 to 53. Not modified.
        size: number of cards, 1 to 5.
        ace_low_straight: whether A-2-3-4-5 is a straight, the lowest one.

    Returns:
        int64, 0 to 10,485,759. ``value >> CATEGORY_SHIFT`` is the `Category`. The 20 bits below
        are the ranks that occur (13 is a joker), 4 bits each from bit 19 down, those held most
        often first and then the highest; unused places are 0. In A-2-3-4-5 counted as a straight
        the ace is last.
    """
    once, twice, thrice, four, suits = _counted(cards, size)
    if twice:
        return _matched_value(once, twice, thrice, four)
    ranks = np.int64(_RANKS_OF[once])
    if size < 5:
        return ranks
    straight = once == 0b1_1111 * (once & -once) and once <= _NATURAL
    if ace_low_straight and once == _WHEEL:
        straight = True
        ranks = np.int64(_WHEEL_RANKS)
    flush = suits & (suits - 1) == 0
    category = Category.HIGH_CARD
    if straight and flush:
        category = Category.ROYAL_FLUSH if once == _ROYAL else Category.STRAIGHT_FLUSH
    elif flush:
        category = Category.FLUSH
    elif straight:
        category = Category.STRAIGHT
    return np.int64(category << CATEGORY_SHIFT) | ranks


@compiled
def wild_hand_value(cards: NDArray[np.int8]) -> np.int64:
    """The strength of the best five-card hand that its jokers can make, as wild cards.

    Each joker stands for any card of the 52, also for one that is in the hand already: two aces of
    hearts in a flush are ace, ace. A-2-3-4-5 is a straight. Compiled and unchecked, for loops;
    `evaluate` is the checked door. Source: docs/rules.md, section 2.5.

    Args:
        cards: int8 (5,), different card numbers 0 to 53 in any order. Not modified.

    Returns:
        int64, 0 to 11,534,335, as from `hand_value` for the cards that the jokers stand for, with
        `WildCategory` beyond `Category`; a flush has its five ranks in falling order. How many
        wild cards there are makes no difference.
    """
    once, twice, thrice, four, suits = _counted(cards, 5)
    jokers = (once >> _JOKER) + (twice >> _JOKER)
    once &= _NATURAL
    twice &= _NATURAL
    if not twice:
        suits &= _FOUR_SUITS
        flush = suits & (suits - 1) == 0
        straight = np.int64(_STRAIGHT_WITH[once])
        if straight and flush:
            royal = straight == _RANKS_OF[_ROYAL]
            category = Category.ROYAL_FLUSH if royal else Category.STRAIGHT_FLUSH
            return np.int64(category << CATEGORY_SHIFT) | straight
        if flush:
            natural = np.int64(_RANKS_OF[once]) >> 4 * jokers
            return np.int64(Category.FLUSH << CATEGORY_SHIFT) | np.int64(_ACES[jokers]) | natural
        if straight:
            return np.int64(Category.STRAIGHT << CATEGORY_SHIFT) | straight
        if not jokers:
            return np.int64(_RANKS_OF[once])
    five = np.int64(0)
    for _ in range(jokers):
        # A joker joins the pair or better, the higher of two pairs, or else the highest card.
        joined = twice if twice else once
        rank = np.int64(1) << (_RANKS_OF[joined] >> CATEGORY_SHIFT - 4)
        five |= four & rank
        four |= thrice & rank
        thrice |= twice & rank
        twice |= once & rank
    if five:
        return np.int64(WildCategory.FIVE_OF_A_KIND << CATEGORY_SHIFT) | np.int64(_RANKS_OF[five])
    return _matched_value(once, twice, thrice, four)


_RANK_NAMES: Final = (
    *("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("jack", "queen", "king", "ace", "joker"),
)


@dataclass(frozen=True, order=True, slots=True)
class HandRank:
    """The rank of a poker hand. Bigger is better; equal means that the hands tie.

    Attributes:
        value: the number that `hand_value` or `wild_hand_value` gives; all comparisons go by it.
    """

    value: int

    @property
    def category(self) -> Category | WildCategory:
        """The kind of hand."""
        kind = self.value >> CATEGORY_SHIFT
        return Category(kind) if kind < len(Category) else WildCategory(kind)

    @property
    def description(self) -> str:
        """The hand in words, without kickers: ``full house, aces over kings``."""
        name = self.category.name.lower().replace("_", " ")
        high, second = (_RANK_NAMES[self.value >> shift & 0xF] for shift in (16, 12))
        match self.category:
            case Category.ROYAL_FLUSH:
                return name
            case Category.HIGH_CARD:
                return f"{name}, {high}"
            case Category.STRAIGHT | Category.FLUSH | Category.STRAIGHT_FLUSH:
                return f"{name}, {high} high"
            case Category.TWO_PAIR:
                return f"{name}, {_plural(high)} and {_plural(second)}"
            case Category.FULL_HOUSE:
                return f"{name}, {_plural(high)} over {_plural(second)}"
            case _:
                return f"{name}, {_plural(high)}"

    def __str__(self) -> str:
        """The `description`."""
        return self.description


def _plural(rank_name: str) -> str:
    return rank_name + ("es" if rank_name == "six" else "s")


_JOKER_READINGS: Final = ("high_card", "wild")


def evaluate(
    cards: str | Iterable[Card], ace_low_straight: bool = True, jokers: str | None = None
) -> HandRank:
    """The rank of a five-card poker hand. **Bigger is better**: a royal flush is the largest.

    >>> hand = evaluate("5c 4c 3c 2c Ac")
    >>> hand.category.name, hand.description
    ('STRAIGHT_FLUSH', 'straight flush, five high')

    Source: docs/rules.md, sections 1.6 and 2.5.

    Args:
        cards: five different cards, in any order, as `parse_cards` reads them.
        ace_low_straight: whether A-2-3-4-5 is a straight, the lowest one; with wild jokers it is.
        jokers: what a joker is: `"high_card"`, a rank above the ace that makes no straight and no
            flush; `"wild"`, whatever card makes the hand best; None, not allowed.

    Raises:
        ValueError: not five cards, an unknown card, a card given twice, a joker where there may be
            none, or another value of `jokers`.
    """
    numbers = parse_cards(cards)
    if jokers is not None and jokers not in _JOKER_READINGS:
        choices = ", ".join(map(repr, _JOKER_READINGS))
        raise ValueError(f"jokers must be None or one of {choices}, got {jokers!r}")
    if len(numbers) != 5:
        raise ValueError(
            f"a poker hand has 5 cards, got {len(numbers)}: {format_cards(numbers) or 'none'}"
        )
    refused = [number for number in numbers if number >= NUM_CARDS and jokers is None]
    if refused:
        raise ValueError(f"jokers cannot be ranked: {format_cards(refused)}")
    hand = np.array(numbers, dtype=np.int8)
    if jokers == "wild":
        return HandRank(int(wild_hand_value(hand)))
    return HandRank(int(hand_value(hand, len(numbers), bool(ace_low_straight))))
