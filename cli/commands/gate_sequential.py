"""``gate --sequential``: a verdict that holds however often one asks, on runs that may still grow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from warehouse.questions.comparison import ReleaseGate
from warehouse.questions.question import Option, options
from warehouse.questions.sequential import FULL, Sequential, SequentialReleaseGate

from ..state import State
from ..ui.options import MappingFile, assignments, pairs_callback
from ..ui.output import Output
from ..ui.table import echo
from .watch import stopping

if TYPE_CHECKING:
    from warehouse.analysis.sequential.gate_report import SequentialGate

LOOKS = 5
#: Seconds between two looks at a log.
PAUSE = 2.0
#: What a log is followed with.
_FOLLOWED = ("metric", "where", "n_max", "alpha", "seed", "looks", "use_history", "latest", "force")


@dataclass(frozen=True)
class GateOptions(Sequential, ReleaseGate):
    """All options of the command: of a gate that looks once, of a sequential one, and of a log to follow."""

    _: KW_ONLY
    sequential: Annotated[bool, Option("On runs that may still grow: holds however often one asks.")] = False
    obf: Annotated[bool, Option("With --sequential: O'Brien and Fleming's bounds at a few fixed looks.")] = False
    follow: Annotated[
        Path | None,
        Option("With --sequential: a growing log of the candidate; ends with the verdict. Nothing is stored.", "FILE"),
    ] = None
    mapping: Annotated[
        str | None,
        Option(
            "With --follow: mapping (TOML) of a tabular log, or the name of a shipped one.", "FILE|NAME", ("--map",)
        ),
    ] = None
    values: Annotated[
        Sequence[str],
        Option(
            "With --follow: holds whatever the log says: model, benchmark ... Repeatable.", "FIELD=VALUE", ("--set",)
        ),
    ] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sequential:
            why = "a prompt without a score counts against either verdict"
            self.refuse(f"does not go with --sequential: {why}", "max_unscored")
            self.refuse("does not go with --sequential: tests of costs are for a fixed number of prompts", "cheaper")
        if not self.obf:
            self.refuse("goes with --obf", "looks")
        if self.follow is None:
            self.refuse("goes with --follow", "mapping", "values")
        elif self.estimand != FULL:
            self.refuse("does not go with --follow: a log is followed on the full benchmark", "estimand")

    @property
    def question(self) -> ReleaseGate | SequentialReleaseGate:
        """What is asked of the store (UnusedError: something is said that it would not change)."""
        if not self.sequential:
            return self.only(ReleaseGate, "goes with --sequential")
        return self.shared_with(SequentialReleaseGate, looks=(self.looks or LOOKS) if self.obf else None)


#: Further settings of the options for click.
SETTINGS: dict[str, Any] = {
    **{
        name: {"help": f"With --sequential: {option.help[0].lower()}{option.help[1:]}"}
        for name, option in options(Sequential).items()
    },
    "looks": {"help": f"Looks of --obf; default: {LOOKS}."},
    "use_history": {"help": "With --sequential: predict scores by the baseline alone."},
    "follow": {"type": click.Path(dir_okay=False, path_type=Path)},
    "mapping": {"type": MappingFile()},
    "values": {"callback": pairs_callback},
}


def sequential_gate(
    state: State, typed_gate: GateOptions, question: SequentialReleaseGate, output: Output, markdown: bool
) -> int:
    """Print the verdict so far, or follow a log until there is one; the exit code."""
    if typed_gate.follow is not None:
        return _follow(state, typed_gate, question, output)
    decision: SequentialGate = state.ask(question)
    if markdown:
        echo(decision.to_markdown())
        return decision.exit_code
    from warehouse.analysis.comparison.gate_report import report_notes

    state.give(output, decision, decision.view, notes=report_notes(decision))
    return decision.exit_code


def _follow(state: State, typed_gate: GateOptions, question: SequentialReleaseGate, output: Output) -> int:
    from warehouse.analysis.comparison.gate_report import EXIT
    from warehouse.api import Warehouse
    from warehouse.records.clock import utc_now

    if len(question.benchmarks) > 1 or question.margin is None or question.margins:
        raise click.UsageError("a log is followed on one benchmark, with one --margin")
    if not output.for_people and not output.form == "jsonl":
        raise click.UsageError("a log is followed line by line: --jsonl, or no form at all")
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
