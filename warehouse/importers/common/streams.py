"""Files, gzip files and entries of zip archives, as bounded streams of bytes.

Archives come from strangers: bombs (``bounds``), names that leave their folder,
encryption and damage are refused by name.
"""

from __future__ import annotations

import gzip
import io
import math
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePath, PurePosixPath
from typing import Any

import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.common import bounds
from warehouse.importers.common.file_walk import (
    POINTER_BYTES,
    has_text_name,
    refuse_pointer,
)
from warehouse.importers.common.patterns import Pattern, PatternError

#: File name suffix -> format. ``.txt`` is decided by the first line.
FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".txt": "txt",
    ".json": "json",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}
#: The same of files that hold tables of their own, which are not looked for in archives.
FORMATS_OF_SEVERAL = {
    ".xlsx": "xlsx",
    ".xlsm": "xlsx",
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
}
_PIECE_BYTES = 16 << 20


class BoundedStream(io.RawIOBase):
    """A stream that counts what it gives out and refuses to give more than a limit.

    Args:
        raw: where the bytes come from.
        name: what messages call it.
        limit: most bytes that may come out.
        owners: what else to close with it (the archive, the packed file).
    """

    def __init__(
        self, raw: Any, name: str, limit: float = math.inf, owners: Sequence[Any] = ()
    ) -> None:
        self.raw = raw
        self.name = name
        self.limit = limit
        self.count = 0
        self.owners = owners

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        with reading(self.name):
            data: bytes = self.raw.read(size if size >= 0 else self._rest())
        self.count += len(data)
        if self.count > self.limit:
            raise bounds.too_large(self.name, self.limit)
        return data

    def close(self) -> None:
        for opened in (self.raw, *self.owners):
            opened.close()
        super().close()

    def _rest(self) -> int:
        if self.limit == math.inf:
            return -1
        return int(self.limit) + 1 - self.count


@dataclass(frozen=True)
class Member:
    """One table to read: a file or an entry of an archive.

    ``name`` is its path relative to the source's root (``dump.zip/a.json`` for an
    entry), with forward slashes; ``suffixes`` those of the unpacked name decide the
    format.
    """

    path: Path
    name: str
    entry: str = ""

    @property
    def format(self) -> str:
        """The format that the name promises, ``""`` if it promises none."""
        inner = PurePosixPath(self.name.removesuffix(".gz"))
        suffix = inner.suffix.lower()
        if self.is_plain and suffix in FORMATS_OF_SEVERAL:
            return FORMATS_OF_SEVERAL[suffix]
        return FORMATS.get(suffix, "")

    @property
    def is_plain(self) -> bool:
        """True if the file holds the bytes as they are, not packed."""
        return not self.entry and not self.name.endswith(".gz")

    def open(self) -> BoundedStream:
        """The unpacked bytes, bounded.

        Raises:
            InputError: it cannot be opened, is encrypted, damaged or a large-file
                pointer.
        """
        with reading(self.name):
            stream = self._open()
        return stream

    def content(self, limit: int | None = None) -> bytes:
        """All bytes of a file that has to be held in memory.

        Raises:
            InputError: more than ``limit`` (default ``bounds.MAX_DOCUMENT_BYTES``)
                bytes.
        """
        most = bounds.MAX_DOCUMENT_BYTES if limit is None else limit
        with self.open() as stream:
            data = read_exactly(stream, most + 1)
        if len(data) > most:
            raise InputError(
                f"more than {most} bytes in one document",
                path=self.name,
                advice=(
                    "convert it to JSON lines, CSV or Parquet, which are read in pieces"
                ),
            )
        return data

    def _open(self) -> BoundedStream:
        if self.entry:
            return self._open_entry()
        raw = self.path.open("rb")
        try:
            refuse_pointer(raw.read(POINTER_BYTES), self.name)
        except InputError:
            raw.close()
            raise
        raw.seek(0)
        if not self.name.endswith(".gz"):
            return BoundedStream(raw, self.name)
        packed = self.path.stat().st_size
        return BoundedStream(
            gzip.GzipFile(fileobj=raw), self.name, bounds.unpacked_limit(packed), [raw]
        )

    def _open_entry(self) -> BoundedStream:
        archive = zipfile.ZipFile(self.path)
        info = archive.getinfo(self.entry)
        opened = archive.open(info)
        limit = bounds.unpacked_limit(info.compress_size)
        if not self.entry.endswith(".gz"):
            return BoundedStream(opened, self.name, limit, [archive])
        return BoundedStream(
            gzip.GzipFile(fileobj=opened), self.name, limit, [opened, archive]
        )


