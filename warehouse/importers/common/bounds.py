"""Bounds on what files of strangers become in memory, and archives that no honest
writer makes.

Nothing is unpacked to disk. What is packed is bounded in size and ratio before and
while it is read.
"""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

from warehouse.errors import InputError

#: Most bytes that a packed file or entry may unpack to where it is read in pieces.
MAX_UNPACKED_BYTES = 8 << 30
#: Most bytes that one packed byte may become.
MAX_RATIO = 1000
#: Most bytes that are held in memory whole: of what was packed, of an entry of a log,
#: of a plain file.
MAX_DOCUMENT_BYTES = 512 << 20
MAX_ENTRY_BYTES = 1 << 30
MAX_FILE_BYTES = 2 << 30
#: Entries of an archive, and the bytes of all of them against those of the archive.
#: Archives that unpack to less are let through whatever their ratio.
MAX_ENTRIES = 4_000_000
MAX_ARCHIVE_RATIO = 400
ALWAYS_FINE = 256 << 20

#: Tables in one archive: to open one takes the time to read the whole directory.
MAX_TABLES = 5_000

#: What reading an archive or a packed file raises where it is damaged.
DAMAGE = (
    *(
        zipfile.BadZipFile,
        zlib.error,
        struct.error,
        EOFError,
        NotImplementedError,
        OSError,
        OverflowError,
    ),
    *(MemoryError, ValueError),
)
_LOCAL_HEADER = 30
_ENCRYPTED = 0x1


def refuse_large(
    path: Path, limit: int | None = None, use: str = "to be read at once"
) -> None:
    """Refuse a file that is too large to be held in memory.

    Raises:
        InputError: it has more than ``limit`` (default :data:`MAX_FILE_BYTES`) bytes.
        OSError: it is not there.
    """
    most = MAX_FILE_BYTES if limit is None else limit
    size = path.stat().st_size
    if size > most:
        raise InputError(
            f"{size} bytes are too many {use}",
            path=str(path),
            expected=f"at most {most}",
        )


def unpacked_limit(packed: int) -> int:
    """Most bytes that so many packed ones may become."""
    return min(MAX_UNPACKED_BYTES, max(packed, 1024) * MAX_RATIO)


def too_large(name: str, limit: float) -> InputError:
    """The error of a file that unpacks to more than a limit."""
    return InputError(
        f"unpacks to more than {int(limit)} bytes",
        path=name,
        expected=(
            f"at most {MAX_RATIO} times the packed size and {MAX_UNPACKED_BYTES} B"
        ),
        advice="if you trust it, unpack it and ingest the unpacked file",
    )


def refuse_hostile(
    entries: Sequence[zipfile.ZipInfo],
    size: int,
    name: str,
    expected: str = "",
    problem_of: Callable[[zipfile.ZipInfo], str] = lambda _: "",
) -> None:
    """Refuse archives that are bombs, encrypted, or whose entries share bytes.

    Args:
        entries: the directory of the archive.
        size: bytes of the archive.
        name: what messages call it.
        expected: what it should be.
        problem_of: what else is wrong with an entry; empty if nothing is.

    Raises:
        InputError: with the first entry that is at fault.
    """
    if len(entries) > MAX_ENTRIES:
        raise InputError(
            f"{len(entries)} entries", path=name, expected=f"at most {MAX_ENTRIES}"
        )
    end, before = 0, ""
    for entry in sorted(entries, key=lambda entry: entry.header_offset):
        if entry.flag_bits & _ENCRYPTED:
            raise InputError(
                f"an encrypted entry: {entry.filename[:200]!r}",
                path=name,
                advice="unpack it first",
            )
        problem = (
            f"shares bytes with {before[:200]}"
            if entry.header_offset < end
            else problem_of(entry)
        )
        if problem:
            raise InputError(
                problem,
                path=name,
                place=f"entry {entry.filename[:200]}",
                expected=expected,
            )
        end = entry.header_offset + _LOCAL_HEADER + entry.compress_size
        before = entry.filename
    total = sum(entry.file_size for entry in entries)
    if end > size or total > max(ALWAYS_FINE, MAX_ARCHIVE_RATIO * size):
        raise InputError(
            f"{len(entries)} entries of {size} bytes unpack to {total} bytes",
            path=name,
            expected=f"at most {MAX_ARCHIVE_RATIO} times the size of the file",
        )
