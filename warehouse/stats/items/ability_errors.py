"""The covariance of abilities in the frame of their pool (statistics.md §13).

S is the joint penalised information of abilities and items with the items profiled out: diag(ΣWa² +
1/ρ²) less each item's 2×2 block in (ln a, d); 1PL: the d, then the one ln a. V = S⁻¹, and what the
frame fixes, C = [1, θ̂], is projected out: V* = V − VC(CᵀVC)⁻¹CᵀV.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from warehouse.stats.core import special
from warehouse.stats.core.inputs import Clusters, FloatArray
from warehouse.stats.items.ability_modes import cell_blocks
from warehouse.stats.items.em import Penalty
from warehouse.stats.items.irt import IrtFit
from warehouse.stats.items.responses import Responses

_LARGEST_LEVERAGE = 0.9


def pool_covariance(
    fit: IrtFit,
    responses: Responses,
    theta: FloatArray,
    frame: tuple[float, float],
    clusters: Clusters | None,
    factor: float,
) -> FloatArray:
    """Covariance of the abilities ``theta`` (mean 0, standard deviation 1), shape (M, M).

    Args:
        fit: the items.
        responses: the answers.
        theta: abilities in the frame of the pool, shape (M,).
        frame: (shift, scale): abilities on the scale of the fit are shift + scale · theta.
        clusters: testlets of the items, or None.
        factor: small-sample factor of the variance, squared in the sandwich.
    """
    shift, scale = frame
    items = _Items(fit.a * scale, fit.d + fit.a * shift, fit.model == "1pl", fit.precisions, clusters)
    joint = _profile(responses, theta, items)
    information = np.diag(joint.diagonal) + _prior_precision(fit) - joint.lost
    inverse = linalg.cho_solve(linalg.cho_factor(information, lower=True), np.eye(len(theta)))
    fixed = np.stack([np.ones_like(theta), theta], axis=1)
    moved = inverse @ fixed
    inverse -= moved @ np.linalg.solve(fixed.T @ moved, moved.T)
    if clusters is None:
        return np.asarray(factor * 0.5 * (inverse + inverse.T))
    leverage = joint.leverage / (joint.diagonal[:, None] + fit.prior_sd**-2)
    spread = inverse @ (joint.scores / (1 - np.minimum(leverage, _LARGEST_LEVERAGE)))
    return np.asarray(factor**2 * clusters.n / (clusters.n - 1) * (spread @ spread.T))


def _prior_precision(fit: IrtFit) -> FloatArray:
    """Of the abilities; with several blocks their prior means are estimated too, and profiled out."""
    precision = fit.prior_sd**-2
    if len(fit.block_means) == 1:
        return np.eye(len(fit.theta)) * precision
    same = (fit.block[:, None] == fit.block).astype(np.float64)
    return np.asarray(precision * (np.eye(len(fit.theta)) - same / same.sum(axis=1, keepdims=True)))


@dataclass(frozen=True, eq=False)
class _Items:
    """Items in the frame of the pool."""

    a: FloatArray
    d: FloatArray
    common_a: bool
    precisions: Penalty
    clusters: Clusters | None


@dataclass(eq=False)
class _Profile:
    """What items add to the information of abilities, and take off as they are estimated too.

    Attributes:
        diagonal: ΣWa² of each model, shape (M,).
        lost: what the items take off, shape (M, M).
        scores: profiled score of each model, summed by cluster of items, shape (M, G).
        leverage: ΣWa² by cluster, shape (M, G).
    """

    diagonal: FloatArray
    lost: FloatArray
    scores: FloatArray
    leverage: FloatArray


@dataclass(frozen=True, eq=False)
class _Block:
    """A block of items: per cell Wa² and (Y−KP)a; what each parameter shares with each ability, and its score."""

    information: FloatArray
    residual: FloatArray
    cross_d: FloatArray
    info_d: FloatArray
    score_d: FloatArray
    cross_a: FloatArray
    info_a: FloatArray
    score_a: FloatArray


def _profile(responses: Responses, theta: FloatArray, items: _Items) -> _Profile:
    m, clusters = len(theta), items.clusters
    n_clusters = 0 if clusters is None else clusters.n
    profile = _Profile(np.zeros(m), np.zeros((m, m)), np.zeros((m, n_clusters)), np.zeros((m, n_clusters)))
    cross, info, score = np.zeros(m), 0.0, []
    for columns, y, k in cell_blocks(responses):
        block = _block(theta, items, columns, y, k)
        profile.diagonal += block.information.sum(axis=1)
        _take_off(profile.lost, block.cross_d, block.info_d)
        if items.common_a:
            cross, info = cross + block.cross_a.sum(axis=1), info + float(block.info_a.sum())
            score.append(block.score_a)
        else:
            _take_off(profile.lost, block.cross_a, block.info_a)
        if clusters is not None:
            _add_clusters(profile, block, clusters.codes[columns], items.common_a)
    if items.common_a:
        profile.lost += np.outer(cross, cross) / info
        if clusters is not None:
            profile.scores -= np.outer(cross, clusters.sums(np.concatenate(score)) / info)
    return profile


def _block(theta: FloatArray, items: _Items, columns: slice, y: FloatArray, k: FloatArray | float) -> _Block:
    a, d, precisions = items.a[columns], items.d[columns], items.precisions
    p = special.expit(np.multiply.outer(theta, a) + d)
    w, residual = k * p * (1 - p), y - k * p
    w_theta = w * theta[:, None]
    info_d = w.sum(axis=0) + precisions.d
    slope = a * w_theta.sum(axis=0) / info_d
    info_a = a**2 * (theta @ w_theta) + (0.0 if items.common_a else precisions.log_a) - slope**2 * info_d
    score_d = residual.sum(axis=0) - precisions.d * d
    score_a = a * (theta @ residual) - precisions.log_a * np.log(a) - slope * score_d
    cross_d = w * a
    return _Block(w * a**2, residual * a, cross_d, info_d, score_d, w_theta * a**2 - cross_d * slope, info_a, score_a)


def _take_off(lost: FloatArray, cross: FloatArray, info: FloatArray) -> None:
    part = cross / np.sqrt(info)
    lost += part @ part.T


def _add_clusters(profile: _Profile, block: _Block, codes: NDArray[np.intp], common_a: bool) -> None:
    profiled = block.residual - block.cross_d * (block.score_d / block.info_d)
    if not common_a:
        profiled -= block.cross_a * (block.score_a / block.info_a)
    np.add.at(profile.scores.T, codes, profiled.T)
    np.add.at(profile.leverage.T, codes, block.information.T)
