"""Jitter: how much the score of one run varies from checkpoint to checkpoint, its trend removed.

Two estimates: the residuals of a quadratic in the position over the last checkpoints, and the
differences of neighbours of Gasser, Sroka and Jennen-Steinmetz (1986, Biometrika 73:625), which
need no model of the trend. Where they disagree, neither holds as it stands.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray, as_level
from warehouse.stats.core.result_base import Figures
from warehouse.stats.training.inputs import as_trajectory

#: Checkpoints at the end of a run that are looked at, at most, and at least.
MOST, LEAST = 20, 8
#: A ratio of the two variances above this is flagged.
BENT = 2.0


@dataclass(frozen=True)
class Jitter(Figures):
    """Spread of a run's score from checkpoint to checkpoint.

    Attributes:
        variance: σ̂_J², residual variance of the quadratic; None where it cannot be computed.
        standard_deviation: its square root, in units of the score.
        ci_low: lower end of the χ² interval of the standard deviation.
        ci_high: upper end.
        degrees_of_freedom: k − 3.
        gsj_variance: by differences of neighbours.
        gsj_degrees_of_freedom: tr(A)²/tr(A²).
        n_checkpoints: k, those at the end that were taken.
        level: of the interval, in (0, 1).
        flags: ``autocorrelated_or_bent`` where the quadratic leaves more than twice the variance
            of neighbours: the interval does not hold.
        reason: why there is no figure.
    """

    variance: float | None
    standard_deviation: float | None
    ci_low: float | None
    ci_high: float | None
    degrees_of_freedom: float | None
    gsj_variance: float | None
    gsj_degrees_of_freedom: float | None
    n_checkpoints: int
    level: float
    flags: tuple[str, ...]
    reason: str


def jitter(scores: ArrayLike, positions: ArrayLike, *, last: int | None = None, level: float = 0.95) -> Jitter:
    """Jitter of one run over its last checkpoints.

    Args:
        scores: of one run in the order of training, shape (T,).
        positions: steps or tokens, strictly increasing, shape (T,).
        last: checkpoints to take; None for min(⌊T/2⌋, 20).
        level: of the interval, in (0, 1).

    Returns:
        no figure, with the reason, below 8 checkpoints.

    Raises:
        StatisticsError: scores or positions that cannot be used.
    """
    x, u = as_trajectory(scores, positions)
    level = as_level(level)
    k = min(len(x) // 2, MOST) if last is None else min(last, len(x))
    if k < LEAST:
        reason = f"{k} checkpoints at the end of {len(x)}: at least {LEAST} are needed"
        return Jitter(None, None, None, None, None, None, None, k, level, (), reason)
    x, u = x[-k:], u[-k:]
    variance, nu = _about_quadratic(x, u), float(k - 3)
    gsj, gsj_nu = _of_neighbours(x, u)
    low, high = (special.chdtri(nu, tail) for tail in ((1 - level) / 2, (1 + level) / 2))
    bent = variance > BENT * gsj
    return Jitter(
        variance=variance,
        standard_deviation=math.sqrt(variance),
        ci_low=math.sqrt(nu * variance / low),
        ci_high=math.sqrt(nu * variance / high),
        degrees_of_freedom=nu,
        gsj_variance=gsj,
        gsj_degrees_of_freedom=gsj_nu,
        n_checkpoints=k,
        level=level,
        flags=("autocorrelated_or_bent",) if bent else (),
        reason="",
    )


def _about_quadratic(x: FloatArray, u: FloatArray) -> float:
    centred = (u - u.mean()) / (np.ptp(u) / 2)
    design = np.column_stack([np.ones_like(u), centred, centred**2])
    coefficients = np.linalg.lstsq(design, x, rcond=None)[0]
    residuals = x - design @ coefficients
    return float(residuals @ residuals / (len(x) - 3))


def _of_neighbours(x: FloatArray, u: FloatArray) -> tuple[float, float]:
    """Variance and its degrees of freedom from scaled second differences."""
    w = (u[2:] - u[1:-1]) / (u[2:] - u[:-2])
    scale = np.sqrt(1 + w**2 + (1 - w) ** 2)
    k = len(x)
    rows = np.zeros((k - 2, k))
    places = np.arange(k - 2)
    rows[places, places], rows[places, places + 1], rows[places, places + 2] = (-w / scale, 1 / scale, -(1 - w) / scale)
    e = rows @ x
    a = rows @ rows.T
    return float(e @ e / (k - 2)), float(np.trace(a) ** 2 / np.sum(a * a))
