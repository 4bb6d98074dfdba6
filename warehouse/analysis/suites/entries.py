"""Entries of the leaves of a suite, and the conditions of models that they have in
common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa

from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.benchmarks import (
    Benchmark,
    BenchmarkFacts,
    Metric,
    choose_metrics,
    headline_scorer_first,
    read_facts,
)
from warehouse.analysis.selection.clusterings import ClusterMap, cluster_map
from warehouse.analysis.selection.conditions import Condition, Run, group_runs
from warehouse.analysis.selection.other_metrics import OtherMetric, others_among
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.analysis.selection.row_plans import RowPlan, plan_rows, without_place
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkCoverage,
    Group,
    ScoredCondition,
    coverage_of,
    group_entries,
    read_all_entries,
)
from warehouse.analysis.selection.select import (
    rows_of_plans,
    scored_prompts,
    shown_keys,
)
from warehouse.analysis.selection.selection import RowRules, Selection
from warehouse.errors import MisuseError
from warehouse.questions.options import EACH_CHECKPOINT, EACH_SEED
from warehouse.records.run_fields import ALWAYS_TOLD, COMMON_FIELDS, WHO_FIELDS
from warehouse.store.connection import Store
from warehouse.store.shared_reads import SharedReads
from warehouse.store.sql.query_files import query_text

T = TypeVar("T")


@dataclass(frozen=True)
class SuiteFigure:
    """A published figure of a suite."""

    run_group_id: int  #: the invocation that it sums up.
    value: float  #: as published.
    standard_error: float | None  #: as published, above 0, or None.


def read_suite_figures(
    store: Store, suite_ids: Sequence[int], metric: str
) -> list[SuiteFigure]:
    """Figures on some suites by the metric of this label (``name`` or ``name,filter``)."""
    if not suite_ids:
        return []
    rows = store.rows(
        query_text("analysis/suites", "published_suite_figures"),
        {"benchmark_ids": suite_ids},
    )
    return [
        SuiteFigure(row["run_group_id"], row["value"], row["standard_error"] or None)
        for row in rows
        if (f"{row['name']},{row['filter']}" if row["filter"] else row["name"])
        == metric
    ]


@dataclass(frozen=True)
class LeafEntries:
    """The entries of one leaf."""

    benchmark: Benchmark
    #: one for each condition, or row over seeds, that has figures.
    entries: tuple[ScoredCondition, ...]
    #: what a complete run covers, by group.
    coverages: Mapping[Group, BenchmarkCoverage]
    others: tuple[OtherMetric, ...] = ()  #: the metrics that are not shown.
    apart: tuple[str, ...] = ()  #: models without one figure here, and why.

    @property
    def metric(self) -> Metric:
        """The metric of the first entry; the others differ from it in judge at most."""
        return self.entries[0].metric

    @cached_property
    def size(self) -> int:
        """Prompts of a complete run."""
        groups = {entry.group for entry in self.entries}
        return max(self.coverages[group].size for group in groups)


def read_leaves(
    store: Store,
    leaves: Sequence[Benchmark],
    selection: Selection,
    all_runs: pa.Table | None = None,
) -> tuple[list[LeafEntries], list[str]]:
    """The benchmarks of a suite that have figures, and for each of the others the
    reason why not.

    Args:
        selection: of metric and runs.
        all_runs: `runs_table` of the benchmarks; None: it is read.

    Raises:
        MisuseError: an unknown field.
    """
    filters = parse_where(selection.where)
    facts = read_facts(store, ids_of(leaves), all_runs)
    runs = []
    for run in facts.runs:
        if all(filter_.holds(run) for filter_ in filters):
            runs.append(run)
    by_benchmark = grouped(runs, itemgetter("benchmark_id"))
    metrics_by_benchmark = grouped(facts.metrics, attrgetter("benchmark_id"))
    conditions: list[list[Condition]] = []
    chosen: list[list[Metric]] = []
    refused: list[str | None] = []
    for leaf in leaves:
        own = _runs_on(leaf, by_benchmark)
        conditions.append(group_runs(own))
        leaf_metrics = metrics_on(leaf, metrics_by_benchmark)
        metrics, reason = choose_on(leaf, own, leaf_metrics, selection)
        chosen.append(metrics)
        refused.append(reason)
    run_metrics = grouped(facts.run_metrics, itemgetter("benchmark_id"))
    entries: list[list[ScoredCondition]]
    if selection.rows is None:
        entries = read_all_entries(store, list(zip(conditions, chosen, strict=True)))
        behind = [frozenset[str]()] * len(leaves)
    else:
        entries, behind = _as_rows(
            store, leaves, conditions, chosen, run_metrics, selection
        )
    read = []
    for index, leaf in enumerate(leaves):
        own_entries = [
            entry for entry in entries[index] if entry.stopped is None
        ]  # no mean of its scores has an error
        placed = [entry for entry in own_entries if not entry.no_place]
        kept = _one_each(placed)
        if kept:
            groups = group_entries(placed)
            coverages = {
                group: coverage_of(members) for group, members in groups.items()
            }
            shown = behind[index] | {entry.condition.key for entry in kept}
            leaf_metrics = metrics_on(leaf, metrics_by_benchmark)
            of_runs = _of_ids(leaf, run_metrics)
            others = others_among(
                of_runs, leaf_metrics, conditions[index], shown, kept[0].metric.label
            )
            read.append(
                LeafEntries(leaf, kept, coverages, others, _apart(leaf, own_entries))
            )
        elif refused[index] is None:
            refused[index] = no_figures(leaf, chosen[index])
    return read, [reason for reason in refused if reason is not None]


def _as_rows(
    store: Store,
    leaves: Sequence[Benchmark],
    conditions: Sequence[Sequence[Condition]],
    metrics: Sequence[Sequence[Metric]],
    run_metrics: Mapping[int, Sequence[Mapping[str, Any]]],
    selection: Selection,
) -> tuple[list[list[ScoredCondition]], list[frozenset[str]]]:
    """The rows of models on each leaf, and the keys of all conditions behind them."""
    rules = selection.rows
    assert rules is not None
    planned: list[list[RowPlan]] = []
    shared = _shared_by_conditions(store, conditions)
    for leaf, own, chosen in zip(leaves, conditions, metrics, strict=True):
        runs = tuple(chain.from_iterable(condition.runs for condition in own))
        facts = BenchmarkFacts(runs, (), tuple(_of_ids(leaf, run_metrics)))
        plans = plan_rows(
            shared, own, partial(scored_prompts, own, facts, chosen), rules
        )
        planned.append(plans)
    members = []
    for plans in planned:
        members.append(list(chain.from_iterable(plan.conditions for plan in plans)))
    read = read_all_entries(
        store, list(zip(members, metrics, strict=True)), with_repeats=True
    )
    clusters = ClusterMap(np.empty(0, np.int64), np.empty(0, np.int64))
    all_plans = chain.from_iterable(planned)
    if any(not plan.is_plain for plan in all_plans):
        ids = ids_of(leaves)
        defaults = list(chain.from_iterable(leaf.clusterings for leaf in leaves))
        clusters = cluster_map(store, ids, defaults, selection.cluster)
    entries: list[list[ScoredCondition]] = []
    for plans, found in zip(planned, read, strict=True):
        by_plan = rows_of_plans(store, plans, found, clusters, rules)
        entries.append(list(chain.from_iterable(by_plan)))
    keys = [shown_keys(plans, own) for plans, own in zip(planned, entries, strict=True)]
    return entries, keys


def _shared_by_conditions(
    store: Store, conditions: Sequence[Sequence[Condition]]
) -> Store:
    """A store in which what is asked of the first run of any of these conditions is
    read once for all."""
    if isinstance(store, SharedReads):
        return store
    shared = SharedReads(store)
    first = [condition.run_ids[0] for condition in chain.from_iterable(conditions)]
    shared.begin_block(run_id=first)
    return shared


def ids_of(leaves: Sequence[Benchmark]) -> list[int]:
    """Ids of the rows of ``benchmark`` of all leaves."""
    return sorted(set(chain.from_iterable(leaf.ids for leaf in leaves)))


def no_figures(leaf: Benchmark, metrics: Sequence[Metric]) -> str:
    """Why a leaf with runs and these metrics is left out."""
    return f"{leaf.name} has no figures by {metrics[0].label}"


def _of_ids(leaf: Benchmark, by_benchmark: Mapping[int, Sequence[T]]) -> list[T]:
    """The items that stand under any of the ids of a leaf."""
    return list(chain.from_iterable(by_benchmark.get(key, ()) for key in leaf.ids))


def _runs_on(leaf: Benchmark, by_benchmark: Mapping[int, Sequence[Run]]) -> list[Run]:
    """The runs of a leaf, by id."""
    return sorted(_of_ids(leaf, by_benchmark), key=itemgetter("run_id"))


def metrics_on(
    leaf: Benchmark, by_benchmark: Mapping[int, Sequence[Metric]]
) -> list[Metric]:
    """The metrics of a leaf, in the order in which they are chosen among."""
    return sorted(_of_ids(leaf, by_benchmark), key=headline_scorer_first)


def _apart(leaf: Benchmark, entries: Sequence[ScoredCondition]) -> tuple[str, ...]:
    """Models whose runs on a leaf do not look like repeats, so that there is no one
    figure."""
    told: dict[str, None] = {}
    for entry in entries:
        if entry.no_place:
            why = (
                "; ".join(entry.row_notes)
                or f"{entry.condition.model}: {entry.no_place}"
            )
            told[f"{leaf.name}: no one figure: {why}"] = None
    return tuple(told)


def choose_on(
    leaf: Benchmark,
    runs: Sequence[object],
    metrics: Sequence[Metric],
    selection: Selection,
) -> tuple[list[Metric], str | None]:
    """The metrics that a leaf is judged by, or why it has none."""
    if not runs:
        narrowed = ""
        if selection.where:
            narrowed = f" with {', '.join(selection.where)}"
        return [], f"{leaf.name} has no current run{narrowed}"
    try:
        return choose_metrics(metrics, selection.metric, leaf.name), None
    except MisuseError as reason:
        return [], str(reason)


def _one_each(entries: Sequence[ScoredCondition]) -> tuple[ScoredCondition, ...]:
    """For each condition the entry that has scores, else the one with a published
    figure."""
    best: dict[str, ScoredCondition] = {}
    for entry in entries:
        best_so_far = best.get(entry.condition.key)
        if entry.usable is None and entry.published is None:
            continue
        if best_so_far is None or (
            best_so_far.usable is None and entry.usable is not None
        ):
            best[entry.condition.key] = entry
    return tuple(best.values())


#: Ambiguous places that a message names.
_MOST_NAMED = 12


@dataclass(frozen=True)
class ConditionSet:
    """A model's conditions on the leaves of a suite."""

    who: tuple[Any, ...]  #: values of model, revision, … agent.
    #: what tells it from the model's other sets, by name.
    settings: tuple[tuple[str, Any], ...]
    entries: dict[str, ScoredCondition]  #: by leaf; leaves without one are missing.

    @property
    def model(self) -> str:
        """Name of the model."""
        return str(self.who[0])

    @property
    def conditions(self) -> list[Condition]:
        """Its conditions, in the order of the leaves."""
        return [entry.condition for entry in self.entries.values()]

    @property
    def newest(self) -> tuple[int, tuple[Any, ...]]:
        """To order sets of a model: the most leaves, then the last run."""
        return len(self.entries), max(condition.newest for condition in self.conditions)


