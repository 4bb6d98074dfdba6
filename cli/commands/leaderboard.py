"""``leaderboard``: every condition on a benchmark, every model on a suite, best first."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warehouse.questions.leaderboard import AnyLeaderboard
from warehouse.questions.question import UnusedError

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.next_step import say_next
from ..ui.options import benchmark_argument, output_options, typed
from ..ui.output import Output
from ..ui.output_files import writes
from ..ui.questions import in_flags, options_of
from ..ui.table import print_view
from .suites import weights_callback

if TYPE_CHECKING:
    from warehouse.analysis.results import Result


@command("leaderboard")
@benchmark_argument(required=False)
@options_of(AnyLeaderboard, without=("benchmark",), weights={"default": None, "callback": weights_callback})
@output_options
@pass_state
def leaderboard(state: State, /, output: Output, **options: Any) -> None:
    question = AnyLeaderboard.from_command(options, typed(options))
    with state.open() as store:
        try:
            result: Result = question.ask(store)
        except UnusedError as error:
            if error.name != "force" or not writes():
                raise
            result = replace(question, force=False).ask(store)  # it was said for the file
    if output.for_people:
        view = result.view(verbose=state.verbose)
        print_view(view)
        state.notes(in_flags(AnyLeaderboard, note) for note in view.notes)
    else:
        state.notes(f"left out: {reason}" for reason in getattr(result, "left_out", ()))
        output.emit_records(result.ROW, result.rows)
    say_next(state, output, result, question)
