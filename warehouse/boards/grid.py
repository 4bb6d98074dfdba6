"""Cells in rows, some of which reach over several rows or columns, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from warehouse.boards.table import MOST_COLUMNS, MOST_ROWS, RawTable
from warehouse.importers.tabular.delimited import unique_names
from warehouse.stats.board.cells import without_marks


@dataclass(frozen=True)
class Cell:
    """What stands in a cell, and how many columns and rows it reaches over."""

    text: str
    n_columns: int = 1
    n_rows: int = 1


def table_of_rows(
    name: str, head: list[list[Cell]], body: list[list[Cell]]
) -> RawTable:
    """A table of rows of cells; of several rows of headers the names are joined.

    Args:
        name: of the table.
        head: its rows of headers, one at least.
        body: its other rows.
    """
    headers = _spread(head)
    width = min(max((len(row) for row in headers), default=0), MOST_COLUMNS)
    names = unique_names([_joined(headers, place) for place in range(width)])
    rows = _spread(body[:MOST_ROWS])
    columns: dict[tuple[str, ...], list[str]] = {}
    for place, column in enumerate(names):
        cells = [row[place] if place < len(row) else "" for row in rows]
        if any(cells):
            columns[(column,)] = cells
    return RawTable(name, columns)


def _joined(headers: Sequence[Sequence[str]], place: int) -> str:
    """The headers of a column from above, each once."""
    parts: list[str] = []
    for row in headers:
        if place < len(row):
            text = without_marks(row[place]).strip()
            if text and text not in parts:
                parts.append(text)
    return " ".join(parts)


def _spread(rows: Sequence[Sequence[Cell]]) -> list[list[str]]:
    """The texts of rows with each cell in all the places that it reaches over."""
    found: list[list[str]] = []
    from_above: dict[int, tuple[str, int]] = {}
    for row in rows:
        texts: list[str] = []
        below: dict[int, tuple[str, int]] = {}
        cells = iter(row)
        while len(texts) < MOST_COLUMNS:
            place = len(texts)
            if place in from_above:
                text, n_left = from_above.pop(place)
                texts.append(text)
                if n_left > 1:
                    below[place] = (text, n_left - 1)
                continue
            cell = next(cells, None)
            if cell is None:
                break
            for _ in range(min(cell.n_columns, MOST_COLUMNS)):
                if cell.n_rows > 1:
                    below[len(texts)] = (cell.text, cell.n_rows - 1)
                texts.append(cell.text)
        found.append(texts)
        from_above = below
    return found