#: Who was evaluated, and the settings that mean the same on every leaf, of a run.
_WHO = itemgetter(*WHO_FIELDS)
_COMMON = itemgetter(*COMMON_FIELDS)


def match_conditions(
    leaves: Mapping[str, Sequence[ScoredCondition]],
    *,
    latest: bool = False,
    rows: RowRules | None = None,
) -> list[ConditionSet]:
    """Sets of conditions, one for each row of a suite's board (MisuseError: ambiguous
    conditions; lists them all).

    Where a model has several conditions on a leaf, those settings that differ there
    split its conditions on all leaves; what still leaves several is ambiguous.

    Args:
        leaves: entries by leaf, one for each condition.
        latest: of a model's sets the most complete, of these the newest; of several
            conditions the newest.
        rows: by which the entries are rows, over seeds at one checkpoint; None: each is
            a condition.
    """
    by_who: dict[tuple[Any, ...], dict[str, list[ScoredCondition]]] = {}
    for leaf, entries in leaves.items():
        for entry in entries:
            who = who_of(entry, rows)
            by_who.setdefault(who, {}).setdefault(leaf, []).append(entry)
    sets: list[ConditionSet] = []
    ambiguous: list[str] = []
    for who, by_leaf in by_who.items():
        for settings, chosen in _split(by_leaf).items():
            ambiguous += [
                _in_words(str(who[0]), leaf, entries)
                for leaf, entries in chosen.items()
                if len(entries) > 1
            ]
            picked = {leaf: _newest(entries) for leaf, entries in chosen.items()}
            sets.append(ConditionSet(who, settings, picked))
    if ambiguous and not latest:
        raise MisuseError(_too_many(ambiguous))
    if latest:
        return _newest_of_each(sets)
    return sets


