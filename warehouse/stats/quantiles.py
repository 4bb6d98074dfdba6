"""Quantiles and tail probabilities, from scipy.special (which loads in a tenth of scipy.stats)."""

from __future__ import annotations

from scipy import special


def z_quantile(level: float) -> float:
    """z such that a standard normal lies within ±z with probability ``level``."""
    return float(special.ndtri((1 + level) / 2))


def t_quantile(level: float, degrees_of_freedom: float) -> float:
    """t such that Student's t lies within ±t with probability ``level``."""
    return float(special.stdtrit(degrees_of_freedom, (1 + level) / 2))


def beta_quantile(probability: float, a: float, b: float) -> float:
    """Quantile of the Beta(a, b) distribution, in [0, 1]."""
    return float(special.betaincinv(a, b, probability))


def normal_p_value(z: float) -> float:
    """Two-sided P(|Z| >= |z|) of a standard normal."""
    return float(2 * special.ndtr(-abs(z)))


def t_p_value(t: float, degrees_of_freedom: float) -> float:
    """Two-sided P(|T| >= |t|) of Student's t."""
    nu = degrees_of_freedom
    return float(special.betainc(nu / 2, 0.5, nu / (nu + t * t)))


def t_upper_tail(t: float, degrees_of_freedom: float) -> float:
    """One-sided P(T >= t) of Student's t."""
    return float(special.stdtr(degrees_of_freedom, -t))
