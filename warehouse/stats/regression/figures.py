"""Numeric answers against numeric targets: errors, the share of variance explained, and
correlations (statistics.md §23)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.classification.metric_error import error_of
from warehouse.stats.core.inputs import (
    Clusters,
    FloatArray,
    as_level,
    as_scores,
    check_length,
    clusters_if_any,
    is_constant,
    number_of,
)
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.intervals.estimate_mean import estimate_mean

MAE, MSE, RMSE, R2, PEARSON, SPEARMAN = (
    *("mae", "mse", "rmse", "r2"),
    *("pearson", "spearman"),
)
#: Every metric of numbers, in the order in which they are told.
OF_NUMBERS = (MAE, MSE, RMSE, R2, PEARSON, SPEARMAN)
#: Excess kurtosis of targets or answers above which no interval of Pearson's r holds.
HEAVY = 3.0
#: Prompts below which the interval of R² covers too little.
FEW_FOR_R2 = 50


@dataclass(frozen=True)
class NumericMetric(NamedFigures):
    """A metric of numeric answers."""

    metric: str  #: ``mae``, ``mse``, ``rmse``, ``r2``, ``pearson`` or ``spearman``.
    estimate: float | None  #: None where it is 0/0; ``reason`` says why.
    standard_error: float | None  #: None where it is 0 or not defined.
    ci_low: float | None  #: lower end of the interval.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval.
    n_prompts: int  #: prompts with a number as target and as answer.
    n_clusters: int | None  #: None without clusters.
    #: ``heavy_tails`` (no interval of Pearson's r and of R² holds: Spearman's leads),
    #: ``few_prompts`` of R², and the flags of means.
    flags: tuple[str, ...]
    reason: str  #: why something is None; empty otherwise.


def numeric_metrics(
    targets: ArrayLike,
    answers: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[NumericMetric, ...]:
    """All metrics of numeric answers: MAE, MSE, RMSE, R², Pearson's r, Spearman's.

    Args:
        targets: y of each prompt, finite, shape (n,).
        answers: number that was answered, or the mean of the draws, shape (n,).
        clusters: of each prompt, integers or strings, shape (n,); None: each by itself.
        level: nominal coverage of the intervals, in (0, 1).
        seed: of what is resampled for the intervals of MAE and MSE.

    Raises:
        StatisticsError: arguments out of range, not finite or not aligned.

    Examples:
        >>> found = numeric_metrics([1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 6, 6])
        >>> {row.metric: round(row.estimate, 4) for row in found if row.metric in ("mae", "r2")}
        {'mae': 0.5, 'r2': 0.8286}
    """
    y, x = as_scores(targets, "targets"), as_scores(answers, "answers")
    check_length(len(x), len(y), "answers")
    groups = clusters_if_any(clusters, len(y))
    as_level(level)
    errors = x - y
    mse = _mean_metric(MSE, errors**2, clusters, level, seed)
    heavy = heavy_tails(y) or heavy_tails(x)
    ranks_x, ranks_y = mid_ranks(x), mid_ranks(y)
    return (
        _mean_metric(MAE, np.abs(errors), clusters, level, seed),
        mse,
        _root(mse),
        _r_squared(y, x, groups, level, heavy=heavy),
        _correlation(PEARSON, y, x, groups, level, heavy=heavy),
        _correlation(SPEARMAN, ranks_y, ranks_x, groups, level, heavy=False),
    )


def heavy_tails(values: FloatArray) -> bool:
    """Whether the excess kurtosis of numbers is above 3."""
    if is_constant(values):
        return False
    centred = values - values.mean()
    variance = float((centred**2).mean())
    return float((centred**4).mean()) / variance**2 - 3 > HEAVY


def mid_ranks(values: FloatArray) -> FloatArray:
    """(rank − ½)/n − ½ of each number, equal ones at the mean of theirs, shape (n,)."""
    _, codes, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    middle = last - (counts - 1) / 2
    ranks: FloatArray = (middle[codes] - 0.5) / len(values) - 0.5
    return ranks


def _mean_metric(
    metric: str,
    values: FloatArray,
    clusters: ArrayLike | None,
    level: float,
    seed: int,
) -> NumericMetric:
    """A mean of errors, which have no upper bound, as any other mean."""
    found = estimate_mean(
        values, clusters=clusters, binary=False, level=level, seed=seed
    )
    reason = ""
    if found.ci_low is None:
        reason = found.reason
    low = found.ci_low
    if low is not None:
        low = max(0.0, low)
    return NumericMetric(
        metric=metric,
        estimate=found.estimate,
        standard_error=found.standard_error,
        ci_low=low,
        ci_high=found.ci_high,
        level=level,
        n_prompts=found.n_prompts,
        n_clusters=found.n_clusters,
        flags=found.flags,
        reason=reason,
    )


def _root(mse: NumericMetric) -> NumericMetric:
    """The root of a mean square: of its ends, and its error by the delta method."""
    root = math.sqrt(mse.estimate or 0.0)
    error = None
    if mse.standard_error is not None and root:
        error = mse.standard_error / (2 * root)
    low = high = None
    if mse.ci_low is not None and mse.ci_high is not None:
        low, high = math.sqrt(mse.ci_low), math.sqrt(mse.ci_high)
    return replace(
        mse, metric=RMSE, estimate=root, standard_error=error, ci_low=low, ci_high=high
    )


def _r_squared(
    y: FloatArray,
    x: FloatArray,
    clusters: Clusters | None,
    level: float,
    *,
    heavy: bool,
) -> NumericMetric:
    """1 − MSE/σ² of the targets, below 0 where their mean would be a better answer."""
    nothing = _nothing(R2, len(y), clusters, level)
    if is_constant(y):
        return replace(nothing, reason="constant_targets")
    squares = (x - y) ** 2
    centred = (y - y.mean()) ** 2
    variance = float(centred.mean())
    value = 1 - float(squares.mean()) / variance
    psi = -squares / variance + (1 - value) * centred / variance
    error = error_of(psi, clusters)
    flags = flags_of(heavy_tails=heavy, few_prompts=len(y) < FEW_FOR_R2)
    found = replace(nothing, estimate=value, flags=flags)
    if error is None or not error.standard_error:
        return replace(found, reason=_why_no_error(len(y), clusters))
    half = t_quantile(level, error.df) * error.standard_error
    return replace(
        found,
        standard_error=error.standard_error,
        ci_low=value - half,
        ci_high=min(1.0, value + half),
    )


def _correlation(
    metric: str,
    y: FloatArray,
    x: FloatArray,
    clusters: Clusters | None,
    level: float,
    *,
    heavy: bool,
) -> NumericMetric:
    """Pearson's r, or of mid-ranks Spearman's; the interval on Fisher's scale."""
    n = len(y)
    nothing = _nothing(metric, n, clusters, level)
    if is_constant(y) or is_constant(x):
        return replace(nothing, reason="constant_side")
    if metric == SPEARMAN:
        value, psi = _spearman_influence(y, x)
    else:
        value, psi = _pearson_influence(y, x)
    found = replace(nothing, estimate=value, flags=flags_of(heavy_tails=heavy))
    if 1 - abs(value) < 1e-12:
        return replace(found, reason="perfect_correlation")
    error = error_of(psi, clusters)
    if error is None or n < 4:
        return replace(found, reason=_why_no_error(n, clusters))
    half = t_quantile(level, error.df) * error.standard_error / (1 - value**2)
    if clusters is None:
        widen = 1.0
        if metric == SPEARMAN:
            widen = math.sqrt(1 + value**2 / 2)
        half = max(half, z_quantile(level) / math.sqrt(n - 3) * widen)
    centre = math.atanh(value)
    return replace(
        found,
        standard_error=error.standard_error or None,
        ci_low=math.tanh(centre - half),
        ci_high=math.tanh(centre + half),
    )


