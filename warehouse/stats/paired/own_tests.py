"""What a pair's own test says where Student's t of plain differences is not it:
weights, no bounds.

`all_pairs` works with one matrix of figures and the errors of plain means. Here each
pair gets the error and p of `paired_difference`, and the adjustments for the number of
pairs follow from them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from warehouse.stats.core.inputs import Clusters, FloatArray, unit_sums
from warehouse.stats.core.moments import deviations
from warehouse.stats.core.quantiles import t_p_values, t_quantiles
from warehouse.stats.intervals.bootstrap_t import (
    FEWEST_UNITS,
    StudentisedDraws,
    studentised,
)
from warehouse.stats.intervals.standard_errors import unit_weights
from warehouse.stats.multiple.adjust import benjamini_hochberg, holm
from warehouse.stats.multiple.all_pairs import AllPairs
from warehouse.stats.paired.joint_steps import (
    FEWEST_FOR_STEPS,
    JointSteps,
    as_groups,
    blocks,
    joint_steps,
    unit_totals,
)


@dataclass(frozen=True)
class PairTests:
    """The test of each pair alone, shape (P,) each; NaN where there is none."""

    error: FloatArray  #: standard error of the difference.
    degrees_of_freedom: FloatArray  #: of ``error``.
    p_value: FloatArray  #: two-sided.
    low: FloatArray  #: lower end of the pair's own interval.
    high: FloatArray  #: upper end.
    #: of scores without bounds: bootstrap-t of all pairs together.
    joint: JointSteps | None = None


def with_own_tests(pairs: AllPairs, tests: PairTests) -> AllPairs:
    """All pairs with the error and p of each pair's own test; nothing adjusted says
    more than it does."""
    half = _half_widths(pairs.critical_value, tests.error)
    with np.errstate(invalid="ignore"):
        statistic = pairs.difference / tests.error
        low = np.minimum(pairs.simultaneous_low, pairs.difference - half)
        high = np.maximum(pairs.simultaneous_high, pairs.difference + half)
        low, high = np.minimum(low, tests.low), np.maximum(high, tests.high)
    step_down = np.maximum(pairs.p_step_down, tests.p_value)
    if pairs.places_by_holm:
        step_down = holm(tests.p_value)
    found = replace(
        pairs,
        standard_error=tests.error,
        degrees_of_freedom=tests.degrees_of_freedom,
        statistic=statistic,
        p_value=tests.p_value,
        p_holm=holm(tests.p_value),
        p_bh=benjamini_hochberg(tests.p_value),
        p_step_down=step_down,
        simultaneous_low=low,
        simultaneous_high=high,
    )
    if tests.joint is None:
        return found
    return _with_joint(found, tests.joint)


def _with_joint(pairs: AllPairs, joint: JointSteps) -> AllPairs:
    """With the joint bootstrap-t: the larger p and the wider interval count.

    With few units the steps reject too often: their p are Holm's, and places go by
    these.
    """
    critical = joint.critical_value(pairs.level)
    own = joint.critical_values(pairs.level)
    half = _half_widths(critical, pairs.error_max_t)
    has_critical = ~np.isnan(pairs.critical_values)
    is_few = joint.n_units < FEWEST_FOR_STEPS
    step_down = pairs.p_holm
    with np.errstate(invalid="ignore"):
        if not is_few:
            step_down = np.maximum(pairs.p_step_down, joint.p_step)
        larger = np.fmax(pairs.critical_values, own)
        return replace(
            pairs,
            p_step_down=step_down,
            simultaneous_low=np.minimum(
                pairs.simultaneous_low, pairs.difference - half
            ),
            simultaneous_high=np.maximum(
                pairs.simultaneous_high, pairs.difference + half
            ),
            critical_value=max(pairs.critical_value, critical),
            critical_values=np.where(has_critical, larger, np.nan),
            places_by_holm=is_few or pairs.places_by_holm,
        )


def _half_widths(critical: float, error: FloatArray) -> FloatArray:
    """Of simultaneous intervals; NaN without a critical value."""
    if math.isfinite(critical):
        return critical * error
    return np.full(len(error), np.nan)


def weighted_tests(
    figures: FloatArray, weights: FloatArray, clusters: Clusters | None, pairs: AllPairs
) -> PairTests:
    """Tests of differences of weighted means: squared error Σ (u_a − u_b)², the smaller
    ν (see `paired`).

    Args:
        figures: linearised scores of M models, all scored, shape (n, M).
        weights: of each prompt in each model, shape (n, M).
        clusters: of the prompts, or None.
        pairs: of these figures.
    """
    n, m = figures.shape
    by_model = [unit_weights(weights[:, model], clusters) for model in range(m)]
    centred = [deviations(figures[:, model]) / n for model in range(m)]
    pulls = np.array(
        [
            own.pulls(unit_sums(deviation, clusters))
            for own, deviation in zip(by_model, centred, strict=True)
        ]
    )
    freedoms = np.array([own.degrees_of_freedom or np.nan for own in by_model])
    a, b = pairs.first, pairs.second
    error = np.zeros(len(a))
    for some in blocks(np.arange(len(a)), n):
        error[some] = np.linalg.norm(pulls[a[some]] - pulls[b[some]], axis=1)
    error = np.where(np.isfinite(pairs.standard_error), error, np.nan)
    df = np.fmin(freedoms[a], freedoms[b])
    with np.errstate(invalid="ignore"):
        reach = t_quantiles(pairs.level, df) * error
        p = t_p_values(pairs.difference / error, df)
    return PairTests(error, df, p, pairs.difference - reach, pairs.difference + reach)


def hull_tests(
    scores: FloatArray, clusters: Clusters | None, pairs: AllPairs
) -> PairTests:
    """Tests of differences of scores without bounds: of Student's t and bootstrap-t the
    more careful.

    Args:
        scores: of M models, NaN where not scored, shape (n, M).
        clusters: of the prompts, or None.
        pairs: of these scores; their seed is that of the bootstrap.
    """
    p, df = pairs.p_value.copy(), pairs.degrees_of_freedom
    reach = t_quantiles(pairs.level, df)
    low, high = -reach, reach
    joint = None
    if pairs.n_resamples:
        joint = joint_steps(scores, clusters, pairs)
    scores, clusters, sizes = as_groups(scores, clusters, pairs.seed)
    for some in blocks(np.arange(len(pairs)), len(scores)):
        totals, own_sizes = unit_totals(
            scores, clusters, sizes, pairs.first[some], pairs.second[some]
        )
        if totals.shape[1] < FEWEST_UNITS:
            continue
        draws = np.sort(studentised(totals, own_sizes, pairs.seed), axis=0)
        n_units = np.full(len(some), totals.shape[1])
        if own_sizes is not None:
            n_units = np.count_nonzero(own_sizes, axis=1)
        for column, pair in enumerate(some):
            if n_units[column] < FEWEST_UNITS or not np.isfinite(pairs.statistic[pair]):
                continue
            own = StudentisedDraws(draws[:, column], float(df[pair]))
            p[pair] = own.p_value(float(pairs.statistic[pair]))
            low[pair], high[pair] = own.ends(pairs.level)
    error = pairs.standard_error
    with np.errstate(invalid="ignore"):
        return PairTests(
            error,
            df,
            p,
            pairs.difference - high * error,
            pairs.difference - low * error,
            joint,
        )
