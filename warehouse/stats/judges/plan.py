"""How many answers people have to label where a judge has scored them all
(statistics.md §16).

The variance of the corrected mean at n of N labels is s²[(1 − ρ²)/n + ρ²/N], s the
labels' standard deviation and ρ the correlation of label and judge. So a judge saves
the share ρ² of the labels at most, and nothing helps once the N answers themselves
leave more error than is wanted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    FloatArray,
    as_level,
    as_scores,
    check_length,
    clusters_if_any,
    is_zero_one,
    one_unit_each,
)
from warehouse.stats.core.quantiles import t_quantile, z_quantile
from warehouse.stats.core.results import NamedFigures, flags_of

#: Labels below which the corrected figure is that of the labels alone, so that no judge
#: helps.
FEWEST_LABELS = 20
#: Labels that a correlation takes.
FEWEST_FOR_CORRELATION = 10
#: Answers in each cell of the 2 × 2 table that chance would give, before the
#: correlation of 0/1 has an interval.
FEWEST_IN_CELL = 5
#: A correlation up to which a judge narrows an interval by 5 % at most.
WEAK = 0.3
_EVEN_POWER = 0.5


@dataclass(frozen=True)
class LabelPilot(NamedFigures):
    """What labels at hand say of those to come."""

    n_labels: int  #: answers with a label.
    sd: float | None  #: s, the labels' standard deviation.
    correlation: float | None  #: ρ of labels and judge; None with a ``reason``.
    #: lower end of its interval: jackknife over clusters of Fisher's z; None where 0/1
    #: labels or verdicts are few of a kind, or one cluster decides.
    low: float | None
    high: float | None  #: upper end.
    #: the share of the variance that the judge explains once its weight is cut to [0,
    #: 1]: ρ² where it is not, 0 for a judge that runs against the labels.
    reduction: float | None
    reason: str  #: why there is no correlation.


def label_pilot(
    labels: ArrayLike,
    judge: ArrayLike,
    *,
    clusters: ArrayLike | None = None,
    level: float = 0.95,
) -> LabelPilot:
    """Spread of the labels and their correlation with the judge.

    Args:
        labels: h of the labelled answers, finite.
        judge: g of the same answers.
        clusters: of the answers; each its own without.
        level: of the correlation's interval, in (0, 1).

    Raises:
        StatisticsError: lengths that differ, values that are not finite.

    Examples:
        >>> pilot = label_pilot([1, 0, 1, 1, 0, 0, 1, 0, 1, 0], [1, 0, 1, 0, 0, 0, 1, 1, 1, 0])
        >>> round(pilot.correlation, 3), pilot.low, pilot.high
        (0.6, None, None)
    """
    level = as_level(level)
    h, g = as_scores(labels, "labels"), as_scores(judge, "judge")
    check_length(len(g), len(h), "judge")
    groups = clusters_if_any(clusters, len(h)) or one_unit_each(len(h))
    whole = _moments(h, g, groups.codes, groups.n)
    total = whole.sum(axis=0)
    sd, rho, reduction = _figures(total, len(h))
    low = high = None
    reason = ""
    if len(h) < FEWEST_FOR_CORRELATION:
        rho, reduction = None, None
        reason = f"{len(h)} labels; a correlation takes {FEWEST_FOR_CORRELATION}"
    elif rho is None:
        reason = "the judge scores all labelled answers alike"
        if not sd:
            reason = "all labels are equal"
    elif groups.n > 1 and abs(rho) < 1 and not _is_rare(h, g):
        low, high = _jackknife(total - whole, rho, groups.n, level)
    return LabelPilot(len(h), sd, rho, low, high, reduction, reason)


def _is_rare(h: FloatArray, g: FloatArray) -> bool:
    """Whether 0/1 values are so few of a kind that the jackknife of ρ fails (cover down
    to .40, simulated)."""
    if not (is_zero_one(h) and is_zero_one(g)):
        return False
    rare_labels = min(float(h.mean()), 1 - float(h.mean()))
    rare_verdicts = min(float(g.mean()), 1 - float(g.mean()))
    return len(h) * rare_labels * rare_verdicts < FEWEST_IN_CELL


def _moments(
    h: FloatArray, g: FloatArray, codes: NDArray[np.intp], n: int
) -> FloatArray:
    """Sums by cluster of 1, h, g, h², g², hg about the means, shape (G, 6)."""
    h, g = h - h.mean(), g - g.mean()
    parts = (np.ones(len(h)), h, g, h * h, g * g, h * g)
    return np.column_stack(
        [np.bincount(codes, weights=part, minlength=n) for part in parts]
    )


def _figures(
    sums: FloatArray, n: int
) -> tuple[float | None, float | None, float | None]:
    """s, ρ and the share of the variance that is explained."""
    if n < 2:
        return None, None, None
    mean_h, mean_g, hh, gg, hg = map(float, sums[1:] / sums[0])
    var_h = hh - mean_h**2
    var_g = gg - mean_g**2
    cov = hg - mean_h * mean_g
    sd = math.sqrt(max(var_h, 0) * n / (n - 1))
    if min(var_h, var_g) <= 1e-14 * max(hh, gg, 1e-300):
        return sd, None, 0.0
    rho = max(-1.0, min(1.0, cov / math.sqrt(var_h * var_g)))
    weight = min(1.0, max(0.0, cov / var_g))
    explained = weight * (2 * cov - weight * var_g) / var_h
    return sd, rho, explained


def _jackknife(
    left: FloatArray, rho: float, n: int, level: float
) -> tuple[float | None, float | None]:
    """The interval of ρ, each cluster left out once; none where one leaves nothing to
    correlate, or all of it."""
    n_left = np.where(left[:, :1] > 0, left[:, :1], np.nan)
    mean_h, mean_g, hh, gg, hg = (left[:, 1:] / n_left).T
    covariance = hg - mean_h * mean_g
    variances = (hh - mean_h**2) * (gg - mean_g**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        z = np.arctanh(covariance / np.sqrt(variances))
    if not np.isfinite(z).all():
        return None, None
    variance = (n - 1) / n * float(((z - z.mean()) ** 2).sum())
    half = t_quantile(level, n - 1) * math.sqrt(variance)
    return math.tanh(math.atanh(rho) - half), math.tanh(math.atanh(rho) + half)


@dataclass(frozen=True)
class LabelPlan(NamedFigures):
    """How many labels a figure takes."""

    #: with the judge's help; None where not even all answers suffice.
    n_labels: int | None
    n_labels_alone: int | None  #: without it.
    saved: float | None  #: 1 − ``n_labels``/``n_labels_alone``.
    least_error: float  #: the standard error once all N are labelled.
    #: ``weak_judge`` (ρ up to .3), ``few_labels`` (below 20 the labels alone are the
    #: figure).
    flags: tuple[str, ...]
    reason: str  #: why there is no number.


def target_error(
    *,
    width: float | None = None,
    difference: float | None = None,
    level: float = 0.95,
    power: float = 0.8,
) -> float:
    """The standard error that an interval of this width has, or that finds a difference
    this large.

    Raises:
        StatisticsError: both or none of the two, or one that is not above 0, or a level
            or power out of range.
    """
    size = difference
    if difference is None:
        size = width
    if (
        (width is None) == (difference is None)
        or size is None
        or not 0 < size < math.inf
    ):
        raise StatisticsError(
            f"give a width or a difference, above 0; found {width} and {difference}"
        )
    z = z_quantile(as_level(level))
    if width is not None:
        return width / (2 * z)
    if not _EVEN_POWER <= power < 1:
        raise StatisticsError(f"power must be in [0.5, 1), found {power}")
    if power > _EVEN_POWER:
        z += z_quantile(2 * power - 1)
    return size / z


def plan_labels(n_units: int, sd: float, reduction: float, error: float) -> LabelPlan:
    """n = (1 − ρ²)s²/(error² − ρ²s²/N).

    Args:
        n_units: answers that the judge has scored, N.
        sd: s of the labels (of their differences, to compare two models).
        reduction: ρ², what the judge explains of their variance, in [0, 1].
        error: standard error that is wanted (`target_error`).

    Raises:
        StatisticsError: a number out of range.

    Examples:
        >>> plan = plan_labels(1000, 0.5, 0.64, target_error(width=0.1))
        >>> plan.n_labels, plan.n_labels_alone
        (184, 385)
    """
    if (
        n_units < 1
        or not 0 <= sd < math.inf
        or not 0 <= reduction <= 1
        or not error > 0
    ):
        raise StatisticsError(
            "a plan takes answers (1 or more), a spread from 0 on, a squared "
            f"correlation in [0, 1] and an error above 0; found {n_units}, {sd}, "
            f"{reduction}, {error}"
        )
    alone = math.ceil(sd**2 / error**2 - 1e-9)
    least = sd / math.sqrt(n_units)
    flags = flags_of(weak_judge=reduction <= WEAK**2)
    if alone > n_units:
        reason = (
            f"all {n_units:,} answers labelled leave a standard error of {least:.3g}; "
            f"{error:.3g} is wanted"
        )
        return LabelPlan(None, None, None, least, flags, reason)
    helped = 0
    if alone:
        unexplained = (1 - reduction) * sd**2
        left_to_labels = error**2 - reduction * sd**2 / n_units
        helped = math.ceil(unexplained / left_to_labels - 1e-9)
    if helped < FEWEST_LABELS:
        helped, flags = min(alone, FEWEST_LABELS), (*flags, "few_labels")
    helped = max(1, min(helped, alone))
    alone = max(1, alone)
    return LabelPlan(helped, alone, 1 - helped / alone, least, flags, "")


def score_cuts(scores: ArrayLike, groups: int) -> FloatArray:
    """The lowest score of each stratum, ascending: of K groups of alike size, or of
    each score where K are enough.

    Equal scores are of one stratum; one of a single unit joins its lower neighbour, the
    first the second.
    """
    ordered = np.sort(as_scores(scores, "scores"))
    values = np.unique(ordered)
    if len(values) > groups:
        values = np.unique(ordered[np.arange(groups) * len(ordered) // groups])
    while len(values) > 1:
        sizes = np.bincount(strata_by(values, ordered))
        alone = np.flatnonzero(sizes < 2)
        if not alone.size:
            break
        values = np.delete(values, max(1, alone[0]))
        values[0] = ordered[0]
    return values


def strata_by(cuts: FloatArray, scores: FloatArray) -> NDArray[np.intp]:
    """Number of each unit's stratum, by the lowest scores of all; -1 below the first."""
    return np.searchsorted(cuts, scores, side="right") - 1


