"""Training from end to end: the learner's decisions a second, against a recipe and a ceiling.

The recipe is the one that PettingZoo documents for stable-baselines3 with action masks, "SB3:
Action Masked PPO for Connect Four" (https://pettingzoo.farama.org/tutorials/sb3/connect_four/),
applied to `leduc_holdem_v4`: one environment in which the learner plays both seats, and default
hyperparameters. The ceiling is our own learner on environments that do nothing.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np

from benchmarks import peers
from benchmarks.batch import choose
from benchmarks.rounds import Scale, Turn, alternate, compared, per_round, timed
from benchmarks.tables import Table
from poke_env import streams

SECONDS = 4.0
"""A turn: several rollouts, and at least one of the recipe with its update."""


def measure(scale: Scale) -> list[Table]:
    """Learner's steps per second, and what the masks cost."""
    if not peers.installed("torch", "sb3_contrib"):
        return []
    import torch

    default_threads = torch.get_num_threads()
    with run_in_scratch() as run, run_in_scratch(snapshots=False) as fresh:
        own_threads = run.arguments.torch_threads
        free = free_model(run)
        learners: dict[str, tuple[int, Callable[[], int]]] = {
            "Poke, all defaults": (own_threads, partial(improve, run)),
            "Poke, before the first snapshot": (own_threads, partial(improve, fresh)),
            "the same learner, free environments": (own_threads, partial(learn, free)),
        }
        if peers.has_classic():
            recipe = recipe_model()
            for threads in sorted({default_threads, 1}, reverse=True):
                name = f"PettingZoo's recipe, torch threads {threads}"
                learners[name] = (threads, partial(learn, recipe))
            name = f"the same learner, {run.arguments.num_envs} of the recipe's environments"
            learners[name] = (own_threads, partial(learn, recipe_environments(run)))
        turns: dict[str, Turn] = {
            name: partial(timed, step=step, prepare=partial(torch.set_num_threads, threads))
            for name, (threads, step) in learners.items()
        }
        speeds = alternate(turns, scale, 0.0 if scale.quick else SECONDS)
        torch.set_num_threads(own_threads)
        masks = mask_table(run, speeds["Poke, all defaults"].rate, scale)
    torch.set_num_threads(default_threads)
    ours = speeds["Poke, all defaults"]
    rows = [
        (
            name,
            f"{speed.rate:,.0f}",
            str(learners[name][0]),
            f"{speed.cores:.1f}",
            *(("–", "–") if speed is ours else compared(ours, speed)),
        )
        for name, speed in speeds.items()
    ]
    speed_table = Table(
        "Training: the learner's decisions a second, rollouts and updates",
        ("", "steps/s", "torch threads", "cores busy", "Poke is faster by", "over rounds"),
        rows,
        f"Medians of {scale.rounds} alternating rounds. Poke: {about(run)}; opponents are the "
        f"current policy, {len(run.pool.snapshots)} snapshots and "
        f"{' and '.join(run.pool.scripted)}; evaluations and checkpoints are left out. The recipe "
        f"has its own defaults: 2 x 64, 10 epochs of minibatches of 64. Goals: 10 × the recipe, "
        f"0.6 × the free environments.",
        per_round(speeds),
    )
    return [speed_table, masks]


# --- ours -----------------------------------------------------------------------------------------


@contextmanager
def run_in_scratch(*, snapshots: bool = True, **changes: Any) -> Iterator[Any]:
    """A run of `training.maskable_ppo` in a folder that is removed.

    Args:
        snapshots: fill its pool, as it is from some hundred thousand steps on. Every snapshot that
            is met in a step is one more network to be asked.
        **changes: of its arguments.
    """
    from training import maskable_ppo
    from training.export import network_of

    with tempfile.TemporaryDirectory() as folder:
        arguments = maskable_ppo.Arguments(
            out=str(Path(folder) / "run"), total_steps=10**9, **changes
        )
        run = maskable_ppo.start(arguments)
        for step in range(arguments.pool_size if snapshots else 0):
            run.pool.add_snapshot(step, network_of(run.model.policy))
        try:
            yield run
        finally:
            run.close()


def improve(run: Any) -> int:
    """A rollout and an update, as the program makes them."""
    run.improve()
    return int(run.arguments.rollout_steps)


def about(run: Any) -> str:
    """The settings that speed depends on."""
    arguments = run.arguments
    return (
        f"{arguments.num_envs} environments, rollouts of {arguments.rollout_steps:,}, "
        f"{arguments.n_epochs} epochs of minibatches of {arguments.batch_size:,}, network "
        f"{' x '.join(map(str, arguments.hidden))}"
    )


def learn(model: Any) -> int:
    """A rollout and an update."""
    steps = model.n_steps * model.n_envs
    model.learn(steps, log_interval=None, reset_num_timesteps=False)
    return int(steps)


# --- the ceiling ----------------------------------------------------------------------------------


