"""Pictures of results with the names of models in them, as SVG that is as wide as a phone: nothing is scaled.

Each is data in, picture out, with what it shows as a table too, to be copied. Colours are those of style.css.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from markupsafe import Markup, escape

from warehouse.charts.axes import Axis, make_axis
from warehouse.charts.chart import distinct
from warehouse.tables.markup import pipe_table, with_caption
from warehouse.tables.page import is_finite, written
from warehouse.tables.words import fixed

#: Pixels of a picture, and of a row in it: a name with its figure, and what is drawn below them.
WIDTH, _ROW = 350, 31
#: Pixels from a name in a diagram of ties to the next.
_PITCH = 19
#: Rows of a picture; a table below it has all.
MOST_ROWS = 25
#: Models and groups of a diagram of ties.
MOST_TIED, MOST_GROUPS = 25, 8
#: Pixels of a letter, and of a cell of a map of pairs.
_LETTER, _CELL = 6.4, 15
_MARGIN = 6.0
_PLAIN = Markup("")
#: A text that hides what is below it.
_OVER = Markup(' stroke="var(--bg)" stroke-width="3" paint-order="stroke"')


@dataclass(frozen=True)
class Picture:
    """A picture."""

    title: str  #: what it is called.
    say: str  #: what is seen, in words, for those who cannot see it.
    note: str  #: how many, when and by which method; goes with every copy.
    width: int  #: in pixels.
    height: int  #: in pixels.
    body: Markup  #: what is in the ``svg`` element; text is escaped.
    head: tuple[str, ...]  #: of the same as a table.
    rows: tuple[tuple[str, ...], ...]  #: of it.

    @cached_property
    def markdown(self) -> str:
        """The same as a table for Markdown."""
        to_right = [False] + [True] * (len(self.head) - 1)
        return with_caption(self.title, pipe_table(self.head, self.rows, to_right), self.note)

    @cached_property
    def svg(self) -> Markup:
        """The ``svg`` element."""
        return Markup(
            '<svg class="plot own" role="img" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}">{}</svg>'
        ).format(self.say, self.width, self.height, self.width, self.height, self.body)


@dataclass(frozen=True)
class Interval:
    """A row of a forest plot."""

    name: str  #: of the model or condition.
    estimate: float  #: the figure.
    low: float | None  #: lower end of its interval; None without.
    high: float | None  #: upper end of it.
    filled: bool = True  #: whether its dot is: none is better, or a difference is found.
    mark: str = ""  #: sign of a figure that does not count as others do; it is drawn faint.


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
    """Figures with their intervals, one below the other, each under its name; None for no row.

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
    ends = (end for row in shown for end in (row.estimate, row.low, row.high))
    axis = make_axis(ends, zero=zero, left=_MARGIN, width=WIDTH - 2 * _MARGIN)
    if axis is None:
        return None
    height, sheet = len(shown) * _ROW + 22, _Sheet()
    sheet.ticks(axis, height, zero=zero)
    figures = [_figure(row, n_decimals, zero) for row in shown]
    room = WIDTH - _LETTER * (max(map(len, figures)) + 1)
    for at, (row, name) in enumerate(zip(shown, _fitting([row.name for row in shown], room), strict=True)):
        middle, colour, dot = at * _ROW + 23, "dim" if row.mark else "mark", axis.at(row.estimate) or 0.0
        sheet.text(0, middle - 9, name)
        sheet.text(WIDTH, middle - 9, figures[at], "dim", "end")
        if is_finite(row.low) and is_finite(row.high):
            low, high = axis.at(row.low) or 0.0, axis.at(row.high) or 0.0
            bars = [(low, high)] if row.filled else [(low, dot - 4.5), (dot + 4.5, high)]
            sheet.line("".join(f"M{a:g} {middle}H{b:g}" for a, b in bars if a <= b), colour, 2)
        sheet.line(f"M{dot} {middle}h0" if row.filled else ring(dot, middle, 3.5), colour, 9 if row.filled else 2)
    return Picture(
        title,
        f"{title}: {_some(len(shown), len(rows))}, from {shown[0].name} with {figures[0]} to {shown[-1].name} with"
        f" {figures[-1]}",
        note,
        WIDTH,
        height,
        _PLAIN.join(sheet.parts),
        ("Model", figure, "low", "high"),
        tuple(
            (f"{row.name}{row.mark}", *(written(at, n_decimals, sign=zero) for at in (row.estimate, row.low, row.high)))
            for row in rows
        ),
    )


