"""What people would say on average, from a judge's scores of all units and people's
labels of some.

Prediction-powered inference in its control-variate form (Angelopoulos, Duchi and Zrnic
2023): the mean of the labels, moved by λ times what the judge says of all units beyond
what it says of the labelled ones. The labels have to be a random part of the units,
drawn by known chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    FloatArray,
    as_floats,
    as_scores,
    check_length,
    finite_bounds,
    is_constant,
    is_zero_one,
)
from warehouse.stats.core.quantiles import t_p_value
from warehouse.stats.core.results import Interval, NamedFigures, figures_text, flags_of
from warehouse.stats.intervals.estimate_mean import estimate_mean
from warehouse.stats.judges.labelled import (
    Labelled,
    cut,
    labelled_units,
    moments,
    slope,
)
from warehouse.stats.judges.with_judge import FEWEST_LABELS as FEWEST_LABELS
from warehouse.stats.judges.with_judge import (
    FEWEST_OF_A_KIND,
    WithJudge,
    label_flags,
    why_alone,
    with_judge,
)
from warehouse.stats.paired.sign_flip import binomial_p_value
from warehouse.stats.subsets.estimate import estimate_subset

#: From how many labels on a model has a λ of its own.
OWN_WEIGHT_FROM = 50
#: Labels of the variance of all that each stratum's counts with.
PRIOR_LABELS = 30


@dataclass(frozen=True)
class CorrectedFigure(NamedFigures):
    """A mean, or a difference of two, as people would have it."""

    #: θ̂, or the labels' own mean where the flag ``labels_only`` stands.
    estimate: float
    standard_error: float | None  #: of ``estimate``; None where it is 0 or not defined.
    low: float | None  #: lower end of the interval, None where none can be given.
    high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval.
    degrees_of_freedom: float | None  #: of ``standard_error``.
    weight: float  #: λ, how far the judge is believed: 0 (not at all) to 1.
    #: of judge and people over the labelled units; None where one of them is constant.
    correlation: float | None
    n_units: int  #: units N that the judge has scored.
    n_labels: int  #: labelled ones n.
    label_mean: float  #: of the labels alone.
    label_low: float | None  #: lower end of its interval, the default one of such data.
    label_high: float | None  #: upper end.
    #: width of the interval over that of the labels alone; None where one is missing.
    width_ratio: float | None
    method: str  #: of the interval.
    reason: str  #: why the labels stand alone, or why there is no interval; empty otherwise.
    #: ``labels_only``, ``few_differing``, ``few_disagreements``, ``few_clusters``,
    #: ``judge_against_people`` (they are negatively correlated), ``skewed`` (labels
    #: without bounds: t and bootstrap-t differ).
    flags: tuple[str, ...]
    #: labelled prompts on which two models differ; None for a mean.
    n_differing: int | None = None
    p_value: float | None = None  #: two-sided, of a difference of 0; None for a mean.
    #: McNemar's exact p of the labels alone; None but for 0/1 labels of two models.
    mcnemar_p: float | None = None

    def __str__(self) -> str:
        figures = figures_text(self.estimate, self.standard_error, self.low, self.high)
        return (
            f"{figures} (λ={self.weight:.3g}, {self.n_labels} of {self.n_units} "
            "labelled)"
        )


def prediction_powered_mean(
    h: ArrayLike,
    g: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    strata: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    bounds: Bounds | None = None,
    prompts_fixed: bool = False,
    weight: float | None = None,
    level: float = 0.95,
) -> CorrectedFigure:
    """Mean of people's labels, with a judge's help.

    θ̂ = h̄_L − λ(ḡ_L − ḡ), λ the slope of labels on the judge's scores, cut to [0, 1].
    The labels stand alone, flagged ``labels_only`` with the reason, where they are
    fewer than 20, fewer than 5 are 0 or 1, λ is 0, the estimate lies outside the
    bounds, or the error is 0.

    Args:
        h: label of each unit (mean of several people's), NaN where there is none, shape
            (N,).
        g: the judge's score of every unit, finite, shape (N,); on the scale of the
            labels.
        clusters: of each unit, integers or strings, shape (N,).
        strata: of each unit, integers or strings, shape (N,); labels are a simple
            random part of each. Those with fewer than two labels are joined.
        probabilities: chance of a label, of units that have one, shape (N,); None:
            alike for all, or by strata, whose counts say it.
        bounds: smallest and largest label; None: 0 and 1 where all labels are 0 or 1,
            else none.
        prompts_fixed: these units are all there are; else (and by ``probabilities``)
            they are a sample of others.
        weight: λ, where it is from elsewhere (`pooled_weight`); 0 to 1.
        level: nominal coverage of the interval.

    Raises:
        StatisticsError: no label, arrays that do not fit, values that are not finite,
            probabilities that are not above .02·n/N.

    Examples:
        >>> h = [1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0] + [float("nan")] * 20
        >>> g = [1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0] + [1, 0] * 10
        >>> print(prediction_powered_mean(h, g))
        0.5915 ± 0.09308 [0.3968, 0.7611] (λ=0.78, 20 of 40 labelled)
    """
    design = labelled_units(h, g, clusters, strata, probabilities, prompts_fixed, level)
    ends = finite_bounds(bounds)
    if ends is None and is_zero_one(design.h):
        ends = (0.0, 1.0)
    return _corrected(replace(design, ends=ends), weight)


def prediction_powered_difference(
    h_a: ArrayLike,
    h_b: ArrayLike,
    g_a: ArrayLike,
    g_b: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    strata: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    bounds: Bounds | None = None,
    prompts_fixed: bool = False,
    weight: float | None = None,
    level: float = 0.95,
) -> CorrectedFigure:
    """Difference a − b of two models on the same prompts as people would have it, with
    one judge's help.

    `prediction_powered_mean` of the prompts' differences, λ of the difference, with
    Student's t. With fewer than 10 labelled prompts on which the models differ the
    labels stand alone, flagged ``few_differing``; for 0/1 labels McNemar's exact p
    stands beside it.

    Args:
        h_a: labels of the first model, NaN where there is none, shape (N,); a prompt
            counts as labelled where both models have a label.
        h_b: of the second model, shape (N,).
        g_a: the judge's score of the first, shape (N,).
        g_b: of the second, shape (N,).
        clusters: as in `prediction_powered_mean`, like the other arguments.
        bounds: smallest and largest label of one model.

    Raises:
        StatisticsError: as there.
    """
    labels_a, labels_b = as_floats(h_a, "h_a"), as_floats(h_b, "h_b")
    judge_a, judge_b = as_scores(g_a, "g_a"), as_scores(g_b, "g_b")
    check_length(len(labels_b), len(labels_a), "h_b")
    check_length(len(judge_b), len(judge_a), "g_b")
    design = labelled_units(
        labels_a - labels_b,
        judge_a - judge_b,
        clusters,
        strata,
        probabilities,
        prompts_fixed,
        level,
        difference=True,
    )
    labels_a, labels_b = labels_a[design.labelled], labels_b[design.labelled]
    zero_one = is_zero_one(labels_a) and is_zero_one(labels_b)
    limits = finite_bounds(bounds)
    if zero_one:
        limits = (0.0, 1.0)
    if limits is not None and limits[0] < limits[1]:
        low, high = limits
        design = replace(design, ends=(low - high, high - low))
    figure = _corrected(design, weight)
    if not zero_one:
        return figure
    wins = int((labels_a > labels_b).sum())
    losses = int((labels_a < labels_b).sum())
    return replace(figure, mcnemar_p=binomial_p_value(wins, losses))


def pooled_weight(samples: list[tuple[ArrayLike, ArrayLike]]) -> float:
    """λ of several models together: Σ cov(h, g) / Σ var(g) over their labelled units,
    cut to [0, 1].

    Args:
        samples: labels and the judge's scores of the labelled units, model by model.
    """
    parts = [moments(as_scores(h, "h"), as_scores(g, "g")) for h, g in samples]
    return cut(sum(part[0] for part in parts), sum(part[1] for part in parts))


def label_influence(
    h: ArrayLike,
    g: ArrayLike,
    weight: float,
    strata: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
) -> FloatArray:
    """ψ of each unit: what it adds to the error of `prediction_powered_mean` by λ,
    shape (N,)."""
    design = labelled_units(h, g, None, strata, probabilities, False, 0.95)
    return with_judge(design, weight).psi


def label_spread(
    samples: Sequence[tuple[FloatArray, FloatArray]], strata: NDArray[np.intp]
) -> FloatArray | None:
    """s_e of h − λg in each stratum, over several models; None where one has fewer than
    five labels in a stratum.

    Each as if 30 more labels had the variance of all: without that the waves that
    follow it covered .92 in simulation.

    Args:
        samples: labels, NaN where there is none, and the judge's scores, model by
            model, shape (N,) each.
        strata: of each unit, from 0, shape (N,).
    """
    codes = range(int(strata.max()) + 1)
    for h, _ in samples:
        labelled = strata[np.isfinite(h)]
        if np.bincount(labelled, minlength=len(codes)).min() < FEWEST_OF_A_KIND:
            return None
    slopes = [
        slope(labelled_units(h, g, None, strata, None, False, 0.95)) for h, g in samples
    ]
    weight = cut(*np.sum(slopes, axis=0))
    squares: list[list[float]] = []
    for h, g in samples:
        rest = h - weight * g
        squares.append([np.nanvar(rest[strata == code], ddof=1) for code in codes])
    counts = np.bincount(strata[np.isfinite(samples[0][0])]) - 1
    variances = np.mean(squares, axis=0)
    variance_of_all = counts @ variances / counts.sum()
    sums = counts * variances + PRIOR_LABELS * variance_of_all
    return np.asarray(np.sqrt(sums / (counts + PRIOR_LABELS)))


def reproducibility(figure: CorrectedFigure, within: float) -> float:
    """Spread of a corrected figure over fresh draws of the judge: λ√(W(1/n − 1/N)).

    Args:
        within: W, mean over units of the variance between the judge's draws, over their
            number.
    """
    lacking = 1 / figure.n_labels - 1 / figure.n_units
    return figure.weight * math.sqrt(within * lacking)


def _corrected(design: Labelled, weight: float | None) -> CorrectedFigure:
    if weight is not None and not 0 <= weight <= 1:
        raise StatisticsError(f"`weight` must lie between 0 and 1, found {weight}")
    h, g = design.h, design.g
    covariance, variance = slope(design)
    used = cut(covariance, variance)
    if weight is not None:
        used = float(weight)
    alone = replace(_labels_alone(design), flags=label_flags(design, covariance))
    if not (is_constant(h) or is_constant(g)):
        alone = replace(alone, correlation=float(np.corrcoef(h, g)[0, 1]))
    if design.difference:
        alone = replace(alone, n_differing=int((h != 0).sum()))
    helped = with_judge(design, used)
    reason, flags = why_alone(design, helped, used)
    if reason:
        return replace(alone, reason=reason, flags=alone.flags + flags)
    interval = helped.interval(design)
    if interval is None:
        return replace(alone, reason="the error is too small for an interval")
    return _moved(alone, design, helped, interval, used)


def _moved(
    alone: CorrectedFigure,
    design: Labelled,
    helped: WithJudge,
    interval: Interval,
    weight: float,
) -> CorrectedFigure:
    """The figure of the labels alone, moved by what the judge says."""
    width_ratio = p_value = None
    if alone.low is not None and alone.high is not None and alone.high > alone.low:
        width = alone.high - alone.low
        width_ratio = (interval.high - interval.low) / width
    if design.difference:
        p_value = helped.p_value(design)
    return replace(
        alone,
        estimate=helped.theta,
        standard_error=helped.error,
        low=interval.low,
        high=interval.high,
        degrees_of_freedom=helped.df,
        weight=weight,
        width_ratio=width_ratio,
        method=f"prediction_powered_{interval.method}",
        p_value=p_value,
        reason="",
        flags=alone.flags + flags_of(skewed=helped.is_skewed(design)),
    )


def _labels_alone(design: Labelled) -> CorrectedFigure:
    """What the labels say without the judge, by the default interval of such data."""
    helped = None
    if design.shares is not None or design.stratum.any():
        helped = with_judge(design, 0.0)
    by_design = None
    if helped is not None:
        by_design = helped.interval(design)
    low: float | None
    if helped is not None and by_design is not None:
        theta, error, df = helped.theta, helped.error, helped.df
        low, high = by_design.low, by_design.high
        method, reason = "by_design", ""
    else:
        figure = _default_figure(design)
        theta, error = figure.estimate, figure.standard_error
        df = figure.degrees_of_freedom
        low, high = figure.ci_low, figure.ci_high
        method, reason = figure.method, figure.reason
    width_ratio = p_value = None
    if low is not None:
        width_ratio = 1.0
    if design.difference:
        p_value = _p_alone(design, helped, theta, error, df)
    return CorrectedFigure(
        estimate=theta,
        standard_error=error,
        low=low,
        high=high,
        level=design.level,
        degrees_of_freedom=df,
        weight=0.0,
        correlation=None,
        n_units=len(design.judge),
        n_labels=design.n,
        label_mean=theta,
        label_low=low,
        label_high=high,
        width_ratio=width_ratio,
        method=method,
        reason=reason,
        flags=(),
        p_value=p_value,
    )


def _p_alone(
    design: Labelled,
    helped: WithJudge | None,
    theta: float,
    error: float | None,
    df: float | None,
) -> float | None:
    """p of a difference by the labels alone, by what its interval is by."""
    if not error or not df:
        return None
    plain = helped or with_judge(design, 0.0)
    if design.ends is None and plain.error:
        return plain.p_value(design)
    return t_p_value(theta / error, df)


def _default_figure(design: Labelled) -> Any:
    """The mean of the labels by the default interval of scores, by weights where
    chances differ."""
    if design.fixed:
        return estimate_subset(
            design.labels,
            design.stratum,
            design.labelled,
            bounds=design.ends,
            level=design.level,
        )
    sample = design.sample(design.labels)
    weights = design.shares
    if weights is None and sample.n_strata > 1:
        weights = (sample.sizes / sample.scored_in)[design.stratum[design.labelled]]
    codes = None
    if design.clusters is not None:
        codes = design.clusters.codes[design.labelled]
    bounds, method = design.ends, "auto"
    if design.difference:
        if bounds is not None:
            method = "t"
        bounds = None
    return estimate_mean(
        design.h,
        clusters=codes,
        weights=weights,
        bounds=bounds,
        method=method,
        level=design.level,
    )
