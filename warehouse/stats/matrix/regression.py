"""For each prompt a regression of performance cosines on semantic cosines (Siska 2024 §3.4).

It runs over all other prompts; its sums follow from small products of the whole matrices, so no
n × n matrix is made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import ROUNDING, FloatArray
from warehouse.stats.core.quantiles import t_p_values
from warehouse.stats.matrix.inputs import as_matrix, unit_rows

#: Residual sums of squares below this share of the total are rounding.
_NO_RESIDUAL = 1e-12


@dataclass(frozen=True)
class PromptCoefficients:
    """One regression for each prompt; NaN where it is not defined.

    Attributes:
        coefficients: β, shape (n,).
        statistics: t = β over its standard error, shape (n,).
        p_values: two-sided, Student's t, shape (n,).
        degrees_of_freedom: n − 2 without intercept, n − 3 with one.
        intercept: whether there is one.
    """

    coefficients: FloatArray
    statistics: FloatArray
    p_values: FloatArray
    degrees_of_freedom: int
    intercept: bool


def prompt_coefficients(matrix: ArrayLike, embeddings: ArrayLike, *, intercept: bool = True) -> PromptCoefficients:
    """β_i of regressing performance cosines on semantic cosines over j ≠ i, for every prompt i.

    Args:
        matrix: prompts × models, finite, shape (n, k).
        embeddings: vectors of the prompts' texts, no zero row, shape (n, d).
        intercept: False for the paper's regression through the origin.

    Raises:
        StatisticsError: lengths that differ, fewer than 4 prompts, a zero or missing vector.

    Examples:
        >>> matrix = [[1, 1, 0], [0, 0, 0], [1, 0, 1], [0, 0, 0], [1, 1, 1]]
        >>> vectors = [[1, 0], [0.6, 0.8], [0, 1], [0.8, 0.6], [-0.6, 0.8]]
        >>> regression = prompt_coefficients(matrix, vectors)
        >>> round(float(regression.coefficients[0]), 12)
        -0.627664387285
    """
    performance, semantic = unit_pair(matrix, embeddings)
    return coefficients_of(performance, Semantic(semantic), intercept)


class Semantic:
    """What the regressions need of the embeddings, worked out once: ẽ, Σẽ, Sx, Sxx."""

    def __init__(self, unit: FloatArray) -> None:
        self.unit = unit
        self.sx = unit @ unit.sum(axis=0) - 1
        self.sxx = np.einsum("ij,ij->i", unit @ (unit.T @ unit), unit) - 1


def unit_pair(matrix: ArrayLike, embeddings: ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Performance (n, k) and text (n, d) of the same prompts, rows at unit length.

    Raises:
        StatisticsError: other numbers of rows, fewer than 4, vectors that are zero or not finite.
    """
    values = as_matrix(matrix)
    vectors = np.asarray(embeddings, dtype=np.float64)
    if vectors.ndim != 2 or len(vectors) != len(values):
        raise StatisticsError(
            f"`embeddings` has shape {vectors.shape}, expected one vector for each of the {len(values)} prompts"
        )
    if len(values) < 4:
        raise StatisticsError(f"a regression over other prompts needs 4 prompts, found {len(values)}")
    wrong = ~np.isfinite(vectors).all(axis=1) | ~vectors.any(axis=1)
    if wrong.any():
        raise StatisticsError(
            f"`embeddings` has {int(wrong.sum())} vector(s) that are zero or not finite (first: row"
            f" {int(np.argmax(wrong))}); leave prompts without text out"
        )
    return unit_rows(values), unit_rows(vectors)


def coefficients_of(unit: FloatArray, semantic: Semantic, intercept: bool) -> PromptCoefficients:
    """The closed forms of statistics.md §7; `unit` are performance rows at length 1."""
    others = len(unit) - 1
    both = unit.T @ semantic.unit  # k × d: this way round the products take a third less
    sxy = np.einsum("ji,ij->i", both @ semantic.unit.T, unit) - 1
    syy = np.einsum("ij,ij->i", unit @ (unit.T @ unit), unit) - 1
    sxx, freedom = semantic.sxx, others - 1
    if intercept:
        sy = unit @ unit.sum(axis=0) - 1
        sxy = sxy - semantic.sx * sy / others
        sxx = sxx - semantic.sx**2 / others
        syy = syy - sy**2 / others
        freedom = others - 2
    room = ROUNDING * others
    with np.errstate(divide="ignore", invalid="ignore"):
        beta = np.where(sxx > room, sxy / sxx, np.nan)
        residual = syy - beta * sxy
        defined = (sxx > room) & (syy > room) & (residual > _NO_RESIDUAL * syy)
        t = np.where(defined, beta / np.sqrt(residual / freedom / sxx), np.nan)
        p = t_p_values(t, freedom)
    beta = np.where(defined, beta, np.nan)
    return PromptCoefficients(beta, t, np.asarray(p), freedom, intercept)
