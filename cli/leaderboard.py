"""``leaderboard``: every condition on a benchmark, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from warehouse.errors import MisuseError

from .frame import command
from .options import (
    cluster_option,
    latest_option,
    level_option,
    metric_option,
    output_options,
    subset_option,
    where_option,
)
from .output import Output
from .state import State, pass_state
from .suites import show_suite, suite_of, suite_options
from .table import decimals, interval, number, print_table

if TYPE_CHECKING:
    from warehouse.metrics.leaderboard import Leaderboard
    from warehouse.metrics.leaderboard_rows import LeaderboardRow
    from warehouse.store.engine import Store


@command("leaderboard")
@click.argument("benchmark", required=False)
@metric_option
@where_option
@latest_option
@cluster_option
@level_option
@click.option(
    "--method", metavar="NAME", default="auto", show_default=True,
    help="Of the intervals: z, t, wilson, korn_graubard.",
)  # fmt: skip
@subset_option
@suite_options
@output_options
@pass_state
def leaderboard(
    state: State, /, benchmark: str | None, output: Output, subset: str | None, **options: Any
) -> None:
    from warehouse.metrics.leaderboard import leaderboard as rank
    from warehouse.metrics.leaderboard_rows import LeaderboardRow

    options["subset_ok"] = subset == "ok"
    with state.open() as store:
        suite = suite_of(store, benchmark, options)
        if suite is not None:
            return show_suite(store, state, suite, output, options)
        boards = [rank(store, benchmark, **options)] if benchmark else _all(store, state, options)
    if output.for_people:
        for place, board in enumerate(boards):
            click.echo("\n" if place else "", nl=False)
            _print(board, state)
    else:
        output.emit_records(LeaderboardRow, [row for board in boards for row in board.rows])


def _all(store: Store, state: State, options: dict[str, Any]) -> list[Leaderboard]:
    """A board for every benchmark that has one, by the name it is shown under."""
    from warehouse.metrics.leaderboard import leaderboard as rank
    from warehouse.store.aliases import benchmarks

    boards, reasons = [], []
    for name in sorted({row.shown_as for row in benchmarks(store) if row.n_runs}):
        try:
            boards.append(rank(store, name, **options))
        except MisuseError as error:
            reasons.append(str(error))
    if not boards:
        raise MisuseError("; ".join(reasons) or "the store has no runs yet; see: warehouse ingest")
    for reason in reasons:
        state.say(f"note: left out: {reason}")
    return boards


def _print(board: Leaderboard, state: State) -> None:
    direction = {True: "higher is better", False: "lower is better", None: "direction unknown"}
    click.echo(f"{board.benchmark} by {board.metric} ({direction[board.higher_is_better]})")
    level = f"{100 * board.rows[0].level:g}% interval"
    columns = ["rank", "model", "condition", "metric", "split", "figure", "se", level, "prompts",
               "clusters", "draws", "runs", "method", "flags"]  # fmt: skip
    places = decimals(row.standard_error for row in board.rows)
    rows = [_cells(row, places, state.verbose) for row in board.rows]
    if len({row.metric for row in board.rows}) == 1:  # the heading says it
        rows = [[*row[:3], "", *row[4:]] for row in rows]
    needless = ("condition", "metric", "split", "clusters", "method", "flags")
    print_table(columns, rows, needless=needless)
    for note in board.notes:
        state.say(f"note: {note.replace('subset_ok', '--subset ok')}")
    for row in board.rows:
        if row.reason and (row.estimate is None or state.verbose):
            state.say(f"note: {row.model}: {row.reason}")


def _cells(row: LeaderboardRow, places: int, verbose: bool) -> list[Any]:
    return [
        row.rank, row.model, row.condition, row.metric, row.split, number(row.estimate, places),
        number(row.standard_error, places), interval(row.ci_low, row.ci_high, places),
        row.n_prompts, row.n_clusters, row.n_draws, row.runs,
        row.method if verbose else "", row.flags,
    ]  # fmt: skip
