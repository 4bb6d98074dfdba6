"""``pairs``: the difference of every two models on a benchmark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.flag_meanings import meanings
from ..ui.options import (
    cluster_option,
    latest_option,
    level_option,
    metric_option,
    output_options,
    resamples_option,
    seed_option,
    subset_option,
    where_option,
)
from ..ui.output import Output
from ..ui.table import decimals, direction, interval, number, p_value, print_rows, print_table, print_text

if TYPE_CHECKING:
    from warehouse.analysis.comparison.all_pairs import PairGroup, Pairs
    from warehouse.analysis.comparison.all_pairs_row import PairRow

MARKS = "* Holm, ' Benjamini-Hochberg only"

#: Columns that a narrow terminal does without, the first of them first.
SPARE = ("correlation", "p", "p BH", "prompts", "clusters", "se", "p Holm", "better", "p max-T", "split")


@command("pairs")
@click.argument("benchmark")
@click.option("--matrix", is_flag=True, help="Differences as a matrix, row minus column.")
@metric_option
@where_option
@latest_option
@subset_option
@cluster_option
@level_option
@resamples_option(9999, "Draws for the simultaneous intervals; 0: without.")
@seed_option
@output_options
@pass_state
def pairs(state: State, /, benchmark: str, matrix: bool, output: Output, **options: Any) -> None:
    from warehouse.analysis.comparison.all_pairs import pairs as all_pairs
    from warehouse.analysis.comparison.all_pairs_row import PairRow

    with state.open() as store:
        result = all_pairs(store, benchmark, **options)
    if matrix:
        _emit_matrices(result, output)
    elif output.for_people:
        _print(result)
    else:
        output.emit_records(PairRow, result.rows)
    for note in result.notes:
        state.say(f"note: {note.replace('subset_ok', '--subset')}")


def _print(result: Pairs) -> None:
    _head(result)
    places = decimals(row.standard_error for row in result.rows)
    labels = {
        runs: label
        for group, members in zip(result.groups, _members(result), strict=True)
        for runs, label in zip(members, group.labels, strict=True)
    }
    rows = [_cells(row, places, labels) for row in result.rows]
    needless = ("split", "clusters", "flags", "why not", simultaneous_column(result.rows[0].level))
    shown = print_rows(rows, needless=needless, spare=SPARE)
    _tail(result)
    for line in meanings(flag for row in result.rows for flag in row.flags if "flags" in shown):
        print_text(line)


def simultaneous_column(level: float) -> str:
    """The column of intervals, which stays away where there were no draws."""
    return f"{100 * level:g}% simultaneous"


def _members(result: Pairs) -> list[list[tuple[int, ...]]]:
    """Run ids of the conditions of each group, in order."""
    members, rows = [], list(result.rows)
    for group in result.groups:
        size = len(group.models)
        own, rows = rows[: size * (size - 1) // 2], rows[size * (size - 1) // 2 :]
        members.append([own[0].runs_a, *(row.runs_b for row in own[: size - 1])])
    return members


def _cells(row: PairRow, places: int, labels: dict[tuple[int, ...], str]) -> dict[str, Any]:
    return {
        "split": row.split,
        "a": labels[row.runs_a],
        "b": labels[row.runs_b],
        "a - b": number(row.difference, places, sign=True),
        "se": number(row.standard_error, places),
        simultaneous_column(row.level): interval(row.ci_low, row.ci_high, places),
        "p": p_value(row.p_value),
        "p Holm": p_value(row.p_holm),
        "p BH": p_value(row.p_bh),
        "p max-T": p_value(row.p_max_t),
        "better": row.better or "neither",
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "correlation": number(row.correlation, 2),
        "flags": row.flags,
        "why not": row.reason,
    }


def _head(result: Pairs) -> None:
    click.echo(f"{result.benchmark} by {result.metric} ({direction(result.higher_is_better)})")


def _tail(result: Pairs) -> None:
    for group in result.groups:
        pairs = group.pairs
        draws = (
            f"; simultaneous intervals by max-|T|, {pairs.n_resamples} draws, seed {pairs.seed}:"
            f" {pairs.critical_value:.3g} errors each side"
            if pairs.critical_value == pairs.critical_value
            else ""
        )
        errors = "paired" if pairs.n_clusters is None else "paired, clustered (CR2)"
        click.echo(f"{pairs}; errors {errors}{draws}")


def _emit_matrices(result: Pairs, output: Output) -> None:
    if output.for_people:
        _head(result)
        for index, group in enumerate(result.groups):
            click.echo("\n" if index else "", nl=False)
            _print_matrix(group, several=len(result.groups) > 1)
        click.echo(f"row minus column; differs at {_size(result):g} by: {MARKS}")
        _tail(result)
    else:
        if len(result.groups) > 1:
            raise click.UsageError("several groups make several matrices; narrow with --where")
        labels = list(result.groups[0].labels)
        square = result.groups[0].pairs.square("difference").tolist()
        rows = [
            dict(zip(["model", *labels], [label, *row], strict=True)) for label, row in zip(labels, square, strict=True)
        ]
        output.emit(["model", *labels], rows)


def _size(result: Pairs) -> float:
    return round(1 - result.rows[0].level, 10)


def _print_matrix(group: PairGroup, several: bool) -> None:
    if several:
        click.echo(", ".join(filter(None, (group.metric, group.split, group.task_version))))
    pairs, ranks = group.pairs, group.ranks
    size = 1 - pairs.level
    places = decimals(error for error in pairs.standard_error.tolist() if error == error)
    differences, holm, bh = (pairs.square(name) for name in ("difference", "p_holm", "p_bh"))
    names = [str(number + 1) for number in range(pairs.n_models)]
    rows = []
    for index, label in enumerate(group.labels):
        cells = _matrix_cells(differences[index], holm[index], bh[index], size, places)
        cells[index] = "."
        rows.append([names[index], label, ranks.groups[index], *cells])
    print_table(["", "model", "group", *names], rows)


def _matrix_cells(
    differences: Sequence[float], holm: Sequence[float], bh: Sequence[float], size: float, places: int
) -> list[str]:
    cells = []
    for difference, by_holm, by_bh in zip(differences, holm, bh, strict=True):
        mark = "*" if by_holm <= size else "'" if by_bh <= size else " "
        shown = round(difference, places) + 0.0  # no negative zero
        cells.append("-" if difference != difference else f"{shown:+.{places}f}{mark}")
    return cells
