"""What a command looks into: a reference, or every condition on a benchmark; with its scores."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.errors import MisuseError
from warehouse.metrics.benchmarks import (
    Benchmark,
    Metric,
    choose_metrics,
    find_benchmark,
    metrics_of,
)
from warehouse.metrics.clusterings import ClusterMap, cluster_map
from warehouse.metrics.conditions import Condition, describe, group_runs, runs_on
from warehouse.metrics.reference import Where, find_conditions, parse_where
from warehouse.metrics.scores import PromptScores, read_scores
from warehouse.store.engine import Store

_RUN = re.compile(r"run:\d+")


@dataclass(frozen=True)
class Target:
    """A condition with its scores on one metric.

    Attributes:
        label: settings that tell the condition from the others.
        scores: scored prompts, at least one.
        clusters: the clusters that error bars are to allow for.
    """

    condition: Condition
    label: str
    metric: Metric
    scores: PromptScores
    clusters: ClusterMap

    @property
    def is_plain_mean(self) -> bool:
        """Whether the figure is the unweighted mean of the scores, without a link."""
        return self.metric.link == "identity" and self.scores.uneven_weights is None


@dataclass(frozen=True)
class Targets:
    """All that was asked for; ``left_out`` names what has no scores, with the reason."""

    found: tuple[Target, ...]
    left_out: tuple[str, ...]


def find_targets(
    store: Store,
    target: str,
    *,
    benchmark: str | None = None,
    metric: str | None = None,
    where: Sequence[str] = (),
    cluster: str | None = None,
) -> Targets:
    """The conditions that ``target`` means, with their scores.

    Args:
        target: ``run:ID``, the name of a benchmark (then every condition on it), or a model
            reference; with ``benchmark`` always a reference.
        benchmark: only runs on this one.
        metric: ``name`` or ``name,filter``; None for the headline metric of each benchmark.
        where: conditions ``field=value`` on the runs.
        cluster: clustering for the errors: None for the benchmark's default, ``"none"``,
            ``"same_text"``, or a name.

    Raises:
        MisuseError: nothing is called so, or nothing has a scored prompt; says why.
    """
    conditions = _conditions(store, target, benchmark, parse_where(where))
    by_benchmark: dict[str, list[Condition]] = {}
    for condition in conditions:
        by_benchmark.setdefault(condition.place[0], []).append(condition)
    found: list[Target] = []
    left_out: list[str] = []
    for name, members in by_benchmark.items():
        known = find_benchmark(store, name)
        try:
            chosen = choose_metrics(metrics_of(store, known.ids), metric, name)
            groups = cluster_map(store, known.ids, known.clusterings, cluster)
        except MisuseError as error:
            if len(by_benchmark) == 1:
                raise
            left_out.append(f"{name}: {error}")
            continue
        of_this = _with_scores(store, members, chosen, groups)
        found += of_this
        left_out += _without_scores(members, of_this, chosen[0].label)
    if not found:
        raise MisuseError("; ".join(left_out[:5]))
    return Targets(tuple(found), tuple(left_out))


def _conditions(
    store: Store, target: str, benchmark: str | None, where: Sequence[Where]
) -> list[Condition]:
    if benchmark is not None:
        ids = find_benchmark(store, benchmark).ids
        return find_conditions(store, target, benchmark_ids=ids, where=where)
    if not _RUN.fullmatch(target) and _is_benchmark(store, target):
        return _on_benchmark(store, find_benchmark(store, target), where)
    try:
        return find_conditions(store, target, where=where)
    except MisuseError as error:
        if _RUN.fullmatch(target):
            raise
        raise MisuseError(f"no benchmark is called {target!r}, and {error}") from None


def _is_benchmark(store: Store, name: str) -> bool:
    known = store.arrow("select name from benchmark").column("name").to_pylist()
    return name in known


def _on_benchmark(store: Store, benchmark: Benchmark, where: Sequence[Where]) -> list[Condition]:
    runs = [run for run in runs_on(store, benchmark.ids) if all(one.holds(run) for one in where)]
    if not runs:
        narrowed = " with these settings" if where else ""
        raise MisuseError(f"{benchmark.name} has no current run{narrowed}; see: warehouse runs")
    return group_runs(runs)


def _with_scores(
    store: Store, conditions: Sequence[Condition], metrics: Sequence[Metric], clusters: ClusterMap
) -> list[Target]:
    """A condition has one target for each metric that it has scores of, in order of conditions."""
    runs = {run: place for place, item in enumerate(conditions) for run in item.run_ids}
    labels = describe(conditions)
    found: list[tuple[int, Target]] = []
    for metric_id in sorted({metric.id for metric in metrics}):
        own = {metric.benchmark_id: metric for metric in metrics if metric.id == metric_id}
        for place, scores in read_scores(store, runs, [metric_id]).items():
            if not scores.n:
                continue
            condition = conditions[place]
            metric = own.get(condition.setting("benchmark_id")) or next(iter(own.values()))
            found.append((place, Target(condition, labels[place], metric, scores, clusters)))
    return [target for _, target in sorted(found, key=lambda pair: pair[0])]


def _without_scores(
    conditions: Sequence[Condition], targets: Sequence[Target], metric: str
) -> list[str]:
    seen = {target.condition.key for target in targets}
    missing = [condition for condition in conditions if condition.key not in seen]
    if not missing:
        return []
    models = sorted({condition.model for condition in missing})
    names = ", ".join(models[:5]) + (", ..." if len(models) > 5 else "")
    return [f"{missing[0].place[0]}: no prompt scored by {metric}: {names}"]
