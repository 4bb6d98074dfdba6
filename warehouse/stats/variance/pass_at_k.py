"""pass@k and pass^k from draws that are right or wrong (statistics.md §1).

pass@k: the chance that at least one of k draws is right; unbiased from K_i draws with
c_i right as 1 − C(K_i−c_i, k)/C(K_i, k) (Chen et al. 2021, eq. 1). pass^k: that all k
are right, C(c_i, k)/C(K_i, k). Neither is defined where a prompt has fewer than k
draws: the figure is then that of the others, and bounds hold whatever those prompts
would have shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.draws import (
    PROMPTS_FIXED,
    PROMPTS_SAMPLED,
    PromptDraws,
    as_draw_counts,
    as_estimand,
)
from warehouse.stats.core.inputs import FloatArray, as_level, as_scores, check_length
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.intervals.clopper_pearson import widened
from warehouse.stats.intervals.closed_form import fixed_estimate, satterthwaite
from warehouse.stats.intervals.defaults import FEW_INFORMATIVE
from warehouse.stats.intervals.estimate_mean import estimate_mean
from warehouse.stats.intervals.missing_bounds import missing_bounds

_UNIT = (0.0, 1.0)
Kernel = Callable[[FloatArray, FloatArray, int], FloatArray]


@dataclass(frozen=True)
class PassRate(NamedFigures):
    """pass@k or pass^k of one run."""

    statistic: str  #: ``"pass@k"`` or ``"pass^k"`` with the number in place of k.
    k: int  #: draws that the figure is about.
    #: mean over the prompts that have k draws, in [0, 1]; None where none has.
    estimate: float | None
    standard_error: float | None  #: of ``estimate``; None where it is 0 or not defined.
    #: lower end of the interval, at least 0; None where none can be given.
    ci_low: float | None
    ci_high: float | None  #: upper end of the interval, at most 1.
    level: float  #: nominal coverage of the interval.
    estimand: str  #: ``"prompts_sampled"`` or ``"prompts_fixed"``.
    n_prompts: int  #: prompts.
    #: clusters, None without; with the prompts fixed they play no part.
    n_clusters: int | None
    n_short: int  #: prompts with too few draws: below k, or for the interval with the prompts fixed below k + 1.
    method: str  #: of the interval.
    reason: str  #: why this method, or why there is no figure or interval.
    flags: tuple[str, ...]  #: warnings, as in `Estimate`; ``too_few_draws``.
    #: where some prompts have fewer than k draws, the lower end of bounds over all
    #: prompts, whatever those would have shown (`missing_bounds`); else None.
    bound_low: float | None = None
    bound_high: float | None = None  #: upper end of them.

    def __str__(self) -> str:
        if self.estimate is None:
            return f"{self.statistic}: none, {self.reason}"
        if self.standard_error is None:
            error = ""
        else:
            error = f" ± {self.standard_error:.4g}"
        ends = f"no interval: {self.reason}"
        if self.ci_low is not None:
            ends = f"[{self.ci_low:.4g}, {self.ci_high:.4g}]"
        wording = self.estimand.replace("_", " ")
        n = f"n={self.n_prompts}"
        if self.bound_low is not None:
            n += (
                f" less {self.n_short}; over all [{self.bound_low:.4g}, "
                f"{self.bound_high:.4g}]"
            )
        return (
            f"{self.statistic} {self.estimate:.4g}{error} {ends} ({wording}, "
            f"{100 * self.level:g} % {self.method}, {n})"
        )


def pass_at_k(
    correct: ArrayLike,
    n_draws: ArrayLike,
    k: int,
    *,
    clusters: ArrayLike | None = None,
    estimand: str = PROMPTS_SAMPLED,
    level: float = 0.95,
) -> PassRate:
    """pass@k with its interval.

    Args:
        correct: right draws of each prompt, whole, 0 to its draws, shape (n,).
        n_draws: draws of each prompt, shape (n,), or one number.
        k: at least 1.
        clusters: cluster of each prompt; with the prompts sampled the error is CR2.
        estimand: ``"prompts_sampled"``: CLT or CR2 over prompts, and the default
            interval of bounded scores (``clopper_pearson_capped``: at least
            Clopper–Pearson's at n, where few prompts are off a bound and k is above 1);
            ``"prompts_fixed"``: delete-one-draw jackknife of each prompt, which needs
            more than k draws, and bounded Wilson.
        level: nominal coverage of the interval, in (0, 1).

    Raises:
        StatisticsError: counts or k out of range, or arguments not aligned.

    Examples:
        >>> print(pass_at_k([3, 0, 10, 7] * 30, 10, 5))
        pass@5 0.7292 ± 0.03872 [0.6441, 0.8022] (prompts sampled, 95 % gaffke, n=120)
        >>> pass_at_k([3, 0, 10, 7], 10, 11).reason
        'k = 11 needs 11 draws of every prompt: 4 of 4 have fewer (the fewest: 10)'
    """
    return _pass_rate(
        f"pass@{k}", _any_right, correct, n_draws, k, clusters, estimand, level
    )


def pass_hat_k(
    correct: ArrayLike,
    n_draws: ArrayLike,
    k: int,
    *,
    clusters: ArrayLike | None = None,
    estimand: str = PROMPTS_SAMPLED,
    level: float = 0.95,
) -> PassRate:
    """pass^k, the chance that k draws are all right, with its interval.

    Arguments and errors as for `pass_at_k`.

    Examples:
        >>> round(pass_hat_k([3], 10, 2).estimate, 12)
        0.066666666667
    """
    return _pass_rate(
        f"pass^{k}", _all_right, correct, n_draws, k, clusters, estimand, level
    )


def pass_at_k_by_prompt(correct: ArrayLike, n_draws: ArrayLike, k: int) -> FloatArray:
    """pass@k of each prompt in [0, 1], shape (n,); NaN where it has fewer than k draws."""
    c, counts = _counts(correct, n_draws, k)
    return np.where(counts >= k, _any_right(c, np.maximum(counts, k), k), np.nan)


def pass_hat_k_by_prompt(correct: ArrayLike, n_draws: ArrayLike, k: int) -> FloatArray:
    """pass^k of each prompt in [0, 1], shape (n,); NaN where it has fewer than k draws."""
    c, counts = _counts(correct, n_draws, k)
    return np.where(counts >= k, _all_right(c, np.maximum(counts, k), k), np.nan)


def _all_right(correct: FloatArray, counts: FloatArray, k: int) -> FloatArray:
    """C(c, k)/C(K, k) as the product of (c−j)/(K−j): no factorial, nothing overflows."""
    product = np.ones_like(counts)
    for drawn in range(k):
        product *= np.maximum(correct - drawn, 0.0) / (counts - drawn)
    return product


def _any_right(correct: FloatArray, counts: FloatArray, k: int) -> FloatArray:
    return 1.0 - _all_right(counts - correct, counts, k)


def _pass_rate(
    statistic: str,
    kernel: Kernel,
    correct: ArrayLike,
    n_draws: ArrayLike,
    k: int,
    clusters: ArrayLike | None,
    estimand: str,
    level: float,
) -> PassRate:
    chosen = as_estimand(estimand)
    c, counts = _counts(correct, n_draws, k)
    bare = PassRate(
        statistic=statistic,
        k=k,
        estimate=None,
        standard_error=None,
        ci_low=None,
        ci_high=None,
        level=as_level(level),
        estimand=chosen,
        n_prompts=len(c),
        n_clusters=None,
        n_short=int((counts < k).sum()),
        method="none",
        reason="",
        flags=(),
    )
    if 0 < bare.n_short < len(c):
        return _of_the_others(bare, kernel, c, counts, clusters)
    if bare.n_short:
        reason = (
            f"k = {k} needs {k} draws of every prompt: {bare.n_short} of {len(c)} have "
            f"fewer (the fewest: {counts.min():g})"
        )
        return replace(bare, reason=reason, flags=("too_few_draws",))
    values = np.clip(kernel(c, counts, k), *_UNIT)
    if chosen == PROMPTS_FIXED:
        return _prompts_fixed(bare, kernel, values, c, counts)
    return _prompts_sampled(bare, values, counts, clusters)


def _of_the_others(
    bare: PassRate,
    kernel: Kernel,
    correct: FloatArray,
    counts: FloatArray,
    clusters: ArrayLike | None,
) -> PassRate:
    """The figure of the prompts that have k draws, and bounds over all."""
    short, k = counts < bare.k, bare.k
    labels = None if clusters is None else np.asarray(clusters)
    check_length(
        len(counts) if labels is None else len(labels), len(counts), "clusters"
    )
    kept, lacking = (None, None) if labels is None else (labels[~short], labels[short])
    found = _pass_rate(
        bare.statistic,
        kernel,
        correct[~short],
        counts[~short],
        k,
        kept,
        bare.estimand,
        bare.level,
    )
    values = np.clip(kernel(correct[~short], counts[~short], k), *_UNIT)
    over_all = missing_bounds(
        values, bare.n_short, clusters=kept, missing_clusters=lacking, level=bare.level
    )
    reason = (
        f"over the {len(values)} of {len(counts)} prompts that have {k} draws (the "
        f"fewest: {counts.min():g}), whatever the others would show the bounds hold "
        f"over all; {found.reason}"
    )
    return replace(
        found,
        n_prompts=bare.n_prompts,
        n_short=bare.n_short + found.n_short,
        reason=reason,
        flags=(
            "too_few_draws",
            *(flag for flag in found.flags if flag != "too_few_draws"),
        ),
        bound_low=over_all.ci_low,
        bound_high=over_all.ci_high,
    )


def _prompts_sampled(
    bare: PassRate, values: FloatArray, counts: FloatArray, clusters: ArrayLike | None
) -> PassRate:
    """With K_i = k for every prompt the values are 0 or 1 by nature, else only by
    chance."""
    binary = bool((counts == bare.k).all())
    estimate = estimate_mean(
        values, clusters=clusters, bounds=_UNIT, binary=binary, level=bare.level
    )
    if not 0 <= (estimate.ci_low or 0) <= (estimate.ci_high or 1) <= 1:
        reason = f"the {estimate.method} interval leaves [0, 1]"
        estimate = estimate_mean(
            values,
            clusters=clusters,
            bounds=_UNIT,
            binary=False,
            level=bare.level,
            method="gaffke" if clusters is None else "wilson_bounded",
        )
        estimate = replace(estimate, reason=reason)
    if (
        bare.k > 1 and not binary and estimate.method != "gaffke"
    ):  # which has the worst score in it
        estimate = widened(estimate, values, clusters)
    return replace(
        bare,
        estimate=estimate.estimate,
        standard_error=estimate.standard_error,
        ci_low=estimate.ci_low,
        ci_high=estimate.ci_high,
        n_clusters=estimate.n_clusters,
        method=estimate.method if estimate.ci_low is not None else "none",
        reason=estimate.reason,
        flags=estimate.flags,
    )


def _prompts_fixed(
    bare: PassRate,
    kernel: Kernel,
    values: FloatArray,
    correct: FloatArray,
    counts: FloatArray,
) -> PassRate:
    short = int((counts <= bare.k).sum())
    variances, freedom = None, None
    if not short:
        variances = jackknife(kernel, correct, counts, bare.k)
        freedom = satterthwaite(variances, counts - 1)
    draws = PromptDraws(values, np.full(len(values), np.nan), counts)
    estimate = fixed_estimate(draws, values, variances, freedom, _UNIT, bare.level)
    reason, flags = estimate.reason, estimate.flags
    if short:
        reason = (
            f"the jackknife needs more than k = {bare.k} draws of every prompt: "
            f"{short} of {len(values)} have no more"
        )
        flags = ("too_few_draws",)
    elif _few_varying(variances):
        flags = (*flags, "few_informative_prompts")
    if "zero_standard_error" in flags:
        reason = "no prompt's figure changes when one of its draws is left out"
    return replace(
        bare,
        estimate=estimate.estimate,
        standard_error=estimate.standard_error,
        ci_low=estimate.ci_low,
        ci_high=estimate.ci_high,
        n_short=short,
        method=estimate.method,
        reason=reason,
        flags=flags,
    )


def _few_varying(variances: FloatArray | None) -> bool:
    """Whether few prompts, counted by their share, make up the variance: not quite so
    sure."""
    if variances is None or not variances.any():
        return False
    return float(variances.sum()) ** 2 < FEW_INFORMATIVE * float(variances @ variances)


def jackknife(
    kernel: Kernel, correct: FloatArray, counts: FloatArray, k: int
) -> FloatArray:
    """Delete-one-draw variance of each prompt's figure, K_i > k, shape (n,).

    v = (K−1)/K · (c(g1−ḡ)² + (K−c)(g0−ḡ)²), g1 and g0 without a right and a wrong draw.
    """
    fewer, wrong = counts - 1, counts - correct
    without_right = kernel(np.maximum(correct - 1, 0.0), fewer, k)
    without_wrong = kernel(np.minimum(correct, fewer), fewer, k)
    mean = (correct * without_right + wrong * without_wrong) / counts
    squares = (
        correct * (without_right - mean) ** 2 + wrong * (without_wrong - mean) ** 2
    )
    return fewer / counts * squares


def _counts(
    correct: ArrayLike, n_draws: ArrayLike, k: int
) -> tuple[FloatArray, FloatArray]:
    _check_k(k)
    right = as_scores(correct, "correct")
    counts = as_draw_counts(n_draws, len(right))
    check_length(len(counts), len(right), "n_draws")
    wrong = (right < 0) | (right > counts) | (right != np.floor(right))
    if wrong.any():
        first = int(np.argmax(wrong))
        raise StatisticsError(
            "`correct` must hold whole numbers from 0 to the draws of the prompt, found"
            f" {right[first]} of {counts[first]:g} at index {first}"
        )
    return right, counts


def _check_k(k: object) -> None:
    if not isinstance(k, Integral) or int(k) < 1:
        raise StatisticsError(f"`k` must be a whole number of at least 1, found {k}")
