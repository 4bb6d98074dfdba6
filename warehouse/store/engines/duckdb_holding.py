"""Who holds the file of a store: one writer at a time, of whatever process."""

from __future__ import annotations

import os
import re
import threading
import time
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from warehouse.store.alchemy import sa

#: Files that are open for writing, by process (a fork inherits them).
_held: WeakValueDictionary[tuple[int, Path], sa.Engine] = WeakValueDictionary()
_holding = threading.Lock()
_HERE = "open for writing in this process"
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


def holder(error: BaseException) -> str | None:
    """Who holds a file that could not be opened; None if that is not why."""
    if match := _HOLDER.search(str(error)):
        return f"process {match.group(2)} ({match.group(1).strip()})"
    if any(words in str(error) for words in _OF_THIS_PROCESS):
        return "another connection of this process"
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
