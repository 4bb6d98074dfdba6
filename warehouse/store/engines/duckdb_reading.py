"""A file that is only read: a connection without SQLAlchemy, which takes longer to load than most answers."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from warehouse.errors import MisuseError
from warehouse.store.alchemy import sa
from warehouse.store.engines.base import json_text
from warehouse.store.sql.bind_parameters import bare_text


class FileEngine:
    """Opens a file for reading, in the place of an engine of SQLAlchemy.

    Attributes:
        listener: of statements that go by way of SQLAlchemy, before they run (``before_cursor_execute``).
    """

    def __init__(self, open_raw: Callable[[], Any]) -> None:
        self._open_raw = open_raw
        self.listener: Callable[..., Any] | None = None

    def connect(self) -> FileConnection:
        """A connection of its own."""
        return FileConnection(self, self._open_raw)

    def dispose(self) -> None:
        """A connection that is closed leaves nothing."""

    def around(self, raw: Any) -> sa.Engine:
        """An engine of SQLAlchemy whose one connection is there already."""
        from duckdb_sqlalchemy import ConnectionWrapper

        engine = sa.create_engine(
            "duckdb://",
            creator=lambda: ConnectionWrapper(raw),
            poolclass=sa.pool.NullPool,
            pool_reset_on_return=None,
            json_serializer=json_text,
        )
        if self.listener is not None:
            sa.event.listen(engine, "before_cursor_execute", self.listener, retval=True)
        return engine


class FileConnection:
    """A connection to a file that is only read.

    What is asked by way of the dialect goes to the engine itself. Asked for anything else, such as ``execute``, it
    becomes a connection of SQLAlchemy around the same one.
    """

    def __init__(self, engine: FileEngine, open_raw: Callable[[], Any]) -> None:
        self._engine, self._open_raw = engine, open_raw
        self._raw: Any = open_raw()
        self._begun = False
        self._full: sa.Connection | None = None

    @property
    def connection(self) -> FileConnection:
        """What holds the engine's own connection; here this itself."""
        return self

    @property
    def driver_connection(self) -> Any:
        """The engine's own connection; a new one after the last was given up."""
        if self._raw is None:
            self._raw = self._open_raw()
        return self._raw

    def in_transaction(self) -> bool:
        """Whether one has begun."""
        return self._begun if self._full is None else self._full.in_transaction()

    def begin(self) -> None:
        """Begin a transaction."""
        if self._full is None:
            self.driver_connection.begin()
            self._begun = True
        else:
            self._full.begin()

    def commit(self) -> None:
        """End it."""
        if self._full is None:
            self._begun = False
            self.driver_connection.commit()
        else:
            self._full.commit()

    def rollback(self) -> None:
        """Roll it back; a connection that cannot even do that is given up, and the next statement gets another."""
        import duckdb

        if self._full is not None:
            self._full.rollback()
        elif self._begun:
            self._begun = False
            try:
                self.driver_connection.rollback()
            except duckdb.TransactionException:
                pass  # the engine ended it by itself
            except duckdb.Error:
                self._give_up()

    def close(self) -> None:
        """Let go of the file."""
        if self._full is not None:
            self._full.close()
        self._give_up()

    def _give_up(self) -> None:
        raw, self._raw = self._raw, None
        if raw is not None:
            raw.close()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):  # of this class, before it is set; or of Python's own protocols
            raise AttributeError(name)
        return getattr(self.full(), name)

    def full(self) -> sa.Connection:
        """This as a connection of SQLAlchemy. Nobody can write to the file while it is open here: a transaction
        that begins anew sees what it saw."""
        if self._full is None:
            begun = self._begun
            self.rollback()
            full = self._engine.around(self.driver_connection).connect()
            if begun:
                full.begin()
            self._full = full
        return self._full


#: Types whose values Arrow, Parquet, JSON and a table all have; the wider ones lose digits there.
_PLAIN = frozenset(
    {
        *("boolean", "tinyint", "smallint", "integer", "bigint", "hugeint", "utinyint", "usmallint", "uinteger"),
        *("ubigint", "float", "double", "decimal", "varchar", "blob", "uuid", "enum", "json", "sqlnull", "null"),
    }
)
_TIMES = frozenset({"date", "timestamp", "timestamp_s", "timestamp_ms", "timestamp_ns", "timestamp with time zone"})
_NESTED = frozenset({"list", "array", "struct", "map"})

#: Functions that a SELECT could do more with than read: they set what the connection keeps (and
#: leave it broken where that wants a file), write, take addresses in memory, or run a text as SQL.
_REFUSED = re.compile(
    r"\b(enable_logging|disable_logging|truncate_duckdb_logs|write_log|enable_profiling"
    r"|disable_profiling|enable_profile|disable_profile|force_checkpoint|checkpoint|import_database"
    r"|copy_database|arrow_scan|arrow_scan_dumb|pandas_scan|python_map_function|query|query_table"
    r"|json_execute_serialized_sql)\s*\(",
    re.IGNORECASE,
)


def refuse_functions(sql: str) -> None:
    """Refuse a query that calls a function which does more than read (MisuseError: names it)."""
    if call := _REFUSED.search(bare_text(sql)):
        raise MisuseError(f"a query may not call {call[1].lower()}: it does more than read")


def printable(
    connection: sa.Connection,
    sql: str,
    params: Mapping[str, Any],
    times_too: bool,
    written: Callable[[str, Mapping[str, Any]], tuple[str, Any]],
) -> str:
    """The SELECT with columns of other types cast to text; unchanged if the engine rejects it, so that
    the user sees its error."""
    import duckdb

    raw: Any = connection.connection.driver_connection
    try:
        text, bound = written(f"select * from (\n{sql}\n) limit 0", params)
        columns = raw.execute(text, bound).description
    except duckdb.Error:
        return sql
    plain = _PLAIN if times_too else _PLAIN | _TIMES
    if all(_is_plain(kind, plain) for _, kind, *_ in columns):
        return sql
    inner = [f"c{number}" for number in range(len(columns))]
    described = raw.execute(*written(f"describe\n{sql}", params)).fetchall()  # names as they are
    outer = ", ".join(
        "{} as {}".format(
            column if _is_plain(kind, plain) else f"cast({column} as varchar)", '"' + name.replace('"', '""') + '"'
        )
        for column, (name, *_), (_, kind, *_) in zip(inner, described, columns, strict=True)
    )
    return f"select {outer} from (\n{sql}\n) as q({', '.join(inner)})"


def _is_plain(kind: Any, plain: frozenset[str]) -> bool:
    name = str(kind.id)
    if name in _NESTED:
        parts = [part for part in kind.children if not isinstance(part[1], int)]
        named = name != "struct" or all(field for field, _ in parts)
        return named and all(_is_plain(part, plain) for _, part in parts)
    return name in plain or str(kind).lower() in plain
