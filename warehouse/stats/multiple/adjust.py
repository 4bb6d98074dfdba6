"""p-values of many tests, adjusted: Holm (family-wise) and Benjamini–Hochberg (false
discovery)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray


def holm(p_values: ArrayLike) -> FloatArray:
    """Holm's step-down adjustment: controls the chance of any false rejection.

    The i-th smallest p is multiplied by m − i + 1, m the number of p-values that are
    defined; then made monotone and cut at 1 (Holm 1979).

    Args:
        p_values: in [0, 1], shape (m,); NaN for a test that could not be made: it stays
            NaN and is not counted.

    Raises:
        StatisticsError: a value outside [0, 1].

    Examples:
        >>> print(holm([0.01, 0.04, float("nan"), 0.03]))
        [0.03 0.06  nan 0.06]
    """
    return _adjust(p_values, _step_down)


def holm_of_distinct(p_values: ArrayLike, copies: ArrayLike) -> FloatArray:
    """`holm` where some tests are one and the same: these count as one, by the largest
    of their p.

    Args:
        p_values: as for `holm`.
        copies: a number for each, equal for those that are one, shape (m,).

    Returns:
        adjusted, in [0, 1], shape (m,); NaN where the p is NaN.

    Raises:
        StatisticsError: a p outside [0, 1].

    Examples:
        >>> print(holm_of_distinct([0.01, 0.04, 0.01], [0, 1, 0]))
        [0.02 0.04 0.02]
    """
    p = np.asarray(p_values, dtype=np.float64)
    _, tests = np.unique(copies, return_inverse=True)
    largest = np.full(int(tests.max(initial=-1)) + 1, np.nan)
    np.fmax.at(largest, tests, p)
    return np.where(np.isnan(p), np.nan, holm(largest)[tests])


def benjamini_hochberg(p_values: ArrayLike) -> FloatArray:
    """Benjamini and Hochberg's step-up adjustment: controls the expected share of false
    rejections among all (1995; for independent or positively dependent tests).

    The i-th smallest p is multiplied by m/i. Arguments and errors as for `holm`.

    Examples:
        >>> print(benjamini_hochberg([0.01, 0.04, 0.03]))
        [0.03 0.04 0.04]
    """
    return _adjust(p_values, _step_up)


def _step_down(ordered: FloatArray) -> FloatArray:
    m = len(ordered)
    return np.maximum.accumulate(ordered * np.arange(m, 0, -1))


def _step_up(ordered: FloatArray) -> FloatArray:
    m = len(ordered)
    return np.minimum.accumulate((ordered * m / np.arange(1, m + 1))[::-1])[::-1]


def _adjust(
    p_values: ArrayLike, rule: Callable[[FloatArray], FloatArray]
) -> FloatArray:
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1:
        raise StatisticsError(
            f"`p_values` must be one-dimensional, found {p.ndim} dimensions"
        )
    defined = np.flatnonzero(~np.isnan(p))
    if np.any((p[defined] < 0) | (p[defined] > 1)):
        raise StatisticsError("`p_values` must lie between 0 and 1 (NaN: no test)")
    adjusted = np.full_like(p, np.nan)
    order = defined[np.argsort(p[defined], kind="stable")]
    if len(order):
        adjusted[order] = np.minimum(rule(p[order]), 1.0)
    return adjusted
