"""Who holds the file of a store: one writer at a time, of whatever process."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from warehouse.store.alchemy import sa

#: Files that are open for writing, by process (a fork inherits them).
_held: WeakValueDictionary[tuple[int, Path], sa.Engine] = WeakValueDictionary()
_holding = threading.Lock()
_HERE = "open for writing in this process"
_MADE_ELSEWHERE = "a store is being made in this folder"
#: What is said where another connection of this process holds a file: by :func:`hold`,
#: and by the engine.
_OF_THIS_PROCESS = (
    _HERE,
    "with a different configuration than existing",
    "Unique file handle conflict",
)
_HOLDER = re.compile(r"Conflicting lock is held in (.*?)\(PID (\d+)\)", re.DOTALL)
_NO_HEADER = re.compile(
    r'The file "(.*)" exists, but it is not a valid DuckDB database file', re.DOTALL
)
#: For how long a file without a header is taken for one that another process is making.
MAKING_SECONDS = 2.0


def hold(engine: sa.Engine, path: Path) -> None:
    """Let an engine write to a file only while no other of this process does: both
    would share a scratch space, and one stored what the other had parsed. Those of
    other processes are kept away by the lock on the file."""

    def connect(dialect: Any, _record: Any, arguments: Any, settings: Any) -> Any:
        with _holding:
            if _held.setdefault((os.getpid(), path), engine) is not engine:
                raise BlockingIOError(_HERE)
        try:
            with _alone_to_make(path):
                return dialect.connect(*arguments, **settings)
        except BaseException:
            release()
            raise

    def release(*_disposed: Any) -> None:
        with _holding:
            if _held.get((os.getpid(), path)) is engine:
                del _held[os.getpid(), path]

    sa.event.listen(engine, "do_connect", connect)
    sa.event.listen(engine, "engine_disposed", release)


@contextmanager
def _alone_to_make(path: Path) -> Iterator[None]:
    """Let no other process open a file that is not there, until this one has it.

    The engine looks whether a file is there, and where none was it writes a new one: over
    a store that another process has made in between, with all that was loaded into it.
    The lock is on the folder, so that nothing is left; where the system has none for
    folders (some network drives), the file is opened without.

    Raises:
        BlockingIOError: another process makes a file in this folder.
    """
    if path.exists():
        yield
        return
    import fcntl

    folder = os.open(path.parent, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BlockingIOError(_MADE_ELSEWHERE) from None
        except OSError:
            pass
        yield
    finally:
        os.close(folder)


def holder(error: BaseException) -> str | None:
    """Who holds a file that could not be opened; None if that is not why."""
    if match := _HOLDER.search(str(error)):
        return f"process {match.group(2)} ({match.group(1).strip()})"
    if any(words in str(error) for words in _OF_THIS_PROCESS):
        return "another connection of this process"
    if _MADE_ELSEWHERE in str(error):
        return "a process that makes a store in this folder"
    match = _NO_HEADER.search(str(error))
    if match and is_being_made(Path(match.group(1))):
        return "the process that makes it"
    return None


def is_being_made(path: Path) -> bool:
    """A new file is there, without a lock, before its header is; which may have been
    written since it was looked at."""
    try:
        age = time.time() - path.stat().st_mtime
        with path.open("rb") as file:
            head = file.read(12)
    except OSError:
        return False
    return age < MAKING_SECONDS and (not head.strip(b"\0") or head[8:] == b"DUCK")