def ring(x: float, y: float, radius: float) -> str:
    """The course of a circle; what is below it shows through."""
    arc = f"a{radius:g} {radius:g} 0 1 0"
    return f"M{x - radius:g} {y:g}{arc} {2 * radius:g} 0{arc} {-2 * radius:g} 0"


def _figure(row: Interval, n_decimals: int, sign: bool) -> str:
    ends = (
        f" [{written(row.low, n_decimals)}, {written(row.high, n_decimals)}]"
        if is_finite(row.low) and is_finite(row.high)
        else ""
    )
    return f"{written(row.estimate, n_decimals, sign=sign)}{row.mark}{ends}"


def ties(
    title: str, rows: Sequence[tuple[str, float, str]], *, figure: str, n_decimals: int, note: str
) -> Picture | None:
    """A critical-difference diagram, upright: names at their figures, bars that join those no test tells apart.

    None where it does not fit: fewer than three models, more than `MOST_TIED`, or more than `MOST_GROUPS` bars.

    Args:
        title: what it is called.
        rows: name, figure and letters of each model, best first.
        figure: what the figures are.
        n_decimals: of the figures.
        note: what the picture rests on.
    """
    letters = sorted({letter for _, _, own in rows for letter in own})
    groups = [[at for at, row in enumerate(rows) if letter in row[2]] for letter in letters]
    groups = [group for group in groups if len(group) > 1]
    if not 3 <= len(rows) <= MOST_TIED or len(groups) > MOST_GROUPS:
        return None
    height, sheet, left = len(rows) * _PITCH + 10, _Sheet(), 82 + 9 * len(groups)
    upright = make_axis([row[1] for row in rows], left=8, width=height - 22)
    assert upright is not None  # of at least three figures
    turned = rows[0][1] > rows[-1][1]
    heights = {
        value: height - 6 - at if turned else at for _, value, _ in rows if (at := upright.at(value)) is not None
    }
    sheet.line(f"M44 {heights[rows[0][1]]:.1f}V{heights[rows[-1][1]]:.1f}", "dim")
    for at, words in upright.ticks:
        y = height - 6 - at if turned else at
        sheet.text(36, round(y + 4, 1), words, "dim", "end")
        sheet.line(f"M40 {y:.1f}H44", "dim")
    for at, name in enumerate(_fitting([row[0] for row in rows], WIDTH - left)):
        sheet.line(f"M44 {heights[rows[at][1]]:.1f}L66 {_PITCH * at + 12}H72", "faint")
        sheet.text(left, _PITCH * at + 16, name)
    for number, group in enumerate(groups):
        x = 78 + 9 * number
        sheet.line(f"M{x} {_PITCH * group[0] + 8}V{_PITCH * group[-1] + 16}", "mark", 3)
        sheet.line("".join(f"M{x} {_PITCH * at + 12}h0" for at in group), "mark", 7)
    words = "; ".join(", ".join(rows[at][0] for at in group) for group in groups)
    return Picture(
        title,
        f"{title}: {f'joined by a bar, as no test tells them apart: {words}' if groups else 'all differ'}",
        note,
        WIDTH,
        height,
        _PLAIN.join(sheet.parts),
        ("Model", figure, "Group"),
        tuple((name, fixed(value, n_decimals), own) for name, value, own in rows),
    )


