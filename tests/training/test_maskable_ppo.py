"""Self-play training: what is kept, how a run goes on, and that the player learns."""

from __future__ import annotations

import base64
import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

import gymnasium
import numpy as np
import pytest
import torch
from gymnasium.wrappers import TimeLimit
from rich.console import Console
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.distributions import MaskableCategorical
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.monitor import Monitor
from stable_baselines3.common.vec_env import DummyVecEnv
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import agents
import poke_env
from agents.network import NetworkAgent
from poke_env import poke_v0
from poke_env.agent import RandomAgent
from poke_env.observation import length
from training import duplicate, maskable_ppo, quickstart
from training.central_critic import CentralCriticPolicy
from training.export import network_of
from training.imitation import imitate
from training.maskable_ppo import Arguments, make_envs, train
from training.pool import CURRENT, SNAPSHOT
from training.tournament import prepare

ROOT = Path(__file__).resolve().parents[2]
GAME = poke_v0.raw_env.game


def arguments(out: Path | None, **changes: Any) -> Arguments:
    """A run of seconds: four environments, the smallest pack, a small network."""
    values: dict[str, Any] = {
        "rules": "tiny",
        "total_steps": 4000,
        "num_envs": 4,
        "n_steps": 250,
        "batch_size": 250,
        "n_epochs": 2,
        "hidden": (16,),
        "scripted": ("random",),
        "snapshot_every": 1000,
        "evaluate_every": 2000,
        "evaluation_pairs": 30,
        "evaluation_opponents": ("random",),
        "checkpoint_every": 1000,
        "pool_size": 3,
    }
    return Arguments(out=None if out is None else str(out), **{**values, **changes})


def quiet() -> Console:
    return Console(file=io.StringIO(), width=200)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of 4,000 steps. Tests that change it take a copy."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    train(arguments(folder), quiet())
    return folder


@pytest.fixture
def copied(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "run"))


def started(tmp_path: Path, **changes: Any) -> maskable_ppo.Run:
    return maskable_ppo.start(arguments(tmp_path / "run", **changes))


def curve(folder: Path, name: str) -> list[tuple[int, float]]:
    events = EventAccumulator(str(folder / "tensorboard"))
    events.Reload()
    return [(point.step, point.value) for point in events.Scalars(name)]


def python(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-W", "error", *command], capture_output=True, text=True, env=environment
    )


def played(env: Any, matches: int, seed: int = 0) -> Any:
    """Random matches of a single-agent environment: yields the last info of each."""
    chance = np.random.default_rng(seed)
    _, info = env.reset(seed=seed)
    for _ in range(matches):
        over = False
        while not over:
            action = int(chance.choice(np.flatnonzero(env.get_wrapper_attr("action_masks")())))
            _, _, terminated, truncated, info = env.step(action)
            over = terminated or truncated
        yield info
        env.reset()


# --- what a run leaves behind ---------------------------------------------------------------------


def test_checkpoints_come_at_the_steps_asked_for(finished):
    names = sorted(path.name for path in (finished / "checkpoints").glob("*.zip"))
    assert names == [f"step_{step:09d}.zip" for step in (1000, 2000, 3000, 4000)]
    for name in names:
        steps = int(name[5:-4])
        model = maskable_ppo.load_checkpoint(finished / "checkpoints" / name)
        assert model.num_timesteps == steps
        player = NetworkAgent((finished / "checkpoints" / name).with_suffix(".safetensors"))
        assert player.description["training"]["steps"] == steps
        assert (player.network.parameters == network_of(model.policy).parameters).all()


def test_the_model_says_where_it_comes_from(finished):
    player = agents.load(str(finished / "model.safetensors"))
    assert isinstance(player, NetworkAgent)
    assert player.rules == GAME.presets["tiny"]
    training = player.description["training"]
    assert training["steps"] == 4000
    assert training["arguments"]["ent_coef"] == arguments(None).ent_coef
    assert training["seed"] == 0
    assert training["command"]
    assert training["versions"]["torch"] == torch.__version__
    evaluations = json.loads((finished / "evaluations.json").read_text())
    assert [point["margin"] for point in training["curve"]] == [
        record["margin"] for record in evaluations
    ]
    stored = json.loads((finished / "arguments.json").read_text())
    assert stored["arguments"]["rules"] == "tiny"
    assert not [path for path in finished.rglob("*") if path.name.startswith(".")]


