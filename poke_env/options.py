"""What `reset` accepts besides a seed: decks, the first dealer, the score, the match of the seed.

Everything is checked before anything is changed, so that a wrong option leaves matches as they
were. One environment and a batch of them share the parser: what is one value for the former is one
for every row for the latter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from poke_env import streams
from poke_env._checks import check_integer, shown
from poke_env.cards import format_cards, parse_cards
from poke_env.settings import Settings

_KNOWN = ("deck", "decks", "dealer", "score", "skip")
_MOST_SKIPPED = 2**62


@dataclass(frozen=True, eq=False)
class ResetOptions:
    """Checked reset options for B matches.

    Attributes:
        decks: for each match the beginnings of the deck orders of its coming deals, as card
            numbers; full orders may also come as one int8 array (B, K, C).
        dealer: int8 (B,), the seat that deals first; -1 leaves it to the beginning, where one is
            given by `start_scores` and not replaced by `score`, and to the stream.
        skip: int64 (B,), how many matches of the stream are left out.
        start: the position (B,) from which each match starts, None for that of the settings.
    """

    decks: Sequence[Sequence[Sequence[int]]] | npt.NDArray[np.int8]
    dealer: npt.NDArray[np.int8]
    skip: npt.NDArray[np.int64]
    start: npt.NDArray[np.void] | None = None

    def place(self, rows: npt.NDArray[np.void], settings: Settings) -> npt.NDArray[np.int8]:
        """Write the options into rows (B,) at the beginning of a match whose stream is known.

        Returns:
            Full deck orders, int8 (B, K, C), of which row i has as many as its `decks` says.
        """
        if self.start is not None:
            rows["state"] = self.start
            rows["dealer"] = -1
        rows["dealer"] = np.where(self.dealer < 0, rows["dealer"], self.dealer)
        if isinstance(self.decks, np.ndarray):
            rows["decks"] = self.decks.shape[1]
            return self.decks
        pack = settings.pack
        rows["decks"] = [len(orders) for orders in self.decks]
        orders = np.zeros((len(rows), max(map(len, self.decks)), len(pack)), np.int8)
        for row, beginnings, places in zip(rows, self.decks, orders, strict=True):
            for index, beginning in enumerate(beginnings):
                order = pack.copy()
                streams.shuffle_deck(row["stream"], index + 1, order, len(pack))
                known = set(beginning)
                places[index] = [
                    *beginning,
                    *(card for card in order.tolist() if card not in known),
                ]
        return orders


def parse_options(settings: Settings, options: Any, rows: int | None = None) -> ResetOptions:
    """Check the options of `reset`.

    Args:
        settings: of the environment.
        options: the mapping handed to `reset`, or None.
        rows: number of rows of a batch, whose options have one value a row; None for a single
            environment.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """
    if options is None:
        options = {}
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a dict or None, got {options!r}")
    # PettingZoo's api_test resets with {"options": 1}.
    unknown = [key for key in options if key not in _KNOWN and key != "options"]
    if unknown:
        raise ValueError(f"options has unknown keys {unknown}; allowed are {', '.join(_KNOWN)}")
    if "deck" in options and "decks" in options:
        raise ValueError("options may hold deck or decks, not both")
    most_dealer = settings.players - 1
    return ResetOptions(
        decks=_parse_decks(settings, options, rows),
        dealer=_integers("dealer", options.get("dealer"), -1, most_dealer, rows).astype(np.int8),
        skip=_integers("skip", options.get("skip"), 0, _MOST_SKIPPED, rows),
        start=_parse_score(settings, options.get("score"), rows),
    )


def _integers(
    name: str, given: Any, missing: int, most: int, rows: int | None
) -> npt.NDArray[np.int64]:
    """One integer from 0 to `most` for each row; a single one is meant for all of them."""
    count = rows or 1
    if isinstance(given, np.ndarray) and given.ndim == 0:
        given = given[()]
    if given is None:
        return np.full(count, missing, np.int64)
    if rows is not None and isinstance(given, (Sequence, np.ndarray)):
        if _fits(given, rows, most):
            return np.asarray(given, np.int64)
        values = [
            check_integer(f"options {name}", value, 0, most) for value in _each(name, given, rows)
        ]
        return np.array(values, np.int64)
    return np.full(count, check_integer(f"options {name}", given, 0, most), np.int64)


def _fits(given: Any, rows: int, most: int) -> bool:
    """Whether `given` is an array of integers that can be taken as it is."""
    return (
        isinstance(given, np.ndarray)
        and given.dtype.kind in "iu"
        and given.shape == (rows,)
        and bool((given >= 0).all() and (given <= most).all())
    )


def _each(name: str, given: Any, rows: int) -> Any:
    """`given` as a sequence of one thing a row."""
    if isinstance(given, np.ndarray):
        given = given.tolist()
    if not isinstance(given, Sequence) or isinstance(given, str) or len(given) != rows:
        raise ValueError(
            f"options {name} must hold one entry for each of {rows} rows, got {shown(given)}"
        )
    return given


# --- decks ----------------------------------------------------------------------------------------


def _parse_decks(settings: Settings, options: Mapping[str, Any], rows: int | None) -> Any:
    name = "deck" if "deck" in options else "decks"
    given = options.get(name)
    if name not in options:
        return np.zeros((rows or 1, 0, len(settings.pack)), np.int8)
    if rows is not None:
        full = _full_orders(settings, given, rows, single=name == "deck")
        if full is not None:
            return full
        given = _each(name, given, rows)
    else:
        given = [given]
    if name == "deck":
        given = [(deck,) for deck in given]
    return [_parse_row(decks, settings) for decks in given]


def _full_orders(
    settings: Settings, given: Any, rows: int, *, single: bool
) -> npt.NDArray[np.int8] | None:
    """An array of full orders, checked at once; None for anything else."""
    if not isinstance(given, np.ndarray) or given.dtype.kind not in "iu":
        return None
    if given.ndim != (2 if single else 3):
        return None
    orders = given[:, np.newaxis] if single else given
    if orders.shape[0] != rows or orders.shape[2] != len(settings.pack):
        return None
    if not (np.sort(orders, axis=2) == settings.pack).all():
        return None
    return np.array(orders, np.int8, order="C")


def _parse_row(decks: Any, settings: Settings) -> tuple[tuple[int, ...], ...]:
    if isinstance(decks, np.ndarray):
        decks = decks.tolist()
    if not isinstance(decks, Sequence) or isinstance(decks, str):
        raise ValueError(f"options decks must be a list of decks, got {decks!r}")
    return tuple(_parse_deck(deck, settings) for deck in decks)


def _parse_deck(deck: Any, settings: Settings) -> tuple[int, ...]:
    if not isinstance(deck, (Sequence, np.ndarray)):
        raise ValueError(f"options deck must be a list of cards in order, got {shown(deck)}")
    try:
        cards = parse_cards(deck.tolist() if isinstance(deck, np.ndarray) else deck)
    except (ValueError, TypeError) as error:
        raise ValueError(f"options deck: {error}") from error
    pack = settings.pack.tolist()
    strangers = [card for card in cards if card not in pack]
    if strangers:
        raise ValueError(
            f"options deck holds {format_cards(strangers)}, not in this pack of {len(pack)} cards "
            f"({format_cards(pack[:1])} to {format_cards(pack[-1:])})"
        )
    return cards


# --- the score ------------------------------------------------------------------------------------


def _parse_score(settings: Settings, score: Any, rows: int | None) -> npt.NDArray[np.void] | None:
    if score is None:
        return None
    position = settings.template["state"].copy()
    fields: list[str] = []
    if rows is not None and isinstance(score, Mapping):
        beginning = settings.beginning
        fields = [
            name
            for name, value in score.items()
            if name in beginning and _by_row(value, beginning[name])
        ]
    if not fields:
        settings.game.place_score(position[0], score)
        return np.repeat(position, rows or 1)
    positions = np.repeat(position, rows or 1)
    by_row = [_each(f"score {name}", score[name], len(positions)) for name in fields]
    for place, *entries in zip(positions, *by_row, strict=True):
        settings.game.place_score(place, {**score, **dict(zip(fields, entries, strict=True))})
    return positions


def _by_row(value: Any, one: Any) -> bool:
    """Whether a field of the score has an entry for each row, each like `one`, not one for all."""
    if isinstance(value, np.ndarray):
        return value.ndim > np.ndim(one)
    if not isinstance(value, Sequence) or isinstance(value, str) or len(value) == 0:
        return False
    return not isinstance(one, tuple) or _by_row(value[0], one[0])
