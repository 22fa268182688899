"""The rubber equity table of Poke: what a score is worth until the rubber ends.

For every score at which a deal can begin, the table holds the margin above the line that the dealer
is expected to gain from there (E), bonuses included, and the distribution of that margin, hence the
probability (W) of winning the whole (docs/rules.md 1.9) at any margin there is already. It stands
for policies that do not look at the margin. Where both seats are played alike, a single row for
"the dealer" says all.

    >>> table = EquityTable.load()
    >>> ahead = table.expected(below=(15, 5), games=(1, 0), dealer=0)
    >>> ahead > table.expected(below=(5, 15), games=(1, 0), dealer=0) > 0
    True
    >>> table.win_probability((0, 0), (0, 0), dealer=0, margin=2000) > 0.9
    True

Tables are made by `python -m training.lab rubber`, and versioned by the policies they stand for.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from poke_env._checks import check_integer, shown
from poke_env._files import load_arrays
from poke_env.games.base import Game
from poke_env.games.poke import POKE, equity_place

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

FORMAT = 1
"""Version of the file format; a reader refuses any other."""
LEVELS = 20_000
"""Steps of a stored distribution function: a probability is off by 0.0025 percentage points."""
DATA = Path(__file__).resolve().parent / "data"
"""Where the table of the environment's version lies."""

_MOST_MARGIN = 2**31 - 1
"""Points; no rubber comes near."""
_ARRAYS = {
    "values": np.float64,
    "errors": np.float32,
    "win_errors": np.float32,
    "visits": np.float32,
    "futures": np.uint16,
}
_ABOUT: Mapping[str, type] = {
    "rules": dict, "unit": int, "version": str, "policies": list, "deals": int, "seed": int,
}  # fmt: skip


def rules_key(rules: Any) -> dict[str, Any]:
    """The options that change deals or margins, all but `final_tie`, as plain values of JSON."""
    options = {name: value for name, value in rules.as_dict().items() if name != "final_tie"}
    return cast(dict[str, Any], json.loads(json.dumps(options)))


@cache
def scores(target: int) -> Integers:
    """The scores at which a deal can begin, in the order of the table.

    Returns:
        int64 (places, 4), read-only: below the line and games won, the dealer's before the other's
        each. Ties at the target or beyond stand as (target, target).
    """
    found = np.zeros((4 * (target * target + 1), 4), np.int64)
    under = [(own, other) for own in range(target) for other in range(target)]
    for below in (*under, (target, target)):
        for games in ((0, 0), (0, 1), (1, 0), (1, 1)):
            found[equity_place(target, *below, *games)] = *below, *games
    found.flags.writeable = False
    return found


