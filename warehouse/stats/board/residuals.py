"""What a figure would be by the other figures of its row: two predictions, both robust
(B12, §25.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.core.machine import one_blas_thread

#: Figures in [0, 1] are looked at as log odds, kept off the ends.
_OFF_END = 0.02
_NORMAL, _CLIP, _HUBER, _ROUNDS = 1.4826, 4.0, 2.0, 20
_LEAST_FREE, _RIDGE_MEAN, _CONVERGED = 0.2, 0.001, 1e-9


@dataclass(frozen=True, eq=False)
class Residuals:
    """How far figures are from their predictions."""

    z: FloatArray  #: in robust units of the column, NaN where there is none, shape (rows, columns).
    predicted: FloatArray  #: what the others say, in [0, 1], shape (rows, columns).


@dataclass(frozen=True, eq=False)
class Scores:
    """Scores of entries on columns, made comparable."""

    shares: FloatArray  #: in [0, 1], NaN where there is none, shape (rows, columns).
    odds: FloatArray  #: their log odds.
    standard: FloatArray  #: log odds, centred and scaled by column, within ±4.


def scores_of(shares: FloatArray) -> Scores:
    """Scores in [0, 1] with their log odds, and these in robust units of the column.

    Args:
        shares: NaN where there is none, shape (rows, columns).
    """
    with np.errstate(invalid="ignore"):
        odds = np.log((shares + _OFF_END) / (1 - shares + _OFF_END))
    centre = np.nanmedian(odds, axis=0)
    scale = _NORMAL * np.nanmedian(np.abs(odds - centre), axis=0)
    scale = np.where(scale > 0, scale, np.nan)
    return Scores(shares, odds, np.clip((odds - centre) / scale, -_CLIP, _CLIP))


def by_columns(scores: Scores, stems: Sequence[str]) -> Residuals:
    """Residuals of a ridge regression of each column on those of other stems.

    Huber weights; a residual is divided by what its leverage leaves, then by the robust
    scale of its column.

    Args:
        stems: of each column; columns of one stem do not predict each other where at
            least two others are left.
    """
    rows, n_columns = scores.odds.shape
    z, predicted = np.full((2, rows, n_columns), np.nan)
    means_of = _means_without(scores.standard)
    with one_blas_thread():
        for column in range(n_columns):
            found = _of_column(scores, stems, column, means_of[:, column])
            z[:, column], predicted[:, column] = found
    return Residuals(z, predicted)


def _of_column(
    scores: Scores, stems: Sequence[str], column: int, row_means: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Residuals of one column in robust units, and what the others predict."""
    n_columns = len(stems)
    z, predicted = np.full((2, len(scores.odds)), np.nan)
    others = [k for k in range(n_columns) if stems[k] != stems[column]]
    if len(others) < 2:
        others = [k for k in range(n_columns) if k != column]
    kept = np.isfinite(scores.odds[:, column])
    y = scores.odds[kept, column]
    design = _design(scores.standard[kept][:, others], row_means[kept])
    penalty = np.full(design.shape[1], np.sqrt(len(y)))
    penalty[0], penalty[1] = 0.0, _RIDGE_MEAN
    residuals = _huber_residuals(design, y, penalty)
    z[kept] = _in_robust_units(residuals)
    predicted[kept] = _share_of(y - residuals)
    return z, predicted


def by_median(scores: Scores) -> Residuals:
    """Residuals of the line of each column on the median of the row."""
    rows, n_columns = scores.odds.shape
    z, predicted = np.full((2, rows, n_columns), np.nan)
    level = np.nanmedian(scores.standard, axis=1)
    for column in range(n_columns):
        kept = np.isfinite(scores.odds[:, column]) & np.isfinite(level)
        y = scores.odds[kept, column]
        design = np.column_stack([np.ones(len(y)), level[kept]])
        residuals = _huber_residuals(design, y, np.array([0.0, 1e-9]))
        z[kept, column] = _in_robust_units(residuals)
        predicted[kept, column] = _share_of(y - residuals)
    return Residuals(z, predicted)


def _means_without(standard: FloatArray) -> FloatArray:
    """Mean of each row over all columns but one; 0 where the others have nothing."""
    there = np.isfinite(standard)
    filled = np.where(there, standard, 0.0)
    totals = filled.sum(axis=1, keepdims=True) - filled
    counts = there.sum(axis=1, keepdims=True) - there
    return np.asarray(totals / np.maximum(counts, 1))


def _design(standard: FloatArray, row_means: FloatArray) -> FloatArray:
    there = np.isfinite(standard)
    own_means = np.where(there, standard, 0.0).sum(axis=1) / np.maximum(
        there.sum(axis=1), 1
    )
    filled = np.where(there, standard, own_means[:, None])
    return np.column_stack([np.ones(len(filled)), row_means, filled])


def _huber_residuals(
    design: FloatArray, y: FloatArray, penalty: FloatArray
) -> FloatArray:
    """Residuals of a penalised robust regression, each as if it had no part in the fit."""
    weights = np.ones(len(y))
    ridge = np.diag(penalty)
    residuals = y
    for _ in range(_ROUNDS):
        weighted = design * weights[:, None]
        moments = weighted.T @ design + ridge
        residuals = y - design @ _solved(moments, weighted.T @ y)
        sigma = _NORMAL * float(np.median(np.abs(residuals)))
        now = np.minimum(1.0, _HUBER * sigma / np.maximum(np.abs(residuals), 1e-12))
        change = float(np.abs(now - weights).max())
        weights = now
        if change < _CONVERGED:
            break
    moments = (design * weights[:, None]).T @ design + ridge
    leverage = weights * np.einsum("ij,ji->i", design, _solved(moments, design.T))
    return np.asarray(residuals / np.maximum(1 - leverage, _LEAST_FREE))


def _solved(moments: FloatArray, right: FloatArray) -> FloatArray:
    try:
        return np.asarray(np.linalg.solve(moments, right))
    except np.linalg.LinAlgError:
        return np.asarray(np.linalg.lstsq(moments, right, rcond=None)[0])


def _in_robust_units(residuals: FloatArray) -> FloatArray:
    scale = _NORMAL * float(np.median(np.abs(residuals)))
    if scale <= 1e-9:  # a column that the others give without error: a copy, or a mean
        return np.full(len(residuals), np.nan)
    return residuals / scale


def _share_of(odds: FloatArray) -> FloatArray:
    """The share in [0, 1] of log odds."""
    powers = np.exp(np.clip(odds, -30, 30))
    shares = ((1 + _OFF_END) * powers - _OFF_END) / (1 + powers)
    return np.asarray(np.clip(shares, 0.0, 1.0))
