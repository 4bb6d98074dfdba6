"""The conditions and scores of all leaves of a suite, read together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warehouse.analysis.selection.benchmarks import Benchmark, Metric, choose_metrics, read_facts
from warehouse.analysis.selection.conditions import Condition, group_runs, label_conditions
from warehouse.analysis.selection.other_metrics import OtherMetric, others_among
from warehouse.analysis.selection.reference import parse_where
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkCoverage,
    Group,
    ScoredCondition,
    coverage_of,
    group_entries,
)
from warehouse.analysis.selection.scores import read_published, read_scores
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.selection.stopped import stopped_early
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class SuiteFigure:
    """A published figure of a suite.

    Attributes:
        run_group_id: the invocation that it sums up.
        value: as published.
        standard_error: as published, above 0, or None.
    """

    run_group_id: int
    value: float
    standard_error: float | None


def read_suite_figures(store: Store, suite_ids: Sequence[int], metric: str) -> list[SuiteFigure]:
    """Figures on some suites by the metric of this label (``name`` or ``name,filter``)."""
    if not suite_ids:
        return []
    rows = store.rows(query_text("analysis", "published_suite_figures"), {"benchmark_ids": suite_ids})
    return [
        SuiteFigure(row["run_group_id"], row["value"], row["standard_error"] or None)
        for row in rows
        if (f"{row['name']},{row['filter']}" if row["filter"] else row["name"]) == metric
    ]


@dataclass(frozen=True)
class LeafEntries:
    """What there is on one leaf.

    Attributes:
        entries: one for each condition that has figures.
        coverages: what a complete run covers, by group.
        others: the metrics that are not shown.
    """

    benchmark: Benchmark
    entries: tuple[ScoredCondition, ...]
    coverages: Mapping[Group, BenchmarkCoverage]
    others: tuple[OtherMetric, ...] = ()

    @property
    def metric(self) -> Metric:
        """The metric of the first entry; the others differ from it in judge at most."""
        return self.entries[0].metric

    @property
    def size(self) -> int:
        """Prompts of a complete run."""
        return max(self.coverages[entry.group].size for entry in self.entries)


def read_leaves(store: Store, leaves: Sequence[Benchmark], selection: Selection) -> tuple[list[LeafEntries], list[str]]:
    """The leaves that have figures, and for each of the others the reason why not.

    Args:
        selection: of metric and runs.

    Raises:
        MisuseError: an unknown field.
    """
    ids = sorted({key for leaf in leaves for key in leaf.ids})
    wanted = parse_where(selection.where)
    facts = read_facts(store, ids)
    runs = [run for run in facts.runs if all(one.holds(run) for one in wanted)]
    conditions: list[list[Condition]] = []
    chosen: list[list[Metric]] = []
    refused: list[str | None] = []
    for leaf in leaves:
        own = [run for run in runs if run["benchmark_id"] in leaf.ids]
        conditions.append(group_runs(own))
        found, reason = _choose(leaf, own, facts.metrics, selection)
        chosen.append(found)
        refused.append(reason)
    entries = _entries(store, conditions, chosen)
    read = []
    for place, leaf in enumerate(leaves):
        kept = _one_each(entries[place])
        if kept:
            groups = group_entries(entries[place])
            coverages = {group: coverage_of(members) for group, members in groups.items()}
            shown = {entry.condition.key for entry in kept}
            known = [one for one in facts.metrics if one.benchmark_id in leaf.ids]
            others = others_among(facts.run_metrics, known, conditions[place], shown, kept[0].metric.label)
            read.append(LeafEntries(leaf, kept, coverages, others))
        elif refused[place] is None:
            refused[place] = f"{leaf.name} has no figures by {chosen[place][0].label}"
    return read, [reason for reason in refused if reason is not None]


def _choose(
    leaf: Benchmark, runs: Sequence[object], metrics: Sequence[Metric], selection: Selection
) -> tuple[list[Metric], str | None]:
    """The metrics that a leaf is judged by, or why it has none."""
    if not runs:
        narrowed = f" with {', '.join(selection.where)}" if selection.where else ""
        return [], f"{leaf.name} has no current run{narrowed}"
    own = [metric for metric in metrics if metric.benchmark_id in leaf.ids]
    try:
        return choose_metrics(own, selection.metric, leaf.name), None
    except MisuseError as reason:
        return [], str(reason)


def _entries(
    store: Store, conditions: Sequence[Sequence[Condition]], chosen: Sequence[Sequence[Metric]]
) -> list[list[ScoredCondition]]:
    """Entries of each leaf, by condition and metric; one query for each metric."""
    places = [(leaf, item) for leaf, items in enumerate(conditions) for item in items]
    labels = [label for items in conditions for label in label_conditions(store, items)]
    found: list[list[ScoredCondition]] = [[] for _ in conditions]
    stopped = stopped_early(store, [item for _, item in places])
    for metric_id in sorted({metric.id for metrics in chosen for metric in metrics}):
        own = {m.benchmark_id: m for metrics in chosen for m in metrics if m.id == metric_id}
        judged = [any(m.id == metric_id for m in metrics) for metrics in chosen]
        runs = {run: place for place, (leaf, item) in enumerate(places) if judged[leaf] for run in item.run_ids}
        scores = read_scores(store, runs, [metric_id])
        figures = read_published(store, runs, [metric_id])
        for place in sorted(scores.keys() | figures.keys()):
            leaf, condition = places[place]
            if condition.key in stopped:  # no mean of its scores has an error
                continue
            of_leaf = (m for m in chosen[leaf] if m.id == metric_id)
            metric = own.get(condition.setting("benchmark_id")) or next(of_leaf)
            entry = ScoredCondition(condition, labels[place], metric, scores.get(place), figures.get(place))
            found[leaf].append(entry)
    return found


def _one_each(entries: Sequence[ScoredCondition]) -> tuple[ScoredCondition, ...]:
    """For each condition the entry that has scores, else the one with a published figure."""
    best: dict[str, ScoredCondition] = {}
    for entry in entries:
        known = best.get(entry.condition.key)
        if entry.usable is None and entry.published is None:
            continue
        if known is None or (known.usable is None and entry.usable is not None):
            best[entry.condition.key] = entry
    return tuple(best.values())
