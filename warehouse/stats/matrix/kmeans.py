"""Spherical k-means on performance vectors (Dhillon and Modha 2001), and how good a
clustering is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.stats.core.inputs import FloatArray, as_clusters, check_length
from warehouse.stats.matrix.similarity import as_matrix, generator, unit_rows

STARTS = 10
_ROUNDS = 300
_DIGITS = 7


@dataclass(frozen=True)
class Clustering:
    """Spherical k-means on performance vectors."""

    n_clusters: int  #: clusters C.
    labels: Labels  #: cluster of each prompt, 0 to C−1, numbered by first prompt, shape (n,).
    medoids: Labels  #: row of each cluster's medoid: the prompt nearest its mean, shape (C,).
    #: 1 − cosine of each prompt with its cluster's medoid, shape (n,).
    distances: FloatArray
    #: mean over prompts, cosine distance; None for a single cluster.
    silhouette: float | None

    def __str__(self) -> str:
        if self.silhouette is None:
            shape = "none"
        else:
            shape = f"{self.silhouette:.4g}"
        return (
            f"{self.n_clusters} clusters of {len(self.labels)} prompts, silhouette "
            f"{shape}"
        )


def cluster_rows(values: FloatArray, number: int, seed: int) -> Clustering | None:
    """Clusters of rows by direction: each row goes to the mean direction with the
    largest cosine.

    Args:
        values: prompts × models, finite, shape (n, k).
        number: of clusters, at least 1.
        seed: of the k-means++ starts; the best of them counts (the first on ties).

    Returns:
        None where the matrix has fewer distinct directions than clusters.
    """
    unit = unit_rows(values)
    distinct, member, counts = distinct_rows(unit)
    if number > len(distinct):
        return None
    labels = best_labels(distinct, counts, number, seed)[member]
    return describe(unit, labels, number)


def silhouette_of(values: FloatArray, number: int, seed: int) -> float:
    """Mean silhouette of :func:`cluster_rows`; NaN where there is none."""
    clustering = cluster_rows(values, number, seed)
    if clustering is None or clustering.silhouette is None:
        return np.nan
    return clustering.silhouette


def distinct_rows(unit: FloatArray) -> tuple[FloatArray, Labels, FloatArray]:
    """Distinct directions in order of first row, the direction of each row, and how
    many rows.

    Directions that agree to 7 digits are one: below that, 1 − cosine is rounding alone.
    """
    keys = np.ascontiguousarray(np.round(unit, _DIGITS) + 0.0)  # no negative zeros
    whole_row = np.dtype((np.void, keys.shape[1] * keys.itemsize))
    as_bytes = keys.view(whole_row).ravel()
    _, first, member = np.unique(as_bytes, return_index=True, return_inverse=True)
    order = np.argsort(first)
    index = np.empty_like(order)
    index[order] = np.arange(len(order))
    codes = index[member]
    return unit[first[order]], codes, np.bincount(codes).astype(np.float64)


def best_labels(
    unit: FloatArray, counts: FloatArray, n_clusters: int, seed: int
) -> Labels:
    """Labels of the start with the largest sum of cosines; the first such start on
    ties."""
    best, labels = -np.inf, np.zeros(len(unit), np.intp)
    for start in range(STARTS):
        rng = generator(seed, 0, n_clusters, start)
        centres = _plus_plus(unit, counts, n_clusters, rng)
        candidate, value = _lloyd(unit, counts, centres)
        if value > best * (1 + 1e-12 * np.sign(best)):
            best, labels = value, candidate
    return labels


def _plus_plus(
    unit: FloatArray, counts: FloatArray, n_clusters: int, rng: np.random.Generator
) -> FloatArray:
    """Centres by k-means++: each next one with probability ∝ distance (1 − cosine).

    Where all distances are 0 (directions 1e-7 apart may be), any row that is left.
    """
    chosen = [int(rng.choice(len(unit), p=counts / counts.sum()))]
    nearest = np.maximum(1 - unit @ unit[chosen[0]], 0.0)
    for _ in range(1, n_clusters):
        nearest[chosen] = 0.0
        chances = nearest * counts
        if not chances.any():
            chances = counts.copy()
            chances[chosen] = 0.0
        chosen.append(int(rng.choice(len(unit), p=chances / chances.sum())))
        to_new = np.maximum(1 - unit @ unit[chosen[-1]], 0.0)
        nearest = np.minimum(nearest, to_new)
    return unit[chosen]


def _lloyd(
    unit: FloatArray, counts: FloatArray, centres: FloatArray
) -> tuple[Labels, float]:
    """Assign and average until nothing moves."""
    labels = np.full(len(unit), -1, np.intp)
    for _ in range(_ROUNDS):
        closest = _closest(unit @ centres.T)
        if (closest == labels).all():
            break
        labels = closest
        sums, _ = cluster_sums(unit * counts[:, None], labels, len(centres))
        lengths = np.sqrt(np.einsum("ij,ij->i", sums, sums))
        centres = sums / np.where(lengths == 0, 1.0, lengths)[:, None]
    return labels, float(np.einsum("ij,ij,i->", unit, centres[labels], counts))


def _closest(cosines: FloatArray) -> Labels:
    """The centre (column) with the largest cosine of each row; one that is no row's
    takes the farthest row that is not alone."""
    n_rows, n_centres = cosines.shape
    closest: Labels = np.argmax(cosines, axis=1)
    nearest = cosines[np.arange(n_rows), closest]
    for empty in np.setdiff1d(np.arange(n_centres), closest):
        sizes = np.bincount(closest, minlength=n_centres)
        alone = sizes[closest] == 1
        far = int(np.argmin(np.where(alone, np.inf, nearest)))
        closest[far] = empty
        nearest[far] = 1.0
    return closest


def describe(unit: FloatArray, labels: Labels, n_clusters: int) -> Clustering:
    """A clustering of rows at unit length (n, k), its clusters numbered by their first
    prompt."""
    _, first = np.unique(labels, return_index=True)
    names = np.empty(n_clusters, np.intp)
    names[labels[np.sort(first)]] = np.arange(n_clusters)
    labels = names[labels]
    rows, distances = medoids_of_unit(unit, labels, n_clusters)
    mean_silhouette = None
    widths = silhouettes(unit, labels, n_clusters)
    if widths is not None:
        mean_silhouette = float(widths.mean())
    return Clustering(n_clusters, labels, rows, distances, mean_silhouette)


Labels = NDArray[np.intp]


def silhouette(matrix: ArrayLike, labels: ArrayLike) -> FloatArray | None:
    """Silhouette of each prompt by cosine distance, from cluster means: O(nkC), no n ×
    n matrix.

    With m_C the mean of a cluster's unit rows: a = |C|/(|C|−1)·(1 − q̃_i·m_C), b = min
    over the other clusters of 1 − q̃_i·m_C', s = (b − a)/max(a, b); 0 in a cluster of
    one.

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
    means = sums / sizes[:, None]
    distances = 1 - unit @ means.T
    rows = np.arange(len(unit))
    own_size = sizes[labels]
    inside = distances[rows, labels] * own_size / np.maximum(own_size - 1, 1)
    distances[rows, labels] = np.inf
    outside = distances.min(axis=1)
    # differences of equal rows round to either side of 0
    inside = np.where(np.abs(inside) < 1e-14, 0.0, inside)
    outside = np.where(np.abs(outside) < 1e-14, 0.0, outside)
    larger = np.maximum(inside, outside)
    widths = (outside - inside) / np.where(larger == 0, 1.0, larger)
    return np.where(own_size == 1, 0.0, widths)


