"""Which nodes of a graph hang together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: Edges from which on scipy, which takes a quarter of a second of processor time to load, is quicker.
_MANY = 100_000


def components(ends: NDArray[np.intp], others: NDArray[np.intp], n_nodes: int) -> NDArray[np.intp]:
    """The component of each node, counted in the order of their first nodes, shape (n_nodes,).

    Args:
        ends: one end of each edge, shape (m,).
        others: its other end, shape (m,).
        n_nodes: nodes, those without an edge too.
    """
    if len(ends) > _MANY:
        return _by_scipy(ends, others, n_nodes)
    first = np.arange(n_nodes)  # of its component, as far as is known
    while True:
        reached = first.copy()
        least = np.minimum(first[ends], first[others])
        np.minimum.at(reached, first[ends], least)
        np.minimum.at(reached, first[others], least)
        while not np.array_equal(further := reached[reached], reached):
            reached = further
        if np.array_equal(reached, first):
            return distinct(first)[1]
        first = reached


def _by_scipy(ends: NDArray[np.intp], others: NDArray[np.intp], n_nodes: int) -> NDArray[np.intp]:
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    edges = csr_matrix((np.ones(len(ends)), (ends, others)), (n_nodes, n_nodes))
    labels: NDArray[np.intp] = connected_components(edges, directed=False)[1].astype(np.intp)
    return labels


def distinct(values: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """`np.unique` of whole numbers, with its places: by a table where they lie close together, as ids do."""
    low = int(values.min(initial=0))
    width = int(values.max(initial=0)) - low + 1
    if width > 8 * len(values):
        return np.unique(values, return_inverse=True)
    is_there = np.zeros(width, bool)
    is_there[values - low] = True
    return np.flatnonzero(is_there) + low, (np.cumsum(is_there) - 1)[values - low]