@cache
def places(target: int) -> Integers:
    """The inverse of `scores`: int64 (target + 1, target + 1, 2, 2), -1 where there is no score."""
    found = np.full((target + 1, target + 1, 2, 2), -1, np.int64)
    found[tuple(scores(target).T)] = np.arange(len(scores(target)))
    found.flags.writeable = False
    return found


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class EquityTable:
    """A rubber equity table; two with the same contents are equal.

    The arrays have one row where both seats are played alike, or one for deals of player_0 and one
    for deals of player_1. Their columns are `scores`.

    Attributes:
        rules: that the table is for, as `rules_key` gives them.
        values: float64 (rows, places), E: the dealer's expected future margin, in points.
        errors: float32 (rows, places), its standard error, in points; where the rubber was solved
            and nothing sampled (`deals` is 0), the exploitability of the strategies at the score.
        win_errors: float32 (rows, places), standard error of W, at the margin where it is largest;
            0 where nothing was sampled.
        visits: float32 (rows, places), how many deals of a rubber begin at the score on average.
        futures: uint16 (rows, places, 2 R + 1), the distribution function of the dealer's future
            margin at -R to R times `unit` points, in steps of 1 / `LEVELS`.
        unit: points of which all margins are multiples.
        version: the table's name.
        policies: who plays, one or two in the order of the seats, each with `name` and `identity`.
        deals: number of deals that it was made from.
        seed: of their decks.

    Raises:
        ValueError: if the parts do not fit each other.
    """

    rules: Mapping[str, Any]
    values: Floats
    errors: npt.NDArray[np.float32]
    win_errors: npt.NDArray[np.float32]
    visits: npt.NDArray[np.float32]
    futures: npt.NDArray[np.uint16]
    unit: int
    version: str
    policies: tuple[Mapping[str, str], ...]
    deals: int
    seed: int

    def __post_init__(self) -> None:
        if len(self.policies) not in (1, 2):
            raise ValueError(f"policies must be one or two, got {shown(self.policies)}")
        check_integer("unit", self.unit, 1)
        shape = len(self.policies), 4 * (self.target**2 + 1)
        for name, kind in _ARRAYS.items():
            array = getattr(self, name)
            if array.dtype != kind or array.shape[:2] != shape:
                raise ValueError(
                    f"{name} must be {np.dtype(kind)} {shape}, got {array.dtype} {array.shape}"
                )
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must hold finite numbers alone")
            array.flags.writeable = False
        if self.futures.ndim != 3 or self.futures.shape[2] % 2 != 1:
            raise ValueError(f"futures must be ({shape}, 2 R + 1), got {self.futures.shape}")

    def __repr__(self) -> str:
        return f"EquityTable({self.version!r}, {self.digest[:8]})"

    def __deepcopy__(self, memo: dict[int, Any]) -> EquityTable:
        return self  # it never changes

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EquityTable) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def target(self) -> int:
        """Points below the line that end a game."""
        return int(self.rules["target"])

    @cached_property
    def digest(self) -> str:
        """Hexadecimal digest of all that the table holds."""
        digest = hashlib.blake2b(json.dumps(self._about(), sort_keys=True).encode(), digest_size=16)
        for name in _ARRAYS:
            digest.update(np.ascontiguousarray(getattr(self, name)).tobytes())
        return digest.hexdigest()

    # --- what it says -----------------------------------------------------------------------------

    def expected(self, below: Any, games: Any, dealer: Any) -> Any:
        """The margin above the line that player_0 is expected to gain until the rubber ends.

        Args:
            below: points below the line by player, (2,) or (..., 2).
            games: games won by player, likewise, each 0 or 1.
            dealer: who deals next, 0 or 1, or an array.

        Returns:
            Points: a float, or float64 (...).

        Raises:
            ValueError: for a score at which no deal can begin.
        """
        at, dealers = self._find(below, games, dealer)
        return _plain(np.where(dealers == 0, 1.0, -1.0) * self.values[at])

    def expected_error(self, below: Any, games: Any, dealer: Any) -> Any:
        """The error of `expected`, in points; see `errors`."""
        return _plain(self.errors[self._find(below, games, dealer)[0]].astype(np.float64))

    def win_probability(self, below: Any, games: Any, dealer: Any, margin: Any = 0) -> Any:
        """The probability that player_0 wins the whole, a draw counted as half.

        Args:
            below, games, dealer: as for `expected`.
            margin: points above the line, player_0's minus player_1's, at the moment; a number or
                an array.

        Returns:
            A float, or float64 (...).
        """
        ahead, level = self._ahead_and_level(below, games, dealer, margin)
        return _plain(ahead + level / 2.0)

    def draw_probability(self, below: Any, games: Any, dealer: Any, margin: Any = 0) -> Any:
        """The probability of equal totals; arguments as for `win_probability`."""
        return _plain(self._ahead_and_level(below, games, dealer, margin)[1])

    def win_error(self, below: Any, games: Any, dealer: Any) -> Any:
        """The error of `win_probability`, at the margin where it is largest; see `win_errors`."""
        return _plain(self.win_errors[self._find(below, games, dealer)[0]].astype(np.float64))

    def distribution(self, below: Any, games: Any, dealer: Any) -> tuple[Integers, Floats]:
        """The margins that player_0 may still gain, in points ascending, and their probabilities.

        What lies beyond the ends, less than one in a million, is counted there. Of one score.
        """
        at, dealers = self._find(below, games, dealer)
        if dealers.ndim:
            raise ValueError(f"below, games and dealer must be of one score, got {dealers.shape}")
        chances = np.diff(self.futures[at].astype(np.float64), prepend=0.0) / LEVELS
        reach = self.futures.shape[2] // 2
        return self.unit * np.arange(-reach, reach + 1), chances[:: 1 if dealers == 0 else -1]

    def start_scores(self, count: int, seed: int | None = None) -> dict[str, Integers]:
        """Scores as they occur when deals begin in rubbers between the table's policies.

        Args:
            count: how many.
            seed: of the choice; every score comes as often as its share says, rounded by chance.

        Returns:
            `below` and `games` int64 (count, 2) by player and `dealer` int64 (count,): what
            environments take as `start_scores`.
        """
        count = check_integer("count", count, 1)
        seed = check_integer("seed", seed, 0, or_none=True)
        shares = np.broadcast_to(self.visits, (2, self.visits.shape[1])).astype(np.float64)
        ends = np.cumsum(shares) / shares.sum()
        chance = np.random.default_rng(seed)
        drawn = np.searchsorted(ends, (np.arange(count) + chance.random()) / count, side="right")
        dealer, place = np.divmod(np.minimum(drawn, ends.size - 1), shares.shape[1])
        score = scores(self.target)[place].reshape(count, 2, 2)
        score = np.where(dealer[:, None, None] == 0, score, score[:, :, ::-1])
        return {"below": score[:, 0], "games": score[:, 1], "dealer": dealer}

    def _ahead_and_level(
        self, below: Any, games: Any, dealer: Any, margin: Any
    ) -> tuple[Floats, Floats]:
        """Probabilities that player_0 ends ahead, and that nobody does."""
        at, dealers = self._find(below, games, dealer)
        margin = _whole("margin", margin, _MOST_MARGIN, least=-_MOST_MARGIN)
        to_make_up = np.where(dealers == 0, -margin, margin)  # by the dealer
        steps, rest = np.divmod(to_make_up, self.unit)
        up_to = self._at_most(at, steps)
        level = np.where(rest == 0, up_to - self._at_most(at, steps - 1), 0.0)
        return np.where(dealers == 0, 1.0 - up_to, up_to - level), level

    def _at_most(self, at: Any, steps: Integers) -> Floats:
        """Probability that the dealer gains at most so many units."""
        reach = self.futures.shape[2] // 2
        inside = self.futures[(*at, np.clip(steps + reach, 0, 2 * reach))] / LEVELS
        return np.where(steps < -reach, 0.0, inside)

    def _find(self, below: Any, games: Any, dealer: Any) -> tuple[Any, Integers]:
        """Index of rows and columns, and the dealers, all of one shape."""
        below = _whole("below", below, 10_000, pairs=True)
        games = _whole("games", games, 1, pairs=True)
        dealers = _whole("dealer", dealer, 1)
        own, other, own_games, other_games, dealers = np.broadcast_arrays(
            below[..., 0], below[..., 1], games[..., 0], games[..., 1], dealers
        )
        if ((np.maximum(own, other) >= self.target) & (own != other)).any():
            raise ValueError(
                f"below must be two numbers under the target {self.target}, or equal ones (a tied "
                f"game goes on), got {shown(below.tolist())}"
            )
        first = dealers == 0
        place = places(self.target)[
            np.minimum(np.where(first, own, other), self.target),
            np.minimum(np.where(first, other, own), self.target),
            np.where(first, own_games, other_games),
            np.where(first, other_games, own_games),
        ]
        return (dealers % len(self.values), place), dealers

    # --- files ------------------------------------------------------------------------------------

    def _about(self) -> dict[str, Any]:
        about: dict[str, Any] = {name: getattr(self, name) for name in _ABOUT}
        about["policies"] = [dict(policy) for policy in self.policies]
        return {"format": FORMAT, "game": POKE.name, **about}

    def to_bytes(self) -> bytes:
        """The table as a file: a compressed npz of arrays alone, the same bytes every time."""
        about = json.dumps({**self._about(), "digest": self.digest}).encode()
        arrays = {name: getattr(self, name) for name in _ARRAYS}
        arrays["futures"] = _squeezed(self.futures)
        content = io.BytesIO()
        np.savez_compressed(content, about=np.frombuffer(about, np.uint8), **arrays)
        return content.getvalue()

    def save(self, path: str | Path) -> None:
        """Write the table to a file; an existing one is replaced."""
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | Path | None = None) -> EquityTable:
        """Read a table, by default the one of the environment's version.

        Raises:
            ValueError: if the file is damaged, no table or one of another format.
            OSError: if it cannot be read.
        """
        if path is None:
            return _shipped()
        return cls.from_bytes(Path(path).read_bytes(), str(path))

    @classmethod
    def from_bytes(cls, content: bytes, name: str = "content") -> EquityTable:
        """What `to_bytes` wrote; `name` is what errors call it.

        Raises:
            ValueError: as `load`.
        """
        try:
            stored = load_arrays(content, "about", *_ARRAYS)
            about = json.loads(stored["about"].tobytes())
            arrays: dict[str, Any] = {one: stored[one] for one in _ARRAYS}
            if (about["format"], about["game"]) != (FORMAT, POKE.name):
                raise ValueError(
                    f"it is of game {about['game']!r}, format {about['format']}; "
                    f"known is {POKE.name!r}, format {FORMAT}"
                )
            arrays["futures"] = _unsqueezed(arrays["futures"])
            for field, kind in _ABOUT.items():
                if not isinstance(about[field], kind):
                    raise ValueError(f"{field} must be {kind.__name__}")
            told = {field: about[field] for field in _ABOUT}
            table = cls(**{**told, "policies": tuple(told["policies"])}, **arrays)
            if table.digest != about["digest"]:
                raise ValueError("its digest does not fit")
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"equity table {name} cannot be used: {error}") from error
        return table


