"""All pairs of runs on a suite: differences of weighted sums of leaves, with Holm's adjustment.

A difference is a sum over the leaves of both runs, the second with weights −w (see `suites`):
prompts that both have are paired, others are not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import ROUNDING, FloatArray
from warehouse.stats.core.quantiles import t_p_values
from warehouse.stats.core.rejects import rejects
from warehouse.stats.multiple.adjust import holm
from warehouse.stats.suites.cells import Cell, Design
from warehouse.stats.suites.shared_units import UnitTable, overlaps, satterthwaite
from warehouse.stats.suites.weighted_mean import leaf_weights


@dataclass(frozen=True)
class SuitePairs:
    """Differences of all pairs of M runs on a suite, row minus column; NaN where not defined.

    Attributes:
        difference: shape (M, M).
        standard_error: NaN where 0 or not defined, shape (M, M).
        degrees_of_freedom: infinite for published errors alone, shape (M, M).
        p_value: two-sided, Student's t, shape (M, M).
        p_holm: Holm's adjustment over all pairs that could be tested, shape (M, M).
        statistical_rank: 1 + number of runs significantly better; None for a run without a test.
    """

    difference: FloatArray
    standard_error: FloatArray
    degrees_of_freedom: FloatArray
    p_value: FloatArray
    p_holm: FloatArray
    statistical_rank: tuple[int | None, ...]


def compare_suites(
    runs: Sequence[Sequence[Cell]],
    weights: ArrayLike | None = None,
    *,
    level: float = 0.95,
    higher_is_better: bool = True,
) -> SuitePairs:
    """All pairs of runs on a suite.

    Args:
        runs: the cells of each run, one for each leaf, in the same order of leaves.
        weights: of the leaves, above 0, divided by their sum; None: equal.
        level: 1 − level is the size of the tests.
        higher_is_better: direction of the ranks.

    Raises:
        StatisticsError: no run, runs of different numbers of leaves, weights misaligned.
    """
    if not runs or len({len(cells) for cells in runs}) > 1:
        raise StatisticsError("`runs` must hold at least one run, each with all leaves")
    shares = leaf_weights(weights, len(runs[0]))
    means = np.array([[cell.estimate for cell in cells] for cells in runs]) @ shares
    difference = means[:, None] - means[None, :]
    leaves = [UnitTable([[cell] for cell in cells]) for cells in zip(*runs, strict=True)]
    per_leaf = np.stack([leaf.pair_variances(np.array([w])) for leaf, w in zip(leaves, shares, strict=True)])
    table = UnitTable(runs)
    total = table.pair_variances(shares) if table.n_shared else per_leaf.sum(axis=0)
    own = np.array([_own(cells) for cells in runs]) * shares**2
    sums = own.sum(axis=1)
    with np.errstate(invalid="ignore"):
        total = np.where(total > ROUNDING * (sums[:, None] + sums[None, :]), total, np.nan)
    np.fill_diagonal(total, np.nan)
    error, df = np.sqrt(total), _freedoms(runs, per_leaf, own)
    p = t_p_values(difference / error, df)
    adjusted = _holm_square(p)
    ahead = difference if higher_is_better else -difference
    ranks = _ranks(ahead, adjusted, level)
    return SuitePairs(difference, error, df, p, adjusted, ranks)


def _own(cells: Sequence[Cell]) -> list[float]:
    return [math.nan if cell.variance is None else cell.variance for cell in cells]


def _freedoms(runs: Sequence[Sequence[Cell]], per_leaf: FloatArray, own: FloatArray) -> FloatArray:
    """Degrees of freedom of each difference, shape (M, M).

    The variance of a leaf's difference is divided between the designs of the two runs as their
    own variances are: one design gives ν of the paired test, two without a common unit Welch's.
    """
    m, leaves = own.shape
    places: dict[tuple[int, bytes], int] = {}
    designs: list[Design | None] = []
    blocks = np.zeros((m, leaves), dtype=np.intp)
    for a, cells in enumerate(runs):
        for j, cell in enumerate(cells):
            key = (j, b"" if cell.design is None else cell.design.key)
            if key not in places:
                places[key] = len(designs)
                designs.append(cell.design)
            blocks[a, j] = places[key]
    table, df = overlaps(designs), np.full((m, m), np.nan)
    for a in range(m - 1):
        others = np.arange(a + 1, m)
        both = own[a] + own[others]
        share = np.divide(own[a], both, out=np.full(both.shape, 0.5), where=both > 0)
        variances = per_leaf[:, a, others].T
        parts = np.hstack([variances * share, variances * (1 - share)])
        columns = np.hstack([np.broadcast_to(blocks[a], both.shape), blocks[others]])
        rows = np.broadcast_to(np.arange(len(others))[:, None], columns.shape)
        sums = csr_matrix((parts.ravel(), (rows.ravel(), columns.ravel())), (len(others), len(designs)))
        df[a, others] = df[others, a] = satterthwaite(sums, table)
    return df


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
    return tuple(1 + int(count) if known else None for count, known in zip(beaten, tested, strict=True))
