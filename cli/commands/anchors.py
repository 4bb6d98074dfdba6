"""``anchors``: a few prompts for all, and the error that this adds."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.anchors.question import Anchors

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import (
    draw,
    drawable,
    option,
    output_options,
    refuse_typed,
    wants_picture,
)
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import echo, print_view

if TYPE_CHECKING:
    from warehouse.analysis.anchors.answer import AnchorReport


@command("subset anchors")
@options_of(Anchors)
@drawable
@option(
    "--list",
    "The anchors of the largest size with their weights instead.",
    name="listed",
    is_flag=True,
)
@option("--ids", "Only their ids in the dump, one a line.", is_flag=True)
@output_options
def anchors(
    state: State,
    /,
    output: Output,
    listed: bool,
    ids: bool,
    models: bool,
    **options: Any,
) -> None:
    if ids and not output.for_people:
        raise click.UsageError("give one of --ids, --json, --csv and --parquet")
    if not (ids or listed):
        refuse_typed(
            "chooses what --list and --ids show; the errors are those of all ways to "
            "choose",
            "by",
        )
    if ids + listed + models > 1:
        raise click.UsageError("give one of --ids, --list and --models")
    question = Anchors(**options, models=models or wants_picture())
    report: AnchorReport = state.ask(question)
    draw(report)
    view = state.view_of(partial(report.view, listed=listed, models=models))
    if listed:
        part = "anchors"
    elif models:
        part = "models"
    else:
        part = "rows"
    if ids:
        for row in report.anchors:
            echo(row.key)
    else:
        output.give(report, lambda: print_view(view), part=part)
    state.notes(view.notes)
    if not (ids or listed or models):
        say_next(state, output, report, question)
