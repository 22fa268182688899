"""From a policy of stable-baselines3 to a model file that `agents.network` plays."""

from __future__ import annotations

import json
import platform
import shlex
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import safetensors.numpy
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from torch import nn

from agents.network import Network, describe
from poke_env import _files
from poke_env.games.base import Game

_PACKAGES = (
    "sackson-poke",
    "numpy",
    "numba",
    "gymnasium",
    "pettingzoo",
    "torch",
    "stable-baselines3",
    "sb3-contrib",
)


def network_of(policy: MaskableActorCriticPolicy) -> Network:
    """A copy of the policy's actor; later training does not change it.

    Raises:
        ValueError: if the actor is no feed-forward network with one kind of activation.
    """
    hidden = list(policy.mlp_extractor.policy_net)
    linear = [module for module in (*hidden, policy.action_net) if isinstance(module, nn.Linear)]
    between = {type(module) for module in hidden if not isinstance(module, nn.Linear)}
    names = {nn.ReLU: "relu", nn.Tanh: "tanh"}
    if len(between) > 1 or not between <= set(names):
        raise ValueError(f"only ReLU or Tanh can be exported, the policy has {between}")
    tensors = {}
    for layer, module in enumerate(linear):
        for part in ("weight", "bias"):
            values = getattr(module, part).detach().cpu().numpy()
            tensors[f"layers.{layer}.{part}"] = np.array(values, np.float32)
    return Network.from_tensors(tensors, names[between.pop()] if between else "relu")


def save_model(
    path: Path,
    network: Network,
    game: Game,
    rules: Any,
    *,
    deterministic: bool,
    training: dict[str, Any],
) -> None:
    """Write `NAME.safetensors` and, after it, `NAME.json`; each is whole or not there.

    Args:
        path: `NAME`, without a suffix.
        network: the weights.
        game, rules: what it was trained for.
        deterministic: how the model plays unless its user says otherwise.
        training: how it was made, for people: arguments, seed, command, steps and so on. Versions
            of packages are added.
    """
    weights = safetensors.numpy.save(network.tensors())
    description = describe(game, rules, network, weights, deterministic=deterministic)
    description["training"] = {**training, "versions": versions()}
    _files.write(_file(path, ".safetensors"), weights)
    _files.write(_file(path, ".json"), json.dumps(description, indent=2) + "\n")


def copy_model(source: Path, target: Path) -> None:
    """Copy both files of a model; names without suffixes."""
    for suffix in (".safetensors", ".json"):
        _files.write(_file(target, suffix), _file(source, suffix).read_bytes())


def _file(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def command() -> str:
    """The command that started this process, so that it can be given again."""
    program = Path(sys.argv[0])
    if program.suffix == ".py" and program.parent.name == "training":
        return shlex.join(["python", "-m", f"training.{program.stem}", *sys.argv[1:]])
    return shlex.join(sys.argv)


def versions() -> dict[str, str]:
    """Versions of Python and of the packages that training depends on."""
    found = {"python": platform.python_version()}
    for name in _PACKAGES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            found[name] = "not installed"
    return found
