"""``audit``: recorded keys that are probably wrong, by the answers of several models."""

from __future__ import annotations

import json
import shlex
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.audit.question import Audit
from warehouse.files import CLEANED, SAMPLE, write_output

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import first_rows, option, output_options, refuse_typed, typed
from ..ui.output import Output
from ..ui.output_files import OutputFile
from ..ui.questions import options_of
from ..ui.table import echo

if TYPE_CHECKING:
    from warehouse.analysis.audit.report import AuditReport

_TABLE = click.Path(exists=True, dir_okay=False, path_type=Path)


@command("items audit")
@options_of(Audit, against={"type": _TABLE}, verdicts={"type": _TABLE})
@option(
    "--out FILE",
    "Where the table of --sample goes. [default: shown]",
    OutputFile(SAMPLE),
)
@option(
    "--top N",
    "Suspects to show; 0 for all. [default: 20; other outputs have all prompts]",
    click.IntRange(min=0),
    silent_default=20,
)
@option(
    "--plan FILE",
    "Write the prompts without the suspects there, as JSON.",
    OutputFile(CLEANED),
)
@option("--force", "Replace a plan, or a table, that is there already.", is_flag=True)
@output_options
def audit(
    state: State,
    /,
    top: int,
    plan: Path | None,
    out: Path | None,
    force: bool,
    output: Output,
    **options: Any,
) -> None:
    question = Audit.from_command(options, typed(options))
    _refuse_unused(options, plan, out, output)
    report: AuditReport = state.ask(question)
    if plan is not None:
        text = json.dumps(report.plan(), indent=1, ensure_ascii=False) + "\n"
        write_output(plan, text.encode(), CLEANED, force=force)
        state.say(
            f"wrote {plan}: {len(report.rows) - len(report.listed)} prompts without "
            f"{len(report.listed)} suspects"
        )
    if report.sample:
        return _give_sample(report, out, force, output, state)
    if report.judged:
        part = "judged"
    elif report.agreement:
        part = "agreement"
    elif options["effect"]:
        part = "effect"
    else:
        part = "rows"
    records = None
    if part == "rows":
        records = first_rows(report.rows, top, output)
    if output.for_people:
        state.show(state.view_of(partial(report.view, top=top)))
        say_next(state, output, report, question)
    else:
        output.emit_records(
            report.kind_of(part), getattr(report, part) if records is None else records
        )
        state.notes(report.notes)


def _refuse_unused(
    options: dict[str, Any], plan: Path | None, out: Path | None, output: Output
) -> None:
    """Refuse options that would change nothing."""
    own = [name for name in ("effect", "against", "verdicts") if options[name]]
    if own and not output.for_people:
        if len(own) > 1:
            raise click.UsageError(
                f"give one of --{own[0]} and --{own[1]}: they have rows of their own"
            )
        refuse_typed(
            f"is for the suspects, and these rows are those of --{own[0]}", "top"
        )
    if options["sample"] is None:
        refuse_typed("goes with --sample", "out")
    else:
        refuse_typed(
            "is for the suspects, and --sample shows none", "top", "plan", "threshold"
        )
        if out is not None and not output.for_people:
            raise click.UsageError(
                "--out writes the table itself; without it --csv-safe > FILE and the "
                "like have it"
            )
    if plan is None and out is None:
        refuse_typed("goes with --plan and --out", "force")


def _give_sample(
    report: AuditReport, out: Path | None, force: bool, output: Output, state: State
) -> None:
    """The table for people, into a file or onto the standard output."""
    if out is not None:
        write_output(out, report.sample_csv().encode(), SAMPLE, force=force)
        state.say(
            f"wrote {out}: {len(report.sample)} of {report.n_judged} keys; fill in the "
            "column wrong (1, 0, or unknown), then: warehouse items audit "
            f"{shlex.quote(report.benchmark)} --verdicts {shlex.quote(str(out))}"
        )
    else:
        output.give(report, lambda: echo(report.sample_csv(), nl=False), part="sample")
    state.notes(report.notes)
