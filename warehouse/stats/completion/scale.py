"""How far off held-out figures are, and the half width that follows (statistics.md §24
B)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from warehouse.stats.completion.folds import far_masks, random_masks, support
from warehouse.stats.completion.joint_variance import joint_variances
from warehouse.stats.completion.sweeps import Factors, fitted_factors
from warehouse.stats.completion.table import BoolArray, Table, known_variance
from warehouse.stats.core import special
from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.items.published_figures import IntArray

#: A benchmark of fewer figures is left out of a refit.
FEWEST_TO_FIT = 2
#: Far residuals that a quantile of their own needs, and random ones of a benchmark.
FEWEST_FAR, FEWEST_OWN = 39, 200
#: Degrees of freedom of the residuals, and the weight that keeps slopes small.
_TAILS, _RIDGE = 5.0, 5.0
_NEWTON_STEPS, _CLOSE, _LONGEST_STEP = 200, 1e-13, 2.0
#: Residuals below this count as this: were all of them 0, no scale would be least.
_SMALLEST_RESIDUAL = 1e-9
#: Rounding that does not make a rank one larger.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Cells:
    """What is expected of every cell, and how far off that may be; shapes (M, J)."""

    means: FloatArray  #: xᵀt, in logits.
    variances: FloatArray  #: v, of these means.
    errors: FloatArray  #: h, standard deviations of a published figure around them.

    @property
    def estimates(self) -> FloatArray:
        """p, the expected figures (medians)."""
        estimates: FloatArray = special.expit(self.means)
        return estimates


def expected_cells(table: Table, factors: Factors) -> Cells:
    """Every cell, present or absent, by a fit."""
    means, variances = factors.means, joint_variances(factors)
    known = known_variance(special.expit(means), table.questions)
    squares = variances + factors.unexplained + known
    return Cells(means, variances, np.sqrt(squares))


@dataclass(frozen=True, eq=False)
class HeldOutFigures:
    """Figures that were hidden, each by a fit without it; all of one length."""

    residuals: FloatArray  #: ρ, over h.
    features: FloatArray  #: ξ, shape (n, 4).
    off_by: FloatArray  #: |p − y|.
    support: IntArray  #: c of the cell in what was left.
    benchmark: IntArray  #: number of the benchmark.
    is_far: BoolArray  #: whether hidden with half of its model's figures.


def features(estimates: FloatArray, variances: FloatArray, h: FloatArray) -> FloatArray:
    """ξ = (1, v/h² − .25, max(0, .3 − p)/.1, max(0, p − .8)/.1), on a last axis."""
    return np.stack(
        [
            np.ones_like(estimates),
            variances / h**2 - 0.25,
            np.maximum(0, 0.3 - estimates) / 0.1,
            np.maximum(0, estimates - 0.8) / 0.1,
        ],
        axis=-1,
    )


def held_out_figures(table: Table) -> HeldOutFigures:
    """Every figure hidden once in a random fold, and half of each model's at once in a
    far one: fifteen refits."""
    parts = []
    for is_far, masks in ((False, random_masks(table)), (True, far_masks(table))):
        for hidden in masks:
            parts.append(_held_out(table, hidden, is_far))
    return HeldOutFigures(
        np.concatenate([part.residuals for part in parts]),
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.off_by for part in parts]),
        np.concatenate([part.support for part in parts]),
        np.concatenate([part.benchmark for part in parts]),
        np.concatenate([part.is_far for part in parts]),
    )


def _held_out(table: Table, hidden: BoolArray, is_far: bool) -> HeldOutFigures:
    """The hidden figures by a refit to the others; a benchmark that is left with one or
    none is skipped."""
    seen = table.hiding(hidden)
    kept = seen.has.sum(axis=0) >= FEWEST_TO_FIT
    seen = seen.columns(kept)
    cells = expected_cells(seen, fitted_factors(seen))
    at = np.nonzero(hidden[:, kept])
    values, logits = table.values[:, kept][at], table.logits[:, kept][at]
    h, estimates = cells.errors[at], cells.estimates[at]
    return HeldOutFigures(
        residuals=(logits - cells.means[at]) / h,
        features=features(estimates, cells.variances[at], h),
        off_by=np.abs(estimates - values),
        support=support(seen)[at],
        benchmark=np.flatnonzero(kept)[at[1]],
        is_far=np.full(len(h), is_far),
    )


def log_scale(residuals: FloatArray, given: FloatArray) -> FloatArray:
    """γ, shape (4,): where Σ[γᵀξ + 3 ln(1 + (ρe^(−γᵀξ))²/5)] + 5(γ₂² + γ₃² + γ₄²) is
    least, a t with 5 degrees of freedom; convex, found by Newton's steps from 0.

    Args:
        residuals: ρ, shape (n,).
        given: ξ of each, shape (n, 4).
    """
    residuals = np.maximum(np.abs(residuals), _SMALLEST_RESIDUAL)
    gamma = np.zeros(given.shape[1])
    ridge = np.full(len(gamma), _RIDGE)
    ridge[0] = 0
    before = _log_scale_loss(gamma, residuals, given, ridge)
    for _ in range(_NEWTON_STEPS):
        step = _newton_step(gamma, residuals, given, ridge)
        while True:
            moved = gamma - step
            after = _log_scale_loss(moved, residuals, given, ridge)
            if after <= before or np.abs(step).max() < _CLOSE:
                break
            step = step / 2
        gamma, before = moved, after
        if np.abs(step).max() < _CLOSE:
            break
    return gamma


def _newton_step(
    gamma: FloatArray, residuals: FloatArray, given: FloatArray, ridge: FloatArray
) -> FloatArray:
    """What is taken off γ, no part above `_LONGEST_STEP`."""
    ratio = (residuals * np.exp(-given @ gamma)) ** 2 / _TAILS
    share = ratio / (1 + ratio)
    gradient = given.T @ (1 - (_TAILS + 1) * share) + 2 * ridge * gamma
    steep = 2 * (_TAILS + 1) * share / (1 + ratio)
    curvature = (given * steep[:, None]).T @ given + 2 * np.diag(ridge)
    # residuals far below the scale do not curve the loss
    curvature[0, 0] += _CLOSE
    step = np.asarray(np.linalg.solve(curvature, gradient), dtype=np.float64)
    longest = float(np.abs(step).max())
    if longest > _LONGEST_STEP:
        step *= _LONGEST_STEP / longest
    return step


def _log_scale_loss(
    gamma: FloatArray, residuals: FloatArray, given: FloatArray, ridge: FloatArray
) -> float:
    logs = given @ gamma
    tails = np.log1p((residuals * np.exp(-logs)) ** 2 / _TAILS)
    half = (_TAILS + 1) / 2
    return float(logs.sum() + half * tails.sum() + (ridge * gamma**2).sum())


def rank_quantile(sizes: FloatArray, level: float) -> float | None:
    """The ⌈(n + 1)·level⌉-th smallest of n; None where there are fewer."""
    rank = math.ceil((len(sizes) + 1) * level - _ROUNDING)
    if rank > len(sizes):
        return None
    return float(np.sort(sizes)[rank - 1])


def half_widths(
    scaled: FloatArray, held_out: HeldOutFigures, width: int, level: float
) -> list[float | None]:
    """q of each benchmark, in h·e^(γᵀξ): that of all figures held out, or its own where
    it has 200 random ones; None of too few.

    Args:
        scaled: |ρ|e^(−γᵀξ) of each figure held out.
        held_out: these figures.
        width: benchmarks J.
        level: 1 − α.
    """
    everywhere = _larger_quantile(scaled, held_out.is_far, level)
    quantiles: list[float | None] = [everywhere] * width
    random = held_out.benchmark[~held_out.is_far]
    for j in np.flatnonzero(np.bincount(random, minlength=width) >= FEWEST_OWN):
        own = held_out.benchmark == j
        quantiles[j] = _larger_quantile(scaled[own], held_out.is_far[own], level)
    return quantiles


def _larger_quantile(
    scaled: FloatArray, is_far: BoolArray, level: float
) -> float | None:
    """The larger of that of the random folds and that of the far ones, if these hold 39
    figures."""
    near = rank_quantile(scaled[~is_far], level)
    if near is None or np.count_nonzero(is_far) < FEWEST_FAR:
        return near
    far = rank_quantile(scaled[is_far], level)
    if far is None:
        return None
    return max(near, far)
