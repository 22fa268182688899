"""Players that tests of tournaments let play: sound ones and such as go wrong in every way.

Importable by name, so that worker processes find them too.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import poke_env
from poke_env import poke_v0
from poke_env.agent import RandomAgent
from poke_env.games.poke import AT
from training.meeting import Duel, Meeting, Shared

COLUMNS = ("points", "dealers", "decisions", "standing_deals", "standing_points")


def of_two(meeting: Meeting) -> Duel:
    """The duel of the two players at a table of two."""
    return Duel((Shared(meeting, 0, 1),))


def same(one: Duel | Meeting, other: Duel | Meeting) -> bool:
    """Whether two duels or two meetings are equal in everything."""
    columns = (*COLUMNS, "winners" if isinstance(one, Duel) else "places")
    return (
        one.forfeits == other.forfeits
        and one.records == other.records
        and all(np.array_equal(getattr(one, name), getattr(other, name)) for name in columns)
        and (one.luck is None) == (other.luck is None)
        and (one.luck is None or np.array_equal(one.luck, other.luck))
    )


# --- sound ones -----------------------------------------------------------------------------------


class Lowest(RandomAgent):
    """Always the first legal action."""

    deterministic = True

    def choose(self, observations: Any, masks: Any, keys: Any) -> Any:
        return (masks != 0).argmax(axis=1)


class Highest(RandomAgent):
    """Always the last legal action."""

    deterministic = True

    def choose(self, observations: Any, masks: Any, keys: Any) -> Any:
        return masks.shape[1] - 1 - (masks[:, ::-1] != 0).argmax(axis=1)


class Peeking(RandomAgent):
    """Changes the more cards the better its hand is, and plays as high as it may."""

    def choose(self, observations: Any, masks: Any, keys: Any) -> Any:
        ranks = observations[:, AT["hand_rank"] :][:, :65].reshape(-1, 5, 13)
        high = (ranks * np.arange(13)).sum(axis=(1, 2))
        wanted = np.select([high > 40, high > 32, high > 25], [0b111, 0b11, 0b1], 0)
        last = masks.shape[1] - 1 - (masks[:, ::-1] != 0).argmax(axis=1)
        fits = masks[np.arange(len(masks)), wanted] != 0
        return np.where(fits & (masks[:, 0] != 0), wanted, last)


class OneByOne(RandomAgent):
    """Has only its own `act`: every match gets a copy."""

    def act(self, observation: Any, key: Any = None) -> int:
        return super().act(observation, key)


class Bare:
    """Has `act` and nothing else."""

    def act(self, observation: Any, key: Any = None) -> int:
        legal = np.flatnonzero(observation["action_mask"])
        return int(legal[int(key) % len(legal)])


class Remembering:
    """Has only `act`, plays by all that it has seen in a match, and must sit in one seat."""

    def __init__(self, game: str) -> None:
        self.game = game
        self.seeds: list[Any] = []

    def reset(self, seed: int | None = None) -> None:
        self.seeds.append(seed)
        self.dealer: Any = None
        self.memory = float(seed or 0) % 997

    def act(self, observation: Any, key: Any = None) -> int:
        dealer = poke_env.door(self.game).decode(observation)["dealer"]
        assert self.dealer in (None, dealer), "it sees what another seat sees"
        self.dealer = dealer  # as seen from its seat, in a match of one deal
        self.memory += float(observation["observation"].sum())
        legal = np.flatnonzero(observation["action_mask"])
        return int(legal[int(1000 * self.memory) % len(legal)])


class Adaptive(RandomAgent):
    """Changes its play with all it has ever seen; a reset does not make it forget."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = 0.0

    def act(self, observation: Any, key: Any = None) -> int:
        self.seen += float(observation["observation"].sum())
        legal = np.flatnonzero(observation["action_mask"])
        return int(legal[int(1000 * self.seen) % len(legal)])


class Wide(OneByOne):
    """Returns NumPy's arrays of no dimension."""

    def act(self, observation: Any, key: Any = None) -> Any:
        return np.array(super().act(observation, key))


