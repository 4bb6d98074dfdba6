"""Readers: one open file of a format, giving chunks of rows as often as asked.

Every reader streams except that of JSON documents, which are held whole (bounded). Rows that
cannot be read are handed to ``reject`` (place in the file, what was found, what was expected).
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from warehouse.errors import InputError
from warehouse.importers.tabular_chunks import (
    Chunk,
    FlatChunk,
    NestedChunk,
    Row,
    TableChunk,
    Walk,
)
from warehouse.importers.tabular_files import Member, read_exactly
from warehouse.importers.tabular_paths import Each, FieldPath
from warehouse.records import parse_json

Reject = Callable[[str, str, str], None]

CHUNK_ROWS = 65_536
_NESTED_ROWS = 8_192
_BLOCK_BYTES = 1 << 20
_SNIFF_BYTES = 1 << 16
#: Longest line of a JSON lines file, in bytes.
MAX_LINE_BYTES = 256 << 20
_BOM = b"\xef\xbb\xbf"
_DIGITS = bytes.maketrans(b"123456789", b"000000000")


class Reader(Protocol):
    """A file whose rows can be read, several times if need be."""

    is_table: bool  #: columns with names (else records with paths)

    def chunks(self, wanted: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        """The rows, in order. ``wanted``: the only field paths that will be asked for."""

    def notes(self) -> list[str]:
        """What a reader of the whole file should be told."""


@dataclass(frozen=True)
class ReadingRules:
    """What a mapping says about how to read a file (see docs/mappings.md).

    ``quoting`` is whether double quotes enclose cells; ``None`` is yes, with suspicion.
    """

    format: str = ""
    delimiter: str = ""
    quoting: bool | None = None
    at: FieldPath | None = None
    draws: FieldPath | None = None


class JsonReader:
    """A JSON document. Once read it is held as long as the reader is."""

    is_table = False

    def __init__(self, member: Member, rules: ReadingRules) -> None:
        self.member, self.walk = member, Walk(rules.at, rules.draws)
        self._held: list[Any] = []

    def chunks(self, wanted: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        self._held = self._held or [self._document()]
        self.walk.empty = 0
        rows = self.walk.rows(self._held[0])
        while part := list(islice(rows, _NESTED_ROWS)):
            yield NestedChunk(part, self.walk.draws, self._place)

    def notes(self) -> list[str]:
        return empty_notes(self.walk, self.member)

    def _document(self) -> Any:
        content = self.member.content().removeprefix(_BOM)
        try:
            return parse_json(content)
        except ValueError as error:
            raise InputError(
                f"not a JSON document: {error}",
                path=self.member.name,
                advice='for one JSON record per line say format = "jsonl"',
            ) from None

    def _place(self, row: Row) -> str:
        return place_in_document(self.walk, row)


class JsonLinesReader:
    """A JSON value per line. Lines that cannot be parsed are rejected one by one."""

    is_table = False

    def __init__(self, member: Member, rules: ReadingRules) -> None:
        self.member, self.walk = member, Walk(rules.at, rules.draws)
        self.flat = rules.at is None and rules.draws is None

    def chunks(self, wanted: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        count = 0
        self.walk.empty = 0
        with self.member.open() as stream:
            for lines, first in _line_blocks(stream, self.member.name):
                records, numbers = _parsed(lines, first, self.flat, reject)
                if not records:
                    continue
                yield from self._chunked(records, numbers, count)
                count += len(records)

    def notes(self) -> list[str]:
        return empty_notes(self.walk, self.member)

    def _chunked(self, records: list[Any], numbers: Sequence[int], count: int) -> Iterator[Chunk]:
        if self.flat:
            yield FlatChunk(records, range(count, count + len(records)), numbers)
            return
        lines = dict(enumerate(numbers, count))
        rows = (row for number, doc in enumerate(records, count) for row in self._rows(doc, number))
        while part := list(islice(rows, _NESTED_ROWS)):
            yield NestedChunk(part, self.walk.draws, lambda row: self._place(row, lines))

    def _rows(self, document: Any, number: int) -> Iterator[Row]:
        return self.walk.rows(document, number)

    def _place(self, row: Row, lines: dict[int, int]) -> str:
        within = place_in_document(self.walk, row)
        return f"line {lines[row.levels[0][2]]}" + (f", {within}" if within else "")


class ParquetReader:
    """A Parquet file; with ``at`` or ``draws`` its rows are taken as records."""

    def __init__(self, member: Member, rules: ReadingRules) -> None:
        self.member, self.walk = member, Walk(rules.at, rules.draws)
        self.is_table = rules.at is None and rules.draws is None

    def chunks(self, wanted: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        start = 0
        self.walk.empty = 0
        try:
            with self._open() as file:
                columns = self._columns(file, wanted)
                for batch in file.iter_batches(CHUNK_ROWS, columns=columns):
                    yield from self._chunked(pa.Table.from_batches([batch]), start)
                    start += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise InputError(
                f"cannot be read as Parquet: {error}",
                path=self.member.name,
                advice="check that the file was copied or downloaded whole",
            ) from None

    def notes(self) -> list[str]:
        return empty_notes(self.walk, self.member)

    def _open(self) -> Any:
        packed = self.member.entry or self.member.name.endswith(".gz")
        if packed:
            return pq.ParquetFile(io.BytesIO(self.member.content()))
        self.member.open().close()  # names a large-file pointer and what cannot be opened
        return pq.ParquetFile(self.member.path)

    def _columns(self, file: Any, wanted: Collection[str] | None) -> list[str] | None:
        if wanted is None or not self.is_table:
            return None
        return [
            name
            for name in file.schema_arrow.names
            if any(path == name or path.startswith((f"{name}.", f"{name}[")) for path in wanted)
        ] or None

    def _chunked(self, table: pa.Table, start: int) -> Iterator[Chunk]:
        if self.is_table:
            indices = range(start, start + table.num_rows)
            yield TableChunk(table, indices, range(start + 1, start + 1 + table.num_rows))
            return
        records = table.to_pylist()
        rows = (row for number, rec in enumerate(records) for row in self.walk.rows(rec, number))
        while part := list(islice(rows, _NESTED_ROWS)):
            yield NestedChunk(part, self.walk.draws, lambda row: self._place(row, start))

    def _place(self, row: Row, start: int) -> str:
        within = place_in_document(self.walk, row)
        return f"row {start + row.levels[0][2] + 1}" + (f", {within}" if within else "")


def json_flavour(member: Member) -> str:
    """``"json"`` or ``"jsonl"``, from the first line where that tells, else from the name.

    JSON lines get stored as ``.json`` and arrays as ``.jsonl``.
    """
    with member.open() as stream:
        head = read_exactly(stream, _SNIFF_BYTES).removeprefix(_BOM).lstrip()
    if not head:
        raise InputError("an empty file", path=member.name, expected="JSON")
    line, newline, rest = head.partition(b"\n")
    try:
        json.loads(line)
        complete = True
    except ValueError:
        complete = False
    if complete and rest.strip():
        return "jsonl"
    if head.startswith(b"[") and (complete or newline):
        return "json"
    return member.format if member.format == "jsonl" else "json"


def place_in_document(walk: Walk, row: Row) -> str:
    """The path of a row in its document, with numbers and keys filled in."""
    levels = row.levels[1:]
    text = _filled(walk.at.steps if walk.at else (Each.ITEM,) * bool(levels), levels)
    if row.draw_number is not None and walk.draws:
        text += ("." if text else "") + _filled(walk.draws.steps, [(None, None, row.draw_number)])
    return text


def empty_notes(walk: Walk, member: Member) -> list[str]:
    """A note on records that the mapping finds no generation in."""
    if not walk.empty or walk.draws is None:
        return []
    return [f"{member.name}: {walk.empty} records without anything at {walk.draws.text!r}"]


def _filled(steps: Any, levels: Sequence[Any]) -> str:
    remaining, text = iter(levels), ""
    for step in steps:
        if isinstance(step, Each):
            level = next(remaining, (None, None, 0))
            text += f"[{level[2]}]" if level[1] is None else f"[{level[1]!r}]"
        else:
            text += f".{step}" if text else str(step)
    return text


def _line_blocks(stream: Any, name: str) -> Iterator[tuple[list[bytes], int]]:
    """Lines, a few MiB at a time, and the number of the first (from 1)."""
    rest, first = b"", 1
    while block := stream.read(_BLOCK_BYTES):
        if first == 1 and not rest:
            block = block.removeprefix(_BOM)
        *lines, rest = (rest + block).split(b"\n")
        if len(rest) > MAX_LINE_BYTES:
            raise InputError(
                f"a line of more than {MAX_LINE_BYTES} bytes", path=name, place=f"line {first}"
            )
        yield lines, first
        first += len(lines)
    if rest.strip():
        yield [rest], first


def _parsed(
    lines: list[bytes], first: int, flat: bool, reject: Reject
) -> tuple[list[Any], Sequence[int]]:
    """The values of the lines that hold one, and their line numbers."""
    records = _parsed_at_once(lines) if flat else None
    if records is not None:
        return records, range(first, first + len(lines))
    numbers = [number for number, line in enumerate(lines, first) if line and not line.isspace()]
    kept: list[tuple[Any, int]] = []
    for number in numbers:
        line = lines[number - first]
        try:
            value = parse_json(line)
        except ValueError as error:
            reject(f"line {number}", f"{line[:60]!r}: {error}", "one JSON record in UTF-8")
            continue
        if flat and not isinstance(value, dict):
            reject(f"line {number}", repr(value)[:60], "a JSON object")
        else:
            kept.append((value, number))
    return [value for value, _ in kept], [number for _, number in kept]


def _parsed_at_once(lines: list[bytes]) -> list[Any] | None:
    """All lines as one JSON array (twice as fast), or ``None`` where a line needs a closer look."""
    joined = b"[" + b",".join(lines) + b"]"
    if b"0" * 19 in joined.translate(_DIGITS):
        return None  # perhaps an integer beyond 64 bits
    try:
        records = orjson.loads(joined)
    except orjson.JSONDecodeError:
        return None  # perhaps NaN, or an empty line
    whole = len(records) == len(lines) and set(map(type, records)) == {dict}
    return records if whole else None
