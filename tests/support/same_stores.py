"""Whether two stores that were made the same way hold the same rows, ids and all."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection
from typing import Any

import sqlalchemy as sa

from warehouse.store.engines import full_connection
from warehouse.store.open import open_store

#: When something was done, and how long it took.
CLOCKS = {"claimed_at", "loaded_at", "created_at", "refreshed_at", "seconds"}

Rows = dict[str, list[list[str]]]


def store_differences(
    one: str, other: str, *, without: Collection[str] = ()
) -> list[tuple[str, Any, Any]]:
    """Rows of the tables of two stores that differ in more than their times; sums to
    their last digits."""
    found: list[tuple[str, Any, Any]] = []
    left, right = _rows(one), _rows(other)
    for table in sorted({*left, *right} - {*without}):
        if left.get(table, []) == right.get(
            table, []
        ):  # texts of many rows take their time
            continue
        held, made = (rows_in_text(rows.get(table, [])) for rows in (left, right))
        pairs = zip(held, made, strict=len(held) == len(made))
        found += [(table, *pair) for pair in pairs if not _alike(*pair)]
        found += [(table, len(held), len(made))] * (len(held) != len(made))
    return found


def lost_rows(then: Rows, now: Rows) -> list[tuple[str, tuple[str, ...]]]:
    """Rows that a store held, and does not hold as they were."""
    counted = {
        table: (Counter(map(tuple, rows)), Counter(map(tuple, now[table])))
        for table, rows in then.items()
    }
    return [
        (table, row)
        for table, (left, right) in counted.items()
        for row in (left - right)
    ]


def stored_rows(url: str) -> Rows:
    """The rows of every table of a store of any revision, without their times."""
    return {name: rows_in_text(rows) for name, rows in _rows(url).items()}


def _rows(url: str) -> dict[str, list[dict[str, Any]]]:
    with open_store(url, check=False, wait=60) as store:
        with store.begin() as connection:
            names = sa.inspect(full_connection(connection)).get_table_names()
        return {name: store.rows(f'select * from "{name}"') for name in names}


def rows_in_text(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Rows in an order of their own, each a list of its values by the names of their
    columns."""
    names = sorted({*rows[0]} - CLOCKS) if rows else []
    return sorted([_in_text(row[name]) for name in names] for row in rows)


def _in_text(value: Any) -> str:
    return f"{value:.9g}" if isinstance(value, float) else repr(value)


def _alike(one: list[str], other: list[str]) -> bool:
    return one == other or all(
        left == right or _close(left, right)
        for left, right in zip(one, other, strict=True)
    )


def _close(one: str, other: str) -> bool:
    try:
        return math.isclose(float(one), float(other), rel_tol=1e-8)
    except ValueError:
        return False