class Rude(RandomAgent):
    """Leaves its mark on all it can reach: its arguments, random state, folder and screen."""

    def act_batch(self, observations: Any, masks: Any, keys: Any = None) -> Any:
        chosen = super().act_batch(observations, masks, keys)
        for array in (observations, masks, keys):
            array[:] = 1
        np.random.seed(1)  # noqa: NPY002
        os.chdir("/")
        print("ha")
        return chosen


class RudeOneByOne(Rude):
    """The same, match by match."""

    def act(self, observation: Any, key: Any = None) -> Any:
        return self.act_batch(
            observation["observation"][np.newaxis],
            observation["action_mask"][np.newaxis],
            np.array([key], np.uint64),
        )[0]


# --- faults ---------------------------------------------------------------------------------------


def unlucky(key: Any) -> bool:
    """Whether a decision with this key is one of those that go wrong: about one in nine."""
    return int(key) % 9 == 0


class Faulty(RandomAgent):
    """Goes wrong at the third of its decisions in about every second match."""

    def __init__(self, fault: Callable[[Any], Any]) -> None:
        super().__init__()
        self.fault = fault

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        self.turn = 0

    def act(self, observation: Any, key: Any = None) -> Any:
        self.turn += 1
        if self.turn == 3 and key % 2 == 0:
            return self.fault(observation)
        return super().act(observation, key)


def raising(observation: Any) -> int:
    raise RuntimeError("out of\n   ideas")


def leaving(observation: Any) -> int:
    sys.exit("goodbye")


class Beyond(BaseException):
    """No `Exception`."""


def beyond(observation: Any) -> int:
    raise Beyond("here")


def interrupting(observation: Any) -> int:
    raise KeyboardInterrupt


def illegal(observation: Any) -> int:
    return int(np.flatnonzero(observation["action_mask"] == 0)[-1])


FAULTS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "raising": (raising, "RuntimeError: out of ideas"),
    "leaving": (leaving, "SystemExit: goodbye"),
    "beyond": (beyond, r"players\.Beyond: here"),
    "illegal": (illegal, r"illegal action \d+; legal: [\d, ]+"),
    "outside": (lambda observation: 32, r"illegal action 32; legal: [\d, ]+"),
    "waiting": (lambda observation: -1, r"illegal action -1; legal: [\d, ]+"),
    "resigning": (lambda observation: -2, r"illegal action -2; legal: [\d, ]+"),
    "huge": (lambda observation: 2**70, r"illegal action \d+; legal: [\d, ]+"),
    "nothing": (lambda observation: None, "TypeError: act must return an integer, got None"),
    "truth": (lambda observation: True, "TypeError: act must return an integer, got True"),
    "float": (lambda observation: 1.0, "TypeError: act must return an integer, got 1.0"),
    "nan": (lambda observation: float("nan"), "TypeError: act must return an integer, got nan"),
}


