"""``subset``: a part of a benchmark instead of all of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.files import PLAN, SUBSET, write_output
from warehouse.questions.subsets import ExportSubset, ExtendSubset, ImportSubset, PlanSubset

from ..lazy_group import command, group
from ..state import State
from ..ui.options import option, output_options, typed
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced
from ..ui.questions import options_of
from ..ui.table import echo, number, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.subsets.exchange import Export
    from warehouse.analysis.subsets.plan import SubsetPlan, SubsetPlans

#: Columns that a narrow terminal does without, the first of them first.
MINOR = ("90 % gain", "history", "strata", "split", "against")

_out = option("-o --out FILE", "Write the plan to this file.", OutputFile(PLAN))


@group("subset")
def subset() -> None:
    pass


@command("subset plan", group=subset)
@options_of(PlanSubset)
@_out
@output_options
def plan(state: State, /, output: Output, out: Path | None, **options: Any) -> None:
    _give(state, PlanSubset.from_command(options, typed(options)).ask(state.opener()), output, out)


@command("subset import", group=subset)
@options_of(ImportSubset, path={"type": click.Path(exists=True, dir_okay=False, path_type=Path)})
@output_options
def import_(state: State, /, output: Output, **options: Any) -> None:
    _give(state, ImportSubset(**options).ask(state.opener()), output, None)


@command("subset extend", group=subset)
@options_of(ExtendSubset)
@_out
@output_options
def extend(state: State, /, output: Output, out: Path | None, **options: Any) -> None:
    _give(state, ExtendSubset(**options).ask(state.opener()), output, out)


@command("subset export", group=subset)
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
    output.answer(PlanPrompt, [row for plan in plans.rows for row in plan.rows], lambda: _print(plans, out))
    state.notes(plans.notes)
    for plan in plans.rows:
        state.notes(f"{plan.benchmark}: {note}" for note in plan.notes)


def _print(plans: SubsetPlans, out: Path | None) -> None:
    print_text(f"Ask {plans.one_line}.")
    print_text(_expected(plans))
    echo()
    print_rows([_cells(plan) for plan in plans.rows], hide_empty=("split", "against"), minor=MINOR)
    echo()
    first = plans.rows[0]
    print_text(
        "gain: variance of as many prompts at random over that of these, for stored models, each predicted"
        " by the others."
    )
    name = str(out) if out is not None else first.key
    if out is None and any(note.startswith("not stored") for note in plans.notes):
        return
    print_text(f"Next: warehouse subset export {name} --to {_harness(first)}; after the run, ingest it as ever.")


def _expected(plans: SubsetPlans) -> str:
    models = plans.rows[0].n_left_out
    if plans.width is None:
        return "No stored model has all prompts: how wide the interval will be is not known."
    what = f"mean over {len(plans.rows)} benchmarks" if plans.suite else "figure of the whole benchmark"
    return (
        f"The {100 * plans.level:g} % interval of the {what} is then expected to be {plans.width:.3g} wide,"
        f" ±{plans.width / 2:.2g} (median of {models} stored models, each left out)."
    )


def _cells(plan: SubsetPlan) -> dict[str, Any]:
    return {
        "benchmark": plan.benchmark,
        "split": plan.split,
        "plan": plan.key,
        "ask": plan.size,
        "of": plan.n_prompts,
        "strata": plan.design.n_strata,
        "history": len(plan.history),
        "against": plan.baseline,
        "width": number(plan.width, 4),
        "gain": number(plan.gain, 2),
        "90 % gain": number(plan.gain_least, 2),
    }


def _harness(plan: SubsetPlan) -> str:
    harnesses = {"lm_eval": "lm-eval", "inspect": "inspect", "helm": "helm", "lighteval": "lighteval"}
    return next((name for part, name in harnesses.items() if part in plan.harness.lower()), "csv")
