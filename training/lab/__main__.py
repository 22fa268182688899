"""The command line of the laboratory: `python -m training.lab RESULT`."""

from __future__ import annotations

import sys

from rich.console import Console

from training import cli
from training.lab.analyse import Analyse
from training.lab.decision import Decision
from training.lab.played import CountPlayed
from training.lab.rubber import Rubber
from training.lab.rubber_check import RubberCheck, RubberDrift
from training.lab.solve_rubber import SolveRubber
from training.lab.strategies import MakeStrategies

Result = (
    Rubber
    | RubberCheck
    | RubberDrift
    | CountPlayed
    | SolveRubber
    | MakeStrategies
    | Decision
    | Analyse
)
"""What can be asked for; each has `run(console)`."""


@cli.main
def main(result: Result) -> None:
    """Make what was asked for."""
    result.run(Console(width=None if sys.stdout.isatty() else 100))


if __name__ == "__main__":
    main()
