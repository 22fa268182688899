"""Train a player by self-play with MaskablePPO: `python -m training.maskable_ppo --minutes 2`.

The learner plays single-agent environments from every seat, in any of the games (`--game`). Whom it
meets is drawn anew for every match (`training.pool`): its own current policy, an immutable snapshot
of an earlier one, or a scripted player; who is drawn has all other seats, a partner's too. Progress
is measured in duplicate deals against fixed players, with the exported network, which is what
others will play against. A run may begin with a teacher, whom the learner imitates before it plays
for itself (`training.imitation`).

A run is one folder:

    arguments.json            what was asked for, with the commands and the versions of packages
    model.safetensors, .json  the player, as of the last checkpoint
    best_model.*              the player of the best evaluation; best/ keeps those before it
    evaluations.json          all evaluations
    checkpoints/step_N.zip    all that is needed to go on (`--resume FOLDER`)
    checkpoints/step_N.*      the player at that step
    snapshots/step_N.*        the opponents in the pool
    tensorboard/              curves: `tensorboard --logdir FOLDER/tensorboard`

Curves, all over the number of the learner's decisions:

    rollout/ep_rew_mean              scaled reward of a match, mean of the last 100
    rollout/ep_len_mean              the learner's decisions in a match
    opponents/NAME/win_rate          matches that brought points since the last update, those that
                                     brought none counted as half
    opponents/NAME/points            mean points of these matches (equity, where that is paid)
    opponents/NAME/matches           their number
    evaluation/NAME/margin           points a match in duplicate matches
    evaluation/NAME/margin_low, _high  its 95 % interval
    evaluation/score                 mean of the margins, which decides about best_model
    train/entropy_loss               minus the policy's mean entropy in nats
    train/approx_kl, clip_fraction   how far an update moved the policy
    train/explained_variance         how well the critic foretells returns; 1 is perfect
    train/value_loss, policy_gradient_loss, loss     parts of the loss and the whole
    train/imitation_loss, agreement  surprise at what the teacher does, in nats, and the mean
                                     probability of it
    train/learning_rate, clip_range, ent_coef        as scheduled
    time/fps                         the learner's decisions a second in the last iteration

Checkpoints are stable-baselines3's zip files, which hold pickles: resume only runs of your own.
Players to pass on are the safetensors files.
"""

from __future__ import annotations

import io
import json
import math
import shlex
import time
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import torch
import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import Logger, TensorBoardOutputFormat
from stable_baselines3.common.utils import LinearSchedule
from stable_baselines3.common.vec_env import VecEnv
from torch import nn
from torch.utils.tensorboard import SummaryWriter

import agents
import poke_env
from agents.network import Network, NetworkAgent
from poke_env import _files, games, observation
from poke_env._checks import check_integer
from poke_env.agent import Agent
from poke_env.equity import has_table, table_for
from poke_env.games.base import Game
from poke_env.settings import Settings
from training import cli, duplicate
from training.central_critic import CentralCriticPolicy
from training.export import command, copy_model, network_of, save_model, versions
from training.imitation import imitate
from training.meeting import Duel
from training.pool import OpponentPool, PoolPlayers, Tally
from training.rounding import mean, reach
from training.vec_env import BatchVecEnv


