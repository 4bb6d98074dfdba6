"""The figure of a whole benchmark from a stratified sample of its prompts
(statistics.md §10)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.draws import PROMPTS_FIXED, PROMPTS_SAMPLED
from warehouse.stats.core.inputs import (
    Bounds,
    FloatArray,
    as_floats,
    as_level,
    check_length,
)
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.intervals.bootstrap_t import StudentisedDraws, studentised_draws
from warehouse.stats.intervals.defaults import SKEWED_MEAN
from warehouse.stats.subsets.design import FEW, FULL_BENCHMARK
from warehouse.stats.subsets.sample import (
    FEW_OFF,
    Sampled,
    StratifiedSample,
    as_sample,
    bounded_interval,
    unbounded_interval,
)

ESTIMANDS = (FULL_BENCHMARK, PROMPTS_SAMPLED, PROMPTS_FIXED)
#: Share of the sample without a score above which only bounds are given.
MOST_MISSING = 0.05


@dataclass(frozen=True)
class SubsetEstimate(NamedFigures):
    """The figure of all N prompts, from m of them."""

    #: θ̂ = Σ W_h ȳ_h; None where more than 5 % of the sample have no score.
    estimate: float | None
    standard_error: float | None  #: sqrt(v); None where not defined or 0.
    ci_low: float | None  #: lower end of the interval; None with a ``reason``.
    ci_high: float | None  #: upper end of it.
    level: float  #: nominal coverage of the interval.
    degrees_of_freedom: float | None  #: ν = Σ (n_h − 1).
    n_prompts: int  #: N.
    n_selected: int  #: m.
    n_scored: int  #: prompts of the sample with a score.
    n_strata: int  #: strata, after those that were joined.
    effective_n: float | None  #: n_e of Wilson's interval; None where it is another.
    estimand: str  #: ``full_benchmark``, ``prompts_sampled`` or ``prompts_fixed``.
    method: str  #: of the interval.
    #: smallest θ̂ with the missing scores filled in; None where all are there, or
    #: scores have no bounds.
    bound_low: float | None
    bound_high: float | None  #: largest.
    bound_ci_low: float | None  #: lower end of the hull of the intervals of both.
    bound_ci_high: float | None  #: upper end.
    #: ``few_prompts`` (m < 25), ``few_informative_prompts`` (fewer than 5 scores above,
    #: or at or below, the middle), ``skewed`` (without bounds), ``missing_in_sample``,
    #: ``many_missing_in_sample``, ``joined_strata``.
    flags: tuple[str, ...]
    reason: str  #: why there is no figure or interval.
    #: bootstrap distribution behind a hull, for tests; not in `to_dict`.
    draws: StudentisedDraws | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The figures by name."""
        named = NamedFigures.to_dict(replace(self, draws=None))
        del named["draws"]
        return named


def estimate_subset(
    scores: ArrayLike,
    stratum: ArrayLike,
    selected: ArrayLike,
    *,
    bounds: Bounds | None = None,
    estimand: str = FULL_BENCHMARK,
    clusters: ArrayLike | None = None,
    within: ArrayLike | None = None,
    n_draws: ArrayLike | None = None,
    level: float = 0.95,
) -> SubsetEstimate:
    """The mean over a benchmark's N prompts, from a stratified sample of them.

    Args:
        scores: of the prompts of the sample, NaN for those outside it and without a
            score, shape (N,).
        stratum: of each prompt, whole numbers from 0, shape (N,).
        selected: whether a prompt is in the sample, shape (N,).
        bounds: of the scores; None, or an end that is None: unbounded.
        estimand: ``full_benchmark``: these N prompts as they were scored;
            ``prompts_sampled``: prompts like them; ``prompts_fixed``: these prompts,
            generated again (needs ``within``).
        clusters: for ``prompts_sampled``: cluster of each prompt, shape (N,); None:
            each by itself.
        within: for ``prompts_fixed``: variance over the draws of each prompt, shape
            (N,), NaN outside.
        n_draws: for ``prompts_fixed``: draws of each prompt, shape (N,).
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: shapes that do not fit, infinite scores, scores outside the
            bounds or the sample, no prompt in the sample, an unknown estimand.
    """
    as_level(level)
    sample = as_sample(scores, stratum, selected)
    options = _Options(
        as_range(bounds),
        _checked_estimand(estimand),
        as_labels(clusters, sample.n),
        level,
        within,
        n_draws,
    )
    _check_bounds(sample, options.bounds)
    flags = flags_of(missing_in_sample=sample.n_missing)
    filled = None
    if sample.n_missing and options.bounds is not None:
        filled = _filled(sample, options)
    if sample.n_missing > MOST_MISSING * sample.n_selected:
        reason = f"{sample.n_missing} of {sample.n_selected} prompts have no score"
        estimate = _without(sample, options, reason)
        estimate = replace(estimate, flags=(*flags, "many_missing_in_sample"))
        return _with_bounds(estimate, filled, None)
    estimate = _scored(sample, options)
    estimate = replace(estimate, flags=flags + estimate.flags)
    return _with_bounds(estimate, filled, options.bounds)


