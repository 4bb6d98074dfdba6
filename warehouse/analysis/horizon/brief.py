"""Time horizons as people read them first: who does the longest tasks, and how long they
are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from warehouse.analysis.horizon.lengths import length_in_words
from warehouse.analysis.horizon.row import HorizonRow
from warehouse.tables.view import Part, Table

#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("flags", "released", "settings")


class Horizons(Protocol):
    """What is told of time horizons."""

    @property
    def benchmark(self) -> str:
        """As given."""

    @property
    def rows(self) -> tuple[HorizonRow, ...]:
        """By model and probability, the longest first."""

    @property
    def n_tasks(self) -> int:
        """Tasks of known length."""


def brief_parts(
    report: Horizons, trends: Sequence[str], meanings: Sequence[str]
) -> list[Part]:
    """What people are shown of horizons.

    Args:
        trends: in how many days horizons double, in sentences.
        meanings: what the flags mean.
    """
    first = report.rows[0].q
    rows = [row for row in report.rows if row.q == first]
    others = list(dict.fromkeys(row.q for row in report.rows if row.q != first))
    by_row = {(row.model, row.condition, row.q): row for row in report.rows}
    cells = []
    for row in rows:
        own = _cells(row)
        for q in others:
            own[f"{q:.0%}"] = _length(by_row.get((row.model, row.condition, q)))
        own["flags"] = (*row.flags, *_further_flags(row, others, by_row))
        cells.append(own)
    hide_empty = ("settings", "released", "flags")
    size = (
        f"{report.benchmark} by {report.rows[0].metric}: {report.n_tasks} tasks of known "
        "length"
    )
    return [
        *_longest(rows),
        *trends,
        size,
        "",
        Table.of(cells, hide_empty=hide_empty, minor=_MINOR),
        "",
        f"{first:.0%}: minutes that people need for tasks that the model does with that "
        "chance",
        *meanings,
    ]


def _further_flags(
    row: HorizonRow,
    others: Sequence[float],
    by_row: Mapping[tuple[str, str, float], HorizonRow],
) -> list[str]:
    """Flags of the other horizons of a model that the first has not."""
    found = []
    for q in others:
        other = by_row.get((row.model, row.condition, q))
        if other is not None:
            further = [flag for flag in other.flags if flag not in row.flags]
            found += [f"{flag} ({q:.0%})" for flag in further]
    return found


def _longest(rows: list[HorizonRow]) -> list[str]:
    """Who has the longest horizon, and whose interval overlaps with its own."""
    found = [row for row in rows if row.estimate is not None]
    if not found:
        return ["No model has a horizon: see the notes."]
    first = max(found, key=lambda row: row.estimate or 0.0)
    said = (
        f"{_named(first)} does the longest tasks: of {_length(first)} {_interval(first)}, "
        f"with a chance of {first.q:.0%}"
    )
    others = [row for row in found if row is not first]
    if not others:
        return [f"{said}."]
    apart = [row for row in others if _is_below(row, first)]
    if len(apart) == len(others):
        return [f"{said}; the intervals of all others lie below its own."]
    near = [_named(row) for row in others if row not in apart]
    named = near[0]
    if len(near) > 1:
        named += f" and {len(near) - 1} more"
    return [f"{said}; its interval overlaps with that of {named}."]


def _is_below(row: HorizonRow, first: HorizonRow) -> bool:
    return row.high is not None and first.low is not None and row.high < first.low


def _named(row: HorizonRow) -> str:
    if row.condition:
        return f"{row.model} ({row.condition})"
    return row.model


def _cells(row: HorizonRow) -> dict[str, Any]:
    return {
        "model": row.model,
        "settings": row.condition,
        "released": row.release_date or "",
        f"{row.q:.0%}": _length(row),
        f"{100 * row.level:g}% interval": _interval(row),
    }


def _length(row: HorizonRow | None) -> str | None:
    if row is None or row.estimate is None:
        return None
    return length_in_words(row.estimate)


def _interval(row: HorizonRow) -> str:
    if row.estimate is None:
        return ""
    ends = []
    for end in (row.low, row.high):
        ends.append("open" if end is None else length_in_words(end))
    return f"[{', '.join(ends)}]"
