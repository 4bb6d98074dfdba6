"""max-|T| over all pairs by random signs (statistics.md §2; Romano and Wolf 2005).

One sign for each cluster (each prompt, without clusters) multiplies the differences of all pairs
alike, so that the pairs keep their dependence; their weighted sum N_ab is taken off each unit by
its share f_c, and every draw studentises a pair by its own s*. This is done twice. With the null
imposed (differences not centred) equal models are kept together: where few prompts differ this is
the test by sign flips. (Webb's weights, which statistics.md asks for, told equal models apart in 10
to 19 % of samples in place of 5, with 0/1 scores of 8 to 15 prompts.) But where models differ by
far, all pairs swing alike then, and intervals hold one at a time only. So differences are centred too,
and the larger critical value counts. Only without clusters, from `MANY_PROMPTS` common prompts on,
is a fixed error as good; then one matrix product of the models' scores serves all pairs.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import ROUNDING, FloatArray
from warehouse.stats.core.multipliers import draw_blocks, sign_block
from warehouse.stats.multiple.pair_moments import IntArray, PairMoments, ScoreMatrix, unit_sums

#: Without clusters, common prompts from which on the error of a pair is held fixed over the draws.
MANY_PROMPTS = 200

#: Blocks of draws that are worked on at a time, at most.
THREADS = 4
#: Multipliers that one thread draws and uses sooner than several start.
FOR_ONE_THREAD = 1 << 20
#: A larger T*² is infinite: the draw leaves only rounding of the spread.
MOST_T2 = 0.1 / ROUNDING
#: Sums of clusters of pairs that are held at a time (32 MB).
MOST_SUMS = 1 << 22

BoolArray = NDArray[np.bool_]
Work = Callable[[slice, FloatArray], None]


@dataclass(frozen=True)
class Draws:
    """How the largest |T| is drawn.

    Attributes:
        n: number of draws B.
        seed: of the random numbers.
        block: rows of signs at a time (the figures do not depend on it).
    """

    n: int
    seed: int
    block: int = 256


def max_t_draws(matrix: ScoreMatrix, moments: PairMoments, draws: Draws) -> tuple[FloatArray, BoolArray]:
    """The largest |T*| of the pairs that each model is in, in each draw.

    Args:
        moments: of the pairs; those without an error above 0 are left out.

    Returns:
        largest |T*| per draw and model with the null imposed and with centred differences, shape
        (2, B, M), 0 for a model without a pair (the maximum over models is that over all pairs);
        which pairs were studentised in each draw.
    """
    usable = moments.error_cr1 > 0
    fixed = usable & (moments.n_prompts >= MANY_PROMPTS) & _units_are_prompts(matrix)
    studentised = usable & ~fixed
    best = np.zeros((2, draws.n, matrix.n_models))
    if fixed.any():
        _fixed(matrix, moments, fixed, draws, best[0])
        best[1] = best[0]
    if studentised.any():
        for imposed, largest in zip((True, False), best, strict=True):
            _studentised(matrix, moments.difference * imposed, studentised, draws, largest)
    return best, studentised


def _units_are_prompts(matrix: ScoreMatrix) -> bool:
    return matrix.clusters is None or matrix.clusters.n == len(matrix.centred)


def _fixed(matrix: ScoreMatrix, moments: PairMoments, chosen: BoolArray, draws: Draws, best: FloatArray) -> None:
    """T* = |N|/(n · error) of centred differences."""
    scale = np.zeros(len(chosen))
    scale[chosen] = 1 / (moments.n_prompts[chosen] * moments.error_cr1[chosen])
    if matrix.complete:
        _fixed_complete(matrix, scale, draws, best)
    else:
        _fixed_with_gaps(matrix, scale, draws, best)


def _fixed_complete(matrix: ScoreMatrix, scale: FloatArray, draws: Draws, best: FloatArray) -> None:
    """N_ab = N_a − N_b: one product of signs and the models' sums."""
    square = _square(matrix, scale)

    def block(rows: slice, signs: FloatArray) -> None:
        totals = np.ascontiguousarray((signs @ matrix.totals).T)
        largest = best[rows].T.copy()
        for a in range(len(totals) - 1):
            _raise(largest, a, totals[a + 1 :] - totals[a], square[a, a + 1 :, None])
        best[rows] = largest.T

    _each_block(len(matrix.totals), draws, block)


