"""Rows of metrics of classes: of one model, of two, and what is taken for what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.answers.held import HeldClasses
from warehouse.analysis.answers.metrics import AskedMetric
from warehouse.analysis.answers.question import AnswerMetrics
from warehouse.analysis.answers.read import Answered, BenchmarkAnswers
from warehouse.analysis.answers.rows import (
    AnswerDifferenceRow,
    AnswerMetricRow,
    ConfusionCell,
)
from warehouse.errors import MisuseError
from warehouse.stats import (
    LabelledAnswers,
    NumericMetric,
    SetDifference,
    SetMetric,
    set_metric,
    set_metric_difference,
)
from warehouse.stats.core.inputs import rejects


def each(
    metrics: Sequence[AskedMetric], question: AnswerMetrics, classes: Sequence[str]
) -> list[tuple[AskedMetric, str | None]]:
    """Metrics with the class that they are of: the one that was asked for, or each."""
    pairs: list[tuple[AskedMetric, str | None]] = []
    for metric in metrics:
        if not metric.is_of_class:
            pairs.append((metric, None))
    own = classes
    if question.of_class is not None:
        own = [question.of_class]
    for of_class in own:
        for metric in metrics:
            if metric.is_of_class:
                pairs.append((metric, of_class))
    return pairs


def metric_rows(
    held: HeldClasses,
    found: BenchmarkAnswers,
    question: AnswerMetrics,
    metrics: Sequence[AskedMetric],
) -> list[AnswerMetricRow]:
    """The metrics of a model."""
    clusters = found.clusters.labels(held.ids)
    rows: list[AnswerMetricRow] = []
    for metric, of_class in each(metrics, question, held.answers.classes):
        own = set_metric(
            held.answers,
            metric.form,
            of_class,
            beta=metric.beta,
            clusters=clusters,
            level=question.level,
        )
        rows.append(row_of(held.of, metric.name, own, of_class, own.n_positive))
    return rows


def row_of(
    answered: Answered,
    metric: str,
    own: SetMetric | NumericMetric,
    of_class: str | None,
    n_positive: float | None,
) -> AnswerMetricRow:
    """A metric as a row.

    Args:
        metric: its name, as it was asked for.
        n_positive: prompts that it rests on; None of numbers.
    """
    benchmark, split = answered.condition.benchmark_split
    return AnswerMetricRow(
        model=answered.condition.model,
        condition=answered.label,
        benchmark=benchmark,
        split=split,
        metric=metric,
        of_class=of_class,
        estimate=own.estimate,
        standard_error=own.standard_error,
        ci_low=own.ci_low,
        ci_high=own.ci_high,
        level=own.level,
        n_prompts=own.n_prompts,
        n_clusters=own.n_clusters,
        n_positive=n_positive,
        flags=own.flags,
        reason=own.reason,
        run_ids=answered.condition.run_ids,
    )


def with_subsets(
    rows: Sequence[AnswerMetricRow], sizes: Sequence[int]
) -> list[AnswerMetricRow]:
    """Rows, those on fewer prompts than others flagged."""
    most = max(sizes)
    flagged: list[AnswerMetricRow] = []
    for row in rows:
        if row.n_prompts < most:
            row = replace(row, flags=("subset", *row.flags))
        flagged.append(row)
    return flagged


def confusion(held: HeldClasses) -> list[ConfusionCell]:
    """How often each class was answered where another is right, by class of the
    target."""
    answers = held.answers
    cells: list[ConfusionCell] = []
    names: list[str | None] = [*answers.classes, None]
    for row, target in zip(answers.table, answers.classes, strict=True):
        for share, answer in zip(row.tolist(), names, strict=True):
            cells.append(
                ConfusionCell(
                    model=held.of.condition.model,
                    target=target,
                    answer=answer,
                    n=round(share * answers.n, 9),
                    share=share / float(row.sum()),
                )
            )
    return cells


def difference(
    pair: tuple[HeldClasses, HeldClasses],
    found: BenchmarkAnswers,
    question: AnswerMetrics,
    metric: AskedMetric,
    of_class: str | None,
) -> AnswerDifferenceRow:
    """A metric of one model less that of another, on the prompts that both answered.

    Raises:
        MisuseError: there is none, or none of them has a target of the class.
    """
    ids, first, second = _on_common(pair, found)
    if of_class is not None and of_class not in first.classes:
        raise MisuseError(
            f"none of the {len(ids)} prompts that {pair[0].of.name} and "
            f"{pair[1].of.name} share has the class {of_class!r}"
        )
    own = set_metric_difference(
        first,
        second,
        metric.form,
        of_class,
        beta=metric.beta,
        clusters=found.clusters.labels(ids),
        level=question.level,
        seed=question.seed,
    )
    return AnswerDifferenceRow(
        model_a=pair[0].of.name,
        model_b=pair[1].of.name,
        benchmark=found.benchmark.name,
        metric=metric.name,
        of_class=of_class,
        estimate_a=_estimate(first, metric, of_class),
        estimate_b=_estimate(second, metric, of_class),
        difference=own.difference,
        standard_error=own.standard_error,
        ci_low=own.ci_low,
        ci_high=own.ci_high,
        level=own.level,
        p_value=own.p_value,
        p_t=own.p_t,
        p_swap=own.p_swap,
        n_prompts=own.n_prompts,
        n_differing=own.n_differing,
        n_clusters=own.n_clusters,
        verdict=_verdict(own, 1 - question.level),
        flags=own.flags,
        reason=own.reason,
    )


def _on_common(
    pair: tuple[HeldClasses, HeldClasses], found: BenchmarkAnswers
) -> tuple[NDArray[np.int64], LabelledAnswers, LabelledAnswers]:
    """The prompts that both answered, ascending, with the answers of both.

    Raises:
        MisuseError: there is none.
    """
    first, second = pair
    ids = np.intersect1d(first.ids, second.ids)
    if not len(ids):
        raise MisuseError(
            f"{first.of.name} and {second.of.name} have no prompt in common with an "
            "answer and a target: warehouse list links shows which prompts are joined"
        )
    classes = found.labels.classes
    return ids, first.on(ids, classes), second.on(ids, classes)


def _estimate(
    answers: LabelledAnswers, metric: AskedMetric, of_class: str | None
) -> float | None:
    return set_metric(answers, metric.form, of_class, beta=metric.beta).estimate


def _verdict(found: SetDifference, alpha: float) -> str:
    """How the first stands to the second; empty where nothing is said."""
    if not found.has_verdict:
        return ""
    if not rejects(found.p_value, alpha):
        return "open"
    if (found.difference or 0) > 0:
        return "better"
    return "worse"
