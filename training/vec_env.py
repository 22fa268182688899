"""The vector environment as stable-baselines3 asks for it, without a loop over rows in between.

    envs = BatchVecEnv(poke_v0.vector_env(256, opponent=agents.make("greedy")))
    model = MaskablePPO("MlpPolicy", envs, n_steps=16, batch_size=2048, gamma=1.0)

Any opponent of the vector environment will do; `training.pool.PoolPlayers` is another one in every
match.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from stable_baselines3.common.vec_env import VecEnv

from poke_env.single_vector import SingleAgentVectorEnv


class BatchVecEnv(VecEnv):
    """Matches of one learner, a row each, for MaskablePPO.

    The info of a row whose match ended holds `terminal_observation` float32 (F,),
    `TimeLimit.truncated`, `episode` (`r` return, `l` the learner's decisions, `t` seconds since the
    first match), `seat`, `forfeited_by` (None, or the seat that played an illegal action), and
    `opponent` if the opponent has `names` (B,). All others are empty.

    Args:
        envs: the matches.
        everybody: let observations be float32 (B, n F): what the learner knows, and behind it what
            every other seat knows, in turn. Not meant for players but for critics, who may see
            more than those they judge (`training.central_critic`); terminal observations have
            zeros there.

    Raises:
        ValueError: if `everybody` is asked for where matches may be cut: a critic would have to
            value the terminal observation.
    """

    def __init__(self, envs: SingleAgentVectorEnv, everybody: bool = False) -> None:
        self.envs = envs
        self.render_mode = None
        space = envs.envs.single_observation_space
        settings = envs.envs.settings
        self._others = settings.players - 1 if everybody else 0
        if everybody:
            if settings.max_deals is not None and settings.match != "deal":
                raise ValueError(
                    f"everybody, which a central critic needs, must be False where matches may "
                    f"be cut, but max_deals is {settings.max_deals}"
                )
            repeats = 1 + self._others
            space = spaces.Box(np.tile(space.low, repeats), np.tile(space.high, repeats))
        super().__init__(envs.num_envs, space, envs.single_action_space)
        self._masks = np.zeros(envs.envs.masks.shape, np.bool_)
        self._actions = np.zeros(envs.num_envs, np.int64)
        self._returns = np.zeros(envs.num_envs)
        self._lengths = np.zeros(envs.num_envs, np.int64)
        self._names = getattr(envs.opponent, "names", None)
        self._started = time.time()

    def reset(self) -> npt.NDArray[np.float32]:
        """Begin a match in every row, with the seeds of `seed` if it was called since the last."""
        seeds = [seed for seed in self._seeds if seed is not None]
        seen, masks = self.envs.begin(seeds if len(seeds) == self.num_envs else None)
        self._reset_seeds()
        self._reset_options()
        self._masks = masks.astype(np.bool_)
        self._returns[:] = 0.0
        self._lengths[:] = 0
        return self._seen(seen)

    def _seen(self, own: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """What the learner knows, and the others if they are to be shown."""
        rows = np.arange(self.num_envs)
        others = [
            self.envs.envs.observe_rows(rows, (self.envs.learners + after) % (1 + self._others))
            for after in range(1, 1 + self._others)
        ]
        return np.concatenate([own, *others], axis=1)

    def set_options(self, options: Any = None) -> None:
        """Rows take no reset options here; they would be lost."""
        if options:
            raise ValueError(f"rows take no reset options through this adapter, got {options!r}")
        super().set_options(options)

    def step_async(self, actions: npt.NDArray[np.int64]) -> None:
        """Note the actions (B,)."""
        self._actions = actions

    def step_wait(
        self,
    ) -> tuple[
        npt.NDArray[np.float32],
        npt.NDArray[np.float32],
        npt.NDArray[np.bool_],
        list[dict[str, Any]],
    ]:
        """Play on to the learner's next decisions: observations, rewards, dones, infos."""
        names = None if self._names is None else self._names.copy()
        played = self.envs.play(self._actions)
        self._masks = played.masks.astype(np.bool_)
        self._returns += played.rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        seconds = round(time.time() - self._started, 6)
        finals = np.pad(played.finals, ((0, 0), (0, self._others * played.finals.shape[1])))
        for row, final, seat, forfeit in zip(
            played.ended.tolist(), finals, played.seats.tolist(),
            played.forfeits.tolist(), strict=True,
        ):  # fmt: skip
            infos[row] = {
                "terminal_observation": final,
                "TimeLimit.truncated": bool(played.truncated[row]),
                "episode": {
                    "r": float(self._returns[row]), "l": int(self._lengths[row]), "t": seconds,
                },
                "seat": seat,
                "forfeited_by": None if forfeit < 0 else forfeit,
            }  # fmt: skip
            if names is not None:
                infos[row]["opponent"] = names[row]
        self._returns[played.ended] = 0.0
        self._lengths[played.ended] = 0
        dones = played.terminated | played.truncated
        rewards = played.rewards.astype(np.float32)
        return self._seen(played.observations), rewards, dones, infos

    def action_masks(self) -> npt.NDArray[np.bool_]:
        """The learner's legal actions in every row, bool (B, A)."""
        return self._masks

    def close(self) -> None:
        """Nothing is held open."""
        self.envs.close()

    # --- what stable-baselines3 asks of every row -------------------------------------------------

    def env_method(
        self, method_name: str, *method_args: Any, indices: Any = None, **method_kwargs: Any
    ) -> list[Any]:
        """`action_masks` of every row; there is no other method, since rows are no objects."""
        if method_name != "action_masks":
            raise AttributeError(f"rows have no method {method_name!r}; there is action_masks")
        return list(self._masks[self._get_indices(indices)])

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute of the whole, the same for every row."""
        value = getattr(self if attr_name == "action_masks" else self.envs, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Rows have no attributes of their own to be set."""
        raise AttributeError(f"rows have no attribute {attr_name!r} of their own")

    def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
        """Rows are never wrapped; returns and lengths are in the infos without a Monitor."""
        return [False for _ in self._get_indices(indices)]

    def _get_indices(self, indices: Any) -> Any:
        return np.arange(self.num_envs) if indices is None else np.atleast_1d(indices)