def table_for(game: Game, rules: Any, given: Any) -> EquityTable:
    """The equity table that an environment pays by.

    Args:
        game: the environment's game.
        rules: its rules.
        given: an `EquityTable`, the path of one, or None: the one of the environment's version.

    Raises:
        ValueError: if the game pays no equity, or it is no table, or one for other rules.
    """
    if not _pays_equity(game):
        raise ValueError(
            f"reward must be one of {', '.join(map(repr, game.rewards))} in {game.name}, which has "
            "no equity tables, got 'equity'"
        )
    table = given
    if given is None or isinstance(given, (str, Path)):
        table = EquityTable.load(given)
    if not isinstance(table, EquityTable):
        raise ValueError(
            f"equity_table must be an EquityTable, its path or None, got {shown(given)}"
        )
    key = rules_key(rules)
    if key != table.rules:
        different = [name for name in key if key[name] != table.rules.get(name)]
        known = [name for name, preset in game.presets.items() if rules_key(preset) == table.rules]
        raise ValueError(
            f"equity_table {table.version!r} is for rules {known[0] if known else 'of its own'!r}; "
            f"these differ in {', '.join(different)}: make one with python -m training.lab rubber"
        )
    return table


def has_table(game: Game, rules: Any) -> bool:
    """Whether the table of the environment's version is for these rules of a game."""
    return _pays_equity(game) and rules_key(rules) == _shipped().rules


