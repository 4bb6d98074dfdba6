"""Signs of units, all vectors of them or some that are drawn, and what they make of
sums (statistics.md §21)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from warehouse.stats.core.inputs import FloatArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

#: Draws of one stream of random numbers; part of what a seed means.
CHUNK = 256


def n_draws(n_units: int, n_resamples: int) -> int:
    """Vectors of signs there will be, the identity among them: 2^C where that is no
    more than N + 1, else N + 1."""
    if enumerated(n_units, n_resamples):
        return int(2**n_units)
    return n_resamples + 1


def enumerated(n_units: int, n_resamples: int) -> bool:
    """Whether all vectors of signs are gone through."""
    return n_units < 63 and 2**n_units <= n_resamples + 1


def sign_blocks(n_units: int, n_resamples: int, seed: int) -> Iterator[FloatArray]:
    """Signs in blocks of draws, each of shape (C, draws); the first draw of all is the
    identity."""
    total = n_draws(n_units, n_resamples)
    is_all = enumerated(n_units, n_resamples)
    for number, first in enumerate(range(0, total, CHUNK)):
        size = min(CHUNK, total - first)
        if is_all:
            signs = _counted(n_units, first, size)
        else:
            signs = _drawn(n_units, size, np.random.SeedSequence([seed, number]))
        if first == 0:
            signs[:, 0] = 1.0
        yield signs


def sums_under_signs(
    parts: csr_matrix, n_resamples: int, seed: int
) -> Iterator[FloatArray]:
    """Σ_c ξ_c part_cg in blocks of draws, each of shape (S, draws).

    Args:
        parts: of each slice and unit, shape (S, C).
        n_resamples: vectors that are drawn beside the identity.
        seed: of these.
    """
    for signs in sign_blocks(parts.shape[1], n_resamples, seed):
        yield np.asarray(parts @ signs)


def _counted(n_units: int, first: int, size: int) -> FloatArray:
    """The vectors number ``first`` and on, bit by bit; number 0 is the identity."""
    numbers = np.arange(first, first + size)
    bits = (numbers[None, :] >> np.arange(n_units)[:, None]) & 1
    signs: FloatArray = 1.0 - 2.0 * bits.astype(np.float64)
    return signs


def _drawn(n_units: int, size: int, stream: np.random.SeedSequence) -> FloatArray:
    random = np.random.default_rng(stream).bytes(-(-n_units * size // 8))
    bits = np.unpackbits(np.frombuffer(random, np.uint8), count=n_units * size)
    signs: FloatArray = 1.0 - 2.0 * bits.reshape(n_units, size).astype(np.float64)
    return signs
