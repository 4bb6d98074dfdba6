"""Cosine neighbours of vectors: the nearest, and all pairs above a threshold
(statistics.md §9).

Pairs are looked for in blocks: products of 32-bit blocks (of shorter vectors, where
those tell) say which pairs come into question, and only those are computed again in 64
bits. What is found does not depend on the size of a block.

Unit vectors x, y are turned so that their variance lies in the first coordinates, and
cut into head and tail: x·y = x₁·y₁ + x₂·y₂ ≤ x₁·y₁ + |x₂||y₂| (Cauchy and Schwarz).
With the length of the tail as one more coordinate the right side is an inner product of
k+1 numbers: pairs that stay below a threshold there are below it in full, and only the
rest has to be looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import FloatArray, check_length

Vectors = NDArray[np.float32]

#: Rows of a block; its similarities take 16 MiB.
BLOCK = 2048
#: Room for the rounding of a 32-bit product of unit vectors.
_ROUNDING = 1e-4
#: Pairs whose vectors are gathered at a time.
_GATHERED = 8192
#: Pairs after which groups are joined.
_JOINED = 1_000_000


@dataclass(frozen=True)
class Neighbours:
    """The vectors nearest to one."""

    #: rows, most similar first; of equally similar ones the lower first.
    indices: Codes
    similarities: FloatArray  #: cosine similarity of each, in [-1, 1].


@dataclass(frozen=True)
class NearPairs:
    """Pairs of vectors at least as similar as a threshold."""

    first: Codes  #: lower row of each pair, most similar pairs first, shape (kept,).
    second: Codes  #: higher row.
    similarity: FloatArray  #: cosine similarity, in [threshold, 1].
    n_pairs: int  #: all pairs found, also those that were not kept.
    #: pairs by the places of their rows, symmetric, shape (places, places); a pair
    #: within a place counts once.
    by_place: NDArray[np.int64]
    groups: Codes  #: connected component of each row over all pairs, shape (n,).


def as_vectors(vectors: ArrayLike, name: str = "vectors") -> Vectors:
    """``vectors`` as 32-bit rows: two-dimensional, finite, none of length 0.

    Raises:
        StatisticsError: naming the argument, what was found and its first row.
    """
    rows = np.asarray(vectors, dtype=np.float32)
    if rows.ndim != 2:
        raise StatisticsError(f"`{name}` must have two dimensions, found {rows.ndim}")
    if not len(rows):
        return rows
    for problem, wrong in (
        ("a value that is not finite", ~np.isfinite(rows).all(axis=1)),
        ("only zeros, which have no direction", ~rows.any(axis=1)),
    ):
        if wrong.any():
            raise StatisticsError(
                f"`{name}`: {int(wrong.sum())} rows hold {problem} (first: row "
                f"{int(np.argmax(wrong))})"
            )
    return rows


def unit_rows(vectors: Vectors) -> Vectors:
    """Rows at unit length, 32 bits."""
    return (vectors / lengths(vectors)[:, None].astype(np.float32)).astype(
        np.float32, copy=False
    )


def lengths(vectors: Vectors) -> FloatArray:
    """Euclidean length of each row, shape (n,)."""
    squares: FloatArray = np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64)
    norms: FloatArray = np.sqrt(squares)
    return norms


def nearest(query: ArrayLike, vectors: ArrayLike, top: int) -> Neighbours:
    """The rows of ``vectors`` most similar to ``query`` by cosine.

    Args:
        query: shape (d,), not zero.
        vectors: shape (n, d), no row zero.
        top: how many at most, at least 1.

    Raises:
        StatisticsError: shapes that differ, values that are not finite, zero vectors.
    """
    rows = as_vectors(vectors)
    query_vectors = as_vectors(np.asarray(query, dtype=np.float32)[None, :], "query")
    check_dimension(query_vectors.shape[1], rows.shape[1])
    if top < 1:
        raise StatisticsError(f"`top` must be at least 1, found {top}")
    parts = [np.empty(0)]
    for start in range(0, len(rows), BLOCK):
        parts.append(_cosines(rows[start : start + BLOCK], query_vectors))
    similarities = np.concatenate(parts)
    order = np.lexsort((np.arange(len(rows)), -similarities))[:top]
    return Neighbours(order, similarities[order])


def near_pairs(
    vectors: ArrayLike,
    threshold: float,
    *,
    places: ArrayLike | None = None,
    keep: int = 100_000,
    block: int = BLOCK,
    progress: Callable[[float], None] | None = None,
) -> NearPairs:
    """All pairs of rows with a cosine similarity of at least ``threshold``.

    O(n²d) time at the speed of a 32-bit matrix product, O(nd + block² + keep) memory.

    Args:
        vectors: shape (n, d), no row zero.
        threshold: in (-1, 1].
        places: number of the place (benchmark, say) of each row, from 0, shape (n,).
        keep: pairs that come back at most, the most similar ones; all are counted.
        block: rows of a block; changes nothing but speed and memory.
        progress: called with the share that is done, in (0, 1].

    Raises:
        StatisticsError: arguments out of range, vectors that are not finite or zero.

    Examples:
        >>> pairs = near_pairs([[1, 0], [2, 0.1], [0, 1]], 0.9)
        >>> pairs.first.tolist(), pairs.second.tolist(), pairs.groups.tolist()
        ([0], [1], [0, 0, 1])
    """
    rows = as_vectors(vectors)
    _check_threshold(threshold)
    codes = np.zeros(len(rows), np.intp)
    if places is not None:
        codes = np.asarray(places, np.intp)
    check_length(len(codes), len(rows), "places")
    collected = _Collected(codes, keep)
    for first, second, similarity, done in _blocks(rows, threshold, block):
        collected.add(first, second, similarity)
        if progress:
            progress(done)
    return collected.result()


def cosine_of_pairs(vectors: Vectors, first: Codes, second: Codes) -> FloatArray:
    """Cosine similarity of pairs of rows in 64 bits, in [-1, 1], shape (pairs,)."""
    norms = lengths(vectors)
    parts: list[FloatArray] = [np.empty(0)]
    for start in range(0, len(first), _GATHERED):
        a = first[start : start + _GATHERED]
        b = second[start : start + _GATHERED]
        products = np.einsum("ij,ij->i", vectors[a], vectors[b], dtype=np.float64)
        parts.append(products / (norms[a] * norms[b]))
    cosines = np.concatenate(parts)
    return np.clip(cosines, -1.0, 1.0)


def check_dimension(dimension: int, expected: int) -> None:
    """Refuse vectors of another dimension."""
    if dimension != expected:
        raise StatisticsError(
            f"the query has {dimension} dimensions, the vectors {expected}"
        )


def _check_threshold(threshold: float) -> None:
    if not -1 < threshold <= 1:
        raise StatisticsError(
            f"`threshold` must lie in (-1, 1], such as 0.95; found {threshold}"
        )


def _cosines(rows: Vectors, queries: Vectors) -> FloatArray:
    products = rows.astype(np.float64) @ queries[0].astype(np.float64)
    cosines = products / (lengths(rows) * lengths(queries)[0])
    return np.asarray(np.clip(cosines, -1.0, 1.0))


def _blocks(
    rows: Vectors, threshold: float, block: int
) -> Iterator[tuple[Codes, Codes, FloatArray, float]]:
    """Pairs above the threshold, block by block of the upper triangle, and the share
    done."""
    unit = shorten(unit_rows(rows), threshold)
    starts = range(0, len(rows), block)
    buffer = np.empty((block, block), np.float32)
    total = len(starts) * (len(starts) + 1) // 2
    done = 0
    for top in starts:
        left = unit[top : top + block]
        for start in range(top, len(rows), block):
            right = unit[start : start + block]
            space = buffer[: len(left), : len(right)]
            products = np.matmul(left, right.T, out=space)
            done += 1
            yield *_above(rows, products, threshold, top, start), done / total


def _above(
    rows: Vectors, products: Vectors, threshold: float, top: int, start: int
) -> tuple[Codes, Codes, FloatArray]:
    """Pairs of one block that are above the threshold in 64 bits."""
    if products.max() < threshold - _ROUNDING:
        return _no_pairs()
    near = np.flatnonzero(products >= threshold - _ROUNDING)
    first, second = np.divmod(near, products.shape[1])
    if top == start:
        upper = first < second
        first, second = first[upper], second[upper]
    first, second = first + top, second + start
    similarity = cosine_of_block(rows, first, second)
    above = similarity >= threshold - 1e-12  # equal up to the rounding of 64 bits
    return first[above], second[above], similarity[above]


def _no_pairs() -> tuple[Codes, Codes, FloatArray]:
    """First, second and similarity of no pair."""
    return np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)


def cosine_of_block(rows: Vectors, first: Codes, second: Codes) -> FloatArray:
    """`cosine_of_pairs` of rows that lie in one range: lengths of that range only."""
    if not len(first):
        return np.empty(0)
    low = int(min(first.min(), second.min()))
    high = int(max(first.max(), second.max())) + 1
    if high - low <= 2 * len(first):
        return cosine_of_pairs(rows[low:high], first - low, second - low)
    used, codes = np.unique(np.concatenate([first, second]), return_inverse=True)
    return cosine_of_pairs(rows[used], codes[: len(first)], codes[len(first) :])


class _Collected:
    """Pairs as they are found: counted, joined into groups, the most similar ones kept."""

    def __init__(self, labels: Codes, keep: int) -> None:
        self.labels, self.keep = labels, keep
        self.n_labels = int(labels.max(initial=0)) + 1
        self.counts = np.zeros(self.n_labels**2, np.int64)
        self.groups: Codes = np.arange(len(labels), dtype=np.intp)
        self.kept: list[tuple[Codes, Codes, FloatArray]] = []
        self.open: list[tuple[Codes, Codes]] = []
        self.n_kept = self.n_open = self.n_pairs = 0

    def add(self, first: Codes, second: Codes, similarity: FloatArray) -> None:
        if not len(first):
            return
        self.n_pairs += len(first)
        low = np.minimum(self.labels[first], self.labels[second])
        high = np.maximum(self.labels[first], self.labels[second])
        self.counts += np.bincount(
            low * self.n_labels + high, minlength=self.n_labels**2
        )
        self.open.append((first, second))
        self.n_open += len(first)
        if self.n_open >= _JOINED:
            self._join()
        self.kept.append((first, second, similarity))
        self.n_kept += len(first)
        if self.n_kept >= 2 * self.keep + _JOINED:
            self._thin()

    def result(self) -> NearPairs:
        self._join()
        self._thin()
        first, second, similarity = self.kept[0]
        upper = self.counts.reshape(self.n_labels, self.n_labels)
        counts = upper + upper.T - np.diag(np.diag(upper))
        return NearPairs(first, second, similarity, self.n_pairs, counts, self.groups)

    def _join(self) -> None:
        if self.open:
            first, second = (
                np.concatenate(part) for part in zip(*self.open, strict=True)
            )
            self.groups = connect(self.groups, first, second)
        self.open, self.n_open = [], 0

    def _thin(self) -> None:
        parts = zip(*(self.kept or [_no_pairs()]), strict=True)
        first, second, similarity = (np.concatenate(part) for part in parts)
        order = np.lexsort((second, first, -similarity))[: self.keep]
        self.kept = [(first[order], second[order], similarity[order])]
        self.n_kept = len(order)


#: Fewer rows, or shorter ones, are compared in full soon enough.
MANY_ROWS, LONG = 8192, 128
#: Shares of the coordinates that are tried, in this order.
_SHARES = (1 / 8, 1 / 6, 1 / 4, 1 / 3, 1 / 2)
#: Rows that the shares are tried on, and the share of their pairs that may be looked at
#: in vain.
_TRIED, _IN_VAIN = 1000, 1e-4


def shorten(unit: Vectors, threshold: float) -> Vectors:
    """Rows of fewer numbers whose products bound those of ``unit`` from above.

    Args:
        unit: rows of length 1, shape (n, d).
        threshold: pairs below it are of no interest; says how short the rows may be.

    Returns:
        shape (n, k+1) with k below d; ``unit`` itself where nothing would be gained.
    """
    n, d = unit.shape
    if n < MANY_ROWS or d < LONG:
        return unit
    axes = principal_axes(unit)
    some = np.linspace(0, n - 1, _TRIED).astype(np.intp)
    tried = unit[some] @ axes
    upper = np.triu_indices(len(tried), 1)
    below = (tried @ tried.T)[upper] < threshold
    for share in _SHARES:
        k = int(d * share)
        head = cut(tried, k)
        looked_at = (head @ head.T)[upper] >= threshold
        in_vain = np.count_nonzero(below & looked_at)
        if in_vain <= _IN_VAIN * len(below):
            return cut(unit @ axes, k)
    return unit


def principal_axes(unit: Vectors) -> Vectors:
    """Orthonormal columns by falling second moment of the rows, shape (d, d)."""
    moments = (unit.T @ unit).astype(np.float64)
    axes = np.linalg.eigh(moments)[1][:, ::-1]
    return np.ascontiguousarray(axes, dtype=np.float32)


def cut(rows: Vectors, k: int) -> Vectors:
    """The first k numbers of each row and the length of the rest, shape (n, k+1)."""
    rest = rows[:, k:]
    head = np.empty((len(rows), k + 1), np.float32)
    head[:, :k] = rows[:, :k]
    head[:, k] = np.sqrt(np.einsum("ij,ij->i", rest, rest, dtype=np.float64))
    return head


Codes = NDArray[np.intp]


def pairs_within(groups: ArrayLike) -> tuple[Codes, Codes]:
    """All pairs i < j of elements of the same group, without a loop over groups.

    Args:
        groups: group of each element, integers in ascending order, shape (n,).

    Returns:
        first and second element of each pair, shape (pairs,) each; O(pairs) memory.

    Raises:
        StatisticsError: ``groups`` is not ascending.

    Examples:
        >>> first, second = pairs_within([4, 4, 4, 9, 9])
        >>> list(zip(first.tolist(), second.tolist()))
        [(0, 1), (0, 2), (1, 2), (3, 4)]
    """
    labels = np.asarray(groups)
    if np.any(labels[1:] < labels[:-1]):
        raise StatisticsError(
            "`groups` must be in ascending order; sort the elements by group"
        )
    rows = np.arange(len(labels))
    ends = np.searchsorted(labels, labels, side="right")
    partners = ends - rows - 1
    first = np.repeat(rows, partners)
    starts = np.cumsum(partners) - partners
    place = np.arange(len(first)) - np.repeat(starts, partners)
    second = first + 1 + place
    return first.astype(np.intp), second.astype(np.intp)


def connect(labels: Codes, first: ArrayLike, second: ArrayLike) -> Codes:
    """Groups after joining those of each pair of elements (connected components).

    Args:
        labels: group of each element so far, 0 to m−1, shape (n,); ``arange(n)`` to
            begin with.
        first: elements, indices into ``labels``.
        second: the element that each is joined to.

    Returns:
        group of each element, numbered in the order of their first elements, shape
        (n,).

    Examples:
        >>> connect(np.arange(5), [0, 3], [2, 4]).tolist()
        [0, 1, 0, 2, 2]
    """
    # takes longer to load than most of what is done here
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not len(labels):
        return labels
    n = int(labels.max()) + 1
    one = labels[np.asarray(first, dtype=np.intp)]
    other = labels[np.asarray(second, dtype=np.intp)]
    edges = np.ones(len(one), dtype=np.int8)
    graph = coo_array((edges, (one, other)), shape=(n, n))
    joined: Codes = connected_components(graph, directed=False)[1][labels]
    return first_seen(joined)


def first_seen(labels: ArrayLike) -> Codes:
    """Labels as numbers 0 to m−1 in the order in which they first occur, shape (n,)."""
    _, first_rows, codes = np.unique(
        np.asarray(labels), return_index=True, return_inverse=True
    )
    ranks = np.empty(len(first_rows), dtype=np.intp)
    ranks[np.argsort(first_rows)] = np.arange(len(first_rows))
    return ranks[codes]
