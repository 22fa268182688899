"""The Gymnasium vector adapter: many matches of one learner against an opponent, for every game.

Row i plays the matches of the single-agent environment (`poke_env.single`) with seed `seed + i`,
move for move; learner and opponent are asked for many rows at once.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from poke_env import engine, streams
from poke_env.agent import Agent, RandomAgent
from poke_env.games.base import Game
from poke_env.row_player import RowPlayer, as_actions, as_row_player, copies_for
from poke_env.single import check_seat
from poke_env.vector import BatchEnv, entropy, integer_array, row_words


class Played(NamedTuple):
    """What a step of all rows brought.

    Attributes:
        observations: float32 (B, F), the learner's; of the next match in rows that ended.
        masks: int8 (B, A), likewise.
        rewards: float64 (B,), the learner's.
        terminated, truncated: bool (B,).
        ended: int64 (k,), rows whose match ended.
        finals: float32 (k, F), what the learner saw at their end.
        seats: int64 (k,), where it sat.
        forfeits: int64 (k,), the seat that played an illegal action, -1 if none did.
    """

    observations: npt.NDArray[np.float32]
    masks: npt.NDArray[np.int8]
    rewards: npt.NDArray[np.float64]
    terminated: npt.NDArray[np.bool_]
    truncated: npt.NDArray[np.bool_]
    ended: npt.NDArray[np.int64]
    finals: npt.NDArray[np.float32]
    seats: npt.NDArray[np.int64]
    forfeits: npt.NDArray[np.int64]


class SingleAgentVectorEnv(VectorEnv[Any, Any, Any]):
    """Many matches against an opponent; a row that ends begins its next match in the same step.

    Args:
        num_envs: number of rows, B.
        opponent: plays the other seats of all rows; an `Agent`, by default a `RandomAgent`, or a
            `RowPlayer`. The environment keeps a copy of its own. An `Agent` with `act_batch` is
            reset once at every `reset`, since its choices depend on observation, mask and key
            alone; one that has only `act` gets a copy for each seat of each row, reset before every
            match.
        seat: the learner's, `"random"` (drawn anew for every match) or a number.
        match: unit of play that ends the episode.
        threads: as for `poke_env.vector.BatchEnv`.
        **settings: as for `poke_env.settings.Settings`.

    An illegal action ends the match of its row as a forfeit, the opponent's too; if that happens
    before the learner's first decision, the next `step` pays it, whatever the action of that row.
    `infos` holds `action_mask` int8 (B, A) and `seat` int64 (B,), and for rows that ended
    `final_obs` and `final_info` (with `illegal_action` and `forfeited_by` after a forfeit).
    """

    game: ClassVar[Game]
    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.SAME_STEP, "render_modes": []}

    def __init__(
        self,
        num_envs: int,
        opponent: Agent | RowPlayer | None = None,
        seat: str | int = "random",
        match: str = "deal",
        *,
        threads: int | None = None,
        **settings: Any,
    ) -> None:
        self.envs = BatchEnv(
            self.game, num_envs, seed=None, match=match, autoreset=False, copy=False,
            threads=threads, **settings,
        )  # fmt: skip
        self.num_envs = self.envs.num_envs
        self._seats = self.envs.settings.players
        self.seat = check_seat(seat, self._seats)
        player = RandomAgent() if opponent is None else copy.deepcopy(opponent)
        try:
            self._copies = copies_for(player, self._seats - 1)
            self.opponent = as_row_player(player, self._copies * self.num_envs)
        except ValueError as error:
            raise ValueError(f"opponent: {error}") from None
        self.single_observation_space = self.envs.single_observation_space
        self.single_action_space = self.envs.single_action_space
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)
        self._every = np.arange(self.num_envs)
        self._learners = np.zeros(self.num_envs, np.int64)
        self._decisions = np.zeros(self.num_envs, np.int64)
        self._words = np.zeros((self.num_envs, 4), np.uint32)
        self._carried = np.zeros(self.num_envs), np.zeros(self.num_envs, np.bool_)
        self._seeded = self._started = False

    # --- play -------------------------------------------------------------------------------------

    def begin(
        self, seed: int | Sequence[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        """`reset` without infos: observations (B, F) and masks (B, A), read-only."""
        words = row_words(self.num_envs, seed, streams.Purpose.PLAYERS)
        if words is None and not self._seeded:
            words = row_words(self.num_envs, entropy(), streams.Purpose.PLAYERS)
        self.envs.reset(seed, options)
        if words is not None:
            self._words = words
        self._seeded = True
        self._started = False  # until the opponent has played; it might raise
        self._begin_matches(self._every)
        self._carried = self._play_opponent()
        self._started = True
        return self._seen()

    def play(self, actions: Any) -> Played:
        """`step` without infos; its observations and masks are read-only, and the next call
        overwrites them.

        Raises:
            gymnasium.error.ResetNeeded: before `reset`.
            ValueError: for actions of another shape or type.
        """
        if not self._started:
            raise gymnasium.error.ResetNeeded("call reset() before step(): no match is going on")
        # A negative number is illegal, or ignored in rows that are over: no command of ours.
        numbers = np.maximum(integer_array("actions", actions, self.num_envs), engine.WAIT)
        self._started = False
        rewards, truncated = self._carried
        truncated |= self._advance(numbers, rewards)
        more, cut = self._play_opponent()
        rewards += more
        truncated |= cut
        over = self.envs.over
        ended = np.flatnonzero(over)
        seats = self._learners[ended]
        finals = self.envs.observe_rows(ended, seats)
        forfeits = self.envs.forfeits(ended)
        if len(ended):
            again = np.full(self.num_envs, engine.WAIT)
            again[ended] = engine.NEXT
            self.envs.advance(again)
            self._begin_matches(ended)
        self._carried = self._play_opponent()
        self._started = True
        return Played(
            *self._seen(), rewards, over & ~truncated, truncated, ended, finals, seats, forfeits
        )

    def _begin_matches(self, rows: npt.NDArray[np.int64]) -> None:
        """Draw the learner's seats and reset the opponent's players of new matches."""
        words, matches = self._words[rows], self.envs.matches[rows]
        if self.seat == "random":
            drawn = streams.decision_keys(words, matches, 0) % np.uint64(self._seats)
            self._learners[rows] = drawn.astype(np.int64)
        else:
            self._learners[rows] = self.seat
        self._decisions[rows] = 0
        for copied in range(self._copies):
            seeds = streams.decision_keys(words, matches, 1 + copied) >> np.uint64(1)
            self.opponent.begin(self._copies * rows + copied, seeds)

    def _play_opponent(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Play until every row waits for the learner or is over.

        Returns:
            What that brought the learner, float64 (B,), and rows that were cut, bool (B,).
        """
        envs = self.envs
        rewards = np.zeros(self.num_envs)
        truncated = np.zeros(self.num_envs, np.bool_)
        while True:
            seen, masks, players = envs.observe()
            moving = np.flatnonzero((players >= 0) & (players != self._learners))
            if not len(moving):
                return rewards, truncated
            self._decisions[moving] += 1
            keys = streams.decision_keys(
                self._words[moving], envs.matches[moving], self._seats - 1 + self._decisions[moving]
            )
            after = (players[moving] - self._learners[moving]) % self._seats
            asked = self._copies * moving + (after - 1) % self._copies
            actions = np.full(self.num_envs, engine.WAIT)
            chosen = self.opponent.act_rows(asked, seen[moving], masks[moving], keys)
            actions[moving] = as_actions(chosen, len(moving))
            acting = np.zeros(self.num_envs, np.bool_)
            acting[moving] = True
            truncated |= self._advance(actions, rewards, acting)

    def _advance(
        self,
        actions: npt.NDArray[np.int64],
        rewards: npt.NDArray[np.float64],
        acting: npt.NDArray[np.bool_] | None = None,
    ) -> npt.NDArray[np.bool_]:
        """One step, in which illegal actions are forfeits; adds the learner's rewards."""
        actions[self.envs.find_illegal(actions, acting)] = engine.FORFEIT
        self.envs.advance(actions)
        rewards += self.envs.rewards[self._every, self._learners]
        return self.envs.truncated

    def _seen(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int8]]:
        """What the learner sees, everywhere."""
        seen, masks, players = self.envs.observe()
        over = np.flatnonzero(players < 0)
        if len(over):  # the opponent forfeited before the learner's first decision
            seen = seen.copy()
            seen[over] = self.envs.observe_rows(over, self._learners[over])
        return seen, masks

    @property
    def learners(self) -> npt.NDArray[np.int64]:
        """The learner's seat in every row, int64 (B,), a copy."""
        return self._learners.copy()

    # --- Gymnasium --------------------------------------------------------------------------------

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Begin a match in every row and play up to the learner's first decisions.

        Args:
            seed: row i is seeded with `seed + i`, or with its own number of a list; None goes on
                with the streams.
            options: as for `poke_env.vector.BatchEnv.reset`.

        Returns:
            Observations float32 (B, F) and infos.
        """
        seen, masks = self.begin(seed, options)
        return np.array(seen), self._infos(masks)

    def step(
        self, actions: Any
    ) -> tuple[
        npt.NDArray[np.float32],
        npt.NDArray[np.float64],
        npt.NDArray[np.bool_],
        npt.NDArray[np.bool_],
        dict[str, Any],
    ]:
        """Carry out the learner's action in every row and play up to its next decisions.

        Raises:
            gymnasium.error.ResetNeeded: before `reset`.
            ValueError: for actions of another shape or type.
        """
        played = self.play(actions)
        infos = self._infos(played.masks)
        if len(played.ended):
            infos |= self._final_infos(played)
        return (np.array(played.observations), played.rewards, played.terminated,
                played.truncated, infos)  # fmt: skip

    def _infos(self, masks: npt.NDArray[np.int8]) -> dict[str, Any]:
        everywhere = np.ones(self.num_envs, np.bool_)
        return {
            "action_mask": np.array(masks), "_action_mask": everywhere,
            "seat": self._learners.copy(), "_seat": everywhere.copy(),
        }  # fmt: skip

    def _final_infos(self, played: Played) -> dict[str, Any]:
        ended = played.ended
        here = np.zeros(self.num_envs, np.bool_)
        here[ended] = True
        final_obs = np.full(self.num_envs, None, object)
        for row, seen in zip(ended, played.finals, strict=True):
            final_obs[row] = seen
        seats = np.zeros(self.num_envs, np.int64)
        seats[ended] = played.seats
        info = {
            "action_mask": np.zeros_like(self.envs.masks), "_action_mask": here.copy(),
            "seat": seats, "_seat": here.copy(),
        }  # fmt: skip
        forfeited = ended[played.forfeits >= 0]
        if len(forfeited):
            illegal = np.zeros(self.num_envs, np.bool_)
            illegal[forfeited] = True
            names = np.full(self.num_envs, None, object)
            names[forfeited] = [f"player_{seat}" for seat in played.forfeits if seat >= 0]
            info |= {
                "illegal_action": illegal, "_illegal_action": illegal.copy(),
                "forfeited_by": names, "_forfeited_by": illegal.copy(),
            }  # fmt: skip
        return {"final_obs": final_obs, "_final_obs": here, "final_info": info,
                "_final_info": here.copy()}  # fmt: skip

    def close_extras(self, **kwargs: Any) -> None:
        """Nothing is held open."""
