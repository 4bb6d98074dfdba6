"""Spherical k-means, silhouettes and medoids: against scikit-learn and plain
definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import silhouette_samples

from tests.support.matrices import (
    GOLDEN,
    Matrix,
    binary,
    continuous,
    cosines,
    tied,
    with_extremes,
)
from warehouse.errors import StatisticsError
from warehouse.stats.matrix import Clustering, cluster_search, medoids, silhouette
from warehouse.stats.matrix.kmeans import cluster_rows, distinct_rows
from warehouse.stats.matrix.similarity import unit_rows


def clustered(matrix: Matrix, n_clusters: int, seed: int = 0) -> Clustering:
    found = cluster_rows(matrix, n_clusters, seed)
    assert found is not None
    return found


def cohesion(unit: Matrix, labels: Matrix) -> float:
    """Mean cosine of a row with its cluster's direction: what k-means maximises."""
    return float(
        sum(np.linalg.norm(unit[labels == c].sum(axis=0)) for c in np.unique(labels))
    ) / len(unit)


def distances(matrix: Matrix) -> Matrix:
    """n × n cosine distances, 0 on the diagonal."""
    found = np.maximum(1 - cosines(matrix), 0)
    found[found < 1e-14] = 0
    np.fill_diagonal(found, 0)
    return found


@pytest.mark.parametrize("make", [binary, with_extremes, continuous, tied])
@pytest.mark.parametrize("n_clusters", [2, 5, 20])
def test_silhouettes_equal_scikit_learns(make: Any, n_clusters: int) -> None:
    matrix = make(80, 7)
    labels = np.random.default_rng(1).integers(0, n_clusters, 80)
    labels[0] = n_clusters  # a cluster of one
    expected = silhouette_samples(distances(matrix), labels, metric="precomputed")
    assert silhouette(matrix, labels) == pytest.approx(expected, abs=1e-9)


def test_silhouette_golden_and_edges() -> None:
    found = silhouette(GOLDEN, [0, 1, 0, 1, 0])
    assert found is not None and found.mean() == pytest.approx(
        0.826598632371, abs=1e-12
    )
    assert silhouette(GOLDEN, [0] * 5) is None
    assert silhouette(GOLDEN[:2], ["a", "b"]).tolist() == [0.0, 0.0]  # type: ignore[union-attr]


@pytest.mark.parametrize("make", [with_extremes, continuous, tied])
def test_medoids_are_the_members_with_the_least_distance(make: Any) -> None:
    matrix = make(60, 5)
    labels = np.random.default_rng(2).integers(0, 4, 60)
    apart = distances(matrix)
    rows, to_medoid = medoids(matrix, labels)
    for cluster in range(4):
        members = np.flatnonzero(labels == cluster)
        totals = apart[np.ix_(members, members)].sum(axis=1)
        first = members[np.flatnonzero(totals <= totals.min() + 1e-10)[0]]
        assert rows[cluster] == first
    assert to_medoid == pytest.approx(apart[np.arange(60), rows[labels]], abs=1e-12)


def blobs(seed: int = 0) -> tuple[Matrix, Matrix]:
    """Three directions, of any length, and which is which."""
    rng = np.random.default_rng(seed)
    kinds = np.repeat(np.arange(3), [20, 30, 10])
    rng.shuffle(kinds)
    return np.eye(3)[kinds] * rng.uniform(1, 5, (60, 1)) + rng.random(
        (60, 3)
    ) * 0.1, kinds


def test_separate_directions_are_found_and_chosen() -> None:
    matrix, kinds = blobs()
    found = cluster_search(matrix, n_permutations=3, seed=3)
    assert found.chosen.n_clusters == 3
    same = found.chosen.labels[:, None] == found.chosen.labels
    assert (same == (kinds[:, None] == kinds)).all()
    assert found.p_value == 0.25
    assert found.silhouette_permuted is not None and found.chosen.silhouette is not None
    assert found.silhouette_permuted < found.chosen.silhouette
    assert [count.n_clusters for count in found.counts] == list(range(2, 21))
    best = max(found.counts, key=lambda count: count.observed or -1)
    assert (best.n_clusters, best.observed) == (3, found.chosen.silhouette)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 6))
