"""An open store: its engine, its settings, its connections."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from warehouse.errors import (
    MisuseError,
    StoreError,
    StoreLockedError,
    cause_of,
    first_line,
)
from warehouse.records.answer_text import readable, without_surrogates
from warehouse.records.policy import Policy, PolicyRules, StoredPolicy
from warehouse.store import engines, room
from warehouse.store.alchemy import sa
from warehouse.store.columns import Columns, rows_of
from warehouse.store.sql.bind_parameters import bind_names, expand_lists
from warehouse.store.sql.query_files import query_text

#: Asked before all else: few stores have anything.
_DECLARED = "select distinct about from declaration"
#: Bytes of answers that are kept of a state.
KEPT_BYTES = 32_000_000


class KeptReads:
    """Answers to SELECTs of one state of a store, for whoever asks them again: what is
    read of benchmarks and prompts for one pair of models is the same for the next.
    Those go that were not asked for longest.
    """

    def __init__(self) -> None:
        self._answers: OrderedDict[Hashable, pa.Table] = OrderedDict()
        self._lock = threading.Lock()
        self._size = 0

    def once(self, key: Hashable, read: Callable[[], pa.Table]) -> pa.Table:
        """The answer that is kept, else what is read now; one that is not too large is
        kept."""
        with self._lock:
            if key in self._answers:
                self._answers.move_to_end(key)
                return self._answers[key]
        table = read()
        with self._lock:
            if key not in self._answers and table.nbytes <= KEPT_BYTES // 4:
                self._answers[key] = table = _copy(table)
                self._size += table.nbytes
            while self._size > KEPT_BYTES:
                self._size -= self._answers.popitem(last=False)[1].nbytes
        return table


def _copy(table: pa.Table) -> pa.Table:
    """The same rows in as little memory as they need: an engine's own buffers hold many
    times as much."""
    written = pa.BufferOutputStream()
    with pa.ipc.new_stream(written, table.schema) as stream:
        stream.write_table(table)
    return pa.ipc.open_stream(written.getvalue()).read_all()


T = TypeVar("T")


class Store:
    """One open connection to a store.

    Use :func:`open_store`. ``connection`` is a SQLAlchemy connection, or, of a file
    that is only read, one that becomes such where it has to (`engines.full_connection`,
    for functions of SQLAlchemy that take one); ``dialect`` says what its engine can do;
    ``limits`` what each query may take, of a store for queries that people type;
    ``kept`` what is kept of its reads where they are shared, as long as nobody writes
    to it.
    """

    limits: engines.Limits | None = None
    kept: KeptReads | None = None
    #: what unscored samples count as for whoever asks it; None: they are missing.
    policies: PolicyRules | None = None
    #: kinds of what people said of benchmarks, as one answer knows them; None: ask.
    declared: frozenset[str] | None = None
    is_own = False  # what stands under names of ours was found to be ours
    when_closed: Callable[[], object] | None = None

    def __init__(
        self,
        url: sa.URL,
        dialect: engines.Dialect,
        engine: sa.Engine,
        *,
        write: bool = False,
    ) -> None:
        self.url = url
        self.dialect = dialect
        self.engine = engine
        self.write = write
        self._has_written = False
        self.n_forgotten = (
            0  # how often rows were removed that a loader of this store may remember
        )
        engines.before_statements(engine, self._storable)
        self.connection = engine.connect()

    def under(self, policy: str | None) -> Store:
        """The same open store, read under a policy, else under those that are stored of
        its benchmarks; closing it leaves this one open.

        Args:
            policy: for all that is read; None: those that are stored.

        Raises:
            MisuseError: no such policy.
        """
        asked = None
        if policy is not None:
            asked = Policy.of(policy)
        store = copy(self)
        store.declared = self.kinds_declared()
        store.when_closed = None
        stored = {}
        if "policy" in store.declared:
            stored = self._stored_policies()
        if asked is not None or stored:
            store.policies = PolicyRules(asked, stored)
        return store

    def kinds_declared(self) -> frozenset[str]:
        """Kinds of what people said of benchmarks: ``metric alias``, ``policy``,
        ``slices``."""
        if self.declared is not None:
            return self.declared
        return frozenset(row["about"] for row in self.rows(_DECLARED))

    def _stored_policies(self) -> dict[tuple[int, int], StoredPolicy]:
        return {
            (row["benchmark_id"], row["metric_id"]): StoredPolicy(
                replace(Policy.of(row["said"]), wrong_value=row["wrong_value"]),
                row["benchmark"],
                row["declared_at"],
            )
            for row in self.rows(query_text("store", "stored_policies"))
        }

    @property
    def name(self) -> str:
        """The URL, without secrets."""
        return engines.shown_url(self.url)

    def arrow(
        self,
        sql: str,
        params: Mapping[str, Any] | None = None,
        *,
        per: str = "",
        by_id: bool = False,
    ) -> pa.Table:
        """Run one SELECT with ``:name`` parameters; one of several values stands in
        ``in (:name)``.

        Args:
            per: a column of ids that each row is of, such as ``run_id``; the SELECT
                asks for them ``in (:run_ids)``, and its rows of one id are the same
                whichever others are asked for. Where reads are shared, rows of many ids
                are read at once; they then stand by id, else as the SELECT has them.
            by_id: they may stand by id in any case, which takes less where they are
                many numbers.

        Raises:
            MisuseError: a parameter without a value, or a statement that the engine
                refuses.
        """
        values = dict(params or {})
        require_values(sql, values)
        return self._select(*expand_lists(sql, values), per if by_id else "")

    def batches(
        self, sql: str, params: Mapping[str, Any] | None = None, *, n_rows: int
    ) -> Iterator[pa.Table]:
        """The answer to one SELECT in parts, as the engine finds them: for one that need
        not fit into memory. Nothing else is asked until the last part.

        Args:
            sql: as :meth:`arrow` takes it.
            n_rows: about how many rows a part has.

        Raises:
            MisuseError: as :meth:`arrow`.
        """
        values = dict(params or {})
        require_values(sql, values)
        text, bound = expand_lists(sql, values)
        with self.reading():
            yield from self.dialect.batches(
                self.connection, text, self._texts(bound), n_rows
            )

    def _select(self, sql: str, params: Mapping[str, Any], by_id: str = "") -> pa.Table:
        with self.reading():
            if (
                by_id
                and not params
                and (table := self.dialect.by_id(self.connection, sql, by_id))
                is not None
            ):
                return table
            if self.limits is None:
                most = None
            else:
                most = self.limits.answer
            return self.dialect.select(self.connection, sql, self._texts(params), most)

    def _storable(
        self, _connection: Any, _cursor: Any, sql: str, params: Any, *_more: Any
    ) -> tuple[str, Any]:
        """A statement with what is bound as the engine takes it."""
        if isinstance(params, list):
            return sql, [self._texts(row) for row in params]
        return sql, self._texts(params)

    def _texts(self, params: Any) -> Any:
        """Bound values without what no text of the engine can hold; the same object
        where all are fit."""
        values = params
        if isinstance(params, Mapping):
            values = params.values()
        if not any(
            isinstance(value, str) and not value.isprintable() for value in values
        ):
            return params
        if isinstance(params, Mapping):
            return {name: self._fit_value(value) for name, value in params.items()}
        return tuple(self._fit_value(value) for value in params)

    def _fit_value(self, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        if self.dialect.embedded:
            return without_surrogates(value)
        return readable(value)

    def rows(
        self, sql: str, params: Mapping[str, Any] | None = None, *, per: str = ""
    ) -> list[dict[str, Any]]:
        """The rows of one SELECT (:meth:`arrow`), each by name of its columns."""
        return rows_of(self.arrow(sql, params, per=per))

    def columns(
        self, sql: str, params: Mapping[str, Any] | None = None, *, per: str = ""
    ) -> Columns:
        """The columns of one SELECT (:meth:`arrow`), as arrays; its rows may stand by
        the ids that they are of."""
        return Columns(self.arrow(sql, params, per=per, by_id=True))

    def vectors(
        self, sql: str, dimension: int
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Run one SELECT of an id and a vector, without parameters, into two arrays.

        Raises:
            StoreError: a vector of another length than ``dimension``.
        """
        with self.reading():
            return self.dialect.vectors(self.connection, sql, dimension)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """The current transaction, or a new one that is rolled back at the end: a
        SELECT has nothing to commit, and writes of a function that it calls must not
        persist."""
        if self.connection.in_transaction():
            yield
            return
        self.connection.begin()
        try:
            yield
        finally:
            self._roll_back()

    @contextmanager
    def begin(self) -> Iterator[sa.Connection]:
        """One transaction: committed at the end, rolled back on any error, its own end
        included.

        Raises:
            DiskFullError: the disk of an embedded store that is open for writing has
                next to no room.
        """
        if self.write and self.dialect.embedded:
            self._require_room()
        self.connection.begin()
        try:
            yield self.connection
            self.connection.commit()
        except BaseException:
            self._roll_back()
            raise

    @contextmanager
    def changing_catalogue(self) -> Iterator[sa.Connection]:
        """:meth:`begin`, while nobody else changes models, benchmarks, prompts and what
        is said of them."""
        with self.begin() as connection:
            self.dialect.lock_catalogue(connection)
            yield connection

    def _require_room(self) -> None:
        path = Path(self.url.database or "")
        room.require_room(path)
        if not self._has_written:
            room.try_room(path)
        self._has_written = True

    def _roll_back(self) -> None:
        """Roll back. A fatally failed engine cannot even do that; its first error is
        the one to report."""
        try:
            self.connection.rollback()
        except sa.exc.DBAPIError:
            self.connection.invalidate()

    def close(self) -> None:
        """Let go of the store."""
        with engines.failing_anyway():
            self.connection.close()
        self.engine.dispose()
        if self.when_closed is not None:
            self.when_closed()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def require_values(sql: str, params: Mapping[str, Any]) -> None:
    """Refuse a statement with a parameter that has no value (MisuseError: names the
    parameters)."""
    missing = [name for name in bind_names(sql) if name not in params]
    if missing:
        raise MisuseError(f"no value for the parameter {', '.join(missing)}")


