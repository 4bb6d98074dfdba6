"""A published figure as an estimate: its value and its standard error are all that is
known of it."""

from __future__ import annotations

import math

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import as_level
from warehouse.stats.core.results import Estimate
from warehouse.stats.intervals.closed_form import interval_normal, interval_t

#: Flag of an estimate that is somebody's figure.
PUBLISHED = "published"


def published_estimate(
    value: float,
    standard_error: float,
    *,
    degrees_of_freedom: float | None = None,
    n_prompts: int = 0,
    level: float = 0.95,
) -> Estimate:
    """A figure that somebody printed with its standard error.

    The error is taken as it is printed; its interval is Student's t, or the normal one
    (Miller 2024, eq. 3) where nobody says on how many prompts it rests.

    Args:
        value: the figure, finite.
        standard_error: above 0, finite.
        degrees_of_freedom: of the error, above 0; None: those of ``n_prompts``.
        n_prompts: prompts behind it; 0 where that is not known.
        level: nominal coverage, in (0, 1).

    Returns:
        The estimate, flagged ``published``; errors by other formulas are None.

    Raises:
        StatisticsError: a figure that is not finite, or an error that is not above 0.

    Examples:
        >>> print(published_estimate(0.45, 0.114, n_prompts=20))
        0.45 ± 0.114 [0.2114, 0.6886] (95 % published, n=20, published)
    """
    as_level(level)
    if not math.isfinite(value):
        raise StatisticsError(f"a published figure must be finite, found {value}")
    if not (math.isfinite(standard_error) and standard_error > 0):
        raise StatisticsError(
            "a published figure needs a standard error above 0 to be compared by, "
            f"found {standard_error}"
        )
    df = degrees_of_freedom
    if df is None:
        df = _degrees_of_freedom(n_prompts)
    if math.isinf(df):
        interval = interval_normal(value, standard_error, level=level)
    else:
        interval = interval_t(value, standard_error, df, level=level)
    assert interval is not None  # the error is above 0
    return Estimate(
        estimate=value,
        standard_error=standard_error,
        ci_low=interval.low,
        ci_high=interval.high,
        level=level,
        n_prompts=n_prompts,
        n_clusters=None,
        method=PUBLISHED,
        reason="a published figure with its standard error",
        flags=(PUBLISHED,),
        beside=None,
        degrees_of_freedom=df,
        se_clt=standard_error,
        se_bernoulli=None,
        se_clustered=None,
        se_cr0=None,
        se_cr1=None,
        se_cr2=None,
        se_cr3=None,
        design_effect=None,
        icc=None,
        design_effect_miller=None,
    )


def _degrees_of_freedom(n_prompts: int) -> float:
    """n - 1, infinite where the error is taken for known."""
    if n_prompts > 1:
        return n_prompts - 1
    return math.inf
