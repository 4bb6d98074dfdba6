"""What may enter the matrix statistics, and rows at unit length."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray

#: Told how many steps of how many are done.
Progress = Callable[[int, int], None]
#: Pairs whose similarities are held in memory at a time.
BLOCK_PAIRS = 4_000_000


def as_matrix(matrix: ArrayLike, name: str = "matrix") -> FloatArray:
    """``matrix`` as floats: at least 2 prompts (rows) and 2 models (columns), all finite.

    Raises:
        StatisticsError: for another shape, or missing cells (a row that is not complete does not
            enter; nothing is filled in).
    """
    try:
        values = np.ascontiguousarray(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"`{name}` must hold numbers: {error}") from None
    if values.ndim != 2:
        raise StatisticsError(f"`{name}` must have 2 dimensions, prompts × models")
    n, k = values.shape
    if n < 2 or k < 2:
        raise StatisticsError(
            f"`{name}` has {n} prompt(s) and {k} model(s); similarities between prompts need at least 2 of each"
        )
    incomplete = int((~np.isfinite(values)).any(axis=1).sum())
    if incomplete:
        raise StatisticsError(
            f"`{name}` has {incomplete} row(s) with missing or infinite cells; leave incomplete"
            " rows out, none is filled in"
        )
    return values


def as_count(value: int, name: str, least: int = 1) -> int:
    """A whole number that is large enough."""
    if value < least:
        raise StatisticsError(f"`{name}` must be at least {least}, found {value}")
    return value


def generator(seed: int, *index: int) -> np.random.Generator:
    """A stream of random numbers for one place: the same in whatever order places are visited."""
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence(seed, spawn_key=index)))


def zero_rows(matrix: FloatArray) -> NDArray[np.bool_]:
    """Which rows are all zero, shape (n,)."""
    return np.asarray(~matrix.any(axis=1))


def unit_rows(matrix: FloatArray, *, extra: bool = True) -> FloatArray:
    """Rows at Euclidean length 1.

    Args:
        extra: give the zero rows, where there are any, a further coordinate of 1, so that they
            are like each other (cosine 1) and unlike all others (0). Else they stay zero.

    Returns:
        shape (n, k), or (n, k + 1) with the further coordinate.
    """
    empty = zero_rows(matrix)
    largest = np.where(empty, 1.0, np.abs(matrix).max(axis=1))  # squares of tiny scores would be 0
    scaled = matrix / largest[:, None]
    lengths = np.where(empty, 1.0, np.sqrt(np.einsum("ij,ij->i", scaled, scaled)))
    unit = scaled / lengths[:, None]
    return np.column_stack([unit, empty.astype(np.float64)]) if extra and empty.any() else unit


def pair_blocks(unit: FloatArray) -> Iterator[FloatArray]:
    """Cosines of all pairs i < j in blocks, each one-dimensional; in [-1, 1]."""
    n = len(unit)
    step = max(1, min(n, BLOCK_PAIRS // n))
    for start in range(0, n - 1, step):
        rows = unit[start : start + step]
        products = np.clip(rows @ unit[start:].T, -1.0, 1.0)
        first, second = np.triu_indices(len(rows), 1)
        yield np.concatenate([products[first, second], products[:, len(rows) :].ravel()])
