"""The targets of a command: a reference, or every condition on a benchmark; with its
scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.benchmarks import (
    Benchmark,
    Metric,
    choose_metrics,
    find_benchmark,
    metrics_of,
    run_metrics_of,
)
from warehouse.analysis.selection.clusterings import ClusterMap, cluster_map
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.other_metrics import advise_metric, scored_metrics
from warehouse.analysis.selection.reference import conditions_on, find_conditions
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkScores,
    ScoredCondition,
    read_entries,
)
from warehouse.analysis.selection.scores import PromptScores
from warehouse.analysis.selection.selection import Selection
from warehouse.errors import MisuseError
from warehouse.store.connection import Store

_RUN = re.compile(r"run:\d+")


@dataclass(frozen=True)
class Target:
    """A condition with its scores on one metric."""

    condition: Condition
    label: str  #: settings that tell the condition from the others.
    metric: Metric
    scores: PromptScores  #: scored prompts, at least one.
    clusters: ClusterMap  #: the clusters that error bars are to allow for.

    @property
    def head(self) -> dict[str, Any]:
        """The fields of a `ConditionRow`."""
        benchmark, split = self.condition.benchmark_split
        own = {"model": self.condition.model, "condition": self.label}
        return own | {
            "benchmark": benchmark,
            "split": split,
            "metric": self.metric.label,
        }

    @property
    def is_plain_mean(self) -> bool:
        """True if the figure is the unweighted mean of the scores, without a link."""
        return self.metric.link == "identity" and self.scores.uneven_weights is None


@dataclass(frozen=True)
class Targets:
    """All that was asked for; ``left_out`` names what has no scores, with the reason."""

    scored: tuple[Target, ...]
    left_out: tuple[str, ...]


def find_targets(store: Store, target: str, selection: Selection) -> Targets:
    """The conditions that ``target`` means, with their scores.

    Args:
        target: ``run:ID``, the name of a benchmark (then every condition on it), or a
            model reference; where a benchmark is selected always a reference.
        selection: of the runs; its benchmark is the only one.

    Raises:
        MisuseError: nothing is called so, or nothing has a scored prompt; says why.
    """
    conditions = sorted(
        _conditions(store, target, selection.benchmark, selection.where), key=_order
    )
    by_benchmark = grouped(conditions, lambda condition: condition.benchmark_split[0])
    targets: list[Target] = []
    left_out: list[str] = []
    for name, members in by_benchmark.items():
        benchmark = find_benchmark(store, name)
        try:
            metrics = metrics_of(store, benchmark.ids)
            chosen = choose_metrics(metrics, selection.metric, name)
            groups = cluster_map(
                store, benchmark.ids, benchmark.clusterings, selection.cluster
            )
        except MisuseError as error:
            if len(by_benchmark) == 1:
                raise
            left_out.append(f"{name}: {error}")
            continue
        of_this = _with_scores(read_entries(store, members, chosen), groups)
        targets += of_this
        left_out += _without_scores(
            run_metrics_of(store, benchmark.ids),
            members,
            of_this,
            metrics,
            chosen[0].label,
        )
    if not targets:
        raise MisuseError("; ".join(left_out[:5]))
    return Targets(tuple(targets), tuple(left_out))


def find_conditions_of(
    store: Store, target: str, selection: Selection
) -> tuple[Benchmark, list[Condition]]:
    """The conditions that ``target`` means on one benchmark.

    Raises:
        MisuseError: nothing is called so, or they are on several benchmarks.
    """
    conditions = sorted(
        _conditions(store, target, selection.benchmark, selection.where), key=_order
    )
    names = sorted({condition.benchmark_split[0] for condition in conditions})
    if len(names) > 1:
        raise MisuseError(
            f"{target} is on several benchmarks, choose one with --benchmark: "
            f"{', '.join(names)}"
        )
    return find_benchmark(store, names[0]), conditions


def targets_of(scores: BenchmarkScores) -> Targets:
    """The conditions on a benchmark whose scores were read; asks the store nothing.

    Raises:
        MisuseError: nothing has a scored prompt; says why.
    """
    targets = _with_scores(
        sorted(scores.entries, key=lambda entry: _order(entry.condition)),
        scores.clusters,
    )
    missing = _without_scores(
        scores.facts.run_metrics,
        sorted(scores.conditions, key=_order),
        targets,
        scores.facts.metrics,
        scores.metric.label,
    )
    if not targets:
        raise MisuseError("; ".join(missing))
    return Targets(tuple(targets), tuple(missing))


def _with_scores(
    entries: Iterable[ScoredCondition], clusters: ClusterMap
) -> list[Target]:
    return [
        Target(entry.condition, entry.label, entry.metric, entry.scores, clusters)
        for entry in entries
        if entry.scores is not None and entry.scores.n
    ]


def _order(condition: Condition) -> tuple[Any, ...]:
    """Order of conditions, whichever was loaded first: benchmark, model, position, key."""
    position = condition.setting("position")
    return (
        condition.benchmark_split,
        condition.model,
        -1.0 if position is None else position,
        condition.key,
    )


def _conditions(
    store: Store, target: str, benchmark: str | None, where: Sequence[str]
) -> list[Condition]:
    filters = parse_where(where)
    if benchmark is not None:
        ids = find_benchmark(store, benchmark).ids
        if target == "*":  # every model: no need to read their runs on other benchmarks
            return conditions_on(store, ids, benchmark, where)
        return find_conditions(store, target, benchmark_ids=ids, where=filters)
    if not _RUN.fullmatch(target) and any(
        row["name"] == target for row in store.rows("select name from benchmark")
    ):
        return conditions_on(store, find_benchmark(store, target).ids, target, where)
    try:
        return find_conditions(store, target, where=filters)
    except MisuseError as error:
        if _RUN.fullmatch(target):
            raise
        raise MisuseError(f"no benchmark is called {target!r}, and {error}") from None


def _without_scores(
    run_metrics: Iterable[Mapping[str, Any]],
    conditions: Sequence[Condition],
    targets: Sequence[Target],
    metrics: Sequence[Metric],
    metric: str,
) -> list[str]:
    """A sentence on the conditions that have no score by ``metric``, with a metric that
    most of them have; empty if there is none of them."""
    seen = {target.condition.key for target in targets}
    missing = [condition for condition in conditions if condition.key not in seen]
    if not missing:
        return []
    models = sorted({condition.model for condition in missing})
    more = ""
    if len(models) > 5:
        more = ", ..."
    names = ", ".join(models[:5]) + more
    advice = advise_metric(
        "there are scores by", scored_metrics(run_metrics, metrics, missing).keys()
    )
    return [
        f"{missing[0].benchmark_split[0]}: no prompt scored by {metric}: "
        f"{names}{advice}"
    ]
