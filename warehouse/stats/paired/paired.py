"""Two runs on the same prompts: the paired difference (Miller 2024 §4.2, eqs. 7 and 8),
prompts random or fixed."""

from __future__ import annotations

import math
import operator
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core.draws import PROMPTS_SAMPLED
from warehouse.stats.core.inputs import (
    ROUNDING,
    Bounds,
    Clusters,
    FloatArray,
    as_level,
    as_seed,
    number_of,
    unit_sums,
)
from warehouse.stats.core.moments import deviations
from warehouse.stats.core.quantiles import t_p_value
from warehouse.stats.core.results import Interval, PairedDifference, ends_of, flags_of
from warehouse.stats.core.sample import (
    Sample,
    describe,
    find_link,
)
from warehouse.stats.intervals.asymmetry import (
    mean_skewness,
    tail_units_of,
    working_skewness,
)
from warehouse.stats.intervals.bootstrap_t import StudentisedDraws, studentised_ratios
from warehouse.stats.intervals.clopper_pearson import kish
from warehouse.stats.intervals.closed_form import (
    interval_t,
)
from warehouse.stats.intervals.defaults import (
    IntervalChoice,
    choose_interval,
    weighted_interval,
)
from warehouse.stats.intervals.estimate_mean import no_spread, variance_ratio, why_none
from warehouse.stats.intervals.methods import hull_draws
from warehouse.stats.intervals.standard_errors import (
    UnitWeights,
    effective_clusters,
    unit_weights,
)
from warehouse.stats.paired.added_prompts import (
    ADDED_PROMPTS,
    added_prompts,
    are_tied,
    width_of,
    within_range,
)
from warehouse.stats.paired.pair_sides import PairSide, aligned
from warehouse.stats.paired.pair_sides import figure_values as figure_values

#: Flag of a difference with the prompts fixed whose error rests on the draws of few
#: prompts.
FEW_VARYING = "few_varying_prompts"
_ADDED = (
    "paired differences, many of them alike: a prompt won and a prompt lost are added"
)


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    weights_a: ArrayLike | None = None,
    weights_b: ArrayLike | None = None,
    link: str = "identity",
    bounds: Bounds | None = None,
    seed: int = 0,
) -> PairedDifference:
    """Difference a − b of two runs over the prompts that both have, prompts sampled.

    The error is that of the per-prompt differences (eq. 7, n − 1 degrees of freedom);
    with clusters CR2 with Satterthwaite's, and the paper's eq. 8 too. Differences of
    scores with bounds get Student's t, and where a third of them are alike, as always
    of 0/1 scores, the interval with a prompt won and a prompt lost added
    (`added_prompts`); of others its hull with bootstrap-t, and a p that agrees with it.
    For ratio metrics and links the figures link(Σwv/Σw) are subtracted by the delta
    method, which keeps the covariance of the two runs: with u_i = f_i d_i/sqrt(a_i) of
    each run (`weighted_errors`) the squared error is Σ (u_a,i − u_b,i)², with the
    smaller degrees of freedom and Student's t.

    Args:
        a: mean score of each prompt in the first run, finite, shape (n,).
        b: the same prompts in the same order in the second run, shape (n,).
        clusters: cluster of each prompt, integers or strings, shape (n,), or None.
        level: nominal coverage of the interval, in (0, 1).
        weights_a: weight of each prompt, at least 0, in the first run, shape (n,), or
            None. Prompts of weight 0 in both runs are left out.
        weights_b: the same in the second run.
        link: ``identity``, ``exp_neg`` or ``neg_over_ln2``, as in `estimate_mean`.
        bounds: smallest and largest possible score; None or an infinite end for none,
            unless both runs have nothing but 0 and 1.
        seed: of the bootstrap, at least 0.

    Returns:
        The difference. Where all differences are equal its error is 0:
        ``standard_error``, statistic and p are None, the interval too unless scores
        have bounds, and the named errors hold the 0.

    Raises:
        StatisticsError: for arguments out of range, misaligned or not finite.

    Examples:
        >>> d = paired_difference([0.3, 0.0, 0.5, 0.2, 0.4, 0.0], [0.0, 0.1, 0.0, 0.0, 0.0, 0.0])
        >>> round(d.statistic, 9), d.degrees_of_freedom
        (2.290948975, 5)
    """
    level, seed = as_level(level), as_seed(seed)
    first, second, groups, left_out = aligned(
        (a, weights_a), (b, weights_b), clusters, find_link(link)
    )
    width = None
    if first.within(bounds) and second.within(bounds):
        width = width_of(bounds)
    return _compare(
        first, second, groups, level, width=width, seed=seed, left_out=left_out
    )


