"""Scores that may be infinite (statistics.md §20 E): an infinite score is a score,
never missing.

A mean with an infinite score is infinite and has no error; beside it stand the share of
infinite scores, the median with the interval of its order statistics, and the mean of
the finite ones. Two models are ordered by how often they are infinite on the bad side,
then by the sum of their finite scores: the limit of the mean capped at c as c grows.
With infinite scores taken for missing, the worse model has the better figure in .78 to
.98 of data sets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import (
    FloatArray,
    as_clusters,
    as_floats,
    as_level,
    check_length,
)
from warehouse.stats.core.results import NamedFigures, flags_of
from warehouse.stats.intervals.clopper_pearson import interval_korn_graubard
from warehouse.stats.intervals.closed_form import interval_clopper_pearson
from warehouse.stats.paired.sign_flip import binomial_p_value, flip_p_value

_RESAMPLES = 9999


@dataclass(frozen=True)
class InfiniteScores(NamedFigures):
    """One model's scores, some of which are infinite."""

    n: int  #: prompts with a score, infinite ones among them.
    n_infinite: int  #: infinite ones, of either sign.
    #: the mean, infinite where any score is; None where scores are infinite on both
    #: sides.
    mean: float | None
    reason: str  #: why there is no error and no interval: ``infinite`` or ``both_infinities``; empty without any.
    share_infinite: float  #: ``n_infinite`` over ``n``.
    share_low: float  #: lower end of its interval: Clopper–Pearson, with clusters Korn and Graubard's.
    share_high: float  #: upper end of it.
    median: float  #: may be infinite.
    #: lower end of the interval of order statistics; may be infinite; None with
    #: clusters.
    median_low: float | None
    median_high: float | None  #: upper end of it.
    #: mean of the finite scores, never ranked; None without any.
    mean_finite: float | None
    n_finite: int  #: finite scores.
    level: float  #: nominal coverage.
    #: what orders models, smallest first where lower is better: share of +∞ less share
    #: of −∞, sum of finite scores / n.
    order: tuple[float, float]
    flags: tuple[str, ...]  #: ``infinite``.


def describe_infinite(
    scores: ArrayLike, *, clusters: ArrayLike | None = None, level: float = 0.95
) -> InfiniteScores:
    """What can be said of scores of which some may be infinite.

    Args:
        scores: of each prompt, infinite or not, none missing, shape (n,).
        clusters: cluster of each prompt, or None.
        level: nominal coverage, in (0, 1).

    Raises:
        StatisticsError: no score, NaN, arguments out of range.

    Examples:
        >>> found = describe_infinite([3, 1, float("inf"), 2, 5])
        >>> found.mean, found.share_infinite, found.median, found.mean_finite
        (inf, 0.2, 3.0, 2.75)
    """
    values, level = _as_extended(scores, "scores"), as_level(level)
    infinite, n = np.isinf(values), len(values)
    n_infinite = int(infinite.sum())
    labels = _real_clusters(clusters, n)
    share_low, share_high = _share_interval(infinite, labels, level)
    finite = values[~infinite]
    above, below = int((values == math.inf).sum()), int((values == -math.inf).sum())
    total = math.fsum(finite.tolist())
    median_low = median_high = mean_finite = None
    if labels is None:
        median_low, median_high = _median_interval(np.sort(values), level)
    if len(finite):
        mean_finite = total / len(finite)
    return InfiniteScores(
        n=n,
        n_infinite=n_infinite,
        mean=_mean(total / n, above, below),
        reason=_reason(above, below),
        share_infinite=n_infinite / n,
        share_low=share_low,
        share_high=share_high,
        median=_median(np.sort(values)),
        median_low=median_low,
        median_high=median_high,
        mean_finite=mean_finite,
        n_finite=len(finite),
        level=level,
        order=((above - below) / n, total / n),
        flags=flags_of(infinite=n_infinite > 0),
    )


def order_key(
    scores: ArrayLike, *, higher_is_better: bool | None
) -> tuple[float, float]:
    """What sorts models with the best first: the limit of the mean capped at c as c
    grows.

    Args:
        scores: of each prompt, infinite or not, none missing, shape (n,).
        higher_is_better: direction; None counts as higher.
    """
    values = _as_extended(scores, "scores")
    finite = values[np.isfinite(values)]
    share = (int((values == math.inf).sum()) - int((values == -math.inf).sum())) / len(
        values
    )
    mean = math.fsum(finite.tolist()) / len(values)
    if higher_is_better is False:
        return (share, mean)
    return (-share, -mean)


@dataclass(frozen=True)
class InfiniteComparison(NamedFigures):
    """Two models on common prompts, some scores of which are infinite: no difference of
    means, but tests of signs."""

    n_prompts: int  #: common prompts.
    better: int  #: −1 where the first is better by the order of both, 1 the second, 0 where they are equal.
    #: min(1, 2 · the smallest p that points the way of the order); None where none
    #: does.
    p_value: float | None
    leads: bool  #: whether p is at most 1 − level.
    n_first: int  #: prompts that the first has the better score of.
    n_second: int  #: prompts that the second has.
    n_ties: int  #: the others; infinite against infinite is one.
    p_sign: float  #: exact sign test; with clusters signs of their sums are flipped.
    n_infinite_first: int  #: prompts on which the first alone is infinitely bad.
    n_infinite_second: int  #: prompts on which the second alone is.
    p_infinite: float  #: McNemar's exact test of these.
    reason: str  #: why there is no verdict, else empty.
    level: float  #: 1 − level is the size.