def who_of(entry: ScoredCondition, rows: RowRules | None = None) -> tuple[Any, ...]:
    """Who was evaluated, as rows have it."""
    who: tuple[Any, ...] = _WHO(_shown(entry.condition, rows).runs[0])
    return who


def _newest(entries: Sequence[ScoredCondition]) -> ScoredCondition:
    if len(entries) == 1:
        return entries[0]
    return max(entries, key=lambda entry: entry.condition.newest)


def _shown(condition: Condition, rows: RowRules | None) -> Condition:
    """A condition without what its row has dealt with: the seed and the place in
    training."""
    if rows is None or rows.each == EACH_CHECKPOINT:
        return condition
    if (
        condition.setting("position") is None
        and condition.setting("training_seed") == ""
    ):
        return condition  # as nearly all are where models are many
    return without_place(condition, keep_seed=rows.each == EACH_SEED)


def describe_sets(sets: Sequence[ConditionSet]) -> list[str]:
    """For each set the settings that distinguish it, such as ``step=1000,
    temperature=0.8``."""
    shown = [name for name in WHO_FIELDS[1:] if _varies(sets, name)]
    if "position" in shown:  # says the same as the checkpoint's key, readably
        shown = [
            name
            for name in shown
            if name not in ("checkpoint", "position_unit", "revision")
        ]
    always: list[str] = []
    conditions = chain.from_iterable(item.conditions for item in sets)
    if len({_COMMON(condition.runs[0]) for condition in conditions}) > 1:
        named = [name for name in ALWAYS_TOLD if name in COMMON_FIELDS]
        always = []
        for name in named:
            if len({_shared(item, name) for item in sets}) > 1:
                always.append(name)
    return [_label(entry, shown, always) for entry in sets]


