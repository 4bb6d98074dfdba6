"""``compare``: the paired difference of two models."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .frame import command
from .options import (
    REFERENCE,
    cluster_option,
    latest_option,
    level_option,
    metric_option,
    output_options,
    where_option,
)
from .output import Output
from .state import State, pass_state
from .table import decimals, interval, number, print_table

if TYPE_CHECKING:
    from warehouse.metrics.compare import Comparison
    from warehouse.metrics.comparison_rows import ComparisonRow


@command("compare")
@click.argument("a", metavar=REFERENCE)
@click.argument("b", metavar=REFERENCE)
@click.option("--benchmark", metavar="NAME", help="Default: every benchmark that both have.")
@metric_option
@where_option
@latest_option
@cluster_option
@level_option
@click.option(
    "--force", is_flag=True, help="Compare what differs in judge, metric scale or task version."
)
@output_options
@pass_state
def compare(state: State, /, a: str, b: str, output: Output, **options: Any) -> None:
    from warehouse.metrics.compare import compare as pair
    from warehouse.metrics.comparison_rows import ComparisonRow

    with state.open() as store:
        found = pair(store, a, b, **options)
    if output.for_people:
        _print(found, state)
    else:
        output.emit_records(ComparisonRow, found.rows)
    for reason in found.left_out:
        state.say(f"note: left out {reason}")


def _print(found: Comparison, state: State) -> None:
    first, second = found.rows[0].model_a, found.rows[0].model_b
    level = f"{100 * found.rows[0].level:g}% interval"
    click.echo(f"a = {first}\nb = {second}\n")
    columns = ["benchmark", "split", "metric", "a", "b", "a - b", "se", level, "p", "better",
               "prompts", "clusters", "only a", "only b", "correlation", "method",
               "flags"]  # fmt: skip
    needless = ("split", "clusters", "only a", "only b", "method", "flags")
    rows = [_cells(row, state.verbose) for row in found.rows]
    print_table(columns, rows, needless=needless)
    for row in found.rows:
        if row.reason and (row.ci_low is None or state.verbose):
            state.say(f"note: {row.benchmark}: {row.reason}")


def _cells(row: ComparisonRow, verbose: bool) -> list[Any]:
    places = decimals([row.standard_error])
    p = None if row.p_value is None else f"{row.p_value:.2g}"
    return [
        row.benchmark, row.split, row.metric, number(row.mean_a, places),
        number(row.mean_b, places), number(row.difference, places, sign=True),
        number(row.standard_error, places), interval(row.ci_low, row.ci_high, places), p,
        row.better or "neither", row.n_prompts, row.n_clusters, row.only_a, row.only_b,
        number(row.correlation, 2), row.method if verbose else "", row.flags,
    ]  # fmt: skip
