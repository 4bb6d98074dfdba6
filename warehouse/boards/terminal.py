"""Tables as programs draw them on a terminal: cells between bars, rows between rules of
``+---+`` (the form ``grid`` of tabulate, in which EvalScope prints its report)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.boards.table import MOST_COLUMNS, MOST_ROWS, RawTable
from warehouse.importers.tabular.delimited import unique_names
from warehouse.stats.board.cells import without_marks

_RULE = re.compile(r"\s*\+(?:[-=:]+\+)+\s*")
_MOST_TABLES = 200


def terminal_tables(text: str, name: str) -> Iterator[RawTable]:
    """The drawn tables of a text, such as a log; lines around them are left out.

    A cell that is broken over several lines is put together again.

    Args:
        name: of the file.
    """
    rows: list[list[str]] = []
    lines: list[list[str]] = []
    is_inside, n_tables = False, 0
    for line in [*text.splitlines(), ""]:
        if _RULE.fullmatch(line):
            if lines:
                rows.append(_joined(lines))
            lines, is_inside = [], True
        elif is_inside and line.strip().startswith("|"):
            lines.append(_cells(line))
        elif is_inside:
            if len(rows) > 1 and n_tables < _MOST_TABLES:
                n_tables += 1
                yield _table(name, rows)
            rows, lines, is_inside = [], [], False


def _cells(line: str) -> list[str]:
    inner = line.strip().removeprefix("|").removesuffix("|")
    return [cell.strip() for cell in inner.split("|")]


def _joined(lines: list[list[str]]) -> list[str]:
    """The cells of a row that may stand on several lines."""
    width = max(len(line) for line in lines)
    cells = []
    for place in range(width):
        parts = [line[place] for line in lines if place < len(line) and line[place]]
        cells.append(" ".join(parts))
    return cells


def _table(name: str, rows: list[list[str]]) -> RawTable:
    head, *body = rows
    header = unique_names([without_marks(cell) for cell in head])
    columns: dict[tuple[str, ...], list[str]] = {}
    for place, column in enumerate(header[:MOST_COLUMNS]):
        cells = [row[place] if place < len(row) else "" for row in body[:MOST_ROWS]]
        if any(cells):
            columns[(column,)] = cells
    return RawTable(name, columns)
