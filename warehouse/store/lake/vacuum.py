"""Removing what no version of a lake that is kept needs any more, and joining small files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from warehouse.errors import MisuseError, StoreError
from warehouse.records.clock import utc_now
from warehouse.store.lake import versions
from warehouse.store.lake.location import LakeLocation, Overtaken
from warehouse.store.lake.versions import LakeVersion, TableVersion

#: How long old versions are kept where nobody says otherwise.
KEPT = timedelta(days=7)
#: Files that nobody names may belong to a sync that is under way; later than this none is.
UNDER_WAY = timedelta(hours=24)
#: Files of a table from which on they are joined.
MANY = 64


@dataclass(frozen=True)
class VacuumReport:
    """What a vacuum removed.

    Attributes:
        location: of the lake.
        version: number of the lake's version that readers see now.
        oldest: number of the oldest version that is there now.
        n_versions: versions that went.
        n_files: files that went.
        n_joined: tables whose small files were joined.
    """

    location: str
    version: int
    oldest: int
    n_versions: int
    n_files: int
    n_joined: int

    def __str__(self) -> str:
        gone = f"{_counted(self.n_versions, 'version')} and {_counted(self.n_files, 'file')} removed"
        joined = f", small files of {_counted(self.n_joined, 'table')} joined" if self.n_joined else ""
        there = (
            f"versions {self.oldest} to {self.version} are"
            if self.oldest < self.version
            else f"version {self.version} is"
        )
        return f"{self.location}: {gone}{joined}; {there} there"


def _counted(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def vacuum(
    location: str, *, older_than: timedelta = KEPT, many: int = MANY, now: Callable[[], datetime] = utc_now
) -> VacuumReport:
    """Remove versions of a lake that are older than some age, but never the newest.

    A reader of a version that goes fails, in words; so the age has to be longer than the longest
    question. Files that a killed sync has left go when they are a day old.

    Args:
        location: of the lake.
        older_than: age of a version, counted from the next one: as long as it was the newest it was young.
        many: files of a table from which on they are joined to large ones.
        now: the clock, naive UTC.

    Raises:
        MisuseError: a negative age.
        StoreError: there is no lake, it cannot be read or written, or a sync is under way.
    """
    if older_than < timedelta(0):
        raise MisuseError(f"an age of {older_than}; expected 0 or more")
    lake = LakeLocation(location)
    every = versions.history(lake)
    moment = now()
    kept = [every[0], *(old for new, old in zip(every, every[1:], strict=False) if moment - new.synced_at < older_than)]
    try:
        tables, n_joined = _joined(lake, every[0], many)
        oldest = kept[-1].number
        newest = every[0]
        if n_joined or oldest > newest.oldest:
            newest = versions.commit(lake, newest, tables, schema=newest.schema, now=moment, oldest=oldest)
        n_files = sum(_clean(lake, name, [*kept, newest], older_than) for name in tables)
    except Overtaken as error:
        raise StoreError(f"{error}: a sync is under way; run the vacuum again when it has ended") from None
    return VacuumReport(str(lake), newest.number, oldest, len(every) - len(kept), n_files, n_joined)


def _joined(lake: LakeLocation, newest: LakeVersion, many: int) -> tuple[dict[str, TableVersion], int]:
    """The tables, with those of many files made anew from the same rows; how many those are."""
    tables, count = dict(newest.tables), 0
    for name, known in newest.tables.items():
        table = lake.require(name, known.version)
        if len(table.file_uris()) < many:
            continue
        once = lake.package.CommitProperties(max_commit_retries=0)
        with lake.speaking(name):
            latest = lake.require(name)
            if latest.version() > known.version:
                latest.restore(known.version, commit_properties=once)
            latest.optimize.compact(commit_properties=once)
            tables[name] = TableVersion(latest.version(), known.n_rows, known.digest)
        count += 1
    return tables, count


def _clean(lake: LakeLocation, name: str, kept: list[LakeVersion], older_than: timedelta) -> int:
    """Remove files of a table that none of some versions names; how many."""
    table: Any = lake.require(name)
    needed = sorted({version.tables[name].version for version in kept if name in version.tables})
    with lake.speaking(name):
        there = set(table.vacuum(retention_hours=0, dry_run=True, full=True, **_keeping(needed)))
        gone: set[str] = set()
        for full, age in ((False, older_than), (True, max(older_than, UNDER_WAY))):
            hours = int(age.total_seconds() // 3600)
            gone |= set(table.vacuum(retention_hours=hours, dry_run=False, full=full, **_keeping(needed)))
    return len(gone & there)  # the log goes on naming those that went earlier


def _keeping(versions_of_table: list[int]) -> dict[str, Any]:
    return {"enforce_retention_duration": False, "keep_versions": versions_of_table}
