"""``frontier``: which models no other beats in score and cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warehouse.analysis.frontier.question import Frontier

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import benchmark_argument, draw, drawable, output_options, typed
from ..ui.output import Output
from ..ui.questions import in_flags, options_of
from ..ui.table import print_view

if TYPE_CHECKING:
    from warehouse.analysis.frontier.view import FrontierReport


@command("frontier")
@benchmark_argument(required=True)
@options_of(Frontier, without=("benchmark",))
@drawable
@output_options
def frontier(state: State, /, output: Output, **options: Any) -> None:
    question = Frontier.from_command(options, typed(options))
    report: FrontierReport = state.ask(question)
    output.give(report, lambda: print_view(state.view_of(report.view)))
    state.notes(in_flags(Frontier, note) for note in report.notes)
    draw(report)
    say_next(state, output, report, question)
