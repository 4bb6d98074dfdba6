"""The command of a question that needs nothing beside its own options: asked, shown,
and what one would ask next."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from warehouse.questions.registry import question_of

from .lazy_group import command
from .state import State
from .ui.next_step import say_next
from .ui.options import draw, drawable, output_options, typed
from .ui.output import Output
from .ui.questions import options_of

if TYPE_CHECKING:
    import click

    from warehouse.analysis.results import Result

    from .command_table import CommandEntry


def command_of(entry: CommandEntry) -> click.Command:
    """The command that asks a question of the registry.

    Raises:
        WarehouseError: the question of another package does not load.
    """
    question = question_of(entry.name)

    def ask(state: State, /, output: Output, **options: Any) -> None:
        asked = question.from_command(options, typed(options))
        result: Result = (
            asked.ask(state.opener()) if question.OPENS else state.ask(asked)
        )
        if question.IS_DRAWN:
            draw(result)
        state.give(output, result, partial(state.view_of, result.view))
        say_next(state, output, result, asked)

    shown = output_options(ask)
    if question.IS_DRAWN:
        shown = drawable(shown)
    return command(entry.name, entry=entry)(options_of(question)(shown))
