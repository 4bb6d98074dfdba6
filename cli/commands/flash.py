"""``flash`` and ``anchors``: few prompts instead of all, and the error that this adds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from warehouse.questions.reliability import Anchors, Flash

from ..lazy_group import command
from ..state import State
from ..ui.options import draw, drawable, option, output_options, refuse_typed, typed, wants_picture
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import echo, print_view

if TYPE_CHECKING:
    from warehouse.analysis.reliability.anchors import AnchorReport
    from warehouse.analysis.reliability.flash import FlashReport


@command("flash")
@options_of(Flash)
@option("--ids", "Only the ids of the prompts to ask next in their dump, one a line.", is_flag=True)
@option("--check", "Every stored model ranked as if it were new.", is_flag=True)
@output_options
def flash(state: State, /, output: Output, ids: bool, check: bool, **options: Any) -> None:
    question = Flash.from_command(options, typed(options))
    if ids and question.model is None:
        raise click.UsageError("--ids goes with --model")
    if ids and not output.for_people:
        raise click.UsageError("give one of --ids, --json, --csv and --parquet")
    if ids or question.model is None:
        refuse_typed("goes with --model and the table: without a model it is shown anyway", "check")
    report: FlashReport = state.ask(question)
    checked = check or question.model is None
    if ids:
        for row in report.next_prompts:
            echo(row.key)
    else:
        output.give(report, lambda: print_view(report.view(check=checked)), part="check" if checked else "rows")
    state.notes(report.notes)


@command("anchors")
@options_of(Anchors)
@drawable
@option("--list", "The anchors of the largest size with their weights instead.", name="listed", is_flag=True)
@option("--ids", "Only their ids in the dump, one a line.", is_flag=True)
@output_options
def anchors(state: State, /, output: Output, listed: bool, ids: bool, models: bool, **options: Any) -> None:
    if ids and not output.for_people:
        raise click.UsageError("give one of --ids, --json, --csv and --parquet")
    if not (ids or listed):
        refuse_typed("chooses what --list and --ids show; the errors are those of all ways to choose", "by")
    if ids + listed + models > 1:
        raise click.UsageError("give one of --ids, --list and --models")
    report: AnchorReport = state.ask(Anchors(**options, models=models or wants_picture()))
    draw(report)
    view = report.view(listed=listed, models=models)
    part = "anchors" if listed else "models" if models else "rows"
    if ids:
        for row in report.anchors:
            echo(row.key)
    else:
        output.give(report, lambda: print_view(view), part=part)
    state.notes(view.notes)
