"""Similarity of prompts by their performance vectors: cosine, Jaccard, Hamming (Siska
§3.1), and their distributions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core import special
from warehouse.stats.core.inputs import TIE, FloatArray, is_zero_one
from warehouse.stats.core.machine import has_compiler

#: Told how many steps of how many are done.
Progress = Callable[[int, int], None]
#: Pairs whose similarities are held in memory at a time.
BLOCK_PAIRS = 4_000_000


def as_matrix(matrix: ArrayLike) -> FloatArray:
    """``matrix`` as floats: at least 2 prompts (rows) and 2 models (columns), all
    finite.

    Raises:
        StatisticsError: for another shape, or missing cells (a row that is not complete
            does not enter; nothing is filled in).
    """
    try:
        values = np.ascontiguousarray(matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatisticsError(f"`matrix` must hold numbers: {error}") from None
    if values.ndim != 2:
        raise StatisticsError("`matrix` must have 2 dimensions, prompts × models")
    n, k = values.shape
    if n < 2 or k < 2:
        raise StatisticsError(
            f"`matrix` has {n} prompt(s) and {k} model(s); similarities between "
            "prompts need at least 2 of each"
        )
    incomplete = int((~np.isfinite(values)).any(axis=1).sum())
    if incomplete:
        raise StatisticsError(
            f"`matrix` has {incomplete} row(s) with missing or infinite cells; leave "
            "incomplete rows out, none is filled in"
        )
    return values


def as_count(value: int, name: str, least: int = 1) -> int:
    """A whole number that is large enough."""
    if value < least:
        raise StatisticsError(f"`{name}` must be at least {least}, found {value}")
    return value


def generator(seed: int, *index: int) -> np.random.Generator:
    """A stream of random numbers for one place: the same in whatever order places are
    visited."""
    return np.random.Generator(
        np.random.PCG64(np.random.SeedSequence(seed, spawn_key=index))
    )


def unit_rows(matrix: FloatArray) -> FloatArray:
    """Rows at Euclidean length 1.

    Returns:
        shape (n, k), or (n, k + 1) where there are zero rows: these have a further
        coordinate of 1, so that they are like each other (cosine 1) and unlike all
        others (0).
    """
    empty = ~matrix.any(axis=1)
    # squares of tiny scores would be 0
    largest = np.where(empty, 1.0, np.abs(matrix).max(axis=1))
    scaled = matrix / largest[:, None]
    lengths = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
    lengths = np.where(empty, 1.0, lengths)
    unit = scaled / lengths[:, None]
    if empty.any():
        return np.column_stack([unit, empty.astype(np.float64)])
    return unit


def pair_blocks(unit: FloatArray) -> Iterator[FloatArray]:
    """Cosines of all pairs i < j in blocks, each one-dimensional; in [-1, 1]."""
    n = len(unit)
    step = max(1, min(n, BLOCK_PAIRS // n))
    for start in range(0, n - 1, step):
        rows = unit[start : start + step]
        products = np.clip(rows @ unit[start:].T, -1.0, 1.0)
        first, second = np.triu_indices(len(rows), 1)
        among_them = products[first, second]
        with_later = products[:, len(rows) :].ravel()
        yield np.concatenate([among_them, with_later])


Similarity = Literal["cosine", "jaccard", "hamming"]

SIMILARITIES: tuple[Similarity, ...] = ("hamming", "cosine", "jaccard")


@dataclass(frozen=True)
class SimilaritySummary:
    """Similarities of all pairs of prompts."""

    similarity: str  #: which.
    n_pairs: int  #: pairs i < j.
    mean: float  #: over pairs.
    percentile_75: float  #: numpy's ``linear`` percentile.
    percentile_95: float  #: the same.

    def __str__(self) -> str:
        return (
            f"{self.similarity}: mean {self.mean:.4g}, 75 % {self.percentile_75:.4g},"
            f" 95 % {self.percentile_95:.4g} ({self.n_pairs} pairs)"
        )


def check_similarity(similarity: str, binary: bool) -> None:
    """Refuse an unknown similarity, and those that need zeros and ones where there are
    others.

    Raises:
        StatisticsError: naming what can be used.
    """
    if similarity not in SIMILARITIES:
        raise StatisticsError(
            f"no similarity {similarity!r}; there are: "
            f"{', '.join(sorted(SIMILARITIES))}"
        )
    if similarity != "cosine" and not binary:
        raise StatisticsError(
            f"{similarity} similarity needs scores of 0 and 1, and there are others; "
            "use cosine"
        )


def mean_cosine(unit: FloatArray) -> float:
    """Mean cosine over pairs i < j of rows at unit length: (‖Σ q̃_i‖² − n)/(n(n−1)),
    without looking at pairs."""
    n = len(unit)
    total = unit.sum(axis=0)
    own = float(np.einsum("ij,ij->", unit, unit))  # n, but for rounding
    return (float(total @ total) - own) / (n * (n - 1))


def summarise_similarity(
    matrix: ArrayLike, similarity: Similarity = "cosine"
) -> SimilaritySummary:
    """Mean, 75th and 95th percentile of a similarity over all pairs of prompts,
    exactly.

    Args:
        matrix: prompts × models, finite, shape (n, k); 0/1 for Jaccard and Hamming.

    Raises:
        StatisticsError: fewer than two prompts or models, missing cells, or scores that
            the similarity is not defined for.
    """
    values = as_matrix(matrix)
    binary = is_zero_one(values)
    check_similarity(similarity, binary)
    n, k = values.shape
    n_pairs = n * (n - 1) // 2
    if binary:
        codes, counts = count_pairs(np.ascontiguousarray(values.T, dtype=np.uint8))
        similarities = cell_values(similarity, codes, k)
        order = np.argsort(similarities)
        similarities, counts = similarities[order], counts[order]
        mean = float(similarities @ counts) / n_pairs
    else:
        unit = unit_rows(values)
        similarities = np.sort(np.concatenate(list(pair_blocks(unit))))
        mean = mean_cosine(unit)
        counts = np.ones(len(similarities), np.int64)
    return SimilaritySummary(
        similarity,
        n_pairs,
        mean,
        linear_quantile(similarities, counts, 0.75),
        linear_quantile(similarities, counts, 0.95),
    )


def cell_values(similarity: str, codes: NDArray[np.int64], k: int) -> FloatArray:
    """Similarity of two rows by their weights a, b and common ones c.

    Equal similarities are equal numbers: each comes from one division of whole numbers,
    which is rounded once.

    Args:
        codes: (a(k+1) + b)(k+1) + c, as of `count_pairs`, shape (m,).
        k: models.
    """
    pairs, common = np.divmod(codes, k + 1)
    a, b = np.divmod(pairs, k + 1)
    if similarity == "hamming":
        n_differing = a + b - 2 * common
        return np.asarray((k - n_differing) / k)
    if similarity == "jaccard":
        part, whole = common, a + b - common
    else:
        part, whole = common**2, a * b
    values = part / np.where(whole == 0, 1, whole)
    if similarity == "cosine":
        values = np.sqrt(values)
    # two rows without a single one are alike
    return np.where((a == 0) & (b == 0), 1.0, values)


WORD = 64
#: Counts that are held in memory at a time.
_CELLS = 4_000_000


def pack_columns(columns: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Columns of zeros and ones, shape (k, n), as words of 64 bits, shape (⌈k/64⌉, n)."""
    k, n = columns.shape
    packed = np.packbits(columns, axis=0, bitorder="little")
    size = -(-k // WORD)
    padded = np.zeros((size * 8, n), np.uint8)
    padded[: len(packed)] = packed
    by_row = np.ascontiguousarray(padded.T).view("<u8")
    return np.ascontiguousarray(by_row.T).astype(np.uint64, copy=False)


def count_pairs(
    columns: NDArray[np.uint8],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs of rows by weight, weight and number of common ones.

    Args:
        columns: zeros and ones, the columns of the matrix one after another, shape (k,
            n).

    Returns:
        the triples that occur as one number (a(k+1) + b)(k+1) + c with a <= b,
        ascending, and the number of pairs i < j of each; together n(n−1)/2.
    """
    k = len(columns)
    weights = columns.sum(axis=0, dtype=np.int64)
    order = np.argsort(weights, kind="stable")
    values, starts = np.unique(weights[order], return_index=True)
    tally = _tally(columns, order)
    bounds = np.append(starts, columns.shape[1]).astype(np.int64)
    shape = (len(values), int(values[-1]) + 1)
    rows = max(1, min(len(values), _CELLS // (shape[0] * shape[1])))
    codes, pairs = [], []
    for first in range(0, len(values), rows):
        counts = np.zeros((min(rows, len(values) - first), *shape), np.int64)
        tally(bounds, first, counts)
        row, other, common = np.nonzero(counts)
        both_weights = values[first + row] * (k + 1) + values[other]
        codes.append(both_weights * (k + 1) + common)
        pairs.append(counts[row, other, common])
    return np.concatenate(codes), np.concatenate(pairs)


def _tally(
    columns: NDArray[np.uint8], order: NDArray[np.intp]
) -> Callable[[Any, int, Any], None]:
    """Counts the pairs of rows in their order: by compiled code, or by matrix products
    where there is no compiler."""
    if has_compiler():
        from warehouse.stats.core import kernels

        return partial(
            kernels.tally_pairs, np.ascontiguousarray(pack_columns(columns)[:, order])
        )
    return partial(tally_pairs, np.ascontiguousarray(columns.T[order]))


#: Rows on either side of one product.
_OWN, _OTHERS = 512, 2048


def tally_pairs(
    rows: NDArray[np.uint8],
    starts: NDArray[np.int64],
    first: int,
    counts: NDArray[np.int64],
) -> None:
    """Add the pairs i < j of rows to ``counts``, as
    `warehouse.stats.core.kernels.tally_pairs` does.

    Args:
        rows: zeros and ones by ascending weight, shape (n, k); shape (n, k).
        starts: where each weight begins, and n, shape (G + 1,).
        first: the first weight to count, by its place.
        counts: shape (weights to count, G, most common ones + 1), C-contiguous.
    """
    weights = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    flat = counts.reshape(-1)
    _, n_groups, size = counts.shape
    kind: Any = np.float64
    if flat.size < 1 << 24:  # float32 holds every whole number up to there
        kind = np.float32
    end = int(starts[first + len(counts)])
    for top in range(int(starts[first]), end, _OWN):
        own = slice(top, min(top + _OWN, end))
        left_rows = rows[own].astype(kind)
        for left in range(top, len(rows), _OTHERS):
            others = slice(left, left + _OTHERS)
            codes: NDArray[Any] = left_rows @ rows[others].astype(kind).T
            codes += ((weights[own, None] - first) * (n_groups * size)).astype(kind)
            codes += (weights[others] * size).astype(kind)
            cells = codes.astype(np.intp)
            if left < own.stop:
                first_rows = np.arange(own.start, own.stop)
                second_rows = np.arange(left, left + cells.shape[1])
                cells = cells[first_rows[:, None] < second_rows]
            flat += np.bincount(cells.ravel(), minlength=len(flat))


@dataclass(frozen=True)
class KolmogorovSmirnov:
    """Distance of the observed distribution from the mean of all tables."""

    statistic: float  #: D = sup |F_observed − F̄|, F̄ the mean over all N + 1 tables.
    permuted: FloatArray  #: the same distance of each permuted table, shape (N,).
    #: (1 + #{D_b ≥ D}) / (N + 1); exact, since the tables are exchangeable.
    p_value: float
    #: of the two-sample test with all pairs taken as independent (as Siska et al.
    #: report it). They are not: it is far too small.
    textbook_p_value: float


def linear_quantile(
    values: FloatArray, counts: NDArray[np.int64], share: float
) -> float:
    """The quantile of numpy's ``linear`` method of values with multiplicities.

    Args:
        values: ascending, shape (r,).
        counts: how often each occurs, shape (r,), not all 0.
        share: in [0, 1].
    """
    cumulated = np.cumsum(counts)
    position = share * (int(cumulated[-1]) - 1)
    whole = math.floor(position)
    low, high = values[
        np.searchsorted(cumulated, [whole, math.ceil(position)], side="right")
    ]
    return float(low + (high - low) * (position - whole))


def upper_p_value(observed: float, permuted: FloatArray) -> float:
    """(1 + #{permuted ≥ observed}) / (1 + N), ties (within 1e-9 of the scale) counted
    as ≥."""
    tolerance = TIE * max(1.0, abs(observed))
    n_reached = int((permuted >= observed - tolerance).sum())
    return (1 + n_reached) / (1 + len(permuted))


def kolmogorov_smirnov(
    table: Callable[[int], NDArray[np.int64]], n_tables: int
) -> KolmogorovSmirnov:
    """Compare table 0 with tables 1 … N that are exchangeable with it if nothing is
    going on.

    Args:
        table: number of a table to its counts on the common values, shape (r,); asked
            for twice.
        n_tables: N + 1, at least 2.
    """
    total = sum((table(index) for index in range(1, n_tables)), start=table(0))
    mean = distribution(total)
    distances = np.array([distance(table(index), mean) for index in range(n_tables)])
    return from_distances(table(0), total, distances)


def distribution(counts: NDArray[np.int64]) -> FloatArray:
    """Share of the counts up to each value, shape (r,)."""
    cumulated = np.cumsum(counts)
    return np.asarray(cumulated / cumulated[-1])


def distance(counts: NDArray[np.int64], mean: FloatArray) -> float:
    """Largest distance of a table's distribution from another one."""
    return float(np.abs(distribution(counts) - mean).max())


def from_distances(
    observed: NDArray[np.int64], total: NDArray[np.int64], distances: FloatArray
) -> KolmogorovSmirnov:
    """What follows from the distances of all tables from their mean.

    Args:
        observed: counts of table 0, shape (r,).
        total: sum of the counts of all tables, shape (r,).
        distances: of tables 0 … N, shape (N + 1,).
    """
    pairs, n_tables = int(observed.sum()), len(distances)
    of_others = distribution(total - observed)
    apart = float(np.abs(distribution(observed) - of_others).max())
    size = pairs * (n_tables - 1) / n_tables  # m1·m2/(m1 + m2) with m2 = N·m1
    return KolmogorovSmirnov(
        statistic=float(distances[0]),
        permuted=distances[1:],
        p_value=upper_p_value(float(distances[0]), distances[1:]),
        textbook_p_value=float(special.kolmogorov(math.sqrt(size) * apart)),
    )
