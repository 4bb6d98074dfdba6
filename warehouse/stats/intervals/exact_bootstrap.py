"""The bootstrap distribution of a mean, from its characteristic function.

The mean of n draws with replacement from n values is a sum of n independent draws, so its
characteristic function is that of one draw to the power n, and the inversion theorem gives its
distribution: what Monte Carlo with infinitely many resamples would give, for n × 256 complex
products instead of n × resamples draws.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray

# In standard errors of the mean: the distribution is taken to lie within ±PERIOD/2. A single
# value can make it a Poisson(1) count at worst, which exceeds 32 with probability 1e-36.
_PERIOD = 64.0
_FREQUENCIES = 256  # up to 25 per standard error; a normal distribution needs 8
_GRID = 1 << 16  # points of the tabulated distribution: 1/1000 of a standard error
_NEGLIGIBLE = 1e-10


@dataclass(frozen=True)
class MeanDistribution:
    """Distribution of a resampled mean, tabulated.

    Attributes:
        points: increasing, on the scale of the values less their mean.
        probabilities: P(mean <= point), from 0 to 1.
    """

    points: FloatArray
    probabilities: FloatArray

    def quantiles(self, probabilities: FloatArray) -> FloatArray:
        """The points below which the mean lies with ``probabilities``, linear in between."""
        values: FloatArray = np.interp(probabilities, self.probabilities, self.points)
        return values


def mean_distribution(centred: FloatArray) -> MeanDistribution | None:
    """Distribution of the mean of n draws with replacement from n values.

    None where the values are so few, or so far from one another, that it is not smooth on the
    scale of its standard deviation.

    Args:
        centred: values less their mean, not all 0, shape (n,).
    """
    n = len(centred)
    error = math.sqrt(float(centred @ centred)) / n
    spectrum = _characteristic(centred / (error * n), n)
    if np.abs(spectrum[_FREQUENCIES // 2 :]).max() > _NEGLIGIBLE:
        return None
    signs = np.where(np.arange(_FREQUENCIES) % 2, -1.0, 1.0)  # the grid starts at −PERIOD/2
    padded = np.zeros(_GRID // 2 + 1, dtype=np.complex128)
    padded[:_FREQUENCIES] = np.conj(spectrum) * signs
    mass = np.maximum(np.fft.irfft(padded, _GRID), 0.0)  # rounding leaves some at −1e-16
    step = _PERIOD / _GRID
    points = error * ((np.arange(_GRID) + 0.5) * step - _PERIOD / 2)
    return MeanDistribution(points.astype(np.float64), np.cumsum(mass) / mass.sum())


def _characteristic(scaled: FloatArray, n: int) -> NDArray[np.complex128]:
    """φ(2πk/PERIOD)^n for k = 0, 1, ..., by repeated multiplication, shape (_FREQUENCIES,)."""
    turn = np.exp(2j * np.pi / _PERIOD * scaled)
    power: NDArray[np.complex128] = np.ones(n, dtype=np.complex128)
    means: NDArray[np.complex128] = np.empty(_FREQUENCIES, dtype=np.complex128)
    for k in range(_FREQUENCIES):
        means[k] = power.mean()
        power *= turn
    return means ** float(n)
