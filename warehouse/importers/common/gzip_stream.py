"""Gzip files as streams that are bounded as archives are: in size, in ratio, and in one line."""

from __future__ import annotations

import gzip
import io
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.common import bounds
from warehouse.importers.common.streams import BoundedStream

_PIECE_BYTES = 1 << 20


class PackedReader(io.BufferedReader):
    """The unpacked bytes of a gzip file, for those that read lines or all of it.

    Raises:
        InputError: while reading: it unpacks to more than its size allows, or a line (or all of it,
            where all is asked for) is too long to be held in memory.
    """

    def __init__(self, path: Path) -> None:
        self._bounded = _unpacking(path)
        self._path = path
        super().__init__(_Raw(self._bounded), _PIECE_BYTES)

    def __next__(self) -> bytes:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def readline(self, size: int | None = -1, /) -> bytes:
        """One line."""
        if size is not None and size >= 0:
            return super().readline(size)
        return self._short(super().readline(bounds.MAX_DOCUMENT_BYTES + 1))

    def read(self, size: int | None = -1, /) -> bytes:
        """Some bytes, or all."""
        if size is not None and size >= 0:
            return super().read(size)
        return self._short(super().read(bounds.MAX_DOCUMENT_BYTES + 1))

    def readlines(self, hint: int | None = -1, /) -> list[bytes]:
        """Lines of about so many bytes, or all."""
        lines: list[bytes] = []
        size = 0
        for line in self:
            lines.append(line)
            size += len(line)
            if hint is not None and 0 < hint <= size:
                break
        return lines

    def _short(self, data: bytes) -> bytes:
        if len(data) > bounds.MAX_DOCUMENT_BYTES:
            raise InputError(
                f"more than {bounds.MAX_DOCUMENT_BYTES} bytes in one line or document",
                path=str(self._path),
                expected="rows of a dump",
            )
        return data


def refuse_bomb(path: Path) -> None:
    """Unpack a gzip file to nothing, for readers of others that know no bound.

    Raises:
        InputError: it unpacks to more than its size allows.
    """
    with _unpacking(path) as stream:
        while stream.read(_PIECE_BYTES):
            pass


def _unpacking(path: Path) -> BoundedStream:
    """The unpacked bytes of a gzip file, bounded. The size at its end is not asked: of a file that
    was cut short it is any four bytes."""
    limit = bounds.unpacked_limit(path.stat().st_size)
    return BoundedStream(gzip.GzipFile(path, "rb"), str(path), limit)


class _Raw(io.RawIOBase):
    """A bounded stream that reads into a buffer."""

    def __init__(self, stream: BoundedStream) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        view: Any = memoryview(buffer).cast("B")
        data = self._stream.read(len(view))
        view[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._stream.close()
        super().close()
