"""Published copies: one state of a store as a read-only file, swapped in with one
rename.

Readers of a copy (pages, notebooks, dashboards) never meet a writer: a reader keeps the
copy that it has open, whatever is published meanwhile, and sees the new one when it
opens the path again.
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

from warehouse.errors import DiskFullError, MisuseError, StoreError
from warehouse.files import (
    COPY,
    FORCE,
    KnownAs,
    draft_beside,
    is_stream,
    require_output,
    sweep_drafts,
)
from warehouse.records.answer_text import without_surrogates
from warehouse.store import engines
from warehouse.store.connection import Store, wait_for
from warehouse.store.known_sources import known_in
from warehouse.store.open import DEFAULT_URL, open_store

READ_ONLY = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH


@dataclass(frozen=True)
class PublishedCopy:
    """A published copy."""

    path: str  #: where it lies.
    bytes: int  #: its size.
    seconds: float  #: how long the copying took.

    def __str__(self) -> str:
        return f"published {self.path}: {self.bytes} bytes in {self.seconds:.1f} s"

    def to_dict(self) -> dict[str, Any]:
        """The fields by name."""
        return asdict(self)


def publish(
    url: str | None,
    path: str | Path,
    *,
    force: bool = False,
    wait: float = 10.0,
    say: Callable[[str], None] | None = None,
    advice: str = FORCE,
) -> PublishedCopy:
    """Write a read-only copy of a store, or replace an earlier one atomically.

    The copy holds one state of the store. While it is made, others may read the store,
    and writers wait. It appears under its name when it is whole; a process that is
    killed meanwhile leaves the earlier copy as it was.

    Errors, ``path`` and ``force`` are those of `Warehouse.publish`.

    Args:
        url: the store; default as in :func:`warehouse.store.open.open_store`.
        wait: seconds to wait for a store that another process holds.
        say: told if there is something to wait for.
        advice: what to do about a file that is no published copy.
    """
    started = time.monotonic()
    target = Path(path)
    parsed = engines.parse_url(url or DEFAULT_URL)
    dialect = engines.dialect_of(parsed)
    snapshot = dialect.snapshot
    if dialect.is_lake:
        raise MisuseError(
            f"{engines.shown_url(parsed)} is a lake, which nobody who reads it waits "
            "for; publish its store"
        )
    if snapshot is None:
        raise MisuseError(
            f"{engines.shown_url(parsed)} is on a server: its readers do not wait for "
            "writers, so nothing needs to be published; for files: warehouse store export"
        )
    with open_store(
        url, wait=wait, say=say
    ) as store:  # it is there, and of this program's schema
        _require_other(store, target)
        require_target(target, force=force, known_as=known_in(store), advice=advice)
    target = target.resolve()
    sweep_drafts(target, _remove)
    draft = draft_beside(target)
    try:
        wait_for(lambda: snapshot(parsed, draft), parsed, dialect, wait, say)
        _settle(draft)
        draft.replace(target)
    except (StoreError, OSError) as error:
        if reason := engines.disk_full(error):
            needed = os.path.getsize(parsed.database or "") / 1e6
            said = reason.replace(draft.name, target.name)
            raise DiskFullError(
                f"the copy {path} was not written, and takes up to {needed:.1f} MB "
                f"({said}); an earlier one stands"
            ) from None
        raise
    finally:
        _remove(draft)
    size = target.stat().st_size
    return PublishedCopy(str(path), size, round(time.monotonic() - started, 3))


def require_target(
    target: Path,
    *,
    force: bool = False,
    known_as: KnownAs = lambda _path, _ours: "",
    advice: str = FORCE,
) -> None:
    """Say no to a path that no copy can have; arguments as of `require_output`.

    Raises:
        MisuseError: what stands there is a folder, a device, or no published copy.
    """
    if is_stream(target):
        raise MisuseError(f"{target} is no file; publish to another path")
    real = os.path.realpath(target)
    if without_surrogates(real) != real:
        raise MisuseError(
            f"{without_surrogates(real)} is no path in UTF-8, which a store has; "
            "publish to another one"
        )
    if not _is_copy(target):
        require_output(target, COPY, force=force, known_as=known_as, advice=advice)


def _require_other(store: Store, target: Path) -> None:
    file = store.url.database or ""
    if target.exists() and os.path.exists(file) and target.samefile(file):
        raise MisuseError(f"{target} is the store itself; publish to another path")


def _is_copy(path: Path) -> bool:
    return (
        path.is_file()
        and not path.stat().st_mode & stat.S_IWUSR
        and engines.is_published(path)
    )


def _settle(draft: Path) -> None:
    """Read-only, and on the disk before it gets its name."""
    draft.chmod(READ_ONLY)
    handle = os.open(draft, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _remove(draft: Path) -> None:
    draft.unlink(missing_ok=True)
    draft.with_name(draft.name + ".wal").unlink(missing_ok=True)
    shutil.rmtree(draft.with_name(draft.name + ".spill"), ignore_errors=True)
