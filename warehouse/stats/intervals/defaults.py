"""The table of default intervals (statistics.md §1), as one function.

Where the numbers come from: coverage simulated over mean, intra-cluster correlation,
cluster sizes and numbers (docs/reference/calibration.md); the flags mark the cells in
which the
default is known to cover too little.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from warehouse.stats.core.results import flags_of
from warehouse.stats.intervals.bootstrap_t import FEWEST_UNITS

# At a single p Wilson's coverage goes up and down with n; up to here below 94 % at
# times.
FEW_PROMPTS_BINARY = 101
FEW_PROMPTS = 50
FEW_PROMPTS_BOUNDED = 30
# From here on Gaffke's interval of bounded scores gives way to t, unless they are
# skewed.
MANY_PROMPTS = 1000
FEW_CLUSTERS = 20
FEW_INFORMATIVE = 10
# A cluster more than prompts: of the samples that reach 10 by chance too many miss.
FEW_INFORMATIVE_CLUSTERS = 11
NEAR_BOUND = 20
UNEQUAL_SIZES = 0.5
SKEWED = 1.0
#: |Σu³|/V^1.5 from which on t and bootstrap-t differ visibly.
SKEWED_MEAN = 0.2
# Cochran (1977, eq. 2.43) asks for 25 at the skewness of the population; that of a
# small sample comes out smaller.
UNITS_PER_SQUARED_SKEWNESS = 40
# Where the tails are heavy and fewer units than this, by weight, make up the variance,
# the skewness of the sample says nothing of that of the population: a 15th of the
# units, but not fewer than the first number (Laplace's distribution stays free) nor
# more than the second.
FEW_IN_TAILS = (38, 150)
_SHARE_IN_TAILS = 15
# Standard errors: what a t interval can bear at 95 %.
_UNSEEN = 2.0


class IntervalChoice(NamedTuple):
    """A method of `estimate_mean`, why it is the default for these data, and warnings.

    ``beside`` names a second method whose interval is given too, if any.
    """

    method: str
    reason: str
    flags: tuple[str, ...]
    beside: str | None = None


def choose_interval(
    *,
    n_prompts: int,
    n_clusters: int | None = None,
    binary: bool = False,
    bounded: bool = False,
    effective_n: float = math.inf,
    size_cv: float = 0.0,
    skewness: float = 0.0,
    tail_units: float = math.inf,
    unseen: float = 0.0,
    constant: bool = False,
    effective_clusters: float = math.inf,
    differences: bool = False,
) -> IntervalChoice:
    """The default interval for data of a kind.

    Args:
        n_prompts: n.
        n_clusters: G, None without clusters.
        binary: every score is 0 or 1 and each prompt has one draw.
        bounded: scores have a finite smallest and largest value.
        effective_n: effective number of prompts (clusters) that are off a bound
            (`clopper_pearson.EffectiveN`; binary or bounded), or that the two runs
            differ on.
        size_cv: coefficient of variation of the cluster sizes (clusters with bounds).
        skewness: of the scores or cluster totals where bounded
            (`asymmetry.working_skewness` for differences of bounded scores); of their
            mean where unbounded (`mean_skewness`).
        tail_units: how many units make up the variance where tails are heavy
            (`asymmetry.tail_units`; differences of bounded scores).
        unseen: how many standard errors the mean would move if the prompts that a
            sample of n can miss lay at the farther bound
            (`clopper_pearson.unseen_shift`; bounded, no clusters).
        constant: all scores (differences) are equal.
        effective_clusters: 1/Σ f_c², clusters by size: one that holds 30 % of the
            prompts leaves few, however many others there are (unbounded or differences,
            clusters).
        differences: the values are differences of two runs.

    Examples:
        >>> choose_interval(n_prompts=500, binary=True).method
        'wilson'
        >>> choose_interval(n_prompts=500, n_clusters=12).flags
        ('few_clusters',)
    """
    within = binary or bounded
    fewest_informative = FEW_INFORMATIVE
    if within and n_clusters and not differences:
        fewest_informative = FEW_INFORMATIVE_CLUSTERS
    few = effective_n < fewest_informative - 1e-9
    if not within:
        return _unbounded(
            n_prompts,
            n_clusters,
            few,
            abs(skewness) > SKEWED_MEAN,
            constant,
            effective_clusters,
        )
    if differences:
        heavy = tail_units < few_in_tails(n_clusters or n_prompts)
        return _bounded_differences(
            n_prompts, n_clusters, few, skewness, heavy, constant, effective_clusters
        )
    if n_clusters is None:
        if binary:
            return _independent_binary(n_prompts, few)
        return _bounded(n_prompts, skewness, unseen, constant)
    near = effective_n < NEAR_BOUND
    skewed = size_cv > UNEQUAL_SIZES and is_skewed(n_clusters, skewness)
    if binary:
        return _clustered_binary(n_clusters, near, few, size_cv, skewed)
    return _clustered_bounded(n_clusters, near, few, skewed)


def is_skewed(units: int, skewness: float) -> bool:
    """Whether a mean of so many units is skewed enough for t to cover too little."""
    return units < UNITS_PER_SQUARED_SKEWNESS * skewness**2


def few_in_tails(units: int) -> float:
    """How many units, by weight, are too few to make up the variance of heavy tails."""
    fewest, most = FEW_IN_TAILS
    return min(max(fewest, units / _SHARE_IN_TAILS), most)


def _independent_binary(n: int, few: bool) -> IntervalChoice:
    flag = _first(few_prompts=n < FEW_PROMPTS_BINARY, few_informative_prompts=few)
    return IntervalChoice("wilson", "0/1 scores, one draw each, no clusters", flag)


def _bounded(n: int, skewness: float, unseen: float, constant: bool) -> IntervalChoice:
    gaffke = n < MANY_PROMPTS or constant or is_skewed(n, skewness)
    flag = _first(
        few_prompts=n < FEW_PROMPTS_BOUNDED, far_bound=not gaffke and unseen > _UNSEEN
    )
    if constant:
        return IntervalChoice("gaffke", "bounded scores that are all equal", flag)
    if n < MANY_PROMPTS:
        return IntervalChoice("gaffke", f"bounded scores, n < {MANY_PROMPTS}", flag)
    if is_skewed(n, skewness):
        reason = (
            f"skewed bounded scores, n < {UNITS_PER_SQUARED_SKEWNESS} times their "
            "squared skewness"
        )
        return IntervalChoice("gaffke", reason, flag)
    return IntervalChoice("t", f"bounded scores, n >= {MANY_PROMPTS}", flag)


def weighted_interval(
    *,
    zero_one: bool,
    n_clusters: int | None,
    effective_clusters: float,
    flags: tuple[str, ...],
    units: int = 0,
    bounded: bool = True,
    skewness: float = 0.0,
) -> IntervalChoice:
    """The default interval of a weighted mean, with flags that look at the weights
    only.

    It is that of a plain mean of such scores, by units that bring their weight
    (statistics.md §1e a).

    Args:
        zero_one: every score is 0 or 1, one draw each.
        n_clusters: G, None without clusters.
        effective_clusters: 1/Σ F_c², F_c the share of the weight in cluster c.
        flags: of the weights (`standard_errors.UnitWeights`).
        units: prompts, or clusters; 0 for the differences of two runs with bounds.
        bounded: scores have a finite smallest and largest value.
        skewness: of the weighted deviations, summed by unit.
    """
    few = n_clusters is not None and effective_clusters < FEW_CLUSTERS - 1e-9
    flags += flags_of(few_clusters=few)
    if zero_one:
        return IntervalChoice(
            "wilson_weighted", "weighted 0/1 scores: Wilson at an effective n", flags
        )
    if not bounded and units >= FEWEST_UNITS:
        by_t = "cr2_t"
        if n_clusters is None:
            by_t = "t"
        reason = (
            "weighted mean of unbounded scores: hull of t and bootstrap-t of the ratio"
        )
        return IntervalChoice("hull", reason, flags, by_t)
    if bounded and units and (units < MANY_PROMPTS or is_skewed(units, skewness)):
        return IntervalChoice(
            "gaffke_weighted",
            "weighted mean of bounded scores: Gaffke's by the weights",
            flags,
        )
    if n_clusters is None:
        return IntervalChoice("t", "weighted mean: HC2 error, Satterthwaite t", flags)
    return IntervalChoice(
        "cr2_t", "weighted mean in clusters: CR2 error, Satterthwaite t", flags
    )


def _unbounded(
    n: int,
    n_clusters: int | None,
    few: bool,
    skewed: bool,
    constant: bool,
    effective: float,
) -> IntervalChoice:
    """The hull of t and bootstrap-t; flags say what to expect of it and choose nothing."""
    clustered, units = n_clusters is not None, n_clusters or n
    few_units = min(units, effective) < FEW_CLUSTERS - 1e-9
    flag = _first(
        few_clusters=clustered and few_units,
        few_informative_clusters=clustered and few,
        few_informative_prompts=not clustered and few,
        few_prompts=not clustered and few_units and not constant,
        skewed=skewed,
    )
    by_t, beside = "t", None
    what, data = "t", "unbounded scores, no clusters"
    if clustered:
        by_t, beside = "cr2_t", "wild_bootstrap"
        what, data = "CR2, Satterthwaite t", "unbounded scores in clusters"
    if units < FEWEST_UNITS:
        reason = f"{data}: {what}; fewer than {FEWEST_UNITS} cannot be resampled"
        return IntervalChoice(by_t, reason, flag, beside)
    companion = by_t
    if clustered and few_units:
        companion = "wild_bootstrap"
    return IntervalChoice(
        "hull", f"{data}: hull of {what} and bootstrap-t", flag, companion
    )


def _bounded_differences(
    n: int,
    n_clusters: int | None,
    few: bool,
    skewness: float,
    heavy: bool,
    constant: bool,
    effective: float,
) -> IntervalChoice:
    """Student's t, as differences of bounded scores are about symmetric."""
    if n_clusters is not None:
        flag = _first(
            few_clusters=min(n_clusters, effective) < FEW_CLUSTERS - 1e-9,
            few_skewed_clusters=is_skewed(n_clusters, skewness),
            few_informative_clusters=few,
            heavy_tailed_clusters=heavy,
        )
        return IntervalChoice(
            "cr2_t", "differences in clusters: CR2, Satterthwaite t", flag
        )
    small = n < FEW_PROMPTS
    skewed = is_skewed(n, skewness)
    if small:
        skewed = abs(skewness) > SKEWED
    flag = _first(
        few_skewed_prompts=skewed,
        few_informative_prompts=few,
        heavy_tailed_prompts=heavy,
        few_prompts=small and not constant,
    )
    return IntervalChoice("t", "differences, no clusters", flag)


