"""Whether a judge favours a model: the mean of judge minus people, tested for all
models together (§16)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.draws import all_signs, draw_blocks, sign_block
from warehouse.stats.core.inputs import (
    TIE,
    FloatArray,
    as_level,
    as_scores,
    is_constant,
)
from warehouse.stats.core.quantiles import t_p_value, z_quantile
from warehouse.stats.core.results import NamedFigures, ends_of, flags_of
from warehouse.stats.intervals.closed_form import interval_t
from warehouse.stats.intervals.estimate_mean import estimate_mean

#: Fewer units than this on which judge and people differ: a model is not tested.
FEWEST_DIFFERING = 10
#: Random signs, clusters drawn again, and units of work (draws times clusters) at a
#: time.
N_DRAWS, N_RESAMPLES, BLOCK = 9999, 1999, 1 << 22


@dataclass(frozen=True)
class BiasFigure(NamedFigures):
    """A judge's bias towards one model, or the difference of two groups of models."""

    estimate: float  #: mean of judge minus people.
    #: CR2 with clusters; None where it is 0 or not defined.
    standard_error: float | None
    low: float | None  #: lower end of its own interval (t).
    high: float | None  #: upper end.
    p_value: float | None  #: two-sided, by itself.
    #: by max-|T| over all models that are tested, never below ``p_value``; None where
    #: not tested.
    p_simultaneous: float | None
    n_units: int  #: units that both have judged.
    n_differing: int  #: those on which they differ.
    reason: str  #: why it is not tested; empty otherwise.


def judge_bias(
    differences: Sequence[ArrayLike],
    clusters: Sequence[ArrayLike],
    weights: Sequence[ArrayLike | None] | None = None,
    *,
    level: float = 0.95,
    seed: int = 0,
) -> tuple[BiasFigure, ...]:
    """The bias of a judge towards each model, with one test for all models at once.

    Args:
        differences: judge minus people of each unit, model by model.
        clusters: cluster (prompt) of each unit, integers or strings that mean the same
            for all models.
        weights: 1/π of the label of each unit; None: alike.
        level: nominal coverage of the intervals.
        seed: of the random signs.

    Raises:
        StatisticsError: arrays that do not fit or are not finite.
    """
    as_level(level)
    values = [as_scores(model_values, "differences") for model_values in differences]
    lengths = [len(model_values) for model_values in values]
    if lengths != [len(np.asarray(labels)) for labels in clusters]:
        raise StatisticsError("`clusters` must have one label for each difference")
    all_labels = np.concatenate([np.asarray(labels) for labels in clusters])
    labels, codes = np.unique(all_labels, return_inverse=True)
    groups = np.split(codes, np.cumsum(lengths)[:-1])
    given = weights or [None] * len(values)
    each = [_of_mean_1(w, n) for w, n in zip(given, lengths, strict=True)]
    figures = [
        _own(d, of, w, level) for d, of, w in zip(values, groups, each, strict=True)
    ]
    tested = [k for k, figure in enumerate(figures) if not figure.reason]
    if not tested:
        return tuple(figures)
    sums = np.zeros((len(labels), len(tested)))
    shares = np.zeros_like(sums)
    for column, k in enumerate(tested):
        n = lengths[k]
        sums[:, column] = np.bincount(groups[k], each[k] * values[k] / n, len(labels))
        shares[:, column] = np.bincount(groups[k], each[k], len(labels)) / n
    together = max_t_p_values(sums, shares, seed=seed)
    for k, p in zip(tested, together.tolist(), strict=True):
        own_p = figures[k].p_value or 0.0
        figures[k] = replace(figures[k], p_simultaneous=max(p, own_p))
    return tuple(figures)


def _of_mean_1(weights: ArrayLike | None, n: int) -> FloatArray:
    """Weights scaled to a mean of 1; exactly 1 where they are alike."""
    if weights is None or is_constant(np.asarray(weights)):
        return np.ones(n)
    return np.asarray(np.asarray(weights) * (n / np.sum(weights)))


def _own(
    d: FloatArray,
    codes: np.ndarray[tuple[int, ...], np.dtype[np.intp]],
    weights: FloatArray,
    level: float,
) -> BiasFigure:
    clusters, weighted = None, None
    if len(np.unique(codes)) < len(codes):
        clusters = codes
    if not is_constant(weights):
        weighted = weights
    figure = estimate_mean(
        d, clusters=clusters, weights=weighted, method="t", level=level
    )
    differing = int((d != 0).sum())
    reason = "its error is 0 or not defined"
    if figure.standard_error:
        reason = ""
    if differing < FEWEST_DIFFERING:
        units = f"{differing} units"
        if differing == 1:
            units = "1 unit"
        reason = f"judge and people differ on {units}, fewer than {FEWEST_DIFFERING}"
    p = None
    if figure.standard_error and figure.degrees_of_freedom and not reason:
        statistic = figure.estimate / figure.standard_error
        p = t_p_value(statistic, figure.degrees_of_freedom)
    return BiasFigure(
        figure.estimate,
        figure.standard_error,
        figure.ci_low,
        figure.ci_high,
        p,
        None,
        len(d),
        differing,
        reason,
    )


