"""A leaderboard as people are shown it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.tables.view import Below, Table
from warehouse.tables.words import decimals, interval, level_column, number, reasons

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


def leaderboard_table(rows: Sequence[LeaderboardRow], *, verbose: bool) -> Table:
    """The rows, without columns that say nothing here, or only what the heading says."""
    places = decimals(row.standard_error for row in rows)
    hidden = _hidden(rows, verbose)
    cells = [{name: cell for name, cell in _cells(row, places).items() if name not in hidden} for row in rows]
    return Table.of(cells, needless=NEEDLESS, spare=SPARE)


def reasons_of(rows: Sequence[LeaderboardRow], *, verbose: bool) -> list[str]:
    """Why rows have no figure; with ``verbose`` whatever there is to say of any."""
    return reasons([(row, row.reason) for row in rows if row.estimate is None or verbose])


def legend_lines(legend: Iterable[str]) -> list[Below]:
    """Lines ``column: meaning``, below a table that shows the column."""
    return [Below(line, line.partition(": ")[0]) for line in legend]


def _hidden(rows: Sequence[LeaderboardRow], verbose: bool) -> set[str]:
    """Columns that say nothing here, or only what the heading says."""
    hidden = set() if verbose else {"method", "bounds", "bounds with error", *EFFECTS}
    if not any(row.group for row in rows):
        hidden |= {"stat. rank"} if any("planned" in row.flags for row in rows) else {"stat. rank", "rank set"}
    if len({row.metric for row in rows}) == 1:
        hidden.add("metric")
    if all(row.runs == 1 for row in rows):
        hidden.add("runs")
    if all(row.n_draws in (0, row.n_prompts) for row in rows):
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
        level_column(row.level): interval(row.ci_low, row.ci_high, places, at=row.estimate),
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
