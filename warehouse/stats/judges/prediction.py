"""What people would say on average, from a judge's scores of all units and people's labels of some.

Prediction-powered inference in its control-variate form (Angelopoulos, Duchi and Zrnic 2023): the mean of the labels,
moved by λ times what the judge says of all units beyond what it says of the labelled ones. The labels have to be a
simple random part of the units.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    Bounds,
    Clusters,
    FloatArray,
    as_clusters,
    as_floats,
    as_level,
    as_scores,
    check_length,
    finite_bounds,
    is_constant,
    is_zero_one,
)
from warehouse.stats.core.quantiles import t_p_value
from warehouse.stats.core.results import Interval, NamedFigures, figures_text
from warehouse.stats.intervals.closed_form import interval_t, interval_wilson_bounded
from warehouse.stats.intervals.estimate_mean import estimate_mean
from warehouse.stats.paired.sign_flip import binomial_p_value
from warehouse.stats.subsets.estimate import estimate_subset, influence
from warehouse.stats.subsets.sample import StratifiedSample

BoolArray = NDArray[np.bool_]

#: Fewer labels than this, or fewer of one of the two labels: the labels alone.
FEWEST_LABELS, FEWEST_OF_A_KIND = 20, 5
#: Fewer labelled prompts than this on which two models differ: the labels alone.
FEWEST_DIFFERING = 10
#: From how many labels on a model has a λ of its own.
OWN_WEIGHT_FROM = 50
FEW_CLUSTERS = 20


@dataclass(frozen=True)
class CorrectedFigure(NamedFigures):
    """A mean, or a difference of two, as people would have it."""

    estimate: float  #: θ̂, or the labels' own mean where the flag ``labels_only`` stands.
    standard_error: float | None  #: of ``estimate``; None where it is 0 or not defined.
    low: float | None  #: lower end of the interval, None where none can be given.
    high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval.
    degrees_of_freedom: float | None  #: of ``standard_error``.
    weight: float  #: λ, how far the judge is believed: 0 (not at all) to 1.
    correlation: float | None  #: of judge and people over the labelled units; None where one of them is constant.
    n_units: int  #: units N that the judge has scored.
    n_labels: int  #: labelled ones n.
    label_mean: float  #: of the labels alone.
    label_low: float | None  #: lower end of its interval, the default one of such data.
    label_high: float | None  #: upper end.
    width_ratio: float | None  #: width of the interval over that of the labels alone; None where one is missing.
    method: str  #: of the interval.
    reason: str  #: why the labels stand alone, or why there is no interval; empty otherwise.
    #: ``labels_only``, ``few_differing``, ``few_disagreements``, ``few_clusters``, ``judge_against_people`` (they are
    #: negatively correlated).
    flags: tuple[str, ...]
    n_differing: int | None = None  #: labelled prompts on which two models differ; None for a mean.
    p_value: float | None = None  #: two-sided, of a difference of 0; None for a mean.
    mcnemar_p: float | None = None  #: McNemar's exact p of the labels alone; None but for 0/1 labels of two models.

    def __str__(self) -> str:
        figures = figures_text(self.estimate, self.standard_error, self.low, self.high)
        return f"{figures} (λ={self.weight:.3g}, {self.n_labels} of {self.n_units} labelled)"


@dataclass(frozen=True)
class _Labelled:
    """Labels and scores, and what they are a sample of."""

    labels: FloatArray  #: h, NaN where there is none, shape (N,).
    judge: FloatArray  #: g, shape (N,).
    labelled: BoolArray  #: shape (N,).
    clusters: Clusters | None  #: of all units, or None.
    fixed: bool  #: whether these units are all there are.
    level: float
    difference: bool  #: whether the labels are differences of two models.
    ends: tuple[float, float] | None = None  #: smallest and largest label.

    @property
    def n(self) -> int:
        """Labels n."""
        return int(self.labelled.sum())

    @property
    def h(self) -> FloatArray:
        """The labels that there are, shape (n,)."""
        return self.labels[self.labelled]

    @property
    def g(self) -> FloatArray:
        """The judge's scores beside them, shape (n,)."""
        return self.judge[self.labelled]


