"""Tables as HELM writes them: headers and rows of cells, each an object with a value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from warehouse.boards.nested import text_of
from warehouse.boards.table import MOST_COLUMNS, MOST_ROWS, RawTable
from warehouse.importers.tabular.delimited import unique_names


def is_helm(document: Any) -> bool:
    """Whether a document is a table of HELM, or a list of such (``groups/*.json``)."""
    tables = _tables(document)
    return bool(tables) and all(map(_is_table, tables))


def helm_tables(document: Any, name: str) -> Iterator[RawTable]:
    """The tables of a document of HELM that have models as rows, each by its title;
    others list scenarios."""
    for table in _tables(document):
        if not text_of(table["header"][0].get("value")).casefold().startswith("model"):
            continue
        title = text_of(table.get("title"))
        place = f"{name}: {title}" if title else name
        headers = [text_of(cell.get("value")) for cell in table["header"]]
        names = unique_names(headers[:MOST_COLUMNS])
        rows = table["rows"][:MOST_ROWS]
        columns: dict[tuple[str, ...], list[str]] = {}
        for number, column in enumerate(names):
            columns[column,] = [_text(row, number) for row in rows]
        yield RawTable(place, columns, is_ordered=False)


def _tables(document: Any) -> Sequence[Any]:
    if isinstance(document, Mapping):
        return [document]
    if isinstance(document, list):
        return document
    return []


def _is_table(table: Any) -> bool:
    if not isinstance(table, Mapping):
        return False
    header, rows = table.get("header"), table.get("rows")
    if not isinstance(header, list) or not isinstance(rows, list) or not header:
        return False
    return all(_are_cells(row) for row in [header, *rows])


def _are_cells(row: Any) -> bool:
    """Whether a row is of objects; one without a value is empty."""
    return isinstance(row, list) and all(isinstance(cell, Mapping) for cell in row)


def _text(row: Sequence[Mapping[str, Any]], number: int) -> str:
    if number >= len(row):
        return ""
    return text_of(row[number].get("value"))
