"""``answers``: answers held against targets, of all models, of one, of two."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.answers.question import AnswerMetrics

from ..lazy_group import command
from ..state import State
from ..ui.options import draw, drawable, option, output_options, typed
from ..ui.output import Output
from ..ui.questions import options_of

if TYPE_CHECKING:
    from warehouse.analysis.answers.view import AnswerReport


@command("answers")
@options_of(AnswerMetrics)
@option(
    "--confusion", "Of one model: its counts alone, target by answer.", is_flag=True
)
@drawable
@output_options
def answer_metrics(
    state: State, /, output: Output, confusion: bool, **options: Any
) -> None:
    question = AnswerMetrics.from_command(options, typed(options))
    if confusion and len(question.models) != 1:
        raise click.UsageError("--confusion is of one model: name it")
    report: AnswerReport = state.ask(question)
    draw(report)
    if confusion and not report.confusion:
        raise click.UsageError("--confusion is of classes, and these are numbers")
    part = "rows"
    if report.differences:
        part = "differences"
    elif confusion:
        part = "confusion"
    if not output.for_people:
        output.emit_records(report.kind_of(part), getattr(report, part))
        return state.notes(report.all_notes)
    if confusion:
        state.show(report.confusion_view())
    else:
        state.show(report.view(verbose=state.explains))
