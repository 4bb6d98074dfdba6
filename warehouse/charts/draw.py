"""Drawing of charts as SVG, in the colours of style.css.

It knows the part of Vega-Lite that is written here: two axes of numbers, and on them
lines, areas, bars, points, rules, texts and boxes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import east_asian_width

import numpy as np
from markupsafe import Markup, escape

from warehouse.charts.axes import step_of
from warehouse.charts.chart import Chart, Spec
from warehouse.charts.courses import ring
from warehouse.charts.picture import Picture

#: Pixels of a letter, of a line of text, between marks, left of the area between the
#: axes at least, and right of it.
_LETTER = 6.4
_LINE = 17
_GAP = 6
_LEFT = 58
_RIGHT = 12
#: Rows of a table that is copied.
_MOST_ROWS = 500
_UNITS = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
#: Names of an attribute of SVG here.
_ATTRIBUTES = {
    "width": "stroke-width",
    "dash": "stroke-dasharray",
    "opacity": "opacity",
    "cap": "stroke-linecap",
}


def draw(chart: Chart) -> Picture:
    """A chart as a picture. The same chart gives the same text."""
    plot = _Plot(chart.spec)
    plot.axes()
    for layer in chart.spec["layer"]:
        _MARKS[layer["mark"]["type"]](
            plot, layer["mark"], layer.get("encoding", {}), layer["data"]["values"]
        )
    drawn = [f"<{tag}{attributes}{end}" for tag, attributes, end in plot.parts]
    inside = "".join(drawn)
    head, rows = _table(chart.spec)
    left = round(plot.left, 1)
    top = round(plot.top, 1)
    foot = top + plot.up.length + plot.below
    legend, bottom = _legend(chart.spec, plot.width, foot)
    return Picture(
        chart.title,
        f"{chart.title}: {chart.say}",
        chart.say,
        math.ceil(plot.width),
        math.ceil(bottom),
        Markup(
            f'<g transform="translate({left} {top})">{inside}</g>{legend}'
        ),  # its texts are escaped
        head,
        rows,
    )


def _table(spec: Spec) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The drawn data as a table: positions of marks and heights of bars."""
    marks: list[Spec] = []
    for layer in spec["layer"]:
        marks += [
            row for row in layer["data"]["values"] if "x2" in row or "y2" not in row
        ]
    titles = {
        axis: spec["encoding"][axis]["axis"]["title"] or axis for axis in ("x", "y")
    }
    heads = {"x": titles["x"], "x2": "to", "y": titles["y"], "k": "of"}
    given = set().union(*marks)
    heads = {field: words for field, words in heads.items() if field in given}
    rows = [_cells(row, heads) for row in marks[:_MOST_ROWS]]
    return tuple(heads.values()), tuple(rows)


def _cells(mark: Spec, fields: Iterable[str]) -> tuple[str, ...]:
    """A row of the table: a bar by its height."""
    if "y2" in mark:
        mark = {**mark, "y": mark["y2"] - mark["y"]}
    return tuple(_cell(mark.get(field)) for field in fields)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value + 0.0:.6g}"
    return f"{value}"


@dataclass(frozen=True)
class _Scale:
    """Where figures stand along an axis."""

    low: float
    high: float
    length: int
    log: bool
    turned: bool  #: it begins at the far end.
    ticks: tuple[tuple[float, str], ...]

    def at(self, value: float) -> float:
        low, high, value = (
            math.log1p(end) if self.log else end for end in (self.low, self.high, value)
        )
        share = (value - low) / (high - low)
        return round(self.length * (1 - share if self.turned else share), 1)

    @property
    def longest(self) -> float:
        """Pixels of its longest words."""
        return max((wide(words) for _, words in self.ticks), default=0.0)


