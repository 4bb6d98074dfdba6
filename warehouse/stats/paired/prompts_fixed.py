"""The difference of two runs over these very prompts, of which only the draws are random."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from warehouse.errors import StatisticsError
from warehouse.stats.core.draws import PROMPTS_FIXED, PromptDraws
from warehouse.stats.core.inputs import (
    Bounds,
    finite_bounds,
)
from warehouse.stats.core.quantiles import t_p_value
from warehouse.stats.core.results import PairedDifference
from warehouse.stats.intervals.closed_form import (
    interval_t,
    measured_variances,
    satterthwaite,
)
from warehouse.stats.intervals.defaults import (
    FEW_INFORMATIVE,
)
from warehouse.stats.paired.paired import FEW_VARYING, paired_difference


def paired_difference_prompts_fixed(
    a: PromptDraws, b: PromptDraws, *, bounds: Bounds | None = None, level: float = 0.95
) -> PairedDifference:
    """Difference a − b over these very prompts: Var = Σ (W_A,i/K_A,i + W_B,i/K_B,i)/n².

    The prompts are all there are, so that clusters play no part, and the draws of the
    two runs are independent, so that pairing saves nothing. Where a W_i is not known
    (one draw), the mean of the run's known ones stands in, flagged ``within_imputed_a``
    or ``_b``. Degrees of freedom are Satterthwaite's over the prompts whose W_i are
    known.

    Args:
        a: draws of the first run, from `prompt_draws` or `summarise_draws`.
        b: draws of the second run on the same prompts in the same order.
        bounds: of the scores, to whose range the interval is cut.
        level: nominal coverage of the interval, in (0, 1).

    Returns:
        The difference. Error, interval and p are None where a run has no prompt with
        two draws (``no_repeated_draws_a`` or ``_b``), or where no draws differ
        (``zero_standard_error``). Where those of fewer than 10 prompts do, the error is
        too sure (``few_varying_prompts``).

    Raises:
        StatisticsError: for prompts that are not aligned, or ``level`` out of range.

    Examples:
        >>> from warehouse.stats.core.draws import summarise_draws
        >>> a = summarise_draws([1, 1, 0, 1, 1, 0], [0, 0, 1, 1, 2, 2])
        >>> b = summarise_draws([0, 1, 0, 0, 1, 0], [0, 0, 1, 1, 2, 2])
        >>> round(paired_difference_prompts_fixed(a, b).standard_error, 6)
        0.333333
    """
    if a.n != b.n:
        raise StatisticsError(
            f"`a` has {a.n} prompts, `b` {b.n}; pass the same prompts"
        )
    sampled = paired_difference(a.means, b.means, level=level)
    flags = _run_flags(a, "a") + _run_flags(b, "b")
    error, df = _error(a, b)
    if error == 0:
        flags += ("zero_standard_error",)
    elif error:
        varying = np.nan_to_num(a.within) + np.nan_to_num(b.within)
        if np.count_nonzero(varying) < FEW_INFORMATIVE:
            flags += (FEW_VARYING,)
    fixed = replace(
        sampled,
        standard_error=None,
        ci_low=None,
        ci_high=None,
        statistic=None,
        degrees_of_freedom=None,
        p_value=None,
        variance_saved=None,
        method="prompts_fixed_t",
        reason=_why_no_interval(a, b, error),
        flags=flags,
        estimand=PROMPTS_FIXED,
        draws=None,
    )
    if not error:
        return fixed
    statistic = sampled.difference / error
    fixed = replace(
        fixed, standard_error=error, statistic=statistic, degrees_of_freedom=df
    )
    interval = interval_t(sampled.difference, error, df, level=level)
    if interval is None or df is None:
        return fixed
    low, high = interval.low, interval.high
    limits = finite_bounds(bounds)
    if limits is not None:
        most = limits[1] - limits[0]
        low, high = max(-most, low), min(most, high)
    return replace(fixed, ci_low=low, ci_high=high, p_value=t_p_value(statistic, df))


def _error(a: PromptDraws, b: PromptDraws) -> tuple[float | None, float | None]:
    if not a.n_known or not b.n_known:
        return None, None
    total = sum(float(np.sum(run.within_or_mean() / run.n_draws)) for run in (a, b))
    parts = [measured_variances(run) for run in (a, b)]
    df = satterthwaite(
        np.concatenate([variances for variances, _ in parts]),
        np.concatenate([freedoms for _, freedoms in parts]),
    )
    return math.sqrt(total) / a.n, df


def _run_flags(run: PromptDraws, name: str) -> tuple[str, ...]:
    if not run.n_known:
        return (f"no_repeated_draws_{name}",)
    if run.imputed:
        return (f"within_imputed_{name}",)
    return ()


def _why_no_interval(a: PromptDraws, b: PromptDraws, error: float | None) -> str:
    if error is None:
        which = " and ".join(
            name for run, name in ((a, "a"), (b, "b")) if not run.n_known
        )
        return f"no prompt of {which} has two draws: how much its draws vary is unknown"
    if error:
        return "prompts fixed: only draws are random"
    return "no draws differ"
