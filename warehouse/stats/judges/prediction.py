"""What people would say on average, from a judge's scores of all units and people's labels of some.

Prediction-powered inference in its control-variate form (Angelopoulos, Duchi and Zrnic 2023): the mean of the labels,
moved by λ times what the judge says of all units beyond what it says of the labelled ones. The labels have to be a
random part of the units, drawn by known chance.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.draws import PROMPTS_FIXED, PROMPTS_SAMPLED
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
#: Smallest probability of a label, as a share of n/N.
SMALLEST_PROBABILITY = 0.02
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
    n_clusters: int | None  #: clusters with a label, None without clusters.
    judge_mean: float  #: of the judge over all units.
    label_mean: float  #: of the labels alone.
    label_standard_error: float | None  #: its error.
    label_low: float | None  #: lower end of its interval, the default one of such data.
    label_high: float | None  #: upper end.
    width_ratio: float | None  #: width of the interval over that of the labels alone; None where one is missing.
    method: str  #: of the interval.
    reason: str  #: why the labels stand alone, or why there is no interval; empty otherwise.
    #: ``labels_only``, ``few_differing``, ``few_disagreements``, ``few_clusters``, ``joined_strata``,
    #: ``judge_against_people`` (they are negatively correlated).
    flags: tuple[str, ...]
    estimand: str  #: ``prompts_sampled`` or ``prompts_fixed``.
    n_differing: int | None = None  #: labelled prompts on which two models differ; None for a mean.
    p_value: float | None = None  #: two-sided, of a difference of 0; None for a mean.
    mcnemar_p: float | None = None  #: McNemar's exact p of the labels alone; None but for 0/1 labels of two models.
    #: ψ_i, whose squares sum to the squared error, shape (N,); not in `to_dict`.
    influence: FloatArray = field(default_factory=lambda: np.empty(0), repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """The fields by name, without ``influence``."""
        named = NamedFigures.to_dict(replace(self, influence=np.empty(0)))
        del named["influence"]
        return named

    def __str__(self) -> str:
        figures = figures_text(self.estimate, self.standard_error, self.low, self.high)
        return f"{figures} (λ={self.weight:.3g}, {self.n_labels} of {self.n_units} labelled)"


@dataclass(frozen=True)
class Design:
    """Which units have a label, and by what chance."""

    labelled: BoolArray  #: shape (N,).
    #: of each unit, from 0, those with fewer than two labels joined, shape (N,); all 0 for a simple sample.
    stratum: NDArray[np.intp]
    #: chance of a label of each unit, shape (N,), where it follows no strata; else None.
    probabilities: FloatArray | None
    clusters: Clusters | None  #: of all units, or None.
    fixed: bool  #: whether these units are all there are.
    joined: bool = False  #: whether strata had to be joined.

    @property
    def n(self) -> int:
        """Labels n."""
        return int(self.labelled.sum())

    def sample(self, values: FloatArray) -> StratifiedSample:
        """Values of the labelled units as a stratified sample of all."""
        return StratifiedSample(np.where(self.labelled, values, np.nan), self.stratum, self.labelled)

    @property
    def label_weights(self) -> FloatArray:
        """What each label stands for, summing to 1, shape (n,)."""
        if self.probabilities is not None:
            weights = 1 / self.probabilities[self.labelled]
        else:
            sample = self.sample(np.zeros(len(self.labelled)))
            weights = (sample.sizes / sample.scored_in)[self.stratum[self.labelled]]
        shares: FloatArray = weights / weights.sum()
        return shares


def prediction_powered_mean(
    h: ArrayLike,
    g: ArrayLike,
    labelled: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    strata: ArrayLike | None = None,
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
        labelled: which units have a label; None: those whose ``h`` is not NaN.
        probabilities: chance of a label of each unit, shape (N,); None: alike for all, or by strata. Ignored with
            ``strata``, whose counts say it.
        strata: of each unit, integers or strings, shape (N,); labels are a simple random part of each.
        clusters: of each unit, integers or strings, shape (N,).
        bounds: smallest and largest label; None: 0 and 1 where all labels are 0 or 1, else none.
        prompts_fixed: these units are all there are; else they are a sample of others like them.
        weight: λ, where it is from elsewhere (`pooled_weight`); 0 to 1.
        level: nominal coverage of the interval.

    Raises:
        StatisticsError: no label, arrays that do not fit, values that are not finite, probabilities that are not
            above .02·n/N.

    Examples:
        >>> h = [1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1, 0] + [float("nan")] * 20
        >>> g = [1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 1, 1, 1, 0] + [1, 0] * 10
        >>> print(prediction_powered_mean(h, g))
        0.5915 ± 0.09308 [0.3968, 0.7611] (λ=0.78, 20 of 40 labelled)
    """
    labels, judge, design = _checked(h, g, labelled, probabilities, strata, clusters, fixed=prompts_fixed)
    ends = finite_bounds(bounds)
    if ends is None and is_zero_one(labels[design.labelled]):
        ends = (0.0, 1.0)
    return _corrected(labels, judge, design, ends, weight, as_level(level), difference=False)


