"""Common ones of pairs of rows by matrix products: what `kernels` counts, where numba is not installed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Rows on either side of one product.
_OWN, _OTHERS = 512, 2048


def tally_pairs(rows: NDArray[np.uint8], starts: NDArray[np.int64], first: int, counts: NDArray[np.int64]) -> None:
    """Add the pairs i < j of rows to ``counts``, as `warehouse.stats.matrix.kernels.tally_pairs` does.

    Args:
        rows: zeros and ones by ascending weight, shape (n, k); shape (n, k).
        starts: where each weight begins, and n, shape (G + 1,).
        first: the first weight to count, by its place.
        counts: shape (weights to count, G, most common ones + 1), C-contiguous.
    """
    weights = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    flat = counts.reshape(-1)
    _, n_groups, size = counts.shape
    kind: Any = np.float32 if flat.size < 1 << 24 else np.float64  # counts every number up to there
    end = int(starts[first + len(counts)])
    for top in range(int(starts[first]), end, _OWN):
        own = slice(top, min(top + _OWN, end))
        left_rows = rows[own].astype(kind)
        for left in range(top, len(rows), _OTHERS):
            others = slice(left, left + _OTHERS)
            places: NDArray[Any] = left_rows @ rows[others].astype(kind).T
            places += ((weights[own, None] - first) * (n_groups * size)).astype(kind)
            places += (weights[others] * size).astype(kind)
            cells = places.astype(np.intp)
            if left < own.stop:
                cells = cells[np.arange(own.start, own.stop)[:, None] < np.arange(left, left + cells.shape[1])]
            flat += np.bincount(cells.ravel(), minlength=len(flat))
