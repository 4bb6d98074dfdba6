"""The largest |T| over all pairs of models in each draw of signs, and the p-values and
critical values that follow."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.draws import all_signs, draw_blocks, sign_block
from warehouse.stats.core.inputs import (
    TIE,
    FloatArray,
)
from warehouse.stats.core.machine import has_compiler
from warehouse.stats.multiple.pair_moments import (
    PairMoments,
    ScoreMatrix,
)
from warehouse.stats.multiple.sign_sums import (
    MANY,
    MOST_CELLS,
    SOME,
    SignSumPairs,
    SignSums,
    Summing,
    centred_pairs,
    parts_to_sum,
    raise_largest,
    slope_of_all,
    table_of_models,
    walk_pairs,
    with_null,
)

#: Blocks of draws that are worked on at a time, at most.
THREADS = 4
#: Multipliers that one thread draws and uses as soon as several do, which wait for each
#: other.
FOR_ONE_THREAD = 1 << 24
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Draws:
    """How the largest |T| is drawn."""

    n: int  #: number of draws B.
    seed: int  #: of the random numbers.
    block: int = 256  #: rows of signs at a time (the figures do not depend on it).
    #: sums of models in so many rows are gone through at a time, where no code is
    #: compiled (nor on this): the default number of draws in two blocks.
    wide: int = 5056


@dataclass(frozen=True)
class MaxT:
    """The draws of max-|T|."""

    #: largest |T*| of the pairs that each model is in, with the null imposed and with
    #: centred differences, shape (2, M, V); 0 for a model without a pair. The maximum
    #: over models is that over all pairs.
    largest: FloatArray
    #: share of draws, the sample itself among them, whose largest |T*| over the pairs
    #: up to this one by |T| reaches its |T|, no smaller than that of a pair with a
    #: larger |T|, shape (P,); NaN for a pair without an error.
    p_step: FloatArray
    #: V, all 2^G vectors of signs where these are B + 1 or fewer, else B.
    n_vectors: int
    exact: bool  #: whether these are all.


def max_t_draws(matrix: ScoreMatrix, moments: PairMoments, draws: Draws) -> MaxT:
    """Draw max-|T|, or go through all vectors of signs.

    Args:
        moments: of the pairs; those without an error above 0 are left out.
    """
    n_units = len(matrix.totals)
    exact = n_units <= math.log2(draws.n + 1)
    if exact:
        n = 2**n_units
    else:
        n = draws.n
    p_step = np.full(len(moments.error), np.nan)
    pairs = centred_pairs(matrix, moments)
    best = np.zeros((2, matrix.n_models, n))
    if n and len(pairs.numbers):
        many = SOME if "numba" in sys.modules else MANY
        compiled = len(pairs.numbers) * n >= many and has_compiler()
        table = table_of_models(matrix)
        wide = draws.block
        if table is not None and not compiled:
            wide = max(wide, min(draws.wide, n // _threads(n_units, n)))
        signs = _Signs(n_units, n, draws.seed, draws.block, exact, wide, table)
        ascending = with_null(matrix, pairs, moments.difference).part(
            np.argsort(pairs.reach, kind="stable")
        )
        step = _works(matrix, ascending, best[0], step=True, compiled=compiled)
        plain = _works(matrix, pairs, best[1], step=False, compiled=compiled)
        if matrix.complete:  # each is one part: signs are drawn once for both
            reached = _each_block(signs, [*step, *plain])[0]
        else:
            reached = np.concatenate([_each_block(signs, [work])[0] for work in step])
            for work in plain:
                _each_block(signs, [work])
        p = (reached + (not exact)) / (n + (not exact))
        p_step[ascending.numbers] = np.maximum.accumulate(p[::-1])[::-1]
    return MaxT(
        largest=np.sqrt(best, out=best), p_step=p_step, n_vectors=n, exact=exact
    )


@dataclass(frozen=True)
class _Signs:
    """Vectors of signs: all there are, or random ones."""

    n_units: int
    n: int
    seed: int
    block: int
    exact: bool
    wide: int  #: rows of sums at a time.
    #: what is summed, shape (sums, units); None: signs are left as they are.
    table: NDArray[Any] | None

    def rows(self, rows: slice) -> NDArray[Any]:
        """Shape (units, rows), or (sums, rows)."""
        if self.table is None:
            return np.ascontiguousarray(self._signs(rows))
        blocks = draw_blocks(rows.stop - rows.start, self.block)
        return np.hstack(
            [
                self.table
                @ self._signs(slice(rows.start + b.start, rows.start + b.stop))
                for b in blocks
            ]
        )

    def _signs(self, rows: slice) -> NDArray[Any]:
        kind = np.float64 if self.table is None else self.table.dtype
        if self.exact:
            return all_signs(self.n_units, rows).astype(kind).T
        return sign_block(self.n_units, rows, self.seed, kind).T


#: What is done with some signs, or with their sums: how many draws reach each pair.
_Work = Callable[[slice, NDArray[Any]], Counts]


def _works(
    matrix: ScoreMatrix,
    pairs: SignSumPairs,
    best: FloatArray,
    *,
    step: bool,
    compiled: bool,
) -> Iterator[_Work]:
    """What raises the largest T*² of each model and draw, shape (M, V), and counts
    draws that reach; some pairs at a time."""
    n = best.shape[1]
    running = np.zeros(n)
    # with gaps, each draw holds a sum for every two models
    if matrix.complete:
        most = n
    else:
        most = max(1, MOST_CELLS // len(best) ** 2)
    slope = slope_of_all(matrix)
    for part, summed in parts_to_sum(matrix, pairs):
        plan = _PairsPlan(step, compiled, most)
        yield (
            _work(part, summed, best, running, plan)
            if slope is None
            else _even(part, summed, best, slope, plan)
        )


@dataclass(frozen=True)
class _PairsPlan:
    """Whether draws that reach are counted, and code is compiled; how many draws are
    worked on at a time."""

    step: bool
    compiled: bool
    most: int


def _work(
    part: SignSumPairs,
    summed: Summing,
    best: FloatArray,
    running: FloatArray,
    plan: _PairsPlan,
) -> _Work:
    if plan.step:
        reach = part.reach * (1 - TIE) ** 2
    else:
        reach = np.empty(0)

    def some(rows: slice, sums: SignSums) -> Counts:
        largest = np.ascontiguousarray(best[:, rows])
        counts = walk_pairs(
            sums,
            part.models,
            part.spread,
            reach,
            largest,
            running[rows],
            compiled=plan.compiled,
        )
        best[:, rows] = largest
        return counts

    def work(rows: slice, xi: FloatArray) -> Counts:
        starts = range(0, xi.shape[1], plan.most)
        columns = [
            slice(start, min(start + plan.most, xi.shape[1])) for start in starts
        ]
        counts = [
            some(
                slice(rows.start + own.start, rows.start + own.stop), summed(xi[:, own])
            )
            for own in columns
        ]
        return np.asarray(np.sum(counts, axis=0))

    return work


def _even(
    part: SignSumPairs,
    summed: Summing,
    best: FloatArray,
    slope: float,
    plan: _PairsPlan,
) -> _Work:
    """The same by way of N²/spread, that T*² rises with; draws are counted only for
    pairs that any of them reaches."""
    weights = np.zeros((len(best), len(best)))
    weights[tuple(part.models)] = 1 / part.spread
    reach = part.reach * (1 - TIE) ** 2
    slopes = np.full(len(reach), slope)

    def work(rows: slice, xi: NDArray[Any]) -> Counts:
        sums, counts = summed(xi), np.zeros(len(reach), np.int64)
        largest = np.zeros_like(sums.n)
        raise_largest(sums.n, weights, largest, compiled=plan.compiled)
        left = largest * slope
        left += 1
        left[~(left > TIE)] = 0.0
        with np.errstate(divide="ignore"):
            largest /= left
        end = 0
        if plan.step:
            end = int(np.searchsorted(reach, largest.max(), side="right"))
        if end:
            first, sums = part.part(slice(end)), replace(sums, slopes=slopes)
            running = np.zeros(largest.shape[1])
            counts[:end] = walk_pairs(
                sums,
                first.models,
                first.spread,
                reach[:end],
                largest,
                running,
                compiled=plan.compiled,
            )
        best[:, rows] = largest
        return counts

    return work


def _each_block(signs: _Signs, works: Sequence[_Work]) -> Counts:
    """The sums of what each work makes of each block of draws, one row for each: in a
    few threads, unless it is so little that starting them takes longer."""

    def block(rows: slice) -> Counts:
        xi = signs.rows(rows)
        return np.stack([work(rows, xi) for work in works])

    blocks, threads = draw_blocks(signs.n, signs.wide), _threads(signs.n_units, signs.n)
    if threads == 1:
        return np.asarray(sum(map(block, blocks)))
    with ThreadPoolExecutor(threads) as pool:
        return np.asarray(sum(pool.map(block, blocks)))


def _threads(n_units: int, n: int) -> int:
    if n_units * n < FOR_ONE_THREAD:
        return 1
    return min(THREADS, os.cpu_count() or 1)