def mixed_settings(members: ConditionSet) -> dict[str, list[str]]:
    """Settings of which a set has several values on its leaves, each with ``leaf
    value``."""
    mixed: dict[str, list[str]] = {}
    if len({_COMMON(condition.runs[0]) for condition in members.conditions}) == 1:
        return mixed
    for name in COMMON_FIELDS:
        values = {
            leaf: entry.condition.setting(name)
            for leaf, entry in members.entries.items()
        }
        if name != "split" and len(set(values.values())) > 1:
            mixed[name] = [f"{leaf} {_text(value)}" for leaf, value in values.items()]
    return mixed


Settings = tuple[tuple[str, Any], ...]


def _split(
    by_leaf: Mapping[str, list[ScoredCondition]],
) -> dict[Settings, dict[str, list[ScoredCondition]]]:
    """Conditions by the settings that vary on some leaf."""
    if all(len(entries) == 1 for entries in by_leaf.values()):
        return {(): dict(by_leaf)}
    varying = []
    for name in COMMON_FIELDS:
        if any(
            len({e.condition.setting(name) for e in entries}) > 1
            for entries in by_leaf.values()
        ):
            varying.append(name)
    by_settings: dict[Settings, dict[str, list[ScoredCondition]]] = {}
    for leaf, entries in by_leaf.items():
        for entry in entries:
            settings = tuple((name, entry.condition.setting(name)) for name in varying)
            by_settings.setdefault(settings, {}).setdefault(leaf, []).append(entry)
    return by_settings


