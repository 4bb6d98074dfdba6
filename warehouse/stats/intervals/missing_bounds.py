"""Unscored prompts: bounds that hold whatever their scores were (statistics.md §1).

Fill every missing score with the worst and with the best possible one; the true mean
over all prompts asked lies between the two. The interval is the hull of the default
intervals of the two filled samples. The interval of Imbens and Manski (2004, eqs. 6 and
7), which covers the mean itself, not the whole of the set, at the level, is a named
option: its normal quantiles are too short for few prompts and for clusters
(docs/reference/calibration.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    Bounds,
    Clusters,
    FloatArray,
    as_clusters,
    as_level,
    as_scores,
    check_length,
    check_within,
    clusters_if_any,
    codes_of,
    finite_bounds,
)
from warehouse.stats.core.quantiles import z_quantile
from warehouse.stats.core.results import Estimate, NamedFigures, flags_of
from warehouse.stats.core.sample import Sample, describe
from warehouse.stats.intervals.estimate_mean import estimate_mean

#: Names of the intervals.
METHODS = ("default_hull", "imbens_manski")
#: Prompts without clusters from which on Imbens and Manski's interval holds its level.
MANY_PROMPTS = 200


@dataclass(frozen=True)
class MissingBounds(NamedFigures):
    """What the mean can be, whatever the missing scores were."""

    theta_low: float  #: mean with every missing score at the lower bound.
    theta_high: float  #: mean with every missing score at the upper bound.
    ci_low: float | None  #: lower end of the interval, None where none can be given.
    ci_high: float | None  #: upper end of it.
    level: float  #: nominal coverage of the true mean.
    #: of Imbens and Manski's interval: C, the number of standard errors added on each
    #: side, between the one-sided and the two-sided normal quantile; else None.
    c: float | None
    #: error of ``theta_low`` over all prompts (CLT, or CR2 with clusters).
    se_low: float | None
    se_high: float | None  #: error of ``theta_high``.
    n_prompts: int  #: n, scored and missing.
    n_scored: int  #: prompts with a score.
    n_missing: int  #: prompts without one.
    share_missing: float  #: n_missing / n, in [0, 1].
    #: clusters over all prompts, None where the data carry none.
    n_clusters: int | None
    method: str  #: ``"default_hull"`` or ``"imbens_manski"``.
    reason: str  #: how the interval came about, or why there is none.
    #: those of the default intervals that the hull is made of;
    #: ``imbens_manski_too_short`` with clusters or below 200 prompts.
    flags: tuple[str, ...] = ()

    def __str__(self) -> str:
        bounds = f"{self.theta_low:.4g} to {self.theta_high:.4g}"
        basis = f"{self.n_missing} of {self.n_prompts} missing"
        if self.ci_low is None:
            return f"{bounds} (no interval: {self.reason}, {basis})"
        ends = f"[{self.ci_low:.4g}, {self.ci_high:.4g}]"
        return f"{bounds} {ends} ({100 * self.level:g} % {self.method}, {basis})"


def missing_bounds(
    scored: ArrayLike,
    n_missing: int,
    *,
    bounds: Bounds = (0.0, 1.0),
    clusters: ArrayLike | None = None,
    missing_clusters: ArrayLike | None = None,
    level: float = 0.95,
    method: str = "default_hull",
) -> MissingBounds:
    """Bounds on the mean over all prompts, scored or not, and an interval around them.

    The interval runs from the lower end of the default interval of `estimate_mean` with
    every missing score at its smallest to the upper end with every one at its largest,
    cut at the bounds, and holds the default interval of the scored prompts alone.
    ``"imbens_manski"``: [θ_l − Cσ_l, θ_u + Cσ_u], where C solves Φ(C +
    (θ_u−θ_l)/max(σ_l,σ_u)) − Φ(−C) = level; for 200 prompts or more without clusters.

    Args:
        scored: mean score of each scored prompt, finite, shape (m,); may be empty where
            ``n_missing`` is not 0.
        n_missing: prompts without a score, 0 or more.
        bounds: smallest and largest possible score, both finite.
        clusters: cluster of each scored prompt, integers or strings, shape (m,); with
            them the errors are CR2.
        missing_clusters: cluster of each missing prompt, shape (n_missing,); needed
            with ``clusters`` where prompts are missing. A label in both is the same
            cluster.
        level: nominal coverage, in (0, 1).
        method: ``"default_hull"`` or ``"imbens_manski"``.

    Returns:
        The bounds. The interval is None where a filled sample has none: a single
        cluster, or equal scores that lie on no bound.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite, and for
            bounds that are not finite: nothing then limits what a missing score could
            be.

    Examples:
        >>> print(missing_bounds([1] * 30 + [0] * 10, 1))
        0.7317 to 0.7561 [0.5807, 0.8617] (95 % default_hull, 1 of 41 missing)
        >>> print(missing_bounds([1] * 30 + [0] * 10, 1, method="imbens_manski"))
        0.7317 to 0.7561 [0.6045, 0.8794] (95 % imbens_manski, 1 of 41 missing)
    """
    limits, missing, level = as_limits(bounds), as_count(n_missing), as_level(level)
    if method not in METHODS:
        raise StatisticsError(
            f"unknown method {method!r}; there are: {', '.join(METHODS)}"
        )
    values = scored_values(scored, missing)
    if len(values):
        check_within(values, limits)
    groups = all_clusters(clusters, missing_clusters, len(values), missing)
    low, high = (_filled(values, missing, end) for end in limits)
    sides = _Sides(low, high, groups, None, limits, missing, level)
    if method == "imbens_manski":
        return _imbens_manski(sides)
    alone = None
    if len(values):
        alone = estimate_mean(values, clusters=clusters, bounds=limits, level=level)
    return _hull(sides, alone)


def filled_bounds(
    low: ArrayLike,
    high: ArrayLike,
    n_missing: int,
    *,
    bounds: Bounds = (0.0, 1.0),
    clusters: ArrayLike | None = None,
    n_draws: ArrayLike | None = None,
    scored: Estimate | None = None,
    level: float = 0.95,
) -> MissingBounds:
    """The hull of `missing_bounds` for prompts of which some draws have a score and
    some have none.

    Args:
        low: mean of each prompt over all its draws, scored or not, with the smallest
            possible score for each missing one, shape (n,).
        high: the same with the largest possible score.
        n_missing: prompts with a draw missing, which alone may differ between the two.
        bounds: smallest and largest possible score, both finite.
        clusters: cluster of each prompt, shape (n,), or None.
        n_draws: draws of each prompt, scored or not, one number or shape (n,); None:
            one.
        scored: default estimate of the scored draws alone; the hull holds its interval
            too.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: arguments out of range or misaligned; ``high`` below ``low``.

    Examples:
        >>> print(filled_bounds([1] * 30 + [0] * 11, [1] * 31 + [0] * 10, 1))
        0.7317 to 0.7561 [0.5807, 0.8617] (95 % default_hull, 1 of 41 missing)
    """
    limits, missing, level = as_limits(bounds), as_count(n_missing), as_level(level)
    smallest, largest = as_scores(low, "low"), as_scores(high, "high")
    check_length(len(largest), len(smallest), "high")
    for values in (smallest, largest):
        check_within(values, limits)
    if int(np.sum(largest > smallest)) > missing or np.any(largest < smallest):
        raise StatisticsError(
            f"`high` must be `low` but for the {missing} prompt(s) with a draw "
            "missing, and never below it"
        )
    groups = clusters_if_any(clusters, len(smallest))
    sides = _Sides(smallest, largest, groups, n_draws, limits, missing, level)
    return _hull(sides, scored)


@dataclass(frozen=True)
class _Sides:
    """The two filled samples: scores of all prompts, the missing ones at either end."""

    low: FloatArray
    high: FloatArray
    clusters: Clusters | None
    n_draws: ArrayLike | None
    limits: tuple[float, float]
    missing: int
    level: float


def _hull(sides: _Sides, scored: Estimate | None) -> MissingBounds:
    """Of the default intervals of the two filled samples, and of what is scored."""
    labels = codes_of(sides.clusters)
    low, high = (
        estimate_mean(
            values,
            clusters=labels,
            bounds=sides.limits,
            n_draws=sides.n_draws,
            level=sides.level,
        )
        for values in (sides.low, sides.high)
    )
    bounds = [low, high]
    if scored is not None:
        bounds.append(scored)
    lows = [bound.ci_low for bound in bounds if bound.ci_low is not None]
    highs = [bound.ci_high for bound in bounds if bound.ci_high is not None]
    ends = None
    if low.ci_low is not None and high.ci_high is not None:
        kinds = " and ".join(dict.fromkeys(end.method for end in (low, high)))
        reason = (
            f"missing scores at both bounds: from the lower to the upper end by {kinds}"
        )
        least, most = sides.limits
        ends = max(least, min(lows)), min(most, max(highs))
    elif low.ci_low is None:
        reason = low.reason
    else:
        reason = high.reason
    return _bounds(
        describe(sides.low, sides.clusters),
        describe(sides.high, sides.clusters),
        sides,
        method="default_hull",
        reason=reason,
        flags=tuple(dict.fromkeys((*low.flags, *high.flags))),
        ends=ends,
    )


def _imbens_manski(sides: _Sides) -> MissingBounds:
    low, high = (describe(values, sides.clusters) for values in (sides.low, sides.high))
    c, reason = critical_value(low, high, sides.limits, sides.missing, sides.level)
    short = sides.clusters is not None or low.n < MANY_PROMPTS
    ends = None
    if c is not None:
        ends = cut_ends(low, high, sides.limits, c)
    return _bounds(
        low,
        high,
        sides,
        method="imbens_manski",
        reason=reason,
        c=c,
        flags=flags_of(imbens_manski_too_short=short),
        ends=ends,
    )


def _bounds(
    low: Sample,
    high: Sample,
    sides: _Sides,
    *,
    method: str,
    reason: str,
    flags: tuple[str, ...],
    ends: tuple[float, float] | None,
    c: float | None = None,
) -> MissingBounds:
    ci_low, ci_high = ends or (None, None)
    return MissingBounds(
        theta_low=low.mean,
        theta_high=high.mean,
        ci_low=ci_low,
        ci_high=ci_high,
        level=sides.level,
        c=c,
        se_low=low.se,
        se_high=high.se,
        n_prompts=low.n,
        n_scored=low.n - sides.missing,
        n_missing=sides.missing,
        share_missing=sides.missing / low.n,
        n_clusters=low.n_clusters,
        method=method,
        reason=reason,
        flags=flags,
    )


def _filled(values: FloatArray, missing: int, score: float) -> FloatArray:
    return np.concatenate([values, np.full(missing, score)])


def as_limits(bounds: Bounds) -> tuple[float, float]:
    """Both bounds of a score (StatisticsError: one is not finite)."""
    limits = finite_bounds(bounds)
    if limits is None:
        raise StatisticsError(
            f"`bounds` must both be finite, found {bounds}: without them a missing "
            "score could be anything, and so could the mean"
        )
    return limits


def as_count(n_missing: float) -> int:
    """A number of prompts (StatisticsError: it is no whole number, or below 0)."""
    if (
        not n_missing >= 0 or n_missing != n_missing // 1
    ):  # also where it is NaN or infinite
        raise StatisticsError(
            f"`n_missing` must be a whole number of prompts, found {n_missing}"
        )
    return int(n_missing)


def scored_values(scored: ArrayLike, missing: int) -> FloatArray:
    """Checked scores; none where none is known and some are missing."""
    if missing and np.shape(scored) == (0,):
        return np.empty(0)
    return as_scores(scored, "scored")


def all_clusters(
    clusters: ArrayLike | None,
    missing_clusters: ArrayLike | None,
    scored: int,
    missing: int,
) -> Clusters | None:
    """Clusters of the scored prompts, then of the missing ones.

    Raises:
        StatisticsError: labels of one kind without the other, or of another length.
    """
    if clusters is None:
        if missing_clusters is not None:
            raise StatisticsError(
                "`missing_clusters` needs `clusters` of the scored prompts"
            )
        return None
    if missing_clusters is None and missing:
        raise StatisticsError(
            "`clusters` without `missing_clusters`: give the clusters of the "
            f"{missing} missing prompt(s) too, or leave both out"
        )
    present, unknown = list(_labels(clusters)), list(_labels(missing_clusters))
    check_length(len(present), scored, "clusters")
    if len(unknown) != missing:
        raise StatisticsError(
            f"`missing_clusters` has {len(unknown)} entries, expected one per missing "
            f"prompt: {missing}"
        )
    return as_clusters([*present, *unknown], scored + missing)


def _labels(clusters: Any) -> Any:
    if clusters is None:
        return ()
    return clusters


_HALVINGS = 100  # of a bracket below 1: to the last bit


def imbens_manski_c(gap: float, level: float) -> float:
    """C with Φ(C + gap) − Φ(−C) = level.

    Args:
        gap: (θ_u − θ_l)/max(σ_l, σ_u), at least 0; infinity gives the one-sided
            quantile.
        level: nominal coverage, in (0, 1).

    Examples:
        >>> round(imbens_manski_c(0.0, 0.95), 6), round(imbens_manski_c(float("inf"), 0.95), 6)
        (1.959964, 1.644854)
    """
    narrowest, widest = float(special.ndtri(level)), z_quantile(level)
    for _ in range(_HALVINGS):
        middle = (narrowest + widest) / 2
        if special.ndtr(middle + gap) - special.ndtr(-middle) < level:
            narrowest = middle
        else:
            widest = middle
    return widest


def critical_value(
    low: Sample, high: Sample, limits: tuple[float, float], missing: int, level: float
) -> tuple[float | None, str]:
    """C and what the interval rests on, or None and why there is none.

    Args:
        low: every missing score at the lower bound.
        high: every missing score at the upper bound.
        limits: the bounds.
        missing: prompts without a score.
        level: nominal coverage.
    """
    if low.se is None or high.se is None:
        if low.n == 1:
            return None, "a single prompt"
        return None, "a single cluster"
    largest = max(low.se, high.se)
    sides = zip((low, high), limits, strict=True)
    bare = any(side.se == 0 and side.mean != end for side, end in sides)
    if bare or (missing == 0 and largest == 0):
        if low.all_equal:
            return None, "all scores are equal"
        return None, "a standard error is 0"
    gap = math.inf
    if largest > 0:
        gap = (high.mean - low.mean) / largest
    kind = "CR2"
    if low.clusters is None:
        kind = "CLT"
    reason = f"missing scores at both bounds, {kind} errors over all n"
    return imbens_manski_c(gap, level), reason


def cut_ends(
    low: Sample, high: Sample, limits: tuple[float, float], c: float
) -> tuple[float, float]:
    """[θ_l − Cσ_l, θ_u + Cσ_u], cut at the bounds."""
    return (
        max(limits[0], low.mean - c * (low.se or 0.0)),
        min(limits[1], high.mean + c * (high.se or 0.0)),
    )
