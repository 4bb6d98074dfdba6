"""``embed``, ``similar``, ``duplicates`` and ``cluster``: what prompts ask, and which
belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.text.question import ClusterByText, EmbedPrompts, FindDuplicates

from ..lazy_group import command, former, group
from ..state import State
from ..ui.options import Function, fields_callback, option, output_options
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import percentage, print_rows, print_text, print_view

if TYPE_CHECKING:
    from warehouse.analysis.text.clusters_view import SemanticClusters
    from warehouse.analysis.text.duplicates_view import Duplicates
    from warehouse.analysis.text.embed_view import Embedding


@command("embed")
@options_of(EmbedPrompts)
@output_options
def embed(state: State, /, output: Output, **options: Any) -> None:
    from ..ui.progress import steps

    with steps(state.quiet) as bar:
        embedding: Embedding = EmbedPrompts(**options, progress=bar).ask(state.opener())
    output.give(embedding, lambda: state.show(embedding.view()))


@command("duplicates")
@options_of(FindDuplicates)
@output_options
def duplicates(state: State, /, output: Output, **options: Any) -> None:
    from ..ui.progress import share

    with share(state.quiet, "comparing prompts") as bar:
        result: Duplicates = FindDuplicates(**options, progress=bar).ask(state.opener())
    view = result.view()
    output.give(result, lambda: print_view(view))
    state.notes(view.notes)


class ClusterGroup(click.Group):
    """Also takes the former ``cluster BENCHMARK --by FIELDS``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        named = any(word.partition("=")[0] == "--by" for word in args)
        if named and not any(word in self.commands for word in args[:1]):
            args = [_FORMER, *args]
        return super().parse_args(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == _FORMER:
            return former_by
        return super().get_command(ctx, cmd_name)


#: What no benchmark and no command is called.
_FORMER = "\0former"


@group("cluster", cls=ClusterGroup)
def cluster() -> None:
    pass


def _group_by_fields(
    state: State, benchmark: str, fields: tuple[str, ...], default: bool
) -> None:
    from warehouse.store.curate.field_clusters import cluster_by

    with state.open(write=True) as store:
        name, clusters, prompts = cluster_by(store, benchmark, fields, default=default)
    used = ""
    if default:
        used = "; error bars use it"
    print_text(f"{benchmark}: {prompts} prompts in {clusters} clusters by {name}{used}")


_default_option = option(
    "--default", "Use it for error bars from now on.", name="default", is_flag=True
)


@command("cluster by", group=cluster)
@click.argument("benchmark")
@click.argument("fields", metavar="FIELD[,FIELD]", callback=fields_callback)
@_default_option
def by(state: State, benchmark: str, fields: tuple[str, ...], default: bool) -> None:
    _group_by_fields(state, benchmark, fields, default)


@former("cluster", "cluster by")
@click.argument("benchmark")
@click.option(
    "--by", "fields", metavar="FIELD[,FIELD]", required=True, callback=fields_callback
)
@_default_option
def former_by(
    state: State, benchmark: str, fields: tuple[str, ...], default: bool
) -> None:
    state.say(f"note: this is now: warehouse cluster by {benchmark} {','.join(fields)}")
    _group_by_fields(state, benchmark, fields, default)


def _text_options(function: Function) -> Function:
    """Arguments and options of clusters by what prompts ask."""
    return options_of(ClusterByText)(output_options(function))


@command("cluster text", group=cluster)
@_text_options
def text(state: State, /, output: Output, **options: Any) -> None:
    _group_by_text(state, output, options)


@former("cluster-semantic", "cluster text")
@_text_options
def former_text(state: State, /, output: Output, **options: Any) -> None:
    state.say(f"note: this is now: warehouse cluster text {options['benchmark']}")
    _group_by_text(state, output, options)


def _group_by_text(state: State, output: Output, options: dict[str, Any]) -> None:
    from ..ui.progress import share

    if options["default"] and not options["store_result"]:
        raise click.UsageError("--no-store stores nothing that --default could use")
    with share(state.quiet, "comparing prompts") as bar:
        clusters: SemanticClusters = ClusterByText(**options, progress=bar).ask(
            state.opener()
        )
    view = clusters.view()
    output.give(clusters, lambda: print_view(view))
    state.notes(view.notes)


@command("cluster show", group=cluster)
@click.argument("benchmark", required=False)
@output_options
def show(state: State, /, benchmark: str | None, output: Output) -> None:
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
        empty="no clusterings; see: warehouse cluster --help",
        minor=("alone",),
    )
    for row in rows:
        state.notes(chained_notes(row.name, row.largest, row.n_prompts))