def wins(title: str, rows: Sequence[tuple[str, int, int, int]], *, note: str) -> Picture | None:
    """Of each model how many others it is better than, cannot be told from, and is worse than; None for fewer than 3.

    Args:
        title: what it is called.
        rows: name and the three counts, best first; the first `MOST_ROWS` are drawn.
        note: what the picture rests on.
    """
    if len(rows) < 3:
        return None
    shown, sheet = rows[:MOST_ROWS], _Sheet()
    for at, name in enumerate(_fitting([row[0] for row in shown], WIDTH - 90)):
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
        f"{title}: {_some(len(shown), len(rows))}; {first[0]} is better than {first[1]}, cannot be told from"
        f" {first[2]}, worse than {first[3]}",
        note,
        WIDTH,
        len(shown) * _ROW,
        _PLAIN.join(sheet.parts),
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
    """Row minus column where a test finds a difference; empty where it does not; names on both axes. None where it
    finds none.

    Args:
        title: what it is called.
        names: of rows and columns.
        differences: row minus column; NaN where there is none.
        tested: 1 where a test finds a difference.
        n_decimals: of the differences.
        note: what the picture rests on.
    """
    shown, edge = _fitting(names, 150), 176
    largest = max((abs(value) for row in differences for value in row if value == value), default=0.0) or 1.0
    shades: dict[int, list[str]] = {}
    for at, (values, tests) in enumerate(zip(differences, tested, strict=True)):
        for other, (value, test) in enumerate(zip(values, tests, strict=True)):
            if value == value and test == 1:
                shade = min(int((value / largest + 1) * 5), 9)
                cell = f"M{edge + other * _CELL} {edge + at * _CELL}h{_CELL - 1}v{_CELL - 1}h-{_CELL - 1}z"
                shades.setdefault(shade, []).append(cell)
    if not shades:
        return None
    size, sheet = len(names) * _CELL, _Sheet()
    for shade, cells in sorted(shades.items()):
        sheet.area("".join(cells), f"q{shade}")
    for at, name in enumerate(shown):
        middle = edge + at * _CELL + _CELL / 2 + 3
        sheet.text(edge - 6, middle, name, anchor="end")
        sheet.text(0, 0, name, more=Markup(' transform="translate({} {})rotate(-90)"').format(middle + 1, edge - 6))
    for shade in range(10):
        sheet.area(f"M{edge + 14 * shade} {edge + size + 10}h14v10h-14z", f"q{shade}")
    sheet.text(edge - 6, edge + size + 19, f"row minus column {fixed(-largest, n_decimals)}", "dim", "end")
    sheet.text(edge + 146, edge + size + 19, fixed(largest, n_decimals, sign=True), "dim")
    n_differ = sum(len(cells) for cells in shades.values()) // 2
    return Picture(
        title,
        f"{title}: heat map of {len(names)} by {len(names)} models in order of rank; {n_differ} of"
        f" {len(names) * (len(names) - 1) // 2} pairs differ",
        note,
        max(edge + size + 2, edge + 200),
        edge + size + 26,
        _PLAIN.join(sheet.parts),
        ("row minus column", *names),
        tuple(
            (
                name,
                *(
                    f"{fixed(value, n_decimals, sign=True)}{'*' if test == 1 else ''}" if value == value else ""
                    for value, test in zip(values, tests, strict=True)
                ),
            )
            for name, values, tests in zip(names, differences, tested, strict=True)
        ),
    )


@dataclass(frozen=True)
class Spot:
    """A point of a scatter plot: its name, places as numbers and in words, and whether it stands out by its name; the
    ends of the intervals along both axes, where there are any."""

    name: str
    x: float
    x_words: str
    y: float
    named: bool
    x_ends: tuple[float, float] | None = None
    y_ends: tuple[float, float] | None = None


