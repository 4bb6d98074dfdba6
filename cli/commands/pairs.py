"""``pairs``: the difference of every two models on a benchmark."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from warehouse.analysis.pairs.question import AllPairs
from warehouse.errors import MisuseError

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import (
    benchmark_argument,
    length_options,
    option,
    output_options,
)
from ..ui.output import Output
from ..ui.questions import in_flags, options_of
from ..ui.table import decimals, echo, print_table, print_view, rows_wanted

if TYPE_CHECKING:
    from warehouse.analysis.pairs.answer import Pairs
    from warehouse.analysis.pairs.group import PairGroup

MARKS = "* Holm, ' Benjamini-Hochberg only"


@command("pairs")
@benchmark_argument(required=True)
@option("--matrix", "Differences as a matrix, row minus column.", is_flag=True)
@options_of(AllPairs, without=("benchmark",))
@option("--by FIELD", "Not offered: see leaderboard --by and compare --by.")
@length_options
@output_options
def pairs(
    state: State,
    /,
    benchmark: str,
    matrix: bool,
    output: Output,
    top: int | None,
    by: str | None,
    **options: Any,
) -> None:
    if by is not None:
        raise click.UsageError(
            "all pairs × slices is not offered; every model slice by slice: warehouse "
            f"leaderboard {shlex.quote(benchmark)} --by {shlex.quote(by)}; two of them, "
            f"with verdicts: warehouse compare A B -b {shlex.quote(benchmark)} --by "
            f"{shlex.quote(by)}"
        )
    question = AllPairs(benchmark, **options)
    try:
        result: Pairs = state.ask(question)
    except MisuseError as error:
        raise MisuseError(in_flags(AllPairs, str(error))) from None
    if matrix:
        _emit_matrices(result, output)
    elif output.for_people:
        print_view(state.view_of(partial(result.view, top=rows_wanted(top))))
    else:
        output.emit(result.kind_of().columns(), result.each_record())
    state.notes(in_flags(AllPairs, note) for note in result.notes)
    say_next(state, output, result, question)


def _emit_matrices(result: Pairs, output: Output) -> None:
    from warehouse.analysis.pairs.view import counted, pairs_head, tests

    if output.for_people:
        echo(pairs_head(result.benchmark, result.metric, result.higher_is_better))
        echo("\n".join(counted(result.groups)))
        for index, group in enumerate(result.groups):
            echo("\n" if index else "", nl=False)
            _print_matrix(group, several=len(result.groups) > 1)
        echo(f"row minus column; differs at {_size(result):g} by: {MARKS}")
        echo("\n".join(tests(result.groups)))
    else:
        if len(result.groups) > 1:
            raise click.UsageError(
                "several groups make several matrices; narrow with --where"
            )
        labels = list(result.groups[0].labels)
        square = result.groups[0].pairs.square("difference").tolist()
        rows = [
            dict(zip(["model", *labels], [label, *row], strict=True))
            for label, row in zip(labels, square, strict=True)
        ]
        output.emit(["model", *labels], rows)


def _size(result: Pairs) -> float:
    return round(1 - result.rows[0].level, 10)


def _print_matrix(group: PairGroup, several: bool) -> None:
    if several:
        echo(", ".join(filter(None, (group.metric, group.split, group.task_version))))
    from warehouse.stats.core.inputs import rejects

    pairs, letters = group.pairs, group.groups
    n_decimals = decimals(
        error for error in pairs.standard_error.tolist() if error == error
    )
    differences, differ = pairs.square("difference"), pairs.square("differ") == 1
    by_bh = rejects(pairs.square("p_bh"), 1 - pairs.level)
    names = [str(number + 1) for number in range(pairs.n_models)]
    rows = []
    for index, label in enumerate(group.labels):
        cells = _matrix_cells(
            differences[index], differ[index], by_bh[index], n_decimals
        )
        cells[index] = "."
        rows.append([names[index], label, letters[index], *cells])
    print_table(["", "model", "group", *names], rows)


def _matrix_cells(
    differences: Sequence[float],
    differ: Sequence[bool],
    by_bh: Sequence[bool],
    n_decimals: int,
) -> list[str]:
    cells = []
    for difference, differs, may_differ in zip(differences, differ, by_bh, strict=True):
        if differs:
            mark = "*"
        elif may_differ:
            mark = "'"
        else:
            mark = " "
        shown = round(difference, n_decimals) + 0.0  # no negative zero
        cells.append(
            "-" if difference != difference else f"{shown:+.{n_decimals}f}{mark}"
        )
    return cells
