"""Bringing a lake up to what a store holds: one new version, in proportion to what has
changed."""

from __future__ import annotations

import random
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import MisuseError, SchemaVersionError, StoreError
from warehouse.files import databases_in
from warehouse.records.clock import utc_now
from warehouse.store.connection import Store
from warehouse.store.lake import contents, versions
from warehouse.store.lake.contents import (
    KINDS,
    TABLES,
    UNITS,
    LakeTable,
    Marks,
    require_same_store,
    schema_of,
)
from warehouse.store.lake.versions import (
    KEEPING,
    LakeLocation,
    LakeVersion,
    Overtaken,
    TableVersion,
)
from warehouse.store.schema import revision

#: How often a sync begins again because another one was quicker, and how long it waits
#: at most before [s].
ATTEMPTS, PAUSE = 12, 2.0
#: What else may lie in a folder that a lake is made in: tables of a sync that did not
#: finish.
_OURS = {table.name for table in TABLES} | {UNITS, versions.NAME}


@dataclass(frozen=True)
class SyncedTable:
    """The outcome of a sync for one table."""

    table: str  #: its name.
    version: int  #: of the Delta table.
    n_rows: int  #: rows that it has now.
    change: int  #: rows more than before, or fewer.
    written: str  #: ``whole``, ``part``, or empty where it stayed as it was.


@dataclass(frozen=True)
class SyncReport:
    """The outcome of a sync."""

    location: str  #: of the lake.
    version: int  #: number of the lake's version that readers see now.
    is_new: bool  #: whether this sync made it.
    n_runs: int  #: runs that are new, or new again.
    n_gone: int  #: runs that were removed, or made anew.
    tables: tuple[SyncedTable, ...]  #: in the order of the schema.
    seconds: float  #: how long it took.

    def __str__(self) -> str:
        if not self.is_new:
            return f"{self.location} is up to date at version {self.version}"
        written = sum(1 for table in self.tables if table.written)
        return (
            f"{self.location} is at version {self.version}: {_runs(self.n_runs)} "
            f"written, {self.n_gone} removed; {written} of {len(self.tables)} tables "
            f"changed, in {self.seconds:.1f} s"
        )


def _runs(number: int) -> str:
    if number == 1:
        return "1 run"
    return f"{number} runs"


def sync(
    store: Store,
    location: str,
    *,
    anew: bool = False,
    now: Callable[[], datetime] = utc_now,
    say: Callable[[str], None] = lambda _text: None,
) -> SyncReport:
    """Bring the Delta tables at a place up to one state of a store; they are made where
    there are none.

    What is written is seen by readers when all of it is there: then the lake's version
    is committed. A sync that was killed leaves the version before, and the next one
    takes back what it has left. Of several at a time one is first, and the others begin
    again from what it has made.

    Args:
        store: open for reading.
        location: a folder, or a URL that the package ``deltalake`` takes.
        anew: write every table as a whole, whatever is there: after damage, or from
            another store.
        now: the clock, naive UTC.
        say: told if another process was quicker.

    Raises:
        MisuseError: the place holds something else, or the lake was made from another
            store.
        SchemaVersionError: the lake is of a newer schema.
        StoreError: the store is older than the lake, the lake cannot be read or
            written, or others were quicker each time.
    """
    started = time.monotonic()
    lake = LakeLocation(location)
    _require_target(lake)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _attempt(store, lake, anew, now, started)
        except Overtaken as error:
            if attempt == ATTEMPTS:
                raise StoreError(
                    f"{error}, {ATTEMPTS} times while this one tried; run it again "
                    "later"
                ) from None
            say(f"{error}; beginning again")
            time.sleep(random.uniform(0.05, min(PAUSE, 0.2 * 2**attempt)))
    raise AssertionError("unreachable")


def require_fit(store: Store, location: str) -> None:
    """Refuse, before any work is done, a place that :func:`sync` would refuse; raises
    as that does."""
    lake = LakeLocation(location)
    _require_target(lake)
    newest = _newest(lake, anew=False)
    if newest is not None:
        _require_schema(lake, newest)
        with contents.one_state(store):
            require_same_store(store, lake, newest)


def _require_target(lake: LakeLocation) -> None:
    names = lake.names() or ()
    folder = Path(lake.path)
    if names and (held := databases_in(folder)):
        raise MisuseError(
            f"{lake} holds the database {held[0]}; choose a folder of its own"
        )
    others = sorted(
        name for name in names if name not in _OURS or _is_foreign(folder / name)
    )
    if others and versions.NAME not in names:
        several = ", ".join(others[:3])
        if len(others) > 3:
            several += " …"
        raise MisuseError(
            f"{lake} is no lake and holds other things: {several}; choose a folder of "
            "its own"
        )


