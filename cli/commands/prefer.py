"""``prefer``: which models are preferred, by votes on pairs of answers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from warehouse.analysis.prefer.question import Prefer
from warehouse.errors import MisuseError

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import (
    draw,
    drawable,
    length_options,
    option,
    output_options,
    refuse_typed,
    typed,
)
from ..ui.output import Output
from ..ui.questions import in_flags, options_of
from ..ui.table import print_view, rows_wanted

if TYPE_CHECKING:
    from warehouse.analysis.prefer.view import PreferenceReport


@command("prefer")
@options_of(Prefer)
@option("--elo", "Show strengths as points of Elo.", is_flag=True)
@option(
    "--handful",
    "How few votes (voters, prompts) are enough for another model to be first.",
    name="carried_by",
    is_flag=True,
)
@length_options
@drawable
@output_options
def prefer(
    state: State,
    /,
    elo: bool,
    carried_by: bool,
    top: int | None,
    output: Output,
    **options: Any,
) -> None:
    question = Prefer.from_command(options, typed(options))
    if carried_by:
        return _carried_by(state, output, question)
    report: PreferenceReport = state.ask(question)
    draw(report)
    if elo and not output.for_people:
        raise MisuseError("these rows have the Elo anyway: leave out --elo")
    view = state.view_of(partial(report.view, elo=elo, top=rows_wanted(top)))
    output.give(report, lambda: print_view(view))
    if output.for_people:
        notes = view.notes
    else:
        notes = report.notes
    state.notes(in_flags(Prefer, note) for note in notes)
    say_next(state, output, report, question)


def _carried_by(state: State, output: Output, question: Prefer) -> None:
    """How few votes carry the first place, in place of the strengths."""
    from warehouse.analysis.handful.question import PreferHandful

    unused = "changes nothing of what a place rests on: leave out it or --handful"
    refuse_typed(unused, "elo", "top", "svg")
    found = state.ask(question.only(PreferHandful, unused))
    state.give(output, found, lambda: found.view(verbose=state.explains))
