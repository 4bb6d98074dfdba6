"""Sheets of Excel workbooks (``.xlsx``, ``.xlsm``) as tables: their first row with
values names the columns.

Formulas count by the value that the program which wrote them kept; nothing is computed,
no macro is run, no link is followed. openpyxl reads in pieces; before it does, the
archive is held to the bounds of all archives.
"""

from __future__ import annotations

import warnings
import zipfile
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import count, islice
from typing import Any

from warehouse import extras
from warehouse.errors import InputError, MisuseError
from warehouse.importers.common import bounds
from warehouse.importers.common.messages import listed
from warehouse.importers.common.streams import Member, reading
from warehouse.importers.tabular.chunks import Chunk, TableChunk
from warehouse.importers.tabular.delimited import unique_names
from warehouse.importers.tabular.readers import ReadingRules, Reject, refuse_wide
from warehouse.importers.tabular.table_choice import chosen_table, named
from warehouse.importers.tabular.titles import MOST_TITLES, said, title_rows
from warehouse.importers.tabular.value_rows import NumberedRow, table_chunks

#: Most bytes of one part of a workbook: its texts are held in memory.
MAX_PART_BYTES = 256 << 20
#: Bytes of a part in which a declaration of entities would stand.
_HEAD_BYTES = 1 << 16
_SHOWN_NAMES = 6
_ROWS_AT_ONCE = 256
#: Rows below titles that are looked at, and characters of a title that are said.
_LOOKED, _TITLE = 40, 60
#: Most bytes of rows that are kept.
_KEPT_BYTES = 64 << 20


def open_sheet(member: Member, rules: ReadingRules) -> SheetReader:
    """The reader of a sheet (InputError: it cannot be read, or nothing says which).
    The last one is remembered: a workbook is opened again and again, and its texts are
    read each time."""
    with reading(member.name):
        status = member.path.stat()
    return _opened(member, rules, status.st_mtime_ns, status.st_size, named())


@lru_cache(maxsize=1)
def _opened(
    member: Member, rules: ReadingRules, _changed: int, _size: int, _named: str
) -> SheetReader:
    return SheetReader(member, rules)


class SheetReader:
    """One sheet of a workbook."""

    kind = "xlsx"
    is_table = True

    def __init__(self, member: Member, rules: ReadingRules) -> None:
        self.member = member
        self.has_header = rules.header
        #: bad rows and chunks of the sheet, once all of it was read.
        self._kept: tuple[list[tuple[str, ...]], list[TableChunk]] | None = None
        _refuse_hostile(member)
        with self._workbook() as book:
            found = {sheet.title: _head(sheet) for sheet in _sheets(book)}
        heads = {title: names for title, (names, _) in found.items()}
        described = {
            title: listed(head, _SHOWN_NAMES) for title, head in heads.items() if head
        }
        self.sheet = chosen_table(
            described, rules.table, kind="sheet", path=member.name
        )
        self.titles = found[self.sheet][1] if self.has_header else ()
        self.columns = self._names(heads[self.sheet])

    def chunks(self, paths: Collection[str] | None, reject: Reject) -> Iterator[Chunk]:
        """The rows; those of a small sheet are kept, as reading takes long."""
        if self._kept is not None:
            faults, chunks = self._kept
            for fault in faults:
                reject(*fault)
            yield from chunks
            return
        faults = []
        chunks = []
        size = 0

        def noting(*fault: str) -> None:
            faults.append(fault)
            reject(*fault)

        for chunk in self._read(noting):
            size += chunk.data.nbytes
            if size <= _KEPT_BYTES:
                chunks.append(chunk)
            yield chunk
        if size <= _KEPT_BYTES:
            self._kept = (faults, chunks)

    def _read(self, reject: Reject) -> Iterator[TableChunk]:
        with self._workbook() as book:
            rows = _filled_rows(book[self.sheet])
            rows = islice(rows, len(self.titles), None)
            first = next(rows, None)
            if first is None:
                return
            number, header = first
            n_columns = len(self.columns)
            refuse_wide(n_columns, self.member.name)
            if not self.has_header:
                rows = _with(number, header, rows)
            yield from table_chunks(self.columns, _fitting(rows, n_columns, reject))

    def _names(self, header: Sequence[str]) -> list[str]:
        if self.has_header:
            return unique_names(header)
        return unique_names([""] * len(header))

    def notes(self) -> list[str]:
        """What stands above the names of the columns, if something does."""
        return [f"{self.member.name}: {said(self.titles)}"] if self.titles else []

    @contextmanager
    def _workbook(self) -> Iterator[Any]:
        """The open workbook (InputError: it cannot be read, or nothing here can)."""
        name = self.member.name
        try:
            openpyxl = extras.load("openpyxl", "xlsx", "a spreadsheet")
        except MisuseError as error:
            raise InputError(str(error), path=name) from None
        try:
            with _quiet():
                book = openpyxl.load_workbook(
                    self.member.path, read_only=True, data_only=True, keep_links=False
                )
            try:
                yield book
            finally:
                book.close()
        except InputError:
            raise
        except Exception as error:  # whatever openpyxl meets in a damaged part
            raise _damaged(name, error) from error


