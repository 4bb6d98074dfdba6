"""Versions of a lake as a whole: one table, committed last, names the version of every
other.

Its own Delta version is the number of the lake's version. Readers follow it and nothing
else, so what a sync has written before it committed, or was killed over, is not there
for anybody.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa

from warehouse.errors import DiskFullError, MisuseError, StoreError
from warehouse.extras import load
from warehouse.records.clock import utc_now

#: What a first write says where another one was quicker.
_EXISTS = "already exists"


class Overtaken(StoreError):
    """Another process has committed to a table meanwhile."""


class LakeLocation:
    """A place for Delta tables: a folder, or a URL that the package ``deltalake``
    takes.

    Credentials of a URL come from the environment, as the tools of its provider take
    them.
    """

    def __init__(self, location: str) -> None:
        """Nothing is opened yet (MisuseError: no place, or the extra is not installed)."""
        if not location.strip() or not location.isprintable():
            raise MisuseError(
                "a lake without a place; expected a folder, or a URL such as "
                "s3://BUCKET/FOLDER"
            )
        self.package = load("deltalake", "lake", "a lake")
        self.is_remote = "://" in location and not location.startswith("file://")
        if self.is_remote:
            self.path = location.rstrip("/")
        else:
            self.path = os.path.abspath(location.removeprefix("file://"))

    def __str__(self) -> str:
        return self.path

    def uri(self, name: str) -> str:
        """Where a table lies."""
        return f"{self.path}/{name}"

    def table(self, name: str, version: int | None = None) -> Any:
        """A table as it was at a version of its own; None: as it is; ``None`` comes
        back where there is none.

        Raises:
            StoreError: it cannot be read, or its log ends before that version.
        """
        with self.translating_errors(name):
            try:
                table = self.package.DeltaTable(self.uri(name))
            except self.package.exceptions.TableNotFoundError:
                return None
            if version is None or table.version() == version:
                return table
            if version > table.version():
                raise StoreError(
                    f"the table {name} of the lake {self} ends at version "
                    f"{table.version()}, and version {version} is asked for: its "
                    f"commit log was cut short; {self.repair()}"
                )
            table.load_as_version(version)
            return table

    def require(self, name: str, version: int | None = None) -> Any:
        """As :meth:`table`, of one that has to be there (StoreError: it is not)."""
        table = self.table(name, version)
        if table is None:
            raise StoreError(f"the lake {self} has no table {name}; {self.repair()}")
        return table

    def names(self) -> list[str] | None:
        """Names of what lies there; ``None`` where that cannot be listed, or the place
        is not there."""
        folder = Path(self.path)
        if self.is_remote or not folder.exists():
            return None
        if not folder.is_dir():
            raise MisuseError(f"{self} is a file; expected the folder of a lake")
        with self.translating_errors(""):
            return sorted(path.name for path in folder.iterdir())

    def repair(self) -> str:
        """Advice on a lake that is damaged."""
        return f"write it anew from the store: warehouse lake sync {self} --anew"

    @contextmanager
    def translating_errors(self, name: str) -> Iterator[None]:
        """Translate errors of deltalake and of the file system on a table to store
        errors.

        Raises:
            Overtaken: another process was quicker.
            StoreError: anything else; with the first line of what was said.
        """
        errors = self.package.exceptions
        try:
            yield
        except errors.CommitFailedError:
            raise Overtaken(
                f"another process has written to {self.uri(name)}"
            ) from None
        except (errors.DeltaError, OSError, ValueError) as error:
            if isinstance(error, errors.DeltaError) and _EXISTS in str(error):
                raise Overtaken(f"another process has made {self.uri(name)}") from None
            raise self.trouble(error, name) from None

    def trouble(self, error: BaseException, name: str) -> StoreError:
        """An error of the package or the system, with what to do about it."""
        reason = _one_line(error)
        if name:
            where = f"the table {name} of the lake {self}"
        else:
            where = f"the lake {self}"
        if isinstance(error, PermissionError) or any(
            words in reason for words in _NOT_ALLOWED
        ):
            return StoreError(
                f"no permission for {where}: {reason}; give this user the right, or "
                "choose another place"
            )
        if any(words in reason for words in _NO_ROOM):
            return DiskFullError(reason)
        if "Could not create" in reason:
            return StoreError(
                f"{where} cannot be written: {reason}; see that this user may write "
                "there"
            )
        if isinstance(error, FileNotFoundError) or any(
            words in reason.replace(_NO_PARQUET, "") for words in _MISSING
        ):
            return StoreError(
                f"{where} lacks a file: {reason}; if a vacuum has removed its version, "
                f"ask again; else {self.repair()}"
            )
        if isinstance(error, self.package.exceptions.DeltaProtocolError):
            return StoreError(
                f"{where} is in a newer form of Delta Lake than this program reads: "
                f"{reason}"
            )
        return StoreError(
            f"{where} cannot be used: {reason}; if it is damaged: {self.repair()}"
        )


def _one_line(error: BaseException) -> str:
    """The message of an error, its causes too, which stand on lines of their own;
    without colours and calls of a program."""
    lines = _COLOUR.sub("", str(error)).splitlines()
    text = (
        " ".join(" ".join(line for line in lines if not _CALL.match(line)).split())
        or type(error).__name__
    )
    if len(text) <= _LONGEST:
        return text
    return f"{text[:_LONGEST]} …"


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CALL = re.compile(r"\s*\d+: (<unknown>|.* at .*:\d+)")
#: Characters of a message of others that are told.
_LONGEST = 400
_NOT_ALLOWED = (
    "ermission denied",
    "peration not permitted",
    "AccessDenied",
    "403 Forbidden",
    "ead-only file system",
)
_NO_ROOM = ("No space left", "quota exceeded", "File too large")
#: Of a file that is there.
_NO_PARQUET = "magic bytes not found"
_MISSING = ("No such file", "not found", "NoSuchKey", "404 Not Found")


#: Form of a lake that this program writes and reads.
FORM = 1
NAME = "lake_version"
_SCHEMA = pa.schema(
    [
        ("form", pa.int32()),
        ("schema_revision", pa.string()),
        ("program", pa.string()),
        ("synced_at", pa.timestamp("us", tz="UTC")),
        ("oldest", pa.int64()),
        ("table_name", pa.string()),
        ("table_version", pa.int64()),
        ("n_rows", pa.int64()),
        ("digest", pa.string()),
    ]
)
#: Old versions go when vacuum says so, and never by themselves.
KEEPING = {"delta.enableExpiredLogCleanup": "false"}


@dataclass(frozen=True)
class TableVersion:
    """One table of a version of a lake."""

    version: int  #: of the Delta table.
    n_rows: int  #: rows that it has there.
    #: of all rows, for tables that are written as a whole; else empty.
    digest: str = ""


@dataclass(frozen=True)
class LakeVersion:
    """One state of a lake."""

    number: int  #: counts from 0.
    schema: str  #: revision of the schema of its tables.
    synced_at: datetime  #: naive UTC.
    oldest: int  #: number of the oldest version that is still there.
    tables: Mapping[str, TableVersion]  #: by name.

    @property
    def n_rows(self) -> int:
        """Rows of all tables."""
        return sum(table.n_rows for table in self.tables.values())


def newest(lake: LakeLocation) -> LakeVersion | None:
    """The version that readers see; ``None`` where there is no lake.

    Raises:
        StoreError: the lake was made by a newer program, or cannot be read.
    """
    table = lake.table(NAME)
    if table is None:
        return None
    return _read(lake, table)


def find(lake: LakeLocation, number: int | None = None) -> LakeVersion:
    """A version by its number; None: the newest.

    Raises:
        StoreError: there is no lake, or it cannot be read.
        MisuseError: it has no such version.
    """
    last = newest(lake)
    if last is None:
        raise StoreError(f"no lake at {lake}; make one: warehouse lake sync {lake}")
    if number is None or number == last.number:
        return last
    if not last.oldest <= number < last.number:
        raise MisuseError(
            f"the lake {lake} has the versions {last.oldest} to {last.number}, no "
            f"version {number}"
        )
    return _read(lake, lake.require(NAME, number))


def history(lake: LakeLocation) -> list[LakeVersion]:
    """All versions that are there, newest first."""
    last = find(lake)
    return [
        last,
        *(find(lake, number) for number in range(last.number - 1, last.oldest - 1, -1)),
    ]


def commit(
    lake: LakeLocation,
    base: LakeVersion | None,
    tables: Mapping[str, TableVersion],
    *,
    schema: str,
    now: datetime,
    oldest: int | None = None,
) -> LakeVersion:
    """Make a new version visible (Overtaken: there is a later version than ``base``
    already).

    Args:
        base: the version that it was made from; ``None``: there was none.
        schema: revision of the schema of the tables.
        now: naive UTC.
        oldest: number of the oldest version that is kept; default: as before.
    """
    from importlib.metadata import version

    number = 0 if base is None else base.number + 1
    kept = oldest
    if kept is None:
        kept = number if base is None else base.oldest
    moment = max(now, base.synced_at) if base else now  # a clock that was put back
    same = (FORM, schema, version("eval-warehouse"), moment.replace(tzinfo=UTC), kept)
    rows = [
        (*same, name, table.version, table.n_rows, table.digest)
        for name, table in sorted(tables.items())
    ]
    data = pa.Table.from_pylist(
        [dict(zip(_SCHEMA.names, row, strict=True)) for row in rows], _SCHEMA
    )
    with lake.translating_errors(NAME):
        options: dict[str, Any] = {
            "commit_properties": lake.package.CommitProperties(max_commit_retries=0)
        }
        if base is None:
            lake.package.write_deltalake(
                lake.uri(NAME), data, mode="error", configuration=KEEPING, **options
            )
        else:
            table = lake.require(NAME, base.number)
            lake.package.write_deltalake(table, data, mode="overwrite", **options)
    return LakeVersion(number, schema, moment, kept, dict(tables))


def _read(lake: LakeLocation, table: Any) -> LakeVersion:
    with lake.translating_errors(NAME):
        rows = table.to_pyarrow_dataset().to_table().to_pylist()
    missing = [name for name in _SCHEMA.names if rows and name not in rows[0]]
    form = None
    if rows:
        form = rows[0].get("form")
    if form is not None and form > FORM:
        raise StoreError(
            f"the lake {lake} is of form {form}, this program reads form {FORM}; run: "
            "pip install --upgrade eval-warehouse (the lake was made by a newer "
            "version)"
        )
    if missing or form is None:
        raise StoreError(
            f"{lake.uri(NAME)} does not say what the lake holds; {lake.repair()}"
        )
    first = rows[0]
    tables = {
        row["table_name"]: TableVersion(
            row["table_version"], row["n_rows"], row["digest"]
        )
        for row in rows
    }
    moment = first["synced_at"].replace(tzinfo=None)
    return LakeVersion(
        table.version(), first["schema_revision"], moment, first["oldest"], tables
    )


#: How long old versions are kept where nobody says otherwise.
KEPT = timedelta(days=7)
#: Files that nobody names may belong to a sync that is under way; later than this none
#: is.
UNDER_WAY = timedelta(hours=24)
#: Files of a table from which on they are joined.
MANY = 64


@dataclass(frozen=True)
class VacuumReport:
    """The outcome of a vacuum."""

    location: str  #: of the lake.
    version: int  #: number of the lake's version that readers see now.
    oldest: int  #: number of the oldest version that is there now.
    n_versions: int  #: versions that went.
    n_files: int  #: files that went.
    n_joined: int  #: tables whose small files were joined.

    def __str__(self) -> str:
        gone = (
            f"{_counted(self.n_versions, 'version')} and "
            f"{_counted(self.n_files, 'file')} removed"
        )
        joined = ""
        if self.n_joined:
            joined = f", small files of {_counted(self.n_joined, 'table')} joined"
        there = f"version {self.version} is"
        if self.oldest < self.version:
            there = f"versions {self.oldest} to {self.version} are"
        return f"{self.location}: {gone}{joined}; {there} there"


def _counted(number: int, what: str) -> str:
    if number == 1:
        return f"{number} {what}"
    return f"{number} {what}s"


def vacuum(
    location: str,
    *,
    older_than: timedelta = KEPT,
    many: int = MANY,
    now: Callable[[], datetime] = utc_now,
) -> VacuumReport:
    """Remove versions of a lake that are older than some age, but never the newest.

    A reader of a version that goes fails, in words; so the age has to be longer than
    the longest question. Files that a killed sync has left go when they are a day old.

    Errors are those of `Warehouse.lake_vacuum`.

    Args:
        older_than: age of a version, counted from the next one: as long as it was the
            newest it was young.
        many: files of a table from which on they are joined to large ones.
        now: the clock, naive UTC.
    """
    if older_than < timedelta(0):
        raise MisuseError(f"an age of {older_than}; expected 0 or more")
    lake = LakeLocation(location)
    records = history(lake)
    moment = now()
    kept = [
        records[0],
        *(
            old
            for new, old in zip(records, records[1:], strict=False)
            if moment - new.synced_at < older_than
        ),
    ]
    try:
        tables, n_joined = _joined(lake, records[0], many)
        oldest = kept[-1].number
        newest = records[0]
        if n_joined or oldest > newest.oldest:
            newest = commit(
                lake, newest, tables, schema=newest.schema, now=moment, oldest=oldest
            )
        n_files = sum(
            _clean(lake, name, [*kept, newest], older_than) for name in tables
        )
    except Overtaken as error:
        raise StoreError(
            f"{error}: a sync is under way; run the vacuum again when it has ended"
        ) from None
    return VacuumReport(
        str(lake), newest.number, oldest, len(records) - len(kept), n_files, n_joined
    )


def _joined(
    lake: LakeLocation, newest: LakeVersion, many: int
) -> tuple[dict[str, TableVersion], int]:
    """The tables, with those of many files made anew from the same rows; how many those
    are."""
    tables = dict(newest.tables)
    count = 0
    for name, version in newest.tables.items():
        table = lake.require(name, version.version)
        if len(table.file_uris()) < many:
            continue
        once = lake.package.CommitProperties(max_commit_retries=0)
        with lake.translating_errors(name):
            latest = lake.require(name)
            if latest.version() > version.version:
                latest.restore(version.version, commit_properties=once)
            latest.optimize.compact(commit_properties=once)
            tables[name] = TableVersion(
                latest.version(), version.n_rows, version.digest
            )
        count += 1
    return tables, count


def _clean(
    lake: LakeLocation, name: str, kept: list[LakeVersion], older_than: timedelta
) -> int:
    """Remove files of a table that none of some versions names; how many."""
    table: Any = lake.require(name)
    needed = sorted(
        {version.tables[name].version for version in kept if name in version.tables}
    )
    with lake.translating_errors(name):
        there = set(
            table.vacuum(retention_hours=0, dry_run=True, full=True, **_keeping(needed))
        )
        gone: set[str] = set()
        for full, age in ((False, older_than), (True, max(older_than, UNDER_WAY))):
            hours = int(age.total_seconds() // 3600)
            gone |= set(
                table.vacuum(
                    retention_hours=hours, dry_run=False, full=full, **_keeping(needed)
                )
            )
    return len(gone & there)  # the log goes on naming those that went earlier


def _keeping(versions_of_table: list[int]) -> dict[str, Any]:
    return {"enforce_retention_duration": False, "keep_versions": versions_of_table}
