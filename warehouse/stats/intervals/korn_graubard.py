"""Korn–Graubard interval for clustered 0/1 scores (Korn and Graubard 1998; statistics.md §1).

The clustered error gives an effective number of prompts n*, reduced for the uncertainty of
that error and for how few clusters carry information; then a binomial interval at n*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import Clusters, FloatArray, as_clusters, as_level, as_scores, is_zero_one
from warehouse.stats.core.moments import deviations, mean_of
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.results import Interval
from warehouse.stats.intervals.closed_form import interval_clopper_pearson, interval_wilson
from warehouse.stats.intervals.cluster_robust import ClusterRobust, robust_errors

Variant = Literal["wilson", "clopper_pearson", "svyciprop"]

# With fewer clusters that hold a 1 (or a 0) than this, n* is at most G_eff.
_FEWEST_INFORMATIVE = 4


@dataclass(frozen=True)
class InformativeClusters:
    """How much the clusters can say about a proportion.

    Attributes:
        effective: G_eff = 1/Σ f_c², between 1 and G.
        k_min: the smaller of the numbers of clusters with a 1 and with a 0.
        size_cv: coefficient of variation of the cluster sizes (ddof 0).
    """

    effective: float
    k_min: int
    size_cv: float


def interval_korn_graubard(
    scores: ArrayLike, clusters: ArrayLike, *, variant: Variant = "wilson", level: float = 0.95
) -> Interval | None:
    """Interval for the mean of clustered 0/1 scores, one draw per prompt.

    Args:
        scores: 0 or 1 per prompt, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,).
        variant: ``"wilson"`` or ``"clopper_pearson"`` at n*, or ``"svyciprop"``: the form of
            R's survey package (method "beta": CR1, ν = G−1, no cap, no rule for few
            informative clusters, none where the error is 0).
        level: nominal coverage, in (0, 1).

    Returns:
        The interval, or None where there is one cluster and the scores differ.

    Raises:
        StatisticsError: for scores that are not 0/1, or as for `cluster_robust`.

    Examples:
        >>> print(interval_korn_graubard([1] * 10, list("aaaabbcccd")))
        [0.4646, 1]
    """
    values = as_scores(scores)
    if not is_zero_one(values):
        raise StatisticsError("`scores` must all be 0 or 1 for the Korn–Graubard interval")
    groups = as_clusters(clusters, len(values))
    robust = robust_errors(deviations(values), groups)
    return korn_graubard(values, groups, robust, variant, as_level(level))


def korn_graubard(
    scores: FloatArray, clusters: Clusters, robust: ClusterRobust | None, variant: Variant, level: float
) -> Interval | None:
    """`interval_korn_graubard` for checked 0/1 scores and errors that are at hand."""
    if variant not in get_args(Variant):
        raise StatisticsError(f"unknown `variant` {variant!r}, expected {get_args(Variant)}")
    size = _svyciprop_size if variant == "svyciprop" else effective_size
    n = size(scores, clusters, robust, level)
    if n is None:
        return None
    mean = mean_of(scores)
    successes = n if mean == 1 else mean * n
    form: Callable[..., Interval] = interval_wilson if variant == "wilson" else interval_clopper_pearson
    interval = form(successes, n, level=level)
    return Interval(interval.low, interval.high, level, f"korn_graubard_{variant}")


def informative_clusters(scores: FloatArray, clusters: Clusters) -> InformativeClusters:
    """G_eff, k_min and the spread of cluster sizes for 0/1 scores."""
    ones = clusters.sums(scores)
    sizes = clusters.sizes
    return InformativeClusters(
        effective=float(sizes.sum() ** 2 / (sizes**2).sum()),
        k_min=int(min(np.count_nonzero(ones > 0), np.count_nonzero(ones < sizes))),
        size_cv=float(sizes.std() / sizes.mean()),
    )


def effective_size(scores: FloatArray, clusters: Clusters, robust: ClusterRobust | None, level: float) -> float | None:
    """n*: prompts that would say as much if they were independent.

    n_e = min(n, s̄(1−s̄)/CR2²), then times (t_{n−1}/t_ν)²; at most G_eff where fewer than 4
    clusters hold a 1 (or a 0), and G_eff where all scores are equal. None with one cluster
    whose scores differ.
    """
    known = informative_clusters(scores, clusters)
    if known.k_min == 0:  # all scores equal
        return known.effective
    if robust is None:
        return None
    n, mean, variance = len(scores), mean_of(scores), robust.se_cr2**2
    naive = min(float(n), mean * (1 - mean) / variance) if variance > 0 else float(n)
    icc = min(1.0, max(0.0, robust.icc or 0.0))
    size = naive * _t_ratio(level, n, clustered_df(clusters.sizes, icc))
    return min(size, known.effective) if known.k_min < _FEWEST_INFORMATIVE else size


def _svyciprop_size(scores: FloatArray, clusters: Clusters, robust: ClusterRobust | None, level: float) -> float | None:
    if robust is None or robust.se_cr1 == 0:
        return None
    mean = mean_of(scores)
    naive = mean * (1 - mean) / robust.se_cr1**2
    return naive * _t_ratio(level, len(scores), clusters.n - 1)


def _t_ratio(level: float, n: int, degrees_of_freedom: float) -> float:
    return (t_quantile(level, n - 1) / t_quantile(level, degrees_of_freedom)) ** 2


def clustered_df(sizes: FloatArray, icc: float) -> float:
    """ν(ρ) of CR2 where scores within a cluster correlate by ρ, in [1, G−1].

    v_c = n_c(1+(n_c−1)ρ), A = I − f1ᵀ, C = A diag(v) Aᵀ, P_cd = C_cd/sqrt((1−f_c)(1−f_d)),
    ν = tr(P)²/tr(P²). C = diag(v) + M with M of rank two, so both traces are sums over
    clusters and no G × G matrix is built. ρ = 0 gives Satterthwaite's ν.

    Args:
        sizes: prompts per cluster, shape (G,), G at least 2.
        icc: ρ in [0, 1].
    """
    f = sizes / sizes.sum()
    v = sizes * (1 + (sizes - 1) * icc)
    v = v / v.sum()  # ν does not depend on the scale of v
    h = 1 / (1 - f)
    m = f * f - 2 * f * v  # diagonal of M
    trace = float((h * (v + m)).sum())
    ff, fv, vv = (float((h * pair).sum()) for pair in (f * f, f * v, v * v))
    off = 2 * ff * vv + ff**2 + 2 * fv**2 - 4 * fv * ff  # Σ h_c h_d M_cd²
    squares = float((h * h * (v * v + 2 * v * m)).sum()) + off
    return trace**2 / squares
