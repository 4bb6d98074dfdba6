"""The board of a suite as people are shown it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from warehouse.analysis.suites.row import SuiteLeaf, SuiteRow
from warehouse.tables.reasons import reasons
from warehouse.tables.view import Below, Table, legend
from warehouse.tables.words import decimals, interval, level_column, number

#: Columns that a narrow terminal does without, the first of them first.
SPARE = (
    "method",
    "published",
    "draws",
    "clusters",
    "group",
    "prompts",
    "stat. rank",
    "benchmarks",
    "se",
    "missing",
    "rank set",
)


def suite_table(rows: Sequence[SuiteRow], leaves: Sequence[SuiteLeaf], *, verbose: bool) -> Table:
    """The rows; with ``verbose`` with the figure on each benchmark."""
    places = decimals(row.standard_error for row in rows)
    names = tuple(leaf.name for leaf in leaves) if verbose else ()
    needless = ("stat. rank", "rank set", "group", "condition", "clusters", "published", "method", "flags")
    cells = [_cells(row, places, verbose) for row in rows]
    columns = (*_COLUMNS[:7], "se", level_column(rows[0].level), *_COLUMNS[7:], *names, "flags")
    return Table(columns, tuple(map(tuple, cells)), needless=needless, counts=("missing",), spare=(*names, *SPARE))


def legend_of(level: float) -> list[Below]:
    """What the ranks of a suite mean."""
    better = f"1 + models significantly better (paired over the suite, Holm over all pairs, {1 - level:.3g})"
    return legend({"stat. rank": better, "group": "models that share a letter cannot be told apart (the same tests)"})


def reasons_of(rows: Sequence[SuiteRow], *, verbose: bool) -> list[str]:
    """Why rows have no interval; with ``verbose`` whatever there is to say of any."""
    return reasons([(row, row.reason) for row in rows if row.ci_low is None or verbose])


def leaves_in_words(leaves: Sequence[SuiteLeaf], weights: str) -> str:
    """How many benchmarks, and how they are weighted."""
    n = len(leaves)
    if weights == "equal":
        return f"mean of {n} benchmarks, each the same weight"
    if weights == "prompts":
        return f"mean of {n} benchmarks, weighted by their prompts"
    shares = ", ".join(f"{leaf.name} {leaf.weight:.3g}" for leaf in leaves)
    return f"mean of {n} benchmarks, weighted {shares}"


_COLUMNS = (
    *("rank", "stat. rank", "rank set", "group", "model", "condition", "figure"),
    *("benchmarks", "missing", "prompts", "clusters", "draws", "published", "method"),
)


def _cells(row: SuiteRow, places: int, verbose: bool) -> list[Any]:
    leaves = [number(value, places) for value in row.leaf_estimates] if verbose else []
    return [
        row.rank,
        row.statistical_rank,
        _rank_set(row),
        row.group,
        row.model,
        row.condition,
        number(row.estimate, places),
        number(row.standard_error, places),
        interval(row.ci_low, row.ci_high, places, at=row.estimate),
        row.n_leaves,
        row.n_missing,
        row.n_prompts,
        row.n_clusters,
        row.n_draws,
        number(row.published, places),
        row.method if verbose else "",
        *leaves,
        row.flags,
    ]


def _rank_set(row: SuiteRow) -> str | None:
    low, high = row.rank_low, row.rank_high
    return None if low is None else str(low) if low == high else f"{low}-{high}"
