"""Axes of pictures: round numbers, and where figures stand between their ends."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from warehouse.charts.chart import Ends, span

#: Width of the drawings inside tables; their height is 20.
WIDTH = 200.0
_MARGIN = 14.0


@dataclass(frozen=True)
class Axis:
    """An axis between two figures."""

    low: float  #: figure at the left end.
    high: float  #: figure at the right end.
    ticks: tuple[tuple[float, str], ...]  #: round numbers on it: position and words.
    left: float = _MARGIN  #: position of the left end.
    width: float = WIDTH - 2 * _MARGIN  #: from there to the right end.

    def at(self, value: float | None) -> float | None:
        """Position of a value in pixels; None for a missing one."""
        if value is None:
            return None
        return _pixel((self.low, self.high), value, self.left, self.width)


def make_axis(
    values: Iterable[float | None],
    *,
    zero: bool = False,
    left: float = _MARGIN,
    width: float = WIDTH - 2 * _MARGIN,
) -> Axis | None:
    """An axis that holds all values, with three to seven round numbers; None for no
    finite value.

    Args:
        values: ends of intervals and figures; None and not finite ones are left out.
        zero: whether 0 is on it too.
        left: position of its left end, in pixels.
        width: from there to its right end.
    """
    ends = span(values, also=(0.0,) if zero else ())
    if ends is None:
        return None
    low, high = ends
    step = step_of(high - low)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    form = ".3g"
    if digits <= 6 and max(-low, high) < 1e6:
        form = f".{digits}f"
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    numbers = range(first, last + 1)
    ticks = (
        (_pixel(ends, number * step, left, width), f"{number * step + 0.0:{form}}")
        for number in numbers
    )
    return Axis(low, high, tuple(ticks), left, width)


def _pixel(ends: Ends, value: float, left: float, width: float) -> float:
    low, high = ends
    share = (value - low) / (high - low)
    return round(left + share * width, 1)


def step_of(span: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that gives at most five steps."""
    power = 10.0 ** math.floor(math.log10(span / 5))
    return next(
        factor * power for factor in (1, 2, 5, 10, 20) if span / (factor * power) <= 5
    )
