"""``leaderboard``: every condition on a benchmark, best first."""

from __future__ import annotations

from typing import Any

import click

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.options import (
    benchmark_argument,
    estimand_option,
    level_option,
    max_unscored_option,
    output_options,
    selection_options,
    subset_option,
)
from ..ui.output import Output
from ..ui.table import echo, print_text, print_view
from .suites import show_suite, suite_of, suite_options


@command("leaderboard")
@benchmark_argument(required=False)
@selection_options
@level_option
@click.option(
    "--method",
    metavar="NAME",
    default="auto",
    show_default=True,
    help="Of the intervals, such as t, normal, wilson, bca; an unknown one is answered with all.",
)
@estimand_option
@max_unscored_option("Mark rows with more unscored samples: many_unscored.")
@subset_option
@suite_options
@output_options
@pass_state
def leaderboard(state: State, /, benchmark: str | None, output: Output, estimand: str, **options: Any) -> None:
    from warehouse.analysis.leaderboard.all_boards import leaderboards
    from warehouse.analysis.leaderboard.leaderboard import leaderboard as rank
    from warehouse.analysis.leaderboard.row import LeaderboardRow
    from warehouse.analysis.leaderboard.view import legend_lines

    options |= {"estimand": estimand.replace("-", "_")}
    with state.open() as store:
        suite = suite_of(store, benchmark, options)
        if suite is not None:
            return show_suite(store, state, suite, output, options)
        every = None if benchmark else leaderboards(store, **options)
        boards = every.boards if every else (rank(store, str(benchmark), **options),)
    state.notes(f"left out: {reason}" for reason in (every.left_out if every else ()))
    if output.for_people:
        shown: set[str] = set()
        for index, board in enumerate(boards):
            echo("\n" if index else "", nl=False)
            view = board.view(verbose=state.verbose)
            shown |= print_view(view, legend=len(boards) == 1)
            state.notes(note.replace("subset_ok", "--subset") for note in view.notes)
        if len(boards) > 1:
            lines = dict.fromkeys(
                line for board in boards for line in legend_lines(board.legend) if line.column in shown
            )
            for text in ("", *(line.line for line in lines)) if lines else ():
                print_text(text)
    else:
        output.emit_records(LeaderboardRow, [row for board in boards for row in board.rows])
