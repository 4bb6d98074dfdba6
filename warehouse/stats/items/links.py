"""Whether incomplete answers put all models on one scale: the graph of models and the
items they answered.

Definitions: statistics.md §13. Abilities compare only within a connected piece. A piece
that hangs on a single item or model (an articulation point of the graph) is compared
through that one alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from scipy.sparse import csgraph

from warehouse.errors import StatisticsError
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.items.responses import Responses

IntArray = NDArray[np.intp]
_ENOUGH_ITEMS = 256  # the most answered ones; where they link all models twice over, the rest cannot undo it
_SHARED = 0.5


@dataclass(frozen=True)
class Links(NamedFigures):
    """The pieces of the graph models–items (edges: cells that are not missing)."""

    #: names of the models of each connected piece, the largest first.
    components: tuple[tuple[str, ...], ...]
    #: items without which models fall apart that are one piece with them.
    bridge_items: tuple[str, ...]
    bridge_models: tuple[str, ...]  #: models without which the other models fall apart.

    @property
    def is_connected(self) -> bool:
        """All models are on one scale."""
        return len(self.components) == 1

    def __str__(self) -> str:
        if len(self.components) == 1:
            several = "1 component"
        else:
            several = f"{len(self.components)} components"
        return f"{several}: {'; '.join(_short(names) for names in self.components[:5])}"


def links(responses: Responses) -> Links:
    """Connected pieces and bridges of the answers.

    Examples:
        >>> from warehouse.stats.items.responses import as_responses
        >>> nan = float("nan")
        >>> print(links(as_responses([[1, nan], [0, nan], [nan, 1]], models=["a", "b", "c"])))
        2 components: a, b; c
    """
    answered = responses.answered()
    m = responses.n_models
    labels = _components(answered)
    pieces = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    pieces.sort(key=lambda rows: (-len(rows), rows[0]))
    bridges = _bridges(answered)
    components: list[tuple[str, ...]] = []
    for rows in pieces:
        components.append(tuple(responses.models[i] for i in rows))
    items = tuple(responses.items[i - m] for i in bridges if i >= m)
    models = tuple(responses.models[i] for i in bridges if i < m)
    return Links(tuple(components), items, models)


def check_connected(responses: Responses) -> Links:
    """The links, or a refusal that names the pieces (StatisticsError: models fall into
    pieces that share no item)."""
    pieces = links(responses)
    if not pieces.is_connected:
        raise StatisticsError(
            f"the models share no scale: they fall into {pieces}; between them no item "
            "was answered by both sides. Fit each by itself, or evaluate one model on "
            "items of each"
        )
    return pieces


def blocks_by_items(responses: Responses) -> IntArray:
    """Blocks of models that answered largely the same items, numbered 0 to G − 1, shape
    (M,).

    Two models belong together if they share half of the items of the one with fewer;
    blocks are the connected pieces of that.
    """
    if responses.trials is None:
        return np.zeros(responses.n_models, dtype=np.intp)
    answered = responses.answered().astype(np.float32)
    shared = answered @ answered.T
    fewer = np.minimum.outer(shared.diagonal(), shared.diagonal())
    together = sparse.csr_array(shared >= _SHARED * fewer)
    return np.asarray(
        csgraph.connected_components(together, directed=False)[1], dtype=np.intp
    )


def linking_items(responses: Responses, blocks: IntArray) -> IntArray:
    """For each block the items that models of it and of another block answered, shape
    (G,)."""
    answered = responses.answered()
    n_blocks = int(blocks.max()) + 1
    seen = np.zeros((n_blocks, answered.shape[1]), dtype=bool)
    for block in range(n_blocks):
        seen[block] = answered[blocks == block].any(axis=0)
    in_several = seen.sum(axis=0) > 1
    return np.asarray((seen & in_several).sum(axis=1), dtype=np.intp)


def as_blocks(blocks: ArrayLike | None, n_models: int) -> IntArray:
    """Labels of blocks as numbers 0 to G − 1 (StatisticsError: not one label per
    model)."""
    if blocks is None:
        return np.zeros(n_models, dtype=np.intp)
    labels = np.asarray(blocks)
    if labels.shape != (n_models,):
        raise StatisticsError(
            f"`blocks` must hold one label per model ({n_models}), found shape "
            f"{labels.shape}"
        )
    return np.unique(labels, return_inverse=True)[1].astype(np.intp)


def _graph(answered: NDArray[np.bool_]) -> sparse.csr_array:
    """Models 0 to M − 1, items M to M + J − 1; both directions of every edge."""
    m, n = answered.shape
    models, items = np.nonzero(answered)
    return _both_directions(
        models.astype(np.int32), (items + m).astype(np.int32), m + n
    )


def _both_directions(one: IntArray, other: IntArray, size: int) -> sparse.csr_array:
    """A graph of so many nodes with an edge from each one to the other, and back."""
    both = (np.concatenate([one, other]), np.concatenate([other, one]))
    edges = np.ones(2 * len(one), np.int8)
    return sparse.csr_array((edges, both), shape=(size, size))


def _components(answered: NDArray[np.bool_]) -> IntArray:
    """Number of the connected piece of every model."""
    m, n = answered.shape
    if n > _ENOUGH_ITEMS and _one_piece(answered[:, _most_answered(answered)]):
        return np.zeros(m, dtype=np.intp)
    return np.asarray(
        csgraph.connected_components(_graph(answered), directed=False)[1][:m],
        dtype=np.intp,
    )


def _one_piece(answered: NDArray[np.bool_]) -> bool:
    return int(_components(answered).max()) == 0


def _most_answered(answered: NDArray[np.bool_]) -> IntArray:
    return np.argsort(-answered.sum(axis=0), kind="stable")[:_ENOUGH_ITEMS]


def _bridges(answered: NDArray[np.bool_]) -> list[int]:
    """Articulation points that part models; items that one model alone answered are
    left out first."""
    m = answered.shape[0]
    useful = np.flatnonzero(answered.sum(axis=0) > 1)
    if len(useful) > _ENOUGH_ITEMS:
        most = answered[:, _most_answered(answered)]
        if _one_piece(most) and not _cut(most):
            return []
    bridges = []
    for node in _cut(answered[:, useful]):
        if node >= m:  # an item, by its place among the useful ones
            node = m + int(useful[node - m])
        bridges.append(node)
    return bridges


def _cut(answered: NDArray[np.bool_]) -> list[int]:
    """Articulation points, in a certificate of at most two forests (Cheriyan, Kao and
    Thurimella 1993)."""
    graph = _graph(answered)
    first = _forest(graph)
    rest = sparse.csr_array(graph - first)
    rest.eliminate_zeros()
    return _articulation(sparse.csr_array(first + _forest(rest)))


def _forest(graph: sparse.csr_array) -> sparse.csr_array:
    """A breadth-first forest, both directions of every edge."""
    size = graph.shape[0]
    count, labels = csgraph.connected_components(graph, directed=False)
    _, roots = np.unique(labels, return_index=True)
    children, parents = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for root in roots[np.bincount(labels, minlength=count) > 1]:
        order, before = csgraph.breadth_first_order(graph, root, directed=False)
        children.append(order[1:])
        parents.append(before[order[1:]])
    return _both_directions(np.concatenate(children), np.concatenate(parents), size)


def _articulation(graph: sparse.csr_array) -> list[int]:
    """Articulation points by depth-first search (Hopcroft and Tarjan 1973)."""
    _, labels = csgraph.connected_components(graph, directed=False)
    _, roots, sizes = np.unique(labels, return_index=True, return_counts=True)
    points: set[int] = set()
    for root in roots[sizes > 2]:
        order, parents = _depth_first(graph, int(root))
        points |= _articulation_below(graph, order, parents)
    return sorted(points)


def _depth_first(graph: sparse.csr_array, root: int) -> tuple[list[int], list[int]]:
    """Nodes in the order of a depth-first search, and the parent of each."""
    rows, ends = graph.indptr.tolist(), graph.indices.tolist()
    order, parents, waiting, seen = [], [], [(root, root)], set()
    while waiting:
        node, parent = waiting.pop()
        if node not in seen:
            seen.add(node)
            order.append(node)
            parents.append(parent)
            neighbours = ends[rows[node] : rows[node + 1]]
            waiting.extend((other, node) for other in neighbours if other not in seen)
    return order, parents


def _articulation_below(
    graph: sparse.csr_array, order: list[int], parents: list[int]
) -> set[int]:
    """Those of one connected piece: a subtree that reaches no node above its parent
    hangs on the parent."""
    number = np.zeros(graph.shape[0], dtype=np.intp)
    number[order] = np.arange(len(order))
    rows, ends = graph.indptr, number[graph.indices]
    highest = [int(ends[rows[node] : rows[node + 1]].min()) for node in order]
    above = number[parents].tolist()
    points, children_of_root = set(), 0
    for node in range(len(order) - 1, 0, -1):
        parent = above[node]
        highest[parent] = min(highest[parent], highest[node])
        if parent == 0:
            children_of_root += 1
        elif highest[node] >= parent:
            points.add(order[parent])
    if children_of_root > 1:
        points.add(order[0])
    return points


def _short(names: tuple[str, ...]) -> str:
    first = ", ".join(names[:3])
    if len(names) > 3:
        return f"{first} and {len(names) - 3} more"
    return first
