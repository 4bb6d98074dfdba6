"""Which metrics a benchmark has, their kind, bounds and direction."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from warehouse.records import Dump, MetricSpec, PublishedScore, RunHeader
from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load.bulk_insert import append
from warehouse.store.load.dimensions import (
    Dimensions,
    Naming,
    Said,
    allocate,
    suites_of,
)
from warehouse.store.load.measures import ScoreSummary
from warehouse.store.load.metric_statements import STORED, as_said, described, widened
from warehouse.store.load.run_keys import spec_of
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.state import _Load, group_spec
from warehouse.store.load.statements import SUITES, statement
from warehouse.store.schema.later import tables


def benchmark_metrics(store: Store, state: _Load, runs: Iterable[int]) -> None:
    """Which metrics each benchmark has, their range, and who calls which of them the
    headline, by runs of the dump: of one that is stored already it may know more, such
    as a direction.

    Most loads change nothing here; one that does keeps the others out until it has
    committed.
    """
    seen = {(item.run, item.metric_id): _range_of(item) for item in state.scores}
    stored_metrics: dict[int, list[int]] = {}
    for item in state.scores:
        stored_metrics.setdefault(item.run, []).append(item.metric_id)
    by_id = {metric_id: spec for spec, metric_id in state.metric_ids.items()}
    by_key: dict[tuple[int, int], dict[str, Any]] = {}
    directions: dict[tuple[int, int], dict[int, bool]] = {}
    words: dict[
        int, dict[tuple[int, int], dict[str, Any]]
    ] = {}  # what each source says by itself
    for run in runs:
        header = state.dump.runs[run]
        benchmark_id = state.references[run]["benchmark_id"]
        scored = [
            (by_id[metric_id], metric_id) for metric_id in stored_metrics.get(run, ())
        ]
        for spec, metric_id in _metrics_of(state, header, scored):
            row = described(spec, seen.get((run, metric_id)))
            key = (benchmark_id, metric_id)
            by_key[key] = widened(by_key[key], row) if key in by_key else row
            of_source = words.setdefault(state.part_of(run).source.id, {})
            of_source[key] = widened(of_source[key], row) if key in of_source else row
            if spec.higher_is_better is not None:
                directions.setdefault(key, {})[run] = spec.higher_is_better
    written = write_described(store, by_key)
    _note_directions(state, by_id, directions, written.directions)
    for source, rows in words.items():
        state.statements += [
            statement(source, BENCHMARK_METRIC, written.ids[key], as_said(row))
            for key, row in rows.items()
        ]


@dataclass(frozen=True)
class Written:
    """The outcome of :func:`write_described`: ids of the rows, and the directions that
    were stored before, by benchmark and metric."""

    ids: Mapping[tuple[int, int], int]
    directions: Mapping[tuple[int, int], bool | None]


def write_described(
    store: Store, by_key: Mapping[tuple[int, int], dict[str, Any]]
) -> Written:
    """Write what is known of metrics (:func:`described`), by benchmark and metric,
    beside what is stored of them."""
    changes = _changes(store.connection, by_key)
    if (changes.added or changes.changed) and engines.is_shared(store.connection):
        store.dialect.lock_catalogue(store.connection)
        changes = _changes(store.connection, by_key)
    return Written(
        changes.ids | _write_metrics(store.connection, changes), changes.directions
    )


#: What statements of sources about metrics are called.
BENCHMARK_METRIC = "benchmark_metric"


def _note_directions(
    state: _Load,
    specs: Mapping[int, MetricSpec],
    directions: Mapping[tuple[int, int], Mapping[int, bool]],
    stored: Mapping[tuple[int, int], bool | None],
) -> None:
    """A note to each source that says of a metric the opposite of what another one
    says.

    Args:
        specs: metrics by id.
        directions: by benchmark and metric, what each run says of it.
        stored: what the store has held of it until now.
    """
    for key, by_run in directions.items():
        words = {*by_run.values(), stored.get(key)} - {None}
        if len(words) != 2:
            continue
        for run, is_higher in by_run.items():
            direction, other = ("lower", "higher")
            if is_higher:
                direction, other = ("higher", "lower")
            spec = specs[key[1]]
            header = state.dump.runs[run]
            if spec.filter:
                label = f"{spec.name},{spec.filter}"
            else:
                label = spec.name
            note = (
                f"{header.benchmark}, {label}: {direction} is better here, {other} in "
                "another source: lower is better holds until a person says otherwise "
                f"(warehouse fix metric {shlex.quote(header.benchmark)} "
                f"--metric {shlex.quote(label)} --higher-is-better)"
            )
            if note not in state.part_of(run).dump.notes:
                state.part_of(run).dump.notes.append(note)


def _range_of(scores: ScoreSummary) -> tuple[float, float, bool] | None:
    """Smallest and largest value, and whether all are 0 or 1; None where there is no
    value."""
    if scores.low is None or scores.high is None:
        return None
    return scores.low, scores.high, scores.is_binary


def _metrics_of(
    state: _Load, header: RunHeader, scored: Sequence[tuple[MetricSpec, int]]
) -> list[tuple[MetricSpec, int]]:
    """Metrics of one run: those of its header, in that order, published ones, others
    scored."""
    named = [*header.metrics] + [
        spec_of(header, row.metric, row.filter)
        for row in header.published
        if not row.benchmark
    ]
    ids = [
        (spec, state.metric_ids[spec])
        for spec in dict.fromkeys(named)
        if spec in state.metric_ids
    ]
    listed = {metric_id for _, metric_id in ids}
    return ids + [
        (spec, metric_id) for spec, metric_id in scored if metric_id not in listed
    ]


@dataclass(frozen=True)
class _Changes:
    """Rows that the table lacks, values of its rows that change, by id; ids and
    directions that it has held, by benchmark and metric."""

    added: list[dict[str, Any]]
    changed: dict[int, dict[str, Any]]
    ids: dict[tuple[int, int], int]
    directions: dict[tuple[int, int], bool | None]


def _changes(
    connection: sa.Connection, described: Mapping[tuple[int, int], dict[str, Any]]
) -> _Changes:
    table = tables.benchmark_metric
    touched = sorted({key[0] for key in described})
    rows = connection.execute(sa.select(table).where(table.c.benchmark_id.in_(touched)))
    stored = {(row.benchmark_id, row.metric_id): dict(row._mapping) for row in rows}
    added: list[dict[str, Any]] = []
    changed: dict[int, dict[str, Any]] = {}
    for key, row in described.items():
        values = {name: row[name] for name in STORED}
        if key not in stored:
            added.append({**values, "benchmark_id": key[0], "metric_id": key[1]})
            continue
        before = {name: stored[key][name] for name in STORED}
        if (
            before["is_inferred"]
            and before["kind"] == "continuous"
            and row["kind"] == "bounded"
        ):
            before["seen"] = _seen(connection, *key)
        merged = widened(before, row)
        merged.pop("seen", None)
        if stored[key]["direction_by"]:
            merged["higher_is_better"] = before["higher_is_better"]
        if any(stored[key][name] != value for name, value in merged.items()):
            changed[int(stored[key]["id"])] = merged
    directions = {
        key: row["higher_is_better"]
        for key, row in stored.items()
        if not row["direction_by"]
    }
    return _Changes(
        added, changed, {key: int(row["id"]) for key, row in stored.items()}, directions
    )


def _seen(
    connection: sa.Connection, benchmark: int, metric: int
) -> tuple[float, float] | None:
    """Range of the stored values of a metric on a benchmark."""
    score, run = tables.score, tables.run
    lowest = sa.func.min(score.c.value)
    highest = sa.func.max(score.c.value)
    query = (
        sa.select(lowest, highest)
        .join(run, run.c.id == score.c.run_id)
        .where(run.c.benchmark_id == benchmark, score.c.metric_id == metric)
    )
    low, high = connection.execute(query).one()
    if low is None:
        return None
    return (low, high)


def _write_metrics(
    connection: sa.Connection, changes: _Changes
) -> dict[tuple[int, int], int]:
    """Write the changes; ids of the rows that were added, by benchmark and metric."""
    table = tables.benchmark_metric
    for row_id, values in changes.changed.items():
        change = sa.update(table).where(table.c.id == row_id)
        connection.execute(change.values(values))
    if not changes.added:
        return {}
    first = allocate(connection, table.name, len(changes.added))
    rows = [{**row, "id": first + at} for at, row in enumerate(changes.added)]
    append(connection, table, rows)
    return {(row["benchmark_id"], row["metric_id"]): row["id"] for row in rows}


#: Opens a transaction of the load.
Transaction = Callable[[], "AbstractContextManager[sa.Connection]"]


def add_dimensions(
    store: Store,
    scratch: Scratch,
    dimensions: Dimensions,
    state: _Load,
    transaction: Transaction,
) -> None:
    """Write what a load names and the store lacks, and have the ids at hand in the
    scratch space."""
    named = scratch.rows(
        "select distinct run, score.metric, coalesce(score.filter, '') "
        "from (select run, unnest(scores) as score from stage_sample)"
    )
    specs = _specs(state, named)
    variants: list[tuple[Any, ...]] = []
    if state.n_rows:
        variants = scratch.rows("select * from stage_variant order by variant_no")
    with transaction() as connection:
        store.dialect.prepare(connection)
        named_by = _named_by(state)
        ids = dimensions.of_load(connection, named_by, specs, _variant_rows(variants))
        state.references = ids.references
        state.benchmark_ids = ids.benchmarks
        state.metric_ids = dict(zip(specs, ids.metrics, strict=True))
        add_statements(state, named_by, ids.benchmarks, ids.said)
        if engines.is_shared(connection):
            dimensions.stock(connection, "run", len(state.dump.runs))
    _put_references(scratch, state, named, variants, ids.variants)


def add_statements(
    state: _Load,
    named_by: Sequence[Naming],
    benchmarks: Mapping[str, int],
    unlike: Iterable[Said],
) -> None:
    """Store the words of a load's sources on models, benchmarks and the like, other
    than what stands; and below which suites they put benchmarks."""
    state.statements += [
        statement(
            state.parts[item.source].source.id, item.table, item.row_id, item.said
        )
        for item in unlike
    ]
    for part, naming in zip(state.parts, named_by, strict=True):
        own = {header.benchmark for header in naming.headers}
        for name, suites in suites_of(naming).items():
            if suites or name not in own:
                parents = [benchmarks[suite] for suite in suites]
                state.statements.append(
                    statement(part.source.id, SUITES, benchmarks[name], parents)
                )


def _variant_rows(variants: list[Any]) -> list[dict[str, Any]]:
    return [
        {
            "perturbation": perturbation,
            "fewshot_draw": fewshot_draw,
            "template": template,
        }
        for _, perturbation, fewshot_draw, template in variants
    ]


def _named_by(state: _Load) -> list[Naming]:
    """Names in headers and in published figures, part by part."""
    named: list[Naming] = []
    for part in state.parts:
        published = {row.benchmark for row in _published(part.dump) if row.benchmark}
        named.append(Naming(part.dump.runs, part.source.invocation, published))
    return named


def _put_references(
    scratch: Scratch,
    state: _Load,
    named: list[Any],
    variants: list[Any],
    variant_ids: list[int],
) -> None:
    runs = state.dump.runs
    benchmarks = [row["benchmark_id"] for row in state.references]
    stage_run = {
        "run": pa.array(range(len(runs)), pa.int32()),
        "benchmark_id": pa.array(benchmarks, pa.int64()),
        "split": pa.array([header.split for header in runs], pa.string()),
    }
    scratch.put("stage_run", pa.table(stage_run))
    metrics = []
    for run, metric, filtered in named:
        metrics.append(state.metric_ids[spec_of(runs[run], metric, filtered)])
    metric_id = {
        "run": pa.array([row[0] for row in named], pa.int32()),
        "metric": pa.array([row[1] for row in named], pa.string()),
        "filter": pa.array([row[2] for row in named], pa.string()),
        "metric_id": pa.array(metrics, pa.int64()),
    }
    scratch.put("metric_id", pa.table(metric_id))
    variant_id = {
        "variant_no": pa.array([row[0] for row in variants], pa.int32()),
        "perturbation": pa.array([row[1] for row in variants], pa.string()),
        "fewshot_draw": pa.array([row[2] for row in variants], pa.string()),
        "template": pa.array([row[3] for row in variants], pa.string()),
        "variant_id": pa.array(variant_ids, pa.int64()),
    }
    scratch.put("variant_id", pa.table(variant_id))


def _published(dump: Dump) -> Iterable[PublishedScore]:
    yield from dump.published
    for header in dump.runs:
        yield from header.published


def _specs(state: _Load, named: list[Any]) -> list[MetricSpec]:
    """Every metric that a score, a header or a published figure names, once."""
    specs: dict[MetricSpec, None] = {}
    for run, metric, filter_name in named:
        specs[spec_of(state.dump.runs[run], metric, filter_name)] = None
    for header in state.dump.runs:
        for row in header.published:
            specs[spec_of(header, row.metric, row.filter)] = None
    for part in state.parts:
        for row in part.dump.published:
            specs[group_spec(part.dump, row)] = None
        if part.dump.scan is not None:
            specs |= dict.fromkeys(part.dump.scan.metrics)
    return list(specs)
