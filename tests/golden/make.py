"""Recorded playthroughs: write them anew with

    python tests/golden/make.py

after a change of rules, streams or observation layout that is meant. `test_golden.py` compares
what the code plays now with the files, so that no such change goes by unnoticed; a file that
differs means that old seeds, records or trained players no longer fit, which CHANGELOG.md says.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from poke_env import poke_v0
from poke_env.cards import format_cards

HERE = Path(__file__).parent
PLAYTHROUGHS: dict[str, dict[str, Any]] = {
    "poke_rubber.txt": {"settings": {"match": "rubber"}, "seed": 1946},
    "poke_small_game_house_rules.txt": {
        "settings": {
            "match": "game",
            "rules": poke_v0.Rules(
                ranks=6,
                suits=3,
                hand_size=4,
                max_discard=4,
                non_dealer_draws=1,
                non_dealer_values=(1, 3),
                target=15,
                must_beat=False,
                trick_unit="lead",
                poker_tie="both",
                ace_low_straight=False,
                final_tie="rubber_winner",
                follow_set_if_held=True,
                reveal_discards=True,
            ),
        },
        "seed": 1969,
    },
}


def playthrough(settings: dict[str, Any], seed: int) -> Iterator[str]:
    """The lines of one match: every deck, action and score, and digests of what was seen."""
    env = poke_v0.raw_env(**settings)
    # Only random() is promised to be the same in every version of Python.
    rng = random.Random(seed)
    env.reset(seed=seed)
    digest = hashlib.blake2b(digest_size=8)
    deals = 0
    yield f"match {env.match}, seed {seed}"
    yield from first_lines(env)
    while not env.terminations["player_0"]:
        for agent in env.possible_agents:
            observed = env.observe(agent)
            digest.update(observed["observation"].astype("<f4").tobytes())
            digest.update(observed["action_mask"].tobytes())
        legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()
        action = legal[int(rng.random() * len(legal))]
        text = env.action_to_text(action)
        yield f"{env.agent_selection} {text} (action {action}, {len(legal)} legal)"
        env.step(action)
        if len(env.score_sheet.deals) > deals:
            deals += 1
            yield from last_lines(env, digest.hexdigest())
            if not env.terminations["player_0"]:
                yield from first_lines(env)


def first_lines(env: poke_v0.raw_env) -> Iterator[str]:
    """What stands at the beginning of a deal."""
    yield ""
    yield f"deal {len(env.score_sheet.deals) + 1}, dealer player_{env.score_sheet.dealer}"
    yield f"deck {format_cards(env.deck)}"


def last_lines(env: poke_v0.raw_env, seen: str) -> Iterator[str]:
    """What stands at the end of a deal."""
    deal = env.score_sheet.deals[-1]
    hands = " | ".join(format_cards(hand) for hand in deal.final_hands)
    yield f"hands {hands}"
    for name in deal._fields[2:]:
        yield f"{name} {getattr(deal, name)}"
    sheet = env.score_sheet
    yield f"score below {sheet.below}, above {sheet.above}, games {sheet.games}"
    yield f"rewards {env.rewards['player_0']:g} {env.rewards['player_1']:g}"
    yield f"digest of observations and masks {seen}"


def text_of(name: str) -> str:
    """The text of a playthrough as the code plays it now."""
    return "\n".join(playthrough(**PLAYTHROUGHS[name])) + "\n"


if __name__ == "__main__":
    for name in PLAYTHROUGHS:
        (HERE / name).write_text(text_of(name), encoding="utf-8", newline="\n")
        print(f"wrote {HERE / name}")