def allocate_labels(
    sizes: NDArray[np.intp],
    n: int,
    taken: NDArray[np.intp] | None = None,
    spread: FloatArray | None = None,
) -> NDArray[np.intp]:
    """How many of n new labels each stratum gets: with those of earlier waves in shares
    of N_h, or (Neyman) of N_h·s_h.

    At least 2 and half of what is proportional, where n allows it; none is taken back.

    Args:
        sizes: N_h, shape (H,).
        n: new labels, at most what is left.
        taken: labels that each stratum has, shape (H,); None: none.
        spread: s_h of what the judge leaves of the labels; None: proportional.
    """
    before = np.zeros(len(sizes), np.intp)
    if taken is not None:
        before = taken
    total = int(before.sum()) + n
    proportional = total * sizes / sizes.sum()
    share = proportional
    if spread is not None and spread.any():
        # where the others are full, the rest goes to any
        share = sizes * np.maximum(spread, 1e-3 * spread.max())
    floor = np.minimum(np.maximum(2, np.ceil(proportional / 2)), sizes)
    low = np.maximum(floor, before)
    if low.sum() > total:
        low, share = before.astype(np.float64), np.maximum(floor - before, 1e-3)
    targets = _shares_between(share, low, sizes, total)
    whole = np.floor(targets + 1e-9).astype(np.intp)
    new: NDArray[np.intp] = np.maximum(whole - before, 0)
    while new.sum() < n:
        reached = new + before
        over_target = np.where(reached < sizes, reached - targets, np.inf)
        new[np.argmin(over_target)] += 1
    return new


