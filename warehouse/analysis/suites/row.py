"""Rows of a suite's board, and its leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.results import Row
from warehouse.stats.rows.seed_row import TOO_FEW
from warehouse.tables.units import Unit
from warehouse.tables.view import Table, TableNote, legend
from warehouse.tables.words import (
    decimals,
    interval,
    level_column,
    number,
    reasons,
    seeds_in_words,
)


@dataclass(frozen=True)
class SuiteLeaf(Row):
    """A leaf of a suite."""

    name: str  #: of the benchmark.
    weight: float  #: its share of the suite's figure; all sum to 1.
    metric: str  #: name of the metric, with its filter.
    n_prompts: int  #: prompts of a complete run.
    n_rows: int  #: rows that have a figure on it.


@dataclass(frozen=True)
class SuiteRow(Row):
    """A model on a suite."""

    #: place by the figure, 1 is best, ties share it; None for rows that lack leaves or
    #: cover a part of one.
    rank: int | None
    #: 1 + number of ranked rows that are significantly better, by paired tests over the
    #: suite with Holm's adjustment for all pairs; None without a test.
    statistical_rank: int | None
    #: letters: rows share one if and only if the tests do not separate them.
    group: str
    model: str  #: name of the model.
    condition: str  #: settings that tell the row from others.
    #: weighted mean of the leaf figures; over the leaves it has, where some are
    #: missing. None with a ``reason``.
    estimate: float | None
    #: with the covariances of leaves that share prompts or clusters.
    standard_error: float | None
    ci_low: float | None  #: lower end of the interval.
    ci_high: float | None  #: upper end of the interval.
    level: float  #: nominal coverage of the interval.
    n_leaves: int  #: leaves with a figure.
    n_missing: int  #: leaves without.
    n_prompts: int  #: prompts with a score, over all leaves.
    #: different clusters among them, lone prompts counted; None without clusters.
    n_clusters: int | None
    n_draws: int  #: generations behind the scores.
    n_unscored: int  #: samples without a score.
    share_unscored: float  #: their share of all samples, in [0, 1].
    published: float | None  #: the suite's figure as its source publishes it.
    published_se: float | None  #: its standard error.
    method: str  #: of the interval.
    #: of the suite (``shared_units``, ``leaves_without_spread``, ``all_scores_equal``,
    #: ``missing_leaves``) and of its leaves (``subset``, ``truncated``, ``failed``,
    #: ``other_prompts``, ``unscored``, ``outside_bounds``, ``published``); ``planned``:
    #: the figure is that of all prompts, estimated from planned subsets of leaves.
    flags: tuple[str, ...]
    reason: str  #: why this method, or why there is no figure or interval.
    se_independent: float | None  #: error as if leaves shared nothing.
    degrees_of_freedom: float | None  #: of the standard error.
    suite: str  #: name of the suite.
    #: figure on each leaf, in the order of the board's leaves; None where missing.
    leaf_estimates: tuple[float | None, ...]
    run_ids: tuple[int, ...]  #: ids of all runs.
    #: the metrics that leaves have figures of and the board does not show; the same in
    #: every row.
    other_metrics: tuple[str, ...] = ()
    #: best rank that the interval of a row on planned subsets leaves; None for others.
    rank_low: int | None = None
    rank_high: int | None = None  #: worst such rank.
    #: rows beside it that have no rank: they lack benchmarks, or a part of one.
    n_left_out: int = 0
    #: of these the number with a better figure than this one's: higher, or lower where
    #: lower is better.
    left_out_higher: int = 0
    #: training seeds that the figure is the mean of (of benchmarks with other seeds the
    #: fewest); None where none is known.
    n_seeds: int | None = None
    #: labels of the seeds that all benchmarks have; empty where these have others.
    seeds: tuple[str, ...] = ()
    #: figure of each seed on the suite; empty where benchmarks have others.
    seed_means: tuple[float, ...] = ()
    n_checkpoints: int = 1  #: places in training that the model has, of which the last whole one is shown.
    #: seeds, checkpoints and runs that were left out or told apart, in words.
    notes: tuple[str, ...] = ()
    no_place: str = ""  #: why it has no place beside others; empty where it has.
    #: standard error of the figure on each leaf, in the order of ``leaf_estimates``; None
    #: where it is not known.
    leaf_errors: tuple[float | None, ...] = ()

    @property
    def n_not_compared(self) -> int:
        """Rows with which it has no prompt in common: none, as all have all benchmarks."""
        return 0


#: Columns that a narrow terminal does without, the first of them first.
MINOR = (
    *(
        "method",
        "published",
        "draws",
        "clusters",
        "group",
        "prompts",
        "stat. rank",
        "benchmarks",
        "seeds",
        "se",
    ),
    *("missing", "rank set"),
)


def suite_table(
    rows: Sequence[SuiteRow], leaves: Sequence[SuiteLeaf], *, verbose: bool
) -> Table:
    """The rows; with ``verbose`` with the figure on each benchmark."""
    digits = decimals(row.standard_error for row in rows)
    if verbose:
        names = tuple(leaf.name for leaf in leaves)
    else:
        names = ()
    hide_empty = (
        "seeds",
        "stat. rank",
        "rank set",
        "group",
        "condition",
        "clusters",
        "published",
        "method",
        "flags",
    )
    cells = [_cells(row, digits, verbose) for row in rows]
    columns = (
        *_COLUMNS[:7],
        "se",
        level_column(rows[0].level),
        *_COLUMNS[7:],
        *names,
        "flags",
    )
    return Table(
        columns,
        tuple(map(tuple, cells)),
        hide_empty=hide_empty,
        counts=("missing", "prompts", "draws"),
        minor=(*names, *MINOR),
    )


def legend_of(level: float) -> list[TableNote]:
    """The meaning of the ranks of a suite."""
    better = (
        "1 + models significantly better (paired over the suite, Holm over all pairs, "
        f"{1 - level:.3g})"
    )
    return legend(
        {
            "stat. rank": better,
            "group": "models that share a letter cannot be told apart (the same tests)",
        }
    )


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
    *(
        "seeds",
        "benchmarks",
        "missing",
        "prompts",
        "clusters",
        "draws",
        "published",
        "method",
    ),
)


def _cells(row: SuiteRow, digits: int, verbose: bool) -> list[Any]:
    leaves = []
    if verbose:
        unit = Unit(digits)
        for value, error in zip(row.leaf_estimates, row.leaf_errors, strict=True):
            leaves.append(unit.with_error(value, error))
    return [
        row.rank,
        row.statistical_rank,
        _rank_set(row),
        row.group,
        row.model,
        row.condition,
        number(row.estimate, digits),
        number(row.standard_error, digits),
        ""
        if TOO_FEW in row.flags
        else interval(row.ci_low, row.ci_high, digits, at=row.estimate),
        seeds_in_words(row.seed_means, row.n_seeds, digits),
        row.n_leaves,
        row.n_missing,
        row.n_prompts,
        row.n_clusters,
        row.n_draws,
        number(row.published, digits),
        row.method if verbose else "",
        *leaves,
        row.flags,
    ]


def _rank_set(row: SuiteRow) -> str | None:
    low, high = row.rank_low, row.rank_high
    if low is None:
        return None
    if low == high:
        return str(low)
    return f"{low}-{high}"
