"""Everything that differs between the engines: one frozen record per engine, and its
functions.

No module outside this package names an engine.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from warehouse.errors import DiskFullError, MisuseError, StoreError, cause_of
from warehouse.store.alchemy import sa
from warehouse.store.engines.base import Dialect as Dialect
from warehouse.store.engines.base import Limits as Limits
from warehouse.store.engines.base import OwnObjects as OwnObjects
from warehouse.store.engines.base import interrupted_after as interrupted_after
from warehouse.store.engines.base import json_text as json_text
from warehouse.store.engines.duckdb import CHECKPOINT_THRESHOLD as CHECKPOINT_THRESHOLD
from warehouse.store.engines.duckdb import DUCKDB
from warehouse.store.engines.duckdb import LARGE_COMMIT as LARGE_COMMIT
from warehouse.store.engines.duckdb import expect_source as expect_source
from warehouse.store.engines.duckdb import input_error as input_error
from warehouse.store.engines.duckdb import is_loaded as is_loaded
from warehouse.store.engines.duckdb import is_published as is_published
from warehouse.store.engines.duckdb import load as load
from warehouse.store.engines.duckdb import more_memory as more_memory
from warehouse.store.engines.duckdb import open_scratch as open_scratch
from warehouse.store.engines.duckdb import out_of_memory as out_of_memory
from warehouse.store.engines.duckdb_tables import FEW_ROWS as FEW_ROWS
from warehouse.store.engines.duckdb_tables import column_type as column_type
from warehouse.store.engines.duckdb_tables import few_rows as few_rows
from warehouse.store.engines.postgresql import POSTGRESQL
from warehouse.store.engines.reading import ReadingConnection, ReadingEngine
from warehouse.store.engines.spark import SPARK
from warehouse.store.engines.spark_tasks import Executors as Executors
from warehouse.store.engines.urls import DEFAULT_FILE as DEFAULT_FILE
from warehouse.store.engines.urls import DEFAULT_URL as DEFAULT_URL
from warehouse.store.engines.urls import LOCAL, REMOTE
from warehouse.store.engines.urls import hint_on_slashes as hint_on_slashes
from warehouse.store.engines.urls import parse_url as parse_url
from warehouse.store.engines.urls import shown_reader as shown_reader
from warehouse.store.engines.urls import shown_text as shown_text
from warehouse.store.engines.urls import shown_url as shown_url
from warehouse.store.engines.urls import without_secrets as without_secrets

#: A full disk, a quota that is used up, and a limit on the size of files.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: An index of facts, which come sorted: it keeps the range of each stretch of pages,
#: and so costs next to nothing to maintain (a tree costs as much as the rows
#: themselves).
SORTED_INDEX: dict[str, Any] = {"postgresql_using": "brin"}


DIALECTS = {dialect.name: dialect for dialect in (DUCKDB, POSTGRESQL, SPARK)}
_BY_URL = {
    DUCKDB.name: DUCKDB,
    POSTGRESQL.name: POSTGRESQL,
    LOCAL: SPARK,
    REMOTE: SPARK,
}


def dialect_of(url: sa.URL) -> Dialect:
    """The record of the engine that a URL names (MisuseError: no such engine)."""
    name = url.get_backend_name()
    if name not in _BY_URL:
        raise MisuseError(
            f"no engine '{name}'; a store URL starts with duckdb:/// or postgresql://, "
            "that of a lake with sail: or sc://"
        )
    return _BY_URL[name]


def before_statements(
    engine: sa.Engine | ReadingEngine, listener: Callable[..., Any]
) -> None:
    """Have a listener change each statement of SQLAlchemy before it runs
    (``before_cursor_execute``); a lake's engine takes none."""
    if isinstance(engine, ReadingEngine):
        engine.listener = listener
    elif isinstance(engine, sa.Engine):
        sa.event.listen(engine, "before_cursor_execute", listener, retval=True)


def full_connection(connection: sa.Connection | ReadingConnection) -> sa.Connection:
    """A connection of SQLAlchemy, for its functions that take one."""
    if isinstance(connection, ReadingConnection):
        return connection.full()
    return connection


def wants_foreign_keys(*_args: Any, dialect: sa.Dialect, **_options: Any) -> bool:
    """Condition of a foreign key's DDL: only where the engine can live with it."""
    return DIALECTS[dialect.name].foreign_keys


def wants_indexes(*_args: Any, dialect: sa.Dialect, **_options: Any) -> bool:
    """Condition of an index's DDL."""
    return DIALECTS[dialect.name].indexes


def is_shared(connection: sa.Connection) -> bool:
    """True if other processes may write to the store while this connection is open."""
    return not DIALECTS[connection.dialect.name].embedded