def _pays_equity(game: Game) -> bool:
    """Whether the game knows what an equity table is."""
    return "equity" in game.rewards


def shipped_path() -> Path:
    """The file of the environment's version.

    Raises:
        OSError: if there is none.
    """
    found = [path for path in DATA.glob("*.npz") if version_number(path) is not None]
    if not found:
        raise FileNotFoundError(f"no equity table {POKE.name}_equity_v*.npz in {DATA}")
    return max(found, key=lambda path: version_number(path) or 0)


def version_number(path: Path) -> int | None:
    """The number in the name of a shipped table; None if this is no such name."""
    named = re.fullmatch(rf"{POKE.name}_equity_v(\d+)\.npz", path.name)
    return None if named is None else int(named[1])


@cache
def _shipped() -> EquityTable:
    return EquityTable.load(shipped_path())


def _squeezed(futures: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    """Differences along the margins and then between neighbouring scores: small numbers, which
    compress to half the size."""
    steps = np.diff(futures, axis=2, prepend=np.uint16(0))
    return np.diff(steps, axis=1, prepend=np.uint16(0))


def _unsqueezed(stored: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    steps = np.cumsum(stored, axis=1, dtype=np.uint16)
    return np.cumsum(steps, axis=2, dtype=np.uint16)


def _whole(name: str, given: Any, most: int, *, least: int = 0, pairs: bool = False) -> Integers:
    """Integers from `least` to `most` as int64 (...), or (..., 2) with `pairs`."""
    array = np.asarray(given)
    fits = array.dtype.kind in "iu" and (array >= least).all() and (array <= most).all()
    if not fits or (pairs and (array.ndim == 0 or array.shape[-1] != 2)):
        kind = "pairs of integers" if pairs else "integers"
        raise ValueError(f"{name} must be {kind} from {least} to {most}, got {shown(given)}")
    return array.astype(np.int64)


def _plain(numbers: Any) -> Any:
    """A number of Python for an array without dimensions."""
    array = np.asarray(numbers)
    return float(array) if array.ndim == 0 else array
