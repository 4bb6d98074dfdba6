"""All pairs of runs on a suite, with tests of their differences.

A difference is a sum over the leaves of both runs, the second with weights −w (see
`suites`): prompts that both have are paired, others are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import scipy  # loads its parts when they are used
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import (
    ROUNDING,
    Bounds,
    FloatArray,
    as_level,
    finite_bounds,
    rejects,
)
from warehouse.stats.core.quantiles import t_p_values
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.rows.seed_difference import RowSeeds
from warehouse.stats.suites.cells import Cell, Design, unseen_variances
from warehouse.stats.suites.seed_tests import tests_over_seeds
from warehouse.stats.suites.unit_table import UnitTable, overlaps, satterthwaite
from warehouse.stats.suites.weighted_mean import leaf_weights


@dataclass(frozen=True)
class SuitePairs:
    """Differences of all pairs of M runs on a suite, row minus column; NaN where not
    defined."""

    difference: FloatArray  #: shape (M, M).
    standard_error: FloatArray  #: NaN where 0 or not defined, shape (M, M).
    #: infinite for published errors alone, shape (M, M).
    degrees_of_freedom: FloatArray
    #: two-sided, Student's t; without bounds of the scores the larger of it and Hall's,
    #: for skewed ones, shape (M, M).
    p_value: FloatArray
    p_holm: FloatArray  #: Holm's adjustment over all pairs that could be tested, shape (M, M).
    #: 1 + number of runs significantly better; None for a run without a test.
    statistical_rank: tuple[int | None, ...]


def compare_suites(
    runs: Sequence[Sequence[Cell]],
    weights: ArrayLike | None = None,
    *,
    bounds: Bounds | None = None,
    level: float = 0.95,
    higher_is_better: bool = True,
    seeds: Sequence[RowSeeds] | None = None,
) -> SuitePairs:
    """All pairs of runs on a suite.

    Args:
        runs: the cells of each run, one for each leaf, in the same order of leaves.
        weights: of the leaves, above 0, divided by their sum; None: equal.
        bounds: of every leaf's figure; with them a leaf on which two runs do not differ
            is not taken for certain.
        level: 1 − level is the size of the tests.
        higher_is_better: direction of the ranks.
        seeds: what is known of the training seeds of each run, ``n_seeds`` 1 for one
            without; None: none has any.

    Raises:
        StatisticsError: no run, runs of different numbers of leaves, weights
            misaligned.
    """
    if not runs or len({len(cells) for cells in runs}) > 1:
        raise StatisticsError("`runs` must hold at least one run, each with all leaves")
    shares = leaf_weights(weights, len(runs[0]))
    means = np.array([[cell.estimate for cell in cells] for cells in runs]) @ shares
    difference = means[:, None] - means[None, :]
    error, df = _errors(runs, shares, finite_bounds(bounds), as_level(level))
    p = t_p_values(difference / error, df)
    has_units = any(cell.design is not None for cell in chain.from_iterable(runs))
    if finite_bounds(bounds) is None and has_units:
        thirds = UnitTable(runs).pair_thirds(shares)
        p = np.maximum(p, _p_of_skewed(difference / error, thirds / error**3, df))
    if seeds is not None:
        of_seeds, p_of_seeds = tests_over_seeds(error, df, difference, seeds)
        error = np.where(np.isnan(p_of_seeds), error, of_seeds)
        p = np.where(np.isnan(p_of_seeds), p, p_of_seeds)
    adjusted = _holm_square(p)
    ahead = difference
    if not higher_is_better:
        ahead = -difference
    ranks = _ranks(ahead, adjusted, level)
    return SuitePairs(difference, error, df, p, adjusted, ranks)


def _p_of_skewed(
    statistic: FloatArray, skewness: FloatArray, df: FloatArray
) -> FloatArray:
    """p by Hall's transformation of t, which takes off what the skewness of the
    difference adds (Hall 1992, §3.9).

    g(T) = T + γT²/3 + γ²T³/27 + γ/6. A model of skewed scores against one of even ones
    of the same mean, two benchmarks of 30: t tells them apart in .10, the larger of
    both p in .06.
    """
    t = statistic
    turned = t + skewness * t**2 / 3 + skewness**2 * t**3 / 27 + skewness / 6
    same_side = np.sign(turned) == np.sign(statistic)
    return np.where(same_side | np.isnan(statistic), t_p_values(turned, df), 1.0)


def _own(runs: Sequence[Sequence[Cell]]) -> FloatArray:
    """Variance of each run on each leaf, NaN where it has none, shape (M, L)."""
    variances = [[cell.variance for cell in cells] for cells in runs]
    return np.array(variances, dtype=np.float64)


#: Values that are worked out at a time: a block of runs, by all runs, by leaves.
_BLOCK_VALUES = 2_000_000


def _errors(
    runs: Sequence[Sequence[Cell]],
    shares: FloatArray,
    limits: tuple[float, float] | None,
    level: float,
) -> tuple[FloatArray, FloatArray]:
    """Standard error of the difference of every two runs and its degrees of freedom,
    shape (M, M) each.

    A block of runs at a time against itself and those after it: leaves x runs x runs
    never stand in memory at once.
    """
    m, n_leaves = len(runs), len(shares)
    own = _own(runs) * shares**2
    sums = own.sum(axis=1)
    whole = UnitTable(runs)
    together = None
    if whole.n_shared:
        together = whole.pair_table(shares)
    apart = [
        UnitTable([[cell] for cell in cells]).pair_table(shares[j : j + 1])
        for j, cells in enumerate(zip(*runs, strict=True))
    ]
    freedoms = _Freedoms(runs, own)
    error, df = np.full((m, m), np.nan), np.full((m, m), np.nan)
    step = max(_BLOCK_VALUES // (n_leaves * m), 1)
    for start in range(0, m, step):
        block, others = slice(start, min(start + step, m)), slice(start, m)
        per_leaf = np.stack([table.variances(block, others) for table in apart])
        if together is None:
            total = per_leaf.sum(axis=0)
        else:
            total = together.variances(block, others)
        with np.errstate(invalid="ignore"):
            unseen = unseen_variances(
                runs, per_leaf, own, shares, limits, level, block, others
            )
            is_seen = total > ROUNDING * (sums[block, None] + sums[None, others])
            total = np.where(is_seen, total + unseen.sum(axis=0), np.nan)
            error[block, others] = np.sqrt(total)
        error[others, block] = error[block, others].T
        df[block, others] = freedoms.of(per_leaf + unseen, block, others)
        df[others, block] = df[block, others].T
    np.fill_diagonal(error, np.nan)
    np.fill_diagonal(df, np.nan)
    return error, df


class _Freedoms:
    """Degrees of freedom of differences.

    The variance of a leaf's difference is divided between the designs of the two runs
    as their own variances are: one design gives ν of the paired test, two without a
    common unit Welch's.
    """

    def __init__(self, runs: Sequence[Sequence[Cell]], own: FloatArray) -> None:
        index_of: dict[tuple[int, bytes], int] = {}
        designs: list[Design | None] = []
        self._own, self._blocks = own, np.zeros(own.shape, dtype=np.intp)
        for a, cells in enumerate(runs):
            for j, cell in enumerate(cells):
                key = (j, b"")
                if cell.design is not None:
                    key = (j, cell.design.key)
                if key not in index_of:
                    index_of[key] = len(designs)
                    designs.append(cell.design)
                self._blocks[a, j] = index_of[key]
        self._table, self._n_designs = overlaps(designs), len(designs)

    def of(self, per_leaf: FloatArray, block: slice, others: slice) -> FloatArray:
        """Those of some runs against some others.

        Args:
            per_leaf: variance of each difference on each leaf, shape (L, block,
                others).
        """
        n_leaves, n_block, n_others = per_leaf.shape
        # all runs have one design on each leaf, in the order of leaves
        if self._n_designs == n_leaves:
            sums = scipy.sparse.csr_matrix(per_leaf.reshape(n_leaves, -1).T)
            return satterthwaite(sums, self._table).reshape(n_block, n_others)
        found = np.empty((n_block, n_others))
        for row in range(n_block):
            found[row] = self._of_one(per_leaf[:, row], block.start + row, others)
        return found

    def _of_one(self, per_leaf: FloatArray, run: int, others: slice) -> FloatArray:
        own, blocks = self._own, self._blocks
        both = own[run] + own[others]
        share = np.divide(own[run], both, out=np.full(both.shape, 0.5), where=both > 0)
        variances = per_leaf.T
        parts = np.hstack([variances * share, variances * (1 - share)])
        columns = np.hstack([np.broadcast_to(blocks[run], both.shape), blocks[others]])
        rows = np.broadcast_to(np.arange(len(both))[:, None], columns.shape)
        shape = (len(both), self._n_designs)
        sums = scipy.sparse.csr_matrix(
            (parts.ravel(), (rows.ravel(), columns.ravel())), shape
        )
        return satterthwaite(sums, self._table)


def _holm_square(p: FloatArray) -> FloatArray:
    upper = np.triu_indices(len(p), 1)
    adjusted = np.full_like(p, np.nan)
    adjusted[upper] = holm(p[upper])
    adjusted.T[upper] = adjusted[upper]
    return adjusted


def _ranks(ahead: FloatArray, p: FloatArray, level: float) -> tuple[int | None, ...]:
    with np.errstate(invalid="ignore"):
        beaten = (rejects(p, 1 - level) & (ahead < 0)).sum(axis=1)
    tested = np.logical_or.reduce(np.isfinite(p), axis=1)
    ranks: list[int | None] = (1 + beaten).tolist()
    for run in np.flatnonzero(~tested):
        ranks[run] = None
    return tuple(ranks)
