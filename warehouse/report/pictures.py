"""Pictures of results with the names of models in them, as SVG that is as wide as a phone: nothing is scaled.

Each is data in, picture out, with what it shows as a table too, to be copied. Colours are those of style.css.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from unicodedata import east_asian_width

from markupsafe import Markup

from warehouse.report.charts import distinct, shorten
from warehouse.report.table import Axis, known, make_axis, written
from warehouse.tables.words import fixed

#: Pixels of a picture, and of a row in it: a name with its figure, and what is drawn below them.
WIDTH, _ROW = 350, 31
#: Rows of a picture; a table below it has all.
MOST_ROWS = 25
#: Models and groups of a diagram of ties.
MOST_TIED, MOST_GROUPS = 25, 8
#: Pixels of a letter, and of a cell of a map of pairs.
_LETTER, _CELL = 6.4, 15
_MARGIN = 6.0


@dataclass(frozen=True)
class Picture:
    """A picture.

    Attributes:
        title: what it is called.
        say: what is seen, in words, for those who cannot see it.
        note: how many, when and by which method; goes with every copy.
        width: in pixels.
        height: in pixels.
        body: what is in the ``svg`` element; text is escaped.
        head: of the same as a table.
        rows: of it.
    """

    title: str
    say: str
    note: str
    width: int
    height: int
    body: Markup
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @cached_property
    def markdown(self) -> str:
        """The same as a table for Markdown."""
        lines = [self.head, ("---",) + ("---:",) * (len(self.head) - 1), *self.rows]
        cells = ("| " + " | ".join(_in_markdown(cell) for cell in line) + " |" for line in lines)
        return "\n".join([f"**{_in_markdown(self.title)}**", "", *cells, "", _in_markdown(self.note)])

    @cached_property
    def svg(self) -> Markup:
        """The ``svg`` element."""
        return Markup(
            '<svg class="plot" role="img" aria-label="{}" width="{}" height="{}" viewBox="0 0 {} {}">{}</svg>'
        ).format(self.say, self.width, self.height, self.width, self.height, self.body)


@dataclass(frozen=True)
class Interval:
    """A row of a forest plot.

    Attributes:
        name: of the model or condition.
        estimate: the figure.
        low: lower end of its interval; None without.
        high: upper end of it.
        filled: whether its dot is: none is better, or a difference is found.
        mark: sign of a figure that does not count as others do; it is drawn faint.
    """

    name: str
    estimate: float
    low: float | None
    high: float | None
    filled: bool = True
    mark: str = ""


def forest(
    title: str, rows: Sequence[Interval], *, figure: str, places: int, note: str, zero: bool = False
) -> Picture | None:
    """Figures with their intervals, one below the other, each under its name; None for no row.

    Args:
        title: what it is called.
        rows: the first `MOST_ROWS` are drawn.
        figure: what the figures are.
        places: decimals of the figures.
        note: what the picture rests on.
        zero: figures are differences: 0 is on the axis, with a line.
    """
    shown = rows[:MOST_ROWS]
    ends = (end for row in shown for end in (row.estimate, row.low, row.high))
    axis = make_axis(ends, zero=zero, left=_MARGIN, width=WIDTH - 2 * _MARGIN)
    if axis is None:
        return None
    height = len(shown) * _ROW + 22
    parts = [_scale(axis, height, zero=zero)]
    figures = [_figure(row, places, zero) for row in shown]
    widest = max(len(words) for words in figures)
    for at, (row, name, words) in enumerate(
        zip(shown, _fitting([row.name for row in shown], WIDTH - _LETTER * (widest + 1)), figures, strict=True)
    ):
        middle = at * _ROW + 23
        colour = "var(--dim)" if row.mark else "var(--mark)"
        parts.append(_text(0, middle - 9, name, "var(--fg)"))
        parts.append(_text(WIDTH, middle - 9, words, "var(--dim)", "end"))
        if known(row.low) and known(row.high):
            bar = Markup('<path d="M{} {}H{}" stroke="{}" stroke-width="2"/>')
            parts.append(bar.format(axis.at(row.low), middle, axis.at(row.high), colour))
        dot = Markup('<circle cx="{}" cy="{}" r="3.5" fill="{}" stroke="{}" stroke-width="2"/>')
        parts.append(dot.format(axis.at(row.estimate), middle, colour if row.filled else "var(--bg)", colour))
    return Picture(
        title,
        f"{title}: {_some(len(shown), len(rows))}, from {shown[0].name} with {figures[0]} to {shown[-1].name} with"
        f" {figures[-1]}",
        note,
        WIDTH,
        height,
        Markup("").join(parts),
        ("Model", figure, "low", "high"),
        tuple(
            (f"{row.name}{row.mark}", *(written(one, places, sign=zero) for one in (row.estimate, row.low, row.high)))
            for row in rows
        ),
    )


def _figure(row: Interval, places: int, sign: bool) -> str:
    ends = f" [{written(row.low, places)}, {written(row.high, places)}]" if known(row.low) and known(row.high) else ""
    return f"{written(row.estimate, places, sign=sign)}{row.mark}{ends}"


def ties(title: str, rows: Sequence[tuple[str, float, str]], *, figure: str, places: int, note: str) -> Picture | None:
    """A critical-difference diagram, upright: names at their figures, bars that join those no test tells apart.

    None where it does not fit: fewer than three models, more than `MOST_TIED`, or more than `MOST_GROUPS` bars.

    Args:
        title: what it is called.
        rows: name, figure and letters of each model, best first.
        figure: what the figures are.
        places: decimals of the figures.
        note: what the picture rests on.
    """
    letters = sorted({one for _, _, own in rows for one in own})
    groups = [[at for at, row in enumerate(rows) if letter in row[2]] for letter in letters]
    groups = [group for group in groups if len(group) > 1]
    if not 3 <= len(rows) <= MOST_TIED or len(groups) > MOST_GROUPS:
        return None
    height, pitch = len(rows) * 19 + 10, 19
    upright = make_axis([row[1] for row in rows], left=8, width=height - 22)
    assert upright is not None  # of at least three figures
    reverse = rows[0][1] > rows[-1][1]

    def place(value: float) -> float:
        at = upright.at(value) or 0.0
        return round(height - 6 - at, 1) if reverse else at

    parts = [Markup('<path d="M44 {}V{}" stroke="var(--dim)"/>').format(place(rows[0][1]), place(rows[-1][1]))]
    for at_tick, words in upright.ticks:
        y = round(height - 6 - at_tick, 1) if reverse else at_tick
        parts.append(_text(36, y + 4, words, "var(--dim)", "end"))
        parts.append(Markup('<path d="M40 {}H44" stroke="var(--dim)"/>').format(y))
    bars = 78
    left = bars + 9 * len(groups) + 4
    for at, (name, row) in enumerate(zip(_fitting([row[0] for row in rows], WIDTH - left), rows, strict=True)):
        y = at * pitch + 12
        parts.append(Markup('<path d="M44 {}L66 {}H72" stroke="var(--faint)"/>').format(place(row[1]), y))
        parts.append(_text(left, y + 4, name, "var(--fg)"))
    for number, group in enumerate(groups):
        x = bars + 9 * number
        parts.append(
            Markup('<path d="M{} {}V{}" stroke="var(--mark)" stroke-width="3"/>').format(
                x, group[0] * pitch + 8, group[-1] * pitch + 16
            )
        )
        parts += [
            Markup('<path d="M{} {}h0" stroke="var(--mark)" stroke-width="7" stroke-linecap="round"/>').format(
                x, at * pitch + 12
            )
            for at in group
        ]
    words = "; ".join(", ".join(rows[at][0] for at in group) for group in groups)
    return Picture(
        title,
        f"{title}: {f'joined by a bar, as no test tells them apart: {words}' if groups else 'all differ'}",
        note,
        WIDTH,
        height,
        Markup("").join(parts),
        ("Model", figure, "Group"),
        tuple((name, fixed(value, places), own) for name, value, own in rows),
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
    shown = rows[:MOST_ROWS]
    parts = []
    for at, (name, row) in enumerate(zip(_fitting([row[0] for row in shown], WIDTH - 90), shown, strict=True)):
        y, left, total = at * _ROW, 0.0, sum(row[1:]) or 1
        parts.append(_text(0, y + 13, name, "var(--fg)"))
        parts.append(_text(WIDTH, y + 13, f"{row[1]} · {row[2]} · {row[3]}", "var(--dim)", "end"))
        for share, colour in zip(row[1:], ("var(--mark)", "var(--grey)", "var(--warm)"), strict=True):
            width = round(WIDTH * share / total, 1)
            bar = Markup('<path d="M{} {}h{}v9h-{}z" fill="{}"/>')
            parts.append(bar.format(round(left, 1), y + 18, width, width, colour) if share else Markup(""))
            left += width
    first = shown[0]
    return Picture(
        title,
        f"{title}: {_some(len(shown), len(rows))}; {first[0]} is better than {first[1]}, cannot be told from"
        f" {first[2]}, worse than {first[3]}",
        note,
        WIDTH,
        len(shown) * _ROW,
        Markup("").join(parts),
        ("Model", "better than", "cannot tell", "worse than"),
        tuple((row[0], *map(str, row[1:])) for row in rows),
    )


def pair_map(
    title: str,
    names: Sequence[str],
    differences: Sequence[Sequence[float]],
    tested: Sequence[Sequence[float]],
    *,
    places: int,
    note: str,
) -> Picture:
    """Row minus column where a test finds a difference; empty where it does not; names on both axes.

    Args:
        title: what it is called.
        names: of rows and columns.
        differences: row minus column; NaN where there is none.
        tested: 1 where a test finds a difference.
        places: decimals of the differences.
        note: what the picture rests on.
    """
    shown, edge = _fitting(names, 150), 158
    largest = max((abs(one) for row in differences for one in row if one == one), default=0.0) or 1.0
    shades: dict[int, list[str]] = {}
    for at, (values, tests) in enumerate(zip(differences, tested, strict=True)):
        for other, (value, test) in enumerate(zip(values, tests, strict=True)):
            if value == value and test == 1:
                shade = min(int((value / largest + 1) * 5), 9)
                cell = f"M{edge + other * _CELL} {edge + at * _CELL}h{_CELL - 1}v{_CELL - 1}h-{_CELL - 1}z"
                shades.setdefault(shade, []).append(cell)
    size = len(names) * _CELL
    parts = [
        Markup('<path d="{}" fill="var(--q{})"/>').format("".join(cells), shade)
        for shade, cells in sorted(shades.items())
    ]
    for at, name in enumerate(shown):
        middle = edge + at * _CELL + _CELL / 2 + 3
        parts.append(_text(edge - 6, middle, name, "var(--fg)", "end"))
        turned = Markup('<text transform="translate({} {})rotate(-90)" fill="var(--fg)">{}</text>')
        parts.append(turned.format(middle + 1, edge - 6, name))
    for shade in range(10):
        swatch = Markup('<path d="M{} {}h14v10h-14z" fill="var(--q{})"/>')
        parts.append(swatch.format(edge + 14 * shade, edge + size + 10, shade))
    low, high = fixed(-largest, places), fixed(largest, places, sign=True)
    parts.append(_text(edge - 6, edge + size + 19, f"row minus column {low}", "var(--dim)", "end"))
    parts.append(_text(edge + 146, edge + size + 19, high, "var(--dim)"))
    n_differ = sum(len(cells) for cells in shades.values()) // 2
    return Picture(
        title,
        f"{title}: heat map of {len(names)} by {len(names)} models in order of rank; {n_differ} of"
        f" {len(names) * (len(names) - 1) // 2} pairs differ",
        note,
        max(edge + size + 2, edge + 200),
        edge + size + 26,
        Markup("").join(parts),
        ("row minus column", *names),
        tuple(
            (
                name,
                *(
                    f"{fixed(value, places, sign=True)}{'*' if test == 1 else ''}" if value == value else ""
                    for value, test in zip(values, tests, strict=True)
                ),
            )
            for name, values, tests in zip(names, differences, tested, strict=True)
        ),
    )


@dataclass(frozen=True)
class Spot:
    """A point of a scatter plot: its name, places as numbers and in words, and whether its name is drawn."""

    name: str
    x: float
    x_words: str
    y: float
    named: bool


def scatter(
    title: str, spots: Sequence[Spot], *, x: str, y: str, places: int, note: str, ends: tuple[str, str] | None = None
) -> Picture | None:
    """Points with names at those that are named; None for fewer than two.

    Args:
        title: what it is called.
        spots: the points.
        x: what the lower axis is.
        y: what the left axis is.
        places: decimals of the left axis' figures.
        note: what the picture rests on.
        ends: words at the ends of the lower axis, where its numbers are none to read, as of dates.
    """
    left, height = 40.0, 220
    across = make_axis([spot.x for spot in spots], left=left + 6, width=WIDTH - left - 16)
    up = make_axis([spot.y for spot in spots], left=8, width=height - 46)
    if len(spots) < 2 or across is None or up is None:
        return None
    floor = height - 30
    parts = [Markup('<path d="M{} {}H{}" stroke="var(--dim)"/>').format(left, floor, WIDTH)]
    ticks = [(across.left, ends[0]), (across.left + across.width, ends[1])] if ends else across.ticks
    for at, words in ticks:
        anchor = "middle" if not ends else "start" if at == across.left else "end"
        parts.append(_text(at, floor + 13, words, "var(--dim)", anchor))
    for at, words in up.ticks:
        parts.append(Markup('<path d="M{} {}H{}" stroke="var(--line)"/>').format(left, round(floor - at, 1), WIDTH))
        parts.append(_text(left - 4, round(floor - at, 1) + 4, words, "var(--dim)", "end"))
    parts.append(_text(WIDTH, height - 3, x, "var(--fg)", "end"))
    taken: list[tuple[float, float]] = []
    for spot in sorted(spots, key=lambda one: (not one.named, -one.y)):
        at, top = across.at(spot.x) or 0.0, round(floor - (up.at(spot.y) or 0.0), 1)
        colour = "var(--mark)" if spot.named else "var(--faint)"
        parts.append(Markup('<circle cx="{}" cy="{}" r="3.5" fill="{}"/>').format(at, top, colour))
        if spot.named:
            below = next(step for step in range(0, 400, 13) if all(abs(top + step - one) > 12 for one, _ in taken))
            taken.append((top + below, at))
            is_left = at < WIDTH / 2
            name = _fitting([spot.name], (WIDTH - at if is_left else at - left) - 8)[0]
            parts.append(
                _text(at + (7 if is_left else -7), top + below + 4, name, "var(--fg)", "start" if is_left else "end")
            )
    return Picture(
        title,
        f"{title}: {len(spots)} models; {', '.join(spot.name for spot in spots if spot.named)} are named",
        note,
        WIDTH,
        height,
        Markup("").join(parts),
        ("Model", x, y),
        tuple((spot.name, spot.x_words, fixed(spot.y, places)) for spot in spots),
    )


def _scale(axis: Axis, height: int, *, zero: bool) -> Markup:
    """Lines at the round numbers of an axis, the numbers below them, and a line at 0."""
    lines = "".join(f"M{at} 6V{height - 16}" for at, _ in axis.ticks)
    parts = [Markup('<path d="{}" stroke="var(--line)"/>').format(lines)]
    if zero:
        parts.append(
            Markup('<path d="M{} 6V{}" stroke="var(--dim)" stroke-dasharray="2 2"/>').format(axis.at(0.0), height - 16)
        )
    for at, words in axis.ticks:
        anchor = "start" if at < 20 else "end" if at > WIDTH - 20 else "middle"
        parts.append(_text(at, height - 3, words, "var(--dim)", anchor))
    return Markup("").join(parts)


def _text(x: float, y: float, words: str, colour: str, anchor: str = "start") -> Markup:
    own = Markup(' text-anchor="{}"').format(anchor) if anchor != "start" else Markup("")
    return Markup('<text x="{:g}" y="{:g}" fill="{}"{}>{}</text>').format(x, y, colour, own, words)


def _fitting(names: Sequence[str], pixels: float) -> list[str]:
    """Names that fit, and no two alike; a sign of Chinese or the like is as wide as two letters."""
    room = max(int(pixels / _LETTER), 4)
    is_wide = any(east_asian_width(sign) in "WF" for name in names for sign in name)
    return distinct(names, room // 2 if is_wide else room)


def _some(n: int, n_all: int) -> str:
    return f"{n} models" if n == n_all else f"the first {n} of {n_all} models"


def _in_markdown(words: str) -> str:
    """On one line, and nothing of it a mark of Markdown or HTML."""
    plain = shorten(words, 10_000)
    return "".join(f"\\{sign}" if sign in "\\|*_`[]<>#~" else sign for sign in plain)


def note_of(parts: Iterable[str]) -> str:
    """What a picture rests on, from what there is of it."""
    return "; ".join(filter(None, parts))
