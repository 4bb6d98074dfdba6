"""Arrow tables as DuckDB takes them: types, and a few rows in a statement."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

#: Rows of Arrow data that become a table by way of a text: registering them takes
#: longer than reading so short a text.
FEW_ROWS = 20
_TYPES = {
    "int32": "integer",
    "int64": "bigint",
    "double": "double",
    "bool": "boolean",
    "string": "varchar",
} | {"timestamp[us]": "timestamp"}


def column_type(kind: pa.DataType) -> str:
    """The type of a column that holds Arrow data of a type."""
    if pa.types.is_list(kind):
        return column_type(kind.value_type) + "[]"
    if pa.types.is_struct(kind):
        fields = ", ".join(
            f'"{field.name}" {column_type(field.type)}' for field in kind
        )
        return f"struct({fields})"
    return _TYPES[str(kind)]


def few_rows(table: pa.Table) -> str | None:
    """A SELECT that gives the rows of a small table; None where it has many, or a value
    that is better not written."""
    if table.num_rows > FEW_ROWS or not all(
        str(kind) in _TYPES for kind in table.schema.types
    ):
        return None
    rows = list(zip(*(column.to_pylist() for column in table.columns), strict=True))
    texts: list[list[str | None]] = []
    for row in rows or [(None,) * table.num_columns]:
        written = list(map(_in_row, row))
        if None in written:
            return None
        texts.append(written)
    names = [f'"{name}"' for name in table.column_names]
    kinds = [_TYPES[str(kind)] for kind in table.schema.types]
    columns = [
        f"cast({name} as {kind}) as {name}"
        for name, kind in zip(names, kinds, strict=True)
    ]
    tuples = [", ".join(map(str, row)) for row in texts]
    values = ", ".join(f"({numbers})" for numbers in tuples)
    where = " where false"
    if rows:
        where = ""
    return (
        f"select {', '.join(columns)} from (values {values}) as "
        f"given({', '.join(names)}){where}"
    )


def _in_row(value: Any) -> str | None:
    """A value of a table as it stands in SQL, to be cast; None for long or strange
    texts. Fractions are cast from a text, which loses no digits."""
    if value is None:
        return "null"
    if isinstance(value, str):
        if len(value) < 1000 and value.isprintable():
            return literal(value)
        return None
    if isinstance(value, int):
        return str(value)
    return literal(str(value))


def literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
