"""The files below a path, and which of them are not read, with the reason.

Only regular files are ever opened: a FIFO would wait for a writer, a device may have no
end.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path

from warehouse.errors import InputError, MisuseError
from warehouse.records import Candidate
from warehouse.records.credentials import masked

#: First bytes of a file that importers see when they claim it.
HEAD_BYTES = 65_536
#: Suffixes of files that hold data: one that cannot be read is missed.
DATA_SUFFIXES = frozenset(
    ".csv .tsv .tab .json .jsonl .ndjson .parquet .pq .arrow .eval .gz .zip .zst "
    ".xlsx .xlsm .sqlite .sqlite3".split()
)

_SPECIAL = (
    (stat.S_ISFIFO, "a FIFO (named pipe)"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)
_POINTERS = (
    (b"version https://git-lfs", "a Git LFS pointer", "git lfs pull"),
    (b"/annex/objects/", "a git-annex pointer", "git annex get"),
    (b".git/annex/objects/", "a git-annex pointer", "git annex get"),
)
#: So many of its first bytes tell a pointer.
POINTER_BYTES = 64


@dataclass(frozen=True)
class Unread:
    """A file or folder that is not read.

    ``reason`` says what it is, empty where no importer knows it. ``is_missed``: data
    was meant, so what was asked for is incomplete without it. ``name`` is what it is
    called where that is not its path.
    """

    path: Path
    reason: str = ""
    is_missed: bool = False
    name: str = ""

    @property
    def shown(self) -> str:
        """The name of it, without keys."""
        return masked(self.name or str(self.path))

    def __str__(self) -> str:
        return f"{self.shown}: {masked(self.reason) or 'no importer knows this file'}"


def has_text_name(path: Path) -> bool:
    """True if a path is text: others can be opened by Python, and by no library that
    wants UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return False
    return True


def walk(path: Path) -> Iterator[Path]:
    """The files of a folder that are not hidden, or the file itself (MisuseError: there
    is no such file or folder).

    What is no regular file is yielded too, and so is a folder that is not entered: a
    link to one, which leads out of the dump, and one that cannot be opened.
    """
    if not os.path.exists(path):
        raise MisuseError(f"no file or folder '{path}'")
    if not path.is_dir():
        yield path
        return
    closed: list[Path] = []

    def keep(error: OSError) -> None:
        closed.append(Path(os.fsdecode(error.filename)))

    for folder, subfolders, names in os.walk(path, onerror=keep):
        links = [
            name for name in subfolders if os.path.islink(os.path.join(folder, name))
        ]
        subfolders[:] = sorted(
            name for name in {*subfolders} - {*links} if not _is_hidden(name)
        )
        shown = sorted(name for name in (*names, *links) if not _is_hidden(name))
        yield from (Path(folder) / name for name in shown)
    yield from closed


def look_at(path: Path) -> Candidate | Unread:
    """The part of a file that importers are shown, or why they are not.

    A file that cannot be opened is shown without content: its name may say which source
    lacks it.
    """
    try:
        mode = path.stat().st_mode
    except OSError:
        return Candidate(path, b"", 0)
    for is_kind, kind in _SPECIAL:
        if is_kind(mode):
            linked = kind
            if path.is_symlink():
                linked = f"a link to {kind}"
            return Unread(path, f"{linked}, which is not read")
    if stat.S_ISDIR(mode):
        if path.is_symlink():
            reason = (
                "a link to a folder, which is not followed; name that folder itself"
            )
            return Unread(path, reason)
        return Unread(path, f"a folder that {why_unreadable(path)}", is_missed=True)
    try:
        with open_regular(path) as handle:
            return Candidate(path, handle.read(HEAD_BYTES), path.stat().st_size)
    except OSError:
        return Candidate(path, b"", 0)


def left_over(item: Candidate) -> Unread:
    """A file that no importer has claimed, with the reason where it is recognisable."""
    is_data = item.path.suffix.lower() in DATA_SUFFIXES
    if item.head:
        reason = pointer_reason(item.head)
    else:
        reason = why_unreadable(item.path)
    return Unread(item.path, reason, bool(reason) and is_data)


def why_unreadable(path: Path) -> str:
    """Why a file or folder cannot be read; empty if it can."""
    try:
        if path.is_dir():
            os.scandir(path).close()
        else:
            open_regular(path).close()
    except FileNotFoundError:
        if path.is_symlink():
            return "a link to what is not there"
        return "is not there any more"
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    return ""


def open_regular(path: Path) -> BufferedReader:
    """A file open for reading, without waiting for the writer of a FIFO.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "not a regular file", str(path))
        return open(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def pointer_reason(head: bytes) -> str:
    """The reason in the first bytes of a file that only stands for one; empty if they
    are data."""
    for start, kind, command in _POINTERS:
        if head.startswith(start):
            return (
                f"{kind}, not the data; fetch the data with `{command}` and ingest "
                "again"
            )
    return ""


def refuse_pointer(head: bytes, name: str) -> None:
    """Refuse what only stands for a file, by its first bytes (InputError: they are a
    pointer)."""
    reason = pointer_reason(head)
    if reason:
        problem, advice = reason.split("; ", 1)
        raise InputError(problem, path=name, advice=advice)


def refuse_pointers(files: Iterable[Path]) -> None:
    """Refuse files that only stand for others (InputError: one of the files is a
    pointer of a large-file store)."""
    for path in files:
        with open_regular(path) as handle:
            refuse_pointer(handle.read(POINTER_BYTES), str(path))


def _is_hidden(name: str) -> bool:
    """A dot file or folder; not one that begins with ``..``, as a relative model path
    may."""
    return name.startswith(".") and not name.startswith("..")


#: A file that changed so few seconds before it was hashed may change again under the
#: same time.
COARSEST_CLOCK = 2.0


@dataclass(frozen=True)
class Stamp:
    """Size and times of a file, to detect changes, and the hash of its bytes.

    ``times``: of the last change of content and of the file's entry, in nanoseconds.
    ``is_safe``: both lay so far back that a later change shows in them.
    """

    size: int
    file_id: tuple[int, int]
    times: tuple[int, int]
    is_safe: bool
    sha256: bytes


def stamp(path: Path) -> Stamp:
    """A file as it is now (OSError: it cannot be read)."""
    with open_regular(path) as handle:
        status = os.fstat(handle.fileno())
        newest = max(status.st_mtime_ns, status.st_ctime_ns)
        return Stamp(
            size=status.st_size,
            file_id=(status.st_dev, status.st_ino),
            times=(status.st_mtime_ns, status.st_ctime_ns),
            is_safe=time.time_ns() - newest > COARSEST_CLOCK * 1e9,
            sha256=hashlib.file_digest(handle, "sha256").digest(),
        )


def refuse_changed(before: Iterable[tuple[Path, Stamp]]) -> None:
    """Refuse files that are not what they were (InputError: one of them has changed
    since)."""
    for path, stamped in before:
        if _has_changed(path, stamped):
            raise InputError(
                "changed while it was read",
                path=str(path),
                expected="a file that nobody writes to",
                advice="ingest it again once its writer is done",
            )


def _has_changed(path: Path, stamped: Stamp) -> bool:
    """True if a file was modified: by its times, else by its bytes."""
    try:
        status = path.stat()
        if (status.st_size, (status.st_dev, status.st_ino), status.st_mtime_ns) != (
            stamped.size,
            stamped.file_id,
            stamped.times[0],
        ):
            return True
        if stamped.is_safe and status.st_ctime_ns == stamped.times[1]:
            return False
        return stamp(path).sha256 != stamped.sha256
    except OSError:
        return True  # it is not there any more
