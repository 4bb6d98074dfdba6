"""Similarities of prompts: equal to n × n code, by counting and by closed forms."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.support.matrices import (
    GOLDEN,
    Matrix,
    binary,
    continuous,
    cosines,
    tied,
    upper,
    with_extremes,
)
from warehouse.errors import StatisticsError
from warehouse.stats.matrix import summarise_similarity
from warehouse.stats.matrix.similarity import (
    cell_values,
    count_pairs,
    linear_quantile,
    mean_cosine,
    pair_blocks,
    unit_rows,
)


def slow(similarity: str, matrix: Matrix) -> Matrix:
    """All pairs i < j from n × n matrices."""
    if similarity == "cosine":
        return upper(cosines(matrix))
    common = matrix @ matrix.T
    if similarity == "hamming":
        return upper((matrix[:, None, :] == matrix).mean(axis=2))
    union = matrix.sum(axis=1)[:, None] + matrix.sum(axis=1) - common
    return upper(np.where(union == 0, 1.0, common / np.where(union == 0, 1, union)))


@pytest.mark.parametrize("similarity", ["cosine", "jaccard", "hamming"])
@pytest.mark.parametrize("shape", [(60, 5), (50, 64), (40, 70), (30, 150)])
def test_binary_figures_equal_all_pairs(
    similarity: str, shape: tuple[int, int]
) -> None:
    matrix = with_extremes(*shape)
    pairs, found = slow(similarity, matrix), summarise_similarity(matrix, similarity)
    assert found.n_pairs == len(pairs)
    assert found.mean == pytest.approx(pairs.mean(), abs=1e-12)
    percentiles = np.percentile(pairs, [75, 95])
    assert (found.percentile_75, found.percentile_95) == pytest.approx(
        percentiles, abs=1e-12
    )


@pytest.mark.parametrize("make", [continuous, tied])
def test_cosine_of_any_scores_equals_all_pairs(make: object) -> None:
    matrix = make(70, 6)  # type: ignore[operator]
    pairs, found = slow("cosine", matrix), summarise_similarity(matrix)
    assert found.mean == pytest.approx(pairs.mean(), abs=1e-12)
    percentiles = np.percentile(pairs, [75, 95])
    assert (found.percentile_75, found.percentile_95) == pytest.approx(
        percentiles, abs=1e-12
    )
    assert mean_cosine(unit_rows(matrix)) == pytest.approx(pairs.mean(), abs=1e-12)


def test_golden() -> None:
    found = summarise_similarity(GOLDEN)
    assert found.mean == pytest.approx(0.313299316186, abs=1e-12)
    assert mean_cosine(unit_rows(GOLDEN)) == pytest.approx(0.313299316186, abs=1e-12)
    assert found.percentile_75 == pytest.approx(0.737372435696, abs=1e-12)
    assert found.percentile_95 == pytest.approx(0.917423461417, abs=1e-12)


@pytest.fixture(params=[True, False], ids=["compiled", "products"])
def compiled(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Pairs are counted by compiled code, or as where numba is not installed."""
    monkeypatch.setattr(
        "warehouse.stats.matrix.similarity.has_compiler", lambda: request.param
    )
    return bool(request.param)


@pytest.mark.usefixtures("compiled")
@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    arrays(
        np.uint8,
        st.tuples(st.integers(2, 12), st.integers(2, 140)),
        elements=st.integers(0, 1),
    )
)
def test_the_counter_equals_counting_pair_by_pair(matrix: Matrix) -> None:
    n, k = matrix.shape
    expected: Counter[int] = Counter()
    for i in range(n):
        for j in range(i + 1, n):
            a, b = sorted((int(matrix[i].sum()), int(matrix[j].sum())))
            common = int((matrix[i] & matrix[j]).sum())
            expected[(a * (k + 1) + b) * (k + 1) + common] += 1
    codes, counts = count_pairs(np.ascontiguousarray(matrix.T))
    assert dict(zip(codes.tolist(), counts.tolist(), strict=True)) == expected