@dataclass(frozen=True)
class Arguments:
    """Self-play training with MaskablePPO."""

    total_steps: int | None = 2_000_000
    """stop after so many decisions of the learner, rounded up to whole rollouts; None: no limit"""
    minutes: float | None = None
    """stop after so many minutes, evaluations included; None: no limit"""
    seed: int = 0
    """of weights, decks, opponents and minibatches"""
    out: str | None = None
    """folder of the run, a new one; by default runs/GAME-DATE-TIME"""
    resume: str | None = None
    """folder of a run to go on with; of its arguments only lengths and cadences can be changed"""

    game: str = agents.DEFAULT_GAME
    """which of the games to learn"""
    players: int | None = None
    """how many sit at the table, where the game leaves a choice"""
    rules: str = "standard"
    """preset of rules: standard, small or tiny"""
    match: str = "deal"
    """what the learner plays: deal or a longer one of the game's, such as game or rubber"""
    reward: str | None = None
    """what the learner is paid: points, win, or in Poke equity. By default equity for deals by
    rules that have a table, so that a single deal is an honest part of a rubber, and points
    elsewhere. Evaluations always count points"""
    start_scores: int | None = None
    """number of scores, as they occur in rubbers, at which matches begin, drawn anew for each; 0:
    they begin at 0. By default 4,096 for deals that are paid in equity, and 0 elsewhere"""
    reward_scale: float | None = None
    """factor from points to rewards. Learning rate, value loss and gradient clipping want returns
    near 1. By default 1 / the standard deviation of points in a deal among random players (in Poke
    1 / 500), and 1 for reward win"""

    num_envs: int = 256
    """matches that are played at once; learner and opponents are asked for all of them together"""
    n_steps: int = 16
    """decisions in each environment between two updates"""
    batch_size: int = 1024
    """decisions in a minibatch"""
    n_epochs: int = 2
    """passes over the decisions of a rollout in an update"""
    learning_rate: float = 1e-3
    """of Adam at the start; it falls linearly over the run, in steps or minutes"""
    final_learning_rate: float = 1e-4
    """of Adam at the end"""
    ent_coef: float = 0.05
    """bonus for entropy at the start. Self-play in a game of hidden cards needs a mixed policy:
    with the 0 to 0.01 that is usual elsewhere it collapses early; 0.05 to 0.1 is known to work"""
    final_ent_coef: float = 0.005
    """bonus for entropy at the end, reached linearly, so that the player settles"""
    clip_range: float = 0.2
    """how far an update may change the probability of a decision"""
    gamma: float = 1.0
    """discount; a match is short and its points count at the end"""
    gae_lambda: float = 0.95
    """of generalised advantage estimation: 1 trusts returns only, 0 the critic only"""
    vf_coef: float = 0.5
    """weight of the value loss"""
    max_grad_norm: float = 0.5
    """gradients are clipped to this length"""
    hidden: tuple[int, ...] = (256, 256)
    """sizes of the hidden layers of policy and critic, which share nothing"""
    central_critic: bool | None = None
    """let the critic see every hand (`training.central_critic`); the policy never does. By default
    where that can be: not where a match may be cut, as a game of Pokex is after 100 deals"""
    torch_threads: int = 1
    """threads of PyTorch. A second one speeds up the updates, a third of the time, on an idle
    machine; beside a busy neighbour its threads wait for each other and all is many times slower"""

    teacher: str | None = None
    """player to imitate before playing for oneself, written as in scripted"""
    teacher_share: float = 0.75
    """how much of the run belongs to the teacher, if there is one"""

    current_share: float = 0.5
    """chance that a match is against the current policy"""
    snapshot_share: float = 0.4
    """chance that a match is against a snapshot"""
    scripted_share: float = 0.1
    """chance that a match is against a scripted player"""
    scripted: tuple[str, ...] = ("random", "greedy")
    """scripted players to train against: names, model files or package.module:factory. An
    evaluation says most about players that are not among them"""
    pool_size: int = 20
    """most snapshots in the pool; the oldest leaves. A few of them, drawn anew for every rollout,
    are met at a time"""
    snapshot_every: int = 25_000
    """steps between snapshots"""

    evaluate_every: int = 100_000
    """steps between evaluations"""
    evaluation_pairs: int = 250
    """deck orders against each opponent in an evaluation, each played from every side"""
    evaluation_opponents: tuple[str, ...] = ("random", "greedy", "heuristic")
    """players to be measured against, written as in scripted"""
    deterministic: bool = False
    """whether the exported player takes its likeliest action instead of sampling, in evaluations
    and afterwards; training and its opponents always sample"""
    checkpoint_every: int = 100_000
    """steps between checkpoints, at least a rollout; what a killed run loses at most"""

    def check(self) -> None:
        """Raise ValueError, in one sentence, for a value that makes no sense."""
        for name in _COUNTS:
            check_integer(name, getattr(self, name), 1)
        check_integer("total_steps", self.total_steps, 1, or_none=True)
        if self.total_steps is None and self.minutes is None:
            raise ValueError("total_steps or minutes must be given, or training would never end")
        check_integer("seed", self.seed, 0)
        for name in _RATES:
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value >= 0):
                raise ValueError(f"{name} must be a number of at least 0, got {value!r}")
        if self.minutes is not None and not 0 < self.minutes < math.inf:
            raise ValueError(f"minutes must be a number above 0, got {self.minutes!r}")
        for size in self.hidden:
            check_integer("hidden", size, 1)
        if self.teacher_share > 1:
            raise ValueError(f"teacher_share must be at most 1, got {self.teacher_share!r}")
        if self.batch_size > self.rollout_steps:
            raise ValueError(
                f"batch_size must be at most num_envs * n_steps = {self.rollout_steps}, "
                f"got {self.batch_size}"
            )
        if self.checkpoint_every < self.rollout_steps:
            raise ValueError(
                f"checkpoint_every must be at least num_envs * n_steps = {self.rollout_steps}, "
                f"since a checkpoint follows an update, got {self.checkpoint_every}"
            )
        shares = self.current_share, self.snapshot_share, self.scripted_share
        if abs(sum(shares) - 1.0) > 1e-6:
            raise ValueError(
                f"current_share, snapshot_share and scripted_share must add up to 1, got {shares}"
            )
        check_integer("start_scores", self.start_scores, 0, 10**6, or_none=True)
        cut = self._cut_after(self.environment()["rules"])
        if self.central_critic and cut is not None:
            raise ValueError(
                f"central_critic must be False or None where matches are cut, as a {self.match} of "
                f"{self.game} is after {cut} deals, got True: who saw every hand would have to "
                f"value the position in which it is cut"
            )

    def environment(self) -> dict[str, Any]:
        """The settings of the environments, defaults chosen by game, match and rules.

        Raises:
            ValueError: for what the game has not, or rules that have no equity table where one is
                needed.
        """
        game = self.played
        rules = game.rules_for(self.rules, self.players)
        game.one_of("match", self.match, game.matches)
        reward, starts, scale = self.reward, self.start_scores, self.reward_scale
        if reward is None:
            honest = self.match == "deal" and has_table(game, rules)
            reward = "equity" if honest else "points"
        game.one_of("reward", reward, game.rewards)
        if starts is None:
            starts = _STARTS if self.match == "deal" and reward == "equity" else 0
        if scale is None:
            scale = 1.0 if reward == "win" else 1 / game.spread
        if self.start_scores and not has_table(game, rules):
            raise ValueError(
                f"start_scores must be 0 or None in games and rules without an equity table, which "
                f"knows how often each score occurs, got {self.start_scores} for {self.rules} "
                f"{game.name}"
            )
        table = table_for(game, rules, None) if starts or reward == "equity" else None
        return {
            "match": self.match,
            "reward": reward,
            "rules": rules,
            "reward_scale": scale,
            "start_scores": table.start_scores(starts, self.seed) if starts and table else None,
        }

    @property
    def played(self) -> Game:
        """The game to learn."""
        return games.named(self.game)

    @property
    def sees_all(self) -> bool:
        """Whether the critic sees every hand."""
        if self.central_critic is None:
            return self._cut_after(self.environment()["rules"]) is None
        return self.central_critic

    def _cut_after(self, rules: Any) -> int | None:
        """After how many deals a match is cut; None if it never is."""
        if self.match == "deal":
            return None
        return Settings(self.played, self.match, rules=rules).max_deals

    @property
    def rollout_steps(self) -> int:
        """Decisions between two updates."""
        return self.num_envs * self.n_steps


