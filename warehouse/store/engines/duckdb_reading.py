"""A file that is only read: its connection, and what queries that people type may do
there."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from warehouse.errors import MisuseError
from warehouse.store.alchemy import sa
from warehouse.store.engines.reading import ReadingEngine
from warehouse.store.sql.bind_parameters import bare_text


def file_engine(open_raw: Callable[[], Any]) -> ReadingEngine:
    """Opens a file for reading."""
    return ReadingEngine(open_raw, lambda raw: raw.begin(), _roll_back, _around)


def _roll_back(raw: Any) -> bool:
    import duckdb

    try:
        raw.rollback()
    except duckdb.TransactionException:
        pass  # the engine ended it by itself
    except duckdb.Error:
        return False
    return True


def _around(raw: Any) -> tuple[str, Any]:
    from warehouse.store.engines.duckdb_dialect import DRIVER, Connection

    return DRIVER, Connection(raw)


#: Types whose values Arrow, Parquet, JSON and a table all have; the wider ones lose
#: digits there.
_PLAIN = frozenset(
    {
        *(
            "boolean",
            "tinyint",
            "smallint",
            "integer",
            "bigint",
            "hugeint",
            "utinyint",
            "usmallint",
            "uinteger",
        ),
        *(
            "ubigint",
            "float",
            "double",
            "decimal",
            "varchar",
            "blob",
            "uuid",
            "enum",
            "json",
            "sqlnull",
            "null",
        ),
    }
)
_TIMES = frozenset(
    {
        "date",
        "timestamp",
        "timestamp_s",
        "timestamp_ms",
        "timestamp_ns",
        "timestamp with time zone",
    }
)
_NESTED = frozenset({"list", "array", "struct", "map"})

#: Functions that a SELECT could do more with than read: they set what the connection
#: keeps (and leave it broken where that wants a file), write, take addresses in memory,
#: or run a text as SQL.
_REFUSED = re.compile(
    r"\b(enable_logging|disable_logging|truncate_duckdb_logs|write_log|enable_profiling"
    r"|disable_profiling|enable_profile|disable_profile|force_checkpoint|checkpoint|import_database"
    r"|copy_database|arrow_scan|arrow_scan_dumb|pandas_scan|python_map_function|query|query_table"
    r"|json_execute_serialized_sql)\s*\(",
    re.IGNORECASE,
)


def refuse_functions(sql: str) -> None:
    """Refuse a query that calls a function which does more than read (MisuseError:
    names it)."""
    if call := _REFUSED.search(bare_text(sql)):
        raise MisuseError(
            f"a query may not call {call[1].lower()}: it does more than read"
        )


def printable(
    connection: sa.Connection,
    sql: str,
    params: Mapping[str, Any],
    times_too: bool,
    written: Callable[[str, Mapping[str, Any]], tuple[str, Any]],
) -> str:
    """The SELECT with columns of other types cast to text; unchanged if the engine
    rejects it, so that the user sees its error."""
    import duckdb

    raw: Any = connection.connection.driver_connection
    try:
        text, bound = written(f"select * from (\n{sql}\n) limit 0", params)
        columns = raw.sql(text, params=bound).description
    except duckdb.Error:
        return sql
    if times_too:
        plain = _PLAIN
    else:
        plain = _PLAIN | _TIMES
    if all(_is_plain(kind, plain) for _, kind, *_ in columns):
        return sql
    inner = [f"c{number}" for number in range(len(columns))]
    described = raw.execute(
        *written(f"describe\n{sql}", params)
    ).fetchall()  # names as they are
    outer = ", ".join(
        "{} as {}".format(
            column if _is_plain(kind, plain) else f"cast({column} as varchar)",
            '"' + name.replace('"', '""') + '"',
        )
        for column, (name, *_), (_, kind, *_) in zip(
            inner, described, columns, strict=True
        )
    )
    return f"select {outer} from (\n{sql}\n) as q({', '.join(inner)})"


def _is_plain(kind: Any, plain: frozenset[str]) -> bool:
    name = str(kind.id)
    if name in _NESTED:
        parts = [part for part in kind.children if not isinstance(part[1], int)]
        named = name != "struct" or all(field for field, _ in parts)
        return named and all(_is_plain(part, plain) for _, part in parts)
    return name in plain or str(kind).lower() in plain
