"""Mickey's unbiased regression estimator, for subsets that were drawn without strata along the prediction."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import Bounds, FloatArray, as_floats, as_level
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.subsets.estimate import as_range
from warehouse.stats.subsets.interval import LEAST, Sampled, bounded_interval
from warehouse.stats.subsets.other_designs import DesignEstimate
from warehouse.stats.subsets.sample import Sample, as_sample

#: Penalties that `ridge_penalty` chooses among.
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)


def estimate_subset_regression(
    scores: ArrayLike,
    predictions: ArrayLike,
    stratum: ArrayLike,
    selected: ArrayLike,
    *,
    penalty: float = 1.0,
    bounds: Bounds | None = None,
    level: float = 0.95,
) -> DesignEstimate:
    """The mean over N prompts by regression on predictions, each prompt predicted without itself (Mickey 1959).

    T_h = Σ_S y + (Σ_{U∖S} x)·mean_i β^(−i) + (N_h − n_h)·mean_i e_(i), θ̂ = ΣT_h/N: exactly unbiased for
    simple and stratified samples, whatever the predictions. Leverages are not capped: that made it biased.

    Args:
        scores: of the sample, NaN elsewhere, shape (N,).
        predictions: of all prompts, shape (N,) or (N, p); standardised here.
        stratum, selected, bounds, level: as in :func:`estimate_subset`; no score of the sample may be missing.
        penalty: of the ridge, above 0, on the slopes (`ridge_penalty` chooses one on history).

    Raises:
        StatisticsError: predictions or a penalty that are not finite, missing scores, a stratum with fewer than
            two scores.
    """
    as_level(level)
    if not (math.isfinite(penalty) and penalty > 0):
        raise StatisticsError(f"the penalty must be above 0, found {penalty}")
    sample = as_sample(scores, stratum, selected)
    if sample.n_missing or (sample.scored_in < 2).any():
        raise StatisticsError("the regression estimate needs every score of the sample, and two in each stratum")
    x = _standardised(predictions, sample.n)
    betas, errors = _without_each(x[sample.selected], sample.y, penalty)
    theta, variance = _totals(sample, x, betas, errors)
    ends, reason = _interval(sample, theta, variance, as_range(bounds), level)
    low, high = ends or (None, None)
    error = math.sqrt(variance) if variance else None
    return DesignEstimate(theta, error, low, high, level, sample.degrees_of_freedom, reason)


def ridge_penalty(history: ArrayLike, predictions: ArrayLike) -> float:
    """The penalty of `PENALTIES` whose predictions of each stored model's scores, prompt by prompt, are best.

    Args:
        history: scores of stored models on all prompts, shape (M, N).
        predictions: of the prompts, shape (N,) or (N, p).

    Raises:
        StatisticsError: values that are not finite, shapes that do not fit.
    """
    table = as_floats(history, "history")
    if table.ndim != 2 or not np.isfinite(table).all():
        raise StatisticsError("`history` must be models x prompts, all finite")
    x = _standardised(predictions, table.shape[1])
    losses = [sum(float(np.square(_without_each(x, y, one)[1]).sum()) for y in table) for one in PENALTIES]
    return PENALTIES[int(np.argmin(losses))]


def _standardised(predictions: ArrayLike, n: int) -> FloatArray:
    """With a column of ones in front, shape (N, 1 + p)."""
    table = as_floats(predictions, "predictions")
    table = table[:, None] if table.ndim == 1 else table
    if table.shape[0] != n or table.ndim != 2 or not np.isfinite(table).all():
        raise StatisticsError(f"`predictions` must be finite, one row for each of {n} prompts")
    spread = table.std(axis=0)
    scaled = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.column_stack([np.ones(n), scaled])


def _without_each(x: FloatArray, y: FloatArray, penalty: float) -> tuple[FloatArray, FloatArray]:
    """Coefficients of the fit without each prompt, shape (m, 1 + p), and its error on that prompt, shape (m,)."""
    ridge = np.diag([0.0, *[penalty] * (x.shape[1] - 1)])
    inverse = np.linalg.inv(x.T @ x + ridge)
    beta = inverse @ (x.T @ y)
    leverage = np.einsum("ij,jk,ik->i", x, inverse, x)
    errors = (y - x @ beta) / (1 - leverage)
    return beta - errors[:, None] * (x @ inverse), errors


def _totals(sample: Sample, x: FloatArray, betas: FloatArray, errors: FloatArray) -> tuple[float, float]:
    """θ̂ and its variance."""
    total = variance = 0.0
    drawn = sample.stratum[sample.selected]
    for h, size in enumerate(sample.sizes):
        own, rest = drawn == h, (sample.stratum == h) & ~sample.selected
        n = int(own.sum())
        left = float(x[rest].sum(axis=0) @ betas[own].mean(axis=0)) + (size - n) * float(errors[own].mean())
        total += float(sample.y[own].sum()) + left
        variance += (size / sample.n) ** 2 * (1 - n / size) * float(errors[own].var(ddof=1)) / n
    return total / sample.n, float(variance)


def _interval(
    sample: Sample, theta: float, variance: float, bounds: tuple[float, float] | None, level: float
) -> tuple[tuple[float, float] | None, str]:
    """By the rules of bounded scores; Student's t where θ̂ lies outside them or there are none."""
    if bounds is not None and bounds[0] <= theta <= bounds[1]:
        low, width = bounds[0], bounds[1] - bounds[0]
        y = np.clip((sample.y - low) / width, 0, 1)
        basis = Sampled((theta - low) / width, variance / width**2, sample.degrees_of_freedom, y, sample.n, finite=True)
        ends, _, _, reason = bounded_interval(basis, level)
        return (None if ends is None else (low + width * ends[0], low + width * ends[1])), reason
    if len(sample.y) < LEAST or not variance:
        return None, f"fewer than {LEAST} scored prompts" if len(sample.y) < LEAST else "the sample has no variance"
    half = t_quantile(level, sample.degrees_of_freedom) * math.sqrt(variance)
    return (theta - half, theta + half), ""
