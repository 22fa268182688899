"""In the cousins no card is lost or doubled: with the stock, what lies anywhere is the pack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import poke_env
from helpers import TABLES, is_over, random_action


def members(cards: Any) -> list[int]:
    """The cards of a set that is written as bits."""
    return [card for card in range(54) if int(cards) >> card & 1]


def pack_of_pokex(env: Any) -> list[int]:
    """Cards in hand, those played, the centre, and those out of play."""
    record, tricks = env.record, env.rules.tricks
    size = 2 * tricks
    held = record["held"][:, None] >> np.arange(size) & 1 == 1
    five = record["five"][:tricks]
    played = five[:, :, :4]
    assert np.array_equal(five[:, 0, 4], five[:, 1, 4])
    return [
        *record["hand"][:, :size][held].tolist(),
        *played[played >= 0].tolist(),
        *five[:, 0, 4].tolist(),
        *env.deck[9 * tricks :],
    ]


def pack_of_poque(env: Any) -> list[int]:
    """Cards in hand, those played, the card turned up, and the stock."""
    record, players = env.record, env.rules.players
    return [
        *(card for held in record["held"] for card in members(held)),
        *record["play_card"][: record["plays"]].tolist(),
        int(record["turned"]),
        *env.deck[env.rules.hand_size * players + 1 :],
    ]


def pack_of_poangpoker(env: Any) -> list[int]:
    """Cards in hand or played from it, discards, and the stock."""
    record, players = env.record, env.rules.players
    return [
        *record["hand"][:players, : env.rules.hand_size].ravel().tolist(),
        *(card for discards in record["discards"] for card in members(discards)),
        *env.deck[int(record["dealt"]) :],
    ]


PACKS: dict[str, Callable[[Any], list[int]]] = {
    "pokex": pack_of_pokex,
    "poque": pack_of_poque,
    "poangpoker": pack_of_poangpoker,
}


@pytest.mark.parametrize("table", [table for table in TABLES if TABLES[table][0] in PACKS])
def test_cards_are_lost_or_doubled(table: str) -> None:
    game, settings = TABLES[table]
    env = poke_env.door(game).raw_env(**{**settings, "match": "deal", "reward": "points"})
    pack, rng = sorted(env.rules.pack()), np.random.default_rng(28)
    env.reset(seed=28)
    for _ in range(200):
        while not is_over(env):
            assert sorted(PACKS[game](env)) == pack
            env.step(random_action(env, rng))
        assert sorted(PACKS[game](env)) == pack
        env.reset()


@pytest.mark.parametrize("table", ["poangpoker", "poangpoker small"])
def test_discard_comes_back(table: str) -> None:
    game, settings = TABLES[table]
    env = poke_env.door(game).raw_env(**{**settings, "match": "deal"})
    rng = np.random.default_rng(28)
    env.reset(seed=28)
    for _ in range(100):
        gone: set[int] = set()
        while not is_over(env):
            discards = {card for held in env.record["discards"] for card in members(held)}
            assert gone <= discards  # and, with the test above, in nobody's hand
            gone = discards
            env.step(random_action(env, rng))
        env.reset()
