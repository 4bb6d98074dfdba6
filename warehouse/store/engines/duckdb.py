"""DuckDB: a file that one process holds at a time, and the scratch space that parses
dumps."""

from __future__ import annotations

import os
import shutil
import stat
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.errors import MisuseError, QueryLimitError, StoreError, cause_of
from warehouse.store.alchemy import sa
from warehouse.store.engines.base import (
    OTHER_LENGTH,
    Dialect,
    Limits,
    OwnObjects,
    json_text,
)
from warehouse.store.engines.duckdb_holding import hold, holder, is_being_made
from warehouse.store.engines.duckdb_reading import (
    file_engine,
    printable,
    refuse_functions,
)
from warehouse.store.engines.duckdb_tables import few_rows, literal
from warehouse.store.engines.urls import full_url, hint_on_slashes
from warehouse.store.sql.bind_parameters import bind_names, rename_binds, replace_binds

#: Memory that a connection which loads may use before it spills to disk; more makes it
#: no faster. What cannot be spilled may need more: then it gets it (`more_memory`).
#: Connections that read have the engine's own limit, queries that people type that of
#: `Limits`. WAREHOUSE_MEMORY_LIMIT overrides all.
MEMORY_LIMIT = "400MB"
#: The same for a source of so many bytes, which is spilled in any case: a CSV takes a
#: twentieth longer so, a million new prompts up to two fifths, for a third less memory.
#: Many smaller ones would take a fifth longer, for little.
LARGE_SOURCE = 256 * 2**20
LARGE_LIMIT = "200MB"
#: Log size at which an embedded file is tidied up; each time rewrites the ends of its
#: tables.
CHECKPOINT_THRESHOLD = "64MB"
#: The same for a commit of so many rows that it is quicker not to log them first: the
#: engine writes a commit that the log has no room for into the tables at once (a tenth
#: of the time of a load).
LARGE_COMMIT = "1MB"
#: Form of the files that are made: all versions that are allowed (`pyproject.toml`) read
#: and write it.
FORM = "v1.5.0"
#: Bytes of a block of files that are made; others keep theirs. The engine's own 256 kB
#: make a store of one small run three times as large; with 16 kB large loads take
#: longer, and their files are no smaller.
BLOCK_BYTES = 65_536
#: Share of the free disk that a query which people type may spill to.
SPILL = 0.5
#: Rows of an answer that memory is asked for at a time: the engine asks for that much
#: of each column, however few there are, and with its own million what other work had
#: left in those pages stayed in memory as long as the answer.
ROWS_OF_A_BATCH = 65_536
#: What a published copy says of itself, as the comment of a table.
_COPY = "published copy of a warehouse"


def is_published(path: Path) -> bool:
    """True if a file is a copy that :data:`Dialect.snapshot` made."""
    import duckdb

    raw = open_scratch()
    try:
        raw.execute(f"attach {literal(str(path))} as copy_store (read_only)")
        query = (
            "select 1 from duckdb_tables() where database_name = 'copy_store' and "
            f"comment = {literal(_COPY)}"
        )
        return bool(raw.execute(query).fetchall())
    except duckdb.Error:
        return False
    finally:
        raw.close()


def _refuse_published(raw: Any, path: Path) -> None:
    """Say no to writing into a published copy (StoreError): the next `publish` would
    replace what was written.

    The mode alone keeps nobody who may do everything from it, as in a container. A copy
    that somebody has made writable is a store again.
    """
    if path.stat().st_mode & stat.S_IWUSR:
        return
    query = (
        "select 1 from duckdb_tables() where database_name = current_database() and "
        f"comment = {literal(_COPY)}"
    )
    if raw.execute(query).fetchall():
        raise StoreError(
            f"{path} is a published copy, which the next publish replaces; expected "
            f"the store that it was made of (--db); to go on from the copy: cp {path} "
            "NEW && chmod u+w NEW"
        )


