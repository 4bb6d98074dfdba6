"""Which clustering gives the error bars, and the cluster of each prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from warehouse.errors import MisuseError
from warehouse.metrics.selecting import one_of, whole_numbers
from warehouse.store.engine import Store

#: Names that need no stored clustering.
NO_CLUSTERS, SAME_TEXT = "none", "same_text"

_MEMBERS = "select prompt_id, cluster_id from prompt_cluster where "
_SAME_TEXT = """
select id as prompt_id, min(id) over (partition by text_hash) as cluster_id
from prompt
where text_hash is not null and
"""


@dataclass(frozen=True)
class ClusterMap:
    """Clusters of prompts.

    Attributes:
        prompts: ids of prompts, ascending, shape (m,).
        clusters: cluster of each, at least 0, shape (m,).
    """

    prompts: NDArray[np.int64]
    clusters: NDArray[np.int64]

    def labels(self, prompts: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Cluster of each of ``prompts``, shape (n,); one of its own (below 0) for a prompt that
        is in none; None where none is in any."""
        if not len(self.prompts):
            return None
        places = np.minimum(np.searchsorted(self.prompts, prompts), len(self.prompts) - 1)
        member = self.prompts[places] == prompts
        if not member.any():
            return None
        return np.where(member, self.clusters[places], -1 - prompts)


def outside_clusters(labels: NDArray[np.int64] | None) -> tuple[str, ...]:
    """The flag ``prompts_outside_clusters`` where clusters leave some prompts out, which then
    count as clusters of one."""
    return ("prompts_outside_clusters",) if labels is not None and (labels < 0).any() else ()


def cluster_map(
    store: Store, benchmark_ids: Sequence[int], defaults: Sequence[int], cluster: str | None
) -> ClusterMap:
    """The clusters that error bars are to use.

    Args:
        benchmark_ids: whose prompts are meant.
        defaults: ids of their default clusterings.
        cluster: None for the defaults, ``"none"``, ``"same_text"`` (prompts with equal text), or
            the name of a stored clustering.

    Raises:
        MisuseError: no clustering of this name; names those there are.
    """
    if cluster == NO_CLUSTERS:
        return _read(store, _MEMBERS, "clustering_id", ())
    if cluster is None:
        return _read(store, _MEMBERS, "clustering_id", defaults)
    condition, parameters = one_of("benchmark_id", benchmark_ids, "b")
    known = store.arrow(f"select id, name from clustering where {condition}", parameters)
    stored = known.to_pylist()
    ids = [row["id"] for row in stored if row["name"] == cluster]
    if ids:
        return _read(store, _MEMBERS, "clustering_id", ids)
    if cluster == SAME_TEXT:
        return _read(store, _SAME_TEXT, "benchmark_id", benchmark_ids)
    names = ", ".join(sorted({row["name"] for row in stored} | {SAME_TEXT, NO_CLUSTERS}))
    raise MisuseError(f"no clustering {cluster!r} here; there are: {names}")


def _read(store: Store, query: str, column: str, ids: Sequence[int]) -> ClusterMap:
    condition, parameters = one_of(column, ids, "c")
    table = store.arrow(query + condition, parameters)
    prompts, clusters = whole_numbers(table, "prompt_id"), whole_numbers(table, "cluster_id")
    order = np.argsort(prompts)
    return ClusterMap(prompts[order], clusters[order])
