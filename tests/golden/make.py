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

import poke_env
from poke_env import poangpoker_v0, poke_v0, pokex_v0, poque_v0
from poke_env.aec import CardGameEnv
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
    "pokex_game.txt": {"settings": {"match": "game", "max_deals": 4}, "seed": 1981},
    "pokex_small_game_wild_jokers.txt": {
        "settings": {
            "match": "game",
            "max_deals": 8,
            "rules": pokex_v0.Rules(
                ranks=6,
                tricks=2,
                target=9,
                joker="wild",
                lead_next="winner",
                trick_tie="defenders",
                failed_bid="minus",
            ),
        },
        "seed": 1982,
    },
    "poque_session.txt": {"settings": {"match": "session"}, "seed": 1750},
    "poque_small_session_house_rules.txt": {
        "settings": {
            "match": "session",
            "rules": poque_v0.Rules(
                players=3,
                ranks=5,
                suits=3,
                hand_size=4,
                stack=16,
                deals=4,
                unopened="carry",
                allow_bluff=True,
                pay="pips",
                most_cards_double=True,
            ),
        },
        "seed": 1751,
    },
    "poangpoker_game.txt": {"settings": {"match": "game"}, "seed": 1913},
    "poangpoker_six_house_rules.txt": {
        "settings": {
            "match": "game",
            "rules": poangpoker_v0.Rules(
                players=6, must_head=False, tie="all", win_check="end_of_deal", target=9
            ),
        },
        "seed": 1914,
    },
}


def playthrough(game: str, settings: dict[str, Any], seed: int) -> Iterator[str]:
    """The lines of one match: every deck, action and score, and digests of what was seen."""
    env = poke_env.door(game).raw_env(**settings)
    # Only random() is promised to be the same in every version of Python.
    rng = random.Random(seed)
    env.reset(seed=seed)
    digest = hashlib.blake2b(digest_size=8)
    deals = 0
    yield f"match {env.match}, seed {seed}"
    yield from first_lines(env)
    while not is_over(env):
        for agent in env.possible_agents:
            observed = env.observe(agent)
            digest.update(observed["observation"].astype("<f4").tobytes())
            digest.update(observed["action_mask"].tobytes())
        legal = np.flatnonzero(env.observe(env.agent_selection)["action_mask"]).tolist()
        action = legal[int(rng.random() * len(legal))]
        text = env.action_to_text(action)
        line = f"{env.agent_selection} {text} (action {action}, {len(legal)} legal)"
        env.step(action)
        ended = len(env.score_sheet.deals) > deals
        paid = any(env.rewards.values()) and not ended
        yield f"{line}, {rewards(env)}" if paid else line
        if ended:
            deals += 1
            yield from last_lines(env, digest.hexdigest())
            if not is_over(env):
                yield from first_lines(env)


def first_lines(env: CardGameEnv) -> Iterator[str]:
    """What stands at the beginning of a deal."""
    yield ""
    yield f"deal {len(env.score_sheet.deals) + 1}, dealer player_{env.score_sheet.dealer}"
    yield f"deck {format_cards(env.deck)}"


def last_lines(env: CardGameEnv, seen: str) -> Iterator[str]:
    """What stands at the end of a deal."""
    sheet = env.score_sheet
    for name, value in sheet.deals[-1]._asdict().items():
        if name.endswith("hands"):
            yield f"hands {' | '.join(map(format_cards, value))}"
        elif name != "dealer":
            yield f"{name} {value}"
    score = {name: value for name, value in sheet._asdict().items() if name[:4] != "deal"}
    yield f"score {', '.join(f'{name} {value}' for name, value in score.items())}"
    yield rewards(env)
    yield f"digest of observations and masks {seen}"


def is_over(env: CardGameEnv) -> bool:
    """Whether the match has ended, by the rules or cut."""
    return any(env.terminations.values()) or any(env.truncations.values())


def rewards(env: CardGameEnv) -> str:
    """What the last action brought, by seat."""
    return f"rewards {' '.join(f'{reward:g}' for reward in env.rewards.values())}"


def text_of(name: str) -> str:
    """The text of a playthrough as the code plays it now."""
    return "\n".join(playthrough(name.partition("_")[0], **PLAYTHROUGHS[name])) + "\n"


if __name__ == "__main__":
    for name in PLAYTHROUGHS:
        (HERE / name).write_text(text_of(name), encoding="utf-8", newline="\n")
        print(f"wrote {HERE / name}")