def _scale(channel: Spec, length: int, *, upright: bool) -> _Scale:
    scale = channel["scale"]
    axis = channel["axis"]
    low, high = scale["domain"]
    log = scale.get("type") == "symlog"
    step = max(step_of(high - low), axis.get("tickMinStep", 0))
    lowest = math.floor(low / step + 1e-9) * step
    highest = math.ceil(high / step - 1e-9) * step
    wider = (lowest, highest)
    if scale["nice"] and math.isfinite(wider[1] - wider[0]):
        low, high = wider
    values = axis.get("values") or [
        number * step
        for number in range(
            math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1
        )
    ]
    if axis.get("labelExpr", "").startswith("["):
        words: Sequence[str] = json.JSONDecoder().raw_decode(axis["labelExpr"])[0]
    else:
        words = [
            _number(value, step, max(abs(low), abs(high)), log) for value in values
        ]
    ticks = tuple(
        (at, said)
        for at, said in zip(values, words, strict=True)
        if low <= at <= high or at in (low, high)
    )
    return _Scale(low, high, length, log, upright != scale.get("reverse", False), ticks)


def _number(value: float, step: float, largest: float, log: bool) -> str:
    """A number as axes label it: 20k, 2e-7, else with the decimals of a step."""
    if largest >= 1e15 or largest < 1e-5:
        return f"{value + 0.0:.3g}"
    if largest >= 1e4 or log:
        size, letter = next(
            ((size, letter) for size, letter in _UNITS if abs(value) >= size), (1.0, "")
        )
        return f"{value / size + 0.0:.12g}{letter}"
    magnitude = math.floor(math.log10(step) + 1e-9)
    return f"{value + 0.0:.{max(0, -magnitude)}f}"


def wide(words: str) -> float:
    """Pixels of a text; a sign of Chinese or the like is as wide as two letters."""
    n_wide = sum(east_asian_width(sign) in "WF" for sign in words)
    return _LETTER * (len(words) + n_wide)


class _Plot:
    """The area between the axes, with what is drawn on it from back to front, from its
    upper left corner."""

    def __init__(self, spec: Spec) -> None:
        self.axis = {name: spec["encoding"][name]["axis"] for name in "xy"}
        self.across = _scale(spec["encoding"]["x"], spec["width"], upright=False)
        self.up = _scale(spec["encoding"]["y"], spec["height"], upright=True)
        self.parts: list[tuple[str, str, str]] = []
        self.left = max(_LEFT, self.up.longest + 2 * _GAP)
        self.width = self.left + self.across.length + _RIGHT
        self.is_above = self.axis["x"].get("orient") == "top"
        pitch = self.across.length / max(len(self.across.ticks), 1)
        self.is_turned = self.is_above and self.across.longest > pitch
        self.top, self.below = self._margins()

    def _margins(self) -> tuple[float, float]:
        """Room above and below the axes, for the words of the lower axis and titles."""
        top: float = 8
        below: float = _LINE + _GAP
        if self.axis["x"]["title"]:
            below += _LINE
        if self.is_above:
            top, below = _LINE, _GAP
        if self.is_turned:
            top = self.across.longest + _GAP
        if self.axis["y"]["title"]:
            top += _LINE
        return top, below

    def at(self, row: Spec, x: str = "x", y: str = "y") -> tuple[float, float]:
        return self.across.at(row[x]), self.up.at(row[y])

    def path(self, course: str, paint: str, colour: str, **look: float | str) -> None:
        """Draw a path, whose course holds numbers only; it is joined to the last path
        if both look the same."""
        more = "".join(
            f' {_ATTRIBUTES[name]}="{value}"'
            for name, value in look.items()
            if value not in ("", 1)
        )
        end = f' {paint}="{escape(colour)}"{more}/>'
        if course and self.parts and self.parts[-1][2] == end:
            course = self.parts.pop()[1].removeprefix(' d="').removesuffix('"') + course
        if course:
            self.parts.append(("path", f' d="{course}"', end))

    def dot(
        self, x: float, y: float, size: float, colour: str, opacity: float = 1
    ) -> None:
        """A line without length whose round end is drawn; its area is in square pixels."""
        width = round(2 * math.sqrt(size / math.pi), 1)
        self.path(
            f"M{x} {y}h0", "stroke", colour, width=width, opacity=opacity, cap="round"
        )

    def text(self, x: float, y: float, words: str, colour: str, more: str = "") -> None:
        anchor = more
        if more in ("middle", "end"):
            anchor = f' text-anchor="{more}"'
        self.parts.append(
            (
                "text",
                f' x="{x:g}" y="{y:g}" fill="{escape(colour)}"{anchor}',
                f">{escape(words)}</text>",
            )
        )
        if not more:
            self.width = max(self.width, self.left + x + wide(words) + 2)

    def axes(self) -> None:
        width = self.across.length
        height = self.up.length
        if self.axis["y"].get("grid", True):
            self.path(
                "".join(f"M0 {self.up.at(at)}H{width}" for at, _ in self.up.ticks),
                "stroke",
                "var(--line)",
            )
        taken = -math.inf
        for at, words in sorted(self.up.ticks, key=lambda tick: self.up.at(tick[0])):
            if (y := self.up.at(at)) - taken >= 9:
                self.text(-_GAP - 3, round(y + 4, 1), words, "var(--dim)", "end")
                taken = y
        if not self.is_above:
            self.path(f"M0 {height}H{width}", "stroke", "var(--dim)")
        self._below()
        if title := self.axis["x"]["title"]:
            self.text(width / 2, height + 2 * _LINE, title, "var(--fg)", "middle")
        if title := self.axis["y"]["title"]:
            x = round(-self.left, 1)
            y = round(12 - self.top, 1)
            self.text(x, y, title, "var(--fg)")

    def _below(self) -> None:
        """The words of the lower axis, without those that have no room."""
        taken = -math.inf
        for value, words in self.across.ticks:
            at = self.across.at(value)
            half = wide(words) / 2
            if self.is_turned:
                turned = f' transform="translate({at + 4:g} -{_GAP})rotate(-90)"'
                self.text(0, 0, words, "var(--dim)", turned)
            elif at - half >= taken:
                at = round(
                    min(max(at, half - self.left), self.across.length + _RIGHT - half),
                    1,
                )
                if self.is_above:
                    y = -_GAP
                else:
                    y = self.up.length + _LINE - 2
                self.text(at, y, words, "var(--dim)", "middle")
                taken = at + half + 4


