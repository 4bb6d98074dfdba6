"""Standard errors of clustered and of weighted scores.

Everything comes from the per-cluster sums D_c of the deviations from the mean and the
cluster sizes n_c: one pass over the scores, then arithmetic over clusters. f_c = n_c/n.

With f_i = w_i/Σw, F_c and v_c the sums of f_i and f_i² over cluster c (each prompt one
of its own without clusters) and q = Σ f_i², the squared error is Σ_c D_c²/a_c for D_c =
Σ_{i∈c} f_i (y_i − m) and a_c = 1 − 2F_c + F_c² q/v_c. It is unbiased for independent
scores of one variance, and CR2 of a plain mean where all weights are equal. A
linearised error with the factor of a plain mean counts the weight of a dominating
prompt twice: D_c is next to nothing where F_c is next to 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import (
    ROUNDING,
    Clusters,
    FloatArray,
    as_clusters,
    as_scores,
)
from warehouse.stats.core.moments import deviations
from warehouse.stats.core.results import flags_of


@dataclass(frozen=True)
class ClusterRobust:
    """Cluster-robust standard errors of a mean."""

    n_prompts: int  #: n.
    n_clusters: int  #: G.
    se_clustered: float  #: Miller eq. 4.
    se_cr0: float  #: CR0² = (1/n²) Σ D_c².
    se_cr1: float  #: CR1² = CR0² · G/(G−1).
    se_cr2: float  #: CR2² = (1/n²) Σ D_c²/(1−f_c) (Bell and McCaffrey 2002).
    se_cr3: float  #: cluster jackknife, CV3² = ((G−1)/G)(1/n²) Σ D_c²/(1−f_c)².
    #: Satterthwaite's for CR2 under independence, in [1, G−1].
    degrees_of_freedom: float
    #: intra-cluster correlation (MSB−MSW)/(MSB+(n0−1)MSW), not clipped; None where
    #: every cluster holds one prompt or all scores are equal.
    icc: float | None


@dataclass(frozen=True)
class ClusterSums:
    """Per-cluster figures that all estimators share."""

    sums: FloatArray  #: D_c, shape (G,).
    sizes: FloatArray  #: n_c, shape (G,).
    squares: float  #: Σ d_i² over all prompts.

    @property
    def n(self) -> float:
        """Prompts n."""
        return float(self.sizes.sum())

    @property
    def shares(self) -> FloatArray:
        """f_c = n_c/n, shape (G,)."""
        return self.sizes / self.n


def cluster_robust(scores: ArrayLike, clusters: ArrayLike) -> ClusterRobust | None:
    """CR0, CR1, CR2, CR3 and eq. 4 of the mean of ``scores``; None with a single
    cluster.

    Args:
        scores: value per prompt, finite, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,).

    Raises:
        StatisticsError: scores empty or not finite, labels missing or of another
            length.

    Examples:
        >>> robust = cluster_robust([1, 1, 0, 1, 0, 0, 1, 1, 1, 0], list("aaaabbcccd"))
        >>> round(robust.se_cr2, 6), round(robust.degrees_of_freedom, 6)
        (0.220389, 2.392405)
    """
    values = as_scores(scores)
    return robust_errors(deviations(values), as_clusters(clusters, len(values)))


def standard_error_clustered(scores: ArrayLike, clusters: ArrayLike) -> float | None:
    """Miller (2024) eq. 4: the paper's clustered error; None with a single cluster.

    Computed by the identity se_clustered² = CR0² + se_clt²/n, so it is never negative.
    No default interval uses it: with z it covers too little (see statistics.md §1).

    Args:
        scores: value per prompt, finite, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,).
    """
    robust = cluster_robust(scores, clusters)
    if robust is None:
        return None
    return robust.se_clustered


def effective_clusters(clusters: Clusters | None) -> float:
    """1/Σ f_c²: how many clusters of one size would weigh the same; infinite without
    clusters."""
    if clusters is None:
        return math.inf
    shares = clusters.sizes / clusters.sizes.sum()
    return float(1 / (shares @ shares))


def robust_errors(centred: FloatArray, clusters: Clusters) -> ClusterRobust | None:
    """`cluster_robust` for deviations that are already at hand."""
    if clusters.n < 2:
        return None
    parts = cluster_sums(centred, clusters)
    n, g = parts.n, clusters.n
    squares, rest = (parts.sums / n) ** 2, 1 - parts.shares
    cr0 = float(squares.sum())
    return ClusterRobust(
        n_prompts=len(centred),
        n_clusters=g,
        se_clustered=math.sqrt(cr0 + parts.squares / (n - 1) / n**2),
        se_cr0=math.sqrt(cr0),
        se_cr1=math.sqrt(cr0 * g / (g - 1)),
        se_cr2=math.sqrt(float((squares / rest).sum())),
        se_cr3=math.sqrt((g - 1) / g * float((squares / rest**2).sum())),
        degrees_of_freedom=_satterthwaite(parts.shares),
        icc=_icc(parts),
    )


def cluster_sums(centred: FloatArray, clusters: Clusters) -> ClusterSums:
    """D_c of the deviations, with what is only rounding set to 0."""
    sums = clusters.sums(centred)
    if np.abs(sums).max() <= ROUNDING * np.abs(centred).sum():
        sums = np.zeros_like(sums)
    return ClusterSums(sums, clusters.sizes, float(centred @ centred))


def _satterthwaite(shares: FloatArray) -> float:
    """ν = 1/(Σ f_c² + (Σ g_c)² − Σ g_c²), g_c = f_c²/(1−f_c); equal sizes give G−1."""
    g = shares**2 / (1 - shares)
    return float(1 / ((shares**2).sum() + g.sum() ** 2 - (g**2).sum()))


def _icc(parts: ClusterSums) -> float | None:
    n, g = parts.n, len(parts.sizes)
    if n == g:
        return None
    between = float((parts.sums**2 / parts.sizes).sum())
    mean_between = between / (g - 1)
    mean_within = (parts.squares - between) / (n - g)
    usual_size = (n - float((parts.sizes**2).sum()) / n) / (g - 1)
    scale = mean_between + (usual_size - 1) * mean_within
    if scale > 0:
        return (mean_between - mean_within) / scale
    return None


#: Kish's number of prompts below which weights are concentrated, and below which share
#: of n.
FEW_BY_WEIGHT, SMALL_SHARE = 40, 0.25
#: A unit dominates from this share of the weight on, where that is so many times its
#: share of the prompts.
DOMINANT, TIMES_ITS_SHARE = 0.1, 3
# From this share on the degrees of freedom are 1: their formula cancels.
_ALL_BUT_ALL = 0.999


@dataclass(frozen=True)
class UnitWeights:
    """What the weights say of the error, whatever the scores; a unit is a cluster, or a
    prompt."""

    shares: FloatArray  #: F_c, shape (G,).
    squares: FloatArray  #: v_c, shape (G,).
    reductions: FloatArray  #: a_c: what each squared D_c is divided by, shape (G,).
    #: Satterthwaite's under independent scores of one variance, in [1, G − 1]; None
    #: where a single unit has a weight.
    degrees_of_freedom: float | None
    kish: float  #: n_K = 1/Σ f_i².
    effective_units: float  #: 1/Σ F_c².
    flags: tuple[str, ...]  #: ``weights_concentrated``, ``weights_dominated``.

    def pulls(self, totals: FloatArray) -> FloatArray:
        """D_c/sqrt(a_c), whose squares add up to the squared error, shape (G,).

        Args:
            totals: D_c, shape (G,).
        """
        with np.errstate(
            invalid="ignore", divide="ignore"
        ):  # a unit with all of the weight
            pulls: FloatArray = totals / np.sqrt(self.reductions)
        return pulls


def unit_weights(weights: FloatArray, clusters: Clusters | None = None) -> UnitWeights:
    """The weights of prompts, by unit.

    Args:
        weights: of the prompts, at least 0, some above, shape (n,); only their ratios
            count.
        clusters: of the prompts, or None.
    """
    f = weights / weights.sum()
    squares = f**2
    shares, v, sizes = f, squares, np.ones(len(f))
    if clusters is not None:
        shares, v, sizes = clusters.sums(f), clusters.sums(squares), clusters.sizes
    rest, rest_v = _others(shares), _others(v)
    with np.errstate(invalid="ignore", divide="ignore"):
        remaining = np.where(v > 0, shares**2 * rest_v / v, 0.0)
    reductions = rest**2 + remaining
    kish = 1 / float(squares.sum())
    return UnitWeights(
        shares=shares,
        squares=v,
        reductions=reductions,
        degrees_of_freedom=_freedom(shares, v, reductions)
        if np.count_nonzero(shares) > 1
        else None,
        kish=kish,
        effective_units=1 / float(shares @ shares),
        flags=_flags(kish, len(f), shares, sizes / sizes.sum()),
    )


def spread_as_plain(
    figures: FloatArray, weights: FloatArray, clusters: Clusters | None
) -> FloatArray:
    """Linearised scores with deviations such that the error of a plain mean is that of
    the weighted one.

    Up to a share of 1/n, as they no longer sum to 0 and are centred anew: for plans,
    which take the variance of a prompt from scores.

    Args:
        figures: linearised scores (`sample.linearise_figure`), shape (n,), n at least
            2.
        weights: of the prompts, shape (n,).
        clusters: of the prompts, two at least, or None.
    """
    units = unit_weights(weights, clusters)
    if clusters is None:
        sizes = np.ones(len(figures))
    else:
        sizes = clusters.sizes
    with np.errstate(invalid="ignore", divide="ignore"):
        factor = np.sqrt((1 - sizes / sizes.sum()) / units.reductions)
    mean = figures.mean()
    spread: FloatArray = mean + (figures - mean) * (
        factor if clusters is None else factor[clusters.codes]
    )
    return spread


def _others(values: FloatArray) -> FloatArray:
    """Sum of the other units' values, without the cancellation where one holds nearly
    all."""
    rest: FloatArray = values.sum() - values
    largest = int(np.argmax(values))
    rest[largest] = values[:largest].sum() + values[largest + 1 :].sum()
    return rest


def _freedom(shares: FloatArray, v: FloatArray, a: FloatArray) -> float:
    """q²/Σ_cd C_cd²/(a_c a_d) in one pass, C the covariances of the D_c over the
    scores' variance, q = Σ v_c (statistics.md §1a).

    C_cc is a_c v_c. Apart from the diagonal C has rank two: C_cd = −F_c v_d − F_d v_c +
    q F_c F_d. Pairs with the largest unit are taken by themselves, with what the others
    have in place of differences from the whole, which cancel where it has nearly all.

    Args:
        shares: F_c, at least two above 0, shape (G,).
        v: v_c, shape (G,).
        a: a_c, shape (G,).
    """
    if shares.max() > _ALL_BUT_ALL:
        return 1.0
    largest = int(np.argmax(shares))
    others = np.arange(len(shares)) != largest
    share, square = float(shares[largest]), float(v[largest])
    other_shares, other_squares, divisors = shares[others], v[others], a[others]
    # q F − v of the largest unit
    excess = share * float(other_squares.sum()) - square * float(other_shares.sum())
    across = excess * other_shares - share * other_squares
    with_largest = 2 * float((across**2 / divisors).sum() / a[largest])
    q = float(v.sum())
    among = _rank_two(other_shares, other_squares, divisors, q)
    spread = with_largest + among + float((v**2).sum())
    if spread > 0:
        freedom = q**2 / spread
    else:
        freedom = math.nan
    if freedom >= 1:
        return min(freedom, len(shares) - 1.0)
    return 1.0


def _rank_two(shares: FloatArray, v: FloatArray, a: FloatArray, q: float) -> float:
    """Σ_{c≠d} (q F_c F_d − F_c v_d − F_d v_c)²/(a_c a_d) in one pass."""
    s20 = float((shares**2 / a).sum())
    s11 = float((shares * v / a).sum())
    s02 = float((v**2 / a).sum())
    whole = 2 * s20 * s02 + 2 * s11**2 + (q * s20) ** 2 - 4 * q * s20 * s11
    diagonal = float(((q * shares**2 - 2 * shares * v) ** 2 / a**2).sum())
    return whole - diagonal


def _flags(
    kish: float, n: int, shares: FloatArray, plain: FloatArray
) -> tuple[str, ...]:
    dominated = (shares >= DOMINANT) & (shares >= TIMES_ITS_SHARE * plain * (1 - 1e-12))
    return flags_of(
        weights_concentrated=kish < FEW_BY_WEIGHT or kish < SMALL_SHARE * n,
        weights_dominated=dominated.any(),
    )
