"""Readers: one open file of a format, giving chunks of rows as often as asked.

Every reader streams except that of JSON documents, which are held whole (bounded). Rows
that cannot be read are handed to ``reject`` (place in the file, what was found, what
was expected).

They are read as if they were long: one row per cell, with ``@row`` (the label in the
row's first column), ``@column`` (the column's name) and ``@cell``. Empty cells are left
out and counted: a model that was not asked has no score.
"""

from __future__ import annotations

import io
import json
from codecs import BOM_UTF8
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import Any, Protocol

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from warehouse.errors import InputError
from warehouse.importers.common.file_walk import has_text_name
from warehouse.importers.common.patterns import Pattern
from warehouse.importers.common.streams import Member, damaged_parquet, read_exactly
from warehouse.importers.tabular.chunks import (
    Chunk,
    FlatChunk,
    NestedChunk,
    NestedRow,
    TableChunk,
    Walk,
    location_in_document,
)
from warehouse.importers.tabular.columns import Column, as_array, as_list, to_text
from warehouse.importers.tabular.field_paths import FieldPath, column_of
from warehouse.records import CUT_SHORT, is_cut, parse_json

CHUNK_ROWS = 65_536
#: Most columns of a table: what has more is no table, or holds its rows as columns.
MAX_COLUMNS = 50_000
_NESTED_ROWS = 8_192
_SNIFF_BYTES = 1 << 16


def ignore(_location: str, _found: str, _expected: str) -> None:
    """For a first look at rows that are read again."""