def difference_flags(
    first: PairSide,
    second: PairSide,
    clusters: Clusters | None,
    left_out: int,
    *,
    bounded: bool,
) -> tuple[str, ...]:
    """The flags of `paired_difference` of two sides that are `aligned`."""
    d = _difference(first, second, clusters)
    return _flags(d, _choice(d, bounded=bounded), left_out)


def _flags(d: Sample, choice: IntervalChoice, left_out: int) -> tuple[str, ...]:
    weightless = flags_of(prompts_without_weight=left_out)
    spread = tuple(flag.replace("scores", "differences") for flag in no_spread(d))
    return choice.flags + weightless + spread


def _compare(
    first: PairSide,
    second: PairSide,
    clusters: Clusters | None,
    level: float,
    *,
    width: float | None,
    seed: int,
    left_out: int,
) -> PairedDifference:
    a = describe(first.figures, clusters, shares=first.shares)
    b = describe(second.figures, clusters, shares=second.shares)
    d = _difference(first, second, clusters)
    choice = _choice(d, bounded=width is not None)
    is_bounded_t = width is not None and choice.method == "paired_t"
    if is_bounded_t and d.weights is None and are_tied(d.values):
        choice = choice._replace(method=f"paired_{ADDED_PROMPTS}", reason=_ADDED)
    draws = None
    if choice.method == "paired_hull":
        draws = _draws(first, second, d, seed)
    interval = _interval(d, choice.method, draws, level, width)
    low, high = ends_of(interval)
    statistic, reason = None, choice.reason
    if d.se:
        statistic = d.mean / d.se
    if interval is None or not d.se:
        reason = _reason(no_spread(d) or ("unbounded_interval",))
    return PairedDifference(
        difference=d.mean,
        standard_error=d.se or None,
        ci_low=low,
        ci_high=high,
        level=level,
        statistic=statistic,
        degrees_of_freedom=d.df,
        p_value=_p_value(statistic, d.df, draws),
        mean_a=a.mean,
        mean_b=b.mean,
        correlation=correlation(a.values, b.values),
        variance_saved=_variance_saved(a.se, b.se, d.se),
        n_prompts=d.n,
        n_clusters=d.n_clusters,
        method=choice.method,
        reason=reason,
        flags=_flags(d, choice, left_out),
        se_eq7=d.se_clt,
        **_clustered_errors(d),
        estimand=PROMPTS_SAMPLED,
        draws=draws,
    )


def _draws(
    first: PairSide, second: PairSide, d: Sample, seed: int
) -> StudentisedDraws | None:
    """The bootstrap distribution of the difference of two means, weighted ones of which
    may have other weights."""
    if d.weights is None:
        return hull_draws(d, seed)
    if d.df is None or not d.se:
        return None
    totals = [describe(side.figures, d.clusters).totals for side in (first, second)]
    weights = [unit_sums(side.weights, d.clusters) for side in (first, second)]
    return studentised_ratios(np.array(totals), np.array(weights), d.df, seed)


def _difference(first: PairSide, second: PairSide, clusters: Clusters | None) -> Sample:
    """The differences with their error."""
    d = describe(_differences(first.figures, second.figures), clusters)
    if first.shares is None and second.shares is None:
        return d
    of_first = unit_weights(first.weights, clusters)
    of_second = unit_weights(second.weights, clusters)
    d = replace(d, weights=_both([of_first, of_second]))
    if d.all_equal or d.n == 1:
        return d
    if of_first.degrees_of_freedom is None or of_second.degrees_of_freedom is None:
        return replace(d, se_clt=None, robust=None)
    off_first, off_second = deviations(first.figures), deviations(second.figures)
    alone = unit_weights(first.weights).pulls(off_first)
    alone = alone - unit_weights(second.weights).pulls(off_second)
    d = replace(d, se_clt=float(np.linalg.norm(alone)) / d.n)
    if clusters is None or d.robust is None:
        return d
    pulls = of_first.pulls(clusters.sums(off_first))
    pulls = pulls - of_second.pulls(clusters.sums(off_second))
    error = float(np.linalg.norm(pulls)) / d.n
    return replace(
        d, robust=replace(d.robust, se_cr2=error, degrees_of_freedom=d.df or 1.0)
    )


def _both(weights: list[UnitWeights]) -> UnitWeights:
    """What counts for a difference: of each figure the worse of the two runs."""
    worse = min(weights, key=operator.attrgetter("kish"))
    flags: dict[str, None] = {}
    freedoms = []
    for own in weights:
        flags |= dict.fromkeys(own.flags)
        if own.degrees_of_freedom is not None:
            freedoms.append(own.degrees_of_freedom)
    degrees_of_freedom = None
    if len(freedoms) == len(weights):
        degrees_of_freedom = min(freedoms)
    return replace(
        worse,
        degrees_of_freedom=degrees_of_freedom,
        effective_units=min(own.effective_units for own in weights),
        flags=tuple(flags),
    )


