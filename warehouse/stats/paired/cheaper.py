"""Tests of whether one model costs less than another (statistics.md §17).

A one-sided test of costs takes twice the largest p of the ratio, of the difference and
of the ratio's bootstrap-t: the factor makes up for what few prompts do not show of a
tail. It gives no verdict (``skew_gate``) where the model that is claimed to be cheaper
has so heavy a tail (σ of log costs of 2 and more, fewer units than 40·skew²) that its
mean is not known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    as_scores,
    check_length,
)
from warehouse.stats.core.moments import mean_of, skewness
from warehouse.stats.core.quantiles import t_upper_tail
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.core.sample import Sample, describe
from warehouse.stats.paired.cost import (
    SKEW_GATE,
    is_gated,
    log_draws,
    log_spread,
    log_terms,
    two_costs,
    unless_rounding,
)
from warehouse.stats.paired.margins import noninferiority_test

#: Standard deviation of the logarithm of costs from which on a heavy tail leaves no
#: verdict.
HEAVIEST_LOG_SPREAD = 2.0
#: The p of the cheaper test is so many times the largest of its three.
CAUTION = 2


@dataclass(frozen=True)
class CheaperTest(NamedFigures):
    """One-sided test: H0, the first costs 1/``times`` of the second or more, or is
    worse by a margin."""

    #: twice the largest p of the costs, 1 with ``skew_gate``, no less than
    #: ``p_quality``; None where one has no error.
    p_value: float | None
    p_log: float | None  #: of the ratio of means.
    p_difference: float | None  #: of the difference ``times``·a − b.
    times: float  #: how many times less is claimed.
    #: ``skew_gate`` where the costs are too skewed for a verdict.
    flags: tuple[str, ...]
    #: of non-inferiority, where scores are tested too (`as_good_for_less`).
    p_quality: float | None = None
    p_bootstrap: float | None = None  #: of the ratio, by t and bootstrap-t.


def cheaper_test(
    costs_a: ArrayLike,
    costs_b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    times: float = 1.0,
) -> CheaperTest:
    """Whether the first is shown to cost ``times`` less than the second; as
    `cost_ratio`.

    Args as for `cost_ratio`; ``times``, from 1, is given before the costs are looked
    at.
    """
    a, b, groups = two_costs(costs_a, costs_b, clusters)
    if not 1 <= times < math.inf:
        raise StatisticsError(f"`times` must be a number from 1, found {times}")
    mean_a, mean_b = mean_of(a), mean_of(b)
    if not mean_a or not mean_b:
        return CheaperTest(None, None, None, times, ())
    terms = describe(log_terms(a, b), groups)
    difference = describe(unless_rounding(times * a - b, times * a, b), groups)
    log_ratio = math.log(times * mean_a / mean_b)
    p_log = _p_below_zero(log_ratio, terms)
    p_difference = _p_below_zero(difference.mean, difference)
    if p_log is None or p_difference is None:
        return CheaperTest(None, p_log, p_difference, times, ())
    draws = log_draws(a, b, terms)
    p_bootstrap = p_log
    if draws is not None and terms.se:
        p_bootstrap = draws.turned.upper_tail(-log_ratio / terms.se)
    p = min(1.0, CAUTION * max(p_log, p_difference, p_bootstrap))
    flags: tuple[str, ...] = ()
    is_heavy = log_spread(a) >= HEAVIEST_LOG_SPREAD and skewness(terms.totals) > 0
    if is_heavy and is_gated(terms):
        p, flags = 1.0, (SKEW_GATE,)
    return CheaperTest(p, p_log, p_difference, times, flags, p_bootstrap=p_bootstrap)


def as_good_for_less(
    scores_a: ArrayLike,
    costs_a: ArrayLike,
    scores_b: ArrayLike,
    costs_b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    margin: float,
    times: float = 1.0,
    width: float | None = None,
) -> CheaperTest:
    """Whether the first is no worse than the second by ``margin``, and ``times``
    cheaper: both, at one level.

    An intersection-union test: the larger p counts. Scores as costs, higher is better;
    ``margin``, above 0, and ``times``, from 1, are given before looking; ``width`` is
    that of the scores' range, as for `noninferiority_test`.
    """
    if not 0 < margin < math.inf:
        raise StatisticsError(f"`margin` must be a number above 0, found {margin}")
    a, b = as_scores(scores_a), as_scores(scores_b)
    check_length(len(b), len(a), "scores_b")
    cost = cheaper_test(costs_a, costs_b, clusters, times=times)
    differences = unless_rounding(a - b, a, b)
    test = noninferiority_test(differences, margin, clusters, width=width)
    p = None
    if test.p_value is not None and cost.p_value is not None:
        p = max(test.p_value, cost.p_value)
    return replace(cost, p_value=p, p_quality=test.p_value)


def _p_below_zero(value: float, sample: Sample) -> float | None:
    """One-sided p of H0 "the mean is 0 or above", from the error of a sample."""
    if sample.se and sample.df:
        return t_upper_tail(-value / sample.se, sample.df)
    return None
