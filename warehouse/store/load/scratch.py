"""The scratch space: one relational scratch space that parses dumps and prepares facts.

For the embedded engine it is the store's own connection, so nothing is copied between
two places. For a server it is an in-memory connection; results travel as Arrow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from warehouse.store import engines
from warehouse.store.alchemy import sa
from warehouse.store.connection import Store
from warehouse.store.schema.later import tables
from warehouse.store.sql.bind_parameters import rename_binds
from warehouse.store.sql.query_files import query_text
from warehouse.store.temporary import TemporaryFolder, temporary_folder

#: Rows from which on a source is large.
LARGE = 50_000
#: Rows that the engine keeps together in memory: fewer are work for one thread.
ROWS_OF_A_GROUP = 122_880


class Scratch:
    """Scratch tables of a store, outside its schema. Use :func:`open_scratch`.

    What parsing a source makes (``stage_sample``, ``stage_row`` …) lies in one of two
    slots of a shared in-memory database, so that a :meth:`parser` can fill one on
    another thread while the other is being loaded. All other scratch tables are
    temporary.
    """

    def __init__(self, raw: Any, beside: Scratch | None = None) -> None:
        self.raw = raw
        self.is_alone = False  # whether no other connection works meanwhile
        # U+0000 that the store could not take, by column
        self.replaced: Counter[str] = Counter()
        self._path = self._threshold = ""  # as they were set last
        if beside is None:
            ((threads, home),) = self.rows(
                "select current_setting('threads'), current_database()"
            )
            self.threads = int(threads)  # that the engine may use
            self._used = {
                "threads": self.threads
            }  # by all connections of a session: as it was set last
            self.home = str(home).replace('"', '""')
            # the database that all connections of a session share
            self.run("attach if not exists ':memory:' as scratch")
            for slot in (0, 1):
                self.run(f"create schema if not exists scratch.slot_{slot}")
            self.run(
                "create table if not exists scratch.main.known_text (sent_hash "
                "uhugeint, sha256 blob)"
            )
        else:
            self.threads = beside.threads
            self.home = beside.home
            self._used = beside._used
        self.run("set enable_progress_bar = false")
        # what md5_number_lower gives, in a quarter of its time
        self.run(
            "create or replace temp macro hash_64(said) as cast(md5_number(said) >> 64 "
            "as ubigint)"
        )
        # of a question: what is left when case and white space do not count; few have
        # any to take away
        self.run(
            r"create or replace temp macro text_hash(said) as unhex(sha256(lower(case when"
            r" regexp_matches(said, '[^\S ]|  |^\pZ|\pZ$') then trim(regexp_replace(said, '\s+', ' ', 'g'))"
            r" else said end)))"
        )
        self.use(0)

    def parser(self) -> Parser:
        """A connection for another thread, which fills the slots of this scratch space."""
        return Parser(self.raw.duplicate(), self)

    def share_cores(self) -> None:
        """Leave half of the threads to the parser: two connections that each use all
        cores took a quarter more processor time for the same load (benchmarks, lm-eval,
        two cores)."""
        self._use_threads(max(1, self.threads // 2))

    def fit_threads(self, n_rows: int) -> None:
        """Make ready for statements on so many rows, if no other connection has any:
        threads without work ask for some without a pause, which is a quarter of the
        processor time of a load of 10 000 rows."""
        if not self.is_alone:
            return
        if n_rows >= ROWS_OF_A_GROUP:
            self._use_threads(self.threads)
        else:
            self._use_threads(1)

    def give_back(self, n_rows: int) -> None:
        """Between statements on so many rows: pages that the last ones have freed go to
        the system at once, as they do when the number of threads changes. By themselves
        they stay for a second or two, beyond the limit."""
        self.fit_threads(0)
        self.fit_threads(n_rows)

    def _use_threads(self, number: int) -> None:
        if number != self._used["threads"]:
            self.run(f"set threads = {number}")
            self._used["threads"] = number

    def expect(self, n_rows: int) -> None:
        """Make ready for a source: the rows of a large one go straight into the tables."""
        threshold = engines.CHECKPOINT_THRESHOLD
        if n_rows >= LARGE:
            threshold = engines.LARGE_COMMIT
        if threshold != self._threshold:
            self.run(f"set checkpoint_threshold = '{threshold}'")
        self._threshold = threshold
        self.give_back(n_rows)

    def use(self, slot: int) -> None:
        """Read what was parsed into slot 0 or 1."""
        self._look_in(f'"{self.home}".main,scratch.slot_{slot}')

    def _look_in(self, path: str) -> None:
        if path != self._path:
            text = path.replace("'", "''")  # the database is called like the file
            self.run(f"set search_path = '{text}'")
        self._path = path

    def run(self, sql: str, params: Mapping[str, Any] | None = None) -> None:
        """Execute one statement."""
        self._executed(sql, params)

    def _executed(self, sql: str, params: Mapping[str, Any] | None) -> Any:
        if params:
            return self.raw.execute(sql, dict(params))
        return self.raw.execute(sql)

    def script(self, name: str) -> int:
        """Execute one statement of ``queries/ingest``, by file name; how many rows it
        made."""
        return int(self.value(query_text("ingest", name)))

    def text(self, name: str, **numbers: int) -> str:
        """A SELECT in ``queries/ingest`` with its parameters written as numbers."""
        text, used = rename_binds(query_text("ingest", name), "$")
        for key in used:
            text = text.replace(f"${key}", str(int(numbers[key])))
        return text

    def script_into(self, table: str, name: str) -> int:
        """Make a scratch table of a SELECT in ``queries/ingest``; how many rows it has."""
        return int(
            self.value(
                f"create or replace temp table {table} as {query_text('ingest', name)}"
            )
        )

    def table(self, sql: str, params: Mapping[str, Any] | None = None) -> pa.Table:
        """Result of a query as Arrow."""
        return self.raw.sql(
            sql, params=dict(params) if params else None
        ).to_arrow_table()

    def rows(
        self, sql: str, params: Mapping[str, Any] | None = None
    ) -> list[tuple[Any, ...]]:
        """Result of a query as tuples."""
        rows: list[tuple[Any, ...]] = self._executed(sql, params).fetchall()
        return rows

    def value(self, sql: str) -> Any:
        """The single value of a query."""
        return self.rows(sql)[0][0]

    def columns_of(self, table: str) -> list[str]:
        """Names of the columns of a scratch table."""
        return [
            column[0]
            for column in self.raw.execute(f"from {table} limit 0").description
        ]

    def put(self, name: str, table: pa.Table) -> None:
        """Make a scratch table of Arrow data."""
        if (text := engines.few_rows(table)) is not None:
            self.run(f"create or replace temp table {name} as {text}")
            return
        self.raw.register("put_table", table)
        self.run(f"create or replace temp table {name} as select * from put_table")
        self.raw.unregister("put_table")

    def drop(self, names: Iterable[str]) -> None:
        """Remove scratch tables, if they exist."""
        self.run("; ".join(f"drop table if exists {name}" for name in names))

    def close(self) -> None:
        """Let go of what is not the store's."""
        self.expect(0)
        self._use_threads(self.threads)  # "reset" would forget what the user has set
        self._look_in(f'"{self.home}".main')
        self.run("detach database if exists scratch")

    # the ways in which data crosses between the store and the scratch space

    def pull(
        self, name: str, sql: str, params: Mapping[str, Any] | None = None
    ) -> None:
        """Make a scratch table of a query over the store's tables (``:name``
        parameters)."""
        text, used = rename_binds(sql, "$")
        values = {key: (params or {})[key] for key in used}
        self.run(f"create or replace temp table {name} as {text}", values)

    def push(self, table: str, select: str) -> int:
        """Append the rows of a scratch space query to a store's table, by column name."""
        return int(self.rows(f'insert into "{table}" by name {select}')[0][0])

    def push_new(self, table: str, key: str, select: str) -> int:
        """Append those rows whose key the store's table does not hold yet."""
        # among the held keys only those that come again are gathered: memory goes with
        # what comes
        held_keys = (
            f'select held."{key}" from "{table}" as held semi join incoming using '
            f'("{key}")'
        )
        return self.push(
            table,
            f"with incoming as not materialized ({select}), known as ({held_keys}) "
            f'select * from incoming anti join known using ("{key}")',
        )

    def change(self, table: str, scratch: str, sql: str) -> None:
        """Run a statement that changes a store's table by the rows of a scratch table,
        whose columns are among those of that table."""
        self.run(sql)


