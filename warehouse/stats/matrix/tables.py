"""Similarities of the observed and of the shuffled matrices, kept small, and worked out
here or elsewhere.

Every shuffle has a stream of random numbers of its own, by its number. So neither how
many work on them, nor which of them does which block, changes a figure.
"""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import product
from threading import Lock
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from warehouse.stats.core.inputs import FloatArray, is_zero_one
from warehouse.stats.core.machine import has_compiler
from warehouse.stats.matrix.kmeans import silhouette_of
from warehouse.stats.matrix.similarity import (
    BLOCK_PAIRS,
    SIMILARITIES,
    cell_values,
    count_pairs,
    generator,
    linear_quantile,
    mean_cosine,
    pair_blocks,
    unit_rows,
)

#: Steps of the grid on [-1, 1] on which cosines of scores that are not 0/1 are counted.
GRID = 2**14
#: Cosines this close below a point of the grid count as that point.
_ROUNDING = 1e-10
#: Codes that may have a cell each, some 400 models: 5 bytes per code.
_CELLS = 2**26


class Tables(Protocol):
    """Similarities of the observed matrix (table 0) and of shuffled ones, by number."""

    def add(self, index: int, columns: NDArray[Any]) -> None:
        """Take in the matrix of a table, its columns one after another."""

    def packed(self, index: int) -> tuple[bytes, bytes]:
        """A table that is in, for :meth:`take` of another object on the same matrix."""

    def take(self, index: int, first: bytes, second: bytes, /) -> None:
        """Take in a table that another object has counted."""

    def finish(self) -> None:
        """All tables are in."""

    def figures(
        self, similarity: str, index: int, counts: NDArray[np.int64]
    ) -> tuple[float, float, float]:
        """Mean, 75th and 95th percentile of a table with these counts."""

    def counts(
        self, similarities: Sequence[str], index: int
    ) -> list[NDArray[np.int64]]:
        """Pairs of a table by each similarity, on values that all tables share."""

    def values(self, similarity: str) -> FloatArray:
        """Those values, ascending."""


class BinaryTables:
    """Tables of a 0/1 matrix: pairs by (weight, weight, common ones), packed.

    Whatever the similarity, its distribution follows from these counts without
    rounding.
    """

    def __init__(self, matrix: FloatArray) -> None:
        self._k = matrix.shape[1]
        self._packed: dict[int, tuple[bytes, bytes]] = {}
        self._codes = Codes((self._k + 1) ** 3)
        self._ranked: dict[str, tuple[FloatArray, NDArray[np.intp]]] = {}

    def add(self, index: int, columns: NDArray[np.uint8]) -> None:
        """Count the pairs of a matrix, shape (k, n); by several threads at once."""
        codes, counts = count_pairs(columns)
        self._codes.add(codes)
        steps = np.diff(codes, prepend=0)
        self._packed[index] = (
            zlib.compress(steps.tobytes(), 1),
            zlib.compress(counts.tobytes(), 1),
        )

    def packed(self, index: int) -> tuple[bytes, bytes]:
        """A table that is in, for :meth:`take` of another object on the same matrix."""
        return self._packed[index]

    def take(self, index: int, steps: bytes, counts: bytes) -> None:
        """Take in a table that another object has counted."""
        own_steps = np.frombuffer(zlib.decompress(steps), np.int64)
        self._codes.add(np.cumsum(own_steps))
        self._packed[index] = (steps, counts)

    def finish(self) -> None:
        """All tables are in: rank the similarities that occur in any of them."""
        codes = self._codes.finish()
        for similarity in SIMILARITIES:
            cells = cell_values(similarity, codes, self._k)
            values, ranks = np.unique(cells, return_inverse=True)
            self._ranked[similarity] = (values, ranks.astype(np.intp, copy=False))

    def values(self, similarity: str) -> FloatArray:
        """Similarities that occur, ascending."""
        return self._ranked[similarity][0]

    def counts(
        self, similarities: Sequence[str], index: int
    ) -> list[NDArray[np.int64]]:
        """Pairs of a table by each similarity, on its `values`."""
        steps, counts = (
            np.frombuffer(zlib.decompress(p), np.int64) for p in self._packed[index]
        )
        at = self._codes.unpacked(np.cumsum(steps))
        ranked = [self._ranked[similarity] for similarity in similarities]
        # sums of whole numbers far below 2^53: exact
        return [
            np.bincount(ranks[at], weights=counts, minlength=len(values)).astype(
                np.int64
            )
            for values, ranks in ranked
        ]

    def figures(
        self, similarity: str, index: int, counts: NDArray[np.int64]
    ) -> tuple[float, float, float]:
        """Mean, 75th and 95th percentile of a table with these counts."""
        values = self.values(similarity)
        mean = float(values @ counts) / int(counts.sum())
        return (
            mean,
            linear_quantile(values, counts, 0.75),
            linear_quantile(values, counts, 0.95),
        )


