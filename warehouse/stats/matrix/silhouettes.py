"""How good a clustering is: silhouettes and medoids from cluster means, without an n × n matrix."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.stats.core.inputs import FloatArray, as_clusters, check_length
from warehouse.stats.matrix.inputs import as_matrix, unit_rows

Labels = NDArray[np.intp]


def silhouette(matrix: ArrayLike, labels: ArrayLike) -> FloatArray | None:
    """Silhouette of each prompt by cosine distance, from cluster means: O(nkC), no n × n matrix.

    With m_C the mean of a cluster's unit rows: a = |C|/(|C|−1)·(1 − q̃_i·m_C), b = min over the
    other clusters of 1 − q̃_i·m_C', s = (b − a)/max(a, b); 0 in a cluster of one.

    Args:
        matrix: prompts × models, finite, shape (n, k).
        labels: cluster of each prompt, shape (n,).

    Returns:
        shape (n,), in [−1, 1]; None where there is one cluster only.

    Examples:
        >>> matrix = [[1, 1, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0], [1, 1, 1]]
        >>> round(float(silhouette(matrix, [0, 1, 0, 1, 0]).mean()), 12)
        0.826598632371
    """
    values = as_matrix(matrix)
    groups = as_clusters(labels, len(values))
    return silhouettes(unit_rows(values), groups.codes, groups.n)


def silhouettes(unit: FloatArray, labels: Labels, n_clusters: int) -> FloatArray | None:
    """As `silhouette`, of rows at unit length (n, k) and labels 0 to C−1."""
    if n_clusters < 2:
        return None
    sums, sizes = cluster_sums(unit, labels, n_clusters)
    distances = 1 - unit @ (sums / sizes[:, None]).T
    rows = np.arange(len(unit))
    own_size = sizes[labels]
    inside = distances[rows, labels] * own_size / np.maximum(own_size - 1, 1)
    distances[rows, labels] = np.inf
    outside = distances.min(axis=1)
    # differences of equal rows round to either side of 0
    inside, outside = (np.where(np.abs(d) < 1e-14, 0.0, d) for d in (inside, outside))
    larger = np.maximum(inside, outside)
    widths = (outside - inside) / np.where(larger == 0, 1.0, larger)
    return np.where(own_size == 1, 0.0, widths)


def medoids(matrix: ArrayLike, labels: ArrayLike) -> tuple[Labels, FloatArray]:
    """Medoid of each cluster, and each prompt's distance to its own.

    The medoid is the prompt with the largest q̃_i·m_C (the smallest sum of cosine distances to
    its cluster); the lowest index on ties.

    Args:
        matrix: prompts × models, finite, shape (n, k).
        labels: cluster of each prompt, shape (n,).

    Returns:
        rows of the medoids, by ascending label, shape (C,); 1 − cosine to the own cluster's
        medoid, at least 0, shape (n,).
    """
    unit = unit_rows(as_matrix(matrix))
    check_length(np.size(np.asarray(labels)), len(unit), "labels")
    codes = np.unique(np.asarray(labels), return_inverse=True)[1]
    return medoids_of_unit(unit, codes, int(codes.max()) + 1)


def medoids_of_unit(unit: FloatArray, labels: Labels, n_clusters: int) -> tuple[Labels, FloatArray]:
    """As `medoids`, of rows at unit length (n, k) and labels 0 to C−1."""
    sums, sizes = cluster_sums(unit, labels, n_clusters)
    closeness = np.einsum("ij,ij->i", unit, (sums / sizes[:, None])[labels])
    rows = np.zeros(n_clusters, np.intp)
    for cluster in range(n_clusters):
        members = np.flatnonzero(labels == cluster)
        own = closeness[members]
        rows[cluster] = members[np.flatnonzero(own >= own.max() - 1e-12)[0]]
    distances = 1 - np.einsum("ij,ij->i", unit, unit[rows[labels]])
    return rows, np.where(distances < 1e-14, 0.0, distances)


def cluster_sums(unit: FloatArray, labels: Labels, n_clusters: int) -> tuple[FloatArray, FloatArray]:
    """Sum of rows and number of rows of each cluster, shapes (C, k) and (C,)."""
    member = np.zeros((n_clusters, len(unit)))
    member[labels, np.arange(len(unit))] = 1.0
    return member @ unit, member.sum(axis=1)