def open_scratch(temporary_folder: Path | None = None) -> Any:
    """An in-memory connection that parses dumps, for stores that cannot do it
    themselves."""
    import duckdb

    return duckdb.connect(":memory:", config=_settings(temporary_folder, MEMORY_LIMIT))


def _closed_at(path: str, as_we_write: bool = False) -> tuple[Any, sa.Engine]:
    """A database that reaches nothing else; a new file is of the form that our stores
    have, or of that which the engine chooses by itself."""
    import duckdb

    from warehouse.store.engines import duckdb_ddl  # noqa: F401  (what tables are made with)

    config: dict[str, Any] = {**_NO_EXTENSIONS, **_NO_ACCESS}
    if as_we_write:
        config["storage_compatibility_version"] = FORM
    raw = duckdb.connect(path, config=config)
    return raw, file_engine(lambda: raw).full(raw)


def _version() -> str:
    import duckdb

    return f"duckdb {duckdb.__version__}"


def is_loaded() -> bool:
    """True if this process has loaded the engine, and so may have a file open."""
    return "duckdb" in sys.modules


def load() -> None:
    """Load the engine, without any file."""
    import duckdb  # noqa: F401


def input_error(error: BaseException) -> bool:
    """True if the scratch space failed because of what stands in a file; a message that
    quotes bytes which are no UTF-8 arrives as an error of its own."""
    import duckdb

    return isinstance(
        error,
        UnicodeDecodeError
        | duckdb.InvalidInputException
        | duckdb.ConversionException
        | duckdb.OutOfRangeException
        | duckdb.BinderException
        | duckdb.IOException
        | duckdb.ParserException,
    )


def out_of_memory(error: BaseException) -> bool:
    """True if a statement or a commit needed more memory than the engine may use."""
    import duckdb

    cause = cause_of(error)
    # also of a commit
    words = (
        "could not allocate block",
        "failed to pin block",
        "Out of Memory Error",
    )
    return isinstance(cause, duckdb.OutOfMemoryException) or any(
        some in str(cause) for some in words
    )


def expect_source(raw: Any, size: int) -> None:
    """Set what the engine may use while a source of so many bytes is loaded, unless the
    user has said it. What another load holds at this moment stays."""
    import duckdb

    if not os.environ.get("WAREHOUSE_MEMORY_LIMIT"):
        with suppress(duckdb.OutOfMemoryException):
            limit = MEMORY_LIMIT
            if size >= LARGE_SOURCE:
                limit = LARGE_LIMIT
            raw.execute(f"set memory_limit = '{limit}'")


def more_memory(raw: Any) -> bool:
    """Double what the engine may use, up to four fifths of the machine's; False where
    it has that already, or the user has said how much it may use."""
    if os.environ.get("WAREHOUSE_MEMORY_LIMIT"):
        return False
    ((told,),) = raw.execute("select current_setting('memory_limit')").fetchall()
    number, unit = told.split()
    limit = float(number) * 1024 ** ("bytes", "KiB", "MiB", "GiB", "TiB").index(unit)
    most = 0.8 * os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if limit > 0.99 * most:
        return False
    megabytes = min(2 * limit, most) / 1e6
    raw.execute(f"set memory_limit = '{megabytes:.0f}MB'")
    return True


#: Of every connection: nothing that a file says brings code in. What we use is built
#: into the engine.
_NO_EXTENSIONS = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
}
#: Of every connection that only reads: its statements, and those in the views of the
#: file, reach no other file, no network and no variable of this program.
_NO_ACCESS = {"enable_external_access": "false", "python_enable_replacements": "false"}


def _settings(temporary_folder: Path | None, memory: str | None) -> dict[str, Any]:
    limit = os.environ.get("WAREHOUSE_MEMORY_LIMIT", memory)
    settings = dict(_NO_EXTENSIONS)
    if limit:
        settings["memory_limit"] = limit
    # of a load: a thread of the allocator gives freed pages back, which it keeps otherwise
    if memory is not None:
        settings["allocator_background_threads"] = "true"
    if threads := os.environ.get("WAREHOUSE_THREADS"):
        settings["threads"] = threads
    if temporary_folder is not None:
        settings["temp_directory"] = str(temporary_folder)
    return settings