def _pearson_influence(y: FloatArray, x: FloatArray) -> tuple[float, FloatArray]:
    a = (y - y.mean()) / y.std()
    b = (x - x.mean()) / x.std()
    value = float((a * b).mean())
    return value, a * b - value * (a**2 + b**2) / 2


def _spearman_influence(u: FloatArray, w: FloatArray) -> tuple[float, FloatArray]:
    """Spearman's r with the influence that a prompt has through the ranks of the
    others.

    Args:
        u: mid-ranks of the targets, as `mid_ranks` gives them.
        w: those of the answers.
    """
    v_u, v_w = float((u**2).mean()), float((w**2).mean())
    scale = math.sqrt(v_u * v_w)
    value = float((u * w).mean()) / scale
    both = _centred(u * w + _kernel(u, w) + _kernel(w, u))
    own_u = _centred(u**2 + 2 * _kernel(u, u))
    own_w = _centred(w**2 + 2 * _kernel(w, w))
    return value, both / scale - value / 2 * (own_u / v_u + own_w / v_w)


def _centred(values: FloatArray) -> FloatArray:
    centred: FloatArray = values - values.mean()
    return centred


def _kernel(x: FloatArray, w: FloatArray) -> FloatArray:
    """Mean over j of w_j where x_i < x_j, and of half of it where they are equal, shape
    (n,); by sums from the largest down."""
    _, codes = np.unique(x, return_inverse=True)
    totals = np.bincount(codes, w)
    above = np.cumsum(totals[::-1])[::-1] - totals
    means: FloatArray = (above + totals / 2)[codes] / len(x)
    return means


def _why_no_error(n: int, clusters: Clusters | None) -> str:
    if n < 4:
        return "too_few_prompts"
    if clusters is not None and clusters.n < 2:
        return "single_cluster"
    return "zero_standard_error"


def _nothing(
    metric: str, n: int, clusters: Clusters | None, level: float
) -> NumericMetric:
    return NumericMetric(
        metric=metric,
        estimate=None,
        standard_error=None,
        ci_low=None,
        ci_high=None,
        level=level,
        n_prompts=n,
        n_clusters=number_of(clusters),
        flags=(),
        reason="",
    )
