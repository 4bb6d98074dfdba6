"""``pairs``: the difference of every two models on a benchmark; ``formulations``: whether another one ranks them so;
``frontier``: which of them no other beats in score and cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from warehouse.errors import MisuseError
from warehouse.questions.comparison import AllPairs, Formulations
from warehouse.questions.power import Frontier
from warehouse.tables.view import View, legend

from ..lazy_group import command
from ..state import State
from ..ui.next_step import say_next
from ..ui.options import benchmark_argument, draw, drawable, option, output_options, typed
from ..ui.output import Output
from ..ui.questions import in_flags, options_of
from ..ui.table import decimals, echo, print_table, print_view

if TYPE_CHECKING:
    from warehouse.analysis.comparison.all_pairs import PairGroup, Pairs
    from warehouse.analysis.comparison.formulation_report import FormulationsReport
    from warehouse.analysis.comparison.frontier_rows import FrontierReport

MARKS = "* Holm, ' Benjamini-Hochberg only"


@command("pairs")
@benchmark_argument(required=True)
@option("--matrix", "Differences as a matrix, row minus column.", is_flag=True)
@options_of(AllPairs, without=("benchmark",))
@output_options
def pairs(state: State, /, benchmark: str, matrix: bool, output: Output, **options: Any) -> None:
    question = AllPairs(benchmark, **options)
    try:
        result: Pairs = state.ask(question)
    except MisuseError as error:
        raise MisuseError(in_flags(AllPairs, str(error))) from None
    if matrix:
        _emit_matrices(result, output)
    elif output.for_people:
        print_view(result.view())
    else:
        output.emit(result.kind_of().columns(), result.each_record())
    state.notes(in_flags(AllPairs, note) for note in result.notes)
    say_next(state, output, result, question)


def _emit_matrices(result: Pairs, output: Output) -> None:
    from warehouse.analysis.comparison.all_pairs import counted, pairs_head, tests

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
        echo(", ".join(filter(None, (group.metric, group.split, group.task_version))))
    from warehouse.stats.core.inputs import rejects

    pairs, letters = group.pairs, group.groups
    n_decimals = decimals(error for error in pairs.standard_error.tolist() if error == error)
    differences, differ = pairs.square("difference"), pairs.square("differ") == 1
    by_bh = rejects(pairs.square("p_bh"), 1 - pairs.level)
    names = [str(number + 1) for number in range(pairs.n_models)]
    rows = []
    for index, label in enumerate(group.labels):
        cells = _matrix_cells(differences[index], differ[index], by_bh[index], n_decimals)
        cells[index] = "."
        rows.append([names[index], label, letters[index], *cells])
    print_table(["", "model", "group", *names], rows)


def _matrix_cells(
    differences: Sequence[float], differ: Sequence[bool], by_bh: Sequence[bool], n_decimals: int
) -> list[str]:
    cells = []
    for difference, differs, may_differ in zip(differences, differ, by_bh, strict=True):
        mark = "*" if differs else "'" if may_differ else " "
        shown = round(difference, n_decimals) + 0.0  # no negative zero
        cells.append("-" if difference != difference else f"{shown:+.{n_decimals}f}{mark}")
    return cells


@command("formulations")
@options_of(Formulations)
@option("--models", "All models: figures, paired differences, ranks.", is_flag=True)
@option("--crossings", "All pairs of models that change places.", is_flag=True)
@output_options
def formulations(state: State, /, output: Output, models: bool, crossings: bool, **options: Any) -> None:
    from warehouse.analysis.comparison import formulation_report as words

    if models and crossings:
        raise click.UsageError("give one of --models and --crossings")
    report: FormulationsReport = state.ask(Formulations(**options))
    if not output.for_people:
        part = "models" if models else "crossings" if crossings else "rows"
        output.emit_records(report.kind_of(part), getattr(report, part))
        return state.notes(report.notes)
    view = report.view(verbose=state.verbose)
    if models or crossings:
        table = words.models_table(report) if models else words.crossings_table(report)
        view = View((report.one_line, "", table, *legend(words.MODELS)), report.notes)
    state.show(view)


@command("frontier")
@benchmark_argument(required=True)
@options_of(Frontier, without=("benchmark",))
@drawable
@output_options
def frontier(state: State, /, output: Output, **options: Any) -> None:
    question = Frontier.from_command(options, typed(options))
    report: FrontierReport = state.ask(question)
    output.give(report, lambda: print_view(report.view(verbose=state.verbose)))
    state.notes(in_flags(Frontier, note) for note in report.notes)
    draw(report)
    say_next(state, output, report, question)
