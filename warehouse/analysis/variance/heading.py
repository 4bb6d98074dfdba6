"""What the views of this folder have in common: a heading of what all rows share, and what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.tables.words import SHOWN


def shared_columns(rows: Sequence[Any]) -> list[str]:
    """Columns that say the same in all rows."""
    return [name for name in ("benchmark", "metric") if len({getattr(row, name) for row in rows}) == 1]


def heading(rows: Sequence[Any], shared: Sequence[str]) -> list[str]:
    """A sentence of what all rows share; none where they share nothing."""
    values = [getattr(rows[0], name) for name in shared]
    return [" by ".join(values)] if values else []


def left_out_notes(left_out: Sequence[str]) -> tuple[str, ...]:
    """The first of what was left out, and how much more there is."""
    notes = [f"left out {reason}" for reason in left_out[:SHOWN]]
    n_more = len(left_out) - SHOWN
    if n_more > 0:
        notes.append(f"and {n_more} more left out")
    return tuple(notes)
