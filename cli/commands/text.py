"""``grep``: which texts match a pattern. ``embed``, ``duplicates`` and ``cluster``: what
prompts ask, and which belong together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.grep.question import Grep
from warehouse.analysis.text.question import ClusterByText, EmbedPrompts, FindDuplicates

from ..lazy_group import command
from ..state import State
from ..ui.options import Function, option, output_options, typed
from ..ui.output import Output
from ..ui.questions import options_of
from ..ui.table import print_view

if TYPE_CHECKING:
    from warehouse.analysis.grep.view import GrepReport
    from warehouse.analysis.text.clusters_view import SemanticClusters
    from warehouse.analysis.text.duplicates_view import Duplicates
    from warehouse.analysis.text.embed_view import Embedding


@command("text grep")
@options_of(Grep)
@option(
    "-l --samples",
    "The samples in place of the counts, in every form of output.",
    is_flag=True,
)
@output_options
def grep(state: State, /, output: Output, samples: bool, **options: Any) -> int:
    """Ends with 1 where nothing matches, as grep does."""
    question = Grep.from_command(options, typed(options))
    if samples and question.count:
        raise click.UsageError("--samples shows samples, and --count shows none")
    report: GrepReport = state.ask(question)
    if samples:
        state.give(output, report, report.samples_view, part="samples")
    else:
        state.give(output, report, partial(state.view_of, report.view))
    return int(not report.n_matches)


@command("text embed")
@options_of(EmbedPrompts)
@output_options
def embed(state: State, /, output: Output, **options: Any) -> None:
    from ..ui.progress import steps

    with steps(state.quiet) as bar:
        embedding: Embedding = EmbedPrompts(**options, progress=bar).ask(state.opener())
    output.give(embedding, lambda: state.show(state.view_of(embedding.view)))


@command("text duplicates")
@options_of(FindDuplicates)
@output_options
def duplicates(state: State, /, output: Output, **options: Any) -> None:
    from ..ui.progress import share

    with share(state.quiet, "comparing prompts") as bar:
        result: Duplicates = FindDuplicates(**options, progress=bar).ask(state.opener())
    view = state.view_of(result.view)
    output.give(result, lambda: print_view(view))
    state.notes(view.notes)


def _text_options(function: Function) -> Function:
    """Arguments and options of clusters by what prompts ask."""
    return options_of(ClusterByText)(output_options(function))


@command("text cluster")
@_text_options
def text(state: State, /, output: Output, **options: Any) -> None:
    _group_by_text(state, output, options)


def _group_by_text(state: State, output: Output, options: dict[str, Any]) -> None:
    from ..ui.progress import share

    if options["default"] and not options["store_result"]:
        raise click.UsageError("--no-store stores nothing that --default could use")
    with share(state.quiet, "comparing prompts") as bar:
        clusters: SemanticClusters = ClusterByText(**options, progress=bar).ask(
            state.opener()
        )
    view = state.view_of(clusters.view)
    output.give(clusters, lambda: print_view(view))
    state.notes(view.notes)
