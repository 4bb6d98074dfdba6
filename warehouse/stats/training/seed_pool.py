"""What spreads over seeds elsewhere say of a difference of two recipes that have one seed each.

The prior of variances is that of Smyth (2004, Stat. Appl. Genet. Mol. Biol. 3:3; ``fitFDist`` of limma): variances
are s0²·d0/χ²_d0, and d0 and s0 are the moments of the logarithms of those observed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import as_level, as_scores
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.core.results import NamedFigures

#: Fewer benchmarks give no prior.
LEAST_POOLED = 3
#: Shares of the pool's standard deviations that are told.
SHARES = (0.05, 0.25, 0.5, 0.75, 0.95)
#: A wrong order with a probability up to this: the figures lean, beyond it they say nothing.
LEANS_UP_TO = 0.1

Word = Literal["decides", "leans", "cannot tell"]


@dataclass(frozen=True)
class SeedPool(NamedFigures):
    """The prior of a standard deviation over seeds."""

    n: int  #: benchmarks behind it, without those of which all seeds are equal.
    quantiles: tuple[float, ...]  #: of their standard deviations at `SHARES`.
    standard_deviation: float | None  #: s0; None below `LEAST_POOLED`.
    prior_degrees_of_freedom: float | None  #: d0; infinite where they differ by no more than chance makes them.
    degrees_of_freedom: float | None  #: min(d0, n − 1), for Student's t of a new benchmark; None as above.

    def with_own(self, standard_deviation: float, degrees_of_freedom: float) -> tuple[float, float] | None:
        """Standard deviation and degrees of freedom of a benchmark whose own spread is known too: the mean of both
        variances by their degrees of freedom (limma's ``squeezeVar``); None without a prior.

        Args:
            standard_deviation: of that benchmark, above 0.
            degrees_of_freedom: seeds behind it minus 1.
        """
        if self.standard_deviation is None or self.degrees_of_freedom is None:
            return None
        prior, own = self.degrees_of_freedom, degrees_of_freedom
        variance = (prior * self.standard_deviation**2 + own * standard_deviation**2) / (prior + own)
        return math.sqrt(variance), prior + own


def seed_pool(standard_deviations: ArrayLike, degrees_of_freedom: ArrayLike) -> SeedPool:
    """The prior of spreads over seeds, from those of other benchmarks.

    Args:
        standard_deviations: over seeds, ddof 1, one per benchmark, shape (B,); those of 0 are left out.
        degrees_of_freedom: of each, above 0, shape (B,).

    Raises:
        StatisticsError: lengths that differ, or numbers out of range.
    """
    s, nu = as_scores(standard_deviations, "standard_deviations"), as_scores(degrees_of_freedom, "degrees_of_freedom")
    if len(s) != len(nu) or (s < 0).any() or (nu <= 0).any():
        raise StatisticsError("standard deviations of at least 0 are needed, each with degrees of freedom above 0")
    s, nu = s[s > 0], nu[s > 0]
    quantiles = tuple(np.quantile(s, SHARES).tolist()) if len(s) else ()
    if len(s) < LEAST_POOLED:
        return SeedPool(len(s), quantiles, None, None, None)
    logs = 2 * np.log(s) - special.psi(nu / 2) + np.log(nu / 2)
    centre, left = float(logs.mean()), float(logs.var(ddof=1) - special.zeta(2.0, nu / 2).mean())
    if left <= 0:
        return SeedPool(len(s), quantiles, math.exp(centre / 2), math.inf, float(len(s) - 1))
    d0 = 2 * _inverse_trigamma(left)
    s0 = math.exp((centre + float(special.psi(d0 / 2)) - math.log(d0 / 2)) / 2)
    return SeedPool(len(s), quantiles, s0, d0, min(d0, float(len(s) - 1)))


def _inverse_trigamma(value: float) -> float:
    """x > 0 with ψ'(x) = value > 0, by bisection of ln x: ψ' falls from infinity to 0."""
    low, high = math.log(1e-8), math.log(1e12)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if special.zeta(2.0, math.exp(middle)) > value else (low, middle)
    return math.exp((low + high) / 2)


def noise_only_above(difference: float, n_a: int = 1, n_b: int = 1, *, level: float = 0.95) -> float:
    """The standard deviation over seeds below which a difference is more than noise: |d|/(z·√(1/S_A + 1/S_B)).

    Args:
        difference: of the means of two recipes.
        n_a: seeds of the first, at least 1.
        n_b: seeds of the second.
        level: 1 − the share of differences by noise alone that exceed it.
    """
    return abs(difference) / (z_quantile(as_level(level)) * math.sqrt(1 / n_a + 1 / n_b))


@dataclass(frozen=True)
class WeighedDifference(NamedFigures):
    """A difference of two recipes held against a spread over seeds."""

    floor: float  #: half the width of its interval.
    ci_low: float  #: difference − floor.
    ci_high: float  #: difference + floor.
    #: probability that the true difference has the other sign, where nothing is known of it beforehand.
    p_wrong_sign: float
    #: ``decides`` where the interval leaves 0 out, ``leans`` where the sign is wrong with a probability of at most
    #: `LEANS_UP_TO`, else ``cannot tell``.
    word: Word


def weigh_difference(
    difference: float,
    standard_deviation: float,
    degrees_of_freedom: float,
    n_a: int = 1,
    n_b: int = 1,
    *,
    level: float = 0.95,
) -> WeighedDifference:
    """Interval, probability of the wrong sign, and what they say.

    Args:
        difference: of the means of two recipes.
        standard_deviation: of one run's figure over seeds, at least 0; where it is 0, any difference decides.
        degrees_of_freedom: of it, above 0; infinite for one that is known.
        n_a: seeds of the first, at least 1.
        n_b: seeds of the second.
        level: of the interval.

    Raises:
        StatisticsError: numbers out of range.
    """
    level = as_level(level)
    if not (math.isfinite(difference) and standard_deviation >= 0 and degrees_of_freedom > 0 and min(n_a, n_b) > 0):
        raise StatisticsError(f"out of range: {difference}, {standard_deviation}, {degrees_of_freedom}, {n_a}, {n_b}")
    error = standard_deviation * math.sqrt(1 / n_a + 1 / n_b)
    floor = t_quantile(level, degrees_of_freedom) * error
    if difference == 0:
        p = 0.5
    else:
        p = 0.0 if error == 0 else float(special.stdtr(degrees_of_freedom, -abs(difference) / error))
    word: Word = "cannot tell"
    if abs(difference) > floor:
        word = "decides"
    elif p <= LEANS_UP_TO:
        word = "leans"
    return WeighedDifference(floor, difference - floor, difference + floor, p, word)
