"""Everything that differs between the engines: one frozen record per engine, and its functions.

No other module names an engine. A :class:`Dialect` says what an engine can do; the functions in
it open connections, tell a held lock from another failure, run one SELECT into Arrow, and append
Arrow data to a table.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray
from sqlalchemy.dialects.postgresql import insert

from warehouse.errors import MisuseError, StoreError
from warehouse.store.binds import rename_binds

#: Memory that a connection which loads may use before it spills to disk; more makes it no faster.
#: Connections that read have the engine's own limit. WAREHOUSE_MEMORY_LIMIT overrides both.
MEMORY_LIMIT = "600MB"
#: Log size at which an embedded file is tidied up; each time rewrites the ends of its tables.
CHECKPOINT_THRESHOLD = "64MB"

#: An index of facts, which come sorted: it keeps the range of each stretch of pages, and so costs
#: next to nothing to maintain (a tree costs as much as the rows themselves).
SORTED_INDEX: dict[str, Any] = {"postgresql_using": "brin"}

#: Bytes before the first row of a binary COPY without extensions.
_COPY_HEADER = 19
_OTHER_LENGTH = (
    "a stored vector has another length than its embedder says ({dimension}); embed the prompts"
    " again under another name: warehouse embed --embedder NAME=MODEL"
)


@dataclass(frozen=True)
class Dialect:
    """What one engine can do, and how.

    Attributes:
        foreign_keys: a table that a foreign key points to can still be migrated.
        indexes: one index per fact table pays for itself.
        embedded: the store is a file that one process holds at a time.
        exists: whether there is something to open at a URL.
        open_engine: (url, write, guarded) to a SQLAlchemy engine.
        lock_holder: who holds the store, if an error says that somebody does, else ``None``.
        retryable: an error after which the same transaction may succeed (deadlock, serialisation).
        select: run one SELECT with ``:name`` parameters on an open connection, into Arrow.
        append: append a stream of Arrow batches to a table, by column name; returns the rows, and
            counts by column the characters U+0000 that the engine cannot store.
        vectors: rows of a SELECT of an id and a vector of so many 32-bit numbers, without
            parameters, as two arrays; no Python object per number.
        guard: make the open connection unable to write or to reach out.
        exclusive: serialise short transactions between writers (a lock until commit).
        beside: let a long transaction run beside others that have no key (a text) in common with
            it; comes before ``exclusive`` in a transaction.
        alone: wait for all of those, and then as ``exclusive``.
        reserve: (connection, key, patient) take a key for this process until ``release``; ``False``
            if another one has it, unless patient: then wait for it.
        release: give such a key back.
        require_select: refuse a text that is not one SELECT (``MisuseError``).
        tidy: after a load, count rows for the planner.
        snapshot: write one state of the whole store to a new embedded file, without keeping
            anybody from reading; ``None`` where readers never wait for writers anyway.
        query_error: what the engine says of a statement that a user wrote, ``None`` if an error
            has another cause.
        hold: become the one process that refreshes the store at a URL: what lets go of it again,
            ``None`` while another process is that one. However the holder ends, the system or the
            server lets go for it; readers and writers are not kept out.
    """

    name: str
    foreign_keys: bool
    indexes: bool
    embedded: bool
    exists: Callable[[sa.URL], bool]
    open_engine: Callable[[sa.URL, bool, bool], sa.Engine]
    lock_holder: Callable[[BaseException], str | None]
    retryable: Callable[[BaseException], bool]
    select: Callable[[sa.Connection, str, Mapping[str, Any]], pa.Table]
    append: Callable[[sa.Connection, str, pa.RecordBatchReader, Counter[str]], int]
    vectors: Callable[[sa.Connection, str, int], tuple[NDArray[np.int64], NDArray[np.float32]]]
    guard: Callable[[sa.Connection], None]
    exclusive: Callable[[sa.Connection], None]
    beside: Callable[[sa.Connection, Iterable[str]], None]
    alone: Callable[[sa.Connection], None]
    reserve: Callable[[sa.Connection, str, bool], bool]
    release: Callable[[sa.Connection, str], None]
    require_select: Callable[[sa.Connection, str], None]
    tidy: Callable[[sa.Connection], None]
    query_error: Callable[[BaseException], str | None]
    snapshot: Callable[[sa.URL, Path], None] | None
    hold: Callable[[sa.URL], Callable[[], None] | None]


def dialect_of(url: sa.URL) -> Dialect:
    """The record of the engine that a URL names.

    Raises:
        MisuseError: no such engine.
    """
    name = url.get_backend_name()
    if name not in DIALECTS:
        raise MisuseError(
            f"no engine '{name}'; a store URL starts with duckdb:/// or postgresql://"
        )
    return DIALECTS[name]


def parse_url(url: str) -> sa.URL:
    """A store URL; a bare path means an embedded file, a server URL gets our driver.

    Raises:
        MisuseError: not a URL.
    """
    if "://" not in url:
        return sa.URL.create("duckdb", database=url)
    try:
        parsed = sa.make_url(url)
    except sa.exc.ArgumentError:
        raise MisuseError(f"'{url}' is not a store URL; expected duckdb:///file") from None
    if parsed.get_backend_name() in ("postgres", "postgresql"):
        return parsed.set(drivername="postgresql+psycopg")
    return parsed


def wants_foreign_keys(*_args: Any, dialect: sa.Dialect, **_options: Any) -> bool:
    """Condition of a foreign key's DDL: only where the engine can live with it."""
    return DIALECTS[dialect.name].foreign_keys


