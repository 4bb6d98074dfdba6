"""The conditions and scores of all leaves of a suite, read together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from warehouse.analysis.selection.benchmarks import Benchmark, Metric, choose_metrics, read_facts
from warehouse.analysis.selection.conditions import Condition, group_runs
from warehouse.analysis.selection.other_metrics import OtherMetric, others_among
from warehouse.analysis.selection.reference import parse_where
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkCoverage,
    Group,
    ScoredCondition,
    coverage_of,
    group_entries,
    read_all_entries,
)
from warehouse.analysis.selection.selection import Selection
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
        metrics, reason = _choose(leaf, own, facts.metrics, selection)
        chosen.append(metrics)
        refused.append(reason)
    entries = [
        [entry for entry in own if entry.stopped is None]  # no mean of its scores has an error
        for own in read_all_entries(store, list(zip(conditions, chosen, strict=True)))
    ]
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
