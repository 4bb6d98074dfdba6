"""Bringing a lake up to what a store holds: one new version, in proportion to what has changed."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from warehouse.errors import MisuseError, SchemaVersionError, StoreError
from warehouse.files.output_file import databases_in
from warehouse.records.clock import utc_now
from warehouse.store.connection import Store
from warehouse.store.lake import reading, versions
from warehouse.store.lake.contents import KINDS, TABLES, UNITS, LakeTable
from warehouse.store.lake.lineage import require_same_store
from warehouse.store.lake.location import LakeLocation, Overtaken
from warehouse.store.lake.reading import Marks
from warehouse.store.lake.versions import LakeVersion, TableVersion
from warehouse.store.lake.writing import TableWriter
from warehouse.store.schema import revision

#: How often a sync begins again because another one was quicker, and how long it waits at most before [s].
ATTEMPTS, PAUSE = 12, 2.0
#: What else may lie in a folder that a lake is made in: tables of a sync that did not finish.
_OURS = {table.name for table in TABLES} | {UNITS, versions.NAME}


@dataclass(frozen=True)
class SyncedTable:
    """What a sync did to one table.

    Attributes:
        table: its name.
        version: of the Delta table.
        n_rows: rows that it has now.
        change: rows more than before, or fewer.
        written: ``whole``, ``part``, or empty where it stayed as it was.
    """

    table: str
    version: int
    n_rows: int
    change: int
    written: str


@dataclass(frozen=True)
class SyncReport:
    """What a sync did.

    Attributes:
        location: of the lake.
        version: number of the lake's version that readers see now.
        is_new: whether this sync made it.
        n_runs: runs that are new, or new again.
        n_gone: runs that were removed, or made anew.
        tables: in the order of the schema.
        seconds: how long it took.
    """

    location: str
    version: int
    is_new: bool
    n_runs: int
    n_gone: int
    tables: tuple[SyncedTable, ...]
    seconds: float

    def __str__(self) -> str:
        if not self.is_new:
            return f"{self.location} is up to date at version {self.version}"
        written = sum(1 for table in self.tables if table.written)
        return (
            f"{self.location} is at version {self.version}: {_runs(self.n_runs)} written, {self.n_gone} removed;"
            f" {written} of {len(self.tables)} tables changed, in {self.seconds:.1f} s"
        )


def _runs(number: int) -> str:
    return "1 run" if number == 1 else f"{number} runs"


def sync(
    store: Store,
    location: str,
    *,
    anew: bool = False,
    now: Callable[[], datetime] = utc_now,
    say: Callable[[str], None] = lambda _text: None,
) -> SyncReport:
    """Bring the Delta tables at a place up to one state of a store; they are made where there are none.

    What is written is seen by readers when all of it is there: then the lake's version is committed.
    A sync that was killed leaves the version before, and the next one takes back what it has left.
    Of several at a time one is first, and the others begin again from what it has made.

    Args:
        store: open for reading.
        location: a folder, or a URL that the package ``deltalake`` takes.
        anew: write every table as a whole, whatever is there: after damage, or from another store.
        now: the clock, naive UTC.
        say: told if another process was quicker.

    Raises:
        MisuseError: the place holds something else, or the lake was made from another store.
        SchemaVersionError: the lake is of a newer schema.
        StoreError: the store is older than the lake, the lake cannot be read or written, or others
            were quicker each time.
    """
    started = time.monotonic()
    lake = LakeLocation(location)
    _require_place(lake)
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _attempt(store, lake, anew, now, started)
        except Overtaken as error:
            if attempt == ATTEMPTS:
                raise StoreError(f"{error}, {ATTEMPTS} times while this one tried; run it again later") from None
            say(f"{error}; beginning again")
            time.sleep(random.uniform(0.05, min(PAUSE, 0.2 * 2**attempt)))
    raise AssertionError("unreachable")


def require_fit(store: Store, location: str) -> None:
    """Refuse, before any work is done, a place that :func:`sync` would refuse; raises as that does."""
    lake = LakeLocation(location)
    _require_place(lake)
    newest = _newest(lake, anew=False)
    if newest is not None:
        _require_schema(lake, newest)
        with reading.one_state(store):
            require_same_store(store, lake, newest)


def _require_place(lake: LakeLocation) -> None:
    names, folder = lake.names() or (), Path(lake.place)
    if names and (held := databases_in(folder)):
        raise MisuseError(f"{lake} holds the database {held[0]}; choose a folder of its own")
    others = sorted(name for name in names if name not in _OURS or _is_foreign(folder / name))
    if others and versions.NAME not in names:
        several = ", ".join(others[:3]) + (" …" if len(others) > 3 else "")
        raise MisuseError(f"{lake} is no lake and holds other things: {several}; choose a folder of its own")


def _is_foreign(folder: Path) -> bool:
    """Whether what has a table's name is neither a Delta table nor the files of one that was begun."""
    if not folder.is_dir():
        return True
    begun = all(path.suffix == ".parquet" for path in folder.iterdir())
    return not begun and not (folder / "_delta_log").is_dir()