def compare_infinite(
    a: ArrayLike,
    b: ArrayLike,
    *,
    higher_is_better: bool | None,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> InfiniteComparison:
    """Which of two models is better where scores may be infinite, and whether that is
    more than chance.

    Args:
        a: score of each prompt in the first, infinite or not, none missing, shape (n,).
        b: the same prompts of the second.
        higher_is_better: direction; None counts as higher.
        clusters: cluster of each prompt, or None.
        level: 1 − level is the size of the test, in (0, 1).
        seed: of the random signs where clusters are many.

    Raises:
        StatisticsError: no score, NaN, other lengths, arguments out of range.
    """
    first, second, level = _as_extended(a, "a"), _as_extended(b, "b"), as_level(level)
    check_length(len(second), len(first), "b")
    sign = 1.0
    if higher_is_better is False:
        sign = -1.0
    wins = _signs(sign * first, sign * second)
    labels = _real_clusters(clusters, len(first))
    bad = -sign * math.inf
    # 1: the second alone is infinitely bad
    infinite = (second == bad).astype(np.float64) - (first == bad)
    p_sign, p_infinite = _sign_p(wins, labels, seed), _sign_p(infinite, labels, seed)
    key_a = order_key(first, higher_is_better=higher_is_better)
    key_b = order_key(second, higher_is_better=higher_is_better)
    way = (key_a < key_b) - (key_a > key_b)
    are_close = math.isclose(key_a[1], key_b[1], rel_tol=1e-12, abs_tol=1e-300)
    if key_a[0] == key_b[0] and are_close:
        way = 0  # the sums are equal but for rounding: neither leads
    pointing = []
    for own_p, signs in ((p_sign, wins), (p_infinite, infinite)):
        if way and np.sign(float(signs.sum())) == way:
            pointing.append(own_p)
    p, reason = None, _no_verdict(way)
    if pointing:
        p, reason = min(1.0, 2 * min(pointing)), ""
    return InfiniteComparison(
        n_prompts=len(first),
        better=-way,
        p_value=p,
        leads=p is not None and p <= 1 - level + 1e-12,
        n_first=int((wins > 0).sum()),
        n_second=int((wins < 0).sum()),
        n_ties=int((wins == 0).sum()),
        p_sign=p_sign,
        n_infinite_first=int((infinite < 0).sum()),
        n_infinite_second=int((infinite > 0).sum()),
        p_infinite=p_infinite,
        reason=reason,
        level=level,
    )


def _no_verdict(way: int) -> str:
    if not way:
        return (
            "no verdict: both are equal by their infinite scores and the sum of the "
            "others"
        )
    return "no verdict: the mean and most questions disagree"


def _as_extended(scores: ArrayLike, name: str) -> FloatArray:
    values = as_floats(scores, name)
    if values.ndim != 1 or not len(values):
        raise StatisticsError(
            f"`{name}` must be one-dimensional and not empty, found shape "
            f"{values.shape}"
        )
    if np.isnan(values).any():
        first = int(np.argmax(np.isnan(values)))
        raise StatisticsError(
            f"`{name}` holds NaN (first at index {first}); leave unscored prompts out"
        )
    return values


def _real_clusters(clusters: ArrayLike | None, n: int) -> ArrayLike | None:
    """Clusters, unless each holds one prompt."""
    if clusters is None:
        return None
    if as_clusters(clusters, n).n < n:
        return clusters
    return None


def _mean(finite_part: float, above: int, below: int) -> float | None:
    if above and below:
        return None
    if above:
        return math.inf
    if below:
        return -math.inf
    return finite_part


def _reason(above: int, below: int) -> str:
    if above and below:
        return "both_infinities"
    if above or below:
        return "infinite"
    return ""


def _share_interval(
    infinite: np.ndarray, clusters: ArrayLike | None, level: float
) -> tuple[float, float]:
    found = None
    if clusters is not None:
        found = interval_korn_graubard(
            infinite.astype(np.float64), clusters, level=level
        )
    if found is None:
        found = interval_clopper_pearson(
            int(infinite.sum()), len(infinite), level=level
        )
    return found.low, found.high


def _median(ordered: FloatArray) -> float:
    """Mean of the middle two; infinite where the upper of them is, and they differ."""
    n = len(ordered)
    low, high = float(ordered[(n - 1) // 2]), float(ordered[n // 2])
    if low == high:
        return low
    if math.isinf(high):
        return high
    if math.isinf(low):
        return low
    return low + (high - low) / 2


def _median_interval(ordered: FloatArray, level: float) -> tuple[float, float]:
    """[x_(r), x_(n+1−r)], r the largest with P(Bin(n, ½) ≤ r − 1) ≤ α/2; the whole line
    where there is none."""
    n = len(ordered)
    r = 0
    while r < n and float(special.bdtr(r, n, 0.5)) <= (1 - level) / 2:
        r += 1
    if not r:
        return -math.inf, math.inf
    return float(ordered[r - 1]), float(ordered[n - r])


def _signs(first: FloatArray, second: FloatArray) -> FloatArray:
    """1 where the first is the higher, −1 where the second is, 0 at a tie; ∞ against ∞
    is one."""
    return (first > second).astype(np.float64) - (first < second)


def _sign_p(signs: FloatArray, clusters: ArrayLike | None, seed: int) -> float:
    """Exact two-sided test of signs; with clusters the sums of each are flipped."""
    if clusters is None:
        return binomial_p_value(int((signs > 0).sum()), int((signs < 0).sum()))
    sums = as_clusters(clusters, len(signs)).sums(signs)
    units = sums[sums != 0]
    if len(units):
        return flip_p_value(units / float(np.abs(units).max()), _RESAMPLES, seed)
    return 1.0
