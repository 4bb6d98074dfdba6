"""PostgreSQL: a server with several writers, kept apart by advisory locks.

They are advisory: whoever can log in can take them. A writer waits for writers as long
as they take, and for a session that can only read a few seconds: it is then named in
the error, with how to end it.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from sys import getsizeof
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.errors import (
    MisuseError,
    QueryLimitError,
    StoreError,
    StoreLockedError,
    cause_of,
)
from warehouse.store.alchemy import sa
from warehouse.store.engines.base import (
    OTHER_LENGTH,
    Dialect,
    Limits,
    OwnObjects,
    json_text,
)
from warehouse.store.engines.postgresql_databases import (
    make_database,
    missing_database,
)
from warehouse.store.engines.postgresql_roles import ROLES, plain_url, require_plain
from warehouse.store.engines.postgresql_rows import Packing, arrow_table, printable
from warehouse.store.engines.reading import ReadingEngine
from warehouse.store.engines.urls import SERVER, PlainUrl, full_url
from warehouse.store.sql.bind_parameters import rename_binds
from warehouse.store.sql.query_files import query_text

#: Taken in this order, so that no two transactions wait for each other: the lock of all
#: loads (shared by each), the places of their keys, the lock of short transactions.
#: Locks of one number and of two (a key's place is the second) never meet, and no
#: number is used in both forms but for what older versions refresh under.
ALL_LOADS = 7236070
KEYS = 7236072
SOURCES = 7236073
SHORT = 7236071
#: Shared by the sessions that have a source reserved.
UNDER_WAY = 7236074
#: Held by the session of the one process that refreshes; and what versions before this
#: one hold for it.
REFRESH, FORMER_REFRESH = 7236075, 7236072
#: Held alone, while statistics are brought up to date after a load.
ANALYZE = 7236076
#: Keys share so many places: a dump of many runs must not fill the server's table of
#: locks.
PLACES = 256
#: Seconds that a writer waits for a session that can only read.
PATIENCE = 10.0
_TIMEOUT = "55P03"


def lock_catalogue(connection: sa.Connection) -> None:
    if not connection.exec_driver_sql(
        f"select pg_try_advisory_xact_lock({SHORT})"
    ).scalar_one():
        _wait(connection, SHORT, f"select pg_advisory_xact_lock({SHORT})")


def prepare(connection: sa.Connection) -> None:
    """The log is written in order: a later commit takes this one to the disk."""
    taken = (
        "select set_config('synchronous_commit', 'off', true), "
        f"pg_try_advisory_xact_lock({SHORT})"
    )
    if not connection.exec_driver_sql(taken).one()[1]:
        _wait(connection, SHORT, f"select pg_advisory_xact_lock({SHORT})")


def lock_shared(connection: sa.Connection, keys: Iterable[str]) -> None:
    if not connection.exec_driver_sql(
        f"select pg_try_advisory_xact_lock_shared({ALL_LOADS})"
    ).scalar_one():
        _wait(
            connection, ALL_LOADS, f"select pg_advisory_xact_lock_shared({ALL_LOADS})"
        )
    slots = sorted({_number(key) % PLACES for key in keys})
    one_after_the_other = (
        f"select pg_advisory_xact_lock({KEYS}, place) from unnest(cast(%(p)s as "
        "int[])) as place"
    )
    _wait(connection, KEYS, one_after_the_other, {"p": slots})


def lock_all(connection: sa.Connection) -> None:
    _wait(connection, ALL_LOADS, f"select pg_advisory_xact_lock({ALL_LOADS})")
    lock_catalogue(connection)


def reserve(
    connection: sa.Connection, keys: Sequence[str], patient: bool
) -> list[bool]:
    if not keys:
        return []
    _wait(connection, UNDER_WAY, *_under_way("pg_advisory_lock_shared", 1))
    _count_under_way(connection, "pg_advisory_lock_shared", len(keys) - 1)
    taken = [
        bool(row[0])
        for row in connection.exec_driver_sql(
            *_of_sources("pg_try_advisory_lock", keys)
        )
    ]
    try:
        for index, key in enumerate(keys):
            if patient and not taken[index]:
                _wait(connection, SOURCES, *_of_sources("pg_advisory_lock", [key]))
                taken[index] = True
    except StoreLockedError:
        release(
            connection,
            [key for key, is_mine in zip(keys, taken, strict=True) if is_mine],
        )
        _count_under_way(connection, "pg_advisory_unlock_shared", taken.count(False))
        connection.commit()  # what a session gives back stays given back
        connection.begin()
        raise
    _count_under_way(connection, "pg_advisory_unlock_shared", taken.count(False))
    return taken


def release(connection: sa.Connection, keys: Sequence[str]) -> None:
    connection.exec_driver_sql(*_of_sources("pg_advisory_unlock", keys))
    _count_under_way(connection, "pg_advisory_unlock_shared", len(keys))


def no_source_reserved(connection: sa.Connection) -> bool:
    return bool(
        connection.exec_driver_sql(
            f"select pg_try_advisory_xact_lock({UNDER_WAY})"
        ).scalar_one()
    )


def refresh_lock(url: sa.URL) -> Callable[[], None] | None:
    """A lock of a session of its own."""
    engine = sa.create_engine(
        full_url(url), poolclass=sa.pool.NullPool, isolation_level="AUTOCOMMIT"
    )
    connection = engine.connect()

    def let_go() -> None:
        connection.close()
        engine.dispose()

    try:
        for number in (REFRESH, FORMER_REFRESH):
            if not connection.exec_driver_sql(
                f"select pg_try_advisory_lock({number})"
            ).scalar_one():
                _refuse_readers(connection, number)
                let_go()
                return None
    except BaseException:
        let_go()
        raise
    return let_go


def _under_way(function: str, times: int) -> tuple[str, dict[str, int]]:
    return f"select {function}({UNDER_WAY}) from generate_series(1, %(n)s)", {
        "n": times
    }


def _count_under_way(connection: sa.Connection, function: str, times: int) -> None:
    """The lock that loads share from the first look at a source to its end, once for
    each: between their transactions too."""
    connection.exec_driver_sql(*_under_way(function, times))


def _of_sources(function: str, keys: Sequence[str]) -> tuple[str, dict[str, list[int]]]:
    """A call of a function for the lock of each source, in this order."""
    text = (
        f"select {function}({SOURCES}, place) from unnest(cast(%(p)s as int[])) as "
        "place"
    )
    return text, {"p": [_number(key) - 2**31 for key in keys]}


def _number(key: str) -> int:
    """32 bits of a text."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4])


