"""Charts: figures with two axes, as specifications of Vega-Lite that notebooks have and
`draw` makes pictures of.

Text of dumps stands in titles, and as a value in legends; names of fields are our own.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_letters, digits
from typing import Any
from unicodedata import east_asian_width

Spec = dict[str, Any]
Points = Sequence[tuple[float, float | None]]
Ends = tuple[float, float]
#: Of a histogram: low and high edge, floor and top, kind.
Bin = tuple[float, float, float, float, str]

#: Size of the area between the axes, with which it is as wide as a phone: in a row of
#: charts, and alone. The first is a multiple of the cells of a data map, whose places
#: are whole then, and short.
PLOT = (275, 175)
TALL_PLOT = (275, 220)
#: What tells series apart: colours of style.css, and dashes, for those who do not see
#: colours.
SERIES = (
    ("var(--mark)", [1, 0]),
    ("var(--c1)", [6, 3]),
    ("var(--c2)", [2, 2]),
    ("var(--c3)", [8, 3, 2, 3]),
    ("var(--c4)", [4, 4]),
    ("var(--c5)", [1, 3]),
)
#: Series that have colours and dashes of their own; further ones are faint.
COLOURS = len(SERIES)
_FAINT = "var(--faint)"
#: What is inside of a word of a name.
_INSIDE = f"{ascii_letters}{digits}"
#: Ratio of the ends from which on an axis may be logarithmic.
_LONG = 30.0
#: Characters of the title of an axis, and of a name in a legend.
_TITLE, _NAME = 30, 46

#: What Vega-Lite shall not do its own way.
CONFIG: Spec = {
    "view": {"stroke": None},
    "axisX": {"grid": False},
    "axis": {"labelFlush": False, "titleFontWeight": "normal"},
    "legend": {"orient": "bottom", "title": None, "labelLimit": 0},
    "line": {
        "strokeWidth": 1.75,
        "strokeJoin": "round",
        "invalid": "break-paths-show-path-domains",
    },
}


@dataclass(frozen=True)
class Chart:
    """A figure with two axes."""

    title: str  #: what it is called.
    say: str  #: what is seen, in words.
    spec: Spec  #: of Vega-Lite.


def chart(
    title: str,
    say: str,
    x: Spec | None,
    y: Spec | None,
    layers: Sequence[Spec],
    *,
    size: tuple[int, int] = PLOT,
) -> Chart | None:
    """A figure; None without an axis.

    Args:
        title: what it is called.
        say: what is seen, in words.
        x: lower axis, of `axis`.
        y: left axis, of `axis`.
        layers: what is drawn, from back to front.
        size: of the area between the axes, in pixels.
    """
    if x is None or y is None:
        return None
    encoding = {"x": {"field": "x", **x}, "y": {"field": "y", **y}}
    spec = {
        "width": size[0],
        "height": size[1],
        "encoding": encoding,
        "layer": list(layers),
    }
    return Chart(title, say, spec)


def with_words(channel: Spec, words: Mapping[float, str]) -> Spec:
    """An axis labelled with words, at the positions that are their keys, instead of
    numbers."""
    positions = json.dumps([*words])
    said = json.dumps([*words.values()])
    shown = {
        "values": [*words],
        "labelExpr": f"{said}[indexof({positions}, datum.value)]",
        "labelLimit": 0,
    }
    return {**channel, "axis": {**channel["axis"], **shown}}


def span(values: Iterable[float | None], *, also: Sequence[float] = ()) -> Ends | None:
    """The lowest and the highest value, with room around a single one; None without a
    finite one.

    Args:
        values: missing ones and those that are not finite are left out.
        also: numbers that have to be in it if there is a value, such as 0.
    """
    numbers = [number for value in values if (number := finite(value)) is not None]
    if not numbers:
        return None
    shown = [*numbers, *also]
    low = min(shown)
    high = max(shown)
    if not math.isfinite(high - low):
        return None
    if high - low <= 1e-12 * max(abs(high), abs(low)):
        room = abs(high) * 0.05 or 0.5
        return low - room, high + room
    return low, high


def axis(
    title: str,
    ends: Ends | None,
    *,
    log: bool = False,
    nice: bool = True,
    whole: bool = False,
) -> Spec | None:
    """The channel of an axis; None without ends.

    Args:
        title: what stands on it, with the unit.
        ends: of the figures.
        log: places go by log(1 + figure), which has one for 0, if no figure is below 0
            and the ends are far apart; the title says so.
        nice: goes on to round numbers.
        whole: numbers on it are whole.
    """
    if ends is None:
        return None
    low, high = ends
    scale: Spec = {"domain": [low, high], "nice": nice, "zero": False}
    shown: Spec = {"title": shorten(title, _TITLE)}
    form = _number_format(low, high)
    if whole:
        shown["tickMinStep"] = 1
    if log and is_long(ends):
        scale |= {"type": "symlog", "nice": False}
        shown |= {
            "title": f"{shown['title']}, logarithmic",
            "values": _powers(low, high),
        }
        form = form or "~s"
    if form:
        shown["labelExpr"] = f"format(datum.value, '{form}')"
    return {"type": "quantitative", "scale": scale, "axis": shown}


def is_long(ends: Ends) -> bool:
    """True where the ends of an axis lie far enough apart for a logarithmic scale."""
    low, high = ends
    return low >= 0 and high + 1 > _LONG * (low + 1)


def lines(
    curves: Sequence[tuple[str, Points]],
    *,
    dots: bool = False,
    faint: Sequence[Points] = (),
) -> list[Spec]:
    """Layers of curves.

    Args:
        curves: name and points of those with a colour; one without a figure is left
            out. A missing figure is a gap.
        dots: points have dots.
        faint: points of others, which have no names.
    """
    names = distinct([name for name, _ in curves] + _name_of_others(faint), _NAME)
    lines = [*SERIES[: len(curves)], (_FAINT, [1, 0])]
    looks = dict(zip(names, lines, strict=False))
    drawn = [
        (name, points)
        for name, (_, points) in zip(names, curves, strict=False)
        if _has_figure(points)
    ]
    kinds = [name for name, _ in drawn] + names[len(curves) :]
    colours = [looks[kind][0] for kind in kinds]
    dashes = [looks[kind][1] for kind in kinds]
    mark: Spec = {"type": "line", "point": False}
    if dots:
        mark["point"] = {"size": 20, "filled": True}
    rows: list[Spec] = []
    for name, points in drawn:
        rows += [point(*at, k=name) for at in points]
    coloured = layer(
        mark,
        rows,
        color=_told_apart(kinds, colours),
        strokeDash=_told_apart(kinds, dashes),
    )
    if not faint:
        return [coloured]
    return [_faint(faint), coloured]


def _name_of_others(curves: Sequence[Points]) -> list[str]:
    """Entry of the legend for curves without a name; none where there are no such
    curves."""
    if not curves:
        return []
    if len(curves) == 1:
        return ["1 other"]
    return [f"{len(curves)} others"]


def _has_figure(points: Points) -> bool:
    return any(finite(up) is not None for _, up in points)


def _told_apart(kinds: Sequence[str], looks: Sequence[Any]) -> Spec:
    """A channel that gives each kind of curve its look, with a legend."""
    return {
        "field": "k",
        "type": "nominal",
        "legend": {"columns": 1, "symbolType": "stroke", "symbolSize": 300},
        "scale": {"domain": kinds, "range": looks},
    }


def _faint(curves: Sequence[Points]) -> Spec:
    rows: list[Spec] = []
    for number, points in enumerate(curves):
        rows += [point(*at, k=number) for at in points]
    mark = {"type": "line", "stroke": _FAINT, "strokeWidth": 0.75}
    return layer(mark, rows, detail={"field": "k", "type": "nominal"})


def bars(
    bins: Iterable[Bin], kinds: Mapping[str, str], *, with_legend: bool = True
) -> Spec:
    """Layer of bars; those without height are left out.

    Args:
        bins: of histograms.
        kinds: colour of each kind, in the order of the legend.
        with_legend: whether there is one.
    """
    rows = [
        {"x": low, "x2": high, "y": floor, "y2": top, "k": kind}
        for low, high, floor, top, kind in bins
        if top > floor
    ]
    legend = None
    if with_legend:
        legend = {"columns": len(kinds), "symbolType": "square"}
    return layer(
        {"type": "rect", "stroke": "var(--bg)"},
        rows,
        x2={"field": "x2"},
        y2={"field": "y2"},
        fill=colours("k", kinds, legend),
    )


def colours(field: str, kinds: Mapping[str, str], legend: Spec | None) -> Spec:
    """The channel of a colour for each kind; the legend has their order."""
    scale = {"domain": list(kinds), "range": list(kinds.values())}
    return {
        "field": field,
        "type": "nominal",
        "scale": scale,
        "legend": legend and {"title": None, **legend},
    }


def layer(mark: Spec, rows: Sequence[Spec], **channels: Spec) -> Spec:
    """A layer: marks of one kind. Rows have the fields ``x`` and ``y``, and what
    channels name."""
    layer: Spec = {"mark": mark, "data": {"values": list(rows)}}
    if not channels:
        return layer
    return layer | {"encoding": channels}


def point(x: float | None, y: float | None, **more: float | str | None) -> Spec:
    """The row of a point; a value that is not finite is missing."""
    return {"x": finite(x), "y": finite(y), **more}


def finite(value: float | None) -> float | None:
    """The value, None for one that is not finite: JSON has no word for it."""
    if value is None or not math.isfinite(value):
        return None
    return value


def distinct(names: Sequence[str], length: int) -> list[str]:
    """Names of dumps made fit for a legend: on one line, short, and no two alike; where
    they do not fit, without the words that all begin with, which tell none apart. A
    sign of Chinese or the like is as wide as two letters."""
    labels: list[str] = []
    if any(map(_has_wide_sign, names)):
        length //= 2
    shared = ""
    if len({*names}) > 1 and max(map(len, names)) > length:
        shared = os.path.commonprefix(names)
    cut = 0
    if len(shared) > 1:
        cut = len(shared.rstrip(_INSIDE))
    for name in names:
        if cut:
            name = f"…{name[cut:]}"
        short = shorten(name, length)
        label, number = short, 2
        while label in labels:
            label = f"{short} ({number})"
            number += 1
        labels.append(label)
    return labels


def _has_wide_sign(name: str) -> bool:
    if name.isascii():
        return False
    return any(east_asian_width(sign) in "WF" for sign in name)


def shorten(name: str, length: int) -> str:
    """A name on one line whose middle is left out: its end, as ``seed=2``, may tell it
    apart."""
    shown = name
    if not name.isprintable():
        shown = "".join(sign if sign.isprintable() else " " for sign in name)
    words = " ".join(shown.split())
    if len(words) <= length:
        return words
    tail = (length - 1) // 2
    return f"{words[: length - 1 - tail]}…{words[-tail:]}"


def _number_format(low: float, high: float) -> str:
    """How numbers on an axis are written, in the words of d3: 20k, 2e-7; else as Vega
    does."""
    largest = max(abs(low), abs(high))
    if largest >= 1e15 or largest < 1e-5:
        return ".3~g"
    if largest >= 1e4:
        return ".12~s"
    return ""


def _powers(low: float, high: float) -> list[float]:
    """Powers of ten from ``low`` to ``high``, and 0; every second one where there are
    many."""
    first = math.ceil(math.log10(max(low, 1.0)))
    last = math.floor(math.log10(high))
    step = 1 + (last - first) // 6
    powers = [10.0**power for power in range(first, last + 1, step)]
    if low == 0:
        return [0.0, *powers]
    return powers
