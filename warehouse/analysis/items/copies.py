"""Prompts that stand in a benchmark more than once, as the store knows: by text, and by stored semantic clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.matrix.read import MatrixData
from warehouse.analysis.selection.clusterings import SAME_TEXT, cluster_map
from warehouse.store.connection import Store

_SEMANTIC = "select distinct name from clustering where kind = 'semantic' and benchmark_id in (:benchmark_ids)"

Counts = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Copies:
    """For each prompt of a matrix how many others of its rows are like it.

    Attributes:
        same_text: with the same normalised text, shape (n,).
        near: in its semantic cluster, the largest of several clusterings, shape (n,); None where
            none is stored.
    """

    same_text: Counts
    near: Counts | None


def copies_of(store: Store, data: MatrixData) -> Copies:
    """The copies of every prompt of a matrix."""
    ids = np.unique(data.benchmark_ids).tolist()
    near = [_others(store, data, ids, row["name"]) for row in store.rows(_SEMANTIC, {"benchmark_ids": ids})]
    return Copies(_others(store, data, ids, SAME_TEXT), np.max(near, axis=0) if near else None)


def _others(store: Store, data: MatrixData, ids: list[int], clustering: str) -> Counts:
    labels = cluster_map(store, ids, (), clustering).labels(data.prompts)
    if labels is None:
        return np.zeros(len(data.prompts), dtype=np.int64)
    _, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
    return np.asarray(counts[places] - 1, dtype=np.int64)
