"""The player `network`: a trained policy, read from two files and run without torch.

`NAME.safetensors` holds the weights and `NAME.json` says what they belong to. Neither can run code
when it is read. The forward pass is compiled and adds up in one fixed order, row by row, so that
a choice depends on observation, mask and key alone: the same decision comes out whether it is
asked for by itself or in a batch of thousands, which matrix libraries do not promise.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from poke_env import games, observation, streams
from poke_env._jit import compiled
from poke_env._threads import in_parallel, split
from poke_env.agent import KeyedAgent, Masks, Observations
from poke_env.games.base import Game

__all__ = ["FORMAT", "Network", "NetworkAgent", "describe"]

FORMAT = 1
"""Version of the file format; it rises when older files can no longer be read."""

ACTIVATIONS = ("relu", "tanh")
RELU, TANH = range(len(ACTIVATIONS))

_LEAST_ROWS = 32
"""Fewer are done sooner than another thread is awake: a row takes some 5 µs."""

_FIELDS: Mapping[str, type | tuple[type, ...]] = {
    "format": int,
    "game": str,
    "environment_version": int,
    "rules": dict,
    "observation_length": int,
    "num_actions": int,
    "layers": list,
    "activation": str,
    "deterministic": bool,
    "weights_sha256": str,
}
"""What the JSON file must hold; what it holds beside them is information for people."""


# --- the compiled forward pass --------------------------------------------------------------------


@compiled
def _layer(
    inputs: npt.NDArray[np.float32],
    weights: npt.NDArray[np.float32],
    biases: npt.NDArray[np.float32],
    outputs: npt.NDArray[np.float32],
    used: npt.NDArray[np.int64],
) -> None:
    """`outputs = inputs @ weights + biases`, adding the inputs that are not 0 from first to last.

    Four inputs are taken at a time to save memory traffic; the order of the sum stays the same.
    """
    size = outputs.shape[0]
    outputs[:] = biases
    count = 0
    for i in range(inputs.shape[0]):
        used[count] = i
        count += inputs[i] != 0
    at = 0
    while at + 4 <= count:
        a, b, c, d = used[at], used[at + 1], used[at + 2], used[at + 3]
        x, y, z, u = inputs[a], inputs[b], inputs[c], inputs[d]
        row_a, row_b, row_c, row_d = weights[a], weights[b], weights[c], weights[d]
        for j in range(size):
            outputs[j] = outputs[j] + x * row_a[j] + y * row_b[j] + z * row_c[j] + u * row_d[j]
        at += 4
    while at < count:
        x = inputs[used[at]]
        row_a = weights[used[at]]
        for j in range(size):
            outputs[j] = outputs[j] + x * row_a[j]
        at += 1


@compiled
def _logits(
    observed: npt.NDArray[np.float32],
    parameters: npt.NDArray[np.float32],
    sizes: npt.NDArray[np.int64],
    activation: int,
    work: npt.NDArray[np.float32],
    used: npt.NDArray[np.int64],
) -> npt.NDArray[np.float32]:
    """Logits (A,) of one observation (F,), as a view into `work` (2, widest layer)."""
    values = observed
    at = 0
    layers = sizes.shape[0] - 1
    for layer in range(layers):
        wide, narrow = sizes[layer], sizes[layer + 1]
        end = at + wide * narrow
        outputs = work[layer % 2, :narrow]
        weights = parameters[at:end].reshape(wide, narrow)
        _layer(values, weights, parameters[end : end + narrow], outputs, used)
        if layer < layers - 1:
            if activation == RELU:
                for j in range(narrow):
                    outputs[j] = max(outputs[j], np.float32(0.0))
            else:
                for j in range(narrow):
                    outputs[j] = np.float32(math.tanh(outputs[j]))
        values = outputs
        at = end + narrow
    return values


@compiled
def _masked_softmax(
    logits: npt.NDArray[np.float32],
    mask: npt.NDArray[np.int8],
    chances: npt.NDArray[np.float64],
) -> int:
    """Write the probability of every action, 0 for illegal ones; returns the likeliest.

    Of equal ones the lowest is returned; -1 if a logit is no finite number.
    """
    best = -1
    for action in range(mask.shape[0]):
        if mask[action]:
            if not math.isfinite(logits[action]):
                return -1
            if best < 0 or logits[action] > logits[best]:
                best = action
    total = 0.0
    for action in range(mask.shape[0]):
        chances[action] = 0.0
        if mask[action]:
            chances[action] = math.exp(np.float64(logits[action]) - np.float64(logits[best]))
            total += chances[action]
    for action in range(mask.shape[0]):
        chances[action] /= total
    return best


@compiled
def _sample(chances: npt.NDArray[np.float64], high: int, low: int) -> int:
    """An action drawn by its probability, with all chance taken from the halves of a key."""
    generator = streams.key_generator(high, low)
    word = streams.next_word(generator)
    point = ((word >> 5) * 67108864.0 + (streams.next_word(generator) >> 6)) / 9007199254740992.0
    reached = 0.0
    last = -1
    for action in range(chances.shape[0]):
        if chances[action] > 0.0:
            last = action
            reached += chances[action]
            if reached > point:
                break
    return last


@compiled
def _choose(
    observations: Observations,
    masks: Masks,
    keys: npt.NDArray[np.int64],
    parameters: npt.NDArray[np.float32],
    sizes: npt.NDArray[np.int64],
    activation: int,
    deterministic: bool,
    chances: npt.NDArray[np.float64],
    chosen: npt.NDArray[np.int64],
) -> None:
    """Write the probabilities (B, A) and the choice (B,) of every row; -1 where there is none."""
    work = np.empty((2, sizes.max()), np.float32)
    used = np.empty(sizes.max() + 1, np.int64)
    for i in range(observations.shape[0]):
        logits = _logits(observations[i], parameters, sizes, activation, work, used)
        chosen[i] = _masked_softmax(logits, masks[i], chances[i])
        if chosen[i] >= 0 and not deterministic:
            chosen[i] = _sample(chances[i], keys[i, 0], keys[i, 1])


# --- weights --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Network:
    """A feed-forward policy: observation in, one logit an action out. It never changes.

    Attributes:
        layers: sizes from the observation to the actions, such as (265, 256, 256, 32).
        activation: between the layers, `"relu"` or `"tanh"`.
        parameters: float32 (P,), read-only: for each layer its weights (in, out) in C order, then
            its biases (out,).

    Raises:
        ValueError: if sizes do not fit or a number is not finite.
    """

    layers: tuple[int, ...]
    activation: str
    parameters: npt.NDArray[np.float32]

    def __post_init__(self) -> None:
        if self.activation not in ACTIVATIONS:
            raise ValueError(
                f"activation must be {' or '.join(map(repr, ACTIVATIONS))}, got {self.activation!r}"
            )
        if len(self.layers) < 2 or min(self.layers) < 1:
            raise ValueError(f"layers must be two or more positive integers, got {self.layers!r}")
        parameters = np.array(self.parameters, np.float32)
        needed = sum((wide + 1) * narrow for wide, narrow in self._shapes())
        if parameters.shape != (needed,):
            raise ValueError(
                f"layers {list(self.layers)} need {needed} parameters, got {parameters.size}"
            )
        if not np.isfinite(parameters).all():
            raise ValueError("parameters must be finite numbers")
        parameters.flags.writeable = False
        object.__setattr__(self, "parameters", parameters)

    def _shapes(self) -> list[tuple[int, int]]:
        return list(zip(self.layers[:-1], self.layers[1:], strict=True))

    @classmethod
    def from_tensors(cls, tensors: Mapping[str, npt.NDArray[Any]], activation: str) -> Network:
        """From matrices as PyTorch and the model file have them.

        Args:
            tensors: `layers.0.weight` (out, in), `layers.0.bias` (out,), `layers.1.weight`, …
            activation: between the layers.

        Raises:
            ValueError: if a tensor is missing, left over, or of another type or shape.
        """
        count = len(tensors) // 2
        names = [f"layers.{layer}.{part}" for layer in range(count) for part in ("weight", "bias")]
        if not names or sorted(tensors) != sorted(names):
            raise ValueError(
                f"tensors must be layers.0.weight, layers.0.bias and so on, "
                f"got {', '.join(sorted(tensors)) or 'none'}"
            )
        layers: list[int] = []
        parts = []
        for layer in range(count):
            weight, bias = tensors[names[2 * layer]], tensors[names[2 * layer + 1]]
            fits = (
                weight.ndim == 2
                and bias.shape == weight.shape[:1]
                and (not layers or layers[-1] == weight.shape[1])
            )
            if not fits or {weight.dtype, bias.dtype} != {np.dtype(np.float32)}:
                raise ValueError(
                    f"layers.{layer} has weights {weight.dtype} {weight.shape} and biases "
                    f"{bias.dtype} {bias.shape}, which do not fit together as float32 layers"
                )
            if not layers:
                layers.append(weight.shape[1])
            layers.append(weight.shape[0])
            parts += [weight.T.reshape(-1), bias]
        return cls(tuple(layers), activation, np.concatenate(parts))

    def tensors(self) -> dict[str, npt.NDArray[np.float32]]:
        """Copies of the matrices, named and shaped as `from_tensors` takes them."""
        tensors = {}
        at = 0
        for layer, (wide, narrow) in enumerate(self._shapes()):
            end = at + wide * narrow
            weight = self.parameters[at:end].reshape(wide, narrow).T
            tensors[f"layers.{layer}.weight"] = np.ascontiguousarray(weight)
            tensors[f"layers.{layer}.bias"] = self.parameters[end : end + narrow].copy()
            at = end + narrow
        return tensors

    def decide(
        self,
        observations: Observations,
        masks: Masks,
        keys: npt.NDArray[np.int64] | None = None,
        threads: int = 1,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Actions and probabilities for every row; no result depends on the other rows.

        Args:
            observations: float32 (B, F).
            masks: int8 (B, A); every row allows something.
            keys: 32-bit halves, int64 (B, 2), from which actions are sampled; without them the
                likeliest legal action is taken, the lowest of equal ones.
            threads: how many cores may share the rows.

        Returns:
            int64 (B,) legal actions and float64 (B, A), 0 where an action is illegal.

        Raises:
            ValueError: for another observation length or number of actions, or an observation
                that is not finite.
        """
        given = observations.shape[-1], masks.shape[-1]
        if given != (self.layers[0], self.layers[-1]):
            raise ValueError(
                f"the network takes observations of {self.layers[0]} numbers and "
                f"{self.layers[-1]} actions, got {given[0]} and {given[1]}: "
                f"it was trained with other rules"
            )
        chances = np.empty(masks.shape, np.float64)
        chosen = np.empty(len(masks), np.int64)
        # One layout, so that whatever is handed in reaches the same compiled code.
        observations = np.require(observations, np.float32, ["C", "W"])
        masks = np.require(masks, np.int8, ["C", "W"])
        drawn = np.empty((len(masks), 2), np.int64) if keys is None else keys
        sizes = np.array(self.layers, np.int64)
        activation = ACTIVATIONS.index(self.activation)

        def choose(rows: slice) -> None:
            _choose(
                observations[rows], masks[rows], drawn[rows], self.parameters, sizes, activation,
                keys is None, chances[rows], chosen[rows],
            )  # fmt: skip

        in_parallel(choose, split(len(masks), threads, _LEAST_ROWS), threads)
        if (chosen < 0).any():
            rows = np.flatnonzero(chosen < 0).tolist()
            raise ValueError(f"observations of rows {rows} give no finite number for an action")
        return chosen, chances

    def __deepcopy__(self, memo: dict[int, Any]) -> Network:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Network, (self.layers, self.activation, self.parameters)