def _wait(
    connection: sa.Connection,
    number: int,
    sql: str,
    values: Mapping[str, Any] | None = None,
) -> None:
    """Take locks of one number, after the writers that hold them.

    Raises:
        StoreLockedError: only sessions that cannot write hold one, and still do after
            :data:`PATIENCE`.
    """
    before = connection.exec_driver_sql(
        "select current_setting('lock_timeout')"
    ).scalar_one()
    if before != "0":  # whoever set a bound of his own hears of it
        connection.exec_driver_sql(sql, values)
        return
    while True:
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(
                    f"set local lock_timeout = '{1000 * PATIENCE:.0f}ms'"
                )
                connection.exec_driver_sql(sql, values)
                connection.exec_driver_sql("set local lock_timeout = 0")
            return
        except sa.exc.DBAPIError as error:
            if getattr(cause_of(error), "sqlstate", None) != _TIMEOUT:
                raise
        _refuse_readers(connection, number)


@dataclass(frozen=True)
class _Holder:
    """A session that holds a lock."""

    pid: int
    role: str
    application: str
    can_write: bool


def _refuse_readers(connection: sa.Connection, number: int) -> None:
    """Name the sessions that hold locks of a number, where none of them can write.

    Raises:
        StoreLockedError: as it is so.
    """
    text, _ = rename_binds(query_text("roles", "lock_holders"), "%(")
    holders = [
        _Holder(*row) for row in connection.exec_driver_sql(text, {"number": number})
    ]
    if not holders or any(holder.can_write for holder in holders):
        return
    named = ", ".join(
        f"process {holder.pid} of {holder.role} ({holder.application or 'no name'})"
        for holder in holders
    )
    end = "; ".join(f"select pg_terminate_backend({holder.pid})" for holder in holders)
    raise StoreLockedError(
        f"a lock of writers ({number}) is held by {named}, who can only read; waited "
        f"{PATIENCE:g} s; end the session as its role or as a superuser: {end}"
    )


#: Bytes before the first row of a binary COPY without extensions.
_COPY_HEADER = 19
#: Rows that the server sends at a time where the size of an answer is watched.
ROWS_OF_A_BLOCK = 1000


def _engine(url: sa.URL | PlainUrl, write: bool, limits: Limits | None) -> Any:
    if isinstance(url, PlainUrl) and not write and limits is None:
        return ReadingEngine(
            lambda: _opened(url), lambda raw: None, _roll_back, _around
        )
    engine = sa.create_engine(
        full_url(url), poolclass=sa.pool.NullPool, json_serializer=json_text
    )
    sa.event.listen(engine, "connect", _set_up)
    return engine