def prediction_powered_mean(
    h: ArrayLike,
    g: ArrayLike,
    clusters: ArrayLike | None = None,
    *,
    bounds: Bounds | None = None,
    prompts_fixed: bool = False,
    weight: float | None = None,
    level: float = 0.95,
) -> CorrectedFigure:
    """Mean of people's labels, with a judge's help.

    θ̂ = h̄_L − λ(ḡ_L − ḡ), λ the slope of labels on the judge's scores, cut to [0, 1]. The labels stand alone, flagged
    ``labels_only`` with the reason, where they are fewer than 20, fewer than 5 are 0 or 1, λ is 0, the estimate lies
    outside the bounds, or the error is 0.

    Args:
        h: label of each unit (mean of several people's), NaN where there is none, shape (N,).
        g: the judge's score of every unit, finite, shape (N,); on the scale of the labels.
        clusters: of each unit, integers or strings, shape (N,).
        bounds: smallest and largest label; None: 0 and 1 where all labels are 0 or 1, else none.
        prompts_fixed: these units are all there are; else they are a sample of others like them.
        weight: λ, where it is from elsewhere (`pooled_weight`); 0 to 1.
        level: nominal coverage of the interval.

    Raises:
        StatisticsError: no label, arrays that do not fit, values that are not finite.

    Examples:
        >>> h = [1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0] + [float("nan")] * 20
        >>> g = [1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0] + [1, 0] * 10
        >>> print(prediction_powered_mean(h, g))
        0.5915 ± 0.09308 [0.3968, 0.7611] (λ=0.78, 20 of 40 labelled)
    """
    design = _checked(as_floats(h, "h"), as_scores(g, "g"), clusters, prompts_fixed, level)
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
    bounds: Bounds | None = None,
    prompts_fixed: bool = False,
    weight: float | None = None,
    level: float = 0.95,
) -> CorrectedFigure:
    """Difference a − b of two models on the same prompts as people would have it, with one judge's help.

    `prediction_powered_mean` of the prompts' differences, λ of the difference, with Student's t. With fewer than 10
    labelled prompts on which the models differ the labels stand alone, flagged ``few_differing``; for 0/1 labels
    McNemar's exact p stands beside it.

    Args:
        h_a: labels of the first model, NaN where there is none, shape (N,); a prompt counts as labelled where both
            models have a label.
        h_b: of the second model, shape (N,).
        g_a: the judge's score of the first, shape (N,).
        g_b: of the second, shape (N,).
        clusters: as in `prediction_powered_mean`, like the other arguments.
        bounds: smallest and largest label of one model.

    Raises:
        StatisticsError: as there.
    """
    people = [as_floats(one, name) for one, name in ((h_a, "h_a"), (h_b, "h_b"))]
    judges = [as_scores(one, name) for one, name in ((g_a, "g_a"), (g_b, "g_b"))]
    check_length(len(people[1]), len(people[0]), "h_b")
    check_length(len(judges[1]), len(judges[0]), "g_b")
    moved = people[0] - people[1], judges[0] - judges[1]
    design = _checked(*moved, clusters, prompts_fixed, level, difference=True)
    pairs = [one[design.labelled] for one in people]
    zero_one = all(is_zero_one(one) for one in pairs)
    low, high = (0.0, 1.0) if zero_one else finite_bounds(bounds) or (0.0, 0.0)
    figure = _corrected(replace(design, ends=(low - high, high - low) if low < high else None), weight)
    wins, losses = int((pairs[0] > pairs[1]).sum()), int((pairs[0] < pairs[1]).sum())
    return replace(figure, mcnemar_p=binomial_p_value(wins, losses) if zero_one else None)


def pooled_weight(samples: list[tuple[ArrayLike, ArrayLike]]) -> float:
    """λ of several models together: Σ cov(h, g) / Σ var(g) over their labelled units, cut to [0, 1].

    Args:
        samples: labels and the judge's scores of the labelled units, model by model.
    """
    parts = [_moments(as_scores(h, "h"), as_scores(g, "g")) for h, g in samples]
    return _cut(sum(part[0] for part in parts), sum(part[1] for part in parts))


