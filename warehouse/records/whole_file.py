"""Files that are written whole or not at all: a draft in the same folder takes their place once it is complete."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from warehouse.errors import MisuseError


def replace_file(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all; several processes may do so at once.

    Raises:
        OSError: it cannot be written there; what stands there is left.
    """
    draft = path.with_name(f".{os.getpid()}.{path.name[:80]}.part")
    try:
        draft.write_bytes(content)
        draft.replace(path)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def write_whole(path: Path, content: bytes) -> int:
    """Write a file that somebody named, as `replace_file`; returns its size in bytes.

    Raises:
        MisuseError: it cannot be written there.
    """
    try:
        replace_file(path, content)
    except OSError as error:
        raise MisuseError(f"{path} cannot be written: {error.strerror}") from None
    return len(content)
