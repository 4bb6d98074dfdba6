"""The commands of `list`: what a store holds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.listing_view import listing_table, look_of
from warehouse.tables.view import View
from warehouse.tables.words import some_of

from ..lazy_group import command
from ..state import State
from ..ui.options import option, output_options, refuse_typed
from ..ui.output import Output
from ..ui.questions import where_option
from ..ui.table import (
    has_column_options,
    percentage,
    print_rows,
    print_text,
    print_view,
)

if TYPE_CHECKING:
    from warehouse.store.connection import Store


@command("list runs")
@click.argument("run", metavar="[run:ID]", required=False)
@where_option
@option(
    "--all", "Superseded and invalidated runs too.", name="everything", is_flag=True
)
@output_options
def runs(
    state: State,
    run: str | None,
    where: tuple[str, ...],
    everything: bool,
    output: Output,
) -> None:
    if run:
        refuse_typed(
            "is for the list: a run that is named is shown whatever became of it",
            "everything",
        )
        where = (*where, f"run_id={run.removeprefix('run:')}")
        everything = True
    print_runs(state, where, everything, output)


def print_runs(
    state: State, where: tuple[str, ...], everything: bool, output: Output
) -> None:
    """Print the runs that conditions choose, and what may have been meant where they
    choose none."""
    from warehouse.analysis.listing_view import runs_table
    from warehouse.analysis.selection.listed_runs import ListedRun, list_runs
    from warehouse.store.curate import catalogue

    with state.open() as store:
        rows = list_runs(store, where=where, everything=everything)
        if rows:
            hints = []
        else:
            hints = catalogue.hints_on_runs(store, where)
    if output.for_people and rows and not has_column_options():
        print_view(View((runs_table(rows),)))
    else:
        output.emit_records(
            ListedRun,
            rows,
            **look_of("ListedRun", rows, everything=everything),
            empty="no such runs",
        )
    state.notes(hints)


def _print_entries(
    state: State,
    output: Output,
    kind: type,
    read: Callable[[Store], Sequence[Any]],
    empty: str,
) -> None:
    """Print what a store lists, one row an entry of a class."""
    with state.open() as store:
        entries = read(store)
    if output.for_people and entries and not has_column_options():
        print_view(View((listing_table(entries),)))
        return
    output.emit_records(kind, entries, **look_of(kind.__name__, entries), empty=empty)


@command("list models")
@output_options
def models(state: State, output: Output) -> None:
    from warehouse.store.curate.aliases import ModelEntry
    from warehouse.store.curate.aliases import models as read

    _print_entries(state, output, ModelEntry, read, "no models yet")


@command("list benchmarks")
@output_options
def benchmarks(state: State, output: Output) -> None:
    from warehouse.store.curate.aliases import BenchmarkEntry
    from warehouse.store.curate.aliases import benchmarks as read

    _print_entries(state, output, BenchmarkEntry, read, "no benchmarks yet")


@command("list sources")
@click.argument("source", required=False)
@output_options
def sources(state: State, source: str | None, output: Output) -> None:
    from warehouse.store.curate import catalogue

    with state.open() as store:
        entries = catalogue.sources(store, source)
        rejected = []
        if source and entries:
            rejected = catalogue.rejections(store, entries[0].source_id)
    output.emit_records(
        catalogue.SourceEntry,
        entries,
        **look_of("SourceEntry", entries),
        empty="nothing ingested yet",
    )
    if source and output.for_people:
        for text in entries[0].notes:
            print_text(f"note: {text}")
        for row in rejected:
            print_text(f"rejected: {row.place}: {row.found}; expected {row.expected}")


@command("list metrics")
@click.argument("benchmark")
@output_options
def metrics(state: State, benchmark: str, output: Output) -> None:
    print_metrics(state, benchmark, output)


def print_metrics(state: State, benchmark: str, output: Output) -> None:
    """Print the metrics of a benchmark."""
    from warehouse.store.curate import headline_metric

    with state.open() as store:
        entries = headline_metric.metrics(store, benchmark)
    output.emit_records(
        headline_metric.MetricEntry, entries, empty=f"{benchmark} has no metrics yet"
    )


@command("list settings")
@click.argument("benchmark", required=False, default="")
@output_options
def settings(state: State, benchmark: str, output: Output) -> None:
    from warehouse.store.curate import conditions

    with state.open() as store:
        entries = conditions.settings(store, benchmark)
    nothing = "every setting counts"
    if benchmark:
        nothing = "runs of one model differ in no setting"
    output.emit_records(
        conditions.SettingEntry,
        entries,
        hide_empty=("benchmark", "reason"),
        empty=nothing,
    )


@command("list links")
@output_options
def links(state: State, output: Output) -> None:
    from warehouse.store.curate import prompt_links

    with state.open() as store:
        found = prompt_links.links(store)
    output.emit_records(prompt_links.LinkEntry, found, empty="no prompts are linked")


@command("list declared")
@click.argument("benchmark", required=False)
@output_options
def declared(state: State, benchmark: str | None, output: Output) -> None:
    print_declared(state, benchmark, output)


def print_declared(state: State, benchmark: str | None, output: Output) -> None:
    """Print what people said of benchmarks."""
    from warehouse.store.curate.declarations import Declaration, declarations

    with state.open() as store:
        rows = declarations(store, benchmark)
    output.emit_records(
        Declaration,
        rows,
        **look_of("Declaration", rows),
        empty="nothing is declared; see: warehouse fix alias --help",
    )


@command("list prices")
@output_options
def prices(state: State, output: Output) -> None:
    print_prices(state, output)


def print_prices(state: State, output: Output) -> None:
    """Print the stored prices, and the models that used tokens without one."""
    from warehouse.store.curate.prices import (
        StoredPrice,
        models_without_price,
        stored_prices,
    )

    with state.open() as store:
        rows = stored_prices(store)
        lacking = models_without_price(store)
    output.emit_records(
        StoredPrice,
        rows,
        hide_empty=("cached", "cache_write", "reasoning", "until"),
        empty="no prices yet: warehouse fix prices FILE",
    )
    if lacking:
        state.say(f"note: tokens without a price of the day: {some_of(lacking)}")


@command("list clusters")
@click.argument("benchmark", required=False)
@output_options
def clusters(state: State, /, benchmark: str | None, output: Output) -> None:
    from warehouse.analysis.text.clusters_view import chained_notes
    from warehouse.analysis.text.semantic_clusters import (
        ClusteringRow,
        stored_clusterings,
    )

    with state.open() as store:
        rows = stored_clusterings(store, benchmark)
    if not output.for_people:
        return output.emit_records(ClusteringRow, rows)
    cells = [
        {
            "benchmark": row.benchmark,
            "clustering": row.name,
            "for error bars": "yes" if row.is_default else "",
            "prompts": row.n_prompts,
            "clusters": row.n_clusters,
            "alone": row.n_single,
            "largest": row.largest,
            "share": percentage(row.share_largest),
        }
        for row in rows
    ]
    print_rows(
        cells,
        hide_empty=("for error bars",),
        empty="no clusterings; see: warehouse fix cluster --help, warehouse text cluster --help",
        minor=("alone",),
    )
    for row in rows:
        state.notes(chained_notes(row.name, row.largest, row.n_prompts))
