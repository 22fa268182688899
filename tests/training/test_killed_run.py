"""A training run that is killed again and again ends as if nobody had touched it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("torch")

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from agents.network import NetworkAgent
from training import maskable_ppo

ROOT = Path(__file__).resolve().parents[2]
ROLLOUT = 1024
STEPS = 40 * ROLLOUT
ASKED = [
    "--rules", "tiny", "--num-envs", "64", "--n-steps", "16", "--batch-size", "512",
    "--hidden", "16", "--scripted", "random", "--snapshot-every", str(2 * ROLLOUT),
    "--checkpoint-every", str(ROLLOUT), "--evaluation-opponents", "random",
    "--evaluation-pairs", "50", "--evaluate-every", str(4 * ROLLOUT), "--total-steps", str(STEPS),
]  # fmt: skip


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "training.maskable_ppo", *arguments],
        cwd=ROOT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


def kill_when(process: subprocess.Popen[bytes], happened: Callable[[], bool]) -> None:
    """Kill the process, which cannot catch it, as soon as something has happened."""
    limit = time.monotonic() + 300
    while not happened() and process.poll() is None and time.monotonic() < limit:
        time.sleep(0.002)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()


def checkpoints(folder: Path) -> list[Path]:
    return sorted((folder / "checkpoints").glob("step_*.zip"))


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_kill_at_any_moment_costs_more_than_what_came_after_the_last_checkpoint(tmp_path):
    folder = tmp_path / "run"
    kill_when(start(*ASKED, "--out", str(folder)), lambda: (folder / "arguments.json").exists())
    assert not checkpoints(folder)
    for count in (1, 3, 9, 20):
        kill_when(
            start("--resume", str(folder)),
            lambda count=count: len(checkpoints(folder)) >= count,
        )
        assert len(checkpoints(folder)) >= count
    last = start("--resume", str(folder))
    _, error = last.communicate(timeout=300)
    assert last.returncode == 0, error.decode()

    events = EventAccumulator(str(folder / "tensorboard"), size_guidance={"scalars": 0})
    events.Reload()
    every = list(range(ROLLOUT, STEPS + 1, ROLLOUT))
    assert [event.step for event in events.Scalars("rollout/ep_rew_mean")] == every
    rates = [event.value for event in events.Scalars("train/learning_rate")]
    defaults = maskable_ppo.Arguments()
    fall = defaults.learning_rate - defaults.final_learning_rate
    expected = [defaults.learning_rate - fall * (step - ROLLOUT) / STEPS for step in every]
    assert rates == pytest.approx(expected)

    model = maskable_ppo.load_checkpoint(checkpoints(folder)[-1])
    assert model.num_timesteps == STEPS
    [updates] = {state["step"].item() for state in model.policy.optimizer.state.values()}
    assert updates == STEPS // 512 * defaults.n_epochs
    with zipfile.ZipFile(checkpoints(folder)[-1]) as archive:
        state = json.loads(archive.read("self_play.json"))
    assert state["snapshots"] == every[1::2][-defaults.pool_size :]
    assert [record["step"] for record in state["evaluations"]] == every[3::4]
    assert len(json.loads((folder / "arguments.json").read_text())["sessions"]) == 6
    assert NetworkAgent(folder / "model.safetensors").description["training"]["steps"] == STEPS