class Codes:
    """The codes that occur in any table, and the place of each among them.

    Below a size every code has a cell of its own, which is much faster than to search.
    """

    def __init__(self, size: int) -> None:
        self._seen = np.zeros(0, np.bool_)
        if size <= _CELLS:
            self._seen = np.zeros(size, np.bool_)
        self._sorted: NDArray[np.int64] = np.empty(0, np.int64)
        self._indices: NDArray[np.int32] = np.empty(0, np.int32)
        self._lock = Lock()

    def add(self, codes: NDArray[np.int64]) -> None:
        """Codes of one table, ascending; by several threads at once."""
        if len(self._seen):
            self._seen[codes] = True
            return
        with self._lock:
            self._sorted = np.union1d(self._sorted, codes)

    def finish(self) -> NDArray[np.int64]:
        """All of them, ascending."""
        if len(self._seen):
            self._sorted = np.flatnonzero(self._seen)
            self._indices = np.cumsum(self._seen, dtype=np.int32) - np.int32(1)
        return self._sorted

    def unpacked(self, codes: NDArray[np.int64]) -> NDArray[np.integer[Any]]:
        """Where codes stand in the answer of `finish`."""
        dense = len(self._indices)
        if dense:
            return self._indices[codes]
        return np.searchsorted(self._sorted, codes)


class CosineTables:
    """Tables of a matrix of any scores: cosines counted on a grid, percentiles from the
    pairs."""

    def __init__(self, matrix: FloatArray) -> None:
        self._small = len(matrix) * (len(matrix) - 1) // 2 <= BLOCK_PAIRS
        self._figures: dict[int, tuple[float, float, float]] = {}
        self._packed: dict[int, bytes] = {}

    def add(self, index: int, columns: NDArray[np.float64]) -> None:
        """Look at all pairs of a matrix, shape (k, n), in blocks."""
        unit = unit_rows(np.ascontiguousarray(columns.T))
        counts = np.zeros(GRID + 1, np.int64)
        kept = []
        for block in pair_blocks(unit):
            counts += np.bincount(_cells(block), minlength=GRID + 1)
            if self._small:
                kept += [block]
        pairs = None
        if kept:
            pairs = np.concatenate(kept)
        low = _percentile(unit, counts, pairs, 0.75)
        high = _percentile(unit, counts, pairs, 0.95)
        self._figures[index] = (mean_cosine(unit), low, high)
        self._packed[index] = zlib.compress(counts.tobytes(), 1)

    def packed(self, index: int) -> tuple[bytes, bytes]:
        """A table that is in, for :meth:`take` of another object on the same matrix."""
        figures = np.array(self._figures[index], "<f8")
        return figures.tobytes(), self._packed[index]

    def take(self, index: int, figures: bytes, counts: bytes) -> None:
        """Take in a table that another object has counted."""
        mean, low, high = np.frombuffer(figures, "<f8").tolist()
        self._figures[index] = (mean, low, high)
        self._packed[index] = counts

    def finish(self) -> None:
        """Nothing is left to do."""

    def values(self, similarity: str) -> FloatArray:
        """Points of the grid."""
        return np.linspace(-1.0, 1.0, GRID + 1)

    def counts(
        self, similarities: Sequence[str], index: int
    ) -> list[NDArray[np.int64]]:
        """Pairs of a table by point of the grid: from it to just below the next."""
        flat = np.frombuffer(zlib.decompress(self._packed[index]), np.int64)
        return [flat for _ in similarities]

    def figures(
        self, similarity: str, index: int, counts: NDArray[np.int64]
    ) -> tuple[float, float, float]:
        """Mean, 75th and 95th percentile of a table."""
        return self._figures[index]


