"""Samples that are not strata of one benchmark: whole clusters, and several benchmarks together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import Bounds, as_level, as_scores, as_shares, check_length
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.result_base import Figures
from warehouse.stats.subsets.estimate import FULL_BENCHMARK, SubsetEstimate


@dataclass(frozen=True)
class DesignEstimate(Figures):
    """A figure with its t interval.

    Attributes:
        estimate: the figure.
        standard_error: None where not defined or 0.
        ci_low: lower end, within the bounds of the scores; None with a ``reason``.
        ci_high: upper end.
        level: nominal coverage.
        degrees_of_freedom: of the error.
        reason: why there is no interval.
    """

    estimate: float
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    level: float
    degrees_of_freedom: float | None
    reason: str


def estimate_drawn_clusters(
    scores: ArrayLike, clusters: ArrayLike, n_clusters: int, *, bounds: Bounds | None = None, level: float = 0.95
) -> DesignEstimate:
    """The mean over a benchmark of G clusters, from g of them that were drawn at random and asked whole.

    θ̂ = ΣT_c/Σn_c, v = (1 − g/G)·g/(g − 1)·Σ(T_c − θ̂n_c)²/(Σn_c)², g − 1 degrees of freedom.

    Args:
        scores: of all prompts of the drawn clusters, shape (n,).
        clusters: cluster of each, shape (n,).
        n_clusters: G, at least as many as were drawn.
        bounds: of the scores, which cut the interval.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: scores that are not finite, fewer clusters in all than were drawn.
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
    return _by_t(theta, (1 - g / n_clusters) * g / (g - 1) * spread / len(y) ** 2, g - 1, bounds, level)


def known_figure(estimate: float, n_prompts: int, *, level: float = 0.95) -> SubsetEstimate:
    """The figure of a benchmark of which every prompt was asked, as a part of :func:`combine_subsets`.

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
    """The mean over several benchmarks of which each was sampled: Σ w_b θ̂_b, Satterthwaite's t.

    Args:
        estimates: one for each benchmark; one without error is taken as known if all its prompts were asked.
        weights: of the benchmarks, above 0; None: all alike. Their sum is taken as 1.
        bounds: of the scores, which cut the interval.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: no benchmark, one without an estimate, weights that do not fit.
    """
    as_level(level)
    if not estimates or any(one.estimate is None for one in estimates):
        raise StatisticsError("every benchmark needs an estimate")
    w = as_shares(weights, len(estimates))
    theta = float(sum(share * (one.estimate or 0.0) for share, one in zip(w, estimates, strict=True)))
    unknown = [one for one in estimates if one.standard_error is None and one.n_scored < one.n_prompts]
    if unknown:
        return DesignEstimate(theta, None, None, None, level, None, f"{len(unknown)} benchmarks have no error")
    parts = [float(share * (one.standard_error or 0.0)) ** 2 for share, one in zip(w, estimates, strict=True)]
    total = sum(parts)
    if not total:
        return DesignEstimate(theta, None, theta, theta, level, None, "")
    df = total**2 / sum(v**2 / (one.degrees_of_freedom or math.inf) for v, one in zip(parts, estimates, strict=True))
    return _by_t(theta, total, df, bounds, level)


def _by_t(theta: float, variance: float, df: float, bounds: Bounds | None, level: float) -> DesignEstimate:
    if not variance:
        return DesignEstimate(theta, None, None, None, level, df, "the sample has no variance")
    error = math.sqrt(variance)
    half = t_quantile(level, df) * error
    least, most = bounds or (None, None)
    low = theta - half if least is None else max(least, theta - half)
    high = theta + half if most is None else min(most, theta + half)
    return DesignEstimate(theta, error, low, high, level, df, "")
