"""Who scored: metrics by the name of their judge."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter

from warehouse.analysis.selection.benchmarks import BenchmarkFacts, Metric
from warehouse.errors import MisuseError
from warehouse.store.connection import Store

_BY_KIND = """
select metric.id from metric join scorer on scorer.id = metric.scorer_id
where scorer.kind = :kind and metric.id in (:ids)
"""


def word_of(metric: Metric) -> str:
    """What its judge is called: its model, else the scorer, else the metric."""
    return metric.judge_model or metric.scorer or metric.label


def means_of(facts: BenchmarkFacts, label: str | None = None) -> list[Metric]:
    """Those of a label (None: all) whose mean is the figure and that a current run has: a store goes on describing
    what a source that was removed had."""
    there = {row["metric_id"] for row in facts.run_metrics}
    means = (metric for metric in facts.metrics if metric.id in there and metric.link == "identity")
    return [metric for metric in means if label in (None, metric.label, metric.name)]


def metrics_by(name: str, metrics: Sequence[Metric], benchmark: str) -> list[Metric]:
    """Those whose judge's model is called so, else whose word, scorer or own label is.

    Raises:
        MisuseError: there is none; names what there is.
    """
    for called in (attrgetter("judge_model"), word_of, attrgetter("scorer"), attrgetter("label")):
        if chosen := [metric for metric in metrics if called(metric) == name]:
            return chosen
    there = ", ".join(sorted(set(map(word_of, metrics)))) or "none"
    raise MisuseError(f"nobody called {name!r} scores {benchmark}; there are: {there}")


def scored_by(store: Store, metrics: Sequence[Metric], kind: str) -> set[int]:
    """Ids of those whose scorer is of a kind: model, human, match, execution."""
    ids = [metric.id for metric in metrics]
    return {row["id"] for row in store.rows(_BY_KIND, {"kind": kind, "ids": ids})} if ids else set()


def judge_names(metrics: Sequence[Metric]) -> list[str]:
    """The shortest words that tell judges apart: their model, scorer or metric."""
    for of in ("judge_model", "scorer", "label"):
        names = [str(getattr(metric, of)) for metric in metrics]
        if all(names) and len(set(names)) == len(names):
            return names
    return [f"{m.label} by {m.judge_model or m.scorer or 'none'} ({m.id})" for m in metrics]
