"""Units that several cells share, and the variances of weighted sums of cells over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy  # loads its parts when they are used

from warehouse.stats.core.inputs import (
    FloatArray,
)
from warehouse.stats.suites.cells import Cell, Design, UnitArray

#: A table of all units is kept where at least one in so many of its places holds a
#: number, or it is small.
_DENSE, _SMALL = 4, 1_000_000
#: Units of which the covariances are worked out at a time.
BLOCK = 65_536


class UnitTable:
    """Which unit stands where, over runs that have the same leaves.

    Attributes:
        runs: the cells of each run, one for each leaf.
        names: all units, ascending, shape (U,).
        n_shared: units that stand in more than one leaf.
    """

    def __init__(self, runs: Sequence[Sequence[Cell]]) -> None:
        self.runs = runs
        leaves = []
        for cells in zip(*runs, strict=True):
            units = [cell.design.units for cell in cells if cell.design is not None]
            leaves.append(np.unique(np.concatenate([np.empty(0, np.int64), *units])))
        self.names, counts = np.unique(np.concatenate(leaves), return_counts=True)
        self.n_shared = int((counts > 1).sum())

    @property
    def n(self) -> int:
        """Number of units U."""
        return len(self.names)

    def variance(self, shares: FloatArray) -> float:
        """Variance of Σ w_l m_l of the only run."""
        (cells,) = self.runs
        gram = self._gram(shares)
        return float(gram[0, 0]) + lone_variance(cells, shares)

    def pair_table(self, shares: FloatArray) -> PairTable:
        """What variances of differences are worked out from."""
        stored = 0
        for cells in self.runs:
            stored += sum(cell.pulls.size for cell in cells if cell.pulls is not None)
        lone = np.array([lone_variance(cells, shares) for cells in self.runs])
        if self.n * len(self.runs) <= max(_DENSE * stored, _SMALL):
            pulls = self._pulls(shares, self.names)
            return PairTable(pulls, np.einsum("mu,mu->m", pulls, pulls), lone)
        few = self._sparse(shares)
        return PairTable(few, np.asarray(few.multiply(few).sum(axis=1)).ravel(), lone)

    def _sparse(self, shares: FloatArray) -> scipy.sparse.csr_matrix:
        """Σ_l w_l p_ul of all units, where few of them are of each run, shape (M, U)."""
        rows, columns, values = (
            [np.empty(0, np.intp)],
            [np.empty(0, np.intp)],
            [np.empty(0)],
        )
        for row, cells in enumerate(self.runs):
            for cell, w in zip(cells, shares, strict=True):
                if cell.design is not None and cell.pulls is not None:
                    rows.append(np.full(len(cell.pulls), row))
                    columns.append(np.searchsorted(self.names, cell.design.units))
                    values.append(w * cell.pulls)
        where = np.concatenate(rows), np.concatenate(columns)
        return scipy.sparse.csr_matrix(
            (np.concatenate(values), where), (len(self.runs), self.n)
        )

    def pair_thirds(self, shares: FloatArray) -> FloatArray:
        """Σ_u (t_au − t_bu)³ of every two runs, shape (M, M): with the variance the
        skewness of their difference."""
        mixed = np.zeros((len(self.runs), len(self.runs)))
        for start in range(0, self.n, BLOCK):
            pulls = self._pulls(shares, self.names[start : start + BLOCK])
            mixed += pulls**2 @ pulls.T
        own = np.diag(mixed)
        thirds: FloatArray = own[:, None] - own[None, :] + 3 * (mixed.T - mixed)
        return thirds

    def _gram(self, shares: FloatArray) -> FloatArray:
        """Σ_u t_au t_bu with t_u = Σ_l w_l p_ul, in blocks of units, shape (M, M)."""
        gram = np.zeros((len(self.runs), len(self.runs)))
        for start in range(0, self.n, BLOCK):
            pulls = self._pulls(shares, self.names[start : start + BLOCK])
            gram += pulls @ pulls.T
        return gram

    def _pulls(self, shares: FloatArray, names: UnitArray) -> FloatArray:
        """Σ_l w_l p_ul of some units, shape (M, units)."""
        table = np.zeros((len(self.runs), len(names)))
        if not len(names):
            return table
        for row, cells in zip(table, self.runs, strict=True):
            for cell, w in zip(cells, shares, strict=True):
                if cell.design is None or cell.pulls is None:
                    continue
                first, last = np.searchsorted(
                    cell.design.units, [names[0], names[-1] + 1]
                )
                rows = np.searchsorted(names, cell.design.units[first:last])
                row[rows] += w * cell.pulls[first:last]
        return table


@dataclass(frozen=True, eq=False)
class PairTable:
    """What variances of differences of runs are worked out from, a block of them at a
    time."""

    #: Σ_l w_l p_ul of each run, sparse where few units are shared, (M, U).
    pulls: FloatArray | scipy.sparse.csr_matrix
    own: FloatArray  #: sum of the squares of each run, shape (M,).
    #: variance of what has no units, NaN where not defined, shape (M,).
    lone: FloatArray

    def variances(self, block: slice, others: slice) -> FloatArray:
        """Variance of the difference of some runs and some others, shape (B, O); NaN
        where not defined."""
        common: Any = self.pulls[block] @ self.pulls[others].T
        if scipy.sparse.issparse(common):
            common = common.toarray()
        between = np.maximum(
            self.own[block, None] + self.own[None, others] - 2 * common, 0.0
        )
        variances: FloatArray = (
            between + self.lone[block, None] + self.lone[None, others]
        )
        return variances


def lone_variance(cells: Sequence[Cell], shares: FloatArray) -> float:
    """What cells without units add to the variance: published errors; NaN where one has
    none."""
    return math.fsum(
        w**2 * (math.nan if cell.variance is None else cell.variance)
        for cell, w in zip(cells, shares, strict=True)
        if cell.pulls is None
    )


def overlaps(designs: Sequence[Design | None]) -> scipy.sparse.csr_matrix:
    """`overlap` of every two designs, sparse, shape (B, B); 0 for published figures and
    for a design of a single unit, which has no error."""
    clustered = [
        (leaf, design)
        for leaf, design in enumerate(designs)
        if design is not None and len(design.units) > 1
    ]
    if not clustered:
        return scipy.sparse.csr_matrix((len(designs), len(designs)))
    rows = np.repeat(
        [leaf for leaf, _ in clustered], [len(design.units) for _, design in clustered]
    )
    units = np.concatenate([design.units for _, design in clustered])
    names, columns = np.unique(units, return_inverse=True)
    own = np.concatenate([design.own for _, design in clustered])
    factors = [design.factors() for _, design in clustered]
    x, y = (np.concatenate(part) for part in zip(*factors, strict=True))
    shape = (len(designs), len(names))
    own, x, y, corner = (
        scipy.sparse.csr_matrix((values, (rows, columns)), shape)
        for values in (own, x, y, x**2 - 2 * x * y)
    )
    xx, xy, yy = x @ x.T, x @ y.T, y @ y.T
    yx = xy.T
    whole = (
        xx.multiply(xx)
        - 2 * xx.multiply(xy + yx)
        + 2 * (xx.multiply(yy) + xy.multiply(yx))
    )
    return scipy.sparse.csr_matrix(own @ own.T + whole - corner @ corner.T)


def satterthwaite(
    parts: scipy.sparse.csr_matrix, overlapping: scipy.sparse.csr_matrix
) -> FloatArray:
    """Degrees of freedom of sums of variances: (Σ τ_b)² / Σ τ_b τ_c tr(K_b K_c).

    Args:
        parts: τ, variance of each design's part in each sum, at least 0, shape (S, B).
        overlapping: from `overlaps`, shape (B, B).

    Returns:
        ν of each sum; infinite where no part is estimated (published errors), NaN where
        a part is not defined, shape (S,).
    """
    spread = np.asarray((parts @ overlapping).multiply(parts).sum(axis=1)).ravel()
    total = np.asarray(parts.sum(axis=1)).ravel()
    with np.errstate(divide="ignore", invalid="ignore"):
        df: FloatArray = np.where(spread == 0, np.inf, total**2 / spread)
    return np.where(np.isnan(total), np.nan, df)
