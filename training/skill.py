"""Ratings from the places at tables of more than two players.

The library openskill with Plackett and Luce's model: a place is won as in a draw without
replacement in which every player has tickets by its strength. Ratings are a normal distribution for
each player, carried from match to match (Weng and Lin, 2011).

Everybody starts at `MU` with the deviation `SIGMA`, and strengths do not drift. Matches are taken
by deck order, then by table and leg, so that a rating does not depend on how they were played. Only
the first `MOST_MATCHES` of them are looked at: further ones would hardly move it.

`sigma` is the model's own: it takes all matches for independent, although those over the same cards
are not, and it knows nothing of the order in which they were taken. What is known of a difference
between two players is said by the margins, whose intervals rest on deck orders.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import numpy.typing as npt
from openskill.models import PlackettLuce

MU, SIGMA = 25.0, 25.0 / 3.0
"""What is known of a player who has not played: its strength and how sure that is."""
BETA = SIGMA / 2.0
"""How much the play of one match differs from the strength, in the same unit."""

MOST_MATCHES = 50_000
"""Matches that are looked at: a second for ten thousand of them, about."""


@dataclass(frozen=True)
class Skill:
    """The rating of one player.

    Attributes:
        player: its number.
        mu: its strength, on a scale on which only differences mean something.
        sigma: standard deviation of `mu` by the model.
        matches: that were looked at.
    """

    player: int
    mu: float
    sigma: float
    matches: int

    @property
    def ordinal(self) -> float:
        """What the strength is at least, three deviations below `mu`."""
        return self.mu - 3.0 * self.sigma


@dataclass(frozen=True)
class Skills:
    """What `rate` found.

    Attributes:
        players: of all players, by number.
        matches: that were looked at.
        of: that there are.
    """

    players: tuple[Skill, ...]
    matches: int
    of: int

    def as_dict(self, labels: Sequence[str]) -> dict[str, Any]:
        """Plain values for JSON.

        Args:
            labels: names of the players, by number.
        """
        return {
            "model": "Plackett-Luce",
            "library": f"openskill {version('openskill')}",
            "start": {"mu": MU, "sigma": SIGMA, "beta": BETA},
            "matches": self.matches,
            "of": self.of,
            "players": [
                {
                    "player": labels[skill.player],
                    "mu": skill.mu,
                    "sigma": skill.sigma,
                    "ordinal": skill.ordinal,
                    "matches": skill.matches,
                }
                for skill in self.players
            ],
        }


def rate(
    players: int,
    tables: Sequence[tuple[int, ...]],
    places: Sequence[npt.NDArray[np.integer[Any]]],
) -> Skills:
    """Rate players by their places.

    Args:
        players: how many there are; they are numbered from 0.
        tables: who sat at each of them.
        places: of each table (orders, legs, players), how many were ahead of the player.
    """
    model = PlackettLuce(mu=MU, sigma=SIGMA, beta=BETA, tau=0.0)
    known = [model.rating(name=str(player)) for player in range(players)]
    counts = [0] * players
    looked_at = 0
    for table, ranks in _matches(tables, places):
        if looked_at == MOST_MATCHES:
            break
        looked_at += 1
        rated = model.rate([[known[player]] for player in table], ranks=[*map(float, ranks)])
        for player, [rating] in zip(table, rated, strict=True):
            known[player] = rating
            counts[player] += 1
    every = sum(ranks.shape[0] * ranks.shape[1] for ranks in places)
    return Skills(
        tuple(
            Skill(player, float(rating.mu), float(rating.sigma), count)
            for player, (rating, count) in enumerate(zip(known, counts, strict=True))
        ),
        looked_at,
        every,
    )


def _matches(
    tables: Sequence[tuple[int, ...]], places: Sequence[npt.NDArray[np.integer[Any]]]
) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Who played and who was ahead, deck order by deck order."""
    for order in range(max(map(len, places), default=0)):
        for table, ranks in zip(tables, places, strict=True):
            for leg in ranks[order : order + 1].reshape(-1, len(table)).tolist():
                yield table, leg
