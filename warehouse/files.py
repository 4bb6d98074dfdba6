"""Files that are written: whole, and never in place of what would be lost.

Every one of them goes through `write_output`.

Never replaced: a database, whoever's it is, with what its engine keeps beside it; a
part of a lake; a source that the ledger of a store knows. Replaced unasked: an earlier
file of the same kind that this program wrote, and an empty one.
"""

from __future__ import annotations

import errno
import mmap
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias

from warehouse.errors import DiskFullError, MisuseError


@dataclass(frozen=True)
class OutputKind:
    """A kind of file that this program writes."""

    name: str  #: what a message calls it.
    start: bytes = b""  #: how each begins.
    mark: bytes = b""  #: what stands in each and, as it is written, in no file of others; empty: none is known again.

    def knows(self, path: Path) -> bool:
        """Whether a file, which is not empty, is of this kind and of this program."""
        if not self.mark:
            return False
        with (
            path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content,
        ):
            return (
                content[: len(self.start)] == self.start
                and content.find(self.mark) >= 0
            )


REPORT = OutputKind("report", b"<!DOCTYPE html>", b"<footer><p>Made by eval-warehouse ")
CLAIM = OutputKind("claim", b"{", b'"format":"warehouse-claim"')
PLAN = OutputKind("plan of a subset", b"{", b'"schema": "warehouse-subset-plan')
#: The name under which a Parquet file's own metadata says who wrote it.
PARQUET_KEY = b"eval-warehouse.answer"
#: What stands in a picture.
SVG_MARK = "<!-- eval-warehouse -->"
PICTURE = OutputKind("picture", b"<svg", SVG_MARK.encode())
ANSWER = OutputKind("answer in Parquet", b"PAR1", PARQUET_KEY)
HEALTH = OutputKind("health file", b"{", b'"program": "eval-warehouse schedule"')
#: What people go on to edit, or has no place for a mark.
MAPPING, CLEANED, SUBSET = (
    OutputKind("mapping"),
    OutputKind("plan of an audit"),
    OutputKind("export of a subset"),
)
CARD = OutputKind("card")
SAMPLE = OutputKind("sample of an audit")
SHEET = OutputKind("sheet for labels")
COPY = OutputKind("published copy")

#: What files of databases begin with, and at which byte: a DuckDB file and its log, a
#: SQLite file.
_DATABASES = ((8, b"DUCK"), (0, b"d\0be\0"), (0, b"SQLite format 3\0"))
#: Suffixes of the files that engines and this program keep next to a database.
_BESIDE = re.compile(
    r"(?P<database>.+)(?:\.(?:wal|tmp|refresh)|-(?:wal|shm|journal))",
    re.IGNORECASE | re.DOTALL,
)
#: Errors of a disk that has no room.
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

#: Says what a file is to a store, such as ``source 3``, told whether this program wrote
#: it; empty: nothing.
KnownAs = Callable[[Path, bool], str]
#: What to do about a file of somebody else: where a command was typed, in Python, and
#: where nobody is there.
FORCE, FORCE_IN_PYTHON = (
    "name another file, or say --force",
    "name another file, or say force=True",
)
UNATTENDED = "name another file, or remove that one"


