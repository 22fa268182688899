"""Compiled code kept on disk: a second start compiles nothing, an edited rule is noticed."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from helpers import ROOT, run_python

# Plays a match as far as it goes and prints what it paid and how many functions were compiled.
PLAY = """
from numba.core import event
with event.install_recorder("numba:compile") as compiled:
    from poke_env import poke_v0
    from poke_env.agent import RandomAgent
    env = poke_v0.raw_env(match="deal")
    env.reset(seed=0)
    agent = RandomAgent(seed=0)
    while not env.terminations["player_0"]:
        env.step(agent.act(env.observe(env.agent_selection)))
        env.clone().get_state()
    twin = poke_v0.raw_env(match="deal")
    twin.set_state(env.get_state())
    learner = poke_v0.single_env(rules="tiny")
    learner.reset(seed=0)
    learner.step(0)
print(env.rewards["player_0"], env.score_sheet.deals[0].below, len(compiled.buffer))
"""

# A loop of one's own, outside the package, over a rule that is found by the record's type.
LOOP = """
import numpy as np
from numba.core import event
from poke_env._jit import compiled
from poke_env.games import base, poke

@compiled
def pays(states, rewards):
    return base.points(states[0], 10.0, rewards)

states = np.zeros(1, poke.STATE)
states["phase"] = poke.OVER
states["deal_sweep"][0] = 250, 0
states["deal_below"][0] = 5, 0
rewards = np.zeros(2)
with event.install_recorder("numba:compile") as recorder:
    pays(states, rewards)
print(rewards[0], len(recorder.buffer))
"""


COMPILE = {"NUMBA_DISABLE_JIT": "0"}


def start(folder: Path, script: str) -> list[str]:
    """Run a script that imports the package in `folder`; the words it printed."""
    variables = {**COMPILE, "NUMBA_CACHE_DIR": "", "PYTHONDONTWRITEBYTECODE": "1"}
    return run_python(script, path=[folder], variables=variables).split()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the package without any compiled code."""
    shutil.copytree(
        ROOT / "poke_env", tmp_path / "poke_env", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert re.search(old, text), f"{old!r} is no longer in {file.name}: choose another rule here"
    file.write_text(re.sub(old, new, text), encoding="utf-8")


def test_second_start_compiles_again() -> None:
    """Of the package as it is: whatever the first start left to do, the second does nothing."""
    run_python("-c", PLAY, variables=COMPILE)
    assert run_python("-c", PLAY, variables=COMPILE).split()[-1] == "0"


def test_edit_is_not_noticed_by_a_loop_elsewhere(checkout: Path) -> None:
    """Neither an edit of a rule that the loop calls, nor one of the loop itself."""
    script = checkout / "elsewhere" / "loop.py"
    script.parent.mkdir()
    script.write_text(LOOP, encoding="utf-8")
    paid, count = start(checkout, str(script))
    assert paid == "300.0"  # 250 above the line, 5 below at 10 each
    assert int(count) > 0
    assert start(checkout, str(script)) == ["300.0", "0"]

    edit(checkout / "poke_env" / "games" / "poke.py", r'state\["deal_sweep"\]\[seat\]\n', "7\n")
    assert start(checkout, str(script))[0] == "50.0"  # 7 above the line for both
    edit(script, "10.0", "20.0")
    assert start(checkout, str(script))[0] == "100.0"


@pytest.mark.slow
def test_edited_rule_is_not_noticed_by_the_environment(checkout: Path) -> None:
    script = checkout / "play.py"
    script.write_text(PLAY, encoding="utf-8")
    before = start(checkout, str(script))
    assert int(before[-1]) > 0
    assert start(checkout, str(script)) == [*before[:-1], "0"]

    edit(
        checkout / "poke_env" / "games" / "poke.py",
        r"units \* trick_value",
        "units * 7 * trick_value",
    )
    after = start(checkout, str(script))
    assert int(after[-1]) > 0
    assert after[:-1] != before[:-1]
    assert start(checkout, str(script)) == [*after[:-1], "0"]

    # And back: the old result, and again nothing of what the edit gave.
    edit(checkout / "poke_env" / "games" / "poke.py", r"units \* 7 \* ", "units * ")
    assert start(checkout, str(script))[:-1] == before[:-1]
