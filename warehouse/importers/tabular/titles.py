"""Titles above the row that names the columns of a table: found by what stands below.

The names are in the first row whose cells are filled, of which none is a number, and
below which all rows are as wide and some column holds numbers alone. Rows above it of one
cell, or of few, are titles (a merged cell is one).
"""

from __future__ import annotations

import contextlib
import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from warehouse.importers.tabular.columns import number_of

#: Rows of titles at most, and rows below that are looked at.
MOST_TITLES, _LOOKED = 20, 200
#: Share of the cells of a row of names that are filled, and of one of titles that are.
_FILLED, _SPARSE = 0.8, 1 / 3
_SHOWN, _SHOWN_TITLES = 60, 3
#: A number as tables of people write it.
_NUMBER = re.compile(r"[+-]?\d[\d.,]*\s*%?")


@dataclass(frozen=True)
class Header:
    """The row that names the columns, below titles."""

    names: tuple[str, ...]
    lines: int  #: lines up to its end.
    delimiter: str
    titles: tuple[str, ...]  #: what stands above it, a text for each row.


def title_rows(rows: Sequence[Sequence[str]]) -> int:
    """How many of the first rows of a table are titles; 0 where none is, or nothing
    tells which row names the columns.

    Args:
        rows: those in which something stands, as texts.
    """
    for number in range(1, min(MOST_TITLES, len(rows) - 2) + 1):
        if not _are_titles(rows[:number], len(rows[number])):
            return 0
        if _names_columns(rows[number], rows[number + 1 :]):
            return number
    return 0


def is_title(row: Sequence[str], width: int) -> bool:
    """True if a row of a table may be a title: one cell is filled, or the first and few
    others; or it is a comment.

    Args:
        width: cells of the row that names the columns.
    """
    filled = [cell for cell in row if cell.strip()]
    if not filled:
        return False
    is_comment = row[0].lstrip().startswith("#") and len(row[0].strip()) > 1
    is_sparse = bool(row[0].strip()) and len(filled) <= _SPARSE * width
    return len(filled) == 1 or is_comment or is_sparse


def header_below(
    text: str, delimiters: Sequence[str], *, is_whole: bool
) -> Header | None:
    """The header of a CSV text that begins with titles; None where it does not, or
    nothing tells which row it is.

    Args:
        text: the file, or its beginning.
        delimiters: what may part the cells, the likeliest first.
        is_whole: whether the text is that of the whole file; of a beginning the last row
            may be cut off.
    """
    for mark in dict.fromkeys(delimiters):
        with contextlib.suppress(csv.Error):
            lines = _rows(text, mark, is_whole)
            found = list(islice(lines, 2))
            if len(found) < 2 or not is_title(found[0][1], len(found[1][1])):
                continue
            found += islice(lines, MOST_TITLES + _LOOKED)
            rows = [cells for _, cells in found]
            number = title_rows(rows)
            if number:
                titles = tuple(_shown(cells) for cells in rows[:number])
                line, names = found[number]
                return Header(tuple(names), line, mark, titles)
    return None


def said(titles: Sequence[str]) -> str:
    """What is said of titles above a header; nothing of none."""
    if not titles:
        return ""
    shown = "; ".join(repr(title) for title in titles[:_SHOWN_TITLES])
    rows = "1 row" if len(titles) == 1 else f"{len(titles)} rows"
    return f"{rows} of titles above the names of the columns left out: {shown}"


def _rows(text: str, mark: str, is_whole: bool) -> Iterator[tuple[int, list[str]]]:
    """The rows of a text in which something stands, with the lines up to their end."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark)
    last: tuple[int, list[str]] | None = None
    for cells in rows:
        if last is not None:
            yield last
        last = (rows.line_num, cells) if any(map(str.strip, cells)) else None
    if last is not None and is_whole:
        yield last


def _are_titles(rows: Sequence[Sequence[str]], width: int) -> bool:
    return all(is_title(row, width) for row in rows)


def _names_columns(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """True if a row names the columns of those below it."""
    names = [cell.strip() for cell in row]
    filled = [name for name in names if name]
    if len(filled) < 2 or len(filled) < _FILLED * len(names):
        return False
    if len({*filled}) < len(filled) or any(map(_is_number, filled)):
        return False
    if not below or any(len(cells) != len(names) for cells in below):
        return False
    return any(
        _holds_numbers([cells[at] for cells in below]) for at in range(len(names))
    )


def _holds_numbers(cells: Sequence[str]) -> bool:
    """True if all cells of a column that are filled are numbers."""
    filled = [cell for cell in cells if cell.strip()]
    return bool(filled) and all(map(_is_number, filled))


def _is_number(cell: str) -> bool:
    """True if a cell is a number, one per cent, or a truth value."""
    text = cell.strip()
    return bool(_NUMBER.fullmatch(text)) or isinstance(number_of(text), int | float)


def _shown(cells: Sequence[str]) -> str:
    return " ".join(filter(None, map(str.strip, cells)))[:_SHOWN]
