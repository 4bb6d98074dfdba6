"""The embedded engine as SQLAlchemy sees it: statements in PostgreSQL's
words, which the engine understands, on one connection of its own client.

A dialect of ours, since those that are published are held to one major version of the
engine. It knows what this store uses, and reads back only what its migrations compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import duckdb
import sqlalchemy as sa
from sqlalchemy import types
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.base import (
    PGCompiler,
    PGDDLCompiler,
    PGIdentifierPreparer,
    PGTypeCompiler,
)
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.exc import NoSuchTableError

from warehouse.store.sql.query_files import query_text

#: As a URL names this dialect: that of another package keeps the bare name.
DRIVER = "duckdb+warehouse"

#: How many rows are read ahead when a statement is answered in parts.
_MANY = 1000

_TYPES: dict[str, types.TypeEngine[Any]] = {
    "BIGINT": types.BIGINT(),
    "BLOB": types.LargeBinary(),
    "BOOLEAN": types.BOOLEAN(),
    "DATE": types.DATE(),
    "DOUBLE": types.DOUBLE_PRECISION(),
    "FLOAT": types.REAL(),
    "FLOAT[]": types.ARRAY(types.REAL),
    "INTEGER": types.INTEGER(),
    "JSON": types.JSON(),
    "SMALLINT": types.SMALLINT(),
    "TIMESTAMP": types.TIMESTAMP(),
    "VARCHAR": types.VARCHAR(),
}

_IN_THIS_FILE = "database_name = current_database() and schema_name = current_schema()"


@contextmanager
def stopped_by_people() -> Iterator[None]:
    """`KeyboardInterrupt` again in place of what the client makes of Ctrl-C within a
    statement."""
    try:
        yield
    except RuntimeError as error:
        if not is_stopped_by_people(error):
            raise
        raise KeyboardInterrupt from None


def is_stopped_by_people(error: BaseException) -> bool:
    """True if an error is what the client makes of Ctrl-C within a statement."""
    return type(error) is RuntimeError and str(error) == "Query interrupted"


class Connection:
    """A connection of the engine's client, whose cursors share one transaction: those
    of the client itself would each have their own."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._reading: Cursor | None = None

    def cursor(self) -> Cursor:
        """A reader of one statement after the other."""
        return Cursor(self)

    def execute(self, sql: str, parameters: Any = None) -> Any:
        """Run a statement on the client; what a cursor has not read is kept for it."""
        self.keep_rows(None)
        with stopped_by_people():
            return self._raw.execute(sql, parameters)

    def sql(self, sql: str, *arguments: Any, **options: Any) -> Any:
        """A query that the client has not run yet; what a cursor has not read is kept
        for it."""
        self.keep_rows(None)
        with stopped_by_people():
            return self._raw.sql(sql, *arguments, **options)

    def keep_rows(self, reading: Cursor | None) -> None:
        """Read what the cursor at work has left, before the next statement takes its
        place: the client holds one answer at a time."""
        if self._reading not in (None, reading):
            self._reading.keep_rows()
        self._reading = reading

    def drop_rows(self, reading: Cursor) -> None:
        """Run to its end what a cursor has not read and does not want: DuckDB 2 begins
        nothing else before."""
        if self._reading is reading:
            self._reading = None
            if complete := getattr(self._raw, "complete", None):
                complete()

    def begin(self) -> None:
        """Begin a transaction, which the client does not by itself."""
        self.keep_rows(None)
        self._raw.begin()

    def commit(self) -> None:
        """Keep what was written."""
        self.keep_rows(None)
        with stopped_by_people():
            self._raw.commit()

    def rollback(self) -> None:
        """Undo what has begun, or nothing; the engine may have ended it by itself."""
        if self._reading is not None:
            self._reading = None
            if abort := getattr(self._raw, "abort", None):
                abort()
        try:
            self._raw.rollback()
        except duckdb.TransactionException as error:
            if "no transaction is active" not in str(error):
                raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._raw, name)