_STARTS = 4096
"""Scores at which deals begin: enough for each to come about as often as in rubbers."""
_COUNTS = (
    "num_envs", "n_steps", "batch_size", "n_epochs", "torch_threads", "pool_size",
    "snapshot_every", "evaluate_every", "evaluation_pairs", "checkpoint_every",
)  # fmt: skip
_RATES = (
    "reward_scale", "learning_rate", "final_learning_rate", "ent_coef", "final_ent_coef",
    "clip_range", "gamma", "gae_lambda", "vf_coef", "max_grad_norm", "current_share",
    "snapshot_share", "scripted_share", "teacher_share",
)  # fmt: skip
_CHANGEABLE = {
    "total_steps", "minutes", "torch_threads", "evaluate_every", "evaluation_pairs",
    "checkpoint_every", "resume",
}  # fmt: skip
"""What may be another when a run is resumed."""


# --- environments ---------------------------------------------------------------------------------


def make_envs(arguments: Arguments, pool: OpponentPool) -> VecEnv:
    """The environments of a run: the one place that knows how they are stepped.

    Whatever is returned must offer `action_masks` through `env_method` and put `opponent` and
    `episode` into the info of a match that ended.
    """
    return BatchVecEnv(
        poke_env.door(arguments.game).vector_env(
            arguments.num_envs,
            PoolPlayers(pool, arguments.num_envs),
            **arguments.environment(),
        ),
        everybody=arguments.sees_all,
    )


