"""How much bounded scores can say about their mean, and how well their error is known.

Near a bound a mean rests on the few prompts (or clusters) that are not at the bound. Counting
those is not enough, since one of them may hold most of what there is: `effective` counts them
as Kish (1965) counts weighted observations.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from warehouse.stats.core.inputs import ROUNDING, FloatArray
from warehouse.stats.core.sample import Sample
from warehouse.stats.intervals.korn_graubard import clustered_df

_MISSED = -math.log(0.025)


@dataclass(frozen=True)
class EffectiveN:
    """The units (clusters, or prompts where there are none) behind a mean of bounded scores.

    Attributes:
        present: the smaller of the numbers of units that are not wholly at the lower bound and
            not wholly at the upper bound (k_min).
        effective: the smaller of (Σ T)²/Σ T² for T the units' totals above the lower bound, and
            below the upper bound (k_eff); at most ``present``. For 0/1 scores without
            clusters the number of the rarer answer.
        units: 1/Σ f_c², the number of units if all were of one size (G_eff).
        size_cv: coefficient of variation of the cluster sizes; 0 without clusters.
    """

    present: int
    effective: float
    units: float
    size_cv: float


def effective_n(sample: Sample) -> EffectiveN:
    """How many units scores with finite bounds are worth."""
    low, high = sample.bounds or (0.0, 1.0)
    above = np.clip((sample.values - low) / (high - low), 0.0, 1.0)
    if sample.clusters is None:
        sizes = np.ones(sample.n)
    else:
        above, sizes = sample.clusters.sums(above), sample.clusters.sizes
    sides = (above, sizes - above)
    present = [int(np.count_nonzero(side > ROUNDING * sizes)) for side in sides]
    return EffectiveN(
        present=min(present),
        effective=min(kish(side) for side in sides) if min(present) else 0.0,
        units=kish(sizes),
        size_cv=float(sizes.std() / sizes.mean()),
    )


def unseen_shift(sample: Sample) -> float:
    """Standard errors by which prompts that the sample missed could move the mean.

    A kind of prompt that makes up 3.7/n of a population (−ln 0.025) is missed by 2.5 % of the
    samples of n. If its scores lie at the bound that is farther from the mean, the mean of the
    population is off by the distance times that share. 0 where the error is 0 or not known.
    """
    low, high = sample.bounds or (0.0, 1.0)
    if not sample.se:
        return 0.0
    return _MISSED * max(high - sample.mean, sample.mean - low) / sample.n / sample.se


def heavy_tailed_df(sample: Sample) -> float | None:
    """Degrees of freedom of the error, fewer where a few units make up most of it.

    The variance of a variance of U units is (2/(U−1) + κ/U) times its square, κ the excess
    kurtosis; a scaled χ² with ν degrees of freedom has 2/ν. So ν is at most
    2/(2/(U−1) + G₂/U), with G₂ the usual estimate of κ (Joanes and Gill 1998), and 0 for it
    where it is negative. Never more than `Sample.df`, or with clusters ν at their own
    correlation (`korn_graubard.clustered_df`).
    """
    if sample.df is None:
        return None
    centred = sample.values - sample.mean
    if sample.clusters is None or sample.robust is None:
        return min(sample.df, _kurtosis_df(centred))
    icc = min(1.0, max(0.0, sample.robust.icc or 0.0))
    usual = clustered_df(sample.clusters.sizes, icc)
    return min(usual, _kurtosis_df(sample.clusters.sums(centred)))


def _kurtosis_df(totals: FloatArray) -> float:
    n = len(totals)
    excess = max(0.0, sample_kurtosis(totals)) if n > 3 else 0.0
    return 2 / (2 / (n - 1) + excess / n)


def sample_kurtosis(values: FloatArray) -> float:
    """Excess kurtosis G₂, as scipy's ``kurtosis(bias=False)``; 0 where all are equal.

    Args:
        values: shape (n,), n at least 4.
    """
    n = len(values)
    centred = values - values.mean()
    largest = np.abs(centred).max()
    if largest == 0:
        return 0.0
    unit = centred / largest  # the fourth powers of very small or large scores would be lost
    plain = float(np.mean(unit**4) / np.mean(unit**2) ** 2) - 3
    return (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * plain + 6)


def kish(totals: FloatArray) -> float:
    """Effective number of units: (Σ t)²/Σ t² of totals that are at least 0; 0 where all are 0."""
    squares = float(totals @ totals)
    return float(totals.sum()) ** 2 / squares if squares > 0 else 0.0
