"""On what scale judge and people score, and how far all graders of the same answers
agree among themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.analysis.judge.units import (
    JudgedUnits,
    labels_of,
    means_of,
    scored_by,
    word_of,
)
from warehouse.analysis.selection.benchmarks import Metric, read_benchmark
from warehouse.analysis.selection.conditions import group_runs
from warehouse.analysis.selection.scored_conditions import ScoredCondition, read_entries
from warehouse.analysis.selection.selection import Selection
from warehouse.stats import GradersAgreement, graders_agreement
from warehouse.stats.core.inputs import FloatArray
from warehouse.store.connection import Store

#: Below this many there is nothing that judge against people does not say.
FEWEST_GRADERS = 3

_INFERRED = (
    "select metric_id from benchmark_metric where benchmark_id in (:benchmarks) and "
    "is_inferred"
)

Range = tuple[float, float]


@dataclass(frozen=True)
class Graders:
    """All who grade the answers of a benchmark on the judge's scale."""

    names: tuple[str, ...]  #: the judge first.
    agreement: GradersAgreement


def declared_range(store: Store, metric: Metric | None) -> Range | None:
    """The ends of a metric that a source or a person has declared; None where they were
    only seen, or are not known."""
    if metric is None:
        return None
    inferred = {
        row["metric_id"]
        for row in store.rows(_INFERRED, {"benchmarks": [metric.benchmark_id]})
    }
    if metric.id in inferred:
        bounds = None
    else:
        bounds = metric.bounds
    if bounds is None or bounds[0] is None or bounds[1] is None:
        return None
    return bounds[0], bounds[1]


def declared_alike(store: Store, units: Sequence[JudgedUnits]) -> bool | None:
    """True if judge and people score on one scale, by what is declared; None where
    nothing says so."""
    judge = units[0].entry.metric
    human = next((judged.human for judged in units if judged.human is not None), None)
    if human is None:
        return None
    if human.label == judge.label:
        return True  # one metric, by two scorers
    ranges = declared_range(store, judge), declared_range(store, human)
    if None in ranges:
        return None
    return ranges[0] == ranges[1]


def read_graders(
    store: Store, selection: Selection, units: Sequence[JudgedUnits], level: float
) -> Graders | None:
    """Agreement of all who grade these answers; None of fewer than three, or where no
    two share an answer.

    They are the scorers that are models or people, each by its metric of the judge's
    name, else by its only one with the declared range of the judge's.
    """
    _, facts = read_benchmark(store, selection.benchmark or "", "")
    judge = units[0].entry.metric
    metrics = means_of(facts)
    ids = scored_by(store, metrics, "model") | scored_by(store, metrics, "human")
    others = _one_each(
        store, judge, [metric for metric in metrics if metric.id in ids | {judge.id}]
    )
    if len(others) + 1 < FEWEST_GRADERS:
        return None
    conditions = group_runs(facts.runs)
    entries = {
        name: read_entries(store, conditions, [metric])
        for name, metric in others.items()
    }
    grades = np.concatenate(
        [_grades(judged, list(entries.values())) for judged in units]
    )
    clusters = np.concatenate(
        [
            judged.prompts if judged.clusters is None else judged.clusters
            for judged in units
        ]
    )
    has_grades = (~np.isnan(grades)).any(axis=0)
    if (
        has_grades.sum() < FEWEST_GRADERS
        or not ((~np.isnan(grades)).sum(axis=1) >= 2).any()
    ):
        return None
    names = (word_of(judge), *others)
    alone = len(np.unique(clusters)) == len(clusters)
    found = graders_agreement(grades, None if alone else clusters, level=level)
    return Graders(
        tuple(name for name, has in zip(names, has_grades, strict=True) if has), found
    )


def _one_each(
    store: Store, judge: Metric, metrics: Sequence[Metric]
) -> dict[str, Metric]:
    """The metric of each other scorer that is on the judge's scale; a scorer with
    several that fit has none."""
    scale = declared_range(store, judge)
    chosen: dict[str, Metric] = {}
    names = dict.fromkeys(word_of(metric) for metric in metrics)
    for name in names:
        own = [metric for metric in metrics if word_of(metric) == name]
        if judge.id in {metric.id for metric in own}:
            continue
        fitting = [metric for metric in own if metric.label == judge.label]
        if not fitting and scale is not None:
            fitting = [
                metric for metric in own if declared_range(store, metric) == scale
            ]
        if len(fitting) == 1:
            chosen[name] = fitting[0]
    return chosen


def _grades(
    judged: JudgedUnits, others: Sequence[Sequence[ScoredCondition]]
) -> FloatArray:
    """Grades of the answers of one condition, the judge's first, NaN where there is
    none, shape (n, graders)."""
    columns = [judged.judge]
    for entries in others:
        usable = [entry for entry in entries if entry.usable is not None]
        columns.append(labels_of(judged.condition, usable, judged.prompts)[1])
    return np.stack(columns, axis=1)
