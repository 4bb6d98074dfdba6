"""pass@k and pass^k in words and as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import ConditionRow, Result
from warehouse.analysis.variance.heading import (
    benchmark_cells,
    heading,
    left_out_notes,
    shared_columns,
)
from warehouse.stats.core.results import ends_text
from warehouse.tables.view import Table, TableNote, View
from warehouse.tables.words import decimals, interval, level_column, number, reasons

_ESTIMANDS = {
    "prompts_sampled": "prompts sampled: they stand for others like them",
    "prompts_fixed": "prompts fixed: only the draws are random",
}
_STATISTICS = {
    "pass@": "pass@k: chance that at least one of k draws is right, mean over prompts",
    "pass^": "pass^k: chance that all of k draws are right, mean over prompts",
}
_HIDE_EMPTY = (
    "condition",
    "benchmark",
    "split",
    "metric",
    "over all",
    "clusters",
    "method",
    "flags",
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("method", "draws", "split", "metric", "clusters", "prompts", "se")


@dataclass(frozen=True)
class PassRow(ConditionRow):
    """pass@k or pass^k of one condition."""

    statistic: str  #: ``"pass@5"``, ``"pass^2"``, …
    k: int  #: draws that the figure is about.
    #: mean over the prompts that have k draws, in [0, 1]; None with a ``reason``.
    estimate: float | None
    standard_error: float | None  #: of it; None where not defined or 0.
    ci_low: float | None  #: lower end of the interval, at least 0.
    ci_high: float | None  #: upper end of the interval, at most 1.
    level: float  #: nominal coverage of the interval.
    estimand: str  #: ``"prompts_sampled"`` or ``"prompts_fixed"``.
    n_prompts: int  #: prompts with a score.
    n_clusters: int | None  #: clusters among them, where the error allows for them.
    n_draws: int  #: generations behind the scores, over all repeats.
    n_short: int  #: prompts with too few draws for the figure, or for its error.
    method: str  #: of the interval.
    #: warnings of the statistics; ``rates_as_counts``: the metric is not declared 0/1,
    #: but its stored rates are whole numbers of right draws.
    flags: tuple[str, ...]
    reason: str  #: why this method, or why there is no figure or interval.
    runs: int  #: repeats that were pooled.
    run_ids: tuple[int, ...]  #: their ids.
    #: where some prompts have fewer than k draws, the lower end of bounds over all
    #: prompts, whatever those would have shown; else None.
    bound_low: float | None = None
    bound_high: float | None = None  #: upper end of them.


@dataclass(frozen=True)
class PassReport(Result):
    """pass@k and pass^k of each condition."""

    target: str  #: as given.
    rows: tuple[PassRow, ...]
    left_out: tuple[str, ...]  #: what has no scores, with the reason.

    @property
    def one_line(self) -> str:
        if len(self.rows) != 1:
            return f"{self.target}: {len(self.rows)} pass rates"
        row = self.rows[0]
        if row.estimate is None:
            return f"{row.model} on {row.benchmark}: no {row.statistic}: {row.reason}"
        if row.ci_low is None or row.ci_high is None:
            interval = ""
        else:
            interval = f" {ends_text(row.ci_low, row.ci_high)}"
        wording = row.estimand.replace("_", " ")
        return (
            f"{row.model} on {row.benchmark}: {row.statistic} "
            f"{row.estimate:.4g}{interval} ({wording})"
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """The first of what was left out."""
        return left_out_notes(self.left_out)

    def view(self, *, verbose: bool = False) -> View:
        """The command's table, what its columns mean, and why some figures are missing."""
        return pass_view(self, verbose=verbose)


def pass_view(report: PassReport, *, verbose: bool) -> View:
    """The rates, what they are, and why some are missing."""
    rows = report.rows
    shared = shared_columns(rows)
    n_decimals = decimals(row.standard_error for row in rows)
    cells = [_cells(row, n_decimals, shared, verbose) for row in rows]
    table = Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)
    intervals = f"intervals with {_ESTIMANDS[rows[0].estimand]}"
    explained = [
        row
        for row in rows
        if row.ci_low is None or row.bound_low is not None or verbose
    ]
    notes = (*reasons((row, row.reason) for row in explained), *report.notes)
    return View(
        (*heading(rows, shared), intervals, "", table, *_statistics(rows)), notes
    )


def _statistics(rows: Sequence[PassRow]) -> list[TableNote]:
    """The meaning of pass@k and pass^k, where they are shown."""
    names = [row.statistic for row in rows]
    notes = []
    for mark, meaning in _STATISTICS.items():
        if any(name.startswith(mark) for name in names):
            notes.append(TableNote(meaning, "statistic"))
    return notes


def _cells(
    row: PassRow, n_decimals: int, shared: Sequence[str], verbose: bool
) -> dict[str, Any]:
    method = ""
    if verbose:
        method = row.method
    return {
        "model": row.model,
        "condition": row.condition,
        **benchmark_cells(row, shared),
        "statistic": row.statistic,
        "estimate": number(row.estimate, n_decimals),
        "se": number(row.standard_error, n_decimals),
        level_column(row.level): interval(row.ci_low, row.ci_high, n_decimals),
        "over all": interval(row.bound_low, row.bound_high, n_decimals),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "draws": row.n_draws,
        "method": method,
        "flags": row.flags,
    }
