"""Shorter vectors whose inner products are never below those of the long ones.

Unit vectors x, y are turned so that their variance lies in the first coordinates, and cut into
head and tail: x·y = x₁·y₁ + x₂·y₂ ≤ x₁·y₁ + |x₂||y₂| (Cauchy and Schwarz). With the length of the
tail as one more coordinate the right side is an inner product of k+1 numbers: pairs that stay below
a threshold there are below it in full, and only the rest has to be looked at again.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]

#: Fewer rows, or shorter ones, are compared in full soon enough.
MANY_ROWS, LONG = 8192, 128
#: Shares of the coordinates that are tried, in this order.
_SHARES = (1 / 8, 1 / 6, 1 / 4, 1 / 3, 1 / 2)
#: Rows that the shares are tried on, and the share of their pairs that may be looked at in vain.
_TRIED, _IN_VAIN = 1000, 1e-4


def shorten(unit: Vectors, threshold: float) -> Vectors:
    """Rows of fewer numbers whose products bound those of ``unit`` from above.

    Args:
        unit: rows of length 1, shape (n, d).
        threshold: pairs below it are of no interest; says how short the rows may be.

    Returns:
        shape (n, k+1) with k below d; ``unit`` itself where nothing would be gained.
    """
    n, d = unit.shape
    if n < MANY_ROWS or d < LONG:
        return unit
    axes = principal_axes(unit)
    tried = unit[np.linspace(0, n - 1, _TRIED).astype(np.intp)] @ axes
    upper = np.triu_indices(len(tried), 1)
    below = (tried @ tried.T)[upper] < threshold
    for share in _SHARES:
        head = cut(tried, int(d * share))
        in_vain = np.count_nonzero(below & ((head @ head.T)[upper] >= threshold))
        if in_vain <= _IN_VAIN * len(below):
            return cut(unit @ axes, int(d * share))
    return unit


def principal_axes(unit: Vectors) -> Vectors:
    """Orthonormal columns by falling second moment of the rows, shape (d, d)."""
    moments = (unit.T @ unit).astype(np.float64)
    axes = np.linalg.eigh(moments)[1][:, ::-1]
    return np.ascontiguousarray(axes, dtype=np.float32)


def cut(rows: Vectors, k: int) -> Vectors:
    """The first k numbers of each row and the length of the rest, shape (n, k+1)."""
    tail = np.einsum("ij,ij->i", rows[:, k:], rows[:, k:], dtype=np.float64)
    head = np.empty((len(rows), k + 1), np.float32)
    head[:, :k] = rows[:, :k]
    head[:, k] = np.sqrt(tail)
    return head
