"""``gate``: may a candidate take the place of a baseline? Exit 0 yes, 1 no, 5 undecided."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from warehouse.questions.labels import CorrectedGate
from warehouse.questions.sequential import SequentialReleaseGate
from warehouse.tables.words import meanings, small

from ..lazy_group import command
from ..state import State
from ..ui.corrected import UNUSED, corrected_options, give_corrected
from ..ui.next_step import say_next
from ..ui.options import REFERENCE, option, output_options_but, refuse_typed, typed
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import echo, number, p_value, print_rows, print_text
from .gate_sequential import SETTINGS, GateOptions, sequential_gate

if TYPE_CHECKING:
    from warehouse.analysis.comparison.gate import Gate
    from warehouse.analysis.judges.corrected_figures import CorrectedFigures


def margins_callback(
    _ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[float | None, dict[str, float] | None]:
    """``0.01`` for all, ``NAME=0.02`` for one benchmark."""
    common: list[float] = []
    own: dict[str, float] = {}
    for text in value:
        name, equals, amount = text.rpartition("=")
        try:
            margin = float(amount)
        except ValueError:
            raise click.BadParameter(f"'{text}' is not a number or NAME=number", param=param) from None
        if not 0 <= margin < float("inf") or name in own or (not equals and common):
            raise click.BadParameter(f"'{text}' is below 0, infinite or given twice", param=param)
        if equals:
            own[name] = margin
        else:
            common.append(margin)
    if not common and not own:
        raise click.BadParameter("say what loss is tolerated, such as 0.01", param=param)
    return (common[0] if common else None), own or None


#: Columns that a narrow terminal does without, the first of them first.
MINOR = ("split", "metric", "clusters", "flags", "p fail", "prompts", "baseline", "candidate", "as seen", "if equal")


@command("gate")
@click.argument("models", metavar="[CANDIDATE BASELINE]", nargs=-1)
@option(f"--candidate {REFERENCE}", "The model to be released, if it is not named first.")
@option(f"--baseline {REFERENCE}", "The model that it follows, if it is not named second.")
@option(
    "--margin [BENCHMARK=]LOSS",
    "Loss that is tolerated, in the unit of the metric; also for one benchmark. Repeatable.",
    name="margins",
    multiple=True,
    required=True,
    callback=margins_callback,
)
@options_of(GateOptions, without=("candidate", "baseline", "margin", "margins"), **SETTINGS)
@corrected_options
@option("--markdown", "A summary for a pull request.", is_flag=True)
@output_options_but("markdown")
def gate(
    state: State,
    /,
    models: tuple[str, ...],
    candidate: str | None,
    baseline: str | None,
    margins: tuple[float | None, dict[str, float] | None],
    output: Output,
    markdown: bool,
    corrected: bool,
    judge: str | None,
    human: str | None,
    **options: Any,
) -> int:
    if markdown and not output.for_people:
        raise click.UsageError("give one of --markdown, --json, --jsonl, --csv and --parquet")
    if markdown and options["follow"] is not None:
        raise click.UsageError("--markdown is of a verdict: leave out --follow")
    candidate, baseline = _two_models(models, candidate, baseline)
    options |= {"candidate": candidate, "baseline": baseline, "margin": margins[0], "margins": margins[1]}
    typed_gate = GateOptions.from_command(options, typed(options))
    if corrected:
        refuse_typed(UNUSED, "markdown")
        return _corrected(state, output, typed_gate.only(CorrectedGate, UNUSED, judge=judge, human=human))
    refuse_typed("goes with --corrected", "judge", "human")
    question = typed_gate.question
    if isinstance(question, SequentialReleaseGate):
        return sequential_gate(state, typed_gate, question, output, markdown)
    decision: Gate = state.ask(question)
    if markdown:
        echo(decision.to_markdown())
    elif output.for_people:
        _print(decision)
    else:
        output.emit_records(decision.kind_of(), decision.rows)
    if not markdown:
        state.notes((*decision.notes, *(f"left out {reason}" for reason in decision.left_out)))
        say_next(state, output, decision, question)
    return decision.exit_code


def _corrected(state: State, output: Output, question: CorrectedGate) -> int:
    decision: CorrectedFigures = state.ask(question)
    give_corrected(state, output, decision)
    return decision.exit_code


def _two_models(models: tuple[str, ...], candidate: str | None, baseline: str | None) -> tuple[str, str]:
    """Candidate and baseline, given by position or by option.

    Raises:
        UsageError: one of them is missing, or there is one too many.
    """
    positional = iter(models)
    first, second = candidate or next(positional, None), baseline or next(positional, None)
    if first is None or second is None or next(positional, None) is not None:
        raise click.UsageError(
            "give two models, CANDIDATE BASELINE: the one to be released, and the one that it follows"
        )
    return first, second


def _print(decision: Gate) -> None:
    cells = [
        {
            "benchmark": row.benchmark,
            "split": row.split,
            "metric": row.metric,
            "verdict": row.verdict,
            "candidate": number(row.candidate, 4),
            "baseline": number(row.baseline, 4),
            "difference": number(row.difference, 4),
            "at least": number(row.low, 4),
            "margin": number(row.margin, 4),
            "p pass": p_value(row.p_pass),
            "p fail": p_value(row.p_fail),
            "cost": small(row.cost_ratio),
            "p cost": p_value(row.p_cost),
            "prompts": row.n_prompts,
            "clusters": row.n_clusters,
            "if equal": row.prompts_if_equal,
            "as seen": row.prompts_as_seen,
            "flags": row.flags,
            "reason": row.reason,
        }
        for row in decision.rows
    ]
    print_text(f"{decision.one_line}\n")
    print_rows(
        cells,
        hide_empty=("split", "clusters", "reason", "cost", "p cost", "flags"),
        counts=("if equal", "as seen"),
        minor=MINOR,
    )
    for line in meanings(flag for row in decision.rows for flag in row.flags):
        print_text(line)
    if any(row.costs for row in decision.rows):
        print_text("cost: of the candidate for each of the baseline's; it passes by p pass, the larger of both p")
    if any(row.prompts_if_equal or row.prompts_as_seen for row in decision.rows):
        print_text(
            "if equal: prompts with which a candidate as good as the baseline passes with power 0.8\n"
            "as seen: prompts that decide if the true difference is the one that was seen"
        )
