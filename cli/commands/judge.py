"""``judge``: a judge held against people; how many labels of people, and of which answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.files import SHEET, write_output
from warehouse.questions.labels import ASSUMPTION, HeldAgainstPeople, NextLabels, PlanLabels
from warehouse.tables.words import reasons

from ..lazy_group import CommandGroup, command, group
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import draw, drawable, option, output_options, typed
from ..ui.output import Output
from ..ui.output_files import OutputFile, forced
from ..ui.questions import options_of
from ..ui.table import echo, interval, level_column, number, percentage, print_legend, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.judges.agreement import JudgeReport, JudgeRow
    from warehouse.analysis.judges.corrected import CorrectedRow
    from warehouse.analysis.judges.next import LabelWave
    from warehouse.analysis.judges.plan import LabelPlans
    from warehouse.analysis.judges.votes import OrderEffect
    from warehouse.stats import AgreementFigure, BiasFigure, GradersAgreement, JudgeAgreement

#: From which correlation on a judge saves more than a twentieth of the width.
HELPS_FROM = 0.3


class JudgeGroup(CommandGroup):
    """Whatever is no subcommand is the benchmark, or an option, of ``judge agreement``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0].startswith("-") and args[0] not in ctx.help_option_names:
            args = [agreement.name or "", *args]
        return super().parse_args(ctx, args)

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        return agreement.name, agreement, args


@group("judge", cls=JudgeGroup)
def judge() -> None:
    pass


@command("judge agreement", group=judge)
@options_of(HeldAgainstPeople)
@drawable
@output_options
def agreement(state: State, /, output: Output, **options: Any) -> None:
    from warehouse.analysis.judges.agreement import JudgeRow
    from warehouse.analysis.judges.corrected import CorrectedRow

    question = HeldAgainstPeople.from_command(options, typed(options))
    report: JudgeReport = state.ask(question)
    draw(report)
    if output.for_people:
        _print(report, state)
    elif report.differences and question.models:
        output.emit_records(CorrectedRow, report.differences)
    else:
        output.emit_records(JudgeRow, report.rows)
        state.notes([_order(order) for order in (report.order,) if order])
        state.notes([_preference(preference) for preference in (report.self_preference,) if preference])
    state.notes(report.notes)
    say_next(state, output, report, question)


#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("κ interval", "below", "above", "prompts", "judged", "condition", "p", "joint p")
_AGREE = {
    "agree": "share on which judge and people say the same; intervals by prompts",
    "κ": "Cohen's kappa: falls where one answer is frequent",
    "AC1": "Gwet's: does not; read both",
    "above": "share on which the judge scores above people",
    "bias": "mean of judge minus people",
    "joint p": "of no bias, for all models at once",
}
_CORRECTED = {
    "judge": "its mean over all answers",
    "labels": "people's mean over those that they labelled",
    "corrected": "what people would say of all, by both",
    "λ": "how far the judge is believed, 0 to 1",
    "r": "correlation of judge and people",
    "width": "of the interval, to that of the labels alone",
}
_FLAGS = {
    "labels_not_random": "not drawn by known chance: no mean is corrected",
    "unscored": "the judge has no score of some answers: all figures are of the others",
    "other_prompts": "two models were labelled on different prompts: errors are added",
    "labels_only": "the labels alone, see the notes",
    "labels_missing": "answers were drawn that have no label",
    "labels_outside": "labels of answers that were not drawn do not count",
    "strata_lost": "the judge's scores no longer give the strata of the draw: labels count by their chances",
    "pooled_weight": "λ of all models together: fewer than 50 labels",
    "few_clusters": "fewer than 20 prompts or clusters: intervals may be short",
    "few_units": "fewer than 10 answers that both have judged: no errors",
    "one_category": "all that was said is alike",
    "few_disagreements": "fewer than 5 labelled answers on which they differ",
    "judge_against_people": "the judge goes against people, and is not used",
}


def _print(report: JudgeReport, state: State) -> None:
    print_text(report.one_line)
    echo()
    _print_agreement(report)
    if report.agreement is not None and (words := _other_measures(report.agreement)):
        print_text(f"of all: {', '.join(words)}")
    if report.graders is not None:
        print_text(_graders(report.graders, report.grader_names))
    if report.order is not None:
        print_text(_order(report.order))
    if report.self_preference is not None:
        print_text(_preference(report.self_preference))
    if any(row.label_estimate is not None and row.estimate is not None for row in report.rows):
        _print_corrected(report)
    for difference in report.differences:
        print_text(_difference(difference))
    if report.sample is not None:
        _print_rates(report)
    for flag, meaning in _FLAGS.items():
        if any(flag in row.flags for row in report.rows):
            print_text(f"{flag}: {meaning}")
    state.notes(reasons((row, row.reason) for row in report.rows[1:] if "labels_not_random" not in row.flags))


def _other_measures(agreement: JudgeAgreement) -> list[str]:
    more = ("kappa_", "alpha_") if len(agreement.categories) > 2 else ("alpha_nominal",)  # of two all are alike
    others = [figure for figure in agreement.figures if figure.measure.startswith(more)]
    return [
        f"{figure.measure.replace('_', ' ')} {figure.estimate:.3f}" for figure in others if figure.estimate is not None
    ]


