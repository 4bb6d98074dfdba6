"""``leaderboard``: every condition on a benchmark, every model on a suite, best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warehouse.questions.leaderboard import AnyLeaderboard
from warehouse.questions.question import UnusedError

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import benchmark_argument, output_options, typed
from ..ui.output import Output
from ..ui.output_files import writes
from ..ui.questions import in_flags, options_of
from ..ui.table import echo, print_text, print_view
from .suites import weights_callback

if TYPE_CHECKING:
    from warehouse.analysis.results import Result


@command("leaderboard")
@benchmark_argument(required=False)
@options_of(
    AnyLeaderboard,
    without=("benchmark",),
    weights={"default": None, "callback": weights_callback},
)
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
    state.notes(f"left out: {reason}" for reason in getattr(result, "left_out", ()))
    if output.for_people:
        _print(state, getattr(result, "boards", (result,)))
    else:
        output.emit_records(result.ROW, result.rows)


def _print(state: State, boards: Sequence[Result]) -> None:
    """Boards one below the other; what their columns mean stands once."""
    shown: set[str] = set()
    meanings: dict[str, str] = {}
    for index, board in enumerate(boards):
        echo("\n" if index else "", nl=False)
        view = board.view(verbose=state.verbose)
        shown |= print_view(view, legend=len(boards) == 1)
        meanings |= {part.line: part.column for part in view.explained}
        state.notes(in_flags(AnyLeaderboard, note) for note in view.notes)
    if len(boards) > 1:
        lines = [line for line, column in meanings.items() if column in shown]
        for text in ("", *lines) if lines else ():
            print_text(text)
