"""The Gymnasium adapter for one learner, written once for every game.

The other seats are played by an opponent inside `step`; the learner gets all reward that falls
between its own decisions and the final one, whoever moved last.
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar, cast

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from poke_env import streams
from poke_env._checks import as_integer, shown
from poke_env.aec import RENDER_MODES, CardGameEnv, IllegalActionError
from poke_env.agent import Agent, RandomAgent, as_agent
from poke_env.row_player import copies_for


def check_seat(seat: Any, seats: int) -> str | int:
    """The learner's seat, "random" or a number.

    Raises:
        ValueError: naming what is allowed.
    """
    if isinstance(seat, str) and seat == "random":
        return seat
    number = as_integer(seat)
    if number is None or not 0 <= number < seats:
        raise ValueError(f"seat must be 'random' or one of {list(range(seats))}, got {shown(seat)}")
    return number


class SingleAgentEnv(gymnasium.Env[npt.NDArray[np.float32], Any]):
    """A match against an opponent.

    Args:
        opponent: plays the other seats; an `Agent`, by default a `RandomAgent`. The environment
            keeps a copy of its own and resets it at every reset; of a player that has only `act`,
            one for each seat.
        seat: the learner's, `"random"` (drawn at every reset) or a number.
        match: unit of play that ends the episode.
        render_mode, **settings: as for the AEC environment.

    An illegal action ends the match as a forfeit, the opponent's too; if that happens before the
    learner's first decision, the first `step` pays it, whatever its action. `info` holds
    `action_mask` (int8 (A,)), `seat`, and after a forfeit `illegal_action` and `forfeited_by`.
    """

    env_class: ClassVar[type[CardGameEnv]]
    metadata: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 1}

    def __init__(
        self,
        opponent: Agent | None = None,
        seat: str | int = "random",
        match: str = "deal",
        render_mode: str | None = None,
        **settings: Any,
    ) -> None:
        # Rendering is done here, from the learner's seat.
        self._env = self.env_class(match=match, **settings)
        if render_mode is not None:
            self._env.game.one_of("render_mode", render_mode, RENDER_MODES)
        self._seats = len(self._env.possible_agents)
        try:
            player = as_agent(RandomAgent() if opponent is None else opponent)
            copies = copies_for(player, self._seats - 1)
            self.opponents = tuple(copy.deepcopy(player) for _ in range(copies))
        except ValueError as error:
            raise ValueError(f"opponent: {error}") from None
        self.seat = check_seat(seat, self._seats)
        self.render_mode = render_mode
        agent = self._env.possible_agents[0]
        layout = cast(spaces.Dict, self._env.observation_space(agent))
        self.observation_space = layout["observation"]
        self.action_space = self._env.action_space(agent)
        self._learner = agent
        self._words = np.zeros(4, np.uint32)
        self._decisions = 0
        self._carried = 0.0
        self._started = False
        self._over = True

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[npt.NDArray[np.float32], dict[str, Any]]:
        """Begin a match and play up to the learner's first decision.

        Args:
            seed: restarts the streams of decks, seats and the opponent; None goes on with them.
            options: as for the AEC environment.

        Returns:
            Observation float32 (F,) and info.
        """
        checked = streams.check_seed(seed)
        self._env.reset(seed=checked, options=options)
        if checked is not None or not self._started:
            super().reset(seed=checked)
            # A stream of its own, so that decks are those of the AEC environment.
            self._words = streams.seed_words(checked, streams.Purpose.PLAYERS)
            self._started = True
        agents = self._env.possible_agents
        self._decisions = 0
        drawn = int(self._key(0) % np.uint64(self._seats))
        self._learner = agents[drawn if self.seat == "random" else int(self.seat)]
        for number, player in enumerate(self.opponents, 1):
            player.reset(int(self._key(number)) >> 1)
        self._over = True  # until the opponent has played; it might raise
        self._play_opponent()
        # The learner's first step forgets what was paid before it; after a match that is over by
        # then no step does.
        self._carried = 0.0 if self._finished() else self._unfetched
        self._over = False
        if self.render_mode == "human":
            self.render()
        return self._observe(), self._info()

    def step(
        self, action: Any
    ) -> tuple[npt.NDArray[np.float32], float, bool, bool, dict[str, Any]]:
        """Carry out the learner's action and play up to its next decision or the end.

        Raises:
            gymnasium.error.ResetNeeded: before `reset` or after the match is over.
        """
        env = self._env
        if self._over:
            raise gymnasium.error.ResetNeeded("call reset() before step(): no match is going on")
        self._over = True
        if not self._finished():
            self._act(action)
            self._play_opponent()
        reward = self._carried + self._unfetched
        self._carried = 0.0
        terminated = env.terminations[self._learner]
        truncated = env.truncations[self._learner]
        self._over = terminated or truncated
        if self.render_mode == "human":
            self.render()
        return self._observe(), reward, terminated, truncated, self._info()

    @property
    def _unfetched(self) -> float:
        """All reward of the learner since its last action."""
        return float(self._env._cumulative_rewards[self._learner])

    def _play_opponent(self) -> None:
        env = self._env
        while env.agent_selection != self._learner and not self._finished():
            self._decisions += 1
            key = self._key(self._seats - 1 + self._decisions)
            mover, learner = map(env.possible_agents.index, (env.agent_selection, self._learner))
            after = (mover - learner) % self._seats
            player = self.opponents[(after - 1) % len(self.opponents)]
            self._act(player.act(env.observe(env.agent_selection), key))

    def _key(self, number: int) -> np.uint64:
        """Keys of this match: 0 draws the learner's seat, then come seeds for the other seats in
        turn after it, then all their decisions."""
        match = int(self._env._rows["stream"]["match"][0])
        return streams.decision_key(*self._words.tolist(), match, match >> 32, number)

    def _act(self, action: Any) -> None:
        try:
            self._env.step(action)
        except IllegalActionError:
            self._env.forfeit()

    def _finished(self) -> bool:
        return self._env.terminations[self._learner] or self._env.truncations[self._learner]

    def _observe(self) -> npt.NDArray[np.float32]:
        return cast("npt.NDArray[np.float32]", self._env.observe(self._learner)["observation"])

    def _info(self) -> dict[str, Any]:
        info = dict(self._env.infos[self._learner])
        info["action_mask"] = info["action_mask"].copy()
        info["seat"] = self._env.possible_agents.index(self._learner)
        return info

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The learner's legal actions, bool (A,), as sb3-contrib asks for them."""
        return cast(
            "npt.NDArray[np.bool_]", self._env.observe(self._learner)["action_mask"].astype(bool)
        )

    def render(self) -> Any:
        """Show the table as the learner sees it, or as `render_view` says."""
        if not self._started:
            raise gymnasium.error.ResetNeeded("call reset() before render()")
        if self.render_mode is None:
            return self._env.render()
        return self._env.picture(self.render_mode, self._env.render_view or self._learner)

    @property
    def opponent(self) -> Agent:
        """Who plays the seat after the learner's, and all others where one can play them all."""
        return self.opponents[0]

    @property
    def aec(self) -> CardGameEnv:
        """The AEC environment inside, for looking only."""
        return self._env

    @property
    def score_sheet(self) -> Any:
        """The pad: running score and all finished deals, by player."""
        return self._env.score_sheet

    def close(self) -> None:
        """Nothing is held open; closing twice is fine."""
        self._env.close()