def _clustered_binary(
    n_clusters: int, near: bool, few: bool, size_cv: float, skewed: bool
) -> IntervalChoice:
    flag = _first(
        few_informative_clusters=few or n_clusters < FEW_CLUSTERS,
        few_skewed_clusters=skewed,
    )
    if near:
        return IntervalChoice("clopper_pearson_effective", _NEAR, flag)
    if size_cv > UNEQUAL_SIZES:
        reason = (
            f"0/1 scores in clusters of unequal size (CV {size_cv:.2f} > "
            f"{UNEQUAL_SIZES})"
        )
        return IntervalChoice("korn_graubard_clopper_pearson", reason, flag)
    return IntervalChoice("korn_graubard_wilson", "0/1 scores in clusters", flag)


def _clustered_bounded(
    n_clusters: int, near: bool, few: bool, skewed: bool
) -> IntervalChoice:
    flag = _first(
        few_clusters=n_clusters < FEW_CLUSTERS,
        few_informative_clusters=few,
        few_skewed_clusters=skewed,
    )
    if near:
        return IntervalChoice("clopper_pearson_effective", _NEAR, flag)
    return IntervalChoice(
        "wilson_bounded", "bounded scores in clusters: CR2 error", flag
    )


_NEAR = (
    "the scores above the lowest possible one, or those below the highest, come from "
    f"fewer than {NEAR_BOUND} clusters (effective), so their error is uncertain too"
)


def _first(**conditions: bool) -> tuple[str, ...]:
    """The first flag that holds, if any: the others would repeat it."""
    return flags_of(**conditions)[:1]