def write_output(
    path: str | Path,
    content: Content,
    kind: OutputKind,
    *,
    force: bool = False,
    advice: str = FORCE,
    lasting: bool = True,
) -> int:
    """Write a file that somebody named, whole or not at all; arguments as of
    :func:`require_output`, and ``lasting`` of :func:`replace_file`.

    Returns:
        its size in bytes.

    Raises:
        MisuseError: it must not be replaced, or cannot be written there.
        DiskFullError: there is no room; what stood there is left.
    """
    require_output(path, kind, force=force, advice=advice)
    try:
        return replace_file(Path(path), content, lasting=lasting)
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise DiskFullError(f"{path}: {error.strerror}") from None
        raise MisuseError(
            f"{path} cannot be written: {error.strerror or error}"
        ) from None


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
            raise MisuseError(
                f"{target} is a database, which would be lost; name another file"
            )
        ours = not real.stat().st_size or kind.knows(real)
        if reason := known_as(real, ours):
            raise MisuseError(
                f"{target} is {reason} of the store, and would be lost; name another "
                "file"
            )
        if not os.access(real, os.W_OK):
            raise MisuseError(f"{target} may not be written to; name another file")
        if not (ours or force):
            raise MisuseError(
                f"{target} is there already, and is no {kind.name} that this program "
                f"wrote; {advice}"
            )
    except OSError as error:
        raise MisuseError(
            f"{target} is there already and cannot be read ({error.strerror}): it may "
            "be anything; name another file"
        ) from None
    return target


def is_database(path: Path) -> bool:
    """Whether a file is a database, or the log of one, by its first bytes.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(16)
    return any(head.startswith(magic, offset) for offset, magic in _DATABASES)


def databases_in(folder: Path) -> list[str]:
    """Names of the databases that lie in a folder, without those below it."""
    return sorted(
        path.name for path in folder.iterdir() if path.is_file() and is_database(path)
    )


def _real(target: Path) -> Path:
    """The file behind a path, whether it is there or not; its folder is, and can be
    written to."""
    if target.is_dir():
        raise MisuseError(
            f"{target} is a folder; name a file, such as {target / 'result'}"
        )
    try:
        real = target.resolve()
    except (OSError, RuntimeError):
        raise MisuseError(
            f"{target} is a link that leads nowhere; name another file"
        ) from None
    folder = real.parent
    if not folder.is_dir():
        raise MisuseError(f"the folder {target.parent} does not exist; create it first")
    if not os.access(folder, os.W_OK):
        raise MisuseError(
            f"the folder {target.parent} may not be written to; choose another"
        )
    beside = _BESIDE.fullmatch(real.name)
    if beside and _is_database_there(real.with_name(beside["database"])):
        raise MisuseError(
            f"{target} belongs to the database {beside['database']} beside it; name "
            "another file"
        )
    if any((parent / "_delta_log").is_dir() for parent in real.parents):
        raise MisuseError(f"{target} is a part of a lake; name a file outside it")
    return real


def _is_database_there(path: Path) -> bool:
    try:
        return path.is_file() and is_database(path)
    except OSError:
        return True  # nobody can say that it is none


#: What a file is to hold: its bytes, or what writes them to an open file.
Content: TypeAlias = bytes | Callable[[BinaryIO], object]

#: Bytes of a file's name that its draft bears, of the 255 that a name may have.
_NAME = 80
_DRAFT = re.compile(r"\.(\d+)-\d+\.part")
#: What `in_place_of` adds to the name of what it moves away.
_OLD = ".old"
#: Names of this process's drafts: others with its number are of a killed one, as in
#: containers, where each is number 1.
_OURS: set[str] = set()
_DESCRIPTOR = re.compile(r"/dev/fd/(\d+)|/proc/(?:self|thread-self)/fd/(\d+)")
_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


def replace_file(
    path: Path, content: Content, *, mode: int | None = None, lasting: bool = True
) -> int:
    """Write a file, whole or not at all; several processes may do so at once. A link
    stays one, and the file behind it is replaced. A device, a pipe and a descriptor of
    this process (``/dev/stdout``) take the bytes as they come.

    Args:
        mode: permissions, for what others must not read; None: a file that is there
            keeps its own, a new one has what the process's mask leaves.
        lasting: wait until it would outlast a machine that stops; not for one of a
            thousand pages.

    Returns:
        the size in bytes.

    Raises:
        OSError: it cannot be written there; what stands there is left.
    """
    if is_stream(path):
        return _send(path, content)
    target = path.resolve()
    sweep_drafts(target)
    draft = draft_beside(target)
    try:
        with os.fdopen(
            os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode or 0o666), "wb"
        ) as file:
            _fill(file, content)
            with suppress(FileNotFoundError):
                os.fchmod(file.fileno(), mode or target.stat().st_mode & 0o7777)
            file.flush()
            if lasting:
                os.fsync(file.fileno())
            size = file.tell()
        draft.replace(target)
        return size
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def is_stream(path: Path) -> bool:
    """Whether a path leads to what has no content to lose: a device, a pipe, a
    descriptor of this process."""
    return _descriptor(path) is not None or (
        path.exists() and not path.is_file() and not path.is_dir()
    )


def draft_beside(target: Path) -> Path:
    """Where the draft of a file is written: hidden, in its folder, each time by a name
    that nothing has."""
    name = f"{_hidden(target)}.{os.getpid()}-{secrets.randbelow(10**12)}.part"
    _OURS.add(name)
    return target.with_name(name)


def sweep_drafts(target: Path, remove: Callable[[Path], object] = os.unlink) -> None:
    """Remove the drafts of a file that killed processes have left."""
    for draft in _abandoned(target):
        with suppress(OSError):
            remove(draft)


def put_back(folder: Path) -> None:
    """Undo what killed processes have left of :func:`in_place_of`: what they had moved
    away comes back, drafts go."""
    for old in _abandoned(folder, _OLD):
        with suppress(OSError):
            shutil.rmtree(old) if folder.exists() else old.rename(folder)
    sweep_drafts(folder, shutil.rmtree)


def _abandoned(target: Path, ending: str = "") -> list[Path]:
    """Drafts of processes that do not run any more."""
    begin, found = _hidden(target), []
    with suppress(OSError):
        for entry in os.scandir(target.parent):
            name = entry.name.removesuffix(ending)
            number = None
            if name.startswith(begin):
                number = _DRAFT.fullmatch(name.removeprefix(begin))
            if (
                number
                and entry.name == name + ending
                and not _is_written(name, int(number[1]))
            ):
                found.append(Path(entry.path))
    return found


def _hidden(target: Path) -> str:
    """How the names of a file's drafts begin."""
    return "." + os.fsencode(target.name)[:_NAME].decode("utf-8", "ignore")


