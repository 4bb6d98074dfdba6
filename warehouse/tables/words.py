"""Values, flags and reasons as people read them: figures, intervals, counts, texts of
dumps."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from math import floor, isfinite, log10
from typing import Any, Self

from warehouse.tables.flag_meanings import IF_LIKE_PROMPTS as IF_LIKE_PROMPTS
from warehouse.tables.flag_meanings import IF_ONE_SCALE as IF_ONE_SCALE
from warehouse.tables.flag_meanings import MEANINGS as MEANINGS
from warehouse.tables.flag_meanings import MIXED_SCALES as MIXED_SCALES
from warehouse.tables.flag_meanings import UNEQUAL_PROMPTS as UNEQUAL_PROMPTS
from warehouse.tables.flag_meanings import meanings as meanings

#: More decimals than these are never written.
MOST_DECIMALS = 8
#: What additions leave of a sum that is 0.
_NOISE = 1e-12
#: A p below it is written so: no p is 0, and its digits mean nothing.
SMALLEST_P = 1e-300
#: Values of cells that say nothing.
NOTHING: tuple[Any, ...] = (None, "", (), [])
#: What would steer a terminal, or turn the order of a line round, instead of being
#: read; and bytes of a file's name that are no UTF-8, which no encoding has.
_STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


@dataclass(frozen=True)
class WrittenNumber:
    """A number that is written already; stands to the right like any other."""

    text: str

    def __str__(self) -> str:
        return self.text


class StrongNumber(WrittenNumber):
    """A number that stands out of its column: with a star where all is plain text, bold
    anywhere else."""

    def __str__(self) -> str:
        return f"*{self.text}"


#: What stands to the right.
_NUMBERS = (int, float, WrittenNumber)


class WrittenInterval(str):
    """An interval that is written already, and knows its ends and the estimate in it,
    to be drawn."""

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
    smallest = min(
        (error for error in errors if error and isfinite(error)), default=0.01
    )
    return min(max(1 - floor(log10(smallest)), 0), MOST_DECIMALS)


def fixed(value: float, n_decimals: int, *, sign: bool = False) -> str:
    """A figure with so many decimals, never -0.000."""
    rounded = round(float(value), n_decimals) + 0.0
    if sign:
        return f"{rounded:+.{n_decimals}f}"
    return f"{rounded:.{n_decimals}f}"


def number(
    value: float | None, n_decimals: int, *, sign: bool = False
) -> WrittenNumber | None:
    """A figure with so many decimals; with two significant digits where it would round
    to 0, but for what is noise and for differences, which may."""
    if value is None:
        return None
    says = n_decimals >= MOST_DECIMALS or (not sign and abs(value) > _NOISE)
    if value and says and not round(float(value), n_decimals):
        if sign:
            return WrittenNumber(f"{value:+.2g}")
        return WrittenNumber(f"{value:.2g}")
    return WrittenNumber(fixed(value, n_decimals, sign=sign))


def listed(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def p_value(value: float | None) -> WrittenNumber | None:
    """A p-value with two digits that say something; never 0."""
    if value is None:
        return None
    if value >= SMALLEST_P:
        return WrittenNumber(f"{value:.2g}")
    return WrittenNumber(f"<{SMALLEST_P:.0g}")


def interval(
    low: float | None, high: float | None, n_decimals: int, *, at: float | None = None
) -> WrittenInterval | None:
    """Both ends of an interval, and the estimate in it where it is to be drawn."""
    if low is None or high is None:
        return None
    ends = [f"{end:.{n_decimals}f}" for end in (low, high)]
    if max(abs(low), abs(high)) > _NOISE and not any(map(float, ends)):
        ends = [f"{end:.2g}" for end in (low, high)]
    return WrittenInterval.of(f"[{', '.join(ends)}]", low, high, at)


def numbers(
    values: Iterable[float | None], n_decimals: int, *, sign: bool = False
) -> list[WrittenNumber | None]:
    """:func:`number` of many finite ones."""
    form = f"%.{n_decimals}f"
    if sign:
        form = f"%+.{n_decimals}f"
    zeros = {form % 0.0, form % -0.0}

    def exactly(value: float | None) -> WrittenNumber | None:
        return number(value, n_decimals, sign=sign)

    return _written(values, form, exactly, zeros)


def p_values(values: Iterable[float | None]) -> list[WrittenNumber | None]:
    """:func:`p_value` of many."""
    return _written(values, "%.2g", p_value, {f"{SMALLEST_P:.2g}"})


def _written(
    values: Iterable[float | None],
    form: str,
    write: Callable[[float], WrittenNumber | None],
    unclear: Collection[str],
) -> list[WrittenNumber | None]:
    """Many numbers as text; those that are the same text are one object.

    Args:
        form: their text, as far as it is one for all numbers that are written alike.
        write: writes one.
        unclear: texts of ``form`` that numbers have which are written differently.
    """
    known: dict[str, WrittenNumber | None] = {}
    cells: list[WrittenNumber | None] = []
    for value in values:
        if value is None:
            cells.append(None)
            continue
        text = form % value
        found = known.get(text)
        if found is None:
            found = write(value)
            if text not in unclear:
                known[text] = found
        cells.append(found)
    return cells


def intervals(
    lows: Iterable[float | None],
    highs: Iterable[float | None],
    n_decimals: int,
    *,
    at: Iterable[float | None],
) -> list[WrittenInterval | None]:
    """:func:`interval` of many."""
    form = f"[%.{n_decimals}f, %.{n_decimals}f]"
    zeros = {form % ends for ends in product((0.0, -0.0), repeat=2)}
    cells: list[WrittenInterval | None] = []
    for low, high, middle in zip(lows, highs, at, strict=True):
        if low is None or high is None:
            cells.append(None)
            continue
        text = form % (low, high)
        if text in zeros:
            cells.append(interval(low, high, n_decimals, at=middle))
        else:
            cells.append(WrittenInterval.of(text, low, high, middle))
    return cells


def small(value: float | None) -> WrittenNumber | None:
    """A cost, with three digits that count."""
    if value is None:
        return None
    if 1000 <= value < 1e12:
        return WrittenNumber(f"{value:,.0f}")
    return WrittenNumber(f"{value:.3g}")


#: Units of costs by the name of their metric.
_COST_UNITS = {
    "cost": "US$",
    "cost_priced": "US$",
    "tokens": "tokens",
    "seconds": "s",
    "calls": "calls",
}


def cost_in_words(value: float | None, metric: str) -> WrittenNumber | None:
    """A cost of an answer, with its unit."""
    written = small(value)
    if written is None:
        return None
    return WrittenNumber(f"{written} {_COST_UNITS.get(metric, '')}".strip())


def times(value: float | None) -> WrittenNumber | None:
    """How many times something is of another: ``0.31 ×``."""
    written = small(value)
    if written is None:
        return None
    return WrittenNumber(f"{written} ×")


def cost_noun(metric: str) -> str:
    """What a cost is counted in, in a sentence; the metric itself where that is not
    known."""
    unit = _COST_UNITS.get(metric, metric)
    return {"s": "seconds", "US$": "dollars"}.get(unit, unit)


def small_interval(
    low: float | None, high: float | None, at: float | None = None
) -> str | None:
    """Ends of an interval of costs; a missing upper end is none."""
    if low is None:
        return None
    if high is None:
        return f"[{small(low)}, no end)"
    return WrittenInterval.of(f"[{small(low)}, {small(high)}]", low, high, at)


def scientific(value: float | None) -> WrittenNumber | None:
    """A number with its power of ten, such as ``2.50e-05``."""
    if value is None:
        return None
    return WrittenNumber(f"{value:.2e}")


def level_column(level: float) -> str:
    """Heading of the column of intervals."""
    return f"{100 * level:g}% interval"


def percentage(share: float | None) -> WrittenNumber | None:
    """A share of 1 in percent, with one decimal."""
    if share is None:
        return None
    return WrittenNumber(f"{100 * share:.1f}%")


def count_range(least: int, most: int) -> str:
    """The smallest and the largest count, or the one that both are."""
    if least == most:
        return f"{least}"
    return f"{least}-{most}"


def span_of(values: Collection[float], form: str = "") -> str:
    """The smallest and the largest value, or the one that all are, in a format."""
    low, high = format(min(values), form), format(max(values), form)
    if low == high:
        return low
    return f"{low} to {high}"


def counted(n: int, noun: str) -> str:
    """A count with its noun: ``1 model``, ``0 models``, ``3 models``."""
    return f"{n} {plural(noun, n)}"


def plural(noun: str, n: int) -> str:
    """A noun as it stands after a number: ``prompt``, ``prompts``."""
    if n == 1:
        return noun
    return f"{noun}s"


#: Which end of a metric is the good one, in words; None: nobody has said so.
DIRECTIONS = {
    True: "higher is better",
    False: "lower is better",
    None: "direction unknown",
}


def direction(higher_is_better: bool | None) -> str:
    """Which end of a metric is the good one, in words."""
    return DIRECTIONS[higher_is_better]


def visible(text: str) -> str:
    """A text of a dump with control characters spelled out, but for tabs and line ends."""
    return _STEERS.sub(
        lambda steering: ascii(steering.group())[1:-1], text.replace("\r\n", "\n")
    )


def excerpt(text: str | None, length: int) -> str:
    """The beginning of a text on one line."""
    words = visible(" ".join((text or "").split()))
    if len(words) <= length:
        return words
    return f"{words[: length - 3]}..."


def cell(value: Any) -> str:
    """A value as people read it: one line, numbers to six digits."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        if value:
            return "yes"
        return "no"
    if isinstance(value, float):
        if value != value:
            return "-"
        return f"{value:.6g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | tuple):
        return ", ".join(cell(item) for item in value)
    text = str(value)
    is_trimmed = text[:1] != " " and text[-1:] != " "
    if is_trimmed and text.isprintable() and "  " not in text:
        return text  # as it would be in the end, in a quarter of the time
    return visible(" ".join(text.split()))


