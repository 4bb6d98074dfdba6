"""Metrics of whole sets in a report: of benchmarks whose targets are a few classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from markupsafe import Markup

from warehouse.analysis.answers.answer import answer_metrics
from warehouse.analysis.answers.charts import board_chart
from warehouse.analysis.answers.metrics import asked
from warehouse.analysis.answers.question import AnswerMetrics
from warehouse.analysis.answers.rows import AnswerMetricRow
from warehouse.analysis.answers.sentences import named, unit_of_rows
from warehouse.analysis.answers.view import AnswerReport
from warehouse.analysis.report_data.part import BenchmarkPart, ReportSetting, Section
from warehouse.analysis.report_data.read import BenchmarkReads
from warehouse.charts.intervals import picture_of
from warehouse.charts.page_parts import figures, heading, notes
from warehouse.errors import MisuseError
from warehouse.store.sql.query_files import query_text
from warehouse.tables.page import PageColumn, count, name, number, table

#: Classes that targets have at most, and prompts at least: of more classes, or of
#: answers of their own, accuracy says what these metrics say.
_MOST_CLASSES, _FEWEST_PROMPTS = 10, 20
#: Models in the table.
_MOST_MODELS = 40


def _of_classes(report: ReportSetting) -> frozenset[int]:
    """Ids of the benchmarks whose targets are a few classes."""
    rows = report.store.rows(
        query_text("analysis/answers", "benchmarks_of_classes"),
        {"most": _MOST_CLASSES, "fewest": _FEWEST_PROMPTS},
    )
    return frozenset(row["benchmark_id"] for row in rows)


@dataclass(frozen=True)
class AnswersSection(Section):
    """Answers held against targets."""

    WORDS = "Answers"

    report: AnswerReport  #: of all models.

    @classmethod
    def of(cls, reads: BenchmarkReads, report: ReportSetting) -> Self | None:
        """The metrics; None where targets are no few classes, or no answers are stored."""
        if reads.scores is None or report.store.dialect.is_lake:
            return None
        if report.once(_of_classes).isdisjoint(reads.benchmark.ids):
            return None
        level, seed = report.ranks.level, report.ranks.seed
        question = AnswerMetrics(reads.name, level=level, seed=seed, latest=True)
        try:
            return cls(answer_metrics.to(report.store, question))
        except MisuseError:
            return None

    def html(self, part: BenchmarkPart, anchor: str) -> Markup:
        """The sentence, the models by the metric that ranks them, the table."""
        chart = board_chart(self.report)
        pictures = [picture_of(chart)] if chart else []
        remarks = [
            f"what one model takes for what: warehouse answers {part.name} MODEL",
            *self.report.all_notes,
        ]
        return Markup("\n").join(
            [
                heading(anchor, part.name, "Answers"),
                Markup("<p>{}.</p>").format(self.report.one_line.rstrip(".")),
                figures(pictures),
                _table(self.report, part.name),
                notes(remarks),
            ]
        )


def _table(report: AnswerReport, benchmark: str) -> Markup:
    """A row for each model, a column for each metric, with an interval for the first."""
    ranked = report.ranked[:_MOST_MODELS]
    by_metric: dict[str, list[AnswerMetricRow]] = {}
    for metric in report.asked:
        by_metric[metric] = [_same(report.rows, row, metric) for row in ranked]
    columns = [name("Model", [named(row) for row in ranked])]
    for place, (metric, rows) in enumerate(by_metric.items()):
        columns += _columns(metric, rows, is_first=place == 0)
    columns.append(count("Questions", [row.n_prompts for row in ranked], keep=True))
    return table(
        f"Answers on {benchmark}",
        f"{len(report.classes)} classes; answers held against targets.",
        columns,
    )


def _same(
    rows: Sequence[AnswerMetricRow], like: AnswerMetricRow, metric: str
) -> AnswerMetricRow:
    """The row of another metric of the same model."""
    return next(
        row
        for row in rows
        if (row.model, row.condition, row.metric)
        == (like.model, like.condition, metric)
    )


def _columns(
    metric: str, rows: Sequence[AnswerMetricRow], *, is_first: bool
) -> list[PageColumn]:
    """The figures of a metric; of the first one with the ends of their intervals."""
    words = asked(metric)
    unit = unit_of_rows(words, list(rows))
    head = f"{words.heading}, %" if unit.in_percent else words.heading

    def column(title: str, values: Sequence[float | None]) -> PageColumn:
        return number(title, map(unit.in_unit, values), unit.digits)

    columns = [column(head, [row.estimate for row in rows])]
    if is_first:
        columns.append(column("Low", [row.ci_low for row in rows]))
        columns.append(column("High", [row.ci_high for row in rows]))
    return columns