@pytest.mark.usefixtures("compiled")
def test_long_runs_of_equal_weight_are_counted_to_the_end() -> None:
    """More rows than the counter looks at in one go, and a number that 4 does not
    divide."""
    matrix = np.tile(np.eye(3, dtype=np.uint8), (1367, 1))
    codes, counts = count_pairs(np.ascontiguousarray(matrix.T))
    assert codes.tolist() == [(1 * 4 + 1) * 4 + 0, (1 * 4 + 1) * 4 + 1]
    assert counts.tolist() == [3 * 1367**2, 3 * 1367 * 1366 // 2]


@pytest.mark.usefixtures("compiled")
def test_many_rows_are_counted_as_a_product_of_all_has_them() -> None:
    """Of weights that many rows have, two rows are held against a third at a time."""
    random = np.random.default_rng(3)
    matrix = (random.random((801, 70)) < random.random((801, 1)) ** 2).astype(np.int64)
    first, second = np.triu_indices(len(matrix), 1)
    weights = matrix.sum(axis=1)
    ends = np.sort([weights[first], weights[second]], axis=0)
    expected = np.unique(
        (ends[0] * 71 + ends[1]) * 71 + (matrix @ matrix.T)[first, second],
        return_counts=True,
    )
    codes, counts = count_pairs(np.ascontiguousarray(matrix.T, dtype=np.uint8))
    assert np.array_equal(codes, expected[0]) and np.array_equal(counts, expected[1])


@pytest.mark.usefixtures("compiled")
def test_counts_do_not_depend_on_how_many_are_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns = np.ascontiguousarray(with_extremes(40, 30).T, dtype=np.uint8)
    codes, counts = count_pairs(columns)
    monkeypatch.setattr("warehouse.stats.matrix.similarity._CELLS", 2000)
    again = count_pairs(columns)
    assert (again[0].tolist(), again[1].tolist()) == (codes.tolist(), counts.tolist())
    assert (np.diff(codes) > 0).all()


def test_equal_similarities_are_equal_numbers() -> None:
    """Shares such as 1/2 = 2/4 come from different counts: they must not differ in the
    last bit."""
    k = 60
    cells = [
        (a, b, c) for a in range(1, 31) for b in range(a, 31) for c in range(a + 1)
    ]
    codes = np.array([(a * (k + 1) + b) * (k + 1) + c for a, b, c in cells])
    from fractions import Fraction

    for name, exact in (
        ("cosine", [Fraction(c * c, a * b) for a, b, c in cells]),
        ("jaccard", [Fraction(c, a + b - c) for a, b, c in cells]),
    ):
        assert len(np.unique(cell_values(name, codes, k))) == len(set(exact))


@given(
    st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 4)), min_size=1, max_size=20),
    st.floats(0, 1),
)
def test_quantiles_of_counts_are_those_of_numpy(
    cells: list[tuple[float, int]], share: float
) -> None:
    values, counts = map(np.array, zip(*sorted(cells), strict=True))
    expected = np.quantile(np.repeat(values, counts), share)
    assert linear_quantile(values, counts, share) == pytest.approx(expected, abs=1e-12)


def test_blocks_hold_every_pair_once(monkeypatch: pytest.MonkeyPatch) -> None:
    unit = unit_rows(continuous(23, 4))
    monkeypatch.setattr("warehouse.stats.matrix.similarity.BLOCK_PAIRS", 100)
    blocks = list(pair_blocks(unit))
    assert len(blocks) > 3
    assert np.sort(np.concatenate(blocks)) == pytest.approx(
        np.sort(upper(unit @ unit.T))
    )


def test_tiny_scores_have_directions_too() -> None:
    matrix = continuous(12, 4)
    assert mean_cosine(unit_rows(matrix * 1e-200)) == pytest.approx(
        mean_cosine(unit_rows(matrix)), abs=1e-12
    )


@settings(deadline=None)
@given(st.permutations(range(12)), st.permutations(range(5)))
def test_the_order_of_prompts_and_models_does_not_matter(
    rows: list[int], cols: list[int]
) -> None:
    matrix = with_extremes(12, 5)
    for similarity in ("cosine", "jaccard", "hamming"):
        there = summarise_similarity(matrix, similarity)
        again = summarise_similarity(matrix[np.ix_(rows, cols)], similarity)
        assert again.mean == pytest.approx(there.mean, abs=1e-12)
        assert again.percentile_95 == there.percentile_95


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        ([[1, 0, 1]], "1 prompt.*at least 2"),
        ([[1], [0]], "1 model"),
        ([1, 0], "2 dimensions"),
        ([[1, np.nan], [0, 1], [np.inf, 0]], "2 row.*incomplete rows out"),
        ([["a", "b"], ["c", "d"]], "must hold numbers"),
    ],
)
def test_a_matrix_that_cannot_be_is_refused(matrix: list[object], said: str) -> None:
    with pytest.raises(StatisticsError, match=said):
        summarise_similarity(matrix)  # type: ignore[arg-type]


@pytest.mark.parametrize("similarity", ["jaccard", "hamming"])
def test_continuous_scores_are_refused_where_ones_are_counted(similarity: str) -> None:
    with pytest.raises(StatisticsError, match=f"{similarity}.*use cosine"):
        summarise_similarity(continuous(5, 3), similarity)
    with pytest.raises(StatisticsError, match="cosine, hamming, jaccard"):
        summarise_similarity(binary(5, 3), "euclid")  # type: ignore[arg-type]


def test_the_compiler_is_loaded_only_where_it_is_needed() -> None:
    """It takes longer to load than most commands run."""
    program = (
        "import sys, warehouse.analysis.matrix.answer as face; loaded = "
        "set(sys.modules);sys.exit('numba' in loaded or 'scipy.stats' in loaded)"
    )
    assert (
        subprocess.run([sys.executable, "-P", "-c", program], check=False).returncode
        == 0
    )
