"""``flash``: a model ranked with as few prompts as its place needs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.flash.question import Flash

from ..lazy_group import command
from ..state import State
from ..ui.options import option, output_options, refuse_typed, typed
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import echo, print_view

if TYPE_CHECKING:
    from warehouse.analysis.flash.answer import FlashReport


@command("subset flash")
@options_of(Flash)
@option(
    "--ids",
    "Only the ids of the prompts to ask next in their dump, one a line.",
    is_flag=True,
)
@option("--check", "Every stored model ranked as if it were new.", is_flag=True)
@output_options
def flash(
    state: State, /, output: Output, ids: bool, check: bool, **options: Any
) -> None:
    question = Flash.from_command(options, typed(options))
    if ids and question.model is None:
        raise click.UsageError("--ids goes with --model")
    if ids and not output.for_people:
        raise click.UsageError("give one of --ids, --json, --csv and --parquet")
    if ids or question.model is None:
        refuse_typed(
            "goes with --model and the table: without a model it is shown anyway",
            "check",
        )
    report: FlashReport = state.ask(question)
    checked = check or question.model is None
    if ids:
        for row in report.next_prompts:
            echo(row.key)
    else:
        output.give(
            report,
            lambda: print_view(state.view_of(partial(report.view, check=checked))),
            part="check" if checked else "rows",
        )
    state.notes(report.notes)
