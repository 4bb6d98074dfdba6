"""Two models on one slice: the interval of their difference, read alone.

In a slice of few prompts few differ, or none, and t takes its error from these: it
covers .04 to .63 there. A prompt that is won and one that is lost are added (Bonett and
Price 2012); of K draws a prompt they are smaller, in clusters the prompts count for as
many as are independent (statistics.md §21 b).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    FloatArray,
    as_level,
    as_scores,
    as_seed,
    clusters_if_any,
    codes_of,
)
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.core.results import Interval, NamedFigures, ends_of
from warehouse.stats.core.sample import Sample, describe
from warehouse.stats.intervals.closed_form import interval_t
from warehouse.stats.intervals.estimate_mean import estimate_mean
from warehouse.stats.intervals.gaffke import gaffke_interval
from warehouse.stats.intervals.standard_errors import effective_clusters
from warehouse.stats.paired.added_prompts import (
    ADDED_PROMPTS,
    are_tied,
    within_range,
)

#: Prompts of unbounded scores below which there is no bootstrap-t.
FEWEST_FOR_HULL = 5


@dataclass(frozen=True)
class SliceDifference(NamedFigures):
    """The mean difference of two models on one slice, as if it were the only one."""

    difference: float  #: d̄.
    standard_error: float | None  #: of d̄ (CR2 in clusters); None where 0 or undefined.
    ci_low: float | None  #: lower end of the interval of this slice read alone.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage.
    n_prompts: int  #: prompts of the slice.
    n_clusters: int | None  #: clusters of the slice, None without.
    method: str  #: ``added_prompts``, ``t``, ``hull``, ``cr2_t`` or ``none``.
    reason: str  #: why there is no interval; empty where there is one.


def slice_difference(
    differences: ArrayLike,
    *,
    width: float | None,
    clusters: ArrayLike | None = None,
    draws: float | None = 1.0,
    level: float = 0.95,
    seed: int = 0,
) -> SliceDifference:
    """d̄ of one slice with its interval.

    Args:
        differences: a − b of each prompt, finite, shape (n,).
        width: r, the range of the scores; None without bounds.
        clusters: cluster of each prompt, shape (n,), or None.
        draws: harmonic mean K of the draws behind the scores of both models, 1 for
            0/1 scores with one draw; None: scores that are neither 0/1 nor means of
            draws.
        level: nominal coverage, in (0, 1).
        seed: of the bootstrap of unbounded scores.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> found = slice_difference([1, 0, 1, 1], width=1)
        >>> round(found.ci_low, 6), found.ci_high
        (-0.111126, 1)
    """
    values = as_scores(differences, "differences")
    groups = clusters_if_any(clusters, len(values))
    _check(values, width, draws)
    sample = describe(values, groups)
    found = _interval(sample, width, draws, as_level(level), as_seed(seed))
    low, high = ends_of(found.interval)
    method = "none"
    if found.interval is not None:
        method = found.interval.method
    return SliceDifference(
        difference=sample.mean,
        standard_error=sample.se or None,
        ci_low=low,
        ci_high=high,
        level=level,
        n_prompts=sample.n,
        n_clusters=sample.n_clusters,
        method=method,
        reason=found.reason,
    )


def _check(values: FloatArray, width: float | None, draws: float | None) -> None:
    if draws is not None and not draws >= 1:
        raise StatisticsError(f"`draws` must be at least 1, found {draws}")
    if width is None:
        return
    largest = float(np.abs(values).max())
    if not width > 0 or largest > width * (1 + 1e-9):
        raise StatisticsError(
            f"`differences` go up to ±{largest}, outside ±`width` = {width}"
        )


@dataclass(frozen=True)
class _Found:
    """An interval, or why there is none."""

    interval: Interval | None
    reason: str = ""


def _interval(
    sample: Sample, width: float | None, draws: float | None, level: float, seed: int
) -> _Found:
    if sample.n_clusters == 1:
        return _Found(None, reason="a single cluster")
    if width is None:
        return _unbounded(sample, level, seed)
    plain_t = sample.clusters is None and draws is None and not are_tied(sample.values)
    if plain_t:
        by_t = interval_t(sample.mean, sample.se, sample.df, level=level)
        return _Found(within_range(by_t, width))
    n, df = _independent(sample)
    share = n / sample.n
    total = float(sample.values.sum()) * share
    squares = float(sample.values @ sample.values) * share
    mean, error = _added(total, squares, n, width, draws or 1.0)
    quantile = z_quantile(level)
    if df is not None:
        quantile = t_quantile(level, df)
    half = quantile * error
    low, high = max(-width, mean - half), min(width, mean + half)
    return _Found(Interval(low, high, level, ADDED_PROMPTS))


def _independent(sample: Sample) -> tuple[float, float | None]:
    """How many prompts count, and Satterthwaite's degrees of freedom in clusters.

    n/max(1, CR2²/(s²/n)); 1/Σ f_c² where all differences are equal.
    """
    if sample.clusters is None or sample.robust is None:
        return float(sample.n), None
    df = sample.robust.degrees_of_freedom
    if not sample.se_clt:
        return effective_clusters(sample.clusters), df
    effect = (sample.robust.se_cr2 / sample.se_clt) ** 2
    return sample.n / max(1.0, effect), df


def _added(
    total: float, squares: float, n: float, width: float, draws: float
) -> tuple[float, float]:
    """m̃ and its error: one prompt more at +r, one at −r, each of squared size r²/√K."""
    size = n + 2
    mean = total / size
    added = 2 * width**2 / math.sqrt(draws)
    error = math.sqrt(max(0.0, (squares + added) / size - mean**2) / size)
    return mean, error


def _unbounded(sample: Sample, level: float, seed: int) -> _Found:
    if sample.n == 1:
        return _Found(None, reason="a single prompt")
    method = "auto"
    if sample.clusters is None and sample.n < FEWEST_FOR_HULL:
        method = "t"
    found = estimate_mean(
        sample.values,
        clusters=codes_of(sample.clusters),
        binary=False,
        level=level,
        method=method,
        seed=seed,
    )
    if found.ci_low is None or found.ci_high is None:
        return _Found(None, reason=found.reason)
    return _Found(Interval(found.ci_low, found.ci_high, level, found.method))


def simultaneous_interval(
    differences: ArrayLike,
    n_slices: int,
    *,
    width: float | None,
    clusters: ArrayLike | None = None,
    draws: float | None = 1.0,
    level: float = 0.95,
) -> Interval | None:
    """The interval of one of S slices that holds together with those of the others.

    Bounded scores without clusters: Gaffke's within ±r at (1 − α)^{1/S}; in clusters
    `slice_difference` at 1 − α/S; None without bounds, and of a single cluster.

    Args:
        differences: a − b of each prompt, finite, shape (n,).
        n_slices: slices S of the field, at least 1.
        width: as for `slice_difference`, and so are ``clusters``, ``draws``, ``level``.

    Examples:
        >>> print(simultaneous_interval([1, 0, 1, 1], 3, width=1))
        [-0.4897, 0.9979]
    """
    values = as_scores(differences, "differences")
    if width is None:
        return None
    _check(values, width, draws)
    if clusters is None:
        joint = as_level(level) ** (1 / n_slices)
        return gaffke_interval(values, (-width, width), joint)
    alone = 1 - (1 - as_level(level)) / n_slices
    found = slice_difference(
        values, width=width, clusters=clusters, draws=draws, level=alone
    )
    if found.ci_low is None or found.ci_high is None:
        return None
    return Interval(found.ci_low, found.ci_high, alone, found.method)