class Cursor:
    """The rows of one statement, as Python's database interface gives them."""

    arraysize = 1

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._kept: list[tuple[Any, ...]] | None = None
        self.description: Any = None
        self.rowcount = -1

    def execute(self, sql: str, parameters: Any = None) -> None:
        """Run one statement."""
        self._connection.keep_rows(None)
        self._run(self._connection.execute, sql, parameters or None)

    def executemany(self, sql: str, parameters: Sequence[Any]) -> None:
        """Run one statement for each set of values."""
        self._connection.keep_rows(None)
        self._run(self._connection.executemany, sql, list(parameters))
        self.rowcount = -1  # the client tells that of the last one

    def _run(self, run: Any, sql: str, parameters: Any) -> None:
        self._kept = None
        self.rowcount = -1
        self.description = run(sql, parameters).description
        if self.description and self.description[0][0] == "Count":
            self._take_count()
        if self.description:
            self._connection.keep_rows(self)

    def _take_count(self) -> None:
        """Take how many rows a statement changed for that, not for a row; a SELECT has
        a column of that name only where somebody names it so."""
        rows = self._connection.fetchall()
        if len(rows) == 1 and len(rows[0]) == 1:
            (self.rowcount,) = rows[0]
        self._kept = rows

    def keep_rows(self) -> None:
        """Read what is left."""
        if self._kept is None:
            self._kept = self._connection.fetchall()

    def fetchone(self) -> tuple[Any, ...] | None:
        """The next row."""
        rows = self.fetchmany(1)
        return rows[0] if rows else None

    def fetchmany(self, size: int | None = None) -> list[tuple[Any, ...]]:
        """The next rows."""
        size = size or self.arraysize
        if self._kept is None:
            rows: list[tuple[Any, ...]] = self._connection.fetchmany(size)
            return rows
        rows, self._kept = self._kept[:size], self._kept[size:]
        return rows

    def fetchall(self) -> list[tuple[Any, ...]]:
        """The rows that are left."""
        self.keep_rows()
        rows, self._kept = self._kept or [], []
        return rows

    def close(self) -> None:
        """Let go of what is left."""
        if self._kept is None:
            self._connection.drop_rows(self)
        self._kept = []


class _Client:
    """The module of a driver, as SQLAlchemy wants one."""

    paramstyle = "numeric_dollar"
    Error = duckdb.Error

    @staticmethod
    def Binary(value: bytes) -> bytes:
        return value


class _TypeCompiler(PGTypeCompiler):
    def visit_FLOAT(self, type_: Any, **options: Any) -> str:
        return "DOUBLE"


