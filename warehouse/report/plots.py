"""Axes of the drawings inside tables: from figures to places."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from warehouse.report.charts import Ends, span

#: Width of the drawings inside tables; their height is 20.
WIDTH = 200.0
_MARGIN = 14.0


@dataclass(frozen=True)
class Axis:
    """An axis between two figures.

    Attributes:
        low: figure at the left end.
        high: figure at the right end.
        ticks: round numbers on it: place and words.
    """

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float | None) -> float | None:
        """Place of a value; None for a missing one."""
        return None if value is None else _place((self.low, self.high), value)


def make_axis(values: Iterable[float | None], *, zero: bool = False) -> Axis | None:
    """An axis that holds all values, with three to seven round numbers; None for no finite value.

    Args:
        values: ends of intervals and figures; None and not finite ones are left out.
        zero: whether 0 is on it too.
    """
    ends = span(values, also=(0.0,) if zero else ())
    if ends is None:
        return None
    low, high = ends
    step = _step(high - low)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    form = f".{digits}f" if digits <= 6 and max(-low, high) < 1e6 else ".3g"
    numbers = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    ticks = ((_place(ends, one * step), f"{one * step + 0.0:{form}}") for one in numbers)
    return Axis(low, high, tuple(ticks))


def _place(ends: Ends, value: float) -> float:
    share = (value - ends[0]) / (ends[1] - ends[0])
    return round(_MARGIN + share * (WIDTH - 2 * _MARGIN), 1)


def _step(span: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that gives at most five steps."""
    power = 10.0 ** math.floor(math.log10(span / 5))
    return next(factor * power for factor in (1, 2, 5, 10, 20) if span / (factor * power) <= 5)
