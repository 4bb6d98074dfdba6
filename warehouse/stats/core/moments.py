"""Mean, deviations and the two unclustered standard errors of one run (Miller 2024 §2)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, as_scores, is_constant, is_zero_one


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
            Bernoulli, even where it happens to be 0 or 1: that is for the caller to know.

    Raises:
        StatisticsError: where scores are empty or not finite.
    """
    values = as_scores(scores)
    return bernoulli_error(mean_of(values), len(values)) if is_zero_one(values) else None


def mean_of(scores: FloatArray) -> float:
    """The mean; exactly the first score where all are equal."""
    if is_constant(scores):
        return float(scores[0])
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
        centred = scores - mean_of(scores)
        squares = float(centred @ centred)
    if not math.isfinite(squares):
        raise StatisticsError("`scores` are too large: the sum of their squares overflows")
    return centred


def clt_error(centred: FloatArray) -> float | None:
    """`standard_error_clt` for deviations that are already at hand."""
    n = len(centred)
    return math.sqrt(float(centred @ centred) / (n - 1) / n) if n > 1 else None


def bernoulli_error(mean: float, n: int) -> float:
    """Error of a proportion ``mean`` of ``n`` prompts."""
    return math.sqrt(mean * (1 - mean) / n)


def skewness(scores: FloatArray) -> float:
    """Third central moment over the cubed standard deviation (1/n); 0 where all are equal."""
    if is_constant(scores):
        return 0.0
    centred = scores - mean_of(scores)
    unit = centred / np.abs(centred).max()  # the cubes of very small or large scores would be lost
    return float(np.mean(unit**3) / np.mean(unit**2) ** 1.5)
