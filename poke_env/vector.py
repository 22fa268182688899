"""The native batch: thousands of matches played by one call, written once for every game.

    import poke_env

    envs = poke_env.make_batch("poke", num_envs=4096, seed=0, match="deal")
    obs, mask, player = envs.reset()
    obs, mask, player, reward, done = envs.step(actions)

All seats are played by the caller: observation and mask of a row are those of its seat to act. Rows
are split between the cores; which core plays a row changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode

from poke_env import engine, observation, streams
from poke_env._checks import check_integer, shown
from poke_env._threads import cores, in_parallel, split
from poke_env.aec import IllegalActionError, NotResetError
from poke_env.games.base import Game
from poke_env.options import parse_options
from poke_env.settings import Settings, checksum

MOST_ROWS = 2**24

_LEAST_ROWS = 1024
"""In a part that a thread takes in a step: handing over smaller ones costs more than it saves."""
_LEAST_ROWS_AT_RANDOM = 64
"""The same where many decisions are played at once."""


class BatchEnv:
    """Many matches of one game, one a row, with the same settings.

    Args:
        game: the game.
        num_envs: number of rows, B.
        seed: of the first `reset` that is given none; None takes entropy from the system.
        match, reward, rules, **settings: as for `poke_env.settings.Settings`.
        autoreset: a row whose match ended begins the next match of its stream within the same
            step; otherwise it stays over, and its actions are ignored.
        copy: hand out arrays that are the caller's to keep. Otherwise they are read-only and the
            next call overwrites them.
        threads: how many cores to use; None is all that the process may use.

    Raises:
        ValueError: naming the argument, the value and what is allowed.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        seed: int | None = None,
        match: str = "deal",
        reward: str = "points",
        rules: Any = "standard",
        *,
        autoreset: bool = True,
        copy: bool = True,
        threads: int | None = None,
        **settings: Any,
    ) -> None:
        self.game = game
        self.settings = Settings(game, match, reward, rules, **settings)
        self.num_envs: int = check_integer("num_envs", num_envs, 1, MOST_ROWS)
        self.autoreset = bool(autoreset)
        self.copy = bool(copy)
        self._threads = check_integer("threads", threads, 1, or_none=True) or cores()
        self._parts = split(self.num_envs, self._threads, _LEAST_ROWS)
        mode = AutoresetMode.SAME_STEP if autoreset else AutoresetMode.DISABLED
        self.metadata = {"name": f"{game.name}_v{game.version}", "autoreset_mode": mode}
        low, high = observation.bounds(game)
        self.single_observation_space = spaces.Box(low, high, dtype=np.float32)
        self.single_action_space = spaces.Discrete(self.settings.num_actions)
        self._seed = streams.check_seed(seed)
        self._started = False
        size = self.num_envs
        self._rows = np.repeat(self.settings.template, size)
        self._decks = np.zeros((size, 0, len(self.settings.pack)), np.int8)
        self._finals = np.zeros(size, game.state)
        self._everybody = np.ones(size, np.bool_)
        self._illegal = np.zeros(size, np.bool_)
        # What a step writes. Of these only the observations are large: with `copy` they are new
        # in every step and given away, all others are copied.
        self._observations = self._new_observations()
        self._masks = np.zeros((size, self.settings.num_actions), np.int8)
        self._players = np.zeros(size, np.int8)
        self._rewards = np.zeros((size, self.settings.players))
        self._dones = np.zeros(size, np.bool_)
        self._truncated = np.zeros(size, np.bool_)

    def _new_observations(self) -> npt.NDArray[np.float32]:
        return np.empty((self.num_envs, observation.length(self.game)), np.float32)

    # --- the matches ------------------------------------------------------------------------------

    def reset(
        self, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, Any, Any]:
        """Begin a match in every row.

        Args:
            seed: row i is seeded with `seed + i`, or with its own number of a list; None goes on
                with the streams: every row begins its next match.
            options: as for the AEC environment, with one entry a row: `deck` (B, C) or `decks`
                (B, K, C), full orders or beginnings; `dealer` (B,), `skip` (B,), and `score` with
                fields such as `stacks` (B, n) or `deals_played` (B,). What has no entry for each
                row is meant for all of them.

        Returns:
            Observation float32 (B, F) and mask int8 (B, A) of the seat to act, and that seat,
            int8 (B,).

        Raises:
            ValueError: naming the field; the matches go on as they were.
        """
        words = row_words(self.num_envs, seed)
        if words is None and not self._started:
            words = row_words(self.num_envs, entropy() if self._seed is None else self._seed)
        chosen = parse_options(self.settings, options, self.num_envs)
        rows = np.repeat(self.settings.template, self.num_envs)
        rows["stream"] = self._rows["stream"]
        if words is None:
            rows["stream"]["match"] += 1
        else:
            rows["stream"]["key"] = words
            rows["stream"]["match"] = 0
        rows["stream"]["match"] += chosen.skip
        engine.begin(rows, self.settings.starts)
        self._decks = chosen.place(rows, self.settings)
        self._rows = rows
        self._started = True
        self._forget_step()
        self._observations = self._new_observations()
        engine.deal(
            rows,
            self._decks,
            self.settings.pack,
            self.settings.equity,
            self._observations,
            self._masks,
        )
        self._players[:] = rows["player"]
        return self._handed(self._observations, self._masks, self._players)

    def observe(self) -> tuple[Any, Any, Any]:
        """Observation, mask and seat to act of every row, as the last call handed them out."""
        self._check_started()
        if self.copy:
            self._observations = self._new_observations()
            engine.show(self._rows, self._observations, self._masks)
        return self._handed(self._observations, self._masks, self._players)

    def _handed(self, observations: Any, *others: Any) -> tuple[Any, ...]:
        """Arrays for the caller, to keep or to look at."""
        if self.copy:
            return observations, *(array.copy() for array in others)
        return tuple(_read_only(array) for array in (observations, *others))

    def _observe(self, states: Any, seats: Any) -> npt.NDArray[np.float32]:
        seen = np.empty((len(states), observation.length(self.game)), np.float32)
        engine.observe(np.ascontiguousarray(states), np.ascontiguousarray(seats, np.int8), seen)
        return seen

    def step(self, actions: Any, active: Any = None) -> tuple[Any, Any, Any, Any, Any]:
        """Carry out one action a row.

        Args:
            actions: integers (B,), legal for the seat to act.
            active: bool (B,); rows that are not active wait, whatever their action. By default
                all act.

        Returns:
            Observation float32 (B, F), mask int8 (B, A) and seat to act int8 (B,) (-1 and an empty
            mask in a row that is over), reward of each seat float32 (B, n), and bool (B,): rows
            whose match ended in this step.

        Raises:
            IllegalActionError: (a ValueError) naming actions and rows; nothing has changed.
            ValueError: for another shape or type.
            NotResetError: before `reset`.
        """
        self._check_started()
        numbers = integer_array("actions", actions, self.num_envs)
        acting = self._everybody
        if active is not None:
            acting = np.array(active)
            if acting.shape != (self.num_envs,) or acting.dtype != np.bool_:
                raise ValueError(f"active must be bool ({self.num_envs},), got {shown(active)}")
        illegal = self.find_illegal(numbers, acting)
        if illegal.any():
            raise self._refusal(np.asarray(actions), np.flatnonzero(illegal))
        if active is not None:
            numbers = np.where(acting, numbers, engine.WAIT)
        # A negative number is left only in rows that are over: it is no command of ours.
        self.advance(np.maximum(numbers, engine.WAIT))
        return self._handed(
            self._observations,
            self._masks,
            self._players,
            self._rewards.astype(np.float32),
            self._dones,
        )

    def advance(self, actions: npt.NDArray[np.int64]) -> None:
        """`step` for callers of our own, whose actions are legal.

        Args:
            actions: int64 (B,), legal ones, `engine.WAIT`, `engine.FORFEIT` or `engine.NEXT`.
        """
        if self.copy:
            self._observations = self._new_observations()
        in_parallel(lambda part: self._advance(actions, part), self._parts, self._threads)

    def _advance(self, actions: npt.NDArray[np.int64], part: slice) -> None:
        engine.advance(
            self._rows[part],
            actions[part],
            self._decks[part],
            self.settings.pack,
            self.settings.starts,
            self.settings.equity,
            self.autoreset,
            self.copy,
            self._finals[part],
            self._observations[part],
            self._masks[part],
            self._players[part],
            self._rewards[part],
            self._dones[part],
            self._truncated[part],
        )

    def find_illegal(
        self, actions: npt.NDArray[np.int64], acting: npt.NDArray[np.bool_] | None = None
    ) -> npt.NDArray[np.bool_]:
        """Rows that are not over, act, and whose action is illegal: bool (B,), read-only.

        Args:
            actions: int64 (B,), any numbers.
            acting: bool (B,); None is everybody.
        """
        acting = self._everybody if acting is None else acting
        engine.find_illegal(self._rows, actions, acting, self._masks, self._illegal)
        return _read_only(self._illegal)

    def _refusal(
        self, actions: npt.NDArray[Any], rows: npt.NDArray[np.int64]
    ) -> IllegalActionError:
        row = rows[0]
        player = f"player_{self._rows['player'][row]}"
        legal = np.flatnonzero(self._masks[row]).tolist()
        more = f" (and in {len(rows) - 1} more rows: {shown(rows[1:].tolist())})" * (len(rows) > 1)
        return IllegalActionError(
            f"action {actions[row]} is illegal in row {row}, where {player} is to act; "
            f"legal are {legal}{more}"
        )

    def play_at_random(
        self, decisions: int, seed: int | None = None
    ) -> tuple[int, npt.NDArray[np.float64]]:
        """Play so many decisions in every row, each legal action equally likely.

        Nothing is observed on the way, which makes it several times as fast as `step`. A match
        that ends is followed by the next one.

        Args:
            decisions: a row, 0 or more.
            seed: of the choices; None takes entropy from the system.

        Returns:
            Number of matches that ended, and the sum of rewards of each seat, float64 (B, n).

        Raises:
            ValueError: if a row is over, as without `autoreset` it may be.
        """
        self._check_started()
        decisions = check_integer("decisions", decisions, 0, 2**31 - 1)
        if self._rows["over"].any():
            raise ValueError("a match is over: call reset() before play_at_random()")
        words = streams.seed_words(streams.check_seed(seed), streams.Purpose.CHANCE).astype(
            np.int64
        )
        rewards = np.zeros((self.num_envs, self.settings.players))

        def play(part: slice) -> int:
            return engine.play_at_random(
                self._rows[part], decisions, words, part.start, self._decks[part],
                self.settings.pack, self.settings.starts, self.settings.equity,
                self._masks[part], rewards[part],
            )  # fmt: skip

        parts = split(self.num_envs, self._threads, _LEAST_ROWS_AT_RANDOM)
        ended = sum(in_parallel(play, parts, self._threads))
        if not self.copy:
            engine.show(self._rows, self._observations, self._masks)
        self._players[:] = self._rows["player"]
        self._forget_step()
        return ended, rewards

    # --- for adapters on top ---------------------------------------------------------------------

    @property
    def matches(self) -> npt.NDArray[np.int64]:
        """Number of the match in its stream, int64 (B,)."""
        return self._rows["stream"]["match"].copy()

    @property
    def masks(self) -> npt.NDArray[np.int8]:
        """Legal actions of the seats to act, int8 (B, A), read-only."""
        return _read_only(self._masks)

    @property
    def rewards(self) -> npt.NDArray[np.float64]:
        """What the last step brought to each seat, float64 (B, n), read-only."""
        return _read_only(self._rewards)

    @property
    def deals(self) -> npt.NDArray[np.int64]:
        """Deals finished in the match of every row, int64 (B,), a copy."""
        return np.ascontiguousarray(self._rows["deals"])

    def results(self) -> npt.NDArray[np.float64]:
        """What each match that was played out is worth to each seat: float64 (B, n).

        As `reward="win"` pays it: above 0 if won, below 0 if lost, 0 if all are level; 0 in matches
        that are going on, were cut or forfeited.
        """
        worth = np.empty((self.num_envs, self.settings.players))
        engine.results(self._rows, worth)
        return worth

    def standings(self) -> npt.NDArray[np.int64]:
        """How each seat stands in the match in this deal: int64 (B, n), places in `standings` of
        the game."""
        standing = np.empty((self.num_envs, self.settings.players), np.int64)
        engine.standings(self._rows, standing)
        return standing

    def observe_rows(self, rows: npt.NDArray[np.int64], seats: Any) -> npt.NDArray[np.float32]:
        """What a seat may know in some rows, whose turn it may be or not.

        Args:
            rows: int64 (n,), their numbers.
            seats: one for each of them, int (n,), or one for all.

        Returns:
            float32 (n, F).

        Raises:
            ValueError: for a seat that there is not; compiled code does not look where it reads.
        """
        self._check_started()
        chosen = np.broadcast_to(seats, len(rows))
        if ((chosen < 0) | (chosen >= self.settings.players)).any():
            raise ValueError(f"seats must be 0 to {self.settings.players - 1}, got {shown(seats)}")
        return self._observe(self._rows["state"][rows], chosen)

    def forfeits(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The seat whose forfeit ended the match of some rows, int64 (n,); -1 if none did."""
        forfeited = self._rows["events"][rows] & engine.ILLEGAL != 0
        return np.where(forfeited, self._rows["player"][rows], -1).astype(np.int64)

    # --- what else can be seen --------------------------------------------------------------------

    @property
    def truncated(self) -> npt.NDArray[np.bool_]:
        """Rows whose match was cut by `max_deals` in the last step, bool (B,)."""
        return self._truncated.copy()

    @property
    def final_observation(self) -> npt.NDArray[np.float32]:
        """What each seat knew at the end of the matches that ended in the last step.

        float32 (B, n, F), 0 in all other rows.
        """
        size, seats = self.num_envs, self.settings.players
        final = np.zeros((size, seats, observation.length(self.game)), np.float32)
        ended = np.flatnonzero(self._dones)
        for seat in range(seats):
            final[ended, seat] = self._observe(self._finals[ended], np.full(len(ended), seat))
        return final

    @property
    def final_record(self) -> npt.NDArray[np.void]:
        """The last positions of the matches that ended in the last step, (B,); 0 elsewhere."""
        final = np.zeros_like(self._finals)
        final[self._dones] = self._finals[self._dones]
        return final

    @property
    def record(self) -> npt.NDArray[np.void]:
        """The positions now, (B,) records of the game's state, a copy."""
        self._check_started()
        return self._rows["state"].copy()

    def record_rows(self, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.void]:
        """The positions now in some rows (n,), a copy."""
        self._check_started()
        states = self._rows["state"]
        # As bytes: field by field it takes many times as long.
        return states.view(np.dtype((np.void, states.itemsize)))[rows].view(states.dtype)

    @property
    def deck(self) -> npt.NDArray[np.int8]:
        """The order of the pack in the deal going on in every row, int8 (B, C), a copy."""
        self._check_started()
        return self._rows["deck"][:, : len(self.settings.pack)].copy()

    @property
    def over(self) -> npt.NDArray[np.bool_]:
        """Rows whose match is over and was not followed by another, bool (B,), a copy."""
        return self._rows["over"].astype(np.bool_)

    @property
    def cut(self) -> npt.NDArray[np.bool_]:
        """Rows whose match is over because of `max_deals`, bool (B,), a copy."""
        cut = (self._rows["over"] != 0) & (self._rows["events"] & engine.TRUNCATED != 0)
        return np.asarray(cut)

    # --- save and restore -------------------------------------------------------------------------

    def get_state(self) -> bytes:
        """All matches: positions, decks, streams."""
        self._check_started()
        shape = np.array(self._decks.shape[:2], np.int64)
        parts = (self.settings.identity, shape.tobytes(), self._rows.tobytes(),
                 self._decks.tobytes())  # fmt: skip
        state = b"".join(parts)
        return state + checksum(state)

    def set_state(self, state: bytes) -> None:
        """Go on from what `get_state` gave; `observe` shows where that is.

        Raises:
            ValueError: if it is damaged or comes from other rules, match, reward, version or
                number of rows, or holds matches that are over and this batch has `autoreset`; the
                matches go on as they were.
        """
        state = self.settings.checked_state(state, 16)
        offset = len(self.settings.identity)
        rows, decks = np.frombuffer(state, np.int64, 2, offset).tolist()
        if rows != self.num_envs:
            raise ValueError(f"state has {rows} rows, this batch has {self.num_envs}")
        offset += 16
        end = offset + self._rows.nbytes
        pack_size = len(self.settings.pack)
        if len(state) != end + rows * decks * pack_size:
            raise ValueError(
                f"state is damaged: {len(state)} bytes do not hold {decks} decks a row"
            )
        restored = np.frombuffer(state, self._rows.dtype, rows, offset).copy()
        if self.autoreset and restored["over"].any():
            raise ValueError("state has matches that are over: it needs a batch without autoreset")
        self._rows = restored
        self._rows["settings"] = self.settings.template["settings"]
        self._decks = np.frombuffer(state, np.int8, -1, end).reshape(rows, decks, pack_size).copy()
        self._started = True
        self._forget_step()
        self._observations = self._new_observations()
        engine.show(self._rows, self._observations, self._masks)
        self._players[:] = np.where(self._rows["over"], -1, self._rows["player"])

    def _forget_step(self) -> None:
        """No match ended and nothing was paid in the last step."""
        self._rewards[:] = 0.0
        self._dones[:] = False
        self._truncated[:] = False

    def _check_started(self) -> None:
        if not self._started:
            raise NotResetError("no match is going on yet: call reset() first")

    def close(self) -> None:
        """Nothing is held open; closing twice is fine."""


def row_words(rows: int, seed: Any, purpose: int | None = None) -> npt.NDArray[np.uint32] | None:
    """The key words of every row, uint32 (rows, 4); None if there is no seed.

    Args:
        rows: number of rows.
        seed: row i has `seed + i`, or its own number of a list.
        purpose: sets apart streams of one seed.

    Raises:
        ValueError: naming what is wrong.
    """
    if seed is None:
        return None
    if isinstance(seed, np.ndarray) and seed.ndim == 0:
        seed = seed[()]
    if isinstance(seed, (Sequence, np.ndarray)) and not isinstance(seed, (str, bytes)):
        if len(seed) != rows:
            raise ValueError(
                f"seed must be one number or one for each of {rows} rows, got {len(seed)}"
            )
        seeds = [check_integer("seed", one, 0) for one in seed]
    else:
        first = check_integer("seed", seed, 0)
        seeds = list(range(first, first + rows))
    # Rows often share a seed and differ in the match they begin with.
    words = {one: streams.seed_words(one, purpose) for one in set(seeds)}
    return np.array([words[one] for one in seeds])


def entropy() -> int:
    """A seed that nobody has seen."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def integer_array(name: str, values: Any, rows: int) -> npt.NDArray[np.int64]:
    """Integers (rows,) as int64; NumPy's integers are integers, truth values and floats are not."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # lists of different lengths
        raise ValueError(f"{name} must be integers of shape ({rows},): {error}") from error
    if array.dtype.kind not in "iu" or array.shape != (rows,):
        raise ValueError(
            f"{name} must be integers of shape ({rows},), got {array.dtype} {array.shape}: "
            f"{shown(values)}"
        )
    return array.astype(np.int64)


def _read_only(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