@dataclass(frozen=True)
class _Options:
    bounds: tuple[float, float] | None
    estimand: str
    clusters: NDArray[np.intp] | None
    level: float
    within: ArrayLike | None
    n_draws: ArrayLike | None


def _scored(sample: StratifiedSample, options: _Options) -> SubsetEstimate:
    """From the scored prompts of the sample alone."""
    joined = sample.joined()
    variance, df = _variance_of(joined, options)
    theta = joined.estimate
    bounded = options.bounds is not None
    low, width = 0.0, 1.0
    y, centre, draws = joined.y, theta, None
    if options.bounds is not None:
        low, width = options.bounds[0], options.bounds[1] - options.bounds[0]
        y = np.clip((y - low) / width, 0, 1)
        centre = min(max((theta - low) / width, 0.0), 1.0)
    elif variance:
        draws = _draws(joined, options, df)
    error = scaled = ci_low = ci_high = None
    if variance is not None:
        scaled = variance / width**2
        error = math.sqrt(variance) or None
    basis = Sampled(
        centre, scaled, df, y, joined.n, options.estimand == FULL_BENCHMARK, draws
    )
    if bounded:
        found = bounded_interval(basis, options.level)
    else:
        found = unbounded_interval(basis, options.level)
    ends, effective, method, reason = found
    if ends is not None:
        ci_low, ci_high = low + width * ends[0], low + width * ends[1]
    is_skewed = draws is not None and abs(joined.skewness) > SKEWED_MEAN
    return SubsetEstimate(
        estimate=theta,
        standard_error=error,
        ci_low=ci_low,
        ci_high=ci_high,
        level=options.level,
        degrees_of_freedom=df or None,
        n_prompts=sample.n,
        n_selected=sample.n_selected,
        n_scored=basis.size,
        n_strata=joined.n_strata,
        effective_n=effective,
        estimand=options.estimand,
        method=method,
        bound_low=None,
        bound_high=None,
        bound_ci_low=None,
        bound_ci_high=None,
        flags=flags_of(
            few_prompts=basis.size < FEW,
            few_informative_prompts=bounded and basis.n_off < FEW_OFF,
            skewed=is_skewed,
            joined_strata=joined.n_strata < sample.n_strata,
        ),
        reason=reason,
        draws=draws,
    )


def _variance_of(
    sample: StratifiedSample, options: _Options
) -> tuple[float | None, float]:
    """v and its degrees of freedom; None where a stratum has fewer than two scored
    prompts."""
    if (sample.scored_in < 2).any():
        return None, 0.0
    df = sample.degrees_of_freedom
    if options.estimand == PROMPTS_SAMPLED:
        return clustered_variance(influence(sample), options.clusters, df)
    variance = sample.variance
    if options.estimand == PROMPTS_FIXED:
        variance += _generations(sample, options) / sample.n
    return variance, df


def _draws(
    sample: StratifiedSample, options: _Options, df: float
) -> StudentisedDraws | None:
    """Bootstrap distribution of the figure: whole clusters where they count, else the
    scores of each stratum."""
    if options.estimand == PROMPTS_SAMPLED and options.clusters is not None:
        sums = np.bincount(options.clusters, weights=influence(sample)).astype(
            np.float64
        )
        return studentised_draws(sums, None, df, 0)
    return sample.draws(df)


def influence(sample: StratifiedSample) -> FloatArray:
    """ψ_i, whose squares sum to the variance where prompts are a sample of others like
    them, shape (N,)."""
    means, of = sample.means, sample.stratum
    psi = (means[of] - sample.estimate) / sample.n
    n_h, big = sample.scored_in[of], sample.sizes[of]
    there = np.isfinite(sample.scores)
    small_sample = np.sqrt(n_h / (n_h - 1))
    own = (sample.scores - means[of]) * big / n_h / sample.n * small_sample
    return np.asarray(psi + np.where(there, own, 0.0))


