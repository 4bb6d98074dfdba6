"""How figures are written: as many decimals as their errors justify."""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, isfinite, log10

#: More decimals than these are never written.
MOST_DECIMALS = 8


def decimals(errors: Iterable[float | None]) -> int:
    """Decimals at which the smallest standard error has two digits that say something."""
    smallest = min((error for error in errors if error and isfinite(error)), default=0.01)
    return min(max(1 - floor(log10(smallest)), 0), MOST_DECIMALS)


def fixed(value: float, places: int, *, sign: bool = False) -> str:
    """A figure with so many decimals, never -0.000."""
    return f"{round(float(value), places) + 0.0:{'+' if sign else ''}.{places}f}"


def listed(words: list[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