class FaultyBatch(RandomAgent):
    """Decides for many rows at once, and something is wrong with the unlucky among them.

    Args:
        spoil: makes of chosen actions int64 (B,) and unlucky rows bool (B,) what is returned; not
            called without unlucky rows.
    """

    def __init__(self, spoil: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self.spoil = spoil

    def act_batch(self, observations: Any, masks: Any, keys: Any = None) -> Any:
        chosen = super().act_batch(observations, masks, keys)
        observations[:] = 0
        masks[:] = 0
        rows = np.array([unlucky(key) for key in keys])
        return self.spoil(chosen, rows) if rows.any() else chosen


def _raise(chosen: Any, rows: Any) -> Any:
    raise RuntimeError("unlucky")


def _none(chosen: Any, rows: Any) -> Any:
    mixed = chosen.astype(object)
    mixed[rows] = None
    return mixed


def _huge(chosen: Any, rows: Any) -> Any:
    wide = chosen.astype(np.uint64)
    wide[rows] = 2**64 - 1
    return wide


def _put(value: int) -> Callable[[Any, Any], Any]:
    return lambda chosen, rows: np.where(rows, value, chosen)


SPOILS: dict[str, tuple[Callable[[Any, Any], Any], str]] = {
    "raises": (_raise, "RuntimeError: unlucky"),
    "exits": (lambda chosen, rows: sys.exit(), "SystemExit"),
    "object array": (_none, "TypeError: act must return an integer, got None"),
    "nan": (
        lambda chosen, rows: np.where(rows, np.nan, chosen),
        "TypeError: act must return an integer, got .*nan.*",
    ),
    "floats": (
        lambda chosen, rows: chosen.astype(np.float32),
        r"TypeError: act must return an integer, got .*\d\.0.*",
    ),
    "nothing": (lambda chosen, rows: None, "TypeError: .*NoneType.*"),
    "a number": (lambda chosen, rows: 3, "TypeError: .*int.*"),
    "too few": (lambda chosen, rows: chosen[:-1], "ValueError: not enough values.*"),
    "too many": (lambda chosen, rows: np.append(chosen, 0), "ValueError: too many values.*"),
    "a table": (
        lambda chosen, rows: np.stack([chosen, chosen], axis=1),
        "TypeError: act must return an integer, got .*",
    ),
    "texts": (
        lambda chosen, rows: [str(action) for action in chosen],
        "TypeError: act must return an integer, got '.*'",
    ),
    "outside": (_put(32), r"illegal action 32; legal: [\d, ]+"),
    "waits": (_put(-1), r"illegal action -1; legal: [\d, ]+"),
    "resigns": (_put(-2), r"illegal action -2; legal: [\d, ]+"),
    "goes on": (_put(-3), r"illegal action -3; legal: [\d, ]+"),
    "far away": (_put(2**62), r"illegal action \d+; legal: [\d, ]+"),
    "unsigned": (_huge, r"illegal action 18446744073709551615; legal: [\d, ]+"),
}


class Slow(RandomAgent):
    """Takes its time over unlucky decisions, one way or another, match by match.

    Args:
        how: takes the time.
    """

    def __init__(self, how: Callable[[], Any]) -> None:
        super().__init__()
        self.how = how

    def act(self, observation: Any, key: Any = None) -> int:
        if unlucky(key):
            self.how()
        return super().act(observation, key)


class SlowBatch(Slow):
    """The same for all rows at once."""

    def act(self, observation: Any, key: Any = None) -> int:
        return RandomAgent.act(self, observation, key)

    def act_batch(self, observations: Any, masks: Any, keys: Any = None) -> Any:
        if any(map(unlucky, keys)):
            self.how()
        return super().act_batch(observations, masks, keys)


def sleeping() -> None:
    time.sleep(1000)


def looping() -> None:
    while True:
        pass


def deaf() -> None:
    while True:
        try:
            time.sleep(1000)
        except BaseException:
            continue


def deafer() -> None:
    while True:
        try:
            with contextlib.suppress(BaseException):
                time.sleep(1000)
        except BaseException:
            continue


def shrugging() -> None:
    with contextlib.suppress(BaseException):
        time.sleep(1000)


SLOTHS = {
    "sleeping": sleeping,
    "looping": looping,
    "deaf": deaf,
    "deafer": deafer,
    "shrugging": shrugging,
}


# --- in worker processes --------------------------------------------------------------------------


class Elsewhere(RandomAgent):
    """Does something, but only in a worker process."""

    def __init__(self, what: Any) -> None:
        super().__init__()
        self.what = what

    def act_batch(self, observations: Any, masks: Any, keys: Any = None) -> Any:
        if multiprocessing.parent_process() is not None:
            self.what()
        return super().act_batch(observations, masks, keys)


def exiting() -> None:
    os._exit(0)


def killing() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def pressing() -> None:
    raise KeyboardInterrupt


def refuse(text: str) -> Any:
    raise LookupError(text)


class Fragile(RandomAgent):
    """Cannot be unpacked."""

    def __reduce__(self) -> Any:
        return refuse, ("no licence here",)


# --- watching -------------------------------------------------------------------------------------

LOG: list[tuple[str, tuple[Any, ...]]] = []


class Recorder(RandomAgent):
    """Writes down what it is given, and spoils it afterwards."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def reset(self, seed: int | None = None) -> None:
        super().reset(seed)
        LOG.append(("reset", (id(self), getattr(self, "name", None), seed)))

    def act(self, observation: Any, key: Any = None) -> int:
        decoded = poke_v0.decode(observation["observation"])
        LOG.append(("act", (id(self), self.name, decoded["hand"], decoded["dealer"], key)))
        action = super().act(observation, key)
        observation["observation"][:] = 9.0
        observation["action_mask"][:] = 1
        return action
