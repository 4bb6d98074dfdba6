"""From the matrix of a benchmark to results: one function for each question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.matrix.elsewhere import Elsewhere
from warehouse.analysis.matrix.read import MatrixData
from warehouse.analysis.matrix.results import MatrixClusters, MatrixExplanation, MatrixTest
from warehouse.analysis.matrix.rows import ClusterCountRow, ClusterRow, ExplainRow, HistogramRow, TestRow
from warehouse.stats.matrix import (
    ClusterSearch,
    Explanation,
    PermutationTest,
    cluster_search,
    explain,
    permutation_test,
)
from warehouse.stats.matrix.inputs import Progress
from warehouse.stats.matrix.similarity import Similarity

#: An FDR below this counts as significant.
FDR = 0.05


@dataclass(frozen=True)
class Vectors:
    """Vectors of some prompts of a matrix.

    Attributes:
        embedder: its name.
        rows: which prompts, shape (m,).
        vectors: theirs, shape (m, d).
    """

    embedder: str
    rows: NDArray[np.intp]
    vectors: NDArray[np.float64]


def common(data: MatrixData, seed: int, *notes: str) -> dict[str, Any]:
    """The fields that all results share."""
    return {
        "benchmark": data.benchmark,
        "metric": data.metric,
        "models": data.models,
        "n_prompts": len(data.prompts),
        "n_incomplete": data.n_incomplete,
        "seed": seed,
        "matrix_fingerprint": data.fingerprint,
        "computed_at": "",
        "notes": (*data.notes, *notes),
    }


def run_test(
    data: MatrixData,
    similarities: Sequence[str],
    n_permutations: int,
    seed: int,
    progress: Progress | None,
    spread: Elsewhere | None = None,
) -> MatrixTest:
    """Permutation tests of the similarities between prompts."""
    test = permutation_test(
        data.values,
        cast("Sequence[Similarity]", similarities) or None,
        n_permutations=n_permutations,
        seed=seed,
        spread=spread,
        progress=progress,
    )
    rows = tuple(TestRow(**vars(statistic)) for statistic in test.statistics)
    binary = bool(np.isin(data.values, (0, 1)).all())
    notes = (
        () if binary or similarities else ("scores are not all 0 or 1: cosine only (Hamming and Jaccard count ones)",)
    )
    of_spread = () if spread is None else spread.notes
    return MatrixTest(
        **common(data, seed, *notes, *of_spread), rows=rows, n_permutations=n_permutations, histogram=_histogram(test)
    )


def _histogram(test: PermutationTest) -> tuple[HistogramRow, ...]:
    return tuple(
        HistogramRow(shape.similarity, *bin)
        for shape in test.histograms
        for bin in zip(shape.edges[:-1], shape.edges[1:], shape.observed, shape.permuted, strict=True)
    )


def run_clusters(
    data: MatrixData,
    n_clusters: Sequence[int],
    n_permutations: int,
    seed: int,
    progress: Progress | None,
    spread: Elsewhere | None = None,
) -> MatrixClusters:
    """The clustering with the best silhouette, against shuffled matrices."""
    search = cluster_search(
        data.values, n_clusters or None, n_permutations=n_permutations, seed=seed, spread=spread, progress=progress
    )
    chosen = search.chosen
    rows = tuple(
        ClusterCountRow(
            count.n_clusters, count.observed, count.permuted, count.permuted_high, count.n_clusters == chosen.n_clusters
        )
        for count in search.counts
    )
    of_spread = () if spread is None else spread.notes
    return MatrixClusters(
        **common(data, seed, *of_spread),
        rows=rows,
        n_clusters=chosen.n_clusters,
        silhouette=chosen.silhouette,
        silhouette_permuted=search.silhouette_permuted,
        p_value=search.p_value,
        n_permutations=n_permutations,
        clusters=_clusters(data, search),
        labels=tuple(chosen.labels.tolist()),
        distances=tuple(chosen.distances.tolist()),
        medoids=tuple(chosen.medoids.tolist()),
        prompts=data.keys,
    )


def _clusters(data: MatrixData, search: ClusterSearch) -> tuple[ClusterRow, ...]:
    chosen, rows = search.chosen, []
    for cluster, medoid in enumerate(chosen.medoids.tolist()):
        members = chosen.labels == cluster
        rows.append(
            ClusterRow(
                cluster + 1,
                int(members.sum()),
                data.keys[medoid],
                float(chosen.distances[members].mean()),
                float(data.values[members].mean()),
                data.texts[medoid],
            )
        )
    return tuple(rows)


def run_explain(
    data: MatrixData, vectors: Vectors, intercept: bool, n_permutations: int, seed: int, progress: Progress | None
) -> MatrixExplanation:
    """Regressions of performance on semantic similarity, largest coefficient first."""
    explanation = explain(
        data.values[vectors.rows],
        vectors.vectors,
        intercept=intercept,
        n_permutations=n_permutations,
        seed=seed,
        progress=progress,
    )
    missing = len(data.prompts) - len(vectors.rows)
    notes = [f"{missing} prompts left out: no vector of their text"] if missing else []
    if explanation.n_undefined:
        notes.append(f"{explanation.n_undefined} prompts have no coefficient: nothing varies, or nothing is left")
    head = common(data, seed, *notes) | {"n_prompts": explanation.n_prompts}
    return MatrixExplanation(
        **head,
        rows=_explained(data, vectors.rows, explanation),
        embedder=vectors.embedder,
        intercept=intercept,
        n_permutations=n_permutations,
        n_without_vector=missing,
        n_undefined=explanation.n_undefined,
        share_fdr=_share(explanation),
        mean_coefficient=explanation.mean_coefficient,
        mean_coefficient_permuted=explanation.mean_coefficient_permuted,
        p_mean_coefficient=explanation.p_mean_coefficient,
        ks_coefficient=explanation.ks_coefficient,
        p_ks_coefficient=explanation.p_ks_coefficient,
        p_ks_coefficient_textbook=explanation.p_ks_coefficient_textbook,
        ks_fdr=explanation.ks_fdr,
        p_ks_fdr=explanation.p_ks_fdr,
        p_ks_fdr_textbook=explanation.p_ks_fdr_textbook,
        mantel_r=explanation.mantel.r,
        mantel_p=explanation.mantel.p_value,
    )


def _share(explanation: Explanation) -> float | None:
    defined = ~np.isnan(explanation.coefficients)
    if not defined.any():
        return None
    below = explanation.fdr[defined] < FDR
    return float((below & (explanation.coefficients[defined] > 0)).mean())


def _explained(data: MatrixData, rows: NDArray[np.intp], explanation: Explanation) -> tuple[ExplainRow, ...]:
    figures = np.column_stack([explanation.coefficients, explanation.statistics, explanation.p_values, explanation.fdr])
    undefined = np.isnan(explanation.coefficients)
    order = np.lexsort([-np.where(undefined, 0, explanation.coefficients), undefined])
    return tuple(_row(data, int(rows[place]), figures[place]) for place in order.tolist())


def _row(data: MatrixData, row: int, figures: NDArray[np.float64]) -> ExplainRow:
    known = [None if np.isnan(figure) else float(figure) for figure in figures]
    return ExplainRow(data.keys[row], known[0], known[1], known[2], known[3], data.texts[row])
