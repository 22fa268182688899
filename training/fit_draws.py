"""Makes the heuristic player's table: `python -m training.fit_draws --out agents/draw_table.py`.

One player explores: he stands pat, draws greedily or draws anything, and plays his tricks as the
heuristic player does, who is his opponent. What he kept at his last decision is then compared with
what the deal brought him. Half of the deals are played at 0-0, the others at any score of a game.

The heuristic player draws by the table that is there, so the command is repeated until the table
changes by no more than chance. Begun with the tables empty, that takes four rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import agents
from agents.heuristic import MIDDLE
from agents.holdings import holding
from agents.poke_reading import READING, read
from agents.reading import RANKS, count_bits
from poke_env import _files, engine, observation, streams
from poke_env._jit import compiled
from poke_env.cards import Category
from poke_env.games.poke import DRAW, OVER, POKE, PRESETS, Rules
from poke_env.settings import Settings as MatchSettings
from training import cli

_HOLDINGS = [category.name.lower() for category in Category]
_HOLDINGS += ["inside_straight", "open_straight", "four_flush"]

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Settings:
    """How the table is measured."""

    out: Path = Path("agents/draw_table.py")
    """the module that is written"""
    deals: int = 600_000
    """deals for each preset"""
    least: int = 50
    """holdings seen less often are left out"""
    seed: int = 20_240
    """of cards and choices"""


def explore(rules: Rules, deals: int, seed: int) -> tuple[Array, Array, Array]:
    """Play deals between the explorer, in seat 0, and the heuristic player.

    Returns:
        What the explorer kept at his last decision, int64 (N, 5 + 13): whether he dealt, the
        opponent's last draw, the holding, cards changed, draws made, cards kept of each rank; the
        cards he took, float64 (N,); his poker points less the opponent's, float64 (N,).
    """
    rng = np.random.default_rng(seed)
    settings = MatchSettings(POKE, "deal", rules=rules)
    rows, seen, masks = deal(settings, deals, seed, rng)
    state = rows["state"]
    heuristic, greedy, anything = (agents.make(name) for name in ("heuristic", "greedy", "random"))
    kept = []
    while (live := np.flatnonzero(state["phase"] != OVER)).size:
        keys = rng.integers(0, 2**64, live.size, np.uint64)
        chosen = heuristic.act_batch(seen[live], masks[live], keys)
        explores = (state["phase"][live] == DRAW) & (state["player"][live] == 0)
        if explores.any():
            who, keys = live[explores], keys[explores]
            how = rng.random(who.size)
            chosen[explores] = np.select(
                [how < 0.4, how < 0.75],
                [0, greedy.act_batch(seen[who], masks[who], keys)],
                anything.act_batch(seen[who], masks[who], keys),
            )
            kept.append((who, _describe(seen[who], masks[who], chosen[explores])))
        rows["action"][live] = chosen
        engine.step(rows, settings.equity, seen, masks)
    row, described = (np.concatenate(parts) for parts in zip(*kept, strict=True))
    last = described[:, 4] == state["draw_count"][row, 0]
    row = row[last]
    poker = state["deal_poker"][row, 0] - state["deal_poker"][row, 1]
    return described[last], state["deal_taken"][row, 0].astype(float), poker.astype(float)


def deal(
    settings: MatchSettings, deals: int, seed: int, rng: np.random.Generator
) -> tuple[Any, Any, Any]:
    """Deal once each: rows of the engine, observations and masks.

    Half of the deals begin at 0-0, the others at any score of a game.
    """
    rows = np.repeat(settings.template, deals)
    score = rng.integers(0, settings.rules.target, (deals, 2))
    rows["state"]["below"] = np.where(rng.random((deals, 1)) < 0.5, 0, score)
    rows["stream"]["key"] = streams.seed_words(seed)
    rows["stream"]["match"] = np.arange(deals)
    seen = np.zeros((deals, observation.length(POKE)), np.float32)
    masks = np.zeros((deals, settings.num_actions), np.int8)
    no_decks = np.zeros((deals, 0, len(settings.pack)), np.int8)
    engine.deal(rows, no_decks, settings.pack, settings.equity, seen, masks)
    return rows, seen, masks


@compiled
def _describe(
    seen: npt.NDArray[np.float32], masks: npt.NDArray[np.int8], chosen: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    described = np.zeros((seen.shape[0], 5 + RANKS), np.int64)
    readings = np.zeros(1, READING)
    for i in range(seen.shape[0]):
        reading = readings[0]
        read(seen[i], masks[i], reading)
        kept = reading["held"] & ~chosen[i]
        changed = count_bits(chosen[i])
        described[i, 0] = reading["dealer"]
        described[i, 1] = reading["last_draw"][1]
        described[i, 2] = holding(reading["ranks"], reading["suits"], kept, reading["size"])
        described[i, 3] = changed
        described[i, 4] = reading["draws"][0] + (changed > 0)
        for slot in range(reading["size"]):
            if (kept >> slot) & 1:
                described[i, 5 + reading["ranks"][slot]] += 1
    return described


def fit(size: int, described: Array, cards: Array, poker: Array) -> dict[str, Array]:
    """Least squares: a constant for each holding, slopes by rank, and the opponent's last draw.

    Returns:
        `places` int64 (H, 3): whether he dealt, holding, cards changed; `often` int64 (H,);
        `constants` float64 (2, H), `slopes` float64 (2, 6): cards, poker points.
    """
    places, cell, often = np.unique(
        described[:, [0, 2, 3]], axis=0, return_inverse=True, return_counts=True
    )
    cell = cell.reshape(-1)  # NumPy 2.0 alone gives it another shape
    kept = described[:, 5:]
    ranks = np.arange(RANKS) - MIDDLE[size]
    by_rank = [(of_count * ranks).sum(axis=1) for of_count in (kept == 1, kept == 2, kept >= 3)]
    dealt = described[:, 0] == 1
    drew = [dealt & (described[:, 1] == changed) for changed in (1, 2, 3)]
    design = np.stack([*by_rank, *drew], axis=1).astype(float)
    means = np.stack([np.bincount(cell, column) / often for column in design.T], axis=1)
    constants, slopes = [], []
    for outcome in (cards, poker):
        mean = np.bincount(cell, outcome) / often
        solved = np.linalg.lstsq(design - means[cell], outcome - mean[cell], rcond=None)[0]
        slopes.append(solved)
        constants.append(mean - means @ solved)
    return {
        "places": places,
        "often": often,
        "constants": np.array(constants),
        "slopes": np.array(slopes),
    }


def as_module(fits: dict[int, dict[str, Array]], settings: Settings) -> str:
    """The source of `agents/draw_table.py`."""
    holdings, ranks, opponents = [], [], []
    for size, found in fits.items():
        for (dealer, kind, changed), often, cards, poker in zip(
            found["places"], found["often"], *found["constants"], strict=True
        ):
            if often >= settings.least:
                place = f"({size}, {dealer}, {kind}, {changed})"
                holdings.append(f"    {place}: ({cards:.2f}, {poker:.1f}),  # {_HOLDINGS[kind]}")
        by_rank = (found["slopes"][:, :3].round(3) + 0.0).tolist()  # no -0.0
        ranks.append(f"    {size}: ({', '.join(str(tuple(part)) for part in by_rank)}),")
        against = [0.0, *found["slopes"][0, 3:].round(2).tolist()]
        opponents.append(f"    {size}: {tuple(against)},")
    return _MODULE.format(
        settings=f"--deals {settings.deals} --least {settings.least} --seed {settings.seed}",
        holdings="\n".join(holdings),
        ranks="\n".join(ranks),
        opponents="\n".join(opponents),
    )


_MODULE = '''"""What a hand is expected to bring; measured in play, not written by hand.

