"""Published copies: one state of a store as a read-only file, swapped in with one rename.

Readers of a copy (pages, notebooks, dashboards) never meet a writer: a reader keeps the copy that
it has open, whatever is published meanwhile, and sees the new one when it opens the path again.
"""

from __future__ import annotations

import os
import shutil
import stat
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from warehouse.errors import MisuseError
from warehouse.records import literal_path
from warehouse.store import engines
from warehouse.store.connection import wait_for
from warehouse.store.open import DEFAULT_URL, open_store

READ_ONLY = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH


@dataclass(frozen=True)
class Published:
    """A published copy.

    Attributes:
        path: where it lies.
        bytes: its size.
        seconds: how long the copying took.
    """

    path: str
    bytes: int
    seconds: float

    def __str__(self) -> str:
        return f"published {self.path}: {self.bytes} bytes in {self.seconds:.1f} s"

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)


def publish(
    url: str | None, path: str | Path, *, wait: float = 10.0, say: Callable[[str], None] | None = None
) -> Published:
    """Write a read-only copy of a store, or replace an earlier one atomically.

    The copy holds one state of the store. While it is made, others may read the store, and writers
    wait. It appears under its name when it is whole; a process that is killed meanwhile leaves the
    earlier copy as it was.

    Args:
        url: the store; default as in :func:`warehouse.store.open.open_store`.
        path: file of the copy.
        wait: seconds to wait for a store that another process holds.
        say: told if there is something to wait for.

    Raises:
        MisuseError: the store is on a server, whose readers do not wait for writers; or ``path``
            is the store itself, or holds something that is no published copy.
        StoreError: the store cannot be read, or the copy not be written.
    """
    started = time.monotonic()
    target = Path(path)
    parsed = engines.parse_url(url or DEFAULT_URL)
    dialect = engines.dialect_of(parsed)
    snapshot = dialect.snapshot
    if dialect.is_lake:
        raise MisuseError(
            f"{engines.shown_url(parsed)} is a lake, which nobody who reads it waits for; publish its store"
        )
    if snapshot is None:
        raise MisuseError(
            f"{engines.shown_url(parsed)} is on a server: its readers do not "
            "wait for writers, so nothing needs to be published; for files: warehouse export"
        )
    refuse_target(parsed.database or "", target)
    open_store(url, wait=wait, say=say).close()  # it is there, and of this program's schema
    _sweep(target)
    draft = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        wait_for(lambda: snapshot(parsed, draft), parsed, dialect, wait, say)
        _settle(draft)
        draft.replace(target)
    finally:
        _remove(draft)
    size = target.stat().st_size
    return Published(str(target), size, round(time.monotonic() - started, 3))


def refuse_target(store: str, target: Path) -> None:
    """Say no to a path that must not be replaced.

    Raises:
        MisuseError: what stands there is the store, a folder, or no published copy.
    """
    if not target.parent.is_dir():
        raise MisuseError(f"the folder {target.parent} does not exist; create it first")
    if target.exists() and os.path.exists(store) and target.samefile(store):
        raise MisuseError(f"{target} is the store itself; publish to another path")
    if target.exists() and not _is_copy(target):
        raise MisuseError(
            f"{target} is there and is no published copy (a read-only store file); "
            "remove it, or publish to another path"
        )


def _is_copy(path: Path) -> bool:
    if not path.is_file() or path.stat().st_mode & stat.S_IWUSR:
        return False
    with path.open("rb") as handle:
        return engines.is_embedded_file(handle.read(16))


def _settle(draft: Path) -> None:
    """Read-only, and on the disk before it gets its name."""
    draft.chmod(READ_ONLY)
    handle = os.open(draft, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _sweep(target: Path) -> None:
    """Remove the drafts of processes that were killed."""
    for draft in target.parent.glob(f".{literal_path(target.name)}.*.part"):
        number = draft.name.split(".")[-2]
        if number.isdigit() and not _runs(int(number)):
            _remove(draft)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _remove(draft: Path) -> None:
    draft.unlink(missing_ok=True)
    draft.with_name(draft.name + ".wal").unlink(missing_ok=True)
    shutil.rmtree(draft.with_name(draft.name + ".spill"), ignore_errors=True)
