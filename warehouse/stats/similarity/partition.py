"""From pairs to groups: pairs of elements within groups, and what pairs connect."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from warehouse.errors import StatisticsError

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
        raise StatisticsError("`groups` must be in ascending order; sort the elements by group")
    places = np.arange(len(labels))
    ends = np.searchsorted(labels, labels, side="right")
    partners = ends - places - 1
    first = np.repeat(places, partners)
    starts = np.cumsum(partners) - partners
    second = first + 1 + np.arange(len(first)) - np.repeat(starts, partners)
    return first.astype(np.intp), second.astype(np.intp)


def connect(labels: Codes, first: ArrayLike, second: ArrayLike) -> Codes:
    """Groups after joining those of each pair of elements (connected components).

    Args:
        labels: group of each element so far, 0 to m−1, shape (n,); ``arange(n)`` to begin with.
        first: elements, indices into ``labels``.
        second: the element that each is joined to.

    Returns:
        group of each element, numbered in the order of their first elements, shape (n,).

    Examples:
        >>> connect(np.arange(5), [0, 3], [2, 4]).tolist()
        [0, 1, 0, 2, 2]
    """
    from scipy.sparse import coo_array  # takes longer to load than most of what is done here
    from scipy.sparse.csgraph import connected_components

    if not len(labels):
        return labels
    n = int(labels.max()) + 1
    ends = labels[np.asarray(first, dtype=np.intp)], labels[np.asarray(second, dtype=np.intp)]
    graph = coo_array((np.ones(len(ends[0]), dtype=np.int8), ends), shape=(n, n))
    joined: Codes = connected_components(graph, directed=False)[1][labels]
    return first_seen(joined)


def first_seen(labels: ArrayLike) -> Codes:
    """Labels as numbers 0 to m−1 in the order in which they first occur, shape (n,)."""
    _, places, codes = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    ranks = np.empty(len(places), dtype=np.intp)
    ranks[np.argsort(places)] = np.arange(len(places))
    return ranks[codes]
