"""Which clustering gives the error bars, and the cluster of each prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.selection.prompt_links import Links, follow_links
from warehouse.errors import MisuseError
from warehouse.store.columns import Columns
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: Names that need no stored clustering.
NO_CLUSTERS, SAME_TEXT = "none", "same_text"
#: Clusters of equal texts have the id of their first prompt above this one.
FIRST_OF_TEXTS = 1 << 60

_NAMES = "select id, name from clustering where benchmark_id in (:ids)"
_MEMBERS = (
    "select clustering_id, prompt_id, cluster_id from prompt_cluster where "
    "clustering_id in (:clustering_ids)"
)
_OF = "benchmark_id"
#: Share of a benchmark's prompts whose text another one has, from which on equal texts
#: are its clusters unless it has others.
MANY_ALIKE = 0.5


@dataclass(frozen=True)
class ClusterMap:
    """Clusters of prompts."""

    prompts: NDArray[np.int64]  #: ids of prompts, ascending, shape (m,).
    clusters: NDArray[np.int64]  #: cluster of each, at least 0, shape (m,).
    note: str = ""  #: what a reader should know of where they come from.

    def labels(self, prompts: NDArray[np.int64]) -> NDArray[np.int64] | None:
        """Cluster of each of ``prompts``, shape (n,); one of its own (below 0) for a
        prompt that is in none; None where none is in any."""
        if not len(self.prompts):
            return None
        indices = np.minimum(
            np.searchsorted(self.prompts, prompts), len(self.prompts) - 1
        )
        member = self.prompts[indices] == prompts
        if not member.any():
            return None
        return np.where(member, self.clusters[indices], -1 - prompts)


def outside_clusters(labels: NDArray[np.int64] | None) -> tuple[str, ...]:
    """The flag ``prompts_outside_clusters`` where clusters leave some prompts out,
    which then count as clusters of one."""
    if labels is not None and (labels < 0).any():
        return ("prompts_outside_clusters",)
    return ()


def clusters_under_links(clusters: ClusterMap, links: Links) -> ClusterMap:
    """Clusters of the prompts that links lead to, where these have none of their own."""
    prompts = follow_links(clusters.prompts, links)
    own_first = np.lexsort((prompts != clusters.prompts, prompts))
    names, first = np.unique(prompts[own_first], return_index=True)
    return ClusterMap(names, clusters.clusters[own_first][first], clusters.note)


def cluster_map(
    store: Store,
    benchmark_ids: Sequence[int],
    defaults: Sequence[int],
    cluster: str | None,
) -> ClusterMap:
    """The clusters that error bars are to use (MisuseError: no clustering of this name;
    names those there are).

    Args:
        benchmark_ids: whose prompts are meant.
        defaults: ids of their default clusterings.
        cluster: None for the defaults, ``"none"``, ``"same_text"`` (prompts with equal
            text), or the name of a stored clustering. A benchmark without a default, of
            whose prompts most have a text that another one has, is clustered by
            ``"same_text"``.
    """
    if cluster == NO_CLUSTERS:
        return _as_map(())
    alike: list[dict[str, Any]] = []
    # the defaults, and equal texts where many are and there is none
    if cluster is None:
        counted = store.rows(
            query_text("analysis/selection", "same_text_counts"),
            {"benchmark_ids": benchmark_ids},
            per=_OF,
        )
        alike = [
            row for row in counted if row["n_alike"] >= MANY_ALIKE * row["n_prompts"]
        ]
        ids, by_text = [*defaults], [row["benchmark_id"] for row in alike]
    else:
        stored = store.rows(_NAMES, {"ids": benchmark_ids})
        ids = [row["id"] for row in stored if row["name"] == cluster]
        by_text = []
        if not ids:
            by_text = [*benchmark_ids]
        if not ids and cluster != SAME_TEXT:
            names = ", ".join(
                sorted({row["name"] for row in stored} | {SAME_TEXT, NO_CLUSTERS})
            )
            raise MisuseError(f"no clustering {cluster!r} here; there are: {names}")
    of_texts = query_text("analysis/selection", "same_text_clusters")
    queries = ((_MEMBERS, "clustering_id", ids), (of_texts, _OF, by_text))
    columns = [
        store.columns(sql, {f"{per}s": some}, per=per)
        for sql, per, some in queries
        if some
    ]
    return _as_map(columns, _describe_alike(alike))


def _as_map(columns: Sequence[Columns], note: str = "") -> ClusterMap:
    """Rows of a prompt and its cluster each, of prompts that stand in one answer only."""
    nothing = np.empty(0, np.int64)
    prompts = np.concatenate(
        [nothing, *(part.whole_numbers("prompt_id") for part in columns)]
    )
    clusters = np.concatenate(
        [nothing, *(part.whole_numbers("cluster_id") for part in columns)]
    )
    order = np.argsort(prompts)
    prompts = prompts[order]
    clusters = clusters[order]
    # Where reads are shared, the first prompt of a text may be of a benchmark that was
    # not asked for.
    of_texts = np.flatnonzero(clusters >= FIRST_OF_TEXTS)
    _, first, text = np.unique(
        clusters[of_texts], return_index=True, return_inverse=True
    )
    clusters[of_texts] = FIRST_OF_TEXTS + prompts[of_texts[first]][text]
    return ClusterMap(prompts, clusters, note)


def _describe_alike(rows: Sequence[Mapping[str, Any]]) -> str:
    if not rows:
        return ""
    n_alike = int(sum(row["n_alike"] for row in rows))
    n = int(sum(row["n_prompts"] for row in rows))
    largest = int(max(row["largest"] for row in rows))
    same = ""
    if largest > 2:
        same = f", {largest} of them one text"
    return (
        f"{n_alike} of {n} prompts have the same text as another{same}: errors take "
        "prompts of one text as a cluster (same_text); --cluster none does not"
    )
