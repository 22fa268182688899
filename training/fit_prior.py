"""Counts what draws tell of hands: `python -m training.fit_prior --out agents/prior.npz`.

Scripted players draw against each other, half of the deals at 0-0, the others at any score of a
game. How often a class of hands ends the draw phase after certain draws is then compared with how
often it is dealt. See `agents.prior`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.progress import track

import agents
from agents.prior import CLASSES, HISTORIES, TYPES, classes, hand_type, history_number, pack
from agents.reading import RANKS
from agents.tricks import ADDED, CHOOSE, FIRST_HAND, HAND_RANKS
from poke_env import _files, engine
from poke_env._jit import compiled
from poke_env.games.poke import DRAW, POKE, PRESETS, Rules
from poke_env.settings import Settings as MatchSettings
from training import cli
from training.fit_draws import deal

Counts = npt.NDArray[np.float64]

PLAYERS = {"heuristic": 5, "never_double": 1, "always_double": 1, "greedy": 1}
"""Who draws, and how often."""

AT_ONCE = 100_000


@dataclass(frozen=True)
class Settings:
    """How the prior is counted."""

    out: Path = Path("agents/prior.npz")
    """the file that is written"""
    deals: int = 2_000_000
    """deals for each preset"""
    doubt: float = 30.0
    """hands after each history that are counted as if the draws had told nothing"""
    seed: int = 20_250
    """of cards and choices"""
    quick: bool = False
    """a fiftieth of the deals, in some seconds: a rough prior, to try the command"""


def count(rules: Rules, deals: int, seed: int) -> Counts:
    """Play the draw phase of deals and count final hands: float64 (HISTORIES, TYPES)."""
    rng = np.random.default_rng(seed)
    match = MatchSettings(POKE, "deal", rules=rules)
    rows, seen, masks = deal(match, deals, seed, rng)
    state = rows["state"]
    players = [agents.make(name) for name in PLAYERS]
    shares = np.array(list(PLAYERS.values())) / sum(PLAYERS.values())
    drawer = rng.choice(len(players), (deals, 2), p=shares)
    while (live := np.flatnonzero(state["phase"] == DRAW)).size:
        rows["action"] = masks.argmax(axis=1)  # where the draws are over, anything
        for number, player in enumerate(players):
            turn = live[drawer[live, state["player"][live]] == number]
            keys = rng.integers(0, 2**64, turn.size, np.uint64)
            rows["action"][turn] = player.act_batch(seen[turn], masks[turn], keys)
        engine.step(rows, match.equity, seen, masks)
    counts = np.zeros((HISTORIES, TYPES))
    _add(rows, counts)
    return counts


@compiled
def _add(rows: npt.NDArray[np.void], counts: Counts) -> None:
    changed = np.zeros(3, np.int64)
    for row in range(rows.shape[0]):
        state = rows[row]["state"]
        for seat in range(2):
            changed[:] = state["draw_size"][seat]
            hand, flush = np.int64(0), 1
            for slot in range(state["rules"]["hand_size"]):
                card = np.int64(state["hand"][seat, slot])
                hand = np.int64(ADDED[hand, card >> 2])
                if (card & 3) != (np.int64(state["hand"][seat, 0]) & 3):
                    flush = 0
            history = history_number(int(state["dealer"] == seat), changed)
            counts[np.int64(history), np.int64(hand_type(int(hand), flush))] += 1


def dealt(rules: Rules) -> npt.NDArray[np.float64]:
    """How often every type is dealt, float64 (TYPES,) with sum 1."""
    size = rules.hand_size
    ways = np.zeros(TYPES)
    for hand in range(FIRST_HAND[size], FIRST_HAND[size + 1]):
        held = np.bincount(HAND_RANKS[hand, :size], minlength=RANKS)
        if held[: RANKS - rules.ranks].any() or held.max() > rules.suits:
            continue
        flushes = rules.suits if held.max() == 1 else 0
        ways[hand_type(hand, 1)] = flushes
        ways[hand_type(hand, 0)] = CHOOSE[rules.suits, held[held > 0]].prod() - flushes
    return np.asarray(ways / ways.sum())


def likelihoods(counts: Counts, chances: npt.NDArray[np.float64], doubt: float) -> Counts:
    """How much likelier each class is after each history: float64 (HISTORIES, CLASSES), above 0.

    Args:
        counts: float64 (HISTORIES, TYPES).
        chances: float64 (TYPES,), see `dealt`.
        doubt: see `Settings.doubt`.
    """
    of_type = classes()
    expected = np.bincount(of_type, chances, CLASSES)
    found = np.stack([np.bincount(of_type, row, CLASSES) for row in counts])
    known = expected > 0
    likely = np.ones((HISTORIES, CLASSES))
    seen = found.sum(axis=1, keepdims=True) + doubt
    likely[:, known] = (found[:, known] + doubt * expected[known]) / seen / expected[known]
    return likely


@cli.main
def main(settings: Settings) -> None:
    """Count what draws tell of hands and write the prior."""
    deals = settings.deals // 50 if settings.quick else settings.deals
    if settings.quick:
        print(f"This is a quick run of {deals:,} deals: its prior is a rough one.")
    packed = pack(np.ones((HISTORIES, CLASSES)))
    for rules in PRESETS.values():
        counts = np.zeros((HISTORIES, TYPES))
        parts = range(0, deals, AT_ONCE)
        hands = f"hands of {rules.hand_size}"
        for start in track(parts, hands, console=Console(stderr=True), transient=True):
            counts += count(rules, min(AT_ONCE, deals - start), settings.seed + start)
        chances = dealt(rules)
        own = np.unique(classes()[chances > 0])
        packed[:, own] = pack(likelihoods(counts, chances, settings.doubt)[:, own])
    with _files.replacing(settings.out) as temporary:
        np.savez_compressed(temporary, likelihoods=packed)
    print(f"prior: {settings.out}")


if __name__ == "__main__":
    main()
