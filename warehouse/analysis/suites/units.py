"""Independent units of a suite: prompts and clusters, joined over its leaves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.clusterings import SAME_TEXT, ClusterMap, cluster_map
from warehouse.analysis.selection.prompt_links import follow_links, read_links
from warehouse.analysis.selection.prompts import SharedPrompts, read_shared_prompts
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class UnitMap:
    """Unit of each prompt: its cluster, else itself; joined over leaves."""

    prompts: NDArray[np.int64]  #: ids, ascending, shape (n,).
    #: unit of each: at least 0 for a cluster, below 0 for a prompt alone, shape (n,).
    numbers: NDArray[np.int64]
    canonical: NDArray[np.int64]  #: the prompt that links lead to, shape (n,).
    shared: SharedPrompts  #: which of these are one question.

    def units(self, prompts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Unit of each of ``prompts``, all of them known here, shape (m,)."""
        return self.numbers[np.searchsorted(self.prompts, prompts)]

    def under_links(self, prompts: NDArray[np.int64]) -> NDArray[np.int64]:
        """The prompts that links lead to from each of ``prompts``, shape (m,)."""
        return self.canonical[np.searchsorted(self.prompts, prompts)]


def unit_map(
    store: Store,
    benchmark_ids: Sequence[int],
    defaults: Sequence[int],
    cluster: str | None,
    prompts: Iterable[NDArray[np.int64]],
) -> UnitMap:
    """Units of the prompts of all leaves of a suite (MisuseError: no clustering of this
    name on any leaf).

    Two leaves share a unit where prompts are linked (`warehouse list links`), where they are
    one question (`SharedPrompts`), and where clusters of one name hold the same
    document (clusterings by a field of the source, such as a dialogue's id).

    Args:
        benchmark_ids: of all leaves.
        defaults: ids of their default clusterings.
        cluster: None for the defaults, ``"none"``, ``"same_text"``, or a name.
        prompts: ids that have to be known, in any number of arrays.
    """
    ids = np.unique(np.concatenate([np.empty(0, np.int64), *prompts]))
    clusters = cluster_map(store, benchmark_ids, defaults, cluster)
    canonical = follow_links(ids, read_links(store))
    labels = _labels(store, benchmark_ids, clusters, cluster, ids)
    numbers = np.where(labels >= 0, labels, -1 - canonical)
    shared = read_shared_prompts(store, [canonical])
    return UnitMap(ids, shared.joined(canonical, numbers), canonical, shared)


def _labels(
    store: Store,
    benchmark_ids: Sequence[int],
    clusters: ClusterMap,
    cluster: str | None,
    prompts: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Cluster of each prompt, below 0 for none; the same document has one number
    everywhere."""
    labels = clusters.labels(prompts)
    if labels is None:
        return np.full(len(prompts), -1, dtype=np.int64)
    stored = store.rows(
        query_text("analysis", "clusters"),
        {"benchmark_ids": benchmark_ids},
        per="benchmark_id",
    )
    if cluster == SAME_TEXT and not any(row["name"] == SAME_TEXT for row in stored):
        return labels
    first: dict[tuple[str, str], int] = {}
    same = {
        row["id"]: first.setdefault((row["name"], row["label"]), row["id"])
        for row in stored
        if row["kind"] == "source"
    }
    names, codes = np.unique(labels, return_inverse=True)
    joined = np.array(
        [same.get(int(name), int(name)) for name in names], dtype=np.int64
    )
    return joined[codes]
