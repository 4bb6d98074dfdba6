"""Engines that speak Spark Connect, asked on a lake: a cluster's server, or Sail within
this process.

They only read. A lake's tables are those of one of its versions; a view is made in the
session when a statement first names it.
"""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from warehouse.errors import (
    QueryLimitError,
    ReadOnlyError,
    SchemaVersionError,
    StoreError,
)
from warehouse.extras import load
from warehouse.store.alchemy import sa
from warehouse.store.engines.base import Dialect, Limits
from warehouse.store.engines.spark_sql import require_reading, translated
from warehouse.store.engines.spark_tasks import Executors
from warehouse.store.engines.urls import LakeUrl
from warehouse.store.schema.head import HEAD
from warehouse.store.sql import query_files

if TYPE_CHECKING:
    from warehouse.store.lake.versions import LakeLocation, LakeVersion

NAME = "spark"
_WORD = re.compile(r"\w+")
#: What an engine says where a file of a table is not there, or its log ends early.
_MISSING = ("not found", "No such file", "does not exist", "PATH_NOT_FOUND")
_CUT_SHORT = ("Missing commit file", "nvalid table version", "no log files")
#: What it says where a file is no Parquet file.
_UNREADABLE = ("Parquet error", "FAILED_READ_FILE")
#: The error of a server that has read a statement and cannot do it: here of one that
#: only names a table.
_NO_PLAN = "AnalysisException"
#: What a server says that has no reader of Delta.
_NO_DELTA = "DATA_SOURCE_NOT_FOUND"
#: Tables of a store that a lake does not have, in words.
_LEFT_OUT = {
    "content": "texts of what was sent and answered",
    "embedder": "vectors of texts",
    "prompt_embedding": "vectors of texts",
    "id_counter": "counters",
    "statement": "what each source says",
}
#: A table that is written as a whole, of no more rows, in files of no more bytes, is
#: sent to a server elsewhere.
_FEW_ROWS, _FEW_BYTES = 10_000, 1 << 20
_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "false",
    # a million scores are some 300 kB of a lake: by its usual 4 MB Spark gives most
    # cores nothing to read
    "spark.sql.files.openCostInBytes": "262144",
}