def by_cost(
    title: str, spots: Iterable[Spot], *, x: str, y: str, n_decimals: int, note: str, higher_is_better: bool
) -> Picture | None:
    """Scores against costs, by logarithms where none is 0; those stand out, joined by a line, that are better than all
    that cost no more."""
    ordered, frontier = list[Spot](), list[Spot]()
    sign = 1 if higher_is_better else -1
    for spot in sorted(spots, key=lambda spot: (spot.x, -sign * spot.y)):
        named = (
            not frontier
            or sign * spot.y > sign * frontier[-1].y
            or (spot.x, spot.y) == (frontier[-1].x, frontier[-1].y)
        )
        ordered.append(replace(spot, named=named))
        frontier += ordered[-1:] if named else []
    ticks: list[tuple[float, str]] = []
    if ordered and ordered[0].x > 0:
        ordered = [
            replace(spot, x=math.log10(spot.x), x_ends=spot.x_ends and _logarithms(spot.x_ends)) for spot in ordered
        ]
        low, high = ordered[0].x, ordered[-1].x
        steps = (1, 2, 5) if high - low < 1.5 else (1,)
        marks = [step * 10.0**power for power in range(math.floor(low) - 1, math.ceil(high) + 1) for step in steps]
        ticks, x = (
            [(math.log10(mark), f"{mark:g}") for mark in marks if low <= math.log10(mark) <= high],
            f"{x}, logarithmic",
        )
    note = note_of([note, "blue: better than all that cost no more"])
    return scatter(title, ordered, x=x, y=y, n_decimals=n_decimals, note=note, ticks=ticks, joined=True)


def _logarithms(ends: tuple[float, float]) -> tuple[float, float]:
    return math.log10(ends[0]), math.log10(ends[1])


def scatter(
    title: str,
    spots: Sequence[Spot],
    *,
    x: str,
    y: str,
    n_decimals: int,
    note: str,
    ticks: Sequence[tuple[float, str]] = (),
    joined: bool = False,
) -> Picture | None:
    """Points with names at those that are named; None for fewer than two.

    Args:
        title: what it is called.
        spots: the points.
        x: what the lower axis is.
        y: what the left axis is.
        n_decimals: of the left axis' figures.
        note: what the picture rests on.
        ticks: of the lower axis, where its numbers are none to read, as of dates and logarithms.
        joined: a line of steps joins those that are named.
    """
    left, height = 40.0, 220
    across, up = (
        make_axis([at for row in rows for at in row], left=start, width=width)
        for rows, start, width in (
            ([(spot.x, *(spot.x_ends or ())) for spot in spots], left + 6, WIDTH - left - 16),
            ([(spot.y, *(spot.y_ends or ())) for spot in spots], 8, height - 46),
        )
    )
    if len(spots) < 2 or across is None or up is None:
        return None
    floor, sheet = height - 30, _Sheet()
    sheet.line(f"M{left} {floor}H{WIDTH}", "dim")
    for at, words in [(across.at(value) or 0.0, words) for value, words in ticks] or across.ticks:
        sheet.text(at, floor + 13, words, "dim", _anchor(at, left))
    for at, words in up.ticks:
        sheet.line(f"M{left} {floor - at:.1f}H{WIDTH}", "line")
        sheet.text(left - 4, round(floor - at + 4, 1), words, "dim", "end")
    sheet.text(WIDTH, height - 3, x, anchor="end")
    positions = [(spot, across.at(spot.x) or 0.0, round(floor - (up.at(spot.y) or 0.0), 1)) for spot in spots]
    for spot, at, top in positions:
        _whiskers(sheet, spot, (at, top), across, up, floor)
    ends = sorted((at, top) for spot, at, top in positions if spot.named)
    if joined and len(ends) > 1:
        sheet.line(f"M{ends[0][0]} {ends[0][1]}" + "".join(f"H{at}V{top}" for at, top in ends[1:]), "dim", dashed=True)
    for spot, at, top in sorted(positions, key=lambda position: position[0].named):
        sheet.line(f"M{at} {top}h0", "mark" if spot.named else "faint", 7)
    taken: list[float] = []
    for spot, at, top in sorted(positions, key=lambda position: position[2]):
        below = next((step for step in (0, 13, 26) if all(abs(top + step - other) > 12 for other in taken)), None)
        if spot.named and below is not None:
            taken.append(top + below)
            is_left = at < WIDTH / 2
            name = _fitting([spot.name], (WIDTH - at if is_left else at - left) - 8)[0]
            x_at, anchor = (at + 7, "start") if is_left else (at - 7, "end")
            sheet.text(x_at, top + below + 4, name, anchor=anchor, more=_OVER)
    return Picture(
        title,
        f"{title}: {len(spots)} models; stand out: {', '.join(spot.name for spot in spots if spot.named)}",
        note,
        WIDTH,
        height,
        _PLAIN.join(sheet.parts),
        ("Model", x, y),
        tuple((spot.name, spot.x_words, fixed(spot.y, n_decimals)) for spot in spots),
    )


