"""Alternating rounds: every contestant plays a while in every round, and rounds are compared.

What disturbs a machine for longer than a round disturbs all contestants alike, so that ratios are
steadier than the figures they are made from.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple


@dataclass(frozen=True)
class Scale:
    """How long to measure."""

    quick: bool = False
    """a short run that only shows that everything works"""

    @property
    def rounds(self) -> int:
        """Number of rounds."""
        return 2 if self.quick else 7

    @property
    def seconds(self) -> float:
        """Length of a contestant's turn in a round."""
        return 0.1 if self.quick else 1.5

    @property
    def note(self) -> str:
        """What the note of a table says about it."""
        return f"Medians of {self.rounds} alternating rounds of {self.seconds} s each."


class Sample(NamedTuple):
    """One turn of a contestant: how much it did, and in how many seconds on how many cores."""

    count: int
    seconds: float
    cores: float

    @property
    def rate(self) -> float:
        """Count a second."""
        return self.count / self.seconds


@dataclass
class Speed:
    """What a contestant did in all rounds."""

    samples: list[Sample] = field(default_factory=list)

    @property
    def rates(self) -> list[float]:
        """Count a second in each round."""
        return [sample.rate for sample in self.samples]

    @property
    def rate(self) -> float:
        """Count a second, median over rounds."""
        return statistics.median(self.rates)

    @property
    def cores(self) -> float:
        """Processor time over time, median over rounds."""
        return statistics.median(sample.cores for sample in self.samples)


Turn = Callable[[float], Sample]


def timed(
    seconds: float, step: Callable[[], int], prepare: Callable[[], object] | None = None
) -> Sample:
    """Repeat `step`, which returns how much it did, until it took `seconds`; at least once.

    Args:
        seconds: to be spent in `step`.
        step: what is measured.
        prepare: called before every step and not measured.
    """
    count, spent, busy = 0, 0.0, 0.0
    while not spent or spent < seconds:
        if prepare is not None:
            prepare()
        processor, start = time.process_time(), time.perf_counter()
        count += step()
        spent += time.perf_counter() - start
        busy += time.process_time() - processor
    return Sample(count, spent, busy / spent)


def alternate(turns: Mapping[str, Turn], scale: Scale, seconds: float = 0.0) -> dict[str, Speed]:
    """Let contestants take turns.

    Args:
        turns: plays about so many seconds, by name. Each is called once before the first round, so
            that everything is compiled and warm.
        scale: how many rounds of how many seconds.
        seconds: of a turn; 0 leaves it to `scale`.
    """
    speeds = {name: Speed() for name in turns}
    for turn in turns.values():
        turn(0.0 if scale.quick else 0.2)
    for number in range(1, scale.rounds + 1):
        for name, turn in turns.items():
            show_progress(f"round {number} of {scale.rounds}: {name}")
            speeds[name].samples.append(turn(seconds or scale.seconds))
    show_progress("")
    return speeds


def best_of(speeds: Sequence[Speed]) -> Speed:
    """The faster one in every round."""
    rounds = zip(*(speed.samples for speed in speeds), strict=True)
    return Speed([max(samples, key=lambda sample: sample.rate) for samples in rounds])


def ratios(speed: Speed, peer: Speed) -> list[float]:
    """How many times as fast as its peer, in each round."""
    return [ours / theirs for ours, theirs in zip(speed.rates, peer.rates, strict=True)]


def compared(speed: Speed, peer: Speed) -> tuple[str, str]:
    """Two cells of a table: median of the ratios over rounds, and their range."""
    found = ratios(speed, peer)
    return f"**{statistics.median(found):.2f} ×**", f"{min(found):.2f} to {max(found):.2f}"


def per_round(speeds: Mapping[str, Speed]) -> dict[str, dict[str, list[float]]]:
    """What a table keeps of its measurements: count a second and cores busy in every round."""
    return {
        name: {"per_second": speed.rates, "cores": [sample.cores for sample in speed.samples]}
        for name, speed in speeds.items()
    }


def show_progress(text: str) -> None:
    """Say in one line on a terminal what is going on."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
