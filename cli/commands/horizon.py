"""``horizon``: how long tasks are, by the minutes that people need, that models do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warehouse.questions.reliability import TimeHorizon
from warehouse.tables.words import SHOWN

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import draw, drawable, output_options, typed
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import number, print_legend, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.suites.horizon import HorizonReport, HorizonRow
    from warehouse.stats import HorizonTrend


@command("horizon")
@options_of(TimeHorizon)
@drawable
@output_options
def horizon(state: State, /, output: Output, **options: Any) -> None:
    from warehouse.analysis.suites.horizon import HorizonRow

    question = TimeHorizon.from_command(options, typed(options))
    report: HorizonReport = state.ask(question)
    draw(report)
    if output.for_people:
        _print(report, state)
    else:
        output.emit_records(HorizonRow, report.rows)
        state.notes(map(_trend, report.trends))
        _notes(report, state)
    say_next(state, output, report, question)


#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("release", "curved p", "runs", "families", "condition", "slope", "tasks")
_LEGEND = {
    "q": "chance of success",
    "horizon": "minutes that people need for tasks that the model does with that chance",
    "no penalty": "the horizon with a penalty of 0.00001 on the slope",
    "slope": "of the log-odds of success, for tasks twice as long",
    "curved p": "whether the curve bends: p of a square of log minutes",
}
_FLAGS = {
    "extrapolated": "shorter than the shortest task there is, or longer than the longest",
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


def _print(report: HorizonReport, state: State) -> None:
    first = report.rows[0]
    print_text(f"{report.benchmark} by {first.metric}: {report.n_tasks} tasks of known length")
    for row in report.rows:
        if row.q == first.q:
            print_text(row.one_line)
    print_text("")
    rows = [_cells(row) for row in report.rows]
    shown = print_rows(rows, hide_empty=("condition", "release", "flags"), minor=_MINOR)
    print_text("")
    print_text(f"intervals: {_intervals(report)}; {_WEIGHTS[first.weights]}; penalty {first.penalty:g}")
    print_legend(_LEGEND, shown)
    for flag, meaning in _FLAGS.items():
        if any(flag in row.flags for row in report.rows):
            print_text(f"{flag}: {meaning}")
    for trend in report.trends:
        print_text(_trend(trend))
    _notes(report, state)


def _intervals(report: HorizonReport) -> str:
    """How the intervals are made; where models differ, which of them by which."""
    kinds = {row.interval for row in report.rows if row.estimate is not None}
    if len(kinds) < 2:
        return _INTERVALS[kinds.pop() if kinds else report.rows[0].interval]
    return f"{_INTERVALS['ftr']}; of models with one run of each task {_INTERVALS['fieller']}"


def _notes(report: HorizonReport, state: State) -> None:
    state.notes(dict.fromkeys(f"{row.model}: {row.reason}" for row in report.rows if row.reason))
    state.notes((*report.notes, *(f"left out {reason}" for reason in report.left_out[:SHOWN])))


def _trend(trend: HorizonTrend) -> str:
    """In a sentence."""
    if trend.doubling_days is None:
        return f"No doubling time for {trend.q:.0%}: {trend.reason}."
    low, high = ("open" if end is None else f"{end:.0f}" for end in (trend.low, trend.high))
    return (
        f"Horizons for {trend.q:.0%} double in {trend.doubling_days:.0f} days [{low}, {high}], by {trend.n_models}"
        " models; the interval is of tasks alone, not of models about the line."
    )


def _cells(row: HorizonRow) -> dict[str, Any]:
    from warehouse.analysis.suites.horizon import in_words

    def said(minutes: float | None) -> str | None:
        return None if minutes is None else in_words(minutes)

    ends = "" if row.estimate is None else f"[{said(row.low) or 'open'}, {said(row.high) or 'open'}]"
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