def _is_foreign(folder: Path) -> bool:
    """True if what has a table's name is neither a Delta table nor the files of one
    that was begun."""
    if not folder.is_dir():
        return True
    begun = all(path.suffix == ".parquet" for path in folder.iterdir())
    return not begun and not (folder / "_delta_log").is_dir()


def _attempt(
    store: Store,
    lake: LakeLocation,
    anew: bool,
    now: Callable[[], datetime],
    started: float,
) -> SyncReport:
    newest = _newest(lake, anew)
    with contents.one_state(store):
        if newest is not None and not anew:
            _require_schema(lake, newest)
            require_same_store(store, lake, newest)
        work = _Sync(
            store,
            lake,
            newest,
            anew or newest is None or newest.schema != revision.HEAD,
        )
        for table in TABLES:
            work.bring_up(table)
        work.keep_marks()
    version = newest
    if work.changed or newest is None:
        version = versions.commit(
            lake, newest, work.tables, schema=revision.HEAD, now=now()
        )
    assert version is not None
    rows = tuple(work.row(name, newest) for name in work.tables)
    return SyncReport(
        str(lake),
        version.number,
        version is not newest,
        *work.runs,
        rows,
        round(time.monotonic() - started, 3),
    )


def _newest(lake: LakeLocation, anew: bool) -> LakeVersion | None:
    try:
        return versions.newest(lake)
    except Overtaken:
        raise
    except StoreError:
        if not anew or lake.is_remote:
            raise
        TableWriter(lake, versions.NAME, None, aside=True)
        return None


def _require_schema(lake: LakeLocation, version: LakeVersion) -> None:
    if version.schema > revision.HEAD:
        raise SchemaVersionError(
            version.schema,
            revision.HEAD,
            f"pip install --upgrade eval-warehouse (the lake {lake} was made by a "
            "newer version)",
        )


@dataclass
class _Sync:
    """One sync under way: the tables as they were, and as they are now."""

    store: Store
    lake: LakeLocation
    base: LakeVersion | None
    anew: bool
    tables: dict[str, TableVersion] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._before: dict[str, Marks] = {}
        if not self.anew:
            self._before = _stored_marks(self.lake, self.base)
        read = {kind: contents.marks(self.store, kind) for kind in KINDS}
        self._marks = {kind: marks for kind, (marks, _) in read.items()}
        self._sizes = {kind: sizes for kind, (_, sizes) in read.items()}

    @property
    def changed(self) -> bool:
        """True if any table was written."""
        return bool(self.written)

    @property
    def runs(self) -> tuple[int, int]:
        """Runs that were written, and that were removed."""
        new, gone = self._differences("run_marks")
        return len(new), len(gone)

    def bring_up(self, table: LakeTable) -> None:
        """Make a table what the store holds, if it is not."""
        if not table.unit:
            return self._whole(table.name, contents.whole(self.store, table.name))
        base = self._base(table.name)
        new, gone = self._differences(table.kind)
        if base is None:
            writer = TableWriter(self.lake, table.name, None, aside=self.anew)
            writer.overwrite(
                contents.rows_of(self.store, table, new, self._sizes[table.kind])
            )
            return self._wrote(table.name, writer.version(), "whole")
        if not new and not gone:
            self.tables[table.name] = base
            return None
        writer = TableWriter(self.lake, table.name, base)
        if gone:
            writer.delete(table.unit, gone)
        if new:
            writer.append(
                contents.rows_of(self.store, table, new, self._sizes[table.kind])
            )
        return self._wrote(table.name, writer.version(), "part")

    def keep_marks(self) -> None:
        """Write down what the lake holds now of each unit."""
        self._whole(UNITS, contents.units_table(self._marks))

    def row(self, name: str, base: LakeVersion | None) -> SyncedTable:
        """The outcome for a table."""
        now = self.tables[name]
        before = None
        if base:
            before = base.tables.get(name)
        change = now.n_rows - (before.n_rows if before else 0)
        return SyncedTable(
            name, now.version, now.n_rows, change, self.written.get(name, "")
        )

    def _whole(self, name: str, rows: Any) -> None:
        base = self._base(name)
        digest = contents.digest(rows, name)
        if base is not None and base.digest == digest:
            self.tables[name] = base
            return
        writer = TableWriter(self.lake, name, base, aside=self.anew)
        writer.overwrite(rows)
        self._wrote(name, writer.version(digest), "whole")

    def _base(self, name: str) -> TableVersion | None:
        """The table as readers see it; ``None`` where all of it is to be written."""
        if self.anew or self.base is None:
            return None
        return self.base.tables.get(name)

    def _differences(self, kind: str) -> tuple[list[int], list[int]]:
        """Units to be added, and those to be removed; what has changed is among both."""
        before = self._before.get(kind, {})
        now = self._marks[kind]
        new = [unit for unit, mark in now.items() if before.get(unit) != mark]
        gone = [unit for unit, mark in before.items() if now.get(unit) != mark]
        return new, gone

    def _wrote(self, name: str, version: TableVersion, how: str) -> None:
        self.tables[name], self.written[name] = version, how


