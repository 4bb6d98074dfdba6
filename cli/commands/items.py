"""``items``: what single prompts say about models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from warehouse.questions.items import ItemFeatures, ItemPruning, Items, ItemSplits

from ..lazy_group import command
from ..state import State
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
from ..ui.table import echo, excerpt, interval, number, p_value, print_legend, print_rows, print_text

if TYPE_CHECKING:
    from warehouse.analysis.items.features import FeatureReport, FeatureRow
    from warehouse.analysis.items.item_statistics import ItemReport
    from warehouse.analysis.items.pruning import PruningReport, SplitReport


@command("items")
@benchmark_argument(required=True)
@options_of(Items, without=("benchmark",))
@top_option("Prompts to show, with --features values of a feature", 20, "20, 5")
@option("--splits", "Instead: does discrimination on some models hold on others?", is_flag=True)
@option("--pruning", "Instead: what dropping weak prompts does, beside random ones.", is_flag=True)
@option("--features", "Instead: what goes with difficulty and discrimination of prompts.", is_flag=True)
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
        of_features = question.only(ItemFeatures, "does not go with --features", by=by, cluster=cluster, level=level)
        return _show_features(state, of_features, top if is_typed("top") else VALUES, output)
    if not (splits or pruning):
        refuse_typed("goes with --splits or --pruning: nothing else is random", "seed")
        _show_items(state, question, top, output)
        return
    unused = "goes with the table of prompts alone, not with --splits or --pruning"
    refuse_typed(unused, "top")
    if pruning and wants_picture():
        raise click.UsageError("--svg draws the prompts, or with --splits both sides; not --pruning")
    if splits:
        _show_splits(state, question.only(ItemSplits, unused, seed=seed), output)
    else:
        _show_pruning(state, question.only(ItemPruning, unused, seed=seed), output)


def _show_items(state: State, question: Items, top: int, output: Output) -> None:
    report: ItemReport = state.ask(question)
    draw(report)
    output.give(report, lambda: print_items(report, top, state), records=first_rows(report.rows, top, output))
    state.notes(report.notes)


def _show_splits(state: State, question: ItemSplits, output: Output) -> None:
    report: SplitReport = state.ask(question)
    draw(report)
    output.give(report, lambda: print_splits(report))
    state.notes(report.notes)


def _show_pruning(state: State, question: ItemPruning, output: Output) -> None:
    report: PruningReport = state.ask(question)
    output.give(report, lambda: print_pruning(report))
    missing = [] if report.n_trainings else ["no monotonicity: no training run with 3 checkpoints here"]
    missing += [] if report.n_recipes else ["no signal-to-noise: no recipe with several training seeds here"]
    state.notes((*report.notes, *missing, "a pruned benchmark is easier: never report its scores"))


#: Values of a feature that people are shown, and characters of one.
VALUES, LONG = 5, 40


def _show_features(state: State, question: ItemFeatures, top: int, output: Output) -> None:
    report: FeatureReport = state.ask(question)
    draw(report)
    records = _limited(report, top) if is_typed("top") else report.rows
    output.give(report, lambda: print_features(report, top, state), records=records)
    state.notes(report.notes)


#: Columns in words.
LEGEND = {
    "r implied": "correlation with the other prompts that the item response model implies; sorted by it",
    "r_c": "correlation with the sum of the other prompts, over models",
    "q negative": "chance of an r_c so far below 0 if there were none, of a sum in which such prompts count in reverse"
    " (Benjamini and Hochberg over prompts)",
    "models": "that answered it, where not all did",
    "a": "how well the prompt tells able models from others",
    "free a": "the same where it may be negative, of prompts that go against the fitted ability: a wrong key?",
    "difficulty": "ability at which half of the models are right, in standard deviations of their abilities",
    "outfit": "mean squared residual of the model, about 1 where it fits",
}


def print_items(report: ItemReport, top: int, state: State) -> None:
    """Prompts, those that go against the rest first."""
    print_text(report.one_line)
    echo()
    shown = report.rows[:top] if top else report.rows
    columns = print_rows(
        [
            {
                "prompt": row.prompt,
                "id": row.key,
                "models": None if row.n_models == report.n_models else row.n_models,
                "mean": number(row.mean_score, 3),
                "r implied": number(row.r_implied, 2),
                "r_c": number(row.r_corrected, 2),
                "q negative": p_value(row.q_negative) if row.negative else None,
                "a": number(row.discrimination, 2),
                "free a": number(row.free_discrimination, 2) if row.reversed else None,
                "difficulty": number(row.difficulty, 2),
                "se": number(row.se_difficulty, 2),
                "outfit": number(row.outfit, 2),
                "copies": row.same_text or None,
                "near": row.near or None,
                "text": row.text,
            }
            for row in shown
        ],
        hide_empty=(
            *("models", "q negative", "r implied", "a", "free a", "difficulty", "se", "outfit", "copies", "near"),
            "text",
        ),
        minor=("se", "id", "outfit", "a", "r implied"),
    )
    print_legend(LEGEND, columns)
    if len(shown) < len(report.rows):
        state.say(f"note: {len(report.rows) - len(shown)} more prompts: --top 0 has all")


def print_splits(report: SplitReport) -> None:
    """Whether discrimination on some models holds on others."""
    print_text(f"{report.one_line}: discrimination (r_c) on train models against test models.")
    echo()
    print_rows(
        [
            {
                "split": row.kind,
                "train": row.n_train,
                "test": row.n_test,
                "prompts": number(row.n_items, 0),
                "r": number(row.pearson, 3),
                "from, to": interval(row.pearson_low, row.pearson_high, 3),
                "spearman": number(row.spearman, 3),
                "below 0": number(row.negative_train, 1),
                "in both": number(row.negative_both, 1),
            }
            for row in report.rows
        ]
    )
    echo()
    random = report.rows[-1].n_splits
    print_text(f"difficulty: the best models are the test; random: mean of {random} splits, and their range.")


def print_pruning(report: PruningReport) -> None:
    """What dropping weak prompts does, compared with random ones."""
    print_text(f"{report.one_line}: least discriminating prompts of {report.n_train} models dropped,")
    print_text(f"effects on the other {report.n_test}, beside {report.n_random} random drops as large.")
    echo()
    print_rows(
        [
            {
                "split": row.split,
                "dropped": f"{100 * row.share:g}%",
                "figure": row.figure,
                "value": number(row.value, 4),
                "95% interval": interval(row.low, row.high, 4),
                "random": number(row.random, 4),
                "95% of random": interval(row.random_low, row.random_high, 4),
            }
            for row in report.rows
            if row.share
        ]
    )
    echo()
    print_text("mean, monotonicity: change; error, snr: after over before; tau: agreement with all prompts.")


#: The same of features.
FEATURES = {
    "effect": "change of the figure for one unit (of length a doubling); of a value its difference from all others",
    "per SD": "the same for a standard deviation of the feature",
    "p Holm": "chance of as much without any effect, all tests here taken together; values among all values",
    "!": "skewed: with so few prompts and so skewed a figure p is too small, so 0.01 counts and not 0.05; few: fewer"
    " than 4 degrees of freedom",
}
_FLAGS = {"skewed": "skewed", "few_clusters": "few"}


def print_features(report: FeatureReport, top: int, state: State) -> None:
    """Each figure with the features in turn, and the values that differ most."""
    print_text(report.one_line)
    limited = _limited(report, top)
    columns: set[str] = set()
    for figure in dict.fromkeys(row.figure for row in report.rows):
        shown = [row for row in limited if row.figure == figure]
        echo(f"\n{figure}")
        cells = [_feature_cells(row, report.level) for row in shown if not row.reason]
        columns |= {*print_rows(cells, hide_empty=("per SD", "!"), empty="nothing to test", minor=("prompts",))}
        for row in shown:
            if row.reason:
                name = row.feature if row.level is None else f"{row.feature} = {excerpt(row.level, LONG)}"
                print_text(f"{name}: {row.reason}")
    echo()
    print_legend(FEATURES, columns)
    if hidden := len(report.rows) - len(limited):
        state.say(f"note: {hidden} more values: --top 0 has all")


def _limited(report: FeatureReport, top: int) -> list[FeatureRow]:
    """Of each figure and feature the test, then so many values, those that differ most first; 0: all."""
    found: list[FeatureRow] = []
    for figure, feature in dict.fromkeys((row.figure, row.feature) for row in report.rows):
        own = [row for row in report.rows if (row.figure, row.feature) == (figure, feature)]
        values = sorted((row for row in own if row.level is not None), key=lambda row: -abs(row.estimate or 0))
        found += [*(row for row in own if row.level is None), *(values[:top] if top else values)]
    return found


def _feature_name(row: FeatureRow) -> str:
    """What a row is called; values of a feature stand below it."""
    if row.level is None:
        return row.feature
    level = excerpt(row.level, LONG)
    return f"= {level}" if row.kind == "value" else f"{row.feature}: {level}"


def _feature_cells(row: FeatureRow, level: float) -> dict[str, Any]:
    return {
        "feature": _feature_name(row),
        "prompts": row.n_prompts if row.n_level is None else row.n_level,
        "per SD": number(row.per_sd, 3),
        "effect": number(row.estimate, 3),
        f"{100 * level:g}% interval": interval(row.ci_low, row.ci_high, 3),
        "p Holm": p_value(row.p_holm),
        "!": ", ".join(_FLAGS[flag] for flag in row.flags) or None,
    }
