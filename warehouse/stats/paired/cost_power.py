"""Power of the test of who is cheaper, and the prompts that it needs, by simulation from a
pilot (statistics.md §17)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    ROUNDING,
    FloatArray,
    as_seed,
    check_one_sided,
    unit_sums,
)
from warehouse.stats.core.moments import mean_of
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.paired.cheaper import CAUTION, HEAVIEST_LOG_SPREAD
from warehouse.stats.paired.cost import (
    LONGEST,
    UNITS_PER_SKEW,
    log_spread,
    two_costs,
)

#: Units of all samples of a simulation and of a population, and the most prompts that
#: are planned.
_CELLS, _POPULATION, _MOST_PROMPTS = 1_000_000, 5_000, 10_000_000


@dataclass(frozen=True)
class CheaperPower(NamedFigures):
    """How often `cheaper_test` finds that the first costs 1/``times`` of the second or
    less."""

    n_prompts: int  #: planned.
    n_clusters: int | None  #: clusters at their mean size; None without.
    power: float  #: share of samples in which it does.
    gated: float  #: share without a verdict (``skew_gate``).
    #: an end of the interval of the ratio over the ratio, median over samples; None
    #: where none has an error.
    factor: float | None


def cheaper_power(
    costs_a: ArrayLike,
    costs_b: ArrayLike,
    n: int,
    clusters: ArrayLike | None = None,
    *,
    times: float = 1.0,
    alpha: float = 0.05,
    level: float = 0.95,
    n_samples: int = 1000,
    seed: int = 0,
) -> CheaperPower:
    """Power of `cheaper_test` with ``n`` prompts like those of a pilot: the less of two
    simulations.

    One draws the pilot's prompts again (clusters whole). As no draw of them has what
    few prompts do not show of a tail, the other draws from a lognormal with the means,
    variances and correlation that the logarithms of the pilot's costs have; it is left
    out where a cost is 0. The error of a sample is that of its units, n/(n − 1) in
    place of CR2.

    Args:
        costs_a, costs_b, clusters: of a pilot, as for `cost_ratio`.
        n: prompts, from 2 (clusters of mean size are drawn, two at the least).
        times: as for `cheaper_test`.
        alpha: one-sided level of the test, in (0, 0.5).
        level: of the interval behind ``factor``.
        n_samples: samples of either simulation; fewer (100 at the least) where a pilot
            is large.
        seed: of the samples.

    Raises:
        StatisticsError: arguments out of range, misaligned or not finite.
    """
    check_one_sided(alpha)
    a, b, groups = two_costs(costs_a, costs_b, clusters)
    sums = [unit_sums(values, groups) for values in (a, b, np.ones(len(a)))]
    share = 1.0
    if groups is not None:
        share = groups.n / len(a)
    units = max(2, round(n * share))
    rng = np.random.default_rng(as_seed(seed))
    found = [_simulated(rng, n_samples, units, sums, times, alpha)]
    if min(values.min() for values in sums) > 0:
        many = _lognormal(rng, *sums)
        found.append(_simulated(rng, n_samples, units, many, times, alpha))
    power, gated, error = min(found)
    n_clusters = factor = None
    if groups is not None:
        n_clusters = units
    if error > 0:
        half = t_quantile(level, units - 1) * error
        factor = math.exp(min(half, LONGEST))
    return CheaperPower(
        n_prompts=round(units / share),
        n_clusters=n_clusters,
        power=power,
        gated=gated,
        factor=factor,
    )


def _lognormal(
    rng: np.random.Generator, a: FloatArray, b: FloatArray, size: FloatArray
) -> list[FloatArray]:
    """Many units whose costs are lognormal, with the means of those of a pilot."""
    _, spread, axes = np.linalg.svd(np.cov(np.log([a, b])))
    draws = np.exp(rng.standard_normal((_POPULATION, 2)) * np.sqrt(spread) @ axes)
    scaled = draws / draws.mean(axis=0) * [a.mean(), b.mean()]
    return [scaled[:, 0], scaled[:, 1], np.full(_POPULATION, size.mean())]


def _simulated(
    rng: np.random.Generator,
    n_samples: int,
    units: int,
    sums: Sequence[FloatArray],
    times: float,
    alpha: float,
) -> tuple[float, float, float]:
    """Share of samples in which the test finds it, share of gated ones, and the median
    error of the log ratio."""
    n_samples = min(n_samples, max(100, _CELLS // len(sums[0])))
    p, gated, error = _sampled(rng, n_samples, units, sums, times)
    median = 0.0
    if np.isfinite(error).any():
        median = float(np.nanmedian(error))
    return float(np.mean((p <= alpha) & ~gated)), float(gated.mean()), median


def _sampled(
    rng: np.random.Generator,
    n_samples: int,
    units: int,
    sums: Sequence[FloatArray],
    times: float,
) -> tuple[FloatArray, NDArray[np.bool_], FloatArray]:
    """Of samples of units: p of the test, whether it is gated, and the error of the log
    ratio."""
    m = len(sums[0])
    drawn = rng.multinomial(units, np.full(m, 1 / m), size=n_samples)
    counts = drawn.astype(np.float64)
    # Sums over samples of what a unit adds, as polynomials of the sums of its powers:
    # one product of matrices.
    cost_a, cost_b, size = sums
    a = cost_a / cost_a.mean()
    d = a - cost_b / cost_b.mean()
    apart = times * cost_a - cost_b
    powers = [a, d, a * a, d * a, d * d, a**3, d * a * a, d * d * a, d**3]
    powers += [cost_b, size, apart, size * size, size * apart, apart * apart]
    total_a, total_d, aa, da, dd, aaa, daa, dda, ddd, total_b, n, e, ss, se, ee = (
        counts @ np.transpose(powers)
    ).T
    small_sample = units / (units - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        r = total_d / total_a  # a/total_a - b/total_b is d - r·a in units of 1/total_b
        second = dd - 2 * r * da + r * r * aa
        third = ddd - 3 * r * dda + 3 * r * r * daa - r**3 * aaa
        is_rounding = second <= ROUNDING * (dd + r * r * aa)
        second = np.where(is_rounding, 0.0, second)
        third = np.where(is_rounding, 0.0, third)
        square = n * n * ee - 2 * n * e * se + e * e * ss
        square = np.where(square <= ROUNDING * (n * n * ee + e * e * ss), 0.0, square)
        log_error = np.sqrt(small_sample * second) / (total_a - total_d)
        error = np.sqrt(small_sample * square) / (n * total_b)
        difference = e / total_b
        log_ratio = np.log1p(difference)
        # bootstrap-t by what it allows for, the skewness of the ratio (Hall 1992)
        t, lean = log_ratio / log_error, third / second**1.5
        turned = t + lean * t**2 / 3 + lean**2 * t**3 / 27 + lean / 6
        tails = [
            _lower_tail(log_ratio, log_error, units),
            _lower_tail(difference, error, units),
            special.stdtr(units - 1, turned),
        ]
        is_skewed = (second**3 < UNITS_PER_SKEW * third**2) & (third > 0)
    gated = is_skewed & (log_spread(cost_a) >= HEAVIEST_LOG_SPREAD)
    largest = np.fmax.reduce([np.where(np.isnan(tail), 1.0, tail) for tail in tails])
    return np.minimum(1.0, CAUTION * largest), gated, log_error


def _lower_tail(value: FloatArray, error: FloatArray, units: int) -> FloatArray:
    """P(T ≤ value/error) of Student's t; NaN where the error is rounding."""
    statistic = np.where(error > ROUNDING, value / error, np.nan)
    return np.asarray(special.stdtr(units - 1, statistic))