def clustered_variance(
    psi: FloatArray, clusters: NDArray[np.intp] | None, df: float
) -> tuple[float | None, float]:
    """G/(G − 1) Σ_c (Σ_{i∈c} ψ_i)² and min(ν, G − 1)."""
    sums = psi
    if clusters is not None:
        sums = np.bincount(clusters, weights=psi).astype(np.float64)
    n = len(sums)
    if n < 2:
        return None, 0.0
    return float(n / (n - 1) * np.square(sums).sum()), float(min(df, n - 1))


def _generations(sample: StratifiedSample, options: _Options) -> float:
    """w = Σ_S (N_h/n_h)(W_i/K_i)/N."""
    if options.within is None or options.n_draws is None:
        raise StatisticsError(
            "prompts fixed: give the variance within each prompt's draws, and their "
            "number"
        )
    within, draws = (
        as_floats(options.within, "within"),
        as_floats(options.n_draws, "n_draws"),
    )
    check_length(len(within), sample.n, "within")
    check_length(len(draws), sample.n, "n_draws")
    there = np.isfinite(sample.scores)
    spreads = within[there]
    if (
        (draws[there] < 2).any()
        or not np.isfinite(spreads).all()
        or (spreads < 0).any()
    ):
        raise StatisticsError(
            "prompts fixed: every prompt of the sample needs at least two draws"
        )
    weight = (sample.sizes / sample.scored_in)[sample.stratum[there]]
    return float((weight * spreads / draws[there]).sum() / sample.n)


def _filled(
    sample: StratifiedSample, options: _Options
) -> tuple[SubsetEstimate, SubsetEstimate]:
    """The estimates with every missing score at the smallest and at the largest
    possible one."""
    assert options.bounds is not None
    plain = options
    if options.estimand == PROMPTS_FIXED:
        plain = replace(options, estimand=FULL_BENCHMARK)
    low, high = (_scored(sample.filled(end), plain) for end in options.bounds)
    return low, high


def _with_bounds(
    estimate: SubsetEstimate,
    filled: tuple[SubsetEstimate, SubsetEstimate] | None,
    hull: tuple[float, float] | None,
) -> SubsetEstimate:
    """With the bounds of missing scores; ``hull``: never narrower than the interval of
    the scored ones."""
    if filled is None:
        return estimate
    low, high = filled
    own = [estimate]
    if hull is None:
        own = []
    lows = [end.ci_low for end in (low, high, *own) if end.ci_low is not None]
    highs = [end.ci_high for end in (low, high, *own) if end.ci_high is not None]
    return replace(
        estimate,
        bound_low=low.estimate,
        bound_high=high.estimate,
        bound_ci_low=min(lows, default=None),
        bound_ci_high=max(highs, default=None),
    )


def _without(
    sample: StratifiedSample, options: _Options, reason: str
) -> SubsetEstimate:
    return SubsetEstimate(
        estimate=None,
        standard_error=None,
        ci_low=None,
        ci_high=None,
        level=options.level,
        degrees_of_freedom=None,
        n_prompts=sample.n,
        n_selected=sample.n_selected,
        n_scored=sample.n_selected - sample.n_missing,
        n_strata=sample.n_strata,
        effective_n=None,
        estimand=options.estimand,
        method="none",
        bound_low=None,
        bound_high=None,
        bound_ci_low=None,
        bound_ci_high=None,
        flags=(),
        reason=reason,
    )


def as_range(bounds: Bounds | None) -> tuple[float, float] | None:
    """Both ends of bounds that are finite, or None."""
    if bounds is None or bounds[0] is None or bounds[1] is None:
        return None
    low, high = float(bounds[0]), float(bounds[1])
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        return None
    return low, high


def _check_bounds(sample: StratifiedSample, bounds: tuple[float, float] | None) -> None:
    if bounds is None or not len(sample.y):
        return
    tolerance = 1e-9 * (bounds[1] - bounds[0])
    if sample.y.min() < bounds[0] - tolerance or sample.y.max() > bounds[1] + tolerance:
        raise StatisticsError(
            f"scores from {sample.y.min():g} to {sample.y.max():g}, outside the bounds "
            f"{bounds[0]:g} to {bounds[1]:g}"
        )


def _checked_estimand(estimand: str) -> str:
    if estimand not in ESTIMANDS:
        raise StatisticsError(
            f"unknown estimand {estimand!r}; there are: {', '.join(ESTIMANDS)}"
        )
    return estimand


def as_labels(clusters: ArrayLike | None, n: int) -> NDArray[np.intp] | None:
    """Clusters of N prompts as numbers from 0; None without."""
    if clusters is None:
        return None
    labels = np.asarray(clusters)
    check_length(len(labels), n, "clusters")
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)
