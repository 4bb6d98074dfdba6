"""Permutations done elsewhere: the same answer, whoever does which block, in whatever
order."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pytest

from tests.support.matrices import Matrix, binary, continuous
from warehouse.stats.matrix import cluster_search, permutation_test, tables


class Elsewhere:
    """Tasks that go through bytes, some of them twice, and come back in another order."""

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def __call__(
        self, function: Callable[[bytes], bytes], tasks: Sequence[bytes]
    ) -> Iterator[tuple[int, bytes]]:
        there = pickle.loads(pickle.dumps(function))
        self.sizes.append(len(tasks))
        for number in np.random.default_rng(0).permutation(len(tasks)).tolist():
            assert there(tasks[number]) == there(tasks[number])
            yield number, there(tasks[number])


@pytest.mark.parametrize("matrix", [binary(40, 9), continuous(40, 9)])
@pytest.mark.parametrize("block", [1, 3, 1000])
def test_blocks_change_nothing(
    matrix: Matrix, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "_TASK_TABLES", block)
    here = permutation_test(matrix, n_permutations=19, seed=3)
    done: list[tuple[int, int]] = []

    def tell(*at: int) -> None:
        done.append((at[0], at[1]))

    there = permutation_test(
        matrix,
        n_permutations=19,
        seed=3,
        spread=Elsewhere(),
        progress=lambda *at: done.append(at),
    )
    assert here == there and done == sorted(done) and done[-1] == (95, 95)


def test_what_comes_back_at_a_time_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "_TASK_BYTES", 1)
    monkeypatch.setattr(tables, "_WAVE_BYTES", 4000)
    asked = Elsewhere()
    matrix = binary(40, 9)
    assert permutation_test(
        matrix, n_permutations=19, spread=asked
    ) == permutation_test(matrix, n_permutations=19)
    assert sum(asked.sizes) == 19 and len(asked.sizes) > 1


@pytest.mark.parametrize("matrix", [binary(40, 9), continuous(40, 9)])
def test_clusters_of_shuffled_matrices_are_the_same(matrix: Matrix) -> None:
    here = cluster_search(matrix, (2, 3, 5), n_permutations=3, seed=2)
    done: list[int] = []
    there = cluster_search(
        matrix,
        (2, 3, 5),
        n_permutations=3,
        seed=2,
        spread=Elsewhere(),
        progress=lambda at, _: done.append(at),
    )
    assert here.counts == there.counts and (here.p_value, here.chosen.silhouette) == (
        there.p_value,
        there.chosen.silhouette,
    )
    assert done == list(range(1, 13))


def test_scores_of_zero_and_one_go_as_bits() -> None:
    columns = np.ascontiguousarray(binary(8000, 9).T, dtype=np.uint8)
    sent = tables._sent(columns)
    assert len(sent) < 9 * 8000 / 8 + 1000 and (tables._received(sent) == columns).all()
