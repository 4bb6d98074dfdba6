"""max-|T| over all pairs by a multiplier bootstrap (statistics.md §2; Romano and Wolf 2005).

One weight for each cluster (each prompt, without clusters) multiplies the centred differences of
all pairs alike, so the pairs keep their dependence. A pair is studentised in each draw by its own
s*; with many independent units the fixed error is as good, and then one matrix product of the
models' scores serves all pairs.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from warehouse.stats.inputs import ROUNDING, FloatArray
from warehouse.stats.multipliers import draw_blocks, webb_block
from warehouse.stats.pair_moments import (
    IntArray,
    PairMoments,
    ScoreMatrix,
    pair_blocks,
    unit_sums,
)

#: From so many prompts on, the error of a pair is held fixed over the draws.
MANY_PROMPTS = 200
#: The same for clusters, counted as 1/Σ f_c².
MANY_CLUSTERS = 1000

#: Blocks of draws that are worked on at a time, at most.
THREADS = 4

BoolArray = NDArray[np.bool_]


@dataclass(frozen=True)
class Draws:
    """How the largest |T| is drawn.

    Attributes:
        n: number of draws B.
        seed: of the random numbers.
        block: rows of weights at a time (the figures do not depend on it).
    """

    n: int
    seed: int
    block: int = 256


def max_t_draws(
    matrix: ScoreMatrix, moments: PairMoments, draws: Draws
) -> tuple[FloatArray, BoolArray]:
    """The largest |T*| of the pairs that each model is in, in each draw.

    Args:
        moments: of the pairs; those without an error above 0 are left out.

    Returns:
        largest |T*| per draw and model, shape (B, M), 0 for a model without a pair (the maximum
        over models is that over all pairs); which pairs were studentised in each draw.
    """
    usable = moments.error_cr1 > 0
    fixed = usable & _is_fixed(matrix, moments)
    best = np.zeros((draws.n, matrix.n_models))
    with threadpool_limits(1, "blas"):  # many small products, where threads wait for each other
        _draw(matrix, moments, fixed, usable & ~fixed, draws, best)
    return best, usable & ~fixed


def _draw(
    matrix: ScoreMatrix, moments: PairMoments, fixed: BoolArray, studentised: BoolArray,
    draws: Draws, best: FloatArray,
) -> None:  # fmt: skip
    if fixed.any():
        scale = np.zeros(len(fixed))
        scale[fixed] = 1 / (moments.n_prompts[fixed] * moments.error_cr1[fixed])
        if matrix.complete:
            _fixed_complete(matrix, scale, draws, best)
        else:
            _fixed_with_gaps(matrix, scale, draws, best)
    for pairs in pair_blocks(studentised):
        _studentised(matrix, pairs, draws, best)


def _is_fixed(matrix: ScoreMatrix, moments: PairMoments) -> BoolArray:
    least = MANY_PROMPTS if matrix.clusters is None else MANY_CLUSTERS
    return moments.effective_units >= least


def _fixed_complete(matrix: ScoreMatrix, scale: FloatArray, draws: Draws, best: FloatArray) -> None:
    """N_ab = N_a − N_b: one product of weights and the models' sums."""
    square = _square(matrix, scale)

    def block(rows: slice, weights: FloatArray) -> None:
        totals = np.ascontiguousarray((weights @ matrix.totals).T)
        largest = best[rows].T.copy()
        for a in range(len(totals) - 1):
            _raise(largest, a, totals[a + 1 :] - totals[a], square[a, a + 1 :, None])
        best[rows] = largest.T

    _each_block(len(matrix.totals), draws, block)


