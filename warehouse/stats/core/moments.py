"""Means, deviations, skewness and unclustered standard errors of scores."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    ROUNDING,
    FloatArray,
    as_scores,
    is_constant,
    is_zero_one,
)


def standard_error_clt(scores: ArrayLike) -> float | None:
    """Miller (2024) eq. 1: sqrt(Σ (s_i − s̄)²/(n−1)/n); None for a single prompt.

    Args:
        scores: mean score of each prompt, finite, shape (n,).

    Raises:
        StatisticsError: where scores are empty or not finite.

    Examples:
        >>> round(standard_error_clt([1, 1, 0, 1]), 6)
        0.25
        >>> standard_error_clt([1]) is None
        True
    """
    return clt_error(deviations(as_scores(scores)))


def standard_error_bernoulli(scores: ArrayLike) -> float | None:
    """Miller (2024) eq. 2: sqrt(s̄(1−s̄)/n); None unless every score is 0 or 1.

    Args:
        scores: one draw per prompt, finite, shape (n,). A mean of several draws is not
            Bernoulli, even where it happens to be 0 or 1: that is for the caller to
            know.

    Raises:
        StatisticsError: where scores are empty or not finite.
    """
    values = as_scores(scores)
    if is_zero_one(values):
        return bernoulli_error(mean_of(values), len(values))
    return None


def mean_of(scores: FloatArray) -> float:
    """The mean; exactly the first score where all are equal."""
    if is_constant(scores):
        return float(scores[0])
    return mean_of_varying(scores)


def mean_of_varying(scores: FloatArray) -> float:
    """`mean_of` scores that are known not to be all equal."""
    with np.errstate(over="ignore"):
        mean = float(scores.mean())
    if not math.isfinite(mean):
        raise StatisticsError("`scores` are too large: their sum overflows")
    return mean


def deviations(scores: FloatArray) -> FloatArray:
    """d_i = s_i − s̄, exactly 0 where all scores are equal, shape (n,).

    Raises:
        StatisticsError: where the scores are so large that their squares overflow.
    """
    if is_constant(scores):
        return np.zeros_like(scores)
    with np.errstate(over="ignore"):
        centred = scores - mean_of_varying(scores)
        squares = float(centred @ centred)
    if not math.isfinite(squares):
        raise StatisticsError(
            "`scores` are too large: the sum of their squares overflows"
        )
    return centred


def clt_error(centred: FloatArray) -> float | None:
    """`standard_error_clt` for deviations that are already at hand."""
    n = len(centred)
    if n > 1:
        return math.sqrt(float(centred @ centred) / (n - 1) / n)
    return None


def bernoulli_error(mean: float, n: int) -> float:
    """Error of a proportion ``mean`` of ``n`` prompts."""
    return math.sqrt(mean * (1 - mean) / n)


def skewness(scores: FloatArray) -> float:
    """Third central moment over the cubed standard deviation (1/n); 0 where all are
    equal."""
    return float(skewnesses(scores[None, :])[0])


def skewnesses(samples: FloatArray) -> FloatArray:
    """`skewness` of each row, shape (S, n) to (S,)."""
    low, high = samples.min(axis=1), samples.max(axis=1)
    equal = high - low <= ROUNDING * np.maximum(np.abs(low), np.abs(high))
    with np.errstate(over="ignore"):
        means = samples.mean(axis=1)
    if not np.isfinite(means).all():
        raise StatisticsError("`scores` are too large: their sum overflows")
    # the cubes of very small or large scores would be lost
    largest = np.where(equal, 1.0, np.maximum(high - means, means - low))
    unit = (samples - means[:, None]) / largest[:, None]
    squares = unit * unit
    # products, since a power of 3 takes 20 times as long
    cubes = np.einsum("ij,ij->i", squares, unit)
    second = squares.mean(axis=1)
    third = cubes / samples.shape[1]
    return np.where(equal, 0.0, third / np.where(equal, 1.0, second) ** 1.5)
