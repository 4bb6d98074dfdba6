"""The location of a lake: its Delta tables by name, and their errors as store errors."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from warehouse.errors import DiskFullError, MisuseError, StoreError
from warehouse.extras import load

#: What a first write says where another one was quicker.
_EXISTS = "already exists"


class Overtaken(StoreError):
    """Another process has committed to a table meanwhile."""


class LakeLocation:
    """A place for Delta tables: a folder, or a URL that the package ``deltalake`` takes.

    Credentials of a URL come from the environment, as the tools of its provider take them.
    """

    def __init__(self, location: str) -> None:
        """Nothing is opened yet (MisuseError: no place, or the extra is not installed)."""
        if not location.strip() or not location.isprintable():
            raise MisuseError("a lake without a place; expected a folder, or a URL such as s3://BUCKET/FOLDER")
        self.package = load("deltalake", "lake", "a lake")
        self.is_remote = "://" in location and not location.startswith("file://")
        self.path = location.rstrip("/") if self.is_remote else os.path.abspath(location.removeprefix("file://"))

    def __str__(self) -> str:
        return self.path

    def uri(self, name: str) -> str:
        """Where a table lies."""
        return f"{self.path}/{name}"

    def table(self, name: str, version: int | None = None) -> Any:
        """A table as it was at a version of its own; None: as it is; ``None`` comes back where there is none.

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
                    f"the table {name} of the lake {self} ends at version {table.version()}, and version {version} is"
                    f" asked for: its commit log was cut short; {self.repair()}"
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
        """What lies there; ``None`` where that cannot be listed, or the place is not there."""
        folder = Path(self.path)
        if self.is_remote or not folder.exists():
            return None
        if not folder.is_dir():
            raise MisuseError(f"{self} is a file; expected the folder of a lake")
        with self.translating_errors(""):
            return sorted(path.name for path in folder.iterdir())

    def repair(self) -> str:
        """What to do about a lake that is damaged."""
        return f"write it anew from the store: warehouse lake sync {self} --anew"

    @contextmanager
    def translating_errors(self, name: str) -> Iterator[None]:
        """Translate errors of deltalake and of the file system on a table to store errors.

        Raises:
            Overtaken: another process was quicker.
            StoreError: anything else; with the first line of what was said.
        """
        errors = self.package.exceptions
        try:
            yield
        except errors.CommitFailedError:
            raise Overtaken(f"another process has written to {self.uri(name)}") from None
        except (errors.DeltaError, OSError, ValueError) as error:
            if isinstance(error, errors.DeltaError) and _EXISTS in str(error):
                raise Overtaken(f"another process has made {self.uri(name)}") from None
            raise self.trouble(error, name) from None

    def trouble(self, error: BaseException, name: str) -> StoreError:
        """An error of the package or the system, with what to do about it."""
        reason = _one_line(error)
        where = f"the table {name} of the lake {self}" if name else f"the lake {self}"
        if isinstance(error, PermissionError) or any(words in reason for words in _NOT_ALLOWED):
            return StoreError(f"no permission for {where}: {reason}; give this user the right, or choose another place")
        if any(words in reason for words in _NO_ROOM):
            return DiskFullError(reason)
        if "Could not create" in reason:
            return StoreError(f"{where} cannot be written: {reason}; see that this user may write there")
        if isinstance(error, FileNotFoundError) or any(words in reason.replace(_NO_PARQUET, "") for words in _MISSING):
            return StoreError(
                f"{where} lacks a file: {reason}; if a vacuum has removed its version, ask again; else {self.repair()}"
            )
        if isinstance(error, self.package.exceptions.DeltaProtocolError):
            return StoreError(f"{where} is in a newer form of Delta Lake than this program reads: {reason}")
        return StoreError(f"{where} cannot be used: {reason}; if it is damaged: {self.repair()}")


def _one_line(error: BaseException) -> str:
    """What an error says, its causes too, which stand on lines of their own; without colours and calls of a program."""
    lines = _COLOUR.sub("", str(error)).splitlines()
    text = " ".join(" ".join(line for line in lines if not _CALL.match(line)).split()) or type(error).__name__
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} …"


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CALL = re.compile(r"\s*\d+: (<unknown>|.* at .*:\d+)")
#: Characters of a message of others that are told.
_LONGEST = 400
_NOT_ALLOWED = ("ermission denied", "peration not permitted", "AccessDenied", "403 Forbidden", "ead-only file system")
_NO_ROOM = ("No space left", "quota exceeded", "File too large")
#: Of a file that is there.
_NO_PARQUET = "magic bytes not found"
_MISSING = ("No such file", "not found", "NoSuchKey", "404 Not Found")
