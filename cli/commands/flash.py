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
from ..ui.table import echo, excerpt, number, percentage, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.reliability.anchors import AnchorReport
    from warehouse.analysis.reliability.flash import FlashReport


_NAME, _TEXT = 30, 40
#: Prompts that people see.
_SHOWN = 10


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
        output.give(report, lambda: print_report(report, checked), part="check" if checked else "rows")
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
        hide_empty=("text",),
        minor=("text",),
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


_ID, _BENCHMARK = 24, 20


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
    if ids:
        for row in report.anchors:
            echo(row.key)
    elif listed:
        output.give(report, lambda: _print_anchors(report), part="anchors")
    elif models:
        output.give(report, lambda: _print_models(report), part="models")
    else:
        output.give(report, lambda: _print_errors(report))
    state.notes((*report.notes, "anchors are biased by design: never report a score of theirs as the benchmark's"))


def _print_errors(report: AnchorReport) -> None:
    print_text(f"{report.one_line}.")
    print_text(
        f"{', '.join(report.benchmarks)}: {report.n_models} models, {report.n_items} prompts,"
        f" {report.model.upper()}; each model is estimated from anchors chosen without it. Errors in points of 100."
    )
    echo()
    print_rows(
        [
            {
                "prompts": row.n_items,
                "estimate": row.method.replace("_", "-"),
                "error": number(100 * row.error, 2),
                "se": number(None if row.se_error is None else 100 * row.se_error, 2),
                "bias": number(100 * row.bias, 2, sign=True),
                "largest": number(100 * row.largest, 1),
                "tau": number(row.tau, 3),
                "reversed": percentage(row.reversals),
                "among top 10": percentage(row.top_reversals),
                "seed sd": _pair(row.seed_sd, row.seed_sd_full, 100),
                "monotonicity": _pair(row.monotonicity, row.monotonicity_full, 1),
            }
            for row in report.rows
        ],
        hide_empty=("seed sd", "monotonicity", "se", "tau", "reversed", "among top 10"),
        minor=("se", "largest", "bias"),
    )
    if any(row.seed_sd is not None or row.monotonicity is not None for row in report.rows):
        print_text("seed sd and monotonicity: by the estimate, and on all prompts.")


def _print_models(report: AnchorReport) -> None:
    print_text(f"{report.one_line}.")
    print_text(
        f"Scores in points of 100, from {len(report.anchors)} anchors chosen without the model; its standard error,"
        " over prompts or anchors, in brackets: it knows nothing of the bias of anchors."
    )
    echo()
    rows: dict[str, dict[str, Any]] = {}
    for row in sorted(report.models, key=lambda row: row.method != "all"):
        error = "" if row.standard_error is None else f" ({100 * row.standard_error:.2f})"
        cells = rows.setdefault(row.model, {"model": excerpt(row.model, _NAME)})
        cells[row.method.replace("_", "-")] = f"{100 * row.estimate:.2f}{error}"
    order = {row.model: -row.estimate for row in report.models if row.method == "all"}
    print_rows([rows[model] for model in sorted(rows, key=order.__getitem__)], minor=("p-irt",))


def _pair(value: float | None, full: float | None, scale: float) -> str | None:
    return None if value is None or full is None else f"{scale * value:.2f} ({scale * full:.2f})"


def _print_anchors(report: AnchorReport) -> None:
    print_text(f"{report.one_line}.")
    echo()
    several = len({row.benchmark for row in report.anchors}) > 1
    print_rows(
        [
            {"prompt": row.prompt, "id": excerpt(row.key, _ID)}
            | ({"benchmark": excerpt(row.benchmark, _BENCHMARK)} if several else {})
            | {
                "weight": number(row.weight, 4),
                "stands for": row.n_items,
                "mean": number(row.mean_score, 2),
                "text": row.text,
            }
            for row in report.anchors
        ],
        hide_empty=("text",),
        minor=("text",),
    )
