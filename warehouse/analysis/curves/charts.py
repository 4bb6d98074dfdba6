"""Curves of training as charts, benchmark by benchmark."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from warehouse.analysis.curves.leaderboard_charts import curve_charts
from warehouse.analysis.curves.on_leaderboard import (
    BenchmarkCurves,
    CurvePoint,
    ModelCurveRow,
)
from warehouse.analysis.curves.row import CheckpointRow, CurveRow
from warehouse.analysis.curves.view import CurvesReport
from warehouse.charts.chart import Chart


def training_charts(report: CurvesReport) -> Iterator[Chart]:
    """The curves of each benchmark."""
    for curves in _curves(report):
        yield from curve_charts(curves)


def _curves(report: CurvesReport) -> Iterator[BenchmarkCurves]:
    """The curves of each benchmark, as a leaderboard has them."""
    points: dict[tuple[str, ...], list[CurvePoint]] = defaultdict(list)
    for at in report.checkpoints:
        points[_curve_of(at)].append(
            CurvePoint(at.position, at.score, at.ci_low, at.ci_high)
        )
    for benchmark in dict.fromkeys(row.benchmark for row in report.rows):
        several = (
            row
            for row in report.rows
            if row.benchmark == benchmark and points[_curve_of(row)]
        )
        curves = [_curve(row, points[_curve_of(row)]) for row in several]
        yield BenchmarkCurves(
            benchmark,
            None,
            report.level,
            tuple(sorted(curves, key=lambda curve: -curve.last)),
        )


def _curve_of(row: CurveRow | CheckpointRow) -> tuple[str, ...]:
    return (
        row.benchmark,
        row.split,
        row.metric,
        row.model,
        row.recipe,
        row.setting,
        row.unit,
    )


def _curve(row: CurveRow, points: Sequence[CurvePoint]) -> ModelCurveRow:
    best = max(points, key=lambda point: point.estimate)
    return ModelCurveRow(
        model=row.model,
        condition=" ".join(
            filter(
                None, (row.recipe if row.recipe not in row.model else "", row.setting)
            )
        ),
        metric=row.metric,
        split=row.split,
        unit=row.unit,
        n_checkpoints=len(points),
        first=points[0].estimate,
        last=points[-1].estimate,
        best=best.estimate,
        best_position=best.position,
        monotonicity=None,
        points=tuple(points),
    )
