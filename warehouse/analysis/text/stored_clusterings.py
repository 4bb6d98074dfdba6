"""The clusterings that a store holds, and how even they are."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.results import Row
from warehouse.analysis.selection.benchmarks import find_benchmark
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text


@dataclass(frozen=True)
class ClusteringRow(Row):
    """One clustering of a benchmark's prompts."""

    benchmark: str  #: name of the benchmark.
    name: str  #: of the clustering, as ``--cluster`` takes it.
    kind: str  #: how it was made: ``field``, ``semantic`` or another word of its maker.
    is_default: bool  #: error bars of the benchmark use it.
    n_prompts: int  #: prompts in clusters.
    n_clusters: int  #: clusters.
    n_single: int  #: clusters of one prompt.
    largest: int  #: prompts of the largest cluster.
    share_largest: float  #: ``largest`` over ``n_prompts``, in (0, 1].


def stored_clusterings(store: Store, benchmark: str | None = None) -> list[ClusteringRow]:
    """The clusterings of a benchmark, or of all, by benchmark and name (MisuseError: no such benchmark)."""
    ids = None if benchmark is None else set(find_benchmark(store, benchmark).ids)
    rows = store.rows(query_text("analysis", "stored_clusterings"))
    return [
        ClusteringRow(
            row["benchmark"],
            row["name"],
            row["kind"],
            bool(row["is_default"]),
            int(row["n_prompts"]),
            int(row["n_clusters"]),
            int(row["n_single"]),
            int(row["largest"]),
            int(row["largest"]) / int(row["n_prompts"]),
        )
        for row in rows
        if ids is None or row["benchmark_id"] in ids
    ]