def wants_indexes(*_args: Any, dialect: sa.Dialect, **_options: Any) -> bool:
    """Condition of an index's DDL."""
    return DIALECTS[dialect.name].indexes


def is_shared(connection: sa.Connection) -> bool:
    """Whether other processes may write to the store while this connection is open."""
    return not DIALECTS[connection.dialect.name].embedded


def upsert(table: sa.Table) -> Any:
    """An INSERT that takes ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    return insert(table)


def vector_type() -> sa.types.TypeEngine[Any]:
    """Embedding vectors: a list of 32-bit floats of any length."""
    return sa.ARRAY(sa.REAL)


def register_migrations() -> None:
    """Teach the migration tool the engines that it does not know by itself."""
    import alembic.ddl.impl  # noqa: F401  (must come first)
    import duckdb_sqlalchemy.alembic_impl  # noqa: F401


def workbench(temporary_folder: Path | None = None) -> Any:
    """An in-memory connection that parses dumps, for stores that cannot do it themselves."""
    import duckdb

    return duckdb.connect(":memory:", config=_settings(temporary_folder, MEMORY_LIMIT))


def input_error(error: BaseException) -> bool:
    """Whether the workbench failed because of what stands in a file; a message that quotes bytes
    which are no UTF-8 arrives as an error of its own."""
    import duckdb

    return isinstance(
        error,
        UnicodeDecodeError |
        duckdb.InvalidInputException | duckdb.ConversionException | duckdb.OutOfRangeException
        | duckdb.BinderException | duckdb.IOException | duckdb.ParserException,
    )  # fmt: skip


def value_error(error: BaseException) -> bool:
    """Whether an engine refused a value: of the wrong form, too large, missing, or no text."""
    import duckdb

    return isinstance(
        error,
        sa.exc.DataError | sa.exc.IntegrityError | UnicodeEncodeError
        | duckdb.ConversionException | duckdb.OutOfRangeException | duckdb.ConstraintException,
    ) or too_long(error)  # fmt: skip


def too_long(error: BaseException) -> bool:
    """Whether an engine refused a text because it is too long for an index."""
    cause = getattr(error, "orig", None) or error
    return getattr(cause, "sqlstate", None) == "54000"


def _json_text(value: Any) -> str:
    """JSON of a value; NaN and infinities, which JSON lacks, are null."""
    try:
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # integers beyond 64 bits
        return json.dumps(value)


def workbench_of(connection: sa.Connection) -> Any | None:
    """The store's own connection where it can serve as the workbench, else ``None``."""
    if connection.dialect.name != DUCKDB.name:
        return None
    return connection.connection.driver_connection


# --- DuckDB ----------------------------------------------------------------------------------


def _settings(temporary_folder: Path | None, memory: str | None) -> dict[str, Any]:
    limit = os.environ.get("WAREHOUSE_MEMORY_LIMIT", memory)
    settings = {"memory_limit": limit} if limit else {}
    if temporary_folder is not None:
        settings["temp_directory"] = str(temporary_folder)
    return settings


def _duckdb_exists(url: sa.URL) -> bool:
    return Path(url.database or "").exists()