# --- files ----------------------------------------------------------------------------------------


def describe(
    game: Game, rules: Any, network: Network, weights: bytes, *, deterministic: bool
) -> dict[str, Any]:
    """What `NAME.json` must say about `weights`, the bytes of `NAME.safetensors`."""
    return {
        "format": FORMAT,
        "game": game.name,
        "environment_version": game.version,
        "rules": rules.as_dict(),
        "observation_length": observation.length(game),
        "num_actions": game.num_actions(rules),
        "layers": list(network.layers),
        "activation": network.activation,
        "deterministic": deterministic,
        "weights_sha256": hashlib.sha256(weights).hexdigest(),
    }


def _files(path: str | Path) -> tuple[Path, Path]:
    weights = Path(path)
    if weights.suffix != ".safetensors":
        raise ValueError(
            f"model {str(path)!r} must be a file NAME.safetensors with NAME.json beside it; "
            f"no other format is read, since others may run code"
        )
    description = weights.with_suffix(".json")
    for file in (weights, description):
        if not file.is_file():
            raise ValueError(f"model file {str(file)!r} does not exist")
    return weights, description


def _read_description(path: Path) -> dict[str, Any]:
    try:
        description = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"model file {str(path)!r} cannot be read as JSON: {error}") from error
    if not isinstance(description, dict):
        raise ValueError(f"model file {str(path)!r} must hold a JSON object")
    missing = [name for name in _FIELDS if name not in description]
    if missing:
        raise ValueError(f"model file {str(path)!r} lacks the fields {', '.join(missing)}")
    for name, kind in _FIELDS.items():
        value = description[name]
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            raise ValueError(f"model file {str(path)!r}: {name} has the wrong type, got {value!r}")
    if description["format"] != FORMAT:
        raise ValueError(
            f"model file {str(path)!r} has format {description['format']}, "
            f"this version reads format {FORMAT}"
        )
    return description