def test_evaluations_say_how_both_sides_played(finished):
    evaluations = json.loads((finished / "evaluations.json").read_text())
    assert [record["step"] for record in evaluations] == [2000, 4000]
    for record in evaluations:
        assert record["deterministic"] is False
        assert record["opponent_deterministic"] is None  # not a policy
        assert record["margin_low"] <= record["margin"] <= record["margin_high"]
        assert record["wins"] + record["draws"] + record["losses"] == 2 * record["pairs"]
        assert record["forfeits"] == []


def test_curves_cover_training_opponents_and_evaluations(finished):
    steps = [1000, 2000, 3000, 4000]
    for name in ("rollout/ep_rew_mean", "train/approx_kl", f"opponents/{CURRENT}/win_rate"):
        assert [step for step, _ in curve(finished, name)] == steps
    for name in ("margin", "margin_low", "margin_high"):
        assert [step for step, _ in curve(finished, f"evaluation/random/{name}")] == [2000, 4000]
    rates = [rate for _, rate in curve(finished, "train/learning_rate")]
    asked = arguments(None)
    assert rates[0] == pytest.approx(asked.learning_rate)
    assert np.diff(rates) == pytest.approx(
        [(asked.final_learning_rate - asked.learning_rate) / 4] * 3
    )


def test_the_pool_keeps_the_latest_snapshots(finished):
    with zipfile.ZipFile(finished / "checkpoints" / "step_000004000.zip") as archive:
        state = json.loads(archive.read("self_play.json"))
    assert state["snapshots"] == [2000, 3000, 4000]
    assert set(state["results"]) == {CURRENT, SNAPSHOT, "random"}


def test_best_model_is_replaced_only_by_a_better_one(tmp_path, monkeypatch):
    run = started(tmp_path)
    margins = {1000: 5.0, 2000: 3.0, 3000: 5.0, 4000: 9.0}

    def measured(self: Any, player: NetworkAgent, name: str) -> dict[str, Any]:
        margin = margins[self.steps]
        return {
            "step": self.steps, "opponent": name,
            "margin": margin, "margin_low": margin, "margin_high": margin,
        }  # fmt: skip

    monkeypatch.setattr(maskable_ppo.Run, "_measure", measured)
    best = []
    for step in margins:
        run.model.num_timesteps = step
        run.evaluate()
        best.append(NetworkAgent(run.folder / "best_model.safetensors").description["training"])
    run.close()
    assert [training["steps"] for training in best] == [1000, 1000, 1000, 4000]
    assert best[-1]["score"] == 9.0
    kept = sorted(path.stem for path in (run.folder / "best").glob("*.safetensors"))
    assert kept == ["step_000001000", "step_000004000"]


def test_the_same_seed_gives_the_same_player(tmp_path):
    players = []
    for name, seed in (("one", 1), ("two", 1), ("three", 2)):
        folder = tmp_path / name
        train(arguments(folder, total_steps=1000, seed=seed, evaluation_pairs=2), quiet())
        players.append(NetworkAgent(folder / "model.safetensors").network.parameters)
    assert (players[0] == players[1]).all()
    assert (players[0] != players[2]).any()


def test_the_exported_policy_is_that_of_torch(tmp_path):
    run = started(tmp_path, rules="standard", hidden=(64, 32))
    run.improve()
    env = poke_v0.single_env(match="game")
    chance = np.random.default_rng(0)
    observations, masks = [], []
    observed, info = env.reset(seed=0)
    for _ in range(200):
        observations.append(observed)
        masks.append(info["action_mask"])
        observed, _, over, _, info = env.step(int(chance.choice(np.flatnonzero(masks[-1]))))
        if over:
            observed, info = env.reset()
    run.save_checkpoint()
    run.close()
    player = NetworkAgent(run.folder / "model.safetensors")
    with torch.no_grad():
        tensor = torch.as_tensor(np.stack(observations))
        policy = run.model.policy.get_distribution(tensor, np.stack(masks)).distribution.probs
    found = player.probabilities(np.stack(observations), np.stack(masks))
    np.testing.assert_allclose(found, policy.numpy(), atol=1e-5)


# --- going on -------------------------------------------------------------------------------------


