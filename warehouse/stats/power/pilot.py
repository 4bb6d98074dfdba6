"""Variance parts of a planned comparison, estimated from stored runs (Miller 2024 §5,
app. C).

With d_i the difference of the two prompt means, W_i the variance of the draws of prompt
i and a = mean_i(W_A,i/K_A,i), b likewise: ω̂² = s²_d − a − b, and with clusters
n·CR2²(d) − a − b (appendix C without its bias). What is unbiased may be negative:
planned with is max(0, ω̂²).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    Clusters,
    FloatArray,
    as_scores,
    check_length,
    clusters_if_any,
    finite_bounds,
    number_of,
)
from warehouse.stats.core.moments import clt_error, deviations, skewness
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.intervals.defaults import FEW_CLUSTERS, FEW_PROMPTS, SKEWED_MEAN
from warehouse.stats.intervals.standard_errors import robust_errors
from warehouse.stats.paired.paired import correlation
from warehouse.stats.power.power import VarianceParts


@dataclass(frozen=True)
class Pilot(NamedFigures):
    """What stored runs say about a comparison."""

    n_prompts: int  #: prompts of the pilot.
    n_clusters: int | None  #: clusters among them; None without clusters.
    cluster_size: float | None  #: mean prompts in a cluster; None without clusters.
    mean_a: float  #: mean of the first run.
    mean_b: float | None  #: mean of the second; None for a pilot of one run.
    correlation: float | None  #: of the prompt means of the two runs, or as assumed.
    total: float  #: s²_d, or n·CR2²(d): what one prompt adds to n·SE² at the pilot's K.
    total_unclustered: float  #: s²_d.
    #: a = mean_i(W_A,i/K_A,i): the part of ``total`` that is draws of the first run;
    #: None where no prompt of it has a known variance of its draws.
    within_a: float | None
    within_b: float | None  #: b of the second.
    sigma2_a: float | None  #: σ̂²_A = mean_i W_A,i; None where ``within_a`` is.
    sigma2_b: float | None  #: of the second.
    draws_a: float  #: mean draws per prompt of the first run.
    draws_b: float  #: of the second.
    omega2: float | None  #: ω̂², at least 0; None where a part within is unknown.
    omega2_raw: float | None  #: the same, not cut off at 0: unbiased.
    #: of the differences (their sums by cluster) of scores without bounds; None where
    #: they have bounds.
    skewness: float | None
    #: ``parts_unknown`` (single draws: K cannot be planned), ``omega2_clipped``,
    #: ``within_imputed`` (prompts without a known variance take the mean of the
    #: others), ``few_prompts``, ``few_clusters``, ``skewed_pilot`` (differences without
    #: bounds are so skewed for so few units that the variance, and what a test finds,
    #: is less than it seems).
    flags: tuple[str, ...]
    #: in words, which variances could not be separated; empty where nothing.
    reason: str

    def __str__(self) -> str:
        if self.n_clusters is None:
            clusters = ""
        else:
            clusters = f", G={self.n_clusters}"
        if self.omega2 is None:
            return (
                f"variance {self.total:.4g} per prompt (n={self.n_prompts}{clusters})"
            )
        return (
            f"omega2={self.omega2:.4g}, sigma2={self.sigma2_a:.4g} and "
            f"{self.sigma2_b:.4g} (n={self.n_prompts}{clusters})"
        )

    @property
    def parts(self) -> VarianceParts:
        """What to plan with. A part that could not be separated stays in ω², where no
        number of draws makes it smaller: a plan for more draws than the pilot's is then
        on the safe side.

        Raises:
            StatisticsError: all variances are 0.
        """
        within = (self.within_a or 0.0) + (self.within_b or 0.0)
        omega2 = max(0.0, self.total - within)
        return VarianceParts(
            omega2, self.sigma2_a or 0.0, self.sigma2_b or 0.0, self.cluster_size
        )


@dataclass(frozen=True)
class _Within:
    """Draws of one run around their prompt means: σ̂² and a; None where not known."""

    sigma2: float | None
    share: float | None
    draws: float
    imputed: bool


def plan_from_pilot(
    means_a: ArrayLike,
    means_b: ArrayLike,
    within_a: ArrayLike | None = None,
    within_b: ArrayLike | None = None,
    draws_a: ArrayLike = 1,
    draws_b: ArrayLike = 1,
    clusters: ArrayLike | None = None,
    *,
    bounds: Bounds | None = None,
) -> Pilot:
    """Variance parts of the difference of two runs on the same prompts.

    Args:
        means_a: mean score of each prompt over its draws in the first run, finite,
            shape (n,).
        means_b: the same prompts in the same order in the second run.
        within_a: variance (over K − 1) of the draws of each prompt, shape (n,); NaN
            where it is not known (what stands at a prompt with one draw is not read);
            None: nowhere known.
        within_b: of the second run.
        draws_a: draws K of each prompt, at least 1, one number or shape (n,).
        draws_b: of the second run.
        clusters: cluster of each prompt, or None. Take whole clusters into a pilot.
        bounds: of the scores; None, or an end that is None: none, so that their tails
            are looked at.

    Raises:
        StatisticsError: for arguments misaligned or out of range, a single prompt or
            cluster.

    Examples:
        >>> pilot = plan_from_pilot([0.5, 1, 0, 0.5], [0, 1, 0, 1], [0.5, 0, 0, 0.5],
        ...                         [0, 0, 0, 0], 2, 2)
        >>> round(pilot.omega2, 6), pilot.sigma2_a, pilot.sigma2_b
        (0.041667, 0.25, 0.0)
    """
    a, b = as_scores(means_a, "means_a"), as_scores(means_b, "means_b")
    check_length(len(b), len(a), "means_b")
    groups = clusters_if_any(clusters, len(a))
    of_a = _within(within_a, draws_a, len(a), "a")
    of_b = _within(within_b, draws_b, len(a), "b")
    totals = _totals(a - b, groups)
    skewed = None
    if not finite_bounds(bounds):
        skewed = _skewness(a - b, groups)
    means = float(a.mean()), float(b.mean())
    return _pilot(
        groups, means, correlation(a, b), totals, (of_a, of_b), len(a), skewed
    )


def plan_from_one(
    means: ArrayLike,
    within: ArrayLike | None = None,
    draws: ArrayLike = 1,
    clusters: ArrayLike | None = None,
    correlation: float = 0.0,
    *,
    bounds: Bounds | None = None,
) -> Pilot:
    """Variance parts from one run, for a second one that is like it.

    The second run is taken to have the same variances; ω² = 2 Var(x)(1 − ρ), Var(x) the
    variance of the prompt means without their draws' part (with clusters, n·CR2²
    without it).

    Args:
        means: mean score of each prompt over its draws, finite, shape (n,).
        within: variance of the draws of each prompt, shape (n,), or None.
        draws: draws K of each prompt.
        clusters: cluster of each prompt, or None.
        correlation: ρ of the two models' true prompt means, in [−1, 1); of the observed
            ones where single draws leave the parts unknown. 0 (unrelated models) asks
            for more prompts than any positive one.
        bounds: as for `plan_from_pilot`. Two models whose scores are skewed alike
            differ without skew, two that are not do not: the flag is by the run's own
            scores.

    Raises:
        StatisticsError: as for `plan_from_pilot`, and for a correlation out of range.
    """
    if not -1 <= correlation < 1:
        raise StatisticsError(f"`correlation` must lie in [-1, 1), found {correlation}")
    values = as_scores(means, "means")
    groups = clusters_if_any(clusters, len(values))
    parts = _within(within, draws, len(values), "")
    share_left = 2 * (1 - correlation)
    share = parts.share or 0.0
    total, unclustered = (
        share_left * (variance - share) + 2 * share
        for variance in _totals(values, groups)
    )
    skewed = None
    if not finite_bounds(bounds):
        skewed = _skewness(values, groups)
    mean = float(values.mean())
    return _pilot(
        groups,
        (mean, None),
        correlation,
        (total, unclustered),
        (parts, parts),
        len(values),
        skewed,
    )


def _pilot(
    groups: Clusters | None,
    means: tuple[float, float | None],
    rho: float | None,
    totals: tuple[float, float],
    within: tuple[_Within, _Within],
    n: int,
    skewed: float | None,
) -> Pilot:
    of_a, of_b = within
    raw = omega2 = cluster_size = None
    if of_a.share is not None and of_b.share is not None:
        raw = totals[0] - of_a.share - of_b.share
        omega2 = max(0.0, raw)
    if groups is not None:
        cluster_size = n / groups.n
    return Pilot(
        n_prompts=n,
        n_clusters=number_of(groups),
        cluster_size=cluster_size,
        mean_a=means[0],
        mean_b=means[1],
        correlation=rho,
        total=totals[0],
        total_unclustered=totals[1],
        within_a=of_a.share,
        within_b=of_b.share,
        sigma2_a=of_a.sigma2,
        sigma2_b=of_b.sigma2,
        draws_a=of_a.draws,
        draws_b=of_b.draws,
        omega2=omega2,
        omega2_raw=raw,
        skewness=skewed,
        flags=_flags(groups, raw, within, n, skewed),
        reason=_reason(within, single=means[1] is None),
    )


def _skewness(values: FloatArray, clusters: Clusters | None) -> float:
    """Skewness of the differences, or of their sums by cluster."""
    if clusters is None:
        return skewness(values)
    return skewness(clusters.sums(deviations(values)))


def _totals(values: FloatArray, clusters: Clusters | None) -> tuple[float, float]:
    """n·CR2² (n·CLT² without clusters), and n·CLT²: the variance over prompts."""
    centred = deviations(values)
    error = clt_error(centred)
    if error is None:
        raise StatisticsError(
            "a pilot of one prompt has no variance: it takes two or more"
        )
    plain = len(values) * error**2
    if clusters is None:
        return plain, plain
    robust = robust_errors(centred, clusters)
    if robust is None:
        raise StatisticsError(
            "a pilot of one cluster has no variance between clusters: it takes two or "
            "more, or plan without clusters"
        )
    return len(values) * robust.se_cr2**2, plain


def _within(within: ArrayLike | None, draws: ArrayLike, n: int, name: str) -> _Within:
    k = _draws(draws, n, f"draws_{name}".rstrip("_"))
    variances = _variances(within, k, f"within_{name}".rstrip("_"))
    present = ~np.isnan(variances)
    usual = float(k.mean())
    if not present.any():
        return _Within(None, None, usual, False)
    filled = np.where(present, variances, variances[present].mean())
    share = float((filled / k).mean())
    return _Within(float(filled.mean()), share, usual, not bool(present.all()))


def _variances(within: ArrayLike | None, k: FloatArray, name: str) -> FloatArray:
    """NaN where not known, and for a single draw."""
    if within is None:
        return np.full(len(k), np.nan)
    given = np.asarray(within, dtype=np.float64)
    check_length(given.size, len(k), name)
    variances = np.where(k > 1, given, np.nan)
    wrong = np.isinf(variances) | (variances < 0)
    if wrong.any():
        first = int(np.argmax(wrong))
        raise StatisticsError(
            f"`{name}` holds variances (at least 0, or NaN), found {variances[first]} "
            f"at index {first}"
        )
    return variances


def _draws(draws: ArrayLike, n: int, name: str) -> FloatArray:
    k = np.atleast_1d(np.asarray(draws, dtype=np.float64))
    if k.shape not in ((1,), (n,)):
        raise StatisticsError(f"`{name}` must be one number or one per prompt ({n})")
    if not (np.isfinite(k).all() and (k >= 1).all() and (k == np.floor(k)).all()):
        raise StatisticsError(f"`{name}` must hold whole numbers of at least 1")
    return np.broadcast_to(k, (n,)).astype(np.float64)


def is_skewed_for(skewed: float | None, units: int) -> bool:
    """Whether a mean of so many prompts (clusters) is skewed: |skewness|/√units above
    .2, as for an interval."""
    return skewed is not None and abs(skewed) > SKEWED_MEAN * math.sqrt(max(units, 1))


def _flags(
    groups: Clusters | None,
    raw: float | None,
    within: tuple[_Within, _Within],
    n: int,
    skewed: float | None,
) -> tuple[str, ...]:
    units = number_of(groups) or n
    return flags_of(
        parts_unknown=raw is None,
        omega2_clipped=raw is not None and raw < 0,
        within_imputed=any(run.imputed for run in within),
        few_prompts=groups is None and n < FEW_PROMPTS,
        few_clusters=groups is not None and groups.n < FEW_CLUSTERS,
        skewed_pilot=is_skewed_for(skewed, units),
    )


def _reason(within: tuple[_Within, _Within], *, single: bool) -> str:
    unknown = [
        name for name, run in zip("AB", within, strict=True) if run.share is None
    ]
    if not unknown:
        return ""
    if len(unknown) == 2:
        runs = "of both runs"
    else:
        runs = f"of run {unknown[0]}"
    if single:
        runs = "of the run"
    return (
        f"the draws {runs} have no known variance around their prompt (single draws "
        "have none): it cannot be told from the variance over prompts and counts as "
        "that, so that more draws promise nothing"
    )
