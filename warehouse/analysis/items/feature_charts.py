"""Effects of what prompts are like, with their intervals, as charts."""

from __future__ import annotations

from warehouse.analysis.items.feature_view import FeatureReport, FeatureRow
from warehouse.charts.chart import Chart, Spec
from warehouse.charts.intervals import MOST, interval_chart, title_of


def feature_charts(report: FeatureReport) -> list[Chart | None]:
    """Per figure of prompts the change for a standard deviation of each number, and
    what each value differs by."""
    charts: list[Chart | None] = []
    for figure in dict.fromkeys(row.figure for row in report.rows):
        points = [
            _feature_point(row)
            for row in report.rows
            if row.figure == figure and row.estimate is not None
        ]
        if points:
            say = f"{len(points)} features and values with their intervals"
            title = f"{figure}: {title_of(report)}"
            charts.append(
                interval_chart(
                    points[:MOST], title, say, "per SD, or difference", zero=True
                )
            )
    return charts


def _feature_point(row: FeatureRow) -> Spec:
    if row.level is None:
        name = row.feature
    else:
        name = f"{row.feature}: {row.level}"
    if row.kind == "slope":
        return {
            "name": name,
            "estimate": row.per_sd,
            "low": row.per_sd_low,
            "high": row.per_sd_high,
        }
    return {
        "name": name,
        "estimate": row.estimate,
        "low": row.ci_low,
        "high": row.ci_high,
    }
