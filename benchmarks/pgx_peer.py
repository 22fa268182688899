"""Pgx's Leduc hold'em, many matches at once, with random legal actions and automatic resets."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp

GAME = "leduc_holdem"
CHUNK = 20
"""Steps that JAX may queue before they are waited for: nothing forces it to stop at each."""


@cache
def players(rows: int, cores: int) -> dict[str, Peer]:
    """Pgx's ways of using the cores of this machine.

    On a CPU, XLA runs most of one step on one thread. Splitting the rows between as many devices as
    there are cores is the documented way to use them all.
    """
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", cores)  # before the first array, so before Pgx
    found = {f"Pgx `{GAME}`": Peer(rows, 1)}
    if cores > 1:
        found[f"Pgx `{GAME}`, `pmap` over {cores} devices"] = Peer(rows, cores)
    return found


class Peer:
    """A batch of Pgx's."""

    def __init__(self, rows: int, devices: int) -> None:
        import pgx
        from pgx.experimental import auto_reset

        env = pgx.make(GAME)
        step = jax.vmap(auto_reset(env.step, env.init))

        def choose(state: Any, key: Any) -> tuple[Any, Any, Any]:
            key, for_actions, for_steps = jax.random.split(key, 3)
            logits = jnp.log(state.legal_action_mask.astype(jnp.float32))
            actions = jax.random.categorical(for_actions, logits, axis=1)
            return actions, jax.random.split(for_steps, len(actions)), key

        def play(state: Any, key: Any) -> tuple[Any, Any]:
            actions, keys, key = choose(state, key)
            return step(state, actions, keys), key

        self.rows = rows
        transform: Any = jax.jit
        keys = jax.random.split(jax.random.PRNGKey(0), rows)
        key = jax.random.PRNGKey(1)
        if devices > 1:
            transform = jax.pmap
            keys = keys.reshape(devices, rows // devices, *keys.shape[1:])
            key = jax.random.split(key, devices)
        self._choose, self._step, self._play = map(transform, (choose, step, play))
        self._key = key
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # JAX's, of its own deprecations
            self._state = transform(jax.vmap(env.init))(keys)
            self.choose()
            self.step()
            self.play()

    @property
    def written(self) -> int:
        """Bytes of a row's observation and mask."""
        arrays = self._state.observation, self._state.legal_action_mask
        return int(sum(array.nbytes for array in arrays)) // self.rows

    def choose(self) -> None:
        """Draw the next actions and keys, and wait for them."""
        self._actions, self._keys, self._key = self._choose(self._state, self._key)
        jax.block_until_ready((self._actions, self._keys))

    def step(self) -> int:
        """Carry them out, and wait for it."""
        self._state = jax.block_until_ready(self._step(self._state, self._actions, self._keys))
        return self.rows

    def play(self) -> int:
        """Choose and step some times, and wait for the last."""
        for _ in range(CHUNK):
            self._state, self._key = self._play(self._state, self._key)
        jax.block_until_ready(self._state)
        return CHUNK * self.rows
