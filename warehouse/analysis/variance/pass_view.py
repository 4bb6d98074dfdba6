"""pass@k and pass^k in words and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from warehouse.analysis.variance.heading import heading, shared_columns
from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import decimals, interval, level_column, number, reasons

if TYPE_CHECKING:
    from warehouse.analysis.variance.variance import PassReport, PassRow

_ESTIMANDS = {
    "prompts_sampled": "prompts sampled: they stand for others like them",
    "prompts_fixed": "prompts fixed: only the draws are random",
}
_STATISTICS = {
    "pass@": "pass@k: chance that at least one of k draws is right, mean over prompts",
    "pass^": "pass^k: chance that all of k draws are right, mean over prompts",
}
_HIDE_EMPTY = ("condition", "benchmark", "split", "metric", "over all", "clusters", "method", "flags")
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("method", "draws", "split", "metric", "clusters", "prompts", "se")


def pass_view(report: PassReport, *, verbose: bool) -> View:
    """The rates, what they are, and why some are missing."""
    rows = report.rows
    shared = shared_columns(rows)
    n_decimals = decimals(row.standard_error for row in rows)
    cells = [_cells(row, n_decimals, shared, verbose) for row in rows]
    table = Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)
    intervals = f"intervals with {_ESTIMANDS[rows[0].estimand]}"
    explained = [row for row in rows if row.ci_low is None or row.bound_low is not None or verbose]
    notes = (*reasons((row, row.reason) for row in explained), *report.notes)
    return View((*heading(rows, shared), intervals, "", table, *_statistics(rows)), notes)


def _statistics(rows: Sequence[PassRow]) -> list[TableNote]:
    """What pass@k and pass^k are, where they are shown."""
    names = [row.statistic for row in rows]
    return [
        TableNote(meaning, "statistic")
        for mark, meaning in _STATISTICS.items()
        if any(name.startswith(mark) for name in names)
    ]


def _cells(row: PassRow, n_decimals: int, shared: Sequence[str], verbose: bool) -> dict[str, Any]:
    return {
        "model": row.model,
        "condition": row.condition,
        "benchmark": "" if "benchmark" in shared else row.benchmark,
        "split": row.split,
        "metric": "" if "metric" in shared else row.metric,
        "statistic": row.statistic,
        "estimate": number(row.estimate, n_decimals),
        "se": number(row.standard_error, n_decimals),
        level_column(row.level): interval(row.ci_low, row.ci_high, n_decimals),
        "over all": interval(row.bound_low, row.bound_high, n_decimals),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "draws": row.n_draws,
        "method": row.method if verbose else "",
        "flags": row.flags,
    }