def _shares_between(
    share: FloatArray, low: FloatArray, high: NDArray[np.intp], total: int
) -> FloatArray:
    """The shares, scaled and held between their ends, that sum to the total."""
    below, above = 0.0, 2 * float(high.sum() / share.min())
    for _ in range(200):
        scale = (below + above) / 2
        if np.clip(scale * share, low, high).sum() < total:
            below = scale
        else:
            above = scale
    return np.clip(above * share, low, high)


def level_of_pairs(n: int, level: float = 0.95) -> float:
    """Level of a single interval with which those of all differences of n means hold
    together (Bonferroni).

    Examples:
        >>> level_of_pairs(5)
        0.995
    """
    return 1 - (1 - as_level(level)) / max(1, n * (n - 1) // 2)


def differences_of_means(
    estimates: Sequence[float],
    low: Sequence[float],
    high: Sequence[float],
    influences: Sequence[FloatArray],
) -> tuple[FloatArray, FloatArray]:
    """Differences of means by the intervals of each (MOVER: Zou and Donner 2008), on
    whose scale they so are.

    Symmetric intervals give Student's. Near a bound, where Student's of a difference is
    too short, they do not.

    Args:
        estimates: of M means.
        low: end of the interval of each, at the level that a difference is to have;
            ``high`` the other.
        influences: ψ of each mean, over the same units (or clusters) for all.

    Returns:
        lower and upper ends, shape (M, M), row minus column.
    """
    theta = as_scores(estimates, "estimates")
    lower, upper = as_scores(low, "low"), as_scores(high, "high")
    for values, name in ((lower, "low"), (upper, "high"), (influences, "influences")):
        check_length(len(values), len(theta), name)
    under, over = np.maximum(theta - lower, 0.0), np.maximum(upper - theta, 0.0)
    psi = np.stack([as_scores(values, "influences") for values in influences])
    norms = np.sqrt((psi**2).sum(axis=1))
    norms = np.where(norms > 0, norms, 1.0)
    correlation = np.clip((psi / norms[:, None]) @ (psi / norms[:, None]).T, -1, 1)
    both = 2 * correlation * np.outer(under, over)
    square = np.maximum(under[:, None] ** 2 + over**2 - both, 0.0)
    np.fill_diagonal(square, 0.0)
    gap = theta[:, None] - theta
    return gap - np.sqrt(square), gap + np.sqrt(square.T)


def ranks_left(
    low: FloatArray, high: FloatArray, *, higher_is_better: bool = True
) -> list[tuple[int, int]]:
    """The best and the worst rank that intervals of all differences leave each mean."""
    above, below = (low > 0).sum(axis=1), (high < 0).sum(axis=1)
    better, worse = above, below
    if higher_is_better:
        better, worse = below, above
    best, worst = 1 + better, len(better) - worse
    return list(zip(best.tolist(), worst.tolist(), strict=True))
