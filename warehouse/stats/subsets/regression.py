"""Estimates from other samples: Mickey's unbiased regression, whole clusters, several
benchmarks together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    FloatArray,
    as_floats,
    as_level,
    as_scores,
    as_shares,
    check_length,
)
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.subsets.design import FULL_BENCHMARK, LEAST
from warehouse.stats.subsets.estimate import SubsetEstimate, as_range
from warehouse.stats.subsets.sample import (
    Sampled,
    StratifiedSample,
    as_sample,
    bounded_interval,
)
from warehouse.stats.suites.parts import Halves, flags_that_count

#: Penalties that `ridge_penalty` chooses among.
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


def estimate_subset_regression(
    scores: ArrayLike,
    predictions: ArrayLike,
    stratum: ArrayLike,
    selected: ArrayLike,
    *,
    penalty: float = 1.0,
    bounds: Bounds | None = None,
    level: float = 0.95,
) -> DesignEstimate:
    """The mean over N prompts by regression on predictions, each prompt predicted
    without itself (Mickey 1959).

    T_h = Σ_S y + (Σ_{U∖S} x)·mean_i β^(−i) + (N_h − n_h)·mean_i e_(i), θ̂ = ΣT_h/N:
    exactly unbiased for simple and stratified samples, whatever the predictions.
    Leverages are not capped: that made it biased.

    Args:
        scores: of the sample, NaN elsewhere, shape (N,).
        predictions: of all prompts, shape (N,) or (N, p); standardised here.
        stratum, selected, bounds, level: as in :func:`estimate_subset`; no score of the
            sample may be missing.
        penalty: of the ridge, above 0, on the slopes (`ridge_penalty` chooses one on
            history).

    Raises:
        StatisticsError: predictions or a penalty that are not finite, missing scores, a
            stratum with fewer than two scores.
    """
    as_level(level)
    if not (math.isfinite(penalty) and penalty > 0):
        raise StatisticsError(f"the penalty must be above 0, found {penalty}")
    sample = as_sample(scores, stratum, selected)
    if sample.n_missing or (sample.scored_in < 2).any():
        raise StatisticsError(
            "the regression estimate needs every score of the sample, and two in each "
            "stratum"
        )
    x = _standardised(predictions, sample.n)
    betas, errors = _without_each(x[sample.selected], sample.y, penalty)
    theta, variance = _totals(sample, x, betas, errors)
    ends, reason = _interval(sample, theta, variance, as_range(bounds), level)
    low, high = ends or (None, None)
    error = None
    if variance:
        error = math.sqrt(variance)
    return DesignEstimate(
        theta, error, low, high, level, sample.degrees_of_freedom, reason
    )


def ridge_penalty(history: ArrayLike, predictions: ArrayLike) -> float:
    """The penalty of `PENALTIES` whose predictions of each stored model's scores,
    prompt by prompt, are best.

    Args:
        history: scores of stored models on all prompts, shape (M, N).
        predictions: of the prompts, shape (N,) or (N, p).

    Raises:
        StatisticsError: values that are not finite, shapes that do not fit.
    """
    table = as_floats(history, "history")
    if table.ndim != 2 or not np.isfinite(table).all():
        raise StatisticsError("`history` must be models x prompts, all finite")
    x = _standardised(predictions, table.shape[1])
    losses: list[float] = []
    for penalty in PENALTIES:
        errors = (_without_each(x, y, penalty)[1] for y in table)
        losses.append(sum(float(np.square(error).sum()) for error in errors))
    return PENALTIES[int(np.argmin(losses))]


def _standardised(predictions: ArrayLike, n: int) -> FloatArray:
    """With a column of ones in front, shape (N, 1 + p)."""
    table = as_floats(predictions, "predictions")
    if table.ndim == 1:
        table = table[:, None]
    if table.shape[0] != n or table.ndim != 2 or not np.isfinite(table).all():
        raise StatisticsError(
            f"`predictions` must be finite, one row for each of {n} prompts"
        )
    spread = table.std(axis=0)
    scaled = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.column_stack([np.ones(n), scaled])


def _without_each(
    x: FloatArray, y: FloatArray, penalty: float
) -> tuple[FloatArray, FloatArray]:
    """Coefficients of the fit without each prompt, shape (m, 1 + p), and its error on
    that prompt, shape (m,)."""
    ridge = np.diag([0.0, *[penalty] * (x.shape[1] - 1)])
    inverse = np.linalg.inv(x.T @ x + ridge)
    beta = inverse @ (x.T @ y)
    leverage = np.einsum("ij,jk,ik->i", x, inverse, x)
    errors = (y - x @ beta) / (1 - leverage)
    return beta - errors[:, None] * (x @ inverse), errors


def _totals(
    sample: StratifiedSample, x: FloatArray, betas: FloatArray, errors: FloatArray
) -> tuple[float, float]:
    """θ̂ and its variance."""
    total = variance = 0.0
    drawn = sample.stratum[sample.selected]
    for h, size in enumerate(sample.sizes):
        own, rest = drawn == h, (sample.stratum == h) & ~sample.selected
        n = int(own.sum())
        predicted = float(x[rest].sum(axis=0) @ betas[own].mean(axis=0))
        left = predicted + (size - n) * float(errors[own].mean())
        total += float(sample.y[own].sum()) + left
        within = float(errors[own].var(ddof=1))
        variance += (size / sample.n) ** 2 * (1 - n / size) * within / n
    return total / sample.n, float(variance)


def _interval(
    sample: StratifiedSample,
    theta: float,
    variance: float,
    bounds: tuple[float, float] | None,
    level: float,
) -> tuple[tuple[float, float] | None, str]:
    """By the rules of bounded scores; Student's t where θ̂ lies outside them or there
    are none."""
    if bounds is not None and bounds[0] <= theta <= bounds[1]:
        low, width = bounds[0], bounds[1] - bounds[0]
        y = np.clip((sample.y - low) / width, 0, 1)
        basis = Sampled(
            (theta - low) / width,
            variance / width**2,
            sample.degrees_of_freedom,
            y,
            sample.n,
            finite=True,
        )
        ends, _, _, reason = bounded_interval(basis, level)
        if ends is None:
            return None, reason
        return (low + width * ends[0], low + width * ends[1]), reason
    if len(sample.y) < LEAST:
        return None, f"fewer than {LEAST} scored prompts"
    if not variance:
        return None, "the sample has no variance"
    half = t_quantile(level, sample.degrees_of_freedom) * math.sqrt(variance)
    return (theta - half, theta + half), ""


@dataclass(frozen=True)
class DesignEstimate(NamedFigures):
    """A figure with its t interval."""

    estimate: float  #: the figure.
    standard_error: float | None  #: None where not defined or 0.
    #: lower end, within the bounds of the scores; None with a ``reason``.
    ci_low: float | None
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage.
    degrees_of_freedom: float | None  #: of the error.
    reason: str  #: why there is no interval.
    #: of parts, where those that are flagged hold more than a quarter of the variance.
    flags: tuple[str, ...] = ()


def estimate_drawn_clusters(
    scores: ArrayLike,
    clusters: ArrayLike,
    n_clusters: int,
    *,
    bounds: Bounds | None = None,
    level: float = 0.95,
) -> DesignEstimate:
    """The mean over a benchmark of G clusters, from g of them that were drawn at random
    and asked whole.

    θ̂ = ΣT_c/Σn_c, v = (1 − g/G)·g/(g − 1)·Σ(T_c − θ̂n_c)²/(Σn_c)², g − 1 degrees of
    freedom.

    Args:
        scores: of all prompts of the drawn clusters, shape (n,).
        clusters: cluster of each, shape (n,).
        n_clusters: G, at least as many as were drawn.
        bounds: of the scores, which cut the interval.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: scores that are not finite, fewer clusters in all than were
            drawn.
    """
    as_level(level)
    y, labels = as_scores(scores), np.asarray(clusters)
    check_length(len(labels), len(y), "clusters")
    codes = np.unique(labels, return_inverse=True)[1]
    sizes, totals = np.bincount(codes), np.bincount(codes, weights=y)
    g = len(sizes)
    if n_clusters < g:
        raise StatisticsError(f"{g} clusters were drawn, of {n_clusters} in all")
    theta = float(totals.sum() / len(y))
    if g == n_clusters:
        return DesignEstimate(theta, None, theta, theta, level, None, "")
    if g < 2:
        return DesignEstimate(theta, None, None, None, level, None, "a single cluster")
    spread = float(np.square(totals - theta * sizes).sum())
    return _by_t(
        theta,
        (1 - g / n_clusters) * g / (g - 1) * spread / len(y) ** 2,
        g - 1,
        bounds,
        level,
    )


def known_figure(
    estimate: float, n_prompts: int, *, level: float = 0.95
) -> SubsetEstimate:
    """The figure of a benchmark of which every prompt was asked, as a part of
    :func:`combine_subsets`.

    Args:
        estimate: θ.
        n_prompts: N.
        level: of the interval, which is the figure.
    """
    return SubsetEstimate(
        estimate=estimate,
        standard_error=None,
        ci_low=estimate,
        ci_high=estimate,
        level=level,
        degrees_of_freedom=None,
        n_prompts=n_prompts,
        n_selected=n_prompts,
        n_scored=n_prompts,
        n_strata=1,
        effective_n=None,
        estimand=FULL_BENCHMARK,
        method="all_prompts",
        bound_low=None,
        bound_high=None,
        bound_ci_low=None,
        bound_ci_high=None,
        flags=(),
        reason="",
    )


def combine_subsets(
    estimates: Sequence[SubsetEstimate],
    weights: ArrayLike | None = None,
    *,
    bounds: Bounds | None = None,
    level: float = 0.95,
) -> DesignEstimate:
    """The mean over several benchmarks of which each was sampled: Σ w_b θ̂_b,
    Satterthwaite's t.

    Without bounds an end lies no nearer than the benchmarks' own together
    (`suites.parts`).

    Args:
        estimates: one for each benchmark; one without error is taken as known if all
            its prompts were asked.
        weights: of the benchmarks, above 0; None: all alike. Their sum is taken as 1.
        bounds: of the scores, which cut the interval.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: no benchmark, one without an estimate, weights that do not fit.
    """
    as_level(level)
    if not estimates or any(result.estimate is None for result in estimates):
        raise StatisticsError("every benchmark needs an estimate")
    w = as_shares(weights, len(estimates))
    theta, n_unknown = 0.0, 0
    parts: list[float] = []
    for share, result in zip(w.tolist(), estimates, strict=True):
        theta += share * (result.estimate or 0.0)
        parts.append((share * (result.standard_error or 0.0)) ** 2)
        if result.standard_error is None and result.n_scored < result.n_prompts:
            n_unknown += 1
    if n_unknown:
        reason = f"{n_unknown} benchmarks have no error"
        return DesignEstimate(theta, None, None, None, level, None, reason)
    flags = flags_that_count([result.flags for result in estimates], np.array(parts))
    total = sum(parts)
    if not total:
        return DesignEstimate(theta, None, theta, theta, level, None, "")
    df = total**2 / sum(
        v**2 / (result.degrees_of_freedom or math.inf)
        for v, result in zip(parts, estimates, strict=True)
    )
    by_t = replace(_by_t(theta, total, df, bounds, level), flags=flags)
    if as_range(bounds) is not None:
        return by_t
    return _no_nearer(by_t, estimates, w)


def _no_nearer(
    by_t: DesignEstimate, estimates: Sequence[SubsetEstimate], shares: FloatArray
) -> DesignEstimate:
    """No nearer than the ends of all benchmarks together, as far as these have an
    interval of the same level."""
    if by_t.ci_low is None or by_t.ci_high is None:
        return by_t
    if any(result.level != by_t.level for result in estimates):
        return by_t
    below, above = np.zeros((2, len(estimates)))
    for place, result in enumerate(estimates):
        figure = result.estimate or 0.0
        if result.ci_low is not None:
            below[place] = figure - result.ci_low
        if result.ci_high is not None:
            above[place] = result.ci_high - figure
    half_below, half_above = Halves(below, above).together(shares, None)
    return replace(
        by_t,
        ci_low=min(by_t.ci_low, by_t.estimate - half_below),
        ci_high=max(by_t.ci_high, by_t.estimate + half_above),
    )


def _by_t(
    theta: float, variance: float, df: float, bounds: Bounds | None, level: float
) -> DesignEstimate:
    if not variance:
        return DesignEstimate(
            theta, None, None, None, level, df, "the sample has no variance"
        )
    error = math.sqrt(variance)
    half = t_quantile(level, df) * error
    least, most = bounds or (None, None)
    if least is None:
        low = theta - half
    else:
        low = max(least, theta - half)
    if most is None:
        high = theta + half
    else:
        high = min(most, theta + half)
    return DesignEstimate(theta, error, low, high, level, df, "")
