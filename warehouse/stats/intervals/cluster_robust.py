"""Cluster-robust standard errors of a mean (statistics.md §1).

Everything comes from the per-cluster sums D_c of the deviations from the mean and the cluster
sizes n_c: one pass over the scores, then arithmetic over clusters. f_c = n_c/n.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import ROUNDING, Clusters, FloatArray, as_clusters, as_scores
from warehouse.stats.core.moments import deviations


@dataclass(frozen=True)
class ClusterRobust:
    """Cluster-robust standard errors of a mean.

    Attributes:
        n_prompts: n.
        n_clusters: G.
        se_clustered: Miller eq. 4.
        se_cr0: CR0² = (1/n²) Σ D_c².
        se_cr1: CR1² = CR0² · G/(G−1).
        se_cr2: CR2² = (1/n²) Σ D_c²/(1−f_c) (Bell and McCaffrey 2002).
        se_cr3: cluster jackknife, CV3² = ((G−1)/G)(1/n²) Σ D_c²/(1−f_c)².
        degrees_of_freedom: Satterthwaite's for CR2 under independence, in [1, G−1].
        icc: intra-cluster correlation (MSB−MSW)/(MSB+(n0−1)MSW), not clipped; None where
            every cluster holds one prompt or all scores are equal.
    """

    n_prompts: int
    n_clusters: int
    se_clustered: float
    se_cr0: float
    se_cr1: float
    se_cr2: float
    se_cr3: float
    degrees_of_freedom: float
    icc: float | None


@dataclass(frozen=True)
class ClusterSums:
    """Per-cluster figures that all estimators share.

    Attributes:
        sums: D_c, shape (G,).
        sizes: n_c, shape (G,).
        squares: Σ d_i² over all prompts.
    """

    sums: FloatArray
    sizes: FloatArray
    squares: float

    @property
    def n(self) -> float:
        """Prompts n."""
        return float(self.sizes.sum())

    @property
    def shares(self) -> FloatArray:
        """f_c = n_c/n, shape (G,)."""
        return self.sizes / self.n


def cluster_robust(scores: ArrayLike, clusters: ArrayLike) -> ClusterRobust | None:
    """CR0, CR1, CR2, CR3 and eq. 4 of the mean of ``scores``; None with a single cluster.

    Args:
        scores: value per prompt, finite, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,).

    Raises:
        StatisticsError: scores empty or not finite, labels missing or of another length.

    Examples:
        >>> robust = cluster_robust([1, 1, 0, 1, 0, 0, 1, 1, 1, 0], list("aaaabbcccd"))
        >>> round(robust.se_cr2, 6), round(robust.degrees_of_freedom, 6)
        (0.220389, 2.392405)
    """
    values = as_scores(scores)
    return robust_errors(deviations(values), as_clusters(clusters, len(values)))


def standard_error_clustered(scores: ArrayLike, clusters: ArrayLike) -> float | None:
    """Miller (2024) eq. 4: the paper's clustered error; None with a single cluster.

    Computed by the identity se_clustered² = CR0² + se_clt²/n, so it is never negative. No
    default interval uses it: with z it covers too little (see statistics.md §1).

    Args:
        scores: value per prompt, finite, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,).
    """
    robust = cluster_robust(scores, clusters)
    return None if robust is None else robust.se_clustered


def effective_clusters(clusters: Clusters | None) -> float:
    """1/Σ f_c²: how many clusters of one size would weigh the same; infinite without clusters."""
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
    return (mean_between - mean_within) / scale if scale > 0 else None