def cheaper_sample_size(
    costs_a: ArrayLike,
    costs_b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    times: float = 1.0,
    alpha: float = 0.05,
    power: float = 0.8,
    level: float = 0.95,
    n_samples: int = 1000,
    seed: int = 0,
) -> CheaperPower | None:
    """The prompts that `cheaper_test` needs for a power, by simulation; None where no
    number up to ten million does.

    Arguments and errors as for `cheaper_power`; ``power`` in (0, 1).
    """
    if not 0 < power < 1:
        raise StatisticsError(f"`power` must lie between 0 and 1, found {power}")

    def at(n: int) -> CheaperPower:
        settings = {"times": times, "alpha": alpha, "level": level}
        return cheaper_power(
            costs_a, costs_b, n, clusters, **settings, n_samples=n_samples, seed=seed
        )

    a, b, _ = two_costs(costs_a, costs_b, clusters)
    if not times * mean_of(a) < mean_of(b):
        return None
    low, high = 1, 2
    while (found := at(high)).power < power:
        low, high = high, 2 * high
        if high > _MOST_PROMPTS:
            return None
    while high - low > max(1, low // 50):
        middle = (low + high) // 2
        tried = at(middle)
        if tried.power >= power:
            high, found = middle, tried
        else:
            low = middle
    return found
