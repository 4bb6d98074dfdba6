"""``judge plan`` and ``judge next``: how many labels of people, and of which answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.files import SHEET, write_output
from warehouse.questions.labels import NextLabels, PlanLabels

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import option, output_options, typed
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced
from ..ui.questions import options_of
from ..ui.table import echo, interval, number, percentage, print_legend, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.judges.next import LabelWave
    from warehouse.analysis.judges.plan import LabelPlans


@command("judge next")
@options_of(NextLabels, only=("judge",))
@options_of(NextLabels, without=("judge",))
@option("--out FILE", "Write the sheet that people fill in there, as CSV.", OutputFile(SHEET))
@output_options
def next_(state: State, /, output: Output, out: Path | None, **options: Any) -> None:
    question = NextLabels.from_command(options, typed(options))
    if question.dry_run and out is not None:
        raise click.UsageError("--dry-run writes nothing, so no --out either")
    if question.n is None and out is None:
        raise click.UsageError(
            "say how many prompts to draw (--n K), or where the sheet of those drawn goes (--out FILE)"
        )
    wave: LabelWave = question.ask(state.opener())
    if out is not None:
        write_output(out, wave.sheet_csv().encode(), SHEET, force=forced())
    output.give(wave, lambda: _print_wave(wave, question.n is not None, out))
    state.notes(wave.notes)


def _print_wave(wave: LabelWave, is_new: bool, out: Path | None) -> None:
    row, answers = wave.rows[0], len(wave.sheet)
    if is_new:
        verb = "are drawn" if wave.written else "would be drawn"
        chance = f"{number(row.probability, 3)}{' on average' * (len(wave.rows) > 1)}"
        of = f"{len(wave.models)} model{'s' * (len(wave.models) != 1)}"
        print_text(
            f"{row.n_new} prompts {verb} (wave {wave.wave}), with the answers of {of} to label: {row.n_drawn} of"
            f" {row.n_prompts} in all, each by a chance of {chance}."
        )
        strata = [
            {"scores from": number(float(stratum.stratum), 3), "prompts": stratum.n_prompts, "drawn": stratum.n_drawn,
             "new": stratum.n_new, "chance": number(stratum.probability, 3)} for stratum in wave.rows[1:]
        ]  # fmt: skip
        if strata:
            print_rows(strata)
    if out is not None:
        print_text(
            f"{out} has {answers} answers; fill in the column label (empty: not judged), then:"
            f" warehouse ingest {out} --map label_sheet"
        )
    elif wave.written:
        print_text("They are written down; --out FILE, without --n, writes their sheet.")


@command("judge plan")
@options_of(PlanLabels, only=("judge",))
@options_of(PlanLabels, without=("judge",))
@output_options
def plan(state: State, /, output: Output, **options: Any) -> None:
    question = PlanLabels.from_command(options, typed(options))
    plans: LabelPlans = state.ask(question)
    output.give(plans, lambda: _print_plans(plans))
    state.notes(plans.notes)
    say_next(state, output, plans, question)
    if all(row.n_labels is None for row in plans.rows):
        raise click.exceptions.Exit(1)


def _print_plans(plans: LabelPlans) -> None:
    chance = "" if plans.difference is None else f", found with chance {plans.power:g}"
    print_text(f"{plans.benchmark}, judged by {plans.judge}: {plans.one_line}{chance}.")
    echo()
    cells = [
        {
            "model": row.model_a,
            "against": row.model_b,
            "judged": row.n_units,
            "labels": row.n_labels,
            "alone": row.n_labels_alone,
            "saved": percentage(row.saved),
            "rho": number(row.correlation, 2),
            f"{100 * plans.level:g}%": interval(row.low, row.high, 2),
            "labels by it": _span(row.n_labels_high, row.n_labels_low) if row.low is not None else None,
            "sd": number(row.sd, 3),
            "at hand": row.n_pilot,
            "at least": number(row.least_width, 3),
            "flags": row.flags,
        }
        for row in plans.rows
    ]
    hidden = ("against", "saved", f"{100 * plans.level:g}%", "labels by it", "flags")
    shown = print_rows(cells, hide_empty=hidden, minor=("at least", "sd", "at hand", "judged"))
    least = "width of the interval" if plans.difference is None else "difference that is found"
    print_legend(
        {
            "labels": "that people have to give, the judge helping; none: not even all answers suffice",
            "alone": "labels that it takes without the judge",
            "rho": f"correlation of judge and people{' (supposed)' if not plans.human else ''}; it saves rho^2 at most",
            "labels by it": "with the correlation at the ends of its interval; none: all do not suffice",
            "at least": f"{least} with every answer labelled",
        },
        shown,
    )
    if any("weak_judge" in row.flags for row in plans.rows):
        print_text("weak_judge: a correlation up to .3 narrows an interval by 5 % at most; the judge hardly helps")
    if any("few_labels" in row.flags for row in plans.rows):
        print_text("few_labels: with fewer than 20 labels the figure is that of the labels alone")
    if lacking := [row for row in plans.rows if row.reason]:
        who = " against ".join(filter(None, (lacking[0].model_a, lacking[0].model_b)))
        more = f" ({len(lacking) - 1} more likewise)" if len(lacking) > 1 else ""
        print_text(f"no number for {who}: {lacking[0].reason}{more}")


def _span(low: int | None, high: int | None) -> str:
    return f"{'none' if low is None else low} to {'none' if high is None else high}"
