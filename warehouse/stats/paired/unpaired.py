"""Two runs on independent prompts: the unpaired difference (Miller 2024 §4.1, eqs. 5 and 6)."""

from __future__ import annotations

import math

from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import as_level
from warehouse.stats.core.quantiles import normal_p_value, t_p_value
from warehouse.stats.core.results import Estimate, UnpairedDifference
from warehouse.stats.intervals.closed_form import interval_normal, interval_t
from warehouse.stats.intervals.estimate_mean import estimate_mean


def unpaired_difference(a: Estimate | ArrayLike, b: Estimate | ArrayLike, *, level: float = 0.95) -> UnpairedDifference:
    """Difference a − b of two runs that share no prompts (or whose pairing is unknown).

    se = sqrt(se_a² + se_b²) (eq. 5) of the headline errors, clustered where a run carries
    clusters; z as in eq. 6, and Student's t with Welch's degrees of freedom as the default.

    Args:
        a: an `Estimate` of the first run, or its prompt scores, finite, shape (n_a,).
        b: the same for the second run. For clusters, weights or links pass an `Estimate`.
        level: nominal coverage of the intervals, in (0, 1).

    Returns:
        The difference; error, intervals and p are None where both errors are 0, or one of
        them is not defined.

    Raises:
        StatisticsError: for scores that are empty or not finite.

    Examples:
        >>> print(unpaired_difference([1, 1, 1, 0, 1, 1], [0, 1, 0, 0, 1, 0]))
        0.5 ± 0.2687 [-0.1031, 1.103] (95 % welch_t, n=6 and 6, p=0.094)
    """
    as_level(level)
    first, second = _estimate(a), _estimate(b)
    difference = first.estimate - second.estimate
    error = _joint_error(first, second)
    df = _welch(first, second) if error else None
    z_interval = interval_normal(difference, error, level=level)
    t_interval = interval_t(difference, error, df, level=level)
    statistic = difference / error if error else None
    return UnpairedDifference(
        difference=difference,
        standard_error=error or None,
        ci_low=None if t_interval is None else t_interval.low,
        ci_high=None if t_interval is None else t_interval.high,
        level=level,
        statistic=statistic,
        degrees_of_freedom=df,
        p_value=None if statistic is None or df is None else t_p_value(statistic, df),
        z_ci_low=None if z_interval is None else z_interval.low,
        z_ci_high=None if z_interval is None else z_interval.high,
        z_p_value=None if statistic is None else normal_p_value(statistic),
        estimate_a=first.estimate,
        estimate_b=second.estimate,
        n_prompts_a=first.n_prompts,
        n_prompts_b=second.n_prompts,
        method="welch_t",
        reason=_reason(error),
        flags=_flags(first, "a") + _flags(second, "b"),
    )


def _estimate(run: Estimate | ArrayLike) -> Estimate:
    return run if isinstance(run, Estimate) else estimate_mean(run)


def _error(run: Estimate) -> float | None:
    """The headline error by its formula: unlike ``standard_error`` it may be 0."""
    return run.se_clt if run.n_clusters is None else run.se_cr2


def _joint_error(a: Estimate, b: Estimate) -> float | None:
    error_a, error_b = _error(a), _error(b)
    if error_a is None or error_b is None:
        return None
    return math.hypot(error_a, error_b)


def _welch(a: Estimate, b: Estimate) -> float | None:
    """(se_a² + se_b²)² / (se_a⁴/ν_a + se_b⁴/ν_b), at least one error above 0."""
    error_a, error_b = _error(a), _error(b)
    df_a, df_b = a.degrees_of_freedom, b.degrees_of_freedom
    if error_a is None or error_b is None or df_a is None or df_b is None:
        return None
    share = error_a**2 / (error_a**2 + error_b**2)
    return 1 / (share**2 / df_a + (1 - share) ** 2 / df_b)


def _reason(error: float | None) -> str:
    if error is None:
        return "a run of a single prompt or cluster has no standard error"
    return "independent prompts" if error else "both standard errors are 0"


def _flags(run: Estimate, name: str) -> tuple[str, ...]:
    return tuple(f"{flag}_{name}" for flag in run.flags)
