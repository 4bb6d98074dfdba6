"""Rows of a suite's board, and its leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import Row
from warehouse.tables.view import Table, TableNote, legend
from warehouse.tables.words import decimals, interval, level_column, number, reasons


@dataclass(frozen=True)
class SuiteLeaf(Row):
    """A leaf of a suite.

    Attributes:
        name: of the benchmark.
        weight: its share of the suite's figure; all sum to 1.
        metric: name of the metric, with its filter.
        n_prompts: prompts of a complete run.
        n_rows: rows that have a figure on it.
    """

    name: str
    weight: float
    metric: str
    n_prompts: int
    n_rows: int


@dataclass(frozen=True)
class SuiteRow(Row):
    """A model on a suite.

    Attributes:
        rank: place by the figure, 1 is best, ties share it; None for rows that lack leaves or
            cover a part of one.
        statistical_rank: 1 + number of ranked rows that are significantly better, by paired tests
            over the suite with Holm's adjustment for all pairs; None without a test.
        group: letters: rows share one if and only if the tests do not separate them.
        model: name of the model.
        condition: settings that tell the row from others.
        estimate: weighted mean of the leaf figures; over the leaves it has, where some are
            missing. None with a ``reason``.
        standard_error: with the covariances of leaves that share prompts or clusters.
        ci_low: lower end of the interval.
        ci_high: upper end of the interval.
        level: nominal coverage of the interval.
        n_leaves: leaves with a figure.
        n_missing: leaves without.
        n_prompts: prompts with a score, over all leaves.
        n_clusters: different clusters among them, lone prompts counted; None without clusters.
        n_draws: generations behind the scores.
        n_unscored: samples without a score.
        share_unscored: their share of all samples, in [0, 1].
        published: the suite's figure as its source publishes it.
        published_se: its standard error.
        method: of the interval.
        flags: of the suite (``shared_units``, ``leaves_without_spread``, ``all_scores_equal``,
            ``missing_leaves``) and of its leaves (``subset``, ``truncated``, ``failed``,
            ``other_prompts``, ``unscored``, ``outside_bounds``, ``published``); ``planned``: the figure is
            that of all prompts, estimated from planned subsets of leaves.
        reason: why this method, or why there is no figure or interval.
        se_independent: error as if leaves shared nothing.
        degrees_of_freedom: of the standard error.
        suite: name of the suite.
        leaf_estimates: figure on each leaf, in the order of the board's leaves; None where
            missing.
        run_ids: ids of all runs.
        other_metrics: the metrics that leaves have figures of and the board does not show; the
            same in every row.
        rank_low: best rank that the interval of a row on planned subsets leaves; None for others.
        rank_high: worst such rank.
        n_left_out: rows beside it that have no rank: they lack benchmarks, or a part of one.
        left_out_higher: of these the number with a better figure than this one's: higher, or lower where lower is
            better.
    """

    rank: int | None
    statistical_rank: int | None
    group: str
    model: str
    condition: str
    estimate: float | None
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    level: float
    n_leaves: int
    n_missing: int
    n_prompts: int
    n_clusters: int | None
    n_draws: int
    n_unscored: int
    share_unscored: float
    published: float | None
    published_se: float | None
    method: str
    flags: tuple[str, ...]
    reason: str
    se_independent: float | None
    degrees_of_freedom: float | None
    suite: str
    leaf_estimates: tuple[float | None, ...]
    run_ids: tuple[int, ...]
    other_metrics: tuple[str, ...] = ()
    rank_low: int | None = None
    rank_high: int | None = None
    n_left_out: int = 0
    left_out_higher: int = 0


#: Columns that a narrow terminal does without, the first of them first.
MINOR = (
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
    hide_empty = ("stat. rank", "rank set", "group", "condition", "clusters", "published", "method", "flags")
    cells = [_cells(row, places, verbose) for row in rows]
    columns = (*_COLUMNS[:7], "se", level_column(rows[0].level), *_COLUMNS[7:], *names, "flags")
    return Table(columns, tuple(map(tuple, cells)), hide_empty=hide_empty, counts=("missing",), minor=(*names, *MINOR))


def legend_of(level: float) -> list[TableNote]:
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
    *("rank", "stat. rank", "rank set", "group", "model", "condition", "estimate"),
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
