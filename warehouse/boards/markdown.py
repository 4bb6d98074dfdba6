"""Tables of Markdown: lines between bars, under the heading that stands above them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.boards.table import MOST_COLUMNS, MOST_ROWS, RawTable
from warehouse.importers.tabular.delimited import unique_names
from warehouse.stats.board.cells import without_marks

_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*?)\s*#*\s*")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_BAR = re.compile(r"(?<!\\)\|")
_MOST_TABLES = 200


def markdown_tables(text: str, name: str) -> Iterator[RawTable]:
    """The tables of a text, each called by its file and the heading above it.

    Args:
        name: of the file.
    """
    lines = text.splitlines()
    heading, is_code, number, n_tables = "", False, 0, 0
    while number < len(lines) and n_tables < _MOST_TABLES:
        line = lines[number]
        if _FENCE.match(line):
            is_code = not is_code
        found = _HEADING.fullmatch(line)
        if found and not is_code:
            heading = without_marks(found[1])
        is_head = "|" in line and number + 1 < len(lines)
        if is_head and "|" in lines[number + 1] and _RULE.fullmatch(lines[number + 1]):
            end = number + 2
            while end < len(lines) and "|" in lines[end]:
                end += 1
            body = lines[number + 2 : min(end, number + 2 + MOST_ROWS)]
            place = f"{name}: {heading}" if heading else name
            n_tables += 1
            yield _table(place, line, body)
            number = end
            continue
        number += 1


def _table(name: str, head: str, body: list[str]) -> RawTable:
    header = unique_names([without_marks(cell) for cell in _cells(head)])
    rows = [_cells(line) for line in body]
    columns: dict[tuple[str, ...], list[str]] = {}
    for place, column in enumerate(header[:MOST_COLUMNS]):
        cells = [row[place] if place < len(row) else "" for row in rows]
        if any(cells):
            columns[(column,)] = cells
    return RawTable(name, columns)


def _cells(line: str) -> list[str]:
    plain = line.strip()
    plain = plain.removeprefix("|")
    if plain.endswith("|") and not plain.endswith("\\|"):
        plain = plain[:-1]
    return [cell.replace("\\|", "|").strip() for cell in _BAR.split(plain)]