class LakeConnection:
    """A session on one version of a lake, in the place of a connection of SQLAlchemy.

    Attributes:
        url: of the store.
    """

    def __init__(
        self, url: LakeUrl, lake: LakeLocation, version: LakeVersion, session: Any
    ) -> None:
        self.url = url
        self._lake = lake
        self._version = version
        self._session = session
        self._views = {view.name: view.text for view in query_files.views(NAME)}
        self._made: set[str] = set()
        self._read_files = url.read_files

    def select(self, sql: str, params: Mapping[str, Any]) -> pa.Table:
        """Run one SELECT."""
        text = translated(sql, params)
        try:
            self._make(text)
            with _quiet():
                return _plain(self._fetched(text))
        except Exception as error:
            message = _query_error(error)
            if message and (damage := self._damage(message)):
                raise damage from None
            if message and (missing := _left_out(text, message)):
                raise ReadOnlyError(
                    f"a lake has no {_LEFT_OUT[missing]} ({missing}); ask the store "
                    f"that {self.url} was made from"
                ) from None
            raise

    def _damage(self, message: str, name: str = "") -> StoreError | None:
        """An engine's error as that of a damaged lake; any error where it was only to
        find the table ``name``."""
        if _is_missing(message, self._lake.path):
            return self._lake.trouble(FileNotFoundError(message), name)
        if name or any(words in message for words in _UNREADABLE):
            return self._lake.trouble(OSError(message), name)
        return None

    def _make(self, text: str) -> None:
        """The tables and views that a statement may mean, in the session."""
        for name in _WORD.findall(text):
            if name in self._made or not (
                name in self._version.tables or name in self._views
            ):
                continue
            self._made.add(name)  # before: what a text says of itself is no other view
            try:
                with _quiet():
                    if name in self._version.tables:
                        self._register(name)
                    else:
                        self._create(name)
            except BaseException:
                self._made.discard(name)
                raise

    def _create(self, name: str) -> None:
        """A view, after what it reads."""
        body = translated(self._views[name].strip().rstrip(";"), {})
        self._make(body)
        # a plan, not a text: Spark would read and resolve a text again in each
        # statement
        frames = load("pyspark.sql.connect.dataframe", "lake", "an engine on a lake")
        frames.DataFrame(_plan(body), self._session).createOrReplaceTempView(name)

    def _fetched(self, text: str) -> pa.Table:
        """The rows of a statement by one call: `sql` and `toArrow` of the client make
        three, and in each of them a server resolves the whole plan."""
        client = self._session.client
        table, _, _ = client.to_table(_plan(text).to_proto(client), {})
        return table

    def _register(self, name: str) -> None:
        """A table at its version, under its name; from its files where the server
        cannot read Delta."""
        at = self._version.tables[name].version
        if (
            self.url.host
            and self._version.tables[name].n_rows <= _FEW_ROWS
            and self._send(name, at)
        ):
            return
        if not self._read_files:
            try:
                reader = self._session.read.format("delta").option(
                    "versionAsOf", str(at)
                )
                reader.load(self._lake.uri(name)).createOrReplaceTempView(name)
                return
            except Exception as error:
                if _NO_DELTA not in str(error):
                    if type(error).__name__ == _NO_PLAN and (
                        damage := self._damage(str(error), name)
                    ):
                        raise damage from None
                    raise
                self._read_files = True
        table = self._lake.require(name, at)
        schema = _schema(table)
        files = table.file_uris()
        if gone := [
            file for file in files if "://" not in file and not Path(file).exists()
        ]:  # Sail reads no rows then
            raise self._lake.trouble(FileNotFoundError(f"{gone[0]} not found"), name)
        read = None
        if files:
            read = self._session.read.schema(schema).parquet(*files)
        (
            read if read is not None else self._session.createDataFrame([], schema)
        ).createOrReplaceTempView(name)

    def _send(self, name: str, at: int) -> bool:
        """Send a remote server the rows of a small table that is always rewritten;
        returns whether it is such a table.

        A cluster reads files in jobs of their own, each of which takes longer than
        these rows do.
        """
        if not self._version.tables[name].digest:
            return False
        table = self._lake.require(name, at)
        with self._lake.translating_errors(name):
            if (
                sum(table.get_add_actions().column("size_bytes").to_pylist())
                > _FEW_BYTES
            ):
                return False
            rows = table.to_pyarrow_dataset().to_table()
        frame = self._session.createDataFrame(
            rows if rows.num_rows else [], _schema(table)
        )
        frame.createOrReplaceTempView(name)
        return True

    # --- what a store asks of its connection --------------------------------------------------

    def in_transaction(self) -> bool:
        """Always: all statements see one version."""
        return True

    def begin(self) -> None:
        """Refuse: who begins one means to write, or to reach a server."""
        raise _read_only(self.url)

    def interrupt(self) -> None:
        """End what another thread has the server do in this session."""
        with _quiet():
            self._session.interruptAll()

    def close(self) -> None:
        """Let go of the session."""
        with _quiet():
            self._session.stop()


def _plan(text: str) -> Any:
    """A statement that is not sent yet."""
    return load("pyspark.sql.connect.plan", "lake", "an engine on a lake").SQL(text)


def _schema(table: Any) -> Any:
    """Columns of a Delta table, as a server takes them."""
    kinds = load("pyspark.sql.types", "lake", "an engine on a lake")
    return kinds.StructType.fromJson(json.loads(table.schema().to_json()))


class _LakeEngine:
    """In the place of an engine of SQLAlchemy."""

    def __init__(self, url: LakeUrl) -> None:
        self.url = url

    def connect(self) -> LakeConnection:
        from warehouse.store.engines.spark_tasks import session_at
        from warehouse.store.lake import versions
        from warehouse.store.lake.versions import LakeLocation

        lake = LakeLocation(self.url.lake)
        version = versions.find(lake, self.url.version)
        _require_schema(lake, version)
        return LakeConnection(self.url, lake, version, session_at(self.url, _SETTINGS))

    def dispose(self) -> None:
        """Nothing is kept."""


def _left_out(text: str, message: str) -> str:
    """The table that a statement names, and an engine misses, because no lake has it;
    else empty."""
    return next(
        (name for name in _LEFT_OUT if name in _WORD.findall(text) and name in message),
        "",
    )


def _is_missing(message: str, path: str) -> bool:
    return any(words in message for words in _CUT_SHORT) or (
        path in message and any(words in message for words in _MISSING)
    )


def _require_schema(lake: LakeLocation, version: LakeVersion) -> None:
    if version.schema > HEAD:
        command = (
            f"pip install --upgrade eval-warehouse (the lake {lake} was made by a "
            "newer version)"
        )
        raise SchemaVersionError(version.schema, HEAD, command)
    if version.schema < HEAD:
        raise SchemaVersionError(
            version.schema, HEAD, f"warehouse --db STORE lake sync {lake}"
        )