def _newest_of_each(sets: Iterable[ConditionSet]) -> list[ConditionSet]:
    best: dict[str, ConditionSet] = {}
    for entry in sets:
        if entry.model not in best or entry.newest > best[entry.model].newest:
            best[entry.model] = entry
    return list(best.values())


def _varies(sets: Sequence[ConditionSet], name: str) -> bool:
    """True if sets of one model differ in it, or any, where it changes what a figure
    means."""
    index = WHO_FIELDS.index(name)
    values: dict[str, set[Any]] = {}
    for entry in sets:
        values.setdefault(entry.model, set()).add(entry.who[index])
    if name in ALWAYS_TOLD and len(set().union(*values.values())) > 1:
        return True
    return any(len(own) > 1 for own in values.values())


def _shared(members: ConditionSet, name: str) -> Any:
    """The value of a setting on all leaves of a set; None where they differ."""
    values = {entry.condition.runs[0][name] for entry in members.entries.values()}
    if len(values) == 1:
        return values.pop()
    return None


def _label(members: ConditionSet, shown: Sequence[str], always: Sequence[str]) -> str:
    who = dict(zip(WHO_FIELDS, members.who, strict=True))
    parts = [_named(name, who) for name in shown if who[name] not in (None, "")]
    settings = {name: _shared(members, name) for name in always} | dict(
        members.settings
    )
    parts += [
        f"{name}={_text(value)}"
        for name, value in settings.items()
        if value is not None
    ]
    return ", ".join(parts)


def _named(name: str, who: Mapping[str, Any]) -> str:
    if name == "position":
        return f"{who['position_unit'] or 'position'}={who['position']:g}"
    if name == "agent":
        return f"+{who['agent']}"
    return f"{name}={str(who[name])[:12]}"


def _text(value: Any) -> str:
    if value in (None, ""):
        return "none"
    if isinstance(value, float):
        return f"{value:g}"
    return str(value)


def _in_words(model: str, leaf: str, entries: Sequence[ScoredCondition]) -> str:
    told = []
    for entry in entries:
        runs = ", ".join(f"run:{run}" for run in entry.condition.run_ids)
        if entry.label:
            runs += f" ({entry.label})"
        told.append(runs)
    return f"  {model} on {leaf}: {'; '.join(told)}"


def _too_many(ambiguous: Sequence[str]) -> str:
    shown = list(ambiguous[:_MOST_NAMED])
    if len(ambiguous) > _MOST_NAMED:
        shown.append(f"  ... and {len(ambiguous) - _MOST_NAMED} more")
    return (
        "several conditions of one model on a benchmark of the suite; narrow them with "
        "--where"
        " field=value, or take the newest with --latest:\n" + "\n".join(shown)
    )