def _attempt(store: Store, lake: LakeLocation, anew: bool, now: Callable[[], datetime], started: float) -> SyncReport:
    newest = _newest(lake, anew)
    with reading.one_state(store):
        if newest is not None and not anew:
            _require_schema(lake, newest)
            require_same_store(store, lake, newest)
        work = _Sync(store, lake, newest, anew or newest is None or newest.schema != revision.HEAD)
        for table in TABLES:
            work.bring_up(table)
        work.keep_marks()
    version = newest
    if work.changed or newest is None:
        version = versions.commit(lake, newest, work.tables, schema=revision.HEAD, now=now())
    assert version is not None
    rows = tuple(work.row(name, newest) for name in work.tables)
    return SyncReport(
        str(lake), version.number, version is not newest, *work.runs, rows, round(time.monotonic() - started, 3)
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
            f"pip install --upgrade eval-warehouse (the lake {lake} was made by a newer version)",
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
        self._before: dict[str, Marks] = {} if self.anew else _stored_marks(self.lake, self.base)
        read = {kind: reading.marks(self.store, kind) for kind in KINDS}
        self._marks = {kind: marks for kind, (marks, _) in read.items()}
        self._sizes = {kind: sizes for kind, (_, sizes) in read.items()}

    @property
    def changed(self) -> bool:
        """Whether any table was written."""
        return bool(self.written)

    @property
    def runs(self) -> tuple[int, int]:
        """Runs that were written, and that were removed."""
        new, gone = self._differences("run_marks")
        return len(new), len(gone)

    def bring_up(self, table: LakeTable) -> None:
        """Make a table what the store holds, if it is not."""
        if not table.unit:
            return self._whole(table.name, reading.whole(self.store, table.name))
        base = self._base(table.name)
        new, gone = self._differences(table.kind)
        if base is None:
            writer = TableWriter(self.lake, table.name, None, aside=self.anew)
            writer.overwrite(reading.rows_of(self.store, table, new, self._sizes[table.kind]))
            return self._wrote(table.name, writer.version(), "whole")
        if not new and not gone:
            self.tables[table.name] = base
            return None
        writer = TableWriter(self.lake, table.name, base)
        if gone:
            writer.delete(table.unit, gone)
        if new:
            writer.append(reading.rows_of(self.store, table, new, self._sizes[table.kind]))
        return self._wrote(table.name, writer.version(), "part")

    def keep_marks(self) -> None:
        """Write down what the lake holds now of each unit."""
        self._whole(UNITS, reading.units_table(self._marks))

    def row(self, name: str, base: LakeVersion | None) -> SyncedTable:
        """What became of a table."""
        now = self.tables[name]
        before = base.tables.get(name) if base else None
        change = now.n_rows - (before.n_rows if before else 0)
        return SyncedTable(name, now.version, now.n_rows, change, self.written.get(name, ""))

    def _whole(self, name: str, rows: Any) -> None:
        base, digest = self._base(name), reading.digest(rows, name)
        if base is not None and base.digest == digest:
            self.tables[name] = base
            return
        writer = TableWriter(self.lake, name, base, aside=self.anew)
        writer.overwrite(rows)
        self._wrote(name, writer.version(digest), "whole")

    def _base(self, name: str) -> TableVersion | None:
        """The table as readers see it; ``None`` where all of it is to be written."""
        return None if self.anew or self.base is None else self.base.tables.get(name)

    def _differences(self, kind: str) -> tuple[list[int], list[int]]:
        """Units to be added, and those to be removed; what has changed is among both."""
        before, now = self._before.get(kind, {}), self._marks[kind]
        new = [unit for unit, mark in now.items() if before.get(unit) != mark]
        gone = [unit for unit, mark in before.items() if now.get(unit) != mark]
        return new, gone

    def _wrote(self, name: str, version: TableVersion, how: str) -> None:
        self.tables[name], self.written[name] = version, how


def _stored_marks(lake: LakeLocation, base: LakeVersion | None) -> dict[str, Marks]:
    if base is None or UNITS not in base.tables:
        return {}
    return marks_of(lake, base.tables)


def marks_of(lake: LakeLocation, tables: Mapping[str, TableVersion]) -> dict[str, Marks]:
    """The marks that a version of a lake keeps, by kind and unit."""
    table = lake.require(UNITS, tables[UNITS].version)
    with lake.speaking(UNITS):
        rows = table.to_pyarrow_dataset().to_table()
    by_kind: dict[str, Marks] = {}
    for kind, unit, mark in zip(
        *(column.to_pylist() for column in rows.select(["kind", "unit", "mark"]).columns), strict=True
    ):
        by_kind.setdefault(kind, {})[unit] = mark
    return by_kind
