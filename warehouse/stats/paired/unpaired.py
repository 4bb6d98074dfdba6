"""Two runs on independent prompts, or that share some (Miller 2024 §4.1, eqs. 5 and 6;
statistics.md §2)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core.inputs import Bounds, as_level, finite_bounds, is_zero_one
from warehouse.stats.core.quantiles import (
    normal_p_value,
    t_p_value,
    t_quantile,
    z_quantile,
)
from warehouse.stats.core.results import (
    Estimate,
    NamedFigures,
    PairedDifference,
    UnpairedDifference,
    ends_of,
    figures_text,
)
from warehouse.stats.intervals.closed_form import interval_normal, interval_t
from warehouse.stats.intervals.estimate_mean import estimate_mean
from warehouse.stats.paired.few_differ import FEW
from warehouse.stats.paired.paired import paired_difference

#: One half of an interval over the other, above which few prompts are off a bound (1.65
#: where 10 of 100 are).
LOPSIDED = 1.5
#: Prompts below which the error of a part is too unsure to weigh it by.
FEWEST_COMMON, FEWEST_OTHERS = 10, 20


def unpaired_difference(
    a: Estimate | ArrayLike,
    b: Estimate | ArrayLike,
    *,
    bounds: Bounds | None = None,
    level: float = 0.95,
) -> UnpairedDifference:
    """Difference a − b of two runs that share no prompts (or whose pairing is unknown).

    se = sqrt(se_a² + se_b²) (eq. 5) of the headline errors, clustered where a run
    carries clusters; z as in eq. 6, and Student's t with Welch's degrees of freedom as
    the default. Where few prompts of a run are off a bound its error may be far too
    small: the wider of Welch's interval and of that from the runs' own intervals
    counts, and the larger p (Newcombe 1998, method 10; Zou and Donner 2008). Where both
    are published figures of which nobody says on how many prompts they rest, the
    normal interval and test are all there is.

    Args:
        a: an `Estimate` of the first run, or its prompt scores, finite, shape (n_a,).
        b: the same for the second run. For clusters, weights or links pass an
            `Estimate`.
        bounds: smallest and largest possible figure, to whose range intervals are cut;
            None: 0 and 1 of scores that are 0 or 1, else none.
        level: nominal coverage of the intervals, in (0, 1).

    Returns:
        The difference; error, intervals and p are None where both errors are 0, or one
        of them is not defined.

    Raises:
        StatisticsError: for scores that are empty or not finite.

    Examples:
        >>> print(unpaired_difference([1, 1, 1, 0, 1, 1], [0, 1, 0, 0, 1, 0]))
        0.5 ± 0.2687 [-0.1031, 1] (95 % welch_t, n=6 and 6, p=0.094)
    """
    as_level(level)
    first, second = _estimate(a), _estimate(b)
    difference = first.estimate - second.estimate
    error = _joint_error(first, second)
    statistic = df = p = z_p = None
    if error:
        statistic = difference / error
        z_p = normal_p_value(statistic)
        df = _welch(first, second)
        if df is not None:
            p = t_p_value(statistic, df)
    z_low, z_high = ends_of(interval_normal(difference, error, level=level))
    if df is not None and math.isinf(df):
        method, df, p, low, high = "normal", None, z_p, z_low, z_high
    else:
        method = "welch_t"
        low, high = ends_of(interval_t(difference, error, df, level=level))
    found = UnpairedDifference(
        difference=difference,
        standard_error=error or None,
        ci_low=low,
        ci_high=high,
        level=level,
        statistic=statistic,
        degrees_of_freedom=df,
        p_value=p,
        z_ci_low=z_low,
        z_ci_high=z_high,
        z_p_value=z_p,
        estimate_a=first.estimate,
        estimate_b=second.estimate,
        n_prompts_a=first.n_prompts,
        n_prompts_b=second.n_prompts,
        method=method,
        reason=_reason(error),
        flags=_flags(first, "a") + _flags(second, "b"),
    )
    if _rests_on_few(first, second):
        found = _careful(found, first, second)
    return _within_range(found, _range_of(bounds, first, second))


def _range_of(bounds: Bounds | None, *runs: Estimate) -> float:
    """The largest possible difference; infinite where none is known."""
    limits = finite_bounds(bounds)
    if limits is not None:
        return limits[1] - limits[0]
    is_zero_one = all(run.se_bernoulli is not None for run in runs)
    if is_zero_one:
        return 1.0
    return math.inf


def _within_range(found: UnpairedDifference, most: float) -> UnpairedDifference:
    """With ends that a difference of such scores can have."""
    return replace(
        found,
        ci_low=_cut(found.ci_low, most),
        ci_high=_cut(found.ci_high, most),
        z_ci_low=_cut(found.z_ci_low, most),
        z_ci_high=_cut(found.z_ci_high, most),
    )


def _cut(end: float | None, most: float) -> float | None:
    if end is None:
        return None
    return min(most, max(-most, end))


def _rests_on_few(*runs: Estimate) -> bool:
    return any(_has_few(run) or _is_lopsided(run) for run in runs)


def _has_few(run: Estimate) -> bool:
    """Whether a mean rests on few right answers, few wrong ones, or few clusters with
    both."""
    if any(flag.startswith("few_informative") for flag in run.flags):
        return True
    if run.se_bernoulli is None:
        return False
    return run.n_prompts * min(run.estimate, 1 - run.estimate) < FEW


def _is_lopsided(run: Estimate) -> bool:
    """Whether the run's own interval says what its error, alike on both sides, cannot:
    several draws, weights."""
    if run.ci_low is None or run.ci_high is None:
        return False
    if run.method == "hull":  # resampled: lopsided by chance
        return False
    shorter, longer = sorted((run.estimate - run.ci_low, run.ci_high - run.estimate))
    return longer > LOPSIDED * shorter


def _differ_on_few(a: ArrayLike, b: ArrayLike) -> bool:
    """Whether answers, right or wrong, differ on few prompts."""
    first = np.asarray(a, dtype=np.float64)
    second = np.asarray(b, dtype=np.float64)
    if not (is_zero_one(first) and is_zero_one(second)):
        return False
    return bool(np.count_nonzero(first != second) < FEW)


def _are_skewed(flags: Sequence[tuple[str, ...]], scores: Sequence[ArrayLike]) -> bool:
    """Whether a part is skewed, of scores that do not all lie between 0 and 1 (whose
    largest cannot be far off)."""
    if not any("skewed" in own for own in flags):
        return False
    arrays = [np.asarray(each, np.float64) for each in scores]
    lowest = min(map(np.min, arrays))
    highest = max(map(np.max, arrays))
    return not 0 <= lowest <= highest <= 1


def _careful(by_t: UnpairedDifference, a: Estimate, b: Estimate) -> UnpairedDifference:
    """The hull of Welch's interval and of one whose halves are √(Σ halves² of the runs'
    own), and the larger p."""
    if by_t.p_value is None or by_t.ci_low is None or by_t.ci_high is None:
        return by_t
    if a.ci_low is None or a.ci_high is None or b.ci_low is None or b.ci_high is None:
        return by_t
    z, z_a, z_b = (z_quantile(level) for level in (by_t.level, a.level, b.level))
    below = math.hypot((a.estimate - a.ci_low) / z_a, (b.ci_high - b.estimate) / z_b)
    above = math.hypot((a.ci_high - a.estimate) / z_a, (b.estimate - b.ci_low) / z_b)
    towards_0 = above
    if by_t.difference > 0:
        towards_0 = below
    p = 1.0
    if towards_0:
        p = normal_p_value(by_t.difference / towards_0)
    p = max(by_t.p_value, p)
    low = min(by_t.ci_low, by_t.difference - z * below)
    high = max(by_t.ci_high, by_t.difference + z * above)
    if (low, high, p) == (by_t.ci_low, by_t.ci_high, by_t.p_value):
        return by_t
    reason = (
        f"{by_t.reason}; few are off a bound: not less than the runs' own intervals say"
    )
    return replace(
        by_t,
        ci_low=low,
        ci_high=high,
        p_value=p,
        method="welch_t_hull",
        reason=reason,
    )


def _estimate(run: Estimate | ArrayLike) -> Estimate:
    if isinstance(run, Estimate):
        return run
    return estimate_mean(run)


def _error(run: Estimate) -> float | None:
    """The headline error by its formula: unlike ``standard_error`` it may be 0."""
    if run.n_clusters is None:
        return run.se_clt
    return run.se_cr2


def _joint_error(a: Estimate, b: Estimate) -> float | None:
    error_a, error_b = _error(a), _error(b)
    if error_a is None or error_b is None:
        return None
    return math.hypot(error_a, error_b)


def _welch(a: Estimate, b: Estimate) -> float | None:
    """(se_a² + se_b²)² / (se_a⁴/ν_a + se_b⁴/ν_b), at least one error above 0."""
    error_a, error_b = _error(a), _error(b)
    df_a, df_b = a.degrees_of_freedom, b.degrees_of_freedom
    if error_a is None or error_b is None or df_a is None or df_b is None:
        return None
    share = error_a**2 / (error_a**2 + error_b**2)
    inverse = share**2 / df_a + (1 - share) ** 2 / df_b
    if not inverse:  # both errors are taken for known
        return math.inf
    return 1 / inverse


def _reason(error: float | None) -> str:
    if error is None:
        return "a run of a single prompt or cluster has no standard error"
    if error:
        return "independent prompts"
    return "both standard errors are 0"


def _flags(run: Estimate, name: str) -> tuple[str, ...]:
    return tuple(f"{flag}_{name}" for flag in run.flags)


@dataclass(frozen=True)
class PartiallyPairedDifference(NamedFigures):
    """A difference from common prompts and from those that only one run has."""

    #: first minus second, weighted by inverse variance; None with a ``reason``.
    difference: float | None
    standard_error: float | None  #: of it.
    ci_low: float | None  #: lower end of the t interval.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage.
    degrees_of_freedom: float | None  #: Σ w²/ν of the two parts, inverted.
    p_value: float | None  #: two-sided, Student's t.
    weight: float | None  #: of the paired difference, in (0, 1).
    paired: float  #: the difference on the common prompts.
    unpaired: float  #: that of the others.
    n_common: int  #: prompts of both.
    n_a: int  #: prompts that only the first has.
    n_b: int  #: prompts that only the second has.
    reason: str  #: why there is no figure, empty where there is.

    def __str__(self) -> str:
        sizes = f"{self.n_common} common prompts, {self.n_a} and {self.n_b} others"
        if self.difference is None:
            return f"no partially paired difference: {self.reason} ({sizes})"
        figures = figures_text(
            self.difference, self.standard_error, self.ci_low, self.ci_high
        )
        return f"{figures} (partially paired, {sizes}, p={self.p_value:.3g})"


def partially_paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    only_a: ArrayLike,
    only_b: ArrayLike,
    *,
    bounds: Bounds | None = None,
    level: float = 0.95,
) -> PartiallyPairedDifference:
    """Difference a − b of two runs of which each has prompts that the other has not.

    The paired difference of the common prompts and Welch's of the others are
    independent, and weighted by their inverse variances (Graybill and Deal 1959). Those
    are estimated, for which the variance is 1/(1/V_p + 1/V_u) · (1 + 4 Σ w(1−w)/ν)
    (Meier 1953). There is none for answers right or wrong where fewer than ten of the
    common prompts differ, or of the others of a run are right, or wrong: an error that
    is too small by chance would get all the weight. Nor is there of skewed scores
    beyond 0 to 1, such as costs: where the large ones are missing by chance, mean and
    error are both too small, and the weight too large (lognormal, σ 1 and .3, 30 common
    prompts, 30 and 500 others: 95 % covered .81). Fewer than 20 others are too few to
    look skewed (Beta(.3, 2), 100 common and 200: equal models were told apart in .22
    with 3, .15 with 5, .09 with 10, .06 with 20), and of normal scores 2, 3, 5 common
    prompts told them apart in .14, .10, .08: with fewer than 20 and 10 there is none.

    Args:
        a: score of each common prompt in the first run, finite, shape (n,).
        b: the same prompts in the second run.
        only_a: scores of prompts that only the first run has, shape (n_a,).
        only_b: scores of prompts that only the second run has, shape (n_b,).
        bounds: of the scores, to whose range the interval is cut.
        level: nominal coverage of the interval, in (0, 1).

    Raises:
        StatisticsError: for scores that are empty, misaligned or not finite.

    Examples:
        >>> both = [1, 2, 4, 3, 5] * 4, [0, 2, 2, 2, 4] * 4
        >>> print(partially_paired_difference(*both, [3, 1, 4, 5] * 5, [1, 2, 2, 0] * 5))
        1.122 ± 0.1384 [0.8366, 1.408] (partially paired, 20 common prompts, 20 and 20 others, p=2.24e-08)
    """
    first, second = estimate_mean(only_a), estimate_mean(only_b)
    paired = paired_difference(a, b, level=as_level(level))
    rest = unpaired_difference(first, second, level=level)
    none = PartiallyPairedDifference(
        difference=None,
        standard_error=None,
        ci_low=None,
        ci_high=None,
        level=level,
        degrees_of_freedom=None,
        p_value=None,
        weight=None,
        paired=paired.difference,
        unpaired=rest.difference,
        n_common=paired.n_prompts,
        n_a=rest.n_prompts_a,
        n_b=rest.n_prompts_b,
        reason="",
    )
    parts = _parts_with_error(paired, rest)
    if len(parts) < 2:
        return replace(
            none, reason="one of its parts has no standard error to weigh it by"
        )
    reason = ""
    if _differ_on_few(a, b) or _rests_on_few(first, second):
        reason = (
            "the error of one of its parts rests on fewer than ten prompts, too unsure "
            "to weigh it by"
        )
    elif none.n_common < FEWEST_COMMON or min(none.n_a, none.n_b) < FEWEST_OTHERS:
        reason = (
            f"it takes {FEWEST_COMMON} common prompts and {FEWEST_OTHERS} others of "
            "each to tell their errors"
        )
    elif _are_skewed((paired.flags, first.flags, second.flags), (a, b, only_a, only_b)):
        reason = (
            "the scores are skewed: an error that is small by chance would come with a "
            "mean that is"
        )
    if reason:
        return replace(none, reason=reason)
    return _combined(none, parts, _range_of(bounds, first, second))


def _parts_with_error(
    *parts: PairedDifference | UnpairedDifference,
) -> list[tuple[float, float]]:
    """Variance and degrees of freedom of those that have an error."""
    found = []
    for part in parts:
        if part.standard_error and part.degrees_of_freedom:
            found.append((part.standard_error**2, part.degrees_of_freedom))
    return found


def _combined(
    none: PartiallyPairedDifference, parts: list[tuple[float, float]], most: float
) -> PartiallyPairedDifference:
    """Both parts by their inverse variances; ends that such scores can have."""
    (v_p, df_p), (v_u, df_u) = parts
    weight = v_u / (v_p + v_u)
    rest = 1 - weight
    variance = v_p * weight * (1 + 4 * weight * rest * (1 / df_p + 1 / df_u))
    df = 1 / (weight**2 / df_p + rest**2 / df_u)
    difference = weight * none.paired + rest * none.unpaired
    error = math.sqrt(variance)
    half = t_quantile(none.level, df) * error
    return replace(
        none,
        difference=difference,
        standard_error=error,
        ci_low=max(-most, difference - half),
        ci_high=min(most, difference + half),
        degrees_of_freedom=df,
        p_value=t_p_value(difference / error, df),
        weight=weight,
    )
