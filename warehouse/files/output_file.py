"""Files that somebody has this program write: what they may replace. Every one of them goes through `write_output`.

Never replaced: a database, whoever's it is, with what its engine keeps beside it; a part of a lake; a source that the
ledger of a store knows. Replaced unasked: an earlier file of the same kind that this program wrote, and an empty one.
"""

from __future__ import annotations

import errno
import mmap
import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import DiskFullError, MisuseError
from warehouse.files.whole_file import Content, is_stream, replace_file


@dataclass(frozen=True)
class OutputKind:
    """A kind of file that this program writes.

    Attributes:
        name: what a message calls it.
        start: how each begins.
        mark: what stands in each and, as it is written, in no file of others; empty: none is known again.
    """

    name: str
    start: bytes = b""
    mark: bytes = b""

    def knows(self, path: Path) -> bool:
        """Whether a file, which is not empty, is of this kind and of this program."""
        if not self.mark:
            return False
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            return content[: len(self.start)] == self.start and content.find(self.mark) >= 0


REPORT = OutputKind("report", b"<!DOCTYPE html>", b"<footer><p>Made by eval-warehouse ")
CLAIM = OutputKind("claim", b"{", b'"format":"warehouse-claim"')
PLAN = OutputKind("plan of a subset", b"{", b'"schema": "warehouse-subset-plan')
#: The name under which a Parquet file's own metadata says who wrote it.
PARQUET_KEY = b"eval-warehouse.answer"
ANSWER = OutputKind("answer in Parquet", b"PAR1", PARQUET_KEY)
HEALTH = OutputKind("health file", b"{", b'"program": "eval-warehouse schedule"')
#: What people go on to edit, or has no place for a mark.
MAPPING, CLEANED, SUBSET = OutputKind("mapping"), OutputKind("plan of an audit"), OutputKind("export of a subset")
COPY = OutputKind("published copy")

#: What files of databases begin with, and at which byte: a DuckDB file and its log, a SQLite file.
_DATABASES = ((8, b"DUCK"), (0, b"d\0be\0"), (0, b"SQLite format 3\0"))
#: What engines and this program put behind a database's name for the files beside it.
_BESIDE = re.compile(r"(?P<database>.+)(?:\.(?:wal|tmp|refresh)|-(?:wal|shm|journal))", re.IGNORECASE | re.DOTALL)
#: Errors of a disk that has no room.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: Says what a file is to a store, such as ``source 3``, told whether this program wrote it; empty: nothing.
KnownAs = Callable[[Path, bool], str]
#: What to do about a file of somebody else: where a command was typed, in Python, and where nobody is there.
FORCE, FORCE_IN_PYTHON = "name another file, or say --force", "name another file, or say force=True"
UNATTENDED = "name another file, or remove that one"


def write_output(
    path: str | Path, content: Content, kind: OutputKind, *, force: bool = False, advice: str = FORCE
) -> int:
    """Write a file that somebody named, whole or not at all; arguments as of :func:`require_output`.

    Returns:
        its size in bytes.

    Raises:
        MisuseError: it must not be replaced, or cannot be written there.
        DiskFullError: there is no room; what stood there is left.
    """
    require_output(path, kind, force=force, advice=advice)
    try:
        return replace_file(Path(path), content)
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise DiskFullError(f"{path}: {error.strerror}") from None
        raise MisuseError(f"{path} cannot be written: {error.strerror or error}") from None


def require_output(
    path: str | Path,
    kind: OutputKind,
    *,
    force: bool = False,
    known_as: KnownAs = lambda _path, _ours: "",
    advice: str = FORCE,
) -> Path:
    """The path, if a file may be written there.

    Args:
        path: of the file; a device, a pipe or a descriptor takes anything.
        kind: what is to be written.
        force: a file of somebody else may be replaced.
        known_as: what the file is to the store that is asked.
        advice: what to do about a file of somebody else.

    Raises:
        MisuseError: it must not be replaced, or nothing can be written there.
    """
    target = Path(path)
    if is_stream(target):
        return target
    real = _real(target)
    if not real.exists():
        return target
    try:
        if is_database(real):
            raise MisuseError(f"{target} is a database, which would be lost; name another file")
        ours = not real.stat().st_size or kind.knows(real)
        if reason := known_as(real, ours):
            raise MisuseError(f"{target} is {reason} of the store, and would be lost; name another file")
        if not os.access(real, os.W_OK):
            raise MisuseError(f"{target} may not be written to; name another file")
        if not (ours or force):
            raise MisuseError(f"{target} is there already, and is no {kind.name} that this program wrote; {advice}")
    except OSError as error:
        raise MisuseError(
            f"{target} is there already and cannot be read ({error.strerror}): it may be anything; name another file"
        ) from None
    return target


def is_database(path: Path) -> bool:
    """Whether a file is a database, or the log of one, by its first bytes.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(16)
    return any(head.startswith(magic, place) for place, magic in _DATABASES)


def databases_in(folder: Path) -> list[str]:
    """Names of the databases that lie in a folder, without those below it."""
    return sorted(path.name for path in folder.iterdir() if path.is_file() and is_database(path))


def _real(target: Path) -> Path:
    """The file behind a path, whether it is there or not; its folder is, and can be written to."""
    if target.is_dir():
        raise MisuseError(f"{target} is a folder; name a file, such as {target / 'result'}")
    try:
        real = target.resolve()
    except (OSError, RuntimeError):
        raise MisuseError(f"{target} is a link that leads nowhere; name another file") from None
    folder = real.parent
    if not folder.is_dir():
        raise MisuseError(f"the folder {target.parent} does not exist; create it first")
    if not os.access(folder, os.W_OK):
        raise MisuseError(f"the folder {target.parent} may not be written to; choose another")
    beside = _BESIDE.fullmatch(real.name)
    if beside and _is_database_there(real.with_name(beside["database"])):
        raise MisuseError(f"{target} belongs to the database {beside['database']} beside it; name another file")
    if any((parent / "_delta_log").is_dir() for parent in real.parents):
        raise MisuseError(f"{target} is a part of a lake; name a file outside it")
    return real


def _is_database_there(path: Path) -> bool:
    try:
        return path.is_file() and is_database(path)
    except OSError:
        return True  # nobody can say that it is none