def _engine(url: sa.URL, write: bool, limits: Limits | None) -> Any:
    path = Path(url.database or "")
    if path.is_dir():
        raise StoreError(f"{path} is a folder; expected the file of a store")
    if not path.parent.is_dir():
        raise StoreError(
            f"the folder {path.parent} does not exist; create it "
            f"first{hint_on_slashes(url)}"
        )
    for file in (path, path.with_name(f"{path.name}.wal")):
        # to open a pipe waits for whoever writes into it, for ever
        if file.exists() and not file.is_file():
            raise StoreError(
                f"{file} is no file (a pipe, a device); expected the file of a store"
            )
    # the engine would fetch an extension that reads some of them
    if path.is_file() and _is_of_another_program(path):
        raise StoreError(
            f"{path} is not a valid DuckDB database file; name a store with --db, or "
            "move this file away"
        )
    if not write:
        return file_engine(lambda: _opened(path, _settings_of_reading(url, limits)))
    config = _settings(path.with_name(path.name + ".tmp"), MEMORY_LIMIT)
    config["storage_compatibility_version"] = FORM
    config["checkpoint_threshold"] = CHECKPOINT_THRESHOLD
    config["default_block_size"] = str(BLOCK_BYTES)
    config |= {name: str(value) for name, value in url.query.items()}
    engine = _full_engine(url, {"read_only": False, "config": config})
    hold(engine, path.resolve())
    sa.event.listen(
        engine, "connect", lambda raw, _record: _refuse_published(raw, path)
    )
    return engine


def _settings_of_reading(url: sa.URL, limits: Limits | None) -> dict[str, Any]:
    """Settings by which spilled data goes beside the file, by the engine's own choice:
    it may be used without access to others."""
    config = _settings(None, None) | _NO_ACCESS
    config |= {name: str(value) for name, value in url.query.items()}
    if limits is not None:
        config["memory_limit"] = limits.setting
    return config


