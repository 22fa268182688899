"""The worked deals of tests/data/poke_deals.json, as packs and decisions that replay them.

The file tells the hands that ended the draw phase and how many cards were changed each time. A
pack that leads there is not unique: the cards thrown away may be any that are in neither hand.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

DATA = Path(__file__).parent.parent / "data" / "poke_deals.json"
NON_DEALER, DEALER = 0, 1
Cards = tuple[int, ...]


def card_number(text: str) -> int:
    """``rank * 4 + suit`` of a card written like ``Td``."""
    return "23456789TJQKA".index(text[0]) * 4 + "cdhs".index(text[1])


def card_numbers(text: str) -> Cards:
    """The numbers of cards written like ``Ks Qh``, in the order written."""
    return tuple(card_number(word) for word in text.split())


@dataclass(frozen=True)
class Decision:
    """Something a player decides: the cards he discards (none: pat), leads or follows with."""

    role: int
    """``NON_DEALER`` or ``DEALER``."""
    phase: str
    """``"draw"``, ``"lead"`` or ``"follow"``."""
    cards: Cards


@dataclass(frozen=True)
class Replay:
    """A full order of the pack, and the decisions that play the deal from it."""

    deck: Cards
    decisions: tuple[Decision, ...]


def arrange(
    hands: Sequence[Cards],
    draws: Sequence[Sequence[int]] = ((), ()),
    pack: Sequence[int] = range(52),
    draws_allowed: Sequence[int] = (2, 3),
    filler_seed: int = 0,
) -> Replay:
    """Find a pack and the draw decisions that lead to these final hands.

    All pairs are (non-dealer's, dealer's). The filler cards that are thrown away are drawn at
    random from those in neither hand.
    """
    fillers = [card for card in pack if card not in hands[NON_DEALER] + hands[DEALER]]
    Random(filler_seed).shuffle(fillers)
    first_hands: list[list[int]] = []
    replacements: list[list[int]] = []
    decisions: list[Decision] = []
    for role in (NON_DEALER, DEALER):
        # Backwards from the final hand: before a draw, fillers stood where the new cards stand.
        hand = list(hands[role])
        drawn: list[int] = []
        draw_decisions: list[Decision] = []
        if len(draws[role]) < draws_allowed[role]:
            draw_decisions.append(Decision(role, "draw", ()))
        for size in reversed(draws[role]):
            new, kept = hand[:size], hand[size:]
            thrown, fillers = fillers[:size], fillers[size:]
            draw_decisions.append(Decision(role, "draw", tuple(sorted(thrown))))
            drawn = new + drawn
            hand = kept + thrown
        first_hands.append(hand)
        replacements.append(drawn)
        decisions.extend(reversed(draw_decisions))
    deck = (
        first_hands[NON_DEALER]
        + first_hands[DEALER]
        + replacements[NON_DEALER]
        + fillers
        + replacements[DEALER][::-1]
    )
    return Replay(tuple(deck), tuple(decisions))


class WorkedDeal:
    """One deal of the file; all pairs are (non-dealer's, dealer's)."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.record = record
        self.id: str = record["id"]
        self.hands = (
            card_numbers(record["non_dealer_final_hand"]),
            card_numbers(record["dealer_final_hand"]),
        )
        self.draws = (tuple(record["non_dealer_draws"]), tuple(record["dealer_draws"]))
        self.tricks = [
            (card_numbers(trick["lead"]), card_numbers(trick["follow"]))
            for trick in record["tricks"]
        ]
        self.below_before = self._pair("below_before") if "below_before" in record else (0, 0)
        self.cards_taken = self._pair("cards_taken")
        self.poker = self._pair("poker")
        self.sweep = self._pair("sweep")
        self.game_winner: str | None = record.get("game_winner")
        """``"dealer"`` where the file says that he wins the game (card unit)."""
        self.game_over: bool | None = record.get("game_over")
        """False where the file says that the game goes on (card unit)."""

    def __repr__(self) -> str:
        return self.id

    def _pair(self, key: str) -> tuple[int, int]:
        first, second = self.record[key]
        return first, second

    def below(self, trick_unit: str = "card") -> tuple[int, int]:
        """The points below the line with either trick unit."""
        return self._pair("below" if trick_unit == "card" else "below_if_trick_unit_is_lead")

    def replay(self, filler_seed: int = 0) -> Replay:
        """A pack and the decisions of both players that play this deal with the standard rules."""
        start = arrange(self.hands, self.draws, filler_seed=filler_seed)
        return Replay(start.deck, start.decisions + tuple(self._trick_decisions()))

    def _trick_decisions(self) -> Iterator[Decision]:
        """Who leads is told by whose cards are led."""
        for led, followed in self.tricks:
            leader = NON_DEALER if led[0] in self.hands[NON_DEALER] else DEALER
            yield Decision(leader, "lead", led)
            yield Decision(1 - leader, "follow", followed)


def relabelled(replay: Replay, suits: Sequence[int]) -> Replay:
    """The same deal with suit ``s`` called ``suits[s]``."""

    def rename(cards: Cards) -> Cards:
        return tuple(card // 4 * 4 + suits[card % 4] for card in cards)

    return Replay(
        rename(replay.deck),
        tuple(Decision(d.role, d.phase, rename(d.cards)) for d in replay.decisions),
    )


def load() -> list[WorkedDeal]:
    """All worked deals of the file, in its order."""
    records = json.loads(DATA.read_text(encoding="utf-8"))["deals"]
    return [WorkedDeal(record) for record in records]


WORKED_DEALS = {deal.id: deal for deal in load()}
