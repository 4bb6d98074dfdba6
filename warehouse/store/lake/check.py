"""Holding a lake against the store that it was made from: rows, and what they add up
to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from warehouse.store import engines
from warehouse.store.connection import Store
from warehouse.store.lake import contents, versions
from warehouse.store.lake.contents import (
    KINDS,
    TABLES,
    LakeTable,
    Marks,
    require_same_store,
)
from warehouse.store.lake.sync import marks_of
from warehouse.store.lake.versions import LakeLocation, LakeVersion

#: ``behind``: the store has changed since the sync; ``differs``: the lake does not hold
#: what was synced.
Verdict = Literal["same", "behind", "differs"]


@dataclass(frozen=True)
class CheckedTable:
    """One table of a lake, held against the store."""

    table: str  #: its name.
    n_store: int  #: rows in the store.
    n_lake: int  #: rows in the lake.
    #: parts (runs, prompts of a benchmark …) that have changed in the store since the
    #: sync; of a table that is written as a whole 0 or 1.
    n_behind: int
    n_differing: int  #: parts that are the same in the store, and another in the lake.
    verdict: Verdict  #: what follows from that.


@dataclass(frozen=True)
class LakeCheck:
    """A lake held against a store."""

    location: str  #: of the lake.
    version: int  #: number of the lake's version.
    synced_at: datetime  #: when that was made, naive UTC.
    tables: tuple[CheckedTable, ...]  #: in the order of the schema.

    @property
    def verdict(self) -> Verdict:
        """The worst of all tables."""
        verdicts = {table.verdict for table in self.tables}
        if "differs" in verdicts:
            return "differs"
        if "behind" in verdicts:
            return "behind"
        return "same"

    def __str__(self) -> str:
        where = f"{self.location}, version {self.version}"
        if self.verdict == "same":
            return (
                f"{where}, holds what the store holds: "
                f"{sum(table.n_lake for table in self.tables)} rows"
            )
        bad = ", ".join(
            table.table for table in self.tables if table.verdict == self.verdict
        )
        if self.verdict == "behind":
            return (
                f"{where}, is behind the store in {bad}; bring it up: warehouse lake "
                f"sync {self.location}"
            )
        return (
            f"{where}, does not hold what was synced in {bad}; write it anew: "
            f"warehouse lake sync {self.location} --anew"
        )


def check(
    store: Store, location: str, *, progress: Callable[[str], None] = lambda _name: None
) -> LakeCheck:
    """Read all of a lake's newest version, and all of the store, and compare them.

    Errors are those of `Warehouse.lake_check`; ``progress`` is told each table's name
    before it is read.
    """
    lake = LakeLocation(location)
    version = versions.find(lake)
    with contents.one_state(store):
        require_same_store(store, lake, version)
        then = marks_of(lake, version.tables)
        now = {kind: contents.marks(store, kind) for kind in KINDS}
        checked = []
        for table in TABLES:
            progress(table.name)
            if table.unit:
                marks, sizes = now[table.kind]
                checked.append(
                    _by_unit(
                        store,
                        lake,
                        version,
                        table,
                        then.get(table.kind, {}),
                        marks,
                        sizes,
                    )
                )
            else:
                checked.append(_whole(store, lake, version, table.name))
    return LakeCheck(str(lake), version.number, version.synced_at, tuple(checked))


def _whole(
    store: Store, lake: LakeLocation, version: LakeVersion, name: str
) -> CheckedTable:
    rows = contents.whole(store, name)
    if name not in version.tables:  # the lake is from before lakes had it
        return _judged(name, rows.num_rows, 0, 1, 0)
    n_lake, lake_digest = _of_lake(lake, version, name).get(0, (0, "0"))
    synced = version.tables[name].digest
    behind = int(synced != contents.digest(rows, name))
    differs = int(synced != lake_digest)
    return _judged(name, rows.num_rows, n_lake, behind, differs)


def _by_unit(
    store: Store,
    lake: LakeLocation,
    version: LakeVersion,
    table: LakeTable,
    then: Marks,
    now: Marks,
    sizes: dict[int, int],
) -> CheckedTable:
    ours = contents.digests(
        contents.rows_of(store, table, list(now), sizes), table.name, table.unit
    )
    theirs = _of_lake(lake, version, table.name, table.unit)
    same = {unit for unit, mark in then.items() if now.get(unit) == mark}
    behind = len(then.keys() ^ now.keys())
    behind += len((then.keys() & now.keys()) - same)
    differing = sum(ours.get(unit) != theirs.get(unit) for unit in same)
    differing += len(theirs.keys() - then.keys())
    n_lake = sum(n for n, _ in theirs.values())
    return _judged(
        table.name, sum(n for n, _ in ours.values()), n_lake, behind, differing
    )


def _of_lake(
    lake: LakeLocation, version: LakeVersion, name: str, unit: str = ""
) -> dict[int, tuple[int, str]]:
    table = lake.require(name, version.tables[name].version)
    with lake.translating_errors(name):
        rows = table.to_pyarrow_dataset()
    try:
        return contents.digests(rows, name, unit)
    except Exception as error:  # a file of the lake, read by way of an engine
        if engines.input_error(error):
            raise lake.trouble(error, name) from None
        raise


def _judged(
    name: str, n_store: int, n_lake: int, behind: int, differing: int
) -> CheckedTable:
    verdict: Verdict = "differs" if differing else "behind" if behind else "same"
    return CheckedTable(name, n_store, n_lake, behind, differing, verdict)
