"""Opening a store by URL: waiting for locks, checking the schema, reading into Arrow."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import sqlalchemy as sa
from numpy.typing import NDArray

from warehouse.errors import MisuseError, StoreError, StoreLockedError
from warehouse.store import dialects, revision
from warehouse.store.binds import bind_names

T = TypeVar("T")

#: Where the store is if nobody says.
DEFAULT_URL = "duckdb:///warehouse.duckdb"


class Store:
    """One open connection to a store.

    Use :func:`open_store`. ``connection`` is a SQLAlchemy connection; ``dialect`` says what its
    engine can do.
    """

    def __init__(self, url: sa.URL, dialect: dialects.Dialect, engine: sa.Engine) -> None:
        self.url, self.dialect, self.engine = url, dialect, engine
        self.connection = engine.connect()

    @property
    def name(self) -> str:
        """The URL, without secrets."""
        return dialects.shown_url(self.url)

    def arrow(self, sql: str, params: Mapping[str, Any] | None = None) -> pa.Table:
        """Run one SELECT with ``:name`` parameters.

        Raises:
            MisuseError: a parameter without a value, or a statement that the engine refuses.
        """
        values = dict(params or {})
        require_values(sql, values)
        with self.reading():
            return self.dialect.select(self.connection, sql, values)

    def vectors(self, sql: str, dimension: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Run one SELECT of an id and a vector, without parameters, into two arrays.

        Raises:
            StoreError: a vector of another length than ``dimension``.
        """
        with self.reading():
            return self.dialect.vectors(self.connection, sql, dimension)

    def block(self, kind: str) -> frozenset[int]:
        """The ids of a kind that are going to be read one after the other; empty if nobody knows
        (:class:`~warehouse.store.shared.SharedReads` does)."""
        return frozenset()

    def once(self, key: Hashable, compute: Callable[[], T], *, of_block: bool = False) -> T:
        """What ``compute`` gives; where reads are shared, it is called once for a key.

        Args:
            key: of what is read.
            compute: reads it.
            of_block: it may be forgotten when other ids are read.
        """
        return compute()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """The transaction that there is, else one that is taken back: a SELECT has nothing to
        commit, and what a function in it wrote must not stay."""
        if self.connection.in_transaction():
            yield
            return
        self.connection.begin()
        try:
            yield
        finally:
            self._take_back()

    @contextmanager
    def begin(self) -> Iterator[sa.Connection]:
        """One transaction: committed at the end, rolled back on any error, its own end included."""
        self.connection.begin()
        try:
            yield self.connection
            self.connection.commit()
        except BaseException:
            self._take_back()
            raise

    def _take_back(self) -> None:
        """Roll back; an engine that failed for good cannot even do that, and what it failed of is
        what has to be told."""
        try:
            self.connection.rollback()
        except sa.exc.DBAPIError:
            self.connection.invalidate()

    def close(self) -> None:
        """Let go of the store."""
        with suppress(sa.exc.DBAPIError):
            self.connection.close()
        self.engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def require_values(sql: str, params: Mapping[str, Any]) -> None:
    """Refuse a statement with a parameter that has no value.

    Raises:
        MisuseError: names the parameters.
    """
    missing = [name for name in bind_names(sql) if name not in params]
    if missing:
        raise MisuseError(f"no value for the parameter {', '.join(missing)}")


def open_store(
    url: str | None = None,
    *,
    write: bool = False,
    create: bool = False,
    beside_others: bool = False,
    guarded: bool = False,
    typed: bool = True,
    reader: str = "",
    check: bool = True,
    wait: float = 10.0,
    say: Callable[[str], None] | None = None,
) -> Store:
    """Open a store.

    Args:
        url: ``duckdb:///file``, a bare file name, or ``postgresql://…``; default
            ``duckdb:///warehouse.duckdb``.
        write: open for writing.
        create: create the schema where there is none (implies ``write``).
        beside_others: create it also in a database that holds tables which are not a store's.
        guarded: a connection that can neither write nor reach files or the network.
        typed: it is for SQL that somebody typed, and so needs a role that only reads.
        reader: that role, or its whole URL; default: the URL's own, unless that could do more.
        check: refuse a schema of another version.
        wait: seconds to wait for a store that another process holds.
        say: told if there is something to wait for, or that a store was created.

    Raises:
        StoreError: the store cannot be opened.
        StoreLockedError: still held after ``wait`` seconds; names the holder.
        SchemaVersionError: the schema is older or newer than this program.
        MisuseError: ``guarded``, and there is no role that only reads.
    """
    parsed = dialects.parse_url(url or DEFAULT_URL)
    dialect = dialects.dialect_of(parsed)
    if not create and not dialect.exists(parsed):
        raise StoreError(
            f"no store at {parsed.database}; create it with: warehouse init, or warehouse ingest"
        )
    store = wait_for(
        lambda: Store(parsed, dialect, dialect.open_engine(parsed, write or create, guarded)),
        parsed, dialect, wait, say,
    )  # fmt: skip
    try:
        if create and revision.found(store) is None:
            _create(store, beside_others, say)
        elif check:
            revision.require(store)
        if guarded:
            store = _as_reader(store, reader, wait, say) if typed else store
            dialect.guard(store.connection)
    except BaseException:
        store.close()
        raise
    return store


