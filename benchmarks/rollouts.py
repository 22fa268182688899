"""Random play without observations, `envs.play_at_random`, against Pgx, OpenSpiel and RLCard.

OpenSpiel is measured twice: as Python code that plays its states, and as its own compiled bots.
RLCard plays its random agents. Both use one core, Pgx what XLA takes; the table shows ours on one
core, too.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from benchmarks import machine, peers
from benchmarks.batch import ROWS, RandomPlay
from benchmarks.rounds import Scale, Turn, alternate, best_of, compared, per_round, timed
from benchmarks.tables import Table

DECISIONS = 100
"""In every row between two looks at the clock."""
GAMES = {"pyspiel": ("leduc_poker", "gin_rummy"), "rlcard": ("leduc-holdem", "gin-rummy")}


def measure(scale: Scale) -> list[Table]:
    """Decisions per second of random play."""
    everywhere = f"`play_at_random`, all cores ({machine.cores()})"
    alone = "`play_at_random`, 1 thread"
    turns: dict[str, Turn] = {
        everywhere: partial(timed, step=compiled_play(None)),
        alone: partial(timed, step=compiled_play(1)),
    }
    pgx_names: list[str] = []
    if peers.installed("jax", "pgx"):
        from benchmarks.pgx_peer import players

        for name, peer in players(ROWS, machine.cores()).items():
            pgx_names.append(name)
            turns[name] = partial(timed, step=peer.play)
    if peers.installed("pyspiel"):
        for game in GAMES["pyspiel"]:
            turns[f"OpenSpiel `{game}`, Python loop"] = partial(timed, step=open_spiel_play(game))
            turns[f"OpenSpiel `{game}`, C++ bots"] = partial(timed, step=open_spiel_bots(game))
    if peers.installed("rlcard"):
        for game in GAMES["rlcard"]:
            turns[f"RLCard `{game}`"] = partial(timed, step=rlcard_play(game))
    speeds = alternate(turns, scale)
    if pgx_names:
        speeds["the faster of Pgx's two in each round"] = best_of([speeds[n] for n in pgx_names])
    rows = []
    for name, speed in speeds.items():
        times, spread = compared(speeds[everywhere], speed)
        one_thread, _ = compared(speeds[alone], speed)
        own = name in (everywhere, alone)
        rows.append(
            (
                name,
                f"{speed.rate / 1e6:,.3f}",
                f"{speed.cores:.1f}",
                *(("–", "–", "–") if own else (times, spread, one_thread)),
            )
        )
    columns = ("", "million decisions/s", "cores busy")
    return [
        Table(
            f"Random play without observations, batch of {ROWS:,}",
            (*columns, "ours is faster by", "over rounds", "on 1 thread by"),
            rows,
            f"{scale.note} Pgx goes on writing its observations, which are part of its state. The "
            f"goal against it is 10 ×.",
            per_round(speeds),
        )
    ]


def compiled_play(threads: int | None) -> Callable[[], int]:
    """Our rollouts."""
    envs = RandomPlay(threads=threads).envs

    def play() -> int:
        envs.play_at_random(DECISIONS, 0)
        return DECISIONS * ROWS

    return play


def open_spiel_play(name: str) -> Callable[[], int]:
    """One match of OpenSpiel, played by Python code; returns the players' decisions."""
    import pyspiel

    game = pyspiel.load_game(name)
    chance = random.Random(0)

    def play() -> int:
        decisions = 0
        state = game.new_initial_state()
        while not state.is_terminal():
            if state.is_chance_node():
                actions, weights = zip(*state.chance_outcomes(), strict=True)
                state.apply_action(chance.choices(actions, weights)[0])
            else:
                state.apply_action(chance.choice(state.legal_actions()))
                decisions += 1
        return decisions

    return play


def open_spiel_bots(name: str) -> Callable[[], int]:
    """Matches of OpenSpiel's compiled random bots, which do not tell how many decisions they made.

    They are counted as the mean of matches that Python code played, with the same policy.
    """
    import pyspiel

    game = pyspiel.load_game(name)
    play = open_spiel_play(name)
    count = 200
    decisions = sum(play() for _ in range(count))
    bots = [pyspiel.make_uniform_random_bot(seat, seat) for seat in range(game.num_players())]
    seeds = iter(range(2**31))

    def play_bots() -> int:
        for _ in range(count):
            pyspiel.evaluate_bots(game.new_initial_state(), bots, next(seeds))
        return decisions

    return play_bots


def rlcard_play(name: str) -> Callable[[], int]:
    """One match of RLCard's random agents; returns their decisions."""
    import rlcard
    from rlcard.agents import RandomAgent

    env = rlcard.make(name, config={"seed": 0})
    env.set_agents([RandomAgent(num_actions=env.num_actions) for _ in range(env.num_players)])

    def play() -> int:
        before = env.timestep
        env.run(is_training=False)
        return int(env.timestep - before)

    return play
