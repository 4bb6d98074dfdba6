"""One run on one leaf of a suite: what its mean adds to the error of a weighted sum of leaves.

A unit is what is independent: a cluster, or a prompt without one. Equal unit numbers in two leaves
or two runs are the same unit, which is how sums and differences get their covariances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import ROUNDING, FloatArray, as_scores, check_length, is_constant, is_zero_one
from warehouse.stats.core.moments import deviations, mean_of

UnitArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Design:
    """Which units a leaf's prompts belong to.

    Attributes:
        units: numbers of the units, ascending, shape (U,).
        sizes: prompts in each, shape (U,).
    """

    units: UnitArray
    sizes: FloatArray

    @property
    def shares(self) -> FloatArray:
        """f_u = n_u/n, shape (U,)."""
        shares: FloatArray = self.sizes / self.sizes.sum()
        return shares

    @cached_property
    def key(self) -> bytes:
        """Equal for equal designs."""
        return self.units.tobytes() + self.sizes.tobytes()


@dataclass(frozen=True, eq=False)
class Cell:
    """A run's figure on one leaf.

    Attributes:
        estimate: mean of the prompt figures, or as published.
        variance: of ``estimate``: CR2² over the units (the CLT's where each unit is one prompt);
            None where not defined.
        n_prompts: prompts behind it.
        design: units; None for a published figure.
        pulls: S_u / (n sqrt(1 − f_u)), S_u the sum of the deviations of unit u: their squares add
            up to ``variance``; None where there is none, shape (U,).
        binary: every score is 0 or 1.
        constant: all scores are equal.
    """

    estimate: float
    variance: float | None
    n_prompts: int
    design: Design | None
    pulls: FloatArray | None
    binary: bool
    constant: bool


def leaf_cell(scores: ArrayLike, units: ArrayLike) -> Cell:
    """The figure of a run on a leaf from its prompts.

    Args:
        scores: figure of each prompt, finite, shape (n,); their mean is the leaf's figure.
        units: whole number of the unit of each prompt, shape (n,).

    Raises:
        StatisticsError: scores empty or not finite, units of another length or not whole.

    Examples:
        >>> cell = leaf_cell([1, 1, 0, 1, 0, 0, 1, 1, 1, 0], [0, 0, 0, 0, 1, 1, 2, 2, 2, 3])
        >>> cell.estimate, round(math.sqrt(cell.variance), 6)
        (0.6, 0.220389)
    """
    values = as_scores(scores)
    labels = np.asarray(units)
    check_length(labels.size, len(values), "units")
    if labels.dtype.kind not in "iu":
        raise StatisticsError(f"`units` must hold whole numbers, found {labels.dtype}")
    names, codes = np.unique(labels, return_inverse=True)
    sizes = np.bincount(codes).astype(np.float64)
    design = Design(names.astype(np.int64), sizes)
    centred = deviations(values)
    sums = np.bincount(codes, weights=centred)
    if np.abs(sums).max() <= ROUNDING * np.abs(centred).sum():
        sums = np.zeros_like(sums)
    pulls = None
    if len(names) > 1:
        pulls = sums / len(values) / np.sqrt(1 - design.shares)
    return Cell(
        estimate=mean_of(values),
        variance=None if pulls is None else float(pulls @ pulls),
        n_prompts=len(values),
        design=design,
        pulls=pulls,
        binary=is_zero_one(values),
        constant=is_constant(values),
    )


def published_cell(estimate: float, standard_error: float | None, n_prompts: int = 0) -> Cell:
    """A published figure: independent of every other.

    Args:
        estimate: the figure.
        standard_error: above 0; None where none was published.
        n_prompts: as published, 0 if unknown.

    Raises:
        StatisticsError: a figure that is not finite, or an error that is not above 0.
    """
    if not math.isfinite(estimate):
        raise StatisticsError(f"a published figure must be finite, found {estimate}")
    if standard_error is not None and not 0 < standard_error < math.inf:
        raise StatisticsError(f"a published error must be above 0, found {standard_error}")
    variance = None if standard_error is None else standard_error**2
    return Cell(estimate, variance, n_prompts, None, None, False, False)


def overlap(one: Design, other: Design) -> float:
    """tr(K K'): how the squared errors of two leaves vary together under independent units.

    K is the matrix of the unit sums' covariances in CR2, divided by its trace:
    K_uu = f_u, K_uv = −g_u g_v with g_u = f_u / sqrt(1 − f_u). For one design 1/tr(K²) is
    Satterthwaite's ν of CR2 (statistics.md §1); disjoint designs give 0.
    """
    _, a, b = np.intersect1d(one.units, other.units, assume_unique=True, return_indices=True)
    if not len(a):
        return 0.0
    f, h = one.shares[a], other.shares[b]
    g = f / np.sqrt(1 - f) * h / np.sqrt(1 - h)
    return float(f @ h + g.sum() ** 2 - g @ g)
