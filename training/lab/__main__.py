"""The command line of the laboratory: `python -m training.lab RESULT`."""

from __future__ import annotations

import sys

from rich.console import Console

from training import cli
from training.lab.evidence import Evidence
from training.lab.exact import Exact
from training.lab.gains import Gains
from training.lab.played import CountPlayed
from training.lab.rights import Rights
from training.lab.robustness import Robustness
from training.lab.rubber import Rubber
from training.lab.rubber_check import RubberCheck, RubberDrift
from training.lab.solve_draws import Draws
from training.lab.solve_rubber import SolveRubber

Result = (
    Rubber
    | RubberCheck
    | RubberDrift
    | CountPlayed
    | SolveRubber
    | Draws
    | Gains
    | Evidence
    | Rights
    | Robustness
    | Exact
)
"""What can be asked for; each has `run(console)`."""


@cli.main
def main(result: Result) -> None:
    """Make what was asked for."""
    result.run(Console(width=None if sys.stdout.isatty() else 100))


if __name__ == "__main__":
    main()