def _duckdb_engine(url: sa.URL, write: bool, guarded: bool) -> sa.Engine:
    path = Path(url.database or "")
    if not path.parent.is_dir():
        raise StoreError(f"the folder {path.parent} does not exist; create it first")
    config = _settings(path.with_name(path.name + ".tmp"), MEMORY_LIMIT if write else None)
    if write:
        config["storage_compatibility_version"] = "v1.5.0"
        config["checkpoint_threshold"] = CHECKPOINT_THRESHOLD
    if guarded:
        config |= {"enable_external_access": "false", "lock_configuration": "true"}
        del config["temp_directory"]
    arguments = {"read_only": not write, "config": config}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return sa.create_engine(
            url, connect_args=arguments, poolclass=sa.pool.NullPool, json_serializer=_json_text
        )


_HOLDER = re.compile(r"Conflicting lock is held in (.*?)\(PID (\d+)\)", re.DOTALL)


def _duckdb_holder(error: BaseException) -> str | None:
    found = _HOLDER.search(str(error))
    return f"process {found.group(2)} ({found.group(1).strip()})" if found else None


def _duckdb_select(connection: sa.Connection, sql: str, params: Mapping[str, Any]) -> pa.Table:
    raw: Any = connection.connection.driver_connection
    text, used = rename_binds(sql, "$")
    cursor = raw.execute(text, {name: params[name] for name in used})
    table: pa.Table = cursor.to_arrow_table()
    return table


def _duckdb_append(
    connection: sa.Connection, table: str, reader: pa.RecordBatchReader, _replaced: Counter[str]
) -> int:
    raw: Any = connection.connection.driver_connection
    raw.register("appended", reader)
    try:
        raw.execute(f'insert into "{table}" by name select * from appended')
        return int(raw.fetchone()[0])
    finally:
        raw.unregister("appended")