class TallyMatches(BaseCallback):
    """Counts the matches of a rollout by kind of opponent."""

    def __init__(self, reward_scale: float) -> None:
        super().__init__()
        self.reward_scale = reward_scale
        self.tallies: dict[str, Tally] = {}

    def _on_rollout_start(self) -> None:
        self.tallies = {}

    def _on_step(self) -> bool:
        for index in np.flatnonzero(self.locals["dones"]):
            info = self.locals["infos"][index]
            tally = self.tallies.setdefault(info["opponent"], Tally())
            # Returns are summed in float32, so that a draw may leave a rest.
            tally.add(round(float(info["episode"]["r"]) / self.reward_scale, 2))
        return True


# --- the learner ----------------------------------------------------------------------------------


class ScheduledPPO(MaskablePPO):
    """MaskablePPO whose schedules follow a whole run instead of one call of `learn`.

    Attributes:
        remaining: share of the run that is left, 1 to 0, set by the training loop.
        teacher: who is imitated in the next updates, likewise; None where there is nobody.
    """

    remaining = 1.0
    teacher: Agent | None = None

    def train(self) -> None:
        """Update the policy from the rollout."""
        if self.teacher is None:
            super().train()
        else:
            chance = np.random.default_rng([self.seed or 0, self.num_timesteps])
            policy = self.policy
            own = policy.own if isinstance(policy, CentralCriticPolicy) else policy.features_dim
            imitate(self, self.teacher, own, chance)

    def _excluded_save_params(self) -> list[str]:
        return [*super()._excluded_save_params(), "teacher"]

    def _update_current_progress_remaining(self, num_timesteps: int, total_timesteps: int) -> None:
        self._current_progress_remaining = self.remaining

    def _setup_learn(self, *args: Any, **kwargs: Any) -> Any:
        if self.env is None:
            raise ValueError("the model has no environment: load it with env=make_envs(...)")
        return super()._setup_learn(*args, **kwargs)


class ContinuedTensorBoard(TensorBoardOutputFormat):
    """Curves that go on from a step; what an interrupted run wrote beyond it no longer shows."""

    def __init__(self, folder: str, step: int) -> None:
        self.writer = SummaryWriter(log_dir=folder, purge_step=step + 1)
        self._is_closed = False


def make_model(arguments: Arguments, envs: VecEnv) -> ScheduledPPO:
    """An untrained learner."""
    policy: type[MaskableActorCriticPolicy] = MaskableActorCriticPolicy
    more: dict[str, Any] = {}
    if arguments.sees_all:
        policy, more = CentralCriticPolicy, {"own": observation.length(arguments.played)}
    return ScheduledPPO(
        policy,
        envs,
        learning_rate=LinearSchedule(
            arguments.learning_rate, arguments.final_learning_rate, end_fraction=1.0
        ),
        n_steps=arguments.n_steps,
        batch_size=arguments.batch_size,
        n_epochs=arguments.n_epochs,
        gamma=arguments.gamma,
        gae_lambda=arguments.gae_lambda,
        clip_range=arguments.clip_range,
        ent_coef=arguments.ent_coef,
        vf_coef=arguments.vf_coef,
        max_grad_norm=arguments.max_grad_norm,
        policy_kwargs={
            "net_arch": {"pi": list(arguments.hidden), "vf": list(arguments.hidden)},
            "activation_fn": nn.ReLU,
            **more,
        },
        seed=arguments.seed,
        device="cpu",
    )


# --- a run ----------------------------------------------------------------------------------------


