"""Large matrices in parts: threads whose number changes no digit, products without a 64-bit copy."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numpy as np

from warehouse.stats.core.inputs import FloatArray
from warehouse.stats.items.responses import Float32Array

_MANY = 20_000_000  # chances in one pass from which threads are worth their start
_PARTS = 16
_CELLS = 1 << 20
Result = TypeVar("Result")


def in_parts(blocks: list[slice], size: int, work: Callable[[list[slice]], Result]) -> list[Result]:
    """``work`` done on all blocks, in threads where ``size`` (chances to compute) is large.

    The number of parts is fixed, so that sums do not depend on the number of threads.
    """
    if size < _MANY:
        return [work(blocks)]
    cuts = [len(blocks) * i // _PARTS for i in range(_PARTS + 1)]
    parts = [blocks[low:high] for low, high in itertools.pairwise(cuts) if low < high]
    with ThreadPoolExecutor(min(_PARTS, os.cpu_count() or 1)) as pool:
        return list(pool.map(work, parts))


def times(matrix: Float32Array, columns: FloatArray) -> FloatArray:
    """A product of 32-bit counts with 64-bit numbers, in parts: no 64-bit copy of the whole matrix."""
    rows = max(1, _CELLS // matrix.shape[1])
    product = np.empty((matrix.shape[0], columns.shape[1]))
    for start in range(0, matrix.shape[0], rows):
        product[start : start + rows] = matrix[start : start + rows].astype(np.float64) @ columns
    return product
