"""The shelf: stores of dumps in the user's cache, the latest used, up to a size.

Each lies in a folder of its own that never changes once it has its name, and that the
processes which ask it hold by a lock of the system: nobody removes it under them.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from warehouse.errors import MisuseError
from warehouse.files import replace_file
from warehouse.store.schema.found_before import cache_folder
from warehouse.store.temporary import LOCK, TemporaryFolder

#: Bytes that all of them together may take, and the variable that says otherwise.
MOST_BYTES = 2_000_000_000
SIZE_VARIABLE = "WAREHOUSE_CACHE_SIZE"
_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,3})?)\s*([kMGT]?)B?", re.IGNORECASE)
_NAME = re.compile(r"[0-9a-f]{16}-[0-9a-f]{16}")
#: Characters of a digest in a name.
_DIGITS = 16


def most_bytes(environment: Mapping[str, str]) -> int:
    """Bytes that the kept stores may take together (MisuseError: the variable says no
    size)."""
    text = environment.get(SIZE_VARIABLE, "").strip()
    if not text:
        return MOST_BYTES
    match = _SIZE.fullmatch(text)
    if match is None:
        raise MisuseError(
            f"{SIZE_VARIABLE} is {text!r}; expected a size such as 500MB, or 0 to keep "
            "nothing"
        )
    return int(float(match[1]) * 1000 ** " kmgt".index(match[2].lower() or " "))


class HeldFolder:
    """A folder of the shelf that this process asks, until it is closed."""

    def __init__(self, path: Path, handle: int) -> None:
        self.path, self._handle = path, handle

    def close(self) -> None:
        """Let it go."""
        os.close(self._handle)


class Shelf:
    """The kept stores of a user.

    Args:
        environment: environment variables.
    """

    def __init__(self, environment: Mapping[str, str]) -> None:
        self.most = most_bytes(environment)
        cache = cache_folder(environment)
        self.path = None if cache is None or not self.most else cache / "dumps"

    def index(self, request: str) -> dict[str, Any]:
        """What was noted on the files of a request when it was last read; empty for
        none."""
        if self.path is None:
            return {}
        with suppress(OSError, ValueError):
            noted = json.loads((self.path / f"{request[:_DIGITS]}.json").read_bytes())
            if isinstance(noted, dict):
                return noted
        return {}

    def note(self, request: str, content: Mapping[str, Any]) -> None:
        """Note on the files of a request what :meth:`index` gives next time."""
        if self.path is None:
            return
        text = json.dumps(content).encode()
        with suppress(OSError):
            path = self.path / f"{request[:_DIGITS]}.json"
            replace_file(path, text, mode=0o600, lasting=False)

    def held(self, request: str, content: str) -> HeldFolder | None:
        """The store of a request and content; None where none is kept."""
        if self.path is None:
            return None
        return _held(self.path / _named(request, content))

    def draft(self) -> TemporaryFolder:
        """A new folder to make a store in; elsewhere, where the cache cannot be written."""
        if self.path is not None:
            with suppress(OSError):
                self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
                return TemporaryFolder(self.path)
        return TemporaryFolder()

    def keep(
        self, draft: TemporaryFolder, request: str, content: str
    ) -> HeldFolder | None:
        """Put a store that is made onto the shelf, in place of an earlier one of the
        request, and of the oldest if there is no room.

        Returns:
            its folder; None where it stays a draft: it is too large for the shelf, was
            not made there, or another process was quicker.
        """
        if self.path is None or draft.path.parent != self.path:
            return None
        if _size(draft.path) > self.most:
            return None
        target = self.path / _named(request, content)
        try:
            kept = HeldFolder(target, draft.keep_as(target))
        except OSError:
            return None
        self._make_room(target)
        return kept

    def _make_room(self, kept: Path) -> None:
        """Remove earlier stores of the request, and those that were not used for longest,
        as far as nobody asks them; and notes on requests that have no store any more."""
        assert self.path is not None
        request = kept.name[:_DIGITS]
        folders = [path for path in _stores_in(self.path) if path != kept]
        folders.sort(key=lambda path: (path.name[:_DIGITS] != request, _last_use(path)))
        total = _size(kept) + sum(map(_size, folders))
        for folder in folders:
            if total <= self.most and folder.name[:_DIGITS] != request:
                break
            size = _size(folder)
            if _removed(folder):
                total -= size
        left = {folder.name[:_DIGITS] for folder in _stores_in(self.path)}
        for noted in self.path.glob("*.json"):
            if noted.stem not in left:
                noted.unlink(missing_ok=True)


def _named(request: str, content: str) -> str:
    return f"{request[:_DIGITS]}-{content[:_DIGITS]}"


def _stores_in(folder: Path) -> Iterator[Path]:
    with suppress(OSError):
        for entry in folder.iterdir():
            if _NAME.fullmatch(entry.name):
                yield entry


def _held(folder: Path) -> HeldFolder | None:
    """A folder with its lock, which others hold too; None where it is not there, or is
    about to go."""
    try:
        handle = os.open(folder / LOCK, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        os.utime(folder / LOCK)  # used just now; gone, if it was removed meanwhile
    except OSError:
        os.close(handle)
        return None
    return HeldFolder(folder, handle)


def _last_use(folder: Path) -> int:
    try:
        return (folder / LOCK).stat().st_mtime_ns
    except OSError:
        return 0


def _size(folder: Path) -> int:
    total = 0
    with suppress(OSError):  # another process removes it
        for path in folder.iterdir():
            total += path.stat().st_size
    return total


def _removed(folder: Path) -> bool:
    """True if a folder is removed: nobody holds it."""
    try:
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        shutil.rmtree(folder, ignore_errors=True)  # what is left of one that went
        return True
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
