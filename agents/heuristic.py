"""A real player: draws by expectation against the price of a double, plays tricks by counting.

Both phases value cards taken by `agents.score`, so that a point below the line counts what it is
worth at the score. Draws are judged by a table of what each holding brings
(`agents.draw_table`), tricks by `agents.counting`.
"""

from __future__ import annotations

import numpy as np

from agents.counting import OUTLOOK, best_play
from agents.draw_table import HOLDINGS, OPPONENT, RANK
from agents.holdings import COUNTS, KINDS, alike, holdings
from agents.poke_reading import DRAW, PACK_RANKS, READING, PokeAgent, Reading, read
from agents.reading import RANKS, Floats, Integers, Mask, count_bits, only_action
from agents.score import worth_of_cards
from poke_env._jit import compiled
from poke_env.agent import Masks, Observations
from poke_env.cards import Category
from poke_env.games.poke import MAX_DRAWS, MAX_HAND, Rules

DOUBLING = ("free", "never", "always")
_FREE, _NEVER, _ALWAYS = range(3)

MIDDLE = RANKS - 1 - (PACK_RANKS - 1) / 2
"""By hand size, the middle of the pack's ranks, for which the table holds as it stands."""

_CARDS = np.full((MAX_HAND + 1, 2, KINDS, MAX_HAND + 1), np.nan)
_POKER = _CARDS.copy()
for _place, _brings in HOLDINGS.items():
    _CARDS[_place], _POKER[_place] = _brings
_CARDS_BY_RANK = np.zeros((MAX_HAND + 1, 4))
_POKER_BY_RANK = np.zeros((MAX_HAND + 1, 4))
for _size, (_cards, _poker) in RANK.items():
    _CARDS_BY_RANK[_size, 1:] = _cards
    _POKER_BY_RANK[_size, 1:] = _poker
_AGAINST = np.zeros((MAX_HAND + 1, 4))
for _size, _cards_against in OPPONENT.items():
    _AGAINST[_size] = _cards_against
# What was not measured: hands of four, which no preset has, are judged as hands of three, and a
# rare holding as the one below it, but for its points.
for _table in (_CARDS, _POKER, _CARDS_BY_RANK, _POKER_BY_RANK, _AGAINST):
    _table[4] = _table[3]
for _kind in range(1, len(Category)):
    _missing = np.isnan(_CARDS[:, :, _kind])
    _more = Rules().poker_points[_kind] - Rules().poker_points[_kind - 1]
    _CARDS[:, :, _kind][_missing] = _CARDS[:, :, _kind - 1][_missing]
    _POKER[:, :, _kind][_missing] = _POKER[:, :, _kind - 1][_missing] + _more

# What a kept card adds by its rank: hand size, cards kept of that rank (0: it is not kept), rank.
_HIGHER = np.zeros((MAX_HAND + 1, MAX_HAND, RANKS))
_HIGHER[:, 1:] = (np.arange(RANKS) - MIDDLE[:, None, None]) / np.arange(1, MAX_HAND)[:, None]
_CARDS_ADDED = _CARDS_BY_RANK[:, [0, 1, 2, 3, 3], None] * _HIGHER
_POKER_ADDED = _POKER_BY_RANK[:, [0, 1, 2, 3, 3], None] * _HIGHER

# By what the draw with this number multiplies the value of the opponent's cards; the rules are not
# part of an observation, so these are the default ones. Index: whether the player deals, draws.
_FACTOR = np.ones((2, MAX_DRAWS + 1))
for _dealer, _values in enumerate((Rules().non_dealer_values, Rules().dealer_values)):
    for _draws in range(len(_values) - 1):
        _FACTOR[_dealer, _draws] = _values[_draws + 1] / _values[_draws]


