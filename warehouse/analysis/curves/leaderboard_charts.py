"""Curves of a leaderboard along training, as charts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, groupby

from warehouse.analysis.curves.on_leaderboard import BenchmarkCurves, ModelCurveRow
from warehouse.charts.chart import (
    COLOURS,
    SERIES,
    TALL_PLOT,
    Chart,
    Spec,
    axis,
    chart,
    finite,
    layer,
    lines,
    span,
)

#: Words of a unit on an axis.
UNITS = {"step": "training step", "tokens": "training tokens", "epoch": "epoch"}


def curve_charts(curves: BenchmarkCurves) -> list[Chart]:
    """One chart for each metric, split and unit; the curves that end best have colours."""

    def kind(row: ModelCurveRow) -> tuple[str, str, str]:
        return row.metric, row.split, row.unit

    groups = groupby(sorted(curves.rows, key=kind), key=kind)
    charts = [_chart(list(rows), curves) for _, rows in groups]
    return [chart for chart in charts if chart]


def _along(row: ModelCurveRow) -> list[tuple[float, float | None]]:
    return [(point.position, point.estimate) for point in row.points]


def _chart(rows: Sequence[ModelCurveRow], curves: BenchmarkCurves) -> Chart | None:
    points = list(chain.from_iterable(row.points for row in rows))
    metric = rows[0].metric
    unit = UNITS.get(rows[0].unit, "position in training")
    several = len({row.model for row in rows}) > 1
    coloured = rows[:COLOURS]
    others = rows[COLOURS:]
    layers = lines(
        [(_name(row, several), _along(row)) for row in coloured],
        faint=[_along(row) for row in others],
        dots=True,
    )
    bands = [
        band
        for row, (colour, _) in zip(coloured, SERIES, strict=False)
        if (band := _band(row, colour))
    ]
    where = ""
    if rows[0].split:
        where = f" ({rows[0].split})"
    intervals = ""
    if bands:
        intervals = f", with {100 * curves.level:g}% intervals"
    return chart(
        f"{metric} along training{where}{intervals}",
        f"{metric} of {len(rows)} curves against {unit}, {len(points)} checkpoints; "
        "the figures are in the table below",
        axis(unit, span([p.position for p in points]), log=True),
        axis(
            metric,
            span(
                list(
                    chain.from_iterable(
                        (p.estimate, p.ci_low, p.ci_high) for p in points
                    )
                )
            ),
            log=True,
        ),
        [*layers[:-1], *bands, layers[-1]],
        size=TALL_PLOT,
    )


def _band(row: ModelCurveRow, colour: str) -> Spec | None:
    """The intervals of a curve as an area, or as a line where there is one only."""
    ends = [
        {"x": point.position, "y": point.ci_low, "y2": point.ci_high}
        for point in row.points
        if finite(point.ci_low) is not None and finite(point.ci_high) is not None
    ]
    if not ends:
        return None
    mark: Spec = {"type": "area", "fill": colour, "fillOpacity": 0.16}
    if len(ends) == 1:
        mark = {"type": "rule", "stroke": colour, "strokeOpacity": 0.5}
    return layer(mark, ends, y2={"field": "y2"})


def _name(row: ModelCurveRow, several: bool) -> str:
    """Label of a curve: its condition, and its model where there are several."""
    return ", ".join(
        filter(None, [row.model if several or not row.condition else "", row.condition])
    )