def prediction_powered_difference(
    h_a: ArrayLike,
    h_b: ArrayLike,
    g_a: ArrayLike,
    g_b: ArrayLike,
    labelled: ArrayLike | None = None,
    probabilities: ArrayLike | None = None,
    strata: ArrayLike | None = None,
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
        labelled: as in `prediction_powered_mean`, like the other arguments.
        bounds: smallest and largest label of one model.

    Raises:
        StatisticsError: as there.
    """
    people = [as_floats(one, name) for one, name in ((h_a, "h_a"), (h_b, "h_b"))]
    judges = [as_scores(one, name) for one, name in ((g_a, "g_a"), (g_b, "g_b"))]
    check_length(len(people[1]), len(people[0]), "h_b")
    check_length(len(judges[1]), len(judges[0]), "g_b")
    labels, judge, design = _checked(
        people[0] - people[1], judges[0] - judges[1], labelled, probabilities, strata, clusters, fixed=prompts_fixed
    )
    pairs = [one[design.labelled] for one in people]
    zero_one = all(is_zero_one(one) for one in pairs)
    is_bounded = zero_one or finite_bounds(bounds) is not None
    ends = (-1.0, 1.0) if zero_one else None if not is_bounded else _width(bounds)
    figure = _corrected(labels, judge, design, ends, weight, as_level(level), difference=True)
    wins, losses = int((pairs[0] > pairs[1]).sum()), int((pairs[0] < pairs[1]).sum())
    return replace(figure, mcnemar_p=binomial_p_value(wins, losses) if zero_one else None)


def _width(bounds: Bounds | None) -> tuple[float, float]:
    low, high = finite_bounds(bounds) or (0.0, 1.0)
    return low - high, high - low


def pooled_weight(samples: list[tuple[ArrayLike, ArrayLike]]) -> float:
    """λ of several models together: Σ cov(h, g) / Σ var(g) over their labelled units, cut to [0, 1].

    Args:
        samples: labels and the judge's scores of the labelled units, model by model.
    """
    parts = [_moments(as_scores(h, "h"), as_scores(g, "g"), None) for h, g in samples]
    return _cut(sum(part[0] for part in parts), sum(part[1] for part in parts))


def reproducibility(figure: CorrectedFigure, within: float) -> float:
    """Spread of a corrected figure over fresh draws of the judge: λ√(W(1/n − 1/N)).

    Args:
        within: W, mean over units of the variance between the judge's draws, over their number.
    """
    return figure.weight * math.sqrt(within * (1 / figure.n_labels - 1 / figure.n_units))


def design_of(
    labelled: BoolArray,
    probabilities: ArrayLike | None,
    strata: ArrayLike | None,
    clusters: ArrayLike | None,
    *,
    fixed: bool = False,
) -> Design:
    """How the labels were drawn, checked.

    Raises:
        StatisticsError: no label, arrays that do not fit, probabilities out of range.
    """
    total, n = len(labelled), int(labelled.sum())
    if not n:
        raise StatisticsError("no unit has a label of people")
    groups = None if clusters is None else as_clusters(clusters, total)
    stratum = np.zeros(total, np.intp)
    chance = None
    if strata is not None:
        stratum = as_clusters(strata, total).codes
    elif probabilities is not None:
        chance = as_scores(probabilities, "probabilities")
        check_length(len(chance), total, "probabilities")
        if chance.max() > 1 or chance.min() < SMALLEST_PROBABILITY * n / total:
            raise StatisticsError(
                f"`probabilities` run from {chance.min():.3g} to {chance.max():.3g}; they must be at most 1 and at"
                f" least {SMALLEST_PROBABILITY:g}·n/N = {SMALLEST_PROBABILITY * n / total:.3g}: a label that"
                " was that unlikely would count for nearly all others"
            )
        chance = None if is_constant(chance) else chance
    plain = StratifiedSample(np.where(labelled, 0.0, np.nan), stratum, labelled)
    joined = plain.joined()
    return Design(labelled, joined.stratum, chance, groups, fixed, joined.n_strata < plain.n_strata)


def _checked(
    h: ArrayLike,
    g: ArrayLike,
    labelled: ArrayLike | None,
    probabilities: ArrayLike | None,
    strata: ArrayLike | None,
    clusters: ArrayLike | None,
    *,
    fixed: bool,
) -> tuple[FloatArray, FloatArray, Design]:
    judge, labels = as_scores(g, "g"), as_floats(h, "h")
    check_length(len(labels), len(judge), "h")
    chosen = ~np.isnan(labels) if labelled is None else np.asarray(labelled, dtype=bool)
    check_length(len(chosen), len(judge), "labelled")
    if not np.isfinite(labels[chosen]).all():
        raise StatisticsError("`h` holds labels that are not finite numbers")
    return labels, judge, design_of(chosen, probabilities, strata, clusters, fixed=fixed)


def _moments(h: FloatArray, g: FloatArray, shares: FloatArray | None) -> tuple[float, float]:
    """cov(h, g) and var(g), ddof 1, of labelled units; with the squares of shares that labels have, if given."""
    if len(h) < 2 or is_constant(g):
        return 0.0, 0.0
    if shares is None:
        return float((h - h.mean()) @ (g - g.mean())) / (len(h) - 1), float(g.var(ddof=1))
    squares = shares**2
    centred = g - shares @ g
    return float(squares @ ((h - shares @ h) * centred)), float(squares @ centred**2)


def _cut(covariance: float, variance: float) -> float:
    return float(min(1.0, max(0.0, covariance / variance))) if variance > 0 else 0.0


def _slope(labels: FloatArray, judge: FloatArray, design: Design) -> tuple[float, float]:
    """Σ W_h² cov_h/n_h and Σ W_h² var_h(g)/n_h."""
    h, g, of = labels[design.labelled], judge[design.labelled], design.stratum[design.labelled]
    if design.probabilities is not None:
        return _moments(h, g, design.label_weights)
    sizes = design.sample(labels).sizes
    covariance = variance = 0.0
    for stratum, size in enumerate(sizes):
        inside = of == stratum
        cov, var = _moments(h[inside], g[inside], None)
        share = (size / len(judge)) ** 2 / max(1, int(inside.sum()))
        covariance, variance = covariance + share * cov, variance + share * var
    return covariance, variance


def _corrected(
    labels: FloatArray,
    judge: FloatArray,
    design: Design,
    ends: tuple[float, float] | None,
    weight: float | None,
    level: float,
    *,
    difference: bool,
) -> CorrectedFigure:
    h, g = labels[design.labelled], judge[design.labelled]
    covariance, variance = _slope(labels, judge, design)
    used = _cut(covariance, variance) if weight is None else _as_weight(weight)
    alone = _labels_alone(labels, judge, design, ends, level, difference=difference)
    theta, psi, freedom = _with_judge(labels, judge, design, used)
    error, df = _error(labels, judge, psi, freedom, design, used)
    reason, flag = _why_alone(h, theta, error, used, ends, difference=difference)
    if design.labelled.all():
        reason, flag = "all answers have a label", ("labels_only",)
    common: dict[str, Any] = {
        "correlation": None if is_constant(h) or is_constant(g) else float(np.corrcoef(h, g)[0, 1]),
        "flags": _flags(h, g, covariance, design) + flag,
        "n_differing": int((h != 0).sum()) if difference else None,
    }
    if reason:
        return replace(alone, **common, reason=reason)
    interval = _interval(theta, error, df, ends, level, difference=difference)
    if interval is None:
        return replace(alone, **common, reason="the error is too small for an interval")
    width = None if alone.low is None or alone.high is None else alone.high - alone.low
    return replace(
        alone,
        **common,
        estimate=theta,
        standard_error=error,
        low=interval.low,
        high=interval.high,
        degrees_of_freedom=df,
        weight=used,
        width_ratio=(interval.high - interval.low) / width if width else None,
        method=f"prediction_powered_{interval.method}",
        p_value=t_p_value(theta / error, df) if difference and error and df else None,
        influence=psi,
        reason="",
    )


def _as_weight(weight: float) -> float:
    if not 0 <= weight <= 1:
        raise StatisticsError(f"`weight` must lie between 0 and 1, found {weight}")
    return float(weight)


def _with_judge(
    labels: FloatArray, judge: FloatArray, design: Design, weight: float
) -> tuple[float, FloatArray, float]:
    """θ̂, ψ_i and the degrees of freedom before clusters."""
    errors, total, n = np.where(design.labelled, labels - weight * judge, np.nan), len(judge), design.n
    fitted = 2 if weight > 0 else 1
    psi = weight * (judge - judge.mean()) / total
    moved = weight * float(judge.mean())
    if design.probabilities is not None:
        shares, own = design.label_weights, errors[design.labelled]
        mean = float(shares @ own)
        psi[design.labelled] += shares * (own - mean) * math.sqrt(n / max(1, n - fitted) * _chance_floor(own, shares))
        return mean + moved, psi, max(1.0, 1 / float(shares @ shares) - fitted)
    sample = design.sample(errors)
    if (sample.scored_in < 2).any():
        return sample.estimate + moved, psi, 0.0
    if sample.n_strata == 1:  # n/(n − k) in place of n/(n − 1)
        psi = psi + influence(sample) * math.sqrt((n - 1) / max(1, n - fitted))
        return sample.estimate + moved, psi, float(n - fitted)
    return sample.estimate + moved, psi + influence(sample), sample.degrees_of_freedom - (weight > 0)


def _chance_floor(e: FloatArray, shares: FloatArray) -> float:
    """By how much the squares of shares·(e − ē) are too small where heavy units agree by chance: at least 1.

    Their sum is held to that of units whose shares have nothing to do with e, Σ share² times the variance of e (§1a).
    """
    squares = (e - shares @ e) ** 2
    seen = float(shares**2 @ squares)
    return max(1.0, float(shares @ shares) * float(shares @ squares) / seen) if seen else 1.0


def _rare_in_strata(labels: FloatArray, errors: FloatArray, design: Design) -> float:
    """What the squared error lacks where a stratum has hardly a label of one kind by chance; of 0/1 labels in strata.

    A stratum with fewer than 5 of a kind is held to the variance of p = (k + ½)/(n + 1), k of the rarer kind.
    """
    sample = design.sample(errors)
    if sample.n_strata == 1 or design.probabilities is not None or not is_zero_one(labels[design.labelled]):
        return 0.0
    of, n = design.stratum[design.labelled], sample.scored_in
    ones = np.bincount(of, labels[design.labelled], sample.n_strata)
    rarer = np.minimum(ones, n - ones)
    p = (rarer + 0.5) / (n + 1)
    seen = np.bincount(of, (sample.y - sample.means[of]) ** 2, sample.n_strata) / np.maximum(n - 1, 1)
    lacks = np.where(rarer < FEWEST_OF_A_KIND, np.maximum(p * (1 - p) - seen, 0.0), 0.0)
    left = 1 - n / sample.sizes if design.fixed else 1.0
    return float(((sample.sizes / sample.n) ** 2 * lacks * left / n).sum())


def _error(
    labels: FloatArray, judge: FloatArray, psi: FloatArray, df: float, design: Design, weight: float
) -> tuple[float | None, float | None]:
    """Standard error and its degrees of freedom; None where there is none."""
    if df <= 0:
        return None, None
    errors = np.where(design.labelled, labels - weight * judge, np.nan)
    lacks = _rare_in_strata(labels, errors, design)
    if design.fixed:
        return math.sqrt(lacks + _fixed_variance(errors, design, weight)) or None, df
    if design.clusters is None:
        return math.sqrt(lacks + float(psi @ psi)) or None, df
    codes = design.clusters.codes
    counts = np.bincount(codes[design.labelled], minlength=design.clusters.n)
    shares = counts / counts.sum()
    with_label = int((counts > 0).sum())
    if with_label < 2:
        return None, None
    sums = np.bincount(codes, weights=psi)
    error = math.sqrt(lacks + with_label / (with_label - 1) * float(sums @ sums))
    return error or None, max(1.0, min(df, with_label - 1, 1 / float(shares @ shares) - 1))


def _fixed_variance(errors: FloatArray, design: Design, weight: float) -> float:
    """Of the draw of labels alone: these units are all there are."""
    if design.probabilities is not None:
        shares, e = design.label_weights, errors[design.labelled]
        left = 1 - design.probabilities[design.labelled]
        return float((left * shares**2) @ (e - shares @ e) ** 2) * _chance_floor(e, shares)
    sample = design.sample(errors)
    if sample.n_strata > 1:
        return sample.variance
    return sample.variance * (design.n - 1) / max(1, design.n - (2 if weight > 0 else 1))


def _why_alone(
    h: FloatArray,
    theta: float,
    error: float | None,
    weight: float,
    ends: tuple[float, float] | None,
    *,
    difference: bool,
) -> tuple[str, tuple[str, ...]]:
    """Why the labels stand alone, with the flags of that; empty where the judge helps."""
    differing = int((h != 0).sum())
    if difference and differing < FEWEST_DIFFERING:
        prompts = "prompt" if differing == 1 else "prompts"
        return f"the models differ on {differing} labelled {prompts}", ("labels_only", "few_differing")
    reason = ""
    ones = int((h == 1).sum())
    if len(h) < FEWEST_LABELS:
        reason = f"fewer than {FEWEST_LABELS} labels"
    elif not difference and is_zero_one(h) and min(ones, len(h) - ones) < FEWEST_OF_A_KIND:
        reason = f"fewer than {FEWEST_OF_A_KIND} labels of one kind"
    elif weight == 0:
        reason = "the judge's scores do not rise with the labels"
    elif error is None:
        reason = "the error of the corrected figure is 0 or not defined"
    elif ends is not None and not ends[0] < theta < ends[1]:
        reason = "the corrected figure would leave the bounds"
    return reason, ("labels_only",) if reason else ()


def _flags(h: FloatArray, g: FloatArray, covariance: float, design: Design) -> tuple[str, ...]:
    zero_one = is_zero_one(h) and is_zero_one(g)
    holds = {
        "judge_against_people": covariance < 0,
        "few_disagreements": zero_one and int((h != g).sum()) < FEWEST_OF_A_KIND,
        "few_clusters": design.clusters is not None
        and len(np.unique(design.clusters.codes[design.labelled])) < FEW_CLUSTERS,
        "joined_strata": design.joined,
    }
    return tuple(flag for flag, true in holds.items() if true)


@dataclass(frozen=True)
class _Alone:
    """What is needed of an estimate of the labels alone."""

    estimate: float
    standard_error: float
    degrees_of_freedom: float
    ci_low: float
    ci_high: float
    method: str = "by_design"
    reason: str = ""


def _by_design(
    labels: FloatArray,
    judge: FloatArray,
    design: Design,
    ends: tuple[float, float] | None,
    level: float,
    *,
    difference: bool,
) -> _Alone | None:
    """The labels alone where they were drawn by strata or by chances of their own; None where their error is 0."""
    theta, psi, freedom = _with_judge(labels, judge, design, 0.0)
    error, df = _error(labels, judge, psi, freedom, design, 0.0)
    interval = _interval(theta, error, df, ends, level, difference=difference)
    if interval is None or error is None or df is None:
        return None
    return _Alone(theta, error, df, interval.low, interval.high)


def _interval(
    theta: float,
    error: float | None,
    df: float | None,
    ends: tuple[float, float] | None,
    level: float,
    *,
    difference: bool,
) -> Interval | None:
    if difference or ends is None:
        return interval_t(theta, error, df, level=level)
    return interval_wilson_bounded(theta, error, df, bounds=ends, level=level)


def _labels_alone(
    labels: FloatArray,
    judge: FloatArray,
    design: Design,
    ends: tuple[float, float] | None,
    level: float,
    *,
    difference: bool,
) -> CorrectedFigure:
    """What the labels say without the judge, by the default interval of such data."""
    h = labels[design.labelled]
    groups = None if design.clusters is None else design.clusters.codes
    designed = design.probabilities is not None or len(np.unique(design.stratum)) > 1
    figure: Any = _by_design(labels, judge, design, ends, level, difference=difference) if designed else None
    if figure is None and design.fixed:
        masked = np.where(design.labelled, labels, np.nan)
        figure = estimate_subset(masked, design.stratum, design.labelled, bounds=ends, level=level)
    elif figure is None:
        figure = estimate_mean(
            h,
            clusters=None if groups is None else groups[design.labelled],
            weights=design.label_weights if designed else None,
            bounds=None if difference else ends,
            method="t" if difference and ends is not None else "auto",
            level=level,
        )
    error, df = figure.standard_error, figure.degrees_of_freedom
    return CorrectedFigure(
        estimate=figure.estimate,
        standard_error=error,
        low=figure.ci_low,
        high=figure.ci_high,
        level=level,
        degrees_of_freedom=df,
        weight=0.0,
        correlation=None,
        n_units=len(judge),
        n_labels=design.n,
        n_clusters=None if groups is None else len(np.unique(groups[design.labelled])),
        judge_mean=float(judge.mean()),
        label_mean=figure.estimate,
        label_standard_error=error,
        label_low=figure.ci_low,
        label_high=figure.ci_high,
        width_ratio=1.0 if figure.ci_low is not None else None,
        method=figure.method,
        reason=figure.reason,
        flags=(),
        estimand=PROMPTS_FIXED if design.fixed else PROMPTS_SAMPLED,
        p_value=t_p_value(figure.estimate / error, df) if difference and error and df else None,
        influence=_with_judge(labels, judge, design, 0.0)[1],
    )