def test_a_run_goes_on_in_a_new_process(tmp_path):
    folder = tmp_path / "run"
    command = [
        "-m", "training.maskable_ppo", "--rules", "tiny", "--num-envs", "4", "--n-steps", "256",
        "--batch-size", "256", "--hidden", "16", "--scripted", "random", "--snapshot-every", "1024",
        "--checkpoint-every", "1024", "--evaluation-opponents", "random",
        "--evaluation-pairs", "10", "--evaluate-every", "1024", "--total-steps", "2048",
        "--out", str(folder),
    ]  # fmt: skip
    first = python(*command)
    assert first.returncode == 0, first.stderr
    assert "2,048 steps: random" in first.stdout
    middle = maskable_ppo.load_checkpoint(folder / "checkpoints" / "step_000002048.zip")

    second = python("-m", "training.maskable_ppo", "--resume", str(folder), "--total-steps", "4096")
    assert second.returncode == 0, second.stderr
    model = maskable_ppo.load_checkpoint(folder / "checkpoints" / "step_000004096.zip")
    assert model.num_timesteps == 4096
    updates = [
        next(iter(each.policy.optimizer.state.values()))["step"].item() for each in (middle, model)
    ]
    assert updates == [16, 32]  # four minibatches in each of two epochs, a rollout of 1,024 steps

    steps = [step for step, _ in curve(folder, "rollout/ep_rew_mean")]
    assert steps == [1024, 2048, 3072, 4096]
    rates = [rate for _, rate in curve(folder, "train/learning_rate")]
    assert rates[2] == pytest.approx((rates[0] + Arguments().final_learning_rate) / 2)
    assert rates[3] < rates[2]
    assert [path.name for path in folder.glob("tensorboard*")] == ["tensorboard"]
    assert all(path.is_file() for path in (folder / "tensorboard").iterdir())

    with zipfile.ZipFile(folder / "checkpoints" / "step_000004096.zip") as archive:
        state = json.loads(archive.read("self_play.json"))
        data = json.loads(archive.read("data"))
    assert state["snapshots"] == [1024, 2048, 3072, 4096]
    assert [record["step"] for record in state["evaluations"]] == [1024, 2048, 3072, 4096]
    assert sum(sum(list(t.values())[:3]) for t in state["results"].values()) > 1000
    about = json.loads((folder / "arguments.json").read_text())
    assert about["arguments"]["total_steps"] == 4096
    first_command, second_command = (session["command"] for session in about["sessions"])
    assert first_command.startswith("python -m training.maskable_ppo --rules tiny")
    assert "--resume" in second_command

    # What was pickled by a program that was started with -m is found by everybody else.
    pickled = [item[":serialized:"] for item in data.values() if isinstance(item, dict)
               and ":serialized:" in item]  # fmt: skip
    assert pickled
    assert not any(b"__main__" in base64.b64decode(item) for item in pickled)
    assert agents.load(str(folder / "best_model.safetensors"))


def test_resuming_restores_pool_optimizer_and_evaluations(copied):
    stored = maskable_ppo.stored_arguments(copied)
    run = maskable_ppo.resume(replace(stored, resume=str(copied), total_steps=6000))
    assert run.steps == 4000
    assert list(run.pool.snapshots) == [2000, 3000, 4000]
    for step, network in run.pool.snapshots.items():
        saved = NetworkAgent(copied / "checkpoints" / f"step_{step:09d}.safetensors").network
        assert (network.parameters == saved.parameters).all()
    assert (run.pool.current.parameters == run.pool.snapshots[4000].parameters).all()
    assert [record["step"] for record in run.evaluations] == [2000, 4000]
    assert run.pool.results["random"].matches > 0
    assert run.model.policy.optimizer.state
    assert run.progress == pytest.approx(4000 / 6000)
    assert run.seconds > 0
    run.close()


def test_what_a_killed_run_did_after_its_checkpoint_does_not_show(tmp_path):
    run = started(tmp_path)
    run.improve()
    run.save_checkpoint()
    run.improve()
    run.improve()
    run.take_snapshot()
    run.close()  # the process dies here
    (run.folder / "checkpoints" / ".123-step_000003000.zip").write_bytes(b"half a file")
    assert [step for step, _ in curve(run.folder, "rollout/ep_rew_mean")] == [1000, 2000, 3000]

    stored = maskable_ppo.stored_arguments(run.folder)
    again = maskable_ppo.resume(replace(stored, resume=str(run.folder)))
    assert again.steps == 1000
    again.improve()
    again.close()
    assert [step for step, _ in curve(run.folder, "rollout/ep_rew_mean")] == [1000, 2000]