def upsert(table: sa.Table) -> Any:
    """An INSERT that takes ``on_conflict_do_nothing`` and ``on_conflict_do_update``."""
    from sqlalchemy.dialects.postgresql import insert

    return insert(table)


def vector_type() -> sa.types.TypeEngine[Any]:
    """Embedding vectors: a list of 32-bit floats of any length."""
    return sa.ARRAY(sa.REAL)


def register_tables() -> None:
    """Teach SQLAlchemy how an engine writes a table, where that is not its own way."""
    from warehouse.store.engines import duckdb_ddl  # noqa: F401


def register_migrations() -> None:
    """Teach the migration tool the engines that it does not know by itself."""
    from warehouse.store.engines import duckdb_migrations  # noqa: F401

    register_tables()


def value_error(error: BaseException) -> bool:
    """True if an engine refused a value: of the wrong form, too large, missing, or no
    text."""
    import duckdb

    return (
        isinstance(
            error,
            sa.exc.DataError
            | sa.exc.IntegrityError
            | UnicodeEncodeError
            | duckdb.ConversionException
            | duckdb.OutOfRangeException
            | duckdb.ConstraintException,
        )
        or too_long(error)
        or _sqlstate(error)[:2] in ("22", "23")
    )


def entered_already(error: BaseException) -> bool:
    """True if an engine refused a row because one of the same natural key is there:
    whether the statement went by way of SQLAlchemy, or around it as bulk inserts do."""
    import duckdb

    duplicate = isinstance(
        cause_of(error), duckdb.ConstraintException
    ) and "uplicate key" in str(error)
    return duplicate or _sqlstate(error) == "23505"


@contextmanager
def failing_anyway() -> Iterator[None]:
    """Clean up after an engine error. If that fails too, the first error is reported,
    and the rest is released with the connection."""
    try:
        yield
    except Exception as error:
        cause = cause_of(error)
        if not any(dialect.query_error(cause) for dialect in DIALECTS.values()):
            raise


#: What to do where a server refuses or ends a statement; by the code that it gives.
_ADVICE = {
    "42501": (
        "Ask as the owner, or as the role that the owner makes: warehouse store reader "
        "ROLE"
    ),
    "57014": (
        "Ask for less, or let the server's statement_timeout be raised if it was not "
        "somebody who ended it"
    ),
    "57P01": "Run the same again when the server is back",
    "53300": "Try again later, or let the server's max_connections be raised",
}


def advice_on(error: BaseException) -> str:
    """Advice on an error of a server that is no damage of the store; empty for any
    other."""
    return _ADVICE.get(_sqlstate(cause_of(error)), "")


def store_failure(error: BaseException) -> StoreError | None:
    """The meaning of an engine's error to whoever asked, with what to do; None if no
    engine raised it."""
    cause = cause_of(error)
    messages = [dialect.query_error(cause) for dialect in DIALECTS.values()]
    message = next((message.splitlines()[0] for message in messages if message), None)
    if message is None:
        return None
    if reason := disk_full(error):
        return DiskFullError(reason)
    return StoreError(
        f"the store failed: {message}\n{advice_on(error) or 'See: warehouse store check'}"
    )


def disk_full(error: BaseException | None) -> str:
    """Why an engine or the system had no room for what was to be written, in its words;
    empty if an error has another cause."""
    while error is not None:
        cause = cause_of(error)
        full = isinstance(cause, OSError) and cause.errno in _NO_ROOM
        if (
            full
            or _sqlstate(cause) == "53100"
            or any(words in str(cause) for words in map(os.strerror, _NO_ROOM))
        ):
            return str(cause).strip().splitlines()[0]
        error = error.__cause__ or error.__context__
    return ""


def too_long(error: BaseException) -> bool:
    """True if an engine refused a text because it is too long for an index."""
    return _sqlstate(error) == "54000"


def forbidden(error: BaseException) -> bool:
    """True if a server refused what the role may not do."""
    return _sqlstate(error) == "42501"


def only_reads(error: BaseException) -> bool:
    """True if a server refused what nobody may do there, as on one that follows
    another."""
    return _sqlstate(error) == "25006"


def _sqlstate(error: BaseException) -> str:
    """The code that a server gives an error, also one that no layer between has
    wrapped."""
    cause = cause_of(error)
    return str(getattr(cause, "sqlstate", None) or "")


def scratch_of(connection: sa.Connection) -> Any | None:
    """The store's own connection where it can serve as the scratch space, else
    ``None``."""
    if connection.dialect.name != DUCKDB.name:
        return None
    return connection.connection.driver_connection
