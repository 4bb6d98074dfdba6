"""The content of files, by which a store is found again that was made of them.

A file that has the size, the times and the place that it had is taken to be the same;
of any other the bytes are hashed.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

from warehouse.importers.common.file_walk import stamp, walk
from warehouse.records.canonical_json import canonical_digest


@dataclass(frozen=True)
class FileMarks:
    """What a look at a file shows without opening it; zeros where it is not there."""

    size: int = 0
    device: int = 0
    inode: int = 0
    modified: int = 0  #: nanoseconds.
    changed: int = 0  #: of its entry, permissions too; nanoseconds.


@dataclass(frozen=True)
class SeenFile:
    """A file as it was when its bytes were hashed."""

    marks: FileMarks
    digest: str  #: sha256 in hex, or why it could not be read.
    is_safe: bool  #: whether any later change shows in the marks.

    def to_json(self) -> list[Any]:
        """It as JSON."""
        return [*astuple(self.marks), self.digest, self.is_safe]

    @classmethod
    def from_json(cls, values: Any) -> SeenFile:
        """Read what :meth:`to_json` gives (ValueError, TypeError: it is something
        else)."""
        *marks, digest, is_safe = values
        return cls(FileMarks(*map(int, marks)), str(digest), bool(is_safe))


def files_below(paths: Iterable[str]) -> list[str]:
    """Every file below some paths, as it is read, once (MisuseError: a path that is not
    there)."""
    found: dict[str, None] = {}
    for path in paths:
        found |= dict.fromkeys(map(str, walk(Path(path))))
    return list(found)


def look_at_all(
    paths: Iterable[str], before: Mapping[str, SeenFile]
) -> dict[str, SeenFile]:
    """Some files as they are; only those are opened that have changed since ``before``."""
    return {path: _look_at(path, before.get(path)) for path in paths}


def _look_at(path: str, before: SeenFile | None) -> SeenFile:
    marks = marks_of(path)
    if before is not None and before.is_safe and before.marks == marks:
        return before
    try:
        found = stamp(Path(path))
    except OSError as error:  # no regular file, or not for us: whoever reads it says so
        return SeenFile(marks, f"unreadable: {error.errno}", is_safe=False)
    return SeenFile(marks, found.sha256.hex(), found.is_safe)


def marks_of(path: str) -> FileMarks:
    """The marks of a file, or of what a link leads to."""
    try:
        status = os.stat(path)
    except OSError:
        return FileMarks()
    return FileMarks(
        status.st_size,
        status.st_dev,
        status.st_ino,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )


def digest_of(files: Mapping[str, SeenFile]) -> str:
    """One digest of the names and bytes of files."""
    content = {
        path.encode("utf-8", "surrogateescape").hex(): seen.digest
        for path, seen in files.items()
    }
    return canonical_digest(content)
