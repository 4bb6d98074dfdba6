"""Opening a store by URL: waiting for locks, checking the schema, reading into Arrow."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from warehouse.errors import MisuseError, StoreError
from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store, wait_for
from warehouse.store.engines import DEFAULT_URL as DEFAULT_URL
from warehouse.store.schema import objects, revision


def open_store(
    url: str | None = None,
    *,
    write: bool = False,
    create: bool = False,
    beside_others: bool = False,
    guarded: bool = False,
    limits: engines.Limits | None = None,
    typed: bool = True,
    reader: str = "",
    check: bool = True,
    wait: float = 10.0,
    say: Callable[[str], None] | None = None,
) -> Store:
    """Open a store.

    Args:
        url: ``duckdb:///file``, a bare file name, ``postgresql://…``, or
            ``sail:?lake=…`` and ``sc://…?lake=…`` (``docs/scale.md``); default
            ``duckdb:///warehouse.duckdb``.
        write: open for writing.
        create: create the schema where there is none (implies ``write``).
        beside_others: create it also in a database that holds tables which are not a
            store's.
        guarded: a connection that can neither write nor reach files or the network.
        limits: what each query on a guarded connection may take; default: 300 s, less
            than half of the memory.
        typed: it is for SQL that somebody typed, and so needs a role that only reads.
        reader: that role, or its whole URL; default: the URL's own, unless that could
            do more.
        check: refuse a schema of another version.
        wait: seconds to wait for a store that another process holds.
        say: told if there is something to wait for, or that a store was created.

    Raises:
        StoreError: the store cannot be opened.
        StoreLockedError: still held after ``wait`` seconds; names the holder.
        SchemaVersionError: the schema is older or newer than this program.
        MisuseError: ``guarded``, and there is no role that only reads.
    """
    parsed = engines.parse_url(url or DEFAULT_URL)
    dialect = engines.dialect_of(parsed)
    is_there = dialect.exists(parsed)
    if not create and not is_there:
        hint = (
            engines.hint_on_slashes(parsed)
            or "; create it with: warehouse store init, or warehouse ingest"
        )
        raise StoreError(f"no store at {parsed.database}{hint}")
    limits = (limits or engines.Limits()) if guarded else None
    store = wait_for(
        lambda: Store(
            parsed,
            dialect,
            dialect.open_engine(parsed, write or create, limits),
            write=write or create,
        ),
        parsed,
        dialect,
        wait,
        say,
    )
    try:
        look = _first_look(store) if is_there and (write or create or check) else None
        if create and revision.found(store) is None:
            _create(store, beside_others, say, is_new_file=not is_there)
            store.is_own = True
        elif not is_there:  # somebody else has made it meanwhile
            look = _first_look(store)
        if check:
            revision.require(store)
            if look is not None and not store.is_own:
                look.require_texts()
            store.is_own = True
        if store.write and store.is_own:
            store.when_closed = partial(objects.remember, store)
        if limits is not None:
            if typed and not dialect.is_lake:
                store = _as_reader(store, reader, limits, wait, say)
            store.limits = limits
            dialect.guard(store.connection, limits)
    except BaseException:
        store.close()
        raise
    return store


def make_database(url: str, say: Callable[[str], None]) -> None:
    """Make the database of a URL on its server, unless it is there.

    Args:
        say: told that it was made.

    Raises:
        MisuseError: the store is a file, or on a lake.
        StoreError: the role may not make one.
    """
    parsed = engines.parse_url(url)
    dialect = engines.dialect_of(parsed)
    if dialect.make_database is None:
        raise MisuseError(
            "a database is made on a server; a store that is a file needs none"
        )
    name = dialect.missing_database(parsed)
    if name is not None:
        dialect.make_database(parsed)
        say(f"created the database {name}")


def discard_if_empty(store: Store) -> bool:
    """Remove the file of a store into which nothing was loaded, while nobody else can
    open it; True if it was.

    Args:
        store: embedded, open for writing, and made just now.
    """
    if store.rows("select id from source where state = 'loaded' limit 1"):
        return False
    _remove_file(store)
    return True


def _remove_file(store: Store) -> None:
    """Remove the file of a store that is open, while nobody else can open it."""
    path = Path(store.url.database or "")
    store.when_closed = None
    path.unlink(missing_ok=True)
    path.with_name(f"{path.name}.wal").unlink(missing_ok=True)


def _first_look(store: Store) -> objects.Look:
    look = objects.Look(store)
    look.require_kinds()
    return look


def _as_reader(
    store: Store,
    reader: str,
    limits: engines.Limits,
    wait: float,
    say: Callable[[str], None] | None,
) -> Store:
    """A store that what people type can be run on: in a session of its own, if a role
    other than the URL's is to run it. One that steps down within its session can step
    up again."""
    with store.begin() as connection:
        plain = store.dialect.plain_url(connection, store.url, reader)
    if plain is None:
        return store
    store.close()
    dialect = engines.dialect_of(plain)
    store = wait_for(
        lambda: Store(plain, dialect, dialect.open_engine(plain, False, limits)),
        plain,
        dialect,
        wait,
        say,
    )
    try:
        with store.begin() as connection:
            dialect.require_plain(connection, plain)
        if revision.found(store) is None:
            raise StoreError(
                f"{store.name} cannot read the store; let it in: warehouse store reader"
            )
        revision.require(store)
    except BaseException:
        store.close()
        raise
    return store


def is_made(url: str | None = None, *, wait: float = 10.0) -> bool:
    """True if there is a store of any version; looks without keeping others from
    reading.

    Raises:
        StoreError: what is there cannot be opened.
    """
    parsed = engines.parse_url(url or DEFAULT_URL)
    if not engines.dialect_of(parsed).exists(parsed):
        return False
    with open_store(url, check=False, wait=wait) as store:
        return revision.found(store) is not None


def _create(
    store: Store,
    beside_others: bool,
    say: Callable[[str], None] | None,
    *,
    is_new_file: bool,
) -> None:
    """Make a store; a file that was not there before is not left without one.

    Args:
        is_new_file: nothing was there before the store was opened.
    """
    from warehouse.store.schema import new_store

    if not beside_others:
        with store.begin() as connection:
            names = sorted(
                {*sa.inspect(connection).get_table_names()} - {"alembic_version"}
            )
        # else another process has just made it
        if names and revision.found(store) is None:
            several = ", ".join(names[:3])
            if len(names) > 3:
                several += " …"
            raise StoreError(
                f"{store.name} is no store and holds other tables: {several}; give "
                "another one with --db, or say that they shall lie beside each other: "
                f"warehouse --db {store.name} store init"
            )
    try:
        is_made = new_store.create(store)
    except BaseException:
        if is_new_file and store.dialect.embedded:
            _remove_file(store)
        raise
    if is_made and say:
        say(f"created {store.name}")


@dataclass(frozen=True)
class StoreOpener:
    """How to open a store, for as long as one step takes: nobody waits while something
    is computed."""

    reading: Callable[[], AbstractContextManager[Store]]  #: opens it for reading.
    writing: Callable[[], AbstractContextManager[Store]]  #: opens it for writing.

    @classmethod
    def of(cls, store: Store) -> StoreOpener:
        """Gives a store that is open already, and leaves it open."""
        return cls(lambda: nullcontext(store), lambda: nullcontext(store))
