"""The mean where only generations are random: the estimand *prompts fixed* (statistics.md §1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.stats.core.draws import PROMPTS_FIXED, PromptDraws, prompt_draws
from warehouse.stats.core.inputs import Bounds, FloatArray, as_level, check_within, finite_bounds
from warehouse.stats.core.moments import mean_of
from warehouse.stats.core.result_base import Figures
from warehouse.stats.core.results import Interval
from warehouse.stats.core.written import figures_text
from warehouse.stats.intervals.closed_form import interval_t, interval_wilson_bounded


@dataclass(frozen=True)
class FixedPromptsEstimate(Figures):
    """A figure of one run of which only the draws are random; the prompts are all there are.

    Attributes:
        estimate: unweighted mean over prompts.
        standard_error: of ``estimate``; None where it is 0 or not defined, see ``reason``.
        ci_low: lower end of the interval, None where none can be given.
        ci_high: upper end of the interval.
        level: nominal coverage of the interval.
        n_prompts: prompts n.
        n_draws: draws of all prompts together.
        method: of the interval: ``"wilson_bounded"`` for bounded scores, else ``"t"``.
        reason: why this method, or why there is no interval.
        flags: warnings: ``within_imputed``, ``no_repeated_draws``, ``zero_standard_error``.
        degrees_of_freedom: of ``standard_error`` (Satterthwaite).
        estimand: ``"prompts_fixed"``.
    """

    estimate: float
    standard_error: float | None
    ci_low: float | None
    ci_high: float | None
    level: float
    n_prompts: int
    n_draws: int
    method: str
    reason: str
    flags: tuple[str, ...]
    degrees_of_freedom: float | None
    estimand: str = PROMPTS_FIXED

    def __str__(self) -> str:
        basis = f"{100 * self.level:g} % {self.method}"
        if self.ci_low is None:
            basis = f"no interval: {self.reason}"
        figures = figures_text(self.estimate, self.standard_error, self.ci_low, self.ci_high)
        return f"{figures} (prompts fixed, {basis}, n={self.n_prompts})"


def estimate_mean_prompts_fixed(
    means: ArrayLike, within: ArrayLike, n_draws: ArrayLike, *, bounds: Bounds | None = None, level: float = 0.95
) -> FixedPromptsEstimate:
    """Mean over these very prompts, with the error of its draws: Var = (1/n²) Σ W_i/K_i.

    Where W_i is not known (one draw), the mean of the known ones stands in (``within_imputed``).
    The degrees of freedom are Satterthwaite's (1946) for Σ W_i/K_i. Simulated coverage of the
    95 % interval from 10 prompts on (K 2 to 20, rates .02 to .98, alike or not) is .93 to 1.

    Args:
        means: mean of each prompt's draws, finite, shape (n,), n at least 1.
        within: sample variance over each prompt's draws, shape (n,); NaN where unknown.
        n_draws: draws of each prompt, shape (n,), or one number.
        bounds: smallest and largest possible score; then the interval stays within them.
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
        freedom = satterthwaite(*_known(draws))
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
    error = None if variances is None else math.sqrt(float(variances.sum())) / draws.n
    interval = _interval(mean, error, freedom, limits, level)
    flags = _flags(draws, error)
    method = "t" if limits is None else "wilson_bounded"
    return FixedPromptsEstimate(
        estimate=mean,
        standard_error=error or None,
        ci_low=None if interval is None else interval.low,
        ci_high=None if interval is None else interval.high,
        level=level,
        n_prompts=draws.n,
        n_draws=int(draws.n_draws.sum()),
        method=method if interval is not None else "none",
        reason=_reason(interval, flags),
        flags=flags,
        degrees_of_freedom=freedom if error else None,
    )


def satterthwaite(variances: FloatArray, freedoms: FloatArray) -> float | None:
    """(Σ v_i)² / Σ v_i²/ν_i, degrees of freedom of a sum of variances; None if all are 0."""
    total = float(variances.sum())
    return total**2 / float((variances**2 / freedoms).sum()) if total > 0 else None


def _known(draws: PromptDraws) -> tuple[FloatArray, FloatArray]:
    known = np.isfinite(draws.within)
    counts = draws.n_draws[known]
    return draws.within[known] / counts, counts - 1


def _interval(
    mean: float, error: float | None, freedom: float | None, limits: tuple[float, float] | None, level: float
) -> Interval | None:
    if limits is None:
        return interval_t(mean, error, freedom, level=level)
    return interval_wilson_bounded(mean, error, freedom, bounds=limits, level=level)


def _flags(draws: PromptDraws, error: float | None) -> tuple[str, ...]:
    conditions = {
        "within_imputed": draws.imputed and error is not None,
        "no_repeated_draws": error is None,
        "zero_standard_error": error == 0,
    }
    return tuple(flag for flag, holds in conditions.items() if holds)


def _reason(interval: Interval | None, flags: tuple[str, ...]) -> str:
    if interval is not None:
        return "only the draws are random"
    if "no_repeated_draws" in flags:
        return "no prompt has two draws, so the spread of draws is unknown"
    if "zero_standard_error" in flags:
        return "no prompt's draws differ"
    return "the mean lies on a bound"
