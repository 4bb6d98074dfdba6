"""Clopper–Pearson's interval at an effective number of prompts, for bounded scores near a bound.

The idea is Korn and Graubard's (1998), for any scores with bounds, in clusters or not: the error
of the mean gives the number n_e of 0/1 scores that would have that error. What differs is that
the error of the error is looked at (`effective_n.heavy_tailed_df`), because near a bound the few
units that make up the mean make up its error too: where one of them is missed by chance, both
come out too small. Coverage: docs/calibration.md.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import Bounds, as_level
from warehouse.stats.core.links import find_link
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.core.results import Interval
from warehouse.stats.core.sample import Sample, build_sample
from warehouse.stats.intervals.closed_form import interval_clopper_pearson
from warehouse.stats.intervals.effective_n import effective_n, heavy_tailed_df

METHOD = "clopper_pearson_effective"
# With fewer units off a bound than this, by weight, their error says nothing.
_FEWEST_INFORMATIVE = 4


def interval_clopper_pearson_effective(
    scores: ArrayLike, *, clusters: ArrayLike | None = None, bounds: Bounds = (0.0, 1.0), level: float = 0.95
) -> Interval | None:
    """Interval for the mean of bounded scores of which few are off a bound.

    With m the mean on [0, 1] and V its squared error (CLT, or CR2), n_e = m(1−m)/V · (z/t_ν)²
    with ν of `heavy_tailed_df`, but at least the number of units (prompts, or 1/Σ f_c²
    clusters): no scores vary more than units that are wholly 0 or 1. It is that number where
    fewer than 4 units, by weight, are off a bound. Then Clopper–Pearson with n_e·m successes of
    n_e.

    Args:
        scores: mean score of each prompt, within ``bounds``, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,), or None.
        bounds: smallest and largest possible score, both finite.
        level: nominal coverage, in (0, 1).

    Returns:
        The interval; None where all scores are equal and on no bound, and where there is a
        single prompt or cluster that is on no bound.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> print(interval_clopper_pearson_effective([0] * 20))
        [0, 0.1684]
    """
    sample = build_sample(scores, clusters, None, find_link("identity"), bounds, False, None)
    if sample.bounds is None:
        raise StatisticsError(f"`bounds` must both be finite, found {bounds}")
    return clopper_pearson_effective(sample, as_level(level))


def clopper_pearson_effective(sample: Sample, level: float) -> Interval | None:
    """`interval_clopper_pearson_effective` for a described sample with bounds."""
    low, high = sample.bounds or (0.0, 1.0)
    width = high - low
    mean = min(1.0, max(0.0, (sample.mean - low) / width))
    n = _effective(sample, mean, width, level)
    if n is None:
        return None
    unit = interval_clopper_pearson(n if mean == 1 else mean * n, n, level=level)
    return Interval(low + width * unit.low, low + width * unit.high, level, METHOD)


def _effective(sample: Sample, mean: float, width: float, level: float) -> float | None:
    known = effective_n(sample)
    if known.present == 0:  # all at a bound
        return known.units
    df = heavy_tailed_df(sample)
    if df is None or not (sample.se or sample.binary):
        return None
    if known.effective < _FEWEST_INFORMATIVE or not sample.se:
        return known.units
    shrink = (z_quantile(level) / t_quantile(level, df)) ** 2
    return max(known.units, mean * (1 - mean) * (width / sample.se) ** 2 * shrink)