def _is_written(draft: str, process: int) -> bool:
    if process == os.getpid():
        return draft in _OURS
    return _runs(process)


@contextmanager
def in_place_of(folder: Path, draft: Path) -> Iterator[None]:
    """Fill a draft of a folder; at the end it takes the folder's place, and what lay
    there goes once that is done.

    Raises:
        OSError: it cannot be put there; what lay there is left.
    """
    old = draft.with_name(draft.name + _OLD)
    try:
        yield
        if folder.exists():
            folder.rename(old)
        try:
            draft.rename(folder)
        except OSError:
            if old.exists():
                old.rename(folder)
            raise
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if folder.exists():
            shutil.rmtree(old, ignore_errors=True)


def _fill(file: BinaryIO, content: Content) -> None:
    if isinstance(content, bytes):
        file.write(content)
    else:
        content(file)


def _send(path: Path, content: Content) -> int:
    """Write to what is no regular file; what writes may want to know where it stands,
    which a pipe cannot say."""
    number = _descriptor(path)
    with tempfile.TemporaryFile() as whole:
        _fill(whole, content)
        size = whole.tell()
        whole.seek(0)
        if number is None:
            handle = os.open(path, os.O_WRONLY)
        else:
            handle = os.dup(number)
        with os.fdopen(handle, "wb") as stream:
            shutil.copyfileobj(whole, stream)
    return size


def _descriptor(path: Path) -> int | None:
    """The number of the descriptor of this process that a path names."""
    text = os.path.abspath(path)
    match = _DESCRIPTOR.fullmatch(text)
    if match:
        return int(match[1] or match[2])
    return _STANDARD.get(text)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
