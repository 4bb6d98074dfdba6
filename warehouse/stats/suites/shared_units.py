"""Which units the leaves of a suite share, and what follows for errors and degrees of freedom."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_matrix

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.suites.cells import Cell, Design, UnitArray

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

    def pair_variances(self, shares: FloatArray) -> FloatArray:
        """Variance of the difference of every two runs, shape (M, M); NaN where not defined."""
        gram = self._gram(shares)
        own = np.diag(gram)
        lone = np.array([lone_variance(cells, shares) for cells in self.runs])
        between = np.maximum(own[:, None] + own[None, :] - 2 * gram, 0.0)
        variances: FloatArray = between + lone[:, None] + lone[None, :]
        return variances

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
        for row, cells in zip(table, self.runs, strict=True):
            for cell, w in zip(cells, shares, strict=True):
                if cell.design is None or cell.pulls is None:
                    continue
                first, last = np.searchsorted(cell.design.units, [names[0], names[-1] + 1])
                places = np.searchsorted(names, cell.design.units[first:last])
                row[places] += w * cell.pulls[first:last]
        return table


def lone_variance(cells: Sequence[Cell], shares: FloatArray) -> float:
    """What cells without units add to the variance: published errors; NaN where one has none."""
    return math.fsum(
        w**2 * (math.nan if cell.variance is None else cell.variance)
        for cell, w in zip(cells, shares, strict=True)
        if cell.pulls is None
    )


def overlaps(designs: Sequence[Design | None]) -> csr_matrix:
    """`overlap` of every two designs, sparse, shape (B, B); 0 for published figures and for a
    design of a single unit, which has no error."""
    known = [(leaf, design) for leaf, design in enumerate(designs) if design is not None and len(design.units) > 1]
    if not known:
        return csr_matrix((len(designs), len(designs)))
    rows = np.repeat([leaf for leaf, _ in known], [len(design.units) for _, design in known])
    units = np.concatenate([design.units for _, design in known])
    names, columns = np.unique(units, return_inverse=True)
    own = np.concatenate([design.own for _, design in known])
    x, y = (np.concatenate(part) for part in zip(*(design.factors() for _, design in known), strict=True))
    shape = (len(designs), len(names))
    own, x, y, corner = (csr_matrix((values, (rows, columns)), shape) for values in (own, x, y, x**2 - 2 * x * y))
    xx, xy, yy = x @ x.T, x @ y.T, y @ y.T
    yx = xy.T
    whole = xx.multiply(xx) - 2 * xx.multiply(xy + yx) + 2 * (xx.multiply(yy) + xy.multiply(yx))
    return csr_matrix(own @ own.T + whole - corner @ corner.T)


def satterthwaite(parts: csr_matrix, overlapping: csr_matrix) -> FloatArray:
    """Degrees of freedom of sums of variances: (Σ τ_b)² / Σ τ_b τ_c tr(K_b K_c).

    Args:
        parts: τ, variance of each design's part in each sum, at least 0, shape (S, B).
        overlapping: from `overlaps`, shape (B, B).

    Returns:
        ν of each sum; infinite where no part is estimated (published errors), NaN where a part
        is not defined, shape (S,).
    """
    spread = np.asarray((parts @ overlapping).multiply(parts).sum(axis=1)).ravel()
    total = np.asarray(parts.sum(axis=1)).ravel()
    with np.errstate(divide="ignore", invalid="ignore"):
        df: FloatArray = np.where(spread == 0, np.inf, total**2 / spread)
    return np.where(np.isnan(total), np.nan, df)
