"""Metrics of whole sets of answers: of all models, of one with its confusions, of two
against each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from warehouse.analysis.answers.class_rows import (
    confusion,
    difference,
    each,
    metric_rows,
    with_subsets,
)
from warehouse.analysis.answers.confidence import of_confidence
from warehouse.analysis.answers.held import HeldClasses
from warehouse.analysis.answers.metrics import (
    BOARD,
    BOARD_OF_CLASS,
    OF_ALL,
    OF_CLASS,
    AskedMetric,
    asked_all,
)
from warehouse.analysis.answers.numbers import of_numbers
from warehouse.analysis.answers.question import NUMBERS, AnswerMetrics
from warehouse.analysis.answers.read import BenchmarkAnswers, read_answer_metrics
from warehouse.analysis.answers.rows import AnswerDifferenceRow, AnswerMetricRow
from warehouse.analysis.answers.view import AnswerReport
from warehouse.analysis.answers.who import (
    check_class,
    held_classes,
    notes_on_models,
    notes_on_rare_classes,
    notes_on_targets,
)
from warehouse.questions.question import answers
from warehouse.store.connection import Store


@answers(AnswerMetrics)
def answer_metrics(store: Store, question: AnswerMetrics) -> AnswerReport:
    """What answers there are is read once; targets say whether they are classes."""
    if question.confidence is not None:
        return of_confidence(store, question, question.confidence)
    found = read_answer_metrics(store, question)
    if found.labels.kind == NUMBERS:
        return of_numbers(found, question)
    return _of_classes(found, question)


def _of_classes(found: BenchmarkAnswers, question: AnswerMetrics) -> AnswerReport:
    held, left_out = held_classes(found, question)
    check_class(found, question)
    metrics = _metrics(question)
    notes = [*found.notes, *notes_on_targets(found), *notes_on_models(held)]
    notes += notes_on_rare_classes(held)
    rows: list[AnswerMetricRow] = []
    for one in held:
        rows += metric_rows(one, found, question, metrics)
    rows = with_subsets(rows, [one.facts.n_prompts for one in held])
    report = AnswerReport(
        benchmark=found.benchmark.name,
        kind=found.labels.kind,
        classes=found.labels.classes,
        asked=tuple(metric.name for metric in _shown(question, metrics)),
        of_class=question.of_class,
        rows=tuple(rows),
        models=tuple(one.facts for one in held),
        differences=(),
        confusion=(),
        lead=None,
        only_answered=question.answered,
        notes=tuple(notes),
        left_out=tuple(left_out),
    )
    if len(question.models) == 1:
        return replace(report, confusion=tuple(confusion(held[0])))
    if len(question.models) == 2:
        pair = held[0], held[1]
        differences = [
            difference(pair, found, question, metric, of_class)
            for metric, of_class in each(metrics, question, found.labels.classes)
        ]
        return replace(report, differences=tuple(differences))
    return replace(report, lead=_lead(report, held, found, question))


def _metrics(question: AnswerMetrics) -> list[AskedMetric]:
    """The metrics of which rows are made: those that were asked for, or all."""
    if question.metric:
        return question.asked_metrics()
    names = [*OF_ALL]
    if question.of_class is not None or len(question.models) != 2:
        names += OF_CLASS
    return asked_all(names)


def _shown(
    question: AnswerMetrics, metrics: Sequence[AskedMetric]
) -> list[AskedMetric]:
    """The metrics that a table of models shows, the first to order it by."""
    if question.metric:
        return list(metrics)
    if question.of_class is not None:
        return asked_all(BOARD_OF_CLASS)
    return asked_all(BOARD)


def _lead(
    report: AnswerReport,
    held: Sequence[HeldClasses],
    found: BenchmarkAnswers,
    question: AnswerMetrics,
) -> AnswerDifferenceRow | None:
    """The best model against the next; None where there is no next."""
    order = [row for row in report.ranked if row.estimate is not None][:2]
    if len(order) < 2 or "subset" in order[1].flags:
        return None
    by_name = {(one.of.condition.model, one.of.label): one for one in held}
    first, second = (by_name[row.model, row.condition] for row in order)
    metric = asked_all(report.asked[:1])[0]
    of_class = None
    if metric.is_of_class:
        of_class = question.of_class
    return difference((first, second), found, question, metric, of_class)
