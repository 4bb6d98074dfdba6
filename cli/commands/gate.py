"""``gate``: may a candidate take the place of a baseline? Exit 0 yes, 1 no, 5
undecided."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.gate.question import ReleaseGate

from ..lazy_group import command
from ..state import State
from ..ui.corrected import UNUSED, Corrected, corrected_options
from ..ui.next_step import say_next
from ..ui.options import REFERENCE, option, output_options_but, refuse_typed, typed
from ..ui.output import Output
from ..ui.questions import options_of, without_percent
from ..ui.slices import gate_options
from ..ui.table import echo
from .gate_options import SETTINGS, GateOptions

if TYPE_CHECKING:
    from warehouse.analysis.gate.view import Gate


def margins_callback(
    _ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[float | None, dict[str, float] | None]:
    """``0.01`` or ``1%`` for all, ``NAME=0.02`` for one benchmark."""
    common: list[float] = []
    own: dict[str, float] = {}
    for text in value:
        name, equals, amount = text.rpartition("=")
        try:
            margin = float(without_percent(amount))
        except ValueError:
            raise click.BadParameter(
                f"'{text}' is not a number, a percentage or NAME=number", param=param
            ) from None
        if not 0 <= margin < float("inf") or name in own or (not equals and common):
            raise click.BadParameter(
                f"'{text}' is below 0, infinite or given twice", param=param
            )
        if equals:
            own[name] = margin
        else:
            common.append(margin)
    if not common and not own:
        raise click.UsageError(
            "say what loss is tolerated: --margin 0.02 (or 2%) lets it lose 2 points of "
            "a score between 0 and 1"
        )
    return (common[0] if common else None), own or None


@command("gate")
@click.argument("models", metavar="[CANDIDATE BASELINE]", nargs=-1)
@option(
    f"--candidate {REFERENCE}", "The model to be released, if it is not named first."
)
@option(
    f"--baseline {REFERENCE}", "The model that it follows, if it is not named second."
)
@option(
    "--margin [BENCHMARK=]LOSS",
    "Loss that is tolerated, in the unit of the metric; also for one benchmark. "
    "Repeatable.",
    name="margins",
    multiple=True,
    callback=margins_callback,
)
@options_of(
    GateOptions, without=("candidate", "baseline", "margin", "margins"), **SETTINGS
)
@gate_options
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
    corrected: Corrected | None,
    sliced: dict[str, Any] | None,
    **options: Any,
) -> int:
    if markdown and not output.for_people:
        raise click.UsageError(
            "give one of --markdown, --json, --jsonl, --csv and --parquet"
        )
    if markdown and options["follow"] is not None:
        raise click.UsageError("--markdown is of a verdict: leave out --follow")
    candidate, baseline = _two_models(models, candidate, baseline)
    options |= {
        "candidate": candidate,
        "baseline": baseline,
        "margin": margins[0],
        "margins": margins[1],
    }
    typed_gate = GateOptions.from_command(options, typed(options))
    if corrected is not None:
        refuse_typed(UNUSED, "markdown", "no_slice_worse_than")
        return corrected.give(state, output, typed_gate).exit_code
    if typed_gate.sequential:
        refuse_typed("is of one look: leave out it or --sequential", "by")
        from .gate_sequential import sequential_gate

        return sequential_gate(state, typed_gate, output, markdown)
    if sliced is not None:
        refuse_typed("is of all prompts: leave out it or --by", "markdown")
        from .sliced import give_gate

        return give_gate(state, output, typed_gate, sliced)
    question = typed_gate.only(ReleaseGate, "goes with --sequential")
    decision: Gate = state.ask(question)
    if markdown:
        echo(decision.to_markdown())
    else:
        from warehouse.analysis.gate.view import report_notes

        view = partial(state.view_of, decision.view)
        state.give(output, decision, view, notes=report_notes(decision))
        say_next(state, output, decision, question)
    return decision.exit_code


def _two_models(
    models: tuple[str, ...], candidate: str | None, baseline: str | None
) -> tuple[str, str]:
    """Candidate and baseline, given by position or by option.

    Raises:
        UsageError: one of them is missing, or there is one too many.
    """
    positional = iter(models)
    first, second = (
        candidate or next(positional, None),
        baseline or next(positional, None),
    )
    if first is None or second is None or next(positional, None) is not None:
        raise click.UsageError(
            "give two models, CANDIDATE BASELINE: the one to be released, and the one "
            "that it follows"
        )
    return first, second
