"""A table of Poque for tests: the rules over one position, without an environment around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from poke_env import observation
from poke_env.cards import parse_cards
from poke_env.games.base import MATCH_OVER, WANTS_DECK
from poke_env.games.poque import POQUE, Rules
from poke_env.settings import Settings

_F = observation.length(POQUE)
LOW, HIGH = observation.bounds(POQUE)


class PoqueTable:
    """A match that is dealt and played by hand; chips are counted at every step.

    Attributes:
        state: the position.
        rewards: points of the last decision by player.
        totals: points of the match so far by player.
        told: what `points` returned for it.
        forced: what nobody chose since the last action or the deal, in words.
        finished: the position at the end of each finished deal.
    """

    def __init__(
        self, match: str = "deal", rules: Rules | str = "standard", score: Any = None
    ) -> None:
        self.settings = Settings(POQUE, match, rules=rules)
        self.rules: Rules = self.settings.rules
        self._positions = self.settings.template["state"].copy()
        self.state = self._positions[0]
        if score is not None:
            POQUE.place_score(self.state, score)
        self.chips = self.rules.players * self.rules.stack
        self.rewards = [0.0] * self.rules.players
        self.totals = [0.0] * self.rules.players
        self.told = 0
        self.forced: list[str] = []
        self.finished: list[np.void] = []
        self._deck = np.zeros(POQUE.max_cards, np.int8)
        self._count()

    def deal(self, deck: Sequence[int], dealer: int = -1) -> PoqueTable:
        """Start a deal from a full order of the pack."""
        assert self.to_move == WANTS_DECK
        assert sorted(deck) == list(self.rules.pack())
        self._deck[: len(deck)] = deck
        before = self._positions.copy()[0]
        POQUE.deal(self.state, self._deck, dealer)
        self.forced = list(POQUE.forced(before, self.state))
        self._count()
        return self

    def step(self, *actions: int | str) -> PoqueTable:
        """Carry out legal actions, given as numbers or as text, one after another."""
        for given in actions:
            action = POQUE.parse_action(self.state, given) if isinstance(given, str) else given
            assert action in self.legal(), f"{given!r} is not legal: {self.legal()}"
            before = self._positions.copy()[0]
            POQUE.apply(self.state, self._deck, action)
            self.forced = list(POQUE.forced(before, self.state))
            reward = np.zeros(POQUE.seats)
            self.told = POQUE.points(self.state, 0.0, reward)
            self.rewards = reward[: self.rules.players].tolist()
            assert not reward[self.rules.players :].any()
            self.totals = [t + r for t, r in zip(self.totals, self.rewards, strict=True)]
            if self.to_move < 0:
                self.finished.append(self._positions.copy()[0])
            self._count()
        return self

    def place(self, position: np.void) -> None:
        """Go to a position."""
        self._positions[0] = position

    def _count(self) -> None:
        """No chip is lost or made, and nobody owes any."""
        assert int(self.state["stack"].sum() + self.state["pool"].sum()) == self.chips
        assert self.state["stack"].min() >= 0
        assert self.state["pool"].min() >= 0

    @property
    def to_move(self) -> int:
        """The seat to act, or what `to_move` says instead."""
        return int(POQUE.to_move(self.state))

    @property
    def over(self) -> bool:
        """Whether the match is over."""
        return self.to_move == MATCH_OVER

    def legal(self) -> list[int]:
        """The legal actions of the player to move."""
        mask = np.ones(self.settings.num_actions, np.int8)
        count = POQUE.legal_actions(self.state, mask)
        assert count == mask.sum()
        return np.flatnonzero(mask).tolist()

    def legal_texts(self) -> list[str]:
        """The legal actions of the player to move as text."""
        return [POQUE.action_text(self.state, action) for action in self.legal()]

    def observe(self, seat: int) -> np.ndarray[Any, Any]:
        """The observation of a seat, all of it within the bounds of `VIEW`."""
        seen = np.full(_F, np.nan, np.float32)
        POQUE.observe(self.state, seat, seen)
        assert ((seen >= LOW) & (seen <= HIGH)).all()
        return seen

    def decoded(self, seat: int) -> dict[str, Any]:
        """The observation of a seat in plain values."""
        return POQUE.decode(observation.split(POQUE, self.observe(seat)))

    @property
    def sheet(self) -> Any:
        """The score sheet."""
        return POQUE.score_sheet(self.state, self.finished)

    def win(self) -> list[float]:
        """What the finished match is worth as won or lost."""
        worth = np.zeros(POQUE.seats)
        totals = np.zeros(POQUE.seats)
        totals[: self.rules.players] = self.totals
        POQUE.result(self.state, totals, worth)
        return worth[: self.rules.players].tolist()

    @property
    def stacks(self) -> list[int]:
        """Chips by player."""
        return self.state["stack"][: self.rules.players].tolist()

    @property
    def pools(self) -> list[int]:
        """Chips by pool: ace, king, queen, jack, sequence, poque."""
        return self.state["pool"].tolist()


def stacked(rules: Rules, dealer: int, hands: Sequence[str], turned: str) -> list[int]:
    """A deck that deals these hands, by player, and turns this card up; the rest is ascending."""
    count = len(hands)
    order = [(dealer + 1 + turn) % count for turn in range(count)]
    front = [card for seat in order for card in parse_cards(hands[seat])]
    front += parse_cards(turned)
    return front + [card for card in rules.pack() if card not in front]
