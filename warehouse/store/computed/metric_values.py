"""Rows of ``refresh`` and ``metric_value``: begun, added to, finished, pruned.

A refresh whose ``finished_at`` is null runs, or was killed; views do not show its
figures. Only the process that holds the store (:attr:`Dialect.refresh_lock`) writes
here, so an unfinished refresh that it finds is dead, and it goes on from there.

A refresh that is asked for alerts is marked ``due`` in the transaction that makes its
figures visible, so that a process that dies before it has told them leaves the mark for
the next.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import pyarrow as pa

from warehouse.errors import StoreError, StoreLockedError
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.load.bulk_insert import in_text
from warehouse.store.load.dimensions import allocate
from warehouse.store.schema.later import tables
from warehouse.store.sql.query_files import query_text

Row = Mapping[str, Any]

_COLUMNS = (
    *(
        "refresh_id",
        "subject_kind",
        "subject",
        "benchmark",
        "metric",
        "statistic",
        "method",
        "method_version",
    ),
    *(
        "estimate",
        "standard_error",
        "low",
        "high",
        "n",
        "n_clusters",
        "input_fingerprint",
        "reason",
    ),
)
_CURRENT = f"select {', '.join(_COLUMNS)} from metric_current"
_OF_REFRESH = f"select {', '.join(_COLUMNS)} from metric_value where refresh_id ="
_SCHEMA = pa.schema(
    [
        ("refresh_id", pa.int64()),
        *((name, pa.string()) for name in _COLUMNS[1:8]),
        *((name, pa.float64()) for name in _COLUMNS[8:12]),
        ("n", pa.int64()),
        ("n_clusters", pa.int64()),
        ("parameters", pa.string()),
        ("input_fingerprint", pa.string()),
        ("reason", pa.string()),
    ]
)
_POLL = 0.2


@contextmanager
def holding(
    reading: Callable[[], Any], wait: float, say: Callable[[str], None] | None = None
) -> Iterator[None]:
    """Be the one process that refreshes a store (StoreLockedError: still refreshed by
    another after that; names it).

    Args:
        reading: opens the store, for a moment.
        wait: seconds to wait for another process.
        say: told if there is something to wait for.
    """
    deadline = time.monotonic() + wait
    waiting = False
    with reading() as store:
        url = store.url
        dialect = store.dialect
        name = store.name
    while (let_go := dialect.refresh_lock(url)) is None:
        if time.monotonic() >= deadline:
            raise StoreLockedError(
                f"{name} is refreshed by {_holder(reading)}; waited {wait:g} s; try "
                "again when it has ended"
            )
        if say and not waiting:
            say(f"waiting for the refresh of {name} by {_holder(reading)}")
        waiting = True
        time.sleep(_POLL)
    try:
        yield
    finally:
        let_go()


def _holder(reading: Callable[[], Any]) -> str:
    with reading() as store:
        row = unfinished(store)
    holder = (row or {}).get("holder")
    if holder:
        return str(holder)
    return "another process"


def unfinished(store: Store) -> dict[str, Any] | None:
    """Parameters of the newest refresh that is not finished, with its ``id``."""
    sql = (
        "select id, parameters from refresh where finished_at is null order by id desc "
        "nulls last limit 1"
    )
    rows = store.rows(sql)
    if not rows:
        return None
    parameters = json.loads(rows[0]["parameters"] or "{}")
    return {**parameters, "id": rows[0]["id"]}


def current_values(store: Store) -> list[dict[str, Any]]:
    """Rows of ``metric_current``."""
    return store.rows(_CURRENT)


def values_of(store: Store, refresh: int) -> list[dict[str, Any]]:
    """Rows that one refresh wrote."""
    return store.rows(f"{_OF_REFRESH} {int(refresh)}")


def begin(
    store: Store,
    parameters: Mapping[str, Any],
    version: str,
    now: datetime,
    adopted: int | None,
    outdated: Sequence[str] = (),
) -> int:
    """A new refresh, or the unfinished one that goes on; its id.

    Args:
        store: open for writing.
        parameters: what runs, and who runs it (``holder``).
        version: of the program.
        now: naive UTC.
        adopted: id of the refresh that goes on.
        outdated: fingerprints of what it has computed that are not true any more.
    """
    refresh, value = tables.refresh, tables.metric_value
    state = {
        "state": "running",
        "program_version": version,
        "parameters": dict(parameters),
    }
    with store.begin() as connection:
        if adopted is not None:
            own = value.c.refresh_id == adopted
            for start in range(0, len(outdated), 500):
                some = value.c.input_fingerprint.in_(outdated[start : start + 500])
                connection.execute(sa.delete(value).where(own, some))
            connection.execute(
                sa.update(refresh).where(refresh.c.id == adopted).values(**state)
            )
            return adopted
        latest = connection.execute(
            sa.select(sa.func.max(refresh.c.started_at))
        ).scalar()
        started = now
        if latest is not None:
            started = max(now, latest + timedelta(microseconds=1))
        number = allocate(connection, refresh.name, 1)
        row = {"id": number, "started_at": started, **state}
        connection.execute(sa.insert(refresh).values(_in_text(refresh, row)))
        return number


def add_values(store: Store, refresh: int, holder: str, rows: Sequence[Row]) -> None:
    """Add figures, all of them or none (StoreError: another process has taken over this
    refresh).

    Args:
        rows: columns of ``metric_value`` but ``refresh_id``; ``parameters`` is a
            dictionary.
    """
    with store.begin() as connection:
        _add(store, connection, refresh, holder, rows)


def finish(
    store: Store,
    refresh: int,
    holder: str,
    rows: Sequence[Row],
    *,
    state: str,
    summary: Mapping[str, Any],
    now: datetime,
) -> None:
    """Add the last figures and make all of them visible, in one transaction.

    Raises:
        StoreError: another process has taken over this refresh.
    """
    table = tables.refresh
    with store.begin() as connection:
        _add(store, connection, refresh, holder, rows)
        this = table.c.id == in_text(table.c.id, refresh)
        begun = connection.execute(
            sa.select(table.c.started_at).where(this)
        ).scalar_one()
        values = {
            "state": state,
            "summary": dict(summary),
            "finished_at": max(now, begun),
        }
        connection.execute(sa.update(table).where(this).values(_in_text(table, values)))


def _in_text(table: sa.Table, row: Row) -> dict[str, sa.ColumnElement[Any]]:
    return {name: in_text(table.c[name], value) for name, value in row.items()}


def _add(
    store: Store,
    connection: sa.Connection,
    refresh: int,
    holder: str,
    rows: Sequence[Row],
) -> None:
    table = tables.refresh
    query = sa.select(table.c.parameters).where(
        table.c.id == in_text(table.c.id, refresh), table.c.finished_at.is_(None)
    )
    parameters = connection.execute(query).scalar()
    if (parameters or {}).get("holder") != holder:
        raise StoreError(
            "another process has taken over this refresh; nothing more was written"
        )
    if rows:
        plain = [
            {
                **row,
                "refresh_id": refresh,
                "parameters": json.dumps(dict(row["parameters"])),
            }
            for row in rows
        ]
        reader = pa.Table.from_pylist(plain, _SCHEMA).to_reader()
        from collections import Counter

        store.dialect.append(connection, tables.metric_value.name, reader, Counter())


def prune(store: Store, before: datetime) -> tuple[int, int]:
    """Forget figures of refreshes that ended before a time, but for those that are
    current.

    Args:
        store: open for writing.
        before: naive UTC.

    Returns:
        figures and refreshes that were removed.
    """
    bound = {"before": before}
    old = sa.select(tables.refresh.c.id).where(tables.refresh.c.finished_at < before)
    # others may be written meanwhile
    of_old = (
        tables.metric_value.c.refresh_id.in_(old),
        tables.refresh.c.id.in_(old),
    )
    counts = [sa.select(sa.func.count()).where(condition) for condition in of_old]
    with store.begin() as connection:
        n_values, n_refreshes = (
            int(connection.execute(count).scalar_one()) for count in counts
        )
        connection.execute(sa.text(query_text("store", "prune_metric_values")), bound)
        connection.execute(
            sa.text(query_text("store", "delete_empty_refreshes")), bound
        )
        values_left, refreshes_left = (
            int(connection.execute(count).scalar_one()) for count in counts
        )
    return n_values - values_left, n_refreshes - refreshes_left


#: Key of the marks in a summary.
MARKS = "alerts"
DUE, TOLD, GIVEN_UP = "due", "told", "given up"


@dataclass(frozen=True)
class Untold:
    """A refresh with alerts that may not be delivered yet."""

    id: int  #: of the refresh.
    ended: datetime  #: when, naive UTC.
    #: channel -> `DUE`, `TOLD` or `GIVEN_UP`; empty for one that was not asked for
    #: alerts.
    marks: Mapping[str, str]

    def awaits(self, channel: str) -> bool:
        """True if delivery on this channel is still due."""
        return self.marks.get(channel, DUE) == DUE


def untold(store: Store, refresh: int) -> list[Untold]:
    """This refresh, and those before it that a channel has not told, oldest first:
    marked as due, or, after the newest that was asked for alerts, not asked for any."""
    undelivered = []
    for row in store.rows(
        query_text("store", "undelivered_refreshes").format(refresh=refresh)
    ):
        marks = json.loads(row["summary"] or "{}").get(MARKS, {})
        undelivered.append(Untold(row["id"], row["finished_at"], marks))
    return undelivered


def mark(store: Store, marks: Sequence[tuple[int, Mapping[str, str]]]) -> None:
    """Add marks to refreshes.

    Args:
        store: open for writing.
        marks: id of the refresh, and channel -> mark.
    """
    table = tables.refresh
    with store.begin() as connection:
        for refresh, news in marks:
            this = table.c.id == in_text(table.c.id, refresh)
            summary = connection.execute(
                sa.select(table.c.summary).where(this)
            ).scalar()
            if summary is not None:  # else it was pruned meanwhile
                marked = {**summary, MARKS: {**summary.get(MARKS, {}), **news}}
                value = in_text(table.c.summary, marked)
                connection.execute(sa.update(table).where(this).values(summary=value))
