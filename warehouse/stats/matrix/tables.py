"""Similarities of the observed and of the shuffled matrices, kept small."""

from __future__ import annotations

import zlib

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.inputs import FloatArray
from warehouse.stats.matrix.counting import count_pairs
from warehouse.stats.matrix.inputs import BLOCK_PAIRS, pair_blocks, unit_rows
from warehouse.stats.matrix.ranked import linear_quantile
from warehouse.stats.matrix.similarity import ZeroRows, cell_values

#: Steps of the grid on [-1, 1] on which cosines of scores that are not 0/1 are counted.
GRID = 2**14
#: Cosines this close below a point of the grid count as that point.
_ROUNDING = 1e-10


class BinaryTables:
    """Tables of a 0/1 matrix: pairs by (weight, weight, common ones), packed.

    Whatever the similarity, its distribution follows from these counts without rounding.
    """

    def __init__(self, matrix: FloatArray, zero_rows: ZeroRows) -> None:
        self._k, self._zero_rows = matrix.shape[1], zero_rows
        self._packed: dict[int, tuple[bytes, bytes]] = {}
        self._codes: NDArray[np.int64] = np.empty(0, np.int64)
        self._ranked: dict[str, tuple[FloatArray, NDArray[np.intp]]] = {}

    def add(self, place: int, columns: NDArray[np.uint8]) -> None:
        """Count the pairs of a matrix, shape (k, n)."""
        codes, counts = count_pairs(columns)
        steps = np.diff(codes, prepend=0)
        self._packed[place] = (
            zlib.compress(steps.tobytes(), 1),
            zlib.compress(counts.tobytes(), 1),
        )

    def finish(self) -> None:
        """Find what occurs in any table."""
        self._codes = self._unpack(0)[0]
        for place in self._packed:
            codes = self._unpack(place)[0]
            at = np.minimum(np.searchsorted(self._codes, codes), len(self._codes) - 1)
            new = codes[self._codes[at] != codes]
            if len(new):
                self._codes = np.union1d(self._codes, new)

    def values(self, similarity: str) -> FloatArray:
        """Similarities that occur, ascending."""
        return self._ranks(similarity)[0]

    def counts(self, similarity: str, place: int) -> NDArray[np.int64]:
        """Pairs of a table by similarity, on `values`."""
        values, ranks = self._ranks(similarity)
        codes, counts = self._unpack(place)
        own = ranks[np.searchsorted(self._codes, codes)]
        # sums of whole numbers far below 2^53: exact
        return np.bincount(own, weights=counts, minlength=len(values)).astype(np.int64)

    def figures(
        self, similarity: str, place: int, counts: NDArray[np.int64]
    ) -> tuple[float, float, float]:
        """Mean, 75th and 95th percentile of a table with these counts."""
        values = self.values(similarity)
        mean = float(values @ counts) / int(counts.sum())
        return mean, linear_quantile(values, counts, 0.75), linear_quantile(values, counts, 0.95)

    def _unpack(self, place: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        steps, counts = (np.frombuffer(zlib.decompress(p), np.int64) for p in self._packed[place])
        return np.cumsum(steps), counts

    def _ranks(self, similarity: str) -> tuple[FloatArray, NDArray[np.intp]]:
        if similarity not in self._ranked:
            cells = cell_values(similarity, self._codes, self._k, self._zero_rows)
            values, ranks = np.unique(cells, return_inverse=True)
            self._ranked[similarity] = (values, ranks.astype(np.intp, copy=False))
        return self._ranked[similarity]


class CosineTables:
    """Tables of a matrix of any scores: cosines counted on a grid, percentiles from the pairs."""

    def __init__(self, matrix: FloatArray, zero_rows: ZeroRows) -> None:
        self._extra = zero_rows == "alike"
        self._small = len(matrix) * (len(matrix) - 1) // 2 <= BLOCK_PAIRS
        self._figures: dict[int, tuple[float, float, float]] = {}
        self._packed: dict[int, bytes] = {}

    def add(self, place: int, columns: NDArray[np.float64]) -> None:
        """Look at all pairs of a matrix, shape (k, n), in blocks."""
        unit = unit_rows(np.ascontiguousarray(columns.T), extra=self._extra)
        counts = np.zeros(GRID + 1, np.int64)
        kept = []
        for block in pair_blocks(unit):
            counts += np.bincount(_cells(block), minlength=GRID + 1)
            kept += [block] if self._small else []
        n, total = len(unit), unit.sum(axis=0)
        own = float(np.einsum("ij,ij->", unit, unit))
        mean = (float(total @ total) - own) / (n * (n - 1))
        pairs = np.concatenate(kept) if kept else None
        low, high = (_percentile(unit, counts, pairs, share) for share in (0.75, 0.95))
        self._figures[place] = (mean, low, high)
        self._packed[place] = zlib.compress(counts.tobytes(), 1)

    def finish(self) -> None:
        """Nothing is left to do."""

    def values(self, similarity: str) -> FloatArray:
        """Points of the grid."""
        return np.linspace(-1.0, 1.0, GRID + 1)

    def counts(self, similarity: str, place: int) -> NDArray[np.int64]:
        """Pairs of a table by point of the grid: from it to just below the next."""
        return np.frombuffer(zlib.decompress(self._packed[place]), np.int64)

    def figures(
        self, similarity: str, place: int, counts: NDArray[np.int64]
    ) -> tuple[float, float, float]:
        """Mean, 75th and 95th percentile of a table."""
        return self._figures[place]


def _cells(cosines: FloatArray) -> NDArray[np.int64]:
    return np.minimum((cosines + (1 + _ROUNDING)) * (GRID / 2), GRID).astype(np.int64)


def _percentile(
    unit: FloatArray, counts: NDArray[np.int64], pairs: FloatArray | None, share: float
) -> float:
    """The ``linear`` percentile; only the pairs in the cells that hold its place are sorted."""
    cumulated = np.cumsum(counts)
    place = share * (int(cumulated[-1]) - 1)
    cells = np.searchsorted(cumulated, [np.floor(place), np.ceil(place)], side="right")
    blocks = pair_blocks(unit) if pairs is None else [pairs]
    found = [block[(where >= cells[0]) & (where <= cells[1])]
             for block in blocks for where in [_cells(block)]]  # fmt: skip
    ordered = np.sort(np.concatenate(found))
    place -= int(cumulated[cells[0] - 1]) if cells[0] else 0
    low, high = ordered[int(np.floor(place))], ordered[int(np.ceil(place))]
    return float(low + (high - low) * (place - np.floor(place)))