def self_preference(
    differences: Sequence[ArrayLike],
    clusters: Sequence[ArrayLike],
    own: Sequence[bool],
    *,
    level: float = 0.95,
) -> BiasFigure | None:
    """Mean bias towards the models of the judge's own family, minus that towards the
    others; None without both.

    Args:
        differences: as in `judge_bias`, like ``clusters``.
        own: whether a model is of the judge's family.
    """
    values = [as_scores(model_values, "differences") for model_values in differences]
    n_own = sum(own)
    n_others = len(own) - n_own
    if not n_own or not n_others:
        return None
    all_labels = np.concatenate([np.asarray(one) for one in clusters])
    codes = np.unique(all_labels, return_inverse=True)[1]
    n = sum(len(model_values) for model_values in values)
    # units weighted so that their plain mean is the contrast; residuals are taken by
    # model
    total, parts = 0.0, []
    for d, mine in zip(values, own, strict=True):
        if mine:
            factor = n / len(d) / n_own
        else:
            factor = -n / len(d) / n_others
        total += factor * float(d.sum())
        parts.append(factor * (d - d.mean()) / n)
    figure = BiasFigure(
        estimate=total / n,
        standard_error=None,
        low=None,
        high=None,
        p_value=None,
        p_simultaneous=None,
        n_units=n,
        n_differing=int(sum((d != 0).sum() for d in values)),
        reason="",
    )
    sums = np.bincount(codes, np.concatenate(parts)).astype(np.float64)
    share = np.bincount(codes) / n
    return _with_error(figure, sums, 1 / float(share @ share) - 1, level)


def _with_error(
    figure: BiasFigure, sums: FloatArray, df: float, level: float
) -> BiasFigure:
    """With the error that sums over clusters make."""
    g, df = len(sums), max(1.0, df)
    error = None
    if g > 1:
        error = math.sqrt(g / (g - 1) * float(sums @ sums))
    if not error:
        return replace(figure, reason="its error is 0 or not defined")
    low, high = ends_of(interval_t(figure.estimate, error, df, level=level))
    p = t_p_value(figure.estimate / error, df)
    return replace(
        figure, standard_error=error, low=low, high=high, p_value=p, p_simultaneous=p
    )