@dataclass
class Run:
    """A training run: the learner, its opponents, and the folder in which everything is kept.

    Attributes:
        arguments: what was asked for.
        folder: of the run.
        pool: opponents.
        model: the learner.
        opponents: whom evaluations are against.
        teacher: who is imitated at first, if anybody.
        evaluations: one record an evaluation and opponent.
        elapsed: seconds of training before this process.
    """

    arguments: Arguments
    folder: Path
    pool: OpponentPool
    model: ScheduledPPO
    opponents: dict[str, Agent]
    teacher: Agent | None
    evaluations: list[dict[str, Any]] = field(default_factory=list)
    elapsed: float = 0.0

    def __post_init__(self) -> None:
        # The one place where it is set. Rollouts run on one core whatever it is.
        torch.set_num_threads(self.arguments.torch_threads)
        self._started = time.monotonic()
        game, environment = self.arguments.played, self.arguments.environment()
        self._rules, reward = environment["rules"], environment["reward"]
        self._tally = TallyMatches(environment["reward_scale"])
        table = table_for(game, self._rules, None) if reward == "equity" else None
        self._paid = {
            "reward": reward,
            "equity_table": None if table is None else [table.version, table.digest],
        }
        tensorboard = ContinuedTensorBoard(str(self.folder / "tensorboard"), self.steps)
        self.model.set_logger(Logger(str(self.folder), [tensorboard]))
        # Whoever resumes must not meet the same decks again.
        words = np.random.SeedSequence([self.arguments.seed, self.steps]).generate_state(1)
        self.model.set_random_seed(int(words[0]) >> 1)

    @property
    def steps(self) -> int:
        """Decisions of the learner so far."""
        return int(self.model.num_timesteps)

    @property
    def seconds(self) -> float:
        """Seconds of training so far, in this and earlier processes."""
        return self.elapsed + time.monotonic() - self._started

    @property
    def progress(self) -> float:
        """Share of the run that is done, 0 to 1, by steps or by time, whichever is further."""
        return _progress(self.arguments, self.steps, self.seconds)

    def warm_up(self) -> None:
        """Play with everybody once, so that everything is compiled, and then start the clock."""
        for opponent in (*self.pool.scripted.values(), *self.opponents.values()):
            self._play(NetworkAgent(self.pool.current), opponent, 1)
        self._started = time.monotonic()

    def improve(self) -> None:
        """One iteration: collect a rollout and update the policy from it."""
        first, last = self.arguments.ent_coef, self.arguments.final_ent_coef
        progress = self.progress
        remaining = 1.0 - progress
        self.model.remaining = remaining
        self.model.ent_coef = last + remaining * (first - last)
        taught = progress < self.arguments.teacher_share
        self.model.teacher = self.teacher if taught else None
        self.pool.choose_in_play(self.steps)
        self.model.learn(
            self.arguments.rollout_steps,
            callback=self._tally,
            log_interval=None,  # type: ignore[arg-type]  # curves are written below
            reset_num_timesteps=False,
        )
        for name, tally in sorted(self._tally.tallies.items()):
            self.pool.results.setdefault(name, Tally()).merge(tally)
            record = self.model.logger.record
            record(f"opponents/{name}/win_rate", (tally.wins + tally.draws / 2) / tally.matches)
            record(f"opponents/{name}/points", tally.points / tally.matches)
            record(f"opponents/{name}/matches", tally.matches)
        self.model.logger.record("train/ent_coef", self.model.ent_coef)
        self.model.dump_logs()
        self.pool.current = network_of(self.model.policy)

    def take_snapshot(self) -> None:
        """Put the current policy into the pool, and on disk for a run that goes on later."""
        self.pool.add_snapshot(self.steps, self.pool.current)
        self._save_player(self.folder / "snapshots" / _step_name(self.steps))

    def evaluate(self) -> list[dict[str, Any]]:
        """Measure the current policy in duplicate matches, and keep it if it is the best so far.

        Decks are the same in every evaluation, so that two of them differ by the player alone.
        """
        if not self.opponents:
            return []
        player = NetworkAgent(self.pool.current, deterministic=self.arguments.deterministic)
        found = [self._measure(player, name) for name in self.opponents]
        self.evaluations += found
        score = float(np.mean([record["margin"] for record in found]))
        record = self.model.logger.record
        record("evaluation/score", score)
        for result in found:
            for key in ("margin", "margin_low", "margin_high"):
                record(f"evaluation/{result['opponent']}/{key}", result[key])
        self.model.logger.dump(self.steps)
        content = json.dumps(self.evaluations, indent=2) + "\n"
        _files.write(self.folder / "evaluations.json", content)
        if score > _best(self.folder)[0]:
            self._save_player(self.folder / "best" / _step_name(self.steps), score=score)
            self._save_player(self.folder / "best_model", score=score)
        return found

    def _measure(self, player: NetworkAgent, name: str) -> dict[str, Any]:
        opponent = self.opponents[name]
        duel = self._play(player, opponent, self.arguments.evaluation_pairs)
        low, high = duel.interval()
        return {
            "step": self.steps,
            "opponent": name,
            "match": self.arguments.match,
            "pairs": len(duel),
            "seed": self.arguments.seed,
            "margin": duel.mean,
            "margin_low": low,
            "margin_high": high,
            "wins": duel.wins,
            "draws": duel.draws,
            "losses": duel.losses,
            "forfeits": [asdict(forfeit) for forfeit in duel.forfeits],
            "deterministic": player.deterministic,
            "opponent_deterministic": getattr(opponent, "deterministic", None),
        }

    def _play(self, player: Agent, opponent: Agent, pairs: int) -> Duel:
        arguments = self.arguments
        return duplicate.play(
            player, opponent, pairs, arguments.seed, game=arguments.game, match=arguments.match,
            rules=self._rules,
        )  # fmt: skip

    def save_checkpoint(self) -> None:
        """Write all that is needed to go on, and the player as it is now."""
        state = {
            "steps": self.steps,
            "seconds": self.seconds,
            "snapshots": list(self.pool.snapshots),
            "results": {name: asdict(tally) for name, tally in self.pool.results.items()},
            "evaluations": self.evaluations,
        }
        content = io.BytesIO()
        self.model.save(content)
        with zipfile.ZipFile(content, "a") as archive:
            archive.writestr(_STATE, json.dumps(state))
        name = _step_name(self.steps)
        self._save_player(self.folder / "checkpoints" / name)
        self._save_player(self.folder / "model")
        # The zip comes last: where it is, the players of its step are there too.
        _files.write(self.folder / "checkpoints" / f"{name}.zip", content.getvalue())

    def close(self) -> None:
        """Finish the curves."""
        self.model.logger.close()

    def _save_player(self, path: Path, **more: Any) -> None:
        save_model(
            path,
            self.pool.current,
            self.arguments.played,
            self._rules,
            deterministic=self.arguments.deterministic,
            training={
                "algorithm": "MaskablePPO",
                "steps": self.steps,
                "seed": self.arguments.seed,
                "arguments": asdict(self.arguments),
                "command": command(),
                **self._paid,
                **more,
                "curve": [{key: record[key] for key in _CURVE} for record in self.evaluations],
            },
        )