def reproducibility(figure: CorrectedFigure, within: float) -> float:
    """Spread of a corrected figure over fresh draws of the judge: λ√(W(1/n − 1/N)).

    Args:
        within: W, mean over units of the variance between the judge's draws, over their number.
    """
    return figure.weight * math.sqrt(within * (1 / figure.n_labels - 1 / figure.n_units))


def _checked(
    labels: FloatArray,
    judge: FloatArray,
    clusters: ArrayLike | None,
    fixed: bool,
    level: float,
    *,
    difference: bool = False,
) -> _Labelled:
    total = len(judge)
    check_length(len(labels), total, "h")
    labelled = ~np.isnan(labels)
    if not labelled.any():
        raise StatisticsError("no unit has a label of people")
    if not np.isfinite(labels[labelled]).all():
        raise StatisticsError("`h` holds labels that are not finite numbers")
    groups = None if clusters is None else as_clusters(clusters, total)
    return _Labelled(labels, judge, labelled, groups, fixed, as_level(level), difference)


def _moments(h: FloatArray, g: FloatArray) -> tuple[float, float]:
    """cov(h, g) and var(g), ddof 1, of labelled units."""
    if len(h) < 2 or is_constant(g):
        return 0.0, 0.0
    return float((h - h.mean()) @ (g - g.mean())) / (len(h) - 1), float(g.var(ddof=1))


def _cut(covariance: float, variance: float) -> float:
    return float(min(1.0, max(0.0, covariance / variance))) if variance > 0 else 0.0


def _corrected(design: _Labelled, weight: float | None) -> CorrectedFigure:
    if weight is not None and not 0 <= weight <= 1:
        raise StatisticsError(f"`weight` must lie between 0 and 1, found {weight}")
    h, g = design.h, design.g
    covariance, variance = _moments(h, g)
    used = _cut(covariance, variance) if weight is None else float(weight)
    alone = _labels_alone(design)
    helped = _with_judge(design, used)
    reason, flag = _why_alone(design, helped, used)
    common: dict[str, Any] = {
        "correlation": None if is_constant(h) or is_constant(g) else float(np.corrcoef(h, g)[0, 1]),
        "flags": _flags(design, covariance) + flag,
        "n_differing": int((h != 0).sum()) if design.difference else None,
    }
    interval = None if reason else helped.interval(design)
    if interval is None:
        return replace(alone, **common, reason=reason or "the error is too small for an interval")
    width = None if alone.low is None or alone.high is None else alone.high - alone.low
    return replace(
        alone,
        **common,
        estimate=helped.theta,
        standard_error=helped.error,
        low=interval.low,
        high=interval.high,
        degrees_of_freedom=helped.df,
        weight=used,
        width_ratio=(interval.high - interval.low) / width if width else None,
        method=f"prediction_powered_{interval.method}",
        p_value=_p_value(helped.theta, helped.error, helped.df) if design.difference else None,
        reason="",
    )


def _p_value(theta: float, error: float | None, df: float | None) -> float | None:
    return t_p_value(theta / error, df) if error and df else None


@dataclass(frozen=True)
class _Helped:
    """An estimate by λ."""

    theta: float
    error: float | None  #: None where there is none, like its degrees of freedom.
    df: float | None

    def interval(self, design: _Labelled) -> Interval | None:
        if design.difference or design.ends is None:
            return interval_t(self.theta, self.error, self.df, level=design.level)
        return interval_wilson_bounded(self.theta, self.error, self.df, bounds=design.ends, level=design.level)


def _with_judge(design: _Labelled, weight: float) -> _Helped:
    """θ̂ and its error, which is that of Σψ_i."""
    total, n, fitted = len(design.judge), design.n, 2 if weight > 0 else 1
    errors = np.where(design.labelled, design.labels - weight * design.judge, np.nan)
    sample = StratifiedSample(errors, np.zeros(total, np.intp), design.labelled)
    psi = weight * (design.judge - design.judge.mean()) / total
    if n > 1:
        psi = psi + influence(sample) * math.sqrt((n - 1) / max(1, n - fitted))  # n/(n − k) in place of n/(n − 1)
    theta = sample.estimate + weight * float(design.judge.mean())
    if n <= fitted:
        return _Helped(theta, None, None)
    fixed = sample.variance * (n - 1) / max(1, n - fitted), float(n - fitted)
    variance, df = fixed if design.fixed else _variance(design, psi, n - fitted)
    return _Helped(theta, math.sqrt(variance) or None, df)


