"""Whether two stores that were made the same way hold the same rows, ids and all."""

from __future__ import annotations

import math
from typing import Any

from warehouse.store.open import open_store
from warehouse.store.schema import tables

#: When something was done, and how long it took.
_CLOCKS = {"claimed_at", "loaded_at", "created_at", "seconds"}


def store_differences(one: str, other: str) -> list[tuple[str, Any, Any]]:
    """Rows of the tables of two stores that differ in more than their times; sums to their last digits."""
    found = []
    with open_store(one) as left, open_store(other) as right:
        for table in tables.metadata.sorted_tables:
            names = ", ".join(f'"{column.name}"' for column in table.columns if column.name not in _CLOCKS)
            sql = f'select {names} from "{table.name}"'
            held, made = (sorted(map(_row, store.arrow(sql).to_pylist())) for store in (left, right))
            pairs = zip(held, made, strict=len(held) == len(made))
            found += [(table.name, *pair) for pair in pairs if not _alike(*pair)]
            found += [(table.name, len(held), len(made))] * (len(held) != len(made))
    return found


def _row(row: dict[str, Any]) -> list[str]:
    return [f"{value:.9g}" if isinstance(value, float) else repr(value) for value in row.values()]


def _alike(one: list[str], other: list[str]) -> bool:
    return all(left == right or _close(left, right) for left, right in zip(one, other, strict=True))


def _close(one: str, other: str) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-8)
    except ValueError:
        return False
