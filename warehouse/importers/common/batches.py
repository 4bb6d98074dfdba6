"""Sample rows of small dumps in batches."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from warehouse.importers.base import batch_of
from warehouse.importers.common.json_fields import Row
from warehouse.records import Rejection

#: About so many sample rows go into one batch.
BATCH_ROWS = 1000


def batches_of(
    items: Iterable[tuple[str, Any]],
    rows_of: Callable[[Any], Iterable[Row]],
    rejections: list[Rejection],
    expected: str,
) -> Iterator[pa.RecordBatch]:
    """Sample rows of items, in batches; an item that ``rows_of`` raises ``ValueError`` for is
    rejected with its place."""
    pending: list[Row] = []
    for place, item in items:
        try:
            pending += rows_of(item)
        except ValueError as error:
            rejections.append(Rejection(place, str(error)[:300], expected))
        if len(pending) >= BATCH_ROWS:
            yield batch_of(pending)
            pending = []
    if pending:
        yield batch_of(pending)
