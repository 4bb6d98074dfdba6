"""Values as people read them: figures, intervals, counts, texts of dumps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import floor, isfinite, log10
from typing import Any, Self

#: More decimals than these are never written.
MOST_DECIMALS = 8
#: A p below it is written so: no p is 0, and its digits mean nothing.
SMALLEST_P = 1e-300
#: Values of cells that say nothing.
NOTHING: tuple[Any, ...] = (None, "", (), [])
#: What would steer a terminal, or turn the order of a line round, instead of being read; and bytes of a file's name
#: that are no UTF-8, which no encoding has.
_STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


@dataclass(frozen=True)
class Figure:
    """A number that is written already; stands to the right like any other."""

    text: str

    def __str__(self) -> str:
        return self.text


class Interval(str):
    """An interval that is written already, and knows its ends and the estimate in it, to be drawn."""

    low: float
    high: float
    at: float | None

    @classmethod
    def of(cls, text: str, low: float, high: float, at: float | None) -> Self:
        """An interval that is written as ``text``."""
        made = cls(text)
        made.low, made.high, made.at = low, high, at
        return made


def decimals(errors: Iterable[float | None]) -> int:
    """Decimals at which the smallest standard error has two digits that say something."""
    smallest = min((error for error in errors if error and isfinite(error)), default=0.01)
    return min(max(1 - floor(log10(smallest)), 0), MOST_DECIMALS)


def fixed(value: float, places: int, *, sign: bool = False) -> str:
    """A figure with so many decimals, never -0.000."""
    return f"{round(float(value), places) + 0.0:{'+' if sign else ''}.{places}f}"


def number(value: float | None, places: int, *, sign: bool = False) -> Figure | None:
    """A figure with so many decimals; where more would be needed to tell it from 0, with two digits."""
    if value is None:
        return None
    if value and places >= MOST_DECIMALS and not round(float(value), places):
        return Figure(f"{value:{'+' if sign else ''}.2g}")
    return Figure(fixed(value, places, sign=sign))


def listed(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def p_value(value: float | None) -> Figure | None:
    """A p-value with two digits that say something; never 0."""
    if value is None:
        return None
    return Figure(f"{value:.2g}" if value >= SMALLEST_P else f"<{SMALLEST_P:.0g}")


def interval(low: float | None, high: float | None, places: int, *, at: float | None = None) -> Interval | None:
    """Both ends of an interval, and the estimate in it where it is to be drawn."""
    if low is None or high is None:
        return None
    return Interval.of(f"[{low:.{places}f}, {high:.{places}f}]", low, high, at)


def level_column(level: float) -> str:
    """Heading of the column of intervals."""
    return f"{100 * level:g}% interval"


def percentage(share: float | None) -> Figure | None:
    """A share of 1 in percent, with one decimal."""
    return None if share is None else Figure(f"{100 * share:.1f}%")


def count_range(least: int, most: int) -> str:
    """The smallest and the largest count, or the one that both are."""
    return f"{least}" if least == most else f"{least}-{most}"


def direction(higher_is_better: bool | None) -> str:
    """Which end of a metric is the good one, in words."""
    return {True: "higher is better", False: "lower is better", None: "direction unknown"}[higher_is_better]


def visible(text: str) -> str:
    """A text of a dump with control characters spelled out, but for tabs and line ends."""
    return _STEERS.sub(lambda steering: ascii(steering.group())[1:-1], text.replace("\r\n", "\n"))


def excerpt(text: str | None, length: int) -> str:
    """The beginning of a text on one line."""
    words = visible(" ".join((text or "").split()))
    return words if len(words) <= length else f"{words[: length - 3]}..."


def cell(value: Any) -> str:
    """A value as people read it: one line, numbers to six digits."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "-" if value != value else f"{value:.6g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | tuple):
        return ", ".join(cell(item) for item in value)
    return visible(" ".join(str(value).split()))


def is_number(values: Iterable[Any]) -> bool:
    """Whether all known values of a column are numbers."""
    known = [value for value in values if value is not None and value != ""]
    return bool(known) and all(
        isinstance(value, int | float | Figure) and not isinstance(value, bool) for value in known
    )