def _cells(cosines: FloatArray) -> NDArray[np.int64]:
    places = (cosines + (1 + _ROUNDING)) * (GRID / 2)
    return np.minimum(places, GRID).astype(np.int64)


def _percentile(
    unit: FloatArray, counts: NDArray[np.int64], pairs: FloatArray | None, share: float
) -> float:
    """The ``linear`` percentile; only the pairs in the cells that hold its place are
    sorted."""
    cumulated = np.cumsum(counts)
    position = share * (int(cumulated[-1]) - 1)
    between = [np.floor(position), np.ceil(position)]
    first_cell, last_cell = np.searchsorted(cumulated, between, side="right")
    blocks: Iterable[FloatArray] = pair_blocks(unit)
    if pairs is not None:
        blocks = [pairs]
    values: list[FloatArray] = []
    for block in blocks:
        where = _cells(block)
        values.append(block[(where >= first_cell) & (where <= last_cell)])
    ordered = np.sort(np.concatenate(values))
    if first_cell:
        position -= int(cumulated[first_cell - 1])
    lower = np.floor(position)
    low, high = ordered[int(lower)], ordered[int(np.ceil(position))]
    return float(low + (high - low) * (position - lower))


#: Bytes of tables that one task gives, and all tasks that are asked for at a time.
_TASK_BYTES, _WAVE_BYTES = 4_000_000, 256_000_000
#: Shuffled matrices of one task, at most: the last ones are not to be waited for by all
#: others.
_TASK_TABLES = 16


class Spread(Protocol):
    """Runs a function on each of some tasks, wherever."""

    def __call__(
        self, function: Callable[[bytes], bytes], tasks: Sequence[bytes], /
    ) -> Iterator[tuple[int, bytes]]:
        """The number of each task with what the function gave, in any order.

        Args:
            function: of a module, with what all tasks share.
            tasks: what it is given.
        """


