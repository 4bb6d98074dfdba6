"""Rows of plain values as chunks of a table, for readers of spreadsheets and
databases."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import date, datetime, time, timedelta
from itertools import islice
from typing import Any

import pyarrow as pa

from warehouse.importers.tabular.chunks import TableChunk
from warehouse.importers.tabular.columns import as_array

_ROWS = 8_192
#: A row and its number for people.
NumberedRow = tuple[int, Sequence[Any]]


def table_chunks(
    names: Sequence[str], rows: Iterable[NumberedRow]
) -> Iterator[TableChunk]:
    """Rows, of which each has a value for each name, as chunks."""
    start = 0
    remaining = iter(rows)
    while part := list(islice(remaining, _ROWS)):
        columns = []
        for place in range(len(names)):
            values = [plain_value(row[place]) for _, row in part]
            columns.append(as_array(values, len(part)))
        table = pa.Table.from_arrays(columns, names=list(names))
        indices = range(start, start + len(part))
        yield TableChunk(table, indices, [number for number, _ in part], order=names)
        start += len(part)


def plain_value(value: Any) -> Any:
    """A value as JSON has it: times as texts, nothing for an empty text."""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    if isinstance(value, str) and not value.strip():
        return None
    return value
