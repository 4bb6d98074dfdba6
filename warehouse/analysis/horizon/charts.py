"""Figures of time horizons, as METR draws them: success against human minutes, and
horizons over days of release."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import chain

from warehouse.analysis.horizon.view import HorizonReport, HorizonRow
from warehouse.charts.chart import (
    COLOURS,
    SERIES,
    TALL_PLOT,
    Chart,
    Spec,
    axis,
    chart,
    layer,
    lines,
    point,
    span,
    with_words,
)

#: Lengths that stand on an axis, in minutes.
_LENGTHS = {
    "1 s": 1 / 60,
    "4 s": 1 / 15,
    "15 s": 0.25,
    "1 min": 1.0,
    "4 min": 4.0,
    "15 min": 15.0,
}
_LENGTHS |= {"1 h": 60.0, "4 h": 240.0, "16 h": 960.0, "3 d": 4320.0, "2 w": 20160.0}
_POINTS = 60


def horizon_charts(report: HorizonReport) -> Iterator[Chart | None]:
    """For each probability the curves of models with what was solved in bins; then
    trends, where asked for."""
    for q in dict.fromkeys(row.q for row in report.rows):
        rows = [row for row in report.rows if row.q == q and row.estimate is not None]
        yield _curves(report, q, rows)
    for trend in report.trends:
        rows = [
            row
            for row in report.rows
            if row.q == trend.q and row.estimate and row.release_date
        ]
        if trend.slope is not None and trend.intercept is not None:
            yield _over_days(
                f"{report.benchmark}: horizons for {trend.q:.0%}",
                rows,
                trend.slope,
                trend.intercept,
            )


def _curves(
    report: HorizonReport, q: float, rows: Sequence[HorizonRow]
) -> Chart | None:
    """Points are bins of tasks; a line across at q is the interval of the horizon, its
    dot the horizon."""
    ends = span(
        list(
            chain.from_iterable(
                (math.log2(row.estimate or 1), *_lengths(row)) for row in rows
            )
        )
    )
    if ends is None:
        return None
    positions = [
        ends[0] + (ends[1] - ends[0]) * step / _POINTS for step in range(_POINTS + 1)
    ]
    names = [f"{row.model} {row.condition}".strip() for row in rows]
    curves = []
    for name, row in zip(names, rows, strict=True):
        intercept, slope = row.intercept or 0, row.slope or 0
        points = []
        for at in positions:
            points.append((at, 1 / (1 + math.exp(-intercept - slope * at))))
        curves.append((name, points))
    drawn = lines(curves[:COLOURS], faint=[ats for _, ats in curves[COLOURS:]])
    for row, (colour, _) in zip(rows, SERIES, strict=False):
        bins = [(_middle(bin_.low, bin_.high), bin_.success) for bin_ in row.bins]
        drawn.append(
            layer(
                {"type": "point", "size": 30, "stroke": colour},
                [point(*at) for at in bins],
            )
        )
        low, high = (
            edge if end is None else math.log2(end)
            for end, edge in zip((row.low, row.high), ends, strict=True)
        )
        reach = {"x": max(low, ends[0]), "x2": min(high, ends[1]), "y": q}
        drawn.append(
            layer(
                {"type": "rule", "stroke": colour, "strokeWidth": 2},
                [reach],
                x2={"field": "x2"},
            )
        )
        dot = {"type": "point", "size": 70, "filled": True, "color": colour}
        at = math.log2(row.estimate or 1)
        drawn.append(layer(dot, [point(at, q)]))
    return chart(
        f"{report.benchmark}: success by human time; horizons for {q:.0%}",
        f"Curves of {len(rows)} models over the minutes that people need; the figures "
        "are in the table",
        _by_length(axis("human time", ends, nice=False)),
        axis("success", (0.0, 1.0)),
        drawn,
        size=TALL_PLOT,
    )


def _over_days(
    title: str, rows: Sequence[HorizonRow], slope: float, intercept: float
) -> Chart | None:
    """Horizons with their intervals, and the line of the trend."""
    logs = [math.log2(row.estimate or 1) for row in rows]
    bounds = chain.from_iterable((row.low, row.high) for row in rows)
    ends = span([*logs, *(math.log2(end) for end in bounds if end)])
    days = sorted(row.release_date or "" for row in rows)
    if ends is None:
        return None
    at_day = {day: float(date.fromisoformat(day).toordinal()) for day in days}
    first, last = at_day[days[0]], at_day[days[-1]]
    bars = [
        {
            "x": at_day[row.release_date or ""],
            "y": ends[0] if row.low is None else math.log2(row.low),
        }
        | {"y2": ends[1] if row.high is None else math.log2(row.high)}
        for row in rows
    ]
    line = [point(first, intercept), point(last, intercept + slope * (last - first))]
    dots = [
        point(at_day[row.release_date or ""], at, k=row.model)
        for row, at in zip(rows, logs, strict=True)
    ]
    text = {"type": "text", "align": "left", "dx": 6, "fill": "var(--fg)"}
    released = axis("released", span(at_day.values()), nice=False)
    return chart(
        title,
        f"Horizons of {len(rows)} models over days of release, with the line of the "
        "trend",
        released and with_words(released, {first: days[0], last: days[-1]}),
        _by_length(axis("horizon", ends, nice=False)),
        [
            layer({"type": "line", "stroke": SERIES[0][0], "strokeDash": [4, 3]}, line),
            layer(
                {"type": "rule", "stroke": SERIES[0][0], "strokeOpacity": 0.6},
                bars,
                y2={"field": "y2"},
            ),
            layer(
                {"type": "point", "size": 50, "filled": True, "color": SERIES[0][0]},
                dots,
            ),
            layer(text, dots, text={"field": "k", "type": "nominal"}),
        ],
        size=TALL_PLOT,
    )


def _lengths(row: HorizonRow) -> list[float]:
    """Ends of the bins of a model's tasks, in log2 minutes."""
    ends = []
    for bin_ in row.bins:
        for end in (bin_.low, bin_.high or 2 * bin_.low):
            if end:
                ends.append(math.log2(end))
    return ends


def _middle(low: float, high: float | None) -> float:
    """The middle of a bin on the axis."""
    high = high or 2 * low
    return math.log2(math.sqrt((low or high / 2) * high))


def _by_length(channel: Spec | None) -> Spec | None:
    """An axis of log2 minutes, with lengths of time on it."""
    return channel and with_words(
        channel, {math.log2(minutes): name for name, minutes in _LENGTHS.items()}
    )
