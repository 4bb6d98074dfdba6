"""Bootstrap intervals of a mean or ratio, percentile and BCa (Efron 1987; statistics.md
§1), by the cheapest exact way.

What is resampled is a *unit*: a prompt, or a whole cluster. The statistic of a resample
that holds unit u m_u times is ``centre + Σ m_u a_u / Σ m_u b_u``: a mean (b constant),
the mean over resampled clusters (b their sizes) or a ratio metric (b the weights).
Three ways of drawing:

* units with few distinct values: the counts of the distinct values are multinomial (for
  0/1 scores binomial), so that n does not matter;
* else the units themselves, by index, in blocks;
* else, where there are many of them and b is constant, from the distribution of the
  resampled mean itself (see `exact_bootstrap`), so that n enters once and not once per
  resample.

The mean of n draws with replacement from n values is a sum of n independent draws, so
its characteristic function is that of one draw to the power n, and the inversion
theorem gives its distribution: what Monte Carlo with infinitely many resamples would
give, for n × 256 complex products instead of n × resamples draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    ROUNDING,
    Clusters,
    FloatArray,
    as_level,
    as_seed,
    is_constant,
)
from warehouse.stats.core.results import Interval
from warehouse.stats.core.sample import Sample, build_sample, find_link, linked_interval

Kind = Literal["percentile", "bca"]
N_RESAMPLES = 10_000
_FEWEST_RESAMPLES = 100
_METHODS = {"percentile": "bootstrap", "bca": "bca"}


def interval_bootstrap(
    scores: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    link: str = "identity",
    kind: Kind = "percentile",
    n_resamples: int = N_RESAMPLES,
    level: float = 0.95,
    seed: int = 0,
) -> Interval | None:
    """Bootstrap interval of the mean, resampling prompts or whole clusters.

    Both kinds go with a monotone link, so the mean (or ratio) is resampled and the ends
    are taken through the link.

    Args:
        scores: mean score of each prompt, finite, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,): clusters are
            drawn whole, and numerator and denominator of the mean vary with their
            sizes.
        weights: weight of each prompt above 0, shape (n,): a ratio metric Σwv/Σw, whose
            numerator and denominator are resampled together.
        link: as in `estimate_mean`.
        kind: ``"percentile"``, or ``"bca"``: corrected for bias and for skewness, the
            latter by the jackknife over what is resampled.
        n_resamples: B, at least 100.
        level: nominal coverage, in (0, 1).
        seed: of the generator, at least 0.

    Returns:
        The interval; None where all scores are equal, or there is one prompt or
        cluster.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> print(interval_bootstrap([1, 1, 0, 1, 0, 0, 1, 1, 1, 0] * 30))
        [0.5433, 0.6533]
    """
    curve = find_link(link)
    sample = build_sample(scores, clusters, weights, curve, None, None, None)
    interval = bootstrap_interval(sample, kind, as_level(level), n_resamples, seed)
    return linked_interval(curve, interval)


def bootstrap_interval(
    sample: Sample, kind: Kind, level: float, n_resamples: int, seed: int
) -> Interval | None:
    """`interval_bootstrap` for a described sample, before its link."""
    if kind not in get_args(Kind):
        raise StatisticsError(
            f"unknown `kind` {kind!r}, expected one of {get_args(Kind)}"
        )
    check_resamples(n_resamples)
    units = units_of(sample.values, sample.mean, sample.shares, sample.clusters)
    if units.n < 2 or sample.se is None or sample.se == 0:
        return None
    drawn = replicates(units, int(n_resamples), as_seed(seed))
    ends = (
        _percentiles(level)
        if kind == "percentile"
        else bca_percentiles(units, drawn, level)
    )
    if ends is None:
        return None
    low, high = np.quantile(drawn, ends)
    return Interval(float(low), float(high), level, _METHODS[kind])


def check_resamples(n_resamples: int) -> None:
    """Refuse numbers of resamples that are not whole, or too few for a tail."""
    if not n_resamples >= _FEWEST_RESAMPLES or n_resamples != int(n_resamples):
        raise StatisticsError(
            f"`n_resamples` must be a whole number, at least {_FEWEST_RESAMPLES}, "
            f"found {n_resamples}"
        )


def bca_percentiles(
    units: Units, drawn: FloatArray, level: float
) -> tuple[float, float] | None:
    """Probabilities at which BCa reads the resampled statistics (Efron 1987, eq. 2.3).

    None where every resample lies on one side of the estimate.

    Args:
        units: what was resampled.
        drawn: the statistic of each resample, shape (B,).
        level: nominal coverage, in (0, 1).
    """
    share_below = _share_below(drawn, units)
    if not 0 < share_below < 1:
        return None
    bias, curve = special.ndtri(share_below), acceleration(units)
    plain = special.ndtri(np.array(_percentiles(level)))
    low, high = special.ndtr(bias + (bias + plain) / (1 - curve * (bias + plain)))
    return float(low), float(high)


def acceleration(units: Units) -> float:
    """Skewness of the jackknife values over six: Σ U³ / (6 (Σ U²)^1.5).

    The statistic without unit u is in closed form: centre − a_u/(Σ b − b_u).
    """
    without = -units.numerators / (units.denominators.sum() - units.denominators)
    influence = without.mean() - without
    largest = np.abs(influence).max()
    if largest == 0:
        return 0.0
    unit = influence / largest  # the cubes of very small or large scores would be lost
    return float((unit**3).sum() / (6 * (unit**2).sum() ** 1.5))


def _share_below(drawn: FloatArray, units: Units) -> float:
    """Share of resamples below the estimate, those equal to it (up to rounding) by
    half."""
    tolerance = ROUNDING * max(abs(units.centre), float(np.abs(units.numerators).max()))
    apart = drawn - units.centre
    return float((np.mean(apart < -tolerance) + np.mean(apart <= tolerance)) / 2)


def _percentiles(level: float) -> tuple[float, float]:
    return (1 - level) / 2, (1 + level) / 2


BLOCK = 1 << 18  # entries of the largest temporary array
_MANY_DRAWS = (
    10_000_000  # units × resamples beyond which the distribution itself is cheaper
)
_CHEAPER_BY = 10  # a multinomial count costs about as much as so many index draws


@dataclass(frozen=True)
class Units:
    """What is resampled."""

    centre: float  #: the statistic of the sample itself.
    numerators: FloatArray  #: a_u, with sum 0, shape (U,).
    denominators: FloatArray  #: b_u above 0, with mean 1, shape (U,).

    @property
    def n(self) -> int:
        """Number of units U."""
        return len(self.numerators)


def units_of(
    values: FloatArray,
    centre: float,
    shares: FloatArray | None,
    clusters: Clusters | None,
) -> Units:
    """Units of linearised scores.

    Args:
        values: linearised scores (see `ratio.linearise`), shape (n,).
        centre: their mean.
        shares: weight of each prompt over the mean weight, shape (n,), or None.
        clusters: resampled as a whole, or None: prompts are.
    """
    top = values - centre
    bottom = np.ones_like(top) if shares is None else shares
    if clusters is not None:
        top, bottom = clusters.sums(top), clusters.sums(bottom)
    scale = bottom.mean()
    return Units(centre, top / scale, bottom / scale)


def replicates(
    units: Units, n_resamples: int, seed: int, block: int = BLOCK
) -> FloatArray:
    """The statistic of each resample, shape (n_resamples,).

    The same for any order of the units and any size of the blocks.

    Args:
        units: what is resampled, with replacement, as many as there are.
        n_resamples: B.
        seed: of the generator, at least 0.
        block: entries of the largest temporary array.
    """
    rng = np.random.default_rng(seed)
    distinct, counts = _distinct(units)
    if distinct.n == 2 or distinct.n * _CHEAPER_BY <= units.n:
        return np.concatenate(
            list(_by_counts(distinct, counts, n_resamples, rng, block))
        )
    if units.n * n_resamples >= _MANY_DRAWS and is_constant(units.denominators):
        exact = mean_distribution(units.numerators)
        if exact is not None:
            return units.centre + exact.quantiles(rng.random(n_resamples))
    return np.concatenate(
        list(_by_index(_repeated(distinct, counts), n_resamples, rng, block))
    )


def of_counts(units: Units, counts: NDArray[Any]) -> FloatArray:
    """The statistic of resamples given how often each holds each unit.

    Args:
        units: U of them.
        counts: m_u of each resample, shape (resamples, U).
    """
    return units.centre + _quotient(
        counts * units.numerators, counts * units.denominators
    )


def _distinct(units: Units) -> tuple[Units, NDArray[np.intp]]:
    """The distinct units, and how many there are of each."""
    pairs, counts = np.unique(
        units.numerators + 1j * units.denominators, return_counts=True
    )
    return Units(units.centre, pairs.real.copy(), pairs.imag.copy()), counts


def _repeated(distinct: Units, counts: NDArray[np.intp]) -> Units:
    """All units again, in order."""
    top, bottom = distinct.numerators, distinct.denominators
    return Units(distinct.centre, np.repeat(top, counts), np.repeat(bottom, counts))


def _by_counts(
    distinct: Units,
    counts: NDArray[np.intp],
    n_resamples: int,
    rng: np.random.Generator,
    block: int,
) -> Iterator[FloatArray]:
    total = int(counts.sum())
    for rows in _rows(n_resamples, distinct.n, block):
        drawn = rng.multinomial(total, counts / total, size=rows)
        yield of_counts(distinct, drawn)


def _by_index(
    units: Units, n_resamples: int, rng: np.random.Generator, block: int
) -> Iterator[FloatArray]:
    constant = is_constant(units.denominators)
    for rows in _rows(n_resamples, units.n, block):
        index = rng.integers(0, units.n, (rows, units.n))
        top = units.numerators.take(index)
        bottom = 1.0 if constant else units.denominators.take(index)
        yield units.centre + _quotient(top, np.broadcast_to(bottom, top.shape))


def _quotient(top: FloatArray, bottom: FloatArray) -> FloatArray:
    quotient: FloatArray = top.sum(axis=1) / bottom.sum(axis=1)
    return quotient


def _rows(n_resamples: int, width: int, block: int) -> Iterator[int]:
    """Resamples per block, so that a block holds about ``block`` entries."""
    step = max(1, block // width)
    for start in range(0, n_resamples, step):
        yield min(step, n_resamples - start)


# In standard errors of the mean: the distribution is taken to lie within ±PERIOD/2. A
# single value can make it a Poisson(1) count at worst, which exceeds 32 with
# probability 1e-36.
_PERIOD = 64.0
_FREQUENCIES = 256  # up to 25 per standard error; a normal distribution needs 8
_GRID = 1 << 16  # points of the tabulated distribution: 1/1000 of a standard error
_NEGLIGIBLE = 1e-10


@dataclass(frozen=True)
class MeanDistribution:
    """Distribution of a resampled mean, tabulated."""

    points: FloatArray  #: increasing, on the scale of the values less their mean.
    probabilities: FloatArray  #: P(mean <= point), from 0 to 1.

    def quantiles(self, probabilities: FloatArray) -> FloatArray:
        """The points below which the mean lies with ``probabilities``, linear in
        between."""
        values: FloatArray = np.interp(probabilities, self.probabilities, self.points)
        return values


def mean_distribution(centred: FloatArray) -> MeanDistribution | None:
    """Distribution of the mean of n draws with replacement from n values.

    None where the values are so few, or so far from one another, that it is not smooth
    on the scale of its standard deviation.

    Args:
        centred: values less their mean, not all 0, shape (n,).
    """
    n = len(centred)
    error = math.sqrt(float(centred @ centred)) / n
    spectrum = _characteristic(centred / (error * n), n)
    if np.abs(spectrum[_FREQUENCIES // 2 :]).max() > _NEGLIGIBLE:
        return None
    signs = np.where(
        np.arange(_FREQUENCIES) % 2, -1.0, 1.0
    )  # the grid starts at −PERIOD/2
    padded = np.zeros(_GRID // 2 + 1, dtype=np.complex128)
    padded[:_FREQUENCIES] = np.conj(spectrum) * signs
    mass = np.maximum(
        np.fft.irfft(padded, _GRID), 0.0
    )  # rounding leaves some at −1e-16
    step = _PERIOD / _GRID
    points = error * ((np.arange(_GRID) + 0.5) * step - _PERIOD / 2)
    return MeanDistribution(points.astype(np.float64), np.cumsum(mass) / mass.sum())


def _characteristic(scaled: FloatArray, n: int) -> NDArray[np.complex128]:
    """φ(2πk/PERIOD)^n for k = 0, 1, ..., by repeated multiplication, shape
    (_FREQUENCIES,)."""
    turn = np.exp(2j * np.pi / _PERIOD * scaled)
    power: NDArray[np.complex128] = np.ones(n, dtype=np.complex128)
    means: NDArray[np.complex128] = np.empty(_FREQUENCIES, dtype=np.complex128)
    for k in range(_FREQUENCIES):
        means[k] = power.mean()
        power *= turn
    return means ** float(n)
