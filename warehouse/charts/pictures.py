"""Pictures of results with the names of models in them, as SVG that is as wide as a
phone: nothing is scaled.

Each is data in, picture out, with what it shows as a table too, to be copied. Colours
are those of style.css.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from warehouse.charts.axes import make_axis
from warehouse.charts.picture import LETTER, NOTHING, WIDTH, Picture, Sheet, fitting
from warehouse.tables.page import is_finite, written
from warehouse.tables.words import fixed

#: Pixels of a row: a name with its figure, and what is drawn below them.
_ROW = 31
#: Pixels from a name in a diagram of ties to the next.
_PITCH = 19
#: Rows of a picture; a table below it has all.
MOST_ROWS = 25
#: Models and groups of a diagram of ties.
MOST_TIED, MOST_GROUPS = 25, 8
#: Pixels of a cell of a map of pairs.
_CELL = 15
_MARGIN = 6.0


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
    ends: list[float | None] = []
    for row in shown:
        ends += [row.estimate, row.low, row.high]
    axis = make_axis(ends, zero=zero, left=_MARGIN, width=WIDTH - 2 * _MARGIN)
    if axis is None:
        return None
    height, sheet = len(shown) * _ROW + 22, Sheet()
    sheet.ticks(axis, height, zero=zero)
    figures = [_figure(row, n_decimals, zero) for row in shown]
    room = WIDTH - LETTER * (max(map(len, figures)) + 1)
    for at, (row, name) in enumerate(
        zip(shown, fitting([row.name for row in shown], room), strict=True)
    ):
        middle = at * _ROW + 23
        colour = "dim" if row.mark else "mark"
        dot = axis.at(row.estimate) or 0.0
        sheet.text(0, middle - 9, name)
        sheet.text(WIDTH, middle - 9, figures[at], "dim", "end")
        if is_finite(row.low) and is_finite(row.high):
            low, high = axis.at(row.low) or 0.0, axis.at(row.high) or 0.0
            bars = [(low, dot - 4.5), (dot + 4.5, high)]
            if row.filled:
                bars = [(low, high)]
            course = "".join(f"M{a:g} {middle}H{b:g}" for a, b in bars if a <= b)
            sheet.line(course, colour, 2)
        if row.filled:
            sheet.line(f"M{dot} {middle}h0", colour, 9)
        else:
            sheet.line(ring(dot, middle, 3.5), colour, 2)
    return Picture(
        title,
        f"{title}: {_some(len(shown), len(rows))}, from {shown[0].name} with "
        f"{figures[0]} to {shown[-1].name} with {figures[-1]}",
        note,
        WIDTH,
        height,
        NOTHING.join(sheet.parts),
        ("Model", figure, "low", "high"),
        tuple(_cells(row, n_decimals, sign=zero) for row in rows),
    )


def _cells(row: Interval, n_decimals: int, *, sign: bool) -> tuple[str, ...]:
    """A row of the table of a forest."""
    return (
        f"{row.name}{row.mark}",
        written(row.estimate, n_decimals, sign=sign),
        written(row.low, n_decimals, sign=sign),
        written(row.high, n_decimals, sign=sign),
    )


def ring(x: float, y: float, radius: float) -> str:
    """The course of a circle; what is below it shows through."""
    arc = f"a{radius:g} {radius:g} 0 1 0"
    return f"M{x - radius:g} {y:g}{arc} {2 * radius:g} 0{arc} {-2 * radius:g} 0"


def _figure(row: Interval, n_decimals: int, sign: bool) -> str:
    ends = ""
    if is_finite(row.low) and is_finite(row.high):
        ends = f" [{written(row.low, n_decimals)}, {written(row.high, n_decimals)}]"
    return f"{written(row.estimate, n_decimals, sign=sign)}{row.mark}{ends}"


def ties(
    title: str,
    rows: Sequence[tuple[str, float, str]],
    *,
    figure: str,
    n_decimals: int,
    note: str,
) -> Picture | None:
    """A critical-difference diagram, upright: names at their figures, bars that join
    those no test tells apart.

    None where it does not fit: fewer than three models, more than `MOST_TIED`, or more
    than `MOST_GROUPS` bars.

    Args:
        title: what it is called.
        rows: name, figure and letters of each model, best first.
        figure: what the figures are.
        n_decimals: of the figures.
        note: what the picture rests on.
    """
    groups = _groups([own for _, _, own in rows])
    if not 3 <= len(rows) <= MOST_TIED or len(groups) > MOST_GROUPS:
        return None
    height, sheet, left = len(rows) * _PITCH + 10, Sheet(), 82 + 9 * len(groups)
    upright = make_axis([row[1] for row in rows], left=8, width=height - 22)
    assert upright is not None  # of at least three figures
    turned = rows[0][1] > rows[-1][1]
    heights = {
        value: height - 6 - at if turned else at
        for _, value, _ in rows
        if (at := upright.at(value)) is not None
    }
    sheet.line(f"M44 {heights[rows[0][1]]:.1f}V{heights[rows[-1][1]]:.1f}", "dim")
    for at, words in upright.ticks:
        y = height - 6 - at if turned else at
        sheet.text(36, round(y + 4, 1), words, "dim", "end")
        sheet.line(f"M40 {y:.1f}H44", "dim")
    for at, name in enumerate(fitting([row[0] for row in rows], WIDTH - left)):
        sheet.line(f"M44 {heights[rows[at][1]]:.1f}L66 {_PITCH * at + 12}H72", "faint")
        sheet.text(left, _PITCH * at + 16, name)
    for number, group in enumerate(groups):
        x = 78 + 9 * number
        sheet.line(f"M{x} {_PITCH * group[0] + 8}V{_PITCH * group[-1] + 16}", "mark", 3)
        sheet.line("".join(f"M{x} {_PITCH * at + 12}h0" for at in group), "mark", 7)
    in_words: list[str] = []
    for group in groups:
        in_words.append(", ".join(rows[at][0] for at in group))
    says = "all differ"
    if groups:
        says = f"joined by a bar, as no test tells them apart: {'; '.join(in_words)}"
    return Picture(
        title,
        f"{title}: {says}",
        note,
        WIDTH,
        height,
        NOTHING.join(sheet.parts),
        ("Model", figure, "Group"),
        tuple((name, fixed(value, n_decimals), own) for name, value, own in rows),
    )


def _groups(letters: Sequence[str]) -> list[list[int]]:
    """Indices of the rows that share a letter, for each letter that several have."""
    groups: list[list[int]] = []
    for letter in sorted(set().union(*letters)):
        group = [at for at, own in enumerate(letters) if letter in own]
        if len(group) > 1:
            groups.append(group)
    return groups


def wins(
    title: str, rows: Sequence[tuple[str, int, int, int]], *, note: str
) -> Picture | None:
    """Of each model how many others it is better than, cannot be told from, and is
    worse than; None for fewer than 3.

    Args:
        title: what it is called.
        rows: name and the three counts, best first; the first `MOST_ROWS` are drawn.
        note: what the picture rests on.
    """
    if len(rows) < 3:
        return None
    shown, sheet = rows[:MOST_ROWS], Sheet()
    for at, name in enumerate(fitting([row[0] for row in shown], WIDTH - 90)):
        counts, y, left = shown[at][1:], at * _ROW, 0.0
        sheet.text(0, y + 13, name)
        sheet.text(WIDTH, y + 13, " · ".join(map(str, counts)), "dim", "end")
        for n, colour in zip(counts, ("mark", "grey", "warm"), strict=True):
            width = WIDTH * n / (sum(counts) or 1)
            if n:
                sheet.area(f"M{left:.1f} {y + 18}h{width:.1f}v9h-{width:.1f}z", colour)
            left += width
    first = shown[0]
    return Picture(
        title,
        f"{title}: {_some(len(shown), len(rows))}; {first[0]} is better than "
        f"{first[1]}, cannot be told from {first[2]}, worse than {first[3]}",
        note,
        WIDTH,
        len(shown) * _ROW,
        NOTHING.join(sheet.parts),
        ("Model", "better than", "cannot tell", "worse than"),
        tuple((row[0], *map(str, row[1:])) for row in rows),
    )


def pair_map(
    title: str,
    names: Sequence[str],
    differences: Sequence[Sequence[float]],
    tested: Sequence[Sequence[float]],
    *,
    n_decimals: int,
    note: str,
) -> Picture | None:
    """Row minus column where a test finds a difference; empty where it does not; names
    on both axes. None where it finds none.

    Args:
        title: what it is called.
        names: of rows and columns.
        differences: row minus column; NaN where there is none.
        tested: 1 where a test finds a difference.
        n_decimals: of the differences.
        note: what the picture rests on.
    """
    shown, edge = fitting(names, 150), 176
    sizes: list[float] = []
    for values in differences:
        sizes += [abs(value) for value in values if value == value]
    largest = max(sizes, default=0.0) or 1.0
    shades: dict[int, list[str]] = {}
    for at, (values, tests) in enumerate(zip(differences, tested, strict=True)):
        for other, (value, test) in enumerate(zip(values, tests, strict=True)):
            if value == value and test == 1:
                shade = min(int((value / largest + 1) * 5), 9)
                cell = (
                    f"M{edge + other * _CELL} "
                    f"{edge + at * _CELL}h{_CELL - 1}v{_CELL - 1}h-{_CELL - 1}z"
                )
                shades.setdefault(shade, []).append(cell)
    if not shades:
        return None
    size, sheet = len(names) * _CELL, Sheet()
    for shade, cells in sorted(shades.items()):
        sheet.area("".join(cells), f"q{shade}")
    for at, name in enumerate(shown):
        middle = edge + at * _CELL + _CELL / 2 + 3
        sheet.text(edge - 6, middle, name, anchor="end")
        sheet.text(
            0,
            0,
            name,
            more=Markup(' transform="translate({} {})rotate(-90)"').format(
                middle + 1, edge - 6
            ),
        )
    for shade in range(10):
        sheet.area(f"M{edge + 14 * shade} {edge + size + 10}h14v10h-14z", f"q{shade}")
    sheet.text(
        edge - 6,
        edge + size + 19,
        f"row minus column {fixed(-largest, n_decimals)}",
        "dim",
        "end",
    )
    sheet.text(
        edge + 146, edge + size + 19, fixed(largest, n_decimals, sign=True), "dim"
    )
    n_differ = sum(len(cells) for cells in shades.values()) // 2
    return Picture(
        title,
        f"{title}: heat map of {len(names)} by {len(names)} models in order of rank; "
        f"{n_differ} of {len(names) * (len(names) - 1) // 2} pairs differ",
        note,
        max(edge + size + 2, edge + 200),
        edge + size + 26,
        NOTHING.join(sheet.parts),
        ("row minus column", *names),
        tuple(
            (name, *_starred(values, tests, n_decimals))
            for name, values, tests in zip(names, differences, tested, strict=True)
        ),
    )


def _starred(
    differences: Sequence[float], tested: Sequence[float], n_decimals: int
) -> list[str]:
    """Differences as text, with a star where a test finds one; empty where there is
    none."""
    cells: list[str] = []
    for value, test in zip(differences, tested, strict=True):
        if value != value:
            cells.append("")
        elif test == 1:
            cells.append(f"{fixed(value, n_decimals, sign=True)}*")
        else:
            cells.append(fixed(value, n_decimals, sign=True))
    return cells


def _some(n: int, n_all: int) -> str:
    if n == n_all:
        return f"{n} models"
    return f"the first {n} of {n_all} models"