def _fixed_with_gaps(matrix: ScoreMatrix, scale: FloatArray, draws: Draws, best: FloatArray) -> None:
    """N_ab = Σ ξ (x_a − x_b − d̄_ab) over common prompts.

    Where models lack few prompts, each its own, from sums over all prompts less those over what
    a model lacks; else from sums over what models with equal gaps have.
    """
    x, w = matrix.centred, matrix.scored
    unit = np.arange(len(x)) if matrix.clusters is None else matrix.clusters.codes
    square = _square(matrix, scale)
    sums = x.T @ w
    shift = (sums - sums.T) / np.maximum(w.T @ w, 1)
    packed = np.packbits(w.astype(bool), axis=0)  # a column is found again by its bytes
    _, first, of_model = np.unique(packed, axis=1, return_index=True, return_inverse=True)
    have = w[:, first].sum(axis=0)
    if len(matrix.gaps[0]) <= 2 * np.minimum(have, len(x) - have).sum():
        work = _from_what_is_lacking(matrix, unit, shift, square, best)
    else:
        work = _from_patterns(matrix, unit, shift, square, best, w[:, first], of_model.reshape(-1))
    _each_block(len(matrix.totals), draws, work)


def _from_what_is_lacking(
    matrix: ScoreMatrix, unit: IntArray, shift: FloatArray, square: FloatArray, best: FloatArray
) -> Work:
    """N_ab = (F_a − L_ba) − (F_b − L_ab): F_a = Σ ξ x_a, L_ba the part of Σ ξ (x_a − d̄_ab) where
    b has no score (half of it where neither has, and half of −d̄_ab Σ ξ, so that it adds up)."""
    m, totals = matrix.n_models, np.ascontiguousarray(matrix.totals.T)
    lacking = [np.flatnonzero(column == 0) for column in matrix.scored.T]
    parts = []
    for b, rows in enumerate(lacking):
        half = shift[:, [b]] / 2
        share = matrix.centred[rows].T - half * (1 + matrix.scored[rows].T)
        parts.append(np.hstack([share, half]))

    def block(rows: slice, signs: FloatArray) -> None:
        by_unit = np.ascontiguousarray(signs.T)
        full, every = totals @ by_unit, by_unit.sum(axis=0)
        lost = np.empty((m, m, len(every)))
        for b, own in enumerate(lacking):
            np.matmul(parts[b], np.vstack([by_unit[unit[own]], every]), out=lost[b])
        largest = best[rows].T.copy()
        for a in range(m - 1):
            t = lost[a, a + 1 :] - lost[a + 1 :, a]
            t += full[a] - full[a + 1 :]
            _raise(largest, a, t, square[a, a + 1 :, None])
        best[rows] = largest.T

    return block


def _from_patterns(
    matrix: ScoreMatrix,
    unit: IntArray,
    shift: FloatArray,
    square: FloatArray,
    best: FloatArray,
    patterns: FloatArray,
    of_model: IntArray,
) -> Work:
    """N_ab from sums of scores and of signs over the prompts of each pattern of gaps."""
    m = matrix.n_models
    totals, cells = (
        np.ascontiguousarray(np.hstack(parts).T)
        for parts in ((matrix.totals, matrix.counts), (matrix.centred, matrix.scored))
    )

    def block(rows: slice, signs: FloatArray) -> None:
        by_unit = np.ascontiguousarray(signs.T)
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

    return block


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


@dataclass(frozen=True)
class _Run:
    """The pairs of some first models with all models after each, as products need them.

    Attributes:
        models: the first models.
        spread: G/(G−1) Σ S_c² of each pair, shape (p, 1), pairs in order; infinite for a pair that
            is left out.
        least: what of it is rounding, shape (p, 1).
        linear: S_c and G/(G−1) (φ − 2 f_c) S_c, φ = Σ f_c², shape (p, G) each; None where all
            prompts are scored: then those of the models serve.
    """

    models: range
    spread: FloatArray
    least: FloatArray
    linear: tuple[FloatArray, FloatArray] | None


def _studentised(matrix: ScoreMatrix, shift: FloatArray, chosen: BoolArray, draws: Draws, best: FloatArray) -> None:
    """T* = |N|/s* of sums S_c of differences, s*² = G/(G−1) Σ (ξ S − f N)².

    Multiplied out, and ξ² = 1, the sum is Σ S² + N H with H = Σ ξ (φ − 2 f) S: two products of
    signs and sums. N and H of a pair are differences of those of its models where f is that of all.

    Args:
        shift: what is added to each centred difference, shape (P,): its mean, to impose the null, or 0.
    """
    models = _linear_of_models(matrix, imposed=bool(shift.any())) if matrix.complete else None
    for run in _runs(matrix, shift, chosen):

        def block(rows: slice, signs: FloatArray, run: _Run = run) -> None:
            xi = np.ascontiguousarray(signs.T)
            largest = np.zeros((matrix.n_models, xi.shape[1]))
            by_model = None if models is None else (models[0] @ xi, models[1] @ xi)
            _raise_squares(largest, run, by_model, xi)
            largest[largest > MOST_T2] = np.inf  # no spread is left
            np.maximum(best[rows], np.sqrt(largest.T), out=best[rows])

        if np.isfinite(run.spread).any():
            _each_block(len(matrix.totals), draws, block)


