"""Whether stored confidence tells right answers from wrong ones: AUROC and AURC
(statistics.md §23)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Clusters,
    FloatArray,
    as_level,
    as_scores,
    check_length,
    check_within,
    clusters_if_any,
    is_constant,
    is_zero_one,
    number_of,
)
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.intervals.closed_form import interval_wilson

AUROC, AURC = "auroc", "aurc"
#: Times the rarer of right and wrong: prompts that an AUROC rests on at most.
_TIMES_RARER = 3
#: Wrong answers below which an AURC is flagged.
FEW_ERRORS = 5
#: A variance below this is rounding.
_NO_VARIANCE = 1e-24
#: Why there is no interval.
CLUSTERED, ALL_EQUAL, ONE_SIDE = "clustered", "confidence_all_equal", "one_side_only"


@dataclass(frozen=True)
class RankingMetric(NamedFigures):
    """How well confidence ranks answers."""

    metric: str  #: ``auroc`` or ``aurc``.
    estimate: float | None  #: None where all answers are right, or all wrong (AUROC).
    standard_error: float | None  #: DeLong's, or the jackknife's; None where it is 0.
    ci_low: float | None  #: lower end of the interval.
    ci_high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval.
    n_effective: float | None  #: of Wilson's interval.
    n_prompts: int  #: prompts.
    n_right: int  #: of these answered rightly.
    n_clusters: int | None  #: None without clusters.
    flags: tuple[str, ...]  #: ``few_errors`` of an AURC.
    reason: str  #: why something is None; empty otherwise.


def auroc(
    confidence: ArrayLike,
    right: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> RankingMetric:
    """Chance that a right answer has more confidence than a wrong one, equal ones ½.

    The variance is that of DeLong et al. (1988); Wilson's interval at the number of
    prompts that would have it, at most three times the rarer of right and wrong.

    Args:
        confidence: of each prompt, within [0, 1], shape (n,).
        right: 1 where its answer is right, else 0, shape (n,).
        clusters: of each prompt; with them there is no interval, as none was found.
        level: nominal coverage of the interval, in (0, 1).

    Raises:
        StatisticsError: arguments out of range, not finite or not aligned.

    Examples:
        >>> round(auroc([0.9, 0.8, 0.7, 0.4], [1, 1, 0, 1]).estimate, 4)
        0.6667
    """
    c, y, groups = as_confidence(confidence, right, clusters, level)
    empty = _nothing(AUROC, y, groups, level)
    high, low = c[y == 1], c[y == 0]
    rarer = min(len(high), len(low))
    if not rarer:
        return replace(empty, reason=ONE_SIDE)
    of_right = _placements(high, low)
    of_wrong = 1 - _placements(low, high)
    value = float(of_right.mean())
    found = replace(empty, estimate=value)
    reason = _no_interval(c, groups)
    if reason or rarer < 2:
        return replace(found, reason=reason or ONE_SIDE)
    variance = float(of_right.var(ddof=1) / len(high) + of_wrong.var(ddof=1) / len(low))
    if variance < _NO_VARIANCE:
        return _with_interval(found, value, 0.0, float(rarer))
    shrink = (z_quantile(level) / t_quantile(level, rarer - 1)) ** 2
    n = min(value * (1 - value) / variance * shrink, float(_TIMES_RARER * rarer))
    return _with_interval(found, value, math.sqrt(variance), n)


def aurc(
    confidence: ArrayLike,
    right: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> RankingMetric:
    """Mean error rate of the i most confident answers, over i from 1 to n: the area
    under the curve of risk against coverage.

    Errors of equal confidence are replaced by their mean. The variance is that of the
    jackknife over prompts; Wilson's interval at no more than n prompts.

    Arguments and errors as for `auroc`.

    Examples:
        >>> round(aurc([0.9, 0.8, 0.7, 0.4], [1, 1, 0, 1]).estimate, 4)
        0.1458
    """
    c, y, groups = as_confidence(confidence, right, clusters, level)
    n = len(y)
    n_wrong = int((y == 0).sum())
    value, without = _risk(c, 1 - y)
    found = replace(
        _nothing(AURC, y, groups, level),
        estimate=value,
        flags=flags_of(few_errors=n_wrong < FEW_ERRORS),
    )
    if groups is not None:
        return replace(found, reason=CLUSTERED)
    if n < 2:
        return replace(found, reason="single_prompt")
    variance = (n - 1) / n * float(((without - without.mean()) ** 2).sum())
    if variance < _NO_VARIANCE or not 0 < value < 1:
        return _with_interval(found, value, 0.0, float(n))
    shrink = (z_quantile(level) / t_quantile(level, n - 1)) ** 2
    effective = min(value * (1 - value) / variance * shrink, float(n))
    return _with_interval(found, value, math.sqrt(variance), effective)


def as_confidence(
    confidence: ArrayLike, right: ArrayLike, clusters: ArrayLike | None, level: float
) -> tuple[FloatArray, FloatArray, Clusters | None]:
    """Confidence, right or wrong, and clusters, checked.

    Raises:
        StatisticsError: arguments out of range, not finite or not aligned.
    """
    c, y = as_scores(confidence, "confidence"), as_scores(right, "right")
    check_length(len(y), len(c), "right")
    if not is_zero_one(y):
        raise StatisticsError("`right` must hold 0 and 1 only")
    check_within(c, (0.0, 1.0))
    as_level(level)
    return c, y, clusters_if_any(clusters, len(c))


def _no_interval(c: FloatArray, clusters: Clusters | None) -> str:
    if clusters is not None:
        return CLUSTERED
    if is_constant(c):
        return ALL_EQUAL
    return ""


def _nothing(
    metric: str, y: FloatArray, clusters: Clusters | None, level: float
) -> RankingMetric:
    return RankingMetric(
        metric=metric,
        estimate=None,
        standard_error=None,
        ci_low=None,
        ci_high=None,
        level=level,
        n_effective=None,
        n_prompts=len(y),
        n_right=int(y.sum()),
        n_clusters=number_of(clusters),
        flags=(),
        reason="",
    )


def _with_interval(
    found: RankingMetric, value: float, error: float, n: float
) -> RankingMetric:
    ends = interval_wilson(min(1.0, max(0.0, value)) * n, n, level=found.level)
    return replace(
        found,
        standard_error=error or None,
        ci_low=ends.low,
        ci_high=ends.high,
        n_effective=n,
    )


def _placements(values: FloatArray, others: FloatArray) -> FloatArray:
    """Share of the others below each value, and half of those equal, shape of
    ``values``."""
    ordered = np.sort(others)
    below = np.searchsorted(ordered, values, "left")
    up_to = np.searchsorted(ordered, values, "right")
    shares: FloatArray = (below + up_to) / 2 / len(others)
    return shares


def _risk(c: FloatArray, errors: FloatArray) -> tuple[float, FloatArray]:
    """The AURC, and that without each prompt, in the order of falling confidence.

    Of ranks 1 to n the i-th error counts H_i/n, H_i = Σ_{j≥i} 1/j: the mean over j of
    the error rate of the first j. Without a prompt the ranks behind it move up by one,
    and its tie has another mean.
    """
    n = len(c)
    order = np.argsort(-c, kind="stable")
    e = errors[order]
    _, ties, counts = np.unique(-c[order], return_inverse=True, return_counts=True)
    harmonic = np.cumsum(1 / np.arange(n, 0, -1))[::-1]
    wrong = np.bincount(ties, e)
    means = (wrong / counts)[ties]
    value = float((means * harmonic).sum()) / n
    if n < 2:
        return value, np.array([value])
    shorter = harmonic - 1 / n
    kept = np.cumsum(means * shorter)
    moved = np.append(means[1:] * shorter[:-1], 0.0)[::-1].cumsum()[::-1]
    ends = np.cumsum(counts)
    starts = ends - counts
    before = np.append(0.0, kept)[starts]
    behind = moved[ends - 1]
    sums = np.append(0.0, np.cumsum(shorter))
    own = sums[ends - 1] - sums[starts]
    with np.errstate(invalid="ignore", divide="ignore"):
        rest = np.where(counts[ties] > 1, (wrong[ties] - e) / (counts[ties] - 1), 0.0)
    without = (before + behind)[ties] + rest * own[ties]
    return value, without / (n - 1)
