"""What every adapter is told about a match, checked once and written into the rows it plays on."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from poke_env import engine
from poke_env._checks import check_integer, check_number
from poke_env.games.base import MATCHES, Game


@dataclass(frozen=True)
class Settings:
    """The settings of an environment, checked.

    Attributes:
        game: the game.
        match: unit of play that ends an episode, one of the game's matches.
        reward: `"points"` (zero-sum, paid after each deal) or `"win"` (1, -1 or 0 at the end; a
            match that is cut by `max_deals` pays 0).
        rules: the game's `Rules`; a preset's name is turned into them.
        max_deals: a longer match is truncated after so many deals; None is no limit.
        below_value: what a point below the line counts where the deal is the match.
        reward_scale: every reward is multiplied by it, forfeits included.
        illegal_penalty: what a forfeit costs; by default 1000 times `reward_scale`, 1 with "win".

    Raises:
        ValueError: naming the argument, the value and what is allowed.
    """

    game: Game
    match: str = "rubber"
    reward: str = "points"
    rules: Any = "standard"
    max_deals: int | None = field(default=None, kw_only=True)
    below_value: float = field(default=50.0, kw_only=True)
    reward_scale: float = field(default=1.0, kw_only=True)
    illegal_penalty: float | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        self.game.one_of("match", self.match, self.game.matches)
        self.game.one_of("reward", self.reward, self.game.rewards)
        penalty = self.illegal_penalty
        checked = {
            "rules": self.game.rules_named(self.rules),
            "max_deals": check_integer("max_deals", self.max_deals, 1, 2**31 - 1, or_none=True),
            "below_value": check_number("below_value", self.below_value),
            "reward_scale": check_number("reward_scale", self.reward_scale, above=0.0),
        }
        if penalty is None:
            penalty = 1.0 if self.reward == "win" else 1000.0 * checked["reward_scale"]
        checked["illegal_penalty"] = check_number("illegal_penalty", penalty, least=0.0)
        for name, value in checked.items():
            object.__setattr__(self, name, value)

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
        row["state"]["winner"] = -1
        row["settings"]["reward"] = self.game.rewards.index(self.reward)
        row["settings"]["max_deals"] = self.max_deals or 0
        row["settings"]["below_value"] = self.below_value
        row["settings"]["reward_scale"] = self.reward_scale
        row["settings"]["illegal_penalty"] = self.illegal_penalty
        row["dealer"] = -1
        row.flags.writeable = False
        return row

    @cached_property
    def pack(self) -> npt.NDArray[np.int8]:
        """The cards of the pack, ascending: int8 (C,), read-only."""
        pack = np.array(self.game.pack(self.rules), np.int8)
        pack.flags.writeable = False
        return pack

    @cached_property
    def num_actions(self) -> int:
        """Size of the action space."""
        return self.game.num_actions(self.rules)

    @cached_property
    def identity(self) -> bytes:
        """Eight bytes for each thing that two environments must share to exchange states."""
        game = self.game
        parts = (
            (game.name, game.version, str(game.state)),
            self.rules.as_dict(),
            self.match,
            (self.reward, self.below_value, self.reward_scale, self.max_deals),
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
            ValueError: if it is damaged, or comes from other rules, match, reward or version.
        """
        least += len(self.identity) + _CHECKSUM_SIZE
        if not isinstance(state, bytes) or len(state) < least:
            raise ValueError("state must be bytes that get_state returned")
        for index, name in enumerate(("version", "rules", "match", "reward settings")):
            part = slice(8 * index, 8 * index + 8)
            if state[part] != self.identity[part]:
                raise ValueError(f"state comes from an environment of other {name}")
        content = bytes(state[:-_CHECKSUM_SIZE])
        if state[-_CHECKSUM_SIZE:] != checksum(content):
            raise ValueError("state is damaged: its checksum does not fit")
        return content


_CHECKSUM_SIZE = 8


def checksum(state: bytes) -> bytes:
    """What stands at the end of a saved state."""
    return hashlib.blake2b(state, digest_size=_CHECKSUM_SIZE).digest()