#: Names mean what stands in the schema of the store, or is the server's own: nothing of
#: another schema, and nothing temporary, comes before these.
_OWN_SCHEMA = (
    "select set_config('search_path', quote_ident(current_schema()) || ', pg_temp', "
    "false) where current_schema() is not null"
)


def _set_up(connection: Any, _record: Any) -> None:
    """The views are long statements over few rows: compiling one takes seconds, and
    saves none."""
    connection.execute("set jit = off")
    connection.execute(_OWN_SCHEMA)
    connection.commit()


def _opened(url: PlainUrl) -> Any:
    """A connection that only reads."""
    import psycopg

    raw = psycopg.connect(
        host=url.host,
        port=url.port,
        user=url.username,
        password=url.password,
        dbname=url.database,
    )
    _set_up(raw, None)
    raw.read_only = True
    return raw


def _roll_back(raw: Any) -> bool:
    import psycopg

    try:
        raw.rollback()
    except psycopg.Error:
        return False
    return True


def _around(raw: Any) -> tuple[str, Any]:
    """Who asks for SQLAlchemy may write."""
    raw.read_only = None
    return SERVER, raw


def _retryable(error: BaseException) -> bool:
    cause = cause_of(error)
    return getattr(cause, "sqlstate", None) in ("40P01", "40001")


def _select(
    connection: sa.Connection,
    sql: str,
    params: Mapping[str, Any],
    most: int | None = None,
) -> pa.Table:
    import psycopg

    raw: Any = connection.connection.driver_connection
    text, used = rename_binds(sql.replace("%", "%%"), "%(")
    with raw.cursor(binary=True) as cursor:
        values = {name: params[name] for name in used}
        statement = (text, values) if values else (sql, None)
        if (
            most is not None
            and (table := _bounded(cursor, *statement, most=most)) is not None
        ):
            return table
        cursor.execute(*statement, prepare=True)
        try:
            rows = cursor.fetchall()
        except (
            psycopg.DataError
        ) as error:  # the driver's: a time that Python has no form for
            raise OverflowError(str(error)) from None
        return arrow_table(rows, cursor.description)


def _by_id(connection: sa.Connection, sql: str, per: str) -> pa.Table | None:
    raw: Any = connection.connection.driver_connection
    if (packing := Packing.of(raw, sql, per)) is None:
        return None
    with raw.cursor(binary=True) as cursor:
        return packing.unpacked(cursor.execute(packing.packed(sql)).fetchall())


def _bounded(
    cursor: Any, text: str, values: Mapping[str, Any] | None, *, most: int
) -> pa.Table | None:
    """Rows as the server sends them, until they have too many bytes; ``None``: there
    are none."""
    import psycopg

    rows: list[tuple[Any, ...]] = []
    columns: Sequence[Any] = ()
    n_bytes = 0
    try:
        for row in cursor.stream(
            text,
            values,
            size=ROWS_OF_A_BLOCK if psycopg.capabilities.has_stream_chunked() else 1,
        ):
            columns = columns or cursor.description
            rows.append(row)
            n_bytes += sum(map(getsizeof, (row, *row)))
            if n_bytes > most:
                raise QueryLimitError(
                    f"the answer has more than {most / 1e6:.0f} MB",
                    "--memory SIZE",
                    "memory=",
                )
    except psycopg.DataError as error:
        if error.sqlstate is None:  # the driver's: a time that Python has no form for
            raise OverflowError(str(error)) from None
        raise
    if rows:
        return arrow_table(rows, columns)
    return None


def _batches(
    connection: sa.Connection, sql: str, params: Mapping[str, Any], n_rows: int
) -> Iterator[pa.Table]:
    """Through a cursor of the server, which is to plan for all rows and not for the
    first."""
    raw: Any = connection.connection.driver_connection
    text, used = rename_binds(sql.replace("%", "%%"), "%(")
    values = {name: params[name] for name in used}
    statement = (text, values) if values else (sql, None)
    raw.execute("set local cursor_tuple_fraction = 1")
    with raw.cursor("warehouse_batches", binary=True) as cursor:
        cursor.execute(*statement)
        while rows := cursor.fetchmany(n_rows):
            yield arrow_table(rows, cursor.description)


def _interrupt(connection: sa.Connection) -> None:
    raw: Any = connection.connection.driver_connection
    raw.cancel_safe(timeout=5.0)


