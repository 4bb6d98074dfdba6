"""``embed``, ``similar``, ``duplicates`` and ``cluster``: what prompts ask, and which belong together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.items.excerpts import distinctive
from warehouse.questions.text import ClusterByText, EmbedPrompts, FindDuplicates, FindSimilar

from ..lazy_group import command, former, group
from ..state import State
from ..ui.options import Function, fields_callback, option, output_options
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import echo, excerpt, number, percentage, print_rows, print_table, print_text

if TYPE_CHECKING:
    from warehouse.analysis.text.duplicates import DuplicateRow, Duplicates
    from warehouse.analysis.text.embed import Embedding
    from warehouse.analysis.text.semantic_clusters import SemanticClusters
    from warehouse.analysis.text.similar import Similar


#: Pairs that people are shown; programs get all that were kept.
SHOWN = 20
#: Characters of a question in a table.
EXCERPT = 60


@command("embed")
@options_of(EmbedPrompts)
@output_options
def embed(state: State, /, output: Output, **options: Any) -> None:
    from ..ui.progress import steps

    with steps(state.quiet) as bar:
        embedding: Embedding = EmbedPrompts(**options, progress=bar).ask(state.opener())
    output.give(embedding, lambda: _print_embedded(embedding, state))


def _print_embedded(embedding: Embedding, state: State) -> None:
    several = any(row.part != "prompt" for row in embedding.rows)
    rows = [
        {
            "embedder": row.embedder,
            "revision": row.revision,
            "numbers": row.dimension,
            "benchmark": row.benchmark,
            "part": row.part if several else None,
            "prompts": row.n_prompts,
            "new": row.n_new,
            "unchanged": row.n_unchanged,
            "truncated": row.n_truncated,
            "without text": row.n_without_text,
            "without vector": row.n_without_vector,
            "template words": row.n_template_words,
        }
        for row in embedding.rows
    ]
    counts = ("truncated", "without text", "without vector", "template words")
    print_rows(rows, hide_empty=("revision", "part"), counts=counts, minor=("numbers", "revision", "embedder"))
    echo(f"\n{embedding.one_line}")
    if any(row.n_template_words for row in embedding.rows):
        state.say("note: words that all prompts of a benchmark share at an end are taken off first; --whole keeps them")
    if any(row.n_truncated for row in embedding.rows):
        state.say("note: of truncated texts the model read the beginning only")
    if any(row.n_without_vector for row in embedding.rows):
        state.say("note: texts without vector hold no word that the model knows; not stored")


@command("similar")
@options_of(FindSimilar)
@output_options
def similar(state: State, /, output: Output, **options: Any) -> None:
    nearest: Similar = state.ask(FindSimilar(**options))
    output.give(nearest, lambda: _print_similar(nearest))


def _print_similar(nearest: Similar) -> None:
    what = "the text" if nearest.prompt_id is None else f"prompt:{nearest.prompt_id}"
    print_text(f"nearest to {what}: {excerpt(nearest.wanted, EXCERPT)}")
    of = "" if nearest.part == "prompt" else f", their {nearest.part}"
    print_text(f"by {nearest.embedder}, of {nearest.n_compared} prompts{of}\n")
    texts = distinctive([row.text for row in nearest.rows], [nearest.wanted])
    rows = [
        {
            "similarity": number(row.similarity, 3),
            "benchmark": row.benchmark,
            "split": row.split,
            "prompt": f"prompt:{row.prompt_id}",
            _heading(nearest.part): excerpt(question, EXCERPT),
            "target": None if nearest.part == "target" else excerpt(row.target, EXCERPT // 2),
        }
        for row, question in zip(nearest.rows, texts, strict=True)
    ]
    print_rows(rows, hide_empty=("split", "target"), empty="no other prompt")


def _heading(part: str) -> str:
    """What a column of the texts that were compared is called."""
    return {"prompt": "question", "target": "answer"}.get(part, part)


@command("duplicates")
@options_of(FindDuplicates)
@output_options
def duplicates(state: State, /, output: Output, **options: Any) -> None:
    from ..ui.progress import share

    with share(state.quiet, "comparing prompts") as bar:
        result: Duplicates = FindDuplicates(**options, progress=bar).ask(state.opener())
    output.give(result, lambda: _print_duplicates(result))
    if result.n_without_vector:
        state.say(f"note: {result.n_without_vector} prompts have no vector; see: warehouse embed")
    state.notes(result.notes)
    if result.n_pairs > len(result.rows):
        state.say(f"note: the {len(result.rows)} most similar pairs were scored; --keep N for more")


def _print_duplicates(result: Duplicates) -> None:
    print_text(result.one_line)
    if not result.rows:
        return
    echo(f"largest group: {result.largest_group} prompts\n")
    print_table(
        ["pairs", "benchmark", "and"],
        [
            [row.n_pairs, row.benchmark_a, "itself" if row.benchmark_a == row.benchmark_b else row.benchmark_b]
            for row in result.places
        ],
    )
    if result.models:
        echo()
        print_table(
            ["model", "pairs", "scored alike", "by chance"],
            [[row.model, row.n_pairs, number(row.alike, 3), number(row.by_chance, 3)] for row in result.models],
        )
    echo()
    shown = result.rows[:SHOWN]
    texts = distinctive([row.text_a for row in shown], [row.text_b for row in shown])
    print_rows(
        [_pair(row, text, result.part) for row, text in zip(shown, texts, strict=True)],
        hide_empty=("alike",),
        counts=("models",),
    )
    if len(result.rows) > SHOWN:
        print_text(f"... and {len(result.rows) - SHOWN} more pairs: --json or --csv has them")


def _pair(row: DuplicateRow, text: str, part: str) -> dict[str, Any]:
    both = row.benchmark_a == row.benchmark_b
    benchmarks = row.benchmark_a if both else f"{row.benchmark_a}, {row.benchmark_b}"
    target = {True: "same", False: "differs", None: ""}[row.same_target]
    return {
        "similarity": number(row.similarity, 3),
        "prompts": f"prompt:{row.prompt_a}, prompt:{row.prompt_b}",
        "benchmark": benchmarks,
        "models": row.n_models,
        "alike": number(row.alike, 2),
        "target": target,
        _heading(part): excerpt(text, EXCERPT),
    }


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
    print_text(f"{benchmark}: {prompts} prompts in {clusters} clusters by {name}{used}")


_default_option = option("--default", "Use it for error bars from now on.", name="default", is_flag=True)


@command("cluster by", group=cluster)
@click.argument("benchmark")
@click.argument("fields", metavar="FIELD[,FIELD]", callback=fields_callback)
@_default_option
def by(state: State, benchmark: str, fields: tuple[str, ...], default: bool) -> None:
    _group_by_fields(state, benchmark, fields, default)


@former("cluster", "cluster by")
@click.argument("benchmark")
@click.option("--by", "fields", metavar="FIELD[,FIELD]", required=True, callback=fields_callback)
@_default_option
def former_by(state: State, benchmark: str, fields: tuple[str, ...], default: bool) -> None:
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
        clusters: SemanticClusters = ClusterByText(**options, progress=bar).ask(state.opener())
    output.give(clusters, lambda: _print_clusters(clusters))
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
    print_text(clusters.one_line)
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
            "estimate": number(row.estimate, 3),
            "se": number(row.se_unclustered, 4),
            "clustered se": number(row.se_clustered, 4),
            "growth": number(row.growth, 2),
            "prompts": row.n_prompts,
            "clusters": row.n_clusters,
        }
        for row in clusters.rows
    ]
    print_rows(rows, hide_empty=("condition",), empty="no runs on this benchmark yet")


@command("cluster show", group=cluster)
@click.argument("benchmark", required=False)
@output_options
def show(state: State, /, benchmark: str | None, output: Output) -> None:
    from warehouse.analysis.text.semantic_clusters import ClusteringRow, stored_clusterings

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
        cells, hide_empty=("for error bars",), empty="no clusterings; see: warehouse cluster --help", minor=("alone",)
    )
    for row in rows:
        _say_chained(state, row.name, row.largest, row.n_prompts)
