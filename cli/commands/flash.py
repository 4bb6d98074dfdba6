"""``flash``: rank a model on a suite with as few prompts as its place needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from warehouse.questions.reliability import Flash

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import output_options, refuse_typed, typed
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import echo, excerpt, number, percentage, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.reliability.flash import FlashReport

_NAME, _TEXT = 30, 40
#: Prompts that people see.
_SHOWN = 10


@command("flash")
@options_of(Flash)
@click.option("--ids", is_flag=True, help="Only the ids of the prompts to ask next in their dump, one a line.")
@click.option("--check", is_flag=True, help="Every stored model ranked as if it were new.")
@output_options
@pass_state
def flash(state: State, /, output: Output, ids: bool, check: bool, **options: Any) -> None:
    from warehouse.analysis.reliability.results import FlashModelRow, FlashStepRow

    question = Flash.said(options, typed(options))
    if ids and question.model is None:
        raise click.UsageError("--ids goes with --model")
    if ids and not output.for_people:
        raise click.UsageError("give one of --ids, --json, --csv and --parquet")
    if ids or question.model is None:
        refuse_typed("goes with --model and the table: without a model it is shown anyway", "check")
    with state.open() as store:
        report: FlashReport = question.ask(store)
    checked = check or question.model is None
    if ids:
        for row in report.next_prompts:
            echo(row.key)
    elif not output.for_people:
        output.emit_records(*((FlashModelRow, report.check) if checked else (FlashStepRow, report.rows)))
    else:
        print_report(report, checked)
    state.notes(report.notes)


def print_report(report: FlashReport, checked: bool) -> None:
    """The answer of a model, and how well the rule did on those that are stored."""
    print_text(f"{report.one_line}.")
    if report.model:
        _print_model(report)
    if checked:
        _print_check(report)
    elif report.mean_error is not None:
        print_text(
            f"Ranked as if new, the {report.n_models} stored models end {report.mean_error:.2g} places from their"
            f" full rank on average, with {report.mean_saving:.3g} times fewer prompts (--check)."
        )


def _print_model(report: FlashReport) -> None:
    echo()
    print_rows(
        [
            {
                "prompts": row.n_prompts,
                "a scenario": "all" if row.size is None else row.size,
                "rank": row.rank,
                "±": row.resolution,
                "ranks": f"{row.best_rank}-{row.worst_rank}",
                "enough for ranks from": row.tier,
                "enough": row.is_enough,
            }
            for row in report.rows
        ],
        empty="no step is answered yet",
    )
    echo()
    if report.is_settled:
        saved = f"That is {report.saving:.3g} times fewer prompts than all."
        print_text("All prompts were needed." if report.saving == 1 else saved)
        return
    size = "all prompts" if report.next_size is None else f"{report.next_size} prompts of each scenario"
    print_text(f"Next come {len(report.next_prompts)} prompts, up to {size} (--ids lists them in order):")
    print_rows(
        [
            {
                "scenario": excerpt(row.scenario, _NAME),
                "prompt": row.prompt,
                "id": excerpt(row.key, _NAME),
                "text": excerpt(row.text, _TEXT),
            }
            for row in report.next_prompts[:_SHOWN]
        ],
        needless=("text",),
        spare=("text",),
    )
    echo()


def _print_check(report: FlashReport) -> None:
    echo()
    if not report.check:
        print_text(f"No check: {report.no_check}.")
        return
    print_rows(
        [
            {"a scenario": "all" if size is None else size, "±": within, "enough for ranks from": tier}
            | {"stops here": percentage(share)}
            for size, within, tier, share in zip(
                report.sizes, report.resolutions, report.tiers, report.stopped, strict=True
            )
        ]
    )
    echo()
    print_rows(
        [
            {
                "rank": row.rank,
                "model": excerpt(row.model, _NAME),
                "mean error": number(row.mean_error, 2),
                "largest": round(row.largest_error),
                "within ± early": percentage(row.within_early),
                "prompts": round(row.n_prompts),
                "saving": number(row.saving, 1),
            }
            for row in report.check
        ]
    )
