"""Sums of differences under random signs, |Σ ±d|: the null distribution of the sign flip test.

Three routes give the same distribution: all 2^m sign patterns; a sum of binomials where the
differences take few distinct sizes (one draw per size and resample); else packed random bits,
eight differences to a byte, whose 256 partial sums stand in a table. The last takes one gather
per eight differences and no more memory than one block of tables and one of resamples.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import TIE, FloatArray

#: Resamples that share one stream of random numbers; part of what a seed means.
CHUNK = 1 << 13
#: Differences for which a table of bytes costs as much as one binomial draw.
DIFFERENCES_PER_SIZE = 128
_BITS = 8
_COLUMNS = 64


def count_all_patterns(differences: FloatArray, threshold: float) -> int:
    """How many of the 2^m sign patterns have |Σ ±d| at or above ``threshold``.

    Args:
        differences: shape (m,), m small: 2^m sums are held.
    """
    sums = np.zeros(1)
    for difference in differences:
        sums = np.concatenate([sums - difference, sums + difference])
    return int(np.count_nonzero(np.abs(sums) >= threshold))


def count_random_patterns(
    differences: FloatArray, threshold: float, n_resamples: int, seed: int, *, columns: int = _COLUMNS
) -> int:
    """How many of ``n_resamples`` random sign patterns have |Σ ±d| at or above ``threshold``.

    Args:
        differences: shape (m,).
        columns: bytes of eight differences that are handled at a time; changes the speed only.
    """
    sizes, counts = distinct_sizes(differences)
    few = len(sizes) * DIFFERENCES_PER_SIZE <= len(differences)
    count = 0
    for number, first in enumerate(range(0, n_resamples, CHUNK)):
        n = min(CHUNK, n_resamples - first)
        stream = np.random.SeedSequence([seed, number])
        sums = _binomial_sums(sizes, counts, n, stream) if few else _byte_sums(differences, n, stream, columns)
        count += int(np.count_nonzero(np.abs(sums) >= threshold))
    return count


def distinct_sizes(differences: FloatArray) -> tuple[FloatArray, NDArray[np.int64]]:
    """The distinct |d| above 0, ascending, and how many differences have each.

    Sizes that differ by less than a tie (1e-9 of the largest) are one, their mean.
    """
    sizes = np.sort(np.abs(differences))
    sizes = sizes[sizes > 0]
    if not len(sizes):
        return sizes, np.zeros(0, np.int64)
    starts = np.flatnonzero(np.diff(sizes, prepend=-np.inf) > TIE * sizes[-1])
    counts = np.diff(starts, append=len(sizes)).astype(np.int64)
    return np.add.reduceat(sizes, starts) / counts, counts


def _binomial_sums(sizes: FloatArray, counts: NDArray[np.int64], n: int, stream: np.random.SeedSequence) -> FloatArray:
    """Σ_v v·(2·Bin(m_v, 1/2) − m_v), n times: the signs of m_v equal differences at once."""
    sums = np.zeros(n)
    for size, count, own in zip(sizes, counts, stream.spawn(len(sizes)), strict=True):
        positive = np.random.default_rng(own).binomial(count, 0.5, n)
        sums += size * (2.0 * positive - count)
    return sums


def _byte_sums(differences: FloatArray, n: int, stream: np.random.SeedSequence, columns: int) -> FloatArray:
    """Σ ±d with independent fair signs, n times."""
    words = -(-n // 8)  # 64 random bits hold the bytes of eight resamples
    source = np.random.PCG64(stream)
    sums, part = np.zeros(n), np.empty(n)
    for tables in _tables(differences, columns):
        random = source.random_raw(words * len(tables)).view(np.uint8)
        places = random.reshape(len(tables), -1)[:, :n].astype(np.intp)
        for table, index in zip(tables, places, strict=True):
            np.take(table, index, out=part, mode="clip")  # clip: no check of bounds, none needed
            sums += part
    return sums


def _tables(differences: FloatArray, columns: int) -> Iterator[FloatArray]:
    """The 256 sums ±d of each eight differences, shape (columns or fewer, 256)."""
    padded = np.zeros(-(-len(differences) // _BITS) * _BITS)
    padded[: len(differences)] = differences
    rows = padded.reshape(-1, _BITS)
    for first in range(0, len(rows), columns):
        block = rows[first : first + columns]
        sums = np.zeros((len(block), 1))
        for bit in range(_BITS):
            one = block[:, bit : bit + 1]
            sums = np.concatenate([sums - one, sums + one], axis=1)
        yield sums
