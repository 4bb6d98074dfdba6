"""One row of a leaderboard: a condition with its figure, interval and warnings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from warehouse.analysis.leaderboard.unscored import unscored_bounds
from warehouse.analysis.results import Row
from warehouse.analysis.selection.benchmarks import Metric
from warehouse.analysis.selection.clusterings import ClusterMap, outside_clusters
from warehouse.analysis.selection.entries import Entry, Whole, coverage
from warehouse.analysis.selection.published import Published
from warehouse.analysis.selection.scores import PromptScores
from warehouse.errors import StatisticsError
from warehouse.stats import Estimate, estimate_mean, estimate_mean_prompts_fixed, interval_normal
from warehouse.stats.core.draws import PROMPTS_FIXED, PROMPTS_SAMPLED
from warehouse.stats.core.inputs import Bounds

_PUBLISHED_WITH_ERROR = "as its source publishes it; normal interval from its standard error"
_PUBLISHED_WITHOUT_ERROR = "as its source publishes it, without a standard error"
_PUBLISHED_WITH_ZERO = "as its source publishes it, with a standard error of 0: no interval"


@dataclass(frozen=True)
class LeaderboardRow(Row):
    """One condition on one metric.

    Attributes:
        rank: place among comparable rows, 1 is best, ties share it; None for what cannot be
            ranked: no figure; a part of the benchmark, a single prompt or a published figure
            beside rows that have scores of all of it.
        model: name of the model.
        condition: settings that tell the row from others, such as ``"fewshot=5"``.
        metric: name of the metric, with its filter.
        estimate: the figure, in the metric's reported unit; None with a ``reason``.
        standard_error: headline error; None where not defined or 0.
        ci_low: lower end of the interval.
        ci_high: upper end of the interval.
        level: nominal coverage of the interval.
        n_prompts: prompts with a score.
        n_clusters: clusters among them; None without clusters.
        n_draws: generations behind the scores, over all repeats.
        n_unscored: samples without a score.
        share_unscored: their share of all samples, in [0, 1].
        runs: repeats that were pooled.
        method: of the interval, or ``"published"``.
        flags: warnings of the statistics, and ``subset``, ``truncated``, ``failed``,
            ``unscored``, ``many_unscored``, ``other_prompts``, ``published``,
            ``outside_bounds``, ``prompts_outside_clusters``.
        reason: why this method, or why there is no figure or interval.
        se_naive: error as if prompts were independent (Miller eq. 1).
        design_effect: squared ratio of the headline error to ``se_naive``, with clusters.
        design_effect_miller: the same of the paper's clustered error (Miller eq. 4).
        benchmark: name of the benchmark.
        split: part of the benchmark.
        run_ids: ids of the repeats.
        estimand: ``"prompts_sampled"`` (the benchmark's prompts stand for others like them) or
            ``"prompts_fixed"`` (only the draws are random).
        statistical_rank: 1 + number of rows that are significantly better (Holm over all pairs
            of comparable rows, on common prompts); None with a ``rank_reason``.
        rank_low: best rank in the row's own confidence set (Mogstad et al., by max-|T|).
        rank_high: worst rank in it.
        rank_low_joint: best rank in the set that holds for all rows together.
        rank_high_joint: worst rank in it.
        group: letters; comparable rows that share one cannot be told apart (Holm).
        rank_draws: draws behind the rank sets.
        rank_reason: why there is no statistical rank, else empty.
        unscored_low: the figure with every missing score at the smallest possible one; None
            where all is scored or a score has no bounds.
        unscored_high: the figure with every missing score at the largest possible one.
        unscored_ci_low: lower end of the interval around the two: the hull of the default
            intervals with the missing scores at either end.
        unscored_ci_high: upper end of it.
        beside_method: a second method, where the default one is not certain: ``"betting"`` for
            skewed scores with bounds, ``"bca"`` for skewed ones without, ``"wild_bootstrap"`` for
            few clusters; else empty.
        beside_ci_low: lower end of the second interval.
        beside_ci_high: upper end of it.
        degrees_of_freedom: of the standard error: n - 1, or Satterthwaite's with clusters.
        part_estimate: of a truncated run whose source publishes the figure, which then is
            ``estimate``: the figure of the samples that are stored; else None.
        part_ci_low: lower end of its interval.
        part_ci_high: upper end of it.
        part_n_prompts: prompts with a score among these samples.
        other_metrics: the metrics that the benchmark has figures of and the leaderboard does not
            show, for ``--metric``; the same in every row.
    """

    rank: int | None
    model: str
    condition: str
    metric: str
    estimate: float | None
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    level: float
    n_prompts: int
    n_clusters: int | None
    n_draws: int
    n_unscored: int
    share_unscored: float
    runs: int
    method: str
    flags: tuple[str, ...]
    reason: str
    se_naive: float | None
    design_effect: float | None
    benchmark: str
    split: str
    run_ids: tuple[int, ...]
    estimand: str = PROMPTS_SAMPLED
    statistical_rank: int | None = None
    rank_low: int | None = None
    rank_high: int | None = None
    rank_low_joint: int | None = None
    rank_high_joint: int | None = None
    group: str = ""
    rank_draws: int = 0
    rank_reason: str = ""
    unscored_low: float | None = None
    unscored_high: float | None = None
    unscored_ci_low: float | None = None
    unscored_ci_high: float | None = None
    beside_method: str = ""
    beside_ci_low: float | None = None
    beside_ci_high: float | None = None
    degrees_of_freedom: float | None = None
    part_estimate: float | None = None
    part_ci_low: float | None = None
    part_ci_high: float | None = None
    part_n_prompts: int | None = None
    design_effect_miller: float | None = None
    other_metrics: tuple[str, ...] = ()


@dataclass(frozen=True)
class RowOptions:
    """How a row's figures are made.

    Attributes:
        level: nominal coverage of the intervals, in (0, 1).
        method: of the intervals, as in :func:`warehouse.stats.estimate_mean`.
        estimand: ``"prompts_sampled"`` or ``"prompts_fixed"``.
        max_unscored: share of unscored samples above which a row gets ``many_unscored``.
    """

    level: float = 0.95
    method: str = "auto"
    estimand: str = PROMPTS_SAMPLED
    max_unscored: float = 0.05


def make_row(entry: Entry, clusters: ClusterMap, options: RowOptions, whole: Whole) -> LeaderboardRow:
    """The row of an entry, not ranked yet.

    Args:
        whole: the prompts of the whole benchmark.

    Raises:
        StatisticsError: the data do not allow the method asked for.
    """
    bare = _bare_row(entry, options, whole)
    if entry.is_cut and entry.published is not None and entry.usable is not None:
        part = _estimated(bare, entry.usable, entry.metric, clusters, options)
        return _with_part(_as_published(bare, entry.published), part)
    if entry.scores is not None:
        bare = _with_bounds(bare, entry.scores, entry.metric, clusters)
    if entry.usable is not None:
        return _estimated(bare, entry.usable, entry.metric, clusters, options)
    if entry.published is not None:
        return _as_published(bare, entry.published)
    reason = "the figure is no mean of these scores" if entry.metric.link == "none" else "no prompt was scored"
    return replace(bare, reason=reason)


def _bare_row(entry: Entry, options: RowOptions, whole: Whole) -> LeaderboardRow:
    scores, condition = entry.scores, entry.condition
    n_samples = scores.n_samples if scores else 0
    n_unscored = scores.n_unscored if scores else 0
    share = n_unscored / n_samples if n_samples else 0.0
    flags = coverage(entry, whole) + (("many_unscored",) if share > options.max_unscored else ())
    return LeaderboardRow(
        rank=None,
        model=condition.model,
        condition=entry.label,
        metric=entry.metric.label,
        estimate=None,
        standard_error=None,
        ci_low=None,
        ci_high=None,
        level=options.level,
        n_prompts=scores.n if scores else 0,
        n_clusters=None,
        n_draws=int(scores.n_draws.sum()) if scores else 0,
        n_unscored=n_unscored,
        share_unscored=share,
        runs=len(condition.runs),
        method="none",
        flags=flags,
        reason="",
        se_naive=None,
        design_effect=None,
        benchmark=condition.place[0],
        split=condition.place[1],
        run_ids=condition.run_ids,
        estimand=options.estimand,
    )


def _with_bounds(bare: LeaderboardRow, scores: PromptScores, metric: Metric, clusters: ClusterMap) -> LeaderboardRow:
    found = unscored_bounds(scores, metric, clusters, bare.level)
    return replace(
        bare,
        unscored_low=found.low,
        unscored_high=found.high,
        unscored_ci_low=found.ci_low,
        unscored_ci_high=found.ci_high,
    )


def _estimated(
    bare: LeaderboardRow, scores: PromptScores, metric: Metric, clusters: ClusterMap, options: RowOptions
) -> LeaderboardRow:
    bounds, outside = usable_bounds(scores, metric)
    bare = replace(bare, flags=bare.flags + outside)
    try:
        if options.estimand == PROMPTS_FIXED:
            return _prompts_fixed(bare, scores, metric, bounds)
        return _prompts_sampled(bare, scores, metric, bounds, clusters, options.method)
    except StatisticsError as error:
        if options.method != "auto":
            raise StatisticsError(f"{bare.model}: {error}") from None
        return replace(bare, reason=str(error))


def _prompts_sampled(
    bare: LeaderboardRow, scores: PromptScores, metric: Metric, bounds: Bounds | None, clusters: ClusterMap, method: str
) -> LeaderboardRow:
    labels = clusters.labels(scores.prompts)
    found: Estimate = estimate_mean(
        scores.values,
        clusters=labels,
        weights=scores.uneven_weights,
        link=metric.link,
        bounds=bounds,
        n_draws=scores.n_draws,
        level=bare.level,
        method=method,
    )
    return replace(
        bare,
        estimate=found.estimate,
        standard_error=found.standard_error,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        n_clusters=found.n_clusters,
        method=found.method,
        flags=bare.flags + found.flags + outside_clusters(labels),
        reason=found.reason,
        se_naive=found.se_clt,
        degrees_of_freedom=found.degrees_of_freedom,
        design_effect=found.design_effect,
        design_effect_miller=found.design_effect_miller,
        beside_method=found.beside.method if found.beside else "",
        beside_ci_low=found.beside.low if found.beside else None,
        beside_ci_high=found.beside.high if found.beside else None,
    )


def _prompts_fixed(bare: LeaderboardRow, scores: PromptScores, metric: Metric, bounds: Bounds | None) -> LeaderboardRow:
    if metric.link != "identity" or scores.uneven_weights is not None:
        raise StatisticsError("prompts fixed: only for plain means, not for ratios of sums")
    found = estimate_mean_prompts_fixed(scores.values, scores.within, scores.n_draws, bounds=bounds, level=bare.level)
    return replace(
        bare,
        estimate=found.estimate,
        standard_error=found.standard_error,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        method=found.method,
        flags=bare.flags + found.flags,
        reason=found.reason,
    )


def usable_bounds(scores: PromptScores, metric: Metric) -> tuple[Bounds | None, tuple[str, ...]]:
    """The declared bounds, unless the scores themselves break them."""
    if metric.bounds is None:
        return None, ()
    low, high = metric.bounds
    low_end = -np.inf if low is None else low
    high_end = np.inf if high is None else high
    broken = scores.values.min() < low_end - 1e-9 or scores.values.max() > high_end + 1e-9
    return (None, ("outside_bounds",)) if broken else (metric.bounds, ())


def _as_published(bare: LeaderboardRow, figure: Published) -> LeaderboardRow:
    interval = interval_normal(figure.value, figure.standard_error, level=bare.level)
    return replace(
        bare,
        estimate=figure.value,
        standard_error=figure.standard_error,
        ci_low=None if interval is None else interval.low,
        ci_high=None if interval is None else interval.high,
        n_prompts=figure.n or bare.n_prompts,
        method="published",
        flags=(*bare.flags, "published"),
        reason=_reason_of(figure, interval is not None),
    )


def _reason_of(figure: Published, has_interval: bool) -> str:
    if has_interval:
        return _PUBLISHED_WITH_ERROR
    return _PUBLISHED_WITHOUT_ERROR if figure.standard_error is None else _PUBLISHED_WITH_ZERO


def _with_part(row: LeaderboardRow, part: LeaderboardRow) -> LeaderboardRow:
    """A published row with what is recomputed from the samples that are stored."""
    return replace(
        row,
        part_estimate=part.estimate,
        part_ci_low=part.ci_low,
        part_ci_high=part.ci_high,
        part_n_prompts=part.n_prompts,
    )
