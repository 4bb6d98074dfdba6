"""``cluster``: prompts that belong together, by fields of their documents or by what they ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..lazy_group import command, former, group
from ..state import State, pass_state
from ..ui.options import fields_callback, no_store_option, output_options, replace_option, threshold_option
from ..ui.output import Output
from ..ui.table import echo, number, percentage, print_rows, print_text
from .text import ALIKE, embedder_option

if TYPE_CHECKING:
    from warehouse.analysis.text.semantic_clusters import SemanticClusters

#: A clustering of so many prompts or more, of which one cluster holds more than this share, has chained.
MANY, CHAINED = 20, 0.3


class ClusterGroup(click.Group):
    """Also takes the former ``cluster BENCHMARK --by FIELDS``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = any(word.partition("=")[0] == "--by" for word in args)
        if named and not any(word in self.commands for word in args[:1]):
            args = [_FORMER, *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return former_by if cmd_name == _FORMER else super().get_command(ctx, cmd_name)


#: What no benchmark and no command is called.
_FORMER = "\0former"


@group("cluster", cls=ClusterGroup)
def cluster() -> None:
    pass


def _group_by_fields(state: State, benchmark: str, fields: tuple[str, ...], default: bool) -> None:
    from warehouse.store.curate.field_clusters import cluster_by

    with state.open(write=True) as store:
        name, clusters, prompts = cluster_by(store, benchmark, fields, default=default)
    used = "; error bars use it" if default else ""
    echo(f"{benchmark}: {prompts} prompts in {clusters} clusters by {name}{used}")


_default_option = click.option("--default", "default", is_flag=True, help="Use it for error bars from now on.")


@command("cluster by")
@click.argument("benchmark")
@click.argument("fields", metavar="FIELD[,FIELD]", callback=fields_callback)
@_default_option
@pass_state
def by(state: State, benchmark: str, fields: tuple[str, ...], default: bool) -> None:
    _group_by_fields(state, benchmark, fields, default)


@former("cluster", "cluster by")
@click.argument("benchmark")
@click.option("--by", "fields", metavar="FIELD[,FIELD]", required=True, callback=fields_callback)
@_default_option
@pass_state
def former_by(state: State, benchmark: str, fields: tuple[str, ...], default: bool) -> None:
    state.say(f"note: this is now: warehouse cluster by {benchmark} {','.join(fields)}")
    _group_by_fields(state, benchmark, fields, default)


def _text_options(function: Any) -> Any:
    """Arguments and options of clusters by what prompts ask."""
    name = click.option("--name", metavar="NAME", default="semantic", show_default=True, help="Of the clustering.")
    options = (threshold_option(0.8, ALIKE), embedder_option, name, _default_option, replace_option, no_store_option)
    for option in reversed((click.argument("benchmark"), *options, output_options)):
        function = option(function)
    return function


@command("cluster text")
@_text_options
@pass_state
def text(state: State, /, benchmark: str, output: Output, **options: Any) -> None:
    _group_by_text(state, benchmark, output, options)


@former("cluster-semantic", "cluster text")
@_text_options
@pass_state
def former_text(state: State, /, benchmark: str, output: Output, **options: Any) -> None:
    state.say(f"note: this is now: warehouse cluster text {benchmark}")
    _group_by_text(state, benchmark, output, options)


def _group_by_text(state: State, benchmark: str, output: Output, options: dict[str, Any]) -> None:
    from warehouse.analysis.text.semantic_clusters import GrowthRow, cluster_semantic

    from ..ui.progress_bars import share

    if options["default"] and not options["store_result"]:
        raise click.UsageError("--no-store stores nothing that --default could use")
    opened = state.open(write=options["store_result"])
    with opened as store, share(state.quiet, "comparing prompts") as bar:
        clusters = cluster_semantic(store, benchmark, progress=bar, **options)
    if output.for_people:
        _print_clusters(clusters)
    else:
        output.emit_records(GrowthRow, clusters.rows)
    if clusters.n_without_vector:
        state.say(f"note: {clusters.n_without_vector} prompts have no vector; see: warehouse embed")
    _say_chained(state, clusters.name, clusters.largest, clusters.n_prompts)


def _say_chained(state: State, name: str, largest: int, prompts: int) -> None:
    if prompts < MANY or largest <= CHAINED * prompts:
        return
    state.say(
        f"note: one cluster of {name!r} holds {largest} of {prompts} prompts: near ones chain, and errors by it"
        " are rough; try a larger --threshold"
    )


def _print_clusters(clusters: SemanticClusters) -> None:
    echo(clusters.one_line)
    print_text(
        f"joined from cosine {clusters.threshold:g} on ({clusters.embedder}); {clusters.n_single} prompts"
        f" stand alone, the largest cluster has {clusters.largest}"
    )
    used = "error bars use it" if clusters.is_default else f"use it with --cluster {clusters.name}"
    kept = f"stored as clustering {clusters.name!r}: {used}" if clusters.is_stored else "not stored"
    echo(f"{kept}\n")
    rows = [
        {
            "model": row.model,
            "condition": row.condition,
            "figure": number(row.estimate, 3),
            "se": number(row.se_unclustered, 4),
            "clustered se": number(row.se_clustered, 4),
            "growth": number(row.growth, 2),
            "prompts": row.n_prompts,
            "clusters": row.n_clusters,
        }
        for row in clusters.rows
    ]
    print_rows(rows, needless=("condition",), empty="no runs on this benchmark yet")


@command("cluster show")
@click.argument("benchmark", required=False)
@output_options
@pass_state
def show(state: State, /, benchmark: str | None, output: Output) -> None:
    from warehouse.analysis.text.stored_clusterings import ClusteringRow, stored_clusterings

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
        cells, needless=("for error bars",), empty="no clusterings; see: warehouse cluster --help", spare=("alone",)
    )
    for row in rows:
        _say_chained(state, row.name, row.largest, row.n_prompts)


for subcommand in (by, text, show):
    cluster.add_command(subcommand)