def _progress(arguments: Arguments, steps: int, seconds: float) -> float:
    done = 0.0
    if arguments.total_steps is not None:
        done = steps / arguments.total_steps
    if arguments.minutes is not None:
        done = max(done, seconds / (60 * arguments.minutes))
    return min(done, 1.0)


_CURVE = ("step", "opponent", "margin", "margin_low", "margin_high")
"""What a player says of each evaluation before it."""
_STATE = "self_play.json"
"""What stands in a checkpoint beside stable-baselines3's own parts."""


def _step_name(steps: int) -> str:
    return f"step_{steps:09d}"


def _best(folder: Path) -> tuple[float, Path]:
    """The best score of a run so far, and the player that reached it (if there is one)."""
    scores = [
        (float(json.loads(path.read_text())["training"]["score"]), path.with_suffix(""))
        for path in (folder / "best").glob("step_*.json")
    ]
    return max(scores, default=(-math.inf, folder))


def _make_pool(arguments: Arguments) -> OpponentPool:
    """The opponents; until there is a policy, the current one plays at random."""
    game = arguments.played
    size, actions = observation.length(game), game.num_actions(arguments.environment()["rules"])
    return OpponentPool(
        Network((size, actions), "relu", np.zeros((size + 1) * actions, np.float32)),
        (arguments.current_share, arguments.snapshot_share, arguments.scripted_share),
        _load(arguments.scripted, game),
        arguments.pool_size,
    )


def _players(arguments: Arguments) -> tuple[dict[str, Agent], Agent | None]:
    """Whom evaluations are against, and the teacher."""
    game, teacher = arguments.played, arguments.teacher
    opponents = _load(arguments.evaluation_opponents, game)
    return opponents, None if teacher is None else agents.load(teacher, game=game)


def _load(names: Iterable[str], game: Game) -> dict[str, Agent]:
    return {name: agents.load(name, game=game) for name in names}


def start(arguments: Arguments) -> Run:
    """Begin a run in a new folder.

    Raises:
        ValueError: if the folder holds something already.
        OSError: if it cannot be written to.
    """
    arguments.check()
    folder = Path(arguments.out or f"runs/{arguments.game}-{datetime.now():%Y%m%d-%H%M%S}")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ValueError(
            f"out {str(folder)!r} exists already and nothing is overwritten: name another folder, "
            f"or go on with --resume {shlex.quote(str(folder))}"
        )
    pool = _make_pool(arguments)
    players = _players(arguments)
    model = make_model(arguments, make_envs(arguments, pool))
    pool.current = network_of(model.policy)
    _files.writable_folder(folder)
    # First of all, so that a run that is killed can be resumed at any moment.
    _write_arguments(folder, arguments, [])
    _make_folders(folder)
    return Run(arguments, folder, pool, model, *players)


def _make_folders(folder: Path) -> None:
    for name in ("best", "checkpoints", "snapshots", "tensorboard"):
        (folder / name).mkdir(exist_ok=True)


