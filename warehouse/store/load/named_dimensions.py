"""First step of a load: the dimensions that headers, metrics and variants name."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any

import pyarrow as pa

from warehouse.records import Dump, MetricSpec, PublishedScore
from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load.dimensions import Dimensions, Naming
from warehouse.store.load.run_keys import spec_of
from warehouse.store.load.scratch import Scratch
from warehouse.store.load.state import _Load, group_spec
from warehouse.store.schema.later import tables

#: Opens a transaction of the load.
Transaction = Callable[[], "AbstractContextManager[sa.Connection]"]


def add_dimensions(
    store: Store, scratch: Scratch, dimensions: Dimensions, state: _Load, transaction: Transaction
) -> None:
    """Write what a load names and the store lacks, and have the ids at hand in the scratch space."""
    named = scratch.rows(
        "select distinct run, score.metric, coalesce(score.filter, '') "
        "from (select run, unnest(scores) as score from stage_sample)"
    )
    specs = _specs(state, named)
    variants = scratch.rows("select * from stage_variant order by variant_no") if state.n_rows else []
    with transaction() as connection:
        store.dialect.prepare(connection)
        _add_named(dimensions, connection, state)
        ids = dimensions.metrics(connection, specs)
        state.metric_ids = dict(zip(specs, ids, strict=True))
        variant_ids = _variants(dimensions, connection, variants)
        if engines.is_shared(connection):
            dimensions.stock(connection, "run", len(state.dump.runs))
    _put_references(scratch, state, named, variants, variant_ids)


def _variants(dimensions: Dimensions, connection: sa.Connection, variants: list[Any]) -> list[int]:
    rows = [
        {"perturbation": perturbation, "fewshot_draw": fewshot_draw, "template": template}
        for _, perturbation, fewshot_draw, template in variants
    ]
    return dimensions.ids(connection, tables.prompt_variant, rows)


def _add_named(dimensions: Dimensions, connection: sa.Connection, state: _Load) -> None:
    """What headers and published figures name."""
    named = [
        Naming(
            part.dump.runs, part.source.invocation, {row.benchmark for row in _published(part.dump) if row.benchmark}
        )
        for part in state.parts
    ]
    state.references = dimensions.run_references(connection, named)
    state.benchmark_ids = dimensions.benchmarks(connection, named)


def _put_references(
    scratch: Scratch, state: _Load, named: list[Any], variants: list[Any], variant_ids: list[int]
) -> None:
    runs = state.dump.runs
    scratch.put(
        "stage_run",
        pa.table(
            {
                "run": pa.array(range(len(runs)), pa.int32()),
                "benchmark_id": pa.array([row["benchmark_id"] for row in state.references], pa.int64()),
                "split": pa.array([header.split for header in runs], pa.string()),
            }
        ),
    )
    scratch.put(
        "metric_id",
        pa.table(
            {
                "run": pa.array([row[0] for row in named], pa.int32()),
                "metric": pa.array([row[1] for row in named], pa.string()),
                "filter": pa.array([row[2] for row in named], pa.string()),
                "metric_id": pa.array(
                    [state.metric_ids[spec_of(runs[row[0]], row[1], row[2])] for row in named], pa.int64()
                ),
            }
        ),
    )
    scratch.put(
        "variant_id",
        pa.table(
            {
                "variant_no": pa.array([row[0] for row in variants], pa.int32()),
                "perturbation": pa.array([row[1] for row in variants], pa.string()),
                "fewshot_draw": pa.array([row[2] for row in variants], pa.string()),
                "template": pa.array([row[3] for row in variants], pa.string()),
                "variant_id": pa.array(variant_ids, pa.int64()),
            }
        ),
    )


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
    return list(specs)