def count_elsewhere(
    spread: Spread,
    tables: Tables,
    columns: NDArray[Any],
    n_permutations: int,
    seed: int,
    tell: Callable[[int], None],
) -> None:
    """Have tables 1 … N counted, and take them in.

    Args:
        spread: who counts.
        tables: hold table 0; what it takes tells how many are counted in one task.
        columns: of the observed matrix, one after another, shape (k, n).
        seed: of the shuffles.
        tell: told how many are in.
    """
    size = sum(map(len, tables.packed(0)))
    block = max(1, min(_TASK_TABLES, _TASK_BYTES // size))
    wave = block * max(1, _WAVE_BYTES // (block * size))
    function = partial(count_block, _sent(columns), seed)
    done = 0
    for start in range(1, n_permutations + 1, wave):
        end = min(start + wave, n_permutations + 1)
        blocks = [
            (first, min(first + block, end)) for first in range(start, end, block)
        ]
        for number, data in spread(function, [_numbers(*pairs) for pairs in blocks]):
            with np.load(io.BytesIO(data), allow_pickle=False) as came:
                for index in range(*blocks[number]):
                    tables.take(
                        index, *(came[f"{index}.{part}"].tobytes() for part in range(2))
                    )
            done += blocks[number][1] - blocks[number][0]
            tell(done)


def count_block(sent: bytes, seed: int, block: bytes) -> bytes:
    """Count the pairs of some shuffled matrices.

    Args:
        sent: the observed matrix, as :func:`_sent` packs it.
        seed: of the shuffles.
        block: number of the first shuffle, and of the first one that is not meant.

    Returns:
        an archive of arrays: the two parts of each table, by its number.
    """
    columns = _received(sent)
    matrix = np.asarray(columns.T, dtype=np.float64)
    tables: Tables = CosineTables(matrix)
    if columns.dtype == np.uint8:
        tables = BinaryTables(matrix)
    arrays: dict[str, NDArray[np.uint8]] = {}
    for index in range(*_read(block)):
        tables.add(index, permuted_rows(columns, seed, index))
        for part, data in enumerate(tables.packed(index)):
            arrays[f"{index}.{part}"] = np.frombuffer(data, np.uint8)
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type, unused-ignore]
    return file.getvalue()


def silhouettes_elsewhere(
    spread: Spread,
    values: FloatArray,
    tried: Sequence[int],
    n_permutations: int,
    seed: int,
    tell: Callable[[int], None],
) -> list[list[float]]:
    """Mean silhouette of every shuffled matrix at every number of clusters; NaN where
    there is none."""
    tasks = product(range(1, n_permutations + 1), tried)
    kind: DTypeLike = np.float64
    if is_zero_one(values):
        kind = np.uint8
    sent = _sent(np.ascontiguousarray(values.T, dtype=kind))
    function = partial(silhouette_of_shuffled, sent, seed)
    silhouettes = np.full((n_permutations, len(tried)), np.nan)
    answers = spread(function, [_numbers(*task) for task in tasks])
    for done, (task, data) in enumerate(answers, start=1):
        silhouettes[divmod(task, len(tried))] = np.frombuffer(data, "<f8")[0]
        tell(done)
    return [list(map(float, row)) for row in silhouettes]


def silhouette_of_shuffled(sent: bytes, seed: int, task: bytes) -> bytes:
    """Mean silhouette of one shuffled matrix at one number of clusters.

    Args:
        sent: the observed matrix, as :func:`_sent` packs it.
        seed: of shuffles and starts.
        task: number of the shuffle, and of clusters.

    Returns:
        one number of 64 bits.
    """
    shuffle, number = _read(task)
    values = shuffled(_received(sent).T, seed, shuffle)
    return np.array([silhouette_of(values, number, seed)], "<f8").tobytes()


def permuted_rows(rows: NDArray[Any], seed: int, shuffle: int) -> NDArray[Any]:
    """Every row shuffled by itself, as ``Generator.permuted`` does; zeros and ones by
    compiled code, to the bit, in a third of the time."""
    if rows.dtype == np.uint8 and has_compiler():
        from warehouse.stats.core import kernels

        mixed, drawn = (
            rows.copy(),
            generator(seed, shuffle).bit_generator.random_raw(rows.size),
        )
        if kernels.shuffle_rows(drawn.view(np.uint32), mixed):
            return mixed
    return generator(seed, shuffle).permuted(rows, axis=1)


def shuffled(values: NDArray[Any], seed: int, shuffle: int) -> FloatArray:
    """The matrix with every column shuffled by itself, for a search of clusters."""
    ordered = np.ascontiguousarray(values, dtype=np.float64)
    return generator(seed, 1, shuffle).permuted(ordered, axis=0)


def _sent(columns: NDArray[Any]) -> bytes:
    """Columns of a matrix, shape (k, n): a bit for each score where all are 0 or 1."""
    file = io.BytesIO()
    if columns.dtype == np.uint8:
        np.savez(file, bits=np.packbits(columns, axis=1), n=columns.shape[1])
    else:
        np.savez(file, values=columns)
    return file.getvalue()


def _received(sent: bytes) -> NDArray[Any]:
    with np.load(io.BytesIO(sent), allow_pickle=False) as file:
        if "values" in file:
            return np.asarray(file["values"])
        return np.unpackbits(file["bits"], axis=1, count=int(file["n"]))


def _numbers(*numbers: int) -> bytes:
    return b" ".join(b"%d" % number for number in numbers)


def _read(text: bytes) -> list[int]:
    return [int(number) for number in text.split()]