def resume(arguments: Arguments) -> Run:
    """Go on with the run in the folder `arguments.resume`, from its last checkpoint.

    One that was stopped before its first checkpoint begins anew.

    Raises:
        ValueError: if there is no run, an argument differs from those of the run without being one
            that may, or nothing is left to do.
    """
    arguments.check()
    folder = Path(arguments.resume or "")
    stored, sessions = _read_arguments(folder)
    for name in (argument.name for argument in fields(Arguments)):
        asked, was = getattr(arguments, name), getattr(stored, name)
        if asked != was and name not in _CHANGEABLE:
            raise ValueError(
                f"{name} is {asked!r}, but the run in {str(folder)!r} has {was!r}; when it is "
                f"resumed only {', '.join(sorted(_CHANGEABLE - {'resume'}))} can be changed"
            )
    pool = _make_pool(arguments)
    players = _players(arguments)
    checkpoints = sorted((folder / "checkpoints").glob("step_*.zip"))
    if not checkpoints:
        model = make_model(arguments, make_envs(arguments, pool))
        pool.current = network_of(model.policy)
        _make_folders(folder)
        _write_arguments(folder, arguments, sessions)
        return Run(arguments, folder, pool, model, *players)
    checkpoint = checkpoints[-1].with_suffix("")
    state = _read_state(checkpoints[-1])
    if _progress(arguments, state["steps"], state["seconds"]) >= 1.0:
        raise ValueError(
            f"run {str(folder)!r} is complete with {state['steps']} steps in "
            f"{state['seconds'] / 60:.1f} minutes: ask for more total_steps or minutes"
        )
    pool.current = NetworkAgent(checkpoints[-1].with_suffix(".safetensors")).network
    for step in state["snapshots"]:
        path = folder / "snapshots" / f"{_step_name(step)}.safetensors"
        pool.add_snapshot(step, NetworkAgent(path).network)
    pool.results = {name: Tally(**tally) for name, tally in state["results"].items()}
    model = load_checkpoint(checkpoints[-1], make_envs(arguments, pool))
    # A process that was killed while it replaced them may have left halves that do not fit.
    copy_model(checkpoint, folder / "model")
    score, best = _best(folder)
    if score > -math.inf:
        copy_model(best, folder / "best_model")
    _write_arguments(folder, arguments, sessions)
    return Run(arguments, folder, pool, model, *players, state["evaluations"], state["seconds"])


def _read_state(checkpoint: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(checkpoint) as archive:
            state: dict[str, Any] = json.loads(archive.read(_STATE))
            return state
    except (zipfile.BadZipFile, KeyError, ValueError) as error:
        raise ValueError(
            f"checkpoint {str(checkpoint)!r} is damaged: {error}; without it the one before it "
            f"is taken"
        ) from error


def load_checkpoint(path: Path, envs: VecEnv | None = None) -> ScheduledPPO:
    """The learner of a checkpoint. It is a pickle and may run code: load files of your own only.

    Args:
        path: `checkpoints/step_N.zip` of a run.
        envs: what it is to be trained on; None if it only plays.
    """
    return ScheduledPPO.load(path, env=envs, device="cpu")


def stored_arguments(folder: Path) -> Arguments:
    """With what arguments the run in a folder goes on unless others are given.

    Raises:
        ValueError: if the folder holds no run, or one of another version.
    """
    return _read_arguments(folder)[0]


_ARGUMENTS = "arguments.json"


def _write_arguments(folder: Path, arguments: Arguments, sessions: list[dict[str, Any]]) -> None:
    sessions = [*sessions, {"command": command(), "versions": versions()}]
    # The folder may be moved, so it is not part of what is stored.
    about = {"arguments": asdict(replace(arguments, out=None, resume=None)), "sessions": sessions}
    _files.write(folder / _ARGUMENTS, json.dumps(about, indent=2) + "\n")


def _read_arguments(folder: Path) -> tuple[Arguments, list[dict[str, Any]]]:
    path = folder / _ARGUMENTS
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in about["arguments"].items()
        }
        return Arguments(**values), list(about["sessions"])
    except OSError as error:
        raise ValueError(
            f"resume {str(folder)!r} must be the folder of a run, but it has no {_ARGUMENTS}"
        ) from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ValueError(f"{str(path)!r} is damaged or of another version: {error}") from error


# --- the loop -------------------------------------------------------------------------------------


