"""How many clusters do the prompts form, and more so than by chance? (Siska 2024, table
3)"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from warehouse.errors import StatisticsError
from warehouse.stats.core.inputs import TIE, FloatArray, as_seed
from warehouse.stats.core.results import NamedFigures
from warehouse.stats.matrix.kmeans import (
    Clustering,
    cluster_rows,
    distinct_rows,
    silhouette_of,
)
from warehouse.stats.matrix.similarity import Progress, as_count, as_matrix, unit_rows
from warehouse.stats.matrix.tables import Spread, shuffled, silhouettes_elsewhere

MOST_CLUSTERS = 20


@dataclass(frozen=True)
class ClusterCount:
    """Quality at one number of clusters."""

    n_clusters: int  #: clusters asked for.
    observed: float | None  #: mean silhouette of the matrix as it is.
    #: mean over the shuffled matrices of theirs, None without any.
    permuted: float | None
    permuted_high: float | None  #: largest of theirs.


@dataclass(frozen=True)
class ClusterSearch(NamedFigures):
    """The best clustering, and the paper's table 3."""

    chosen: Clustering  #: the clustering with the best mean silhouette.
    counts: tuple[ClusterCount, ...]  #: one for each number of clusters that was tried.
    #: mean over shuffled matrices of their best silhouette; None without.
    silhouette_permuted: float | None
    #: (1 + #{best of a shuffled matrix ≥ observed})/(1 + N); None without.
    p_value: float | None
    n_permutations: int  #: shuffled matrices N.
    seed: int  #: of starts and shuffles.

    def __str__(self) -> str:
        if self.silhouette_permuted is None:
            permuted = ""
        else:
            permuted = f" ({self.silhouette_permuted:.4g} shuffled)"
        return f"{self.chosen}{permuted}"


def cluster_search(
    matrix: ArrayLike,
    n_clusters: Sequence[int] | None = None,
    *,
    n_permutations: int = 1,
    seed: int = 0,
    spread: Spread | None = None,
    progress: Progress | None = None,
) -> ClusterSearch:
    """Choose the number of clusters by mean silhouette, and do the same to shuffled
    matrices.

    Args:
        matrix: prompts × models, finite, shape (n, k).
        n_clusters: numbers to try; default 2 … min(20, distinct rows − 1). Ties: the
            smaller.
        n_permutations: shuffled matrices (each column by itself), 0 for none.
        seed: of starts and shuffles.
        spread: has the shuffled matrices clustered elsewhere; the answer is the same.
        progress: called with (done, all) after each matrix and number of clusters.

    Raises:
        StatisticsError: fewer than three distinct rows (one clustering is possible,
            none to choose), or a number of clusters that cannot be.
    """
    values = as_matrix(matrix)
    as_count(n_permutations, "n_permutations", 0)
    n_distinct = len(distinct_rows(unit_rows(values))[0])
    tried = _tried(n_distinct, n_clusters)
    steps = len(tried) * (1 + n_permutations)

    def tell(done: int) -> None:
        if progress:
            progress(done, steps)

    chosen, observed = _choose(values, tried, as_seed(seed), tell)
    if spread is not None and n_permutations:
        tables = silhouettes_elsewhere(
            spread,
            values,
            tried,
            n_permutations,
            seed,
            lambda done: tell(len(tried) + done),
        )
    else:
        tables = []
        for shuffle in range(1, 1 + n_permutations):
            table, row = shuffled(values, seed, shuffle), list[float]()
            for number in tried:
                row.append(silhouette_of(table, number, seed))
                tell(len(tried) * shuffle + len(row))
            tables.append(row)
    return _search(chosen, tried, np.array([observed, *tables]), seed)


def _choose(
    values: FloatArray, tried: Sequence[int], seed: int, tell: Callable[[int], None]
) -> tuple[Clustering, list[float]]:
    """The clustering with the best mean silhouette, and those of all numbers of
    clusters."""
    chosen: Clustering | None = None
    observed: list[float] = []
    for number in tried:
        clustering = cluster_rows(values, number, seed)
        if clustering is not None and clustering.silhouette is not None:
            better = (
                chosen is None
                or clustering.silhouette > (chosen.silhouette or -2.0) + 1e-12
            )
            if better:
                chosen = clustering
        observed.append(
            np.nan
            if clustering is None or clustering.silhouette is None
            else clustering.silhouette
        )
        tell(len(observed))
    assert chosen is not None  # every number tried is possible in the matrix itself
    return chosen, observed


def _tried(n_distinct: int, n_clusters: Sequence[int] | None) -> list[int]:
    if n_distinct < 3 and n_clusters is None:
        raise StatisticsError(
            f"the prompts have {n_distinct} distinct performance vector(s) up to "
            "length: there is no number of clusters to choose; at least 3 are needed"
        )
    if n_clusters:
        tried = sorted(set(n_clusters))
    else:
        tried = list(range(2, min(MOST_CLUSTERS, n_distinct - 1) + 1))
    if tried[0] < 2 or tried[-1] > n_distinct:
        raise StatisticsError(
            f"numbers of clusters must lie between 2 and the number of distinct rows"
            f" ({n_distinct}), found {tried[0]} to {tried[-1]}"
        )
    return tried


def _search(
    chosen: Clustering, tried: Sequence[int], tables: FloatArray, seed: int
) -> ClusterSearch:
    others = tables[1:]
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", RuntimeWarning
        )  # a number that no shuffled matrix allows
        if len(others):
            means, highs = (np.nanmean(others, axis=0), np.nanmax(others, axis=0))
        else:
            means, highs = (np.full(len(tried), np.nan),) * 2
        if len(others):
            best = np.nanmax(others, axis=1)
        else:
            best = np.empty(0)
    best = best[np.isfinite(best)]
    observed = chosen.silhouette
    p_value = None
    if len(best) and observed is not None:
        p_value = (1 + int((best >= observed - TIE).sum())) / (1 + len(best))
    counts: list[ClusterCount] = []
    for number, *values in zip(tried, tables[0], means, highs, strict=True):
        figures = (None if np.isnan(value) else float(value) for value in values)
        counts.append(ClusterCount(number, *figures))
    return ClusterSearch(
        chosen,
        tuple(counts),
        float(best.mean()) if len(best) else None,
        p_value,
        len(others),
        seed,
    )
