"""Play fixed matches of every configuration and print a digest of all that can be read.

Run it with and without `NUMBA_DISABLE_JIT=1`: the lines must be the same.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

import poke_env
from helpers import RULES, TABLES, is_over, legal_actions
from poke_env import poke_v0
from poke_env.agent import RandomAgent

MATCHES = {"deal": 5, "game": 2, "rubber": 1}


def digest_of_matches(env: Any, seed: int, matches: int) -> str:
    """Records, observations, masks and rewards at every step, and the pads, as one number."""
    digest = hashlib.blake2b(digest_size=16)
    rng = random.Random(seed)
    env.reset(seed=seed)
    for number in range(matches):
        if number:
            env.reset()
        while True:
            digest.update(env.record.tobytes())
            for agent in env.possible_agents:
                for array in env.observe(agent).values():
                    digest.update(array.tobytes())
            digest.update(repr((env.agent_selection, env.rewards)).encode())
            if is_over(env):
                break
            env.step(legal_actions(env)[int(rng.random() * len(legal_actions(env)))])
        digest.update(repr(env.score_sheet).encode())
    return digest.hexdigest()


def digest_of_learning(seed: int) -> str:
    """The same for the environment of one learner against a random opponent."""
    digest = hashlib.blake2b(digest_size=16)
    rng = random.Random(seed)
    env = poke_v0.single_env(opponent=RandomAgent())
    for number in range(10):
        observation, info = env.reset(seed=seed if number == 0 else None)
        over = False
        while not over:
            legal = env.action_masks().nonzero()[0].tolist()
            digest.update(observation.tobytes() + repr((info["seat"], legal)).encode())
            observation, reward, over, _, info = env.step(legal[int(rng.random() * len(legal))])
            digest.update(repr(reward).encode())
    return digest.hexdigest()


def digest_of_batch(seed: int, game: str = "poke", **settings: Any) -> str:
    """The same for a batch, with a stretch of play that is not observed."""
    digest = hashlib.blake2b(digest_size=16)
    rng = np.random.default_rng(seed)
    envs = poke_env.make_batch(game, 3, seed, **settings)
    shown = envs.reset(options={"deck": [[49, 45, 48], [], [44]], "skip": [0, 1, 2]})
    for step in range(45):
        for array in (*shown, envs.record, envs.final_observation, envs.truncated):
            digest.update(array.tobytes())
        scores = np.where(shown[1], rng.random(shown[1].shape), -1.0)
        shown = envs.step(scores.argmax(axis=1), rng.random(3) < 0.9)
        if step == 20:
            ended, rewards = envs.play_at_random(9, seed)
            digest.update(repr((ended, rewards.tolist())).encode())
            shown = envs.observe()
    digest.update(envs.get_state())
    return digest.hexdigest()


def digest_of_vector(seed: int) -> str:
    """The same for the vector environment, illegal actions among the others."""
    digest = hashlib.blake2b(digest_size=16)
    rng = np.random.default_rng(seed)
    envs = poke_v0.vector_env(3, rules="small", match="rubber", max_deals=2)
    seen, infos = envs.reset(seed=seed)
    for _ in range(40):
        masks = infos["action_mask"]
        digest.update(seen.tobytes() + masks.tobytes() + infos["seat"].tobytes())
        actions = np.where(masks, rng.random(masks.shape), -1.0).argmax(axis=1)
        actions[rng.random(3) < 0.02] = -1
        seen, *brought, infos = envs.step(actions)
        for array in brought:
            digest.update(array.tobytes())
        for final in infos.get("final_obs", ()):
            digest.update(b"" if final is None else final.tobytes())
    return digest.hexdigest()


def lines() -> Iterator[str]:
    """One line for each configuration."""
    for name, rules in RULES.items():
        for match, matches in MATCHES.items():
            for reward in ("points", "win"):
                env = poke_v0.raw_env(match=match, reward=reward, rules=rules)
                yield f"{name} {match} {reward} {digest_of_matches(env, 11, matches)}"
    for name, (game, table) in TABLES.items():
        env = poke_env.door(game).raw_env(**table)
        yield f"{name} {digest_of_matches(env, 11, 2)} {digest_of_batch(11, game, **table)}"
    yield f"learner {digest_of_learning(11)}"
    for settings in ({}, {"rules": "small", "match": "game"}, {"rules": "tiny", "reward": "win"}):
        yield f"batch {settings} {digest_of_batch(11, **settings)}"
    yield f"vector {digest_of_vector(11)}"


if __name__ == "__main__":
    print("\n".join(lines()))
