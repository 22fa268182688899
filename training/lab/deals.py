"""Single deals by the thousands, and the tally of what they bring.

Deal k of a seed has the deck of match k, whatever the score and whoever plays: scores and players
meet the same cards, and their errors partly cancel. Deals are played in chunks of consecutive
numbers, which belong to the groups of a tally in turn. The groups are samples of their own, and
standard errors come from how far they differ.
"""

from __future__ import annotations

import copy
import io
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from poke_env import _files, streams
from poke_env.agent import Agent
from poke_env.equity import Floats, Integers, scores
from poke_env.games.poke import POKE, Rules
from poke_env.row_player import RowByRow, RowPlayer, as_actions, as_row_player, copies_for
from poke_env.vector import BatchEnv
from training.lab.induction import Outcomes, Scoring

_CHUNK_OF_COPIES = 64
"""Most deals at once of players that need a copy for every deal."""


class Table(NamedTuple):
    """Who plays what.

    Attributes:
        rules: of the game.
        players: one that plays both seats, or two in the order of the seats.
        seed: of decks and keys.
    """

    rules: Rules
    players: tuple[Agent, ...]
    seed: int


def at_once(players: Sequence[Agent], most: int) -> int:
    """How many matches of these players are best played at once, up to `most`."""
    copies = any(isinstance(as_row_player(player, 0), RowByRow) for player in players)
    return min(most, _CHUNK_OF_COPIES) if copies else most


def blind_to_score(players: Sequence[Any]) -> bool:
    """Whether no player looks at the score, so that deals at one score serve every other."""
    return all(getattr(player, "sees_score", True) is False for player in players)


def play_deals(table: Table, row: int, place: int, numbers: range) -> Integers:
    """Play some deals of the seed.

    Args:
        table: who plays what.
        row: the seat that deals.
        place: the score at which they are played, seen by the dealer.
        numbers: of the deals.

    Returns:
        int64 (deals, 3): points below the line of dealer and other, and the dealer's margin above
        the line in points, bonuses excluded.

    Raises:
        ValueError: if a player makes an illegal move.
    """
    count = len(numbers)
    own, other, own_games, other_games = scores(table.rules.target)[place].tolist()
    order = 1 if row == 0 else -1
    score = {"below": (own, other)[::order], "games": (own_games, other_games)[::order]}
    envs = BatchEnv(
        POKE, count, match="deal", rules=table.rules, autoreset=False, copy=False, threads=1
    )
    envs.reset([table.seed] * count, {"skip": np.array(numbers), "dealer": row, "score": score})
    play_out(envs, table, np.array(numbers))
    ends = envs.record
    above = (ends["deal_poker"] + ends["deal_sweep"]).astype(np.int64)
    below = ends["deal_below"].astype(np.int64)
    margin = above[:, row] - above[:, 1 - row]
    return np.stack([below[:, row], below[:, 1 - row], margin], axis=1)


def play_out(envs: BatchEnv, table: Table, numbers: Integers) -> Floats:
    """Play the matches of a batch without autoreset, which have just begun, to their end.

    Args:
        envs: the batch.
        table: its players and seed.
        numbers: int64 (B,), numbers of the matches, from which keys come.

    Returns:
        What each seat was paid in all, float64 (B, 2).
    """
    words = streams.seed_words(table.seed, streams.Purpose.LABORATORY_KEYS)
    players = _seated(table, words, numbers)
    turns = np.zeros((len(numbers), 2), np.int64)
    paid = np.zeros((len(numbers), 2))
    seen, masks, seats = envs.observe()
    while (seats >= 0).any():
        actions = np.zeros(len(numbers), np.int64)
        for player, sits in players:
            rows = np.flatnonzero(np.isin(seats, sits))
            if len(rows):
                turns[rows, seats[rows]] += 1
                turn = turns[rows, seats[rows]]
                keys = streams.decision_keys(words, numbers[rows], seats[rows], turn)
                chosen = player.act_rows(rows, seen[rows], masks[rows], keys)
                actions[rows] = as_actions(chosen, len(rows))
        seen, masks, seats, _, _ = envs.step(actions)
        paid += envs.rewards
    return paid