class TooManyTablesError(InputError):
    """An archive of more tables than are read of one."""


def members(path: Path, name: str, globs: Sequence[str] = ()) -> list[Member]:
    """The tables in a file: itself, or the entries of a zip archive that can be tables.

    Args:
        name: its path relative to the source's root.
        globs: which entries of an archive to take; none = all with a known suffix.

    Raises:
        InputError: a hostile, damaged or encrypted archive, or one without such
            entries.
    """
    if path.suffix.lower() != ".zip":
        return [Member(path, name)]
    with reading(name), zipfile.ZipFile(path) as archive:
        entries = [info for info in archive.infolist() if not info.is_dir()]
        for info in entries:
            _refuse_outside(info, name)
        bounds.refuse_hostile(entries, path.stat().st_size, name)
    all_members = [
        Member(path, f"{name}/{info.filename}", info.filename) for info in entries
    ]
    chosen = [member for member in all_members if _is_chosen(member, globs)]
    if not chosen:
        if globs:
            expected = f"entries that match {list(globs)}"
        else:
            expected = f"one of {list(FORMATS)}"
        raise InputError(
            f"an archive of {len(entries)} files, none of which can be read as a table",
            path=name,
            expected=expected,
        )
    if len(chosen) > bounds.MAX_TABLES:
        raise TooManyTablesError(
            f"an archive of {len(chosen)} tables",
            path=name,
            expected=f"at most {bounds.MAX_TABLES}",
            advice="unpack it and ingest the folder",
        )
    return chosen


