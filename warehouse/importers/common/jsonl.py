"""Sample rows out of a file, one at a time: JSON lines, or one JSON array of objects."""

from __future__ import annotations

import contextlib
import itertools
import json
import re
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import IO, Any, ClassVar, cast

import orjson
import pyarrow as pa

from warehouse.errors import InputError
from warehouse.importers.base import batch_of, require_utf8
from warehouse.importers.common import bounds
from warehouse.importers.common.file_walk import refuse_pointer
from warehouse.importers.common.json_fields import Row
from warehouse.importers.common.streams import PackedReader
from warehouse.records import CUT_SHORT, Candidate, Rejection, is_cut, parse_json

#: How many rows a look at a file takes: from its beginning, and spread over the rest.
FIRST_ROWS = 24
SPREAD_ROWS = 40
#: Files up to this size are searched whole for their row with the most requests.
SMALL_FILE = 2 << 20

_BLOCK = 1 << 20

_BLANK = re.compile(r"[\s,]*")
_DECODER = json.JSONDecoder()


@dataclass
class RowSource:
    """One file of rows. ``rejections`` and ``notes`` grow while it is read."""

    path: Path  #: the file; ``.gz`` is unpacked.
    name: str  #: how messages call it.
    keys: tuple[str, ...] = ("doc_id",)  #: keys that a row must have.
    rejections: list[Rejection] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    counted: ClassVar[str] = "line"

    def rows(self) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Each row with the JSON text it was parsed from; bad ones are recorded, not
        raised.

        Raises:
            InputError: the file is empty, a pointer, or a damaged archive.
        """
        for line, text in self.texts():
            row = self._parsed(line, text)
            if row is not None:
                yield row, text

    def numbered(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Line number and row; bad ones are recorded, not raised (InputError: as for
        :meth:`rows`)."""
        for line, text in self.texts():
            row = self._parsed(line, text)
            if row is not None:
                yield line, row

    def located(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Where each row stands, for whoever reads of it, and the row (InputError: as
        for :meth:`rows`)."""
        for line, row in self.numbered():
            yield f"{self.name} line {line}", row

    def texts(self) -> Iterator[tuple[int, bytes]]:
        """Line number and JSON text of each row, not parsed (InputError: as for
        :meth:`rows`)."""
        require_content(self.path)
        try:
            with open_text(self.path) as handle:
                yield from self._texts(handle)
        except (OSError, EOFError, zlib.error) as error:
            raise InputError(
                f"cannot be read: {error}",
                path=str(self.path),
                expected="an intact file",
            ) from None

    def first(self, count: int = FIRST_ROWS) -> list[dict[str, Any]]:
        """The first sound rows; what is wrong with others is not recorded."""
        probe = replace(self, rejections=[], notes=[])
        return [row for row, _ in itertools.islice(probe.rows(), count)]

    def sample(self) -> list[dict[str, Any]]:
        """The first sound rows, then some from places spread over the file."""
        rows = self.first()
        size = self.path.stat().st_size
        if self.path.suffix == ".gz" or size <= SMALL_FILE or self.is_array():
            return rows
        with self.path.open("rb") as handle:
            for position in range(0, size, max(size // SPREAD_ROWS, 1)):
                handle.seek(position)
                handle.readline()  # the rest of a row that began before
                with contextlib.suppress(ValueError, RecursionError):
                    row = parse_json(handle.readline())
                    if isinstance(row, dict) and row.keys() >= set(self.keys):
                        rows += [row]
        return rows

    def findall(self, pattern: re.Pattern[bytes]) -> Iterator[Any]:
        """Groups of everything in the file that a pattern matches; no match spans two
        lines."""
        with open_text(self.path) as handle:
            for lines in iter(lambda: handle.readlines(_BLOCK), []):
                yield from pattern.findall(b"".join(lines))

    def has_requests(self, count: int) -> bool | None:
        """True if any row has at least so many requests; ``None``: the file is too
        large to say."""
        if self.path.suffix == ".gz" or self.path.stat().st_size > SMALL_FILE:
            return None
        return f'"gen_args_{count - 1}"'.encode() in self.path.read_bytes()

    def is_array(self) -> bool:
        """True if the file is one JSON array."""
        with open_text(self.path) as handle:
            return handle.read(1000).removeprefix(BOM_UTF8).lstrip()[:1] == b"["

    def has_mark(self) -> bool:
        """True if the file begins with a byte-order mark."""
        with open_text(self.path) as handle:
            return handle.read(3) == BOM_UTF8

    def _texts(self, handle: IO[bytes]) -> Iterator[tuple[int, bytes]]:
        first = handle.readline()
        if first.startswith(BOM_UTF8):
            self.notes.append(f"{self.name}: begins with a byte-order mark")
            first = first.removeprefix(BOM_UTF8)
        if first.lstrip().startswith(b"["):
            yield from self._elements(first + handle.read())
            return
        for line, text in enumerate(itertools.chain((first,), handle), start=1):
            if text.strip():
                yield line, text

    def _elements(self, raw: bytes) -> Iterator[tuple[int, bytes]]:
        """Line and text of each element of an array, without building them all at once."""
        text = raw.decode("utf-8", "surrogateescape")
        line, seen = 1, 0
        position = text.index("[") + 1
        while True:
            position = _after_blanks(text, position)
            line = line + text.count("\n", seen, position)
            seen = position
            if text[position : position + 1] in ("]", ""):
                break
            try:
                _, end = _DECODER.raw_decode(text, position)
            except (ValueError, RecursionError) as error:
                self._reject(
                    line, CUT_SHORT + str(error), text[position : position + 60]
                )
                return
            yield line, text[position:end].encode("utf-8", "surrogateescape")
            position = end
        if text[position : position + 1] != "]":
            self._reject(line, CUT_SHORT + "the array does not end", text[-60:])

    def _parsed(self, line: int, text: bytes) -> dict[str, Any] | None:
        try:
            row = parse_json(text)
        except (ValueError, RecursionError) as error:
            if is_cut(text):
                reason = CUT_SHORT + str(error)
            else:
                reason = str(error)
            self._reject(line, reason, text[:60].decode("utf-8", "replace"))
            return None
        if not isinstance(row, dict):
            self._reject(line, f"a JSON {type(row).__name__}, no object", _begin(row))
            return None
        lacking = [key for key in self.keys if row.get(key) is None]
        if lacking:
            self._reject(line, f"no {' and no '.join(lacking)}", _begin(row))
            return None
        return row

    def _reject(self, line: int, reason: str, start: str) -> None:
        expected = "a JSON object"
        if self.keys:
            expected = f"a JSON object with {', '.join(self.keys)}"
        self.rejections.append(
            Rejection(
                place=f"{self.name} {self.counted} {line}",
                found=f"{reason}: {start.strip()}",
                expected=expected,
            )
        )


def _begin(row: Any) -> str:
    return orjson.dumps(row).decode()[:60]


@dataclass
class EmbeddedRows(RowSource):
    """Rows that a document holds among other things; one that is bad is named by its
    number."""

    embedded: Sequence[Any] = ()  #: the rows as they were parsed.
    counted: ClassVar[str] = "row"

    def texts(self) -> Iterator[tuple[int, bytes]]:
        for number, row in enumerate(self.embedded, start=1):
            yield number, json.dumps(row).encode()

    def sample(self) -> list[dict[str, Any]]:
        return self.first()

    def has_requests(self, count: int) -> bool | None:
        """`None`: rows are not searched for it."""
        return None

    def is_array(self) -> bool:
        return True

    def has_mark(self) -> bool:
        return False


def _after_blanks(text: str, position: int) -> int:
    blanks = _BLANK.match(text, position)
    if blanks:
        return blanks.end()
    return position


_CONFLICT = re.compile(rb"^(?:<{7}|>{7})(?= )[^\n]{0,60}", re.MULTILINE)
_HEAD_BYTES = 65_536


def head_of(candidate: Candidate) -> str:
    """The first bytes of a file as text, without byte-order mark and blanks before."""
    return candidate.head.removeprefix(BOM_UTF8).decode("utf-8", "replace").lstrip()


def unpacked_head(candidate: Candidate) -> str:
    """As :func:`head_of`, of what is packed in the file if it is."""
    head = candidate.head
    if candidate.path.suffix == ".gz":
        head = unpacked_start(head)
    return head.decode("utf-8", "replace").lstrip("\ufeff \t\r\n")


def unpacked_start(head: bytes) -> bytes:
    """The beginning of a file from that of its gzip; empty if it is none."""
    try:
        return zlib.decompressobj(16 + zlib.MAX_WBITS).decompress(head, _HEAD_BYTES)
    except zlib.error:
        return b""


def has_keys(head: str, *keys: str) -> bool:
    """True if a text has all these keys of JSON objects."""
    quoted = [f'"{key}"' for key in keys]
    return all(key in head for key in quoted) and all(
        re.search(rf"{re.escape(key)}\s*:", head) for key in quoted
    )


def nearest(folder: Path, folders: Iterable[Path]) -> Path | None:
    """The folder itself or the closest one above it that is among ``folders``."""
    own_folders = set(folders)
    return next(
        (item for item in (folder, *folder.parents) if item in own_folders), None
    )


def open_text(path: Path) -> IO[bytes]:
    """The bytes of a file, unpacked where it is packed."""
    if path.suffix == ".gz":
        return cast(IO[bytes], PackedReader(path))
    return path.open("rb")


def require_content(path: Path) -> None:
    """Refuse what is only a stand-in for a file, and text in an encoding that nobody
    expects.

    Raises:
        InputError: the file is empty, a pointer of a large-file store, or UTF-16.
    """
    with path.open("rb") as handle:
        head = handle.read(300)
    if not head.strip():
        raise InputError(
            "the file is empty", path=str(path), advice="run or copy it again"
        )
    refuse_pointer(head, str(path))
    require_utf8(head, str(path))


def refuse_conflict(raw: bytes, path: Path) -> None:
    """Say of a file that is no JSON whether it holds two versions of itself.

    Raises:
        InputError: it has the marks of a merge that nobody resolved; names the line of
            the first.
    """
    mark = _CONFLICT.search(raw)
    if mark:
        shown = mark[0].decode("utf-8", "replace")
        line = raw.count(b"\n", 0, mark.start()) + 1
        raise InputError(
            f"marks of a merge that was not resolved: {shown}",
            path=str(path),
            place=f"line {line}",
            expected="one version of the file",
            advice="take it again from a commit without conflict, or resolve it",
        )


def read_document(path: Path, kind: type = dict) -> Any:
    """A JSON file that holds one object (``kind=dict``) or one list (``kind=list``).

    Raises:
        InputError: unreadable, a stand-in for a file, too large, no JSON, or JSON of
            another kind.
    """
    word = "object"
    if kind is list:
        word = "list"
    try:
        require_content(path)
        bounds.refuse_large(path)
        with open_text(path) as handle:
            raw = handle.read().removeprefix(BOM_UTF8)
        try:
            document = parse_json(raw)
        except ValueError:
            refuse_conflict(raw, path)
            raise
    except (OSError, ValueError, EOFError, zlib.error, RecursionError) as error:
        raise InputError(
            f"cannot be read: {error}",
            path=str(path),
            expected=f"a complete JSON {word}",
        ) from None
    if not isinstance(document, kind):
        raise InputError(
            f"a JSON {type(document).__name__}",
            path=str(path),
            expected=f"a JSON {word}",
        )
    return document


#: About so many sample rows go into one batch.
BATCH_ROWS = 1000
#: What values of a strange kind raise in code that takes a row apart.
ODD_VALUES = (TypeError, ValueError, AttributeError, RecursionError)


def in_batches(
    groups: Iterable[Iterable[Row]], most: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """Rows in batches of about so many; those of a group stay together."""
    pending: list[Row] = []
    for group in groups:
        pending += group
        if len(pending) >= most:
            yield batch_of(pending)
            pending = []
    if pending:
        yield batch_of(pending)


def batches_of(
    items: Iterable[tuple[str, Any]],
    rows_of: Callable[[Any], Iterable[Row]],
    rejections: list[Rejection],
    expected: str,
    errors: tuple[type[Exception], ...] = (ValueError,),
) -> Iterator[pa.RecordBatch]:
    """Sample rows of items, in batches; an item that ``rows_of`` raises one of
    ``errors`` for is rejected with its place."""

    def groups() -> Iterator[list[Row]]:
        for location, item in items:
            rows: list[Row] = []
            try:
                rows += rows_of(item)
            except errors as error:
                rejections.append(Rejection(location, str(error)[:300], expected))
            yield rows

    return in_batches(groups())
