"""Charts of figures with their intervals: a line for each, or over days.

A point is a dictionary with ``name``, ``estimate``, ``low`` and ``high``; with ``day``
too where it stands over days.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from math import isfinite
from typing import Any

from warehouse.charts.chart import Chart, Spec
from warehouse.charts.draw import draw
from warehouse.charts.picture import Picture
from warehouse.charts.pictures import Interval, forest
from warehouse.charts.scatter import Spot, scatter
from warehouse.tables.words import decimals

#: Rows of a chart of intervals; more cannot be read.
MOST = 60
#: Fields of an estimate and the ends of its interval.
ENDS = ("estimate", "low", "high")
_HEIGHT = 20


def estimates_chart(result: Any) -> Chart | None:
    """Estimates with their intervals: a line for each row, in the order of the rows; or
    over days, where they have."""
    several = len({getattr(row, "benchmark", "") for row in result.rows}) > 1
    points = [
        point for row in result.rows if (point := _point(row, several)) is not None
    ]
    if not points:
        return None
    columns = ()
    if hasattr(result.rows[0], "columns"):
        columns = result.rows[0].columns()
    zero = "difference" in columns and "estimate" not in columns
    dated = [point for point in points if point.get("day")]
    return interval_chart(
        dated or points[:MOST],
        title_of(result),
        "",
        "difference" if zero else "figure",
        zero=zero,
    )


@dataclass(frozen=True)
class IntervalChart(Chart):
    """Intervals, which have a picture of their own."""

    own: Picture


def picture_of(figure: Chart | Picture) -> Picture:
    """A chart as a picture: its own, or drawn."""
    if isinstance(figure, Picture):
        return figure
    if isinstance(figure, IntervalChart):
        return figure.own
    return draw(figure)


def interval_chart(
    points: Sequence[Spec], title: str, say: str, axis: str, *, zero: bool
) -> Chart | None:
    """Points with their intervals, one below the other; or over their days, where they
    have any."""
    over_days = bool(points[0].get("day"))
    names = list(dict.fromkeys(point["name"] for point in points))
    y = {
        "field": "name",
        "type": "nominal",
        "sort": names,
        "title": None,
        "axis": {"labelLimit": 0},
    }
    along, across = "x", "y"
    if over_days:
        along, across = "y", "x"
        y = {"field": "day", "type": "temporal", "title": "released"}
    x = {"type": "quantitative", "scale": {"zero": False}, "title": axis}
    ends = {along: {"field": "low", **x}, f"{along}2": {"field": "high"}, across: y}
    layers: list[Spec] = [
        {
            "mark": {
                "type": "rule",
                "strokeWidth": 2,
                "opacity": 0.7,
                "color": "var(--mark)",
            },
            "encoding": ends,
        },
        {
            "mark": {
                "type": "point",
                "filled": True,
                "size": 60,
                "opacity": 1,
                "color": "var(--mark)",
            },
            "encoding": {
                along: {"field": "estimate", **x},
                across: y,
                "tooltip": [
                    {"field": name, "type": "nominal"}
                    for name in ("name", "estimate", "low", "high")
                ],
            },
        },
    ]
    if zero:
        rule = {"mark": {"type": "rule", "color": "var(--dim)", "strokeDash": [3, 3]}}
        layers.insert(
            0,
            {
                **rule,
                "data": {"values": [{"at": 0}]},
                "encoding": {"x": {"field": "at", **x}},
            },
        )
    height = 320 if over_days else _HEIGHT * len(names)
    spec: Spec = {
        "width": 400,
        "height": height,
        "data": {"values": list(points)},
        "layer": layers,
    }
    rows = [_interval(point) for point in points if isfinite(point["estimate"])]
    n_decimals = decimals(
        (row.high - row.low) / 4
        for row in rows
        if row.low is not None and row.high is not None
    )
    own = _dated(points, title, say, axis, n_decimals) if over_days else None
    own = own or forest(
        title, rows, figure=axis, n_decimals=n_decimals, note=say, zero=zero, most=MOST
    )
    if own is None:
        return None
    return IntervalChart(title, say, spec, own)


def _interval(point: Spec) -> Interval:
    return Interval(*(point[name] for name in ("name", *ENDS)))


def _dated(
    points: Sequence[Spec], title: str, say: str, axis: str, n_decimals: int
) -> Picture | None:
    spots = list[Spot]()
    ticks = dict[float, str]()
    for point in sorted(points, key=lambda point: str(point["day"])):
        day = str(point["day"])
        at = float(date.fromisoformat(day).toordinal())
        ends = (point["low"], point["high"])
        ticks[at] = day
        spots.append(
            Spot(
                point["name"],
                at,
                day,
                point["estimate"],
                True,
                y_ends=None if None in ends else ends,
            )
        )
    ends_of = [*ticks.items()]
    return scatter(
        title,
        spots,
        x="released",
        y=axis,
        n_decimals=n_decimals,
        note=say,
        ticks=[ends_of[0], ends_of[-1]],
    )


def title_of(result: Any) -> str:
    """Title of a result's chart: its benchmark or suite, and its metric."""
    names = [
        str(getattr(result, name))
        for name in ("benchmark", "suite", "metric")
        if hasattr(result, name)
    ]
    return " by ".join(names) or str(result.one_line)


def _point(row: Any, several: bool) -> Spec | None:
    """Name (with the benchmark where there are several), estimate and ends; None
    without an estimate."""
    estimate = next(
        (
            at
            for name in ("estimate", "difference")
            if (at := getattr(row, name, None)) is not None
        ),
        None,
    )
    if estimate is None:
        return None
    low = getattr(row, "ci_low", None)
    high = getattr(row, "ci_high", None)
    words = []
    if several:
        words = [getattr(row, "benchmark", "")]
    if hasattr(row, "model_a"):
        words.append(f"{row.model_a} - {row.model_b}")
    else:
        words += [
            getattr(row, name, "") for name in ("model", "condition", "statistic")
        ]
    name = " ".join(str(word) for word in words if word)
    day = {}
    if hasattr(row, "release_date"):
        day = {"day": row.release_date}
    return {"name": name, "estimate": estimate, "low": low, "high": high, **day}
