"""max-|T| over all pairs by random signs (statistics.md §2a; Romano and Wolf 2005).

One sign for each cluster (each prompt, without clusters) multiplies the differences of all pairs
alike, so that the pairs keep their dependence; every draw studentises a pair by its own s*, for
which the weighted sum N_ab is taken off each unit by its share f_c. This is done twice. With the
null imposed (differences not centred) equal models are kept together: where few prompts differ
this is the test by sign flips. Tests go step by step: a pair's |T| is held against the largest |T*|
of the pairs whose |T| is no larger. But where models differ by far, all pairs swing alike then, and
intervals hold one at a time only. So for intervals differences are centred too, and the larger
critical value counts.

Webb's weights told equal models apart in 10 to 19 % of samples in place of 5, with 0/1 scores of 8
to 15 prompts; an error held fixed over the draws in 6 to 9 %, with sparse scores of 1 000 prompts.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.compiler import has_compiler
from warehouse.stats.core.inputs import TIE, FloatArray
from warehouse.stats.core.multipliers import all_signs, draw_blocks, sign_block
from warehouse.stats.multiple.pair_moments import PairMoments, ScoreMatrix
from warehouse.stats.multiple.running_max import MANY, SignSums, walk_pairs
from warehouse.stats.multiple.sign_sums import MOST_CELLS, Pairs, Summing, centred_pairs, parts_to_sum, with_null

#: Blocks of draws that are worked on at a time, at most.
THREADS = 4
#: Multipliers that one thread draws and uses sooner than several start.
FOR_ONE_THREAD = 1 << 20

Counts = NDArray[np.int64]


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


@dataclass(frozen=True)
class MaxT:
    """The draws of max-|T|.

    Attributes:
        largest: largest |T*| of the pairs that each model is in, with the null imposed and with
            centred differences, shape (2, V, M); 0 for a model without a pair. The maximum over
            models is that over all pairs.
        p_step: share of draws, the sample itself among them, whose largest |T*| over the pairs up to
            this one by |T| reaches its |T|, no smaller than that of a pair with a larger |T|, shape
            (P,); NaN for a pair without an error.
        n_vectors: V, all 2^G vectors of signs where these are B + 1 or fewer, else B.
        exact: whether these are all.
    """

    largest: FloatArray
    p_step: FloatArray
    n_vectors: int
    exact: bool


def max_t_draws(matrix: ScoreMatrix, moments: PairMoments, draws: Draws) -> MaxT:
    """Draw max-|T|, or go through all vectors of signs.

    Args:
        moments: of the pairs; those without an error above 0 are left out.
    """
    n_units = len(matrix.totals)
    exact = n_units <= math.log2(draws.n + 1)
    n = 2**n_units if exact else draws.n
    p_step = np.full(len(moments.error), np.nan)
    pairs = centred_pairs(matrix, moments)
    best = np.zeros((2, n, matrix.n_models))
    if n and len(pairs.numbers):
        signs = _Signs(n_units, n, draws.seed, draws.block, exact)
        ascending = with_null(matrix, pairs, moments.difference).part(np.argsort(pairs.reach, kind="stable"))
        reached = _walk(matrix, ascending, signs, best[0], step=True)
        p = (reached + (not exact)) / (n + (not exact))
        p_step[ascending.numbers] = np.maximum.accumulate(p[::-1])[::-1]
        _walk(matrix, pairs, signs, best[1], step=False)
    return MaxT(largest=np.sqrt(best), p_step=p_step, n_vectors=n, exact=exact)


@dataclass(frozen=True)
class _Signs:
    """Vectors of signs: all there are, or random ones."""

    n_units: int
    n: int
    seed: int
    block: int
    exact: bool

    def rows(self, rows: slice) -> FloatArray:
        """Shape (units, rows)."""
        signs = all_signs(self.n_units, rows) if self.exact else sign_block(self.n_units, rows, self.seed)
        return np.ascontiguousarray(signs.T)


def _walk(matrix: ScoreMatrix, pairs: Pairs, signs: _Signs, best: FloatArray, *, step: bool) -> Counts:
    """Raise the largest T*² of each draw and model, shape (V, M); how many draws reach each pair."""
    running = np.zeros(signs.n)
    compiled = len(pairs.numbers) * signs.n >= MANY and has_compiler()
    counts = [
        _walk_part(part, summed, signs, best, running, _Plan(step, compiled, matrix.complete))
        for part, summed in parts_to_sum(matrix, pairs)
    ]
    return np.concatenate(counts)


@dataclass(frozen=True)
class _Plan:
    """Whether draws that reach are counted, code is compiled, and no scores are missing."""

    step: bool
    compiled: bool
    complete: bool


def _walk_part(
    part: Pairs, summed: Summing, signs: _Signs, best: FloatArray, running: FloatArray, plan: _Plan
) -> Counts:
    reach = part.reach * (1 - TIE) ** 2 if plan.step else np.empty(0)
    # with gaps, each draw holds a sum for every two models
    most = signs.n if plan.complete else max(1, MOST_CELLS // best.shape[1] ** 2)

    def some(rows: slice, sums: SignSums) -> Counts:
        largest = np.ascontiguousarray(best[rows].T)
        counts = walk_pairs(sums, part.models, part.spread, reach, largest, running[rows], compiled=plan.compiled)
        best[rows] = largest.T
        return counts

    def block(rows: slice) -> Counts:
        xi = signs.rows(rows)
        starts = range(0, xi.shape[1], most)
        columns = [slice(start, min(start + most, xi.shape[1])) for start in starts]
        counts = [some(slice(rows.start + own.start, rows.start + own.stop), summed(xi[:, own])) for own in columns]
        return np.asarray(np.sum(counts, axis=0))

    return _each_block(signs, block)


def _each_block(signs: _Signs, work: Callable[[slice], Counts]) -> Counts:
    """The sum of each block of draws' work: in a few threads, unless it is so little that starting
    them takes longer."""
    blocks = draw_blocks(signs.n, signs.block)
    if signs.n_units * signs.n < FOR_ONE_THREAD:
        return np.asarray(sum(map(work, blocks)))
    with ThreadPoolExecutor(min(THREADS, os.cpu_count() or 1)) as pool:
        return np.asarray(sum(pool.map(work, blocks)))
