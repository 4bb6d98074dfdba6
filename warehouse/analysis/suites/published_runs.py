"""Suites of published figures alone, read as columns: thousands of models may have
nothing else.

Where each model has one run on a benchmark, whole, without scores, seeds or a place in
training, and all runs on a benchmark have the same settings, the figure of a model
there is that of its run, and nothing else has to be known of the run: no object is made
of it. Any other suite is left to `read_leaves`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from operator import attrgetter
from typing import Any, NamedTuple

import pyarrow as pa

from warehouse.analysis.groups import grouped
from warehouse.analysis.selection.benchmarks import Benchmark, Metric, metrics_of
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.other_metrics import others_of_runs
from warehouse.analysis.selection.scored_conditions import (
    BenchmarkCoverage,
    ScoredCondition,
)
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.suites.entries import (
    LeafEntries,
    choose_on,
    ids_of,
    metrics_on,
    no_figures,
)
from warehouse.records.run_fields import COMMON_FIELDS, WHO_FIELDS
from warehouse.store.columns import Columns, rows_of
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Settings that all runs on a benchmark share.
_ON_LEAF = (*COMMON_FIELDS, "task_version")


class Figure(NamedTuple):
    """A figure that the one run of a model on a leaf publishes."""

    model: str
    run_id: int
    run_group_id: int  #: the invocation that made the run.
    value: float  #: finite.
    standard_error: float | None  #: above 0; None where none was published.
    n: int  #: prompts as published, 0 if unknown.


@dataclass(frozen=True)
class PublishedSuite:
    """A suite of published figures alone, as `read_leaves` has it, but for the entries."""

    #: with the entry of the first figure alone, whose settings all others share.
    leaves: tuple[LeafEntries, ...]
    refused: tuple[str, ...]  #: why other benchmarks are left out.
    #: by name of the leaf; those of one by the id of the run.
    figures: Mapping[str, Sequence[Figure]]


class _Run(NamedTuple):
    """A run on a leaf."""

    run_id: int
    model: str
    run_group_id: int
    n_benchmark: int | None  #: prompts of the benchmark, as declared.
    row: int  #: of the table.


@dataclass(frozen=True)
class _Leaf:
    """A leaf with what was read of it."""

    benchmark: Benchmark
    runs: Sequence[_Run]  #: by id.
    metrics: Sequence[Metric]  #: all that it has.
    chosen: Sequence[Metric]  #: those that it is judged by.
    refused: str | None  #: why it is judged by none.


def read_published(
    store: Store, leaves: Sequence[Benchmark], selection: Selection, table: pa.Table
) -> PublishedSuite | None:
    """The benchmarks of a suite, where they have published figures alone; None where
    there is more to them.

    Args:
        table: `runs_table` of the benchmarks.
    """
    if selection.where or not _is_plain(table, leaves):
        return None
    known = _with_metrics(store, leaves, selection, _runs_by_leaf(table, leaves))
    if any(len(leaf.chosen) > 1 for leaf in known):
        return None
    figures = _read_figures(store, known)
    if figures is None or _have_scores(store, known):
        return None
    if any(_is_of_a_part(*both) for both in zip(known, figures, strict=True)):
        return None
    others = _other_run_metrics(store, known)
    read: list[LeafEntries] = []
    refused: list[str] = []
    for leaf, own in zip(known, figures, strict=True):
        if own:
            read.append(_entries(leaf, own, table, others))
        else:
            refused.append(leaf.refused or no_figures(leaf.benchmark, leaf.chosen))
    by_name = {
        leaf.benchmark.name: own
        for leaf, own in zip(known, figures, strict=True)
        if own
    }
    return PublishedSuite(tuple(read), tuple(refused), by_name)


def _is_plain(table: pa.Table, leaves: Sequence[Benchmark]) -> bool:
    """True if each model, in one state, has one run on a benchmark, whole and without
    scores, seeds and places in training, and all runs on a benchmark have the same
    settings."""
    column = Columns(table).objects
    if any(column("n_scores")) or {*column("status")} != {"complete"}:
        return False
    if (
        {*column("training_seed")} != {""}
        or {*column("position")} != {None}
        or len({*column("agent")}) > 1
    ):
        return False
    number_of = _numbers(leaves)
    numbers = [number_of[key] for key in column("benchmark_id")]
    models = column("model")
    keys = column("condition_key")
    n = len(numbers)
    if (
        len({*zip(numbers, models, strict=True)}) < n
        or len({*zip(numbers, keys, strict=True)}) < n
    ):
        return False
    states = {*zip(*(column(name) for name in WHO_FIELDS), strict=True)}
    settings = {*zip(numbers, *(column(name) for name in _ON_LEAF), strict=True)}
    return len(states) == len({*models}) and len(settings) == len({*numbers})


def _numbers(leaves: Sequence[Benchmark]) -> dict[int, int]:
    """The number of the leaf that each row of ``benchmark`` belongs to."""
    leaf_of = {}
    for number, leaf in enumerate(leaves):
        for key in leaf.ids:
            leaf_of[key] = number
    return leaf_of


def _runs_by_leaf(table: pa.Table, leaves: Sequence[Benchmark]) -> list[list[_Run]]:
    """The runs on each leaf, by id."""
    number_of = _numbers(leaves)
    runs: list[list[_Run]] = [[] for _ in leaves]
    names = ("benchmark_id", "run_id", "model", "run_group_id", "n_benchmark")
    columns = [Columns(table).objects(name) for name in names]
    for key, *values in zip(*columns, range(table.num_rows), strict=True):
        runs[number_of[key]].append(_Run._make(values))
    return [sorted(own) for own in runs]


def _with_metrics(
    store: Store,
    leaves: Sequence[Benchmark],
    selection: Selection,
    runs: Sequence[Sequence[_Run]],
) -> list[_Leaf]:
    by_benchmark = grouped(
        metrics_of(store, ids_of(leaves)), attrgetter("benchmark_id")
    )
    known: list[_Leaf] = []
    for leaf, own in zip(leaves, runs, strict=True):
        metrics = metrics_on(leaf, by_benchmark)
        known.append(
            _Leaf(leaf, own, metrics, *choose_on(leaf, own, metrics, selection))
        )
    return known


def _read_figures(store: Store, leaves: Sequence[_Leaf]) -> list[list[Figure]] | None:
    """The figures on each leaf, by id of the run; None where one is infinite, or has an
    error that cannot be."""
    runs = []
    for leaf in leaves:
        for run in leaf.runs:
            runs.append(run.run_id)
    table = store.arrow(
        query_text("analysis", "published_means"), {"run_ids": runs}, per="run_id"
    )
    columns = [
        Columns(table).objects(name)
        for name in ("run_id", "metric_id", "value", "standard_error", "n")
    ]
    first: dict[tuple[int, int], tuple[float, float | None, int]] = {}
    for run_id, metric_id, value, error, n in zip(*columns, strict=True):
        if not math.isfinite(value) or not 0 <= (error or 0.0) < math.inf:
            return None
        first.setdefault((run_id, metric_id), (value, error or None, n or 0))
    figures: list[list[Figure]] = []
    for leaf in leaves:
        metric_id = -1
        if leaf.chosen:
            metric_id = leaf.chosen[0].id
        found = ((run, first.get((run.run_id, metric_id))) for run in leaf.runs)
        figures.append(
            [
                Figure(run.model, run.run_id, run.run_group_id, *own)
                for run, own in found
                if own
            ]
        )
    return figures


def _is_of_a_part(leaf: _Leaf, figures: Sequence[Figure]) -> bool:
    """True where a figure is of fewer prompts than the leaf has."""
    size = max((run.n_benchmark or 0 for run in leaf.runs), default=0)
    return any(0 < figure.n < size for figure in figures)


def _have_scores(store: Store, leaves: Sequence[_Leaf]) -> bool:
    """True where there are scores, whatever the runs say of themselves."""
    runs = []
    for leaf in leaves:
        for run in leaf.runs:
            runs.append(run.run_id)
    chosen = chain.from_iterable(leaf.chosen for leaf in leaves)
    parameters = {
        "run_ids": runs,
        "metric_ids": sorted({metric.id for metric in chosen}),
    }
    return (
        len(
            store.columns(
                query_text("analysis", "prompt_scores"), parameters, per="run_id"
            )
        )
        > 0
    )


#: Which figures each run has, by its id.
_RunMetrics = Mapping[int, Sequence[Mapping[str, Any]]]


def _other_run_metrics(store: Store, leaves: Sequence[_Leaf]) -> _RunMetrics:
    """Which runs have figures of metrics that their leaf is not judged by."""
    ids = ids_of([leaf.benchmark for leaf in leaves])
    query = query_text("analysis", "current_run_metrics")
    columns = Columns(store.arrow(query, {"benchmark_ids": ids}, per="benchmark_id"))
    shown = {}
    for leaf in leaves:
        for metric in leaf.chosen:
            for run in leaf.runs:
                shown[run.run_id] = metric.id
    others: dict[int, list[Mapping[str, Any]]] = {}
    for run_id, metric_id in zip(
        columns.objects("run_id"), columns.objects("metric_id"), strict=True
    ):
        if shown.get(run_id) != metric_id:
            others.setdefault(run_id, []).append(
                {"run_id": run_id, "metric_id": metric_id}
            )
    return others


def _entries(
    leaf: _Leaf, figures: Sequence[Figure], table: pa.Table, others: _RunMetrics
) -> LeafEntries:
    """A leaf with figures, as `read_leaves` has it, but for all entries after the
    first."""
    shown = {figure.run_id for figure in figures}
    with_figures = [run for run in leaf.runs if run.run_id in shown]
    metric = leaf.chosen[0]
    (first,) = rows_of(table.slice(with_figures[0].row, 1))
    entry = ScoredCondition(
        Condition(first["condition_key"], (first,)), "", metric, None, None
    )
    size = max(run.n_benchmark or 0 for run in with_figures)
    conditions = {run.run_id: run.run_id for run in leaf.runs}  # each run is one
    run_metrics = list(
        chain.from_iterable(others.get(run.run_id, ()) for run in leaf.runs)
    )
    found = others_of_runs(run_metrics, leaf.metrics, conditions, shown, metric.label)
    return LeafEntries(
        leaf.benchmark, (entry,), {entry.group: BenchmarkCoverage(size, b"")}, found
    )