def _whiskers(sheet: _Sheet, spot: Spot, position: tuple[float, float], across: Axis, up: Axis, floor: float) -> None:
    """The intervals of a point along both axes."""
    (at, top), colour = position, "mark" if spot.named else "line"
    if spot.x_ends:
        sheet.line(f"M{across.at(spot.x_ends[0])} {top}H{across.at(spot.x_ends[1])}", colour)
    if spot.y_ends:
        low, high = (round(floor - (up.at(end) or 0.0), 1) for end in spot.y_ends)
        sheet.line(f"M{at} {low}V{high}", colour)


class _Sheet:
    """What is drawn, from back to front; colours are names of style.css."""

    def __init__(self) -> None:
        self.parts: list[Markup] = []

    def line(self, course: str, colour: str, width: float = 1, *, dashed: bool = False) -> None:
        """A line; one without length is a dot. The course is made of numbers alone."""
        more = f' stroke-width="{width:g}" stroke-linecap="round"' if width != 1 else ""
        more += ' stroke-dasharray="2 2"' if dashed else ""
        self.parts.append(Markup(f'<path d="{course}" stroke="var(--{colour})"{more}/>'))

    def area(self, course: str, colour: str) -> None:
        """A filled area."""
        self.parts.append(Markup(f'<path d="{course}" fill="var(--{colour})"/>'))

    def text(
        self, x: float, y: float, words: str, colour: str = "fg", anchor: str = "start", *, more: Markup = _PLAIN
    ) -> None:
        """Words at a place, which `anchor` says the end of."""
        at = f' text-anchor="{anchor}"' if anchor != "start" else ""
        self.parts.append(Markup(f'<text x="{x:g}" y="{y:g}" fill="var(--{colour})"{at}{more}>{escape(words)}</text>'))

    def ticks(self, axis: Axis, height: int, *, zero: bool) -> None:
        """Lines at the round numbers of an axis, the numbers below them, and a line at 0."""
        self.line("".join(f"M{at} 6V{height - 16}" for at, _ in axis.ticks), "line")
        if zero:
            self.line(f"M{axis.at(0.0)} 6V{height - 16}", "dim", dashed=True)
        for at, words in axis.ticks:
            self.text(at, height - 3, words, "dim", _anchor(at, 0))


def _anchor(at: float, left: float) -> str:
    """Where words stand at a place, so that they stay inside."""
    return "start" if at < left + 20 else "end" if at > WIDTH - 20 else "middle"


def _fitting(names: Sequence[str], pixels: float) -> list[str]:
    """Names that fit, and no two alike."""
    return distinct(names, max(int(pixels / _LETTER), 4))


def _some(n: int, n_all: int) -> str:
    return f"{n} models" if n == n_all else f"the first {n} of {n_all} models"


def note_of(parts: Iterable[str]) -> str:
    """What a picture rests on, from what there is of it."""
    return "; ".join(filter(None, parts))
