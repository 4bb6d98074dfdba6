"""``gate --sequential``: a verdict that holds however often one asks, on runs that may
still grow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from warehouse.analysis.sequential.question import SequentialReleaseGate

from ..state import State
from ..ui.options import assignments
from ..ui.output import Output
from ..ui.table import echo
from .gate_options import LOOKS, GateOptions
from .watch import stopping

if TYPE_CHECKING:
    from warehouse.analysis.sequential.view import SequentialGate

#: Seconds between two looks at a log.
PAUSE = 2.0
#: What a log is followed with.
_FOLLOWED = (
    "metric",
    "where",
    "n_max",
    "alpha",
    "seed",
    "looks",
    "use_history",
    "latest",
    "force",
)


def sequential_gate(
    state: State, typed_gate: GateOptions, output: Output, markdown: bool
) -> int:
    """Print the verdict so far, or follow a log until there is one; the exit code."""
    looks = None
    if typed_gate.obf:
        looks = typed_gate.looks or LOOKS
    question = typed_gate.shared_with(SequentialReleaseGate, looks=looks)
    if typed_gate.follow is not None:
        return _follow(state, typed_gate, question, output)
    decision: SequentialGate = state.ask(question)
    if markdown:
        echo(decision.to_markdown())
        return decision.exit_code
    from warehouse.analysis.gate.view import report_notes

    state.give(output, decision, decision.view, notes=report_notes(decision))
    return decision.exit_code


def _follow(
    state: State,
    typed_gate: GateOptions,
    question: SequentialReleaseGate,
    output: Output,
) -> int:
    from warehouse.analysis.gate.view import EXIT
    from warehouse.api import Warehouse
    from warehouse.records.clock import utc_now

    if len(question.benchmarks) > 1 or question.margin is None or question.margins:
        raise click.UsageError("a log is followed on one benchmark, with one --margin")
    if not output.for_people and not output.form == "jsonl":
        raise click.UsageError(
            "a log is followed line by line: --jsonl, or no form at all"
        )
    house = Warehouse(state.config().url.value, wait=state.wait)
    verdict = "undecided"
    with stopping() as stop:
        state.say(f"following {typed_gate.follow}; Ctrl-C ends")
        rows = house.follow_gate(
            typed_gate.follow or Path(),
            question.candidate,
            question.baseline,
            question.margin,
            benchmark=next(iter(question.benchmarks), None),
            mapping=typed_gate.mapping,
            values=assignments(tuple(typed_gate.values), "--set"),
            pause=lambda: not stop.wait(PAUSE),
            say=state.say,
            **{name: getattr(question, name) for name in _FOLLOWED},
        )
        for row in rows:
            verdict = row.verdict
            if output.for_people:
                echo(f"{utc_now():%Y-%m-%dT%H:%M:%SZ} {row.state}")
            else:
                output.emit_records(type(row), [row])
    return EXIT[verdict]