def _graders(graders: GradersAgreement, names: Sequence[str]) -> str:
    """Krippendorff's α of all graders, in a sentence."""
    figures = [
        f"{figure.measure.removeprefix('alpha_')} {figure.estimate:.3f}{_of(figure)}"
        for figure in graders.figures
        if figure.estimate is not None
    ]
    why = next((figure.reason for figure in graders.figures if figure.reason), "")
    said = ", ".join(figures) or f"none, {why}"
    return (
        f"Krippendorff's alpha of {graders.n_graders} graders ({', '.join(names)}) on {graders.n_units} answers: {said}"
    )


def _of(figure: AgreementFigure) -> str:
    return "" if figure.low is None else f" {interval(figure.low, figure.high, 2)}"


def _print_agreement(report: JudgeReport) -> None:
    """By model, all of them first."""
    rows = [
        {
            "model": row.model or "all",
            "condition": row.condition,
            "judged": row.n_units,
            "labels": row.n_labels,
            "prompts": row.n_prompts,
            "agree": number(row.agreement, 3),
            level_column(row.level): interval(row.agreement_low, row.agreement_high, 2),
            "κ": number(row.kappa, 2),
            "κ interval": interval(row.kappa_low, row.kappa_high, 2),
            "AC1": number(row.ac1, 2),
            "above": number(row.judge_above, 2),
            "below": number(row.judge_below, 2),
            "bias": number(row.bias, 3),
            "p": number(row.bias_p, 3),
            "joint p": number(row.bias_p_simultaneous, 3),
        }
        for row in report.rows
    ]
    shown = print_rows(rows, hide_empty=("condition", "bias", "p", "joint p", "above", "below"), minor=_MINOR)
    echo()
    print_legend(_AGREE, shown)


def _print_corrected(report: JudgeReport) -> None:
    echo()
    rows = [
        {
            "model": row.model,
            "condition": row.condition,
            "judge": number(row.judge_estimate, 3),
            "labels": number(row.label_estimate, 3),
            "n": row.n_labels,
            "corrected": number(row.estimate, 3),
            level_column(row.level): interval(row.low, row.high, 3),
            "λ": number(row.weight, 2),
            "r": number(row.correlation, 2),
            "width": number(row.width_ratio, 2),
            "flags": row.flags,
        }
        for row in report.rows[1:]
        if row.label_estimate is not None
    ]
    shown = print_rows(rows, hide_empty=("condition", "flags"), minor=("condition", "λ", "flags", "r"))
    echo()
    print_legend(_CORRECTED, shown)
    for line in dict.fromkeys(filter(None, map(_gain, report.rows[1:]))):
        print_text(line)


def _gain(row: JudgeRow) -> str:
    """What the judge brings, in a sentence; empty where it was not used: a note has the reason."""
    if row.estimate is None or row.width_ratio is None or "labels_only" in row.flags:
        return ""
    if row.correlation is not None and row.correlation < HELPS_FROM:
        return f"{row.model}: no gain: correlation {row.correlation:.2f}."
    if row.width_ratio >= 0.995:
        return f"{row.model}: no gain: the interval is as wide as that of the labels."
    words = f"{row.model}: the interval is {1 - row.width_ratio:.0%} narrower than the labels'"
    again = "" if row.repeat_sd is None else f"; asked again, the judge would move the figure by {row.repeat_sd:.2g}"
    flips = "" if row.flip_rate is None else f", and two of its verdicts differ in {row.flip_rate:.0%}"
    return f"{words}{again}{flips}."


def _difference(row: CorrectedRow) -> str:
    ends = "no interval" if row.low is None else f"[{row.low:.3f}, {row.high:.3f}]"
    exact = "" if row.mcnemar_p is None else f", McNemar's exact p {row.mcnemar_p:.3g}"
    p = "" if row.p_value is None else f", p {row.p_value:.3g}"
    label = "" if row.label_estimate is None else f", labels {row.label_estimate:+.3f}"
    why = f" ({row.reason})" if row.reason else ""
    return (
        f"{row.model_a} - {row.model_b}: judge {row.judge_estimate:+.3f}{label}, corrected {row.estimate:+.3f}"
        f" {ends}{p}{exact}; {row.n_labels} of {row.n_units} prompts labelled for both{why}."
    )


def _order(order: OrderEffect) -> str:
    said = "; ".join(f"{name} first: agrees with people on {right} of {n}" for name, n, right in order.in_order)
    return (
        f"In both orders: {order.n_both} pairs, the verdict changes in {order.n_changed} (for the first shown"
        f" {order.first_both}, for the second {order.second_both}; p {order.p_value:.2g}). {said}; right both times"
        f" {order.n_both_right}."
    )


def _preference(figure: BiasFigure) -> str:
    if figure.low is None or figure.high is None:
        return f"Its own family: favoured by {figure.estimate:+.3f} over the others; {figure.reason}."
    return (
        f"Its own family is favoured by {figure.estimate:+.3f} [{figure.low:.3f}, {figure.high:.3f}] over the others"
        f" (p {figure.p_value:.2g})."
    )


def _print_rates(report: JudgeReport) -> None:
    sample = report.sample
    assert sample is not None
    echo()
    print_text(
        f"In the sample the judge finds {sample.sensitivity:.1%} of what is right and rejects"
        f" {sample.specificity:.1%} of what is wrong. Its rates here, corrected by that: if {ASSUMPTION}."
    )
    rows = [
        {
            "model": row.model,
            "condition": row.condition,
            "judge": number(row.judge_estimate, 3),
            "rate": number(row.rate, 3),
            level_column(row.level): interval(row.rate_low, row.rate_high, 3),
        }
        for row in report.rows[1:]
    ]
    print_rows(rows, hide_empty=("condition",))


@command("judge next", group=judge)
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


@command("judge plan", group=judge)
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