def medoids(matrix: ArrayLike, labels: ArrayLike) -> tuple[Labels, FloatArray]:
    """Medoid of each cluster, and each prompt's distance to its own.

    The medoid is the prompt with the largest q̃_i·m_C (the smallest sum of cosine
    distances to its cluster); the lowest index on ties.

    Args:
        matrix: prompts × models, finite, shape (n, k).
        labels: cluster of each prompt, shape (n,).

    Returns:
        rows of the medoids, by ascending label, shape (C,); 1 − cosine to the own
        cluster's medoid, at least 0, shape (n,).
    """
    unit = unit_rows(as_matrix(matrix))
    check_length(np.size(np.asarray(labels)), len(unit), "labels")
    codes = np.unique(np.asarray(labels), return_inverse=True)[1]
    return medoids_of_unit(unit, codes, int(codes.max()) + 1)


def medoids_of_unit(
    unit: FloatArray, labels: Labels, n_clusters: int
) -> tuple[Labels, FloatArray]:
    """As `medoids`, of rows at unit length (n, k) and labels 0 to C−1."""
    sums, sizes = cluster_sums(unit, labels, n_clusters)
    means = sums / sizes[:, None]
    closeness = np.einsum("ij,ij->i", unit, means[labels])
    rows = np.zeros(n_clusters, np.intp)
    for cluster in range(n_clusters):
        members = np.flatnonzero(labels == cluster)
        own = closeness[members]
        largest = np.flatnonzero(own >= own.max() - 1e-12)
        rows[cluster] = members[largest[0]]
    distances = 1 - np.einsum("ij,ij->i", unit, unit[rows[labels]])
    return rows, np.where(distances < 1e-14, 0.0, distances)


def cluster_sums(
    unit: FloatArray, labels: Labels, n_clusters: int
) -> tuple[FloatArray, FloatArray]:
    """Sum of rows and number of rows of each cluster, shapes (C, k) and (C,)."""
    member = np.zeros((n_clusters, len(unit)))
    member[labels, np.arange(len(unit))] = 1.0
    return member @ unit, member.sum(axis=1)
