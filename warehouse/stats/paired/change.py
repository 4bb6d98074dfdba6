"""A figure that was measured twice: has it moved by more than its errors allow?"""

from __future__ import annotations

import math
from dataclasses import dataclass

from warehouse.stats.core.quantiles import (
    normal_p_value,
    t_p_value,
    t_quantile,
    z_quantile,
)


@dataclass(frozen=True)
class ReportedFigure:
    """A reported figure."""

    estimate: float  #: the figure.
    #: of it; 0 where the scores have no spread, None if unknown.
    standard_error: float | None
    low: float | None  #: lower end of its interval; None without one.
    high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval, in (0, 1).
    #: independent units behind it: clusters, else prompts; None if unknown.
    units: int | None


def change_p_value(before: ReportedFigure, after: ReportedFigure) -> float | None:
    """Two-sided p of "nothing has moved", both figures taken as independent.

    The error of each is recovered from the side of its interval that faces the other
    (Zou and Donner 2008, "MOVER"), so that figures at a bound, which have no spread,
    have an error, and skewed ones the right one; it is at least the standard error.
    Student's t with Welch's degrees of freedom; normal where the units are unknown.

    Returns:
        p; None where the error of one is unknown, both are 0, or there are fewer than
        two units.

    Examples:
        >>> old = ReportedFigure(1.0, 0.0, 0.9630, 1.0, 0.95, 100)
        >>> new = ReportedFigure(0.9, 0.0300, 0.8256, 0.9448, 0.95, 100)
        >>> change_p_value(old, new)  # doctest: +ELLIPSIS
        0.0052...
    """
    if after.estimate == before.estimate:
        return 1.0
    rises = after.estimate > before.estimate
    first, second = _error(before, upward=rises), _error(after, upward=not rises)
    if first is None or second is None:
        return None
    variance = first**2 + second**2
    if not variance:
        return None
    distance = abs(after.estimate - before.estimate) / math.sqrt(variance)
    terms = [
        error**4 / (figure.units - 1)
        for error, figure in ((first, before), (second, after))
        if figure.units is not None
    ]
    if not terms:
        return normal_p_value(distance)
    return t_p_value(distance, variance**2 / sum(terms))


def _error(figure: ReportedFigure, *, upward: bool) -> float | None:
    """Standard error as the interval has it above, or below, the figure."""
    if figure.units is not None and figure.units < 2:
        return None
    if upward:
        end = figure.high
    else:
        end = figure.low
    error = figure.standard_error
    if end is not None:
        if figure.units is None:
            quantile = z_quantile(figure.level)
        else:
            quantile = t_quantile(figure.level, figure.units - 1)
        error = max(error or 0.0, abs(end - figure.estimate) / quantile)
    return error
