"""Time horizons in words and as a table, with what its columns and flags mean."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from warehouse.analysis.horizon.brief import brief_parts
from warehouse.analysis.horizon.lengths import length_in_words as length_in_words
from warehouse.analysis.horizon.row import HorizonRow as HorizonRow
from warehouse.analysis.results import Result
from warehouse.stats import HorizonTrend
from warehouse.tables.view import Table, View, legend
from warehouse.tables.words import SHOWN, left_out, number

if TYPE_CHECKING:
    from warehouse.stats import HorizonTrend

#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("release", "curved p", "runs", "families", "condition", "slope", "tasks")
_LEGEND = {
    "q": "chance of success",
    "horizon": (
        "minutes that people need for tasks that the model does with that chance"
    ),
    "no penalty": "the horizon with a penalty of 0.00001 on the slope",
    "slope": "of the log-odds of success, for tasks twice as long",
    "curved p": "whether the curve bends: p of a square of log minutes",
}
_FLAGS = {
    "extrapolated": (
        "shorter than the shortest task there is, or longer than the longest"
    ),
    "unbounded_below": "the interval is open below",
    "unbounded_above": "the interval is open above: the curve may be flat",
    "few_families": "fewer than 10 families of tasks stand for all",
    "subset": "not all tasks that others have",
}
_WEIGHTS = {
    "invsqrt": "tasks count by 1/√(tasks of their family)",
    "equal": "each task counts as much",
    "none": "each run counts as much",
}
_INTERVALS = {
    "ftr": "families, tasks and runs drawn anew, by all models alike",
    "fieller": "Fieller's, by families left out in turn",
}


@dataclass(frozen=True)
class HorizonReport(Result):
    """Time horizons of models."""

    DRAWN_BY = "warehouse.analysis.horizon.charts:horizon_charts"

    benchmark: str  #: as given.
    #: for each model one for each probability; the longest first.
    rows: tuple[HorizonRow, ...]
    trends: tuple[HorizonTrend, ...]  #: one for each probability, where asked for.
    n_tasks: int  #: tasks with minutes that some model has runs on.
    notes: tuple[str, ...]  #: on tasks and models that do not count.
    left_out: tuple[str, ...]  #: models without a place here, with the reason.

    @property
    def one_line(self) -> str:
        """The result in a line."""
        return " ".join(row.one_line for row in self.rows if row.q == self.rows[0].q)

    def view(self, *, verbose: bool = False) -> View:
        """Who does the longest tasks, whether horizons grow, and the horizons of all.

        Args:
            verbose: how the intervals are made, every column, and what it means.
        """
        if verbose:
            return horizon_view(self)
        trends = [trend_in_words(trend) for trend in self.trends]
        return View(
            tuple(brief_parts(self, trends, _meanings(self))), report_notes(self)
        )


def horizon_view(report: HorizonReport) -> View:
    """The horizons in sentences, the rows, what they mean, and the trends."""
    first = report.rows[0]
    head = [
        f"{report.benchmark} by {first.metric}: {report.n_tasks} tasks of known length"
    ]
    head += [row.one_line for row in report.rows if row.q == first.q]
    table = Table.of(
        map(_cells, report.rows),
        hide_empty=("condition", "release", "flags"),
        minor=_MINOR,
    )
    intervals = (
        f"intervals: {_intervals(report)}; {_WEIGHTS[first.weights]}; penalty "
        f"{first.penalty:g}"
    )
    trends = [trend_in_words(trend) for trend in report.trends]
    return View(
        (
            *head,
            "",
            table,
            "",
            intervals,
            *legend(_LEGEND),
            *_meanings(report),
            *trends,
        ),
        report_notes(report),
    )


def _meanings(report: HorizonReport) -> list[str]:
    """What the flags of its rows mean."""
    flags = set(chain.from_iterable(row.flags for row in report.rows))
    return [f"{flag}: {meaning}" for flag, meaning in _FLAGS.items() if flag in flags]


def report_notes(report: HorizonReport) -> tuple[str, ...]:
    """Why models have no horizon, and which are left out."""
    reasons = dict.fromkeys(
        f"{row.model}: {row.reason}" for row in report.rows if row.reason
    )
    return (*reasons, *report.notes, *left_out(report.left_out[:SHOWN]))


def _intervals(report: HorizonReport) -> str:
    """How the intervals are made; where models differ, which of them by which."""
    kinds = {row.interval for row in report.rows if row.estimate is not None}
    if len(kinds) < 2:
        return _INTERVALS[kinds.pop() if kinds else report.rows[0].interval]
    return (
        f"{_INTERVALS['ftr']}; of models with one run of each task "
        f"{_INTERVALS['fieller']}"
    )


def trend_in_words(trend: HorizonTrend) -> str:
    """A trend in a sentence."""
    if trend.doubling_days is None:
        return f"No doubling time for {trend.q:.0%}: {trend.reason}."
    low, high = (
        "open" if end is None else f"{end:.0f}" for end in (trend.low, trend.high)
    )
    return (
        f"Horizons for {trend.q:.0%} double in {trend.doubling_days:.0f} days [{low}, "
        f"{high}], by {trend.n_models} models; the interval is of tasks alone, not of "
        "models about the line."
    )


def _cells(row: HorizonRow) -> dict[str, Any]:
    def said(minutes: float | None) -> str | None:
        if minutes is None:
            return None
        return length_in_words(minutes)

    ends = ""
    if row.estimate is not None:
        low = said(row.low) or "open"
        high = said(row.high) or "open"
        ends = f"[{low}, {high}]"
    return {
        "model": row.model,
        "condition": row.condition,
        "release": row.release_date or "",
        "q": number(row.q, 2),
        "horizon": said(row.estimate),
        f"{100 * row.level:g}% interval": ends,
        "no penalty": said(row.unpenalised),
        "slope": number(row.slope, 2),
        "curved p": number(row.curvature_p, 2),
        "tasks": row.n_tasks,
        "families": row.n_families,
        "runs": row.n_runs,
        "flags": row.flags,
    }
