"""Wilson's interval of a weighted share of 0/1 scores, at an effective number of prompts."""

from __future__ import annotations

from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.core.results import Interval
from warehouse.stats.core.sample import Sample
from warehouse.stats.intervals.closed_form import interval_wilson

METHOD = "wilson_weighted"
_FEWEST = 1e-3


def wilson_weighted(sample: Sample, level: float) -> Interval | None:
    """Wilson at n* = min(n_K, G_eff, m(1−m)/V)·(z/t_ν)², for a described sample of weighted 0/1 scores.

    n_K = 1/Σ f_i² is Kish's number of prompts, G_eff = 1/Σ F_c² that of clusters (n_K without
    any), V and ν those of the weighted mean. m(1−m)/V alone covers .78 (p .95, lognormal weights,
    σ 2): where heavy prompts agree by chance V is too small. None with one prompt or cluster.
    """
    weights, df = sample.weights, sample.df
    if weights is None or df is None or sample.se is None:
        return None
    mean = min(1.0, max(0.0, sample.mean))
    n = min(weights.kish, weights.effective_units)
    if sample.se > 0 and 0 < mean < 1:
        n = min(n, mean * (1 - mean) / sample.se**2)
    n = max(_FEWEST, n * (z_quantile(level) / t_quantile(level, df)) ** 2)
    unit = interval_wilson(n if mean == 1 else mean * n, n, level=level)
    return Interval(unit.low, unit.high, level, METHOD)
