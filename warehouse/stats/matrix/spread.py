"""Shuffled matrices whose work is done elsewhere: what goes there, and what comes back.

Every shuffle has a stream of random numbers of its own, by its number. So neither how many work on
them, nor which of them does which block, changes a figure.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.core.inputs import FloatArray, is_zero_one
from warehouse.stats.matrix.inputs import generator
from warehouse.stats.matrix.kmeans import silhouette_of
from warehouse.stats.matrix.similarity import ZeroRows
from warehouse.stats.matrix.tables import BinaryTables, CosineTables, Tables

#: Bytes of tables that one task gives, and all tasks that are asked for at a time.
_TASK_BYTES, _WAVE_BYTES = 4_000_000, 256_000_000
#: Shuffled matrices of one task, at most: the last ones are not to be waited for by all others.
_TASK_TABLES = 16


class Spread(Protocol):
    """Runs a function on each of some tasks, wherever."""

    def __call__(self, function: Callable[[bytes], bytes], tasks: Sequence[bytes], /) -> Iterator[tuple[int, bytes]]:
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
    zero_rows: ZeroRows,
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
    function = partial(count_block, _sent(columns), seed, zero_rows)
    done = 0
    for start in range(1, n_permutations + 1, wave):
        end = min(start + wave, n_permutations + 1)
        blocks = [(first, min(first + block, end)) for first in range(start, end, block)]
        for number, data in spread(function, [_numbers(*one) for one in blocks]):
            with np.load(io.BytesIO(data), allow_pickle=False) as came:
                for index in range(*blocks[number]):
                    tables.take(index, *(came[f"{index}.{part}"].tobytes() for part in range(2)))
            done += blocks[number][1] - blocks[number][0]
            tell(done)


def count_block(sent: bytes, seed: int, zero_rows: ZeroRows, block: bytes) -> bytes:
    """Count the pairs of some shuffled matrices.

    Args:
        sent: the observed matrix, as :func:`_sent` packs it.
        seed: of the shuffles.
        zero_rows: whether two rows without a single one are alike.
        block: number of the first shuffle, and of the first one that is not meant.

    Returns:
        an archive of arrays: the two parts of each table, by its number.
    """
    columns = _received(sent)
    kind = BinaryTables if columns.dtype == np.uint8 else CosineTables
    tables: Tables = kind(np.asarray(columns.T, dtype=np.float64), zero_rows)
    arrays: dict[str, NDArray[np.uint8]] = {}
    for index in range(*_read(block)):
        tables.add(index, generator(seed, index).permuted(columns, axis=1))
        arrays |= {f"{index}.{part}": np.frombuffer(data, np.uint8) for part, data in enumerate(tables.packed(index))}
    file = io.BytesIO()
    np.savez(file, **arrays)  # type: ignore[arg-type, unused-ignore]
    return file.getvalue()


def silhouettes_elsewhere(
    spread: Spread,
    values: FloatArray,
    tried: Sequence[int],
    n_permutations: int,
    seed: int,
    n_starts: int,
    tell: Callable[[int], None],
) -> list[list[float]]:
    """Mean silhouette of every shuffled matrix at every number of clusters; NaN where there is none."""
    tasks = [(place, number) for place in range(1, n_permutations + 1) for number in tried]
    kind = np.uint8 if is_zero_one(values) else np.float64
    function = partial(silhouette_of_shuffled, _sent(np.ascontiguousarray(values.T, dtype=kind)), seed, n_starts)
    silhouettes = np.full((n_permutations, len(tried)), np.nan)
    answers = spread(function, [_numbers(*task) for task in tasks])
    for done, (task, data) in enumerate(answers, start=1):
        silhouettes[divmod(task, len(tried))] = np.frombuffer(data, "<f8")[0]
        tell(done)
    return [list(map(float, row)) for row in silhouettes]


def silhouette_of_shuffled(sent: bytes, seed: int, n_starts: int, task: bytes) -> bytes:
    """Mean silhouette of one shuffled matrix at one number of clusters.

    Args:
        sent: the observed matrix, as :func:`_sent` packs it.
        seed: of shuffles and starts.
        n_starts: k-means++ starts.
        task: number of the shuffle, and of clusters.

    Returns:
        one number of 64 bits.
    """
    place, number = _read(task)
    return np.array([silhouette_of(shuffled(_received(sent).T, seed, place), number, seed, n_starts)], "<f8").tobytes()


def shuffled(values: NDArray[Any], seed: int, place: int) -> FloatArray:
    """The matrix with every column shuffled by itself, for a search of clusters."""
    ordered = np.ascontiguousarray(values, dtype=np.float64)
    return generator(seed, 1, place).permuted(ordered, axis=0)


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
