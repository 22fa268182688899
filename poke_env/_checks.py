"""What counts as an integer, and the one sentence that refuses what does not."""

from __future__ import annotations

import math
import operator
import reprlib
import sys
from typing import Any

import numpy as np

_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = _SHORT.maxlong = 80


def as_integer(value: Any) -> int | None:
    """`value` as a Python int if it is an integer of Python or NumPy and no bool, else None."""
    # The oldest NumPy takes its bools for integers.
    if isinstance(value, (bool, np.bool_)):
        return None
    try:
        return operator.index(value)
    except Exception:  # whatever a stranger's __index__ does, this is no integer
        return None


def shown(value: Any) -> str:
    """`value` for an error message: short, and there even if its `repr` fails."""
    try:
        return _SHORT.repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def check_integer(
    name: str, value: Any, least: int, most: int | None = None, *, or_none: bool = False
) -> Any:
    """`value` as a Python int; with `or_none`, None too.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """
    if or_none and value is None:
        return None
    number = as_integer(value)
    if number is not None and least <= number and (most is None or number <= most):
        return number
    allowed = f"of at least {least}" if most is None else f"from {least} to {most}"
    none = "None or " if or_none else ""
    raise ValueError(f"{name} must be {none}an integer {allowed}, got {shown(value)}")


def check_number(
    name: str, value: Any, *, least: float = -math.inf, above: float = -math.inf
) -> float:
    """`value` as a float.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """
    if (
        isinstance(value, (int, float, np.integer, np.floating))
        and not isinstance(value, bool)
        and -sys.float_info.max <= value <= sys.float_info.max
        and value >= least
        and value > above
    ):
        return float(value)
    limit = ""
    if least > -math.inf:
        limit = f" of at least {least:g}"
    if above > -math.inf:
        limit = f" above {above:g}"
    raise ValueError(f"{name} must be a finite number{limit}, got {value!r}")


def check_flag(name: str, value: Any) -> bool:
    """`value` as a Python bool.

    Raises:
        ValueError: naming the field, the value and what is allowed.
    """
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    raise ValueError(f"{name} must be True or False, got {shown(value)}")
