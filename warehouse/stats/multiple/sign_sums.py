"""Sums of the differences of pairs under random signs, and the largest |T*| of pairs in
each draw of signs.

Where every model has a score on every prompt, N_ab = N_a − N_b. Where scores are
missing a pair has common prompts of its own: with clusters, sums of the pairs'
differences are multiplied, some pairs at a time; without, what a model lacks is taken
off sums over all prompts, or sums over what models with equal gaps have serve.

The squared error of a draw, s*² = G/(G−1) Σ (ξ_c S_c − f_c N)², is spread + N·H with
spread = G/(G−1) Σ S_c² and H = G/(G−1) Σ ξ_c (φ − 2 f_c) S_c, φ = Σ f_c²: ξ² = 1.
Without clusters f = 1/n, and H = −N/(n−1): then T*² rises with N²/spread, alike for all
pairs without gaps, so that these are held against one another. So it is with clusters
of one size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import TIE, FloatArray
from warehouse.stats.core.machine import has_compiler
from warehouse.stats.multiple.pair_moments import (
    IntArray,
    PairMoments,
    ScoreMatrix,
    unit_sums,
)

#: Pairs times draws from which on compiled code is used: where it is loaded, and where
#: it has to be (.5 s of the processor).
SOME, MANY = 1 << 21, 1 << 26


def load_compiler(n_models: Iterable[int], n_resamples: int) -> None:
    """Load compiled code where so many comparisons of all models, one after the other,
    are worth it together."""
    n_pairs = sum(n * (n - 1) // 2 for n in n_models)
    if n_pairs * n_resamples >= MANY and has_compiler():
        import warehouse.stats.core.kernels  # noqa: F401


@dataclass(frozen=True)
class SignSums:
    """What random signs make of some pairs in some draws."""

    n: FloatArray  #: sums N = Σ ξ_c S_c, shape (rows, draws); a pair has the difference of two of them.
    rows: IntArray  #: the two rows of each pair, shape (2, p).
    h: FloatArray | None = None  #: H by rows as ``n``, so that s*² = spread + N·H; or
    #: H = slope·N of each pair, shape (p,); neither where that is one for all
    #: (`slope_of_all`).
    slopes: FloatArray | None = None


def walk_pairs(
    sums: SignSums,
    models: IntArray,
    spread: FloatArray,
    reach: FloatArray,
    best: FloatArray,
    running: FloatArray,
    *,
    compiled: bool,
) -> NDArray[np.int64]:
    """Raise the largest T*² of each model, and of all pairs so far, pair by pair.

    T*² = N²/s*², infinite where s*² is `TIE` of the spread or less.

    Args:
        models: the two models of each pair, shape (2, p).
        spread: G/(G−1) Σ S_c² of each pair, above 0, shape (p,).
        reach: T² of each pair, shape (p,); empty: nothing is counted, ``running``
            stays.
        best: the largest T*² of each model so far, shape (M, draws); changed.
        running: that of all pairs so far, shape (draws,); changed.
        compiled: by numba; the same figures, to the bit.

    Returns:
        draws whose largest T*² up to and with this pair reaches its T², shape (p,);
        zeros without ``reach``.
    """
    counts = np.zeros(len(spread), np.int64)
    if compiled:
        from warehouse.stats.core.kernels import walk

        h, slopes = np.empty((0, 0)), np.empty(0)
        if sums.h is not None:
            h = sums.h
        if sums.slopes is not None:
            slopes = sums.slopes
        walk(
            sums.n,
            h,
            slopes,
            sums.rows,
            models,
            spread,
            TIE,
            reach,
            best,
            running,
            counts,
        )
        return counts
    n, left = np.empty((2, sums.n.shape[1]))
    with np.errstate(divide="ignore"):
        for k, (own, other) in enumerate(models.T.tolist()):
            _squares(sums, k, float(spread[k]), n, left)
            np.maximum(best[own], n, out=best[own])
            np.maximum(best[other], n, out=best[other])
            if len(reach):
                np.maximum(running, n, out=running)
                counts[k] = np.count_nonzero(running >= reach[k])
    return counts


def _squares(
    sums: SignSums, k: int, spread: float, n: FloatArray, left: FloatArray
) -> None:
    """T*² of a pair in each draw, in place of ``n``; ``left`` is room for as many
    numbers."""
    first, second = sums.rows[:, k]
    np.subtract(sums.n[first], sums.n[second], out=n)
    if sums.slopes is not None:
        np.multiply(n, n, out=n)
        np.multiply(n, sums.slopes[k], out=left)
    elif sums.h is not None:
        np.subtract(sums.h[first], sums.h[second], out=left)
        left *= n
        n *= n
    left += spread
    if left.min() <= TIE * spread:
        left[left <= TIE * spread] = 0.0
    n /= left


#: Models that are held against one at a time: their sums stay at hand.
_TILE = 16


def raise_largest(
    n: FloatArray, weights: FloatArray, best: FloatArray, *, compiled: bool
) -> None:
    """Raise the largest N²/spread of each model over its pairs.

    Args:
        n: sums of each model, shape (M, draws).
        weights: 1/spread of each two models, the first before the second; 0 for none,
            shape (M, M).
        best: the largest so far, shape (M, draws); changed.
        compiled: by numba; the same figures, to the bit.
    """
    if compiled:
        from warehouse.stats.core import kernels

        kernels.raise_largest(n, weights, best)
        return
    space = np.empty((_TILE, n.shape[1]))
    for top in range(0, len(n), _TILE):
        for own in range(min(top + _TILE, len(n)) - 1):
            others = slice(max(top, own + 1), top + _TILE)
            ratios = np.subtract(n[own], n[others], out=space[: len(n[others])])
            ratios *= ratios
            ratios *= weights[own, others, None]
            np.maximum(best[own], ratios.max(axis=0), out=best[own])
            np.maximum(best[others], ratios, out=best[others])


#: Sums of clusters of pairs that are held at a time (32 MB).
MOST_SUMS = 1 << 22
#: Sums of two models each in some draws that are held at a time (64 MB).
MOST_CELLS = 1 << 23

#: From signs, shape (G, draws), or what they make of `table_of_models`.
Summing = Callable[[FloatArray], SignSums]


@dataclass(frozen=True)
class SignSumPairs:
    """Some pairs that have an error."""

    numbers: IntArray  #: of the pairs among all, shape (p,).
    models: IntArray  #: the two models of each, shape (2, p).
    #: what is added to each centred difference: the mean difference where the null is
    #: imposed, else 0, shape (p,).
    shift: FloatArray
    n: FloatArray  #: common prompts, shape (p,).
    spread: FloatArray  #: G/(G−1) Σ S_c² of what is so shifted, shape (p,).
    reach: FloatArray  #: T², shape (p,).

    def part(self, chosen: slice | IntArray) -> SignSumPairs:
        """Some of them, in that order."""
        return SignSumPairs(
            self.numbers[chosen],
            self.models[:, chosen],
            self.shift[chosen],
            self.n[chosen],
            self.spread[chosen],
            self.reach[chosen],
        )


def centred_pairs(matrix: ScoreMatrix, moments: PairMoments) -> SignSumPairs:
    """Pairs with an error above 0, their differences centred."""
    numbers = np.flatnonzero(moments.error_cr1 > 0)
    n = moments.n_prompts[numbers].astype(np.float64)
    error = moments.error_cr1[numbers]
    return SignSumPairs(
        numbers=numbers,
        models=np.stack(matrix.pairs)[:, numbers],
        shift=np.zeros(len(numbers)),
        n=n,
        spread=(error * n) ** 2,
        reach=(moments.difference[numbers] / error) ** 2,
    )


def with_null(
    matrix: ScoreMatrix, pairs: SignSumPairs, difference: FloatArray
) -> SignSumPairs:
    """The same with the null imposed: differences are not centred.

    Args:
        difference: of all pairs; where scores are missing the spread is left to the
            sums of the pairs.
    """
    d = difference[pairs.numbers]
    sizes = _sizes(matrix)
    across = np.zeros(len(d))
    if matrix.clusters is not None and matrix.complete:
        of_model = sizes @ matrix.totals
        across = of_model[pairs.models[0]] - of_model[pairs.models[1]]
    units: FloatArray | int = pairs.n
    squares = pairs.n
    if matrix.clusters is not None:
        units = len(sizes)
        squares = (sizes**2).sum()
    more = units / (units - 1) * d * (2 * across + d * squares)
    return replace(pairs, shift=d, spread=pairs.spread + more)


def parts_to_sum(
    matrix: ScoreMatrix, pairs: SignSumPairs
) -> Iterator[tuple[SignSumPairs, Summing]]:
    """Pairs in their order, as many at a time as memory allows, each with how they are
    summed."""
    if matrix.complete:
        yield pairs, _of_models(matrix, pairs)
    elif matrix.clusters is None:
        yield pairs, _with_gaps(matrix, pairs)
    else:
        size = max(MOST_SUMS // len(matrix.totals), 1)
        for start in range(0, len(pairs.numbers), size):
            yield _of_pairs(matrix, pairs.part(slice(start, start + size)))


def table_of_models(matrix: ScoreMatrix) -> NDArray[Any] | None:
    """What signs are summed over where scores have no gaps, shape (rows, G): sums of
    each model, and sizes; where sizes differ also both times what makes H of N. None
    with gaps.

    Where sizes do not differ, scores that are whole numbers of steps are summed as
    such, not centred, in numbers of 32 bits if these hold every sum exactly.
    """
    if not matrix.complete:
        return None
    sizes = _sizes(matrix)
    rows = np.vstack([matrix.totals.T, sizes])
    if slope_of_all(matrix) is None:
        return np.vstack([rows, rows * _slopes(sizes[:, None])[:, 0]])
    uncentred = rows[:-1] + matrix.means[:, None] * sizes
    whole = np.vstack([np.rint(uncentred * matrix.steps), sizes])
    largest_exact = 1 << np.finfo(np.float32).nmant
    if matrix.steps and np.abs(whole).sum(axis=1).max() < largest_exact:
        return whole.astype(np.float32)
    return rows


def slope_of_all(matrix: ScoreMatrix) -> float | None:
    """What N times H is, where that is the same for all pairs."""
    sizes = _sizes(matrix)
    if matrix.complete and np.all(sizes == sizes[0]):
        return float(_slopes(sizes[:, None])[0, 0])
    return None


def _of_models(matrix: ScoreMatrix, pairs: SignSumPairs) -> Summing:
    """Of scores without gaps: the sums of each model, of what signs make of
    `table_of_models`."""
    m = matrix.n_models
    # means less one constant: it cancels in every difference, and numbers stay small
    means = (matrix.means - matrix.means.mean())[:, None]

    def sums_of(table: NDArray[Any]) -> SignSums:
        whole = table.dtype == np.float32
        shift = (int(pairs.shift.any()) - whole) * means
        steps = 1
        if whole:
            steps = matrix.steps

        def shifted(part: NDArray[Any]) -> FloatArray:
            sums: FloatArray = np.divide(part[:m], steps, dtype=np.float64)
            sums += shift * part[m]
            return sums

        h = None
        if len(table) > m + 1:
            h = shifted(table[m + 1 :])
        return SignSums(shifted(table[: m + 1]), pairs.models, h=h)

    return sums_of


def _sizes(matrix: ScoreMatrix) -> FloatArray:
    """Prompts of each cluster, or ones."""
    if matrix.clusters is None:
        return np.ones(len(matrix.totals))
    return matrix.clusters.sizes


def _of_pairs(matrix: ScoreMatrix, pairs: SignSumPairs) -> tuple[SignSumPairs, Summing]:
    """Of clusters with gaps: the sums of each pair, and its spread from them."""
    order = np.lexsort(pairs.models[::-1])
    centred, sizes = unit_sums(matrix, *pairs.models[:, order])
    back = np.argsort(order)
    centred, sizes = centred[:, back], sizes[:, back]
    sums = centred + sizes * pairs.shift
    spread = _small_sample(sizes) * (sums**2).sum(axis=0)
    # a pair's second row is one of zeros
    zeros, last = np.zeros(len(sums)), len(spread)
    n = np.vstack([sums.T, zeros])
    h = np.vstack([(sums * _slopes(sizes)).T, zeros])
    rows = np.stack([np.arange(last), np.full(last, last)])

    def sums_of(xi: NDArray[Any]) -> SignSums:
        return SignSums(n @ xi, rows, h=h @ xi)

    return replace(pairs, spread=spread), sums_of


def _slopes(sizes: FloatArray) -> FloatArray:
    """G/(G−1) (φ − 2 f_c) of sizes n_c, shape (G, p)."""
    shares = sizes / np.maximum(sizes.sum(axis=0), 1)
    concentration = (shares**2).sum(axis=0)
    return np.asarray(_small_sample(sizes) * (concentration - 2 * shares))


def _small_sample(sizes: FloatArray) -> FloatArray:
    """G/(G−1) of the clusters that have a size, shape (p,)."""
    units = (sizes > 0).sum(axis=0)
    return np.asarray(units / np.maximum(units - 1, 1))


def _with_gaps(matrix: ScoreMatrix, pairs: SignSumPairs) -> Summing:
    """N_ab = Σ ξ (x_a − x_b − s_ab) over common prompts, s_ab what centres the
    difference, or the difference of means that leaves scores as they were.

    Where models lack few prompts, each its own, from sums over all prompts less those
    over what a model lacks; else from sums over what models with equal gaps have.
    """
    x, w = matrix.centred, matrix.scored
    if pairs.shift.any():
        means = np.nan_to_num(matrix.means)
        subtract = means[None, :] - means[:, None]
    else:
        sums = x.T @ w
        subtract = (sums - sums.T) / np.maximum(w.T @ w, 1)
    packed = np.packbits(w.astype(bool), axis=0)  # a column is found again by its bytes
    _, first, of_model = np.unique(
        packed, axis=1, return_index=True, return_inverse=True
    )
    have = w[:, first].sum(axis=0)
    if len(matrix.gaps[0]) <= 2 * np.minimum(have, len(x) - have).sum():
        table_of = _from_what_is_lacking(matrix, subtract)
    else:
        table_of = _from_patterns(matrix, subtract, w[:, first], of_model.reshape(-1))
    (a, b), m = pairs.models, matrix.n_models
    rows = np.stack([b * m + a, a * m + b])
    slopes = -1 / (pairs.n - 1)

    def sums_of(xi: NDArray[Any]) -> SignSums:
        return SignSums(table_of(xi).reshape(m * m, -1), rows, slopes=slopes)

    return sums_of


def _from_what_is_lacking(
    matrix: ScoreMatrix, subtract: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """N_ab = E_ba − E_ab, E_ba = F_a − L_ba: F_a = Σ ξ x_a, L_ba the part of Σ ξ (x_a −
    s_ab) where b has no score (half of it where neither has, and half of −s_ab Σ ξ, so
    that it adds up)."""
    m = matrix.n_models
    totals = np.ascontiguousarray(matrix.totals.T)
    lacking = [np.flatnonzero(column == 0) for column in matrix.scored.T]
    parts = []
    for b, rows in enumerate(lacking):
        half = subtract[:, [b]] / 2
        share = matrix.centred[rows].T - half * (1 + matrix.scored[rows].T)
        parts.append(np.hstack([share, half]))

    def sums_of(xi: FloatArray) -> FloatArray:
        full = totals @ xi
        all_sums = xi.sum(axis=0)
        left = np.empty((m, m, len(all_sums)))
        for model, own in enumerate(lacking):
            signs = np.vstack([xi[own], all_sums])
            np.matmul(parts[model], signs, out=left[model])
            np.subtract(full, left[model], out=left[model])
        return left

    return sums_of


def _from_patterns(
    matrix: ScoreMatrix, subtract: FloatArray, patterns: FloatArray, of_model: IntArray
) -> Callable[[FloatArray], FloatArray]:
    """N_ab = E_ba − E_ab, E_ba = Σ ξ (x_a − s_ab/2) over the prompts of both, from sums
    of scores and of signs over the prompts of each pattern of gaps."""
    m = matrix.n_models
    cells = np.ascontiguousarray(np.hstack([matrix.centred, matrix.scored]).T)
    half = subtract.T[:, :, None] / 2

    def sums_of(xi: FloatArray) -> FloatArray:
        full = cells @ xi
        on = np.stack([_on_prompts(xi, cells, full, mask) for mask in patterns.T])
        # on: pattern, score or mask of a model, draw
        sums: FloatArray = on[of_model, :m]
        sums -= half * on[of_model, m:]
        return sums

    return sums_of


def _on_prompts(
    xi: FloatArray, cells: FloatArray, full: FloatArray, mask: FloatArray
) -> FloatArray:
    """Weighted sums of all models' cells over the prompts of a mask; by what is left
    out where that is less."""
    have, gaps = np.flatnonzero(mask), np.flatnonzero(mask == 0)
    if not len(gaps) and len(have):
        return full
    if len(gaps) < len(have):
        return full - cells[:, gaps] @ xi[gaps]
    return cells[:, have] @ xi[have]
