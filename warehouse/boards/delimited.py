"""Tables of lines with a delimiter: CSV, TSV, and what spreadsheets write."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from warehouse.boards.table import MOST_COLUMNS, MOST_ROWS, RawTable
from warehouse.errors import InputError
from warehouse.importers.tabular.delimited import unique_names, without_sep

_DELIMITERS = (",", "\t", ";", "|")
#: Lines by which the delimiter is told, and those above a header that are passed over.
_TRIED, _MOST_TITLES = 40, 10
_MOST_CELL = 1_000_000


def delimited_table(text: str, name: str) -> RawTable | None:
    """The table of a text whose cells a delimiter parts; None where it has none.

    Lines above the header that have fewer cells (titles, remarks) are passed over.

    Args:
        name: of the file, for messages.

    Raises:
        InputError: a row cannot be read, or there are too many.
    """
    plain, own = without_sep(text.lstrip("\ufeff"))
    delimiter = own or _delimiter(plain)
    if not delimiter:
        return None
    rows = _rows(plain, delimiter, name)
    start = _header_line(rows)
    if start is None:
        return None
    header = unique_names(rows[start])
    if not rows[start][0].strip():
        header[0] = ""
    columns: dict[tuple[str, ...], list[str]] = {}
    body = list(filter(_says_something, rows[start + 1 :]))
    for place, column in enumerate(header[:MOST_COLUMNS]):
        cells = [row[place].strip() if place < len(row) else "" for row in body]
        columns[(column.strip(),)] = cells
    return RawTable(name, columns)


def _says_something(row: Sequence[str]) -> bool:
    """True if a cell of a row is filled."""
    return any(cell.strip() for cell in row)


def _delimiter(text: str) -> str:
    """What parts most lines into the same number of cells; empty where nothing does."""
    head = "".join(islice(io.StringIO(text, newline=""), _TRIED))
    best, most = "", 0.0
    for delimiter in _DELIMITERS:
        try:
            rows = list(csv.reader(io.StringIO(head), delimiter=delimiter))
        except csv.Error:
            continue
        widths = Counter(len(row) for row in rows if len(row) > 1)
        if not widths:
            continue
        width, n_rows = widths.most_common(1)[0]
        worth = n_rows + min(width, 50) / 100
        if worth > most:
            best, most = delimiter, worth
    return best


def _rows(text: str, delimiter: str, name: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    rows: list[list[str]] = []
    limit = csv.field_size_limit(_MOST_CELL)  # holds for all that read in this process
    try:
        for row in _bounded(reader, name):
            rows.append(row)
    except csv.Error as error:
        raise InputError(
            f"cannot be read: {error}", path=name, place=f"line {reader.line_num}"
        ) from None
    finally:
        csv.field_size_limit(limit)
    return rows


def _bounded(reader: Iterator[list[str]], name: str) -> Iterator[list[str]]:
    for number, row in enumerate(reader):
        if number > MOST_ROWS:
            raise InputError(
                f"more than {MOST_ROWS:,} rows",
                path=name,
                expected="a table of results, a row an entry",
            )
        yield row


def _header_line(rows: list[list[str]]) -> int | None:
    """The first line that has as many cells as most lines."""
    widths = Counter(len(row) for row in rows if len(row) > 1)
    if not widths:
        return None
    usual = widths.most_common(1)[0][0]
    for number, row in enumerate(rows[: _MOST_TITLES + 1]):
        n_filled = sum(bool(cell.strip()) for cell in row)
        if len(row) >= usual - 1 and 2 * n_filled > len(row):
            return number
    return None