def _painted(mark: Spec, encoding: Spec, row: Spec, *channels: str) -> Any:
    """The look of a row: by the first of these channels that has a scale, or that the
    mark sets itself."""
    for name in channels:
        if "scale" in encoding.get(name, {}):
            scale = encoding[name]["scale"]
            return scale["range"][scale["domain"].index(row[encoding[name]["field"]])]
        if name in mark:
            return mark[name]
    return None


def _lines(plot: _Plot, mark: Spec, encoding: Spec, rows: Sequence[Spec]) -> None:
    field = next(
        (
            encoding[name]["field"]
            for name in ("detail", "stroke", "color")
            if name in encoding
        ),
        "",
    )
    curves: dict[Any, list[Spec]] = {}
    for row in rows:
        curves.setdefault(row.get(field), []).append(row)
    for own in curves.values():
        course = ""
        is_down = False
        dots = list[tuple[float, float]]()
        for row in own:
            if row["x"] is None or row["y"] is None:
                is_down = False
                continue
            x, y = plot.at(row)
            dots.append((x, y))
            if not is_down:
                course += f"M{x} {y}"
            elif mark.get("interpolate") == "step-after":
                course += f"H{x}V{y}"
            else:
                course += f"L{x} {y}"
            is_down = True
        colour = _painted(mark, encoding, own[0], "stroke", "color")
        plot.path(
            course,
            "stroke",
            colour,
            width=mark.get("strokeWidth", 1.75),
            dash=_dashes(mark, encoding, own[0]),
        )
        if mark.get("point"):
            for x, y in dots:
                plot.dot(x, y, mark["point"]["size"], colour)


