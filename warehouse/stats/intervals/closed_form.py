"""Confidence intervals for means and proportions (statistics.md §1).

Each returns an `Interval`, or None where the interval would be a bare ±0 or is not defined.
"""

from __future__ import annotations

import math

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import as_level
from warehouse.stats.core.quantiles import beta_quantile, t_quantile, z_quantile
from warehouse.stats.core.results import Interval

# Below this the squares of the deviations have lost their digits.
_SMALLEST_VARIANCE = 1e-300


def interval_normal(estimate: float, standard_error: float | None, *, level: float = 0.95) -> Interval | None:
    """Miller (2024) eq. 3: estimate ± z·se. None where the error is None or 0.

    Args:
        estimate: on any scale.
        standard_error: at least 0, on the same scale, or None.
        level: nominal coverage, in (0, 1).

    Examples:
        >>> print(interval_normal(0.6, 0.05))
        [0.502, 0.698]
    """
    return _around(estimate, standard_error, z_quantile(as_level(level)), level, "normal")


def interval_t(
    estimate: float, standard_error: float | None, degrees_of_freedom: float | None, *, level: float = 0.95
) -> Interval | None:
    """Student's t: estimate ± t·se. None where the error is None or 0.

    Args:
        estimate: on any scale.
        standard_error: at least 0, on the same scale, or None.
        degrees_of_freedom: above 0, need not be whole; n − 1, or Satterthwaite's for CR2.
            None gives None.
        level: nominal coverage, in (0, 1).
    """
    as_level(level)
    if degrees_of_freedom is None:
        return None
    _check_positive(degrees_of_freedom, "degrees_of_freedom")
    return _around(estimate, standard_error, t_quantile(level, degrees_of_freedom), level, "t")


def interval_wilson(successes: float, n: float, *, level: float = 0.95) -> Interval:
    """Wilson's score interval of a proportion (Wilson 1927), within [0, 1].

    Args:
        successes: 0 to ``n``, need not be whole.
        n: trials (or an effective number of them) above 0, need not be whole.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: for counts out of range.

    Examples:
        >>> print(interval_wilson(270, 300))
        [0.8608, 0.9291]
    """
    p = _proportion(successes, n)
    r = z_quantile(as_level(level)) ** 2 / n
    centre = p + r / 2
    half = math.sqrt(r * (p * (1 - p) + r / 4))
    low = 0.0 if p == 0 else max(0.0, (centre - half) / (1 + r))
    high = 1.0 if p == 1 else min(1.0, (centre + half) / (1 + r))
    return Interval(low, high, level, "wilson")


def interval_clopper_pearson(successes: float, n: float, *, level: float = 0.95) -> Interval:
    """Clopper–Pearson ("exact") interval of a proportion, from Beta quantiles.

    Arguments and errors as for `interval_wilson`; counts that are not whole are allowed, as
    Korn and Graubard (1998) need them.
    """
    _proportion(successes, n)
    tail = (1 - as_level(level)) / 2
    failures = n - successes
    low = 0.0 if successes == 0 else beta_quantile(tail, successes, failures + 1)
    high = 1.0 if failures == 0 else beta_quantile(1 - tail, successes + 1, failures)
    return Interval(low, high, level, "clopper_pearson")


def interval_jeffreys(successes: float, n: float, *, level: float = 0.95) -> Interval:
    """Jeffreys' interval: quantiles of Beta(x + ½, n − x + ½).

    Arguments and errors as for `interval_wilson`. By rule the lower end is 0 at no success
    and the upper end 1 at no failure (Brown, Cai and DasGupta 2001).
    """
    _proportion(successes, n)
    tail = (1 - as_level(level)) / 2
    a, b = successes + 0.5, n - successes + 0.5
    low = 0.0 if successes == 0 else beta_quantile(tail, a, b)
    high = 1.0 if successes == n else beta_quantile(1 - tail, a, b)
    return Interval(low, high, level, "jeffreys")


def interval_wilson_bounded(
    mean: float,
    standard_error: float | None,
    degrees_of_freedom: float | None,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
) -> Interval | None:
    """Wilson's interval for bounded scores that are not 0/1, at an effective n.

    On [0, 1], n_e = m(1−m)/V · (z/t_ν)², V the squared error, not capped. None where the error
    is None or 0, or the mean lies on a bound.

    Args:
        mean: within ``bounds``.
        standard_error: of the mean, CLT (ν = n − 1) or CR2 (its own ν), or None.
        degrees_of_freedom: ν above 0, or None.
        bounds: smallest and largest possible score, both finite.
        level: nominal coverage, in (0, 1).

    Examples:
        >>> print(interval_wilson_bounded(42.0, 2.5, 60, bounds=(0, 100)))
        [37.11, 47.06]
    """
    as_level(level)
    if not standard_error or degrees_of_freedom is None:
        return None
    _check_positive(degrees_of_freedom, "degrees_of_freedom")
    low, width = bounds[0], bounds[1] - bounds[0]
    m = (mean - low) / width
    variance = (standard_error / width) ** 2
    if not 0 < m < 1 or variance < _SMALLEST_VARIANCE:
        return None
    shrink = z_quantile(level) / t_quantile(level, degrees_of_freedom)
    n = m * (1 - m) / variance * shrink**2
    unit = interval_wilson(m * n, n, level=level)
    return Interval(low + width * unit.low, low + width * unit.high, level, "wilson_bounded")


def _around(estimate: float, error: float | None, quantile: float, level: float, method: str) -> Interval | None:
    if not error:
        return None
    return Interval(estimate - quantile * error, estimate + quantile * error, level, method)


def _proportion(successes: float, n: float) -> float:
    _check_positive(n, "n")
    if not 0 <= successes <= n:
        raise StatisticsError(f"`successes` must lie between 0 and n = {n}, found {successes}")
    return successes / n


def _check_positive(value: float, name: str) -> None:
    if not 0 < value < math.inf:
        raise StatisticsError(f"`{name}` must be a number above 0, found {value}")
