"""``sources`` and ``forget``: the ledger of what was ingested."""

from __future__ import annotations

import click

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import output_options
from ..ui.output import Output
from ..ui.table import echo

SHOWN = (
    "source_id",
    "path",
    "format",
    "state",
    "n_runs",
    "n_seen_again",
    "n_superseded",
    "n_samples",
    "n_scores",
    "n_rejected",
    "n_current",
    "loaded_at",
)
#: Columns that a narrow terminal does without, the first of them first.
SPARE = ("n_seen_again", "n_superseded", "n_scores", "n_samples", "n_current", "n_rejected", "format", "loaded_at")


@command("sources")
@click.argument("source", required=False)
@output_options
@pass_state
def sources(state: State, source: str | None, output: Output) -> None:
    from warehouse.store.curate import catalogue

    with state.open() as store:
        entries = catalogue.sources(store, source)
        rejected = catalogue.rejections(store, entries[0].source_id) if source and entries else []
    output.emit_records(catalogue.SourceEntry, entries, shown=SHOWN, spare=SPARE, empty="nothing ingested yet")
    if source and output.for_people:
        for text in entries[0].notes:
            echo(f"note: {text}")
        for row in rejected:
            echo(f"rejected: {row.place}: {row.found}; expected {row.expected}")


@command("forget")
@click.argument("source", metavar="SOURCE")
@pass_state
def forget(state: State, source: str) -> None:
    from warehouse.store.load import source_ledger

    with state.open(write=True) as store:
        removed, kept = source_ledger.forget(store, source)
    echo(f"forgot {source}: {removed} runs removed, {kept} kept (other sources hold them)")
