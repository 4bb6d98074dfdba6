"""Bootstrap intervals of a mean or ratio, percentile and BCa (Efron 1987; statistics.md §1)."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import ROUNDING, FloatArray, as_level, as_seed
from warehouse.stats.core.links import find_link, linked_interval
from warehouse.stats.core.resampling import Units, replicates, units_of
from warehouse.stats.core.results import Interval
from warehouse.stats.core.sample import Sample, build_sample

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

    Both kinds go with a monotone link, so the mean (or ratio) is resampled and the ends are
    taken through the link.

    Args:
        scores: mean score of each prompt, finite, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,): clusters are drawn
            whole, and numerator and denominator of the mean vary with their sizes.
        weights: weight of each prompt above 0, shape (n,): a ratio metric Σwv/Σw, whose
            numerator and denominator are resampled together.
        link: as in `estimate_mean`.
        kind: ``"percentile"``, or ``"bca"``: corrected for bias and for skewness, the latter by
            the jackknife over what is resampled.
        n_resamples: B, at least 100.
        level: nominal coverage, in (0, 1).
        seed: of the generator, at least 0.

    Returns:
        The interval; None where all scores are equal, or there is one prompt or cluster.

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


def bootstrap_interval(sample: Sample, kind: Kind, level: float, n_resamples: int, seed: int) -> Interval | None:
    """`interval_bootstrap` for a described sample, before its link."""
    if kind not in get_args(Kind):
        raise StatisticsError(f"unknown `kind` {kind!r}, expected one of {get_args(Kind)}")
    check_resamples(n_resamples)
    units = units_of(sample.values, sample.mean, sample.shares, sample.clusters)
    if units.n < 2 or sample.se is None or sample.se == 0:
        return None
    drawn = replicates(units, int(n_resamples), as_seed(seed))
    ends = _percentiles(level) if kind == "percentile" else bca_percentiles(units, drawn, level)
    if ends is None:
        return None
    low, high = np.quantile(drawn, ends)
    return Interval(float(low), float(high), level, _METHODS[kind])


def check_resamples(n_resamples: int) -> None:
    """Refuse numbers of resamples that are not whole, or too few for a tail."""
    if not n_resamples >= _FEWEST_RESAMPLES or n_resamples != int(n_resamples):
        raise StatisticsError(
            f"`n_resamples` must be a whole number, at least {_FEWEST_RESAMPLES}, found {n_resamples}"
        )


def bca_percentiles(units: Units, drawn: FloatArray, level: float) -> tuple[float, float] | None:
    """Probabilities at which BCa reads the resampled statistics (Efron 1987, eq. 2.3).

    None where every resample lies on one side of the estimate.

    Args:
        units: what was resampled.
        drawn: the statistic of each resample, shape (B,).
        level: nominal coverage, in (0, 1).
    """
    below = _share_below(drawn, units)
    if not 0 < below < 1:
        return None
    bias, curve = special.ndtri(below), acceleration(units)
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
    """Share of resamples below the estimate, those equal to it (up to rounding) by half."""
    room = ROUNDING * max(abs(units.centre), float(np.abs(units.numerators).max()))
    apart = drawn - units.centre
    return float((np.mean(apart < -room) + np.mean(apart <= room)) / 2)


def _percentiles(level: float) -> tuple[float, float]:
    return (1 - level) / 2, (1 + level) / 2
