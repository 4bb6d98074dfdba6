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
from warehouse.stats.core.results import NamedFigures, flags_of
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
    if [len(model_values) for model_values in values] != [
        len(np.asarray(model_values)) for model_values in clusters
    ]:
        raise StatisticsError("`clusters` must have one label for each difference")
    labels, codes = np.unique(
        np.concatenate([np.asarray(one) for one in clusters]), return_inverse=True
    )
    groups = np.split(
        codes, np.cumsum([len(model_values) for model_values in values])[:-1]
    )
    each = [
        np.ones(len(d))
        if w is None or is_constant(np.asarray(w))
        else np.asarray(w) * (len(d) / np.sum(w))
        for d, w in zip(values, weights or [None] * len(values), strict=True)
    ]
    own = [_own(d, of, w, level) for d, of, w in zip(values, groups, each, strict=True)]
    tested = [k for k, figure in enumerate(own) if not figure.reason]
    sums = np.zeros((len(labels), len(tested)))
    shares = np.zeros_like(sums)
    for column, k in enumerate(tested):
        sums[:, column] = np.bincount(
            groups[k], each[k] * values[k] / len(values[k]), len(labels)
        )
        shares[:, column] = np.bincount(groups[k], each[k], len(labels)) / len(
            values[k]
        )
    together = max_t_p_values(sums, shares, seed=seed) if tested else np.empty(0)
    joint = dict(zip(tested, together.tolist(), strict=True))
    return tuple(
        figure
        if k not in joint
        else replace(figure, p_simultaneous=max(joint[k], figure.p_value or 0.0))
        for k, figure in enumerate(own)
    )


def _own(
    d: FloatArray,
    codes: np.ndarray[tuple[int, ...], np.dtype[np.intp]],
    weights: FloatArray,
    level: float,
) -> BiasFigure:
    clusters = None if len(np.unique(codes)) == len(codes) else codes
    weighted = None if is_constant(weights) else weights
    figure = estimate_mean(
        d, clusters=clusters, weights=weighted, method="t", level=level
    )
    differing = int((d != 0).sum())
    reason = "its error is 0 or not defined"
    if figure.standard_error:
        reason = ""
    if differing < FEWEST_DIFFERING:
        if differing == 1:
            units = "1 unit"
        else:
            units = f"{differing} units"
        reason = f"judge and people differ on {units}, fewer than {FEWEST_DIFFERING}"
    p = None
    if figure.standard_error and figure.degrees_of_freedom and not reason:
        p = t_p_value(
            figure.estimate / figure.standard_error, figure.degrees_of_freedom
        )
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
    sizes = {True: sum(own), False: len(own) - sum(own)}
    if not all(sizes.values()):
        return None
    _, codes = np.unique(
        np.concatenate([np.asarray(one) for one in clusters]), return_inverse=True
    )
    n = sum(len(model_values) for model_values in values)
    # units weighted so that their plain mean is the contrast; residuals are taken by
    # model
    factors = [
        n / len(d) / sizes[mine] * (1 if mine else -1)
        for d, mine in zip(values, own, strict=True)
    ]
    estimate = (
        sum(factor * float(d.sum()) for factor, d in zip(factors, values, strict=True))
        / n
    )
    psi = np.concatenate(
        [factor * (d - d.mean()) / n for factor, d in zip(factors, values, strict=True)]
    )
    sums = np.bincount(codes, psi)
    share = np.bincount(codes) / n
    g, df = len(sums), max(1.0, 1 / float(share @ share) - 1)
    error = math.sqrt(g / (g - 1) * float(sums @ sums)) if g > 1 else None
    differing = int(sum((d != 0).sum() for d in values))
    if not error:
        return BiasFigure(
            estimate,
            None,
            None,
            None,
            None,
            None,
            n,
            differing,
            "its error is 0 or not defined",
        )
    ends = interval_t(estimate, error, df, level=level)
    p = t_p_value(estimate / error, df)
    low, high = (None, None) if ends is None else (ends.low, ends.high)
    return BiasFigure(estimate, error, low, high, p, p, n, differing, "")


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
    exact = 2**g <= N_DRAWS + 1
    n_signs = 2**g if exact else N_DRAWS
    order = np.argsort(found, kind="stable")
    reached = np.zeros((2, len(found)))
    for rows in draw_blocks(n_signs, max(64, BLOCK // g)):
        signs = all_signs(g, rows) if exact else sign_block(g, rows, seed)
        reached[0, order] += _reach(
            _squares(signs, sums, shares)[:, order], found[order]
        )
    centred, rng = sums - shares * sums.sum(axis=0), np.random.default_rng(seed)
    for rows in draw_blocks(N_RESAMPLES, max(64, BLOCK // g)):
        counts = rng.multinomial(
            g, np.full(g, 1 / g), size=rows.stop - rows.start
        ).astype(np.float64)
        reached[1, order] += _reach(
            _squares(counts, centred, shares)[:, order], found[order]
        )
    p = np.maximum(
        (reached[0] + (not exact)) / (n_signs + (not exact)),
        (reached[1] + 1) / (N_RESAMPLES + 1),
    )
    p[order] = np.maximum.accumulate(p[order][::-1])[::-1]
    return np.asarray(p)


def _squares(weights: FloatArray, sums: FloatArray, shares: FloatArray) -> FloatArray:
    """T² of each mean, times G/(G − 1), with clusters multiplied by signs or drawn so
    often, shape (draws, K)."""
    are_signs = weights.min() < 0
    often = weights
    if are_signs:
        often = np.ones_like(weights)
    if are_signs:
        mass = np.ones((len(weights), sums.shape[1]))
    else:
        mass = weights @ shares
    n, cross = (weights @ sums) / mass, weights @ (shares * sums)
    spread = often @ np.square(sums)
    left = spread - 2 * n * cross + n**2 * (often @ np.square(shares))
    with np.errstate(divide="ignore", invalid="ignore"):
        squares = np.where(
            n == 0, 0.0, (n * mass) ** 2 / np.where(left <= TIE * spread, 0.0, left)
        )
    return np.asarray(squares)


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
    z2 = z_quantile(as_level(level)) ** 2
    rate, size = positives / n, n / max(1.0, design_effect)
    seen = (rate * size + z2 / 2) / (size + z2)
    se, sp = (found + 1) / (n_positive + 2), (rejected + 1) / (n_negative + 2)
    d = se + sp - 1
    raw = found / n_positive + rejected / n_negative - 1
    estimate = low = high = None
    if d > 0 and raw > 0:
        theta = (seen + sp - 1) / d
        v_se, v_sp = se * (1 - se) / (n_positive + 2), sp * (1 - sp) / (n_negative + 2)
        shift = 2 * z2 * (theta * v_se - (1 - theta) * v_sp)
        half = (
            math.sqrt(
                z2
                * (
                    seen * (1 - seen) / (size + z2)
                    + theta**2 * v_se
                    + (1 - theta) ** 2 * v_sp
                )
            )
            / d
        )
        low, high = (
            min(1.0, max(0.0, end))
            for end in (theta + shift - half, theta + shift + half)
        )
        estimate = min(1.0, max(0.0, (rate + rejected / n_negative - 1) / raw))
    return RoganGladen(
        estimate=estimate,
        low=low,
        high=high,
        level=level,
        judge_rate=rate,
        sensitivity=found / n_positive,
        specificity=rejected / n_negative,
        n_units=size,
        flags=flags_of(few_positives=n_positive < FEW, few_negatives=n_negative < FEW),
        reason=""
        if estimate is not None
        else "the judge is no better than chance in the sample",
    )
