"""``datamap``: how often correct, how consistent, and which targets may be wrong."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.datamap.question import MapPrompts

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import option, output_options
from ..ui.output import Output
from ..ui.questions import level_option, options_of

if TYPE_CHECKING:
    from warehouse.analysis.datamap.view import DataMap


@command("items datamap")
@options_of(MapPrompts, without=("level",))
@option("--suspects", "Rows of suspected label errors only.", is_flag=True)
@option("--distribution", "Rows of the distribution of P(correct) only.", is_flag=True)
@level_option
@output_options
def datamap(
    state: State, /, suspects: bool, distribution: bool, output: Output, **options: Any
) -> None:
    from ..ui.progress import share

    if suspects and distribution:
        raise click.UsageError("give one of --suspects and --distribution")
    with share(state.quiet, "grouping generations") as bar:
        question = MapPrompts(**options, progress=bar)
        mapped: DataMap = question.ask(state.opener())
    if distribution:
        part = "distribution"
    elif suspects:
        part = "suspects"
    else:
        part = "rows"
    if output.for_people:
        view = partial(mapped.view, suspects=suspects, distribution=distribution)
        state.show(state.view_of(view))
        say_next(state, output, mapped, question)
    else:
        output.emit_records(mapped.kind_of(part), getattr(mapped, part))
        state.notes(mapped.notes)