def _stored_marks(lake: LakeLocation, base: LakeVersion | None) -> dict[str, Marks]:
    if base is None or UNITS not in base.tables:
        return {}
    return marks_of(lake, base.tables)


def marks_of(
    lake: LakeLocation, tables: Mapping[str, TableVersion]
) -> dict[str, Marks]:
    """The marks that a version of a lake keeps, by kind and unit."""
    table = lake.require(UNITS, tables[UNITS].version)
    with lake.translating_errors(UNITS):
        rows = table.to_pyarrow_dataset().to_table()
    by_kind: dict[str, Marks] = {}
    for kind, unit, mark in zip(
        *(
            column.to_pylist()
            for column in rows.select(["kind", "unit", "mark"]).columns
        ),
        strict=True,
    ):
        by_kind.setdefault(kind, {})[unit] = mark
    return by_kind


#: Units that one statement of deletion names.
_AT_ONCE = 5_000


class TableWriter:
    """Writes one table, beginning at the version that the lake's names.

    What stands in the table beyond that version was never visible: a sync that did not
    finish left it. It is taken back first, so that every version is made from the one
    that readers see.
    """

    def __init__(
        self,
        lake: LakeLocation,
        name: str,
        base: TableVersion | None,
        *,
        aside: bool = False,
    ) -> None:
        """Looks at the table, and changes nothing.

        Args:
            base: its version that readers see; ``None``: they see none.
            aside: put a table that cannot be read aside, where it is in a folder, and
                begin afresh.
        """
        self.lake = lake
        self.name = name
        self.base = base
        if base:
            self.n_rows = base.n_rows
        else:
            self.n_rows = 0
        self._begun = False
        try:
            self._table = lake.table(name)
        except StoreError:
            if not aside or lake.is_remote:
                raise
            self._put_aside()
            self._table = None

    def version(self, digest: str = "") -> TableVersion:
        """The version that was written."""
        return TableVersion(self._table.version(), self.n_rows, digest)

    def overwrite(self, rows: pa.Table | pa.RecordBatchReader) -> None:
        """Replace all rows of the table."""
        self.n_rows = 0
        if self._table is None:
            self._write(self._counted(rows), mode="error", configuration=KEEPING)
            self._table = self.lake.require(self.name)
        else:
            self._write(self._counted(rows), mode="overwrite", schema_mode="overwrite")

    def append(self, rows: pa.RecordBatchReader) -> None:
        """Add rows."""
        self._restore_base()
        self._write(self._counted(rows), mode="append")

    def delete(self, unit: str, units: Sequence[int]) -> None:
        """Remove the rows of some units."""
        self._restore_base()
        for start in range(0, len(units), _AT_ONCE):
            listed = ", ".join(map(str, units[start : start + _AT_ONCE]))
            with self.lake.translating_errors(self.name):
                metrics = self._table.delete(
                    f"{unit} in ({listed})", commit_properties=self._once()
                )
            self.n_rows -= int(metrics["num_deleted_rows"])

    def _restore_base(self) -> None:
        """Restore the table, before the first change, to the version that readers see."""
        if self._begun:
            return
        assert self.base is not None
        if self._table is None or self._table.version() < self.base.version:
            self.lake.require(self.name, self.base.version)  # says what is wrong
        if self._table.version() > self.base.version:
            with self.lake.translating_errors(self.name):
                self._table.restore(self.base.version, commit_properties=self._once())
        self._begun = True

    def _write(self, rows: pa.RecordBatchReader, **options: Any) -> None:
        if self._table is None:
            target = self.lake.uri(self.name)
        else:
            target = self._table
        packed = self.lake.package.WriterProperties(compression="ZSTD")
        with self.lake.translating_errors(self.name):
            self.lake.package.write_deltalake(
                target,
                rows,
                commit_properties=self._once(),
                writer_properties=packed,
                **options,
            )

    def _once(self) -> Any:
        return self.lake.package.CommitProperties(max_commit_retries=0)

    def _counted(self, rows: pa.Table | pa.RecordBatchReader) -> pa.RecordBatchReader:
        batches = rows
        if isinstance(rows, pa.Table):
            batches = rows.to_batches()

        def counted() -> Iterator[pa.RecordBatch]:
            for batch in batches:
                self.n_rows += batch.num_rows
                yield batch

        return pa.RecordBatchReader.from_batches(schema_of(self.name), counted())

    def _put_aside(self) -> None:
        folder = Path(self.lake.uri(self.name))
        free = next(
            path
            for number in count(1)
            if not (path := folder.with_name(f"{self.name}.damaged-{number}")).exists()
        )
        with self.lake.translating_errors(self.name):
            shutil.move(folder, free)
