"""Sample rows in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from warehouse.importers.base import batch_of
from warehouse.importers.common.json_fields import Row
from warehouse.records import Rejection

#: About so many sample rows go into one batch.
BATCH_ROWS = 1000
#: What values of a strange kind raise in code that takes a row apart.
ODD_VALUES = (TypeError, ValueError, AttributeError, RecursionError)


def in_batches(groups: Iterable[Iterable[Row]], most: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """Rows in batches of about so many; those of a group stay together."""
    pending: list[Row] = []
    for group in groups:
        pending += group
        if len(pending) >= most:
            yield batch_of(pending)
            pending = []
    if pending:
        yield batch_of(pending)


def batches_of(
    items: Iterable[tuple[str, Any]],
    rows_of: Callable[[Any], Iterable[Row]],
    rejections: list[Rejection],
    expected: str,
    errors: tuple[type[Exception], ...] = (ValueError,),
) -> Iterator[pa.RecordBatch]:
    """Sample rows of items, in batches; an item that ``rows_of`` raises one of ``errors`` for is
    rejected with its place."""

    def groups() -> Iterator[list[Row]]:
        for location, item in items:
            rows: list[Row] = []
            try:
                rows += rows_of(item)
            except errors as error:
                rejections.append(Rejection(location, str(error)[:300], expected))
            yield rows

    return in_batches(groups())
