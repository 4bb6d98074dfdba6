"""What a lake holds: which tables, of which types, and in which parts they are brought up to date."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import pyarrow as pa
import sqlalchemy as sa

from warehouse.store.schema import tables
from warehouse.store.sql import query_files


@dataclass(frozen=True)
class LakeTable:
    """One table of a lake, under the name that it has in the store.

    Attributes:
        name: of the table, or of the view that is kept as one.
        unit: column that says which unit a row belongs to; empty: the table is small, and written
            as a whole when anything in it has changed.
        kind: of the units, which is the name of the query that marks them (``queries/lake``).
    """

    name: str
    unit: str = ""
    kind: str = ""


#: Tables of a store that no lake has: texts that were sent and answered, vectors, counters.
LEFT_OUT = ("content", "embedder", "prompt_embedding", "id_counter")
#: Small views that are kept as tables: engines on a lake may lack recursion, and nearly all views join
#: the others, whose many joins would cost a cluster more than any number of scores does.
VIEWS = ("benchmark_tree", "run_current", "headline_metric")
#: The units of a lake with a mark of what is stored of each.
UNITS = "lake_unit"

_BY_UNIT = {
    "generation": ("run_id", "run_marks"),
    "choice": ("run_id", "run_marks"),
    "score": ("run_id", "run_marks"),
    "prompt_score": ("run_id", "run_marks"),
    "run_metric": ("run_id", "run_marks"),
    "prompt": ("benchmark_id", "prompt_marks"),
    "cluster": ("clustering_id", "clustering_marks"),
    "prompt_cluster": ("clustering_id", "clustering_marks"),
    "metric_value": ("refresh_id", "refresh_marks"),
    "analysis": ("id", "analysis_marks"),
}

TABLES = tuple(
    LakeTable(name, *_BY_UNIT.get(name, ())) for name in (*tables.metadata.tables, *VIEWS) if name not in LEFT_OUT
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
#: Types of columns of views that no table has under this name and in this type; others are texts.
_OF_VIEWS = {
    "ancestor_id": pa.int64(),
    "distance": pa.int32(),
    "ancestor_is_root": pa.bool_(),
    "is_leaf": pa.bool_(),
    "is_default": pa.bool_(),
}
UNITS_SCHEMA = pa.schema([("kind", pa.string()), ("unit", pa.int64()), ("mark", pa.string())])


@cache
def schema_of(name: str) -> pa.Schema:
    """Columns of a table of the lake: those of the store, times as UTC, JSON as text."""
    if name == UNITS:
        return UNITS_SCHEMA
    if name in VIEWS:
        columns = [column for column, _ in query_files.find(name).columns]
        return pa.schema(
            [(column, _OF_VIEWS.get(column) or _of_tables().get(column, pa.string())) for column in columns]
        )
    return pa.schema([(column.name, _arrow_type(column.type)) for column in tables.metadata.tables[name].columns])


@cache
def _of_tables() -> dict[str, pa.DataType]:
    """Types of columns of tables by their names, which mean the same in each."""
    schemas = (schema_of(name) for name in tables.metadata.tables if name not in LEFT_OUT)
    return {field.name: field.type for schema in schemas for field in schema}


def _arrow_type(kind: sa.types.TypeEngine[object]) -> pa.DataType:
    return next(arrow_type for wanted, arrow_type in _TYPES if isinstance(kind, wanted))


def as_stored(table: pa.Table, name: str) -> pa.Table:
    """Rows of a table as the lake holds them."""
    schema = schema_of(name)
    return pa.table([_cast(table.column(field.name), field.type) for field in schema], schema=schema)


def _cast(values: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    if isinstance(values.type, pa.ExtensionType):
        values = pa.chunked_array([chunk.storage for chunk in values.chunks], values.type.storage_type)
    return values.cast(kind)
