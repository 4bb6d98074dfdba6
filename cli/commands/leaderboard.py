"""``leaderboard``: every condition on a benchmark, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from warehouse.errors import MisuseError

from ..lazy_group import command
from ..state import State, pass_state
from ..ui.footnotes import say_reasons
from ..ui.options import (
    estimand_option,
    level_option,
    max_unscored_option,
    output_options,
    selection_options,
    subset_option,
)
from ..ui.output import Output
from ..ui.table import (
    decimals,
    direction,
    interval,
    legend_of,
    level_column,
    number,
    print_legend,
    print_rows,
    print_text,
)
from .suites import show_suite, suite_of, suite_options

if TYPE_CHECKING:
    from warehouse.analysis.leaderboard.leaderboard import Leaderboard
    from warehouse.analysis.leaderboard.row import LeaderboardRow
    from warehouse.store.connection import Store

#: Columns of what clusters do to the variance, by CR2 and by the paper's error.
EFFECTS = ("design effect", "design effect (Miller)")
#: Columns that a table does without where they are empty.
NEEDLESS = (
    "stat. rank",
    "rank set",
    "group",
    "condition",
    "split",
    "clusters",
    "bounds",
    "bounds with error",
    *EFFECTS,
    "method",
    "flags",
    "recomputed part",
)
#: Columns that a narrow terminal does without, the first of them first.
SPARE = (
    "method",
    EFFECTS[1],
    "recomputed part",
    "bounds with error",
    EFFECTS[0],
    "stat. rank",
    "group",
    "runs",
    "split",
    "draws",
    "bounds",
    "clusters",
    "se",
    "prompts",
    "rank set",
)


@command("leaderboard")
@click.argument("benchmark", required=False)
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
    from warehouse.analysis.leaderboard.leaderboard import leaderboard as rank
    from warehouse.analysis.leaderboard.row import LeaderboardRow

    options |= {"estimand": estimand.replace("-", "_")}
    with state.open() as store:
        suite = suite_of(store, benchmark, options)
        if suite is not None:
            return show_suite(store, state, suite, output, options)
        boards = [rank(store, benchmark, **options)] if benchmark else _all(store, state, options)
    if output.for_people:
        shown: set[str] = set()
        for index, board in enumerate(boards):
            click.echo("\n" if index else "", nl=False)
            shown |= _print(board, state)
        legend = legend_of(line for board in boards for line in board.legend)
        click.echo("\n" if len(boards) > 1 and shown & legend.keys() else "", nl=False)
        print_legend(legend, shown)
    else:
        output.emit_records(LeaderboardRow, [row for board in boards for row in board.rows])


def _all(store: Store, state: State, options: dict[str, Any]) -> list[Leaderboard]:
    """A board for every benchmark that has one, by the name it is shown under."""
    from warehouse.analysis.leaderboard.leaderboard import leaderboard as rank
    from warehouse.store.curate.aliases import benchmarks

    boards, reasons = [], []
    for name in sorted({row.shown_as for row in benchmarks(store) if row.n_runs}):
        try:
            boards.append(rank(store, name, **options))
        except MisuseError as error:
            reasons.append(str(error))
    if not boards:
        raise MisuseError("; ".join(reasons) or "the store has no runs yet; see: warehouse ingest")
    state.notes(f"left out: {reason}" for reason in reasons)
    return boards


def _print(board: Leaderboard, state: State) -> set[str]:
    """Print a board; the columns that it shows."""
    from warehouse.analysis.selection.other_metrics import describe_others

    click.echo(f"{board.benchmark} by {board.metric} ({direction(board.higher_is_better)})")
    places = decimals(row.standard_error for row in board.rows)
    hidden = _hidden(board, state.verbose)
    rows = [{name: cell for name, cell in _cells(row, places).items() if name not in hidden} for row in board.rows]
    shown = print_rows(rows, needless=NEEDLESS, spare=SPARE)
    for line in board.basis:
        print_text(line)
    for note in board.notes:
        state.say(f"note: {note.replace('subset_ok', '--subset')}")
    explained = [row for row in board.rows if row.estimate is None or state.verbose]
    say_reasons([(row, row.reason) for row in explained], state)
    for line in filter(None, (describe_others(board.others),)):
        print_text(line)
    return set(shown)


def _hidden(board: Leaderboard, verbose: bool) -> set[str]:
    """Columns that say nothing here, or only what the heading says."""
    hidden = set() if verbose else {"method", "bounds", "bounds with error", *EFFECTS}
    if not any(row.group for row in board.rows):
        hidden |= {"stat. rank", "rank set"}
    if len({row.metric for row in board.rows}) == 1:
        hidden.add("metric")
    if all(row.runs == 1 for row in board.rows):
        hidden.add("runs")
    if all(row.n_draws in (0, row.n_prompts) for row in board.rows):
        hidden.add("draws")
    return hidden


def _cells(row: LeaderboardRow, places: int) -> dict[str, Any]:
    low, high = row.rank_low, row.rank_high
    return {
        "rank": row.rank,
        "stat. rank": row.statistical_rank,
        "rank set": None if low is None else str(low) if low == high else f"{low}-{high}",
        "group": row.group,
        "model": row.model,
        "condition": row.condition,
        "metric": row.metric,
        "split": row.split,
        "figure": number(row.estimate, places),
        "se": number(row.standard_error, places),
        level_column(row.level): interval(row.ci_low, row.ci_high, places),
        "recomputed part": _part(row, places),
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "draws": row.n_draws,
        "runs": row.runs,
        "bounds": interval(row.unscored_low, row.unscored_high, places),
        "bounds with error": interval(row.unscored_ci_low, row.unscored_ci_high, places),
        EFFECTS[0]: number(row.design_effect, 2),
        EFFECTS[1]: number(row.design_effect_miller, 2),
        "method": row.method,
        "flags": [_flag(flag, row) for flag in row.flags],
    }


def _part(row: LeaderboardRow, places: int) -> str:
    """The figure of the samples of a truncated run that publishes another one."""
    if row.part_estimate is None:
        return ""
    ends = interval(row.part_ci_low, row.part_ci_high, places)
    figure = f"{number(row.part_estimate, places)} {ends or ''}".strip()
    return f"{figure} of {row.part_n_prompts}"


def _flag(flag: str, row: LeaderboardRow) -> str:
    """A flag; the one of unscored samples with their share, never rounded down to none."""
    if flag != "unscored":
        return flag
    share = row.share_unscored
    return f"unscored {'<0.1' if share < 0.001 else f'{100 * share:.1f}'}%"