def is_number(values: Iterable[Any]) -> bool:
    """True where all known values of a column are numbers."""
    given = list(values)
    kinds = set(map(type, given)) - {type(None)}  # of which there are few
    if any(issubclass(kind, str) for kind in kinds):
        kinds = {type(value) for value in given if value is not None and value != ""}
    return bool(kinds) and all(
        issubclass(kind, _NUMBERS) and not issubclass(kind, bool) for kind in kinds
    )


#: Reasons that are shown; programs get all.
SHOWN = 5


def left_out(reasons: Iterable[str]) -> list[str]:
    """Notes on what has no row, from the names with their reasons."""
    return [f"left out {reason}" for reason in reasons]


_NAMES = 3


def reasons(pairs: Iterable[tuple[Any, str]]) -> list[str]:
    """Sentences on rows (of a model and condition), one for each reason; empty where no
    row has one."""
    names: dict[str, list[str]] = {}
    for row, reason in pairs:
        if reason:
            names.setdefault(reason, []).append(f"{row.model} {row.condition}".rstrip())
    lines = [
        f"{some_of(list(dict.fromkeys(which)))}: {reason}"
        for reason, which in list(names.items())[:SHOWN]
    ]
    if len(names) > SHOWN:
        lines.append(f"and {len(names) - SHOWN} more reasons; --json has all")
    return lines


def some_of(names: Sequence[str], most: int = _NAMES) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:most])
    if len(names) > most:
        shown += f" and {len(names) - most} more"
    return shown


def seeds_in_words(means: Sequence[float], n_seeds: int | None, digits: int) -> str:
    """``3: 63.5 - 72.2``: how many seeds, and between which figures; empty where none
    is known.

    Args:
        means: figure of each seed; empty for a single one.
        n_seeds: how many there are, None where none is known.
        digits: after the point.
    """
    if not means:
        if n_seeds is None:
            return ""
        return str(n_seeds)
    shown = [fixed(mean, digits) for mean in sorted(means)]
    if len(shown) == 2:
        return f"2: {shown[0]}, {shown[1]}"
    return f"{len(shown)}: {shown[0]} - {shown[-1]}"