def _as_reader(store: Store, reader: str, wait: float, say: Callable[[str], None] | None) -> Store:
    """A store that what people type can be run on: in a session of its own, if a role other than
    the URL's is to run it. One that steps down within its session can step up again."""
    with store.begin() as connection:
        plain = store.dialect.plain_url(connection, store.url, reader)
    if plain is None:
        return store
    store.close()
    dialect = dialects.dialect_of(plain)
    store = wait_for(
        lambda: Store(plain, dialect, dialect.open_engine(plain, False, True)),
        plain, dialect, wait, say,
    )  # fmt: skip
    try:
        with store.begin() as connection:
            dialect.require_plain(connection, plain)
        if revision.found(store) is None:
            raise StoreError(f"{store.name} cannot read the store; let it in: warehouse db reader")
        revision.require(store)
    except BaseException:
        store.close()
        raise
    return store


def is_made(url: str | None = None, *, wait: float = 10.0) -> bool:
    """Whether there is a store of any version; looks without keeping others from reading.

    Raises:
        StoreError: what is there cannot be opened.
    """
    parsed = dialects.parse_url(url or DEFAULT_URL)
    if not dialects.dialect_of(parsed).exists(parsed):
        return False
    with open_store(url, check=False, wait=wait) as store:
        return revision.found(store) is not None


def _create(store: Store, beside_others: bool, say: Callable[[str], None] | None) -> None:
    from warehouse.store import migrate

    if not beside_others:
        with store.begin() as connection:
            names = sorted({*sa.inspect(connection).get_table_names()} - {"alembic_version"})
        if names:
            several = ", ".join(names[:3]) + (" …" if len(names) > 3 else "")
            raise StoreError(
                f"{store.name} is no store and holds other tables: {several}; give another one with"
                f" --db, or say that they shall lie beside each other: warehouse --db {store.name}"
                " init"
            )
    migrate.upgrade(store)
    if say:
        say(f"created {store.name}")


#: What to do about a file that cannot be read any more.
DAMAGED = (
    "; the file is damaged: go on from a published copy or a backup of it, or ingest the dumps into"
    " a new store (docs/writers.md)"
)


def wait_for(
    attempt: Callable[[], T],
    url: sa.URL,
    dialect: dialects.Dialect,
    wait: float,
    say: Callable[[str], None] | None,
) -> T:
    """What an attempt to open a store gives, repeated while another process holds it.

    Raises:
        StoreError: it cannot be opened.
        StoreLockedError: still held after ``wait`` seconds; names the holder.
    """
    deadline, told = time.monotonic() + wait, False
    where = dialects.shown_url(url)
    while True:
        try:
            return attempt()
        except (sa.exc.DBAPIError, OSError) as error:
            holder = dialect.lock_holder(error)
            if holder is None:
                told_more = DAMAGED if dialect.damaged(error) else ""
                reason = dialects.without_secrets(_first_line(error), url)
                raise StoreError(f"cannot open {where}: {reason}{told_more}") from None
            if time.monotonic() >= deadline:
                raise StoreLockedError(
                    f"{where} is held by {holder}; waited {wait:g} s; try again when it has ended"
                ) from None
            if say and not told:
                say(f"waiting for {where}, held by {holder}")
            told = True
            time.sleep(0.2)


def _first_line(error: BaseException) -> str:
    cause = getattr(error, "orig", None) or error
    return str(cause).strip().splitlines()[0]
