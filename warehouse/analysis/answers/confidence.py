"""Stored confidence of all models, or of one, against whether they are right: of scores
alone, without answers."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.answers.class_rows import with_subsets
from warehouse.analysis.answers.metrics import BOARD_OF_CONFIDENCE, OF_CONFIDENCE
from warehouse.analysis.answers.question import CONFIDENCE, AnswerMetrics
from warehouse.analysis.answers.read import conditions_of, headline_of
from warehouse.analysis.answers.rows import AnswerMetricRow
from warehouse.analysis.answers.view import AnswerReport
from warehouse.analysis.selection.benchmarks import (
    Metric,
    choose_metrics,
    read_benchmark,
)
from warehouse.analysis.selection.clusterings import ClusterMap, cluster_map
from warehouse.analysis.selection.conditions import Condition, label_conditions
from warehouse.analysis.selection.prompt_links import align_values
from warehouse.analysis.selection.scored_conditions import read_entries
from warehouse.analysis.selection.scores import PromptScores
from warehouse.errors import MisuseError
from warehouse.stats import ConfidenceMetrics, confidence_metrics
from warehouse.store.connection import Store
from warehouse.tables.words import fixed, p_value

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Held:
    """Confidence of a model beside right answers."""

    condition: Condition
    label: str
    prompts: NDArray[np.int64]
    said: Floats
    right: Floats


def of_confidence(
    store: Store, question: AnswerMetrics, confidence: str
) -> AnswerReport:
    """Confidence by one metric held against the headline metric.

    Raises:
        MisuseError: no such metric, values outside of [0, 1], or nothing right or wrong.
    """
    benchmark, facts = read_benchmark(store, question.benchmark)
    metrics = _two_metrics(facts.metrics, confidence, question.benchmark)
    conditions, notes = conditions_of(store, benchmark, facts.runs, question)
    held, left_out = _all_held(store, conditions, metrics)
    if not held:
        raise MisuseError(f"{question.benchmark}: {'; '.join(left_out)}")
    clusters = cluster_map(
        store, benchmark.ids, benchmark.clusterings, question.cluster
    )
    rows: list[AnswerMetricRow] = []
    for one in held:
        rows += _rows(one, clusters, question)
    asked = [metric.name for metric in question.asked_metrics()]
    return AnswerReport(
        benchmark=benchmark.name,
        kind=CONFIDENCE,
        classes=(),
        asked=tuple(asked or BOARD_OF_CONFIDENCE),
        of_class=None,
        rows=tuple(with_subsets(rows, [len(one.said) for one in held])),
        models=(),
        differences=(),
        confusion=(),
        lead=None,
        only_answered=False,
        notes=(*notes, *_notes(rows), *filter(None, [clusters.note])),
        left_out=tuple(left_out),
    )


def _two_metrics(
    metrics: Sequence[Metric], confidence: str, benchmark: str
) -> tuple[Metric, Metric]:
    """The metric of confidence, and the one that says what is right.

    Raises:
        MisuseError: there is none of that name, or no other beside it.
    """
    said_by = choose_metrics(metrics, confidence, benchmark)[0]
    right_by = headline_of(metrics, benchmark)
    if right_by is None or right_by.id == said_by.id:
        raise MisuseError(
            f"{benchmark} has no headline metric beside {said_by.label} that says what "
            f"is right: warehouse fix metric {shlex.quote(benchmark)} --metric NAME"
        )
    return said_by, right_by


def _all_held(
    store: Store, conditions: Sequence[Condition], metrics: tuple[Metric, Metric]
) -> tuple[list[_Held], list[str]]:
    """Models with both metrics, and why others are left out."""
    said, right = (
        {
            entry.condition.key: entry.usable
            for entry in read_entries(store, conditions, [metric])
        }
        for metric in metrics
    )
    held: list[_Held] = []
    left_out: list[str] = []
    labels = label_conditions(store, conditions)
    for condition, label in zip(conditions, labels, strict=True):
        own = said.get(condition.key), right.get(condition.key)
        try:
            held.append(_held(condition, label, *own))
        except MisuseError as error:
            left_out.append(f"{condition.model}: {error}")
    return held, left_out


def _held(
    condition: Condition,
    label: str,
    said: PromptScores | None,
    right: PromptScores | None,
) -> _Held:
    """The prompts of a model that have both.

    Raises:
        MisuseError: none has, several draws, or values that are no confidence.
    """
    if said is None or right is None:
        raise MisuseError("no prompt has both confidence and a score")
    prompts = np.intersect1d(said.prompts, right.prompts)
    if not len(prompts):
        raise MisuseError("no prompt has both confidence and a score")
    confidence = align_values(said.prompts, said.values, prompts)
    scores = align_values(right.prompts, right.values, prompts)
    if not np.isin(scores, (0.0, 1.0)).all():
        raise MisuseError(
            "scores are not right (1) or wrong (0) alone: of several draws, or of "
            "partial credit, confidence is held against nothing"
        )
    if confidence.min() < 0 or confidence.max() > 1:
        raise MisuseError(
            f"confidence runs from {confidence.min():g} to {confidence.max():g}, "
            "expected 0 to 1: give the mapping a scale"
        )
    return _Held(condition, label, prompts, confidence, scores)


def _rows(
    held: _Held, clusters: ClusterMap, question: AnswerMetrics
) -> list[AnswerMetricRow]:
    labels = clusters.labels(held.prompts)
    found = confidence_metrics(
        held.said,
        held.right,
        clusters=labels,
        level=question.level,
        seed=question.seed,
    )
    figures = _figures(found)
    names = [metric.name for metric in question.asked_metrics()] or [*OF_CONFIDENCE]
    benchmark, split = held.condition.benchmark_split
    n_clusters = None
    if labels is not None:
        n_clusters = len(np.unique(labels))
    return [
        AnswerMetricRow(
            model=held.condition.model,
            condition=held.label,
            benchmark=benchmark,
            split=split,
            metric=name,
            of_class=None,
            level=question.level,
            n_prompts=len(held.said),
            n_clusters=n_clusters,
            n_positive=None,
            run_ids=held.condition.run_ids,
            **figures[name],
        )
        for name in names
    ]


def _figures(found: ConfidenceMetrics) -> dict[str, dict[str, Any]]:
    """Fields of a row by metric."""
    figures = {
        "auroc": _fields(found.auroc, found.auroc.estimate),
        "aurc": _fields(found.aurc, found.aurc.estimate),
        "brier": _fields(found.brier, found.brier.estimate),
        "overconfidence": _fields(
            found.overconfidence, found.overconfidence.difference
        ),
        "log_loss": _empty("an answer that was called certain is not so: infinite"),
    }
    if found.log_loss is not None:
        figures["log_loss"] = _fields(found.log_loss, found.log_loss.estimate)
    own = found.calibration
    p = "-"
    if own.p_value is not None:
        p = f"{p_value(own.p_value)}"
    why = (
        "no interval, as it is biased upward; were the model calibrated it would be "
        f"{fixed(own.calibrated_mean, 3)} on average and at most "
        f"{fixed(own.calibrated_95, 3)} in 95 %, p {p}"
    )
    figures["ece"] = _empty(why) | {"estimate": own.estimate}
    return figures


def _fields(figure: Any, estimate: float | None) -> dict[str, Any]:
    reason = ""
    if figure.ci_low is None:
        reason = figure.reason
    return {
        "estimate": estimate,
        "standard_error": figure.standard_error,
        "ci_low": figure.ci_low,
        "ci_high": figure.ci_high,
        "flags": figure.flags,
        "reason": reason,
    }


def _empty(reason: str) -> dict[str, Any]:
    return {
        "estimate": None,
        "standard_error": None,
        "ci_low": None,
        "ci_high": None,
        "flags": (),
        "reason": reason,
    }


def _notes(rows: Sequence[AnswerMetricRow]) -> list[str]:
    """What calibration error would be were models calibrated."""
    notes: list[str] = []
    for row in rows:
        if row.metric == "ece":
            notes.append(f"ECE of {row.model}: {row.reason}")
    return notes
