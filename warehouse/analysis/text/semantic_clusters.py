"""Clusters of prompts that ask nearly the same, and what they do to standard errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from dataclasses import replace as replace_fields
from typing import Any

import numpy as np

from warehouse.analysis.leaderboard.answer import rank_rows
from warehouse.analysis.leaderboard.question import Ranking
from warehouse.analysis.leaderboard.row import LeaderboardRow
from warehouse.analysis.results import Row, shared_fields
from warehouse.analysis.selection.benchmarks import find_benchmark
from warehouse.analysis.selection.clusterings import NO_CLUSTERS, ClusterMap
from warehouse.analysis.selection.select import select_entries
from warehouse.analysis.selection.selection import Selection
from warehouse.analysis.text.clusters_view import GrowthRow, SemanticClusters
from warehouse.analysis.text.embed import choose_embedder
from warehouse.analysis.text.parts import embed_command, read_part
from warehouse.analysis.text.question import ClusterByText
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.stats import find_medoids, near_pairs
from warehouse.store.computed.prompt_vectors import (
    PROMPT,
    EmbedderRow,
    PromptVectors,
    count_embedded,
    read_vectors,
)
from warehouse.store.connection import Store
from warehouse.store.curate.field_clusters import Members, store_clustering
from warehouse.store.open import StoreOpener
from warehouse.store.sql.query_files import query_text

#: Name of a semantic clustering unless another is given.
NAME = "semantic"


@answers(ClusterByText)
def cluster_semantic(opener: StoreOpener, question: ClusterByText) -> SemanticClusters:
    """Cluster the prompts of a benchmark by the similarity of their texts, and store
    that."""
    with opener.writing() if question.store_result else opener.reading() as store:
        return _clustered(store, question)


def _clustered(store: Store, question: ClusterByText) -> SemanticClusters:
    part, threshold = question.part, question.threshold
    found = find_benchmark(store, question.benchmark)
    chosen = choose_embedder(store, question.embedder, part)
    texts = read_part(store, part, found.ids)
    counts = count_embedded(store, chosen.id, found.ids, texts=texts)
    by_benchmark = {
        number: read_vectors(store, chosen, [number], texts) for number in found.ids
    }
    if not any(len(vectors.prompts) for vectors in by_benchmark.values()):
        command = embed_command(part, question.benchmark)
        raise MisuseError(
            f"no prompt of {question.benchmark} has a vector of {chosen.label}; run: "
            f"{command}"
        )
    made = {
        number: _members(vectors, threshold, question.progress)
        for number, vectors in by_benchmark.items()
    }
    parameters = _parameters(chosen, threshold, part)
    name = question.name or (NAME if part == PROMPT else f"{NAME}-{part}")
    if question.store_result:
        for number, members in made.items():
            store_clustering(
                store,
                number,
                name,
                "semantic",
                members,
                default=question.default,
                parameters=parameters,
                must_agree=None if question.replace else (*parameters, "part"),
            )
    sizes = np.concatenate([np.bincount(members.clusters) for members in made.values()])
    return SemanticClusters(
        benchmark=found.name,
        name=name,
        threshold=threshold,
        embedder=chosen.label,
        is_default=question.default,
        n_prompts=int(sizes.sum()),
        n_clusters=len(sizes),
        n_single=int((sizes == 1).sum()),
        largest=int(sizes.max(initial=0)),
        n_without_vector=sum(n - embedded for n, _, embedded in counts.values()),
        rows=_growth(store, found.name, _map(list(made.values()))),
        is_stored=question.store_result,
        part=part,
    )


def _members(
    vectors: PromptVectors, threshold: float, progress: Callable[[float], None] | None
) -> Members:
    groups = near_pairs(vectors.vectors, threshold, keep=0, progress=progress).groups
    middle = find_medoids(vectors.vectors, groups)
    return Members(vectors.prompts, groups, middle.distances, middle.rows)


def _parameters(chosen: EmbedderRow, threshold: float, part: str) -> dict[str, Any]:
    if part == PROMPT:
        own_part = {}
    else:
        own_part = {"part": part}
    return {
        "embedder": chosen.name,
        "revision": chosen.revision,
        "threshold": threshold,
        "method": "connected components by cosine",
    } | own_part


def _map(made: Sequence[Members]) -> ClusterMap:
    """The clusters of all prompts together, each with a number of its own."""
    firsts = np.cumsum([0, *(len(members.medoids) for members in made)])
    labels = [
        members.clusters + first for members, first in zip(made, firsts, strict=False)
    ]
    prompts = np.concatenate([members.prompts for members in made])
    order = np.argsort(prompts)
    return ClusterMap(prompts[order], np.concatenate(labels)[order].astype(np.int64))


def _growth(
    store: Store, benchmark: str, clusters: ClusterMap
) -> tuple[GrowthRow, ...]:
    try:
        scores = select_entries(store, Selection(benchmark, cluster=NO_CLUSTERS))
    except MisuseError:  # no runs yet, or several metrics and no headline among them
        return ()
    clustered = replace_fields(scores, clusters=clusters)
    groups = rank_rows(clustered, Ranking(n_resamples=0))
    rows = []
    for group in groups:
        for _, row in group:
            rows.append(row)
    return tuple(_growth_row(row) for row in rows if row.method != "published")


def _growth_row(row: LeaderboardRow) -> GrowthRow:
    clustered = None
    if row.n_clusters is not None:
        clustered = row.standard_error
    growth = None
    if clustered and row.se_naive:
        growth = clustered / row.se_naive
    own = {"se_unclustered": row.se_naive, "se_clustered": clustered, "growth": growth}
    reason = ""
    if not growth:
        reason = row.reason
    return GrowthRow(**shared_fields(row, GrowthRow, **own, reason=reason))


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


def stored_clusterings(
    store: Store, benchmark: str | None = None
) -> list[ClusteringRow]:
    """The clusterings of a benchmark, or of all, by benchmark and name (MisuseError: no
    such benchmark)."""
    if benchmark is None:
        ids = None
    else:
        ids = set(find_benchmark(store, benchmark).ids)
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