class HeuristicAgent(PokeAgent):
    """Weighs what a draw gains against what it costs, and plays tricks by counting.

    In the draw phase every legal discard is judged by the holding that is kept: a table gives the
    cards it is expected to take and the poker points it is expected to win or lose, for the seat
    and for what the opponent drew last. A draw that doubles raises the value of the opponent's
    cards; all cards are valued through the chance to win the game at the score. No draw is planned
    beyond the next one, and no choice is left to chance.

    Args:
        seed: of the player's own stream (which it never needs).
        doubling: `"free"` weighs; `"never"` takes no draw that doubles or redoubles; `"always"`
            takes every draw, of at least one card. The discard is chosen alike in all three.

    Raises:
        ValueError: if `doubling` is something else.
    """

    def __init__(self, seed: int | None = 0, doubling: str = "free") -> None:
        if doubling not in DOUBLING:
            raise ValueError(f"doubling must be one of {', '.join(DOUBLING)}, got {doubling!r}")
        self.doubling = doubling
        super().__init__(seed)

    def choose(self, observations: Observations, masks: Masks, keys: Integers) -> Integers:
        """See `KeyedAgent.choose`."""
        return _choose(observations, masks, DOUBLING.index(self.doubling))


@compiled
def _choose(observations: Observations, masks: Masks, doubling: int) -> Integers:
    chosen = np.empty(masks.shape[0], np.int64)
    readings = np.zeros(1, READING)  # used below: a compiled record does not keep its array
    outlooks = np.zeros(1, OUTLOOK)
    for i in range(masks.shape[0]):
        chosen[i] = only_action(masks[i])
        if chosen[i] >= 0:
            continue
        reading = readings[0]
        read(observations[i], masks[i], reading)
        if reading["phase"] == DRAW:
            chosen[i] = _best_draw(reading, masks[i], doubling)
        else:
            worth = worth_of_cards(reading, reading["values"][0], reading["values"][1])
            chosen[i] = best_play(reading, masks[i], worth, outlooks[0])
    return chosen


@compiled
def _best_draw(reading: Reading, mask: Mask, doubling: int) -> int:
    """The discard, or 0 to stand pat, of greatest expected worth."""
    own_value = reading["values"][0]
    other_value = reading["values"][1]
    factor = _FACTOR[reading["dealer"], reading["draws"][0]]
    standing = worth_of_cards(reading, own_value, other_value)
    drawing = worth_of_cards(reading, own_value, int(other_value * factor))
    pattern = alike(reading["ranks"], reading["size"])
    kinds = holdings(reading["ranks"], reading["suits"], reading["size"])
    best = 0
    best_value = -np.inf
    for action in range(mask.shape[0]):
        if not mask[action] or (doubling == _NEVER and action > 0 and factor > 1):
            continue
        kind = kinds[reading["held"] & ~action]
        worth = drawing if action > 0 else standing
        value = _expected(reading, pattern, action, kind, worth)
        forced = doubling == _ALWAYS and best == 0 and action > 0
        if value > best_value or forced:
            best = action
            best_value = value
    return best


@compiled
def _expected(reading: Reading, pattern: int, action: int, kind: int, worth: Floats) -> float:
    """Expected worth of changing the cards of `action` and standing on what comes.

    Cards taken are spread around their expectation as in so many even throws of a coin, which fits
    what is seen in play.
    """
    size, dealer, ranks = reading["size"], reading["dealer"], reading["ranks"]
    kept = reading["held"] & ~action
    changed = count_bits(action)
    cards = _CARDS[size, dealer, kind, changed]
    poker = _POKER[size, dealer, kind, changed]
    if np.isnan(cards):
        return -1e9
    cards += _AGAINST[size, min(reading["last_draw"][1], 3)]
    for slot in range(size):
        count = COUNTS[pattern, kept, slot]
        cards += _CARDS_ADDED[size, count, ranks[slot]]
        poker += _POKER_ADDED[size, count, ranks[slot]]
    chance = min(max(cards / size, 0.01), 0.99)
    odds = chance / (1 - chance)
    value = poker
    weight = (1 - chance) ** size
    for taken in range(MAX_HAND + 1):  # a constant, so that divisions by it cost nothing
        value += weight * worth[taken]
        weight *= odds * (size - taken) / (taken + 1)
    return float(value)