def test_a_clustering_is_a_fixed_point_no_worse_than_random(
    seed: int, n_clusters: int
) -> None:
    """What k-means promises: every row is with the nearest of its means, and those are
    means."""
    matrix = continuous(30, 4, seed)
    unit = unit_rows(matrix)
    found = clustered(matrix, n_clusters, seed)
    sums = np.array([unit[found.labels == c].sum(axis=0) for c in range(n_clusters)])
    directions = sums / np.linalg.norm(sums, axis=1)[:, None]
    own = (unit * directions[found.labels]).sum(axis=1)
    assert (own >= (unit @ directions.T).max(axis=1) - 1e-9).all()
    assert sorted(set(found.labels)) == list(range(n_clusters))
    assert list(dict.fromkeys(found.labels.tolist())) == list(
        range(n_clusters)
    )  # by first row
    random = np.random.default_rng(seed).integers(0, n_clusters, 30)
    assert own.mean() >= cohesion(unit, random) - 1e-12


def test_a_reference_on_all_partitions() -> None:
    """Of all ways to cut eight rows in two, ten starts find the best."""
    matrix = continuous(8, 3, seed=4)
    unit = unit_rows(matrix)
    cuts = [np.array([(cut >> i) & 1 for i in range(8)]) for cut in range(1, 2**7)]
    best = max(cohesion(unit, cut) for cut in cuts)
    assert cohesion(unit, clustered(matrix, 2).labels) == pytest.approx(best, abs=1e-12)


def test_multiplicities_count() -> None:
    """A repeated prompt pulls as much as so many prompts."""
    matrix = np.repeat(
        [[1.0, 0, 0], [0.9, 0.5, 0], [0, 0, 1], [0, 0.4, 1]], [5, 1, 3, 2], axis=0
    )
    found = clustered(matrix, 2)
    assert found.labels.tolist() == [0] * 6 + [1] * 5
    assert found.medoids.tolist() == [0, 6]
    distinct, member, counts = distinct_rows(
        unit_rows(np.vstack([matrix, 2 * matrix[:1]]))
    )
    assert (len(distinct), member[-1], counts.tolist()) == (4, 0, [6, 1, 3, 2])


def test_seeds_and_order_of_models() -> None:
    matrix = continuous(40, 5)
    assert (
        clustered(matrix, 4, 1).labels.tolist()
        == clustered(matrix, 4, 1).labels.tolist()
    )
    told: list[tuple[int, int]] = []
    found = cluster_search(
        matrix, [2, 3], n_permutations=1, progress=lambda *step: told.append(step)
    )
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert found.to_dict()["chosen"]["labels"] == found.chosen.labels.tolist()
    assert str(found).startswith(
        f"{found.chosen.n_clusters} clusters of 40 prompts, silhouette "
    )


def test_as_many_clusters_as_rows_leave_none_empty() -> None:
    matrix = with_extremes(9, 3)
    n_distinct = len(distinct_rows(unit_rows(matrix))[0])
    assert len(set(clustered(matrix, n_distinct).labels)) == n_distinct
    assert cluster_rows(matrix, n_distinct + 1, 0) is None


@pytest.mark.parametrize("noise", [1e-12, 1e-10, 1e-8])
def test_directions_that_only_rounding_tells_apart_are_one(noise: float) -> None:
    matrix = 1 + noise * np.random.default_rng(3).normal(size=(80, 3))
    with pytest.raises(StatisticsError, match="1 distinct performance vector"):
        cluster_search(matrix)


@pytest.mark.parametrize("noise", [2e-8, 1e-7, 1e-6])
def test_very_close_directions_cluster_all_the_same(noise: float) -> None:
    matrix = 1 + noise * np.random.default_rng(3).normal(size=(80, 3))
    n_distinct = len(distinct_rows(unit_rows(matrix))[0])
    assert n_distinct > 2
    found = clustered(matrix, min(n_distinct, 20))
    assert len(set(found.labels)) == min(n_distinct, 20)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: cluster_search(np.ones((5, 3))), "1 distinct performance vector"),
        (
            lambda: cluster_search([[1, 0], [0, 1], [1, 0]]),
            "2 distinct performance vector",
        ),
        (lambda: cluster_search(GOLDEN, [1, 2]), "between 2 and"),
        (lambda: cluster_search(GOLDEN, [9]), r"\(4\), found 9 to 9"),
        (lambda: silhouette(GOLDEN, [0, 1]), "2 entries, expected one per prompt: 5"),
        (lambda: medoids(GOLDEN, [0, 1]), "2 entries"),
    ],
)
def test_what_cannot_be_clustered_is_refused(call: Any, said: str) -> None:
    with pytest.raises(StatisticsError, match=said):
        call()