def _append(
    connection: sa.Connection,
    table: str,
    rows: pa.Table | pa.RecordBatchReader,
    replaced: Counter[str],
) -> int:
    from warehouse.store.engines.binary_copy import encode_stream

    reader = rows
    if isinstance(rows, pa.Table):
        reader = rows.to_reader()
    raw: Any = connection.connection.driver_connection
    columns = ", ".join(f'"{name}"' for name in reader.schema.names)
    with raw.cursor() as cursor:
        with cursor.copy(
            f'copy "{table}" ({columns}) from stdin (format binary)'
        ) as copy:
            for block in encode_stream(reader, replaced=replaced):
                copy.write(block)
        return int(cursor.rowcount)


def _vectors(
    connection: sa.Connection, sql: str, dimension: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
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
    with (
        raw.cursor() as cursor,
        cursor.copy(f"copy ({sql}) to stdout (format binary)") as copy,
    ):
        stream = b"".join(copy)[_COPY_HEADER:-2]
    whole = len(stream) % row.itemsize == 0
    if whole:
        rows = np.frombuffer(stream, row)
    else:
        rows = np.empty(0, row)
    if not whole or not np.all(rows["head"][:, 3] == dimension):
        raise StoreError(OTHER_LENGTH.format(dimension=dimension))
    ids = rows["id"].astype(np.int64)
    return ids, rows["numbers"]["value"].astype(np.float32)


def _guard(connection: sa.Connection, limits: Limits) -> None:
    """A session as if it were new (no settings, locks or prepared statements of an
    earlier query), read-only whatever a query sets, and bounded in time."""
    raw: Any = connection.connection.driver_connection
    connection.rollback()
    raw.autocommit = True
    raw.execute("discard all")
    raw.execute("set jit = off")
    raw.execute(_OWN_SCHEMA)
    raw.execute("set default_transaction_read_only = on")
    raw.execute(f"set statement_timeout = '{round(1000 * limits.seconds)}ms'")
    raw.autocommit = False
    raw.read_only = True


def _analyze(connection: sa.Connection) -> None:
    """Only tables of which a tenth is new: all of a large store take seconds, at every
    load."""
    connection.exec_driver_sql("select pg_stat_force_next_flush()")
    connection.commit()  # then the server has counted this session's rows
    # two at once lock the same tables in another order: one of them ended as a
    # deadlock, after all was loaded
    _wait(connection, ANALYZE, f"select pg_advisory_xact_lock({ANALYZE})")
    changed = connection.exec_driver_sql(
        "select quote_ident(relname) from pg_stat_user_tables where schemaname = "
        "current_schema() and n_mod_since_analyze * 10 > n_live_tup order by 1"
    )
    if names := ", ".join(row[0] for row in changed):
        connection.exec_driver_sql(f"analyze {names}")
    connection.exec_driver_sql(query_text("roles", "range_indexes")).all()


def _require_select(connection: sa.Connection, sql: str) -> None:
    """The server refuses several statements and everything but a query inside a cursor."""
    word = re.match(r"(?:\s|--[^\n]*\n|/\*.*?\*/|\()*(\w+)", sql, re.DOTALL)
    if word is None or word.group(1).lower() not in (
        "select",
        "with",
        "values",
        "table",
    ):
        raise MisuseError(
            "expected one SELECT; query connections cannot change anything"
        )


def _query_error(error: BaseException) -> str | None:
    import psycopg

    cause = cause_of(error)
    if isinstance(cause, psycopg.Error):
        return str(cause).strip()
    return None


def _load() -> None:
    import psycopg  # noqa: F401
    import sqlalchemy.dialects.postgresql.psycopg  # noqa: F401


POSTGRESQL = Dialect(
    name="postgresql",
    foreign_keys=True,
    indexes=True,
    embedded=False,
    is_lake=False,
    load=_load,
    exists=lambda _url: True,
    open_engine=_engine,
    lock_holder=lambda _error: None,
    damaged=lambda _error: False,
    retryable=_retryable,
    select=_select,
    batches=_batches,
    by_id=_by_id,
    sha256_of="sha256(convert_to({}, 'UTF8'))".format,
    interrupt=_interrupt,
    append=_append,
    vectors=_vectors,
    guard=_guard,
    plain_url=plain_url,
    objects=OwnObjects("server_objects"),
    require_plain=require_plain,
    printable=printable,
    roles=ROLES,
    lock_catalogue=lock_catalogue,
    prepare=prepare,
    lock_shared=lock_shared,
    lock_all=lock_all,
    no_source_reserved=no_source_reserved,
    reserve=reserve,
    release=release,
    require_select=_require_select,
    analyze=_analyze,
    query_error=_query_error,
    snapshot=None,
    executors=lambda _url: None,
    refresh_lock=refresh_lock,
    missing_database=missing_database,
    make_database=make_database,
)