def train(arguments: Arguments, console: Console | None = None) -> Path:
    """Train a player, from the beginning or from a checkpoint.

    Args:
        arguments: what to do.
        console: where progress is shown; a bar only if it is a terminal.

    Returns:
        The finished player, `FOLDER/model.safetensors`.

    Raises:
        ValueError, OSError: before anything is written, in one sentence, what is wrong.
    """
    console = console or Console()
    run = start(arguments) if arguments.resume is None else resume(arguments)
    try:
        with console.status("compiling, which only the first start has to do"):
            run.warm_up()
        if run.steps:
            console.print(f"resuming from step {run.steps:,}", highlight=False)
        with _Display(console) as display:
            _loop(run, display)
    except KeyboardInterrupt as error:
        if run.steps:
            run.save_checkpoint()
        raise KeyboardInterrupt(_interrupted(run)) from error
    finally:
        run.close()
    return run.folder / "model.safetensors"


def _loop(run: Run, display: _Display) -> None:
    arguments = run.arguments
    evaluated = saved = run.steps
    display.show(run)
    while run.progress < 1.0:
        before = run.steps
        run.improve()
        if _crossed(before, run.steps, arguments.snapshot_every):
            run.take_snapshot()
        if _crossed(before, run.steps, arguments.evaluate_every):
            display.show_evaluation(run.steps, run.evaluate())
            evaluated = run.steps
        if _crossed(before, run.steps, arguments.checkpoint_every):
            run.save_checkpoint()
            saved = run.steps
        display.show(run)
    if evaluated < run.steps:
        display.show_evaluation(run.steps, run.evaluate())
        saved = 0  # the evaluation belongs to the last checkpoint too
    if saved < run.steps:
        run.save_checkpoint()


def _interrupted(run: Run) -> str:
    if not any((run.folder / "checkpoints").glob("step_*.zip")):
        return f"interrupted before the first step of {run.folder}"
    again = shlex.join(["python", "-m", "training.maskable_ppo", "--resume", str(run.folder)])
    return f"interrupted; {again} goes on from the last checkpoint"


def _crossed(before: int, after: int, every: int) -> bool:
    """Whether a multiple of `every` lies in the steps just made."""
    return before // every < after // every


def progress_bar(console: Console, title: str) -> Progress:
    """A bar with a description and the time left; silent unless the console is a terminal."""
    return Progress(
        TextColumn(title),
        BarColumn(),
        TextColumn("{task.percentage:3.0f} %  {task.description}"),
        TimeRemainingColumn(),
        TextColumn("left"),
        console=console,
        disable=not console.is_terminal,
        transient=True,
    )


class _Display:
    """A bar in a terminal, and a line an evaluation everywhere."""

    def __init__(self, console: Console) -> None:
        self._bar = progress_bar(console, "training")
        self._task = self._bar.add_task("", total=1.0)
        self._since: tuple[int, float] | None = None

    def __enter__(self) -> _Display:
        self._bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bar.stop()

    def show(self, run: Run) -> None:
        """Move the bar to where the run is."""
        if self._since is None:
            self._since = run.steps, run.seconds
        steps, seconds = self._since
        rate = (run.steps - steps) / max(run.seconds - seconds, 1e-9)
        text = f"{run.steps:,} steps, {rate:,.0f}/s"
        self._bar.update(self._task, completed=run.progress, description=text)

    def show_evaluation(self, steps: int, found: list[dict[str, Any]]) -> None:
        """Say how the player did, in points a match with 95 % intervals."""
        if not found:
            return
        parts = []
        for record in found:
            low, high = record["margin_low"], record["margin_high"]
            margin = {"mean": record["margin"], "low": low, "high": high}
            parts.append(f"{record['opponent']} {mean(margin)} {reach(margin)}")
        line = f"{steps:>9,} steps: {', '.join(parts)} points a match"
        self._bar.console.print(line, highlight=False, markup=False, soft_wrap=True)


_PROGRAM = "python -m training.maskable_ppo"


def parse(argv: Sequence[str] | None = None) -> Arguments:
    """Arguments from a command line; those of a run to be resumed default to what it has."""
    arguments = tyro.cli(Arguments, prog=_PROGRAM, args=argv)
    if arguments.resume is None:
        return arguments
    stored = stored_arguments(Path(arguments.resume))
    default = replace(stored, resume=arguments.resume)
    return tyro.cli(Arguments, prog=_PROGRAM, args=argv, default=default)


def main(argv: Sequence[str] | None = None) -> None:
    """The command line."""
    with cli.stopping():
        console = Console()
        model = train(parse(argv), console)
        curves = shlex.quote(str(model.parent / "tensorboard"))
        for line in (f"player:    {model}", f"curves:    tensorboard --logdir {curves}"):
            console.print(line, highlight=False, markup=False, soft_wrap=True)


if __name__ == "__main__":
    main()