def read_exactly(stream: BoundedStream, size: int) -> bytes:
    """Read until ``size`` bytes or the end (a raw stream may return fewer at a
    time)."""
    pieces: list[bytes] = []
    while size > 0 and (piece := stream.read(min(size, _PIECE_BYTES))):
        pieces.append(piece)
        size -= len(piece)
    return b"".join(pieces)


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what can go wrong with a file or archive into an :class:`InputError`."""
    try:
        yield
    except bounds.DAMAGE as error:
        raise InputError(
            f"cannot be read: {str(error) or type(error).__name__}",
            path=name,
            advice=(
                "check the file's permissions and that it was copied or downloaded "
                "whole"
            ),
        ) from None
    except RuntimeError as error:  # what zipfile raises for an encrypted entry
        raise InputError(f"cannot be unpacked: {error}", path=name) from None


def _is_chosen(member: Member, globs: Sequence[str]) -> bool:
    if member.entry.startswith("__MACOSX/"):
        return False
    if globs:
        return any(glob_matches(glob, member.entry) for glob in globs)
    return bool(member.format)


def _refuse_outside(info: zipfile.ZipInfo, name: str) -> None:
    parts = PurePosixPath(info.filename.replace("\\", "/")).parts
    if ".." in parts or info.filename.startswith(("/", "\\")):
        raise InputError(
            f"an entry that leaves its folder: {info.filename!r}",
            path=name,
            advice="this archive is broken or hostile; do not unpack it",
        )


#: What reading a damaged file ends with.
_FAULTS = (pa.ArrowException, OSError, ValueError, MemoryError)


@contextmanager
def parquet_place(path: Path) -> Iterator[Any]:
    """The place that a Parquet file is opened by: its path, or the open file where it
    is no text."""
    if has_text_name(path):
        yield path
        return
    with path.open("rb") as file:
        yield file


def _unpacked_size(metadata: Any, counts: Callable[[str], bool]) -> int:
    """Bytes that the columns of a Parquet file unpack to."""
    size = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        columns = map(group.column, range(group.num_columns))
        size += sum(
            max(column.total_uncompressed_size, 0)
            for column in columns
            if counts(column.path_in_schema.partition(".")[0])
        )
    return size


@contextmanager
def open_parquet(
    path: Path, limit: int, counts: Callable[[str], bool] = lambda _column: True
) -> Iterator[Any]:
    """A Parquet file, of which only some columns may be read.

    Args:
        limit: most bytes that they may unpack to.
        counts: whether a column is among them, by its name.

    Raises:
        InputError: it is damaged, which may show while it is read, or unpacks to more.
    """
    import pyarrow.parquet as pq

    try:
        with parquet_place(path) as place, pq.ParquetFile(place) as file:
            size = _unpacked_size(file.metadata, counts)
            if size > limit:
                raise InputError(
                    f"unpacks to {size} bytes",
                    path=str(path),
                    expected=f"at most {limit}",
                )
            yield file
    except _FAULTS as error:
        raise damaged_parquet(str(path), error) from None


def damaged_parquet(name: str, error: BaseException) -> InputError:
    """The error of a Parquet file that cannot be read."""
    return InputError(
        f"cannot be read as Parquet: {str(error)[:300]}",
        path=name,
        advice="check that the file was copied or downloaded whole",
    )


_GZIP_PIECE_BYTES = 1 << 20


class PackedReader(io.BufferedReader):
    """The unpacked bytes of a gzip file, for those that read lines or all of it.

    Raises:
        InputError: while reading: it unpacks to more than its size allows, or a line
            (or all of it, where all is asked for) is too long to be held in memory.
    """

    def __init__(self, path: Path) -> None:
        self._bounded = _unpacking(path)
        self._path = path
        super().__init__(_Raw(self._bounded), _GZIP_PIECE_BYTES)

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
        while stream.read(_GZIP_PIECE_BYTES):
            pass


def _unpacking(path: Path) -> BoundedStream:
    """The unpacked bytes of a gzip file, bounded. The size at its end is not asked: of
    a file that was cut short it is any four bytes."""
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


def glob_matches(glob: str, path: PurePath | str) -> bool:
    """True if a glob matches a tail of the path. ``*`` stays in one folder, ``**`` does
    not.

    >>> glob_matches("zero-shot/*/*.json", "data/zero-shot/a/b.json")
    True
    >>> glob_matches("zero-shot/*.json", "data/zero-shot/a/b.json")
    False
    """
    compiled = _glob(glob)
    return any(compiled.fullmatch(tail) for tail in tails_of(path))


def tails_of(path: PurePath | str) -> list[str]:
    """The path's ends, the shortest first, each from a folder boundary on."""
    parts = [part for part in PurePath(path).parts if part != PurePath(path).anchor]
    starts = reversed(range(len(parts)))
    return ["/".join(parts[start:]) for start in starts]


@lru_cache(maxsize=256)
def _glob(glob: str) -> Pattern:
    pieces = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", glob)
    return Pattern("(?s)" + "".join(map(_glob_piece, pieces)))


def _glob_piece(piece: str) -> str:
    pieces = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if piece.startswith("[") and len(piece) > 2:
        inner = piece[1:-1].replace("\\", "\\\\")
        negated = inner
        if inner.startswith("!"):
            negated = "^" + inner[1:]
        brackets = "[" + negated + "]"
        with suppress(PatternError):
            return Pattern(brackets).pattern
    return pieces.get(piece, re.escape(piece))