#: What to do about a file that cannot be read any more.
DAMAGED = (
    "; the file is damaged: go on from a published copy or a backup of it, or ingest "
    "the dumps into a new store (docs/writers.md)"
)
#: What to do about a server that lets nobody in.
_UNREACHABLE = "; is the server up, and is the URL right?"


def wait_for(
    attempt: Callable[[], T],
    url: sa.URL,
    dialect: engines.Dialect,
    wait: float,
    say: Callable[[str], None] | None,
) -> T:
    """The result of an attempt to open a store, repeated while another process holds
    it.

    Raises:
        StoreError: it cannot be opened.
        StoreLockedError: still held after ``wait`` seconds; names the holder.
    """
    deadline = time.monotonic() + wait
    waiting = False
    where = engines.shown_url(url)
    while True:
        try:
            return attempt()
        except Exception as error:
            if not (isinstance(error, OSError) or dialect.query_error(cause_of(error))):
                raise
            holder = dialect.lock_holder(error)
            if holder is None:
                advice = _UNREACHABLE
                if dialect.damaged(error):
                    advice = DAMAGED
                elif dialect.embedded or dialect.is_lake:
                    advice = ""
                if (missing := dialect.missing_database(url)) is not None:
                    raise StoreError(
                        f"{where}: the server has no database {missing}; make it: "
                        f"warehouse --db {where} store init --create, or: createdb "
                        f"{missing}"
                    ) from None
                reason = engines.without_secrets(first_line(error), url)
                raise StoreError(f"cannot open {where}: {reason}{advice}") from None
            if time.monotonic() >= deadline:
                raise StoreLockedError(
                    f"{where} is held by {holder}; waited {wait:g} s; try again when "
                    "it has ended"
                ) from None
            if say and not waiting:
                say(f"waiting for {where}, held by {holder}")
            waiting = True
            time.sleep(0.2)
