"""``runs`` and ``invalidate``: single runs and the marks on them."""

from __future__ import annotations

import click

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import output_options, refuse_typed, where_option
from ..ui.output import Output
from ..ui.table import echo

SHOWN = (
    "run_id",
    "model",
    "condition",
    "checkpoint",
    "agent",
    "benchmark",
    "split",
    "fewshot",
    "temperature",
    "n_found",
    "n_scores",
    "status",
    "started_at",
    "tags",
    "note",
)

NEEDLESS = ("condition", "checkpoint", "agent", "split", "fewshot", "temperature", "started_at", "tags", "note")
#: Columns that a narrow terminal does without, the first of them first.
SPARE = ("status", "checkpoint", "agent", "split", "fewshot", "temperature", "n_found", "started_at", "n_scores")


@command("runs")
@click.argument("run", metavar="[run:ID]", required=False)
@where_option
@click.option("--all", "everything", is_flag=True, help="Superseded and invalidated runs too.")
@click.option("--tag", "tags", metavar="TAG", multiple=True, help="Put a tag on the run.")
@click.option("--untag", "untags", metavar="TAG", multiple=True, help="Take a tag off the run.")
@click.option("--note", metavar="TEXT", help="Write a note to the run; '' removes it.")
@output_options
@pass_state
def runs(
    state: State,
    run: str | None,
    where: tuple[str, ...],
    everything: bool,
    tags: tuple[str, ...],
    untags: tuple[str, ...],
    note: str | None,
    output: Output,
) -> None:
    if tags or untags or note is not None:
        _mark(state, run, tags, untags, note)
    if run:
        refuse_typed("is for the list: a run that is named is shown whatever became of it", "everything")
        where, everything = (*where, f"run_id={run.removeprefix('run:')}"), True
    _list(state, where, everything, output)


def _mark(state: State, run: str | None, tags: tuple[str, ...], untags: tuple[str, ...], note: str | None) -> None:
    from warehouse.store.curate import catalogue

    if run is None:
        raise click.UsageError("--tag, --untag and --note need a run: warehouse runs run:7 --tag x")
    with state.open(write=True) as store:
        if tags or untags:
            catalogue.tag(store, run, add=tags, remove=untags)
        if note is not None:
            catalogue.note(store, run, note)


def _list(state: State, where: tuple[str, ...], everything: bool, output: Output) -> None:
    from warehouse.analysis.selection.conditions import ListedRun, list_runs
    from warehouse.store.curate import catalogue

    with state.open() as store:
        rows = list_runs(store, where=where, everything=everything)
        hints = [] if rows else catalogue.hints_on_runs(store, where)
    shown = (*SHOWN, "superseded_by") if everything else SHOWN
    output.emit_records(ListedRun, rows, shown=shown, needless=NEEDLESS, spare=SPARE, empty="no such runs")
    for hint in hints:
        state.say(f"note: {hint}")


@command("invalidate")
@click.argument("run", metavar="run:ID")
@click.option("--reason", metavar="TEXT", required=True, help="Why; kept with the run.")
@pass_state
def invalidate(state: State, run: str, reason: str) -> None:
    from warehouse.store.curate import catalogue

    with state.open(write=True) as store:
        run_id = catalogue.invalidate(store, run, reason)
    echo(f"run:{run_id} is out of every view; see it with: warehouse runs run:{run_id}")
