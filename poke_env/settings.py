"""What every adapter is told about a match, checked once and written into the rows it plays on."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from poke_env import engine
from poke_env._checks import check_integer, check_number, shown
from poke_env.games.base import MATCHES, Game, score_of


@dataclass(frozen=True)
class Settings:
    """The settings of an environment, checked.

    Attributes:
        game: the game.
        match: unit of play that ends an episode, one of the game's matches; None is the whole game.
        reward: `"points"` (paid after each deal, or as chips move), `"win"` (at the end winners get
            1 between them, losers -1; a match that is cut by `max_deals` pays 0) or `"equity"` (the
            points above the line plus the change in what the rest of the rubber is expected to
            bring, whatever the match).
        rules: the game's `Rules`; a preset's name is turned into them.
        players: number of players, where the game leaves a choice; None is what the rules say.
        max_deals: a longer match is truncated after so many deals; None is the game's own limit,
            if it has one.
        below_value: what a point below the line counts where the deal is the match and points are
            paid, by default as the game says; None in games without such points, which take none.
        reward_scale: every reward is multiplied by it, forfeits included.
        illegal_penalty: what a forfeit costs; by default 1000 times `reward_scale`, 1 with "win".
        equity_table: a `poke_env.equity.EquityTable` for these rules; None is the one of the
            environment's version, with "equity" alone.
        start_scores: scores at which matches begin, each drawn by the match's stream, all equally
            likely: a list of scores as in the options of `reset`, or a dict of their fields with
            one entry a score; with each there may be the `dealer` of the first deal. None is the
            game's beginning.

    Raises:
        ValueError: naming the argument, the value and what is allowed.
    """

    game: Game
    match: Any = None
    reward: str = "points"
    rules: Any = "standard"
    players: Any = field(default=None, kw_only=True)
    max_deals: int | None = field(default=None, kw_only=True)
    below_value: Any = field(default=None, kw_only=True)
    reward_scale: float = field(default=1.0, kw_only=True)
    illegal_penalty: float | None = field(default=None, kw_only=True)
    equity_table: Any = field(default=None, kw_only=True)
    start_scores: Any = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        match = self.game.matches[0] if self.match is None else self.match
        self.game.one_of("match", match, self.game.matches)
        self.game.one_of("reward", self.reward, self.game.rewards)
        penalty = self.illegal_penalty
        checked = {
            "match": match,
            "rules": self.game.rules_for(self.rules, self.players),
            "max_deals": check_integer("max_deals", self.max_deals, 1, 2**31 - 1, or_none=True)
            or self.game.max_deals,
            "below_value": self._checked_value(),
            "reward_scale": check_number("reward_scale", self.reward_scale, above=0.0),
        }
        if penalty is None:
            penalty = 1.0 if self.reward == "win" else 1000.0 * checked["reward_scale"]
        checked["illegal_penalty"] = check_number("illegal_penalty", penalty, least=0.0)
        checked["equity_table"] = self._checked_table(checked["rules"])
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        object.__setattr__(self, "players", int(self.game.players(self.template["state"][0])))
        if self.start_scores is not None:
            object.__setattr__(self, "start_scores", _checked_starts(self))

    def _checked_value(self) -> float | None:
        if self.below_value is None:
            return self.game.below_value
        if self.game.below_value is None:
            raise ValueError(
                f"below_value must be None in {self.game.name}, which knows no points below the "
                f"line, got {shown(self.below_value)}"
            )
        return check_number("below_value", self.below_value)

    def _checked_table(self, rules: Any) -> Any:
        if self.reward == "equity":
            from poke_env import equity  # read only where it is used

            return equity.table_for(self.game, rules, self.equity_table)
        if self.equity_table is not None:
            raise ValueError(
                f"equity_table must be None unless reward is 'equity', got "
                f"{shown(self.equity_table)}"
            )
        return None

    def __getstate__(self) -> dict[str, Any]:
        """Without what is cached: copies of arrays are never read-only, and for arrays that can be
        written to every loop would be compiled anew."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def template(self) -> npt.NDArray[np.void]:
        """A row at the beginning of a match, (1,), without a stream."""
        row = np.zeros(1, engine.row_dtype(self.game))
        self.rules.write(row["state"]["rules"][0])
        row["state"]["match"] = MATCHES.index(self.match)
        self.game.begin(row["state"][0])
        row["settings"]["reward"] = self.game.rewards.index(self.reward)
        row["settings"]["max_deals"] = self.max_deals or 0
        row["settings"]["below_value"] = (
            0.0 if self.reward == "equity" or self.below_value is None else self.below_value
        )
        row["settings"]["reward_scale"] = self.reward_scale
        row["settings"]["illegal_penalty"] = self.illegal_penalty
        row["dealer"] = -1
        row.flags.writeable = False
        return row

    @cached_property
    def beginning(self) -> dict[str, Any]:
        """The score at which a match begins where none is asked for, by field, complete."""
        return score_of(self.game.score_sheet(self.template["state"][0], []))

    @cached_property
    def starts(self) -> npt.NDArray[np.void]:
        """The beginnings of matches (K,), records of `engine.start_dtype`, read-only."""
        starts = np.zeros(1, engine.start_dtype(self.game))
        starts["state"] = self.template["state"]
        starts["dealer"] = -1
        if self.start_scores is not None:
            starts = np.repeat(starts, len(self.start_scores))
            for start, score in zip(starts, self.start_scores, strict=True):
                _place_start(self, start, score)
        starts.flags.writeable = False
        return starts

    @cached_property
    def equity(self) -> npt.NDArray[np.float64]:
        """The equity table as compiled loops take it, read-only; (1, 0) without one."""
        values = np.zeros((1, 0)) if self.equity_table is None else self.equity_table.values.copy()
        values.flags.writeable = False
        return values

    @cached_property
    def pack(self) -> npt.NDArray[np.int8]:
        """The cards of the pack, ascending: int8 (C,), read-only."""
        pack = np.array(self.game.pack(self.rules), np.int8)
        pack.flags.writeable = False
        return pack

    @cached_property
    def sides(self) -> tuple[tuple[int, ...], ...]:
        """The seats that play together, side by side."""
        return self.game.sides(self.template["state"][0])

    @cached_property
    def num_actions(self) -> int:
        """Size of the action space."""
        return self.game.num_actions(self.rules)

    @cached_property
    def identity(self) -> bytes:
        """Eight bytes for each thing that two environments must share to exchange states."""
        game = self.game
        table = None if self.equity_table is None else self.equity_table.digest
        parts = (
            (game.name, game.version, str(game.state)),
            self.rules.as_dict(),
            self.match,
            (self.reward, self.below_value, self.reward_scale, self.max_deals, table),
            hashlib.blake2b(self.starts.tobytes()).hexdigest(),
        )
        return b"".join(
            hashlib.blake2b(repr(part).encode(), digest_size=8).digest() for part in parts
        )

    def checked_state(self, state: Any, least: int) -> bytes:
        """A saved state without its checksum, if it comes from an environment like this one.

        Args:
            state: `identity`, at least `least` further bytes, and the `checksum` of all of them.
            least: how many bytes there must be.

        Raises:
            ValueError: if it is damaged, or comes from other rules, match, reward, beginnings or
                version.
        """
        least += len(self.identity) + _CHECKSUM_SIZE
        if not isinstance(state, bytes) or len(state) < least:
            raise ValueError("state must be bytes that get_state returned")
        for index, name in enumerate(_IDENTITY):
            part = slice(8 * index, 8 * index + 8)
            if state[part] != self.identity[part]:
                raise ValueError(f"state comes from an environment of other {name}")
        content = bytes(state[:-_CHECKSUM_SIZE])
        if state[-_CHECKSUM_SIZE:] != checksum(content):
            raise ValueError("state is damaged: its checksum does not fit")
        return content


