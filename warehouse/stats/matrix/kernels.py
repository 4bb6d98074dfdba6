"""Compiled functions. Importing this file loads numba: import it where it is needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from warehouse.stats.core.compiled import compiled

#: Pairs looked at in one go: few enough to stay in the fastest memory.
RUN = 2048


@intrinsic  # type: ignore[untyped-decorator, unused-ignore]
def ones(_context: Any, _bits: Any) -> Any:
    """Number of bits that are set: one instruction."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


@compiled
def _overlap(words: Any, row: int, left: int, size: int, shared: Any) -> None:
    """Common ones of a row with `size` rows from `left` on."""
    for word in range(words.shape[0]):
        own, others = words[word, row], words[word, left : left + size]
        if word == 0:
            for j in range(size):
                shared[j] = ones(own & others[j])  # type: ignore[call-arg]
        else:
            for j in range(size):
                shared[j] += ones(own & others[j])  # type: ignore[call-arg]


@compiled
def _tally(shared: Any, size: int, tallies: Any) -> None:
    """Count values; four tallies in turn, so that equal neighbours do not wait for each other."""
    for j in range(0, size - 3, 4):
        tallies[0, shared[j]] += 1
        tallies[1, shared[j + 1]] += 1
        tallies[2, shared[j + 2]] += 1
        tallies[3, shared[j + 3]] += 1
    for j in range(size - size % 4, size):
        tallies[0, shared[j]] += 1


@compiled
def tally_pairs(words: Any, starts: Any, first: int, counts: Any) -> None:
    """Add the pairs i < j of rows to ``counts``, by weights and common ones.

    It lets go of the interpreter's lock, so that threads can share the work.

    Args:
        words: rows as bits, 64 to a word, rows of equal weight (number of ones) side by side by
            ascending weight, uint64, shape (words of a row, n).
        starts: where each weight begins, and n, shape (G + 1,).
        first: the first weight to count, by its place.
        counts: pairs by weight from ``first`` on, weight and common ones, shape (weights to
            count, G, most common ones + 1); filled where the second weight is not before the first.
    """
    groups = len(starts) - 1
    tallies = np.zeros((4, counts.shape[2]), np.int64)
    shared = np.zeros(RUN, np.uint16)
    for g in range(first, first + counts.shape[0]):
        for h in range(g, groups):
            tallies[:] = 0
            for i in range(starts[g], starts[g + 1]):
                begin = i + 1 if g == h else starts[h]
                for left in range(begin, starts[h + 1], RUN):
                    size = min(RUN, starts[h + 1] - left)
                    _overlap(words, i, left, size, shared)
                    _tally(shared, size, tallies)
            counts[g - first, h] += tallies.sum(axis=0)
