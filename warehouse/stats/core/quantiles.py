"""Quantiles and tail probabilities, of scipy's special functions (scipy.stats takes ten
times as long to load)."""

from __future__ import annotations

import sys

import numpy as np

from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray

#: No p is 0: one that is too small for a double is given as the smallest of full
#: precision.
SMALLEST_P = sys.float_info.min


def z_quantile(level: float) -> float:
    """z such that a standard normal lies within ±z with probability ``level``."""
    return float(special.ndtri((1 + level) / 2))


def t_quantile(level: float, degrees_of_freedom: float) -> float:
    """t such that Student's t lies within ±t with probability ``level``."""
    return float(t_quantiles(level, degrees_of_freedom))


def t_quantiles(level: float, degrees_of_freedom: FloatArray | float) -> FloatArray:
    """`t_quantile` of each of several degrees of freedom."""
    nu = np.asarray(degrees_of_freedom, dtype=np.float64)
    if (
        nu.size > 1 and (nu == nu.flat[0]).all()
    ):  # as of all pairs of whole runs; it is found by a search
        return np.full(nu.shape, special.stdtrit(nu.flat[0], (1 + level) / 2))
    quantiles: FloatArray = special.stdtrit(nu, (1 + level) / 2)
    return quantiles


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Quantile of the Beta(a, b) distribution, in [0, 1]."""
    return float(special.betaincinv(a, b, probability))


def normal_p_value(z: float) -> float:
    """Two-sided P(|Z| >= |z|) of a standard normal, at least `SMALLEST_P`."""
    return float(t_p_values(z, np.inf))


def t_p_value(t: float, degrees_of_freedom: float) -> float:
    """Two-sided P(|T| >= |t|) of Student's t."""
    return float(t_p_values(t, degrees_of_freedom))


def t_p_values(
    t: FloatArray | float, degrees_of_freedom: FloatArray | float
) -> FloatArray:
    """Two-sided P(|T| >= |t|) of Student's t, the normal where the degrees of freedom
    are infinite, at least `SMALLEST_P`; NaN where an argument is. The arguments are
    broadcast."""
    nu = np.asarray(degrees_of_freedom, dtype=np.float64)
    with np.errstate(invalid="ignore"):
        student = special.betainc(nu / 2, 0.5, nu / (nu + np.square(t)))
        p_values: FloatArray = np.where(
            np.isinf(nu), 2 * special.ndtr(-np.abs(t)), student
        )
    return np.maximum(p_values, SMALLEST_P)


def t_upper_tail(t: float, degrees_of_freedom: float) -> float:
    """One-sided P(T >= t) of Student's t, at least `SMALLEST_P`."""
    return max(float(special.stdtr(degrees_of_freedom, -t)), SMALLEST_P)
