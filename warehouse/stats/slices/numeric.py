"""A field that is a number: bins of it, and how a figure goes up with it.

Bins are made from the field alone, never from scores. The slope is that of least
squares with Bell and McCaffrey's error and degrees of freedom (2002), of which the
interval holds where a few values lie far out; in clusters the jackknife's
(statistics.md §21 e).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    ROUNDING,
    Clusters,
    FloatArray,
    as_level,
    as_scores,
    check_length,
    clusters_if_any,
)
from warehouse.stats.core.quantiles import t_p_value, t_quantile
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.slices.membership import IntArray


@dataclass(frozen=True)
class Bins(NamedFigures):
    """A number cut into slices."""

    codes: IntArray  #: bin of each prompt, 0 to S − 1, shape (n,).
    lows: tuple[float, ...]  #: smallest value of each bin that has a prompt.
    highs: tuple[float, ...]  #: largest value of each bin that has a prompt.


def quantile_bins(values: ArrayLike, n_bins: int) -> Bins:
    """About as many prompts in each bin; equal values stay together, so that there may
    be fewer bins.

    Args:
        values: of each prompt, finite, shape (n,).
        n_bins: at least 2.

    Raises:
        StatisticsError: fewer than 2 bins, or values that are not finite.

    Examples:
        >>> quantile_bins([1, 2, 3, 4, 4, 4], 2).lows
        (1.0, 4.0)
    """
    numbers = as_scores(values, "values")
    if n_bins < 2:
        raise StatisticsError(f"`n_bins` must be at least 2, found {n_bins}")
    shares = np.arange(1, n_bins) / n_bins
    edges = np.quantile(numbers, shares, method="inverted_cdf")
    return _bins(numbers, np.searchsorted(edges, numbers, side="left"))


def edge_bins(values: ArrayLike, edges: ArrayLike) -> Bins:
    """Bins between edges, each of which is the lowest value of the bin above it.

    Args:
        values: of each prompt, finite, shape (n,).
        edges: rising, at least one.

    Raises:
        StatisticsError: edges that do not rise, or values that are not finite.
    """
    numbers, cuts = as_scores(values, "values"), as_scores(edges, "edges")
    if np.any(np.diff(cuts) <= 0):
        raise StatisticsError(f"`edges` must rise, found {cuts.tolist()}")
    return _bins(numbers, np.searchsorted(cuts, numbers, side="right"))


def _bins(numbers: FloatArray, raw: IntArray) -> Bins:
    found, codes = np.unique(raw, return_inverse=True)
    inside = [numbers[codes == number] for number in range(len(found))]
    lows = tuple(float(part.min()) for part in inside)
    return Bins(codes.astype(np.intp), lows, tuple(float(p.max()) for p in inside))


@dataclass(frozen=True)
class Slope(NamedFigures):
    """How a mean changes by one unit of a number."""

    slope: float | None  #: least squares; None where the number does not vary.
    standard_error: float | None  #: HC2, or the jackknife's in clusters.
    ci_low: float | None  #: lower end of the interval.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage.
    degrees_of_freedom: float | None  #: Bell and McCaffrey's, or G − 1.
    p_value: float | None  #: two-sided, of t.
    n_prompts: int  #: prompts n.
    n_clusters: int | None  #: clusters G, None without.
    reason: str  #: why there is no interval; empty where there is one.


def slope_of(
    values: ArrayLike,
    x: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    level: float = 0.95,
) -> Slope:
    """The slope of values (scores, or differences of two models) on a number.

    Args:
        values: of each prompt, finite, shape (n,).
        x: the number of each prompt (of a doubling: its log2), finite, shape (n,).
        clusters: cluster of each prompt, shape (n,), or None.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> found = slope_of([0.1, 0.3, 0.2, 0.6, 0.5], [1, 2, 3, 4, 5])
        >>> round(found.slope, 6), round(found.standard_error, 6)
        (0.11, 0.028132)
    """
    y, numbers = as_scores(values, "values"), as_scores(x, "x")
    check_length(len(numbers), len(y), "x")
    groups = clusters_if_any(clusters, len(y))
    n_clusters = None if groups is None else groups.n
    fit, reason = _fit(y, numbers, groups)
    low, high, p = None, None, None
    if fit.error and fit.freedom and fit.slope is not None:
        half = t_quantile(as_level(level), fit.freedom) * fit.error
        low, high = fit.slope - half, fit.slope + half
        p = t_p_value(fit.slope / fit.error, fit.freedom)
    return Slope(
        slope=fit.slope,
        standard_error=fit.error or None,
        ci_low=low,
        ci_high=high,
        level=level,
        degrees_of_freedom=fit.freedom,
        p_value=p,
        n_prompts=len(y),
        n_clusters=n_clusters,
        reason=reason,
    )


@dataclass(frozen=True)
class _Fit:
    slope: float | None
    error: float | None = None
    freedom: float | None = None


def _fit(y: FloatArray, x: FloatArray, groups: Clusters | None) -> tuple[_Fit, str]:
    centred = x - x.mean()
    square = float(centred @ centred)
    if square <= ROUNDING * float(x @ x):
        return _Fit(None), "the number does not vary"
    slope = float(centred @ y) / square
    if groups is not None:
        return _jackknife(y, x, groups, slope)
    leverage = 1 / len(x) + centred**2 / square
    if leverage.max() >= 1 - 1e-9:
        return _Fit(slope), "a single prompt has another number than all others"
    rest = y - y.mean() - slope * centred
    variance = float((centred**2 * rest**2 / (1 - leverage)).sum()) / square**2
    if variance <= ROUNDING**2 * slope**2:
        return _Fit(slope), "the values lie on a line"
    weights = centred / (square * np.sqrt(1 - leverage))
    basis = np.stack([np.full(len(x), len(x) ** -0.5), centred / math.sqrt(square)])
    return _Fit(slope, math.sqrt(variance), _freedom(weights, leverage, basis)), ""


def _freedom(weights: FloatArray, leverage: FloatArray, basis: FloatArray) -> float:
    """tr(P)²/tr(P²), P = A(I − H)A, A = diag(weights), H = basisᵀ basis."""
    squares = weights**2
    trace = float((squares * (1 - leverage)).sum())
    inner = (basis * squares) @ basis.T
    square_trace = float((squares**2 * (1 - 2 * leverage)).sum())
    square_trace += float((inner**2).sum())
    return trace**2 / square_trace


def _jackknife(
    y: FloatArray, x: FloatArray, groups: Clusters, slope: float
) -> tuple[_Fit, str]:
    """The slope without each cluster: (G − 1)/G Σ (b₍₋c₎ − b)², G − 1 degrees of
    freedom."""
    if groups.n < 3:
        return _Fit(slope), f"{groups.n} clusters are too few"
    shifted, lifted = x - x.mean(), y - y.mean()
    n = len(x) - groups.sizes
    sx, sy = -groups.sums(shifted), -groups.sums(lifted)
    sxx = float(shifted @ shifted) - groups.sums(shifted**2) - sx**2 / n
    sxy = float(shifted @ lifted) - groups.sums(shifted * lifted) - sx * sy / n
    if sxx.min() <= ROUNDING * float(shifted @ shifted):
        return _Fit(slope), "without one cluster the number does not vary"
    spread = float(((sxy / sxx - slope) ** 2).sum())
    if spread == 0:
        return _Fit(slope), "the slope is the same without any cluster"
    g = groups.n
    return _Fit(slope, math.sqrt((g - 1) / g * spread), float(g - 1)), ""
