"""PostgreSQL: a server with several writers, kept apart by advisory locks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from sys import getsizeof
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.errors import MisuseError, QueryLimitError, StoreError, cause_of
from warehouse.store.alchemy import sa
from warehouse.store.engines import postgresql_locks as locks
from warehouse.store.engines.base import OTHER_LENGTH, Dialect, json_text
from warehouse.store.engines.limits import Limits
from warehouse.store.engines.postgresql_roles import ROLES, plain_url, require_plain
from warehouse.store.engines.postgresql_rows import arrow_table
from warehouse.store.engines.postgresql_types import printable
from warehouse.store.sql.bind_parameters import rename_binds

#: Bytes before the first row of a binary COPY without extensions.
_COPY_HEADER = 19
#: Rows that the server sends at a time where the size of an answer is watched.
ROWS_OF_A_BLOCK = 1000


def _engine(url: sa.URL, _write: bool, _limits: Limits | None) -> sa.Engine:
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool, json_serializer=json_text)
    sa.event.listen(engine, "connect", _set_up)
    return engine


def _set_up(connection: Any, _record: Any) -> None:
    """The views are long statements over few rows: compiling one takes seconds, and saves none."""
    connection.execute("set jit = off")
    connection.commit()


def _retryable(error: BaseException) -> bool:
    cause = cause_of(error)
    return getattr(cause, "sqlstate", None) in ("40P01", "40001")


def _select(connection: sa.Connection, sql: str, params: Mapping[str, Any], most: int | None = None) -> pa.Table:
    import psycopg

    raw: Any = connection.connection.driver_connection
    text, used = rename_binds(sql.replace("%", "%%"), "%(")
    with raw.cursor(binary=True) as cursor:
        values = {name: params[name] for name in used}
        statement = (text, values) if values else (sql, None)
        if most is not None and (table := _bounded(cursor, *statement, most=most)) is not None:
            return table
        cursor.execute(*statement, prepare=True)
        try:
            rows = cursor.fetchall()
        except psycopg.DataError as error:  # the driver's: a time that Python has no form for
            raise OverflowError(str(error)) from None
        return arrow_table(rows, cursor.description)


def _bounded(cursor: Any, text: str, values: Mapping[str, Any] | None, *, most: int) -> pa.Table | None:
    """Rows as the server sends them, until they have too many bytes; ``None``: there are none."""
    import psycopg

    rows: list[tuple[Any, ...]] = []
    columns: Sequence[Any] = ()
    n_bytes = 0
    try:
        for row in cursor.stream(
            text, values, size=ROWS_OF_A_BLOCK if psycopg.capabilities.has_stream_chunked() else 1
        ):
            columns = columns or cursor.description
            rows.append(row)
            n_bytes += sum(map(getsizeof, (row, *row)))
            if n_bytes > most:
                raise QueryLimitError(f"the answer has more than {most / 1e6:.0f} MB", "--memory SIZE", "memory=")
    except psycopg.DataError as error:
        if error.sqlstate is None:  # the driver's: a time that Python has no form for
            raise OverflowError(str(error)) from None
        raise
    return arrow_table(rows, columns) if rows else None


def _interrupt(connection: sa.Connection) -> None:
    raw: Any = connection.connection.driver_connection
    raw.cancel_safe(timeout=5.0)


def _append(connection: sa.Connection, table: str, reader: pa.RecordBatchReader, replaced: Counter[str]) -> int:
    from warehouse.store.engines.binary_copy import encode_stream

    raw: Any = connection.connection.driver_connection
    columns = ", ".join(f'"{name}"' for name in reader.schema.names)
    with raw.cursor() as cursor:
        with cursor.copy(f'copy "{table}" ({columns}) from stdin (format binary)') as copy:
            for block in encode_stream(reader, replaced=replaced):
                copy.write(block)
        return int(cursor.rowcount)


def _vectors(connection: sa.Connection, sql: str, dimension: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Rows of a binary COPY, all of one width (see ``binary_copy``), cut by numpy."""
    number = np.dtype([("length", ">i4"), ("value", ">f4")])
    row = np.dtype(
        [
            ("fields", ">i2"),
            ("id_length", ">i4"),
            ("id", ">i8"),
            ("length", ">i4"),
            ("head", ">i4", 5),
            ("numbers", number, dimension),
        ]
    )
    raw: Any = connection.connection.driver_connection
    with raw.cursor() as cursor, cursor.copy(f"copy ({sql}) to stdout (format binary)") as copy:
        stream = b"".join(copy)[_COPY_HEADER:-2]
    whole = len(stream) % row.itemsize == 0
    rows = np.frombuffer(stream, row) if whole else np.empty(0, row)
    if not whole or not np.all(rows["head"][:, 3] == dimension):
        raise StoreError(OTHER_LENGTH.format(dimension=dimension))
    return rows["id"].astype(np.int64), rows["numbers"]["value"].astype(np.float32)


def _guard(connection: sa.Connection, limits: Limits) -> None:
    """A session as if it were new (no settings, locks or prepared statements of an earlier query),
    read-only whatever a query sets, and bounded in time."""
    raw: Any = connection.connection.driver_connection
    connection.rollback()
    raw.autocommit = True
    raw.execute("discard all")
    raw.execute("set jit = off")
    raw.execute("set default_transaction_read_only = on")
    raw.execute(f"set statement_timeout = '{round(1000 * limits.seconds)}ms'")
    raw.autocommit = False
    raw.read_only = True


def _analyze(connection: sa.Connection) -> None:
    """Only tables of which a tenth is new: all of a large store take seconds, at every load."""
    connection.exec_driver_sql("select pg_stat_force_next_flush()")
    connection.commit()  # then the server has counted this session's rows
    changed = connection.exec_driver_sql(
        "select quote_ident(relname) from pg_stat_user_tables where schemaname = current_schema()"
        " and n_mod_since_analyze * 10 > n_live_tup order by 1"
    )
    if names := ", ".join(row[0] for row in changed):
        connection.exec_driver_sql(f"analyze {names}")


def _require_select(connection: sa.Connection, sql: str) -> None:
    """The server refuses several statements and everything but a query inside a cursor."""
    word = re.match(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(\w+)", sql, re.DOTALL)
    if word is None or word.group(1).lower() not in ("select", "with", "values", "table"):
        raise MisuseError("expected one SELECT; query connections cannot change anything")


def _query_error(error: BaseException) -> str | None:
    import psycopg

    cause = cause_of(error)
    return str(cause).strip() if isinstance(cause, psycopg.Error) else None


POSTGRESQL = Dialect(
    name="postgresql",
    foreign_keys=True,
    indexes=True,
    embedded=False,
    is_lake=False,
    exists=lambda _url: True,
    open_engine=_engine,
    lock_holder=lambda _error: None,
    damaged=lambda _error: False,
    retryable=_retryable,
    select=_select,
    interrupt=_interrupt,
    append=_append,
    vectors=_vectors,
    guard=_guard,
    plain_url=plain_url,
    require_plain=require_plain,
    printable=printable,
    roles=ROLES,
    lock_catalogue=locks.lock_catalogue,
    prepare=locks.prepare,
    lock_shared=locks.lock_shared,
    lock_all=locks.lock_all,
    sole=locks.sole,
    reserve=locks.reserve,
    release=locks.release,
    require_select=_require_select,
    analyze=_analyze,
    query_error=_query_error,
    snapshot=None,
    executors=lambda _url: None,
    refresh_lock=locks.refresh_lock,
)