def _duckdb_vectors(
    connection: sa.Connection, sql: str, dimension: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    table = _duckdb_select(connection, sql, {})
    ids = [_in_buffer(chunk, np.int64) for chunk in table.column(0).chunks]
    numbers = [_in_buffer(chunk.flatten(), np.float32) for chunk in table.column(1).chunks]
    found = np.concatenate([np.empty(0, np.int64), *ids])
    flat = np.concatenate([np.empty(0, np.float32), *numbers])
    if flat.size != len(found) * dimension:
        raise StoreError(_OTHER_LENGTH.format(dimension=dimension))
    return found, flat.reshape(len(found), dimension)


def _in_buffer(array: pa.Array, kind: Any) -> NDArray[Any]:
    """The numbers of an array without nulls: ``to_numpy`` would import pandas."""
    return np.frombuffer(array.buffers()[1], kind)[array.offset : array.offset + len(array)]


def _nothing(_connection: sa.Connection, *_more: object) -> None:
    """The embedded engine: a file has one writer, and its guard is set when it is opened."""


def _duckdb_retryable(error: BaseException) -> bool:
    return "Conflict on update" in str(error)


def _duckdb_require_select(connection: sa.Connection, sql: str) -> None:
    import duckdb

    raw: Any = connection.connection.driver_connection
    statements = raw.extract_statements(rename_binds(sql, "$")[0])
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise MisuseError("expected one SELECT; query connections cannot change anything")


def _duckdb_query_error(error: BaseException) -> str | None:
    import duckdb

    return str(error) if isinstance(error, duckdb.Error) else None


def _duckdb_snapshot(url: sa.URL, target: Path) -> None:
    """The engine copies, not the system: closing a file that is open twice in one process would
    drop the lock on it, and what a killed writer left in its log would be missing."""
    import duckdb

    raw = workbench(target.with_name(target.name + ".spill"))
    try:
        raw.execute("set enable_progress_bar = false")
        try:
            raw.execute(f"attach {_literal(url.database or '')} as source_store (read_only)")
        except duckdb.IOException as error:
            raise OSError(str(error)) from None
        raw.execute(f"attach {_literal(str(target))} as target_store (storage_version 'v1.5.0')")
        raw.execute("copy from database source_store to target_store")
        raw.execute("detach target_store")
    except duckdb.Error as error:
        raise StoreError(f"the copy {target} failed: {str(error).splitlines()[0]}") from None
    finally:
        raw.close()


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def is_embedded_file(head: bytes) -> bool:
    """Whether a file that begins so is a store of the embedded engine."""
    return head[8:12] == b"DUCK"


def _duckdb_hold(url: sa.URL) -> Callable[[], None] | None:
    """A lock of the system on a file beside the store; the empty file stays."""
    import fcntl

    path = Path(url.database or "")
    handle = os.open(path.with_name(path.name + ".refresh"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return lambda: os.close(handle)


# --- PostgreSQL ------------------------------------------------------------------------------


def _postgresql_engine(url: sa.URL, _write: bool, _guarded: bool) -> sa.Engine:
    return sa.create_engine(url, poolclass=sa.pool.NullPool, json_serializer=_json_text)


def _postgresql_retryable(error: BaseException) -> bool:
    cause = getattr(error, "orig", error)
    return getattr(cause, "sqlstate", None) in ("40P01", "40001")


def _postgresql_select(connection: sa.Connection, sql: str, params: Mapping[str, Any]) -> pa.Table:
    raw: Any = connection.connection.driver_connection
    text, used = rename_binds(sql.replace("%", "%%"), "%(")
    with raw.cursor(binary=True) as cursor:
        values = {name: params[name] for name in used}
        cursor.execute(text if values else sql, values or None, prepare=True)
        rows = cursor.fetchall()
        columns = list(zip(*rows, strict=True)) if rows else [()] * len(cursor.description)
        fields = [(column.name, _arrow_type(column.type_code)) for column in cursor.description]
    return pa.table(
        [pa.array(_plain(values, kind), type=kind) for values, (_, kind) in zip(columns, fields,
                                                                               strict=True)],
        names=[name for name, _ in fields],
    )  # fmt: skip


def _plain(values: Iterable[Any], kind: pa.DataType) -> list[Any]:
    """Driver values as Arrow takes them: JSON as text, numerics as doubles."""
    if pa.types.is_string(kind):
        import orjson

        return [
            value if value is None or isinstance(value, str) else orjson.dumps(value).decode()
            for value in values
        ]
    if pa.types.is_floating(kind):
        return [None if value is None else float(value) for value in values]
    return list(values)


_ARROW_TYPES = {
    16: pa.bool_(), 17: pa.binary(), 20: pa.int64(), 21: pa.int16(), 23: pa.int32(),
    700: pa.float32(), 701: pa.float64(), 1700: pa.float64(), 1114: pa.timestamp("us"),
    1184: pa.timestamp("us", tz="UTC"), 1082: pa.date32(), 1021: pa.list_(pa.float32()),
}  # fmt: skip


def _arrow_type(oid: int) -> pa.DataType:
    return _ARROW_TYPES.get(oid, pa.string())


def _postgresql_append(
    connection: sa.Connection, table: str, reader: pa.RecordBatchReader, replaced: Counter[str]
) -> int:
    from warehouse.store.binary_copy import encode_stream

    raw: Any = connection.connection.driver_connection
    columns = ", ".join(f'"{name}"' for name in reader.schema.names)
    with raw.cursor() as cursor:
        with cursor.copy(f'copy "{table}" ({columns}) from stdin (format binary)') as copy:
            for block in encode_stream(reader, replaced=replaced):
                copy.write(block)
        return int(cursor.rowcount)


def _postgresql_vectors(
    connection: sa.Connection, sql: str, dimension: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Rows of a binary COPY, all of one width (see ``binary_copy``), cut by numpy."""
    number = np.dtype([("length", ">i4"), ("value", ">f4")])
    row = np.dtype([
        ("fields", ">i2"), ("id_length", ">i4"), ("id", ">i8"), ("length", ">i4"),
        ("head", ">i4", 5), ("numbers", number, dimension),
    ])  # fmt: skip
    raw: Any = connection.connection.driver_connection
    with raw.cursor() as cursor, cursor.copy(f"copy ({sql}) to stdout (format binary)") as copy:
        stream = b"".join(copy)[_COPY_HEADER:-2]
    whole = len(stream) % row.itemsize == 0
    rows = np.frombuffer(stream, row) if whole else np.empty(0, row)
    if not whole or not np.all(rows["head"][:, 3] == dimension):
        raise StoreError(_OTHER_LENGTH.format(dimension=dimension))
    return rows["id"].astype(np.int64), rows["numbers"]["value"].astype(np.float32)


def _postgresql_guard(connection: sa.Connection) -> None:
    """Read-only, bounded in time, and without a superuser's power to read files."""
    connection.exec_driver_sql("reset role")
    if connection.exec_driver_sql("select current_setting('is_superuser')").scalar_one() == "on":
        connection.exec_driver_sql("set role pg_read_all_data")
    connection.exec_driver_sql("set session characteristics as transaction read only")
    connection.exec_driver_sql("set statement_timeout = '300s'")
    connection.commit()


def _postgresql_tidy(connection: sa.Connection) -> None:
    connection.exec_driver_sql("analyze")


#: Advisory locks. Taken in this order, so that no two transactions wait for each other: the lock
#: of all loads (shared by each), the places of their keys, the lock of short transactions.
_ALL_LOADS, _KEYS, _SOURCES, _SHORT = 7236070, 7236072, 7236073, 7236071
#: Keys share so many places: a dump of many runs must not fill the server's table of locks.
_PLACES = 256


def _postgresql_exclusive(connection: sa.Connection) -> None:
    connection.exec_driver_sql(f"select pg_advisory_xact_lock({_SHORT})")


def _postgresql_beside(connection: sa.Connection, keys: Iterable[str]) -> None:
    connection.exec_driver_sql(f"select pg_advisory_xact_lock_shared({_ALL_LOADS})")
    for place in sorted({_number(key) % _PLACES for key in keys}):
        connection.exec_driver_sql(f"select pg_advisory_xact_lock({_KEYS}, {place})")


def _postgresql_alone(connection: sa.Connection) -> None:
    connection.exec_driver_sql(f"select pg_advisory_xact_lock({_ALL_LOADS})")
    _postgresql_exclusive(connection)


def _postgresql_reserve(connection: sa.Connection, key: str, patient: bool) -> bool:
    arguments = f"{_SOURCES}, {_number(key) - 2**31}"
    if patient:
        connection.exec_driver_sql(f"select pg_advisory_lock({arguments})")
        return True
    found = connection.exec_driver_sql(f"select pg_try_advisory_lock({arguments})")
    return bool(found.scalar_one())


def _postgresql_release(connection: sa.Connection, key: str) -> None:
    connection.exec_driver_sql(f"select pg_advisory_unlock({_SOURCES}, {_number(key) - 2**31})")


def _number(key: str) -> int:
    """32 bits of a text."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4])


def _postgresql_require_select(connection: sa.Connection, sql: str) -> None:
    """The server refuses several statements and everything but a query inside a cursor."""
    word = re.match(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(\w+)", sql, re.DOTALL)
    if word is None or word.group(1).lower() not in ("select", "with", "values", "table"):
        raise MisuseError("expected one SELECT; query connections cannot change anything")


def _postgresql_query_error(error: BaseException) -> str | None:
    import psycopg

    cause = getattr(error, "orig", error)
    return str(cause).strip() if isinstance(cause, psycopg.Error) else None


def _postgresql_hold(url: sa.URL) -> Callable[[], None] | None:
    """A lock of a session of its own."""
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool, isolation_level="AUTOCOMMIT")
    connection = engine.connect()

    def let_go() -> None:
        connection.close()
        engine.dispose()

    if connection.exec_driver_sql("select pg_try_advisory_lock(7236072)").scalar_one():
        return let_go
    let_go()
    return None


DUCKDB = Dialect(
    name="duckdb", foreign_keys=False, indexes=False, embedded=True,
    exists=_duckdb_exists, open_engine=_duckdb_engine, lock_holder=_duckdb_holder,
    retryable=_duckdb_retryable,
    select=_duckdb_select, append=_duckdb_append, vectors=_duckdb_vectors,
    guard=_nothing, exclusive=_nothing, beside=_nothing, alone=_nothing,
    reserve=lambda _connection, _key, _patient: True, release=_nothing,
    require_select=_duckdb_require_select,
    tidy=_nothing, query_error=_duckdb_query_error, snapshot=_duckdb_snapshot,
    hold=_duckdb_hold,
)  # fmt: skip
POSTGRESQL = Dialect(
    name="postgresql", foreign_keys=True, indexes=True, embedded=False,
    exists=lambda _url: True, open_engine=_postgresql_engine, lock_holder=lambda _error: None,
    retryable=_postgresql_retryable, select=_postgresql_select, append=_postgresql_append,
    vectors=_postgresql_vectors,
    guard=_postgresql_guard, exclusive=_postgresql_exclusive, beside=_postgresql_beside,
    alone=_postgresql_alone, reserve=_postgresql_reserve, release=_postgresql_release,
    require_select=_postgresql_require_select,
    tidy=_postgresql_tidy, query_error=_postgresql_query_error, snapshot=None,
    hold=_postgresql_hold,
)  # fmt: skip
DIALECTS = {dialect.name: dialect for dialect in (DUCKDB, POSTGRESQL)}
