"""Partitions: how far two of them agree, and the prompt in the middle of each part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, check_length
from warehouse.stats.similarity.neighbours import (
    Codes,
    as_vectors,
    cosine_of_pairs,
    lengths,
)


@dataclass(frozen=True)
class Agreement:
    """Agreement 1 − |v_i − v_j| of scores between 0 and 1; of 0/1 scores the share
    scored alike."""

    by_pair: FloatArray  #: mean over the models that have both prompts; NaN where none has, shape (pairs,).
    models_of_pair: NDArray[np.int64]  #: number of these models, shape (pairs,).
    by_model: FloatArray  #: mean over the pairs of which the model has both, NaN where none, shape (models,).
    pairs_of_model: NDArray[np.int64]  #: number of these pairs, shape (models,).
    #: the mean agreement of the same prompts paired at random (each as often as it
    #: stands in a pair of the model), NaN where there are none, shape (models,).
    by_chance: FloatArray


def pair_agreement(values: ArrayLike, first: ArrayLike, second: ArrayLike) -> Agreement:
    """How alike pairs of prompts are scored.

    Args:
        values: score of each model (rows) on each prompt (columns), in [0, 1]; NaN
            where there is none, shape (models, prompts).
        first: prompt of each pair, a column of ``values``, shape (pairs,).
        second: the other prompt, shape (pairs,).

    Raises:
        StatisticsError: scores outside [0, 1], or another shape.

    Examples:
        >>> agreement = pair_agreement([[1, 1, 0], [0, 1, 0]], [0, 1], [1, 2])
        >>> agreement.by_pair.tolist(), agreement.by_model.tolist()
        ([0.5, 0.0], [0.5, 0.0])
    """
    scores = np.asarray(values, np.float64)
    if scores.ndim != 2:
        raise StatisticsError(f"`values` must have two dimensions, found {scores.ndim}")
    if np.any(scores < 0) or np.any(scores > 1):
        raise StatisticsError(
            "`values` must lie between 0 and 1; scale them by their bounds"
        )
    left, other = np.asarray(first, np.intp), np.asarray(second, np.intp)
    n_models = len(scores)
    sums = np.zeros(len(left))
    counts = np.zeros(len(left), np.int64)
    by_model = np.full(n_models, np.nan)
    by_chance = np.full(n_models, np.nan)
    n_pairs = np.zeros(n_models, np.int64)
    for model, row in enumerate(scores):
        both = np.flatnonzero(np.isfinite(row[left]) & np.isfinite(row[other]))
        if not len(both):
            continue
        a, b = row[left[both]], row[other[both]]
        alike = 1 - np.abs(a - b)
        sums[both] += alike
        counts[both] += 1
        by_model[model] = alike.mean()
        n_pairs[model] = len(both)
        by_chance[model] = 1 - mean_difference(np.concatenate([a, b]))
    with np.errstate(invalid="ignore"):  # 0/0: no model has both
        return Agreement(sums / counts, counts, by_model, n_pairs, by_chance)


def mean_difference(values: FloatArray) -> float:
    """Mean of |x_i − x_j| over all n² ordered pairs (Gini's, with repetition), O(n log
    n)."""
    ordered = np.sort(values)
    n = len(ordered)
    ranks = 2 * np.arange(n) - n + 1
    return float(2 * (ranks @ ordered) / n**2)


@dataclass(frozen=True)
class Medoids:
    """The medoid of each group."""

    #: row of the medoid of each group, shape (groups,): the member most similar to the
    #: others on average, the lowest row on ties.
    rows: Codes
    #: 1 − cosine similarity of each row to the medoid of its group, in [0, 2], exactly
    #: 0 for the medoids, shape (n,).
    distances: FloatArray


def find_medoids(vectors: ArrayLike, groups: ArrayLike) -> Medoids:
    """Medoids by cosine: argmax over members of x̃_i · m_C, m_C the mean of the unit
    vectors.

    Args:
        vectors: shape (n, d), no row zero.
        groups: group of each row, 0 to G−1, none empty, shape (n,).

    Raises:
        StatisticsError: lengths that differ, vectors that are not finite or zero.
    """
    rows, codes = as_vectors(vectors), np.asarray(groups, np.intp)
    check_length(len(codes), len(rows), "groups")
    order = np.argsort(codes, kind="stable")
    groups_in_order = codes[order]
    starts = np.flatnonzero(np.diff(groups_in_order, prepend=-1))
    unit = rows[order].astype(np.float64) / lengths(rows)[order][:, None]
    sums = unit
    if len(rows):
        sums = np.add.reduceat(unit, starts, axis=0)
    closeness: FloatArray = np.einsum("ij,ij->i", unit, sums[groups_in_order])
    medoids = _first_largest(closeness, groups_in_order, order)
    distances = 1 - cosine_of_pairs(rows, np.arange(len(rows)), medoids[codes])
    distances[medoids] = 0.0
    return Medoids(medoids, distances)


def _first_largest(
    values: FloatArray, codes: NDArray[np.intp], rows: NDArray[np.intp]
) -> NDArray[np.intp]:
    """For each code the row with the largest value; what differs by rounding is a tie."""
    ranked = np.lexsort((rows, -np.round(values, 9), codes))
    first_of_code = np.flatnonzero(np.diff(codes[ranked], prepend=-1))
    return rows[ranked[first_of_code]]
