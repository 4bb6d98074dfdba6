"""Similarity of prompts by their performance vectors: cosine, Jaccard, Hamming (Siska §3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, is_zero_one
from warehouse.stats.matrix.counting import count_pairs
from warehouse.stats.matrix.inputs import as_matrix, pair_blocks, unit_rows
from warehouse.stats.matrix.ranked import linear_quantile

Similarity = Literal["cosine", "jaccard", "hamming"]
#: What two rows without a single one are to each other: alike (1), or nothing (scikit-learn's 0).
ZeroRows = Literal["alike", "zero"]

SIMILARITIES: tuple[Similarity, ...] = ("hamming", "cosine", "jaccard")


@dataclass(frozen=True)
class SimilaritySummary:
    """Similarities of all pairs of prompts.

    Attributes:
        similarity: which.
        n_pairs: pairs i < j.
        mean: over pairs.
        percentile_75: numpy's ``linear`` percentile.
        percentile_95: the same.
    """

    similarity: str
    n_pairs: int
    mean: float
    percentile_75: float
    percentile_95: float

    def __str__(self) -> str:
        return (
            f"{self.similarity}: mean {self.mean:.4g}, 75 % {self.percentile_75:.4g},"
            f" 95 % {self.percentile_95:.4g} ({self.n_pairs} pairs)"
        )


def check_similarity(similarity: str, binary: bool) -> None:
    """Refuse an unknown similarity, and those that need zeros and ones where there are others.

    Raises:
        StatisticsError: naming what can be used.
    """
    if similarity not in SIMILARITIES:
        raise StatisticsError(f"no similarity {similarity!r}; there are: {', '.join(sorted(SIMILARITIES))}")
    if similarity != "cosine" and not binary:
        raise StatisticsError(f"{similarity} similarity needs scores of 0 and 1, and there are others; use cosine")


def mean_cosine(matrix: ArrayLike, *, zero_rows: ZeroRows = "alike") -> float:
    """Mean cosine over pairs i < j: (‖Σ q̃_i‖² − n)/(n(n−1)), without looking at pairs.

    Args:
        matrix: prompts × models, finite, shape (n, k).
        zero_rows: ``"zero"`` keeps zero rows as zero vectors (n − n_zero instead of n).

    Examples:
        >>> round(mean_cosine([[1, 1], [1, 0], [1, 0]]), 12)
        0.804737854124
    """
    return _mean_cosine(unit_rows(as_matrix(matrix), extra=zero_rows == "alike"))


def _mean_cosine(unit: FloatArray) -> float:
    n = len(unit)
    total = unit.sum(axis=0)
    own = float(np.einsum("ij,ij->", unit, unit))  # n, or n less the zero rows
    return (float(total @ total) - own) / (n * (n - 1))


def summarise_similarity(
    matrix: ArrayLike, similarity: Similarity = "cosine", *, zero_rows: ZeroRows = "alike"
) -> SimilaritySummary:
    """Mean, 75th and 95th percentile of a similarity over all pairs of prompts, exactly.

    Args:
        matrix: prompts × models, finite, shape (n, k); 0/1 for Jaccard and Hamming.
        zero_rows: whether two rows without a single one are alike (1) or not (0).

    Raises:
        StatisticsError: fewer than two prompts or models, missing cells, or scores that the
            similarity is not defined for.
    """
    values = as_matrix(matrix)
    binary = is_zero_one(values)
    check_similarity(similarity, binary)
    n, k = values.shape
    if binary:
        codes, counts = count_pairs(np.ascontiguousarray(values.T, dtype=np.uint8))
        similarities = cell_values(similarity, codes, k, zero_rows)
        order = np.argsort(similarities)
        similarities, counts = similarities[order], counts[order]
        mean = float(similarities @ counts) / (n * (n - 1) // 2)
    else:
        unit = unit_rows(values, extra=zero_rows == "alike")
        similarities, mean = np.sort(np.concatenate(list(pair_blocks(unit)))), _mean_cosine(unit)
        counts = np.ones(len(similarities), np.int64)
    return SimilaritySummary(
        similarity,
        n * (n - 1) // 2,
        mean,
        linear_quantile(similarities, counts, 0.75),
        linear_quantile(similarities, counts, 0.95),
    )


def cell_values(similarity: str, codes: NDArray[np.int64], k: int, zero_rows: ZeroRows = "alike") -> FloatArray:
    """Similarity of two rows by their weights a, b and common ones c.

    Equal similarities are equal numbers: each comes from one division of whole numbers, which is
    rounded once.

    Args:
        codes: (a(k+1) + b)(k+1) + c, as of `count_pairs`, shape (m,).
        k: models.
    """
    pairs, common = np.divmod(codes, k + 1)
    a, b = np.divmod(pairs, k + 1)
    if similarity == "hamming":
        return np.asarray((k - (a + b - 2 * common)) / k)
    whole = a + b - common if similarity == "jaccard" else a * b
    part = common if similarity == "jaccard" else common**2
    shares = part / np.where(whole == 0, 1, whole)
    values = np.sqrt(shares) if similarity == "cosine" else shares
    if zero_rows == "alike":
        values = np.where((a == 0) & (b == 0), 1.0, values)
    return np.asarray(values)
