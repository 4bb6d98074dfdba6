"""One row over the training seeds of a model: its mean over prompts and seeds, both
sampled (statistics.md §20 A).

The interval takes for the prompts the default interval of the parts of the prompts, as
means of several draws, and for the seeds Wilson's for bounded scores at V_s (Student's
t where there are no bounds). Each side is the root of the sum of both squared
distances, the first without what draws and interaction move (they are in V_s already);
it is never narrower than the interval of pooled draws. In the middle of the scale that
is ± sqrt(t²_{ν_p}(V_p − V_i) + t²_{S−1}V_s). Coverage over the cells that were
simulated: .893 to 1, median .975.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.draws import PROMPTS_FIXED, PROMPTS_SAMPLED
from warehouse.stats.core.inputs import (
    Bounds,
    FloatArray,
    as_level,
    as_scores,
    check_within,
    finite_bounds,
)
from warehouse.stats.core.results import (
    Estimate,
    Interval,
    NamedFigures,
    ends_of,
    ends_text,
    flags_of,
)
from warehouse.stats.core.sample import Link, find_link, linked, linked_interval
from warehouse.stats.intervals.closed_form import interval_t, interval_wilson_bounded
from warehouse.stats.intervals.estimate_mean import estimate_mean
from warehouse.stats.rows.seed_fit import SeedFit, as_cells, fit_seeds

#: Times the interval of pooled draws from which on seeds make most of a row's, and from
#: which on few say nothing.
DOMINATING, SAYING_NOTHING = 2.0, 4.0
#: Flag of a row whose interval says nothing for want of seeds.
TOO_FEW = "seeds_too_few"
#: Seeds up to which an interval may say nothing.
FEW_SEEDS = 3


@dataclass(frozen=True)
class SeedRow(NamedFigures):
    """The figure of one row over S training seeds."""

    estimate: float  #: mean over prompts and seeds, all prompts alike.
    #: sqrt(max(V_p + V_s − V_i, V_p, V_s)); None where not defined or 0.
    standard_error: float | None
    ci_low: float | None  #: lower end of the interval, None where none can be given.
    ci_high: float | None  #: upper end of it.
    level: float  #: nominal coverage.
    n_prompts: int  #: prompts that some seed has.
    n_clusters: int | None  #: clusters among them, None without.
    n_seeds: int  #: S.
    #: figure of each seed, as if it had every prompt (m + b_s).
    seed_means: tuple[float, ...]
    #: standard deviation of the seeds' figures; None for one seed.
    seed_sd: float | None
    seed_sd_net: float | None  #: the same without what draws alone would make.
    v_prompts: float | None  #: V_p, on the scale before a link, as the next two.
    v_seeds: float | None  #: V_s.
    v_interaction: float | None  #: V_i.
    #: ν_p; no single number of degrees of freedom goes with ``standard_error``.
    df_prompts: float | None
    df_seeds: int | None  #: S − 1.
    #: lower end of the interval that takes the seeds for draws.
    pooled_low: float | None
    pooled_high: float | None  #: upper end of it.
    method: str  #: ``"seeds_and_prompts"``, ``"seeds"`` (prompts fixed), or for one seed that of `estimate_mean`.
    reason: str  #: why this method, or why there is no interval.
    #: of `estimate_mean`, with ``two_seeds``, ``seeds_dominate``, ``seeds_too_few``.
    flags: tuple[str, ...]
    estimand: str  #: ``"prompts_sampled"``, or ``"prompts_fixed"`` where only the seeds are random.
    pooled: Estimate | None = None  #: the estimate that takes the seeds for draws.

    def __str__(self) -> str:
        ends = "no interval"
        if self.ci_low is not None and self.ci_high is not None:
            ends = ends_text(self.ci_low, self.ci_high)
        return f"{self.estimate:.4g} {ends} (S={self.n_seeds}, n={self.n_prompts})"


def row_over_seeds(
    cells: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    link: str = "identity",
    bounds: Bounds | None = None,
    level: float = 0.95,
    estimand: str = PROMPTS_SAMPLED,
    method: str = "auto",
) -> SeedRow:
    """The mean of a model over prompts and its whole training seeds.

    Args:
        cells: mean over draws of each seed on each prompt, NaN where it has none, shape
            (S, n), S at least 2: the whole seeds (`whole_seeds`).
        clusters: cluster of each prompt, integers or strings, shape (n,), or None.
        weights: weight of each prompt, at least 0, shape (n,), or None.
        link: from the mean to the figure, as of `estimate_mean`.
        bounds: smallest and largest possible score; None or an infinite end for none.
        level: nominal coverage, in (0, 1).
        estimand: ``prompts_sampled``, or ``prompts_fixed``: other seeds on these very
            prompts.
        method: of the interval of the prompts, as of `estimate_mean`.

    Raises:
        StatisticsError: another shape, fewer than two seeds, arguments out of range.

    Examples:
        >>> runs = [[1, 1, 0, 1, 0, 1, 1, 0], [1, 1, 0, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 1, 1, 1]]
        >>> print(row_over_seeds(runs, bounds=(0, 1)))
        0.6667 [0.3433, 0.8813] (S=3, n=8)
    """
    level, curve, limits = as_level(level), find_link(link), finite_bounds(bounds)
    table = as_cells(cells)
    if len(table) < 2:
        raise StatisticsError(
            f"a row over seeds needs two at least, found {len(table)}; `estimate_mean` "
            "is for one"
        )
    if curve.name != "identity":
        limits = None
    if limits is not None:
        check_within(table[np.isfinite(table)], limits)
    fit = fit_seeds(table, clusters=clusters, weights=weights)
    pooled = _pooled(fit, clusters, weights, limits, level, method)
    return row_of_fit(fit, pooled, curve, limits, estimand)


def row_of_fit(
    fit: SeedFit,
    pooled: Estimate,
    curve: Link,
    limits: tuple[float, float] | None,
    estimand: str = PROMPTS_SAMPLED,
) -> SeedRow:
    """The row of parts of prompts and seeds that are at hand.

    Args:
        pooled: default estimate of the parts of the prompts, before the link.
        curve: from the mean to the figure.
        limits: bounds of the scores, or None.
    """
    if estimand == PROMPTS_FIXED:
        of_seeds = _seeds_interval(fit, limits, pooled.level)
        return _row(
            fit,
            pooled,
            of_seeds,
            curve,
            limits,
            ("seeds", "only the seeds are random", estimand),
        )
    interval = _interval(fit, pooled, limits, pooled.level)
    reason = f"seeds and prompts are random; of the prompts: {pooled.reason}"
    if interval is None:
        reason = "a single prompt or cluster"
        if fit.v_prompts is not None:
            reason = pooled.reason
    return _row(
        fit, pooled, interval, curve, limits, ("seeds_and_prompts", reason, estimand)
    )


def figures_over_seeds(
    figures: ArrayLike, *, bounds: Bounds | None = None, level: float = 0.95
) -> SeedRow:
    """The mean of figures that were published of each seed, without their samples: only
    the seeds are random.

    Args:
        figures: of each seed, shape (S,), S at least 2.
        bounds: of the figures, None or an infinite end for none.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: fewer than two figures, or figures that are not finite or out
            of bounds.

    Examples:
        >>> print(figures_over_seeds([0.25, 0.31, 0.28], bounds=(0, 1)))
        0.28 [0.2121, 0.3597] (S=3, n=0)
    """
    values, level = as_scores(figures, "figures"), as_level(level)
    limits = finite_bounds(bounds)
    if len(values) < 2:
        raise StatisticsError(
            f"a row over seeds needs two figures at least, found {len(values)}"
        )
    if limits is not None:
        check_within(values, limits)
    mean = float(values.mean())
    parts = values - mean
    variance = float(parts @ parts) / (len(values) - 1) / len(values)
    fit = SeedFit(mean, np.empty(0), parts, None, None, variance, None)
    curve = find_link("identity")
    interval, reason = None, "the published figures of the seeds are all equal"
    if variance:
        interval = _seeds_interval(fit, limits, level)
        reason = "published figures of the seeds; only the seeds are random"
    words = ("seeds", reason, PROMPTS_FIXED)
    return _row(fit, None, interval, curve, limits, words, level)


def _row(
    fit: SeedFit,
    pooled: Estimate | None,
    interval: Interval | None,
    curve: Link,
    limits: tuple[float, float] | None,
    words: tuple[str, str, str],
    level: float | None = None,
) -> SeedRow:
    method, reason, estimand = words
    if level is None and pooled is not None:
        level = pooled.level
    level = level or 0.95
    without_seeds = _without_seeds(pooled, level)
    slope = abs(curve.slope(fit.mean))
    error = _error(fit, estimand) or None
    if error is not None:
        error = slope * error
    seed_sd, seed_sd_net = _spread(fit)
    if seed_sd_net is not None:
        seed_sd_net = slope * seed_sd_net
    flags: tuple[str, ...] = ()
    n_clusters = None
    if pooled is not None:
        flags, n_clusters = pooled.flags, pooled.n_clusters
    if fit.v_seeds:  # the parts of the prompts are alike, what they are made of is not
        of_spread = ("all_scores_equal", "zero_standard_error")
        flags = tuple(flag for flag in flags if flag not in of_spread)
    low, high = ends_of(linked_interval(curve, interval))
    pooled_low, pooled_high = ends_of(linked_interval(curve, without_seeds))
    return SeedRow(
        estimate=linked(curve, fit.mean),
        standard_error=error,
        ci_low=low,
        ci_high=high,
        level=level,
        n_prompts=fit.n_prompts,
        n_clusters=n_clusters,
        n_seeds=fit.n_seeds,
        seed_means=tuple(
            float(linked(curve, fit.mean + part)) for part in fit.seed_parts
        ),
        seed_sd=slope * seed_sd,
        seed_sd_net=seed_sd_net,
        v_prompts=fit.v_prompts,
        v_seeds=fit.v_seeds,
        v_interaction=fit.v_interaction,
        df_prompts=fit.df_prompts,
        df_seeds=fit.n_seeds - 1,
        pooled_low=pooled_low,
        pooled_high=pooled_high,
        method=method,
        reason=reason,
        flags=(*flags, *seed_flags(fit.n_seeds, interval, without_seeds, limits)),
        estimand=estimand,
        pooled=pooled,
    )


def _pooled(
    fit: SeedFit,
    clusters: ArrayLike | None,
    weights: ArrayLike | None,
    limits: tuple[float, float] | None,
    level: float,
    method: str,
) -> Estimate:
    """The default interval of the parts of the prompts, as means of several draws.

    Where seeds lack prompts, a part may lie beyond a bound by what its seed adds; it
    counts as the bound then.
    """
    if limits is None:
        values = fit.prompt_parts
    else:
        values = np.clip(fit.prompt_parts, *limits)
    return estimate_mean(
        values,
        clusters=clusters,
        weights=weights,
        bounds=limits,
        n_draws=fit.n_seeds,
        level=level,
        method=method,
    )


def _without_seeds(pooled: Estimate | None, level: float) -> Interval | None:
    """The interval of the prompts as if there were no seeds."""
    if pooled is None or pooled.ci_low is None or pooled.ci_high is None:
        return None
    return Interval(pooled.ci_low, pooled.ci_high, level, pooled.method)


def _seeds_interval(
    fit: SeedFit, limits: tuple[float, float] | None, level: float
) -> Interval:
    """Interval of the seeds alone; the mean itself where they do not differ."""
    error, df = math.sqrt(fit.v_seeds or 0.0), fit.n_seeds - 1
    if limits is None:
        found = interval_t(fit.mean, error, df, level=level)
    else:
        found = interval_wilson_bounded(fit.mean, error, df, bounds=limits, level=level)
    return found or Interval(fit.mean, fit.mean, level, "seeds")


def _interval(
    fit: SeedFit, pooled: Estimate, limits: tuple[float, float] | None, level: float
) -> Interval | None:
    if pooled.ci_low is None or pooled.ci_high is None or fit.v_prompts is None:
        return None
    seeds = _seeds_interval(fit, limits, level)
    share = 0.0
    if fit.v_prompts > 0:
        share = max(0.0, 1 - (fit.v_interaction or 0.0) / fit.v_prompts)
    of_prompts = Interval(pooled.ci_low, pooled.ci_high, level, pooled.method)
    return interval_over_parts(
        fit.mean,
        of_prompts,
        share,
        (fit.mean - seeds.low, seeds.high - fit.mean),
        limits,
    )


def interval_over_parts(
    mean: float,
    pooled: Interval,
    share: float,
    of_seeds: tuple[float, float],
    limits: tuple[float, float] | None,
) -> Interval:
    """The interval of a row from those of its prompts and of its seeds.

    Args:
        mean: the figure.
        pooled: the interval that takes the seeds for draws.
        share: q, of V_p what is not draws or interaction, in [0, 1].
        of_seeds: from the figure to the ends of the seeds' interval.
        limits: bounds of the metric, or None.
    """
    below, above = mean - pooled.low, pooled.high - mean
    low = mean - max(below, math.sqrt(share * below**2 + of_seeds[0] ** 2))
    high = mean + max(above, math.sqrt(share * above**2 + of_seeds[1] ** 2))
    if limits is not None:
        low, high = max(low, limits[0]), min(high, limits[1])
    return Interval(low, high, pooled.level, "seeds_and_prompts")


def _error(fit: SeedFit, estimand: str) -> float | None:
    if fit.v_seeds is None:
        return None
    if estimand == PROMPTS_FIXED:
        return math.sqrt(fit.v_seeds)
    if fit.v_prompts is None or fit.v_interaction is None:
        return None
    return math.sqrt(
        max(fit.v_prompts + fit.v_seeds - fit.v_interaction, fit.v_prompts, fit.v_seeds)
    )


def _spread(fit: SeedFit) -> tuple[float, float | None]:
    """Standard deviation of the seeds' figures, and without what draws alone would
    make."""
    v_seeds = fit.v_seeds or 0.0
    if fit.v_interaction is None:
        net = None
    else:
        net = math.sqrt(fit.n_seeds * max(0.0, v_seeds - fit.v_interaction))
    return math.sqrt(fit.n_seeds * v_seeds), net


def seed_flags(
    n_seeds: int,
    interval: Interval | None,
    pooled: Interval | None,
    limits: tuple[float, float] | None,
) -> tuple[str, ...]:
    """``two_seeds``, ``seeds_dominate``, ``seeds_too_few``: what few seeds do to an
    interval.

    Args:
        interval: of the row.
        pooled: that which takes the seeds for draws.
        limits: bounds of the metric.
    """
    if interval is None or pooled is None:
        return flags_of(two_seeds=n_seeds == 2)
    width, of_draws = interval.high - interval.low, pooled.high - pooled.low
    dominate = width > DOMINATING * of_draws
    half_range = limits is not None and width > (limits[1] - limits[0]) / 2
    says_nothing = width > SAYING_NOTHING * of_draws or (dominate and half_range)
    return flags_of(
        two_seeds=n_seeds == 2,
        seeds_dominate=dominate,
        seeds_too_few=n_seeds <= FEW_SEEDS and says_nothing,
    )


def seed_range(means: Sequence[float] | FloatArray) -> tuple[float, float]:
    """The lowest and the highest figure of the seeds."""
    return float(min(means)), float(max(means))