def free_model(run: Any) -> Any:
    """The learner of a run on environments that hand out the same arrays for ever."""
    from stable_baselines3.common.vec_env import VecEnv

    from training import maskable_ppo

    envs = run.model.env
    observations = envs.reset()
    masks = list(envs.action_masks().copy())

    class FreeEnv(VecEnv):
        """Observations and masks of the beginning of a match, and no work at all."""

        render_mode = None

        def __init__(self) -> None:
            super().__init__(envs.num_envs, envs.observation_space, envs.action_space)
            nothing = np.zeros(envs.num_envs, np.float32)
            infos: list[dict[str, Any]] = [{} for _ in range(envs.num_envs)]
            self._handed = observations, nothing, nothing.astype(np.bool_), infos

        def reset(self) -> Any:
            return observations

        def step_async(self, actions: Any) -> None:
            pass

        def step_wait(self) -> Any:
            return self._handed

        def close(self) -> None:
            pass

        def env_method(self, name: str, *args: Any, indices: Any = None, **more: Any) -> Any:
            return masks

        def has_attr(self, attr_name: str) -> bool:
            return attr_name == "action_masks"

        def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
            return [getattr(self, attr_name)] * self.num_envs

        def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
            setattr(self, attr_name, value)

        def env_is_wrapped(self, wrapper_class: Any, indices: Any = None) -> list[bool]:
            return [False] * self.num_envs

    return maskable_ppo.make_model(run.arguments, FreeEnv())


# --- the recipe -----------------------------------------------------------------------------------


class RecipeEnv(gymnasium.Env[Any, Any]):
    """A PettingZoo environment as one for Gymnasium, in which one policy plays all seats.

    As in the tutorial an observation is that of the next to move, and reward and end are those of
    the one who has just moved; the mask is looked up by a call of its own.
    """

    def __init__(self) -> None:
        from pettingzoo.classic import leduc_holdem_v4

        self.table = leduc_holdem_v4.env()
        first = self.table.possible_agents[0]
        self.observation_space = self.table.observation_space(first)["observation"]
        self.action_space = self.table.action_space(first)

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        """Deal anew."""
        self.table.reset(seed, options)
        return self._seen()["observation"], {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """One move of whoever is to move."""
        table, mover = self.table, self.table.agent_selection
        table.step(action)
        return (
            self._seen()["observation"], table._cumulative_rewards[mover],
            table.terminations[mover], table.truncations[mover], table.infos[mover],
        )  # fmt: skip

    def action_mask(self) -> Any:
        """Legal actions of whoever is to move."""
        return self._seen()["action_mask"]

    def _seen(self) -> Any:
        return self.table.observe(self.table.agent_selection)


def masked_recipe() -> Any:
    """The recipe's environment with its mask where MaskablePPO looks for it."""
    from sb3_contrib.common.wrappers import ActionMasker

    return ActionMasker(RecipeEnv(), lambda env: env.action_mask())


def recipe_model() -> Any:
    """The recipe's learner: MaskablePPO with all its defaults."""
    from sb3_contrib import MaskablePPO

    return MaskablePPO("MlpPolicy", masked_recipe(), seed=0, device="cpu")


def recipe_environments(run: Any) -> Any:
    """The learner of a run on as many of the recipe's environments."""
    from stable_baselines3.common.vec_env import DummyVecEnv

    from training import maskable_ppo

    envs = DummyVecEnv([masked_recipe] * run.arguments.num_envs)
    return maskable_ppo.make_model(run.arguments, envs)


# --- masks ----------------------------------------------------------------------------------------


def mask_table(run: Any, rate: float, scale: Scale) -> Table:
    """What looking up the masks costs, beside a step of the environments and of the learner."""
    from sb3_contrib.common.maskable.utils import get_action_masks

    envs = run.model.env
    envs.reset()
    actions = np.zeros(envs.num_envs, np.int64)
    generator = streams.generator(np.arange(2))

    def draw() -> None:
        choose(envs.action_masks().view(np.int8), generator, actions)

    def step() -> int:
        envs.step(actions)
        return int(envs.num_envs)

    def look_up() -> int:
        get_action_masks(envs)
        return int(envs.num_envs)

    speeds = alternate(
        {
            "looking up the masks": partial(timed, step=look_up),
            "a step of the environments": partial(timed, step=step, prepare=draw),
        },
        scale,
        0.05 if scale.quick else 0.5,
    )
    spent = {name: 1e6 / speed.rate for name, speed in speeds.items()}
    spent["a step of the learner, update included"] = 1e6 / rate
    masks = spent["looking up the masks"]
    return Table(
        "Training: masks",
        ("", "µs for one environment", "masks as a share of it"),
        [(name, f"{one:.2f}", f"{masks / one:.1%}") for name, one in spent.items()],
        f"{envs.num_envs} environments at once, opponents included.",
        per_round(speeds),
    )