def _variance(design: _Labelled, psi: FloatArray, df: float) -> tuple[float, float | None]:
    """Squared error and its degrees of freedom, by clusters where there are any."""
    if design.clusters is None:
        return float(psi @ psi), float(df)
    counts = np.bincount(design.clusters.codes[design.labelled], minlength=design.clusters.n)
    shares, labelled = counts / counts.sum(), int((counts > 0).sum())
    if labelled < 2:
        return 0.0, None
    sums = np.bincount(design.clusters.codes, weights=psi)
    freedom = max(1.0, min(df, labelled - 1, 1 / float(shares @ shares) - 1))
    return labelled / (labelled - 1) * float(sums @ sums), freedom


def _why_alone(design: _Labelled, helped: _Helped, weight: float) -> tuple[str, tuple[str, ...]]:
    """Why the labels stand alone, with the flags of that; empty where the judge helps."""
    h, ends = design.h, design.ends
    differing, ones = int((h != 0).sum()), int((h == 1).sum())
    reason = ""
    if design.labelled.all():
        reason = "all answers have a label"
    elif design.difference and differing < FEWEST_DIFFERING:
        prompts = "prompt" if differing == 1 else "prompts"
        return f"the models differ on {differing} labelled {prompts}", ("labels_only", "few_differing")
    elif len(h) < FEWEST_LABELS:
        reason = f"fewer than {FEWEST_LABELS} labels"
    elif not design.difference and is_zero_one(h) and min(ones, len(h) - ones) < FEWEST_OF_A_KIND:
        reason = f"fewer than {FEWEST_OF_A_KIND} labels of one kind"
    elif weight == 0:
        reason = "the judge's scores do not rise with the labels"
    elif helped.error is None:
        reason = "the error of the corrected figure is 0 or not defined"
    elif ends is not None and not ends[0] < helped.theta < ends[1]:
        reason = "the corrected figure would leave the bounds"
    return reason, ("labels_only",) if reason else ()


def _flags(design: _Labelled, covariance: float) -> tuple[str, ...]:
    h, g, clusters = design.h, design.g, design.clusters
    zero_one = is_zero_one(h) and is_zero_one(g)
    holds = {
        "judge_against_people": covariance < 0,
        "few_disagreements": zero_one and int((h != g).sum()) < FEWEST_OF_A_KIND,
        "few_clusters": clusters is not None and len(np.unique(clusters.codes[design.labelled])) < FEW_CLUSTERS,
    }
    return tuple(flag for flag, true in holds.items() if true)


def _labels_alone(design: _Labelled) -> CorrectedFigure:
    """What the labels say without the judge, by the default interval of such data."""
    groups = None if design.clusters is None else design.clusters.codes[design.labelled]
    if design.fixed:
        stratum = np.zeros(len(design.labels), np.intp)
        figure: Any = estimate_subset(design.labels, stratum, design.labelled, bounds=design.ends, level=design.level)
    else:
        figure = estimate_mean(
            design.h,
            clusters=groups,
            bounds=None if design.difference else design.ends,
            method="t" if design.difference and design.ends is not None else "auto",
            level=design.level,
        )
    theta, error, df = figure.estimate, figure.standard_error, figure.degrees_of_freedom
    return CorrectedFigure(
        estimate=theta,
        standard_error=error,
        low=figure.ci_low,
        high=figure.ci_high,
        level=design.level,
        degrees_of_freedom=df,
        weight=0.0,
        correlation=None,
        n_units=len(design.judge),
        n_labels=design.n,
        label_mean=theta,
        label_low=figure.ci_low,
        label_high=figure.ci_high,
        width_ratio=1.0 if figure.ci_low is not None else None,
        method=figure.method,
        reason=figure.reason,
        flags=(),
        p_value=_p_value(theta, error, df) if design.difference else None,
    )
