"""One model over the slices of a field: the mean in which every slice counts alike, and
which place each slice may have.

Slices of a few prompts have most of the error of such a mean, and their own spread says
little of it: t covers .75 where slices have 3, 10 and 100 prompts. So the effective
number of prompts is held below the harmonic one where the smallest slice weighs most
(statistics.md §21 a).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import (
    Bounds,
    Clusters,
    FloatArray,
    as_level,
    as_scores,
    check_within,
    clusters_if_any,
    finite_bounds,
    is_zero_one,
)
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.core.results import Interval, NamedFigures, ends_of
from warehouse.stats.core.sample import describe
from warehouse.stats.intervals.closed_form import (
    interval_clopper_pearson,
    interval_wilson,
)
from warehouse.stats.intervals.estimate_mean import estimate_mean
from warehouse.stats.intervals.gaffke import gaffke_interval
from warehouse.stats.slices.membership import IntArray, members, slice_codes, within

WILSON_SLICES = "wilson_slices"
#: Share of Σ 1/n_g from which on the smallest slice holds the effective number down.
DOMINANT = 0.25


@dataclass(frozen=True)
class SliceMean(NamedFigures):
    """The mean of the means of slices, each of which counts alike."""

    estimate: float  #: (1/S) Σ m_g.
    standard_error: float | None  #: None where it is 0 or not defined.
    ci_low: float | None  #: lower end of the interval.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage.
    degrees_of_freedom: float | None  #: Satterthwaite's, in [1, n − S].
    n_slices: int  #: slices S.
    n_prompts: int  #: prompts n.
    n_harmonic: float  #: S²/Σ(1/n_g).
    n_effective: float | None  #: prompts of which Wilson's interval is, on [0, 1].
    method: str  #: ``wilson_slices``, that of a weighted mean, or ``none``.
    reason: str  #: why there is no interval; empty where there is one.
    flags: tuple[str, ...]  #: of a weighted mean.


def equal_slices_mean(
    scores: ArrayLike,
    slices: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    bounds: Bounds | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> SliceMean:
    """θ̂ = (1/S) Σ m_g, with Wilson's interval at an effective number of prompts.

    V = Σ V_g/S², V_g = s²_g/n_g (CR2 in clusters); a slice of one prompt takes the
    pooled variance of the others. Scores without bounds, and clusters that lie across
    slices, get the interval of a weighted mean with weights 1/(S n_g).

    Args:
        scores: mean score of each prompt, finite, shape (n,).
        slices: slice of each prompt, 0 to S − 1, shape (n,).
        clusters: cluster of each prompt, shape (n,), or None.
        bounds: smallest and largest possible score; None: (0, 1) where every score is
            one of them, else none.
        level: nominal coverage, in (0, 1).
        seed: of the bootstrap of unbounded scores.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> mean = equal_slices_mean([1, 1, 0, 1, 1, 0, 1, 1], [0, 0, 0, 0, 1, 2, 2, 2])
        >>> round(mean.estimate, 6), round(mean.ci_low, 6), round(mean.ci_high, 6)
        (0.805556, 0.209733, 0.984772)
    """
    values = as_scores(scores)
    codes = slice_codes(slices, len(values))
    groups = clusters_if_any(clusters, len(values))
    limits = finite_bounds(bounds)
    if limits is None and is_zero_one(values):
        limits = (0.0, 1.0)
    if limits is None or lie_across(groups, codes):
        return _weighted(values, codes, groups, limits, as_level(level), seed)
    check_within(values, limits)
    low, width = limits[0], limits[1] - limits[0]
    unit = _within_unit((values - low) / width, codes, groups, as_level(level))
    return _rescaled(unit, low, width)


def lie_across(clusters: Clusters | None, codes: IntArray) -> bool:
    """Whether a cluster has prompts in several slices."""
    if clusters is None:
        return False
    pairs = np.unique(np.stack([clusters.codes, codes]), axis=1)
    return bool(pairs.shape[1] > clusters.n)


def _weighted(
    values: FloatArray,
    codes: IntArray,
    groups: Clusters | None,
    limits: tuple[float, float] | None,
    level: float,
    seed: int,
) -> SliceMean:
    sizes = np.bincount(codes)
    found = estimate_mean(
        values,
        clusters=None if groups is None else groups.codes,
        weights=1 / sizes[codes],
        bounds=limits,
        level=level,
        seed=seed,
    )
    reason, method = "", found.method
    if found.ci_low is None:
        reason, method = found.reason, "none"
    return SliceMean(
        estimate=found.estimate,
        standard_error=found.standard_error,
        ci_low=found.ci_low,
        ci_high=found.ci_high,
        level=level,
        degrees_of_freedom=found.degrees_of_freedom,
        n_slices=len(sizes),
        n_prompts=len(values),
        n_harmonic=_harmonic(sizes),
        n_effective=None,
        method=method,
        reason=reason,
        flags=found.flags,
    )


def _harmonic(sizes: IntArray) -> float:
    return float(len(sizes) ** 2 / np.sum(1 / sizes))


@dataclass(frozen=True)
class _SliceParts:
    """Mean, squared error and its degrees of freedom of each slice, shape (S,); NaN
    where a slice alone has no error."""

    means: FloatArray
    variances: FloatArray
    freedom: FloatArray


def _parts(values: FloatArray, codes: IntArray, groups: Clusters | None) -> _SliceParts:
    figures = []
    for entries in members(codes):
        sample = describe(values[entries], within(groups, entries))
        error, freedom = math.nan, math.nan
        if sample.se is not None and sample.df is not None:
            error, freedom = sample.se, sample.df
        figures.append((sample.mean, error**2, freedom))
    means, variances, freedom = np.array(figures).T
    return _SliceParts(means, variances, freedom)


def _pooled(
    parts: _SliceParts, sizes: IntArray, groups: Clusters | None
) -> tuple[_SliceParts, str]:
    """With the pooled variance for slices of one prompt, and why none can be had."""
    alone = np.isnan(parts.variances)
    if not alone.any():
        return parts, ""
    if np.any(sizes[alone] > 1):
        return parts, "a slice has a single cluster"
    if alone.all():
        return parts, "no slice has two prompts"
    rest = ~alone
    freedom = float((sizes[rest] - 1).sum())
    spread = parts.variances[rest] * sizes[rest] * (sizes[rest] - 1)
    variances = np.where(alone, spread.sum() / freedom, parts.variances)
    degrees = np.where(alone, freedom, parts.freedom)
    return replace(parts, variances=variances, freedom=degrees), ""


def _within_unit(
    values: FloatArray, codes: IntArray, groups: Clusters | None, level: float
) -> SliceMean:
    """Of scores within [0, 1], whose clusters lie within slices."""
    sizes = np.bincount(codes)
    n_slices, harmonic = len(sizes), _harmonic(sizes)
    parts, reason = _pooled(_parts(values, codes, groups), sizes, groups)
    mean = min(1.0, max(0.0, float(parts.means.mean())))
    bare = SliceMean(
        estimate=mean,
        standard_error=None,
        ci_low=None,
        ci_high=None,
        level=level,
        degrees_of_freedom=None,
        n_slices=n_slices,
        n_prompts=len(values),
        n_harmonic=harmonic,
        n_effective=None,
        method="none",
        reason=reason,
        flags=(),
    )
    most = len(values) - n_slices
    if reason or most < 1:
        return replace(bare, reason=reason or "no slice has two prompts")
    shares = parts.variances / n_slices**2
    variance = float(shares.sum())
    freedom = float(most)
    if variance > 0:
        freedom = variance**2 / float((shares**2 / parts.freedom).sum())
        freedom = min(max(1.0, freedom), most)
    n = _effective(mean, variance, freedom, sizes, level)
    interval = interval_wilson(_successes(mean, n), n, level=level)
    return replace(
        bare,
        standard_error=math.sqrt(variance) or None,
        ci_low=interval.low,
        ci_high=interval.high,
        degrees_of_freedom=freedom,
        n_effective=n,
        method=WILSON_SLICES,
    )


def _successes(mean: float, n: float) -> float:
    if mean == 1:
        return n
    return mean * n


def _effective(
    mean: float, variance: float, freedom: float, sizes: IntArray, level: float
) -> float:
    harmonic = _harmonic(sizes)
    shrink = (z_quantile(level) / t_quantile(level, freedom)) ** 2
    if variance == 0 or not 0 < mean < 1:
        return harmonic * shrink
    n = mean * (1 - mean) / variance * shrink
    inverse = 1 / sizes
    if inverse.max() > DOMINANT * inverse.sum():
        n = min(n, harmonic)
    return n


def _rescaled(unit: SliceMean, low: float, width: float) -> SliceMean:
    """From [0, 1] to the scale of the scores."""
    if (low, width) == (0.0, 1.0):
        return unit
    figures: dict[str, float | None] = {"estimate": low + width * unit.estimate}
    for name in ("ci_low", "ci_high"):
        end = getattr(unit, name)
        figures[name] = None if end is None else low + width * end
    if unit.standard_error is not None:
        figures["standard_error"] = width * unit.standard_error
    return replace(unit, **figures)  # type: ignore[arg-type]


@dataclass(frozen=True)
class SliceRanks(NamedFigures):
    """Which places the slices may have, 1 the highest mean; joint over all slices."""

    lowest: IntArray  #: best place, 1 + slices wholly above, shape (S,).
    highest: IntArray  #: worst place, S − slices wholly below, shape (S,).
    intervals: tuple[Interval, ...]  #: that hold jointly.


def slice_ranks(
    scores: ArrayLike,
    slices: ArrayLike,
    *,
    bounds: Bounds | None = None,
    level: float = 0.95,
) -> SliceRanks | None:
    """Rank sets of slices from intervals that hold jointly (Šidák): Clopper and
    Pearson's of 0/1 scores, Gaffke's of bounded ones; None without bounds.

    Args:
        scores: of prompts that are independent, finite, shape (n,).
        slices: slice of each prompt, 0 to S − 1, shape (n,).
        bounds: smallest and largest possible score.
        level: that all places are right, in (0, 1).

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.
    """
    values = as_scores(scores)
    codes = slice_codes(slices, len(values))
    limits = finite_bounds(bounds)
    if limits is None and not is_zero_one(values):
        return None
    joint = as_level(level) ** (1 / (int(codes.max()) + 1))
    found = tuple(_joint(values[i], limits, joint) for i in members(codes))
    lows, highs = np.array([ends_of(interval) for interval in found], float).T
    above = (lows[None, :] > highs[:, None]).sum(axis=1)
    below = (highs[None, :] < lows[:, None]).sum(axis=1)
    return SliceRanks(1 + above, len(found) - below, found)


def _joint(
    values: FloatArray, limits: tuple[float, float] | None, level: float
) -> Interval:
    if is_zero_one(values) and limits in (None, (0.0, 1.0)):
        return interval_clopper_pearson(values.sum(), len(values), level=level)
    return gaffke_interval(values, limits or (0.0, 1.0), level)