class RowReader(Protocol):
    """A file whose rows can be read, several times if need be."""

    kind: str  #: of file, in a word
    is_table: bool  #: columns with names (else records with paths)

    def chunks(self, paths: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        """The rows, in order. ``paths``: the only field paths that will be asked
        for."""

    def notes(self) -> list[str]:
        """Notes for a reader of the whole file."""


@dataclass(frozen=True)
class ReadingRules:
    """Rules of a mapping about how to read a file (see
    docs/reference/mapping_language.md).

    ``quoting`` is whether double quotes enclose cells; ``None`` is yes, with suspicion.
    ``header`` is whether the first row of a CSV file names the columns. ``table`` is the
    sheet of a spreadsheet, or the table of a database.
    """

    format: str = ""
    delimiter: str = ""
    quoting: bool | None = None
    header: bool = True
    at: FieldPath | None = None
    draws: FieldPath | None = None
    table: str = ""


class _DocumentReader:
    """The base of readers of JSON: rows that a walk finds in documents."""

    is_table = False

    def __init__(self, member: Member, rules: ReadingRules) -> None:
        self.member, self.walk = member, Walk(rules.at, rules.draws)
        self.is_flat = rules.at is None and rules.draws is None

    def notes(self) -> list[str]:
        """Notes on records that the mapping finds no row or no generation in."""
        found = ((self.walk.lacking, self.walk.at), (self.walk.empty, self.walk.draws))
        return [
            f"{self.member.name}: {n} records without anything at {at.text!r}"
            for n, at in found
            if n and at
        ]

    def _nested(
        self, documents: Iterable[tuple[int, Any]], location_of: Callable[[int], str]
    ) -> Iterator[Chunk]:
        """The rows of numbered documents, of which ``location_of`` says where they
        stand."""

        def location(row: NestedRow) -> str:
            return ", ".join(
                filter(
                    None,
                    (
                        location_of(row.levels[0][2]),
                        location_in_document(self.walk, row),
                    ),
                )
            )

        rows = chain.from_iterable(
            self.walk.rows(document, number) for number, document in documents
        )
        while part := list(islice(rows, _NESTED_ROWS)):
            yield NestedChunk(part, self.walk.draws, location)


class JsonReader(_DocumentReader):
    """A JSON document. Once read it is held as long as the reader is."""

    kind = "JSON"
    _document: tuple[Any] | None = None

    def chunks(self, paths: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        self._document = self._document or (self._parsed(),)
        self.walk.begin()
        (document,) = self._document
        # as the same records on lines
        if isinstance(document, list) and self.walk.begins_with_a_name:
            yield from self._nested(enumerate(document), lambda number: f"[{number}]")
        else:
            yield from self._nested([(0, document)], lambda _: "")

    def _parsed(self) -> Any:
        content = self.member.content().removeprefix(BOM_UTF8)
        try:
            return _records(parse_json(content, keep_infinite=True))
        except ValueError as error:
            raise InputError(
                f"not a JSON document: {error}",
                path=self.member.name,
                advice='for one JSON record per line say format = "jsonl"',
            ) from None


def _records(document: Any) -> Any:
    """The rows of a table that is written as its columns and its rows (pandas'
    ``split``, MLflow, Weights & Biases) as records; any other document as it is."""
    names, rows = (None, None)
    if isinstance(document, dict):
        names, rows = (document.get(key) for key in ("columns", "data"))
    if (
        not isinstance(names, list)
        or not isinstance(rows, list)
        or not all(isinstance(name, str) for name in names)
    ):
        return document
    n = len(names)
    fit = all(isinstance(row, list) and len(row) == n for row in rows)
    if len({*names}) < n or not fit:
        return document
    return [dict(zip(names, row, strict=True)) for row in rows]


class JsonLinesReader(_DocumentReader):
    """A JSON value per line. Lines that cannot be parsed are rejected one by one."""

    kind = "JSON lines"

    def chunks(self, paths: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        count = 0
        self.walk.begin()
        with self.member.open() as stream:
            for lines, first in line_blocks(stream, self.member.name):
                records, numbers = parsed_lines(lines, first, self.is_flat, reject)
                if records and self.is_flat:
                    yield FlatChunk(
                        records, range(count, count + len(records)), numbers
                    )
                elif records:
                    yield from self._nested(
                        enumerate(records, count), partial(_line, count, numbers)
                    )
                count += len(records)


def _line(first: int, lines: Sequence[int], number: int) -> str:
    return f"line {lines[number - first]}"


def _names_in_order(schema: pa.Schema) -> list[str]:
    """The columns; an index of pandas, which it writes last, stands before the
    others."""
    try:
        index = (schema.pandas_metadata or {}).get("index_columns", [])
    except (ValueError, AttributeError):
        index = []
    return sorted(
        schema.names, key=lambda name: not isinstance(index, list) or name not in index
    )


def refuse_wide(count: int, name: str) -> None:
    """Refuse a table of more columns than any reader here copes with.

    Raises:
        InputError: there are too many.
    """
    if count > MAX_COLUMNS:
        raise InputError(
            f"a table of {count} columns",
            path=name,
            expected=f"at most {MAX_COLUMNS}",
            advice="turn it: a row for each of what are columns now",
        )


class ParquetReader(_DocumentReader):
    """A Parquet file; with ``at`` or ``draws`` its rows are taken as records."""

    kind = "Parquet"

    def __init__(self, member: Member, rules: ReadingRules) -> None:
        super().__init__(member, rules)
        self.is_table = self.is_flat

    def chunks(self, paths: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        start = 0
        self.walk.begin()
        try:
            with self._open() as file:
                refuse_wide(len(file.schema_arrow.names), self.member.name)
                columns = self._columns(file, paths)
                order = _names_in_order(file.schema_arrow)
                for batch in file.iter_batches(CHUNK_ROWS, columns=columns):
                    batch.validate(full=True)  # also that text is UTF-8
                    table = pa.Table.from_batches([batch])
                    names = table.column_names
                    table = table.select(
                        sorted(range(len(names)), key=lambda at: order.index(names[at]))
                    )
                    yield from self._chunked(table, start, order)
                    start += batch.num_rows
        except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
            raise damaged_parquet(self.member.name, error) from None

    def _open(self) -> Any:
        packed = self.member.entry or self.member.name.endswith(".gz")
        if packed or not has_text_name(self.member.path):
            return pq.ParquetFile(io.BytesIO(self.member.content()))
        self.member.open().close()  # names a large-file pointer and what cannot be opened
        return pq.ParquetFile(self.member.path)

    def _columns(self, file: Any, paths: Collection[str] | None) -> list[str] | None:
        if paths is None or not self.is_table:
            return None
        names = _names_in_order(file.schema_arrow)
        chosen = {column_of(path, names) for path in paths}
        return [name for name in names if name in chosen] or None

    def _chunked(
        self, table: pa.Table, start: int, order: Sequence[str]
    ) -> Iterator[Chunk]:
        if self.is_table:
            indices = range(start, start + table.num_rows)
            numbers = range(start + 1, start + 1 + table.num_rows)
            yield TableChunk(table, indices, numbers, order=order)
            return
        numbered = enumerate(table.to_pylist(), start)
        yield from self._nested(numbered, lambda number: f"row {number + 1}")


def json_flavour(member: Member) -> str:
    """``"json"`` or ``"jsonl"``, from the first line where that tells, else from the
    name.

    JSON lines get stored as ``.json`` and arrays as ``.jsonl``.
    """
    with member.open() as stream:
        head = read_exactly(stream, _SNIFF_BYTES).removeprefix(BOM_UTF8).lstrip()
    if not head:
        raise InputError("an empty file", path=member.name, expected="JSON")
    return flavour_of(head, member.format)


def flavour_of(head: bytes, promised: str) -> str:
    """The same, from the beginning of the file and the format that its name
    promises."""
    line, newline, rest = head.partition(b"\n")
    try:
        json.loads(line)
        is_whole = True
    except (ValueError, RecursionError):
        is_whole = False
    if is_whole and rest.strip():
        return "jsonl"
    if head.startswith(b"[") and (is_whole or newline):
        return "json"
    if promised == "jsonl":
        return "jsonl"
    return "json"


#: Called with what cannot be read: place in the file, what was found, what was
#: expected.
Reject = Callable[[str, str, str], None]
#: The same of a row that cannot be taken, by its number in some rows.
RowFault = Callable[[int, str, str], None]
#: Longest line of a JSON lines file, in bytes.
MAX_LINE_BYTES = 256 << 20
BLOCK_BYTES = 1 << 20
_DIGITS = bytes.maketrans(b"123456789", b"000000000")


def line_blocks(stream: Any, name: str) -> Iterator[tuple[list[bytes], int]]:
    """Lines, about a MiB at a time, and the number of the first (from 1).

    Raises:
        InputError: a line of more than :data:`MAX_LINE_BYTES`.
    """
    begun: list[bytes] = []  # pieces of a line whose end has not been read
    length, first = 0, 1
    while block := stream.read(BLOCK_BYTES):
        head, newline, tail = block.rpartition(b"\n")
        line = tail
        if newline:
            line = head
        begun.append(line)
        length += len(begun[-1])
        if length > MAX_LINE_BYTES:
            raise InputError(
                f"a line of more than {MAX_LINE_BYTES} bytes",
                path=name,
                place=f"line {first}",
            )
        if newline:
            lines = b"".join(begun).split(b"\n")
            yield lines, first
            first += len(lines)
            begun = [tail]
            length = len(tail)
    if any(begun):
        yield b"".join(begun).split(b"\n"), first


def parsed_lines(
    lines: list[bytes], first: int, flat: bool, reject: Reject
) -> tuple[list[Any], Sequence[int]]:
    """The values of the lines that hold one (objects, if ``flat``), and their line
    numbers."""
    if first == 1:
        lines = [lines[0].removeprefix(BOM_UTF8), *lines[1:]]
    records = None
    if flat:
        records = _parsed_at_once(lines)
    if records is not None:
        return records, range(first, first + len(lines))
    numbers = [
        number
        for number, line in enumerate(lines, first)
        if line and not line.isspace()
    ]
    records, kept = [], []
    for number in numbers:
        line = lines[number - first]
        try:
            value = parse_json(line, keep_infinite=True)
        except ValueError as error:
            cut = ""
            if number == first + len(lines) - 1 and is_cut(line):
                cut = CUT_SHORT
            reject(
                f"line {number}",
                f"{cut}{line[:60]!r}: {error}",
                "one JSON record in UTF-8",
            )
            continue
        if flat and not isinstance(value, dict):
            reject(f"line {number}", repr(value)[:60], "a JSON object")
        else:
            records.append(value)
            kept.append(number)
    return records, kept


def _parsed_at_once(lines: list[bytes]) -> list[Any] | None:
    """All lines as one JSON array (twice as fast), or ``None`` where a line needs a
    closer look."""
    joined = b"[" + b",".join(lines) + b"]"
    if b"0" * 19 in joined.translate(_DIGITS):
        return None  # perhaps an integer beyond 64 bits
    try:
        records = orjson.loads(joined)
    except orjson.JSONDecodeError:
        return None  # perhaps NaN, or an empty line
    are_objects = set(map(type, records)) == {dict}
    whole = len(records) == len(lines) and are_objects
    return records if whole else None


#: What the labels of rows and columns are.
ORIENTATIONS = {
    "prompts_by_models": {"prompt_id": "@row", "model": "@column"},
    "models_by_prompts": {"model": "@row", "prompt_id": "@column"},
}
_CELLS_PER_CHUNK = 1 << 20


@dataclass(frozen=True)
class MatrixRule:
    """Which column labels the rows (empty: the first), and which hold cells (none: the
    rest)."""

    label: str = ""
    cells: Pattern | None = None
    orientation: str = ""

    def label_of(self, columns: Sequence[str]) -> str:
        """The column with the labels of the rows."""
        return self.label or columns[0]

    def cells_of(self, columns: Sequence[str]) -> list[str]:
        """The columns with cells."""
        label = self.label_of(columns)
        others = [name for name in columns if name != label]
        return [
            name for name in others if self.cells is None or self.cells.fullmatch(name)
        ]


@dataclass
class MatrixChunk(TableChunk):
    """Cells of a matrix; ``numbers`` are those of the rows of ``wide``, from 0."""

    wide: Chunk

    def location(self, row: int) -> str:
        column = self.data.column("@column")[row].as_py()
        return f"{self.wide.location(self.numbers[row])}, column {column!r}"

    def column(self, text: str) -> Column:
        if not self._is_above(text):
            return super().column(text)
        values = as_list(self.wide.column(text), self.wide.size)
        return [values[row] for row in self.numbers]

    def holds(self, text: str) -> bool:
        return self.wide.holds(text) if self._is_above(text) else super().holds(text)

    def keep(self, rows: Sequence[int]) -> MatrixChunk:
        kept = super().keep(rows)
        return MatrixChunk(kept.data, kept.indices, kept.numbers, self.wide)

    def _is_above(self, text: str) -> bool:
        """True if a path leads out of the rows, into the document that has them."""
        return text.startswith(("$", "^")) and text not in self._columns


class MatrixReader:
    """A table, cell by cell. Other columns stay in reach, repeated for each cell of
    their row.

    Args:
        table: the wide table.
        rule: which columns are cells.
        name: what notes call the file.
        select: leaves out rows of the wide table that are no data.
    """

    kind = "matrix"
    is_table = True

    def __init__(
        self,
        table: RowReader,
        rule: MatrixRule,
        name: str,
        select: Callable[[Chunk], Chunk],
    ) -> None:
        self.table = table
        self.rule = rule
        self.name = name
        self.select = select
        self.empty = 0

    def chunks(self, paths: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        self.empty = 0
        for chunk in map(self.select, self.table.chunks(None, reject)):
            cells = self.rule.cells_of(chunk.names())
            step = max(1, _CELLS_PER_CHUNK // max(1, len(cells)))
            for start in range(0, chunk.size, step):
                part = chunk.keep(range(start, min(start + step, chunk.size)))
                yield self._melted(part, cells)

    def notes(self) -> list[str]:
        notes = self.table.notes()
        if self.empty:
            notes.append(
                f"{self.name}: {self.empty} empty cells of the matrix left out"
            )
        return notes

    def _melted(self, wide: Chunk, cells: Sequence[str]) -> MatrixChunk:
        arrays = [as_array(wide.column(name), wide.size) for name in cells]
        values = _without_blanks(pa.concat_arrays(_same_type(arrays)))
        full = np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False))
        self.empty += len(values) - len(full)
        rows = full % wide.size
        columns = full // wide.size
        taken = pa.array(rows)
        names = wide.names()
        is_cell = frozenset(cells)
        others = [name for name in names if name not in is_cell]
        data = {
            name: as_array(wide.column(name), wide.size).take(taken) for name in others
        }
        data["@row"] = data[self.rule.label_of(names)]
        labels = pa.array(list(cells), pa.string())
        data["@column"] = labels.take(pa.array(columns))
        data["@cell"] = values.take(pa.array(full))
        indices = np.array(as_list(wide.column("@index"), wide.size), dtype=np.int64)
        return MatrixChunk(pa.table(data), indices[rows].tolist(), rows.tolist(), wide)


def _without_blanks(cells: pa.Array) -> pa.Array:
    """The cells, null where a text is blank, as tables padded by hand have them."""
    if not pa.types.is_string(cells.type) and not pa.types.is_large_string(cells.type):
        return cells
    is_blank = pc.equal(pc.utf8_trim_whitespace(cells), "")
    return pc.if_else(is_blank, pa.scalar(None, cells.type), cells)


def _same_type(columns: Sequence[pa.Array]) -> list[pa.Array]:
    """The columns as doubles if all are numbers, else as text, so that they can be one
    column."""
    kinds = {column.type for column in columns}
    if len(kinds) <= 1:
        return list(columns)
    if all(map(_is_number, kinds)):
        return [column.cast(pa.float64(), safe=False) for column in columns]
    return [
        as_array(to_text(column, len(column)).array, len(column)) for column in columns
    ]


def _is_number(kind: pa.DataType) -> bool:
    tests = (
        pa.types.is_integer,
        pa.types.is_floating,
        pa.types.is_decimal,
        pa.types.is_boolean,
        pa.types.is_null,
    )
    return any(test(kind) for test in tests)
