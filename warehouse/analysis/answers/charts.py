"""Metrics of whole sets as charts: models by the first metric, what one model takes for
what, two models metric by metric."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from warehouse.analysis.answers.metrics import asked
from warehouse.analysis.answers.sentences import named, titled
from warehouse.analysis.answers.view import AnswerReport
from warehouse.charts.chart import Chart
from warehouse.charts.heat_map import heat_map
from warehouse.charts.intervals import MOST, interval_chart

#: Classes up to which confusions are drawn.
_MOST_CLASSES = 60


def answer_charts(report: AnswerReport) -> Iterator[Chart | None]:
    """The chart of what was asked."""
    if report.differences:
        yield _differences(report)
    elif report.confusion:
        yield _confusion(report)
    else:
        yield board_chart(report)


def board_chart(report: AnswerReport) -> Chart | None:
    """All models by the metric that ranks them, with their intervals."""
    points = []
    for row in report.ranked[:MOST]:
        if row.estimate is not None:
            points.append(_point(named(row), row.estimate, row.ci_low, row.ci_high))
    if not points:
        return None
    metric = titled(asked(report.asked[0]), report.of_class)
    say = f"{metric} of {len(points)} models with their intervals"
    return interval_chart(
        points, f"{metric} on {report.benchmark}", say, metric, zero=False
    )


def _differences(report: AnswerReport) -> Chart | None:
    """The first model less the second by each metric."""
    first = report.differences[0]
    points = []
    for row in report.differences[:MOST]:
        if row.difference is not None:
            name = titled(asked(row.metric), row.of_class)
            points.append(_point(name, row.difference, row.ci_low, row.ci_high))
    if not points:
        return None
    title = f"{first.model_a} less {first.model_b} on {report.benchmark}"
    say = f"Differences by {len(points)} metrics with their intervals"
    return interval_chart(points, title, say, "difference", zero=True)


def _point(
    name: str, estimate: float, low: float | None, high: float | None
) -> dict[str, Any]:
    return {"name": name, "estimate": estimate, "low": low, "high": high}


def _confusion(report: AnswerReport) -> Chart | None:
    """Of each target the shares that were answered as each class."""
    classes = report.classes
    if not 1 < len(classes) <= _MOST_CLASSES:
        return None
    counts = {(cell.target, cell.answer): cell.n for cell in report.confusion}
    totals = dict.fromkeys(classes, 0.0)
    for (target, _), n in counts.items():
        if target in totals:
            totals[target] += n
    values = [_shares(target, classes, counts, totals[target]) for target in classes]
    first = report.models[0]
    who = first.model
    if first.condition:
        who = f"{first.model} ({first.condition})"
    return heat_map(
        values,
        title=f"{who} on {report.benchmark}: target (row) answered as (column)",
        say=f"Heat map of {len(classes)} classes: shares of each target's prompts",
        names=classes,
    )


def _shares(
    target: str,
    classes: Sequence[str],
    counts: dict[tuple[str, str | None], float],
    total: float,
) -> list[float | None]:
    """The shares of one target's answers, by class; none where nothing has it."""
    if total == 0:
        return [None] * len(classes)
    return [counts.get((target, answer), 0.0) / total for answer in classes]
