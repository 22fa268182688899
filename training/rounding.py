"""How finely points are written: as finely as they are known.

A margin and what it may be off by show two digits of the latter, and a tenth of a point at least:
+3.8 ± 1.3 where a deal is about hundreds of points, +0.041 ± 0.022 where it is about one.
"""

from __future__ import annotations

from collections.abc import Mapping

NONE = "—"
"""Where there is no number to give."""

Margin = Mapping[str, float | None]
"""`mean`, and the ends of its interval, `low` and `high`, None where there are none."""

_MOST = 5
"""Decimals: no tournament measures more finely, so smaller intervals are rests of rounding."""


def decimals(size: float | None) -> int:
    """How many show two digits of a number of this size, at least one."""
    if not size:
        return 1
    exponent = f"{size:.1e}".partition("e")[2]  # of the number as rounded; infinity has none
    return min(max(1, 1 - int(exponent or 0)), _MOST)


def precision(margin: Margin) -> int:
    """With how many decimals a margin, and what belongs to it, is written."""
    return decimals(_reach(margin))


def signed(points: float | None, places: int = 1) -> str:
    """Points with their sign and so many decimals: "+12.3", "−4.0"; "0.0" has none."""
    if points is None:
        return NONE
    text = f"{points:+,.{places}f}"
    return text.replace("-", "−") if float(text.replace(",", "")) else text[1:]


def mean(margin: Margin) -> str:
    """The mean of a margin: "+12.3"."""
    return signed(margin["mean"], precision(margin))


def reach(margin: Margin) -> str:
    """What the mean of a margin may be off by: "± 1.8"."""
    size = _reach(margin)
    return NONE if size is None else f"± {size:,.{precision(margin)}f}"


def _reach(margin: Margin) -> float | None:
    if margin["low"] is None or margin["high"] is None:
        return None
    return (margin["high"] - margin["low"]) / 2
