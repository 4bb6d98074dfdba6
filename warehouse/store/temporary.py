"""Temporary folders that do not outlive their process for long, however it ends.

Each holds a lock of the system as long as its process lives. Whoever makes the next one
removes those that nobody holds.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "warehouse-"
#: A file in each, which its process holds.
LOCK = "in-use"
#: A folder so young may be about to be locked.
_YOUNG_SECONDS = 30.0


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that goes at the end."""
    folder = TemporaryFolder()
    try:
        yield folder.path
    finally:
        folder.close()


class TemporaryFolder:
    """A new folder in the system's place for them, or in another one, kept until it is
    closed."""

    def __init__(self, parent: Path | None = None) -> None:
        place = parent or Path(tempfile.gettempdir())
        _sweep(place)
        self.path = Path(tempfile.mkdtemp(prefix=PREFIX, dir=place))
        try:
            self._handle = os.open(
                self.path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600
            )
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:  # a file system without locks, or no room
            shutil.rmtree(self.path, ignore_errors=True)
            raise

    def keep_as(self, target: Path) -> int:
        """Give the folder a name by which it stays.

        Returns:
            a handle of the lock, which others may now hold too; whoever gets it closes
            it.

        Raises:
            OSError: there is something of that name, or it cannot be had.
        """
        os.rename(self.path, target)
        self.path = target
        fcntl.flock(self._handle, fcntl.LOCK_SH)
        return self._handle

    def close(self) -> None:
        """Remove the folder and all that is in it."""
        shutil.rmtree(self.path, ignore_errors=True)
        os.close(self._handle)


def _sweep(parent: Path) -> None:
    """Remove the folders of processes that were killed."""
    for folder in parent.glob(f"{PREFIX}*"):
        if _is_abandoned(folder):
            shutil.rmtree(folder, ignore_errors=True)


def _is_abandoned(folder: Path) -> bool:
    """True if a folder is one of ours, of this user, that no process holds."""
    try:
        status = folder.lstat()
        if folder.is_symlink() or status.st_uid != os.geteuid():
            return False
        if time.time() - status.st_mtime < _YOUNG_SECONDS:
            return False
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False  # not made by us, or gone
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(handle)
    return True