_IDENTITY = ("version", "rules", "match", "reward settings", "start_scores")
"""What the parts of `Settings.identity` stand for."""
_CHECKSUM_SIZE = 8


def checksum(state: bytes) -> bytes:
    """What stands at the end of a saved state."""
    return hashlib.blake2b(state, digest_size=_CHECKSUM_SIZE).digest()


def _checked_starts(settings: Settings) -> tuple[dict[str, Any], ...]:
    """`start_scores` as one dict a score, each of which can be placed."""
    given = settings.start_scores
    if isinstance(given, Mapping):
        given = _by_score(given)
    if not isinstance(given, Sequence) or isinstance(given, str) or not given:
        raise ValueError(
            "start_scores must be a list of one or more scores, or a dict of their fields as "
            f"arrays of one entry a score, got {shown(given)}"
        )
    trial = np.zeros(1, engine.start_dtype(settings.game))
    trial["state"] = settings.template["state"]
    for score in given:
        if not isinstance(score, Mapping):
            raise ValueError(f"start_scores must hold dicts, got {shown(score)}")
        _place_start(settings, trial[0], score)
    return tuple(dict(score) for score in given)


def _by_score(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    lists = {name: np.asarray(column, object).tolist() for name, column in columns.items()}
    lengths = {len(one) if isinstance(one, list) else 0 for one in lists.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise ValueError(
            f"start_scores must have fields of one entry a score, got lengths {sorted(lengths)}"
        )
    return [dict(zip(lists, entries, strict=True)) for entries in zip(*lists.values(), strict=True)]


def _place_start(settings: Settings, start: np.void, score: Mapping[str, Any]) -> None:
    """Write a score, and the dealer if it names one, into a beginning."""
    dealer = score.get("dealer")
    settings.game.place_score(
        start["state"], {name: pair for name, pair in score.items() if name != "dealer"}
    )
    start["dealer"] = (
        -1
        if dealer is None
        else check_integer("start_scores dealer", dealer, 0, settings.players - 1)
    )
