"""``curves``: scores along training, with bands, departures from chance, drops and
crossings."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from warehouse.analysis.curves.question import Curves

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import draw, drawable, option, output_options
from ..ui.output import Output
from ..ui.questions import options_of

if TYPE_CHECKING:
    from warehouse.analysis.curves.view import CurvesReport


@command("training curves")
@options_of(Curves)
@option("--checkpoints", "A row for each checkpoint.", name="points", is_flag=True)
@drawable
@output_options
def curves(state: State, /, points: bool, output: Output, **options: Any) -> None:
    question = Curves(**options)
    report: CurvesReport = state.ask(question)
    draw(report)
    state.give(
        output,
        report,
        partial(state.view_of, partial(report.view, checkpoints=points)),
        part="checkpoints" if points else "rows",
    )
    if not points:
        say_next(state, output, report, question)
