"""Loops that are compiled where numba is installed; loaded only there.

Importing this file loads numba: import it where it is needed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, types
from numba.extending import intrinsic


def compiled(function: Any) -> Any:
    """Compile at first use, without the interpreter's lock, and keep the machine code
    on disk."""
    try:
        return njit(nogil=True, error_model="numpy", cache=True)(function)
    except RuntimeError:  # nowhere to keep it: compiled once in each process
        return njit(nogil=True, error_model="numpy")(function)


#: Pairs looked at in one go: few enough to stay in the fastest memory.
RUN = 2048
#: Two rows are held against a third at a time where there are so many, and so many
#: pairs for each number they may give.
FEW, MANY_PAIRS = 8, 4


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
    """Count values; four tallies in turn, so that equal neighbours do not wait for each
    other."""
    for j in range(0, size - 3, 4):
        tallies[0, shared[j]] += 1
        tallies[1, shared[j + 1]] += 1
        tallies[2, shared[j + 2]] += 1
        tallies[3, shared[j + 3]] += 1
    for j in range(size - size % 4, size):
        tallies[0, shared[j]] += 1


@compiled
def _overlap_of_two(
    words: Any, row: int, left: int, size: int, wide: int, codes: Any
) -> None:
    """Common ones of a row with each of `size` rows from `left` on, times ``wide``, and
    with each of as many behind."""
    for word in range(words.shape[0]):
        own, others = words[word, row], words[word, left : left + size]
        behind = words[word, left + size : left + 2 * size]
        if word == 0:
            for j in range(size):
                codes[j] = ones(own & others[j]) * wide + ones(own & behind[j])  # type: ignore[call-arg]
        else:
            for j in range(size):
                codes[j] += ones(own & others[j]) * wide + ones(own & behind[j])  # type: ignore[call-arg]


@compiled
def tally_pairs(words: Any, starts: Any, first: int, counts: Any) -> None:
    """Add the pairs i < j of rows to ``counts``, by weights and common ones.

    It lets go of the interpreter's lock, so that threads can share the work. Two rows
    are held against a third at a time: what they have in common with it is one number,
    so that half as many are counted.

    Args:
        words: rows as bits, 64 to a word, rows of equal weight (number of ones) side by
            side by ascending weight, uint64, shape (words of a row, n).
        starts: where each weight begins, and n, shape (G + 1,).
        first: the first weight to count, by its place.
        counts: pairs by weight from ``first`` on, weight and common ones, shape
            (weights to count, G, most common ones + 1); filled where the second weight
            is not before the first.
    """
    groups, largest = len(starts) - 1, np.diff(starts).max()
    tallies = np.zeros((4, counts.shape[2]), np.int64)
    shared = np.zeros(RUN, np.uint32)
    for g in range(first, first + counts.shape[0]):
        wide = 1
        for word in range(words.shape[0]):
            wide += ones(words[word, starts[g]])  # type: ignore[call-arg]
        enough = MANY_PAIRS * wide * wide
        twos = np.zeros(
            (wide, wide) if (starts[g + 1] - starts[g]) * largest > enough else (0, 0),
            np.int64,
        )
        flat = twos.reshape(-1)
        for h in range(g, groups):
            pairs = (starts[g + 1] - starts[g]) * (starts[h + 1] - starts[h])
            most = RUN if pairs > enough else 0
            for i in range(starts[g], starts[g + 1]):
                left = i + 1 if g == h else starts[h]
                while left < starts[h + 1]:
                    size = min(most, (starts[h + 1] - left) // 2)
                    if size < FEW:
                        size = min(RUN, starts[h + 1] - left)
                        _overlap(words, i, left, size, shared)
                        _tally(shared, size, tallies)
                        left += size
                        continue
                    _overlap_of_two(words, i, left, size, wide, shared)
                    for j in range(size):
                        flat[shared[j]] += 1
                    left += 2 * size
            counts[g - first, h] += tallies.sum(axis=0)
            if most:
                counts[g - first, h, :wide] += twos.sum(axis=0) + twos.sum(axis=1)
                twos[:] = 0
            tallies[:] = 0


@compiled
def shuffle_rows(drawn: Any, rows: Any) -> bool:
    """Shuffle each row in place as ``numpy.random.Generator.permuted`` does: each cell,
    the last first, is swapped with one up to it; of each number drawn the bits that its
    place may have count, and what is beyond it is left.

    Without a branch for that, which no processor could foresee: a cell is swapped with
    itself then.

    Args:
        drawn: what the generator gives 32 bits at a time.
        rows: shape (k, n).

    Returns:
        whether there were enough; else rows are shuffled in part.
    """
    at, end = 0, len(drawn)
    for row in rows:
        cell: Any = len(row) - 1
        mask = 0
        while mask < cell:
            mask = 2 * mask + 1
        while cell > 0:
            while cell > mask >> 1 and at < end:
                other: Any = np.int64(drawn[at]) & mask
                at += 1
                inside = other <= cell
                if not inside:
                    other = cell
                row[cell], row[other] = row[other], row[cell]
                cell -= inside
            if at == end:
                return False
            mask >>= 1
    return True


@compiled
def tally_differences(
    codes: Any, first: Any, second: Any, most: int, counts: Any
) -> None:
    """Add how often rows of codes differ by each of −most … most to ``counts``, shape
    (pairs, 2 most + 1)."""
    tallies = np.zeros((4, counts.shape[1]), np.int64)
    shared = np.zeros(codes.shape[1], np.uint16)
    for k in range(len(first)):
        a, b = codes[first[k]], codes[second[k]]
        for i in range(len(a)):
            shared[i] = a[i] - b[i] + most
        tallies[:] = 0
        _tally(shared, len(a), tallies)
        counts[k] += tallies[0] + tallies[1] + tallies[2] + tallies[3]


@compiled
def _squares(
    n: Any, other_n: Any, h: Any, other_h: Any, spread: float, least: float, out: Any
) -> None:
    """T*² of a pair in each draw."""
    for draw in range(len(out)):
        total = n[draw] - other_n[draw]
        left = spread + total * (h[draw] - other_h[draw])
        if not left > least:
            left = 0.0
        out[draw] = total * total / left


@compiled
def _squares_by_slope(
    n: Any, other_n: Any, slope: float, spread: float, least: float, out: Any
) -> None:
    """The same where H is a multiple of N."""
    for draw in range(len(out)):
        total = n[draw] - other_n[draw]
        total *= total
        left = spread + total * slope
        if not left > least:
            left = 0.0
        out[draw] = total / left


@compiled
def _raise(values: Any, by: Any, space: Any) -> None:
    """The larger of two numbers in each draw; by way of a third array, or the loop is
    not vectorised."""
    for draw in range(len(by)):
        if by[draw] > values[draw]:
            space[draw] = by[draw]
        else:
            space[draw] = values[draw]
    for draw in range(len(by)):
        values[draw] = space[draw]


@compiled
def _raise_two(n: Any, other_n: Any, weight: float, best: Any, other_best: Any) -> None:
    for draw in range(len(n)):
        ratio = n[draw] - other_n[draw]
        ratio = ratio * ratio * weight
        if ratio > best[draw]:
            best[draw] = ratio
        if ratio > other_best[draw]:
            other_best[draw] = ratio


@compiled
def raise_largest(n: Any, weights: Any, best: Any) -> None:
    """`warehouse.stats.multiple.sign_sums.raise_largest`."""
    for a in range(len(n)):
        for b in range(a + 1, len(n)):
            if weights[a, b] > 0:  # none of two models that are alike
                _raise_two(n[a], n[b], weights[a, b], best[a], best[b])


@compiled
def _reaching(values: Any, reach: float) -> int:
    count = 0
    for draw in range(len(values)):
        count += values[draw] >= reach
    return count


@compiled
def walk(
    n: Any,
    h: Any,
    slopes: Any,
    rows: Any,
    models: Any,
    spread: Any,
    share: float,
    reach: Any,
    best: Any,
    running: Any,
    counts: Any,
) -> None:
    """`warehouse.stats.multiple.sign_sums.walk_pairs`, pair by pair."""
    t, space = np.empty(len(running)), np.empty(len(running))
    for k in range(len(spread)):
        a, b, least = rows[0, k], rows[1, k], share * spread[k]
        if len(slopes):
            _squares_by_slope(n[a], n[b], slopes[k], spread[k], least, t)
        else:
            _squares(n[a], n[b], h[a], h[b], spread[k], least, t)
        _raise(best[models[0, k]], t, space)
        _raise(best[models[1, k]], t, space)
        if len(reach):
            _raise(running, t, space)
            counts[k] = _reaching(running, reach[k])
