"""A match of Pokex driven without an adapter: one row, and the functions that all games share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from poke_env import observation
from poke_env.cards import parse_cards
from poke_env.games import base
from poke_env.games.pokex import POKEX, Rules, ScoreSheet
from poke_env.settings import Settings

STANDARD = Rules()


class Position:
    """A match that is dealt to and played on; `finished` are the positions when deals ended."""

    def __init__(
        self,
        rules: Rules = STANDARD,
        match: str = "game",
        dealer: int = 0,
        score: dict[str, Any] | None = None,
    ) -> None:
        self.settings = Settings(POKEX, match, rules=rules)
        self.row = self.settings.template.copy()
        self.state = self.row["state"][0]
        self.dealer = dealer
        if score is not None:
            POKEX.place_score(self.state, score)
        self.finished: list[Any] = []
        self.total = np.zeros(4)
        self.reward = np.zeros(4)
        self.paid = base.NOT_PAID

    def deal(self, deck: Sequence[int] | str | None = None, seed: int = 0) -> Position:
        """Deal from the beginning of a pack; the rest is shuffled by the seed."""
        given = parse_cards([] if deck is None else deck)
        rest = [card for card in self.settings.pack.tolist() if card not in given]
        order = [*given, *np.random.default_rng(seed).permutation(rest).tolist()]
        first = not self.finished
        base.deal(self.state, np.array(order, np.int8), self.dealer if first else -1)
        return self

    @property
    def seat(self) -> int:
        """Who is to act, or what `base.to_move` says instead."""
        return base.to_move(self.state)

    def legal(self) -> list[int]:
        mask = np.full(self.settings.num_actions, 7, np.int8)
        count = base.legal_actions(self.state, mask)
        legal = np.flatnonzero(mask).tolist()
        assert count == len(legal) == mask.sum()
        return legal

    def step(self, *actions: int | str) -> Position:
        """Carry out actions, as numbers or texts."""
        for action in actions:
            number = POKEX.parse_action(self.state, action) if isinstance(action, str) else action
            assert number in self.legal()
            base.apply(self.state, self.settings.pack, number)
            self.paid = base.points(self.state, 0.0, self.reward)
            if self.paid == base.DEAL_ENDED:
                self.finished.append(self.row["state"].copy()[0])
                self.total += self.reward
        return self

    def play(self, rng: np.random.Generator) -> Position:
        """Play at random to the end of the deal."""
        while self.seat >= 0:
            self.step(int(rng.choice(self.legal())))
        return self

    def worth(self) -> list[float]:
        """What the finished match is worth as won or lost."""
        worth = np.full(4, np.nan)
        base.result(self.state, self.total, worth)
        return worth.tolist()

    def observe(self, seat: int) -> np.ndarray[Any, np.dtype[np.float32]]:
        seen = np.full(observation.length(POKEX), np.nan, np.float32)
        base.observe(self.state, seat, seen)
        return seen

    def knows(self, seat: int) -> dict[str, Any]:
        return POKEX.decode(observation.split(POKEX, self.observe(seat)))

    def sheet(self) -> ScoreSheet:
        return POKEX.score_sheet(self.state, self.finished)
