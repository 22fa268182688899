"""The command line of the laboratory: `python -m training.lab RESULT`."""

from __future__ import annotations

import sys

from rich.console import Console

from training import cli
from training.lab.analyse import Analyse
from training.lab.atlas import Atlas
from training.lab.awareness import Awareness
from training.lab.bonuses import Bonuses
from training.lab.decision import Decision
from training.lab.double_hands import DoublesByHand
from training.lab.doubles import Doubles
from training.lab.equity_report import Equity
from training.lab.evidence import Evidence
from training.lab.exact import Exact
from training.lab.gains import Gains
from training.lab.played import CountPlayed
from training.lab.prices import Prices
from training.lab.rights import Rights
from training.lab.robustness import Robustness
from training.lab.rubber import Rubber
from training.lab.rubber_check import RubberCheck, RubberDrift
from training.lab.solve_draws import Draws
from training.lab.solve_rubber import SolveRubber
from training.lab.strategies import MakeStrategies
from training.lab.thresholds import Thresholds

Result = (
    Rubber
    | RubberCheck
    | RubberDrift
    | CountPlayed
    | SolveRubber
    | MakeStrategies
    | Equity
    | Prices
    | Doubles
    | DoublesByHand
    | Thresholds
    | Atlas
    | Awareness
    | Bonuses
    | Draws
    | Gains
    | Evidence
    | Rights
    | Robustness
    | Exact
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
