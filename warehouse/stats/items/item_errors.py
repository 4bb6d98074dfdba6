"""Errors of items at the maximum of an item response model, by the scores of models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.items.em import Maximum, Penalty
from warehouse.stats.items.posterior import (
    ModelGroup,
    blocks_of,
    chances,
    item_sums,
    model_groups,
    times,
    times_draws,
)
from warehouse.stats.items.responses import Responses


@dataclass(frozen=True, eq=False)
class ItemErrors:
    """Variances of (a, d) of each item, each of shape (J,): within the pool, and of a
    sample of models."""

    variance_a: FloatArray
    variance_d: FloatArray
    covariance: FloatArray
    pool_a: float | FloatArray
    pool_d: FloatArray


@dataclass(eq=False)
class _ScoreVariance:
    """Posterior variance of the complete-data scores, summed over models."""

    d: FloatArray
    a_d: FloatArray
    a: FloatArray
    total_a: float
    total_a_d: FloatArray


def item_errors(
    responses: Responses, maximum: Maximum, *, common_a: bool, penalty: Penalty
) -> ItemErrors:
    """Variances at the maximum; the prior's curvature is taken in (ln a, d).

    With a common a its information is that of the whole matrix, with every d profiled
    out.
    """
    a, d, posterior = maximum.slopes(), maximum.d, maximum.posterior
    groups = model_groups(responses)
    sums = item_sums(groups, a, d, posterior, exact=True)
    lost = _score_variance(groups, maximum, a)
    reliability = max(1e-3, 1 - float((posterior.sd**2).mean()))
    n_models = len(posterior.mean)
    pool_d = a**2 / (n_models * reliability)
    i_dd = sums.w - lost.d + penalty.d
    if common_a:
        i_ad = sums.w_theta - lost.total_a_d
        i_aa = float(sums.w_theta2.sum()) - lost.total_a + penalty.log_a / a[0] ** 2
        variance = _inverse(i_aa - float((i_ad**2 / _positive(i_dd)).sum()))
        slope = i_ad / _positive(i_dd)
        return ItemErrors(
            np.full(len(d), variance),
            _inverse(i_dd) + slope**2 * variance,
            -slope * variance,
            0.0,
            pool_d,
        )
    of_penalty = penalty.log_a * (1 + np.maximum(-np.log(a), 0)) / a**2
    i_aa = sums.w_theta2 - lost.a + of_penalty
    i_ad = sums.w_theta - lost.a_d
    determinant = i_aa * i_dd - i_ad**2
    determinant = np.where((determinant > 0) & (i_aa > 0), determinant, np.nan)
    pool_a = a**2 / (2 * n_models * reliability**2)
    return ItemErrors(
        i_dd / determinant, i_aa / determinant, -i_ad / determinant, pool_a, pool_d
    )


def _score_variance(
    groups: list[ModelGroup], maximum: Maximum, a: FloatArray
) -> _ScoreVariance:
    n_items = len(a)
    variance = _ScoreVariance(
        np.zeros(n_items), np.zeros(n_items), np.zeros(n_items), 0.0, np.zeros(n_items)
    )
    for group, nodes, weights in zip(
        groups, maximum.posterior.nodes, maximum.posterior.weights, strict=True
    ):
        totals = _total_scores(group, maximum, a, nodes)
        centred = totals - (weights * totals).sum(axis=1, keepdims=True)
        variance.total_a += float((weights * centred**2).sum())
        for block in blocks_of(group):
            _add_block(variance, group, block, (nodes, weights, centred), maximum, a)
    return variance


def _add_block(
    variance: _ScoreVariance,
    group: ModelGroup,
    block: slice,
    at_nodes: tuple[FloatArray, FloatArray, FloatArray],
    maximum: Maximum,
    a: FloatArray,
) -> None:
    nodes, weights, centred = at_nodes
    y, k = group.y[:, block].T.astype(np.float64), group.draws_of(block)
    mean, mean_theta = np.zeros(y.shape), np.zeros(y.shape)
    squares = np.zeros((3, len(y)))
    for i, p in enumerate(chances(group, block, a, maximum.d, nodes)):
        score = y - times_draws(p, k)
        w, theta = weights[:, i], nodes[:, i]
        mean += w * score
        mean_theta += (w * theta) * score
        variance.total_a_d[block] += score @ (w * centred[:, i])
        score *= score
        squares += np.stack([w, w * theta, w * theta**2]) @ score.T
    variance.d[block] += squares[0] - (mean * mean).sum(axis=1)
    variance.a_d[block] += squares[1] - (mean * mean_theta).sum(axis=1)
    variance.a[block] += squares[2] - (mean_theta * mean_theta).sum(axis=1)


def _total_scores(
    group: ModelGroup, maximum: Maximum, a: FloatArray, nodes: FloatArray
) -> FloatArray:
    """θ Σ_j (Y − KP): the score of a common a, at each node, shape (m, n)."""
    expected = np.zeros(nodes.shape)
    for block in blocks_of(group):
        k = group.draws_of(block)
        for i, p in enumerate(chances(group, block, a, maximum.d, nodes)):
            expected[:, i] += times_draws(p, k).sum(axis=0)
    right = times(group.y, np.ones((len(a), 1)))
    total: FloatArray = nodes * (right - expected)
    return total


def _positive(values: FloatArray) -> FloatArray:
    return np.where(values > 0, values, np.nan)


def _inverse(value: float | FloatArray) -> FloatArray:
    return 1 / _positive(np.asarray(value, dtype=np.float64))
