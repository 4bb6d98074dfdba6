"""How many pairs of binary rows share how many ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.compiler import has_compiler

WORD = 64
#: Counts that are held in memory at a time.
_CELLS = 4_000_000


def pack_columns(columns: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Columns of zeros and ones, shape (k, n), as words of 64 bits, shape (⌈k/64⌉, n)."""
    k, n = columns.shape
    packed = np.packbits(columns, axis=0, bitorder="little")
    size = -(-k // WORD)
    padded = np.zeros((size * 8, n), np.uint8)
    padded[: len(packed)] = packed
    by_row = np.ascontiguousarray(padded.T).view("<u8")
    return np.ascontiguousarray(by_row.T).astype(np.uint64, copy=False)


def count_pairs(columns: NDArray[np.uint8]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of rows by weight, weight and number of common ones.

    Args:
        columns: zeros and ones, the columns of the matrix one after another, shape (k, n).

    Returns:
        the triples that occur as one number (a(k+1) + b)(k+1) + c with a <= b, ascending, and the
        number of pairs i < j of each; together n(n−1)/2.
    """
    k = len(columns)
    weights = columns.sum(axis=0, dtype=np.int64)
    order = np.argsort(weights, kind="stable")
    values, starts = np.unique(weights[order], return_index=True)
    tally = _tally(columns, order)
    bounds = np.append(starts, columns.shape[1]).astype(np.int64)
    shape = (len(values), int(values[-1]) + 1)
    rows = max(1, min(len(values), _CELLS // (shape[0] * shape[1])))
    codes, pairs = [], []
    for first in range(0, len(values), rows):
        counts = np.zeros((min(rows, len(values) - first), *shape), np.int64)
        tally(bounds, first, counts)
        one, other, common = np.nonzero(counts)
        codes.append((values[first + one] * (k + 1) + values[other]) * (k + 1) + common)
        pairs.append(counts[one, other, common])
    return np.concatenate(codes), np.concatenate(pairs)


def _tally(columns: NDArray[np.uint8], order: NDArray[np.intp]) -> Callable[[Any, int, Any], None]:
    """Counts the pairs of rows in their order: by compiled code, or by matrix products where there is no compiler."""
    if has_compiler():
        from warehouse.stats.matrix import kernels

        return partial(kernels.tally_pairs, np.ascontiguousarray(pack_columns(columns)[:, order]))
    from warehouse.stats.matrix import products

    return partial(products.tally_pairs, np.ascontiguousarray(columns.T[order]))
