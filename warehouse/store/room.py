"""A check that the disk has room for a transaction of an embedded store, asked before
it begins.

DuckDB 1.5 ends the process where the log of a short transaction finds no room.
"""

from __future__ import annotations

import resource
import shutil
from contextlib import suppress
from pathlib import Path

from warehouse.errors import DiskFullError
from warehouse.files import draft_beside
from warehouse.store import engines

#: Free bytes on the disk of an embedded store below which nothing is written.
MIN_FREE_BYTES = 4 * 2**20
#: Bytes that a short transaction may add to the log of a store: less than so many left
#: of a limit on the size of files (``ulimit -f``), or of a quota, which the free room
#: of the disk does not show.
SHORT_BYTES = 64 * 2**10


def require_room(store_file: Path) -> None:
    """Refuse to begin a transaction that may find no room (DiskFullError: says what is
    lacking).

    Args:
        store_file: of an embedded store, whether it is there yet or not.
    """
    folder = store_file.resolve().parent
    free = shutil.disk_usage(folder).free
    if free < MIN_FREE_BYTES:
        raise DiskFullError(
            f"{folder} has {free >> 20} MiB left, of {MIN_FREE_BYTES >> 20} that a "
            "transaction needs"
        )
    most, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if most == resource.RLIM_INFINITY:
        return
    log = store_file.with_name(store_file.name + ".wal")
    held = 0
    if log.exists():
        held = log.stat().st_size
    if most - held < SHORT_BYTES:
        raise DiskFullError(
            f"File too large: a file of this process may hold {most} bytes (ulimit "
            f"-f), {log.name} holds {held} and may need {SHORT_BYTES} more"
        )


def try_room(store_file: Path) -> None:
    """Refuse to write where a file of the size of a short transaction cannot be written
    (DiskFullError: why): a quota is told by nothing else. The file is removed."""
    draft = draft_beside(store_file.resolve())
    try:
        draft.write_bytes(bytes(SHORT_BYTES))
    except OSError as error:
        if reason := engines.disk_full(error):
            raise DiskFullError(reason) from None
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
