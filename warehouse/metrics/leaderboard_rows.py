"""One row of a leaderboard: a condition with its figure, interval and warnings."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from warehouse.errors import StatisticsError
from warehouse.metrics.benchmarks import Metric
from warehouse.metrics.clusterings import ClusterMap
from warehouse.metrics.entries import Entry, Whole, coverage
from warehouse.metrics.published import Published
from warehouse.metrics.results import Row
from warehouse.metrics.scores import PromptScores
from warehouse.stats import Estimate, estimate_mean, interval_normal

_PUBLISHED_WITH_ERROR = "as its source publishes it; normal interval from its standard error"
_PUBLISHED_WITHOUT_ERROR = "as its source publishes it, without a standard error"


@dataclass(frozen=True)
class LeaderboardRow(Row):
    """One condition on one metric.

    Attributes:
        rank: place among comparable rows, 1 is best, ties share it; None for what cannot be
            ranked: no figure, or a part of the benchmark beside rows that have all of it.
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
            ``unscored``, ``other_prompts``, ``published``, ``outside_bounds``.
        reason: why this method, or why there is no figure or interval.
        se_naive: error as if prompts were independent (Miller eq. 1).
        design_effect: squared ratio of the headline error to ``se_naive``, with clusters.
        benchmark: name of the benchmark.
        split: part of the benchmark.
        run_ids: ids of the repeats.
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


def make_row(
    entry: Entry, clusters: ClusterMap, level: float, method: str, whole: Whole
) -> LeaderboardRow:
    """The row of an entry, not ranked yet.

    Args:
        whole: the prompts of the whole benchmark.

    Raises:
        StatisticsError: ``level`` is none, or the data do not allow ``method``.
    """
    scores = entry.scores
    bare = _bare_row(entry, level, whole)
    if scores is not None and scores.n and entry.metric.link != "none":
        return _estimated(bare, scores, entry.metric, clusters, method)
    if entry.published is not None:
        return _as_published(bare, entry.published)
    if entry.metric.link == "none":
        reason = "the figure is no mean of these scores"
    else:
        reason = "no prompt was scored"
    return replace(bare, reason=reason)


def _bare_row(entry: Entry, level: float, whole: Whole) -> LeaderboardRow:
    scores, condition = entry.scores, entry.condition
    n_samples = scores.n_samples if scores else 0
    n_unscored = scores.n_unscored if scores else 0
    return LeaderboardRow(
        rank=None, model=condition.model, condition=entry.label, metric=entry.metric.label,
        estimate=None, standard_error=None, ci_low=None, ci_high=None, level=level,
        n_prompts=scores.n if scores else 0, n_clusters=None,
        n_draws=int(scores.n_draws.sum()) if scores else 0, n_unscored=n_unscored,
        share_unscored=n_unscored / n_samples if n_samples else 0.0,
        runs=len(condition.runs), method="none", flags=coverage(entry, whole), reason="",
        se_naive=None, design_effect=None, benchmark=condition.place[0],
        split=condition.place[1], run_ids=condition.run_ids,
    )  # fmt: skip


def _estimated(
    bare: LeaderboardRow, scores: PromptScores, metric: Metric, clusters: ClusterMap, method: str
) -> LeaderboardRow:
    bounds, outside = _usable_bounds(scores, metric)
    try:
        found: Estimate = estimate_mean(
            scores.values, clusters=clusters.labels(scores.prompts),
            weights=scores.uneven_weights, link=metric.link, bounds=bounds,
            n_draws=scores.n_draws, level=bare.level, method=method,
        )  # fmt: skip
    except StatisticsError as error:
        if method != "auto":
            raise StatisticsError(f"{bare.model}: {error}") from None
        return replace(bare, reason=str(error))
    return replace(
        bare, estimate=found.estimate, standard_error=found.standard_error, ci_low=found.ci_low,
        ci_high=found.ci_high, n_clusters=found.n_clusters, method=found.method,
        flags=bare.flags + outside + found.flags, reason=found.reason, se_naive=found.se_clt,
        design_effect=found.design_effect,
    )  # fmt: skip


def _usable_bounds(
    scores: PromptScores, metric: Metric
) -> tuple[tuple[float | None, float | None] | None, tuple[str, ...]]:
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
        bare, estimate=figure.value, standard_error=figure.standard_error,
        ci_low=None if interval is None else interval.low,
        ci_high=None if interval is None else interval.high,
        n_prompts=figure.n or bare.n_prompts, method="published",
        flags=(*bare.flags, "published"),
        reason=_PUBLISHED_WITH_ERROR if interval else _PUBLISHED_WITHOUT_ERROR,
    )  # fmt: skip
