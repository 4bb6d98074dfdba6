"""``judge``: a judge held against people; how many labels of people, and of which
answers."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.judge.question import HeldAgainstPeople, NextLabels, PlanLabels
from warehouse.files import SHEET, write_output

from ..command_table import names_below
from ..lazy_group import CommandGroup, command, group
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import draw, drawable, length_options, option, output_options, typed
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced
from ..ui.questions import options_of
from ..ui.table import print_view, rows_wanted

if TYPE_CHECKING:
    from warehouse.analysis.judge.next import LabelWave
    from warehouse.analysis.judge.plan import LabelPlans
    from warehouse.analysis.judge.view import JudgeReport


class JudgeGroup(CommandGroup):
    """Whatever is no subcommand is the benchmark, or an option, of ``judge agreement``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].startswith("-") and args[0] not in ctx.help_option_names:
            args = [agreement.name or "", *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] in names_below("judge"):
            return super().resolve_command(ctx, args)
        return agreement.name, agreement, args


@group("judge", cls=JudgeGroup)
def judge() -> None:
    pass


@command("judge agreement")
@options_of(HeldAgainstPeople)
@length_options
@drawable
@output_options
def agreement(state: State, /, output: Output, top: int | None, **options: Any) -> None:
    from warehouse.analysis.judge.corrected import CorrectedRow
    from warehouse.analysis.judge.rows import JudgeRow

    question = HeldAgainstPeople.from_command(options, typed(options))
    report: JudgeReport = state.ask(question)
    draw(report)
    if output.for_people:
        state.show(state.view_of(partial(report.view, top=rows_wanted(top))))
    elif report.differences and question.models:
        output.emit_records(CorrectedRow, report.differences)
        state.notes(report.notes)
    else:
        output.emit_records(JudgeRow, report.rows)
        state.notes((*report.of_the_judge, *report.notes))
    say_next(state, output, report, question)


@command("judge next")
@options_of(NextLabels, only=("judge",))
@options_of(NextLabels, without=("judge",))
@option(
    "--out FILE",
    "Write the sheet that people fill in there, as CSV.",
    OutputFile(SHEET),
)
@output_options
def next_(state: State, /, output: Output, out: Path | None, **options: Any) -> None:
    question = NextLabels.from_command(options, typed(options))
    if question.dry_run and out is not None:
        raise click.UsageError("--dry-run writes nothing, so no --out either")
    if question.n is None and out is None:
        raise click.UsageError(
            "say how many prompts to draw (--n K), or where the sheet of those drawn "
            "goes (--out FILE)"
        )
    wave: LabelWave = question.ask(state.opener())
    if out is not None:
        write_output(out, wave.sheet_csv().encode(), SHEET, force=forced())
    output.give(
        wave, lambda: print_view(wave.view(out=None if out is None else str(out)))
    )
    state.notes(wave.notes)


@command("judge plan")
@options_of(PlanLabels, only=("judge",))
@options_of(PlanLabels, without=("judge",))
@output_options
def plan(state: State, /, output: Output, **options: Any) -> None:
    question = PlanLabels.from_command(options, typed(options))
    plans: LabelPlans = state.ask(question)
    output.give(plans, lambda: print_view(state.view_of(plans.view)))
    state.notes(plans.notes)
    say_next(state, output, plans, question)
    if all(row.n_labels is None for row in plans.rows):
        raise click.exceptions.Exit(1)