@contextmanager
def _quiet() -> Iterator[None]:
    """Without openpyxl's warnings of parts that hold no values. Nothing is to be
    yielded meanwhile: what is ignored is so for all threads."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _damaged(name: str, error: Exception) -> InputError:
    words = f"{type(error).__name__}: {error}"[:200]
    return InputError(
        f"a spreadsheet that cannot be read: {words}",
        path=name,
        advice="open it and save it again, or save each of its sheets as CSV",
    )


def _refuse_hostile(member: Member) -> None:
    """Refuse what no program writes: bombs, and declarations that make texts grow."""
    name = member.name
    with reading(name), member.open() as stream:
        is_archive = stream.read(2) == b"PK"
    if not is_archive:
        raise InputError(
            "not a spreadsheet of Excel 2007 or later",
            path=name,
            advice="save each of its sheets as CSV",
        )
    try:
        with zipfile.ZipFile(member.path) as archive:
            _refuse_parts(archive, member)
    except bounds.DAMAGE as error:
        raise _damaged(name, error) from None


def _refuse_parts(archive: zipfile.ZipFile, member: Member) -> None:
    """Refuse parts that are too large, or declare entities."""
    name = member.name
    entries = archive.infolist()
    bounds.refuse_hostile(entries, member.path.stat().st_size, name)
    for entry in entries:
        place = f"entry {entry.filename[:200]}"
        if entry.file_size > MAX_PART_BYTES:
            raise InputError(
                f"a part of {entry.file_size} bytes",
                path=name,
                place=place,
                expected=f"at most {MAX_PART_BYTES}",
                advice="save the sheet as CSV, which is read in pieces",
            )
        if not entry.filename.endswith((".xml", ".rels")):
            continue
        with archive.open(entry) as part:
            head = part.read(_HEAD_BYTES)
        if b"<!DOCTYPE" in head or b"<!ENTITY" in head:
            raise InputError(
                "declares entities, as no spreadsheet does",
                path=name,
                place=place,
                advice="do not open it: somebody made it to do harm",
            )


def _sheets(book: Any) -> list[Any]:
    """The sheets that hold cells, in order."""
    return [sheet for sheet in book.worksheets if hasattr(sheet, "iter_rows")]


def _head(sheet: Any) -> tuple[list[str], tuple[str, ...]]:
    """The row that names the columns, as texts, and what stands above it; nothing where
    there is none, or nothing below it."""
    rows = [row for _, row in islice(_filled_rows(sheet), MOST_TITLES + _LOOKED)]
    if len(rows) < 2:
        return [], ()
    width = max(map(_width, rows))
    cells = [[_name(cell) for cell in _padded(row, width)] for row in rows]
    n_titles = title_rows(cells)
    titles = tuple(" ".join(filter(None, row))[:_TITLE] for row in cells[:n_titles])
    header, below = rows[n_titles], rows[n_titles + 1]
    width = _width(header)
    if None in header[:width]:  # joined cells: the last name stands over more columns
        width = max(width, _width(below))
    return [_name(cell) for cell in _padded(header, width)], titles


def _padded(row: Sequence[Any], width: int) -> Sequence[Any]:
    """As many cells of a row, with empty ones where it has fewer."""
    return (*row, *[None] * width)[:width]


def _filled_rows(sheet: Any) -> Iterator[NumberedRow]:
    """The rows in which something stands, with their numbers."""
    sheet.reset_dimensions()  # what a file says of its size may be wrong
    rows = sheet.iter_rows(values_only=True)
    for first in count(1, _ROWS_AT_ONCE):
        with _quiet():
            part = list(islice(rows, _ROWS_AT_ONCE))
        if not part:
            return
        for number, row in enumerate(part, first):
            if any(cell is not None for cell in row):
                yield number, row


def _with(
    number: int, row: Sequence[Any], rows: Iterator[NumberedRow]
) -> Iterator[NumberedRow]:
    yield number, row
    yield from rows


def _width(row: Sequence[Any]) -> int:
    """The number of cells up to the last with a value."""
    for width in range(len(row), 0, -1):
        if row[width - 1] is not None:
            return width
    return 0


def _name(cell: Any) -> str:
    if cell is None:
        return ""
    return str(cell)


def _fitting(
    rows: Iterable[NumberedRow], n_columns: int, reject: Reject
) -> Iterator[NumberedRow]:
    """The rows as wide as the header; those with more values are rejected."""
    for number, row in rows:
        width = _width(row)
        if width > n_columns:
            reject(f"row {number}", f"{width} cells", f"{n_columns}, as in the header")
            continue
        missing = n_columns - len(row)
        yield number, (*row[:n_columns], *[None] * missing)
