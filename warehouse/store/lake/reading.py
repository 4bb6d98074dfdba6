"""What a store holds, as a lake takes it: whole tables, units with their marks, rows of some units."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from warehouse.store import engines
from warehouse.store.connection import Store
from warehouse.store.lake.contents import UNITS_SCHEMA, LakeTable, as_stored, schema_of
from warehouse.store.parts import in_parts
from warehouse.store.sql.query_files import query_text

#: Rows of facts, and units of other kinds, that are read at a time.
ROWS, UNITS_AT_ONCE = 500_000, 500
#: Numbers of a run's mark that add up to its rows.
_COUNTS = ("n_generations", "n_choices", "n_scores")

Marks = dict[int, str]


@contextmanager
def one_state(store: Store) -> Iterator[None]:
    """All that is read within is one state of the store, whoever writes meanwhile."""
    with store.begin() as connection:
        if engines.is_shared(connection):
            connection.exec_driver_sql("set transaction isolation level repeatable read")
        yield


def whole(store: Store, name: str) -> pa.Table:
    """All rows of a table."""
    return as_stored(store.arrow(f"select {_columns(name)} from {name}"), name)


def marks(store: Store, kind: str) -> tuple[Marks, dict[int, int]]:
    """A text for each unit that changes where its rows do, and how many rows it has about."""
    unit_marks: Marks = {}
    sizes: dict[int, int] = {}
    for row in store.rows(query_text("lake", kind)):
        unit = int(row.pop("unit"))
        unit_marks[unit] = "|".join("" if value is None else str(value) for value in row.values())
        sizes[unit] = sum(row.get(name) or 0 for name in _COUNTS) or int(row.get("n") or 1)
    return unit_marks, sizes


def rows_of(store: Store, table: LakeTable, units: Sequence[int], sizes: dict[int, int]) -> pa.RecordBatchReader:
    """The rows of some units of a table, read a part at a time."""
    schema = schema_of(table.name)

    def batches() -> Iterator[pa.RecordBatch]:
        for part in in_parts(sorted(units), lambda unit: sizes.get(unit, 1), ROWS, UNITS_AT_ONCE):
            listed = ", ".join(map(str, part))
            rows = store.arrow(f"select {_columns(table.name)} from {table.name} where {table.unit} in ({listed})")
            yield from as_stored(rows, table.name).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches())


def units_table(marked: dict[str, Marks]) -> pa.Table:
    """The marks of all units, by kind and number."""
    rows = [
        (kind, unit, mark) for kind, unit_marks in sorted(marked.items()) for unit, mark in sorted(unit_marks.items())
    ]
    columns: list[Any] = list(zip(*rows, strict=True)) if rows else [[], [], []]
    return pa.table(
        [pa.array(values, field.type) for values, field in zip(columns, UNITS_SCHEMA, strict=True)], schema=UNITS_SCHEMA
    )


def digest(rows: pa.Table, name: str) -> str:
    """What the rows of a table add up to, in whatever order they come; equal where the rows are."""
    return digests(rows, name)[0][1]


def digests(rows: Any, name: str, unit: str = "") -> dict[int, tuple[int, str]]:
    """How many rows each unit has, and what they add up to; without units all rows under 0.

    Args:
        rows: a table, a dataset or a reader of batches.
        name: of the table.
        unit: column that says which unit a row belongs to.
    """
    listed = _columns(name)
    group, by = (unit, f" group by {unit}") if unit else ("0", "")
    scratch = engines.open_scratch()
    try:
        scratch.register("rows_of_lake", rows)
        totals = scratch.execute(
            f"select {group}, count(*), coalesce(cast(sum(cast(hash({listed}) as hugeint)) as varchar), '0')"
            f" from rows_of_lake{by}"
        ).fetchall()
    finally:
        scratch.close()
    return {-1 if key is None else int(key): (int(n), str(total)) for key, n, total in totals}


def _columns(name: str) -> str:
    return ", ".join(f'"{column}"' for column in schema_of(name).names)
