"""Numeric answers of all models, or of one."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from warehouse.analysis.answers.class_rows import row_of
from warehouse.analysis.answers.held import HeldNumbers, hold_numbers
from warehouse.analysis.answers.metrics import (
    BOARD_OF_NUMBERS,
    OF_NUMBERS,
    AskedMetric,
    asked_all,
)
from warehouse.analysis.answers.question import AnswerMetrics
from warehouse.analysis.answers.read import BenchmarkAnswers
from warehouse.analysis.answers.rows import AnswerMetricRow
from warehouse.analysis.answers.view import AnswerReport
from warehouse.analysis.answers.who import notes_on_targets
from warehouse.errors import MisuseError
from warehouse.stats import numeric_metrics


def of_numbers(found: BenchmarkAnswers, question: AnswerMetrics) -> AnswerReport:
    """Errors and correlations of numeric answers.

    Raises:
        MisuseError: metrics of classes, two models, or no answer that is a number.
    """
    metrics = question.asked_metrics() or asked_all([*OF_NUMBERS])
    _refuse_classes(question, metrics)
    held, left_out = _held_numbers(found, question)
    names = {metric.name for metric in metrics}
    rows: list[AnswerMetricRow] = []
    for one in held:
        rows += [row for row in _rows(one, found, question) if row.metric in names]
    shown: tuple[str, ...] = BOARD_OF_NUMBERS
    if question.metric:
        shown = tuple(metric.name for metric in metrics)
    notes = [*found.notes, *notes_on_targets(found), *_notes_on_numbers(held)]
    return AnswerReport(
        benchmark=found.benchmark.name,
        kind=found.labels.kind,
        classes=(),
        asked=shown,
        of_class=None,
        rows=tuple(rows),
        models=tuple(one.facts for one in held),
        differences=(),
        confusion=(),
        lead=None,
        only_answered=True,
        notes=tuple(notes),
        left_out=tuple(left_out),
    )


def _refuse_classes(question: AnswerMetrics, metrics: Sequence[AskedMetric]) -> None:
    """Refuse what numbers do not have.

    Raises:
        MisuseError: says what it is, and what to do.
    """
    name = question.benchmark
    if question.of_class is not None:
        raise MisuseError(
            f"the targets of {name} are numbers, which have no classes; --as classes "
            "reads them so"
        )
    if len(question.models) == 2:
        raise MisuseError(
            "two models are compared by metrics of classes only; of numbers ask for all "
            f"models: warehouse answers {shlex.quote(name)}"
        )
    for metric in metrics:
        if not metric.is_of_numbers:
            raise MisuseError(
                f"{metric.name} is of classes, and the targets of {name} are numbers; "
                "--as classes reads them so"
            )


def _rows(
    held: HeldNumbers, found: BenchmarkAnswers, question: AnswerMetrics
) -> list[AnswerMetricRow]:
    figures = numeric_metrics(
        held.targets,
        held.answers,
        clusters=found.clusters.labels(held.ids),
        level=question.level,
        seed=question.seed,
    )
    return [row_of(held.of, figure.metric, figure, None, None) for figure in figures]


def _held_numbers(
    found: BenchmarkAnswers, question: AnswerMetrics
) -> tuple[list[HeldNumbers], list[str]]:
    held: list[HeldNumbers] = []
    left_out: list[str] = []
    for answered in found.answered:
        try:
            held.append(hold_numbers(answered, found.labels))
        except MisuseError as error:
            left_out.append(str(error))
    if not held:
        raise MisuseError(f"{question.benchmark}: {'; '.join(left_out)}")
    return held, left_out


def _notes_on_numbers(held: Sequence[HeldNumbers]) -> list[str]:
    notes: list[str] = []
    if any(one.facts.n_draws > one.facts.n_prompts for one in held):
        notes.append(
            "of several answers to a prompt the mean is held against its target"
        )
    for one in held:
        if one.facts.share_answered < 1:
            notes.append(
                f"{one.of.name}: {100 * (1 - one.facts.share_answered):.1f} % of its "
                "prompts have no number as answer, and do not count"
            )
    return notes