def test_a_resumed_run_does_not_meet_the_same_decks_again(copied):
    stored = maskable_ppo.stored_arguments(copied)
    run = maskable_ppo.resume(replace(stored, resume=str(copied), total_steps=6000))
    later = run.model.env.reset()
    run.close()
    earlier = make_envs(stored, run.pool)
    earlier.seed(stored.seed)
    assert (later != earlier.reset()).any()


def test_a_learner_without_environments_says_so(finished):
    model = maskable_ppo.load_checkpoint(finished / "checkpoints" / "step_000004000.zip")
    with pytest.raises(ValueError, match="has no environment"):
        model.learn(100)


# --- what is refused ------------------------------------------------------------------------------


def refused(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    """The one sentence with which a command line is refused."""
    with pytest.raises(SystemExit) as stopped:
        maskable_ppo.main(argv)
    assert stopped.value.code == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    return printed.err


def test_a_folder_with_something_in_it_is_left_alone(copied, capsys):
    before = {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}
    assert "--resume" in refused(capsys, "--out", str(copied))
    assert "exists already" in refused(capsys, "--out", str(copied / "model.json"))
    assert before == {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (["--learning-rate", "0.5"], "learning_rate is 0.5, but the run in"),
        (["--rules", "small"], "rules is 'small'"),
        (["--out", "elsewhere"], "out is 'elsewhere'"),
        ([], "is complete with 4000 steps"),
    ],
)
def test_what_contradicts_the_run_is_refused(finished, capsys, change, message):
    assert message in refused(capsys, "--resume", str(finished), *change)


