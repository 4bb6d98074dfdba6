"""The largest |T*| of pairs that are gone through one after the other, in each draw of signs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import TIE, FloatArray
from warehouse.stats.multiple.pair_moments import IntArray

#: Pairs times draws from which on compiled code pays for its start.
MANY = 1 << 23


@dataclass(frozen=True)
class SignSums:
    """What random signs make of some pairs in some draws.

    Attributes:
        n: sums N = Σ ξ_c S_c, shape (rows, draws); a pair has the difference of two of them.
        rows: the two rows of each pair, shape (2, p).
        h: H by rows as ``n``, so that s*² = spread + N·H; or
        slopes: H = slope·N of each pair, shape (p,).
    """

    n: FloatArray
    rows: IntArray
    h: FloatArray | None = None
    slopes: FloatArray | None = None


def walk_pairs(
    sums: SignSums,
    models: IntArray,
    spread: FloatArray,
    reach: FloatArray,
    best: FloatArray,
    running: FloatArray,
    *,
    compiled: bool,
) -> NDArray[np.int64]:
    """Raise the largest T*² of each model, and of all pairs so far, pair by pair.

    T*² = N²/s*², infinite where s*² is `TIE` of the spread or less.

    Args:
        models: the two models of each pair, shape (2, p).
        spread: G/(G−1) Σ S_c² of each pair, above 0, shape (p,).
        reach: T² of each pair, shape (p,); empty: nothing is counted, ``running`` stays.
        best: the largest T*² of each model so far, shape (M, draws); changed.
        running: that of all pairs so far, shape (draws,); changed.
        compiled: by numba; the same figures, to the bit.

    Returns:
        draws whose largest T*² up to and with this pair reaches its T², shape (p,); zeros without ``reach``.
    """
    counts = np.zeros(len(spread), np.int64)
    if compiled:
        from warehouse.stats.multiple.kernels import walk

        h = np.empty((0, 0)) if sums.h is None else sums.h
        slopes = np.empty(0) if sums.slopes is None else sums.slopes
        walk(sums.n, h, slopes, sums.rows, models, spread, TIE, reach, best, running, counts)
        return counts
    t = _squares(sums, spread)
    for k, own in enumerate(t):
        for model in models[:, k]:
            np.maximum(best[model], own, out=best[model])
        if len(reach):
            np.maximum(running, own, out=running)
            counts[k] = np.count_nonzero(running >= reach[k])
    return counts


def _squares(sums: SignSums, spread: FloatArray) -> FloatArray:
    """T*² of all pairs, shape (p, draws)."""
    first, second = sums.rows
    n: FloatArray = sums.n[first] - sums.n[second]
    if sums.slopes is not None:
        n *= n
        left = n * sums.slopes[:, None]
    elif sums.h is not None:
        left = n * (sums.h[first] - sums.h[second])
        n *= n
    left += spread[:, None]
    left[left <= TIE * spread[:, None]] = 0.0
    with np.errstate(divide="ignore"):
        n /= left
    return n
