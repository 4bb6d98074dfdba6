"""``audit``: recorded keys that are probably wrong, by the answers of several models."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.files import CLEANED, SAMPLE, write_output
from warehouse.questions.items import Audit

from ..lazy_group import command
from ..state import State
from ..ui.options import first_rows, option, output_options, refuse_typed, typed
from ..ui.output import Output
from ..ui.output_files import OutputFile
from ..ui.questions import options_of
from ..ui.table import decimals, echo, excerpt, interval, number, percentage, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.audit.report import AuditAgreementRow, AuditReport, AuditRow

#: Characters of an answer and of a question.
ANSWER, ANSWER_WIDE, QUESTION = 14, 40, 50
_MINOR = ("question", "unparsed", "rate", "stratum", "id")
_HIDDEN = ("stratum", "rate", "unparsed", "audit", "beside", "question", "recalibrated")
_TABLE = click.Path(exists=True, dir_okay=False, path_type=Path)


@command("audit")
@options_of(Audit, against={"type": _TABLE}, verdicts={"type": _TABLE})
@option("--out FILE", "Where the table of --sample goes. [default: shown]", OutputFile(SAMPLE))
@option(
    "--top N",
    "Suspects to show; 0 for all. [default: 20; other outputs have all prompts]",
    click.IntRange(min=0),
    silent_default=20,
)
@option("--plan FILE", "Write the prompts without the suspects there, as JSON.", OutputFile(CLEANED))
@option("--force", "Replace a plan, or a table, that is there already.", is_flag=True)
@output_options
def audit(
    state: State, /, top: int, plan: Path | None, out: Path | None, force: bool, output: Output, **options: Any
) -> None:
    question = Audit.from_command(options, typed(options))
    _refuse_unused(options, plan, out, output)
    report: AuditReport = state.ask(question)
    if plan is not None:
        text = json.dumps(report.plan(), indent=1, ensure_ascii=False) + "\n"
        write_output(plan, text.encode(), CLEANED, force=force)
        state.say(
            f"wrote {plan}: {len(report.rows) - len(report.listed)} prompts without {len(report.listed)} suspects"
        )
    if report.sample:
        return _give_sample(report, out, force, output, state)
    part = "judged" if report.judged else "agreement" if report.agreement else "effect" if options["effect"] else "rows"
    records = first_rows(report.rows, top, output) if part == "rows" else None
    output.give(report, lambda: _print(report, top, state), part=part, records=records)
    state.notes(report.notes)


def _refuse_unused(options: dict[str, Any], plan: Path | None, out: Path | None, output: Output) -> None:
    """Refuse options that would change nothing."""
    own = [name for name in ("effect", "against", "verdicts") if options[name]]
    if own and not output.for_people:
        if len(own) > 1:
            raise click.UsageError(f"give one of --{own[0]} and --{own[1]}: they have rows of their own")
        refuse_typed(f"is for the suspects, and these rows are those of --{own[0]}", "top")
    if options["sample"] is None:
        refuse_typed("goes with --sample", "out")
    else:
        refuse_typed("is for the suspects, and --sample shows none", "top", "plan", "threshold")
        if out is not None and not output.for_people:
            raise click.UsageError("--out writes the table itself; without it --csv-safe > FILE and the like have it")
    if plan is None and out is None:
        refuse_typed("goes with --plan and --out", "force")


def _give_sample(report: AuditReport, out: Path | None, force: bool, output: Output, state: State) -> None:
    """The table for people, into a file or onto the standard output."""
    if out is not None:
        write_output(out, report.sample_csv().encode(), SAMPLE, force=force)
        state.say(
            f"wrote {out}: {len(report.sample)} of {report.n_judged} keys; fill in the column wrong (1, 0, or unknown),"
            f" then: warehouse audit {shlex.quote(report.benchmark)} --verdicts {shlex.quote(str(out))}"
        )
    else:
        output.give(report, lambda: echo(report.sample_csv(), nl=False), part="sample")
    state.notes(report.notes)


def _print(report: AuditReport, top: int, state: State) -> None:
    from warehouse.analysis.audit.report import BLIND, NOT_CALIBRATED

    print_text(f"{report.one_line}.")
    if report.judged:
        echo()
        _print_judged(report)
    listed = report.listed[:top] if top else report.listed
    if listed:
        echo()
        _print_suspects(report, listed, state)
    if len(listed) < len(report.listed):
        state.say(f"note: {len(report.listed) - len(listed)} more suspects: --top 0 has all")
    if report.effect:
        echo()
        _print_effect(report)
    if report.agreement:
        echo()
        _print_agreement(report.agreement)
    _say_refused(report, state)
    if not report.judged:
        state.say(f"note: {NOT_CALIBRATED}")
    state.say(f"note: {BLIND}")


def _print_suspects(report: AuditReport, rows: Sequence[AuditRow], state: State) -> None:
    width = ANSWER_WIDE if state.verbose else ANSWER
    cells = [
        {
            "prompt": row.prompt,
            "id": excerpt(row.key, ANSWER_WIDE),
            "P(wrong)": number(row.posterior, 2),
            "recalibrated": number(row.recalibrated, 2),
            "key": excerpt(row.recorded, width),
            "rival": excerpt(row.rival, width) or "none voted for",
            "votes": f"{row.votes_key:.3g}:{row.votes_rival:.3g} of {row.n_models}",
            "unparsed": number(row.votes_unparsed, 1),
            "stratum": row.stratum,
            "rate": percentage(row.stratum_rate) if report.strata_by else None,
            "audit": None if row.wrong is None else "wrong" if row.wrong else "right",
            "beside": ", ".join(_other_evidence(row)),
            "question": excerpt(row.text, QUESTION),
        }
        for row in rows
    ]
    print_rows(cells, hide_empty=_HIDDEN, minor=_MINOR)


def _other_evidence(row: AuditRow) -> list[str]:
    """What else speaks against the key, in words."""
    words = {
        f"contradicts {row.contradicts}": row.contradicts is not None,
        "negative item": row.negative,
        "constant": row.constant,
        f"data map ({row.datamap_models})": row.datamap_models,
        f"{row.cluster_listed} of {row.cluster_size} in cluster": (row.cluster_size or 0) > 1
        and (row.cluster_listed or 0) > 1,
    }
    return [word for word, holds in words.items() if holds]


def _print_effect(report: AuditReport) -> None:
    rows = report.effect
    changes = [row.change for row in rows if row.change is not None]
    moved = sum(row.rank != row.rank_kept for row in rows)
    ranked = sum(row.rank is not None for row in rows)
    n_decimals = decimals([row.ci_high - row.difference for row in rows if row.difference is not None and row.ci_high])
    if changes:
        print_text(
            f"Without the {len(report.listed)} suspects scores change by {min(changes):+.{n_decimals}f} to"
            f" {max(changes):+.{n_decimals}f}; {moved} of {ranked} ranks change."
        )
    name = f"{100 * report.level:g}%"
    cells = [
        {
            "rank": _arrow(row.rank, row.rank_kept),
            "model": f"{row.model} ({row.condition})" if row.condition else row.model,
            "score": number(row.estimate, n_decimals),
            "without": number(row.estimate_kept, n_decimals),
            "to leader": number(row.difference, n_decimals, sign=True),
            name: interval(row.ci_low, row.ci_high, n_decimals),
            "without ": number(row.difference_kept, n_decimals, sign=True),
            f"{name} ": interval(row.ci_low_kept, row.ci_high_kept, n_decimals),
            "flags": row.flags,
        }
        for row in rows
    ]
    echo()
    print_rows(cells, hide_empty=("flags",), minor=(name, "flags"))


def _arrow(before: int | None, after: int | None) -> str:
    """A rank, and what becomes of it."""
    if before is None or after is None:
        return "-"
    return f"{before}" if before == after else f"{before} > {after}"


_WORDS = {
    "auc": "AUC",
    "average_precision": "average precision",
    "precision_at": "precision at",
    "auc_within": "AUC within strata",
    "average_precision_within": "average precision within strata",
    "auc_without_largest": "AUC without the largest stratum",
    "average_precision_without_largest": "average precision without it",
}


def _print_agreement(rows: Sequence[AuditAgreementRow]) -> None:
    first = rows[0]
    print_text(
        f"Against the audit: {first.n_wrong} of {first.n} keys are wrong, {100 * first.n_wrong / first.n:.1f} %."
    )
    echo()
    figures: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row.figure in _WORDS:
            name = _WORDS[row.figure] + (f" {row.at:g}" if row.at is not None else "")
            cells = figures.setdefault(name, {"figure": name, "posterior": None, "1 - p": None, "rival votes": None})
            column = {"posterior": "posterior", "share_wrong": "1 - p", "rival_votes": "rival votes"}[row.score]
            cells |= {column: number(row.value, 3), "random": number(row.random, 3)}
    print_rows(figures.values())
    expected = {row.at: row for row in rows if row.figure == "expected_fdr"}
    echo()
    print_rows(
        [
            {
                "threshold": number(row.at, 2),
                "listed": row.n,
                "wrong": row.n_wrong,
                "mean of 1 - P(wrong)": number(expected[row.at].value, 2),
                "found right": number(row.value, 2),
                "95% interval": interval(row.low, row.high, 2),
            }
            for row in rows
            if row.figure == "observed_fdr"
        ]
    )


def _print_judged(report: AuditReport) -> None:
    """What people's verdicts on a random sample say of all keys."""
    rates = [row for row in report.judged if row.figure in ("wrong_rate", "calibration")]
    everything = rates[0]
    missing = f", {everything.n_missing} more have no verdict" if everything.n_missing else ""
    print_text(
        f"{everything.n_judged} keys judged, {everything.n_wrong} of them wrong{missing}. Of all {everything.n}:"
    )
    echo()
    uppers = [row.at for row in rates if row.figure == "calibration"][1:]
    ends = iter([*uppers, 1.0])
    cells = [
        {
            "P(wrong)": "all" if row.at is None else f"from {row.at:g}"
            if row.figure == "wrong_rate" else f"{row.at:g} to {next(ends):g}",
            "keys": row.n,
            "judged": row.n_judged,
            "wrong": row.n_wrong,
            "share": percentage(row.value),
            f"{100 * report.level:g}%": _shares(row.low, row.high),
            "whatever is missing": _shares(row.bound_low, row.bound_high),
            "said": percentage(row.expected),
            "recalibrated": percentage(row.recalibrated),
        }
        for row in rates
        if row.n
    ]  # fmt: skip
    print_rows(cells, hide_empty=("whatever is missing", "said", "recalibrated"), minor=("whatever is missing",))
    print_text("share: wrong keys of all these keys, by those judged; said: their mean P(wrong).")
    echo()
    print_text(_recalibrated(report))
    orders: dict[str, dict[str, Any]] = {}
    for row in report.judged:
        if row.figure in _ORDERS and row.score is not None:
            column = {"posterior": "P(wrong)", "share_wrong": "1 - p"}[row.score]
            orders.setdefault(row.figure, {"AUC": _ORDERS[row.figure]}).update({column: number(row.value, 2)})
    if orders:
        echo()
        print_rows(orders.values())


_ORDERS = {"auc": "all keys", "auc_within": "within strata", "auc_between": "between strata"}


def _shares(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"[{percentage(low)}, {percentage(high)}]"


def _recalibrated(report: AuditReport) -> str:
    """The recalibration in words."""
    figures = {row.figure: f"{row.value:.2f} ± {row.standard_error:.2f}" for row in report.judged if row.standard_error}
    if "slope" not in figures:
        return f"P(wrong) is not recalibrated: {report.not_recalibrated}."
    return (
        f"Log odds of a wrong key: slope {figures['slope']} on those of P(wrong) (1: calibrated), intercept"
        f" {figures['intercept']}."
    )


def _say_refused(report: AuditReport, state: State) -> None:
    reasons = Counter(row.reason for row in report.rows if row.reason)
    if reasons:
        listed = ", ".join(f"{reason} ({n})" for reason, n in reasons.most_common())
        state.say(f"note: {report.n_refused} keys cannot be judged: {listed}")