def test_a_folder_that_is_no_run_is_refused(tmp_path, copied, capsys):
    assert "has no arguments.json" in refused(capsys, "--resume", str(tmp_path))
    (copied / "arguments.json").write_text('{"arguments": {"colour": 3}}')
    assert "damaged or of another version" in refused(capsys, "--resume", str(copied))


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--rules", "huge"], "rules must be one of 'standard'"),
        (["--match", "set"], "match must be one of"),
        (["--scripted", "nobody"], "agent must be"),
        (["--evaluation-opponents", "nobody"], "agent must be"),
        (["--num-envs", "0"], "num_envs must be an integer of at least 1, got 0"),
        (["--seed", "-1"], "seed must be an integer of at least 0, got -1"),
        (["--ent-coef", "-1"], "ent_coef must be a number of at least 0, got -1"),
        (["--minutes", "0"], "minutes must be a number above 0"),
        (["--total-steps", "None"], "total_steps or minutes must be given"),
        (["--current-share", "0.9"], "must add up to 1"),
        (["--batch-size", "100000"], "batch_size must be at most"),
        (["--checkpoint-every", "10"], "checkpoint_every must be at least"),
    ],
)
def test_wrong_arguments_are_refused_before_anything_is_written(tmp_path, capsys, argv, message):
    assert message in refused(capsys, *argv, "--out", str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_folder_that_cannot_be_written_to_is_refused(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert "folder that can be written to" in refused(
        capsys, "--out", str(tmp_path / "file" / "run")
    )


def test_ctrl_c_says_how_to_go_on(copied, tmp_path, capsys, monkeypatch):
    def interrupted(self: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(maskable_ppo.Run, "improve", interrupted)
    monkeypatch.setattr(maskable_ppo.Run, "warm_up", lambda self: None)
    new = ["--rules", "tiny", "--out", str(tmp_path / "new")]
    for argv, message in (
        (new, "before the first step"),
        (["--resume", str(copied), "--total-steps", "9000"], f"--resume {copied} goes on"),
    ):
        with pytest.raises(SystemExit) as stopped:
            maskable_ppo.main(argv)
        assert stopped.value.code == 130
        assert message in capsys.readouterr().err


def test_ctrl_c_loses_what_was_learned(tmp_path, capsys, monkeypatch):
    improve = maskable_ppo.Run.improve

    def once(self: Any) -> None:
        if self.steps:
            raise KeyboardInterrupt
        improve(self)

    monkeypatch.setattr(maskable_ppo.Run, "improve", once)
    folder = tmp_path / "run"
    small = ["--rules", "tiny", "--num-envs", "2", "--n-steps", "64", "--batch-size", "64"]
    with pytest.raises(SystemExit):
        maskable_ppo.main([*small, "--out", str(folder)])
    assert "goes on from the last checkpoint" in capsys.readouterr().err
    assert [path.name for path in (folder / "checkpoints").glob("*.zip")] == ["step_000000128.zip"]


def test_quickstart_trains_before_it_refuses(tmp_path):
    settings = quickstart.Settings(minutes=0.02, deals=0, rules="tiny", out=str(tmp_path / "run"))
    with pytest.raises(ValueError, match="deals must be an integer from 1"):
        quickstart.run(settings, quiet())
    assert not (tmp_path / "run").exists()


def test_players_that_a_killed_process_left_in_halves_are_repaired(copied):
    whole = NetworkAgent(copied / "best_model.safetensors").description["weights_sha256"]
    early = copied / "checkpoints" / "step_000001000.safetensors"
    for name in ("model", "best_model"):
        shutil.copy(early, copied / f"{name}.safetensors")
    stored = maskable_ppo.stored_arguments(copied)
    maskable_ppo.resume(replace(stored, resume=str(copied), total_steps=9000)).close()
    assert NetworkAgent(copied / "best_model.safetensors").description["weights_sha256"] == whole
    assert NetworkAgent(copied / "model.safetensors").description["training"]["steps"] == 4000


def test_a_damaged_checkpoint_is_refused(copied, capsys):
    path = copied / "checkpoints" / "step_000004000.zip"
    path.write_bytes(path.read_bytes()[:1000])
    assert "is damaged" in refused(capsys, "--resume", str(copied), "--total-steps", "9000")


def test_a_run_ends_by_time_with_its_last_player(tmp_path, monkeypatch):
    seconds = iter(range(0, 100_000, 7))
    monkeypatch.setattr(maskable_ppo.Run, "seconds", property(lambda self: next(seconds)))
    folder = tmp_path / "run"
    model = train(arguments(folder, total_steps=None, minutes=1.0), quiet())
    steps = NetworkAgent(model).description["training"]["steps"]
    assert 0 < steps < 10_000
    assert (folder / "checkpoints" / f"step_{steps:09d}.zip").is_file()
    assert json.loads((folder / "evaluations.json").read_text())[-1]["step"] == steps


# --- masks, numbers, and libraries ----------------------------------------------------------------


def test_masks_reach_the_learner_through_wrappers():
    env = Monitor(TimeLimit(gymnasium.make("sackson/Poke-v0"), 500))
    assert is_masking_supported(env)
    env.reset(seed=0)
    mask = env.get_wrapper_attr("action_masks")()
    assert mask.dtype == bool
    assert (mask == get_action_masks(env)).all()
    model = MaskablePPO("MlpPolicy", env, n_steps=128, batch_size=64, seed=0, device="cpu")
    model.learn(256)
    assert model.num_timesteps == 256


def test_a_cut_match_is_truncated_and_a_finished_one_is_not():
    for match, cut in (("deal", False), ("rubber", True)):
        envs = DummyVecEnv([lambda match=match: poke_v0.single_env(match=match, max_deals=1)])
        envs.seed(0)
        envs.reset()
        for _ in range(100):
            [mask] = envs.env_method("action_masks")
            _, _, [done], [info] = envs.step(np.flatnonzero(mask)[:1])
            if done:
                break
        assert info["TimeLimit.truncated"] is cut
        assert poke_v0.decode(info["terminal_observation"])["phase"] == "over"


def test_distributions_are_validated_and_masked_twice_without_an_error():
    assert torch.distributions.Distribution._validate_args
    chance = torch.Generator().manual_seed(0)
    logits = 20 * torch.randn(4096, 32, generator=chance)
    masks = torch.rand(4096, 32, generator=chance) < 0.3
    masks[:, 0] = True
    distribution = MaskableCategorical(logits=logits)
    for _ in range(2):
        assert distribution.probs.isfinite().all()
        distribution.apply_masking(masks)
    for path in [*(ROOT / "training").glob("*.py"), *(ROOT / "agents").glob("*.py")]:
        assert "validate_args" not in path.read_text(encoding="utf-8"), path


def assert_sound(run: maskable_ppo.Run) -> None:
    assert torch.distributions.Distribution._validate_args
    assert all(values.isfinite().all() for values in run.model.policy.parameters())


def test_training_gives_no_number_that_is_none(tmp_path):
    run = started(tmp_path, learning_rate=3e-3, hidden=(64, 64))
    for _ in range(3):
        run.improve()
    run.close()
    assert_sound(run)


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["tiny", "small", "standard"])
def test_20000_steps_give_no_number_that_is_none(tmp_path, rules):
    run = started(tmp_path, rules=rules, total_steps=20_000, hidden=(256, 256))
    while run.progress < 1:
        run.improve()
        run.take_snapshot()
    run.close()
    assert_sound(run)


def test_the_policy_is_judged_by_the_masks_it_acted_with(tmp_path):
    run = started(tmp_path, learning_rate=0.0, final_learning_rate=0.0, n_epochs=1)
    run.improve()
    run.close()
    assert curve(run.folder, "train/approx_kl")[0][1] < 1e-6
    assert curve(run.folder, "train/clip_fraction")[0][1] == 0


# --- learning -------------------------------------------------------------------------------------


def test_the_player_learns_to_beat_random_play(tmp_path):
    asked = arguments(
        tmp_path / "run",
        rules="small",
        total_steps=6000,
        num_envs=16,
        n_steps=125,
        n_epochs=8,
        hidden=(64, 64),
        learning_rate=3e-3,
        checkpoint_every=50_000,
        evaluate_every=50_000,
        snapshot_every=2000,
    )
    assert asked.total_steps <= 100_000
    model = train(asked, quiet())
    duel = duplicate.play(
        agents.load(str(model)), agents.make("random"), 400, seed=123, rules="small"
    )
    assert duel.interval()[0] > 0
    assert not duel.forfeits


@pytest.mark.parametrize(
    "game, changes",
    [
        ("pokex", {"total_steps": 1000}),
        ("poque", {"total_steps": 1000, "players": 3, "match": "session"}),
        (
            "poangpoker",
            {"total_steps": 2000, "players": 2, "central_critic": False, "teacher": "greedy"},
        ),
    ],
)
def test_a_player_of_another_game_is_trained(tmp_path, game, changes):
    changes = {"scripted": ("greedy",), "rules": "small", **changes}
    model = train(arguments(tmp_path / "run", game=game, **changes), quiet())
    player = agents.load(str(model), game=game)
    played = poke_env.door(game)
    assert player.rules == played.raw_env(rules="small", players=changes.get("players")).rules
    assert player.description["game"] == game
    with pytest.raises(ValueError, match=f"plays '{game}', it must play poke$"):
        agents.load(str(model))
    [found] = json.loads((model.parent / "evaluations.json").read_text())[-1:]
    assert found["opponent"] == "random"
    assert found["forfeits"] == []
    plan = prepare([str(model), "greedy", "random"], 2, game=game, players=changes.get("players"),
                   rules="small")  # fmt: skip
    assert plan.play().complete


@pytest.mark.parametrize(
    "given, message",
    [
        ({"game": "bridge"}, "game must be one of 'poke', 'pokex'"),
        ({"game": "poque", "reward": "equity"}, "reward must be one of 'points', 'win', got"),
        ({"game": "poque", "match": "rubber"}, "match must be one of 'session', 'deal', got"),
        ({"game": "poque", "players": 9}, "players must be an integer from 2 to 8"),
        ({"game": "pokex", "scripted": ("pimc",)}, r"must be a name \(random, greedy, heuristic\)"),
        (
            {"game": "pokex", "match": "game", "central_critic": True},
            "central_critic must be False or None where .* game of pokex is after 100 deals",
        ),
        ({"game": "poque", "start_scores": 10}, "start_scores must be 0 or None .* tiny poque$"),
    ],
)
def test_what_a_game_does_not_have_is_asked_for(tmp_path, given, message):
    with pytest.raises(ValueError, match=message):
        maskable_ppo.start(arguments(tmp_path / "run", **given))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "given, sees_all",
    [
        ({"match": "rubber"}, True),
        ({"game": "pokex"}, True),
        ({"game": "pokex", "match": "game"}, False),
        ({"game": "poque", "match": "session"}, True),
        ({"game": "poque", "central_critic": False}, False),
    ],
)
def test_the_default_critic_is_refused_where_matches_are_cut(given, sees_all):
    asked = Arguments(**given)
    asked.check()
    assert asked.sees_all is sees_all


def test_a_whole_game_that_may_be_cut_cannot_be_learned(tmp_path):
    asked = arguments(tmp_path / "run", game="pokex", match="game", rules="small", total_steps=1000)
    with contextlib.closing(maskable_ppo.start(asked)) as run:
        assert not isinstance(run.model.policy, CentralCriticPolicy)
        run.improve()
        assert run.steps == 1000


@pytest.mark.parametrize("game", ["poke", "pokex", "poque", "poangpoker"])
def test_learners_are_paid_in_another_unit_than_what_a_deal_is_about(game):
    """Deals between random players have about the standard deviation that the game says."""
    envs = poke_env.make_batch(game, 1024, seed=1, autoreset=False)
    player, total = agents.make("random"), np.zeros((1024, envs.settings.players))
    seen, masks, seats = envs.reset()
    while (seats >= 0).any():
        live = seats >= 0
        actions = np.full(1024, -1)
        actions[live] = player.act_batch(seen[live], masks[live])
        seen, masks, seats, rewards, _ = envs.step(actions)
        total += rewards
    spread = envs.game.spread
    assert 0.8 * spread < total.std() < 1.25 * spread
    assert Arguments(game=game, reward="points").environment()["reward_scale"] == 1 / spread
    assert Arguments(game=game, reward="win").environment()["reward_scale"] == 1.0


def _never(*arguments: Any) -> NoReturn:
    raise AssertionError(arguments)


def test_the_quick_start_trains_and_ranks(tmp_path):
    output = io.StringIO()
    settings = quickstart.Settings(minutes=0.02, deals=2, rules="tiny", out=str(tmp_path / "first"))
    folder = quickstart.run(settings, Console(file=output, width=200))
    text = output.getvalue()
    for name in (quickstart.TRAINED, *quickstart.RIVALS):
        assert name in text
    for path in ("model.safetensors", "tournament/report.html", "tournament/results.json"):
        assert (folder / path).is_file()
        assert str(folder / path) in text
    assert str(folder / "tensorboard") in text
    with pytest.raises(ValueError, match="exists already"):
        quickstart.run(settings, quiet())


def test_the_quick_start_of_another_game_meets_its_players(tmp_path):
    output = io.StringIO()
    folder = quickstart.run(
        quickstart.Settings(minutes=0.02, deals=2, game="poangpoker", players=3, rules="small",
                            out=str(tmp_path / "first")),
        Console(file=output, width=200),
    )  # fmt: skip
    told = json.loads((folder / "tournament" / "results.json").read_text())
    assert {agent["label"] for agent in told["agents"]} == {
        quickstart.TRAINED, "random", "greedy", "heuristic",
    }  # fmt: skip
    assert told["configuration"]["game"] == "poangpoker"
    again = "training.play --game poangpoker --players 3 --rules small --opponent"
    assert again in output.getvalue()


@pytest.mark.parametrize(
    "game, players, rivals",
    [
        ("poke", None, len(quickstart.RIVALS)),
        ("pokex", None, 3),
        ("poangpoker", 2, 3),
        ("poangpoker", 5, 4),
        ("poque", 8, 7),
    ],
)
def test_a_quick_start_at_a_large_table_has_too_few_rivals(game, players, rivals):
    plan = quickstart.prepare(
        "poke_env.agent:RandomAgent", quickstart.Settings(game=game, players=players)
    )
    labels = [entrant.label for entrant in plan.entrants]
    assert len(labels) == 1 + rivals
    assert quickstart.TRAINED in labels
    assert plan.meetings


def test_the_quick_start_fails_after_its_minutes_of_training(tmp_path, monkeypatch):
    monkeypatch.setattr(maskable_ppo, "train", _never)
    for given in ({"seed": -2}, {"rules": "huge"}, {"players": 3}, {"game": "bridge"}):
        settings = quickstart.Settings(minutes=60, out=str(tmp_path / "run"), **given)
        with pytest.raises(ValueError, match=f"{next(iter(given))} must be"):
            quickstart.run(settings, quiet())


# --- what is paid ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "given, reward, starts",
    [
        ({}, "equity", 4096),
        ({"match": "rubber"}, "points", None),
        ({"rules": "tiny"}, "points", None),
        ({"reward": "points"}, "points", None),
        ({"reward": "points", "start_scores": 50}, "points", 50),
        ({"reward": "equity", "match": "rubber"}, "equity", None),
        ({"start_scores": 0}, "equity", None),
    ],
)
def test_deals_are_not_paid_in_equity_where_there_is_a_table(given, reward, starts):
    settings = Arguments(**given).environment()
    assert settings["reward"] == reward
    found = settings["start_scores"]
    assert (None if found is None else len(found["below"])) == starts


