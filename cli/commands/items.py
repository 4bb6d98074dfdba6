"""``items``: what single prompts say about models."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.items.question import (
    ItemFeatures,
    ItemPruning,
    Items,
    ItemSplits,
)

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import (
    benchmark_argument,
    draw,
    drawable,
    first_rows,
    is_typed,
    option,
    output_options,
    refuse_typed,
    top_option,
    typed,
    wants_picture,
)
from ..ui.output import Output
from ..ui.questions import options_of, seed_option
from ..ui.table import print_view

if TYPE_CHECKING:
    from warehouse.analysis.items.feature_view import FeatureReport
    from warehouse.analysis.items.pruning_view import PruningReport, SplitReport
    from warehouse.analysis.items.view import ItemReport


@command("items difficulty")
@benchmark_argument(required=True)
@options_of(Items, without=("benchmark",))
@top_option("Prompts to show, with --features values of a feature", 20, "20, 5")
@option(
    "--splits",
    "Instead: does discrimination on some models hold on others?",
    is_flag=True,
)
@option(
    "--pruning",
    "Instead: what dropping weak prompts does, beside random ones.",
    is_flag=True,
)
@option(
    "--features",
    "Instead: what goes with difficulty and discrimination of prompts.",
    is_flag=True,
)
@options_of(ItemFeatures, without=("benchmark", "metric", "where", "latest"))
@seed_option
@drawable
@output_options
def items(
    state: State,
    /,
    benchmark: str,
    top: int,
    splits: bool,
    pruning: bool,
    features: bool,
    seed: int,
    output: Output,
    by: tuple[str, ...],
    cluster: str | None,
    level: float,
    **options: Any,
) -> None:
    question = Items.from_command(options | {"benchmark": benchmark}, typed(options))
    if splits + pruning + features > 1:
        raise click.UsageError("give one of --splits, --pruning and --features")
    if not features:
        refuse_typed("goes with --features", "by", "cluster", "level")
    else:
        refuse_typed("goes with --splits or --pruning: nothing here is random", "seed")
        of_features = question.only(
            ItemFeatures,
            "does not go with --features",
            by=by,
            cluster=cluster,
            level=level,
        )
        return _show_features(
            state, of_features, top if is_typed("top") else None, output
        )
    if not (splits or pruning):
        refuse_typed("goes with --splits or --pruning: nothing else is random", "seed")
        _show_items(state, question, top, output)
        return
    unused = "goes with the table of prompts alone, not with --splits or --pruning"
    refuse_typed(unused, "top")
    if pruning and wants_picture():
        raise click.UsageError(
            "--svg draws the prompts, or with --splits both sides; not --pruning"
        )
    if splits:
        _show_splits(state, question.only(ItemSplits, unused, seed=seed), output)
    else:
        _show_pruning(state, question.only(ItemPruning, unused, seed=seed), output)


def _show_items(state: State, question: Items, top: int, output: Output) -> None:
    report: ItemReport = state.ask(question)
    draw(report)
    if output.for_people:
        state.show(state.view_of(partial(report.view, top=top)))
        say_next(state, output, report, question)
    else:
        output.emit_records(report.kind_of(), first_rows(report.rows, top, output))
        state.notes(report.notes)


def _show_splits(state: State, question: ItemSplits, output: Output) -> None:
    report: SplitReport = state.ask(question)
    draw(report)
    output.give(report, lambda: print_view(report.view()))
    state.notes(report.notes)


def _show_pruning(state: State, question: ItemPruning, output: Output) -> None:
    report: PruningReport = state.ask(question)
    view = report.view()
    output.give(report, lambda: print_view(view))
    state.notes(view.notes)


def _show_features(
    state: State, question: ItemFeatures, top: int | None, output: Output
) -> None:
    report: FeatureReport = state.ask(question)
    draw(report)
    if output.for_people:
        state.show(report.view() if top is None else report.view(top=top))
    else:
        output.emit_records(
            report.kind_of(), report.rows if top is None else report.first(top)
        )
        state.notes(report.notes)
