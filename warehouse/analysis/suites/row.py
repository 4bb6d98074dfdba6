"""Rows of a suite's board, and its leaves."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import Row


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