class Parser(Scratch):
    """The side of a scratch space that parses: what it makes lies in the slot that it
    uses."""

    def use(self, slot: int) -> None:
        """Make tables in slot 0 or 1 from now on."""
        self._look_in(f"scratch.slot_{slot},scratch.main")

    def keep(self, name: str, rows: pa.RecordBatchReader) -> None:
        """Make a table of the slot of Arrow data, in its order."""
        self.raw.register("kept_rows", rows)
        self.run(f"create or replace table {name} as select * from kept_rows")
        self.raw.unregister("kept_rows")


class RemoteScratch(Scratch):
    """A scratch space of its own; data crosses as Arrow."""

    def __init__(self, store: Store) -> None:
        self.store, self.folder = store, TemporaryFolder()
        super().__init__(engines.open_scratch(self.folder.path))

    def close(self) -> None:
        self.raw.close()
        self.folder.close()

    def pull(
        self, name: str, sql: str, params: Mapping[str, Any] | None = None
    ) -> None:
        self.put(name, self.store.arrow(sql, params))

    def push(self, table: str, select: str) -> int:
        reader = self.raw.sql(select).to_arrow_reader(65_536)
        return self.store.dialect.append(
            self.store.connection, table, reader, self.replaced
        )

    def push_new(self, table: str, key: str, select: str) -> int:
        incoming = f"incoming_{table}"
        connection = self.store.connection
        connection.exec_driver_sql(
            f'create temp table if not exists "{incoming}" (like "{table}") on commit '
            "delete rows"
        )
        self.push(incoming, select)
        return int(
            connection.exec_driver_sql(
                f'insert into "{table}" select * from "{incoming}" order by "{key}" on '
                "conflict do nothing"
            ).rowcount
        )

    def change(self, table: str, scratch: str, sql: str) -> None:
        connection = self.store.connection
        names = self.columns_of(scratch)
        kinds = tables.metadata.tables[table].columns
        columns = []
        for name in names:
            if isinstance(kinds[name].type, sa.JSON):
                columns.append(f'cast("{name}" as varchar) as "{name}"')
            else:
                columns.append(f'"{name}"')
        connection.exec_driver_sql(
            f'create temp table "{scratch}" on commit drop as select '
            f'{", ".join(columns)} from "{table}" where false'
        )
        self.push(scratch, f"select * from {scratch}")
        connection.exec_driver_sql(sql)
        connection.exec_driver_sql(f'drop table "{scratch}"')


def open_scratch(store: Store) -> Scratch:
    """The scratch space that fits the store's engine."""
    raw = engines.scratch_of(store.connection)
    if raw is None:
        return RemoteScratch(store)
    return Scratch(raw)


@contextmanager
def scratch_beside(store: Store) -> Iterator[Scratch]:
    """A scratch space for a few temporary tables, beside that of a session which may be
    loading into the store."""
    raw = engines.scratch_of(store.connection)
    if raw is None:
        remote = RemoteScratch(store)
        try:
            yield remote
        finally:
            remote.close()
        return
    ((path,),) = raw.execute("select current_setting('search_path')").fetchall()
    is_loading = "scratch." in path
    scratch = Scratch(raw)
    try:
        yield scratch
    finally:
        if is_loading:
            scratch.run(f"set search_path = '{path}'")
        else:
            scratch.close()


@contextmanager
def lone_parser() -> Iterator[Parser]:
    """A place to parse dumps in where no store is, on one core."""
    with temporary_folder() as folder:
        scratch = Scratch(engines.open_scratch(folder))
        parser = scratch.parser()
        parser.run("set threads = 1")
        parser.use(0)
        try:
            yield parser
        finally:
            parser.raw.close()
            scratch.raw.close()
