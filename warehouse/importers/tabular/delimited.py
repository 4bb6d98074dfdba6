"""CSV and TSV files: header, quoting, rows of the wrong length, bytes that are not
UTF-8.

pyarrow.csv parses; alone it stops at the first bad row and byte, and names neither the
quote that is never closed nor a row's number. DuckDB's reader has no number for good
rows, no entries of archives, and loads a header that stands again.
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
import threading
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pacsv

from warehouse.errors import InputError
from warehouse.importers.base import require_utf8
from warehouse.importers.common.streams import Member, read_exactly
from warehouse.importers.tabular.chunks import Chunk, TableChunk
from warehouse.importers.tabular.field_paths import column_of
from warehouse.importers.tabular.readers import ReadingRules, Reject, refuse_wide
from warehouse.importers.tabular.titles import MOST_TITLES, header_below, said
from warehouse.records import CUT_SHORT

#: Stands where bytes were no UTF-8. A noncharacter, which no text holds.
MARK = "\ufdd0"
_ESCAPED = re.compile("[\udc80-\udcff]+")
#: A first line by which Excel says what parts the cells.
_SEP = re.compile(r'[\r\n]*"?sep=([^"\r\n])"?\r?\n', re.IGNORECASE)
DELIMITERS = (",", "\t", ";", "|")


#: How many blocks are read and not yet given on; and for how many seconds this holds,
#: lest both sides wait.
BLOCKS_AHEAD = 3
PATIENCE = 5.0


class CheckedStream(io.RawIOBase):
    """Passes bytes on; what is not UTF-8 becomes :data:`MARK`.

    ``marked`` says whether that happened, ``quotes`` counts the double quotes. The end
    is always a line break; ``ends_in_row`` says, after the end, whether the file has
    none there.

    The parser reads on a thread of its own, 32 blocks ahead (half a GiB): here it waits
    until :meth:`feeding` has given most of what was made of them.
    """

    def __init__(self, raw: Any) -> None:
        self._ahead = threading.Semaphore(BLOCKS_AHEAD)
        self._is_left = False
        self.raw = raw
        self.quotes = 0
        self.marked = False
        self._ready = b""
        self._begun = b""
        self._ended = False
        self.ends_in_row = False

    def readable(self) -> bool:
        return True

    def feeding(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The batches that a parser makes of this stream, one of each block."""
        try:
            for batch in batches:
                self._ahead.release()
                yield batch
        finally:
            self._is_left = True
            self._ahead.release()

    def read(self, size: int = -1) -> bytes:
        self._ahead.acquire(timeout=PATIENCE)
        if self._is_left:
            return b""
        while not self._ended and (size < 0 or len(self._ready) < size):
            self._fill(size)
        cut = size
        if size < 0:
            cut = len(self._ready)
        data = self._ready[:cut]
        self._ready = self._ready[cut:]
        return data

    def _fill(self, size: int) -> None:
        new: bytes = self.raw.read(size)
        self._ended = not new
        if new:
            self.ends_in_row = not new.endswith((b"\n", b"\r"))
        data = self._begun + (new or b"\n")
        if self._ended:
            n_unfinished = 0
        else:
            n_unfinished = _unfinished(data)
        cut = len(data) - n_unfinished
        data, self._begun = data[:cut], data[cut:]
        self.quotes += data.count(b'"')
        self._ready += self._checked(data)

    def _checked(self, data: bytes) -> bytes:
        try:
            data.decode()
        except UnicodeDecodeError:
            self.marked = True
            return _ESCAPED.sub(MARK, data.decode("utf-8", "surrogateescape")).encode()
        return data


def _unfinished(data: bytes) -> int:
    """How many of the last bytes begin a character whose rest is still to come."""
    for back, byte in enumerate(reversed(data[-3:]), 1):
        if byte >= 0xC0:
            length = 4
            if byte < 0xE0:
                length = 2
            elif byte < 0xF0:
                length = 3
            if length > back:
                return back
            return 0
        if byte < 0x80:
            return 0
    return 0