def max_t_p_values(
    sums: FloatArray, shares: FloatArray, *, seed: int = 0
) -> FloatArray:
    """Step-down max-|T| of K means being 0, the larger p of two ways to draw, shape
    (K,).

    Random signs of clusters with the null imposed (§2a), which hold for few clusters;
    and clusters drawn again, centred, which hold where differences are skewed: signs
    alone told of a bias in 11 % of samples there.

    Args:
        sums: what each cluster adds to each mean, shape (G, K); a column sums to the
            mean.
        shares: share of each mean's units that a cluster has, shape (G, K).
        seed: of the draws.
    """
    g = len(sums)
    found = _squares(np.ones((1, g)), sums, shares)[0]
    order = np.argsort(found, kind="stable")
    by_signs, by_resamples = np.zeros((2, len(found)))
    exact = 2**g <= N_DRAWS + 1
    n_signs = N_DRAWS
    if exact:
        n_signs = 2**g
    size = max(64, BLOCK // g)
    for rows in draw_blocks(n_signs, size):
        if exact:
            signs = all_signs(g, rows)
        else:
            signs = sign_block(g, rows, seed)
        squares = _squares(signs, sums, shares)
        by_signs[order] += _reach(squares[:, order], found[order])
    centred = sums - shares * sums.sum(axis=0)
    rng = np.random.default_rng(seed)
    alike = np.full(g, 1 / g)
    for rows in draw_blocks(N_RESAMPLES, size):
        counts = rng.multinomial(g, alike, size=rows.stop - rows.start)
        squares = _squares(counts.astype(np.float64), centred, shares)
        by_resamples[order] += _reach(squares[:, order], found[order])
    p = (by_resamples + 1) / (N_RESAMPLES + 1)
    if exact:
        p = np.maximum(by_signs / n_signs, p)
    else:
        p = np.maximum((by_signs + 1) / (n_signs + 1), p)
    p[order] = np.maximum.accumulate(p[order][::-1])[::-1]
    return np.asarray(p)


def _squares(weights: FloatArray, sums: FloatArray, shares: FloatArray) -> FloatArray:
    """T² of each mean, times G/(G − 1), with clusters multiplied by signs or drawn so
    often, shape (draws, K)."""
    if weights.min() < 0:  # signs
        often = np.ones_like(weights)
        mass = np.ones((len(weights), sums.shape[1]))
    else:
        often = weights
        mass = weights @ shares
    n = (weights @ sums) / mass
    cross = weights @ (shares * sums)
    spread = often @ np.square(sums)
    left = spread - 2 * n * cross + n**2 * (often @ np.square(shares))
    left = np.where(left <= TIE * spread, 0.0, left)
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = (n * mass) ** 2 / left
    return np.where(n == 0, 0.0, squares)


def _reach(drawn: FloatArray, found: FloatArray) -> FloatArray:
    """How many draws have a largest T² of those with a smaller one that reaches each,
    ascending."""
    reached: FloatArray = (
        (np.maximum.accumulate(drawn, axis=1) >= found * (1 - TIE) ** 2)
        .sum(axis=0)
        .astype(np.float64)
    )
    return reached


#: Fewer units of a kind than this behind sensitivity or specificity: a flag.
FEW = 20


@dataclass(frozen=True)
class RoganGladen(NamedFigures):
    """A rate corrected for a judge's sensitivity and specificity."""

    #: the rate, within [0, 1]; None where the judge is no better than chance.
    estimate: float | None
    low: float | None  #: lower end of the interval of Lang and Reiczigel (2014).
    high: float | None  #: upper end.
    level: float  #: nominal coverage of the interval.
    judge_rate: float  #: share that the judge finds positive.
    sensitivity: float  #: share of people's positives that the judge finds.
    specificity: float  #: share of people's negatives that it finds.
    n_units: float  #: units judged, after the design effect.
    flags: tuple[str, ...]  #: ``few_positives``, ``few_negatives``.
    reason: str  #: why there is no figure; empty otherwise.


def rogan_gladen(
    positives: float,
    n: float,
    found: float,
    n_positive: float,
    rejected: float,
    n_negative: float,
    *,
    design_effect: float = 1.0,
    level: float = 0.95,
) -> RoganGladen:
    """The rate behind a judge's rate, with the interval of Lang and Reiczigel (2014).

    It holds if the judge is as sensitive and as specific here as in the sample, and
    alike for all models. Where the labels are a random part of the units themselves,
    `prediction_powered_mean` holds without that.

    Args:
        positives: units that the judge finds positive.
        n: units that it has judged.
        found: of the sample's positives, those that it finds.
        n_positive: the sample's positives, by people.
        rejected: of its negatives, those that it finds negative.
        n_negative: the sample's negatives.
        design_effect: of the judge's rate, by clusters; what ``n`` is divided by.
        level: nominal coverage.

    Raises:
        StatisticsError: counts out of range.
    """
    for count, total in ((positives, n), (found, n_positive), (rejected, n_negative)):
        if not 0 <= count <= total or total <= 0:
            raise StatisticsError(
                f"counts must lie between 0 and their total, found {count} of {total}"
            )
    size = n / max(1.0, design_effect)
    figure = RoganGladen(
        estimate=None,
        low=None,
        high=None,
        level=as_level(level),
        judge_rate=positives / n,
        sensitivity=found / n_positive,
        specificity=rejected / n_negative,
        n_units=size,
        flags=flags_of(few_positives=n_positive < FEW, few_negatives=n_negative < FEW),
        reason="the judge is no better than chance in the sample",
    )
    z2 = z_quantile(level) ** 2
    seen = (figure.judge_rate * size + z2 / 2) / (size + z2)
    se = (found + 1) / (n_positive + 2)
    sp = (rejected + 1) / (n_negative + 2)
    d = se + sp - 1
    raw = figure.sensitivity + figure.specificity - 1
    if d <= 0 or raw <= 0:
        return figure
    theta = (seen + sp - 1) / d
    v_seen = seen * (1 - seen) / (size + z2)
    v_se = se * (1 - se) / (n_positive + 2)
    v_sp = sp * (1 - sp) / (n_negative + 2)
    shift = 2 * z2 * (theta * v_se - (1 - theta) * v_sp)
    variance = v_seen + theta**2 * v_se + (1 - theta) ** 2 * v_sp
    half = math.sqrt(z2 * variance) / d
    return replace(
        figure,
        estimate=_share((figure.judge_rate + figure.specificity - 1) / raw),
        low=_share(theta + shift - half),
        high=_share(theta + shift + half),
        reason="",
    )


def _share(value: float) -> float:
    """Cut to [0, 1]."""
    return min(1.0, max(0.0, value))
