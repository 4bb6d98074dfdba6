"""Figures that were not run: rows, the sentences and the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import Result, Row
from warehouse.stats.completion.predictions import (
    ASSUMES,
    EXTRAPOLATED,
    PUBLISHED,
    STRONG_ONLY,
    TOO_FAR,
    WEAK_ONLY,
)
from warehouse.tables.view import Part, Table, View
from warehouse.tables.words import counted, interval, level_column, number, visible

#: What a flag says of a figure.
_SAID = {
    EXTRAPOLATED: "beyond every model that ran it",
    STRONG_ONLY: "run mostly by strong models",
    WEAK_ONLY: "run mostly by weak models",
}
_MOST_ROWS = 20


@dataclass(frozen=True)
class ExpectedRow(Row):
    """The figure that would be expected of a model on a benchmark: no score."""

    model: str  #: its name.
    benchmark: str  #: name of the benchmark.
    metric: str  #: name of the metric, with its filter.
    is_share: bool  #: whether 0 and 1 of the metric are the range of the figures.
    predicted: bool  #: whether there is an estimate, which then is no score.
    estimate: float | None  #: in the unit of the metric, a median; None with a reason.
    ci_low: float | None  #: lower end of the interval of what would be published.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval.
    published: float | None  #: the figure, where there is one.
    n_of_model: int  #: figures of the model.
    n_of_benchmark: int  #: figures of the benchmark.
    support: int  #: runs of other models that link the two.
    support_needed: int  #: of them, for an estimate.
    flags: tuple[str, ...]  #: of `extrapolated`, `strong_only`, `weak_only`.
    reason: str | None  #: why there is no estimate: `too_far` or `published`.


@dataclass(frozen=True)
class RunNextRow(Row):
    """A benchmark to run next."""

    model: str  #: its name.
    benchmark: str  #: name of the benchmark.
    #: by how much the model's other intervals shrink on average, in shares of a range.
    narrows_by: float


@dataclass(frozen=True)
class CompletionReport(Result):
    """What would be expected where nothing was run."""

    rows: tuple[ExpectedRow, ...]  #: by model and benchmark.
    run_next: tuple[RunNextRow, ...]  #: of one model, what narrows most first.
    model: str | None  #: the model asked about; None: all.
    benchmark: str | None  #: the benchmark asked about; None: all.
    level: float  #: nominal coverage of intervals.
    n_figures: int  #: figures of the table.
    n_models: int  #: models with four of them.
    n_benchmarks: int  #: benchmarks with four.
    n_held_out: int  #: figures held out, which say how far off one is.
    #: by how much these are off, as a share of the range of a benchmark.
    median_error: float
    left_out: tuple[str, ...]  #: what has no figures here, and why.

    @property
    def one_line(self) -> str:
        return (
            f"{self.n_models} models on {self.n_benchmarks} benchmarks by "
            f"{self.n_figures} figures"
        )

    def view(self, *, verbose: bool = False) -> View:
        """What is expected, how far off that may be, and what it assumes.

        Args:
            verbose: every row and column.
        """
        if self.model is not None and self.benchmark is not None:
            parts = _one(self)
        else:
            parts = _table(self, verbose=verbose)
        return View((*parts, *_next(self), ASSUMES), self.left_out)


def _one(report: CompletionReport) -> list[Part]:
    """One cell in sentences."""
    (row,) = report.rows
    model, benchmark = visible(row.model), visible(row.benchmark)
    if row.reason == PUBLISHED:
        figure = _figure(row, row.published)
        return [f"{model} was run on {benchmark}: {figure}; nothing is expected of it."]
    if row.reason == TOO_FAR:
        return [
            f"{counted(row.support, 'run')} of others to link {model} with "
            f"{benchmark} ({row.support_needed} are needed): no figure."
        ]
    said = f"{model} would be expected at {_figure(row, row.estimate)} on {benchmark}"
    ends = ""
    if row.ci_low is not None:
        low, high = _figure(row, row.ci_low), _figure(row, row.ci_high)
        ends = f" ({100 * row.level:g} %: {low.removesuffix(' %')} – {high})"
    flags = [f" {_SAID[flag].capitalize()}." for flag in row.flags]
    basis = (
        f"from {counted(row.n_of_model, 'figure')} of it, "
        f"{counted(row.support, 'run')} of others to link them · {_off(report)}"
    )
    return [f"{said}{ends}; it was not run.{''.join(flags)}", basis]


def _off(report: CompletionReport) -> str:
    points = 100 * report.median_error
    return f"held-out figures of this table are off by {points:.1f} points (median)"


def _figure(row: ExpectedRow, figure: float | None) -> str:
    """In per cent where it is a share."""
    if row.is_share and figure is not None:
        return f"{100 * figure:.1f} %"
    return str(number(figure, 3))


def _table(report: CompletionReport, *, verbose: bool) -> list[Part]:
    shown = report.rows
    if not verbose:
        shown = shown[:_MOST_ROWS]
    cells: list[dict[str, Any]] = []
    for row in shown:
        notes = [_SAID[flag] for flag in row.flags]
        if row.reason == TOO_FAR:
            notes = [
                f"{counted(row.support, 'run')} of others to link them, "
                f"{row.support_needed} are needed"
            ]
        cells.append(
            {
                "model": visible(row.model),
                "benchmark": visible(row.benchmark),
                "metric": visible(row.metric),
                "expected": number(row.estimate, 3),
                level_column(row.level): interval(row.ci_low, row.ci_high, 3),
                "note": "; ".join(notes),
            }
        )
    head = f"What would be expected where a model was not run, by {report.one_line}:"
    parts: list[Part] = [
        head,
        Table.of(cells, empty="nothing is absent", minor=("metric",)),
        "",
    ]
    if len(shown) < len(report.rows):
        parts.append(f"… {len(report.rows) - len(shown)} more (--wide)")
    return [*parts, _off(report)]


def _next(report: CompletionReport) -> list[str]:
    """What to run next, in a sentence."""
    if not report.run_next:
        return []
    first, *others = report.run_next
    narrows = (
        f"{visible(first.benchmark)} (narrows the others by {_points(first)} points)"
    )
    told = [narrows]
    for row in others:
        told.append(f"{visible(row.benchmark)} ({_points(row)})")
    return [f"run next: {', '.join(told)}"]


def _points(row: RunNextRow) -> str:
    return f"{100 * row.narrows_by:.1f}"