def _check_environment(path: Path, description: Mapping[str, Any], wanted: str | None) -> Any:
    """The rules a model was trained with, if its environment is one we have, and the one wanted."""
    known = games.every()
    game = known.get(description["game"])
    if game is None or wanted not in (None, game.name):
        raise ValueError(
            f"model {str(path)!r} plays {description['game']!r}, it must play "
            f"{wanted or ' or '.join(known)}"
        )
    if description["environment_version"] != game.version:
        raise ValueError(
            f"model {str(path)!r} was trained on {game.name}_v"
            f"{description['environment_version']}, the environment is {game.name}_v{game.version}"
        )
    try:
        rules = game.rules(**description["rules"])
    except (TypeError, ValueError) as error:
        raise ValueError(f"model {str(path)!r} has unknown rules: {error}") from error
    for name, ours in (
        ("observation_length", observation.length(game)),
        ("num_actions", game.num_actions(rules)),
    ):
        if description[name] != ours:
            raise ValueError(
                f"model {str(path)!r} has {name} {description[name]}, the environment has {ours}"
            )
    return rules


def _read_network(path: Path, description: Mapping[str, Any]) -> Network:
    import safetensors
    import safetensors.numpy

    try:
        content = path.read_bytes()
        tensors = safetensors.numpy.load(content)
    except (OSError, ValueError, KeyError, safetensors.SafetensorError) as error:
        raise ValueError(
            f"model file {str(path)!r} is damaged or no safetensors file: {error}"
        ) from error
    if hashlib.sha256(content).hexdigest() != description["weights_sha256"]:
        raise ValueError(
            f"model file {str(path)!r} is not the one that its JSON file describes: "
            f"the checksums differ"
        )
    try:
        network = Network.from_tensors(tensors, description["activation"])
    except ValueError as error:
        raise ValueError(f"model file {str(path)!r}: {error}") from error
    _check_layers(path, network.layers, description)
    return network


