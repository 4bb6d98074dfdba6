"""Strengths by votes, and chances of winning, as charts."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.analysis.prefer.view import PreferenceReport
from warehouse.charts.chart import Chart
from warehouse.charts.heat_map import heat_map
from warehouse.charts.intervals import ENDS, MOST, interval_chart, picture_of
from warehouse.charts.picture import Picture


def _strength_chart(report: PreferenceReport, scorer: str) -> Chart | None:
    """The strengths by one who judged, with their intervals."""
    rows = [row for row in report.rows if row.scorer == scorer][:MOST]
    points = []
    for row in rows:
        points.append({"name": row.model} | {name: getattr(row, name) for name in ENDS})
    if not points:
        return None
    say = f"Strengths of {len(points)} models with their intervals"
    return interval_chart(
        points, f"{report.benchmark} by {scorer}", say, "strength, log-odds", zero=True
    )


def strength_pictures(report: PreferenceReport) -> list[Picture]:
    """The strengths by each who judged."""
    charts = (_strength_chart(report, judge.scorer) for judge in report.judges)
    return [picture_of(chart) for chart in charts if chart]


def preference_charts(report: PreferenceReport) -> Iterator[Chart | None]:
    """Charts for each judge: the strengths, and the chance that a model beats
    another."""
    for judge in report.judges:
        title = f"{report.benchmark} by {judge.scorer}"
        yield _strength_chart(report, judge.scorer)
        if sum(row.scorer == judge.scorer for row in report.rows) > 2:
            chances = judge.chances[:MOST, :MOST].tolist()
            say = (
                f"Heat map of {len(chances)} by {len(chances)} models, the strongest "
                "first: chance of winning"
            )
            yield heat_map(
                chances,
                title=f"{title}: the row beats the column",
                say=say,
                names=judge.models[:MOST],
            )
