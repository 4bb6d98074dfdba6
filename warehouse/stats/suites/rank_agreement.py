"""How far rankings of the same models agree, for many rankings at once: Kendall's τ-b, plain and
weighted towards the top (Vigna 2015), both on figures at 12 significant digits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import stats

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.suites.win_rates import comparable

_CELLS = 1 << 22  # of one temporary array


def kendall_tau_b(reference: FloatArray, rankings: FloatArray) -> FloatArray:
    """τ-b of each ranking with the reference over the models that both have.

    Args:
        reference: figures, NaN where a model has none, shape (M,).
        rankings: shape (B, M).

    Returns:
        NaN with fewer than 2 models in common, or where either is constant over them; shape (B,).
    """

    def tau(x: FloatArray, y: FloatArray, i: FloatArray, j: FloatArray) -> FloatArray:
        del i, j
        both = ~np.isnan(x + y)
        a, b = np.where(both, np.sign(x), 0.0), np.where(both, np.sign(y), 0.0)
        with np.errstate(invalid="ignore"):
            return np.asarray((a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1)))

    return _in_blocks(reference, rankings, tau)


def weighted_tau(reference: FloatArray, rankings: FloatArray) -> FloatArray:
    """Weighted τ of each ranking, as ``scipy.stats.weightedtau(rank=True)`` has it: the mean of
    both orders of importance, hyperbolic weights, added. Shapes and NaN as in `kendall_tau_b`."""

    def tau(x: FloatArray, y: FloatArray, i: FloatArray, j: FloatArray) -> FloatArray:
        a, b = np.sign(x), np.sign(y)
        total = np.zeros(len(y))
        for ranks in (i, j):
            weights = 1 / (1 + ranks)
            pairs = np.triu_indices(ranks.shape[1], 1)
            w = weights[:, pairs[0]] + weights[:, pairs[1]]
            with np.errstate(invalid="ignore"):
                total += (w * a * b).sum(axis=1) / np.sqrt((w * a * a).sum(axis=1) * (w * b * b).sum(axis=1))
        return total / 2

    x, y = comparable(reference), comparable(rankings)
    gaps = np.isnan(x)[None] | np.isnan(y)
    whole = ~gaps.any(axis=1)
    taus = np.full(len(y), np.nan)
    taus[whole] = _in_blocks(x, y[whole], tau)
    for row in np.flatnonzero(~whole):  # models lack all that an instance drew: rare
        kept = ~gaps[row]
        if kept.sum() > 1 and np.ptp(x[kept]) > 0 and np.ptp(y[row, kept]) > 0:
            taus[row] = stats.weightedtau(x[kept], y[row, kept], rank=True).statistic
    return taus


def _in_blocks(
    reference: FloatArray,
    rankings: FloatArray,
    tau: Callable[[FloatArray, FloatArray, FloatArray, FloatArray], FloatArray],
) -> FloatArray:
    x, y = comparable(reference), comparable(rankings)
    first, second = np.triu_indices(len(x), 1)
    rows = max(1, _CELLS // max(1, len(first)))
    parts = [np.empty(0)]
    for start in range(0, len(y), rows):
        block = y[start : start + rows]
        xs = np.broadcast_to(x, block.shape)
        parts.append(
            tau(
                (x[first] - x[second])[None],
                block[:, first] - block[:, second],
                _importance(xs, block),
                _importance(block, xs),
            )
        )
    return np.concatenate(parts)


def _importance(x: FloatArray, y: FloatArray) -> FloatArray:
    """Rank of each model, 0 the most important: by x, then y, decreasing; shape (B, M)."""
    order = np.lexsort((y, x), axis=-1)[:, ::-1]
    ranks = np.empty(order.shape)
    np.put_along_axis(ranks, order, np.arange(order.shape[1], dtype=np.float64)[None], axis=1)
    return ranks