def test_players_do_not_say_what_they_were_paid(tmp_path):
    run = maskable_ppo.start(
        arguments(tmp_path / "run", rules="standard", total_steps=1000, start_scores=20)
    )
    envs = run.model.get_env().envs.envs
    assert envs.settings.reward == "equity"
    assert len(envs.settings.start_scores) == 20
    run.improve()
    run.save_checkpoint()
    run.close()
    told = json.loads((run.folder / "model.json").read_text())["training"]
    assert told["reward"] == "equity"
    assert told["equity_table"] == [
        envs.settings.equity_table.version, envs.settings.equity_table.digest
    ]  # fmt: skip


@pytest.mark.parametrize(
    "given, message",
    [
        ({"reward": "equity", "rules": "tiny"}, "these differ in ranks"),
        ({"start_scores": 5, "rules": "small"}, "start_scores must be 0 or None .* small poke$"),
        ({"reward": "worth"}, "reward must be one of"),
        ({"start_scores": -1}, "start_scores must be None or an integer"),
    ],
)
def test_rewards_that_cannot_be_paid_are_asked_for(tmp_path, given, message):
    with pytest.raises(ValueError, match=message):
        maskable_ppo.start(arguments(tmp_path / "run", **given))
    assert not (tmp_path / "run").exists()