def _dashes(mark: Spec, encoding: Spec, row: Spec) -> str:
    dashes = _painted(mark, encoding, row, "strokeDash") or [1, 0]
    if dashes == [1, 0]:
        return ""
    return ",".join(map(str, dashes))


def _areas(plot: _Plot, mark: Spec, encoding: Spec, rows: Sequence[Spec]) -> None:
    points = [plot.at(row) for row in rows] + [
        plot.at(row, y="y2") for row in reversed(rows)
    ]
    course = "L".join(f"{x} {y}" for x, y in points)
    plot.path(
        course and f"M{course}z", "fill", mark["fill"], opacity=mark["fillOpacity"]
    )


def _bars(plot: _Plot, mark: Spec, encoding: Spec, rows: Sequence[Spec]) -> None:
    for row in rows:
        x, y = plot.at(row)
        x2, y2 = plot.at(row, "x2", "y2")
        left = min(x, x2)
        top = min(y, y2)
        width = round(abs(x2 - x), 1)
        height = round(abs(y2 - y), 1)
        gap = min(1, width / 2) if mark.get("stroke") == "var(--bg)" else 0
        inner = round(width - gap, 1)
        course = f"M{left} {top}h{inner}v{height}h-{inner}z"
        plot.path(course, "fill", _painted(mark, encoding, row, "fill"))
        if "strokeDash" in mark:
            plot.path(course, "stroke", mark["stroke"], dash=_dashes(mark, {}, row))


def _points(plot: _Plot, mark: Spec, encoding: Spec, rows: Sequence[Spec]) -> None:
    for row in rows:
        if row["x"] is None or row["y"] is None:
            continue
        colour = _painted(mark, encoding, row, "fill", "color", "stroke")
        size = float(_painted(mark, encoding, row, "size"))
        if mark.get("filled"):
            plot.dot(
                *plot.at(row),
                size,
                colour,
                _painted(mark, {}, row, "fillOpacity", "opacity") or 1,
            )
        else:
            plot.path(
                ring(*plot.at(row), round(math.sqrt(size / math.pi), 1)),
                "stroke",
                colour,
            )


def _rules(plot: _Plot, mark: Spec, encoding: Spec, rows: Sequence[Spec]) -> None:
    ends = ("x", "y2")
    if "x2" in encoding:
        ends = ("x2", "y")
    look = {
        "width": mark.get("strokeWidth", 1),
        "opacity": mark.get("strokeOpacity", 1),
    }
    for row in rows:
        course = "M{} {}L{} {}".format(*plot.at(row), *plot.at(row, *ends))
        plot.path(course, "stroke", mark["stroke"], **look)


def _texts(plot: _Plot, mark: Spec, encoding: Spec, rows: Sequence[Spec]) -> None:
    taken: list[tuple[float, float, float]] = []
    for row in rows:
        words = row[encoding["text"]["field"]]
        x, y = plot.at(row)
        end = x + wide(words)
        steps = (y + 12 * step for step in range(len(rows) + 1))
        y = next(low for low in steps if not _hits(taken, x, end, low))
        taken.append((x, end, y))
        plot.text(
            x + mark["dx"],
            round(y + 4, 1),
            words,
            _painted(mark, encoding, row, "color", "fill"),
        )


def _hits(
    taken: Sequence[tuple[float, float, float]], start: float, end: float, at: float
) -> bool:
    """True where a text would stand on another."""
    return any(
        left < end and start < right and abs(y - at) < 12 for left, right, y in taken
    )


