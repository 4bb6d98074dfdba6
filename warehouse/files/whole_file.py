"""Files that are written whole or not at all: a draft in the same folder takes their place once it is complete."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias

#: What a file is to hold: its bytes, or what writes them to an open file.
Content: TypeAlias = bytes | Callable[[BinaryIO], object]

#: Bytes of a file's name that its draft bears, of the 255 that a name may have.
_NAME = 80
_DRAFT = re.compile(r"\.(\d+)-\d+\.part")
#: What `in_place_of` adds to the name of what it moves away.
_OLD = ".old"
#: Names of this process's drafts: others with its number are of a killed one, as in containers, where each is number 1.
_OURS: set[str] = set()
_DESCRIPTOR = re.compile(r"/dev/fd/(\d+)|/proc/(?:self|thread-self)/fd/(\d+)")
_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}


def replace_file(path: Path, content: Content, *, mode: int | None = None) -> int:
    """Write a file, whole or not at all; several processes may do so at once. A link stays one, and the file behind
    it is replaced. A device, a pipe and a descriptor of this process (``/dev/stdout``) take the bytes as they come.

    Args:
        mode: permissions, for what others must not read; None: a file that is there keeps its own, a new one has
            what the process's mask leaves.

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
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode or 0o666), "wb") as file:
            _fill(file, content)
            with suppress(FileNotFoundError):
                os.fchmod(file.fileno(), mode or target.stat().st_mode & 0o7777)
            file.flush()
            os.fsync(file.fileno())
            size = file.tell()
        draft.replace(target)
        return size
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def is_stream(path: Path) -> bool:
    """Whether a path leads to what has no content to lose: a device, a pipe, a descriptor of this process."""
    return _descriptor(path) is not None or (path.exists() and not path.is_file() and not path.is_dir())


def draft_beside(target: Path) -> Path:
    """Where the draft of a file is written: hidden, in its folder, each time by a name that nothing has."""
    name = f"{_hidden(target)}.{os.getpid()}-{secrets.randbelow(10**12)}.part"
    _OURS.add(name)
    return target.with_name(name)


def sweep_drafts(target: Path, remove: Callable[[Path], object] = os.unlink) -> None:
    """Remove the drafts of a file that killed processes have left."""
    for draft in _abandoned(target):
        with suppress(OSError):
            remove(draft)


def put_back(folder: Path) -> None:
    """Undo what killed processes have left of :func:`in_place_of`: what they had moved away comes back, drafts go."""
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
            number = _DRAFT.fullmatch(name.removeprefix(begin)) if name.startswith(begin) else None
            if number and entry.name == name + ending and not _is_written(name, int(number[1])):
                found.append(Path(entry.path))
    return found


def _hidden(target: Path) -> str:
    """How the names of a file's drafts begin."""
    return "." + os.fsencode(target.name)[:_NAME].decode("utf-8", "ignore")


def _is_written(draft: str, process: int) -> bool:
    return draft in _OURS if process == os.getpid() else _runs(process)


@contextmanager
def in_place_of(folder: Path, draft: Path) -> Iterator[None]:
    """Fill a draft of a folder; at the end it takes the folder's place, and what lay there goes once that is done.

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
    """Write to what is no regular file; what writes may want to know where it stands, which a pipe cannot say."""
    number = _descriptor(path)
    with tempfile.TemporaryFile() as whole:
        _fill(whole, content)
        size = whole.tell()
        whole.seek(0)
        handle = os.open(path, os.O_WRONLY) if number is None else os.dup(number)
        with os.fdopen(handle, "wb") as stream:
            shutil.copyfileobj(whole, stream)
    return size


def _descriptor(path: Path) -> int | None:
    """The number of the descriptor of this process that a path names."""
    text = os.path.abspath(path)
    match = _DESCRIPTOR.fullmatch(text)
    return int(match[1] or match[2]) if match else _STANDARD.get(text)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
