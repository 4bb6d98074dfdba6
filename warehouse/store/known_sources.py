"""Which source of a store a file is: for guards of what is written, also where nothing
is loaded."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from warehouse.files import KnownAs
from warehouse.store.connection import Store

#: A byte of a name that is no UTF-8, as the ledger spells it (`readable`).
_ESCAPED = re.compile(r"\\udc([89a-f][0-9a-f])")


def known_in(store: Store) -> KnownAs:
    """Says which source of a store a file is; for guards of what is written. The ledger
    is read when it is asked."""
    return partial(known_as, store)


def known_as(store: Store, path: Path, ours: bool) -> str:
    """Which source a file is, or is one of: by its path, whichever way that is spelled
    or linked, as it was given or below the store's folder; or by its name and bytes.
    Empty if it is none.

    Args:
        path: of a file that is there.
        ours: this program wrote it, so it is none that merely lies among those of a
            source.
    """
    status = path.stat()
    folders = [Path.cwd()]
    if store.dialect.embedded:
        folders.append(Path(store.url.database or "").resolve().parent)
    digest = ""
    for row in store.rows("select id, path, sha256, bytes from source order by id"):
        for there, found in _files_meant(row["path"], folders):
            if os.path.samestat(found, status):
                return f"source {row['id']} ({row['path']})"
            if not ours and _is_in_folder(path, there, found, row["bytes"]):
                return (
                    f"in the folder of source {row['id']} ({row['path']}), which is of "
                    "several files,"
                )
        if row["bytes"] == status.st_size:
            digest = digest or _digest(path)
            if row["sha256"] == digest:
                return f"source {row['id']} ({row['path']})"
    return ""


def _files_meant(path: str, folders: Sequence[Path]) -> Iterator[tuple[Path, Any]]:
    """Files that the ledger may mean by a path."""
    for spelled in dict.fromkeys(
        (path, _ESCAPED.sub(lambda match: chr(0xDC00 + int(match[1], 16)), path))
    ):
        for folder in folders:
            there = folder / spelled
            try:
                yield there, there.stat()
            except (OSError, ValueError):
                continue


def _is_in_folder(path: Path, first: Path, found: Any, total: int | None) -> bool:
    """True if a file lies in the folder of a source of which the ledger names the first
    of several files."""
    return (total or 0) > found.st_size and first.resolve().parent in path.parents


def _digest(path: Path) -> str:
    """The hash of a source of this one file."""
    with path.open("rb") as file:
        content = hashlib.file_digest(file, "sha256").digest()
    return hashlib.sha256(os.fsencode(path.name) + b"\0" + content).hexdigest()
