"""Two names of one metric: the metrics of benchmarks under the names that people said
they go by, and what is said where a name is another's."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from warehouse.analysis.selection.metric import Metric
from warehouse.records.metric_form import PROGRAMS, MetricForm
from warehouse.tables.words import some_of


def as_one(
    metrics: Sequence[Metric], counts_as: Mapping[tuple[int, int], str]
) -> list[Metric]:
    """Metrics of benchmarks, those that are another name of one under its name.

    One that cannot be it (another scale, direction or judge) keeps its own.

    Args:
        counts_as: by benchmark and metric, as ids, the label that it goes under.
    """
    named = [
        _named(metric, counts_as[metric.benchmark_id, metric.id], metrics)
        if (metric.benchmark_id, metric.id) in counts_as
        else metric
        for metric in metrics
    ]
    defaults = {
        (metric.benchmark_id, metric.label) for metric in named if metric.is_default
    }
    runs: dict[tuple[int, str], dict[str, int]] = {}
    for metric in named:
        of_label = runs.setdefault((metric.benchmark_id, metric.label), {})
        of_label[metric.recorded or metric.label] = metric.n_runs
    return [
        replace(
            metric,
            is_default=(metric.benchmark_id, metric.label) in defaults,
            n_runs=sum(runs[metric.benchmark_id, metric.label].values()),
        )
        for metric in named
    ]


def _named(metric: Metric, label: str, metrics: Sequence[Metric]) -> Metric:
    """A metric under the label that it goes by; as it is where it cannot."""
    name, _, filter_name = label.partition(",")
    named = replace(metric, name=name, filter=filter_name, recorded=metric.label)
    own = [
        other
        for other in metrics
        if other.label == label and other.benchmark_id == metric.benchmark_id
    ]
    if not own:
        return named
    like = own[0]
    if not may_be_one(metric, like):
        return metric
    known: dict[str, Any] = {}
    if metric.higher_is_better is None:
        known["higher_is_better"] = like.higher_is_better
    if metric.bounds is None:
        known |= {"kind": like.kind, "low": like.low, "high": like.high}
    if {metric.scorer_kind, like.scorer_kind} <= {*PROGRAMS}:
        known |= {
            "scorer": like.scorer,
            "judge_model": like.judge_model,
            "parameters_key": like.parameters_key,
            "scorer_kind": like.scorer_kind,
        }
    return replace(named, **known)


def may_be_one(first: Metric, second: Metric) -> bool:
    """True if nothing is known in which two metrics differ that one cannot."""
    return not form_of(first).differences(form_of(second))


def form_of(metric: Metric) -> MetricForm:
    """What it has to share with another that is the same under another name."""
    return MetricForm(
        metric.unit,
        metric.link,
        metric.kind,
        metric.low,
        metric.high,
        metric.higher_is_better,
        metric.scorer_kind,
        metric.scored_by,
    )


def of_one(metrics: Iterable[Metric]) -> list[list[Metric]]:
    """Metrics that are one under several names, each with its own name first; every
    other stands alone."""
    listed = list(metrics)
    joined = {(metric.label, *metric.scale) for metric in listed if metric.recorded}
    alike: dict[object, list[Metric]] = {}
    for metric in listed:
        key: object = (metric.label, *metric.scale)
        if key not in joined:
            key = metric.id
        alike.setdefault(key, []).append(metric)
    return [sorted(own, key=_own_name_first) for own in alike.values()]


def _own_name_first(metric: Metric) -> bool:
    return bool(metric.recorded)


def names_notes(rows: Iterable[tuple[str, Metric]]) -> list[str]:
    """What is to be said of rows whose metric goes under another name than theirs.

    Args:
        rows: of each its name and its metric.
    """
    models: dict[tuple[str, str], dict[str, None]] = {}
    for name, metric in rows:
        if metric.recorded:
            key = (metric.recorded, metric.label)
            models.setdefault(key, {})[name] = None
    return [
        f"{recorded} counts as {label}, as somebody said (warehouse list declared): "
        f"{some_of([*names])}"
        for (recorded, label), names in models.items()
    ]


def alias_command(name: str, label: str, benchmark: str) -> str:
    """The line of a shell that makes a metric another name of one."""
    return shlex.join(
        ["warehouse", "fix", "alias", name, label, "--metric", "--on", benchmark]
    )