def _is_of_another_program(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(12)
    return head[8:] != b"DUCK" and not is_being_made(path)


def _opened(path: Path, config: Mapping[str, Any]) -> Any:
    """A connection that only reads, whose settings nothing can change."""
    import duckdb

    raw = duckdb.connect(str(path), read_only=True, config=dict(config))
    try:
        _close_settings(raw, path)
    except BaseException:
        raw.close()
        raise
    return raw


def _full_engine(url: sa.URL, arguments: Mapping[str, Any]) -> sa.Engine:
    from warehouse.store.engines import duckdb_ddl  # noqa: F401  (what tables are made with)
    from warehouse.store.engines.duckdb_dialect import DRIVER

    return sa.create_engine(
        full_url(url).set(drivername=DRIVER),
        connect_args=arguments,
        poolclass=sa.pool.NullPool,
        pool_reset_on_return=None,  # closing rolls back; an engine out of room cannot, and the pool would log it
        json_serializer=json_text,
    )


#: Connections of one process to one file share their settings: one of them closes them
#: for all.
_CLOSING = threading.Lock()


def _close_settings(connection: Any, path: Path) -> None:
    """The bound on what is spilled, which counts only where it is set afterwards; then
    nothing more can be set."""
    with _CLOSING:
        ((is_closed,),) = connection.execute(
            "select current_setting('lock_configuration')"
        ).fetchall()
        if is_closed:
            return
        room = f"{SPILL * shutil.disk_usage(path.parent).free:.0f}B"
        connection.execute(f"set max_temp_directory_size = '{room}'")
        connection.execute("set lock_configuration = true")


def _damaged(error: BaseException) -> bool:
    """A checksum that does not fit: the engine overwrites a block that is in use when
    it tidies its log up, and a process that is killed within that write leaves half of
    one."""
    return any(
        words in str(error)
        for words in (
            "Corrupt database file",
            "Corrupt WAL file",
            "Could not read enough bytes",
        )
    )


def _select(
    connection: sa.Connection,
    sql: str,
    params: Mapping[str, Any],
    most: int | None = None,
) -> pa.Table:
    raw: Any = connection.connection.driver_connection
    text, values = _bound(sql, params)
    answer = raw.sql(text, params=values)
    table: pa.Table = (
        answer.to_arrow_table(ROWS_OF_A_BATCH)
        if most is None
        else _bounded(answer, most)
    )
    return table


def _bounded(answer: Any, most: int) -> pa.Table:
    """Rows as the engine finds them, until they have too many bytes."""
    import duckdb

    batches: list[pa.RecordBatch] = []
    n_bytes = 0
    try:
        with answer.to_arrow_reader(ROWS_OF_A_BATCH) as reader:
            for batch in reader:
                batches.append(batch)
                n_bytes += batch.nbytes
                if n_bytes > most:
                    raise QueryLimitError(
                        f"the answer has more than {most / 1e6:.0f} MB",
                        "--memory SIZE",
                        "memory=",
                    )
    except (
        pa.ArrowException,
        OSError,
    ) as error:  # what the engine says while it goes on
        raise duckdb.Error(str(error)) from None
    return pa.Table.from_batches(batches, reader.schema)


def _batches(
    connection: sa.Connection, sql: str, params: Mapping[str, Any], n_rows: int
) -> Iterator[pa.Table]:
    import duckdb

    raw: Any = connection.connection.driver_connection
    text, values = _bound(sql, params)
    answer = raw.sql(text, params=values)
    try:
        with answer.to_arrow_reader(n_rows) as reader:
            for batch in reader:
                yield pa.Table.from_batches([batch])
    except (pa.ArrowException, OSError) as error:
        raise duckdb.Error(str(error)) from None


def _interrupt(connection: sa.Connection) -> None:
    raw: Any = connection.connection.driver_connection
    raw.interrupt()


def _bound(sql: str, params: Mapping[str, Any]) -> tuple[str, Any]:
    """A SELECT with its values as literals, and as bound parameters those that have no
    literal form."""
    used = {name: params[name] for name in bind_names(sql)}
    written = {name: _written(value) for name, value in used.items()}
    if None in written.values():
        return rename_binds(sql, "$")[0], used
    return replace_binds(sql, lambda name: str(written[name])), None


def _printable(
    connection: sa.Connection, sql: str, params: Mapping[str, Any], times_too: bool
) -> str:
    return printable(connection, sql, params, times_too, _bound)


def _written(value: Any) -> str | None:
    """A value as it stands in SQL, of the type that it would have if it were bound (a
    text takes that of the number or time that it is held against); None where it has to
    be bound. That makes the client import pandas, which takes longer than most queries.
    """
    if isinstance(value, str) and "\x00" not in value:
        return literal(value)
    if type(value) is int and abs(value) < 2**31:
        return f"({value})"
    return None


def _append(
    connection: sa.Connection,
    table: str,
    rows: pa.Table | pa.RecordBatchReader,
    _replaced: Counter[str],
) -> int:
    raw: Any = connection.connection.driver_connection
    if isinstance(rows, pa.Table) and (text := few_rows(rows)) is not None:
        return _changed(raw.execute(f'insert into "{table}" by name {text}'))
    raw.register("appended", rows)
    try:
        return _changed(
            raw.execute(f'insert into "{table}" by name select * from appended')
        )
    finally:
        raw.unregister("appended")


def _changed(answer: Any) -> int:
    """How many rows a statement has changed."""
    ((number,),) = answer.fetchall()
    return int(number)


def _vectors(
    connection: sa.Connection, sql: str, dimension: int
) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    table = _select(connection, sql, {})
    id_parts = [_in_buffer(chunk, np.int64) for chunk in table.column(0).chunks]
    numbers = [
        _in_buffer(chunk.flatten(), np.float32) for chunk in table.column(1).chunks
    ]
    ids = np.concatenate([np.empty(0, np.int64), *id_parts])
    flat = np.concatenate([np.empty(0, np.float32), *numbers])
    if flat.size != len(ids) * dimension:
        raise StoreError(OTHER_LENGTH.format(dimension=dimension))
    return ids, flat.reshape(len(ids), dimension)


def _in_buffer(array: pa.Array, kind: Any) -> NDArray[Any]:
    """The numbers of an array without nulls: ``to_numpy`` would import pandas."""
    return np.frombuffer(array.buffers()[1], kind)[
        array.offset : array.offset + len(array)
    ]


def _nothing(_connection: sa.Connection, *_more: object) -> None:
    """The embedded engine: a file has one writer, and its guard is set when it is
    opened."""


def _require_select(connection: sa.Connection, sql: str) -> None:
    import duckdb

    raw: Any = connection.connection.driver_connection
    statements = raw.extract_statements(rename_binds(sql, "$")[0])
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise MisuseError(
            "expected one SELECT; query connections cannot change anything"
        )
    refuse_functions(sql)


def _query_error(error: BaseException) -> str | None:
    import duckdb

    if isinstance(error, duckdb.Error):
        return str(error)
    return None


def _snapshot(url: sa.URL, target: Path) -> None:
    """The engine copies, not the system: closing a file that is open twice in one
    process would drop the lock on it, and what a killed writer left in its log would be
    missing."""
    import duckdb

    raw = open_scratch(target.with_name(target.name + ".spill"))
    try:
        raw.execute("set enable_progress_bar = false")
        try:
            raw.execute(
                f"attach {literal(url.database or '')} as source_store (read_only)"
            )
        except duckdb.IOException as error:
            raise OSError(str(error)) from None
        as_stored = f"storage_version '{FORM}', block_size {BLOCK_BYTES}"
        raw.execute(f"attach {literal(str(target))} as target_store ({as_stored})")
        raw.execute("copy from database source_store to target_store")
        raw.execute(
            f"comment on table target_store.alembic_version is {literal(_COPY)}"
        )
        raw.execute("detach target_store")
    except duckdb.Error as error:
        raise StoreError(
            f"the copy {target} failed: {str(error).splitlines()[0]}"
        ) from None
    finally:
        raw.close()


def _refresh_lock(url: sa.URL) -> Callable[[], None] | None:
    """A system lock on a file next to the store; the empty file stays."""
    import fcntl

    path = Path(url.database or "")
    handle = os.open(
        path.with_name(path.name + ".refresh"), os.O_RDWR | os.O_CREAT, 0o666
    )
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(handle)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return lambda: os.close(handle)


DUCKDB = Dialect(
    name="duckdb",
    foreign_keys=False,
    indexes=False,
    embedded=True,
    is_lake=False,
    load=load,
    exists=lambda url: Path(url.database or "").exists(),
    open_engine=_engine,
    lock_holder=holder,
    damaged=_damaged,
    retryable=lambda error: "Conflict on update" in str(error),
    select=_select,
    batches=_batches,
    by_id=lambda _connection, _sql, _per: None,
    sha256_of="unhex(sha256({}))".format,
    interrupt=_interrupt,
    append=_append,
    vectors=_vectors,
    guard=_nothing,
    plain_url=_nothing,
    objects=OwnObjects("file_objects", _version, _closed_at),
    require_plain=_nothing,
    printable=_printable,
    roles=None,
    lock_catalogue=_nothing,
    prepare=_nothing,
    lock_shared=_nothing,
    lock_all=_nothing,
    no_source_reserved=lambda _connection: True,
    reserve=lambda _connection, keys, _patient: [True] * len(keys),
    release=_nothing,
    require_select=_require_select,
    analyze=_nothing,
    query_error=_query_error,
    snapshot=_snapshot,
    executors=lambda _url: None,
    refresh_lock=_refresh_lock,
)