#: Bytes of a CSV file that are parsed at a time: larger blocks take more memory, and no
#: less time. A row must fit into one: a file with a longer row is read in blocks of the
#: longest that there may be.
BLOCK_BYTES = 2 << 20
MAX_ROW_BYTES = 16 << 20
_HEADER_BYTES = 1 << 20
#: A file of so many bytes is parsed once and held: to open it again takes longer than
#: all else that is done with it.
_SMALL_BYTES = 1 << 16
_MARKS = 4
_QUOTING_ADVICE = (
    "if double quotes are plain characters in this file, say quoting = false"
)


class _LongRowError(Exception):
    """A row does not fit into a block, and may fit into a larger one."""


class DelimitedReader:
    """A CSV or TSV file. All cells are text; empty cells are null."""

    is_table = True

    def __init__(self, member: Member, rules: ReadingRules) -> None:
        self.member = member
        self.quoting = rules.quoting is not False
        head = _header(member, rules)
        header, self.header_lines = head.names, head.lines
        self.delimiter, self.first_row = head.delimiter, head.first_row
        self.titles = head.titles
        refuse_wide(len(header), member.name)
        if self.delimiter == "\t":
            self.kind = "TSV"
        else:
            self.kind = "CSV"
        self.suspicious = rules.quoting is None and self.delimiter == "\t"
        self.columns = unique_names(header)
        # as many of the first columns tell the header where it stands again below
        if self.header_lines:
            self.marks = dict(zip(self.columns[:_MARKS], header, strict=False))
        else:
            self.marks = {}
        self._is_small = member.is_plain and member.path.stat().st_size <= _SMALL_BYTES
        self._held: list[Chunk | tuple[str, str, str]] | None = None
        self._block = min(BLOCK_BYTES, MAX_ROW_BYTES)

    def chunks(self, paths: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        if self._is_small and self._held is None:
            self._held = self._whole()
        if self._held is None:
            yield from self._read(paths, reject)
            return
        for item in self._held:
            if isinstance(item, tuple):
                reject(*item)
            else:
                yield item

    def _whole(self) -> list[Chunk | tuple[str, str, str]] | None:
        """All rows of a small file, and in their midst those that cannot be read. None
        where columns that nobody asks for may decide what becomes of a row, or of the
        file."""
        items: list[Chunk | tuple[str, str, str]] = []
        try:
            for chunk in self._read(None, lambda *fault: items.append(fault)):
                items.append(chunk)
        except InputError:
            self._is_small = False
        if self._is_small:
            return items
        return None

    def _read(self, paths: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        given = 0
        told = set[str]()

        def tell(location: str, *fault: str) -> None:
            if location not in told:
                told.add(location)
                reject(location, *fault)

        try:
            for chunk in self._parsed(paths, tell):
                given += chunk.size
                yield chunk
        except _LongRowError:
            self._block = MAX_ROW_BYTES
            for chunk in self._parsed(paths, tell):
                before = min(given, chunk.size)
                given = max(0, given - chunk.size)
                if before < chunk.size:
                    if before:
                        chunk = chunk.keep(range(before, chunk.size))
                    yield chunk

    def _parsed(
        self, paths: Collection[str] | None, reject: Reject
    ) -> Iterator[TableChunk]:
        numbering = _Numbering(self.columns, self.first_row)
        if paths is None:
            chosen = None
        else:
            chosen = {column_of(path, self.columns) for path in paths}
        columns = [
            name
            for name in self.columns
            if chosen is None or name in chosen or name in self.marks
        ]
        columns = columns or self.columns[:1]
        with self.member.open() as raw:
            stream = CheckedStream(raw)
            last: TableChunk | None = None
            try:
                for batch in stream.feeding(self._opened(stream, columns, numbering)):
                    numbering.tell(reject, batch.num_rows)
                    if batch.num_rows:
                        last = numbering.chunk(batch, stream.marked, self.marks, reject)
                        if self.suspicious and stream.quotes:
                            self._refuse_swallowed_lines(last)
                        yield last
                numbering.tell_all(reject, stream.ends_in_row)
                self._is_small &= not stream.marked
                if numbering.open_quote:
                    raise self._open_quote(f"row {numbering.open_quote}")
            except pa.ArrowInvalid as error:
                if "straddling" in str(error) and self._block < MAX_ROW_BYTES:
                    raise _LongRowError from None
                raise self._unreadable(str(error)) from None
            if self.quoting and last is not None and last.size and stream.quotes % 2:
                self._refuse_open_quote(
                    last.data.slice(last.size - 1), last.location(last.size - 1)
                )

    def notes(self) -> list[str]:
        """What stands above the names of the columns, if something does."""
        return [f"{self.member.name}: {said(self.titles)}"] if self.titles else []

    def _opened(
        self, stream: Any, columns: Sequence[str], numbering: _Numbering
    ) -> Iterator[pa.RecordBatch]:
        def handle(row: Any) -> str:
            numbering.skipped.append(row.number)
            if self.quoting and "\n" in row.text and row.text.count('"') % 2:
                numbering.open_quote = row.number
            shown = f"{row.actual_columns} columns: {str(row.text)[:60]!r}"
            numbering.rejected.append(
                (f"row {row.number}", shown, f"{row.expected_columns} columns")
            )
            numbering.is_short = row.actual_columns < row.expected_columns
            return "skip"

        return iter(
            pacsv.open_csv(
                stream,
                read_options=pacsv.ReadOptions(
                    use_threads=False,  # else rows have no numbers
                    block_size=self._block_size(),
                    column_names=self.columns,
                    skip_rows=self.header_lines,
                ),
                parse_options=pacsv.ParseOptions(
                    delimiter=self.delimiter,
                    quote_char='"' if self.quoting else False,
                    newlines_in_values=self.quoting,
                    invalid_row_handler=handle,
                ),
                convert_options=pacsv.ConvertOptions(
                    column_types=dict.fromkeys(self.columns, pa.string()),
                    include_columns=columns,
                    strings_can_be_null=True,
                    null_values=[""],
                ),
            )
        )

    def _block_size(self) -> int:
        """Bytes that are read at a time. A small file has no row as long as a block,
        and making room for one takes longer than reading it."""
        if not self.member.is_plain:
            return self._block
        longest_mark = 16
        return min(self._block, 65_536 + longest_mark * self.member.path.stat().st_size)

    def _unreadable(self, why: str) -> InputError:
        if "straddling" in why:
            why = (
                f"a row of more than {MAX_ROW_BYTES} bytes, or a quote that is never "
                "closed"
            )
        return InputError(why, path=self.member.name, advice=_QUOTING_ADVICE)

    def _refuse_swallowed_lines(self, chunk: TableChunk) -> None:
        """In a file whose cells are parted by tabs, a cell with tabs is several lines
        in one."""
        for column in chunk.data.columns:
            if column.type != pa.string():
                continue
            row = pc.index(pc.match_substring_regex(column, "\t[^\n]*\n"), True).as_py()
            if row >= 0:
                self._refuse_open_quote(chunk.data.slice(row, 1), chunk.location(row))

    def _refuse_open_quote(self, row: pa.Table, location: str) -> None:
        if any(value and "\n" in value for value in row.to_pylist()[0].values()):
            raise self._open_quote(location)

    def _open_quote(self, location: str) -> InputError:
        return InputError(
            "a double quote that is not closed, which swallows the lines below it",
            path=self.member.name,
            place=location,
            advice=_QUOTING_ADVICE,
        )


class _Numbering:
    """Numbers rows as the file does, counting also those that were skipped."""

    def __init__(self, order: Sequence[str], first: int) -> None:
        self.order = order
        self.skipped: list[int] = []
        self.rejected: list[
            tuple[str, str, str]
        ] = []  # not yet told: errors would be swallowed
        self.is_short = False  # whether the last of them lacks cells
        self.open_quote = 0  # number of a row whose quote is never closed
        self.count, self.next = 0, first  # a header is row 1

    def tell(self, reject: Reject, size: int) -> None:
        """Reject the rows that the parser has skipped since, but for one that stands
        behind the next ``size`` rows: it may be the last of the file."""
        later = sum(number >= self.next for number in self.skipped)
        last = self.next + size + later - 1
        is_behind = later > 0 and self.skipped[-1] >= last
        while len(self.rejected) > is_behind:
            reject(*self.rejected.pop(0))

    def tell_all(self, reject: Reject, ends_in_row: bool) -> None:
        """Reject the others at the end of the file, where it ends inside the last one
        as such."""
        while self.rejected:
            location, shown, expected = self.rejected.pop(0)
            is_last = not self.rejected and self.skipped[-1] >= self.next
            cut = ""
            if ends_in_row and is_last and self.is_short:
                cut = CUT_SHORT
            reject(location, cut + shown, expected)

    def chunk(
        self,
        batch: pa.RecordBatch,
        marked: bool,
        header: Mapping[str, str],
        reject: Reject,
    ) -> TableChunk:
        """The batch without rows in which bytes were marked as no UTF-8, and without
        the header where it stands again."""
        numbers = self._numbers(batch.num_rows)
        table = pa.Table.from_batches([batch])
        if marked:
            names = table.column_names
        else:
            names = ()
        for name in names:
            fine = pc.invert(
                pc.fill_null(pc.match_substring(table.column(name), MARK), False)
            )
            for row in np.flatnonzero(~fine.to_numpy()).tolist():
                cell = table.column(name)[row].as_py()
                shown = repr(cell.replace(MARK, "�")[:60])
                reject(f"row {numbers[row]}, column {name!r}", shown, "text in UTF-8")
            table, numbers = _kept(table, numbers, fine)
        is_header = _is_header(table, header)
        if is_header is not None:
            for row in np.flatnonzero(is_header.to_numpy()).tolist():
                reject(
                    f"row {numbers[row]}",
                    f"the header again: {', '.join(header.values())[:60]!r}",
                    "data",
                )
            table, numbers = _kept(table, numbers, pc.invert(is_header))
        indices = range(self.count, self.count + table.num_rows)
        chunk = TableChunk(table, indices, numbers, order=self.order)
        self.count += chunk.size
        return chunk

    def _numbers(self, size: int) -> Sequence[int]:
        later = [number for number in self.skipped if number >= self.next]
        numbers: Sequence[int] = range(self.next, self.next + size)
        if later:
            line = np.arange(self.next, self.next + size + len(later))
            numbers = line[~np.isin(line, later)][:size].tolist()
        if size:
            self.next = numbers[-1] + 1
        return numbers


def _kept(
    table: pa.Table, numbers: Sequence[int], keep: pa.ChunkedArray
) -> tuple[pa.Table, Sequence[int]]:
    return table.filter(keep), [
        number for number, kept in zip(numbers, keep.to_pylist(), strict=True) if kept
    ]


def _is_header(table: pa.Table, header: Mapping[str, str]) -> pa.ChunkedArray | None:
    """Which rows say what the header says; ``None`` if none does."""
    same = None
    for column, name in header.items():
        if column in table.column_names and name:
            equal = pc.fill_null(pc.equal(table.column(column), name), False)
            if same is None:
                same = equal
            else:
                same = pc.and_(same, equal)
            if not pc.any(same).as_py():
                return None
    return same


@dataclass(frozen=True)
class _Head:
    """What stands before the data."""

    names: Sequence[str]  #: of the columns.
    lines: int
    delimiter: str
    first_row: int  #: number of the first row of data.
    titles: tuple[str, ...] = ()


def _beginning(member: Member) -> tuple[str, bool]:
    """The first characters of a table, and whether these are all."""
    with member.open() as stream:
        head = read_exactly(stream, _HEADER_BYTES)
    require_utf8(head, member.name)
    is_whole = len(head) < _HEADER_BYTES
    errors = "strict" if is_whole else "ignore"
    try:
        text = head.decode("utf-8-sig", errors=errors)
    except UnicodeDecodeError:
        text = head.decode("utf-8-sig", errors="replace")
    return text, is_whole


def _header(member: Member, rules: ReadingRules) -> _Head:
    """The header, and what else stands before the data (InputError: there is none)."""
    text, is_whole = _beginning(member)
    above = without_sep(text)
    mark = text[: len(text) - len(above[0])]
    text = above[0]
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = (
        rules.delimiter
        or above[1]
        or delimiter_of(first, rules.format or member.format)
    )
    lines = csv.reader(
        io.StringIO(text, newline=""),
        delimiter=delimiter,
        quoting=csv.QUOTE_NONE if rules.quoting is False else csv.QUOTE_MINIMAL,
    )
    try:
        header = next((row for row in lines if row), None)
    except csv.Error as error:
        raise InputError(
            f"the header cannot be read: {error}",
            path=member.name,
            place="line 1",
            expected="a row of column names",
        ) from None
    if header is None:
        raise InputError(
            "an empty file", path=member.name, expected="a row of column names"
        )
    n_above = mark.count("\n")
    if not rules.header:
        return _Head([""] * len(header), n_above, delimiter, 1 + bool(mark))
    marks = [rules.delimiter] if rules.delimiter else [delimiter, *DELIMITERS]
    below = header_below(text, marks, is_whole=is_whole)
    if below is not None:
        n_lines = below.lines + n_above
        names, titles = below.names, below.titles
        return _Head(names, n_lines, below.delimiter, n_lines + 1, titles)
    if sum(map(bool, map(str.strip, header))) == 1:
        _refuse_titles(text, member)
    return _Head(header, lines.line_num + n_above, delimiter, 2 + bool(mark))


def without_sep(text: str) -> tuple[str, str]:
    """The text of a table after a line ``sep=;``, and what that line says parts the
    cells: nothing without one."""
    found = _SEP.match(text)
    if found:
        return (text[found.end() :], found[1])
    return (text, "")


def _refuse_titles(text: str, member: Member) -> None:
    """Refuse lines of text above the header, of one cell where that has several."""
    lines = text.splitlines()
    for mark in DELIMITERS:
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
        with contextlib.suppress(csv.Error):
            for cells in islice(rows, MOST_TITLES):
                if len(cells) > 2 and all(map(str.strip, cells)):
                    raise InputError(
                        f"{lines[0][:60]!r} is no row of column names; line "
                        f"{rows.line_num} looks like it: "
                        f"{lines[rows.line_num - 1][:60]!r}",
                        path=member.name,
                        place="line 1",
                        expected="the header first",
                        advice="take out the lines above it",
                    )


def delimiter_of(header: str, format: str | None) -> str:
    """The delimiter of the cells of a header line.

    Args:
        format: ``csv`` or ``tsv``, whose own delimiter comes first; else tabs do. Where
            the line has none of it, the first of comma, tab, semicolon and bar that it
            has.
    """
    own = {"csv": ",", "tsv": "\t"}.get(format or "", "\t")
    return next((mark for mark in (own, *DELIMITERS) if mark in header), own)


def unique_names(header: Sequence[str]) -> list[str]:
    """The names, with a number where one is missing or repeated."""
    names: dict[str, None] = {}
    for number, name in enumerate(header, 1):
        plain = name.strip() or f"column_{number}"
        while plain in names:
            plain = f"{plain}_{number}"
        names[plain] = None
    return list(names)
