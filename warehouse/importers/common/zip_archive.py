"""The archive that an ``.eval`` file is: entries by name, in memory only, within
bounds.

Entries are packed with Deflate, or since 0.3.206 with Zstandard in one or more frames
(method 93 of the zip format). Only the directory is read through ``zipfile``; nothing
is ever written.
"""

from __future__ import annotations

import os
import struct
import sys
import zipfile
import zlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType

from warehouse.errors import InputError
from warehouse.importers.common import bounds

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

#: A Zstandard frame may ask for a window of at most 128 MiB.
_BOUNDS: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 27}

#: Entries are unpacked on other threads in groups of about so many bytes, a few groups
#: ahead.
GROUP_BYTES = 1 << 20
GROUPS_AHEAD = 3

_LOCAL_HEADER = 30
_STORED, _DEFLATED, _ZSTD = 0, 8, 93


class EntryError(Exception):
    """An entry that cannot be unpacked; the rest of the archive can."""


class Archive:
    """An open archive. Where a name stands twice in its directory, the last one counts.

    Raises:
        InputError: not an intact archive, or one that no honest writer makes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("rb")
        try:
            self._size = path.stat().st_size
            entries = _directory(path)
            bounds.refuse_hostile(
                entries,
                self._size,
                str(path),
                "an archive as Inspect writes it",
                _problem,
            )
        except BaseException:
            self._file.close()
            raise
        self.entries = {item.filename: item for item in entries}
        self.n_doubled = len(entries) - len(self.entries)

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def read(self, name: str) -> bytes:
        """The content of one entry (EntryError: it is damaged, or not what the
        directory says)."""
        item = self.entries[name]
        raw = self._raw(item)
        try:
            data = _unpacked(item, raw)
        except (zlib.error, zstd.ZstdError, MemoryError) as error:
            raise EntryError(f"cannot be unpacked: {error}") from None
        if len(data) != item.file_size:
            if len(data) > item.file_size:
                size = f"more than {item.file_size}"
            else:
                size = str(len(data))
            raise EntryError(
                f"holds {size} bytes where the directory says {item.file_size}"
            )
        if zlib.crc32(data) != item.CRC:
            raise EntryError("its checksum is not that of the directory")
        return data

    def read_all(
        self, names: Sequence[str]
    ) -> Iterator[tuple[str, bytes | EntryError]]:
        """The content of many entries, in order; unpacked ahead on other threads."""
        with ThreadPoolExecutor(2) as pool:
            waiting: deque[Future[list[tuple[str, bytes | EntryError]]]] = deque()
            try:
                for group in self._groups(names):
                    waiting.append(pool.submit(self._read_group, group))
                    if len(waiting) > GROUPS_AHEAD:
                        yield from waiting.popleft().result()
                while waiting:
                    yield from waiting.popleft().result()
            finally:
                for future in waiting:
                    future.cancel()

    def try_read(self, name: str) -> bytes | EntryError:
        """The content of one entry, or why there is none."""
        try:
            return self.read(name)
        except EntryError as error:
            return error

    def _groups(self, names: Sequence[str]) -> Iterator[list[str]]:
        group: list[str] = []
        size = 0
        for name in names:
            group.append(name)
            size += self.entries[name].file_size
            if size >= GROUP_BYTES:
                yield group
                group, size = [], 0
        if group:
            yield group

    def _read_group(self, names: Sequence[str]) -> list[tuple[str, bytes | EntryError]]:
        return [(name, self.try_read(name)) for name in names]

    def _raw(self, item: zipfile.ZipInfo) -> bytes:
        """The packed bytes of an entry; its local header has a length of its own."""
        handle = self._file.fileno()
        head = os.pread(handle, _LOCAL_HEADER, item.header_offset)
        if len(head) < _LOCAL_HEADER or head[:4] != b"PK\x03\x04":
            raise EntryError("does not stand where the directory says")
        name, extra = struct.unpack("<HH", head[26:30])
        start = item.header_offset + _LOCAL_HEADER + name + extra
        raw = os.pread(handle, item.compress_size, start)
        if len(raw) < item.compress_size:
            raise EntryError("is cut off at the end of the file")
        return raw


def _directory(path: Path) -> list[zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(path) as archive:
            return archive.infolist()
    except bounds.DAMAGE as error:
        raise InputError(
            f"the directory of the archive cannot be read: {error}",
            path=str(path),
            expected="a whole .eval file",
            advice=(
                "a log that is cut off or still being copied has no directory at its "
                "end"
            ),
        ) from None


def _problem(item: zipfile.ZipInfo) -> str:
    if item.file_size > bounds.MAX_ENTRY_BYTES:
        return (
            f"unpacks to {item.file_size} bytes; at most {bounds.MAX_ENTRY_BYTES} are "
            "read"
        )
    if item.compress_type not in (_STORED, _DEFLATED, _ZSTD):
        return (
            f"is packed with method {item.compress_type}, not 0, 8 (Deflate) or 93 "
            "(Zstandard)"
        )
    return ""


def _unpacked(item: zipfile.ZipInfo, raw: bytes) -> bytes:
    """The content of an entry, at most one byte more than it says."""
    limit = item.file_size + 1
    if item.compress_type == _STORED:
        return raw
    if item.compress_type == _DEFLATED:
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(raw, limit)
    return _of_frames(raw, limit)


def _of_frames(raw: bytes, limit: int) -> bytes:
    """The content of one or more frames, at most so many bytes of it."""
    parts: list[bytes] = []
    while raw and limit > 0:
        frame = zstd.ZstdDecompressor(options=_BOUNDS)
        parts.append(frame.decompress(raw, limit))
        if not frame.eof:
            break
        limit -= len(parts[-1])
        raw = frame.unused_data
    return b"".join(parts)
