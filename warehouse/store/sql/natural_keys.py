"""Rows by natural key: queries that write every surrogate id as the key of what it
points to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from warehouse.store.connection import Store
from warehouse.store.schema.later import tables
from warehouse.store.sql import query_files

#: Column that points to a row -> the table that this row is in. Everywhere the same,
#: also in views.
REFERENCES = {
    "agent_id": "agent",
    "ancestor_id": "benchmark",
    "benchmark_id": "benchmark",
    "canonical_prompt_id": "prompt",
    "checkpoint_a_id": "checkpoint",
    "checkpoint_b_id": "checkpoint",
    "checkpoint_id": "checkpoint",
    "cluster_id": "cluster",
    "clustering_id": "clustering",
    "condition_run_id": "run",
    "default_clustering_id": "clustering",
    "embedder_id": "embedder",
    "metric_id": "metric",
    "model_id": "model",
    "other_scorer_id": "scorer",
    "parent_id": "benchmark",
    "prompt_id": "prompt",
    "refresh_id": "refresh",
    "run_a_id": "run",
    "run_b_id": "run",
    "run_group_id": "run_group",
    "run_id": "run",
    "scorer_id": "scorer",
    "source_id": "source",
    "suite_id": "benchmark",
    "superseded_by": "run",
    "training_seed_id": "training_seed",
    "variant_id": "prompt_variant",
}


@dataclass
class _Select:
    """A SELECT that grows: columns and the joins that they need.

    ``taken`` are names that the relation itself has: a view may hold parts of a key
    already.
    """

    taken: frozenset[str]
    columns: list[str] = field(default_factory=list)
    joins: list[str] = field(default_factory=list)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def add(self, alias: str, names: Sequence[str], own: str, prefix: str) -> None:
        """Columns of one relation; ``own`` is the table that ``canonical_id`` points
        to."""
        for name in names:
            target = own if name == "canonical_id" else REFERENCES.get(name)
            if target is None and not (prefix and prefix + name in self.taken):
                self.columns.append(f'{alias}."{name}" as "{prefix}{name}"')
            elif target is not None:
                self._follow(
                    f'{alias}."{name}"', target, f"{prefix}{name.removesuffix('_id')}_"
                )

    def _follow(self, column: str, target: str, prefix: str) -> None:
        alias = f"r{next(self.numbers)}"
        self.joins.append(f'left join "{target}" as {alias} on {alias}.id = {column}')
        self.add(
            alias, tables.natural_key(tables.metadata.tables[target]), target, prefix
        )


def table_query(name: str) -> str:
    """SELECT over a table, called ``t`` in it, with natural keys; conditions may be
    appended."""
    names = [column.name for column in tables.metadata.tables[name].columns]
    return _query(name, [column for column in names if column != "id"])


def view_query(view: query_files.NamedQuery) -> str:
    """SELECT over a view with natural keys."""
    return _query(view.name, [name for name, _ in view.columns])


def _query(name: str, columns: Sequence[str]) -> str:
    select = _Select(frozenset(columns))
    select.add("t", columns, name, "")
    return (
        f'select {", ".join(select.columns)} from "{name}" as t '
        f"{' '.join(select.joins)} where 1 = 1"
    )


# --- slices that fit into memory -------------------------------------------------------------


@dataclass(frozen=True)
class Slice:
    """A part of a table: a condition to append to :func:`table_query`, and its values."""

    condition: str = ""
    low: int | None = None
    high: int | None = None

    @property
    def parameters(self) -> dict[str, int]:
        """Values of the condition."""
        if self.low is None or self.high is None:
            return {}
        return {"low": self.low, "high": self.high}


def slices(store: Store, name: str, rows: int) -> list[Slice]:
    """Parts of a table with about so many rows each, in order.

    Facts are cut between runs, prompts by id; what is small stays whole.
    """
    if name in {table.name for table in tables.RUN_FACTS}:
        return [
            Slice(
                "and t.run_id between :low and :high order by t.run_id, t.prompt_id",
                *part,
            )
            for part in _run_ranges(store, rows)
        ]
    if name in (tables.scan_value.name, tables.preference.name):
        sources = (
            store.arrow(f"select distinct source_id from {name} order by source_id")
            .column(0)
            .to_pylist()
        )
        parts = [
            Slice("and t.source_id between :low and :high", *part)
            for part in zip(sources, sources, strict=True)
        ]
        return parts or [Slice()]
    if name == tables.prompt.name:
        return [
            Slice("and t.id between :low and :high order by t.id", *part)
            for part in _id_ranges(store, name, rows)
        ]
    has_id = "id" in tables.metadata.tables[name].columns
    return [Slice("order by t.id" if has_id else "")]


def _run_ranges(store: Store, rows: int) -> list[tuple[int, int]]:
    sizes = store.arrow(
        "select id, n_scores + n_generations + n_choices from run order by id"
    )
    ranges: list[tuple[int, int]] = []
    first, total = 0, 0
    ids = sizes.column(0).to_pylist()
    counts = sizes.column(1).to_pylist()
    for run, size in zip(ids, counts, strict=True):
        if total and total + size > rows:
            ranges.append((first, run - 1))
            first, total = run, 0
        total += size
    return [*ranges, (first, max(ids, default=0))]


def _id_ranges(store: Store, name: str, rows: int) -> list[tuple[int, int]]:
    last = (
        store.arrow(f'select coalesce(max(id), 0) from "{name}"').column(0)[0].as_py()
    )
    return [(low, low + rows - 1) for low in range(0, int(last) + 1, rows)]
