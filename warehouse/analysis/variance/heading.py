"""Common parts of the views of this folder: a heading of what all rows share, and what
was left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.tables.words import SHOWN, left_out


def shared_columns(rows: Sequence[Any]) -> list[str]:
    """Columns that say the same in all rows."""
    same = []
    for name in ("benchmark", "metric"):
        if len({getattr(row, name) for row in rows}) == 1:
            same.append(name)
    return same


def heading(rows: Sequence[Any], shared: Sequence[str]) -> list[str]:
    """A sentence of what all rows share; none where they share nothing."""
    values = [getattr(rows[0], name) for name in shared]
    if values:
        return [" by ".join(values)]
    return []


def benchmark_cells(row: Any, shared: Sequence[str]) -> dict[str, Any]:
    """Cells that say what a row is about, without what the heading says."""
    benchmark = ""
    if "benchmark" not in shared:
        benchmark = row.benchmark
    metric = ""
    if "metric" not in shared:
        metric = row.metric
    return {
        "benchmark": benchmark,
        "split": row.split,
        "metric": metric,
    }


def left_out_notes(reasons: Sequence[str]) -> tuple[str, ...]:
    """The first of what was left out, and how much more there is."""
    notes = left_out(reasons[:SHOWN])
    n_more = len(reasons) - SHOWN
    if n_more > 0:
        notes.append(f"and {n_more} more left out")
    return tuple(notes)
