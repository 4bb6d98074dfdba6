"""Contents of a lake: which tables, of which types, and in which parts they are brought
up to date."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from warehouse.errors import MisuseError, StoreError
from warehouse.store import engines
from warehouse.store.columns import in_parts
from warehouse.store.connection import Store
from warehouse.store.lake.versions import LakeLocation, LakeVersion
from warehouse.store.schema import tables
from warehouse.store.sql import query_files
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class LakeTable:
    """One table of a lake, under the name that it has in the store."""

    name: str  #: of the table, or of the view that is kept as one.
    #: column that says which unit a row belongs to; empty: the table is small, and
    #: written as a whole when anything in it has changed.
    unit: str = ""
    kind: str = ""  #: of the units, which is the name of the query that marks them (``queries/lake``).


#: Tables of a store that no lake has: texts that were sent and answered, vectors,
#: counters, and what sources say, which only `forget` reads.
LEFT_OUT = ("content", "embedder", "prompt_embedding", "id_counter", "statement")
#: Small views that are kept as tables: engines on a lake may lack recursion, and nearly
#: all views join the others, whose many joins would cost a cluster more than any number
#: of scores does.
VIEWS = ("benchmark_tree", "run_current", "headline_metric")
#: The units of a lake with a mark of what is stored of each.
UNITS = "lake_unit"

_BY_UNIT = {
    **dict.fromkeys(
        ("generation", "transcript", "tool_call", "choice"), ("run_id", "run_marks")
    ),
    **dict.fromkeys(
        ("score", "prompt_score", "draw_score", "run_metric"), ("run_id", "run_marks")
    ),
    "scan_value": ("source_id", "scan_marks"),
    "preference": ("source_id", "preference_marks"),
    "prompt": ("benchmark_id", "prompt_marks"),
    "cluster": ("clustering_id", "clustering_marks"),
    "prompt_cluster": ("clustering_id", "clustering_marks"),
    "metric_value": ("refresh_id", "refresh_marks"),
    "analysis": ("id", "analysis_marks"),
}

TABLES = tuple(
    LakeTable(name, *_BY_UNIT.get(name, ()))
    for name in (*tables.metadata.tables, *VIEWS)
    if name not in LEFT_OUT
)
#: Kinds of units, in the order in which their tables come.
KINDS = tuple(dict.fromkeys(table.kind for table in TABLES if table.kind))

_TYPES: tuple[tuple[Any, pa.DataType], ...] = (
    (sa.BigInteger, pa.int64()),
    (sa.Integer, pa.int32()),
    (sa.Double, pa.float64()),
    (sa.Boolean, pa.bool_()),
    (
        sa.DateTime,
        pa.timestamp("us", tz="UTC"),
    ),  # every engine has this one; the other is a later feature of the format
    (sa.LargeBinary, pa.binary()),
    (sa.String, pa.string()),
    (sa.JSON, pa.string()),
)
#: Types of columns of views that no table has under this name and in this type; others
#: are texts.
_OF_VIEWS = {
    "ancestor_id": pa.int64(),
    "distance": pa.int32(),
    "ancestor_is_root": pa.bool_(),
    "is_leaf": pa.bool_(),
    "is_default": pa.bool_(),
    "position": pa.float64(),  # in training, as of a checkpoint; that of a scan's item is a whole number
}
UNITS_SCHEMA = pa.schema(
    [("kind", pa.string()), ("unit", pa.int64()), ("mark", pa.string())]
)


@cache
def schema_of(name: str) -> pa.Schema:
    """Columns of a table of the lake: those of the store, times as UTC, JSON as text."""
    if name == UNITS:
        return UNITS_SCHEMA
    if name in VIEWS:
        columns = [column for column, _ in query_files.find(name).columns]
        return pa.schema(
            [
                (column, _OF_VIEWS.get(column) or _of_tables().get(column, pa.string()))
                for column in columns
            ]
        )
    return pa.schema(
        [
            (column.name, _arrow_type(column.type))
            for column in tables.metadata.tables[name].columns
        ]
    )


@cache
def _of_tables() -> dict[str, pa.DataType]:
    """Types of columns of tables by their names, which mean the same in each."""
    types: dict[str, pa.DataType] = {}
    for name in tables.metadata.tables:
        if name not in LEFT_OUT:
            types |= {field.name: field.type for field in schema_of(name)}
    return types


def _arrow_type(kind: sa.types.TypeEngine[object]) -> pa.DataType:
    return next(
        arrow_type
        for python_type, arrow_type in _TYPES
        if isinstance(kind, python_type)
    )


def as_stored(table: pa.Table, name: str) -> pa.Table:
    """Rows of a table as the lake holds them."""
    schema = schema_of(name)
    return pa.table(
        [_cast(table.column(field.name), field.type) for field in schema], schema=schema
    )


def _cast(values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if isinstance(values.type, pa.ExtensionType):
        values = pa.chunked_array(
            [chunk.storage for chunk in values.chunks], values.type.storage_type
        )
    return values.cast(kind)


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
            connection.exec_driver_sql(
                "set transaction isolation level repeatable read"
            )
        yield


def whole(store: Store, name: str) -> pa.Table:
    """All rows of a table."""
    return as_stored(store.arrow(f"select {_columns(name)} from {name}"), name)


def marks(store: Store, kind: str) -> tuple[Marks, dict[int, int]]:
    """A text for each unit that changes where its rows do, and how many rows it has
    about."""
    unit_marks: Marks = {}
    sizes: dict[int, int] = {}
    for row in store.rows(query_text("lake", kind)):
        unit = int(row.pop("unit"))
        words = []
        for value in row.values():
            if value is None:
                words.append("")
            else:
                words.append(str(value))
        unit_marks[unit] = "|".join(words)
        counted = sum(row.get(name) or 0 for name in _COUNTS)
        sizes[unit] = counted or int(row.get("n") or 1)
    return unit_marks, sizes


def rows_of(
    store: Store, table: LakeTable, units: Sequence[int], sizes: dict[int, int]
) -> pa.RecordBatchReader:
    """The rows of some units of a table, read a part at a time."""
    schema = schema_of(table.name)

    def batches() -> Iterator[pa.RecordBatch]:
        for part in in_parts(
            sorted(units), lambda unit: sizes.get(unit, 1), ROWS, UNITS_AT_ONCE
        ):
            listed = ", ".join(map(str, part))
            rows = store.arrow(
                f"select {_columns(table.name)} from {table.name} where {table.unit} "
                f"in ({listed})"
            )
            yield from as_stored(rows, table.name).to_batches()

    return pa.RecordBatchReader.from_batches(schema, batches())


def units_table(marked: dict[str, Marks]) -> pa.Table:
    """The marks of all units, by kind and number."""
    rows: list[tuple[Any, ...]] = []
    for kind, marks in sorted(marked.items()):
        rows += [(kind, unit, mark) for unit, mark in sorted(marks.items())]
    columns = []
    for place, field in enumerate(UNITS_SCHEMA):
        columns.append(pa.array([row[place] for row in rows], field.type))
    return pa.table(columns, schema=UNITS_SCHEMA)


def digest(rows: pa.Table, name: str) -> str:
    """A digest of the rows of a table, in whatever order they come; equal where the
    rows are."""
    return digests(rows, name)[0][1]


def digests(rows: Any, name: str, unit: str = "") -> dict[int, tuple[int, str]]:
    """How many rows each unit has, and what they add up to; without units all rows
    under 0.

    Args:
        rows: a table, a dataset or a reader of batches.
        name: of the table.
        unit: column that says which unit a row belongs to.
    """
    listed = _columns(name)
    group, by = ("0", "")
    if unit:
        group = unit
        by = f" group by {unit}"
    scratch = engines.open_scratch()
    try:
        scratch.register("rows_of_lake", rows)
        totals = scratch.execute(
            f"select {group}, count(*), coalesce(cast(sum(cast(hash({listed}) as "
            f"hugeint)) as varchar), '0') from rows_of_lake{by}"
        ).fetchall()
    finally:
        scratch.close()
    found = {}
    for key, n, total in totals:
        unit_of_rows = -1
        if key is not None:
            unit_of_rows = int(key)
        found[unit_of_rows] = (int(n), str(total))
    return found


def _columns(name: str) -> str:
    return ", ".join(f'"{column}"' for column in schema_of(name).names)


#: What a source that is loaded keeps for good.
_FIXED = ("id", "sha256", "settings_key", "claimed_at")


def require_same_store(store: Store, lake: LakeLocation, version: LakeVersion) -> None:
    """Refuse to bring a lake up from a store that it was not made from, or from an
    older copy of it.

    Raises:
        MisuseError: a source of the lake has another number in the store, or none of
            them is there.
        StoreError: the lake has a source that the store has never had.
    """
    ours = _sources(store)
    theirs = _sources_of(lake, version)
    if not theirs:
        return
    next_id = 1
    counters = "select next_id from id_counter where table_name = 'source'"
    for row in store.rows(counters):
        next_id = row["next_id"]
    ahead = sorted(
        number for number in theirs if number not in ours and number >= next_id
    )
    other = any(
        ours[number] != source for number, source in theirs.items() if number in ours
    )
    if other or not (ours.keys() & theirs.keys() or ahead or not ours):
        raise MisuseError(
            f"the lake {lake} was made from another store than {store.name}; choose "
            f"another place, or replace what it holds: warehouse lake sync {lake} "
            "--anew"
        )
    if ahead:
        raise StoreError(
            f"the lake {lake} holds source {ahead[0]}, which {store.name} has never "
            "had: the store is older than the lake; sync from the newer store, or take "
            f"the lake back: warehouse lake sync {lake} --anew"
        )


def _sources(store: Store) -> dict[int, tuple[object, ...]]:
    return _loaded(whole(store, "source").to_pylist())


def _sources_of(
    lake: LakeLocation, version: LakeVersion
) -> dict[int, tuple[object, ...]]:
    if "source" not in version.tables:
        return {}
    table = lake.require("source", version.tables["source"].version)
    with lake.translating_errors("source"):
        rows = table.to_pyarrow_dataset().to_table(columns=schema_of("source").names)
    return _loaded(rows.to_pylist())


def _loaded(rows: list[dict[str, object]]) -> dict[int, tuple[object, ...]]:
    loaded: dict[int, tuple[object, ...]] = {}
    for row in rows:
        if row["state"] == "loaded":
            loaded[int(str(row["id"]))] = tuple(row[name] for name in _FIXED)
    return loaded
