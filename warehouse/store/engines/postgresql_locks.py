"""Locks of the server engine, which keep its writers apart, and what to do about readers that hold them.

They are advisory: whoever can log in can take them. A writer waits for writers as long as they take, and for a
session that can only read a few seconds: it is then named in the error, with how to end it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.errors import StoreLockedError, cause_of
from warehouse.store.alchemy import sa
from warehouse.store.sql.bind_parameters import rename_binds
from warehouse.store.sql.query_files import query_text

#: Taken in this order, so that no two transactions wait for each other: the lock of all loads (shared by each),
#: the places of their keys, the lock of short transactions. Locks of one number and of two (a key's place is the
#: second) never meet, and no number is used in both forms but for what older versions refresh under.
ALL_LOADS, KEYS, SOURCES, SHORT = 7236070, 7236072, 7236073, 7236071
#: Shared by the sessions that have a source reserved.
UNDER_WAY = 7236074
#: Held by the session of the one process that refreshes; and what versions before this one hold for it.
REFRESH, FORMER_REFRESH = 7236075, 7236072
#: Keys share so many places: a dump of many runs must not fill the server's table of locks.
PLACES = 256
#: Seconds that a writer waits for a session that can only read.
PATIENCE = 10.0
_TIMEOUT = "55P03"


def lock_catalogue(connection: sa.Connection) -> None:
    if not connection.exec_driver_sql(f"select pg_try_advisory_xact_lock({SHORT})").scalar_one():
        _wait(connection, SHORT, f"select pg_advisory_xact_lock({SHORT})")


def prepare(connection: sa.Connection) -> None:
    """The log is written in order: a later commit takes this one to the disk."""
    taken = f"select set_config('synchronous_commit', 'off', true), pg_try_advisory_xact_lock({SHORT})"
    if not connection.exec_driver_sql(taken).one()[1]:
        _wait(connection, SHORT, f"select pg_advisory_xact_lock({SHORT})")


def lock_shared(connection: sa.Connection, keys: Iterable[str]) -> None:
    if not connection.exec_driver_sql(f"select pg_try_advisory_xact_lock_shared({ALL_LOADS})").scalar_one():
        _wait(connection, ALL_LOADS, f"select pg_advisory_xact_lock_shared({ALL_LOADS})")
    places = sorted({_number(key) % PLACES for key in keys})
    one_after_the_other = f"select pg_advisory_xact_lock({KEYS}, place) from unnest(cast(%(p)s as int[])) as place"
    _wait(connection, KEYS, one_after_the_other, {"p": places})


def lock_all(connection: sa.Connection) -> None:
    _wait(connection, ALL_LOADS, f"select pg_advisory_xact_lock({ALL_LOADS})")
    lock_catalogue(connection)


def reserve(connection: sa.Connection, keys: Sequence[str], patient: bool) -> list[bool]:
    if not keys:
        return []
    _wait(connection, UNDER_WAY, *_under_way("pg_advisory_lock_shared", 1))
    _count_under_way(connection, "pg_advisory_lock_shared", len(keys) - 1)
    taken = [bool(row[0]) for row in connection.exec_driver_sql(*_of_sources("pg_try_advisory_lock", keys))]
    try:
        for place, key in enumerate(keys):
            if patient and not taken[place]:
                _wait(connection, SOURCES, *_of_sources("pg_advisory_lock", [key]))
                taken[place] = True
    except StoreLockedError:
        release(connection, [key for key, is_mine in zip(keys, taken, strict=True) if is_mine])
        _count_under_way(connection, "pg_advisory_unlock_shared", taken.count(False))
        connection.commit()  # what a session gives back stays given back
        connection.begin()
        raise
    _count_under_way(connection, "pg_advisory_unlock_shared", taken.count(False))
    return taken


def release(connection: sa.Connection, keys: Sequence[str]) -> None:
    connection.exec_driver_sql(*_of_sources("pg_advisory_unlock", keys))
    _count_under_way(connection, "pg_advisory_unlock_shared", len(keys))


def sole(connection: sa.Connection) -> bool:
    return bool(connection.exec_driver_sql(f"select pg_try_advisory_xact_lock({UNDER_WAY})").scalar_one())


def refresh_lock(url: sa.URL) -> Callable[[], None] | None:
    """A lock of a session of its own."""
    engine = sa.create_engine(url, poolclass=sa.pool.NullPool, isolation_level="AUTOCOMMIT")
    connection = engine.connect()

    def let_go() -> None:
        connection.close()
        engine.dispose()

    try:
        for number in (REFRESH, FORMER_REFRESH):
            if not connection.exec_driver_sql(f"select pg_try_advisory_lock({number})").scalar_one():
                _refuse_readers(connection, number)
                let_go()
                return None
    except BaseException:
        let_go()
        raise
    return let_go


def _under_way(function: str, times: int) -> tuple[str, dict[str, int]]:
    return f"select {function}({UNDER_WAY}) from generate_series(1, %(n)s)", {"n": times}


def _count_under_way(connection: sa.Connection, function: str, times: int) -> None:
    """The lock that loads share from the first look at a source to its end, once for each: between
    their transactions too."""
    connection.exec_driver_sql(*_under_way(function, times))


def _of_sources(function: str, keys: Sequence[str]) -> tuple[str, dict[str, list[int]]]:
    """A call of a function for the lock of each source, in this order."""
    text = f"select {function}({SOURCES}, place) from unnest(cast(%(p)s as int[])) as place"
    return text, {"p": [_number(key) - 2**31 for key in keys]}


def _number(key: str) -> int:
    """32 bits of a text."""
    return int.from_bytes(hashlib.sha256(key.encode()).digest()[:4])


def _wait(connection: sa.Connection, number: int, sql: str, values: Mapping[str, Any] | None = None) -> None:
    """Take locks of one number, after the writers that hold them.

    Raises:
        StoreLockedError: only sessions that cannot write hold one, and still do after :data:`PATIENCE`.
    """
    before = connection.exec_driver_sql("select current_setting('lock_timeout')").scalar_one()
    if before != "0":  # whoever set a bound of his own hears of it
        connection.exec_driver_sql(sql, values)
        return
    while True:
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(f"set local lock_timeout = '{1000 * PATIENCE:.0f}ms'")
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
    holders = [_Holder(*row) for row in connection.exec_driver_sql(text, {"number": number})]
    if not holders or any(one.can_write for one in holders):
        return
    named = ", ".join(f"process {one.pid} of {one.role} ({one.application or 'no name'})" for one in holders)
    end = "; ".join(f"select pg_terminate_backend({one.pid})" for one in holders)
    raise StoreLockedError(
        f"a lock of writers ({number}) is held by {named}, who can only read; waited {PATIENCE:g} s; end the session"
        f" as its role or as a superuser: {end}"
    )
