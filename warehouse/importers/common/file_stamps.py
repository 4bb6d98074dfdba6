"""Whether files are still what they were when they were hashed."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from warehouse.errors import InputError
from warehouse.importers.common.file_walk import open_regular

#: A file that changed so few seconds before it was hashed may change again under the same time.
COARSEST_CLOCK = 2.0


@dataclass(frozen=True)
class Stamp:
    """What tells whether a file has changed, and the hash of its bytes.

    ``times``: of the last change of content and of the file's entry, in nanoseconds. ``is_safe``:
    both lay so far back that a later change shows in them.
    """

    size: int
    file_id: tuple[int, int]
    times: tuple[int, int]
    is_safe: bool
    sha256: bytes


def stamp(path: Path) -> Stamp:
    """A file as it is now.

    Raises:
        OSError: it cannot be read.
    """
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
    """Refuse files that are not what they were.

    Raises:
        InputError: one of them has changed since.
    """
    for path, known in before:
        if _has_changed(path, known):
            raise InputError(
                "changed while it was read",
                path=str(path),
                expected="a file that nobody writes to",
                advice="ingest it again once its writer is done",
            )


def _has_changed(path: Path, known: Stamp) -> bool:
    """Whether anybody wrote to a file; where its times cannot tell, its bytes do."""
    try:
        status = path.stat()
        if (status.st_size, (status.st_dev, status.st_ino), status.st_mtime_ns) != (
            known.size,
            known.file_id,
            known.times[0],
        ):
            return True
        if known.is_safe and status.st_ctime_ns == known.times[1]:
            return False
        return stamp(path).sha256 != known.sha256
    except OSError:
        return True  # it is not there any more
