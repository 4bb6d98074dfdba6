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
from ..ui.table import echo, interval, number, percentage, print_rows, print_text
from .watch import stopping

if TYPE_CHECKING:
    from warehouse.analysis.sequential.row import SequentialGate, SequentialRow

LOOKS = 5
#: Seconds between two looks at a log.
PAUSE = 2.0
#: What a log is followed with.
_FOLLOWED = ("metric", "where", "n_max", "alpha", "seed", "looks", "use_history", "latest", "force")
#: Columns that a narrow terminal does without, the first of them first.
MINOR = ("method", "metric", "unscored", "fail", "pass", "margin", "benchmark")


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
    output.give(decision, lambda: _print(decision))
    state.notes((*decision.notes, *(f"left out {reason}" for reason in decision.left_out)))
    return decision.exit_code


def _follow(state: State, typed_gate: GateOptions, question: SequentialReleaseGate, output: Output) -> int:
    from warehouse.analysis.comparison.gate import EXIT
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


def sentence(decision: SequentialGate) -> str:
    """The answer in words."""
    from warehouse.analysis.comparison.gate import names

    candidate, baseline = names(decision.candidate, decision.baseline, decision.rows)
    count = f" on {len(decision.rows)} benchmarks" if len(decision.rows) > 1 else f" on {decision.rows[0].benchmark}"
    says = {
        "pass": f"{candidate} may take the place of {baseline}{count}: it is worse by less than the margin, or better.",
        "fail": f"{candidate} may not take the place of {baseline}{count}: it is worse by more than the margin.",
        "undecided": f"It is not settled yet whether {candidate} may take the place of {baseline}{count}.",
    }
    if decision.verdict == "undecided" and all(row.n_prompts >= row.n_max for row in decision.rows):
        return f"The prompts do not settle whether {candidate} may take the place of {baseline}{count}."
    return says[decision.verdict]


def _print(decision: SequentialGate) -> None:
    print_text(sentence(decision) + "\n")
    print_rows(
        [_cells(row) for row in decision.rows],
        hide_empty=("split", "reason", "pass", "fail", "expected more", "decided at"),
        counts=("unscored", "beyond"),
        minor=MINOR,
    )
    print_text("")
    for line in _legend(decision.rows):
        print_text(line)


def _cells(row: SequentialRow) -> dict[str, Any]:
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "verdict": row.verdict,
        "difference": number(row.difference, 4, sign=True),
        f"{100 * row.level:.4g}% interval": interval(row.ci_low, row.ci_high, 4),
        "margin": number(row.margin, 4),
        "prompts": f"{row.n_prompts} of {row.n_max}",
        "decided at": row.decided_at,
        "expected more": round(row.expected_remaining) if row.is_open and row.expected_remaining is not None else None,
        "pass": percentage(row.chance_pass) if row.is_open else None,
        "fail": percentage(row.chance_fail) if row.is_open else None,
        "unscored": row.n_unscored,
        "beyond": row.n_beyond,
        "method": row.method,
        "reason": row.reason,
    }


def _legend(rows: tuple[SequentialRow, ...]) -> list[str]:
    from warehouse.analysis.sequential.row import validity

    lines = [validity(rows)]
    if any(row.is_open and row.expected_remaining is not None for row in rows):
        lines.append(
            "expected more: mean prompts until a verdict or the most, over 200 continuations that draw what was seen"
            " again; pass, fail: the share of them that end so."
        )
    if any(row.n_beyond for row in rows):
        lines.append("beyond: prompts with results that do not count yet, as earlier ones of the order have none.")
    used = {(row.predicted_by, row.n_history) for row in rows if row.predicted_by}
    for by, n in sorted(used):
        others = f" and {n} other models" if by != "baseline" else ""
        lines.append(f"The candidate's scores are predicted by the baseline's{others}.")
    return lines