def _linear_of_models(matrix: ScoreMatrix, *, imposed: bool) -> tuple[FloatArray, FloatArray]:
    """S_c and G/(G−1) (φ − 2 f_c) S_c of each model, shape (M, G) each."""
    sizes = np.ones(len(matrix.totals)) if matrix.clusters is None else matrix.clusters.sizes
    sums = matrix.totals.T
    if imposed:  # means less one constant: it cancels in every difference, and numbers stay small
        sums = sums + (matrix.means - matrix.means.mean())[:, None] * sizes
    return sums, sums * _slopes(sizes[:, None]).T


def _slopes(sizes: FloatArray) -> FloatArray:
    """G/(G−1) (φ − 2 f_c) of sizes n_c, shape (G, p)."""
    shares = sizes / np.maximum(sizes.sum(axis=0), 1)
    slopes: FloatArray = _small_sample(sizes) * ((shares**2).sum(axis=0) - 2 * shares)
    return slopes


def _small_sample(sizes: FloatArray) -> FloatArray:
    """G/(G−1) of the clusters that have a size, shape (p,)."""
    units = (sizes > 0).sum(axis=0)
    return np.asarray(units / np.maximum(units - 1, 1))


def _runs(matrix: ScoreMatrix, shift: FloatArray, chosen: BoolArray) -> Iterator[_Run]:
    """All pairs, as many first models at a time as `MOST_SUMS` allows."""
    m, first = matrix.n_models, 0
    most = max(MOST_SUMS // len(matrix.totals), 1)
    while first < m - 1:
        last, pairs = first + 1, m - 1 - first
        while last < m - 1 and pairs + m - 1 - last <= most:
            pairs += m - 1 - last
            last += 1
        start = first * m - first * (first + 1) // 2
        yield _run(matrix, range(first, last), shift, chosen, slice(start, start + pairs))
        first = last


def _run(matrix: ScoreMatrix, models: range, shift: FloatArray, chosen: BoolArray, pairs: slice) -> _Run:
    a, b = (side[pairs] for side in matrix.pairs)
    centred, sizes = unit_sums(matrix, a, b)
    sums = np.where(chosen[pairs], centred + sizes * shift[pairs], 0.0)
    spread = _small_sample(sizes) * (sums**2).sum(axis=0)
    linear = None
    if not matrix.complete:
        linear = np.ascontiguousarray(sums.T), np.ascontiguousarray((sums * _slopes(sizes)).T)
    return _Run(
        models=models,
        spread=np.where(chosen[pairs], spread, np.inf)[:, None],
        least=ROUNDING * spread[:, None],
        linear=linear,
    )


def _raise_squares(
    largest: FloatArray, run: _Run, by_model: tuple[FloatArray, FloatArray] | None, xi: FloatArray
) -> None:
    """Raise what is largest of T*² (M, rows) by the pairs of a run.

    Args:
        by_model: N and H of each model, shape (M, rows) each, or None.
        xi: signs, shape (G, rows).
    """
    m, first = len(largest), 0
    for a in run.models:
        pairs = slice(first, first + m - 1 - a)
        first = pairs.stop
        if by_model is not None:
            n, h = (values[a] - values[a + 1 :] for values in by_model)
        elif run.linear is not None:
            n, h = (sums[pairs] @ xi for sums in run.linear)
        h *= n
        h += run.spread[pairs]
        np.maximum(h, run.least[pairs], out=h)
        n *= n
        n /= h  # T*²
        np.maximum(largest[a], n.max(axis=0), out=largest[a])
        np.maximum(largest[a + 1 :], n, out=largest[a + 1 :])


def _each_block(n_units: int, draws: Draws, work: Work) -> None:
    """Do the work of each block of draws, each on rows of its own: in a few threads, unless it is
    so little that starting them takes longer."""

    def one(rows: slice) -> None:
        work(rows, sign_block(n_units, rows, draws.seed))

    blocks = draw_blocks(draws.n, draws.block)
    if n_units * draws.n < FOR_ONE_THREAD:
        deque(map(one, blocks), maxlen=0)
        return
    with ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1)) as pool:
        deque(pool.map(one, blocks), maxlen=0)


def _square(matrix: ScoreMatrix, values: FloatArray) -> FloatArray:
    """Values of pairs as a symmetric matrix, shape (M, M)."""
    m = matrix.n_models
    square = np.zeros((m, m))
    square[matrix.pairs] = values
    return square + square.T
