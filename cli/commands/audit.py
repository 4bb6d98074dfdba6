"""``audit``: recorded keys that are probably wrong, by the answers of several models."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.files import CLEANED, write_output
from warehouse.questions.items import Audit

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import first_rows, output_options, refuse_typed, typed
from ..ui.output import Output
from ..ui.output_files import OutputFile
from ..ui.questions import options_of
from ..ui.table import decimals, echo, excerpt, interval, number, percentage, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.audit.report import AuditAgreementRow, AuditReport, AuditRow

#: Characters of an answer and of a question.
ANSWER, ANSWER_WIDE, QUESTION = 14, 40, 50
_MINOR = ("question", "unparsed", "rate", "stratum", "id", "FDR")


@command("audit")
@options_of(Audit, against={"type": click.Path(exists=True, dir_okay=False, path_type=Path)})
@click.option(
    "--top",
    metavar="N",
    type=click.IntRange(min=0),
    default=20,
    help="Suspects to show; 0 for all. [default: 20; other outputs have all prompts]",
)
@click.option(
    "--plan", metavar="FILE", type=OutputFile(CLEANED), help="Write the prompts without the suspects there, as JSON."
)
@click.option("--force", is_flag=True, help="Replace a plan that is there already.")
@output_options
@pass_state
def audit(state: State, /, top: int, plan: Path | None, force: bool, output: Output, **options: Any) -> None:
    from warehouse.analysis.audit.report import AuditAgreementRow, AuditRow, EffectRow

    question = Audit.from_command(options, typed(options))
    if options["effect"] and options["against"] is not None and not output.for_people:
        raise click.UsageError("give one of --effect and --against: they have rows of their own")
    if (options["effect"] or options["against"] is not None) and not output.for_people:
        refuse_typed("is for the suspects, and these rows are those of --effect or --against", "top")
    if plan is None:
        refuse_typed("goes with --plan", "force")
    with state.open() as store:
        report: AuditReport = question.ask(store)
    if plan is not None:
        text = json.dumps(report.plan(), indent=1, ensure_ascii=False) + "\n"
        write_output(plan, text.encode(), CLEANED, force=force)
        state.say(
            f"wrote {plan}: {len(report.rows) - len(report.listed)} prompts without {len(report.listed)} suspects"
        )
    if output.for_people:
        _print(report, top, state)
    elif report.agreement:
        output.emit_records(AuditAgreementRow, report.agreement)
    elif options["effect"]:
        output.emit_records(EffectRow, report.effect)
    else:
        output.emit_records(AuditRow, first_rows(report.rows, top, output))
    state.notes(report.notes)


def _print(report: AuditReport, top: int, state: State) -> None:
    from warehouse.analysis.audit.report import BLIND

    print_text(f"{report.one_line}.")
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
    state.say(f"note: {BLIND}")


def _print_suspects(report: AuditReport, rows: Sequence[AuditRow], state: State) -> None:
    width = ANSWER_WIDE if state.verbose else ANSWER
    cells = [
        {
            "prompt": row.prompt,
            "id": excerpt(row.key, ANSWER_WIDE),
            "P(wrong)": number(row.posterior, 2),
            "FDR": number(row.running_fdr, 2),
            "key": excerpt(row.recorded, width),
            "rival": excerpt(row.rival, width) or "none voted for",
            "votes": f"{row.votes_key:.3g}:{row.votes_rival:.3g} of {row.n_models}",
            "unparsed": number(row.votes_unparsed, 1),
            "stratum": row.stratum,
            "rate": percentage(row.stratum_rate) if report.strata_by else None,
            "audit": None if row.wrong is None else "wrong" if row.wrong else "right",
            "beside": ", ".join(_beside(row)),
            "question": excerpt(row.text, QUESTION),
        }
        for row in rows
    ]
    print_rows(cells, hide_empty=("stratum", "rate", "unparsed", "audit", "beside", "question"), minor=_MINOR)


def _beside(row: AuditRow) -> list[str]:
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
    places = decimals([row.ci_high - row.difference for row in rows if row.difference is not None and row.ci_high])
    if changes:
        print_text(
            f"Without the {len(report.listed)} suspects scores change by {min(changes):+.{places}f} to"
            f" {max(changes):+.{places}f}; {moved} of {ranked} ranks change."
        )
    name = f"{100 * report.level:g}%"
    cells = [
        {
            "rank": _arrow(row.rank, row.rank_kept),
            "model": f"{row.model} ({row.condition})" if row.condition else row.model,
            "score": number(row.estimate, places),
            "without": number(row.estimate_kept, places),
            "to leader": number(row.difference, places, sign=True),
            name: interval(row.ci_low, row.ci_high, places),
            "without ": number(row.difference_kept, places, sign=True),
            f"{name} ": interval(row.ci_low_kept, row.ci_high_kept, places),
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
                "expected FDR": number(expected[row.at].value, 2),
                "observed": number(row.value, 2),
                "95% interval": interval(row.low, row.high, 2),
            }
            for row in rows
            if row.figure == "observed_fdr"
        ]
    )


def _say_refused(report: AuditReport, state: State) -> None:
    reasons: dict[str, int] = {}
    for row in report.rows:
        if row.reason:
            reasons[row.reason] = reasons.get(row.reason, 0) + 1
    if reasons:
        listed = ", ".join(f"{reason} ({n})" for reason, n in sorted(reasons.items(), key=lambda one: -one[1]))
        state.say(f"note: {report.n_refused} keys cannot be judged: {listed}")
