"""Intervals in closed form: of means and proportions, weighted or not, and where only
generations are random (statistics.md §1).

Each returns an `Interval`, or None where the interval would be a bare ±0 or is not
defined.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.draws import PROMPTS_FIXED, PromptDraws, prompt_draws
from warehouse.stats.core.inputs import (
    Bounds,
    FloatArray,
    as_level,
    check_within,
    finite_bounds,
)
from warehouse.stats.core.moments import mean_of
from warehouse.stats.core.quantiles import beta_quantile, t_quantile, z_quantile
from warehouse.stats.core.results import (
    Interval,
    NamedFigures,
    ends_of,
    figures_text,
    flags_of,
)
from warehouse.stats.core.sample import Sample

# Below this the squares of the deviations have lost their digits.
_SMALLEST_VARIANCE = 1e-300


def interval_normal(
    estimate: float, standard_error: float | None, *, level: float = 0.95
) -> Interval | None:
    """Miller (2024) eq. 3: estimate ± z·se. None where the error is None or 0.

    Args:
        estimate: on any scale.
        standard_error: at least 0, on the same scale, or None.
        level: nominal coverage, in (0, 1).

    Examples:
        >>> print(interval_normal(0.6, 0.05))
        [0.502, 0.698]
    """
    return _around(
        estimate, standard_error, z_quantile(as_level(level)), level, "normal"
    )


def interval_t(
    estimate: float,
    standard_error: float | None,
    degrees_of_freedom: float | None,
    *,
    level: float = 0.95,
) -> Interval | None:
    """Student's t: estimate ± t·se. None where the error is None or 0.

    Args:
        estimate: on any scale.
        standard_error: at least 0, on the same scale, or None.
        degrees_of_freedom: above 0, need not be whole; n − 1, or Satterthwaite's for
            CR2. None gives None.
        level: nominal coverage, in (0, 1).
    """
    as_level(level)
    if degrees_of_freedom is None:
        return None
    _check_positive(degrees_of_freedom, "degrees_of_freedom")
    return _around(
        estimate, standard_error, t_quantile(level, degrees_of_freedom), level, "t"
    )


def interval_wilson(successes: float, n: float, *, level: float = 0.95) -> Interval:
    """Wilson's score interval of a proportion (Wilson 1927), within [0, 1].

    Args:
        successes: 0 to ``n``, need not be whole.
        n: trials (or an effective number of them) above 0, need not be whole.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: for counts out of range.

    Examples:
        >>> print(interval_wilson(270, 300))
        [0.8608, 0.9291]
    """
    p = _proportion(successes, n)
    r = z_quantile(as_level(level)) ** 2 / n
    centre = p + r / 2
    half = math.sqrt(r * (p * (1 - p) + r / 4))
    low, high = 0.0, 1.0
    if p > 0:
        low = max(0.0, (centre - half) / (1 + r))
    if p < 1:
        high = min(1.0, (centre + half) / (1 + r))
    return Interval(low, high, level, "wilson")


def interval_clopper_pearson(
    successes: float, n: float, *, level: float = 0.95
) -> Interval:
    """Clopper–Pearson ("exact") interval of a proportion, from Beta quantiles.

    Arguments and errors as for `interval_wilson`; counts that are not whole are
    allowed, as Korn and Graubard (1998) need them.
    """
    _proportion(successes, n)
    tail = (1 - as_level(level)) / 2
    failures = n - successes
    if successes == 0:
        low = 0.0
    else:
        low = beta_quantile(tail, successes, failures + 1)
    if failures == 0:
        high = 1.0
    else:
        high = beta_quantile(1 - tail, successes + 1, failures)
    return Interval(low, high, level, "clopper_pearson")


def interval_jeffreys(successes: float, n: float, *, level: float = 0.95) -> Interval:
    """Jeffreys' interval: quantiles of Beta(x + ½, n − x + ½).

    Arguments and errors as for `interval_wilson`. By rule the lower end is 0 at no
    success and the upper end 1 at no failure (Brown, Cai and DasGupta 2001).
    """
    _proportion(successes, n)
    tail = (1 - as_level(level)) / 2
    a, b = successes + 0.5, n - successes + 0.5
    if successes == 0:
        low = 0.0
    else:
        low = beta_quantile(tail, a, b)
    if successes == n:
        high = 1.0
    else:
        high = beta_quantile(1 - tail, a, b)
    return Interval(low, high, level, "jeffreys")


def interval_wilson_bounded(
    mean: float,
    standard_error: float | None,
    degrees_of_freedom: float | None,
    *,
    bounds: tuple[float, float] = (0.0, 1.0),
    level: float = 0.95,
) -> Interval | None:
    """Wilson's interval for bounded scores that are not 0/1, at an effective n.

    On [0, 1], n_e = m(1−m)/V · (z/t_ν)², V the squared error, not capped. None where
    the error is None or 0, or the mean lies on a bound.

    Args:
        mean: within ``bounds``.
        standard_error: of the mean, CLT (ν = n − 1) or CR2 (its own ν), or None.
        degrees_of_freedom: ν above 0, or None.
        bounds: smallest and largest possible score, both finite.
        level: nominal coverage, in (0, 1).

    Examples:
        >>> print(interval_wilson_bounded(42.0, 2.5, 60, bounds=(0, 100)))
        [37.11, 47.06]
    """
    as_level(level)
    if not standard_error or degrees_of_freedom is None:
        return None
    _check_positive(degrees_of_freedom, "degrees_of_freedom")
    low, width = bounds[0], bounds[1] - bounds[0]
    m = (mean - low) / width
    variance = (standard_error / width) ** 2
    if not 0 < m < 1 or variance < _SMALLEST_VARIANCE:
        return None
    shrink = z_quantile(level) / t_quantile(level, degrees_of_freedom)
    n = m * (1 - m) / variance * shrink**2
    unit = interval_wilson(m * n, n, level=level)
    return Interval(
        low + width * unit.low, low + width * unit.high, level, "wilson_bounded"
    )


def _around(
    estimate: float, error: float | None, quantile: float, level: float, method: str
) -> Interval | None:
    if not error:
        return None
    return Interval(
        estimate - quantile * error, estimate + quantile * error, level, method
    )


def _proportion(successes: float, n: float) -> float:
    _check_positive(n, "n")
    if not 0 <= successes <= n:
        raise StatisticsError(
            f"`successes` must lie between 0 and n = {n}, found {successes}"
        )
    return successes / n


def _check_positive(value: float, name: str) -> None:
    if not 0 < value < math.inf:
        raise StatisticsError(f"`{name}` must be a number above 0, found {value}")


METHOD = "wilson_weighted"
_FEWEST = 1e-3


def wilson_weighted(sample: Sample, level: float) -> Interval | None:
    """Wilson at n* = min(n_K, G_eff, m(1−m)/V)·(z/t_ν)², for a described sample of
    weighted 0/1 scores.

    n_K = 1/Σ f_i² is Kish's number of prompts, G_eff = 1/Σ F_c² that of clusters (n_K
    without any), V and ν those of the weighted mean. m(1−m)/V alone covers .78 (p .95,
    lognormal weights, σ 2): where heavy prompts agree by chance V is too small. None
    with one prompt or cluster.
    """
    weights, df = sample.weights, sample.df
    if weights is None or df is None or sample.se is None:
        return None
    mean = min(1.0, max(0.0, sample.mean))
    n = min(weights.kish, weights.effective_units)
    if sample.se > 0 and 0 < mean < 1:
        n = min(n, mean * (1 - mean) / sample.se**2)
    n = max(_FEWEST, n * (z_quantile(level) / t_quantile(level, df)) ** 2)
    successes = n
    if mean < 1:
        successes = mean * n
    unit = interval_wilson(successes, n, level=level)
    return Interval(unit.low, unit.high, level, METHOD)


@dataclass(frozen=True)
class FixedPromptsEstimate(NamedFigures):
    """A figure of one run of which only the draws are random; the prompts are all there
    are."""

    estimate: float  #: unweighted mean over prompts.
    #: of ``estimate``; None where it is 0 or not defined, see ``reason``.
    standard_error: float | None
    ci_low: float | None  #: lower end of the interval, None where none can be given.
    ci_high: float | None  #: upper end of the interval.
    level: float  #: nominal coverage of the interval.
    n_prompts: int  #: prompts n.
    n_draws: int  #: draws of all prompts together.
    #: of the interval: ``"wilson_bounded"`` for bounded scores, else ``"t"``.
    method: str
    reason: str  #: why this method, or why there is no interval.
    #: warnings: ``within_imputed``, ``no_repeated_draws``, ``zero_standard_error``.
    flags: tuple[str, ...]
    degrees_of_freedom: float | None  #: of ``standard_error`` (Satterthwaite).
    estimand: str = PROMPTS_FIXED  #: ``"prompts_fixed"``.

    def __str__(self) -> str:
        basis = f"{100 * self.level:g} % {self.method}"
        if self.ci_low is None:
            basis = f"no interval: {self.reason}"
        figures = figures_text(
            self.estimate, self.standard_error, self.ci_low, self.ci_high
        )
        return f"{figures} (prompts fixed, {basis}, n={self.n_prompts})"


def estimate_mean_prompts_fixed(
    means: ArrayLike,
    within: ArrayLike,
    n_draws: ArrayLike,
    *,
    bounds: Bounds | None = None,
    level: float = 0.95,
) -> FixedPromptsEstimate:
    """Mean over these very prompts, with the error of its draws: Var = (1/n²) Σ
    W_i/K_i.

    Where W_i is not known (one draw), the mean of the known ones stands in
    (``within_imputed``). The degrees of freedom are Satterthwaite's (1946) for Σ
    W_i/K_i. Simulated coverage of the 95 % interval from 10 prompts on (K 2 to 20,
    rates .02 to .98, alike or not) is .93 to 1.

    Args:
        means: mean of each prompt's draws, finite, shape (n,), n at least 1.
        within: sample variance over each prompt's draws, shape (n,); NaN where unknown.
        n_draws: draws of each prompt, shape (n,), or one number.
        bounds: smallest and largest possible score; then the interval stays within
            them.
        level: nominal coverage of the interval, in (0, 1).

    Raises:
        StatisticsError: arguments out of range, not finite or not aligned.

    Examples:
        >>> within = [1 / 3, 0, 0, 1 / 3]
        >>> print(estimate_mean_prompts_fixed([2 / 3, 0, 1, 0.5], within, [3, 2, 4, 4]))
        0.5417 ± 0.1102 [0.2475, 0.8358] (prompts fixed, 95 % t, n=4)
    """
    as_level(level)
    draws = prompt_draws(means, within, n_draws)
    limits = finite_bounds(bounds)
    if limits is not None:
        check_within(draws.means, limits)
    if not draws.n_known:
        variances, freedom = None, None
    else:
        variances = draws.within_or_mean() / draws.n_draws
        freedom = satterthwaite(*measured_variances(draws))
    return fixed_estimate(draws, draws.means, variances, freedom, limits, level)


def fixed_estimate(
    draws: PromptDraws,
    values: FloatArray,
    variances: FloatArray | None,
    freedom: float | None,
    limits: tuple[float, float] | None,
    level: float,
) -> FixedPromptsEstimate:
    """The mean of prompt figures that are independent of each other.

    Args:
        values: figure of each prompt, shape (n,).
        variances: squared error of each, shape (n,); None if they are not known.
        freedom: degrees of freedom of the sum of ``variances``.
        limits: bounds of the figures, or None.
    """
    mean = mean_of(values)
    error = None
    if variances is not None:
        error = math.sqrt(float(variances.sum())) / draws.n
    interval = _interval(mean, error, freedom, limits, level)
    flags = flags_of(
        within_imputed=draws.imputed and error is not None,
        no_repeated_draws=error is None,
        zero_standard_error=error == 0,
    )
    method = "wilson_bounded"
    if interval is None:
        method = "none"
    elif limits is None:
        method = "t"
    if not error:
        freedom = None
    low, high = ends_of(interval)
    return FixedPromptsEstimate(
        estimate=mean,
        standard_error=error or None,
        ci_low=low,
        ci_high=high,
        level=level,
        n_prompts=draws.n,
        n_draws=int(draws.n_draws.sum()),
        method=method,
        reason=_reason(interval, flags),
        flags=flags,
        degrees_of_freedom=freedom,
    )


def satterthwaite(variances: FloatArray, freedoms: FloatArray) -> float | None:
    """(Σ v_i)² / Σ v_i²/ν_i, degrees of freedom of a sum of variances; None if all are
    0."""
    total = float(variances.sum())
    if total > 0:
        return total**2 / float((variances**2 / freedoms).sum())
    return None


def measured_variances(draws: PromptDraws) -> tuple[FloatArray, FloatArray]:
    """W_i/K_i of the prompts whose W_i is known, and the degrees of freedom of each."""
    present = np.isfinite(draws.within)
    counts = draws.n_draws[present]
    return draws.within[present] / counts, counts - 1


def _interval(
    mean: float,
    error: float | None,
    freedom: float | None,
    limits: tuple[float, float] | None,
    level: float,
) -> Interval | None:
    if limits is None:
        return interval_t(mean, error, freedom, level=level)
    return interval_wilson_bounded(mean, error, freedom, bounds=limits, level=level)


def _reason(interval: Interval | None, flags: tuple[str, ...]) -> str:
    if interval is not None:
        return "only the draws are random"
    if "no_repeated_draws" in flags:
        return "no prompt has two draws, so the spread of draws is unknown"
    if "zero_standard_error" in flags:
        return "no prompt's draws differ"
    return "the mean lies on a bound"
