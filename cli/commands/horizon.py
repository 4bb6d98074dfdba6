"""``horizon``: how long tasks are, by the minutes that people need, that models do."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from warehouse.analysis.horizon.question import TimeHorizon

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import draw, drawable, output_options, typed
from ..ui.output import Output
from ..ui.questions import options_of

if TYPE_CHECKING:
    from warehouse.analysis.horizon.view import HorizonReport


@command("horizon")
@options_of(TimeHorizon)
@drawable
@output_options
def horizon(state: State, /, output: Output, **options: Any) -> None:
    question = TimeHorizon.from_command(options, typed(options))
    report: HorizonReport = state.ask(question)
    from warehouse.analysis.horizon.view import report_notes, trend_in_words

    draw(report)
    notes = [*map(trend_in_words, report.trends), *report_notes(report)]
    state.give(output, report, partial(state.view_of, report.view), notes=notes)
    say_next(state, output, report, question)