def _interval(
    d: Sample,
    method: str,
    draws: StudentisedDraws | None,
    level: float,
    width: float | None,
) -> Interval | None:
    if width is not None and method.endswith(ADDED_PROMPTS) and d.n > 1:
        return added_prompts(d.values, width, level)
    if draws is None or not d.se:
        return within_range(interval_t(d.mean, d.se, d.df, level=level), width)
    low, high = draws.ends(level)
    if not math.isfinite(high - low):
        return None
    return Interval(d.mean - high * d.se, d.mean - low * d.se, level, "hull")


def _p_value(
    statistic: float | None, df: float | None, draws: StudentisedDraws | None
) -> float | None:
    if statistic is None or df is None:
        return None
    if draws is None:
        return t_p_value(statistic, df)
    return draws.p_value(statistic)


def _reason(why: tuple[str, ...]) -> str:
    return why_none(why).replace("scores", "differences")


def _differences(a: FloatArray, b: FloatArray) -> FloatArray:
    """a − b, constant where the differences vary by no more than the rounding of a and
    b."""
    d = a - b
    scale = max(float(np.abs(a).max()), float(np.abs(b).max()))
    if np.ptp(d) <= ROUNDING * scale:
        return np.full_like(d, d.mean())
    return d


def _clustered_errors(d: Sample) -> dict[str, float | None]:
    names = {
        "se_eq8": "se_clustered",
        "se_cr0": "se_cr0",
        "se_cr1": "se_cr1",
        "se_cr2": "se_cr2",
    }
    return {field: getattr(d.robust, name, None) for field, name in names.items()}


def _choice(d: Sample, *, bounded: bool) -> IntervalChoice:
    """The paired row of the table of defaults."""
    if d.weights is not None:
        units_to_resample = 0
        if not bounded:
            units_to_resample = len(d.totals)
        base = weighted_interval(
            zero_one=False,
            n_clusters=d.n_clusters,
            effective_clusters=d.weights.effective_units,
            flags=d.weights.flags,
            units=units_to_resample,
            bounded=bounded,
        )
        return IntervalChoice(
            f"paired_{base.method}", f"paired: {base.reason}", base.flags
        )
    tail_units = effective_n = math.inf
    if bounded:
        skewness, tail_units = working_skewness(d.totals), tail_units_of(d)
    else:
        skewness = mean_skewness(d)
    if not d.all_equal:
        effective_n = kish(np.abs(unit_sums(d.values, d.clusters)))
    choice = interval_of_differences(
        d.n,
        d.clusters,
        bounded=bounded,
        skewness=skewness,
        tail_units=tail_units,
        effective_n=effective_n,
        constant=d.all_equal,
    )
    basis = "CR2, Satterthwaite t"
    if d.clusters is None:
        basis = "n − 1 degrees of freedom"
    hull = ""
    if choice.method == "hull":
        hull = ", hull with bootstrap-t"
    return IntervalChoice(
        f"paired_{choice.method}", f"paired differences: {basis}{hull}", choice.flags
    )


def interval_of_differences(
    n_prompts: int,
    clusters: Clusters | None,
    *,
    bounded: bool,
    skewness: float,
    tail_units: float,
    effective_n: float,
    constant: bool = False,
) -> IntervalChoice:
    """`choose_interval` for differences without weights; flags in words of differences."""
    choice = choose_interval(
        n_prompts=n_prompts,
        n_clusters=number_of(clusters),
        bounded=bounded,
        skewness=skewness,
        tail_units=tail_units,
        constant=constant,
        effective_clusters=effective_clusters(clusters),
        effective_n=effective_n,
        differences=True,
    )
    flags = [flag.replace("few_informative", "few_differing") for flag in choice.flags]
    return choice._replace(flags=tuple(flags))


def correlation(a: FloatArray, b: FloatArray) -> float | None:
    """Pearson correlation over prompts, in [-1, 1]; None where a run does not vary."""
    centred_a, centred_b = deviations(a), deviations(b)
    scale = float(np.linalg.norm(centred_a)) * float(np.linalg.norm(centred_b))
    if scale == 0:
        return None
    return min(1.0, max(-1.0, float(centred_a @ centred_b) / scale))


def _variance_saved(
    error_a: float | None, error_b: float | None, error_d: float | None
) -> float | None:
    if error_a is None or error_b is None or error_d is None:
        return None
    ratio = variance_ratio(error_d, math.hypot(error_a, error_b))
    if ratio is None:
        return None
    return 1 - ratio
