"""``formulations``: whether another formulation of a benchmark ranks models alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.formulations.question import Formulations
from warehouse.tables.view import View, legend

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import option, output_options
from ..ui.output import Output
from ..ui.questions import options_of

if TYPE_CHECKING:
    from warehouse.analysis.formulations.view import FormulationsReport


@command("noise formulations")
@options_of(Formulations)
@option("--models", "All models: figures, paired differences, ranks.", is_flag=True)
@option("--crossings", "All pairs of models that change places.", is_flag=True)
@output_options
def formulations(
    state: State, /, output: Output, models: bool, crossings: bool, **options: Any
) -> None:
    from warehouse.analysis.formulations import view as words

    if models and crossings:
        raise click.UsageError("give one of --models and --crossings")
    question = Formulations(**options)
    report: FormulationsReport = state.ask(question)
    if not output.for_people:
        if models:
            part = "models"
        elif crossings:
            part = "crossings"
        else:
            part = "rows"
        output.emit_records(report.kind_of(part), getattr(report, part))
        return state.notes(report.notes)
    view = state.view_of(report.view)
    if models or crossings:
        if models:
            table = words.models_table(report)
        else:
            table = words.crossings_table(report)
        view = View((report.one_line, "", table, *legend(words.MODELS)), report.notes)
    state.show(view)
    say_next(state, output, report, question)
