"""What `reset` accepts besides a seed: decks, the first dealer, the score to start from.

Everything is checked before anything is changed, so that a wrong option leaves a match as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from poke_env._checks import check_integer, shown
from poke_env.cards import format_cards, parse_cards
from poke_env.games.base import Game

_KNOWN = ("deck", "decks", "dealer", "score")


@dataclass(frozen=True)
class ResetOptions:
    """Checked reset options.

    Attributes:
        decks: the beginning of the deck order of each coming deal, as card numbers.
        dealer: seat that deals first; -1 leaves it to the stream.
        score: the record's score fields as the game placed them, or None.
    """

    decks: tuple[tuple[int, ...], ...] = ()
    dealer: int = -1
    score: Mapping[str, Any] | None = None


def parse_options(game: Game, rules: Any, template: np.void, options: Any) -> ResetOptions:
    """Check the options of `reset`.

    Args:
        game: the game played.
        rules: its rules.
        template: a position under these rules, on a copy of which the score is tried.
        options: the mapping handed to `reset`, or None.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """
    if options is None:
        return ResetOptions()
    if not isinstance(options, Mapping):
        raise ValueError(f"options must be a dict or None, got {options!r}")
    # PettingZoo's api_test resets with {"options": 1}.
    unknown = [key for key in options if key not in _KNOWN and key != "options"]
    if unknown:
        raise ValueError(f"options has unknown keys {unknown}; allowed are {', '.join(_KNOWN)}")
    if "deck" in options and "decks" in options:
        raise ValueError("options may hold deck or decks, not both")
    decks: Any = options.get("decks", ())
    if "deck" in options:
        decks = (options["deck"],)
    elif isinstance(decks, np.ndarray):
        decks = decks.tolist()
    if not isinstance(decks, Sequence) or isinstance(decks, str):
        raise ValueError(f"options decks must be a list of decks, got {decks!r}")
    pack = game.pack(rules)
    score = options.get("score")
    if score is not None:
        game.place_score(template.copy(), score)
    dealer = options.get("dealer")
    return ResetOptions(
        decks=tuple(_parse_deck(deck, pack) for deck in decks),
        dealer=-1 if dealer is None else check_integer("options dealer", dealer, 0, game.seats - 1),
        score=score,
    )


def _parse_deck(deck: Any, pack: tuple[int, ...]) -> tuple[int, ...]:
    if not isinstance(deck, (Sequence, np.ndarray)):
        raise ValueError(f"options deck must be a list of cards in order, got {shown(deck)}")
    try:
        cards = parse_cards(deck.tolist() if isinstance(deck, np.ndarray) else deck)
    except (ValueError, TypeError) as error:
        raise ValueError(f"options deck: {error}") from error
    strangers = [card for card in cards if card not in pack]
    if strangers:
        raise ValueError(
            f"options deck holds {format_cards(strangers)}, not in this pack of {len(pack)} cards "
            f"({format_cards(pack[:1])} to {format_cards(pack[-1:])})"
        )
    return cards
