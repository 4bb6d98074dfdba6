"""Performance clusterings in the store, for the error bars of any command."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from warehouse.analysis.matrix.read import MatrixData
from warehouse.analysis.matrix.results import MatrixClusters
from warehouse.store.connection import Store
from warehouse.store.curate.field_clusters import Members, store_clustering


def keep_clustering(
    store: Store,
    data: MatrixData,
    clusters: MatrixClusters,
    name: str,
    asked: Mapping[str, Any],
    made: Mapping[str, Any],
    *,
    default: bool,
    replace: bool = False,
) -> None:
    """Store a clustering with medoids and distances, under each benchmark that prompts are of.

    Args:
        store: open for writing.
        asked: the settings that chose it.
        made: what the data made of them.
        replace: also in place of one that was made with other settings.

    Raises:
        MisuseError: a clustering of another kind, or made with other settings, has this name.
    """
    labels, distances = np.array(clusters.labels), np.array(clusters.distances)
    for benchmark in np.unique(data.benchmark_ids).tolist():
        rows = np.flatnonzero(data.benchmark_ids == benchmark)
        _, own = np.unique(labels[rows], return_inverse=True)
        nearest = np.lexsort([distances[rows], own])
        medoids = nearest[np.unique(own[nearest], return_index=True)[1]]
        members = Members(data.prompts[rows], own.astype(np.intp), distances[rows], medoids)
        store_clustering(
            store,
            benchmark,
            name,
            "performance",
            members,
            parameters={**asked, **made},
            default=default,
            asked=None if replace else tuple(asked),
        )
