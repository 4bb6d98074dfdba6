"""How skewed and how heavy-tailed differences may be, beyond what the sample's moments
say.

The sample skewness of skewed data comes out too small just where the interval comes out
too short: where the largest values are missing by chance. A rule on it alone marks the
lucky samples and passes the unlucky ones. Quantiles do not depend on the largest
values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from warehouse.stats.core import special
from warehouse.stats.core.inputs import ROUNDING, Clusters, FloatArray, is_constant
from warehouse.stats.core.moments import skewnesses
from warehouse.stats.core.sample import Sample
from warehouse.stats.intervals.defaults import UNEQUAL_SIZES

# Tail probabilities at which the middle of the data is compared with a lognormal
# distribution.
_TAILS = (0.05, 0.1)
_ENOUGH = 50  # values for a tail probability of 5 %
_HEAVIEST = 6.0  # kurtosis of the Laplace distribution: tails beyond it are heavy
# The sample skewness of skewed data is mostly too small, by less in larger samples:
# lognormal data, σ = 0.5, of n = 100 come out a quarter too low. The factor 1 + 6/√n
# marks most of them and no normal data (docs/reference/calibration.md).
_SHORTFALL = 6.0
_LARGEST = 50.0  # of σ²: skewness beyond any number of prompts


def mean_skewness(sample: Sample) -> float:
    """Σu³/V^1.5 of what each unit adds to the mean: the skewness of the mean, 0 without
    an error.

    u_c = D_c/(n sqrt(1 − f_c)), whose squares add up to V: without clusters
    skewness/√n.
    """
    if sample.clusters is None:
        sizes = np.ones(sample.n)
    else:
        sizes = sample.clusters.sizes
    if len(sizes) > 1:
        return float(mean_skewnesses(sample.totals[None, :], sizes)[0])
    return 0.0


def mean_skewnesses(totals: FloatArray, sizes: FloatArray) -> FloatArray:
    """`mean_skewness` of each row of D_c of units of these sizes, shape (S, U) to (S,)."""
    largest = np.abs(totals).max(axis=1, initial=0.0)
    varies = largest > 0
    unit = totals / np.where(varies, largest, 1.0)[:, None]
    pulls = unit / np.sqrt(1 - sizes / sizes.sum())
    squares = pulls * pulls
    third = np.einsum("ij,ij->i", squares, pulls)
    variance = np.where(varies, squares.sum(axis=1), 1)
    return np.asarray(third / variance**1.5)


def working_skewness(values: FloatArray) -> float:
    """The larger of the raised sample skewness and `implied_skewnesses`; no sign.

    Raised: times `skewness_factor`. Below 50 values the sample skewness as it is.

    Args:
        values: scores, or cluster totals, shape (n,).
    """
    return float(working_skewnesses(np.sort(values)[None, :])[0])


def working_skewnesses(ordered: FloatArray) -> FloatArray:
    """`working_skewness` of each row, ascending in each, shape (S, n) to (S,)."""
    plain = np.abs(skewnesses(ordered))
    n = ordered.shape[1]
    if n < _ENOUGH:
        return plain
    implied = _implied(partial(_quantile, ordered))
    return np.maximum(plain * skewness_factor(n), implied)


def skewness_factor(n: int) -> float:
    """1 + 6/√n: what the sample skewness of n values is raised by, since it comes out
    too small."""
    return 1 + _SHORTFALL / math.sqrt(n)


def implied_skewnesses(samples: FloatArray) -> FloatArray:
    """Skewness of the shifted lognormal distributions with the quantiles of each row of
    samples, shape (S, n) to (S,).

    For it (q₁₋ₚ − q₅₀)/(q₅₀ − qₚ) = exp(σ z₁₋ₚ), and the skewness is (e^σ² +
    2)·sqrt(e^σ² − 1): the smaller of those at p = 5 % and 10 %. 0 where a half of the
    data has no width (many equal values).

    Examples:
        >>> skewed = np.exp(np.linspace(-2, 2, 101))
        >>> implied_skewnesses(skewed[None, :])[0] > working_skewness(skewed) / 2 > 1
        True
    """
    return _implied(partial(_quantile, np.sort(samples, axis=1)))


def _implied(quantile: Callable[[float], FloatArray]) -> FloatArray:
    middle = quantile(0.5)
    lows = np.array([quantile(p) for p in _TAILS])
    highs = np.array([quantile(1 - p) for p in _TAILS])
    wide = np.all((lows < middle) & (middle < highs), axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.abs(np.log((highs - middle) / (middle - lows)))
    z = -special.ndtri(np.array(_TAILS))
    sigma = (ratio / z[:, None]).min(axis=0)
    sigma = np.where(wide, sigma, 0.0)
    growth = np.exp(np.minimum(sigma**2, _LARGEST))
    return np.asarray((growth + 2) * np.sqrt(growth - 1))


def _quantile(ordered: FloatArray, p: float) -> FloatArray:
    """The quantile of each row as `numpy.quantile` has it, which would order the rows
    again."""

    def ranked(rank: int) -> FloatArray:
        return ordered[:, rank]

    return _at(ranked, ordered.shape[1], p)


def _at(value: Callable[[int], FloatArray], n: int, p: float) -> FloatArray:
    position = p * (n - 1)
    lower, part = int(position), position - int(position)
    low, high = value(lower), value(min(lower + 1, n - 1))
    if part < 0.5:
        between = low + part * (high - low)
    else:
        between = high - (1 - part) * (high - low)
    return np.asarray(between)


def tail_units_of(sample: Sample) -> float:
    """`tail_units` of the totals of a sample; infinity for clusters of unequal sizes.

    Totals of unequal clusters have heavy tails whatever the scores are, which
    Satterthwaite's degrees of freedom allow for; what they do not allow for, scores
    that depend on the size, shows in the skewness.
    """
    if are_unequal(sample.clusters):
        return math.inf
    return tail_units(sample.totals)


def are_unequal(clusters: Clusters | None) -> bool:
    """Whether there are clusters, of sizes that differ much."""
    if clusters is None:
        return False
    sizes = clusters.sizes
    return bool(sizes.std() > UNEQUAL_SIZES * sizes.mean())


def tail_units(values: FloatArray) -> float:
    """How many units make up the variance, by weight: (Σ d²)²/Σ d⁴; infinity for light
    tails.

    Tails are heavy where the kurtosis of the values that differ from the median is
    above 6, that of the Laplace distribution. Units at the median (prompts on which two
    runs agree) do not make the others heavy.

    Args:
        values: scores, or cluster totals, shape (n,).
    """
    if is_constant(values):
        return math.inf
    return float(tails_of_rows(np.sort(values)[None, :])[0])


def tails_of_rows(ordered: FloatArray) -> FloatArray:
    """`tail_units` of each row of values that are not all equal, ascending in each,
    shape (S, n) to (S,)."""
    centred = ordered - ordered.mean(axis=1)[:, None]
    largest = np.maximum(centred[:, -1], -centred[:, 0])[:, None]
    squares = (centred / largest) ** 2
    units = squares.sum(axis=1) ** 2 / np.einsum("ij,ij->i", squares, squares)
    middle = _quantile(ordered, 0.5)[:, None]
    apart = np.count_nonzero(np.abs(ordered - middle) > ROUNDING * largest, axis=1)
    return np.where(apart > _HEAVIEST * units, units, np.inf)


def figures_of_counts(
    values: FloatArray, counts: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """`working_skewnesses` and `tails_of_rows` of rows that hold each of a few values
    so many times.

    Args:
        values: ascending, shape (K,).
        counts: rows of equal sums, with two of the values at least, shape (S, K).
    """
    n = 0
    if len(counts):
        n = int(counts[0].sum())
    mean = counts @ values / max(n, 1)
    centred = values - mean[:, None]
    largest = np.where(counts > 0, np.abs(centred), 0.0).max(axis=1)[:, None]
    units = centred / largest
    squares = units * units
    second = np.einsum("ij,ij->i", counts, squares)
    third = np.einsum("ij,ij->i", counts, squares * units)
    fourth = np.einsum("ij,ij->i", counts, squares**2)
    up_to = np.cumsum(counts, axis=1)

    def ranked(rank: int) -> FloatArray:
        place = np.count_nonzero(up_to <= rank, axis=1)
        return np.asarray(values[place] - mean)

    def quantile(p: float) -> FloatArray:
        return _at(ranked, n, p)

    skewness = np.abs(third / n / (second / n) ** 1.5)
    if n >= _ENOUGH:
        skewness = np.maximum(skewness * skewness_factor(n), _implied(quantile))
    off_middle = np.abs(centred - quantile(0.5)[:, None])
    apart = np.where(off_middle > ROUNDING * largest, counts, 0.0).sum(axis=1)
    heavy = second**2 / fourth
    return skewness, np.where(apart > _HEAVIEST * heavy, heavy, np.inf)
