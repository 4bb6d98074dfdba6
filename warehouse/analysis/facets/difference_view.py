"""What people are shown of a difference over settings of their kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.analysis.facets.row import TotalDifferenceRow
from warehouse.analysis.facets.view import WIDTH, not_in_error, random_names
from warehouse.tables.units import Unit
from warehouse.tables.view import Part, Table, TableNote, View
from warehouse.tables.words import level_column, p_value, reasons


def difference_view(
    rows: Sequence[TotalDifferenceRow], is_share: bool, *, verbose: bool
) -> View:
    """A verdict for each benchmark, and both intervals."""
    unit = Unit.of((row.standard_error for row in rows), in_percent=is_share)
    parts: list[Part] = []
    for row in rows:
        parts.append(TableNote(_verdict(row, unit), width=WIDTH))
    parts.append("")
    tables = []
    for row in rows:
        tables += _lines(row, unit, with_benchmark=len(rows) > 1)
    parts.append(Table.of(tables, hide_empty=("benchmark", "settings")))
    if verbose:
        flagged = [
            f"{row.benchmark}: {', '.join(row.flags)}" for row in rows if row.flags
        ]
        parts += ["", *flagged]
    parts += ["", *not_in_error(rows)]
    notes = reasons((row, row.reason) for row in rows if row.reason)
    return View(tuple(parts), tuple(notes))


def _verdict(row: TotalDifferenceRow, unit: Unit) -> str:
    if row.difference is None:
        return f"{row.benchmark}: {row.a} and {row.b} are not compared: see the note."
    size = unit.difference(row.difference)
    at = f" ({row.condition})" if row.condition else ""
    told = f"{row.a} less {row.b} on {row.benchmark}{at}: {size}"
    names = random_names(row)
    kinds = " and ".join(one.name for one in row.facets if one.role == "random")
    if row.verdict == "both":
        who = row.better or "the first"
        return f"{told}. {who} is better on these {names} and on {kinds}s like these."
    if row.verdict == "these_settings":
        who = row.better or "one"
        return f"{told}. {who} is better on these {names}; not shown for {kinds}s like these."
    return f"{told}. They are not told apart."


def _lines(
    row: TotalDifferenceRow, unit: Unit, *, with_benchmark: bool
) -> list[dict[str, Any]]:
    benchmark = row.benchmark if with_benchmark else ""
    interval = level_column(row.level)
    return [
        {
            "benchmark": benchmark,
            "settings": row.condition,
            "counted as random": "prompts, these settings",
            interval: unit.ends(row.prompts_low, row.prompts_high, row.difference),
            "p": p_value(row.p_prompts),
        },
        {
            "benchmark": benchmark,
            "settings": row.condition,
            "counted as random": f"prompts and {random_names(row)}",
            interval: unit.ends(row.ci_low, row.ci_high, row.difference),
            "p": p_value(row.p_settings),
        },
    ]