def _read_only(url: LakeUrl) -> ReadOnlyError:
    return ReadOnlyError(
        f"{url} is a lake, which can only be asked; do this on the store that it was "
        f"made from, then bring the lake up: warehouse --db STORE lake sync {url.lake}"
    )


def _engine(url: sa.URL, write: bool, _limits: Limits | None) -> Any:
    lake_url = LakeUrl.of(url)
    if write:
        raise _read_only(lake_url)
    return _LakeEngine(lake_url)


def _select(
    connection: Any, sql: str, params: Mapping[str, Any], most: int | None = None
) -> pa.Table:
    table: pa.Table = connection.select(sql, params)
    if most is not None and table.nbytes > most:
        raise QueryLimitError(
            f"the answer has more than {most / 1e6:.0f} MB", "--memory SIZE", "memory="
        )
    return table


def _batches(
    connection: Any, sql: str, params: Mapping[str, Any], n_rows: int
) -> Iterator[pa.Table]:
    table = _select(connection, sql, params)
    for start in range(0, len(table), n_rows):
        yield table.slice(start, n_rows)


def _interrupt(connection: Any) -> None:
    connection.interrupt()


def _require_select(_connection: Any, sql: str) -> None:
    require_reading(sql)


def _query_error(error: BaseException) -> str | None:
    """The message of the engine, or of the way to it."""
    if type(error).__module__.partition(".")[0] not in ("pyspark", "grpc"):
        return None
    details = getattr(error, "details", None)
    text = str(details() if callable(details) else "") or str(error)
    return " ".join(text.split()) or type(error).__name__


def _plain(table: pa.Table) -> pa.Table:
    """Times without their zone, which is UTC, and texts of one kind, as other engines
    have them."""
    columns = []
    for column in table.columns:
        kind = column.type
        if pa.types.is_timestamp(kind):
            column = column.cast(pa.timestamp("us"))
        elif pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
            column = column.cast(pa.string())
        elif pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
            column = column.cast(pa.binary())
        columns.append(column)
    return pa.table(columns, names=table.column_names)


class _quiet(warnings.catch_warnings):
    """Without what the client says of versions of other packages."""

    def __enter__(self) -> Any:
        log = super().__enter__()
        warnings.simplefilter("ignore")
        return log


def _no_refresh(url: sa.URL) -> Any:
    lake_url = LakeUrl.of(url)
    raise ReadOnlyError(
        f"{lake_url} is a lake, which only holds the figures of the store that it was "
        "made from; refresh that, and the lake with it: warehouse --db STORE refresh "
        f"--lake {lake_url.lake}"
    )


def _refused(connection: Any, *_more: Any) -> Any:
    if isinstance(connection, LakeConnection):
        raise _read_only(connection.url)
    raise _read_only(LakeUrl.of(connection))


def _executors(url: sa.URL) -> Executors | None:
    """Executors of a remote server; a server in this process would add no cores."""
    lake_url = LakeUrl.of(url)
    if lake_url.host:
        return Executors(lake_url)
    return None


def _nothing(*_arguments: object) -> None:
    """There is nothing to do."""


def _no_vectors(connection: Any, _sql: str, _dimension: int) -> Any:
    raise ReadOnlyError(
        f"{connection.url} is a lake, which has no vectors of texts; ask the store "
        "that it was made from"
    )


SPARK = Dialect(
    name=NAME,
    foreign_keys=False,
    indexes=False,
    embedded=False,
    is_lake=True,
    load=lambda: None,
    exists=lambda _url: True,
    open_engine=_engine,
    lock_holder=lambda _error: None,
    damaged=lambda _error: False,
    retryable=lambda _error: False,
    select=_select,
    batches=_batches,
    by_id=lambda _connection, _sql, _per: None,
    sha256_of="unhex(sha2({}, 256))".format,
    interrupt=_interrupt,
    append=_refused,
    vectors=_no_vectors,
    guard=_nothing,
    objects=None,
    plain_url=_nothing,
    require_plain=_nothing,
    printable=lambda _connection, sql, _params, _times_too: sql,
    roles=None,
    lock_catalogue=_refused,
    prepare=_refused,
    lock_shared=_refused,
    lock_all=_refused,
    no_source_reserved=_refused,
    reserve=_refused,
    release=_refused,
    require_select=_require_select,
    analyze=_nothing,
    query_error=_query_error,
    snapshot=None,
    executors=_executors,
    refresh_lock=_no_refresh,
)