Made by `python -m training.fit_draws {settings}`.
"""

HOLDINGS = {{
{holdings}
}}
"""Hand size, whether the player deals, what he keeps, cards he changes: cards he takes of a hand
size, and his poker points less the opponent's, if he stands on what comes and every card kept is of
the middle rank."""

RANK = {{
{ranks}
}}
"""By hand size, what a rank more adds to the cards taken, and to the poker points, for a single
card, a pair, three or more that are kept."""

OPPONENT = {{
{opponents}
}}
"""By hand size, what it adds to the dealer's cards taken that the other changed 0, 1, 2 or 3 cards
in his last draw."""
'''


@cli.main
def main(settings: Settings) -> None:
    """Measure what holdings bring and write the heuristic player's table."""
    fits = {}
    for rules in sorted(PRESETS.values(), key=lambda rules: rules.hand_size):
        print(f"hands of {rules.hand_size}: {settings.deals} deals")
        parts = [
            explore(rules, min(100_000, settings.deals - start), settings.seed + start)
            for start in range(0, settings.deals, 100_000)
        ]
        fits[rules.hand_size] = fit(
            rules.hand_size, *(np.concatenate(part) for part in zip(*parts, strict=True))
        )
    _files.write(settings.out, as_module(fits, settings))
    print(f"table: {settings.out}")


if __name__ == "__main__":
    main()
