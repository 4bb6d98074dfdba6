"""How fast time horizons grow over days of release (statistics.md §18)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.items.horizon import Horizon
from warehouse.stats.items.horizon_curve import (
    percentiles,
)


@dataclass(frozen=True)
class HorizonTrend(NamedFigures):
    """Horizons over days of release: least squares of log2 minutes."""

    q: float  #: probability of success.
    slope: float | None  #: doublings a day; None with a reason.
    intercept: float | None  #: log2 minutes on the first day of all.
    doubling_days: float | None  #: 1/slope; None where that is not above 0.
    #: lower end of its interval, ``high`` the upper, over the resamples that all agents
    #: share: of tasks alone, not of agents about the line; None where it is open.
    low: float | None
    high: float | None
    n_models: int  #: agents with a horizon and a day.
    reason: str  #: why there is no figure.


def horizon_trend(
    days: ArrayLike, horizons: Sequence[Horizon], *, level: float = 0.95
) -> HorizonTrend:
    """How fast horizons of one q grow.

    Args:
        days: of release of each agent, as a number; NaN where unknown.
        horizons: of the same agents and the same call of `time_horizons`, by ``ftr`` or
            with ``resample``.
        level: nominal coverage.

    Raises:
        StatisticsError: not as many days as horizons.
    """
    dated, q = np.asarray(days, np.float64), horizons[0].q
    if dated.shape != (len(horizons),):
        raise StatisticsError(
            f"`days` must be one for each horizon, found {dated.shape} for "
            f"{len(horizons)}"
        )
    used, days_used, minutes = [], [], []
    for horizon, day in zip(horizons, dated.tolist(), strict=True):
        if horizon.estimate and math.isfinite(day):
            used.append(horizon)
            days_used.append(day)
            minutes.append(horizon.estimate)
    if len(used) < 3 or len(set(days_used)) < 2:
        reason = (
            "a trend needs 3 models with a horizon and a day of release, of 2 days at "
            "least"
        )
        return HorizonTrend(q, None, None, None, None, None, len(used), reason)
    at = np.array(days_used)
    centred = at - at.mean()
    pull = centred / (centred @ centred)
    logs = np.array([math.log2(own) for own in minutes])
    slope = float(pull @ logs)
    start = float(logs.mean() + slope * (at.min() - at.mean()))
    if slope <= 0:
        return HorizonTrend(
            q, slope, start, None, None, None, len(used), "horizons do not grow"
        )
    low, high = _doubling_ends(pull, np.stack([own.samples for own in used]), level)
    return HorizonTrend(q, slope, start, 1 / slope, low, high, len(used), "")


def _doubling_ends(
    pull: FloatArray, samples: FloatArray, level: float
) -> tuple[float | None, float | None]:
    """Interval of the days in which horizons double.

    A resample in which some horizon is no number may be of any growth: it counts
    against either end.

    Args:
        pull: what each agent's log2 adds to the slope, shape (A,).
        samples: log2 minutes, shape (A, B).
    """
    if not samples.shape[1]:
        return None, None
    finite = np.isfinite(samples).all(axis=0)
    slopes = pull @ np.where(finite, samples, 0.0)
    with np.errstate(divide="ignore"):
        doubling = np.where(slopes > 0, 1 / slopes, math.inf)
    low, _ = percentiles(np.where(finite, doubling, -math.inf), level)
    _, high = percentiles(np.where(finite, doubling, math.inf), level)
    return low, high
