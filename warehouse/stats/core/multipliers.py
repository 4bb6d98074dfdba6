"""Random multipliers of the wild and multiplier bootstraps, in blocks.

Draws come in streams of `STREAM` rows, each from a generator of its own that is derived from the seed and the number of
the stream: the same weights whatever the size of the blocks they are handed out in.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warehouse.stats.core.inputs import FloatArray

#: Rows that one generator makes.
STREAM = 64
#: Webb's (2014) six points: mean 0, variance 1, each with probability 1/6.
WEBB = np.sqrt(np.array([0.5, 1.0, 1.5, 0.5, 1.0, 1.5])) * np.array([-1, -1, -1, 1, 1, 1])
# Four weights for each random number: fewer of these, and rows of a length that numpy copies fast.
_FOURS = np.array(list(itertools.product(WEBB, repeat=4)))


def webb_draws(n: int, n_draws: int, seed: int, *, block: int = 4 * STREAM) -> Iterator[tuple[slice, FloatArray]]:
    """Webb weights for ``n`` units, ``n_draws`` times.

    Args:
        n: units (prompts or clusters) that each draw has a weight for.
        n_draws: number of draws.
        seed: of the random numbers, a whole number, at least 0.
        block: most rows that are handed out at a time; rounded up to whole streams.

    Yields:
        which draws these are, and their weights, shape (rows, n).

    Examples:
        >>> [(rows.start, weights.shape) for rows, weights in webb_draws(3, 100, 0, block=64)]
        [(0, (64, 3)), (64, (36, 3))]
    """
    for rows in draw_blocks(n_draws, block):
        yield rows, webb_block(n, rows, seed)


def draw_blocks(n_draws: int, block: int) -> list[slice]:
    """The draws in blocks of whole streams, ``block`` rows or a little more each."""
    size = max(1, -(-block // STREAM)) * STREAM
    return [slice(start, min(start + size, n_draws)) for start in range(0, n_draws, size)]


def webb_block(n: int, rows: slice, seed: int) -> FloatArray:
    """Weights of one of `draw_blocks`, shape (rows, n); blocks may be made in any order."""
    weights = np.empty((-(-(rows.stop - rows.start) // STREAM) * STREAM, n))
    for first in range(0, len(weights), STREAM):
        stream = weights[first : first + STREAM].reshape(-1, _FOURS.shape[1])
        codes = _generator(seed, rows.start + first).integers(0, len(_FOURS), size=len(stream), dtype=np.uint16)
        _FOURS.take(codes, axis=0, out=stream, mode="clip")  # all codes are in range
    return weights[: rows.stop - rows.start]


def sign_block(n: int, rows: slice, seed: int, kind: DTypeLike = np.float64) -> NDArray[Any]:
    """Random signs, −1 or 1 (Rademacher weights), as `webb_block` gives weights."""
    signs = np.empty((-(-(rows.stop - rows.start) // STREAM) * STREAM, n), kind)
    for first in range(0, len(signs), STREAM):
        bits = np.unpackbits(_generator(seed, rows.start + first).integers(0, 256, STREAM * n // 8, dtype=np.uint8))
        own = bits.view(np.int8)
        own *= 2
        own -= 1
        signs[first : first + STREAM] = own.reshape(STREAM, n)
    return signs[: rows.stop - rows.start]


def all_signs(n: int, rows: slice) -> FloatArray:
    """Some of all 2^n vectors of signs, the one of ones first, shape (rows, n)."""
    bits = np.arange(rows.start, rows.stop)[:, None] >> np.arange(n) & 1
    return np.asarray(1.0 - 2.0 * bits)


def _generator(seed: int, row: int) -> np.random.Generator:
    """That of the stream which begins with a row."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence([seed, row // STREAM])))