class DuckDB(DefaultDialect):
    """What SQLAlchemy knows of the engine."""

    name = "duckdb"
    driver = "warehouse"
    default_paramstyle = "numeric_dollar"
    statement_compiler = PGCompiler
    ddl_compiler = PGDDLCompiler
    type_compiler_cls = _TypeCompiler
    preparer = PGIdentifierPreparer
    supports_alter = True
    supports_comments = True
    supports_statement_cache = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_default_values = True
    supports_default_metavalue = True
    supports_multivalues_insert = True
    supports_sane_multi_rowcount = False
    insert_returning = True
    update_returning = True
    delete_returning = True
    use_insertmanyvalues = True
    use_insertmanyvalues_wo_returning = True
    max_identifier_length = 9999
    # what the compilers of PostgreSQL ask of theirs
    _backslash_escapes = False
    supports_identity_columns = False
    supports_smallserial = False

    def __init__(self, json_serializer: Any = None, **options: Any) -> None:
        super().__init__(**options)
        self._json_serializer = json_serializer
        self._json_deserializer = None

    @classmethod
    def import_dbapi(cls) -> Any:
        """The driver."""
        return _Client

    def connect(self, *arguments: Any, **options: Any) -> Any:
        """A new connection to a file."""
        return Connection(duckdb.connect(*arguments, **options))

    def create_connect_args(self, url: sa.URL) -> tuple[list[Any], dict[str, Any]]:
        """What :meth:`connect` is given for a URL."""
        return [url.database or ":memory:"], {}

    def do_begin(self, dbapi_connection: Any) -> None:
        """Begin a transaction, which the client does not by itself."""
        dbapi_connection.begin()

    def _get_default_schema_name(self, connection: sa.Connection) -> str:
        return "main"

    def has_table(
        self,
        connection: sa.Connection,
        table_name: str,
        schema: str | None = None,
        **options: Any,
    ) -> bool:
        """True if the file has a table or view of that name."""
        names = {*self.get_table_names(connection), *self.get_view_names(connection)}
        return table_name in names

    def get_table_names(
        self, connection: sa.Connection, schema: str | None = None, **options: Any
    ) -> list[str]:
        """Names of the file's tables."""
        return _names(connection, "duckdb_tables()", "table_name")

    def get_view_names(
        self, connection: sa.Connection, schema: str | None = None, **options: Any
    ) -> list[str]:
        """Names of the file's views."""
        return _names(connection, "duckdb_views()", "view_name")

    def get_columns(
        self,
        connection: sa.Connection,
        table_name: str,
        schema: str | None = None,
        **options: Any,
    ) -> list[Any]:
        """Columns of a table in their order (NoSuchTableError: there is none)."""
        query = sa.text(query_text("file_objects", "columns"))
        rows = connection.execute(query, {"table_name": table_name}).fetchall()
        if not rows:
            raise NoSuchTableError(table_name)
        return [
            {
                "name": name,
                "type": _TYPES.get(kind, types.NULLTYPE),
                "nullable": nullable,
                "default": default,
                "autoincrement": False,
                "comment": comment,
            }
            for name, kind, nullable, default, comment in rows
        ]

    def get_pk_constraint(
        self,
        connection: sa.Connection,
        table_name: str,
        schema: str | None = None,
        **options: Any,
    ) -> Any:
        """The columns of a table's primary key."""
        keys = _constraints(connection, table_name, "PRIMARY KEY")
        return keys[0] if keys else {"constrained_columns": [], "name": None}

    def get_unique_constraints(
        self,
        connection: sa.Connection,
        table_name: str,
        schema: str | None = None,
        **options: Any,
    ) -> Any:
        """The columns of a table's other keys."""
        return _constraints(connection, table_name, "UNIQUE")

    def get_table_comment(
        self,
        connection: sa.Connection,
        table_name: str,
        schema: str | None = None,
        **options: Any,
    ) -> Any:
        """What the file says of a table."""
        query = (
            f"select comment from duckdb_tables() where {_IN_THIS_FILE} "
            "and table_name = $1"
        )
        return {"text": connection.exec_driver_sql(query, (table_name,)).scalar()}

    def get_foreign_keys(self, *_arguments: Any, **_options: Any) -> list[Any]:
        """None: a file has no foreign keys of ours."""
        return []

    def get_indexes(self, *_arguments: Any, **_options: Any) -> list[Any]:
        """None: a file has no indexes of ours."""
        return []

    def get_check_constraints(self, *_arguments: Any, **_options: Any) -> list[Any]:
        """None: a file has no conditions of ours."""
        return []


def _names(connection: sa.Connection, relation: str, column: str) -> list[str]:
    query = (
        f"select {column} from {relation} where {_IN_THIS_FILE} and not internal "
        "order by 1"
    )
    return [name for (name,) in connection.exec_driver_sql(query)]


def _constraints(connection: sa.Connection, table: str, kind: str) -> list[Any]:
    query = sa.text(query_text("file_objects", "constraints"))
    rows = connection.execute(query, {"table_name": table, "kind": kind}).fetchall()
    names = "constrained_columns" if kind == "PRIMARY KEY" else "column_names"
    return [{"name": name, names: list(columns)} for name, columns in rows]


registry.register("duckdb.warehouse", __name__, DuckDB.__name__)
