"""``subset``: a part of a benchmark instead of all of it."""

from __future__ import annotations

from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.subsets.question import (
    ExportSubset,
    ExtendSubset,
    ImportSubset,
    PlanSubset,
)
from warehouse.files import PLAN, SUBSET, write_output

from ..lazy_group import command
from ..state import State
from ..ui.options import option, output_options, typed
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced
from ..ui.questions import options_of
from ..ui.table import echo, print_view

if TYPE_CHECKING:
    from warehouse.analysis.subsets.exchange import Export
    from warehouse.analysis.subsets.plan import SubsetPlans


_out = option("-o --out FILE", "Write the plan to this file.", OutputFile(PLAN))


@command("subset plan")
@options_of(PlanSubset)
@_out
@output_options
def plan(state: State, /, output: Output, out: Path | None, **options: Any) -> None:
    _give(
        state,
        PlanSubset.from_command(options, typed(options)).ask(state.opener()),
        output,
        out,
    )


@command("subset import")
@options_of(
    ImportSubset, path={"type": click.Path(exists=True, dir_okay=False, path_type=Path)}
)
@output_options
def import_(state: State, /, output: Output, **options: Any) -> None:
    _give(state, ImportSubset(**options).ask(state.opener()), output, None)


@command("subset extend")
@options_of(ExtendSubset)
@_out
@output_options
def extend(state: State, /, output: Output, out: Path | None, **options: Any) -> None:
    _give(state, ExtendSubset(**options).ask(state.opener()), output, out)


@command("subset export")
@options_of(ExportSubset)
@option("-o --out FILE", "Write to this file.", OutputFile(SUBSET))
def export(state: State, /, out: Path | None, **options: Any) -> None:
    exported = _exported(state, ExportSubset(**options))
    if out is None:
        echo(exported.text, nl=False)
    else:
        write_output(out, exported.text.encode(), SUBSET, force=forced())
    state.notes(exported.notes)


def _exported(state: State, question: ExportSubset) -> Export:
    """A plan file needs no store."""
    from warehouse.analysis.subsets.exchange import export_plans
    from warehouse.analysis.subsets.plan import read_plans

    if Path(question.plan).exists():
        return export_plans(read_plans(Path(question.plan)), question.to)
    exported: Export = state.ask(question)
    return exported


def _give(state: State, plans: SubsetPlans, output: Output, out: Path | None) -> None:
    from warehouse.analysis.subsets.plan import PlanPrompt

    if out is not None:
        write_output(out, plans.content, PLAN, force=forced())
    written = None if out is None else str(out)
    view = state.view_of(partial(plans.view, out=written))
    output.answer(
        PlanPrompt,
        list(chain.from_iterable(plan.rows for plan in plans.rows)),
        lambda: print_view(view),
    )
    state.notes(view.notes)
