"""Means of figures in [0, 1] that crowd near an end, as pass@k does below 1."""

from __future__ import annotations

from dataclasses import replace

from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import FloatArray, as_clusters
from warehouse.stats.core.results import Estimate
from warehouse.stats.core.sample import describe
from warehouse.stats.intervals.closed_form import interval_clopper_pearson
from warehouse.stats.intervals.defaults import FEW_INFORMATIVE
from warehouse.stats.intervals.effective_n import effective_n

_FEWEST_CLUSTERS = 4


def widened(estimate: Estimate, values: FloatArray, clusters: ArrayLike | None) -> Estimate:
    """``estimate``, at least as wide as Clopper–Pearson's at n where few prompts are off a bound.

    pass@k crowds prompts just below 1: their spread is next to nothing and hides how often a
    prompt is far off. A figure in [0, 1] varies at most as 0/1 scores of its mean do, so no more
    than n prompts are believed in (in clusters: G_eff, below 4 informative ones, as for Korn and
    Graubard's interval). Simulated coverage of 95 % at 30 to 300 prompts and pass rates of .002 to
    .99999: .93 and more, where the default interval alone sinks to .65.

    Args:
        estimate: of the mean of ``values``.
        values: figures in [0, 1], shape (n,).
        clusters: cluster of each, or None.
    """
    if estimate.ci_low is None or estimate.ci_high is None:
        return estimate
    groups = None if clusters is None else as_clusters(clusters, len(values))
    known = effective_n(describe(values, groups, bounds=(0.0, 1.0)))
    if known.effective >= (FEW_INFORMATIVE if groups is None else _FEWEST_CLUSTERS):
        return estimate
    size = known.units
    whole = interval_clopper_pearson(
        size if estimate.estimate == 1 else estimate.estimate * size, size, level=estimate.level
    )
    if estimate.ci_low <= whole.low and whole.high <= estimate.ci_high:
        return estimate
    what = "prompts" if groups is None else "clusters"
    return replace(
        estimate,
        ci_low=min(estimate.ci_low, whole.low),
        ci_high=max(estimate.ci_high, whole.high),
        method="clopper_pearson_capped",
        reason=f"the scores above the lowest possible one, or those below the highest, come from"
        f" few {what} ({known.effective:.2g}, effective): no more than {size:.4g} {what} are"
        " believed in",
    )
