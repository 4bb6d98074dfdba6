"""Near pairs, neighbours, groups and medoids against scikit-learn, networkx-free slow
definitions and brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.metrics.pairwise import cosine_similarity
from sklearn.neighbors import NearestNeighbors

from warehouse.errors import StatisticsError
from warehouse.stats import find_medoids, near_pairs, nearest
from warehouse.stats.similarity import neighbours
from warehouse.stats.similarity.neighbours import (
    connect,
    first_seen,
    pairs_within,
    unit_rows,
)


def random_vectors(n: int, d: int, seed: int = 0) -> np.ndarray:
    """Vectors in a few bundles, so that some pairs are close; every 7th repeats
    another."""
    dice = np.random.default_rng(seed)
    middles = dice.standard_normal((max(n // 6, 1), d))
    rows = middles[dice.integers(len(middles), size=n)] + 0.35 * dice.standard_normal(
        (n, d)
    )
    rows[::7] = rows[len(rows) // 2]
    return (rows * dice.uniform(0.1, 9, size=(n, 1))).astype(np.float32)


def brute(rows: np.ndarray, threshold: float) -> dict[tuple[int, int], float]:
    similarities = cosine_similarity(rows.astype(np.float64))
    return {
        (i, j): similarities[i, j]
        for i, j in combinations(range(len(rows)), 2)
        if similarities[i, j] >= threshold - 1e-12
    }


@pytest.mark.parametrize("threshold", [0.2, 0.8, 0.95, 1.0])
@pytest.mark.parametrize("block", [7, 50, 2048])
def test_near_pairs_are_those_of_scikit_learn(threshold: float, block: int) -> None:
    rows = random_vectors(150, 12)
    found = near_pairs(rows, threshold, block=block)
    expected = brute(rows, threshold)
    pairs = list(zip(found.first.tolist(), found.second.tolist(), strict=True))
    assert found.n_pairs == len(pairs) and set(pairs) == set(expected)
    assert found.similarity == pytest.approx(
        [expected[pair] for pair in pairs], abs=1e-12
    )
    assert np.all(np.diff(found.similarity) <= 0)


def test_the_block_size_changes_nothing_at_all() -> None:
    rows = random_vectors(300, 24, seed=3)
    whole = near_pairs(rows, 0.7, keep=500)
    for block in (1, 13, 299):
        part = near_pairs(rows, 0.7, keep=500, block=block)
        for name in ("first", "second", "similarity", "by_place", "groups"):
            assert np.array_equal(getattr(part, name), getattr(whole, name)), (
                block,
                name,
            )
        assert part.n_pairs == whole.n_pairs > 500


def test_pairs_at_the_threshold_itself_are_found() -> None:
    angle = np.arccos(0.95)
    rows = np.array([[1, 0], [np.cos(angle), np.sin(angle)]], dtype=np.float32)
    exact = brute(rows, -1)[0, 1]
    assert near_pairs(rows, float(exact)).n_pairs == 1
    assert near_pairs(rows, float(exact) + 1e-9).n_pairs == 0


def test_the_most_similar_pairs_are_kept_and_all_are_counted() -> None:
    rows = random_vectors(200, 8, seed=1)
    expected = sorted(brute(rows, 0.5).values(), reverse=True)
    found = near_pairs(rows, 0.5, keep=20, block=31)
    assert (found.n_pairs, len(found.similarity)) == (len(expected), 20)
    assert found.similarity == pytest.approx(expected[:20], abs=1e-12)
    assert np.array_equal(found.groups, near_pairs(rows, 0.5).groups)


def test_pairs_are_counted_by_place() -> None:
    rows, places = (
        random_vectors(90, 6, seed=2),
        np.random.default_rng(5).integers(3, size=90),
    )
    found = near_pairs(rows, 0.8, places=places, block=16)
    expected = np.zeros((3, 3), int)
    for i, j in brute(rows, 0.8):
        expected[places[i], places[j]] += 1
        if places[i] != places[j]:
            expected[places[j], places[i]] += 1
    assert np.array_equal(found.by_place, expected)


@pytest.mark.parametrize("threshold", [0.3, 0.7, 0.95])
def test_shorter_vectors_change_nothing(
    threshold: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = random_vectors(400, 160, seed=8)
    monkeypatch.setattr(neighbours, "MANY_ROWS", 10**9)
    whole = near_pairs(rows, threshold)
    monkeypatch.setattr(neighbours, "MANY_ROWS", 1)
    short = near_pairs(rows, threshold, block=64)
    assert whole.n_pairs == short.n_pairs > 0
    for name in ("first", "second", "similarity", "groups"):
        assert np.array_equal(getattr(short, name), getattr(whole, name)), name


@pytest.mark.parametrize("k", [0, 1, 40, 159])
def test_products_of_shorter_vectors_are_never_below(k: int) -> None:
    unit = unit_rows(random_vectors(200, 160, seed=9))
    turned = unit @ neighbours.principal_axes(unit)
    head = neighbours.cut(turned, k)
    assert head.shape == (200, k + 1)
    exact = unit.astype(np.float64) @ unit.astype(np.float64).T
    assert np.all((head @ head.T) >= exact - 2e-6)


def test_vectors_are_shortened_only_where_it_tells(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(neighbours, "MANY_ROWS", 1)
    unit = unit_rows(
        np.random.default_rng(3).standard_normal((2000, 160)).astype(np.float32)
    )
    assert neighbours.shorten(unit, 0.95).shape[1] < 100
    assert neighbours.shorten(unit, 0.1).shape == unit.shape


def slow_groups(n: int, pairs: list[tuple[int, int]]) -> list[int]:
    """Connected components by painting, numbered as first seen."""
    colour = list(range(n))
    for _ in range(n):
        for i, j in pairs:
            colour[i] = colour[j] = min(colour[i], colour[j])
    return [sorted(set(colour)).index(one) for one in colour]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 12), st.data())
def test_groups_are_connected_components(n: int, data: st.DataObject) -> None:
    index = st.integers(0, n - 1)
    pairs = data.draw(st.lists(st.tuples(index, index), max_size=15))
    half = len(pairs) // 2
    groups = np.arange(n)
    for part in (pairs[:half], pairs[half:]):  # in two steps, as blocks come
        groups = connect(groups, [i for i, _ in part], [j for _, j in part])
    assert groups.tolist() == slow_groups(n, pairs)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 5), max_size=20).map(sorted))
def test_pairs_within_groups_are_all_combinations(groups: list[int]) -> None:
    first, second = pairs_within(np.array(groups, dtype=np.int64))
    expected = [
        (i, j) for i, j in combinations(range(len(groups)), 2) if groups[i] == groups[j]
    ]
    assert sorted(zip(first.tolist(), second.tolist(), strict=True)) == expected


def test_pairs_within_wants_ascending_groups() -> None:
    with pytest.raises(StatisticsError, match="ascending"):
        pairs_within([1, 0])


def test_labels_are_numbered_as_first_seen() -> None:
    assert first_seen(["b", "a", "b", "c"]).tolist() == [0, 1, 0, 2]


@pytest.mark.parametrize("top", [1, 10, 500])
def test_the_nearest_are_those_of_scikit_learn(top: int) -> None:
    rows = random_vectors(200, 16, seed=4)
    query = np.random.default_rng(9).standard_normal(16).astype(np.float32)
    found = nearest(query, rows, top)
    oracle = NearestNeighbors(
        n_neighbors=min(top, 200), metric="cosine", algorithm="brute"
    )
    distances, _ = oracle.fit(rows.astype(np.float64)).kneighbors(
        query[None].astype(np.float64)
    )
    assert found.similarities == pytest.approx(1 - distances[0], abs=1e-12)
    own = cosine_similarity(
        rows[found.indices].astype(np.float64), query[None].astype(np.float64)
    )
    assert found.similarities == pytest.approx(own[:, 0], abs=1e-12)


def test_equally_near_vectors_come_in_order() -> None:
    assert nearest([1, 0], [[0, 1], [2, 0], [1, 0]], 3).indices.tolist() == [1, 2, 0]


def test_medoids_are_closest_to_their_group() -> None:
    rows = random_vectors(80, 10, seed=6)
    groups = near_pairs(rows, 0.8).groups
    found = find_medoids(rows, groups)
    similarities = cosine_similarity(rows.astype(np.float64))
    for group, medoid in enumerate(found.rows.tolist()):
        members = np.flatnonzero(groups == group)
        means = similarities[np.ix_(members, members)].mean(axis=1)
        assert medoid == members[np.argmax(np.round(means * len(members), 9))]
        assert found.distances[medoid] == 0
        expected = 1 - similarities[members, medoid]
        expected[members == medoid] = 0
        assert found.distances[members] == pytest.approx(expected, abs=1e-12)


def test_equal_members_have_the_first_as_medoid() -> None:
    assert find_medoids([[1, 2], [1, 2], [3, 1]], [0, 0, 1]).rows.tolist() == [0, 2]


@settings(max_examples=40, deadline=None)
@given(
    arrays(np.float32, (9, 3), elements=st.floats(-9, 9, width=32)),
    st.floats(-0.9, 0.999),
)
def test_any_vectors_agree_with_brute_force(rows: np.ndarray, threshold: float) -> None:
    rows = rows[np.linalg.norm(rows.astype(np.float64), axis=1) > 1e-3]
    expected = brute(rows, threshold) if len(rows) > 1 else {}
    close = (
        [s for s in brute(rows, -2).values() if abs(s - threshold) < 1e-9]
        if len(rows)
        else []
    )
    if not close:
        assert near_pairs(rows, threshold, block=4).n_pairs == len(expected)


def test_no_vectors_have_no_neighbours() -> None:
    empty = np.empty((0, 4), np.float32)
    assert near_pairs(empty, 0.9).n_pairs == 0
    assert near_pairs(empty, 0.9).groups.tolist() == []
    assert len(nearest([1, 0, 0, 0], empty, 3).indices) == 0
    assert near_pairs(np.ones((1, 4)), 0.9).groups.tolist() == [0]


def test_progress_ends_at_one() -> None:
    told: list[float] = []
    near_pairs(random_vectors(50, 3), 0.9, block=10, progress=told.append)
    assert told == sorted(told) and told[-1] == 1 and len(told) == 15


@pytest.mark.parametrize(
    ("vectors", "part"),
    [
        ([1.0, 2.0], "two dimensions"),
        ([[1.0, np.nan], [1, 1]], "not finite (first: row 0)"),
        ([[1.0, 1], [0, 0]], "no direction (first: row 1)"),
    ],
)
def test_vectors_without_a_direction_are_refused(
    vectors: list[float], part: str
) -> None:
    with pytest.raises(StatisticsError) as caught:
        near_pairs(vectors, 0.9)
    assert part in str(caught.value)


@pytest.mark.parametrize("threshold", [-1.0, 1.01, float("nan")])
def test_thresholds_that_no_cosine_has_are_refused(threshold: float) -> None:
    with pytest.raises(StatisticsError, match="threshold"):
        near_pairs([[1.0, 0]], threshold)


def test_misaligned_arguments_are_refused() -> None:
    with pytest.raises(StatisticsError, match="places"):
        near_pairs([[1.0, 0]], 0.9, places=[0, 1])
    with pytest.raises(StatisticsError, match="dimensions"):
        nearest([1.0], [[1.0, 0]], 1)
    with pytest.raises(StatisticsError, match="top"):
        nearest([1.0, 0], [[1.0, 0]], 0)
    with pytest.raises(StatisticsError, match="groups"):
        find_medoids([[1.0, 0]], [0, 1])
