"""The middle of each group of vectors by cosine, and how far its members are from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.stats.core.inputs import FloatArray, check_length
from warehouse.stats.similarity.neighbours import as_vectors, cosine_of_pairs, lengths
from warehouse.stats.similarity.partition import Codes


@dataclass(frozen=True)
class Medoids:
    """The medoid of each group.

    Attributes:
        rows: row of the medoid of each group, shape (groups,): the member most similar to the
            others on average, the lowest row on ties.
        distances: 1 − cosine similarity of each row to the medoid of its group, in [0, 2],
            exactly 0 for the medoids, shape (n,).
    """

    rows: Codes
    distances: FloatArray


def find_medoids(vectors: ArrayLike, groups: ArrayLike) -> Medoids:
    """Medoids by cosine: argmax over members of x̃_i · m_C, m_C the mean of the unit vectors.

    Args:
        vectors: shape (n, d), no row zero.
        groups: group of each row, 0 to G−1, none empty, shape (n,).

    Raises:
        StatisticsError: lengths that differ, vectors that are not finite or zero.
    """
    rows, codes = as_vectors(vectors), np.asarray(groups, np.intp)
    check_length(len(codes), len(rows), "groups")
    order = np.argsort(codes, kind="stable")
    starts = np.flatnonzero(np.diff(codes[order], prepend=-1))
    unit = rows[order].astype(np.float64) / lengths(rows)[order][:, None]
    sums = np.add.reduceat(unit, starts, axis=0) if len(rows) else unit
    closeness: FloatArray = np.einsum("ij,ij->i", unit, sums[codes[order]])
    medoids = _first_largest(closeness, codes[order], order)
    distances = 1 - cosine_of_pairs(rows, np.arange(len(rows)), medoids[codes])
    distances[medoids] = 0.0
    return Medoids(medoids, distances)


def _first_largest(values: FloatArray, codes: NDArray[np.intp], rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """For each code the row with the largest value; what differs by rounding is a tie."""
    ranked = np.lexsort((rows, -np.round(values, 9), codes))
    return rows[ranked[np.flatnonzero(np.diff(codes[ranked], prepend=-1))]]