def _fixed_with_gaps(
    matrix: ScoreMatrix, scale: FloatArray, draws: Draws, best: FloatArray
) -> None:
    """N_ab = Σ ξ (x_a − x_b − d̄_ab) over common prompts, from sums over each model's prompts.

    Models with equal gaps share their sums; a few gaps cost a product over them alone.
    """
    x, w, m = matrix.centred, matrix.scored, matrix.n_models
    unit = np.arange(len(x)) if matrix.clusters is None else matrix.clusters.codes
    square = _square(matrix, scale)
    patterns, of_model = np.unique(w, axis=1, return_inverse=True)
    of_model = of_model.reshape(-1)
    sums = x.T @ w
    shift = (sums - sums.T) / np.maximum(w.T @ w, 1)
    totals, cells = np.hstack([matrix.totals, matrix.counts]).T, np.hstack([x, w]).T

    def block(rows: slice, weights: FloatArray) -> None:
        by_unit = np.ascontiguousarray(weights.T)
        full = totals @ by_unit
        on = np.stack([_on_prompts(by_unit, unit, cells, full, mask) for mask in patterns.T])
        largest = best[rows].T.copy()
        for a in range(m - 1):  # on: pattern, score or mask of a model, draw
            own, others = on[of_model[a]], of_model[a + 1 :]
            t = on[others, m + a]
            t *= -shift[a, a + 1 :, None]
            t += on[others, a]
            t -= own[a + 1 : m]
            _raise(largest, a, t, square[a, a + 1 :, None])
        best[rows] = largest.T

    _each_block(len(matrix.totals), draws, block)


def _on_prompts(
    by_unit: FloatArray, unit: IntArray, cells: FloatArray, full: FloatArray, mask: FloatArray
) -> FloatArray:
    """Weighted sums of all models' cells over the prompts of a mask; by what is left out where
    that is less."""
    have, gaps = np.flatnonzero(mask), np.flatnonzero(mask == 0)
    if len(gaps) < len(have):
        return full - cells[:, gaps] @ by_unit[unit[gaps]] if len(gaps) else full
    return cells[:, have] @ by_unit[unit[have]]


def _raise(largest: FloatArray, a: int, n_ab: FloatArray, scale: FloatArray) -> None:
    """Raise what is largest (M, rows) by the pairs of model ``a`` and the models after it."""
    t = np.abs(n_ab, out=n_ab)
    t *= scale
    np.maximum(largest[a], t.max(axis=0), out=largest[a])
    np.maximum(largest[a + 1 :], t, out=largest[a + 1 :])


def _studentised(matrix: ScoreMatrix, pairs: IntArray, draws: Draws, best: FloatArray) -> None:
    """T* = |N|/s*, s*² = G/(G−1) Σ_c (ξ_c D_c − N/G)², for a block of pairs."""
    first, second = (models[pairs] for models in matrix.pairs)
    sums, sizes = unit_sums(matrix, first, second)
    active = np.flatnonzero(sums.any(axis=1))
    g = (sizes > 0).sum(axis=0)
    d = sums[active]
    by_second = np.argsort(second, kind="stable")

    def block(rows: slice, weights: FloatArray) -> None:
        if matrix.complete:
            of_models = weights @ matrix.totals
            totals = of_models[:, first] - of_models[:, second]
        else:
            totals = weights[:, active] @ d
        t = _studentise(totals, weights[:, active] ** 2 @ d**2, g)
        _fold(best, rows, t, first)
        _fold(best, rows, t[:, by_second], second[by_second])

    _each_block(len(sums), draws, block)


def _each_block(n_units: int, draws: Draws, work: Callable[[slice, FloatArray], None]) -> None:
    """Do the work of each block of draws, each on rows of its own, in a few threads."""
    blocks = draw_blocks(draws.n, draws.block)
    with ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1)) as pool:
        for _ in pool.map(lambda rows: work(rows, webb_block(n_units, rows, draws.seed)), blocks):
            pass


def _studentise(totals: FloatArray, squares: FloatArray, g: IntArray) -> FloatArray:
    """|N|/s* of draws and pairs; infinite where a draw leaves no spread."""
    variance = squares - totals**2 / g
    flat = variance <= ROUNDING * squares
    variance *= g / (g - 1)
    variance[flat] = 1.0
    t = np.abs(totals, out=totals)
    t /= np.sqrt(variance, out=variance)
    t[flat & (t > 0)] = np.inf
    return t


def _fold(best: FloatArray, rows: slice, t: FloatArray, models: IntArray) -> None:
    """Raise ``best`` of each model to its columns of ``t``; ``models`` are in order."""
    starts = np.flatnonzero(np.diff(models, prepend=-1))
    own = models[starts]
    best[rows, own] = np.maximum(best[rows, own], np.maximum.reduceat(t, starts, axis=1))


def _square(matrix: ScoreMatrix, values: FloatArray) -> FloatArray:
    """Values of pairs as a symmetric matrix, shape (M, M)."""
    m = matrix.n_models
    square = np.zeros((m, m))
    square[matrix.pairs] = values
    return square + square.T
