"""Pictures of results with the names of models in them, as SVG that is as wide as a
phone: nothing is scaled.

Each is data in, picture out, with what it shows as a table too, to be copied. Colours
are those of style.css.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.charts.axes import Axis, make_axis
from warehouse.charts.courses import across, box, ring
from warehouse.charts.picture import LETTER, WIDTH, Picture, Sheet, fitting
from warehouse.tables.page import is_finite, written

#: Pixels of a row: a name with its figure, and what is drawn below them.
_ROW = 31
#: Rows of a picture; a table below it has all.
MOST_ROWS = 25
#: Pixels from the middle of a dot to the line that begins beside it.
_AROUND_DOT = 4.5
_MARGIN = 6.0
#: Colours of those that a model is better than, cannot be told from, is worse than.
_OUTCOMES = ("mark", "grey", "warm")


@dataclass(frozen=True)
class Interval:
    """A row of a forest plot."""

    name: str  #: of the model or condition.
    estimate: float  #: the figure.
    low: float | None  #: lower end of its interval; None without.
    high: float | None  #: upper end of it.
    #: whether its dot is: none is better, or a difference is found.
    filled: bool = True
    #: sign of a figure that does not count as others do; it is drawn faint.
    mark: str = ""


def forest(
    title: str,
    rows: Sequence[Interval],
    *,
    figure: str,
    n_decimals: int,
    note: str,
    zero: bool = False,
    most: int = MOST_ROWS,
) -> Picture | None:
    """Figures with their intervals, one below the other, each under its name; None for
    no row.

    Args:
        title: what it is called.
        rows: the first are drawn.
        figure: what the figures are.
        n_decimals: of the figures.
        note: what the picture rests on.
        zero: figures are differences: 0 is on the axis, with a line.
        most: rows that are drawn.
    """
    shown = rows[:most]
    axis = _axis_of(shown, zero=zero)
    if axis is None:
        return None
    figures = [_figure(row, n_decimals, zero) for row in shown]
    height = len(shown) * _ROW + 22
    sheet = Sheet()
    sheet.ticks(axis, height, zero=zero)
    _draw_rows(sheet, axis, shown, figures)
    n_shown = _some(len(shown), len(rows))
    first = shown[0].name
    last = shown[-1].name
    return Picture(
        title=title,
        say=(
            f"{title}: {n_shown}, "
            f"from {first} with {figures[0]} "
            f"to {last} with {figures[-1]}"
        ),
        note=note,
        width=WIDTH,
        height=height,
        body=sheet.body,
        head=("Model", figure, "low", "high"),
        rows=tuple(_cells(row, n_decimals, sign=zero) for row in rows),
    )


def _draw_rows(
    sheet: Sheet, axis: Axis, rows: Sequence[Interval], figures: Sequence[str]
) -> None:
    """Names and figures, one below the other, each with its interval below it."""
    for at, name in enumerate(_names_beside(rows, figures)):
        middle = at * _ROW + 23
        sheet.text(0, middle - 9, name)
        sheet.figure(middle - 9, figures[at])
        _draw_interval(sheet, axis, rows[at], middle)


def _axis_of(rows: Sequence[Interval], *, zero: bool) -> Axis | None:
    """The axis that holds all figures and the ends of their intervals."""
    ends: list[float | None] = []
    for row in rows:
        ends += [row.estimate, row.low, row.high]
    width = WIDTH - 2 * _MARGIN
    return make_axis(ends, zero=zero, left=_MARGIN, width=width)


def _names_beside(rows: Sequence[Interval], figures: Sequence[str]) -> list[str]:
    """Names of the rows, as long as the longest figure leaves room for."""
    n_letters = max(map(len, figures)) + 1
    names = [row.name for row in rows]
    return fitting(names, WIDTH - LETTER * n_letters)


def _draw_interval(sheet: Sheet, axis: Axis, row: Interval, middle: int) -> None:
    """An interval as a line, and its figure as a dot or a ring."""
    colour = "mark"
    if row.mark:
        colour = "dim"
    dot = axis.at(row.estimate) or 0.0
    if is_finite(row.low) and is_finite(row.high):
        low = axis.at(row.low) or 0.0
        high = axis.at(row.high) or 0.0
        if row.filled:
            course = _bar(low, high, middle)
        else:
            before = _bar(low, dot - _AROUND_DOT, middle)
            behind = _bar(dot + _AROUND_DOT, high, middle)
            course = before + behind
        sheet.line(course, colour, 2)
    if row.filled:
        sheet.dot(dot, middle, colour, 9)
    else:
        circle = ring(dot, middle, 3.5)
        sheet.line(circle, colour, 2)


def _bar(start: float, end: float, middle: int) -> str:
    """The course of a part of an interval; empty where a ring leaves no room for it."""
    if start > end:
        return ""
    return across(f"{start:g}", middle, f"{end:g}")


def _cells(row: Interval, n_decimals: int, *, sign: bool) -> tuple[str, ...]:
    """A row of the table of a forest."""
    return (
        f"{row.name}{row.mark}",
        written(row.estimate, n_decimals, sign=sign),
        written(row.low, n_decimals, sign=sign),
        written(row.high, n_decimals, sign=sign),
    )


def _figure(row: Interval, n_decimals: int, sign: bool) -> str:
    """A figure with its interval, where it has one."""
    figure = written(row.estimate, n_decimals, sign=sign)
    ends = ""
    if is_finite(row.low) and is_finite(row.high):
        low = written(row.low, n_decimals)
        high = written(row.high, n_decimals)
        ends = f" [{low}, {high}]"
    return f"{figure}{row.mark}{ends}"


def wins(
    title: str, rows: Sequence[tuple[str, int, int, int]], *, note: str
) -> Picture | None:
    """Bars of each model: how many others it is better than, cannot be told from, and
    is worse than; None for fewer than 3.

    Args:
        title: what it is called.
        rows: name and the three counts, best first; the first `MOST_ROWS` are drawn.
        note: what the picture rests on.
    """
    if len(rows) < 3:
        return None
    shown = rows[:MOST_ROWS]
    sheet = Sheet()
    names = [name for name, *_ in shown]
    short = fitting(names, WIDTH - 90)
    for at, name in enumerate(short):
        counts = shown[at][1:]
        top = at * _ROW
        in_words = map(str, counts)
        sheet.text(0, top + 13, name)
        sheet.figure(top + 13, " · ".join(in_words))
        _draw_shares(sheet, counts, top + 18)
    n_shown = _some(len(shown), len(rows))
    best, n_better, n_alike, n_worse = shown[0]
    return Picture(
        title=title,
        say=(
            f"{title}: {n_shown}; "
            f"{best} is better than {n_better}, "
            f"cannot be told from {n_alike}, "
            f"worse than {n_worse}"
        ),
        note=note,
        width=WIDTH,
        height=len(shown) * _ROW,
        body=sheet.body,
        head=("Model", "better than", "cannot tell", "worse than"),
        rows=tuple((name, *map(str, counts)) for name, *counts in rows),
    )


def _draw_shares(sheet: Sheet, counts: Sequence[int], top: int) -> None:
    """Counts as parts of one bar, each in its colour."""
    n_all = sum(counts) or 1
    left = 0.0
    for n, colour in zip(counts, _OUTCOMES, strict=True):
        width = WIDTH * n / n_all
        if n:
            part = box(f"{left:.1f}", top, f"{width:.1f}", 9)
            sheet.area(part, colour)
        left += width


def _some(n: int, n_all: int) -> str:
    if n == n_all:
        return f"{n} models"
    return f"the first {n} of {n_all} models"
