"""Places on an axis, for intervals drawn beside the figures of a table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

#: Width of the drawings; their height is 20.
WIDTH = 260.0
_MARGIN = 14.0


@dataclass(frozen=True)
class Tick:
    """A number on the axis: where it stands, and what is written there."""

    x: float
    label: str


@dataclass(frozen=True)
class Axis:
    """A linear axis from ``low`` to ``high``, in the unit of the figures."""

    low: float
    high: float
    ticks: tuple[Tick, ...] = ()

    def x(self, value: float | None) -> float | None:
        """Place of a value in [0, WIDTH]; None for a missing one."""
        return None if value is None else _place(value, self.low, self.high)


def make_axis(values: Iterable[float | None], *, also: Sequence[float] = ()) -> Axis | None:
    """An axis that holds all values, with three to seven round numbers; None for no finite value.

    Args:
        values: ends of intervals and figures; None and not finite ones are left out.
        also: numbers that have to be on it if there is one, such as 0.
    """
    finite = [value for value in values if value is not None and math.isfinite(value)]
    if not finite:
        return None
    low, high = min([*finite, *also]), max([*finite, *also])
    if not math.isfinite(high - low):
        return None
    if high - low <= 1e-12 * max(abs(high), abs(low)):
        room = abs(high) * 0.05 or 0.5
        low, high = low - room, high + room
    step = _step(high - low)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    ticks = tuple(
        Tick(_place(number * step, low, high), _label(number * step, digits))
        for number in range(first, last + 1)
    )
    return Axis(low, high, ticks)


def _step(span: float) -> float:
    """The smallest of 1, 2, 5 times a power of ten that gives at most five steps."""
    power = 10.0 ** math.floor(math.log10(span / 5))
    return next(factor * power for factor in (1, 2, 5, 10, 20) if span / (factor * power) <= 5)


def _label(value: float, digits: int) -> str:
    return f"{value + 0.0:.{digits}f}" if digits <= 6 and abs(value) < 1e6 else f"{value:.3g}"


def _place(value: float, low: float, high: float) -> float:
    share = (value - low) / (high - low)
    return round(_MARGIN + share * (WIDTH - 2 * _MARGIN), 1)
