"""Components of a graph, against scipy's, and distinct whole numbers, against numpy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

from warehouse.stats.core import sample as own


@pytest.mark.parametrize("many", [0, 100_000])
@pytest.mark.parametrize("seed", range(40))
def test_components_are_scipys(
    seed: int, many: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(own, "_MANY", many)
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    ends, others = rng.integers(0, n, (2, int(rng.integers(0, 2 * n))))
    found = own.components(ends, others, n)
    edges = csr_matrix((np.ones(len(ends)), (ends, others)), (n, n))
    assert found.tolist() == connected_components(edges, directed=False)[1].tolist()


def test_a_long_chain_in_any_order_is_one_component() -> None:
    order = np.random.default_rng(1).permutation(20_000)
    assert not own.components(order[:-1], order[1:], len(order)).any()


@pytest.mark.parametrize(
    "values", [[], [5], [3, 1, 3, -2, 1], [10**12, 7, 10**12, -(10**12)]]
)
def test_distinct_numbers_and_their_places_are_numpys(values: list[int]) -> None:
    numbers = np.array(values, np.int64)
    for found, slow in zip(
        own.distinct(numbers), np.unique(numbers, return_inverse=True), strict=True
    ):
        assert found.tolist() == slow.tolist()
