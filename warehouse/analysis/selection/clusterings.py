"""Which clustering gives the error bars, and the cluster of each prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.arrow import one_of, rows_among, whole_numbers
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Names that need no stored clustering.
NO_CLUSTERS, SAME_TEXT = "none", "same_text"
#: Clusters of equal texts have the id of their first prompt above this one.
FIRST_OF_TEXTS = 1 << 60

_MEMBERS = "select prompt_id, cluster_id from prompt_cluster where {condition}"
#: Share of a benchmark's prompts whose text another one has, from which on equal texts are its
#: clusters unless it has others.
MANY_ALIKE = 0.5


@dataclass(frozen=True)
class ClusterMap:
    """Clusters of prompts.

    Attributes:
        prompts: ids of prompts, ascending, shape (m,).
        clusters: cluster of each, at least 0, shape (m,).
        note: what a reader should know of where they come from.
    """

    prompts: NDArray[np.int64]
    clusters: NDArray[np.int64]
    note: str = ""

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


def cluster_map(store: Store, benchmark_ids: Sequence[int], defaults: Sequence[int], cluster: str | None) -> ClusterMap:
    """The clusters that error bars are to use.

    Args:
        benchmark_ids: whose prompts are meant.
        defaults: ids of their default clusterings.
        cluster: None for the defaults, ``"none"``, ``"same_text"`` (prompts with equal text), or
            the name of a stored clustering. A benchmark without a default, of whose prompts most
            have a text that another one has, is clustered by ``"same_text"``.

    Raises:
        MisuseError: no clustering of this name; names those there are.
    """
    if cluster == NO_CLUSTERS:
        return _read(store, _MEMBERS, "clustering_id", ())
    if cluster is None:
        return _default_map(store, benchmark_ids, defaults)
    condition, parameters = one_of("benchmark_id", benchmark_ids, "b")
    known = store.arrow(f"select id, name from clustering where {condition}", parameters)
    stored = known.to_pylist()
    ids = [row["id"] for row in stored if row["name"] == cluster]
    if ids:
        return _read(store, _MEMBERS, "clustering_id", ids)
    if cluster == SAME_TEXT:
        return _read(store, query_text("analysis", "same_text_clusters"), "benchmark_id", benchmark_ids)
    names = ", ".join(sorted({row["name"] for row in stored} | {SAME_TEXT, NO_CLUSTERS}))
    raise MisuseError(f"no clustering {cluster!r} here; there are: {names}")


def _default_map(store: Store, benchmark_ids: Sequence[int], defaults: Sequence[int]) -> ClusterMap:
    own = _read(store, _MEMBERS, "clustering_id", defaults)
    counted = rows_among(store, query_text("analysis", "same_text_counts"), "benchmark_id", benchmark_ids)
    alike = [row for row in counted if row["n_alike"] >= MANY_ALIKE * row["n_prompts"]]
    if not alike:
        return own
    texts = _read(
        store, query_text("analysis", "same_text_clusters"), "benchmark_id", [row["benchmark_id"] for row in alike]
    )
    prompts = np.concatenate([own.prompts, texts.prompts])
    order = np.argsort(prompts)
    clusters = np.concatenate([own.clusters, texts.clusters])
    return ClusterMap(prompts[order], clusters[order], _describe_alike(alike))


def _describe_alike(rows: Sequence[Mapping[str, Any]]) -> str:
    n_alike, n = (int(sum(row[name] for row in rows)) for name in ("n_alike", "n_prompts"))
    largest = int(max(row["largest"] for row in rows))
    same = f", {largest} of them one text" if largest > 2 else ""
    return (
        f"{n_alike} of {n} prompts have the same text as another{same}: errors take prompts of one"
        " text as a cluster (same_text); --cluster none does not"
    )


def _read(store: Store, query: str, column: str, ids: Sequence[int]) -> ClusterMap:
    if not ids:
        return ClusterMap(np.empty(0, np.int64), np.empty(0, np.int64))
    condition, parameters = one_of(column, ids, "c")
    table = store.arrow(query.format(condition=condition), parameters)
    prompts, clusters = whole_numbers(table, "prompt_id"), whole_numbers(table, "cluster_id")
    order = np.argsort(prompts)
    return ClusterMap(prompts[order], clusters[order])