def _boxes(plot: _Plot, mark: Spec, encoding: Spec, rows: Sequence[Spec]) -> None:
    """Quartiles, whiskers to what lies within so many times their distance, and what
    lies beyond as dots."""
    along, at = ("y", "x") if mark["orient"] == "vertical" else ("x", "y")
    groups: dict[float, list[float]] = {}
    for row in rows:
        groups.setdefault(row[at], []).append(row[along])
    half = mark["size"] / 2

    def course(position: float, *figures: float) -> str:
        """A bar between two figures, or a line across at one."""
        x, (low, high) = (
            (plot.across if at == "x" else plot.up).at(position),
            _ends(plot, along, figures),
        )
        corners = [(x - half, low), (x + half, low), (x + half, high), (x - half, high)]
        points = (f"{a:g} {b:g}" if at == "x" else f"{b:g} {a:g}" for a, b in corners)
        return f"M{'L'.join(points)}z"

    for position, several in groups.items():
        values = np.array(several)
        low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
        reach = mark["extent"] * (high - low)
        inside = (values >= low - reach) & (values <= high + reach)
        ends: list[Spec] = [
            {at: position, along: float(end)}
            for end in (values[inside].min(), values[inside].max())
        ]
        plot.path(
            "M{} {}L{} {}".format(*plot.at(ends[0]), *plot.at(ends[1])),
            "stroke",
            mark["color"],
        )
        plot.path(
            course(position, float(low), float(high)),
            "fill",
            mark["color"],
            opacity=mark["box"]["fillOpacity"],
        )
        plot.path(
            course(position, float(middle)), "stroke", mark["median"]["fill"], width=1.5
        )
        for value in values[~inside]:
            plot.dot(
                *plot.at({at: position, along: float(value)}),
                mark["outliers"]["size"],
                mark["color"],
            )


def _ends(plot: _Plot, along: str, figures: Sequence[float]) -> tuple[float, float]:
    if along == "x":
        scale = plot.across
    else:
        scale = plot.up
    return scale.at(figures[0]), scale.at(figures[-1])


_MARKS: dict[str, Callable[[_Plot, Spec, Spec, Sequence[Spec]], None]] = {
    "line": _lines,
    "area": _areas,
    "rect": _bars,
    "point": _points,
    "rule": _rules,
    "text": _texts,
    "boxplot": _boxes,
}


def _legend(spec: Spec, width: float, top: float) -> tuple[str, float]:
    """The legend below the axes, and where it ends."""
    parts = list[str]()
    x = 0.0
    y = top + 8
    for words, sign in _entries(spec):
        indent = 0
        if sign:
            indent = 26
        room = indent + wide(words) + 12
        if x and x + room > width + 12:
            x, y = 0.0, y + _LINE
        if sign:
            parts.append(f'<path transform="translate({x:g} {y:g})" {sign}/>')
        parts.append(
            f'<text x="{x + indent:g}" y="{y + 4:g}" '
            f'fill="var(--dim)">{escape(words)}</text>'
        )
        x += room
    return "".join(parts), y + 8 if parts else top


def _entries(spec: Spec) -> Iterator[tuple[str, str]]:
    """Words of the legend, each with the attributes of its sign; none with a title."""
    for layer in spec["layer"]:
        mark = layer["mark"]
        encoding = layer.get("encoding", {})
        name = next(
            (
                name
                for name in ("fill", "stroke", "color", "size")
                if encoding.get(name, {}).get("legend")
            ),
            "",
        )
        channel = encoding.get(name, {"scale": {"domain": []}})
        if title := channel.get("legend", {}).get("title"):
            yield f"{title}:", ""
        for kind in channel["scale"]["domain"]:
            row = {channel["field"]: kind}
            look = _painted(mark, encoding, row, name)
            if name == "size":
                size = round(2 * math.sqrt(look / math.pi), 1)
                yield (
                    kind,
                    f'd="M11 0h0" stroke="{escape(mark["fill"])}" '
                    f'stroke-width="{size}" stroke-linecap="round"',
                )
            elif mark["type"] == "rect":
                yield kind, f'd="M6 -5h10v10h-10z" fill="{escape(look)}"'
            elif mark["type"] == "point":
                yield (
                    kind,
                    f'd="M11 0h0" stroke="{escape(look)}" stroke-width="6" '
                    'stroke-linecap="round"',
                )
            else:
                line = f'd="M0 0h22" stroke="{escape(look)}" stroke-width="1.75"'
                dash = _dashes(mark, encoding, row)
                if dash:
                    line += f' stroke-dasharray="{dash}"'
                yield kind, line
