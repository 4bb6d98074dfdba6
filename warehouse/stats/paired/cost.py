"""What answers cost: means, cost for each solved prompt and ratios of two models
(statistics.md §17).

Costs are skewed, so intervals are the hull of Student's t and bootstrap-t on the
logarithm.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    ROUNDING,
    Clusters,
    FloatArray,
    as_clusters,
    as_level,
    as_scores,
    check_length,
    number_of,
    unit_sums,
)
from warehouse.stats.core.moments import mean_of, skewness
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.core.sample import Sample, describe
from warehouse.stats.intervals.bootstrap_t import (
    FEWEST_UNITS,
    StudentisedDraws,
    grouped,
    resample_counts,
)

#: Units needed for each squared unit of skewness.
UNITS_PER_SKEW = 40
#: Of the logarithm of an interval's end over its figure, so that it stays a number.
LONGEST = 600.0
HEAVY_TAIL, SKEW_GATE, NOTHING_SOLVED = "heavy_tail", "skew_gate", "nothing_solved"
NO_COSTS = "all costs are 0"


@dataclass(frozen=True)
class CostFigure(NamedFigures):
    """A mean of costs, or a ratio with one in it, and its interval."""

    #: the figure; None where it is not defined, with a ``reason``.
    estimate: float | None
    #: of the figure, its own size times ``log_error``; None with a ``reason``.
    standard_error: float | None
    log_error: float | None  #: of its logarithm.
    low: float | None  #: lower end of the interval.
    #: upper end; None with a low end where the interval has no upper one.
    high: float | None
    level: float  #: nominal coverage.
    df: float | None  #: degrees of freedom, n − 1 or Satterthwaite's.
    method: str  #: ``"ci_log"``, ``"log_delta"`` or ``"fieller"``.
    n_prompts: int  #: prompts.
    n_clusters: int | None  #: clusters, None without.
    #: ``heavy_tail`` where the interval is too short, ``unbounded``, ``whole_line``.
    flags: tuple[str, ...]
    reason: str  #: why a figure is missing; empty if none is.

    def __str__(self) -> str:
        if self.estimate is None:
            return self.reason
        return f"{self.estimate:.4g} [{_or_dash(self.low)}, {_or_dash(self.high)}]"


def mean_cost(
    costs: ArrayLike, clusters: ArrayLike | None = None, *, level: float = 0.95
) -> CostFigure:
    """The mean cost of an answer, c̄·exp(±t·s(c/c̄)/√n), an end no nearer than that of
    bootstrap-t on the logarithm.

    Args:
        costs: of each prompt, the mean over its draws, from 0, shape (n,).
        clusters: cluster of each prompt, shape (n,), or None.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: arguments out of range, misaligned or not finite.

    Examples:
        >>> print(mean_cost([2, 4, 3, 5, 8, 2, 3, 5]))
        4 [2.633, 6.458]
    """
    values, groups = _costs(costs), _groups(costs, clusters)
    mean = mean_of(values)
    if not mean:
        return _without_error(mean, len(values), groups, level, "ci_log", NO_COSTS)
    return _figure(mean, values / mean - 1, groups, level, "ci_log", (values, None))


def cost_per_solved(
    costs: ArrayLike,
    scores: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    level: float = 0.95,
    method: str = "log_delta",
) -> CostFigure:
    """What was spent for each prompt that was solved, Σc/Σy, failures paid for as well.

    Args:
        costs: of each prompt, from 0, shape (n,).
        scores: of the same prompts, from 0 to 1, shape (n,).
        clusters: cluster of each prompt, shape (n,), or None.
        level: nominal coverage, in (0, 1).
        method: ``"log_delta"``, or ``"fieller"``, which says so where no upper end is
            known.

    Raises:
        StatisticsError: arguments out of range, misaligned or not finite, or an unknown
            method.

    Examples:
        >>> print(cost_per_solved([2, 4, 3, 5, 8, 2, 3, 5], [1, 1, 0, 1, 0, 1, 1, 0]))
        6.4 [2.386, 17.17]
    """
    values, solved = _costs(costs), as_scores(scores)
    groups = _groups(costs, clusters)
    check_length(len(solved), len(values), "scores")
    if solved.min() < 0 or solved.max() > 1:
        raise StatisticsError(
            "`scores` must lie between 0 and 1: they say how much of a prompt was "
            "solved"
        )
    if method not in ("log_delta", "fieller"):
        raise StatisticsError(
            f"`method` must be log_delta or fieller, found {method!r}"
        )
    cost, quality = mean_of(values), mean_of(solved)
    n = len(values)
    if not quality:
        return _without_error(None, n, groups, level, method, NOTHING_SOLVED)
    if not cost:
        return _without_error(0.0, n, groups, level, method, NO_COSTS)
    u, v = values / cost, solved / quality
    plain = _figure(cost / quality, unless_rounding(u - v, u, v), groups, level, method)
    if method == "log_delta" or plain.df is None:
        return plain
    low, high, flags = _fieller(u, v, groups, t_quantile(plain.level, plain.df))
    if low is not None:
        low = low * cost / quality
    if high is not None:
        high = high * cost / quality
    return replace(plain, low=low, high=high, flags=(*plain.flags, *flags))


def _fieller(
    u: FloatArray, v: FloatArray, groups: Clusters | None, t: float
) -> tuple[float | None, float | None, tuple[str, ...]]:
    """Ends of E[u]/E[v] where both means are 1: roots of aθ² + bθ + k, in units of the
    estimate."""
    of_u, of_v, of_sum = (
        (describe(values, groups).se or 0.0) ** 2 for values in (u, v, u + v)
    )
    covariance = (of_sum - of_u - of_v) / 2
    a = 1 - t**2 * of_v
    b = -2 * (1 - t**2 * covariance)
    k = 1 - t**2 * of_u
    root = math.sqrt(max(0.0, b**2 - 4 * a * k))
    if a > 0:
        return max(0.0, (-b - root) / (2 * a)), (-b + root) / (2 * a), ()
    if a == 0:
        low = -k / b
    else:
        low = (-b - root) / (2 * a)
    if k <= 0 or low <= 0:  # no positive ratio is excluded
        return None, None, ("whole_line",)
    return low, None, ("unbounded",)


def cost_ratio(
    costs_a: ArrayLike,
    costs_b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    level: float = 0.95,
) -> CostFigure:
    """Mean cost of the first over that of the second on the same prompts, with an
    interval by logarithms.

    Arguments and errors as for `mean_cost`, prompts in the same order.

    Examples:
        >>> print(cost_ratio([2, 4, 3, 5, 8, 2, 3, 5], [1, 1, 2, 2, 3, 1, 1, 1]))
        2.667 [1.989, 3.575]
    """
    a, b, groups = two_costs(costs_a, costs_b, clusters)
    mean_a, mean_b = mean_of(a), mean_of(b)
    if not mean_a or not mean_b:
        reason = "all costs of one of them are 0"
        return _without_error(None, len(a), groups, level, "ci_log", reason)
    return _figure(mean_a / mean_b, log_terms(a, b), groups, level, "ci_log", (a, b))


def is_gated(sample: Sample) -> bool:
    """Whether units (prompts, or clusters summed) are too few for the skew of what is
    averaged: n < 40·skew²."""
    totals = sample.totals
    return len(totals) < UNITS_PER_SKEW * skewness(totals) ** 2


def log_spread(costs: FloatArray) -> float:
    """Standard deviation of the logarithm of costs above 0."""
    paid = costs[costs > 0]
    if len(paid) > 1:
        return float(np.log(paid).std(ddof=1))
    return 0.0


def log_draws(
    a: FloatArray, b: FloatArray | None, terms: Sample
) -> StudentisedDraws | None:
    """Bootstrap-t of the logarithm of ā/b̄, or of ā without b; None with few units.

    t* = (ln r* − ln r)/√v*, v* = G/(G − 1) Σ e*², e* a unit's a/Σa* − b/Σb* (of a alone
    a/Σa* − n/Σn*).
    """
    if not terms.se or terms.df is None:
        return None
    groups = terms.clusters
    if b is None:
        b = np.ones(len(a))
    sums = np.array([unit_sums(a, groups), unit_sums(b, groups)])
    if sums.shape[1] < FEWEST_UNITS:
        return None
    top = grouped(sums / sums.sum(axis=1, keepdims=True), None, seed=0)[0]
    top = top[:, np.lexsort(top)]
    g = top.shape[1]
    counts = resample_counts(g, 0).astype(np.float64)
    with np.errstate(invalid="ignore", divide="ignore"):
        own_a, own_b = (counts @ top.T).T
        log_ratio = np.log(own_a / own_b)
        squares = counts @ np.array([top[0] ** 2, top[0] * top[1], top[1] ** 2]).T
        parts = squares / np.array([own_a**2, -own_a * own_b / 2, own_b**2]).T
        variance = g / (g - 1) * parts.sum(axis=1)
        drawn = log_ratio / np.sqrt(np.maximum(variance, 0.0))
    no_ratio = np.abs(log_ratio) <= ROUNDING
    beyond = np.where(no_ratio, 0.0, np.copysign(np.inf, log_ratio))
    values = np.where(np.isfinite(drawn), drawn, beyond)
    return StudentisedDraws(np.sort(values), terms.df)


def log_terms(a: FloatArray, b: FloatArray) -> FloatArray:
    """What each prompt adds to the logarithm of the ratio of means."""
    u, v = a / mean_of(a), b / mean_of(b)
    return unless_rounding(u - v, u, v)


def unless_rounding(values: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """Differences of two, all 0 where they are only rounding."""
    scale = max(np.abs(a).max(), np.abs(b).max())
    spread = float(values.max() - values.min())
    if spread > ROUNDING * scale:
        return values
    return np.full_like(values, round(float(values.mean()), 15))


def _figure(
    estimate: float,
    terms: FloatArray,
    groups: Clusters | None,
    level: float,
    method: str,
    of: tuple[FloatArray, FloatArray | None] | None = None,
) -> CostFigure:
    """A figure whose logarithm has the error of the mean of ``terms``; with what it is
    of, its interval is the hull of Student's t and bootstrap-t."""
    sample = describe(terms, groups)
    plain = _without_error(estimate, sample.n, groups, level, method, "")
    error = sample.se or None
    if error is None:
        reason = "nothing varies"
        if (sample.n_clusters or sample.n) == 1:
            reason = "one prompt or cluster alone"
        return replace(plain, df=sample.df, reason=reason)
    low = high = None
    if sample.df:
        t = t_quantile(plain.level, sample.df)
        nearest, farthest = _reach(sample, of, plain.level, t)
        low = estimate * math.exp(-_held(farthest * error))
        high = estimate * math.exp(-_held(nearest * error))
    return replace(
        plain,
        standard_error=estimate * error,
        log_error=error,
        low=low,
        high=high,
        df=sample.df,
        flags=flags_of(heavy_tail=is_gated(sample)),
    )