def _seated(
    table: Table, words: npt.NDArray[np.uint32], numbers: Integers
) -> list[tuple[RowPlayer, tuple[int, ...]]]:
    """Copies of the players for all matches, each with its seats, reset for these matches."""
    first, last = table.players[0], table.players[-1]
    seated: list[tuple[Agent, tuple[int, ...]]] = [(first, (0,)), (last, (1,))]
    if len(table.players) == 1 and copies_for(first, 2) == 1:
        seated = [(first, (0, 1))]
    found: list[tuple[RowPlayer, tuple[int, ...]]] = []
    for player, sits in seated:
        copied = as_row_player(copy.deepcopy(player), len(numbers))
        seeds = streams.decision_keys(words, numbers, sits[0], 0) >> np.uint64(32)
        copied.begin(np.arange(len(numbers)), seeds)
        found.append((copied, sits))
    return found


@dataclass
class Tally:
    """How often each outcome came, by group of deals.

    Attributes:
        scoring: of the rules.
        groups: their number, G.
        chunks: how many chunks were counted, from the first.
        codes: int64 (K,), the outcomes that came, each as one number, ascending.
        counts: int64 (G, K).
    """

    scoring: Scoring
    groups: int
    chunks: int = 0
    codes: Integers = field(default_factory=lambda: np.zeros(0, np.int64))
    counts: Integers = field(default_factory=lambda: np.zeros((0, 0), np.int64))

    @property
    def deals(self) -> int:
        """How many deals were counted."""
        return int(self.counts.sum())

    def add(self, outcomes: Integers) -> None:
        """Count the next chunk, (n, 3) as `play_deals` gives it."""
        scoring = self.scoring
        below_dealer, below_other, points = outcomes.T
        codes = below_dealer * (scoring.most_below + 1) + below_other
        codes = codes * (2 * scoring.most + 1) + points // scoring.unit + scoring.most
        new, counts = np.unique(codes, return_counts=True)
        every = np.union1d(self.codes, new)
        if len(every) > len(self.codes):
            wider = np.zeros((self.groups, len(every)), np.int64)
            if len(self.codes):
                wider[:, np.searchsorted(every, self.codes)] = self.counts
            self.codes, self.counts = every, wider
        self.counts[self.chunks % self.groups, np.searchsorted(self.codes, new)] += counts
        self.chunks += 1

    def outcomes(self, group: int | None = None) -> Outcomes:
        """The distribution seen in one group, or in all."""
        counts = self.counts.sum(axis=0) if group is None else self.counts[group]
        came = counts > 0
        pair, units = np.divmod(self.codes[came], 2 * self.scoring.most + 1)
        below_dealer, below_other = np.divmod(pair, self.scoring.most_below + 1)
        return Outcomes(
            below_dealer, below_other, units - self.scoring.most, counts[came] / counts.sum()
        )

    def save(self, path: Path) -> None:
        """Write it to a file that is either whole or not there."""
        content = io.BytesIO()
        np.savez_compressed(content, chunks=self.chunks, codes=self.codes, counts=self.counts)
        _files.write(path, content.getvalue())

    @classmethod
    def load(cls, path: Path, scoring: Scoring, groups: int) -> Tally:
        """What `save` wrote, or nothing yet.

        Raises:
            ValueError: if the file is damaged.
        """
        if not path.exists():
            return cls(scoring, groups)
        try:
            stored = _files.load_arrays(path.read_bytes(), "chunks", "codes", "counts")
            counted = int(stored["chunks"]), stored["codes"], stored["counts"]
        except (TypeError, ValueError) as error:
            raise ValueError(f"tally {str(path)!r} is damaged, delete it: {error}") from error
        if counted[2].shape != (groups, len(counted[1])):
            raise ValueError(f"tally {str(path)!r} is of another version, delete it")
        return cls(scoring, groups, *counted)
