"""How skewed and how heavy-tailed differences may be, beyond what the sample's moments say.

The sample skewness of skewed data comes out too small just where the interval comes out too short:
where the largest values are missing by chance. A rule on it alone marks the lucky samples and
passes the unlucky ones. Quantiles do not depend on the largest values.
"""

from __future__ import annotations

import math

import numpy as np

from warehouse.stats.core import special
from warehouse.stats.core.inputs import ROUNDING, FloatArray, is_constant, mean_of_varying, skewness
from warehouse.stats.core.sample import Sample
from warehouse.stats.intervals.defaults import UNEQUAL_SIZES

# Tail probabilities at which the middle of the data is compared with a lognormal distribution.
_TAILS = (0.05, 0.1)
_ENOUGH = 50  # values for a tail probability of 5 %
_HEAVIEST = 6.0  # kurtosis of the Laplace distribution: tails beyond it are heavy
# The sample skewness of skewed data is mostly too small, by less in larger samples: lognormal
# data, σ = 0.5, of n = 100 come out a quarter too low. The factor 1 + 6/√n marks most of them and
# no normal data (docs/calibration.md).
_SHORTFALL = 6.0
_LARGEST = 50.0  # of σ²: skewness beyond any number of prompts


def mean_skewness(sample: Sample) -> float:
    """Σu³/V^1.5 of what each unit adds to the mean: the skewness of the mean, 0 without an error.

    u_c = D_c/(n sqrt(1 − f_c)), whose squares add up to V: without clusters skewness/√n.
    """
    totals = sample.totals
    largest = float(np.abs(totals).max())
    if largest == 0:
        return 0.0
    sizes = np.ones(sample.n) if sample.clusters is None else sample.clusters.sizes
    if len(sizes) < 2:
        return 0.0
    pulls = totals / largest / np.sqrt(1 - sizes / sizes.sum())
    return float((pulls**3).sum() / (pulls @ pulls) ** 1.5)


def working_skewness(values: FloatArray) -> float:
    """The larger of the raised sample skewness and `implied_skewness`; no sign.

    Raised: times `skewness_factor`. Below 50 values the sample skewness as it is.

    Args:
        values: scores, or cluster totals, shape (n,).
    """
    plain = abs(skewness(values))
    if len(values) < _ENOUGH:
        return plain
    return max(plain * skewness_factor(len(values)), implied_skewness(values))


def skewness_factor(n: int) -> float:
    """1 + 6/√n: what the sample skewness of n values is raised by, since it comes out too small."""
    return 1 + _SHORTFALL / math.sqrt(n)


def implied_skewness(values: FloatArray) -> float:
    """Skewness of the shifted lognormal distribution with the quantiles of the values.

    For it (q₁₋ₚ − q₅₀)/(q₅₀ − qₚ) = exp(σ z₁₋ₚ), and the skewness is (e^σ² + 2)·sqrt(e^σ² − 1):
    the smaller of those at p = 5 % and 10 %. 0 where a half of the data has no width (many equal
    values).

    Args:
        values: shape (n,).

    Examples:
        >>> skewed = np.exp(np.linspace(-2, 2, 101))
        >>> implied_skewness(skewed) > skewness(skewed) > 1
        True
    """
    return float(implied_skewnesses(values[None, :])[0])


def implied_skewnesses(samples: FloatArray) -> FloatArray:
    """`implied_skewness` of each row of samples, shape (S, n) to (S,)."""
    probabilities = [0.5, *_TAILS, *(1 - tail for tail in _TAILS)]
    middle, *ends = np.quantile(samples, probabilities, axis=1)
    lows, highs = np.array(ends[: len(_TAILS)]), np.array(ends[len(_TAILS) :])
    wide = np.all((lows < middle) & (middle < highs), axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(np.log((highs - middle) / (middle - lows)))
    sigma = (ratio / -special.ndtri(np.array(_TAILS))[:, None]).min(axis=0)
    growth = np.exp(np.minimum(np.where(wide, sigma, 0.0) ** 2, _LARGEST))
    skewnesses: FloatArray = (growth + 2) * np.sqrt(growth - 1)
    return skewnesses


def tail_units_of(sample: Sample) -> float:
    """`tail_units` of the totals of a sample; infinity for clusters of unequal sizes.

    Totals of unequal clusters have heavy tails whatever the scores are, which Satterthwaite's
    degrees of freedom allow for; what they do not allow for, scores that depend on the size,
    shows in the skewness.
    """
    sizes = None if sample.clusters is None else sample.clusters.sizes
    if sizes is not None and sizes.std() > UNEQUAL_SIZES * sizes.mean():
        return math.inf
    return tail_units(sample.totals)


def tail_units(values: FloatArray) -> float:
    """How many units make up the variance, by weight: (Σ d²)²/Σ d⁴; infinity for light tails.

    Tails are heavy where the kurtosis of the values that differ from the median is above 6, that
    of the Laplace distribution. Units at the median (prompts on which two runs agree) do not make
    the others heavy.

    Args:
        values: scores, or cluster totals, shape (n,).
    """
    if is_constant(values):
        return math.inf
    centred = values - mean_of_varying(values)
    largest = np.abs(centred).max()
    squares = (centred / largest) ** 2
    units = float(squares.sum()) ** 2 / float(squares @ squares)
    middle = float(np.median(values))
    apart = int(np.count_nonzero(np.abs(values - middle) > ROUNDING * largest))
    return units if apart > _HEAVIEST * units else math.inf