def _reach(
    sample: Sample,
    of: tuple[FloatArray, FloatArray | None] | None,
    level: float,
    t: float,
) -> tuple[float, float]:
    """How far the ends lie off the logarithm, in errors: upper end, lower end."""
    draws = None
    if of is not None:
        draws = log_draws(*of, sample)
    if draws is None:
        return -t, t
    nearest, farthest = draws.ends(level)
    if not math.isfinite(farthest - nearest):  # resamples of too few units
        return -t, t
    return nearest, farthest


def _held(logarithm: float) -> float:
    """Held to what makes a number."""
    return max(-LONGEST, min(logarithm, LONGEST))


def _without_error(
    estimate: float | None,
    n: int,
    groups: Clusters | None,
    level: float,
    method: str,
    reason: str,
) -> CostFigure:
    return CostFigure(
        estimate=estimate,
        standard_error=None,
        log_error=None,
        low=None,
        high=None,
        level=as_level(level),
        df=None,
        method=method,
        n_prompts=n,
        n_clusters=number_of(groups),
        flags=(),
        reason=reason,
    )


def _or_dash(end: float | None) -> str:
    if end is None:
        return "-"
    return f"{end:.4g}"


def _costs(costs: ArrayLike, name: str = "costs") -> FloatArray:
    values = as_scores(costs, name)
    if values.min() < 0:
        raise StatisticsError(
            f"`{name}` holds {values.min():g} at index {int(values.argmin())}; a cost "
            "is 0 or more"
        )
    return values


def two_costs(
    a: ArrayLike, b: ArrayLike, clusters: ArrayLike | None
) -> tuple[FloatArray, FloatArray, Clusters | None]:
    first, second = _costs(a, "costs_a"), _costs(b, "costs_b")
    check_length(len(second), len(first), "costs_b")
    return first, second, _groups(first, clusters)


def _groups(values: ArrayLike, clusters: ArrayLike | None) -> Clusters | None:
    if clusters is None:
        return None
    return as_clusters(clusters, np.size(values))