def _check_layers(path: Path, layers: Sequence[int], description: Mapping[str, Any]) -> None:
    ends = [description["observation_length"], description["num_actions"]]
    if list(layers) != description["layers"] or [layers[0], layers[-1]] != ends:
        raise ValueError(
            f"model file {str(path)!r} has layers {list(layers)}, "
            f"its JSON file says {description['layers']}, {ends[0]} numbers and {ends[1]} actions"
        )


class NetworkAgent(KeyedAgent):
    """Plays a trained policy.

    Args:
        path: `NAME.safetensors`, with `NAME.json` beside it; or a `Network` already in memory.
        seed: of the agent's own stream.
        deterministic: False samples from the policy (the mixed strategy that was trained), True
            takes the likeliest legal action; None does what the file says, or samples.
        game: the name of the game that the model must play; None is any.

    Attributes:
        network: the weights.
        description: what the JSON file says; empty for a network in memory.
        rules: those of the training, None for a network in memory. The agent plays any rules with
            as many actions.
        deterministic: as chosen.

    Raises:
        ValueError: for a missing or damaged file, another format, or a model of another
            environment, naming both.
    """

    def __init__(
        self,
        path: str | Path | Network,
        seed: int | None = 0,
        deterministic: bool | None = None,
        game: str | None = None,
    ) -> None:
        super().__init__(seed)
        if deterministic is not None and not isinstance(deterministic, bool):
            raise ValueError(f"deterministic must be True, False or None, got {deterministic!r}")
        self.description: dict[str, Any] = {}
        self.rules = None
        if isinstance(path, Network):
            self.network = path
        else:
            weights, description = _files(path)
            self.description = _read_description(description)
            self.rules = _check_environment(weights, self.description, game)
            self.network = _read_network(weights, self.description)
        if deterministic is None:
            deterministic = self.description.get("deterministic", False)
        self.deterministic = deterministic
        self.action_sizes = (self.network.layers[-1],)
        self.observation_size = self.network.layers[0]

    def choose(
        self, observations: Observations, masks: Masks, keys: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        """See `KeyedAgent.choose`."""
        return self.network.decide(observations, masks, None if self.deterministic else keys)[0]

    def probabilities(self, observations: Observations, masks: Masks) -> npt.NDArray[np.float64]:
        """The policy: float32 (B, F), int8 (B, A) -> float64 (B, A), 0 where illegal."""
        return self.network.decide(observations, masks)[1]