def test_the_learner_comes_to_do_what_its_teacher_does(tmp_path):
    folder = tmp_path / "run"
    asked = arguments(folder, teacher="greedy", teacher_share=0.75, learning_rate=1e-2)
    train(asked, quiet())
    agreement = curve(folder, "train/agreement")
    assert [step for step, _ in agreement] == [1000, 2000, 3000]  # and then it plays for itself
    assert agreement[-1][1] > agreement[0][1] + 0.1
    assert [step for step, _ in curve(folder, "train/clip_fraction")] == [4000]


@pytest.mark.parametrize("answer", [-1, 32, 31, 10**30, "pass"])
def test_an_illegal_answer_of_a_teacher_is_refused(tmp_path, answer):
    class Stubborn(RandomAgent):
        def act_batch(self, observations, masks, keys=None):
            return [answer] * len(masks)

    run = maskable_ppo.start(arguments(tmp_path / "run", teacher="greedy"))
    run.teacher = Stubborn()
    before = [weight.clone() for weight in run.model.policy.parameters()]
    with pytest.raises(ValueError, match=r"the teacher answered with action .* illegal; legal: "):
        run.improve()
    assert all(map(torch.equal, before, run.model.policy.parameters()))


def test_a_teacher_is_not_asked_where_the_learner_was_not(tmp_path):
    """A match may be over before a learner is asked; no teacher knows what to do then."""
    run = maskable_ppo.start(arguments(tmp_path / "run", teacher="greedy"))
    run.improve()
    buffer, before = run.model.rollout_buffer, run.model.rollout_buffer.actions.copy()
    buffer.action_masks.reshape(before.size, -1)[::2] = 0
    teacher, chance = agents.make("heuristic"), np.random.default_rng(0)
    imitate(run.model, teacher, length(GAME), chance)
    assert np.array_equal(buffer.actions.reshape(-1)[::2], before.reshape(-1)[::2])
    assert not np.array_equal(buffer.actions, before)


def test_an_unknown_teacher_is_refused(tmp_path, capsys):
    assert "wizard" in refused(capsys, "--out", str(tmp_path / "run"), "--teacher", "wizard")
    assert not (tmp_path / "run").exists()
